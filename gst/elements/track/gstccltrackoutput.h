/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Identities and tracks, written into the metadata of a frame. */
#ifndef __GST_CCL_TRACK_OUTPUT_H__
#define __GST_CCL_TRACK_OUTPUT_H__

#include "track/gstccltrackinput.h"
#include "track/gstcclseentracks.h"

G_BEGIN_DECLS

/* The tracker's results for a frame. */
typedef struct
{
  const CclTrack *tracks;       /* in the order of their ids */
  guint n_tracks;
  const guint64 *ids;           /* the track of each detection; 0: none */
  guint n_ids;                  /* 0: the frame was not analysed */
  const GstCclSeenTracks *seen_tracks;
  guint emit;                   /* GstCclTrackEmit */
  guint min_hits;               /* a lost track that was seen less often was never confirmed */
  GstCclVector *blobs;          /* of GstCclBlob: space to work in */
  GstCclVector *points;         /* of GstCclPoint: space to work in */
} GstCclTrackResults;

/* FALSE without memory: the metadata of the frame stays as it was. */
gboolean gst_ccl_track_results_write (const GstCclTrackResults * results, GstBuffer * buffer, GstCclTrackInput input);

G_END_DECLS

#endif
