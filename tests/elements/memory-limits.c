/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Tests with little memory, and with another element that claims to need much. The tests limit the memory of their process,
 * so each needs one of its own; valgrind runs them in one process and needs more memory. */

#include <malloc.h>
#include <sys/resource.h>
#include <unistd.h>

#include <gst/ccl/ccl.h>
#include <gst/video/video.h>
#ifdef HAVE_GST_ANALYTICS
# include <gst/analytics/analytics.h>
#endif

#include "support/harness.h"
#include "support/messages.h"
#include "support/skip.h"

/* Lets the process allocate this many bytes more than it has now. */
static void
limit_memory (gsize more)
{
  struct rlimit limit;
  gchar *text;
  guint64 pages;

  fail_unless (g_file_get_contents ("/proc/self/statm", &text, NULL, NULL));
  pages = g_ascii_strtoull (text, NULL, 10);
  g_free (text);
  getrlimit (RLIMIT_AS, &limit);
  limit.rlim_cur = pages * sysconf (_SC_PAGESIZE) + more;
  fail_unless_equals_int (setrlimit (RLIMIT_AS, &limit), 0);
}

/* Their list takes more than 16 MB. */
#define N_BLOBS 120000

#define SKIP_WITHOUT_FORK() SKIP_TEST_UNLESS (!g_getenv ("CK_FORK"), "needs a process of its own")

#if defined HAVE_GST_ANALYTICS && GST_CHECK_VERSION (1, 26, 0)
/* A mask of 12 bytes that claims to have 60000x60000 pixels. */
static void
add_huge_segmentation (GstBuffer * frame)
{
  GstBuffer *const regions = gst_buffer_new_allocate (NULL, 12, NULL);
  guint ids[] = { 0, 3 };
  GstAnalyticsSegmentationMtd segmentation;

  gst_buffer_add_video_meta (regions, GST_VIDEO_FRAME_FLAG_NONE, GST_VIDEO_FORMAT_GRAY8, 60000, 60000);
  fail_unless (gst_analytics_relation_meta_add_segmentation_mtd (gst_buffer_add_analytics_relation_meta (frame),
          regions, GST_SEGMENTATION_TYPE_SEMANTIC, G_N_ELEMENTS (ids), ids, 0, 0, 160, 90, &segmentation));
}
#endif

GST_START_TEST (test_huge_segmentation)
{
#if defined HAVE_GST_ANALYTICS && GST_CHECK_VERSION (1, 26, 0)
  SKIP_WITHOUT_FORK ();

  GstHarness *const harness = element_harness ("ccllabel", "backend=cpu mask-source=segmentation-mtd region-id=3",
      "video/x-raw,format=GRAY8,width=160,height=90,framerate=25/1");
  GstCclBlobMeta *blobs;
  GstBuffer *frame;

  gst_buffer_unref (gst_harness_push_and_pull (harness, plain_frame (160 * 90, 0, 0, GST_SECOND / 25)));
  frame = plain_frame (160 * 90, 255, GST_SECOND / 25, GST_SECOND / 25);
  add_huge_segmentation (frame);
  limit_memory (G_GUINT64_CONSTANT (1) << 30);
  frame = gst_harness_push_and_pull (harness, frame);
  blobs = gst_buffer_get_ccl_blob_meta (frame);
  fail_unless (!blobs || gst_ccl_blob_meta_get_length (blobs) == 0);
  gst_buffer_unref (frame);
  gst_harness_teardown (harness);
#else
  SKIP_TEST ("segmentations need GStreamer 1.26 with its analytics library");
#endif
}

GST_END_TEST;

