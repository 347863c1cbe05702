/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* The schemas of a line: each makes the object of a frame, without its tags. (transfer full) */
#ifndef __GST_CCL_JSON_SCHEMAS_H__
#define __GST_CCL_JSON_SCHEMAS_H__

#include <json-glib/json-glib.h>

#include "gstccljsonframe.h"

G_BEGIN_DECLS

/* What every line begins with: schema, source and times. */
void gst_ccl_json_set_envelope (JsonObject * object, const GstCclJsonFrame * frame, const gchar * schema);

JsonObject *gst_ccl_json_blobs_object (const GstCclJsonFrame * frame);
JsonObject *gst_ccl_json_dlstreamer_object (const GstCclJsonFrame * frame);

/* Writes the object, which it takes, with the user's tags. */
GString *gst_ccl_json_finish_line (JsonObject * object, const GstCclJsonFrame * frame, GstCclJsonFormat format);

G_END_DECLS

#endif
