/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Intensity of the frame under its mask, from the picture to the filter. */
#include "ccllabel.h"

#include <math.h>

#include <gst/ccl/gstcclblobmeasures.h>
#include <gst/ccl/gstcclmaskmeta.h>

/* Three blobs of two, three and one pixels. */
static Mask
three_mask (void)
{
  return MASK ( /**/ "##....#.", "........", "..###...", "........");
}

/* Luma is 10 x + y, blue difference 100 + x, red difference 200 + y. */
static GstBuffer *
gradient (GstVideoFormat format, guint width, guint height)
{
  GstVideoInfo info;
  GstVideoFrame frame;
  GstBuffer *buffer;

  gst_video_info_set_format (&info, format, width, height);
  buffer = gst_buffer_new_allocate (NULL, info.size, NULL);
  fail_unless (gst_video_frame_map (&frame, &info, buffer, GST_MAP_WRITE));
  for (guint c = 0; c < GST_VIDEO_FRAME_N_COMPONENTS (&frame); c++)
    for (gint y = 0; y < GST_VIDEO_FRAME_COMP_HEIGHT (&frame, c); y++)
      for (gint x = 0; x < GST_VIDEO_FRAME_COMP_WIDTH (&frame, c); x++) {
        guint8 *const sample = (guint8 *) GST_VIDEO_FRAME_COMP_DATA (&frame, c)
            + y * GST_VIDEO_FRAME_COMP_STRIDE (&frame, c) + x * GST_VIDEO_FRAME_COMP_PSTRIDE (&frame, c);
        const guint value = c == 0 ? 10 * x + y : c == 1 ? 100 + x : 200 + y;

        if (format == GST_VIDEO_FORMAT_GRAY16_LE)
          GST_WRITE_UINT16_LE (sample, value);
        else
          *sample = value;
      }
  gst_video_frame_unmap (&frame);
  return buffer;
}

static GstFlowReturn
push_picture (GstHarness * harness, GstVideoFormat format, guint width, guint height)
{
  Mask mask = three_mask ();
  GstBuffer *const mask_buffer = buffer_from_mask (GST_VIDEO_FORMAT_GRAY8, &mask), *const frame =
      gradient (format, width,
      height);
  gsize offset[GST_VIDEO_MAX_PLANES] = { 0 };
  gint stride[GST_VIDEO_MAX_PLANES] = { GST_ROUND_UP_4 (mask.width) };

  gst_buffer_add_video_meta_full (mask_buffer, GST_VIDEO_FRAME_FLAG_NONE, GST_VIDEO_FORMAT_GRAY8, mask.width,
      mask.height, 1, offset, stride);
  gst_buffer_add_ccl_mask_meta (frame, mask_buffer, width, height);
  gst_buffer_unref (mask_buffer);
  mask_free (&mask);
  return gst_harness_push (harness, frame);
}

static GstHarness *
intensity_harness (const gchar * settings, GstVideoFormat format, guint width, guint height)
{
  gchar *const line = g_strdup_printf ("ccllabel name=label mask-source=mask-meta %s", settings);
  GstHarness *const harness = gst_harness_new_parse (line);
  gchar *const caps = caps_string (format, width, height);

  gst_harness_set_src_caps_str (harness, caps);
  g_free (caps);
  g_free (line);
  return harness;
}

static const struct
{
  const gchar *filter;
  guint labels;                 /* bit i: label i + 1 */
  gboolean needs_chroma;
} filters[] = {
  {"intensity-mean > 4 and intensity-mean < 6", 1, FALSE},
  {"intensity-min == 60 and intensity-max == 60", 2, FALSE},
  {"intensity-sum == 96", 4, FALSE},
  {"intensity-std > 8", 4, FALSE},
  {"centroid-weighted-x > centroid-x", 5, FALSE},
  {"cov-weighted-xx == 0", 3, FALSE},   /* of the first, one pixel alone is not black */
  {"cb-mean > 101", 6, TRUE},
  {"cr-mean == 201 or cr-mean == 200 and cb-mean == 100", 5, TRUE},
};

