/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "natsserver.h"

#include <nats/nats.h>
#include <string.h>

#include "support/folder.h"
#include "support/servers.h"

#define PATIENCE (100 * G_TIME_SPAN_SECOND)

gboolean
have_nats (void)
{
  gchar *const path = find_server ("nats-server");
  const gboolean have = path != NULL;

  g_free (path);
  return have;
}

/* ---------------------------------------------------------------- servers */

static void
write_routes (const NatsServers * servers, GString * text, guint i)
{
  g_string_append_printf (text, "cluster { name: test, listen: \"127.0.0.1:%u\", routes: [", servers->routes[i]);
  for (guint j = 0; j < servers->n; j++)
    g_string_append_printf (text, "%s\"nats://127.0.0.1:%u\"", j ? ", " : "", servers->routes[j]);
  g_string_append (text, " ] }\n");
}

static void
start_one (NatsServers * servers, guint i)
{
  GString *const text = g_string_new (NULL);
  gchar *const program = find_server ("nats-server");
  gchar *const path = g_strdup_printf ("%s/%u.conf", servers->folder, i);
  const gchar *const arguments[] = { program, "-c", path, NULL };

  g_string_printf (text, "listen: \"127.0.0.1:%u\"\nserver_name: n%u\n"
      "jetstream { store_dir: \"%s/%u\", max_mem: 16M, max_file: 256M }\n%s\n", servers->ports[i], i, servers->folder,
      i, servers->settings);
  if (servers->n > 1)
    write_routes (servers, text, i);
  fail_unless (g_file_set_contents (path, text->str, -1, NULL));
  servers->processes[i] = start_server (arguments);
  g_string_free (text, TRUE);
  g_free (path);
  g_free (program);
}

void
revive_nats (NatsServers * servers, guint i)
{
  start_one (servers, i);
  wait_for_port (servers->ports[i]);
}

NatsServers *
start_nats (guint n, const gchar * settings)
{
  NatsServers *const servers = g_new0 (NatsServers, 1);

  servers->n = n;
  servers->folder = g_dir_make_tmp ("ccl-nats-XXXXXX", NULL);
  servers->settings = g_strdup (settings ? settings : "");
  for (guint i = 0; i < n; i++) {
    servers->ports[i] = unused_port ();
    servers->routes[i] = unused_port ();
  }
  /* A server of a cluster waits for the others before it listens. */
  for (guint i = 0; i < n; i++)
    start_one (servers, i);
  for (guint i = 0; i < n; i++)
    wait_for_port (servers->ports[i]);
  return servers;
}

void
kill_nats (NatsServers * servers, guint i)
{
  kill_server (servers->processes[i]);
  servers->processes[i] = NULL;
}

void
stop_nats (NatsServers * servers)
{
  for (guint i = 0; i < servers->n; i++) {
    if (servers->processes[i])
      kill_nats (servers, i);
  }
  remove_folder (servers->folder);
  g_free (servers->folder);
  g_free (servers->settings);
  g_free (servers);
}

gchar *
nats_addresses (const NatsServers * servers)
{
  GString *const text = g_string_new (NULL);

  for (guint i = 0; i < servers->n; i++)
    g_string_append_printf (text, "%s127.0.0.1:%u", i ? "," : "", servers->ports[i]);
  return g_string_free (text, FALSE);
}

/* ---------------------------------------------------------------- streams */

static natsConnection *
connect_to (NatsServers * servers)
{
  gchar *const addresses = nats_addresses (servers);
  natsConnection *connection = NULL;
  natsStatus status = NATS_OK;
  const gint64 end = g_get_monotonic_time () + PATIENCE;

  while (!connection && g_get_monotonic_time () < end) {
    status = natsConnection_ConnectTo (&connection, addresses);
    if (status != NATS_OK)
      g_usleep (100000);
  }
  fail_unless (connection != NULL, "%s", natsStatus_GetText (status));
  g_free (addresses);
  return connection;
}

