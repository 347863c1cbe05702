/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "gstcclmetrics.h"

static gboolean
plugin_init (GstPlugin * plugin)
{
  return gst_tracer_register (plugin, "cclmetrics", GST_TYPE_CCL_METRICS);
}

GST_PLUGIN_DEFINE (GST_VERSION_MAJOR, GST_VERSION_MINOR, cclmetrics, "Metrics of gst-ccl for Prometheus", plugin_init,
    PACKAGE_VERSION, "LGPL", PACKAGE_NAME, PACKAGE_ORIGIN)
