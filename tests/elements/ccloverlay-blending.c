/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* ccloverlay: where it draws into the picture, and where it does not. */

#include "ccloverlay.h"
#include <math.h>
#include <string.h>

GST_START_TEST (test_box)
{
  Fixture f = new_fixture ("draw=box color-by=fixed color=0xff12c834 line-width=1", "BGRx", 320, 240);
  GstBuffer *out = push_blob (&f, 0, new_blob (1, 0, 100, 80, 40, 60));

  /* The line is next to the blob, with a dark one on its far side; the blob and what is further away are untouched. */
  assert_equals_int (pixel (&f, out, 98, 110), 0x12c834);
  assert_equals_int (pixel (&f, out, 141, 110), 0x12c834);
  assert_equals_int (pixel (&f, out, 120, 78), 0x12c834);
  assert_equals_int (pixel (&f, out, 120, 141), 0x12c834);
  fail_unless ((pixel (&f, out, 97, 110) & 255) < GROUND);
  assert_equals_int (pixel (&f, out, 100, 80), GROUND * 0x10101);
  assert_equals_int (pixel (&f, out, 120, 110), GROUND * 0x10101);
  assert_equals_int (pixel (&f, out, 90, 110), GROUND * 0x10101);
  assert_path (&f, "blend");
  gst_buffer_unref (out);

  /* The next frame knows nothing of it. */
  out = push_blob (&f, 1, new_blob (1, 0, 200, 80, 40, 60));
  assert_equals_int (pixel (&f, out, 98, 110), GROUND * 0x10101);
  assert_equals_int (pixel (&f, out, 198, 110), 0x12c834);
  gst_buffer_unref (out);
  gst_harness_teardown (f.harness);
}

GST_END_TEST;

/* The line is on the edge of the pixels: half of it inside. */
GST_START_TEST (test_contour)
{
  static const GstCclPoint points[] = { {100, 80}, {140, 80}, {100, 140} };
  Fixture f = new_fixture ("draw=contour color-by=fixed color=0xff12c834 line-width=2", "BGRx", 320, 240);
  GBytes *bytes = g_bytes_new_static (points, sizeof points);
  GstCclBlob blobs[2] = { new_blob (1, 0, 100, 80, 40, 60), new_blob (2, 0, 200, 80, 40, 60) };
  GstCclBlobList *list;
  GstBuffer *buffer = new_frame (&f, 0), *out;

  blobs[0].n_contour = 3;
  list = gst_ccl_blob_list_new (blobs, 2);
  gst_ccl_blob_list_set_points (list, bytes);
  gst_buffer_add_ccl_blob_meta (buffer, list, 320, 240);
  gst_ccl_blob_list_unref (list);
  g_bytes_unref (bytes);
  out = push (&f, buffer);
  assert_equals_int (pixel (&f, out, 120, 79), 0x12c834);
  assert_equals_int (pixel (&f, out, 120, 80), 0x12c834);
  assert_equals_int (pixel (&f, out, 99, 100), 0x12c834);
  fail_unless ((pixel (&f, out, 119, 110) & 0xff00) > 0xb000);  /* slanted, so smoothed */
  assert_equals_int (pixel (&f, out, 110, 100), GROUND * 0x10101);
  assert_equals_int (pixel (&f, out, 135, 130), GROUND * 0x10101);
  /* The second has no contour. */
  assert_equals_int (pixel (&f, out, 220, 80), GROUND * 0x10101);
  gst_buffer_unref (out);
  gst_harness_teardown (f.harness);
}

GST_END_TEST;

