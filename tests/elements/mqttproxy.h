/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* A proxy between a client and a broker of MQTT, which drops what a test wants, and breaks the connection. */
#ifndef CCL_TEST_MQTTPROXY_H
#define CCL_TEST_MQTTPROXY_H

#include <gio/gio.h>

typedef struct
{
  GSocketListener *listener;
  GCancellable *stop;
  GThread *thread;
  guint port;                   /* for the client */
  guint broker_port;
  gboolean is_opaque;           /* it reads no packets, so that TLS passes */

  GMutex lock;
  /* Under `lock`. */
  gboolean drops_completions;   /* PUBCOMP, which ends a message of QoS 2 */
  gboolean cuts;                /* the present connection */
  gboolean refuses;             /* closes each connection at once */
  gboolean hangs;               /* answers to no connection */
  guint n_connections, n_dropped;       /* connections that it passed on, and completions */
} MqttProxy;

/* At 127.0.0.1 alone. `port`: for the client; 0: any. */
MqttProxy *start_proxy (guint port, guint broker_port);
MqttProxy *start_opaque_proxy (guint port, guint broker_port);
void stop_proxy (MqttProxy * proxy);

/* For the connections from now on. */
void set_proxy_drops_completions (MqttProxy * proxy, gboolean drops);
void set_proxy_refuses (MqttProxy * proxy, gboolean refuses);
void set_proxy_hangs (MqttProxy * proxy, gboolean hangs);
void cut_proxy (MqttProxy * proxy);
guint proxy_connections (MqttProxy * proxy);

/* Waits until this number of completions was dropped. */
void wait_for_dropped (MqttProxy * proxy, guint n);

#endif
