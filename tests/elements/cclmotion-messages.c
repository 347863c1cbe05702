/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Messages, learning, and properties that change while frames flow. */
#include "cclmotion.h"

static guint32
push_for_flags (GstHarness * harness, guint n, guint from)
{
  GstBuffer *buffer = push_scene (harness, n, from);
  const guint32 flags = gst_buffer_get_ccl_mask_meta (buffer)->flags;

  gst_buffer_unref (buffer);
  return flags;
}

static guint64
push_for_count (GstHarness * harness, guint n, guint from)
{
  GstBuffer *buffer = push_scene (harness, n, from);
  const guint64 count = gst_buffer_get_ccl_mask_meta (buffer)->n_foreground;

  gst_buffer_unref (buffer);
  return count;
}

/* Frames 0..n-1 without anything that moves. */
static void
push_background (GstHarness * harness, guint n)
{
  for (guint i = 0; i < n; i++)
    push_for_count (harness, i, G_MAXUINT);
}

/* The fields of the next ccl-motion message, which must have this state. */
static GstStructure *
pop_state (GstBus * bus, const gchar * state)
{
  GstMessage *message = gst_bus_pop_filtered (bus, GST_MESSAGE_ELEMENT);
  GstStructure *structure;

  fail_unless (message != NULL, "no message, expected %s", state);
  structure = gst_structure_copy (gst_message_get_structure (message));
  fail_unless (gst_structure_has_name (structure, "ccl-motion"));
  ck_assert_str_eq (gst_structure_get_string (structure, "state"), state);
  gst_message_unref (message);
  return structure;
}

static guint64
field (const GstStructure * structure, const gchar * name)
{
  guint64 value = 0;

  fail_unless (gst_structure_get_uint64 (structure, name, &value), "no field %s", name);
  return value;
}

GST_START_TEST (test_messages)
{
  GstHarness *harness = motion_harness ("off-delay=200000000", GST_VIDEO_FORMAT_GRAY8, W, H);
  GstBus *bus = watch_bus (harness);
  GstStructure *structure;
  gdouble ratio = 0;

  for (guint n = 0; n < 30; n++)
    push_for_count (harness, n, n >= 10 && n < 15 ? 10 : G_MAXUINT);
  structure = pop_state (bus, "begin");
  fail_unless_equals_uint64 (field (structure, "running-time"), 10 * FRAME);
  fail_unless_equals_uint64 (field (structure, "stream-time"), 10 * FRAME);
  fail_unless_equals_uint64 (field (structure, "duration"), 0);
  fail_unless (field (structure, "n-foreground") > 200);
  fail_unless (gst_structure_get_double (structure, "area-ratio", &ratio) && ratio > 0.03 && ratio < 0.1);
  gst_structure_free (structure);
  structure = pop_state (bus, "end");
  fail_unless (field (structure, "running-time") >= 14 * FRAME && field (structure, "running-time") <= 16 * FRAME);
  fail_unless_equals_uint64 (field (structure, "duration"), field (structure, "running-time") - 10 * FRAME);
  gst_structure_free (structure);
  assert_no_message (bus, GST_MESSAGE_ELEMENT);

  /* All states. The end of the stream ends the motion. */
  set_motion (harness, "post-messages", "all");
  for (guint n = 30; n < 33; n++)
    push_for_count (harness, n, 30);
  gst_harness_push_event (harness, gst_event_new_eos ());
  gst_structure_free (pop_state (bus, "begin"));
  gst_structure_free (pop_state (bus, "update"));
  gst_structure_free (pop_state (bus, "update"));
  gst_structure_free (pop_state (bus, "end"));
  assert_no_message (bus, GST_MESSAGE_ELEMENT);
  drop_bus (harness, bus);
  gst_harness_teardown (harness);

  harness = motion_harness ("post-messages=none", GST_VIDEO_FORMAT_GRAY8, W, H);
  bus = watch_bus (harness);
  for (guint n = 0; n < 15; n++)
    push_for_count (harness, n, 10);
  assert_no_message (bus, GST_MESSAGE_ELEMENT);
  drop_bus (harness, bus);
  gst_harness_teardown (harness);
}

