/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* The schema of DL Streamer's gvametaconvert. */

#include "gstccljsonschemas.h"
#include "gstccljsonvalues.h"

#include <math.h>

/* The words for a blob of ours: pixels of a mask are certain. */
static GstCclJsonRegion
region_of_blob (const GstCclBlob * blob)
{
  return (GstCclJsonRegion) {
  .type = "blob",.id = blob->mtd_id != GST_CCL_MTD_ID_NONE ? blob->mtd_id : blob->label,.parent_id = -1,.label_id =
        0,.confidence = 1.0,};
}

static JsonObject *
bounding_box_object (const GstCclBlobMeta * meta, const gdouble * box)
{
  /* Its readers expect numbers. If the caps have no size, these are pixels. */
  const gdouble width = MAX (meta->width, 1), height = MAX (meta->height, 1);
  JsonObject *object = json_object_new ();

  json_object_set_member (object, "x_min", gst_ccl_json_new_number (box[0] / width));
  json_object_set_member (object, "x_max", gst_ccl_json_new_number ((box[0] + box[2]) / width));
  json_object_set_member (object, "y_min", gst_ccl_json_new_number (box[1] / height));
  json_object_set_member (object, "y_max", gst_ccl_json_new_number ((box[1] + box[3]) / height));
  return object;
}

static JsonObject *
detection_object (const GstCclBlobMeta * meta, const gdouble * box, const GstCclJsonRegion * region)
{
  JsonObject *object = json_object_new ();

  json_object_set_object_member (object, "bounding_box", bounding_box_object (meta, box));
  if (region->confidence >= 0 && region->confidence <= 1)
    json_object_set_member (object, "confidence", gst_ccl_json_new_number (region->confidence));
  json_object_set_member (object, "label", gst_ccl_json_new_string (region->type ? region->type : ""));
  if (region->label_id >= 0)
    json_object_set_int_member (object, "label_id", region->label_id);
  return object;
}

static JsonObject *
dlstreamer_region_object (const GstCclBlobMeta * meta, guint index, const GstCclJsonRegion * region)
{
  const GstCclBlob *blob = gst_ccl_blob_meta_get_blob (meta, index);
  JsonObject *object = json_object_new ();
  gdouble box[4];

  gst_ccl_blob_meta_get_box (meta, index, &box[0], &box[1], &box[2], &box[3]);
  /* The smallest box of whole pixels that covers the box. */
  const gdouble x0 = floor (box[0]), y0 = floor (box[1]);
  const gdouble x1 = ceil (box[0] + box[2]), y1 = ceil (box[1] + box[3]);

  json_object_set_member (object, "x", gst_ccl_json_new_measure (x0, TRUE));
  json_object_set_member (object, "y", gst_ccl_json_new_measure (y0, TRUE));
  json_object_set_member (object, "w", gst_ccl_json_new_measure (x1 - x0, TRUE));
  json_object_set_member (object, "h", gst_ccl_json_new_measure (y1 - y0, TRUE));
  json_object_set_int_member (object, "region_id", region->id);
  if (region->parent_id >= 0)
    json_object_set_int_member (object, "parent_id", region->parent_id);
  gst_ccl_json_set_id (object, "id", blob->track_id);
  json_object_set_member (object, "roi_type", gst_ccl_json_new_string (region->type ? region->type : ""));
  json_object_set_object_member (object, "detection", detection_object (meta, box, region));
  return object;
}

static JsonArray *
dlstreamer_regions (const GstCclJsonFrame * frame, guint n_blobs)
{
  JsonArray *objects = json_array_sized_new (n_blobs);

  for (guint i = 0; i < n_blobs; i++) {
    const GstCclJsonRegion region =
        frame->regions ? frame->regions[i] : region_of_blob (gst_ccl_blob_meta_get_blob (frame->blobs, i));

    json_array_add_object_element (objects, dlstreamer_region_object (frame->blobs, i, &region));
  }
  return objects;
}

/* Its consumers expect a field that is unknown or empty to be absent. */
JsonObject *
gst_ccl_json_dlstreamer_object (const GstCclJsonFrame * frame)
{
  const GstCclBlobMeta *meta = frame->blobs;
  const guint n_blobs = gst_ccl_blob_meta_get_length (meta);
  JsonObject *object = json_object_new ();
  gchar *utc = gst_ccl_json_utc (frame->utc);

  if (n_blobs > 0)
    json_object_set_array_member (object, "objects", dlstreamer_regions (frame, n_blobs));
  json_object_set_object_member (object, "resolution", gst_ccl_json_new_size ("width", meta->width, "height",
          meta->height));
  json_object_set_member (object, "source", gst_ccl_json_new_string (frame->source));
  if (gst_ccl_json_fits (frame->stream_time))
    json_object_set_int_member (object, "timestamp", (gint64) frame->stream_time);
  if (utc)
    json_object_set_string_member (object, "system_timestamp", utc);
  g_free (utc);
  return object;
}
