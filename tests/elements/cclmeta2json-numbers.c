/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* cclmeta2json: digits, locales, numbers that JSON lacks, and many blobs. */

#include "cclmeta2json.h"

#include <gst/ccl/gstcclblobmeasures.h>

#include <locale.h>
#include <math.h>
#include <string.h>
#include <time.h>

#include "support/folder.h"
#include "support/skip.h"

GST_START_TEST (test_precision)
{
  GstHarness *h = new_harness ();
  gchar *line;

  gst_harness_set (h, "cclmeta2json", "precision", 3, "tags", "{\"gain\":1.23456}", NULL);
  line = push_for_line (h, small_frame (0));
  fail_unless (strstr (line, "\"centroid\":[11,20.5],\"cov\":[0.667,0,0.25],\"orientation\":1.571,\"axes\":[3.266,2]"),
      "%s", line);
  /* Digits of others are theirs. */
  fail_unless (strstr (line, "\"tags\":{\"gain\":1.23456}") || strstr (line, "\"tags\":{\"gain\":1.2345600000000001}"),
      "%s", line);
  g_free (line);

  gst_harness_set (h, "cclmeta2json", "precision", 0, NULL);
  line = push_for_line (h, small_frame (1));
  fail_unless (strstr (line, "\"cov\":[1,0,0],\"orientation\":2,\"axes\":[3,2]"), "%s", line);
  g_free (line);

  gst_harness_set (h, "cclmeta2json", "precision", -1, NULL);
  line = push_for_line (h, small_frame (2));
  fail_unless (strstr (line, "\"cov\":[0.66666666666666663,"), "%s", line);
  g_free (line);
  gst_harness_teardown (h);
}

GST_END_TEST;

/* Few machines have the locale, most can make it. */
static gboolean
make_german_locale (const gchar * folder)
{
  gchar *path = g_build_filename (folder, "de_DE.UTF-8", NULL);
  const gchar *command[] = { "localedef", "-i", "de_DE", "-f", "UTF-8", path, NULL };
  gboolean made = g_spawn_sync (NULL, (gchar **) command, NULL,
      G_SPAWN_SEARCH_PATH | G_SPAWN_STDOUT_TO_DEV_NULL | G_SPAWN_STDERR_TO_DEV_NULL, NULL, NULL, NULL, NULL, NULL,
      NULL);

  g_free (path);
  g_setenv ("LOCPATH", folder, TRUE);
  return made && setlocale (LC_ALL, "de_DE.UTF-8");
}

GST_START_TEST (test_locale)
{
  gchar *folder = g_dir_make_tmp ("ccl-locale-XXXXXX", NULL);
  gchar *before = g_strdup (setlocale (LC_ALL, NULL));
  gboolean found = setlocale (LC_ALL, "de_DE.UTF-8") || make_german_locale (folder);
  gchar *printed = g_strdup_printf ("%.1f", 0.5);
  GstHarness *h;
  gchar *line;

  remove_folder (folder);
  g_free (folder);
  if (!found || strcmp (printed, "0,5") != 0) {
    g_free (printed);
    g_free (before);
    SKIP_TEST ("there is no locale de_DE.UTF-8 here, and none could be made");
  }
  g_free (printed);
  h = new_harness ();
  line = push_for_line (h, small_frame (0));
  fail_unless (strstr (line, "\"centroid\":[11.0,20.5]"), "%s", line);
  g_free (line);
  gst_harness_set (h, "cclmeta2json", "precision", 2, NULL);
  line = push_for_line (h, small_frame (0));
  fail_unless (strstr (line, "\"cov\":[0.67,0,0.25]"), "%s", line);
  g_free (line);
  gst_harness_teardown (h);
  setlocale (LC_ALL, before);
  g_free (before);
}

GST_END_TEST;

/* A blob of a pixel with all that is mapped to the frame. */
static GstCclBlobMeta *
attach_pixel (GstBuffer * frame)
{
  static const GstCclHullCounts hull[] = { {1, 2, 2, 1, 0, 1, 0, 1, 1, 2, -2, -1, G_GUINT64_CONSTANT (4) << 40, {0}} };
  static const GstCclFilledCounts filled[] = { {1, 1, 2, {0}} };
  static const GstCclHole holes[] = { {1, 0, 1, 1, 1, 1, 1, 1, {0}} };
  static const GstCclPoint points[] = { {1, 1}, {2, 1}, {2, 2}, {1, 2}, {1, 1}, {2, 2} };
  GstCclBlob blob = rectangle (1, 1, 1, 1, 1);
  GstCclBlobMeta *meta;
  GBytes *const bytes[] = {
    g_bytes_new_static (hull, sizeof (hull)), g_bytes_new_static (filled, sizeof (filled)),
    g_bytes_new_static (holes, sizeof (holes)), g_bytes_new_static (points, sizeof (points))
  };

  blob.n_contour = 4;
  blob.n_trail = 2;
  meta = attach_blobs (frame, &blob, 1);
  gst_ccl_blob_list_set_hull (meta->list, bytes[0]);
  gst_ccl_blob_list_set_holes (meta->list, bytes[1], bytes[2]);
  gst_ccl_blob_list_set_points (meta->list, bytes[3]);
  for (guint i = 0; i < G_N_ELEMENTS (bytes); i++)
    g_bytes_unref (bytes[i]);
  return meta;
}

