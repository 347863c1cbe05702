/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* ccloverlay: zones, regions and names, and how long a drawing stays. */

#include "ccloverlay.h"

GST_START_TEST (test_zones)
{
  gdouble corners[] = { 0.25, 0.25, 0.75, 0.25, 0.75, 0.75, 0.25, 0.75 }, ends[] = { 0.1, 0, 0.1, 1 };
  const GstCclZone zones[] = {
    {.name = (gchar *) "door",.kind = GST_CCL_ZONE_POLYGON,.n_points = 4,.points = corners,.n_inside = 3},
    {.name = (gchar *) "gate",.kind = GST_CCL_ZONE_LINE,.n_points = 2,.points = ends,.n_forward = 12},
  };
  Fixture f = new_fixture ("", "BGRx", 320, 240);
  GstBuffer *buffer = new_frame (&f, 0);

  gst_buffer_add_ccl_zone_meta (buffer, zones, 2);
  buffer = push (&f, buffer);
  fail_unless (pixel (&f, buffer, 80, 80) != GROUND * 0x10101);
  fail_unless (pixel (&f, buffer, 240, 170) != GROUND * 0x10101);
  fail_unless (pixel (&f, buffer, 32, 200) != GROUND * 0x10101);
  fail_unless (pixel (&f, buffer, 160, 120) != GROUND * 0x10101, "no text");
  assert_equals_int (pixel (&f, buffer, 280, 200), GROUND * 0x10101);
  gst_buffer_unref (buffer);
  gst_harness_teardown (f.harness);
}

GST_END_TEST;

/* The overlay covers all that is drawn, however sharp a corner is. */
GST_START_TEST (test_corners)
{
  /* What reaches furthest: a point that is cut off, and one of nearly 84 degrees, which just is not. */
  gdouble corners[][6] = { {0.5, 0.5, 0.2, 0.45, 0.2, 0.55}, {0.2, 0.5, 0.3, 0.38, 0.3, 0.62} };
  gdouble other[] = { 0.6, 0.1, 0.9, 0.1, 0.9, 0.9, 0.6, 0.9 };
  Fixture f = new_fixture ("draw=zone line-width=6", "BGRx", 320, 240);

  for (guint i = 0; i < 32; i++) {
    gdouble *const corner = corners[i % 2];
    const GstCclZone zones[] = {
      {.name = (gchar *) "",.kind = GST_CCL_ZONE_POLYGON,.n_points = 3,.points = corner},
      {.name = (gchar *) "",.kind = GST_CCL_ZONE_POLYGON,.n_points = 4,.points = other},
    };
    gsize n_changed[2];

    for (guint k = 0; k < 3; k++)
      corner[2 * k] -= 1 / 320.0;       /* wherever it may be, and away from what it may leave behind */
    for (guint step = 0; step < 2; step++) {
      Fixture fresh = new_fixture ("draw=zone line-width=6", "BGRx", 320, 240);
      GstBuffer *buffers[] = { new_frame (&f, 2 * i + step), new_frame (&fresh, 0) };

      for (guint k = 0; k < 2; k++) {
        gst_buffer_add_ccl_zone_meta (buffers[k], &zones[step], 1);
        buffers[k] = push (k ? &fresh : &f, buffers[k]);
        n_changed[k] = count_changed (buffers[k]);
        gst_buffer_unref (buffers[k]);
      }
      assert_equals_uint64 (n_changed[0], n_changed[1]);
      gst_harness_teardown (fresh.harness);
    }
  }
  gst_harness_teardown (f.harness);
}

GST_END_TEST;

GST_START_TEST (test_regions_of_others)
{
  Fixture f = new_fixture ("color-by=fixed line-width=1", "BGRx", 320, 240);
  GstBuffer *buffer = new_frame (&f, 0);

  gst_buffer_add_video_region_of_interest_meta (buffer, "car", 100, 80, 40, 60);
  buffer = push (&f, buffer);
  assert_equals_int (pixel (&f, buffer, 98, 110), 0x00ff00);
  assert_equals_uint64 (get_stat (&f, "objects"), 1);
  gst_buffer_unref (buffer);
  gst_harness_teardown (f.harness);
}

GST_END_TEST;

static guint n_warnings = 0;

/* Pango's own, which pass by g_log_set_handler(). */
static GLogWriterOutput
count_warning (GLogLevelFlags level, const GLogField * fields, gsize n_fields, gpointer user_data)
{
  n_warnings += (level & G_LOG_LEVEL_WARNING) != 0;
  return g_log_writer_default (level, fields, n_fields, user_data);
}

/* Pango, which warns of anything else, is given whole characters only. */
GST_START_TEST (test_names_that_are_cut)
{
  static const gchar *const names[] = {
    "автомобильавтомобиль", "xавтомобильавтомобиль",     /* of two bytes each: one of them is cut in the middle */
    "caf\xe9", "\xff", "",
  };

  g_log_set_writer_func (count_warning, NULL, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (names); i++) {
    Fixture f = new_fixture ("draw=id+area", "BGRx", 320, 240);
    GstBuffer *buffer = new_frame (&f, 0);

    gst_buffer_add_video_region_of_interest_meta (buffer, names[i], 100, 80, 40, 60);
    buffer = push (&f, buffer);
    fail_unless (count_changed (buffer) > 0);
    fail_unless (n_warnings == 0, "%s", names[i]);
    gst_buffer_unref (buffer);
    gst_harness_teardown (f.harness);
  }
}

GST_END_TEST;

GST_START_TEST (test_expire)
{
  Fixture f = new_fixture ("draw=box color-by=fixed line-width=1 expire=250000000", "BGRx", 320, 240);

  gst_buffer_unref (push_blob (&f, 0, new_blob (1, 3, 100, 80, 40, 60)));
  assert_path (&f, "blend");
  for (guint i = 1; i < 5; i++) {
    GstBuffer *out = new_frame (&f, i);

    if (i == 2)
      attach_blobs (&f, out, NULL, 0)->flags |= GST_CCL_BLOB_META_FLAG_SKIPPED;
    out = push (&f, out);
    fail_unless ((pixel (&f, out, 98, 110) == 0x00ff00) == (i <= 2), "frame %u: %06x", i, pixel (&f, out, 98, 110));
    gst_buffer_unref (out);
  }
  gst_harness_teardown (f.harness);
}

GST_END_TEST;

TCase *
overlay_mark_tests (void)
{
  TCase *tests = tcase_create ("marks");

  tcase_set_timeout (tests, 120);
  tcase_add_test (tests, test_zones);
  tcase_add_test (tests, test_corners);
  tcase_add_test (tests, test_regions_of_others);
  tcase_add_test (tests, test_names_that_are_cut);
  tcase_add_test (tests, test_expire);
  return tests;
}
