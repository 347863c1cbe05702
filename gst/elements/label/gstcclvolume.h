/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Frames labelled as volumes: their masks are stacked, and they are held back until the stack is complete and every
 * blob knows which component over several frames it is part of.
 */
#ifndef __GST_CCL_VOLUME_H__
#define __GST_CCL_VOLUME_H__

#include <gst/gst.h>
#include <gst/ccl/gstcclblobmeta.h>
#include "ccl.h"

G_BEGIN_DECLS

/* For a frame that is in no stack: it was not analysed, or its stack is lost. */
#define GST_CCL_VOLUME_NO_FRAME (-1)

typedef struct
{
  CclContext *labeller;         /* NULL: frames are labelled one by one */
  guint max_frames;
  gint n_stacked;               /* masks in the stack */
  GArray *queued;                /* in stream order */
  guint n_taken;                /* of those */
  gboolean complete;            /* what is held may leave */
  guint64 n_components;         /* of all volumes before: ids go on from there */
  guint64 n_volumes;
  CclVoxel *voxels;             /* scratch for blobs */
  guint32 *labels;
  guint n_scratch;
} GstCclVolume;

void gst_ccl_volume_init (GstCclVolume * volume);
void gst_ccl_volume_clear (GstCclVolume * volume);

/* Volumes of up to `n_frames` masks, with what `config` says of backend, size and connectivity. Frames held stay, but
 * have lost their stack. On error: ccl_error_message(). */
CclStatus gst_ccl_volume_open (GstCclVolume * volume, const CclConfig * config, guint n_frames);
void gst_ccl_volume_close (GstCclVolume * volume);

/* Stacks a mask; its place in the volume goes to `frame`. */
CclStatus gst_ccl_volume_add (GstCclVolume * volume, const CclMask * mask, gint * frame);

/* Holds a buffer (transfer full) whose blobs are `list` (NULL: none). */
void gst_ccl_volume_queue (GstCclVolume * volume, GstBuffer * buffer, GstCclBlobList * list, gint frame,
    GstClockTime arrived);
guint gst_ccl_volume_n_queued (const GstCclVolume * volume);

/* Labels the stack and writes the ids into the blobs held. They may leave then, whatever this returns. */
CclStatus gst_ccl_volume_finish (GstCclVolume * volume);

/* The next that may leave and when it came; NULL: none. */
GstBuffer *gst_ccl_volume_take (GstCclVolume * volume, GstClockTime * arrived);

/* Drops stack and buffers. */
void gst_ccl_volume_discard (GstCclVolume * volume);

G_END_DECLS

#endif
