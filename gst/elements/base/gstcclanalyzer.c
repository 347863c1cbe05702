/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "gstcclanalyzer.h"

#include "gstcclanalyzerprivate.h"
#include "base/gstcclenums.h"
#include "base/gstccltime.h"

/* The log category of the subclass. */
#define GST_CAT_DEFAULT (GST_CCL_ANALYZER_GET_CLASS (self)->category)

#define gst_ccl_analyzer_parent_class parent_class
G_DEFINE_ABSTRACT_TYPE (GstCclAnalyzer, gst_ccl_analyzer, GST_TYPE_BASE_TRANSFORM);

/* ---------------------------------------------------------------- take the output */

gint
gst_ccl_analyzer_get_output (GstCclAnalyzer * self)
{
  return g_atomic_int_get (&self->output);
}

guint
gst_ccl_analyzer_get_output_height (GstCclAnalyzer * self)
{
  return (guint) g_atomic_int_get (&self->output_height);
}

static void
put_output (GstCclAnalyzer * self, gint output, guint height)
{
  g_atomic_int_inc (&self->n_output_changes);
  g_atomic_int_set (&self->output, output);
  g_atomic_int_set (&self->output_height, height);
  g_atomic_int_inc (&self->n_output_changes);
}

void
gst_ccl_analyzer_put_wanted_output (GstCclAnalyzer * self)
{
  gint output = 0;
  guint height = 0;

  GST_CCL_ANALYZER_GET_CLASS (self)->get_wanted_output (self, &output, &height);
  put_output (self, output, height);
}

void
gst_ccl_analyzer_sync_output (GstCclAnalyzer * self)
{
  if (!self->is_streaming)
    gst_ccl_analyzer_put_wanted_output (self);
}

void
gst_ccl_analyzer_set_in_place (GstCclAnalyzer * self)
{
  gst_base_transform_set_in_place (GST_BASE_TRANSFORM (self),
      gst_ccl_analyzer_get_output (self) == GST_CCL_ANALYZER_PASSTHROUGH);
}

/* Called between two frames. Another output has other caps, so the parent class has to negotiate first. */
void
gst_ccl_analyzer_take_output (GstCclAnalyzer * self)
{
  GstCclAnalyzerClass *const klass = GST_CCL_ANALYZER_GET_CLASS (self);
  gint output = 0;
  guint height = 0;

  GST_OBJECT_LOCK (self);
  klass->get_wanted_output (self, &output, &height);
  GST_OBJECT_UNLOCK (self);
  if (output == gst_ccl_analyzer_get_output (self) && height == gst_ccl_analyzer_get_output_height (self))
    return;
  gst_ccl_analyzer_drain (self);
  put_output (self, output, height);
  if (klass->output_changed)
    klass->output_changed (self);
  gst_ccl_analyzer_set_in_place (self);
  gst_base_transform_reconfigure_src (GST_BASE_TRANSFORM (self));
  /* In place, upstream's buffers go downstream, which has not agreed to their layout yet. */
  gst_base_transform_reconfigure_sink (GST_BASE_TRANSFORM (self));
}

/* ---------------------------------------------------------------- take the settings, find the mask, open */

void
gst_ccl_analyzer_copy_settings (GstCclAnalyzer * self)
{
  GST_OBJECT_LOCK (self);
  GST_CCL_ANALYZER_GET_CLASS (self)->copy_settings (self);
  GST_OBJECT_UNLOCK (self);
}

static void
request_headroom (GstCclAnalyzer * self)
{
  const guint delay = GST_CCL_ANALYZER_GET_CLASS (self)->get_wanted_delay (self);

  if (!gst_ccl_pool_headroom_allows (&self->headroom, delay))
    gst_ccl_pool_headroom_request (&self->headroom, GST_BASE_TRANSFORM (self), delay);
}

