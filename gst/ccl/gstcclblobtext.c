/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* A blob meta as one line of text. */

#include "gstcclprivate.h"

static void
append_double (GString * string, gdouble value)
{
  gchar text[G_ASCII_DTOSTR_BUF_SIZE];

  g_string_append (string, g_ascii_formatd (text, sizeof (text), "%.10g", value));
}

/* The names of the bits set, joined by "+". */
static void
append_flags (GString * string, guint32 flags, const gchar * const names[], guint n_names)
{
  const gchar *between = "";

  for (guint bit = 0; bit < 32; bit++) {
    if (!(flags & (1u << bit)))
      continue;
    g_string_append (string, between);
    if (bit < n_names && names[bit] != NULL)
      g_string_append (string, names[bit]);
    else
      g_string_append_printf (string, "bit%u", bit);
    between = "+";
  }
}

static void
append_blob (GString * string, const GstCclBlob * blob)
{
  static const gchar *const names[] = {
    "left", "top", "right", "bottom", NULL, NULL, NULL, NULL,
    "tentative", "confirmed", "predicted", "lost", "merged", "split"
  };

  g_string_append_printf (string, "; blob %u: area %" G_GUINT64_FORMAT ", box %d,%d %dx%d", blob->label, blob->area,
      blob->x, blob->y, blob->width, blob->height);
  if (blob->track_id != 0)
    g_string_append_printf (string, ", track %" G_GUINT64_FORMAT ", age %u", blob->track_id, blob->age);
  if (blob->parent_id != 0)
    g_string_append_printf (string, ", out of track %" G_GUINT64_FORMAT, blob->parent_id);
  if (blob->volume_id != 0)
    g_string_append_printf (string, ", volume %" G_GUINT64_FORMAT, blob->volume_id);
  if (blob->flags != 0) {
    g_string_append (string, ", ");
    append_flags (string, blob->flags, names, G_N_ELEMENTS (names));
  }
}

/**
 * gst_ccl_blob_meta_to_string:
 * @meta: a blob meta
 *
 * Describes the meta in one line, for logs and tests. The same content gives
 * the same line on every machine.
 *
 * Returns: (transfer full): the description; free it with g_free()
 *
 * Since: 0.1
 */
gchar *
gst_ccl_blob_meta_to_string (const GstCclBlobMeta * meta)
{
  static const gchar *const names[] = { "truncated", "skipped", "global-change", "predicted-only" };
  GString *string;
  guint n;

  g_return_val_if_fail (meta != NULL, NULL);

  n = gst_ccl_blob_meta_get_length (meta);
  string = g_string_new (NULL);
  g_string_append_printf (string, "%u blobs (kept %u of %u, %u-connected) of a %ux%u mask in a %ux%u frame", n,
      meta->n_kept, meta->n_total, meta->connectivity, meta->ref_width, meta->ref_height, meta->width, meta->height);
  if (!gst_ccl_blob_meta_is_identity (meta)) {
    for (gint i = 0; i < 9; i++) {
      g_string_append (string, i == 0 ? ", matrix " : i % 3 == 0 ? " / " : " ");
      append_double (string, meta->matrix[i]);
    }
  }
  if (meta->flags != 0) {
    g_string_append (string, ", ");
    append_flags (string, meta->flags, names, G_N_ELEMENTS (names));
  }
  if (meta->source != 0)
    g_string_append_printf (string, ", from %s", gst_ccl_blob_meta_get_source (meta));
  for (guint i = 0; i < n; i++)
    append_blob (string, gst_ccl_blob_meta_get_blob (meta, i));
  return g_string_free (string, FALSE);
}
