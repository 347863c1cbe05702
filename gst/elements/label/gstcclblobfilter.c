/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "gstccllabelprivate.h"

#define GST_CAT_DEFAULT gst_ccl_label_debug

GstCclBlobFilter *
gst_ccl_blob_filter_new (const gchar * text, gchar ** error)
{
  GstCclBlobFilter *const filter = g_atomic_rc_box_new0 (GstCclBlobFilter);

  filter->text = g_strdup (text ? text : "");
  if (ccl_selection_parse (filter->text, &filter->selection) != CCL_OK)
    *error = g_strdup (ccl_error_message ());
  else if (filter->selection.n_steps)
    return filter;
  gst_ccl_blob_filter_unref (filter);
  return NULL;
}

GstCclBlobFilter *
gst_ccl_blob_filter_ref (GstCclBlobFilter * filter)
{
  return filter ? g_atomic_rc_box_acquire (filter) : NULL;
}

static void
clear (gpointer data)
{
  g_free (((GstCclBlobFilter *) data)->text);
}

void
gst_ccl_blob_filter_unref (GstCclBlobFilter * filter)
{
  if (filter)
    g_atomic_rc_box_release_full (filter, clear);
}

static guint64
measures_of (const GstCclBlobFilter * filter, gint order)
{
  const guint64 of_order = order != CCL_ORDER_RASTER ? G_GUINT64_CONSTANT (1) << ccl_order_number (order) : 0;

  return (filter ? filter->selection.measures : 0) | of_order;
}

gchar *
gst_ccl_blob_filter_names (const GstCclBlobFilter * filter, gint order, guint features)
{
  const guint64 measures = measures_of (filter, order);
  GString *const names = g_string_new (NULL);

  for (guint i = 0; i < CCL_N_MEASURES; i++)
    if (measures & G_GUINT64_CONSTANT (1) << i && ccl_measure_info (i)->feature & features)
      g_string_append_printf (names, "%s%s", names->len ? ", " : "", ccl_measure_info (i)->name);
  return g_string_free (names, FALSE);
}

gboolean
gst_ccl_blob_filter_reads (const GstCclBlobFilter * filter, gint order, CclMeasure measure)
{
  return (measures_of (filter, order) & G_GUINT64_CONSTANT (1) << measure) != 0;
}

guint
gst_ccl_blob_filter_features (const GstCclBlobFilter * filter, gint order)
{
  return (filter ? filter->selection.features : 0) | ccl_order_feature (order);
}

/* ---------------------------------------------------------------- the property */

/* A value that is no expression leaves the filter as it was. */
void
gst_ccl_label_set_filter (GstCclLabel * self, const gchar * text)
{
  gchar *error = NULL;
  GstCclBlobFilter *expression = gst_ccl_blob_filter_new (text, &error);

  if (!error) {
    GstCclBlobFilter *old;

    GST_OBJECT_LOCK (self);
    old = self->settings.expression;
    self->settings.expression = expression;
    GST_OBJECT_UNLOCK (self);
    gst_ccl_blob_filter_unref (old);
  }
  gst_ccl_analyzer_set_parse_error (&self->parent, error);
  g_free (error);
}
