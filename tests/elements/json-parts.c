/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* The parts of cclmeta2json without a pipeline: JSON from outside, values, text, lines, regions, time of day. */

#include <gst/check/gstcheck.h>
#include <math.h>

#include <gst/video/video.h>

#include "json/gstccljson.h"
#include "json/gstccljsoncheck.h"
#include "json/gstccljsonprint.h"
#include "json/gstccljsonregions.h"
#include "json/gstccljsonsummary.h"
#include "json/gstccljsontime.h"
#include "json/gstccljsonvalues.h"

/* ---------------------------------------------------------------- JSON from outside */

GST_START_TEST (test_accepted)
{
  static const gchar *const right[] = {
    "{}", " {\n} ", "{\"a\":[1,-2.5e3,true,false,null,\"x\"]}", "{\"a\":\"\\u00e4\\ud83d\\ude00\\\"\"}",
    "{\"a\":9223372036854775807}", "{\"a\":-9223372036854775808}", "{\"a\":\"/* no comment */\"}",
  };

  for (guint i = 0; i < G_N_ELEMENTS (right); i++) {
    GError *error = NULL;
    JsonNode *const node = gst_ccl_json_parse (right[i], &error);

    fail_unless (node && !error, "%s: %s", right[i], error ? error->message : "");
    json_node_unref (node);
  }
}

GST_END_TEST;

GST_START_TEST (test_refused)
{
  static const gchar *const wrong[] = {
    "", "[]", "1", "{", "{}{}", "{}x", "{\"a\":01}", "{\"a\":1.}", "{\"a\":+1}", "{\"a\":.5}", "{\"a\":0x10}",
    "{\"a\":9223372036854775808}", "{\"a\":1e999}", "{'a':1}", "{\"a\":1/*b*/}", "{\"a\":\"\\u0000\"}",
    "{\"a\":\"\\ud83d\"}", "{\"a\":\"\\x\"}", "{\"a\":\"\n\"}",
  };

  for (guint i = 0; i < G_N_ELEMENTS (wrong); i++) {
    GError *error = NULL;

    fail_if (gst_ccl_json_parse (wrong[i], &error), "%s", wrong[i]);
    fail_unless (error && *error->message, "%s", wrong[i]);
    g_error_free (error);
  }
}

GST_END_TEST;

/* The text of a number ends behind the letter that makes it none, or after 40 bytes. */
GST_START_TEST (test_wrong_numbers)
{
  static const struct
  {
    const gchar *number, *said;
  } cases[] = { {"12x", "12x is no number"}, {"1-2", "1-2 is no number"}, {"1e", "1e is no number"},
  {"-1.5.25z", "-1.5.25z is no number"},
  {"1.1.1.1.1.1.1.1.1.1.1.1.1.1.1.1.1.1.1.1.1.1", "1.1.1.1.1.1.1.1.1.1.1.1.1.1.1.1.1.1.1.1. is no number"}
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    gchar *const text = g_strdup_printf ("{\"a\":%s}", cases[i].number);
    gchar *const said = g_strconcat ("line 1: ", cases[i].said, NULL);
    GError *error = NULL;

    fail_if (gst_ccl_json_parse (text, &error));
    fail_unless_equals_string (error->message, said);
    g_error_free (error);
    g_free (said);
    g_free (text);
  }
}

GST_END_TEST;

/* {"a": with arrays inside each other, closed or not. */
static gchar *
nested (guint n_arrays, gboolean closed)
{
  GString *const text = g_string_new ("{\"a\":");

  for (guint i = 0; i < n_arrays; i++)
    g_string_append_c (text, '[');
  for (guint i = 0; closed && i < n_arrays; i++)
    g_string_append_c (text, ']');
  if (closed)
    g_string_append_c (text, '}');
  return g_string_free (text, FALSE);
}

GST_START_TEST (test_depth)
{
  static const struct
  {
    guint n_arrays;
    gboolean closed, valid;
  } cases[] = { {99, TRUE, TRUE}, {100, TRUE, FALSE}, {300000, TRUE, FALSE}, {300000, FALSE, FALSE} };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    gchar *const text = nested (cases[i].n_arrays, cases[i].closed);
    JsonNode *const node = gst_ccl_json_parse (text, NULL);

    fail_unless_equals_int (node != NULL, cases[i].valid);
    if (node)
      json_node_unref (node);
    g_free (text);
  }
}

