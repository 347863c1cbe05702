/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* The blobs of one frame as one line of JSON; docs/json.md describes every field. No element, no pad: what goes in is
 * all in the arguments. */

#ifndef __GST_CCL_JSON_H__
#define __GST_CCL_JSON_H__

#include <gst/gst.h>
#include <gst/ccl/gstcclblobmeta.h>
#include <gst/ccl/gstcclzonemeta.h>

G_BEGIN_DECLS

typedef enum
{
  GST_CCL_JSON_SCHEMA_CCL,
  GST_CCL_JSON_SCHEMA_DLSTREAMER,
} GstCclJsonSchema;

/* What a region of interest or an object detection says besides its box. Blobs of a mask have the same words made up
 * for them, see gst_ccl_json_line(). */
typedef struct
{
  const gchar *type;            /* (nullable): of a quark, never freed */
  gint64 id;
  gint parent_id;               /* -1: none */
  gint label_id;                /* -1: none */
  gdouble confidence;           /* 0..1; others: unknown */
} GstCclJsonRegion;

/* One frame. All times are nanoseconds, GST_CLOCK_TIME_NONE when unknown. */
typedef struct
{
  const gchar *source;
  guint64 seq;
  GstClockTime pts;
  GstClockTime running_time;
  GstClockTime stream_time;
  GstClockTime utc;             /* since 1970 */
  const gchar *time_source;
  const gchar *tags;            /* (nullable): JSON text as gst_ccl_json_tags() returned it */

  const GstCclBlobMeta *blobs;  /* measures, frame size, totals */
  const GstCclZoneMeta *zones;  /* (nullable): what the bits of GstCclBlob.zones mean */
  gboolean trails;              /* write where tracks have been */
  const GstCclJsonRegion *regions;      /* (nullable): one for each of the blobs */
} GstCclJsonFrame;

/* Line feed included. The caller owns the string; precision is the number of digits after the point, -1 for all. */
GString *gst_ccl_json_line (const GstCclJsonFrame * frame, GstCclJsonSchema schema, gint precision);

/* Checks that text holds one JSON object and what gst_ccl_json_check() asks for, and returns it on a single line. */
gchar *gst_ccl_json_tags (const gchar * text, GError ** error);

/* Before text from outside is parsed: whether json-glib will read it as JSON says. Refused are strings that cannot be written as
 * they are, numbers that neither doubles nor signed 64 bits hold, arrays and objects in each other so deep that 1.6 would run
 * out of stack, and what is not in JSON at all, such as comments. It does not look at the grammar. */
gboolean gst_ccl_json_check (const gchar * text, GError ** error);

/* RFC 3339 with microseconds; NULL when the time is unknown. */
gchar *gst_ccl_json_utc (GstClockTime unix_time);

G_END_DECLS

#endif
