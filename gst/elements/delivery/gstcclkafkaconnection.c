/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "gstcclkafkaconnection.h"

#include <string.h>

#include <librdkafka/rdkafka.h>

GST_DEBUG_CATEGORY_EXTERN (gst_ccl_kafka_sink_debug);
#define GST_CAT_DEFAULT gst_ccl_kafka_sink_debug

/* Time in one call of librdkafka, after which the thread looks whether the element stops. */
#define POLL_MS 100
#define METADATA_MS 500
/* For reports of messages that are with a broker while the producer ends, and of those that are purged then. */
#define LAST_REPORTS (2 * G_USEC_PER_SEC)
#define PURGE_REPORTS (G_USEC_PER_SEC / 2)
#define REFUSED "larger than librdkafka takes, or not valid"
#define FIRST_PAUSE (G_USEC_PER_SEC / 2)

/* A message without a report. */
typedef struct
{
  guint64 id;
  gchar *source, *topic;
  GBytes *payload;
  gboolean is_alone;            /* librdkafka has no other */
} GstCclKafkaMessage;

static void
free_message (gpointer data)
{
  GstCclKafkaMessage *const message = data;

  g_free (message->source);
  g_free (message->topic);
  g_bytes_unref (message->payload);
  g_free (message);
}

/* ---------------------------------------------------------------- calls of librdkafka */

/* From any thread of librdkafka. */
static void
on_log (const rd_kafka_t * producer, gint level, const gchar * facility, const gchar * text)
{
  GstCclKafkaConnection *const self = rd_kafka_opaque (producer);

  if (level <= 4)
    GST_INFO_OBJECT (self->owner, "%s: %s", facility, text);
  else
    GST_DEBUG_OBJECT (self->owner, "%s: %s", facility, text);
}

/* Copies a reason without its times and counts, which differ each time. */
static void
set_reason (GstCclKafkaConnection * self, const gchar * text)
{
  const gchar *const end = strstr (text, " (after ");

  g_strlcpy (self->reason, text, MIN (sizeof self->reason, end ? (gsize) (end - text) + 1 : G_MAXSIZE));
}

/* From poll(). */
static void
on_error (rd_kafka_t * producer, gint error, const gchar * text, void *opaque)
{
  GstCclKafkaConnection *const self = opaque;
  gchar fatal[256];

  if (error == RD_KAFKA_RESP_ERR__FATAL) {
    error = rd_kafka_fatal_error (producer, fatal, sizeof fatal);
    GST_INFO_OBJECT (self->owner, "the producer ends: %s", fatal);
    if (!self->failure)
      self->failure = error;
  } else if (error == RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN) {
    self->all_down = TRUE;
  } else if (error != self->outage) {   /* several brokers give several texts: the first of each kind will do */
    self->outage = error;
    set_reason (self, text);
  }
}

/* Errors of a message that no later time repairs. */
static gboolean
is_refusal (gint error)
{
  switch (error) {
    case RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE:
    case RD_KAFKA_RESP_ERR_INVALID_MSG_SIZE:
    case RD_KAFKA_RESP_ERR_RECORD_LIST_TOO_LARGE:
    case RD_KAFKA_RESP_ERR_INVALID_TIMESTAMP:
    case RD_KAFKA_RESP_ERR_UNSUPPORTED_FOR_MESSAGE_FORMAT:
    case RD_KAFKA_RESP_ERR_POLICY_VIOLATION:
    case RD_KAFKA_RESP_ERR_INVALID_RECORD:
    case RD_KAFKA_RESP_ERR_TOPIC_EXCEPTION:
    case RD_KAFKA_RESP_ERR__INVALID_ARG:
      return TRUE;
    default:
      return FALSE;
  }
}

/* ---------------------------------------------------------------- sending */

/* Hands a message to librdkafka, which neither copies nor frees the payload. Returns its error. With `lock`. */
static gint
produce (GstCclKafkaConnection * self, GstCclKafkaMessage * message)
{
  gsize size;
  gpointer const data = (gpointer) g_bytes_get_data (message->payload, &size);

  message->is_alone = self->n_alone > 0;
  return rd_kafka_producev (self->producer, RD_KAFKA_V_TOPIC (message->topic),
      RD_KAFKA_V_KEY (message->source, strlen (message->source)), RD_KAFKA_V_VALUE (data, size),
      RD_KAFKA_V_OPAQUE (message), RD_KAFKA_V_END);
}

