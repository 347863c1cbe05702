/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Blobs as regions of interest and as object detections. */

#include "support/skip.h"
#include "testblobs.h"

#include <gst/video/video.h>

#ifdef HAVE_GST_ANALYTICS
# include <gst/analytics/analytics.h>
#endif

#define BOX(left, top, width, height) ((GstVideoRectangle) { left, top, width, height })

static GstVideoRegionOfInterestMeta *
nth_region (GstBuffer * buffer, guint n)
{
  gpointer state = NULL;
  GstMeta *meta;

  while ((meta = gst_buffer_iterate_meta_filtered (buffer, &state, GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE))) {
    if (n-- == 0)
      return (GstVideoRegionOfInterestMeta *) meta;
  }
  return NULL;
}

static void
assert_region (GstBuffer * buffer, guint n, gint id, GstVideoRectangle box)
{
  const GstVideoRegionOfInterestMeta *const roi = nth_region (buffer, n);

  fail_unless (roi != NULL);
  fail_unless_equals_int (roi->id, id);
  fail_unless ((gint) roi->x == box.x && (gint) roi->y == box.y && (gint) roi->w == box.w
      && (gint) roi->h == box.h, "region %u is %u,%u %ux%u", n, roi->x, roi->y, roi->w, roi->h);
}

static gdouble
get_double (const GstStructure * structure, const gchar * field)
{
  gdouble value = NAN;

  fail_unless (gst_structure_get_double (structure, field, &value), "%s", field);
  return value;
}

GST_START_TEST (test_roi_fields)
{
  GstBuffer *const buffer = gst_buffer_new ();
  const GstCclBlobMeta *const meta = add_sample (buffer);
  GstVideoRegionOfInterestMeta *roi;
  const GstStructure *detection, *blob, *object;
  guint label, area;
  guint64 track;
  gint id;

  fail_unless_equals_int (gst_buffer_add_ccl_roi_mirror (buffer, meta, "motion", 100), 3);
  assert_region (buffer, 0, 1, BOX (0, 2, 4, 2));
  assert_region (buffer, 1, 2, BOX (20, 5, 1, 1));
  assert_region (buffer, 2, 3, BOX (10, 10, 8, 12));
  fail_unless (nth_region (buffer, 3) == NULL);

  roi = nth_region (buffer, 2);
  fail_unless_equals_string (g_quark_to_string (roi->roi_type), "motion");
  fail_unless_equals_int (g_list_length (roi->params), 3);
  detection = gst_video_region_of_interest_meta_get_param (roi, "detection");
  fail_unless_equals_int (gst_structure_n_fields (detection), 6);
  assert_near (get_double (detection, "x_min"), 10.0 / 32);
  assert_near (get_double (detection, "x_max"), 18.0 / 32);
  assert_near (get_double (detection, "y_min"), 10.0 / 24);
  assert_near (get_double (detection, "y_max"), 22.0 / 24);
  assert_near (get_double (detection, "confidence"), 1);
  fail_unless (gst_structure_get_int (detection, "label_id", &id) && id == 0);

  object = gst_video_region_of_interest_meta_get_param (roi, "object_id");
  fail_unless (gst_structure_get_int (object, "id", &id));
  fail_unless_equals_int (id, (gint) (G_GUINT64_CONSTANT (5000000001) & G_MAXINT));

  blob = gst_video_region_of_interest_meta_get_param (roi, GST_CCL_ROI_PARAM);
  fail_unless_equals_string (gst_structure_get_name (blob), "ccl/blob");
  fail_unless_equals_int (gst_structure_n_fields (blob), 9);
  fail_unless_equals_string (gst_structure_get_string (blob, "source"), "ccllabel0");
  fail_unless (gst_structure_get_uint (blob, "label", &label) && label == 3);
  fail_unless (gst_structure_get_uint (blob, "area", &area) && area == 96);
  fail_unless (gst_structure_get_uint64 (blob, "track-id", &track) && track == G_GUINT64_CONSTANT (5000000001));
  assert_near (get_double (blob, "cx"), 13.5);
  assert_near (get_double (blob, "cy"), 15.5);
  assert_near (get_double (blob, "cxx"), 63.0 / 12);
  assert_near (get_double (blob, "cxy"), 0);
  assert_near (get_double (blob, "cyy"), 143.0 / 12);

  /* Untracked: nothing about tracks at all. */
  roi = nth_region (buffer, 0);
  fail_unless (gst_video_region_of_interest_meta_get_param (roi, "object_id") == NULL);
  blob = gst_video_region_of_interest_meta_get_param (roi, GST_CCL_ROI_PARAM);
  fail_if (gst_structure_has_field (blob, "track-id"));
  gst_buffer_unref (buffer);
}

