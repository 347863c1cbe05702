/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/**
 * SECTION:element-cclmotion
 * @title: cclmotion
 * @short_description: finds what moves before a fixed camera
 *
 * Learns what the background looks like, pixel by pixel, and attaches to each frame a mask of the pixels that do not
 * fit: a #GstCclMaskMeta. The picture flows on untouched and uncopied; ccllabel turns the mask into blobs.
 *
 * The mask is made from the gray or luma plane alone, in this order: the model (#cclmotion:method,
 * #cclmotion:threshold), shadows out (#cclmotion:shadow), noise out (#cclmotion:median), #cclmotion:confirm-frames,
 * #cclmotion:open, #cclmotion:close, #cclmotion:dilate, and nothing where #cclmotion:ignore says so.
 *
 * Learning starts again after a flush, with frames of another size, and when a buffer marked DISCONT jumps in time
 * (back, or more than two seconds ahead); other gaps and steps back in time do not matter to it. Every property can be
 * changed while playing; #cclmotion:method, #cclmotion:work-height, #cclmotion:backend and #cclmotion:threads start learning
 * again, the others keep what was learnt.
 *
 * With #cclmotion:async-depth frames leave so many frames late, and the GPU begins with one while it ends the one before
 * it: masks, messages and metadata are the same. The latency of the pipeline says so. Nothing overtakes a frame held
 * back: events and other caps push it out first, a flush drops it.
 *
 * ## Messages
 *
 * With #cclmotion:post-messages the element posts element messages whose structure `ccl-motion` has the fields `state`
 * (string: "begin", "update" or "end"), `running-time`, `stream-time`, `timestamp` and `duration` (of the motion so
 * far; #GstClockTime, guint64), `n-foreground` (guint64, pixels of the mask), `area-ratio` (gdouble, 0 to 1: part of
 * the picture) and `global-change` (gboolean).
 *
 * ## What moves, as blobs in JSON
 * |[
 * gst-launch-1.0 -q videotestsrc pattern=ball num-buffers=100 ! video/x-raw,format=I420 ! cclmotion !
 *     ccllabel mask-source=mask-meta ! cclmeta2json ! fdsink
 * ]|
 * ## The mask, to look at
 * |[
 * gst-launch-1.0 videotestsrc pattern=ball ! video/x-raw,format=I420 ! cclmotion output=mask ! videoconvert !
 *     autovideosink
 * ]|
 * ## A camera: half the height is enough, the road at the top does not count
 * |[
 * gst-launch-1.0 -m v4l2src ! videoconvert ! cclmotion work-height=240 ignore="0,0;1,0;1,0.3;0,0.3" !
 *     ccllabel mask-source=mask-meta min-rel-area=0.001 ! fakesink
 * ]|
 */

#include "gstcclmotion.h"

#include <math.h>
#include <string.h>

#include <gst/video/video.h>
#include <gst/ccl/gstcclmaskmeta.h>

#include "motion.h"
#include "base/gstcclcrop.h"
#include "base/gstcclcuda.h"
#include "base/gstccldevice.h"
#include "base/gstcclenums.h"
#include "base/gstcclpropertyrow.h"
#include "base/gstccldelayqueue.h"
#include "base/gstcclmask.h"
#include "base/gstcclminavgmax.h"
#include "base/gstcclsequencelock.h"
#include "base/gstccltime.h"

GST_DEBUG_CATEGORY_STATIC (gst_ccl_motion_debug);
#define GST_CAT_DEFAULT gst_ccl_motion_debug

#define SIZE_RANGE "width = (int) [ 1, 16384 ], height = (int) [ 1, 16384 ], framerate = " GST_VIDEO_FPS_RANGE
#define FORMATS "{ GRAY8, NV12, NV21, I420, YV12, Y42B, Y444 }"
#define SYSTEM_CAPS "video/x-raw, format = (string) " FORMATS ", " SIZE_RANGE
#ifdef HAVE_GST_CUDA
#define CUDA_CAPS "video/x-raw(" GST_CCL_CUDA_FEATURE "), format = (string) " FORMATS ", " SIZE_RANGE "; "
#else
#define CUDA_CAPS ""
#endif

static GstStaticPadTemplate sink_template = GST_STATIC_PAD_TEMPLATE ("sink", GST_PAD_SINK, GST_PAD_ALWAYS,
    GST_STATIC_CAPS (CUDA_CAPS SYSTEM_CAPS));
static GstStaticPadTemplate src_template = GST_STATIC_PAD_TEMPLATE ("src", GST_PAD_SRC, GST_PAD_ALWAYS,
    GST_STATIC_CAPS (CUDA_CAPS SYSTEM_CAPS));

/* A jump in time after which the scene may be another one. */
#define LONG_GAP (2 * GST_SECOND)

#define MAX_ASYNC_DEPTH (CCL_MAX_DEPTH - 1)

/* The properties. Written under the object lock; the streaming thread copies them once per frame. */
typedef struct
{
  gint backend;
  gint method;
  guint work_height;
  guint threads;
  CclMotionParams params;
  gdouble min_motion;
  gint post_messages;
  GstClockTime off_delay;
  guint async_depth;
  guint ignore_serial;          /* which value of self->ignore */
} Settings;

/* All that a detector is made for: another request, another detector. Compared as bytes. */
typedef struct
{
  gint backend;
  gint method;
  gint width, height;
  guint work_height;
  guint threads;
  gboolean no_cuda;             /* the device failed; the CPU has to do */
  gpointer cuda_context;
} Request;

/* A frame between submission and output: a slot of the ring. */
typedef struct
{
  GstBuffer *buffer;
  GstCclMaskView view;
  GstBuffer *mask;
  GstMapInfo mask_map;
  Settings settings;            /* as they were when it came */
  GstClockTime time;
  gboolean steps_back;          /* in time */
  GstClockTime arrived;
  GstClockTime host_time;       /* spent here on its behalf until it was submitted */
} Frame;

typedef struct
{
  guint64 frames;
  guint64 learning;
  guint64 with_motion;
  guint64 global_changes;
  gdouble area_ratio;           /* of the last frame */
  GstCclMinAvgMax detect, host, latency;
  const gchar *path;
  gsize host_bytes, device_bytes;
} Stats;

struct _GstCclMotion
{
  GstBaseTransform parent;

  Settings settings;            /* object lock */
  gchar *ignore;                /* object lock */
  gchar *wrong_ignore;          /* object lock; what to say of it at the start, or NULL */
  gint wanted_output;           /* object lock */
  GstCclCuda cuda;

  /* Streaming thread. */
  Settings now;                 /* the settings of the current frame */
  GstVideoInfo in_info;
  gint output;                  /* GstCclMotionOutput in effect; atomic */
  gint output_height;           /* work-height in effect for output=mask; atomic */
  gint n_output_changes;        /* of both; see gstcclsteady.h */
  gboolean streaming;
  gboolean cuda_lost;
  Request request;
  CclMotion *detector;
  guint ignored_serial;         /* of the polygons that the detector has */
  guint mask_width, mask_height;
  GstBufferPool *pool;          /* of masks */
  GQuark source;
  Frame frames[CCL_MAX_DEPTH];
  guint first, n_frames, depth;
  GstCclHeld held;
  GstBuffer *mask;              /* of the frame on its way out, */
  CclMotionInfo info;           /* and what is known of it */

  GstClockTime last_time;       /* of the frame before: PTS */
  gboolean moving;
  GstClockTime began, last_motion;      /* timestamps of the first and last frame with motion */

  /* Object lock. */
  gint active_backend;
  GstClockTime latency;
  Stats stats;
};

enum
{
  PROP_0,
  PROP_OUTPUT,
  PROP_METHOD,
  PROP_THRESHOLD,
  PROP_LEARNING_RATE,
  PROP_WARMUP_FRAMES,
  PROP_FREEZE_ON_MOTION,
  PROP_SHADOW,
  PROP_MEDIAN,
  PROP_CONFIRM_FRAMES,
  PROP_OPEN,
  PROP_CLOSE,
  PROP_DILATE,
  PROP_WORK_HEIGHT,
  PROP_MAX_MOTION,
  PROP_IGNORE,
  PROP_MIN_MOTION,
  PROP_POST_MESSAGES,
  PROP_OFF_DELAY,
  PROP_ASYNC_DEPTH,
  PROP_BACKEND,
  PROP_ACTIVE_BACKEND,
  PROP_CUDA_DEVICE_ID,
  PROP_THREADS,
  PROP_STATS,
  N_PROPERTIES
};

static GParamSpec *properties[N_PROPERTIES];

#define gst_ccl_motion_parent_class parent_class
G_DEFINE_FINAL_TYPE_WITH_CODE (GstCclMotion, gst_ccl_motion, GST_TYPE_BASE_TRANSFORM,
    GST_DEBUG_CATEGORY_INIT (gst_ccl_motion_debug, "cclmotion", 0, "motion detection"));
GST_ELEMENT_REGISTER_DEFINE (cclmotion, "cclmotion", GST_RANK_NONE, GST_TYPE_CCL_MOTION);

/* Caps are asked for in any thread. */
static gint
get_output (GstCclMotion * self)
{
  return g_atomic_int_get (&self->output);
}

