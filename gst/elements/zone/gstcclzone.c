/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/**
 * SECTION:element-cclzone
 * @title: cclzone
 * @short_description: says which blobs are in which zones, which objects enter, leave, stay and cross
 *
 * Compares the blobs of each frame with polygons and lines that the user names (JSON text in #cclzone:zones, or a file
 * in #cclzone:config; docs/zones.md describes it). Pictures are not touched: any format in any memory passes.
 *
 * - each #GstCclBlob gets the zones it is in, and each buffer a #GstCclZoneMeta with the zones and their counts;
 *   cclmeta2json writes both
 * - the element posts messages named "ccl-zone". An object enters or leaves a polygon, stays in one for its dwell time,
 *   or crosses a line. Objects need tracks, so put ccltrack upstream.
 *
 * The fields of a message:
 *
 * - event: enter, leave, dwell or cross
 * - zone: its name
 * - track-id
 * - inside: number of objects in the polygon now
 * - x, y: pixels of the frame
 * - duration (leave and dwell): time inside, nanoseconds
 * - direction (cross; leave and dwell where the zone has one): forward or backward
 * - timestamp, running-time, stream-time: nanoseconds
 *
 * ## People who cross a line
 * |[
 * gst-launch-1.0 -m filesrc location=video.avi ! decodebin ! videoconvert ! cclmotion ! ccllabel mask-source=mask-meta
 *     min-area=200 ! ccltrack !
 *     cclzone zones='{"units":"relative","zones":[{"name":"gate","line":[[0.5,0],[0.5,1]]}]}' ! fakesink
 * ]|
 */

#include "gstcclzoneprivate.h"

#include <string.h>

#include "base/gstccldocument.h"
#include "base/gstcclenums.h"
#include "base/gstcclmetas.h"
#include "base/gstcclpropertyrow.h"
#include "base/gstccltime.h"
#include "zone/gstccltrackplaces.h"

GST_DEBUG_CATEGORY (gst_ccl_zone_debug);
#define GST_CAT_DEFAULT gst_ccl_zone_debug

static GstStaticPadTemplate sink_template = GST_STATIC_PAD_TEMPLATE ("sink", GST_PAD_SINK, GST_PAD_ALWAYS,
    GST_STATIC_CAPS ("video/x-raw(ANY)"));
static GstStaticPadTemplate src_template = GST_STATIC_PAD_TEMPLATE ("src", GST_PAD_SRC, GST_PAD_ALWAYS,
    GST_STATIC_CAPS ("video/x-raw(ANY)"));

enum
{
  PROP_0,
  PROP_ZONES,
  PROP_CONFIG,
  PROP_EVALUATION_POINT,
  PROP_POST_MESSAGES,
  PROP_MARGIN,
  PROP_UNSEEN_TIMEOUT,
  PROP_STATS,
  N_PROPERTIES,
};

enum
{
  SIGNAL_RELOAD,
  N_SIGNALS,
};

static GParamSpec *properties[N_PROPERTIES];
static guint signals[N_SIGNALS];

#define DEFAULT_UNSEEN_TIMEOUT GST_SECOND
#define DEFAULT_MARGIN 0.1

#define gst_cclzone_parent_class parent_class
G_DEFINE_TYPE_WITH_CODE (GstCclzone, gst_cclzone, GST_TYPE_BASE_TRANSFORM,
    GST_DEBUG_CATEGORY_INIT (gst_ccl_zone_debug, "cclzone", 0, "zones, lines and who is there"));
GST_ELEMENT_REGISTER_DEFINE (cclzone, "cclzone", GST_RANK_NONE, GST_TYPE_CCLZONE);

/* ---------------------------------------------------------------- one frame */

static void
take_time (GstCclzone * self, GstBuffer * buffer)
{
  const GstClockTime running_time = gst_ccl_running_time (GST_BASE_TRANSFORM (self), GST_BUFFER_PTS (buffer));

  self->now = GST_CLOCK_TIME_IS_VALID (running_time) ? running_time : self->now + self->frame_duration;
}

