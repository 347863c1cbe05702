/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* ccllabel volume=N: frames held back until their volume is complete, and ids that hold through it. Every test runs on
 * each backend that is there. */
#include "ccllabel.h"

#ifdef CCL_EMULATED
#include "support/emulation.h"
#endif

/* ---------------------------------------------------------------- what is expected */

/* Checks the ids of frames masks[0..n) that were one volume, against the reference; they go on from `before`. Returns
 * how many components the volume has. The buffers are pulled and given back. */
static guint
check_volume (GstHarness * harness, const Mask * masks, guint n, guint connectivity, guint64 before, guint first_frame)
{
  CclConfig config = ccl_config_default ();
  CclContext *context;
  CclVolumeTable table;

  config.algorithm = "reference-3d";
  config.connectivity = connectivity;
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

/* A bar of 3x2 pixels at (x, y) in a mask of 32x16. */
static Mask
bar_at (guint x, guint y)
{
  Mask mask = mask_new (32, 16);

  for (guint i = 0; i < 6; i++)
    mask.pixels[(y + i / 3) * 32 + x + i % 3] = 1;
  return mask;
}

static guint64
id_of (GstBuffer * buffer, guint n)
{
  GstCclBlobMeta *meta = gst_buffer_get_ccl_blob_meta (buffer);

  fail_unless (meta != NULL && n < gst_ccl_blob_meta_get_length (meta), "no blob %u", n);
  return gst_ccl_blob_meta_get_blob (meta, n)->volume_id;
}

/* Id of the first blob of the next frame. */
static guint64
pull_id (GstHarness * harness)
{
  GstBuffer *buffer = gst_harness_try_pull (harness);
  guint64 id;

  fail_unless (buffer != NULL, "no frame came");
  id = id_of (buffer, 0);
  gst_buffer_unref (buffer);
  return id;
}

static GstHarness *
bar_harness (guint backend, const gchar * settings)
{
  GstHarness *harness = label_harness (backend, settings);
  Mask mask = bar_at (0, 0);

  set_mask_caps (harness, GST_VIDEO_FORMAT_GRAY8, &mask);
  mask_free (&mask);
  return harness;
}

static void
push_bar (GstHarness * harness, guint x, guint y, guint n)
{
  Mask mask = bar_at (x, y);

  fail_unless_equals_int (push_mask (harness, &mask, n), GST_FLOW_OK);
  mask_free (&mask);
}

/* ---------------------------------------------------------------- ids */

/* Something that moves keeps its id; what it never touches has another, and so has what comes in the next volume. */
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

/* Both methods are named, whichever of them was asked for. */
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

/* Against the reference, with every way of holding frames back, over several volumes, the last one short. */
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
    const guint connectivity = strstr (settings[s], "connectivity=4") ? 4 : 8;
    GstHarness *harness = label_harness (__i__, settings[s]);
    guint64 before = 0;
    guint pulled = 0;

    set_mask_caps (harness, GST_VIDEO_FORMAT_GRAY8, &masks[0]);
    for (guint i = 0; i < G_N_ELEMENTS (masks); i++) {
      fail_unless_equals_int (push_mask (harness, &masks[i], i), GST_FLOW_OK);
      fail_unless_equals_int (gst_harness_buffers_in_queue (harness), (i + 1) / n * n - pulled);
      if ((i + 1) % n == 0) {
        before += check_volume (harness, masks + pulled, n, connectivity, before, pulled);
        pulled += n;
      }
    }
    gst_harness_push_event (harness, gst_event_new_eos ());
    if (pulled < G_N_ELEMENTS (masks))
      check_volume (harness, masks + pulled, G_N_ELEMENTS (masks) - pulled, connectivity, before, pulled);
    fail_unless_equals_int (gst_harness_buffers_in_queue (harness), 0);
    gst_harness_teardown (harness);
  }
  for (guint i = 0; i < G_N_ELEMENTS (masks); i++)
    mask_free (&masks[i]);
}

