/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/**
 * SECTION:element-ccltrack
 * @title: ccltrack
 * @short_description: follows blobs over time and gives each an identity
 *
 * Follows the blobs that ccllabel attaches (or the regions of interest or object detections of any other element) from
 * frame to frame. Pictures are not touched: any format in any memory passes.
 *
 * A Kalman filter predicts the centroid of each track. A blob may belong to a track if it is near the prediction, measured by
 * the Mahalanobis distance: from the uncertainty of the prediction and the blob's covariance. All tracks and blobs are matched at
 * once at the least cost. Blobs that merge keep their identities inside the common blob, and take them along when it splits;
 * parts of a broken mask count as one.
 *
 * What is written, of every blob in a track:
 *
 * - in its #GstCclBlob: track-id, age, parent-id (the track it came out of) and the flags TENTATIVE, CONFIRMED,
 *   PREDICTED, LOST, MERGED and SPLIT; #ccltrack:emit says for which states
 * - its trail: the last #ccltrack:history places of its centroid, filtered; gst_ccl_blob_meta_get_trail()
 * - in its region of interest: the structure "object_id" with the int "id", as DL Streamer's elements write and read it
 * - related to its object detection: a GstAnalyticsTrackingMtd (GStreamer 1.24)
 *
 * Regions and object detections get their id once the track is confirmed, unless #ccltrack:emit has tentative-boxes. They are
 * boxes of a detector: docs/tracking.md says how they are followed.
 *
 * With #ccltrack:feedback the element tells cclmotion upstream where confirmed tracks are that have moved. Its custom event
 * `ccl-tracks` has the fields `width`, `height` (guint) and `boxes` (an array of arrays of x, y, width and height).
 *
 * Tracks that have no blob of their own are added to the list as blobs with label 0 and area 0. Their box is where the track
 * should be, in whole pixels of the mask. Ids count from 1 through the whole process: no two tracks have the same.
 *
 * ## Tracks of moving things, as JSON
 * |[
 * gst-launch-1.0 -q filesrc location=video.avi ! decodebin ! videoconvert ! cclmotion ! ccllabel mask-source=mask-meta
 *     min-area=200 ! ccltrack ! cclmeta2json ! fdsink
 * ]|
 * ## Where tracks are while nobody sees them
 * |[
 * gst-launch-1.0 -q videotestsrc pattern=ball num-buffers=60 ! video/x-raw,format=GRAY8 ! ccllabel threshold=127 !
 *     ccltrack emit=tentative+merged+predicted max-age=60 ! cclmeta2json ! fdsink
 * ]|
 */

#include "gstccltrackprivate.h"

#include <string.h>

#include "base/gstccldocument.h"
#include "base/gstcclhint.h"
#include "base/gstcclpropertyrow.h"
#include "zone/gstccltrackplaces.h"

GST_DEBUG_CATEGORY (gst_ccl_track_debug);
#define GST_CAT_DEFAULT gst_ccl_track_debug

static GstStaticPadTemplate sink_template = GST_STATIC_PAD_TEMPLATE ("sink", GST_PAD_SINK, GST_PAD_ALWAYS,
    GST_STATIC_CAPS ("video/x-raw(ANY)"));
static GstStaticPadTemplate src_template = GST_STATIC_PAD_TEMPLATE ("src", GST_PAD_SRC, GST_PAD_ALWAYS,
    GST_STATIC_CAPS ("video/x-raw(ANY)"));

#define DEFAULT_HISTORY 64
#define DEFAULT_MAX_AGE_TIME (2 * GST_SECOND)
#define MAX_HISTORY 1024

enum
{
  PROP_0,
  PROP_METHOD,
  PROP_INPUT,
  PROP_MAX_AGE,
  PROP_MIN_HITS,
  PROP_IOU_THRESHOLD,
  PROP_MAX_DISTANCE,
  PROP_MAX_TRACKS,
  PROP_PER_TYPE,
  PROP_HIGH_CONFIDENCE,
  PROP_EMIT,
  PROP_ID_RESET,
  PROP_HISTORY,
  PROP_MAX_AGE_TIME,
  PROP_FEEDBACK,
  PROP_STATS,
  N_PROPERTIES,
};