/* One meta has all zones of a frame, those of elements before first. FALSE: no memory for them. */
static gboolean
attach_zones (GstCclzone * self, GstBuffer * buffer, GstCclZoneMeta * before)
{
  const guint n = MIN (self->n_zones, GST_CCL_MAX_ZONES - self->n_before);
  GstCclZone zones[GST_CCL_MAX_ZONES];

  if (n < self->n_zones && !self->warned_of_number)
    GST_ELEMENT_WARNING (self, RESOURCE, SETTINGS, ("A frame has at most %d zones: %u of these are left out.",
            GST_CCL_MAX_ZONES, self->n_zones - n), ("A cclzone before this one has %u.", self->n_before));
  self->warned_of_number |= n < self->n_zones;
  if (self->n_before > 0)
    memcpy (zones, before->zones, self->n_before * sizeof *zones);
  memcpy (zones + self->n_before, self->zones, n * sizeof *zones);
  if (!gst_buffer_add_ccl_zone_meta (buffer, zones, self->n_before + n))
    return FALSE;
  if (before)
    gst_buffer_remove_meta (buffer, &before->meta);
  return TRUE;
}

static GstFlowReturn
fail_without_memory (GstCclzone * self, const gchar * what)
{
  GST_ELEMENT_ERROR (self, RESOURCE, NO_SPACE_LEFT, ("No memory for the %s of a frame.", what), (NULL));
  self->buffer = NULL;
  return GST_FLOW_ERROR;
}

static GstFlowReturn
gst_cclzone_transform_ip (GstBaseTransform * transform, GstBuffer * buffer)
{
  GstCclzone *const self = GST_CCLZONE (transform);
  const gint64 begin = g_get_monotonic_time ();
  GstCclBlobMeta *const meta = gst_buffer_get_ccl_blob_meta (buffer);
  GstCclZoneMeta *const before = gst_buffer_get_ccl_zone_meta (buffer);
  GstClockTime unseen_timeout;
  gboolean centroid;
  gdouble margin;

  GST_OBJECT_LOCK (self);
  if (self->next_set) {
    gst_cclzone_install_set (self, g_steal_pointer (&self->next_set));
    self->is_placed = FALSE;
  }
  centroid = self->evaluation_point == GST_CCL_EVALUATION_CENTROID;
  margin = self->margin;
  unseen_timeout = self->unseen_timeout;
  GST_OBJECT_UNLOCK (self);

  gst_cclzone_warn_of_places (self);
  self->buffer = buffer;
  self->n_before = before ? MIN (before->n_zones, GST_CCL_MAX_ZONES) : 0;
  take_time (self, buffer);
  if (meta && self->n_zones > 0 && gst_ccl_blobs_are_analysed (meta)
      && !gst_cclzone_check_blobs (self, meta, centroid, margin))
    return fail_without_memory (self, "blobs");
  gst_cclzone_give_hints (self, meta);
  if (gst_ccl_blobs_are_analysed (meta))
    ccl_zone_watch_end_frame (self->watch, self->now, unseen_timeout);
  if (self->n_zones > 0 && !attach_zones (self, buffer, before))
    return fail_without_memory (self, "zones");
  self->buffer = NULL;

  GST_OBJECT_LOCK (self);
  self->n_frames++;
  gst_ccl_min_avg_max_add (&self->host, g_get_monotonic_time () - begin);
  GST_OBJECT_UNLOCK (self);
  return GST_FLOW_OK;
}

static gboolean
gst_cclzone_set_caps (GstBaseTransform * transform, GstCaps * in_caps, GstCaps * out_caps)
{
  GstCclzone *const self = GST_CCLZONE (transform);
  const GstStructure *const structure = gst_caps_get_structure (in_caps, 0);
  const guint old_width = self->width, old_height = self->height;
  gint width = 0, height = 0, fps_n = 0, fps_d = 1;
  gint same[GST_CCL_MAX_ZONES];

  (void) out_caps;
  gst_structure_get_int (structure, "width", &width);
  gst_structure_get_int (structure, "height", &height);
  gst_structure_get_fraction (structure, "framerate", &fps_n, &fps_d);
  self->frame_duration = gst_ccl_frames_duration (1, fps_n, fps_d);
  for (guint i = 0; i < G_N_ELEMENTS (same); i++)
    same[i] = (gint) i;
  GST_OBJECT_LOCK (self);
  self->is_placed &= self->width == (guint) width && self->height == (guint) height;
  self->width = width;
  self->height = height;
  if (old_width && old_height)
    ccl_zone_watch_scale (self->watch, width / (gdouble) old_width, height / (gdouble) old_height);
  gst_cclzone_place_zones (self, same);
  GST_OBJECT_UNLOCK (self);
  return TRUE;
}

