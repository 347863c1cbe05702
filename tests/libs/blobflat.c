/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* The flat form of a meta: there and back, and nothing damaged gets through. CCL_TEST_SEED repeats a run. */

#include "blobflat.h"

/* Of a sample: two entries a column. */
static gsize
columns_size (gint with)
{
  const gsize entries = 2 * ((with & WITH_SHAPE ? 20 : 0) + (with & WITH_HULL ? 56 : 0) + (with & WITH_HOLES ? 16 + 32 : 0)
      + (with & WITH_CLASS_IDS ? 8 : 0) + (with & WITH_INTENSITY ? 16 + 96 : 0));
  const guint n_columns = !!(with & WITH_SHAPE) + !!(with & WITH_HULL) + 2 * !!(with & WITH_HOLES)
      + !!(with & WITH_CLASS_IDS) + !!(with & WITH_INTENSITY);

  if (with >= WITH_CLASS_IDS)
    return entries + 4 + 8 * n_columns;
  return entries + 4 * (with >= WITH_HOLES ? 4 : with >= WITH_HULL ? 2 : with >= WITH_SHAPE ? 1 : 0);
}

GST_START_TEST (test_round_trip)
{
  GstBuffer *const buffer = gst_buffer_new (), *const other = gst_buffer_new ();
  GstCclBlobMeta *const meta = add_sample (buffer);
  const gint versions[] = { 1, 2, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 5, 5, 5, 5, 7, 7 };
  const gint version = __i__ < WITH_CLASS_IDS ? versions[__i__] : 8;
  GBytes *bytes;
  GError *error = NULL;
  GstCclBlobMeta *read;

  add_more (meta, __i__);
  for (gint i = 0; i < 9; i++)
    meta->matrix[i] += 0.1 * i;
  meta->width = 1000;
  gst_ccl_blob_meta_set_list (meta, meta->list);
  bytes = gst_ccl_blob_meta_to_bytes (meta);
  fail_unless_equals_int (g_bytes_get_size (bytes), HEADER_SIZE + 3 * 96 + strlen ("ccllabel0")
      + (__i__ ? 3 * 4 : 0) + (__i__ & WITH_POINTS ? 11 * 8 : 0) + (__i__ >= WITH_VOLUMES ? 3 * 8 : 0)
      + columns_size (__i__) + 4);
  fail_unless_equals_int (((const guint8 *) g_bytes_get_data (bytes, NULL))[VERSION_AT], version);
  read = gst_buffer_add_ccl_blob_meta_from_bytes (other, bytes, &error);
  fail_unless (read != NULL && error == NULL);
  assert_same (meta, read);
  g_bytes_unref (bytes);
  gst_buffer_unref (other);
  gst_buffer_unref (buffer);
}

GST_END_TEST;

GST_START_TEST (test_round_trip_of_nothing)
{
  GstBuffer *const buffer = gst_buffer_new (), *const other = gst_buffer_new ();
  GstCclBlobMeta *const meta = gst_buffer_add_ccl_blob_meta (buffer, NULL, 1, 1);
  GBytes *const bytes = gst_ccl_blob_meta_to_bytes (meta);

  fail_unless_equals_int (g_bytes_get_size (bytes), HEADER_SIZE + 4);
  assert_same (meta, gst_buffer_add_ccl_blob_meta_from_bytes (other, bytes, NULL));
  g_bytes_unref (bytes);
  gst_buffer_unref (other);
  gst_buffer_unref (buffer);
}

GST_END_TEST;

