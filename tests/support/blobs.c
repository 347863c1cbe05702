/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "blobs.h"

GstCclBlob
rectangle (guint label, gint x, gint y, gint width, gint height)
{
  GstCclBlob blob = {
    .label = label,.x = x,.y = y,.width = width,.height = height,.first_x = x,.mtd_id = GST_CCL_MTD_ID_NONE
  };

  for (gint py = y; py < y + height; py++) {
    for (gint px = x; px < x + width; px++) {
      blob.area += 1;
      blob.m10 += px;
      blob.m01 += py;
      blob.m20 += px * px;
      blob.m11 += px * py;
      blob.m02 += py * py;
    }
  }
  return blob;
}

GstCclBlobMeta *
add_blobs (GstBuffer * buffer, const GstCclBlob * blobs, guint n, guint width, guint height)
{
  GstCclBlobList *const list = gst_ccl_blob_list_new (blobs, n);
  GstCclBlobMeta *const meta = gst_buffer_add_ccl_blob_meta (buffer, list, width, height);

  gst_ccl_blob_list_unref (list);
  return meta;
}

void
assert_box (const GstCclBlobMeta * meta, guint index, gdouble x, gdouble y, gdouble width, gdouble height)
{
  gdouble bx, by, bw, bh;

  gst_ccl_blob_meta_get_box (meta, index, &bx, &by, &bw, &bh);
  fail_unless (fabs (bx - x) < 1e-9 && fabs (by - y) < 1e-9 && fabs (bw - width) < 1e-9 && fabs (bh - height) < 1e-9,
      "box %u is %.12g,%.12g %.12gx%.12g, not %g,%g %gx%g", index, bx, by, bw, bh, x, y, width, height);
}

guint
n_blobs (GstBuffer * buffer)
{
  GstCclBlobMeta *meta = gst_buffer_get_ccl_blob_meta (buffer);

  fail_unless (meta != NULL, "no blobs attached");
  return gst_ccl_blob_meta_get_length (meta);
}

GBytes *
pull_blob_metas (GstHarness * harness)
{
  GByteArray *const all = g_byte_array_new ();
  GstBuffer *buffer;

  while ((buffer = gst_harness_try_pull (harness))) {
    GBytes *const meta = gst_ccl_blob_meta_to_bytes (gst_buffer_get_ccl_blob_meta (buffer));

    g_byte_array_append (all, g_bytes_get_data (meta, NULL), g_bytes_get_size (meta));
    g_bytes_unref (meta);
    gst_buffer_unref (buffer);
  }
  return g_byte_array_free_to_bytes (all);
}
