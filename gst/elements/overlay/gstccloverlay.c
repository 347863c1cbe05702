/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/**
 * SECTION:element-ccloverlay
 * @title: ccloverlay
 * @short_description: draws blobs, tracks and zones
 *
 * Draws the metadata of ccllabel, ccltrack and cclzone: boxes, ellipses, identities, trails, zones and counts. On
 * frames without blobs it draws the regions of interest of any other element. The size of lines and letters depends on
 * the frame. Lines have a dark edge and texts a dark background, and texts do not overlap. The box of a predicted track
 * is dashed, that of an unconfirmed track is faint, and that of several tracks is double.
 *
 * Some elements downstream draw overlays (GstVideoOverlayCompositionMeta: glimagesink, ximagesink, many hardware
 * sinks). Then the drawing is attached to the picture, in any memory, and the pixels do not change. Otherwise it is
 * blended into pictures in system memory. If neither is possible, the drawing is attached for an element further
 * downstream, and the element posts one warning.
 *
 * Only the drawn areas take time, not the whole frame.
 *
 * ## Moving objects, with identities and trails
 * |[
 * gst-launch-1.0 filesrc location=video.avi ! decodebin ! videoconvert ! cclmotion ! ccllabel mask-source=mask-meta
 *     min-area=200 ! ccltrack ! ccloverlay ! videoconvert ! autovideosink
 * ]|
 * ## Shape and size of every blob of a mask
 * |[
 * gst-launch-1.0 videotestsrc pattern=ball ! video/x-raw,format=I420 ! ccllabel threshold=127 !
 *     ccloverlay draw=ellipse+centroid+area+count ! videoconvert ! autovideosink
 * ]|
 */

#include "gstccloverlayprivate.h"

#include <string.h>

#include <gst/video/video.h>
#include <gst/ccl/ccl.h>

#include "base/gstcclcrop.h"
#include "base/gstccldocument.h"
#include "base/gstcclenums.h"
#include "base/gstcclpropertyrow.h"
#include "base/gstccltime.h"

GST_DEBUG_CATEGORY (gst_ccl_overlay_debug);
#define GST_CAT_DEFAULT gst_ccl_overlay_debug

static GstStaticPadTemplate sink_template = GST_STATIC_PAD_TEMPLATE ("sink", GST_PAD_SINK, GST_PAD_ALWAYS,
    GST_STATIC_CAPS ("video/x-raw(ANY)"));
static GstStaticPadTemplate src_template = GST_STATIC_PAD_TEMPLATE ("src", GST_PAD_SRC, GST_PAD_ALWAYS,
    GST_STATIC_CAPS ("video/x-raw(ANY)"));

#define DEFAULT_DRAW (GST_CCL_DRAW_BOX | GST_CCL_DRAW_ID | GST_CCL_DRAW_TRAIL | GST_CCL_DRAW_ZONE)
#define DEFAULT_COLOUR 0xff00ff00
#define DEFAULT_TRAIL_LENGTH 40
#define MAX_TRAIL_LENGTH 1024

enum
{
  PROP_0,
  PROP_DRAW,
  PROP_COLOR_BY,
  PROP_COLOR,
  PROP_LINE_WIDTH,
  PROP_FONT_DESC,
  PROP_TRAIL_LENGTH,
  PROP_EXPIRE,
  PROP_STATS,
  N_PROPERTIES,
};

static GParamSpec *properties[N_PROPERTIES];

#define gst_ccl_overlay_parent_class parent_class
G_DEFINE_TYPE_WITH_CODE (GstCclOverlay, gst_ccl_overlay, GST_TYPE_BASE_TRANSFORM,
    GST_DEBUG_CATEGORY_INIT (gst_ccl_overlay_debug, "ccloverlay", 0, "drawing of blobs"));
GST_ELEMENT_REGISTER_DEFINE (ccloverlay, "ccloverlay", GST_RANK_NONE, GST_TYPE_CCL_OVERLAY);