/* Hands over what librdkafka can take. With `lock`. */
static void
produce_all (GstCclKafkaConnection * self)
{
  while (self->producer && self->unsent && (!self->n_alone || self->n_produced == 0)) {
    GList *const link = self->unsent;
    const gint error = produce (self, link->data);

    if (error && !is_refusal (error)) {
      if (error != RD_KAFKA_RESP_ERR__QUEUE_FULL)
        self->send_failure = error;
      return;
    }
    self->unsent = link->next;
    if (error) {
      g_queue_unlink (&self->messages, link);
      g_queue_push_tail_link (&self->refused, link);
    } else {
      self->n_produced++;
    }
  }
}

/* Tells the core of messages that librdkafka refused at once. Without `lock`. */
static void
report_refused (GstCclKafkaConnection * self)
{
  GstCclKafkaMessage *message;

  do {
    g_mutex_lock (&self->lock);
    message = g_queue_pop_head (&self->refused);
    g_mutex_unlock (&self->lock);
    if (message) {
      gst_ccl_delivery_refused (self->delivery, message->id, REFUSED);
      free_message (message);
    }
  } while (message);
}

/* Whether a message was handed over before an outage. The ids of the queue increase. With `lock`. */
static gboolean
is_known (GstCclKafkaConnection * self, guint64 id)
{
  const GList *link = self->messages.tail;

  while (link && ((const GstCclKafkaMessage *) link->data)->id > id)
    link = link->prev;
  return link && ((const GstCclKafkaMessage *) link->data)->id == id;
}

static void
add_message (GstCclKafkaConnection * self, const GstCclDeliveryMessage * message)
{
  GstCclKafkaMessage *const copy = g_new0 (GstCclKafkaMessage, 1);

  copy->id = message->id;
  copy->source = g_strdup (message->source);
  copy->topic = g_strdup (message->topic);
  copy->payload = g_bytes_ref (message->payload);
  g_queue_push_tail (&self->messages, copy);
  if (!self->unsent)
    self->unsent = self->messages.tail;
}

static GstCclSendResult
send_message (gpointer transport, const GstCclDeliveryMessage * message, gchar * reason)
{
  GstCclKafkaConnection *const self = transport;
  GstCclSendResult result = GST_CCL_SEND_ACCEPTED;

  if (!gst_ccl_kafka_topic_is_valid (message->topic)) {
    g_strlcpy (reason, "the topic is not valid", GST_CCL_DELIVERY_REASON_SIZE);
    return GST_CCL_SEND_REFUSED;
  }
  g_strlcpy (reason, REFUSED, GST_CCL_DELIVERY_REASON_SIZE);
  g_mutex_lock (&self->lock);
  if (!is_known (self, message->id)) {
    if (self->messages.length < GST_CCL_KAFKA_MAX_IN_FLIGHT) {
      add_message (self, message);
      produce_all (self);
    } else {
      self->is_waiting = TRUE;
      result = GST_CCL_SEND_LATER;
    }
  }
  g_mutex_unlock (&self->lock);
  report_refused (self);
  return result;
}

/* ---------------------------------------------------------------- reports */

/* The end of a message, which the core knows already: so send() cannot take it for a new one. */
static void
finish_message (GstCclKafkaConnection * self, GstCclKafkaMessage * message)
{
  gboolean was_waiting;

  g_mutex_lock (&self->lock);
  self->n_produced--;
  if (self->n_alone && message->is_alone)
    self->n_alone--;
  g_queue_remove (&self->messages, message);
  was_waiting = self->is_waiting;
  self->is_waiting = FALSE;
  produce_all (self);
  g_mutex_unlock (&self->lock);
  free_message (message);
  report_refused (self);
  if (was_waiting)
    gst_ccl_delivery_resume (self->delivery);
}

/* A broker refuses a batch for one message in it. So the first refusal only ends the producer, and the messages that it had are
 * then sent one at a time. */
static void
take_error (GstCclKafkaConnection * self, GstCclKafkaMessage * message, gint error)
{
  if (!self->failure || self->failure == RD_KAFKA_RESP_ERR__GAPLESS_GUARANTEE)
    self->failure = error;
  g_mutex_lock (&self->lock);
  self->producer = NULL;        /* nothing follows */
  if (is_refusal (error) && !message->is_alone && !self->n_alone)
    self->n_alone = self->n_produced;
  g_mutex_unlock (&self->lock);
  if (is_refusal (error) && message->is_alone) {
    gst_ccl_delivery_refused (self->delivery, message->id, rd_kafka_err2str (error));
    finish_message (self, message);
  }
}

