/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Which blobs are listed and in what order, what is attached, and warnings about settings that hide blobs. */
#include "ccllabel.h"

static void
check_filter (guint backend, const gchar * settings, const CclFilter * filter)
{
  gchar *all = g_strdup_printf ("max-components=1000000 min-area=0 %s", settings);
  GstHarness *harness = label_harness (backend, all);
  Mask mask = mask_random (97, 61, 5, 0.35);
  GstBuffer *buffer;

  buffer = label_one (harness, GST_VIDEO_FORMAT_GRAY8, &mask);
  fail_unless (n_blobs (buffer) > 0, "%s leaves nothing to test", settings);
  assert_blobs_filtered (buffer, &mask, 8, filter);
  gst_buffer_unref (buffer);
  gst_harness_teardown (harness);
  mask_free (&mask);
  g_free (all);
}

GST_START_TEST (test_filters)
{
  NEED_BACKEND (__i__);
  check_filter (__i__, "min-area=7", &(CclFilter) {
      .min_area = 7});
  check_filter (__i__, "max-area=7", &(CclFilter) {
      .max_area = 7});
  check_filter (__i__, "min-rel-area=0.001", &(CclFilter) {
      .min_relative_area = 0.001});
  check_filter (__i__, "max-rel-area=0.001", &(CclFilter) {
      .max_relative_area = 0.001});
  check_filter (__i__, "min-width=4", &(CclFilter) {
      .min_width = 4});
  check_filter (__i__, "max-width=4", &(CclFilter) {
      .max_width = 4});
  check_filter (__i__, "min-height=4", &(CclFilter) {
      .min_height = 4});
  check_filter (__i__, "max-height=4", &(CclFilter) {
      .max_height = 4});
  check_filter (__i__, "border=drop", &(CclFilter) {
      .border = CCL_BORDER_DROP});
  check_filter (__i__, "border=keep", &(CclFilter) {
      .border = CCL_BORDER_KEEP});
  check_filter (__i__, "border=flag min-area=2 max-area=50 min-width=2 max-height=9", &(CclFilter) {
      .border = CCL_BORDER_FLAG,.min_area = 2,.max_area = 50,.min_width = 2,.max_height = 9});
}

GST_END_TEST;

GST_START_TEST (test_sort)
{
  NEED_BACKEND (__i__);

  GstHarness *harness;
  GstBuffer *buffer;
  GstCclBlobMeta *meta;
  Mask mask = MASK ("#..###..##..###", ".............#.");
  static const guint labels[] = { 4, 2, 3 }, areas[] = { 4, 3, 2 };

  harness = label_harness (__i__, "sort=area-desc max-components=3");
  buffer = label_one (harness, GST_VIDEO_FORMAT_GRAY8, &mask);
  meta = gst_buffer_get_ccl_blob_meta (buffer);
  fail_unless_equals_int (meta->n_kept, 4);
  fail_unless_equals_int (gst_ccl_blob_meta_get_length (meta), 3);
  for (guint i = 0; i < 3; i++) {
    fail_unless_equals_int (gst_ccl_blob_meta_get_blob (meta, i)->label, labels[i]);
    fail_unless_equals_uint64 (gst_ccl_blob_meta_get_blob (meta, i)->area, areas[i]);
  }
  gst_buffer_unref (buffer);
  gst_harness_teardown (harness);
  mask_free (&mask);
}

GST_END_TEST;

/* Ten frames of this kind give a warning: the threshold of masks takes the black of video for foreground. */
static void
push_black_video (GstHarness * harness, const Mask * black, guint n, guint value)
{
  for (guint i = 0; i < n; i++) {
    fail_unless_equals_int (gst_harness_push (harness, buffer_from_values (GST_VIDEO_FORMAT_GRAY8, black, 0, value)),
        GST_FLOW_OK);
    gst_buffer_unref (gst_harness_pull (harness));
  }
}

