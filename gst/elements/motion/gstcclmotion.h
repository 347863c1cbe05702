/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef __GST_CCL_MOTION_H__
#define __GST_CCL_MOTION_H__

#include "base/gstcclanalyzer.h"

G_BEGIN_DECLS

#define GST_TYPE_CCL_MOTION (gst_ccl_motion_get_type ())
G_DECLARE_FINAL_TYPE (GstCclMotion, gst_ccl_motion, GST, CCL_MOTION, GstCclAnalyzer)

GST_ELEMENT_REGISTER_DECLARE (cclmotion);

G_END_DECLS

#endif
