/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* A small HTTP server with one page, /metrics. It knows neither GStreamer nor what the page says. */
#ifndef __GST_CCL_METRICS_SERVER_H__
#define __GST_CCL_METRICS_SERVER_H__

#include <glib.h>

G_BEGIN_DECLS

typedef struct _GstCclMetricsServer GstCclMetricsServer;

/* Returns the page of now. Called in the server's only thread. */
typedef GString *(*GstCclMetricsPage) (void);

/* `port` 0: any free one. NULL and an error when nothing can listen there. */
GstCclMetricsServer *gst_ccl_metrics_server_new (const gchar * address, guint port, GstCclMetricsPage page,
    GError ** error);

guint gst_ccl_metrics_server_get_port (const GstCclMetricsServer * server);

/* Waits for the answer that is being written. */
void gst_ccl_metrics_server_free (GstCclMetricsServer * server);

/* For a forked child, which has the socket but not the thread: the port is free once the parent has ended. */
void gst_ccl_metrics_server_forget (GstCclMetricsServer * server);

G_END_DECLS

#endif