GST_START_TEST (test_filters)
{
  static const GstVideoFormat of_pictures[] =
      { GST_VIDEO_FORMAT_GRAY8, GST_VIDEO_FORMAT_GRAY16_LE, GST_VIDEO_FORMAT_I420,
    GST_VIDEO_FORMAT_YV12, GST_VIDEO_FORMAT_NV12, GST_VIDEO_FORMAT_NV21
  };

  for (guint f = 0; f < G_N_ELEMENTS (of_pictures); f++)
    for (guint i = 0; i < G_N_ELEMENTS (filters); i++) {
      const gboolean has_chroma = f > 1;
      const guint expected = filters[i].needs_chroma && !has_chroma ? 0 : filters[i].labels;
      gchar *const settings = g_strdup_printf ("filter=\"%s\"", filters[i].filter);
      GstHarness *const harness = intensity_harness (settings, of_pictures[f], 8, 4);
      GstCclBlobMeta *meta;
      GstBuffer *buffer;
      guint found = 0;

      fail_unless_equals_int (push_picture (harness, of_pictures[f], 8, 4), GST_FLOW_OK);
      buffer = gst_harness_pull (harness);
      meta = gst_buffer_get_ccl_blob_meta (buffer);
      for (guint k = 0; k < gst_ccl_blob_meta_get_length (meta); k++) {
        const GstCclBlob *const blob = gst_ccl_blob_meta_get_blob (meta, k);

        found |= 1u << (blob->x == 0 ? 0 : blob->x == 6 ? 1 : 2);
      }
      fail_unless (found == expected, "%s, \"%s\": blobs 0x%x instead of 0x%x",
          gst_video_format_to_string (of_pictures[f]), filters[i].filter, found, expected);
      gst_buffer_unref (buffer);
      gst_harness_teardown (harness);
      g_free (settings);
    }
}

GST_END_TEST;

/* The measures in the metadata, behind elements that pass them on. */
GST_START_TEST (test_measures)
{
  GstHarness *const harness =
      intensity_harness ("features=intensity ! ccltrack ! cclmetaremap", GST_VIDEO_FORMAT_NV12, 8, 4);
  gdouble min, max, mean, std, cb, cr, x, y, xx, xy, yy;
  GstCclBlobMeta *meta;
  GstBuffer *buffer;

  fail_unless_equals_int (push_picture (harness, GST_VIDEO_FORMAT_NV12, 8, 4), GST_FLOW_OK);
  buffer = gst_harness_pull (harness);
  meta = gst_buffer_get_ccl_blob_meta (buffer);
  fail_unless_equals_int (gst_ccl_blob_meta_get_length (meta), 3);
  /* 22, 32 and 42, at x 2 to 4; chroma of x 1 and 2 */
  fail_unless (gst_ccl_blob_meta_get_intensity (meta, 2, &min, &max, &mean, &std));
  fail_unless (min == 22 && max == 42 && mean == 32
      && ABS (std - sqrt (200 / 3.)) < 1e-12, "%g %g %g %g", min, max, mean, std);
  fail_unless (gst_ccl_blob_meta_get_chroma (meta, 2, &cb, &cr));
  fail_unless (ABS (cb - (101 + 101 + 102) / 3.) < 1e-12 && cr == 201, "%g %g", cb, cr);
  fail_unless (gst_ccl_blob_meta_get_weighted_centroid (meta, 2, &x, &y));
  fail_unless (ABS (x - (3 + 20 / 96.)) < 1e-12 && y == 2, "%g %g", x, y);
  fail_unless (gst_ccl_blob_meta_get_weighted_covariance (meta, 2, &xx, &xy, &yy));
  fail_unless (ABS (xx - (64 / 96. - 400 / 9216.)) < 1e-12 && xy == 0 && yy == 0, "%g %g %g", xx, xy, yy);
  gst_buffer_unref (buffer);
  gst_harness_teardown (harness);
}

GST_END_TEST;

/* Without the group there is nothing; the mask can be the picture itself. */
GST_START_TEST (test_frame_is_the_mask)
{
  Mask mask = three_mask ();
  GstHarness *harness = label_harness (0, "");
  gdouble min, max;

  set_mask_caps (harness, GST_VIDEO_FORMAT_GRAY8, &mask);
  for (guint i = 0; i < 2; i++) {
    GstBuffer *const buffer = label_mask (harness, &mask, i);
    GstCclBlobMeta *const meta = gst_buffer_get_ccl_blob_meta (buffer);

    fail_unless_equals_int (gst_ccl_blob_meta_get_intensity (meta, 0, &min, &max, NULL, NULL), i);
    fail_unless ((min > 0) == (i == 1) && max == min, "%g %g", min, max);
    fail_if (gst_ccl_blob_meta_get_chroma (meta, 0, NULL, NULL));
    gst_buffer_unref (buffer);
    set_label (harness, "features", "basic+intensity");
  }
  gst_harness_teardown (harness);
  mask_free (&mask);
}

GST_END_TEST;

