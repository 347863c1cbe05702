/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* cclmeta2json: the schema of DL Streamer, and the regions and detections of other elements. */

#include "cclmeta2json.h"

#include <math.h>

#include "support/skip.h"
#ifdef HAVE_GST_ANALYTICS
#include <gst/analytics/analytics.h>
#endif

GST_START_TEST (test_dlstreamer)
{
  GstHarness *h = new_harness ();
  GstBuffer *frame = small_frame (25);
  JsonNode *line;
  JsonObject *object, *blob, *detection, *box;
  GstCclBlob blobs[2] = { rectangle (1, 32, 24, 64, 48), rectangle (2, 300, 200, 20, 40) };
  GstCaps *caps;
  gchar *complaint;

  /* The schema is changed while running, and so are the caps. */
  line = push_in_both (h, frame);
  complaint = schema_check ("dlstreamer.schema.json", line);
  fail_unless (complaint != NULL, "the checker takes anything");
  g_free (complaint);
  json_node_unref (line);
  gst_util_set_object_arg (G_OBJECT (h->element), "schema", "dlstreamer");
  g_object_set (h->element, "source-id", "rtsp://cam/1", "tags", " {\n\"site\" : \"A\"}", NULL);

  frame = video_frame (26);
  blobs[1].track_id = 77;
  blobs[1].mtd_id = 5;
  attach_blobs (frame, blobs, 2);
  line = push_in_both (h, frame);
  assert_schema ("dlstreamer.schema.json", line);
  caps = gst_pad_get_current_caps (h->sinkpad);
  fail_unless_equals_string (gst_structure_get_string (gst_caps_get_structure (caps, 0), "schema"), "dlstreamer");
  gst_caps_unref (caps);

  object = json_node_get_object (line);
  fail_unless_equals_int64 (json_object_get_int_member (object, "timestamp"), 26 * FRAME_TIME);
  fail_unless_equals_string (json_object_get_string_member (object, "source"), "rtsp://cam/1");
  fail_unless_equals_string (json_object_get_string_member (json_object_get_object_member (object, "tags"), "site"),
      "A");
  fail_unless_equals_int (json_object_get_int_member (json_object_get_object_member (object, "resolution"), "width"),
      WIDTH);
  blob = json_array_get_object_element (json_object_get_array_member (object, "objects"), 0);
  fail_unless_equals_int (json_object_get_int_member (blob, "x"), 32);
  fail_unless_equals_int (json_object_get_int_member (blob, "h"), 48);
  fail_unless_equals_int (json_object_get_int_member (blob, "region_id"), 1);
  fail_if (json_object_has_member (blob, "id"));
  fail_unless_equals_string (json_object_get_string_member (blob, "roi_type"), "blob");
  detection = json_object_get_object_member (blob, "detection");
  box = json_object_get_object_member (detection, "bounding_box");
  fail_unless (json_object_get_double_member (box, "x_min") == 0.1);
  fail_unless (json_object_get_double_member (box, "x_max") == 0.3);
  fail_unless (json_object_get_double_member (box, "y_min") == 0.1);
  fail_unless (json_object_get_double_member (box, "y_max") == 0.3);
  blob = json_array_get_object_element (json_object_get_array_member (object, "objects"), 1);
  fail_unless_equals_int (json_object_get_int_member (blob, "region_id"), 5);
  fail_unless_equals_int (json_object_get_int_member (blob, "id"), 77);
  json_node_unref (line);

  line = push_in_both (h, empty_frame (27));
  assert_schema ("dlstreamer.schema.json", line);
  fail_if (json_object_has_member (json_node_get_object (line), "objects"));
  json_node_unref (line);
  gst_harness_teardown (h);
}

GST_END_TEST;

static GstBuffer *
frame_with_regions (guint number)
{
  GstBuffer *frame = video_frame (number);
  GstVideoRegionOfInterestMeta *roi;

  roi = gst_buffer_add_video_region_of_interest_meta (frame, "person", 10, 20, 3, 2);
  roi->id = 9;
  gst_video_region_of_interest_meta_add_param (roi, gst_structure_new ("detection", "x_min", G_TYPE_DOUBLE, 0.,
          "confidence", G_TYPE_DOUBLE, 0.75, "label_id", G_TYPE_INT, 4, NULL));
  gst_video_region_of_interest_meta_add_param (roi, gst_structure_new ("object_id", "id", G_TYPE_INT, 123, NULL));
  roi = gst_buffer_add_video_region_of_interest_meta (frame, "face", 4, 5, 0, 1);
  roi->parent_id = 9;
  return frame;
}

