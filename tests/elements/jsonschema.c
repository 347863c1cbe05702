/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* JSON Schema, as much of it as docs/ uses. */

#include "jsonschema.h"

#include <gst/check/gstcheck.h>

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

gchar *
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

void
assert_schema (const gchar * name, JsonNode * node)
{
  gchar *complaint = schema_check (name, node);

  fail_unless (complaint == NULL, "%s: %s", name, complaint);
}