static GParamSpec *properties[N_PROPERTIES];

#define gst_ccl_track_parent_class parent_class
G_DEFINE_TYPE_WITH_CODE (GstCclTrack, gst_ccl_track, GST_TYPE_BASE_TRANSFORM,
    GST_DEBUG_CATEGORY_INIT (gst_ccl_track_debug, "ccltrack", 0, "tracks of blobs"));
GST_ELEMENT_REGISTER_DEFINE (ccltrack, "ccltrack", GST_RANK_NONE, GST_TYPE_CCL_TRACK);

/* One count for all trackers of the process. */
static guint64
new_id (void)
{
  static GMutex mutex;
  static guint64 last = 0;
  guint64 id;

  g_mutex_lock (&mutex);
  id = ++last;
  g_mutex_unlock (&mutex);
  return id;
}

/* ---------------------------------------------------------------- the tracker */

static void
reset_tracks (GstCclTrack * self, const gchar * why)
{
  if (self->tracker) {
    GST_DEBUG_OBJECT (self, "all tracks end: %s", why);
    ccl_tracker_reset (self->tracker);
  }
  gst_ccl_seen_tracks_clear (self->seen_tracks);
  self->last_pts = self->mean_duration = GST_CLOCK_TIME_NONE;
  self->reset_is_new = TRUE;
  GST_OBJECT_LOCK (self);
  self->stats.resets += self->stats.tracks > 0;
  self->stats.tracks = 0;
  GST_OBJECT_UNLOCK (self);
}

static void
reset_if (GstCclTrack * self, guint reason, const gchar * why)
{
  guint id_reset;

  GST_OBJECT_LOCK (self);
  id_reset = self->settings.id_reset;
  GST_OBJECT_UNLOCK (self);
  if (id_reset & reason)
    reset_tracks (self, why);
}

/* Takes the properties as they are now; a tracker of another size is a new one. */
static gboolean
take_settings (GstCclTrack * self, gboolean boxes)
{
  const guint max_tracks = self->active.config.max_tracks;
  CclStatus status;

  GST_OBJECT_LOCK (self);
  self->active = self->settings;
  GST_OBJECT_UNLOCK (self);

  self->active.config.boxes = boxes;
  if (boxes)
    gst_ccl_track_take_time_of_boxes (self);
  if (self->boxes != boxes)
    reset_tracks (self, boxes ? "boxes come after blobs" : "blobs come after boxes");
  self->boxes = boxes;
  if (self->tracker && self->active.config.max_tracks != max_tracks) {
    reset_tracks (self, "max-tracks was changed");
    g_clear_pointer (&self->tracker, ccl_tracker_free);
  }
  status = self->tracker ? ccl_tracker_configure (self->tracker, &self->active.config)
      : ccl_tracker_new (&self->active.config, &self->tracker);
  if (status != CCL_OK)
    GST_ELEMENT_ERROR (self, LIBRARY, SETTINGS, ("The tracker cannot work with these settings."), ("%s",
            ccl_error_message ()));
  return status == CCL_OK;
}

/* ---------------------------------------------------------------- one frame */

/* Counts the tracks that began and ended, and extends the trails. */
static void
count_tracks (GstCclTrack * self, gboolean analysed, GstClockTime pts)
{
  const CclTrack *tracks;
  const guint n = ccl_tracker_tracks (self->tracker, &tracks);
  guint started = 0, ended = 0;

  for (guint i = 0; i < n; i++) {
    GstCclSeenTrack *seen;

    if (tracks[i].state == CCL_TRACK_LOST) {
      ended++;
      continue;
    }
    started += !gst_ccl_seen_tracks_find (self->seen_tracks, tracks[i].id);
    seen = gst_ccl_seen_tracks_add (self->seen_tracks, &tracks[i], pts, self->active.history);
    if (analysed)
      gst_ccl_trail_ring_add (seen->trail, (GstCclPoint) { tracks[i].x, tracks[i].y});
  }

  GST_OBJECT_LOCK (self);
  self->stats.frames++;
  self->stats.skipped += !analysed;
  self->stats.detections += self->detections.len;
  self->stats.started += started;
  self->stats.ended += ended;
  self->stats.tracks = n - ended;
  GST_OBJECT_UNLOCK (self);
}

