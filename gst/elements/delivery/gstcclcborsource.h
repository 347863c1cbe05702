/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* The source of a message in CBOR. */
#ifndef __GST_CCL_CBOR_SOURCE_H__
#define __GST_CCL_CBOR_SOURCE_H__

#include <glib.h>

G_BEGIN_DECLS

/* Whether a message is an array or a map of CBOR. Text in UTF-8 never begins with such a byte. */
gboolean gst_ccl_is_cbor (gconstpointer data, gsize size);

/* The text of the first member "source" of a map. NULL: there is none, or items before it are not well-formed or have no
 * known length. Items behind it are not read. (transfer full) */
gchar *gst_ccl_cbor_source (gconstpointer data, gsize size);

G_END_DECLS

#endif
