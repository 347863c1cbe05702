/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "servers.h"

#include <gst/check/gstcheck.h>
#include <signal.h>
#include <sys/prctl.h>

#define PATIENCE (100 * G_TIME_SPAN_SECOND)

gchar *
find_server (const gchar * name)
{
  gchar *const path = g_find_program_in_path (name), *sbin;

  if (path)
    return path;
  sbin = g_build_filename ("/usr/sbin", name, NULL);
  if (g_file_test (sbin, G_FILE_TEST_IS_EXECUTABLE))
    return sbin;
  g_free (sbin);
  return NULL;
}

guint
unused_port (void)
{
  GSocketListener *const listener = g_socket_listener_new ();
  const guint port = g_socket_listener_add_any_inet_port (listener, NULL, NULL);

  g_object_unref (listener);
  fail_unless (port);
  return port;
}

static void
end_with_parent (G_GNUC_UNUSED gpointer data)
{
  prctl (PR_SET_PDEATHSIG, SIGKILL);
}

GSubprocess *
start_server (const gchar * const *arguments)
{
  GSubprocessLauncher *const launcher =
      g_subprocess_launcher_new (G_SUBPROCESS_FLAGS_STDOUT_SILENCE | G_SUBPROCESS_FLAGS_STDERR_SILENCE);
  GError *error = NULL;
  GSubprocess *process;

  g_subprocess_launcher_set_child_setup (launcher, end_with_parent, NULL, NULL);
  process = g_subprocess_launcher_spawnv (launcher, arguments, &error);
  fail_unless (process != NULL, "%s", error ? error->message : "");
  g_object_unref (launcher);
  return process;
}

static gboolean
accepts_connections (guint port)
{
  GSocketClient *const client = g_socket_client_new ();
  GSocketConnection *connection;
  gboolean accepts;

  g_socket_client_set_enable_proxy (client, FALSE);     /* libproxy throws exceptions that valgrind cannot follow */
  connection = g_socket_client_connect_to_host (client, "127.0.0.1", (guint16) port, NULL, NULL);
  accepts = connection != NULL;
  g_clear_object (&connection);
  g_object_unref (client);
  return accepts;
}

void
wait_for_port (guint port)
{
  const gint64 end = g_get_monotonic_time () + PATIENCE;

  while (!accepts_connections (port)) {
    fail_unless (g_get_monotonic_time () < end, "nothing listens at port %u", port);
    g_usleep (20000);
  }
}

void
kill_server (GSubprocess * process)
{
  g_subprocess_force_exit (process);
  g_subprocess_wait (process, NULL, NULL);
  g_object_unref (process);
}
