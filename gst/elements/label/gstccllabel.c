/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/**
 * SECTION:element-ccllabel
 * @title: ccllabel
 * @short_description: finds the blobs of a mask and attaches them as metadata
 *
 * Takes binary masks (or video whose luma plane is a mask), labels their connected components and attaches a
 * #GstCclBlobMeta to each buffer: box, area, centroid and covariance of every blob, exact. The picture flows on
 * untouched and uncopied.
 *
 * Runs on the CPU or on an NVIDIA GPU (#ccllabel:backend); masks may be in system memory or in CUDA memory.
 *
 * ## Blobs of a mask, printed as JSON
 * |[
 * gst-launch-1.0 -q videotestsrc pattern=ball num-buffers=30 ! video/x-raw,format=GRAY8 ! ccllabel threshold=127 !
 *     cclmeta2json ! fdsink
 * ]|
 * The threshold is for video, whose black is 16; a mask of zeroes and anything else needs none.
 * ## Dark print on white paper: everything up to 127 is foreground
 * |[
 * gst-launch-1.0 filesrc location=page.png ! pngdec ! videoconvert ! video/x-raw,format=GRAY8 !
 *     ccllabel threshold=127 invert=true connectivity=4 ! cclmeta2json ! fdsink
 * ]|
 * ## The mask without its specks
 * |[
 * gst-launch-1.0 videotestsrc pattern=snow ! video/x-raw,format=GRAY8 !
 *     ccllabel threshold=200 min-area=20 output=mask ! videoconvert ! autovideosink
 * ]|
 * ## Moving things in a video: the mask comes beside the frames, the blobs are on the frames
 * |[
 * gst-launch-1.0 -q videotestsrc pattern=ball num-buffers=100 ! video/x-raw,format=I420 ! cclmotion !
 *     ccllabel mask-source=mask-meta ! cclmeta2json ! fdsink
 * ]|
 * ## Regions of interest for elements that do not know GstCclBlobMeta
 * |[
 * gst-launch-1.0 videotestsrc pattern=ball ! video/x-raw,format=GRAY8 !
 *     ccllabel threshold=127 attach=blob+roi roi-type=ball ! fakesink
 * ]|
 * ## The outline of every blob, as a polygon
 * |[
 * gst-launch-1.0 -q videotestsrc pattern=ball num-buffers=30 ! video/x-raw,format=GRAY8 ! ccllabel threshold=127
 *     contours=true contour-epsilon=2 ! cclmeta2json ! fdsink
 * ]|
 * ## Blobs that keep one number through ten frames, as long as they touch from frame to frame
 * |[
 * gst-launch-1.0 -q videotestsrc pattern=ball num-buffers=30 ! video/x-raw,format=GRAY8 !
 *     ccllabel threshold=127 volume=10 ! cclmeta2json ! fdsink
 * ]|
 * ## One frame of delay for more throughput: the upload of a frame overlaps the analysis of the one before
 * |[
 * gst-launch-1.0 videotestsrc ! video/x-raw,format=GRAY8,width=3840,height=2160 !
 *     ccllabel threshold=127 backend=cuda async-depth=1 ! fakesink
 * ]|
 */

#include "gstccllabel.h"

#include <string.h>

#include <gst/video/video.h>
#include <gst/ccl/gstcclblobmeta.h>

#include "ccl.h"
#include "analysis/contour.h"
#include "base/gstcclcrop.h"
#include "base/gstcclcuda.h"
#include "base/gstcclenums.h"
#include "base/gstcclpropertyrow.h"
#include "base/gstccldelayqueue.h"
#include "base/gstcclhint.h"
#include "base/gstcclmask.h"
#include "gstcclmasksource.h"
#include "base/gstcclpinned.h"
#include "base/gstcclminavgmax.h"
#include "base/gstcclsequencelock.h"
#include "base/gstccltime.h"
#include "gstcclvolume.h"

GST_DEBUG_CATEGORY_STATIC (gst_ccl_label_debug);
#define GST_CAT_DEFAULT gst_ccl_label_debug

#define MAX_ASYNC_DEPTH (CCL_MAX_DEPTH - 1)

/* Frames in a row without any background after which the user is told. */
#define FULL_FRAMES_UNTIL_HINT 10
#define MAX_CLASSES 15         /* the greatest value of a pixel that is no black of video's */

#define SIZE_RANGE "width = (int) [ 1, 16384 ], height = (int) [ 1, 16384 ], framerate = " GST_VIDEO_FPS_RANGE
#define YUV_FORMATS "NV12, NV21, I420, YV12, Y42B, Y444"
#if G_BYTE_ORDER == G_LITTLE_ENDIAN
#define GRAY_FORMATS "GRAY8, GRAY16_LE, "
#else
#define GRAY_FORMATS "GRAY8, "
#endif
#define SYSTEM_CAPS "video/x-raw, format = (string) { " GRAY_FORMATS YUV_FORMATS " }, " SIZE_RANGE
#define OUTPUT_CAPS "video/x-raw, format = (string) { GRAY16_LE, RGBA }, " SIZE_RANGE
#ifdef HAVE_GST_CUDA
#define CUDA_CAPS \
  "video/x-raw(" GST_CCL_CUDA_FEATURE "), format = (string) { GRAY8, " YUV_FORMATS " }, " SIZE_RANGE "; "
#else
#define CUDA_CAPS ""
#endif

static GstStaticPadTemplate sink_template = GST_STATIC_PAD_TEMPLATE ("sink", GST_PAD_SINK, GST_PAD_ALWAYS,
    GST_STATIC_CAPS (CUDA_CAPS SYSTEM_CAPS));
static GstStaticPadTemplate src_template = GST_STATIC_PAD_TEMPLATE ("src", GST_PAD_SRC, GST_PAD_ALWAYS,
    GST_STATIC_CAPS (CUDA_CAPS SYSTEM_CAPS "; " OUTPUT_CAPS));

/* What decides which code labels the pixels. */
typedef struct
{
  gint backend;
  gint algorithm;
  gint connectivity;
} Method;

/* The properties. Written under the object lock; the streaming thread copies them once per frame. */
typedef struct
{
  Method method;
  GstCclMaskChoice mask;
  gint threshold;
  gboolean invert;
  CclFilter filter;
  guint max_components;
  gint order;
  guint attach;
  guint max_mirror;
  gboolean contours;
  gdouble contour_epsilon;
  guint contour_max_points;
  const gchar *roi_type;        /* interned */
  guint interval;
  guint volume;
  guint async_depth;
  gboolean skip_when_late;
  gint output;
  guint threads;
  gboolean timing;
  gboolean batch;
} Settings;

/* All that a labeller (the core's context) is made for: another request, another labeller. Compared as bytes. */
typedef struct
{
  Method method;
  gint width, height;
  guint max_components;
  gint order;
  guint depth;
  guint volume;
  guint threads;
  gboolean labels;
  gboolean timing;
  gboolean batch;
  gboolean no_cuda;             /* the device failed; the CPU has to do */
  gpointer cuda_context;
} Request;

/* A frame between submission and output: a slot of the ring. */
typedef struct
{
  GstBuffer *buffer;
  gboolean analysed;            /* else skipped: nothing mapped, nothing submitted */
  Settings settings;            /* as they were when it came */
  GstCclFoundMask mask;
  GstCclMaskView view;
  guint32 *labels;              /* the slot's label image, where the output needs one */
  CclMemory labels_memory;
  gint volume_frame;            /* its place in the volume */
  GstClockTime arrived;
  GstClockTime host_time;       /* spent here on its behalf until it was submitted */
} Frame;

/* A frame whose table is there, on its way out. */
typedef struct
{
  gboolean analysed;
  gboolean of_picture;          /* not of a mask beside it */
  Settings settings;
  CclTable table;
  GstCclBlobList *list;         /* NULL: nothing is attached */
  const guint32 *labels;
  gint volume_frame;
  guint width, height;          /* of the mask */
  guint32 flags;                /* of its meta */
  gdouble matrix[9];            /* mask to frame */
} Result;

typedef struct
{
  guint64 frames;
  guint64 skipped;
  guint64 components;
  guint64 truncated;
  guint64 volumes;
  guint64 late;
  GstCclMinAvgMax upload, kernel, contour, host, latency;
  GstCclMinAvgMax batch, wait;     /* frames launched together; before that */
  GstCclMinAvgMax pack;
  const gchar *path;
  const gchar *algorithm, *volume_algorithm;
  gsize host_bytes, device_bytes;
} Stats;

struct _GstCclLabel
{
  GstBaseTransform parent;

  Settings settings;            /* object lock */
  GstCclCuda cuda;

  /* Streaming thread. */
  Settings now;                 /* the settings of the current frame */
  GstVideoInfo in_info, out_info;
  GstCclFoundMask mask;         /* of the current frame, until it is submitted */
  gboolean has_mask;
  gint mask_width, mask_height; /* of the last mask seen */
  gint output;                  /* GstCclOutput in effect; atomic */
  gint n_output_changes;        /* see gstcclsteady.h */
  gboolean streaming;
  Method accepted, rejected;    /* last method that worked; last that contradicts itself, until something else is set */
  guint rejected_volume;        /* with this many frames */
  gboolean cuda_lost;
  gboolean failed;              /* and the application has been told: nothing comes any more */
  Request request;
  GstCclHeld held;
  CclContext *labeller;
  CclContours *contours;
  GQuark source;

  GstCclVolume volume;          /* output waits here, with the property volume */
  Frame frames[CCL_MAX_DEPTH];
  guint first, n_frames, depth;
  Result result;
  guint64 n_submitted;          /* since start or flush, for interval */
  gboolean warned_truncated, warned_saturated, warned_no_mask, warned_threshold;
  gint limited_width, limited_height;   /* of the mask the limits were last compared with */
  guint n_without_blobs;        /* gst_ccl_hint_is_due() */
  guint n_full_frames;          /* in a row; stays at FULL_FRAMES_UNTIL_HINT once the user was told */

  /* Object lock. */
  gint active_backend;
  GstClockTime latency;
  GstClockTime earliest;        /* running time before which a frame is late */
  gdouble proportion;
  Stats stats;
};

enum
{
  PROP_0,
  PROP_BACKEND,
  PROP_ACTIVE_BACKEND,
  PROP_ALGORITHM,
  PROP_CONNECTIVITY,
  PROP_MASK_SOURCE,
  PROP_SEGMENTATION,
  PROP_REGION_ID,
  PROP_THRESHOLD,
  PROP_INVERT,
  PROP_MIN_AREA,
  PROP_MAX_AREA,
  PROP_MIN_REL_AREA,
  PROP_MAX_REL_AREA,
  PROP_MIN_WIDTH,
  PROP_MAX_WIDTH,
  PROP_MIN_HEIGHT,
  PROP_MAX_HEIGHT,
  PROP_BORDER,
  PROP_MAX_COMPONENTS,
  PROP_SORT,
  PROP_ATTACH,
  PROP_MAX_MIRROR,
  PROP_CONTOURS,
  PROP_CONTOUR_EPSILON,
  PROP_CONTOUR_MAX_POINTS,
  PROP_ROI_TYPE,
  PROP_INTERVAL,
  PROP_VOLUME,
  PROP_ASYNC_DEPTH,
  PROP_SKIP_WHEN_LATE,
  PROP_OUTPUT,
  PROP_CUDA_DEVICE_ID,
  PROP_THREADS,
  PROP_TIMING,
  PROP_BATCH,
  PROP_STATS,
  N_PROPERTIES
};

static GParamSpec *properties[N_PROPERTIES];

#define gst_ccl_label_parent_class parent_class
G_DEFINE_FINAL_TYPE_WITH_CODE (GstCclLabel, gst_ccl_label, GST_TYPE_BASE_TRANSFORM,
    GST_DEBUG_CATEGORY_INIT (gst_ccl_label_debug, "ccllabel", 0, "connected component labelling"));
GST_ELEMENT_REGISTER_DEFINE (ccllabel, "ccllabel", GST_RANK_NONE, GST_TYPE_CCL_LABEL);

/* Caps are asked for in any thread. */
static gint
get_output (GstCclLabel * self)
{
  return g_atomic_int_get (&self->output);
}

