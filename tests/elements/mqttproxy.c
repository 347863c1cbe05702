/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "mqttproxy.h"

#include <gst/check/gstcheck.h>
#include <poll.h>

#include "mqttbroker.h"

#define PUBCOMP 0x70

static gboolean
is_cut (MqttProxy * self)
{
  gboolean cuts;

  g_mutex_lock (&self->lock);
  cuts = self->cuts;
  g_mutex_unlock (&self->lock);
  return cuts || g_cancellable_is_cancelled (self->stop);
}

static gboolean
write_all (GSocketConnection * to, const guint8 * data, gsize size)
{
  return g_output_stream_write_all (g_io_stream_get_output_stream (G_IO_STREAM (to)), data, size, NULL, NULL, NULL);
}

/* What one side says. FALSE: the end. */
static gboolean
pass_bytes (GSocketConnection * from, GSocketConnection * to)
{
  guint8 data[4096];
  const gssize n = g_input_stream_read (g_io_stream_get_input_stream (G_IO_STREAM (from)), data, sizeof data, NULL,
      NULL);

  return n > 0 && write_all (to, data, (gsize) n);
}

static gboolean
is_dropped (MqttProxy * self, guint8 type)
{
  gboolean drops;

  g_mutex_lock (&self->lock);
  drops = self->drops_completions && (type & 0xf0) == PUBCOMP;
  self->n_dropped += drops;
  g_mutex_unlock (&self->lock);
  return drops;
}

/* A packet of the broker, of at most 127 bytes behind its head. */
static gboolean
pass_packet (MqttProxy * self, GSocketConnection * from, GSocketConnection * to)
{
  GInputStream *const input = g_io_stream_get_input_stream (G_IO_STREAM (from));
  guint8 packet[2 + 127];
  gsize n;

  if (!g_input_stream_read_all (input, packet, 2, &n, NULL, NULL) || n < 2 || packet[1] > 127
      || !g_input_stream_read_all (input, packet + 2, packet[1], &n, NULL, NULL) || n < packet[1])
    return FALSE;
  return is_dropped (self, packet[0]) || write_all (to, packet, 2 + (gsize) packet[1]);
}

static void
serve (MqttProxy * self, GSocketConnection * client, GSocketConnection * broker)
{
  struct pollfd ends[2] = {
    {.fd = g_socket_get_fd (g_socket_connection_get_socket (client)),.events = POLLIN},
    {.fd = g_socket_get_fd (g_socket_connection_get_socket (broker)),.events = POLLIN},
  };
  gboolean goes_on = TRUE;

  while (goes_on && !is_cut (self)) {
    if (poll (ends, 2, 20) <= 0)
      continue;
    if (ends[0].revents)
      goes_on = pass_bytes (client, broker);
    if (goes_on && ends[1].revents)
      goes_on = self->is_opaque ? pass_bytes (broker, client) : pass_packet (self, broker, client);
  }
}

/* The client gets no answer. */
static void
hang (MqttProxy * self)
{
  gboolean hangs;

  do {
    g_usleep (10000);
    g_mutex_lock (&self->lock);
    hangs = self->hangs && !g_cancellable_is_cancelled (self->stop);
    g_mutex_unlock (&self->lock);
  } while (hangs);
}

static gpointer
run (gpointer data)
{
  MqttProxy *const self = data;
  GSocketClient *const sockets = g_socket_client_new ();
  GSocketConnection *client;
  gboolean refuses, hangs;

  g_socket_client_set_enable_proxy (sockets, FALSE);    /* see accepts_connections() */
  while ((client = g_socket_listener_accept (self->listener, NULL, self->stop, NULL))) {
    GSocketConnection *const broker =
        g_socket_client_connect_to_host (sockets, "127.0.0.1", (guint16) self->broker_port, NULL, NULL);

    g_mutex_lock (&self->lock);
    self->cuts = FALSE;
    refuses = self->refuses;
    hangs = self->hangs;
    self->n_connections += !refuses && !hangs;
    g_mutex_unlock (&self->lock);
    if (hangs)
      hang (self);
    else if (broker && !refuses)
      serve (self, client, broker);
    g_clear_object (&client);
    if (broker)
      g_object_unref (broker);
  }
  g_object_unref (sockets);
  return NULL;
}

static MqttProxy *
start (guint port, guint broker_port, gboolean is_opaque)
{
  MqttProxy *const self = g_new0 (MqttProxy, 1);
  GSocketAddress *const wanted = g_inet_socket_address_new_from_string ("127.0.0.1", port);
  GSocketAddress *got = NULL;

  self->listener = g_socket_listener_new ();
  fail_unless (g_socket_listener_add_address (self->listener, wanted, G_SOCKET_TYPE_STREAM, G_SOCKET_PROTOCOL_TCP, NULL,
          &got, NULL));
  self->port = g_inet_socket_address_get_port (G_INET_SOCKET_ADDRESS (got));
  g_object_unref (wanted);
  g_object_unref (got);
  self->broker_port = broker_port;
  self->is_opaque = is_opaque;
  self->stop = g_cancellable_new ();
  g_mutex_init (&self->lock);
  self->thread = g_thread_new ("proxy", run, self);
  return self;
}

MqttProxy *
start_proxy (guint port, guint broker_port)
{
  return start (port, broker_port, FALSE);
}

MqttProxy *
start_opaque_proxy (guint port, guint broker_port)
{
  return start (port, broker_port, TRUE);
}

void
stop_proxy (MqttProxy * self)
{
  g_cancellable_cancel (self->stop);
  g_thread_join (self->thread);
  g_socket_listener_close (self->listener);
  g_object_unref (self->listener);
  g_object_unref (self->stop);
  g_mutex_clear (&self->lock);
  g_free (self);
}

void
set_proxy_drops_completions (MqttProxy * self, gboolean drops)
{
  g_mutex_lock (&self->lock);
  self->drops_completions = drops;
  g_mutex_unlock (&self->lock);
}

void
set_proxy_refuses (MqttProxy * self, gboolean refuses)
{
  g_mutex_lock (&self->lock);
  self->refuses = refuses;
  g_mutex_unlock (&self->lock);
}

void
set_proxy_hangs (MqttProxy * self, gboolean hangs)
{
  g_mutex_lock (&self->lock);
  self->hangs = hangs;
  g_mutex_unlock (&self->lock);
}

void
cut_proxy (MqttProxy * self)
{
  g_mutex_lock (&self->lock);
  self->cuts = TRUE;
  g_mutex_unlock (&self->lock);
}

guint
proxy_connections (MqttProxy * self)
{
  guint n;

  g_mutex_lock (&self->lock);
  n = self->n_connections;
  g_mutex_unlock (&self->lock);
  return n;
}

void
wait_for_dropped (MqttProxy * self, guint n)
{
  const gint64 end = g_get_monotonic_time () + PATIENCE;
  guint dropped;

  do {
    fail_unless (g_get_monotonic_time () < end, "the broker does not complete %u messages", n);
    g_usleep (10000);
    g_mutex_lock (&self->lock);
    dropped = self->n_dropped;
    g_mutex_unlock (&self->lock);
  } while (dropped < n);
}
