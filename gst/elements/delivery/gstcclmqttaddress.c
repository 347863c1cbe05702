/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "gstcclmqttaddress.h"

#include <string.h>

static gboolean
fail (GError ** error, const gchar ** hint, const gchar * hint_text, const gchar * format, ...)
{
  va_list arguments;
  gchar *message;

  va_start (arguments, format);
  message = g_strdup_vprintf (format, arguments);
  va_end (arguments);
  g_set_error_literal (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_SETTINGS, message);
  *hint = hint_text;
  g_free (message);
  return FALSE;
}

/* An invalid address can contain a password anywhere, for example user:password@host without a scheme, or host:password. So an
 * error repeats the address only if a port has too many digits. */
static gboolean
refuse_address (const gchar * uri, const gchar * reason, GError ** error, const gchar ** hint)
{
  const gboolean can_repeat = uri && g_regex_match_simple ("^mqtts?://[a-z0-9.-]+:[0-9]+$", uri, G_REGEX_CASELESS, 0);
  gchar *const name = can_repeat ? g_strdup_printf ("\"%s\"", uri) : g_strdup ("The value of uri");

  fail (error, hint, "uri is mqtt://HOST[:PORT], or mqtts://HOST[:PORT] for TLS.", "%s is not an MQTT address%s%s.",
      name, reason ? ": " : "", reason ? reason : "");
  g_free (name);
  return FALSE;
}

gboolean
gst_ccl_mqtt_address_parse (const gchar * uri, GstCclMqttAddress * address, GError ** error, const gchar ** hint)
{
  g_autofree gchar *scheme = NULL, *user = NULL, *host = NULL, *path = NULL, *query = NULL, *fragment = NULL;
  gint port = -1;
  gboolean is_uri;

  if (uri && strchr (uri, '@'))
    return fail (error, hint,
        "Others can read it there. Use username, and password-env for the name of an environment variable.",
        "The MQTT address holds a user name or password.");
  is_uri = uri && g_uri_split (uri, G_URI_FLAGS_NONE, &scheme, &user, &host, &port, &path, &query, &fragment, NULL);
  address->tls = scheme && !g_ascii_strcasecmp (scheme, "mqtts");
  if (uri && !is_uri && g_regex_match_simple ("^mqtts?://[^/?#]*:", uri, G_REGEX_CASELESS, 0))
    return refuse_address (uri, "the port is no number from 1 to 65535, or the host is not valid", error, hint);
  if (!is_uri || !scheme || (!address->tls && g_ascii_strcasecmp (scheme, "mqtt")) || !host || !*host)
    return refuse_address (uri, NULL, error, hint);
  if (query || fragment || (*path && strcmp (path, "/") != 0))
    return fail (error, hint,
        "uri is mqtt://HOST[:PORT], or mqtts://HOST[:PORT] for TLS. Other settings are properties.",
        "The MQTT address has a path, a query (?) or a fragment (#).");
  if (port == 0)
    return fail (error, hint, "Ports are numbers from 1 to 65535.", "There is no port 0.");
  address->host = g_steal_pointer (&host);
  address->port = port > 0 ? port : address->tls ? 8883 : 1883;
  return TRUE;
}
