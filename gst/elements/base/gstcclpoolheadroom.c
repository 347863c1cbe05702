/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "gstcclpoolheadroom.h"

void
gst_ccl_pool_headroom_start (GstCclPoolHeadroom * headroom)
{
  if (headroom->stream == GST_SEQNUM_INVALID)
    headroom->n_spare = G_MAXUINT;
  headroom->n_asked = headroom->n_spare;
  headroom->is_started = TRUE;
}

/* An input-selector can switch to an upstream branch that negotiated its pool earlier. Until that branch sends an
 * ALLOCATION query the old limit holds. */
void
gst_ccl_pool_headroom_start_stream (GstCclPoolHeadroom * headroom, GstEvent * event)
{
  const guint32 stream = gst_event_get_seqnum (event);

  if (headroom->is_started && stream != headroom->stream)
    headroom->n_spare = headroom->n_asked = G_MAXUINT;
  headroom->stream = stream;
  headroom->is_started = FALSE;
}

void
gst_ccl_pool_headroom_propose (GstCclPoolHeadroom * headroom, GstQuery * query, guint n_frames)
{
  headroom->n_spare = G_MAXUINT;
  headroom->n_asked = n_frames;
  for (guint i = 0; i < gst_query_get_n_allocation_pools (query); i++) {
    GstBufferPool *pool;
    guint size, min, max;

    gst_query_parse_nth_allocation_pool (query, i, &pool, &size, &min, &max);
    min += n_frames;
    gst_query_set_nth_allocation_pool (query, i, pool, size, min, max ? MAX (min, max + n_frames) : 0);
    /* Many elements allocate just the minimum, even from a pool without a maximum. */
    headroom->n_spare = n_frames;
    gst_clear_object (&pool);
  }
}

gboolean
gst_ccl_pool_headroom_allows (const GstCclPoolHeadroom * headroom, guint n_frames)
{
  return n_frames <= headroom->n_spare;
}

void
gst_ccl_pool_headroom_request (GstCclPoolHeadroom * headroom, GstBaseTransform * transform, guint n_frames)
{
  if (n_frames == headroom->n_asked)
    return;
  GST_INFO_OBJECT (transform, "upstream can spare %u buffers and is asked for %u", headroom->n_spare, n_frames);
  headroom->n_asked = n_frames;
  gst_base_transform_reconfigure_sink (transform);
}
