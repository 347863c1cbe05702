/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* The last positions of an object: a ring that keeps the newest. */
#ifndef __GST_CCL_TRAIL_RING_H__
#define __GST_CCL_TRAIL_RING_H__

#include <gst/ccl/ccl.h>

#include "base/gstcclvector.h"

G_BEGIN_DECLS

typedef struct
{
  guint capacity, n, next;      /* next: index of the entry that is written next */
  GstCclPoint places[];
} GstCclTrailRing;

/* An empty ring of `capacity` places, which may be 0. g_free() frees it. */
GstCclTrailRing *gst_ccl_trail_ring_new (guint capacity);

/* A ring of another capacity with the newest places of `ring`. */
GstCclTrailRing *gst_ccl_trail_ring_resize (const GstCclTrailRing * ring, guint capacity);

void gst_ccl_trail_ring_add (GstCclTrailRing * ring, GstCclPoint place);

/* The place `index`, 0 for the oldest. */
GstCclPoint gst_ccl_trail_ring_get (const GstCclTrailRing * ring, guint index);

/* Appends all places to a vector of GstCclPoint, the oldest first. FALSE without memory. */
gboolean gst_ccl_trail_ring_append_to (const GstCclTrailRing * ring, GstCclVector * points);

G_END_DECLS

#endif
