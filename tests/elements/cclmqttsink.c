/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* cclmqttsink against a real mosquitto broker on the loopback interface, listened to by mosquitto_sub: late, restarted,
 * gone, with passwords and with TLS. Skipped where mosquitto is not installed. */

#define _GNU_SOURCE             /* RTLD_NEXT */
#include <dlfcn.h>
#include <gst/check/gstcheck.h>
#include <gst/check/gstharness.h>
#include <gio/gio.h>
#include <glib/gstdio.h>
#include <gmodule.h>
#include <mosquitto.h>
#include <netdb.h>
#include <string.h>

#define CAPS "application/x-json"
#define PATIENCE ((gint64) 20 * G_USEC_PER_SEC)

static gchar *folder, *broker_path, *sub_path, *passwd_path, *openssl_path;

/* ---------------------------------------------------------------- programs */

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

static gchar *
in_folder (const gchar * name)
{
  return g_build_filename (folder, name, NULL);
}

static void
write_file (const gchar * name, const gchar * text)
{
  gchar *path = in_folder (name);

  fail_unless (g_file_set_contents (path, text, -1, NULL));
  g_free (path);
}

/* A port nobody listens to at the moment. */
static guint
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

static void
run_program (const gchar * const *arguments)
{
  GSubprocess *process = spawn (arguments, G_SUBPROCESS_FLAGS_STDOUT_SILENCE | G_SUBPROCESS_FLAGS_STDERR_SILENCE);

  fail_unless (g_subprocess_wait_check (process, NULL, NULL), "%s failed", arguments[0]);
  g_object_unref (process);
}

static GSubprocess *
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

static GSubprocess *
start_broker (guint port, const gchar * settings)
{
  return start_broker_at ("127.0.0.1", port, settings);
}

static void
stop_program (GSubprocess * process)
{
  g_subprocess_send_signal (process, 15);
  g_subprocess_wait (process, NULL, NULL);
  g_object_unref (process);
}

/* ---------------------------------------------------------------- the far end */

typedef struct
{
  GSubprocess *process;
  GDataInputStream *lines;
} Listener;

/* Listens for `count` messages, with further mosquitto_sub arguments. */
static Listener
listen_for (guint port, guint count, const gchar * const *more)
{
  Listener listener;
  GPtrArray *arguments = g_ptr_array_new ();
  gchar *port_text = g_strdup_printf ("%u", port), *count_text = g_strdup_printf ("%u", count);
  const gchar *const fixed[] = { sub_path, "-h", "localhost", "-p", port_text, "-t", "#", "-q", "1", "-v", "-C",
    count_text, "-W", "60", "-i", "listener", "-c", NULL
  };

  for (guint i = 0; fixed[i]; i++)
    g_ptr_array_add (arguments, (gpointer) fixed[i]);
  for (guint i = 0; more && more[i]; i++)
    g_ptr_array_add (arguments, (gpointer) more[i]);
  g_ptr_array_add (arguments, NULL);
  listener.process = spawn ((const gchar * const *) arguments->pdata, G_SUBPROCESS_FLAGS_STDOUT_PIPE);
  listener.lines = g_data_input_stream_new (g_subprocess_get_stdout_pipe (listener.process));
  g_usleep (500000);            /* mosquitto_sub does not say when it has subscribed */
  g_ptr_array_unref (arguments);
  g_free (port_text);
  g_free (count_text);
  return listener;
}

static void
expect_line (Listener * listener, const gchar * expected)
{
  gchar *line = g_data_input_stream_read_line (listener->lines, NULL, NULL, NULL);

  fail_unless_equals_string (line, expected);
  g_free (line);
}

static void
expect_numbers (Listener * listener, const gchar * topic, guint first, guint last)
{
  for (guint i = first; i <= last; i++) {
    gchar *expected = g_strdup_printf ("%s {\"source\":\"cam/1\",\"seq\":%u}", topic, i);
    expect_line (listener, expected);
    g_free (expected);
  }
}

/* In order, but some may come again. */
static void
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

static void
close_listener (Listener * listener)
{
  g_object_unref (listener->lines);
  g_subprocess_force_exit (listener->process);
  g_subprocess_wait (listener->process, NULL, NULL);
  g_object_unref (listener->process);
}

/* A broker of our own, which answers when it is told to. */
static GSocketListener *
new_listener (guint * port)
{
  GSocketListener *listener = g_socket_listener_new ();

  *port = g_socket_listener_add_any_inet_port (listener, NULL, NULL);
  fail_unless (*port);
  return listener;
}

/* The next client, which says that it is one, and is not answered. */
static GSocketConnection *
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

static void
welcome_client (GSocketConnection * connection)
{
  static const guint8 connack[] = { 0x20, 2, 0, 0 };

  fail_unless (g_output_stream_write_all (g_io_stream_get_output_stream (G_IO_STREAM (connection)), connack,
          sizeof connack, NULL, NULL, NULL));
}

/* ---------------------------------------------------------------- the near end */

typedef struct
{
  GstHarness *harness;
  GstBus *bus;
} Publisher;

static GstElement *
new_sink (const gchar * scheme, guint port, const gchar * topic)
{
  GstElement *sink = gst_element_factory_make ("cclmqttsink", NULL);
  gchar *uri = g_strdup_printf ("%s://localhost:%u", scheme, port);

  fail_unless (sink != NULL);
  g_object_set (sink, "uri", uri, "topic", topic, "max-reconnect-delay", GST_SECOND / 2, NULL);
  g_free (uri);
  return sink;
}

static Publisher
publish_with (GstElement * sink)
{
  Publisher publisher = {.bus = gst_bus_new () };

  gst_element_set_bus (sink, publisher.bus);
  publisher.harness = gst_harness_new_with_element (sink, "sink", NULL);
  gst_object_unref (sink);
  gst_harness_set_src_caps_str (publisher.harness, CAPS);
  return publisher;
}

