/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* The whole chain over many frames: a scene in which things come, cross, hide and go, and all that streams do to
 * elements in the meantime. Nothing may grow, no frame may be lost, no identity may come back. */

#include <gst/check/gstcheck.h>
#include <gst/check/gstharness.h>
#include <gst/ccl/ccl.h>
#include <gst/video/video.h>
#include <glib/gstdio.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#ifdef __GLIBC__
# include <malloc.h>
#endif

#include "support/harness.h"
#include "support/upstream.h"

#define FRAME (GST_SECOND / 25)

/* Pictures leave through the only pad without a peer; the lines of JSON end in fakesink. */
#define CHAIN "cclmotion name=cclmotion warmup-frames=10 ! cclmetaremap name=cclmetaremap ! " \
    "ccllabel name=ccllabel mask-source=mask-meta min-area=12 attach=blob+roi threads=2 ! " \
    "ccltrack name=ccltrack emit=tentative+merged+predicted+lost ! cclzone name=cclzone ! tee name=both " \
    "! queue name=lines max-size-buffers=4 ! cclmeta2json name=cclmeta2json ! fakesink sync=false async=false " \
    "both. ! queue name=pictures max-size-buffers=4 "

static const gchar *const elements[] = {
  "cclmotion", "cclmetaremap", "ccllabel", "ccltrack", "cclzone", "cclmeta2json",
#ifdef HAVE_OVERLAY
  "ccloverlay",
#endif
};

typedef struct
{
  gint width, height;
  GstVideoFormat format;
} Picture;

static const Picture pictures[] = {
  {112, 84, GST_VIDEO_FORMAT_I420},
  {96, 96, GST_VIDEO_FORMAT_NV12},
  {133, 75, GST_VIDEO_FORMAT_GRAY8},
};

/* ---------------------------------------------------------------- the scene */

typedef struct
{
  gint x, y, width, height;
} Box;

/* Where thing `i` is in frame `n`: six wave to and fro across each other and hide now and then, two walk through and
 * are gone. */
static gboolean
place_thing (guint i, guint n, const Picture * picture, Box * box)
{
  const gdouble w = picture->width, h = picture->height, t = n / 25.0;

  box->width = 8 + 2 * (i % 3);
  box->height = 10 + 3 * (i % 2);
  if (i < 6) {
    box->x = (gint) ((0.5 + 0.4 * sin (t * (0.7 + 0.13 * i) + i)) * w);
    box->y = (gint) ((0.5 + 0.4 * cos (t * (0.5 + 0.09 * i) + 2 * i)) * h);
    return (n / (60 + 20 * i)) % 3 != 2;
  }
  box->x = (gint) ((n + 31 * i) % 120 * w / 60);
  box->y = (gint) ((i == 6 ? 0.2 : 0.7) * h);
  return box->x < w;
}

static void
fill (guint8 * plane, gint stride, const Picture * picture, Box box, guint8 value)
{
  const gint x0 = CLAMP (box.x, 0, picture->width), x1 = CLAMP (box.x + box.width, 0, picture->width);

  for (gint y = MAX (box.y, 0); y < MIN (box.y + box.height, picture->height); y++)
    memset (plane + y * stride + x0, value, x1 - x0);
}

/* Under light that is switched on for a second now and then. */
static GstBuffer *
draw_scene (guint n, const Picture * picture, const GstVideoInfo * info)
{
  GstBuffer *const buffer = gst_buffer_new_allocate (NULL, GST_VIDEO_INFO_SIZE (info), NULL);
  const gint stride = GST_VIDEO_INFO_PLANE_STRIDE (info, 0), light = n % 1700 > 1675 ? 120 : 0;
  guint32 noise = n * 2654435761u + 1;
  GstMapInfo map;
  Box box;

  gst_buffer_map (buffer, &map, GST_MAP_WRITE);
  memset (map.data, 128, map.size);
  for (gint y = 0; y < picture->height; y++)
    for (gint x = 0; x < picture->width; x++) {
      noise = noise * 1664525 + 1013904223;
      map.data[y * stride + x] = 40 + (x + y) % 64 + (noise >> 30) + light;
    }
  for (guint i = 0; i < 8; i++)
    if (place_thing (i, n, picture, &box))
      fill (map.data, stride, picture, box, 210 + 5 * i);
  gst_buffer_unmap (buffer, &map);
  return buffer;
}