/* The tracks that ended are forgotten once they are written. FALSE without memory. */
static gboolean
write_results (GstCclTrack * self, GstBuffer * buffer, GstCclTrackInput input)
{
  const CclTrack *tracks;
  const guint n_tracks = ccl_tracker_tracks (self->tracker, &tracks);
  const GstCclTrackResults results = {
    .tracks = tracks,.n_tracks = n_tracks,
    .ids = self->ids.data,.n_ids = self->ids.len,.seen_tracks = self->seen_tracks,.emit = self->active.emit,
    .min_hits = self->active.config.min_hits,.blobs = &self->blobs,.points = &self->points,
  };

  if (!gst_ccl_track_results_write (&results, buffer, input))
    return FALSE;
  gst_ccl_seen_tracks_remove_lost (self->seen_tracks, tracks, n_tracks);
  return TRUE;
}

#define NO_MEMORY "no memory for the objects of a frame"

static gboolean
is_analysed (GstBuffer * buffer, GstCclTrackInput input)
{
  return input != GST_CCL_TRACK_INPUT_CCL || gst_ccl_blobs_are_analysed (gst_buffer_get_ccl_blob_meta (buffer));
}

/* NULL, or what failed. */
static const gchar *
track_frame (GstCclTrack * self, GstBuffer * buffer, GstCclTrackInput input)
{
  const gboolean analysed = is_analysed (buffer, input);
  const gdouble frames = gst_ccl_track_frames_since_last (self, buffer);

  gst_ccl_track_feedback_pass_time (self, frames);
  if (analysed) {
    if (!gst_ccl_track_input_read (input, buffer, &self->detections)
        || !gst_ccl_vector_set_size (&self->ids, self->detections.len))
      return NO_MEMORY;
    if (ccl_tracker_update (self->tracker, self->detections.data, self->detections.len, frames,
            self->ids.data) != CCL_OK)
      return ccl_error_message ();
  } else {
    self->detections.len = self->ids.len = 0;
    ccl_tracker_skip (self->tracker, frames);
  }
  count_tracks (self, analysed, GST_BUFFER_PTS (buffer));
  return NULL;
}

static GstFlowReturn
fail (GstCclTrack * self, const gchar * error)
{
  GST_ELEMENT_ERROR (self, RESOURCE, NO_SPACE_LEFT, ("The frame cannot be tracked: %s.", error), (NULL));
  return GST_FLOW_ERROR;
}

/* Elements downstream that count by identities have to start anew, too. */
static void
announce_reset (GstCclTrack * self)
{
  if (self->reset_is_new)
    gst_pad_push_event (GST_BASE_TRANSFORM_SRC_PAD (self), gst_event_new_custom (GST_EVENT_CUSTOM_DOWNSTREAM,
            gst_structure_new_empty (GST_CCL_TRACKS_RESET_EVENT)));
  self->reset_is_new = FALSE;
}

