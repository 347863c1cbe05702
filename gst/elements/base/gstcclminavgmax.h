/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* The minimum, average, maximum and sum of a value, for the statistics of elements. */
#ifndef __GST_CCL_MIN_AVG_MAX_H__
#define __GST_CCL_MIN_AVG_MAX_H__

#include <gst/gst.h>

G_BEGIN_DECLS

typedef struct
{
  guint64 n;
  gdouble min, max, sum;
} GstCclMinAvgMax;

/* Ignores negative values, which mean "not measured". */
static inline void
gst_ccl_min_avg_max_add (GstCclMinAvgMax * values, gdouble value)
{
  if (value < 0)
    return;
  values->min = values->n ? MIN (values->min, value) : value;
  values->max = MAX (values->max, value);
  values->sum += value;
  values->n++;
}

static inline gdouble
gst_ccl_min_avg_max_average (const GstCclMinAvgMax * values)
{
  return values->n ? values->sum / values->n : 0;
}

/* Adds NAME-us-min, -avg and -max, each -1 when nothing was measured, and -sum and -count to the structure. A monitor makes the
 * average of any time from the differences of the last two. */
static inline void
gst_ccl_min_avg_max_to_structure (const GstCclMinAvgMax * values, const gchar * name, GstStructure * structure)
{
  const struct
  {
    const gchar *suffix;
    gdouble value;
  } fields[] = {
    {"min", values->min},
    {"avg", gst_ccl_min_avg_max_average (values)},
    {"max", values->max},
  };

  gchar *field;

  for (guint i = 0; i < G_N_ELEMENTS (fields); i++) {
    field = g_strdup_printf ("%s-us-%s", name, fields[i].suffix);
    gst_structure_set (structure, field, G_TYPE_DOUBLE, values->n ? fields[i].value : -1.0, NULL);
    g_free (field);
  }
  field = g_strdup_printf ("%s-us-sum", name);
  gst_structure_set (structure, field, G_TYPE_DOUBLE, values->sum, NULL);
  g_free (field);
  field = g_strdup_printf ("%s-us-count", name);
  gst_structure_set (structure, field, G_TYPE_UINT64, values->n, NULL);
  g_free (field);
}

/* What follows the name of a time in the text of a property. */
#define GST_CCL_TIME_PARTS "-min, -avg, -max (-1 = not measured), -sum in microseconds, and -count"

/* The fields that gst_ccl_min_avg_max_host_to_structure() adds, for the text of a property. */
#define GST_CCL_HOST_TIME_FIELDS "host-us (time spent on a frame) and latency-us (the same: no frame waits here), " \
    "each " GST_CCL_TIME_PARTS

/* For an element without a delay queue: it delays a frame by the time that it works on it. */
static inline void
gst_ccl_min_avg_max_host_to_structure (const GstCclMinAvgMax * host, GstStructure * structure)
{
  gst_ccl_min_avg_max_to_structure (host, "host", structure);
  gst_ccl_min_avg_max_to_structure (host, "latency", structure);
}

G_END_DECLS

#endif
