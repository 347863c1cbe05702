/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Zones as the user writes them: JSON, which docs/zones.md describes. */

#ifndef __GST_CCL_ZONES_H__
#define __GST_CCL_ZONES_H__

#include <gst/gst.h>
#include <gst/ccl/gstcclzonemeta.h>

G_BEGIN_DECLS

#define GST_CCL_ZONE_POINTS_MAX 256
#define GST_CCL_ZONE_CLASSES_MAX 32
#define GST_CCL_CIRCLE_POINTS 64        /* beside the circle by at most 1/800 of its radius */

/* One zone as the user wrote it. */
typedef struct
{
  gchar *name;
  GstCclZoneKind kind;
  guint n_points;
  gdouble *points;              /* x and y in turn, in the units of the set */
  gdouble min_area;             /* pixels of the frame; 0: none */
  guint n_classes;              /* 0: all */
  guint16 classes[GST_CCL_ZONE_CLASSES_MAX];    /* the only ones that count */
  GstClockTime dwell;           /* GST_CLOCK_TIME_NONE: no dwell event */
  GstClockTime min_time;        /* on the other side, until an event; 0: none */
  gdouble direction[4];         /* of a polygon: from a point to another one; all 0: none */
  gdouble circle[3];            /* the polygon is one: x, y, radius; 0: it is none */
} GstCclZoneRule;

typedef struct
{
  gboolean relative;            /* points are fractions of the frame, else pixels */
  guint n_rules;
  GstCclZoneRule *rules;
} GstCclZoneSet;

/* NULL and an error that names the place when the text is not what docs/zones.md says. */
GstCclZoneSet *gst_ccl_zone_set_new (const gchar * text, GError ** error);
GstCclZoneSet *gst_ccl_zone_set_new_from_file (const gchar * path, GError ** error);
/* Point i of a zone, in the units of the set. `aspect`: height of the frame over its width; the radius of a circle in relative units
 * is a fraction of the height. */
void gst_ccl_zone_rule_get_point (const GstCclZoneRule * rule, gboolean relative, gdouble aspect, guint i, gdouble point[2]);
void gst_ccl_zone_set_free (GstCclZoneSet * set);

G_END_DECLS

#endif