/* Returns the buffer that holds the mask: the frame itself, or one beside it. */
static GstBuffer *
find_mask (GstCclAnalyzer * self, GstBuffer * buffer, GstCclFoundMask * found)
{
  GstCclAnalyzerClass *const klass = GST_CCL_ANALYZER_GET_CLASS (self);

  if (klass->find_mask)
    klass->find_mask (self, buffer, found);
  return found->buffer ? found->buffer : buffer;
}

/* A mask in the memory of another device is analysed there. */
static void
follow_device (GstCclAnalyzer * self, GstBuffer * mask)
{
  GstMemory *const memory = gst_buffer_n_memory (mask) ? gst_buffer_peek_memory (mask, 0) : NULL;

  if (!memory || self->active_backend != GST_CCL_BACKEND_CUDA || !gst_ccl_cuda_should_follow (&self->cuda, memory))
    return;
  gst_ccl_analyzer_drain (self);
  gst_ccl_analyzer_close_context (self);
  gst_ccl_cuda_follow (&self->cuda, memory);
}

/* Opens the context that the settings need. FALSE: an error was posted. */
static gboolean
open_for_settings (GstCclAnalyzer * self)
{
  GstCclAnalyzerClass *const klass = GST_CCL_ANALYZER_GET_CLASS (self);

  if (!gst_ccl_analyzer_ensure_open (self))
    return FALSE;
  if (klass->prepare)
    klass->prepare (self);
  return TRUE;
}

/* ---------------------------------------------------------------- submit */

GstCclFrame *
gst_ccl_analyzer_nth_frame (GstCclAnalyzer * self, guint n)
{
  return self->frames[(self->first + n) % (self->depth + 1)];
}

gboolean
gst_ccl_analyzer_map_view (GstCclAnalyzer * self, GstCclFrame * frame, GstBuffer * mask, const GstVideoInfo * info,
    guint component, GError ** error)
{
  const gboolean on_device = self->active_backend == GST_CCL_BACKEND_CUDA && gst_buffer_n_memory (mask) && !component
      && gst_ccl_cuda_can_read (&self->cuda, gst_buffer_peek_memory (mask, 0));

  return gst_ccl_mask_view_map (&frame->view, mask, info, component, on_device, error);
}

gboolean
gst_ccl_analyzer_map_frame (GstCclAnalyzer * self, GstCclFrame * frame, GError ** error)
{
  frame->is_mapped = GST_CCL_ANALYZER_GET_CLASS (self)->map_frame (self, frame, error);
  return frame->is_mapped;
}

void
gst_ccl_analyzer_unmap_frame (GstCclAnalyzer * self, GstCclFrame * frame)
{
  GstCclAnalyzerClass *const klass = GST_CCL_ANALYZER_GET_CLASS (self);

  if (!frame->is_mapped)
    return;
  if (klass->unmap_frame)
    klass->unmap_frame (self, frame);
  gst_ccl_mask_view_unmap (&frame->view);
  frame->is_mapped = FALSE;
}

void
gst_ccl_analyzer_post_frame_error (GstCclAnalyzer * self, GError * error)
{
  gst_element_message_full (GST_ELEMENT (self), GST_MESSAGE_ERROR, error->domain, error->code,
      g_strdup (error->message), NULL, __FILE__, GST_FUNCTION, __LINE__);
  g_error_free (error);
}

static void
clear_frame (GstCclAnalyzer * self, GstCclFrame * frame)
{
  GstCclAnalyzerClass *const klass = GST_CCL_ANALYZER_GET_CLASS (self);

  gst_ccl_analyzer_unmap_frame (self, frame);
  if (klass->clear_frame)
    klass->clear_frame (self, frame);
  gst_clear_buffer (&frame->buffer);
  frame->is_analysed = FALSE;
}

CclStatus
gst_ccl_analyzer_submit_frame (GstCclAnalyzer * self, GstCclFrame * frame)
{
  CclStatus status;

  gst_ccl_cuda_push (&self->cuda);
  status = GST_CCL_ANALYZER_GET_CLASS (self)->submit_frame (self, frame);
  gst_ccl_cuda_pop (&self->cuda);
  return status;
}

