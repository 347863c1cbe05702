/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Where the objects of a frame are: one place for each track, however many blobs it has. */
#ifndef __GST_CCL_TRACK_PLACES_H__
#define __GST_CCL_TRACK_PLACES_H__

#include <gst/ccl/ccl.h>

G_BEGIN_DECLS

/* The name of the event that ccltrack sends downstream when it forgets its tracks: identities start anew. */
#define GST_CCL_TRACKS_RESET_EVENT "ccl-tracks-reset"

typedef struct
{
  guint64 id;
  gdouble x, y;                 /* pixels of the frame */
  gdouble area;                 /* pixels of the frame; 0: not measured */
  gdouble height;               /* of the box around all blobs of the track */
  guint32 class_number;         /* class of its largest blob + 1; 0: not known */
} GstCclTrackPlace;

/* The evaluation point of a blob: its centre of gravity, or the middle of the lowest row of its box. */
GstCclTrackPlace gst_ccl_track_place_of_blob (const GstCclBlobMeta * meta, guint index, gboolean centroid);

/* The places of the tracks, in the order of their first blobs, for blobs that `is_wanted`. The parts of a track count by their
 * area. NULL without memory; g_free() frees them. */
GstCclTrackPlace *gst_ccl_track_places_new (const GstCclBlobMeta * meta, gboolean (*is_wanted) (const GstCclBlob * blob),
    gboolean centroid, guint * n_places);

G_END_DECLS

#endif
