/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* cclmeta2json: each field of a line, and names that are no text. */

#include "cclmeta2json.h"

#include <string.h>

static gboolean
is_whole (JsonNode * node)
{
  return JSON_NODE_HOLDS_VALUE (node) && json_node_get_value_type (node) == G_TYPE_INT64;
}

GST_START_TEST (test_line_byte_for_byte)
{
  GstHarness *h = new_harness ();
  gchar *line;

  gst_harness_set (h, "cclmeta2json", "source-id", "cam \"1\"", NULL);
  line = push_for_line (h, small_frame (2));
  fail_unless_equals_string (line,
      "{\"schema\":\"ccl-blob-1\",\"source\":\"cam \\\"1\\\"\",\"seq\":0,\"pts\":80000000,\"running_time\":80000000,"
      "\"stream_time\":80000000,\"utc\":null,\"time_source\":\"none\",\"frame\":{\"w\":320,\"h\":240},\"total\":1,"
      "\"truncated\":false,\"blobs\":[{\"label\":1,\"bbox\":[10,20,3,2],\"area\":6,\"centroid\":[11.0,20.5],"
      "\"cov\":[0.66666666666666663,0.0,0.25],\"orientation\":1.5707963267948966,"
      "\"axes\":[3.2659863237109041,2.0]}]}");
  g_free (line);
  gst_harness_teardown (h);
}

GST_END_TEST;

/* The object has each number of the blob, bit for bit. */
static void
assert_blob (JsonObject * object, const GstCclBlobMeta * meta, guint index)
{
  const GstCclBlob *const blob = gst_ccl_blob_meta_get_blob (meta, index);
  gdouble cx, cy, xx, xy, yy, major, minor, orientation;

  gst_ccl_blob_meta_get_centroid (meta, index, &cx, &cy);
  gst_ccl_blob_meta_get_covariance (meta, index, &xx, &xy, &yy);
  gst_ccl_blob_meta_get_axes (meta, index, &major, &minor, &orientation);
  fail_unless_equals_int (json_object_get_int_member (object, "label"), index + 1);
  fail_unless_equals_int (number_at (object, "bbox", 0), blob->x);
  fail_unless_equals_int (number_at (object, "bbox", 1), blob->y);
  fail_unless_equals_int (number_at (object, "bbox", 2), blob->width);
  fail_unless_equals_int (number_at (object, "bbox", 3), blob->height);
  fail_unless (is_whole (json_array_get_element (json_object_get_array_member (object, "bbox"), 0)));
  fail_unless (is_whole (json_object_get_member (object, "area")));
  fail_unless_equals_int (json_object_get_int_member (object, "area"), blob->area);
  fail_unless (number_at (object, "centroid", 0) == cx && number_at (object, "centroid", 1) == cy);
  fail_unless (number_at (object, "cov", 0) == xx && number_at (object, "cov", 1) == xy &&
      number_at (object, "cov", 2) == yy);
  fail_unless (json_object_get_double_member (object, "orientation") == orientation);
  fail_unless (number_at (object, "axes", 0) == major && number_at (object, "axes", 1) == minor);
}

/* Many blobs with awkward numbers: each double comes back bit for bit. */
GST_START_TEST (test_every_field_read_back)
{
  GstHarness *h = new_harness ();
  GstBuffer *frame = video_frame (7);
  GstCclBlob blobs[50];
  GstCclBlobMeta *meta;
  GstBuffer *copy;
  JsonNode *line;
  JsonObject *object;
  JsonArray *array;

  for (guint i = 0; i < G_N_ELEMENTS (blobs); i++) {
    GstCclBlob dot = rectangle (0, 3 * i, 200, 1, 1 + i % 7);

    blobs[i] = rectangle (i + 1, 2 * i, i, 1 + i % 5, 1 + i % 3);
    blobs[i].m10 += dot.m10;
    blobs[i].m01 += dot.m01;
    blobs[i].m20 += dot.m20;
    blobs[i].m11 += dot.m11;
    blobs[i].m02 += dot.m02;
    blobs[i].area += dot.area;
  }
  meta = attach_blobs (frame, blobs, G_N_ELEMENTS (blobs));
  meta->n_total = 4452;
  meta->flags = GST_CCL_BLOB_META_FLAG_TRUNCATED;
  copy = gst_buffer_copy (frame);
  meta = gst_buffer_get_ccl_blob_meta (copy);

  line = push_in_both (h, frame);
  assert_schema ("ccl-blob-1.schema.json", line);
  object = json_node_get_object (line);
  fail_unless_equals_int (json_object_get_int_member (object, "total"), 4452);
  fail_unless (json_object_get_boolean_member (object, "truncated"));
  array = json_object_get_array_member (object, "blobs");
  fail_unless_equals_int (json_array_get_length (array), G_N_ELEMENTS (blobs));

  for (guint i = 0; i < G_N_ELEMENTS (blobs); i++)
    assert_blob (json_array_get_object_element (array, i), meta, i);
  json_node_unref (line);
  gst_buffer_unref (copy);
  gst_harness_teardown (h);
}