static void
put_output (GstCclLabel * self, gint output)
{
  g_atomic_int_inc (&self->n_output_changes);
  g_atomic_int_set (&self->output, output);
  g_atomic_int_inc (&self->n_output_changes);
}

/* ---------------------------------------------------------------- the labeller */

static void
free_label_image (Frame * frame)
{
  if (frame->labels && frame->labels_memory == CCL_MEMORY_PINNED)
    ccl_pinned_free (frame->labels);
  else
    g_free (frame->labels);
  frame->labels = NULL;
}

static void
close_labeller (GstCclLabel * self)
{
  gst_ccl_cuda_push (&self->cuda);
  ccl_context_free (self->labeller);
  self->labeller = NULL;
  gst_ccl_volume_close (&self->volume);
  for (guint i = 0; i < CCL_MAX_DEPTH; i++)
    free_label_image (&self->frames[i]);
  gst_ccl_cuda_pop (&self->cuda);
}

/* For the frames, and for their volumes where those are wanted. A method named labels one or the other. */
static CclStatus
open_contexts (GstCclLabel * self, const CclConfig * config, guint n_frames, gint algorithm)
{
  CclConfig of_frames = *config, of_volume = *config;
  CclStatus status;

  if (n_frames && gst_ccl_algorithm_is_for_volumes (algorithm))
    of_frames.algorithm = NULL;
  else
    of_volume.algorithm = NULL;
  status = ccl_context_new (&of_frames, &self->labeller);
  if (status != CCL_OK || !n_frames)
    return status;
  status = gst_ccl_volume_open (&self->volume, &of_volume, n_frames);
  if (status != CCL_OK) {
    ccl_context_free (self->labeller);
    self->labeller = NULL;
  }
  return status;
}

static CclStatus
open_labeller_on (GstCclLabel * self, CclBackendKind kind, const Request * request, gchar ** message)
{
  CclConfig config = ccl_config_default ();
  CclStatus status;

  if (kind == CCL_BACKEND_CUDA && !self->cuda.current && !gst_ccl_cuda_open (&self->cuda)) {
    *message = self->cuda.device_id < 0 ? g_strdup ("no CUDA device gives us a context")
        : g_strdup_printf ("there is no CUDA device %d", self->cuda.device_id);
    return CCL_ERROR_NO_DEVICE;
  }

  config.backend = kind;
  config.algorithm = gst_ccl_algorithm_get_name (request->method.algorithm);
  config.connectivity = request->method.connectivity;
  config.max_width = request->width;
  config.max_height = request->height;
  config.max_components = request->max_components;
  config.order = request->order;
  config.depth = request->depth + 1;
  config.labels = request->labels;
  config.timing = request->timing || kind == CCL_BACKEND_CPU;   /* on the CPU it costs nothing */
  config.device = gst_ccl_cuda_get_device (&self->cuda);
  config.threads = request->threads;
  config.shared = request->batch;

  gst_ccl_cuda_push (&self->cuda);
  status = open_contexts (self, &config, request->volume, request->method.algorithm);
  gst_ccl_cuda_pop (&self->cuda);
  if (status == CCL_OK)
    return status;
  *message = g_strdup (ccl_error_message ());
  return ccl_backend_built (kind) ? status : CCL_ERROR_NO_DEVICE;
}

/* Which backends the properties leave open. */
static gboolean
may_use (const Method * method, CclBackendKind kind)
{
  if (method->backend != GST_CCL_BACKEND_AUTO)
    return method->backend == (kind == CCL_BACKEND_CUDA ? GST_CCL_BACKEND_CUDA : GST_CCL_BACKEND_CPU);
  return gst_ccl_algorithm_has_backend (method->algorithm, kind);
}

/* Opens the labeller on the best backend there is. */
static CclStatus
open_labeller (GstCclLabel * self, const Request * request, gchar ** message)
{
  const gboolean cpu = may_use (&request->method, CCL_BACKEND_CPU);
  gchar *why = NULL;
  CclStatus status;

  if (may_use (&request->method, CCL_BACKEND_CUDA) && !(cpu && request->no_cuda)) {
    status = open_labeller_on (self, CCL_BACKEND_CUDA, request, message);
    if (status == CCL_OK || !cpu)
      return status;
    why = g_steal_pointer (message);
    if (gst_ccl_cuda_is_missed (&self->cuda, status)) {
      self->cuda_lost = TRUE;
      GST_ELEMENT_WARNING (self, RESOURCE, FAILED, ("The GPU cannot be used: %s. Continuing on the CPU.", why), (NULL));
    }
  }
  status = open_labeller_on (self, CCL_BACKEND_CPU, request, message);
  if (status == CCL_OK && self->active_backend != GST_CCL_BACKEND_CPU)
    GST_INFO_OBJECT (self, "backend=%s: using the CPU%s%s",
        request->method.backend == GST_CCL_BACKEND_AUTO ? "auto" : "cpu", why ? " because " : "", why ? why : "");
  g_free (why);
  return status;
}

/* Page-locked where the device fills it, if there is enough of that. */
static void
allocate_label_image (GstCclLabel * self, Frame * frame, gsize size)
{
  frame->labels = NULL;
  frame->labels_memory = CCL_MEMORY_PINNED;
  if (ccl_context_algorithm (self->labeller)->backend == CCL_BACKEND_CUDA)
    frame->labels = ccl_pinned_alloc (size, gst_ccl_cuda_get_device (&self->cuda));
  if (frame->labels)
    return;
  frame->labels_memory = CCL_MEMORY_HOST;
  frame->labels = g_try_malloc (size);
}

static gboolean
allocate_label_images (GstCclLabel * self, const Request * request)
{
  gboolean ok = TRUE;

  gst_ccl_cuda_push (&self->cuda);
  for (guint i = 0; i <= request->depth && request->labels && ok; i++) {
    allocate_label_image (self, &self->frames[i], (gsize) request->width * request->height * sizeof (guint32));
    ok = self->frames[i].labels != NULL;
  }
  gst_ccl_cuda_pop (&self->cuda);
  return ok;
}

static void
post_open_error (GstCclLabel * self, CclStatus status, const gchar * message)
{
  switch (status) {
    case CCL_ERROR_NO_DEVICE:
      GST_ELEMENT_ERROR (self, RESOURCE, NOT_FOUND, ("No GPU to label on: %s.", message),
          ("Use backend=auto or backend=cpu, with algorithm=auto, or make an NVIDIA driver and device visible here."));
      break;
    case CCL_ERROR_OUT_OF_MEMORY:
      GST_ELEMENT_ERROR (self, RESOURCE, NO_SPACE_LEFT, ("Not enough memory to label: %s.", message),
          ("Smaller frames, max-components, volume or async-depth need less."));
      break;
    case CCL_ERROR_DEVICE:
      GST_ELEMENT_ERROR (self, RESOURCE, FAILED, ("The GPU failed: %s.", message),
          ("backend=auto continues on the CPU."));
      break;
    default:
      GST_ELEMENT_ERROR (self, LIBRARY, SETTINGS, ("These settings do not go together: %s.", message),
          ("Choose another algorithm, connectivity, backend, sort or volume, or leave algorithm=auto."));
      break;
  }
}

/* Called when the labeller is another one: tells whoever asks. */
static void
announce_labeller (GstCclLabel * self)
{
  const CclAlgorithmInfo *const info = ccl_context_algorithm (self->labeller);
  gsize host_bytes = 0, device_bytes = 0;
  const gint backend = info->backend == CCL_BACKEND_CUDA ? GST_CCL_BACKEND_CUDA : GST_CCL_BACKEND_CPU;
  gboolean changed;

  if (self->volume.labeller)
    ccl_context_memory (self->volume.labeller, &host_bytes, &device_bytes);
  GST_OBJECT_LOCK (self);
  changed = self->active_backend != backend;
  self->active_backend = backend;
  self->stats.algorithm = info->name;
  self->stats.volume_algorithm = self->volume.labeller ? ccl_context_algorithm (self->volume.labeller)->name : NULL;
  ccl_context_memory (self->labeller, &self->stats.host_bytes, &self->stats.device_bytes);
  self->stats.host_bytes += host_bytes;
  self->stats.device_bytes += device_bytes;
  GST_OBJECT_UNLOCK (self);

  GST_DEBUG_OBJECT (self, "algorithm \"%s\" on %s for masks up to %dx%d", info->name,
      backend == GST_CCL_BACKEND_CUDA ? "CUDA" : "the CPU", self->request.width, self->request.height);
  if (!changed)
    return;
  if (backend == GST_CCL_BACKEND_CUDA)
    GST_INFO_OBJECT (self, "backend=%s: using CUDA", self->request.method.backend ? "cuda" : "auto");
  g_object_notify_by_pspec (G_OBJECT (self), properties[PROP_ACTIVE_BACKEND]);
}

/* A volume leaves when its last frame is there, in flight or not. */
static guint
frames_held_back (guint volume, guint depth)
{
  return volume ? volume - 1 : depth;
}

static void
update_latency (GstCclLabel * self)
{
  const GstClockTime latency = gst_ccl_held_latency (&self->in_info,
      frames_held_back (self->request.volume, self->depth));
  gboolean changed;

  GST_OBJECT_LOCK (self);
  changed = self->latency != latency;
  self->latency = latency;
  GST_OBJECT_UNLOCK (self);
  if (changed)
    gst_element_post_message (GST_ELEMENT (self), gst_message_new_latency (GST_OBJECT (self)));
}

static guint
wanted_volume (GstCclLabel * self)
{
  return self->now.volume > 1 ? self->now.volume : 0;
}

/* A method that cannot be is not tried for every frame, but again once something it depends on was changed. */
static gboolean
is_rejected (GstCclLabel * self)
{
  const gboolean same = self->rejected_volume == wanted_volume (self)
      && !memcmp (&self->now.method, &self->rejected, sizeof self->rejected);

  if (!same)
    memset (&self->rejected, 0, sizeof self->rejected);
  return same;
}

static guint
wanted_frames_held_back (GstCclLabel * self)
{
  return frames_held_back (wanted_volume (self), self->now.async_depth);
}

/* Until upstream has buffers for what is wanted. A method for volumes waits for them, and frames go on with the one before. */
static void
fit_in_room (GstCclLabel * self, Request * request)
{
  request->depth = MIN (request->depth, self->held.granted);
  if (!request->volume)
    return;
  request->volume = self->request.volume;
  if (!gst_ccl_held_has_room (&self->held, frames_held_back (request->volume, request->depth)))
    request->volume = 0;
  if (request->volume)
    return;
  if (gst_ccl_algorithm_is_for_volumes (request->method.algorithm))
    request->method = self->accepted;
  if (gst_ccl_algorithm_is_for_volumes (request->method.algorithm))
    request->method.algorithm = GST_CCL_ALGORITHM_AUTO;
}

static void
fill_request (GstCclLabel * self, Request * request)
{
  memset (request, 0, sizeof *request);
  request->method = is_rejected (self) ? self->accepted : self->now.method;
  request->width = self->mask_width;
  request->height = self->mask_height;
  request->max_components = self->now.max_components;
  request->order = self->now.order;
  request->depth = self->now.async_depth;
  request->volume = wanted_volume (self);
  request->threads = self->now.threads;
  request->labels = get_output (self) != GST_CCL_OUTPUT_PASSTHROUGH;
  request->timing = self->now.timing;
  request->batch = self->now.batch;
  request->no_cuda = self->cuda_lost;
  request->cuda_context = self->cuda.current;
  /* Not before the start has found out whether the settings go together. */
  if (self->accepted.connectivity && !gst_ccl_held_has_room (&self->held, wanted_frames_held_back (self)))
    fit_in_room (self, request);
}

static void
copy_settings (GstCclLabel * self)
{
  GST_OBJECT_LOCK (self);
  self->now = self->settings;
  GST_OBJECT_UNLOCK (self);
}

