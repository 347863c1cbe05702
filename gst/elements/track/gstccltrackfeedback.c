/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* The boxes of confirmed tracks, to cclmotion upstream. */

#include "gstccltrackprivate.h"

#include <math.h>
#include <string.h>

#define GST_CAT_DEFAULT gst_ccl_track_debug

/* Between two events, at least; and at most while there are tracks, because boxes expire upstream. */
#define SHORTEST_INTERVAL (250 * GST_MSECOND)
#define LONGEST_INTERVAL GST_SECOND
/* Of frames without timestamps and rate. */
#define USUAL_INTERVAL (40 * GST_MSECOND)

G_STATIC_ASSERT (LONGEST_INTERVAL / GST_MSECOND < CCL_MOTION_HOLD_MS);

void
gst_ccl_track_feedback_reset (GstCclTrackFeedback * feedback)
{
  *feedback = (GstCclTrackFeedback) {
  .since_sent = LONGEST_INTERVAL};
}

void
gst_ccl_track_feedback_pass_time (GstCclTrack * self, gdouble frames)
{
  const GstClockTime interval = gst_ccl_track_interval (self);
  const gdouble passed = frames * (GST_CLOCK_TIME_IS_VALID (interval) ? interval : USUAL_INTERVAL);

  self->feedback.since_sent = (GstClockTime) MIN (self->feedback.since_sent + passed, LONGEST_INTERVAL);
}

/* A track that is confirmed, and in this frame is a blob or shares one. What never moved may be the trace of another object. */
static gboolean
is_object (GstCclTrack * self, const CclTrack * track)
{
  const GstCclSeenTrack *const seen = gst_ccl_seen_tracks_find (self->seen_tracks, track->id);

  if (!seen || !seen->has_moved)
    return FALSE;
  return track->state == CCL_TRACK_CONFIRMED || (track->state == CCL_TRACK_PREDICTED
      && track->flags & CCL_TRACK_MERGED);
}

static gint
to_pixel (gdouble at)
{
  return (gint) CLAMP (at, -1.0 * CCL_MAX_SIZE, 2.0 * CCL_MAX_SIZE);
}

/* The oldest come first. */
static void
take_boxes (GstCclTrack * self, GstCclTrackBoxes * boxes)
{
  const CclTrack *tracks;
  const guint n = ccl_tracker_tracks (self->tracker, &tracks);

  memset (boxes, 0, sizeof *boxes);
  boxes->width = self->width;
  boxes->height = self->height;
  for (guint i = 0; i < n && boxes->n < CCL_MOTION_MAX_BOXES; i++) {
    const gint x = to_pixel (floor (tracks[i].x0)), y = to_pixel (floor (tracks[i].y0));

    if (is_object (self, &tracks[i]))
      boxes->boxes[boxes->n++] = (GstCclTrackBox) {
      x, y, MAX (to_pixel (ceil (tracks[i].x1)) - x, 1), MAX (to_pixel (ceil (tracks[i].y1)) - y, 1)};
  }
}

static void
send_boxes (GstCclTrack * self)
{
  GstPad *const pad = GST_BASE_TRANSFORM_SINK_PAD (self);
  const gboolean is_taken = gst_pad_push_event (pad, gst_ccl_tracks_event_new (&self->feedback.sent));
  const gboolean is_answered = self->feedback.is_answered;

  self->feedback.since_sent = 0;
  if (!is_taken && GST_PAD_IS_FLUSHING (pad))
    return;
  self->feedback.is_answered = TRUE;
  if (is_taken || is_answered)
    return;
  GST_ELEMENT_WARNING (self, STREAM, FAILED, ("feedback=true, but no element upstream takes the tracks."),
      ("Put cclmotion upstream. Said once."));
}

void
gst_ccl_track_send_feedback (GstCclTrack * self)
{
  GstCclTrackFeedback *const feedback = &self->feedback;
  GstCclTrackBoxes boxes;

  if (!self->active.feedback && !feedback->sent.n)
    return;
  if (feedback->since_sent < SHORTEST_INTERVAL)
    return;
  take_boxes (self, &boxes);
  if (!self->active.feedback)
    boxes.n = 0;                /* it was switched off */
  if (!boxes.n && !feedback->sent.n)
    return;
  if (feedback->since_sent < LONGEST_INTERVAL && !memcmp (&boxes, &feedback->sent, sizeof boxes))
    return;
  feedback->sent = boxes;
  send_boxes (self);
}
