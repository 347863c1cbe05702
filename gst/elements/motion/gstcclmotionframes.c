/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* From picture to mask: the methods of the base class, in the order in which a frame meets them. */

#include "gstcclmotionprivate.h"

#include <string.h>

#include <gst/ccl/gstcclmaskmeta.h>

#include "base/gstccldevice.h"
#include "base/gstcclenums.h"
#include "base/gstcclframemap.h"
#include "base/gstccltime.h"

#define GST_CAT_DEFAULT gst_ccl_motion_debug

/* After a longer jump in time the scene may be another one. */
#define LONG_GAP (2 * GST_SECOND)

/* Learning starts again. The delay queue is empty. */
void
gst_ccl_motion_restart_learning (GstCclMotion * self)
{
  gst_ccl_motion_end_period (self, self->now.post_messages, NULL);
  g_mutex_lock (&self->detector_lock);
  if (self->detector)
    ccl_motion_reset (self->detector);
  g_mutex_unlock (&self->detector_lock);
  gst_ccl_motion_forget_tracks (self);
  self->last_time = GST_CLOCK_TIME_NONE;
}

/* ---------------------------------------------------------------- submit */

/* A frame without a timestamp follows the one before after the duration of a frame. */
static void
take_time (GstCclMotion * self, GstCclMotionFrame * frame)
{
  GstBuffer *const buffer = frame->common.buffer;
  const GstClockTime duration = gst_ccl_frames_duration (1, GST_VIDEO_INFO_FPS_N (&self->parent.in_info),
      GST_VIDEO_INFO_FPS_D (&self->parent.in_info));
  const GstClockTime last = self->last_time;
  GstClockTime time = GST_BUFFER_PTS (buffer);

  frame->steps_back = FALSE;
  frame->has_time = GST_CLOCK_TIME_IS_VALID (time);
  if (!GST_CLOCK_TIME_IS_VALID (time))
    time = GST_CLOCK_TIME_IS_VALID (last) ? last + duration : 0;
  else if (GST_CLOCK_TIME_IS_VALID (last) && GST_BUFFER_IS_DISCONT (buffer)
      && (time < last || time - last > LONG_GAP)) {
    GST_INFO_OBJECT (self, "jump from %" GST_TIME_FORMAT " to %" GST_TIME_FORMAT ": learning starts again",
        GST_TIME_ARGS (last), GST_TIME_ARGS (time));
    gst_ccl_motion_restart_learning (self);     /* DISCONT: all frames before it have left */
  } else {
    frame->steps_back = GST_CLOCK_TIME_IS_VALID (last) && time < last;
  }
  self->last_time = frame->time = time;
}

static gboolean
gst_ccl_motion_begin_frame (GstCclAnalyzer * analyzer, GstCclFrame * common, GstCclFoundMask * found)
{
  GstCclMotion *const self = GST_CCL_MOTION (analyzer);
  GstCclMotionFrame *const frame = (GstCclMotionFrame *) common;

  (void) found;
  frame->settings = self->now;
  if (self->loads_background)   /* the first frame: none is in flight */
    gst_ccl_motion_load_background (self);
  self->loads_background = FALSE;
  take_time (self, frame);
  return TRUE;
}

/* The default allocator of GStreamer ends the program without memory. */
static GstBuffer *
new_mask (gsize size)
{
  gpointer const pixels = g_try_malloc (size);

  return pixels ? gst_buffer_new_wrapped (pixels, size) : NULL;
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
    mask = new_mask (stride * self->mask_height);
  if (mask && !gst_buffer_get_video_meta (mask))
    gst_buffer_add_video_meta_full (mask, GST_VIDEO_FRAME_FLAG_NONE, GST_VIDEO_FORMAT_GRAY8, self->mask_width,
        self->mask_height, 1, (gsize *) offset, (gint *) strides);
  return mask;
}

/* The planes of U and V, for the method that looks at them; in the memory of the luma. */
static gboolean
map_chroma (GstCclMotion * self, GstCclMotionFrame * frame, GError ** error)
{
  const GstCclMotionRequest *const request = self->parent.request;
  const gint flags = GST_MAP_READ | GST_VIDEO_FRAME_MAP_FLAG_NO_REF
      | (frame->common.view.mask.memory == CCL_MEMORY_DEVICE ? GST_CCL_MAP_DEVICE : 0);

  frame->video.buffer = NULL;
  if (!request->has_chroma)
    return TRUE;
  if (gst_ccl_frame_map (&frame->video, &self->parent.in_info, frame->common.buffer, (GstMapFlags) flags))
    return TRUE;
  frame->video.buffer = NULL;
  g_set_error (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_READ, "The chroma of a frame cannot be mapped.");
  return FALSE;
}

