/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * The delivery core: what every sink that publishes lines has in common. It has no GObject and knows no protocol.
 *
 *     push() -> [spool] -> waiting -> send() of the transport -> in flight -> acknowledged()
 *                             ^                                     |
 *                             +------------- lost() ----------------+---> refused(): dropped and counted
 *
 * Order: messages are sent in the order of push(). Nothing overtakes: after lost() every message that was not acknowledged is
 * sent again, in order, before any later one. This makes delivery "at least once". A transport that needs strict order
 * although the broker may refuse single messages sets `max_in_flight` to 1.
 *
 * Ownership: the core owns a message from push() to its end. send() only borrows it; it may keep a reference to `payload`.
 *
 * Threads: the core calls send() from one thread of its own, without its lock, in order. The functions "for transports" may be
 * called from any thread, also from inside send(), except lost(): this one waits until a running send() has returned. So a
 * transport calls lost() without a lock that its send() takes, and not from inside send(). All others may be called from
 * any thread. Pushing never waits for the network or a disk.
 *
 * Units: times are monotonic microseconds (g_get_monotonic_time()), sizes are bytes.
 */
#ifndef __GST_CCL_DELIVERY_H__
#define __GST_CCL_DELIVERY_H__

#include <gst/gst.h>

#include "base/gstcclminavgmax.h"

G_BEGIN_DECLS

typedef struct _GstCclDelivery GstCclDelivery;

/* ---------------------------------------------------------------- messages */

typedef struct
{
  guint64 id;                   /* set by push(), from 1, increasing; with a spool across starts too */
  gchar *source;                /* the camera; what order is promised for. Never NULL */
  gchar *topic;                 /* topic or subject. Never NULL */
  GBytes *payload;
  gint64 arrived;               /* when it was pushed, also by an earlier start */
  gint64 arrived_utc;           /* the same in microseconds since 1970 (g_get_real_time()), which the spool keeps */
  guint n_sends;                /* send() was called for it, the present call included */
} GstCclDeliveryMessage;

/* Takes source and topic, copies `size` bytes. NULL: no memory; source and topic are freed. */
GstCclDeliveryMessage *gst_ccl_delivery_message_new (gchar * source, gchar * topic, gconstpointer data, gsize size);
void gst_ccl_delivery_message_free (GstCclDeliveryMessage * message);

/* ---------------------------------------------------------------- transports */

typedef enum
{
  GST_CCL_SEND_ACCEPTED,        /* in flight: acknowledged(), refused() or lost() follows, or has come already */
  GST_CCL_SEND_ACCEPTED_ONCE,   /* the same, but lost() drops it instead of sending it again (at most once) */
  GST_CCL_SEND_LATER,           /* not now: send() comes again for the same message after resume() or connected() */
  GST_CCL_SEND_REFUSED,         /* never: the message is dropped and counted; `reason` says why */
} GstCclSendResult;

#define GST_CCL_DELIVERY_REASON_SIZE 256

/* What a sink for one protocol implements. `transport` is the pointer given to gst_ccl_delivery_new(). */
typedef struct
{
  /* Begins to connect, and returns at once. From now on it may call the functions below. */
  void (*start) (gpointer transport, GstCclDelivery * delivery);

  /* Ends the connection, in about a second at most. send() is not called any longer. After its return the transport calls
   * nothing. */
  void (*stop) (gpointer transport);

  /* Hands over one message, without waiting for the broker. Between connected() and lost() only. `reason` has
   * GST_CCL_DELIVERY_REASON_SIZE bytes. */
    GstCclSendResult (*send) (gpointer transport, const GstCclDeliveryMessage * message, gchar * reason);
} GstCclDeliveryTransport;

/* For transports. The connection stands and is empty: send() begins with the oldest message that was not acknowledged. */
void gst_ccl_delivery_connected (GstCclDelivery * delivery);

/* For transports. The connection broke: all in flight wait again, in order. Later acknowledgements for them still count. Also
 * reports an outage. Without effect if not connected. */
void gst_ccl_delivery_lost (GstCclDelivery * delivery, const gchar * reason);

/* For transports. An attempt to connect failed: reports an outage. */
void gst_ccl_delivery_not_connected (GstCclDelivery * delivery, const gchar * reason);

/* For transports. The broker has taken the message, or will never take it: then it is dropped and counted, and the next follows.
 * Both ignore an id that is not known, for example because the message was dropped meanwhile. */
void gst_ccl_delivery_acknowledged (GstCclDelivery * delivery, guint64 id);
void gst_ccl_delivery_refused (GstCclDelivery * delivery, guint64 id, const gchar * reason);

/* For transports. The broker has no space for the message at present: it waits again, in order, and nothing is sent until
 * resume() or connected(). For the next minute messages are sent one by one, so that none overtakes. Reports as full() does.
 * Ignores an id that is not known. */
void gst_ccl_delivery_postponed (GstCclDelivery * delivery, guint64 id, const gchar * reason);

/* For transports. Reports that the broker is full, once until a minute has passed without such a call. */
void gst_ccl_delivery_full (GstCclDelivery * delivery, const gchar * reason);

/* For transports. After GST_CCL_SEND_LATER or postponed(): there may be space again. */
void gst_ccl_delivery_resume (GstCclDelivery * delivery);

/* For transports. Waits, unless the transport stops: it sets `is_stopping` with this lock and signals. FALSE: it stops. */
gboolean gst_ccl_delivery_pause (GMutex * lock, GCond * cond, const gboolean * is_stopping, gint64 microseconds);

/* For transports: 16 hexadecimal digits. With `id` they name a message in the world, for de-duplication. With a spool the
 * same at each start, otherwise random. */
const gchar *gst_ccl_delivery_get_instance (GstCclDelivery * delivery);

