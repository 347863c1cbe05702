/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Two elements in a row that attach the same kind of metadata: whatever reads it takes that of the nearer one. */

#include <gst/ccl/ccl.h>
#include <gst/video/video.h>
#include <string.h>

#include "support/blobs.h"
#include "support/harness.h"
#include "support/skip.h"

#define WIDTH 64
#define HEIGHT 48
#define CAPS(format) "video/x-raw,format=" format ",width=64,height=48,framerate=10/1"

/* The far ccllabel finds the bright square, the near one the whole picture. The square is 8x6 pixels at (10, 20). */
#define FAR "ccllabel threshold=200 ! "
#define NEAR "ccllabel threshold=20 name=near ! "
#define MIDDLE "zones=\"{\\\"zones\\\":[{\\\"name\\\":\\\"middle\\\",\\\"polygon\\\":[[28,20],[36,20],[36,28],[28,28]]}]}\""

static GstBuffer *
picture (guint number)
{
  GstBuffer *const buffer = plain_frame (WIDTH * HEIGHT, 30, number * 100 * GST_MSECOND, 100 * GST_MSECOND);

  for (guint y = 20; y < 26; y++)
    gst_buffer_memset (buffer, y * WIDTH + 10, 255, 8);
  return buffer;
}

static GstBuffer *
run (const gchar * elements, guint n_frames)
{
  GstHarness *const h = gst_harness_new_parse (elements);
  GstBuffer *buffer = NULL;

  gst_harness_set_src_caps_str (h, CAPS ("GRAY8"));
  for (guint i = 0; i < n_frames; i++) {
    gst_clear_buffer (&buffer);
    buffer = gst_harness_push_and_pull (h, picture (i));
    fail_unless (buffer != NULL, "%s", elements);
  }
  gst_harness_teardown (h);
  return buffer;
}

static gchar *
run_for_text (const gchar * elements)
{
  GstBuffer *const buffer = run (elements, 1);
  GstMapInfo map;
  gchar *text;

  fail_unless (gst_buffer_map (buffer, &map, GST_MAP_READ));
  text = g_strndup ((const gchar *) map.data, map.size);
  gst_buffer_unmap (buffer, &map);
  gst_buffer_unref (buffer);
  return text;
}

/* The blob that readers see, and the one behind it. */
static const GstCclBlob *
nth_blob (GstBuffer * buffer, guint index)
{
  gpointer state = NULL;
  GstMeta *meta = NULL;

  for (guint i = 0; i <= index; i++)
    meta = gst_buffer_iterate_meta_filtered (buffer, &state, GST_CCL_BLOB_META_API_TYPE);
  fail_unless (meta != NULL, "no meta %u", index);
  fail_unless_equals_int (gst_ccl_blob_meta_get_length ((GstCclBlobMeta *) meta), 1);
  return gst_ccl_blob_meta_get_blob ((GstCclBlobMeta *) meta, 0);
}

static void
assert_nearer_is_read (GstBuffer * buffer)
{
  GstCclBlobMeta *const meta = gst_buffer_get_ccl_blob_meta (buffer);

  fail_unless_equals_int (gst_buffer_get_n_meta (buffer, GST_CCL_BLOB_META_API_TYPE), 2);
  fail_unless (meta != NULL && gst_ccl_blob_meta_get_length (meta) == 1);
  fail_unless_equals_int (gst_ccl_blob_meta_get_blob (meta, 0)->area, WIDTH * HEIGHT);
  fail_unless_equals_string (g_quark_to_string (meta->source), "near");
}

/* Copies, and elements that scale the picture, keep the order. */
GST_START_TEST (test_library)
{
  static const gchar *const behind[] = { "identity", "videoscale ! video/x-raw,width=128,height=96 ! identity" };

  for (guint i = 0; i < G_N_ELEMENTS (behind); i++) {
    gchar *const line = g_strconcat (FAR NEAR, behind[i], NULL);
    GstBuffer *const buffer = run (line, 1), *const copy = gst_buffer_copy (buffer);

    assert_nearer_is_read (buffer);
    assert_nearer_is_read (copy);
    gst_buffer_unref (copy);
    gst_buffer_unref (buffer);
    g_free (line);
  }
}

GST_END_TEST;

GST_START_TEST (test_cclmeta2json)
{
  gchar *const alone = run_for_text (NEAR "cclmeta2json name=json");
  gchar *const behind = run_for_text (FAR NEAR "cclmeta2json name=json");
  gchar *const far = run_for_text (FAR "cclmeta2json name=json");

  fail_unless_equals_string (behind, alone);
  fail_if (g_str_equal (far, alone), "the two elements find the same");
  g_free (alone);
  g_free (behind);
  g_free (far);
}

GST_END_TEST;

GST_START_TEST (test_ccltrack)
{
  GstBuffer *const buffer = run (FAR NEAR "ccltrack min-hits=1", 3);

  assert_nearer_is_read (buffer);
  fail_unless (nth_blob (buffer, 1)->track_id != 0);
  fail_unless_equals_uint64 (nth_blob (buffer, 0)->track_id, 0);
  gst_buffer_unref (buffer);
}

GST_END_TEST;

