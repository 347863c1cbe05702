/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef __GST_CCL_ZONE_H__
#define __GST_CCL_ZONE_H__

#include <gst/gst.h>
#include <gst/base/gstbasetransform.h>

G_BEGIN_DECLS

/* Not GstCclZone: that is a zone. */
#define GST_TYPE_CCL_ZONE_ELEMENT (gst_ccl_zone_element_get_type ())
G_DECLARE_FINAL_TYPE (GstCclZoneElement, gst_ccl_zone_element, GST, CCL_ZONE_ELEMENT, GstBaseTransform)

GST_ELEMENT_REGISTER_DECLARE (cclzone);

G_END_DECLS

#endif
