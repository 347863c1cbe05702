/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* The metadata: defaults, tags, text. */
#include "blobmeta.h"
#include "support/skip.h"

#include <gst/video/gstvideosink.h>

GST_START_TEST (test_meta_tags)
{
  const GstMetaInfo *const info = GST_CCL_BLOB_META_INFO;
  const gchar *const *const tags = gst_meta_api_type_get_tags (GST_CCL_BLOB_META_API_TYPE);

  fail_unless (gst_meta_get_info ("GstCclBlobMetaImpl") == info);
  fail_unless_equals_int (g_strv_length ((gchar **) tags), 3);
  fail_unless (g_strv_contains (tags, GST_META_TAG_VIDEO_STR));
  fail_unless (g_strv_contains (tags, GST_META_TAG_VIDEO_SIZE_STR));
  fail_unless (g_strv_contains (tags, GST_META_TAG_VIDEO_ORIENTATION_STR));
}

GST_END_TEST;

GST_START_TEST (test_meta_defaults)
{
  GstBuffer *const buffer = gst_buffer_new ();
  GstCclBlobMeta *meta;

  fail_unless (gst_buffer_get_ccl_blob_meta (buffer) == NULL);
  meta = gst_buffer_add_ccl_blob_meta (buffer, NULL, 640, 480);
  fail_unless (gst_buffer_get_ccl_blob_meta (buffer) == meta);
  fail_unless (gst_ccl_blob_meta_is_identity (meta));
  fail_unless_equals_int (gst_ccl_blob_meta_get_length (meta), 0);
  fail_unless_equals_int (meta->ref_width, 640);
  fail_unless_equals_int (meta->height, 480);
  fail_unless (gst_ccl_blob_meta_get_blob (meta, 0) == NULL);
  fail_unless (gst_ccl_blob_meta_dup_blob (meta, 0) == NULL);
  fail_unless (gst_ccl_blob_meta_get_source (meta) == NULL);
  ASSERT_CRITICAL (assert_box (meta, 0, 0, 0, 0, 0));
  ASSERT_CRITICAL (gst_ccl_blob_meta_get_centroid (meta, 0, NULL, NULL));
  gst_buffer_unref (buffer);
}

GST_END_TEST;

GST_START_TEST (test_set_list_leaves_copies_alone)
{
  GstBuffer *const buffer = gst_buffer_new ();
  GstCclBlobMeta *const meta = add_sample (buffer);
  GstBuffer *const copy = gst_buffer_copy (buffer);
  GstCclBlobMeta *const copied = gst_buffer_get_ccl_blob_meta (copy);

  fail_unless (copied != meta && copied->list == meta->list);
  gst_ccl_blob_meta_set_list (meta, NULL);
  fail_unless_equals_int (gst_ccl_blob_meta_get_length (meta), 0);
  fail_unless_equals_int (gst_ccl_blob_meta_get_length (copied), 3);
  /* The same list again: not freed on the way. */
  gst_ccl_blob_meta_set_list (copied, copied->list);
  gst_buffer_unref (buffer);
  fail_unless_equals_int (gst_ccl_blob_meta_get_blob (copied, 2)->age, 17);
  gst_buffer_unref (copy);
}

GST_END_TEST;

GST_START_TEST (test_set_matrix)
{
  const gdouble matrix[9] = { 2, 0, 0, 0, 3, 0, 0, 0, 1 };
  GstBuffer *const buffer = gst_buffer_new ();
  GstCclBlobMeta *const meta = add_sample (buffer);
  gdouble x, y, width, height;

  gst_ccl_blob_meta_set_matrix (meta, matrix);
  gst_ccl_blob_meta_get_box (meta, 0, &x, &y, &width, &height);
  fail_unless (x == 0 && y == 6 && width == 8 && height == 6);
  gst_buffer_unref (buffer);
}

GST_END_TEST;

GST_START_TEST (test_string)
{
  GstBuffer *const buffer = gst_buffer_new (), *const scaled = gst_buffer_new ();
  gchar *text;

  text = gst_ccl_blob_meta_to_string (add_sample (buffer));
  fail_unless_equals_string (text, "3 blobs (kept 5 of 9, 8-connected) of a 32x24 mask in a 32x24 frame, truncated, "
      "from ccllabel0; blob 1: area 8, box 0,2 4x2, left; blob 2: area 1, box 20,5 1x1; "
      "blob 3: area 96, box 10,10 8x12, track 5000000001, age 17, out of track 5000000000, confirmed+merged");
  g_free (text);

  text = gst_ccl_blob_meta_to_string (scale (scaled, buffer, 48, 24));
  fail_unless (strstr (text, " in a 48x24 frame, matrix 1.5 0 0 / 0 1 0 / 0 0 1, truncated"), "%s", text);
  g_free (text);
  gst_buffer_unref (scaled);
  gst_buffer_unref (buffer);
}

GST_END_TEST;

#if GST_CHECK_VERSION (1, 24, 0)
GST_START_TEST (test_pooled_meta_is_cleared)
{
  GstBufferPool *const pool = gst_buffer_pool_new ();
  GstStructure *const config = gst_buffer_pool_get_config (pool);
  GstBuffer *buffer, *first;
  GstCclBlobMeta *meta;

  gst_buffer_pool_config_set_params (config, NULL, 16, 1, 1);
  fail_unless (gst_buffer_pool_set_config (pool, config));
  fail_unless (gst_buffer_pool_set_active (pool, TRUE));
  gst_buffer_pool_acquire_buffer (pool, &buffer, NULL);
  first = buffer;
  meta = add_sample (buffer);
  meta->matrix[0] = 2;
  GST_META_FLAG_SET (meta, GST_META_FLAG_POOLED);
  gst_buffer_unref (buffer);

  gst_buffer_pool_acquire_buffer (pool, &buffer, NULL);
  fail_unless (buffer == first);
  meta = gst_buffer_get_ccl_blob_meta (buffer);
  fail_unless (meta != NULL && meta->list == NULL && meta->n_total == 0 && meta->source == 0);
  fail_unless (gst_ccl_blob_meta_is_identity (meta));
  fail_unless_equals_int (gst_ccl_blob_meta_get_length (meta), 0);
  gst_buffer_unref (buffer);
  gst_buffer_pool_set_active (pool, FALSE);
  gst_object_unref (pool);
}

GST_END_TEST;
#else
GST_START_TEST (test_pooled_meta_is_cleared)
{
  SKIP_TEST ("GStreamer before 1.24");
}

GST_END_TEST;
#endif

void
blobmeta_add_meta_tests (Suite * suite)
{
  TCase *tests = tcase_create ("meta");

  tcase_add_test (tests, test_meta_tags);
  tcase_add_test (tests, test_meta_defaults);
  tcase_add_test (tests, test_set_list_leaves_copies_alone);
  tcase_add_test (tests, test_set_matrix);
  tcase_add_test (tests, test_string);
  tcase_add_test (tests, test_pooled_meta_is_cleared);
  suite_add_tcase (suite, tests);
}
