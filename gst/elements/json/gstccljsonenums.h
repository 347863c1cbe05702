/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* The types of cclmeta2json's properties. */
#ifndef __GST_CCL_JSON_ENUMS_H__
#define __GST_CCL_JSON_ENUMS_H__

#include <gst/gst.h>

G_BEGIN_DECLS

#define GST_TYPE_CCL_JSON_SCHEMA (gst_ccl_json_schema_get_type ())
GType gst_ccl_json_schema_get_type (void);

#define GST_TYPE_CCL_JSON_TIME (gst_ccl_json_time_get_type ())
GType gst_ccl_json_time_get_type (void);

G_END_DECLS

#endif