/* ---------------------------------------------------------------- caps */

static GstCaps *
gst_ccl_overlay_transform_caps (GstBaseTransform * transform, GstPadDirection direction, GstCaps * caps,
    GstCaps * filter)
{
  GstCclOverlay *const self = GST_CCL_OVERLAY (transform);
  GstCaps *const all = gst_ccl_overlay_other_caps (direction, caps, g_atomic_int_get (&self->is_refused));
  GstCaps *result;

  if (!filter)
    return all;
  result = gst_caps_intersect_full (filter, all, GST_CAPS_INTERSECT_FIRST);
  gst_caps_unref (all);
  return result;
}

static gboolean
gst_ccl_overlay_set_caps (GstBaseTransform * transform, GstCaps * in_caps, GstCaps * out_caps)
{
  GstCclOverlay *const self = GST_CCL_OVERLAY (transform);
  const guint width = GST_VIDEO_INFO_WIDTH (&self->info), height = GST_VIDEO_INFO_HEIGHT (&self->info);

  if (!gst_video_info_from_caps (&self->info, in_caps)) {
    const GstStructure *const structure = gst_caps_get_structure (in_caps, 0);

    gst_video_info_init (&self->info);
    gst_structure_get_int (structure, "width", &self->info.width);
    gst_structure_get_int (structure, "height", &self->info.height);
  }
  if (width != (guint) GST_VIDEO_INFO_WIDTH (&self->info) || height != (guint) GST_VIDEO_INFO_HEIGHT (&self->info)) {
    g_clear_pointer (&self->canvas, gst_ccl_canvas_free);
    self->no_canvas = FALSE;
    gst_clear_buffer (&self->last);
  }
  g_atomic_int_set (&self->is_negotiated, FALSE);
  return TRUE;
}

/* Coordinates of boxes are relative to the corner of the caps, so upstream must crop before this element. */
static gboolean
gst_ccl_overlay_propose_allocation (GstBaseTransform * transform, GstQuery * decide_query, GstQuery * query)
{
  const gboolean ok = GST_BASE_TRANSFORM_CLASS (parent_class)->propose_allocation (transform, decide_query, query);

  gst_ccl_crop_refuse (query);
  return ok;
}

/* ---------------------------------------------------------------- drawing */

/* Keeps the metadata that are needed to draw the same again, in a buffer without memory. */
static void
remember (GstCclOverlay * self, GstBuffer * buffer)
{
  const GstCclBlobMeta *const meta = gst_buffer_get_ccl_blob_meta (buffer);
  const GstCclZoneMeta *const zones = gst_buffer_get_ccl_zone_meta (buffer);

  gst_clear_buffer (&self->last);
  self->last = gst_buffer_new ();
  GST_BUFFER_PTS (self->last) = GST_BUFFER_PTS (buffer);
  if (meta && meta->list) {
    GstCclBlobMeta *const copy = gst_buffer_add_ccl_blob_meta (self->last, meta->list, meta->width, meta->height);

    memcpy (copy->matrix, meta->matrix, sizeof copy->matrix);
  }
  if (zones)
    gst_buffer_add_ccl_zone_meta (self->last, zones->zones, zones->n_zones);
}

static gboolean
has_own_metas (GstBuffer * buffer)
{
  const GstCclBlobMeta *const meta = gst_buffer_get_ccl_blob_meta (buffer);

  if (meta)
    return !(meta->flags & GST_CCL_BLOB_META_FLAG_SKIPPED);
  return gst_buffer_get_meta (buffer, GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE) != NULL;
}