/* Puts the frame into the delay queue and submits it to the core. Takes both buffers. */
static GstFlowReturn
submit (GstCclAnalyzer * self, GstBuffer * buffer, GstCclFoundMask * found, GstClockTime arrived)
{
  const GstClockTime start = gst_util_get_timestamp ();
  GstCclFrame *const frame = gst_ccl_analyzer_nth_frame (self, self->n_frames);
  GError *error = NULL;
  CclStatus status;

  frame->buffer = buffer;
  frame->arrived = arrived;
  frame->host_time = 0;
  frame->is_analysed = frame->is_mapped = FALSE;
  self->n_frames++;
  if (!GST_CCL_ANALYZER_GET_CLASS (self)->begin_frame (self, frame, found))
    return GST_FLOW_OK;

  if (!gst_ccl_analyzer_map_frame (self, frame, &error)) {
    gst_ccl_analyzer_post_frame_error (self, error);
    clear_frame (self, frame);
    self->n_frames--;
    return GST_FLOW_ERROR;
  }
  frame->is_analysed = TRUE;
  status = gst_ccl_analyzer_submit_frame (self, frame);
  if (status != CCL_OK && !gst_ccl_analyzer_continue_elsewhere (self, status)) {
    gst_ccl_analyzer_discard_frames (self);
    return GST_FLOW_ERROR;
  }
  frame->host_time = gst_util_get_timestamp () - start;
  return GST_FLOW_OK;
}

/* ---------------------------------------------------------------- collect, attach */

static CclStatus
collect_frame (GstCclAnalyzer * self, GstCclFrame * frame)
{
  CclStatus status;

  gst_ccl_cuda_push (&self->cuda);
  status = GST_CCL_ANALYZER_GET_CLASS (self)->collect_frame (self, frame);
  gst_ccl_cuda_pop (&self->cuda);
  return status;
}

/* Waits for the frame. If the device fails, the frame is analysed again on another GPU or on the CPU. FALSE: an error was
 * posted. */
static gboolean
collect_with_fallback (GstCclAnalyzer * self, GstCclFrame * frame)
{
  CclStatus status;

  if (!frame->is_analysed)
    return TRUE;
  status = collect_frame (self, frame);
  if (status == CCL_OK)
    return TRUE;
  do {
    if (!gst_ccl_analyzer_continue_elsewhere (self, status))
      return FALSE;
    status = frame->is_analysed ? collect_frame (self, frame) : CCL_OK;
  } while (status != CCL_OK && self->active_backend == GST_CCL_BACKEND_CUDA);
  if (status == CCL_OK)
    return TRUE;
  if (GST_CCL_ANALYZER_GET_CLASS (self)->needs_every_frame) {
    gst_ccl_analyzer_post_open_error (self, status, ccl_error_message ());
    return FALSE;
  }
  gst_ccl_analyzer_unmap_frame (self, frame);
  frame->is_analysed = FALSE;
  return TRUE;
}

static void
release_frame (GstCclAnalyzer * self)
{
  clear_frame (self, gst_ccl_analyzer_nth_frame (self, 0));
  self->n_frames--;
  self->first = self->n_frames ? (self->first + 1) % (self->depth + 1) : 0;     /* 0: the depth may change now */
}

void
gst_ccl_analyzer_discard_frames (GstCclAnalyzer * self)
{
  GstCclAnalyzerClass *const klass = GST_CCL_ANALYZER_GET_CLASS (self);

  while (self->n_frames) {
    if (gst_ccl_analyzer_nth_frame (self, 0)->is_analysed && self->is_open)
      collect_frame (self, gst_ccl_analyzer_nth_frame (self, 0));
    release_frame (self);
  }
  if (klass->discard)
    klass->discard (self);
}

