/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "gstccljson.h"

#include <json-glib/json-glib.h>
#include <math.h>
#include <string.h>

/* A tree is built with json-glib and printed by its generator, then the numbers of the text are tidied: json-glib
 * prints every double with 17 digits (exact, whatever the locale) but has no shorter form, and 1.6 spoils the few that
 * print without a point (1e-10 becomes "1e-10.0"). */

/* 2^53: doubles from here on have no digits after the point. */
#define LARGEST_EXACT 9007199254740992.0

/* Arrays and objects in each other, in text from outside. */
#define DEPTH_MAX 100

/* --- leaves --- */

/* JSON has no word for NaN and infinity. */
static JsonNode *
number_node (gdouble value)
{
  JsonNode *node = json_node_alloc ();

  return isfinite (value) ? json_node_init_double (node, value) : json_node_init_null (node);
}

/* Boxes and areas are whole in the plane they were measured in, and fractions in a scaled frame; corners of contours of
 * another program may be anywhere. */
static JsonNode *
measure_node (gdouble value, gboolean whole)
{
  if (!whole || !(fabs (value) < LARGEST_EXACT) || value != floor (value))
    return number_node (value);
  return json_node_init_int (json_node_alloc (), (gint64) value);
}

/* json-glib writes whole numbers with a sign. */
static gboolean
has_room (guint64 value)
{
  return value <= G_MAXINT64;
}

/* GST_CLOCK_TIME_NONE is one of those that have no room. */
static JsonNode *
time_node (GstClockTime time)
{
  JsonNode *node = json_node_alloc ();

  return has_room (time) ? json_node_init_int (node, (gint64) time) : json_node_init_null (node);
}

/* Nothing when there is none. */
static void
set_id (JsonObject * object, const gchar * name, guint64 id)
{
  if (id != 0 && has_room (id))
    json_object_set_int_member (object, name, (gint64) id);
}

static void
set_count (JsonObject * object, const gchar * name, guint64 count)
{
  json_object_set_int_member (object, name, (gint64) MIN (count, G_MAXINT64));
}

/* JSON is UTF-8; names from outside need not be. */
static JsonNode *
string_node (const gchar * text)
{
  JsonNode *node = json_node_alloc ();
  gchar *valid;

  if (!text)
    return json_node_init_null (node);
  if (g_utf8_validate (text, -1, NULL))
    return json_node_init_string (node, text);
  valid = g_utf8_make_valid (text, -1);
  json_node_init_string (node, valid);
  g_free (valid);
  return node;
}

static JsonArray *
array_of_numbers (const gdouble * values, guint n_values)
{
  JsonArray *array = json_array_sized_new (n_values);

  for (guint i = 0; i < n_values; i++)
    json_array_add_element (array, number_node (values[i]));
  return array;
}

static void
set_numbers (JsonObject * object, const gchar * name, const gdouble * values, guint n_values)
{
  json_object_set_array_member (object, name, array_of_numbers (values, n_values));
}

typedef struct
{
  guint flag;
  const gchar *word;
} FlagWord;

/* "left,top"; nothing when no flag is set. */
static void
set_flag_words (JsonObject * object, const gchar * name, guint flags, const FlagWord * words, guint n_words)
{
  gchar text[64] = "";

  for (guint i = 0; i < n_words; i++) {
    if (!(flags & words[i].flag))
      continue;
    if (text[0])
      g_strlcat (text, ",", sizeof text);
    g_strlcat (text, words[i].word, sizeof text);
  }
  if (text[0])
    json_object_set_string_member (object, name, text);
}

gchar *
gst_ccl_json_utc (GstClockTime unix_time)
{
  GDateTime *date;
  gchar *text;

  if (!GST_CLOCK_TIME_IS_VALID (unix_time))
    return NULL;
  date = g_date_time_new_from_unix_utc ((gint64) (unix_time / GST_SECOND));
  text = g_strdup_printf ("%04d-%02d-%02dT%02d:%02d:%02d.%06dZ", g_date_time_get_year (date),
      g_date_time_get_month (date), g_date_time_get_day_of_month (date), g_date_time_get_hour (date),
      g_date_time_get_minute (date), g_date_time_get_second (date), (gint) (unix_time % GST_SECOND / GST_USECOND));
  g_date_time_unref (date);
  return text;
}