static guint
get_output_height (GstCclMotion * self)
{
  return (guint) g_atomic_int_get (&self->output_height);
}

static void
put_output (GstCclMotion * self, gint output, guint height)
{
  g_atomic_int_inc (&self->n_output_changes);
  g_atomic_int_set (&self->output, output);
  g_atomic_int_set (&self->output_height, height);
  g_atomic_int_inc (&self->n_output_changes);
}

static GstFlowReturn drain (GstCclMotion * self);

/* ---------------------------------------------------------------- polygons */

/* "x,y;x,y;x,y|x,y;..." to one array of x, y per polygon, or NULL with an error that says where it went wrong. */
static GPtrArray *
parse_polygons (const gchar * text, GError ** error)
{
  GPtrArray *polygons = g_ptr_array_new_with_free_func ((GDestroyNotify) g_array_unref);
  const gchar *at = text ? text : "";

  while (*at) {
    GArray *const points = g_array_new (FALSE, FALSE, sizeof (gdouble));
    gchar *end;
    gchar stop;

    g_ptr_array_add (polygons, points);
    do {
      for (guint i = 0; i < 2; i++) {
        const gdouble value = g_ascii_strtod (at, &end);

        while (g_ascii_isspace (*end))
          end++;
        stop = *end;
        if (end == at || !isfinite (value) || (i == 0 ? stop != ',' : stop && stop != ';' && stop != '|')) {
          g_set_error (error, GST_LIBRARY_ERROR, GST_LIBRARY_ERROR_SETTINGS,
              "\"%s\" is no list of polygons: a number and then \"%s\" is expected at character %u", text,
              i == 0 ? "," : ";, | or the end", (guint) (at - text) + 1);
          g_ptr_array_unref (polygons);
          return NULL;
        }
        g_array_append_val (points, value);
        at = stop ? end + 1 : end;
      }
      while (g_ascii_isspace (*at))
        at++;
    } while (stop == ';' && *at);
    if (points->len < 6) {
      g_set_error (error, GST_LIBRARY_ERROR, GST_LIBRARY_ERROR_SETTINGS,
          "\"%s\" is no list of polygons: number %u has less than three points", text, polygons->len);
      g_ptr_array_unref (polygons);
      return NULL;
    }
  }
  return polygons;
}

/* Coordinates up to 1 are parts of the frame, larger ones its pixels; both become pixels of the mask. */
static void
scale_polygon (GArray * points, gdouble frame_width, gdouble frame_height, guint width, guint height)
{
  gdouble *const xy = (gdouble *) points->data;
  gboolean relative = TRUE;

  for (guint i = 0; i < points->len; i++)
    relative &= xy[i] <= 1;
  for (guint i = 0; i < points->len; i++)
    xy[i] *= i & 1 ? (relative ? height : height / frame_height) : (relative ? width : width / frame_width);
}

/* Settings with which no mask shows anything. */
static void
warn_of_settings (GstCclMotion * self)
{
  const gdouble max_motion = self->now.params.max_motion, min_motion = self->now.min_motion;

  if (max_motion == 0)
    GST_ELEMENT_WARNING (self, LIBRARY, SETTINGS, ("max-motion=0: all that moves counts as change of the whole "
            "picture, and the mask stays empty."), ("It is a part of the picture, 0.8 when not set; 1 turns it off."));
  else if (min_motion > max_motion)
    GST_ELEMENT_WARNING (self, LIBRARY, SETTINGS, ("min-motion=%g is above max-motion=%g: messages tell of changes "
            "of the whole picture only.", min_motion, max_motion), (NULL));
}

/* A square of this size has to be foreground for any of it to stay. */
static void
warn_of_open (GstCclMotion * self)
{
  const guint thinnest = 2 * self->now.params.open + 1;

  if (thinnest > 1 && (thinnest > self->mask_width || thinnest > self->mask_height))
    GST_ELEMENT_WARNING (self, LIBRARY, SETTINGS, ("open=%u leaves nothing of a mask of %ux%u pixels.",
            self->now.params.open, self->mask_width, self->mask_height),
        ("What is thinner than %u pixels goes.", thinnest));
}

/* A file shorter than the warm-up has no motion in it, which looks like a mistake somewhere else. */
static void
hint_when_all_learnt (GstCclMotion * self)
{
  guint64 frames;
  gboolean all;

  GST_OBJECT_LOCK (self);
  frames = self->stats.frames;
  all = frames > 0 && self->stats.learning == frames && self->stats.global_changes == 0;
  GST_OBJECT_UNLOCK (self);
  if (all)
    GST_ELEMENT_WARNING (self, STREAM, FAILED, ("The stream ended after %" G_GUINT64_FORMAT " frames, in the warm-up: "
            "there was no mask yet.", frames), ("warmup-frames=%u is how many are learnt from first.",
            self->now.params.warmup_frames));
}

static void
warn_of_ignore (GstCclMotion * self, const gchar * what)
{
  GST_ELEMENT_WARNING (self, LIBRARY, SETTINGS, ("%s.", what),
      ("ignore is \"x,y;x,y;x,y|x,y;...\", in pixels of the frame, or from 0 to 1. It stays as it was."));
}

/* Polygons that cover nothing, or leave nothing. */
static void
warn_of_ignored (GstCclMotion * self, guint n_polygons, const guint8 * ignored)
{
  const gsize size = (gsize) self->mask_width * self->mask_height;

  if (n_polygons == 0)
    return;
  if (!memchr (ignored, 0, size))
    GST_ELEMENT_WARNING (self, LIBRARY, SETTINGS, ("ignore covers the whole picture: the mask stays empty."), (NULL));
  else if (!memchr (ignored, 1, size))
    GST_ELEMENT_WARNING (self, LIBRARY, SETTINGS, ("ignore covers nothing of a picture of %dx%d pixels.",
            self->request.width, self->request.height),
        ("Coordinates are pixels of the frame, or fractions of it where all of a polygon's are from 0 to 1."));
}

/* Hands the detector the polygons of the property. */
static void
set_ignored (GstCclMotion * self)
{
  GPtrArray *polygons;
  guint8 *ignored;
  gchar *text;

  GST_OBJECT_LOCK (self);
  self->ignored_serial = self->settings.ignore_serial;
  text = g_strdup (self->ignore);
  GST_OBJECT_UNLOCK (self);

  polygons = parse_polygons (text, NULL);       /* checked when it was set */
  ignored = g_malloc0 ((gsize) self->mask_width * self->mask_height);
  for (guint i = 0; polygons && i < polygons->len; i++) {
    GArray *const points = g_ptr_array_index (polygons, i);

    scale_polygon (points, self->request.width, self->request.height, self->mask_width, self->mask_height);
    ccl_polygon_fill ((gdouble *) points->data, points->len / 2, 1, ignored, self->mask_width, self->mask_width,
        self->mask_height);
  }
  warn_of_ignored (self, polygons ? polygons->len : 0, ignored);
  gst_ccl_cuda_push (&self->cuda);
  ccl_motion_set_ignore (self->detector, ignored, self->mask_width);
  gst_ccl_cuda_pop (&self->cuda);
  g_free (ignored);
  g_clear_pointer (&polygons, g_ptr_array_unref);
  g_free (text);
}

static void
take_ignored (GstCclMotion * self)
{
  if (self->ignored_serial == self->now.ignore_serial)
    return;
  drain (self);
  set_ignored (self);
}

/* ---------------------------------------------------------------- the detector */

static void
drop_pool (GstCclMotion * self)
{
  if (self->pool)
    gst_buffer_pool_set_active (self->pool, FALSE);
  gst_clear_object (&self->pool);
}

static void
close_detector (GstCclMotion * self)
{
  gst_ccl_cuda_push (&self->cuda);
  ccl_motion_free (self->detector);
  gst_ccl_cuda_pop (&self->cuda);
  self->detector = NULL;
  drop_pool (self);
}

/* The width that goes with a lower height. */
static guint
work_width (guint width, guint height, guint work_height)
{
  return MAX ((guint) gst_util_uint64_scale_int_round (width, work_height, height), 1);
}

static guint
mask_height_for (guint height, guint work_height)
{
  return work_height && work_height < height ? work_height : height;
}

static CclStatus
open_detector_on (GstCclMotion * self, CclBackendKind kind, const Request * request, gchar ** message)
{
  CclMotionConfig config = ccl_motion_config_default ();
  CclStatus status;

  if (kind == CCL_BACKEND_CUDA && !self->cuda.current && !gst_ccl_cuda_open (&self->cuda)) {
    *message = self->cuda.device_id < 0 ? g_strdup ("no CUDA device gives us a context")
        : g_strdup_printf ("there is no CUDA device %d", self->cuda.device_id);
    return CCL_ERROR_NO_DEVICE;
  }

  config.backend = kind;
  config.method = request->method;
  config.width = request->width;
  config.height = request->height;
  config.work_height = mask_height_for (request->height, request->work_height);
  config.work_width = work_width (request->width, request->height, config.work_height);
  config.device = gst_ccl_cuda_get_device (&self->cuda);
  config.depth = CCL_MAX_DEPTH; /* async-depth may change, and nothing is forgotten */
  config.threads = request->threads;

  gst_ccl_cuda_push (&self->cuda);
  status = ccl_motion_new (&config, &self->detector);
  gst_ccl_cuda_pop (&self->cuda);
  if (status == CCL_OK)
    return status;
  *message = g_strdup (ccl_error_message ());
  return ccl_backend_built (kind) ? status : CCL_ERROR_NO_DEVICE;
}

