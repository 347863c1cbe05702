/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "gstcclserverlist.h"

#include <string.h>

#include "delivery/gstcclsettings.h"

#define LIST_HINT "servers is HOST[:PORT], or several of them with commas between."

/* Limits of Kafka, and of a subject that fits into the first line of a NATS message beside its reply. */
#define MAX_KAFKA_TOPIC 249
#define MAX_NATS_SUBJECT 1024

static const gsize strings[] = {
  G_STRUCT_OFFSET (GstCclServerSettings, servers), G_STRUCT_OFFSET (GstCclServerSettings, client_id),
  G_STRUCT_OFFSET (GstCclServerSettings, username), G_STRUCT_OFFSET (GstCclServerSettings, password_env),
  G_STRUCT_OFFSET (GstCclServerSettings, ca_file), G_STRUCT_OFFSET (GstCclServerSettings, cert_file),
  G_STRUCT_OFFSET (GstCclServerSettings, key_file),
};

void
gst_ccl_server_settings_clear (GstCclServerSettings * settings)
{
  gst_ccl_settings_free_strings (settings, strings, G_N_ELEMENTS (strings));
  memset (settings, 0, sizeof *settings);
}

void
gst_ccl_server_settings_copy (GstCclServerSettings * to, const GstCclServerSettings * from)
{
  *to = *from;
  gst_ccl_settings_copy_strings (to, strings, G_N_ELEMENTS (strings));
}

/* ---------------------------------------------------------------- servers */

static gboolean
fail (GError ** error, const gchar ** hint, const gchar * hint_text, const gchar * message)
{
  g_set_error_literal (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_SETTINGS, message);
  *hint = hint_text;
  return FALSE;
}

/* HOST:PORT of one server; NULL: it has another form. */
static gchar *
parse_server (const gchar * text, guint default_port)
{
  g_autoptr (GRegex) form =
      g_regex_new ("^([A-Za-z0-9]([A-Za-z0-9._-]{0,252})|\\[[0-9A-Fa-f:.]{2,45}\\])(?::([0-9]{1,5}))?$",
      G_REGEX_DOLLAR_ENDONLY, 0, NULL);
  g_autoptr (GMatchInfo) match = NULL;
  g_autofree gchar *host = NULL, *digits = NULL;
  guint64 port = default_port;

  if (!g_regex_match (form, text, 0, &match))
    return NULL;
  host = g_match_info_fetch (match, 1);
  digits = g_match_info_fetch (match, 3);
  if (digits && *digits)
    port = g_ascii_strtoull (digits, NULL, 10);
  if (port < 1 || port > 65535)
    return NULL;
  return g_strdup_printf ("%s:%u", host, (guint) port);
}

gchar **
gst_ccl_server_list_parse (const gchar * text, guint default_port, GError ** error, const gchar ** hint)
{
  g_auto (GStrv) servers = g_strsplit (text ? text : "", ",", -1);

  if (text && strchr (text, '@')) {
    fail (error, hint,
        "Others can read it there. Use username, and password-env for the name of an environment variable.",
        "servers holds a user name or password.");
    return NULL;
  }
  if (text && strstr (text, "://")) {
    fail (error, hint, LIST_HINT " tls=true encrypts the connection.", "servers has no scheme (://).");
    return NULL;
  }
  if (!text || !*text) {
    fail (error, hint, LIST_HINT, "servers is empty.");
    return NULL;
  }
  for (guint i = 0; servers[i]; i++) {
    gchar *const server = parse_server (g_strstrip (servers[i]), default_port);

    if (!server) {
      g_autofree gchar *message = g_strdup_printf ("Server %u in servers is not HOST or HOST:PORT.", i + 1);

      fail (error, hint, LIST_HINT " Ports are numbers from 1 to 65535.", message);
      return NULL;
    }
    g_free (servers[i]);
    servers[i] = server;
  }
  return g_steal_pointer (&servers);
}

/* ---------------------------------------------------------------- TLS and login */

gboolean
gst_ccl_server_settings_check (const GstCclServerSettings * settings, GError ** error, const gchar ** hint)
{
  *hint = NULL;
  if (!gst_ccl_settings_check_file ("ca-file", settings->ca_file, error)
      || !gst_ccl_settings_check_file ("cert-file", settings->cert_file, error)
      || !gst_ccl_settings_check_file ("key-file", settings->key_file, error))
    return FALSE;
  if (!settings->cert_file != !settings->key_file)
    return fail (error, hint, "cert-file and key-file go together.", "One of cert-file and key-file is missing.");
  return gst_ccl_settings_check_password (settings->password_env, settings->username, error, hint);
}

const gchar *
gst_ccl_server_settings_get_password (const GstCclServerSettings * settings)
{
  return settings->password_env ? g_getenv (settings->password_env) : NULL;
}

const gchar *
gst_ccl_server_settings_get_unused (const GstCclServerSettings * settings)
{
  if (settings->tls)
    return NULL;
  return settings->ca_file ? "ca-file" : settings->cert_file ? "cert-file" : settings->key_file ? "key-file" : NULL;
}

/* ---------------------------------------------------------------- names */

gboolean
gst_ccl_kafka_topic_is_valid (const gchar * topic)
{
  const gsize length = strlen (topic);

  return length > 0 && length <= MAX_KAFKA_TOPIC && strcmp (topic, ".") != 0 && strcmp (topic, "..") != 0
      && strspn (topic, G_CSET_A_2_Z G_CSET_a_2_z G_CSET_DIGITS "._-") == length;
}

/* Subjects that begin with $ belong to the server. */
gboolean
gst_ccl_nats_subject_is_valid (const gchar * subject)
{
  const gsize length = strlen (subject);

  if (length == 0 || length > MAX_NATS_SUBJECT || *subject == '.' || *subject == '$' || subject[length - 1] == '.'
      || strstr (subject, "..") || !g_utf8_validate (subject, -1, NULL))
    return FALSE;
  for (const gchar * at = subject; *at; at++) {
    if (g_ascii_iscntrl (*at) || strchr (" *>", *at))
      return FALSE;
  }
  return TRUE;
}
