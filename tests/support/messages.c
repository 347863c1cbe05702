/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "messages.h"

#include <string.h>

GstBus *
watch_bus (GstHarness * harness)
{
  GstBus *bus = gst_bus_new ();

  gst_element_set_bus (harness->element, bus);
  return bus;
}

void
assert_message (GstBus * bus, GstMessageType type, const gchar * text)
{
  GstMessage *message = gst_bus_pop_filtered (bus, type);
  GError *error = NULL;

  fail_unless (message != NULL, "no %s on the bus, expected: %s", gst_message_type_get_name (type), text);
  if (type == GST_MESSAGE_ERROR)
    gst_message_parse_error (message, &error, NULL);
  else
    gst_message_parse_warning (message, &error, NULL);
  fail_unless (strstr (error->message, text) != NULL, "expected \"%s\" in \"%s\"", text, error->message);
  g_error_free (error);
  gst_message_unref (message);
}

void
assert_no_message (GstBus * bus, GstMessageType type)
{
  GstMessage *message = gst_bus_pop_filtered (bus, type);

  fail_unless (message == NULL, "unexpected %" GST_PTR_FORMAT, message);
}

void
drop_bus (GstHarness * harness, GstBus * bus)
{
  gst_element_set_bus (harness->element, NULL);
  gst_object_unref (bus);
}
