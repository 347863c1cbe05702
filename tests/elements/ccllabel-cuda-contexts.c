/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Shared contexts and pinned memory. */
#include "ccllabel-cuda.h"

typedef struct
{
  GstHarness *harness;
  GstCudaContext *context;
} Pipeline;

static Pipeline
start_pipeline (const gchar * settings, GstCudaContext * given)
{
  Pipeline pipeline = {.harness = given ? harness_with (1, settings, given) : harness_in_context (1, settings, NULL) };
  Mask mask = mask_random (320, 240, 1, 0.4);

  set_mask_caps (pipeline.harness, GST_VIDEO_FORMAT_GRAY8, &mask);
  pipeline.context = context_of (pipeline.harness);
  mask_free (&mask);
  return pipeline;
}

static void
stop_pipeline (Pipeline * pipeline)
{
  gst_object_unref (pipeline->context);
  gst_harness_teardown (pipeline->harness);
}

/* A context of its own for each would make their frames take turns. A given one is for its pipeline only. */
GST_START_TEST (test_pipelines_share_a_context)
{
  GstCudaContext *const given = new_context ();
  Pipeline first = start_pipeline ("", NULL), second = start_pipeline ("cuda-device-id=0", NULL);
  Pipeline third = start_pipeline ("", given), fourth = start_pipeline ("", NULL), fifth;

  fail_unless (second.context == first.context);
  fail_unless (third.context == given);
  fail_unless (fourth.context == first.context);
  stop_pipeline (&first);
  stop_pipeline (&second);
  stop_pipeline (&fourth);
  fifth = start_pipeline ("", NULL);
  fail_unless (fifth.context != given);
  stop_pipeline (&third);
  ASSERT_OBJECT_REFCOUNT (given, "given context", 1);
  stop_pipeline (&fifth);
  gst_object_unref (given);
}

GST_END_TEST;

#define N_AT_ONCE 8
#define N_ROUNDS 20

/* Threads that do the same at the same time. */
typedef struct
{
  GMutex lock;
  GCond changed;
  guint n_threads, n_arrived;
  void (*act) (gpointer actor);
} Gate;

typedef struct
{
  Gate *gate;
  gpointer actor;
} Member;

/* A hang fails the test. */
static void
meet (Gate * gate, guint n)
{
  const gint64 end = g_get_monotonic_time () + 60 * G_USEC_PER_SEC;

  g_mutex_lock (&gate->lock);
  gate->n_arrived++;
  g_cond_broadcast (&gate->changed);
  while (gate->n_arrived < n)
    fail_unless (g_cond_wait_until (&gate->changed, &gate->lock, end), "%u of %u arrived", gate->n_arrived, n);
  g_mutex_unlock (&gate->lock);
}

static gpointer
act_with_others (gpointer data)
{
  Member *const member = data;
  Gate *const gate = member->gate;

  meet (gate, gate->n_threads);
  gate->act (member->actor);
  meet (gate, 0);
  return NULL;
}

/* Calls act() for each actor in a thread of its own. */
static void
act_at_once (void (*act) (gpointer actor), gpointer * actors, guint n)
{
  Gate gate = {.n_threads = n,.act = act };
  Member members[N_AT_ONCE];
  GThread *threads[N_AT_ONCE];

  for (guint i = 0; i < n; i++) {
    members[i] = (Member) {
    &gate, actors[i]};
    threads[i] = g_thread_new ("act", act_with_others, &members[i]);
  }
  meet (&gate, 2 * n + 1);
  for (guint i = 0; i < n; i++)
    g_thread_join (threads[i]);
  g_mutex_clear (&gate.lock);
  g_cond_clear (&gate.changed);
}

static void
start (gpointer pipeline)
{
  *(Pipeline *) pipeline = start_pipeline ("", NULL);
}