/* The metadata to draw: the frame's own, or the last ones until they expire. */
static GstBuffer *
choose_metas (GstCclOverlay * self, GstBuffer * buffer, guint64 expire)
{
  if (has_own_metas (buffer)) {
    if (expire > 0)
      remember (self, buffer);
    return buffer;
  }
  if (expire > 0 && self->last && GST_BUFFER_PTS_IS_VALID (buffer) && GST_BUFFER_PTS_IS_VALID (self->last)
      && GST_BUFFER_PTS (buffer) >= GST_BUFFER_PTS (self->last)
      && GST_BUFFER_PTS (buffer) - GST_BUFFER_PTS (self->last) <= expire)
    return self->last;
  return buffer;
}

/* The canvas has the size of the caps or, if they have none, the size in the metadata of the blobs. */
static GstCclCanvas *
get_canvas (GstCclOverlay * self, GstBuffer * metas)
{
  const GstCclBlobMeta *const meta = gst_buffer_get_ccl_blob_meta (metas);
  guint width = GST_VIDEO_INFO_WIDTH (&self->info), height = GST_VIDEO_INFO_HEIGHT (&self->info);

  if ((width == 0 || height == 0) && meta) {
    width = meta->width;
    height = meta->height;
  }
  if (self->canvas && (gst_ccl_canvas_get_width (self->canvas) != width
          || gst_ccl_canvas_get_height (self->canvas) != height)) {
    g_clear_pointer (&self->canvas, gst_ccl_canvas_free);
    self->no_canvas = FALSE;
  }
  if (!self->canvas && !self->no_canvas && width > 0 && height > 0) {
    self->canvas = gst_ccl_canvas_new (width, height);
    self->no_canvas = !self->canvas;
    if (self->no_canvas)
      GST_ELEMENT_WARNING (self, RESOURCE, NO_SPACE_LEFT, ("Nothing is drawn on frames of %ux%u pixels.", width,
              height), ("They are too large, or memory is short."));
  }
  return self->canvas;
}

/* Takes a snapshot of the properties, and applies a new font. */
static GstCclDrawingStyle
take_settings (GstCclOverlay * self, guint64 * expire)
{
  GstCclDrawingStyle style;

  GST_OBJECT_LOCK (self);
  style = self->settings.style;
  *expire = self->settings.expire;
  if (self->font_version != self->settings.font_version) {
    self->font_version = self->settings.font_version;
    gst_ccl_drawing_set_font (self->drawing, self->settings.font);
  }
  GST_OBJECT_UNLOCK (self);
  if (!(style.draw & GST_CCL_DRAW_TRAIL))
    style.trail_length = 0;
  return style;
}

static GstFlowReturn
gst_ccl_overlay_transform_ip (GstBaseTransform * transform, GstBuffer * buffer)
{
  GstCclOverlay *const self = GST_CCL_OVERLAY (transform);
  const gint64 start = g_get_monotonic_time ();
  guint64 expire, pixels = 0;
  const GstCclDrawingStyle style = take_settings (self, &expire);
  GstBuffer *const metas = choose_metas (self, buffer, expire);
  guint n_objects = 0;
  gboolean ok;

  /* Set before the choice: downstream may change again meanwhile. */
  if (g_atomic_int_compare_and_exchange (&self->is_negotiated, FALSE, TRUE))
    gst_ccl_overlay_choose_path (self);
  gst_ccl_overlay_give_hints (self, buffer, style.draw);
  if (get_canvas (self, metas)
      && !gst_ccl_drawing_draw (self->drawing, self->canvas, &style, metas, metas == buffer, &n_objects)) {
    GST_ELEMENT_ERROR (self, RESOURCE, NO_SPACE_LEFT, ("No memory for the objects of a frame."), (NULL));
    return GST_FLOW_ERROR;
  }
  ok = gst_ccl_overlay_put (self, buffer, &pixels);
  if (self->canvas && !gst_ccl_canvas_is_empty (self->canvas))
    gst_ccl_canvas_wipe (self->canvas);

  GST_OBJECT_LOCK (self);
  self->stats.frames++;
  self->stats.drawn += pixels > 0;
  self->stats.objects += n_objects;
  self->stats.pixels += pixels;
  gst_ccl_min_avg_max_add (&self->stats.host, g_get_monotonic_time () - start);
  GST_OBJECT_UNLOCK (self);
  return ok ? GST_FLOW_OK : GST_FLOW_ERROR;
}