static CclStatus
open_detector (GstCclMotion * self, const Request * request, gint * backend, gchar ** message)
{
  gchar *why = NULL;
  CclStatus status;

  if (request->backend == GST_CCL_BACKEND_CUDA || (request->backend == GST_CCL_BACKEND_AUTO && !request->no_cuda)) {
    *backend = GST_CCL_BACKEND_CUDA;
    status = open_detector_on (self, CCL_BACKEND_CUDA, request, message);
    if (status == CCL_OK || request->backend == GST_CCL_BACKEND_CUDA)
      return status;
    why = g_steal_pointer (message);
    if (gst_ccl_cuda_is_missed (&self->cuda, status)) {
      self->cuda_lost = TRUE;
      GST_ELEMENT_WARNING (self, RESOURCE, FAILED, ("The GPU cannot be used: %s. Continuing on the CPU.", why), (NULL));
    }
  }
  *backend = GST_CCL_BACKEND_CPU;
  status = open_detector_on (self, CCL_BACKEND_CPU, request, message);
  if (status == CCL_OK)
    GST_INFO_OBJECT (self, "backend=%s: using the CPU%s%s", request->backend == GST_CCL_BACKEND_AUTO ? "auto" : "cpu",
        why ? " because " : "", why ? why : "");
  g_free (why);
  return status;
}

static void
post_open_error (GstCclMotion * self, CclStatus status, const gchar * message)
{
  switch (status) {
    case CCL_ERROR_NO_DEVICE:
      GST_ELEMENT_ERROR (self, RESOURCE, NOT_FOUND, ("No GPU to detect motion on: %s.", message),
          ("Use backend=auto or backend=cpu, or make an NVIDIA driver and device visible to this process."));
      break;
    case CCL_ERROR_OUT_OF_MEMORY:
      GST_ELEMENT_ERROR (self, RESOURCE, NO_SPACE_LEFT, ("Not enough memory to detect motion: %s.", message),
          ("A lower work-height needs less."));
      break;
    case CCL_ERROR_DEVICE:
      GST_ELEMENT_ERROR (self, RESOURCE, FAILED, ("The GPU failed: %s.", message),
          ("backend=auto continues on the CPU."));
      break;
    default:
      GST_ELEMENT_ERROR (self, LIBRARY, SETTINGS, ("Motion cannot be detected: %s.", message), (NULL));
      break;
  }
}

/* Masks come from a pool: no new pages for every frame. What was made on the device stays there, unless the mask is
 * what leaves. */
static GstBufferPool *
create_pool (GstCclMotion * self)
{
  const gboolean on_device = self->active_backend == GST_CCL_BACKEND_CUDA
      && get_output (self) == GST_CCL_MOTION_OUTPUT_PASSTHROUGH;
  const gsize size = GST_ROUND_UP_4 (self->mask_width) * (gsize) self->mask_height;
  GstBufferPool *const pool = gst_buffer_pool_new ();
  GstStructure *const config = gst_buffer_pool_get_config (pool);

  gst_buffer_pool_config_set_params (config, NULL, size, on_device ? 0 : 2, 0);
  if (on_device) {
    GstAllocator *const allocator = gst_ccl_device_allocator_new (&self->cuda);
    gst_buffer_pool_config_set_allocator (config, allocator, NULL);
    gst_object_unref (allocator);
  }
  if (gst_buffer_pool_set_config (pool, config) && gst_buffer_pool_set_active (pool, TRUE))
    return pool;
  gst_object_unref (pool);
  GST_WARNING_OBJECT (self, "no pool of masks");
  return NULL;
}

static gboolean
rebuild_detector (GstCclMotion * self, Request request)
{
  gint backend = GST_CCL_BACKEND_AUTO;
  gchar *message = NULL;
  CclStatus status;
  gboolean changed;

  close_detector (self);
  status = open_detector (self, &request, &backend, &message);
  if (status != CCL_OK) {
    post_open_error (self, status, message);
    g_free (message);
    return FALSE;
  }
  /* What was found out just now. */
  request.cuda_context = self->cuda.current;
  request.no_cuda = self->cuda_lost;
  self->request = request;
  self->ignored_serial = 0;
  ccl_motion_size (self->detector, &self->mask_width, &self->mask_height);

  GST_OBJECT_LOCK (self);
  changed = self->active_backend != backend;
  self->active_backend = backend;
  ccl_motion_memory (self->detector, &self->stats.host_bytes, &self->stats.device_bytes);
  GST_OBJECT_UNLOCK (self);
  GST_DEBUG_OBJECT (self, "frames of %dx%d, masks of %ux%u, on %s", request.width, request.height, self->mask_width,
      self->mask_height, backend == GST_CCL_BACKEND_CUDA ? "CUDA" : "the CPU");
  self->pool = create_pool (self);
  if (changed)
    g_object_notify_by_pspec (G_OBJECT (self), properties[PROP_ACTIVE_BACKEND]);
  return TRUE;
}

static void
copy_settings (GstCclMotion * self)
{
  GST_OBJECT_LOCK (self);
  self->now = self->settings;
  GST_OBJECT_UNLOCK (self);
}

static void
fill_request (GstCclMotion * self, Request * request)
{
  memset (request, 0, sizeof *request);
  request->backend = self->now.backend;
  request->method = self->now.method;
  request->width = GST_VIDEO_INFO_WIDTH (&self->in_info);
  request->height = GST_VIDEO_INFO_HEIGHT (&self->in_info);
  /* A mask that is a picture of its own has the size that its caps say. */
  request->work_height =
      get_output (self) == GST_CCL_MOTION_OUTPUT_MASK ? get_output_height (self) : self->now.work_height;
  request->threads = self->now.threads;
  request->no_cuda = self->cuda_lost;
  request->cuda_context = self->cuda.current;
}

static gboolean
ensure_detector (GstCclMotion * self)
{
  Request wanted;

  fill_request (self, &wanted);
  if (self->detector && !memcmp (&wanted, &self->request, sizeof wanted))
    return TRUE;
  drain (self);
  fill_request (self, &wanted); /* the GPU may have been lost with a frame held back */
  return rebuild_detector (self, wanted);
}

static void
take_depth (GstCclMotion * self)
{
  GstClockTime latency;
  gboolean changed;

  if (!gst_ccl_held_has_room (&self->held, self->now.async_depth)) {
    gst_ccl_held_want_room (&self->held, GST_BASE_TRANSFORM (self), self->now.async_depth);
  } else if (self->depth != self->now.async_depth) {
    drain (self);
    self->depth = self->now.async_depth;
  }
  latency = gst_ccl_held_latency (&self->in_info, self->depth);
  GST_OBJECT_LOCK (self);
  changed = self->latency != latency;
  self->latency = latency;
  GST_OBJECT_UNLOCK (self);
  if (changed)
    gst_element_post_message (GST_ELEMENT (self), gst_message_new_latency (GST_OBJECT (self)));
}

/* Takes up what the properties say now. */
static gboolean
take_settings (GstCclMotion * self, GstBuffer * buffer)
{
  GstMemory *const memory = gst_buffer_n_memory (buffer) ? gst_buffer_peek_memory (buffer, 0) : NULL;

  copy_settings (self);
  take_depth (self);
  if (memory && self->active_backend == GST_CCL_BACKEND_CUDA && gst_ccl_cuda_leads_elsewhere (&self->cuda, memory)) {
    drain (self);
    close_detector (self);
    gst_ccl_cuda_follow (&self->cuda, memory);
  }
  if (!ensure_detector (self))
    return FALSE;
  take_ignored (self);
  return TRUE;
}

/* ---------------------------------------------------------------- messages */

static void
post (GstCclMotion * self, const gchar * state, GstClockTime timestamp, const CclMotionInfo * info)
{
  GstBaseTransform *const transform = GST_BASE_TRANSFORM (self);
  const gdouble pixels = info && info->pixels ? info->pixels : 1;

  GST_DEBUG_OBJECT (self, "motion %s at %" GST_TIME_FORMAT, state, GST_TIME_ARGS (timestamp));
  gst_element_post_message (GST_ELEMENT (self), gst_message_new_element (GST_OBJECT (self),
          gst_structure_new ("ccl-motion", "state", G_TYPE_STRING, state,
              "running-time", G_TYPE_UINT64, gst_ccl_running_time (transform, timestamp),
              "stream-time", G_TYPE_UINT64, gst_ccl_stream_time (transform, timestamp),
              "timestamp", G_TYPE_UINT64, timestamp,
              "duration", G_TYPE_UINT64, GST_CLOCK_TIME_IS_VALID (timestamp) && timestamp >= self->began
              ? timestamp - self->began : 0,
              "n-foreground", G_TYPE_UINT64, info ? info->foreground : 0,
              "area-ratio", G_TYPE_DOUBLE, info ? info->foreground / pixels : 0.0,
              "global-change", G_TYPE_BOOLEAN, info ? (info->flags & CCL_MOTION_GLOBAL_CHANGE) != 0 : FALSE, NULL)));
}

