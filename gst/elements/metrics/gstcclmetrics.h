/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef __GST_CCL_METRICS_H__
#define __GST_CCL_METRICS_H__

#include <gst/gst.h>
#include <gst/gsttracer.h>

G_BEGIN_DECLS

#define GST_TYPE_CCL_METRICS (gst_ccl_metrics_get_type ())
G_DECLARE_FINAL_TYPE (GstCclMetrics, gst_ccl_metrics, GST, CCL_METRICS, GstTracer)

G_END_DECLS

#endif
