/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Ten thousand frames with caps, flushes and gaps among them: nothing grows, no frame is lost. */
#include "chain.h"

#ifdef __GLIBC__
#include <malloc.h>
#endif
#include <stdio.h>
#include <unistd.h>

/* Frames in flight are dropped or come out before. */
static void
flush (Stream * stream)
{
  GstBuffer *buffer;

  push_frame (stream, stream->time);
  push_frame (stream, stream->time + FRAME);
  flush_harness (stream->harness);
  while ((buffer = gst_harness_try_pull (stream->harness)))
    check_frame (stream, buffer);
  g_queue_clear_full (&stream->expected, g_free);
  stream->oldest_allowed = stream->newest;
  stream->time = 0;
}

/* Queued frames come out before the new caps. Tracks end when the size changes. */
static void
change_picture (Stream * stream)
{
  const Picture *const picture = &pictures[(stream->picture - pictures + 1) % G_N_ELEMENTS (pictures)];

  set_picture (stream, picture);
  next_frame (stream);
  pull_frames (stream, stream->depth ? 1 : 0);
  stream->oldest_allowed = stream->newest;
}

/* What happens to streams, at prime intervals so that all comes together with all. */
static void
disturb (Stream * stream)
{
  const guint n = stream->n;

  if (n % 397 == 0)
    push_frame (stream, stream->time > 10 * FRAME ? stream->time - 10 * FRAME : 0);
  if (n % 499 == 0)
    stream->time += 20 * GST_SECOND;
  if (n % 211 == 0)
    set_zones (stream, n);
  if (n % 613 == 0) {
    stream->depth = (stream->depth + 1) % 3;
    g_object_set (element (stream, "ccllabel"), "async-depth", stream->depth, NULL);
  }
  if (n % 701 == 0)
    flush (stream);
  if (n % 823 == 0)
    change_picture (stream);
}

typedef struct
{
  gsize resident, heap;         /* bytes */
  guint objects;                /* what GStreamer has alive: elements, buffers, events, caps, ... */
} Usage;

/* The tracer names them without holding them, in structures that let go of them when they are freed. */
static guint
count_objects (const GValue * list)
{
  const guint n = gst_value_list_get_size (list);

  for (guint i = 0; i < n; i++) {
    const GstStructure *const item = gst_value_get_structure (gst_value_list_get_value (list, i));
    const GValue *const value = gst_structure_get_value (item, "object");

    if (G_VALUE_HOLDS_OBJECT (value))
      g_object_ref (g_value_get_object (value));
    else
      gst_mini_object_ref (g_value_get_boxed (value));
  }
  return n;
}

static guint
live_objects (void)
{
  GList *const tracers = gst_tracing_get_active_tracers ();
  GstStructure *info = NULL;
  guint n = 0;

  for (GList * l = tracers; l; l = l->next)
    if (g_str_equal (G_OBJECT_TYPE_NAME (l->data), "GstLeaksTracer"))
      g_signal_emit_by_name (l->data, "get-live-objects", &info);
  g_list_free_full (tracers, gst_object_unref);
  if (!info)
    return 0;
  n = count_objects (gst_structure_get_value (info, "live-objects-list"));
  gst_structure_free (info);
  return n;
}

static Usage
measure (Stream * stream)
{
  Usage usage = {.objects = live_objects () };
  gchar *text = NULL;
  gulong pages = 0;

  if (g_file_get_contents ("/proc/self/statm", &text, NULL, NULL))
    sscanf (text, "%*u %lu", &pages);
  g_free (text);
  usage.resident = pages * sysconf (_SC_PAGESIZE);
#ifdef __GLIBC__
  usage.heap = mallinfo2 ().uordblks;
#endif
  g_print ("%5u frames: %5.1f MB resident, %5.2f MB of heap in use, %u objects of GStreamer, %u tracks\n", stream->n,
      usage.resident / 1e6, usage.heap / 1e6, usage.objects, (guint) stream->newest);
  return usage;
}

static GstStructure *
stats_of (Stream * stream, const gchar * name)
{
  GstStructure *stats;

  g_object_get (element (stream, name), "stats", &stats, NULL);
  return stats;
}

static guint64
count_in (Stream * stream, const gchar * name, const gchar * field)
{
  GstStructure *const stats = stats_of (stream, name);
  guint64 count = 0;
  guint small;

  if (gst_structure_get_uint (stats, field, &small))
    count = small;
  else
    fail_unless (gst_structure_get_uint64 (stats, field, &count), "no %s in %" GST_PTR_FORMAT, field, stats);
  gst_structure_free (stats);
  return count;
}

static void
run_for (Stream * stream, guint n_frames)
{
  while (stream->n < n_frames) {
    next_frame (stream);
    disturb (stream);
  }
  settle (stream);
}

