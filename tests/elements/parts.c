/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* The parts of ccllabel and cclmotion that need no pipeline: polygons to ignore, pool headroom, lateness, statistics, the
 * property table, the context of a GPU. */

#include <gst/check/gstcheck.h>

#include "base/gstcclgpus.h"
#include "base/gstccllateness.h"
#include "base/gstcclmetas.h"
#include "base/gstcclminavgmax.h"
#include "base/gstcclpoolheadroom.h"
#include "base/gstcclpropertyrow.h"
#include "base/gstccltime.h"
#include "motion/gstcclignore.h"

/* ---------------------------------------------------------------- polygons to ignore */

GST_START_TEST (test_ignore_parse)
{
  static const struct
  {
    const gchar *text;
    guint n_polygons, n_points;
  } right[] = {
    {NULL, 0, 0},
    {"", 0, 0},
    {"0,0;1,0;1,0.5", 1, 3},
    {" 0 , 0 ; 10 , 0 ; 10 , 5 ; 0 , 5 ", 1, 4},
    {"0,0;1,0;1,1;", 1, 3},
    {"0,0;1,0;1,1|5,5;9,5;9,9", 2, 3},
    {"0,0;1,0;1,1|", 1, 3},
    {"-1e1,0;1,0;1,1", 1, 3},
  };

  for (guint i = 0; i < G_N_ELEMENTS (right); i++) {
    GError *error = NULL;
    GPtrArray *const polygons = gst_ccl_ignore_parse (right[i].text, &error);

    fail_unless (polygons && !error, "%s", right[i].text);
    fail_unless_equals_int (polygons->len, right[i].n_polygons);
    for (guint k = 0; k < polygons->len; k++)
      fail_unless_equals_int (((GArray *) g_ptr_array_index (polygons, k))->len, 2 * right[i].n_points);
    g_ptr_array_unref (polygons);
  }
}

GST_END_TEST;

GST_START_TEST (test_ignore_parse_errors)
{
  static const struct
  {
    const gchar *text, *message;
  } wrong[] = {
    {"x", "\"x\" is no list of polygons: a number and then \",\" is expected at character 1"},
    {"0;1", "\"0;1\" is no list of polygons: a number and then \",\" is expected at character 1"},
    {"0,0 1,0", "\"0,0 1,0\" is no list of polygons: a number and then \";, | or the end\" is expected at character 3"},
    {"0,inf;1,0;1,1",
        "\"0,inf;1,0;1,1\" is no list of polygons: a number and then \";, | or the end\" is expected at character 3"},
    {"0,0;;1,1", "\"0,0;;1,1\" is no list of polygons: a number and then \",\" is expected at character 5"},
    {"0,0;1,1", "\"0,0;1,1\" is no list of polygons: number 1 has less than three points"},
    {"0,0;1,0;1,1|2,2", "\"0,0;1,0;1,1|2,2\" is no list of polygons: number 2 has less than three points"},
  };

  for (guint i = 0; i < G_N_ELEMENTS (wrong); i++) {
    GError *error = NULL;

    fail_if (gst_ccl_ignore_parse (wrong[i].text, &error), "%s", wrong[i].text);
    fail_unless_equals_string (error->message, wrong[i].message);
    g_error_free (error);
  }
}

GST_END_TEST;

/* The number of pixels that `text` covers in a map of 8 x 4 pixels, for frames of 80 x 40 pixels. */
static guint
count_ignored (const gchar * text)
{
  guint8 map[8 * 4] = { 0 };
  GPtrArray *const polygons = gst_ccl_ignore_parse (text, NULL);
  guint n = 0;

  fail_unless (gst_ccl_ignore_fill (polygons, 80, 40, map, 8, 4));
  for (guint i = 0; i < sizeof map; i++)
    n += map[i];
  g_ptr_array_unref (polygons);
  return n;
}

