/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * The number of frames that an element may keep in its delay queue.
 *
 * Upstream takes its buffers from a pool. An element that keeps more buffers than the pool can spare stops the pipeline,
 * because upstream waits for one of them. So the element asks for more buffers in the allocation query, and keeps at most as
 * many frames as upstream has agreed to. All functions belong to the streaming thread.
 */
#ifndef __GST_CCL_POOL_HEADROOM_H__
#define __GST_CCL_POOL_HEADROOM_H__

#include <gst/base/gstbasetransform.h>

G_BEGIN_DECLS

typedef struct
{
  guint n_spare;                /* buffers that upstream's pool can spare; G_MAXUINT: upstream never asked for a pool */
  guint n_asked;                /* buffers requested from upstream last; a second request for this number is useless */
  guint32 stream;               /* seqnum of the last STREAM_START; GST_SEQNUM_INVALID: none */
  gboolean is_started;          /* the element was started, and no stream has begun since */
} GstCclPoolHeadroom;

/* At the start of the element. */
void gst_ccl_pool_headroom_start (GstCclPoolHeadroom * headroom);

/* Call it at the start of a stream. If upstream kept running while the element was stopped, it sends the same event again, and
 * still has its pool. */
void gst_ccl_pool_headroom_start_stream (GstCclPoolHeadroom * headroom, GstEvent * event);

/* In an allocation query: adds `n_frames` to the minimum of every proposed pool. */
void gst_ccl_pool_headroom_propose (GstCclPoolHeadroom * headroom, GstQuery * query, guint n_frames);

gboolean gst_ccl_pool_headroom_allows (const GstCclPoolHeadroom * headroom, guint n_frames);

/* Makes upstream ask for buffers again, once, because it cannot spare `n_frames`. */
void gst_ccl_pool_headroom_request (GstCclPoolHeadroom * headroom, GstBaseTransform * transform, guint n_frames);

G_END_DECLS

#endif
