/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "gstcclmetricsserver.h"

#include <errno.h>
#include <microhttpd.h>
#include <netdb.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* One client is enough; the others are slow ones that block nobody until they are this many. */
#define MAX_CONNECTIONS 64
#define MAX_IDLE_SECONDS 5
#define MAX_CONNECTION_BYTES 8192
#define CONTENT_TYPE "text/plain; version=0.0.4; charset=utf-8"

struct _GstCclMetricsServer
{
  struct MHD_Daemon *daemon;
  GstCclMetricsPage page;
  gint socket;
  guint port;
};

static enum MHD_Result
send_text (struct MHD_Connection *connection, guint status, const gchar * type, GString * text)
{
  const gsize length = text->len;
  struct MHD_Response *const response = MHD_create_response_from_buffer_with_free_callback (length,
      g_string_free (text, FALSE), g_free);
  enum MHD_Result result;

  if (!response)
    return MHD_NO;
  MHD_add_response_header (response, MHD_HTTP_HEADER_CONTENT_TYPE, type);
  if (status == MHD_HTTP_METHOD_NOT_ALLOWED)
    MHD_add_response_header (response, MHD_HTTP_HEADER_ALLOW, "GET, HEAD");
  result = MHD_queue_response (connection, status, response);
  MHD_destroy_response (response);
  return result;
}

/* libmicrohttpd gives the parameters. */
static enum MHD_Result
on_request (void *data, struct MHD_Connection *connection, const char *url, const char *method, const char *version,
    const char *upload, size_t *upload_size, void **request)
{
  GstCclMetricsServer *const server = data;

  if (strcmp (method, "GET") != 0 && strcmp (method, "HEAD") != 0)
    return send_text (connection, MHD_HTTP_METHOD_NOT_ALLOWED, "text/plain", g_string_new ("GET /metrics\n"));
  if (strcmp (url, "/metrics") != 0)
    return send_text (connection, MHD_HTTP_NOT_FOUND, "text/plain", g_string_new ("The page is /metrics\n"));
  return send_text (connection, MHD_HTTP_OK, CONTENT_TYPE, server->page ());
}

static gint
listen_at (const struct addrinfo *place)
{
  const gint fd = socket (place->ai_family, place->ai_socktype | SOCK_CLOEXEC | SOCK_NONBLOCK, place->ai_protocol);
  const gint on = 1;

  if (fd < 0)
    return -1;
  /* A restarted pipeline need not wait for the connections of the last one to expire. */
  setsockopt (fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (bind (fd, place->ai_addr, place->ai_addrlen) == 0 && listen (fd, MAX_CONNECTIONS) == 0)
    return fd;

  const gint code = errno;

  close (fd);
  errno = code;
  return -1;
}

static gint
open_socket (const gchar * address, guint port, GError ** error)
{
  const struct addrinfo hints = {.ai_socktype = SOCK_STREAM,.ai_flags = AI_PASSIVE };
  gchar *const service = g_strdup_printf ("%u", port);
  struct addrinfo *places = NULL;
  const gint status = getaddrinfo (address, service, &hints, &places);
  gint fd = -1;

  g_free (service);
  if (status != 0) {
    g_set_error_literal (error, G_FILE_ERROR, G_FILE_ERROR_INVAL, gai_strerror (status));
    return -1;
  }
  for (const struct addrinfo * place = places; place && fd < 0; place = place->ai_next)
    fd = listen_at (place);
  if (fd < 0)
    g_set_error_literal (error, G_FILE_ERROR, g_file_error_from_errno (errno), g_strerror (errno));
  freeaddrinfo (places);
  return fd;
}

static guint
port_of_socket (gint fd)
{
  struct sockaddr_storage address;
  socklen_t length = sizeof address;
  gchar port[NI_MAXSERV];

  if (getsockname (fd, (struct sockaddr *) &address, &length) != 0
      || getnameinfo ((struct sockaddr *) &address, length, NULL, 0, port, sizeof port, NI_NUMERICSERV) != 0)
    return 0;
  return (guint) g_ascii_strtoull (port, NULL, 10);
}

/* The process's signals are for the threads of the application. */
static struct MHD_Daemon *
start_daemon (GstCclMetricsServer * server)
{
  struct MHD_Daemon *started;
  sigset_t all, before;

  sigfillset (&all);
  pthread_sigmask (SIG_SETMASK, &all, &before);
  /* poll, not epoll: a forked child shares an epoll instance, and with it the sockets. */
  started = MHD_start_daemon (MHD_USE_POLL_INTERNAL_THREAD, 0, NULL, NULL, on_request, server,
      MHD_OPTION_LISTEN_SOCKET, server->socket,
      MHD_OPTION_CONNECTION_LIMIT, (unsigned int) MAX_CONNECTIONS,
      MHD_OPTION_CONNECTION_TIMEOUT, (unsigned int) MAX_IDLE_SECONDS,
      MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t) MAX_CONNECTION_BYTES, MHD_OPTION_END);
  pthread_sigmask (SIG_SETMASK, &before, NULL);
  return started;
}

GstCclMetricsServer *
gst_ccl_metrics_server_new (const gchar * address, guint port, GstCclMetricsPage page, GError ** error)
{
  const gint fd = open_socket (address, port, error);
  GstCclMetricsServer *server;

  if (fd < 0)
    return NULL;
  server = g_new (GstCclMetricsServer, 1);
  *server = (GstCclMetricsServer) {
  .page = page,.socket = fd,.port = port_of_socket (fd),};
  server->daemon = start_daemon (server);
  if (!server->daemon) {
    g_set_error_literal (error, G_FILE_ERROR, G_FILE_ERROR_FAILED, "the HTTP server does not start");
    close (fd);
    g_clear_pointer (&server, g_free);
  }
  return server;
}

guint
gst_ccl_metrics_server_get_port (const GstCclMetricsServer * server)
{
  return server->port;
}

void
gst_ccl_metrics_server_free (GstCclMetricsServer * server)
{
  MHD_stop_daemon (server->daemon);
  g_free (server);
}

void
gst_ccl_metrics_server_forget (GstCclMetricsServer * server)
{
  close (server->socket);
}
