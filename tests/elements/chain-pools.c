/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Elements with queued frames behind a source that has few buffers. */
#include "chain.h"

static GstPadProbeReturn
count_buffer (GstPad * pad, GstPadProbeInfo * info, gpointer count)
{
  (void) pad, (void) info;
  g_atomic_int_inc ((gint *) count);
  return GST_PAD_PROBE_OK;
}

/* An element with queued frames, behind a source whose pool has few buffers. */
typedef struct
{
  const gchar *name;
  GstElement *pipeline, *queue, *element;
  GstPad *upstream;             /* that feeds it */
  GstPad *blocked_pad;          /* while it is stopped alone, or with the queue */
  gulong block;
  gint blocked;
  gint count;                   /* of frames that came out */
} FewBuffers;

static FewBuffers *
few_buffers_new (const gchar * name)
{
  FewBuffers *const few = g_new0 (FewBuffers, 1);
  gchar *const line = g_strdup_printf ("videotestsrc is-live=true ! video/x-raw,format=GRAY8,width=64,height=48,"
      "framerate=100/1 ! queue name=queue ! %s name=element ! fakesink name=sink sync=false", name);

  few->name = name;
  few->pipeline = gst_parse_launch (line, NULL);
  few->queue = gst_bin_get_by_name (GST_BIN (few->pipeline), "queue");
  few->element = gst_bin_get_by_name (GST_BIN (few->pipeline), "element");
  GstElement *const sink = gst_bin_get_by_name (GST_BIN (few->pipeline), "sink");
  GstPad *const pad = gst_element_get_static_pad (sink, "sink");
  GstPad *const fed = gst_element_get_static_pad (few->element, "sink");

  few->upstream = gst_pad_get_peer (fed);
  gst_object_unref (fed);
  limit_pool (pad, 2);
  gst_pad_add_probe (pad, GST_PAD_PROBE_TYPE_BUFFER, count_buffer, &few->count, NULL);
  gst_element_set_state (few->pipeline, GST_STATE_PLAYING);
  gst_object_unref (pad);
  gst_object_unref (sink);
  g_free (line);
  return few;
}

static void
few_buffers_expect_frames (FewBuffers * few)
{
  const gint before = g_atomic_int_get (&few->count);

  for (guint i = 0; i < 10000 && g_atomic_int_get (&few->count) < before + 20; i++)
    g_usleep (10000);
  fail_unless (g_atomic_int_get (&few->count) >= before + 20, "%s stands still", few->name);
}

/* Waits until the element adds `n_frames` frames to the latency. */
static void
few_buffers_expect_latency (FewBuffers * few, guint n_frames)
{
  const GstClockTime wanted = n_frames * GST_SECOND / 100;
  GstPad *const pad = gst_element_get_static_pad (few->element, "src");
  GstClockTime latency = GST_CLOCK_TIME_NONE, before, after;

  for (guint i = 0; i < 10000 && latency != wanted; i++) {
    if (i)
      g_usleep (10000);
    if (query_latency (few->upstream, &before) && query_latency (pad, &after))
      latency = after - before;
  }
  fail_unless (latency == wanted, "%s adds %" GST_TIME_FORMAT ", not %u frames", few->name, GST_TIME_ARGS (latency),
      n_frames);
  gst_object_unref (pad);
}

static void
few_buffers_free (FewBuffers * few)
{
  gst_element_set_state (few->pipeline, GST_STATE_NULL);
  gst_object_unref (few->upstream);
  gst_object_unref (few->queue);
  gst_object_unref (few->element);
  gst_object_unref (few->pipeline);
  g_free (few);
}

static const gchar *const queueing_elements[] = { "ccllabel", "cclmotion" };

GST_START_TEST (test_more_queued_frames_behind_a_queue)
{
  FewBuffers *const few = few_buffers_new (queueing_elements[__i__]);

  for (guint depth = 0; depth <= 3; depth++) {
    g_object_set (few->element, "async-depth", depth, NULL);
    few_buffers_expect_frames (few);
  }
  few_buffers_free (few);
}

GST_END_TEST;

