/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "gstccljsonvalues.h"

#include <math.h>

/* JSON has no word for NaN and infinity. */
JsonNode *
gst_ccl_json_new_number (gdouble value)
{
  JsonNode *node = json_node_alloc ();

  return isfinite (value) ? json_node_init_double (node, value) : json_node_init_null (node);
}

/* Boxes and areas are integers in the plane in which they were measured, and fractions in a scaled frame. Corners of contours
 * from another program may be any numbers. */
JsonNode *
gst_ccl_json_new_measure (gdouble value, gboolean whole)
{
  if (!whole || !(fabs (value) < GST_CCL_JSON_MAX_EXACT) || value != floor (value))
    return gst_ccl_json_new_number (value);
  return json_node_init_int (json_node_alloc (), (gint64) value);
}

/* json-glib writes signed integers. */
gboolean
gst_ccl_json_fits (guint64 value)
{
  return value <= G_MAXINT64;
}

/* GST_CLOCK_TIME_NONE does not fit either. */
JsonNode *
gst_ccl_json_new_time (GstClockTime time)
{
  JsonNode *node = json_node_alloc ();

  return gst_ccl_json_fits (time) ? json_node_init_int (node, (gint64) time) : json_node_init_null (node);
}

/* Nothing when there is none. */
void
gst_ccl_json_set_id (JsonObject * object, const gchar * name, guint64 id)
{
  if (id != 0 && gst_ccl_json_fits (id))
    json_object_set_int_member (object, name, (gint64) id);
}

void
gst_ccl_json_set_count (JsonObject * object, const gchar * name, guint64 count)
{
  json_object_set_int_member (object, name, (gint64) MIN (count, G_MAXINT64));
}

/* JSON is UTF-8; names from outside need not be. */
JsonNode *
gst_ccl_json_new_string (const gchar * text)
{
  JsonNode *node = json_node_alloc ();
  gchar *valid;

  if (!text)
    return json_node_init_null (node);
  if (g_utf8_validate (text, -1, NULL))
    return json_node_init_string (node, text);
  valid = g_utf8_make_valid (text, -1);
  json_node_init_string (node, valid);
  g_free (valid);
  return node;
}

static JsonArray *
array_of_numbers (const gdouble * values, guint n_values)
{
  JsonArray *array = json_array_sized_new (n_values);

  for (guint i = 0; i < n_values; i++)
    json_array_add_element (array, gst_ccl_json_new_number (values[i]));
  return array;
}

void
gst_ccl_json_set_numbers (JsonObject * object, const gchar * name, const gdouble * values, guint n_values)
{
  json_object_set_array_member (object, name, array_of_numbers (values, n_values));
}

/* "left,top"; nothing when no flag is set. */
void
gst_ccl_json_set_flag_words (JsonObject * object, const gchar * name, guint flags, const GstCclJsonFlagWord * words,
    guint n_words)
{
  gchar text[64] = "";

  for (guint i = 0; i < n_words; i++) {
    if (!(flags & words[i].flag))
      continue;
    if (text[0])
      g_strlcat (text, ",", sizeof text);
    g_strlcat (text, words[i].word, sizeof text);
  }
  if (text[0])
    json_object_set_string_member (object, name, text);
}

JsonObject *
gst_ccl_json_new_size (const gchar * width_name, guint width, const gchar * height_name, guint height)
{
  JsonObject *object = json_object_new ();

  json_object_set_int_member (object, width_name, width);
  json_object_set_int_member (object, height_name, height);
  return object;
}

gchar *
gst_ccl_json_utc (GstClockTime unix_time)
{
  GDateTime *date;
  gchar *text;

  if (!GST_CLOCK_TIME_IS_VALID (unix_time))
    return NULL;
  date = g_date_time_new_from_unix_utc ((gint64) (unix_time / GST_SECOND));
  text = g_strdup_printf ("%04d-%02d-%02dT%02d:%02d:%02d.%06dZ", g_date_time_get_year (date),
      g_date_time_get_month (date), g_date_time_get_day_of_month (date), g_date_time_get_hour (date),
      g_date_time_get_minute (date), g_date_time_get_second (date), (gint) (unix_time % GST_SECOND / GST_USECOND));
  g_date_time_unref (date);
  return text;
}
