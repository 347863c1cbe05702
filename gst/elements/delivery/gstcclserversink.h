/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* The properties that cclkafkasink and cclnatssink have in common. Both begin with this struct. */
#ifndef __GST_CCL_SERVER_SINK_H__
#define __GST_CCL_SERVER_SINK_H__

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

typedef struct
{
  GstCclDeliverySink parent;

  /* Properties; object lock. */
  GstCclServerSettings settings;
  gchar *topic;
} GstCclServerSink;

#define GST_CCL_SERVER_PARAM_READY (G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS | GST_PARAM_MUTABLE_READY)

/* Of an element. */
typedef struct
{
  const gchar *servers_text, *servers;  /* text and default of the property */
  const gchar *topic_text, *topic;
} GstCclServerDefaults;

void gst_ccl_server_sink_install_properties (GObjectClass * object, const GstCclServerDefaults * defaults);

/* With the object lock. FALSE: the property is not one of these. */
gboolean gst_ccl_server_sink_set_property (GstCclServerSink * sink, guint id, const GValue * value);
gboolean gst_ccl_server_sink_get_property (GstCclServerSink * sink, guint id, GValue * value);

void gst_ccl_server_sink_init (GstCclServerSink * sink, const GstCclServerDefaults * defaults);
void gst_ccl_server_sink_finalize (GstCclServerSink * sink);

/* Virtual functions of the base class. */
const gchar *gst_ccl_server_sink_get_topic (GstCclDeliverySink * sink);
gchar *gst_ccl_server_sink_get_address (GstCclDeliverySink * sink);
const gchar *gst_ccl_server_sink_get_hint (GstCclDeliverySink * sink);

/* Posts a warning about certificates without TLS: the user expects an encrypted connection. */
void gst_ccl_server_sink_warn_of_settings (GstCclServerSink * sink);

/* Whether the topic is valid with a source inside. */
gboolean gst_ccl_server_sink_check_topic (GstCclServerSink * sink, gboolean (*is_valid) (const gchar *), GError ** error);

/* The topic of a message whose source has characters that `is_kept` refuses: each becomes _. NULL: the message's own is right. */
gchar *gst_ccl_server_sink_make_topic (GstCclServerSink * sink, const GstCclDeliveryMessage * message,
    gboolean (*is_kept) (gchar));

G_END_DECLS

#endif
