/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* The flat form of a meta: a header, one record per blob, a name, a checksum; docs/metadata.md has it byte by byte.
 *
 * It knows the members of a meta, not how a meta is registered or added to a buffer. */

#include "gstcclflatbytes.h"
#include "gstcclmatrix.h"
#include "gstcclprivate.h"

#include <math.h>

#define MAGIC GST_MAKE_FOURCC ('C', 'C', 'L', 'B')
/* The writer uses the lowest version that can hold all data. */
#define VERSION 1
#define VERSION_WITH_POINTS 2
#define VERSION_WITH_VOLUMES 3  /* and with points, possibly none */
#define VERSION_WITH_COLUMNS 4  /* and with both; up to the newest they differ in columns: gstcclflatcolumns.c */
#define NEWEST_VERSION 8

/* Offsets of the fields that the checks need. */
#define VERSION_AT 4
#define FLAGS_AT 8
#define N_BLOBS_AT 40
#define NAME_SIZE_AT 44
#define MATRIX_AT 48

#define HEADER_SIZE 120
#define RECORD_SIZE 96
#define VOLUME_SIZE 8           /* additional size of a record in a version with volumes */
#define COUNTS_SIZE 4           /* of points, per blob */
#define POINT_SIZE 8
#define CHECKSUM_SIZE 4

/* Far beyond any frame and any scaling, but mapped coordinates of 32 bits are still finite. */
#define MAX_MATRIX_ENTRY 1e12

/* Maximum length of the name of a source, and number of new names from bytes. A process never frees a name. */
#define MAX_SOURCE_SIZE 255
#define MAX_SOURCES 1024

/* CRC-32 of IEEE 802.3, as in zlib. */
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

static gsize
record_size (guint32 version)
{
  return version >= VERSION_WITH_VOLUMES ? RECORD_SIZE + VOLUME_SIZE : RECORD_SIZE;
}

/* ---------------------------------------------------------------- writing */

/* "" when the name is longer than readers accept. */
static const gchar *
get_name (const GstCclBlobMeta * meta)
{
  const gchar *const name = g_quark_to_string (meta->source);

  return name != NULL && strlen (name) <= MAX_SOURCE_SIZE ? name : "";
}

static guint
get_length (const GstCclBlobMeta * meta)
{
  return gst_ccl_blob_list_get_length (meta->list);
}

/* Contours and trails of all blobs. */
static gsize
count_points (const GstCclBlobList * list)
{
  gsize sum = 0;

  for (guint i = 0; list != NULL && i < gst_ccl_blob_list_get_length (list); i++) {
    guint n_contour, n_trail;

    gst_ccl_blob_list_get_contour (list, i, &n_contour);
    gst_ccl_blob_list_get_trail (list, i, &n_trail);
    sum += n_contour + n_trail;
  }
  return sum;
}

static guint32
get_version (const GstCclBlobList * list)
{
  const guint32 of_columns = gst_ccl_flat_columns_get_version (list);

  if (of_columns > 0)
    return of_columns;
  for (guint i = 0; list != NULL && i < gst_ccl_blob_list_get_length (list); i++)
    if (gst_ccl_blob_list_get (list, i)->volume_id != 0)
      return VERSION_WITH_VOLUMES;
  return count_points (list) > 0 ? VERSION_WITH_POINTS : VERSION;
}

gsize
gst_ccl_blob_meta_get_flat_size (const GstCclBlobMeta * meta)
{
  const guint32 version = get_version (meta->list);
  const gsize n = get_length (meta);
  gsize size = HEADER_SIZE + n * record_size (version) + strlen (get_name (meta)) + CHECKSUM_SIZE;

  if (version >= VERSION_WITH_POINTS)
    size += n * COUNTS_SIZE + count_points (meta->list) * POINT_SIZE;
  return size + gst_ccl_flat_columns_get_size (meta->list, version);
}

static void
put_points (guint8 ** p, const GstCclPoint * points, guint n)
{
  for (guint i = 0; i < n; i++) {
    put_float (p, points[i].x);
    put_float (p, points[i].y);
  }
}

/* The numbers of points of each blob, then the points. */
static void
put_all_points (guint8 ** p, const GstCclBlobList * list, guint n_blobs)
{
  const GstCclPoint *contour, *trail;
  guint n_contour, n_trail;

  for (guint i = 0; i < n_blobs; i++) {
    gst_ccl_blob_list_get_contour (list, i, &n_contour);
    gst_ccl_blob_list_get_trail (list, i, &n_trail);
    put32 (p, n_contour | n_trail << 16);
  }
  for (guint i = 0; i < n_blobs; i++) {
    contour = gst_ccl_blob_list_get_contour (list, i, &n_contour);
    trail = gst_ccl_blob_list_get_trail (list, i, &n_trail);
    put_points (p, contour, n_contour);
    put_points (p, trail, n_trail);
  }
}

