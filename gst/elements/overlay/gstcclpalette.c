/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "gstcclpalette.h"

#include <string.h>

typedef struct
{
  guint number;                 /* gst_ccl_colour_of_number() */
  guint64 seen;                 /* number of the frame */
} TrackColour;

struct _GstCclPalette
{
  GHashTable *colours;          /* guint64* -> TrackColour */
  guint n_tracks[GST_CCL_PALETTE_SIZE]; /* tracks of each colour */
};

GstCclPalette *
gst_ccl_palette_new (void)
{
  GstCclPalette *const palette = g_new0 (GstCclPalette, 1);

  palette->colours = g_hash_table_new_full (g_int64_hash, g_int64_equal, g_free, g_free);
  return palette;
}

void
gst_ccl_palette_free (GstCclPalette * palette)
{
  g_hash_table_unref (palette->colours);
  g_free (palette);
}

void
gst_ccl_palette_reset (GstCclPalette * palette)
{
  g_hash_table_remove_all (palette->colours);
  memset (palette->n_tracks, 0, sizeof palette->n_tracks);
}

/* The eye tells greens apart better than blues, and blues better than reds. */
static gdouble
colour_distance (GstCclColour a, GstCclColour b)
{
  const gdouble red = a.red - b.red, green = a.green - b.green, blue = a.blue - b.blue;

  return 2 * red * red + 4 * green * green + 3 * blue * blue;
}

/* Of the colours with the fewest tracks, returns the one that differs most from those in the frame; `first` in an empty
 * frame. */
static guint
choose_colour (const GstCclPalette * palette, const gboolean * in_frame, guint first)
{
  guint chosen = first, fewest = G_MAXUINT;
  gdouble farthest = -1;

  for (guint i = 0; i < GST_CCL_PALETTE_SIZE; i++) {
    const guint number = (first + i) % GST_CCL_PALETTE_SIZE, n = palette->n_tracks[number];
    gdouble nearest = G_MAXDOUBLE;

    for (guint other = 0; other < GST_CCL_PALETTE_SIZE; other++)
      if (in_frame[other])
        nearest =
            MIN (nearest, colour_distance (gst_ccl_colour_of_number (number), gst_ccl_colour_of_number (other)));
    if (n < fewest || (n == fewest && nearest > farthest)) {
      chosen = number;
      fewest = n;
      farthest = nearest;
    }
  }
  return chosen;
}

static void
free_unseen_colours (GstCclPalette * palette, guint64 frame)
{
  GHashTableIter iter;
  gpointer value;

  g_hash_table_iter_init (&iter, palette->colours);
  while (g_hash_table_iter_next (&iter, NULL, &value)) {
    const TrackColour *const colour = value;

    if (colour->seen + GST_CCL_MAX_UNSEEN_FRAMES >= frame)
      continue;
    palette->n_tracks[colour->number]--;
    g_hash_table_iter_remove (&iter);
  }
}

void
gst_ccl_palette_assign (GstCclPalette * palette, const guint64 * track_ids, guint n, guint64 frame)
{
  gboolean in_frame[GST_CCL_PALETTE_SIZE] = { FALSE };

  free_unseen_colours (palette, frame);
  for (guint i = 0; i < n; i++) {
    TrackColour *const colour = g_hash_table_lookup (palette->colours, &track_ids[i]);

    if (colour) {
      in_frame[colour->number] = TRUE;
      colour->seen = frame;
    }
  }
  for (guint i = 0; i < n; i++) {
    const guint64 id = track_ids[i];
    TrackColour *colour;

    if (id == 0 || g_hash_table_contains (palette->colours, &id))
      continue;
    colour = g_new (TrackColour, 1);
    *colour = (TrackColour) { choose_colour (palette, in_frame, id % GST_CCL_PALETTE_SIZE), frame};
    palette->n_tracks[colour->number]++;
    in_frame[colour->number] = TRUE;
    g_hash_table_insert (palette->colours, g_memdup2 (&id, sizeof id), colour);
  }
}

GstCclColour
gst_ccl_palette_colour_of_track (const GstCclPalette * palette, guint64 track_id)
{
  const TrackColour *const colour = g_hash_table_lookup (palette->colours, &track_id);

  return gst_ccl_colour_of_number (colour ? colour->number : track_id);
}
