/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Caps, allocation, events, queries and states. */

#include "gstcclanalyzerprivate.h"

#include <string.h>

#include "base/gstcclcrop.h"
#include "base/gstcclenums.h"
#include "base/gstcclinband.h"
#include "base/gstcclpinned.h"
#include "base/gstcclpropertyrow.h"
#include "base/gstcclsequencelock.h"
#include "base/gstccltime.h"

#define GST_CAT_DEFAULT (GST_CCL_ANALYZER_GET_CLASS (self)->category)

static GstBaseTransformClass *
parent_transform (void)
{
  return g_type_class_peek (GST_TYPE_BASE_TRANSFORM);
}

/* ---------------------------------------------------------------- caps */

static gboolean
is_system_memory (GstCapsFeatures * features, GstStructure * structure, gpointer unused)
{
  (void) structure, (void) unused;
  return !gst_caps_features_contains (features, GST_CCL_CUDA_FEATURE);
}

/* Those of `caps`, of the sink pad, that the settings allow. */
static GstCaps *
allowed_caps (GstCclAnalyzer * self, GstCaps * caps)
{
  GstCclAnalyzerClass *const klass = GST_CCL_ANALYZER_GET_CLASS (self);
  GstCaps *allowed, *both;

  if (!klass->sink_caps)
    return gst_caps_ref (caps);
  allowed = klass->sink_caps (self);
  both = gst_caps_intersect_full (caps, allowed, GST_CAPS_INTERSECT_FIRST);
  gst_caps_unref (allowed);
  return both;
}

static GstCaps *
other_caps (GstCclAnalyzer * self, GstPadDirection direction, GstCaps * caps)
{
  if (gst_ccl_analyzer_get_output (self) == GST_CCL_ANALYZER_PASSTHROUGH)
    return gst_caps_copy (caps);
  return GST_CCL_ANALYZER_GET_CLASS (self)->other_caps (self, direction, caps);
}

/* The templates are the same on all machines. The element offers the caps that this machine supports. */
static GstCaps *
gst_ccl_analyzer_transform_caps (GstBaseTransform * transform, GstPadDirection direction, GstCaps * caps,
    GstCaps * filter)
{
  GstCclAnalyzer *const self = GST_CCL_ANALYZER (transform);
  GstCaps *const from = direction == GST_PAD_SINK ? allowed_caps (self, caps) : gst_caps_ref (caps);
  GstCaps *const to = other_caps (self, direction, from);
  GstCaps *result = direction == GST_PAD_SINK ? gst_caps_ref (to) : allowed_caps (self, to);

  gst_caps_unref (from);
  gst_caps_unref (to);
  if (!gst_ccl_cuda_load ()) {
    result = gst_caps_make_writable (result);
    gst_caps_filter_and_map_in_place (result, (GstCapsFilterMapFunc) is_system_memory, NULL);
  }
  if (filter) {
    GstCaps *const both = gst_caps_intersect_full (filter, result, GST_CAPS_INTERSECT_FIRST);
    gst_caps_unref (result);
    result = both;
  }
  return result;
}

static gboolean
gst_ccl_analyzer_set_caps (GstBaseTransform * transform, GstCaps * in_caps, GstCaps * out_caps)
{
  GstCclAnalyzer *const self = GST_CCL_ANALYZER (transform);
  GstCclAnalyzerClass *const klass = GST_CCL_ANALYZER_GET_CLASS (self);
  GstVideoInfo in_info, out_info;

  if (!gst_video_info_from_caps (&in_info, in_caps) || !gst_video_info_from_caps (&out_info, out_caps)) {
    GST_ERROR_OBJECT (self, "caps that are no video: %" GST_PTR_FORMAT, in_caps);
    return FALSE;
  }
  gst_ccl_analyzer_drain (self);
  self->in_info = in_info;
  self->out_info = out_info;
  klass->caps_changed (self);
  gst_ccl_analyzer_set_in_place (self);
  gst_ccl_analyzer_copy_settings (self);
  if (!gst_ccl_analyzer_ensure_open (self))
    return FALSE;
  if (klass->prepare)
    klass->prepare (self);
  return TRUE;
}

