/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* cclmqttsink without a broker: what it hands over, and what its queue drops. The element is inside the program. The program's
 * own functions stand in for those of libmosquitto that use the network. */

#include <errno.h>
#include <string.h>
#include <sys/socket.h>

#include <gst/check/gstcheck.h>
#include <gst/check/gstharness.h>
#include <mosquitto.h>

#include "delivery/gstcclmqttsinkprivate.h"
#include "support/messages.h"
#include "support/skip.h"

#define PATIENCE (60 * G_TIME_SPAN_SECOND)      /* ends a hang */

typedef struct
{
  gchar *topic, *payload;
  gint qos_level;
  gboolean retain;
} Sent;

static GMutex lock;

/* Under `lock`. */
static Sent last;               /* the message that was handed over last */
static guint n_sent;
static gboolean answers;        /* to the first message, once */
static GstCclMqttConnection *repeats;   /* sends a message once more when its answer has come; NULL: no */

/* Of the thread of the connection. A test sets the first before the thread starts. */
static gboolean accepts;        /* the broker is there */
typedef void (*Callback) (struct mosquitto *, void *, int, int, const mosquitto_property *);
static Callback on_connect, on_publish;
static gboolean is_accepted, is_over;

int
mosquitto_publish_v5 (struct mosquitto *client, int *id, const char *topic, int size, const void *payload,
    int qos_level, bool retain, const mosquitto_property * properties)
{
  g_mutex_lock (&lock);
  g_free (last.topic);
  g_free (last.payload);
  last = (Sent) {
  g_strdup (topic), g_strndup (payload, size), qos_level, retain};
  *id = (int) ++n_sent;
  g_mutex_unlock (&lock);
  return MOSQ_ERR_SUCCESS;
}

void
mosquitto_connect_v5_callback_set (struct mosquitto *client, Callback callback)
{
  on_connect = callback;
}

void
mosquitto_publish_v5_callback_set (struct mosquitto *client, Callback callback)
{
  on_publish = callback;
}

int
mosquitto_connect_bind_async (struct mosquitto *client, const char *host, int port, int keep_alive, const char *address)
{
  is_accepted = is_over = FALSE;
  errno = ECONNREFUSED;
  return accepts ? MOSQ_ERR_SUCCESS : MOSQ_ERR_ERRNO;
}

/* A socket that is connected. */
int
mosquitto_socket (struct mosquitto *client)
{
  static int ends[2] = { -1, -1 };

  if (ends[0] < 0)
    fail_if (socketpair (AF_UNIX, SOCK_STREAM, 0, ends));
  return ends[0];
}

int
mosquitto_loop (struct mosquitto *client, int timeout, int max_packets)
{
  gboolean is_answer;

  if (is_over)
    return MOSQ_ERR_NO_CONN;
  g_mutex_lock (&lock);
  is_answer = answers;
  answers = FALSE;
  g_mutex_unlock (&lock);
  if (!is_accepted)
    on_connect (client, mosquitto_userdata (client), 0, 0, NULL);
  else if (is_answer)
    on_publish (client, mosquitto_userdata (client), 1, 0, NULL);
  else
    g_usleep (1000);
  is_accepted = TRUE;
  return MOSQ_ERR_SUCCESS;
}

int
mosquitto_disconnect_v5 (struct mosquitto *client, int reason, const mosquitto_property * properties)
{
  is_over = TRUE;
  return MOSQ_ERR_SUCCESS;
}

/* Between the connection and the core, which is about to learn of an answer (meson.build). */
void __wrap_gst_ccl_delivery_acknowledged (GstCclDelivery * delivery, guint64 id);
void __real_gst_ccl_delivery_acknowledged (GstCclDelivery * delivery, guint64 id);

void
__wrap_gst_ccl_delivery_acknowledged (GstCclDelivery * delivery, guint64 id)
{
  GstCclMqttConnection *connection;

  g_mutex_lock (&lock);
  connection = repeats;
  g_mutex_unlock (&lock);
  if (connection) {
    GstCclDeliveryMessage *const message = gst_ccl_delivery_message_new (g_strdup ("s"), g_strdup ("t"), "x", 1);
    gchar reason[GST_CCL_DELIVERY_REASON_SIZE];

    message->id = id;
    fail_unless_equals_int (gst_ccl_mqtt_connection_send (connection, message, reason), GST_CCL_SEND_ACCEPTED);
    gst_ccl_delivery_message_free (message);
  }
  __real_gst_ccl_delivery_acknowledged (delivery, id);
}

/* Waits until `n` messages were handed over. */
static void
expect_sent (guint n)
{
  const gint64 end = g_get_monotonic_time () + PATIENCE;
  guint sent;

  do {
    g_usleep (1000);
    g_mutex_lock (&lock);
    sent = n_sent;
    g_mutex_unlock (&lock);
  } while (sent < n && g_get_monotonic_time () < end);
  fail_unless_equals_int (sent, n);
}

