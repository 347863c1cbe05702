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
 * Where a track should be now is predicted (Kalman filter of the centroid); what may be it is decided by the
 * Mahalanobis distance from there, by the uncertainty of the prediction and the blob's covariance; all tracks and blobs
 * are matched at once at the least cost. Blobs that merge keep their identities inside the common blob and take them
 * along when it splits; parts of a broken mask count as one.
 *
 * What is written, of every blob in a track:
 *
 * - in its #GstCclBlob: track-id, age, parent-id (the track it came out of) and the flags TENTATIVE, CONFIRMED,
 *   PREDICTED, LOST, MERGED and SPLIT; #ccltrack:emit says for which states
 * - in its region of interest: the structure "object_id" with the int "id", as DL Streamer's elements write and read it
 * - related to its object detection: a GstAnalyticsTrackingMtd (GStreamer 1.24)
 *
 * - its trail: the last #ccltrack:history places of its centroid, filtered; gst_ccl_blob_meta_get_trail()
 *
 * Tracks that have no blob of their own are added to the list as blobs with label 0, area 0 and the box where the track
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

#include "gstccltrack.h"

#include <string.h>

#include <gst/video/video.h>
#include <gst/ccl/ccl.h>
#ifdef HAVE_GST_ANALYTICS
# include <gst/analytics/analytics.h>
#endif

#include "base/gstcclenums.h"
#include "base/gstcclpropertyrow.h"
#include "base/gstcclhint.h"
#include "base/gstcclminavgmax.h"
#include "analysis/track.h"

GST_DEBUG_CATEGORY_STATIC (gst_ccl_track_debug);
#define GST_CAT_DEFAULT gst_ccl_track_debug

static GstStaticPadTemplate sink_template = GST_STATIC_PAD_TEMPLATE ("sink", GST_PAD_SINK, GST_PAD_ALWAYS,
    GST_STATIC_CAPS ("video/x-raw(ANY)"));
static GstStaticPadTemplate src_template = GST_STATIC_PAD_TEMPLATE ("src", GST_PAD_SRC, GST_PAD_ALWAYS,
    GST_STATIC_CAPS ("video/x-raw(ANY)"));

#define STATE_FLAGS (GST_CCL_BLOB_FLAG_TENTATIVE | GST_CCL_BLOB_FLAG_CONFIRMED | GST_CCL_BLOB_FLAG_PREDICTED \
    | GST_CCL_BLOB_FLAG_LOST | GST_CCL_BLOB_FLAG_MERGED | GST_CCL_BLOB_FLAG_SPLIT)

#define DEFAULT_HISTORY 64
#define MAX_HISTORY 1024

/* The properties. Written under the object lock; the streaming thread copies them once per frame. */
typedef struct
{
  CclTrackerConfig config;
  gint input;
  guint emit;
  guint id_reset;
  guint history;
} Settings;

/* What is kept of a living track besides what the tracker knows. */
typedef struct
{
  GstClockTime first_seen;
  guint capacity, n, next;      /* of places, a ring */
  GstCclPoint places[];         /* of its centroid, in the plane of pixel squares of the frame */
} Life;

typedef struct
{
  guint64 frames, skipped, detections, started, ended, backwards, resets;
  guint tracks;
  GstCclMinAvgMax host;
} Stats;

struct _GstCclTrack
{
  GstBaseTransform parent;

  Settings settings;            /* under the object lock */
  Stats stats;                  /* under the object lock */