GST_END_TEST;

/* Two things that meet in one frame are one component, before that frame too; the filter of the frames has no say in
 * what connects. */
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

/* ---------------------------------------------------------------- the stream around them */

GST_START_TEST (test_latency)
{
  GstHarness *harness = bar_harness (0, "volume=10 async-depth=2");

  fail_unless_equals_uint64 (gst_harness_query_latency (harness), 9 * 40 * GST_MSECOND);
  set_label (harness, "volume", "0");
  push_bar (harness, 1, 1, 0);
  fail_unless_equals_uint64 (gst_harness_query_latency (harness), 2 * 40 * GST_MSECOND);
  gst_harness_teardown (harness);
}

GST_END_TEST;

/* Whatever must not overtake the frames ends the volume. */
GST_START_TEST (test_volumes_end_early)
{
  NEED_BACKEND (__i__);

  GstHarness *harness = bar_harness (__i__, "volume=10");
  GstSegment segment;
  Mask other = mask_new (20, 20);
  guint64 n = 0;

  push_bar (harness, 1, 1, 0);
  push_bar (harness, 1, 1, 1);
  fail_unless_equals_int (gst_harness_buffers_in_queue (harness), 0);
  gst_segment_init (&segment, GST_FORMAT_TIME);
  segment.rate = 2;
  fail_unless (gst_harness_push_event (harness, gst_event_new_segment (&segment)));
  fail_unless_equals_int (gst_harness_buffers_in_queue (harness), 2);
  for (guint i = 0; i < 2; i++)
    fail_unless_equals_uint64 (pull_id (harness), n + 1);
  n++;

  push_bar (harness, 1, 1, 2);
  set_mask_caps (harness, GST_VIDEO_FORMAT_GRAY8, &other);
  fail_unless_equals_uint64 (pull_id (harness), n + 1);
  n++;

  other.pixels[0] = 1;
  fail_unless_equals_int (push_mask (harness, &other, 3), GST_FLOW_OK);
  GstBuffer *discont = buffer_from_mask (GST_VIDEO_FORMAT_GRAY8, &other);
  GST_BUFFER_FLAG_SET (discont, GST_BUFFER_FLAG_DISCONT);
  fail_unless_equals_int (gst_harness_push (harness, discont), GST_FLOW_OK);
  fail_unless_equals_int (gst_harness_buffers_in_queue (harness), 1);
  fail_unless_equals_uint64 (pull_id (harness), n + 1);
  n++;

  /* Other settings, too. */
  set_label (harness, "connectivity", "4");
  fail_unless_equals_int (push_mask (harness, &other, 4), GST_FLOW_OK);
  fail_unless_equals_uint64 (pull_id (harness), n + 1);
  n++;
  set_label (harness, "volume", "2");
  fail_unless_equals_int (push_mask (harness, &other, 5), GST_FLOW_OK);
  fail_unless_equals_uint64 (pull_id (harness), n + 1);
  n++;
  fail_unless_equals_int (push_mask (harness, &other, 6), GST_FLOW_OK);
  for (guint i = 0; i < 2; i++)
    fail_unless_equals_uint64 (pull_id (harness), n + 1);
  n++;
  set_label (harness, "volume", "0");
  fail_unless_equals_int (push_mask (harness, &other, 7), GST_FLOW_OK);
  fail_unless_equals_uint64 (pull_id (harness), 0);
  fail_unless_equals_uint64 (stat_uint64 (harness, "volumes"), n);
  gst_harness_teardown (harness);
  mask_free (&other);
}

GST_END_TEST;

