/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "cameras.h"

#include <sys/resource.h>

#include "program.h"

#define CAMERAS_PER_THREAD 128
#define CAMERAS_PER_GROUP 64

static GstPadProbeReturn
take_time (GstPad * pad, GstPadProbeInfo * info, gpointer user_data)
{
  Camera *camera = user_data;
  const GstClockTime due = GST_BUFFER_PTS (GST_PAD_PROBE_INFO_BUFFER (info));

  (void) pad;
  if (!g_atomic_int_get (&camera->all->started)) {
    if (g_atomic_int_compare_and_exchange (&camera->has_begun, 0, 1))
      g_atomic_int_inc (&camera->all->n_begun);
  } else if ((gint64) due >= WARM_UP) {
    const gint64 left = now () - camera->all->start;
    const gdouble latency = (left - (gint64) due) / 1e6;

    g_array_append_val (camera->latencies, latency);
    camera->n_in_time += left <= camera->all->length;
  }
  return GST_PAD_PROBE_OK;
}

static void
open_camera (GstBin * group, Camera * camera, const gchar * properties, GstCaps * caps)
{
  gchar *text = g_strdup_printf ("appsrc name=source is-live=true format=time max-buffers=2 max-bytes=0 max-time=0 "
      "leaky-type=downstream ! ccllabel name=label %s ! fakesink sync=false async=false", properties ? properties : "");
  GError *error = NULL;
  GstElement *bin = gst_parse_bin_from_description (text, FALSE, &error);
  GstPad *pad;

  g_free (text);
  if (error)
    fail (error->message, NULL);
  gst_bin_add (group, bin);
  camera->source = gst_bin_get_by_name (GST_BIN (bin), "source");
  camera->label = gst_bin_get_by_name (GST_BIN (bin), "label");
  camera->latencies = g_array_new (FALSE, FALSE, sizeof (gdouble));
  g_object_set (camera->source, "caps", caps, NULL);
  pad = gst_element_get_static_pad (camera->label, "src");
  gst_pad_add_probe (pad, GST_PAD_PROBE_TYPE_BUFFER, take_time, camera, NULL);
  gst_object_unref (pad);
}

/* Nothing reads the other messages, such as those of every change of state. A thousand threads that post them at the same time
 * would wait for each other at the bus: on few processors for minutes. */
static GstBusSyncReply
keep_message (GstBus * bus, GstMessage * message, gpointer user_data)
{
  (void) bus;
  (void) user_data;
  if (GST_MESSAGE_TYPE (message) == GST_MESSAGE_ERROR || GST_MESSAGE_TYPE (message) == GST_MESSAGE_EOS)
    return GST_BUS_PASS;
  gst_message_unref (message);
  return GST_BUS_DROP;
}

/* In groups: for each message and each change of state of an element, GStreamer goes through all other elements of its bin. */
static GstElement *
new_pipeline (Cameras * cameras, GstCaps * caps)
{
  GstElement *pipeline = gst_pipeline_new (NULL), *group = NULL;
  GstBus *bus = gst_element_get_bus (pipeline);

  gst_bus_set_sync_handler (bus, keep_message, NULL, NULL);
  gst_object_unref (bus);
  for (guint i = 0; i < cameras->options->n_cameras; i++) {
    if (i % CAMERAS_PER_GROUP == 0) {
      group = gst_bin_new (NULL);
      gst_bin_add (GST_BIN (pipeline), group);
    }
    cameras->cameras[i].all = cameras;
    open_camera (GST_BIN (group), &cameras->cameras[i], cameras->options->label, caps);
  }
  return pipeline;
}

/* A frame for every camera, all at once, and more for those whose first one has not left: with async-depth a frame leaves only
 * when others follow it. */
static void
push_first (Cameras * cameras)
{
  const guint n = cameras->options->n_cameras;
  const gint64 begin = now (), end = begin + 60 * (gint64) GST_SECOND;

  for (guint round = 0; (guint) g_atomic_int_get (&cameras->n_begun) < n; round++) {
    for (guint i = 0; round % 50 == 0 && i < n; i++) {
      GstBuffer *buffer;

      if (g_atomic_int_get (&cameras->cameras[i].has_begun))
        continue;
      buffer = gst_buffer_copy (g_ptr_array_index (cameras->masks, i % cameras->masks->len));
      GST_BUFFER_PTS (buffer) = 0;
      push_buffer (cameras->cameras[i].source, buffer);
    }
    check_bus (cameras->pipeline);
    if (now () > end)
      fail ("not every camera starts within a minute", NULL);
    g_usleep (1000);
  }
  g_print ("start      %.0f ms until all had had their first frame\n", (now () - begin) / 1e6);
  g_atomic_int_set (&cameras->started, TRUE);
}

