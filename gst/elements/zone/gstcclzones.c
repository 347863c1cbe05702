/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "gstcclzones.h"
#include "analysis/zone.h"
#include "json/gstccljsoncheck.h"

#include <json-glib/json-glib.h>
#include <math.h>
#include <string.h>

/* Which zone of the text is read, for messages. */
typedef struct
{
  guint index;
  const gchar *name;            /* NULL until known */
} Place;

static gboolean
fail (GError ** error, const Place * place, const gchar * format, ...)
{
  va_list args;
  gchar *what, *where;

  va_start (args, format);
  what = g_strdup_vprintf (format, args);
  va_end (args);
  where = !place ? g_strdup ("") : place->name ? g_strdup_printf ("zones[%u] \"%s\": ", place->index, place->name)
      : g_strdup_printf ("zones[%u]: ", place->index);
  g_set_error (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_SETTINGS, "%s%s", where, what);
  g_free (where);
  g_free (what);
  return FALSE;
}

/* A misspelt member is an error, because it would have no effect. */
static gboolean
check_members (JsonObject * object, const gchar * const *known, const Place * place, GError ** error)
{
  GList *names = json_object_get_members (object);
  gboolean ok = TRUE;

  for (GList * name = names; name && ok; name = name->next)
    if (!g_strv_contains (known, name->data)) {
      gchar *list = g_strjoinv (", ", (gchar **) known);

      ok = fail (error, place, "there is no member \"%s\"; there are: %s", (gchar *) name->data, list);
      g_free (list);
    }
  g_list_free (names);
  return ok;
}

static gboolean
get_number (JsonNode * node, gdouble * value)
{
  if (!node || !JSON_NODE_HOLDS_VALUE (node)
      || (json_node_get_value_type (node) != G_TYPE_DOUBLE && json_node_get_value_type (node) != G_TYPE_INT64))
    return FALSE;
  *value = json_node_get_double (node);
  return isfinite (*value);
}

/* Reads a number from 0 to 1e9. `value` stays as it is if the object has no such member. */
static gboolean
read_amount (JsonObject * object, const gchar * member, gdouble * value, const Place * place, GError ** error)
{
  if (!json_object_has_member (object, member))
    return TRUE;
  if (get_number (json_object_get_member (object, member), value) && *value >= 0 && *value <= 1e9)
    return TRUE;
  return fail (error, place, "%s is not a number from 0 to 1e9", member);
}

/* A whole number, or a list of them. */
static gboolean
read_classes (JsonObject * object, GstCclZoneRule * rule, const Place * place, GError ** error)
{
  JsonNode *const node = json_object_get_member (object, "class");
  JsonArray *const array = node && JSON_NODE_HOLDS_ARRAY (node) ? json_node_get_array (node) : NULL;
  const guint n = !node ? 0 : array ? json_array_get_length (array) : 1;

  if (array && (n == 0 || n > GST_CCL_ZONE_CLASSES_MAX))
    return fail (error, place, "class has %u numbers; it takes 1 to %u", n, GST_CCL_ZONE_CLASSES_MAX);
  for (guint i = 0; i < n; i++) {
    gdouble value;

    if (!get_number (array ? json_array_get_element (array, i) : node, &value) || value < 0 || value > G_MAXUINT16
        || value != floor (value))
      return fail (error, place, "class is not a whole number from 0 to 65535, or a list of them");
    rule->classes[i] = value;
  }
  rule->n_classes = n;
  return TRUE;
}

static gboolean
read_point (JsonArray * array, guint index, gdouble * point, const gchar * member, const Place * place, GError ** error)
{
  JsonNode *const node = json_array_get_element (array, index);
  JsonArray *const pair = JSON_NODE_HOLDS_ARRAY (node) ? json_node_get_array (node) : NULL;

  if (pair && json_array_get_length (pair) == 2 && get_number (json_array_get_element (pair, 0), &point[0])
      && get_number (json_array_get_element (pair, 1), &point[1]))
    return TRUE;
  return fail (error, place, "point %u of %s is not [x, y]", index, member);
}