static void
count_frame (GstCclAnalyzer * self, const GstCclFrame * frame)
{
  GST_OBJECT_LOCK (self);
  self->stats.frames++;
  if (frame->is_analysed)
    self->stats.path = frame->view.path;
  else
    self->stats.skipped++;
  GST_OBJECT_UNLOCK (self);
}

static void
count_host_time (GstCclAnalyzer * self, GstClockTime host_time)
{
  GST_OBJECT_LOCK (self);
  gst_ccl_min_avg_max_add (&self->stats.host, host_time / (gdouble) GST_USECOND);
  GST_OBJECT_UNLOCK (self);
}

void
gst_ccl_analyzer_count_latency (GstCclAnalyzer * self, GstClockTime arrived)
{
  const GstClockTime latency = gst_util_get_timestamp () - arrived;

  GST_OBJECT_LOCK (self);
  gst_ccl_min_avg_max_add (&self->stats.latency, latency / (gdouble) GST_USECOND);
  GST_OBJECT_UNLOCK (self);
}

GstFlowReturn
gst_ccl_analyzer_prepare_output (GstCclAnalyzer * self, GstBuffer * input, GstBuffer ** output)
{
  return GST_BASE_TRANSFORM_CLASS (parent_class)->prepare_output_buffer (GST_BASE_TRANSFORM (self), input, output);
}

/* Collects the oldest frame and makes its output. `output` stays NULL when the subclass keeps the buffer. */
static GstFlowReturn
finish_frame (GstCclAnalyzer * self, GstBuffer ** output)
{
  GstCclAnalyzerClass *const klass = GST_CCL_ANALYZER_GET_CLASS (self);
  GstCclFrame *const frame = gst_ccl_analyzer_nth_frame (self, 0);
  const GstClockTime start = gst_util_get_timestamp (), arrived = frame->arrived;
  GstFlowReturn flow;
  GstBuffer *input;

  if (!collect_with_fallback (self, frame))
    return GST_FLOW_ERROR;
  count_frame (self, frame);
  klass->describe_frame (self, frame);
  gst_ccl_analyzer_unmap_frame (self, frame);
  input = g_steal_pointer (&frame->buffer);
  flow = klass->make_output (self, frame, input, output);
  if (frame->is_analysed)
    count_host_time (self, frame->host_time + gst_util_get_timestamp () - start);
  if (*output)
    gst_ccl_analyzer_count_latency (self, arrived);
  release_frame (self);
  return flow;
}

void
gst_ccl_analyzer_warn_of_other (GstCclAnalyzer * self, GstBuffer * buffer, GType api, const gchar * what)
{
  if (self->warned_of_other || gst_buffer_get_n_meta (buffer, api) != 1)
    return;
  self->warned_of_other = TRUE;
  GST_ELEMENT_WARNING (self, LIBRARY, SETTINGS,
      ("The frames carry %s of an element upstream already: elements downstream read only what %s attaches.", what,
          GST_OBJECT_NAME (self)), ("The metadata of one of the two elements is not used. Said once."));
}

GstFlowReturn
gst_ccl_analyzer_finish_frames (GstCclAnalyzer * self, gboolean all, GstBuffer ** output)
{
  GstFlowReturn flow = self->failed ? GST_FLOW_ERROR : GST_FLOW_OK;

  while (!*output && flow == GST_FLOW_OK && self->n_frames > (all ? 0 : self->depth))
    flow = finish_frame (self, output);
  return flow;
}

static GstFlowReturn
finish_or_discard (GstCclAnalyzer * self, gboolean all, GstBuffer ** output)
{
  GstFlowReturn flow;

  *output = NULL;
  flow = GST_CCL_ANALYZER_GET_CLASS (self)->finish_frames (self, all, output);
  if (flow != GST_FLOW_OK)
    gst_ccl_analyzer_discard_frames (self);
  return flow;
}