/* A blob like an L, whose hull cuts the corner, a rectangle that stands on a corner, and a hole. */
GST_START_TEST (test_shapes)
{
  static const GstCclPoint points[] = { {100, 80}, {120, 80}, {120, 120}, {160, 120}, {160, 140}, {100, 140} };
  static const GstCclHullCounts hulls[] = { {1, 4000, 100, 1, 1, 0, 1, 1, 240, 280, -10, 20, 1, {0}} };
  static const GstCclFilledCounts filled[] = { {1, 1, 3000, {0}} };
  static const GstCclHole holes[] = { {1, 100, 100, 105, 125, 10, 10, 105, {0}} };
  GBytes *const columns[] = { g_bytes_new_static (points, sizeof points), g_bytes_new_static (hulls, sizeof hulls),
    g_bytes_new_static (filled, sizeof filled), g_bytes_new_static (holes, sizeof holes)
  };
  static const gchar *const draw[] = { "hull", "rectangle", "hole", "hull+rectangle+hole" };
  GstCclBlob blobs[2] = { new_blob (1, 0, 100, 80, 60, 60), new_blob (2, 0, 200, 80, 40, 60) };

  blobs[0].n_contour = 6;
  for (guint i = 0; i < G_N_ELEMENTS (draw); i++) {
    GstCclBlobList *const list = gst_ccl_blob_list_new (blobs, 2);
    gchar *const settings = g_strdup_printf ("draw=%s color-by=fixed color=0xff12c834 line-width=2", draw[i]);
    Fixture f = new_fixture (settings, "BGRx", 320, 240);
    GstBuffer *buffer = new_frame (&f, 0);

    gst_ccl_blob_list_set_points (list, columns[0]);
    gst_ccl_blob_list_set_hull (list, columns[1]);
    gst_ccl_blob_list_set_holes (list, columns[2], columns[3]);
    gst_buffer_add_ccl_blob_meta (buffer, list, 320, 240);
    gst_ccl_blob_list_unref (list);
    buffer = push (&f, buffer);
    /* from (120, 80) to (160, 120), where the contour has a corner at (120, 120) */
    assert_equals_int ((pixel (&f, buffer, 130, 90) & 0xff00) > 0xb000, i == 0 || i == 3);
    assert_equals_int (pixel (&f, buffer, 100, 110) == 0x12c834, i == 0 || i == 3);
    /* x + y from 240 to 280, y - x from -10 to 20: a side from (125, 115) to (145, 135) */
    assert_equals_int ((pixel (&f, buffer, 135, 125) & 0xff00) > 0xb000, i == 1 || i == 3);
    assert_equals_int (pixel (&f, buffer, 110, 123) == 0x12c834, i >= 2);
    assert_equals_int (pixel (&f, buffer, 220, 78), GROUND * 0x10101);
    gst_buffer_unref (buffer);
    gst_harness_teardown (f.harness);
    g_free (settings);
  }
  for (guint i = 0; i < G_N_ELEMENTS (columns); i++)
    g_bytes_unref (columns[i]);
}

GST_END_TEST;

/* Boxes over the border, and outside. */
GST_START_TEST (test_border)
{
  Fixture f = new_fixture ("draw=box color-by=fixed line-width=1", "BGRx", 320, 240);
  GstBuffer *out = push_blob (&f, 0, new_blob (1, 0, 0, 0, 320, 240));

  assert_equals_int (pixel (&f, out, 0, 100), 0x00ff00);
  assert_equals_int (pixel (&f, out, 319, 100), 0x00ff00);
  assert_equals_int (pixel (&f, out, 160, 239), 0x00ff00);
  gst_buffer_unref (out);
  out = push_blob (&f, 1, new_blob (1, 0, 5000, 5000, 10, 10));
  gst_buffer_unref (out);
  out = push_blob (&f, 1, new_blob (1, 0, G_MAXINT - 100, G_MININT + 100, 10, 10));
  gst_buffer_unref (out);
  out = push_blob (&f, 1, new_blob (1, 0, -1000, 20, 2000, 10));
  fail_unless (count_changed (out) > 300);
  gst_buffer_unref (out);
  gst_harness_teardown (f.harness);
}

GST_END_TEST;

