/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* What happens when memory is short, or when another element claims to need much. The tests limit the memory of their process,
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

/* Lets the process allocate so much more than it has now. */
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

/* The list takes more than 16 MB. */
GST_START_TEST (test_flat_form_without_memory)
{
  SKIP_WITHOUT_FORK ();

  GstCclBlob *const blobs = g_new0 (GstCclBlob, 120000);
  GstCclBlobList *const list = gst_ccl_blob_list_new (blobs, 120000);
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

static Suite *
memory_limits_suite (void)
{
  Suite *const suite = suite_create ("memory-limits");
  TCase *const tc = tcase_create ("general");

  tcase_set_timeout (tc, 60);
  suite_add_tcase (suite, tc);
  tcase_add_test (tc, test_huge_segmentation);
  tcase_add_test (tc, test_ignore_without_memory);
  tcase_add_test (tc, test_flat_form_without_memory);
  return suite;
}

GST_CHECK_MAIN (memory_limits);
