/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Identities and tracks, written into the metadata of a frame. */

#include "gstccltrackprivate.h"

#include <string.h>

#define GST_CAT_DEFAULT gst_ccl_track_debug

#define STATE_FLAGS (GST_CCL_BLOB_FLAG_TENTATIVE | GST_CCL_BLOB_FLAG_CONFIRMED | GST_CCL_BLOB_FLAG_PREDICTED \
    | GST_CCL_BLOB_FLAG_LOST | GST_CCL_BLOB_FLAG_MERGED | GST_CCL_BLOB_FLAG_SPLIT)

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
  const GstCclTrackLife *const life = blob->track_id != 0 ? g_hash_table_lookup (self->lives, &blob->track_id) : NULL;
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

    if (gst_ccl_track_is_added (blob))
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

  for (guint i = 0; i < self->ids->len && (roi = gst_ccl_next_roi (buffer, &state)); i++) {
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

  while ((roi = gst_ccl_next_roi (buffer, &state))) {
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
  const GstCclTrackLife *const life = g_hash_table_lookup (self->lives, &id);
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
  while (gst_ccl_track_next_object (relations, &state, &object))
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

void
gst_ccl_track_write_results (GstCclTrack * self, GstBuffer * buffer, GstCclTrackInput input)
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
