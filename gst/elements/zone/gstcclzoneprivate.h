/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Inside cclzone: what its files share. */
#ifndef __GST_CCL_ZONE_PRIVATE_H__
#define __GST_CCL_ZONE_PRIVATE_H__

#include <gst/ccl/ccl.h>

#include "analysis/zone.h"
#include "base/gstcclminavgmax.h"
#include "zone/gstcclzone.h"
#include "zone/gstcclzones.h"

G_BEGIN_DECLS

GST_DEBUG_CATEGORY_EXTERN (gst_ccl_zone_debug);

struct _GstCclzone
{
  GstBaseTransform parent;

  /* Under the object lock. */
  gchar *zones_text;
  gchar *config;
  gboolean running;             /* since these two were read at the start */
  GstCclZoneSet *next_set;      /* for the next frame; NULL: as before */
  gint evaluation_point;
  gboolean post_messages;
  gdouble margin;
  GstClockTime unseen_timeout;
  guint64 n_frames, n_events;
  GstCclMinAvgMax host;
  guint n_zones;                /* of zones */
  GstCclZone zones[GST_CCL_MAX_ZONES];  /* points in fractions of the frame; written by the streaming thread only */

  /* Streaming thread. */
  GstCclZoneSet *set;           /* NULL: none */
  CclZoneWatch *watch;
  gdouble *pixels[GST_CCL_MAX_ZONES];   /* points of the zones for the watch */
  guint width, height;
  gboolean is_placed;           /* the zones were compared with the frame */
  guint n_without_zones, n_without_blobs, n_without_tracks, n_without_classes;     /* see gstcclhint.h */
  gboolean warned_of_number;    /* with those of elements upstream there are too many zones */
  guint n_before;               /* zones that the frame has from elements upstream */
  gboolean tracked;             /* a blob with a track was seen */
  GstClockTime frame_duration;  /* of the caps, or a guess */
  GstClockTime now;             /* running time of the frame; made up where frames have none */
  GstBuffer *buffer;            /* the frame */
};

/* gstcclzoneset.c: the zones that the user has set */
GstCclZoneSet *gst_cclzone_set_of_text (const gchar * text, GError ** error);
/* Takes over the set for the next frame. One that was read at the start gives way to one that was set meanwhile. */
void gst_cclzone_take_set (GstCclzone * self, GstCclZoneSet * set, gboolean is_start);
/* Takes over the set, or the error. */
gboolean gst_cclzone_change_set (GstCclzone * self, GstCclZoneSet * set, GError * error);
GstCclZoneSet *gst_cclzone_read_set (GstCclzone * self, GError ** error);
void gst_cclzone_install_set (GstCclzone * self, GstCclZoneSet * set);
void gst_cclzone_place_zones (GstCclzone * self, const gint * was);
void gst_cclzone_clear_zones (GstCclZone * zones, guint n);
void gst_cclzone_warn_of_places (GstCclzone * self);
void gst_cclzone_give_hints (GstCclzone * self, const GstCclBlobMeta * meta);

/* gstcclzonecounts.c: objects, events, counts */
void gst_cclzone_on_event (void *data, const CclZoneEvent * event);
void gst_cclzone_forget_objects (GstCclzone * self);
gboolean gst_cclzone_check_blobs (GstCclzone * self, GstCclBlobMeta * meta, gboolean centroid, gdouble margin);

G_END_DECLS

#endif
