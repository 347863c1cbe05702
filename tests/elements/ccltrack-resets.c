/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* ccltrack: what makes it forget its tracks, and ids that are never used twice. */

#include "ccltrack.h"

static void
start_stream (GstHarness * h)
{
  gst_harness_push_event (h, gst_event_new_stream_start ("another"));
  gst_harness_set_src_caps_str (h, SMALL);
  gst_harness_push_event (h, segment_from (0));
}

static void
change_rate (GstHarness * h)
{
  gst_harness_set_src_caps_str (h, "video/x-raw,format=GRAY8,width=320,height=240,framerate=20/1");
}

static void
change_size (GstHarness * h)
{
  gst_harness_set_src_caps_str (h, CAPS ("width=640,height=480"));
}

GST_START_TEST (test_reset)
{
  static const struct
  {
    const gchar *id_reset;
    void (*event) (GstHarness * h);
    gboolean resets;
  } cases[] = {
    {"stream-start+flush", flush_harness, TRUE}, {"stream-start", flush_harness, FALSE}, {"flush", start_stream, FALSE},
    {"stream-start", start_stream, TRUE}, {"caps", change_rate, TRUE}, {"0", change_rate, FALSE},
    {"0", change_size, TRUE},
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    GstHarness *h = new_harness ("");
    guint64 id = 0, again;

    harness_set (h, "ccltrack", "id-reset", cases[i].id_reset);
    for (guint frame = 0; frame < 5; frame++)
      id = track_box (h, frame, 50);
    cases[i].event (h);
    again = track_box (h, 5, 50);
    fail_unless ((again != id) == cases[i].resets, "case %u", i);
    fail_unless (again >= id, "an id is used again");
    fail_unless_equals_int (get_stat (h, "resets"), cases[i].resets);
    gst_harness_teardown (h);
  }
}

GST_END_TEST;

/* Events that elements downstream got since the last call. */
static guint
count_reset_events (GstHarness * h)
{
  GstEvent *event;
  guint n = 0;

  while ((event = gst_harness_try_pull_event (h))) {
    n += gst_event_has_name (event, "ccl-tracks-reset");
    gst_event_unref (event);
  }
  return n;
}

/* One for each reset. Without id-reset the start is none. */
GST_START_TEST (test_reset_event)
{
  GstHarness *h = new_harness ("id-reset=0");

  track_box (h, 0, 50);
  fail_unless_equals_int (count_reset_events (h), 0);
  change_size (h);
  for (guint frame = 1; frame < 4; frame++)
    track_box (h, frame, 50);
  fail_unless_equals_int (count_reset_events (h), 1);
  gst_harness_teardown (h);
}

GST_END_TEST;

GST_START_TEST (test_discont)
{
  for (guint reset = 0; reset < 2; reset++) {
    GstHarness *h = new_harness (reset ? "id-reset=discont" : "");
    const guint64 id = track_box (h, 0, 50);
    GstBuffer *buffer = new_frame (FRAME);

    add_boxes (buffer, &(Box) { 50, 50, 20, 40 }, 1);
    GST_BUFFER_FLAG_SET (buffer, GST_BUFFER_FLAG_DISCONT);
    buffer = gst_harness_push_and_pull (h, buffer);
    fail_unless ((blob_at (buffer, 0).track_id != id) == reset);
    gst_buffer_unref (buffer);
    gst_harness_teardown (h);
  }
}

GST_END_TEST;

/* Two trackers of one process: no id twice, and one that starts again does not repeat itself. */
GST_START_TEST (test_ids_are_unique)
{
  GstHarness *a = new_harness (""), *b = new_harness ("");
  guint64 last = 0;

  for (guint frame = 0; frame < 20; frame += 4) {
    const guint64 ids[] = { track_box (a, frame, 10 * frame), track_box (b, frame, 10 * frame) };

    fail_unless (ids[0] > last && ids[1] > ids[0]);
    last = ids[1];
    gst_element_set_state (a->element, GST_STATE_READY);
    gst_element_set_state (a->element, GST_STATE_PLAYING);
    start_stream (a);
    start_stream (b);
  }
  gst_harness_teardown (a);
  gst_harness_teardown (b);
}

GST_END_TEST;

TCase *
track_reset_tests (void)
{
  TCase *tests = tcase_create ("resets");

  tcase_add_test (tests, test_reset);
  tcase_add_test (tests, test_reset_event);
  tcase_add_test (tests, test_discont);
  tcase_add_test (tests, test_ids_are_unique);
  return tests;
}
