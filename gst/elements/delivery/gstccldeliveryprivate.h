/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* The files of the delivery core share this. */
#ifndef __GST_CCL_DELIVERY_PRIVATE_H__
#define __GST_CCL_DELIVERY_PRIVATE_H__

#include "delivery/gstccldelivery.h"
#include "delivery/gstccldeliveryqueue.h"

G_BEGIN_DECLS

/* Lines that arrive in this time are committed to the spool together, in microseconds. */
#define GST_CCL_DELIVERY_GROUP_TIME (30 * G_TIME_SPAN_MILLISECOND)

typedef enum
{
  GST_CCL_ANSWER_NONE,
  GST_CCL_ANSWER_ACKNOWLEDGED,
  GST_CCL_ANSWER_REFUSED,
  GST_CCL_ANSWER_POSTPONED,
} GstCclDeliveryAnswer;

/* Finds a message that breaks each connection it is sent on. */
typedef struct
{
  guint n_losses;               /* of connections with messages in flight, since the last acknowledgement */
  guint64 suspect;              /* id of a message that was alone in flight when the connection broke */
  guint n_suspect_losses;
  gboolean has_dropped;         /* a suspect since the last acknowledgement: then the broker is at fault */
} GstCclDeliverySuspicion;

/* The spool in front of a queue: lines come into `incoming`, are written by a thread of its own, and then wait in memory, or in
 * the file alone if the memory has many. */
typedef struct
{
  struct _GstCclSpool *file;    /* of the thread */
  GThread *thread;
  guint64 max_bytes;

  /* Under the lock of the core. */
  GQueue incoming;              /* of GstCclDeliveryEntry, not written yet */
  guint n_incoming;             /* these, and those that are being written */
  guint64 incoming_bytes;
  GArray *deleted;              /* guint64 ids of rows that are no longer needed */
  guint64 n_rows, row_bytes;    /* in the file and needed */
  guint64 n_unloaded;           /* of these, not in memory: all after `last_loaded` */
  guint64 last_loaded;          /* id */
  gint64 write_at, delete_at, retry_at; /* times; 0: no need */
  gboolean is_failing, is_stopping;
} GstCclDeliverySpool;

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
  gboolean is_full;             /* the broker is, until resume() */
  gint64 full_until;            /* time: it was full lately, as was reported; 0: no */
  gint64 cautious_until;        /* time: messages are sent one by one; 0: no need */
  gboolean outage_reported, refusal_reported;
  guint64 sending;              /* id of the message in send(), 0: none */
  GstCclDeliveryAnswer answer;  /* to the message in send(), which is still borrowed */
  gchar answer_reason[GST_CCL_DELIVERY_REASON_SIZE];    /* of a refusal */
  GstCclDeliverySpool *spool;   /* NULL: none */
};

/* Lets the spool delete the row of an entry, if it has one. With `lock`. */
void gst_ccl_delivery_delete_row (GstCclDelivery * delivery, const GstCclDeliveryEntry * entry);

/* The same, and frees the entry. With `lock`. */
void gst_ccl_delivery_release (GstCclDelivery * delivery, GstCclDeliveryEntry * entry);

/* Counts a drop and releases the entry. With `lock`. */
void gst_ccl_delivery_drop (GstCclDelivery * delivery, GstCclDeliveryEntry * entry, GstCclDrop reason);

/* Signals a change. With `lock`. */
void gst_ccl_delivery_changed (GstCclDelivery * delivery);

/* The thread that calls send(), until `is_stopping`. */
gpointer gst_ccl_delivery_run_sender (gpointer delivery);

/* The spool. Both are called without `lock`. stop() writes what is left. It returns the number of lines that it could not
 * write. */
gboolean gst_ccl_delivery_spool_start (GstCclDelivery * delivery, const gchar * location, guint64 max_bytes, GError ** error);
guint gst_ccl_delivery_spool_stop (GstCclDelivery * delivery);

G_END_DECLS

#endif
