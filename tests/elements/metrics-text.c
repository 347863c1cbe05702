/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Prometheus text of statistics, without elements and without HTTP. */

#include <gst/check/gstcheck.h>
#include <math.h>
#include <string.h>

#include "base/gstcclminavgmax.h"
#include "metrics/gstcclmetricstext.h"

static GstCclMetricsSource *
new_source (const gchar * pipeline, const gchar * element, GstStructure * stats)
{
  GstCclMetricsSource *const source = g_new (GstCclMetricsSource, 1);

  *source = (GstCclMetricsSource) {
  .pipeline = g_strdup (pipeline),.element = g_strdup (element),.factory = g_strdup ("ccllabel"),.stats = stats,};
  return source;
}

/* Takes the sources. */
static gchar *
text_of (GstCclMetricsSource ** sources, guint n)
{
  GString *const text = gst_ccl_metrics_text ((const GstCclMetricsSource * const *) sources, n, "1.2.3");

  for (guint i = 0; i < n; i++)
    gst_ccl_metrics_source_free (sources[i]);
  return g_string_free (text, FALSE);
}

static gchar *
text_of_stats (GstStructure * stats)
{
  GstCclMetricsSource *source = new_source ("p", "e", stats);

  return text_of (&source, 1);
}

static void
assert_line (const gchar * text, const gchar * line)
{
  gchar **const lines = g_strsplit (text, "\n", -1);

  fail_unless (g_strv_contains ((const gchar * const *) lines, line), "no line %s in\n%s", line, text);
  g_strfreev (lines);
}

static guint
count (const gchar * text, const gchar * part)
{
  guint n = 0;

  while ((text = strstr (text, part))) {
    text += strlen (part);
    n++;
  }
  return n;
}

#define LABELS "{element=\"e\",factory=\"ccllabel\",pipeline=\"p\"} "

GST_START_TEST (test_known)
{
  gchar *const text = text_of_stats (gst_structure_new ("stats", "frames", G_TYPE_UINT64, G_MAXUINT64,
          "connected", G_TYPE_BOOLEAN, TRUE, "area-ratio", G_TYPE_DOUBLE, 0.25, "tracks", G_TYPE_UINT, 3, NULL));

  assert_line (text, "# TYPE gstccl_frames_total counter");
  assert_line (text, "# HELP gstccl_frames_total Frames that the element took.");
  assert_line (text, "gstccl_frames_total" LABELS "18446744073709551615");
  assert_line (text, "# TYPE gstccl_connected gauge");
  assert_line (text, "gstccl_connected" LABELS "1");
  assert_line (text, "gstccl_motion_area_ratio" LABELS "0.25");
  assert_line (text, "gstccl_tracks" LABELS "3");
  fail_unless (strstr (text, "gstccl_build_info{version=\"1.2.3\",gstreamer=\"1."));
  g_free (text);
}

GST_END_TEST;

GST_START_TEST (test_times)
{
  GstStructure *const stats = gst_structure_new_empty ("stats");
  GstCclMinAvgMax host = { 0 }, nothing = { 0 };
  gchar *text;

  gst_ccl_min_avg_max_add (&host, 1500000);
  gst_ccl_min_avg_max_add (&host, 500000);
  gst_ccl_min_avg_max_to_structure (&host, "host", stats);
  gst_ccl_min_avg_max_to_structure (&nothing, "odd", stats);
  text = text_of_stats (stats);
  assert_line (text, "# TYPE gstccl_processing_seconds summary");
  assert_line (text, "gstccl_processing_seconds_sum" LABELS "2");
  assert_line (text, "gstccl_processing_seconds_count" LABELS "2");
  assert_line (text, "gstccl_processing_min_seconds" LABELS "0.5");
  assert_line (text, "gstccl_processing_max_seconds" LABELS "1.5");
  assert_line (text, "# TYPE gstccl_odd_seconds summary");
  assert_line (text, "gstccl_odd_seconds_count" LABELS "0");
  fail_if (strstr (text, "odd_min") || strstr (text, "odd_max") || strstr (text, "avg"));
  g_free (text);
}

GST_END_TEST;