/* The map of ignored pixels takes 16 MB. Without it the mask stays as it was. */
GST_START_TEST (test_ignore_without_memory)
{
  SKIP_WITHOUT_FORK ();

  const gsize size = 4096 * 4096;
  GstHarness *const harness =
      element_harness ("cclmotion", "backend=cpu", "video/x-raw,format=GRAY8,width=4096,height=4096,framerate=1/1");
  GstBus *const bus = watch_bus (harness);
  GstBuffer *frame;

  mallopt (M_MMAP_THRESHOLD, 1 << 20);  /* so that freed frames leave no space for the map */
  for (guint i = 0; i < 2; i++)
    gst_buffer_unref (gst_harness_push_and_pull (harness, plain_frame (size, 0, i * GST_SECOND, GST_SECOND)));
  harness_set (harness, "cclmotion", "ignore", "0,0;100,0;100,100");
  frame = plain_frame (size, 0, 2 * GST_SECOND, GST_SECOND);
  limit_memory (4 << 20);
  gst_buffer_unref (gst_harness_push_and_pull (harness, frame));
  assert_message (bus, GST_MESSAGE_WARNING, "No memory for ignore");
  drop_bus (harness, bus);
  gst_harness_teardown (harness);
}

GST_END_TEST;

GST_START_TEST (test_flat_form_without_memory)
{
  SKIP_WITHOUT_FORK ();

  GstCclBlob *const blobs = g_new0 (GstCclBlob, N_BLOBS);
  GstCclBlobList *const list = gst_ccl_blob_list_new (blobs, N_BLOBS);
  GstBuffer *const buffer = gst_buffer_new (), *const copy = gst_buffer_new ();
  GBytes *const bytes = gst_ccl_blob_meta_to_bytes (gst_buffer_add_ccl_blob_meta (buffer, list, 10, 10));
  GError *error = NULL;

  limit_memory (4 << 20);
  fail_unless (gst_buffer_add_ccl_blob_meta_from_bytes (copy, bytes, &error) == NULL);
  fail_unless (g_error_matches (error, GST_CCL_ERROR, GST_CCL_ERROR_NO_MEMORY), "%s", error->message);
  fail_unless (gst_buffer_get_ccl_blob_meta (copy) == NULL);
  g_error_free (error);
  g_bytes_unref (bytes);
  gst_buffer_unref (copy);
  gst_buffer_unref (buffer);
  gst_ccl_blob_list_unref (list);
  g_free (blobs);
}

GST_END_TEST;

/* Lists and their flat form are as large as the number of blobs asks for. */
GST_START_TEST (test_lists_without_memory)
{
  SKIP_WITHOUT_FORK ();

  GstCclBlob *const blobs = g_new0 (GstCclBlob, N_BLOBS), *copies;
  GstCclBlobList *const list = gst_ccl_blob_list_new (blobs, N_BLOBS);
  GstBuffer *const buffer = gst_buffer_new ();
  GstCclBlobMeta *const meta = gst_buffer_add_ccl_blob_meta (buffer, list, 10, 10);

  limit_memory (4 << 20);
  fail_unless (gst_ccl_blob_list_new (blobs, N_BLOBS) == NULL);
  fail_unless (gst_ccl_blob_list_new_uninitialized (N_BLOBS, &copies) == NULL);
  fail_unless (gst_ccl_blob_list_copy (list, &copies) == NULL);
  fail_unless (gst_ccl_blob_meta_to_bytes (meta) == NULL);
  fail_unless (gst_ccl_blob_meta_to_table (meta, 0, G_MAXUINT) == NULL);
  gst_buffer_unref (buffer);
  gst_ccl_blob_list_unref (list);
  g_free (blobs);
}

GST_END_TEST;

