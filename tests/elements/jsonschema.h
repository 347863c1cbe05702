/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* JSON Schema, as much of it as docs/ uses. */
#ifndef CCL_TEST_JSONSCHEMA_H
#define CCL_TEST_JSONSCHEMA_H

#include <json-glib/json-glib.h>

/* NULL: the line is as the schema docs/NAME says. */
gchar *schema_check (const gchar * name, JsonNode * node);
void assert_schema (const gchar * name, JsonNode * node);

#endif