static GstPadProbeReturn
note_block (GstPad * pad, GstPadProbeInfo * info, gpointer blocked)
{
  (void) pad, (void) info;
  g_atomic_int_set ((gint *) blocked, TRUE);
  return GST_PAD_PROBE_OK;
}

static void
few_buffers_block (FewBuffers * few, GstElement * before)
{
  GstPad *const fed = gst_element_get_static_pad (before, "sink");

  few->blocked_pad = gst_pad_get_peer (fed);
  g_atomic_int_set (&few->blocked, FALSE);
  few->block = gst_pad_add_probe (few->blocked_pad, GST_PAD_PROBE_TYPE_BLOCK | GST_PAD_PROBE_TYPE_BUFFER, note_block,
      &few->blocked, NULL);
  for (guint i = 0; i < 10000 && !g_atomic_int_get (&few->blocked); i++)
    g_usleep (10000);
  fail_unless (g_atomic_int_get (&few->blocked));
  gst_object_unref (fed);
}

/* Only the element stops. Upstream waits at a blocked pad and keeps its buffers. */
static void
few_buffers_stop (FewBuffers * few)
{
  few_buffers_block (few, few->element);
  gst_element_set_state (few->element, GST_STATE_READY);
}

static void
few_buffers_stop_with_queue (FewBuffers * few)
{
  few_buffers_block (few, few->queue);
  gst_element_set_state (few->queue, GST_STATE_READY);
  gst_element_set_state (few->element, GST_STATE_READY);
}

static void
few_buffers_start (FewBuffers * few)
{
  fail_unless (gst_element_sync_state_with_parent (few->element));
  fail_unless (gst_element_sync_state_with_parent (few->queue));
  gst_pad_remove_probe (few->blocked_pad, few->block);
  gst_clear_object (&few->blocked_pad);
}

static const struct
{
  const gchar *name, *property;
  guint n_not_queued;           /* of the frames that the property says */
} queueing_settings[] = { {"ccllabel", "async-depth", 0}, {"cclmotion", "async-depth", 0}, {"ccllabel", "volume", 1} };

static void
queue_more_frames_after_starts (guint setting, void (*stop) (FewBuffers * few))
{
  FewBuffers *const few = few_buffers_new (queueing_settings[setting].name);

  few_buffers_expect_frames (few);
  for (guint value = 1; value <= 3; value++) {
    stop (few);
    g_object_set (few->element, queueing_settings[setting].property, value, NULL);
    few_buffers_start (few);
    few_buffers_expect_frames (few);
    few_buffers_expect_latency (few, value - queueing_settings[setting].n_not_queued);
    few_buffers_expect_frames (few);
  }
  few_buffers_free (few);
}

GST_START_TEST (test_more_queued_frames_after_a_start)
{
  queue_more_frames_after_starts (__i__, few_buffers_stop);
}

GST_END_TEST;

/* The queue stops as well, but not the owner of the buffers. */
GST_START_TEST (test_more_queued_frames_after_a_start_with_the_queue)
{
  queue_more_frames_after_starts (__i__, few_buffers_stop_with_queue);
}

GST_END_TEST;

/* Upstream's earlier request counts for an element that is linked after the start, too. */
GST_START_TEST (test_more_queued_frames_after_a_late_link)
{
  FewBuffers *const few = few_buffers_new (queueing_elements[__i__]);
  GstPad *const fed = gst_pad_get_peer (few->upstream);

  few_buffers_expect_frames (few);
  few_buffers_stop (few);
  fail_unless (gst_pad_unlink (few->upstream, fed));
  fail_unless (gst_element_sync_state_with_parent (few->element));
  fail_unless_equals_int (gst_pad_link (few->upstream, fed), GST_PAD_LINK_OK);
  few_buffers_start (few);
  few_buffers_expect_frames (few);
  few_buffers_stop (few);
  g_object_set (few->element, "async-depth", 3, NULL);
  few_buffers_start (few);
  few_buffers_expect_frames (few);
  few_buffers_expect_latency (few, 3);
  gst_object_unref (fed);
  few_buffers_free (few);
}

GST_END_TEST;

