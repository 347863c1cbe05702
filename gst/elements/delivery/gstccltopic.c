/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "gstccltopic.h"

#include <string.h>

#include "delivery/gstcclline.h"

gchar *
gst_ccl_topic_source (const gchar * text, gsize size)
{
  gchar *const source = gst_ccl_line_get_text (text, size, "source");

  return source ? source : g_strdup ("unknown");
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
