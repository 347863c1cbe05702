/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Groups of measures on each backend: those that the GPU has give the same metadata as the CPU, byte for byte. Others take the
 * CPU. */
#include <string.h>

#include "ccl.h"
#include "support/backends.h"
#include "support/blobs.h"
#include "support/labelharness.h"
#include "support/masks.h"
#include "support/messages.h"
#include "support/program.h"

#define N_FRAMES 4
#define N_SIZES 3

static const struct
{
  const gchar *features, *measure;
  guint core;
} groups[] = {
  {"basic+shape", "n-holes", CCL_FEATURE_SHAPE},
  {"basic+hull", "solidity", CCL_FEATURE_HULL},
  {"basic+holes", "area-filled", CCL_FEATURE_HOLES},
  {"basic+intensity", "intensity-mean", CCL_FEATURE_INTENSITY},
};

static guint
features_of_gpu (void)
{
  return ccl_features (CCL_BACKEND_CUDA, NULL, CCL_FOREGROUND_THRESHOLD, FALSE);
}

static void
assert_backend (GstHarness * harness, const gchar * expected)
{
  gchar *const name = stat_string (harness, "backend");

  fail_unless_equals_string (name, expected);
  g_free (name);
}

/* The caps change while frames are in the delay queue. */
static GBytes *
label_sizes (guint backend, const gchar * settings)
{
  static const guint sizes[N_SIZES][2] = { {70, 40}, {33, 50}, {70, 40} };
  GstHarness *harness = label_harness (backend, settings);
  GBytes *metas;

  for (guint i = 0; i < N_SIZES; i++)
    for (guint n = 0; n < N_FRAMES; n++) {
      Mask mask = mask_random (sizes[i][0], sizes[i][1], n, 0.2 + 0.2 * n);

      if (n == 0)
        set_mask_caps (harness, i % 2 ? GST_VIDEO_FORMAT_I420 : GST_VIDEO_FORMAT_GRAY8, &mask);
      fail_unless_equals_int (gst_harness_push (harness, buffer_from_mask (i % 2 ? GST_VIDEO_FORMAT_I420 :
                  GST_VIDEO_FORMAT_GRAY8, &mask)), GST_FLOW_OK);
      mask_free (&mask);
    }
  gst_harness_push_event (harness, gst_event_new_eos ());
  metas = pull_blob_metas (harness);
  fail_unless_equals_int (gst_harness_buffers_received (harness), N_SIZES * N_FRAMES);
  assert_backend (harness, backends[backend]);
  gst_harness_teardown (harness);
  return metas;
}

static const gchar *const settings[] = {
  "features=shape", "features=shape connectivity=4 async-depth=1", "features=basic+shape async-depth=3 threads=2",
  "features=shape batch=true async-depth=2", "features=shape sort=circularity-desc max-components=5",
  "features=shape volume=2", "features=shape contours=true timing=true algorithm=runs",
  "filter=\"n-holes > 0 or perimeter-crack < 20\" async-depth=1", "sort=euler-number max-components=9",
  "foreground=equal features=shape+hull+intensity async-depth=1",
  "foreground=equal async-depth=1", "foreground=equal background-value=255 sort=class-id-desc filter=\"area > 2\"",
  "features=intensity async-depth=1", "features=shape+intensity sort=intensity-mean-desc",
  "features=hull async-depth=1", "features=holes connectivity=4 async-depth=3", "sort=area-convex-desc max-components=5",
  "features=shape+hull+holes+intensity filter=\"area-filled > 4 and solidity < 0.9\" sort=area-filled max-components=7",
};

GST_START_TEST (test_same_table)
{
  GBytes *on_cpu, *on_gpu;

  NEED_BACKEND (1);
  on_cpu = label_sizes (0, settings[__i__]);
  on_gpu = label_sizes (1, settings[__i__]);
  fail_unless (g_bytes_equal (on_cpu, on_gpu), "%s", settings[__i__]);
  g_bytes_unref (on_cpu);
  g_bytes_unref (on_gpu);
}

GST_END_TEST;

