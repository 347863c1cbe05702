/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* What the clients of Kafka and NATS have in common: the servers of a cluster, TLS, the login, and names of topics. */
#ifndef __GST_CCL_SERVER_LIST_H__
#define __GST_CCL_SERVER_LIST_H__

#include <gst/gst.h>

G_BEGIN_DECLS

/* Strings may be NULL. */
typedef struct
{
  gchar *servers;               /* HOST[:PORT],... */
  gchar *client_id, *username, *password_env;
  gchar *ca_file, *cert_file, *key_file;
  gboolean tls, verify;
  guint64 max_pause;            /* between attempts to connect, ns */
} GstCclServerSettings;

void gst_ccl_server_settings_clear (GstCclServerSettings * settings);
void gst_ccl_server_settings_copy (GstCclServerSettings * to, const GstCclServerSettings * from);

/* Reads HOST[:PORT],HOST[:PORT],... and returns the servers as HOST:PORT. A host is a name, an IPv4 address, or an IPv6 address
 * in brackets. NULL: `error` says why, and `hint` (static) what to do. The error does not repeat a text that may be a
 * password. */
gchar **gst_ccl_server_list_parse (const gchar * text, guint default_port, GError ** error, const gchar ** hint);

/* Whether the files can be read, and the settings fit together. */
gboolean gst_ccl_server_settings_check (const GstCclServerSettings * settings, GError ** error, const gchar ** hint);

/* The password from the environment; NULL: none is set. After check(). */
const gchar *gst_ccl_server_settings_get_password (const GstCclServerSettings * settings);

/* The first setting that has no effect without TLS; NULL: none. */
const gchar *gst_ccl_server_settings_get_unused (const GstCclServerSettings * settings);

/* Whether a topic of Kafka has this name, or a message of NATS may have this subject. */
gboolean gst_ccl_kafka_topic_is_valid (const gchar * topic);
gboolean gst_ccl_nats_subject_is_valid (const gchar * subject);

G_END_DECLS

#endif
