/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* What cclmeta2json writes is read back by json-glib, checked against the JSON Schemas in docs/, and compared with what
 * went in. The metadata is made here: ccllabel is not needed. */

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include <gst/check/gstcheck.h>
#include <gst/check/gstharness.h>
#include <gst/video/video.h>
#include <gst/ccl/ccl.h>
#include <json-glib/json-glib.h>
#ifdef HAVE_GST_ANALYTICS
#include <gst/analytics/analytics.h>
#endif
#include <locale.h>
#include <math.h>
#include <string.h>
#include <time.h>

#define WIDTH 320
#define HEIGHT 240
#define VIDEO_CAPS "video/x-raw,format=GRAY8,width=320,height=240,framerate=25/1"
#define FRAME_TIME (40 * GST_MSECOND)

/* --- frames --- */

/* The blob of a filled rectangle. */
static GstCclBlob
rectangle (guint label, guint x, guint y, guint width, guint height)
{
  GstCclBlob blob = {
    .label = label,.x = (gint32) x,.y = (gint32) y,.width = (gint32) width,.height = (gint32) height,
    .first_x = (gint32) x,.mtd_id = GST_CCL_MTD_ID_NONE
  };

  for (guint64 row = y; row < y + height; row++) {
    for (guint64 column = x; column < x + width; column++) {
      blob.area += 1;
      blob.m10 += column;
      blob.m01 += row;
      blob.m20 += column * column;
      blob.m11 += column * row;
      blob.m02 += row * row;
    }
  }
  return blob;
}

static GstBuffer *
plain_frame (guint number)
{
  GstBuffer *buffer = gst_buffer_new_allocate (NULL, WIDTH * HEIGHT, NULL);

  gst_buffer_memset (buffer, 0, 0, WIDTH * HEIGHT);
  GST_BUFFER_PTS (buffer) = number * FRAME_TIME;
  GST_BUFFER_DURATION (buffer) = FRAME_TIME;
  return buffer;
}

static GstCclBlobMeta *
add_blobs (GstBuffer * buffer, const GstCclBlob * blobs, guint n_blobs)
{
  GstCclBlobList *list = gst_ccl_blob_list_new (blobs, n_blobs);
  GstCclBlobMeta *meta = gst_buffer_add_ccl_blob_meta (buffer, list, WIDTH, HEIGHT);

  gst_ccl_blob_list_unref (list);
  meta->n_kept = meta->n_total = n_blobs;
  meta->connectivity = 8;
  return meta;
}

/* A frame with one blob, 3x2 pixels at (10, 20). */
static GstBuffer *
small_frame (guint number)
{
  GstBuffer *buffer = plain_frame (number);
  const GstCclBlob blob = rectangle (1, 10, 20, 3, 2);

  add_blobs (buffer, &blob, 1);
  return buffer;
}

static GstBuffer *
empty_frame (guint number)
{
  GstBuffer *buffer = plain_frame (number);

  add_blobs (buffer, NULL, 0);
  return buffer;
}

/* --- lines --- */

static GstHarness *
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

/* The text of a buffer: one line, checked; the buffer is let go. */
static gchar *
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

static gchar *
push_for_line (GstHarness * h, GstBuffer * frame)
{
  GstBuffer *buffer = gst_harness_push_and_pull (h, frame);

  fail_unless (buffer != NULL);
  return take_line (buffer);
}

static JsonNode *
parse (const gchar * line)
{
  GError *error = NULL;
  JsonNode *node = json_from_string (line, &error);

  fail_unless (error == NULL, "%s", error ? error->message : "");
  fail_unless (node && JSON_NODE_HOLDS_OBJECT (node));
  return node;
}

static JsonNode *
push_for_json (GstHarness * h, GstBuffer * frame)
{
  gchar *line = push_for_line (h, frame);
  JsonNode *node = parse (line);

  g_free (line);
  return node;
}

static JsonObject *
first_blob (JsonNode * line)
{
  return json_array_get_object_element (json_object_get_array_member (json_node_get_object (line), "blobs"), 0);
}

static gdouble
number_at (JsonObject * object, const gchar * array, guint index)
{
  return json_array_get_double_element (json_object_get_array_member (object, array), index);
}

static gboolean
is_whole (JsonNode * node)
{
  return JSON_NODE_HOLDS_VALUE (node) && json_node_get_value_type (node) == G_TYPE_INT64;
}

static gboolean
is_null (JsonObject * object, const gchar * name)
{
  return json_object_has_member (object, name) && json_object_get_null_member (object, name);
}

/* --- JSON Schema, as much of it as docs/ uses --- */

static gboolean
schema_allows_type (JsonNode * types, const gchar * type)
{
  if (JSON_NODE_HOLDS_VALUE (types)) {
    const gchar *wanted = json_node_get_string (types);

    return g_str_equal (wanted, type) || (g_str_equal (wanted, "number") && g_str_equal (type, "integer"));
  }
  for (guint i = 0; i < json_array_get_length (json_node_get_array (types)); i++) {
    if (schema_allows_type (json_array_get_element (json_node_get_array (types), i), type))
      return TRUE;
  }
  return FALSE;
}

static const gchar *
type_of_node (JsonNode * node)
{
  if (JSON_NODE_HOLDS_NULL (node))
    return "null";
  if (JSON_NODE_HOLDS_OBJECT (node))
    return "object";
  if (JSON_NODE_HOLDS_ARRAY (node))
    return "array";
  switch (json_node_get_value_type (node)) {
    case G_TYPE_INT64:
      return "integer";
    case G_TYPE_DOUBLE:
      return "number";
    case G_TYPE_BOOLEAN:
      return "boolean";
    default:
      return "string";
  }
}

static gchar *schema_complaint (JsonObject * schema, JsonNode * node, const gchar * where);

static gchar *
schema_complaint_of_object (JsonObject * schema, JsonObject * object, const gchar * where)
{
  JsonObject *properties =
      json_object_has_member (schema, "properties") ? json_object_get_object_member (schema, "properties") : NULL;
  const gboolean open = json_object_get_boolean_member_with_default (schema, "additionalProperties", TRUE);
  JsonArray *required =
      json_object_has_member (schema, "required") ? json_object_get_array_member (schema, "required") : NULL;
  JsonObjectIter iter;
  const gchar *name;
  JsonNode *member;

  for (guint i = 0; required && i < json_array_get_length (required); i++) {
    if (!json_object_has_member (object, json_array_get_string_element (required, i)))
      return g_strdup_printf ("%s lacks %s", where, json_array_get_string_element (required, i));
  }
  json_object_iter_init (&iter, object);
  while (json_object_iter_next (&iter, &name, &member)) {
    gchar *path, *complaint;

    if (!properties || !json_object_has_member (properties, name)) {
      if (!open)
        return g_strdup_printf ("%s has an unknown %s", where, name);
      continue;
    }
    path = g_strdup_printf ("%s.%s", where, name);
    complaint = schema_complaint (json_object_get_object_member (properties, name), member, path);
    g_free (path);
    if (complaint)
      return complaint;
  }
  return NULL;
}

static gchar *
schema_complaint_of_array (JsonObject * schema, JsonArray * array, const gchar * where)
{
  const guint n = json_array_get_length (array);

  if (n < json_object_get_int_member_with_default (schema, "minItems", 0) ||
      n > json_object_get_int_member_with_default (schema, "maxItems", G_MAXINT64))
    return g_strdup_printf ("%s has %u items", where, n);
  for (guint i = 0; i < n && json_object_has_member (schema, "items"); i++) {
    gchar *path = g_strdup_printf ("%s[%u]", where, i);
    gchar *complaint =
        schema_complaint (json_object_get_object_member (schema, "items"), json_array_get_element (array, i), path);

    g_free (path);
    if (complaint)
      return complaint;
  }
  return NULL;
}

static gchar *
schema_complaint (JsonObject * schema, JsonNode * node, const gchar * where)
{
  const gchar *type = type_of_node (node);

  if (json_object_has_member (schema, "type") && !schema_allows_type (json_object_get_member (schema, "type"), type))
    return g_strdup_printf ("%s must not be a %s", where, type);
  if (json_object_has_member (schema, "const") &&
      !json_node_equal (json_object_get_member (schema, "const"), node))
    return g_strdup_printf ("%s has the wrong value", where);
  if (json_object_has_member (schema, "pattern") && JSON_NODE_HOLDS_VALUE (node) &&
      !g_regex_match_simple (json_object_get_string_member (schema, "pattern"), json_node_get_string (node), 0, 0))
    return g_strdup_printf ("%s is \"%s\"", where, json_node_get_string (node));
  if (json_object_has_member (schema, "minimum") && JSON_NODE_HOLDS_VALUE (node) &&
      json_node_get_double (node) < json_object_get_double_member (schema, "minimum"))
    return g_strdup_printf ("%s is too small", where);
  if (json_object_has_member (schema, "maximum") && JSON_NODE_HOLDS_VALUE (node) &&
      json_node_get_double (node) > json_object_get_double_member (schema, "maximum"))
    return g_strdup_printf ("%s is too large", where);
  if (JSON_NODE_HOLDS_OBJECT (node))
    return schema_complaint_of_object (schema, json_node_get_object (node), where);
  if (JSON_NODE_HOLDS_ARRAY (node))
    return schema_complaint_of_array (schema, json_node_get_array (node), where);
  return NULL;
}

/* NULL: the line is as the schema docs/NAME says. */
static gchar *
schema_check (const gchar * name, JsonNode * node)
{
  gchar *path = g_build_filename (CCL_DOCS, name, NULL);
  JsonParser *parser = json_parser_new ();
  GError *error = NULL;
  gchar *complaint;

  fail_unless (json_parser_load_from_file (parser, path, &error), "%s", error ? error->message : path);
  complaint = schema_complaint (json_node_get_object (json_parser_get_root (parser)), node, "line");
  g_object_unref (parser);
  g_free (path);
  return complaint;
}