/* An element that lists all blobs anew ends with an error, and the frame stays as it was. */
static void
check_error_without_memory (const gchar * element, const gchar * settings, guint flags, gboolean with_tracks,
    const gchar * error)
{
  GstHarness *const harness = element_harness (element, settings, "video/x-raw,format=GRAY8,width=320,height=240");
  GstBus *const bus = watch_bus (harness);
  GstCclBlob *const blobs = g_new0 (GstCclBlob, N_BLOBS);
  GstCclBlobList *list;
  GstBuffer *frame = plain_frame (320 * 240, 0, 0, GST_SECOND / 25);

  gst_buffer_unref (gst_harness_push_and_pull (harness, plain_frame (320 * 240, 0, 0, GST_SECOND / 25)));
  for (guint i = 0; i < N_BLOBS; i++) {
    blobs[i] = (GstCclBlob) {
    .label = i + 1,.x = i % 320,.width = 1,.height = 1,.area = 1};
    blobs[i].track_id = with_tracks ? 1 : 0;
  }
  list = gst_ccl_blob_list_new (blobs, N_BLOBS);
  g_free (blobs);
  gst_buffer_add_ccl_blob_meta (frame, list, 320, 240)->flags |= flags;
  gst_buffer_ref (frame);
  limit_memory (4 << 20);
  fail_unless_equals_int (gst_harness_push (harness, frame), GST_FLOW_ERROR);
  assert_message (bus, GST_MESSAGE_ERROR, error);
  fail_unless (gst_buffer_get_ccl_blob_meta (frame)->list == list);
  gst_buffer_unref (frame);
  gst_ccl_blob_list_unref (list);
  drop_bus (harness, bus);
  gst_harness_teardown (harness);
}

GST_START_TEST (test_track_without_memory)
{
  SKIP_WITHOUT_FORK ();
  check_error_without_memory ("ccltrack", "input=ccl", 0, FALSE, "no memory for the objects of a frame");
}

GST_END_TEST;

/* A frame that was not analysed has no detections, but its blobs are written anew. */
GST_START_TEST (test_write_tracks_without_memory)
{
  SKIP_WITHOUT_FORK ();
  check_error_without_memory ("ccltrack", "input=ccl", GST_CCL_BLOB_META_FLAG_SKIPPED, FALSE,
      "no memory for the objects of a frame");
}

GST_END_TEST;

GST_START_TEST (test_overlay_without_memory)
{
  SKIP_WITHOUT_FORK ();
  check_error_without_memory ("ccloverlay", "", 0, FALSE, "No memory for the objects of a frame");
}

GST_END_TEST;

/* Regions of another element. */
GST_START_TEST (test_regions_without_memory)
{
  SKIP_WITHOUT_FORK ();

  GstHarness *const harness = element_harness ("cclmeta2json", "", "video/x-raw,format=GRAY8,width=320,height=240");
  GstBus *const bus = watch_bus (harness);
  GstBuffer *const frame = plain_frame (320 * 240, 0, 0, GST_SECOND / 25);

  gst_buffer_unref (gst_harness_push_and_pull (harness, plain_frame (320 * 240, 0, 0, GST_SECOND / 25)));
  for (guint i = 0; i < N_BLOBS; i++)
    gst_buffer_add_video_region_of_interest_meta (frame, "car", i % 320, 0, 1, 1);
  limit_memory (4 << 20);
  fail_unless_equals_int (gst_harness_push (harness, frame), GST_FLOW_ERROR);
  assert_message (bus, GST_MESSAGE_ERROR, "No memory for the regions of a frame");
  drop_bus (harness, bus);
  gst_harness_teardown (harness);
}

GST_END_TEST;

GST_START_TEST (test_zone_without_memory)
{
  SKIP_WITHOUT_FORK ();
  check_error_without_memory ("cclzone",
      "zones=\"{\\\"zones\\\":[{\\\"name\\\":\\\"a\\\",\\\"polygon\\\":[[0,0],[99,0],[99,99]]}]}\"", 0, TRUE,
      "No memory for the blobs of a frame");
}

GST_END_TEST;

