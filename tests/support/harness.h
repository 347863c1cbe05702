/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* A harness around elements, and their properties and statistics. */
#ifndef CCL_TEST_HARNESS_H
#define CCL_TEST_HARNESS_H

#include <gst/check/gstcheck.h>
#include <gst/check/gstharness.h>

/* A harness around `element` with its settings, as gst-launch-1.0 takes them. `caps` may be NULL. */
GstHarness *element_harness (const gchar * element, const gchar * settings, const gchar * caps);

/* Sets a property of the first element of this factory in the harness. */
void harness_set (GstHarness * harness, const gchar * factory, const gchar * property, const gchar * value);

/* A number in the statistics of the first element of this factory: guint, guint64 or gboolean. */
guint64 harness_stat (GstHarness * harness, const gchar * factory, const gchar * name);
gchar *harness_stat_string (GstHarness * harness, const gchar * factory, const gchar * name);

/* The same for one element. */
guint64 element_stat (GstElement * element, const gchar * name);
gchar *element_stat_string (GstElement * element, const gchar * name);

/* A frame of `size` bytes, all of them `value`. */
GstBuffer *plain_frame (gsize size, guint8 value, GstClockTime pts, GstClockTime duration);

/* A segment in time from `start` on. */
GstEvent *segment_from (GstClockTime start);

/* Flushes the harness and begins a segment anew. */
void flush_harness (GstHarness * harness);

#endif
