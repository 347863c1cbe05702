/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* cclmotion background-location: a restart goes on with the background; files that do not fit. */
#include "cclmotion.h"

#include <glib/gstdio.h>
#include <sys/stat.h>

#define N_LEARNT 50

static gchar *folder, *location;

static void
setup (void)
{
  GError *error = NULL;

  folder = g_dir_make_tmp ("cclmotion-XXXXXX", &error);
  g_assert_no_error (error);
  location = g_build_filename (folder, "camera.background", NULL);
}

static void
teardown (void)
{
  g_remove (location);
  ck_assert_int_eq (g_rmdir (folder), 0);       /* no temporary file is left */
  g_free (folder);
  g_free (location);
}

static GstHarness *
harness_for (guint backend, guint width)
{
  GstHarness *harness = motion_harness ("method=feedback warmup-frames=30", GST_VIDEO_FORMAT_GRAY8, width, H);

  set_motion (harness, "backend", backends[backend]);
  set_motion (harness, "background-location", location);
  return harness;
}

/* Frames first..first+n-1, with a square from frame `from` on. The mask of the last. */
static GstCclMaskMeta
push_frames (GstHarness * harness, guint width, guint first, guint n, guint from)
{
  GstCclMaskMeta mask = { 0 };

  for (guint i = first; i < first + n; i++) {
    GstBuffer *buffer = gst_harness_push_and_pull (harness, scene (GST_VIDEO_FORMAT_GRAY8, width, H, i, from));
    mask = *gst_buffer_get_ccl_mask_meta (buffer);
    gst_buffer_unref (buffer);
  }
  return mask;
}

/* A background in the file, of this width. */
static void
save_file (guint backend, guint width)
{
  GstHarness *harness = harness_for (backend, width);

  push_frames (harness, width, 0, N_LEARNT, G_MAXUINT);
  gst_harness_teardown (harness);
}

static gsize
file_size (void)
{
  GStatBuf status;

  return g_stat (location, &status) == 0 ? status.st_size : 0;
}

/* The first mask after a restart is right, on either backend. */
GST_START_TEST (test_restart)
{
  NEED_BACKEND (__i__ % 2);
  NEED_BACKEND (__i__ / 2);

  GstHarness *harness = harness_for (__i__ % 2, W);
  GstBus *bus = watch_bus (harness);
  GstCclMaskMeta mask;

  /* The end of the stream saves. No file is no mistake. */
  push_frames (harness, W, 0, N_LEARNT, G_MAXUINT);
  ck_assert_uint_eq (file_size (), 0);
  gst_harness_push_event (harness, gst_event_new_eos ());
  fail_unless (file_size () > W * H * 15);
  assert_no_message (bus, GST_MESSAGE_WARNING);
  drop_bus (harness, bus);
  gst_harness_teardown (harness);

  harness = harness_for (__i__ / 2, W);
  bus = watch_bus (harness);
  mask = push_frames (harness, W, N_LEARNT, 1, N_LEARNT);
  ck_assert_uint_eq (mask.flags, 0);
  fail_unless (mask.n_foreground > 200 && mask.n_foreground < 330, "%u pixels", (guint) mask.n_foreground);
  assert_no_message (bus, GST_MESSAGE_WARNING);
  /* A flush learns anew: what comes behind it is another scene. */
  flush_harness (harness);
  ck_assert_uint_eq (push_frames (harness, W, 0, 1, G_MAXUINT).flags, GST_CCL_MASK_META_FLAG_LEARNING);
  drop_bus (harness, bus);
  gst_harness_teardown (harness);
}

GST_END_TEST;

/* An element that only stops saves, too, but nothing that is still being learnt. */
GST_START_TEST (test_stop_saves)
{
  GstHarness *harness = harness_for (0, W);
  GstBus *bus = watch_bus (harness);

  push_frames (harness, W, 0, 10, G_MAXUINT);
  gst_element_set_state (harness->element, GST_STATE_NULL);
  assert_no_message (bus, GST_MESSAGE_WARNING);
  ck_assert_uint_eq (file_size (), 0);
  drop_bus (harness, bus);
  gst_harness_teardown (harness);

  save_file (0, W);
  fail_unless (file_size () > W * H * 15);
}