/* The method before, or any where that one does not go with the volume any more. */
static CclStatus
fall_back (GstCclLabel * self, Request * request, CclStatus status, gchar ** message)
{
  const Method wanted = request->method;
  gboolean stays = memcmp (&wanted, &self->accepted, sizeof wanted) != 0;
  gchar *why = g_steal_pointer (message);

  request->method = self->accepted;
  if (stays)
    status = open_labeller (self, request, message);
  if (status == CCL_ERROR_UNSUPPORTED && self->accepted.algorithm != GST_CCL_ALGORITHM_AUTO) {
    g_clear_pointer (message, g_free);
    stays = FALSE;
    request->method.algorithm = GST_CCL_ALGORITHM_AUTO;
    status = open_labeller (self, request, message);
  }
  if (status == CCL_OK) {
    self->rejected = wanted;
    self->rejected_volume = wanted_volume (self);
    GST_ELEMENT_WARNING (self, LIBRARY, SETTINGS, ("Cannot change over: %s. %s", why,
            stays ? "The method stays as it was." : "Going on with algorithm=auto."),
        ("Choose another algorithm, connectivity or backend, or set volume."));
  }
  if (status != CCL_OK && !*message)
    *message = g_steal_pointer (&why);
  g_free (why);
  return status;
}

/* A method that contradicts itself is an error at first; later, while playing, it is a warning. */
static gboolean
rebuild_labeller (GstCclLabel * self, Request request)
{
  gchar *message = NULL;
  CclStatus status;

  close_labeller (self);
  status = open_labeller (self, &request, &message);
  if ((status == CCL_ERROR_UNSUPPORTED || status == CCL_ERROR_NO_DEVICE) && self->accepted.connectivity)
    status = fall_back (self, &request, status, &message);
  if (status == CCL_OK && !allocate_label_images (self, &request)) {
    status = CCL_ERROR_OUT_OF_MEMORY;
    message = g_strdup_printf ("no memory for label images of %dx%d", request.width, request.height);
  }
  if (status != CCL_OK) {
    post_open_error (self, status, message);
    g_free (message);
    close_labeller (self);
    return FALSE;
  }

  self->accepted = request.method;
  /* What was found out just now. */
  request.cuda_context = self->cuda.current;
  request.no_cuda = self->cuda_lost;
  self->request = request;
  self->depth = request.depth;
  announce_labeller (self);
  update_latency (self);
  return TRUE;
}

/* ---------------------------------------------------------------- frames in flight */

static CclStatus
submit_frame (GstCclLabel * self, Frame * frame)
{
  const CclLabels labels = {
    .data = frame->labels,
    .stride = frame->view.mask.width * sizeof (guint32),
    .memory = frame->labels_memory,
  };
  CclStatus status;

  gst_ccl_cuda_push (&self->cuda);
  status = ccl_submit (self->labeller, &frame->view.mask, &frame->settings.filter, frame->labels ? &labels : NULL);
  if (status == CCL_OK && self->volume.labeller)
    status = gst_ccl_volume_add (&self->volume, &frame->view.mask, &frame->volume_frame);
  gst_ccl_cuda_pop (&self->cuda);
  return status;
}

static CclStatus
collect_frame (GstCclLabel * self, CclTable * table)
{
  CclStatus status;

  gst_ccl_cuda_push (&self->cuda);
  status = ccl_collect (self->labeller, table);
  gst_ccl_cuda_pop (&self->cuda);
  return status;
}

static gboolean
map_frame (GstCclLabel * self, Frame * frame, GError ** error)
{
  GstBuffer *const buffer = frame->mask.buffer ? frame->mask.buffer : frame->buffer;
  CclMask *const mask = &frame->view.mask;
  const gboolean on_device = self->active_backend == GST_CCL_BACKEND_CUDA && gst_buffer_n_memory (buffer)
      && gst_ccl_cuda_can_read (&self->cuda, gst_buffer_peek_memory (buffer, 0));

  if (!gst_ccl_mask_view_map (&frame->view, buffer, &frame->mask.info, on_device, error))
    return FALSE;
  if (frame->settings.threshold >= 0)
    mask->threshold = frame->settings.threshold;
  else
    mask->threshold = GST_VIDEO_INFO_IS_YUV (&frame->mask.info) ? 127 : 0; /* studio black is 16, not 0 */
  mask->invert = frame->settings.invert;
  return TRUE;
}

static void
unmap_frame (Frame * frame)
{
  if (frame->analysed)
    gst_ccl_mask_view_unmap (&frame->view);
  frame->analysed = FALSE;
}

static Frame *
nth_frame (GstCclLabel * self, guint n)
{
  return &self->frames[(self->first + n) % (self->depth + 1)];
}

/* After the device failed: the frames in flight are done again on the CPU, if the properties allow that. */
static gboolean
continue_on_cpu (GstCclLabel * self, CclStatus status)
{
  gchar *message = g_strdup (ccl_error_message ());
  Request request = self->request;

  if (self->active_backend != GST_CCL_BACKEND_CUDA || !may_use (&self->request.method, CCL_BACKEND_CPU)) {
    self->failed = TRUE;
    post_open_error (self, status, message);
    g_free (message);
    return FALSE;
  }
  GST_ELEMENT_WARNING (self, RESOURCE, FAILED, ("The GPU failed: %s. Continuing on the CPU.", message), (NULL));
  g_free (message);

  self->cuda_lost = request.no_cuda = TRUE;
  self->failed = !rebuild_labeller (self, request);
  if (self->failed)
    return FALSE;
  for (guint i = 0; i < self->n_frames; i++) {
    Frame *const frame = nth_frame (self, i);

    if (!frame->analysed)
      continue;
    unmap_frame (frame);
    /* A mask that cannot be brought home from the lost device is a frame not analysed, but not a frame lost. */
    frame->analysed = map_frame (self, frame, NULL);
    if (frame->analysed && submit_frame (self, frame) != CCL_OK)
      unmap_frame (frame);
  }
  return TRUE;
}

static void
release_frame (GstCclLabel * self)
{
  Frame *const frame = nth_frame (self, 0);

  unmap_frame (frame);
  gst_clear_buffer (&frame->mask.buffer);
  gst_clear_buffer (&frame->buffer);
  self->n_frames--;
  self->first = self->n_frames ? (self->first + 1) % (self->depth + 1) : 0;     /* 0: the depth may change now */
}

static void
discard_frames (GstCclLabel * self)
{
  CclTable table;

  while (self->n_frames) {
    if (nth_frame (self, 0)->analysed && self->labeller)
      collect_frame (self, &table);
    release_frame (self);
  }
  gst_ccl_volume_discard (&self->volume);
}

static void
count_frame (GstCclLabel * self, const Frame * frame)
{
  const CclTable *const table = &self->result.table;
  Stats *const stats = &self->stats;

  GST_OBJECT_LOCK (self);
  stats->frames++;
  if (frame->analysed) {
    stats->components += table->n_components;
    stats->truncated += (table->flags & CCL_TABLE_TRUNCATED) != 0;
    stats->path = frame->view.path;
    gst_ccl_min_avg_max_add (&stats->upload, table->upload_us);
    gst_ccl_min_avg_max_add (&stats->kernel, table->kernel_us);
    gst_ccl_min_avg_max_add (&stats->batch, table->batch_size);
    gst_ccl_min_avg_max_add (&stats->wait, table->wait_us);
    gst_ccl_min_avg_max_add (&stats->pack, table->pack_us);
  } else {
    stats->skipped++;
  }
  GST_OBJECT_UNLOCK (self);
}

static void
count_time (GstCclLabel * self, GstClockTime host_time)
{
  GST_OBJECT_LOCK (self);
  if (self->result.analysed)
    gst_ccl_min_avg_max_add (&self->stats.host, host_time / (gdouble) GST_USECOND);
  GST_OBJECT_UNLOCK (self);
}

static void
count_latency (GstCclLabel * self, GstClockTime arrived)
{
  const GstClockTime latency = gst_util_get_timestamp () - arrived;

  GST_OBJECT_LOCK (self);
  gst_ccl_min_avg_max_add (&self->stats.latency, latency / (gdouble) GST_USECOND);
  self->stats.volumes = self->volume.n_volumes;
  GST_OBJECT_UNLOCK (self);
}

/* ---------------------------------------------------------------- the list of blobs */

G_STATIC_ASSERT (CCL_TOUCHES_LEFT == GST_CCL_BLOB_FLAG_TOUCHES_LEFT);
G_STATIC_ASSERT (CCL_TOUCHES_TOP == GST_CCL_BLOB_FLAG_TOUCHES_TOP);
G_STATIC_ASSERT (CCL_TOUCHES_RIGHT == GST_CCL_BLOB_FLAG_TOUCHES_RIGHT);
G_STATIC_ASSERT (CCL_TOUCHES_BOTTOM == GST_CCL_BLOB_FLAG_TOUCHES_BOTTOM);

static GstCclBlobList *
list_from_table (const CclTable * table)
{
  GstCclBlob *blobs;
  GstCclBlobList *list = gst_ccl_blob_list_new_uninitialized (table->n_components, &blobs);

  for (guint i = 0; i < table->n_components; i++) {
    const CclComponent *const component = &table->components[i];
    blobs[i] = (GstCclBlob) {
      .label = component->label,
      .flags = component->flags,
      .x = component->x0,
      .y = component->y0,
      .width = component->x1 - component->x0,
      .height = component->y1 - component->y0,
      .first_x = component->first_x,
      .area = component->moments.area,
      .m10 = component->moments.m10,
      .m01 = component->moments.m01,
      .m20 = component->moments.m20,
      .m11 = component->moments.m11,
      .m02 = component->moments.m02,
      .mtd_id = GST_CCL_MTD_ID_NONE,
    };
  }
  return list;
}

/* Contours are traced on the host: a mask in device memory is brought home for them. */
static gboolean
bring_mask_home (GstCclLabel * self, Frame * frame)
{
  GstBuffer *const buffer = frame->mask.buffer ? frame->mask.buffer : frame->buffer;
  const CclMask mask = frame->view.mask;
  GError *error = NULL;

  if (mask.memory != CCL_MEMORY_DEVICE)
    return TRUE;
  gst_ccl_mask_view_unmap (&frame->view);
  if (!gst_ccl_mask_view_map (&frame->view, buffer, &frame->mask.info, FALSE, &error)) {
    GST_WARNING_OBJECT (self, "no contours: %s", error->message);
    g_error_free (error);
    return FALSE;
  }
  frame->view.mask.threshold = mask.threshold;
  frame->view.mask.invert = mask.invert;
  return TRUE;
}

/* One after the other, as many as can be. */
static void
trace_contours (GstCclLabel * self, const Frame * frame, const CclTable * table, GstCclBlob * blobs)
{
  const CclContourConfig config = {
    .connectivity = self->accepted.connectivity,
    .epsilon = frame->settings.contour_epsilon,
    .max_points = frame->settings.contour_max_points,
  };

  ccl_contours_clear (self->contours);
  for (guint i = 0; i < table->n_components; i++) {
    gsize first;
    guint32 n;

    ccl_contours_points (self->contours, &first);
    if (ccl_contours_add (self->contours, &frame->view.mask, &table->components[i], &config, &n) != CCL_OK) {
      GST_WARNING_OBJECT (self, "blob %u goes without a contour: %s", blobs[i].label, ccl_error_message ());
      continue;
    }
    blobs[i].first_point = first;
    blobs[i].n_contour = n;
  }
}

G_STATIC_ASSERT (sizeof (CclPoint) == sizeof (GstCclPoint));

static GstCclBlobList *
list_with_contours (GstCclLabel * self, Frame * frame, const CclTable * table)
{
  const GstClockTime start = gst_util_get_timestamp ();
  GstCclBlobList *list = list_from_table (table);
  const CclPoint *points;
  gsize n_points;
  GBytes *bytes;

  if (!self->contours)
    self->contours = ccl_contours_new ();
  if (table->n_components == 0 || !self->contours || !bring_mask_home (self, frame))
    return list;
  trace_contours (self, frame, table, (GstCclBlob *) gst_ccl_blob_list_get (list, 0));
  points = ccl_contours_points (self->contours, &n_points);
  bytes = g_bytes_new (points, n_points * sizeof (CclPoint));
  gst_ccl_blob_list_set_points (list, bytes);
  g_bytes_unref (bytes);

  GST_OBJECT_LOCK (self);
  gst_ccl_min_avg_max_add (&self->stats.contour, (gst_util_get_timestamp () - start) / (gdouble) GST_USECOND);
  GST_OBJECT_UNLOCK (self);
  return list;
}