/* Only the size of a picture, because its layout may differ from its source. */
static gboolean
gst_ccl_analyzer_transform_size (GstBaseTransform * transform, GstPadDirection direction, GstCaps * caps, gsize size,
    GstCaps * other_caps, gsize * other_size)
{
  GstVideoInfo info;

  (void) transform, (void) direction, (void) caps, (void) size;
  if (!gst_video_info_from_caps (&info, other_caps))
    return FALSE;
  *other_size = GST_VIDEO_INFO_SIZE (&info);
  return TRUE;
}

static gboolean
gst_ccl_analyzer_propose_allocation (GstBaseTransform * transform, GstQuery * decide_query, GstQuery * query)
{
  GstCclAnalyzer *const self = GST_CCL_ANALYZER (transform);
  GstCclAnalyzerClass *const klass = GST_CCL_ANALYZER_GET_CLASS (self);
  gboolean ok = parent_transform ()->propose_allocation (transform, decide_query, query);
  GstCaps *caps;

  /* In place, the buffers go downstream, so downstream answers for them. */
  if (gst_ccl_analyzer_get_output (self) != GST_CCL_ANALYZER_PASSTHROUGH) {
    gst_query_add_allocation_meta (query, GST_VIDEO_META_API_TYPE, NULL);
    ok = TRUE;
  }
  gst_query_parse_allocation (query, &caps, NULL);
  if (klass->offers_pinned_memory && self->active_backend == GST_CCL_BACKEND_CUDA && caps
      && is_system_memory (gst_caps_get_features (caps, 0), NULL, NULL)) {
    gst_ccl_pinned_propose (&self->cuda, query);
    ok = TRUE;
  }
  gst_ccl_crop_refuse (query);
  gst_ccl_analyzer_copy_settings (self);        /* upstream may ask because they have changed */
  gst_ccl_pool_headroom_propose (&self->headroom, query, klass->get_wanted_delay (self));
  return ok;
}

/* ---------------------------------------------------------------- latency, events, queries */

void
gst_ccl_analyzer_set_delay (GstCclAnalyzer * self, guint n_frames)
{
  const GstClockTime latency = gst_ccl_frames_duration (n_frames, GST_VIDEO_INFO_FPS_N (&self->in_info),
      GST_VIDEO_INFO_FPS_D (&self->in_info));
  gboolean changed;

  GST_OBJECT_LOCK (self);
  changed = self->latency != latency;
  self->latency = latency;
  GST_OBJECT_UNLOCK (self);
  if (changed)
    gst_element_post_message (GST_ELEMENT (self), gst_message_new_latency (GST_OBJECT (self)));
}

static void
add_latency (GstCclAnalyzer * self, GstQuery * query)
{
  GstClockTime min, max, latency;
  gboolean live;

  GST_OBJECT_LOCK (self);
  latency = self->latency;
  GST_OBJECT_UNLOCK (self);
  gst_query_parse_latency (query, &live, &min, &max);
  min += latency;
  if (GST_CLOCK_TIME_IS_VALID (max))
    max += latency;
  gst_query_set_latency (query, live, min, max);
}

static gboolean
gst_ccl_analyzer_sink_event (GstBaseTransform * transform, GstEvent * event)
{
  GstCclAnalyzer *const self = GST_CCL_ANALYZER (transform);
  GstCclAnalyzerClass *const klass = GST_CCL_ANALYZER_GET_CLASS (self);

  if (GST_EVENT_TYPE (event) == GST_EVENT_FLUSH_STOP)
    gst_ccl_analyzer_discard_frames (self);
  else if (GST_EVENT_IS_SERIALIZED (event) && !gst_ccl_inband_is_event (event))
    gst_ccl_analyzer_drain (self);
  switch (GST_EVENT_TYPE (event)) {
    case GST_EVENT_STREAM_START:
      gst_ccl_pool_headroom_start_stream (&self->headroom, event);
      break;
    case GST_EVENT_CAPS:
      gst_ccl_analyzer_take_output (self);
      break;
    case GST_EVENT_FLUSH_STOP:
    case GST_EVENT_SEGMENT:
      gst_ccl_lateness_reset (&self->lateness, transform);
      break;
    default:
      break;
  }
  if (klass->event)
    klass->event (self, event);
  return parent_transform ()->sink_event (transform, event);
}

