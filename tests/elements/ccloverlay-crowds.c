/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* ccloverlay: what a thousand objects cost. */

#include "ccloverlay.h"

#define MANY 1000

/* Pseudo-random, the same every time. */
static guint
next (guint * state, guint limit)
{
  *state = *state * 1664525 + 1013904223;
  return (*state >> 8) % limit;
}

static GstBuffer *
new_crowd (Fixture * f, guint number, guint n)
{
  GstCclBlob *blobs = g_new (GstCclBlob, n);
  GstBuffer *buffer = new_frame (f, number);
  guint state = 1;

  for (guint i = 0; i < n; i++) {
    const gint x = next (&state, f->info.width - 60), y = next (&state, f->info.height - 90);
    blobs[i] = new_blob (i + 1, i + 1, x + 2 * number % 30, y, 20 + next (&state, 30), 40 + next (&state, 40));
  }
  attach_blobs (f, buffer, blobs, n);
  g_free (blobs);
  return buffer;
}

/* A thousand objects with texts and trails cost a part of the frame, not a thousand of it, and a bounded time: far
 * above what it takes, but below what anything quadratic would. */
GST_START_TEST (test_thousand)
{
  Fixture f = new_fixture ("draw=box+id+trail+area", "I420", 1920, 1080);
  GstElement *element = gst_harness_find_element (f.harness, "ccloverlay");
  GstStructure *stats;
  gdouble mean;

  for (guint i = 0; i < 5; i++)
    gst_buffer_unref (push (&f, new_crowd (&f, i, MANY)));
  fail_unless (get_stat (&f, "pixels") <= 5 * 1920 * 1088);
  assert_equals_uint64 (get_stat (&f, "objects"), 5 * MANY);
  g_object_get (element, "stats", &stats, NULL);
  fail_unless (gst_structure_get_double (stats, "host-us-avg", &mean));
  if (!g_getenv ("CK_FORK"))    /* not under valgrind */
    fail_unless (mean < 2e6, "%f us", mean);
  gst_structure_free (stats);
  gst_object_unref (element);
  gst_harness_teardown (f.harness);
}

GST_END_TEST;

GST_START_TEST (test_thousand_attached)
{
  Fixture f = new_attaching ("", 1920, 1080);
  GstBuffer *out = push (&f, new_crowd (&f, 0, MANY));
  GstVideoOverlayCompositionMeta *const meta = gst_buffer_get_video_overlay_composition_meta (out);

  fail_unless (meta != NULL);
  fail_unless (gst_video_overlay_composition_n_rectangles (meta->overlay) <= 64);
  gst_buffer_unref (out);
  gst_harness_teardown (f.harness);
}

GST_END_TEST;

TCase *
overlay_crowd_tests (void)
{
  TCase *tests = tcase_create ("crowds");

  tcase_set_timeout (tests, 120);
  tcase_add_test (tests, test_thousand);
  tcase_add_test (tests, test_thousand_attached);
  return tests;
}
