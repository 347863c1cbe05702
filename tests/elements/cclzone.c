/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* cclzone: the tests of all subjects in one program, and what they share. */

#include "cclzone.h"

#include <string.h>

Test
new_test (const gchar * zones)
{
  Test t = {.h = gst_harness_new ("cclzone"),.bus = gst_bus_new () };

  t.element = gst_harness_find_element (t.h, "cclzone");
  gst_element_set_bus (t.element, t.bus);
  g_object_set (t.element, "margin", 0.0, NULL);        /* each step counts */
  if (zones)
    g_object_set (t.element, "zones", zones, NULL);
  gst_harness_set_src_caps_str (t.h, "video/x-raw,format=GRAY8,width=320,height=240,framerate=10/1");
  return t;
}

void
end_test (Test * t)
{
  gst_element_set_bus (t->element, NULL);
  gst_object_unref (t->bus);
  gst_object_unref (t->element);
  gst_harness_teardown (t->h);
}

GstCclBlob
blob_at (gint x, gint y, guint64 track, guint32 flags)
{
  const guint64 n = 100, cx = x, cy = y;

  return (GstCclBlob) {
    .label = 1,.x = x - 5,.y = y - 5,.width = 10,.height = 10,.first_x = x - 5,.area = n,
    .m10 = n * cx,.m01 = n * cy,.m20 = n * cx * cx + 825,.m11 = n * cx * cy,.m02 = n * cy * cy + 825,
    .track_id = track,.flags = flags,.mtd_id = GST_CCL_MTD_ID_NONE
  };
}

GstBuffer *
push_at (Test * t, GstClockTime pts, const GstCclBlob * blobs, guint n)
{
  GstBuffer *buffer = gst_buffer_new_allocate (NULL, 4, NULL);
  GstCclBlobList *list = gst_ccl_blob_list_new (blobs, n);

  GST_BUFFER_PTS (buffer) = pts;
  gst_buffer_add_ccl_blob_meta (buffer, list, 320, 240);
  gst_ccl_blob_list_unref (list);
  buffer = gst_harness_push_and_pull (t->h, buffer);
  fail_unless (buffer != NULL);
  return buffer;
}

GstBuffer *
push (Test * t, const GstCclBlob * blobs, guint n)
{
  return push_at (t, t->frame++ * FRAME, blobs, n);
}

void
walk (Test * t, gint x, gint y)
{
  const GstCclBlob blob = blob_at (x, y, 7, GST_CCL_BLOB_FLAG_CONFIRMED);

  gst_buffer_unref (push (t, &blob, x >= 0));
}

const gchar *
next_event (Test * t, const GstStructure ** details)
{
  static gchar text[64];
  static GstMessage *message = NULL;
  const GstStructure *s;

  g_clear_pointer (&message, gst_message_unref);
  message = gst_bus_pop_filtered (t->bus, GST_MESSAGE_ELEMENT);
  if (!message)
    return NULL;
  s = gst_message_get_structure (message);
  fail_unless (gst_structure_has_name (s, "ccl-zone"));
  g_snprintf (text, sizeof text, "%s %s", gst_structure_get_string (s, "event"), gst_structure_get_string (s, "zone"));
  if (details)
    *details = s;
  return text;
}

guint64
get_uint64 (const GstStructure * s, const gchar * name)
{
  guint64 value = 0;

  fail_unless (gst_structure_get_uint64 (s, name, &value), "no %s", name);
  return value;
}

GstCclZone
zone_of (GstBuffer * buffer, guint index)
{
  GstCclZoneMeta *const meta = gst_buffer_get_ccl_zone_meta (buffer);

  fail_unless (meta != NULL && index < meta->n_zones);
  return meta->zones[index];
}

guint32
bits_of (GstBuffer * buffer, guint index)
{
  return gst_ccl_blob_meta_get_blob (gst_buffer_get_ccl_blob_meta (buffer), index)->zones;
}

gchar *
pop_warning (Test * t)
{
  GstMessage *message = gst_bus_pop_filtered (t->bus, GST_MESSAGE_WARNING);
  GError *error = NULL;
  gchar *text;

  fail_unless (message != NULL, "no warning");
  gst_message_parse_warning (message, &error, NULL);
  text = g_strdup (error->message);
  g_error_free (error);
  gst_message_unref (message);
  return text;
}

void
check_wrong_zones (Test * t, const WrongZones * cases, guint n)
{
  for (guint i = 0; i < n; i++) {
    gchar *warning;

    g_object_set (t->element, "zones", cases[i].text, NULL);
    warning = pop_warning (t);
    fail_unless (strstr (warning, cases[i].says) != NULL, "%s: %s", cases[i].text, warning);
    g_free (warning);
  }
}

static Suite *
cclzone_suite (void)
{
  Suite *suite = suite_create ("cclzone");

  suite_add_tcase (suite, zone_event_tests ());
  suite_add_tcase (suite, zone_count_tests ());
  suite_add_tcase (suite, zone_setting_tests ());
  suite_add_tcase (suite, zone_text_tests ());
  suite_add_tcase (suite, zone_time_tests ());
  suite_add_tcase (suite, zone_shape_tests ());
  suite_add_tcase (suite, zone_walk_tests ());
  suite_add_tcase (suite, zone_chain_tests ());
  return suite;
}

GST_CHECK_MAIN (cclzone);
