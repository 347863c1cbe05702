/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "gstcclmetricstext.h"
#include "gstcclmetricnames.h"

#include <string.h>

#define MICROSECONDS 1e-6

/* All lines of a metric stand together, below its description. */
typedef struct
{
  gchar *type;
  gchar *help;
  GString *lines;
} Family;

typedef struct
{
  GHashTable *families;         /* name: Family */
  GHashTable *series;           /* name and labels of each line */
  GString *labels;              /* of the present element, without braces */
  GString *info;                /* more labels, of its gstccl_element_info */
} Text;

static void
family_free (gpointer data)
{
  Family *const family = data;

  g_free (family->type);
  g_free (family->help);
  g_string_free (family->lines, TRUE);
  g_free (family);
}

/* Label values and descriptions escape in the same way, except for the quotation mark. */
static void
append_escaped (GString * text, const gchar * value)
{
  gchar *const valid = g_utf8_make_valid (value, -1);

  for (const gchar * c = valid; *c; c++)
    if (*c == '\n')
      g_string_append (text, "\\n");
    else if (*c == '\\' || *c == '"')
      g_string_append_printf (text, "\\%c", *c);
    else
      g_string_append_c (text, *c);
  g_free (valid);
}

static void
append_label (GString * text, const gchar * name, const gchar * value)
{
  if (text->len > 0)
    g_string_append_c (text, ',');
  g_string_append_printf (text, "%s=\"", name);
  append_escaped (text, value);
  g_string_append_c (text, '"');
}

static Family *
get_family (Text * text, const GstCclMetricName * name)
{
  Family *family = g_hash_table_lookup (text->families, name->name);

  if (!family) {
    family = g_new (Family, 1);
    *family = (Family) {
    .type = g_strdup (name->type),.help = g_strdup (name->help),.lines = g_string_new (NULL),};
    g_hash_table_insert (text->families, g_strdup (name->name), family);
  }
  return family;
}

/* `suffix`: of a summary; `more`: labels besides those of the element, or NULL. */
static void
add_line (Text * text, const GstCclMetricName * name, const gchar * suffix, const gchar * more, const gchar * value)
{
  Family *const family = get_family (text, name);
  gchar *const series = g_strdup_printf ("%s%s{%s%s%s}", name->name, suffix, text->labels->str,
      more && text->labels->len > 0 ? "," : "", more ? more : "");

  /* A field of another element may have taken the name, with another type. */
  if (!g_str_equal (family->type, name->type))
    g_free (series);
  else if (g_hash_table_add (text->series, series))
    g_string_append_printf (family->lines, "%s %s\n", series, value);
}

/* FALSE: no number. */
static gboolean
number_of_value (const GValue * value, gchar text[G_ASCII_DTOSTR_BUF_SIZE])
{
  GValue wide = G_VALUE_INIT;
  const GType type = G_VALUE_TYPE (value);
  gdouble number;

  if (type == G_TYPE_BOOLEAN)
    return g_strlcpy (text, g_value_get_boolean (value) ? "1" : "0", G_ASCII_DTOSTR_BUF_SIZE) > 0;
  if (type == G_TYPE_INT || type == G_TYPE_UINT || type == G_TYPE_INT64 || type == G_TYPE_UINT64 || type == G_TYPE_LONG
      || type == G_TYPE_ULONG) {
    gchar *const integer = g_strdup_value_contents (value);

    g_strlcpy (text, integer, G_ASCII_DTOSTR_BUF_SIZE);
    g_free (integer);
    return TRUE;
  }
  if (type != G_TYPE_DOUBLE && type != G_TYPE_FLOAT)
    return FALSE;
  g_value_init (&wide, G_TYPE_DOUBLE);
  g_value_transform (value, &wide);
  number = g_value_get_double (&wide);
  if (number != number)
    g_strlcpy (text, "NaN", G_ASCII_DTOSTR_BUF_SIZE);
  else if (number > G_MAXDOUBLE || number < -G_MAXDOUBLE)
    g_strlcpy (text, number > 0 ? "+Inf" : "-Inf", G_ASCII_DTOSTR_BUF_SIZE);
  else
    g_ascii_formatd (text, G_ASCII_DTOSTR_BUF_SIZE, "%.15g", number);
  return TRUE;
}

