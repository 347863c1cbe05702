/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "gstccldelayqueue.h"

GstClockTime
gst_ccl_held_latency (const GstVideoInfo * info, guint n_frames)
{
  const guint64 held = n_frames * GST_SECOND;

  if (GST_VIDEO_INFO_FPS_N (info) > 0)
    return gst_util_uint64_scale_int (held, GST_VIDEO_INFO_FPS_D (info), GST_VIDEO_INFO_FPS_N (info));
  return held / 25;
}

void
gst_ccl_held_add_latency (GstQuery * query, GstClockTime latency)
{
  GstClockTime min, max;
  gboolean live;

  gst_query_parse_latency (query, &live, &min, &max);
  min += latency;
  if (GST_CLOCK_TIME_IS_VALID (max))
    max += latency;
  gst_query_set_latency (query, live, min, max);
}

void
gst_ccl_held_start (GstCclHeld * held)
{
  if (held->stream == GST_SEQNUM_INVALID)
    held->granted = G_MAXUINT;
  held->asked = held->granted;
  held->started = TRUE;
}

/* One that comes while playing, as of an input-selector, may have a pool of before: what was granted holds until it asks. */
void
gst_ccl_held_start_stream (GstCclHeld * held, GstEvent * event)
{
  const guint32 stream = gst_event_get_seqnum (event);

  if (held->started && stream != held->stream)
    held->granted = held->asked = G_MAXUINT;
  held->stream = stream;
  held->started = FALSE;
}

void
gst_ccl_held_ask_for_buffers (GstCclHeld * held, GstQuery * query, guint n_frames)
{
  held->granted = G_MAXUINT;
  held->asked = n_frames;
  for (guint i = 0; i < gst_query_get_n_allocation_pools (query); i++) {
    GstBufferPool *pool;
    guint size, min, max;

    gst_query_parse_nth_allocation_pool (query, i, &pool, &size, &min, &max);
    min += n_frames;
    gst_query_set_nth_allocation_pool (query, i, pool, size, min, max ? MAX (min, max + n_frames) : 0);
    held->granted = n_frames;   /* of one without a largest size, too, many take as many as it asks for and no more */
    gst_clear_object (&pool);
  }
}

gboolean
gst_ccl_held_has_room (const GstCclHeld * held, guint n_frames)
{
  return n_frames <= held->granted;
}

void
gst_ccl_held_want_room (GstCclHeld * held, GstBaseTransform * transform, guint n_frames)
{
  if (n_frames == held->asked)
    return;
  GST_INFO_OBJECT (transform, "upstream has buffers for %u frames held back, and is told to ask for %u", held->granted,
      n_frames);
  held->asked = n_frames;
  gst_base_transform_reconfigure_sink (transform);
}

GstFlowReturn
gst_ccl_held_drain (GstBaseTransform * transform, GstCclHeldNext next)
{
  GstFlowReturn flow = GST_FLOW_OK;
  GstBuffer *output;

  do {
    flow = next (transform, TRUE, &output);
    if (flow == GST_FLOW_OK && output)
      flow = gst_pad_push (GST_BASE_TRANSFORM_SRC_PAD (transform), output);
    else
      gst_clear_buffer (&output);
  } while (flow == GST_FLOW_OK && output);
  return flow;
}
