/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* What a compiled program knows of the public structs: sizes, offsets and flags. A number that changes here takes a new
 * soname (docs/design.md), unless a new member took the place of a reserved one. */

#include "support/skip.h"

#include <gst/ccl/ccl.h>

typedef struct
{
  const gchar *what;
  gsize is;
  gsize promised;
} Promise;

#define SIZE(type, promised) {"sizeof " #type, sizeof (type), promised}
#define MEMBER(type, member, promised) {#type "." #member, G_STRUCT_OFFSET (type, member), promised}
#define VALUE(name, promised) {#name, name, promised}

static const Promise promises[] = {
  MEMBER (GstCclBlob, label, 0),
  MEMBER (GstCclBlob, flags, 4),
  MEMBER (GstCclBlob, x, 8),
  MEMBER (GstCclBlob, y, 12),
  MEMBER (GstCclBlob, width, 16),
  MEMBER (GstCclBlob, height, 20),
  MEMBER (GstCclBlob, first_x, 24),
  MEMBER (GstCclBlob, age, 28),
  MEMBER (GstCclBlob, area, 32),
  MEMBER (GstCclBlob, m10, 40),
  MEMBER (GstCclBlob, m01, 48),
  MEMBER (GstCclBlob, m20, 56),
  MEMBER (GstCclBlob, m11, 64),
  MEMBER (GstCclBlob, m02, 72),
  MEMBER (GstCclBlob, track_id, 80),
  MEMBER (GstCclBlob, mtd_id, 88),
  MEMBER (GstCclBlob, zones, 92),
  MEMBER (GstCclBlob, parent_id, 96),
  MEMBER (GstCclBlob, first_point, 104),
  MEMBER (GstCclBlob, n_contour, 108),
  MEMBER (GstCclBlob, n_trail, 110),
  MEMBER (GstCclBlob, volume_id, 112),
  SIZE (GstCclBlob, 128),
  MEMBER (GstCclPoint, y, 4),
  SIZE (GstCclPoint, 8),
  MEMBER (GstCclShapeCounts, euler, 4),
  MEMBER (GstCclShapeCounts, runs, 8),
  MEMBER (GstCclShapeCounts, tops, 12),
  MEMBER (GstCclShapeCounts, diagonals, 16),
  SIZE (GstCclShapeCounts, 32),
  MEMBER (GstCclHullCounts, width_dx, 16),
  MEMBER (GstCclHullCounts, across1, 44),
  MEMBER (GstCclHullCounts, perimeter, 48),
  SIZE (GstCclHullCounts, 72),
  MEMBER (GstCclFilledCounts, n_holes, 4),
  MEMBER (GstCclFilledCounts, area_filled, 8),
  SIZE (GstCclFilledCounts, 32),
  MEMBER (GstCclHole, area, 4),
  MEMBER (GstCclHole, area_filled, 8),
  MEMBER (GstCclHole, x, 12),
  MEMBER (GstCclHole, first_x, 28),
  SIZE (GstCclHole, 48),
  MEMBER (GstCclClassId, class_id, 4),
  SIZE (GstCclClassId, 16),
  MEMBER (GstCclIntensityCounts, has_chroma, 12),
  MEMBER (GstCclIntensityCounts, sum, 16),
  MEMBER (GstCclIntensityCounts, xx, 48),
  MEMBER (GstCclIntensityCounts, yy, 80),
  MEMBER (GstCclIntensityCounts, cr, 104),
  SIZE (GstCclIntensityCounts, 128),
  MEMBER (GstCclBlobRow, track_id, 16),
  MEMBER (GstCclBlobRow, area, 40),
  MEMBER (GstCclBlobRow, euler_number, 144),
  MEMBER (GstCclBlobRow, area_convex, 192),
  MEMBER (GstCclBlobRow, area_filled, 272),
  MEMBER (GstCclBlobRow, intensity_min, 280),
  MEMBER (GstCclBlobRow, convexity, 376),
  MEMBER (GstCclBlobRow, class_id, 384),
  SIZE (GstCclBlobRow, 392),
  MEMBER (GstCclBlobMeta, list, 16),
  MEMBER (GstCclBlobMeta, flags, 24),
  MEMBER (GstCclBlobMeta, ref_width, 28),
  MEMBER (GstCclBlobMeta, ref_height, 32),
  MEMBER (GstCclBlobMeta, width, 36),
  MEMBER (GstCclBlobMeta, height, 40),
  MEMBER (GstCclBlobMeta, n_kept, 44),
  MEMBER (GstCclBlobMeta, n_total, 48),
  MEMBER (GstCclBlobMeta, connectivity, 52),
  MEMBER (GstCclBlobMeta, source, 56),
  MEMBER (GstCclBlobMeta, matrix, 64),
  SIZE (GstCclBlobMeta, 168),
  MEMBER (GstCclMaskMeta, mask, 16),
  MEMBER (GstCclMaskMeta, flags, 24),
  MEMBER (GstCclMaskMeta, ref_width, 28),
  MEMBER (GstCclMaskMeta, ref_height, 32),
  MEMBER (GstCclMaskMeta, width, 36),
  MEMBER (GstCclMaskMeta, height, 40),
  MEMBER (GstCclMaskMeta, n_foreground, 48),
  MEMBER (GstCclMaskMeta, area_ratio, 56),
  MEMBER (GstCclMaskMeta, source, 64),
  MEMBER (GstCclMaskMeta, matrix, 72),
  SIZE (GstCclMaskMeta, 176),
  MEMBER (GstCclZone, name, 0),
  MEMBER (GstCclZone, kind, 8),
  MEMBER (GstCclZone, n_points, 12),
  MEMBER (GstCclZone, points, 16),
  MEMBER (GstCclZone, n_inside, 24),
  MEMBER (GstCclZone, n_forward, 32),
  MEMBER (GstCclZone, n_backward, 40),
  SIZE (GstCclZone, 80),
  MEMBER (GstCclZoneMeta, n_zones, 16),
  MEMBER (GstCclZoneMeta, zones, 24),
  SIZE (GstCclZoneMeta, 64),
  VALUE (GST_CCL_BLOB_FLAG_TOUCHES_LEFT, 0x1),
  VALUE (GST_CCL_BLOB_FLAG_TOUCHES_TOP, 0x2),
  VALUE (GST_CCL_BLOB_FLAG_TOUCHES_RIGHT, 0x4),
  VALUE (GST_CCL_BLOB_FLAG_TOUCHES_BOTTOM, 0x8),
  VALUE (GST_CCL_BLOB_FLAG_TENTATIVE, 0x100),
  VALUE (GST_CCL_BLOB_FLAG_CONFIRMED, 0x200),
  VALUE (GST_CCL_BLOB_FLAG_PREDICTED, 0x400),
  VALUE (GST_CCL_BLOB_FLAG_LOST, 0x800),
  VALUE (GST_CCL_BLOB_FLAG_MERGED, 0x1000),
  VALUE (GST_CCL_BLOB_FLAG_SPLIT, 0x2000),
  VALUE (GST_CCL_BLOB_META_FLAG_TRUNCATED, 0x1),
  VALUE (GST_CCL_BLOB_META_FLAG_SKIPPED, 0x2),
  VALUE (GST_CCL_BLOB_META_FLAG_GLOBAL_CHANGE, 0x4),
  VALUE (GST_CCL_BLOB_META_FLAG_PREDICTED_ONLY, 0x8),
  VALUE (GST_CCL_BLOB_META_FLAG_HOLES_TRUNCATED, 0x10),
  VALUE (GST_CCL_MASK_META_FLAG_LEARNING, 0x1),
  VALUE (GST_CCL_MASK_META_FLAG_GLOBAL_CHANGE, 0x2),
  VALUE (GST_CCL_ZONE_POLYGON, 0),
  VALUE (GST_CCL_ZONE_LINE, 1),
  VALUE (GST_CCL_ERROR_DATA, 1),
  VALUE (GST_CCL_ERROR_VERSION, 2),
  VALUE (GST_CCL_ERROR_NO_MEMORY, 3),
};

GST_START_TEST (test_layout)
{
  const Promise *const promise = &promises[__i__];

  SKIP_TEST_UNLESS (sizeof (gpointer) == 8, "the numbers are those of 64-bit systems");
  fail_unless (promise->is == promise->promised, "%s is %" G_GSIZE_FORMAT ", not %" G_GSIZE_FORMAT, promise->what, promise->is,
      promise->promised);
}

GST_END_TEST;

static Suite *
layout_suite (void)
{
  Suite *const suite = suite_create ("layout");
  TCase *const tests = tcase_create ("structs");

  suite_add_tcase (suite, tests);
  tcase_add_loop_test (tests, test_layout, 0, G_N_ELEMENTS (promises));
  return suite;
}

GST_CHECK_MAIN (layout);
