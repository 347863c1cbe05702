/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* cclmqttsink: passwords and TLS. */

#include "cclmqttsink.h"

#include <glib/gstdio.h>
#include <string.h>

/* Nothing that is logged, at whatever level, names the password. */
static void
check_log (GstDebugCategory * category, GstDebugLevel level, const gchar * file, const gchar * function, gint line,
    GObject * object, GstDebugMessage * message, gpointer data)
{
  if (strstr (gst_debug_message_get (message), "secret"))
    g_atomic_int_set ((gint *) data, TRUE);
}

static gint password_is_logged;

GST_START_TEST (test_password)
{
  NEED_BROKER ();

  const guint port = free_port ();
  gchar *path = in_folder ("passwords"), *settings;
  const gchar *const arguments[] = { passwd_path, "-b", "-c", path, "cam1", "secret", NULL };
  GSubprocess *broker;

  run_program (arguments);
  g_chmod (path, 0644);         /* the broker gives up root */
  settings = g_strdup_printf ("allow_anonymous false\npassword_file %s", path);
  broker = start_broker (port, settings);
  gst_debug_remove_log_function (gst_debug_log_default);
  gst_debug_add_log_function (check_log, &password_is_logged, NULL);
  gst_debug_set_threshold_from_string ("ccl*:9,GST_PADS:0", TRUE);

  for (guint i = 0; i < 2; i++) {
    GstElement *sink = new_sink ("mqtt", port, "t");
    Publisher publisher;

    g_setenv ("CCL_TEST_PASSWORD", i ? "secret" : "wrong", TRUE);
    g_object_set (sink, "username", "cam1", "password-env", "CCL_TEST_PASSWORD", NULL);
    publisher = publish_with (sink);
    push_numbers (&publisher, 1, 5);
    if (i) {
      wait_for_stat (&publisher, "published", 5);
    } else {
      expect_message (&publisher, GST_MESSAGE_WARNING, "ot authori");
      fail_unless_equals_int (push_number (&publisher, 6), GST_FLOW_OK);
      fail_unless_equals_uint64 (stat_of (&publisher, "published"), 0);
      fail_unless_equals_uint64 (stat_of (&publisher, "queued"), 6);
    }
    close_publisher (&publisher);
  }
  gst_debug_set_threshold_from_string ("", TRUE);
  gst_debug_remove_log_function (check_log);
  fail_if (g_atomic_int_get (&password_is_logged));
  stop_program (broker);
  g_free (settings);
  g_free (path);
}

GST_END_TEST;

/* Nobody listens at first: libmosquitto does not notice by itself when TLS was to come next. */
GST_START_TEST (test_tls_broker_starts_later)
{
  NEED_OPENSSL ();

  const guint port = free_port ();
  gchar *certificate = in_folder ("good.pem"), *settings = tls_settings ("good");
  GstElement *sink = new_sink ("mqtts", port, "t");
  Publisher publisher;
  GSubprocess *broker;

  make_certificate ("good", "localhost");
  g_object_set (sink, "ca-file", certificate, NULL);
  publisher = publish_with (sink);
  push_numbers (&publisher, 1, 5);
  expect_message (&publisher, GST_MESSAGE_WARNING, "Connection refused");
  broker = start_broker (port, settings);
  wait_for_stat (&publisher, "published", 5);
  expect_all_published (&publisher, 5);
  close_publisher (&publisher);
  stop_program (broker);
  g_free (settings);
  g_free (certificate);
}

GST_END_TEST;

