/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Inside ccltrack: what its files share. */
#ifndef __GST_CCL_TRACK_PRIVATE_H__
#define __GST_CCL_TRACK_PRIVATE_H__

#include "base/gstcclminavgmax.h"
#include "base/gstccltracksevent.h"
#include "track/gstccltrack.h"
#include "track/gstccltrackoutput.h"

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
  guint64 max_age_time;         /* of tracks of boxes, nanoseconds */
  gboolean feedback;
} GstCclTrackSettings;

typedef struct
{
  guint64 frames, skipped, detections, started, ended, backwards, resets;
  guint tracks;
  GstCclMinAvgMax host;
} GstCclTrackStats;

/* What was sent upstream. */
typedef struct
{
  GstCclTrackBoxes sent;
  GstClockTime since_sent;      /* at most the longest interval */
  gboolean is_answered;         /* an element took the boxes, or a warning said that none does */
} GstCclTrackFeedback;

struct _GstCclTrack
{
  GstBaseTransform parent;

  GstCclTrackSettings settings; /* under the object lock */
  GstCclTrackStats stats;       /* under the object lock */

  /* Streaming thread. */
  GstCclTrackSettings active;
  CclTracker *tracker;
  gboolean boxes;               /* the last input was not blobs */
  guint width, height;
  GstClockTime frame_duration;  /* of the caps; GST_CLOCK_TIME_NONE: the rate varies */
  GstClockTime mean_duration;   /* measured; GST_CLOCK_TIME_NONE: not yet */
  GstClockTime last_pts;
  guint n_untimed;              /* frames without a timestamp since then; each counted as an interval */
  GstCclVector detections;      /* of CclDetection: this frame's */
  GstCclVector ids;             /* of guint64: their tracks */
  GstCclSeenTracks *seen_tracks;
  GstCclVector blobs;           /* of GstCclBlob: space for this frame's */
  GstCclVector points;          /* of GstCclPoint: space for this frame's contours and trails */
  gboolean reset_is_new;        /* downstream has no event yet about the last reset */
  guint n_without_input;        /* see gstcclhint.h */
  GstCclTrackFeedback feedback;
};

/* gstccltrackfeedback.c */
void gst_ccl_track_feedback_reset (GstCclTrackFeedback * feedback);
/* Before: how many frame intervals have passed. */
void gst_ccl_track_feedback_pass_time (GstCclTrack * self, gdouble frames);
/* After each frame that was analysed: sends the boxes upstream when it is time. */
void gst_ccl_track_send_feedback (GstCclTrack * self);

/* gstccltracktime.c */
/* How many frame intervals have passed since the last frame. */
gdouble gst_ccl_track_frames_since_last (GstCclTrack * self, GstBuffer * buffer);
/* Of the caps, or measured; GST_CLOCK_TIME_NONE: not known yet. */
GstClockTime gst_ccl_track_interval (GstCclTrack * self);
/* Sets the length of an interval, and the number of intervals after which an unseen track of boxes ends. */
void gst_ccl_track_take_time_of_boxes (GstCclTrack * self);

G_END_DECLS

#endif
