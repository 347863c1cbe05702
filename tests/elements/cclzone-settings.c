/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* cclzone: zones that change while frames flow, and starts with wrong ones. */

#include "cclzone.h"
#include <glib/gstdio.h>
#include <string.h>

/* A zone that keeps its name keeps its guests and counts. */
GST_START_TEST (test_change_while_playing)
{
  Test t = new_test (ZONES (ROOM));
  const GstCclBlob blob = blob_at (150, 100, 7, GST_CCL_BLOB_FLAG_CONFIRMED);
  GstBuffer *buffer;

  walk (&t, 150, 100);
  fail_unless_equals_string (next_event (&t, NULL), "enter room");
  g_object_set (t.element, "zones", ZONES (GATE "," ROOM), NULL);
  buffer = push (&t, &blob, 1);
  fail_unless (next_event (&t, NULL) == NULL);
  fail_unless (bits_of (buffer, 0) == 2 && zone_of (buffer, 1).n_inside == 1 && zone_of (buffer, 1).n_forward == 1);
  gst_buffer_unref (buffer);

  g_object_set (t.element, "zones", NULL, NULL);
  buffer = push (&t, &blob, 1);
  fail_unless (gst_buffer_get_ccl_zone_meta (buffer) == NULL);
  gst_buffer_unref (buffer);
  end_test (&t);
}

GST_END_TEST;

GST_START_TEST (test_reload)
{
  gchar *path = g_build_filename (g_get_tmp_dir (), "cclzone-test-XXXXXX", NULL), *warning;
  Test t;
  gboolean ok;

  g_close (g_mkstemp (path), NULL);
  g_file_set_contents (path, ZONES (GATE), -1, NULL);
  t = (Test) {.h = gst_harness_new_parse ("cclzone name=zone"),.bus = gst_bus_new () };
  gst_element_set_state (t.h->element, GST_STATE_NULL);
  t.element = gst_harness_find_element (t.h, "cclzone");
  gst_element_set_bus (t.element, t.bus);
  g_object_set (t.element, "config", path, NULL);
  gst_harness_play (t.h);
  gst_harness_set_src_caps_str (t.h, "video/x-raw,format=GRAY8,width=320,height=240,framerate=10/1");

  walk (&t, 140, 100);
  walk (&t, 160, 100);
  fail_unless_equals_string (next_event (&t, NULL), "cross gate");

  g_file_set_contents (path, ZONES (ROOM), -1, NULL);
  g_signal_emit_by_name (t.element, "reload", &ok);
  fail_unless (ok);
  walk (&t, 160, 100);
  fail_unless_equals_string (next_event (&t, NULL), "enter room");

  g_file_set_contents (path, ZONES ("{\"name\":\"x\"}"), -1, NULL);
  g_signal_emit_by_name (t.element, "reload", &ok);
  fail_unless (!ok);
  warning = pop_warning (&t);
  fail_unless (strstr (warning, path) && strstr (warning, "zones[0] \"x\": needs a polygon or a line"), "%s", warning);
  g_free (warning);
  walk (&t, 10, 100);
  fail_unless_equals_string (next_event (&t, NULL), "leave room");

  g_unlink (path);
  g_free (path);
  end_test (&t);
}

GST_END_TEST;

/* At the start a mistake is an error. */
GST_START_TEST (test_wrong_start)
{
  static const struct
  {
    const gchar *property, *value;
  } cases[] = { {"zones", "nonsense"}, {"config", "/nonexistent/zones.json"} };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    GstElement *element = gst_element_factory_make ("cclzone", NULL);
    GstBus *bus = gst_bus_new ();
    GstMessage *message;

    gst_element_set_bus (element, bus);
    g_object_set (element, cases[i].property, cases[i].value, NULL);
    fail_unless (gst_element_set_state (element, GST_STATE_PAUSED) == GST_STATE_CHANGE_FAILURE);
    message = gst_bus_pop_filtered (bus, GST_MESSAGE_ERROR);
    fail_unless (message != NULL);
    gst_message_unref (message);
    gst_element_set_state (element, GST_STATE_NULL);
    gst_element_set_bus (element, NULL);
    gst_object_unref (bus);
    gst_object_unref (element);
  }
}

GST_END_TEST;

static GstStateChangeReturn
restart (Test * t)
{
  GstStateChangeReturn ret;

  gst_element_set_state (t->element, GST_STATE_NULL);
  ret = gst_element_set_state (t->element, GST_STATE_PLAYING);
  if (ret != GST_STATE_CHANGE_FAILURE) {
    gst_harness_push_event (t->h, gst_event_new_stream_start ("again"));
    gst_harness_set_src_caps_str (t->h, "video/x-raw,format=GRAY8,width=320,height=240,framerate=10/1");
  }
  return ret;
}

