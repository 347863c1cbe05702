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

gboolean
gst_ccl_mqtt_address_parse (const gchar * uri, GstCclMqttAddress * address, GError ** error, const gchar ** hint)
{
  g_autofree gchar *scheme = NULL, *user = NULL, *host = NULL;
  g_autoptr (GError) wrong = NULL;
  gint port = -1;

  if (uri)
    g_uri_split (uri, G_URI_FLAGS_NONE, &scheme, &user, &host, &port, NULL, NULL, NULL, &wrong);
  address->tls = scheme && !g_ascii_strcasecmp (scheme, "mqtts");
  if (user || (wrong && strchr (uri, '@')))     /* GLib's reason may quote the password */
    return fail (error, hint,
        "Others can read it there. Use username, and password-env for the name of an environment variable.",
        "The MQTT address holds a user name or password.");
  if (!scheme || (!address->tls && g_ascii_strcasecmp (scheme, "mqtt")) || !host || !*host)
    return fail (error, hint, "uri is mqtt://HOST[:PORT], or mqtts:// for TLS.", "\"%s\" is not an MQTT address%s%s.",
        uri ? uri : "", wrong ? ": " : "", wrong ? wrong->message : "");
  if (port == 0)
    return fail (error, hint, "Ports are numbers from 1 to 65535.", "There is no port 0.");
  address->host = g_steal_pointer (&host);
  address->port = port > 0 ? port : address->tls ? 8883 : 1883;
  return TRUE;
}