GstFlowReturn
gst_ccl_analyzer_drain (GstCclAnalyzer * self)
{
  GstFlowReturn flow = GST_FLOW_OK;
  GstBuffer *output;

  do {
    flow = finish_or_discard (self, TRUE, &output);
    if (flow == GST_FLOW_OK && output)
      flow = gst_pad_push (GST_BASE_TRANSFORM_SRC_PAD (self), output);
    else
      gst_clear_buffer (&output);
  } while (flow == GST_FLOW_OK && output);
  gst_ccl_analyzer_discard_frames (self);
  return flow;
}

/* ---------------------------------------------------------------- the path of a frame */

static GstFlowReturn
gst_ccl_analyzer_submit_input_buffer (GstBaseTransform * transform, gboolean is_discont, GstBuffer * input)
{
  GstCclAnalyzer *const self = GST_CCL_ANALYZER (transform);
  const GstClockTime arrived = gst_util_get_timestamp ();
  GstCclFoundMask found = { 0 };
  GstFlowReturn flow;

  gst_ccl_analyzer_take_output (self);
  /* The parent class marks the next output buffer as DISCONT, so older frames must leave first. */
  if (GST_BUFFER_IS_DISCONT (input))
    gst_ccl_analyzer_drain (self);
  flow = GST_BASE_TRANSFORM_CLASS (parent_class)->submit_input_buffer (transform, is_discont, input);
  /* The parent class does the same after it dropped a frame because of qos=true. */
  if (flow == GST_BASE_TRANSFORM_FLOW_DROPPED)
    gst_ccl_analyzer_drain (self);
  if (flow != GST_FLOW_OK || !transform->queued_buf)
    return flow;

  input = g_steal_pointer (&transform->queued_buf);
  if (self->failed) {
    gst_buffer_unref (input);
    return GST_FLOW_ERROR;
  }
  gst_ccl_analyzer_copy_settings (self);
  request_headroom (self);
  follow_device (self, find_mask (self, input, &found));
  if (!open_for_settings (self)) {
    gst_clear_buffer (&found.buffer);
    g_clear_pointer (&found.classes, g_bytes_unref);
    gst_buffer_unref (input);
    return GST_FLOW_ERROR;
  }
  return submit (self, input, &found, arrived);
}

static GstFlowReturn
gst_ccl_analyzer_generate_output (GstBaseTransform * transform, GstBuffer ** output)
{
  return finish_or_discard (GST_CCL_ANALYZER (transform), FALSE, output);
}

/* ---------------------------------------------------------------- class */

static void
gst_ccl_analyzer_finalize (GObject * object)
{
  GstCclAnalyzer *const self = GST_CCL_ANALYZER (object);

  gst_ccl_cuda_clear (&self->cuda);
  g_free (self->request);
  g_free (self->parse_error);
  G_OBJECT_CLASS (parent_class)->finalize (object);
}

static void
gst_ccl_analyzer_class_init (GstCclAnalyzerClass * klass)
{
  GstBaseTransformClass *const transform = GST_BASE_TRANSFORM_CLASS (klass);

  G_OBJECT_CLASS (klass)->finalize = gst_ccl_analyzer_finalize;
  transform->before_transform = gst_ccl_sync_properties;
  transform->submit_input_buffer = gst_ccl_analyzer_submit_input_buffer;
  transform->generate_output = gst_ccl_analyzer_generate_output;
  klass->finish_frames = gst_ccl_analyzer_finish_frames;
  gst_ccl_analyzer_init_pads (klass);
  gst_type_mark_as_plugin_api (GST_TYPE_CCL_ANALYZER, 0);
  gst_type_mark_as_plugin_api (GST_TYPE_CCL_BACKEND, 0);
}

static void
gst_ccl_analyzer_init (GstCclAnalyzer * self)
{
  self->lateness.earliest = GST_CLOCK_TIME_NONE;
  self->stats.gpu = -1;
  gst_ccl_cuda_init (&self->cuda, GST_ELEMENT (self));
}
