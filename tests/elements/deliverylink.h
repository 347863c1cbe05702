/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* A transport for tests of the delivery core: it records what is sent. The test answers, or a thread that breaks connections
 * at random. */
#ifndef CCL_TEST_DELIVERY_LINK_H
#define CCL_TEST_DELIVERY_LINK_H

#include <gst/check/gstcheck.h>

#include "delivery/gstccldelivery.h"

typedef struct
{
  GstCclDelivery *delivery;
  GMutex lock;

  /* Under `lock`. */
  GArray *ids;                  /* guint64, of all messages that send() accepted */
  GString *letters;             /* the first byte of each of their payloads */
  GstCclSendResult result;      /* of send() */
  gchar poison;                 /* a payload that begins with it sets `is_poisoned` */
  gboolean is_poisoned;
  gboolean answers_inside;      /* acknowledged() comes from inside send() */
  gboolean is_full;             /* postponed() does */
  gboolean refuses_inside;      /* refused() does */
  gchar reason[GST_CCL_DELIVERY_REASON_SIZE];   /* of the last refusal that was reported */
  gboolean is_held;             /* send() does not return meanwhile */
  guint n_calls;                /* of send() */
  guint n_connected, n_disconnected, n_refused, n_warnings, n_full;
} Link;

/* A core with this link and these limits (NULL: the default). FALSE: it does not start; the link needs no closing. */
gboolean try_link (Link * link, const GstCclDeliverySettings * settings, const GstCclDeliveryLimits * limits, GError ** error);
void open_link (Link * link, guint max_in_flight);
void close_link (Link * link);

/* Pushes a message for each letter. Returns the result of the last push. */
GstCclPushResult push_letters (Link * link, const gchar * letters);
GstCclDeliveryStats get_stats (Link * link);

/* Waits until `n` messages were sent, and their letters are `letters`. */
void expect_sent (Link * link, const gchar * letters);

/* Acknowledges the message that was sent as number `i`. */
void acknowledge (Link * link, guint i);

#endif
