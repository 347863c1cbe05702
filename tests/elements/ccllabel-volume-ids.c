/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* The ids of blobs, and the volumes that they stand for. */
#include "ccllabel-volume.h"

/* Checks the ids of frames masks[0..n) that were one volume, against the reference; they go on from `before`. Returns
 * how many components the volume has. The buffers are pulled and given back. */
static guint
check_volume (GstHarness * harness, const Mask * masks, guint n, CclConfig config, guint64 before, guint first_frame)
{
  CclContext *context;
  CclVolumeTable table;

  config.algorithm = "reference-3d";
  config.max_width = masks->width;
  config.max_height = masks->height;
  config.volume = n;
  fail_unless (ccl_context_new (&config, &context) == CCL_OK, "%s", ccl_error_message ());
  for (guint i = 0; i < n; i++) {
    const CclMask view = {.data = masks[i].pixels,.stride = masks[i].width,.width = masks[i].width,.height =
          masks[i].height
    };
    fail_unless (ccl_volume_add (context, &view) == CCL_OK, "%s", ccl_error_message ());
  }
  fail_unless (ccl_volume_label (context, NULL, &table) == CCL_OK, "%s", ccl_error_message ());

  for (guint i = 0; i < n; i++) {
    GstBuffer *buffer = gst_harness_try_pull (harness);

    fail_unless (buffer != NULL, "no frame %u", first_frame + i);
    fail_unless_equals_uint64 (GST_BUFFER_PTS (buffer), (first_frame + i) * 40 * GST_MSECOND);
    GstCclBlobMeta *meta = gst_buffer_get_ccl_blob_meta (buffer);
    fail_unless (meta != NULL && gst_ccl_blob_meta_get_length (meta) > 0);
    for (guint k = 0; k < gst_ccl_blob_meta_get_length (meta); k++) {
      const GstCclBlob *blob = gst_ccl_blob_meta_get_blob (meta, k);
      const CclVoxel voxel = { blob->first_x, blob->y, i };
      guint32 label;

      fail_unless (ccl_volume_look_up (context, &voxel, 1, &label) == CCL_OK);
      fail_unless (label != 0);
      fail_unless_equals_uint64 (blob->volume_id, before + label);
    }
    gst_buffer_unref (buffer);
  }
  ccl_context_free (context);
  return table.n_found;
}

/* An object that moves keeps its id. An object that it never touches has another id, and so has an object of the next volume. */
GST_START_TEST (test_moving_bar)
{
  NEED_BACKEND (__i__);

  GstHarness *harness = bar_harness (__i__, "volume=6");

  for (guint i = 0; i < 12; i++)
    push_bar (harness, 2 * i, i, i);    /* two of three columns and one of two rows in common with the frame before */
  for (guint i = 0; i < 6; i++)
    fail_unless_equals_uint64 (pull_id (harness), 1);
  for (guint i = 0; i < 6; i++)
    fail_unless_equals_uint64 (pull_id (harness), 2);
  fail_unless_equals_uint64 (stat_uint64 (harness, "volumes"), 2);
  gst_harness_teardown (harness);
}

GST_END_TEST;

/* Statistics name both methods, whichever the settings name. */
GST_START_TEST (test_stats_name_both_methods)
{
  static const gchar *const settings[][3] = {
    {"volume=2", "runs", "runs-3d"}, {"volume=2 algorithm=reference-3d", "runs", "reference-3d"},
    {"volume=2 algorithm=reference", "reference", "runs-3d"}, {"volume=1", "runs", "none"},
  };

  for (guint i = 0; i < G_N_ELEMENTS (settings); i++) {
    GstHarness *harness = bar_harness (0, settings[i][0]);
    gchar *of_frames = stat_string (harness, "algorithm"), *of_volumes = stat_string (harness, "volume-algorithm");

    fail_unless_equals_string (of_frames, settings[i][1]);
    fail_unless_equals_string (of_volumes, settings[i][2]);
    g_free (of_frames);
    g_free (of_volumes);
    gst_harness_teardown (harness);
  }
}

