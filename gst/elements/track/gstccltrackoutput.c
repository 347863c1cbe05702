/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "gstccltrackoutput.h"

#include <gst/ccl/gstcclblobmeasures.h>

#define STATE_FLAGS (GST_CCL_BLOB_FLAG_TENTATIVE | GST_CCL_BLOB_FLAG_CONFIRMED | GST_CCL_BLOB_FLAG_PREDICTED \
    | GST_CCL_BLOB_FLAG_LOST | GST_CCL_BLOB_FLAG_MERGED | GST_CCL_BLOB_FLAG_SPLIT)

/* Tracks are in the order of their ids. */
static const CclTrack *
find_track (const GstCclTrackResults * results, guint64 id)
{
  const CclTrack *const tracks = results->tracks;
  guint low = 0, high = results->n_tracks;

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

/* The track to write to detection `index`; NULL for none. `tentative`: the flag of emit for tracks that are not confirmed. */
static const CclTrack *
track_of (const GstCclTrackResults * results, guint index, guint tentative)
{
  const guint64 id = results->ids[index];
  const CclTrack *const track = id != 0 ? find_track (results, id) : NULL;

  if (track && track->state == CCL_TRACK_TENTATIVE && !(results->emit & tentative))
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

/* A blob that several tracks share has no id where these tracks are listed too. Else it has the id of its first track. */
static void
name_blob (const GstCclTrackResults * results, GstCclBlob * blob, guint index)
{
  const CclTrack *const track = track_of (results, index, GST_CCL_TRACK_EMIT_TENTATIVE);

  blob->flags &= ~STATE_FLAGS;
  blob->track_id = blob->parent_id = 0;
  blob->age = 0;
  if (!track)
    return;
  if (track->flags & CCL_TRACK_MERGED && results->emit & GST_CCL_TRACK_EMIT_MERGED) {
    blob->flags |= GST_CCL_BLOB_FLAG_MERGED;
    return;
  }
  write_track (blob, track);
  if (track->flags & CCL_TRACK_MERGED && track->state == CCL_TRACK_PREDICTED)
    blob->flags ^= GST_CCL_BLOB_FLAG_PREDICTED | GST_CCL_BLOB_FLAG_CONFIRMED;
}

static gboolean
should_add (const GstCclTrackResults * results, const CclTrack * track)
{
  const guint emit = results->emit;

  if (track->state == CCL_TRACK_LOST)
    return (emit & GST_CCL_TRACK_EMIT_LOST) && track->hits >= results->min_hits;
  if (track->flags & CCL_TRACK_MERGED)
    return (emit & GST_CCL_TRACK_EMIT_MERGED) != 0;
  return track->state == CCL_TRACK_PREDICTED && (emit & GST_CCL_TRACK_EMIT_PREDICTED);
}

/* The upright box around the track's box, in whole pixels of the mask. */
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

static gboolean
append_contour (const GstCclTrackResults * results, GstCclBlob * blob, const GstCclBlobMeta * meta, guint index)
{
  guint n;
  const GstCclPoint *const contour = gst_ccl_blob_list_get_contour (meta->list, index, &n);

  blob->first_point = results->points->len;
  blob->n_contour = n;
  blob->n_trail = 0;
  return gst_ccl_vector_append (results->points, contour, n);
}

/* Places are kept in pixels of the frame; this frame's matrix maps them to the mask. */
static gboolean
append_trail (const GstCclTrackResults * results, GstCclBlob * blob, const GstCclBlobMeta * meta)
{
  const GstCclSeenTrack *const seen =
      blob->track_id != 0 ? gst_ccl_seen_tracks_find (results->seen_tracks, blob->track_id) : NULL;
  const guint first = results->points->len;

  if (!seen || seen->trail->n == 0)
    return TRUE;
  if (!gst_ccl_trail_ring_append_to (seen->trail, results->points))
    return FALSE;
  blob->n_trail = seen->trail->n;
  if (gst_ccl_blob_meta_is_identity (meta))
    return TRUE;
  for (guint i = first; i < results->points->len; i++) {
    GstCclPoint *const place = gst_ccl_vector_at (results->points, GstCclPoint, i);
    gdouble x = place->x, y = place->y;

    if (gst_ccl_blob_meta_unmap_point (meta, &x, &y))
      *place = (GstCclPoint) { x, y};
  }
  return TRUE;
}

/* The blobs of the frame, without those that an earlier tracker added. FALSE without memory. */
static gboolean
add_named_blobs (const GstCclTrackResults * results, const GstCclBlobMeta * meta)
{
  const guint n = gst_ccl_blob_meta_get_length (meta);

  for (guint i = 0; i < n; i++) {
    GstCclBlob blob = *gst_ccl_blob_meta_get_blob (meta, i);

    if (gst_ccl_track_is_added (&blob))
      continue;
    if (i < results->n_ids)
      name_blob (results, &blob, i);
    if (!append_contour (results, &blob, meta, i) || !append_trail (results, &blob, meta)
        || !gst_ccl_vector_append (results->blobs, &blob, 1))
      return FALSE;
  }
  return TRUE;
}

/* Adds a blob for each track that has none of its own. FALSE without memory. */
static gboolean
add_tracks (const GstCclTrackResults * results, const GstCclBlobMeta * meta)
{
  for (guint i = 0; i < results->n_tracks; i++) {
    const CclTrack *const track = &results->tracks[i];
    GstCclBlob blob = {.mtd_id = GST_CCL_MTD_ID_NONE };

    if (!should_add (results, track) || !set_box_in_mask (&blob, track, meta))
      continue;
    write_track (&blob, track);
    blob.first_point = results->points->len;
    if (!append_trail (results, &blob, meta) || !gst_ccl_vector_append (results->blobs, &blob, 1))
      return FALSE;
  }
  return TRUE;
}

static GstCclBlobList *
new_list (const GstCclTrackResults * results)
{
  GstCclBlobList *list = gst_ccl_blob_list_new (results->blobs->data, results->blobs->len);
  GBytes *points;

  if (list && results->points->len > 0) {
    points = gst_ccl_bytes_try_new (results->points->data, results->points->len * sizeof (GstCclPoint));
    if (points) {
      gst_ccl_blob_list_set_points (list, points);
      g_bytes_unref (points);
    } else {
      g_clear_pointer (&list, gst_ccl_blob_list_unref);
    }
  }
  return list;
}

/* Copies of the buffer may hold the old list, so a new one is written. FALSE without memory. */
static gboolean
write_blobs (const GstCclTrackResults * results, GstCclBlobMeta * meta)
{
  GstCclBlobList *list;
  guint n;

  results->blobs->len = results->points->len = 0;
  if (!add_named_blobs (results, meta))
    return FALSE;
  n = results->blobs->len;
  if (!add_tracks (results, meta) || !(list = new_list (results)))
    return FALSE;
  meta->flags &= ~GST_CCL_BLOB_META_FLAG_PREDICTED_ONLY;
  if (n == 0 && results->blobs->len > 0)
    meta->flags |= GST_CCL_BLOB_META_FLAG_PREDICTED_ONLY;
  gst_ccl_blob_list_copy_columns (list, meta->list);
  gst_ccl_blob_meta_set_list (meta, list);
  gst_ccl_blob_list_unref (list);
  return TRUE;
}

/* DL Streamer's elements write and read an int, so larger ids wrap around. */
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
write_rois (const GstCclTrackResults * results, GstBuffer * buffer)
{
  GstVideoRegionOfInterestMeta *roi;
  gpointer state = NULL;

  for (guint i = 0; i < results->n_ids && (roi = gst_ccl_next_roi (buffer, &state)); i++) {
    const CclTrack *const track = track_of (results, i, GST_CCL_TRACK_EMIT_TENTATIVE_BOXES);

    if (track)
      write_roi (roi, track->id);
  }
}

/* FALSE: the region mirrors blobs of an element further upstream. */
static gboolean
is_mirror_of (const GstStructure * mirror, const GstCclBlobMeta * meta)
{
  const gchar *const source = gst_structure_get_string (mirror, "source");

  return !source || !meta->source || g_str_equal (source, g_quark_to_string (meta->source));
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

    if (!mirror || !is_mirror_of (mirror, meta) || !gst_structure_get_uint (mirror, "label", &label))
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
write_object (const GstCclTrackResults * results, GstAnalyticsRelationMeta * relations, guint object, guint64 id,
    GstClockTime now)
{
  const GstCclSeenTrack *const seen = gst_ccl_seen_tracks_find (results->seen_tracks, id);
  GstAnalyticsTrackingMtd tracking;

  if (!gst_analytics_relation_meta_add_tracking_mtd (relations, id, seen ? seen->first_seen : now, &tracking))
    return;
  gst_analytics_tracking_mtd_update_last_seen (&tracking, now);
  gst_analytics_relation_meta_set_relation (relations, GST_ANALYTICS_REL_TYPE_RELATE_TO, object, tracking.id);
}
#endif

/* FALSE: no memory. */
static gboolean
write_objects (const GstCclTrackResults * results, GstBuffer * buffer)
{
#ifdef HAVE_GST_ANALYTICS
  GstAnalyticsRelationMeta *const relations = gst_buffer_get_analytics_relation_meta (buffer);
  GstAnalyticsODMtd object;
  gpointer state = NULL;
  guint *const objects = g_try_new (guint, results->n_ids);
  guint n = 0;

  if (!objects && results->n_ids > 0)
    return FALSE;
  /* All are listed first, because the iteration would also visit what is added. */
  while (n < results->n_ids && gst_ccl_next_detection (relations, &state, &object))
    objects[n++] = object.id;
  for (guint i = 0; i < n; i++) {
    const CclTrack *const track = track_of (results, i, GST_CCL_TRACK_EMIT_TENTATIVE_BOXES);

    if (track)
      write_object (results, relations, objects[i], track->id, GST_BUFFER_PTS (buffer));
  }
  g_free (objects);
#endif
  return TRUE;
}

static void
write_mirrored_objects (const GstCclTrackResults * results, GstBuffer * buffer, const GstCclBlobMeta * meta)
{
#ifdef HAVE_GST_ANALYTICS
  GstAnalyticsRelationMeta *const relations = gst_buffer_get_analytics_relation_meta (buffer);
  const guint n = gst_ccl_blob_meta_get_length (meta);

  for (guint i = 0; relations && i < n; i++) {
    const GstCclBlob *const blob = gst_ccl_blob_meta_get_blob (meta, i);

    if (blob->track_id != 0 && blob->mtd_id != GST_CCL_MTD_ID_NONE)
      write_object (results, relations, blob->mtd_id, blob->track_id, GST_BUFFER_PTS (buffer));
  }
#endif
}

gboolean
gst_ccl_track_results_write (const GstCclTrackResults * results, GstBuffer * buffer, GstCclTrackInput input)
{
  GstCclBlobMeta *const meta = gst_buffer_get_ccl_blob_meta (buffer);

  if (input == GST_CCL_TRACK_INPUT_CCL && meta) {
    if (!write_blobs (results, meta))
      return FALSE;
    write_mirrored_rois (buffer, meta);
    write_mirrored_objects (results, buffer, meta);
  } else if (input == GST_CCL_TRACK_INPUT_ROI) {
    write_rois (results, buffer);
  } else if (input == GST_CCL_TRACK_INPUT_ANALYTICS) {
    return write_objects (results, buffer);
  }
  return TRUE;
}