/* A polygon crosses itself if its corners are not in the order round it: a part of it would be outside. */
static gboolean
check_outline (const gdouble * points, guint n, const Place * place, GError ** error)
{
  guint edges[2];

  if (!ccl_polygon_crosses_itself (points, n, edges))
    return TRUE;
  return fail (error, place, "polygon crosses itself: from point %u to %u, and from %u to %u", edges[0], edges[0] + 1,
      edges[1], (edges[1] + 1) % n);
}

static gboolean
check_shape (const GstCclZoneRule * rule, const Place * place, GError ** error)
{
  const gdouble *const p = rule->points;

  if (rule->kind == GST_CCL_ZONE_LINE && p[0] == p[2] && p[1] == p[3])
    return fail (error, place, "both points of line are the same");
  if (rule->kind == GST_CCL_ZONE_POLYGON && !check_outline (p, rule->n_points, place, error))
    return FALSE;
  if (rule->kind == GST_CCL_ZONE_POLYGON && ccl_polygon_area (p, rule->n_points) == 0)
    return fail (error, place, "polygon has no area");
  return TRUE;
}

/* With the wrong units no object is ever in the zone. */
static gboolean
check_units (const GstCclZoneRule * rule, gboolean relative, const Place * place, GError ** error)
{
  gdouble min = G_MAXDOUBLE, max = -G_MAXDOUBLE;

  for (guint i = 0; i < 2 * rule->n_points; i++) {
    min = MIN (min, rule->points[i]);
    max = MAX (max, rule->points[i]);
  }
  if (!relative && min >= 0 && max <= 1)
    return fail (error, place, "all of it is in one pixel; fractions of the frame take \"units\":\"relative\"");
  if (relative && (min < -10 || max > 10))
    return fail (error, place, "%g is no fraction of the frame; pixels take \"units\":\"pixels\"",
        max > 10 ? max : min);
  return TRUE;
}

/* A circle is a polygon of the same area. */
void
gst_ccl_zone_rule_get_point (const GstCclZoneRule * rule, gboolean relative, gdouble aspect, guint i, gdouble point[2])
{
  const gdouble step = 2 * G_PI / GST_CCL_CIRCLE_POINTS;
  const gdouble radius = rule->circle[2] * sqrt (step / sin (step));

  if (rule->circle[2] > 0) {
    point[0] = rule->circle[0] + radius * cos (i * step) * (relative ? aspect : 1);
    point[1] = rule->circle[1] + radius * sin (i * step);
  } else {
    point[0] = rule->points[2 * i];
    point[1] = rule->points[2 * i + 1];
  }
}

static gboolean
read_circle (JsonNode * node, GstCclZoneRule * rule, const Place * place, GError ** error)
{
  JsonArray *const array = JSON_NODE_HOLDS_ARRAY (node) ? json_node_get_array (node) : NULL;

  for (guint i = 0; i < 3; i++)
    if (!array || json_array_get_length (array) != 3 || !get_number (json_array_get_element (array, i), &rule->circle[i]))
      return fail (error, place, "circle is not [x, y, radius]");
  if (rule->circle[2] <= 0)
    return fail (error, place, "the radius of circle is %g; it takes more than 0", rule->circle[2]);
  rule->kind = GST_CCL_ZONE_POLYGON;
  rule->n_points = GST_CCL_CIRCLE_POINTS;
  rule->points = g_new (gdouble, 2 * rule->n_points);
  for (guint i = 0; i < rule->n_points; i++)
    gst_ccl_zone_rule_get_point (rule, FALSE, 1, i, &rule->points[2 * i]);
  return TRUE;
}

/* Two points that are not the same: from the first towards the second. */
static gboolean
read_direction (JsonObject * object, GstCclZoneRule * rule, const Place * place, GError ** error)
{
  gdouble *const d = rule->direction;
  JsonNode *const node = json_object_get_member (object, "direction");
  JsonArray *const array = node && JSON_NODE_HOLDS_ARRAY (node) ? json_node_get_array (node) : NULL;

  if (!node)
    return TRUE;
  if (rule->kind == GST_CCL_ZONE_LINE)
    return fail (error, place, "the direction of a line follows from its points");
  if (!array || json_array_get_length (array) != 2)
    return fail (error, place, "direction is not [[x, y], [x, y]]");
  for (guint i = 0; i < 2; i++)
    if (!read_point (array, i, &d[2 * i], "direction", place, error))
      return FALSE;
  return (d[0] != d[2] || d[1] != d[3]) || fail (error, place, "both points of direction are the same");
}

