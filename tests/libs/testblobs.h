/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Blobs and metas that the suites share. */

#ifndef __TEST_BLOBS_H__
#define __TEST_BLOBS_H__

#include <gst/ccl/ccl.h>
#include <gst/check/gstcheck.h>
#include <math.h>

/* A full rectangle, its sums by adding up its pixels. */
static inline GstCclBlob
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

static inline GstCclBlobMeta *
add_blobs (GstBuffer * buffer, const GstCclBlob * blobs, guint n, guint width, guint height)
{
  GstCclBlobList *const list = gst_ccl_blob_list_new (blobs, n);
  GstCclBlobMeta *const meta = gst_buffer_add_ccl_blob_meta (buffer, list, width, height);

  gst_ccl_blob_list_unref (list);
  return meta;
}

/* Three blobs, one of each kind, every field of the meta different from its default. */
static inline GstCclBlobMeta *
add_sample (GstBuffer * buffer)
{
  GstCclBlob blobs[3] = { rectangle (1, 0, 2, 4, 2), rectangle (2, 20, 5, 1, 1), rectangle (3, 10, 10, 8, 12) };
  GstCclBlobMeta *meta;

  blobs[0].flags = GST_CCL_BLOB_FLAG_TOUCHES_LEFT;
  blobs[2].flags = GST_CCL_BLOB_FLAG_CONFIRMED | GST_CCL_BLOB_FLAG_MERGED;
  blobs[2].track_id = G_GUINT64_CONSTANT (5000000001);
  blobs[2].age = 17;
  blobs[2].parent_id = G_GUINT64_CONSTANT (5000000000);

  meta = add_blobs (buffer, blobs, 3, 32, 24);
  meta->flags = GST_CCL_BLOB_META_FLAG_TRUNCATED;
  meta->n_kept = 5;
  meta->n_total = 9;
  meta->connectivity = 8;
  meta->source = g_quark_from_static_string ("ccllabel0");
  return meta;
}

/* The first has a contour, the last both, the one between neither. */
static inline void
add_points (GstCclBlobMeta * meta)
{
  static const GstCclPoint points[] = { {0, 2}, {4, 2}, {4, 4}, {0, 4}, {10, 10}, {18, 10}, {18, 22}, {10, 22},
    {11.5, 9.25}, {13.5, 15}, {14, 16}
  };
  GBytes *const bytes = g_bytes_new_static (points, sizeof (points));
  GstCclBlob *blobs;
  GstCclBlobList *const list = gst_ccl_blob_list_copy (meta->list, &blobs);

  blobs[0].n_contour = blobs[2].n_contour = blobs[2].first_point = 4;
  blobs[2].n_trail = 3;
  gst_ccl_blob_list_set_points (list, bytes);
  gst_ccl_blob_meta_set_list (meta, list);
  gst_ccl_blob_list_unref (list);
  g_bytes_unref (bytes);
}

#define assert_near(a, b) \
  G_STMT_START { \
    const gdouble first = (a), second = (b); \
    fail_unless (fabs (first - second) < 1e-9, "%s is %.17g, not %.17g", #a, first, second); \
  } G_STMT_END

/* Edges of the box in the frame. */
static inline void
assert_box (const GstCclBlobMeta * meta, guint index, gdouble x, gdouble y, gdouble width, gdouble height)
{
  gdouble bx, by, bw, bh;

  gst_ccl_blob_meta_get_box (meta, index, &bx, &by, &bw, &bh);
  fail_unless (fabs (bx - x) < 1e-9 && fabs (by - y) < 1e-9 && fabs (bw - width) < 1e-9 && fabs (bh - height) < 1e-9,
      "box %u is %.12g,%.12g %.12gx%.12g, not %g,%g %gx%g", index, bx, by, bw, bh, x, y, width, height);
}

#endif
