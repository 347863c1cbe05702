/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "gstcclheld.h"

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

/* Through the pads of bins to the pad that feeds them. */
static GstPad *
find_upstream (GstBaseTransform * transform)
{
  GstPad *peer = gst_pad_get_peer (GST_BASE_TRANSFORM_SINK_PAD (transform));

  while (peer && GST_IS_PROXY_PAD (peer) && !GST_IS_GHOST_PAD (peer)) {
    GstProxyPad *ghost = gst_proxy_pad_get_internal (GST_PROXY_PAD (peer));

    gst_object_unref (peer);
    peer = ghost ? gst_pad_get_peer (GST_PAD (ghost)) : NULL;
    gst_clear_object (&ghost);
  }
  return peer;
}

void
gst_ccl_held_start (GstCclHeld * held, GstBaseTransform * transform)
{
  GstPad *peer = find_upstream (transform);

  if (!peer || peer != held->upstream || !gst_pad_is_active (peer))
    *held = (GstCclHeld) {.granted = G_MAXUINT,.upstream = peer };
  held->asked = held->granted;
  gst_clear_object (&peer);
}

void
gst_ccl_held_ask_for_buffers (GstCclHeld * held, GstBaseTransform * transform, GstQuery * query, guint n_frames)
{
  GstPad *peer = find_upstream (transform);

  held->upstream = peer;
  gst_clear_object (&peer);
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
