/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "gstcclline.h"

#include <string.h>

#include "delivery/gstcclcborline.h"
#include "json/gstccljsoncheck.h"

/* An escape of JSON has six bytes for one. */
#define MAX_ESCAPED ((gsize) 6 * GST_CCL_LINE_MAX_TEXT)

static const gchar *
skip_spaces (const gchar * p, const gchar * end)
{
  while (p < end && g_ascii_isspace (*p))
    p++;
  return p;
}

/* The byte after an array or object. */
static const gchar *
skip_nested (const gchar * p, const gchar * end)
{
  gsize depth = 0;

  do {
    if (*p == '"') {
      p = gst_ccl_json_skip_string (p, end);
      continue;
    }
    if (*p == '[' || *p == '{')
      depth++;
    else if (*p == ']' || *p == '}')
      depth--;
    p++;
  } while (depth > 0 && p < end);
  return p;
}

static const gchar *
skip_value (const gchar * p, const gchar * end)
{
  if (*p == '"')
    return gst_ccl_json_skip_string (p, end);
  if (*p == '[' || *p == '{')
    return skip_nested (p, end);
  while (p < end && *p != ',' && *p != '}')
    p++;
  return p;
}

/* The text of a string with escapes, without its quotation marks. NULL: it is not valid. */
static gchar *
unescape (const gchar * text, gsize size)
{
  gchar *const object = g_strdup_printf ("{\"s\":\"%.*s\"}", (gint) size, text);
  JsonNode *const root = gst_ccl_json_parse (object, NULL);
  const gchar *const member = root ? json_object_get_string_member (json_node_get_object (root), "s") : NULL;
  gchar *const copy = g_strdup (member);

  if (root)
    json_node_unref (root);
  g_free (object);
  return copy;
}

static gboolean
has_control_character (const gchar * text, gsize size)
{
  for (gsize i = 0; i < size; i++) {
    if ((guchar) text[i] < ' ')
      return TRUE;
  }
  return FALSE;
}

/* The text of the string from its first quotation mark to the byte after it. */
static gchar *
read_string (const gchar * p, const gchar * after)
{
  const gchar *const text = p + 1;
  const gsize size = (gsize) (after - p) < 2 ? 0 : (gsize) (after - p) - 2;
  gchar *copy;

  if (size == 0 || size > MAX_ESCAPED || *p != '"' || after[-1] != '"' || !g_utf8_validate_len (text, size, NULL)
      || has_control_character (text, size))
    return NULL;
  copy = memchr (text, '\\', size) ? unescape (text, size) : g_strndup (text, size);
  if (copy && (!*copy || strlen (copy) > GST_CCL_LINE_MAX_TEXT))
    g_clear_pointer (&copy, g_free);
  return copy;
}

/* The value of the next member, at most `end`, and whether it is the one of this name. NULL: there is no further member. */
static const gchar *
find_value (const gchar * p, const gchar * end, const gchar * name, gboolean * is_found)
{
  const gsize length = strlen (name);
  const gchar *const key = skip_spaces (p, end), *after;

  if (key >= end || *key != '"')
    return NULL;
  after = gst_ccl_json_skip_string (key, end);
  *is_found = (gsize) (after - key) == length + 2 && !memcmp (key + 1, name, length);
  p = skip_spaces (after, end);
  if (p >= end || *p != ':')
    return NULL;
  p = skip_spaces (p + 1, end);
  return p < end ? p : NULL;
}

/* The two bits in front of a byte that continues a character are those of arrays and maps. */
gboolean
gst_ccl_line_is_cbor (gconstpointer line, gsize size)
{
  return size > 0 && *(const guint8 *) line >> 6 == 2;
}

gchar *
gst_ccl_line_get_text (const gchar * line, gsize size, const gchar * name)
{
  const gchar *const end = line + size;
  const gchar *p = skip_spaces (line, end);
  gboolean is_found = FALSE;

  if (gst_ccl_line_is_cbor (line, size))
    return gst_ccl_cbor_line_get_text (line, size, name);
  if (p >= end || *p != '{')
    return NULL;
  do {
    const gchar *const value = find_value (p + 1, end, name, &is_found);

    if (!value)
      return NULL;
    p = skip_value (value, end);
    if (is_found)
      return read_string (value, p);
    p = skip_spaces (p, end);
  } while (p < end && *p == ',');
  return NULL;
}
