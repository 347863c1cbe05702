/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* One nats-server with JetStream, or a cluster of several, in a temporary folder; and what its streams hold. */
#ifndef CCL_TEST_NATSSERVER_H
#define CCL_TEST_NATSSERVER_H

#include <gio/gio.h>
#include <gst/check/gstcheck.h>

#include "support/skip.h"

#define MAX_NATS_SERVERS 3

typedef struct
{
  guint n;
  guint ports[MAX_NATS_SERVERS], routes[MAX_NATS_SERVERS];
  GSubprocess *processes[MAX_NATS_SERVERS];     /* NULL: it does not run */
  gchar *folder;
  gchar *settings;              /* more lines for the configuration of each */
} NatsServers;

/* Each test that needs a server begins with this. */
#define NEED_NATS() SKIP_TEST_UNLESS (have_nats (), "nats-server is not installed")

gboolean have_nats (void);

/* Starts `n` servers; more than one form a cluster. */
NatsServers *start_nats (guint n, const gchar * settings);
void stop_nats (NatsServers * servers);

/* Kills a server, as a crash would; starts it again with what it has stored. */
void kill_nats (NatsServers * servers, guint i);
void revive_nats (NatsServers * servers, guint i);

/* HOST:PORT of all, with commas between. */
gchar *nats_addresses (const NatsServers * servers);

/* Adds a stream for a subject, with a replica on each server. `max_message`: bytes of a message (0: no limit). */
void add_nats_stream (NatsServers * servers, const gchar * name, const gchar * subject, guint max_message);

/* A stream that takes `max_messages` and then no more, and that it takes any number from now on. */
void add_small_nats_stream (NatsServers * servers, const gchar * name, const gchar * subject, guint max_messages);
void enlarge_nats_stream (NatsServers * servers, const gchar * name, const gchar * subject);

/* The payloads that a stream holds, the oldest first; with their subjects if `subjects` is not NULL. */
GPtrArray *read_nats_stream (NatsServers * servers, const gchar * name, GPtrArray ** subjects);

#endif