GST_START_TEST (test_ignore_fill)
{
  fail_unless_equals_int (count_ignored (""), 0);
  fail_unless_equals_int (count_ignored ("0,0;1,0;1,1;0,1"), 32);
  fail_unless_equals_int (count_ignored ("0,0;0.5,0;0.5,1;0,1"), 16);
  fail_unless_equals_int (count_ignored ("0,0;40,0;40,40;0,40"), 16);
  /* Each polygon is in pixels or in fractions, independent of the others. Polygons may overlap. */
  fail_unless_equals_int (count_ignored ("0,0;0.5,0;0.5,1;0,1|40,0;80,0;80,20;40,20"), 24);
  fail_unless_equals_int (count_ignored ("0,0;0.5,0;0.5,1;0,1|0,0;40,0;40,40;0,40"), 16);
  fail_unless_equals_int (count_ignored ("100,100;200,100;200,200"), 0);
}

GST_END_TEST;

/* ---------------------------------------------------------------- pool headroom */

static GstQuery *
query_with_pool (guint min, guint max)
{
  GstQuery *const query = gst_query_new_allocation (NULL, TRUE);

  gst_query_add_allocation_pool (query, NULL, 100, min, max);
  return query;
}

static void
check_proposal (guint min, guint max, guint n_frames, guint wanted_min, guint wanted_max)
{
  GstCclPoolHeadroom headroom = { 0 };
  GstQuery *const query = query_with_pool (min, max);
  guint size;

  gst_ccl_pool_headroom_start (&headroom);
  gst_ccl_pool_headroom_propose (&headroom, query, n_frames);
  gst_query_parse_nth_allocation_pool (query, 0, NULL, &size, &min, &max);
  fail_unless_equals_int (size, 100);
  fail_unless_equals_int (min, wanted_min);
  fail_unless_equals_int (max, wanted_max);
  fail_unless (gst_ccl_pool_headroom_allows (&headroom, n_frames));
  fail_if (gst_ccl_pool_headroom_allows (&headroom, n_frames + 1));
  gst_query_unref (query);
}

GST_START_TEST (test_headroom_proposals)
{
  check_proposal (2, 0, 3, 5, 0);
  check_proposal (2, 4, 3, 5, 7);
  check_proposal (0, 0, 0, 0, 0);
}

GST_END_TEST;

GST_START_TEST (test_headroom_streams)
{
  GstEvent *const first = gst_event_new_stream_start ("first"), *const second = gst_event_new_stream_start ("second");
  GstCclPoolHeadroom headroom = { 0 };
  GstQuery *const query = query_with_pool (2, 0);
  GstQuery *const no_pool = gst_query_new_allocation (NULL, FALSE);

  gst_ccl_pool_headroom_start (&headroom);
  fail_unless (gst_ccl_pool_headroom_allows (&headroom, 1000));
  gst_ccl_pool_headroom_start_stream (&headroom, first);
  gst_ccl_pool_headroom_propose (&headroom, query, 2);
  fail_if (gst_ccl_pool_headroom_allows (&headroom, 3));

  /* Another stream while playing may come from a pool that was negotiated earlier. */
  gst_ccl_pool_headroom_start_stream (&headroom, second);
  fail_if (gst_ccl_pool_headroom_allows (&headroom, 3));

  /* After a restart the same stream goes on with the same pool; another stream has another. */
  gst_ccl_pool_headroom_start (&headroom);
  gst_ccl_pool_headroom_start_stream (&headroom, second);
  fail_if (gst_ccl_pool_headroom_allows (&headroom, 3));
  gst_ccl_pool_headroom_start (&headroom);
  gst_ccl_pool_headroom_start_stream (&headroom, first);
  fail_unless (gst_ccl_pool_headroom_allows (&headroom, 3));

  /* Upstream without a pool has any number of buffers. */
  gst_ccl_pool_headroom_propose (&headroom, no_pool, 2);
  fail_unless (gst_ccl_pool_headroom_allows (&headroom, 1000));
  gst_query_unref (query);
  gst_query_unref (no_pool);
  gst_event_unref (first);
  gst_event_unref (second);
}

GST_END_TEST;