static jsCtx *
open_context (natsConnection * connection)
{
  jsCtx *context = NULL;

  fail_unless_equals_int (natsConnection_JetStream (&context, connection, NULL), NATS_OK);
  return context;
}

typedef natsStatus (*SetStream) (jsStreamInfo **, jsCtx *, jsStreamConfig *, jsOptions *, jsErrCode *);

/* A cluster chooses its leader first. */
static void
set_stream (NatsServers * servers, jsStreamConfig * config, SetStream set)
{
  natsConnection *const connection = connect_to (servers);
  jsCtx *const context = open_context (connection);
  const gint64 end = g_get_monotonic_time () + PATIENCE;
  jsErrCode code;
  natsStatus status;

  do {
    status = set (NULL, context, config, NULL, &code);
    if (status != NATS_OK)
      g_usleep (100000);
  } while (status != NATS_OK && g_get_monotonic_time () < end);
  fail_unless (status == NATS_OK, "no stream: %s, %d", natsStatus_GetText (status), code);
  jsCtx_Destroy (context);
  natsConnection_Destroy (connection);
}

static jsStreamConfig
stream_config (const NatsServers * servers, const gchar * name, const gchar ** subject)
{
  jsStreamConfig config;

  jsStreamConfig_Init (&config);
  config.Name = name;
  config.Subjects = subject;
  config.SubjectsLen = 1;
  config.Storage = js_FileStorage;
  config.Replicas = servers->n;
  return config;
}

void
add_nats_stream (NatsServers * servers, const gchar * name, const gchar * subject, guint max_message)
{
  jsStreamConfig config = stream_config (servers, name, &subject);

  if (max_message)
    config.MaxMsgSize = (gint32) max_message;
  set_stream (servers, &config, js_AddStream);
}

void
add_small_nats_stream (NatsServers * servers, const gchar * name, const gchar * subject, guint max_messages)
{
  jsStreamConfig config = stream_config (servers, name, &subject);

  config.MaxMsgs = max_messages;
  config.Discard = js_DiscardNew;
  set_stream (servers, &config, js_AddStream);
}

void
enlarge_nats_stream (NatsServers * servers, const gchar * name, const gchar * subject)
{
  jsStreamConfig config = stream_config (servers, name, &subject);

  config.Discard = js_DiscardNew;
  set_stream (servers, &config, js_UpdateStream);
}

static guint64
last_sequence (jsCtx * context, const gchar * name)
{
  const gint64 end = g_get_monotonic_time () + PATIENCE;
  jsStreamInfo *info = NULL;
  natsStatus status;
  guint64 last;

  do {
    status = js_GetStreamInfo (&info, context, name, NULL, NULL);
  } while (status != NATS_OK && g_get_monotonic_time () < end);
  fail_unless_equals_int (status, NATS_OK);
  last = info->State.LastSeq;
  jsStreamInfo_Destroy (info);
  return last;
}

GPtrArray *
read_nats_stream (NatsServers * servers, const gchar * name, GPtrArray ** subjects)
{
  natsConnection *const connection = connect_to (servers);
  jsCtx *const context = open_context (connection);
  GPtrArray *const lines = g_ptr_array_new_with_free_func (g_free);
  const guint64 last = last_sequence (context, name);

  if (subjects)
    *subjects = g_ptr_array_new_with_free_func (g_free);
  for (guint64 i = 1; i <= last; i++) {
    natsMsg *message = NULL;

    fail_unless_equals_int (js_GetMsg (&message, context, name, i, NULL, NULL), NATS_OK);
    g_ptr_array_add (lines, g_strndup (natsMsg_GetData (message), natsMsg_GetDataLength (message)));
    if (subjects)
      g_ptr_array_add (*subjects, g_strdup (natsMsg_GetSubject (message)));
    natsMsg_Destroy (message);
  }
  jsCtx_Destroy (context);
  natsConnection_Destroy (connection);
  return lines;
}