static GstFlowReturn
push_number (Publisher * publisher, guint number)
{
  gchar *text = g_strdup_printf ("{\"source\":\"cam/1\",\"seq\":%u}\n", number);

  return gst_harness_push (publisher->harness, gst_buffer_new_wrapped (text, strlen (text)));
}

static void
push_numbers (Publisher * publisher, guint first, guint last)
{
  for (guint i = first; i <= last; i++)
    fail_unless_equals_int (push_number (publisher, i), GST_FLOW_OK);
}

static guint64
stat_of (Publisher * publisher, const gchar * field)
{
  GstStructure *stats;
  guint64 value = 0;
  guint small;
  gboolean flag;

  g_object_get (publisher->harness->element, "stats", &stats, NULL);
  if (gst_structure_get_uint (stats, field, &small))
    value = small;
  else if (gst_structure_get_boolean (stats, field, &flag))
    value = flag;
  else
    fail_unless (gst_structure_get_uint64 (stats, field, &value), "no statistic %s", field);
  gst_structure_free (stats);
  return value;
}

static void
wait_for_stat (Publisher * publisher, const gchar * field, guint64 value)
{
  const gint64 end = g_get_monotonic_time () + PATIENCE;

  while (stat_of (publisher, field) != value) {
    fail_unless (g_get_monotonic_time () < end, "%s stays %" G_GUINT64_FORMAT " instead of %" G_GUINT64_FORMAT, field,
        stat_of (publisher, field), value);
    g_usleep (20000);
  }
}

/* That many messages have come, and every one of them is with the broker. */
static void
expect_all_published (Publisher * publisher, guint64 count)
{
  fail_unless_equals_uint64 (stat_of (publisher, "published"), count);
  fail_unless_equals_uint64 (stat_of (publisher, "dropped"), 0);
  fail_unless_equals_uint64 (stat_of (publisher, "queued") + stat_of (publisher, "in-flight"), 0);
}

/* Pushes until that is the answer. */
static void
wait_for_flow (Publisher * publisher, GstFlowReturn flow)
{
  const gint64 end = g_get_monotonic_time () + PATIENCE;

  while (push_number (publisher, 0) != flow) {
    fail_unless (g_get_monotonic_time () < end, "the stream goes on");
    g_usleep (20000);
  }
}

/* Calls of libraries come to the functions that follow: a program's own go before theirs. */

/* As on many machines localhost has an address of IPv6 first; at that nobody listens here. */
G_MODULE_EXPORT int
getaddrinfo (const char *name, const char *service, const struct addrinfo *hints, struct addrinfo **result)
{
  int (*const real) (const char *, const char *, const struct addrinfo *, struct addrinfo **) =
      dlsym (RTLD_NEXT, "getaddrinfo");
  struct addrinfo *last;

  if (!name || strcmp (name, "localhost") || real ("::1", service, hints, result))
    return real (name, service, hints, result);
  for (last = *result; last->ai_next; last = last->ai_next);
  real ("127.0.0.1", service, hints, &last->ai_next);
  return 0;
}

static Publisher *interrupted;
static guint interrupted_port;

/* Of two clients with one name a broker keeps the one that comes last. */
static void
interrupt (Publisher * publisher, guint port)
{
  static const guint8 connect[] = { 0x10, 16, 0, 4, 'M', 'Q', 'T', 'T', 4, 2, 0, 60, 0, 4, 'c', 'a', 'm', '1' };
  GSocketClient *client = g_socket_client_new ();
  GSocketConnection *connection;

  g_socket_client_set_enable_proxy (client, FALSE);
  connection = g_socket_client_connect_to_host (client, "127.0.0.1", (guint16) port, NULL, NULL);
  fail_unless (connection != NULL);
  fail_unless (g_output_stream_write_all (g_io_stream_get_output_stream (G_IO_STREAM (connection)), connect,
          sizeof connect, NULL, NULL, NULL));
  wait_for_stat (publisher, "connected", FALSE);
  g_object_unref (connection);
  g_object_unref (client);
}

G_MODULE_EXPORT int
mosquitto_publish (struct mosquitto *client, int *id, const char *topic, int size, const void *payload, int qos,
    bool retain)
{
  if (interrupted)
    interrupt (g_steal_pointer (&interrupted), interrupted_port);
  return mosquitto_publish_v5 (client, id, topic, size, payload, qos, retain, NULL);
}

/* The next warning or error on the bus, other than those that say `past` (NULL: none), says `words`. */
static void
expect_message_past (Publisher * publisher, GstMessageType type, const gchar * past, const gchar * words)
{
  GstMessage *message = gst_bus_timed_pop_filtered (publisher->bus, PATIENCE * 1000, type);
  GError *error = NULL;

  fail_unless (message != NULL, "no message about \"%s\"", words);
  if (type == GST_MESSAGE_ERROR)
    gst_message_parse_error (message, &error, NULL);
  else
    gst_message_parse_warning (message, &error, NULL);
  gst_message_unref (message);
  if (past && strstr (error->message, past))
    expect_message_past (publisher, type, past, words);
  else
    fail_unless (strstr (error->message, words) != NULL, "\"%s\" does not say \"%s\"", error->message, words);
  g_error_free (error);
}

static void
expect_message (Publisher * publisher, GstMessageType type, const gchar * words)
{
  expect_message_past (publisher, type, NULL, words);
}

static void
close_publisher (Publisher * publisher)
{
  gst_element_set_bus (publisher->harness->element, NULL);
  gst_harness_teardown (publisher->harness);
  gst_object_unref (publisher->bus);
}

#define OPEN_TO_ALL "allow_anonymous true"

/* ---------------------------------------------------------------- tests */