/* ---------------------------------------------------------------- lateness */

/* TRUE: a frame of this time is late. */
static gboolean
is_late (GstCclLateness * lateness, GstBaseTransform * transform, GstClockTime time)
{
  GstBuffer *const buffer = gst_buffer_new ();
  gboolean late;

  GST_BUFFER_PTS (buffer) = time;
  late = gst_ccl_lateness_check (lateness, transform, buffer, 7);
  gst_buffer_unref (buffer);
  return late;
}

static void
send_qos (GstCclLateness * lateness, GstBaseTransform * transform, GstClockTimeDiff difference, GstClockTime time)
{
  GstEvent *const event = gst_event_new_qos (GST_QOS_TYPE_UNDERFLOW, 1.5, difference, time);

  gst_ccl_lateness_update (lateness, transform, event);
  gst_event_unref (event);
}

static void
check_qos_message (GstBus * bus)
{
  GstMessage *const message = gst_bus_pop_filtered (bus, GST_MESSAGE_QOS);
  guint64 n_processed, n_dropped;
  gint64 jitter;
  gdouble proportion;
  GstFormat format;

  fail_unless (message != NULL);
  gst_message_parse_qos_values (message, &jitter, &proportion, NULL);
  gst_message_parse_qos_stats (message, &format, &n_processed, &n_dropped);
  fail_unless_equals_int64 (jitter, 5 * GST_MSECOND);
  fail_unless (proportion == 1.5);
  fail_unless_equals_int (format, GST_FORMAT_BUFFERS);
  fail_unless_equals_uint64 (n_processed, 7);
  fail_unless_equals_uint64 (n_dropped, 1);
  gst_message_unref (message);
}

GST_START_TEST (test_lateness)
{
  GstElement *const element = gst_element_factory_make ("identity", NULL);
  GstBaseTransform *const transform = GST_BASE_TRANSFORM (element);
  GstBus *const bus = gst_bus_new ();
  GstCclLateness lateness = { 0 };

  gst_element_set_bus (element, bus);
  gst_segment_init (&transform->segment, GST_FORMAT_TIME);
  gst_ccl_lateness_reset (&lateness, transform);
  fail_if (is_late (&lateness, transform, 0));

  send_qos (&lateness, transform, 5 * GST_MSECOND, 10 * GST_MSECOND);
  fail_if (is_late (&lateness, transform, 16 * GST_MSECOND));
  fail_if (is_late (&lateness, transform, GST_CLOCK_TIME_NONE));
  fail_if (gst_bus_pop (bus) != NULL);
  fail_unless (is_late (&lateness, transform, 10 * GST_MSECOND));
  check_qos_message (bus);
  fail_unless_equals_uint64 (lateness.n_late, 1);

  send_qos (&lateness, transform, -5 * (GstClockTimeDiff) GST_MSECOND, 10 * GST_MSECOND);
  fail_unless (is_late (&lateness, transform, 5 * GST_MSECOND));
  fail_if (is_late (&lateness, transform, 6 * GST_MSECOND));
  gst_ccl_lateness_reset (&lateness, transform);
  fail_if (is_late (&lateness, transform, 0));
  gst_element_set_bus (element, NULL);
  gst_object_unref (bus);
  gst_object_unref (element);
}

GST_END_TEST;

/* ---------------------------------------------------------------- statistics, times, metadata */

static gdouble
field (const GstStructure * structure, const gchar * name)
{
  gdouble value = 0;

  fail_unless (gst_structure_get_double (structure, name, &value), "%s", name);
  return value;
}

