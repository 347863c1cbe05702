/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "gstccltopic.h"

#include <string.h>

#include "delivery/gstcclcborsource.h"
#include "json/gstccljsoncheck.h"

/* Bytes of a topic, by the MQTT standard. */
#define MAX_TOPIC 65535

/* The member "source" of an object; NULL: it is no string. */
static gchar *
read_source (const gchar * text)
{
  JsonNode *const root = gst_ccl_json_parse (text, NULL);
  JsonNode *const node = root ? json_object_get_member (json_node_get_object (root), "source") : NULL;
  const gchar *const source = node && JSON_NODE_HOLDS_VALUE (node) && json_node_get_value_type (node) == G_TYPE_STRING
      ? json_node_get_string (node) : NULL;
  gchar *const copy = g_strdup (source);

  if (root)
    json_node_unref (root);
  return copy;
}

/* The text with a terminating zero; NULL: no memory, or the text contains a zero. */
static gchar *
terminate (const gchar * text, gsize size)
{
  gchar *const copy = size > 0 && !memchr (text, 0, size) ? g_try_malloc (size + 1) : NULL;

  if (copy) {
    memcpy (copy, text, size);
    copy[size] = '\0';
  }
  return copy;
}

gchar *
gst_ccl_topic_source (const gchar * text, gsize size)
{
  gchar *terminated = NULL, *source = NULL;

  if (gst_ccl_is_cbor (text, size))
    source = gst_ccl_cbor_source (text, size);
  else if ((terminated = terminate (text, size)))
    source = read_source (terminated);
  g_free (terminated);
  if (!source || !*source || strlen (source) > MAX_TOPIC) {
    g_free (source);
    return g_strdup ("unknown");
  }
  return source;
}

gboolean
gst_ccl_topic_has_source (const gchar * pattern)
{
  return strstr (pattern, GST_CCL_TOPIC_SOURCE) != NULL;
}

gchar *
gst_ccl_topic_insert (const gchar * pattern, const gchar * source)
{
  gchar *const level = g_strdelimit (g_strdup (source), "/+#", '_');
  gchar **const parts = g_strsplit (pattern, GST_CCL_TOPIC_SOURCE, -1);
  gchar *const topic = g_strjoinv (level, parts);

  g_strfreev (parts);
  g_free (level);
  return topic;
}

gchar *
gst_ccl_topic_expand (const gchar * pattern, const gchar * text, gsize size)
{
  gchar *const source = gst_ccl_topic_has_source (pattern) ? gst_ccl_topic_source (text, size) : NULL;
  gchar *const topic = source ? gst_ccl_topic_insert (pattern, source) : g_strdup (pattern);

  g_free (source);
  return topic;
}
