/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* A harness around one ccllabel. */
#ifndef CCL_TEST_LABELHARNESS_H
#define CCL_TEST_LABELHARNESS_H

#include "backends.h"
#include "harness.h"
#include "masks.h"

/* A harness around a bin with one ccllabel. The bin gets `context` before it starts. */
GstHarness *harness_in_context (guint backend, const gchar * settings, GstContext * context);
GstHarness *label_harness (guint backend, const gchar * settings);

/* The ccllabel in a harness, (transfer none). */
GstElement *label_of (GstHarness * harness);
void set_label (GstHarness * harness, const gchar * name, const gchar * value);

/* Pushes a mask as GRAY8 with the n-th frame's time. */
GstFlowReturn push_mask (GstHarness * harness, const Mask * mask, guint n);
/* The frame that leaves for it. */
GstBuffer *label_mask (GstHarness * harness, const Mask * mask, guint n);
/* The frame that leaves for the first mask with new caps of this format. */
GstBuffer *label_one (GstHarness * harness, GstVideoFormat format, const Mask * mask);
guint64 stat_uint64 (GstHarness * harness, const gchar * name);
gchar *stat_string (GstHarness * harness, const gchar * name);

#endif