/* ---------------------------------------------------------------- states, events */

static void
forget (GstCclOverlay * self)
{
  gst_ccl_drawing_reset (self->drawing);
  gst_clear_buffer (&self->last);
}

static gboolean
gst_ccl_overlay_sink_event (GstBaseTransform * transform, GstEvent * event)
{
  GstCclOverlay *const self = GST_CCL_OVERLAY (transform);

  if (GST_EVENT_TYPE (event) == GST_EVENT_FLUSH_STOP || GST_EVENT_TYPE (event) == GST_EVENT_STREAM_START)
    forget (self);
  else if (GST_EVENT_TYPE (event) == GST_EVENT_EOS)
    gst_ccl_overlay_give_hints_at_end (self);
  else if (GST_EVENT_TYPE (event) == GST_EVENT_CAPS)
    g_atomic_int_set (&self->is_refused, FALSE);
  return GST_BASE_TRANSFORM_CLASS (parent_class)->sink_event (transform, event);
}

/* Other elements may be downstream now. set_caps() is not called for equal caps, so the path is chosen anew here. */
static gboolean
gst_ccl_overlay_src_event (GstBaseTransform * transform, GstEvent * event)
{
  GstCclOverlay *const self = GST_CCL_OVERLAY (transform);

  if (GST_EVENT_TYPE (event) == GST_EVENT_RECONFIGURE) {
    g_atomic_int_set (&self->is_refused, FALSE);
    g_atomic_int_set (&self->is_negotiated, FALSE);
  }
  return GST_BASE_TRANSFORM_CLASS (parent_class)->src_event (transform, event);
}

/* Warns of settings that draw nothing or have no effect. */
static void
warn_of_style (GstCclOverlay * self)
{
  GstCclDrawingStyle style;

  GST_OBJECT_LOCK (self);
  style = self->settings.style;
  GST_OBJECT_UNLOCK (self);
  if (style.draw == 0)
    GST_ELEMENT_WARNING (self, LIBRARY, SETTINGS, ("draw is empty: nothing is drawn."),
        ("draw=box+id+trail+zone is what it is when not set."));
  if (style.color_by != GST_CCL_COLOR_BY_FIXED && style.colour != DEFAULT_COLOUR)
    GST_ELEMENT_WARNING (self, LIBRARY, SETTINGS, ("color=0x%08x has no effect: color-by is not fixed.", style.colour),
        ("color-by=fixed draws everything in it."));
  else if (style.color_by == GST_CCL_COLOR_BY_FIXED && style.colour >> 24 == 0)
    GST_ELEMENT_WARNING (self, LIBRARY, SETTINGS, ("color=0x%08x cannot be seen: its alpha is 0.", style.colour),
        ("It is 0xAARRGGBB: 0x%08x is opaque.", style.colour | 0xff000000));
}

static gboolean
gst_ccl_overlay_start (GstBaseTransform * transform)
{
  GstCclOverlay *const self = GST_CCL_OVERLAY (transform);

  warn_of_style (self);
  gst_ccl_overlay_reset_hints (self);
  gst_video_info_init (&self->info);
  forget (self);
  self->no_canvas = FALSE;
  GST_OBJECT_LOCK (self);
  memset (&self->stats, 0, sizeof self->stats);
  self->path = GST_CCL_OVERLAY_PATH_NONE;
  GST_OBJECT_UNLOCK (self);
  g_atomic_int_set (&self->is_refused, FALSE);
  return TRUE;
}

