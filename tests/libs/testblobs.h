/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Blobs and metas that the suites share. */

#ifndef __TEST_BLOBS_H__
#define __TEST_BLOBS_H__

#include <gst/ccl/ccl.h>
#include <gst/check/gstcheck.h>

#include "support/blobs.h"

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

/* The first has two holes, the last none, the one between was not measured. */
static inline void
add_shape (GstCclBlobMeta * meta)
{
  static const GstCclShapeCounts counts[] = { {1, -1, 4, 5, 9}, {3, 1, 12, 8, 38} };
  GBytes *const bytes = g_bytes_new_static (counts, sizeof (counts));

  gst_ccl_blob_list_set_shape (meta->list, bytes);
  g_bytes_unref (bytes);
}

#endif