static void
assert_schema (const gchar * name, JsonNode * node)
{
  gchar *complaint = schema_check (name, node);

  fail_unless (complaint == NULL, "%s: %s", name, complaint);
}

/* --- fields --- */

GST_START_TEST (test_line_byte_for_byte)
{
  GstHarness *h = new_harness ();
  gchar *line;

  gst_harness_set (h, "cclmeta2json", "source-id", "cam \"1\"", NULL);
  line = push_for_line (h, small_frame (2));
  fail_unless_equals_string (line,
      "{\"schema\":\"ccl-blob-1\",\"source\":\"cam \\\"1\\\"\",\"seq\":0,\"pts\":80000000,\"running_time\":80000000,"
      "\"stream_time\":80000000,\"utc\":null,\"time_source\":\"none\",\"frame\":{\"w\":320,\"h\":240},\"total\":1,"
      "\"truncated\":false,\"blobs\":[{\"label\":1,\"bbox\":[10,20,3,2],\"area\":6,\"centroid\":[11.0,20.5],"
      "\"cov\":[0.66666666666666663,0.0,0.25],\"orientation\":1.5707963267948966,"
      "\"axes\":[3.2659863237109041,2.0]}]}");
  g_free (line);
  gst_harness_teardown (h);
}

GST_END_TEST;

/* Many blobs with awkward numbers: each double comes back bit for bit. */
GST_START_TEST (test_every_field_read_back)
{
  GstHarness *h = new_harness ();
  GstBuffer *frame = plain_frame (7);
  GstCclBlob blobs[50];
  GstCclBlobMeta *meta;
  GstBuffer *copy;
  JsonNode *line;
  JsonObject *object;
  JsonArray *array;

  for (guint i = 0; i < G_N_ELEMENTS (blobs); i++) {
    GstCclBlob dot = rectangle (0, 3 * i, 200, 1, 1 + i % 7);

    blobs[i] = rectangle (i + 1, 2 * i, i, 1 + i % 5, 1 + i % 3);
    blobs[i].m10 += dot.m10;
    blobs[i].m01 += dot.m01;
    blobs[i].m20 += dot.m20;
    blobs[i].m11 += dot.m11;
    blobs[i].m02 += dot.m02;
    blobs[i].area += dot.area;
  }
  meta = add_blobs (frame, blobs, G_N_ELEMENTS (blobs));
  meta->n_total = 4452;
  meta->flags = GST_CCL_BLOB_META_FLAG_TRUNCATED;
  copy = gst_buffer_copy (frame);
  meta = gst_buffer_get_ccl_blob_meta (copy);

  line = push_for_json (h, frame);
  assert_schema ("ccl-blob-1.schema.json", line);
  object = json_node_get_object (line);
  fail_unless_equals_int (json_object_get_int_member (object, "total"), 4452);
  fail_unless (json_object_get_boolean_member (object, "truncated"));
  array = json_object_get_array_member (object, "blobs");
  fail_unless_equals_int (json_array_get_length (array), G_N_ELEMENTS (blobs));

  for (guint i = 0; i < G_N_ELEMENTS (blobs); i++) {
    JsonObject *blob = json_array_get_object_element (array, i);
    gdouble cx, cy, xx, xy, yy, major, minor, orientation;

    gst_ccl_blob_meta_get_centroid (meta, i, &cx, &cy);
    gst_ccl_blob_meta_get_covariance (meta, i, &xx, &xy, &yy);
    gst_ccl_blob_meta_get_axes (meta, i, &major, &minor, &orientation);
    fail_unless_equals_int (json_object_get_int_member (blob, "label"), i + 1);
    fail_unless_equals_int (number_at (blob, "bbox", 0), blobs[i].x);
    fail_unless_equals_int (number_at (blob, "bbox", 1), blobs[i].y);
    fail_unless_equals_int (number_at (blob, "bbox", 2), blobs[i].width);
    fail_unless_equals_int (number_at (blob, "bbox", 3), blobs[i].height);
    fail_unless (is_whole (json_array_get_element (json_object_get_array_member (blob, "bbox"), 0)));
    fail_unless (is_whole (json_object_get_member (blob, "area")));
    fail_unless_equals_int (json_object_get_int_member (blob, "area"), blobs[i].area);
    fail_unless (number_at (blob, "centroid", 0) == cx && number_at (blob, "centroid", 1) == cy);
    fail_unless (number_at (blob, "cov", 0) == xx && number_at (blob, "cov", 1) == xy &&
        number_at (blob, "cov", 2) == yy);
    fail_unless (json_object_get_double_member (blob, "orientation") == orientation);
    fail_unless (number_at (blob, "axes", 0) == major && number_at (blob, "axes", 1) == minor);
  }
  json_node_unref (line);
  gst_buffer_unref (copy);
  gst_harness_teardown (h);
}

GST_END_TEST;

static GstBuffer *
with_corners (GstBuffer * buffer, const GstCclPoint * points)
{
  GstCclBlobMeta *const meta = gst_buffer_get_ccl_blob_meta (buffer);
  GBytes *const bytes = g_bytes_new_static (points, 4 * sizeof *points);
  GstCclBlob *blobs;
  GstCclBlobList *list = gst_ccl_blob_list_copy (meta->list, &blobs);

  blobs[0].n_contour = 4;
  gst_ccl_blob_list_set_points (list, bytes);
  gst_ccl_blob_meta_set_list (meta, list);
  gst_ccl_blob_list_unref (list);
  g_bytes_unref (bytes);
  return buffer;
}

/* The contour of the blob of small_frame(). */
static GstBuffer *
with_contour (GstBuffer * buffer)
{
  static const GstCclPoint points[] = { {10, 20}, {13, 20}, {13, 22}, {10, 22} };

  return with_corners (buffer, points);
}

static void
assert_polygon (JsonObject * blob, const gdouble * expected, gboolean whole)
{
  JsonArray *const polygon = json_object_get_array_member (blob, "polygon");

  fail_unless_equals_int (json_array_get_length (polygon), 4);
  for (guint i = 0; i < 8; i++) {
    JsonNode *const node = json_array_get_element (json_array_get_array_element (polygon, i / 2), i % 2);

    fail_unless (json_node_get_double (node) == expected[i]);
    fail_unless (!whole || json_node_get_value_type (node) == G_TYPE_INT64);
  }
}

/* A trail only when asked for, with the coordinates of the centroid. */
GST_START_TEST (test_trail)
{
  static const GstCclPoint points[] = { {10, 20}, {13, 20}, {13, 22}, {10, 22}, {9.5, 20.25}, {11.5, 21} };
  GBytes *const bytes = g_bytes_new_static (points, sizeof points);

  for (gint trails = 0; trails < 2; trails++) {
    GstHarness *h = gst_harness_new_parse (trails ? "cclmeta2json trails=true" : "cclmeta2json");
    GstBuffer *frame = small_frame (0);
    GstCclBlobMeta *const meta = gst_buffer_get_ccl_blob_meta (frame);
    GstCclBlob *blobs;
    GstCclBlobList *list = gst_ccl_blob_list_copy (meta->list, &blobs);
    JsonNode *line;
    JsonArray *trail;

    gst_harness_set_src_caps_str (h, VIDEO_CAPS);
    blobs[0].n_contour = 4;
    blobs[0].n_trail = 2;
    gst_ccl_blob_list_set_points (list, bytes);
    gst_ccl_blob_meta_set_list (meta, list);
    gst_ccl_blob_list_unref (list);
    line = push_for_json (h, frame);
    assert_schema ("ccl-blob-1.schema.json", line);
    fail_unless_equals_int (json_object_has_member (first_blob (line), "trail"), trails);
    if (trails) {
      trail = json_object_get_array_member (first_blob (line), "trail");
      fail_unless_equals_int (json_array_get_length (trail), 2);
      fail_unless (json_array_get_double_element (json_array_get_array_element (trail, 0), 0) == 9.0);
      fail_unless (json_array_get_double_element (json_array_get_array_element (trail, 0), 1) == 19.75);
      fail_unless (json_array_get_double_element (json_array_get_array_element (trail, 1), 0) == 11.0);
      fail_unless (json_array_get_double_element (json_array_get_array_element (trail, 1), 1) == 20.5);
    }
    json_node_unref (line);
    gst_harness_teardown (h);
  }
  g_bytes_unref (bytes);
}

GST_END_TEST;

GST_START_TEST (test_polygon)
{
  GstHarness *h = new_harness ();
  JsonNode *line = push_for_json (h, with_contour (small_frame (0)));

  assert_schema ("ccl-blob-1.schema.json", line);
  assert_polygon (first_blob (line), (const gdouble[]) { 10, 20, 13, 20, 13, 22, 10, 22 }, TRUE);
  json_node_unref (line);
  gst_harness_teardown (h);
}

GST_END_TEST;

/* As other programs may write them. */
GST_START_TEST (test_polygon_of_fractions)
{
  static const GstCclPoint points[] = { {0.5, 0}, {2.5, -0.5}, {-0.5, 2}, {1e30f, 3} };
  GstHarness *h = new_harness ();
  JsonNode *line = push_for_json (h, with_corners (small_frame (0), points));

  assert_schema ("ccl-blob-1.schema.json", line);
  assert_polygon (first_blob (line), (const gdouble[]) { 0.5, 0, 2.5, -0.5, -0.5, 2, 1e30f, 3 }, FALSE);
  json_node_unref (line);
  gst_harness_teardown (h);
}

