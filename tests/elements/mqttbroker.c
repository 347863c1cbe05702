/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* A mosquitto broker and mosquitto_sub, and a listener that plays the broker. */

#include "mqttbroker.h"

#include <glib/gstdio.h>
#include <string.h>

#include "support/folder.h"

gchar *broker_folder, *passwd_path, *openssl_path;

static gchar *broker_path, *sub_path;

/* Debian keeps the broker where a user's PATH does not look. */
static gchar *
find_program (const gchar * name)
{
  gchar *path = g_find_program_in_path (name), *sbin;

  if (path)
    return path;
  sbin = g_build_filename ("/usr/sbin", name, NULL);
  if (g_file_test (sbin, G_FILE_TEST_IS_EXECUTABLE))
    return sbin;
  g_free (sbin);
  return NULL;
}

gchar *
in_folder (const gchar * name)
{
  return g_build_filename (broker_folder, name, NULL);
}

static void
write_file (const gchar * name, const gchar * text)
{
  gchar *path = in_folder (name);

  fail_unless (g_file_set_contents (path, text, -1, NULL));
  g_free (path);
}

guint
free_port (void)
{
  GSocketListener *listener = g_socket_listener_new ();
  const guint port = g_socket_listener_add_any_inet_port (listener, NULL, NULL);

  g_object_unref (listener);
  fail_unless (port);
  return port;
}

static gboolean
accepts_connections (const gchar * address, guint port)
{
  GSocketClient *client = g_socket_client_new ();
  GSocketConnection *connection;
  gboolean ok;

  g_socket_client_set_enable_proxy (client, FALSE);     /* libproxy throws exceptions that valgrind cannot follow */
  connection = g_socket_client_connect_to_host (client, address, port, NULL, NULL);
  ok = connection != NULL;
  g_clear_object (&connection);
  g_object_unref (client);
  return ok;
}

static GSubprocess *
spawn (const gchar * const *arguments, GSubprocessFlags flags)
{
  GError *error = NULL;
  GSubprocess *process = g_subprocess_newv (arguments, flags, &error);

  fail_unless (process != NULL, "%s", error ? error->message : "");
  return process;
}

gboolean
try_program (const gchar * const *arguments)
{
  GSubprocess *process = spawn (arguments, G_SUBPROCESS_FLAGS_STDOUT_SILENCE | G_SUBPROCESS_FLAGS_STDERR_SILENCE);
  const gboolean ok = g_subprocess_wait_check (process, NULL, NULL);

  g_object_unref (process);
  return ok;
}

void
run_program (const gchar * const *arguments)
{
  fail_unless (try_program (arguments), "%s failed", arguments[0]);
}

GSubprocess *
start_broker_at (const gchar * address, guint port, const gchar * settings)
{
  gchar *text = g_strdup_printf ("listener %u %s\n%s\n", port, address, settings);
  gchar *path = in_folder ("broker.conf");
  const gchar *const arguments[] = { broker_path, "-c", path, NULL };
  const gint64 end = g_get_monotonic_time () + PATIENCE;
  GSubprocess *broker;

  write_file ("broker.conf", text);
  broker = spawn (arguments, G_SUBPROCESS_FLAGS_STDOUT_SILENCE | G_SUBPROCESS_FLAGS_STDERR_SILENCE);
  while (!accepts_connections (address, port)) {
    fail_unless (g_get_monotonic_time () < end, "the broker does not start");
    g_usleep (20000);
  }
  g_free (text);
  g_free (path);
  return broker;
}

void
make_certificate (const gchar * stem, const gchar * name)
{
  gchar *key = g_strdup_printf ("%s/%s.key", broker_folder, stem);
  gchar *certificate = g_strdup_printf ("%s/%s.pem", broker_folder, stem);
  gchar *subject = g_strdup_printf ("/CN=%s", name), *alternative = g_strdup_printf ("subjectAltName=DNS:%s", name);
  const gchar *const arguments[] = { openssl_path, "req", "-x509", "-newkey", "ec", "-pkeyopt",
    "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2", "-subj", subject, "-addext", alternative, "-keyout", key,
    "-out", certificate, NULL
  };

  run_program (arguments);
  g_chmod (key, 0644);
  g_free (key);
  g_free (certificate);
  g_free (subject);
  g_free (alternative);
}

gchar *
tls_settings (const gchar * certificate)
{
  return g_strdup_printf (OPEN_TO_ALL "\ncertfile %s/%s.pem\nkeyfile %s/%s.key", broker_folder, certificate,
      broker_folder, certificate);
}

