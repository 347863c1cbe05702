/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* ccllabel: masks in, blobs out. Every test runs on each backend that is there. */
#include "ccllabel.h"

const GstVideoFormat formats[] = {
  GST_VIDEO_FORMAT_GRAY8, GST_VIDEO_FORMAT_GRAY16_LE, GST_VIDEO_FORMAT_NV12, GST_VIDEO_FORMAT_NV21,
  GST_VIDEO_FORMAT_I420, GST_VIDEO_FORMAT_YV12, GST_VIDEO_FORMAT_Y42B, GST_VIDEO_FORMAT_Y444,
};

guint
count_regions (GstBuffer * buffer, const gchar * type)
{
  GstVideoRegionOfInterestMeta *region;
  gpointer state = NULL;
  guint n = 0;

  while ((region = (GstVideoRegionOfInterestMeta *) gst_buffer_iterate_meta_filtered (buffer, &state,
              GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE)))
    n += region->roi_type == g_quark_from_string (type);
  return n;
}

void
check_pulled (GstHarness * harness, const Mask * mask, guint connectivity, guint n)
{
  GstBuffer *buffer = gst_harness_try_pull (harness);

  fail_unless (buffer != NULL, "frame %u did not come out", n);
  fail_unless_equals_uint64 (GST_BUFFER_PTS (buffer), n * 40 * GST_MSECOND);
  assert_blobs (buffer, mask, connectivity);
  gst_buffer_unref (buffer);
}

static Suite *
ccllabel_suite (void)
{
  Suite *suite = suite_create ("ccllabel");

  ccllabel_add_masks_tests (suite);
  ccllabel_add_filters_tests (suite);
  ccllabel_add_features_tests (suite);
  ccllabel_add_intensity_tests (suite);
  ccllabel_add_alpha_tests (suite);
  ccllabel_add_maps_tests (suite);
  ccllabel_add_hints_tests (suite);
  ccllabel_add_changes_tests (suite);
  ccllabel_add_async_tests (suite);
  ccllabel_add_output_tests (suite);
  ccllabel_add_pools_tests (suite);
  ccllabel_add_negotiation_tests (suite);
  ccllabel_add_start_tests (suite);
  return suite;
}

GST_CHECK_MAIN (ccllabel);