static void
put_blob (guint8 ** p, const GstCclBlob * blob, guint32 version)
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
  if (version >= VERSION_WITH_VOLUMES)
    put64 (p, blob->volume_id);
}

void
gst_ccl_blob_meta_write_flat (const GstCclBlobMeta * meta, guint8 * data)
{
  const gchar *const name = get_name (meta);
  const gsize name_size = strlen (name);
  const guint n = get_length (meta);
  const guint32 version = get_version (meta->list);
  guint8 *p = data;

  put32 (&p, MAGIC);
  put32 (&p, version);
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
    put_blob (&p, gst_ccl_blob_list_get (meta->list, i), version);
  memcpy (p, name, name_size);
  p += name_size;
  if (version >= VERSION_WITH_POINTS)
    put_all_points (&p, meta->list, n);
  gst_ccl_flat_columns_put (&p, meta->list, version);
  put32 (&p, checksum (data, p - data));
}

/* ---------------------------------------------------------------- reading */

static gboolean
refuse (GError ** error, GstCclError code, const gchar * reason)
{
  g_set_error (error, GST_CCL_ERROR, code, "cannot read the flat form of a blob meta: %s", reason);
  return FALSE;
}

/* Length of the points of a version that has them, from their numbers. `left`: number of bytes available. */
static guint64
get_points_size (const guint8 * counts, guint64 n_blobs, guint64 left)
{
  guint64 size = n_blobs * COUNTS_SIZE;

  if (size > left)
    return size;
  for (guint64 i = 0; i < n_blobs; i++) {
    const guint32 both = get32_at (counts, i * COUNTS_SIZE);

    size += (guint64) POINT_SIZE *((both & 0xffff) + (both >> 16));
  }
  return size;
}

/* Checks everything except the numbers. Nothing is allocated before this returns TRUE. */
static gboolean
check_envelope (const guint8 * data, gsize size, GError ** error)
{
  if (size < HEADER_SIZE + CHECKSUM_SIZE)
    return refuse (error, GST_CCL_ERROR_DATA, "shorter than its header");
  if (get32_at (data, 0) != MAGIC)
    return refuse (error, GST_CCL_ERROR_DATA, "does not begin with CCLB");

  const guint32 version = get32_at (data, VERSION_AT);

  if (version > NEWEST_VERSION)
    return refuse (error, GST_CCL_ERROR_VERSION, "written by a newer version of gst-ccl");

  const guint64 n = get32_at (data, N_BLOBS_AT), name_size = get32_at (data, NAME_SIZE_AT);
  guint64 expected = HEADER_SIZE + n * record_size (version) + name_size + CHECKSUM_SIZE;

  if (version >= VERSION_WITH_POINTS && n <= GST_CCL_MAX_BLOBS && expected <= size)
    expected += get_points_size (data + (expected - CHECKSUM_SIZE), n, size - expected);
  if (version >= VERSION_WITH_COLUMNS && n <= GST_CCL_MAX_BLOBS && expected <= size)
    expected += gst_ccl_flat_columns_measure (data + (expected - CHECKSUM_SIZE), size - expected, version);
  if (n > GST_CCL_MAX_BLOBS || size != expected)
    return refuse (error, GST_CCL_ERROR_DATA, "its length does not fit its number of blobs");
  if (get32_at (data, size - CHECKSUM_SIZE) != checksum (data, size - CHECKSUM_SIZE))
    return refuse (error, GST_CCL_ERROR_DATA, "damaged (checksum)");

  const gchar *const name = (const gchar *) data + HEADER_SIZE + n * record_size (version);

  if (version == 0 || name_size > MAX_SOURCE_SIZE || !g_utf8_validate_len (name, name_size, NULL))
    return refuse (error, GST_CCL_ERROR_DATA, "its version or the name of its source is not valid");
  return TRUE;
}

static gboolean
get_blob (const guint8 ** p, GstCclBlob * blob, guint32 version)
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
  blob->volume_id = version >= VERSION_WITH_VOLUMES ? get64 (p) : 0;
  blob->mtd_id = GST_CCL_MTD_ID_NONE;
  return blob->width >= 0 && blob->height >= 0;
}

#define NO_MEMORY "out of memory"
#define OUT_OF_RANGE "a number is out of its range"