/* --- schema "ccl-blob-1" --- */

static const FlagWord border_words[] = {
  {GST_CCL_BLOB_FLAG_TOUCHES_LEFT, "left"},
  {GST_CCL_BLOB_FLAG_TOUCHES_TOP, "top"},
  {GST_CCL_BLOB_FLAG_TOUCHES_RIGHT, "right"},
  {GST_CCL_BLOB_FLAG_TOUCHES_BOTTOM, "bottom"},
};

static const FlagWord state_words[] = {
  {GST_CCL_BLOB_FLAG_TENTATIVE, "tentative"},
  {GST_CCL_BLOB_FLAG_CONFIRMED, "confirmed"},
  {GST_CCL_BLOB_FLAG_PREDICTED, "predicted"},
  {GST_CCL_BLOB_FLAG_LOST, "lost"},
  {GST_CCL_BLOB_FLAG_MERGED, "merged"},
  {GST_CCL_BLOB_FLAG_SPLIT, "split"},
};

static JsonArray *
box_array (const GstCclBlobMeta * meta, guint index, gboolean whole)
{
  gdouble box[4];
  JsonArray *array = json_array_sized_new (4);

  gst_ccl_blob_meta_get_box (meta, index, &box[0], &box[1], &box[2], &box[3]);
  for (guint i = 0; i < 4; i++)
    json_array_add_element (array, measure_node (box[i], whole));
  return array;
}

/* Names of the zones a blob is in. */
static JsonArray *
zone_names_array (const GstCclZoneMeta * zones, guint32 bits)
{
  JsonArray *array = json_array_new ();

  for (guint i = 0; i < zones->n_zones; i++)
    if (bits & (1u << i))
      json_array_add_element (array, string_node (zones->zones[i].name));
  return array;
}

/* What each zone has counted. */
static JsonArray *
zones_array (const GstCclZoneMeta * zones)
{
  JsonArray *array = json_array_sized_new (zones->n_zones);

  for (guint i = 0; i < zones->n_zones; i++) {
    const GstCclZone *zone = &zones->zones[i];
    JsonObject *object = json_object_new ();

    json_object_set_member (object, "name", string_node (zone->name));
    if (zone->kind == GST_CCL_ZONE_POLYGON)
      json_object_set_int_member (object, "inside", zone->n_inside);
    set_count (object, "forward", zone->n_forward);
    set_count (object, "backward", zone->n_backward);
    json_array_add_object_element (array, object);
  }
  return array;
}

/* [x, y] of each, less `shift`; nothing when there are none. Takes the values. */
static void
set_points (JsonObject * object, const gchar * name, gdouble * values, guint n_values, gdouble shift, gboolean whole)
{
  JsonArray *points = n_values > 0 ? json_array_sized_new (n_values / 2) : NULL;

  for (guint i = 0; i < n_values; i += 2) {
    JsonArray *const point = json_array_sized_new (2);

    json_array_add_element (point, measure_node (values[i] - shift, whole));
    json_array_add_element (point, measure_node (values[i + 1] - shift, whole));
    json_array_add_array_element (points, point);
  }
  if (points)
    json_object_set_array_member (object, name, points);
  g_free (values);
}