GST_END_TEST;

GST_START_TEST (test_roi_of_scaled_frame)
{
  GstBuffer *const buffer = gst_buffer_new ();
  GstCclBlobMeta *const meta = add_sample (buffer);
  const GstStructure *blob;
  guint area;

  /* 32x24 to 48x16, as ratios come out of floats. */
  meta->width = 48;
  meta->height = 16;
  meta->matrix[0] = 1.5f;
  meta->matrix[4] = 16.0f / 24.0f;
  fail_unless_equals_int (gst_buffer_add_ccl_roi_mirror (buffer, meta, "blob", 100), 3);
  assert_region (buffer, 0, 1, BOX (0, 1, 6, 2));       /* rows 1.33 to 2.67 */
  assert_region (buffer, 1, 2, BOX (30, 3, 2, 1));      /* columns 30 to 31.5 */
  assert_region (buffer, 2, 3, BOX (15, 6, 12, 9));     /* rows 6.67 to 14.67 */
  blob = gst_video_region_of_interest_meta_get_param (nth_region (buffer, 2), GST_CCL_ROI_PARAM);
  fail_unless (gst_structure_get_uint (blob, "area", &area));
  fail_unless_equals_int (area, 96);
  gst_buffer_unref (buffer);
}

GST_END_TEST;

GST_START_TEST (test_roi_of_ratios_in_floats)
{
  /* 0.7f is a little less than 0.7 and 1/3 as a float a little more: neither may cost a pixel, on no side. */
  const gfloat less = 0.7f, more = 1.0f / 3;
  const GstCclBlob blob = rectangle (1, 210, 210, 30, 30);
  GstBuffer *const buffer = gst_buffer_new ();
  GstCclBlobMeta *const meta = add_blobs (buffer, &blob, 1, 1920, 1080);

  meta->matrix[0] = less;
  meta->matrix[4] = more;
  fail_unless_equals_int (gst_buffer_add_ccl_roi_mirror (buffer, meta, "blob", 1), 1);
  assert_region (buffer, 0, 1, BOX (147, 70, 21, 10));
  meta->matrix[0] = more;
  meta->matrix[4] = less;
  fail_unless_equals_int (gst_buffer_add_ccl_roi_mirror (buffer, meta, "blob", 1), 1);
  assert_region (buffer, 1, 1, BOX (70, 147, 10, 21));
  gst_buffer_unref (buffer);
}

GST_END_TEST;

GST_START_TEST (test_roi_stays_inside_the_frame)
{
  const GstCclBlob blobs[] = {
    rectangle (1, 0, 0, 4, 4), rectangle (2, 6, 0, 4, 4), rectangle (3, 12, 10, 20, 8), rectangle (4, 26, 0, 3, 3)
  };
  GstBuffer *const buffer = gst_buffer_new ();
  GstCclBlobMeta *const meta = add_blobs (buffer, blobs, G_N_ELEMENTS (blobs), 32, 24);

  /* Cropped to columns 8 to 23, rows 2 to 15. */
  meta->width = 16;
  meta->height = 14;
  meta->matrix[2] = -8;
  meta->matrix[5] = -2;
  fail_unless_equals_int (gst_buffer_add_ccl_roi_mirror (buffer, meta, "blob", 100), 2);
  assert_region (buffer, 0, 2, BOX (0, 0, 2, 2));
  assert_region (buffer, 1, 3, BOX (4, 8, 12, 6));
  /* One that has no place does not count. */
  fail_unless_equals_int (gst_buffer_add_ccl_roi_mirror (buffer, meta, "blob", 1), 1);
  assert_region (buffer, 2, 2, BOX (0, 0, 2, 2));
  gst_buffer_unref (buffer);
}

GST_END_TEST;

/* A buffer with a second owner must not change, and the call must not crash. */
GST_START_TEST (test_unwritable_buffer_is_refused)
{
  GstBuffer *const buffer = gst_buffer_new ();
  GstCclBlobMeta *const meta = add_sample (buffer);

  gst_buffer_ref (buffer);
  ASSERT_CRITICAL (fail_unless_equals_int (gst_buffer_add_ccl_roi_mirror (buffer, meta, "blob", 9), 0));
  ASSERT_CRITICAL (fail_unless_equals_int (gst_buffer_add_ccl_analytics_mirror (buffer, meta, "blob", 9), 0));
  gst_buffer_unref (buffer);
  fail_unless_equals_int (gst_buffer_add_ccl_roi_mirror (buffer, meta, "blob", 9), 3);
  gst_buffer_unref (buffer);
}

