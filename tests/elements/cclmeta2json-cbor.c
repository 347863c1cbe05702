/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* cclmeta2json as CBOR: what the fields of a frame do not show. push_in_both() compares those in the other files. */

#include "cclmeta2json.h"

#include <math.h>
#include <string.h>
#include <time.h>

#include "cborjson.h"

static GstHarness *
new_cbor_harness (const gchar * settings)
{
  gchar *const launch = g_strdup_printf ("cclmeta2json source-id=a %s", settings);
  GstHarness *const h = gst_harness_new_parse (launch);

  gst_harness_set_src_caps_str (h, VIDEO_CAPS);
  gst_harness_set_sink_caps_str (h, "application/cbor");
  g_free (launch);
  return h;
}

static void
assert_bytes (GstBuffer * buffer, gconstpointer expected, gsize size)
{
  fail_unless_equals_int (gst_buffer_get_size (buffer), size);
  fail_unless (gst_buffer_memcmp (buffer, 0, expected, size) == 0);
  gst_buffer_unref (buffer);
}

/* A short item, byte for byte. */
GST_START_TEST (test_bytes)
{
  static const guint8 expected[] = "\xac\x66" "schema\x6a" "ccl-blob-1\x66" "source\x61" "a\x63" "seq\x00\x63"
      "pts\x1a\x04\xc4\xb4\x00\x6c" "running_time\x1a\x04\xc4\xb4\x00\x6b" "stream_time\x1a\x04\xc4\xb4\x00\x63"
      "utc\xf6\x6b" "time_source\x64" "none\x65" "frame\xa2\x61" "w\x19\x01\x40\x61" "h\x18\xf0\x65" "total\x00\x69"
      "truncated\xf4\x65" "blobs\x80";
  GstHarness *const h = new_cbor_harness ("");

  assert_bytes (gst_harness_push_and_pull (h, empty_frame (2)), expected, sizeof expected - 1);
  gst_harness_teardown (h);
}

GST_END_TEST;

/* Integers of every length, doubles that fit a single and others, strings of every length. */
GST_START_TEST (test_tags)
{
  static const gchar numbers[] =
      "0,23,24,255,256,65535,65536,4294967295,4294967296,9223372036854775807,-1,-24,-25,-256,-257,"
      "-65536,-65537,-4294967296,-4294967297,-9223372036854775808,0.0,-0.0,0.5,1.0,0.1,1e-45,1e-46,16777217.0,3.4e38,"
      "3.5e38,-1e300,5e-324,true,false,null,{},[],[[1],{\"b\":\"\\u001f\\\"\\u00e4\\ud83d\\ude00\"}]";
  static const gsize lengths[] = { 0, 23, 24, 255, 256, 65535, 65536, 1 << 20 };
  GstHarness *const h = new_harness ();
  GString *const tags = g_string_new ("{\"a\":[");

  g_string_append (tags, numbers);
  for (guint i = 0; i < G_N_ELEMENTS (lengths); i++) {
    gchar *const text = g_strnfill (lengths[i], 'x');

    g_string_append_printf (tags, ",\"%s\"", text);
    g_free (text);
  }
  g_string_append (tags, "],\"seq\":7}");
  g_object_set (h->element, "tags", tags->str, NULL);
  json_node_unref (push_in_both (h, small_frame (0)));
  g_string_free (tags, TRUE);
  gst_harness_teardown (h);
}

GST_END_TEST;

static void
push_event (GstHarness * h, const gchar * zone)
{
  fail_unless (gst_harness_push_event (h, gst_event_new_custom (GST_EVENT_CUSTOM_DOWNSTREAM,
              gst_structure_new ("ccl-event", "event", G_TYPE_STRING, "dwell", "element", G_TYPE_STRING, "z",
                  "zone", G_TYPE_STRING, zone, "track-id", G_TYPE_UINT64, G_MAXUINT64 / 2, "inside", G_TYPE_UINT, 1,
                  "x", G_TYPE_DOUBLE, NAN, "y", G_TYPE_DOUBLE, 1e-10, "duration", G_TYPE_UINT64, G_MAXUINT64,
                  "timestamp", G_TYPE_UINT64, (guint64) 0, NULL))));
}

