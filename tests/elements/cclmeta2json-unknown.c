/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* cclmeta2json on frames without metadata: what a line and the bus say. */

#include <gst/check/gstcheck.h>
#include <gst/check/gstharness.h>

#include <gst/ccl/ccl.h>

/* Pushes frames and the end of the stream. Returns the number of warnings; `last` is the text of the last line. */
static guint
run (guint n_frames, gboolean with_meta, gchar ** last)
{
  GstHarness *const h = gst_harness_new ("cclmeta2json");
  GstBus *const bus = gst_bus_new ();
  GstMessage *message;
  guint n_warnings = 0;

  *last = NULL;
  gst_element_set_bus (h->element, bus);
  gst_harness_set_src_caps_str (h, "video/x-raw,format=GRAY8,width=8,height=8");
  for (guint i = 0; i < n_frames; i++) {
    GstBuffer *const frame = gst_buffer_new ();
    GstBuffer *line;
    GstMapInfo map;

    if (with_meta)
      gst_buffer_add_ccl_blob_meta (frame, NULL, 8, 8);
    line = gst_harness_push_and_pull (h, frame);
    g_free (*last);
    gst_buffer_map (line, &map, GST_MAP_READ);
    *last = g_strndup ((const gchar *) map.data, map.size);
    gst_buffer_unmap (line, &map);
    gst_buffer_unref (line);
  }
  gst_harness_push_event (h, gst_event_new_eos ());
  while ((message = gst_bus_pop_filtered (bus, GST_MESSAGE_WARNING))) {
    n_warnings++;
    gst_message_unref (message);
  }
  gst_element_set_bus (h->element, NULL);
  gst_object_unref (bus);
  gst_harness_teardown (h);
  return n_warnings;
}

GST_START_TEST (test_picture)
{
  gchar *line;

  fail_unless_equals_int (run (1, FALSE, &line), 1);
  fail_unless (strstr (line, "\"total\":0,\"truncated\":false,\"analysed\":false,\"blobs\":[]"), "%s", line);
  g_free (line);
}

GST_END_TEST;

GST_START_TEST (test_long_stream)
{
  gchar *line;

  fail_unless_equals_int (run (100, FALSE, &line), 1);
  g_free (line);
}

GST_END_TEST;

GST_START_TEST (test_empty_frame)
{
  gchar *line;

  fail_unless_equals_int (run (1, TRUE, &line), 0);
  fail_if (strstr (line, "analysed"), "%s", line);
  g_free (line);
}

GST_END_TEST;

GST_START_TEST (test_no_frame)
{
  gchar *line;

  fail_unless_equals_int (run (0, FALSE, &line), 0);
  fail_unless (line == NULL);
}

GST_END_TEST;

static Suite *
cclmeta2json_unknown_suite (void)
{
  Suite *const suite = suite_create ("cclmeta2json-unknown");
  TCase *const tc = tcase_create ("general");

  suite_add_tcase (suite, tc);
  tcase_add_test (tc, test_picture);
  tcase_add_test (tc, test_long_stream);
  tcase_add_test (tc, test_empty_frame);
  tcase_add_test (tc, test_no_frame);
  return suite;
}

GST_CHECK_MAIN (cclmeta2json_unknown);
