/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Checks JSON from outside. */
#ifndef __GST_CCL_JSON_CHECK_H__
#define __GST_CCL_JSON_CHECK_H__

#include <json-glib/json-glib.h>

G_BEGIN_DECLS

/* Call it before json-glib parses text from outside. TRUE: the text is one object that json-glib reads according to the JSON
 * standard. It refuses:
 *
 * - strings that cannot be written unchanged
 * - numbers that fit neither a double nor a signed 64-bit integer
 * - arrays and objects so deep that json-glib 1.6 would exceed its stack
 * - everything outside JSON, such as comments
 *
 * It does not check the whole grammar. */
gboolean gst_ccl_json_check (const gchar * text, GError ** error);

/* Checks and parses text from outside. NULL: `error` says why it is not an object. (transfer full) */
JsonNode *gst_ccl_json_parse (const gchar * text, GError ** error);

/* The byte after the string that starts at the quotation mark `p`; at most `end`. */
const gchar *gst_ccl_json_skip_string (const gchar * p, const gchar * end);

G_END_DECLS

#endif