GST_END_TEST;

/* ---------------------------------------------------------------- values and text */

static void
check_print (JsonNode * value, gint precision, const gchar * expected)
{
  JsonObject *const object = json_object_new ();
  gchar *const expected_text = g_strdup_printf ("{\"v\":%s}", expected);
  gchar *text;

  json_object_set_member (object, "v", value);
  text = g_string_free (gst_ccl_json_print (object, precision), FALSE);
  fail_unless_equals_string (text, expected_text);
  g_free (expected_text);
  g_free (text);
}

GST_START_TEST (test_values)
{
  check_print (gst_ccl_json_new_number (0.1), -1, "0.10000000000000001");
  check_print (gst_ccl_json_new_number (0.1), 3, "0.1");
  check_print (gst_ccl_json_new_number (-0.001), 2, "0");
  check_print (gst_ccl_json_new_number (1e-10), -1, "1e-10");
  check_print (gst_ccl_json_new_number (1e300), 2, "1.0000000000000001e+300");
  check_print (gst_ccl_json_new_number (NAN), -1, "null");
  check_print (gst_ccl_json_new_number (INFINITY), -1, "null");
  check_print (gst_ccl_json_new_measure (12, TRUE), -1, "12");
  check_print (gst_ccl_json_new_measure (12, FALSE), -1, "12.0");
  check_print (gst_ccl_json_new_measure (12.5, TRUE), -1, "12.5");
  check_print (gst_ccl_json_new_time (GST_SECOND), -1, "1000000000");
  check_print (gst_ccl_json_new_time (GST_CLOCK_TIME_NONE), -1, "null");
  check_print (gst_ccl_json_new_string (NULL), -1, "null");
  check_print (gst_ccl_json_new_string ("1.25 \"-0.50\" \x1f"), 0, "\"1.25 \\\"-0.50\\\" \\u001f\"");
  check_print (gst_ccl_json_new_string ("\xff"), -1, "\"\xef\xbf\xbd\"");
}

GST_END_TEST;

GST_START_TEST (test_members)
{
  static const GstCclJsonFlagWord words[] = { {1, "left"}, {2, "top"}, {8, "right"} };
  static const gdouble numbers[] = { 0.5, NAN };
  JsonObject *const object = gst_ccl_json_new_size ("w", 3, "h", 4);
  gchar *text;

  gst_ccl_json_set_id (object, "none", 0);
  gst_ccl_json_set_id (object, "large", G_MAXUINT64);
  gst_ccl_json_set_id (object, "id", 7);
  gst_ccl_json_set_count (object, "count", G_MAXUINT64);
  gst_ccl_json_set_flag_words (object, "no-flag", 4, words, G_N_ELEMENTS (words));
  gst_ccl_json_set_flag_words (object, "flags", 9, words, G_N_ELEMENTS (words));
  gst_ccl_json_set_numbers (object, "numbers", numbers, 2);
  text = g_string_free (gst_ccl_json_print (object, -1), FALSE);
  fail_unless_equals_string (text, "{\"w\":3,\"h\":4,\"id\":7,\"count\":9223372036854775807,\"flags\":\"left,right\","
      "\"numbers\":[0.5,null]}");
  g_free (text);
}

GST_END_TEST;

GST_START_TEST (test_utc_text)
{
  gchar *const text = gst_ccl_json_utc (1709210096 * GST_SECOND + 789 * GST_MSECOND);

  fail_unless_equals_string (text, "2024-02-29T12:34:56.789000Z");
  fail_unless (gst_ccl_json_utc (GST_CLOCK_TIME_NONE) == NULL);
  g_free (text);
}

GST_END_TEST;

/* ---------------------------------------------------------------- lines */

static void
check_line (const GstCclJsonFrame * frame, GstCclJsonSchema schema, const gchar * expected)
{
  gchar *const line = g_string_free (gst_ccl_json_line (frame, schema, (GstCclJsonFormat) {.precision = 2 }), FALSE);

  fail_unless_equals_string (line, expected);
  g_free (line);
}