static JsonObject *
ccl_blob_object (const GstCclJsonFrame * frame, guint index, gboolean whole)
{
  const GstCclBlobMeta *meta = frame->blobs;
  const GstCclBlob *blob = gst_ccl_blob_meta_get_blob (meta, index);
  JsonObject *object = json_object_new ();
  gdouble *points;
  guint n_values;
  gdouble centroid[2], cov[3], axes[2], orientation;

  gst_ccl_blob_meta_get_centroid (meta, index, &centroid[0], &centroid[1]);
  gst_ccl_blob_meta_get_covariance (meta, index, &cov[0], &cov[1], &cov[2]);
  gst_ccl_blob_meta_get_axes (meta, index, &axes[0], &axes[1], &orientation);

  json_object_set_int_member (object, "label", blob->label);
  json_object_set_array_member (object, "bbox", box_array (meta, index, whole));
  json_object_set_member (object, "area", measure_node (gst_ccl_blob_meta_get_area (meta, index), whole));
  set_numbers (object, "centroid", centroid, 2);
  set_numbers (object, "cov", cov, 3);
  json_object_set_member (object, "orientation", number_node (orientation));
  set_numbers (object, "axes", axes, 2);
  set_flag_words (object, "border", blob->flags, border_words, G_N_ELEMENTS (border_words));
  set_id (object, "track", blob->track_id);
  set_id (object, "parent", blob->parent_id);
  set_id (object, "volume", blob->volume_id);
  set_flag_words (object, "state", blob->flags, state_words, G_N_ELEMENTS (state_words));
  if (frame->zones)
    json_object_set_array_member (object, "zones", zone_names_array (frame->zones, blob->zones));
  points = gst_ccl_blob_meta_get_contour (meta, index, &n_values);
  set_points (object, "polygon", points, n_values, 0, whole);
  if (frame->trails) {
    /* As the centroid: the centre of a pixel is a whole number. */
    points = gst_ccl_blob_meta_get_trail (meta, index, &n_values);
    set_points (object, "trail", points, n_values, 0.5, FALSE);
  }
  return object;
}

static JsonObject *
size_object (const gchar * width_name, guint width, const gchar * height_name, guint height)
{
  JsonObject *object = json_object_new ();

  json_object_set_int_member (object, width_name, width);
  json_object_set_int_member (object, height_name, height);
  return object;
}

static JsonObject *
ccl_object (const GstCclJsonFrame * frame)
{
  const GstCclBlobMeta *meta = frame->blobs;
  const gboolean whole = gst_ccl_blob_meta_is_identity (meta);
  const guint n_blobs = gst_ccl_blob_meta_get_length (meta);
  JsonObject *object = json_object_new ();
  JsonArray *blobs = json_array_sized_new (n_blobs);
  gchar *utc = gst_ccl_json_utc (frame->utc);

  for (guint i = 0; i < n_blobs; i++)
    json_array_add_object_element (blobs, ccl_blob_object (frame, i, whole));

  json_object_set_string_member (object, "schema", "ccl-blob-1");
  json_object_set_member (object, "source", string_node (frame->source));
  json_object_set_int_member (object, "seq", (gint64) frame->seq);
  json_object_set_member (object, "pts", time_node (frame->pts));
  json_object_set_member (object, "running_time", time_node (frame->running_time));
  json_object_set_member (object, "stream_time", time_node (frame->stream_time));
  json_object_set_member (object, "utc", string_node (utc));
  json_object_set_string_member (object, "time_source", frame->time_source);
  json_object_set_object_member (object, "frame", size_object ("w", meta->width, "h", meta->height));
  json_object_set_int_member (object, "total", meta->n_total);
  json_object_set_boolean_member (object, "truncated", (meta->flags & GST_CCL_BLOB_META_FLAG_TRUNCATED) != 0);
  json_object_set_array_member (object, "blobs", blobs);
  if (frame->zones)
    json_object_set_array_member (object, "zones", zones_array (frame->zones));
  g_free (utc);
  return object;
}

/* --- schema of DL Streamer's gvametaconvert --- */

/* The words for a blob of ours: pixels of a mask are certain. */
static GstCclJsonRegion
region_of_blob (const GstCclBlob * blob)
{
  return (GstCclJsonRegion) {
    .type = "blob",
    .id = blob->mtd_id != GST_CCL_MTD_ID_NONE ? blob->mtd_id : blob->label,
    .parent_id = -1,
    .label_id = 0,
    .confidence = 1.0,
  };
}

static JsonObject *
bounding_box_object (const GstCclBlobMeta * meta, const gdouble * box)
{
  /* Its readers expect numbers: pixels, where the caps have no size. */
  const gdouble width = MAX (meta->width, 1), height = MAX (meta->height, 1);
  JsonObject *object = json_object_new ();

  json_object_set_member (object, "x_min", number_node (box[0] / width));
  json_object_set_member (object, "x_max", number_node ((box[0] + box[2]) / width));
  json_object_set_member (object, "y_min", number_node (box[1] / height));
  json_object_set_member (object, "y_max", number_node ((box[1] + box[3]) / height));
  return object;
}

