/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* ccllabel with volume: ids of blobs over several frames. */
#include "ccllabel-volume.h"

Mask
bar_at (guint x, guint y)
{
  Mask mask = mask_new (32, 16);

  for (guint i = 0; i < 6; i++)
    mask.pixels[(y + i / 3) * 32 + x + i % 3] = 1;
  return mask;
}

guint64
id_of (GstBuffer * buffer, guint n)
{
  GstCclBlobMeta *meta = gst_buffer_get_ccl_blob_meta (buffer);

  fail_unless (meta != NULL && n < gst_ccl_blob_meta_get_length (meta), "no blob %u", n);
  return gst_ccl_blob_meta_get_blob (meta, n)->volume_id;
}

guint64
pull_id (GstHarness * harness)
{
  GstBuffer *buffer = gst_harness_try_pull (harness);
  guint64 id;

  fail_unless (buffer != NULL, "no frame came");
  id = id_of (buffer, 0);
  gst_buffer_unref (buffer);
  return id;
}

GstHarness *
bar_harness (guint backend, const gchar * settings)
{
  GstHarness *harness = label_harness (backend, settings);
  Mask mask = bar_at (0, 0);

  set_mask_caps (harness, GST_VIDEO_FORMAT_GRAY8, &mask);
  mask_free (&mask);
  return harness;
}

void
push_bar (GstHarness * harness, guint x, guint y, guint n)
{
  Mask mask = bar_at (x, y);

  fail_unless_equals_int (push_mask (harness, &mask, n), GST_FLOW_OK);
  mask_free (&mask);
}

static Suite *
ccllabel_volume_suite (void)
{
  Suite *suite = suite_create ("ccllabel-volume");

  ccllabel_volume_add_ids_tests (suite);
  ccllabel_volume_add_stream_tests (suite);
#ifdef CCL_EMULATED
  ccllabel_volume_add_lost_tests (suite);
#endif
  return suite;
}

TEST_MAIN (ccllabel_volume, "ccllabel-volume");
