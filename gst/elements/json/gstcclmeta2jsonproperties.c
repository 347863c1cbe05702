/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* The properties of cclmeta2json. */

#include "gstcclmeta2jsonprivate.h"

#include "gstccljson.h"
#include "gstccljsonenums.h"
#include "base/gstcclpropertyrow.h"

enum
{
  PROP_0,
  PROP_SCHEMA,
  PROP_TIME,
  PROP_EMPTY_FRAMES,
  PROP_TRAILS,
  PROP_PRECISION,
  PROP_SOURCE_ID,
  PROP_TAGS,
  PROP_SUMMARY,
  PROP_EVENTS_ONLY,
  PROP_INTERVAL,
  PROP_ON_CHANGE,
  PROP_STATS,
  N_PROPERTIES,
};

#define DEFAULT_SCHEMA GST_CCL_JSON_SCHEMA_CCL
#define DEFAULT_TIME GST_CCL_JSON_TIME_AUTO
#define DEFAULT_EMPTY_FRAMES TRUE
#define DEFAULT_PRECISION -1

/* With wrong tags the element does not start. While it runs, wrong tags are refused and the old ones stay. */
static void
set_tags (GstCclMeta2Json * self, const gchar * text)
{
  GError *error = NULL;
  gchar *line = text && *text ? gst_ccl_json_tags (text, &error) : NULL;

  if (error && GST_BASE_TRANSFORM_SRC_PAD (self) && GST_PAD_IS_ACTIVE (GST_BASE_TRANSFORM_SRC_PAD (self))) {
    GST_ELEMENT_WARNING (self, LIBRARY, SETTINGS, ("Property tags cannot be used: %s", error->message),
        ("The tags set before are kept."));
    g_error_free (error);
    return;
  }
  GST_OBJECT_LOCK (self);
  g_free (self->tags);
  g_free (self->tags_line);
  g_clear_error (&self->tags_error);
  self->tags = g_strdup (text);
  self->tags_line = line;
  self->tags_error = error;
  GST_OBJECT_UNLOCK (self);
}

/* Properties that are plain members; `tags` is one that is only read so. */
static const GstCclPropertyRow rows[N_PROPERTIES] = {
  [PROP_SCHEMA] = GST_CCL_PROPERTY_ROW (GstCclMeta2Json, schema),
  [PROP_TIME] = GST_CCL_PROPERTY_ROW (GstCclMeta2Json, time),
  [PROP_EMPTY_FRAMES] = GST_CCL_PROPERTY_ROW (GstCclMeta2Json, empty_frames),
  [PROP_TRAILS] = GST_CCL_PROPERTY_ROW (GstCclMeta2Json, trails),
  [PROP_PRECISION] = GST_CCL_PROPERTY_ROW (GstCclMeta2Json, precision),
  [PROP_SOURCE_ID] = GST_CCL_PROPERTY_ROW (GstCclMeta2Json, source_id),
  [PROP_TAGS] = GST_CCL_PROPERTY_ROW (GstCclMeta2Json, tags),
  [PROP_SUMMARY] = GST_CCL_PROPERTY_ROW (GstCclMeta2Json, summary),
  [PROP_EVENTS_ONLY] = GST_CCL_PROPERTY_ROW (GstCclMeta2Json, events_only),
  [PROP_INTERVAL] = GST_CCL_PROPERTY_ROW (GstCclMeta2Json, thinning.interval),
  [PROP_ON_CHANGE] = GST_CCL_PROPERTY_ROW (GstCclMeta2Json, thinning.on_change),
};

static void
gst_ccl_meta2json_set_property (GObject * object, guint prop_id, const GValue * value, GParamSpec * pspec)
{
  GstCclMeta2Json *self = GST_CCL_META2JSON (object);

  if (prop_id == PROP_TAGS) {
    set_tags (self, g_value_get_string (value));
    return;
  }

  GST_OBJECT_LOCK (self);
  if (!gst_ccl_property_row_set (self, &rows[prop_id], value))
    G_OBJECT_WARN_INVALID_PROPERTY_ID (object, prop_id, pspec);
  GST_OBJECT_UNLOCK (self);

  if (prop_id == PROP_SCHEMA || prop_id == PROP_EVENTS_ONLY)
    gst_base_transform_reconfigure_src (GST_BASE_TRANSFORM (self));
}

static GstStructure *
create_stats (GstCclMeta2Json * self)
{
  const GstCclMeta2JsonStats *const stats = &self->stats;
  GstStructure *structure = gst_structure_new ("cclmeta2json-stats",
      "frames", G_TYPE_UINT64, stats->frames,
      "lines", G_TYPE_UINT64, stats->lines,
      "bytes", G_TYPE_UINT64, stats->bytes, NULL);

  gst_ccl_min_avg_max_host_to_structure (&stats->host, structure);
  return structure;
}