GST_START_TEST (test_round_trip_of_extremes)
{
  GstCclBlob blob;
  GstBuffer *const buffer = gst_buffer_new (), *const other = gst_buffer_new ();
  GstCclBlobMeta *meta;
  GBytes *bytes;
  gchar *const name = g_strnfill (255, 'x');

  memset (&blob, 0xff, sizeof (blob));
  blob.width = blob.height = G_MAXINT32;
  blob.x = blob.y = G_MININT32;
  /* The points of another list are none of this one. */
  meta = add_blobs (buffer, &blob, 1, G_MAXUINT, G_MAXUINT);
  meta->matrix[3] = -1e12;
  meta->source = g_quark_from_string (name);
  g_free (name);
  bytes = gst_ccl_blob_meta_to_bytes (meta);
  ((GstCclBlob *) gst_ccl_blob_meta_get_blob (meta, 0))->n_contour = 0;
  ((GstCclBlob *) gst_ccl_blob_meta_get_blob (meta, 0))->n_trail = 0;
  assert_same (meta, gst_buffer_add_ccl_blob_meta_from_bytes (other, bytes, NULL));
  g_bytes_unref (bytes);
  gst_buffer_unref (other);

  gst_buffer_unref (buffer);
}

GST_END_TEST;

/* The sample under another name. */
static guint8 *
new_renamed_data (const gchar * name, gsize * size)
{
  GBytes *const bytes = new_sample_bytes (0);
  const guint8 *const data = g_bytes_get_data (bytes, NULL);
  guint8 *renamed;

  *size = NAME_AT + strlen (name) + 4;
  renamed = g_malloc (*size);
  memcpy (renamed, data, NAME_AT);
  memcpy (renamed + NAME_AT, name, strlen (name));
  put32 (renamed + NAME_SIZE_AT, strlen (name));
  repair_flat_form (renamed, *size);
  g_bytes_unref (bytes);
  return renamed;
}

static GQuark
read_renamed (const gchar * name)
{
  GstBuffer *const buffer = gst_buffer_new ();
  gsize size;
  guint8 *const data = new_renamed_data (name, &size);
  const GstCclBlobMeta *const meta = read_data (buffer, data, size, NULL);
  GQuark source;

  fail_unless (meta != NULL, "%s", name);
  source = meta->source;
  g_free (data);
  gst_buffer_unref (buffer);
  return source;
}

GST_START_TEST (test_long_names)
{
  GstBuffer *const buffer = gst_buffer_new (), *const other = gst_buffer_new ();
  GstCclBlobMeta *const meta = add_sample (buffer);
  gchar *const name = g_strnfill (256, 'y');
  gsize size;
  guint8 *data = new_renamed_data (name, &size);
  GBytes *bytes;

  assert_refused (data, size, GST_CCL_ERROR_DATA, "a name of 256 bytes");
  fail_unless_equals_int (g_quark_try_string (name), 0);
  g_free (data);

  /* A meta with a name that no reader takes is written without it. */
  meta->source = g_quark_from_string (name);
  bytes = gst_ccl_blob_meta_to_bytes (meta);
  meta->source = 0;
  assert_same (meta, gst_buffer_add_ccl_blob_meta_from_bytes (other, bytes, NULL));
  g_bytes_unref (bytes);
  g_free (name);
  gst_buffer_unref (other);
  gst_buffer_unref (buffer);
}

GST_END_TEST;

/* The process keeps all names. The number of those from bytes is limited, that of its own names is not. */
GST_START_TEST (test_many_names)
{
  guint n_taken = 0;

  for (guint i = 0; i < 1500; i++) {
    gchar *const name = g_strdup_printf ("many-names-%u", i);
    const GQuark source = read_renamed (name);

    fail_unless (source == 0 || g_strcmp0 (g_quark_to_string (source), name) == 0);
    fail_unless_equals_int (g_quark_try_string (name), source);
    n_taken += source != 0;
    g_free (name);
  }
  fail_unless (n_taken > 0 && n_taken <= 1024, "%u", n_taken);  /* the fuzz test takes some in the same process */
  fail_unless (read_renamed ("many-names-0") == g_quark_try_string ("many-names-0"));
  fail_unless (read_renamed ("ccllabel0") == g_quark_try_string ("ccllabel0"));
  fail_unless_equals_string (g_quark_to_string (read_renamed ("ccllabel0")), "ccllabel0");
}

