/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Masks in the alpha plane of the picture. */
#include "ccllabel.h"

#include <gst/ccl/gstcclblobmeasures.h>

static const GstVideoFormat alpha_formats[] = { GST_VIDEO_FORMAT_A420, GST_VIDEO_FORMAT_AV12 };

#define N_FORMATS G_N_ELEMENTS (alpha_formats)
#define MARGIN 64               /* bytes before the planes of a frame with a video meta */

/* Luma is the column, chroma 100 and 200, alpha the mask. Planes begin where a video meta says, or the caps. */
static GstBuffer *
new_picture (GstVideoFormat format, const Mask * mask, gboolean with_meta)
{
  static const guint8 chroma[] = { 0, 100, 200 };
  GstVideoInfo info;
  GstVideoFrame frame;
  GstBuffer *buffer;

  gst_video_info_set_format (&info, format, mask->width, mask->height);
  buffer = gst_buffer_new_allocate (NULL, info.size + MARGIN, NULL);
  gst_buffer_memset (buffer, 0, 255, info.size + MARGIN);
  for (guint i = 0; with_meta && i < info.finfo->n_planes; i++)
    info.offset[i] += MARGIN;
  if (with_meta)
    gst_buffer_add_video_meta_full (buffer, GST_VIDEO_FRAME_FLAG_NONE, format, mask->width, mask->height,
        info.finfo->n_planes, info.offset, info.stride);
  else
    gst_buffer_set_size (buffer, info.size);
  fail_unless (gst_video_frame_map (&frame, &info, buffer, GST_MAP_WRITE));
  for (guint c = 0; c < 4; c++)
    for (gint y = 0; y < GST_VIDEO_FRAME_COMP_HEIGHT (&frame, c); y++)
      for (gint x = 0; x < GST_VIDEO_FRAME_COMP_WIDTH (&frame, c); x++)
        ((guint8 *) GST_VIDEO_FRAME_COMP_DATA (&frame, c))[y * GST_VIDEO_FRAME_COMP_STRIDE (&frame, c)
            + x * GST_VIDEO_FRAME_COMP_PSTRIDE (&frame, c)] = c == 0 ? (guint) x
            : c < 3 ? chroma[c] : mask->pixels[y * (gint) mask->width + x] ? 128 : 127;
  gst_video_frame_unmap (&frame);
  return buffer;
}

static GstHarness *
alpha_harness (guint backend, const gchar * settings, GstVideoFormat format, const Mask * mask)
{
  gchar *const all = g_strconcat ("mask-source=alpha ", settings, NULL);
  GstHarness *const harness = label_harness (backend, all);

  set_mask_caps (harness, format, mask);
  g_free (all);
  return harness;
}

/* The alpha plane is the mask, and the other planes are what is measured. */
GST_START_TEST (test_planes)
{
  const guint backend = __i__ / (2 * N_FORMATS), format = __i__ / 2 % N_FORMATS;
  gdouble min, max, mean, cb, cr;

  NEED_BACKEND (backend);
  Mask mask = mask_random (71, 43, 1, 0.1);
  GstHarness *const harness =
      alpha_harness (backend, "features=intensity contours=true async-depth=1", alpha_formats[format], &mask);

  for (guint i = 0; i < 3; i++)
    fail_unless_equals_int (gst_harness_push (harness, new_picture (alpha_formats[format], &mask, __i__ % 2)),
        GST_FLOW_OK);
  gst_harness_push_event (harness, gst_event_new_eos ());
  for (guint i = 0; i < 3; i++) {
    GstBuffer *const buffer = gst_harness_pull (harness);
    GstCclBlobMeta *const meta = gst_buffer_get_ccl_blob_meta (buffer);

    assert_blobs (buffer, &mask, 8);
    for (guint k = 0; k < gst_ccl_blob_meta_get_length (meta); k++) {
      const GstCclBlob *const blob = gst_ccl_blob_meta_get_blob (meta, k);

      fail_unless (gst_ccl_blob_meta_get_intensity (meta, k, &min, &max, &mean, NULL));
      fail_unless (min == blob->x && max == blob->x + blob->width - 1, "%g to %g", min, max);
      fail_unless (ABS (mean - (gdouble) blob->m10 / blob->area) < 1e-9, "%g", mean);
      fail_unless (gst_ccl_blob_meta_get_chroma (meta, k, &cb, &cr));
      fail_unless (cb == 100 && cr == 200, "%g %g", cb, cr);
    }
    gst_buffer_unref (buffer);
  }
  gst_harness_teardown (harness);
  mask_free (&mask);
}

GST_END_TEST;

/* A buffer without its last plane. */
GST_START_TEST (test_short_buffer)
{
  const gboolean with_meta = __i__;
  Mask mask = mask_random (32, 16, 1, 0.3);
  GstHarness *const harness = alpha_harness (0, "", GST_VIDEO_FORMAT_A420, &mask);
  GstBus *const bus = watch_bus (harness);
  GstBuffer *const buffer = new_picture (GST_VIDEO_FORMAT_A420, &mask, with_meta);

  gst_buffer_set_size (buffer, gst_buffer_get_size (buffer) - 32);
  fail_unless_equals_int (gst_harness_push (harness, buffer), GST_FLOW_ERROR);
  assert_message (bus, GST_MESSAGE_ERROR, "smaller than its caps say");
  drop_bus (harness, bus);
  gst_harness_teardown (harness);
  mask_free (&mask);
}

