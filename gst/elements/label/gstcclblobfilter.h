/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* The property `filter`: an expression, parsed. Immutable and counted, because queued frames keep theirs. */
#ifndef __GST_CCL_BLOB_FILTER_H__
#define __GST_CCL_BLOB_FILTER_H__

#include <glib.h>

#include "analysis/selection.h"

G_BEGIN_DECLS

typedef struct
{
  CclSelection selection;
  gchar *text;
} GstCclBlobFilter;

/* NULL for a blank text, or for one that is no expression; then `error` has the reason. (transfer full) */
GstCclBlobFilter *gst_ccl_blob_filter_new (const gchar * text, gchar ** error);
/* Both take NULL. */
GstCclBlobFilter *gst_ccl_blob_filter_ref (GstCclBlobFilter * filter);
void gst_ccl_blob_filter_unref (GstCclBlobFilter * filter);

/* The names of the measures of `features` that the filter (or NULL) and the order read, with commas. (transfer full) */
gchar *gst_ccl_blob_filter_names (const GstCclBlobFilter * filter, gint order, guint features);
gboolean gst_ccl_blob_filter_reads (const GstCclBlobFilter * filter, gint order, CclMeasure measure);
/* CCL_FEATURE_... that they need. */
guint gst_ccl_blob_filter_features (const GstCclBlobFilter * filter, gint order);

G_END_DECLS

#endif