/* Matrices that no real scaling makes: whatever comes out of them is JSON, and as our schema says. */
GST_START_TEST (test_pathological_doubles)
{
  const gdouble scales[] = { 1e-300, 1e-10, 1e-5, 1e20, 1e300, 5e-324, NAN, INFINITY, -INFINITY, -1, 0, 1e17, 1e-7 };
  const gint precisions[] = { -1, 0, 2, 15 };
  GstHarness *h = new_harness ();
  const gchar *schemas[] = { "ccl", "dlstreamer" };

  g_object_set (h->element, "trails", TRUE, NULL);

  for (guint s = 0; s < G_N_ELEMENTS (schemas); s++) {
    gst_util_set_object_arg (G_OBJECT (h->element), "schema", schemas[s]);
    for (guint p = 0; p < G_N_ELEMENTS (precisions); p++) {
      g_object_set (h->element, "precision", precisions[p], NULL);
      for (guint i = 0; i < G_N_ELEMENTS (scales); i++) {
        GstBuffer *frame = video_frame (i);
        GstCclBlobMeta *const meta = attach_pixel (frame);
        JsonNode *line;

        meta->matrix[0] = scales[i];
        meta->matrix[4] = scales[(i + p) % G_N_ELEMENTS (scales)];
        line = precisions[p] < 0 ? push_in_both (h, frame) : push_for_json (h, frame);
        if (s == 0)
          assert_schema ("ccl-blob-1.schema.json", line);
        json_node_unref (line);
      }
    }
  }
  gst_harness_teardown (h);
}

GST_END_TEST;

/* 1e-10 is the number that json-glib 1.6 prints as "1e-10.0". */
GST_START_TEST (test_exponent_without_point)
{
  GstHarness *h = new_harness ();
  GstBuffer *frame = video_frame (0);
  GstCclBlob blob = rectangle (1, 1, 0, 1, 1);
  GstCclBlobMeta *meta = attach_blobs (frame, &blob, 1);
  JsonNode *line;

  meta->matrix[0] = 1e-10;
  line = push_in_both (h, frame);
  fail_unless (number_at (first_blob (line), "bbox", 0) == 1e-10);
  json_node_unref (line);
  gst_harness_teardown (h);
}

GST_END_TEST;

/* Nanoseconds this thread has computed: other work on the machine does not count. */
static gint64
thread_time (void)
{
  struct timespec now;

  clock_gettime (CLOCK_THREAD_CPUTIME_ID, &now);
  return now.tv_sec * (gint64) GST_SECOND + now.tv_nsec;
}

/* 1,000 blobs per frame come whole; how long a line takes is printed, for whoever changes the writer. */
GST_START_TEST (test_many_blobs)
{
  const guint n_blobs = 1000, n_frames = 5;
  GstHarness *h = new_harness ();
  GstCclBlob *blobs = g_new (GstCclBlob, n_blobs);
  const gint precisions[] = { -1, 2 };

  for (guint i = 0; i < n_blobs; i++)
    blobs[i] = rectangle (i + 1, 7 * i % 300, 11 * i % 230, 1 + i % 13, 1 + i % 7);
  for (guint p = 0; p < G_N_ELEMENTS (precisions); p++) {
    gint64 spent = 0;
    gsize size = 0;

    g_object_set (h->element, "precision", precisions[p], NULL);
    for (guint i = 0; i < n_frames; i++) {
      GstBuffer *frame = video_frame (i), *out;
      gint64 start;

      attach_blobs (frame, blobs, n_blobs);
      start = thread_time ();
      out = gst_harness_push_and_pull (h, frame);
      spent += thread_time () - start;
      size = gst_buffer_get_size (out);
      if (i == 0 && p == 0) {
        gchar *text = take_line (out);
        JsonNode *line = parse (text);

        assert_schema ("ccl-blob-1.schema.json", line);
        fail_unless_equals_int (json_array_get_length (json_object_get_array_member (json_node_get_object (line),
                    "blobs")), n_blobs);
        json_node_unref (line);
        g_free (text);
      } else {
        gst_buffer_unref (out);
      }
    }
    g_printerr ("%u blobs, precision %d: %.2f ms, %" G_GSIZE_FORMAT " bytes a frame\n", n_blobs, precisions[p],
        spent / 1e6 / n_frames, size);
  }
  g_free (blobs);
  gst_harness_teardown (h);
}

GST_END_TEST;

TCase *
json_number_tests (void)
{
  TCase *tests = tcase_create ("numbers");

  tcase_set_timeout (tests, 120);
  tcase_add_test (tests, test_precision);
  tcase_add_test (tests, test_locale);
  tcase_add_test (tests, test_pathological_doubles);
  tcase_add_test (tests, test_exponent_without_point);
  tcase_add_test (tests, test_many_blobs);
  return tests;
}
