/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Columns in the flat form of a meta.
 *
 * Versions 4 to 7 have the first column, the first two and so on, each a number of entries and these entries. Version 8 has a
 * word with one bit for each column that is there, by GstCclColumn, and each begins with the number and the size of its
 * entries. So a reader skips columns, and ends of entries, that it does not know. */

#include "gstcclflatbytes.h"
#include "gstcclprivate.h"

#define VERSION_OF_FIRST 4      /* each further version up to the mask has one more column */
#define VERSION_WITH_MASK 8
#define N_BEFORE_MASK (VERSION_WITH_MASK - VERSION_OF_FIRST)
#define WORD_SIZE 4
#define N_BITS 32

G_STATIC_ASSERT (GST_CCL_N_COLUMNS <= N_BITS);
G_STATIC_ASSERT (GST_CCL_COLUMN_HOLES == N_BEFORE_MASK - 1);

static gsize
get_entry_size (guint column)
{
  const GstCclColumnInfo *const info = &gst_ccl_column_infos[column];

  return info->n_words * sizeof (guint32) + info->n_longs * sizeof (guint64);
}

/* Entries of a column. */
static gsize
count_entries (const GstCclBlobList * list, guint column)
{
  return list->columns[column] != NULL ? g_bytes_get_size (list->columns[column]) / gst_ccl_column_infos[column].size : 0;
}

static guint32
get_mask (const GstCclBlobList * list, guint32 version)
{
  guint32 mask = 0;

  if (version < VERSION_OF_FIRST)
    return 0;
  if (version < VERSION_WITH_MASK)
    return (1u << (version - VERSION_OF_FIRST + 1)) - 1;
  for (guint i = 0; i < GST_CCL_N_COLUMNS; i++)
    if (count_entries (list, i) > 0)
      mask |= 1u << i;
  return mask;
}

guint32
gst_ccl_flat_columns_get_version (const GstCclBlobList * list)
{
  for (guint i = list != NULL ? GST_CCL_N_COLUMNS : 0; i-- > 0;)
    if (count_entries (list, i) > 0)
      return MIN (VERSION_OF_FIRST + i, VERSION_WITH_MASK);
  return 0;
}

/* ---------------------------------------------------------------- writing */

gsize
gst_ccl_flat_columns_get_size (const GstCclBlobList * list, guint32 version)
{
  const guint32 mask = get_mask (list, version);
  gsize size = version >= VERSION_WITH_MASK ? WORD_SIZE : 0;

  for (guint i = 0; i < GST_CCL_N_COLUMNS; i++)
    if (mask & 1u << i)
      size += (version >= VERSION_WITH_MASK ? 2 : 1) * WORD_SIZE + count_entries (list, i) * get_entry_size (i);
  return size;
}

static void
put_column (guint8 ** p, const GstCclBlobList * list, guint column, guint32 version)
{
  const GstCclColumnInfo *const info = &gst_ccl_column_infos[column];
  const gsize n = count_entries (list, column);
  const guint8 *const entries = n > 0 ? g_bytes_get_data (list->columns[column], NULL) : NULL;

  put32 (p, n);
  if (version >= VERSION_WITH_MASK)
    put32 (p, get_entry_size (column));
  for (gsize i = 0; i < n; i++) {
    const guint8 *entry = entries + i * info->size;

    for (guint k = 0; k < info->n_words; k++, entry += sizeof (guint32)) {
      guint32 word;

      memcpy (&word, entry, sizeof (word));
      put32 (p, word);
    }
    for (guint k = 0; k < info->n_longs; k++, entry += sizeof (guint64)) {
      guint64 word;

      memcpy (&word, entry, sizeof (word));
      put64 (p, word);
    }
  }
}

void
gst_ccl_flat_columns_put (guint8 ** p, const GstCclBlobList * list, guint32 version)
{
  const guint32 mask = get_mask (list, version);

  if (version >= VERSION_WITH_MASK)
    put32 (p, mask);
  for (guint i = 0; i < GST_CCL_N_COLUMNS; i++)
    if (mask & 1u << i)
      put_column (p, list, i, version);
}