static GstFlowReturn
gst_ccl_track_transform_ip (GstBaseTransform * transform, GstBuffer * buffer)
{
  GstCclTrack *const self = GST_CCL_TRACK (transform);
  const gint64 begin = g_get_monotonic_time ();
  GstCclTrackInput input;
  const gchar *error;
  gboolean boxes;

  GST_OBJECT_LOCK (self);
  input = self->settings.input;
  GST_OBJECT_UNLOCK (self);
  input = gst_ccl_track_input_choose (input, buffer);
  /* A frame without metadata does not say of which kind the others are. */
  boxes = gst_ccl_track_input_is_there (input, buffer) ? input != GST_CCL_TRACK_INPUT_CCL : self->boxes;
  if (!take_settings (self, boxes))
    return GST_FLOW_ERROR;
  if (GST_BUFFER_IS_DISCONT (buffer) && GST_CLOCK_TIME_IS_VALID (self->last_pts))
    reset_if (self, GST_CCL_ID_RESET_DISCONT, "discontinuity");

  announce_reset (self);
  if ((error = track_frame (self, buffer, input)))
    return fail (self, error);
  if (gst_ccl_hint_is_due (&self->n_without_input, self->detections.len > 0
          || (input == GST_CCL_TRACK_INPUT_CCL && gst_buffer_get_ccl_blob_meta (buffer))))
    GST_ELEMENT_WARNING (self, STREAM, FAILED, ("Nothing to follow: the frames carry no %s.",
            input == GST_CCL_TRACK_INPUT_CCL ? "blobs of ccllabel" : input == GST_CCL_TRACK_INPUT_ROI
            ? "regions of interest" : "blobs, regions or object detections"),
        ("Put ccllabel (or a detector) upstream, and between the two no element that drops metadata (see "
            "docs/metadata.md). Said once."));
  if (!write_results (self, buffer, input))
    return fail (self, NO_MEMORY);
  if (is_analysed (buffer, input))
    gst_ccl_track_send_feedback (self);

  GST_OBJECT_LOCK (self);
  gst_ccl_min_avg_max_add (&self->stats.host, g_get_monotonic_time () - begin);
  GST_OBJECT_UNLOCK (self);
  return GST_FLOW_OK;
}

/* ---------------------------------------------------------------- caps, events, states */

/* Any caps with a size; the format need not be one that this GStreamer knows. */
static gboolean
gst_ccl_track_set_caps (GstBaseTransform * transform, GstCaps * in_caps, GstCaps * out_caps)
{
  GstCclTrack *const self = GST_CCL_TRACK (transform);
  const GstStructure *const structure = gst_caps_get_structure (in_caps, 0);
  gint width = 0, height = 0, fps_n = 0, fps_d = 1;

  gst_structure_get_int (structure, "width", &width);
  gst_structure_get_int (structure, "height", &height);
  gst_structure_get_fraction (structure, "framerate", &fps_n, &fps_d);
  self->frame_duration =
      fps_n > 0 && fps_d > 0 ? gst_util_uint64_scale_int (GST_SECOND, fps_d, fps_n) : GST_CLOCK_TIME_NONE;

  if (self->width != 0 && (self->width != (guint) width || self->height != (guint) height))
    reset_tracks (self, "frames of another size");
  else if (self->width != 0)
    reset_if (self, GST_CCL_ID_RESET_CAPS, "new caps");
  self->width = width;
  self->height = height;
  return TRUE;
}

static gboolean
gst_ccl_track_sink_event (GstBaseTransform * transform, GstEvent * event)
{
  GstCclTrack *const self = GST_CCL_TRACK (transform);

  switch (GST_EVENT_TYPE (event)) {
    case GST_EVENT_STREAM_START:
      reset_if (self, GST_CCL_ID_RESET_STREAM_START, "a new stream");
      break;
    case GST_EVENT_FLUSH_STOP:
      reset_if (self, GST_CCL_ID_RESET_FLUSH, "flush");
      self->last_pts = GST_CLOCK_TIME_NONE;
      break;
    case GST_EVENT_EOS:
      reset_if (self, GST_CCL_ID_RESET_EOS, "end of the stream");
      break;
    case GST_EVENT_SEGMENT:
      /* Another segment has other timestamps. */
      self->last_pts = GST_CLOCK_TIME_NONE;
      break;
    default:
      break;
  }
  return GST_BASE_TRANSFORM_CLASS (parent_class)->sink_event (transform, event);
}

static gboolean
gst_ccl_track_start (GstBaseTransform * transform)
{
  GstCclTrack *const self = GST_CCL_TRACK (transform);

  self->width = self->height = 0;
  self->frame_duration = GST_CLOCK_TIME_NONE;
  self->n_without_input = 0;
  gst_ccl_track_feedback_reset (&self->feedback);
  reset_tracks (self, "start");
  self->reset_is_new = FALSE;
  GST_OBJECT_LOCK (self);
  memset (&self->stats, 0, sizeof self->stats);
  GST_OBJECT_UNLOCK (self);
  self->boxes = FALSE;
  if (!take_settings (self, FALSE))
    return FALSE;
#ifndef HAVE_GST_ANALYTICS
  if (self->active.input == GST_CCL_TRACK_INPUT_ANALYTICS)
    GST_ELEMENT_WARNING (self, LIBRARY, SETTINGS,
        ("input=analytics, which this build cannot read: nothing is tracked."),
        ("It takes GStreamer 1.24 or newer, with its library for analytics."));
#endif
  return TRUE;
}

