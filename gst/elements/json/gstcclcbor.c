/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "gstcclcbor.h"

#include <string.h>

#include <cbor/encoding.h>

/* The longest head of an item: one byte and a 64-bit number. */
#define MAX_HEAD 9

static void append_node (GString * out, JsonNode * node);

static void
append_head (GString * out, const guchar * head, gsize size)
{
  g_string_append_len (out, (const gchar *) head, (gssize) size);
}

static void
append_integer (GString * out, gint64 value)
{
  guchar head[MAX_HEAD];

  append_head (out, head, value >= 0 ? cbor_encode_uint ((guint64) value, head, sizeof head)
      : cbor_encode_negint ((guint64) - (value + 1), head, sizeof head));
}

static guint64
get_bits (gdouble value)
{
  guint64 bits;

  memcpy (&bits, &value, sizeof bits);
  return bits;
}

/* A single takes half the space, and many measures fit one: sizes, angles of 0, means of few pixels. Bits are compared, because
 * a library in the process may let the processor treat very small numbers as 0. */
static void
append_double (GString * out, gdouble value)
{
  const gfloat single = (gfloat) value;
  guchar head[MAX_HEAD];

  append_head (out, head, get_bits ((gdouble) single) == get_bits (value) ? cbor_encode_single (single, head,
          sizeof head)
      : cbor_encode_double (value, head, sizeof head));
}

static void
append_string (GString * out, const gchar * text)
{
  const gsize length = strlen (text);
  guchar head[MAX_HEAD];

  append_head (out, head, cbor_encode_string_start (length, head, sizeof head));
  g_string_append_len (out, text, (gssize) length);
}

static void
append_array (GString * out, JsonArray * array)
{
  const guint n = json_array_get_length (array);
  guchar head[MAX_HEAD];

  append_head (out, head, cbor_encode_array_start (n, head, sizeof head));
  for (guint i = 0; i < n; i++)
    append_node (out, json_array_get_element (array, i));
}

static void
append_object (GString * out, JsonObject * object)
{
  guchar head[MAX_HEAD];
  JsonObjectIter iter;
  const gchar *name;
  JsonNode *value;

  append_head (out, head, cbor_encode_map_start (json_object_get_size (object), head, sizeof head));
  json_object_iter_init_ordered (&iter, object);
  while (json_object_iter_next_ordered (&iter, &name, &value)) {
    append_string (out, name);
    append_node (out, value);
  }
}

static void
append_value (GString * out, JsonNode * node)
{
  guchar head[MAX_HEAD];

  switch (json_node_get_value_type (node)) {
    case G_TYPE_STRING:
      append_string (out, json_node_get_string (node));
      break;
    case G_TYPE_DOUBLE:
      append_double (out, json_node_get_double (node));
      break;
    case G_TYPE_BOOLEAN:
      append_head (out, head, cbor_encode_bool (json_node_get_boolean (node), head, sizeof head));
      break;
    default:
      append_integer (out, json_node_get_int (node));
      break;
  }
}

static void
append_node (GString * out, JsonNode * node)
{
  guchar head[MAX_HEAD];

  switch (json_node_get_node_type (node)) {
    case JSON_NODE_OBJECT:
      append_object (out, json_node_get_object (node));
      break;
    case JSON_NODE_ARRAY:
      append_array (out, json_node_get_array (node));
      break;
    case JSON_NODE_VALUE:
      append_value (out, node);
      break;
    default:
      append_head (out, head, cbor_encode_null (head, sizeof head));
      break;
  }
}

GString *
gst_ccl_cbor_encode (JsonObject * object)
{
  GString *const out = g_string_sized_new (1024);

  append_object (out, object);
  return out;
}
