/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* The tracer cclmetrics in this process: elements come and go while other threads read the page. */

#include <arpa/inet.h>
#include <gst/check/gstcheck.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define LINE "videotestsrc num-buffers=3 ! video/x-raw,width=32,height=32 ! ccltrack name=track ! " \
    "cclmeta2json name=json ! fakesink"
#define N_PIPELINES 60
#define N_READERS 3

static guint16 port;

static gint
connect_to (guint16 number)
{
  const gint fd = socket (AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const struct sockaddr_in address = {
    .sin_family = AF_INET,.sin_port = htons (number),.sin_addr.s_addr = htonl (INADDR_LOOPBACK)
  };

  if (connect (fd, (const struct sockaddr *) &address, sizeof address) == 0)
    return fd;
  close (fd);
  return -1;
}

static guint16
find_free_port (void)
{
  struct sockaddr_in address = {.sin_family = AF_INET,.sin_addr.s_addr = htonl (INADDR_LOOPBACK) };
  socklen_t length = sizeof address;
  const gint fd = socket (AF_INET, SOCK_STREAM, 0);

  g_assert (bind (fd, (struct sockaddr *) &address, length) == 0);
  g_assert (getsockname (fd, (struct sockaddr *) &address, &length) == 0);
  close (fd);
  return ntohs (address.sin_port);
}

/* NULL: nobody listens. */
static gchar *
read_page (void)
{
  static const gchar request[] = "GET /metrics HTTP/1.1\r\nHost: here\r\nConnection: close\r\n\r\n";
  const gint fd = connect_to (port);
  GString *const page = g_string_new (NULL);
  gchar part[4096];
  gssize n;

  if (fd < 0 || write (fd, request, strlen (request)) < 0) {
    g_string_free (page, TRUE);
    return NULL;
  }
  while ((n = read (fd, part, sizeof part)) > 0)
    g_string_append_len (page, part, n);
  close (fd);
  return g_string_free (page, FALSE);
}

static gboolean
page_has (const gchar * text)
{
  gchar *const page = read_page ();
  const gboolean found = page && strstr (page, text);

  g_free (page);
  return found;
}

static void
run (GstElement * pipeline)
{
  GstBus *const bus = gst_element_get_bus (pipeline);
  GstMessage *message;

  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  message = gst_bus_timed_pop_filtered (bus, GST_CLOCK_TIME_NONE, GST_MESSAGE_EOS | GST_MESSAGE_ERROR);
  fail_unless_equals_int (GST_MESSAGE_TYPE (message), GST_MESSAGE_EOS);
  gst_message_unref (message);
  gst_object_unref (bus);
}

GST_START_TEST (test_life)
{
  GstElement *pipeline;

  fail_if (read_page (), "there is a server before there is anything to show");
  pipeline = gst_parse_launch (LINE, NULL);
  gst_object_set_name (GST_OBJECT (pipeline), "first");
  run (pipeline);
  fail_unless (page_has ("\ngstccl_frames_total{element=\"track\",factory=\"ccltrack\",pipeline=\"first\"} 3\n"));
  fail_unless (page_has ("\ngstccl_lines_total{element=\"json\",factory=\"cclmeta2json\",pipeline=\"first\"} 3\n"));
  fail_if (page_has ("fakesink"));

  gst_element_set_state (pipeline, GST_STATE_NULL);
  fail_unless (page_has ("element=\"track\""), "a stopped element still has its numbers");
  gst_element_set_state (pipeline, GST_STATE_READY);
  gst_element_set_state (pipeline, GST_STATE_NULL);
  gst_object_unref (pipeline);
  fail_if (page_has ("element=\"track\""));
  fail_unless (page_has ("gstccl_build_info"));
}

GST_END_TEST;

GST_START_TEST (test_nested)
{
  GstElement *const pipeline =
      gst_parse_launch ("( videotestsrc num-buffers=1 ! ccltrack name=track ) ! fakesink", NULL);

  gst_object_set_name (GST_OBJECT (pipeline), "nested");
  run (pipeline);
  fail_unless (page_has ("/track\",factory=\"ccltrack\",pipeline=\"nested\"}"));
  gst_element_set_state (pipeline, GST_STATE_NULL);
  gst_object_unref (pipeline);
}

GST_END_TEST;

static gint stop;

static gpointer
read_pages (gpointer n_good)
{
  while (!g_atomic_int_get (&stop)) {
    gchar *const page = read_page ();

    if (page && g_str_has_prefix (page, "HTTP/1.1 200") && g_str_has_suffix (page, "\n"))
      g_atomic_int_inc ((gint *) n_good);
    g_free (page);
  }
  return NULL;
}

GST_START_TEST (test_come_and_go)
{
  GThread *readers[N_READERS];
  gint n_good = 0;

  g_atomic_int_set (&stop, 0);
  for (guint i = 0; i < N_READERS; i++)
    readers[i] = g_thread_new ("reader", read_pages, &n_good);
  for (guint i = 0; i < N_PIPELINES; i++) {
    GstElement *const pipeline = gst_parse_launch (LINE, NULL);

    run (pipeline);
    gst_element_set_state (pipeline, GST_STATE_NULL);
    gst_object_unref (pipeline);
  }
  g_atomic_int_set (&stop, 1);
  for (guint i = 0; i < N_READERS; i++)
    g_thread_join (readers[i]);
  fail_unless (n_good > 10, "%d pages", n_good);
  fail_if (page_has ("element=\"track\""));
}

GST_END_TEST;

static Suite *
metrics_suite (void)
{
  Suite *const suite = suite_create ("metrics");
  TCase *const tests = tcase_create ("general");

  suite_add_tcase (suite, tests);
  tcase_set_timeout (tests, 60);
  tcase_add_test (tests, test_life);
  tcase_add_test (tests, test_nested);
  tcase_add_test (tests, test_come_and_go);
  return suite;
}

int
main (int argc, char **argv)
{
  gchar *tracer;

  port = find_free_port ();
  tracer = g_strdup_printf ("cclmetrics(port=%u)", port);
  g_setenv ("GST_TRACERS", tracer, TRUE);
  g_free (tracer);
  gst_check_init (&argc, &argv);
  return gst_check_run_suite (metrics_suite (), "metrics", __FILE__);
}
