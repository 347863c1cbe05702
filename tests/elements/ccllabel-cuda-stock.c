/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Between cudaupload and cudadownload. */
#include "ccllabel-cuda.h"
#include "support/pipelines.h"

static GstPadProbeReturn
count_blobs (GstPad * pad, GstPadProbeInfo * info, gpointer count)
{
  (void) pad;
  *(guint64 *) count += n_blobs (GST_PAD_PROBE_INFO_BUFFER (info));
  return GST_PAD_PROBE_OK;
}

#if GST_CHECK_VERSION (1, 24, 0)
/* CUDA memory names the stream that writes it. */
static GstPadProbeReturn
look_for_stream (GstPad * pad, GstPadProbeInfo * info, gpointer unused)
{
  GstMemory *memory = gst_buffer_peek_memory (GST_PAD_PROBE_INFO_BUFFER (info), 0);

  (void) pad, (void) unused;
  if (gst_is_cuda_memory (memory))
    fail_unless (gst_cuda_memory_get_stream (GST_CUDA_MEMORY_CAST (memory)) != NULL, "CUDA memory without a stream");
  return GST_PAD_PROBE_OK;
}
#endif

static guint64
blobs_of_pipeline (const gchar * elements)
{
  gchar *line = g_strdup_printf ("videotestsrc pattern=ball motion=sweep num-buffers=80 ! "
      "video/x-raw,format=NV12,width=640,height=480 ! %s ! fakesink", elements);
  GstElement *pipeline = gst_parse_launch (line, NULL), *label = gst_bin_get_by_name (GST_BIN (pipeline), "label");
  GstPad *pad = gst_element_get_static_pad (label, "src"), *sink = gst_element_get_static_pad (label, "sink");
  guint64 n = 0;

  gst_pad_add_probe (pad, GST_PAD_PROBE_TYPE_BUFFER, count_blobs, &n, NULL);
#if GST_CHECK_VERSION (1, 24, 0)
  gst_pad_add_probe (sink, GST_PAD_PROBE_TYPE_BUFFER, look_for_stream, NULL, NULL);
#endif
  play_to_end (pipeline);
  gst_object_unref (pad);
  gst_object_unref (sink);
  gst_object_unref (label);
  gst_object_unref (pipeline);
  g_free (line);
  return n;
}

GST_START_TEST (test_between_cudaupload_and_cudadownload)
{
  SKIP_TEST_UNLESS (gst_registry_check_feature_version (gst_registry_get (), "cudaupload", 0, 0, 0),
      "no cudaupload (nvcodec needs libnvcuvid or libnvidia-encode)");

  guint64 expected;

  expected = blobs_of_pipeline ("ccllabel name=label backend=cpu");
  fail_unless (expected >= 20);
  fail_unless_equals_uint64 (blobs_of_pipeline ("ccllabel name=label backend=cuda"), expected);
  fail_unless_equals_uint64 (blobs_of_pipeline ("cudaupload ! ccllabel name=label backend=cuda ! cudadownload"),
      expected);
  fail_unless_equals_uint64 (blobs_of_pipeline ("cudaupload ! ccllabel name=label async-depth=2 ! cudadownload"),
      expected);
  fail_unless_equals_uint64 (blobs_of_pipeline ("cudaupload ! ccllabel name=label backend=cpu ! cudadownload"),
      expected);
  fail_unless_equals_uint64 (blobs_of_pipeline ("cudaupload ! cudadownload ! ccllabel name=label"), expected);
  expected = blobs_of_pipeline ("cclmotion method=diff warmup-frames=1 backend=cpu ! "
      "ccllabel name=label mask-source=mask-meta backend=cpu");
  fail_unless (expected >= 10);
  fail_unless_equals_uint64 (blobs_of_pipeline ("cudaupload ! cclmotion method=diff warmup-frames=1 backend=cuda ! "
          "ccllabel name=label mask-source=mask-meta backend=cuda ! cudadownload"), expected);
  /* Chroma on the device, too. */
  expected = blobs_of_pipeline ("cclmotion backend=cpu ! ccllabel name=label mask-source=mask-meta backend=cpu");
  fail_unless (expected >= 10);
  fail_unless_equals_uint64 (blobs_of_pipeline ("cudaupload ! cclmotion backend=cuda ! "
          "ccllabel name=label mask-source=mask-meta backend=cuda ! cudadownload"), expected);
}

GST_END_TEST;

void
ccllabel_cuda_add_stock_tests (Suite * suite)
{
  TCase *tests = tcase_create ("stock");

  tcase_set_timeout (tests, 120);
  tcase_add_test (tests, test_between_cudaupload_and_cudadownload);
  suite_add_tcase (suite, tests);
}
