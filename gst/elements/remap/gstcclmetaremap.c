/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/**
 * SECTION:element-cclmetaremap
 * @title: cclmetaremap
 * @short_description: takes blobs past elements that crop, flip or rotate
 *
 * Before GStreamer 1.28, elements that crop, flip or rotate drop metadata that depend on the size of the frame: blobs
 * with their tracks, masks (GstCclMaskMeta) and zones. Put one cclmetaremap with mode=keep before such elements. It
 * attaches the metadata in a form that these elements copy. Put another with mode=restore after them, and set its crop
 * and direction to theirs. It restores the metadata in coordinates of the new frame. It applies the crop, then the
 * turn, then a scaling to the size of the frame. Metadata that the elements between did not drop do not change.
 *
 * ## Blobs in a part of the picture, upside down
 * |[
 * gst-launch-1.0 -q videotestsrc pattern=ball num-buffers=30 ! video/x-raw,format=I420,width=320,height=240 !
 *     ccllabel threshold=127 ! cclmetaremap mode=keep ! videocrop left=40 top=20 ! videoflip video-direction=180 !
 *     cclmetaremap mode=restore crop-left=40 crop-top=20 direction=180 ! cclmeta2json ! fdsink
 * ]|
 */

#include "gstcclmetaremap.h"

#include <string.h>

#include <gst/video/video.h>
#include <gst/ccl/ccl.h>

#include "base/gstccldocument.h"
#include "base/gstcclenums.h"
#include "base/gstcclpropertyrow.h"
#include "base/gstcclhint.h"
#include "base/gstcclminavgmax.h"
#include "gstcclkeptmeta.h"
#include "gstcclremapframe.h"

GST_DEBUG_CATEGORY_STATIC (gst_ccl_meta_remap_debug);
#define GST_CAT_DEFAULT gst_ccl_meta_remap_debug

static GstStaticPadTemplate sink_template = GST_STATIC_PAD_TEMPLATE ("sink", GST_PAD_SINK, GST_PAD_ALWAYS,
    GST_STATIC_CAPS ("video/x-raw(ANY)"));
static GstStaticPadTemplate src_template = GST_STATIC_PAD_TEMPLATE ("src", GST_PAD_SRC, GST_PAD_ALWAYS,
    GST_STATIC_CAPS ("video/x-raw(ANY)"));

/* ---------------------------------------------------------------- the element */

typedef struct
{
  guint64 frames;
  guint64 remapped;             /* frames whose blobs were kept or restored */
  GstCclMinAvgMax host;
} Stats;

struct _GstCclMetaRemap
{
  GstBaseTransform parent;

  GstCclRemapSettings settings; /* under the object lock */
  Stats stats;                  /* under the object lock */
  gint width, height;           /* of the caps; 0: unknown. Streaming thread */
  gint par_n, par_d;            /* of the caps. Streaming thread */
  gboolean warned;              /* TRUE after a warning about the crop or about metadata kept twice. Streaming thread */
  guint n_without_kept;         /* see gstcclhint.h. Streaming thread */
};

enum
{
  PROP_0,
  PROP_MODE,
  PROP_CROP_LEFT,
  PROP_CROP_RIGHT,
  PROP_CROP_TOP,
  PROP_CROP_BOTTOM,
  PROP_DIRECTION,
  PROP_STATS,
  N_PROPERTIES,
};

static GParamSpec *properties[N_PROPERTIES];

#define gst_ccl_meta_remap_parent_class parent_class
G_DEFINE_TYPE_WITH_CODE (GstCclMetaRemap, gst_ccl_meta_remap, GST_TYPE_BASE_TRANSFORM,
    GST_DEBUG_CATEGORY_INIT (gst_ccl_meta_remap_debug, "cclmetaremap", 0, "blobs past crops and flips"));
GST_ELEMENT_REGISTER_DEFINE (cclmetaremap, "cclmetaremap", GST_RANK_NONE, GST_TYPE_CCL_META_REMAP);

/* Iterates over our metas on a buffer. Each has a transform function that follows the frame. */
static GstMeta *
get_meta (GstBuffer * buffer, guint index)
{
  switch (index) {
    case 0:
      return (GstMeta *) gst_buffer_get_ccl_blob_meta (buffer);
    case 1:
      return (GstMeta *) gst_buffer_get_ccl_mask_meta (buffer);
    default:
      return (GstMeta *) gst_buffer_get_ccl_zone_meta (buffer);
  }
}

