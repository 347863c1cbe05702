/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/**
 * SECTION:element-cclmetaremap
 * @title: cclmetaremap
 * @short_description: takes blobs past elements that crop, flip or rotate
 *
 * Until GStreamer 1.28 elements that crop, flip or rotate drop whatever depends on the size of the frame, the blobs
 * among it. Put one cclmetaremap with mode=keep before such elements: it attaches the blobs in a form that they do not
 * know, and pass on. Put another with mode=restore behind them, and tell it what they do: it brings the blobs back, in
 * coordinates of the frame as it is there. First comes the crop, then the turn, then whatever scaling it takes to the size of the
 * frame. Where the blobs have arrived by themselves they are left as they are.
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

#include "gstcclenums.h"
#include "gstcclspread.h"

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
  GstBuffer *holder;            /* nothing but a GstCclBlobMeta */
} Kept;

static gboolean
kept_init (GstMeta * meta, gpointer params, GstBuffer * buffer)
{
  ((Kept *) meta)->holder = NULL;
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
  kept_add (target, ((Kept *) meta)->holder);
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
  GstCclSpread host;
} Stats;

struct _GstCclMetaRemap
{
  GstBaseTransform parent;

  Settings settings;            /* under the object lock */
  Stats stats;                  /* under the object lock */
  gint width, height;           /* of the caps; 0: unknown. Streaming thread */
  gboolean warned;              /* that the crop leaves nothing. Streaming thread */
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

static void
copy_blob_meta (GstBuffer * to, const GstCclBlobMeta * from)
{
  GstCclBlobMeta *const meta = gst_buffer_add_ccl_blob_meta (to, from->list, from->ref_width, from->ref_height);

  meta->flags = from->flags;
  meta->width = from->width;
  meta->height = from->height;
  meta->n_kept = from->n_kept;
  meta->n_total = from->n_total;
  meta->connectivity = from->connectivity;
  meta->source = from->source;
  memcpy (meta->matrix, from->matrix, sizeof meta->matrix);
}

static gboolean
keep (GstBuffer * buffer)
{
  const GstCclBlobMeta *const meta = gst_buffer_get_ccl_blob_meta (buffer);
  Kept *const old = kept_get (buffer);
  GstBuffer *holder;

  if (!meta || !meta->list)
    return FALSE;
  if (old)
    gst_buffer_remove_meta (buffer, &old->meta);
  holder = gst_buffer_new ();
  copy_blob_meta (holder, meta);
  kept_add (buffer, holder);
  gst_buffer_unref (holder);
  return TRUE;
}

/* Rows 0 and 1 of `m` become what they are after (x, y) -> (a x + b y + c, d x + e y + f); row 2 stays. */
static void
follow (gdouble m[9], gdouble a, gdouble b, gdouble c, gdouble d, gdouble e, gdouble f)
{
  for (gint i = 0; i < 3; i++) {
    const gdouble x = m[i], y = m[3 + i], w = m[6 + i];

    m[i] = a * x + b * y + c * w;
    m[3 + i] = d * x + e * y + f * w;
  }
}

/* `w`, `h`: the size before; become that after. */
static void
turn (gdouble m[9], gint direction, gdouble * w, gdouble * h)
{
  gdouble swap;

  switch (direction) {
    case GST_VIDEO_ORIENTATION_90R:
      follow (m, 0, -1, *h, 1, 0, 0);
      break;
    case GST_VIDEO_ORIENTATION_180:
      follow (m, -1, 0, *w, 0, -1, *h);
      return;
    case GST_VIDEO_ORIENTATION_90L:
      follow (m, 0, 1, 0, -1, 0, *w);
      break;
    case GST_VIDEO_ORIENTATION_HORIZ:
      follow (m, -1, 0, *w, 0, 1, 0);
      return;
    case GST_VIDEO_ORIENTATION_VERT:
      follow (m, 1, 0, 0, 0, -1, *h);
      return;
    case GST_VIDEO_ORIENTATION_UL_LR:
      follow (m, 0, 1, 0, 1, 0, 0);
      break;
    case GST_VIDEO_ORIENTATION_UR_LL:
      follow (m, 0, -1, *h, -1, 0, *w);
      break;
    default:
      return;
  }
  swap = *w;
  *w = *h;
  *h = swap;
}

static gboolean
restore (GstCclMetaRemap * self, GstBuffer * buffer, const Settings * settings)
{
  Kept *const kept = kept_get (buffer);
  GstCclBlobMeta *meta = gst_buffer_get_ccl_blob_meta (buffer);
  gdouble width, height;

  if (!kept)
    return FALSE;
  if (!meta) {
    copy_blob_meta (buffer, gst_buffer_get_ccl_blob_meta (kept->holder));
    meta = gst_buffer_get_ccl_blob_meta (buffer);
    width = (gdouble) meta->width - settings->left - settings->right;
    height = (gdouble) meta->height - settings->top - settings->bottom;
    if (width < 1 || height < 1) {
      if (!self->warned)
        GST_ELEMENT_WARNING (self, LIBRARY, SETTINGS, ("The crop leaves nothing of a frame of %ux%u pixels.",
                meta->width, meta->height), ("The blobs are not restored."));
      self->warned = TRUE;
      gst_buffer_remove_meta (buffer, &meta->meta);
      return FALSE;
    }
    follow (meta->matrix, 1, 0, -(gdouble) settings->left, 0, 1, -(gdouble) settings->top);
    turn (meta->matrix, settings->direction, &width, &height);
    if (self->width > 0 && self->height > 0) {
      follow (meta->matrix, self->width / width, 0, 0, 0, self->height / height, 0);
      width = self->width;
      height = self->height;
    }
    meta->width = width;
    meta->height = height;
  }
  gst_buffer_remove_meta (buffer, &kept->meta);
  return TRUE;
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
  remapped = settings.mode == GST_CCL_REMAP_KEEP ? keep (buffer) : restore (self, buffer, &settings);

  GST_OBJECT_LOCK (self);
  self->stats.frames++;
  self->stats.remapped += remapped;
  gst_ccl_spread_add (&self->stats.host, (gst_util_get_timestamp () - start) / (gdouble) GST_USECOND);
  GST_OBJECT_UNLOCK (self);
  return GST_FLOW_OK;
}

static gboolean
gst_ccl_meta_remap_set_caps (GstBaseTransform * transform, GstCaps * in_caps, GstCaps * out_caps)
{
  GstCclMetaRemap *const self = GST_CCL_META_REMAP (transform);
  const GstStructure *const structure = gst_caps_get_structure (in_caps, 0);

  self->width = self->height = 0;
  self->warned = FALSE;
  gst_structure_get_int (structure, "width", &self->width);
  gst_structure_get_int (structure, "height", &self->height);
  return TRUE;
}

static gboolean
gst_ccl_meta_remap_start (GstBaseTransform * transform)
{
  GstCclMetaRemap *const self = GST_CCL_META_REMAP (transform);

  GST_OBJECT_LOCK (self);
  self->stats = (Stats) { 0 };
  GST_OBJECT_UNLOCK (self);
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

  gst_ccl_spread_host_to_structure (&stats->host, structure);
  return structure;
}

static void
gst_ccl_meta_remap_set_property (GObject * object, guint id, const GValue * value, GParamSpec * pspec)
{
  GstCclMetaRemap *const self = GST_CCL_META_REMAP (object);
  Settings *const settings = &self->settings;

  GST_OBJECT_LOCK (self);
  switch (id) {
    case PROP_MODE:
      settings->mode = g_value_get_enum (value);
      break;
    case PROP_CROP_LEFT:
      settings->left = g_value_get_uint (value);
      break;
    case PROP_CROP_RIGHT:
      settings->right = g_value_get_uint (value);
      break;
    case PROP_CROP_TOP:
      settings->top = g_value_get_uint (value);
      break;
    case PROP_CROP_BOTTOM:
      settings->bottom = g_value_get_uint (value);
      break;
    case PROP_DIRECTION:
      settings->direction = g_value_get_enum (value);
      break;
    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
  }
  GST_OBJECT_UNLOCK (self);
}

static void
gst_ccl_meta_remap_get_property (GObject * object, guint id, GValue * value, GParamSpec * pspec)
{
  GstCclMetaRemap *const self = GST_CCL_META_REMAP (object);
  const Settings *const settings = &self->settings;

  GST_OBJECT_LOCK (self);
  switch (id) {
    case PROP_MODE:
      g_value_set_enum (value, settings->mode);
      break;
    case PROP_CROP_LEFT:
      g_value_set_uint (value, settings->left);
      break;
    case PROP_CROP_RIGHT:
      g_value_set_uint (value, settings->right);
      break;
    case PROP_CROP_TOP:
      g_value_set_uint (value, settings->top);
      break;
    case PROP_CROP_BOTTOM:
      g_value_set_uint (value, settings->bottom);
      break;
    case PROP_DIRECTION:
      g_value_set_enum (value, settings->direction);
      break;
    case PROP_STATS:
      g_value_take_boxed (value, create_stats (self));
      break;
    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
  }
  GST_OBJECT_UNLOCK (self);
}

static void
install_properties (GObjectClass * klass)
{
  const GParamFlags playing = G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS | GST_PARAM_MUTABLE_PLAYING;

  properties[PROP_MODE] = g_param_spec_enum ("mode", "Mode", "Before the elements that crop or turn, or behind them",
      GST_TYPE_CCL_REMAP_MODE, GST_CCL_REMAP_KEEP, playing);
  properties[PROP_CROP_LEFT] = g_param_spec_uint ("crop-left", "Crop left",
      "Columns taken away on the left, pixels of the frame that mode=keep saw", 0, G_MAXINT, 0, playing);
  properties[PROP_CROP_RIGHT] = g_param_spec_uint ("crop-right", "Crop right", "Columns taken away on the right", 0,
      G_MAXINT, 0, playing);
  properties[PROP_CROP_TOP] = g_param_spec_uint ("crop-top", "Crop top", "Rows taken away at the top", 0, G_MAXINT, 0,
      playing);
  properties[PROP_CROP_BOTTOM] = g_param_spec_uint ("crop-bottom", "Crop bottom", "Rows taken away at the bottom", 0,
      G_MAXINT, 0, playing);
  properties[PROP_DIRECTION] = g_param_spec_enum ("direction", "Direction",
      "How the cropped frame is turned, as video-direction of videoflip says it; auto and custom are identity",
      GST_TYPE_VIDEO_ORIENTATION_METHOD, GST_VIDEO_ORIENTATION_IDENTITY, playing);
  properties[PROP_STATS] = g_param_spec_boxed ("stats", "Statistics",
      "Since start: frames, remapped (whose blobs were kept, or brought back); " GST_CCL_SPREAD_HOST_FIELDS,
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