static gboolean
gst_ccl_overlay_stop (GstBaseTransform * transform)
{
  GstCclOverlay *const self = GST_CCL_OVERLAY (transform);

  forget (self);
  g_clear_pointer (&self->canvas, gst_ccl_canvas_free);
  return TRUE;
}

/* ---------------------------------------------------------------- properties */

/* Properties that are plain members. */
static const GstCclPropertyRow rows[N_PROPERTIES] = {
  [PROP_DRAW] = GST_CCL_PROPERTY_ROW (GstCclOverlay, settings.style.draw),
  [PROP_COLOR_BY] = GST_CCL_PROPERTY_ROW (GstCclOverlay, settings.style.color_by),
  [PROP_COLOR] = GST_CCL_PROPERTY_ROW (GstCclOverlay, settings.style.colour),
  [PROP_LINE_WIDTH] = GST_CCL_PROPERTY_ROW (GstCclOverlay, settings.style.line_width),
  [PROP_TRAIL_LENGTH] = GST_CCL_PROPERTY_ROW (GstCclOverlay, settings.style.trail_length),
  [PROP_EXPIRE] = GST_CCL_PROPERTY_ROW (GstCclOverlay, settings.expire),
};

static void
gst_ccl_overlay_set_property (GObject * object, guint id, const GValue * value, GParamSpec * pspec)
{
  GstCclOverlay *const self = GST_CCL_OVERLAY (object);
  GstCclOverlaySettings *const settings = &self->settings;

  GST_OBJECT_LOCK (self);
  switch (id) {
    case PROP_FONT_DESC:
      g_free (settings->font);
      settings->font = g_strdup (g_value_get_string (value) ? g_value_get_string (value) : GST_CCL_DRAWING_FONT);
      settings->font_version++;
      break;
    default:
      if (!gst_ccl_property_row_set (self, &rows[id], value))
        G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
  }
  GST_OBJECT_UNLOCK (self);
}

static GstStructure *
create_stats (GstCclOverlay * self)
{
  const GstCclOverlayStats *const stats = &self->stats;
  GstStructure *structure = gst_structure_new ("ccloverlay-stats",
      "frames", G_TYPE_UINT64, stats->frames,
      "drawn", G_TYPE_UINT64, stats->drawn,
      "objects", G_TYPE_UINT64, stats->objects,
      "pixels", G_TYPE_UINT64, stats->pixels,
      "path", G_TYPE_STRING, gst_ccl_overlay_path_name (self->path), NULL);

  gst_ccl_min_avg_max_host_to_structure (&stats->host, structure);
  return structure;
}

