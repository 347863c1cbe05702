/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* cclmeta2json: contours, trails, and what a scaled frame makes of the numbers. */

#include "cclmeta2json.h"

#include <math.h>

static GstBuffer *
with_corners (GstBuffer * buffer, const GstCclPoint * points)
{
  GstCclBlobMeta *const meta = gst_buffer_get_ccl_blob_meta (buffer);
  GBytes *const bytes = g_bytes_new_static (points, 4 * sizeof *points);
  GstCclBlob *blobs;
  GstCclBlobList *list = gst_ccl_blob_list_copy (meta->list, &blobs);

  blobs[0].n_contour = 4;
  gst_ccl_blob_list_set_points (list, bytes);
  gst_ccl_blob_meta_set_list (meta, list);
  gst_ccl_blob_list_unref (list);
  g_bytes_unref (bytes);
  return buffer;
}

/* The contour of the blob of small_frame(). */
static GstBuffer *
with_contour (GstBuffer * buffer)
{
  static const GstCclPoint points[] = { {10, 20}, {13, 20}, {13, 22}, {10, 22} };

  return with_corners (buffer, points);
}

static void
assert_polygon (JsonObject * blob, const gdouble * expected, gboolean whole)
{
  JsonArray *const polygon = json_object_get_array_member (blob, "polygon");

  fail_unless_equals_int (json_array_get_length (polygon), 4);
  for (guint i = 0; i < 8; i++) {
    JsonNode *const node = json_array_get_element (json_array_get_array_element (polygon, i / 2), i % 2);

    fail_unless (json_node_get_double (node) == expected[i]);
    fail_unless (!whole || json_node_get_value_type (node) == G_TYPE_INT64);
  }
}

/* A trail only when asked for, with the coordinates of the centroid. */
GST_START_TEST (test_trail)
{
  static const GstCclPoint points[] = { {10, 20}, {13, 20}, {13, 22}, {10, 22}, {9.5, 20.25}, {11.5, 21} };
  GBytes *const bytes = g_bytes_new_static (points, sizeof points);

  for (gint trails = 0; trails < 2; trails++) {
    GstHarness *h = gst_harness_new_parse (trails ? "cclmeta2json trails=true" : "cclmeta2json");
    GstBuffer *frame = small_frame (0);
    GstCclBlobMeta *const meta = gst_buffer_get_ccl_blob_meta (frame);
    GstCclBlob *blobs;
    GstCclBlobList *list = gst_ccl_blob_list_copy (meta->list, &blobs);
    JsonNode *line;
    JsonArray *trail;

    gst_harness_set_src_caps_str (h, VIDEO_CAPS);
    blobs[0].n_contour = 4;
    blobs[0].n_trail = 2;
    gst_ccl_blob_list_set_points (list, bytes);
    gst_ccl_blob_meta_set_list (meta, list);
    gst_ccl_blob_list_unref (list);
    line = push_in_both (h, frame);
    assert_schema ("ccl-blob-1.schema.json", line);
    fail_unless_equals_int (json_object_has_member (first_blob (line), "trail"), trails);
    if (trails) {
      trail = json_object_get_array_member (first_blob (line), "trail");
      fail_unless_equals_int (json_array_get_length (trail), 2);
      fail_unless (json_array_get_double_element (json_array_get_array_element (trail, 0), 0) == 9.0);
      fail_unless (json_array_get_double_element (json_array_get_array_element (trail, 0), 1) == 19.75);
      fail_unless (json_array_get_double_element (json_array_get_array_element (trail, 1), 0) == 11.0);
      fail_unless (json_array_get_double_element (json_array_get_array_element (trail, 1), 1) == 20.5);
    }
    json_node_unref (line);
    gst_harness_teardown (h);
  }
  g_bytes_unref (bytes);
}

GST_END_TEST;

GST_START_TEST (test_polygon)
{
  GstHarness *h = new_harness ();
  JsonNode *line = push_in_both (h, with_contour (small_frame (0)));

  assert_schema ("ccl-blob-1.schema.json", line);
  assert_polygon (first_blob (line), (const gdouble[]) { 10, 20, 13, 20, 13, 22, 10, 22 }, TRUE);
  json_node_unref (line);
  gst_harness_teardown (h);
}

GST_END_TEST;

/* As other programs may write them. */
GST_START_TEST (test_polygon_of_fractions)
{
  static const GstCclPoint points[] = { {0.5, 0}, {2.5, -0.5}, {-0.5, 2}, {1e30f, 3} };
  GstHarness *h = new_harness ();
  JsonNode *line = push_in_both (h, with_corners (small_frame (0), points));

  assert_schema ("ccl-blob-1.schema.json", line);
  assert_polygon (first_blob (line), (const gdouble[]) { 0.5, 0, 2.5, -0.5, -0.5, 2, 1e30f, 3 }, FALSE);
  json_node_unref (line);
  gst_harness_teardown (h);
}

GST_END_TEST;

GST_START_TEST (test_scaled_frame)
{
  GstHarness *h = gst_harness_new_parse ("videoscale ! video/x-raw,width=160,height=480 ! cclmeta2json name=json");
  JsonNode *line;
  JsonObject *blob, *size;

  gst_harness_set_src_caps_str (h, VIDEO_CAPS);
  line = push_in_both (h, with_contour (small_frame (0)));
  assert_schema ("ccl-blob-1.schema.json", line);
  size = json_object_get_object_member (json_node_get_object (line), "frame");
  fail_unless_equals_int (json_object_get_int_member (size, "w"), 160);
  fail_unless_equals_int (json_object_get_int_member (size, "h"), 480);

  blob = first_blob (line);
  fail_unless (number_at (blob, "bbox", 0) == 5.0 && number_at (blob, "bbox", 1) == 40.0);
  fail_unless (number_at (blob, "bbox", 2) == 1.5 && number_at (blob, "bbox", 3) == 4.0);
  fail_unless (json_object_get_double_member (blob, "area") == 6.0);
  /* The middle of the box, half a pixel less: pixel centres are whole numbers. */
  fail_unless (fabs (number_at (blob, "centroid", 0) - 5.25) < 1e-12);
  fail_unless (fabs (number_at (blob, "centroid", 1) - 41.5) < 1e-12);
  fail_unless (fabs (number_at (blob, "cov", 0) - 2. / 3 / 4) < 1e-12);
  fail_unless (fabs (number_at (blob, "cov", 2) - .25 * 4) < 1e-12);
  assert_polygon (blob, (const gdouble[]) { 5, 40, 6.5, 40, 6.5, 44, 5, 44 }, FALSE);
  json_node_unref (line);
  gst_harness_teardown (h);
}

GST_END_TEST;

TCase *
json_polygon_tests (void)
{
  TCase *tests = tcase_create ("polygons");

  tcase_set_timeout (tests, 120);
  tcase_add_test (tests, test_polygon);
  tcase_add_test (tests, test_polygon_of_fractions);
  tcase_add_test (tests, test_trail);
  tcase_add_test (tests, test_scaled_frame);
  return tests;
}