static void
end_motion (GstCclMotion * self, gint messages, const CclMotionInfo * info)
{
  if (!self->moving)
    return;
  self->moving = FALSE;
  if (messages != GST_CCL_POST_NONE)
    post (self, "end", self->last_motion, info);
}

/* Motion begins with a frame of which at least min-motion moves (or all changes), and ends when there was none for
 * off-delay. */
static void
follow_motion (GstCclMotion * self, const Frame * frame, const CclMotionInfo * info)
{
  const Settings *const settings = &frame->settings;
  const gboolean changed = (info->flags & CCL_MOTION_GLOBAL_CHANGE) != 0;
  const gboolean moves = changed || (info->foreground && info->foreground >= settings->min_motion * info->pixels);
  const gint messages = settings->post_messages;
  const GstClockTime time = frame->time;

  if (frame->steps_back)
    end_motion (self, messages, NULL);  /* its delay cannot run backwards */
  if (moves) {
    self->last_motion = time;
    if (!self->moving) {
      self->moving = TRUE;
      self->began = time;
      if (messages != GST_CCL_POST_NONE)
        post (self, "begin", time, info);
    } else if (messages == GST_CCL_POST_ALL || (changed && messages == GST_CCL_POST_EDGES)) {
      post (self, "update", time, info);
    }
  } else if (self->moving && time >= self->last_motion + settings->off_delay) {
    end_motion (self, messages, info);
  } else if (self->moving && messages == GST_CCL_POST_ALL) {
    post (self, "update", time, info);
  }
}

/* ---------------------------------------------------------------- frames */

/* No frame is held back. */
static void
forget (GstCclMotion * self)
{
  end_motion (self, self->now.post_messages, NULL);
  if (self->detector)
    ccl_motion_reset (self->detector);
  self->last_time = GST_CLOCK_TIME_NONE;
}

/* The time of a frame: where it has none, one frame after the last. Starts anew where the scene may be another. */
static void
take_time (GstCclMotion * self, Frame * frame)
{
  GstBuffer *const buffer = frame->buffer;
  const gint n = GST_VIDEO_INFO_FPS_N (&self->in_info), d = GST_VIDEO_INFO_FPS_D (&self->in_info);
  const GstClockTime duration = n > 0 ? gst_util_uint64_scale_int (GST_SECOND, d, n) : GST_SECOND / 25;
  const GstClockTime last = self->last_time;
  GstClockTime time = GST_BUFFER_PTS (buffer);

  frame->steps_back = FALSE;
  if (!GST_CLOCK_TIME_IS_VALID (time))
    time = GST_CLOCK_TIME_IS_VALID (last) ? last + duration : 0;
  else if (GST_CLOCK_TIME_IS_VALID (last) && GST_BUFFER_IS_DISCONT (buffer)
      && (time < last || time - last > LONG_GAP)) {
    GST_INFO_OBJECT (self, "jump from %" GST_TIME_FORMAT " to %" GST_TIME_FORMAT ": learning starts again",
        GST_TIME_ARGS (last), GST_TIME_ARGS (time));
    forget (self);              /* DISCONT: all frames before it have left */
  } else {
    frame->steps_back = GST_CLOCK_TIME_IS_VALID (last) && time < last;
  }
  self->last_time = frame->time = time;
}

static void
count_frame (GstCclMotion * self, const Frame * frame, const CclMotionInfo * info)
{
  Stats *const stats = &self->stats;

  GST_OBJECT_LOCK (self);
  stats->frames++;
  stats->learning += (info->flags & CCL_MOTION_LEARNING) != 0;
  stats->with_motion += info->foreground > 0;
  stats->global_changes += (info->flags & CCL_MOTION_GLOBAL_CHANGE) != 0;
  stats->area_ratio = info->pixels ? info->foreground / (gdouble) info->pixels : 0;
  stats->path = frame->view.path;
  gst_ccl_min_avg_max_add (&stats->detect, info->us);
  GST_OBJECT_UNLOCK (self);
}

static void
count_time (GstCclMotion * self, GstClockTime host_time, GstClockTime arrived)
{
  GST_OBJECT_LOCK (self);
  gst_ccl_min_avg_max_add (&self->stats.host, host_time / (gdouble) GST_USECOND);
  gst_ccl_min_avg_max_add (&self->stats.latency, (gst_util_get_timestamp () - arrived) / (gdouble) GST_USECOND);
  GST_OBJECT_UNLOCK (self);
}

static GstBuffer *
acquire_mask (GstCclMotion * self)
{
  const gsize stride = GST_ROUND_UP_4 (self->mask_width);
  const gsize offset[GST_VIDEO_MAX_PLANES] = { 0 };
  const gint strides[GST_VIDEO_MAX_PLANES] = { stride };
  GstBuffer *mask = NULL;

  if (self->pool && gst_buffer_pool_acquire_buffer (self->pool, &mask, NULL) != GST_FLOW_OK)
    mask = NULL;
  if (!mask)
    mask = gst_buffer_new_allocate (NULL, stride * self->mask_height, NULL);
  if (mask && !gst_buffer_get_video_meta (mask))
    gst_buffer_add_video_meta_full (mask, GST_VIDEO_FRAME_FLAG_NONE, GST_VIDEO_FORMAT_GRAY8, self->mask_width,
        self->mask_height, 1, (gsize *) offset, (gint *) strides);
  return mask;
}

static Frame *
nth_frame (GstCclMotion * self, guint n)
{
  return &self->frames[(self->first + n) % (self->depth + 1)];
}

/* Makes picture and mask ready for the detector. */
static gboolean
map_frame (GstCclMotion * self, Frame * frame, GError ** error)
{
  const gboolean on_device = self->active_backend == GST_CCL_BACKEND_CUDA && gst_buffer_n_memory (frame->buffer)
      && gst_ccl_cuda_can_read (&self->cuda, gst_buffer_peek_memory (frame->buffer, 0));
  GstBuffer *mask;
  gint flags;

  if (!gst_ccl_mask_view_map (&frame->view, frame->buffer, &self->in_info, on_device, error))
    return FALSE;
  mask = acquire_mask (self);
  flags = GST_MAP_WRITE | (mask && gst_ccl_is_device_memory (gst_buffer_peek_memory (mask, 0)) ? GST_CCL_MAP_DEVICE : 0);
  if (mask && gst_buffer_map (mask, &frame->mask_map, (GstMapFlags) flags)) {
    frame->mask = mask;
    return TRUE;
  }
  g_set_error (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_NO_SPACE_LEFT, "No memory for a mask of %ux%u.",
      self->mask_width, self->mask_height);
  gst_clear_buffer (&mask);
  gst_ccl_mask_view_unmap (&frame->view);
  return FALSE;
}

/* Takes the mask, which is complete or of no use. */
static GstBuffer *
unmap_frame (Frame * frame)
{
  if (frame->mask)
    gst_buffer_unmap (frame->mask, &frame->mask_map);
  gst_ccl_mask_view_unmap (&frame->view);
  return g_steal_pointer (&frame->mask);
}

static void
release_frame (GstCclMotion * self)
{
  Frame *const frame = nth_frame (self, 0);
  GstBuffer *mask = unmap_frame (frame);

  gst_clear_buffer (&mask);
  gst_clear_buffer (&frame->buffer);
  self->n_frames--;
  self->first = self->n_frames ? (self->first + 1) % (self->depth + 1) : 0;     /* 0: the depth may change now */
}

static CclStatus
submit_frame (GstCclMotion * self, const Frame * frame)
{
  const CclMotionMask mask = {
    .data = frame->mask_map.data,
    .stride = GST_ROUND_UP_4 (self->mask_width),
    .memory = gst_ccl_is_device_memory (gst_buffer_peek_memory (frame->mask, 0)) ? CCL_MEMORY_DEVICE : CCL_MEMORY_HOST,
  };
  CclStatus status;

  gst_ccl_cuda_push (&self->cuda);
  status = ccl_motion_submit (self->detector, &frame->view.mask, &frame->settings.params, &mask);
  gst_ccl_cuda_pop (&self->cuda);
  return status;
}

static CclStatus
collect_frame (GstCclMotion * self, CclMotionInfo * info)
{
  CclStatus status;

  gst_ccl_cuda_push (&self->cuda);
  status = ccl_motion_collect (self->detector, info);
  gst_ccl_cuda_pop (&self->cuda);
  return status;
}

/* The detector loses what is in flight with it. */
static void
discard_frames (GstCclMotion * self)
{
  while (self->n_frames) {
    if (self->detector)
      collect_frame (self, NULL);
    release_frame (self);
  }
}

static void
post_frame_error (GstCclMotion * self, GError * error)
{
  gst_element_message_full (GST_ELEMENT (self), GST_MESSAGE_ERROR, error->domain, error->code,
      g_strdup (error->message), NULL, __FILE__, GST_FUNCTION, __LINE__);
  g_error_free (error);
}

