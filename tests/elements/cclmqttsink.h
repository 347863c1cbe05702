/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* cclmqttsink: what its tests share. */
#ifndef CCL_TEST_CCLMQTTSINK_H
#define CCL_TEST_CCLMQTTSINK_H

#include <gst/check/gstcheck.h>
#include <gst/check/gstharness.h>

#include "mqttbroker.h"
#include "support/harness.h"
#include "support/skip.h"

#define CAPS "application/x-json"

typedef struct
{
  GstHarness *harness;
  GstBus *bus;
} Publisher;

GstElement *new_sink (const gchar * scheme, guint port, const gchar * topic);
Publisher publish_with (GstElement * sink);
GstFlowReturn push_number (Publisher * publisher, guint number);
void push_numbers (Publisher * publisher, guint first, guint last);
guint64 stat_of (Publisher * publisher, const gchar * field);
void wait_for_stat (Publisher * publisher, const gchar * field, guint64 value);

/* The same for a number that grows on. */
void wait_for_at_least (Publisher * publisher, const gchar * field, guint64 value);

/* That many messages have come, and every one of them is with the broker. */
void expect_all_published (Publisher * publisher, guint64 count);

/* The next warning or error on the bus, other than those that say `past` (NULL: none), says `words`. */
void expect_message_past (Publisher * publisher, GstMessageType type, const gchar * past, const gchar * words);
void expect_message (Publisher * publisher, GstMessageType type, const gchar * words);
void close_publisher (Publisher * publisher);

/* The sink's queue of ten is full, and the thread waits to push message 11. The thread's result is that of the push. */
GThread *start_waiting_for_room (GstElement * sink, Publisher * publisher);

/* The tests of each subject. */
TCase *mqtt_delivery_tests (void);
TCase *mqtt_address_tests (void);
TCase *mqtt_queue_tests (void);
TCase *mqtt_end_tests (void);
TCase *mqtt_setting_tests (void);
TCase *mqtt_security_tests (void);
TCase *mqtt_version_tests (void);
TCase *mqtt_session_tests (void);
TCase *mqtt_trust_tests (void);

#endif
