/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * The base class of elements that analyse pictures on a GPU or on the CPU: ccllabel and cclmotion.
 *
 * It implements the parts that both elements have:
 *
 *     gstcclanalyzer.c          the path of a frame, the output switch, the delay queue, common statistics
 *     gstcclanalyzerbackend.c   the device context, the choice of a backend, another device after a failure
 *     gstcclanalyzerpads.c      caps, allocation, latency, events, queries, states
 *
 * The path of a frame, with the methods of a subclass; gstcclanalyzer.c has its functions in this order:
 *
 *     take the output      a change of `output` renegotiates before the frame
 *     take the settings    copy_settings(): one snapshot per frame
 *     find the mask        find_mask()
 *     open                 fill_request(), reopen(): a new context of the core when the request differs
 *     submit               begin_frame(), map_frame(), submit_frame()
 *     [delay queue]        `depth` frames
 *     collect              collect_frame(), describe_frame()
 *     attach               make_output()
 *
 * A "request" contains everything that a context of the core depends on. A subclass adds its fields after GstCclRequest.
 */
#ifndef __GST_CCL_ANALYZER_H__
#define __GST_CCL_ANALYZER_H__

#include <gst/base/gstbasetransform.h>
#include <gst/video/video.h>

#include "ccl.h"
#include "base/gstcclcuda.h"
#include "base/gstccllateness.h"
#include "base/gstcclmask.h"
#include "base/gstcclminavgmax.h"
#include "base/gstcclpoolheadroom.h"

G_BEGIN_DECLS

#define GST_TYPE_CCL_ANALYZER (gst_ccl_analyzer_get_type ())
#define GST_CCL_ANALYZER(object) (G_TYPE_CHECK_INSTANCE_CAST ((object), GST_TYPE_CCL_ANALYZER, GstCclAnalyzer))
#define GST_CCL_ANALYZER_CLASS(klass) (G_TYPE_CHECK_CLASS_CAST ((klass), GST_TYPE_CCL_ANALYZER, GstCclAnalyzerClass))
#define GST_CCL_ANALYZER_GET_CLASS(object) \
    (G_TYPE_INSTANCE_GET_CLASS ((object), GST_TYPE_CCL_ANALYZER, GstCclAnalyzerClass))
#define GST_CCL_MAX_ASYNC_DEPTH (CCL_MAX_DEPTH - 1)

/* Parts of the pad templates of these elements. */
#define GST_CCL_SIZE_RANGE \
    "width = (int) [ 1, 16384 ], height = (int) [ 1, 16384 ], framerate = " GST_VIDEO_FPS_RANGE
#define GST_CCL_YUV_FORMATS "NV12, NV21, I420, YV12, Y42B, Y444"
#ifdef HAVE_GST_CUDA
# define GST_CCL_CUDA_CAPS "video/x-raw(" GST_CCL_CUDA_FEATURE "), format = (string) { GRAY8, " GST_CCL_YUV_FORMATS \
    " }, " GST_CCL_SIZE_RANGE "; "
#else
# define GST_CCL_CUDA_CAPS ""
#endif

/* The value of `output` with which the frame itself leaves, in both elements. */
#define GST_CCL_ANALYZER_PASSTHROUGH 0

typedef struct _GstCclAnalyzer GstCclAnalyzer;
typedef struct _GstCclAnalyzerClass GstCclAnalyzerClass;
G_DEFINE_AUTOPTR_CLEANUP_FUNC (GstCclAnalyzer, gst_object_unref)

/* The first member of a subclass's request. */
typedef struct
{
  gint backend;                 /* GstCclBackend that the properties ask for */
  gboolean no_cuda;             /* the device failed or is full: only the CPU is left */
  gpointer cuda_context;
} GstCclRequest;

/* The first member of a subclass's frame: a slot of the delay queue. */
typedef struct
{
  GstBuffer *buffer;
  gboolean is_analysed;         /* was submitted; otherwise the frame passes unchanged */
  gboolean is_mapped;
  GstCclMaskView view;
  GstClockTime arrived;
  GstClockTime host_time;       /* spent on the frame until it was submitted */
} GstCclFrame;

/* Statistics that every subclass has; guarded by the object lock. */
typedef struct
{
  guint64 frames, skipped;
  GstCclMinAvgMax host, latency;
  const gchar *path;
  gsize host_bytes, device_bytes;
  gint gpu;                     /* the index; -1: none */
  guint64 gpu_changes;
} GstCclAnalyzerStats;