GST_START_TEST (test_line)
{
  const GstCclBlob blob = {.label = 1,.flags = GST_CCL_BLOB_FLAG_TOUCHES_LEFT,.x = 0,.y = 2,.width = 2,.height = 1,
    .area = 2,.m10 = 1,.m01 = 4,.m20 = 1,.m11 = 2,.m02 = 8,.mtd_id = GST_CCL_MTD_ID_NONE
  };
  GstCclBlobMeta meta = {.list = gst_ccl_blob_list_new (&blob, 1),.ref_width = 4,.ref_height = 4,.width = 4,.height = 4,
    .n_kept = 1,.n_total = 3,.matrix = {1, 0, 0, 0, 1, 0, 0, 0, 1}
  };
  GstCclJsonFrame frame = {.source = "a",.seq = 5,.pts = 1,.running_time = 2,.stream_time = 3,
    .utc = GST_CLOCK_TIME_NONE,.time_source = "none",.tags = "{\"x\":1.2345}",.blobs = &meta,.is_analysed = TRUE
  };

  check_line (&frame, GST_CCL_JSON_SCHEMA_CCL, "{\"schema\":\"ccl-blob-1\",\"source\":\"a\",\"seq\":5,\"pts\":1,"
      "\"running_time\":2,\"stream_time\":3,\"utc\":null,\"time_source\":\"none\",\"frame\":{\"w\":4,\"h\":4},"
      "\"total\":3,\"truncated\":false,\"blobs\":[{\"label\":1,\"bbox\":[0,2,2,1],\"area\":2,\"centroid\":[0.5,2],"
      "\"cov\":[0.25,0,0],\"orientation\":1.57,\"axes\":[2,0],\"border\":\"left\"}],\"tags\":{\"x\":1.2345}}\n");
  check_line (&frame, GST_CCL_JSON_SCHEMA_DLSTREAMER, "{\"objects\":[{\"x\":0,\"y\":2,\"w\":2,\"h\":1,\"region_id\":1,"
      "\"roi_type\":\"blob\",\"detection\":{\"bounding_box\":{\"x_min\":0,\"x_max\":0.5,\"y_min\":0.5,\"y_max\":0.75},"
      "\"confidence\":1,\"label\":\"blob\",\"label_id\":0}}],\"resolution\":{\"width\":4,\"height\":4},\"source\":\"a\","
      "\"timestamp\":3,\"tags\":{\"x\":1.2345}}\n");
  gst_ccl_blob_list_unref (meta.list);
}

GST_END_TEST;

/* A line says whether its frame was analysed only when it was not. */
GST_START_TEST (test_line_not_analysed)
{
  GstCclBlobMeta meta = {.list = gst_ccl_blob_list_new (NULL, 0),.matrix = {1, 0, 0, 0, 1, 0, 0, 0, 1} };
  GstCclJsonFrame frame = {.source = "a",.utc = GST_CLOCK_TIME_NONE,.time_source = "none",.blobs = &meta };

  check_line (&frame, GST_CCL_JSON_SCHEMA_CCL, "{\"schema\":\"ccl-blob-1\",\"source\":\"a\",\"seq\":0,\"pts\":0,"
      "\"running_time\":0,\"stream_time\":0,\"utc\":null,\"time_source\":\"none\",\"frame\":{\"w\":0,\"h\":0},"
      "\"total\":0,\"truncated\":false,\"analysed\":false,\"blobs\":[]}\n");
  gst_ccl_blob_list_unref (meta.list);
}

GST_END_TEST;

/* ---------------------------------------------------------------- regions */

static void
check_sums (const GstCclBlob * blob, guint x0, guint y0, guint x1, guint y1)
{
  guint64 n = 0, m10 = 0, m01 = 0, m20 = 0, m11 = 0, m02 = 0;

  for (guint y = y0; y < y1; y++)
    for (guint x = x0; x < x1; x++) {
      n++;
      m10 += x;
      m01 += y;
      m20 += x * x;
      m11 += x * y;
      m02 += y * y;
    }
  fail_unless_equals_uint64 (blob->area, n);
  fail_unless_equals_uint64 (blob->m10, m10);
  fail_unless_equals_uint64 (blob->m01, m01);
  fail_unless_equals_uint64 (blob->m20, m20);
  fail_unless_equals_uint64 (blob->m11, m11);
  fail_unless_equals_uint64 (blob->m02, m02);
}