/* ---------------------------------------------------------------- the stream */

typedef struct
{
  GstHarness *harness;
  GstBus *bus;
  GstVideoInfo info;
  const Picture *picture;
  guint n;                      /* frames pushed */
  GstClockTime time;            /* of the next */
  GQueue expected;              /* timestamps of what is in the chain */
  guint depth;                  /* of ccllabel: how many frames it may hold back */

  /* What came out. */
  guint frames, with_blobs, merged, zone_messages, motion_messages;
  guint64 newest, oldest_allowed;       /* ids of tracks */
  GHashTable *lost;
  gboolean is_meddled_with;     /* by another thread */
} Stream;

static GstElement *
element (Stream * stream, const gchar * name)
{
  GstElement *const found = gst_bin_get_by_name (GST_BIN (stream->harness->element), name);

  fail_unless (found != NULL, "no %s", name);
  gst_object_unref (found);     /* the bin keeps it */
  return found;
}

static void
set_zones (Stream * stream, guint version)
{
  gchar *const zones = g_strdup_printf ("{\"units\":\"relative\",\"zones\":["
      "{\"name\":\"left-%u\",\"polygon\":[[0,0],[0.5,0],[0.5,1],[0,1]],\"dwell\":1},"
      "{\"name\":\"gate\",\"line\":[[0.5,0],[0.5,1]]}]}", version);

  g_object_set (element (stream, "cclzone"), "zones", zones, NULL);
  g_free (zones);
}

static void
set_picture (Stream * stream, const Picture * picture)
{
  GstCaps *caps;

  gst_video_info_set_format (&stream->info, picture->format, picture->width, picture->height);
  GST_VIDEO_INFO_FPS_N (&stream->info) = 25;
  caps = gst_video_info_to_caps (&stream->info);
  gst_harness_set_src_caps (stream->harness, caps);
  stream->picture = picture;
}

static void
open_stream (Stream * stream)
{
  memset (stream, 0, sizeof *stream);
  g_queue_init (&stream->expected);
  stream->lost = g_hash_table_new_full (g_int64_hash, g_int64_equal, g_free, NULL);
#ifdef HAVE_OVERLAY
  stream->harness = gst_harness_new_parse (CHAIN "! ccloverlay name=ccloverlay");
#else
  stream->harness = gst_harness_new_parse (CHAIN);
#endif
  stream->bus = gst_bus_new ();
  gst_element_set_bus (stream->harness->element, stream->bus);
  set_zones (stream, 0);
  set_picture (stream, &pictures[0]);
}

static void
close_stream (Stream * stream)
{
  gst_element_set_bus (stream->harness->element, NULL);
  gst_object_unref (stream->bus);
  gst_harness_teardown (stream->harness);
  g_queue_clear_full (&stream->expected, g_free);
  g_hash_table_unref (stream->lost);
}

/* A track that was lost, or that lived before all were forgotten, is never seen again. */
static void
check_identity (Stream * stream, const GstCclBlob * blob)
{
  const guint64 id = blob->track_id;

  fail_unless (id > stream->oldest_allowed, "track %" G_GUINT64_FORMAT " is older than the flush", id);
  fail_if (g_hash_table_contains (stream->lost, &id), "track %" G_GUINT64_FORMAT " was lost, and is back", id);
  if (blob->flags & GST_CCL_BLOB_FLAG_LOST)
    g_hash_table_add (stream->lost, g_memdup2 (&id, sizeof id));
  stream->newest = MAX (stream->newest, id);
  stream->merged += (blob->flags & GST_CCL_BLOB_FLAG_MERGED) != 0;
}

