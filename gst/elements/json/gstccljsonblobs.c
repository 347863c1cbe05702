/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* The schema "ccl-blob-1". */

#include <math.h>

#include <gst/ccl/gstcclblobmeasures.h>

#include "gstccljsonschemas.h"
#include "gstccljsonvalues.h"

static const GstCclJsonFlagWord border_words[] = {
  {GST_CCL_BLOB_FLAG_TOUCHES_LEFT, "left"},
  {GST_CCL_BLOB_FLAG_TOUCHES_TOP, "top"},
  {GST_CCL_BLOB_FLAG_TOUCHES_RIGHT, "right"},
  {GST_CCL_BLOB_FLAG_TOUCHES_BOTTOM, "bottom"},
};

static const GstCclJsonFlagWord state_words[] = {
  {GST_CCL_BLOB_FLAG_TENTATIVE, "tentative"},
  {GST_CCL_BLOB_FLAG_CONFIRMED, "confirmed"},
  {GST_CCL_BLOB_FLAG_PREDICTED, "predicted"},
  {GST_CCL_BLOB_FLAG_LOST, "lost"},
  {GST_CCL_BLOB_FLAG_MERGED, "merged"},
  {GST_CCL_BLOB_FLAG_SPLIT, "split"},
};

static void
set_box (JsonObject * object, const gdouble box[4], gboolean whole)
{
  JsonArray *const array = json_array_sized_new (4);

  for (guint i = 0; i < 4; i++)
    json_array_add_element (array, gst_ccl_json_new_measure (box[i], whole));
  json_object_set_array_member (object, "bbox", array);
}

/* Names of the zones a blob is in. */
static JsonArray *
zone_names_array (const GstCclZoneMeta * zones, guint32 bits)
{
  JsonArray *array = json_array_new ();

  for (guint i = 0; i < zones->n_zones; i++)
    if (bits & (1u << i))
      json_array_add_element (array, gst_ccl_json_new_string (zones->zones[i].name));
  return array;
}

/* The counts of each zone. */
static JsonArray *
zones_array (const GstCclZoneMeta * zones)
{
  JsonArray *array = json_array_sized_new (zones->n_zones);

  for (guint i = 0; i < zones->n_zones; i++) {
    const GstCclZone *zone = &zones->zones[i];
    JsonObject *object = json_object_new ();

    json_object_set_member (object, "name", gst_ccl_json_new_string (zone->name));
    if (zone->kind == GST_CCL_ZONE_POLYGON)
      json_object_set_int_member (object, "inside", zone->n_inside);
    gst_ccl_json_set_count (object, "forward", zone->n_forward);
    gst_ccl_json_set_count (object, "backward", zone->n_backward);
    json_array_add_object_element (array, object);
  }
  return array;
}

/* Adds [x, y] of each point, minus `shift`; no member without points. Takes the values. */
static void
set_points (JsonObject * object, const gchar * name, gdouble * values, guint n_values, gdouble shift, gboolean whole)
{
  JsonArray *points = n_values > 0 ? json_array_sized_new (n_values / 2) : NULL;

  for (guint i = 0; i < n_values; i += 2) {
    JsonArray *const point = json_array_sized_new (2);

    json_array_add_element (point, gst_ccl_json_new_measure (values[i] - shift, whole));
    json_array_add_element (point, gst_ccl_json_new_measure (values[i + 1] - shift, whole));
    json_array_add_array_element (points, point);
  }
  if (points)
    json_object_set_array_member (object, name, points);
  g_free (values);
}

/* With ccllabel features=shape. */
static void
set_shape (JsonObject * object, const GstCclBlobMeta * meta, guint index)
{
  gint euler_number;
  guint n_holes;
  gdouble crack, crofton, circularity, compactness;

  if (!gst_ccl_blob_meta_get_holes (meta, index, &euler_number, &n_holes))
    return;
  gst_ccl_blob_meta_get_perimeter (meta, index, &crack, &crofton);
  gst_ccl_blob_meta_get_circularity (meta, index, &circularity, &compactness);
  json_object_set_int_member (object, "euler_number", euler_number);
  json_object_set_int_member (object, "n_holes", n_holes);
  json_object_set_int_member (object, "perimeter_crack", (gint64) crack);
  json_object_set_member (object, "perimeter_crofton", gst_ccl_json_new_number (crofton));
  json_object_set_member (object, "circularity", gst_ccl_json_new_number (circularity));
  json_object_set_member (object, "compactness", gst_ccl_json_new_number (compactness));
}

