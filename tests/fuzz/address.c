/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* The address of a broker. */
#include "fuzz.h"

#include <string.h>

#include "delivery/gstcclmqttaddress.h"

/* Inputs of the corpus have this password at many places. No host name has such a character. */
#define PASSWORD "pass_word"

int
LLVMFuzzerTestOneInput (const guint8 * data, gsize size)
{
  gchar *const text = fuzz_whole_text (data, size);
  const gchar *hint = NULL;
  GError *error = NULL;
  GstCclMqttAddress address = { 0 };

  if (gst_ccl_mqtt_address_parse (text, &address, &error, &hint)) {
    g_assert_no_error (error);
    g_assert_true (address.host && *address.host);
    g_assert_cmpint (address.port, >=, 1);
    g_assert_cmpint (address.port, <=, 65535);
  } else {
    g_assert_nonnull (error);
    g_assert_nonnull (hint);
    g_assert_true (g_utf8_validate (error->message, -1, NULL));
    g_assert_null (strstr (error->message, PASSWORD));
  }
  g_clear_error (&error);
  g_free (address.host);
  g_free (text);
  return 0;
}
