/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Messages of an element on a bus of the test. */
#ifndef CCL_TEST_MESSAGES_H
#define CCL_TEST_MESSAGES_H

#include <gst/check/gstcheck.h>
#include <gst/check/gstharness.h>

GstBus *watch_bus (GstHarness * harness);

/* The next error (or warning) on the bus must contain `text`. */
void assert_message (GstBus * bus, GstMessageType type, const gchar * text);
void assert_no_message (GstBus * bus, GstMessageType type);
void drop_bus (GstHarness * harness, GstBus * bus);

#endif