GST_START_TEST (test_min_avg_max)
{
  GstStructure *const structure = gst_structure_new_empty ("stats");
  GstCclMinAvgMax values = { 0 };
  guint64 n;

  fail_unless (gst_ccl_min_avg_max_average (&values) == 0);
  gst_ccl_min_avg_max_add (&values, -1);
  gst_ccl_min_avg_max_to_structure (&values, "empty", structure);
  gst_ccl_min_avg_max_add (&values, 4);
  gst_ccl_min_avg_max_add (&values, 1);
  gst_ccl_min_avg_max_add (&values, -1);
  gst_ccl_min_avg_max_add (&values, 10);
  gst_ccl_min_avg_max_to_structure (&values, "host", structure);
  fail_unless (field (structure, "empty-us-min") == -1 && field (structure, "empty-us-avg") == -1
      && field (structure, "empty-us-max") == -1);
  fail_unless (field (structure, "host-us-min") == 1 && field (structure, "host-us-avg") == 5
      && field (structure, "host-us-max") == 10);
  fail_unless (field (structure, "empty-us-sum") == 0 && field (structure, "host-us-sum") == 15);
  fail_unless (gst_structure_get_uint64 (structure, "host-us-count", &n) && n == 3);
  gst_structure_free (structure);
}

GST_END_TEST;

GST_START_TEST (test_frames_duration)
{
  fail_unless_equals_uint64 (gst_ccl_frames_duration (1, 25, 1), 40 * GST_MSECOND);
  fail_unless_equals_uint64 (gst_ccl_frames_duration (3, 30000, 1001), 100100 * GST_USECOND);
  fail_unless_equals_uint64 (gst_ccl_frames_duration (2, 0, 1), 80 * GST_MSECOND);
  fail_unless_equals_uint64 (gst_ccl_frames_duration (0, 0, 1), 0);
}

GST_END_TEST;

GST_START_TEST (test_analysed_frames)
{
  GstCclBlobMeta meta = { 0 };

  fail_unless (gst_ccl_blobs_are_analysed (NULL));
  fail_unless (gst_ccl_blobs_are_analysed (&meta));
  meta.flags = GST_CCL_BLOB_META_FLAG_TRUNCATED;
  fail_unless (gst_ccl_blobs_are_analysed (&meta));
  meta.flags = GST_CCL_BLOB_META_FLAG_SKIPPED;
  fail_if (gst_ccl_blobs_are_analysed (&meta));
  meta.flags = GST_CCL_BLOB_META_FLAG_GLOBAL_CHANGE;
  fail_if (gst_ccl_blobs_are_analysed (&meta));
}

GST_END_TEST;

/* ---------------------------------------------------------------- the property table */

typedef struct
{
  guint8 narrow;
  gint number;
  guint64 wide;
  gdouble real;
  gchar *text;
} Members;

/* Sets a member and reads it back as the same type. */
static void
check_row (Members * members, GstCclPropertyRow row, GValue * value)
{
  GValue read = G_VALUE_INIT;

  g_value_init (&read, G_VALUE_TYPE (value));
  fail_unless (gst_ccl_property_row_set (members, &row, value));
  fail_unless (gst_ccl_property_row_get (members, &row, &read));
  fail_unless (gst_value_compare (value, &read) == GST_VALUE_EQUAL);
  g_value_unset (&read);
  g_value_unset (value);
}

GST_START_TEST (test_property_rows)
{
  const GstCclPropertyRow narrow = GST_CCL_PROPERTY_ROW (Members, narrow);
  const GstCclPropertyRow number = GST_CCL_PROPERTY_ROW (Members, number);
  const GstCclPropertyRow wide = GST_CCL_PROPERTY_ROW (Members, wide);
  const GstCclPropertyRow real = GST_CCL_PROPERTY_ROW (Members, real);
  const GstCclPropertyRow text = GST_CCL_PROPERTY_ROW (Members, text);
  const GstCclPropertyRow none = { 0 };
  Members members = { 0 };
  GValue value = G_VALUE_INIT;

  g_value_init (&value, G_TYPE_BOOLEAN);
  g_value_set_boolean (&value, TRUE);
  fail_if (gst_ccl_property_row_set (&members, &none, &value));
  fail_if (gst_ccl_property_row_get (&members, &none, &value));
  check_row (&members, narrow, &value);
  fail_unless_equals_int (members.narrow, 1);

  g_value_init (&value, G_TYPE_INT);
  g_value_set_int (&value, -3);
  check_row (&members, number, &value);
  fail_unless_equals_int (members.number, -3);

  g_value_init (&value, G_TYPE_UINT);   /* a guint may lie in a wider member */
  g_value_set_uint (&value, G_MAXUINT);
  check_row (&members, wide, &value);
  fail_unless_equals_uint64 (members.wide, G_MAXUINT);

  g_value_init (&value, G_TYPE_DOUBLE);
  g_value_set_double (&value, 0.25);
  check_row (&members, real, &value);
  fail_unless (members.real == 0.25);

  for (guint i = 0; i < 2; i++) {       /* the second string replaces the first */
    g_value_init (&value, G_TYPE_STRING);
    g_value_set_string (&value, i ? "second" : "first");
    check_row (&members, text, &value);
  }
  fail_unless_equals_string (members.text, "second");
  fail_unless (members.narrow == 1 && members.number == -3);
  g_free (members.text);
}

