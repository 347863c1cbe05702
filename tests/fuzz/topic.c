/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* The topic of a line that reaches cclmqttsink. An input is a pattern, a zero and the line. */
#include "fuzz.h"

#include <string.h>

#include "delivery/gstccltopic.h"

static guint
count (const gchar * text, gchar wanted)
{
  guint n = 0;

  for (; *text; text++)
    n += *text == wanted;
  return n;
}

/* A line changes neither the levels of a topic nor adds wildcards. */
int
LLVMFuzzerTestOneInput (const guint8 * data, gsize size)
{
  gchar *const pattern = fuzz_whole_text (data, size);
  const gsize used = MIN (strlen (pattern) + 1, size);
  const gchar *const line = (const gchar *) data + used;
  gchar *const topic = gst_ccl_topic_expand (pattern, line, size - used);

  for (const gchar * c = "/+#"; *c; c++)
    g_assert_cmpuint (count (topic, *c), ==, count (pattern, *c));
  if (g_utf8_validate (pattern, -1, NULL))
    g_assert_true (g_utf8_validate (topic, -1, NULL));
  g_free (topic);
  g_free (pattern);
  return 0;
}