GST_END_TEST;

static gboolean
save_now (GstHarness * harness)
{
  gboolean is_saved = FALSE;

  g_signal_emit_by_name (find_element (harness, "motion"), "save-background", &is_saved);
  return is_saved;
}

GST_START_TEST (test_save_now)
{
  NEED_BACKEND (__i__);

  GstHarness *harness = harness_for (__i__, W);
  GstBus *bus = watch_bus (harness);

  fail_if (save_now (harness));
  assert_message (bus, GST_MESSAGE_WARNING, "still being learnt");
  push_frames (harness, W, 0, N_LEARNT, G_MAXUINT);
  fail_unless (save_now (harness));
  fail_unless (file_size () > W * H * 15);
  g_remove (location);
  set_motion (harness, "background-location", "");
  fail_if (save_now (harness));
  assert_message (bus, GST_MESSAGE_WARNING, "no background-location");
  g_object_set (find_element (harness, "motion"), "background-location", "/nowhere/at/all", NULL);
  fail_if (save_now (harness));
  assert_message (bus, GST_MESSAGE_WARNING, "not saved to /nowhere/at/all");
  g_object_set (find_element (harness, "motion"), "background-location", NULL, NULL);
  assert_no_message (bus, GST_MESSAGE_WARNING);
  drop_bus (harness, bus);
  gst_harness_teardown (harness);
}

GST_END_TEST;

/* The application saves while frames flow. */
static gpointer
save_often (gpointer data)
{
  for (guint i = 0; i < 20; i++)
    save_now (data);
  return NULL;
}

GST_START_TEST (test_save_from_another_thread)
{
  NEED_BACKEND (__i__);

  GstHarness *harness = harness_for (__i__, W);
  GThread *thread;

  set_motion (harness, "async-depth", "2");
  for (guint n = 0; n < N_LEARNT; n++)
    gst_harness_push (harness, scene (GST_VIDEO_FORMAT_GRAY8, W, H, n, G_MAXUINT));
  thread = g_thread_new ("saver", save_often, harness);
  for (guint n = 0; n < 60; n++)
    gst_harness_push (harness, scene (GST_VIDEO_FORMAT_GRAY8, W, H, N_LEARNT + n, G_MAXUINT));
  g_thread_join (thread);
  gst_harness_teardown (harness);
  harness = harness_for (__i__, W);
  ck_assert_uint_eq (push_frames (harness, W, 200, 1, G_MAXUINT).flags, 0);
  gst_harness_teardown (harness);
}

GST_END_TEST;

/* A file that does not fit: a warning, and learning begins anew. A file of another kind is never overwritten. */
static void
check_refused (const gchar * text, gboolean stays)
{
  GstHarness *harness = harness_for (0, W);
  GstBus *bus = watch_bus (harness);
  const gsize size = file_size ();

  ck_assert_uint_eq (push_frames (harness, W, 0, 1, G_MAXUINT).flags, GST_CCL_MASK_META_FLAG_LEARNING);
  assert_message (bus, GST_MESSAGE_WARNING, text);
  push_frames (harness, W, 1, N_LEARNT, G_MAXUINT);
  assert_no_message (bus, GST_MESSAGE_WARNING);
  gst_harness_push_event (harness, gst_event_new_eos ());
  if (stays)
    assert_message (bus, GST_MESSAGE_WARNING, "is not saved");
  else
    assert_no_message (bus, GST_MESSAGE_WARNING);
  fail_unless ((file_size () == size) == stays);
  drop_bus (harness, bus);
  gst_harness_teardown (harness);
}