/* Masks of classes, 0 and 1 mostly, have no blobs to a threshold that is meant for black and white. Video without anything
 * in it has none either, but its black is 16; and the noise of a difference changes every few
 * pixels. */
static void
hint_when_dim (GstCclLabel * self, const Frame * frame)
{
  const CclMask *const mask = &frame->view.mask;
  guint most = 0, n_dim = 0, n_steps = 0;

  if (!frame->analysed || !gst_ccl_hint_is_due (&self->n_without_blobs, self->result.table.n_found > 0)
      || mask->threshold == 0 || mask->invert || mask->memory == CCL_MEMORY_DEVICE || mask->pixel_size > 1)
    return;
  for (guint y = 0; y < mask->height; y++) {
    const guint8 *const row = (const guint8 *) mask->data + y * mask->stride;
    for (guint x = 0; x < mask->width; x++) {
      most = MAX (most, row[x]);
      n_dim += row[x] > 0;
      n_steps += x > 0 && row[x] != row[x - 1];
    }
  }
  if (most > 0 && most <= MAX_CLASSES && n_steps <= n_dim / 2)
    GST_ELEMENT_WARNING (self, STREAM, FORMAT,
        ("No blob in the first %d frames: pixels are up to %u in the last, and only those above the threshold, %u, count.",
            GST_CCL_HINT_FRAMES, most, mask->threshold),
        ("For a mask of 0 and 1, or of classes, threshold=0 takes all but 0. Said once per caps."));
}

/* Waits for the oldest frame and lets the base class make its output: transform_ip() or transform() below see it as
 * self->result. */
static GstFlowReturn
finish_frame (GstCclLabel * self, GstBuffer ** output, GstClockTime * came)
{
  GstBaseTransform *const transform = GST_BASE_TRANSFORM (self);
  Frame *const frame = nth_frame (self, 0);
  const GstClockTime start = gst_util_get_timestamp (), arrived = frame->arrived, host_time = frame->host_time;
  GstFlowReturn flow;
  CclStatus status;

  *came = arrived;
  memset (&self->result, 0, sizeof self->result);
  if (frame->analysed) {
    status = collect_frame (self, &self->result.table);
    if (status != CCL_OK) {
      if (!continue_on_cpu (self, status))
        return GST_FLOW_ERROR;
      if (frame->analysed && collect_frame (self, &self->result.table) != CCL_OK)
        unmap_frame (frame);
    }
  }
  self->result.analysed = frame->analysed;
  self->result.of_picture = !frame->mask.buffer;
  self->result.labels = frame->labels;
  self->result.volume_frame = frame->volume_frame;
  self->result.settings = frame->settings;
  self->result.width = GST_VIDEO_INFO_WIDTH (&frame->mask.info);
  self->result.height = GST_VIDEO_INFO_HEIGHT (&frame->mask.info);
  self->result.flags = frame->mask.flags;
  memcpy (self->result.matrix, frame->mask.matrix, sizeof self->result.matrix);
  count_frame (self, frame);
  if (frame->settings.attach)
    self->result.list = frame->analysed && frame->settings.contours
        ? list_with_contours (self, frame, &self->result.table) : list_from_table (&self->result.table);

  hint_when_dim (self, frame);
  unmap_frame (frame);
  transform->queued_buf = g_steal_pointer (&frame->buffer);
  release_frame (self);
  flow = GST_BASE_TRANSFORM_CLASS (parent_class)->generate_output (transform, output);
  count_time (self, host_time + gst_util_get_timestamp () - start);
  return flow;
}

/* A volume that cannot be labelled costs its blobs their ids, and no frame. */
static GstFlowReturn
finish_volume (GstCclLabel * self)
{
  CclStatus status;

  gst_ccl_cuda_push (&self->cuda);
  status = gst_ccl_volume_finish (&self->volume);
  gst_ccl_cuda_pop (&self->cuda);
  return status == CCL_OK || continue_on_cpu (self, status) ? GST_FLOW_OK : GST_FLOW_ERROR;
}

static GstFlowReturn
next_output (gpointer element, gboolean all, GstBuffer ** output)
{
  GstCclLabel *const self = element;
  GstCclVolume *const volume = &self->volume;
  GstFlowReturn flow = GST_FLOW_OK;
  GstClockTime arrived;

  *output = NULL;
  if (self->failed)
    return GST_FLOW_ERROR;
  *output = gst_ccl_volume_take (volume, &arrived);
  if (volume->labeller && !*output)
    all |= self->n_frames + gst_ccl_volume_n_held (volume) >= volume->max_frames;
  while (!*output && flow == GST_FLOW_OK && self->n_frames > (all ? 0 : self->depth)) {
    flow = finish_frame (self, output, &arrived);
    if (volume->labeller && *output)
      gst_ccl_volume_hold (volume, g_steal_pointer (output), self->result.list, self->result.volume_frame, arrived);
    g_clear_pointer (&self->result.list, gst_ccl_blob_list_unref);
  }
  if (flow == GST_FLOW_OK && !*output && all && gst_ccl_volume_n_held (volume)) {
    flow = finish_volume (self);
    *output = gst_ccl_volume_take (volume, &arrived);
  }
  if (*output)
    count_latency (self, arrived);
  return flow;
}

static GstFlowReturn
drain (GstCclLabel * self)
{
  const GstFlowReturn flow = gst_ccl_held_drain (GST_BASE_TRANSFORM (self), next_output);

  discard_frames (self);
  return flow;
}

/* ---------------------------------------------------------------- skipping */

static gboolean
is_late (GstCclLabel * self, GstBuffer * buffer)
{
  GstBaseTransform *const transform = GST_BASE_TRANSFORM (self);
  const GstClockTime timestamp = GST_BUFFER_PTS (buffer), running_time = gst_ccl_running_time (transform, timestamp);
  GstClockTime earliest;
  guint64 processed, dropped;
  gdouble proportion;
  GstMessage *message;

  GST_OBJECT_LOCK (self);
  earliest = self->earliest;
  proportion = self->proportion;
  processed = self->stats.frames - self->stats.skipped;
  dropped = self->stats.late + 1;
  if (!GST_CLOCK_TIME_IS_VALID (earliest) || !GST_CLOCK_TIME_IS_VALID (running_time) || running_time > earliest) {
    GST_OBJECT_UNLOCK (self);
    return FALSE;
  }
  self->stats.late++;
  GST_OBJECT_UNLOCK (self);

  GST_DEBUG_OBJECT (self, "late: %" GST_TIME_FORMAT " <= %" GST_TIME_FORMAT ", not analysed",
      GST_TIME_ARGS (running_time), GST_TIME_ARGS (earliest));
  message = gst_message_new_qos (GST_OBJECT (self), FALSE, running_time,
      gst_ccl_stream_time (transform, timestamp), timestamp, GST_BUFFER_DURATION (buffer));
  gst_message_set_qos_values (message, GST_CLOCK_DIFF (running_time, earliest), proportion, 1000000);
  gst_message_set_qos_stats (message, GST_FORMAT_BUFFERS, processed, dropped);
  gst_element_post_message (GST_ELEMENT (self), message);
  return TRUE;
}

static gboolean
should_skip (GstCclLabel * self, GstBuffer * buffer)
{
  if (self->n_submitted++ % self->now.interval)
    return TRUE;
  return self->now.skip_when_late && is_late (self, buffer);
}

static void
reset_lateness (GstCclLabel * self)
{
  GST_OBJECT_LOCK (self);
  self->earliest = GST_CLOCK_TIME_NONE;
  self->proportion = 1.0;
  GST_OBJECT_UNLOCK (self);
  self->n_submitted = 0;
}

/* ---------------------------------------------------------------- input */

/* The ids of volumes are in the metadata of frames that follow each other. */
static gboolean
check_volume (GstCclLabel * self)
{
  const Settings *const now = &self->now;
  const gchar *const why = now->volume <= 1 ? NULL
      : now->interval > 1 ? "interval leaves frames out"
      : get_output (self) != GST_CCL_OUTPUT_PASSTHROUGH ? "output takes the place of the frames held back"
      : !(now->attach & GST_CCL_ATTACH_BLOB) ? "attach does not say blob" : NULL;

  if (why)
    GST_ELEMENT_ERROR (self, LIBRARY, SETTINGS,
        ("These settings do not go together: volume=%u, but %s.", now->volume, why),
        ("volume goes with interval=1, output=passthrough and attach=blob; or leave volume=0."));
  return !why;
}

/* Opens what the settings and caps ask for, unless it is open already. */
static gboolean
ensure_labeller (GstCclLabel * self)
{
  Request wanted;

  if (!check_volume (self))
    return FALSE;
  fill_request (self, &wanted);
  if (self->labeller && !memcmp (&wanted, &self->request, sizeof wanted))
    return TRUE;
  drain (self);
  fill_request (self, &wanted); /* the GPU may have been lost with a frame held back */
  return rebuild_labeller (self, wanted);
}

/* Finds the mask of the frame that comes next; a frame that has none where it should takes the size of the last. */
static void
find_mask (GstCclLabel * self, GstBuffer * buffer)
{
  gst_clear_buffer (&self->mask.buffer);
  self->has_mask = gst_ccl_mask_source_find (&self->now.mask, buffer, &self->in_info, &self->mask);
  if (self->has_mask) {
    self->mask_width = GST_VIDEO_INFO_WIDTH (&self->mask.info);
    self->mask_height = GST_VIDEO_INFO_HEIGHT (&self->mask.info);
    return;
  }
  self->mask = (GstCclFoundMask) {.info = self->in_info,.matrix = {1, 0, 0, 0, 1, 0, 0, 0, 1} };
  if (!self->warned_no_mask)
    GST_ELEMENT_WARNING (self, STREAM, FORMAT, ("A frame carries no mask in its metadata: it is not analysed."),
        ("mask-source=mask-meta needs cclmotion (or another source of GstCclMaskMeta) upstream, segmentation-mtd a "
            "decoder of segmentations (the one that segmentation names, where that is set) and GStreamer 1.26; "
            "mask-source=frame takes the picture itself. Said once per caps."));
  self->warned_no_mask = TRUE;
}

/* Takes up what the properties say now. The frame that comes next is the first to see it. */
static gboolean
take_settings (GstCclLabel * self, GstBuffer * buffer)
{
  copy_settings (self);
  if (!gst_ccl_held_has_room (&self->held, wanted_frames_held_back (self)))
    gst_ccl_held_want_room (&self->held, GST_BASE_TRANSFORM (self), wanted_frames_held_back (self));
  find_mask (self, buffer);

  GstBuffer *const mask = self->mask.buffer ? self->mask.buffer : buffer;
  GstMemory *const memory = gst_buffer_n_memory (mask) ? gst_buffer_peek_memory (mask, 0) : NULL;

  if (memory && self->active_backend == GST_CCL_BACKEND_CUDA && gst_ccl_cuda_leads_elsewhere (&self->cuda, memory)) {
    drain (self);
    close_labeller (self);
    gst_ccl_cuda_follow (&self->cuda, memory);
  }
  return ensure_labeller (self);
}

/* The greatest value has none above it. */
static void
warn_of_threshold (GstCclLabel * self, const Frame * frame)
{
  const GstVideoFormatInfo *const format = frame->mask.info.finfo;
  const gint most = (1 << GST_VIDEO_FORMAT_INFO_DEPTH (format, 0)) - 1;
  const gboolean is_dead = frame->settings.threshold >= most;

  if (is_dead && !self->warned_threshold)
    GST_ELEMENT_WARNING (self, LIBRARY, SETTINGS, ("threshold=%d: no pixel of %s is greater, so %s.",
            frame->settings.threshold, GST_VIDEO_FORMAT_INFO_NAME (format),
            frame->settings.invert ? "each is foreground" : "there are no blobs"),
        ("Its pixels are from 0 to %d. Said once per caps.", most));
  self->warned_threshold = is_dead;
}

