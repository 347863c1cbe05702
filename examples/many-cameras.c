/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* How many live cameras does this machine label? Runs so many in one process and says what became of their frames.
 *
 *     meson devenv -C build examples/many-cameras 8 10            # 8 cameras for 10 seconds
 *     meson devenv -C build examples/many-cameras --help
 *
 * Each camera is `appsrc ! ccllabel ! fakesink`, with a streaming thread of its own, in one pipeline, so that all share
 * the device. A frame is due at its time whatever the machine is doing, and latency counts from then until it leaves
 * ccllabel with its blobs. A camera keeps two frames waiting; if a third comes the oldest is dropped. The masks are
 * drawn or read before the clock starts; the cameras take turns through them without copying. Nor does it start before every
 * camera has had its first frame, for which ccllabel takes memory: of a thousand that start together that is a second's work.
 * With async-depth=N a frame leaves ccllabel N frames later, so that no camera is sustained by the measure below.
 *
 * Exit status: 0 when the cameras were sustained (at most one frame in a thousand dropped, 99 of 100 labelled before
 * their next one was due), 1 when they were not, 2 when nothing could be measured.
 */

#include <gst/gst.h>
#include <gst/video/video.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#define N_MASKS 16
#define N_DISCS 40
#define WARM_UP GST_SECOND      /* not counted */
#define CAMERAS_PER_THREAD 128
#define CAMERAS_PER_GROUP 64
#define CAMERAS_PER_MASK 60     /* GStreamer counts to 255 how many read a memory at once, and a camera may read four */

typedef struct
{
  GstElement *source, *label;
  gint has_begun;               /* atomic: a frame of it has left ccllabel */
  GArray *latencies;            /* gdouble, milliseconds; its streaming thread's until that has ended, as is the next */
  guint n_in_time;              /* of them, that left before the clock stopped */
} Camera;

static gchar *size = NULL, *memory = NULL, *properties = NULL, *file = NULL;
static gdouble rate = 30;
static gboolean together = FALSE;
static gint64 start;            /* monotonic time, ns */
static gint64 length;           /* of time until the last frames have to have left, ns */
static gint started;            /* atomic: every camera has had its first frame */
static gint n_begun;            /* atomic: that have */

static const GOptionEntry options[] = {
  {"size", 0, 0, G_OPTION_ARG_STRING, &size, "of the masks (1920x1080)", "WIDTHxHEIGHT"},
  {"rate", 0, 0, G_OPTION_ARG_DOUBLE, &rate, "frames per second of each camera (30)", "N"},
  {"memory", 0, 0, G_OPTION_ARG_STRING, &memory, "where the masks are: system (default; packed to bits on their way to "
        "a GPU), pinned (page-locked, as ccllabel offers it upstream; a byte per pixel goes to the GPU) or cuda", "MEMORY"},
  {"label", 0, 0, G_OPTION_ARG_STRING, &properties, "properties of ccllabel: --label='backend=cpu min-area=20'",
        "PROPERTIES"},
  {"mask", 0, 0, G_OPTION_ARG_FILENAME, &file, "a picture or video as masks, light on dark ground; without it discs "
        "that move", "FILE"},
  {"together", 0, 0, G_OPTION_ARG_NONE, &together, "all cameras at the same moments, as with a common trigger; "
        "without it their frames are spread evenly", NULL},
  {NULL}
};

static gint64
now (void)
{
  return g_get_monotonic_time () * 1000;
}

/* Measured once: a time that has passed meanwhile would be a very long one. */
static void
sleep_until (gint64 time)
{
  const gint64 left = time - now ();

  if (left > 0)
    g_usleep (left / 1000 + 1);
}

static void
fail (const gchar * what, const gchar * details)
{
  g_printerr ("many-cameras: %s%s%s\n", what, details ? ": " : "", details ? details : "");
  exit (2);
}

/* ---------------------------------------------------------------- masks */

