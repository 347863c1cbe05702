/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* The blobs of one frame as one line of JSON or one item of CBOR; docs/json.md describes every field. The functions depend on
 * their arguments only, not on an element. */

#ifndef __GST_CCL_JSON_H__
#define __GST_CCL_JSON_H__

#include "gstccljsonframe.h"

G_BEGIN_DECLS

/* The line of a frame. (transfer full) */
GString *gst_ccl_json_line (const GstCclJsonFrame * frame, GstCclJsonSchema schema, GstCclJsonFormat format);

/* Checks that text holds one JSON object that gst_ccl_json_check() accepts, and returns it on a single line. (transfer full) */
gchar *gst_ccl_json_tags (const gchar * text, GError ** error);

G_END_DECLS

#endif