static void
check_frame (Stream * stream, GstBuffer * buffer)
{
  GstClockTime *const pts = g_queue_pop_head (&stream->expected);
  const GstCclBlobMeta *const meta = gst_buffer_get_ccl_blob_meta (buffer);
  const GstCclBlob *blob;

  fail_unless (pts != NULL, "more frames than went in");
  fail_unless_equals_uint64 (GST_BUFFER_PTS (buffer), *pts);
  g_free (pts);
  fail_unless (meta != NULL && gst_buffer_get_ccl_zone_meta (buffer) && gst_buffer_get_ccl_mask_meta (buffer));
  for (guint i = 0; (blob = gst_ccl_blob_meta_get_blob (meta, i)); i++)
    if (blob->track_id)
      check_identity (stream, blob);
  stream->frames++;
  stream->with_blobs += gst_ccl_blob_meta_get_length (meta) > 0;
  gst_buffer_unref (buffer);
}

/* Nothing here is to be warned of, unless somebody meddles with the settings. */
static void
read_messages (Stream * stream)
{
  GstMessage *message;
  GstEvent *event;

  while ((event = gst_harness_try_pull_event (stream->harness)))
    gst_event_unref (event);    /* the harness keeps them */

  while ((message = gst_bus_pop (stream->bus))) {
    const GstMessageType type = GST_MESSAGE_TYPE (message);

    fail_if (type == GST_MESSAGE_ERROR || (type == GST_MESSAGE_WARNING && !stream->is_meddled_with),
        "%" GST_PTR_FORMAT, message);
    stream->zone_messages += gst_message_has_name (message, "ccl-zone");
    stream->motion_messages += gst_message_has_name (message, "ccl-motion");
    gst_message_unref (message);
  }
}

/* Until no more than `left` frames are in the chain. */
static void
pull_frames (Stream * stream, guint left)
{
  while (g_queue_get_length (&stream->expected) > left) {
    GstBuffer *const buffer = gst_harness_pull (stream->harness);

    fail_unless (buffer != NULL, "frame %u does not come out", stream->frames);
    check_frame (stream, buffer);
  }
  read_messages (stream);
}

static void
push_frame (Stream * stream, GstClockTime pts)
{
  GstBuffer *const buffer = draw_scene (stream->n++, stream->picture, &stream->info);

  GST_BUFFER_PTS (buffer) = pts;
  GST_BUFFER_DURATION (buffer) = FRAME;
  g_queue_push_tail (&stream->expected, g_memdup2 (&pts, sizeof pts));
  fail_unless_equals_int (gst_harness_push (stream->harness, buffer), GST_FLOW_OK);
}

static void
next_frame (Stream * stream)
{
  push_frame (stream, stream->time);
  stream->time += FRAME;
  pull_frames (stream, stream->depth);
}

/* With frames on their way, which are dropped, or come out before. */
static void
flush (Stream * stream)
{
  GstSegment segment;
  GstBuffer *buffer;

  push_frame (stream, stream->time);
  push_frame (stream, stream->time + FRAME);
  fail_unless (gst_harness_push_event (stream->harness, gst_event_new_flush_start ()));
  fail_unless (gst_harness_push_event (stream->harness, gst_event_new_flush_stop (TRUE)));
  gst_segment_init (&segment, GST_FORMAT_TIME);
  fail_unless (gst_harness_push_event (stream->harness, gst_event_new_segment (&segment)));
  while ((buffer = gst_harness_try_pull (stream->harness)))
    check_frame (stream, buffer);
  g_queue_clear_full (&stream->expected, g_free);
  stream->oldest_allowed = stream->newest;
  stream->time = 0;
}

/* Frames held back come out before the new caps do, and tracks end where the size is another. */
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

/* ---------------------------------------------------------------- what there is */

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

/* Sanitizers and valgrind keep memory for their own ends, and look for leaks themselves: GStreamer's tracer, which is
 * never freed, would be one. */
