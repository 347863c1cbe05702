/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "fuzz.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* By a signal that libFuzzer catches. */
static GLogWriterOutput
end_on_critical (GLogLevelFlags level, const GLogField * fields, gsize n_fields, gpointer data)
{
  if (level & (G_LOG_FLAG_FATAL | G_LOG_LEVEL_ERROR | G_LOG_LEVEL_CRITICAL)) {
    g_log_writer_standard_streams (level, fields, n_fields, data);
    abort ();
  }
  return G_LOG_WRITER_HANDLED;
}

void
fuzz_init (void)
{
  g_setenv ("GST_PLUGIN_SYSTEM_PATH_1_0", "", TRUE);
  g_setenv ("GST_PLUGIN_PATH_1_0", "", TRUE);
  g_setenv ("GST_PLUGIN_PATH", "", TRUE);
  g_setenv ("GST_REGISTRY_DISABLE", "yes", TRUE);
  gst_init (NULL, NULL);
  g_log_set_writer_func (end_on_critical, NULL, NULL);
}

gint64
fuzz_integer (FuzzBytes * bytes)
{
  static const gint64 limits[] = {
    0, 1, -1, G_MAXINT8, G_MAXUINT8, G_MAXINT16, G_MAXUINT16, G_MAXINT32, G_MININT32, G_MAXUINT32, G_MAXINT64,
    G_MININT64,
    (gint64) 1 << 53, 1000000007
  };

  switch (fuzz_below (bytes, 8)) {
    case 0:
      return limits[fuzz_below (bytes, G_N_ELEMENTS (limits))];
    case 1:
      return (gint64) fuzz_bits (bytes, 8);
    case 2:
      return (gint32) fuzz_bits (bytes, 4);
    case 3:
      return (gint16) fuzz_bits (bytes, 2);
    default:
      return fuzz_byte (bytes);
  }
}

gdouble
fuzz_double (FuzzBytes * bytes)
{
  static const gdouble limits[] = {
    0, -0.0, 0.5, 1, -1, NAN, INFINITY, -INFINITY, G_MAXDOUBLE, -G_MAXDOUBLE, G_MINDOUBLE, 5e-324, 2147483647.5, 1e12,
    -1e12, 1e300, 1e-300
  };
  guint64 bits;
  gdouble value;

  switch (fuzz_below (bytes, 4)) {
    case 0:
      return limits[fuzz_below (bytes, G_N_ELEMENTS (limits))];
    case 1:
      bits = fuzz_bits (bytes, 8);
      memcpy (&value, &bits, sizeof value);
      return value;
    default:
      return (gint16) fuzz_bits (bytes, 2) / 64.0;
  }
}

gchar *
fuzz_text (FuzzBytes * bytes)
{
  const guint8 wanted = fuzz_byte (bytes);
  const gsize length = MIN (wanted, (gsize) (bytes->end - bytes->at));
  gchar *const text = g_strndup ((const gchar *) bytes->at, length);    /* ends at a zero */

  bytes->at += length;
  return text;
}

gchar *
fuzz_whole_text (const guint8 * data, gsize size)
{
  gchar *const text = g_malloc (size + 1);

  if (size > 0)
    memcpy (text, data, size);
  text[size] = '\0';
  return text;
}