GST_START_TEST (test_delivers_in_order)
{
  const guint port = free_port ();
  GSubprocess *broker = start_broker (port, OPEN_TO_ALL);
  Listener listener = listen_for (port, 1000, NULL);

  for (gint level = 0; level <= 2; level++) {
    GstElement *sink = new_sink ("mqtt", port, "cams/{source-id}/blobs");
    Publisher publisher;

    g_object_set (sink, "qos-level", level, NULL);
    publisher = publish_with (sink);
    push_numbers (&publisher, 1, 200);
    fail_unless (gst_harness_push_event (publisher.harness, gst_event_new_eos ()));
    expect_all_published (&publisher, 200);
    expect_numbers (&listener, "cams/cam_1/blobs", 1, 200);
    close_publisher (&publisher);
  }
  close_listener (&listener);
  stop_program (broker);
}

GST_END_TEST;

GST_START_TEST (test_broker_comes_late)
{
  const guint port = free_port ();
  Publisher publisher = publish_with (new_sink ("mqtt", port, "t"));
  GSubprocess *broker;

  push_numbers (&publisher, 1, 50);
  expect_message (&publisher, GST_MESSAGE_WARNING, "No connection to the MQTT broker localhost:");
  fail_unless_equals_uint64 (stat_of (&publisher, "queued"), 50);
  fail_unless_equals_uint64 (stat_of (&publisher, "connected"), FALSE);

  broker = start_broker (port, OPEN_TO_ALL);
  wait_for_stat (&publisher, "published", 50);
  push_numbers (&publisher, 51, 60);
  wait_for_stat (&publisher, "published", 60);
  fail_unless_equals_uint64 (stat_of (&publisher, "dropped"), 0);
  close_publisher (&publisher);
  stop_program (broker);
}

GST_END_TEST;

/* At least once: a message under way when the broker dies may come twice, never not at all. */
GST_START_TEST (test_broker_restarts)
{
  const guint port = free_port ();
  gchar *settings = g_strdup_printf (OPEN_TO_ALL "\npersistence true\npersistence_location %s/\n", folder);
  GSubprocess *broker = start_broker (port, settings);
  Publisher publisher = publish_with (new_sink ("mqtt", port, "t"));
  Listener listener = listen_for (port, 1000, NULL);

  wait_for_stat (&publisher, "connected", TRUE);
  push_numbers (&publisher, 1, 20);
  wait_for_stat (&publisher, "published", 20);
  stop_program (broker);
  wait_for_stat (&publisher, "connected", FALSE);
  expect_message (&publisher, GST_MESSAGE_WARNING, "the connection was lost");

  push_numbers (&publisher, 21, 120);
  fail_unless_equals_uint64 (stat_of (&publisher, "published"), 20);
  broker = start_broker (port, settings);
  wait_for_stat (&publisher, "published", 120);
  push_numbers (&publisher, 121, 130);
  wait_for_stat (&publisher, "published", 130);
  expect_numbers_at_least_once (&listener, 1, 130);
  fail_unless_equals_uint64 (stat_of (&publisher, "dropped"), 0);
  fail_unless (stat_of (&publisher, "connects") >= 2);
  close_publisher (&publisher);
  close_listener (&listener);
  stop_program (broker);
  g_free (settings);
}

GST_END_TEST;

/* The connection goes just as a message is handed over: it is published once all the same. */
GST_START_TEST (test_interrupted_message)
{
  const guint port = free_port ();
  GSubprocess *broker = start_broker (port, OPEN_TO_ALL);
  Listener listener = listen_for (port, 1000, NULL);

  for (gint level = 0; level <= 2; level++) {
    GstElement *sink = new_sink ("mqtt", port, "t");
    Publisher publisher;

    g_object_set (sink, "qos-level", level, "client-id", "cam1", NULL);
    publisher = publish_with (sink);
    wait_for_stat (&publisher, "connected", TRUE);
    interrupted_port = port;
    interrupted = &publisher;
    push_numbers (&publisher, 1, 1);
    fail_unless (interrupted == NULL);
    wait_for_stat (&publisher, "published", 1);
    push_numbers (&publisher, 2, 3);
    wait_for_stat (&publisher, "published", 3);
    fail_unless_equals_uint64 (stat_of (&publisher, "connects"), 2);
    expect_all_published (&publisher, 3);
    expect_numbers (&listener, "t", 1, 3);
    close_publisher (&publisher);
  }
  close_listener (&listener);
  stop_program (broker);
}

GST_END_TEST;

GST_START_TEST (test_full_queue)
{
  const guint port = free_port ();
  static const gchar *const policies[] = { "drop-oldest", "drop-newest" };

  for (guint i = 0; i < G_N_ELEMENTS (policies); i++) {
    GstElement *sink = new_sink ("mqtt", port, "t");
    Publisher publisher;
    GSubprocess *broker;
    Listener listener;

    g_object_set (sink, "queue-size", 10, "max-reconnect-delay", 4 * GST_SECOND, NULL);
    gst_util_set_object_arg (G_OBJECT (sink), "overflow", policies[i]);
    publisher = publish_with (sink);
    expect_message (&publisher, GST_MESSAGE_WARNING, "No connection");
    push_numbers (&publisher, 1, 25);
    fail_unless_equals_uint64 (stat_of (&publisher, "dropped"), 15);
    fail_unless_equals_uint64 (stat_of (&publisher, "queued"), 10);

    broker = start_broker (port, OPEN_TO_ALL);
    listener = listen_for (port, 10, NULL);
    wait_for_stat (&publisher, "published", 10);
    if (i == 0)
      expect_numbers (&listener, "t", 16, 25);
    else
      expect_numbers (&listener, "t", 1, 10);
    close_publisher (&publisher);
    close_listener (&listener);
    stop_program (broker);
  }
}

GST_END_TEST;

/* Of the messages that wait only as many stay as a lower queue-size allows; drop-newest drops no other than the one
 * that comes. */