/* A flush drops what is held; ids go on and are not used again. */
GST_START_TEST (test_flush)
{
  NEED_BACKEND (__i__);

  GstHarness *harness = bar_harness (__i__, "volume=3");
  GstSegment segment;

  for (guint i = 0; i < 5; i++)
    push_bar (harness, 1, 1, i);
  for (guint i = 0; i < 3; i++)
    fail_unless_equals_uint64 (pull_id (harness), 1);
  fail_unless (gst_harness_push_event (harness, gst_event_new_flush_start ()));
  fail_unless (gst_harness_push_event (harness, gst_event_new_flush_stop (TRUE)));
  gst_segment_init (&segment, GST_FORMAT_TIME);
  fail_unless (gst_harness_push_event (harness, gst_event_new_segment (&segment)));
  fail_unless_equals_int (gst_harness_buffers_in_queue (harness), 0);
  for (guint i = 0; i < 3; i++)
    push_bar (harness, 1, 1, i);
  for (guint i = 0; i < 3; i++)
    fail_unless_equals_uint64 (pull_id (harness), 2);
  gst_harness_teardown (harness);
}

GST_END_TEST;

/* Stopped with frames held: nothing leaks, and the next start begins anew. */
GST_START_TEST (test_stop)
{
  NEED_BACKEND (__i__);

  GstHarness *harness = bar_harness (__i__, "volume=4");
  GstElement *label = label_of (harness);

  push_bar (harness, 1, 1, 0);
  push_bar (harness, 1, 1, 1);
  gst_element_set_state (label, GST_STATE_READY);
  fail_unless_equals_int (gst_harness_buffers_in_queue (harness), 0);
  gst_harness_teardown (harness);
}

GST_END_TEST;

/* Frames without a mask count as frames, so that nobody waits for them, and are in no stack. */
GST_START_TEST (test_frames_without_mask)
{
  GstHarness *harness = bar_harness (0, "volume=2 mask-source=mask-meta");

  push_bar (harness, 1, 1, 0);
  fail_unless_equals_int (gst_harness_buffers_in_queue (harness), 0);
  push_bar (harness, 1, 1, 1);
  fail_unless_equals_int (gst_harness_buffers_in_queue (harness), 2);
  for (guint i = 0; i < 2; i++) {
    GstBuffer *buffer = gst_harness_pull (harness);

    fail_unless (gst_buffer_get_ccl_blob_meta (buffer)->flags & GST_CCL_BLOB_META_FLAG_SKIPPED);
    fail_unless_equals_int (n_blobs (buffer), 0);
    gst_buffer_unref (buffer);
  }
  gst_harness_teardown (harness);
}

GST_END_TEST;

/* What downstream refuses is lost, as ever; what comes next is a volume of its own. */
static GstPadProbeReturn
refuse (GstPad * pad, GstPadProbeInfo * info, gpointer left)
{
  if ((*(guint *) left)-- > 0)
    return GST_PAD_PROBE_OK;
  GST_PAD_PROBE_INFO_FLOW_RETURN (info) = GST_FLOW_ERROR;
  gst_buffer_unref (GST_PAD_PROBE_INFO_BUFFER (info));
  info->data = NULL;
  return GST_PAD_PROBE_HANDLED;
}

GST_START_TEST (test_refused_downstream)
{
  GstHarness *harness = bar_harness (0, "volume=4");
  Mask mask = bar_at (1, 1);
  guint left = 1;
  GstPad *pad = gst_element_get_static_pad (label_of (harness), "src");
  const gulong probe = gst_pad_add_probe (pad, GST_PAD_PROBE_TYPE_BUFFER, refuse, &left, NULL);

  for (guint i = 0; i < 3; i++)
    fail_unless_equals_int (push_mask (harness, &mask, i), GST_FLOW_OK);
  fail_unless_equals_int (push_mask (harness, &mask, 3), GST_FLOW_ERROR);
  gst_pad_remove_probe (pad, probe);
  for (guint i = 4; i < 8; i++)
    push_mask (harness, &mask, i);
  fail_unless (gst_harness_buffers_in_queue (harness) >= 4);
  while (gst_harness_buffers_in_queue (harness) > 4)
    fail_unless_equals_uint64 (pull_id (harness), 1);
  for (guint i = 0; i < 4; i++)
    fail_unless_equals_uint64 (pull_id (harness), 2);
  gst_object_unref (pad);
  gst_harness_teardown (harness);
  mask_free (&mask);
}