GST_END_TEST;

/* A corner is enough for 26-connectivity, not for 6. */
GST_START_TEST (test_connectivity)
{
  NEED_BACKEND (__i__);

  for (guint connectivity = 4; connectivity <= 8; connectivity += 4) {
    gchar *settings = g_strdup_printf ("volume=2 connectivity=%u", connectivity);
    GstHarness *harness = bar_harness (__i__, settings);

    push_bar (harness, 5, 5, 0);
    push_bar (harness, 8, 7, 1);
    fail_unless_equals_uint64 (pull_id (harness), 1);
    fail_unless_equals_uint64 (pull_id (harness), connectivity == 8 ? 1 : 2);
    gst_harness_teardown (harness);
    g_free (settings);
  }
}

GST_END_TEST;

/* Against the reference, with every kind of queue, over several volumes. The last volume is short. */
GST_START_TEST (test_random_masks)
{
  NEED_BACKEND (__i__);

  static const gchar *const settings[] = {
    "volume=2", "volume=5", "volume=3 async-depth=1", "volume=2 async-depth=3", "volume=4 async-depth=3 connectivity=4",
    "volume=3 algorithm=reference-3d", "volume=3 algorithm=runs", "volume=1000", "volume=4 sort=area-desc",
    "volume=4 max-components=5", "volume=4 min-area=4 border=drop"
  };
  Mask masks[11];

  for (guint i = 0; i < G_N_ELEMENTS (masks); i++)
    masks[i] = mask_random (40, 24, 100 + i, 0.3);
  for (guint s = 0; s < G_N_ELEMENTS (settings); s++) {
    if (__i__ && strstr (settings[s], "reference"))
      continue;
    const guint n = atoi (settings[s] + strlen ("volume="));
    CclConfig config = ccl_config_default ();
    GstHarness *harness = label_harness (__i__, settings[s]);
    guint64 before = 0;
    guint pulled = 0;

    config.connectivity = strstr (settings[s], "connectivity=4") ? 4 : 8;
    set_mask_caps (harness, GST_VIDEO_FORMAT_GRAY8, &masks[0]);
    for (guint i = 0; i < G_N_ELEMENTS (masks); i++) {
      fail_unless_equals_int (push_mask (harness, &masks[i], i), GST_FLOW_OK);
      fail_unless_equals_int (gst_harness_buffers_in_queue (harness), (i + 1) / n * n - pulled);
      if ((i + 1) % n == 0) {
        before += check_volume (harness, masks + pulled, n, config, before, pulled);
        pulled += n;
      }
    }
    gst_harness_push_event (harness, gst_event_new_eos ());
    if (pulled < G_N_ELEMENTS (masks))
      check_volume (harness, masks + pulled, G_N_ELEMENTS (masks) - pulled, config, before, pulled);
    fail_unless_equals_int (gst_harness_buffers_in_queue (harness), 0);
    gst_harness_teardown (harness);
  }
  for (guint i = 0; i < G_N_ELEMENTS (masks); i++)
    mask_free (&masks[i]);
}

GST_END_TEST;

static void
push_map (GstHarness * harness, const Mask * map, guint n)
{
  GstBuffer *buffer = gst_buffer_new_memdup (map->pixels, map->width * map->height);

  GST_BUFFER_PTS (buffer) = n * 40 * GST_MSECOND;
  GST_BUFFER_DURATION (buffer) = 40 * GST_MSECOND;
  fail_unless_equals_int (gst_harness_push (harness, buffer), GST_FLOW_OK);
}