static gboolean
gst_ccl_track_stop (GstBaseTransform * transform)
{
  GstCclTrack *const self = GST_CCL_TRACK (transform);

  g_clear_pointer (&self->tracker, ccl_tracker_free);
  gst_ccl_seen_tracks_clear (self->seen_tracks);
  return TRUE;
}

/* ---------------------------------------------------------------- properties */

/* Properties that are plain members. */
static const GstCclPropertyRow rows[N_PROPERTIES] = {
  [PROP_METHOD] = GST_CCL_PROPERTY_ROW (GstCclTrack, settings.config.method),
  [PROP_INPUT] = GST_CCL_PROPERTY_ROW (GstCclTrack, settings.input),
  [PROP_MAX_AGE] = GST_CCL_PROPERTY_ROW (GstCclTrack, settings.config.max_age),
  [PROP_MIN_HITS] = GST_CCL_PROPERTY_ROW (GstCclTrack, settings.config.min_hits),
  [PROP_IOU_THRESHOLD] = GST_CCL_PROPERTY_ROW (GstCclTrack, settings.config.iou_threshold),
  [PROP_MAX_DISTANCE] = GST_CCL_PROPERTY_ROW (GstCclTrack, settings.config.max_distance),
  [PROP_MAX_TRACKS] = GST_CCL_PROPERTY_ROW (GstCclTrack, settings.config.max_tracks),
  [PROP_HIGH_CONFIDENCE] = GST_CCL_PROPERTY_ROW (GstCclTrack, settings.config.high_confidence),
  [PROP_EMIT] = GST_CCL_PROPERTY_ROW (GstCclTrack, settings.emit),
  [PROP_ID_RESET] = GST_CCL_PROPERTY_ROW (GstCclTrack, settings.id_reset),
  [PROP_MAX_AGE_TIME] = GST_CCL_PROPERTY_ROW (GstCclTrack, settings.max_age_time),
  [PROP_FEEDBACK] = GST_CCL_PROPERTY_ROW (GstCclTrack, settings.feedback),
  [PROP_HISTORY] = GST_CCL_PROPERTY_ROW (GstCclTrack, settings.history),
};

static void
gst_ccl_track_set_property (GObject * object, guint id, const GValue * value, GParamSpec * pspec)
{
  GstCclTrack *const self = GST_CCL_TRACK (object);
  CclTrackerConfig *const config = &self->settings.config;

  GST_OBJECT_LOCK (self);
  switch (id) {
    case PROP_PER_TYPE:
      config->single_class = !g_value_get_boolean (value);
      break;
    default:
      if (!gst_ccl_property_row_set (self, &rows[id], value))
        G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
  }
  GST_OBJECT_UNLOCK (self);
}

static GstStructure *
create_stats (GstCclTrack * self)
{
  const GstCclTrackStats *const stats = &self->stats;
  GstStructure *structure = gst_structure_new ("ccltrack-stats",
      "frames", G_TYPE_UINT64, stats->frames,
      "skipped", G_TYPE_UINT64, stats->skipped,
      "detections", G_TYPE_UINT64, stats->detections,
      "tracks", G_TYPE_UINT, stats->tracks,
      "started", G_TYPE_UINT64, stats->started,
      "ended", G_TYPE_UINT64, stats->ended,
      "backwards", G_TYPE_UINT64, stats->backwards,
      "resets", G_TYPE_UINT64, stats->resets, NULL);

  gst_ccl_min_avg_max_host_to_structure (&stats->host, structure);
  return structure;
}