#define N_METAS 3

/* A frame that is kept again loses the metadata kept before, because their coordinates are of another moment. */
static void
warn_of_loss (GstCclMetaRemap * self, const GstCclKeptMeta * old, GstBuffer * holder)
{
  gboolean is_lost = FALSE;

  for (guint i = 0; i < N_METAS; i++)
    is_lost |= get_meta (old->holder, i) && !get_meta (holder, i);
  if (is_lost && !self->warned)
    GST_ELEMENT_WARNING (self, LIBRARY, SETTINGS, ("What was kept before is lost."),
        ("A frame keeps one set: put cclmetaremap mode=restore before the next mode=keep. Said once per caps."));
  self->warned |= is_lost;
}

static gboolean
keep (GstCclMetaRemap * self, GstBuffer * buffer)
{
  GstMetaTransformCopy whole = {.region = FALSE,.offset = 0,.size = -1 };
  GstCclKeptMeta *const old = gst_ccl_buffer_get_kept_meta (buffer);
  GstBuffer *holder = gst_buffer_new ();
  gboolean any = FALSE;

  for (guint i = 0; i < N_METAS; i++) {
    GstMeta *const meta = get_meta (buffer, i);

    any |= meta && meta->info->transform_func (holder, meta, buffer, _gst_meta_transform_copy, &whole);
  }
  if (any) {
    const GstCclBlobMeta *const blobs = gst_buffer_get_ccl_blob_meta (buffer);
    GstCclKeptMeta *kept;

    if (old) {
      warn_of_loss (self, old, holder);
      gst_buffer_remove_meta (buffer, &old->meta);
    }
    kept = gst_ccl_buffer_add_kept_meta (buffer, holder);
    kept->width = blobs ? (gint) blobs->width : self->width;
    kept->height = blobs ? (gint) blobs->height : self->height;
    kept->par_n = self->par_n;
    kept->par_d = self->par_d;
  }
  gst_buffer_unref (holder);
  return any;
}

/* Whether only one side has the size after the crop. Elements scale one side only for another pixel aspect ratio. */
static void
warn_of_crop (GstCclMetaRemap * self, const GstCclKeptMeta * kept, const GstCclRemapFrame * frame)
{
  if (self->warned || (frame->turned_width == frame->width) == (frame->turned_height == frame->height)
      || kept->par_n != self->par_n || kept->par_d != self->par_d)
    return;
  GST_ELEMENT_WARNING (self, LIBRARY, SETTINGS,
      ("Crop and turn leave %dx%d of a frame of %dx%d pixels, but here it has %dx%d.", frame->turned_width,
          frame->turned_height, kept->width, kept->height, frame->width, frame->height),
      ("The blobs are stretched to that. Set crop and direction to what the elements between do. Said once per caps."));
  self->warned = TRUE;
}

/* Describes what the elements between do to a frame of the kept size. */
static gboolean
describe (GstCclMetaRemap * self, const GstCclKeptMeta * kept, const GstCclRemapSettings * settings,
    GstCclRemapFrame * frame)
{
  if (!gst_ccl_remap_describe (settings, kept->width, kept->height, self->width, self->height, frame)) {
    if (!self->warned)
      GST_ELEMENT_WARNING (self, LIBRARY, SETTINGS, ("The crop leaves nothing of a frame of %dx%d pixels.",
              kept->width, kept->height), ("The blobs are not restored."));
    self->warned = TRUE;
    return FALSE;
  }
  warn_of_crop (self, kept, frame);
  return TRUE;
}

static gboolean
restore (GstCclMetaRemap * self, GstBuffer * buffer, const GstCclRemapSettings * settings)
{
  GstCclKeptMeta *const kept = gst_ccl_buffer_get_kept_meta (buffer);
  GstCclRemapFrame frame;
  gboolean is_described;

  if (gst_ccl_hint_is_due (&self->n_without_kept, kept != NULL))
    GST_ELEMENT_WARNING (self, STREAM, FAILED, ("No blobs to restore: the frames have none that were kept."),
        ("Put cclmetaremap mode=keep behind the elements that attach blobs and before those that crop or turn."));
  if (!kept)
    return FALSE;
  is_described = describe (self, kept, settings, &frame);
  for (guint i = 0; i < N_METAS && is_described; i++) {
    GstMeta *const meta = get_meta (kept->holder, i);

    if (meta && !get_meta (buffer, i))
      meta->info->transform_func (buffer, meta, kept->holder, g_quark_from_static_string (GST_CCL_MATRIX_TRANSFORM),
          &frame.transform);
  }
  if (is_described)
    gst_buffer_remove_meta (buffer, &kept->meta);
  return is_described;
}

