/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "gstcclcborline.h"

#include <string.h>

#include "delivery/gstcclline.h"

/* A library would build the tree of the whole message for one member. */

/* Major types of RFC 8949. */
enum
{
  BYTES = 2,
  TEXT = 3,
  ARRAY = 4,
  MAP = 5,
  TAG = 6,
};

typedef struct
{
  const guint8 *at;
  gsize n_left;
} Reader;

typedef struct
{
  guint type;                   /* a major type */
  guint64 number;               /* the value, or the number of bytes, items or pairs that follow */
} Head;

/* FALSE: the data ends, or the length is not known in advance. */
static gboolean
read_head (Reader * reader, Head * head)
{
  const guint short_number = reader->n_left ? *reader->at & 31 : 31;
  const guint n_bytes = short_number < 24 ? 0 : 1u << (short_number - 24);

  if (short_number > 27 || reader->n_left - 1 < n_bytes)
    return FALSE;
  head->type = *reader->at++ >> 5;
  head->number = n_bytes ? 0 : short_number;
  for (guint i = 0; i < n_bytes; i++)
    head->number = head->number << 8 | *reader->at++;
  reader->n_left -= 1 + n_bytes;
  return TRUE;
}

/* The bytes of a string; NULL: there are less. */
static const gchar *
read_string (Reader * reader, const Head * head)
{
  const gchar *const text = (const gchar *) reader->at;

  if (head->number > reader->n_left)
    return NULL;
  reader->at += head->number;
  reader->n_left -= head->number;
  return text;
}

static gboolean
skip_item (Reader * reader)
{
  guint64 n_items = 1;
  Head head;

  for (; n_items > 0; n_items--) {
    if (!read_head (reader, &head))
      return FALSE;
    if ((head.type == BYTES || head.type == TEXT) && !read_string (reader, &head))
      return FALSE;
    if (head.type == TAG)
      n_items++;
    if (head.type != ARRAY && head.type != MAP)
      continue;
    /* Each item has at least one byte, which bounds the sum. */
    if (head.number > reader->n_left)
      return FALSE;
    n_items += head.number << (head.type == MAP);
  }
  return TRUE;
}

/* The text of a string. */
static const gchar *
read_text (Reader * reader, Head * head)
{
  return read_head (reader, head) && head->type == TEXT ? read_string (reader, head) : NULL;
}

gchar *
gst_ccl_cbor_line_get_text (gconstpointer line, gsize size, const gchar * name)
{
  const gsize length = strlen (name);
  Reader reader = { line, size };
  Head map, head;

  if (!read_head (&reader, &map) || map.type != MAP)
    return NULL;
  for (guint64 i = 0; i < map.number; i++) {
    const gchar *const key = read_text (&reader, &head), *text;

    if (!key)
      return NULL;
    if (head.number != length || memcmp (key, name, length) != 0) {
      if (!skip_item (&reader))
        return NULL;
      continue;
    }
    text = read_text (&reader, &head);
    return text && head.number > 0 && head.number <= GST_CCL_LINE_MAX_TEXT
        && g_utf8_validate_len (text, head.number, NULL)
        ? g_strndup (text, head.number) : NULL;
  }
  return NULL;
}
