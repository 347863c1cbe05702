/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Samples of the flat form, and what refuses them, for the files of this suite. */
#ifndef __BLOBFLAT_H__
#define __BLOBFLAT_H__

#include "support/flatform.h"
#include "support/skip.h"
#include "testblobs.h"

#define HEADER_SIZE 120
#define NEWEST_VERSION 8
#define VERSION_AT 4
#define N_BLOBS_AT 40
#define NAME_SIZE_AT 44
#define MATRIX_AT 48
#define FIRST_BLOB_AT HEADER_SIZE
#define NAME_AT (HEADER_SIZE + 3 * 96)  /* of the sample */

/* What decides the version: bits of a loop test's index. */
#define WITH_POINTS 1
#define WITH_VOLUMES 2
#define WITH_SHAPE 4
#define WITH_HULL 8
#define WITH_HOLES 16
#define WITH_CLASS_IDS 32
#define WITH_INTENSITY 64

static inline void
add_more (GstCclBlobMeta * meta, gint with)
{
  if (with & WITH_POINTS)
    add_points (meta);
  if (with & WITH_SHAPE)
    add_shape (meta);
  if (with & WITH_HULL)
    add_hull (meta);
  if (with & WITH_HOLES)
    add_holes (meta);
  if (with & WITH_CLASS_IDS)
    add_class_ids (meta);
  if (with & WITH_INTENSITY)
    add_intensity (meta);
  if (with & WITH_VOLUMES)
    ((GstCclBlob *) gst_ccl_blob_meta_get_blob (meta, 1))->volume_id = G_GUINT64_CONSTANT (5000000002);
}

/* Everything that the flat form keeps. */
static inline void
assert_same (const GstCclBlobMeta * a, const GstCclBlobMeta * b)
{
  const guint n = gst_ccl_blob_meta_get_length (a);

  fail_unless_equals_int (a->flags, b->flags);
  fail_unless_equals_int (a->ref_width, b->ref_width);
  fail_unless_equals_int (a->ref_height, b->ref_height);
  fail_unless_equals_int (a->width, b->width);
  fail_unless_equals_int (a->height, b->height);
  fail_unless_equals_int (a->n_kept, b->n_kept);
  fail_unless_equals_int (a->n_total, b->n_total);
  fail_unless_equals_int (a->connectivity, b->connectivity);
  fail_unless (a->source == b->source);
  fail_unless (memcmp (a->matrix, b->matrix, sizeof (a->matrix)) == 0);
  fail_unless_equals_int (gst_ccl_blob_meta_get_length (b), n);
  for (guint i = 0; i < n; i++) {
    GstCclBlob expected = *gst_ccl_blob_meta_get_blob (a, i);

    expected.mtd_id = GST_CCL_MTD_ID_NONE;
    expected.zones = 0;
    expected._gst_reserved = 0;
    expected.first_point = gst_ccl_blob_meta_get_blob (b, i)->first_point;
    fail_unless (memcmp (&expected, gst_ccl_blob_meta_get_blob (b, i), sizeof (expected)) == 0, "blob %u", i);
    assert_same_points (gst_ccl_blob_meta_get_contour, a, b, i);
    assert_same_points (gst_ccl_blob_meta_get_trail, a, b, i);
    assert_same_shape (a, b, i);
    assert_same_hull (a, b, i);
    assert_same_holes (a, b, i);
    assert_same_class_id (a, b, i);
    assert_same_intensity (a, b, i);
  }
}

static inline GBytes *
new_sample_bytes (gint with)
{
  GstBuffer *const buffer = gst_buffer_new ();
  GstCclBlobMeta *const meta = add_sample (buffer);
  GBytes *bytes;

  add_more (meta, with);
  bytes = gst_ccl_blob_meta_to_bytes (meta);

  gst_buffer_unref (buffer);
  return bytes;
}

static inline void
put32 (guint8 * data, guint32 value)
{
  for (gint i = 0; i < 4; i++)
    data[i] = value >> 8 * i;
}

static inline void
put_double (guint8 * data, gdouble value)
{
  guint64 bits;

  memcpy (&bits, &value, sizeof (bits));
  put32 (data, bits);
  put32 (data + 4, bits >> 32);
}

static inline GstCclBlobMeta *
read_data (GstBuffer * buffer, const guint8 * data, gsize size, GError ** error)
{
  /* A block of exactly this size: reading past its end is seen by sanitizers and valgrind. */
  GBytes *const bytes = g_bytes_new (data, size);
  GstCclBlobMeta *const meta = gst_buffer_add_ccl_blob_meta_from_bytes (buffer, bytes, error);

  g_bytes_unref (bytes);
  return meta;
}

static inline void
assert_refused (const guint8 * data, gsize size, GstCclError code, const gchar * reason)
{
  GstBuffer *const buffer = gst_buffer_new ();
  GError *error = NULL;

  fail_unless (read_data (buffer, data, size, &error) == NULL, "accepted: %s", reason);
  fail_unless (g_error_matches (error, GST_CCL_ERROR, code), "%s: %s", reason, error ? error->message : "no error");
  fail_unless (gst_buffer_get_ccl_blob_meta (buffer) == NULL, "%s", reason);
  g_clear_error (&error);
  /* Not asking why is allowed. */
  fail_unless (read_data (buffer, data, size, NULL) == NULL);
  gst_buffer_unref (buffer);
}

#define REFUSED_WITH(statement, code, reason) \
  G_STMT_START { \
    memcpy (copy, data, size); \
    statement; \
    repair_flat_form (copy, size); \
    assert_refused (copy, size, code, reason); \
  } G_STMT_END

void blobflat_add_columns_tests (TCase * tests);
void blobflat_add_tables_tests (TCase * tests);

#endif