static GstCclBlobList *
get_list (const guint8 ** p, guint n, guint32 version, GError ** error)
{
  GstCclBlob *blobs;
  GstCclBlobList *const list = gst_ccl_blob_list_new_uninitialized (n, &blobs);

  if (list == NULL) {
    refuse (error, GST_CCL_ERROR_NO_MEMORY, NO_MEMORY);
    return NULL;
  }
  for (guint i = 0; i < n; i++) {
    if (!get_blob (p, &blobs[i], version)) {
      refuse (error, GST_CCL_ERROR_DATA, OUT_OF_RANGE);
      gst_ccl_blob_list_unref (list);
      return NULL;
    }
  }
  return list;
}

/* Contours and trails of a list. */
static gboolean
get_points (const guint8 ** p, GstCclBlobList * list, GError ** error)
{
  const guint n = gst_ccl_blob_list_get_length (list);
  GstCclBlob *const blobs = (GstCclBlob *) gst_ccl_blob_list_get (list, 0);
  gsize n_points = 0;
  GstCclPoint *points;
  GBytes *bytes;
  gboolean valid = TRUE;

  for (guint i = 0; i < n; i++) {
    const guint32 both = get32 (p);

    blobs[i].first_point = n_points;
    blobs[i].n_contour = both & 0xffff;
    blobs[i].n_trail = both >> 16;
    n_points += blobs[i].n_contour + blobs[i].n_trail;
  }
  points = g_try_new (GstCclPoint, n_points);
  if (points == NULL && n_points > 0)
    return refuse (error, GST_CCL_ERROR_NO_MEMORY, NO_MEMORY);
  for (gsize i = 0; i < n_points; i++) {
    points[i].x = get_float (p);
    points[i].y = get_float (p);
    valid = valid && isfinite (points[i].x) && isfinite (points[i].y);
  }
  bytes = g_bytes_new_take (points, n_points * sizeof (GstCclPoint));
  gst_ccl_blob_list_set_points (list, bytes);
  g_bytes_unref (bytes);
  return valid && n_points <= G_MAXUINT32 ? TRUE : refuse (error, GST_CCL_ERROR_DATA, OUT_OF_RANGE);
}

/* Points and columns. A version must have data that earlier versions cannot hold. */
static gboolean
get_rest (const guint8 ** p, GstCclBlobList * list, guint32 version, GError ** error)
{
  gboolean has_unknown = FALSE;
  GstCclError code = 0;

  if (version >= VERSION_WITH_POINTS && !get_points (p, list, error))
    return FALSE;
  if (version >= VERSION_WITH_COLUMNS)
    code = gst_ccl_flat_columns_get (p, list, version, &has_unknown);
  if (code == 0 && version >= VERSION_WITH_POINTS && !has_unknown && get_version (list) != version)
    code = GST_CCL_ERROR_DATA;
  return code == 0 ? TRUE : refuse (error, code, code == GST_CCL_ERROR_NO_MEMORY ? NO_MEMORY : OUT_OF_RANGE);
}

/* Reads the fields before the list. FALSE: one is out of its range. */
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
    valid = valid && fabs (meta->matrix[i]) <= MAX_MATRIX_ENTRY;
  }
  return valid && gst_ccl_matrix_is_usable (meta->matrix);
}

/* 0 for a new name after MAX_SOURCES new names have come from bytes. */
static GQuark
get_quark (const gchar * name, gsize name_size)
{
  static GMutex lock;
  static guint n_sources = 0;
  gchar terminated[MAX_SOURCE_SIZE + 1];
  GQuark quark;

  memcpy (terminated, name, name_size);
  terminated[name_size] = '\0';
  g_mutex_lock (&lock);
  quark = g_quark_try_string (terminated);
  if (quark == 0 && n_sources < MAX_SOURCES) {
    quark = g_quark_from_string (terminated);
    n_sources++;
  }
  g_mutex_unlock (&lock);
  return quark;
}

gboolean
gst_ccl_blob_meta_read_flat (GstCclBlobMeta * meta, const guint8 * data, gsize size, GError ** error)
{
  GstCclBlobList *list;
  const guint8 *p;
  const gchar *name;
  guint32 version, name_size;

  if (!check_envelope (data, size, error))
    return FALSE;
  p = data + FLAGS_AT;
  version = get32_at (data, VERSION_AT);
  name_size = get32_at (data, NAME_SIZE_AT);
  if (!get_header (&p, meta))
    return refuse (error, GST_CCL_ERROR_DATA, OUT_OF_RANGE);
  list = get_list (&p, get32_at (data, N_BLOBS_AT), version, error);
  if (list == NULL)
    return FALSE;
  name = (const gchar *) p;
  p += name_size;
  if (!get_rest (&p, list, version, error)) {
    gst_ccl_blob_list_unref (list);
    return FALSE;
  }
  meta->list = list;
  meta->source = name_size > 0 ? get_quark (name, name_size) : 0;
  return TRUE;
}