  /* Streaming thread. */
  Settings active;
  CclTracker *tracker;
  guint width, height;
  GstClockTime frame_duration;  /* of the caps; GST_CLOCK_TIME_NONE: the rate varies */
  GstClockTime mean_duration;   /* as seen; GST_CLOCK_TIME_NONE until then */
  GstClockTime last_pts;
  guint n_untimed;              /* frames without a timestamp since then, each of which was counted as an interval */
  GArray *detections;           /* of CclDetection: this frame's */
  GArray *ids;                  /* of guint64: their tracks */
  GHashTable *lives;            /* guint64 id -> Life; living tracks only */
  GArray *points;               /* of GstCclPoint: this frame's contours and trails */
  guint n_without_input;        /* see gstcclhint.h */
};

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
  PROP_EMIT,
  PROP_ID_RESET,
  PROP_HISTORY,
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
  g_hash_table_remove_all (self->lives);
  self->last_pts = self->mean_duration = GST_CLOCK_TIME_NONE;
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
take_settings (GstCclTrack * self)
{
  const guint max_tracks = self->active.config.max_tracks;
  CclStatus status;

  GST_OBJECT_LOCK (self);
  self->active = self->settings;
  GST_OBJECT_UNLOCK (self);

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

/* ---------------------------------------------------------------- time */

/* How many frame intervals have passed since the last frame. */
static gdouble
frames_since_last (GstCclTrack * self, GstBuffer * buffer)
{
  const GstClockTime pts = GST_BUFFER_PTS (buffer), last = self->last_pts;
  const guint n_untimed = self->n_untimed;
  GstClockTime duration = self->frame_duration;

  self->n_untimed++;
  if (!GST_CLOCK_TIME_IS_VALID (pts))
    return 1;
  self->n_untimed = 0;
  self->last_pts = pts;
  if (!GST_CLOCK_TIME_IS_VALID (last))
    return 1;
  if (pts < last) {
    GST_DEBUG_OBJECT (self, "time goes back from %" GST_TIME_FORMAT " to %" GST_TIME_FORMAT, GST_TIME_ARGS (last),
        GST_TIME_ARGS (pts));
    GST_OBJECT_LOCK (self);
    self->stats.backwards++;
    GST_OBJECT_UNLOCK (self);
    return 1;
  }
  if (!GST_CLOCK_TIME_IS_VALID (duration)) {
    const GstClockTime mean = self->mean_duration, passed = (pts - last) / (1 + n_untimed);

    if (!GST_CLOCK_TIME_IS_VALID (mean) || mean == 0)
      self->mean_duration = passed;
    else                        /* a gap is none of the usual intervals */
      self->mean_duration = (15 * mean + MIN (passed, 4 * mean)) / 16;
    duration = self->mean_duration;
  }
  return duration > 0 ? MAX ((gdouble) (pts - last) / duration - n_untimed, 0) : 1;
}

/* ---------------------------------------------------------------- detections */

static void
add_detection (GstCclTrack * self, CclDetection detection)
{
  g_array_append_val (self->detections, detection);
}

static void
add_rectangle (GstCclTrack * self, gdouble x, gdouble y, gdouble width, gdouble height, GQuark type)
{
  add_detection (self, (CclDetection) {
        .x = x + width / 2,.y = y + height / 2,.x0 = x,.y0 = y,.x1 = x + width,.y1 = y + height,.type = type});
}

/* A blob that another tracker upstream added: no component of the mask. */
static gboolean
is_added (const GstCclBlob * blob)
{
  return blob->label == 0 && blob->area == 0;
}

/* In the plane of pixel squares of the frame. One detection per blob, so that their indices are the same. */
static void
detect_blobs (GstCclTrack * self, const GstCclBlobMeta * meta)
{
  const guint n = gst_ccl_blob_meta_get_length (meta);

  for (guint i = 0; i < n; i++) {
    CclDetection d = { 0 };
    gdouble width, height;

    gst_ccl_blob_meta_get_centroid (meta, i, &d.x, &d.y);
    gst_ccl_blob_meta_get_covariance (meta, i, &d.xx, &d.xy, &d.yy);
    gst_ccl_blob_meta_get_box (meta, i, &d.x0, &d.y0, &width, &height);
    d.x += 0.5;
    d.y += 0.5;
    d.x1 = d.x0 + width;
    d.y1 = d.y0 + height;
    if (is_added (gst_ccl_blob_meta_get_blob (meta, i)))
      d.x1 = d.x0;              /* empty: passed over */
    add_detection (self, d);
  }
}

static GstVideoRegionOfInterestMeta *
next_roi (GstBuffer * buffer, gpointer * state)
{
  return (GstVideoRegionOfInterestMeta *) gst_buffer_iterate_meta_filtered (buffer, state,
      GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE);
}

static void
detect_rois (GstCclTrack * self, GstBuffer * buffer)
{
  GstVideoRegionOfInterestMeta *roi;
  gpointer state = NULL;

  while ((roi = next_roi (buffer, &state)))
    add_rectangle (self, roi->x, roi->y, roi->w, roi->h, roi->roi_type);
}

#ifdef HAVE_GST_ANALYTICS
static gboolean
next_object (GstAnalyticsRelationMeta * relations, gpointer * state, GstAnalyticsODMtd * object)
{
  return relations && gst_analytics_relation_meta_iterate (relations, state, gst_analytics_od_mtd_get_mtd_type (),
      object);
}
#endif

static void
detect_objects (GstCclTrack * self, GstBuffer * buffer)
{
#ifdef HAVE_GST_ANALYTICS
  GstAnalyticsRelationMeta *const relations = gst_buffer_get_analytics_relation_meta (buffer);
  GstAnalyticsODMtd object;
  gpointer state = NULL;

  while (next_object (relations, &state, &object)) {
    gint x = 0, y = 0, width = 0, height = 0;
    gfloat confidence;

    gst_analytics_od_mtd_get_location (&object, &x, &y, &width, &height, &confidence);
    add_rectangle (self, x, y, width, height, gst_analytics_od_mtd_get_obj_type (&object));
  }
#endif
}

static GstCclTrackInput
choose_input (GstCclTrack * self, GstBuffer * buffer)
{
  gpointer state = NULL;

  if (self->active.input != GST_CCL_TRACK_INPUT_AUTO)
    return self->active.input;
  if (gst_buffer_get_ccl_blob_meta (buffer))
    return GST_CCL_TRACK_INPUT_CCL;
  return next_roi (buffer, &state) ? GST_CCL_TRACK_INPUT_ROI : GST_CCL_TRACK_INPUT_ANALYTICS;
}

static void
detect (GstCclTrack * self, GstBuffer * buffer, GstCclTrackInput input)
{
  const GstCclBlobMeta *const meta = gst_buffer_get_ccl_blob_meta (buffer);

  g_array_set_size (self->detections, 0);
  if (input == GST_CCL_TRACK_INPUT_CCL && meta)
    detect_blobs (self, meta);
  else if (input == GST_CCL_TRACK_INPUT_ROI)
    detect_rois (self, buffer);
  else if (input == GST_CCL_TRACK_INPUT_ANALYTICS)
    detect_objects (self, buffer);
  g_array_set_size (self->ids, self->detections->len);
}

/* ---------------------------------------------------------------- results */

/* Tracks are in the order of their ids. */
static const CclTrack *
find_track (GstCclTrack * self, guint64 id)
{
  const CclTrack *tracks;
  guint low = 0, high = ccl_tracker_tracks (self->tracker, &tracks);

  while (low < high) {
    const guint middle = (low + high) / 2;

    if (tracks[middle].id == id)
      return &tracks[middle];
    if (tracks[middle].id < id)
      low = middle + 1;
    else
      high = middle;
  }
  return NULL;
}

/* The track to write to detection `index`; NULL for none. */
static const CclTrack *
track_of (GstCclTrack * self, guint index)
{
  const guint64 id = g_array_index (self->ids, guint64, index);
  const CclTrack *const track = id != 0 ? find_track (self, id) : NULL;

  if (track && track->state == CCL_TRACK_TENTATIVE && !(self->active.emit & GST_CCL_TRACK_EMIT_TENTATIVE))
    return NULL;
  return track;
}

static guint32
blob_flags (const CclTrack * track)
{
  static const guint32 states[] = {
    [CCL_TRACK_TENTATIVE] = GST_CCL_BLOB_FLAG_TENTATIVE,
    [CCL_TRACK_CONFIRMED] = GST_CCL_BLOB_FLAG_CONFIRMED,
    [CCL_TRACK_PREDICTED] = GST_CCL_BLOB_FLAG_PREDICTED,
    [CCL_TRACK_LOST] = GST_CCL_BLOB_FLAG_LOST,
  };

  return states[track->state] | (track->flags & CCL_TRACK_MERGED ? GST_CCL_BLOB_FLAG_MERGED : 0)
      | (track->flags & CCL_TRACK_SPLIT ? GST_CCL_BLOB_FLAG_SPLIT : 0);
}

static void
write_track (GstCclBlob * blob, const CclTrack * track)
{
  blob->track_id = track->id;
  blob->age = track->age;
  blob->parent_id = track->parent_id;
  blob->flags |= blob_flags (track);
}

/* A blob several tracks share is nobody's when they are all listed; else it is the one's that had it first. */
static void
name_blob (GstCclTrack * self, GstCclBlob * blob, guint index)
{
  const CclTrack *const track = track_of (self, index);

  blob->flags &= ~STATE_FLAGS;
  blob->track_id = blob->parent_id = 0;
  blob->age = 0;
  if (!track)
    return;
  if (track->flags & CCL_TRACK_MERGED && self->active.emit & GST_CCL_TRACK_EMIT_MERGED) {
    blob->flags |= GST_CCL_BLOB_FLAG_MERGED;
    return;
  }
  write_track (blob, track);
  if (track->flags & CCL_TRACK_MERGED && track->state == CCL_TRACK_PREDICTED)
    blob->flags ^= GST_CCL_BLOB_FLAG_PREDICTED | GST_CCL_BLOB_FLAG_CONFIRMED;
}

static gboolean
should_add (GstCclTrack * self, const CclTrack * track)
{
  const guint emit = self->active.emit;

  if (track->state == CCL_TRACK_LOST)
    return (emit & GST_CCL_TRACK_EMIT_LOST) && track->hits >= self->active.config.min_hits;
  if (track->flags & CCL_TRACK_MERGED)
    return (emit & GST_CCL_TRACK_EMIT_MERGED) != 0;
  return track->state == CCL_TRACK_PREDICTED && (emit & GST_CCL_TRACK_EMIT_PREDICTED);
}

/* The upright box, in whole pixels of the mask, around what the track's box is there. */
static gboolean
set_box_in_mask (GstCclBlob * blob, const CclTrack * track, const GstCclBlobMeta * meta)
{
  gdouble x0 = 0, y0 = 0, x1 = 0, y1 = 0;

  for (gint corner = 0; corner < 4; corner++) {
    gdouble x = corner & 1 ? track->x1 : track->x0, y = corner & 2 ? track->y1 : track->y0;

    if (!gst_ccl_blob_meta_unmap_point (meta, &x, &y))
      return FALSE;
    x0 = corner == 0 ? x : MIN (x0, x);
    x1 = corner == 0 ? x : MAX (x1, x);
    y0 = corner == 0 ? y : MIN (y0, y);
    y1 = corner == 0 ? y : MAX (y1, y);
  }
  if (!(x0 > -1e9 && y0 > -1e9 && x1 < 1e9 && y1 < 1e9))
    return FALSE;
  blob->x = blob->first_x = (gint32) (x0 + (x0 < 0 ? -0.5 : 0.5));
  blob->y = (gint32) (y0 + (y0 < 0 ? -0.5 : 0.5));
  blob->width = MAX ((gint32) (x1 - x0 + 0.5), 1);
  blob->height = MAX ((gint32) (y1 - y0 + 0.5), 1);
  return TRUE;
}

static void
append_contour (GstCclTrack * self, GstCclBlob * blob, const GstCclBlobMeta * meta, guint index)
{
  guint n;
  const GstCclPoint *const contour = gst_ccl_blob_list_get_contour (meta->list, index, &n);

  blob->first_point = self->points->len;
  blob->n_contour = n;
  blob->n_trail = 0;
  if (n > 0)
    g_array_append_vals (self->points, contour, n);
}

/* Places are kept in the frame, and are in the mask what the matrix of today says: the frame is where they were. */
static void
append_trail (GstCclTrack * self, GstCclBlob * blob, const GstCclBlobMeta * meta)
{
  const Life *const life = blob->track_id != 0 ? g_hash_table_lookup (self->lives, &blob->track_id) : NULL;
  const guint first = self->points->len;

  if (!life || life->n == 0)
    return;
  /* The ring is full, or begins at its first entry. */
  if (life->n == life->capacity)
    g_array_append_vals (self->points, life->places + life->next, life->n - life->next);
  g_array_append_vals (self->points, life->places, life->n == life->capacity ? life->next : life->n);
  blob->n_trail = life->n;
  if (gst_ccl_blob_meta_is_identity (meta))
    return;
  for (guint i = first; i < self->points->len; i++) {
    GstCclPoint *const place = &g_array_index (self->points, GstCclPoint, i);
    gdouble x = place->x, y = place->y;

    if (gst_ccl_blob_meta_unmap_point (meta, &x, &y))
      *place = (GstCclPoint) { x, y};
  }
}

/* Returns how many blobs it wrote, at most n_tracks. */
static guint
add_tracks (GstCclTrack * self, GstCclBlob * blobs, const GstCclBlobMeta * meta)
{
  const CclTrack *tracks;
  const guint n_tracks = ccl_tracker_tracks (self->tracker, &tracks);
  guint n = 0;

  for (guint i = 0; i < n_tracks; i++) {
    GstCclBlob blob = {.mtd_id = GST_CCL_MTD_ID_NONE };

    if (!should_add (self, &tracks[i]) || !set_box_in_mask (&blob, &tracks[i], meta))
      continue;
    write_track (&blob, &tracks[i]);
    blob.first_point = self->points->len;
    append_trail (self, &blob, meta);
    blobs[n++] = blob;
  }
  return n;
}

static GstCclBlobList *
new_list (GstCclTrack * self, const GstCclBlob * blobs, guint n)
{
  GstCclBlobList *list = gst_ccl_blob_list_new (blobs, n);
  GBytes *points;

  if (self->points->len > 0) {
    points = g_bytes_new (self->points->data, self->points->len * sizeof (GstCclPoint));
    gst_ccl_blob_list_set_points (list, points);
    g_bytes_unref (points);
  }
  return list;
}

/* A new list: copies of the buffer may hold the old one. */
static void
write_blobs (GstCclTrack * self, GstCclBlobMeta * meta)
{
  const guint n_old = gst_ccl_blob_meta_get_length (meta);
  const CclTrack *tracks;
  const guint n_tracks = ccl_tracker_tracks (self->tracker, &tracks);
  GstCclBlob *const blobs = g_new (GstCclBlob, n_old + n_tracks);
  GstCclBlobList *list;
  guint n = 0, n_added;

  g_array_set_size (self->points, 0);
  for (guint i = 0; i < n_old; i++) {
    const GstCclBlob *const blob = gst_ccl_blob_meta_get_blob (meta, i);

    if (is_added (blob))
      continue;
    blobs[n] = *blob;
    if (i < self->ids->len)
      name_blob (self, &blobs[n], i);
    append_contour (self, &blobs[n], meta, i);
    append_trail (self, &blobs[n], meta);
    n++;
  }
  n_added = add_tracks (self, blobs + n, meta);
  meta->flags &= ~GST_CCL_BLOB_META_FLAG_PREDICTED_ONLY;
  if (n == 0 && n_added > 0)
    meta->flags |= GST_CCL_BLOB_META_FLAG_PREDICTED_ONLY;

  list = new_list (self, blobs, n + n_added);
  gst_ccl_blob_meta_set_list (meta, list);
  gst_ccl_blob_list_unref (list);
  g_free (blobs);
}

/* As DL Streamer's elements write and read it: an int, so ids beyond start over. */
static void
write_roi (GstVideoRegionOfInterestMeta * roi, guint64 id)
{
  GstStructure *const object_id = gst_video_region_of_interest_meta_get_param (roi, "object_id");
  GstStructure *const blob = gst_video_region_of_interest_meta_get_param (roi, GST_CCL_ROI_PARAM);
  const gint number = (gint) (id & G_MAXINT);

  if (object_id)
    gst_structure_set (object_id, "id", G_TYPE_INT, number, NULL);
  else
    gst_video_region_of_interest_meta_add_param (roi, gst_structure_new ("object_id", "id", G_TYPE_INT, number, NULL));
  if (blob)
    gst_structure_set (blob, "track-id", G_TYPE_UINT64, id, NULL);
}

static void
write_rois (GstCclTrack * self, GstBuffer * buffer)
{
  GstVideoRegionOfInterestMeta *roi;
  gpointer state = NULL;

  for (guint i = 0; i < self->ids->len && (roi = next_roi (buffer, &state)); i++) {
    const CclTrack *const track = track_of (self, i);

    if (track)
      write_roi (roi, track->id);
  }
}

/* The regions that mirror our blobs name them by label. */
static void
write_mirrored_rois (GstBuffer * buffer, const GstCclBlobMeta * meta)
{
  const guint n = gst_ccl_blob_meta_get_length (meta);
  GHashTable *ids = NULL;
  GstVideoRegionOfInterestMeta *roi;
  gpointer state = NULL;
  guint label;

  while ((roi = next_roi (buffer, &state))) {
    const GstStructure *const mirror = gst_video_region_of_interest_meta_get_param (roi, GST_CCL_ROI_PARAM);
    const GstCclBlob *blob;

    if (!mirror || !gst_structure_get_uint (mirror, "label", &label))
      continue;
    if (!ids) {
      ids = g_hash_table_new (NULL, NULL);
      for (guint i = 0; i < n; i++) {
        blob = gst_ccl_blob_meta_get_blob (meta, i);
        g_hash_table_insert (ids, GUINT_TO_POINTER (blob->label), (gpointer) blob);
      }
    }
    blob = label != 0 ? g_hash_table_lookup (ids, GUINT_TO_POINTER (label)) : NULL;
    if (blob && blob->track_id != 0)
      write_roi (roi, blob->track_id);
  }
  g_clear_pointer (&ids, g_hash_table_unref);
}

#ifdef HAVE_GST_ANALYTICS
static void
write_object (GstCclTrack * self, GstAnalyticsRelationMeta * relations, guint object, guint64 id, GstClockTime now)
{
  const Life *const life = g_hash_table_lookup (self->lives, &id);
  GstAnalyticsTrackingMtd tracking;

  if (!gst_analytics_relation_meta_add_tracking_mtd (relations, id, life ? life->first_seen : now, &tracking))
    return;
  gst_analytics_tracking_mtd_update_last_seen (&tracking, now);
  gst_analytics_relation_meta_set_relation (relations, GST_ANALYTICS_REL_TYPE_RELATE_TO, object, tracking.id);
}
#endif

static void
write_objects (GstCclTrack * self, GstBuffer * buffer)
{
#ifdef HAVE_GST_ANALYTICS
  GstAnalyticsRelationMeta *const relations = gst_buffer_get_analytics_relation_meta (buffer);
  GstAnalyticsODMtd object;
  gpointer state = NULL;
  GArray *objects = g_array_new (FALSE, FALSE, sizeof (guint));

  /* All first: what is added must not be iterated over. */
  while (next_object (relations, &state, &object))
    g_array_append_val (objects, object.id);
  for (guint i = 0; i < MIN (self->ids->len, objects->len); i++) {
    const CclTrack *const track = track_of (self, i);

    if (track)
      write_object (self, relations, g_array_index (objects, guint, i), track->id, GST_BUFFER_PTS (buffer));
  }
  g_array_unref (objects);
#endif
}

static void
write_mirrored_objects (GstCclTrack * self, GstBuffer * buffer, const GstCclBlobMeta * meta)
{
#ifdef HAVE_GST_ANALYTICS
  GstAnalyticsRelationMeta *const relations = gst_buffer_get_analytics_relation_meta (buffer);
  const guint n = gst_ccl_blob_meta_get_length (meta);

  for (guint i = 0; relations && i < n; i++) {
    const GstCclBlob *const blob = gst_ccl_blob_meta_get_blob (meta, i);

    if (blob->track_id != 0 && blob->mtd_id != GST_CCL_MTD_ID_NONE)
      write_object (self, relations, blob->mtd_id, blob->track_id, GST_BUFFER_PTS (buffer));
  }
#endif
}

static void
write_results (GstCclTrack * self, GstBuffer * buffer, GstCclTrackInput input)
{
  GstCclBlobMeta *const meta = gst_buffer_get_ccl_blob_meta (buffer);

  if (input == GST_CCL_TRACK_INPUT_CCL && meta) {
    write_blobs (self, meta);
    write_mirrored_rois (buffer, meta);
    write_mirrored_objects (self, buffer, meta);
  } else if (input == GST_CCL_TRACK_INPUT_ROI) {
    write_rois (self, buffer);
  } else if (input == GST_CCL_TRACK_INPUT_ANALYTICS) {
    write_objects (self, buffer);
  }
}

/* ---------------------------------------------------------------- one frame */

/* Frames nobody analysed say nothing about what is there. */
static gboolean
was_analysed (GstBuffer * buffer, GstCclTrackInput input)
{
  const GstCclBlobMeta *const meta = gst_buffer_get_ccl_blob_meta (buffer);

  return input != GST_CCL_TRACK_INPUT_CCL || !meta
      || !(meta->flags & (GST_CCL_BLOB_META_FLAG_SKIPPED | GST_CCL_BLOB_META_FLAG_GLOBAL_CHANGE));
}

/* The life of a track, with room for as many places as the property says now; the last ones stay. */
static Life *
make_life (GstCclTrack * self, guint64 id, GstClockTime pts)
{
  const guint capacity = self->active.history;
  const Life *const old = g_hash_table_lookup (self->lives, &id);
  Life *life;

  if (old && old->capacity == capacity)
    return (Life *) old;
  life = g_malloc (sizeof (Life) + capacity * sizeof (GstCclPoint));
  *life = (Life) {
    .first_seen = old ? old->first_seen : pts,.capacity = capacity,.n = old ? MIN (old->n, capacity) : 0
  };
  for (guint i = 0; i < life->n; i++)
    life->places[i] = old->places[(old->next + old->capacity - life->n + i) % old->capacity];
  life->next = capacity > 0 ? life->n % capacity : 0;
  g_hash_table_insert (self->lives, g_memdup2 (&id, sizeof id), life);
  return life;
}

static void
add_place (Life * life, const CclTrack * track)
{
  if (life->capacity == 0)
    return;
  life->places[life->next] = (GstCclPoint) { track->x, track->y};
  life->next = (life->next + 1) % life->capacity;
  life->n = MIN (life->n + 1, life->capacity);
}

/* Who came, who went and who is where in this frame. */
static void
count_tracks (GstCclTrack * self, gboolean analysed, GstClockTime pts)
{
  const CclTrack *tracks;
  const guint n = ccl_tracker_tracks (self->tracker, &tracks);
  guint started = 0, ended = 0;
  Life *life;

  for (guint i = 0; i < n; i++) {
    if (tracks[i].state == CCL_TRACK_LOST) {
      ended++;
    } else {
      started += !g_hash_table_contains (self->lives, &tracks[i].id);
      life = make_life (self, tracks[i].id, pts);
      if (analysed)
        add_place (life, &tracks[i]);
    }
  }

  GST_OBJECT_LOCK (self);
  self->stats.frames++;
  self->stats.skipped += !analysed;
  self->stats.detections += self->detections->len;
  self->stats.started += started;
  self->stats.ended += ended;
  self->stats.tracks = n - ended;
  GST_OBJECT_UNLOCK (self);
}

/* Once everything is written of them. */
static void
forget_ended (GstCclTrack * self)
{
  const CclTrack *tracks;
  const guint n = ccl_tracker_tracks (self->tracker, &tracks);

  for (guint i = 0; i < n; i++)
    if (tracks[i].state == CCL_TRACK_LOST)
      g_hash_table_remove (self->lives, &tracks[i].id);
}

static gboolean
track_frame (GstCclTrack * self, GstBuffer * buffer, GstCclTrackInput input)
{
  const gboolean analysed = was_analysed (buffer, input);
  const gdouble frames = frames_since_last (self, buffer);

  if (analysed) {
    detect (self, buffer, input);
    if (ccl_tracker_update (self->tracker, (const CclDetection *) self->detections->data, self->detections->len,
            frames, (guint64 *) self->ids->data) != CCL_OK)
      return FALSE;
  } else {
    g_array_set_size (self->detections, 0);
    g_array_set_size (self->ids, 0);
    ccl_tracker_skip (self->tracker, frames);
  }
  count_tracks (self, analysed, GST_BUFFER_PTS (buffer));
  return TRUE;
}

static GstFlowReturn
gst_ccl_track_transform_ip (GstBaseTransform * transform, GstBuffer * buffer)
{
  GstCclTrack *const self = GST_CCL_TRACK (transform);
  const gint64 begin = g_get_monotonic_time ();
  GstCclTrackInput input;

  if (!take_settings (self))
    return GST_FLOW_ERROR;
  if (GST_BUFFER_IS_DISCONT (buffer) && GST_CLOCK_TIME_IS_VALID (self->last_pts))
    reset_if (self, GST_CCL_ID_RESET_DISCONT, "discontinuity");

  input = choose_input (self, buffer);
  if (!track_frame (self, buffer, input)) {
    GST_ELEMENT_ERROR (self, RESOURCE, NO_SPACE_LEFT, (NULL), ("%s", ccl_error_message ()));
    return GST_FLOW_ERROR;
  }
  if (gst_ccl_hint_is_due (&self->n_without_input, self->detections->len > 0
          || (input == GST_CCL_TRACK_INPUT_CCL && gst_buffer_get_ccl_blob_meta (buffer))))
    GST_ELEMENT_WARNING (self, STREAM, FAILED, ("Nothing to follow: the frames carry no %s.",
            input == GST_CCL_TRACK_INPUT_CCL ? "blobs of ccllabel" : input == GST_CCL_TRACK_INPUT_ROI
            ? "regions of interest" : "blobs, regions or object detections"),
        ("Put ccllabel (or a detector) upstream, and between the two no element that drops metadata (see "
            "docs/metadata.md). Said once."));
  write_results (self, buffer, input);
  forget_ended (self);

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
  reset_tracks (self, "start");
  GST_OBJECT_LOCK (self);
  memset (&self->stats, 0, sizeof self->stats);
  GST_OBJECT_UNLOCK (self);
  if (!take_settings (self))
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
  g_hash_table_remove_all (self->lives);
  return TRUE;
}

/* ---------------------------------------------------------------- properties */

/* The properties that are fields and nothing else, for reading at least. */
static const GstCclPropertyRow fields[N_PROPERTIES] = {
  [PROP_METHOD] = GST_CCL_PROPERTY_ROW (GstCclTrack, settings.config.method),
  [PROP_INPUT] = GST_CCL_PROPERTY_ROW (GstCclTrack, settings.input),
  [PROP_MAX_AGE] = GST_CCL_PROPERTY_ROW (GstCclTrack, settings.config.max_age),
  [PROP_MIN_HITS] = GST_CCL_PROPERTY_ROW (GstCclTrack, settings.config.min_hits),
  [PROP_IOU_THRESHOLD] = GST_CCL_PROPERTY_ROW (GstCclTrack, settings.config.iou_threshold),
  [PROP_MAX_DISTANCE] = GST_CCL_PROPERTY_ROW (GstCclTrack, settings.config.max_distance),
  [PROP_MAX_TRACKS] = GST_CCL_PROPERTY_ROW (GstCclTrack, settings.config.max_tracks),
  [PROP_EMIT] = GST_CCL_PROPERTY_ROW (GstCclTrack, settings.emit),
  [PROP_ID_RESET] = GST_CCL_PROPERTY_ROW (GstCclTrack, settings.id_reset),
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
      if (!gst_ccl_property_row_set (self, &fields[id], value))
        G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
  }
  GST_OBJECT_UNLOCK (self);
}