GST_END_TEST;

GST_START_TEST (test_global_change)
{
  GstHarness *harness = motion_harness ("! ccllabel name=label mask-source=mask-meta backend=cpu",
      GST_VIDEO_FORMAT_GRAY8, W, H);
  GstBus *bus = watch_bus (harness);
  GstBuffer *buffer;
  GstStructure *structure;
  gboolean changed = FALSE;

  push_background (harness, 10);
  buffer = scene (GST_VIDEO_FORMAT_GRAY8, W, H, 10, 10);
  gst_buffer_memset (buffer, 0, 250, W * H);
  buffer = gst_harness_push_and_pull (harness, buffer);
  ck_assert_uint_eq (gst_buffer_get_ccl_mask_meta (buffer)->flags, GST_CCL_MASK_META_FLAG_GLOBAL_CHANGE);
  fail_unless_equals_uint64 (gst_buffer_get_ccl_mask_meta (buffer)->n_foreground, 0);
  ck_assert_uint_eq (gst_buffer_get_ccl_blob_meta (buffer)->flags, GST_CCL_BLOB_META_FLAG_GLOBAL_CHANGE);
  gst_buffer_unref (buffer);
  structure = pop_state (bus, "begin");
  fail_unless (gst_structure_get_boolean (structure, "global-change", &changed) && changed);
  gst_structure_free (structure);

  /* The next frame is the background, without a warm-up. The square is motion in the frame after it. */
  ck_assert_uint_eq (push_for_flags (harness, 11, G_MAXUINT), GST_CCL_MASK_META_FLAG_LEARNING);
  fail_unless (push_for_count (harness, 12, 12) > 200);
  drop_bus (harness, bus);
  gst_harness_teardown (harness);
}

GST_END_TEST;

GST_START_TEST (test_what_starts_learning_again)
{
  GstHarness *harness = motion_harness ("", GST_VIDEO_FORMAT_GRAY8, W, H);
  GstBuffer *buffer;

  push_background (harness, 10);
  ck_assert_uint_eq (push_for_flags (harness, 10, G_MAXUINT), 0);

  /* A gap of a second, marked or not, and a step back: the scene is the same. */
  buffer = scene (GST_VIDEO_FORMAT_GRAY8, W, H, 35, G_MAXUINT);
  GST_BUFFER_FLAG_SET (buffer, GST_BUFFER_FLAG_DISCONT);
  buffer = gst_harness_push_and_pull (harness, buffer);
  ck_assert_uint_eq (gst_buffer_get_ccl_mask_meta (buffer)->flags, 0);
  gst_buffer_unref (buffer);
  ck_assert_uint_eq (push_for_flags (harness, 20, G_MAXUINT), 0);
  ck_assert_uint_eq (push_for_flags (harness, 900, G_MAXUINT), 0);

  /* A marked jump. */
  buffer = scene (GST_VIDEO_FORMAT_GRAY8, W, H, 5, G_MAXUINT);
  GST_BUFFER_FLAG_SET (buffer, GST_BUFFER_FLAG_DISCONT);
  buffer = gst_harness_push_and_pull (harness, buffer);
  ck_assert_uint_eq (gst_buffer_get_ccl_mask_meta (buffer)->flags, GST_CCL_MASK_META_FLAG_LEARNING);
  gst_buffer_unref (buffer);
  for (guint n = 6; n < 12; n++)
    push_for_count (harness, n, G_MAXUINT);
  ck_assert_uint_eq (push_for_flags (harness, 12, G_MAXUINT), 0);

  /* A flush. */
  flush_harness (harness);
  ck_assert_uint_eq (push_for_flags (harness, 13, G_MAXUINT), GST_CCL_MASK_META_FLAG_LEARNING);
  gst_harness_teardown (harness);
}

GST_END_TEST;

