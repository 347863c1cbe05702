/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef __GST_CCL_ZONE_H__
#define __GST_CCL_ZONE_H__

#include <gst/gst.h>
#include <gst/base/gstbasetransform.h>

G_BEGIN_DECLS

/* Not GstCclZone: that is a zone. And GStreamer names elements after their type: cclzone0 wants these letters. */
#define GST_TYPE_CCLZONE (gst_cclzone_get_type ())
G_DECLARE_FINAL_TYPE (GstCclzone, gst_cclzone, GST, CCLZONE, GstBaseTransform)

GST_ELEMENT_REGISTER_DECLARE (cclzone);

G_END_DECLS

#endif