GST_END_TEST;

GST_START_TEST (test_roi_is_capped)
{
  GstBuffer *const buffer = gst_buffer_new ();
  const GstCclBlobMeta *const meta = add_sample (buffer);

  fail_unless_equals_int (gst_buffer_add_ccl_roi_mirror (buffer, meta, "blob", 0), 0);
  fail_unless (nth_region (buffer, 0) == NULL);
  fail_unless_equals_int (gst_buffer_add_ccl_roi_mirror (buffer, meta, "blob", 2), 2);
  assert_region (buffer, 1, 2, BOX (20, 5, 1, 1));
  fail_unless (nth_region (buffer, 2) == NULL);
  gst_buffer_unref (buffer);
}

GST_END_TEST;

#ifndef HAVE_GST_ANALYTICS
GST_START_TEST (test_analytics_not_built)
{
  GstBuffer *const buffer = gst_buffer_new ();
  GstCclBlobMeta *const meta = add_sample (buffer);
  const GstCclBlobList *const list = meta->list;

  fail_unless_equals_int (gst_buffer_add_ccl_analytics_mirror (buffer, meta, "blob", 100), 0);
  fail_unless (meta->list == list);
  fail_unless_equals_int64 (gst_ccl_blob_meta_get_blob (meta, 0)->mtd_id, GST_CCL_MTD_ID_NONE);
  gst_buffer_unref (buffer);
}

GST_END_TEST;

GST_START_TEST (test_analytics)
{
  SKIP_TEST ("built without gst-analytics-1.0");
}

GST_END_TEST;

GST_START_TEST (test_analytics_joins_what_is_there)
{
  SKIP_TEST ("built without gst-analytics-1.0");
}

GST_END_TEST;

GST_START_TEST (test_analytics_adds_nothing_for_nothing)
{
  SKIP_TEST ("built without gst-analytics-1.0");
}

GST_END_TEST;

GST_START_TEST (test_analytics_many)
{
  SKIP_TEST ("built without gst-analytics-1.0");
}

GST_END_TEST;
#else
static void
assert_detection (GstAnalyticsRelationMeta * relations, guint id, const gchar * type, GstVideoRectangle box)
{
  GstAnalyticsODMtd mtd;
  gint mx, my, mw, mh;
  gfloat confidence;

  fail_unless (gst_analytics_relation_meta_get_od_mtd (relations, id, &mtd));
  fail_unless_equals_string (g_quark_to_string (gst_analytics_od_mtd_get_obj_type (&mtd)), type);
  fail_unless (gst_analytics_od_mtd_get_location (&mtd, &mx, &my, &mw, &mh, &confidence));
  fail_unless (mx == box.x && my == box.y && mw == box.w
      && mh == box.h, "detection %u is %d,%d %dx%d", id, mx, my, mw, mh);
  fail_unless (confidence == -1);
}

GST_START_TEST (test_analytics)
{
  GstBuffer *const buffer = gst_buffer_new ();
  GstCclBlobMeta *const meta = add_sample (buffer);
  GstBuffer *const copy = gst_buffer_copy (buffer);
  GstAnalyticsRelationMeta *relations;

  fail_unless_equals_int (gst_buffer_add_ccl_analytics_mirror (buffer, meta, "motion", 100), 3);
  relations = gst_buffer_get_analytics_relation_meta (buffer);
  fail_unless_equals_int (gst_analytics_relation_get_length (relations), 3);
  assert_detection (relations, gst_ccl_blob_meta_get_blob (meta, 0)->mtd_id, "motion", BOX (0, 2, 4, 2));
  assert_detection (relations, gst_ccl_blob_meta_get_blob (meta, 1)->mtd_id, "motion", BOX (20, 5, 1, 1));
  assert_detection (relations, gst_ccl_blob_meta_get_blob (meta, 2)->mtd_id, "motion", BOX (10, 10, 8, 12));

  /* The list that a copy of the buffer shares knows nothing of it. */
  fail_unless_equals_int64 (gst_ccl_blob_meta_get_blob (gst_buffer_get_ccl_blob_meta (copy), 0)->mtd_id,
      GST_CCL_MTD_ID_NONE);
  gst_buffer_unref (copy);

  /* Regions made afterwards carry the same ids. */
  fail_unless_equals_int (gst_buffer_add_ccl_roi_mirror (buffer, meta, "motion", 100), 3);
  fail_unless_equals_int (nth_region (buffer, 2)->id, gst_ccl_blob_meta_get_blob (meta, 2)->mtd_id);
  gst_buffer_unref (buffer);
}