GST_START_TEST (test_frames_without_background_are_warned_of)
{
  NEED_BACKEND (__i__);

  GstHarness *harness = label_harness (__i__, "");
  GstBus *bus = watch_bus (harness);
  Mask black = mask_new (20, 10);

  set_mask_caps (harness, GST_VIDEO_FORMAT_GRAY8, &black);
  push_black_video (harness, &black, 9, 16);
  push_black_video (harness, &black, 1, 0);
  push_black_video (harness, &black, 9, 16);
  assert_no_message (bus, GST_MESSAGE_WARNING);
  push_black_video (harness, &black, 12, 16);
  assert_message (bus, GST_MESSAGE_WARNING, "Every pixel of the last 10 frames is foreground");
  assert_no_message (bus, GST_MESSAGE_WARNING);
  drop_bus (harness, bus);
  gst_harness_teardown (harness);

  /* A threshold that the user set gives no warning. */
  harness = label_harness (__i__, "threshold=0");
  bus = watch_bus (harness);
  set_mask_caps (harness, GST_VIDEO_FORMAT_GRAY8, &black);
  push_black_video (harness, &black, 12, 16);
  assert_no_message (bus, GST_MESSAGE_WARNING);
  drop_bus (harness, bus);
  gst_harness_teardown (harness);
  mask_free (&black);
}

GST_END_TEST;

/* The noise of a difference of frames without motion. */
GST_START_TEST (test_noise_below_the_threshold_is_not_warned_of)
{
  GstHarness *harness = label_harness (0, "threshold=25");
  GstBus *bus = watch_bus (harness);
  Mask noise = mask_new (20, 10);

  set_mask_caps (harness, GST_VIDEO_FORMAT_GRAY8, &noise);
  for (guint i = 0; i < 40; i++) {
    GstBuffer *const buffer = buffer_from_values (GST_VIDEO_FORMAT_GRAY8, &noise, 0, 0);
    GstMapInfo map;

    fail_unless (gst_buffer_map (buffer, &map, GST_MAP_WRITE));
    for (gsize k = 0; k < map.size; k++)
      map.data[k] = k * 7 % 12;
    gst_buffer_unmap (buffer, &map);
    fail_unless_equals_int (gst_harness_push (harness, buffer), GST_FLOW_OK);
    gst_buffer_unref (gst_harness_pull (harness));
  }
  assert_no_message (bus, GST_MESSAGE_WARNING);
  drop_bus (harness, bus);
  gst_harness_teardown (harness);
  mask_free (&noise);
}

GST_END_TEST;

/* A warning for masks of 0 and 1 below the threshold. No warning for the black of video, nor after a mask had a blob. */
GST_START_TEST (test_masks_below_the_threshold_are_warned_of)
{
  static const struct
  {
    const gchar *properties;
    guint first, all;
    gboolean is_warned_of;
  } cases[] = {
    {"threshold=127", 1, 1, TRUE},
    {"threshold=127", 255, 1, FALSE},
    {"threshold=127", 16, 16, FALSE},
    {"threshold=127", 0, 0, FALSE},
    {"threshold=0", 1, 1, FALSE},
    {"threshold=127 invert=true", 1, 1, FALSE},
  };

  NEED_BACKEND (__i__);
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    GstHarness *harness = label_harness (__i__, cases[i].properties);
    GstBus *bus = watch_bus (harness);
    Mask black = mask_new (20, 10);

    set_mask_caps (harness, GST_VIDEO_FORMAT_GRAY8, &black);
    push_black_video (harness, &black, 1, cases[i].first);
    push_black_video (harness, &black, 28, cases[i].all);
    assert_no_message (bus, GST_MESSAGE_WARNING);
    push_black_video (harness, &black, 10, cases[i].all);
    if (cases[i].is_warned_of)
      assert_message (bus, GST_MESSAGE_WARNING,
          "pixels are up to 1 in the last, and only those above the threshold, 127, count");
    assert_no_message (bus, GST_MESSAGE_WARNING);
    drop_bus (harness, bus);
    gst_harness_teardown (harness);
    mask_free (&black);
  }
}

GST_END_TEST;

GST_START_TEST (test_limits_that_leave_nothing_are_warned_of)
{
  GstHarness *harness = label_harness (0, "min-area=50 max-area=10 min-width=5 max-width=5 min-height=9");
  GstBus *bus = watch_bus (harness);

  gst_element_set_state (harness->element, GST_STATE_NULL);
  gst_element_set_state (harness->element, GST_STATE_PLAYING);
  assert_message (bus, GST_MESSAGE_WARNING, "min-area=50 is above max-area=10");
  assert_no_message (bus, GST_MESSAGE_WARNING);
  drop_bus (harness, bus);
  gst_harness_teardown (harness);
}

GST_END_TEST