GST_END_TEST;

GST_START_TEST (test_optional_fields)
{
  GstHarness *h = new_harness ();
  GstBuffer *frame = plain_frame (0);
  GstCclBlob blobs[3] = { rectangle (1, 0, 0, 2, 2), rectangle (2, 9, 9, 2, 2), rectangle (3, 318, 50, 2, 190) };
  JsonNode *line;
  JsonArray *array;
  JsonObject *blob;

  blobs[0].flags = GST_CCL_BLOB_FLAG_TOUCHES_LEFT | GST_CCL_BLOB_FLAG_TOUCHES_TOP | GST_CCL_BLOB_FLAG_CONFIRMED
      | GST_CCL_BLOB_FLAG_MERGED;
  blobs[0].track_id = G_GUINT64_CONSTANT (1) << 40;
  blobs[0].volume_id = G_GUINT64_CONSTANT (1) << 41;
  blobs[2].flags = GST_CCL_BLOB_FLAG_TOUCHES_RIGHT | GST_CCL_BLOB_FLAG_TOUCHES_BOTTOM;
  add_blobs (frame, blobs, 3);
  line = push_for_json (h, frame);
  assert_schema ("ccl-blob-1.schema.json", line);
  array = json_object_get_array_member (json_node_get_object (line), "blobs");

  blob = json_array_get_object_element (array, 0);
  fail_unless_equals_string (json_object_get_string_member (blob, "border"), "left,top");
  fail_unless_equals_string (json_object_get_string_member (blob, "state"), "confirmed,merged");
  fail_unless_equals_int64 (json_object_get_int_member (blob, "track"), G_GINT64_CONSTANT (1) << 40);
  fail_unless_equals_int64 (json_object_get_int_member (blob, "volume"), G_GINT64_CONSTANT (1) << 41);
  blob = json_array_get_object_element (array, 1);
  fail_if (json_object_has_member (blob, "border") || json_object_has_member (blob, "state"));
  fail_if (json_object_has_member (blob, "volume") || json_object_has_member (blob, "track")
      || json_object_has_member (blob, "polygon"));
  blob = json_array_get_object_element (array, 2);
  fail_unless_equals_string (json_object_get_string_member (blob, "border"), "right,bottom");
  json_node_unref (line);
  gst_harness_teardown (h);
}

GST_END_TEST;

/* json-glib has no whole numbers from 2^63 on. */
GST_START_TEST (test_beyond_63_bits)
{
  const guint64 least = G_GUINT64_CONSTANT (1) << 63;
  const GstCclZone zone = {.name = (gchar *) "door",.n_forward = least,.n_backward = G_MAXUINT64 };
  GstHarness *h = new_harness ();
  GstBuffer *frame = plain_frame (0);
  GstCclBlob blob = rectangle (G_MAXUINT32, 10, 20, 3, 2);
  JsonNode *line;
  JsonObject *object;

  blob.track_id = G_MAXUINT64;
  blob.parent_id = least;
  blob.volume_id = least + 5;
  add_blobs (frame, &blob, 1);
  gst_buffer_add_ccl_zone_meta (frame, &zone, 1);
  GST_BUFFER_PTS (frame) = least + 5;
  line = push_for_json (h, gst_buffer_copy (frame));
  assert_schema ("ccl-blob-1.schema.json", line);
  object = json_node_get_object (line);
  fail_unless (is_null (object, "pts") && is_null (object, "running_time") && is_null (object, "stream_time"));
  object = first_blob (line);
  fail_if (json_object_has_member (object, "track") || json_object_has_member (object, "parent")
      || json_object_has_member (object, "volume"));
  object = json_array_get_object_element (json_object_get_array_member (json_node_get_object (line), "zones"), 0);
  fail_unless_equals_int64 (json_object_get_int_member (object, "forward"), G_MAXINT64);
  fail_unless_equals_int64 (json_object_get_int_member (object, "backward"), G_MAXINT64);
  json_node_unref (line);

  gst_util_set_object_arg (G_OBJECT (h->element), "schema", "dlstreamer");
  line = push_for_json (h, frame);
  assert_schema ("dlstreamer.schema.json", line);
  fail_if (json_object_has_member (json_node_get_object (line), "timestamp"));
  object = json_array_get_object_element (json_object_get_array_member (json_node_get_object (line), "objects"), 0);
  fail_if (json_object_has_member (object, "id"));
  fail_unless_equals_int64 (json_object_get_int_member (object, "region_id"), G_MAXUINT32);
  json_node_unref (line);
  gst_harness_teardown (h);
}

GST_END_TEST;

GST_START_TEST (test_source_defaults_to_name)
{
  GstHarness *h = new_harness ();
  GstElement *element = gst_harness_find_element (h, "cclmeta2json");
  gchar *name = gst_element_get_name (element);
  JsonNode *line = push_for_json (h, small_frame (0));

  fail_unless_equals_string (json_object_get_string_member (json_node_get_object (line), "source"), name);
  json_node_unref (line);

  /* Bytes that are not UTF-8 must not make the line wrong. */
  g_object_set (element, "source-id", "caf\xe9\t1", NULL);
  line = push_for_json (h, small_frame (1));
  fail_unless_equals_string (json_object_get_string_member (json_node_get_object (line), "source"),
      "caf\xef\xbf\xbd\t1");
  json_node_unref (line);

  /* Nor must control characters. */
  g_object_set (element, "source-id", "a\x01\x1e\x1f\x7f\x1f", "tags", "{\"\\u001f\":\"\\u001f\"}", NULL);
  line = push_for_json (h, small_frame (2));
  fail_unless_equals_string (json_object_get_string_member (json_node_get_object (line), "source"),
      "a\x01\x1e\x1f\x7f\x1f");
  fail_unless_equals_string (json_object_get_string_member (json_object_get_object_member (json_node_get_object (line),
              "tags"), "\x1f"), "\x1f");
  json_node_unref (line);
  g_free (name);
  gst_object_unref (element);
  gst_harness_teardown (h);
}

GST_END_TEST;

/* Zones of other programs may have any name. */
GST_START_TEST (test_names_of_zones)
{
  const GstCclZone zone = {.name = (gchar *) "caf\xe9\x1f",.kind = GST_CCL_ZONE_POLYGON };
  GstCclBlob blob = rectangle (1, 10, 20, 3, 2);
  GstHarness *h = new_harness ();
  GstBuffer *frame = plain_frame (0);
  JsonNode *line;

  blob.zones = 1;
  add_blobs (frame, &blob, 1);
  gst_buffer_add_ccl_zone_meta (frame, &zone, 1);
  line = push_for_json (h, frame);
  fail_unless_equals_string (json_array_get_string_element (json_object_get_array_member (first_blob (line), "zones"),
          0), "caf\xef\xbf\xbd\x1f");
  json_node_unref (line);
  gst_harness_teardown (h);
}

GST_END_TEST;

/* --- numbers --- */

GST_START_TEST (test_precision)
{
  GstHarness *h = new_harness ();
  gchar *line;

  gst_harness_set (h, "cclmeta2json", "precision", 3, "tags", "{\"gain\":1.23456}", NULL);
  line = push_for_line (h, small_frame (0));
  fail_unless (strstr (line, "\"centroid\":[11,20.5],\"cov\":[0.667,0,0.25],\"orientation\":1.571,\"axes\":[3.266,2]"),
      "%s", line);
  /* Digits of others are theirs. */
  fail_unless (strstr (line, "\"tags\":{\"gain\":1.23456}") || strstr (line, "\"tags\":{\"gain\":1.2345600000000001}"),
      "%s", line);
  g_free (line);

  gst_harness_set (h, "cclmeta2json", "precision", 0, NULL);
  line = push_for_line (h, small_frame (1));
  fail_unless (strstr (line, "\"cov\":[1,0,0],\"orientation\":2,\"axes\":[3,2]"), "%s", line);
  g_free (line);

  gst_harness_set (h, "cclmeta2json", "precision", -1, NULL);
  line = push_for_line (h, small_frame (2));
  fail_unless (strstr (line, "\"cov\":[0.66666666666666663,"), "%s", line);
  g_free (line);
  gst_harness_teardown (h);
}

GST_END_TEST;

/* Few machines have the locale, most can make it. */
static gboolean
make_german_locale (const gchar * folder)
{
  gchar *path = g_build_filename (folder, "de_DE.UTF-8", NULL);
  const gchar *command[] = { "localedef", "-i", "de_DE", "-f", "UTF-8", path, NULL };
  gboolean made = g_spawn_sync (NULL, (gchar **) command, NULL,
      G_SPAWN_SEARCH_PATH | G_SPAWN_STDOUT_TO_DEV_NULL | G_SPAWN_STDERR_TO_DEV_NULL, NULL, NULL, NULL, NULL, NULL,
      NULL);

  g_free (path);
  g_setenv ("LOCPATH", folder, TRUE);
  return made && setlocale (LC_ALL, "de_DE.UTF-8");
}

static void
remove_folder (const gchar * folder)
{
  const gchar *command[] = { "rm", "-rf", folder, NULL };

  g_spawn_sync (NULL, (gchar **) command, NULL, G_SPAWN_SEARCH_PATH, NULL, NULL, NULL, NULL, NULL, NULL);
}