GST_END_TEST;

/* ---------------------------------------------------------------- contradictions */

static void
assert_refused (const gchar * settings, const gchar * expected)
{
  GstElement *pipeline;
  gchar *line = g_strdup_printf ("videotestsrc ! video/x-raw,format=GRAY8,width=1920,height=1080 ! ccllabel %s ! "
      "fakesink", settings);
  GstBus *bus;
  GstMessage *message;
  GError *error = NULL;

  pipeline = gst_parse_launch (line, NULL);
  fail_unless (pipeline != NULL, "%s", line);
  gst_element_set_state (pipeline, GST_STATE_PAUSED);
  bus = gst_element_get_bus (pipeline);
  message = gst_bus_timed_pop_filtered (bus, 20 * GST_SECOND, GST_MESSAGE_ERROR | GST_MESSAGE_ASYNC_DONE);
  fail_unless (message && GST_MESSAGE_TYPE (message) == GST_MESSAGE_ERROR, "%s: no error", settings);
  gst_message_parse_error (message, &error, NULL);
  fail_unless (strstr (error->message, expected) != NULL, "%s: expected \"%s\" in \"%s\"", settings, expected,
      error->message);
  g_error_free (error);
  gst_message_unref (message);
  gst_object_unref (bus);
  gst_element_set_state (pipeline, GST_STATE_NULL);
  gst_object_unref (pipeline);
  g_free (line);
}

GST_START_TEST (test_contradictions)
{
  assert_refused ("backend=cpu volume=5 interval=2", "volume=5, but interval");
  assert_refused ("backend=cpu volume=5 output=labels", "but output");
  assert_refused ("backend=cpu volume=5 output=mask", "but output");
  assert_refused ("backend=cpu volume=5 attach=roi", "but attach");
  assert_refused ("backend=cpu algorithm=runs-3d", "volumes, not single masks");
  assert_refused ("backend=cpu volume=130", "at most 129 masks fit");
}

GST_END_TEST;

/* ---------------------------------------------------------------- the example */

static void
collect_id (GstElement * sink, GstBuffer * buffer, GstPad * pad, GArray * ids)
{
  const guint64 id = id_of (buffer, 0);

  fail_unless_equals_int (n_blobs (buffer), 1);
  g_array_append_val (ids, id);
}

/* The line of examples/launch.md: the ball keeps its number for ten frames. */
GST_START_TEST (test_ball)
{
  GArray *ids = g_array_new (FALSE, FALSE, sizeof (guint64));
  GstElement *pipeline = gst_parse_launch ("videotestsrc pattern=ball num-buffers=30 ! video/x-raw,format=GRAY8 ! "
      "ccllabel threshold=127 volume=10 ! fakesink name=sink signal-handoffs=true", NULL);
  GstElement *sink = gst_bin_get_by_name (GST_BIN (pipeline), "sink");
  GstBus *bus = gst_element_get_bus (pipeline);

  g_signal_connect (sink, "handoff", G_CALLBACK (collect_id), ids);
  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  gst_message_unref (gst_bus_timed_pop_filtered (bus, 20 * GST_SECOND, GST_MESSAGE_EOS));
  gst_element_set_state (pipeline, GST_STATE_NULL);
  fail_unless_equals_int (ids->len, 30);
  for (guint i = 0; i < ids->len; i++)
    fail_unless_equals_uint64 (g_array_index (ids, guint64, i), 1 + i / 10);
  gst_object_unref (bus);
  gst_object_unref (sink);
  gst_object_unref (pipeline);
  g_array_unref (ids);
}

GST_END_TEST;

#ifdef CCL_EMULATED
/* ---------------------------------------------------------------- a device that is lost */

/* Frames come out with their blobs whatever happens; the volume in the stack then has no ids, those after it do. FALSE:
 * the device was not asked that often. */