GST_START_TEST (test_soak)
{
  const gchar *const wanted = g_getenv ("CCL_SOAK_FRAMES");
  const guint n = wanted ? atoi (wanted) : memory_is_ours ()? 10000 : 1000;
  Usage before, after;
  Stream stream;

  open_stream (&stream);
  run_for (&stream, n / 5);
  before = measure (&stream);
  for (guint part = 2; part <= 5; part++) {
    run_for (&stream, n * part / 5);
    after = measure (&stream);
  }

  if (memory_is_ours ()) {
    fail_unless (before.objects > 0, "the tracer leaks is missing");
    fail_unless (after.objects <= before.objects + 20, "from %u to %u objects", before.objects, after.objects);
    fail_unless (after.heap <= before.heap + 500000, "the heap grew from %zu to %zu", before.heap, after.heap);
    fail_unless (after.resident <= before.resident + 2000000, "memory grew from %zu to %zu", before.resident,
        after.resident);
  }

  /* The scene did to the elements what it was made for. */
  fail_unless_equals_uint64 (count_in (&stream, "cclmotion", "frames"), stream.n);
  fail_unless (stream.with_blobs > stream.frames / 2, "blobs in %u of %u frames", stream.with_blobs, stream.frames);
  fail_unless (stream.merged > n / 50, "%u merged", stream.merged);
  fail_unless (g_hash_table_size (stream.lost) > n / 200, "%u lost", g_hash_table_size (stream.lost));
  fail_unless (stream.zone_messages > n / 50, "%u messages of zones", stream.zone_messages);
  fail_unless (stream.motion_messages > 1);
  fail_unless (count_in (&stream, "ccltrack", "backwards") > 0);
  fail_unless (count_in (&stream, "ccltrack", "tracks") < 40);
  fail_unless (n < 1700 || count_in (&stream, "cclmotion", "global-changes") > 0);
  close_stream (&stream);
}

GST_END_TEST;

/* Of every element, in the same words. */
GST_START_TEST (test_stats)
{
  static const gchar *const fields[][3] = {
    {"host-us-min", "host-us-avg", "host-us-max"},
    {"latency-us-min", "latency-us-avg", "latency-us-max"},
  };
  Stream stream;

  open_stream (&stream);
  for (guint i = 0; i < 40; i++)
    next_frame (&stream);
  settle (&stream);
  for (guint i = 0; i < G_N_ELEMENTS (elements); i++) {
    GstStructure *const stats = stats_of (&stream, elements[i]);
    gdouble avg[2];

    fail_unless_equals_uint64 (count_in (&stream, elements[i], "frames"), stream.n);
    for (guint j = 0; j < 2; j++) {
      gdouble min = -2, max = -2;

      fail_unless (gst_structure_get (stats, fields[j][0], G_TYPE_DOUBLE, &min, fields[j][1], G_TYPE_DOUBLE, &avg[j],
              fields[j][2], G_TYPE_DOUBLE, &max, NULL), "%s lacks %s", elements[i], fields[j][0]);
      fail_unless (0 <= min && min <= avg[j] && avg[j] <= max && max > 0, "%s, %s: %f %f %f", elements[i],
          fields[j][0], min, avg[j], max);
    }
    fail_unless (avg[0] <= avg[1] && avg[1] < 1e6, "%s works for %f us on a frame it keeps for %f us", elements[i],
        avg[0], avg[1]);
    gst_structure_free (stats);
  }
  close_stream (&stream);
}

GST_END_TEST;

/* A frame that waits for two others leaves two intervals later, whatever the work on it. */
GST_START_TEST (test_latency_of_frames_in_flight)
{
  const gulong pause = 20000;   /* microseconds; longer than the work on a frame under valgrind */
  GstStructure *stats;
  gdouble host, latency;
  Stream stream;

  open_stream (&stream);
  stream.depth = 2;
  g_object_set (element (&stream, "ccllabel"), "async-depth", 2, NULL);
  for (guint i = 0; i < 30; i++) {
    next_frame (&stream);
    g_usleep (pause);
  }
  stats = stats_of (&stream, "ccllabel");
  fail_unless (gst_structure_get (stats, "latency-us-min", G_TYPE_DOUBLE, &latency, "host-us-min", G_TYPE_DOUBLE, &host,
          NULL));
  fail_unless (latency >= 2 * pause, "only %f us", latency);
  fail_unless (host < pause, "%f us", host);
  gst_structure_free (stats);
  close_stream (&stream);
}

GST_END_TEST;

void
chain_add_stream_tests (Suite * suite)
{
  TCase *tests = tcase_create ("stream");

  tcase_set_timeout (tests, 300);
  tcase_add_test (tests, test_soak);
  tcase_add_test (tests, test_stats);
  tcase_add_test (tests, test_latency_of_frames_in_flight);
  suite_add_tcase (suite, tests);
}