/* Discs that wander, and specks. */
static void
draw (guint8 * pixels, guint width, guint height, guint stride, guint n)
{
  GRand *rand = g_rand_new_with_seed (1);

  for (guint y = 0; y < height; y++)
    memset (pixels + (gsize) y * stride, 0, width);
  for (guint i = 0; i < N_DISCS; i++) {
    const gint radius = g_rand_int_range (rand, height / 80 + 1, height / 16 + 2);
    const gint x0 = (g_rand_int_range (rand, 0, width) + n * width / 200) % width;
    const gint y0 = (g_rand_int_range (rand, 0, height) + n * (i % 3)) % height;

    for (gint y = MAX (y0 - radius, 0); y < MIN (y0 + radius, (gint) height); y++)
      for (gint x = MAX (x0 - radius, 0); x < MIN (x0 + radius, (gint) width); x++)
        if ((x - x0) * (x - x0) + (y - y0) * (y - y0) < radius * radius)
          pixels[(gsize) y * stride + x] = 255;
  }
  for (guint i = 0; i < width * height / 2000; i++)
    pixels[(gsize) g_rand_int_range (rand, 0, height) * stride + g_rand_int_range (rand, 0, width)] ^= 255;
  g_rand_free (rand);
}

static GstBuffer *
draw_mask (const GstVideoInfo * info, guint n)
{
  GstBuffer *buffer = gst_buffer_new_and_alloc (GST_VIDEO_INFO_SIZE (info));
  GstMapInfo map;

  gst_buffer_map (buffer, &map, GST_MAP_WRITE);
  memset (map.data, 128, map.size);     /* chroma, where there is any */
  draw (map.data, GST_VIDEO_INFO_WIDTH (info), GST_VIDEO_INFO_HEIGHT (info), GST_VIDEO_INFO_PLANE_STRIDE (info, 0), n);
  gst_buffer_unmap (buffer, &map);
  return buffer;
}

static void
push (GstElement * source, GstBuffer * buffer)
{
  GstFlowReturn flow;

  g_signal_emit_by_name (source, "push-buffer", buffer, &flow);
  gst_buffer_unref (buffer);
}

static void
fail_with (GstMessage * message)
{
  GError *error = NULL;
  gchar *details = NULL;

  gst_message_parse_error (message, &error, &details);
  fail (error->message, details);
}

static void
check_bus (GstElement * pipeline)
{
  GstBus *bus = gst_element_get_bus (pipeline);
  GstMessage *message = gst_bus_pop_filtered (bus, GST_MESSAGE_ERROR);

  gst_object_unref (bus);
  if (message)
    fail_with (message);
}

static GstElement *
launch (const gchar * description)
{
  GError *error = NULL;
  GstElement *pipeline = gst_parse_launch (description, &error);

  if (error)
    fail (error->message, NULL);
  return pipeline;
}

/* All masks through one pipeline, which brings them to the right size and memory. Returns their caps. */
static GstCaps *
prepare_masks (GPtrArray * masks, const gchar * caps_text)
{
  GstVideoInfo info;
  GstCaps *caps = gst_caps_from_string (caps_text);
  const gchar *upload = g_str_equal (memory, "cuda") ? "! cudaupload ! video/x-raw(memory:CUDAMemory)" : "";
  gchar *description = file
      ? g_strdup_printf ("filesrc name=file ! decodebin ! videoconvert ! videoscale ! %s %s ! "
      "appsink name=sink sync=false", caps_text, upload)
      : g_strdup_printf ("appsrc name=source caps=\"%s\" format=time %s ! "
      "appsink name=sink sync=false", caps_text, upload);
  GstElement *pipeline = launch (description);
  GstElement *sink = gst_bin_get_by_name (GST_BIN (pipeline), "sink");
  GstCaps *result = NULL;
  GstSample *sample;

  if (file) {
    GstElement *source = gst_bin_get_by_name (GST_BIN (pipeline), "file");
    g_object_set (source, "location", file, NULL);
    gst_object_unref (source);
  }
  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  if (!file) {
    GstElement *source = gst_bin_get_by_name (GST_BIN (pipeline), "source");
    GstFlowReturn flow;

    gst_video_info_from_caps (&info, caps);
    for (guint i = 0; i < N_MASKS; i++)
      push (source, draw_mask (&info, i));
    g_signal_emit_by_name (source, "end-of-stream", &flow);
    gst_object_unref (source);
  }
  for (gboolean end = FALSE; masks->len < N_MASKS && !end;) {
    g_signal_emit_by_name (sink, "try-pull-sample", 100 * GST_MSECOND, &sample);
    check_bus (pipeline);
    if (!sample) {
      g_object_get (sink, "eos", &end, NULL);
      continue;
    }
    gst_caps_replace (&result, gst_sample_get_caps (sample));
    g_ptr_array_add (masks, gst_buffer_ref (gst_sample_get_buffer (sample)));
    gst_sample_unref (sample);
  }
  if (!masks->len)
    fail ("no masks", file);
  gst_element_set_state (pipeline, GST_STATE_NULL);
  gst_object_unref (sink);
  gst_object_unref (pipeline);
  gst_caps_unref (caps);
  g_free (description);
  return result;
}