/* Limits that no blob of a mask of this size can meet; those that contradict each other were told of at the start. */
static void
warn_of_limits (GstCclLabel * self)
{
  const CclFilter *const filter = &self->now.filter;
  const guint width = self->mask_width, height = self->mask_height;
  const guint64 pixels = (guint64) width * height;
  const guint64 most_of_frame = filter->max_relative_area > 0 ? (guint64) (filter->max_relative_area * pixels) : pixels;
  const guint64 most_of_box = (guint64) (filter->max_width ? MIN (filter->max_width, width) : width)
      * (filter->max_height ? MIN (filter->max_height, height) : height);
  const guint64 most = MIN (most_of_frame, most_of_box);

  if (self->mask_width == self->limited_width && self->mask_height == self->limited_height)
    return;
  self->limited_width = self->mask_width;
  self->limited_height = self->mask_height;
  if (filter->min_width > width || filter->min_height > height)
    GST_ELEMENT_WARNING (self, LIBRARY, SETTINGS,
        ("min-%s=%u is more than a mask of %ux%u pixels has: no blob is kept.",
            filter->min_width > width ? "width" : "height",
            filter->min_width > width ? filter->min_width : filter->min_height, width, height),
        ("Said once per size."));
  else if (filter->min_area > most)
    GST_ELEMENT_WARNING (self, LIBRARY, SETTINGS,
        ("min-area=%" G_GUINT64_FORMAT ", but in a mask of %ux%u pixels a blob has %" G_GUINT64_FORMAT " at most%s: "
            "no blob is kept.", filter->min_area, width, height, most, most < pixels ? " by the other limits" : ""),
        ("Said once per size."));
}

static GstFlowReturn
enqueue (GstCclLabel * self, GstBuffer * buffer, GstClockTime arrived)
{
  const GstClockTime start = gst_util_get_timestamp ();
  Frame *const frame = nth_frame (self, self->n_frames++);
  GError *error = NULL;
  CclStatus status;

  frame->buffer = buffer;
  frame->arrived = arrived;
  frame->host_time = 0;
  frame->volume_frame = GST_CCL_VOLUME_NO_FRAME;
  frame->settings = self->now;
  frame->mask = self->mask;
  self->mask.buffer = NULL;
  if (should_skip (self, buffer) || !self->has_mask)
    return GST_FLOW_OK;

  frame->analysed = map_frame (self, frame, &error);
  if (!frame->analysed) {
    gst_element_message_full (GST_ELEMENT (self), GST_MESSAGE_ERROR, error->domain, error->code,
        g_strdup (error->message), NULL, __FILE__, GST_FUNCTION, __LINE__);
    g_error_free (error);
    gst_clear_buffer (&frame->mask.buffer);
    gst_clear_buffer (&frame->buffer);
    self->n_frames--;
    return GST_FLOW_ERROR;
  }
  warn_of_threshold (self, frame);
  warn_of_limits (self);
  status = submit_frame (self, frame);
  if (status != CCL_OK && !continue_on_cpu (self, status)) {
    discard_frames (self);
    return GST_FLOW_ERROR;
  }
  frame->host_time = gst_util_get_timestamp () - start;
  return GST_FLOW_OK;
}

static void
set_output (GstCclLabel * self, gint output)
{
  put_output (self, output);
  gst_base_transform_set_in_place (GST_BASE_TRANSFORM (self), output == GST_CCL_OUTPUT_PASSTHROUGH);
}

/* The output property, at a frame boundary: other caps, so the base class has to negotiate before it goes on. */
static void
take_output (GstCclLabel * self)
{
  gint output;

  GST_OBJECT_LOCK (self);
  output = self->settings.output;
  GST_OBJECT_UNLOCK (self);
  if (output == get_output (self))
    return;
  drain (self);
  set_output (self, output);
  gst_base_transform_reconfigure_src (GST_BASE_TRANSFORM (self));
  /* In place upstream's buffers go on downstream, which has not agreed to their layout yet. */
  gst_base_transform_reconfigure_sink (GST_BASE_TRANSFORM (self));
}

static GstFlowReturn
gst_ccl_label_submit_input_buffer (GstBaseTransform * transform, gboolean is_discont, GstBuffer * input)
{
  GstCclLabel *const self = GST_CCL_LABEL (transform);
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
  if (flow != GST_FLOW_OK)
    return flow;

  input = g_steal_pointer (&transform->queued_buf);
  if (self->failed || !take_settings (self, input)) {
    gst_buffer_unref (input);
    return GST_FLOW_ERROR;
  }
  return enqueue (self, input, arrived);
}

static GstFlowReturn
gst_ccl_label_generate_output (GstBaseTransform * transform, GstBuffer ** output)
{
  return next_output (GST_CCL_LABEL (transform), FALSE, output);
}

/* ---------------------------------------------------------------- output */

static void
warn_truncated (GstCclLabel * self)
{
  const CclTable *const table = &self->result.table;

  if (!(table->flags & CCL_TABLE_TRUNCATED) || self->warned_truncated)
    return;
  self->warned_truncated = TRUE;
  GST_ELEMENT_WARNING (self, RESOURCE, NO_SPACE_LEFT,
      ("A frame has %u blobs, the table holds %u: the rest are counted but not listed.", table->n_kept,
          table->n_components), ("Raise max-components, or filter with min-area. Said once per caps."));
}

/* Gray video, whose black is 16, is all foreground to the threshold of masks: what looks like a working pipeline. */
static void
hint_when_full (GstCclLabel * self)
{
  const CclTable *const table = &self->result.table;
  const gboolean full = self->result.of_picture && GST_VIDEO_INFO_IS_GRAY (&self->in_info)
      && self->result.settings.threshold < 0 && !self->result.settings.invert && table->n_components == 1
      && table->components[0].moments.area == (guint64) table->width * table->height;

  if (!self->result.analysed || self->n_full_frames == FULL_FRAMES_UNTIL_HINT)
    return;
  self->n_full_frames = full ? self->n_full_frames + 1 : 0;
  if (self->n_full_frames == FULL_FRAMES_UNTIL_HINT)
    GST_ELEMENT_WARNING (self, STREAM, FORMAT,
        ("Every pixel of the last %d frames is foreground: each is one blob.", FULL_FRAMES_UNTIL_HINT),
        ("Black is 16 and not 0 in most video: threshold=127 tells it from white. Said once per caps."));
}

/* The metadata of self->result. */
static void
attach (GstCclLabel * self, GstBuffer * buffer)
{
  const CclTable *const table = &self->result.table;
  const Settings *const settings = &self->result.settings;
  const guint attach = settings->attach;
  GstCclBlobMeta *meta;

  warn_truncated (self);
  hint_when_full (self);
  if (!attach)
    return;
  meta = gst_buffer_add_ccl_blob_meta (buffer, self->result.list, self->result.width, self->result.height);
  meta->width = GST_VIDEO_INFO_WIDTH (&self->in_info);
  meta->height = GST_VIDEO_INFO_HEIGHT (&self->in_info);
  memcpy (meta->matrix, self->result.matrix, sizeof meta->matrix);
  meta->flags |= self->result.flags;
  meta->n_kept = table->n_kept;
  meta->n_total = table->n_found;
  meta->connectivity = self->accepted.connectivity;
  meta->source = self->source;
  if (table->flags & CCL_TABLE_TRUNCATED)
    meta->flags |= GST_CCL_BLOB_META_FLAG_TRUNCATED;
  if (!self->result.analysed)
    meta->flags |= GST_CCL_BLOB_META_FLAG_SKIPPED;

  if (attach & GST_CCL_ATTACH_ANALYTICS)
    gst_buffer_add_ccl_analytics_mirror (buffer, meta, settings->roi_type, settings->max_mirror);
  if (attach & GST_CCL_ATTACH_ROI)
    gst_buffer_add_ccl_roi_mirror (buffer, meta, settings->roi_type, settings->max_mirror);
  if (!(attach & GST_CCL_ATTACH_BLOB))
    gst_buffer_remove_meta (buffer, (GstMeta *) meta);
}

/* Row of a picture `width` wide from a row of labels; where the mask has another size, the label nearest. */
static void
draw_row (guint8 * row, guint width, const guint32 * labels, guint n_labels, GstVideoFormat format)
{
  for (guint x = 0; x < width; x++) {
    const guint32 label = labels[n_labels == width ? x : (guint64) x * n_labels / width];

    if (format == GST_VIDEO_FORMAT_GRAY8)
      row[x] = label ? 255 : 0;
    else if (format == GST_VIDEO_FORMAT_GRAY16_LE)
      ((guint16 *) row)[x] = GUINT16_TO_LE (MIN (label, 65535));
    else                        /* RGBA */
      ((guint32 *) row)[x] = GUINT32_TO_LE (label);
  }
}

static void
warn_saturated (GstCclLabel * self)
{
  if (self->result.table.n_kept <= 65535 || GST_VIDEO_INFO_FORMAT (&self->out_info) != GST_VIDEO_FORMAT_GRAY16_LE
      || self->warned_saturated)
    return;
  self->warned_saturated = TRUE;
  GST_ELEMENT_WARNING (self, STREAM, FORMAT,
      ("A frame has %u blobs, GRAY16_LE can tell 65535 apart: the rest all have label 65535.",
          self->result.table.n_kept), ("Ask for RGBA, whose four bytes are the label. Said once per caps."));
}

static GstFlowReturn
gst_ccl_label_transform_ip (GstBaseTransform * transform, GstBuffer * buffer)
{
  attach (GST_CCL_LABEL (transform), buffer);
  return GST_FLOW_OK;
}

/* A frame that was skipped has no labels: an empty picture, and metadata that says so. */
static GstFlowReturn
gst_ccl_label_transform (GstBaseTransform * transform, GstBuffer * input, GstBuffer * output)
{
  GstCclLabel *const self = GST_CCL_LABEL (transform);
  const GstVideoFormat format = GST_VIDEO_INFO_FORMAT (&self->out_info);
  const guint width = GST_VIDEO_INFO_WIDTH (&self->out_info), height = GST_VIDEO_INFO_HEIGHT (&self->out_info);
  GstVideoFrame frame;

  (void) input;
  if (!gst_video_frame_map (&frame, &self->out_info, output, GST_MAP_WRITE)) {
    GST_ELEMENT_ERROR (self, RESOURCE, WRITE, ("The output buffer cannot be mapped for writing."), (NULL));
    return GST_FLOW_ERROR;
  }
  for (gint y = 0; y < GST_VIDEO_FRAME_HEIGHT (&frame); y++) {
    guint8 *const row =
        (guint8 *) GST_VIDEO_FRAME_PLANE_DATA (&frame, 0) + y * GST_VIDEO_FRAME_PLANE_STRIDE (&frame, 0);

    if (self->result.analysed)
      draw_row (row, width, self->result.labels + (gsize) ((guint64) y * self->result.height / height)
          * self->result.width, self->result.width, format);
    else
      memset (row, 0, width * GST_VIDEO_FRAME_COMP_PSTRIDE (&frame, 0));
  }
  gst_video_frame_unmap (&frame);
  warn_saturated (self);
  attach (self, output);
  return GST_FLOW_OK;
}

/* The outputs have the input's geometry, so all that does not speak of its colours or its memory still holds. */
static gboolean
gst_ccl_label_transform_meta (GstBaseTransform * transform, GstBuffer * output, GstMeta * meta, GstBuffer * input)
{
  (void) transform, (void) output, (void) input;
  return !gst_meta_api_type_has_tag (meta->info->api, g_quark_from_static_string (GST_META_TAG_VIDEO_COLORSPACE_STR))
      && !gst_meta_api_type_has_tag (meta->info->api, g_quark_from_static_string (GST_META_TAG_MEMORY_STR));
}

/* ---------------------------------------------------------------- negotiation */