/* For a field that the tables do not have: its name, with "_" for each byte that the name of a metric cannot have. */
static GstCclMetricName
name_unknown (const gchar * field, gsize length, const gchar * suffix, const gchar * type)
{
  gchar *const part = g_strcanon (g_strndup (field, length), G_CSET_A_2_Z G_CSET_a_2_z G_CSET_DIGITS, '_');
  const GstCclMetricName unknown = {
    .name = g_strconcat ("gstccl_", part, suffix, NULL),.type = type,
    .help = g_strdup_printf ("Field %s of stats.", part),
  };

  g_free (part);
  return unknown;
}

static void
name_clear (GstCclMetricName * unknown)
{
  g_free ((gchar *) unknown->name);
  g_free ((gchar *) unknown->help);
}

/* Without a statement about its type: a counter and a gauge look the same. */
static void
add_unknown (Text * text, const gchar * field, const gchar * value)
{
  GstCclMetricName unknown = name_unknown (field, strlen (field), "", "untyped");

  add_line (text, &unknown, "", NULL, value);
  name_clear (&unknown);
}

/* The sum and the number make a summary; the smallest and the largest value are gauges; the average follows from them. */
static void
add_time_part (Text * text, const GstCclMetricName * name, const gchar * part, const GValue * value)
{
  const gdouble time = G_VALUE_HOLDS_DOUBLE (value) ? g_value_get_double (value) : -1;
  gchar number[G_ASCII_DTOSTR_BUF_SIZE];

  if (g_str_equal (part, "count")) {
    if (number_of_value (value, number))
      add_line (text, name, "_count", NULL, number);
    return;
  }
  if (time < 0 || g_str_equal (part, "avg"))
    return;
  g_ascii_formatd (number, sizeof number, "%.15g", time * MICROSECONDS);
  if (g_str_equal (part, "sum")) {
    add_line (text, name, "_sum", NULL, number);
  } else {
    const gsize length = strlen (name->name) - strlen ("_seconds");
    gchar *const gauge = g_strdup_printf ("%.*s_%s_seconds", (gint) length, name->name, part);
    gchar *const help =
        g_strdup_printf ("%s The %s since the start.", name->help, part[1] == 'i' ? "smallest" : "largest");
    const GstCclMetricName extreme = {.name = gauge,.type = "gauge",.help = help };

    add_line (text, &extreme, "", NULL, number);
    g_free (gauge);
    g_free (help);
  }
}

/* NAME-us-PART. FALSE: the field is no such. */
static gboolean
add_time (Text * text, const gchar * field, const GValue * value)
{
  static const gchar *const parts[] = { "min", "avg", "max", "sum", "count", NULL };
  const gchar *const us = g_strrstr (field, "-us-");
  const GstCclMetricName *known;

  if (!us || us == field || !g_strv_contains (parts, us + 4))
    return FALSE;
  known = gst_ccl_metric_name_of_time (field, us - field);
  if (known) {
    add_time_part (text, known, us + 4, value);
  } else {
    GstCclMetricName unknown = name_unknown (field, us - field, "_seconds", "summary");

    add_time_part (text, &unknown, us + 4, value);
    name_clear (&unknown);
  }
  return TRUE;
}

static void
add_zone (Text * text, const GstStructure * zone)
{
  const gchar *const zone_name = gst_structure_get_string (zone, "name");
  GString *const label = g_string_new (NULL);
  gchar number[G_ASCII_DTOSTR_BUF_SIZE];

  append_label (label, "zone", zone_name ? zone_name : "");
  for (gint i = 0; i < gst_structure_n_fields (zone); i++) {
    const gchar *const field = gst_structure_nth_field_name (zone, i);
    const GstCclMetricName *const name = gst_ccl_metric_name_of_zone_field (field);

    if (name && number_of_value (gst_structure_get_value (zone, field), number))
      add_line (text, name, "", label->str, number);
  }
  g_string_free (label, TRUE);
}

static void
add_zones (Text * text, const GValue * zones)
{
  for (guint i = 0; i < gst_value_array_get_size (zones); i++) {
    const GValue *const zone = gst_value_array_get_value (zones, i);

    if (GST_VALUE_HOLDS_STRUCTURE (zone))
      add_zone (text, gst_value_get_structure (zone));
  }
}