/* They share one context, which goes with the last of them. */
static void
start_at_once (void)
{
  Pipeline pipelines[N_AT_ONCE];
  gpointer actors[N_AT_ONCE];
  GWeakRef context;

  for (guint i = 0; i < N_AT_ONCE; i++)
    actors[i] = &pipelines[i];
  act_at_once (start, actors, N_AT_ONCE);
  g_weak_ref_init (&context, pipelines[0].context);
  for (guint i = 1; i < N_AT_ONCE; i++)
    fail_unless (pipelines[i].context == pipelines[0].context, "pipeline %u", i);
  for (guint i = 0; i < N_AT_ONCE; i++)
    stop_pipeline (&pipelines[i]);
  fail_unless (g_weak_ref_get (&context) == NULL);
  g_weak_ref_clear (&context);
}

GST_START_TEST (test_pipelines_start_at_once)
{
  for (guint i = 0; i < N_ROUNDS; i++)
    start_at_once ();
}

GST_END_TEST;

static GstElement *
new_neighbours (GstElement ** elements)
{
  GstElement *const bin = gst_parse_bin_from_description ("ccllabel name=upstream backend=cuda ! "
      "ccllabel name=downstream backend=cuda", TRUE, NULL);

  gst_object_ref_sink (bin);
  elements[0] = gst_bin_get_by_name (GST_BIN (bin), "upstream");
  elements[1] = gst_bin_get_by_name (GST_BIN (bin), "downstream");
  return bin;
}

static void
free_neighbours (GstElement * bin, GstElement ** elements)
{
  gst_element_set_state (bin, GST_STATE_NULL);
  gst_object_unref (elements[0]);
  gst_object_unref (elements[1]);
  gst_object_unref (bin);
}

static void
pause (gpointer element)
{
  fail_unless (gst_element_set_state (element, GST_STATE_PAUSED) != GST_STATE_CHANGE_FAILURE);
}

static GstPadProbeReturn
ask_with_others (GstPad * pad, GstPadProbeInfo * info, gpointer gate)
{
  if (GST_QUERY_TYPE (GST_PAD_PROBE_INFO_QUERY (info)) != GST_QUERY_CONTEXT)
    return GST_PAD_PROBE_OK;
  meet (gate, 2);
  return GST_PAD_PROBE_REMOVE;
}

static void
add_probe (GstElement * element, const gchar * pad_name, Gate * gate)
{
  GstPad *const pad = gst_element_get_static_pad (element, pad_name);

  gst_pad_add_probe (pad, GST_PAD_PROBE_TYPE_QUERY_BOTH | GST_PAD_PROBE_TYPE_PUSH, ask_with_others, gate, NULL);
  gst_object_unref (pad);
}

/* Each asks the other for a context before it has one. */
GST_START_TEST (test_neighbours_start_at_once)
{
  Pipeline other = start_pipeline ("", NULL);
  GstElement *elements[2], *const bin = new_neighbours (elements);
  Gate asking = { 0 };

  add_probe (elements[0], "src", &asking);
  add_probe (elements[1], "sink", &asking);
  act_at_once (pause, (gpointer *) elements, 2);
  for (guint k = 0; k < 2; k++) {
    GstCudaContext *const context = context_of_element (elements[k]);

    fail_unless (context == other.context);
    gst_object_unref (context);
  }
  free_neighbours (bin, elements);
  stop_pipeline (&other);
}

GST_END_TEST;

/* Two elements of a pipeline share the context that one of them was given. */
GST_START_TEST (test_neighbour_has_a_context)
{
  GstCudaContext *const given = new_context ();
  GstContext *const context = gst_context_new_cuda_context (given);
  GstElement *elements[2], *const bin = new_neighbours (elements);
  GstCudaContext *found;

  gst_element_set_context (elements[__i__], context);
  pause (bin);
  found = context_of_element (elements[!__i__]);
  fail_unless (found == given);
  gst_object_unref (found);
  free_neighbours (bin, elements);
  gst_context_unref (context);
  ASSERT_OBJECT_REFCOUNT (given, "given context", 1);
  gst_object_unref (given);
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
  tcase_add_test (tests, test_pipelines_start_at_once);
  tcase_add_test (tests, test_neighbours_start_at_once);
  tcase_add_loop_test (tests, test_neighbour_has_a_context, 0, 2);
  tcase_add_test (tests, test_context_is_shared_and_followed);
  tcase_add_test (tests, test_pinned_memory);
  tcase_add_test (tests, test_pinned_memories_that_are_merged);
  suite_add_tcase (suite, tests);
}
