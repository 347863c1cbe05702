/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Object detections of gst-analytics. */
#ifndef __GST_CCL_OBJECTS_H__
#define __GST_CCL_OBJECTS_H__

#ifdef HAVE_GST_ANALYTICS

# include <gst/analytics/analytics.h>

G_BEGIN_DECLS

/* Gets the next detection of a buffer; `relations` may be NULL. `state` is NULL before the first. */
static inline gboolean
gst_ccl_next_detection (GstAnalyticsRelationMeta * relations, gpointer * state, GstAnalyticsODMtd * detection)
{
  return relations && gst_analytics_relation_meta_iterate (relations, state, gst_analytics_od_mtd_get_mtd_type (),
      detection);
}

G_END_DECLS

#endif

#endif