static gboolean
gst_ccl_analyzer_src_event (GstBaseTransform * transform, GstEvent * event)
{
  if (GST_EVENT_TYPE (event) == GST_EVENT_QOS)
    gst_ccl_lateness_update (&GST_CCL_ANALYZER (transform)->lateness, transform, event);
  return parent_transform ()->src_event (transform, event);
}

static gboolean
gst_ccl_analyzer_query (GstBaseTransform * transform, GstPadDirection direction, GstQuery * query)
{
  GstCclAnalyzer *const self = GST_CCL_ANALYZER (transform);

  if (GST_QUERY_TYPE (query) == GST_QUERY_CONTEXT && gst_ccl_cuda_query_context (&self->cuda, query))
    return TRUE;
  /* DRAIN and ALLOCATION: upstream wants its buffers back. */
  if (direction == GST_PAD_SINK && GST_QUERY_IS_SERIALIZED (query))
    gst_ccl_analyzer_drain (self);
  if (!gst_ccl_sequence_lock_query (parent_transform (), transform, direction, query, &self->n_output_changes))
    return FALSE;
  if (GST_QUERY_TYPE (query) == GST_QUERY_LATENCY && direction == GST_PAD_SRC)
    add_latency (self, query);
  return TRUE;
}

static void
gst_ccl_analyzer_set_context (GstElement * element, GstContext * context)
{
  gst_ccl_cuda_set_context (&GST_CCL_ANALYZER (element)->cuda, context);
  GST_ELEMENT_CLASS (g_type_class_peek (GST_TYPE_BASE_TRANSFORM))->set_context (element, context);
}

/* ---------------------------------------------------------------- states */

static void
warn_of_parse_error (GstCclAnalyzer * self, const gchar * error)
{
  const GstCclAnalyzerTexts *const texts = &GST_CCL_ANALYZER_GET_CLASS (self)->texts;

  GST_ELEMENT_WARNING (self, LIBRARY, SETTINGS, ("%s: %s.", texts->parsed_property, error),
      ("%s. The value stays as it was.", texts->parsed_hint));
}

void
gst_ccl_analyzer_set_parse_error (GstCclAnalyzer * self, const gchar * error)
{
  gboolean is_streaming;

  GST_OBJECT_LOCK (self);
  is_streaming = self->is_streaming;
  g_free (self->parse_error);
  self->parse_error = is_streaming ? NULL : g_strdup (error);
  GST_OBJECT_UNLOCK (self);
  if (error && is_streaming)
    warn_of_parse_error (self, error);
}

static gboolean
start (GstCclAnalyzer * self)
{
  GstCclAnalyzerClass *const klass = GST_CCL_ANALYZER_GET_CLASS (self);
  gchar *parse_error;

  if (!self->request)
    self->request = g_malloc0 (klass->request_size);
  GST_OBJECT_LOCK (self);
  klass->copy_settings (self);
  memset (&self->stats, 0, sizeof self->stats);
  self->stats.gpu = -1;
  self->active_backend = GST_CCL_BACKEND_AUTO;
  self->latency = 0;
  self->lateness.n_late = 0;
  self->is_streaming = TRUE;
  parse_error = g_steal_pointer (&self->parse_error);
  gst_ccl_analyzer_put_wanted_output (self);
  GST_OBJECT_UNLOCK (self);
  gst_ccl_analyzer_set_in_place (self);
  gst_ccl_pool_headroom_start (&self->headroom);
  gst_ccl_lateness_reset (&self->lateness, GST_BASE_TRANSFORM (self));
  self->cuda_lost = self->cuda_full = self->failed = self->warned_of_other = self->warned_of_memory = FALSE;
  self->source = g_quark_from_string (GST_OBJECT_NAME (self));
  gst_video_info_set_format (&self->in_info, GST_VIDEO_FORMAT_GRAY8, 16, 16);
  if (parse_error)
    warn_of_parse_error (self, parse_error);
  g_free (parse_error);
  return klass->start (self);
}