/* Of another element, with more points than cclzone allows. */
GST_START_TEST (test_zone_points_without_memory)
{
  SKIP_WITHOUT_FORK ();

  const guint n_points = 600000;
  GstHarness *const harness =
      element_harness ("cclzone", "zones=\"{\\\"zones\\\":[{\\\"name\\\":\\\"a\\\",\\\"line\\\":[[0,0],[99,99]]}]}\"",
      "video/x-raw,format=GRAY8,width=320,height=240");
  GstBus *const bus = watch_bus (harness);
  GstBuffer *const frame = plain_frame (320 * 240, 0, 0, GST_SECOND / 25), *const copy = gst_buffer_new ();
  GstCclZone zone = {.name = (gchar *) "large",.n_points = n_points };
  GstCclZoneMeta *meta;

  zone.points = g_new0 (gdouble, 2 * n_points);
  meta = gst_buffer_add_ccl_zone_meta (frame, &zone, 1);
  fail_unless (meta != NULL);
  g_free (zone.points);
  mallopt (M_MMAP_THRESHOLD, 1 << 20);
  limit_memory (4 << 20);
  fail_unless (gst_ccl_zone_copy (&meta->zones[0]) == NULL);
  fail_unless (gst_ccl_zone_meta_copy (meta) == NULL);
  fail_unless (gst_buffer_add_ccl_zone_meta (copy, meta->zones, 1) == NULL);
  fail_unless (gst_buffer_get_ccl_zone_meta (copy) == NULL);
  gst_buffer_unref (copy);
  fail_unless_equals_int (gst_harness_push (harness, frame), GST_FLOW_ERROR);
  assert_message (bus, GST_MESSAGE_ERROR, "No memory for the zones of a frame");
  drop_bus (harness, bus);
  gst_harness_teardown (harness);
}

GST_END_TEST;

/* 262144 blobs. The core has made its table for the frame before, when no list was wanted. */
GST_START_TEST (test_label_without_memory)
{
  SKIP_WITHOUT_FORK ();

  const guint side = 1024;
  GstHarness *const harness = element_harness ("ccllabel", "backend=cpu attach=0 max-components=300000",
      "video/x-raw,format=GRAY8,width=1024,height=1024,framerate=25/1");
  GstBus *const bus = watch_bus (harness);
  GstBuffer *frame;
  GstMapInfo map;

  for (guint i = 0; i < 3; i++) {
    frame = plain_frame (side * side, 0, i * GST_SECOND / 25, GST_SECOND / 25);
    gst_buffer_map (frame, &map, GST_MAP_WRITE);
    for (guint y = 0; y < side; y += 2)
      for (guint x = 0; x < side; x += 2)
        map.data[y * side + x] = 255;
    gst_buffer_unmap (frame, &map);
    if (i < 2)
      gst_buffer_unref (gst_harness_push_and_pull (harness, frame));
  }
  harness_set (harness, "ccllabel", "attach", "blob");
  limit_memory (4 << 20);
  fail_unless_equals_int (gst_harness_push (harness, frame), GST_FLOW_ERROR);
  assert_message (bus, GST_MESSAGE_ERROR, "No memory for a list of");
  drop_bus (harness, bus);
  gst_harness_teardown (harness);
}

GST_END_TEST;

static Suite *
memory_limits_suite (void)
{
  Suite *const suite = suite_create ("memory-limits");
  TCase *const tc = tcase_create ("general");

  /* Threads of libraries would bring address space of their own. Freed memory goes back. */
  mallopt (M_ARENA_MAX, 1);
  mallopt (M_MMAP_THRESHOLD, 1 << 20);
  tcase_set_timeout (tc, 60);
  suite_add_tcase (suite, tc);
  tcase_add_test (tc, test_huge_segmentation);
  tcase_add_test (tc, test_ignore_without_memory);
  tcase_add_test (tc, test_flat_form_without_memory);
  tcase_add_test (tc, test_lists_without_memory);
  tcase_add_test (tc, test_track_without_memory);
  tcase_add_test (tc, test_write_tracks_without_memory);
  tcase_add_test (tc, test_overlay_without_memory);
  tcase_add_test (tc, test_regions_without_memory);
  tcase_add_test (tc, test_zone_without_memory);
  tcase_add_test (tc, test_zone_points_without_memory);
  tcase_add_test (tc, test_label_without_memory);
  return suite;
}

GST_CHECK_MAIN (memory_limits);
