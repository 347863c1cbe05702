/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/**
 * SECTION:element-cclmetaremap
 * @title: cclmetaremap
 * @short_description: takes blobs past elements that crop, flip or rotate
 *
 * Until GStreamer 1.28 elements that crop, flip or rotate drop whatever depends on the size of the frame: blobs with
 * their tracks, masks (GstCclMaskMeta) and zones. Put one cclmetaremap with mode=keep before such elements: it attaches
 * all of them in a form that they do not know, and pass on. Put another with mode=restore behind them, and tell it what
 * they do: it brings them back, in coordinates of the frame as it is there. First comes the crop, then the turn, then
 * whatever scaling it takes to the size of the frame. Metadata that the elements between did not drop stay as they are.
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
#include <gst/ccl/gstcclmatrix.h>

#include "base/gstcclenums.h"
#include "base/gstcclpropertyrow.h"
#include "base/gstcclhint.h"
#include "base/gstcclminavgmax.h"

GST_DEBUG_CATEGORY_STATIC (gst_ccl_meta_remap_debug);
#define GST_CAT_DEFAULT gst_ccl_meta_remap_debug

static GstStaticPadTemplate sink_template = GST_STATIC_PAD_TEMPLATE ("sink", GST_PAD_SINK, GST_PAD_ALWAYS,
    GST_STATIC_CAPS ("video/x-raw(ANY)"));
static GstStaticPadTemplate src_template = GST_STATIC_PAD_TEMPLATE ("src", GST_PAD_SRC, GST_PAD_ALWAYS,
    GST_STATIC_CAPS ("video/x-raw(ANY)"));

/* ---------------------------------------------------------------- the kept form: no tags, so everybody copies it */

typedef struct
{
  GstMeta meta;
  GstBuffer *holder;            /* nothing but our metas */
  gint width, height;           /* of the frame they were on */
  gint par_n, par_d;            /* shape of its pixels */
} Kept;

static gboolean
kept_init (GstMeta * meta, gpointer params, GstBuffer * buffer)
{
  *(Kept *) meta = (Kept) {.meta = *meta };
  return TRUE;
}

static void
kept_free (GstMeta * meta, GstBuffer * buffer)
{
  gst_clear_buffer (&((Kept *) meta)->holder);
}

static const GstMetaInfo *kept_get_info (void);

static Kept *
kept_add (GstBuffer * buffer, GstBuffer * holder)
{
  Kept *const kept = (Kept *) gst_buffer_add_meta (buffer, kept_get_info (), NULL);

  kept->holder = gst_buffer_ref (holder);
  return kept;
}

static gboolean
kept_transform (GstBuffer * target, GstMeta * meta, GstBuffer * buffer, GQuark type, gpointer data)
{
  const Kept *const from = (const Kept *) meta;
  Kept *const kept = kept_add (target, from->holder);

  kept->width = from->width;
  kept->height = from->height;
  kept->par_n = from->par_n;
  kept->par_d = from->par_d;
  return TRUE;
}

static GType
kept_api_get_type (void)
{
  static gsize type = 0;

  if (g_once_init_enter (&type)) {
    static const gchar *no_tags[] = { NULL };
    g_once_init_leave (&type, gst_meta_api_type_register ("GstCclKeptMetaAPI", no_tags));
  }
  return type;
}

static const GstMetaInfo *
kept_get_info (void)
{
  static gsize info = 0;

  if (g_once_init_enter (&info))
    g_once_init_leave (&info, (gsize) gst_meta_register (kept_api_get_type (), "GstCclKeptMeta", sizeof (Kept),
            kept_init, kept_free, kept_transform));
  return (const GstMetaInfo *) info;
}

static Kept *
kept_get (GstBuffer * buffer)
{
  return (Kept *) gst_buffer_get_meta (buffer, kept_api_get_type ());
}

/* ---------------------------------------------------------------- the element */

typedef struct
{
  gint mode;                    /* GstCclRemapMode */
  guint left, right, top, bottom;
  gint direction;               /* GstVideoOrientationMethod */
} Settings;

typedef struct
{
  guint64 frames;
  guint64 remapped;             /* whose blobs were kept, or brought back */
  GstCclMinAvgMax host;
} Stats;

struct _GstCclMetaRemap
{
  GstBaseTransform parent;

  Settings settings;            /* under the object lock */
  Stats stats;                  /* under the object lock */
  gint width, height;           /* of the caps; 0: unknown. Streaming thread */
  gint par_n, par_d;            /* of the caps. Streaming thread */
  gboolean warned;              /* of the crop, or of what is kept twice. Streaming thread */
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

/* Our metas, as they are found on a buffer; each of them knows how to follow a frame. */
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
warn_of_loss (GstCclMetaRemap * self, const Kept * old, GstBuffer * holder)
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
  Kept *const old = kept_get (buffer);
  GstBuffer *holder = gst_buffer_new ();
  gboolean any = FALSE;