GST_START_TEST (test_regions)
{
  GstBuffer *const buffer = gst_buffer_new ();
  GstVideoRegionOfInterestMeta *roi;
  GstCclJsonRegions list;
  const GstCclBlob *blobs;
  const GstCclJsonRegion *regions;

  roi = gst_buffer_add_video_region_of_interest_meta (buffer, "person", 3, 5, 7, 2);
  roi->id = 4;
  roi->parent_id = 2;
  gst_video_region_of_interest_meta_add_param (roi, gst_structure_new ("detection", "confidence", G_TYPE_DOUBLE, 0.5,
          "label_id", G_TYPE_INT, 6, NULL));
  gst_video_region_of_interest_meta_add_param (roi, gst_structure_new ("object_id", "id", G_TYPE_INT, 9, NULL));
  gst_buffer_add_video_region_of_interest_meta (buffer, "far", 65535, 0, 1, 1);
  gst_buffer_add_video_region_of_interest_meta (buffer, "car", 65534, 65534, 1, 1);

  fail_unless (gst_ccl_json_regions_read (&list, buffer));
  fail_unless_equals_int (list.blobs.len, 2);
  fail_unless_equals_int (list.regions.len, 2);
  fail_unless_equals_int (list.n_left_out, 1);
  blobs = list.blobs.data;
  regions = list.regions.data;
  check_sums (&blobs[0], 3, 5, 10, 7);
  fail_unless_equals_uint64 (blobs[0].track_id, 9);
  fail_unless (blobs[0].label == 1 && blobs[1].label == 2);
  fail_unless_equals_string (regions[0].type, "person");
  fail_unless (regions[0].id == 4 && regions[0].parent_id == 2 && regions[0].label_id == 6);
  fail_unless (regions[0].confidence == 0.5);
  fail_unless_equals_uint64 (blobs[1].m20, G_GUINT64_CONSTANT (65534) * 65534);
  fail_unless (blobs[1].track_id == 0 && regions[1].label_id == -1 && regions[1].confidence == -1);
  gst_ccl_json_regions_clear (&list);
  gst_buffer_unref (buffer);
}

GST_END_TEST;

/* ---------------------------------------------------------------- time of day */

#define DAY (24 * 3600 * GST_SECOND)

static GstClockTime
utc_of_reference (const gchar * caps_text, GstClockTime timestamp)
{
  GstBuffer *const buffer = gst_buffer_new ();
  GstCaps *const caps = gst_caps_from_string (caps_text);
  GstClockTime utc;

  gst_buffer_add_reference_timestamp_meta (buffer, caps, timestamp, GST_CLOCK_TIME_NONE);
  utc = gst_ccl_json_utc_from_reference (buffer);
  gst_caps_unref (caps);
  gst_buffer_unref (buffer);
  return utc;
}

GST_START_TEST (test_utc)
{
  GstClock *const clock = g_object_new (GST_TYPE_SYSTEM_CLOCK, "clock-type", GST_CLOCK_TYPE_REALTIME, NULL);
  GstClock *const monotonic = g_object_new (GST_TYPE_SYSTEM_CLOCK, "clock-type", GST_CLOCK_TYPE_MONOTONIC, NULL);
  const GstClockTime now = gst_clock_get_time (monotonic), real = (GstClockTime) g_get_real_time () * GST_USECOND;

  fail_unless_equals_uint64 (utc_of_reference ("timestamp/x-unix", DAY), DAY);
  /* 70 years with 17 leap days. */
  fail_unless_equals_uint64 (utc_of_reference ("timestamp/x-ntp", (70 * 365 + 17 + 1) * DAY), DAY);
  fail_unless_equals_uint64 (utc_of_reference ("timestamp/x-ntp", DAY), GST_CLOCK_TIME_NONE);
  fail_unless_equals_uint64 (utc_of_reference ("timestamp/x-other", DAY), GST_CLOCK_TIME_NONE);

  fail_unless_equals_uint64 (gst_ccl_json_utc_from_clock (clock, DAY, FALSE), DAY);
  fail_unless_equals_uint64 (gst_ccl_json_utc_from_clock (clock, GST_CLOCK_TIME_NONE, TRUE), GST_CLOCK_TIME_NONE);
  fail_unless_equals_uint64 (gst_ccl_json_utc_from_clock (NULL, DAY, TRUE), GST_CLOCK_TIME_NONE);
  fail_unless_equals_uint64 (gst_ccl_json_utc_from_clock (monotonic, now, FALSE), GST_CLOCK_TIME_NONE);
  fail_unless (ABS (GST_CLOCK_DIFF (real, gst_ccl_json_utc_from_clock (monotonic, now,
                  TRUE))) < 10 * (gint64) GST_SECOND);
  gst_object_unref (clock);
  gst_object_unref (monotonic);
}