GST_START_TEST (test_tls)
{
  NEED_OPENSSL ();

  /* The broker's certificate, which authority we trust, whether we look, and what comes of it. */
  static const struct
  {
    const gchar *served, *trusted;
    gboolean verify, works;
  } cases[] = {
    {"good", "good", TRUE, TRUE},
    {"good", "other", TRUE, FALSE},
    {"good", NULL, TRUE, FALSE},
    {"other", "other", TRUE, FALSE},    /* valid, for another host */
    {"other", "good", FALSE, TRUE},
  };

  make_certificate ("good", "localhost");
  make_certificate ("other", "elsewhere.example");
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    const guint port = free_port ();
    gchar *settings = tls_settings (cases[i].served);
    gchar *trusted = cases[i].trusted ? g_strdup_printf ("%s/%s.pem", broker_folder, cases[i].trusted) : NULL;
    GSubprocess *broker = start_broker (port, settings);
    GstElement *sink = new_sink ("mqtts", port, "t");
    Publisher publisher;

    g_object_set (sink, "ca-file", trusted, "verify", cases[i].verify, NULL);
    publisher = publish_with (sink);
    push_numbers (&publisher, 1, 5);
    if (cases[i].works) {
      wait_for_stat (&publisher, "published", 5);
    } else {
      expect_message (&publisher, GST_MESSAGE_WARNING, "No connection");
      fail_unless_equals_uint64 (stat_of (&publisher, "published"), 0);
      fail_unless_equals_uint64 (stat_of (&publisher, "queued"), 5);
    }
    close_publisher (&publisher);
    stop_program (broker);
    g_free (settings);
    g_free (trusted);
  }
}

GST_END_TEST;

/* A certificate for this host that is valid for `days` days from now. FALSE: openssl does not take this number. */
static gboolean
make_dated_certificate (const gchar * stem, const gchar * days)
{
  gchar *request = in_folder ("request.pem"), *key = g_strdup_printf ("%s/%s.key", broker_folder, stem);
  gchar *certificate = g_strdup_printf ("%s/%s.pem", broker_folder, stem);
  const gchar *const ask[] = { openssl_path, "req", "-new", "-newkey", "ec", "-pkeyopt",
    "ec_paramgen_curve:prime256v1", "-nodes", "-subj", "/CN=localhost", "-keyout", key, "-out", request, NULL
  };
  const gchar *const sign[] = { openssl_path, "x509", "-req", "-in", request, "-signkey", key, "-days", days, "-out",
    certificate, NULL
  };
  gboolean ok;

  run_program (ask);
  ok = try_program (sign);
  g_chmod (key, 0644);
  g_free (request);
  g_free (key);
  g_free (certificate);
  return ok;
}

GST_START_TEST (test_tls_expired)
{
  NEED_OPENSSL ();
  SKIP_TEST_UNLESS (make_dated_certificate ("expired", "-1"), "this openssl makes no expired certificate");

  static const struct
  {
    const gchar *served;
    gboolean verify, works;
  } cases[] = { {"valid", TRUE, TRUE}, {"expired", TRUE, FALSE}, {"expired", FALSE, TRUE} };

  fail_unless (make_dated_certificate ("valid", "2"));
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    const guint port = free_port ();
    gchar *trusted = g_strdup_printf ("%s/%s.pem", broker_folder, cases[i].served);
    gchar *settings = tls_settings (cases[i].served);
    GSubprocess *broker = start_broker (port, settings);
    GstElement *sink = new_sink ("mqtts", port, "t");
    Publisher publisher;

    g_object_set (sink, "ca-file", trusted, "verify", cases[i].verify, NULL);
    publisher = publish_with (sink);
    push_numbers (&publisher, 1, 2);
    if (cases[i].works) {
      wait_for_stat (&publisher, "published", 2);
    } else {
      expect_message (&publisher, GST_MESSAGE_WARNING, "No connection");
      fail_unless_equals_uint64 (stat_of (&publisher, "connects"), 0);
      fail_unless_equals_uint64 (stat_of (&publisher, "queued"), 2);
    }
    close_publisher (&publisher);
    stop_program (broker);
    g_free (settings);
    g_free (trusted);
  }
}

GST_END_TEST;

