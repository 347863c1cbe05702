/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef __GST_CCL_META2JSON_H__
#define __GST_CCL_META2JSON_H__

#include <gst/gst.h>
#include <gst/base/gstbasetransform.h>

G_BEGIN_DECLS

#define GST_TYPE_CCL_META2JSON (gst_ccl_meta2json_get_type ())
G_DECLARE_FINAL_TYPE (GstCclMeta2Json, gst_ccl_meta2json, GST, CCL_META2JSON, GstBaseTransform)

GST_ELEMENT_REGISTER_DECLARE (cclmeta2json);

G_END_DECLS

#endif