GST_END_TEST;

GST_START_TEST (test_optional_fields)
{
  GstHarness *h = new_harness ();
  GstBuffer *frame = video_frame (0);
  GstCclBlob blobs[3] = { rectangle (1, 0, 0, 2, 2), rectangle (2, 9, 9, 2, 2), rectangle (3, 318, 50, 2, 190) };
  JsonNode *line;
  JsonArray *array;
  JsonObject *blob;

  blobs[0].flags = GST_CCL_BLOB_FLAG_TOUCHES_LEFT | GST_CCL_BLOB_FLAG_TOUCHES_TOP | GST_CCL_BLOB_FLAG_CONFIRMED
      | GST_CCL_BLOB_FLAG_MERGED;
  blobs[0].track_id = G_GUINT64_CONSTANT (1) << 40;
  blobs[0].volume_id = G_GUINT64_CONSTANT (1) << 41;
  blobs[2].flags = GST_CCL_BLOB_FLAG_TOUCHES_RIGHT | GST_CCL_BLOB_FLAG_TOUCHES_BOTTOM;
  attach_blobs (frame, blobs, 3);
  line = push_in_both (h, frame);
  assert_schema ("ccl-blob-1.schema.json", line);
  array = json_object_get_array_member (json_node_get_object (line), "blobs");

  blob = json_array_get_object_element (array, 0);
  fail_unless_equals_string (json_object_get_string_member (blob, "border"), "left,top");
  fail_unless_equals_string (json_object_get_string_member (blob, "state"), "confirmed,merged");
  fail_unless_equals_int64 (json_object_get_int_member (blob, "track"), G_GINT64_CONSTANT (1) << 40);
  fail_unless_equals_int64 (json_object_get_int_member (blob, "volume"), G_GINT64_CONSTANT (1) << 41);
  blob = json_array_get_object_element (array, 1);
  fail_if (json_object_has_member (blob, "border") || json_object_has_member (blob, "state"));
  fail_if (json_object_has_member (blob, "volume") || json_object_has_member (blob, "track")
      || json_object_has_member (blob, "polygon"));
  blob = json_array_get_object_element (array, 2);
  fail_unless_equals_string (json_object_get_string_member (blob, "border"), "right,bottom");
  json_node_unref (line);
  gst_harness_teardown (h);
}

GST_END_TEST;

/* Only of blobs that were measured. */
GST_START_TEST (test_shape_fields)
{
  static const GstCclShapeCounts counts[] = { {2, 0, 7, 6, 15, {0}} };
  GstHarness *h = new_harness ();
  GstBuffer *frame = video_frame (0);
  const GstCclBlob blobs[2] = { rectangle (1, 0, 0, 2, 2), rectangle (2, 9, 9, 4, 3) };
  GstCclBlobMeta *const meta = attach_blobs (frame, blobs, 2);
  GBytes *const bytes = g_bytes_new_static (counts, sizeof (counts));
  gdouble crofton, circularity, compactness;
  JsonNode *line;
  JsonArray *array;
  JsonObject *blob;

  gst_ccl_blob_list_set_shape (meta->list, bytes);
  g_bytes_unref (bytes);
  gst_ccl_blob_meta_get_perimeter (meta, 1, NULL, &crofton);
  gst_ccl_blob_meta_get_circularity (meta, 1, &circularity, &compactness);
  line = push_in_both (h, frame);
  assert_schema ("ccl-blob-1.schema.json", line);
  array = json_object_get_array_member (json_node_get_object (line), "blobs");

  blob = json_array_get_object_element (array, 0);
  fail_if (json_object_has_member (blob, "n_holes") || json_object_has_member (blob, "circularity"));
  blob = json_array_get_object_element (array, 1);
  fail_unless_equals_int (json_object_get_int_member (blob, "euler_number"), 0);
  fail_unless_equals_int (json_object_get_int_member (blob, "n_holes"), 1);
  fail_unless_equals_int (json_object_get_int_member (blob, "perimeter_crack"), 26);
  fail_unless (json_object_get_double_member (blob, "perimeter_crofton") == crofton);
  fail_unless (json_object_get_double_member (blob, "circularity") == circularity);
  fail_unless (json_object_get_double_member (blob, "compactness") == compactness);
  json_node_unref (line);
  gst_harness_teardown (h);
}

