/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* ccltrack: the metadata of gst-analytics, which GStreamer has since 1.24. */

#include "ccltrack.h"
#include "support/skip.h"
#ifdef HAVE_GST_ANALYTICS
# include <gst/analytics/analytics.h>
#endif

#ifdef HAVE_GST_ANALYTICS
static guint64
tracking_id_of (GstAnalyticsRelationMeta * relations, guint object)
{
  GstAnalyticsTrackingMtd tracking;
  GstClockTime first, last;
  gboolean lost;
  guint64 id;

  fail_unless (gst_analytics_relation_meta_get_direct_related (relations, object, GST_ANALYTICS_REL_TYPE_RELATE_TO,
          gst_analytics_tracking_mtd_get_mtd_type (), NULL, &tracking));
  fail_unless (gst_analytics_tracking_mtd_get_info (&tracking, &id, &first, &last, &lost));
  fail_unless (first == 0 && !lost);
  return id;
}

GST_START_TEST (test_analytics)
{
  GstHarness *h = new_harness ("emit=tentative-boxes");
  guint64 id = 0;

  for (guint frame = 0; frame < 5; frame++) {
    GstBuffer *buffer = new_frame (frame * FRAME);
    GstAnalyticsRelationMeta *relations = gst_buffer_add_analytics_relation_meta (buffer);
    GstAnalyticsODMtd object;

    gst_analytics_relation_meta_add_od_mtd (relations, g_quark_from_static_string ("person"), 20 + 3 * frame, 20, 30,
        60, 0.9, &object);
    buffer = gst_harness_push_and_pull (h, buffer);
    relations = gst_buffer_get_analytics_relation_meta (buffer);
    id = frame == 0 ? tracking_id_of (relations, 0) : id;
    fail_unless (id > 0 && tracking_id_of (relations, 0) == id);
    gst_buffer_unref (buffer);
  }
  gst_harness_teardown (h);
}

GST_END_TEST;

GST_START_TEST (test_analytics_mirror)
{
  GstHarness *h = new_harness ("");
  const Box boxes[] = { {10, 10, 20, 20}, {100, 100, 30, 30} };
  GstBuffer *buffer = new_frame (0);
  GstCclBlobMeta *meta = add_boxes (buffer, boxes, 2);

  gst_buffer_add_ccl_analytics_mirror (buffer, meta, "blob", 2);
  buffer = gst_harness_push_and_pull (h, buffer);
  for (guint i = 0; i < 2; i++) {
    const GstCclBlob blob = blob_at (buffer, i);

    fail_unless (tracking_id_of (gst_buffer_get_analytics_relation_meta (buffer), blob.mtd_id) == blob.track_id);
  }
  gst_buffer_unref (buffer);
  gst_harness_teardown (h);
}

GST_END_TEST;
#else
GST_START_TEST (test_analytics)
{
  SKIP_TEST ("built without gst-analytics-1.0");
}

GST_END_TEST;

GST_START_TEST (test_analytics_mirror)
{
  SKIP_TEST ("built without gst-analytics-1.0");
}

GST_END_TEST;
#endif

TCase *
track_analytics_tests (void)
{
  TCase *tests = tcase_create ("analytics");

  tcase_add_test (tests, test_analytics);
  tcase_add_test (tests, test_analytics_mirror);
  return tests;
}