GST_START_TEST (test_shorter_queue)
{
  static const struct
  {
    const gchar *policy;
    guint queued;
  } cases[] = { {"drop-oldest", 3}, {"drop-newest", 10} };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    GstElement *sink = new_sink ("mqtt", free_port (), "t");
    Publisher publisher;

    g_object_set (sink, "queue-size", 10, NULL);
    gst_util_set_object_arg (G_OBJECT (sink), "overflow", cases[i].policy);
    publisher = publish_with (sink);
    push_numbers (&publisher, 1, 10);
    g_object_set (sink, "queue-size", 3, NULL);
    push_numbers (&publisher, 11, 11);
    fail_unless_equals_uint64 (stat_of (&publisher, "queued"), cases[i].queued);
    fail_unless_equals_uint64 (stat_of (&publisher, "dropped"), 11 - cases[i].queued);
    close_publisher (&publisher);
  }
}

GST_END_TEST;

static gpointer
push_one_more (gpointer data)
{
  return GINT_TO_POINTER (push_number (data, 11));
}

/* A sink without a broker, its queue full, and a thread that waits for room in it. */
static GThread *
start_waiting_for_room (Publisher * publisher)
{
  GstElement *sink = new_sink ("mqtt", free_port (), "t");

  g_object_set (sink, "queue-size", 10, NULL);
  gst_util_set_object_arg (G_OBJECT (sink), "overflow", "block");
  *publisher = publish_with (sink);
  push_numbers (publisher, 1, 10);
  return g_thread_new ("pusher", push_one_more, publisher);
}

GST_START_TEST (test_full_queue_blocks_and_unblocks)
{
  Publisher publisher;
  GThread *thread = start_waiting_for_room (&publisher);

  g_usleep (300000);
  fail_unless_equals_uint64 (stat_of (&publisher, "queued"), 10);
  fail_unless_equals_uint64 (stat_of (&publisher, "dropped"), 0);
  fail_unless (gst_harness_push_event (publisher.harness, gst_event_new_flush_start ()));
  fail_unless_equals_int (GPOINTER_TO_INT (g_thread_join (thread)), GST_FLOW_FLUSHING);
  close_publisher (&publisher);
}

GST_END_TEST;

/* Who lets the pipeline wait no longer, or not yet, need not wait for the broker. */
GST_START_TEST (test_new_settings_end_the_wait_for_room)
{
  static const struct
  {
    const gchar *property, *value;
    guint queued;
  } cases[] = { {"queue-size", "20", 11}, {"overflow", "drop-oldest", 10}, {"overflow", "drop-newest", 10} };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    Publisher publisher;
    GThread *thread = start_waiting_for_room (&publisher);

    g_usleep (100000);
    gst_util_set_object_arg (G_OBJECT (publisher.harness->element), cases[i].property, cases[i].value);
    fail_unless_equals_int (GPOINTER_TO_INT (g_thread_join (thread)), GST_FLOW_OK);
    fail_unless_equals_uint64 (stat_of (&publisher, "queued"), cases[i].queued);
    fail_unless_equals_uint64 (stat_of (&publisher, "dropped"), 11 - cases[i].queued);
    close_publisher (&publisher);
  }
}

GST_END_TEST;

/* A pause is no flush: the message that waits for room is there when the pipeline plays again. */
GST_START_TEST (test_full_queue_blocks_through_a_pause)
{
  guint port;
  GSocketListener *broker = new_listener (&port);
  GstElement *sink = new_sink ("mqtt", port, "t");
  GSocketConnection *connection;
  Publisher publisher;
  GThread *thread;

  g_object_set (sink, "queue-size", 10, "qos-level", 0, NULL);
  gst_util_set_object_arg (G_OBJECT (sink), "overflow", "block");
  publisher = publish_with (sink);
  connection = accept_client (broker);
  push_numbers (&publisher, 1, 10);
  thread = g_thread_new ("pusher", push_one_more, &publisher);
  g_usleep (100000);
  for (guint i = 0; i < 1000; i++) {
    fail_unless_equals_int (gst_element_set_state (sink, GST_STATE_PAUSED), GST_STATE_CHANGE_SUCCESS);
    fail_unless_equals_int (gst_element_set_state (sink, GST_STATE_PLAYING), GST_STATE_CHANGE_SUCCESS);
  }
  fail_unless_equals_uint64 (stat_of (&publisher, "queued"), 10);
  welcome_client (connection);
  fail_unless_equals_int (GPOINTER_TO_INT (g_thread_join (thread)), GST_FLOW_OK);
  wait_for_stat (&publisher, "published", 11);
  fail_unless_equals_uint64 (stat_of (&publisher, "dropped"), 0);
  close_publisher (&publisher);
  g_object_unref (connection);
  g_object_unref (broker);
}

GST_END_TEST;

/* A socket of IPv6 at the port, or NULL where there is no such thing. */
static GSocket *
ipv6_socket (guint port)
{
  GSocket *socket = g_socket_new (G_SOCKET_FAMILY_IPV6, G_SOCKET_TYPE_STREAM, G_SOCKET_PROTOCOL_TCP, NULL);
  GSocketAddress *address = g_inet_socket_address_new_from_string ("::1", port);

  if (socket && !g_socket_bind (socket, address, TRUE, NULL))
    g_clear_object (&socket);
  g_object_unref (address);
  return socket;
}

