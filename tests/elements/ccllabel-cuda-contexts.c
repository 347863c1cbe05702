/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Shared contexts and pinned memory. */
#include "ccllabel-cuda.h"

/* A context of its own for each would make their frames take turns. */
GST_START_TEST (test_pipelines_share_a_context)
{
  GstCudaContext *const given = new_context ();
  GstHarness *harnesses[3] = { harness_in_context (1, "", NULL), harness_in_context (1, "cuda-device-id=0", NULL),
    harness_with (1, "", given)
  };
  GstCudaContext *contexts[3];
  Mask mask = mask_random (320, 240, 1, 0.4);

  for (guint i = 0; i < 3; i++) {
    set_mask_caps (harnesses[i], GST_VIDEO_FORMAT_GRAY8, &mask);
    contexts[i] = context_of (harnesses[i]);
  }
  fail_unless (contexts[0] == contexts[1]);
  fail_unless (contexts[2] == given);
  for (guint i = 0; i < 3; i++) {
    gst_object_unref (contexts[i]);
    gst_harness_teardown (harnesses[i]);
  }
  gst_object_unref (given);
  mask_free (&mask);
}

GST_END_TEST;

GST_START_TEST (test_context_is_shared_and_followed)
{
  GstCudaContext *first = new_context (), *second = new_context ();
  GstHarness *harness = harness_with (1, "async-depth=1", first);
  Mask mask = mask_random (320, 240, 1, 0.4);
  GstCudaContext *const answer = context_of (harness);

  fail_unless (answer == first);
  gst_object_unref (answer);

  set_cuda_caps (harness, GST_VIDEO_FORMAT_NV12, &mask);
  for (guint i = 0; i < 9; i++) {
    GstBuffer *buffer = cuda_buffer (i / 3 % 2 ? second : first, GST_VIDEO_FORMAT_NV12, &mask);
    GST_BUFFER_PTS (buffer) = i;
    fail_unless_equals_int (gst_harness_push (harness, buffer), GST_FLOW_OK);
  }
  gst_harness_push_event (harness, gst_event_new_eos ());
  for (guint i = 0; i < 9; i++) {
    GstBuffer *buffer = gst_harness_pull (harness);
    fail_unless_equals_uint64 (GST_BUFFER_PTS (buffer), i);
    assert_blobs (buffer, &mask, 8);
    gst_buffer_unref (buffer);
  }
  assert_path (harness, "cuda-memory");
  gst_harness_teardown (harness);
  mask_free (&mask);
  ASSERT_OBJECT_REFCOUNT (first, "first context", 1);
  ASSERT_OBJECT_REFCOUNT (second, "second context", 1);
  gst_object_unref (first);
  gst_object_unref (second);
}

GST_END_TEST;

/* The mask in memory of the allocator: aligned, prefixed and padded as some decoders want it, every fifth shared. */
static GstBuffer *
pinned_buffer (GstAllocator * allocator, const Mask * mask, guint i)
{
  GstBuffer *buffer = gst_buffer_new ();
  GstAllocationParams params;
  GstMemory *memory, *part;
  GstMapInfo map;

  gst_allocation_params_init (&params);
  params.align = i % 2 ? 8191 : 63;
  params.prefix = i % 3 ? 64 : 0;
  params.padding = 32;
  memory = gst_allocator_alloc (allocator, mask->width * mask->height, &params);
  fail_unless (gst_memory_is_type (memory, "CclPinnedMemory"));
  gst_memory_map (memory, &map, GST_MAP_WRITE);
  fail_unless_equals_int (((guintptr) map.data - params.prefix) & params.align, 0);
  draw_mask (map.data, mask->width, 1, mask, 255, 0);
  gst_memory_unmap (memory, &map);
  if (i % 5 == 4) {
    part = gst_memory_share (memory, 0, -1);
    gst_memory_unref (memory);
    memory = part;
  }
  gst_buffer_append_memory (buffer, memory);
  return buffer;
}