/* Of polygon, line and circle exactly one. */
static gboolean
has_one_shape (JsonObject * object)
{
  return json_object_has_member (object, "line") + json_object_has_member (object, "polygon")
      + json_object_has_member (object, "circle") == 1;
}

static gboolean
read_points (JsonObject * object, GstCclZoneRule * rule, const Place * place, GError ** error)
{
  const gboolean is_line = json_object_has_member (object, "line");
  const gchar *const member = is_line ? "line" : "polygon";
  JsonNode *const node = json_object_get_member (object, member);
  JsonArray *array;
  guint n;

  if (!has_one_shape (object))
    return fail (error, place, "needs a polygon or a line [[x, y], [x, y], ...], or a circle [x, y, radius]");
  if (json_object_has_member (object, "circle"))
    return read_circle (json_object_get_member (object, "circle"), rule, place, error);
  if (!JSON_NODE_HOLDS_ARRAY (node))
    return fail (error, place, "%s is not a list of points [[x, y], ...]", member);
  array = json_node_get_array (node);
  n = json_array_get_length (array);
  if (is_line ? n != 2 : n < 3 || n > GST_CCL_ZONE_POINTS_MAX)
    return fail (error, place, "%s has %u points; it takes %s", member, n, is_line ? "2" : "3 to 256");

  rule->kind = is_line ? GST_CCL_ZONE_LINE : GST_CCL_ZONE_POLYGON;
  rule->n_points = n;
  rule->points = g_new (gdouble, 2 * n);
  for (guint i = 0; i < n; i++)
    if (!read_point (array, i, &rule->points[2 * i], member, place, error))
      return FALSE;
  return check_shape (rule, place, error);
}

static gboolean
read_name (JsonObject * object, GstCclZoneRule * rule, const GstCclZoneSet * set, Place * place, GError ** error)
{
  JsonNode *const node = json_object_get_member (object, "name");
  const gchar *const name =
      node && JSON_NODE_HOLDS_VALUE (node) && json_node_get_value_type (node) == G_TYPE_STRING
      ? json_node_get_string (node) : NULL;

  if (!name || !*name)
    return fail (error, place, "needs a name");
  for (const GstCclZoneRule * other = set->rules; other < rule; other++)
    if (strcmp (other->name, name) == 0)
      return fail (error, place, "the name \"%s\" is taken already", name);
  rule->name = g_strdup (name);
  place->name = rule->name;
  return TRUE;
}

static gboolean
read_rule (JsonNode * node, GstCclZoneRule * rule, const GstCclZoneSet * set, guint index, GError ** error)
{
  static const gchar *const known[] = { "name", "polygon", "line", "circle", "min_area", "class", "dwell", "min_time",
    "direction", NULL
  };
  Place place = {.index = index };
  JsonObject *object;
  gdouble dwell = -1, min_time = 0;

  if (!JSON_NODE_HOLDS_OBJECT (node))
    return fail (error, &place, "is not an object {\"name\": ..., \"polygon\": ...}");
  object = json_node_get_object (node);
  if (!read_name (object, rule, set, &place, error) || !check_members (object, known, &place, error)
      || !read_points (object, rule, &place, error) || !check_units (rule, set->relative, &place, error)
      || !read_amount (object, "min_area", &rule->min_area, &place, error)
      || !read_classes (object, rule, &place, error)
      || !read_amount (object, "dwell", &dwell, &place, error) || !read_amount (object, "min_time", &min_time, &place, error)
      || !read_direction (object, rule, &place, error))
    return FALSE;
  if (dwell >= 0 && rule->kind == GST_CCL_ZONE_LINE)
    return fail (error, &place, "nobody dwells on a line");
  rule->min_time = (GstClockTime) (min_time * GST_SECOND);
  rule->dwell = dwell < 0 ? GST_CLOCK_TIME_NONE : (GstClockTime) (dwell * GST_SECOND);
  return TRUE;
}