static void
gst_ccl_meta2json_get_property (GObject * object, guint prop_id, GValue * value, GParamSpec * pspec)
{
  GstCclMeta2Json *self = GST_CCL_META2JSON (object);

  GST_OBJECT_LOCK (self);
  if (prop_id == PROP_STATS)
    g_value_take_boxed (value, create_stats (self));
  else if (!gst_ccl_property_row_get (self, &rows[prop_id], value))
    G_OBJECT_WARN_INVALID_PROPERTY_ID (object, prop_id, pspec);
  GST_OBJECT_UNLOCK (self);
}

void
gst_ccl_meta2json_clear_settings (GstCclMeta2Json * self)
{
  g_free (self->source_id);
  g_free (self->tags);
  g_free (self->tags_line);
  g_clear_error (&self->tags_error);
}

static void
install_thinning (GObjectClass * gobject_class)
{
  const GParamFlags flags = GST_CCL_PARAM_PLAYING;

  g_object_class_install_property (gobject_class, PROP_EVENTS_ONLY, g_param_spec_boolean ("events-only", "Events only",
          "Write a line for each event of cclzone and cclmotion, and none for frames", FALSE, flags));
  g_object_class_install_property (gobject_class, PROP_INTERVAL, g_param_spec_uint64 ("interval", "Interval",
          "Minimum time from line to line of frames, in nanoseconds (0 = each frame has one)", 0, G_MAXINT64, 0,
          flags));
  g_object_class_install_property (gobject_class, PROP_ON_CHANGE, g_param_spec_boolean ("on-change", "On change",
          "Write a line only when the tracks or the counts of zones differ from those of the last line", FALSE, flags));
}

void
gst_ccl_meta2json_install_properties (GObjectClass * gobject_class)
{
  const GParamFlags flags = GST_CCL_PARAM_PLAYING;

  gobject_class->set_property = gst_ccl_meta2json_set_property;
  gobject_class->get_property = gst_ccl_meta2json_get_property;

  g_object_class_install_property (gobject_class, PROP_SCHEMA,
      g_param_spec_enum ("schema", "Schema", "Names and layout of the fields",
          GST_TYPE_CCL_JSON_SCHEMA, DEFAULT_SCHEMA, flags));
  g_object_class_install_property (gobject_class, PROP_TIME,
      g_param_spec_enum ("time", "Time", "Source of the field utc", GST_TYPE_CCL_JSON_TIME, DEFAULT_TIME, flags));
  g_object_class_install_property (gobject_class, PROP_EMPTY_FRAMES,
      g_param_spec_boolean ("empty-frames", "Empty frames", "Write a line for frames without blobs too",
          DEFAULT_EMPTY_FRAMES, flags));
  g_object_class_install_property (gobject_class, PROP_TRAILS, g_param_spec_boolean ("trails", "Trails",
          "Write the trail of each track (see history of ccltrack)", FALSE, flags));
  g_object_class_install_property (gobject_class, PROP_PRECISION, g_param_spec_int ("precision", "Precision",
          "Maximum number of digits after the decimal point in JSON (-1 = all, the exact value)", -1, 15,
          DEFAULT_PRECISION, flags));
  g_object_class_install_property (gobject_class, PROP_SOURCE_ID, g_param_spec_string ("source-id", "Source ID",
          "Name of the stream for the field source (unset = name of this element)", NULL, flags));
  g_object_class_install_property (gobject_class, PROP_TAGS, g_param_spec_string ("tags", "Tags",
          "JSON object for the field tags of every line, such as {\"site\":\"A\"} (unset = no such field)", NULL,
          flags));
  g_object_class_install_property (gobject_class, PROP_SUMMARY, g_param_spec_boolean ("summary", "Summary",
          "At the end print frames, time, objects and events on stderr", FALSE, flags));
  install_thinning (gobject_class);
  g_object_class_install_property (gobject_class, PROP_STATS, g_param_spec_boxed ("stats", "Statistics",
          "Since the start: frames, lines (written), bytes; " GST_CCL_HOST_TIME_FIELDS, GST_TYPE_STRUCTURE,
          GST_CCL_PARAM_READ_ONLY));
  gst_type_mark_as_plugin_api (GST_TYPE_CCL_JSON_SCHEMA, 0);
  gst_type_mark_as_plugin_api (GST_TYPE_CCL_JSON_TIME, 0);
}

void
gst_ccl_meta2json_init_settings (GstCclMeta2Json * self)
{
  self->schema = DEFAULT_SCHEMA;
  self->time = DEFAULT_TIME;
  self->empty_frames = DEFAULT_EMPTY_FRAMES;
  self->precision = DEFAULT_PRECISION;
}
