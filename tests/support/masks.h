/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Binary masks, and buffers made of them. */
#ifndef CCL_TEST_MASKS_H
#define CCL_TEST_MASKS_H

#include <gst/check/gstcheck.h>
#include <gst/check/gstharness.h>
#include <gst/video/video.h>

/* 1 = foreground. Passed by value, so that tests can write MASK ("#.", ".#"). */
typedef struct
{
  guint width, height;
  guint8 *pixels;
} Mask;

#define MASK(...) mask_from_rows ((const gchar *const[]) { __VA_ARGS__, NULL })

Mask mask_new (guint width, guint height);
void mask_free (Mask * mask);
Mask mask_from_rows (const gchar * const *rows);

/* The same mask for the same seed, everywhere. */
Mask mask_random (guint width, guint height, guint seed, gdouble density);

/* n blobs of one pixel. */
Mask mask_dots (guint n);

/* Writes the mask as the values `on` and `off` into the first plane. */
void draw_mask (guint8 * data, gsize stride, guint pixel_size, const Mask * mask, guint on, guint off);

/* A buffer in the layout of its caps, without a meta. Bytes outside the mask are noise. */
GstBuffer *buffer_from_values (GstVideoFormat format, const Mask * mask, guint on, guint off);
GstBuffer *buffer_from_mask (GstVideoFormat format, const Mask * mask);
gchar *caps_string (GstVideoFormat format, guint width, guint height);

/* Sets the caps of the mask on the source pad of the harness. */
void set_mask_caps (GstHarness * harness, GstVideoFormat format, const Mask * mask);

#endif
