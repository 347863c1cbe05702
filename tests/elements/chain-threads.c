/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Properties that another thread reads and writes while frames flow. */
#include "chain.h"

#include <glib/gstdio.h>
#include <unistd.h>

/* What goes to and fro while frames flow. */
static const gchar *const changes[][4] = {
  {"cclmotion", "threshold", "10", "20"},
  {"cclmotion", "method", "ema", "mog2"},
  {"cclmetaremap", "mode", "restore", "keep"},
  {"ccllabel", "min-area", "5", "12"},
  {"ccllabel", "threads", "3", "1"},
  {"ccllabel", "async-depth", "2", "0"},
  {"ccltrack", "max-age", "5", "30"},
  {"cclzone", "evaluation-point", "bottom-center", "centroid"},
  {"cclmeta2json", "precision", "2", "-1"},
  {"cclmeta2json", "source-id", "here", "there"},
#ifdef HAVE_OVERLAY
  {"ccloverlay", "draw", "box+id", "box+id+trail+zone"},
  {"ccloverlay", "font-desc", "Serif", "Sans"},
#endif
};

typedef struct
{
  Stream *stream;
  GstElement *elements[G_N_ELEMENTS (elements)];
  gint stop;                    /* atomic */
  guint rounds, set, reloads;
} Meddler;

/* Reads every property; writes back those that may change while playing. */
static void
meddle (Meddler * meddler, GstElement * element)
{
  guint n = 0;
  GParamSpec **const specs = g_object_class_list_properties (G_OBJECT_GET_CLASS (element), &n);

  for (guint i = 0; i < n; i++) {
    GValue value = G_VALUE_INIT;

    if (!(specs[i]->flags & G_PARAM_READABLE) || g_str_equal (specs[i]->name, "parent"))
      continue;
    g_value_init (&value, specs[i]->value_type);
    g_object_get_property (G_OBJECT (element), specs[i]->name, &value);
    if (specs[i]->flags & G_PARAM_WRITABLE && specs[i]->flags & GST_PARAM_MUTABLE_PLAYING) {
      g_object_set_property (G_OBJECT (element), specs[i]->name, &value);
      meddler->set++;
    }
    g_value_unset (&value);
  }
  g_free (specs);
}

static gpointer
run_meddler (gpointer data)
{
  Meddler *const meddler = data;

  while (!g_atomic_int_get (&meddler->stop)) {
    GstElement *const zone = element (meddler->stream, "cclzone");
    gboolean read = FALSE;

    for (guint i = 0; i < G_N_ELEMENTS (elements); i++)
      meddle (meddler, meddler->elements[i]);
    for (guint i = 0; i < G_N_ELEMENTS (changes); i++)
      gst_util_set_object_arg (G_OBJECT (element (meddler->stream, changes[i][0])), changes[i][1],
          changes[i][2 + meddler->rounds % 2]);
    g_signal_emit_by_name (zone, "reload", &read);
    meddler->reloads += read;
    meddler->rounds++;
    g_usleep (200);
  }
  return NULL;
}

/* A file of zones, and its name. */
static gchar *
write_zones (void)
{
  gchar *name = NULL;
  const gint file = g_file_open_tmp ("ccl-zones-XXXXXX", &name, NULL);

  fail_unless (file >= 0);
  close (file);
  fail_unless (g_file_set_contents (name, "{\"zones\":[{\"name\":\"all\",\"polygon\":[[0,0],[90,0],[90,90]]}]}", -1,
          NULL));
  return name;
}

/* Every property of every element is read and written by another thread while frames flow. */
GST_START_TEST (test_another_thread)
{
  gchar *const zones = write_zones ();
  Meddler meddler = { NULL };
  GThread *thread;
  Stream stream;

  open_stream (&stream);
  meddler.stream = &stream;
  stream.depth = 2;             /* as many as may wait in ccllabel at some time */
  g_object_set (element (&stream, "cclzone"), "config", zones, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (elements); i++)
    meddler.elements[i] = element (&stream, elements[i]);
  stream.is_meddled_with = TRUE;
  thread = g_thread_new ("meddler", run_meddler, &meddler);
  for (guint i = 0; i < 150; i++) {
    if (i == 60)
      set_picture (&stream, &pictures[1]);
    next_frame (&stream);
  }
  g_atomic_int_set (&meddler.stop, TRUE);
  g_thread_join (thread);
  fail_unless (meddler.rounds > 2 && meddler.set > 50 * meddler.rounds, "%u rounds, %u set", meddler.rounds,
      meddler.set);
  fail_unless_equals_int (meddler.reloads, meddler.rounds);
  settle (&stream);
  close_stream (&stream);
  g_unlink (zones);
  g_free (zones);
}

GST_END_TEST;

void
chain_add_threads_tests (Suite * suite)
{
  TCase *tests = tcase_create ("threads");

  tcase_set_timeout (tests, 300);
  tcase_add_test (tests, test_another_thread);
  suite_add_tcase (suite, tests);
}