/* Attempts by IPv4 in between do no harm. */
GST_START_TEST (test_ipv6_broker_comes_late)
{
  static const gchar *const hosts[] = { "[::1]", "localhost" };

  for (guint i = 0; i < G_N_ELEMENTS (hosts); i++) {
    const guint port = free_port ();
    GSocket *probe = ipv6_socket (port);
    GstElement *sink = new_sink ("mqtt", port, "t");
    gchar *uri = g_strdup_printf ("mqtt://%s:%u", hosts[i], port);
    Publisher publisher;
    GSubprocess *broker;

    g_object_set (sink, "uri", uri, NULL);
    publisher = publish_with (sink);
    if (probe) {
      g_object_unref (probe);
      push_numbers (&publisher, 1, 5);
      expect_message (&publisher, GST_MESSAGE_WARNING, "Connection refused");
      wait_for_stat (&publisher, "failures", 2);
      broker = start_broker_at ("::1", port, OPEN_TO_ALL);
      wait_for_stat (&publisher, "published", 5);
      expect_all_published (&publisher, 5);
      stop_program (broker);
    }
    close_publisher (&publisher);
    g_free (uri);
  }
}

GST_END_TEST;

/* Nobody answers at the first address, as behind a firewall: its queue is full. */
GST_START_TEST (test_first_address_is_silent)
{
  const guint port = free_port ();
  GSocket *silent = ipv6_socket (port), *clients[4];
  GSocketAddress *address = g_inet_socket_address_new_from_string ("::1", port);
  GstElement *sink = new_sink ("mqtt", port, "t");
  Publisher publisher;
  GSubprocess *broker;

  if (silent) {
    g_socket_set_listen_backlog (silent, 0);
    fail_unless (g_socket_listen (silent, NULL));
    for (guint i = 0; i < G_N_ELEMENTS (clients); i++) {
      clients[i] = g_socket_new (G_SOCKET_FAMILY_IPV6, G_SOCKET_TYPE_STREAM, G_SOCKET_PROTOCOL_TCP, NULL);
      g_socket_set_blocking (clients[i], FALSE);
      g_socket_connect (clients[i], address, NULL, NULL);
    }
  }
  broker = start_broker (port, OPEN_TO_ALL);
  publisher = publish_with (sink);
  push_numbers (&publisher, 1, 5);
  wait_for_stat (&publisher, "published", 5);
  expect_all_published (&publisher, 5);
  fail_unless_equals_uint64 (stat_of (&publisher, "failures"), 0);
  close_publisher (&publisher);
  stop_program (broker);
  for (guint i = 0; silent && i < G_N_ELEMENTS (clients); i++)
    g_object_unref (clients[i]);
  g_clear_object (&silent);
  g_object_unref (address);
}

GST_END_TEST;

/* Nobody is there: the end of the stream comes after drain-timeout, with a count of what waits, and then of what was lost. */
GST_START_TEST (test_end_without_a_broker)
{
  GstElement *sink = new_sink ("mqtt", free_port (), "t");
  Publisher publisher;
  gint64 start;

  g_object_set (sink, "drain-timeout", (guint64) GST_SECOND / 2, NULL);
  publisher = publish_with (sink);
  push_numbers (&publisher, 1, 3);
  expect_message (&publisher, GST_MESSAGE_WARNING, "No connection");
  start = g_get_monotonic_time ();
  fail_unless (gst_harness_push_event (publisher.harness, gst_event_new_eos ()));
  fail_unless (g_get_monotonic_time () - start >= G_USEC_PER_SEC / 2);
  fail_unless (g_get_monotonic_time () - start < 10 * G_USEC_PER_SEC);
  /* It also says when it fails to connect for another reason than before. */
  expect_message_past (&publisher, GST_MESSAGE_WARNING, "No connection", "3 messages are still waiting");
  gst_element_set_state (publisher.harness->element, GST_STATE_NULL);
  expect_message_past (&publisher, GST_MESSAGE_WARNING, "No connection", "3 messages were not delivered");
  fail_unless_equals_uint64 (stat_of (&publisher, "dropped"), 3);
  close_publisher (&publisher);
}

GST_END_TEST;

/* Nobody is to wait, so nobody needs to know what waits: the next message is the one about what was lost. */
GST_START_TEST (test_end_that_waits_for_nothing)
{
  GstElement *sink = new_sink ("mqtt", free_port (), "t");
  Publisher publisher;

  g_object_set (sink, "drain-timeout", (guint64) 0, NULL);
  publisher = publish_with (sink);
  push_numbers (&publisher, 1, 3);
  fail_unless (gst_harness_push_event (publisher.harness, gst_event_new_eos ()));
  gst_element_set_state (publisher.harness->element, GST_STATE_NULL);
  expect_message_past (&publisher, GST_MESSAGE_WARNING, "No connection", "3 messages were not delivered");
  close_publisher (&publisher);
}

GST_END_TEST;

static gpointer
push_end (gpointer data)
{
  Publisher *const publisher = data;

  return GINT_TO_POINTER (gst_harness_push_event (publisher->harness, gst_event_new_eos ()));
}

/* A seek, or a stop, while the end waits for the broker: it waits no more, and warns of nothing, as nothing has ended. */
GST_START_TEST (test_end_is_given_up)
{
  const bool stops = __i__;
  GstElement *sink = new_sink ("mqtt", free_port (), "t");
  Publisher publisher;
  GThread *thread;

  g_object_set (sink, "drain-timeout", (guint64) 1000 * GST_SECOND, NULL);
  publisher = publish_with (sink);
  push_numbers (&publisher, 1, 3);
  thread = g_thread_new ("end", push_end, &publisher);
  g_usleep (G_USEC_PER_SEC / 5);
  if (!stops)
    fail_unless (gst_harness_push_event (publisher.harness, gst_event_new_flush_start ()));
  gst_element_set_state (publisher.harness->element, GST_STATE_NULL);
  fail_if (GPOINTER_TO_INT (g_thread_join (thread)));
  expect_message_past (&publisher, GST_MESSAGE_WARNING, "No connection", "3 messages were not delivered");
  close_publisher (&publisher);
}

GST_END_TEST;

