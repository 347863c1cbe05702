/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* The parts of cclmetaremap without a pipeline: what crops and turns do to a point, and the kept form. */

#include <gst/check/gstcheck.h>

#include <gst/ccl/ccl.h>

#include "remap/gstcclkeptmeta.h"
#include "remap/gstcclremapframe.h"

/* The matrix begins at the corner of the crop. */
static void
check_point (const GstCclRemapFrame * frame, gdouble x, gdouble y, gdouble expected_x, gdouble expected_y)
{
  const GstCclMatrixTransform *const transform = &frame->transform;
  const gdouble dx = x - transform->in_rectangle.x, dy = y - transform->in_rectangle.y;

  assert_equals_float (transform->matrix[0][0] * dx + transform->matrix[0][1] * dy + transform->matrix[0][2],
      expected_x);
  assert_equals_float (transform->matrix[1][0] * dx + transform->matrix[1][1] * dy + transform->matrix[1][2],
      expected_y);
}

/* The pixel square's corner (12, 23) of a frame of 40x60, of which the crop leaves 20x30 from (10, 20) on. */
GST_START_TEST (test_directions)
{
  static const struct
  {
    GstVideoOrientationMethod direction;
    gdouble x, y;
    gint width, height;
  } cases[] = {
    {GST_VIDEO_ORIENTATION_IDENTITY, 2, 3, 20, 30},
    {GST_VIDEO_ORIENTATION_90R, 27, 2, 30, 20},
    {GST_VIDEO_ORIENTATION_180, 18, 27, 20, 30},
    {GST_VIDEO_ORIENTATION_90L, 3, 18, 30, 20},
    {GST_VIDEO_ORIENTATION_HORIZ, 18, 3, 20, 30},
    {GST_VIDEO_ORIENTATION_VERT, 2, 27, 20, 30},
    {GST_VIDEO_ORIENTATION_UL_LR, 3, 2, 30, 20},
    {GST_VIDEO_ORIENTATION_UR_LL, 27, 18, 30, 20},
    {GST_VIDEO_ORIENTATION_AUTO, 2, 3, 20, 30},
    {GST_VIDEO_ORIENTATION_CUSTOM, 2, 3, 20, 30},
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    const GstCclRemapSettings settings = {.left = 10,.right = 10,.top = 20,.bottom = 10,.direction = cases[i].direction
    };
    GstCclRemapFrame frame;

    fail_unless (gst_ccl_remap_describe (&settings, 40, 60, 0, 0, &frame));
    fail_unless_equals_int (frame.width, cases[i].width);
    fail_unless_equals_int (frame.height, cases[i].height);
    check_point (&frame, 12, 23, cases[i].x, cases[i].y);
  }
}

GST_END_TEST;

GST_START_TEST (test_scaling)
{
  const GstCclRemapSettings settings = {.left = 10,.direction = GST_VIDEO_ORIENTATION_90R };
  GstCclRemapFrame frame;

  fail_unless (gst_ccl_remap_describe (&settings, 40, 60, 120, 15, &frame));
  fail_unless (frame.turned_width == 60 && frame.turned_height == 30 && frame.width == 120 && frame.height == 15);
  check_point (&frame, 10, 60, 0, 0);
  check_point (&frame, 40, 0, 120, 15);
}

GST_END_TEST;

GST_START_TEST (test_crop_of_all)
{
  GstCclRemapSettings settings = {.left = 20,.right = 20 };
  GstCclRemapFrame frame;

  fail_if (gst_ccl_remap_describe (&settings, 40, 60, 0, 0, &frame));
  settings.left = settings.right = G_MAXINT;
  fail_if (gst_ccl_remap_describe (&settings, 40, 60, 0, 0, &frame));
  settings.left = 19;
  settings.right = 20;
  fail_unless (gst_ccl_remap_describe (&settings, 40, 60, 0, 0, &frame));
  fail_unless_equals_int (frame.width, 1);
}

GST_END_TEST;

/* Copies of a buffer keep the kept metas, and share the buffer that holds them. */
GST_START_TEST (test_kept_meta)
{
  GstBuffer *const buffer = gst_buffer_new (), *const holder = gst_buffer_new ();
  GstCclKeptMeta *kept;
  GstBuffer *copy;

  fail_unless (gst_ccl_buffer_get_kept_meta (buffer) == NULL);
  kept = gst_ccl_buffer_add_kept_meta (buffer, holder);
  kept->width = 3;
  kept->height = 4;
  kept->par_n = 5;
  kept->par_d = 6;
  copy = gst_buffer_copy (buffer);
  gst_buffer_unref (buffer);
  kept = gst_ccl_buffer_get_kept_meta (copy);
  fail_unless (kept && kept->holder == holder);
  fail_unless (kept->width == 3 && kept->height == 4 && kept->par_n == 5 && kept->par_d == 6);
  ASSERT_BUFFER_REFCOUNT (holder, "holder", 2);
  gst_buffer_unref (copy);
  ASSERT_BUFFER_REFCOUNT (holder, "holder", 1);
  gst_buffer_unref (holder);
}

GST_END_TEST;

static Suite *
cclmetaremap_parts_suite (void)
{
  Suite *const suite = suite_create ("cclmetaremap-parts");
  TCase *const tc = tcase_create ("general");

  suite_add_tcase (suite, tc);
  tcase_add_test (tc, test_directions);
  tcase_add_test (tc, test_scaling);
  tcase_add_test (tc, test_crop_of_all);
  tcase_add_test (tc, test_kept_meta);
  return suite;
}

GST_CHECK_MAIN (cclmetaremap_parts);