/* ---------------------------------------------------------------- settings and statistics */

typedef enum
{
  GST_CCL_OVERFLOW_DROP_OLDEST,
  GST_CCL_OVERFLOW_DROP_NEWEST,
  GST_CCL_OVERFLOW_BLOCK,
} GstCclOverflow;

typedef struct
{
  GstCclOverflow overflow;
  guint max_messages;           /* that wait in memory; those in flight come on top */
  guint64 max_bytes;            /* of all in memory: payload, topic, source and a fixed sum for each message */
} GstCclDeliveryLimits;

typedef struct
{
  guint max_in_flight;          /* messages handed over and not acknowledged, at least 1 */
  const gchar *spool_location;  /* file; NULL: no spool */
  guint64 spool_max_bytes;      /* payloads in the spool; the oldest are dropped first */
} GstCclDeliverySettings;

/* Why a message was dropped. */
typedef enum
{
  GST_CCL_DROP_FULL,            /* the queue was full */
  GST_CCL_DROP_TOO_LARGE,       /* larger than max_bytes, or no memory */
  GST_CCL_DROP_REFUSED,         /* by the broker, or the transport */
  GST_CCL_DROP_LOST,            /* sent at most once, and the connection broke */
  GST_CCL_DROP_STOPPED,         /* not delivered when the sink stopped (with a spool: not yet committed) */
  GST_CCL_DROP_SPOOL_FULL,      /* the spool had reached its limit, or the disk was full */
  GST_CCL_DROP_SPOOL_ERROR,     /* the spool could not be read or written */
  GST_CCL_DROP_N,
} GstCclDrop;

/* The name of a reason in statistics: "full", "too-large", ... */
const gchar *gst_ccl_drop_name (GstCclDrop drop);

typedef struct
{
  gboolean is_connected;
  guint64 pushed;               /* messages given to push() */
  guint64 accepted;             /* of these the queue took; with a spool: committed and synced */
  guint64 sent;                 /* calls of send() that were accepted, repetitions included */
  guint64 acknowledged;
  guint64 dropped[GST_CCL_DROP_N];
  guint64 bytes;                /* payloads acknowledged */
  guint queued, in_flight;      /* messages in memory at present */
  guint64 queued_bytes;         /* of both, as max_bytes counts */
  guint64 spool_messages, spool_bytes;  /* in the spool at present */
  guint64 recovered;            /* messages of earlier starts that the spool had */
  guint64 n_connects, n_failures;       /* failures: attempts and broken connections */
  GstCclMinAvgMax latency;      /* from push() to acknowledged(), microseconds */
  gchar last_error[GST_CCL_DELIVERY_REASON_SIZE];        /* "": none */
} GstCclDeliveryStats;

/* Sum of `dropped`. */
guint64 gst_ccl_delivery_stats_dropped (const GstCclDeliveryStats * stats);

/* Calls to the owner, from threads of the transport or the core, without a lock. */
typedef struct
{
  void (*connected) (gpointer owner);
  void (*disconnected) (gpointer owner, const gchar * reason);  /* once per outage and reason */
  void (*refused) (gpointer owner, const gchar * topic, const gchar * reason);  /* the first message since start() */
  void (*warning) (gpointer owner, const gchar * text); /* about the spool */
  void (*full) (gpointer owner, const gchar * reason);  /* the broker is; once in a minute */
} GstCclDeliveryOwner;

/* ---------------------------------------------------------------- life */

/* All pointers must stay valid until free(). The core is stopped. */
GstCclDelivery *gst_ccl_delivery_new (const GstCclDeliveryTransport * functions, gpointer transport,
    const GstCclDeliveryOwner * calls, gpointer owner);
void gst_ccl_delivery_free (GstCclDelivery * delivery);

/* Sets all counters to 0, opens the spool, and starts the threads and the transport. FALSE: the spool cannot be used at all,
 * `error` says why. Strings are copied. */
gboolean gst_ccl_delivery_start (GstCclDelivery * delivery, const GstCclDeliverySettings * settings, GError ** error);

/* Stops transport and threads. What waits stays in the spool, or is dropped. Returns the number dropped. */
guint gst_ccl_delivery_stop (GstCclDelivery * delivery);

/* At any time. Holds from the next push on. */
void gst_ccl_delivery_set_limits (GstCclDelivery * delivery, const GstCclDeliveryLimits * limits);

typedef enum
{
  GST_CCL_PUSH_QUEUED,
  GST_CCL_PUSH_DROPPED,         /* this message, by its policy or size; counted */
  GST_CCL_PUSH_FULL,            /* policy "block": the message is still the caller's; wait() and try again */
} GstCclPushResult;

/* Takes the message unless it returns GST_CCL_PUSH_FULL. */
GstCclPushResult gst_ccl_delivery_push (GstCclDelivery * delivery, GstCclDeliveryMessage * message);

/* A message that could not be made. */
void gst_ccl_delivery_count_drop (GstCclDelivery * delivery, GstCclDrop drop);

/* Waits until something has changed since the call that set `seen` (0 at first), or until `end` (-1: no end). FALSE: it is past
 * `end`. wake() is a change. */
gboolean gst_ccl_delivery_wait (GstCclDelivery * delivery, guint64 * seen, gint64 end);
void gst_ccl_delivery_wake (GstCclDelivery * delivery);

/* The next failure is reported, even if the outage was reported already. */
void gst_ccl_delivery_report_again (GstCclDelivery * delivery);

/* Messages that are neither acknowledged nor dropped, the spool included. */
guint64 gst_ccl_delivery_n_undelivered (GstCclDelivery * delivery);

void gst_ccl_delivery_get_stats (GstCclDelivery * delivery, GstCclDeliveryStats * stats);

G_END_DECLS

#endif