/* After the device failed: the frames in flight are done again on the CPU, which learns anew, if the properties allow
 * that. */
static gboolean
continue_on_cpu (GstCclMotion * self, CclStatus status)
{
  gchar *const message = g_strdup (ccl_error_message ());
  Request request = self->request;
  GError *error = NULL;

  if (self->active_backend != GST_CCL_BACKEND_CUDA || self->request.backend == GST_CCL_BACKEND_CUDA) {
    post_open_error (self, status, message);
    g_free (message);
    return FALSE;
  }
  GST_ELEMENT_WARNING (self, RESOURCE, FAILED, ("The GPU failed: %s. Continuing on the CPU.", message), (NULL));
  g_free (message);

  self->cuda_lost = request.no_cuda = TRUE;
  for (guint i = 0; i < self->n_frames; i++) {
    GstBuffer *mask = unmap_frame (nth_frame (self, i));
    gst_clear_buffer (&mask);
  }
  if (!rebuild_detector (self, request))
    return FALSE;
  set_ignored (self);
  for (guint i = 0; i < self->n_frames; i++) {
    Frame *const frame = nth_frame (self, i);

    if (!map_frame (self, frame, &error)) {
      post_frame_error (self, error);
      return FALSE;
    }
    status = submit_frame (self, frame);
    if (status != CCL_OK) {
      post_open_error (self, status, ccl_error_message ());
      return FALSE;
    }
  }
  return TRUE;
}

static GstFlowReturn
enqueue (GstCclMotion * self, GstBuffer * buffer, GstClockTime arrived)
{
  const GstClockTime start = gst_util_get_timestamp ();
  Frame *const frame = nth_frame (self, self->n_frames);
  GError *error = NULL;
  CclStatus status;

  memset (frame, 0, sizeof *frame);
  frame->buffer = buffer;
  frame->arrived = arrived;
  frame->settings = self->now;
  take_time (self, frame);
  if (!map_frame (self, frame, &error)) {
    post_frame_error (self, error);
    gst_clear_buffer (&frame->buffer);
    return GST_FLOW_ERROR;
  }
  self->n_frames++;
  status = submit_frame (self, frame);
  if (status != CCL_OK && !continue_on_cpu (self, status)) {
    discard_frames (self);
    return GST_FLOW_ERROR;
  }
  frame->host_time = gst_util_get_timestamp () - start;
  return GST_FLOW_OK;
}

/* Waits for the oldest frame and lets the base class make its output: prepare_output_buffer() and transform_ip() below
 * see its mask as self->mask. */
static GstFlowReturn
finish_frame (GstCclMotion * self, GstBuffer ** output)
{
  GstBaseTransform *const transform = GST_BASE_TRANSFORM (self);
  Frame *const frame = nth_frame (self, 0);
  const GstClockTime start = gst_util_get_timestamp (), arrived = frame->arrived, host_time = frame->host_time;
  GstFlowReturn flow;
  CclStatus status;

  status = collect_frame (self, &self->info);
  if (status != CCL_OK) {
    if (!continue_on_cpu (self, status))
      return GST_FLOW_ERROR;
    status = collect_frame (self, &self->info);
    if (status != CCL_OK) {
      post_open_error (self, status, ccl_error_message ());
      return GST_FLOW_ERROR;
    }
  }
  count_frame (self, frame, &self->info);
  follow_motion (self, frame, &self->info);
  self->mask = unmap_frame (frame);
  transform->queued_buf = g_steal_pointer (&frame->buffer);
  release_frame (self);
  flow = GST_BASE_TRANSFORM_CLASS (parent_class)->generate_output (transform, output);
  gst_clear_buffer (&self->mask);
  count_time (self, host_time + gst_util_get_timestamp () - start, arrived);
  return flow;
}

static GstFlowReturn
next_output (gpointer element, gboolean all, GstBuffer ** output)
{
  GstCclMotion *const self = element;
  GstFlowReturn flow = GST_FLOW_OK;

  *output = NULL;
  while (!*output && flow == GST_FLOW_OK && self->n_frames > (all ? 0 : self->depth))
    flow = finish_frame (self, output);
  if (flow != GST_FLOW_OK)
    discard_frames (self);
  return flow;
}

static GstFlowReturn
drain (GstCclMotion * self)
{
  const GstFlowReturn flow = gst_ccl_held_drain (GST_BASE_TRANSFORM (self), next_output);

  discard_frames (self);
  return flow;
}

static GstFlowReturn
gst_ccl_motion_generate_output (GstBaseTransform * transform, GstBuffer ** output)
{
  return next_output (transform, FALSE, output);
}

static GstFlowReturn
gst_ccl_motion_transform_ip (GstBaseTransform * transform, GstBuffer * buffer)
{
  GstCclMotion *const self = GST_CCL_MOTION (transform);
  const CclMotionInfo *const info = &self->info;
  GstCclMaskMeta *const meta = gst_buffer_add_ccl_mask_meta (buffer, self->mask,
      GST_VIDEO_INFO_WIDTH (&self->in_info), GST_VIDEO_INFO_HEIGHT (&self->in_info));

  meta->source = self->source;
  meta->n_foreground = info->foreground;
  meta->area_ratio = info->pixels ? info->foreground / (gdouble) info->pixels : 0;
  if (info->flags & CCL_MOTION_LEARNING)
    meta->flags |= GST_CCL_MASK_META_FLAG_LEARNING;
  if (info->flags & CCL_MOTION_GLOBAL_CHANGE)
    meta->flags |= GST_CCL_MASK_META_FLAG_GLOBAL_CHANGE;
  return GST_FLOW_OK;
}

/* With output=mask the mask is what leaves. */
static GstFlowReturn
gst_ccl_motion_prepare_output_buffer (GstBaseTransform * transform, GstBuffer * input, GstBuffer ** output)
{
  GstCclMotion *const self = GST_CCL_MOTION (transform);
  GstBaseTransformClass *const klass = GST_BASE_TRANSFORM_GET_CLASS (transform);

  if (get_output (self) == GST_CCL_MOTION_OUTPUT_PASSTHROUGH)
    return GST_BASE_TRANSFORM_CLASS (parent_class)->prepare_output_buffer (transform, input, output);
  *output = g_steal_pointer (&self->mask);
  return klass->copy_metadata (transform, input, *output) ? GST_FLOW_OK : GST_FLOW_ERROR;
}

static GstFlowReturn
gst_ccl_motion_transform (GstBaseTransform * transform, GstBuffer * input, GstBuffer * output)
{
  (void) transform, (void) input, (void) output;
  return GST_FLOW_OK;
}

/* ---------------------------------------------------------------- input */

/* The output property and the size of the mask, at a frame boundary: other caps, so the base class has to negotiate
 * before it goes on. */
static void
take_output (GstCclMotion * self)
{
  gint output;
  guint height;

  GST_OBJECT_LOCK (self);
  output = self->wanted_output;
  height = self->settings.work_height;
  GST_OBJECT_UNLOCK (self);
  if (output == get_output (self)
      && (output == GST_CCL_MOTION_OUTPUT_PASSTHROUGH || height == get_output_height (self)))
    return;
  drain (self);
  drop_pool (self);
  put_output (self, output, height);
  if (self->detector)
    self->pool = create_pool (self);
  gst_base_transform_set_in_place (GST_BASE_TRANSFORM (self), output == GST_CCL_MOTION_OUTPUT_PASSTHROUGH);
  gst_base_transform_reconfigure_src (GST_BASE_TRANSFORM (self));
  /* In place upstream's buffers go on downstream, which has not agreed to their layout yet. */
  gst_base_transform_reconfigure_sink (GST_BASE_TRANSFORM (self));
}

static GstFlowReturn
gst_ccl_motion_submit_input_buffer (GstBaseTransform * transform, gboolean is_discont, GstBuffer * input)
{
  GstCclMotion *const self = GST_CCL_MOTION (transform);
  const GstClockTime arrived = gst_util_get_timestamp ();
  GstFlowReturn flow;

  take_output (self);
  /* The base class puts the mark on whatever leaves next, so nothing older may be left. */
  if (GST_BUFFER_IS_DISCONT (input))
    drain (self);
  flow = GST_BASE_TRANSFORM_CLASS (parent_class)->submit_input_buffer (transform, is_discont, input);
  /* So it does after a frame that qos=true dropped. */
  if (flow == GST_BASE_TRANSFORM_FLOW_DROPPED)
    drain (self);
  if (flow != GST_FLOW_OK || !transform->queued_buf)
    return flow;
  input = g_steal_pointer (&transform->queued_buf);
  if (take_settings (self, input))
    return enqueue (self, input, arrived);
  gst_buffer_unref (input);
  return GST_FLOW_ERROR;
}

/* ---------------------------------------------------------------- negotiation */

static gboolean
is_system_memory (GstCapsFeatures * features, GstStructure * structure, gpointer unused)
{
  (void) structure, (void) unused;
  return !gst_caps_features_contains (features, GST_CCL_CUDA_FEATURE);
}

