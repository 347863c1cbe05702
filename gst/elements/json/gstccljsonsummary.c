/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "gstccljsonsummary.h"

void
gst_ccl_json_summary_clear (GstCclJsonSummary * summary)
{
  g_clear_pointer (&summary->tracks, g_hash_table_unref);
  *summary = (GstCclJsonSummary) {
  0};
}

void
gst_ccl_json_summary_add_frame (GstCclJsonSummary * summary, gint64 now)
{
  if (summary->n_frames == 0)
    summary->first = now;
  summary->last = now;
  summary->n_frames++;
}

static void
add_track (GstCclJsonSummary * summary, const GstCclBlob * blob)
{
  if (blob->track_id == 0)
    return;
  if (!summary->tracks)
    summary->tracks = g_hash_table_new_full (g_int64_hash, g_int64_equal, g_free, NULL);
  if (!(blob->flags & GST_CCL_BLOB_FLAG_TENTATIVE) && !g_hash_table_contains (summary->tracks, &blob->track_id))
    g_hash_table_add (summary->tracks, g_memdup2 (&blob->track_id, sizeof blob->track_id));
}

void
gst_ccl_json_summary_add_blobs (GstCclJsonSummary * summary, const GstCclBlobMeta * blobs, const GstCclZoneMeta * zones)
{
  const guint n_blobs = gst_ccl_blob_meta_get_length (blobs);

  summary->n_blobs += n_blobs;
  for (guint i = 0; i < n_blobs; i++)
    add_track (summary, gst_ccl_blob_meta_get_blob (blobs, i));
  if (!zones)
    return;
  /* The zones count from their start, so the last frame has the sum. */
  summary->has_zones = TRUE;
  summary->n_events = 0;
  for (guint i = 0; i < zones->n_zones; i++)
    summary->n_events += zones->zones[i].n_forward + zones->zones[i].n_backward;
}

static gdouble
seconds_of (const GstCclJsonSummary * summary)
{
  return (summary->last - summary->first) / (gdouble) G_USEC_PER_SEC;
}

/* Intervals by time; 0 where there is no interval. */
static gdouble
rate_of (const GstCclJsonSummary * summary)
{
  return summary->last > summary->first ? (summary->n_frames - 1) / seconds_of (summary) : 0;
}

static void
append_number (GString * text, const gchar * before, guint64 number, const gchar * noun)
{
  g_string_append_printf (text, "%s%" G_GUINT64_FORMAT " %s%s", before, number, noun, number == 1 ? "" : "s");
}

gchar *
gst_ccl_json_summary_to_string (const GstCclJsonSummary * summary)
{
  GString *const text = g_string_new (NULL);

  append_number (text, "", summary->n_frames, "frame");
  g_string_append_printf (text, " in %.1f s", seconds_of (summary));
  if (rate_of (summary) > 0)
    g_string_append_printf (text, ", %.1f frames/s", rate_of (summary));
  if (summary->tracks)
    append_number (text, "; ", g_hash_table_size (summary->tracks), "object");
  else
    append_number (text, "; ", summary->n_blobs, "blob");
  if (summary->has_zones)
    append_number (text, ", ", summary->n_events, "event");
  return g_string_free (text, FALSE);
}

GstStructure *
gst_ccl_json_summary_to_structure (const GstCclJsonSummary * summary)
{
  return gst_structure_new ("ccl-summary",
      "frames", G_TYPE_UINT64, summary->n_frames,
      "seconds", G_TYPE_DOUBLE, seconds_of (summary),
      "frames-per-second", G_TYPE_DOUBLE, rate_of (summary),
      "blobs", G_TYPE_UINT64, summary->n_blobs,
      "objects", G_TYPE_UINT64, (guint64) (summary->tracks ? g_hash_table_size (summary->tracks) : 0),
      "events", G_TYPE_UINT64, summary->n_events, NULL);
}
