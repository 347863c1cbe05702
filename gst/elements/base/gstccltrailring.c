/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "gstccltrailring.h"

GstCclTrailRing *
gst_ccl_trail_ring_new (guint capacity)
{
  GstCclTrailRing *const ring = g_malloc (sizeof (GstCclTrailRing) + capacity * sizeof (GstCclPoint));

  ring->capacity = capacity;
  ring->n = ring->next = 0;
  return ring;
}

GstCclTrailRing *
gst_ccl_trail_ring_resize (const GstCclTrailRing * ring, guint capacity)
{
  GstCclTrailRing *const resized = gst_ccl_trail_ring_new (capacity);
  const guint n = MIN (ring->n, capacity);

  for (guint i = ring->n - n; i < ring->n; i++)
    gst_ccl_trail_ring_add (resized, gst_ccl_trail_ring_get (ring, i));
  return resized;
}

void
gst_ccl_trail_ring_add (GstCclTrailRing * ring, GstCclPoint place)
{
  if (ring->capacity == 0)
    return;
  ring->places[ring->next] = place;
  ring->next = (ring->next + 1) % ring->capacity;
  ring->n = MIN (ring->n + 1, ring->capacity);
}

GstCclPoint
gst_ccl_trail_ring_get (const GstCclTrailRing * ring, guint index)
{
  return ring->places[(ring->next + ring->capacity - ring->n + index) % ring->capacity];
}

gboolean
gst_ccl_trail_ring_append_to (const GstCclTrailRing * ring, GstCclVector * points)
{
  const gboolean is_full = ring->n == ring->capacity;

  /* A ring that is not full begins at its first entry. */
  return (!is_full || gst_ccl_vector_append (points, ring->places + ring->next, ring->n - ring->next))
      && gst_ccl_vector_append (points, ring->places, is_full ? ring->next : ring->n);
}
