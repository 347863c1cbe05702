/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * The messages of a publisher, from their arrival to the broker's acknowledgement.
 *
 *     push()  -> waiting -> take() -> in flight -> acknowledge()
 *                   ^                    |
 *                   +---- put_back() ----+-> reject(), lose(): dropped
 *
 * The queue has no lock: its owner calls with one.
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

/* A message with a copy of `size` bytes that arrives now. Takes the topic. NULL: MQTT cannot send so many bytes, or there is no
 * memory. */
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
  gboolean is_sending;          /* take() returned a message, and what became of it is not known */
  gboolean is_lost;             /* lose() has counted that message */

  guint64 published;            /* acknowledged by the broker, as far as the QoS level asks for that */
  guint64 dropped;
  guint64 bytes;                /* of messages handed over */
  GstCclMinAvgMax latency;      /* from arrival until the broker has the message, in microseconds */
} GstCclMessageQueue;

/* An empty queue that has counted nothing. */
void gst_ccl_message_queue_init (GstCclMessageQueue * queue);

/* Drops all messages. Returns their number. */
guint gst_ccl_message_queue_clear (GstCclMessageQueue * queue);

/* Takes the message, or drops it or older ones if `size` wait. */
void gst_ccl_message_queue_push (GstCclMessageQueue * queue, GstCclMessage * message, GstCclOverflow overflow, guint size);

/* Messages that wait, and those that wait or are in flight. */
guint gst_ccl_message_queue_n_waiting (const GstCclMessageQueue * queue);
guint gst_ccl_message_queue_n_undelivered (const GstCclMessageQueue * queue);

/* The next message, which is then in flight. NULL: none waits, or too many are in flight. One thread at a time takes. */
GstCclMessage *gst_ccl_message_queue_take (GstCclMessageQueue * queue, gint qos_level);

/* What became of the message that take() returned last. Each function takes the message.
 * handed_over(): the broker will acknowledge it. put_back(): it waits again, as the first. reject(): it is dropped. */
void gst_ccl_message_queue_handed_over (GstCclMessageQueue * queue, GstCclMessage * message);
void gst_ccl_message_queue_put_back (GstCclMessageQueue * queue, GstCclMessage * message);
void gst_ccl_message_queue_reject (GstCclMessageQueue * queue, GstCclMessage * message);

/* The broker has the oldest message in flight. */
void gst_ccl_message_queue_acknowledge (GstCclMessageQueue * queue);

/* The connection broke: messages in flight with QoS level 0 are lost. The client sends the others again. */
void gst_ccl_message_queue_lose (GstCclMessageQueue * queue);

G_END_DECLS

#endif
