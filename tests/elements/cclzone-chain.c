/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* cclzone together with other elements. */

#include "cclzone.h"
#include <string.h>

/* Zones of a second element come behind those of the first, in the list and in the bits of blobs. */
GST_START_TEST (test_two_in_a_row)
{
  const GstCclBlob blob = blob_at (150, 100, 0, 0);
  Test first = new_test (ZONES ("{\"name\":\"corner\",\"polygon\":[[0,0],[10,0],[10,10]]}"));
  Test second = new_test (ZONES (ROOM));
  GstBuffer *buffer = push (&first, &blob, 1);
  GstCclZoneMeta *meta;

  buffer = gst_harness_push_and_pull (second.h, buffer);
  meta = gst_buffer_get_ccl_zone_meta (buffer);
  fail_unless_equals_int (gst_buffer_get_n_meta (buffer, GST_CCL_ZONE_META_API_TYPE), 1);
  fail_unless_equals_int (meta->n_zones, 2);
  fail_unless_equals_string (meta->zones[0].name, "corner");
  fail_unless_equals_string (meta->zones[1].name, "room");
  fail_unless_equals_int (meta->zones[0].n_inside, 0);
  fail_unless_equals_int (meta->zones[1].n_inside, 1);
  fail_unless_equals_int (gst_ccl_blob_meta_get_blob (gst_buffer_get_ccl_blob_meta (buffer), 0)->zones, 2);
  gst_buffer_unref (buffer);
  end_test (&first);
  end_test (&second);
}

GST_END_TEST;

/* The whole way: a ball, tracked, through JSON. */
GST_START_TEST (test_json)
{
  GstHarness *h = gst_harness_new_parse ("videotestsrc pattern=ball num-buffers=20 ! "
      "video/x-raw,format=GRAY8,width=160,height=120 ! ccllabel threshold=127 ! ccltrack ! "
      "cclzone zones=\"{\\\"zones\\\":[{\\\"name\\\":\\\"all\\\","
      "\\\"polygon\\\":[[0,0],[160,0],[160,120],[0,120]]}]}\" ! "
      "cclmeta2json");
  GstBuffer *buffer = NULL;
  GstMapInfo map;
  gchar *line;

  gst_harness_play (h);
  for (gint i = 0; i < 10; i++) {
    gst_clear_buffer (&buffer);
    buffer = gst_harness_pull (h);
  }
  gst_buffer_map (buffer, &map, GST_MAP_READ);
  line = g_strndup ((gchar *) map.data, map.size);
  fail_unless (strstr (line, "\"state\":\"confirmed\",\"zones\":[\"all\"]"), "%s", line);
  fail_unless (strstr (line, "\"zones\":[{\"name\":\"all\",\"inside\":1,\"forward\":1,\"backward\":0}]"), "%s", line);
  g_free (line);
  gst_buffer_unmap (buffer, &map);
  gst_buffer_unref (buffer);
  gst_harness_teardown (h);
}

GST_END_TEST;

/* Raw pictures from a file come in a segment of bytes: nobody asks it for times, and what needs none is done. */
GST_START_TEST (test_chain_in_bytes)
{
  GstElementFactory *overlay = gst_element_factory_find ("ccloverlay");
  gchar *line = g_strdup_printf ("cclmotion method=diff warmup-frames=0 ! ccllabel mask-source=frame threshold=127 ! "
      "ccltrack min-hits=1 ! cclzone zones=\"{\\\"zones\\\":[{\\\"name\\\":\\\"all\\\","
      "\\\"polygon\\\":[[0,0],[64,0],[64,48],[0,48]]}]}\" ! %s ! cclmeta2json", overlay ? "ccloverlay" : "identity");
  GstHarness *h = gst_harness_new_parse (line);
  GstSegment segment;

  gst_segment_init (&segment, GST_FORMAT_BYTES);
  gst_harness_set_src_caps_str (h, "video/x-raw,format=GRAY8,width=64,height=48,framerate=0/1");
  gst_harness_push_event (h, gst_event_new_segment (&segment));
  for (guint i = 0; i < 4; i++) {
    GstBuffer *buffer = gst_buffer_new_allocate (NULL, 64 * 48, NULL);
    GstMapInfo map;

    gst_buffer_memset (buffer, 0, 16, 64 * 48);
    for (guint y = 10; y < 20; y++)
      gst_buffer_memset (buffer, 64 * y + 10 + 2 * i, 200, 10);
    GST_BUFFER_PTS (buffer) = i * 40 * GST_MSECOND;
    buffer = gst_harness_push_and_pull (h, buffer);
    gst_buffer_map (buffer, &map, GST_MAP_READ);
    fail_unless (g_strstr_len ((gchar *) map.data, map.size, "\"running_time\":null,\"stream_time\":null"));
    fail_unless (g_strstr_len ((gchar *) map.data, map.size, "\"inside\":1,\"forward\":1"), "%.*s", (gint) map.size,
        (gchar *) map.data);
    gst_buffer_unmap (buffer, &map);
    gst_buffer_unref (buffer);
  }
  gst_harness_teardown (h);
  g_clear_pointer (&overlay, gst_object_unref);
  g_free (line);
}

GST_END_TEST;

TCase *
zone_chain_tests (void)
{
  TCase *tests = tcase_create ("chain");

  tcase_add_test (tests, test_two_in_a_row);
  tcase_add_test (tests, test_json);
  tcase_add_test (tests, test_chain_in_bytes);
  return tests;
}
