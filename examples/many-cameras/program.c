/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "program.h"

#include <stdlib.h>

gint64
now (void)
{
  return g_get_monotonic_time () * 1000;
}

/* Measured once: a time that has passed meanwhile would be a very long one. */
void
sleep_until (gint64 time)
{
  const gint64 left = time - now ();

  if (left > 0)
    g_usleep (left / 1000 + 1);
}

void
fail (const gchar * what, const gchar * details)
{
  g_printerr ("many-cameras: %s%s%s\n", what, details ? ": " : "", details ? details : "");
  exit (2);
}

void
fail_with (GstMessage * message)
{
  GError *error = NULL;
  gchar *details = NULL;

  gst_message_parse_error (message, &error, &details);
  fail (error->message, details);
}

void
check_bus (GstElement * pipeline)
{
  GstBus *bus = gst_element_get_bus (pipeline);
  GstMessage *message = gst_bus_pop_filtered (bus, GST_MESSAGE_ERROR);

  gst_object_unref (bus);
  if (message)
    fail_with (message);
}

GstElement *
launch (const gchar * description)
{
  GError *error = NULL;
  GstElement *pipeline = gst_parse_launch (description, &error);

  if (error)
    fail (error->message, NULL);
  return pipeline;
}

void
push_buffer (GstElement * source, GstBuffer * buffer)
{
  GstFlowReturn flow;

  g_signal_emit_by_name (source, "push-buffer", buffer, &flow);
  gst_buffer_unref (buffer);
}
