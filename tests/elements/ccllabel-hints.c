/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* A picture that is no mask gets one hint, and a mask gets none. */
#include "ccllabel.h"

#include <math.h>

#define WIDTH 160u
#define HEIGHT 120u
#define NO_MASK "Set threshold, as in threshold=127"
#define FULL "Every pixel of the last 10 frames is foreground"

typedef guint (*Painter) (guint x, guint y);

/* Light, dark corners of which some are black, and noise. */
static guint
photograph (guint x, guint y)
{
  const gdouble light = 110 + 70 * sin (x / 23.0) + 60 * cos (y / 17.0 + x / 40.0);

  return CLAMP (light + (gint) ((x * 7919 + y * 104729) % 13) - 6, 0, 255);
}

static guint
gradient (guint x, guint y)
{
  return (x + y) * 255 / (WIDTH + HEIGHT - 2);
}

static gboolean
in_disc (guint x, guint y)
{
  return hypot (x - 80.0, y - 60.0) < 30;
}

static guint
mask_of_1 (guint x, guint y)
{
  return in_disc (x, y);
}

static guint
mask_of_255 (guint x, guint y)
{
  return in_disc (x, y) ? 255 : 0;
}

static guint
inverted_mask (guint x, guint y)
{
  return in_disc (x / 4 + 60, y / 4 + 45) ? 0 : 255;
}

/* All but some pixels are foreground, and the edge of these has every value. */
static guint
scaled_mask (guint x, guint y)
{
  return CLAMP (128 + 64 * (hypot (x - 80.0, y - 60.0) - 20), 0, 255);
}

static guint
full_mask (guint x, guint y)
{
  (void) x, (void) y;
  return 255;
}

static guint
class_map (guint x, guint y)
{
  return 1 + (x / 16 + y / 16) % 9;
}

static const struct
{
  const gchar *name;
  Painter paint;
  const gchar *settings, *says; /* says NULL: nothing */
} cases[] = {
  {"photograph", photograph, "", NO_MASK},
  {"photograph as contours", photograph, "contours=true async-depth=1", NO_MASK},
  {"photograph with a threshold", photograph, "threshold=127", NULL},
  {"photograph, all pixels", photograph, "threshold=0", NULL},
  {"photograph, dark pixels", photograph, "invert=true", NULL},
  {"gradient", gradient, "", NO_MASK},
  {"mask of 0 and 1", mask_of_1, "", NULL},
  {"mask of 0 and 255", mask_of_255, "", NULL},
  {"inverted mask", inverted_mask, "", NULL},
  {"scaled mask", scaled_mask, "", NULL},
  {"full mask", full_mask, "", FULL},
  {"map of classes", class_map, "", FULL},
};

static void
check_hints (guint backend, guint which, GstVideoFormat format)
{
  const guint pixel_size = format == GST_VIDEO_FORMAT_GRAY8 ? 1 : 2;
  GstHarness *harness = label_harness (backend, cases[which].settings);
  GstBus *bus = watch_bus (harness);
  gchar *caps = caps_string (format, WIDTH, HEIGHT);

  gst_harness_set_src_caps_str (harness, caps);
  for (guint i = 0; i < 20; i++) {
    GstBuffer *buffer = gst_buffer_new_allocate (NULL, WIDTH * HEIGHT * pixel_size, NULL);
    GstMapInfo map;

    gst_buffer_map (buffer, &map, GST_MAP_WRITE);
    for (guint at = 0; at < WIDTH * HEIGHT; at++) {
      const guint value = cases[which].paint (at % WIDTH, at / WIDTH);

      if (pixel_size == 1)
        map.data[at] = value;
      else
        GST_WRITE_UINT16_LE (map.data + 2 * at, value);
    }
    gst_buffer_unmap (buffer, &map);
    fail_unless_equals_int (gst_harness_push (harness, buffer), GST_FLOW_OK);
  }
  gst_harness_push_event (harness, gst_event_new_eos ());
  if (cases[which].says)
    assert_message (bus, GST_MESSAGE_WARNING, cases[which].says);
  assert_no_message (bus, GST_MESSAGE_WARNING);
  drop_bus (harness, bus);
  gst_harness_teardown (harness);
  g_free (caps);
}

GST_START_TEST (test_hints)
{
  NEED_BACKEND (__i__);

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    GST_INFO ("%s", cases[i].name);
    check_hints (__i__, i, GST_VIDEO_FORMAT_GRAY8);
    check_hints (__i__, i, GST_VIDEO_FORMAT_GRAY16_LE);
  }
}

GST_END_TEST;

void
ccllabel_add_hints_tests (Suite * suite)
{
  TCase *tests = tcase_create ("hints");

  tcase_set_timeout (tests, 300);
  tcase_add_loop_test (tests, test_hints, 0, G_N_ELEMENTS (backends));
  suite_add_tcase (suite, tests);
}
