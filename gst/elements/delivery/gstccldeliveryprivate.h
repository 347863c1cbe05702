/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* The files of the delivery core share this. */
#ifndef __GST_CCL_DELIVERY_PRIVATE_H__
#define __GST_CCL_DELIVERY_PRIVATE_H__

#include "delivery/gstccldelivery.h"
#include "delivery/gstccldeliveryqueue.h"

G_BEGIN_DECLS

typedef enum
{
  GST_CCL_ANSWER_NONE,
  GST_CCL_ANSWER_ACKNOWLEDGED,
  GST_CCL_ANSWER_REFUSED,
} GstCclDeliveryAnswer;

/* Finds a message that breaks each connection it is sent on. */
typedef struct
{
  guint n_losses;               /* of connections with messages in flight, since the last acknowledgement */
  guint64 suspect;              /* id of a message that was alone in flight when the connection broke */
  guint n_suspect_losses;
  gboolean has_dropped;         /* a suspect since the last acknowledgement: then the broker is at fault */
} GstCclDeliverySuspicion;

struct _GstCclDelivery
{
  /* Fixed from new() on. */
  const GstCclDeliveryTransport *functions;
  gpointer transport;
  const GstCclDeliveryOwner *calls;
  gpointer owner;

  /* Fixed from start() to stop(). */
  gchar instance[17];
  guint max_in_flight;
  GThread *sender;

  GMutex lock;
  GCond cond;                   /* signals every change */

  /* Under `lock`. */
  GstCclDeliveryLimits limits;
  GstCclDeliveryQueue queue;
  GstCclDeliveryStats stats;
  GstCclDeliverySuspicion suspicion;
  guint64 next_id, n_changes, n_resumes;
  gboolean is_running, is_stopping;
  gboolean is_blocked;          /* send() said "later" */
  gboolean outage_reported, refusal_reported;
  guint64 sending;              /* id of the message in send(), 0: none */
  GstCclDeliveryAnswer answer;  /* to the message in send(), which is still borrowed */
};

/* Counts a drop and frees the entry. With `lock`. */
void gst_ccl_delivery_drop (GstCclDelivery * delivery, GstCclDeliveryEntry * entry, GstCclDrop reason);

/* Signals a change. With `lock`. */
void gst_ccl_delivery_changed (GstCclDelivery * delivery);

/* The thread that calls send(), until `is_stopping`. */
gpointer gst_ccl_delivery_run_sender (gpointer delivery);

G_END_DECLS

#endif