/* The texts of error messages that differ between subclasses. */
typedef struct
{
  const gchar *duty;            /* a verb: "label" in "No GPU to label on" */
  const gchar *no_device_hint;
  const gchar *memory_hint;
  const gchar *settings_error;  /* "These settings do not go together" */
  const gchar *settings_hint;
  const gchar *parsed_property; /* the property whose text is parsed: see gst_ccl_analyzer_set_parse_error() */
  const gchar *parsed_hint;     /* its syntax */
} GstCclAnalyzerTexts;

struct _GstCclAnalyzer
{
  GstBaseTransform parent;

  /*< protected > */
  GstCclCuda cuda;

  /* Streaming thread. */
  GstVideoInfo in_info, out_info;
  gboolean cuda_lost;           /* the device failed since the start */
  gboolean cuda_full;           /* the device has too little memory for the open request */
  gboolean failed;              /* an error was posted: no more frames leave */
  GstCclPoolHeadroom headroom;
  GstCclFrame *frames[CCL_MAX_DEPTH];   /* the slots, set by the subclass's init */
  guint first, n_frames, depth; /* the delay queue: a ring of depth + 1 slots */
  gpointer request;             /* the request of the open context: request_size bytes */
  GQuark source;                /* the element's name */

  /* Object lock. */
  gboolean is_streaming;
  gint active_backend;          /* GstCclBackend; auto: none */
  GstClockTime latency;
  GstCclLateness lateness;
  GstCclAnalyzerStats stats;

  /*< private > */
  gchar *parse_error;           /* object lock; not posted yet; NULL: none */
  gboolean is_open;
  gboolean warned_of_other;
  gboolean warned_of_memory;    /* since CUDA was open last */
  gint opened_backend;
  gint output, output_height;   /* in effect; atomic, because any thread asks for caps */
  gint n_output_changes;        /* sequence lock of both */
};

/* The streaming thread calls the methods without the object lock, except where a comment names another thread or the lock.
 * "Pushed" means that the device context is current. */
struct _GstCclAnalyzerClass
{
  GstBaseTransformClass parent_class;

  GstDebugCategory *category;
  GParamSpec *active_backend;   /* to notify */
  gsize request_size;
  gboolean needs_every_frame;   /* a frame that cannot be analysed is an error, because the next one depends on it */
  gboolean offers_pinned_memory;        /* to upstream, while the GPU is in use */
  GstCclAnalyzerTexts texts;

  /* Input. */
  void (*get_wanted_output) (GstCclAnalyzer * self, gint * output, guint * height);     /* with the object lock */
  void (*output_changed) (GstCclAnalyzer * self);       /* optional */
  void (*copy_settings) (GstCclAnalyzer * self);        /* with the object lock */
  guint (*get_wanted_delay) (GstCclAnalyzer * self);    /* frames in the delay queue that the settings ask for */
  void (*find_mask) (GstCclAnalyzer * self, GstBuffer * buffer, GstCclFoundMask * found);       /* optional */
  gboolean (*check_settings) (GstCclAnalyzer * self);   /* optional; FALSE: an error was posted */
  void (*prepare) (GstCclAnalyzer * self);      /* optional; the context is open */

  /* Contexts of the core. */
  void (*fill_request) (GstCclAnalyzer * self, gpointer request);       /* zeroed except no_cuda, cuda_context */
  gboolean (*requests_are_equal) (gconstpointer a, gconstpointer b);    /* the fields behind GstCclRequest */
  gboolean (*may_use) (GstCclAnalyzer * self, gconstpointer request, CclBackendKind kind);
  CclStatus (*open_on) (GstCclAnalyzer * self, CclBackendKind kind, gconstpointer request);     /* pushed */
  CclStatus (*reopen) (GstCclAnalyzer * self, gpointer request, gchar ** message);      /* optional; open with fallbacks */
  void (*opened) (GstCclAnalyzer * self);       /* optional; self->request is open */
  void (*close) (GstCclAnalyzer * self);        /* pushed */

  /* Frames. */
  /* Takes the buffer of `found`. FALSE: the frame passes without analysis. */
  gboolean (*begin_frame) (GstCclAnalyzer * self, GstCclFrame * frame, GstCclFoundMask * found);
  gboolean (*map_frame) (GstCclAnalyzer * self, GstCclFrame * frame, GError ** error);  /* the view and other memory */
  void (*unmap_frame) (GstCclAnalyzer * self, GstCclFrame * frame);     /* optional; not the view */
  CclStatus (*submit_frame) (GstCclAnalyzer * self, GstCclFrame * frame);       /* pushed */
  CclStatus (*collect_frame) (GstCclAnalyzer * self, GstCclFrame * frame);      /* pushed */
  void (*describe_frame) (GstCclAnalyzer * self, GstCclFrame * frame);  /* statistics, blobs; the mask is still mapped */
  GstFlowReturn (*make_output) (GstCclAnalyzer * self, GstCclFrame * frame, GstBuffer * input, GstBuffer ** output);
  void (*clear_frame) (GstCclAnalyzer * self, GstCclFrame * frame);     /* optional */
  /* As gst_ccl_analyzer_finish_frames(), which is the default. */
  GstFlowReturn (*finish_frames) (GstCclAnalyzer * self, gboolean all, GstBuffer ** output);
  void (*discard) (GstCclAnalyzer * self);      /* optional; the delay queue was emptied */

