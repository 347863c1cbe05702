/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Frames that are labelled as volumes.
 *
 * The masks of successive frames are stacked, and the frames wait in a queue. When the stack is complete it is labelled, and
 * each blob gets the id of its component in the volume. Then the frames may leave.
 */
#ifndef __GST_CCL_VOLUME_H__
#define __GST_CCL_VOLUME_H__

#include <gst/gst.h>
#include <gst/ccl/gstcclblobmeta.h>
#include "ccl.h"

G_BEGIN_DECLS

/* A frame in no stack: it was not analysed, or its stack is lost. */
#define GST_CCL_VOLUME_NO_FRAME (-1)

typedef struct
{
  CclContext *labeller;         /* NULL: frames are labelled one by one */
  guint max_frames;
  gint n_stacked;               /* masks in the stack */
  GArray *queued;               /* frames in stream order */
  guint n_taken;                /* queued frames that have left */
  gboolean complete;            /* the queued frames may leave */
  guint64 n_components;         /* in all volumes so far: the next id is one more */
  guint64 n_volumes;
  CclVoxel *voxels;             /* scratch for blobs */
  guint32 *labels;
  guint n_scratch;
} GstCclVolume;

void gst_ccl_volume_init (GstCclVolume * volume);
void gst_ccl_volume_clear (GstCclVolume * volume);

/* Volumes of up to `n_frames` masks, with the backend, size and connectivity of `config`. Queued frames stay, but lose their
 * stack. On error: ccl_error_message(). */
CclStatus gst_ccl_volume_open (GstCclVolume * volume, const CclConfig * config, guint n_frames);
void gst_ccl_volume_close (GstCclVolume * volume);

/* Stacks a mask; `frame` receives its index in the volume. */
CclStatus gst_ccl_volume_add (GstCclVolume * volume, const CclMask * mask, gint * frame);

/* Queues a buffer (transfer full) whose blobs are `list` (NULL: none). */
void gst_ccl_volume_queue (GstCclVolume * volume, GstBuffer * buffer, GstCclBlobList * list, gint frame,
    GstClockTime arrived);
guint gst_ccl_volume_n_queued (const GstCclVolume * volume);

/* Labels the stack and writes the ids into the queued blobs. The frames may leave then, even after an error. */
CclStatus gst_ccl_volume_finish (GstCclVolume * volume);

/* The next frame that may leave and the time when it arrived, or NULL. */
GstBuffer *gst_ccl_volume_take (GstCclVolume * volume, GstClockTime * arrived);

/* Drops the stack and the queued buffers. */
void gst_ccl_volume_discard (GstCclVolume * volume);

G_END_DECLS

#endif