GST_END_TEST;

static const GstCclShapeCounts shape[] = { {2, 1, 3, 4, 12, {0}} };
static const GstCclHullCounts hull[] = {
  {1, 8, 8, 2, 1, 0, 1, 0, 0, 2, 0, 2, G_GUINT64_CONSTANT (8) << 40, {0}},
  {2, 24, 25, 3, 1, 0, 1, 0, 9, 13, 9, 12, G_GUINT64_CONSTANT (14) << 40, {0}},
};
static const GstCclFilledCounts filled[] = { {1, 0, 4, {0}}, {2, 1, 12, {0}} };
static const GstCclHole holes[] = { {2, 1, 2, 10, 10, 2, 1, 10, {0}} };

/* With the perimeter there is a convexity, too. */
GST_START_TEST (test_hull_fields)
{
  static const struct
  {
    const gchar *name;
    gdouble values[2];
  } fields[] = {
    {"area_convex", {12}}, {"solidity", {1}}, {"perimeter_convex", {14}}, {"convexity", {1}},
    {"feret_diameter_max", {5}}, {"min_feret", {3}}, {"rect_center", {10.5, 10}}, {"rect_size", {4, 3}},
    {"rect_angle", {0}}, {"equivalent_rect", {4, 3}},
  };
  GstHarness *h = new_harness ();
  GstBuffer *frame = video_frame (0);
  const GstCclBlob blobs[2] = { rectangle (1, 0, 0, 2, 2), rectangle (2, 9, 9, 4, 3) };
  GstCclBlobMeta *const meta = attach_blobs (frame, blobs, 2);
  GBytes *const of_shape = g_bytes_new_static (shape, sizeof (shape));
  GBytes *const of_filled = g_bytes_new_static (filled, sizeof (filled));
  GBytes *const of_holes = g_bytes_new_static (holes, sizeof (holes));
  GBytes *const of_hull = g_bytes_new_static (hull, sizeof (hull));
  JsonNode *line;
  JsonArray *array;
  JsonObject *blob, *hole;

  gst_ccl_blob_list_set_shape (meta->list, of_shape);
  gst_ccl_blob_list_set_hull (meta->list, of_hull);
  gst_ccl_blob_list_set_holes (meta->list, of_filled, of_holes);
  g_bytes_unref (of_filled);
  g_bytes_unref (of_holes);
  g_bytes_unref (of_shape);
  g_bytes_unref (of_hull);
  line = push_in_both (h, frame);
  assert_schema ("ccl-blob-1.schema.json", line);
  array = json_object_get_array_member (json_node_get_object (line), "blobs");

  blob = json_array_get_object_element (array, 0);
  fail_if (json_object_has_member (blob, "convexity"));
  fail_unless_equals_int (json_object_get_int_member (blob, "n_holes"), 0);
  fail_unless (json_object_get_double_member (blob, "area_convex") == 4);
  fail_unless_equals_int (json_object_get_int_member (blob, "area_filled"), 4);
  fail_unless_equals_int (json_array_get_length (json_object_get_array_member (blob, "holes")), 0);
  blob = json_array_get_object_element (array, 1);
  fail_unless_equals_int (json_object_get_int_member (blob, "area_filled"), 12);
  hole = json_array_get_object_element (json_object_get_array_member (blob, "holes"), 0);
  fail_unless_equals_int (json_object_get_int_member (hole, "area"), 1);
  fail_unless_equals_int (json_object_get_int_member (hole, "area_filled"), 2);
  fail_unless (json_array_get_double_element (json_object_get_array_member (hole, "bbox"), 2) == 2);
  for (guint i = 0; i < G_N_ELEMENTS (fields); i++) {
    JsonNode *const node = json_object_get_member (blob, fields[i].name);

    fail_unless (node != NULL, "%s", fields[i].name);
    for (guint k = 0; k < (JSON_NODE_HOLDS_ARRAY (node) ? 2 : 1); k++) {
      const gdouble value = JSON_NODE_HOLDS_ARRAY (node) ?
          json_array_get_double_element (json_node_get_array (node), k) : json_node_get_double (node);
      fail_unless (ABS (value - fields[i].values[k]) < 1e-9, "%s is %g", fields[i].name, value);
    }
  }
  json_node_unref (line);
  gst_harness_teardown (h);
}