static gboolean
read_units (JsonObject * object, GstCclZoneSet * set, GError ** error)
{
  JsonNode *const node = json_object_get_member (object, "units");
  const gchar *units = "pixels";

  if (node && JSON_NODE_HOLDS_VALUE (node) && json_node_get_value_type (node) == G_TYPE_STRING)
    units = json_node_get_string (node);
  else if (node)
    units = "";
  set->relative = strcmp (units, "relative") == 0;
  if (!set->relative && strcmp (units, "pixels") != 0)
    return fail (error, NULL, "units are \"pixels\" or \"relative\" (0 to 1)");
  return TRUE;
}

static gboolean
read_set (JsonNode * root, GstCclZoneSet * set, GError ** error)
{
  static const gchar *const known[] = { "units", "zones", NULL };
  JsonObject *object;
  JsonNode *zones;
  guint n;

  if (!root || !JSON_NODE_HOLDS_OBJECT (root))
    return fail (error, NULL, "not an object {\"zones\": [...]}");
  object = json_node_get_object (root);
  if (!check_members (object, known, NULL, error) || !read_units (object, set, error))
    return FALSE;
  zones = json_object_get_member (object, "zones");
  if (!zones || !JSON_NODE_HOLDS_ARRAY (zones))
    return fail (error, NULL, "zones is missing, or not a list");
  n = json_array_get_length (json_node_get_array (zones));
  if (n > GST_CCL_MAX_ZONES)
    return fail (error, NULL, "%u zones; at most %u are possible", n, GST_CCL_MAX_ZONES);

  set->rules = g_new0 (GstCclZoneRule, n);
  for (guint i = 0; i < n; i++) {
    set->n_rules = i + 1;
    if (!read_rule (json_array_get_element (json_node_get_array (zones), i), &set->rules[i], set, i, error))
      return FALSE;
  }
  return TRUE;
}

static GstCclZoneSet *
set_of_parser (JsonParser * parser, GError ** error)
{
  GstCclZoneSet *set = g_new0 (GstCclZoneSet, 1);

  if (!read_set (json_parser_get_root (parser), set, error))
    g_clear_pointer (&set, gst_ccl_zone_set_free);
  return set;
}

/* The parser keeps the last of members with the same name, so repeated names are noted. */
typedef struct
{
  GHashTable *members;          /* "object member" */
  gchar *repeated;              /* the first name that was repeated */
} Seen;

static void
note_member (JsonParser * parser, JsonObject * object, const gchar * name, Seen * seen)
{
  if (!g_hash_table_add (seen->members, g_strdup_printf ("%p %s", (gpointer) object, name)) && !seen->repeated)
    seen->repeated = g_strdup (name);
}

GstCclZoneSet *
gst_ccl_zone_set_new (const gchar * text, GError ** error)
{
  JsonParser *parser = json_parser_new ();
  Seen seen = {.members = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL) };
  GstCclZoneSet *set = NULL;

  g_signal_connect (parser, "object-member", G_CALLBACK (note_member), &seen);
  if (gst_ccl_json_check (text, error) && json_parser_load_from_data (parser, text, -1, error)) {
    if (seen.repeated)
      fail (error, NULL, "an object has the member \"%s\" more than once", seen.repeated);
    else
      set = set_of_parser (parser, error);
  }
  g_hash_table_unref (seen.members);
  g_free (seen.repeated);
  g_object_unref (parser);
  return set;
}

GstCclZoneSet *
gst_ccl_zone_set_new_from_file (const gchar * path, GError ** error)
{
  GstCclZoneSet *set = NULL;
  gchar *text;

  if (!g_file_get_contents (path, &text, NULL, error))
    return NULL;
  set = gst_ccl_zone_set_new (text, error);
  if (!set)
    g_prefix_error (error, "%s: ", path);
  g_free (text);
  return set;
}

void
gst_ccl_zone_set_free (GstCclZoneSet * set)
{
  for (guint i = 0; i < set->n_rules; i++) {
    g_free (set->rules[i].name);
    g_free (set->rules[i].points);
  }
  g_free (set->rules);
  g_free (set);
}