GST_START_TEST (test_caps_change)
{
  GstHarness *harness = motion_harness ("", GST_VIDEO_FORMAT_GRAY8, W, H);
  gchar *caps;
  GstBuffer *buffer;

  push_background (harness, 10);
  /* The same size in another format: the background stays. */
  caps = caps_string (GST_VIDEO_FORMAT_NV12, W, H);
  gst_harness_set_src_caps_str (harness, caps);
  g_free (caps);
  buffer = gst_harness_push_and_pull (harness, scene (GST_VIDEO_FORMAT_NV12, W, H, 10, 10));
  fail_unless (gst_buffer_get_ccl_mask_meta (buffer)->n_foreground > 200);
  gst_buffer_unref (buffer);

  caps = caps_string (GST_VIDEO_FORMAT_NV12, 2 * W, H);
  gst_harness_set_src_caps_str (harness, caps);
  g_free (caps);
  buffer = gst_harness_push_and_pull (harness, scene (GST_VIDEO_FORMAT_NV12, 2 * W, H, 11, 10));
  ck_assert_uint_eq (gst_buffer_get_ccl_mask_meta (buffer)->flags, GST_CCL_MASK_META_FLAG_LEARNING);
  ck_assert_uint_eq (gst_buffer_get_ccl_mask_meta (buffer)->ref_width, 2 * W);
  gst_buffer_unref (buffer);
  gst_harness_teardown (harness);
}

GST_END_TEST;

/* Without any timestamps everything still works. */
GST_START_TEST (test_no_timestamps)
{
  GstHarness *harness = motion_harness ("off-delay=200000000", GST_VIDEO_FORMAT_GRAY8, W, H);
  GstBus *bus = watch_bus (harness);

  for (guint n = 0; n < 30; n++) {
    GstBuffer *buffer = scene (GST_VIDEO_FORMAT_GRAY8, W, H, n, n >= 10 && n < 15 ? 10 : G_MAXUINT);
    GST_BUFFER_PTS (buffer) = GST_CLOCK_TIME_NONE;
    gst_buffer_unref (gst_harness_push_and_pull (harness, buffer));
  }
  gst_structure_free (pop_state (bus, "begin"));
  gst_structure_free (pop_state (bus, "end"));
  drop_bus (harness, bus);
  gst_harness_teardown (harness);
}

GST_END_TEST;

GST_START_TEST (test_ignore)
{
  GstHarness *harness = motion_harness ("", GST_VIDEO_FORMAT_GRAY8, W, H);
  GstBus *bus = watch_bus (harness);
  gchar *value;

  push_background (harness, 10);
  fail_unless (push_for_count (harness, 10, 10) > 200);
  set_motion (harness, "ignore", "0,0;1,0;1,0.7;0,0.7");
  fail_unless_equals_uint64 (push_for_count (harness, 11, 10), 0);
  set_motion (harness, "ignore", "0,40; 80,40; 80,60; 0,60 | 70,0;80,0;80,10"); /* pixels; the square is above */
  fail_unless (push_for_count (harness, 12, 10) > 200);
  assert_no_message (bus, GST_MESSAGE_WARNING);

  static const gchar *const wrong[] = {
    "0,0;1", "1,2;3,4", "a,b;c,d;e,f", "0,0;1,1;2,2;", "0,0;1,1;nan,2", "0,0,1,1,2,2"
  };
  for (guint i = 0; i < G_N_ELEMENTS (wrong); i++) {
    g_object_set (find_element (harness, "motion"), "ignore", wrong[i], NULL);
    if (i != 3)                 /* a ; at the end is no harm */
      assert_message (bus, GST_MESSAGE_WARNING, "ignore: \"");
  }
  assert_no_message (bus, GST_MESSAGE_WARNING);
  g_object_get (find_element (harness, "motion"), "ignore", &value, NULL);
  ck_assert_str_eq (value, "0,0;1,1;2,2;");
  g_free (value);
  g_object_set (find_element (harness, "motion"), "ignore", NULL, NULL);
  fail_unless (push_for_count (harness, 13, 10) > 200);

  /* The pipeline has no bus yet when the property is set: the warning comes at the start. */
  fail_unless (gst_element_set_state (harness->element, GST_STATE_NULL) == GST_STATE_CHANGE_SUCCESS);
  g_object_set (find_element (harness, "motion"), "ignore", "abc", NULL);
  assert_no_message (bus, GST_MESSAGE_WARNING);
  fail_unless (gst_element_set_state (harness->element, GST_STATE_PLAYING) != GST_STATE_CHANGE_FAILURE);
  assert_message (bus, GST_MESSAGE_WARNING, "ignore: \"");
  assert_no_message (bus, GST_MESSAGE_WARNING);
  drop_bus (harness, bus);
  gst_harness_teardown (harness);
}

