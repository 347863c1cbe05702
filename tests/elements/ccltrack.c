/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* ccltrack: the tests of all subjects in one program, and what they share. Its arithmetic has tests of its own. */

#include "ccltrack.h"

GstHarness *
new_harness (const gchar * settings)
{
  return element_harness ("ccltrack", settings, SMALL);
}

GstBuffer *
new_frame (GstClockTime pts)
{
  return plain_frame (16, 7, pts, GST_CLOCK_TIME_NONE);
}

GstCclBlobMeta *
add_boxes (GstBuffer * buffer, const Box * boxes, guint n)
{
  GstCclBlob *blobs = g_new (GstCclBlob, n + 1);
  GstCclBlobList *list;
  GstCclBlobMeta *meta;

  for (guint i = 0; i < n; i++)
    blobs[i] = rectangle (i + 1, boxes[i].x, boxes[i].y, boxes[i].width, boxes[i].height);
  list = gst_ccl_blob_list_new (blobs, n);
  meta = gst_buffer_add_ccl_blob_meta (buffer, list, 320, 240);
  meta->n_total = n;
  gst_ccl_blob_list_unref (list);
  g_free (blobs);
  return meta;
}

GstBuffer *
push_boxes (GstHarness * h, GstClockTime pts, const Box * boxes, guint n)
{
  GstBuffer *buffer = new_frame (pts);

  add_boxes (buffer, boxes, n);
  buffer = gst_harness_push_and_pull (h, buffer);
  fail_unless (buffer != NULL);
  return buffer;
}

GstBuffer *
push_box (GstHarness * h, guint frame, gint x)
{
  return push_boxes (h, frame * FRAME, &(Box) { x, 50, 20, 40 }, 1);
}

GstCclBlob
blob_at (GstBuffer * buffer, guint index)
{
  const GstCclBlob *const blob = gst_ccl_blob_meta_get_blob (gst_buffer_get_ccl_blob_meta (buffer), index);

  fail_unless (blob != NULL, "no blob %u", index);
  return *blob;
}

guint
count_blobs (GstBuffer * buffer)
{
  return gst_ccl_blob_meta_get_length (gst_buffer_get_ccl_blob_meta (buffer));
}

guint64
track_box (GstHarness * h, guint frame, gint x)
{
  GstBuffer *buffer = push_box (h, frame, x);
  const guint64 id = blob_at (buffer, 0).track_id;

  gst_buffer_unref (buffer);
  return id;
}

guint64
get_stat (GstHarness * h, const gchar * name)
{
  return harness_stat (h, "ccltrack", name);
}

static Suite *
ccltrack_suite (void)
{
  Suite *suite = suite_create ("ccltrack");

  suite_add_tcase (suite, track_blob_tests ());
  suite_add_tcase (suite, track_region_tests ());
  suite_add_tcase (suite, track_analytics_tests ());
  suite_add_tcase (suite, track_time_tests ());
  suite_add_tcase (suite, track_reset_tests ());
  suite_add_tcase (suite, track_history_tests ());
  return suite;
}

GST_CHECK_MAIN (ccltrack);