GST_END_TEST;

GST_START_TEST (test_every_truncation_is_refused)
{
  GBytes *const bytes = new_sample_bytes (__i__);
  gsize size;
  const guint8 *const data = g_bytes_get_data (bytes, &size);
  guint8 *const longer = g_malloc0 (size + 1);

  for (gsize n = 0; n < size; n++)
    assert_refused (data, n, GST_CCL_ERROR_DATA, "cut short");
  memcpy (longer, data, size);
  assert_refused (longer, size + 1, GST_CCL_ERROR_DATA, "a byte too many");
  g_free (longer);
  g_bytes_unref (bytes);
}

GST_END_TEST;

GST_START_TEST (test_every_damaged_byte_is_refused)
{
  GBytes *const bytes = new_sample_bytes (__i__);
  gsize size;
  guint8 *const data = g_bytes_unref_to_data (bytes, &size);
  for (gsize i = 0; i < size; i++) {
    for (guint mask = 1; mask <= 256; mask *= 2) {
      const guint8 flip = mask == 256 ? 0xff : mask;

      data[i] ^= flip;
      assert_refused (data, size,
          i >= VERSION_AT && i < VERSION_AT + 4 && (i > VERSION_AT || data[i] > NEWEST_VERSION) ? GST_CCL_ERROR_VERSION
          : GST_CCL_ERROR_DATA, "damaged");
      data[i] ^= flip;
    }
  }
  g_free (data);
}

GST_END_TEST;

/* What a checksum cannot tell: whoever wrote it meant it. */
GST_START_TEST (test_absurd_numbers_are_refused)
{
  gsize size;
  guint8 *const data = g_bytes_unref_to_data (new_sample_bytes (0), &size);
  guint8 *const copy = g_malloc (size);

  REFUSED_WITH (put32 (copy + VERSION_AT, 0), GST_CCL_ERROR_DATA, "version 0");
  REFUSED_WITH (put32 (copy + VERSION_AT, 2), GST_CCL_ERROR_DATA, "version 2 without points");
  REFUSED_WITH (put32 (copy + VERSION_AT, 3), GST_CCL_ERROR_DATA, "version 3 without volumes");
  REFUSED_WITH (put32 (copy + VERSION_AT, 4), GST_CCL_ERROR_DATA, "version 4 without counts");
  REFUSED_WITH (put32 (copy + VERSION_AT, 5), GST_CCL_ERROR_DATA, "version 5 without counts");
  REFUSED_WITH (put32 (copy + VERSION_AT, 7), GST_CCL_ERROR_DATA, "version 7 without counts");
  REFUSED_WITH (put32 (copy + VERSION_AT, 8), GST_CCL_ERROR_DATA, "version 8 without class ids");
  REFUSED_WITH (put32 (copy + VERSION_AT, 9), GST_CCL_ERROR_VERSION, "version 9");
  REFUSED_WITH (put32 (copy + NAME_SIZE_AT, 0xffffffff), GST_CCL_ERROR_DATA, "long name");
  REFUSED_WITH (put32 (copy + NAME_SIZE_AT, 9 - 96);
      put32 (copy + N_BLOBS_AT, 4), GST_CCL_ERROR_DATA, "name of negative length");
  REFUSED_WITH (put32 (copy + N_BLOBS_AT, 0), GST_CCL_ERROR_DATA, "no blobs");
  REFUSED_WITH (put32 (copy + N_BLOBS_AT, 4), GST_CCL_ERROR_DATA, "one blob more");
  REFUSED_WITH (put32 (copy + N_BLOBS_AT, 0x7fffffff), GST_CCL_ERROR_DATA, "2^31 blobs");
  REFUSED_WITH (put32 (copy + N_BLOBS_AT, 0xffffffff), GST_CCL_ERROR_DATA, "2^32 blobs");
  /* 3 + 2^29 records of 96 bytes are 3 of them modulo 2^32. */
  REFUSED_WITH (put32 (copy + N_BLOBS_AT, 3 + (1u << 29)), GST_CCL_ERROR_DATA, "blobs that wrap around");
  REFUSED_WITH (put_double (copy + MATRIX_AT + 8, NAN), GST_CCL_ERROR_DATA, "not a number");
  REFUSED_WITH (put_double (copy + MATRIX_AT + 64, INFINITY), GST_CCL_ERROR_DATA, "infinity");
  REFUSED_WITH (put_double (copy + MATRIX_AT + 8, -1.0001e12), GST_CCL_ERROR_DATA, "beyond any frame");
  REFUSED_WITH (put_double (copy + MATRIX_AT, 1e308), GST_CCL_ERROR_DATA, "beyond any frame");
  REFUSED_WITH (put_double (copy + MATRIX_AT + 64, 0), GST_CCL_ERROR_DATA, "a flat matrix");
  REFUSED_WITH (put32 (copy + FIRST_BLOB_AT + 16, -1), GST_CCL_ERROR_DATA, "negative width");
  REFUSED_WITH (put32 (copy + FIRST_BLOB_AT + 96 + 20, -1), GST_CCL_ERROR_DATA, "negative height");
  REFUSED_WITH (copy[size - 8] = 0xff, GST_CCL_ERROR_DATA, "name that is not UTF-8");
  REFUSED_WITH (copy[size - 8] = 0, GST_CCL_ERROR_DATA, "name with a zero");
  REFUSED_WITH (memcpy (copy, "GDPP", 4), GST_CCL_ERROR_DATA, "something else");
  g_free (copy);
  g_free (data);
}