/* On and off while frames are in the delay queue. */
static GBytes *
label_with_changes (guint backend)
{
  static const gchar *const features[] = { "basic", "shape", "shape", "basic", "basic+shape" };
  GstHarness *harness = label_harness (backend, "async-depth=2");
  Mask mask = mask_random (70, 40, 1, 0.4);
  GBytes *metas;

  set_mask_caps (harness, GST_VIDEO_FORMAT_GRAY8, &mask);
  for (guint n = 0; n < 2 * G_N_ELEMENTS (features); n++) {
    set_label (harness, "features", features[n / 2]);
    push_mask (harness, &mask, n);
    assert_backend (harness, backends[backend]);
  }
  gst_harness_push_event (harness, gst_event_new_eos ());
  metas = pull_blob_metas (harness);
  gst_harness_teardown (harness);
  mask_free (&mask);
  return metas;
}

GST_START_TEST (test_changes_while_playing)
{
  GBytes *on_cpu, *on_gpu;

  NEED_BACKEND (1);
  on_cpu = label_with_changes (0);
  on_gpu = label_with_changes (1);
  fail_unless (g_bytes_equal (on_cpu, on_gpu));
  g_bytes_unref (on_cpu);
  g_bytes_unref (on_gpu);
}

GST_END_TEST;

/* Masks of cclmotion in device memory, and the frame in system memory. */
static GBytes *
label_motion (guint backend, guint * n_found)
{
  gchar *const line =
      g_strdup_printf
      ("cclmotion method=mog2 warmup-frames=3 open=0 backend=%s ! ccllabel name=label backend=%s mask-source=mask-meta "
      "features=shape+intensity async-depth=1", backends[backend], backends[backend]);
  GstHarness *harness = gst_harness_new_parse (line);
  GByteArray *const all = g_byte_array_new ();
  GstBuffer *buffer;

  *n_found = 0;
  for (guint n = 0; n < 8; n++) {
    Mask mask = mask_new (70, 40);

    for (guint y = 10; n > 3 && y < 24; y++)
      memset (&mask.pixels[y * 70 + 4 * n], 1, 20);
    if (n == 0)
      set_mask_caps (harness, GST_VIDEO_FORMAT_GRAY8, &mask);
    buffer = buffer_from_values (GST_VIDEO_FORMAT_GRAY8, &mask, 220, 60);
    GST_BUFFER_PTS (buffer) = n * 40 * GST_MSECOND;
    fail_unless_equals_int (gst_harness_push (harness, buffer), GST_FLOW_OK);
    mask_free (&mask);
  }
  gst_harness_push_event (harness, gst_event_new_eos ());
  while ((buffer = gst_harness_try_pull (harness))) {
    GBytes *const meta = gst_ccl_blob_meta_to_bytes (gst_buffer_get_ccl_blob_meta (buffer));

    *n_found += n_blobs (buffer);
    g_byte_array_append (all, g_bytes_get_data (meta, NULL), g_bytes_get_size (meta));
    g_bytes_unref (meta);
    gst_buffer_unref (buffer);
  }
  assert_backend (harness, backends[backend]);
  gst_harness_teardown (harness);
  g_free (line);
  return g_byte_array_free_to_bytes (all);
}

GST_START_TEST (test_masks_in_device_memory)
{
  guint n_on_cpu, n_on_gpu;
  GBytes *on_cpu, *on_gpu;

  NEED_BACKEND (1);
  on_cpu = label_motion (0, &n_on_cpu);
  on_gpu = label_motion (1, &n_on_gpu);
  fail_unless (n_on_cpu > 0 && n_on_gpu == n_on_cpu, "%u blobs, %u on the GPU", n_on_cpu, n_on_gpu);
  fail_unless (g_bytes_equal (on_cpu, on_gpu));
  g_bytes_unref (on_cpu);
  g_bytes_unref (on_gpu);
}

GST_END_TEST;

