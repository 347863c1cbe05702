/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "gstccljsonprint.h"

#include <math.h>
#include <string.h>

#include "gstccljsoncheck.h"
#include "gstccljsonvalues.h"

/* json-glib prints every double with 17 digits, exact and in any locale, but has no shorter form. Version 1.6 prints some
 * numbers wrongly: 1e-10 becomes "1e-10.0". So the numbers in its text are printed again. */

/* Appends a number that json-glib has printed, as valid JSON with at most `precision` digits after the point. */
static void
append_number (GString * out, const gchar * text, gsize length, gint precision)
{
  const gboolean has_point = memchr (text, '.', length) != NULL;
  const gboolean has_exponent = memchr (text, 'e', length) != NULL;
  gchar digits[G_ASCII_DTOSTR_BUF_SIZE], format[8];
  gdouble value;

  if (has_exponent && length > 2 && memcmp (text + length - 2, ".0", 2) == 0)
    length -= 2;
  value = has_point && precision >= 0 ? g_ascii_strtod (text, NULL) : GST_CCL_JSON_MAX_EXACT;
  if (fabs (value) >= GST_CCL_JSON_MAX_EXACT) {
    g_string_append_len (out, text, length);
    return;
  }

  g_snprintf (format, sizeof format, "%%.%df", precision);
  g_ascii_formatd (digits, sizeof digits, format, value);
  if (strchr (digits, '.')) {
    gchar *end = digits + strlen (digits);

    while (end[-1] == '0')
      end--;
    if (end[-1] == '.')
      end--;
    *end = '\0';
  }
  g_string_append (out, strcmp (digits, "-0") == 0 ? "0" : digits);
}

static void
append_tidy (GString * out, const gchar * text, gsize length, gint precision)
{
  const gchar *end = text + length;
  const gchar *copied = text;   /* everything before it has been copied to `out` */
  const gchar *p = text;

  while (p < end) {
    if (*p == '"') {
      p = gst_ccl_json_skip_string (p, end);
    } else if (g_ascii_isdigit (*p) || *p == '-') {
      const gsize n = strspn (p, "0123456789+-.eE");

      g_string_append_len (out, copied, p - copied);
      append_number (out, p, n, precision);
      p += n;
      copied = p;
    } else {
      p++;
    }
  }
  g_string_append_len (out, copied, end - copied);
}

/* Takes the object. */
GString *
gst_ccl_json_print (JsonObject * object, gint precision)
{
  JsonNode *root = json_node_init_object (json_node_alloc (), object);
  JsonGenerator *generator = json_generator_new ();
  GString *raw, *text;

  json_generator_set_root (generator, root);
  raw = json_generator_to_gstring (generator, g_string_sized_new (1024));
  /* The one control character that json-glib prints as it is. */
  g_string_replace (raw, "\x1f", "\\u001f", 0);
  text = g_string_sized_new (raw->len + 2);
  append_tidy (text, raw->str, raw->len, precision);

  g_string_free (raw, TRUE);
  g_object_unref (generator);
  json_node_unref (root);
  json_object_unref (object);
  return text;
}
