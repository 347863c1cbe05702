/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "gstccltopic.h"

#include <string.h>

#include <json-glib/json-glib.h>

static gchar *
source_of (const gchar * text, gsize size)
{
  JsonParser *parser = json_parser_new_immutable ();
  gchar *source = NULL;

  if (json_parser_load_from_data (parser, text, (gssize) size, NULL)) {
    JsonNode *root = json_parser_get_root (parser);
    if (root && JSON_NODE_HOLDS_OBJECT (root)) {
      JsonNode *node = json_object_get_member (json_node_get_object (root), "source");
      if (node && JSON_NODE_HOLDS_VALUE (node) && json_node_get_value_type (node) == G_TYPE_STRING)
        source = json_node_dup_string (node);
    }
  }
  g_object_unref (parser);
  if (!source || !*source) {
    g_free (source);
    return g_strdup ("unknown");
  }
  return g_strdelimit (source, "/+#", '_');
}

gchar *
gst_ccl_topic_expand (const gchar * pattern, const gchar * text, gsize size)
{
  gchar **parts, *source, *topic;

  if (!strstr (pattern, GST_CCL_TOPIC_SOURCE))
    return g_strdup (pattern);
  source = source_of (text, size);
  parts = g_strsplit (pattern, GST_CCL_TOPIC_SOURCE, -1);
  topic = g_strjoinv (source, parts);
  g_strfreev (parts);
  g_free (source);
  return topic;
}
