/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Least, mean and largest of a measure, for the elements' statistics. */
#ifndef __GST_CCL_MIN_AVG_MAX_H__
#define __GST_CCL_MIN_AVG_MAX_H__

#include <gst/gst.h>

G_BEGIN_DECLS

typedef struct
{
  guint64 n;
  gdouble min, max, sum;
} GstCclMinAvgMax;

/* A negative value was not measured. */
static inline void
gst_ccl_min_avg_max_add (GstCclMinAvgMax * spread, gdouble value)
{
  if (value < 0)
    return;
  spread->min = spread->n ? MIN (spread->min, value) : value;
  spread->max = MAX (spread->max, value);
  spread->sum += value;
  spread->n++;
}

/* Adds NAME-us-min, -avg and -max; -1 where nothing was measured. */
static inline void
gst_ccl_min_avg_max_to_structure (const GstCclMinAvgMax * spread, const gchar * name, GstStructure * structure)
{
  const gdouble values[] = { spread->min, spread->n ? spread->sum / spread->n : 0, spread->max };
  const gchar *const suffixes[] = { "min", "avg", "max" };

  for (guint i = 0; i < G_N_ELEMENTS (values); i++) {
    gchar *field = g_strdup_printf ("%s-us-%s", name, suffixes[i]);
    gst_structure_set (structure, field, G_TYPE_DOUBLE, spread->n ? values[i] : -1.0, NULL);
    g_free (field);
  }
}

/* What the next function adds, for the text of a property. */
#define GST_CCL_HOST_TIME_FIELDS "host-us (time spent on a frame) and latency-us (the same: no frame waits here), " \
    "each -min, -avg and -max in microseconds (-1: not measured)"

/* Of an element that holds no frame back: the time it works on one is the time it delays it. */
static inline void
gst_ccl_min_avg_max_host_to_structure (const GstCclMinAvgMax * host, GstStructure * structure)
{
  gst_ccl_min_avg_max_to_structure (host, "host", structure);
  gst_ccl_min_avg_max_to_structure (host, "latency", structure);
}

G_END_DECLS

#endif
