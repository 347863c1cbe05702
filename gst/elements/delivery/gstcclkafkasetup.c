/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* The configuration of a producer of Kafka. */

#include "gstcclkafkaconnection.h"

#include <string.h>

#include <librdkafka/rdkafka.h>

#define DEFAULT_PORT 9092

/* The promises of the element: `config` cannot take them away. */
static const gchar *const promises[][2] = {
  {"enable.idempotence", "true"},
  {"enable.gapless.guarantee", "true"}, /* nothing is sent after a message that was refused */
  {"acks", "all"},
  {"message.timeout.ms", "0"},  /* no limit: the core decides what is dropped */
  {"max.in.flight.requests.per.connection", "1"},
  {"partitioner", "murmur2_random"},    /* by key, as Java's clients do */
  {"reconnect.backoff.ms", "500"},
  {"socket.keepalive.enable", "true"},
};

/* Other names for promises, what properties set, and what no property text may hold. */
static const gchar *const forbidden[] = {
  "bootstrap.servers", "metadata.broker.list", "client.id", "security.protocol", "reconnect.backoff.max.ms",
  "delivery.timeout.ms", "request.required.acks", "max.in.flight", "retries", "message.send.max.retries",
  "transactional.id", "compression.codec", "compression.type", "queue.buffering.max.messages", "sasl.mechanism",
  "sasl.mechanisms", "sasl.username", "sasl.password", "ssl.key.password", "ssl.keystore.password", "ssl.key.pem",
  "sasl.oauthbearer.client.secret", "ssl.ca.location", "ssl.certificate.location", "ssl.key.location",
  "enable.ssl.certificate.verification", "ssl.endpoint.identification.algorithm", "dr_cb", "dr_msg_cb", "log_cb",
  "error_cb", "opaque", "default_topic_conf",
};

/* The error names the setting only: a value may be a password. */
static gboolean
set (rd_kafka_conf_t * conf, const gchar * key, const gchar * value, GError ** error)
{
  gchar reason[256];

  if (!value || rd_kafka_conf_set (conf, key, value, reason, sizeof reason) == RD_KAFKA_CONF_OK)
    return TRUE;
  g_set_error (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_SETTINGS, "librdkafka does not accept this value of %s.",
      key);
  return FALSE;
}

static gboolean
set_tls (rd_kafka_conf_t * conf, const GstCclServerSettings * settings, GError ** error)
{
  return !settings->tls || (set (conf, "ssl.ca.location", settings->ca_file, error)
      && set (conf, "ssl.certificate.location", settings->cert_file, error)
      && set (conf, "ssl.key.location", settings->key_file, error)
      && set (conf, "enable.ssl.certificate.verification", settings->verify ? "true" : "false", error)
      && set (conf, "ssl.endpoint.identification.algorithm", settings->verify ? "https" : "none", error));
}

static gboolean
set_login (rd_kafka_conf_t * conf, const GstCclKafkaSettings * settings, GError ** error)
{
  const GstCclServerSettings *const servers = settings->servers;
  const gchar *const protocols[2][2] = { {"plaintext", "ssl"}, {"sasl_plaintext", "sasl_ssl"} };
  const gboolean has_login = servers->username != NULL;

  if (!set (conf, "security.protocol", protocols[has_login][servers->tls], error))
    return FALSE;
  return !has_login || (set (conf, "sasl.mechanism", settings->mechanism ? settings->mechanism : "PLAIN", error)
      && set (conf, "sasl.username", servers->username, error)
      && set (conf, "sasl.password", gst_ccl_server_settings_get_password (servers), error));
}

static gboolean
is_forbidden (const gchar * key)
{
  for (guint i = 0; i < G_N_ELEMENTS (promises); i++) {
    if (!strcmp (promises[i][0], key))
      return TRUE;
  }
  for (guint i = 0; i < G_N_ELEMENTS (forbidden); i++) {
    if (!strcmp (forbidden[i], key))
      return TRUE;
  }
  return FALSE;
}

static gboolean
set_config (rd_kafka_conf_t * conf, const gchar * config, GError ** error, const gchar ** hint)
{
  g_auto (GStrv) entries = g_strsplit (config ? config : "", ",", -1);

  for (guint i = 0; entries[i]; i++) {
    gchar *const equals = strchr (entries[i], '=');

    if (!equals) {
      *hint = "config is KEY=VALUE, or several of them with commas between.";
      g_set_error (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_SETTINGS, "Entry %u of config is not KEY=VALUE.",
          i + 1);
      return FALSE;
    }
    *equals = '\0';
    g_strstrip (entries[i]);
    if (is_forbidden (entries[i])) {
      *hint = "It would break what the element promises, or a property of the element sets it.";
      g_set_error (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_SETTINGS, "config cannot set %s.", entries[i]);
      return FALSE;
    }
    if (!set (conf, entries[i], g_strstrip (equals + 1), error))
      return FALSE;
  }
  return TRUE;
}

static gboolean
set_promises (rd_kafka_conf_t * conf, guint64 max_pause, GError ** error)
{
  g_autofree gchar *pause = g_strdup_printf ("%" G_GUINT64_FORMAT, max_pause / GST_MSECOND);
  g_autofree gchar *capacity = g_strdup_printf ("%u", GST_CCL_KAFKA_MAX_IN_FLIGHT);

  for (guint i = 0; i < G_N_ELEMENTS (promises); i++) {
    if (!set (conf, promises[i][0], promises[i][1], error))
      return FALSE;
  }
  return set (conf, "reconnect.backoff.max.ms", pause, error)
      && set (conf, "queue.buffering.max.messages", capacity, error);
}

rd_kafka_conf_t *
gst_ccl_kafka_configure (const GstCclKafkaSettings * settings, GError ** error, const gchar ** hint)
{
  g_auto (GStrv) servers = gst_ccl_server_list_parse (settings->servers->servers, DEFAULT_PORT, error, hint);
  g_autofree gchar *list = servers ? g_strjoinv (",", servers) : NULL;
  rd_kafka_conf_t *const conf = rd_kafka_conf_new ();

  if (list && gst_ccl_server_settings_check (settings->servers, error, hint)
      && set (conf, "bootstrap.servers", list, error)
      && set (conf, "client.id", settings->servers->client_id, error)
      && set (conf, "compression.type", settings->compression, error)
      && set_promises (conf, settings->servers->max_pause, error)
      && set_tls (conf, settings->servers, error) && set_login (conf, settings, error)
      && set_config (conf, settings->config, error, hint))
    return conf;
  rd_kafka_conf_destroy (conf);
  return NULL;
}