static GstFlowReturn
gst_ccl_meta_remap_transform_ip (GstBaseTransform * transform, GstBuffer * buffer)
{
  GstCclMetaRemap *const self = GST_CCL_META_REMAP (transform);
  const GstClockTime start = gst_util_get_timestamp ();
  gboolean remapped;
  GstCclRemapSettings settings;

  GST_OBJECT_LOCK (self);
  settings = self->settings;
  GST_OBJECT_UNLOCK (self);
  remapped = settings.mode == GST_CCL_REMAP_KEEP ? keep (self, buffer) : restore (self, buffer, &settings);

  GST_OBJECT_LOCK (self);
  self->stats.frames++;
  self->stats.remapped += remapped;
  gst_ccl_min_avg_max_add (&self->stats.host, (gst_util_get_timestamp () - start) / (gdouble) GST_USECOND);
  GST_OBJECT_UNLOCK (self);
  return GST_FLOW_OK;
}

static gboolean
gst_ccl_meta_remap_set_caps (GstBaseTransform * transform, GstCaps * in_caps, GstCaps * out_caps)
{
  GstCclMetaRemap *const self = GST_CCL_META_REMAP (transform);
  const GstStructure *const structure = gst_caps_get_structure (in_caps, 0);

  self->width = self->height = 0;
  self->par_n = self->par_d = 1;
  self->warned = FALSE;
  gst_structure_get_int (structure, "width", &self->width);
  gst_structure_get_int (structure, "height", &self->height);
  gst_structure_get_fraction (structure, "pixel-aspect-ratio", &self->par_n, &self->par_d);
  return TRUE;
}

static gboolean
gst_ccl_meta_remap_start (GstBaseTransform * transform)
{
  GstCclMetaRemap *const self = GST_CCL_META_REMAP (transform);

  GstCclRemapSettings now;

  GST_OBJECT_LOCK (self);
  self->stats = (Stats) {
  0};
  now = self->settings;
  GST_OBJECT_UNLOCK (self);
  self->n_without_kept = 0;
  if (now.mode == GST_CCL_REMAP_KEEP && (now.left || now.right || now.top || now.bottom
          || now.direction != GST_VIDEO_ORIENTATION_IDENTITY))
    GST_ELEMENT_WARNING (self, LIBRARY, SETTINGS, ("Crop and direction have no effect with mode=keep."),
        ("Set them at the cclmetaremap with mode=restore, behind the elements that crop or turn."));
  else if (now.direction == GST_VIDEO_ORIENTATION_AUTO || now.direction == GST_VIDEO_ORIENTATION_CUSTOM)
    GST_ELEMENT_WARNING (self, LIBRARY, SETTINGS, ("direction=%s cannot be known here: blobs are not turned.",
            now.direction == GST_VIDEO_ORIENTATION_AUTO ? "auto" : "custom"),
        ("Name the direction that the element between turns frames to."));
  return TRUE;
}

/* ---------------------------------------------------------------- properties */

static GstStructure *
create_stats (GstCclMetaRemap * self)
{
  const Stats *const stats = &self->stats;
  GstStructure *structure = gst_structure_new ("cclmetaremap-stats",
      "frames", G_TYPE_UINT64, stats->frames,
      "remapped", G_TYPE_UINT64, stats->remapped, NULL);

  gst_ccl_min_avg_max_host_to_structure (&stats->host, structure);
  return structure;
}