GSubprocess *
start_tls_server (guint port, const gchar * version, const gchar * certificate)
{
  gchar *key = g_strdup_printf ("%s/%s.key", broker_folder, certificate);
  gchar *pem = g_strdup_printf ("%s/%s.pem", broker_folder, certificate), *port_text = g_strdup_printf ("%u", port);
  const gchar *const arguments[] =
      { openssl_path, "s_server", "-accept", port_text, "-cert", pem, "-key", key, "-quiet",
    "-cipher", "ALL:@SECLEVEL=0", version, NULL
  };
  const gint64 end = g_get_monotonic_time () + PATIENCE;
  GSubprocess *const server = spawn (arguments,
      G_SUBPROCESS_FLAGS_STDIN_PIPE | G_SUBPROCESS_FLAGS_STDOUT_PIPE | G_SUBPROCESS_FLAGS_STDERR_SILENCE);

  while (!accepts_connections ("127.0.0.1", port)) {
    fail_unless (g_get_monotonic_time () < end, "openssl s_server does not start");
    g_usleep (20000);
  }
  g_free (key);
  g_free (pem);
  g_free (port_text);
  return server;
}

GSubprocess *
start_broker (guint port, const gchar * settings)
{
  return start_broker_at ("127.0.0.1", port, settings);
}

void
stop_program (GSubprocess * process)
{
  g_subprocess_send_signal (process, 15);
  g_subprocess_wait (process, NULL, NULL);
  g_object_unref (process);
}

void
send_bytes (GSocketConnection * connection, gconstpointer data, gsize size)
{
  fail_unless (g_output_stream_write_all (g_io_stream_get_output_stream (G_IO_STREAM (connection)), data, size, NULL,
          NULL, NULL));
}

GSocketConnection *
connect_with (guint port, const guint8 * data, gsize size)
{
  GSocketClient *const sockets = g_socket_client_new ();
  GSocketConnection *connection;

  g_socket_client_set_enable_proxy (sockets, FALSE);    /* see accepts_connections() */
  connection = g_socket_client_connect_to_host (sockets, "127.0.0.1", (guint16) port, NULL, NULL);
  fail_unless (connection != NULL);
  send_bytes (connection, data, size);
  g_object_unref (sockets);
  return connection;
}

/* A client of the broker at the port, which it has let in. */
static GSocketConnection *
connect_client (guint port)
{
  static const guint8 connect[] = { 0x10, 12, 0, 4, 'M', 'Q', 'T', 'T', 4, 2, 0, 60, 0, 0 };
  GSocketConnection *const connection = connect_with (port, connect, sizeof connect);
  guint8 answer[4];

  fail_unless (g_input_stream_read_all (g_io_stream_get_input_stream (G_IO_STREAM (connection)), answer, sizeof answer,
          NULL, NULL, NULL));
  fail_unless (answer[0] == 0x20 && answer[3] == 0);
  return connection;
}

/* Publishes a message of this size, of QoS 0. */
static void
publish_probe (GSocketConnection * client, guint8 size)
{
  const guint8 head[] = { 0x30, 2 + 5 + size, 0, 5, 'p', 'r', 'o', 'b', 'e' };

  send_bytes (client, head, sizeof head);
  send_bytes (client, "pp", size);
}

/* mosquitto_sub does not say when it has subscribed. Messages are published until one comes, and then one that looks different
 * in every format: it is the last. */
static void
wait_for_subscription (Listener * listener, guint port)
{
  GSocketConnection *const client = connect_client (port);
  GPollableInputStream *const output = G_POLLABLE_INPUT_STREAM (g_subprocess_get_stdout_pipe (listener->process));
  const gint64 end = g_get_monotonic_time () + PATIENCE;
  gchar *first, *line;
  gboolean is_last;

  do {
    fail_unless (g_get_monotonic_time () < end, "mosquitto_sub does not subscribe");
    publish_probe (client, 1);
    g_usleep (20000);
  } while (!g_pollable_input_stream_is_readable (output));
  publish_probe (client, 2);
  first = g_data_input_stream_read_line (listener->lines, NULL, NULL, NULL);
  do {
    line = g_data_input_stream_read_line (listener->lines, NULL, NULL, NULL);
    fail_unless (line != NULL, "mosquitto_sub has ended");
    is_last = strcmp (line, first) != 0;
    g_free (line);
  } while (!is_last);
  g_free (first);
  g_object_unref (client);
}