static void
gst_ccl_overlay_get_property (GObject * object, guint id, GValue * value, GParamSpec * pspec)
{
  GstCclOverlay *const self = GST_CCL_OVERLAY (object);
  const GstCclOverlaySettings *const settings = &self->settings;

  GST_OBJECT_LOCK (self);
  switch (id) {
    case PROP_FONT_DESC:
      g_value_set_string (value, settings->font);
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

  properties[PROP_DRAW] = g_param_spec_flags ("draw", "Draw",
      "Items to draw (contour and hull need contours=true of ccllabel, rectangle and hole its features; trail and id "
      "need ccltrack; zone needs cclzone)",
      GST_TYPE_CCL_DRAW, DEFAULT_DRAW, playing);
  properties[PROP_COLOR_BY] = g_param_spec_enum ("color-by", "Color by",
      "Choice of the color of an object", GST_TYPE_CCL_COLOR_BY, GST_CCL_COLOR_BY_TRACK, playing);
  properties[PROP_COLOR] = g_param_spec_uint ("color", "Color",
      "Color for color-by=fixed (0xAARRGGBB)", 0, G_MAXUINT32, DEFAULT_COLOUR, playing | GST_PARAM_CONTROLLABLE);
  properties[PROP_LINE_WIDTH] = g_param_spec_double ("line-width", "Line width",
      "Width of lines in pixels (0 = by the size of the frame)", 0, 100, 0, playing | GST_PARAM_CONTROLLABLE);
  properties[PROP_FONT_DESC] = g_param_spec_string ("font-desc", "Font",
      "Pango font description (without a size = by the size of the frame)", GST_CCL_DRAWING_FONT, playing);
  properties[PROP_TRAIL_LENGTH] = g_param_spec_uint ("trail-length", "Trail length",
      "Maximum length of a trail in frames (0 = no trails)", 0, MAX_TRAIL_LENGTH, DEFAULT_TRAIL_LENGTH, playing);
  properties[PROP_EXPIRE] = g_param_spec_uint64 ("expire", "Expire",
      "Time for which blobs are drawn on later frames that were not analysed, in nanoseconds (0 = never)", 0,
      G_MAXUINT64, 0, playing);
  properties[PROP_STATS] = g_param_spec_boxed ("stats", "Statistics",
      "Since the start: frames, drawn (frames), objects, pixels; path (attach, blend or carry); "
      GST_CCL_HOST_TIME_FIELDS, GST_TYPE_STRUCTURE, G_PARAM_READABLE | G_PARAM_STATIC_STRINGS);
  g_object_class_install_properties (klass, N_PROPERTIES, properties);
}

static void
gst_ccl_overlay_finalize (GObject * object)
{
  GstCclOverlay *const self = GST_CCL_OVERLAY (object);

  gst_ccl_drawing_free (self->drawing);
  g_free (self->settings.font);
  G_OBJECT_CLASS (parent_class)->finalize (object);
}

static void
gst_ccl_overlay_class_init (GstCclOverlayClass * klass)
{
  GObjectClass *const object = G_OBJECT_CLASS (klass);
  GstElementClass *const element = GST_ELEMENT_CLASS (klass);
  GstBaseTransformClass *const transform = GST_BASE_TRANSFORM_CLASS (klass);

  object->set_property = gst_ccl_overlay_set_property;
  object->get_property = gst_ccl_overlay_get_property;
  object->finalize = gst_ccl_overlay_finalize;
  install_properties (object);

  gst_element_class_add_static_pad_template (element, &sink_template);
  gst_element_class_add_static_pad_template (element, &src_template);
  gst_element_class_set_static_metadata (element, "Blob overlay", "Filter/Editor/Video",
      "Draws blobs, tracks, zones and counts onto video in any memory", "gst-ccl contributors");
  gst_ccl_element_class_set_document (element, "ccloverlay");

  transform->start = gst_ccl_overlay_start;
  transform->stop = gst_ccl_overlay_stop;
  transform->set_caps = gst_ccl_overlay_set_caps;
  transform->transform_caps = gst_ccl_overlay_transform_caps;
  transform->propose_allocation = gst_ccl_overlay_propose_allocation;
  transform->sink_event = gst_ccl_overlay_sink_event;
  transform->src_event = gst_ccl_overlay_src_event;
  transform->before_transform = gst_ccl_sync_properties;
  transform->transform_ip = gst_ccl_overlay_transform_ip;

  gst_type_mark_as_plugin_api (GST_TYPE_CCL_DRAW, 0);
  gst_type_mark_as_plugin_api (GST_TYPE_CCL_COLOR_BY, 0);
}

static void
gst_ccl_overlay_init (GstCclOverlay * self)
{
  self->settings = (GstCclOverlaySettings) {
    .style = {
      .draw = DEFAULT_DRAW,.color_by = GST_CCL_COLOR_BY_TRACK,.colour = DEFAULT_COLOUR,
      .trail_length = DEFAULT_TRAIL_LENGTH,
  },.font = g_strdup (GST_CCL_DRAWING_FONT),};
  self->drawing = gst_ccl_drawing_new ();
  gst_video_info_init (&self->info);
  gst_base_transform_set_in_place (GST_BASE_TRANSFORM (self), TRUE);
}
