/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "publisher.h"

#include <stdio.h>
#include <string.h>

#define PATIENCE (100 * G_TIME_SPAN_SECOND)

LinePublisher *
open_publisher (const gchar * element, gchar * servers, const gchar * settings, guint n_sources)
{
  LinePublisher *const self = g_new0 (LinePublisher, 1);
  gchar *const launch = g_strdup_printf ("%s servers=%s max-reconnect-delay=500000000 queue-size=100000 %s", element,
      servers, settings);
  GstElement *const sink = gst_parse_launch (launch, NULL);

  fail_unless (n_sources <= MAX_SOURCES && sink);
  self->n_sources = n_sources;
  for (guint i = 0; i < n_sources; i++)
    self->next[i] = 1;
  self->bus = gst_bus_new ();
  gst_element_set_bus (sink, self->bus);        /* before it starts */
  self->harness = gst_harness_new_with_element (sink, "sink", NULL);
  gst_harness_set_src_caps_str (self->harness, "application/x-json");
  gst_object_unref (sink);
  g_free (launch);
  g_free (servers);
  return self;
}

static void
push_text (LinePublisher * self, gchar * text)
{
  const gint64 start = g_get_monotonic_time ();

  fail_unless_equals_int (gst_harness_push (self->harness, gst_buffer_new_wrapped (text, strlen (text))), GST_FLOW_OK);
  self->longest_push = MAX (self->longest_push, g_get_monotonic_time () - start);
}

void
push_lines (LinePublisher * self, guint n, gulong pause)
{
  for (guint i = 0; i < n; i++) {
    for (guint source = 0; source < self->n_sources; source++)
      push_text (self, g_strdup_printf ("{\"source\":\"cam.%u\",\"seq\":%u}\n", source, self->next[source]++));
    if (pause)
      g_usleep (pause);
  }
}

void
push_large_line (LinePublisher * self, gsize size)
{
  gchar *const filling = g_strnfill (size, 'x');

  push_text (self, g_strdup_printf ("{\"source\":\"cam.0\",\"seq\":%u,\"more\":\"%s\"}\n", self->next[0]++, filling));
  g_free (filling);
}

/* {"source": "cam.0", "n": number}, for numbers of one byte. */
static gchar *
new_item (guint number)
{
  return g_strdup_printf ("\xa2\x66" "source\x65" "cam.0\x61" "n%c", (gchar) number);
}

void
push_items (LinePublisher * self)
{
  gst_harness_set_src_caps_str (self->harness, "application/cbor");
  for (guint i = 1; i <= 13; i++)
    push_text (self, new_item (self->next[0]++));
}

void
check_items (const GPtrArray * lines)
{
  fail_unless_equals_int (lines->len, 13);
  for (guint i = 0; i < lines->len; i++) {
    gchar *const expected = new_item (i + 1);

    fail_unless_equals_string (g_ptr_array_index (lines, i), expected);
    g_free (expected);
  }
}

guint64
publisher_stat (LinePublisher * self, const gchar * field)
{
  return element_stat (self->harness->element, field);
}

void
wait_for_publisher (LinePublisher * self, const gchar * field, guint64 value)
{
  const gint64 end = g_get_monotonic_time () + PATIENCE;

  while (publisher_stat (self, field) != value) {
    fail_unless (g_get_monotonic_time () < end, "%s stays %" G_GUINT64_FORMAT " instead of %" G_GUINT64_FORMAT, field,
        publisher_stat (self, field), value);
    g_usleep (10000);
  }
}

static guint
n_pushed (const LinePublisher * self)
{
  guint n = 0;

  for (guint i = 0; i < self->n_sources; i++)
    n += self->next[i] - 1;
  return n;
}

void
wait_for_all_lines (LinePublisher * self)
{
  wait_for_publisher (self, "published", n_pushed (self));
  fail_unless_equals_uint64 (publisher_stat (self, "dropped"), 0);
}

void
wait_for_message (LinePublisher * self, GstMessageType type, const gchar * words, const gchar * secret)
{
  const gint64 end = g_get_monotonic_time () + PATIENCE;
  gboolean found = FALSE;

  while (!found) {
    GstMessage *const message = gst_bus_timed_pop_filtered (self->bus, GST_SECOND / 10, type);
    gchar *debug = NULL;
    GError *error = NULL;

    fail_unless (g_get_monotonic_time () < end, "no message says \"%s\"", words);
    if (!message)
      continue;
    if (type == GST_MESSAGE_ERROR)
      gst_message_parse_error (message, &error, &debug);
    else
      gst_message_parse_warning (message, &error, &debug);
    found = strstr (error->message, words) || (debug && strstr (debug, words));
    GST_INFO ("%s (%s)", error->message, debug);
    fail_if (secret && (strstr (error->message, secret) || (debug && strstr (debug, secret))), "%s", error->message);
    g_error_free (error);
    g_free (debug);
    gst_message_unref (message);
  }
}

void
close_publisher (LinePublisher * self)
{
  gst_bus_set_flushing (self->bus, TRUE);       /* its messages refer to the element, which refers to the bus */
  gst_harness_teardown (self->harness);
  gst_object_unref (self->bus);
  g_free (self);
}

guint
check_lines (LinePublisher * self, const GPtrArray * lines, guint missing)
{
  guint next[MAX_SOURCES], n_again = 0;

  for (guint i = 0; i < MAX_SOURCES; i++)
    next[i] = 1 + (i == 0 && missing == 1);
  for (guint i = 0; i < lines->len; i++) {
    const gchar *const line = g_ptr_array_index (lines, i);
    guint source, number;

    fail_unless (sscanf (line, "{\"source\":\"cam.%u\",\"seq\":%u", &source, &number) == 2
        && source < self->n_sources, "%s", line);
    if (source == 0 && number == missing)
      fail ("line %u has arrived", number);
    fail_unless (number <= next[source], "line %u of source %u came before line %u", number, source, next[source]);
    if (number < next[source])
      n_again++;
    else
      next[source] += source == 0 && number + 1 == missing ? 2 : 1;
  }
  for (guint i = 0; i < self->n_sources; i++)
    fail_unless (next[i] == self->next[i], "of source %u only the lines before %u of %u have arrived", i, next[i],
        self->next[i]);
  return n_again;
}

void
expect_wrong_settings (const gchar * element, const gchar * settings, const gchar * words)
{
  gchar *const launch = g_strdup_printf ("fakesrc ! %s name=sink %s", element, settings);
  GstElement *const pipeline = gst_parse_launch (launch, NULL);
  GstBus *const bus = gst_element_get_bus (pipeline);
  GstMessage *message;
  GError *error = NULL;
  gchar *debug = NULL;

  fail_unless (gst_element_set_state (pipeline, GST_STATE_READY) == GST_STATE_CHANGE_FAILURE, "%s", settings);
  message = gst_bus_pop_filtered (bus, GST_MESSAGE_ERROR);
  fail_unless (message != NULL, "%s", settings);
  gst_message_parse_error (message, &error, &debug);
  fail_unless (strstr (error->message, words) != NULL, "%s: %s", settings, error->message);
  fail_if (strstr (error->message, "secret") || (debug && strstr (debug, "secret")), "%s", error->message);
  g_error_free (error);
  g_free (debug);
  gst_message_unref (message);
  gst_element_set_state (pipeline, GST_STATE_NULL);
  gst_object_unref (bus);
  gst_object_unref (pipeline);
  g_free (launch);
}