GST_END_TEST;

GST_START_TEST (test_absurd_points_are_refused)
{
  gsize size;
  guint8 *const data = g_bytes_unref_to_data (new_sample_bytes (WITH_POINTS), &size);
  guint8 *const copy = g_malloc (size);
  const gsize counts_at = NAME_AT + strlen ("ccllabel0"), points_at = counts_at + 3 * 4;

  REFUSED_WITH (put32 (copy + VERSION_AT, 1), GST_CCL_ERROR_DATA, "version 1 with points");
  REFUSED_WITH (put32 (copy + counts_at, 5), GST_CCL_ERROR_DATA, "a point too many");
  REFUSED_WITH (put32 (copy + counts_at, 3), GST_CCL_ERROR_DATA, "a point too few");
  REFUSED_WITH (put32 (copy + counts_at, 0xffffffff), GST_CCL_ERROR_DATA, "131070 points");
  REFUSED_WITH (put32 (copy + points_at, 0x7fc00000), GST_CCL_ERROR_DATA, "not a number");
  REFUSED_WITH (put32 (copy + size - 8, 0xff800000), GST_CCL_ERROR_DATA, "infinity");
  REFUSED_WITH (put32 (copy + NAME_SIZE_AT, 9 + 3 * 4 + 11 * 8), GST_CCL_ERROR_DATA, "points in the name");
  REFUSED_WITH (put32 (copy + N_BLOBS_AT, 0x1000000), GST_CCL_ERROR_DATA, "2^24 blobs");
  g_free (copy);
  g_free (data);
}

GST_END_TEST;

/* A version for what none of the blobs has: there is one way to write a meta. */
GST_START_TEST (test_absurd_volumes_are_refused)
{
  gsize size;
  guint8 *const data = g_bytes_unref_to_data (new_sample_bytes (WITH_VOLUMES), &size);
  guint8 *const copy = g_malloc (size);

  REFUSED_WITH (put32 (copy + VERSION_AT, 1), GST_CCL_ERROR_DATA, "version 1 with volumes");
  REFUSED_WITH (put32 (copy + VERSION_AT, 2), GST_CCL_ERROR_DATA, "version 2 with volumes");
  REFUSED_WITH (memset (copy + FIRST_BLOB_AT + 104 + 96, 0, 8), GST_CCL_ERROR_DATA, "version 3 without volumes");
  REFUSED_WITH (put32 (copy + VERSION_AT, 4), GST_CCL_ERROR_DATA, "version 4 that ends before its number of counts");
  g_free (copy);
  g_free (data);
}