GST_END_TEST;

static gboolean
accepts (GstHarness * harness, GstVideoFormat format)
{
  gchar *const text = caps_string (format, 64, 48);
  GstCaps *const caps = gst_caps_from_string (text), *const allowed = gst_pad_peer_query_caps (harness->srcpad, NULL);
  const gboolean result = gst_caps_can_intersect (caps, allowed);

  gst_caps_unref (caps);
  gst_caps_unref (allowed);
  g_free (text);
  return result;
}

/* Only mask-source=alpha takes formats with alpha, and no others. So a converter does not choose them without it. */
GST_START_TEST (test_caps)
{
  static const gchar *const outputs[] = { "output=passthrough", "output=mask", "output=labels" };
  GstHarness *const harness = label_harness (0, outputs[__i__]);

  for (guint round = 0; round < 3; round++) {
    const gboolean is_alpha = round == 1;

    set_label (harness, "mask-source", is_alpha ? "alpha" : round ? "frame" : "auto");
    for (guint i = 0; i < N_FORMATS; i++)
      fail_unless_equals_int (accepts (harness, alpha_formats[i]), is_alpha);
    for (guint i = 0; i < G_N_ELEMENTS (formats); i++)
      fail_unless_equals_int (accepts (harness, formats[i]), !is_alpha);
  }
  gst_harness_teardown (harness);
}

GST_END_TEST;

/* Frames without alpha pass, with one warning. */
GST_START_TEST (test_change_while_playing)
{
  Mask mask = mask_dots (4);
  GstHarness *const harness = label_harness (0, "");
  GstBus *const bus = watch_bus (harness);

  set_mask_caps (harness, GST_VIDEO_FORMAT_GRAY8, &mask);
  for (guint i = 0; i < 4; i++) {
    GstBuffer *const buffer = label_mask (harness, &mask, i);

    fail_unless_equals_int (n_blobs (buffer), i % 2 ? 0 : 4);
    gst_buffer_unref (buffer);
    set_label (harness, "mask-source", i % 2 ? "auto" : "alpha");
  }
  assert_message (bus, GST_MESSAGE_WARNING, "has no alpha plane");
  assert_no_message (bus, GST_MESSAGE_WARNING);
  drop_bus (harness, bus);
  gst_harness_teardown (harness);
  mask_free (&mask);
}

GST_END_TEST;

/* A red square in front of green. */
static GstBuffer *
green_screen (void)
{
  static const guint8 green[] = { 145, 54, 34 }, red[] = { 81, 90, 240 };
  GstVideoInfo info;
  GstVideoFrame frame;
  GstBuffer *buffer;

  gst_video_info_set_format (&info, GST_VIDEO_FORMAT_Y444, 64, 48);
  buffer = gst_buffer_new_allocate (NULL, info.size, NULL);
  fail_unless (gst_video_frame_map (&frame, &info, buffer, GST_MAP_WRITE));
  for (guint c = 0; c < 3; c++)
    for (gint y = 0; y < 48; y++)
      for (gint x = 0; x < 64; x++)
        ((guint8 *) GST_VIDEO_FRAME_COMP_DATA (&frame, c))[y * GST_VIDEO_FRAME_COMP_STRIDE (&frame, c) + x] =
            x >= 10 && x < 26 && y >= 20 && y < 36 ? red[c] : green[c];
  gst_video_frame_unmap (&frame);
  return buffer;
}

/* The element `alpha` writes the mask, and a converter chooses the format. */
GST_START_TEST (test_green_screen)
{
  GstRegistry *const registry = gst_registry_get ();
  gdouble min, max;

  if (gst_registry_check_feature_version (registry, "alpha", 1, 0, 0)
      && gst_registry_check_feature_version (registry, "videoconvert", 1, 0, 0)) {
    GstHarness *const harness = gst_harness_new_parse ("alpha method=green ! videoconvert ! "
        "ccllabel mask-source=alpha backend=cpu features=intensity");
    gchar *const caps = caps_string (GST_VIDEO_FORMAT_Y444, 64, 48);
    GstCclBlobMeta *meta;
    GstBuffer *buffer;

    gst_harness_set_src_caps_str (harness, caps);
    fail_unless_equals_int (gst_harness_push (harness, green_screen ()), GST_FLOW_OK);
    buffer = gst_harness_pull (harness);
    meta = gst_buffer_get_ccl_blob_meta (buffer);
    fail_unless_equals_int (n_blobs (buffer), 1);
    assert_box (meta, 0, 10, 20, 16, 16);
    fail_unless (gst_ccl_blob_meta_get_intensity (meta, 0, &min, &max, NULL, NULL));
    fail_unless (min > 75 && max < 87, "%g to %g", min, max);
    gst_buffer_unref (buffer);
    gst_harness_teardown (harness);
    g_free (caps);
  }
}

GST_END_TEST;

void
ccllabel_add_alpha_tests (Suite * suite)
{
  TCase *tests = tcase_create ("alpha");

  tcase_add_loop_test (tests, test_planes, 0, 2 * N_FORMATS * G_N_ELEMENTS (backends));
  tcase_add_loop_test (tests, test_short_buffer, 0, 2);
  tcase_add_loop_test (tests, test_caps, 0, 3);
  tcase_add_test (tests, test_change_while_playing);
  tcase_add_test (tests, test_green_screen);
  suite_add_tcase (suite, tests);
}