/* A mask of another size. */
GST_START_TEST (test_refused_picture)
{
  GstHarness *const harness = intensity_harness ("sort=intensity-mean", GST_VIDEO_FORMAT_I420, 16, 4);
  GstBus *const bus = watch_bus (harness);

  fail_unless_equals_int (push_picture (harness, GST_VIDEO_FORMAT_I420, 16, 4), GST_FLOW_ERROR);
  assert_message (bus, GST_MESSAGE_ERROR, "the mask has 8x4, the frame 16x4");
  drop_bus (harness, bus);
  gst_harness_teardown (harness);
}

GST_END_TEST;

/* Layouts of a frame of 8x4 whose planes of luma, 32 bytes, and of chroma, 8 bytes each, follow each other. */
static const struct
{
  gsize offset_v;
  gint stride_v;
  const gchar *says;            /* NULL: it is measured */
} layouts[] = {
  {41, 4, NULL},
  {40, 6, "one stride for both planes of chroma: the buffer's video meta says 4 and 6 bytes"},
  {44, 4, "plane 2, with 2 rows and a stride of 4 bytes, is not inside the buffer"},
  {32, 3, "the buffer's video meta says 4 and 3 bytes"},
};

GST_START_TEST (test_layouts)
{
  const gsize offsets[GST_VIDEO_MAX_PLANES] = { 0, 32, layouts[__i__].offset_v };
  const gint strides[GST_VIDEO_MAX_PLANES] = { 8, 4, layouts[__i__].stride_v };
  const gchar *const says = layouts[__i__].says;
  Mask mask = three_mask ();
  GstHarness *const harness = label_harness (0, "features=intensity threshold=0");
  GstBus *const bus = watch_bus (harness);
  GstBuffer *const buffer = gst_buffer_new_allocate (NULL, 49, NULL);

  gst_buffer_memset (buffer, 0, 200, 49);
  gst_buffer_memset (buffer, 32, 100, 8);
  gst_buffer_add_video_meta_full (buffer, GST_VIDEO_FRAME_FLAG_NONE, GST_VIDEO_FORMAT_I420, 8, 4, 3, (gsize *) offsets,
      (gint *) strides);
  set_mask_caps (harness, GST_VIDEO_FORMAT_I420, &mask);
  fail_unless_equals_int (gst_harness_push (harness, buffer), says ? GST_FLOW_ERROR : GST_FLOW_OK);
  if (says) {
    assert_message (bus, GST_MESSAGE_ERROR, says);
  } else {
    GstBuffer *const measured = gst_harness_pull (harness);
    gdouble cb, cr;

    fail_unless (gst_ccl_blob_meta_get_chroma (gst_buffer_get_ccl_blob_meta (measured), 0, &cb, &cr));
    fail_unless (cb == 100 && cr == 200, "%g %g", cb, cr);
    gst_buffer_unref (measured);
  }
  drop_bus (harness, bus);
  gst_harness_teardown (harness);
  mask_free (&mask);
}

GST_END_TEST;

/* The buffer stays writable, and nothing is copied. */
GST_START_TEST (test_frame_stays)
{
  GstHarness *const harness = intensity_harness ("sort=intensity-mean-desc async-depth=1", GST_VIDEO_FORMAT_I420, 8, 4);

  for (guint i = 0; i < 3; i++)
    fail_unless_equals_int (push_picture (harness, GST_VIDEO_FORMAT_I420, 8, 4), GST_FLOW_OK);
  gst_harness_push_event (harness, gst_event_new_eos ());
  for (guint i = 0; i < 3; i++) {
    GstBuffer *const buffer = gst_harness_pull (harness);
    GstCclBlobMeta *const meta = gst_buffer_get_ccl_blob_meta (buffer);

    fail_unless (gst_buffer_is_writable (buffer));
    fail_unless_equals_int (gst_ccl_blob_meta_get_length (meta), 3);
    fail_unless_equals_int (gst_ccl_blob_meta_get_blob (meta, 0)->label, 2);
    gst_buffer_unref (buffer);
  }
  gst_harness_teardown (harness);
}

GST_END_TEST;

void
ccllabel_add_intensity_tests (Suite * suite)
{
  TCase *tests = tcase_create ("intensity");

  tcase_add_test (tests, test_filters);
  tcase_add_test (tests, test_measures);
  tcase_add_test (tests, test_frame_is_the_mask);
  tcase_add_test (tests, test_refused_picture);
  tcase_add_loop_test (tests, test_layouts, 0, G_N_ELEMENTS (layouts));
  tcase_add_test (tests, test_frame_stays);
  suite_add_tcase (suite, tests);
}