static gboolean
check_lost_at (guint call, const gchar * settings)
{
  GstHarness *harness = label_harness (1, settings);
  GstBus *bus = watch_bus (harness);
  guint without_id = 0;
  guint64 last = 0;
  gboolean lost;

  for (guint i = 0; i < 13; i++) {
    Mask mask = mask_random (70, 40, i, 0.3);

    if (i == 0) {
      set_mask_caps (harness, GST_VIDEO_FORMAT_GRAY8, &mask);
      emulate_fail (NULL, call, ERROR_LAUNCH_FAILURE, true);
    }
    fail_unless_equals_int (push_mask (harness, &mask, i), GST_FLOW_OK);
    mask_free (&mask);
  }
  gst_harness_push_event (harness, gst_event_new_eos ());
  lost = emulate_calls () >= call;
  for (guint i = 0; i < 13; i++) {
    Mask mask = mask_random (70, 40, i, 0.3);
    GstBuffer *buffer = gst_harness_try_pull (harness);
    guint64 id;

    fail_unless (buffer != NULL, "call %u: frame %u was lost", call, i);
    fail_unless_equals_uint64 (GST_BUFFER_PTS (buffer), i * 40 * GST_MSECOND);
    assert_blobs (buffer, &mask, 8);
    id = id_of (buffer, 0);
    fail_unless (id == 0 || id >= last, "call %u: id %" G_GUINT64_FORMAT " after %" G_GUINT64_FORMAT, call, id, last);
    without_id += id == 0;
    last = MAX (last, id);
    gst_buffer_unref (buffer);
    mask_free (&mask);
  }
  fail_unless (without_id <= 4, "call %u: %u frames without ids", call, without_id);
  if (lost)
    assert_message (bus, GST_MESSAGE_WARNING, "Continuing on the CPU");
  assert_no_message (bus, GST_MESSAGE_ERROR);
  drop_bus (harness, bus);
  gst_harness_teardown (harness);
  find_device_again ();
  return lost;
}

GST_START_TEST (test_lost_device)
{
  const gchar *const settings = __i__ ? "backend=auto volume=4 async-depth=2" : "backend=auto volume=4";
  guint call = 1 + __i__;
  guint held;

  check_lost_at (1, settings);
  held = emulate_held ();
  while (check_lost_at (call, settings)) {
    fail_unless_equals_int (emulate_held (), held);
    call += 9;
  }
  fail_unless (call > 100, "only %u calls", call);
}

GST_END_TEST;
#endif

static Suite *
ccllabel_volume_suite (void)
{
  Suite *suite = suite_create ("ccllabel-volume");
  TCase *tests = tcase_create ("general");
  const gint n = G_N_ELEMENTS (backends);

  suite_add_tcase (suite, tests);
  tcase_set_timeout (tests, 120);
  tcase_add_loop_test (tests, test_moving_bar, 0, n);
  tcase_add_test (tests, test_stats_name_both_methods);
  tcase_add_loop_test (tests, test_connectivity, 0, n);
  tcase_add_loop_test (tests, test_random_masks, 0, n);
  tcase_add_loop_test (tests, test_meeting, 0, n);
  tcase_add_test (tests, test_off);
  tcase_add_test (tests, test_latency);
  tcase_add_loop_test (tests, test_volumes_end_early, 0, n);
  tcase_add_loop_test (tests, test_flush, 0, n);
  tcase_add_loop_test (tests, test_stop, 0, n);
  tcase_add_test (tests, test_frames_without_mask);
  tcase_add_test (tests, test_refused_downstream);
  tcase_add_test (tests, test_contradictions);
  tcase_add_test (tests, test_ball);
#ifdef CCL_EMULATED
  tcase_add_loop_test (tests, test_lost_device, 0, 2);
#endif
  return suite;
}

TEST_MAIN (ccllabel_volume, "ccllabel-volume");
