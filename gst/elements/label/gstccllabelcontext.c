/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* The contexts of the core: for single masks and, in addition, for volumes. Also: methods that contradict other settings. */

#include "gstccllabelprivate.h"

#include <string.h>

#include "base/gstcclenums.h"

#define GST_CAT_DEFAULT gst_ccl_label_debug

static void
free_label_image (GstCclLabelFrame * frame)
{
  if (frame->labels && frame->labels_memory == CCL_MEMORY_PINNED)
    ccl_pinned_free (frame->labels);
  else
    g_free (frame->labels);
  frame->labels = NULL;
}

/* Page-locked if the device fills it and such memory is left. */
static void
allocate_label_image (GstCclLabel * self, GstCclLabelFrame * frame, gsize size)
{
  frame->labels = NULL;
  frame->labels_memory = CCL_MEMORY_PINNED;
  if (ccl_context_algorithm (self->labeller)->backend == CCL_BACKEND_CUDA)
    frame->labels = ccl_pinned_alloc (size, gst_ccl_cuda_get_device (&self->parent.cuda));
  if (frame->labels)
    return;
  frame->labels_memory = CCL_MEMORY_HOST;
  frame->labels = g_try_malloc (size);
}

/* Opens the contexts for frames and, if requested, for their volumes. A named method is for one or the other. */
static CclStatus
open_contexts (GstCclLabel * self, const CclConfig * config, guint n_frames, gint algorithm)
{
  CclConfig of_frames = *config, of_volume = *config;
  CclStatus status;

  if (n_frames && gst_ccl_algorithm_is_for_volumes (algorithm))
    of_frames.algorithm = NULL;
  else
    of_volume.algorithm = NULL;
  of_volume.features = 0;
  of_volume.selects = FALSE;
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

static gboolean
allocate_label_images (GstCclLabel * self, const GstCclLabelRequest * request)
{
  gboolean ok = TRUE;

  gst_ccl_cuda_push (&self->parent.cuda);
  for (guint i = 0; i <= request->depth && request->labels && ok; i++) {
    allocate_label_image (self, &self->slots[i], (gsize) request->width * request->height * sizeof (guint32));
    ok = self->slots[i].labels != NULL;
  }
  gst_ccl_cuda_pop (&self->parent.cuda);
  return ok;
}

static void
gst_ccl_label_close (GstCclAnalyzer * analyzer)
{
  GstCclLabel *const self = GST_CCL_LABEL (analyzer);

  ccl_context_free (self->labeller);
  self->labeller = NULL;
  gst_ccl_volume_close (&self->volume);
  for (guint i = 0; i < CCL_MAX_DEPTH; i++)
    free_label_image (&self->slots[i]);
}

static CclStatus
gst_ccl_label_open_on (GstCclAnalyzer * analyzer, CclBackendKind kind, gconstpointer data)
{
  const GstCclLabelRequest *const request = data;
  CclConfig config = ccl_config_default ();

  if (kind == CCL_BACKEND_CPU)
    gst_ccl_label_warn_of_features (GST_CCL_LABEL (analyzer), request);
  config.backend = kind;
  config.algorithm = gst_ccl_algorithm_get_name (request->method.algorithm);
  config.connectivity = request->method.connectivity;
  config.max_width = request->width;
  config.max_height = request->height;
  config.max_components = request->max_components;
  config.order = request->order;
  config.features = request->features;
  config.foreground = request->is_map ? CCL_FOREGROUND_EQUAL : CCL_FOREGROUND_THRESHOLD;
  config.background_value = request->background_value;
  config.selects = request->selects;
  config.depth = request->depth + 1;
  config.labels = request->labels;
  config.timing = request->timing || kind == CCL_BACKEND_CPU;   /* on the CPU it takes no time */
  config.device = gst_ccl_cuda_get_device (&analyzer->cuda);
  config.threads = request->threads;
  config.shared = request->batch;
  return open_contexts (GST_CCL_LABEL (analyzer), &config, request->volume, request->method.algorithm);
}

/* CCL_FEATURE_... that the request needs and the GPU's methods, or the named one of them, do not have. 0 in a build without them:
 * there backend=cuda is an error. */
guint
gst_ccl_label_missing_features (const GstCclLabelRequest * request)
{
  const gint algorithm = request->method.algorithm;
  const CclForeground foreground = request->is_map ? CCL_FOREGROUND_EQUAL : CCL_FOREGROUND_THRESHOLD;
  const gboolean is_of_gpu = gst_ccl_algorithm_has_backend (algorithm, CCL_BACKEND_CUDA);
  const gboolean is_of_frames = is_of_gpu && !gst_ccl_algorithm_is_for_volumes (algorithm);
  const gchar *const name = is_of_frames ? gst_ccl_algorithm_get_name (algorithm) : NULL;
  guint missing;

  if (!ccl_backend_built (CCL_BACKEND_CUDA) || !(request->features || request->is_map))
    return 0;
  missing = (request->features | CCL_FEATURE_TABLE) & ~ccl_features (CCL_BACKEND_CUDA, name, foreground, FALSE);
  if (request->volume)
    missing |= CCL_FEATURE_TABLE & ~ccl_features (CCL_BACKEND_CUDA, NULL, foreground, TRUE);
  return missing;
}

/* Whether the properties allow a backend. What the GPU lacks takes the CPU, unless the algorithm is one of the GPU. */
static gboolean
gst_ccl_label_may_use (GstCclAnalyzer * analyzer, gconstpointer data, CclBackendKind kind)
{
  const GstCclLabelRequest *const request = data;
  const GstCclLabelMethod *const method = &request->method;

  (void) analyzer;
  if (gst_ccl_label_missing_features (request) && gst_ccl_algorithm_has_backend (method->algorithm, CCL_BACKEND_CPU))
    return kind == CCL_BACKEND_CPU;
  if (method->backend != GST_CCL_BACKEND_AUTO)
    return method->backend == (kind == CCL_BACKEND_CUDA ? GST_CCL_BACKEND_CUDA : GST_CCL_BACKEND_CPU);
  return gst_ccl_algorithm_has_backend (method->algorithm, kind);
}

guint
gst_ccl_label_wanted_volume (GstCclLabel * self)
{
  return self->now.volume > 1 ? self->now.volume : 0;
}

/* A volume leaves when its last frame is there, queued or not. */
static guint
queued_frames (guint volume, guint depth)
{
  return volume ? volume - 1 : depth;
}

static guint
gst_ccl_label_get_wanted_delay (GstCclAnalyzer * analyzer)
{
  GstCclLabel *const self = GST_CCL_LABEL (analyzer);

  return queued_frames (gst_ccl_label_wanted_volume (self), self->now.async_depth);
}

static gboolean
methods_are_equal (const GstCclLabelMethod * a, const GstCclLabelMethod * b)
{
  return a->backend == b->backend && a->algorithm == b->algorithm && a->connectivity == b->connectivity;
}

/* A method that did not work is tried again only when a setting that it depends on changes. */
static gboolean
is_rejected (GstCclLabel * self)
{
  const gboolean same = self->rejected_volume == gst_ccl_label_wanted_volume (self)
      && methods_are_equal (&self->now.method, &self->rejected);

  if (!same)
    memset (&self->rejected, 0, sizeof self->rejected);
  return same;
}

/* Until upstream can spare the buffers. A method for volumes waits for them, and frames go on with the method before. */
static void
fit_in_headroom (GstCclLabel * self, GstCclLabelRequest * request)
{
  const GstCclLabelRequest *const opened = self->parent.request;

  request->depth = MIN (request->depth, self->parent.headroom.n_spare);
  if (!request->volume)
    return;
  request->volume = opened->volume;
  if (!gst_ccl_pool_headroom_allows (&self->parent.headroom, queued_frames (request->volume, request->depth)))
    request->volume = 0;
  if (request->volume)
    return;
  if (gst_ccl_algorithm_is_for_volumes (request->method.algorithm))
    request->method = self->accepted;
  if (gst_ccl_algorithm_is_for_volumes (request->method.algorithm))
    request->method.algorithm = GST_CCL_ALGORITHM_AUTO;
}

gboolean
gst_ccl_label_wants_map (const GstCclLabel * self)
{
  return self->now.foreground == GST_CCL_FOREGROUND_EQUAL;
}

/* Of a label map. In segmentations it is always 0. */
static guint
background_value (const GstCclLabel * self)
{
  return self->now.mask.source == GST_CCL_MASK_SOURCE_SEGMENTATION_MTD ? 0 : self->now.background_value;
}

static void
gst_ccl_label_fill_request (GstCclAnalyzer * analyzer, gpointer data)
{
  GstCclLabel *const self = GST_CCL_LABEL (analyzer);
  GstCclLabelRequest *const request = data;

  request->method = is_rejected (self) ? self->accepted : self->now.method;
  request->width = self->mask_width;
  request->height = self->mask_height;
  request->max_components = self->now.max_components;
  request->order = self->now.order;
  request->features = gst_ccl_features_to_core (self->now.features)
      | gst_ccl_blob_filter_features (self->now.expression, self->now.order);
  request->is_map = gst_ccl_label_wants_map (self);
  request->background_value = request->is_map ? background_value (self) : 0;
  request->selects = self->now.expression != NULL;
  request->depth = self->now.async_depth;
  request->volume = gst_ccl_label_wanted_volume (self);
  request->threads = self->now.threads;
  request->labels = gst_ccl_analyzer_get_output (analyzer) != GST_CCL_OUTPUT_PASSTHROUGH;
  request->timing = self->now.timing;
  request->batch = self->now.batch;
  /* Not before the start has checked whether the settings go together. */
  if (self->accepted.connectivity
      && !gst_ccl_pool_headroom_allows (&analyzer->headroom, gst_ccl_label_get_wanted_delay (analyzer)))
    fit_in_headroom (self, request);
  request->common.backend = request->method.backend;
}

static gboolean
gst_ccl_label_requests_are_equal (gconstpointer a, gconstpointer b)
{
  const GstCclLabelRequest *const x = a, *const y = b;

  return methods_are_equal (&x->method, &y->method) && x->width == y->width && x->height == y->height
      && x->max_components == y->max_components && x->order == y->order && x->features == y->features
      && x->is_map == y->is_map && x->background_value == y->background_value
      && x->selects == y->selects && x->depth == y->depth
      && x->volume == y->volume && x->threads == y->threads && x->labels == y->labels && x->timing == y->timing
      && x->batch == y->batch;
}

static CclStatus
open_method (GstCclLabel * self, GstCclLabelRequest * request, gchar ** message)
{
  request->common.backend = request->method.backend;
  return gst_ccl_analyzer_open (&self->parent, request, message);
}

/* The method before, or any where that one no longer goes with the volume. */
static CclStatus
use_accepted_method (GstCclLabel * self, GstCclLabelRequest * request, CclStatus status, gchar ** message)
{
  const GstCclLabelMethod wanted = request->method;
  gboolean stays = !methods_are_equal (&wanted, &self->accepted);
  gchar *why = g_steal_pointer (message);

  request->method = self->accepted;
  if (stays)
    status = open_method (self, request, message);
  if (status == CCL_ERROR_UNSUPPORTED && self->accepted.algorithm != GST_CCL_ALGORITHM_AUTO) {
    g_clear_pointer (message, g_free);
    stays = FALSE;
    request->method.algorithm = GST_CCL_ALGORITHM_AUTO;
    status = open_method (self, request, message);
  }
  if (status == CCL_OK) {
    self->rejected = wanted;
    self->rejected_volume = gst_ccl_label_wanted_volume (self);
    GST_ELEMENT_WARNING (self, LIBRARY, SETTINGS, ("Cannot change over: %s. %s", why,
            stays ? "The method stays as it was." : "Going on with algorithm=auto."),
        ("Choose another algorithm, connectivity or backend, or set volume."));
  }
  if (status != CCL_OK && !*message)
    *message = g_steal_pointer (&why);
  g_free (why);
  return status;
}

/* A method that contradicts itself is an error at the start; later, while playing, it is a warning. */
static CclStatus
gst_ccl_label_reopen (GstCclAnalyzer * analyzer, gpointer data, gchar ** message)
{
  GstCclLabel *const self = GST_CCL_LABEL (analyzer);
  GstCclLabelRequest *const request = data;
  CclStatus status;

  status = gst_ccl_analyzer_open (analyzer, request, message);
  if ((status == CCL_ERROR_UNSUPPORTED || status == CCL_ERROR_NO_DEVICE) && self->accepted.connectivity)
    status = use_accepted_method (self, request, status, message);
  if (status == CCL_OK && !allocate_label_images (self, request)) {
    *message = g_strdup_printf ("no memory for label images of %dx%d", request->width, request->height);
    return CCL_ERROR_OUT_OF_MEMORY;
  }
  return status;
}

static void
gst_ccl_label_opened (GstCclAnalyzer * analyzer)
{
  GstCclLabel *const self = GST_CCL_LABEL (analyzer);
  const GstCclLabelRequest *const request = analyzer->request;
  const CclAlgorithmInfo *const info = ccl_context_algorithm (self->labeller);
  CclContext *const volume = self->volume.labeller;
  gsize host_bytes = 0, device_bytes = 0;

  self->accepted = request->method;
  analyzer->depth = request->depth;
  if (volume)
    ccl_context_memory (volume, &host_bytes, &device_bytes);
  GST_OBJECT_LOCK (self);
  self->stats.algorithm = info->name;
  self->stats.volume_algorithm = volume ? ccl_context_algorithm (volume)->name : NULL;
  ccl_context_memory (self->labeller, &analyzer->stats.host_bytes, &analyzer->stats.device_bytes);
  analyzer->stats.host_bytes += host_bytes;
  analyzer->stats.device_bytes += device_bytes;
  GST_OBJECT_UNLOCK (self);
  GST_DEBUG_OBJECT (self, "algorithm \"%s\" on %s for masks up to %dx%d", info->name,
      info->backend == CCL_BACKEND_CUDA ? "CUDA" : "the CPU", request->width, request->height);
}

/* The latency also depends on the caps. */
static void
gst_ccl_label_prepare (GstCclAnalyzer * analyzer)
{
  const GstCclLabelRequest *const request = analyzer->request;

  gst_ccl_analyzer_set_delay (analyzer, queued_frames (request->volume, analyzer->depth));
}

/* Ids of volumes need the metadata of successive frames. */
static gboolean
gst_ccl_label_check_settings (GstCclAnalyzer * analyzer)
{
  const GstCclLabelSettings *const now = &GST_CCL_LABEL (analyzer)->now;
  const gchar *const why = now->volume <= 1 ? NULL
      : now->interval > 1 ? "interval leaves frames out"
      : gst_ccl_analyzer_get_output (analyzer) != GST_CCL_OUTPUT_PASSTHROUGH
      ? "output takes the place of the queued frames"
      : !(now->attach & GST_CCL_ATTACH_BLOB) ? "attach does not say blob" : NULL;

  if (why)
    GST_ELEMENT_ERROR (analyzer, LIBRARY, SETTINGS,
        ("These settings do not go together: volume=%u, but %s.", now->volume, why),
        ("volume goes with interval=1, output=passthrough and attach=blob; or leave volume=0."));
  return !why;
}

/* Opens a small labeller, so that contradicting settings and missing devices are errors before the first frame. The frames
 * themselves go on as in the run before until upstream has buffers for more. */
gboolean
gst_ccl_label_start_contexts (GstCclLabel * self)
{
  GstCclAnalyzer *const analyzer = &self->parent;
  GstCclLabelRequest *const request = analyzer->request;
  const GstCclLabelMethod accepted = self->accepted;
  const guint volume = request->volume;
  gboolean ok;

  memset (&self->accepted, 0, sizeof self->accepted);
  ok = gst_ccl_analyzer_ensure_open (analyzer);
  if (ok)
    gst_ccl_label_prepare (analyzer);
  if (accepted.connectivity && !(ok
          && gst_ccl_pool_headroom_allows (&analyzer->headroom, gst_ccl_label_get_wanted_delay (analyzer)))) {
    self->accepted = accepted;
    *request = (GstCclLabelRequest) {
    .volume = volume};          /* other members are 0, so the first frame opens anew */
  }
  return ok;
}

void
gst_ccl_label_init_contexts (GstCclAnalyzerClass * klass)
{
  klass->request_size = sizeof (GstCclLabelRequest);
  klass->texts = (GstCclAnalyzerTexts) {
    .duty = "label",
    .no_device_hint =
        "Use backend=auto or backend=cpu, with algorithm=auto, or make an NVIDIA driver and device visible here.",
    .memory_hint = "Smaller frames, fewer features, or a smaller max-components, volume or async-depth need less.",
    .settings_error = "These settings do not go together",
    .settings_hint = "Choose another algorithm, connectivity, backend, sort or volume, or leave algorithm=auto.",
  };
  klass->texts.parsed_property = "filter";
  klass->texts.parsed_hint = "An example: area >= 50 and circularity > 0.6 and not touches-border";
  klass->get_wanted_delay = gst_ccl_label_get_wanted_delay;
  klass->check_settings = gst_ccl_label_check_settings;
  klass->fill_request = gst_ccl_label_fill_request;
  klass->requests_are_equal = gst_ccl_label_requests_are_equal;
  klass->may_use = gst_ccl_label_may_use;
  klass->open_on = gst_ccl_label_open_on;
  klass->reopen = gst_ccl_label_reopen;
  klass->opened = gst_ccl_label_opened;
  klass->prepare = gst_ccl_label_prepare;
  klass->close = gst_ccl_label_close;
}