static JsonObject *
detection_object (const GstCclBlobMeta * meta, const gdouble * box, const GstCclJsonRegion * region)
{
  JsonObject *object = json_object_new ();

  json_object_set_object_member (object, "bounding_box", bounding_box_object (meta, box));
  if (region->confidence >= 0 && region->confidence <= 1)
    json_object_set_member (object, "confidence", number_node (region->confidence));
  json_object_set_member (object, "label", string_node (region->type ? region->type : ""));
  if (region->label_id >= 0)
    json_object_set_int_member (object, "label_id", region->label_id);
  return object;
}

static JsonObject *
dlstreamer_region_object (const GstCclBlobMeta * meta, guint index, const GstCclJsonRegion * region)
{
  const GstCclBlob *blob = gst_ccl_blob_meta_get_blob (meta, index);
  JsonObject *object = json_object_new ();
  gdouble box[4];

  gst_ccl_blob_meta_get_box (meta, index, &box[0], &box[1], &box[2], &box[3]);
  /* Whole pixels that still cover the box. */
  const gdouble x0 = floor (box[0]), y0 = floor (box[1]);
  const gdouble x1 = ceil (box[0] + box[2]), y1 = ceil (box[1] + box[3]);

  json_object_set_member (object, "x", measure_node (x0, TRUE));
  json_object_set_member (object, "y", measure_node (y0, TRUE));
  json_object_set_member (object, "w", measure_node (x1 - x0, TRUE));
  json_object_set_member (object, "h", measure_node (y1 - y0, TRUE));
  json_object_set_int_member (object, "region_id", region->id);
  if (region->parent_id >= 0)
    json_object_set_int_member (object, "parent_id", region->parent_id);
  set_id (object, "id", blob->track_id);
  json_object_set_member (object, "roi_type", string_node (region->type ? region->type : ""));
  json_object_set_object_member (object, "detection", detection_object (meta, box, region));
  return object;
}

static JsonArray *
dlstreamer_regions (const GstCclJsonFrame * frame, guint n_blobs)
{
  JsonArray *objects = json_array_sized_new (n_blobs);

  for (guint i = 0; i < n_blobs; i++) {
    const GstCclJsonRegion region =
        frame->regions ? frame->regions[i] : region_of_blob (gst_ccl_blob_meta_get_blob (frame->blobs, i));

    json_array_add_object_element (objects, dlstreamer_region_object (frame->blobs, i, &region));
  }
  return objects;
}

/* Its consumers expect a field that is unknown or empty to be absent. */
static JsonObject *
dlstreamer_object (const GstCclJsonFrame * frame)
{
  const GstCclBlobMeta *meta = frame->blobs;
  const guint n_blobs = gst_ccl_blob_meta_get_length (meta);
  JsonObject *object = json_object_new ();
  gchar *utc = gst_ccl_json_utc (frame->utc);

  if (n_blobs > 0)
    json_object_set_array_member (object, "objects", dlstreamer_regions (frame, n_blobs));
  json_object_set_object_member (object, "resolution", size_object ("width", meta->width, "height", meta->height));
  json_object_set_member (object, "source", string_node (frame->source));
  if (has_room (frame->stream_time))
    json_object_set_int_member (object, "timestamp", (gint64) frame->stream_time);
  if (utc)
    json_object_set_string_member (object, "system_timestamp", utc);
  g_free (utc);
  return object;
}

/* --- text --- */

/* Appends a number as json-glib printed it, valid and with no more than precision digits after the point. */
static void
append_number (GString * out, const gchar * text, gsize length, gint precision)
{
  const gboolean has_point = memchr (text, '.', length) != NULL;
  const gboolean has_exponent = memchr (text, 'e', length) != NULL;
  gchar digits[G_ASCII_DTOSTR_BUF_SIZE], format[8];
  gdouble value;

  if (has_exponent && length > 2 && memcmp (text + length - 2, ".0", 2) == 0)
    length -= 2;
  value = has_point && precision >= 0 ? g_ascii_strtod (text, NULL) : LARGEST_EXACT;
  if (fabs (value) >= LARGEST_EXACT) {
    g_string_append_len (out, text, length);
    return;
  }

  g_snprintf (format, sizeof format, "%%.%df", precision);
  g_ascii_formatd (digits, sizeof digits, format, value);
  if (strchr (digits, '.')) {
    gchar *end = digits + strlen (digits);

    while (end[-1] == '0')
      end--;
    if (end[-1] == '.')
      end--;
    *end = '\0';
  }
  g_string_append (out, strcmp (digits, "-0") == 0 ? "0" : digits);
}