static void
gst_ccl_track_get_property (GObject * object, guint id, GValue * value, GParamSpec * pspec)
{
  GstCclTrack *const self = GST_CCL_TRACK (object);
  const CclTrackerConfig *const config = &self->settings.config;

  GST_OBJECT_LOCK (self);
  switch (id) {
    case PROP_PER_TYPE:
      g_value_set_boolean (value, !config->single_class);
      break;
    case PROP_STATS:
      g_value_take_boxed (value, create_stats (self));
      break;
    default:
      if (!gst_ccl_property_row_get (self, &rows[id], value))
        G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
  }
  GST_OBJECT_UNLOCK (self);
}

static void
install_properties (GObjectClass * klass)
{
  const GParamFlags playing = G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS | GST_PARAM_MUTABLE_PLAYING;
  const CclTrackerConfig config = ccl_tracker_config_default ();

  properties[PROP_METHOD] = g_param_spec_enum ("method", "Method", "Criterion by which a blob is recognised from frame to frame",
      GST_TYPE_CCL_TRACK_METHOD, config.method, playing);
  properties[PROP_INPUT] = g_param_spec_enum ("input", "Input", "Metadata to follow, which also gets the ids",
      GST_TYPE_CCL_TRACK_INPUT, GST_CCL_TRACK_INPUT_AUTO, playing);
  properties[PROP_MAX_AGE] = g_param_spec_uint ("max-age", "Maximum age",
      "Number of unseen frames after which a confirmed track of blobs ends. Frames that were not analysed do not count "
      "(0 = the first one)", 0, 3600, config.max_age, playing);
  properties[PROP_MIN_HITS] = g_param_spec_uint ("min-hits", "Minimum hits",
      "Number of successive frames in which a new track must be seen to be confirmed", 1, 100, config.min_hits, playing);
  properties[PROP_IOU_THRESHOLD] = g_param_spec_double ("iou-threshold", "Overlap threshold",
      "Minimum overlap of two boxes (intersection over union) that may be the same object. With method=kalman, blobs that "
      "overlap this much may match at any distance. Regions and detections are compared with half their size added at each side",
      0, 1, config.iou_threshold, playing);
  properties[PROP_MAX_DISTANCE] = g_param_spec_double ("max-distance", "Maximum distance",
      "Maximum distance of a blob from the predicted place of its track, in standard deviations (Mahalanobis distance; "
      "method=kalman only)",
      0.1, 100, config.max_distance, playing);
  properties[PROP_MAX_TRACKS] = g_param_spec_uint ("max-tracks", "Maximum tracks",
      "Maximum number of tracks at a time; further blobs get none. A change ends all tracks", 1, CCL_TRACKER_MAX_TRACKS,
      config.max_tracks, playing);
  properties[PROP_PER_TYPE] = g_param_spec_boolean ("per-type", "Per type",
      "Regions and detections of different types are never the same object (not input=ccl)",
      !config.single_class, playing);
  properties[PROP_HIGH_CONFIDENCE] = g_param_spec_double ("high-confidence", "High confidence",
      "Regions and detections of lower confidence start no track and are assigned last (not input=ccl)",
      0, 1, config.high_confidence, playing);
  properties[PROP_EMIT] = g_param_spec_flags ("emit", "Emit",
      "Tracks to write besides those that are confirmed and seen", GST_TYPE_CCL_TRACK_EMIT,
      GST_CCL_TRACK_EMIT_TENTATIVE | GST_CCL_TRACK_EMIT_MERGED, playing);
  properties[PROP_ID_RESET] = g_param_spec_flags ("id-reset", "ID reset",
      "Events that end all tracks. No id is used again", GST_TYPE_CCL_ID_RESET,
      GST_CCL_ID_RESET_STREAM_START | GST_CCL_ID_RESET_FLUSH, playing);
  properties[PROP_HISTORY] = g_param_spec_uint ("history", "History",
      "Maximum number of past places attached to a blob as its trail, one for each frame (0 = none; input=ccl only)",
      0, MAX_HISTORY, DEFAULT_HISTORY, playing);
  properties[PROP_MAX_AGE_TIME] = g_param_spec_uint64 ("max-age-time", "Maximum age in time",
      "Time unseen after which a confirmed track of regions or detections ends, in nanoseconds (blobs: see max-age)",
      0, G_MAXINT64, DEFAULT_MAX_AGE_TIME, playing);
  properties[PROP_FEEDBACK] =
      g_param_spec_boolean ("feedback", "Feedback",
      "Tell cclmotion upstream where confirmed tracks are, so that they do not become background (its method=feedback only)",
      FALSE, playing);
  properties[PROP_STATS] = g_param_spec_boxed ("stats", "Statistics",
      "Since the start: frames, skipped (not analysed), detections, tracks (now), started, ended, backwards "
      "(timestamps), resets; " GST_CCL_HOST_TIME_FIELDS, GST_TYPE_STRUCTURE,
      G_PARAM_READABLE | G_PARAM_STATIC_STRINGS);
  g_object_class_install_properties (klass, N_PROPERTIES, properties);
}