GST_END_TEST;

/* Bytes that a later version wrote are not written again: the rest is, and reads the same. */
static void
check_rest (const guint8 * data, gsize size, GBytes * again)
{
  GstBuffer *const buffer = gst_buffer_new ();
  GstCclBlobMeta *const meta = gst_buffer_add_ccl_blob_meta_from_bytes (buffer, again, NULL);
  GBytes *const third = gst_ccl_blob_meta_to_bytes (meta);

  fail_unless (data[VERSION_AT] == 8 && g_bytes_get_size (again) < size);
  fail_unless (g_bytes_equal (third, again));
  g_bytes_unref (third);
  gst_buffer_unref (buffer);
}

/* Whatever is accepted must be harmless: every getter, and written again it gives the same bytes. */
static void
use (GstBuffer * buffer, GstCclBlobMeta * meta, const guint8 * data, gsize size)
{
  GBytes *const again = gst_ccl_blob_meta_to_bytes (meta), *const before = g_bytes_new_static (data, size);

  if (!g_bytes_equal (again, before))
    check_rest (data, size, again);
  g_bytes_unref (again);
  g_bytes_unref (before);
  g_free (gst_ccl_blob_meta_to_string (meta));
  for (guint i = 0; i < gst_ccl_blob_meta_get_length (meta); i++) {
    const GstCclBlob *const blob = gst_ccl_blob_meta_get_blob (meta, i);
    gdouble a, b, c, d;

    gst_ccl_blob_meta_get_holes (meta, i, NULL, NULL);
    gst_ccl_blob_meta_get_perimeter (meta, i, &a, &b);
    gst_ccl_blob_meta_get_circularity (meta, i, &c, &d);
    fail_unless (c >= 0 && c <= 1 && d >= 0);
    assert_same_hull (meta, meta, i);
    assert_same_holes (meta, meta, i);
    assert_same_intensity (meta, meta, i);
    gst_ccl_blob_get_covariance (blob, &a, &b, &c);
    gst_ccl_blob_get_axes (blob, &a, &b);
    gst_ccl_blob_get_extent (blob);
    gst_ccl_blob_meta_get_box (meta, i, &a, &b, &c, &d);
    gst_ccl_blob_meta_get_axes (meta, i, &a, &b, &c);
    gst_ccl_blob_meta_get_area (meta, i);
    assert_same_points (gst_ccl_blob_meta_get_contour, meta, meta, i);
    assert_same_points (gst_ccl_blob_meta_get_trail, meta, meta, i);
  }
  gst_buffer_add_ccl_roi_mirror (buffer, meta, "blob", 10);
  gst_buffer_add_ccl_analytics_mirror (buffer, meta, "blob", 10);
}

GST_START_TEST (test_fuzz)
{
  const gchar *const given = g_getenv ("CCL_TEST_SEED");
  const guint32 seed = given != NULL ? (guint32) g_ascii_strtoull (given, NULL, 0) : g_random_int ();
  GRand *const rand = g_rand_new_with_seed (seed);
  gsize size;
  guint8 *const data = g_bytes_unref_to_data (new_sample_bytes (__i__), &size);
  guint8 *const copy = g_malloc (size);
  const gsize name_end = NAME_AT + strlen ("ccllabel0");
  guint n_accepted = 0;

  g_print ("seed 0x%08x\n", seed);
  for (gint round = 0; round < 5000; round++) {
    GstBuffer *const buffer = gst_buffer_new ();
    GstCclBlobMeta *meta;

    memcpy (copy, data, size);
    for (gint n = g_rand_int_range (rand, 1, 9); n > 0; n--) {
      /* All but the name: each new one would stay as a quark. */
      const gsize at = g_rand_int_range (rand, 0, size - 13);
      copy[at < NAME_AT ? at : at - NAME_AT + name_end] = g_rand_int_range (rand, 0, 256);
    }
    repair_flat_form (copy, size);
    meta = read_data (buffer, copy, size, NULL);
    if (meta != NULL) {
      use (buffer, meta, copy, size);
      n_accepted++;
    }
    gst_buffer_unref (buffer);
  }
  fail_unless (n_accepted > 1000, "only %u accepted: this tests nothing", n_accepted);
  g_rand_free (rand);
  g_free (copy);
  g_free (data);
}