static GstHarness *
new_sink (const gchar * settings, gboolean has_broker)
{
  gchar *const launch = g_strdup_printf ("cclmqttsink drain-timeout=0 %s", settings);
  GstHarness *harness;

  accepts = has_broker;
  n_sent = 0;
  harness = gst_harness_new_parse (launch);
  gst_harness_set_src_caps_str (harness, "application/x-json");
  g_free (launch);
  return harness;
}

static GstHarness *
new_connected_sink (const gchar * settings)
{
  return new_sink (settings, TRUE);
}

static GstHarness *
new_waiting_sink (const gchar * settings)
{
  return new_sink (settings, FALSE);
}

static GstCclMqttSink *
get_sink (GstHarness * harness)
{
  GstElement *const element = gst_harness_find_element (harness, "cclmqttsink");

  gst_object_unref (element);
  return GST_CCL_MQTT_SINK (element);
}

static void
push (GstHarness * harness, const gchar * text)
{
  GstBuffer *const buffer = gst_buffer_new_memdup (text, strlen (text));

  fail_unless_equals_int (gst_harness_push (harness, buffer), GST_FLOW_OK);
}

static void
close_sink (GstHarness * harness)
{
  gst_harness_teardown (harness);
  g_clear_pointer (&last.topic, g_free);
  g_clear_pointer (&last.payload, g_free);
}

GST_START_TEST (test_message)
{
  GstHarness *const harness = new_connected_sink ("topic=a/{source-id} qos-level=2 retain=true");

  push (harness, "{\"source\":\"door/1\"}\r\n");
  expect_sent (1);
  fail_unless_equals_string (last.topic, "a/door_1");
  fail_unless_equals_string (last.payload, "{\"source\":\"door/1\"}");
  fail_unless (last.qos_level == 2 && last.retain);
  close_sink (harness);
}

GST_END_TEST;

/* Its last bytes are no line's end. */
GST_START_TEST (test_cbor)
{
  static const gchar item[] = "\xa2\x66" "source\x66" "door/1\x61" "n\x82\x0d\x0a";
  GstHarness *const harness = new_connected_sink ("topic=a/{source-id}");

  gst_harness_set_src_caps_str (harness, "application/cbor, schema=(string)ccl-blob-1");
  push (harness, item);
  expect_sent (1);
  fail_unless_equals_string (last.topic, "a/door_1");
  fail_unless_equals_string (last.payload, item);
  close_sink (harness);
}

GST_END_TEST;

GST_START_TEST (test_defaults)
{
  GstHarness *const harness = new_connected_sink ("");

  push (harness, "x\n");
  expect_sent (1);
  fail_unless_equals_string (last.topic, "ccl/blobs");
  fail_unless (last.qos_level == 1 && !last.retain);
  close_sink (harness);
}

GST_END_TEST;

GST_START_TEST (test_settings_while_playing)
{
  GstHarness *const harness = new_connected_sink ("topic=t");
  GstCclMqttSink *const sink = get_sink (harness);

  for (gint qos_level = 0; qos_level < 3; qos_level++)
    for (gint retain = 0; retain < 2; retain++) {
      g_object_set (sink, "qos-level", qos_level, "retain", retain, NULL);
      push (harness, "x");
      expect_sent (2 * qos_level + retain + 1);
      fail_unless_equals_int (last.qos_level, qos_level);
      fail_unless_equals_int (last.retain, retain);
    }
  expect_sent (6);
  close_sink (harness);
}

GST_END_TEST;

static GstCclDeliveryStats
get_stats (GstHarness * harness)
{
  GstCclDeliveryStats stats;

  gst_ccl_delivery_get_stats (gst_ccl_delivery_sink_get_delivery (GST_CCL_DELIVERY_SINK (get_sink (harness))), &stats);
  return stats;
}

/* In a session the sender may repeat a message just as its answer comes: that publishes nothing. */
GST_START_TEST (test_repeated_while_answered)
{
  GstHarness *const harness = new_connected_sink ("topic=t qos-level=2");
  const gint64 end = g_get_monotonic_time () + PATIENCE;

  push (harness, "x");
  while (get_stats (harness).sent < 1 && g_get_monotonic_time () < end)
    g_usleep (1000);
  g_mutex_lock (&lock);
  repeats = &get_sink (harness)->connection;
  answers = TRUE;
  g_mutex_unlock (&lock);
  while (get_stats (harness).acknowledged < 1 && g_get_monotonic_time () < end)
    g_usleep (1000);
  fail_unless_equals_uint64 (get_stats (harness).acknowledged, 1);
  expect_sent (1);
  g_mutex_lock (&lock);
  repeats = NULL;
  g_mutex_unlock (&lock);
  close_sink (harness);
}

GST_END_TEST;

static void
check_queue (GstHarness * harness, guint expected_queued, guint64 expected_dropped)
{
  GstStructure *stats;
  guint64 dropped;
  guint queued;

  g_object_get (get_sink (harness), "stats", &stats, NULL);
  fail_unless (gst_structure_get_uint64 (stats, "dropped", &dropped));
  fail_unless (gst_structure_get_uint (stats, "queued", &queued));
  fail_unless_equals_uint64 (dropped, expected_dropped);
  fail_unless_equals_int (queued, expected_queued);
  gst_structure_free (stats);
}

