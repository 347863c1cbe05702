/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef __GST_CCL_META_REMAP_H__
#define __GST_CCL_META_REMAP_H__

#include <gst/gst.h>
#include <gst/base/gstbasetransform.h>

G_BEGIN_DECLS

#define GST_TYPE_CCL_META_REMAP (gst_ccl_meta_remap_get_type ())
G_DECLARE_FINAL_TYPE (GstCclMetaRemap, gst_ccl_meta_remap, GST, CCL_META_REMAP, GstBaseTransform)

GST_ELEMENT_REGISTER_DECLARE (cclmetaremap);

G_END_DECLS

#endif
