/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Columns in the flat form: damaged ones, and those of later versions. */
#include "blobflat.h"

typedef struct
{
  gint at;                      /* from the first entry of the last column */
  guint32 value;
  const gchar *reason;
} Change;

static void
assert_changes_refused (gint with, gint entries_size, const Change * changes, guint n_changes)
{
  gsize size;
  guint8 *const data = g_bytes_unref_to_data (new_sample_bytes (with), &size);
  guint8 *const copy = g_malloc (size);

  REFUSED_WITH (put32 (copy + VERSION_AT, data[VERSION_AT] - 1), GST_CCL_ERROR_DATA, "a column too many");
  for (guint i = 0; i < n_changes; i++)
    REFUSED_WITH (put32 (copy + size - 4 - entries_size + changes[i].at, changes[i].value), GST_CCL_ERROR_DATA,
        changes[i].reason);
  g_free (copy);
  g_free (data);
}

GST_START_TEST (test_absurd_counts_are_refused)
{
  static const Change of_shape[] = {
    {-4, 1, "one too many"}, {-4, 3, "one too few"}, {-4, 0xffffffff, "2^32"}, {0, 0, "label 0"}, {0, 3, "a label twice"},
    {4, 2, "fewer than no holes"},
  };
  static const Change of_hull[] = {
    {-4, 1, "one too many"}, {-4, 0xffffffff, "2^32"}, {0, 3, "a label twice"}, {4, 0, "no area"}, {12, 0, "no width"},
    {16, 0, "no direction"}, {16, 0xffffffff, "the opposite direction"}, {16, 0x10000, "a long direction"},
    {28, 0x80000000, "a long direction of a rectangle"}, {36, 5, "a rectangle without length"},
    {44, 6, "a rectangle of negative width"},
  };
  static const Change of_holes[] = {
    {-4, 1, "one too many"}, {0, 0, "label 0"}, {0, 2, "descending labels"},
    {4, 3, "a hole larger than filled"}, {8, 3, "a hole larger than its box"},
    {20, 0, "a hole without width"}, {-12, 0, "no filled area"}, {-20, 1, "a label twice"},
  };
  static const Change of_class_ids[] = {
    {-12, 0, "no column"}, {-12, 8, "a column of longer entries"}, {-12, 17, "two columns"}, {-8, 3, "one too few"},
    {-8, 0, "none"}, {-8, 0xffffffff, "2^32"}, {-4, 4, "short entries"}, {-4, 0xffffffff, "long entries"},
    {0, 3, "a label twice"}, {4, 65536, "more than 16 bits"},
  };

  static const Change of_intensity[] = {
    {-12, 0, "no column"}, {0, 3, "a label twice"}, {4, 201, "min above max"}, {8, 65536, "more than 16 bits"},
    {12, 2, "more than chroma"}, {20, 0x1001, "too large a sum"}, {28, 1u << 29, "too large squares"},
    {36, 1u << 27, "too large x"}, {44, 1u << 27, "too large y"}, {56, 256, "too large xx"}, {72, 256, "too large xy"},
    {88, 256, "too large yy"}, {100, 0x1001, "too much blue"}, {108, 0x1001, "too much red"},
  };

  assert_changes_refused (WITH_INTENSITY, 2 * 112, of_intensity, G_N_ELEMENTS (of_intensity));
  assert_changes_refused (WITH_SHAPE, 2 * 20, of_shape, G_N_ELEMENTS (of_shape));
  assert_changes_refused (WITH_SHAPE | WITH_HULL, 2 * 56, of_hull, G_N_ELEMENTS (of_hull));
  assert_changes_refused (WITH_HOLES, 2 * 32, of_holes, G_N_ELEMENTS (of_holes));
  assert_changes_refused (WITH_CLASS_IDS, 2 * 8, of_class_ids, G_N_ELEMENTS (of_class_ids));
}

GST_END_TEST;

/* From version 8 on a reader skips columns, and ends of entries, that a later version has. */
GST_START_TEST (test_later_columns)
{
  static const struct
  {
    guint32 mask, n, entry_size;
    gboolean is_known;
  } columns[] = { {1u << 31, 2, 8, FALSE}, {1u << 31, 0xf, 1, FALSE}, {1u << 4, 1, 16, TRUE} };
  gsize size;
  guint8 *const data = g_bytes_unref_to_data (new_sample_bytes (WITH_CLASS_IDS | WITH_POINTS), &size);
  guint8 *const column = data + size - 4 - 2 * 8 - 12;

  for (guint i = 0; i < G_N_ELEMENTS (columns); i++) {
    GstBuffer *const buffer = gst_buffer_new ();
    GstCclBlobMeta *meta;
    GError *error = NULL;
    guint class_id, n_points;

    put32 (column, columns[i].mask);
    put32 (column + 4, columns[i].n);
    put32 (column + 8, columns[i].entry_size);
    repair_flat_form (data, size);
    if (columns[i].n * columns[i].entry_size != 2 * 8) {
      assert_refused (data, size, GST_CCL_ERROR_DATA, "a column that ends before the form");
      gst_buffer_unref (buffer);
      continue;
    }
    meta = read_data (buffer, data, size, &error);
    fail_unless (meta != NULL, "column %u: %s", i, error ? error->message : "");
    fail_unless_equals_int (gst_ccl_blob_meta_get_class_id (meta, 0, &class_id), columns[i].is_known);
    fail_unless_equals_int (class_id, 0);
    fail_if (gst_ccl_blob_meta_get_class_id (meta, 2, NULL));
    g_free (gst_ccl_blob_meta_get_contour (meta, 2, &n_points));
    fail_unless_equals_int (n_points, 8);
    gst_buffer_unref (buffer);
  }
  g_free (data);
}

GST_END_TEST;

void
blobflat_add_columns_tests (TCase * tests)
{
  tcase_add_test (tests, test_absurd_counts_are_refused);
  tcase_add_test (tests, test_later_columns);
}