/* ---------------------------------------------------------------- reading */

/* The head of a column: the number and the size of its entries. */
static void
get_head (const guint8 ** p, guint column, guint32 version, guint64 * n, guint64 * size)
{
  *n = get32 (p);
  *size = version >= VERSION_WITH_MASK ? get32 (p) : get_entry_size (column);
}

guint64
gst_ccl_flat_columns_measure (const guint8 * columns, guint64 left, guint32 version)
{
  const gsize head_size = (version >= VERSION_WITH_MASK ? 2 : 1) * WORD_SIZE;
  guint64 size = version >= VERSION_WITH_MASK ? WORD_SIZE : 0, n, entry_size;
  guint32 mask;

  if (size > left)
    return size;
  mask = version >= VERSION_WITH_MASK ? get32_at (columns, 0) : get_mask (NULL, version);
  for (guint i = 0; i < N_BITS; i++) {
    const guint8 *p;

    if (!(mask & 1u << i))
      continue;
    p = columns + size;
    size += head_size;
    if (size > left)
      return size;
    get_head (&p, i, version, &n, &entry_size);
    if (n * entry_size > left - size)
      return left + 1;
    size += n * entry_size;
  }
  return size;
}

/* Returns the label of the entry. */
static guint32
get_entry (const guint8 * p, const GstCclColumnInfo * info, guint8 * entry)
{
  const guint32 label = get32_at (p, 0);

  for (guint k = 0; k < info->n_words; k++, entry += sizeof (guint32)) {
    const guint32 word = get32 (&p);

    memcpy (entry, &word, sizeof (word));
  }
  for (guint k = 0; k < info->n_longs; k++, entry += sizeof (guint64)) {
    const guint64 word = get64 (&p);

    memcpy (entry, &word, sizeof (word));
  }
  return label;
}

/* Entries may be longer than those known here. */
static GstCclError
get_column (const guint8 * p, gsize n, gsize size, guint column, GstCclBlobList * list)
{
  const GstCclColumnInfo *const info = &gst_ccl_column_infos[column];
  guint8 *const entries = g_try_malloc0_n (n, info->size);
  gboolean valid = TRUE;
  guint32 last = 0;
  GBytes *bytes;

  if (entries == NULL && n > 0)
    return GST_CCL_ERROR_NO_MEMORY;
  for (gsize i = 0; i < n; i++) {
    const guint32 label = get_entry (p + i * size, info, entries + i * info->size);

    valid = valid && (label > last || (label == last && label > 0 && info->repeats))
        && info->is_valid (entries + i * info->size);
    last = label;
  }
  bytes = g_bytes_new_take (entries, n * info->size);
  gst_ccl_blob_list_set_column (list, column, n > 0 ? bytes : NULL);
  g_bytes_unref (bytes);
  return valid ? 0 : GST_CCL_ERROR_DATA;
}

GstCclError
gst_ccl_flat_columns_get (const guint8 ** p, GstCclBlobList * list, guint32 version, gboolean * has_unknown)
{
  const guint32 mask = version >= VERSION_WITH_MASK ? get32 (p) : get_mask (NULL, version);
  GstCclError error = 0;
  guint64 n, size;

  *has_unknown = FALSE;
  for (guint i = 0; i < N_BITS && error == 0; i++) {
    if (!(mask & 1u << i))
      continue;
    get_head (p, i, version, &n, &size);
    if (version >= VERSION_WITH_MASK && n == 0)
      return GST_CCL_ERROR_DATA;        /* there is one way to write that a column is empty */
    if (i >= GST_CCL_N_COLUMNS || size > get_entry_size (i))
      *has_unknown = TRUE;
    if (i < GST_CCL_N_COLUMNS)
      error = size >= get_entry_size (i) ? get_column (*p, n, size, i, list) : GST_CCL_ERROR_DATA;
    *p += n * size;
  }
  return error;
}