static GstStructure *
create_stats (GstCclTrack * self)
{
  const Stats *const stats = &self->stats;
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
      if (!gst_ccl_property_row_get (self, &fields[id], value))
        G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
  }
  GST_OBJECT_UNLOCK (self);
}

static void
install_properties (GObjectClass * klass)
{
  const GParamFlags playing = G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS | GST_PARAM_MUTABLE_PLAYING;
  const CclTrackerConfig config = ccl_tracker_config_default ();

  properties[PROP_METHOD] = g_param_spec_enum ("method", "Method", "How a blob is recognised",
      GST_TYPE_CCL_TRACK_METHOD, config.method, playing);
  properties[PROP_INPUT] = g_param_spec_enum ("input", "Input", "Which metadata is followed, and gets the ids",
      GST_TYPE_CCL_TRACK_INPUT, GST_CCL_TRACK_INPUT_AUTO, playing);
  properties[PROP_MAX_AGE] = g_param_spec_uint ("max-age", "Maximum age",
      "How long a confirmed track lives on unseen, frame intervals (frames that were not analysed do not count); 0: not "
      "at all", 0, 3600, config.max_age, playing);
  properties[PROP_MIN_HITS] = g_param_spec_uint ("min-hits", "Minimum hits",
      "Frames in a row in which a new track must be seen before it is confirmed", 1, 100, config.min_hits, playing);
  properties[PROP_IOU_THRESHOLD] = g_param_spec_double ("iou-threshold", "Overlap threshold",
      "Overlap of two boxes (intersection over union, up to 1) from which on they may be the same object, with "
      "method=kalman however far their centroids are",
      0, 1, config.iou_threshold, playing);
  properties[PROP_MAX_DISTANCE] = g_param_spec_double ("max-distance", "Maximum distance",
      "Gate of method=kalman: how far from its prediction a blob may be, in standard deviations (Mahalanobis distance)",
      0.1, 100, config.max_distance, playing);
  properties[PROP_MAX_TRACKS] = g_param_spec_uint ("max-tracks", "Maximum tracks",
      "Most tracks at a time; blobs beyond get none. A change ends all tracks", 1, CCL_TRACKER_MAX_TRACKS,
      config.max_tracks, playing);
  properties[PROP_PER_TYPE] = g_param_spec_boolean ("per-type", "Per type",
      "Regions and detections of different types are never the same object (not input=ccl)",
      !config.single_class, playing);
  properties[PROP_EMIT] = g_param_spec_flags ("emit", "Emit",
      "Which tracks are written besides those that are confirmed and seen", GST_TYPE_CCL_TRACK_EMIT,
      GST_CCL_TRACK_EMIT_TENTATIVE | GST_CCL_TRACK_EMIT_MERGED, playing);
  properties[PROP_ID_RESET] = g_param_spec_flags ("id-reset", "ID reset",
      "What ends all tracks; ids are never used again", GST_TYPE_CCL_ID_RESET,
      GST_CCL_ID_RESET_STREAM_START | GST_CCL_ID_RESET_FLUSH, playing);
  properties[PROP_HISTORY] = g_param_spec_uint ("history", "History",
      "Places of each track that are kept and attached to its blob as trail (input=ccl), frames, 8 bytes each; 0: none",
      0, MAX_HISTORY, DEFAULT_HISTORY, playing);
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
  g_array_unref (self->detections);
  g_array_unref (self->ids);
  g_hash_table_unref (self->lives);
  g_array_unref (self->points);
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
  self->settings = (Settings) {
    .config = ccl_tracker_config_default (),
    .emit = GST_CCL_TRACK_EMIT_TENTATIVE | GST_CCL_TRACK_EMIT_MERGED,
    .id_reset = GST_CCL_ID_RESET_STREAM_START | GST_CCL_ID_RESET_FLUSH,
    .history = DEFAULT_HISTORY,
  };
  self->settings.config.new_id = new_id;
  self->last_pts = self->mean_duration = self->frame_duration = GST_CLOCK_TIME_NONE;
  self->detections = g_array_new (FALSE, FALSE, sizeof (CclDetection));
  self->ids = g_array_new (FALSE, TRUE, sizeof (guint64));
  self->lives = g_hash_table_new_full (g_int64_hash, g_int64_equal, g_free, g_free);
  self->points = g_array_new (FALSE, FALSE, sizeof (GstCclPoint));
  gst_base_transform_set_in_place (GST_BASE_TRANSFORM (self), TRUE);
}
