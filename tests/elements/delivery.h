/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* What the tests of cclmqttsink's queue share. */
#ifndef CCL_TEST_DELIVERY_H
#define CCL_TEST_DELIVERY_H

#include <gst/check/gstcheck.h>

#include "delivery/gstcclmessagequeue.h"

/* The payloads that wait, in a row, must be `expected`. With the lock of the queue's owner. */
static inline void
check_waiting (const GstCclMessageQueue * queue, const gchar * expected)
{
  GString *const all = g_string_new (NULL);

  for (GList * node = queue->waiting.head; node; node = node->next) {
    gsize size;
    const gchar *const data = g_bytes_get_data (((GstCclMessage *) node->data)->payload, &size);

    g_string_append_len (all, data, size);
  }
  fail_unless_equals_string (all->str, expected);
  g_string_free (all, TRUE);
}

#endif
