/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* The whole chain over many frames: a scene in which things come, cross, hide and go, and all that streams do to
 * elements in the meantime. Nothing may grow, no frame may be lost, no identity may come back. */
#include "chain.h"

#include <math.h>

/* Pictures leave through the only pad without a peer; the lines of JSON end in fakesink. */
#define CHAIN "cclmotion name=cclmotion method=mog2 warmup-frames=10 ! cclmetaremap name=cclmetaremap ! " \
    "ccllabel name=ccllabel mask-source=mask-meta min-area=12 attach=blob+roi threads=2 ! " \
    "ccltrack name=ccltrack emit=tentative+merged+predicted+lost ! cclzone name=cclzone ! tee name=both " \
    "! queue name=lines max-size-buffers=4 ! cclmeta2json name=cclmeta2json ! fakesink sync=false async=false " \
    "both. ! queue name=pictures max-size-buffers=4 "

const gchar *const elements[N_ELEMENTS] = {
  "cclmotion", "cclmetaremap", "ccllabel", "ccltrack", "cclzone", "cclmeta2json",
#ifdef HAVE_OVERLAY
  "ccloverlay",
#endif
};

const Picture pictures[] = {
  {112, 84, GST_VIDEO_FORMAT_I420},
  {96, 96, GST_VIDEO_FORMAT_NV12},
  {133, 75, GST_VIDEO_FORMAT_GRAY8},
};

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

GstElement *
element (Stream * stream, const gchar * name)
{
  GstElement *const found = gst_bin_get_by_name (GST_BIN (stream->harness->element), name);

  fail_unless (found != NULL, "no %s", name);
  gst_object_unref (found);     /* the bin keeps it */
  return found;
}

void
set_zones (Stream * stream, guint version)
{
  gchar *const zones = g_strdup_printf ("{\"units\":\"relative\",\"zones\":["
      "{\"name\":\"left-%u\",\"polygon\":[[0,0],[0.5,0],[0.5,1],[0,1]],\"dwell\":1},"
      "{\"name\":\"gate\",\"line\":[[0.5,0],[0.5,1]]}]}", version);

  g_object_set (element (stream, "cclzone"), "zones", zones, NULL);
  g_free (zones);
}

void
set_picture (Stream * stream, const Picture * picture)
{
  GstCaps *caps;

  gst_video_info_set_format (&stream->info, picture->format, picture->width, picture->height);
  GST_VIDEO_INFO_FPS_N (&stream->info) = 25;
  caps = gst_video_info_to_caps (&stream->info);
  gst_harness_set_src_caps (stream->harness, caps);
  stream->picture = picture;
}

void
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

void
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

void
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

/* No warnings, unless another thread changes the settings. */
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

void
pull_frames (Stream * stream, guint left)
{
  while (g_queue_get_length (&stream->expected) > left) {
    GstBuffer *const buffer = gst_harness_pull (stream->harness);

    fail_unless (buffer != NULL, "frame %u does not come out", stream->frames);
    check_frame (stream, buffer);
  }
  read_messages (stream);
}

void
push_frame (Stream * stream, GstClockTime pts)
{
  GstBuffer *const buffer = draw_scene (stream->n++, stream->picture, &stream->info);

  GST_BUFFER_PTS (buffer) = pts;
  GST_BUFFER_DURATION (buffer) = FRAME;
  g_queue_push_tail (&stream->expected, g_memdup2 (&pts, sizeof pts));
  fail_unless_equals_int (gst_harness_push (stream->harness, buffer), GST_FLOW_OK);
}

void
next_frame (Stream * stream)
{
  push_frame (stream, stream->time);
  stream->time += FRAME;
  pull_frames (stream, stream->depth);
}

gboolean
memory_is_ours (void)
{
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || !defined(__GLIBC__)
  return FALSE;
#else
  return !g_getenv ("CK_FORK"); /* tests/meson.build sets it for valgrind */
#endif
}

void
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
  for (guint i = 0; waiting && i < 50000; i++) {
    g_object_get (lines, "current-level-buffers", &waiting, NULL);
    g_usleep (2000);
  }
  fail_unless_equals_int (waiting, 0);
  g_object_get (element (stream, "pictures"), "current-level-buffers", &waiting, NULL);
  fail_unless_equals_int (waiting, 0);
  fail_unless_equals_int (gst_harness_buffers_in_queue (stream->harness), 0);
}

static Suite *
chain_suite (void)
{
  Suite *suite = suite_create ("chain");

  chain_add_stream_tests (suite);
  chain_add_threads_tests (suite);
  chain_add_pools_tests (suite);
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