/* Matrices that take a blob beyond all numbers: nothing is drawn, no text either; the next is where it should be. */
GST_START_TEST (test_nowhere)
{
  static const gdouble matrices[][9] = {
    {1e308, -1e308, 0, 0, 1, 0, 0, 0, 1}, {1e308, -1e308, 0, 1e308, -1e308, 0, 0, 0, 1},
    {1e307, -1e308, 1.7e308, 0, 1, 0, 0, 0, 1}, {1, 0, 0, 0, 1, 0, 1e-300, 0, 1e-320},
    {1, 0, 0, 0, 1, 0, 0, 0, 1e-307}, {NAN, 0, 0, 0, 1, 0, 0, 0, 1}, {1, 0, 0, 0, 1, INFINITY, 0, 0, 1},
    {1, 0, 0, 0, 1, 0, 0, 0, NAN},
  };
  Fixture f = new_fixture ("draw=box+centroid+ellipse+id+area+trail color-by=fixed line-width=1", "BGRx", 320, 240);
  GstBuffer *out;

  for (guint i = 0; i < G_N_ELEMENTS (matrices); i++) {
    const GstCclBlob blobs[2] = { new_blob (1, 3, 100, 80, 40, 60), new_blob (2, 0, 100, 80, 40, 60) };
    GstBuffer *buffer = new_frame (&f, i);
    GstCclBlobMeta *meta = attach_blobs (&f, buffer, blobs, 2);

    memcpy (meta->matrix, matrices[i], sizeof matrices[i]);
    out = push (&f, buffer);
    fail_unless (count_changed (out) == 0, "matrix %u", i);
    gst_buffer_unref (out);
  }
  out = push_blob (&f, G_N_ELEMENTS (matrices), new_blob (1, 3, 100, 80, 40, 60));
  assert_equals_int (pixel (&f, out, 98, 110), 0x00ff00);
  gst_buffer_unref (out);
  gst_harness_teardown (f.harness);
}

GST_END_TEST;

GST_START_TEST (test_nothing_to_draw)
{
  Fixture f = new_fixture ("", "I420", 320, 240);
  GstBuffer *in = new_frame (&f, 0), *out;
  GstMemory *const memory = gst_buffer_peek_memory (in, 0);

  out = push (&f, in);
  fail_unless (gst_buffer_peek_memory (out, 0) == memory);
  assert_equals_int (count_changed (out), 0);
  gst_buffer_unref (out);

  in = new_frame (&f, 1);
  attach_blobs (&f, in, NULL, 0);
  out = push (&f, in);
  assert_equals_int (count_changed (out), 0);
  assert_equals_uint64 (get_stat (&f, "drawn"), 0);
  gst_buffer_unref (out);
  gst_harness_teardown (f.harness);
}

GST_END_TEST;

/* Another reader of the same memory sees the picture as it was. */
GST_START_TEST (test_shared_memory)
{
  Fixture f = new_fixture ("", "NV12", 320, 240);
  GstBuffer *in = new_frame (&f, 0), *other, *out;
  const GstCclBlob blob = new_blob (1, 3, 100, 80, 40, 60);

  attach_blobs (&f, in, &blob, 1);
  other = gst_buffer_copy (in);
  out = push (&f, in);
  fail_unless (count_changed (out) > 0);
  assert_equals_int (count_changed (other), 0);
  gst_buffer_unref (out);
  gst_buffer_unref (other);
  gst_harness_teardown (f.harness);
}

GST_END_TEST;

TCase *
overlay_blending_tests (void)
{
  TCase *tests = tcase_create ("blending");

  tcase_set_timeout (tests, 120);
  tcase_add_test (tests, test_box);
  tcase_add_test (tests, test_contour);
  tcase_add_test (tests, test_shapes);
  tcase_add_test (tests, test_border);
  tcase_add_test (tests, test_nowhere);
  tcase_add_test (tests, test_nothing_to_draw);
  tcase_add_test (tests, test_shared_memory);
  return tests;
}