/* The byte after the string that starts at the quotation mark p. */
static const gchar *
skip_string (const gchar * p, const gchar * end)
{
  for (p++; p < end && *p != '"'; p++) {
    if (*p == '\\')
      p++;
  }
  return MIN (p + 1, end);
}

static void
append_tidy (GString * out, const gchar * text, gsize length, gint precision)
{
  const gchar *end = text + length;
  const gchar *copied = text;   /* everything before is in out */
  const gchar *p = text;

  while (p < end) {
    if (*p == '"') {
      p = skip_string (p, end);
    } else if (g_ascii_isdigit (*p) || *p == '-') {
      const gsize n = strspn (p, "0123456789+-.eE");

      g_string_append_len (out, copied, p - copied);
      append_number (out, p, n, precision);
      p += n;
      copied = p;
    } else {
      p++;
    }
  }
  g_string_append_len (out, copied, end - copied);
}

/* Takes the object. */
static GString *
text_of_object (JsonObject * object, gint precision)
{
  JsonNode *root = json_node_init_object (json_node_alloc (), object);
  JsonGenerator *generator = json_generator_new ();
  GString *raw, *text;

  json_generator_set_root (generator, root);
  raw = json_generator_to_gstring (generator, g_string_sized_new (1024));
  /* The one control character that json-glib prints as it is. */
  g_string_replace (raw, "\x1f", "\\u001f", 0);
  text = g_string_sized_new (raw->len + 2);
  append_tidy (text, raw->str, raw->len, precision);

  g_string_free (raw, TRUE);
  g_object_unref (generator);
  json_node_unref (root);
  json_object_unref (object);
  return text;
}

#define NO_CODE G_MAXUINT32

/* XXXX of an escape \uXXXX; NO_CODE when there is none at p. */
static guint32
code_of_escape (const gchar * p)
{
  guint32 code = 0;

  if (p[0] != '\\' || p[1] != 'u')
    return NO_CODE;
  for (guint i = 2; i < 6; i++) {
    if (!g_ascii_isxdigit (p[i]))
      return NO_CODE;
    code = code << 4 | (guint32) g_ascii_xdigit_value (p[i]);
  }
  return code;
}

static const gchar *
refuse (GError ** error, const gchar * format, ...)
{
  va_list args;

  va_start (args, format);
  if (error)
    *error = g_error_new_valist (JSON_PARSER_ERROR, JSON_PARSER_ERROR_INVALID_DATA, format, args);
  va_end (args);
  return NULL;
}

/* The check_ functions return what is behind, NULL when they refuse something. */

/* The string from p to end, without its quotation marks: json-glib cuts it at U+0000, 1.6 writes half a pair of surrogates as
 * bytes that are not UTF-8, and takes what follows a backslash, even a quotation mark, for part of any escape. */
static const gchar *
check_string (const gchar * p, const gchar * end, GError ** error)
{
  while (p < end) {
    const guint32 code = code_of_escape (p);
    const gboolean is_surrogate = code >= 0xd800 && code < 0xe000;

    if ((guchar) *p < ' ')
      return refuse (error, "a string has a control character in it, such as a line break");
    if (*p == '\\' && (p[1] == 'u' ? code == NO_CODE : !strchr ("\"\\/bfnrt", p[1])))
      return refuse (error, "a string has a backslash in it with which no escape begins");
    if (code == 0)
      return refuse (error, "a string has \\u0000 in it");
    if (is_surrogate && (code >= 0xdc00 || code_of_escape (p + 6) - 0xdc00 >= 0x400))
      return refuse (error, "a string has \\u%04x in it, half a pair of surrogates", code);
    p += is_surrogate ? 12 : *p == '\\' ? 2 : 1;
  }
  return end + 1;
}

/* The number from p to end: json-glib reads what is too large as infinity or as another number, one that begins with 0 as octal,
 * and leaves some signs and points to chance. */
