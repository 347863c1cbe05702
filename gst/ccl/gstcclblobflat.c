/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* The flat form of a meta: a header, one record per blob, a name, a checksum; docs/metadata.md has it byte by byte. */

#include "gstcclprivate.h"

#include <math.h>

#define MAGIC GST_MAKE_FOURCC ('C', 'C', 'L', 'B')
#define VERSION 1

/* Where the fields are that the checks need. */
#define VERSION_AT 4
#define N_BLOBS_AT 40
#define NAME_SIZE_AT 44
#define MATRIX_AT 48

#define HEADER_SIZE 120
#define RECORD_SIZE 96
#define CHECKSUM_SIZE 4

/* ---------------------------------------------------------------- numbers */

/* By copies: the bytes can lie anywhere. */
static void
put32 (guint8 ** p, guint32 value)
{
  const guint32 le = GUINT32_TO_LE (value);

  memcpy (*p, &le, sizeof (le));
  *p += sizeof (le);
}

static void
put64 (guint8 ** p, guint64 value)
{
  const guint64 le = GUINT64_TO_LE (value);

  memcpy (*p, &le, sizeof (le));
  *p += sizeof (le);
}

static void
put_double (guint8 ** p, gdouble value)
{
  guint64 bits;

  memcpy (&bits, &value, sizeof (bits));
  put64 (p, bits);
}

static guint32
get32 (const guint8 ** p)
{
  guint32 le;

  memcpy (&le, *p, sizeof (le));
  *p += sizeof (le);
  return GUINT32_FROM_LE (le);
}

static guint64
get64 (const guint8 ** p)
{
  guint64 le;

  memcpy (&le, *p, sizeof (le));
  *p += sizeof (le);
  return GUINT64_FROM_LE (le);
}

static gdouble
get_double (const guint8 ** p)
{
  const guint64 bits = get64 (p);
  gdouble value;

  memcpy (&value, &bits, sizeof (value));
  return value;
}

static guint32
get32_at (const guint8 * data, gsize at)
{
  data += at;
  return get32 (&data);
}

/* CRC-32 of IEEE 802.3, that of zlib. */
static guint32
checksum (const guint8 * data, gsize size)
{
  static guint32 table[256];
  static gsize table_is_ready = 0;
  guint32 crc = 0xffffffff;

  if (g_once_init_enter (&table_is_ready)) {
    for (guint32 i = 0; i < 256; i++) {
      guint32 c = i;

      for (gint bit = 0; bit < 8; bit++)
        c = (c >> 1) ^ (c & 1 ? 0xedb88320 : 0);
      table[i] = c;
    }
    g_once_init_leave (&table_is_ready, 1);
  }
  for (gsize i = 0; i < size; i++)
    crc = (crc >> 8) ^ table[(crc ^ data[i]) & 0xff];
  return ~crc;
}

/* ---------------------------------------------------------------- writing */

static const gchar *
get_name (const GstCclBlobMeta * meta)
{
  const gchar *const name = gst_ccl_blob_meta_get_source (meta);

  return name != NULL ? name : "";
}

gsize
gst_ccl_blob_meta_get_flat_size (const GstCclBlobMeta * meta)
{
  return HEADER_SIZE + (gsize) gst_ccl_blob_meta_get_length (meta) * RECORD_SIZE + strlen (get_name (meta))
      + CHECKSUM_SIZE;
}

static void
put_blob (guint8 ** p, const GstCclBlob * blob)
{
  put32 (p, blob->label);
  put32 (p, blob->flags);
  put32 (p, blob->x);
  put32 (p, blob->y);
  put32 (p, blob->width);
  put32 (p, blob->height);
  put32 (p, blob->first_x);
  put32 (p, blob->age);
  put64 (p, blob->area);
  put64 (p, blob->m10);
  put64 (p, blob->m01);
  put64 (p, blob->m20);
  put64 (p, blob->m11);
  put64 (p, blob->m02);
  put64 (p, blob->track_id);
  put64 (p, blob->parent_id);
}