GST_START_TEST (test_regions_of_others)
{
  GstHarness *h = new_harness ();
  JsonNode *line = push_in_both (h, frame_with_regions (0));
  JsonNode *same = push_in_both (h, small_frame (0));
  JsonObject *object = json_node_get_object (line), *blob = first_blob (line), *other = first_blob (same);
  JsonObject *detection;

  assert_schema ("ccl-blob-1.schema.json", line);
  fail_unless_equals_int (json_object_get_int_member (object, "total"), 2);
  fail_unless_equals_int (json_object_get_int_member (blob, "track"), 123);
  /* But for the track, it is the blob of the filled rectangle. */
  json_object_remove_member (blob, "track");
  fail_unless (json_object_equal (blob, other));
  json_node_unref (same);
  json_node_unref (line);

  gst_util_set_object_arg (G_OBJECT (h->element), "schema", "dlstreamer");
  line = push_in_both (h, frame_with_regions (1));
  assert_schema ("dlstreamer.schema.json", line);
  blob = json_array_get_object_element (json_object_get_array_member (json_node_get_object (line), "objects"), 0);
  fail_unless_equals_string (json_object_get_string_member (blob, "roi_type"), "person");
  fail_unless_equals_int (json_object_get_int_member (blob, "region_id"), 9);
  fail_unless_equals_int (json_object_get_int_member (blob, "id"), 123);
  detection = json_object_get_object_member (blob, "detection");
  fail_unless (json_object_get_double_member (detection, "confidence") == 0.75);
  fail_unless_equals_int (json_object_get_int_member (detection, "label_id"), 4);
  blob = json_array_get_object_element (json_object_get_array_member (json_node_get_object (line), "objects"), 1);
  fail_unless_equals_int (json_object_get_int_member (blob, "parent_id"), 9);
  fail_if (json_object_has_member (json_object_get_object_member (blob, "detection"), "confidence"));
  json_node_unref (line);

  /* Where the blobs themselves are, their mirrors are not written a second time. */
  gst_util_set_object_arg (G_OBJECT (h->element), "schema", "ccl");
  {
    GstBuffer *both = frame_with_regions (2);
    const GstCclBlob one = rectangle (1, 0, 0, 1, 1);

    attach_blobs (both, &one, 1);
    line = push_in_both (h, both);
  }
  fail_unless_equals_int (json_object_get_int_member (json_node_get_object (line), "total"), 1);
  json_node_unref (line);
  gst_harness_teardown (h);
}

GST_END_TEST;

/* A region that cannot be measured is left out. */
GST_START_TEST (test_regions_far_away)
{
  const guint far[][4] = { {70000, 0, 50, 50}, {65530, 0, 6, 1}, {0, 65536, 0, 0}, {0, 4000000000u, 1, 1},
    {G_MAXUINT, 0, G_MAXUINT, 1}, {0, 0, 1, G_MAXUINT}
  };
  GstHarness *h = gst_harness_new ("cclmeta2json");
  GstBuffer *frame = video_frame (0);
  JsonNode *line;
  JsonObject *object;
  JsonArray *blobs;

  gst_harness_set_src_caps_str (h, "video/x-raw,format=GRAY8,width=70000,height=8,framerate=25/1");
  for (guint i = 0; i < G_N_ELEMENTS (far); i++)
    gst_buffer_add_video_region_of_interest_meta (frame, "far", far[i][0], far[i][1], far[i][2], far[i][3]);
  gst_buffer_add_video_region_of_interest_meta (frame, "near", 40000, 2, 50, 4);
  gst_buffer_add_video_region_of_interest_meta (frame, "all", 0, 0, 65535, 65535);
  line = push_in_both (h, frame);
  assert_schema ("ccl-blob-1.schema.json", line);
  object = json_node_get_object (line);
  fail_unless_equals_int (json_object_get_int_member (object, "total"), 2 + G_N_ELEMENTS (far));
  blobs = json_object_get_array_member (object, "blobs");
  fail_unless_equals_int (json_array_get_length (blobs), 2);
  object = json_array_get_object_element (blobs, 0);
  fail_unless_equals_int (number_at (object, "bbox", 0), 40000);
  fail_unless_equals_int (number_at (object, "bbox", 2), 50);
  fail_unless_equals_int (json_object_get_int_member (object, "area"), 200);
  fail_unless (number_at (object, "centroid", 0) == 40024.5 && number_at (object, "centroid", 1) == 3.5);
  fail_unless (number_at (object, "cov", 0) == 208.25 && number_at (object, "cov", 2) == 1.25);
  object = json_array_get_object_element (blobs, 1);
  fail_unless_equals_int64 (json_object_get_int_member (object, "area"), G_GINT64_CONSTANT (65535) * 65535);
  fail_unless (number_at (object, "centroid", 0) == 32767 && number_at (object, "cov", 1) == 0);
  fail_unless (fabs (number_at (object, "cov", 0) / ((65535. * 65535 - 1) / 12) - 1) < 1e-12);
  json_node_unref (line);
  gst_harness_teardown (h);
}

GST_END_TEST;