/* More of the same, for so many cameras. */
static void
copy_masks (GPtrArray * masks, guint n_cameras)
{
  const guint n = masks->len;

  for (guint i = n; i * CAMERAS_PER_MASK < n_cameras; i++)
    g_ptr_array_add (masks, gst_buffer_copy_deep (g_ptr_array_index (masks, i % n)));
}

/* The masks again, in memory from the allocator that ccllabel offers to whoever makes masks. */
static void
pin_masks (GPtrArray * masks, GstCaps * caps)
{
  GstElement *pipeline = launch ("appsrc name=source format=time ! ccllabel name=label backend=cuda ! appsink name=sink");
  GstElement *source = gst_bin_get_by_name (GST_BIN (pipeline), "source");
  GstElement *sink = gst_bin_get_by_name (GST_BIN (pipeline), "sink");
  GstElement *label = gst_bin_get_by_name (GST_BIN (pipeline), "label");
  GstPad *pad = gst_element_get_static_pad (label, "sink");
  GstQuery *query = gst_query_new_allocation (caps, TRUE);
  GstAllocator *allocator = NULL;
  GstSample *sample = NULL;

  g_object_set (source, "caps", caps, NULL);
  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  push (source, gst_buffer_ref (g_ptr_array_index (masks, 0)));
  for (guint i = 0; i < 200 && !sample; i++) {
    g_signal_emit_by_name (sink, "try-pull-sample", 100 * GST_MSECOND, &sample);
    check_bus (pipeline);
  }
  if (gst_pad_query (pad, query) && gst_query_get_n_allocation_params (query))
    gst_query_parse_nth_allocation_param (query, 0, &allocator, NULL);
  if (!sample || !allocator)
    fail ("ccllabel offers no memory", NULL);
  gst_sample_unref (sample);

  for (guint i = 0; i < masks->len; i++) {
    GstBuffer *mask = g_ptr_array_index (masks, i), *pinned;
    GstMapInfo map;

    gst_buffer_map (mask, &map, GST_MAP_READ);
    pinned = gst_buffer_new_allocate (allocator, map.size, NULL);
    gst_buffer_fill (pinned, 0, map.data, map.size);
    gst_buffer_unmap (mask, &map);
    gst_buffer_unref (mask);
    g_ptr_array_index (masks, i) = pinned;
  }
  gst_element_set_state (pipeline, GST_STATE_NULL);
  gst_object_unref (allocator);
  gst_query_unref (query);
  gst_object_unref (pad);
  gst_object_unref (label);
  gst_object_unref (sink);
  gst_object_unref (source);
  gst_object_unref (pipeline);
}

/* ---------------------------------------------------------------- cameras */

static GstPadProbeReturn
take_time (GstPad * pad, GstPadProbeInfo * info, gpointer user_data)
{
  Camera *camera = user_data;
  const GstClockTime due = GST_BUFFER_PTS (GST_PAD_PROBE_INFO_BUFFER (info));

  (void) pad;
  if (!g_atomic_int_get (&started)) {
    if (g_atomic_int_compare_and_exchange (&camera->has_begun, 0, 1))
      g_atomic_int_inc (&n_begun);
  } else if (due >= WARM_UP) {
    const gint64 left = now () - start;
    const gdouble latency = (left - (gint64) due) / 1e6;

    g_array_append_val (camera->latencies, latency);
    camera->n_in_time += left <= length;
  }
  return GST_PAD_PROBE_OK;
}

static void
open_camera (GstBin * group, Camera * camera, GstCaps * caps)
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

/* What elements say besides, of every change of state, has no reader. In the bus a thousand threads that say it at the same
 * time would wait for each other in line, and spin: on few processors for minutes. */
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

/* In groups: for each message of an element, and for each change of its state, GStreamer looks through all that its bin
 * has of other elements. */