/* Regions that mirror the far blobs have the same labels, but their objects are not followed. */
GST_START_TEST (test_mirrors)
{
  GstBuffer *const buffer = run ("ccllabel threshold=200 attach=blob+roi ! ccllabel threshold=20 attach=blob+roi ! "
      "ccltrack min-hits=1", 1);
  gpointer state = NULL;

  for (guint near = 0; near < 2; near++) {
    GstVideoRegionOfInterestMeta *const roi = (GstVideoRegionOfInterestMeta *)
        gst_buffer_iterate_meta_filtered (buffer, &state, GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE);

    fail_unless (roi != NULL && roi->w == (near ? WIDTH : 8));
    fail_unless ((gst_video_region_of_interest_meta_get_param (roi, "object_id") != NULL) == near);
  }
  gst_buffer_unref (buffer);
}

GST_END_TEST;

/* The centre of the picture is in the zone, that of the square is not. */
GST_START_TEST (test_cclzone)
{
  GstBuffer *const buffer = run (FAR NEAR "cclzone " MIDDLE, 1);

  assert_nearer_is_read (buffer);
  fail_unless_equals_int (gst_buffer_get_ccl_zone_meta (buffer)->zones[0].n_inside, 1);
  fail_unless_equals_int (nth_blob (buffer, 1)->zones, 1);
  fail_unless_equals_int (nth_blob (buffer, 0)->zones, 0);
  gst_buffer_unref (buffer);
}

GST_END_TEST;

GST_START_TEST (test_ccloverlay)
{
  GstElementFactory *const factory = gst_element_factory_find ("ccloverlay");
  static const gchar overlay[] = "ccloverlay draw=box color-by=fixed line-width=1";
  GstBuffer *behind, *alone;
  GstMapInfo map;

  SKIP_TEST_UNLESS (factory, "built without ccloverlay");
  gst_object_unref (factory);
  gchar *const lines[] = { g_strconcat (FAR NEAR, overlay, NULL), g_strconcat (NEAR, overlay, NULL) };

  behind = run (lines[0], 1);
  alone = run (lines[1], 1);
  fail_unless (gst_buffer_map (alone, &map, GST_MAP_READ));
  fail_unless (map.data[0] != 30, "nothing is drawn at the edge");
  fail_unless (gst_buffer_memcmp (behind, 0, map.data, map.size) == 0);
  gst_buffer_unmap (alone, &map);
  gst_buffer_unref (behind);
  gst_buffer_unref (alone);
  g_free (lines[0]);
  g_free (lines[1]);
}

GST_END_TEST;

static void
add_mask (GstBuffer * buffer, guint8 value)
{
  GstBuffer *const mask = plain_frame (WIDTH * HEIGHT, value, GST_CLOCK_TIME_NONE, GST_CLOCK_TIME_NONE);

  gst_buffer_add_video_meta (mask, GST_VIDEO_FRAME_FLAG_NONE, GST_VIDEO_FORMAT_GRAY8, WIDTH, HEIGHT);
  fail_unless (gst_buffer_add_ccl_mask_meta (buffer, mask, WIDTH, HEIGHT) != NULL);
  gst_buffer_unref (mask);
}

/* ccllabel reads the nearer mask. */
GST_START_TEST (test_masks)
{
  GstHarness *const h = element_harness ("ccllabel", "mask-source=mask-meta", CAPS ("GRAY8"));

  for (guint near = 0; near < 2; near++) {
    GstBuffer *buffer = picture (near);

    add_mask (buffer, near ? 0 : 255);
    add_mask (buffer, near ? 255 : 0);
    buffer = gst_harness_push_and_pull (h, buffer);
    fail_unless_equals_int (n_blobs (buffer), near);
    gst_buffer_unref (buffer);
  }
  gst_harness_teardown (h);
}

GST_END_TEST;

/* Zones that another program attached twice. A cclzone of ours adds to those that are there instead. */
GST_START_TEST (test_zones)
{
  const GstCclZone zones[] = { {.name = (gchar *) "far"}, {.name = (gchar *) "near"} };
  GstHarness *const h = element_harness ("cclmeta2json", "", CAPS ("GRAY8"));
  GstBuffer *buffer = picture (0);
  const GstCclBlob blob = rectangle (1, 10, 20, 8, 6);
  GstMapInfo map;

  add_blobs (buffer, &blob, 1, WIDTH, HEIGHT);
  for (guint i = 0; i < 2; i++)
    gst_buffer_add_ccl_zone_meta (buffer, &zones[i], 1);
  fail_unless_equals_string (gst_buffer_get_ccl_zone_meta (buffer)->zones[0].name, "near");
  buffer = gst_harness_push_and_pull (h, buffer);
  fail_unless (gst_buffer_map (buffer, &map, GST_MAP_READ));
  fail_unless (g_strstr_len ((const gchar *) map.data, map.size, "\"zones\":[{\"name\":\"near\""));
  fail_if (g_strstr_len ((const gchar *) map.data, map.size, "\"far\""));
  gst_buffer_unmap (buffer, &map);
  gst_buffer_unref (buffer);
  gst_harness_teardown (h);
}

GST_END_TEST;

static Suite *
producers_suite (void)
{
  Suite *suite = suite_create ("producers");
  TCase *tests = tcase_create ("general");

  suite_add_tcase (suite, tests);
  tcase_add_test (tests, test_library);
  tcase_add_test (tests, test_cclmeta2json);
  tcase_add_test (tests, test_ccltrack);
  tcase_add_test (tests, test_mirrors);
  tcase_add_test (tests, test_cclzone);
  tcase_add_test (tests, test_ccloverlay);
  tcase_add_test (tests, test_masks);
  tcase_add_test (tests, test_zones);
  return suite;
}

GST_CHECK_MAIN (producers);