GST_START_TEST (test_locale)
{
  gchar *folder = g_dir_make_tmp ("ccl-locale-XXXXXX", NULL);
  gchar *before = g_strdup (setlocale (LC_ALL, NULL));
  gboolean found = setlocale (LC_ALL, "de_DE.UTF-8") || make_german_locale (folder);
  gchar *printed = g_strdup_printf ("%.1f", 0.5);
  GstHarness *h;
  gchar *line;

  remove_folder (folder);
  g_free (folder);
  if (!found || strcmp (printed, "0,5") != 0) {
    g_printerr ("test_locale: there is no locale de_DE.UTF-8 here, and none could be made: skipped\n");
    g_free (printed);
    g_free (before);
    return;
  }
  g_free (printed);
  h = new_harness ();
  line = push_for_line (h, small_frame (0));
  fail_unless (strstr (line, "\"centroid\":[11.0,20.5]"), "%s", line);
  g_free (line);
  gst_harness_set (h, "cclmeta2json", "precision", 2, NULL);
  line = push_for_line (h, small_frame (0));
  fail_unless (strstr (line, "\"cov\":[0.67,0,0.25]"), "%s", line);
  g_free (line);
  gst_harness_teardown (h);
  setlocale (LC_ALL, before);
  g_free (before);
}

GST_END_TEST;

/* Matrices that no real scaling makes: whatever comes out of them is JSON. */
GST_START_TEST (test_pathological_doubles)
{
  const gdouble scales[] = { 1e-300, 1e-10, 1e-5, 1e20, 1e300, 5e-324, NAN, INFINITY, -INFINITY, -1, 0, 1e17, 1e-7 };
  const gint precisions[] = { -1, 0, 2, 15 };
  GstHarness *h = new_harness ();
  const gchar *schemas[] = { "ccl", "dlstreamer" };

  for (guint s = 0; s < G_N_ELEMENTS (schemas); s++) {
    gst_util_set_object_arg (G_OBJECT (h->element), "schema", schemas[s]);
    for (guint p = 0; p < G_N_ELEMENTS (precisions); p++) {
      g_object_set (h->element, "precision", precisions[p], NULL);
      for (guint i = 0; i < G_N_ELEMENTS (scales); i++) {
        GstBuffer *frame = plain_frame (i);
        const GstCclBlob blob = rectangle (1, 1, 1, 1, 1);
        GstCclBlobMeta *meta = add_blobs (frame, &blob, 1);
        JsonNode *line;

        meta->matrix[0] = scales[i];
        meta->matrix[4] = scales[(i + p) % G_N_ELEMENTS (scales)];
        line = push_for_json (h, frame);
        json_node_unref (line);
      }
    }
  }
  gst_harness_teardown (h);
}

GST_END_TEST;

/* 1e-10 is the number that json-glib 1.6 prints as "1e-10.0". */
GST_START_TEST (test_exponent_without_point)
{
  GstHarness *h = new_harness ();
  GstBuffer *frame = plain_frame (0);
  GstCclBlob blob = rectangle (1, 1, 0, 1, 1);
  GstCclBlobMeta *meta = add_blobs (frame, &blob, 1);
  JsonNode *line;

  meta->matrix[0] = 1e-10;
  line = push_for_json (h, frame);
  fail_unless (number_at (first_blob (line), "bbox", 0) == 1e-10);
  json_node_unref (line);
  gst_harness_teardown (h);
}

GST_END_TEST;

GST_START_TEST (test_scaled_frame)
{
  GstHarness *h = gst_harness_new_parse ("videoscale ! video/x-raw,width=160,height=480 ! cclmeta2json name=json");
  JsonNode *line;
  JsonObject *blob, *size;

  gst_harness_set_src_caps_str (h, VIDEO_CAPS);
  line = push_for_json (h, with_contour (small_frame (0)));
  assert_schema ("ccl-blob-1.schema.json", line);
  size = json_object_get_object_member (json_node_get_object (line), "frame");
  fail_unless_equals_int (json_object_get_int_member (size, "w"), 160);
  fail_unless_equals_int (json_object_get_int_member (size, "h"), 480);

  blob = first_blob (line);
  fail_unless (number_at (blob, "bbox", 0) == 5.0 && number_at (blob, "bbox", 1) == 40.0);
  fail_unless (number_at (blob, "bbox", 2) == 1.5 && number_at (blob, "bbox", 3) == 4.0);
  fail_unless (json_object_get_double_member (blob, "area") == 6.0);
  /* The middle of the box, half a pixel less: pixel centres are whole numbers. */
  fail_unless (fabs (number_at (blob, "centroid", 0) - 5.25) < 1e-12);
  fail_unless (fabs (number_at (blob, "centroid", 1) - 41.5) < 1e-12);
  fail_unless (fabs (number_at (blob, "cov", 0) - 2. / 3 / 4) < 1e-12);
  fail_unless (fabs (number_at (blob, "cov", 2) - .25 * 4) < 1e-12);
  assert_polygon (blob, (const gdouble[]) { 5, 40, 6.5, 40, 6.5, 44, 5, 44 }, FALSE);
  json_node_unref (line);
  gst_harness_teardown (h);
}

GST_END_TEST;

/* --- time --- */

GST_START_TEST (test_times_of_a_segment)
{
  GstHarness *h = new_harness ();
  GstBuffer *frame = small_frame (0), *out;
  GstSegment segment;
  JsonNode *line;
  JsonObject *object;
  gchar *text;

  gst_segment_init (&segment, GST_FORMAT_TIME);
  segment.rate = 2.0;
  segment.applied_rate = 1.0;
  segment.base = 5 * GST_SECOND;
  segment.start = 10 * GST_SECOND;
  segment.time = 100 * GST_SECOND;
  segment.position = segment.start;
  fail_unless (gst_harness_push_event (h, gst_event_new_segment (&segment)));

  GST_BUFFER_PTS (frame) = 14 * GST_SECOND;
  GST_BUFFER_DTS (frame) = 13 * GST_SECOND;
  GST_BUFFER_FLAG_SET (frame, GST_BUFFER_FLAG_DISCONT);
  out = gst_harness_push_and_pull (h, frame);
  fail_unless_equals_uint64 (GST_BUFFER_PTS (out), 14 * GST_SECOND);
  fail_unless_equals_uint64 (GST_BUFFER_DTS (out), 13 * GST_SECOND);
  fail_unless_equals_uint64 (GST_BUFFER_DURATION (out), FRAME_TIME);
  fail_unless (GST_BUFFER_FLAG_IS_SET (out, GST_BUFFER_FLAG_DISCONT));
  text = take_line (out);
  line = parse (text);
  g_free (text);
  object = json_node_get_object (line);
  fail_unless_equals_int64 (json_object_get_int_member (object, "pts"), 14 * GST_SECOND);
  fail_unless_equals_int64 (json_object_get_int_member (object, "running_time"), 7 * GST_SECOND);
  fail_unless_equals_int64 (json_object_get_int_member (object, "stream_time"), 104 * GST_SECOND);
  json_node_unref (line);

  /* Before the segment there is no running time; without a timestamp there is nothing. */
  frame = small_frame (0);
  GST_BUFFER_PTS (frame) = 9 * GST_SECOND;
  line = push_for_json (h, frame);
  assert_schema ("ccl-blob-1.schema.json", line);
  object = json_node_get_object (line);
  fail_unless_equals_int64 (json_object_get_int_member (object, "pts"), 9 * GST_SECOND);
  fail_unless (is_null (object, "running_time") && is_null (object, "stream_time"));
  fail_unless_equals_int (json_object_get_int_member (object, "seq"), 1);
  json_node_unref (line);

  frame = small_frame (0);
  GST_BUFFER_PTS (frame) = GST_CLOCK_TIME_NONE;
  line = push_for_json (h, frame);
  object = json_node_get_object (line);
  fail_unless (is_null (object, "pts") && is_null (object, "running_time") && is_null (object, "utc"));
  json_node_unref (line);
  gst_harness_teardown (h);
}

GST_END_TEST;

/* Pushes a frame and checks what the line says of UTC; NULL: null. */
static void
assert_utc (GstHarness * h, GstBuffer * frame, const gchar * utc, const gchar * time_source)
{
  JsonNode *line = push_for_json (h, frame);
  JsonObject *object = json_node_get_object (line);

  assert_schema ("ccl-blob-1.schema.json", line);
  fail_unless_equals_string (json_object_get_string_member (object, "time_source"), time_source);
  if (utc) {
    fail_unless_equals_string (json_object_get_string_member (object, "utc"), utc);
  } else {
    fail_unless (is_null (object, "utc"));
  }
  json_node_unref (line);
}

static GstBuffer *
frame_with_reference (const gchar * caps, GstClockTime time)
{
  GstBuffer *frame = small_frame (0);
  GstCaps *reference = gst_caps_from_string (caps);

  gst_buffer_add_reference_timestamp_meta (frame, reference, time, GST_CLOCK_TIME_NONE);
  gst_caps_unref (reference);
  return frame;
}

/* 2024-02-29 12:34:56.789 */
#define LEAP_DAY (G_GUINT64_CONSTANT (1709210096789) * GST_MSECOND)
#define LEAP_DAY_TEXT "2024-02-29T12:34:56.789000Z"
#define NTP_OFFSET (G_GUINT64_CONSTANT (2208988800) * GST_SECOND)

GST_START_TEST (test_utc_from_reference)
{
  GstHarness *h = new_harness ();

  assert_utc (h, frame_with_reference ("timestamp/x-unix", LEAP_DAY), LEAP_DAY_TEXT, "reference");
  assert_utc (h, frame_with_reference ("timestamp/x-ntp", LEAP_DAY + NTP_OFFSET), LEAP_DAY_TEXT, "reference");
  /* Before 1970, and of a clock that says nothing about UTC. */
  assert_utc (h, frame_with_reference ("timestamp/x-ntp", 5), NULL, "none");
  assert_utc (h, frame_with_reference ("timestamp/x-drivername-stream", LEAP_DAY), NULL, "none");
  /* The last one there is. */
  assert_utc (h, frame_with_reference ("timestamp/x-unix", G_MAXUINT64 - 1), "2554-07-21T23:34:33.709551Z",
      "reference");

  gst_util_set_object_arg (G_OBJECT (h->element), "time", "none");
  assert_utc (h, frame_with_reference ("timestamp/x-unix", LEAP_DAY), NULL, "none");
  gst_harness_teardown (h);
}

