/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* The statistics of elements as Prometheus text, format 0.0.4. It knows neither elements nor HTTP. */
#ifndef __GST_CCL_METRICS_TEXT_H__
#define __GST_CCL_METRICS_TEXT_H__

#include <gst/gst.h>

G_BEGIN_DECLS

typedef struct
{
  gchar *pipeline;              /* any bytes, as the user named it */
  gchar *element;
  gchar *factory;
  GstStructure *stats;
} GstCclMetricsSource;

void gst_ccl_metrics_source_free (GstCclMetricsSource * source);

/*
 * Every series once, the metrics in alphabetical order. Elements with the same pipeline, name and factory are told apart by
 * "#2", "#3" after the name: Prometheus refuses a text with two equal series.
 */
GString *gst_ccl_metrics_text (const GstCclMetricsSource * const *sources, guint n, const gchar * version);

G_END_DECLS

#endif