  for (guint i = 0; i < N_METAS; i++) {
    GstMeta *const meta = get_meta (buffer, i);

    any |= meta && meta->info->transform_func (holder, meta, buffer, _gst_meta_transform_copy, &whole);
  }
  if (any) {
    const GstCclBlobMeta *const blobs = gst_buffer_get_ccl_blob_meta (buffer);
    Kept *kept;

    if (old) {
      warn_of_loss (self, old, holder);
      gst_buffer_remove_meta (buffer, &old->meta);
    }
    kept = kept_add (buffer, holder);
    kept->width = blobs ? (gint) blobs->width : self->width;
    kept->height = blobs ? (gint) blobs->height : self->height;
    kept->par_n = self->par_n;
    kept->par_d = self->par_d;
  }
  gst_buffer_unref (holder);
  return any;
}

static void
set_row (gfloat row[3], gdouble a, gdouble b, gdouble c)
{
  row[0] = a;
  row[1] = b;
  row[2] = c;
}

/* Turns a frame of w x h pixels, in the plane of pixel squares; TRUE when width and height change places. */
static gboolean
turn (gfloat m[3][3], gint direction, gdouble w, gdouble h)
{
  static const struct
  {
    gint8 xx, xy, yx, yy;
  } turns[] = {
    [GST_VIDEO_ORIENTATION_IDENTITY] = {1, 0, 0, 1},
    [GST_VIDEO_ORIENTATION_90R] = {0, -1, 1, 0},
    [GST_VIDEO_ORIENTATION_180] = {-1, 0, 0, -1},
    [GST_VIDEO_ORIENTATION_90L] = {0, 1, -1, 0},
    [GST_VIDEO_ORIENTATION_HORIZ] = {-1, 0, 0, 1},
    [GST_VIDEO_ORIENTATION_VERT] = {1, 0, 0, -1},
    [GST_VIDEO_ORIENTATION_UL_LR] = {0, 1, 1, 0},
    [GST_VIDEO_ORIENTATION_UR_LL] = {0, -1, -1, 0},
  };
  const gboolean is_known = direction >= 0 && direction < (gint) G_N_ELEMENTS (turns);
  const gint xx = is_known ? turns[direction].xx : 1, xy = is_known ? turns[direction].xy : 0;
  const gint yx = is_known ? turns[direction].yx : 0, yy = is_known ? turns[direction].yy : 1;

  /* What is negative begins at the other end. */
  set_row (m[0], xx, xy, (xx < 0 ? w : 0) + (xy < 0 ? h : 0));
  set_row (m[1], yx, yy, (yx < 0 ? w : 0) + (yy < 0 ? h : 0));
  set_row (m[2], 0, 0, 1);
  return xy != 0;
}

/* One side is as the crop leaves it, the other is not: nobody scales like that, unless for pixels of another shape. */
static void
warn_of_crop (GstCclMetaRemap * self, const Kept * kept, gint width, gint height, gint out_width, gint out_height)
{
  if (self->warned || (width == out_width) == (height == out_height) || kept->par_n != self->par_n
      || kept->par_d != self->par_d)
    return;
  GST_ELEMENT_WARNING (self, LIBRARY, SETTINGS,
      ("Crop and turn leave %dx%d of a frame of %dx%d pixels, but here it has %dx%d.", width, height, kept->width,
          kept->height, out_width, out_height),
      ("The blobs are stretched to that. Set crop and direction to what the elements between do. Said once per caps."));
  self->warned = TRUE;
}