GST_END_TEST;

static void
set_clock (GstHarness * h, GstClockType type, GstClockTime base_time)
{
  GstClock *clock = g_object_new (GST_TYPE_SYSTEM_CLOCK, "clock-type", type, NULL);

  gst_object_ref_sink (clock);
  gst_element_set_clock (h->element, clock);
  gst_element_set_base_time (h->element, base_time);
  gst_object_unref (clock);
}

GST_START_TEST (test_utc_from_clock)
{
  GstHarness *h = new_harness ();
  JsonNode *line;
  gchar *utc;
  GDateTime *date;
  gint64 age;

  set_clock (h, GST_CLOCK_TYPE_REALTIME, LEAP_DAY);
  assert_utc (h, small_frame (25), "2024-02-29T12:34:57.789000Z", "clock");
  /* The sender's time is better than the receiver's. */
  assert_utc (h, frame_with_reference ("timestamp/x-unix", LEAP_DAY), LEAP_DAY_TEXT, "reference");
  gst_util_set_object_arg (G_OBJECT (h->element), "time", "clock");
  assert_utc (h, frame_with_reference ("timestamp/x-unix", 0), LEAP_DAY_TEXT, "clock");
  gst_util_set_object_arg (G_OBJECT (h->element), "time", "reference");
  assert_utc (h, small_frame (25), NULL, "none");

  /* A clock of no known epoch: only on request, by comparing it with the system's time. */
  set_clock (h, GST_CLOCK_TYPE_MONOTONIC, g_get_monotonic_time () * GST_USECOND);
  gst_util_set_object_arg (G_OBJECT (h->element), "time", "auto");
  assert_utc (h, small_frame (25), NULL, "none");
  gst_util_set_object_arg (G_OBJECT (h->element), "time", "clock");
  line = push_for_json (h, small_frame (25));
  date = g_date_time_new_from_iso8601 (json_object_get_string_member (json_node_get_object (line), "utc"), NULL);
  fail_unless (date != NULL);
  age = g_get_real_time () - g_date_time_to_unix (date) * G_USEC_PER_SEC - g_date_time_get_microsecond (date);
  /* The frame is one second after the base time, which was now. */
  fail_unless (ABS (age + G_USEC_PER_SEC) < 30 * G_USEC_PER_SEC, "%" G_GINT64_FORMAT " us", age);
  g_date_time_unref (date);
  json_node_unref (line);

  gst_util_set_object_arg (G_OBJECT (h->element), "time", "system");
  line = push_for_json (h, small_frame (25));
  fail_unless_equals_string (json_object_get_string_member (json_node_get_object (line), "time_source"), "system");
  date = g_date_time_new_from_iso8601 (json_object_get_string_member (json_node_get_object (line), "utc"), NULL);
  utc = g_date_time_format_iso8601 (date);
  age = g_get_real_time () / G_USEC_PER_SEC - g_date_time_to_unix (date);
  fail_unless (age >= 0 && age < 30, "%s is %" G_GINT64_FORMAT " s old", utc, age);
  g_free (utc);
  g_date_time_unref (date);
  json_node_unref (line);
  gst_harness_teardown (h);
}

GST_END_TEST;

/* --- frames without a line, events --- */

static void
assert_gap (GstHarness * h, GstClockTime pts)
{
  GstEvent *event;
  GstClockTime time, duration;

  while ((event = gst_harness_try_pull_event (h)) && GST_EVENT_TYPE (event) != GST_EVENT_GAP)
    gst_event_unref (event);
  fail_unless (event != NULL, "no gap");
  gst_event_parse_gap (event, &time, &duration);
  fail_unless_equals_uint64 (time, pts);
  fail_unless_equals_uint64 (duration, FRAME_TIME);
  gst_event_unref (event);
}

GST_START_TEST (test_empty_frames)
{
  GstHarness *h = new_harness ();
  JsonNode *line = push_for_json (h, empty_frame (0));
  JsonObject *object = json_node_get_object (line);

  assert_schema ("ccl-blob-1.schema.json", line);
  fail_unless_equals_int (json_array_get_length (json_object_get_array_member (object, "blobs")), 0);
  json_node_unref (line);

  gst_harness_set (h, "cclmeta2json", "empty-frames", FALSE, NULL);
  fail_unless_equals_int (gst_harness_push (h, empty_frame (1)), GST_FLOW_OK);
  fail_unless_equals_int (gst_harness_buffers_in_queue (h), 0);
  assert_gap (h, FRAME_TIME);
  line = push_for_json (h, small_frame (2));
  fail_unless_equals_int (json_object_get_int_member (json_node_get_object (line), "seq"), 2);
  json_node_unref (line);
  gst_harness_teardown (h);
}

GST_END_TEST;

GST_START_TEST (test_frame_not_analysed)
{
  GstHarness *h = new_harness ();
  GstBuffer *frame = empty_frame (3);

  gst_buffer_get_ccl_blob_meta (frame)->flags = GST_CCL_BLOB_META_FLAG_SKIPPED;
  fail_unless_equals_int (gst_harness_push (h, frame), GST_FLOW_OK);
  fail_unless_equals_int (gst_harness_buffers_in_queue (h), 0);
  assert_gap (h, 3 * FRAME_TIME);
  gst_harness_teardown (h);
}

GST_END_TEST;

GST_START_TEST (test_events_and_flush)
{
  GstHarness *h = new_harness ();
  GstSegment segment;
  GstStructure *expected =
      gst_structure_from_string ("application/x-json,schema=(string)ccl-blob-1,framing=(string)ndjson", NULL);
  JsonNode *line;
  GstCaps *caps;
  GstBuffer *out;

  gst_segment_init (&segment, GST_FORMAT_TIME);
  gst_buffer_unref (gst_harness_push_and_pull (h, small_frame (0)));
  caps = gst_pad_get_current_caps (h->sinkpad);
  fail_unless (gst_structure_is_equal (gst_caps_get_structure (caps, 0), expected));
  gst_caps_unref (caps);

  fail_unless (gst_harness_push_event (h, gst_event_new_gap (FRAME_TIME, FRAME_TIME)));
  assert_gap (h, FRAME_TIME);

  fail_unless (gst_harness_push_event (h, gst_event_new_flush_start ()));
  fail_unless_equals_int (gst_harness_push (h, small_frame (2)), GST_FLOW_FLUSHING);
  fail_unless (gst_harness_push_event (h, gst_event_new_flush_stop (TRUE)));
  fail_unless (gst_harness_push_event (h, gst_event_new_segment (&segment)));
  out = gst_harness_push_and_pull (h, small_frame (3));
  fail_unless_equals_uint64 (GST_BUFFER_PTS (out), 3 * FRAME_TIME);
  gst_buffer_unref (out);

  /* Another size, and frames that are not raw video at all. */
  gst_harness_set_src_caps_str (h, "image/jpeg,width=640,height=480,framerate=25/1");
  line = push_for_json (h, small_frame (4));
  json_node_unref (line);
  gst_harness_set_src_caps_str (h, "application/x-thing");
  line = push_for_json (h, plain_frame (5));
  assert_schema ("ccl-blob-1.schema.json", line);
  json_node_unref (line);

  fail_unless (gst_harness_push_event (h, gst_event_new_eos ()));
  fail_unless_equals_int (gst_harness_push (h, small_frame (6)), GST_FLOW_EOS);
  gst_structure_free (expected);
  gst_harness_teardown (h);
}

GST_END_TEST;

GST_START_TEST (test_allocation_stops_here)
{
  GstHarness *h = new_harness ();
  GstCaps *caps = gst_caps_from_string (VIDEO_CAPS);
  GstQuery *query = gst_query_new_allocation (caps, TRUE);

  /* What the harness offers for text must not reach a source of pictures. */
  gst_harness_set_propose_allocator (h, gst_allocator_find (NULL), NULL);
  gst_harness_add_propose_allocation_meta (h, GST_VIDEO_OVERLAY_COMPOSITION_META_API_TYPE, NULL);
  gst_buffer_unref (gst_harness_push_and_pull (h, small_frame (0)));
  fail_unless (gst_pad_peer_query (h->srcpad, query));
  fail_unless_equals_int (gst_query_get_n_allocation_pools (query), 0);
  fail_unless_equals_int (gst_query_get_n_allocation_params (query), 0);
  fail_unless (gst_query_find_allocation_meta (query, GST_VIDEO_META_API_TYPE, NULL));
  fail_if (gst_query_find_allocation_meta (query, GST_VIDEO_OVERLAY_COMPOSITION_META_API_TYPE, NULL));
  gst_query_unref (query);
  gst_caps_unref (caps);
  gst_harness_teardown (h);
}

GST_END_TEST;

/* --- DL Streamer --- */