static GstElement *
open_cameras (Camera * cameras, guint n, GstCaps * caps)
{
  GstElement *pipeline = gst_pipeline_new (NULL), *group = NULL;
  GstBus *bus = gst_element_get_bus (pipeline);

  gst_bus_set_sync_handler (bus, keep_message, NULL, NULL);
  gst_object_unref (bus);
  for (guint i = 0; i < n; i++) {
    if (i % CAMERAS_PER_GROUP == 0) {
      group = gst_bin_new (NULL);
      gst_bin_add (GST_BIN (pipeline), group);
    }
    open_camera (GST_BIN (group), &cameras[i], caps);
  }
  return pipeline;
}

static gdouble
processor_seconds (void)
{
  struct rusage usage;

  getrusage (RUSAGE_SELF, &usage);
  return usage.ru_utime.tv_sec + usage.ru_stime.tv_sec + (usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
}

/* A frame for every camera, all at once, and more for those of which none comes: with async-depth one only leaves when others
 * follow it. Returns when each has begun, and says how long that took. */
static void
push_first (GstElement * pipeline, Camera * cameras, guint n, GPtrArray * masks)
{
  const gint64 begin = now (), end = begin + 60 * (gint64) GST_SECOND;

  for (guint round = 0; (guint) g_atomic_int_get (&n_begun) < n; round++) {
    for (guint i = 0; round % 50 == 0 && i < n; i++) {
      GstBuffer *buffer;

      if (g_atomic_int_get (&cameras[i].has_begun))
        continue;
      buffer = gst_buffer_copy (g_ptr_array_index (masks, i % masks->len));
      GST_BUFFER_PTS (buffer) = 0;
      push (cameras[i].source, buffer);
    }
    check_bus (pipeline);
    if (now () > end)
      fail ("not every camera starts within a minute", NULL);
    g_usleep (1000);
  }
  g_print ("start      %.0f ms until all had had their first frame\n", (now () - begin) / 1e6);
  g_atomic_int_set (&started, TRUE);
}

/* One thread's share of the cameras: every n_pushers-th. */
typedef struct
{
  GThread *thread;
  Camera *cameras;
  GPtrArray *masks;
  guint first, n_pushers, n_cameras, n_frames;
  guint64 n_due;                /* after the warming up */
} Pusher;

/* Pushes every frame when it is due; one that cannot be pushed for the time of two frames is dropped, as by a camera. */
static gpointer
push_frames (gpointer data)
{
  Pusher *pusher = data;

  for (guint frame = 0; frame < pusher->n_frames; frame++)
    for (guint i = pusher->first; i < pusher->n_cameras; i += pusher->n_pushers) {
      const gdouble turn = together ? 0 : i / (gdouble) pusher->n_cameras;
      const gint64 due = (gint64) ((frame + turn) * GST_SECOND / rate);
      GstBuffer *buffer;

      sleep_until (start + due);
      pusher->n_due += due >= (gint64) WARM_UP;
      if (now () - start - due > 2 * GST_SECOND / rate)
        continue;
      buffer = gst_buffer_copy (g_ptr_array_index (pusher->masks, (frame + i) % pusher->masks->len));
      GST_BUFFER_PTS (buffer) = due;
      GST_BUFFER_DURATION (buffer) = GST_SECOND / rate;
      push (pusher->cameras[i].source, buffer);
    }
  return NULL;
}

/* Returns how many frames were due after the warming up, and processor seconds for them. */
static guint64
run (GstElement * pipeline, Camera * cameras, guint n, GPtrArray * masks, guint seconds, gdouble * processor)
{
  const guint n_pushers = n / CAMERAS_PER_THREAD + 1;
  Pusher *pushers = g_new0 (Pusher, n_pushers);
  guint64 n_due = 0;

  for (guint i = 0; i < n_pushers; i++) {
    pushers[i] = (Pusher) {
    .cameras = cameras,.masks = masks,.first = i,.n_pushers = n_pushers,.n_cameras = n,.n_frames =
          (guint) (rate * (seconds + WARM_UP / (gdouble) GST_SECOND))};
    pushers[i].thread = g_thread_new ("cameras", push_frames, &pushers[i]);
  }
  sleep_until (start + (gint64) WARM_UP);
  *processor = -processor_seconds ();
  for (guint i = 0; i < n_pushers; i++) {
    g_thread_join (pushers[i].thread);
    n_due += pushers[i].n_due;
  }
  *processor += processor_seconds ();
  check_bus (pipeline);
  g_free (pushers);
  return n_due;
}

static void
drain (GstElement * pipeline, Camera * cameras, guint n)
{
  GstBus *bus = gst_element_get_bus (pipeline);
  GstMessage *message;
  GstFlowReturn flow;

  for (guint i = 0; i < n; i++)
    g_signal_emit_by_name (cameras[i].source, "end-of-stream", &flow);
  message = gst_bus_timed_pop_filtered (bus, 10 * GST_SECOND, GST_MESSAGE_EOS | GST_MESSAGE_ERROR);
  gst_object_unref (bus);
  if (!message)
    g_printerr ("many-cameras: not all cameras came to an end\n");
  else if (GST_MESSAGE_TYPE (message) == GST_MESSAGE_ERROR)
    fail_with (message);
  else
    gst_message_unref (message);
}

/* ---------------------------------------------------------------- report */

static gint
compare (gconstpointer a, gconstpointer b)
{
  const gdouble x = *(const gdouble *) a, y = *(const gdouble *) b;

  return x < y ? -1 : x > y;
}

static gdouble
percentile (const GArray * sorted, gdouble percent)
{
  if (!sorted->len)
    return -1;
  return g_array_index (sorted, gdouble, MIN ((guint) (sorted->len * percent / 100), sorted->len - 1));
}

static gdouble
number (const GstStructure * stats, const gchar * field)
{
  gdouble value = -1;
  guint count;

  if (!gst_structure_get_double (stats, field, &value) && gst_structure_get_uint (stats, field, &count))
    value = count;
  return value;
}

/* What the cameras' own statistics say, on average. */
static gchar *
describe_labels (const Camera * cameras, guint n)
{
  gdouble batch = 0, largest = 0, wait = 0, pack = 0, host = 0;
  const gchar *backend = "none", *algorithm = "none", *path = "none";
  GstStructure *stats = NULL;
  GString *text;

  for (guint i = 0; i < n; i++) {
    if (stats)
      gst_structure_free (stats);
    g_object_get (cameras[i].label, "stats", &stats, NULL);
    batch += number (stats, "batch-avg") / n;
    wait += number (stats, "wait-us-avg") / n;
    pack += number (stats, "pack-us-avg") / n;
    host += number (stats, "host-us-avg") / n;
    largest = MAX (largest, number (stats, "batch-max"));
  }
  backend = gst_structure_get_string (stats, "backend");
  algorithm = gst_structure_get_string (stats, "algorithm");
  path = gst_structure_get_string (stats, "path");
  text = g_string_new (NULL);
  g_string_append_printf (text, "labelled   by %s on %s, masks by way of %s, %.0f us a frame in ccllabel\n", algorithm,
      backend, path, host);
  if (g_strcmp0 (backend, "cuda") == 0) {
    g_string_append_printf (text, "batches    of %.1f frames, the largest of %.0f; waited for %.0f us", batch, largest, wait);
    if (pack > 0)
      g_string_append_printf (text, "; masks packed to bits in %.0f us", pack);
    g_string_append_c (text, '\n');
  }
  gst_structure_free (stats);
  return g_string_free (text, FALSE);
}

static gboolean
report (const Camera * cameras, guint n, guint64 n_due, guint seconds, gdouble processor)
{
  GArray *all = g_array_new (FALSE, FALSE, sizeof (gdouble));
  const gdouble period = 1000 / rate;
  guint64 n_late = 0, n_in_time = 0, n_dropped;
  gboolean sustained;

  for (guint i = 0; i < n; i++) {
    g_array_append_vals (all, cameras[i].latencies->data, cameras[i].latencies->len);
    n_in_time += cameras[i].n_in_time;
  }
  g_array_sort (all, compare);
  for (guint i = 0; i < all->len; i++)
    n_late += g_array_index (all, gdouble, i) > period;
  n_dropped = n_due - MIN (n_due, all->len);
  sustained = n_dropped * 1000 <= n_due && percentile (all, 99) <= period;

  g_print ("cameras    %u of %s at %g frames a second for %u s, masks in %s memory: %s\n", n, size, rate, seconds,
      memory, sustained ? "sustained" : "too many");
  g_print ("frames     %" G_GUINT64_FORMAT " due, %u labelled: %.1f a second; %" G_GUINT64_FORMAT " dropped (%.2f %%), "
      "%" G_GUINT64_FORMAT " later than %.1f ms\n", n_due, all->len, n_in_time / (gdouble) seconds, n_dropped,
      n_due ? 100.0 * n_dropped / n_due : 0, n_late, period);
  g_print ("latency    ms: 50 %% %.2f, 90 %% %.2f, 99 %% %.2f, 99.9 %% %.2f, most %.2f\n", percentile (all, 50),
      percentile (all, 90), percentile (all, 99), percentile (all, 99.9), percentile (all, 100));
  g_print ("processor  %.2f of %u, this program's own part included\n", processor / seconds, g_get_num_processors ());
  g_array_free (all, TRUE);
  return sustained;
}

static guint
whole_number (const gchar * text)
{
  guint64 value;

  if (!g_ascii_string_to_unsigned (text, 10, 1, 100000, &value, NULL))
    fail ("a number from 1 on is needed, not", text);
  return (guint) value;
}

int
main (int argc, char **argv)
{
  GOptionContext *context = g_option_context_new ("CAMERAS [SECONDS]");
  GPtrArray *masks = g_ptr_array_new_with_free_func ((GDestroyNotify) gst_buffer_unref);
  GError *error = NULL;
  guint n, seconds, width, height;

  g_option_context_set_summary (context, "How many live cameras does this machine label?");
  g_option_context_add_main_entries (context, options, NULL);
  g_option_context_add_group (context, gst_init_get_option_group ());
  if (!g_option_context_parse (context, &argc, &argv, &error))
    fail (error->message, NULL);
  g_option_context_free (context);
  if (argc < 2 || argc > 3)
    fail ("how many cameras? many-cameras CAMERAS [SECONDS]; --help", NULL);
  n = whole_number (argv[1]);
  seconds = argc == 3 ? whole_number (argv[2]) : 10;
  memory = memory ? memory : g_strdup ("system");
  size = size ? size : g_strdup ("1920x1080");
  if (sscanf (size, "%ux%u", &width, &height) != 2 || !width || !height || rate <= 0)
    fail ("no size of a mask, or no rate", size);
  if (!g_strv_contains ((const gchar * const[]) { "system", "pinned", "cuda", NULL }, memory))
    fail ("no such memory", memory);

  /* GStreamer's elements know no gray pictures in CUDA memory. */
  gchar *caps_text = g_strdup_printf ("video/x-raw,format=%s,width=%u,height=%u,framerate=0/1",
      g_str_equal (memory, "cuda") ? "NV12" : "GRAY8", width, height);
  GstCaps *caps = prepare_masks (masks, caps_text);

  copy_masks (masks, n);
  if (g_str_equal (memory, "pinned"))
    pin_masks (masks, caps);
  Camera *cameras = g_new0 (Camera, n);
  GstElement *pipeline = open_cameras (cameras, n, caps);
  gdouble processor;

  if (gst_element_set_state (pipeline, GST_STATE_PLAYING) == GST_STATE_CHANGE_FAILURE) {
    check_bus (pipeline);
    fail ("the pipeline does not start", NULL);
  }
  push_first (pipeline, cameras, n, masks);
  start = now () + 100 * 1000 * 1000;   /* the threads that push come up meanwhile */
  length = WARM_UP + (gint64) ((seconds + 1 / rate) * GST_SECOND);
  const guint64 n_due = run (pipeline, cameras, n, masks, seconds, &processor);
  if (!n_due)
    fail ("no frame was due in that time", NULL);
  drain (pipeline, cameras, n);
  gchar *labels_text = describe_labels (cameras, n);
  gst_element_set_state (pipeline, GST_STATE_NULL);     /* nobody adds to what is counted any more */
  const gboolean sustained = report (cameras, n, n_due, seconds, processor);
  g_print ("%s", labels_text);
  g_free (labels_text);

  for (guint i = 0; i < n; i++) {
    gst_object_unref (cameras[i].source);
    gst_object_unref (cameras[i].label);
    g_array_free (cameras[i].latencies, TRUE);
  }
  gst_object_unref (pipeline);
  gst_caps_unref (caps);
  g_ptr_array_free (masks, TRUE);
  g_free (cameras);
  g_free (caps_text);
  g_free (size);
  g_free (memory);
  g_free (properties);
  g_free (file);
  return sustained ? 0 : 1;
}
