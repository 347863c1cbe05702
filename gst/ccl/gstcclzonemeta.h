/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef __GST_CCL_ZONE_META_H__
#define __GST_CCL_ZONE_META_H__

#include <gst/gst.h>
#include <gst/ccl/ccl-prelude.h>

G_BEGIN_DECLS

/**
 * GST_CCL_MAX_ZONES:
 *
 * Maximum number of zones of a frame: one bit each in #GstCclBlob.zones.
 */
#define GST_CCL_MAX_ZONES 32

/**
 * GstCclZoneKind:
 * @GST_CCL_ZONE_POLYGON: an area; objects are inside or not
 * @GST_CCL_ZONE_LINE: a line that objects cross. Forward is from its left to
 *   its right, seen from its first point towards its second
 *
 * Kind of a zone.
 */
typedef enum
{
  GST_CCL_ZONE_POLYGON,
  GST_CCL_ZONE_LINE,
} GstCclZoneKind;

typedef struct _GstCclZone GstCclZone;

/**
 * GstCclZone:
 * @name: its name
 * @kind: polygon or line
 * @n_points: corners of the polygon, or 2
 * @points: (skip): x and y of each point in turn, in fractions of the frame:
 *   (0, 0) is its top left corner, (1, 1) its bottom right. After a crop,
 *   points may be outside
 * @n_inside: objects inside the polygon in this frame
 * @n_forward: objects that have entered the polygon, or crossed the line
 *   forward, since the element started
 * @n_backward: objects that have left the polygon, or crossed the line backward
 *
 * A zone and its counts. Counting over time needs tracks; without tracks, only
 * @n_inside is known.
 */
struct _GstCclZone
{
  gchar *name;
  GstCclZoneKind kind;
  guint n_points;
  gdouble *points;
  guint n_inside;
  guint64 n_forward;
  guint64 n_backward;

  /*< private >*/
  gpointer _gst_reserved[GST_PADDING];
};

#define GST_TYPE_CCL_ZONE (gst_ccl_zone_get_type ())
GST_CCL_API
GType gst_ccl_zone_get_type (void);

/* Copies a zone. */
GST_CCL_API
GstCclZone *gst_ccl_zone_copy (const GstCclZone * zone);

/* Frees a zone. */
GST_CCL_API
void gst_ccl_zone_free (GstCclZone * zone);

/* Gets a corner of the polygon or an end of the line. */
GST_CCL_API
gboolean gst_ccl_zone_get_point (const GstCclZone * zone, guint index, gdouble * x, gdouble * y);

typedef struct _GstCclZoneMeta GstCclZoneMeta;

/**
 * GstCclZoneMeta:
 * @meta: parent #GstMeta
 * @n_zones: number of zones, up to %GST_CCL_MAX_ZONES
 * @zones: (skip): the zones; bit i of #GstCclBlob.zones means
 *   zone i
 *
 * The zones of a frame, as `cclzone` attaches them. They follow copies and
 * scaling, and from GStreamer 1.28 on also crops and flips. Then points may be
 * outside the frame, and the ends of a line are exchanged in a mirror image.
 */
struct _GstCclZoneMeta
{
  GstMeta meta;

  guint n_zones;
  GstCclZone *zones;

  /*< private >*/
  gpointer _gst_reserved[GST_PADDING];
};

#define GST_TYPE_CCL_ZONE_META (gst_ccl_zone_meta_get_type ())
GST_CCL_API
GType gst_ccl_zone_meta_get_type (void);

/* Copies a meta and its zones. */
GST_CCL_API
GstCclZoneMeta *gst_ccl_zone_meta_copy (const GstCclZoneMeta * meta);

/* Frees a copy and its zones. */
GST_CCL_API
void gst_ccl_zone_meta_free (GstCclZoneMeta * meta);

GST_CCL_API
GType gst_ccl_zone_meta_api_get_type (void);
#define GST_CCL_ZONE_META_API_TYPE (gst_ccl_zone_meta_api_get_type ())

/* Gets the #GstMetaInfo. */
GST_CCL_API
const GstMetaInfo *gst_ccl_zone_meta_get_info (void);
#define GST_CCL_ZONE_META_INFO (gst_ccl_zone_meta_get_info ())

/* Adds a meta with copies of @zones. */
GST_CCL_API
GstCclZoneMeta *gst_buffer_add_ccl_zone_meta (GstBuffer * buffer, const GstCclZone * zones, guint n_zones);

/* Gets the zones of a frame. */
GST_CCL_API
GstCclZoneMeta *gst_buffer_get_ccl_zone_meta (GstBuffer * buffer);

/* Copies the meta that gst_buffer_get_ccl_zone_meta() gets. */
GST_CCL_API
GstCclZoneMeta *gst_buffer_dup_ccl_zone_meta (GstBuffer * buffer);

/* Gets the number of zones. */
GST_CCL_API
guint gst_ccl_zone_meta_get_length (const GstCclZoneMeta * meta);

/* Gets a zone. */
GST_CCL_API
const GstCclZone *gst_ccl_zone_meta_get_zone (const GstCclZoneMeta * meta, guint index);

/* Copies a zone. */
GST_CCL_API
GstCclZone *gst_ccl_zone_meta_dup_zone (const GstCclZoneMeta * meta, guint index);

G_END_DECLS

#endif
