/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Inside ccltrack: what its files share. */
#ifndef __GST_CCL_TRACK_PRIVATE_H__
#define __GST_CCL_TRACK_PRIVATE_H__

#include <gst/video/video.h>
#include <gst/ccl/ccl.h>
#ifdef HAVE_GST_ANALYTICS
# include <gst/analytics/analytics.h>
#endif

#include "analysis/track.h"
#include "base/gstcclenums.h"
#include "base/gstcclmetas.h"
#include "base/gstcclminavgmax.h"
#include "track/gstccltrack.h"

G_BEGIN_DECLS

GST_DEBUG_CATEGORY_EXTERN (gst_ccl_track_debug);

/* The properties. Written under the object lock; the streaming thread copies them once per frame. */
typedef struct
{
  CclTrackerConfig config;
  gint input;
  guint emit;
  guint id_reset;
  guint history;
} GstCclTrackSettings;

/* What is kept of a living track beside the tracker. */
typedef struct
{
  GstClockTime first_seen;
  guint capacity, n, next;      /* of places: a ring */
  GstCclPoint places[];         /* of its centroid, in the plane of pixel squares of the frame */
} GstCclTrackLife;

typedef struct
{
  guint64 frames, skipped, detections, started, ended, backwards, resets;
  guint tracks;
  GstCclMinAvgMax host;
} GstCclTrackStats;

struct _GstCclTrack
{
  GstBaseTransform parent;

  GstCclTrackSettings settings;            /* under the object lock */
  GstCclTrackStats stats;                  /* under the object lock */

  /* Streaming thread. */
  GstCclTrackSettings active;
  CclTracker *tracker;
  guint width, height;
  GstClockTime frame_duration;  /* of the caps; GST_CLOCK_TIME_NONE: the rate varies */
  GstClockTime mean_duration;   /* measured; GST_CLOCK_TIME_NONE: not yet */
  GstClockTime last_pts;
  guint n_untimed;              /* frames without a timestamp since then; each counted as an interval */
  GArray *detections;           /* of CclDetection: this frame's */
  GArray *ids;                  /* of guint64: their tracks */
  GHashTable *lives;            /* guint64 id -> GstCclTrackLife; living tracks only */
  GArray *points;               /* of GstCclPoint: this frame's contours and trails */
  gboolean reset_is_new;        /* downstream has not heard that the tracks were reset */
  guint n_without_input;        /* see gstcclhint.h */
};

/* gstccltrackinput.c: blobs, regions and object detections of a frame, as detections */
GstCclTrackInput gst_ccl_track_choose_input (GstCclTrack * self, GstBuffer * buffer);
/* Was the blob added by a ccltrack upstream, for a track without a blob of its own? */
gboolean gst_ccl_track_is_added (const GstCclBlob * blob);
void gst_ccl_track_detect (GstCclTrack * self, GstBuffer * buffer, GstCclTrackInput input);

/* gstccltrackoutput.c: identities and tracks, into the metadata of a frame */
void gst_ccl_track_write_results (GstCclTrack * self, GstBuffer * buffer, GstCclTrackInput input);

#ifdef HAVE_GST_ANALYTICS
gboolean gst_ccl_track_next_object (GstAnalyticsRelationMeta * relations, gpointer * state, GstAnalyticsODMtd * object);
#endif

G_END_DECLS

#endif
