/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* ccloverlay: the colours of tracks, and the strokes of their states. */

#include "ccloverlay.h"

static gint
difference (guint32 a, guint32 b)
{
  gint sum = 0;

  for (gint shift = 0; shift <= 16; shift += 8)
    sum += ABS ((gint) (a >> shift & 255) - (gint) (b >> shift & 255));
  return sum;
}

/* Two tracks in a row never look alike; one track looks the same wherever it is. */
GST_START_TEST (test_colours)
{
  Fixture f = new_fixture ("draw=box line-width=2", "BGRx", 320, 240);
  guint32 last = 0;

  for (guint64 id = 1; id <= 50; id++) {
    GstBuffer *here = push_blob (&f, 2 * id, new_blob (1, id, 100, 80, 40, 60));
    GstBuffer *there = push_blob (&f, 2 * id + 1, new_blob (7, id, 180, 80, 40, 60));
    const guint32 colour = pixel (&f, here, 98, 110);

    assert_equals_int (colour, pixel (&f, there, 178, 110));
    fail_unless (difference (colour, last) > 120, "tracks %" G_GUINT64_FORMAT " and before: %06x, %06x", id, colour,
        last);
    last = colour;
    gst_buffer_unref (here);
    gst_buffer_unref (there);
  }
  gst_harness_teardown (f.harness);
}

GST_END_TEST;

/* Whatever their numbers, tracks in one picture look different, also when one comes late; nobody's colour changes. */
GST_START_TEST (test_colours_side_by_side)
{
  static const guint64 ids[] = { 70, 91, 96, 99, 104, 112, 125, 8 };
  enum { N = G_N_ELEMENTS (ids) };
  Fixture f = new_fixture ("draw=box line-width=2", "BGRx", 320, 240);
  guint32 before[N] = { 0 };

  for (guint n = N - 2; n <= N; n++) {
    GstBuffer *buffer = new_frame (&f, n);
    GstCclBlob blobs[N];
    guint32 colours[N];

    for (guint i = 0; i < n; i++)
      blobs[i] = new_blob (i + 1, ids[i], 10 + i % 4 * 80, 20 + i / 4 * 120, 40, 60);
    attach_blobs (&f, buffer, blobs, n);
    buffer = push (&f, buffer);
    for (guint i = 0; i < n; i++) {
      colours[i] = pixel (&f, buffer, 8 + i % 4 * 80, 50 + i / 4 * 120);
      for (guint j = 0; j < i; j++)
        fail_unless (difference (colours[i], colours[j]) > 100, "tracks %" G_GUINT64_FORMAT " and %" G_GUINT64_FORMAT
            ": %06x, %06x", ids[i], ids[j], colours[i], colours[j]);
      fail_unless (before[i] == 0 || before[i] == colours[i], "track %" G_GUINT64_FORMAT " was %06x, is %06x", ids[i],
          before[i], colours[i]);
      before[i] = colours[i];
    }
    gst_buffer_unref (buffer);
  }
  gst_harness_teardown (f.harness);
}

GST_END_TEST;

/* How much of the upper line of the box has the colour. */
static guint
count_line (const Fixture * f, GstBuffer * buffer, gint x0, gint x1, gint y)
{
  guint n = 0;

  for (gint x = x0; x < x1; x++)
    n += pixel (f, buffer, x, y) == 0x00ff00;
  return n;
}

GST_START_TEST (test_states)
{
  Fixture f = new_fixture ("draw=box color-by=fixed line-width=2", "BGRx", 320, 240);
  GstCclBlob blob = new_blob (1, 3, 100, 80, 80, 60);
  GstBuffer *out = push_blob (&f, 0, blob);
  const guint whole = count_line (&f, out, 98, 182, 78);
  guint dashed;

  assert_equals_int (whole, 84);
  gst_buffer_unref (out);

  blob.flags = GST_CCL_BLOB_FLAG_PREDICTED;
  out = push_blob (&f, 1, blob);
  dashed = count_line (&f, out, 98, 182, 78);
  fail_unless (dashed > 20 && dashed < 70, "%u", dashed);
  gst_buffer_unref (out);

  blob.flags = GST_CCL_BLOB_FLAG_TENTATIVE;
  out = push_blob (&f, 2, blob);
  assert_equals_int (count_line (&f, out, 98, 182, 78), 0);
  fail_unless (pixel (&f, out, 120, 78) != GROUND * 0x10101);
  gst_buffer_unref (out);

  blob.flags = GST_CCL_BLOB_FLAG_MERGED;
  out = push_blob (&f, 3, blob);
  assert_equals_int (count_line (&f, out, 98, 182, 78), 84);
  fail_unless (count_line (&f, out, 98, 182, 78 - 5) >= 84, "no second box");
  gst_buffer_unref (out);
  gst_harness_teardown (f.harness);
}

GST_END_TEST;

TCase *
overlay_colour_tests (void)
{
  TCase *tests = tcase_create ("colours");

  tcase_set_timeout (tests, 120);
  tcase_add_test (tests, test_colours);
  tcase_add_test (tests, test_colours_side_by_side);
  tcase_add_test (tests, test_states);
  return tests;
}