Listener
listen_at (guint port, const gchar * const *more)
{
  Listener listener;
  GPtrArray *arguments = g_ptr_array_new ();
  gchar *port_text = g_strdup_printf ("%u", port);
  const gchar *const fixed[] = { sub_path, "-h", "localhost", "-p", port_text, "-t", "#", "-q", "1", "-v", "-W", "900",
    "-i", "listener", "-c", NULL
  };

  for (guint i = 0; fixed[i]; i++)
    g_ptr_array_add (arguments, (gpointer) fixed[i]);
  for (guint i = 0; more && more[i]; i++)
    g_ptr_array_add (arguments, (gpointer) more[i]);
  g_ptr_array_add (arguments, NULL);
  listener.process = spawn ((const gchar * const *) arguments->pdata, G_SUBPROCESS_FLAGS_STDOUT_PIPE);
  listener.lines = g_data_input_stream_new (g_subprocess_get_stdout_pipe (listener.process));
  wait_for_subscription (&listener, port);
  g_ptr_array_unref (arguments);
  g_free (port_text);
  return listener;
}

HeardBroker
start_heard_broker (const gchar * settings, const gchar * const *more)
{
  HeardBroker broker = {.port = free_port () };

  broker.process = start_broker (broker.port, settings);
  broker.listener = listen_at (broker.port, more);
  return broker;
}

void
stop_heard_broker (HeardBroker * broker)
{
  close_listener (&broker->listener);
  stop_program (broker->process);
}

static void
expect_line (Listener * listener, const gchar * expected)
{
  gchar *line = g_data_input_stream_read_line (listener->lines, NULL, NULL, NULL);

  fail_unless_equals_string (line, expected);
  g_free (line);
}

void
expect_numbers (Listener * listener, const gchar * topic, guint first, guint last)
{
  for (guint i = first; i <= last; i++) {
    gchar *expected = g_strdup_printf ("%s {\"source\":\"cam/1\",\"seq\":%u}", topic, i);
    expect_line (listener, expected);
    g_free (expected);
  }
}

void
expect_numbers_at_least_once (Listener * listener, guint first, guint last)
{
  guint next = first;

  while (next <= last) {
    gchar *line = g_data_input_stream_read_line (listener->lines, NULL, NULL, NULL);
    const gchar *const number = line ? strstr (line, "\"seq\":") : NULL;
    guint got;

    fail_unless (number != NULL, "no message %u", next);
    got = (guint) g_ascii_strtoull (number + strlen ("\"seq\":"), NULL, 10);
    fail_unless (got <= next, "message %u came before %u", got, next);
    next += got == next;
    g_free (line);
  }
}

void
close_listener (Listener * listener)
{
  g_object_unref (listener->lines);
  g_subprocess_force_exit (listener->process);
  g_subprocess_wait (listener->process, NULL, NULL);
  g_object_unref (listener->process);
}

GSocketListener *
new_listener (guint * port)
{
  GSocketListener *listener = g_socket_listener_new ();

  *port = g_socket_listener_add_any_inet_port (listener, NULL, NULL);
  fail_unless (*port);
  return listener;
}

GSocketConnection *
accept_client (GSocketListener * listener)
{
  GSocketConnection *connection = g_socket_listener_accept (listener, NULL, NULL, NULL);
  guint8 packet[256];

  fail_unless (connection != NULL);
  fail_unless (g_input_stream_read (g_io_stream_get_input_stream (G_IO_STREAM (connection)), packet, sizeof packet,
          NULL, NULL) > 0);
  fail_unless_equals_int (packet[0], 0x10);     /* CONNECT */
  return connection;
}

void
welcome_client (GSocketConnection * connection)
{
  static const guint8 connack[] = { 0x20, 2, 0, 0 };

  send_bytes (connection, connack, sizeof connack);
}

void
find_programs (void)
{
  broker_folder = g_dir_make_tmp ("cclmqttsink-XXXXXX", NULL);
  g_chmod (broker_folder, 0777);       /* started as root, the broker becomes a user of its own */
  broker_path = find_program ("mosquitto");
  sub_path = find_program ("mosquitto_sub");
  passwd_path = find_program ("mosquitto_passwd");
  openssl_path = find_program ("openssl");
}

void
forget_programs (void)
{
  remove_folder (broker_folder);
  g_free (broker_folder);
  g_free (broker_path);
  g_free (sub_path);
  g_free (passwd_path);
  g_free (openssl_path);
}

gboolean
have_broker (void)
{
  return broker_path && sub_path && passwd_path;
}
