/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Objects of json-glib as CBOR (RFC 8949). */
#ifndef __GST_CCL_CBOR_H__
#define __GST_CCL_CBOR_H__

#include <json-glib/json-glib.h>

G_BEGIN_DECLS

/* The object as one CBOR map of known length; members keep their order. A reader gets the same values as from the text of the
 * object: integers stay integers, and doubles stay exact. */
GString *gst_ccl_cbor_encode (JsonObject * object);

G_END_DECLS

#endif