GST_START_TEST (test_pinned_memory)
{
  GstCudaContext *context = new_context ();
  GstHarness *harness = harness_with (1, "async-depth=1 max-components=100000", context);
  Mask mask = mask_random (640, 480, 1, 0.4);
  gchar *text = caps_string (GST_VIDEO_FORMAT_GRAY8, 640, 480);
  GstCaps *caps = gst_caps_from_string (text);
  GstQuery *query = gst_query_new_allocation (caps, TRUE);
  GstAllocationParams params;
  GstAllocator *allocator;
  GstBuffer *buffer;
  GstMemory *memory = NULL;
  GstMapInfo map;

  set_mask_caps (harness, GST_VIDEO_FORMAT_GRAY8, &mask);
  fail_unless (gst_pad_peer_query (harness->srcpad, query));
  gst_query_parse_nth_allocation_param (query, 0, &allocator, &params);
  fail_unless (allocator != NULL);
  gst_query_unref (query);

  for (guint i = 0; i < 20; i++)
    fail_unless_equals_int (gst_harness_push (harness, pinned_buffer (allocator, &mask, i)), GST_FLOW_OK);
  gst_harness_push_event (harness, gst_event_new_eos ());
  for (guint i = 0; i < 20; i++) {
    buffer = gst_harness_pull (harness);
    assert_blobs (buffer, &mask, 8);
    if (i == 19)
      memory = gst_memory_ref (gst_buffer_peek_memory (buffer, 0));
    gst_buffer_unref (buffer);
  }
  assert_path (harness, "pinned");
  gst_object_unref (allocator);
  gst_harness_teardown (harness);
  /* Memory outlives the element that offered it. */
  gst_memory_map (memory, &map, GST_MAP_READ);
  fail_unless_equals_int (map.data[0], mask.pixels[0] ? 255 : 0);
  gst_memory_unmap (memory, &map);
  gst_memory_unref (memory);
  ASSERT_OBJECT_REFCOUNT (context, "context", 1);
  gst_object_unref (context);
  gst_caps_unref (caps);
  g_free (text);
  mask_free (&mask);
}

GST_END_TEST;

/* A mask in two page-locked memories is mapped as one copy, and the copy is not page-locked. */
GST_START_TEST (test_pinned_memories_that_are_merged)
{
  GstCudaContext *context = new_context ();
  GstHarness *harness = harness_with (1, "max-components=100000", context);
  Mask mask = mask_random (640, 480, 1, 0.4);
  const gsize sizes[] = { 640 * 100 + 77, 640 * 380 - 77 };
  GstBuffer *whole = buffer_from_mask (GST_VIDEO_FORMAT_GRAY8, &mask), *buffer;
  GstCaps *caps;
  GstQuery *query;
  GstAllocator *allocator;

  set_mask_caps (harness, GST_VIDEO_FORMAT_GRAY8, &mask);
  caps = gst_pad_get_current_caps (harness->srcpad);
  query = gst_query_new_allocation (caps, TRUE);
  gst_caps_unref (caps);
  fail_unless (gst_pad_peer_query (harness->srcpad, query));
  gst_query_parse_nth_allocation_param (query, 0, &allocator, NULL);
  gst_query_unref (query);
  fail_unless (allocator != NULL);

  for (guint i = 0; i < 3; i++) {
    gsize offset = 0;

    buffer = gst_buffer_new ();
    for (guint m = 0; m < 2; offset += sizes[m++]) {
      GstMemory *const memory = gst_allocator_alloc (allocator, sizes[m], NULL);
      GstMapInfo map;

      fail_unless (gst_memory_is_type (memory, "CclPinnedMemory"));
      gst_memory_map (memory, &map, GST_MAP_WRITE);
      gst_buffer_extract (whole, offset, map.data, sizes[m]);
      gst_memory_unmap (memory, &map);
      gst_buffer_append_memory (buffer, memory);
    }
    buffer = gst_harness_push_and_pull (harness, buffer);
    fail_unless (buffer != NULL);
    assert_blobs (buffer, &mask, 8);
    gst_buffer_unref (buffer);
  }
  assert_path (harness, "system");
  gst_buffer_unref (whole);
  gst_object_unref (allocator);
  gst_harness_teardown (harness);
  ASSERT_OBJECT_REFCOUNT (context, "context", 1);
  gst_object_unref (context);
  mask_free (&mask);
}

GST_END_TEST;

void
ccllabel_cuda_add_contexts_tests (Suite * suite)
{
  TCase *tests = tcase_create ("contexts");

  tcase_set_timeout (tests, 120);
  tcase_add_test (tests, test_pipelines_share_a_context);
  tcase_add_test (tests, test_context_is_shared_and_followed);
  tcase_add_test (tests, test_pinned_memory);
  tcase_add_test (tests, test_pinned_memories_that_are_merged);
  suite_add_tcase (suite, tests);
}