/* The smallest rectangle in the frame. Scaled differently in x and y it is a parallelogram, of which these are the sides. */
static void
set_rect (JsonObject * object, const GstCclBlobMeta * meta, guint index)
{
  gdouble center[2], size[2], angle, *corners;
  guint n_values;

  gst_ccl_blob_meta_get_min_rect (meta, index, &size[0], &size[1], &angle);
  gst_ccl_blob_meta_get_min_rect_center (meta, index, &center[0], &center[1]);
  corners =
      gst_ccl_blob_meta_is_identity (meta) ? NULL : gst_ccl_blob_meta_get_min_rect_corners (meta, index, &n_values);
  if (corners) {
    const gdouble sides[2][2] = {
      {corners[2] - corners[0], corners[3] - corners[1]}, {corners[4] - corners[2], corners[5] - corners[3]}
    };
    const gdouble lengths[] = { hypot (sides[0][0], sides[0][1]), hypot (sides[1][0], sides[1][1]) };
    const guint longer = lengths[1] > lengths[0] ? 1 : 0;

    for (guint i = 0; i < 2; i++)
      center[i] = (corners[i] + corners[4 + i]) / 2 - 0.5;
    size[0] = lengths[longer];
    size[1] = lengths[1 - longer];
    angle = atan2 (sides[longer][1], sides[longer][0]);
    angle -= angle > G_PI_2 ? G_PI : 0;
    angle += angle <= -G_PI_2 ? G_PI : 0;
    g_free (corners);
  }
  gst_ccl_json_set_numbers (object, "rect_center", center, 2);
  gst_ccl_json_set_numbers (object, "rect_size", size, 2);
  json_object_set_member (object, "rect_angle", gst_ccl_json_new_number (angle));
}

/* With ccllabel features=hull. */
static void
set_hull (JsonObject * object, const GstCclBlobMeta * meta, guint index)
{
  gdouble area, perimeter, solidity, convexity, feret[2], equivalent[2];

  if (!gst_ccl_blob_meta_get_hull (meta, index, &area, &perimeter, &solidity))
    return;
  gst_ccl_blob_meta_get_feret (meta, index, &feret[0], &feret[1]);
  gst_ccl_blob_get_equivalent_rect (gst_ccl_blob_meta_get_blob (meta, index), &equivalent[0], &equivalent[1]);
  json_object_set_member (object, "area_convex", gst_ccl_json_new_number (area));
  json_object_set_member (object, "solidity", gst_ccl_json_new_number (solidity));
  json_object_set_member (object, "perimeter_convex", gst_ccl_json_new_number (perimeter));
  if (gst_ccl_blob_meta_get_convexity (meta, index, &convexity))
    json_object_set_member (object, "convexity", gst_ccl_json_new_number (convexity));
  json_object_set_member (object, "feret_diameter_max", gst_ccl_json_new_number (feret[0]));
  json_object_set_member (object, "min_feret", gst_ccl_json_new_number (feret[1]));
  set_rect (object, meta, index);
  gst_ccl_json_set_numbers (object, "equivalent_rect", equivalent, 2);
}

/* With ccllabel features=holes. Areas are in pixels of the mask. */
static void
set_holes (JsonObject * object, const GstCclBlobMeta * meta, guint index, gboolean whole)
{
  guint64 area_filled;
  guint n_holes, n_listed;
  const GstCclHole *const listed = gst_ccl_blob_meta_list_holes (meta, index, &n_listed);
  JsonArray *holes;

  if (!gst_ccl_blob_meta_get_filled_area (meta, index, &area_filled, &n_holes))
    return;
  holes = json_array_sized_new (n_listed);
  for (guint i = 0; i < n_listed; i++) {
    JsonObject *const entry = json_object_new ();
    gdouble box[4];

    gst_ccl_blob_meta_get_hole_box (meta, &listed[i], &box[0], &box[1], &box[2], &box[3]);
    json_object_set_int_member (entry, "area", listed[i].area);
    json_object_set_int_member (entry, "area_filled", listed[i].area_filled);
    set_box (entry, box, whole);
    json_array_add_object_element (holes, entry);
  }
  json_object_set_int_member (object, "n_holes", n_holes);
  json_object_set_int_member (object, "area_filled", (gint64) area_filled);
  json_object_set_array_member (object, "holes", holes);
}

/* With ccllabel features=intensity. */
static void
set_intensity (JsonObject * object, const GstCclBlobMeta * meta, guint index)
{
  gdouble range[2], mean, std, chroma[2], centroid[2], cov[3];

  if (!gst_ccl_blob_meta_get_intensity (meta, index, &range[0], &range[1], &mean, &std))
    return;
  json_object_set_int_member (object, "intensity_min", (gint64) range[0]);
  json_object_set_int_member (object, "intensity_max", (gint64) range[1]);
  json_object_set_member (object, "intensity_mean", gst_ccl_json_new_number (mean));
  json_object_set_member (object, "intensity_std", gst_ccl_json_new_number (std));
  if (gst_ccl_blob_meta_get_chroma (meta, index, &chroma[0], &chroma[1])) {
    json_object_set_member (object, "cb_mean", gst_ccl_json_new_number (chroma[0]));
    json_object_set_member (object, "cr_mean", gst_ccl_json_new_number (chroma[1]));
  }
  if (gst_ccl_blob_meta_get_weighted_centroid (meta, index, &centroid[0], &centroid[1])) {
    gst_ccl_blob_meta_get_weighted_covariance (meta, index, &cov[0], &cov[1], &cov[2]);
    gst_ccl_json_set_numbers (object, "centroid_weighted", centroid, 2);
    gst_ccl_json_set_numbers (object, "cov_weighted", cov, 3);
  }
}

