/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "cborjson.h"

#include <string.h>

#include <cbor.h>
#include <gst/check/gstcheck.h>

static void assert_same (const cbor_item_t * item, JsonNode * expected);

static void
assert_text (const cbor_item_t * item, const gchar * expected)
{
  fail_unless (cbor_isa_string (item) && cbor_string_is_definite (item));
  fail_unless_equals_int (cbor_string_length (item), strlen (expected));
  fail_if (memcmp (cbor_string_handle (item), expected, strlen (expected)), "not \"%s\"", expected);
}

static void
assert_value (const cbor_item_t * item, JsonNode * expected)
{
  const gint64 integer = json_node_get_int (expected);
  gdouble real;

  switch (json_node_get_value_type (expected)) {
    case G_TYPE_STRING:
      assert_text (item, json_node_get_string (expected));
      break;
    case G_TYPE_BOOLEAN:
      fail_unless (cbor_is_bool (item));
      fail_unless_equals_int (cbor_get_bool (item), json_node_get_boolean (expected));
      break;
    case G_TYPE_DOUBLE:
      fail_unless (cbor_isa_float_ctrl (item) && !cbor_float_ctrl_is_ctrl (item));
      real = cbor_float_get_float (item);
      fail_if (memcmp (&real, (gdouble[]) {
              json_node_get_double (expected)}
              , sizeof real), "%g is not %g", real, json_node_get_double (expected));
      break;
    default:
      fail_unless (integer < 0 ? cbor_isa_negint (item) : cbor_isa_uint (item));
      fail_unless_equals_uint64 (cbor_get_int (item), (guint64) (integer < 0 ? -(integer + 1) : integer));
      break;
  }
}

static void
assert_map (const cbor_item_t * item, JsonObject * expected, gboolean any_seq)
{
  JsonObjectIter iter;
  JsonNode *node;
  const gchar *name;

  fail_unless (cbor_isa_map (item) && cbor_map_is_definite (item));
  fail_unless_equals_int (cbor_map_size (item), json_object_get_size (expected));
  json_object_iter_init_ordered (&iter, expected);
  for (const struct cbor_pair * pair = cbor_map_handle (item); json_object_iter_next_ordered (&iter, &name, &node);
      pair++) {
    assert_text (pair->key, name);
    if (!any_seq || strcmp (name, "seq"))
      assert_same (pair->value, node);
  }
}

static void
assert_same (const cbor_item_t * item, JsonNode * expected)
{
  JsonArray *array;

  switch (json_node_get_node_type (expected)) {
    case JSON_NODE_OBJECT:
      assert_map (item, json_node_get_object (expected), FALSE);
      break;
    case JSON_NODE_ARRAY:
      array = json_node_get_array (expected);
      fail_unless (cbor_isa_array (item) && cbor_array_is_definite (item));
      fail_unless_equals_int (cbor_array_size (item), json_array_get_length (array));
      for (guint i = 0; i < json_array_get_length (array); i++)
        assert_same (cbor_array_handle (item)[i], json_array_get_element (array, i));
      break;
    case JSON_NODE_VALUE:
      assert_value (item, expected);
      break;
    default:
      fail_unless (cbor_is_null (item));
      break;
  }
}

void
assert_cbor (GstBuffer * buffer, JsonNode * expected)
{
  struct cbor_load_result result;
  cbor_item_t *item;
  GstMapInfo map;

  fail_unless (gst_buffer_map (buffer, &map, GST_MAP_READ));
  item = cbor_load (map.data, map.size, &result);
  fail_unless (item != NULL && result.error.code == CBOR_ERR_NONE);
  fail_unless_equals_int (result.read, map.size);
  assert_map (item, json_node_get_object (expected), TRUE);
  cbor_decref (&item);
  gst_buffer_unmap (buffer, &map);
  gst_buffer_unref (buffer);
}