/* All elements were stopped, so that upstream asks for buffers again. The latency is right before the first frame. */
GST_START_TEST (test_latency_after_a_start_of_all)
{
  FewBuffers *const few = few_buffers_new (queueing_settings[__i__].name);

  few_buffers_expect_frames (few);
  gst_element_set_state (few->pipeline, GST_STATE_READY);
  g_object_set (few->element, queueing_settings[__i__].property, 3, NULL);
  g_atomic_int_set (&few->count, 0);
  gst_element_set_state (few->pipeline, GST_STATE_PAUSED);
  few_buffers_expect_latency (few, 3 - queueing_settings[__i__].n_not_queued);
  fail_unless_equals_int (g_atomic_int_get (&few->count), 0);
  gst_element_set_state (few->pipeline, GST_STATE_PLAYING);
  few_buffers_expect_frames (few);
  few_buffers_expect_latency (few, 3 - queueing_settings[__i__].n_not_queued);
  few_buffers_free (few);
}

GST_END_TEST;

static void
few_buffers_expect_error (FewBuffers * few)
{
  GstBus *const bus = gst_element_get_bus (few->pipeline);
  GstMessage *const message = gst_bus_pop_filtered (bus, GST_MESSAGE_ERROR);

  fail_unless (message != NULL);
  fail_unless (GST_MESSAGE_SRC (message) == GST_OBJECT (few->element));
  gst_message_unref (message);
  gst_object_unref (bus);
}

/* Contradicting settings are an error at every start, with or without pool headroom. */
static const struct
{
  gboolean alone;
  guint volume;                 /* before: without, or with some */
} contradictions[] = { {FALSE, 0}, {TRUE, 0}, {FALSE, 2}, {TRUE, 2} };

GST_START_TEST (test_contradiction_at_a_start)
{
  FewBuffers *const few = few_buffers_new ("ccllabel");

  g_object_set (few->element, "volume", contradictions[__i__].volume, NULL);
  few_buffers_expect_frames (few);
  if (contradictions[__i__].alone)
    few_buffers_stop (few);
  else
    gst_element_set_state (few->pipeline, GST_STATE_READY);
  g_object_set (few->element, "volume", 4, NULL);
  gst_util_set_object_arg (G_OBJECT (few->element), "algorithm", "reference");  /* which is of the CPU alone */
  gst_util_set_object_arg (G_OBJECT (few->element), "backend", "cuda");
  if (contradictions[__i__].alone)
    fail_if (gst_element_sync_state_with_parent (few->element));
  else
    fail_unless_equals_int (gst_element_set_state (few->pipeline, GST_STATE_PLAYING), GST_STATE_CHANGE_FAILURE);
  few_buffers_expect_error (few);

  gst_util_set_object_arg (G_OBJECT (few->element), "backend", "cpu");
  if (contradictions[__i__].alone)
    few_buffers_start (few);
  else
    gst_element_set_state (few->pipeline, GST_STATE_PLAYING);
  few_buffers_expect_frames (few);
  few_buffers_expect_latency (few, 3);
  few_buffers_free (few);
}

GST_END_TEST;

void
chain_add_pools_tests (Suite * suite)
{
  TCase *tests = tcase_create ("pools");

  tcase_set_timeout (tests, 300);
  tcase_add_loop_test (tests, test_more_queued_frames_behind_a_queue, 0, G_N_ELEMENTS (queueing_elements));
  tcase_add_loop_test (tests, test_more_queued_frames_after_a_start, 0, G_N_ELEMENTS (queueing_settings));
  tcase_add_loop_test (tests, test_more_queued_frames_after_a_start_with_the_queue, 0,
      G_N_ELEMENTS (queueing_settings));
  tcase_add_loop_test (tests, test_more_queued_frames_after_a_late_link, 0, G_N_ELEMENTS (queueing_elements));
  tcase_add_loop_test (tests, test_latency_after_a_start_of_all, 0, G_N_ELEMENTS (queueing_settings));
  tcase_add_loop_test (tests, test_contradiction_at_a_start, 0, G_N_ELEMENTS (contradictions));
  suite_add_tcase (suite, tests);
}
