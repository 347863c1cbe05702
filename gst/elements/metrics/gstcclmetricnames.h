/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Names, types and descriptions of the metrics: what a field of an element's `stats` is called in Prometheus. */
#ifndef __GST_CCL_METRIC_NAMES_H__
#define __GST_CCL_METRIC_NAMES_H__

#include <glib.h>

G_BEGIN_DECLS

typedef struct
{
  const gchar *field;           /* in `stats` */
  const gchar *name;            /* of the metric */
  const gchar *type;            /* "counter", "gauge" or "summary" */
  const gchar *help;
} GstCclMetricName;

/* A field of `stats`, or of one zone in it. NULL: not in the table. */
const GstCclMetricName *gst_ccl_metric_name_of_field (const gchar * field);
const GstCclMetricName *gst_ccl_metric_name_of_zone_field (const gchar * field);

/* A duration: NAME of the fields NAME-us-min and so on, of `length` bytes. */
const GstCclMetricName *gst_ccl_metric_name_of_time (const gchar * field, gsize length);

/* A text that becomes a label of gstccl_element_info: its name, or NULL. */
const gchar *gst_ccl_metric_label_of_field (const gchar * field);

G_END_DECLS

#endif