GST_END_TEST;

/* A gray blob of black pixels, and one with chroma. */
GST_START_TEST (test_intensity_fields)
{
  static const GstCclIntensityCounts counts[] = {
    {1, 0, 0, 0, 0, 0, 0, 0, {0}, {0}, {0}, 0, 0, {0}},
    {2, 5, 9, 1, 84, 600, 882, 840, {9300, 0}, {8820, 0}, {8460, 0}, 1212, 1218, {0}},
  };
  static const struct
  {
    const gchar *name;
    gdouble values[3];
  } fields[] = {
    {"intensity_mean", {7}}, {"intensity_std", {1}}, {"cb_mean", {101}}, {"cr_mean", {101.5}},
    {"centroid_weighted", {10.5, 10}}, {"cov_weighted", {9300 / 84. - 110.25, 0, 8460 / 84. - 100}},
  };
  GstHarness *h = new_harness ();
  GstBuffer *frame = video_frame (0);
  const GstCclBlob blobs[2] = { rectangle (1, 0, 0, 2, 2), rectangle (2, 9, 9, 4, 3) };
  GstCclBlobMeta *const meta = attach_blobs (frame, blobs, 2);
  GBytes *const bytes = g_bytes_new_static (counts, sizeof (counts));
  JsonNode *line;
  JsonArray *array;
  JsonObject *blob;

  gst_ccl_blob_list_set_intensity (meta->list, bytes);
  g_bytes_unref (bytes);
  line = push_in_both (h, frame);
  assert_schema ("ccl-blob-1.schema.json", line);
  array = json_object_get_array_member (json_node_get_object (line), "blobs");

  blob = json_array_get_object_element (array, 0);
  fail_unless_equals_int (json_object_get_int_member (blob, "intensity_max"), 0);
  fail_if (json_object_has_member (blob, "cb_mean") || json_object_has_member (blob, "centroid_weighted"));
  blob = json_array_get_object_element (array, 1);
  fail_unless_equals_int (json_object_get_int_member (blob, "intensity_min"), 5);
  fail_unless_equals_int (json_object_get_int_member (blob, "intensity_max"), 9);
  for (guint i = 0; i < G_N_ELEMENTS (fields); i++) {
    JsonNode *const node = json_object_get_member (blob, fields[i].name);
    JsonArray *const values = node && JSON_NODE_HOLDS_ARRAY (node) ? json_node_get_array (node) : NULL;

    fail_unless (node != NULL, "%s", fields[i].name);
    for (guint k = 0; k < (values ? json_array_get_length (values) : 1); k++) {
      const gdouble value = values ? json_array_get_double_element (values, k) : json_node_get_double (node);

      fail_unless (ABS (value - fields[i].values[k]) < 1e-9, "%s is %g", fields[i].name, value);
    }
  }
  json_node_unref (line);
  gst_harness_teardown (h);
}

GST_END_TEST;

static void
assert_numbers (JsonObject * object, const gchar * name, const gdouble * expected, guint n)
{
  JsonArray *const array = json_object_get_array_member (object, name);

  fail_unless_equals_int (json_array_get_length (array), n);
  for (guint i = 0; i < n; i++)
    fail_unless (ABS (json_array_get_double_element (array, i) - expected[i]) < 1e-9, "%s[%u] is %g", name, i,
        json_array_get_double_element (array, i));
}