/* With `work_height` the size of the mask follows from the frame's, and nothing about the frame's from the mask's. */
static void
scale_size (GstStructure * structure, guint work_height, gboolean to_mask)
{
  gint width, height;

  if (!work_height)
    return;
  if (to_mask && gst_structure_get_int (structure, "width", &width)
      && gst_structure_get_int (structure, "height", &height)) {
    const guint mask_height = mask_height_for (height, work_height);
    gst_structure_set (structure, "width", G_TYPE_INT, work_width (width, height, mask_height),
        "height", G_TYPE_INT, mask_height, NULL);
  } else {
    gst_structure_set (structure, "width", GST_TYPE_INT_RANGE, 1, 16384, "height", GST_TYPE_INT_RANGE, 1, 16384, NULL);
  }
}

/* Caps of masks for frames of the caps `caps`, or the other way round. */
static GstCaps *
caps_across (GstCclMotion * self, GstCaps * caps, gboolean to_mask)
{
  GstCaps *result = gst_caps_new_empty ();

  for (guint i = 0; i < gst_caps_get_size (caps); i++) {
    GstStructure *structure = gst_structure_copy (gst_caps_get_structure (caps, i));

    gst_structure_remove_fields (structure, "colorimetry", "chroma-site", NULL);
    scale_size (structure, get_output_height (self), to_mask);
    if (to_mask)
      gst_structure_set (structure, "format", G_TYPE_STRING, "GRAY8", NULL);
    else
      gst_structure_remove_field (structure, "format");
    if (!to_mask) {
      GstCaps *const cuda = gst_caps_new_full (gst_structure_copy (structure), NULL);
      gst_caps_set_features (cuda, 0, gst_caps_features_new (GST_CCL_CUDA_FEATURE, NULL));
      result = gst_caps_merge (result, cuda);
    }
    result = gst_caps_merge_structure (result, structure);
  }
  return result;
}

static GstCaps *
gst_ccl_motion_transform_caps (GstBaseTransform * transform, GstPadDirection direction, GstCaps * caps,
    GstCaps * filter)
{
  GstCclMotion *const self = GST_CCL_MOTION (transform);
  GstCaps *result;

  if (get_output (self) == GST_CCL_MOTION_OUTPUT_PASSTHROUGH)
    result = gst_caps_copy (caps);
  else
    result = caps_across (self, caps, direction == GST_PAD_SINK);

  /* The templates are the same everywhere; what we offer is what can be done here. */
  if (!gst_ccl_cuda_load ())
    gst_caps_filter_and_map_in_place (result, (GstCapsFilterMapFunc) is_system_memory, NULL);
  if (filter) {
    GstCaps *both = gst_caps_intersect_full (filter, result, GST_CAPS_INTERSECT_FIRST);
    gst_caps_unref (result);
    result = both;
  }
  return result;
}

static gboolean
gst_ccl_motion_set_caps (GstBaseTransform * transform, GstCaps * in_caps, GstCaps * out_caps)
{
  GstCclMotion *const self = GST_CCL_MOTION (transform);
  GstVideoInfo in_info, out_info;

  if (!gst_video_info_from_caps (&in_info, in_caps) || !gst_video_info_from_caps (&out_info, out_caps)) {
    GST_ERROR_OBJECT (self, "caps that are no video: %" GST_PTR_FORMAT, in_caps);
    return FALSE;
  }
  drain (self);
  self->in_info = in_info;
  gst_base_transform_set_in_place (transform, get_output (self) == GST_CCL_MOTION_OUTPUT_PASSTHROUGH);
  copy_settings (self);
  if (!ensure_detector (self))
    return FALSE;
  take_depth (self);
  warn_of_open (self);
  return TRUE;
}

static gboolean
gst_ccl_motion_get_unit_size (GstBaseTransform * transform, GstCaps * caps, gsize * size)
{
  GstVideoInfo info;

  (void) transform;
  if (!gst_video_info_from_caps (&info, caps))
    return FALSE;
  *size = GST_VIDEO_INFO_SIZE (&info);
  return TRUE;
}

static gboolean
gst_ccl_motion_propose_allocation (GstBaseTransform * transform, GstQuery * decide_query, GstQuery * query)
{
  GstCclMotion *const self = GST_CCL_MOTION (transform);
  const gboolean ok = GST_BASE_TRANSFORM_CLASS (parent_class)->propose_allocation (transform, decide_query, query);

  gst_ccl_crop_refuse (query);
  copy_settings (self);         /* they may be why upstream asks */
  gst_ccl_held_ask_for_buffers (&self->held, query, self->now.async_depth);
  /* In place the buffers go on downstream, which says itself what it understands. */
  if (get_output (self) == GST_CCL_MOTION_OUTPUT_PASSTHROUGH)
    return ok;
  gst_query_add_allocation_meta (query, GST_VIDEO_META_API_TYPE, NULL);
  return TRUE;
}

/* Of a frame's metadata only what holds for its mask too. */
static gboolean
gst_ccl_motion_transform_meta (GstBaseTransform * transform, GstBuffer * output, GstMeta * meta, GstBuffer * input)
{
  (void) transform, (void) output, (void) input;
  return gst_meta_api_type_get_tags (meta->info->api) == NULL || !gst_meta_api_type_get_tags (meta->info->api)[0];
}

/* ---------------------------------------------------------------- events, queries, states */

static gboolean
gst_ccl_motion_sink_event (GstBaseTransform * transform, GstEvent * event)
{
  GstCclMotion *const self = GST_CCL_MOTION (transform);

  if (GST_EVENT_TYPE (event) == GST_EVENT_FLUSH_STOP) {
    discard_frames (self);
    forget (self);
  } else if (GST_EVENT_IS_SERIALIZED (event)) {
    drain (self);
    if (GST_EVENT_TYPE (event) == GST_EVENT_STREAM_START)
      gst_ccl_held_start_stream (&self->held, event);
    else if (GST_EVENT_TYPE (event) == GST_EVENT_CAPS)
      take_output (self);
  }
  if (GST_EVENT_TYPE (event) == GST_EVENT_EOS) {
    end_motion (self, self->now.post_messages, NULL);
    hint_when_all_learnt (self);
  }
  return GST_BASE_TRANSFORM_CLASS (parent_class)->sink_event (transform, event);
}

static gboolean
gst_ccl_motion_query (GstBaseTransform * transform, GstPadDirection direction, GstQuery * query)
{
  GstCclMotion *const self = GST_CCL_MOTION (transform);
  GstClockTime latency;

  if (GST_QUERY_TYPE (query) == GST_QUERY_CONTEXT && gst_ccl_cuda_query_context (&self->cuda, query))
    return TRUE;
  /* DRAIN and ALLOCATION: whoever asks wants its buffers back. */
  if (direction == GST_PAD_SINK && GST_QUERY_IS_SERIALIZED (query))
    drain (self);
  if (!gst_ccl_query_steadily (GST_BASE_TRANSFORM_CLASS (parent_class), transform, direction, query,
          &self->n_output_changes))
    return FALSE;
  if (GST_QUERY_TYPE (query) == GST_QUERY_LATENCY && direction == GST_PAD_SRC) {
    GST_OBJECT_LOCK (self);
    latency = self->latency;
    GST_OBJECT_UNLOCK (self);
    gst_ccl_held_add_latency (query, latency);
  }
  return TRUE;
}

static void
gst_ccl_motion_set_context (GstElement * element, GstContext * context)
{
  gst_ccl_cuda_set_context (&GST_CCL_MOTION (element)->cuda, context);
  GST_ELEMENT_CLASS (parent_class)->set_context (element, context);
}

/* Opens a small detector, so that a device that is not there stops the pipeline before the first frame. */
static gboolean
start (GstCclMotion * self)
{
  GstBaseTransform *const transform = GST_BASE_TRANSFORM (self);
  gchar *wrong_ignore;

  copy_settings (self);
  GST_OBJECT_LOCK (self);
  memset (&self->stats, 0, sizeof self->stats);
  self->active_backend = GST_CCL_BACKEND_AUTO;
  self->latency = 0;
  put_output (self, self->wanted_output, self->settings.work_height);
  self->streaming = TRUE;
  wrong_ignore = g_steal_pointer (&self->wrong_ignore);
  GST_OBJECT_UNLOCK (self);
  if (wrong_ignore)
    warn_of_ignore (self, wrong_ignore);
  g_free (wrong_ignore);
  warn_of_settings (self);
  gst_base_transform_set_in_place (transform, get_output (self) == GST_CCL_MOTION_OUTPUT_PASSTHROUGH);
  self->cuda_lost = FALSE;
  self->first = self->n_frames = 0;
  gst_ccl_held_start (&self->held);
  self->depth = MIN (self->now.async_depth, self->held.granted);
  self->moving = FALSE;
  self->last_time = GST_CLOCK_TIME_NONE;
  self->source = g_quark_from_string (GST_OBJECT_NAME (self));
  gst_video_info_set_format (&self->in_info, GST_VIDEO_FORMAT_GRAY8, 16, 16);
  return ensure_detector (self);
}

