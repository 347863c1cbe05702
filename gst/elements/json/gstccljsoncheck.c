/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "gstccljsoncheck.h"

#include <math.h>
#include <string.h>

/* Maximum number of arrays and objects inside each other. */
#define MAX_DEPTH 100

/* The byte after the string that starts at the quotation mark p. */
const gchar *
gst_ccl_json_skip_string (const gchar * p, const gchar * end)
{
  for (p++; p < end && *p != '"'; p++) {
    if (*p == '\\')
      p++;
  }
  return MIN (p + 1, end);
}

#define NO_CODE G_MAXUINT32

/* XXXX of an escape \uXXXX; NO_CODE when there is none at p. */
static guint32
code_of_escape (const gchar * p)
{
  guint32 code = 0;

  if (p[0] != '\\' || p[1] != 'u')
    return NO_CODE;
  for (guint i = 2; i < 6; i++) {
    if (!g_ascii_isxdigit (p[i]))
      return NO_CODE;
    code = code << 4 | (guint32) g_ascii_xdigit_value (p[i]);
  }
  return code;
}

static const gchar *
refuse (GError ** error, const gchar * format, ...)
{
  va_list args;

  va_start (args, format);
  if (error)
    *error = g_error_new_valist (JSON_PARSER_ERROR, JSON_PARSER_ERROR_INVALID_DATA, format, args);
  va_end (args);
  return NULL;
}

/* The check_ functions return the position after the item; NULL: they refuse it. */

/* Checks the string from p to end, without its quotation marks. json-glib cuts a string at U+0000. Version 1.6 writes half a
 * surrogate pair as bytes that are not UTF-8. It also accepts any character after a backslash, even a quotation mark, as an
 * escape. */
static const gchar *
check_string (const gchar * p, const gchar * end, GError ** error)
{
  while (p < end) {
    const guint32 code = code_of_escape (p);
    const gboolean is_surrogate = code >= 0xd800 && code < 0xe000;

    if ((guchar) * p < ' ')
      return refuse (error, "a string has a control character in it, such as a line break");
    if (*p == '\\' && (p[1] == 'u' ? code == NO_CODE : !strchr ("\"\\/bfnrt", p[1])))
      return refuse (error, "a string has a backslash in it with which no escape begins");
    if (code == 0)
      return refuse (error, "a string has \\u0000 in it");
    if (is_surrogate && (code >= 0xdc00 || code_of_escape (p + 6) - 0xdc00 >= 0x400))
      return refuse (error, "a string has \\u%04x in it, half a pair of surrogates", code);
    p += is_surrogate ? 12 : *p == '\\' ? 2 : 1;
  }
  return end + 1;
}

/* Checks the number from p to end. json-glib reads a number that is too large as infinity or as another number, and a number
 * that begins with 0 as octal. Its result for some signs and points is undefined. */
static const gchar *
check_number (const gchar * p, const gchar * end, GError ** error)
{
  const gboolean is_negative = *p == '-';
  const gchar *const digits = p + is_negative;
  const gchar *rest = digits + strspn (digits, "0123456789");
  const gboolean is_whole = rest == end;

  if (rest == digits || (*digits == '0' && rest > digits + 1))
    return refuse (error, "a number has no digit in front, or a 0 before others");
  if (*rest == '.') {
    const gsize n = strspn (rest + 1, "0123456789");

    if (n == 0)
      return refuse (error, "a number has no digit behind its point");
    rest += 1 + n;
  }
  if (*rest == 'e' || *rest == 'E') {
    rest += 1 + (rest[1] == '+' || rest[1] == '-');
    rest += strspn (rest, "0123456789");
  }
  if (rest < end || !g_ascii_isdigit (rest[-1]) || g_ascii_isalpha (*rest))
    return refuse (error, "%.*s is no number", (gint) MIN (end - p + g_ascii_isalpha (*end), 40), p);
  if (is_whole ? g_ascii_strtoull (digits, NULL, 10) <= (guint64) G_MAXINT64 + is_negative
      : isfinite (g_ascii_strtod (p, NULL)))
    return end;
  return refuse (error, "the number %.*s is too large", (gint) MIN (end - p, 40), p);
}

/* Checks the item that begins at p, which is no space. */
static const gchar *
check_token (const gchar * p, const gchar * end, guint * depth, GError ** error)
{
  if (*p == '"')
    return check_string (p + 1, gst_ccl_json_skip_string (p, end) - 1, error);
  if (g_ascii_isdigit (*p) || strchr ("+-.", *p))
    return check_number (p, p + strspn (p, "0123456789eE+-."), error);
  if (*p == '[' || *p == '{') {
    if (++*depth > MAX_DEPTH)
      return refuse (error, "nested deeper than %u levels", MAX_DEPTH);
  } else if (*p == ']' || *p == '}') {
    --*depth;
  } else if (g_ascii_ispunct (*p) && !strchr (":,", *p)) {
    return refuse (error, "JSON has %c in strings only", *p);
  }
  return p + 1;
}

/* json-glib accepts more than JSON: comments, strings in single quotation marks, numbers to other bases, several values in a
 * row. All of these are refused here. So this function and json-glib read the remaining texts in the same way. */
gboolean
gst_ccl_json_check (const gchar * text, GError ** error)
{
  const gchar *const end = text + strlen (text);
  gboolean has_begun = FALSE;
  guint depth = 0, line = 1;

  for (const gchar * p = text; p < end;) {
    if (g_ascii_isspace (*p)) {
      line += *p++ == '\n';
      continue;
    }
    if (depth > 0 || (!has_begun && *p == '{'))
      p = check_token (p, end, &depth, error);
    else
      p = refuse (error, has_begun ? "something follows after its end" : "not an object, in curly brackets");
    has_begun = TRUE;
    if (!p) {
      g_prefix_error (error, "line %u: ", line);
      return FALSE;
    }
  }
  return TRUE;
}

JsonNode *
gst_ccl_json_parse (const gchar * text, GError ** error)
{
  JsonParser *parser;
  JsonNode *root = NULL;

  if (!gst_ccl_json_check (text, error))
    return NULL;
  parser = json_parser_new ();
  if (json_parser_load_from_data (parser, text, -1, error)) {
    root = json_parser_steal_root (parser);
    if (!root || !JSON_NODE_HOLDS_OBJECT (root)) {
      g_clear_pointer (&root, json_node_unref);
      g_set_error (error, JSON_PARSER_ERROR, JSON_PARSER_ERROR_PARSE, "not a JSON object, such as {\"site\":\"A\"}");
    }
  }
  g_object_unref (parser);
  return root;
}