GST_START_TEST (test_files_that_do_not_fit)
{
  gchar *bytes;
  gsize size;

  fail_unless (g_file_set_contents (location, "a diary of last year", -1, NULL));
  check_refused ("the bytes are no background", TRUE);
  g_remove (location);
  ck_assert_int_eq (g_mkdir (location, 0700), 0);
  check_refused ("it is no regular file", TRUE);
  g_remove (location);
  ck_assert_int_eq (mkfifo (location, 0600), 0);        /* opening it would wait */
  check_refused ("it is no regular file", TRUE);
  g_remove (location);

  save_file (0, 2 * W);
  check_refused ("the background is of 160x60 pixels without chroma, the masks are of 80x60 without", FALSE);
  fail_unless (g_file_get_contents (location, &bytes, &size, NULL));
  fail_unless (g_file_set_contents (location, bytes, size - 100, NULL));
  check_refused ("bytes, not", FALSE);
  bytes[size / 2] ^= 1;
  fail_unless (g_file_set_contents (location, bytes, size + 0, NULL));
  g_free (bytes);
  {
    GstHarness *harness = harness_for (0, W);
    GstBus *bus = watch_bus (harness);

    ck_assert_uint_eq (push_frames (harness, W, 0, 1, G_MAXUINT).flags, GST_CCL_MASK_META_FLAG_LEARNING);
    assert_message (bus, GST_MESSAGE_WARNING, "checksum is wrong");
    drop_bus (harness, bus);
    gst_harness_teardown (harness);
  }
}

GST_END_TEST;

/* The camera was moved while the element was off: learning begins anew within two seconds. */
GST_START_TEST (test_another_scene)
{
  GstHarness *harness;
  guint learning = 0;

  save_file (0, W);
  harness = harness_for (0, W);
  for (guint n = 0; n < 120; n++) {
    GstBuffer *buffer = scene (GST_VIDEO_FORMAT_GRAY8, W, H, n, G_MAXUINT);
    GstMapInfo map;

    gst_buffer_map (buffer, &map, GST_MAP_READWRITE);
    for (guint i = 0; i < W * H; i++)
      map.data[i] += i % W / 10 % 2 * 70 + i / W / 15 % 2 * 50;
    gst_buffer_unmap (buffer, &map);
    buffer = gst_harness_push_and_pull (harness, buffer);
    if (gst_buffer_get_ccl_mask_meta (buffer)->flags & GST_CCL_MASK_META_FLAG_LEARNING)
      learning = n;
    else if (n > 100)
      fail_unless_equals_uint64 (gst_buffer_get_ccl_mask_meta (buffer)->n_foreground, 0);
    gst_buffer_unref (buffer);
  }
  fail_unless (learning > 30 && learning < 90, "learning until frame %u", learning);
  gst_harness_teardown (harness);
}

GST_END_TEST;

GST_START_TEST (test_other_methods)
{
  GstHarness *harness = motion_harness ("", GST_VIDEO_FORMAT_GRAY8, W, H);
  GstBus *bus = watch_bus (harness);

  gst_element_set_state (harness->element, GST_STATE_NULL);
  set_motion (harness, "background-location", location);
  gst_element_set_state (harness->element, GST_STATE_PLAYING);
  assert_message (bus, GST_MESSAGE_WARNING, "background-location has no effect with method=mog2");
  fail_if (save_now (harness));
  assert_message (bus, GST_MESSAGE_WARNING, "no frame was learnt from with method=feedback");
  drop_bus (harness, bus);
  gst_harness_teardown (harness);
}

GST_END_TEST;

void
cclmotion_add_background_tests (Suite * suite)
{
  TCase *tests = tcase_create ("background");

  suite_add_tcase (suite, tests);
  tcase_add_checked_fixture (tests, setup, teardown);
  tcase_set_timeout (tests, 60);
  tcase_add_loop_test (tests, test_restart, 0, 4);
  tcase_add_test (tests, test_stop_saves);
  tcase_add_loop_test (tests, test_save_now, 0, G_N_ELEMENTS (backends));
  tcase_add_loop_test (tests, test_save_from_another_thread, 0, G_N_ELEMENTS (backends));
  tcase_add_test (tests, test_files_that_do_not_fit);
  tcase_add_test (tests, test_another_scene);
  tcase_add_test (tests, test_other_methods);
}
