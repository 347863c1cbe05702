/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef __GST_CCL_OVERLAY_H__
#define __GST_CCL_OVERLAY_H__

#include <gst/gst.h>
#include <gst/base/gstbasetransform.h>

G_BEGIN_DECLS

#define GST_TYPE_CCL_OVERLAY (gst_ccl_overlay_get_type ())
G_DECLARE_FINAL_TYPE (GstCclOverlay, gst_ccl_overlay, GST, CCL_OVERLAY, GstBaseTransform)

GST_ELEMENT_REGISTER_DECLARE (ccloverlay);

G_END_DECLS

#endif
