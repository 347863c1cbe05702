/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* What a line in CBOR says about itself. */
#ifndef __GST_CCL_CBOR_LINE_H__
#define __GST_CCL_CBOR_LINE_H__

#include <glib.h>

G_BEGIN_DECLS

/* As gst_ccl_line_get_text(). NULL also if an item up to this member has no length in front. (transfer full) */
gchar *gst_ccl_cbor_line_get_text (gconstpointer line, gsize size, const gchar * name);

G_END_DECLS

#endif