static gboolean
gst_cclzone_sink_event (GstBaseTransform * transform, GstEvent * event)
{
  if (GST_EVENT_TYPE (event) == GST_EVENT_FLUSH_STOP || GST_EVENT_TYPE (event) == GST_EVENT_STREAM_START
      || gst_event_has_name (event, GST_CCL_TRACKS_RESET_EVENT))
    gst_cclzone_forget_objects (GST_CCLZONE (transform));
  return GST_BASE_TRANSFORM_CLASS (parent_class)->sink_event (transform, event);
}

static void
clear_counts (GstCclzone * self)
{
  GST_OBJECT_LOCK (self);
  for (guint i = 0; i < self->n_zones; i++)
    self->zones[i].n_inside = self->zones[i].n_forward = self->zones[i].n_backward = 0;
  self->n_frames = self->n_events = 0;
  self->host = (GstCclMinAvgMax) { 0 };
  GST_OBJECT_UNLOCK (self);
}

static gboolean
gst_cclzone_stop (GstBaseTransform * transform)
{
  GstCclzone *const self = GST_CCLZONE (transform);

  GST_OBJECT_LOCK (self);
  self->running = FALSE;
  GST_OBJECT_UNLOCK (self);
  return TRUE;
}

static gboolean
gst_cclzone_start (GstBaseTransform * transform)
{
  GstCclzone *const self = GST_CCLZONE (transform);
  GError *error = NULL;
  GstCclZoneSet *const set = gst_cclzone_read_set (self, &error);

  ccl_zone_watch_forget (self->watch);
  clear_counts (self);
  self->tracked = self->is_placed = self->warned_of_number = FALSE;
  self->n_without_zones = self->n_without_blobs = self->n_without_tracks = self->n_without_classes = 0;
  self->now = 0;
  if (set) {
    gst_cclzone_take_set (self, set, TRUE);
    return TRUE;
  }
  GST_ELEMENT_ERROR (self, RESOURCE, SETTINGS, ("The zones cannot be read: %s", error->message),
      ("They are JSON such as {\"zones\":[{\"name\":\"door\",\"polygon\":[[0,0],[90,0],[90,90]]}]}: see "
          "docs/zones.md."));
  g_error_free (error);
  gst_cclzone_stop (transform);
  return FALSE;
}

/* ---------------------------------------------------------------- properties and signals */

static gboolean
gst_cclzone_reload (GstCclzone * self)
{
  GError *error = NULL;
  GstCclZoneSet *set;
  gchar *path;

  GST_OBJECT_LOCK (self);
  path = g_strdup (self->config);
  GST_OBJECT_UNLOCK (self);
  if (!path)
    return FALSE;
  set = gst_ccl_zone_set_new_from_file (path, &error);
  g_free (path);
  return gst_cclzone_change_set (self, set, error);
}

static void
set_zones (GstCclzone * self, const gchar * text)
{
  GError *error = NULL;
  GstCclZoneSet *set;

  /* Before it is parsed: a start meanwhile reads it, or gives way to what comes of it. */
  GST_OBJECT_LOCK (self);
  g_free (self->zones_text);
  self->zones_text = g_strdup (text);
  GST_OBJECT_UNLOCK (self);
  set = gst_cclzone_set_of_text (text, &error);
  gst_cclzone_change_set (self, set, error);
}