/* Caps of any of `formats` (NULL: any) with the geometry and rate of `caps`. */
static GstCaps *
caps_with_formats (const GstCaps * caps, const gchar * const *formats)
{
  GstCaps *result = gst_caps_new_empty ();
  GValue list = G_VALUE_INIT, format = G_VALUE_INIT;

  g_value_init (&list, GST_TYPE_LIST);
  g_value_init (&format, G_TYPE_STRING);
  for (guint i = 0; formats && formats[i]; i++) {
    g_value_set_static_string (&format, formats[i]);
    gst_value_list_append_value (&list, &format);
  }
  for (guint i = 0; i < gst_caps_get_size (caps); i++) {
    GstStructure *structure = gst_structure_copy (gst_caps_get_structure (caps, i));

    gst_structure_remove_fields (structure, "format", "colorimetry", "chroma-site", NULL);
    if (formats)
      gst_structure_set_value (structure, "format", &list);
    result = gst_caps_merge_structure (result, structure);
  }
  g_value_unset (&list);
  g_value_unset (&format);
  return result;
}

static const gchar *const *
formats_of_output (gint output)
{
  static const gchar *const mask[] = { "GRAY8", NULL };
  static const gchar *const labels[] = { "GRAY16_LE", "RGBA", NULL };

  return output == GST_CCL_OUTPUT_MASK ? mask : labels;
}

static gboolean
is_system_memory (GstCapsFeatures * features, GstStructure * structure, gpointer unused)
{
  (void) structure, (void) unused;
  return !gst_caps_features_contains (features, GST_CCL_CUDA_FEATURE);
}

static GstCaps *
caps_in_any_memory (GstCaps * caps)
{
  GstCaps *cuda = gst_caps_copy (caps);

  gst_caps_set_features_simple (cuda, gst_caps_features_new (GST_CCL_CUDA_FEATURE, NULL));
  return gst_caps_merge (cuda, caps);
}

