/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "harness.h"

GstHarness *
element_harness (const gchar * element, const gchar * settings, const gchar * caps)
{
  gchar *const line = g_strdup_printf ("%s %s", element, settings);
  GstHarness *const harness = gst_harness_new_parse (line);

  fail_unless (harness != NULL, "%s", line);
  g_free (line);
  if (caps)
    gst_harness_set_src_caps_str (harness, caps);
  return harness;
}

/* (transfer none) */
static GstElement *
find (GstHarness * harness, const gchar * factory)
{
  GstElement *const element = gst_harness_find_element (harness, factory);

  fail_unless (element != NULL, "no %s in the harness", factory);
  gst_object_unref (element);
  return element;
}

void
harness_set (GstHarness * harness, const gchar * factory, const gchar * property, const gchar * value)
{
  gst_util_set_object_arg (G_OBJECT (find (harness, factory)), property, value);
}

guint64
element_stat (GstElement * element, const gchar * name)
{
  GstStructure *stats = NULL;
  guint64 value = 0;
  gboolean flag;
  guint small;

  g_object_get (element, "stats", &stats, NULL);
  if (gst_structure_get_uint (stats, name, &small))
    value = small;
  else if (gst_structure_get_boolean (stats, name, &flag))
    value = flag;
  else
    fail_unless (gst_structure_get_uint64 (stats, name, &value), "stats has no %s", name);
  gst_structure_free (stats);
  return value;
}

gchar *
element_stat_string (GstElement * element, const gchar * name)
{
  GstStructure *stats = NULL;
  gchar *value;

  g_object_get (element, "stats", &stats, NULL);
  value = g_strdup (gst_structure_get_string (stats, name));
  gst_structure_free (stats);
  return value;
}

guint64
harness_stat (GstHarness * harness, const gchar * factory, const gchar * name)
{
  return element_stat (find (harness, factory), name);
}

gchar *
harness_stat_string (GstHarness * harness, const gchar * factory, const gchar * name)
{
  return element_stat_string (find (harness, factory), name);
}

GstBuffer *
plain_frame (gsize size, guint8 value, GstClockTime pts, GstClockTime duration)
{
  GstBuffer *const buffer = gst_buffer_new_allocate (NULL, size, NULL);

  gst_buffer_memset (buffer, 0, value, size);
  GST_BUFFER_PTS (buffer) = pts;
  GST_BUFFER_DURATION (buffer) = duration;
  return buffer;
}

GstEvent *
segment_from (GstClockTime start)
{
  GstSegment segment;

  gst_segment_init (&segment, GST_FORMAT_TIME);
  segment.start = start;
  return gst_event_new_segment (&segment);
}

void
flush_harness (GstHarness * harness)
{
  fail_unless (gst_harness_push_event (harness, gst_event_new_flush_start ()));
  fail_unless (gst_harness_push_event (harness, gst_event_new_flush_stop (TRUE)));
  fail_unless (gst_harness_push_event (harness, segment_from (0)));
}