/* Properties that are plain members. */
static const GstCclPropertyRow rows[N_PROPERTIES] = {
  [PROP_EVALUATION_POINT] = GST_CCL_PROPERTY_ROW (GstCclzone, evaluation_point),
  [PROP_POST_MESSAGES] = GST_CCL_PROPERTY_ROW (GstCclzone, post_messages),
  [PROP_MARGIN] = GST_CCL_PROPERTY_ROW (GstCclzone, margin),
  [PROP_UNSEEN_TIMEOUT] = GST_CCL_PROPERTY_ROW (GstCclzone, unseen_timeout),
};

static void
gst_cclzone_set_property (GObject * object, guint id, const GValue * value, GParamSpec * pspec)
{
  GstCclzone *const self = GST_CCLZONE (object);

  switch (id) {
    case PROP_ZONES:
      set_zones (self, g_value_get_string (value));
      break;
    case PROP_CONFIG:
      GST_OBJECT_LOCK (self);
      g_free (self->config);
      self->config = g_value_dup_string (value);
      GST_OBJECT_UNLOCK (self);
      break;
    default:
      GST_OBJECT_LOCK (self);
      if (!gst_ccl_property_row_set (self, &rows[id], value))
        G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
      GST_OBJECT_UNLOCK (self);
  }
}

static void
append_structure (GValue * array, GstStructure * structure)
{
  GValue value = G_VALUE_INIT;

  g_value_init (&value, GST_TYPE_STRUCTURE);
  g_value_take_boxed (&value, structure);
  gst_value_array_append_and_take_value (array, &value);
}

static GstStructure *
create_stats (GstCclzone * self)
{
  GstStructure *structure = gst_structure_new ("cclzone-stats",
      "frames", G_TYPE_UINT64, self->n_frames, "events", G_TYPE_UINT64, self->n_events, NULL);
  GValue array = G_VALUE_INIT;

  g_value_init (&array, GST_TYPE_ARRAY);
  for (guint i = 0; i < self->n_zones; i++)
    append_structure (&array, gst_structure_new ("zone",
            "name", G_TYPE_STRING, self->zones[i].name,
            "inside", G_TYPE_UINT, self->zones[i].n_inside,
            "forward", G_TYPE_UINT64, self->zones[i].n_forward,
            "backward", G_TYPE_UINT64, self->zones[i].n_backward, NULL));
  gst_structure_take_value (structure, "zones", &array);
  gst_ccl_min_avg_max_host_to_structure (&self->host, structure);
  return structure;
}

static void
gst_cclzone_get_property (GObject * object, guint id, GValue * value, GParamSpec * pspec)
{
  GstCclzone *const self = GST_CCLZONE (object);

  GST_OBJECT_LOCK (self);
  switch (id) {
    case PROP_ZONES:
      g_value_set_string (value, self->zones_text);
      break;
    case PROP_CONFIG:
      g_value_set_string (value, self->config);
      break;
    case PROP_STATS:
      g_value_take_boxed (value, create_stats (self));
      break;
    default:
      if (!gst_ccl_property_row_get (self, &rows[id], value))
        G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
  }
  GST_OBJECT_UNLOCK (self);
}