/* After an error READY is enough to begin anew: with a broker that is there by now, or with the same error. */
GST_START_TEST (test_starts_again_after_an_error)
{
  const bool broker_comes = __i__;
  const guint port = free_port ();
  GstElement *sink = new_sink ("mqtt", port, "t");
  GSubprocess *broker = NULL;
  Publisher publisher;

  g_object_set (sink, "fail-on-disconnect", TRUE, NULL);
  publisher = publish_with (sink);
  expect_message (&publisher, GST_MESSAGE_ERROR, "No connection to the MQTT broker");
  wait_for_flow (&publisher, GST_FLOW_ERROR);
  gst_element_set_state (sink, GST_STATE_READY);
  if (broker_comes) {
    broker = start_broker (port, OPEN_TO_ALL);
    wait_for_stat (&publisher, "connected", 1);
  }
  gst_element_set_state (sink, GST_STATE_PLAYING);
  gst_harness_set_src_caps_str (publisher.harness, CAPS);
  if (broker_comes) {
    fail_unless_equals_int (push_number (&publisher, 1), GST_FLOW_OK);
  } else {
    expect_message (&publisher, GST_MESSAGE_ERROR, "No connection to the MQTT broker");
  }
  close_publisher (&publisher);
  if (broker)
    stop_program (broker);
}

GST_END_TEST;

GST_START_TEST (test_password)
{
  const guint port = free_port ();
  gchar *path = in_folder ("passwords"), *settings;
  const gchar *const arguments[] = { passwd_path, "-b", "-c", path, "cam1", "secret", NULL };
  GSubprocess *broker;

  run_program (arguments);
  g_chmod (path, 0644);         /* the broker gives up root */
  settings = g_strdup_printf ("allow_anonymous false\npassword_file %s", path);
  broker = start_broker (port, settings);

  for (guint i = 0; i < 2; i++) {
    GstElement *sink = new_sink ("mqtt", port, "t");
    Publisher publisher;

    g_setenv ("CCL_TEST_PASSWORD", i ? "secret" : "wrong", TRUE);
    g_object_set (sink, "username", "cam1", "password-env", "CCL_TEST_PASSWORD", NULL);
    publisher = publish_with (sink);
    push_numbers (&publisher, 1, 5);
    if (i) {
      wait_for_stat (&publisher, "published", 5);
    } else {
      expect_message (&publisher, GST_MESSAGE_WARNING, "not authorised");
      fail_unless_equals_int (push_number (&publisher, 6), GST_FLOW_OK);
      fail_unless_equals_uint64 (stat_of (&publisher, "published"), 0);
      fail_unless_equals_uint64 (stat_of (&publisher, "queued"), 6);
    }
    close_publisher (&publisher);
  }
  stop_program (broker);
  g_free (settings);
  g_free (path);
}

GST_END_TEST;

/* A certificate for `name`, signed by itself. */
static void
make_certificate (const gchar * stem, const gchar * name)
{
  gchar *key = g_strdup_printf ("%s/%s.key", folder, stem), *certificate = g_strdup_printf ("%s/%s.pem", folder, stem);
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

static gchar *
tls_settings (const gchar * certificate)
{
  return g_strdup_printf (OPEN_TO_ALL "\ncertfile %s/%s.pem\nkeyfile %s/%s.key", folder, certificate, folder,
      certificate);
}

/* Nobody listens at first: libmosquitto does not notice by itself when TLS was to come next. */
GST_START_TEST (test_tls_broker_comes_late)
{
  const guint port = free_port ();
  gchar *certificate = in_folder ("good.pem"), *settings = tls_settings ("good");
  GstElement *sink = new_sink ("mqtts", port, "t");
  Publisher publisher;
  GSubprocess *broker;

  make_certificate ("good", "localhost");
  g_object_set (sink, "ca-file", certificate, NULL);
  publisher = publish_with (sink);
  push_numbers (&publisher, 1, 5);
  expect_message (&publisher, GST_MESSAGE_WARNING, "Connection refused");
  broker = start_broker (port, settings);
  wait_for_stat (&publisher, "published", 5);
  expect_all_published (&publisher, 5);
  close_publisher (&publisher);
  stop_program (broker);
  g_free (settings);
  g_free (certificate);
}

GST_END_TEST;

GST_START_TEST (test_tls)
{
  /* The broker's certificate, which authority we trust, whether we look, and what comes of it. */
  static const struct
  {
    const gchar *served, *trusted;
    gboolean verify, works;
  } cases[] = {
    {"good", "good", TRUE, TRUE},
    {"good", "other", TRUE, FALSE},
    {"good", NULL, TRUE, FALSE},
    {"other", "other", TRUE, FALSE},    /* in order, but for another host */
    {"other", "good", FALSE, TRUE},
  };

  make_certificate ("good", "localhost");
  make_certificate ("other", "elsewhere.example");
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    const guint port = free_port ();
    gchar *settings = tls_settings (cases[i].served);
    gchar *trusted = cases[i].trusted ? g_strdup_printf ("%s/%s.pem", folder, cases[i].trusted) : NULL;
    GSubprocess *broker = start_broker (port, settings);
    GstElement *sink = new_sink ("mqtts", port, "t");
    Publisher publisher;

    g_object_set (sink, "ca-file", trusted, "verify", cases[i].verify, NULL);
    publisher = publish_with (sink);
    push_numbers (&publisher, 1, 5);
    if (cases[i].works) {
      wait_for_stat (&publisher, "published", 5);
    } else {
      expect_message (&publisher, GST_MESSAGE_WARNING, "No connection");
      fail_unless_equals_uint64 (stat_of (&publisher, "published"), 0);
      fail_unless_equals_uint64 (stat_of (&publisher, "queued"), 5);
    }
    close_publisher (&publisher);
    stop_program (broker);
    g_free (settings);
    g_free (trusted);
  }
}

GST_END_TEST;