static const gchar *
check_number (const gchar * p, const gchar * end, GError ** error)
{
  const gboolean is_negative = *p == '-';
  const gchar *const digits = p + is_negative;
  const gchar *rest = digits + strspn (digits, "0123456789");
  const gboolean is_whole = rest == end;

  if (rest == digits || (*digits == '0' && rest > digits + 1))
    return refuse (error, "a number has no digit in front, or a 0 before others");
  if (*rest == '.') {
    const gsize n = strspn (rest + 1, "0123456789");

    if (n == 0)
      return refuse (error, "a number has no digit behind its point");
    rest += 1 + n;
  }
  if (*rest == 'e' || *rest == 'E') {
    rest += 1 + (rest[1] == '+' || rest[1] == '-');
    rest += strspn (rest, "0123456789");
  }
  if (rest < end || !g_ascii_isdigit (rest[-1]) || g_ascii_isalpha (*rest))
    return refuse (error, "%.*s is no number", (gint) MIN (end - p + g_ascii_isalpha (*end), 40), p);
  if (is_whole ? g_ascii_strtoull (digits, NULL, 10) <= (guint64) G_MAXINT64 + is_negative
      : isfinite (g_ascii_strtod (p, NULL)))
    return end;
  return refuse (error, "the number %.*s is too large", (gint) MIN (end - p, 40), p);
}

/* What begins at p and is no space. */
static const gchar *
check_token (const gchar * p, const gchar * end, guint * depth, GError ** error)
{
  if (*p == '"')
    return check_string (p + 1, skip_string (p, end) - 1, error);
  if (g_ascii_isdigit (*p) || strchr ("+-.", *p))
    return check_number (p, p + strspn (p, "0123456789eE+-."), error);
  if (*p == '[' || *p == '{') {
    if (++*depth > DEPTH_MAX)
      return refuse (error, "nested deeper than %u levels", DEPTH_MAX);
  } else if (*p == ']' || *p == '}') {
    --*depth;
  } else if (g_ascii_ispunct (*p) && !strchr (":,", *p)) {
    return refuse (error, "JSON has %c in strings only", *p);
  }
  return p + 1;
}

/* json-glib takes more than JSON: comments, strings between single quotation marks, numbers to other bases, several values one
 * behind the other. So none of that is let through, and what is left can be read here as it will be there. */
gboolean
gst_ccl_json_check (const gchar * text, GError ** error)
{
  const gchar *const end = text + strlen (text);
  gboolean has_begun = FALSE;
  guint depth = 0, line = 1;

  for (const gchar * p = text; p < end;) {
    if (g_ascii_isspace (*p)) {
      line += *p++ == '\n';
      continue;
    }
    if (depth > 0 || (!has_begun && *p == '{'))
      p = check_token (p, end, &depth, error);
    else
      p = refuse (error, has_begun ? "something follows after its end" : "not an object, in curly brackets");
    has_begun = TRUE;
    if (!p) {
      g_prefix_error (error, "line %u: ", line);
      return FALSE;
    }
  }
  return TRUE;
}

gchar *
gst_ccl_json_tags (const gchar * text, GError ** error)
{
  JsonParser *parser = json_parser_new ();
  gchar *line = NULL;

  if (gst_ccl_json_check (text, error) && json_parser_load_from_data (parser, text, -1, error)) {
    JsonNode *root = json_parser_get_root (parser);

    if (root && JSON_NODE_HOLDS_OBJECT (root))
      line = g_string_free (text_of_object (json_node_dup_object (root), -1), FALSE);
    else
      g_set_error (error, JSON_PARSER_ERROR, JSON_PARSER_ERROR_PARSE, "not a JSON object, such as {\"site\":\"A\"}");
  }
  g_object_unref (parser);
  return line;
}

GString *
gst_ccl_json_line (const GstCclJsonFrame * frame, GstCclJsonSchema schema, gint precision)
{
  const gboolean ccl = schema == GST_CCL_JSON_SCHEMA_CCL;
  GString *line = text_of_object (ccl ? ccl_object (frame) : dlstreamer_object (frame), precision);

  /* The user's own object goes in as it is: precision is not for its numbers. */
  if (frame->tags) {
    g_string_truncate (line, line->len - 1);
    g_string_append (line, ",\"tags\":");
    g_string_append (line, frame->tags);
    g_string_append_c (line, '}');
  }
  g_string_append_c (line, '\n');
  return line;
}
