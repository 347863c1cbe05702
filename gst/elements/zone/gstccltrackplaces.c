/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "gstccltrackplaces.h"

#include "base/gstcclmetas.h"

/* All blobs of one track in a frame. */
typedef struct
{
  guint64 id;
  gdouble weight, x, y;         /* sums of areas, and of centroids times area */
  gdouble area;
  gdouble x0, y0, x1, y1;
  gdouble largest;              /* weight of a blob with a class */
  guint32 class_number;         /* its class + 1; 0: none has one */
} Sum;

/* A predicted blob has no area; its box stands in for it. */
static void
add_blob (Sum * sum, const GstCclBlobMeta * meta, guint index)
{
  const gdouble area = gst_ccl_blob_meta_get_area (meta, index);
  const GstCclBlobPlace place = gst_ccl_blob_get_place (meta, index);
  const gdouble weight = area > 0 ? area : (place.x1 - place.x0) * (place.y1 - place.y0);
  guint class_id;

  sum->x0 = sum->weight > 0 ? MIN (sum->x0, place.x0) : place.x0;
  sum->y0 = sum->weight > 0 ? MIN (sum->y0, place.y0) : place.y0;
  sum->x1 = sum->weight > 0 ? MAX (sum->x1, place.x1) : place.x1;
  sum->y1 = sum->weight > 0 ? MAX (sum->y1, place.y1) : place.y1;
  sum->x += weight * place.x;
  sum->y += weight * place.y;
  sum->weight += weight;
  sum->area += area;
  if (weight > sum->largest && gst_ccl_blob_meta_get_class_id (meta, index, &class_id)) {
    sum->largest = weight;
    sum->class_number = class_id + 1;
  }
}

static GstCclTrackPlace
place_of_sum (const Sum * sum, gboolean centroid)
{
  const gdouble weight = sum->weight > 0 ? sum->weight : 1;

  return (GstCclTrackPlace) {
    .id = sum->id,.x = centroid ? sum->x / weight : (sum->x0 + sum->x1) / 2,.y = centroid ? sum->y / weight : sum->y1 - 0.5,    /* in the lowest row of its pixels, not below it */
  .area = sum->area,.height = sum->y1 - sum->y0,.class_number = sum->class_number,};
}

GstCclTrackPlace
gst_ccl_track_place_of_blob (const GstCclBlobMeta * meta, guint index, gboolean centroid)
{
  Sum sum = { 0 };

  add_blob (&sum, meta, index);
  return place_of_sum (&sum, centroid);
}

GstCclTrackPlace *
gst_ccl_track_places_new (const GstCclBlobMeta * meta, gboolean (*is_wanted) (const GstCclBlob * blob),
    gboolean centroid, guint * n_places)
{
  const guint n = gst_ccl_blob_meta_get_length (meta);
  const GstCclBlob *const blobs = gst_ccl_blob_list_get (meta->list, 0);
  Sum *const sums = g_try_new (Sum, MAX (n, 1));
  GstCclTrackPlace *const places = g_try_new (GstCclTrackPlace, MAX (n, 1));
  GHashTable *index_of;

  *n_places = 0;
  if (!sums || !places) {
    g_free (sums);
    g_free (places);
    return NULL;
  }
  index_of = g_hash_table_new (g_int64_hash, g_int64_equal);
  for (guint i = 0; i < n; i++) {
    gpointer index;

    if (!is_wanted (&blobs[i]))
      continue;
    if (!g_hash_table_lookup_extended (index_of, &blobs[i].track_id, NULL, &index)) {
      index = GUINT_TO_POINTER (*n_places);
      g_hash_table_insert (index_of, (gpointer) & blobs[i].track_id, index);
      sums[(*n_places)++] = (Sum) {
      .id = blobs[i].track_id};
    }
    add_blob (&sums[GPOINTER_TO_UINT (index)], meta, i);
  }
  for (guint i = 0; i < *n_places; i++)
    places[i] = place_of_sum (&sums[i], centroid);
  g_free (sums);
  g_hash_table_unref (index_of);
  return places;
}