static void
gst_ccl_track_finalize (GObject * object)
{
  GstCclTrack *const self = GST_CCL_TRACK (object);

  g_clear_pointer (&self->tracker, ccl_tracker_free);
  gst_ccl_vector_clear (&self->detections);
  gst_ccl_vector_clear (&self->ids);
  gst_ccl_seen_tracks_free (self->seen_tracks);
  gst_ccl_vector_clear (&self->blobs);
  gst_ccl_vector_clear (&self->points);
  G_OBJECT_CLASS (parent_class)->finalize (object);
}

static void
gst_ccl_track_class_init (GstCclTrackClass * klass)
{
  GObjectClass *const object = G_OBJECT_CLASS (klass);
  GstElementClass *const element = GST_ELEMENT_CLASS (klass);
  GstBaseTransformClass *const transform = GST_BASE_TRANSFORM_CLASS (klass);

  object->set_property = gst_ccl_track_set_property;
  object->get_property = gst_ccl_track_get_property;
  object->finalize = gst_ccl_track_finalize;
  install_properties (object);

  gst_element_class_add_static_pad_template (element, &sink_template);
  gst_element_class_add_static_pad_template (element, &src_template);
  gst_element_class_set_static_metadata (element, "Blob tracker", "Filter/Analyzer/Video",
      "Follows blobs, regions of interest or object detections over time and gives each an identity",
      "gst-ccl contributors");
  gst_ccl_element_class_set_document (element, "ccltrack");

  transform->start = gst_ccl_track_start;
  transform->stop = gst_ccl_track_stop;
  transform->set_caps = gst_ccl_track_set_caps;
  transform->sink_event = gst_ccl_track_sink_event;
  transform->transform_ip = gst_ccl_track_transform_ip;

  gst_type_mark_as_plugin_api (GST_TYPE_CCL_TRACK_METHOD, 0);
  gst_type_mark_as_plugin_api (GST_TYPE_CCL_TRACK_INPUT, 0);
  gst_type_mark_as_plugin_api (GST_TYPE_CCL_TRACK_EMIT, 0);
  gst_type_mark_as_plugin_api (GST_TYPE_CCL_ID_RESET, 0);
}

static void
gst_ccl_track_init (GstCclTrack * self)
{
  self->settings = (GstCclTrackSettings) {
    .config = ccl_tracker_config_default (),
    .emit = GST_CCL_TRACK_EMIT_TENTATIVE | GST_CCL_TRACK_EMIT_MERGED,
    .id_reset = GST_CCL_ID_RESET_STREAM_START | GST_CCL_ID_RESET_FLUSH,
    .history = DEFAULT_HISTORY,
    .max_age_time = DEFAULT_MAX_AGE_TIME,
  };
  self->settings.config.new_id = new_id;
  self->last_pts = self->mean_duration = self->frame_duration = GST_CLOCK_TIME_NONE;
  self->detections.element_size = sizeof (CclDetection);
  self->ids.element_size = sizeof (guint64);
  self->seen_tracks = gst_ccl_seen_tracks_new ();
  self->blobs.element_size = sizeof (GstCclBlob);
  self->points.element_size = sizeof (GstCclPoint);
  gst_base_transform_set_in_place (GST_BASE_TRANSFORM (self), TRUE);
}