static void
unmap_chroma (GstCclMotionFrame * frame)
{
  if (frame->video.buffer)
    gst_video_frame_unmap (&frame->video);
  frame->video.buffer = NULL;
}

static gboolean
gst_ccl_motion_map_frame (GstCclAnalyzer * analyzer, GstCclFrame * common, GError ** error)
{
  GstCclMotion *const self = GST_CCL_MOTION (analyzer);
  GstCclMotionFrame *const frame = (GstCclMotionFrame *) common;
  GstBuffer *mask;
  gint flags;

  if (!gst_ccl_analyzer_map_view (analyzer, common, common->buffer, &analyzer->in_info, GST_VIDEO_COMP_Y, error))
    return FALSE;
  if (!map_chroma (self, frame, error)) {
    gst_ccl_mask_view_unmap (&common->view);
    return FALSE;
  }
  gst_clear_buffer (&frame->mask);      /* of a device that was lost */
  mask = acquire_mask (self);
  flags = GST_MAP_WRITE | (mask
      && gst_ccl_is_device_memory (gst_buffer_peek_memory (mask, 0)) ? GST_CCL_MAP_DEVICE : 0);
  if (mask && gst_buffer_map (mask, &frame->mask_map, (GstMapFlags) flags)) {
    frame->mask = mask;
    return TRUE;
  }
  g_set_error (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_NO_SPACE_LEFT, "No memory for a mask of %ux%u.",
      self->mask_width, self->mask_height);
  gst_clear_buffer (&mask);
  unmap_chroma (frame);
  gst_ccl_mask_view_unmap (&common->view);
  return FALSE;
}

static void
gst_ccl_motion_unmap_frame (GstCclAnalyzer * analyzer, GstCclFrame * common)
{
  GstCclMotionFrame *const frame = (GstCclMotionFrame *) common;

  (void) analyzer;
  unmap_chroma (frame);
  gst_buffer_unmap (frame->mask, &frame->mask_map);
}

static CclMotionChroma
chroma_of (const GstCclMotionFrame * frame)
{
  const GstVideoFrame *const video = &frame->video;
  CclMotionChroma chroma = { 0 };

  if (!video->buffer)
    return chroma;
  chroma.u = GST_VIDEO_FRAME_COMP_DATA (video, 1);
  chroma.v = GST_VIDEO_FRAME_COMP_DATA (video, 2);
  chroma.stride[0] = GST_VIDEO_FRAME_COMP_STRIDE (video, 1);
  chroma.stride[1] = GST_VIDEO_FRAME_COMP_STRIDE (video, 2);
  chroma.step = GST_VIDEO_FRAME_COMP_PSTRIDE (video, 1);
  chroma.width = GST_VIDEO_FRAME_COMP_WIDTH (video, 1);
  chroma.height = GST_VIDEO_FRAME_COMP_HEIGHT (video, 1);
  return chroma;
}

/* 0 is never: less than a millisecond is a millisecond. */
static guint32
absorb_ms (GstClockTime time)
{
  return time ? (guint32) CLAMP (time / GST_MSECOND, 1, G_MAXUINT32) : 0;
}

static CclStatus
gst_ccl_motion_submit_frame (GstCclAnalyzer * analyzer, GstCclFrame * common)
{
  GstCclMotion *const self = GST_CCL_MOTION (analyzer);
  GstCclMotionFrame *const frame = (GstCclMotionFrame *) common;
  const CclMotionMask mask = {
    .data = frame->mask_map.data,
    .stride = GST_ROUND_UP_4 (self->mask_width),
    .memory = gst_ccl_is_device_memory (gst_buffer_peek_memory (frame->mask, 0)) ? CCL_MEMORY_DEVICE : CCL_MEMORY_HOST,
  };

  CclMotionParams params = frame->settings.params;
  const CclMotionPicture picture = {
    .luma = common->view.mask,
    .chroma = chroma_of (frame),
    .us = frame->has_time ? (gint64) (frame->time / GST_USECOND) : CCL_MOTION_NO_TIME,
  };

  CclStatus status;

  params.absorb_ms = absorb_ms (frame->settings.absorb_time);
  status = gst_ccl_motion_hold_tracks (self);
  if (status != CCL_OK)
    return status;
  g_mutex_lock (&self->detector_lock);
  status = ccl_motion_submit_picture (self->detector, &picture, &params, &mask);
  self->n_unsaved++;
  g_mutex_unlock (&self->detector_lock);
  return status;
}

/* ---------------------------------------------------------------- collect */