/* Behind a mask of another size, rectangles and boxes of holes are where the blob is: in the frame. */
GST_START_TEST (test_hull_of_a_scaled_mask)
{
  static const struct
  {
    gdouble matrix[9], bbox[4], center[2], size[2], angle, hole[4];
  } scaled[] = {
    {{2, 0, 10, 0, 2, 0, 0, 0, 1}, {28, 18, 8, 6}, {31.5, 20.5}, {8, 6}, 0, {30, 20, 4, 2}},
    /* The longer side is the other one then. */
    {{1, 0, 0, 0, 3, 0, 0, 0, 1}, {9, 27, 4, 9}, {10.5, 31}, {9, 4}, G_PI_2, {10, 30, 2, 3}},
    /* A quarter turn. */
    {{0, -1, 20, 1, 0, 0, 0, 0, 1}, {8, 9, 3, 4}, {9, 10.5}, {4, 3}, G_PI_2, {9, 10, 1, 2}},
  };
  GstHarness *h = new_harness ();
  GstBuffer *frame = video_frame (__i__);
  const GstCclBlob blobs[2] = { rectangle (1, 0, 0, 2, 2), rectangle (2, 9, 9, 4, 3) };
  GstCclBlobMeta *const meta = attach_blobs (frame, blobs, 2);
  GBytes *const of_filled = g_bytes_new_static (filled, sizeof (filled));
  GBytes *const of_holes = g_bytes_new_static (holes, sizeof (holes));
  GBytes *const of_hull = g_bytes_new_static (hull, sizeof (hull));
  JsonNode *line;
  JsonObject *blob;

  gst_ccl_blob_list_set_hull (meta->list, of_hull);
  gst_ccl_blob_list_set_holes (meta->list, of_filled, of_holes);
  g_bytes_unref (of_filled);
  g_bytes_unref (of_holes);
  g_bytes_unref (of_hull);
  memcpy (meta->matrix, scaled[__i__].matrix, sizeof (meta->matrix));
  meta->flags |= GST_CCL_BLOB_META_FLAG_HOLES_TRUNCATED;
  line = push_in_both (h, frame);
  assert_schema ("ccl-blob-1.schema.json", line);
  fail_unless (json_object_get_boolean_member (json_node_get_object (line), "holes_truncated"));
  blob = json_array_get_object_element (json_object_get_array_member (json_node_get_object (line), "blobs"), 1);
  assert_numbers (blob, "bbox", scaled[__i__].bbox, 4);
  assert_numbers (blob, "rect_center", scaled[__i__].center, 2);
  assert_numbers (blob, "rect_size", scaled[__i__].size, 2);
  fail_unless (ABS (json_object_get_double_member (blob, "rect_angle") - scaled[__i__].angle) < 1e-9);
  fail_unless_equals_int (json_object_get_int_member (blob, "n_holes"), 1);
  blob = json_array_get_object_element (json_object_get_array_member (blob, "holes"), 0);
  assert_numbers (blob, "bbox", scaled[__i__].hole, 4);
  json_node_unref (line);
  gst_harness_teardown (h);
}

GST_END_TEST;

/* A blob around a pixel of another value has a hole without background. */
GST_START_TEST (test_fields_of_a_map)
{
  static const guint8 pixels[3][4] = { {1, 1, 1, 0}, {1, 2, 1, 0}, {1, 1, 1, 0} };
  GstHarness *h =
      gst_harness_new_parse ("ccllabel backend=cpu foreground=equal features=basic+shape+hull+holes+intensity ! "
      "cclmeta2json");
  JsonNode *line;
  JsonObject *hole;

  gst_harness_set_src_caps_str (h, "video/x-raw,format=GRAY8,width=3,height=3,framerate=25/1");
  line = push_for_json (h, gst_buffer_new_memdup (pixels, sizeof (pixels)));
  assert_schema ("ccl-blob-1.schema.json", line);
  hole = json_array_get_object_element (json_object_get_array_member (first_blob (line), "holes"), 0);
  fail_unless_equals_int (json_object_get_int_member (hole, "area"), 0);
  fail_unless_equals_int (json_object_get_int_member (hole, "area_filled"), 1);
  json_node_unref (line);
  gst_harness_teardown (h);
}

GST_END_TEST;