GST_END_TEST;

GST_START_TEST (test_analytics_joins_what_is_there)
{
  GstBuffer *const buffer = gst_buffer_new ();
  GstCclBlobMeta *const meta = add_sample (buffer);
  GstAnalyticsRelationMeta *const relations = gst_buffer_add_analytics_relation_meta (buffer);
  GstAnalyticsODMtd face;

  fail_unless (gst_analytics_relation_meta_add_od_mtd (relations, g_quark_from_static_string ("face"), 1, 2, 3, 4, -1,
          &face));
  fail_unless_equals_int (gst_buffer_add_ccl_analytics_mirror (buffer, meta, "blob", 2), 2);
  fail_unless (gst_buffer_get_analytics_relation_meta (buffer) == relations);
  fail_unless_equals_int (gst_analytics_relation_get_length (relations), 3);
  assert_detection (relations, face.id, "face", BOX (1, 2, 3, 4));
  assert_detection (relations, gst_ccl_blob_meta_get_blob (meta, 1)->mtd_id, "blob", BOX (20, 5, 1, 1));
  fail_unless (gst_ccl_blob_meta_get_blob (meta, 0)->mtd_id != face.id);
  /* The third was over the limit. */
  fail_unless_equals_int64 (gst_ccl_blob_meta_get_blob (meta, 2)->mtd_id, GST_CCL_MTD_ID_NONE);
  gst_buffer_unref (buffer);
}

GST_END_TEST;

GST_START_TEST (test_analytics_adds_nothing_for_nothing)
{
  GstBuffer *const buffer = gst_buffer_new ();
  GstCclBlobMeta *const meta = gst_buffer_add_ccl_blob_meta (buffer, NULL, 32, 24);

  fail_unless_equals_int (gst_buffer_add_ccl_analytics_mirror (buffer, meta, "blob", 100), 0);
  fail_unless (gst_buffer_get_analytics_relation_meta (buffer) == NULL);
  gst_buffer_unref (buffer);
}

GST_END_TEST;

GST_START_TEST (test_analytics_many)
{
  const guint n = 2000;
  GstBuffer *const buffer = gst_buffer_new ();
  GstCclBlob *blobs;
  GstCclBlobList *const list = gst_ccl_blob_list_new_uninitialized (n, &blobs);
  GstCclBlobMeta *meta;

  for (guint i = 0; i < n; i++)
    blobs[i] = rectangle (i + 1, 2 * (i % 100), 2 * (i / 100), 1, 1);
  meta = gst_buffer_add_ccl_blob_meta (buffer, list, 200, 40);
  gst_ccl_blob_list_unref (list);
  fail_unless_equals_int (gst_buffer_add_ccl_analytics_mirror (buffer, meta, "blob", G_MAXUINT), n);
  assert_detection (gst_buffer_get_analytics_relation_meta (buffer),
      gst_ccl_blob_meta_get_blob (meta, n - 1)->mtd_id, "blob", BOX (198, 38, 1, 1));
  gst_buffer_unref (buffer);
}

GST_END_TEST;
#endif

static Suite *
mirrors_suite (void)
{
  Suite *const suite = suite_create ("mirrors");
  TCase *const tests = tcase_create ("general");

  suite_add_tcase (suite, tests);
  tcase_add_test (tests, test_roi_fields);
  tcase_add_test (tests, test_roi_of_scaled_frame);
  tcase_add_test (tests, test_roi_of_ratios_in_floats);
  tcase_add_test (tests, test_roi_stays_inside_the_frame);
  tcase_add_test (tests, test_roi_is_capped);
  tcase_add_test (tests, test_unwritable_buffer_is_refused);
#ifndef HAVE_GST_ANALYTICS
  tcase_add_test (tests, test_analytics_not_built);
#endif
  tcase_add_test (tests, test_analytics);
  tcase_add_test (tests, test_analytics_joins_what_is_there);
  tcase_add_test (tests, test_analytics_adds_nothing_for_nothing);
  tcase_add_test (tests, test_analytics_many);
  return suite;
}

GST_CHECK_MAIN (mirrors);