/* Of regions without a type in frames without a size there is as much as the schemas want. */
GST_START_TEST (test_region_without_type)
{
  GstHarness *h = gst_harness_new ("cclmeta2json");
  GstBuffer *frame = video_frame (0);
  JsonNode *line;
  JsonObject *object, *detection, *box;

  gst_harness_set_src_caps_str (h, "application/x-thing");
  gst_buffer_add_video_region_of_interest_meta_id (frame, 0, 10, 20, 3, 2);
  line = push_in_both (h, gst_buffer_ref (frame));
  assert_schema ("ccl-blob-1.schema.json", line);
  json_node_unref (line);

  gst_util_set_object_arg (G_OBJECT (h->element), "schema", "dlstreamer");
  line = push_in_both (h, frame);
  assert_schema ("dlstreamer.schema.json", line);
  object = json_array_get_object_element (json_object_get_array_member (json_node_get_object (line), "objects"), 0);
  detection = json_object_get_object_member (object, "detection");
  box = json_object_get_object_member (detection, "bounding_box");
  fail_unless_equals_string (json_object_get_string_member (object, "roi_type"), "");
  fail_unless_equals_string (json_object_get_string_member (detection, "label"), "");
  fail_unless (json_object_get_double_member (box, "x_min") == 10 && json_object_get_double_member (box, "x_max") == 13);
  fail_unless (json_object_get_double_member (box, "y_min") == 20 && json_object_get_double_member (box, "y_max") == 22);
  json_node_unref (line);
  gst_harness_teardown (h);
}

GST_END_TEST;

#ifdef HAVE_GST_ANALYTICS
GST_START_TEST (test_detections_of_others)
{
  GstHarness *h = new_harness ();
  GstBuffer *frame = video_frame (0);
  GstAnalyticsRelationMeta *meta = gst_buffer_add_analytics_relation_meta (frame);
  GstAnalyticsODMtd person, face;
  GstAnalyticsTrackingMtd tracking;
  JsonNode *line, *same;
  JsonObject *blob, *detection;

  gst_analytics_relation_meta_add_od_mtd (meta, g_quark_from_string ("person"), 10, 20, 3, 2, 0.75f, &person);
  gst_analytics_relation_meta_add_tracking_mtd (meta, 123, 0, &tracking);
  gst_analytics_relation_meta_add_od_mtd (meta, g_quark_from_string ("face"), -10, -20, 30, 30, 0.5f, &face);
  fail_unless (gst_analytics_relation_meta_set_relation (meta, GST_ANALYTICS_REL_TYPE_RELATE_TO, person.id,
          tracking.id));
  line = push_in_both (h, gst_buffer_ref (frame));
  same = push_in_both (h, small_frame (0));
  assert_schema ("ccl-blob-1.schema.json", line);
  fail_unless_equals_int (json_object_get_int_member (json_node_get_object (line), "total"), 2);
  blob = first_blob (line);
  fail_unless_equals_int (json_object_get_int_member (blob, "track"), 123);
  json_object_remove_member (blob, "track");
  fail_unless (json_object_equal (blob, first_blob (same)));
  json_node_unref (same);

  /* What lies outside the frame does not count. */
  blob = json_array_get_object_element (json_object_get_array_member (json_node_get_object (line), "blobs"), 1);
  fail_if (json_object_has_member (blob, "track"));
  fail_unless_equals_int (number_at (blob, "bbox", 0), 0);
  fail_unless_equals_int (number_at (blob, "bbox", 2), 20);
  fail_unless_equals_int (json_object_get_int_member (blob, "area"), 200);
  json_node_unref (line);

  gst_util_set_object_arg (G_OBJECT (h->element), "schema", "dlstreamer");
  line = push_in_both (h, frame);
  assert_schema ("dlstreamer.schema.json", line);
  blob = json_array_get_object_element (json_object_get_array_member (json_node_get_object (line), "objects"), 1);
  fail_unless_equals_string (json_object_get_string_member (blob, "roi_type"), "face");
  fail_unless_equals_int (json_object_get_int_member (blob, "region_id"), face.id);
  detection = json_object_get_object_member (blob, "detection");
  fail_unless (json_object_get_double_member (detection, "confidence") == 0.5);
  json_node_unref (line);
  gst_harness_teardown (h);
}

GST_END_TEST;
#else
GST_START_TEST (test_detections_of_others)
{
  SKIP_TEST ("built without gst-analytics-1.0");
}

GST_END_TEST;
#endif

TCase *
json_region_tests (void)
{
  TCase *tests = tcase_create ("regions");

  tcase_set_timeout (tests, 120);
  tcase_add_test (tests, test_dlstreamer);
  tcase_add_test (tests, test_regions_of_others);
  tcase_add_test (tests, test_regions_far_away);
  tcase_add_test (tests, test_region_without_type);
  tcase_add_test (tests, test_detections_of_others);
  return tests;
}