/* Each event is an item of its own, also those at the end of the stream. */
GST_START_TEST (test_events)
{
  static const gchar *const settings = "events-only=true tags={\\\"site\\\":1}";
  GstHarness *const h = new_cbor_harness (settings);
  gchar *const launch = g_strdup_printf ("cclmeta2json source-id=a %s", settings);
  GstHarness *const text = gst_harness_new_parse (launch);
  GstCaps *caps;

  gst_harness_set_src_caps_str (text, VIDEO_CAPS);
  for (guint i = 0; i < 3; i++) {
    static const gchar *const zones[] = { "a\"\n", "caf\xc3\xa9", "" };

    push_event (h, zones[i]);
    push_event (text, zones[i]);
    if (i == 0) {
      fail_unless_equals_int (gst_harness_push (h, small_frame (0)), GST_FLOW_OK);
      fail_unless_equals_int (gst_harness_push (text, small_frame (0)), GST_FLOW_OK);
    }
  }
  gst_harness_push_event (h, gst_event_new_eos ());
  gst_harness_push_event (text, gst_event_new_eos ());
  fail_unless_equals_int (gst_harness_buffers_in_queue (h), 3);
  for (guint i = 0; i < 3; i++) {
    gchar *const line = take_line (gst_harness_pull (text));
    JsonNode *const node = parse (line);

    assert_schema ("ccl-event-1.schema.json", node);
    assert_cbor (gst_harness_pull (h), node);
    json_node_unref (node);
    g_free (line);
  }
  caps = gst_pad_get_current_caps (h->sinkpad);
  fail_unless_equals_string (gst_structure_get_string (gst_caps_get_structure (caps, 0), "schema"), "ccl-event-1");
  gst_caps_unref (caps);
  gst_harness_teardown (text);
  gst_harness_teardown (h);
  g_free (launch);
}

GST_END_TEST;

/* An element that accepts both gets JSON. */
GST_START_TEST (test_choice)
{
  static const struct
  {
    const gchar *accepted, *chosen;
  } cases[] = {
    {"ANY", "application/x-json"},
    {"application/x-json; application/cbor; text/x-raw", "application/x-json"},
    {"application/cbor; text/x-raw", "application/cbor"},
    {"application/cbor, schema=(string)dlstreamer", "application/cbor"},
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    GstHarness *const h = gst_harness_new_parse (strstr (cases[i].accepted, "dlstreamer") ?
        "cclmeta2json schema=dlstreamer" : "cclmeta2json");
    GstCaps *caps;

    gst_harness_set_src_caps_str (h, VIDEO_CAPS);
    gst_harness_set_sink_caps_str (h, cases[i].accepted);
    gst_buffer_unref (gst_harness_push_and_pull (h, small_frame (0)));
    caps = gst_pad_get_current_caps (h->sinkpad);
    fail_unless_equals_string (gst_structure_get_name (gst_caps_get_structure (caps, 0)), cases[i].chosen);
    gst_caps_unref (caps);
    gst_harness_teardown (h);
  }
}

GST_END_TEST;

static gdouble
thread_seconds (void)
{
  struct timespec now;

  clock_gettime (CLOCK_THREAD_CPUTIME_ID, &now);
  return now.tv_sec + now.tv_nsec / 1e9;
}

/* An item is smaller than the line with all digits. Time and size are printed, for whoever changes a writer. */
GST_START_TEST (test_many_blobs)
{
  const guint n_blobs = 1000, n_frames = 5;
  GstHarness *const h = new_harness ();
  GstCclBlob *const blobs = g_new (GstCclBlob, n_blobs);
  gsize sizes[2] = { 0 };

  for (guint i = 0; i < n_blobs; i++)
    blobs[i] = rectangle (i + 1, 7 * i % 300, 11 * i % 230, 1 + i % 13, 1 + i % 7);
  for (guint cbor = 0; cbor < 2; cbor++) {
    gdouble seconds = 0;

    gst_harness_set_sink_caps_str (h, cbor ? "application/cbor" : "application/x-json");
    for (guint i = 0; i < n_frames; i++) {
      GstBuffer *const frame = video_frame (i);
      const gdouble start = thread_seconds ();
      GstBuffer *out;

      attach_blobs (frame, blobs, n_blobs);
      out = gst_harness_push_and_pull (h, frame);
      seconds += thread_seconds () - start;
      sizes[cbor] = gst_buffer_get_size (out);
      gst_buffer_unref (out);
    }
    g_printerr ("%u blobs, %s: %.2f ms, %" G_GSIZE_FORMAT " bytes a frame\n", n_blobs, cbor ? "CBOR" : "JSON",
        seconds * 1000 / n_frames, sizes[cbor]);
  }
  fail_unless (sizes[1] < sizes[0]);
  g_free (blobs);
  gst_harness_teardown (h);
}

GST_END_TEST;

TCase *
json_cbor_tests (void)
{
  TCase *const tests = tcase_create ("cbor");

  tcase_set_timeout (tests, 120);
  tcase_add_test (tests, test_bytes);
  tcase_add_test (tests, test_tags);
  tcase_add_test (tests, test_events);
  tcase_add_test (tests, test_choice);
  tcase_add_test (tests, test_many_blobs);
  return tests;
}
