/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef __GST_CCL_TRACK_H__
#define __GST_CCL_TRACK_H__

#include <gst/gst.h>
#include <gst/base/gstbasetransform.h>

G_BEGIN_DECLS

#define GST_TYPE_CCL_TRACK (gst_ccl_track_get_type ())
G_DECLARE_FINAL_TYPE (GstCclTrack, gst_ccl_track, GST, CCL_TRACK, GstBaseTransform)

GST_ELEMENT_REGISTER_DECLARE (ccltrack);

G_END_DECLS

#endif