GST_END_TEST;

#if GST_CHECK_VERSION (1, 24, 0)
GST_START_TEST (test_gst_meta_serialize)
{
  GstBuffer *const buffer = gst_buffer_new (), *const other = gst_buffer_new ();
  GstCclBlobMeta *const meta = add_sample (buffer);
  GByteArray *const array = g_byte_array_new ();
  GstCclBlobMeta *read;
  guint32 consumed = 0;

  fail_unless (gst_meta_serialize_simple ((GstMeta *) meta, array));
  read = (GstCclBlobMeta *) gst_meta_deserialize (other, array->data, array->len, &consumed);
  fail_unless (read != NULL && read->meta.info == GST_CCL_BLOB_META_INFO);
  fail_unless_equals_int (consumed, array->len);
  assert_same (meta, read);
  gst_buffer_remove_meta (other, (GstMeta *) read);

  /* The last byte belongs to the checksum. */
  array->data[array->len - 1] ^= 1;
  fail_unless (gst_meta_deserialize (other, array->data, array->len, &consumed) == NULL);
  fail_unless (gst_buffer_get_ccl_blob_meta (other) == NULL);
  g_byte_array_unref (array);
  gst_buffer_unref (other);
  gst_buffer_unref (buffer);
}

GST_END_TEST;
#else
GST_START_TEST (test_gst_meta_serialize)
{
  SKIP_TEST ("GStreamer before 1.24");
}

GST_END_TEST;
#endif

static Suite *
blobflat_suite (void)
{
  Suite *const suite = suite_create ("blobflat");
  TCase *const tests = tcase_create ("general");

  suite_add_tcase (suite, tests);
  tcase_set_timeout (tests, 120);
  tcase_add_loop_test (tests, test_round_trip, 0, 18);
  tcase_add_loop_test (tests, test_round_trip, 32, 34);
  tcase_add_loop_test (tests, test_round_trip, 60, 66);
  tcase_add_loop_test (tests, test_round_trip, 124, 128);
  tcase_add_test (tests, test_round_trip_of_nothing);
  tcase_add_test (tests, test_round_trip_of_extremes);
  tcase_add_loop_test (tests, test_every_truncation_is_refused, 0, 18);
  tcase_add_loop_test (tests, test_every_truncation_is_refused, 32, 34);
  tcase_add_loop_test (tests, test_every_truncation_is_refused, 64, 65);
  tcase_add_loop_test (tests, test_every_damaged_byte_is_refused, 0, 18);
  tcase_add_loop_test (tests, test_every_damaged_byte_is_refused, 32, 34);
  tcase_add_test (tests, test_absurd_numbers_are_refused);
  tcase_add_test (tests, test_absurd_points_are_refused);
  tcase_add_test (tests, test_absurd_volumes_are_refused);
  blobflat_add_columns_tests (tests);
  blobflat_add_tables_tests (tests);
  tcase_add_loop_test (tests, test_fuzz, 0, 18);
  tcase_add_loop_test (tests, test_fuzz, 32, 34);
  tcase_add_loop_test (tests, test_fuzz, 64, 65);
  tcase_add_test (tests, test_long_names);
  tcase_add_test (tests, test_many_names);      /* last of those that need new names */
  tcase_add_test (tests, test_gst_meta_serialize);
  return suite;
}

GST_CHECK_MAIN (blobflat);
