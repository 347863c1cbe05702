/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* The base class of cclkafkasink and cclnatssink: the properties of a client of several servers, and its connection, which is a
 * transport of the delivery core. */
#ifndef __GST_CCL_SERVER_SINK_H__
#define __GST_CCL_SERVER_SINK_H__

#include "base/gstcclpropertyrow.h"
#include "delivery/gstccldeliverysink.h"
#include "delivery/gstcclserverlist.h"

G_BEGIN_DECLS

/* Ids of the properties. Those of the element itself follow from GST_CCL_SERVER_N_PROPERTIES on. */
enum
{
  GST_CCL_SERVER_PROP_0,
  GST_CCL_SERVER_PROP_SERVERS,
  GST_CCL_SERVER_PROP_TOPIC,
  GST_CCL_SERVER_PROP_CLIENT_ID,
  GST_CCL_SERVER_PROP_USERNAME,
  GST_CCL_SERVER_PROP_PASSWORD_ENV,
  GST_CCL_SERVER_PROP_TLS,
  GST_CCL_SERVER_PROP_CA_FILE,
  GST_CCL_SERVER_PROP_CERT_FILE,
  GST_CCL_SERVER_PROP_KEY_FILE,
  GST_CCL_SERVER_PROP_VERIFY,
  GST_CCL_SERVER_PROP_MAX_RECONNECT_DELAY,
  GST_CCL_SERVER_N_PROPERTIES,
};

#define GST_CCL_SERVER_PARAM_READY (G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS | GST_PARAM_MUTABLE_READY)

typedef struct
{
  GstCclDeliverySink parent;

  /* Properties; object lock. */
  GstCclServerSettings settings;
  gchar *topic;

  /* What they were at the start: fixed from open() to close(), for all threads. */
  GstCclServerSettings active;
} GstCclServerSink;

/* Text and default of properties that differ between the elements. */
typedef struct
{
  const gchar *servers_text, *servers;
  const gchar *topic_text, *topic;
} GstCclServerDefaults;

/* What an element sets. */
typedef struct
{
  GstCclDeliverySinkClass parent_class;

  const GstCclServerDefaults *defaults;
  const GstCclPropertyRow *rows;        /* its own properties, by id */

  /* Its connection: a member of the instance, and a transport that gets this member. */
  goffset connection;
  const GstCclDeliveryTransport *functions;

  gboolean (*is_valid_topic) (const gchar * topic);
  const gchar *topic_hint;

  /* Opens the connection with these settings, which stay valid until close_connection(), and with the element's own. */
    gboolean (*open_connection) (GstCclServerSink * sink, const GstCclServerSettings * settings, GError ** error,
      const gchar ** hint);
  void (*close_connection) (GstCclServerSink * sink);
  guint max_in_flight;
} GstCclServerSinkClass;

G_DEFINE_AUTOPTR_CLEANUP_FUNC (GstCclServerSink, gst_object_unref)
#define GST_TYPE_CCL_SERVER_SINK (gst_ccl_server_sink_get_type ())
GType gst_ccl_server_sink_get_type (void);

/* For class_init() of an element, after the members above: installs the common properties. */
void gst_ccl_server_sink_class_install (GstCclServerSinkClass * klass);

G_END_DECLS

#endif
