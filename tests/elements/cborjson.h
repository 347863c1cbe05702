/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* CBOR compared with JSON. */
#ifndef CCL_TEST_CBOR_JSON_H
#define CCL_TEST_CBOR_JSON_H

#include <gst/gst.h>
#include <json-glib/json-glib.h>

/* The buffer, which it takes, is one CBOR item with the values of `expected`: the same types, members in the same order, bits of
 * doubles. The member "seq" of the outer object may differ. */
void assert_cbor (GstBuffer * buffer, JsonNode * expected);

#endif
