/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* A file for background-location of cclmotion. The first byte says what is mended: nothing, the checksum, or the header too. A
 * background that is taken must do for pictures. */
#include "fuzz.h"

#include <string.h>

#include "motion.h"

#define WIDTH  19u
#define HEIGHT 13u
#define HEADER 48u

static const guint8 header[HEADER] = "CCLBG\r\n\x1a" "\1\0\0\0" "\1\0\0\0" "\x13\0\0\0" "\x0d\0\0\0" "\1\0\0\0"
    "\x20\0\0\0" "\0\x20\0\0" "\x28\0\0\0";

static void
seal (guint8 * bytes, gsize size)
{
  guint64 sum = G_GUINT64_CONSTANT (14695981039346656037);

  for (gsize i = 0; i < size - 8; i++)
    sum = (sum ^ bytes[i]) * G_GUINT64_CONSTANT (1099511628211);
  for (guint i = 0; i < 8; i++)
    bytes[size - 8 + i] = sum >> 8 * i;
}

static void
detect (CclMotion * motion)
{
  const CclMotionParams params = ccl_motion_params_default ();
  guint8 luma[WIDTH * HEIGHT], mask[WIDTH * HEIGHT];
  CclMotionPicture picture = {
    .luma = {.data = luma,.stride = WIDTH,.width = WIDTH,.height = HEIGHT},
    .chroma = {luma, luma, {WIDTH, WIDTH}, 1, (WIDTH + 1) / 2, (HEIGHT + 1) / 2}
  };

  for (guint n = 0; n < 4; n++) {
    CclMotionInfo info;

    for (guint i = 0; i < sizeof luma; i++)
      luma[i] = 100 + i * (n + 3) * 37 % 16;
    picture.us = n * 40000;
    g_assert_cmpint (ccl_motion_submit_picture (motion, &picture, &params, &(CclMotionMask) {
            .data = mask,.stride = WIDTH}
        ), ==, CCL_OK);
    g_assert_cmpint (ccl_motion_collect (motion, &info), ==, CCL_OK);
    g_assert_cmpuint (info.foreground, <=, sizeof mask);
  }
}

int
LLVMFuzzerTestOneInput (const guint8 * data, gsize size)
{
  CclMotionConfig config = ccl_motion_config_default ();
  const guint mends = size ? data[0] % 3 : 0;
  CclMotion *motion;
  guint8 *bytes;
  gsize n_bytes;

  config.width = WIDTH, config.height = HEIGHT;
  config.chroma = TRUE, config.threads = 1;
  g_assert_cmpint (ccl_motion_new (&config, &motion), ==, CCL_OK);
  n_bytes = mends == 2 ? ccl_motion_background_size (motion) : size ? size - 1 : 0;
  bytes = g_malloc0 (n_bytes + 1);
  if (size)
    memcpy (bytes, data + 1, MIN (size - 1, n_bytes));
  if (mends == 2)
    memcpy (bytes, header, HEADER);
  if (mends && n_bytes >= 8)
    seal (bytes, n_bytes);
  if (ccl_motion_load_background (motion, bytes, n_bytes) == CCL_OK) {
    g_assert_true (ccl_motion_is_background (bytes));
    g_assert_cmpint (ccl_motion_save_background (motion, bytes), ==, CCL_ERROR_ARGUMENT);       /* no picture since */
    detect (motion);
    if (ccl_motion_save_background (motion, bytes) == CCL_OK)   /* else the pictures are another scene */
      g_assert_cmpint (ccl_motion_load_background (motion, bytes, n_bytes), ==, CCL_OK);
  }
  ccl_motion_free (motion);
  g_free (bytes);
  return 0;
}