/* A mistake that was only warned of while frames flowed is none less at the next start. */
GST_START_TEST (test_wrong_restart)
{
  Test t = new_test (ZONES (ROOM));
  GstMessage *message;

  walk (&t, 150, 100);
  fail_unless_equals_string (next_event (&t, NULL), "enter room");
  g_object_set (t.element, "zones", "garbage", NULL);
  g_free (pop_warning (&t));
  fail_unless_equals_int (restart (&t), GST_STATE_CHANGE_FAILURE);
  message = gst_bus_pop_filtered (t.bus, GST_MESSAGE_ERROR);
  fail_unless (message != NULL);
  gst_message_unref (message);

  g_object_set (t.element, "zones", ZONES (ROOM), NULL);
  fail_if (restart (&t) == GST_STATE_CHANGE_FAILURE);
  walk (&t, 150, 100);
  fail_unless_equals_string (next_event (&t, NULL), "enter room");
  end_test (&t);
}

GST_END_TEST;

/* Between reading the zones, when a pad comes to life, and PAUSED a mistake is warned of; before, the start will tell. */
GST_START_TEST (test_wrong_meanwhile)
{
  Test t = new_test (ZONES (ROOM));
  GstPad *const pad = gst_element_get_static_pad (t.element, "sink");

  gst_element_set_state (t.element, GST_STATE_READY);
  fail_unless (gst_pad_set_active (pad, TRUE));
  fail_unless_equals_int (GST_STATE (t.element), GST_STATE_READY);
  g_object_set (t.element, "zones", "garbage", NULL);
  g_free (pop_warning (&t));
  fail_unless (gst_pad_set_active (pad, FALSE));
  g_object_set (t.element, "zones", "rubbish", NULL);
  fail_if (gst_bus_pop_filtered (t.bus, GST_MESSAGE_WARNING));
  fail_unless_equals_int (gst_element_set_state (t.element, GST_STATE_PAUSED), GST_STATE_CHANGE_FAILURE);
  g_object_set (t.element, "zones", "trash", NULL);
  fail_if (gst_bus_pop_filtered (t.bus, GST_MESSAGE_WARNING));
  gst_object_unref (pad);
  end_test (&t);
}

GST_END_TEST;

/* A start takes the zones from the properties as they are then. */
GST_START_TEST (test_restart)
{
  gchar *path = g_build_filename (g_get_tmp_dir (), "cclzone-test-XXXXXX", NULL);
  Test t = new_test (NULL);
  GstBuffer *buffer;

  g_close (g_mkstemp (path), NULL);
  g_file_set_contents (path, ZONES (GATE), -1, NULL);
  g_object_set (t.element, "config", path, NULL);
  fail_if (restart (&t) == GST_STATE_CHANGE_FAILURE);
  buffer = push (&t, NULL, 0);
  fail_unless_equals_string (zone_of (buffer, 0).name, "gate");
  gst_buffer_unref (buffer);

  g_object_set (t.element, "zones", ZONES (ROOM), NULL);
  fail_if (restart (&t) == GST_STATE_CHANGE_FAILURE);
  buffer = push (&t, NULL, 0);
  fail_unless_equals_string (zone_of (buffer, 0).name, "room");
  gst_buffer_unref (buffer);

  g_object_set (t.element, "zones", NULL, NULL);
  fail_if (restart (&t) == GST_STATE_CHANGE_FAILURE);
  buffer = push (&t, NULL, 0);
  fail_unless_equals_string (zone_of (buffer, 0).name, "gate");
  gst_buffer_unref (buffer);

  gst_element_set_state (t.element, GST_STATE_NULL);
  g_object_set (t.element, "config", NULL, NULL);
  fail_if (restart (&t) == GST_STATE_CHANGE_FAILURE);
  buffer = push (&t, NULL, 0);
  fail_unless (gst_buffer_get_ccl_zone_meta (buffer) == NULL);
  gst_buffer_unref (buffer);

  g_unlink (path);
  g_free (path);
  end_test (&t);
}

GST_END_TEST;

/* A file that could not be read is forgotten with its name. */
GST_START_TEST (test_error_forgotten)
{
  GstElement *zone = gst_object_ref_sink (gst_element_factory_make ("cclzone", NULL));

  g_object_set (zone, "config", "/nonexistent", NULL);
  fail_unless_equals_int (gst_element_set_state (zone, GST_STATE_PAUSED), GST_STATE_CHANGE_FAILURE);
  gst_element_set_state (zone, GST_STATE_NULL);
  g_object_set (zone, "config", NULL, NULL);
  fail_unless (gst_element_set_state (zone, GST_STATE_PAUSED) != GST_STATE_CHANGE_FAILURE);
  gst_element_set_state (zone, GST_STATE_NULL);
  gst_object_unref (zone);
}

GST_END_TEST;

TCase *
zone_setting_tests (void)
{
  TCase *tests = tcase_create ("settings");

  tcase_add_test (tests, test_change_while_playing);
  tcase_add_test (tests, test_reload);
  tcase_add_test (tests, test_wrong_start);
  tcase_add_test (tests, test_wrong_restart);
  tcase_add_test (tests, test_wrong_meanwhile);
  tcase_add_test (tests, test_restart);
  tcase_add_test (tests, test_error_forgotten);
  return tests;
}
