/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* cclmqttsink without a broker: what it hands over, and what its queue drops. The element is inside the program, and the
 * program's own mosquitto_publish() stands in for that of libmosquitto. */

#include <string.h>

#include <gst/check/gstcheck.h>
#include <gst/check/gstharness.h>
#include <mosquitto.h>

#include "delivery/gstcclmqttsinkprivate.h"
#include "support/messages.h"
#include "support/skip.h"

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

/* Waits until `n` messages were handed over. */
static void
expect_sent (guint n)
{
  const gint64 end = g_get_monotonic_time () + 20 * G_TIME_SPAN_SECOND;
  guint sent;

  do {
    g_usleep (1000);
    g_mutex_lock (&lock);
    sent = n_sent;
    g_mutex_unlock (&lock);
  } while (sent < n && g_get_monotonic_time () < end);
  fail_unless_equals_int (sent, n);
}

/* At port 1 nothing listens. */
static GstHarness *
new_sink (const gchar * settings)
{
  gchar *const launch = g_strdup_printf ("cclmqttsink uri=mqtt://127.0.0.1:1 drain-timeout=0 %s", settings);
  GstHarness *const harness = gst_harness_new_parse (launch);

  gst_harness_set_src_caps_str (harness, "application/x-json");
  n_sent = 0;
  g_free (launch);
  return harness;
}

static GstCclMqttSink *
get_sink (GstHarness * harness)
{
  GstElement *const element = gst_harness_find_element (harness, "cclmqttsink");

  gst_object_unref (element);
  return GST_CCL_MQTT_SINK (element);
}

static void
pretend_connected (GstHarness * harness)
{
  gst_ccl_delivery_connected (gst_ccl_delivery_sink_get_delivery (GST_CCL_DELIVERY_SINK (get_sink (harness))));
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
  GstHarness *const harness = new_sink ("topic=a/{source-id} qos-level=2 retain=true");

  pretend_connected (harness);
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
  GstHarness *const harness = new_sink ("topic=a/{source-id}");

  gst_harness_set_src_caps_str (harness, "application/cbor, schema=(string)ccl-blob-1");
  pretend_connected (harness);
  push (harness, item);
  expect_sent (1);
  fail_unless_equals_string (last.topic, "a/door_1");
  fail_unless_equals_string (last.payload, item);
  close_sink (harness);
}

GST_END_TEST;

GST_START_TEST (test_defaults)
{
  GstHarness *const harness = new_sink ("");

  pretend_connected (harness);
  push (harness, "x\n");
  expect_sent (1);
  fail_unless_equals_string (last.topic, "ccl/blobs");
  fail_unless (last.qos_level == 1 && !last.retain);
  close_sink (harness);
}

GST_END_TEST;

GST_START_TEST (test_settings_while_playing)
{
  GstHarness *const harness = new_sink ("topic=t");
  GstCclMqttSink *const sink = get_sink (harness);

  pretend_connected (harness);
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
  GstHarness *const harness = new_sink ("topic=t queue-size=2");

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
  GstHarness *const harness = new_sink ("topic=t queue-size=1000 queue-bytes=4194304");
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
  GstHarness *const harness = new_sink ("topic=a/{source-id}");
  gchar *const data = g_try_malloc0 (size);

  SKIP_TEST_UNLESS (data, "no memory for %" G_GSIZE_FORMAT " bytes", size);
  data[size - 1] = 'x';
  pretend_connected (harness);
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
  GstHarness *const harness = new_sink ("topic=t");
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
  tcase_add_test (tc, test_message);
  tcase_add_test (tc, test_cbor);
  tcase_add_test (tc, test_unreadable_buffer);
  tcase_add_test (tc, test_defaults);
  tcase_add_test (tc, test_settings_while_playing);
  tcase_add_test (tc, test_full_queue);
  tcase_add_test (tc, test_bytes);
  tcase_add_test (tc, test_large_message);
  return suite;
}

GST_CHECK_MAIN (delivery_sink);
