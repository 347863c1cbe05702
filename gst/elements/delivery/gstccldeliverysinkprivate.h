/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* The files of the base class share this. */
#ifndef __GST_CCL_DELIVERY_SINK_PRIVATE_H__
#define __GST_CCL_DELIVERY_SINK_PRIVATE_H__

#include "delivery/gstccldeliverysink.h"

G_BEGIN_DECLS

typedef struct
{
  /* Properties; object lock. */
  GstCclDeliveryLimits limits;
  guint64 drain_timeout;        /* ns */
  gboolean fail_on_disconnect;
  gchar *spool_location;
  guint64 spool_size;

  GstCclDelivery *delivery;

  /* Object lock. */
  gboolean failed;              /* fail-on-disconnect has ended the stream */
  guint64 frames;               /* buffers that arrived, one message each */
  GstCclMinAvgMax host;         /* time in render() */
} GstCclDeliverySinkPrivate;

GstCclDeliverySinkPrivate *gst_ccl_delivery_sink_get_private (GstCclDeliverySink * sink);

void gst_ccl_delivery_sink_install_properties (GObjectClass * object);

/* The defaults of the properties. */
void gst_ccl_delivery_sink_init_settings (GstCclDeliverySink * sink);

G_END_DECLS

#endif
