/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "report.h"

static gint
compare (gconstpointer a, gconstpointer b)
{
  const gdouble x = *(const gdouble *) a, y = *(const gdouble *) b;

  return x < y ? -1 : x > y;
}

static gdouble
percentile (const GArray * sorted, gdouble percent)
{
  if (!sorted->len)
    return -1;
  return g_array_index (sorted, gdouble, MIN ((guint) (sorted->len * percent / 100), sorted->len - 1));
}

static gdouble
number (const GstStructure * stats, const gchar * field)
{
  gdouble value = -1;
  guint count;

  if (!gst_structure_get_double (stats, field, &value) && gst_structure_get_uint (stats, field, &count))
    value = count;
  return value;
}

gchar *
describe_labels (const Cameras * cameras)
{
  const guint n = cameras->options->n_cameras;
  gdouble batch = 0, largest = 0, wait = 0, pack = 0, host = 0;
  const gchar *backend = "none", *algorithm = "none", *path = "none";
  GstStructure *stats = NULL;
  GString *text;

  for (guint i = 0; i < n; i++) {
    if (stats)
      gst_structure_free (stats);
    g_object_get (cameras->cameras[i].label, "stats", &stats, NULL);
    batch += number (stats, "batch-avg") / n;
    wait += number (stats, "wait-us-avg") / n;
    pack += number (stats, "pack-us-avg") / n;
    host += number (stats, "host-us-avg") / n;
    largest = MAX (largest, number (stats, "batch-max"));
  }
  backend = gst_structure_get_string (stats, "backend");
  algorithm = gst_structure_get_string (stats, "algorithm");
  path = gst_structure_get_string (stats, "path");
  text = g_string_new (NULL);
  g_string_append_printf (text, "labelled   by %s on %s, masks by way of %s, %.0f us a frame in ccllabel\n", algorithm,
      backend, path, host);
  if (g_strcmp0 (backend, "cuda") == 0) {
    g_string_append_printf (text, "batches    of %.1f frames, the largest of %.0f; waited for %.0f us", batch, largest,
        wait);
    if (pack > 0)
      g_string_append_printf (text, "; masks packed to bits in %.0f us", pack);
    g_string_append_c (text, '\n');
  }
  gst_structure_free (stats);
  return g_string_free (text, FALSE);
}

gboolean
report (const Cameras * cameras)
{
  const Options *const options = cameras->options;
  const guint64 n_due = cameras->n_due;
  GArray *all = g_array_new (FALSE, FALSE, sizeof (gdouble));
  const gdouble period = 1000 / options->rate;
  guint64 n_late = 0, n_in_time = 0, n_dropped;
  gboolean sustained;

  for (guint i = 0; i < options->n_cameras; i++) {
    g_array_append_vals (all, cameras->cameras[i].latencies->data, cameras->cameras[i].latencies->len);
    n_in_time += cameras->cameras[i].n_in_time;
  }
  g_array_sort (all, compare);
  for (guint i = 0; i < all->len; i++)
    n_late += g_array_index (all, gdouble, i) > period;
  n_dropped = n_due - MIN (n_due, all->len);
  sustained = n_dropped * 1000 <= n_due && percentile (all, 99) <= period;

  g_print ("cameras    %u of %s at %g frames a second for %u s, masks in %s memory: %s\n", options->n_cameras,
      options->size, options->rate, options->seconds, options->memory, sustained ? "sustained" : "too many");
  g_print ("frames     %" G_GUINT64_FORMAT " due, %u labelled: %.1f a second; %" G_GUINT64_FORMAT " dropped (%.2f %%), "
      "%" G_GUINT64_FORMAT " later than %.1f ms\n", n_due, all->len, n_in_time / (gdouble) options->seconds, n_dropped,
      n_due ? 100.0 * n_dropped / n_due : 0, n_late, period);
  g_print ("latency    ms: 50 %% %.2f, 90 %% %.2f, 99 %% %.2f, 99.9 %% %.2f, most %.2f\n", percentile (all, 50),
      percentile (all, 90), percentile (all, 99), percentile (all, 99.9), percentile (all, 100));
  g_print ("processor  %.2f of %u, this program's own part included\n", cameras->processor_seconds / options->seconds,
      g_get_num_processors ());
  g_array_free (all, TRUE);
  return sustained;
}