static gboolean
memory_is_ours (void)
{
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || !defined(__GLIBC__)
  return FALSE;
#else
  return !g_getenv ("CK_FORK"); /* tests/meson.build sets it for valgrind */
#endif
}

/* Both ways are empty; so is the overlay's cache of texts, the size of which goes up and down. */
static void
settle (Stream * stream)
{
  GstElement *const lines = element (stream, "lines");
  guint waiting = 1;

#ifdef HAVE_OVERLAY
  g_object_set (element (stream, "ccloverlay"), "font-desc", "Sans", NULL);
#endif

  stream->depth = 0;
  g_object_set (element (stream, "ccllabel"), "async-depth", 0, NULL);
  next_frame (stream);
  for (guint i = 0; waiting && i < 1000; i++) {
    g_object_get (lines, "current-level-buffers", &waiting, NULL);
    g_usleep (2000);
  }
  fail_unless_equals_int (waiting, 0);
  g_object_get (element (stream, "pictures"), "current-level-buffers", &waiting, NULL);
  fail_unless_equals_int (waiting, 0);
  fail_unless_equals_int (gst_harness_buffers_in_queue (stream->harness), 0);
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

/* ---------------------------------------------------------------- tests */

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
  const gulong pause = 4000;    /* microseconds */
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

/* What goes to and fro while frames flow. */
static const gchar *const changes[][4] = {
  {"cclmotion", "threshold", "10", "20"},
  {"cclmotion", "method", "ema", "mog2"},
  {"cclmetaremap", "mode", "restore", "keep"},
  {"ccllabel", "min-area", "5", "12"},
  {"ccllabel", "threads", "3", "1"},
  {"ccllabel", "async-depth", "2", "0"},
  {"ccltrack", "max-age", "5", "30"},
  {"cclzone", "evaluation-point", "bottom-center", "centroid"},
  {"cclmeta2json", "precision", "2", "-1"},
  {"cclmeta2json", "source-id", "here", "there"},
#ifdef HAVE_OVERLAY
  {"ccloverlay", "draw", "box+id", "box+id+trail+zone"},
  {"ccloverlay", "font-desc", "Serif", "Sans"},
#endif
};

typedef struct
{
  Stream *stream;
  GstElement *elements[G_N_ELEMENTS (elements)];
  gint stop;                    /* atomic */
  guint rounds, set, reloads;
} Meddler;

/* Reads every property; writes back those that may change while playing. */
static void
meddle (Meddler * meddler, GstElement * element)
{
  guint n = 0;
  GParamSpec **const specs = g_object_class_list_properties (G_OBJECT_GET_CLASS (element), &n);

  for (guint i = 0; i < n; i++) {
    GValue value = G_VALUE_INIT;

    if (!(specs[i]->flags & G_PARAM_READABLE) || g_str_equal (specs[i]->name, "parent"))
      continue;
    g_value_init (&value, specs[i]->value_type);
    g_object_get_property (G_OBJECT (element), specs[i]->name, &value);
    if (specs[i]->flags & G_PARAM_WRITABLE && specs[i]->flags & GST_PARAM_MUTABLE_PLAYING) {
      g_object_set_property (G_OBJECT (element), specs[i]->name, &value);
      meddler->set++;
    }
    g_value_unset (&value);
  }
  g_free (specs);
}

static gpointer
run_meddler (gpointer data)
{
  Meddler *const meddler = data;

  while (!g_atomic_int_get (&meddler->stop)) {
    GstElement *const zone = element (meddler->stream, "cclzone");
    gboolean read = FALSE;

    for (guint i = 0; i < G_N_ELEMENTS (elements); i++)
      meddle (meddler, meddler->elements[i]);
    for (guint i = 0; i < G_N_ELEMENTS (changes); i++)
      gst_util_set_object_arg (G_OBJECT (element (meddler->stream, changes[i][0])), changes[i][1],
          changes[i][2 + meddler->rounds % 2]);
    g_signal_emit_by_name (zone, "reload", &read);
    meddler->reloads += read;
    meddler->rounds++;
    g_usleep (200);
  }
  return NULL;
}

/* A file of zones, and its name. */
static gchar *
write_zones (void)
{
  gchar *name = NULL;
  const gint file = g_file_open_tmp ("ccl-zones-XXXXXX", &name, NULL);

  fail_unless (file >= 0);
  close (file);
  fail_unless (g_file_set_contents (name, "{\"zones\":[{\"name\":\"all\",\"polygon\":[[0,0],[90,0],[90,90]]}]}", -1,
          NULL));
  return name;
}

/* Every property of every element is read and written by another thread while frames flow. */
GST_START_TEST (test_another_thread)
{
  gchar *const zones = write_zones ();
  Meddler meddler = { NULL };
  GThread *thread;
  Stream stream;

  open_stream (&stream);
  meddler.stream = &stream;
  stream.depth = 2;             /* as many as may wait in ccllabel at some time */
  g_object_set (element (&stream, "cclzone"), "config", zones, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (elements); i++)
    meddler.elements[i] = element (&stream, elements[i]);
  stream.is_meddled_with = TRUE;
  thread = g_thread_new ("meddler", run_meddler, &meddler);
  for (guint i = 0; i < 150; i++) {
    if (i == 60)
      set_picture (&stream, &pictures[1]);
    next_frame (&stream);
  }
  g_atomic_int_set (&meddler.stop, TRUE);
  g_thread_join (thread);
  fail_unless (meddler.rounds > 2 && meddler.set > 50 * meddler.rounds, "%u rounds, %u set", meddler.rounds,
      meddler.set);
  fail_unless_equals_int (meddler.reloads, meddler.rounds);
  settle (&stream);
  close_stream (&stream);
  g_unlink (zones);
  g_free (zones);
}

GST_END_TEST;

/* ---------------------------------------------------------------- pools */

static GstPadProbeReturn
count_buffer (GstPad * pad, GstPadProbeInfo * info, gpointer count)
{
  (void) pad, (void) info;
  g_atomic_int_inc ((gint *) count);
  return GST_PAD_PROBE_OK;
}

/* An element that holds frames back, behind a source that waits for one of the few buffers there are. */
typedef struct
{
  const gchar *name;
  GstElement *pipeline, *queue, *held;
  GstPad *upstream;             /* that feeds it */
  GstPad *blocked_pad;          /* while it is stopped by itself, or with the queue */
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
  few->held = gst_bin_get_by_name (GST_BIN (few->pipeline), "element");
  GstElement *const sink = gst_bin_get_by_name (GST_BIN (few->pipeline), "sink");
  GstPad *const pad = gst_element_get_static_pad (sink, "sink");
  GstPad *const fed = gst_element_get_static_pad (few->held, "sink");

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

  for (guint i = 0; i < 1000 && g_atomic_int_get (&few->count) < before + 20; i++)
    g_usleep (10000);
  fail_unless (g_atomic_int_get (&few->count) >= before + 20, "%s stands still", few->name);
}

/* What the element adds to the latency is so many frames in the end. */
static void
few_buffers_expect_latency (FewBuffers * few, guint n_frames)
{
  const GstClockTime wanted = n_frames * GST_SECOND / 100;
  GstPad *const pad = gst_element_get_static_pad (few->held, "src");
  GstClockTime latency = GST_CLOCK_TIME_NONE, before, after;

  for (guint i = 0; i < 1000 && latency != wanted; i++) {
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
  gst_object_unref (few->held);
  gst_object_unref (few->pipeline);
  g_free (few);
}

static const gchar *const holding_elements[] = { "ccllabel", "cclmotion" };

GST_START_TEST (test_more_frames_held_back_behind_a_queue)
{
  FewBuffers *const few = few_buffers_new (holding_elements[__i__]);

  for (guint depth = 0; depth <= 3; depth++) {
    g_object_set (few->held, "async-depth", depth, NULL);
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
  for (guint i = 0; i < 1000 && !g_atomic_int_get (&few->blocked); i++)
    g_usleep (10000);
  fail_unless (g_atomic_int_get (&few->blocked));
  gst_object_unref (fed);
}

/* By itself, while upstream stands at a blocked pad and keeps its buffers. */
static void
few_buffers_stop (FewBuffers * few)
{
  few_buffers_block (few, few->held);
  gst_element_set_state (few->held, GST_STATE_READY);
}

static void
few_buffers_stop_with_queue (FewBuffers * few)
{
  few_buffers_block (few, few->queue);
  gst_element_set_state (few->queue, GST_STATE_READY);
  gst_element_set_state (few->held, GST_STATE_READY);
}

static void
few_buffers_start (FewBuffers * few)
{
  fail_unless (gst_element_sync_state_with_parent (few->held));
  fail_unless (gst_element_sync_state_with_parent (few->queue));
  gst_pad_remove_probe (few->blocked_pad, few->block);
  gst_clear_object (&few->blocked_pad);
}

static const struct
{
  const gchar *name, *property;
  guint not_held;               /* of the frames that the property says */
} holding_settings[] = { {"ccllabel", "async-depth", 0}, {"cclmotion", "async-depth", 0}, {"ccllabel", "volume", 1} };

static void
hold_more_frames_back_after_starts (guint setting, void (*stop) (FewBuffers * few))
{
  FewBuffers *const few = few_buffers_new (holding_settings[setting].name);

  few_buffers_expect_frames (few);
  for (guint value = 1; value <= 3; value++) {
    stop (few);
    g_object_set (few->held, holding_settings[setting].property, value, NULL);
    few_buffers_start (few);
    few_buffers_expect_frames (few);
    few_buffers_expect_latency (few, value - holding_settings[setting].not_held);
    few_buffers_expect_frames (few);
  }
  few_buffers_free (few);
}

GST_START_TEST (test_more_frames_held_back_after_a_start)
{
  hold_more_frames_back_after_starts (__i__, few_buffers_stop);
}

GST_END_TEST;

/* The pad that feeds the element is stopped then, but not what has the buffers. */
GST_START_TEST (test_more_frames_held_back_after_a_start_with_the_queue)
{
  hold_more_frames_back_after_starts (__i__, few_buffers_stop_with_queue);
}

GST_END_TEST;

/* What upstream has asked for counts for an element that was linked after its start, too. */
GST_START_TEST (test_more_frames_held_back_after_a_late_link)
{
  FewBuffers *const few = few_buffers_new (holding_elements[__i__]);
  GstPad *const fed = gst_pad_get_peer (few->upstream);

  few_buffers_expect_frames (few);
  few_buffers_stop (few);
  fail_unless (gst_pad_unlink (few->upstream, fed));
  fail_unless (gst_element_sync_state_with_parent (few->held));
  fail_unless_equals_int (gst_pad_link (few->upstream, fed), GST_PAD_LINK_OK);
  few_buffers_start (few);
  few_buffers_expect_frames (few);
  few_buffers_stop (few);
  g_object_set (few->held, "async-depth", 3, NULL);
  few_buffers_start (few);
  few_buffers_expect_frames (few);
  few_buffers_expect_latency (few, 3);
  gst_object_unref (fed);
  few_buffers_free (few);
}

GST_END_TEST;

/* Upstream that was stopped as well will ask for buffers: the latency is right before there is a frame. */
GST_START_TEST (test_latency_after_a_start_of_all)
{
  FewBuffers *const few = few_buffers_new (holding_settings[__i__].name);

  few_buffers_expect_frames (few);
  gst_element_set_state (few->pipeline, GST_STATE_READY);
  g_object_set (few->held, holding_settings[__i__].property, 3, NULL);
  g_atomic_int_set (&few->count, 0);
  gst_element_set_state (few->pipeline, GST_STATE_PAUSED);
  few_buffers_expect_latency (few, 3 - holding_settings[__i__].not_held);
  fail_unless_equals_int (g_atomic_int_get (&few->count), 0);
  gst_element_set_state (few->pipeline, GST_STATE_PLAYING);
  few_buffers_expect_frames (few);
  few_buffers_expect_latency (few, 3 - holding_settings[__i__].not_held);
  few_buffers_free (few);
}

GST_END_TEST;

static void
few_buffers_expect_error (FewBuffers * few)
{
  GstBus *const bus = gst_element_get_bus (few->pipeline);
  GstMessage *const message = gst_bus_pop_filtered (bus, GST_MESSAGE_ERROR);

  fail_unless (message != NULL);
  fail_unless (GST_MESSAGE_SRC (message) == GST_OBJECT (few->held));
  gst_message_unref (message);
  gst_object_unref (bus);
}

/* Settings that do not go together are an error at any start, for buffers or not. */
static const struct
{
  gboolean alone;
  guint volume;                 /* before: without, or with some */
} contradictions[] = { {FALSE, 0}, {TRUE, 0}, {FALSE, 2}, {TRUE, 2} };

GST_START_TEST (test_contradiction_at_a_start)
{
  FewBuffers *const few = few_buffers_new ("ccllabel");

  g_object_set (few->held, "volume", contradictions[__i__].volume, NULL);
  few_buffers_expect_frames (few);
  if (contradictions[__i__].alone)
    few_buffers_stop (few);
  else
    gst_element_set_state (few->pipeline, GST_STATE_READY);
  g_object_set (few->held, "volume", 4, NULL);
  gst_util_set_object_arg (G_OBJECT (few->held), "algorithm", "reference");     /* which is of the CPU alone */
  gst_util_set_object_arg (G_OBJECT (few->held), "backend", "cuda");
  if (contradictions[__i__].alone)
    fail_if (gst_element_sync_state_with_parent (few->held));
  else
    fail_unless_equals_int (gst_element_set_state (few->pipeline, GST_STATE_PLAYING), GST_STATE_CHANGE_FAILURE);
  few_buffers_expect_error (few);

  gst_util_set_object_arg (G_OBJECT (few->held), "backend", "cpu");
  if (contradictions[__i__].alone)
    few_buffers_start (few);
  else
    gst_element_set_state (few->pipeline, GST_STATE_PLAYING);
  few_buffers_expect_frames (few);
  few_buffers_expect_latency (few, 3);
  few_buffers_free (few);
}

GST_END_TEST;

static Suite *
chain_suite (void)
{
  Suite *const suite = suite_create ("chain");
  TCase *const tests = tcase_create ("chain");

  suite_add_tcase (suite, tests);
  tcase_set_timeout (tests, 300);
  tcase_add_test (tests, test_soak);
  tcase_add_test (tests, test_stats);
  tcase_add_test (tests, test_latency_of_frames_in_flight);
  tcase_add_test (tests, test_another_thread);
  tcase_add_loop_test (tests, test_more_frames_held_back_behind_a_queue, 0, G_N_ELEMENTS (holding_elements));
  tcase_add_loop_test (tests, test_more_frames_held_back_after_a_start, 0, G_N_ELEMENTS (holding_settings));
  tcase_add_loop_test (tests, test_more_frames_held_back_after_a_start_with_the_queue, 0,
      G_N_ELEMENTS (holding_settings));
  tcase_add_loop_test (tests, test_more_frames_held_back_after_a_late_link, 0, G_N_ELEMENTS (holding_elements));
  tcase_add_loop_test (tests, test_latency_after_a_start_of_all, 0, G_N_ELEMENTS (holding_settings));
  tcase_add_loop_test (tests, test_contradiction_at_a_start, 0, G_N_ELEMENTS (contradictions));
  return suite;
}

int
main (int argc, char **argv)
{
  if (memory_is_ours ())
    g_setenv ("GST_TRACERS", "leaks", TRUE);
  gst_check_init (&argc, &argv);
  return gst_check_run_suite (chain_suite (), "chain", __FILE__);
}
