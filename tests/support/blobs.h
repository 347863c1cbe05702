/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Blobs, and the metadata made of them. */
#ifndef CCL_TEST_BLOBS_H
#define CCL_TEST_BLOBS_H

#include <gst/ccl/gstcclblobmeta.h>
#include <gst/check/gstcheck.h>
#include <gst/check/gstharness.h>
#include <math.h>

#define assert_near(a, b) \
  G_STMT_START { \
    const gdouble first = (a), second = (b); \
    fail_unless (fabs (first - second) < 1e-9, "%s is %.17g, not %.17g", #a, first, second); \
  } G_STMT_END

/* The blob of a filled rectangle. Its moments are sums over the pixels. */
GstCclBlob rectangle (guint label, gint x, gint y, gint width, gint height);
GstCclBlobMeta *add_blobs (GstBuffer * buffer, const GstCclBlob * blobs, guint n, guint width, guint height);

/* Compares the box of a blob, in the coordinates of the frame. */
void assert_box (const GstCclBlobMeta * meta, guint index, gdouble x, gdouble y, gdouble width, gdouble height);

/* Pulls all buffers that wait. Returns their metadata of blobs, one after the other. */
GBytes *pull_blob_metas (GstHarness * harness);

/* Number of blobs in the metadata. A buffer without metadata fails the test. */
guint n_blobs (GstBuffer * buffer);

#endif
