/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* The detector of the core, the areas that it ignores, and the pool of its masks. */

#include "gstcclmotionprivate.h"

#include <string.h>

#include "base/gstccldevice.h"
#include "base/gstcclenums.h"
#include "motion/gstcclignore.h"

#define GST_CAT_DEFAULT gst_ccl_motion_debug

/* The width that goes with a lower height. */
guint
gst_ccl_motion_mask_width (guint width, guint height, guint mask_height)
{
  return MAX ((guint) gst_util_uint64_scale_int_round (width, mask_height, height), 1);
}

guint
gst_ccl_motion_mask_height (guint height, guint work_height)
{
  return work_height && work_height < height ? work_height : height;
}

static void
drop_pool (GstCclMotion * self)
{
  if (self->pool)
    gst_buffer_pool_set_active (self->pool, FALSE);
  gst_clear_object (&self->pool);
}

/* Masks come from a pool: no new pages for every frame. What was made on the device stays there, unless the mask is
 * what leaves. */
static GstBufferPool *
create_pool (GstCclMotion * self)
{
  const gboolean on_device = self->parent.active_backend == GST_CCL_BACKEND_CUDA
      && gst_ccl_analyzer_get_output (&self->parent) == GST_CCL_MOTION_OUTPUT_PASSTHROUGH;
  const gsize size = GST_ROUND_UP_4 (self->mask_width) * (gsize) self->mask_height;
  GstBufferPool *const pool = gst_buffer_pool_new ();
  GstStructure *const config = gst_buffer_pool_get_config (pool);

  gst_buffer_pool_config_set_params (config, NULL, size, on_device ? 0 : 2, 0);
  if (on_device) {
    GstAllocator *const allocator = gst_ccl_device_allocator_new (&self->parent.cuda);
    gst_buffer_pool_config_set_allocator (config, allocator, NULL);
    gst_object_unref (allocator);
  }
  if (gst_buffer_pool_set_config (pool, config) && gst_buffer_pool_set_active (pool, TRUE))
    return pool;
  gst_object_unref (pool);
  GST_WARNING_OBJECT (self, "no pool of masks");
  return NULL;
}

/* The memory of masks depends on the output. */
void
gst_ccl_motion_recreate_pool (GstCclMotion * self)
{
  drop_pool (self);
  if (self->detector)
    self->pool = create_pool (self);
}

/* ---------------------------------------------------------------- ignore */

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
            GST_VIDEO_INFO_WIDTH (&self->parent.in_info), GST_VIDEO_INFO_HEIGHT (&self->parent.in_info)),
        ("Coordinates are pixels of the frame, or fractions of it where all of a polygon's are from 0 to 1."));
}

/* Hands the detector the polygons of the property. */
static void
set_ignored (GstCclMotion * self)
{
  const GstCclMotionRequest *const request = self->parent.request;
  gboolean is_set = FALSE;
  GPtrArray *polygons;
  guint8 *map;
  gchar *text;

  GST_OBJECT_LOCK (self);
  self->ignored_serial = self->settings.ignore_serial;
  text = g_strdup (self->ignore);
  GST_OBJECT_UNLOCK (self);

  polygons = gst_ccl_ignore_parse (text, NULL); /* checked when it was set */
  map = g_try_malloc0 ((gsize) self->mask_width * self->mask_height);
  if (polygons && map && gst_ccl_ignore_fill (polygons, request->width, request->height, map, self->mask_width,
          self->mask_height)) {
    warn_of_ignored (self, polygons->len, map);
    g_mutex_lock (&self->detector_lock);
    gst_ccl_cuda_push (&self->parent.cuda);
    is_set = ccl_motion_set_ignore (self->detector, map, self->mask_width) == CCL_OK;
    gst_ccl_cuda_pop (&self->parent.cuda);
    g_mutex_unlock (&self->detector_lock);
  }
  if (!is_set)
    GST_ELEMENT_WARNING (self, RESOURCE, NO_SPACE_LEFT, ("No memory for ignore: the mask stays as it was."), (NULL));
  g_free (map);
  g_clear_pointer (&polygons, g_ptr_array_unref);
  g_free (text);
}

/* ---------------------------------------------------------------- contexts of the core */

static void
gst_ccl_motion_close (GstCclAnalyzer * analyzer)
{
  GstCclMotion *const self = GST_CCL_MOTION (analyzer);

  g_mutex_lock (&self->detector_lock);
  ccl_motion_free (self->detector);
  self->detector = NULL;
  self->n_unsaved = 0;
  g_mutex_unlock (&self->detector_lock);
  drop_pool (self);
}

static gboolean
gst_ccl_motion_may_use (GstCclAnalyzer * analyzer, gconstpointer request, CclBackendKind kind)
{
  const gint backend = ((const GstCclRequest *) request)->backend;

  (void) analyzer;
  return backend == GST_CCL_BACKEND_AUTO
      || backend == (kind == CCL_BACKEND_CUDA ? GST_CCL_BACKEND_CUDA : GST_CCL_BACKEND_CPU);
}

