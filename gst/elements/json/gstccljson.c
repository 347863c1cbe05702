/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "gstccljson.h"

#include "gstcclcbor.h"
#include "gstccljsoncheck.h"
#include "gstccljsonprint.h"
#include "gstccljsonschemas.h"

gchar *
gst_ccl_json_tags (const gchar * text, GError ** error)
{
  JsonNode *const root = gst_ccl_json_parse (text, error);
  gchar *line = NULL;

  if (root) {
    line = g_string_free (gst_ccl_json_print (json_node_dup_object (root), -1), FALSE);
    json_node_unref (root);
  }
  return line;
}

#ifdef HAVE_CBOR
static GString *
finish_item (JsonObject * object, const GstCclJsonFrame * frame)
{
  GString *item;

  if (frame->tags)
    json_object_set_member (object, "tags", gst_ccl_json_parse (frame->tags, NULL));
  item = gst_ccl_cbor_encode (object);
  json_object_unref (object);
  return item;
}
#endif

GString *
gst_ccl_json_finish_line (JsonObject * object, const GstCclJsonFrame * frame, GstCclJsonFormat format)
{
  GString *line;

#ifdef HAVE_CBOR
  if (format.cbor)
    return finish_item (object, frame);
#endif
  line = gst_ccl_json_print (object, format.precision);

  /* The user's own object is inserted unchanged: `precision` does not apply to its numbers. */
  if (frame->tags) {
    g_string_truncate (line, line->len - 1);
    g_string_append (line, ",\"tags\":");
    g_string_append (line, frame->tags);
    g_string_append_c (line, '}');
  }
  g_string_append_c (line, '\n');
  return line;
}

GString *
gst_ccl_json_line (const GstCclJsonFrame * frame, GstCclJsonSchema schema, GstCclJsonFormat format)
{
  return gst_ccl_json_finish_line (schema == GST_CCL_JSON_SCHEMA_CCL ? gst_ccl_json_blobs_object (frame) :
      gst_ccl_json_dlstreamer_object (frame), frame, format);
}