/* The broker lets in those alone that have the certificate. */
GST_START_TEST (test_tls_client_certificate)
{
  NEED_OPENSSL ();

  static const gchar *const clients[] = { NULL, "other", "client" };

  make_certificate ("good", "localhost");
  make_certificate ("client", "camera");
  make_certificate ("other", "camera");
  for (guint i = 0; i < G_N_ELEMENTS (clients); i++) {
    const guint port = free_port ();
    gchar *tls = tls_settings ("good"), *trusted = in_folder ("good.pem");
    gchar *settings = g_strdup_printf ("%s\ncafile %s/client.pem\nrequire_certificate true", tls, broker_folder);
    gchar *certificate = clients[i] ? g_strdup_printf ("%s/%s.pem", broker_folder, clients[i]) : NULL;
    gchar *key = clients[i] ? g_strdup_printf ("%s/%s.key", broker_folder, clients[i]) : NULL;
    GSubprocess *broker = start_broker (port, settings);
    GstElement *sink = new_sink ("mqtts", port, "t");
    Publisher publisher;

    g_object_set (sink, "ca-file", trusted, "cert-file", certificate, "key-file", key, NULL);
    publisher = publish_with (sink);
    push_numbers (&publisher, 1, 2);
    if (i == 2) {
      wait_for_stat (&publisher, "published", 2);
    } else {
      expect_message (&publisher, GST_MESSAGE_WARNING, "No connection");
      fail_unless_equals_uint64 (stat_of (&publisher, "connects"), 0);
    }
    close_publisher (&publisher);
    stop_program (broker);
    g_free (tls);
    g_free (trusted);
    g_free (settings);
    g_free (certificate);
    g_free (key);
  }
}

GST_END_TEST;

/* Whether the server hears the sink's first message, which contains "MQTT". The text is what it wrote until it ended. */
static gboolean
has_heard (GSubprocess * server, gboolean wait)
{
  GInputStream *const output = g_subprocess_get_stdout_pipe (server);
  gchar text[64];
  gssize n;

  if (!wait)
    g_subprocess_send_signal (server, 15);
  n = g_input_stream_read (output, text, sizeof text, NULL, NULL);
  return n >= 8 && memcmp (text + 4, "MQTT", 4) == 0;   /* behind the kind, the length of the message and that of the name */
}

/* OpenSSL is set up to accept TLS 1.0, so the sink alone can refuse it. */
GST_START_TEST (test_tls_version)
{
  NEED_OPENSSL ();

  static const gchar *const versions[] = { "-tls1_2", "-tls1_1", "-tls1" };
  gchar *settings = in_folder ("openssl.cnf"), *trusted = in_folder ("good.pem");

  make_certificate ("good", "localhost");
  fail_unless (g_file_set_contents (settings, "openssl_conf = a\n[a]\nssl_conf = b\n[b]\nsystem_default = c\n[c]\n"
          "MinProtocol = TLSv1\nCipherString = ALL:@SECLEVEL=0\n", -1, NULL));
  g_setenv ("OPENSSL_CONF", settings, TRUE);
  for (guint i = 0; i < 2 * G_N_ELEMENTS (versions); i++) {
    const gboolean works = i / 2 == 0, verify = i % 2;
    const guint port = free_port ();
    GSubprocess *const server = start_tls_server (port, versions[i / 2], "good");
    GstElement *sink = new_sink ("mqtts", port, "t");
    Publisher publisher;

    g_object_set (sink, "ca-file", trusted, "verify", verify, NULL);
    publisher = publish_with (sink);
    push_numbers (&publisher, 1, 2);
    if (!works)
      expect_message (&publisher, GST_MESSAGE_WARNING, "No connection");
    fail_unless (has_heard (server, works) == works, "%s, verify=%d", versions[i / 2], verify);
    close_publisher (&publisher);
    stop_program (server);
  }
  g_unsetenv ("OPENSSL_CONF");
  g_free (settings);
  g_free (trusted);
}

GST_END_TEST;

TCase *
mqtt_security_tests (void)
{
  TCase *tests = tcase_create ("security");

  tcase_set_timeout (tests, 120);
  tcase_add_test (tests, test_password);
  tcase_add_test (tests, test_tls);
  tcase_add_test (tests, test_tls_expired);
  tcase_add_test (tests, test_tls_version);
  tcase_add_test (tests, test_tls_client_certificate);
  tcase_add_test (tests, test_tls_broker_starts_later);
  return tests;
}