static gboolean
gst_ccl_analyzer_stop (GstBaseTransform * transform)
{
  GstCclAnalyzer *const self = GST_CCL_ANALYZER (transform);
  GstCclAnalyzerClass *const klass = GST_CCL_ANALYZER_GET_CLASS (self);

  gst_ccl_analyzer_discard_frames (self);
  if (klass->stop)
    klass->stop (self);
  gst_ccl_analyzer_close_context (self);
  gst_ccl_cuda_close (&self->cuda);
  GST_OBJECT_LOCK (self);
  self->active_backend = GST_CCL_BACKEND_AUTO;
  self->is_streaming = FALSE;
  gst_ccl_analyzer_put_wanted_output (self);
  GST_OBJECT_UNLOCK (self);
  return TRUE;
}

/* GstBaseTransform does not call stop() after a failed start. */
static gboolean
gst_ccl_analyzer_start (GstBaseTransform * transform)
{
  if (start (GST_CCL_ANALYZER (transform)))
    return TRUE;
  gst_ccl_analyzer_stop (transform);
  return FALSE;
}

/* ---------------------------------------------------------------- properties in common */

const gchar *
gst_ccl_analyzer_backend_name (GstCclAnalyzer * self)
{
  static const gchar *const names[] = { "none", "cuda", "cpu" };

  return names[self->active_backend];
}

GParamSpec *
gst_ccl_analyzer_param_backend (void)
{
  return g_param_spec_enum ("backend", "Backend",
      "Device for the analysis (auto = a GPU, or the CPU if there is no GPU or it fails)", GST_TYPE_CCL_BACKEND,
      GST_CCL_BACKEND_AUTO, GST_CCL_PARAM_PLAYING);
}

GParamSpec *
gst_ccl_analyzer_param_active_backend (void)
{
  return g_param_spec_enum ("active-backend", "Active backend", "Device that analyses now (auto = not started)",
      GST_TYPE_CCL_BACKEND, GST_CCL_BACKEND_AUTO, GST_CCL_PARAM_READ_ONLY);
}

GParamSpec *
gst_ccl_analyzer_param_async_depth (void)
{
  return g_param_spec_uint ("async-depth", "Asynchronous depth",
      "Frames that the element keeps so that the GPU works on several at once; each adds one frame of latency "
      "(0 = none)", 0, GST_CCL_MAX_ASYNC_DEPTH, 0, GST_CCL_PARAM_PLAYING);
}

GParamSpec *
gst_ccl_analyzer_param_cuda_device_id (void)
{
  return g_param_spec_int ("cuda-device-id", "CUDA device ID",
      "Index of the GPU to use (-1 = that of frames in CUDA memory, else the GPU with the fewest streams of this process). A "
      "missing GPU is an error with backend=cuda; with backend=auto the CPU is used",
      -1, G_MAXINT, -1, G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS | GST_PARAM_MUTABLE_READY);
}

/* GstBaseTransform works in place only for classes that have both methods. The frames are written in make_output(). */
static GstFlowReturn
gst_ccl_analyzer_transform_ip (GstBaseTransform * transform, GstBuffer * buffer)
{
  (void) transform, (void) buffer;
  g_return_val_if_reached (GST_FLOW_ERROR);
}

static GstFlowReturn
gst_ccl_analyzer_transform (GstBaseTransform * transform, GstBuffer * input, GstBuffer * output)
{
  (void) transform, (void) input, (void) output;
  g_return_val_if_reached (GST_FLOW_ERROR);
}

void
gst_ccl_analyzer_init_pads (GstCclAnalyzerClass * klass)
{
  GstBaseTransformClass *const transform = GST_BASE_TRANSFORM_CLASS (klass);

  GST_ELEMENT_CLASS (klass)->set_context = gst_ccl_analyzer_set_context;
  transform->start = gst_ccl_analyzer_start;
  transform->stop = gst_ccl_analyzer_stop;
  transform->transform_caps = gst_ccl_analyzer_transform_caps;
  transform->set_caps = gst_ccl_analyzer_set_caps;
  transform->transform_size = gst_ccl_analyzer_transform_size;
  transform->propose_allocation = gst_ccl_analyzer_propose_allocation;
  transform->transform_ip = gst_ccl_analyzer_transform_ip;
  transform->transform = gst_ccl_analyzer_transform;
  transform->sink_event = gst_ccl_analyzer_sink_event;
  transform->src_event = gst_ccl_analyzer_src_event;
  transform->query = gst_ccl_analyzer_query;
}
