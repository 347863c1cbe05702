/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* The messages in memory of a delivery core: two lists in the order of ids. Every id in flight is smaller than every one that
 * waits, except those that wait again. The queue has no lock. Its owner must hold one during each call. */
#ifndef __GST_CCL_DELIVERY_QUEUE_H__
#define __GST_CCL_DELIVERY_QUEUE_H__

#include "delivery/gstccldelivery.h"

G_BEGIN_DECLS

/* What a message costs beside payload, topic and source: about what its structures take. */
#define GST_CCL_DELIVERY_MESSAGE_COST 256

/* A message with what the core knows about it. gst_ccl_delivery_message_new() makes one and returns its first member. */
typedef struct
{
  GstCclDeliveryMessage message;
  guint64 cost;                 /* bytes, as `max_bytes` counts */
  gint64 sent_at;               /* the last call of send() */
  gboolean is_once;             /* the transport sends it at most once */
  gboolean is_spooled;          /* it has a row in the spool */
} GstCclDeliveryEntry;

typedef struct
{
  GQueue waiting, in_flight;    /* of GstCclDeliveryEntry */
  guint64 waiting_bytes, in_flight_bytes;       /* costs */
} GstCclDeliveryQueue;

void gst_ccl_delivery_queue_init (GstCclDeliveryQueue * queue);

/* Frees all messages. Returns their number. */
guint gst_ccl_delivery_queue_clear (GstCclDeliveryQueue * queue);

/* Appends to those that wait; takes the entry. */
void gst_ccl_delivery_queue_push (GstCclDeliveryQueue * queue, GstCclDeliveryEntry * entry);

/* Removes the oldest that waits. NULL: none. (transfer full) */
GstCclDeliveryEntry *gst_ccl_delivery_queue_pop (GstCclDeliveryQueue * queue);

/* Puts the oldest that waits in flight. NULL: none. (transfer none) */
GstCclDeliveryEntry *gst_ccl_delivery_queue_take (GstCclDeliveryQueue * queue);

/* The newest in flight waits again. */
void gst_ccl_delivery_queue_put_back (GstCclDeliveryQueue * queue);

/* The message, which is in no list, waits again before all later ones; takes the entry. */
void gst_ccl_delivery_queue_wait_again (GstCclDeliveryQueue * queue, GstCclDeliveryEntry * entry);

/* Removes the message with this id, if it is in flight, or was and waits again. NULL: it is not. (transfer full) */
GstCclDeliveryEntry *gst_ccl_delivery_queue_remove (GstCclDeliveryQueue * queue, guint64 id);

/* All in flight wait again, in order, except those that are sent once. These come into `once`. */
void gst_ccl_delivery_queue_lose (GstCclDeliveryQueue * queue, GQueue * once);

G_END_DECLS

#endif