GST_END_TEST;

/* Every property may change while playing. The background stays where possible. */
GST_START_TEST (test_changes_while_playing)
{
  static const struct
  {
    const gchar *name, *value;
    gboolean keeps;
  } changes[] = {
    {"threshold", "40", TRUE}, {"threshold", "0", TRUE}, {"learning-rate", "0.02", TRUE}, {"shadow", "keep", TRUE},
    {"median", "1", TRUE}, {"open", "1", TRUE}, {"close", "3", TRUE}, {"dilate", "2", TRUE},
    {"confirm-frames", "1", TRUE},
    {"freeze-on-motion", "true", TRUE}, {"max-motion", "0.9", TRUE}, {"min-motion", "0.1", TRUE},
    {"post-messages", "none", TRUE}, {"off-delay", "0", TRUE}, {"work-height", "30", FALSE}, {"method", "ema", FALSE},
    {"method", "diff", FALSE}, {"method", "mog2", FALSE}, {"threads", "2", FALSE}, {"work-height", "0", FALSE},
  };
  GstHarness *harness = motion_harness ("", GST_VIDEO_FORMAT_GRAY8, W, H);
  guint n = 0;

  for (; n < 10; n++)
    push_for_count (harness, n, G_MAXUINT);
  for (guint i = 0; i < G_N_ELEMENTS (changes); i++) {
    set_motion (harness, changes[i].name, changes[i].value);
    ck_assert_uint_eq (push_for_flags (harness, n++, G_MAXUINT),
        changes[i].keeps ? 0 : GST_CCL_MASK_META_FLAG_LEARNING);
    for (guint j = 0; j < 6; j++)
      push_for_count (harness, n++, G_MAXUINT);
    fail_unless (push_for_count (harness, n, n) > 50, "%s=%s: nothing moves", changes[i].name, changes[i].value);
    n++;
    for (guint j = 0; j < 3; j++)
      push_for_count (harness, n++, G_MAXUINT);
  }
  gst_harness_teardown (harness);
}

GST_END_TEST;

GST_START_TEST (test_stats)
{
  GstHarness *harness = motion_harness ("", GST_VIDEO_FORMAT_GRAY8, W, H);
  GstStructure *stats = NULL;
  gdouble us = -1;

  for (guint n = 0; n < 12; n++)
    push_for_count (harness, n, 10);
  g_object_get (find_element (harness, "motion"), "stats", &stats, NULL);
  fail_unless_equals_uint64 (field (stats, "frames"), 12);
  fail_unless_equals_uint64 (field (stats, "learning"), 5);
  fail_unless_equals_uint64 (field (stats, "with-motion"), 2);
  fail_unless_equals_uint64 (field (stats, "global-changes"), 0);
  fail_unless (field (stats, "host-bytes") > W * H * 6);
  ck_assert_str_eq (gst_structure_get_string (stats, "backend"), "cpu");
  ck_assert_str_eq (gst_structure_get_string (stats, "path"), "system");
  fail_unless (gst_structure_get_double (stats, "detect-us-avg", &us) && us > 0);
  gst_structure_free (stats);
  gst_harness_teardown (harness);
}

GST_END_TEST;

void
cclmotion_add_messages_tests (Suite * suite)
{
  TCase *tests = tcase_create ("messages");

  tcase_set_timeout (tests, 60);
  tcase_add_test (tests, test_messages);
  tcase_add_test (tests, test_global_change);
  tcase_add_test (tests, test_what_starts_learning_again);
  tcase_add_test (tests, test_caps_change);
  tcase_add_test (tests, test_no_timestamps);
  tcase_add_test (tests, test_ignore);
  tcase_add_test (tests, test_changes_while_playing);
  tcase_add_test (tests, test_stats);
  suite_add_tcase (suite, tests);
}
