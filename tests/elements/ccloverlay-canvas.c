/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* The canvas of ccloverlay without a pipeline: sizes, wiping, blending into a frame, rectangles beside a frame. */

#include <math.h>

#include "ccloverlay-parts.h"

static void
fill (GstCclCanvas * canvas, gdouble x, gdouble y, gdouble width, gdouble height)
{
  cairo_t *const cr = gst_ccl_canvas_get_cairo (canvas);

  cairo_set_source_rgba (cr, 1, 1, 1, 1);
  cairo_rectangle (cr, x, y, width, height);
  cairo_fill (cr);
  gst_ccl_canvas_touch (canvas, x, y, x + width, y + height);
}

GST_START_TEST (test_canvas_sizes)
{
  static const guint sizes[][2] = { {0, 1}, {1, 0}, {32768, 1}, {1, 32768} };

  for (guint i = 0; i < G_N_ELEMENTS (sizes); i++)
    fail_unless (gst_ccl_canvas_new (sizes[i][0], sizes[i][1]) == NULL);
}

GST_END_TEST;

GST_START_TEST (test_canvas_wipe)
{
  GstCclCanvas *const canvas = new_canvas ();

  fail_unless (gst_ccl_canvas_is_empty (canvas));
  gst_ccl_canvas_touch (canvas, -20, -20, 0, 0);
  gst_ccl_canvas_touch (canvas, NAN, 0, 10, 10);
  gst_ccl_canvas_touch (canvas, 10, 10, 10, 20);
  fail_unless (gst_ccl_canvas_is_empty (canvas), "nothing of these is on the canvas");
  fill (canvas, 9, 17, 30, 5);
  fail_if (gst_ccl_canvas_is_empty (canvas));
  fail_unless_equals_int (count_all (canvas), 30 * 5);
  gst_ccl_canvas_wipe (canvas);
  fail_unless (gst_ccl_canvas_is_empty (canvas));
  fail_unless_equals_int (count_all (canvas), 0);
  gst_ccl_canvas_free (canvas);
}

GST_END_TEST;

/* Every byte of the frame outside the drawing stays, every byte inside is white. */
GST_START_TEST (test_canvas_blend)
{
  GstCclCanvas *const canvas = new_canvas ();
  GstBuffer *buffer;
  GstVideoFrame frame;
  GstVideoInfo info;

  gst_video_info_set_format (&info, GST_VIDEO_FORMAT_GRAY8, WIDTH, HEIGHT);
  info.colorimetry.range = GST_VIDEO_COLOR_RANGE_0_255;
  buffer = gst_buffer_new_allocate (NULL, GST_VIDEO_INFO_SIZE (&info), NULL);
  gst_buffer_memset (buffer, 0, 0x60, GST_VIDEO_INFO_SIZE (&info));
  fail_unless (gst_ccl_canvas_can_blend (&info));
  fill (canvas, 41, 30, 3, 2);
  fail_unless (gst_video_frame_map (&frame, &info, buffer, GST_MAP_READWRITE));
  fail_unless_equals_uint64 (gst_ccl_canvas_blend (canvas, &frame), 8 * 8);
  for (guint y = 0; y < HEIGHT; y++)
    for (guint x = 0; x < WIDTH; x++) {
      const guint8 value = ((guint8 *) frame.data[0])[GST_VIDEO_FRAME_PLANE_STRIDE (&frame, 0) * y + x];

      fail_unless_equals_int (value, x >= 41 && x < 44 && y >= 30 && y < 32 ? 255 : 0x60);
    }
  gst_video_frame_unmap (&frame);
  gst_buffer_unref (buffer);
  gst_ccl_canvas_free (canvas);
}

GST_END_TEST;

GST_START_TEST (test_canvas_compose)
{
  GstCclCanvas *const canvas = new_canvas ();
  GstVideoOverlayComposition *composition;
  guint64 pixels = 0;
  gint x, y;
  guint width, height;

  fail_unless (gst_ccl_canvas_compose (canvas, NULL, &pixels) == NULL);
  fill (canvas, 8, 16, 16, 8);
  fill (canvas, 80, 80, 1, 1);
  composition = gst_ccl_canvas_compose (canvas, NULL, &pixels);
  fail_unless_equals_int (gst_video_overlay_composition_n_rectangles (composition), 2);
  gst_video_overlay_rectangle_get_render_rectangle (gst_video_overlay_composition_get_rectangle (composition, 0), &x, &y,
      &width, &height);
  fail_unless (x == 8 && y == 16 && width == 16 && height == 8, "%d, %d: %u x %u", x, y, width, height);
  fail_unless_equals_uint64 (pixels, 16 * 8 + 8 * 8);
  gst_video_overlay_composition_unref (composition);
  /* A checkerboard of tiles has more than the maximum number of rectangles. */
  for (guint i = 0; i < WIDTH / 8 * (HEIGHT / 8); i++)
    if ((i % (WIDTH / 8) + i / (WIDTH / 8)) % 2)
      fill (canvas, i % (WIDTH / 8) * 8, i / (WIDTH / 8) * 8, 1, 1);
  composition = gst_ccl_canvas_compose (canvas, NULL, &pixels);
  fail_unless (gst_video_overlay_composition_n_rectangles (composition) <= GST_CCL_CANVAS_RECTANGLES);
  gst_video_overlay_composition_unref (composition);
  gst_ccl_canvas_free (canvas);
}

GST_END_TEST;

static Suite *
ccloverlay_canvas_suite (void)
{
  Suite *const suite = suite_create ("ccloverlay-canvas");
  TCase *const canvas = tcase_create ("canvas");

  suite_add_tcase (suite, canvas);
  tcase_add_test (canvas, test_canvas_sizes);
  tcase_add_test (canvas, test_canvas_wipe);
  tcase_add_test (canvas, test_canvas_blend);
  tcase_add_test (canvas, test_canvas_compose);
  return suite;
}

GST_CHECK_MAIN (ccloverlay_canvas);