GST_END_TEST;

/* ---------------------------------------------------------------- summary */

static void
add_frame (GstCclJsonSummary * summary, gint64 now, const GstCclBlob * blobs, guint n_blobs,
    const GstCclZoneMeta * zones)
{
  GstCclBlobMeta meta = {.list = gst_ccl_blob_list_new (blobs, n_blobs) };

  gst_ccl_json_summary_add_frame (summary, now);
  gst_ccl_json_summary_add_blobs (summary, &meta, zones);
  gst_ccl_blob_list_unref (meta.list);
}

static void
assert_summary (const GstCclJsonSummary * summary, const gchar * expected)
{
  gchar *const text = gst_ccl_json_summary_to_string (summary);

  fail_unless_equals_string (text, expected);
  g_free (text);
}

GST_START_TEST (test_summary)
{
  GstCclJsonSummary summary = { 0 };
  GstCclBlob blobs[2] = { {.label = 1}, {.label = 2} };
  GstCclZone counts[2] = { {.n_forward = 2,.n_backward = 1}, {.n_forward = 4} };
  const GstCclZoneMeta zones = {.n_zones = 2,.zones = counts };
  GstStructure *structure;
  guint64 objects, events;

  assert_summary (&summary, "0 frames in 0.0 s; 0 blobs");
  add_frame (&summary, 5000000, blobs, 1, NULL);
  assert_summary (&summary, "1 frame in 0.0 s; 1 blob");
  gst_ccl_json_summary_add_frame (&summary, 5500000);
  add_frame (&summary, 6000000, blobs, 2, NULL);
  assert_summary (&summary, "3 frames in 1.0 s, 2.0 frames/s; 3 blobs");

  /* A track counts once, when it is confirmed; ids may come back. */
  blobs[0].track_id = 7;
  blobs[0].flags = GST_CCL_BLOB_FLAG_TENTATIVE;
  add_frame (&summary, 6500000, blobs, 2, &zones);
  assert_summary (&summary, "4 frames in 1.5 s, 2.0 frames/s; 0 objects, 7 events");
  blobs[0].flags = GST_CCL_BLOB_FLAG_CONFIRMED;
  blobs[1].track_id = G_GUINT64_CONSTANT (1) << 40 | 7;
  add_frame (&summary, 7000000, blobs, 2, &zones);
  add_frame (&summary, 7500000, blobs, 2, &zones);
  assert_summary (&summary, "6 frames in 2.5 s, 2.0 frames/s; 2 objects, 7 events");

  structure = gst_ccl_json_summary_to_structure (&summary);
  fail_unless (gst_structure_get (structure, "objects", G_TYPE_UINT64, &objects, "events", G_TYPE_UINT64, &events,
          NULL));
  fail_unless_equals_uint64 (objects, 2);
  fail_unless_equals_uint64 (events, 7);
  gst_structure_free (structure);
  gst_ccl_json_summary_clear (&summary);
  assert_summary (&summary, "0 frames in 0.0 s; 0 blobs");
}

GST_END_TEST;

static Suite *
json_parts_suite (void)
{
  Suite *const suite = suite_create ("json-parts");
  TCase *const tc = tcase_create ("general");

  suite_add_tcase (suite, tc);
  tcase_add_test (tc, test_accepted);
  tcase_add_test (tc, test_refused);
  tcase_add_test (tc, test_wrong_numbers);
  tcase_add_test (tc, test_depth);
  tcase_add_test (tc, test_values);
  tcase_add_test (tc, test_members);
  tcase_add_test (tc, test_utc_text);
  tcase_add_test (tc, test_line);
  tcase_add_test (tc, test_line_not_analysed);
  tcase_add_test (tc, test_regions);
  tcase_add_test (tc, test_utc);
  tcase_add_test (tc, test_summary);
  return suite;
}

GST_CHECK_MAIN (json_parts);