static void
install_properties (GObjectClass * klass)
{
  const GParamFlags playing = G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS | GST_PARAM_MUTABLE_PLAYING;

  properties[PROP_ZONES] = g_param_spec_string ("zones", "Zones",
      "Zones as JSON, for example {\"units\":\"relative\",\"zones\":[{\"name\":\"door\","
      "\"polygon\":[[0,0],[0.2,0],[0.2,0.5]],\"dwell\":5},{\"name\":\"gate\",\"line\":[[0.5,0],[0.5,1]]}]}; "
      "see docs/zones.md", NULL, playing);
  properties[PROP_CONFIG] = g_param_spec_string ("config", "Configuration",
      "File with the same JSON, read at the start when zones is unset, and by the signal reload", NULL, playing);
  properties[PROP_EVALUATION_POINT] = g_param_spec_enum ("evaluation-point", "Evaluation point",
      "Point of an object that decides where the object is", GST_TYPE_CCL_EVALUATION_POINT, GST_CCL_EVALUATION_CENTROID,
      playing);
  properties[PROP_POST_MESSAGES] = g_param_spec_boolean ("post-messages", "Post messages",
      "Post element messages \"ccl-zone\" on the bus when an object enters, leaves, dwells or crosses", TRUE, playing);
  properties[PROP_MARGIN] = g_param_spec_double ("margin", "Margin",
      "Half the width of the band around lines and outlines, as a part of the object's height: an object has crossed "
      "once it has left the band on the other side (0 = no band)", 0, 10, DEFAULT_MARGIN, playing);
  properties[PROP_UNSEEN_TIMEOUT] = g_param_spec_uint64 ("unseen-timeout", "Unseen timeout",
      "Time out of sight after which a track has left, in nanoseconds", 0, G_MAXINT64, DEFAULT_UNSEEN_TIMEOUT, playing);
  properties[PROP_STATS] = g_param_spec_boxed ("stats", "Statistics",
      "Since the start: frames, events, zones (an array: name, inside, forward or entered, backward or "
      "left); " GST_CCL_HOST_TIME_FIELDS, GST_TYPE_STRUCTURE, G_PARAM_READABLE | G_PARAM_STATIC_STRINGS);
  g_object_class_install_properties (klass, N_PROPERTIES, properties);

  /**
   * GstCclzone::reload:
   *
   * Reads the file in #cclzone:config again. A mistake in the file gives a warning, and the zones stay as they are.
   *
   * Returns: whether the file was read
   */
  signals[SIGNAL_RELOAD] = g_signal_new_class_handler ("reload", G_TYPE_FROM_CLASS (klass),
      G_SIGNAL_RUN_LAST | G_SIGNAL_ACTION, G_CALLBACK (gst_cclzone_reload), NULL, NULL, NULL,
      G_TYPE_BOOLEAN, 0);
}

static void
gst_cclzone_finalize (GObject * object)
{
  GstCclzone *const self = GST_CCLZONE (object);

  gst_cclzone_clear_zones (self->zones, self->n_zones);
  g_clear_pointer (&self->set, gst_ccl_zone_set_free);
  g_clear_pointer (&self->next_set, gst_ccl_zone_set_free);
  g_free (self->zones_text);
  g_free (self->config);
  for (guint i = 0; i < GST_CCL_MAX_ZONES; i++)
    g_free (self->pixels[i]);
  ccl_zone_watch_free (self->watch);
  G_OBJECT_CLASS (parent_class)->finalize (object);
}

static void
gst_cclzone_class_init (GstCclzoneClass * klass)
{
  GObjectClass *const object = G_OBJECT_CLASS (klass);
  GstElementClass *const element = GST_ELEMENT_CLASS (klass);
  GstBaseTransformClass *const transform = GST_BASE_TRANSFORM_CLASS (klass);

  object->set_property = gst_cclzone_set_property;
  object->get_property = gst_cclzone_get_property;
  object->finalize = gst_cclzone_finalize;
  install_properties (object);

  gst_element_class_add_static_pad_template (element, &sink_template);
  gst_element_class_add_static_pad_template (element, &src_template);
  gst_element_class_set_static_metadata (element, "Blob zones", "Filter/Analyzer/Video",
      "Says which blobs are in which zones, and who enters, leaves, stays and crosses lines", "gst-ccl contributors");
  gst_ccl_element_class_set_document (element, "cclzone");

  transform->start = gst_cclzone_start;
  transform->stop = gst_cclzone_stop;
  transform->set_caps = gst_cclzone_set_caps;
  transform->sink_event = gst_cclzone_sink_event;
  transform->transform_ip = gst_cclzone_transform_ip;

  gst_type_mark_as_plugin_api (GST_TYPE_CCL_EVALUATION_POINT, 0);
}

static void
gst_cclzone_init (GstCclzone * self)
{
  self->post_messages = TRUE;
  self->margin = DEFAULT_MARGIN;
  self->unseen_timeout = DEFAULT_UNSEEN_TIMEOUT;
  self->watch = ccl_zone_watch_new (gst_cclzone_on_event, self);
  gst_base_transform_set_in_place (GST_BASE_TRANSFORM (self), TRUE);
}