GST_START_TEST (test_fail_on_disconnect)
{
  GstElement *sink = new_sink ("mqtt", free_port (), "t");
  Publisher publisher;

  g_object_set (sink, "fail-on-disconnect", TRUE, NULL);
  publisher = publish_with (sink);
  expect_message (&publisher, GST_MESSAGE_ERROR, "No connection to the MQTT broker");
  wait_for_flow (&publisher, GST_FLOW_ERROR);

  /* Once more from the start, now with patience. */
  gst_element_set_state (sink, GST_STATE_NULL);
  g_object_set (sink, "fail-on-disconnect", FALSE, NULL);
  gst_element_set_state (sink, GST_STATE_PLAYING);
  gst_harness_set_src_caps_str (publisher.harness, CAPS);
  push_numbers (&publisher, 1, 3);
  fail_unless_equals_uint64 (stat_of (&publisher, "queued"), 3);
  close_publisher (&publisher);
}

GST_END_TEST;

/* Who waits for room hears of it, too. */
GST_START_TEST (test_fail_on_disconnect_unblocks)
{
  guint port;
  GSocketListener *broker = new_listener (&port);
  GstElement *sink = new_sink ("mqtt", port, "t");
  GSocketConnection *connection;
  Publisher publisher;
  GThread *thread;

  g_object_set (sink, "queue-size", 10, "fail-on-disconnect", TRUE, NULL);
  gst_util_set_object_arg (G_OBJECT (sink), "overflow", "block");
  publisher = publish_with (sink);
  connection = accept_client (broker);
  push_numbers (&publisher, 1, 10);
  thread = g_thread_new ("pusher", push_one_more, &publisher);
  g_usleep (100000);
  g_object_unref (connection);  /* closes it */
  expect_message (&publisher, GST_MESSAGE_ERROR, "No connection to the MQTT broker");
  fail_unless_equals_int (GPOINTER_TO_INT (g_thread_join (thread)), GST_FLOW_ERROR);
  close_publisher (&publisher);
  g_object_unref (broker);
}

GST_END_TEST;

static void
expect_wrong_setting (const gchar * property, const gchar * value, const gchar * words)
{
  GstElement *sink = new_sink ("mqtt", 1883, "t");
  Publisher publisher = {.bus = gst_bus_new () };

  g_object_set (sink, property, value, NULL);
  gst_element_set_bus (sink, publisher.bus);
  fail_unless_equals_int (gst_element_set_state (sink, GST_STATE_PAUSED), GST_STATE_CHANGE_FAILURE);
  expect_message (&publisher, GST_MESSAGE_ERROR, words);
  fail_unless (gst_bus_pop_filtered (publisher.bus, GST_MESSAGE_ERROR) == NULL, "one error is enough");
  gst_element_set_bus (sink, NULL);
  gst_element_set_state (sink, GST_STATE_NULL);
  gst_object_unref (sink);
  gst_object_unref (publisher.bus);
}

GST_START_TEST (test_wrong_settings)
{
  static const struct
  {
    const gchar *property, *value, *words;
  } cases[] = {
    {"uri", "http://localhost", "is not an MQTT address"},
    {"uri", "localhost:1883", "is not an MQTT address"},
    {"uri", "mqtt://", "is not an MQTT address"},
    {"uri", "mqtt://localhost:0", "no port 0"},
    {"uri", "mqtt://localhost:65536", "65536\" is not an MQTT address: "},
    {"uri", "mqtt://localhost:4294969179", "is not an MQTT address: "},
    {"uri", "mqtt://localhost:1883x", "is not an MQTT address: "},
    {"uri", "mqtt://me:secret@localhost", "holds a user name or password"},
    {"uri", "mqtt://me:secret@localhost:65536", "holds a user name or password"},
    {"uri", "mqtt://me:p/ss@localhost", "holds a user name or password"},
    {"topic", "blobs/#", "is no topic to publish to"},
    {"topic", "", "is no topic to publish to"},
    {"username", "\xff\xfe", "username cannot be sent"},
    {"password-env", "CCL_TEST_NOT_SET", "CCL_TEST_NOT_SET"},
    {"will-topic", "a/+/b", "is no topic for a will"},
  };
  gchar *long_name = g_strnfill (70000, 'x');

  g_unsetenv ("CCL_TEST_NOT_SET");
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    expect_wrong_setting (cases[i].property, cases[i].value, cases[i].words);
  expect_wrong_setting ("username", long_name, "username cannot be sent");
  g_free (long_name);
}

GST_END_TEST;

GST_START_TEST (test_missing_ca_file)
{
  GstElement *sink = new_sink ("mqtts", 8883, "t");
  Publisher publisher = {.bus = gst_bus_new () };

  g_object_set (sink, "ca-file", "/nonexistent/ca.pem", NULL);
  gst_element_set_bus (sink, publisher.bus);
  fail_unless_equals_int (gst_element_set_state (sink, GST_STATE_PAUSED), GST_STATE_CHANGE_FAILURE);
  expect_message (&publisher, GST_MESSAGE_ERROR, "/nonexistent/ca.pem");
  gst_element_set_bus (sink, NULL);
  gst_element_set_state (sink, GST_STATE_NULL);
  gst_object_unref (sink);
  gst_object_unref (publisher.bus);
}

GST_END_TEST;

/* What is set and comes to nothing: certificates where nothing is encrypted, a will without an address. */
GST_START_TEST (test_settings_in_vain)
{
  static const struct
  {
    const gchar *property, *value, *words;
  } cases[] = {
    {"ca-file", "/etc/hostname", "ca-file has no effect: the connection to mqtt://localhost:"},
    {"key-file", "/etc/hostname", "key-file has no effect"},
    {"will-message", "gone", "will-message is never published"},
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    GstElement *sink = new_sink ("mqtt", free_port (), "t");
    Publisher publisher = {.bus = gst_bus_new () };

    g_object_set (sink, cases[i].property, cases[i].value, NULL);
    gst_element_set_bus (sink, publisher.bus);
    fail_unless (gst_element_set_state (sink, GST_STATE_PAUSED) != GST_STATE_CHANGE_FAILURE);
    expect_message (&publisher, GST_MESSAGE_WARNING, cases[i].words);
    gst_element_set_bus (sink, NULL);
    gst_element_set_state (sink, GST_STATE_NULL);
    gst_object_unref (sink);
    gst_object_unref (publisher.bus);
  }
}