GST_START_TEST (test_dlstreamer)
{
  GstHarness *h = new_harness ();
  GstBuffer *frame = small_frame (25);
  JsonNode *line;
  JsonObject *object, *blob, *detection, *box;
  GstCclBlob blobs[2] = { rectangle (1, 32, 24, 64, 48), rectangle (2, 300, 200, 20, 40) };
  GstCaps *caps;
  gchar *complaint;

  /* The schema is changed while running, and so are the caps. */
  line = push_for_json (h, frame);
  complaint = schema_check ("dlstreamer.schema.json", line);
  fail_unless (complaint != NULL, "the checker takes anything");
  g_free (complaint);
  json_node_unref (line);
  gst_util_set_object_arg (G_OBJECT (h->element), "schema", "dlstreamer");
  g_object_set (h->element, "source-id", "rtsp://cam/1", "tags", " {\n\"site\" : \"A\"}", NULL);

  frame = plain_frame (26);
  blobs[1].track_id = 77;
  blobs[1].mtd_id = 5;
  add_blobs (frame, blobs, 2);
  line = push_for_json (h, frame);
  assert_schema ("dlstreamer.schema.json", line);
  caps = gst_pad_get_current_caps (h->sinkpad);
  fail_unless_equals_string (gst_structure_get_string (gst_caps_get_structure (caps, 0), "schema"), "dlstreamer");
  gst_caps_unref (caps);

  object = json_node_get_object (line);
  fail_unless_equals_int64 (json_object_get_int_member (object, "timestamp"), 26 * FRAME_TIME);
  fail_unless_equals_string (json_object_get_string_member (object, "source"), "rtsp://cam/1");
  fail_unless_equals_string (json_object_get_string_member (json_object_get_object_member (object, "tags"), "site"),
      "A");
  fail_unless_equals_int (json_object_get_int_member (json_object_get_object_member (object, "resolution"), "width"),
      WIDTH);
  blob = json_array_get_object_element (json_object_get_array_member (object, "objects"), 0);
  fail_unless_equals_int (json_object_get_int_member (blob, "x"), 32);
  fail_unless_equals_int (json_object_get_int_member (blob, "h"), 48);
  fail_unless_equals_int (json_object_get_int_member (blob, "region_id"), 1);
  fail_if (json_object_has_member (blob, "id"));
  fail_unless_equals_string (json_object_get_string_member (blob, "roi_type"), "blob");
  detection = json_object_get_object_member (blob, "detection");
  box = json_object_get_object_member (detection, "bounding_box");
  fail_unless (json_object_get_double_member (box, "x_min") == 0.1);
  fail_unless (json_object_get_double_member (box, "x_max") == 0.3);
  fail_unless (json_object_get_double_member (box, "y_min") == 0.1);
  fail_unless (json_object_get_double_member (box, "y_max") == 0.3);
  blob = json_array_get_object_element (json_object_get_array_member (object, "objects"), 1);
  fail_unless_equals_int (json_object_get_int_member (blob, "region_id"), 5);
  fail_unless_equals_int (json_object_get_int_member (blob, "id"), 77);
  json_node_unref (line);

  line = push_for_json (h, empty_frame (27));
  assert_schema ("dlstreamer.schema.json", line);
  fail_if (json_object_has_member (json_node_get_object (line), "objects"));
  json_node_unref (line);
  gst_harness_teardown (h);
}

GST_END_TEST;

/* --- regions of other elements --- */

static GstBuffer *
frame_with_regions (guint number)
{
  GstBuffer *frame = plain_frame (number);
  GstVideoRegionOfInterestMeta *roi;

  roi = gst_buffer_add_video_region_of_interest_meta (frame, "person", 10, 20, 3, 2);
  roi->id = 9;
  gst_video_region_of_interest_meta_add_param (roi, gst_structure_new ("detection", "x_min", G_TYPE_DOUBLE, 0.,
          "confidence", G_TYPE_DOUBLE, 0.75, "label_id", G_TYPE_INT, 4, NULL));
  gst_video_region_of_interest_meta_add_param (roi, gst_structure_new ("object_id", "id", G_TYPE_INT, 123, NULL));
  roi = gst_buffer_add_video_region_of_interest_meta (frame, "face", 4, 5, 0, 1);
  roi->parent_id = 9;
  return frame;
}

GST_START_TEST (test_regions_of_others)
{
  GstHarness *h = new_harness ();
  JsonNode *line = push_for_json (h, frame_with_regions (0));
  JsonNode *same = push_for_json (h, small_frame (0));
  JsonObject *object = json_node_get_object (line), *blob = first_blob (line), *other = first_blob (same);
  JsonObject *detection;

  assert_schema ("ccl-blob-1.schema.json", line);
  fail_unless_equals_int (json_object_get_int_member (object, "total"), 2);
  fail_unless_equals_int (json_object_get_int_member (blob, "track"), 123);
  /* But for the track, it is the blob of the filled rectangle. */
  json_object_remove_member (blob, "track");
  fail_unless (json_object_equal (blob, other));
  json_node_unref (same);
  json_node_unref (line);

  gst_util_set_object_arg (G_OBJECT (h->element), "schema", "dlstreamer");
  line = push_for_json (h, frame_with_regions (1));
  assert_schema ("dlstreamer.schema.json", line);
  blob = json_array_get_object_element (json_object_get_array_member (json_node_get_object (line), "objects"), 0);
  fail_unless_equals_string (json_object_get_string_member (blob, "roi_type"), "person");
  fail_unless_equals_int (json_object_get_int_member (blob, "region_id"), 9);
  fail_unless_equals_int (json_object_get_int_member (blob, "id"), 123);
  detection = json_object_get_object_member (blob, "detection");
  fail_unless (json_object_get_double_member (detection, "confidence") == 0.75);
  fail_unless_equals_int (json_object_get_int_member (detection, "label_id"), 4);
  blob = json_array_get_object_element (json_object_get_array_member (json_node_get_object (line), "objects"), 1);
  fail_unless_equals_int (json_object_get_int_member (blob, "parent_id"), 9);
  fail_if (json_object_has_member (json_object_get_object_member (blob, "detection"), "confidence"));
  json_node_unref (line);

  /* Where the blobs themselves are, their mirrors are not written a second time. */
  gst_util_set_object_arg (G_OBJECT (h->element), "schema", "ccl");
  {
    GstBuffer *both = frame_with_regions (2);
    const GstCclBlob one = rectangle (1, 0, 0, 1, 1);

    add_blobs (both, &one, 1);
    line = push_for_json (h, both);
  }
  fail_unless_equals_int (json_object_get_int_member (json_node_get_object (line), "total"), 1);
  json_node_unref (line);
  gst_harness_teardown (h);
}

GST_END_TEST;

/* What cannot be measured is not written as something else. */
GST_START_TEST (test_regions_far_away)
{
  const guint far[][4] = { {70000, 0, 50, 50}, {65530, 0, 6, 1}, {0, 65536, 0, 0}, {0, 4000000000u, 1, 1},
    {G_MAXUINT, 0, G_MAXUINT, 1}, {0, 0, 1, G_MAXUINT}
  };
  GstHarness *h = gst_harness_new ("cclmeta2json");
  GstBuffer *frame = plain_frame (0);
  JsonNode *line;
  JsonObject *object;
  JsonArray *blobs;

  gst_harness_set_src_caps_str (h, "video/x-raw,format=GRAY8,width=70000,height=8,framerate=25/1");
  for (guint i = 0; i < G_N_ELEMENTS (far); i++)
    gst_buffer_add_video_region_of_interest_meta (frame, "far", far[i][0], far[i][1], far[i][2], far[i][3]);
  gst_buffer_add_video_region_of_interest_meta (frame, "near", 40000, 2, 50, 4);
  gst_buffer_add_video_region_of_interest_meta (frame, "all", 0, 0, 65535, 65535);
  line = push_for_json (h, frame);
  assert_schema ("ccl-blob-1.schema.json", line);
  object = json_node_get_object (line);
  fail_unless_equals_int (json_object_get_int_member (object, "total"), 2 + G_N_ELEMENTS (far));
  blobs = json_object_get_array_member (object, "blobs");
  fail_unless_equals_int (json_array_get_length (blobs), 2);
  object = json_array_get_object_element (blobs, 0);
  fail_unless_equals_int (number_at (object, "bbox", 0), 40000);
  fail_unless_equals_int (number_at (object, "bbox", 2), 50);
  fail_unless_equals_int (json_object_get_int_member (object, "area"), 200);
  fail_unless (number_at (object, "centroid", 0) == 40024.5 && number_at (object, "centroid", 1) == 3.5);
  fail_unless (number_at (object, "cov", 0) == 208.25 && number_at (object, "cov", 2) == 1.25);
  object = json_array_get_object_element (blobs, 1);
  fail_unless_equals_int64 (json_object_get_int_member (object, "area"), G_GINT64_CONSTANT (65535) * 65535);
  fail_unless (number_at (object, "centroid", 0) == 32767 && number_at (object, "cov", 1) == 0);
  fail_unless (fabs (number_at (object, "cov", 0) / ((65535. * 65535 - 1) / 12) - 1) < 1e-12);
  json_node_unref (line);
  gst_harness_teardown (h);
}

GST_END_TEST;

/* Of regions without a type in frames without a size there is as much as the schemas want. */
GST_START_TEST (test_region_without_type)
{
  GstHarness *h = gst_harness_new ("cclmeta2json");
  GstBuffer *frame = plain_frame (0);
  JsonNode *line;
  JsonObject *object, *detection, *box;

  gst_harness_set_src_caps_str (h, "application/x-thing");
  gst_buffer_add_video_region_of_interest_meta_id (frame, 0, 10, 20, 3, 2);
  line = push_for_json (h, gst_buffer_ref (frame));
  assert_schema ("ccl-blob-1.schema.json", line);
  json_node_unref (line);

  gst_util_set_object_arg (G_OBJECT (h->element), "schema", "dlstreamer");
  line = push_for_json (h, frame);
  assert_schema ("dlstreamer.schema.json", line);
  object = json_array_get_object_element (json_object_get_array_member (json_node_get_object (line), "objects"), 0);
  detection = json_object_get_object_member (object, "detection");
  box = json_object_get_object_member (detection, "bounding_box");
  fail_unless_equals_string (json_object_get_string_member (object, "roi_type"), "");
  fail_unless_equals_string (json_object_get_string_member (detection, "label"), "");
  fail_unless (json_object_get_double_member (box, "x_min") == 10 && json_object_get_double_member (box, "x_max") == 13);
  fail_unless (json_object_get_double_member (box, "y_min") == 20 && json_object_get_double_member (box, "y_max") == 22);
  json_node_unref (line);
  gst_harness_teardown (h);
}