static gboolean
gst_ccl_motion_stop (GstBaseTransform * transform)
{
  GstCclMotion *const self = GST_CCL_MOTION (transform);

  discard_frames (self);
  end_motion (self, self->now.post_messages, NULL);
  close_detector (self);
  gst_ccl_cuda_close (&self->cuda);
  GST_OBJECT_LOCK (self);
  self->active_backend = GST_CCL_BACKEND_AUTO;
  self->streaming = FALSE;
  put_output (self, self->wanted_output, self->settings.work_height);
  GST_OBJECT_UNLOCK (self);
  return TRUE;
}

/* After a start that failed the base class does not stop. */
static gboolean
gst_ccl_motion_start (GstBaseTransform * transform)
{
  if (start (GST_CCL_MOTION (transform)))
    return TRUE;
  gst_ccl_motion_stop (transform);
  return FALSE;
}

/* ---------------------------------------------------------------- properties */

/* What cannot be read leaves the polygons as they were. Before the start nobody hears a warning: then it says so. */
static void
set_ignore (GstCclMotion * self, const gchar * text)
{
  GError *error = NULL;
  GPtrArray *const polygons = parse_polygons (text, &error);
  gboolean streaming;

  if (!polygons) {
    GST_OBJECT_LOCK (self);
    streaming = self->streaming;
    if (!streaming) {
      g_free (self->wrong_ignore);
      self->wrong_ignore = g_strdup (error->message);
    }
    GST_OBJECT_UNLOCK (self);
    if (streaming)
      warn_of_ignore (self, error->message);
    g_error_free (error);
    return;
  }
  g_ptr_array_unref (polygons);
  GST_OBJECT_LOCK (self);
  g_clear_pointer (&self->wrong_ignore, g_free);
  g_free (self->ignore);
  self->ignore = g_strdup (text ? text : "");
  self->settings.ignore_serial++;
  GST_OBJECT_UNLOCK (self);
}

/* The properties that are fields and nothing else, for reading at least. */
static const GstCclPropertyRow fields[N_PROPERTIES] = {
  [PROP_OUTPUT] = GST_CCL_PROPERTY_ROW (GstCclMotion, wanted_output),
  [PROP_METHOD] = GST_CCL_PROPERTY_ROW (GstCclMotion, settings.method),
  [PROP_THRESHOLD] = GST_CCL_PROPERTY_ROW (GstCclMotion, settings.params.threshold),
  [PROP_LEARNING_RATE] = GST_CCL_PROPERTY_ROW (GstCclMotion, settings.params.learning_rate),
  [PROP_WARMUP_FRAMES] = GST_CCL_PROPERTY_ROW (GstCclMotion, settings.params.warmup_frames),
  [PROP_FREEZE_ON_MOTION] = GST_CCL_PROPERTY_ROW (GstCclMotion, settings.params.freeze),
  [PROP_MEDIAN] = GST_CCL_PROPERTY_ROW (GstCclMotion, settings.params.median),
  [PROP_CONFIRM_FRAMES] = GST_CCL_PROPERTY_ROW (GstCclMotion, settings.params.confirm_frames),
  [PROP_OPEN] = GST_CCL_PROPERTY_ROW (GstCclMotion, settings.params.open),
  [PROP_CLOSE] = GST_CCL_PROPERTY_ROW (GstCclMotion, settings.params.close),
  [PROP_DILATE] = GST_CCL_PROPERTY_ROW (GstCclMotion, settings.params.dilate),
  [PROP_WORK_HEIGHT] = GST_CCL_PROPERTY_ROW (GstCclMotion, settings.work_height),
  [PROP_MAX_MOTION] = GST_CCL_PROPERTY_ROW (GstCclMotion, settings.params.max_motion),
  [PROP_MIN_MOTION] = GST_CCL_PROPERTY_ROW (GstCclMotion, settings.min_motion),
  [PROP_POST_MESSAGES] = GST_CCL_PROPERTY_ROW (GstCclMotion, settings.post_messages),
  [PROP_OFF_DELAY] = GST_CCL_PROPERTY_ROW (GstCclMotion, settings.off_delay),
  [PROP_ASYNC_DEPTH] = GST_CCL_PROPERTY_ROW (GstCclMotion, settings.async_depth),
  [PROP_BACKEND] = GST_CCL_PROPERTY_ROW (GstCclMotion, settings.backend),
  [PROP_ACTIVE_BACKEND] = GST_CCL_PROPERTY_ROW (GstCclMotion, active_backend),
  [PROP_CUDA_DEVICE_ID] = GST_CCL_PROPERTY_ROW (GstCclMotion, cuda.device_id),
  [PROP_THREADS] = GST_CCL_PROPERTY_ROW (GstCclMotion, settings.threads),
};

static void
gst_ccl_motion_set_property (GObject * object, guint id, const GValue * value, GParamSpec * pspec)
{
  GstCclMotion *const self = GST_CCL_MOTION (object);
  Settings *const settings = &self->settings;
  CclMotionParams *const params = &settings->params;

  if (id == PROP_IGNORE) {
    set_ignore (self, g_value_get_string (value));
    return;
  }
  GST_OBJECT_LOCK (self);
  switch (id) {
    case PROP_OUTPUT:
      self->wanted_output = g_value_get_enum (value);
      if (!self->streaming)
        put_output (self, self->wanted_output, settings->work_height);
      break;
    case PROP_SHADOW:
      params->drop_shadow = g_value_get_enum (value) == GST_CCL_SHADOW_DROP;
      break;
    case PROP_WORK_HEIGHT:
      settings->work_height = g_value_get_uint (value);
      if (!self->streaming)
        put_output (self, self->wanted_output, settings->work_height);
      break;
    default:
      if (!gst_ccl_property_row_set (self, &fields[id], value))
        G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
      break;
  }
  GST_OBJECT_UNLOCK (self);
}

static GstStructure *
create_stats (GstCclMotion * self)
{
  const Stats *const stats = &self->stats;
  static const gchar *const backends[] = { "none", "cuda", "cpu" };
  GstStructure *structure = gst_structure_new ("cclmotion-stats",
      "frames", G_TYPE_UINT64, stats->frames,
      "learning", G_TYPE_UINT64, stats->learning,
      "with-motion", G_TYPE_UINT64, stats->with_motion,
      "global-changes", G_TYPE_UINT64, stats->global_changes,
      "area-ratio", G_TYPE_DOUBLE, stats->area_ratio,
      "backend", G_TYPE_STRING, backends[self->active_backend],
      "path", G_TYPE_STRING, stats->path ? stats->path : "none",
      "host-bytes", G_TYPE_UINT64, (guint64) stats->host_bytes,
      "device-bytes", G_TYPE_UINT64, (guint64) stats->device_bytes, NULL);

  gst_ccl_min_avg_max_to_structure (&stats->detect, "detect", structure);
  gst_ccl_min_avg_max_to_structure (&stats->host, "host", structure);
  gst_ccl_min_avg_max_to_structure (&stats->latency, "latency", structure);
  return structure;
}

static void
gst_ccl_motion_get_property (GObject * object, guint id, GValue * value, GParamSpec * pspec)
{
  GstCclMotion *const self = GST_CCL_MOTION (object);
  const CclMotionParams *const params = &self->settings.params;

  GST_OBJECT_LOCK (self);
  switch (id) {
    case PROP_SHADOW:
      g_value_set_enum (value, params->drop_shadow ? GST_CCL_SHADOW_DROP : GST_CCL_SHADOW_KEEP);
      break;
    case PROP_IGNORE:
      g_value_set_string (value, self->ignore);
      break;
    case PROP_STATS:
      g_value_take_boxed (value, create_stats (self));
      break;
    default:
      if (!gst_ccl_property_row_get (self, &fields[id], value))
        G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
      break;
  }
  GST_OBJECT_UNLOCK (self);
}