/* From poll(): what became of a message. */
static void
on_delivery (G_GNUC_UNUSED rd_kafka_t * producer, const rd_kafka_message_t * report, void *opaque)
{
  GstCclKafkaConnection *const self = opaque;
  GstCclKafkaMessage *const message = report->_private;

  if (report->err == RD_KAFKA_RESP_ERR__PURGE_QUEUE || report->err == RD_KAFKA_RESP_ERR__PURGE_INFLIGHT)
    return;                     /* the next producer sends it */
  if (report->err) {
    take_error (self, message, report->err);
    return;
  }
  self->has_delivered = TRUE;
  gst_ccl_delivery_acknowledged (self->delivery, message->id);
  finish_message (self, message);
  if (self->is_outage && self->is_connected)
    gst_ccl_delivery_connected (self->delivery);
  self->is_outage = FALSE;
}

/* ---------------------------------------------------------------- the thread */

static gboolean
is_stopping (GstCclKafkaConnection * self)
{
  gboolean stopping;

  g_mutex_lock (&self->lock);
  stopping = self->is_stopping;
  if (!self->failure)
    self->failure = self->send_failure;
  g_mutex_unlock (&self->lock);
  return stopping;
}

static rd_kafka_t *
new_producer (GstCclKafkaConnection * self, gchar * reason, gsize size)
{
  rd_kafka_conf_t *const conf = rd_kafka_conf_dup (self->conf);
  rd_kafka_t *const producer = rd_kafka_new (RD_KAFKA_PRODUCER, conf, reason, size);

  if (!producer)
    rd_kafka_conf_destroy (conf);
  return producer;
}

/* Whether a broker answers. */
static gboolean
has_broker (rd_kafka_t * producer)
{
  const struct rd_kafka_metadata *metadata;

  if (rd_kafka_metadata (producer, 0, NULL, &metadata, METADATA_MS) != RD_KAFKA_RESP_ERR_NO_ERROR)
    return FALSE;
  rd_kafka_metadata_destroy (metadata);
  return TRUE;
}

/* The connection stands, or has been lost. */
static void
update_connection (GstCclKafkaConnection * self, rd_kafka_t * producer)
{
  const gboolean check = !self->is_connected || self->all_down;
  const gboolean connected = check ? has_broker (producer) : TRUE;
  const gchar *const reason = *self->reason ? self->reason : "no broker answers";

  if (connected && !self->is_connected) {
    self->outage = 0;
    *self->reason = '\0';
    self->is_connected = TRUE;
    gst_ccl_delivery_connected (self->delivery);
  } else if (!connected && self->is_connected) {
    self->is_connected = FALSE;
    gst_ccl_delivery_lost (self->delivery, reason);
  } else if (!connected && self->all_down) {
    gst_ccl_delivery_not_connected (self->delivery, reason);
  }
  self->all_down = FALSE;
}

/* Serves a producer until the element stops, or the producer has ended. */
static void
serve (GstCclKafkaConnection * self, rd_kafka_t * producer)
{
  self->failure = 0;
  self->all_down = self->has_delivered = FALSE;
  g_mutex_lock (&self->lock);
  self->producer = producer;
  self->send_failure = 0;
  self->unsent = self->messages.head;
  produce_all (self);
  g_mutex_unlock (&self->lock);
  report_refused (self);
  while (!is_stopping (self) && !self->failure) {
    update_connection (self, producer);
    rd_kafka_poll (producer, POLL_MS);
  }
}

static void
take_reports (rd_kafka_t * producer, gint64 time)
{
  const gint64 end = g_get_monotonic_time () + time;

  while (rd_kafka_outq_len (producer) > 0 && g_get_monotonic_time () < end)
    rd_kafka_poll (producer, 10);
}

/* Ends a producer. Messages that are with a broker get time, so that their result is known. The next producer sends all that
 * are left, before new ones. */