GST_END_TEST;

#ifdef HAVE_GST_ANALYTICS
GST_START_TEST (test_detections_of_others)
{
  GstHarness *h = new_harness ();
  GstBuffer *frame = plain_frame (0);
  GstAnalyticsRelationMeta *meta = gst_buffer_add_analytics_relation_meta (frame);
  GstAnalyticsODMtd person, face;
  GstAnalyticsTrackingMtd tracking;
  JsonNode *line, *same;
  JsonObject *blob, *detection;

  gst_analytics_relation_meta_add_od_mtd (meta, g_quark_from_string ("person"), 10, 20, 3, 2, 0.75f, &person);
  gst_analytics_relation_meta_add_tracking_mtd (meta, 123, 0, &tracking);
  gst_analytics_relation_meta_add_od_mtd (meta, g_quark_from_string ("face"), -10, -20, 30, 30, 0.5f, &face);
  fail_unless (gst_analytics_relation_meta_set_relation (meta, GST_ANALYTICS_REL_TYPE_RELATE_TO, person.id,
          tracking.id));
  line = push_for_json (h, gst_buffer_ref (frame));
  same = push_for_json (h, small_frame (0));
  assert_schema ("ccl-blob-1.schema.json", line);
  fail_unless_equals_int (json_object_get_int_member (json_node_get_object (line), "total"), 2);
  blob = first_blob (line);
  fail_unless_equals_int (json_object_get_int_member (blob, "track"), 123);
  json_object_remove_member (blob, "track");
  fail_unless (json_object_equal (blob, first_blob (same)));
  json_node_unref (same);

  /* What lies outside the frame does not count. */
  blob = json_array_get_object_element (json_object_get_array_member (json_node_get_object (line), "blobs"), 1);
  fail_if (json_object_has_member (blob, "track"));
  fail_unless_equals_int (number_at (blob, "bbox", 0), 0);
  fail_unless_equals_int (number_at (blob, "bbox", 2), 20);
  fail_unless_equals_int (json_object_get_int_member (blob, "area"), 200);
  json_node_unref (line);

  gst_util_set_object_arg (G_OBJECT (h->element), "schema", "dlstreamer");
  line = push_for_json (h, frame);
  assert_schema ("dlstreamer.schema.json", line);
  blob = json_array_get_object_element (json_object_get_array_member (json_node_get_object (line), "objects"), 1);
  fail_unless_equals_string (json_object_get_string_member (blob, "roi_type"), "face");
  fail_unless_equals_int (json_object_get_int_member (blob, "region_id"), face.id);
  detection = json_object_get_object_member (blob, "detection");
  fail_unless (json_object_get_double_member (detection, "confidence") == 0.5);
  json_node_unref (line);
  gst_harness_teardown (h);
}

GST_END_TEST;
#endif

/* --- messages --- */

static GstMessage *
wait_for_message (GstBus * bus, GstMessageType type)
{
  return gst_bus_timed_pop_filtered (bus, 0, type);
}

GST_START_TEST (test_hint_without_metadata)
{
  GstHarness *h = new_harness ();
  GstBus *bus = gst_bus_new ();
  GstMessage *message;
  GError *error = NULL;

  gst_element_set_bus (h->element, bus);
  for (guint i = 0; i < 100; i++)
    gst_buffer_unref (gst_harness_push_and_pull (h, plain_frame (i)));
  message = wait_for_message (bus, GST_MESSAGE_WARNING);
  fail_unless (message != NULL);
  gst_message_parse_warning (message, &error, NULL);
  fail_unless (strstr (error->message, "no blob metadata"), "%s", error->message);
  g_clear_error (&error);
  gst_message_unref (message);
  fail_unless (wait_for_message (bus, GST_MESSAGE_WARNING) == NULL, "told twice");
  gst_element_set_bus (h->element, NULL);
  gst_object_unref (bus);
  gst_harness_teardown (h);
}

GST_END_TEST;

GST_START_TEST (test_malformed_tags)
{
  const gchar *wrong[] = { "{site:A}", "[1]", "3", "{\"a\":1", "site=A", "{\"a\":1} {",
    "{\"a\":1e400}", "{\"a\":[{\"b\":-1e400}]}", "{\"a\":123456789012345678901234567890}",
    "{\"a\":-123456789012345678901234567890}", "{\"a\":9223372036854775808}", "{\"a\":-9223372036854775809}",
    "{\"a\\\"\":0xfffffffffffffffff}", "{\"a\":0x1f}", "{\"a\":$ffffffffffffffffff}", "{\"a\":$1}", "{\"a\":0b11}",
    "{\"a\":1}{\"b\":2}", "{\"a\":1}3", "3{\"a\":1}", "{\"a\":.5}", "{\"a\":5.}", "{\"a\":1.e5}", "{\"a\":.e1}", "{\"a\":1e}",
    "{\"a\":- 1}", "{\"a\":+1}", "{\"a\":1.5.5}", "{\"a\":1.5.5\xc3\xa9}", "{\"a\":1-1}", "{\"a\":\"b\nc\"}", "{\"a\":\"b\tc\"}", "{\"a\":1}]", "{\"a\":017}", "{\"a\":-09}", "{\"a\":.5e999}", "{'1e400':1e400}", "{'a':1}", "{\"a\":/* \" */1e400}",
    "{\"a\":/ \" /1e400}", "{\"a\":/*/1e400}", "{\"a\":1} // b", "{\"a\":1}\\", "{\"a\":1}#",
    "{\"a\":\"\\ud800x\"}", "{\"a\":\"\\uDFFF\"}", "{\"a\":\"\\ud83d\\n\"}", "{\"a\":\"\\ud83d\\ud83d\"}",
    "{\"a\":\"\\ud800\",\"b\":1}",
    "{\"a\":\"\\ud8zz\"}", "{\"a\":\"x\\u00zz\"}", "{\"a\":\"\\u12\\\" ,\"b\":1e400}", "{\"a\":\"\\u12\xc3\xa9\"}", "{\"a\":\"\\q\"}",
    "{\"a\":\"x\\u0000y\"}", "{\"\\u0000\":1}", "{\"a\":[\"\\\\\\u0000\"]}", "{\"a\":\"\\0\"}",
    "{\"a\":\"\\377\"}", "{\"a\":\"\xff\"}", "{\"a\":\"\\", "{\"a\":\"\\u00",
  };

  for (guint i = 0; i < G_N_ELEMENTS (wrong); i++) {
    GstElement *element = gst_element_factory_make ("cclmeta2json", NULL);
    GstBus *bus = gst_bus_new ();
    GstMessage *message;
    GError *error = NULL;
    gchar *debug = NULL;

    gst_element_set_bus (element, bus);
    g_object_set (element, "tags", wrong[i], NULL);
    fail_unless_equals_int (gst_element_set_state (element, GST_STATE_PAUSED), GST_STATE_CHANGE_FAILURE);
    message = wait_for_message (bus, GST_MESSAGE_ERROR);
    fail_unless (message != NULL, "%s: no message", wrong[i]);
    gst_message_parse_error (message, &error, &debug);
    fail_unless (g_str_has_prefix (error->message, "Property tags cannot be used: "), "%s", error->message);
    fail_unless (g_utf8_validate (error->message, -1, NULL));
    fail_unless (strstr (debug, "{\"site\":\"A\"}"), "%s", debug);
    g_clear_error (&error);
    g_free (debug);
    gst_message_unref (message);

    /* Right tags make it start. */
    g_object_set (element, "tags", "{}", NULL);
    fail_unless_equals_int (gst_element_set_state (element, GST_STATE_PAUSED), GST_STATE_CHANGE_SUCCESS);
    gst_element_set_state (element, GST_STATE_NULL);
    gst_element_set_bus (element, NULL);
    gst_object_unref (bus);
    gst_object_unref (element);
  }
}

GST_END_TEST;

/* The largest there are, and what only looks like a number. */
GST_START_TEST (test_large_numbers_in_tags)
{
  GstHarness *h = new_harness ();
  gchar *line;

  g_object_set (h->element, "tags", "{\"a\":[9223372036854775807,-9223372036854775808,1.5e+308,-1E308],"
      "\"1e400\":\"\\\"123456789012345678901234567890 it's /* 1e400 */\" , \"b\":9223372036854775807}", NULL);
  line = push_for_line (h, small_frame (0));
  fail_unless (strstr (line, "[9223372036854775807,-9223372036854775808,1.5"), "%s", line);
  fail_unless (strstr (line, "\"1e400\":\"\\\"123456789012345678901234567890 it's /* 1e400 */\",\"b\":9223372036854775807}"),
      "%s", line);
  g_free (line);
  gst_harness_teardown (h);
}

GST_END_TEST;

/* What only looks like an escape that is refused. */
GST_START_TEST (test_escapes_in_tags)
{
  GstHarness *h = new_harness ();
  gchar *line;

  g_object_set (h->element, "tags", "{\"a\":\"\\uD83D\\uDE00\\\\u0000\\\\ud800\\u0001\\/\\n\",\"b\\\\u0000\":1}", NULL);
  line = push_for_line (h, small_frame (0));
  fail_unless (strstr (line, "{\"a\":\"\xf0\x9f\x98\x80\\\\u0000\\\\ud800\\u0001/\\n\",\"b\\\\u0000\":1}"), "%s", line);
  g_free (line);
  gst_harness_teardown (h);
}

