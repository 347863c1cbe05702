/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* The options of a client of NATS. */

#include "gstcclnatsconnection.h"

#include <nats/nats.h>

#include "delivery/gstcclsettings.h"

#define DEFAULT_PORT 4222
#define CONNECT_TIME_MS 2000
/* A server that takes no bytes for this time is given up. */
#define WRITE_TIME_MS 1000
#define MAX_PINGS_OUT 2

static gboolean
set_servers (natsOptions * options, const GstCclServerSettings * settings, GError ** error, const gchar ** hint)
{
  g_auto (GStrv) servers = gst_ccl_server_list_parse (settings->servers, DEFAULT_PORT, error, hint);
  natsStatus status;

  if (!servers)
    return FALSE;
  for (guint i = 0; servers[i]; i++) {
    gchar *const uri = g_strconcat (settings->tls ? "tls://" : "nats://", servers[i], NULL);

    g_free (servers[i]);
    servers[i] = uri;
  }
  status = natsOptions_SetServers (options, (const char **) servers, (int) g_strv_length (servers));
  if (status != NATS_OK)
    g_set_error (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_SETTINGS, "servers cannot be used: %s.",
        natsStatus_GetText (status));
  return status == NATS_OK;
}

static natsStatus
set_tls (natsOptions * options, const GstCclServerSettings * settings)
{
  natsStatus status;

  if (!settings->tls)
    return NATS_OK;
  status = natsOptions_SetSecure (options, true);
  if (status == NATS_OK && settings->ca_file)
    status = natsOptions_LoadCATrustedCertificates (options, settings->ca_file);
  if (status == NATS_OK && settings->cert_file)
    status = natsOptions_LoadCertificatesChain (options, settings->cert_file, settings->key_file);
  if (status == NATS_OK && !settings->verify)
    status = natsOptions_SkipServerVerification (options, true);
  return status;
}

static natsStatus
set_login (natsOptions * options, const GstCclNatsSettings * settings)
{
  const GstCclServerSettings *const servers = settings->servers;
  const gchar *const password = gst_ccl_server_settings_get_password (servers);
  natsStatus status = NATS_OK;

  if (servers->username)
    status = natsOptions_SetUserInfo (options, servers->username, password ? password : "");
  if (status == NATS_OK && settings->credentials_file)
    status = natsOptions_SetUserCredentialsFromFiles (options, settings->credentials_file, NULL);
  return status;
}

static natsStatus
set_times (natsOptions * options, const GstCclNatsSettings * settings)
{
  natsStatus status = natsOptions_SetAllowReconnect (options, false);

  if (status == NATS_OK)
    status = natsOptions_SetTimeout (options, CONNECT_TIME_MS);
  if (status == NATS_OK)
    status = natsOptions_SetWriteDeadline (options, WRITE_TIME_MS);
  if (status == NATS_OK)
    status = natsOptions_SetPingInterval (options, (gint64) settings->keep_alive * 1000);
  if (status == NATS_OK)
    status = natsOptions_SetMaxPingsOut (options, MAX_PINGS_OUT);
  if (status == NATS_OK)
    status = natsOptions_SetSendAsap (options, true);
  if (status == NATS_OK && settings->servers->client_id)
    status = natsOptions_SetName (options, settings->servers->client_id);
  return status;
}

/* The error names what was set only: texts of the client may hold more. */
static gboolean
succeeded (const gchar * what, natsStatus status, GError ** error)
{
  if (status == NATS_OK)
    return TRUE;
  g_set_error (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_SETTINGS, "%s cannot be set up: %s.", what,
      natsStatus_GetText (status));
  return FALSE;
}

gboolean
gst_ccl_nats_connection_open (GstCclNatsConnection * self, const GstCclNatsSettings * settings, GError ** error,
    const gchar ** hint)
{
  const GstCclServerSettings *const servers = settings->servers;

  *hint = NULL;
  if (!succeeded ("NATS", natsOptions_Create (&self->options), error))
    return FALSE;
  self->max_pause = (gint64) (servers->max_pause / 1000);
  self->ack_timeout = (gint64) (settings->ack_timeout / 1000);
  if (gst_ccl_server_settings_check (servers, error, hint)
      && gst_ccl_settings_check_file ("credentials-file", settings->credentials_file, error)
      && set_servers (self->options, servers, error, hint)
      && succeeded ("TLS", set_tls (self->options, servers), error)
      && succeeded ("The login", set_login (self->options, settings), error)
      && succeeded ("NATS", set_times (self->options, settings), error))
    return TRUE;
  gst_ccl_nats_connection_close (self);
  return FALSE;
}

void
gst_ccl_nats_connection_close (GstCclNatsConnection * self)
{
  g_clear_pointer (&self->options, natsOptions_Destroy);
}