static JsonObject *
ccl_blob_object (const GstCclJsonFrame * frame, guint index, gboolean whole)
{
  const GstCclBlobMeta *meta = frame->blobs;
  const GstCclBlob *blob = gst_ccl_blob_meta_get_blob (meta, index);
  JsonObject *object = json_object_new ();
  gdouble *points;
  guint n_values, class_id;
  gdouble box[4], centroid[2], cov[3], axes[2], orientation;

  gst_ccl_blob_meta_get_box (meta, index, &box[0], &box[1], &box[2], &box[3]);
  gst_ccl_blob_meta_get_centroid (meta, index, &centroid[0], &centroid[1]);
  gst_ccl_blob_meta_get_covariance (meta, index, &cov[0], &cov[1], &cov[2]);
  gst_ccl_blob_meta_get_axes (meta, index, &axes[0], &axes[1], &orientation);

  json_object_set_int_member (object, "label", blob->label);
  set_box (object, box, whole);
  json_object_set_member (object, "area", gst_ccl_json_new_measure (gst_ccl_blob_meta_get_area (meta, index), whole));
  gst_ccl_json_set_numbers (object, "centroid", centroid, 2);
  gst_ccl_json_set_numbers (object, "cov", cov, 3);
  json_object_set_member (object, "orientation", gst_ccl_json_new_number (orientation));
  gst_ccl_json_set_numbers (object, "axes", axes, 2);
  if (gst_ccl_blob_meta_get_class_id (meta, index, &class_id))
    json_object_set_int_member (object, "class_id", class_id);
  set_shape (object, meta, index);
  set_hull (object, meta, index);
  set_holes (object, meta, index, whole);
  set_intensity (object, meta, index);
  gst_ccl_json_set_flag_words (object, "border", blob->flags, border_words, G_N_ELEMENTS (border_words));
  gst_ccl_json_set_id (object, "track", blob->track_id);
  gst_ccl_json_set_id (object, "parent", blob->parent_id);
  gst_ccl_json_set_id (object, "volume", blob->volume_id);
  gst_ccl_json_set_flag_words (object, "state", blob->flags, state_words, G_N_ELEMENTS (state_words));
  if (frame->zones)
    json_object_set_array_member (object, "zones", zone_names_array (frame->zones, blob->zones));
  points = gst_ccl_blob_meta_get_contour (meta, index, &n_values);
  set_points (object, "polygon", points, n_values, 0, whole);
  if (frame->trails) {
    /* Like the centroid: the centre of a pixel is an integer. */
    points = gst_ccl_blob_meta_get_trail (meta, index, &n_values);
    set_points (object, "trail", points, n_values, 0.5, FALSE);
  }
  return object;
}

void
gst_ccl_json_set_envelope (JsonObject * object, const GstCclJsonFrame * frame, const gchar * schema)
{
  gchar *const utc = gst_ccl_json_utc (frame->utc);

  json_object_set_string_member (object, "schema", schema);
  json_object_set_member (object, "source", gst_ccl_json_new_string (frame->source));
  json_object_set_int_member (object, "seq", (gint64) frame->seq);
  json_object_set_member (object, "pts", gst_ccl_json_new_time (frame->pts));
  json_object_set_member (object, "running_time", gst_ccl_json_new_time (frame->running_time));
  json_object_set_member (object, "stream_time", gst_ccl_json_new_time (frame->stream_time));
  json_object_set_member (object, "utc", gst_ccl_json_new_string (utc));
  json_object_set_string_member (object, "time_source", frame->time_source);
  g_free (utc);
}

JsonObject *
gst_ccl_json_blobs_object (const GstCclJsonFrame * frame)
{
  const GstCclBlobMeta *meta = frame->blobs;
  const gboolean whole = gst_ccl_blob_meta_is_identity (meta);
  const guint n_blobs = gst_ccl_blob_meta_get_length (meta);
  JsonObject *object = json_object_new ();
  JsonArray *blobs = json_array_sized_new (n_blobs);

  for (guint i = 0; i < n_blobs; i++)
    json_array_add_object_element (blobs, ccl_blob_object (frame, i, whole));

  gst_ccl_json_set_envelope (object, frame, "ccl-blob-1");
  json_object_set_object_member (object, "frame", gst_ccl_json_new_size ("w", meta->width, "h", meta->height));
  json_object_set_int_member (object, "total", meta->n_total);
  json_object_set_boolean_member (object, "truncated", (meta->flags & GST_CCL_BLOB_META_FLAG_TRUNCATED) != 0);
  if (meta->flags & GST_CCL_BLOB_META_FLAG_HOLES_TRUNCATED)
    json_object_set_boolean_member (object, "holes_truncated", TRUE);
  if (!frame->is_analysed)
    json_object_set_boolean_member (object, "analysed", FALSE);
  json_object_set_array_member (object, "blobs", blobs);
  if (frame->zones)
    json_object_set_array_member (object, "zones", zones_array (frame->zones));
  return object;
}
