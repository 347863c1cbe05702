/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "gstcclpropertyrow.h"

#include <string.h>

/* Stores a value of any width: an enum, a guint or a gboolean may be a bool, an int or a uint64_t in the core. */
static void
store (gpointer to, guint32 size, gint64 number)
{
  const guint8 byte = (guint8) number;
  const gint32 word = (gint32) number;

  if (size == sizeof byte)
    memcpy (to, &byte, sizeof byte);
  else if (size == sizeof word)
    memcpy (to, &word, sizeof word);
  else
    memcpy (to, &number, sizeof number);
}

static gint64
load (gconstpointer from, guint32 size)
{
  guint8 byte;
  gint32 word;
  gint64 number;

  if (size == sizeof byte) {
    memcpy (&byte, from, sizeof byte);
    return byte;
  }
  if (size == sizeof word) {
    memcpy (&word, from, sizeof word);
    return word;
  }
  memcpy (&number, from, sizeof number);
  return number;
}

gboolean
gst_ccl_property_row_set (gpointer object, const GstCclPropertyRow * row, const GValue * value)
{
  gpointer const to = (guint8 *) object + row->offset;
  gdouble real;

  if (row->size == 0)
    return FALSE;
  switch (G_TYPE_FUNDAMENTAL (G_VALUE_TYPE (value))) {
    case G_TYPE_BOOLEAN:
      store (to, row->size, g_value_get_boolean (value));
      break;
    case G_TYPE_INT:
      store (to, row->size, g_value_get_int (value));
      break;
    case G_TYPE_UINT:
      store (to, row->size, g_value_get_uint (value));
      break;
    case G_TYPE_UINT64:
      store (to, row->size, (gint64) g_value_get_uint64 (value));
      break;
    case G_TYPE_ENUM:
      store (to, row->size, g_value_get_enum (value));
      break;
    case G_TYPE_FLAGS:
      store (to, row->size, g_value_get_flags (value));
      break;
    case G_TYPE_DOUBLE:
      real = g_value_get_double (value);
      g_assert (row->size == sizeof real);
      memcpy (to, &real, sizeof real);
      break;
    case G_TYPE_STRING:
      g_free (*(gchar **) to);
      *(gchar **) to = g_value_dup_string (value);
      break;
    default:
      g_assert_not_reached ();
  }
  return TRUE;
}

gboolean
gst_ccl_property_row_get (gconstpointer object, const GstCclPropertyRow * row, GValue * value)
{
  gconstpointer const from = (const guint8 *) object + row->offset;
  gdouble real;

  if (row->size == 0)
    return FALSE;
  switch (G_TYPE_FUNDAMENTAL (G_VALUE_TYPE (value))) {
    case G_TYPE_BOOLEAN:
      g_value_set_boolean (value, load (from, row->size) != 0);
      break;
    case G_TYPE_INT:
      g_value_set_int (value, (gint) load (from, row->size));
      break;
    case G_TYPE_UINT:
      g_value_set_uint (value, (guint) load (from, row->size));
      break;
    case G_TYPE_UINT64:
      g_value_set_uint64 (value, (guint64) load (from, row->size));
      break;
    case G_TYPE_ENUM:
      g_value_set_enum (value, (gint) load (from, row->size));
      break;
    case G_TYPE_FLAGS:
      g_value_set_flags (value, (guint) load (from, row->size));
      break;
    case G_TYPE_DOUBLE:
      memcpy (&real, from, sizeof real);
      g_value_set_double (value, real);
      break;
    case G_TYPE_STRING:
      g_value_set_string (value, *(gchar * const *) from);
      break;
    default:
      g_assert_not_reached ();
  }
  return TRUE;
}
