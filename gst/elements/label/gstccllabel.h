/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef __GST_CCL_LABEL_H__
#define __GST_CCL_LABEL_H__

#include "base/gstcclanalyzer.h"

G_BEGIN_DECLS

#define GST_TYPE_CCL_LABEL (gst_ccl_label_get_type ())
G_DECLARE_FINAL_TYPE (GstCclLabel, gst_ccl_label, GST, CCL_LABEL, GstCclAnalyzer)

GST_ELEMENT_REGISTER_DECLARE (ccllabel);

G_END_DECLS

#endif
