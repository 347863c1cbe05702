/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "gstccljsonevents.h"

#include "gstccljsonschemas.h"
#include "gstccljsonvalues.h"

/* Each is left out of an event that does not have it. */
static const struct
{
  const gchar *field;           /* of the structure */
  const gchar *name;
} members[] = {
  {"element", "element"},
  {"event", "event"},
  {"zone", "zone"},
  {"direction", "direction"},
  {"track-id", "track"},
  {"inside", "inside"},
  {"x", "x"},
  {"y", "y"},
  {"duration", "duration"},
  {"n-foreground", "n_foreground"},
  {"area-ratio", "area_ratio"},
  {"global-change", "global_change"},
};

static JsonNode *
new_node (const GValue * value)
{
  switch (G_VALUE_TYPE (value)) {
    case G_TYPE_STRING:
      return gst_ccl_json_new_string (g_value_get_string (value));
    case G_TYPE_UINT64:
      return gst_ccl_json_new_time (g_value_get_uint64 (value));
    case G_TYPE_UINT:
      return gst_ccl_json_new_time (g_value_get_uint (value));
    case G_TYPE_DOUBLE:
      return gst_ccl_json_new_number (g_value_get_double (value));
    case G_TYPE_BOOLEAN:
      return json_node_init_boolean (json_node_alloc (), g_value_get_boolean (value));
    default:
      return NULL;
  }
}

GString *
gst_ccl_json_event_line (const GstCclJsonFrame * frame, const GstStructure * event, GstCclJsonFormat format)
{
  JsonObject *const object = json_object_new ();

  gst_ccl_json_set_envelope (object, frame, "ccl-event-1");
  for (guint i = 0; i < G_N_ELEMENTS (members); i++) {
    const GValue *const value = gst_structure_get_value (event, members[i].field);
    JsonNode *const node = value ? new_node (value) : NULL;

    if (node)
      json_object_set_member (object, members[i].name, node);
  }
  return gst_ccl_json_finish_line (object, frame, format);
}
