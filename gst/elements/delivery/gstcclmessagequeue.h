/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * The messages of a publisher, from their arrival to the broker's acknowledgement.
 *
 *     push()  -> waiting -> take() -> in flight -> acknowledge()
 *                   ^                    |
 *                   +---- put_back() ----+-> reject(), lose(): dropped
 *
 * The queue has no lock. Its owner must hold one during each call.
 */
#ifndef __GST_CCL_MESSAGE_QUEUE_H__
#define __GST_CCL_MESSAGE_QUEUE_H__

#include <gst/gst.h>

#include "base/gstcclminavgmax.h"

G_BEGIN_DECLS

/* Messages handed to libmosquitto and not yet acknowledged. The others wait here, where they are counted and bounded. */
#define GST_CCL_MQTT_MAX_IN_FLIGHT 20

typedef enum
{
  GST_CCL_OVERFLOW_DROP_OLDEST,
  GST_CCL_OVERFLOW_DROP_NEWEST,
  GST_CCL_OVERFLOW_BLOCK,
} GstCclOverflow;

#define GST_TYPE_CCL_MQTT_OVERFLOW (gst_ccl_mqtt_overflow_get_type ())
GType gst_ccl_mqtt_overflow_get_type (void);

typedef struct
{
  gchar *topic;
  GBytes *payload;
  GstClockTime arrived;
} GstCclMessage;

/* The maximum size of a packet in MQTT, in bytes. */
#define GST_CCL_MQTT_MAX_PAYLOAD 268435455

/* Makes a message with a copy of `size` bytes, which arrives now. Takes the topic. NULL: too large for MQTT, or no memory. */
GstCclMessage *gst_ccl_message_new (gchar * topic, gconstpointer data, gsize size);
void gst_ccl_message_free (GstCclMessage * message);

typedef struct
{
  GstClockTime arrived;
  gint qos_level;
} GstCclInFlight;

typedef struct
{
  GQueue waiting;               /* of GstCclMessage */
  GstCclInFlight in_flight[GST_CCL_MQTT_MAX_IN_FLIGHT]; /* a ring, in the order of sending */
  guint first_in_flight, n_in_flight;
  gboolean is_sending;          /* take() has returned a message whose result is not known yet */
  gboolean is_lost;             /* lose() has counted that message */

  guint64 published;            /* acknowledged by the broker, if the QoS level has acknowledgements */
  guint64 dropped;
  guint64 bytes;                /* of messages handed over */
  GstCclMinAvgMax latency;      /* from arrival until the broker has received the message, in microseconds */
} GstCclMessageQueue;

/* An empty queue that has counted nothing. */
void gst_ccl_message_queue_init (GstCclMessageQueue * queue);

/* Drops all messages. Returns their number. */
guint gst_ccl_message_queue_clear (GstCclMessageQueue * queue);

/* Takes the message. If `size` messages wait, drops it or older ones. */
void gst_ccl_message_queue_push (GstCclMessageQueue * queue, GstCclMessage * message, GstCclOverflow overflow, guint size);

/* Number of messages that wait, and number that wait or are in flight. */
guint gst_ccl_message_queue_n_waiting (const GstCclMessageQueue * queue);
guint gst_ccl_message_queue_n_undelivered (const GstCclMessageQueue * queue);

/* The next message, which is then in flight. NULL: none waits, or too many are in flight. One thread at a time takes. */
GstCclMessage *gst_ccl_message_queue_take (GstCclMessageQueue * queue, gint qos_level);

/* The result of the message that take() returned last. Each function takes the message. After handed_over() the broker will
 * acknowledge it. After put_back() it waits again, as the first one. reject() drops it. */
void gst_ccl_message_queue_handed_over (GstCclMessageQueue * queue, GstCclMessage * message);
void gst_ccl_message_queue_put_back (GstCclMessageQueue * queue, GstCclMessage * message);
void gst_ccl_message_queue_reject (GstCclMessageQueue * queue, GstCclMessage * message);

/* The broker has received the oldest message in flight. */
void gst_ccl_message_queue_acknowledge (GstCclMessageQueue * queue);

/* The connection broke: messages in flight with QoS level 0 are lost. The client sends the others again. */
void gst_ccl_message_queue_lose (GstCclMessageQueue * queue);

G_END_DECLS

#endif
