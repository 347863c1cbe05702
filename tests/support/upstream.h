/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* What an element tells upstream: buffers that it needs, and its latency. */
#ifndef CCL_TEST_UPSTREAM_H
#define CCL_TEST_UPSTREAM_H

#include <gst/check/gstcheck.h>
#include <gst/check/gstharness.h>
#include <gst/video/video.h>

/* Number of RECONFIGURE events since the last call. */
guint n_reconfigures (GstHarness * harness);

/* The elements behind `pad` offer pools of two buffers, with at most `max` (0 = no limit). */
void limit_pool (GstPad * pad, guint max);

/* Sends an ALLOCATION query as upstream does. Returns the minimum number of buffers of a pool. */
guint ask_for_buffers (GstHarness * harness);

/* The minimum latency at a pad. Returns FALSE while no element answers. */
gboolean query_latency (GstPad * pad, GstClockTime * min);
GstClockTime harness_latency (GstHarness * harness);

#endif