/* Describes what the elements between do to a frame of the kept size: crop, turn, scale to the size of the caps. */
static gboolean
describe (GstCclMetaRemap * self, const Kept * kept, const Settings * settings, GstCclMatrixTransform * transform,
    GstVideoInfo infos[2])
{
  /* Each of the four can be as large as any gint. */
  const gint64 width = (gint64) kept->width - settings->left - settings->right;
  const gint64 height = (gint64) kept->height - settings->top - settings->bottom;
  gboolean swapped;
  gint out_width, out_height;

  if (width < 1 || height < 1) {
    if (!self->warned)
      GST_ELEMENT_WARNING (self, LIBRARY, SETTINGS, ("The crop leaves nothing of a frame of %dx%d pixels.",
              kept->width, kept->height), ("The blobs are not restored."));
    self->warned = TRUE;
    return FALSE;
  }
  swapped = turn (transform->matrix, settings->direction, width, height);
  out_width = self->width > 0 && self->height > 0 ? self->width : swapped ? height : width;
  out_height = self->width > 0 && self->height > 0 ? self->height : swapped ? width : height;
  warn_of_crop (self, kept, swapped ? height : width, swapped ? width : height, out_width, out_height);
  for (gint i = 0; i < 3; i++) {
    transform->matrix[0][i] *= (gdouble) out_width / (swapped ? height : width);
    transform->matrix[1][i] *= (gdouble) out_height / (swapped ? width : height);
  }
  gst_video_info_set_format (&infos[0], GST_VIDEO_FORMAT_GRAY8, kept->width, kept->height);
  gst_video_info_set_format (&infos[1], GST_VIDEO_FORMAT_GRAY8, out_width, out_height);
  transform->in_info = &infos[0];
  transform->out_info = &infos[1];
  transform->in_rectangle = (GstVideoRectangle) { settings->left, settings->top, width, height};
  transform->out_rectangle = (GstVideoRectangle) { 0, 0, out_width, out_height};
  return TRUE;
}

static gboolean
restore (GstCclMetaRemap * self, GstBuffer * buffer, const Settings * settings)
{
  Kept *const kept = kept_get (buffer);
  GstCclMatrixTransform transform;
  GstVideoInfo infos[2];
  gboolean is_described;

  if (gst_ccl_hint_is_due (&self->n_without_kept, kept != NULL))
    GST_ELEMENT_WARNING (self, STREAM, FAILED, ("No blobs to restore: the frames bring none that were kept."),
        ("Put cclmetaremap mode=keep behind the elements that attach blobs and before those that crop or turn."));
  if (!kept)
    return FALSE;
  is_described = describe (self, kept, settings, &transform, infos);
  for (guint i = 0; i < N_METAS && is_described; i++) {
    GstMeta *const meta = get_meta (kept->holder, i);

    if (meta && !get_meta (buffer, i))
      meta->info->transform_func (buffer, meta, kept->holder, g_quark_from_static_string (GST_CCL_MATRIX_TRANSFORM),
          &transform);
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
  Settings settings;

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

  Settings now;

  GST_OBJECT_LOCK (self);
  self->stats = (Stats) { 0 };
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

/* The properties that are fields and nothing else, for reading at least. */
static const GstCclPropertyRow fields[N_PROPERTIES] = {
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
  if (!gst_ccl_property_row_set (object, &fields[id], value))
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
      if (!gst_ccl_property_row_get (self, &fields[id], value))
        G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
  }
  GST_OBJECT_UNLOCK (self);
}

static void
install_properties (GObjectClass * klass)
{
  const GParamFlags playing = G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS | GST_PARAM_MUTABLE_PLAYING;

  properties[PROP_MODE] = g_param_spec_enum ("mode", "Mode",
      "Where this element is: before the elements that crop or turn, or behind them, with their settings",
      GST_TYPE_CCL_REMAP_MODE, GST_CCL_REMAP_KEEP, playing);
  properties[PROP_CROP_LEFT] = g_param_spec_uint ("crop-left", "Crop left",
      "Columns taken away on the left, pixels of the frame that mode=keep saw; 0: none (mode=restore)",
      0, G_MAXINT, 0, playing);
  properties[PROP_CROP_RIGHT] = g_param_spec_uint ("crop-right", "Crop right",
      "Columns taken away on the right, pixels; 0: none (mode=restore)", 0, G_MAXINT, 0, playing);
  properties[PROP_CROP_TOP] = g_param_spec_uint ("crop-top", "Crop top",
      "Rows taken away at the top, pixels; 0: none (mode=restore)", 0, G_MAXINT, 0, playing);
  properties[PROP_CROP_BOTTOM] = g_param_spec_uint ("crop-bottom", "Crop bottom",
      "Rows taken away at the bottom, pixels; 0: none (mode=restore)", 0, G_MAXINT, 0, playing);
  properties[PROP_DIRECTION] = g_param_spec_enum ("direction", "Direction",
      "How the cropped frame is turned, as video-direction of videoflip says it; auto and custom are identity "
      "(mode=restore)",
      GST_TYPE_VIDEO_ORIENTATION_METHOD, GST_VIDEO_ORIENTATION_IDENTITY, playing);
  properties[PROP_STATS] = g_param_spec_boxed ("stats", "Statistics",
      "Since the start: frames, remapped (whose blobs were kept, or brought back); " GST_CCL_HOST_TIME_FIELDS,
      GST_TYPE_STRUCTURE, G_PARAM_READABLE | G_PARAM_STATIC_STRINGS);
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