/* Label maps of three values. The GPU labels their volumes itself. */
GST_START_TEST (test_random_maps)
{
  NEED_BACKEND (__i__);

  Mask maps[6];

  for (guint i = 0; i < G_N_ELEMENTS (maps); i++) {
    Mask other = mask_random (40, 24, 200 + i, 0.4);

    maps[i] = mask_random (40, 24, 100 + i, 0.6);
    for (guint k = 0; k < 40 * 24; k++)
      maps[i].pixels[k] += other.pixels[k];
    mask_free (&other);
  }
  for (guint k = 0; k < 4; k++) {
    CclConfig config = ccl_config_default ();
    gchar *settings, *method;
    GstHarness *harness;

    config.connectivity = k % 2 ? 4 : 8;
    config.foreground = CCL_FOREGROUND_EQUAL;
    config.background_value = k / 2;
    settings = g_strdup_printf ("volume=6 foreground=equal connectivity=%d background-value=%u", config.connectivity,
        config.background_value);
    harness = label_harness (__i__, settings);
    set_mask_caps (harness, GST_VIDEO_FORMAT_GRAY8, &maps[0]);
    for (guint i = 0; i < G_N_ELEMENTS (maps); i++)
      push_map (harness, &maps[i], i);
    check_volume (harness, maps, G_N_ELEMENTS (maps), config, 0, 0);
    method = stat_string (harness, "volume-algorithm");
    fail_unless_equals_string (method, strcmp (backends[__i__], "cuda") ? "runs-3d" : "uf-3d");
    g_free (method);
    gst_harness_teardown (harness);
    g_free (settings);
  }
  for (guint i = 0; i < G_N_ELEMENTS (maps); i++)
    mask_free (&maps[i]);
}

GST_END_TEST;

/* Two objects that meet in one frame are one component, before that frame too. The filter of the frames does not change
 * what is connected. */
GST_START_TEST (test_meeting)
{
  NEED_BACKEND (__i__);

  Mask frames[3] = { MASK ("##....##"), MASK (".##..##."), MASK ("..####..") };
  GstHarness *harness = label_harness (__i__, "volume=3 max-area=3");
  GstBuffer *buffer;

  set_mask_caps (harness, GST_VIDEO_FORMAT_GRAY8, &frames[0]);
  for (guint i = 0; i < 3; i++)
    fail_unless_equals_int (push_mask (harness, &frames[i], i), GST_FLOW_OK);
  for (guint i = 0; i < 2; i++) {
    buffer = gst_harness_pull (harness);
    fail_unless_equals_uint64 (id_of (buffer, 0), 1);
    fail_unless_equals_uint64 (id_of (buffer, 1), 1);
    gst_buffer_unref (buffer);
  }
  buffer = gst_harness_pull (harness);
  fail_unless_equals_int (n_blobs (buffer), 0);
  gst_buffer_unref (buffer);
  gst_harness_teardown (harness);
  for (guint i = 0; i < 3; i++)
    mask_free (&frames[i]);
}

GST_END_TEST;

GST_START_TEST (test_off)
{
  for (guint n = 0; n < 2; n++) {
    gchar *settings = g_strdup_printf ("volume=%u", n);
    GstHarness *harness = bar_harness (0, settings);

    push_bar (harness, 1, 1, 0);
    fail_unless_equals_uint64 (pull_id (harness), 0);
    gst_harness_teardown (harness);
    g_free (settings);
  }
}

GST_END_TEST;

void
ccllabel_volume_add_ids_tests (Suite * suite)
{
  TCase *tests = tcase_create ("ids");

  tcase_set_timeout (tests, 120);
  tcase_add_loop_test (tests, test_moving_bar, 0, G_N_ELEMENTS (backends));
  tcase_add_test (tests, test_stats_name_both_methods);
  tcase_add_loop_test (tests, test_connectivity, 0, G_N_ELEMENTS (backends));
  tcase_add_loop_test (tests, test_random_masks, 0, G_N_ELEMENTS (backends));
  tcase_add_loop_test (tests, test_random_maps, 0, G_N_ELEMENTS (backends));
  tcase_add_loop_test (tests, test_meeting, 0, G_N_ELEMENTS (backends));
  tcase_add_test (tests, test_off);
  suite_add_tcase (suite, tests);
}