static CclStatus
gst_ccl_motion_open_on (GstCclAnalyzer * analyzer, CclBackendKind kind, gconstpointer data)
{
  const GstCclMotionRequest *const request = data;
  GstCclMotion *const self = GST_CCL_MOTION (analyzer);
  CclMotionConfig config = ccl_motion_config_default ();
  CclStatus status;

  config.backend = kind;
  config.method = request->method;
  config.width = request->width;
  config.height = request->height;
  config.work_height = gst_ccl_motion_mask_height (request->height, request->work_height);
  config.work_width = gst_ccl_motion_mask_width (request->width, request->height, config.work_height);
  config.device = gst_ccl_cuda_get_device (&analyzer->cuda);
  config.depth = CCL_MAX_DEPTH; /* async-depth may change, and nothing is forgotten */
  config.threads = request->threads;
  config.chroma = request->has_chroma;
  g_mutex_lock (&self->detector_lock);
  status = ccl_motion_new (&config, &self->detector);
  g_mutex_unlock (&self->detector_lock);
  return status;
}

static void
gst_ccl_motion_fill_request (GstCclAnalyzer * analyzer, gpointer data)
{
  GstCclMotion *const self = GST_CCL_MOTION (analyzer);
  GstCclMotionRequest *const request = data;

  request->common.backend = self->now.backend;
  request->method = self->now.method;
  request->width = GST_VIDEO_INFO_WIDTH (&analyzer->in_info);
  request->height = GST_VIDEO_INFO_HEIGHT (&analyzer->in_info);
  /* A mask that is a picture of its own has the size that its caps say. */
  request->work_height = gst_ccl_analyzer_get_output (analyzer) == GST_CCL_MOTION_OUTPUT_MASK
      ? gst_ccl_analyzer_get_output_height (analyzer) : self->now.work_height;
  request->threads = self->now.threads;
  request->has_chroma = self->now.method == CCL_MOTION_FEEDBACK
      && GST_VIDEO_INFO_N_COMPONENTS (&analyzer->in_info) >= 3;
}

static gboolean
gst_ccl_motion_requests_are_equal (gconstpointer a, gconstpointer b)
{
  const GstCclMotionRequest *const x = a, *const y = b;

  return x->method == y->method && x->width == y->width && x->height == y->height && x->work_height == y->work_height
      && x->threads == y->threads && x->has_chroma == y->has_chroma;
}

static void
gst_ccl_motion_opened (GstCclAnalyzer * analyzer)
{
  GstCclMotion *const self = GST_CCL_MOTION (analyzer);
  const GstCclMotionRequest *const request = analyzer->request;

  ccl_motion_size (self->detector, &self->mask_width, &self->mask_height);
  GST_OBJECT_LOCK (self);
  ccl_motion_memory (self->detector, &analyzer->stats.host_bytes, &analyzer->stats.device_bytes);
  self->tracks_are_new = TRUE;
  GST_OBJECT_UNLOCK (self);
  GST_DEBUG_OBJECT (self, "frames of %dx%d, masks of %ux%u, on %s", request->width, request->height, self->mask_width,
      self->mask_height, analyzer->active_backend == GST_CCL_BACKEND_CUDA ? "CUDA" : "the CPU");
  self->pool = create_pool (self);
  if (self->ignored_serial)     /* else prepare() does it, for the size of the caps */
    set_ignored (self);
}

static guint
gst_ccl_motion_get_wanted_delay (GstCclAnalyzer * analyzer)
{
  return GST_CCL_MOTION (analyzer)->now.async_depth;
}

/* Settings that need no other detector. */
static void
gst_ccl_motion_prepare (GstCclAnalyzer * analyzer)
{
  GstCclMotion *const self = GST_CCL_MOTION (analyzer);

  if (analyzer->depth != self->now.async_depth
      && gst_ccl_pool_headroom_allows (&analyzer->headroom, self->now.async_depth)) {
    gst_ccl_analyzer_drain (analyzer);
    analyzer->depth = self->now.async_depth;
  }
  gst_ccl_analyzer_set_delay (analyzer, analyzer->depth);
  if (self->ignored_serial != self->now.ignore_serial) {
    gst_ccl_analyzer_drain (analyzer);
    set_ignored (self);
  }
  if (self->caps_are_new)
    gst_ccl_motion_warn_of_open (self);
  self->caps_are_new = FALSE;
}

void
gst_ccl_motion_init_detector (GstCclAnalyzerClass * klass)
{
  klass->request_size = sizeof (GstCclMotionRequest);
  klass->needs_every_frame = TRUE;
  klass->texts = (GstCclAnalyzerTexts) {
  .duty = "detect motion",.no_device_hint =
        "Use backend=auto or backend=cpu, or make an NVIDIA driver and device visible to this process.",.memory_hint =
        "A lower work-height needs less.",.settings_error = "Motion cannot be detected",.settings_hint =
        "Choose another method or work-height.",};
  klass->texts.parsed_property = "ignore";
  klass->texts.parsed_hint = "It is \"x,y;x,y;x,y|x,y;...\", in pixels of the frame, or from 0 to 1";
  klass->get_wanted_delay = gst_ccl_motion_get_wanted_delay;
  klass->prepare = gst_ccl_motion_prepare;
  klass->fill_request = gst_ccl_motion_fill_request;
  klass->requests_are_equal = gst_ccl_motion_requests_are_equal;
  klass->may_use = gst_ccl_motion_may_use;
  klass->open_on = gst_ccl_motion_open_on;
  klass->opened = gst_ccl_motion_opened;
  klass->close = gst_ccl_motion_close;
}