  /* Events, caps, states. */
  void (*event) (GstCclAnalyzer * self, GstEvent * event);      /* optional; after older frames have left */
  GstCaps *(*sink_caps) (GstCclAnalyzer * self);        /* any thread; optional; the part of the template that settings allow */
  GstCaps *(*other_caps) (GstCclAnalyzer * self, GstPadDirection direction, GstCaps * caps);    /* any thread */
  void (*caps_changed) (GstCclAnalyzer * self); /* in_info and out_info are new, nothing is open for them */
  gboolean (*start) (GstCclAnalyzer * self);    /* opens a small context, so that errors are found before the first frame */
  void (*stop) (GstCclAnalyzer * self); /* optional */
};

GType gst_ccl_analyzer_get_type (void);

/* The output in effect: any thread. */
gint gst_ccl_analyzer_get_output (GstCclAnalyzer * self);
guint gst_ccl_analyzer_get_output_height (GstCclAnalyzer * self);

/* With the object lock, after the property was set. Takes effect at once if no frames flow. */
void gst_ccl_analyzer_sync_output (GstCclAnalyzer * self);

/* After the text of texts.parsed_property was parsed; without the object lock. `error`: why the value stays as it was; NULL: it
 * is new. Before the start no application listens for a warning, so it is posted at the start. */
void gst_ccl_analyzer_set_parse_error (GstCclAnalyzer * self, const gchar * error);

/* Pushes all frames of the delay queue. Call it before anything that must not overtake them. */
GstFlowReturn gst_ccl_analyzer_drain (GstCclAnalyzer * self);

/* Call it before metadata of this API (`what`: "blobs") is attached. Warns once if exactly one other element attached such
 * metadata: of three elements in a row only the second warns. */
void gst_ccl_analyzer_warn_of_other (GstCclAnalyzer * self, GstBuffer * buffer, GType api, const gchar * what);

/* Finishes the oldest frames of the delay queue until one has an output, or only `depth` are left, or with `all` none.
 * `output`: NULL if none of them has one. */
GstFlowReturn gst_ccl_analyzer_finish_frames (GstCclAnalyzer * self, gboolean all, GstBuffer ** output);

/* Maps frame->view, a component of `mask`: on the device if the core can read it there, otherwise on the host. */
gboolean gst_ccl_analyzer_map_view (GstCclAnalyzer * self, GstCclFrame * frame, GstBuffer * mask,
    const GstVideoInfo * info, guint component, GError ** error);

/* The buffer that leaves for `input`: the same in place, or a new one with its metadata. */
GstFlowReturn gst_ccl_analyzer_prepare_output (GstCclAnalyzer * self, GstBuffer * input, GstBuffer ** output);

/* Opens on the best backend that the request allows. `message`: the error, to be freed by the caller. */
CclStatus gst_ccl_analyzer_open (GstCclAnalyzer * self, gpointer request, gchar ** message);
/* Opens the context that settings and caps need, unless it is open. FALSE: an error was posted. */
gboolean gst_ccl_analyzer_ensure_open (GstCclAnalyzer * self);

/* After a call of the core failed: processes the queued frames again on another GPU, where that may be chosen, or on the CPU.
 * FALSE: an error was posted. */
gboolean gst_ccl_analyzer_continue_elsewhere (GstCclAnalyzer * self, CclStatus status);

/* The number of frames by which the element delays its output. */
void gst_ccl_analyzer_set_delay (GstCclAnalyzer * self, guint n_frames);

/* Counts the time from a frame's arrival until now. */
void gst_ccl_analyzer_count_latency (GstCclAnalyzer * self, GstClockTime arrived);

/* "none", "cuda", "cpu", for statistics. */
const gchar *gst_ccl_analyzer_backend_name (GstCclAnalyzer * self);

/* Properties that these elements have in common. */
GParamSpec *gst_ccl_analyzer_param_backend (void);
GParamSpec *gst_ccl_analyzer_param_active_backend (void);
GParamSpec *gst_ccl_analyzer_param_async_depth (void);
GParamSpec *gst_ccl_analyzer_param_cuda_device_id (void);

G_END_DECLS

#endif
