/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Objects of json-glib as text. */
#ifndef __GST_CCL_JSON_PRINT_H__
#define __GST_CCL_JSON_PRINT_H__

#include <json-glib/json-glib.h>

G_BEGIN_DECLS

/* The text of an object, which it takes, with at most `precision` digits after the point; -1: all of them. */
GString *gst_ccl_json_print (JsonObject * object, gint precision);

G_END_DECLS

#endif