void
gst_ccl_blob_meta_write_flat (const GstCclBlobMeta * meta, guint8 * data)
{
  const gchar *const name = get_name (meta);
  const gsize name_size = strlen (name);
  const guint n = gst_ccl_blob_meta_get_length (meta);
  guint8 *p = data;

  put32 (&p, MAGIC);
  put32 (&p, VERSION);
  put32 (&p, meta->flags);
  put32 (&p, meta->ref_width);
  put32 (&p, meta->ref_height);
  put32 (&p, meta->width);
  put32 (&p, meta->height);
  put32 (&p, meta->n_kept);
  put32 (&p, meta->n_total);
  put32 (&p, meta->connectivity);
  put32 (&p, n);
  put32 (&p, name_size);
  for (gint i = 0; i < 9; i++)
    put_double (&p, meta->matrix[i]);
  for (guint i = 0; i < n; i++)
    put_blob (&p, gst_ccl_blob_meta_get_blob (meta, i));
  memcpy (p, name, name_size);
  p += name_size;
  put32 (&p, checksum (data, p - data));
}

/**
 * gst_ccl_blob_meta_to_bytes:
 * @meta: a blob meta
 *
 * Writes the meta in its flat form, for files, sockets and other processes:
 * little endian and the same on every machine. `docs/metadata.md` describes it
 * byte by byte. #GstCclBlob.mtd_id and #GstCclBlob.zones are left out, since
 * they belong to the buffer.
 *
 * Returns: (transfer full): the flat form
 *
 * Since: 0.1
 */
GBytes *
gst_ccl_blob_meta_to_bytes (const GstCclBlobMeta * meta)
{
  gsize size;
  guint8 *data;

  g_return_val_if_fail (meta != NULL, NULL);

  size = gst_ccl_blob_meta_get_flat_size (meta);
  data = g_malloc (size);
  gst_ccl_blob_meta_write_flat (meta, data);
  return g_bytes_new_take (data, size);
}

/* ---------------------------------------------------------------- reading */

static gboolean
refuse (GError ** error, GstCclError code, const gchar * reason)
{
  g_set_error (error, GST_CCL_ERROR, code, "cannot read the flat form of a blob meta: %s", reason);
  return FALSE;
}

/* Checks everything but the numbers; nothing is allocated before this says yes. */
static gboolean
check_envelope (const guint8 * data, gsize size, GError ** error)
{
  if (size < HEADER_SIZE + CHECKSUM_SIZE)
    return refuse (error, GST_CCL_ERROR_DATA, "shorter than its header");
  if (get32_at (data, 0) != MAGIC)
    return refuse (error, GST_CCL_ERROR_DATA, "does not begin with CCLB");
  if (get32_at (data, VERSION_AT) > VERSION)
    return refuse (error, GST_CCL_ERROR_VERSION, "written by a newer version of gst-ccl");

  const guint64 n = get32_at (data, N_BLOBS_AT), name_size = get32_at (data, NAME_SIZE_AT);

  if (n > GST_CCL_BLOB_LIST_MAX || size != HEADER_SIZE + n * RECORD_SIZE + name_size + CHECKSUM_SIZE)
    return refuse (error, GST_CCL_ERROR_DATA, "its length does not fit its number of blobs");
  if (get32_at (data, size - CHECKSUM_SIZE) != checksum (data, size - CHECKSUM_SIZE))
    return refuse (error, GST_CCL_ERROR_DATA, "damaged (checksum)");

  const gchar *const name = (const gchar *) data + HEADER_SIZE + n * RECORD_SIZE;

  if (get32_at (data, VERSION_AT) == 0 || !g_utf8_validate_len (name, name_size, NULL))
    return refuse (error, GST_CCL_ERROR_DATA, "its version or the name of its source is not valid");
  return TRUE;
}

static gboolean
get_blob (const guint8 ** p, GstCclBlob * blob)
{
  memset (blob, 0, sizeof (GstCclBlob));
  blob->label = get32 (p);
  blob->flags = get32 (p);
  blob->x = get32 (p);
  blob->y = get32 (p);
  blob->width = get32 (p);
  blob->height = get32 (p);
  blob->first_x = get32 (p);
  blob->age = get32 (p);
  blob->area = get64 (p);
  blob->m10 = get64 (p);
  blob->m01 = get64 (p);
  blob->m20 = get64 (p);
  blob->m11 = get64 (p);
  blob->m02 = get64 (p);
  blob->track_id = get64 (p);
  blob->parent_id = get64 (p);
  blob->mtd_id = GST_CCL_MTD_ID_NONE;
  return blob->width >= 0 && blob->height >= 0;
}

