/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* The figures of one run: frames, time, objects, events. */
#ifndef __GST_CCL_JSON_SUMMARY_H__
#define __GST_CCL_JSON_SUMMARY_H__

#include "gstccljsonframe.h"

G_BEGIN_DECLS

typedef struct
{
  guint64 n_frames;
  guint64 n_blobs;
  gint64 first, last;           /* monotonic time of the first and the last frame, microseconds */
  GHashTable *tracks;           /* (nullable): the ids of all confirmed tracks */
  gboolean has_zones;
  guint64 n_events;             /* entries, exits and crossings of the last frame's zones */
} GstCclJsonSummary;

void gst_ccl_json_summary_clear (GstCclJsonSummary * summary);

/* A frame came at `now`; with its blobs and zones, unless it was not analysed. */
void gst_ccl_json_summary_add_frame (GstCclJsonSummary * summary, gint64 now);
void gst_ccl_json_summary_add_blobs (GstCclJsonSummary * summary, const GstCclBlobMeta * blobs, const GstCclZoneMeta * zones);

/* Such as "240 frames in 8.0 s, 30.0 frames/s; 3 objects, 2 events". Without tracks it counts blobs instead of objects. */
gchar *gst_ccl_json_summary_to_string (const GstCclJsonSummary * summary);

/* The same as the structure of a message. */
GstStructure *gst_ccl_json_summary_to_structure (const GstCclJsonSummary * summary);

G_END_DECLS

#endif
