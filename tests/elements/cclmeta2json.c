/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* json-glib reads the lines of cclmeta2json. They are checked against the JSON Schemas in docs/ and compared with the metadata,
 * which the tests make without ccllabel. This file has what the files of the subjects share. */

#include "cclmeta2json.h"

#include <string.h>

#ifdef HAVE_CBOR
#include "cborjson.h"
#endif

GstBuffer *
video_frame (guint number)
{
  return plain_frame (WIDTH * HEIGHT, 0, number * FRAME_TIME, FRAME_TIME);
}

GstCclBlobMeta *
attach_blobs (GstBuffer * buffer, const GstCclBlob * blobs, guint n_blobs)
{
  GstCclBlobList *list = gst_ccl_blob_list_new (blobs, n_blobs);
  GstCclBlobMeta *meta = gst_buffer_add_ccl_blob_meta (buffer, list, WIDTH, HEIGHT);

  gst_ccl_blob_list_unref (list);
  meta->n_kept = meta->n_total = n_blobs;
  meta->connectivity = 8;
  return meta;
}

GstBuffer *
small_frame (guint number)
{
  GstBuffer *buffer = video_frame (number);
  const GstCclBlob blob = rectangle (1, 10, 20, 3, 2);

  attach_blobs (buffer, &blob, 1);
  return buffer;
}

GstBuffer *
empty_frame (guint number)
{
  GstBuffer *buffer = video_frame (number);

  attach_blobs (buffer, NULL, 0);
  return buffer;
}

GstHarness *
new_harness (void)
{
  GstHarness *h = gst_harness_new ("cclmeta2json");

  gst_harness_set_src_caps_str (h, VIDEO_CAPS);
  return h;
}

/* Every token is one that RFC 8259 allows; json-glib's parser is more patient than others. */
static void
assert_strict (const gchar * line)
{
  static GRegex *token = NULL;
  const gsize length = strlen (line);
  GMatchInfo *match;
  gint from, to = 0;

  if (!token)
    token = g_regex_new ("[][{}:,]|true|false|null|\"(?:[^\"\\\\\\x00-\\x1f]|\\\\.)*\""
        "|-?(?:0|[1-9][0-9]*)(?:\\.[0-9]+)?(?:[eE][-+]?[0-9]+)?(?=[],}])", G_REGEX_RAW | G_REGEX_ANCHORED, 0, NULL);
  while ((gsize) to < length) {
    fail_unless (g_regex_match_full (token, line, length, to, 0, &match, NULL), "not strict JSON: %.60s", line + to);
    g_match_info_fetch_pos (match, 0, &from, &to);
    g_match_info_free (match);
  }
}

gchar *
take_line (GstBuffer * buffer)
{
  GstMapInfo map;
  gchar *line;

  fail_unless (gst_buffer_map (buffer, &map, GST_MAP_READ));
  fail_unless (map.size > 1 && map.data[map.size - 1] == '\n');
  line = g_strndup ((const gchar *) map.data, map.size - 1);
  fail_unless_equals_int (strlen (line), map.size - 1);
  gst_buffer_unmap (buffer, &map);
  gst_buffer_unref (buffer);

  fail_if (strchr (line, '\n'), "more than one line");
  fail_unless (g_utf8_validate (line, -1, NULL));
  assert_strict (line);
  return line;
}

gchar *
push_for_line (GstHarness * h, GstBuffer * frame)
{
  GstBuffer *buffer = gst_harness_push_and_pull (h, frame);

  fail_unless (buffer != NULL);
  return take_line (buffer);
}

JsonNode *
parse (const gchar * line)
{
  GError *error = NULL;
  JsonNode *node = json_from_string (line, &error);

  fail_unless (error == NULL, "%s", error ? error->message : "");
  fail_unless (node && JSON_NODE_HOLDS_OBJECT (node));
  return node;
}

JsonNode *
push_for_json (GstHarness * h, GstBuffer * frame)
{
  gchar *line = push_for_line (h, frame);
  JsonNode *node = parse (line);

  g_free (line);
  return node;
}

JsonNode *
push_in_both (GstHarness * h, GstBuffer * frame)
{
#ifdef HAVE_CBOR
  GstBuffer *const copy = gst_buffer_copy (frame);
  JsonNode *const line = push_for_json (h, frame);

  gst_harness_set_sink_caps_str (h, "application/cbor");
  assert_cbor (gst_harness_push_and_pull (h, copy), line);
  gst_harness_set_sink_caps_str (h, "application/x-json");
  return line;
#else
  return push_for_json (h, frame);
#endif
}

JsonObject *
first_blob (JsonNode * line)
{
  return json_array_get_object_element (json_object_get_array_member (json_node_get_object (line), "blobs"), 0);
}

gdouble
number_at (JsonObject * object, const gchar * array, guint index)
{
  return json_array_get_double_element (json_object_get_array_member (object, array), index);
}

gboolean
is_null (JsonObject * object, const gchar * name)
{
  return json_object_has_member (object, name) && json_object_get_null_member (object, name);
}

static Suite *
cclmeta2json_suite (void)
{
  Suite *suite = suite_create ("cclmeta2json");

  suite_add_tcase (suite, json_field_tests ());
  suite_add_tcase (suite, json_polygon_tests ());
  suite_add_tcase (suite, json_number_tests ());
  suite_add_tcase (suite, json_time_tests ());
  suite_add_tcase (suite, json_stream_tests ());
  suite_add_tcase (suite, json_region_tests ());
  suite_add_tcase (suite, json_tag_tests ());
  suite_add_tcase (suite, json_thinning_tests ());
#ifdef HAVE_CBOR
  suite_add_tcase (suite, json_cbor_tests ());
#endif
  return suite;
}

GST_CHECK_MAIN (cclmeta2json);