static void
add_field (Text * text, const gchar * field, const GValue * value)
{
  const GstCclMetricName *const name = gst_ccl_metric_name_of_field (field);
  const gchar *const label = gst_ccl_metric_label_of_field (field);
  gchar number[G_ASCII_DTOSTR_BUF_SIZE];

  if (label && G_VALUE_HOLDS_STRING (value))
    append_label (text->info, label, g_value_get_string (value) ? g_value_get_string (value) : "");
  else if (g_str_equal (field, "zones") && GST_VALUE_HOLDS_ARRAY (value))
    add_zones (text, value);
  else if (!add_time (text, field, value) && number_of_value (value, number)) {
    if (name)
      add_line (text, name, "", NULL, number);
    else
      add_unknown (text, field, number);
  }
}

static void
add_source (Text * text, const GstCclMetricsSource * source, GHashTable * seen)
{
  static const GstCclMetricName info = {
    .name = "gstccl_element_info",.type = "gauge",.help = "Always 1; how the element runs.",
  };
  gchar *element = NULL;

  /* Prometheus tells elements apart by these labels alone. */
  for (guint i = 1; !element; i++) {
    element = i > 1 ? g_strdup_printf ("%s#%u", source->element, i) : g_strdup (source->element);
    g_string_truncate (text->labels, 0);
    append_label (text->labels, "element", element);
    append_label (text->labels, "factory", source->factory);
    append_label (text->labels, "pipeline", source->pipeline);
    if (!g_hash_table_add (seen, g_strdup (text->labels->str)))
      g_clear_pointer (&element, g_free);
  }
  g_string_truncate (text->info, 0);
  for (gint i = 0; i < gst_structure_n_fields (source->stats); i++) {
    const gchar *const field = gst_structure_nth_field_name (source->stats, i);

    add_field (text, field, gst_structure_get_value (source->stats, field));
  }
  add_line (text, &info, "", text->info->len > 0 ? text->info->str : NULL, "1");
  g_free (element);
}

static void
add_version (Text * text, const gchar * version)
{
  static const GstCclMetricName build = {
    .name = "gstccl_build_info",.type = "gauge",.help = "Always 1; the versions.",
  };
  guint major, minor, micro, nano;
  gchar *gstreamer;

  gst_version (&major, &minor, &micro, &nano);
  gstreamer = g_strdup_printf ("%u.%u.%u", major, minor, micro);

  append_label (text->labels, "version", version);
  append_label (text->labels, "gstreamer", gstreamer);
  add_line (text, &build, "", NULL, "1");
  g_free (gstreamer);
}

static GString *
join_families (GHashTable * families)
{
  GString *const all = g_string_new (NULL);
  GList *const names = g_list_sort (g_hash_table_get_keys (families), (GCompareFunc) strcmp);

  for (const GList * name = names; name; name = name->next) {
    const Family *const family = g_hash_table_lookup (families, name->data);

    g_string_append_printf (all, "# HELP %s %s\n# TYPE %s %s\n", (const gchar *) name->data, family->help,
        (const gchar *) name->data, family->type);
    g_string_append_len (all, family->lines->str, family->lines->len);
  }
  g_list_free (names);
  return all;
}

GString *
gst_ccl_metrics_text (const GstCclMetricsSource * const *sources, guint n, const gchar * version)
{
  Text text = {
    .families = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, family_free),
    .series = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL),
    .labels = g_string_new (NULL),.info = g_string_new (NULL),
  };
  GHashTable *const seen = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  GString *all;

  add_version (&text, version);
  for (guint i = 0; i < n; i++)
    add_source (&text, sources[i], seen);
  all = join_families (text.families);
  g_hash_table_unref (seen);
  g_hash_table_unref (text.series);
  g_hash_table_unref (text.families);
  g_string_free (text.labels, TRUE);
  g_string_free (text.info, TRUE);
  return all;
}

void
gst_ccl_metrics_source_free (GstCclMetricsSource * source)
{
  g_free (source->pipeline);
  g_free (source->element);
  g_free (source->factory);
  gst_clear_structure (&source->stats);
  g_free (source);
}
