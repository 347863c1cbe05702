/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* The values of JSON that both schemas write. */
#ifndef __GST_CCL_JSON_VALUES_H__
#define __GST_CCL_JSON_VALUES_H__

#include <gst/gst.h>
#include <json-glib/json-glib.h>

G_BEGIN_DECLS

/* 2^53: doubles from here on have no digits after the point. */
#define GST_CCL_JSON_MAX_EXACT 9007199254740992.0

/* A number; null for NaN and infinity. */
JsonNode *gst_ccl_json_new_number (gdouble value);

/* A number of pixels. `whole`: in the plane that was measured, where such a value prints without a point. */
JsonNode *gst_ccl_json_new_measure (gdouble value, gboolean whole);

/* Nanoseconds; null when the time is unknown or does not fit. */
JsonNode *gst_ccl_json_new_time (GstClockTime time);

/* A string of valid UTF-8, whatever `text` is; null for NULL. */
JsonNode *gst_ccl_json_new_string (const gchar * text);

/* An object with a width and a height. */
JsonObject *gst_ccl_json_new_size (const gchar * width_name, guint width, const gchar * height_name, guint height);

/* Whether the value fits a signed 64-bit integer, which json-glib writes. */
gboolean gst_ccl_json_fits (guint64 value);

/* A member with an identity; no member for 0 or for a value that does not fit. */
void gst_ccl_json_set_id (JsonObject * object, const gchar * name, guint64 id);

/* A member with a count, at most 2^63 - 1. */
void gst_ccl_json_set_count (JsonObject * object, const gchar * name, guint64 count);

/* A member with an array of numbers. */
void gst_ccl_json_set_numbers (JsonObject * object, const gchar * name, const gdouble * values, guint n_values);

typedef struct
{
  guint flag;
  const gchar *word;
} GstCclJsonFlagWord;

/* A member with the words of the flags that are set, as in "left,top"; no member without one. */
void gst_ccl_json_set_flag_words (JsonObject * object, const gchar * name, guint flags, const GstCclJsonFlagWord * words,
    guint n_words);

/* RFC 3339 with microseconds; NULL when the time is unknown. */
gchar *gst_ccl_json_utc (GstClockTime unix_time);

G_END_DECLS

#endif