GST_START_TEST (test_truncation_is_flagged_and_warned_of_once_per_caps)
{
  NEED_BACKEND (__i__);

  GstHarness *harness;
  GstBus *bus;
  Mask mask = mask_dots (20), other = mask_dots (21);

  harness = label_harness (__i__, "max-components=7");
  bus = watch_bus (harness);
  set_mask_caps (harness, GST_VIDEO_FORMAT_GRAY8, &mask);
  for (guint i = 0; i < 3; i++) {
    GstBuffer *buffer;
    GstCclBlobMeta *meta;

    buffer = label_mask (harness, &mask, i);
    meta = gst_buffer_get_ccl_blob_meta (buffer);
    fail_unless_equals_int (meta->flags, GST_CCL_BLOB_META_FLAG_TRUNCATED);
    fail_unless_equals_int (meta->n_kept, 20);
    fail_unless_equals_int (meta->n_total, 20);
    fail_unless_equals_int (gst_ccl_blob_meta_get_length (meta), 7);
    gst_buffer_unref (buffer);
  }
  assert_message (bus, GST_MESSAGE_WARNING, "20 blobs, the table holds 7");
  assert_no_message (bus, GST_MESSAGE_WARNING);

  set_mask_caps (harness, GST_VIDEO_FORMAT_GRAY8, &other);
  gst_buffer_unref (label_mask (harness, &other, 3));
  assert_message (bus, GST_MESSAGE_WARNING, "21 blobs");
  assert_no_message (bus, GST_MESSAGE_WARNING);
  fail_unless_equals_uint64 (stat_uint64 (harness, "truncated"), 4);

  set_label (harness, "max-components", "21");
  {
    GstBuffer *buffer = label_mask (harness, &other, 4);
    assert_blobs (buffer, &other, 8);
    gst_buffer_unref (buffer);
  }
  drop_bus (harness, bus);
  gst_harness_teardown (harness);
  mask_free (&mask);
  mask_free (&other);
}

GST_END_TEST;

GST_START_TEST (test_attach)
{
  NEED_BACKEND (__i__);

  static const struct
  {
    const gchar *settings;
    guint blobs, regions;
  } cases[] = {
    {"", 5, 0},
    {"attach=blob+roi roi-type=thing", 5, 5},
    {"attach=roi roi-type=thing", 0, 5},
    {"attach=roi roi-type=thing max-mirror=2", 0, 2},
    {"attach=roi max-mirror=0", 0, 0},
    {"attach=analytics", 0, 0}, {"attach=blob+analytics", 5, 0},
    {"attach=0", 0, 0},
  };
  Mask mask = mask_dots (5);

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    GstHarness *harness = label_harness (__i__, cases[i].settings);
    GstBuffer *buffer;
    GstCclBlobMeta *meta;

    buffer = label_one (harness, GST_VIDEO_FORMAT_GRAY8, &mask);
    meta = gst_buffer_get_ccl_blob_meta (buffer);
    fail_unless_equals_int (meta ? gst_ccl_blob_meta_get_length (meta) : 0, cases[i].blobs);
    fail_unless_equals_int (meta != NULL, cases[i].blobs != 0);
    fail_unless_equals_int (count_regions (buffer, "thing"), cases[i].regions);
#ifdef HAVE_GST_ANALYTICS
    if (meta && strstr (cases[i].settings, "analytics"))
      for (guint b = 0; b < 5; b++)
        fail_unless (gst_ccl_blob_meta_get_blob (meta, b)->mtd_id != GST_CCL_MTD_ID_NONE);
#endif
    gst_buffer_unref (buffer);
    gst_harness_teardown (harness);
  }
  mask_free (&mask);
}

GST_END_TEST;

void
ccllabel_add_filters_tests (Suite * suite)
{
  TCase *tests = tcase_create ("filters");

  tcase_set_timeout (tests, 300);
  tcase_add_loop_test (tests, test_filters, 0, G_N_ELEMENTS (backends));
  tcase_add_loop_test (tests, test_sort, 0, G_N_ELEMENTS (backends));
  tcase_add_loop_test (tests, test_frames_without_background_are_warned_of, 0, G_N_ELEMENTS (backends));
  tcase_add_loop_test (tests, test_masks_below_the_threshold_are_warned_of, 0, G_N_ELEMENTS (backends));
  tcase_add_test (tests, test_noise_below_the_threshold_is_not_warned_of);
  tcase_add_test (tests, test_limits_that_leave_nothing_are_warned_of);
  tcase_add_loop_test (tests, test_truncation_is_flagged_and_warned_of_once_per_caps, 0, G_N_ELEMENTS (backends));
  tcase_add_loop_test (tests, test_attach, 0, G_N_ELEMENTS (backends));
  suite_add_tcase (suite, tests);
}