GST_END_TEST;

/* ---------------------------------------------------------------- the context of a GPU */

static gint n_made;             /* atomic */

/* Any object will do. Threads that come meanwhile must wait. */
static GstObject *
make_object (gint gpu)
{
  g_usleep (10 * 1000);
  g_atomic_int_inc (&n_made);
  return gpu < 2 ? GST_OBJECT (gst_bus_new ()) : NULL;
}

static gpointer
get_or_make (gpointer gpu)
{
  gboolean is_new;

  return gst_ccl_gpus_get_or_make_context (GPOINTER_TO_INT (gpu), make_object, &is_new);
}

GST_START_TEST (test_context_of_gpu)
{
  GThread *threads[8];
  GstObject *context, *other;
  gboolean is_new;

  for (guint i = 0; i < G_N_ELEMENTS (threads); i++)
    threads[i] = g_thread_new ("start", get_or_make, GINT_TO_POINTER (1));
  context = gst_ccl_gpus_get_or_make_context (1, make_object, &is_new);
  for (guint i = 0; i < G_N_ELEMENTS (threads); i++) {
    other = g_thread_join (threads[i]);
    fail_unless (other == context);
    gst_object_unref (other);
  }
  fail_unless_equals_int (n_made, 1);
  fail_unless (!gst_ccl_gpus_get_context (0));
  gst_object_unref (context);   /* the last of them */
  fail_unless (!gst_ccl_gpus_get_context (1));

  context = gst_ccl_gpus_get_or_make_context (1, make_object, &is_new);
  fail_unless (context && is_new);
  gst_ccl_gpus_set_failed (1);
  fail_unless (!gst_ccl_gpus_get_context (1));
  other = gst_ccl_gpus_get_or_make_context (1, make_object, &is_new);
  fail_unless (other != context && is_new);
  gst_object_unref (context);
  context = gst_ccl_gpus_get_or_make_context (1, make_object, &is_new);
  fail_unless (context == other && !is_new);
  gst_object_unref (context);
  gst_object_unref (other);
  fail_unless (!gst_ccl_gpus_get_or_make_context (2, make_object, &is_new));
  fail_unless (!is_new);
}

GST_END_TEST;

static Suite *
parts_suite (void)
{
  Suite *const suite = suite_create ("parts");
  TCase *const tcase = tcase_create ("parts");

  suite_add_tcase (suite, tcase);
  tcase_add_test (tcase, test_ignore_parse);
  tcase_add_test (tcase, test_ignore_parse_errors);
  tcase_add_test (tcase, test_ignore_fill);
  tcase_add_test (tcase, test_headroom_proposals);
  tcase_add_test (tcase, test_headroom_streams);
  tcase_add_test (tcase, test_lateness);
  tcase_add_test (tcase, test_min_avg_max);
  tcase_add_test (tcase, test_frames_duration);
  tcase_add_test (tcase, test_analysed_frames);
  tcase_add_test (tcase, test_property_rows);
  tcase_add_test (tcase, test_context_of_gpu);
  return suite;
}

GST_CHECK_MAIN (parts);