/* A sink of tomorrow: numbers by rule, text and structures not at all. */
GST_START_TEST (test_unknown)
{
  gchar *const text = text_of_stats (gst_structure_new ("stats", "new-bytes", G_TYPE_UINT64, (guint64) 7,
          "9 lives", G_TYPE_INT, -1, "frames_total", G_TYPE_INT, 5, "frames", G_TYPE_UINT64, (guint64) 6,
          "text", G_TYPE_STRING, "x", "nan", G_TYPE_DOUBLE, NAN, "huge", G_TYPE_DOUBLE, -INFINITY, "flt", G_TYPE_FLOAT,
          0.5f,
          "inner", GST_TYPE_STRUCTURE, NULL, NULL));

  assert_line (text, "# TYPE gstccl_new_bytes untyped");
  assert_line (text, "gstccl_new_bytes" LABELS "7");
  assert_line (text, "gstccl_9_lives" LABELS "-1");
  assert_line (text, "gstccl_nan" LABELS "NaN");
  assert_line (text, "gstccl_huge" LABELS "-Inf");
  assert_line (text, "gstccl_flt" LABELS "0.5");
  fail_if (strstr (text, "gstccl_text") || strstr (text, "inner"));
  fail_unless_equals_int (count (text, "# TYPE gstccl_frames_total "), 1);
  fail_unless_equals_int (count (text, "\ngstccl_frames_total{"), 1);
  g_free (text);
}

GST_END_TEST;

GST_START_TEST (test_zones)
{
  GstStructure *const stats = gst_structure_new_empty ("stats");
  GValue zones = G_VALUE_INIT, zone = G_VALUE_INIT;
  gchar *text;

  g_value_init (&zones, GST_TYPE_ARRAY);
  g_value_init (&zone, GST_TYPE_STRUCTURE);
  g_value_take_boxed (&zone, gst_structure_new ("zone", "name", G_TYPE_STRING, "a \"door\"", "inside", G_TYPE_UINT, 2,
          "forward", G_TYPE_UINT64, (guint64) 5, NULL));
  gst_value_array_append_value (&zones, &zone);
  gst_structure_take_value (stats, "zones", &zones);
  g_value_unset (&zone);
  text = text_of_stats (stats);
  assert_line (text, "gstccl_zone_inside{element=\"e\",factory=\"ccllabel\",pipeline=\"p\",zone=\"a \\\"door\\\"\"} 2");
  assert_line (text,
      "gstccl_zone_forward_total{element=\"e\",factory=\"ccllabel\",pipeline=\"p\",zone=\"a \\\"door\\\"\"} 5");
  g_free (text);
}

GST_END_TEST;

GST_START_TEST (test_info)
{
  gchar *const text =
      text_of_stats (gst_structure_new ("stats", "backend", G_TYPE_STRING, "cpu", "path", G_TYPE_STRING, NULL,
          "last-error", G_TYPE_STRING, "secret", NULL));

  assert_line (text,
      "gstccl_element_info{element=\"e\",factory=\"ccllabel\",pipeline=\"p\",backend=\"cpu\",path=\"\"} 1");
  fail_if (strstr (text, "secret"));
  g_free (text);
}

GST_END_TEST;

/* Whatever a name has in it, a line stays a line, and every series is there once. */
GST_START_TEST (test_hostile_names)
{
  GstCclMetricsSource *sources[] = {
    new_source ("p", "a\"b\\c\nd", gst_structure_new ("stats", "frames", G_TYPE_INT, 1, NULL)),
    new_source ("p", "a\"b\\c\nd", gst_structure_new ("stats", "frames", G_TYPE_INT, 2, NULL)),
    new_source ("p\xff", "", gst_structure_new ("stats", "frames", G_TYPE_INT, 3, "a\nb\\\"", G_TYPE_INT, 4, NULL)),
  };
  gchar *const text = text_of (sources, G_N_ELEMENTS (sources));

  assert_line (text, "gstccl_frames_total{element=\"a\\\"b\\\\c\\nd\",factory=\"ccllabel\",pipeline=\"p\"} 1");
  assert_line (text, "gstccl_frames_total{element=\"a\\\"b\\\\c\\nd#2\",factory=\"ccllabel\",pipeline=\"p\"} 2");
  assert_line (text, "gstccl_frames_total{element=\"\",factory=\"ccllabel\",pipeline=\"p\xef\xbf\xbd\"} 3");
  assert_line (text, "gstccl_a_b__{element=\"\",factory=\"ccllabel\",pipeline=\"p\xef\xbf\xbd\"} 4");
  fail_unless (g_utf8_validate (text, -1, NULL));
  g_free (text);
}

GST_END_TEST;

GST_START_TEST (test_nothing)
{
  gchar *const text = text_of (NULL, 0);

  fail_unless_equals_int (count (text, "\n"), 3);
  g_free (text);
}

GST_END_TEST;

static Suite *
metrics_text_suite (void)
{
  Suite *const suite = suite_create ("metrics-text");
  TCase *const tests = tcase_create ("general");

  suite_add_tcase (suite, tests);
  tcase_add_test (tests, test_known);
  tcase_add_test (tests, test_times);
  tcase_add_test (tests, test_unknown);
  tcase_add_test (tests, test_zones);
  tcase_add_test (tests, test_info);
  tcase_add_test (tests, test_hostile_names);
  tcase_add_test (tests, test_nothing);
  return suite;
}

GST_CHECK_MAIN (metrics_text);