static void
end_producer (GstCclKafkaConnection * self, rd_kafka_t * producer)
{
  const gboolean stopping = is_stopping (self);

  g_mutex_lock (&self->lock);
  self->producer = NULL;
  g_mutex_unlock (&self->lock);
  rd_kafka_purge (producer, RD_KAFKA_PURGE_F_QUEUE);
  if (!stopping)
    take_reports (producer, LAST_REPORTS);
  rd_kafka_purge (producer, RD_KAFKA_PURGE_F_QUEUE | RD_KAFKA_PURGE_F_INFLIGHT);
  take_reports (producer, PURGE_REPORTS);
  rd_kafka_destroy (producer);

  g_mutex_lock (&self->lock);
  self->n_produced = 0;
  self->unsent = NULL;
  GST_DEBUG_OBJECT (self->owner, "a producer has ended, and had %u messages", self->messages.length);
  g_mutex_unlock (&self->lock);
  if (!stopping && self->failure == RD_KAFKA_RESP_ERR_THROTTLING_QUOTA_EXCEEDED) {
    gst_ccl_delivery_full (self->delivery, rd_kafka_err2str (self->failure));
  } else if (!stopping && !is_refusal (self->failure)) {
    self->is_outage = TRUE;
    gst_ccl_delivery_not_connected (self->delivery, rd_kafka_err2str (self->failure));
  }
}

static gpointer
run_connection (gpointer data)
{
  GstCclKafkaConnection *const self = data;
  rd_kafka_t *producer = g_steal_pointer (&self->first);
  gint64 pause = FIRST_PAUSE;
  gchar reason[256];

  do {
    if (!producer && !(producer = new_producer (self, reason, sizeof reason))) {
      gst_ccl_delivery_not_connected (self->delivery, reason);
    } else {
      serve (self, producer);
      end_producer (self, producer);
      producer = NULL;
    }
    if (is_refusal (self->failure) || self->has_delivered)
      pause = FIRST_PAUSE;
  } while (gst_ccl_delivery_pause (&self->lock, &self->cond, &self->is_stopping, is_refusal (self->failure) ? 0 : pause)
      && (pause = MIN (2 * pause, self->max_pause)));
  g_queue_clear_full (&self->messages, free_message);
  return NULL;
}

/* ---------------------------------------------------------------- start and stop */

static void
start (gpointer transport, GstCclDelivery * delivery)
{
  GstCclKafkaConnection *const self = transport;

  self->delivery = delivery;
  self->is_stopping = self->is_waiting = self->is_connected = self->is_outage = FALSE;
  self->n_alone = self->n_produced = 0;
  self->outage = 0;
  *self->reason = '\0';
  self->thread = g_thread_new ("cclkafkasink", run_connection, self);
}

static void
stop (gpointer transport)
{
  GstCclKafkaConnection *const self = transport;

  g_mutex_lock (&self->lock);
  self->is_stopping = TRUE;
  g_cond_broadcast (&self->cond);
  g_mutex_unlock (&self->lock);
  g_thread_join (self->thread);
  self->thread = NULL;
}

const GstCclDeliveryTransport gst_ccl_kafka_transport = { start, stop, send_message };

void
gst_ccl_kafka_connection_init (GstCclKafkaConnection * self, GstObject * owner)
{
  memset (self, 0, sizeof *self);
  self->owner = owner;
  g_mutex_init (&self->lock);
  g_cond_init (&self->cond);
  g_queue_init (&self->messages);
  g_queue_init (&self->refused);
}

void
gst_ccl_kafka_connection_clear (GstCclKafkaConnection * self)
{
  gst_ccl_kafka_connection_close (self);
  g_mutex_clear (&self->lock);
  g_cond_clear (&self->cond);
}

gboolean
gst_ccl_kafka_connection_open (GstCclKafkaConnection * self, const GstCclKafkaSettings * settings, GError ** error,
    const gchar ** hint)
{
  gchar reason[256];

  *hint = NULL;
  self->conf = gst_ccl_kafka_configure (settings, error, hint);
  if (!self->conf)
    return FALSE;
  rd_kafka_conf_set_opaque (self->conf, self);
  rd_kafka_conf_set_log_cb (self->conf, on_log);
  rd_kafka_conf_set_error_cb (self->conf, on_error);
  rd_kafka_conf_set_dr_msg_cb (self->conf, on_delivery);
  self->max_pause = (gint64) (settings->servers->max_pause / 1000);
  /* The first producer shows whether certificates can be used, and settings fit together. */
  self->first = new_producer (self, reason, sizeof reason);
  if (self->first)
    return TRUE;
  g_set_error (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_SETTINGS, "librdkafka makes no producer: %s.", reason);
  gst_ccl_kafka_connection_close (self);
  return FALSE;
}

void
gst_ccl_kafka_connection_close (GstCclKafkaConnection * self)
{
  g_clear_pointer (&self->first, rd_kafka_destroy);
  g_clear_pointer (&self->conf, rd_kafka_conf_destroy);
}