GST_END_TEST;

/* A broker that takes what comes only after a while: whether it ends with a DISCONNECT. */
static gpointer
read_late (gpointer data)
{
  GInputStream *const stream = g_io_stream_get_input_stream (data);
  guint8 *const part = g_malloc (65536);
  guint8 last[2] = { 0 };
  gssize size;

  g_usleep (200000);
  while ((size = g_input_stream_read (stream, part, 65536, NULL, NULL)) > 0) {
    last[0] = size > 1 ? part[size - 2] : last[1];
    last[1] = part[size - 1];
  }
  g_free (part);
  return GINT_TO_POINTER (last[0] == 0xe0 && last[1] == 0);
}

/* More than a socket holds, so that the goodbye waits behind it: without one the broker publishes the will. */
GST_START_TEST (test_stop_on_a_slow_link)
{
  guint port;
  GSocketListener *broker = new_listener (&port);
  GstElement *sink = new_sink ("mqtt", port, "t");
  GSocketConnection *connection;
  Publisher publisher;
  GThread *thread;

  g_object_set (sink, "qos-level", 0, "will-topic", "gone", NULL);
  publisher = publish_with (sink);
  connection = accept_client (broker);
  welcome_client (connection);
  wait_for_stat (&publisher, "connected", TRUE);
  for (guint i = 0; i < 30; i++) {
    const gsize size = 400000;
    fail_unless_equals_int (gst_harness_push (publisher.harness, gst_buffer_new_wrapped (g_strnfill (size, 'x'), size)),
        GST_FLOW_OK);
  }
  thread = g_thread_new ("broker", read_late, connection);
  gst_element_set_state (sink, GST_STATE_NULL);
  fail_unless (GPOINTER_TO_INT (g_thread_join (thread)), "no DISCONNECT");
  close_publisher (&publisher);
  g_object_unref (connection);
  g_object_unref (broker);
}

GST_END_TEST;

static void
find_programs (void)
{
  folder = g_dir_make_tmp ("cclmqttsink-XXXXXX", NULL);
  g_chmod (folder, 0777);       /* started as root, the broker becomes a user of its own */
  broker_path = find_program ("mosquitto");
  sub_path = find_program ("mosquitto_sub");
  passwd_path = find_program ("mosquitto_passwd");
  openssl_path = find_program ("openssl");
}

static void
remove_folder (void)
{
  GDir *dir = g_dir_open (folder, 0, NULL);
  const gchar *name;

  while (dir && (name = g_dir_read_name (dir))) {
    gchar *path = in_folder (name);
    g_remove (path);
    g_free (path);
  }
  g_clear_pointer (&dir, g_dir_close);
  g_rmdir (folder);
  g_free (folder);
  g_free (broker_path);
  g_free (sub_path);
  g_free (passwd_path);
  g_free (openssl_path);
}

static Suite *
cclmqttsink_suite (void)
{
  Suite *suite = suite_create ("cclmqttsink");
  TCase *tests = tcase_create ("settings"), *broker_tests;

  tcase_set_timeout (tests, 60);
  tcase_add_test (tests, test_shorter_queue);
  tcase_add_test (tests, test_full_queue_blocks_and_unblocks);
  tcase_add_test (tests, test_new_settings_end_the_wait_for_room);
  tcase_add_test (tests, test_full_queue_blocks_through_a_pause);
  tcase_add_test (tests, test_end_without_a_broker);
  tcase_add_test (tests, test_end_that_waits_for_nothing);
  tcase_add_loop_test (tests, test_end_is_given_up, 0, 2);
  tcase_add_test (tests, test_fail_on_disconnect);
  tcase_add_loop_test (tests, test_starts_again_after_an_error, 0, 2);
  tcase_add_test (tests, test_fail_on_disconnect_unblocks);
  tcase_add_test (tests, test_wrong_settings);
  tcase_add_test (tests, test_missing_ca_file);
  tcase_add_test (tests, test_settings_in_vain);
  tcase_add_test (tests, test_stop_on_a_slow_link);
  suite_add_tcase (suite, tests);

  if (!broker_path || !sub_path || !passwd_path) {
    g_printerr ("mosquitto and mosquitto-clients are not installed: the tests with a broker are left out\n");
    return suite;
  }
  broker_tests = tcase_create ("broker");
  tcase_set_timeout (broker_tests, 120);
  tcase_add_test (broker_tests, test_delivers_in_order);
  tcase_add_test (broker_tests, test_broker_comes_late);
  tcase_add_test (broker_tests, test_ipv6_broker_comes_late);
  tcase_add_test (broker_tests, test_first_address_is_silent);
  tcase_add_test (broker_tests, test_broker_restarts);
  tcase_add_test (broker_tests, test_interrupted_message);
  tcase_add_test (broker_tests, test_full_queue);
  tcase_add_test (broker_tests, test_password);
  if (openssl_path) {
    tcase_add_test (broker_tests, test_tls);
    tcase_add_test (broker_tests, test_tls_broker_comes_late);
  } else {
    g_printerr ("openssl is not installed: TLS is not tested\n");
  }
  suite_add_tcase (suite, broker_tests);
  return suite;
}

int
main (int argc, char **argv)
{
  int failures;

  gst_check_init (&argc, &argv);
  find_programs ();
  failures = gst_check_run_suite (cclmqttsink_suite (), "cclmqttsink", __FILE__);
  remove_folder ();
  return failures;
}