/* The properties that are plain members, at least for reading. */
static const GstCclPropertyRow rows[N_PROPERTIES] = {
  [PROP_MODE] = GST_CCL_PROPERTY_ROW (GstCclMetaRemap, settings.mode),
  [PROP_CROP_LEFT] = GST_CCL_PROPERTY_ROW (GstCclMetaRemap, settings.left),
  [PROP_CROP_RIGHT] = GST_CCL_PROPERTY_ROW (GstCclMetaRemap, settings.right),
  [PROP_CROP_TOP] = GST_CCL_PROPERTY_ROW (GstCclMetaRemap, settings.top),
  [PROP_CROP_BOTTOM] = GST_CCL_PROPERTY_ROW (GstCclMetaRemap, settings.bottom),
  [PROP_DIRECTION] = GST_CCL_PROPERTY_ROW (GstCclMetaRemap, settings.direction),
};

static void
gst_ccl_meta_remap_set_property (GObject * object, guint id, const GValue * value, GParamSpec * pspec)
{
  GST_OBJECT_LOCK (object);
  if (!gst_ccl_property_row_set (object, &rows[id], value))
    G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
  GST_OBJECT_UNLOCK (object);
}

static void
gst_ccl_meta_remap_get_property (GObject * object, guint id, GValue * value, GParamSpec * pspec)
{
  GstCclMetaRemap *const self = GST_CCL_META_REMAP (object);

  GST_OBJECT_LOCK (self);
  switch (id) {
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

  properties[PROP_MODE] = g_param_spec_enum ("mode", "Mode",
      "Keep the blobs before elements that crop or turn, or restore them after",
      GST_TYPE_CCL_REMAP_MODE, GST_CCL_REMAP_KEEP, playing);
  properties[PROP_CROP_LEFT] = g_param_spec_uint ("crop-left", "Crop left",
      "Pixels cropped at the left, with mode=restore (0 = none)", 0, G_MAXINT, 0, playing);
  properties[PROP_CROP_RIGHT] = g_param_spec_uint ("crop-right", "Crop right",
      "Pixels cropped at the right, with mode=restore (0 = none)", 0, G_MAXINT, 0, playing);
  properties[PROP_CROP_TOP] = g_param_spec_uint ("crop-top", "Crop top",
      "Pixels cropped at the top, with mode=restore (0 = none)", 0, G_MAXINT, 0, playing);
  properties[PROP_CROP_BOTTOM] = g_param_spec_uint ("crop-bottom", "Crop bottom",
      "Pixels cropped at the bottom, with mode=restore (0 = none)", 0, G_MAXINT, 0, playing);
  properties[PROP_DIRECTION] = g_param_spec_enum ("direction", "Direction",
      "Turn of the cropped frame, with mode=restore (auto and custom = identity)",
      GST_TYPE_VIDEO_ORIENTATION_METHOD, GST_VIDEO_ORIENTATION_IDENTITY, playing);
  properties[PROP_STATS] = g_param_spec_boxed ("stats", "Statistics",
      "Since the start: frames, remapped (frames with metadata); " GST_CCL_HOST_TIME_FIELDS,
      GST_TYPE_STRUCTURE, GST_CCL_PARAM_READ_ONLY);
  g_object_class_install_properties (klass, N_PROPERTIES, properties);
}

static void
gst_ccl_meta_remap_class_init (GstCclMetaRemapClass * klass)
{
  GObjectClass *const object = G_OBJECT_CLASS (klass);
  GstElementClass *const element = GST_ELEMENT_CLASS (klass);
  GstBaseTransformClass *const transform = GST_BASE_TRANSFORM_CLASS (klass);

  object->set_property = gst_ccl_meta_remap_set_property;
  object->get_property = gst_ccl_meta_remap_get_property;
  install_properties (object);

  gst_element_class_add_static_pad_template (element, &sink_template);
  gst_element_class_add_static_pad_template (element, &src_template);
  gst_element_class_set_static_metadata (element, "Blob remapper", "Filter/Video",
      "Takes blobs past elements that crop, flip or rotate", "gst-ccl contributors");
  gst_ccl_element_class_set_document (element, "cclmetaremap");

  transform->start = gst_ccl_meta_remap_start;
  transform->set_caps = gst_ccl_meta_remap_set_caps;
  transform->transform_ip = gst_ccl_meta_remap_transform_ip;
  gst_type_mark_as_plugin_api (GST_TYPE_CCL_REMAP_MODE, 0);
}

static void
gst_ccl_meta_remap_init (GstCclMetaRemap * self)
{
  gst_base_transform_set_in_place (GST_BASE_TRANSFORM (self), TRUE);
}
