/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* What a line says about itself. Only these functions know the form of a line. */
#ifndef __GST_CCL_LINE_H__
#define __GST_CCL_LINE_H__

#include <glib.h>

G_BEGIN_DECLS

/* Maximum size of a text below in bytes: that of a string in MQTT. */
#define GST_CCL_LINE_MAX_TEXT 65535

/* The text of a member of the line's object, such as "source" or "schema". It reads to this member only, and skips the values
 * before it. NULL: the line is no object of JSON or map of CBOR up to there, or the member is missing, no string, empty, or not
 * UTF-8. (transfer full) */
gchar *gst_ccl_line_get_text (const gchar * line, gsize size, const gchar * name);

/* Whether a line is an array or a map of CBOR. A text in UTF-8 never begins with such a byte. */
gboolean gst_ccl_line_is_cbor (gconstpointer line, gsize size);

G_END_DECLS

#endif