static GstCaps *
gst_ccl_label_transform_caps (GstBaseTransform * transform, GstPadDirection direction, GstCaps * caps,
    GstCaps * filter)
{
  GstCclLabel *const self = GST_CCL_LABEL (transform);
  GstCaps *result;

  if (get_output (self) == GST_CCL_OUTPUT_PASSTHROUGH) {
    result = gst_caps_copy (caps);
  } else if (direction == GST_PAD_SINK) {
    result = caps_with_formats (caps, formats_of_output (get_output (self)));
  } else {
    GstCaps *outputs = caps_with_formats (caps, formats_of_output (get_output (self)));
    GstCaps *possible = gst_caps_intersect (caps, outputs);
    result = caps_in_any_memory (caps_with_formats (possible, NULL));
    gst_caps_unref (possible);
    gst_caps_unref (outputs);
  }

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
gst_ccl_label_set_caps (GstBaseTransform * transform, GstCaps * in_caps, GstCaps * out_caps)
{
  GstCclLabel *const self = GST_CCL_LABEL (transform);
  GstVideoInfo in_info, out_info;

  if (!gst_video_info_from_caps (&in_info, in_caps) || !gst_video_info_from_caps (&out_info, out_caps)) {
    GST_ERROR_OBJECT (self, "caps that are no video: %" GST_PTR_FORMAT, in_caps);
    return FALSE;
  }
  drain (self);
  self->in_info = in_info;
  self->out_info = out_info;
  self->mask_width = GST_VIDEO_INFO_WIDTH (&in_info);
  self->mask_height = GST_VIDEO_INFO_HEIGHT (&in_info);
  self->warned_truncated = self->warned_saturated = self->warned_no_mask = self->warned_threshold = FALSE;
  self->n_full_frames = self->n_without_blobs = 0;
  set_output (self, get_output (self));
  copy_settings (self);
  if (!ensure_labeller (self))
    return FALSE;
  update_latency (self);
  return TRUE;
}

/* The size of a picture, whatever the layout of the one it is made of. */
static gboolean
gst_ccl_label_transform_size (GstBaseTransform * transform, GstPadDirection direction, GstCaps * caps, gsize size,
    GstCaps * other_caps, gsize * other_size)
{
  GstVideoInfo info;

  (void) transform, (void) direction, (void) caps, (void) size;
  if (!gst_video_info_from_caps (&info, other_caps))
    return FALSE;
  *other_size = GST_VIDEO_INFO_SIZE (&info);
  return TRUE;
}

/* ---------------------------------------------------------------- allocation */

/* Upstream then writes its masks where the GPU can fetch them. A downstream element that has wishes of its own comes
 * first: its memory is where the buffers go after us. */
static void
offer_pinned_memory (GstCclLabel * self, GstQuery * query)
{
  GstAllocationParams params;
  GstAllocator *allocator = NULL;

  gst_allocation_params_init (&params);
  if (gst_query_get_n_allocation_pools (query))
    return;
  if (gst_query_get_n_allocation_params (query)) {
    gst_query_parse_nth_allocation_param (query, 0, &allocator, &params);
    if (allocator) {
      gst_object_unref (allocator);
      return;
    }
  }
  allocator = gst_ccl_pinned_allocator_new (&self->cuda);
  if (gst_query_get_n_allocation_params (query))
    gst_query_set_nth_allocation_param (query, 0, allocator, &params);
  else
    gst_query_add_allocation_param (query, allocator, &params);
  gst_object_unref (allocator);
}

static gboolean
gst_ccl_label_propose_allocation (GstBaseTransform * transform, GstQuery * decide_query, GstQuery * query)
{
  GstCclLabel *const self = GST_CCL_LABEL (transform);
  gboolean ok = GST_BASE_TRANSFORM_CLASS (parent_class)->propose_allocation (transform, decide_query, query);
  GstCaps *caps;

  /* In place the buffers go on downstream, which says itself what it understands. */
  if (get_output (self) != GST_CCL_OUTPUT_PASSTHROUGH) {
    gst_query_add_allocation_meta (query, GST_VIDEO_META_API_TYPE, NULL);
    ok = TRUE;
  }
  gst_query_parse_allocation (query, &caps, NULL);
  if (self->active_backend == GST_CCL_BACKEND_CUDA && caps && is_system_memory (gst_caps_get_features (caps, 0), NULL,
          NULL)) {
    offer_pinned_memory (self, query);
    ok = TRUE;
  }
  gst_ccl_crop_refuse (query);
  copy_settings (self);         /* they may be why upstream asks */
  gst_ccl_held_ask_for_buffers (&self->held, query, wanted_frames_held_back (self));
  return ok;
}

/* ---------------------------------------------------------------- events, queries, states */

static gboolean
gst_ccl_label_sink_event (GstBaseTransform * transform, GstEvent * event)
{
  GstCclLabel *const self = GST_CCL_LABEL (transform);

  if (GST_EVENT_TYPE (event) == GST_EVENT_FLUSH_STOP) {
    discard_frames (self);
    reset_lateness (self);
  } else if (GST_EVENT_IS_SERIALIZED (event)) {
    drain (self);
    if (GST_EVENT_TYPE (event) == GST_EVENT_STREAM_START)
      gst_ccl_held_start_stream (&self->held, event);
    else if (GST_EVENT_TYPE (event) == GST_EVENT_CAPS)
      take_output (self);
    else if (GST_EVENT_TYPE (event) == GST_EVENT_SEGMENT)
      reset_lateness (self);
  }
  return GST_BASE_TRANSFORM_CLASS (parent_class)->sink_event (transform, event);
}

static gboolean
gst_ccl_label_src_event (GstBaseTransform * transform, GstEvent * event)
{
  GstCclLabel *const self = GST_CCL_LABEL (transform);
  GstClockTimeDiff difference;
  GstClockTime timestamp;
  gdouble proportion;

  if (GST_EVENT_TYPE (event) == GST_EVENT_QOS) {
    gst_event_parse_qos (event, NULL, &proportion, &difference, &timestamp);
    GST_OBJECT_LOCK (self);
    self->proportion = proportion;
    self->earliest = !GST_CLOCK_TIME_IS_VALID (timestamp) ? GST_CLOCK_TIME_NONE
        : difference < 0 && timestamp < (GstClockTime) -difference ? 0 : timestamp + difference;
    GST_OBJECT_UNLOCK (self);
  }
  return GST_BASE_TRANSFORM_CLASS (parent_class)->src_event (transform, event);
}

static gboolean
gst_ccl_label_query (GstBaseTransform * transform, GstPadDirection direction, GstQuery * query)
{
  GstCclLabel *const self = GST_CCL_LABEL (transform);
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
gst_ccl_label_set_context (GstElement * element, GstContext * context)
{
  gst_ccl_cuda_set_context (&GST_CCL_LABEL (element)->cuda, context);
  GST_ELEMENT_CLASS (parent_class)->set_context (element, context);
}

/* Limits that leave nothing are no error, since they may be changed in any order, but hardly meant. */
static void
warn_of_empty_filter (GstCclLabel * self)
{
  const CclFilter *const filter = &self->now.filter;
  const struct
  {
    const gchar *what;
    gdouble min, max;
  } limits[] = {
    {"area", filter->min_area, filter->max_area},
    {"rel-area", filter->min_relative_area, filter->max_relative_area},
    {"width", filter->min_width, filter->max_width},
    {"height", filter->min_height, filter->max_height},
  };

  for (guint i = 0; i < G_N_ELEMENTS (limits); i++)
    if (limits[i].max > 0 && limits[i].min > limits[i].max)
      GST_ELEMENT_WARNING (self, LIBRARY, SETTINGS, ("min-%s=%.10g is above max-%s=%.10g: no blob is kept.",
              limits[i].what, limits[i].min, limits[i].what, limits[i].max), (NULL));
}

/* Metadata that is asked for and will not be there. */
static void
warn_of_attach (GstCclLabel * self)
{
  const Settings *const now = &self->now;
  const gboolean mirrors = (now->attach & (GST_CCL_ATTACH_ROI | GST_CCL_ATTACH_ANALYTICS)) != 0;

#ifndef HAVE_GST_ANALYTICS
  if (now->attach & GST_CCL_ATTACH_ANALYTICS)
    GST_ELEMENT_WARNING (self, LIBRARY, SETTINGS, ("attach says analytics, which this build has not: none attached."),
        ("It takes GStreamer 1.24 or newer, with its library for analytics; roi is in all."));
#endif
  if (now->contours && !(now->attach & GST_CCL_ATTACH_BLOB))
    GST_ELEMENT_WARNING (self, LIBRARY, SETTINGS, ("contours=true, but attach does not say blob: they are lost."),
        ("Contours travel in GstCclBlobMeta: attach=blob."));
  if (mirrors && now->max_mirror == 0)
    GST_ELEMENT_WARNING (self, LIBRARY, SETTINGS, ("max-mirror=0: no region or object detection is attached."),
        ("It says how many blobs of a frame attach=roi+analytics covers, 256 if it is not set."));
  if (!mirrors && strcmp (now->roi_type, "blob") != 0)
    GST_ELEMENT_WARNING (self, LIBRARY, SETTINGS, ("roi-type=\"%s\" has no effect: attach says neither roi nor "
            "analytics.", now->roi_type), ("attach=blob+roi attaches regions of this type as well."));
}

static void
warn_of_mask_source (GstCclLabel * self)
{
  const GstCclMaskChoice *const mask = &self->now.mask;

  if (mask->source != GST_CCL_MASK_SOURCE_SEGMENTATION_MTD && (mask->region_id >= 0 || mask->segmentation >= 0))
    GST_ELEMENT_WARNING (self, LIBRARY, SETTINGS, ("%s=%d has no effect: mask-source is not segmentation-mtd.",
            mask->region_id >= 0 ? "region-id" : "segmentation",
            mask->region_id >= 0 ? mask->region_id : mask->segmentation),
        ("It chooses from segmentations in the metadata of frames: mask-source=segmentation-mtd reads them."));
  if (mask->source == GST_CCL_MASK_SOURCE_SEGMENTATION_MTD && !gst_ccl_mask_source_has_segmentations ())
    GST_ELEMENT_WARNING (self, LIBRARY, SETTINGS,
        ("mask-source=segmentation-mtd, which this build cannot read: no frame is analysed."),
        ("It takes GStreamer 1.26 or newer, with its library for analytics."));
}

/* Opens a small labeller, so that settings that contradict each other and devices that are not there stop the pipeline
 * before the first frame. The frames themselves go on as in the run before until upstream has buffers for more. */
static gboolean
open_first_labeller (GstCclLabel * self)
{
  const Method accepted = self->accepted;
  const guint volume = self->request.volume;

  memset (&self->accepted, 0, sizeof self->accepted);

  const gboolean ok = ensure_labeller (self);

  if (accepted.connectivity && !(ok && gst_ccl_held_has_room (&self->held, wanted_frames_held_back (self)))) {
    self->accepted = accepted;
    self->request = (Request) {.volume = volume };      /* no other field, so that the first frame opens anew */
  }
  return ok;
}

static gboolean
start (GstCclLabel * self)
{
  copy_settings (self);
  GST_OBJECT_LOCK (self);
  memset (&self->stats, 0, sizeof self->stats);
  self->active_backend = GST_CCL_BACKEND_AUTO;
  self->latency = 0;
  self->streaming = TRUE;
  put_output (self, self->settings.output);
  GST_OBJECT_UNLOCK (self);
  gst_ccl_held_start (&self->held);
  memset (&self->rejected, 0, sizeof self->rejected);
  self->cuda_lost = self->failed = FALSE;
  self->volume.n_components = self->volume.n_volumes = 0;
  self->source = g_quark_from_string (GST_OBJECT_NAME (self));
  reset_lateness (self);
  gst_video_info_set_format (&self->in_info, GST_VIDEO_FORMAT_GRAY8, 16, 16);
  self->mask_width = self->mask_height = 16;
  self->limited_width = self->limited_height = 0;
  warn_of_attach (self);
  warn_of_mask_source (self);
  warn_of_empty_filter (self);
  return open_first_labeller (self);
}

static gboolean
gst_ccl_label_stop (GstBaseTransform * transform)
{
  GstCclLabel *const self = GST_CCL_LABEL (transform);

  discard_frames (self);
  gst_clear_buffer (&self->mask.buffer);
  close_labeller (self);
  gst_ccl_cuda_close (&self->cuda);
  GST_OBJECT_LOCK (self);
  self->active_backend = GST_CCL_BACKEND_AUTO;
  self->streaming = FALSE;
  put_output (self, self->settings.output);
  GST_OBJECT_UNLOCK (self);
  return TRUE;
}

/* After a start that failed the base class does not stop. */
static gboolean
gst_ccl_label_start (GstBaseTransform * transform)
{
  if (start (GST_CCL_LABEL (transform)))
    return TRUE;
  gst_ccl_label_stop (transform);
  return FALSE;
}

/* ---------------------------------------------------------------- properties */

/* The properties that are fields and nothing else, for reading at least. */
static const GstCclPropertyRow fields[N_PROPERTIES] = {
  [PROP_BACKEND] = GST_CCL_PROPERTY_ROW (GstCclLabel, settings.method.backend),
  [PROP_ACTIVE_BACKEND] = GST_CCL_PROPERTY_ROW (GstCclLabel, active_backend),
  [PROP_ALGORITHM] = GST_CCL_PROPERTY_ROW (GstCclLabel, settings.method.algorithm),
  [PROP_CONNECTIVITY] = GST_CCL_PROPERTY_ROW (GstCclLabel, settings.method.connectivity),
  [PROP_MASK_SOURCE] = GST_CCL_PROPERTY_ROW (GstCclLabel, settings.mask.source),
  [PROP_SEGMENTATION] = GST_CCL_PROPERTY_ROW (GstCclLabel, settings.mask.segmentation),
  [PROP_REGION_ID] = GST_CCL_PROPERTY_ROW (GstCclLabel, settings.mask.region_id),
  [PROP_THRESHOLD] = GST_CCL_PROPERTY_ROW (GstCclLabel, settings.threshold),
  [PROP_INVERT] = GST_CCL_PROPERTY_ROW (GstCclLabel, settings.invert),
  [PROP_MIN_AREA] = GST_CCL_PROPERTY_ROW (GstCclLabel, settings.filter.min_area),
  [PROP_MAX_AREA] = GST_CCL_PROPERTY_ROW (GstCclLabel, settings.filter.max_area),
  [PROP_MIN_REL_AREA] = GST_CCL_PROPERTY_ROW (GstCclLabel, settings.filter.min_relative_area),
  [PROP_MAX_REL_AREA] = GST_CCL_PROPERTY_ROW (GstCclLabel, settings.filter.max_relative_area),
  [PROP_MIN_WIDTH] = GST_CCL_PROPERTY_ROW (GstCclLabel, settings.filter.min_width),
  [PROP_MAX_WIDTH] = GST_CCL_PROPERTY_ROW (GstCclLabel, settings.filter.max_width),
  [PROP_MIN_HEIGHT] = GST_CCL_PROPERTY_ROW (GstCclLabel, settings.filter.min_height),
  [PROP_MAX_HEIGHT] = GST_CCL_PROPERTY_ROW (GstCclLabel, settings.filter.max_height),
  [PROP_BORDER] = GST_CCL_PROPERTY_ROW (GstCclLabel, settings.filter.border),
  [PROP_MAX_COMPONENTS] = GST_CCL_PROPERTY_ROW (GstCclLabel, settings.max_components),
  [PROP_SORT] = GST_CCL_PROPERTY_ROW (GstCclLabel, settings.order),
  [PROP_ATTACH] = GST_CCL_PROPERTY_ROW (GstCclLabel, settings.attach),
  [PROP_MAX_MIRROR] = GST_CCL_PROPERTY_ROW (GstCclLabel, settings.max_mirror),
  [PROP_CONTOURS] = GST_CCL_PROPERTY_ROW (GstCclLabel, settings.contours),
  [PROP_CONTOUR_EPSILON] = GST_CCL_PROPERTY_ROW (GstCclLabel, settings.contour_epsilon),
  [PROP_CONTOUR_MAX_POINTS] = GST_CCL_PROPERTY_ROW (GstCclLabel, settings.contour_max_points),
  [PROP_INTERVAL] = GST_CCL_PROPERTY_ROW (GstCclLabel, settings.interval),
  [PROP_VOLUME] = GST_CCL_PROPERTY_ROW (GstCclLabel, settings.volume),
  [PROP_ASYNC_DEPTH] = GST_CCL_PROPERTY_ROW (GstCclLabel, settings.async_depth),
  [PROP_SKIP_WHEN_LATE] = GST_CCL_PROPERTY_ROW (GstCclLabel, settings.skip_when_late),
  [PROP_OUTPUT] = GST_CCL_PROPERTY_ROW (GstCclLabel, settings.output),
  [PROP_CUDA_DEVICE_ID] = GST_CCL_PROPERTY_ROW (GstCclLabel, cuda.device_id),
  [PROP_THREADS] = GST_CCL_PROPERTY_ROW (GstCclLabel, settings.threads),
  [PROP_TIMING] = GST_CCL_PROPERTY_ROW (GstCclLabel, settings.timing),
  [PROP_BATCH] = GST_CCL_PROPERTY_ROW (GstCclLabel, settings.batch),
};

static void
gst_ccl_label_set_property (GObject * object, guint id, const GValue * value, GParamSpec * pspec)
{
  GstCclLabel *const self = GST_CCL_LABEL (object);
  Settings *const settings = &self->settings;

  GST_OBJECT_LOCK (self);
  switch (id) {
    case PROP_ROI_TYPE:
      /* Interned, as the metas do with it anyway. */
      settings->roi_type = g_intern_string (g_value_get_string (value) ? g_value_get_string (value) : "blob");
      break;
    case PROP_OUTPUT:
      settings->output = g_value_get_enum (value);
      if (!self->streaming)
        put_output (self, settings->output);
      break;
    default:
      if (!gst_ccl_property_row_set (self, &fields[id], value))
        G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
      break;
  }
  GST_OBJECT_UNLOCK (self);
}

static GstStructure *
create_stats (GstCclLabel * self)
{
  const Stats *const stats = &self->stats;
  static const gchar *const backends[] = { "none", "cuda", "cpu" };
  GstStructure *structure = gst_structure_new ("ccllabel-stats",
      "frames", G_TYPE_UINT64, stats->frames,
      "skipped", G_TYPE_UINT64, stats->skipped,
      "late", G_TYPE_UINT64, stats->late,
      "components", G_TYPE_UINT64, stats->components,
      "truncated", G_TYPE_UINT64, stats->truncated,
      "volumes", G_TYPE_UINT64, stats->volumes,
      "backend", G_TYPE_STRING, backends[self->active_backend],
      "algorithm", G_TYPE_STRING, stats->algorithm ? stats->algorithm : "none",
      "volume-algorithm", G_TYPE_STRING, stats->volume_algorithm ? stats->volume_algorithm : "none",
      "path", G_TYPE_STRING, stats->path ? stats->path : "none",
      "host-bytes", G_TYPE_UINT64, (guint64) stats->host_bytes,
      "device-bytes", G_TYPE_UINT64, (guint64) stats->device_bytes,
      "batch-avg", G_TYPE_DOUBLE, stats->batch.n ? stats->batch.sum / stats->batch.n : 0.0,
      "batch-max", G_TYPE_UINT, (guint) stats->batch.max, NULL);

  gst_ccl_min_avg_max_to_structure (&stats->upload, "upload", structure);
  gst_ccl_min_avg_max_to_structure (&stats->kernel, "kernel", structure);
  gst_ccl_min_avg_max_to_structure (&stats->host, "host", structure);
  gst_ccl_min_avg_max_to_structure (&stats->latency, "latency", structure);
  gst_ccl_min_avg_max_to_structure (&stats->contour, "contour", structure);
  gst_ccl_min_avg_max_to_structure (&stats->wait, "wait", structure);
  gst_ccl_min_avg_max_to_structure (&stats->pack, "pack", structure);
  return structure;
}

static void
gst_ccl_label_get_property (GObject * object, guint id, GValue * value, GParamSpec * pspec)
{
  GstCclLabel *const self = GST_CCL_LABEL (object);
  const Settings *const settings = &self->settings;

  GST_OBJECT_LOCK (self);
  switch (id) {
    case PROP_ROI_TYPE:
      g_value_set_string (value, settings->roi_type);
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

  properties[PROP_BACKEND] = g_param_spec_enum ("backend", "Backend",
      "Where masks are analysed. auto: on a GPU where there is one, else (or once it fails) on the CPU",
      GST_TYPE_CCL_BACKEND, GST_CCL_BACKEND_AUTO, playing);
  properties[PROP_ACTIVE_BACKEND] = g_param_spec_enum ("active-backend", "Active backend",
      "Where masks are analysed now; auto: not started", GST_TYPE_CCL_BACKEND, GST_CCL_BACKEND_AUTO, reading);
  properties[PROP_ALGORITHM] = g_param_spec_enum ("algorithm", "Algorithm",
      "Labelling method: all give the same blobs. One that a single backend has decides backend=auto. With volume=N a "
      "method for volumes labels those, any other the frames; the one not named is chosen as by auto",
      GST_TYPE_CCL_ALGORITHM, GST_CCL_ALGORITHM_AUTO, playing);
  properties[PROP_CONNECTIVITY] = g_param_spec_enum ("connectivity", "Connectivity",
      "Which neighbouring pixels belong together", GST_TYPE_CCL_CONNECTIVITY, CCL_CONNECT_8, controlled);
  properties[PROP_MASK_SOURCE] = g_param_spec_enum ("mask-source", "Mask source",
      "Where the mask of a frame is: in the picture or beside it in metadata, whose blobs are mapped to the frame",
      GST_TYPE_CCL_MASK_SOURCE, GST_CCL_MASK_SOURCE_AUTO, playing);
  properties[PROP_SEGMENTATION] = g_param_spec_int ("segmentation", "Segmentation",
      "With mask-source=segmentation-mtd: which segmentation of a frame, from 0; -1: all, drawn into one mask of the "
      "frame's size where there are several", -1, G_MAXINT, -1, controlled);
  properties[PROP_REGION_ID] = g_param_spec_int ("region-id", "Region ID",
      "With mask-source=segmentation-mtd: only regions with this id are foreground (of a semantic segmentation: one "
      "class); -1: all but region 0", -1, G_MAXINT, -1, controlled);
  properties[PROP_THRESHOLD] = g_param_spec_int ("threshold", "Threshold",
      "A pixel is foreground when its gray or luma value is greater (0..255, for 16-bit gray 0..65535). "
      "-1: 0 for gray, 127 for YUV", -1, 65535, -1, controlled);
  properties[PROP_INVERT] = g_param_spec_boolean ("invert", "Invert",
      "A pixel is foreground when its value is not greater than the threshold: dark on light", FALSE, controlled);
  properties[PROP_MIN_AREA] = g_param_spec_uint ("min-area", "Minimum area",
      "Leave out blobs of fewer pixels of the mask; 0 and 1: no limit", 0, G_MAXUINT, 1, controlled);
  properties[PROP_MAX_AREA] = g_param_spec_uint ("max-area", "Maximum area",
      "Leave out blobs of more pixels of the mask; 0: no limit", 0, G_MAXUINT, 0, controlled);
  properties[PROP_MIN_REL_AREA] = g_param_spec_double ("min-rel-area", "Minimum relative area",
      "Leave out blobs that cover a smaller part of the mask, up to 1 (all of it); 0: no limit", 0, 1, 0, controlled);
  properties[PROP_MAX_REL_AREA] = g_param_spec_double ("max-rel-area", "Maximum relative area",
      "Leave out blobs that cover a larger part of the mask, up to 1 (all of it); 0: no limit", 0, 1, 0, controlled);
  properties[PROP_MIN_WIDTH] = g_param_spec_uint ("min-width", "Minimum width",
      "Leave out blobs whose box is narrower, pixels of the mask; 0: no limit", 0, CCL_MAX_SIZE, 0, controlled);
  properties[PROP_MAX_WIDTH] = g_param_spec_uint ("max-width", "Maximum width",
      "Leave out blobs whose box is wider, pixels of the mask; 0: no limit", 0, CCL_MAX_SIZE, 0, controlled);
  properties[PROP_MIN_HEIGHT] = g_param_spec_uint ("min-height", "Minimum height",
      "Leave out blobs whose box is less high, pixels of the mask; 0: no limit", 0, CCL_MAX_SIZE, 0, controlled);
  properties[PROP_MAX_HEIGHT] = g_param_spec_uint ("max-height", "Maximum height",
      "Leave out blobs whose box is higher, pixels of the mask; 0: no limit", 0, CCL_MAX_SIZE, 0, controlled);
  properties[PROP_BORDER] = g_param_spec_enum ("border", "Border",
      "What to do with blobs that touch the border of the mask", GST_TYPE_CCL_BORDER, CCL_BORDER_FLAG, controlled);
  properties[PROP_MAX_COMPONENTS] = g_param_spec_uint ("max-components", "Maximum components",
      "Most blobs listed per frame; all are counted, and a list cut short is flagged and warned of",
      1, CCL_MAX_COMPONENTS, 4096, playing);
  properties[PROP_SORT] = g_param_spec_enum ("sort", "Sort",
      "Order of the list, and which blobs stay in one cut short (max-components); labels stay the same",
      GST_TYPE_CCL_SORT, CCL_ORDER_RASTER, playing);
  properties[PROP_ATTACH] = g_param_spec_flags ("attach", "Attach",
      "Metadata to attach. blob is one small reference per buffer; roi and analytics cost time per blob, in every "
      "element that copies them, and are for elements that know nothing else", GST_TYPE_CCL_ATTACH,
      GST_CCL_ATTACH_BLOB, playing);
  properties[PROP_MAX_MIRROR] = g_param_spec_uint ("max-mirror", "Maximum mirrored",
      "Most blobs per frame that attach=roi and attach=analytics cover, in the order of sort; 0: none",
      0, 4096, 256, controlled);
  properties[PROP_CONTOURS] = g_param_spec_boolean ("contours", "Contours",
      "Trace the outer contour of every blob listed, as a polygon in GstCclBlobMeta (JSON: polygon); see "
      "contour-epsilon and contour-max-points. Traced on the CPU: a mask in CUDA memory is downloaded for it",
      FALSE, controlled);
  properties[PROP_CONTOUR_EPSILON] = g_param_spec_double ("contour-epsilon", "Contour tolerance",
      "How far a contour may be from the edges of the pixels, pixels of the mask; 0: exact, every corner "
      "(as far as contour-max-points allows)", 0, 64, 1, controlled);
  properties[PROP_CONTOUR_MAX_POINTS] = g_param_spec_uint ("contour-max-points", "Maximum points of a contour",
      "Most corners of a contour; one that has more gets twice the tolerance (contour-epsilon) until it fits",
      CCL_CONTOUR_MIN_POINTS, CCL_CONTOUR_MAX_POINTS, 64, controlled);
  properties[PROP_ROI_TYPE] = g_param_spec_string ("roi-type", "ROI type",
      "Type name of the regions and object detections that attach=roi and attach=analytics make", "blob", playing);
  properties[PROP_INTERVAL] = g_param_spec_uint ("interval", "Interval",
      "Analyse every n-th frame, 1: all; those between flow on, flagged as skipped", 1, G_MAXUINT, 1, controlled);
  properties[PROP_VOLUME] = g_param_spec_uint ("volume", "Volume",
      "Label so many frames in a row as one volume of x, y and time: blobs that touch from frame to frame get the same "
      "GstCclBlob.volume_id. Holds frames back until their volume is complete; 0 or 1: off", 0, CCL_MAX_FRAMES, 0,
      playing);
  properties[PROP_ASYNC_DEPTH] = g_param_spec_uint ("async-depth", "Asynchronous depth",
      "Frames held back so that the GPU works on several at once; adds as many frames of latency, and nothing else on "
      "the CPU; 0: none",
      0, MAX_ASYNC_DEPTH, 0, playing);
  properties[PROP_SKIP_WHEN_LATE] = g_param_spec_boolean ("skip-when-late", "Skip when late",
      "Do not analyse frames that are too late for the sink; they flow on, flagged as skipped", FALSE, controlled);
  properties[PROP_OUTPUT] = g_param_spec_enum ("output", "Output",
      "The picture that leaves; mask and labels show the blobs that pass the filters", GST_TYPE_CCL_OUTPUT,
      GST_CCL_OUTPUT_PASSTHROUGH, playing);
  properties[PROP_CUDA_DEVICE_ID] = g_param_spec_int ("cuda-device-id", "CUDA device ID",
      "Index of the GPU to use; -1: any. One that is not there is an error with backend=cuda; with auto a warning, and the "
      "CPU has to do", -1, G_MAXINT, -1, always | GST_PARAM_MUTABLE_READY);
  properties[PROP_THREADS] = g_param_spec_uint ("threads", "Threads",
      "CPU threads to label with, which all streams of a process share; 0: as many as help, 1: the stream's own. On a "
      "GPU: those that pack a mask in system or page-locked memory to bits on its way up; 0: the stream's own",
      0, 1024, 0, playing);
  properties[PROP_TIMING] = g_param_spec_boolean ("timing", "Timing",
      "Measure upload and kernels of every frame on the GPU for stats (the CPU is always measured); costs some "
      "microseconds", FALSE, playing);
  properties[PROP_BATCH] = g_param_spec_boolean ("batch", "Batch",
      "Share the GPU's time with other ccllabel elements: frames that wait at the same moment are launched together, "
      "which takes hardly longer than one; none waits for company. FALSE, or timing=true: on its own", TRUE, playing);
  properties[PROP_STATS] = g_param_spec_boxed ("stats", "Statistics",
      "Since the start: frames, skipped, late, components, truncated, volumes; backend, algorithm, "
      "volume-algorithm, path; host-bytes, device-bytes; batch-avg and batch-max (frames launched together); wait-us "
      "(for that), pack-us (from the beginning of packing a mask to bits on the host to its end, 0 where none is), "
      "upload-us, kernel-us, "
      "contour-us, host-us (time spent on a frame) and latency-us (from its arrival until it leaves), each -min, -avg "
      "and -max in microseconds (-1: not measured)", GST_TYPE_STRUCTURE, reading);
  g_object_class_install_properties (klass, N_PROPERTIES, properties);
}

static void
gst_ccl_label_finalize (GObject * object)
{
  gst_ccl_cuda_clear (&GST_CCL_LABEL (object)->cuda);
  ccl_contours_free (GST_CCL_LABEL (object)->contours);
  gst_ccl_volume_clear (&GST_CCL_LABEL (object)->volume);
  G_OBJECT_CLASS (parent_class)->finalize (object);
}

static void
gst_ccl_label_class_init (GstCclLabelClass * klass)
{
  GObjectClass *const object = G_OBJECT_CLASS (klass);
  GstElementClass *const element = GST_ELEMENT_CLASS (klass);
  GstBaseTransformClass *const transform = GST_BASE_TRANSFORM_CLASS (klass);

  object->set_property = gst_ccl_label_set_property;
  object->get_property = gst_ccl_label_get_property;
  object->finalize = gst_ccl_label_finalize;
  install_properties (object);

  gst_element_class_add_static_pad_template (element, &sink_template);
  gst_element_class_add_static_pad_template (element, &src_template);
  gst_element_class_set_static_metadata (element, "Connected component labelling", "Filter/Analyzer/Video",
      ccl_backend_built (CCL_BACKEND_CUDA)
      ? "Finds the blobs of a mask, on CUDA or the CPU, and attaches box, area, centroid and covariance of each"
      : "Finds the blobs of a mask and attaches box, area, centroid and covariance of each "
      "(CPU only: built without the CUDA toolkit)", "gst-ccl contributors");
  element->set_context = gst_ccl_label_set_context;

  transform->start = gst_ccl_label_start;
  transform->stop = gst_ccl_label_stop;
  transform->transform_caps = gst_ccl_label_transform_caps;
  transform->set_caps = gst_ccl_label_set_caps;
  transform->transform_size = gst_ccl_label_transform_size;
  transform->propose_allocation = gst_ccl_label_propose_allocation;
  transform->transform_meta = gst_ccl_label_transform_meta;
  transform->before_transform = gst_ccl_sync_properties;
  transform->submit_input_buffer = gst_ccl_label_submit_input_buffer;
  transform->generate_output = gst_ccl_label_generate_output;
  transform->transform_ip = gst_ccl_label_transform_ip;
  transform->transform = gst_ccl_label_transform;
  transform->sink_event = gst_ccl_label_sink_event;
  transform->src_event = gst_ccl_label_src_event;
  transform->query = gst_ccl_label_query;

  gst_type_mark_as_plugin_api (GST_TYPE_CCL_BACKEND, 0);
  gst_type_mark_as_plugin_api (GST_TYPE_CCL_ALGORITHM, 0);
  gst_type_mark_as_plugin_api (GST_TYPE_CCL_CONNECTIVITY, 0);
  gst_type_mark_as_plugin_api (GST_TYPE_CCL_BORDER, 0);
  gst_type_mark_as_plugin_api (GST_TYPE_CCL_MASK_SOURCE, 0);
  gst_type_mark_as_plugin_api (GST_TYPE_CCL_SORT, 0);
  gst_type_mark_as_plugin_api (GST_TYPE_CCL_ATTACH, 0);
  gst_type_mark_as_plugin_api (GST_TYPE_CCL_OUTPUT, 0);
}

static void
gst_ccl_label_init (GstCclLabel * self)
{
  self->settings = (Settings) {
    .method = {GST_CCL_BACKEND_AUTO, GST_CCL_ALGORITHM_AUTO, CCL_CONNECT_8},
    .mask = {.segmentation = -1,.region_id = -1},
    .threshold = -1,
    .filter = {.min_area = 1},
    .max_components = 4096,
    .attach = GST_CCL_ATTACH_BLOB,
    .max_mirror = 256,
    .contour_epsilon = 1,
    .contour_max_points = 64,
    .roi_type = g_intern_static_string ("blob"),
    .interval = 1,
    .batch = TRUE,
  };
  self->earliest = GST_CLOCK_TIME_NONE;
  gst_ccl_cuda_init (&self->cuda, GST_ELEMENT (self));
  gst_ccl_volume_init (&self->volume);
  gst_base_transform_set_in_place (GST_BASE_TRANSFORM (self), TRUE);
}