/* Starts again with these settings. A group that the GPU lacks takes the CPU. `asks`: with one warning, which names this. */
static void
check_group (GstHarness * harness, guint group, const gchar * backend, const gchar * property, const gchar * value,
    const gchar * asks)
{
  const gboolean has = (features_of_gpu () & groups[group].core) != 0;
  GstBus *bus = watch_bus (harness);
  Mask mask = MASK ("###.####", "#.#.....", "###.##..", "....##..");

  gst_element_set_state (label_of (harness), GST_STATE_NULL);
  set_label (harness, "backend", backend);
  set_label (harness, property, value);
  gst_element_set_state (label_of (harness), GST_STATE_PLAYING);
  set_mask_caps (harness, GST_VIDEO_FORMAT_GRAY8, &mask);
  for (guint n = 0; n < 3; n++)
    gst_buffer_unref (label_mask (harness, &mask, n));
  assert_backend (harness, has ? "cuda" : "cpu");
  if (asks && !has)
    assert_message (bus, GST_MESSAGE_WARNING, asks);
  assert_no_message (bus, GST_MESSAGE_WARNING);
  drop_bus (harness, bus);
  mask_free (&mask);
}

GST_START_TEST (test_groups_of_the_gpu)
{
  const gchar *const features = groups[__i__].features, *const measure = groups[__i__].measure;
  gchar *of_features, *of_sort;
  GstHarness *harness;

  NEED_BACKEND (1);
  of_features = g_strdup_printf ("The GPU does not measure features=%s:", strchr (features, '+') + 1);
  of_sort = g_strdup_printf ("The GPU does not measure %s:", measure);
  harness = label_harness (1, "");
  check_group (harness, __i__, "cuda", "features", features, of_features);
  check_group (harness, __i__, "auto", "features", features, NULL);
  set_label (harness, "features", "basic");
  check_group (harness, __i__, "cuda", "sort", measure, of_sort);
  gst_harness_teardown (harness);
  g_free (of_features);
  g_free (of_sort);
}

GST_END_TEST;

/* Without a device backend=cuda is an error where the GPU has the group, and in builds without CUDA. */
GST_START_TEST (test_groups_without_a_gpu)
{
  const gboolean fails = !ccl_backend_built (CCL_BACKEND_CUDA) || features_of_gpu () & groups[__i__].core;
  gchar *line;
  GstElement *label;

  SKIP_TEST_UNLESS (!have_backend ("cuda"), "there is a GPU");
  line = g_strdup_printf ("ccllabel backend=cuda features=%s", groups[__i__].features);
  label = gst_parse_launch (line, NULL);
  fail_unless ((gst_element_set_state (label, GST_STATE_PAUSED) == GST_STATE_CHANGE_FAILURE) == fails, "%s", line);
  gst_element_set_state (label, GST_STATE_NULL);
  gst_object_unref (label);
  g_free (line);
}

GST_END_TEST;

/* A method of the GPU without the group is an error, because the CPU does not have it. */
GST_START_TEST (test_method_without_the_group)
{
  static const gchar *const settings[] = { "backend=cuda", "backend=auto" };
  gchar *const line = g_strdup_printf ("ccllabel %s algorithm=bke features=shape", settings[__i__]);
  GstElement *label;

  SKIP_TEST_UNLESS (ccl_backend_built (CCL_BACKEND_CUDA), "there is no such method");
  label = gst_parse_launch (line, NULL);
  fail_unless_equals_int (gst_element_set_state (label, GST_STATE_PAUSED), GST_STATE_CHANGE_FAILURE);
  gst_element_set_state (label, GST_STATE_NULL);
  gst_object_unref (label);
  g_free (line);
}

GST_END_TEST;

static Suite *
ccllabel_measures_suite (void)
{
  Suite *suite = suite_create ("ccllabel-measures");
  TCase *tests = tcase_create ("measures");

  tcase_set_timeout (tests, 120);
  tcase_add_loop_test (tests, test_same_table, 0, G_N_ELEMENTS (settings));
  tcase_add_test (tests, test_changes_while_playing);
  tcase_add_test (tests, test_masks_in_device_memory);
  tcase_add_loop_test (tests, test_groups_of_the_gpu, 0, G_N_ELEMENTS (groups));
  tcase_add_loop_test (tests, test_groups_without_a_gpu, 0, G_N_ELEMENTS (groups));
  tcase_add_loop_test (tests, test_method_without_the_group, 0, 2);
  suite_add_tcase (suite, tests);
  return suite;
}

TEST_MAIN (ccllabel_measures, "ccllabel-measures")
