/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* The content of a line of JSON. */
#ifndef __GST_CCL_JSON_FRAME_H__
#define __GST_CCL_JSON_FRAME_H__

#include <gst/gst.h>
#include <gst/ccl/gstcclblobmeta.h>
#include <gst/ccl/gstcclzonemeta.h>

G_BEGIN_DECLS

typedef enum
{
  GST_CCL_JSON_SCHEMA_CCL,
  GST_CCL_JSON_SCHEMA_DLSTREAMER,
  GST_CCL_JSON_SCHEMA_EVENT,    /* no value of the property */
} GstCclJsonSchema;

/* The data of a region of interest or an object detection besides its box. For blobs of a mask, the schema "dlstreamer" writes
 * constants instead. */
typedef struct
{
  const gchar *type;            /* (nullable): of a quark, never freed */
  gint64 id;
  gint parent_id;               /* -1: none */
  gint label_id;                /* -1: none */
  gdouble confidence;           /* 0..1; others: unknown */
} GstCclJsonRegion;

/* How a line is written. */
typedef struct
{
  gboolean cbor;                /* as one CBOR item; else JSON with a line feed */
  gint precision;               /* digits after the point in JSON; -1: all */
} GstCclJsonFormat;

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
  const GstCclZoneMeta *zones;  /* (nullable): the zones of the bits in GstCclBlob.zones */
  gboolean is_analysed;         /* FALSE: the frame has no metadata */
  gboolean trails;              /* write the trails of tracks */
  const GstCclJsonRegion *regions;      /* (nullable): one for each of the blobs */
} GstCclJsonFrame;

G_END_DECLS

#endif