static GstCclBlobList *
get_list (const guint8 ** p, guint n)
{
  GstCclBlob *blobs;
  GstCclBlobList *const list = gst_ccl_blob_list_new_uninitialized (n, &blobs);

  for (guint i = 0; i < n; i++) {
    if (!get_blob (p, &blobs[i])) {
      gst_ccl_blob_list_unref (list);
      return NULL;
    }
  }
  return list;
}

/* The fields before the list; FALSE when one is out of its range. */
static gboolean
get_header (const guint8 ** p, GstCclBlobMeta * meta)
{
  gboolean valid = TRUE;

  meta->flags = get32 (p);
  meta->ref_width = get32 (p);
  meta->ref_height = get32 (p);
  meta->width = get32 (p);
  meta->height = get32 (p);
  meta->n_kept = get32 (p);
  meta->n_total = get32 (p);
  meta->connectivity = get32 (p);
  *p = *p + (MATRIX_AT - N_BLOBS_AT);
  for (gint i = 0; i < 9; i++) {
    meta->matrix[i] = get_double (p);
    valid = valid && isfinite (meta->matrix[i]);
  }
  return valid;
}

GstCclBlobMeta *
gst_buffer_add_ccl_blob_meta_from_flat (GstBuffer * buffer, const guint8 * data, gsize size, GError ** error)
{
  GstCclBlobMeta header, *meta;
  GstCclBlobList *list;
  const guint8 *p = data + 8;

  if (!check_envelope (data, size, error))
    return NULL;
  list = get_header (&p, &header) ? get_list (&p, get32_at (data, N_BLOBS_AT)) : NULL;
  if (list == NULL) {
    refuse (error, GST_CCL_ERROR_DATA, "a number is out of its range");
    return NULL;
  }

  meta = gst_buffer_add_ccl_blob_meta (buffer, list, header.ref_width, header.ref_height);
  gst_ccl_blob_list_unref (list);
  if (meta == NULL) {
    refuse (error, GST_CCL_ERROR_DATA, "the buffer is not writable");
    return NULL;
  }

  const guint32 name_size = get32_at (data, NAME_SIZE_AT);

  meta->flags = header.flags;
  meta->width = header.width;
  meta->height = header.height;
  meta->n_kept = header.n_kept;
  meta->n_total = header.n_total;
  meta->connectivity = header.connectivity;
  memcpy (meta->matrix, header.matrix, sizeof (header.matrix));
  if (name_size > 0) {
    gchar *const name = g_strndup ((const gchar *) p, name_size);

    meta->source = g_quark_from_string (name);
    g_free (name);
  }
  return meta;
}

/**
 * gst_buffer_add_ccl_blob_meta_from_bytes:
 * @buffer: a writable buffer
 * @bytes: what gst_ccl_blob_meta_to_bytes() returned, here or elsewhere
 * @error: return location for an error of #GST_CCL_ERROR
 *
 * Adds the meta that @bytes describes. Bytes that were cut short or damaged,
 * or are something else, are refused and leave @buffer as it was.
 *
 * Returns: (transfer none): the meta; it belongs to @buffer. %NULL on error
 *
 * Since: 0.1
 */
GstCclBlobMeta *
gst_buffer_add_ccl_blob_meta_from_bytes (GstBuffer * buffer, GBytes * bytes, GError ** error)
{
  gconstpointer data;
  gsize size;

  g_return_val_if_fail (GST_IS_BUFFER (buffer), NULL);
  g_return_val_if_fail (bytes != NULL, NULL);
  g_return_val_if_fail (error == NULL || *error == NULL, NULL);

  data = g_bytes_get_data (bytes, &size);
  return gst_buffer_add_ccl_blob_meta_from_flat (buffer, data, size, error);
}