Cameras *
open_cameras (const Options * options, GPtrArray * masks, GstCaps * caps)
{
  Cameras *const cameras = g_new0 (Cameras, 1);

  cameras->options = options;
  cameras->masks = masks;
  cameras->cameras = g_new0 (Camera, options->n_cameras);
  cameras->pipeline = new_pipeline (cameras, caps);
  if (gst_element_set_state (cameras->pipeline, GST_STATE_PLAYING) == GST_STATE_CHANGE_FAILURE) {
    check_bus (cameras->pipeline);
    fail ("the pipeline does not start", NULL);
  }
  push_first (cameras);
  return cameras;
}

static gdouble
get_processor_seconds (void)
{
  struct rusage usage;

  getrusage (RUSAGE_SELF, &usage);
  return usage.ru_utime.tv_sec + usage.ru_stime.tv_sec + (usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
}

/* One thread's share of the cameras: every n_pushers-th. */
typedef struct
{
  GThread *thread;
  Cameras *cameras;
  guint first, n_pushers;
  guint64 n_due;                /* after the warming up */
} Pusher;

/* One that cannot be pushed for the time of two frames is dropped, as by a camera. */
static void
push_frame (Pusher * pusher, guint camera, guint frame)
{
  const Cameras *const cameras = pusher->cameras;
  const gdouble rate = cameras->options->rate;
  const gdouble turn = cameras->options->together ? 0 : camera / (gdouble) cameras->options->n_cameras;
  const gint64 due = (gint64) ((frame + turn) * GST_SECOND / rate);
  GstBuffer *buffer;

  sleep_until (cameras->start + due);
  pusher->n_due += due >= WARM_UP;
  if (now () - cameras->start - due > 2 * GST_SECOND / rate)
    return;
  buffer = gst_buffer_copy (g_ptr_array_index (cameras->masks, (frame + camera) % cameras->masks->len));
  GST_BUFFER_PTS (buffer) = due;
  GST_BUFFER_DURATION (buffer) = GST_SECOND / rate;
  push_buffer (cameras->cameras[camera].source, buffer);
}

/* Pushes every frame when it is due. */
static gpointer
push_frames (gpointer data)
{
  Pusher *const pusher = data;
  const Options *const options = pusher->cameras->options;
  const guint n_frames = (guint) (options->rate * (options->seconds + WARM_UP / (gdouble) GST_SECOND));

  for (guint frame = 0; frame < n_frames; frame++)
    for (guint i = pusher->first; i < options->n_cameras; i += pusher->n_pushers)
      push_frame (pusher, i, frame);
  return NULL;
}

static void
drain (Cameras * cameras)
{
  GstBus *bus = gst_element_get_bus (cameras->pipeline);
  GstMessage *message;
  GstFlowReturn flow;

  for (guint i = 0; i < cameras->options->n_cameras; i++)
    g_signal_emit_by_name (cameras->cameras[i].source, "end-of-stream", &flow);
  message = gst_bus_timed_pop_filtered (bus, 10 * GST_SECOND, GST_MESSAGE_EOS | GST_MESSAGE_ERROR);
  gst_object_unref (bus);
  if (!message)
    g_printerr ("many-cameras: not all cameras came to an end\n");
  else if (GST_MESSAGE_TYPE (message) == GST_MESSAGE_ERROR)
    fail_with (message);
  else
    gst_message_unref (message);
}

void
run_cameras (Cameras * cameras)
{
  const Options *const options = cameras->options;
  const guint n_pushers = options->n_cameras / CAMERAS_PER_THREAD + 1;
  Pusher *const pushers = g_new0 (Pusher, n_pushers);

  cameras->start = now () + 100 * 1000 * 1000;  /* the threads that push come up meanwhile */
  cameras->length = WARM_UP + (gint64) ((options->seconds + 1 / options->rate) * GST_SECOND);
  for (guint i = 0; i < n_pushers; i++) {
    pushers[i] = (Pusher) {
    .cameras = cameras,.first = i,.n_pushers = n_pushers};
    pushers[i].thread = g_thread_new ("cameras", push_frames, &pushers[i]);
  }
  sleep_until (cameras->start + WARM_UP);
  cameras->processor_seconds = -get_processor_seconds ();
  for (guint i = 0; i < n_pushers; i++) {
    g_thread_join (pushers[i].thread);
    cameras->n_due += pushers[i].n_due;
  }
  cameras->processor_seconds += get_processor_seconds ();
  check_bus (cameras->pipeline);
  g_free (pushers);
  if (!cameras->n_due)
    fail ("no frame was due in that time", NULL);
  drain (cameras);
}

void
close_cameras (Cameras * cameras)
{
  for (guint i = 0; i < cameras->options->n_cameras; i++) {
    gst_object_unref (cameras->cameras[i].source);
    gst_object_unref (cameras->cameras[i].label);
    g_array_free (cameras->cameras[i].latencies, TRUE);
  }
  gst_object_unref (cameras->pipeline);
  g_free (cameras->cameras);
  g_free (cameras);
}