static void
install_properties (GObjectClass * klass)
{
  const GParamFlags always = G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS;
  const GParamFlags playing = always | GST_PARAM_MUTABLE_PLAYING;
  const GParamFlags controlled = playing | GST_PARAM_CONTROLLABLE;
  const GParamFlags reading = G_PARAM_READABLE | G_PARAM_STATIC_STRINGS;
  const CclMotionParams params = ccl_motion_params_default ();

  properties[PROP_OUTPUT] = g_param_spec_enum ("output", "Output",
      "The picture that leaves", GST_TYPE_CCL_MOTION_OUTPUT,
      GST_CCL_MOTION_OUTPUT_PASSTHROUGH, playing);
  properties[PROP_METHOD] = g_param_spec_enum ("method", "Method",
      "Model of the background, which decides what differs from it",
      GST_TYPE_CCL_MOTION_METHOD, CCL_MOTION_MOG2, playing);
  properties[PROP_THRESHOLD] = g_param_spec_uint ("threshold", "Threshold",
      "Gray levels by which a pixel must differ from the background (mog2: in quiet places; where there is more "
      "noise, in proportion to it); 0: 12 for mog2, 25 for the others", 0, 255, params.threshold, controlled);
  properties[PROP_LEARNING_RATE] = g_param_spec_double ("learning-rate", "Learning rate",
      "Part of the background that each frame replaces: 0.01 takes in what stays for some 30 frames, 0 learns "
      "nothing; the first frames count for more; -1, as all below 0: 0.003", -1, 1, params.learning_rate, controlled);
  properties[PROP_WARMUP_FRAMES] = g_param_spec_uint ("warmup-frames", "Warm-up frames",
      "First frames, to learn from: their masks are empty; 0: none", 0, G_MAXUINT, params.warmup_frames, controlled);
  properties[PROP_FREEZE_ON_MOTION] = g_param_spec_boolean ("freeze-on-motion", "Freeze on motion",
      "Learn nothing where something moves: what stops stays foreground for ever", params.freeze, controlled);
  properties[PROP_SHADOW] = g_param_spec_enum ("shadow", "Shadow", "What to do with cast shadows (not method=diff)",
      GST_TYPE_CCL_SHADOW, params.drop_shadow ? GST_CCL_SHADOW_DROP : GST_CCL_SHADOW_KEEP, controlled);
  properties[PROP_MEDIAN] = g_param_spec_uint ("median", "Median",
      "Noise suppression: radius in pixels of the square in which a pixel of the mask takes the value most pixels "
      "have; 0: off",
      0, 2, params.median, controlled);
  properties[PROP_CONFIRM_FRAMES] = g_param_spec_uint ("confirm-frames", "Confirm frames",
      "Frames in a row in which a pixel must be foreground; 1: at once",
      1, CCL_MOTION_MAX_CONFIRM, params.confirm_frames,
      controlled);
  properties[PROP_OPEN] = g_param_spec_uint ("open", "Open",
      "Radius r in pixels of the mask: foreground thinner than 2r+1 goes; 0: off",
      0, CCL_MOTION_MAX_RADIUS, params.open, controlled);
  properties[PROP_CLOSE] = g_param_spec_uint ("close", "Close",
      "Radius r in pixels of the mask: gaps thinner than 2r+1 are filled; 0: off",
      0, CCL_MOTION_MAX_RADIUS, params.close, controlled);
  properties[PROP_DILATE] = g_param_spec_uint ("dilate", "Dilate",
      "Radius in pixels of the mask by which the foreground grows in the end; 0: off",
      0, CCL_MOTION_MAX_RADIUS, params.dilate, controlled);
  properties[PROP_WORK_HEIGHT] = g_param_spec_uint ("work-height", "Working height",
      "Height to scale frames down to before anything else, pixels: the mask has that size, and blobs are mapped "
      "back; 0: that of the frames", 0, 4320, 0, playing);
  properties[PROP_MAX_MOTION] = g_param_spec_double ("max-motion", "Maximum motion",
      "When more than this part of the picture does not fit the background, all of it has changed (light, camera): "
      "the mask is empty and flagged, and learning starts again; 1: never", 0, 1, params.max_motion, controlled);
  properties[PROP_IGNORE] = g_param_spec_string ("ignore", "Ignore",
      "Polygons in which nothing counts: \"x,y;x,y;x,y|x,y;...\", in pixels of the frame or, when no coordinate of a "
      "polygon is above 1, in parts of it", "", playing);
  properties[PROP_MIN_MOTION] = g_param_spec_double ("min-motion", "Minimum motion",
      "Part of the picture, up to 1, that must be foreground for messages to speak of motion (see post-messages)",
      0, 1, 0.0005, controlled);
  properties[PROP_POST_MESSAGES] = g_param_spec_enum ("post-messages", "Post messages",
      "Which element messages \"ccl-motion\" to post on the bus", GST_TYPE_CCL_POST_MESSAGES, GST_CCL_POST_EDGES,
      playing);
  properties[PROP_OFF_DELAY] = g_param_spec_uint64 ("off-delay", "Off delay",
      "Time without motion after which messages say that it has ended, nanoseconds",
      0, G_MAXINT64, 5 * GST_SECOND, controlled);
  properties[PROP_ASYNC_DEPTH] = g_param_spec_uint ("async-depth", "Asynchronous depth",
      "Frames held back so that the GPU works on several at once; adds as many frames of latency, and nothing else on "
      "the CPU; 0: none",
      0, MAX_ASYNC_DEPTH, 0, playing);
  properties[PROP_BACKEND] = g_param_spec_enum ("backend", "Backend",
      "Where motion is detected. auto: on a GPU where there is one, else (or once it fails) on the CPU",
      GST_TYPE_CCL_BACKEND, GST_CCL_BACKEND_AUTO, playing);
  properties[PROP_ACTIVE_BACKEND] = g_param_spec_enum ("active-backend", "Active backend",
      "Where motion is detected now; auto: not started", GST_TYPE_CCL_BACKEND, GST_CCL_BACKEND_AUTO, reading);
  properties[PROP_CUDA_DEVICE_ID] = g_param_spec_int ("cuda-device-id", "CUDA device ID",
      "Index of the GPU to use; -1: any. One that is not there is an error with backend=cuda; with auto a warning, and the "
      "CPU has to do", -1, G_MAXINT, -1, always | GST_PARAM_MUTABLE_READY);
  properties[PROP_THREADS] = g_param_spec_uint ("threads", "Threads",
      "CPU threads to detect with, which all streams of a process share; 0: as many as help, 1: the stream's own. Changed "
      "while playing: learns again",
      0, 1024, 0, playing);
  properties[PROP_STATS] = g_param_spec_boxed ("stats", "Statistics",
      "Since the start: frames, learning (frames of it), with-motion, global-changes; area-ratio of the last frame; "
      "backend, path, host-bytes, device-bytes; detect-us (from submission until the mask is there), host-us (time "
      "spent on a frame) and latency-us (from its arrival until it leaves), each -min, -avg and -max in microseconds "
      "(-1: not measured)", GST_TYPE_STRUCTURE, reading);
  g_object_class_install_properties (klass, N_PROPERTIES, properties);
}

static void
gst_ccl_motion_finalize (GObject * object)
{
  GstCclMotion *const self = GST_CCL_MOTION (object);

  gst_ccl_cuda_clear (&self->cuda);
  g_free (self->ignore);
  g_free (self->wrong_ignore);
  G_OBJECT_CLASS (parent_class)->finalize (object);
}

static void
gst_ccl_motion_class_init (GstCclMotionClass * klass)
{
  GObjectClass *const object = G_OBJECT_CLASS (klass);
  GstElementClass *const element = GST_ELEMENT_CLASS (klass);
  GstBaseTransformClass *const transform = GST_BASE_TRANSFORM_CLASS (klass);

  object->set_property = gst_ccl_motion_set_property;
  object->get_property = gst_ccl_motion_get_property;
  object->finalize = gst_ccl_motion_finalize;
  install_properties (object);

  gst_element_class_add_static_pad_template (element, &sink_template);
  gst_element_class_add_static_pad_template (element, &src_template);
  gst_element_class_set_static_metadata (element, "Motion detection", "Filter/Analyzer/Video",
      ccl_backend_built (CCL_BACKEND_CUDA)
      ? "Finds what moves before a fixed camera, on CUDA or the CPU, and attaches it to each frame as a mask"
      : "Finds what moves before a fixed camera and attaches it to each frame as a mask "
      "(CPU only: built without the CUDA toolkit)", "gst-ccl contributors");
  element->set_context = gst_ccl_motion_set_context;

  transform->start = gst_ccl_motion_start;
  transform->stop = gst_ccl_motion_stop;
  transform->transform_caps = gst_ccl_motion_transform_caps;
  transform->set_caps = gst_ccl_motion_set_caps;
  transform->get_unit_size = gst_ccl_motion_get_unit_size;
  transform->propose_allocation = gst_ccl_motion_propose_allocation;
  transform->transform_meta = gst_ccl_motion_transform_meta;
  transform->before_transform = gst_ccl_sync_properties;
  transform->submit_input_buffer = gst_ccl_motion_submit_input_buffer;
  transform->generate_output = gst_ccl_motion_generate_output;
  transform->prepare_output_buffer = gst_ccl_motion_prepare_output_buffer;
  transform->transform_ip = gst_ccl_motion_transform_ip;
  transform->transform = gst_ccl_motion_transform;
  transform->sink_event = gst_ccl_motion_sink_event;
  transform->query = gst_ccl_motion_query;

  gst_type_mark_as_plugin_api (GST_TYPE_CCL_MOTION_METHOD, 0);
  gst_type_mark_as_plugin_api (GST_TYPE_CCL_MOTION_OUTPUT, 0);
  gst_type_mark_as_plugin_api (GST_TYPE_CCL_SHADOW, 0);
  gst_type_mark_as_plugin_api (GST_TYPE_CCL_POST_MESSAGES, 0);
}

static void
gst_ccl_motion_init (GstCclMotion * self)
{
  self->settings = (Settings) {
    .method = CCL_MOTION_MOG2,
    .params = ccl_motion_params_default (),
    .min_motion = 0.0005,
    .post_messages = GST_CCL_POST_EDGES,
    .off_delay = 5 * GST_SECOND,
    .ignore_serial = 1,
  };
  self->ignore = g_strdup ("");
  gst_ccl_cuda_init (&self->cuda, GST_ELEMENT (self));
  gst_base_transform_set_in_place (GST_BASE_TRANSFORM (self), TRUE);
}