GST_START_TEST (test_full_queue)
{
  GstHarness *const harness = new_waiting_sink ("topic=t queue-size=2");

  for (const gchar * letter = "abcd"; *letter; letter++)
    push (harness, (const gchar[]) { *letter, '\0' });
  check_queue (harness, 2, 2);
  g_object_set (get_sink (harness), "overflow", GST_CCL_OVERFLOW_DROP_NEWEST, NULL);
  push (harness, "e");
  check_queue (harness, 2, 3);
  fail_unless_equals_int (n_sent, 0);
  close_sink (harness);
}

GST_END_TEST;

/* Large lines: the memory is bounded, and the newest stay. */
GST_START_TEST (test_bytes)
{
  const gsize size = 1000000;
  GstHarness *const harness = new_waiting_sink ("topic=t queue-size=1000 queue-bytes=4194304");
  GstStructure *stats;
  guint64 bytes;

  for (guint i = 0; i < 100; i++)
    fail_unless_equals_int (gst_harness_push (harness, gst_buffer_new_wrapped (g_strnfill (size, 'x'), size)),
        GST_FLOW_OK);
  check_queue (harness, 4, 96);
  g_object_get (get_sink (harness), "stats", &stats, NULL);
  fail_unless (gst_structure_get_uint64 (stats, "queued-bytes", &bytes));
  fail_unless (bytes > 4 * size && bytes <= 4194304);
  gst_structure_free (stats);
  close_sink (harness);
}

GST_END_TEST;

/* One byte more than MQTT can send; the next message is sent. */
GST_START_TEST (test_large_message)
{
  const gsize size = GST_CCL_MQTT_MAX_PAYLOAD + 1;
  GstHarness *const harness = new_connected_sink ("topic=a/{source-id}");
  gchar *const data = g_try_malloc0 (size);

  SKIP_TEST_UNLESS (data, "no memory for %" G_GSIZE_FORMAT " bytes", size);
  data[size - 1] = 'x';
  fail_unless_equals_int (gst_harness_push (harness, gst_buffer_new_wrapped (data, size)), GST_FLOW_OK);
  fail_unless_equals_int (n_sent, 0);
  check_queue (harness, 0, 1);
  push (harness, "x");
  expect_sent (1);
  close_sink (harness);
}

GST_END_TEST;

typedef GstAllocator GstUnreadableAllocator;
typedef GstAllocatorClass GstUnreadableAllocatorClass;
GType gst_unreadable_allocator_get_type (void);
G_DEFINE_TYPE (GstUnreadableAllocator, gst_unreadable_allocator, GST_TYPE_ALLOCATOR);

static void
free_memory (GstAllocator * allocator, GstMemory * memory)
{
  g_free (memory);
}

static void
gst_unreadable_allocator_class_init (GstUnreadableAllocatorClass * klass)
{
  klass->free = free_memory;
}

static void
gst_unreadable_allocator_init (GstUnreadableAllocator * allocator)
{
  allocator->mem_type = "Unreadable";
}

static gpointer
map_nothing (GstMemory * memory, gsize max_size, GstMapFlags flags)
{
  return NULL;
}

/* Its memory belongs to a device, which does not show it. */
GST_START_TEST (test_unreadable_buffer)
{
  GstHarness *const harness = new_waiting_sink ("topic=t");
  GstBus *const bus = watch_bus (harness);
  GstAllocator *const allocator = g_object_new (gst_unreadable_allocator_get_type (), NULL);
  GstMemory *const memory = g_new0 (GstMemory, 1);
  GstBuffer *const buffer = gst_buffer_new ();

  allocator->mem_map = map_nothing;
  gst_memory_init (memory, 0, allocator, NULL, 9, 0, 0, 9);
  gst_buffer_append_memory (buffer, memory);
  fail_unless_equals_int (gst_harness_push (harness, buffer), GST_FLOW_ERROR);
  assert_message (bus, GST_MESSAGE_ERROR, "A buffer cannot be read.");
  gst_object_unref (allocator);
  drop_bus (harness, bus);
  close_sink (harness);
}

GST_END_TEST;

static Suite *
delivery_sink_suite (void)
{
  Suite *const suite = suite_create ("delivery-sink");
  TCase *const tc = tcase_create ("general");

  GST_ELEMENT_REGISTER (cclmqttsink, NULL);
  suite_add_tcase (suite, tc);
  tcase_set_timeout (tc, 120);
  tcase_add_test (tc, test_message);
  tcase_add_test (tc, test_cbor);
  tcase_add_test (tc, test_unreadable_buffer);
  tcase_add_test (tc, test_defaults);
  tcase_add_test (tc, test_settings_while_playing);
  tcase_add_test (tc, test_repeated_while_answered);
  tcase_add_test (tc, test_full_queue);
  tcase_add_test (tc, test_bytes);
  tcase_add_test (tc, test_large_message);
  return suite;
}

GST_CHECK_MAIN (delivery_sink);