/* json-glib has no whole numbers from 2^63 on. */
GST_START_TEST (test_beyond_63_bits)
{
  const guint64 too_large = G_GUINT64_CONSTANT (1) << 63;
  const GstCclZone zone = {.name = (gchar *) "door",.n_forward = too_large,.n_backward = G_MAXUINT64 };
  GstHarness *h = new_harness ();
  GstBuffer *frame = video_frame (0);
  GstCclBlob blob = rectangle (G_MAXUINT32, 10, 20, 3, 2);
  JsonNode *line;
  JsonObject *object;

  blob.track_id = G_MAXUINT64;
  blob.parent_id = too_large;
  blob.volume_id = too_large + 5;
  attach_blobs (frame, &blob, 1);
  gst_buffer_add_ccl_zone_meta (frame, &zone, 1);
  GST_BUFFER_PTS (frame) = too_large + 5;
  line = push_in_both (h, gst_buffer_copy (frame));
  assert_schema ("ccl-blob-1.schema.json", line);
  object = json_node_get_object (line);
  fail_unless (is_null (object, "pts") && is_null (object, "running_time") && is_null (object, "stream_time"));
  object = first_blob (line);
  fail_if (json_object_has_member (object, "track") || json_object_has_member (object, "parent")
      || json_object_has_member (object, "volume"));
  object = json_array_get_object_element (json_object_get_array_member (json_node_get_object (line), "zones"), 0);
  fail_unless_equals_int64 (json_object_get_int_member (object, "forward"), G_MAXINT64);
  fail_unless_equals_int64 (json_object_get_int_member (object, "backward"), G_MAXINT64);
  json_node_unref (line);

  gst_util_set_object_arg (G_OBJECT (h->element), "schema", "dlstreamer");
  line = push_in_both (h, frame);
  assert_schema ("dlstreamer.schema.json", line);
  fail_if (json_object_has_member (json_node_get_object (line), "timestamp"));
  object = json_array_get_object_element (json_object_get_array_member (json_node_get_object (line), "objects"), 0);
  fail_if (json_object_has_member (object, "id"));
  fail_unless_equals_int64 (json_object_get_int_member (object, "region_id"), G_MAXUINT32);
  json_node_unref (line);
  gst_harness_teardown (h);
}

GST_END_TEST;

GST_START_TEST (test_source_defaults_to_name)
{
  GstHarness *h = new_harness ();
  GstElement *element = gst_harness_find_element (h, "cclmeta2json");
  gchar *name = gst_element_get_name (element);
  JsonNode *line = push_in_both (h, small_frame (0));

  fail_unless_equals_string (json_object_get_string_member (json_node_get_object (line), "source"), name);
  json_node_unref (line);

  /* Bytes that are not UTF-8 must not make the line wrong. */
  g_object_set (element, "source-id", "caf\xe9\t1", NULL);
  line = push_in_both (h, small_frame (1));
  fail_unless_equals_string (json_object_get_string_member (json_node_get_object (line), "source"),
      "caf\xef\xbf\xbd\t1");
  json_node_unref (line);

  /* Nor must control characters. */
  g_object_set (element, "source-id", "a\x01\x1e\x1f\x7f\x1f", "tags", "{\"\\u001f\":\"\\u001f\"}", NULL);
  line = push_in_both (h, small_frame (2));
  fail_unless_equals_string (json_object_get_string_member (json_node_get_object (line), "source"),
      "a\x01\x1e\x1f\x7f\x1f");
  fail_unless_equals_string (json_object_get_string_member (json_object_get_object_member (json_node_get_object (line),
              "tags"), "\x1f"), "\x1f");
  json_node_unref (line);
  g_free (name);
  gst_object_unref (element);
  gst_harness_teardown (h);
}

GST_END_TEST;

/* Zones of other programs may have any name. */
GST_START_TEST (test_names_of_zones)
{
  const GstCclZone zone = {.name = (gchar *) "caf\xe9\x1f",.kind = GST_CCL_ZONE_POLYGON };
  GstCclBlob blob = rectangle (1, 10, 20, 3, 2);
  GstHarness *h = new_harness ();
  GstBuffer *frame = video_frame (0);
  JsonNode *line;

  blob.zones = 1;
  attach_blobs (frame, &blob, 1);
  gst_buffer_add_ccl_zone_meta (frame, &zone, 1);
  line = push_in_both (h, frame);
  fail_unless_equals_string (json_array_get_string_element (json_object_get_array_member (first_blob (line), "zones"),
          0), "caf\xef\xbf\xbd\x1f");
  json_node_unref (line);
  gst_harness_teardown (h);
}

GST_END_TEST;

TCase *
json_field_tests (void)
{
  TCase *tests = tcase_create ("fields");

  tcase_set_timeout (tests, 120);
  tcase_add_test (tests, test_line_byte_for_byte);
  tcase_add_test (tests, test_every_field_read_back);
  tcase_add_test (tests, test_optional_fields);
  tcase_add_test (tests, test_shape_fields);
  tcase_add_test (tests, test_hull_fields);
  tcase_add_test (tests, test_intensity_fields);
  tcase_add_loop_test (tests, test_hull_of_a_scaled_mask, 0, 3);
  tcase_add_test (tests, test_fields_of_a_map);
  tcase_add_test (tests, test_beyond_63_bits);
  tcase_add_test (tests, test_source_defaults_to_name);
  tcase_add_test (tests, test_names_of_zones);
  return tests;
}