GST_END_TEST;

/* {"a":[[...]]} with `depth` brackets of all kinds open at a time, and some in strings. */
static gchar *
nested_tags (guint depth)
{
  gchar *const opening = g_strnfill (depth - 1, '['), *const closing = g_strnfill (depth - 1, ']');
  gchar *const tags = g_strdup_printf ("{\"[[]{\\\"[\":[[],{}],\"a\":%s%s}", opening, closing);

  g_free (opening);
  g_free (closing);
  return tags;
}

/* Without a limit json-glib 1.6 runs out of stack. */
GST_START_TEST (test_deep_tags)
{
  const guint depths[] = { 2, 100, 101, 100000 };

  for (guint i = 0; i < G_N_ELEMENTS (depths); i++) {
    GstElement *element = gst_element_factory_make ("cclmeta2json", NULL);
    gchar *const tags = nested_tags (depths[i]);

    g_object_set (element, "tags", tags, NULL);
    fail_unless_equals_int (gst_element_set_state (element, GST_STATE_PAUSED),
        depths[i] <= 100 ? GST_STATE_CHANGE_SUCCESS : GST_STATE_CHANGE_FAILURE);
    gst_element_set_state (element, GST_STATE_NULL);
    gst_object_unref (element);
    g_free (tags);
  }
}

GST_END_TEST;

GST_START_TEST (test_tags)
{
  const gchar *tags = "{\"site\":\"A\\n\\u00e9\",\"n\":[1,2.5,true,null,{}],\"gain\":0.1}";
  GstHarness *h = new_harness ();
  GstBus *bus = gst_bus_new ();
  GstMessage *message;
  JsonNode *line, *expected = parse (tags);
  gchar *text;

  gst_element_set_bus (h->element, bus);
  line = push_for_json (h, small_frame (0));
  fail_if (json_object_has_member (json_node_get_object (line), "tags"));
  json_node_unref (line);

  g_object_set (h->element, "tags", tags, NULL);
  line = push_for_json (h, small_frame (1));
  assert_schema ("ccl-blob-1.schema.json", line);
  fail_unless (json_node_equal (json_object_get_member (json_node_get_object (line), "tags"), expected));
  json_node_unref (line);

  /* While running, wrong ones are refused and the old ones stay. */
  g_object_set (h->element, "tags", "{", NULL);
  message = wait_for_message (bus, GST_MESSAGE_WARNING);
  fail_unless (message != NULL);
  gst_message_unref (message);
  line = push_for_json (h, small_frame (2));
  fail_unless (json_node_equal (json_object_get_member (json_node_get_object (line), "tags"), expected));
  json_node_unref (line);
  g_object_get (h->element, "tags", &text, NULL);
  fail_unless_equals_string (text, tags);
  g_free (text);

  g_object_set (h->element, "tags", NULL, NULL);
  line = push_for_json (h, empty_frame (3));
  fail_if (json_object_has_member (json_node_get_object (line), "tags"));
  json_node_unref (line);
  json_node_unref (expected);
  gst_element_set_bus (h->element, NULL);
  gst_object_unref (bus);
  gst_harness_teardown (h);
}

GST_END_TEST;

/* --- life --- */

GST_START_TEST (test_state_cycles)
{
  GstElement *pipeline = gst_parse_launch ("videotestsrc num-buffers=2 ! video/x-raw,width=16,height=16 ! "
      "cclmeta2json name=json tags={\\\"a\\\":1} ! fakesink", NULL);
  GstBus *bus = gst_element_get_bus (pipeline);

  for (guint i = 0; i < 50; i++) {
    GstMessage *message;

    fail_if (gst_element_set_state (pipeline, GST_STATE_PLAYING) == GST_STATE_CHANGE_FAILURE);
    message = gst_bus_timed_pop_filtered (bus, 10 * GST_SECOND, GST_MESSAGE_EOS | GST_MESSAGE_ERROR);
    fail_unless (message && GST_MESSAGE_TYPE (message) == GST_MESSAGE_EOS);
    gst_message_unref (message);
    fail_if (gst_element_set_state (pipeline, GST_STATE_NULL) == GST_STATE_CHANGE_FAILURE);
  }
  gst_object_unref (bus);
  gst_object_unref (pipeline);
}

GST_END_TEST;

GST_START_TEST (test_seq_starts_again)
{
  GstHarness *h = new_harness ();
  JsonNode *line;

  gst_buffer_unref (gst_harness_push_and_pull (h, small_frame (0)));
  fail_unless_equals_int (gst_element_set_state (h->element, GST_STATE_READY), GST_STATE_CHANGE_SUCCESS);
  gst_harness_play (h);
  gst_harness_set_src_caps_str (h, VIDEO_CAPS);
  line = push_for_json (h, small_frame (0));
  fail_unless_equals_int (json_object_get_int_member (json_node_get_object (line), "seq"), 0);
  json_node_unref (line);
  gst_harness_teardown (h);
}

GST_END_TEST;

/* Nanoseconds this thread has computed: other work on the machine does not count. */
static gint64
thread_time (void)
{
  struct timespec now;

  clock_gettime (CLOCK_THREAD_CPUTIME_ID, &now);
  return now.tv_sec * (gint64) GST_SECOND + now.tv_nsec;
}

/* 1,000 blobs per frame come whole; how long a line takes is printed, for whoever changes the writer. */
GST_START_TEST (test_many_blobs)
{
  const guint n_blobs = 1000, n_frames = 5;
  GstHarness *h = new_harness ();
  GstCclBlob *blobs = g_new (GstCclBlob, n_blobs);
  const gint precisions[] = { -1, 2 };

  for (guint i = 0; i < n_blobs; i++)
    blobs[i] = rectangle (i + 1, 7 * i % 300, 11 * i % 230, 1 + i % 13, 1 + i % 7);
  for (guint p = 0; p < G_N_ELEMENTS (precisions); p++) {
    gint64 spent = 0;
    gsize size = 0;

    g_object_set (h->element, "precision", precisions[p], NULL);
    for (guint i = 0; i < n_frames; i++) {
      GstBuffer *frame = plain_frame (i), *out;
      gint64 start;

      add_blobs (frame, blobs, n_blobs);
      start = thread_time ();
      out = gst_harness_push_and_pull (h, frame);
      spent += thread_time () - start;
      size = gst_buffer_get_size (out);
      if (i == 0 && p == 0) {
        gchar *text = take_line (out);
        JsonNode *line = parse (text);

        assert_schema ("ccl-blob-1.schema.json", line);
        fail_unless_equals_int (json_array_get_length (json_object_get_array_member (json_node_get_object (line),
                    "blobs")), n_blobs);
        json_node_unref (line);
        g_free (text);
      } else {
        gst_buffer_unref (out);
      }
    }
    g_printerr ("%u blobs, precision %d: %.2f ms, %" G_GSIZE_FORMAT " bytes a frame\n", n_blobs, precisions[p],
        spent / 1e6 / n_frames, size);
  }
  g_free (blobs);
  gst_harness_teardown (h);
}

GST_END_TEST;

static Suite *
cclmeta2json_suite (void)
{
  Suite *suite = suite_create ("cclmeta2json");
  TCase *tc = tcase_create ("general");

  suite_add_tcase (suite, tc);
  tcase_set_timeout (tc, 120);  /* sanitizers that unwind every allocation take their time */
  tcase_add_test (tc, test_line_byte_for_byte);
  tcase_add_test (tc, test_every_field_read_back);
  tcase_add_test (tc, test_optional_fields);
  tcase_add_test (tc, test_beyond_63_bits);
  tcase_add_test (tc, test_polygon);
  tcase_add_test (tc, test_polygon_of_fractions);
  tcase_add_test (tc, test_trail);
  tcase_add_test (tc, test_source_defaults_to_name);
  tcase_add_test (tc, test_names_of_zones);
  tcase_add_test (tc, test_precision);
  tcase_add_test (tc, test_locale);
  tcase_add_test (tc, test_pathological_doubles);
  tcase_add_test (tc, test_exponent_without_point);
  tcase_add_test (tc, test_scaled_frame);
  tcase_add_test (tc, test_times_of_a_segment);
  tcase_add_test (tc, test_utc_from_reference);
  tcase_add_test (tc, test_utc_from_clock);
  tcase_add_test (tc, test_empty_frames);
  tcase_add_test (tc, test_frame_not_analysed);
  tcase_add_test (tc, test_events_and_flush);
  tcase_add_test (tc, test_allocation_stops_here);
  tcase_add_test (tc, test_dlstreamer);
  tcase_add_test (tc, test_regions_of_others);
  tcase_add_test (tc, test_regions_far_away);
  tcase_add_test (tc, test_region_without_type);
#ifdef HAVE_GST_ANALYTICS
  tcase_add_test (tc, test_detections_of_others);
#endif
  tcase_add_test (tc, test_hint_without_metadata);
  tcase_add_test (tc, test_malformed_tags);
  tcase_add_test (tc, test_large_numbers_in_tags);
  tcase_add_test (tc, test_escapes_in_tags);
  tcase_add_test (tc, test_deep_tags);
  tcase_add_test (tc, test_tags);
  tcase_add_test (tc, test_state_cycles);
  tcase_add_test (tc, test_seq_starts_again);
  tcase_add_test (tc, test_many_blobs);
  return suite;
}

GST_CHECK_MAIN (cclmeta2json);