static CclStatus
gst_ccl_motion_collect_frame (GstCclAnalyzer * analyzer, GstCclFrame * common)
{
  GstCclMotion *const self = GST_CCL_MOTION (analyzer);
  CclStatus status;

  g_mutex_lock (&self->detector_lock);
  status = ccl_motion_collect (self->detector, &((GstCclMotionFrame *) common)->info);
  g_mutex_unlock (&self->detector_lock);
  return status;
}

static gdouble
area_ratio (const CclMotionInfo * info)
{
  return info->pixels ? info->foreground / (gdouble) info->pixels : 0;
}

static void
gst_ccl_motion_describe_frame (GstCclAnalyzer * analyzer, GstCclFrame * common)
{
  GstCclMotion *const self = GST_CCL_MOTION (analyzer);
  const GstCclMotionFrame *const frame = (GstCclMotionFrame *) common;
  const CclMotionInfo *const info = &frame->info;
  GstCclMotionStats *const stats = &self->stats;

  GST_OBJECT_LOCK (self);
  stats->learning += (info->flags & CCL_MOTION_LEARNING) != 0;
  stats->with_motion += info->foreground > 0;
  stats->global_changes += (info->flags & CCL_MOTION_GLOBAL_CHANGE) != 0;
  stats->area_ratio = area_ratio (info);
  gst_ccl_min_avg_max_add (&stats->detect, info->us);
  GST_OBJECT_UNLOCK (self);
  gst_ccl_motion_update_period (self, frame);
}

/* ---------------------------------------------------------------- attach */

static void
attach_mask (GstCclMotion * self, const GstCclMotionFrame * frame, GstBuffer * buffer)
{
  const CclMotionInfo *const info = &frame->info;
  const GstVideoInfo *const in_info = &self->parent.in_info;
  GstCclMaskMeta *meta;

  gst_ccl_analyzer_warn_of_other (&self->parent, buffer, GST_CCL_MASK_META_API_TYPE, "a mask");
  meta = gst_buffer_add_ccl_mask_meta (buffer, frame->mask, GST_VIDEO_INFO_WIDTH (in_info),
      GST_VIDEO_INFO_HEIGHT (in_info));
  meta->source = self->parent.source;
  meta->n_foreground = info->foreground;
  meta->area_ratio = area_ratio (info);
  if (info->flags & CCL_MOTION_LEARNING)
    meta->flags |= GST_CCL_MASK_META_FLAG_LEARNING;
  if (info->flags & CCL_MOTION_GLOBAL_CHANGE)
    meta->flags |= GST_CCL_MASK_META_FLAG_GLOBAL_CHANGE;
}

/* With output=mask the mask leaves in the frame's place. */
static GstFlowReturn
gst_ccl_motion_make_output (GstCclAnalyzer * analyzer, GstCclFrame * common, GstBuffer * input, GstBuffer ** output)
{
  GstBaseTransform *const transform = GST_BASE_TRANSFORM (analyzer);
  GstCclMotionFrame *const frame = (GstCclMotionFrame *) common;
  GstFlowReturn flow = GST_FLOW_OK;

  if (gst_ccl_analyzer_get_output (analyzer) == GST_CCL_MOTION_OUTPUT_PASSTHROUGH) {
    flow = gst_ccl_analyzer_prepare_output (analyzer, input, output);
    if (flow == GST_FLOW_OK && *output)
      attach_mask (GST_CCL_MOTION (analyzer), frame, *output);
  } else {
    *output = g_steal_pointer (&frame->mask);
    if (!GST_BASE_TRANSFORM_GET_CLASS (transform)->copy_metadata (transform, input, *output))
      flow = GST_FLOW_ERROR;
  }
  if (*output != input)
    gst_buffer_unref (input);
  return flow;
}

static void
gst_ccl_motion_clear_frame (GstCclAnalyzer * analyzer, GstCclFrame * common)
{
  (void) analyzer;
  gst_clear_buffer (&((GstCclMotionFrame *) common)->mask);
}

void
gst_ccl_motion_init_frames (GstCclAnalyzerClass * klass)
{
  klass->begin_frame = gst_ccl_motion_begin_frame;
  klass->map_frame = gst_ccl_motion_map_frame;
  klass->unmap_frame = gst_ccl_motion_unmap_frame;
  klass->submit_frame = gst_ccl_motion_submit_frame;
  klass->collect_frame = gst_ccl_motion_collect_frame;
  klass->describe_frame = gst_ccl_motion_describe_frame;
  klass->make_output = gst_ccl_motion_make_output;
  klass->clear_frame = gst_ccl_motion_clear_frame;
}
