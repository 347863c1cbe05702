/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/**
 * SECTION:element-cclmotion
 * @title: cclmotion
 * @short_description: finds what moves before a fixed camera
 *
 * Learns what the background looks like, pixel by pixel, and attaches to each frame a mask of the pixels that do not
 * fit: a #GstCclMaskMeta. The picture flows on untouched and uncopied; ccllabel turns the mask into blobs.
 *
 * The default method, feedback, learns for 1.5 seconds. Then an object that stands still stays foreground for
 * #cclmotion:absorb-time, at any frame rate. The place that an object leaves is background within seconds, and so is the
 * whole picture when the camera was moved. It looks at the chroma planes too, where there are any. The other methods look at the
 * gray or luma plane alone.
 *
 * The mask is made in these steps:
 *
 *  1. compare with the model (#cclmotion:method, #cclmotion:threshold)
 *  2. remove shadows (#cclmotion:shadow)
 *  3. suppress noise (#cclmotion:median, #cclmotion:confirm-frames)
 *  4. clean the shapes (#cclmotion:open, #cclmotion:close, #cclmotion:dilate)
 *  5. clear the areas of #cclmotion:ignore
 *
 * Learning starts again after a flush, with frames of another size, and when a buffer marked DISCONT jumps in time: back, or
 * more than two seconds ahead. Other gaps and steps back in time do not matter. Every property can change while playing. A
 * change of #cclmotion:method, #cclmotion:work-height, #cclmotion:backend or #cclmotion:threads starts learning again.
 *
 * With #cclmotion:background-location a restart does not learn anew: the background is loaded before the first frame, and
 * saved at the end of the stream, when the element stops, and by #cclmotion::save-background.
 *
 * ccltrack downstream can send the boxes of its tracks, see #ccltrack:feedback. With #cclmotion:method feedback no object inside
 * such a box becomes background, however long it stands.
 *
 * With #cclmotion:async-depth the element keeps this many frames, so that the GPU works on several at once. Masks, messages and
 * metadata stay the same, and the element adds the delay to the latency of the pipeline. Nothing overtakes a queued frame:
 * events and new caps push it out first, and a flush drops it.
 *
 * ## Messages
 *
 * With #cclmotion:post-messages the element posts element messages. Their structure `ccl-motion` has these fields:
 *
 *  - `state` (string): "begin", "update" or "end"
 *  - `running-time`, `stream-time`, `timestamp` (#GstClockTime, guint64)
 *  - `duration` (#GstClockTime, guint64): of the motion so far
 *  - `n-foreground` (guint64): pixels of the mask
 *  - `area-ratio` (gdouble): fraction of the picture, 0 to 1
 *  - `global-change` (gboolean)
 *
 * ## What moves, as blobs in JSON
 * |[
 * gst-launch-1.0 -q videotestsrc pattern=ball num-buffers=100 ! video/x-raw,format=I420 ! cclmotion !
 *     ccllabel mask-source=mask-meta ! cclmeta2json ! fdsink
 * ]|
 * ## The mask, to look at
 * |[
 * gst-launch-1.0 videotestsrc pattern=ball ! video/x-raw,format=I420 ! cclmotion output=mask ! videoconvert !
 *     autovideosink
 * ]|
 * ## A camera: half the height is enough, the road at the top does not count
 * |[
 * gst-launch-1.0 -m v4l2src ! videoconvert ! cclmotion work-height=240 ignore="0,0;1,0;1,0.3;0,0.3" !
 *     ccllabel mask-source=mask-meta min-rel-area=0.001 ! fakesink
 * ]|
 */

#include "gstcclmotionprivate.h"

#include <string.h>

#include "base/gstccldocument.h"
#include "base/gstcclenums.h"
#include "base/gstcclpropertyrow.h"
#include "motion/gstcclignore.h"

GST_DEBUG_CATEGORY (gst_ccl_motion_debug);
#define GST_CAT_DEFAULT gst_ccl_motion_debug

#define DEFAULT_ABSORB_TIME (600 * GST_SECOND)

#define SYSTEM_CAPS "video/x-raw, format = (string) { GRAY8, " GST_CCL_YUV_FORMATS " }, " GST_CCL_SIZE_RANGE

static GstStaticPadTemplate sink_template = GST_STATIC_PAD_TEMPLATE ("sink", GST_PAD_SINK, GST_PAD_ALWAYS,
    GST_STATIC_CAPS (GST_CCL_CUDA_CAPS SYSTEM_CAPS));
static GstStaticPadTemplate src_template = GST_STATIC_PAD_TEMPLATE ("src", GST_PAD_SRC, GST_PAD_ALWAYS,
    GST_STATIC_CAPS (GST_CCL_CUDA_CAPS SYSTEM_CAPS));

enum
{
  PROP_0,
  PROP_OUTPUT,
  PROP_METHOD,
  PROP_THRESHOLD,
  PROP_LEARNING_RATE,
  PROP_WARMUP_FRAMES,
  PROP_ABSORB_TIME,
  PROP_FREEZE_ON_MOTION,
  PROP_SHADOW,
  PROP_MEDIAN,
  PROP_CONFIRM_FRAMES,
  PROP_OPEN,
  PROP_CLOSE,
  PROP_DILATE,
  PROP_WORK_HEIGHT,
  PROP_MAX_MOTION,
  PROP_IGNORE,
  PROP_BACKGROUND_LOCATION,
  PROP_MIN_MOTION,
  PROP_POST_MESSAGES,
  PROP_OFF_DELAY,
  PROP_ASYNC_DEPTH,
  PROP_BACKEND,
  PROP_ACTIVE_BACKEND,
  PROP_CUDA_DEVICE_ID,
  PROP_THREADS,
  PROP_STATS,
  N_PROPERTIES
};

static GParamSpec *properties[N_PROPERTIES];

#define gst_ccl_motion_parent_class parent_class
G_DEFINE_FINAL_TYPE_WITH_CODE (GstCclMotion, gst_ccl_motion, GST_TYPE_CCL_ANALYZER,
    GST_DEBUG_CATEGORY_INIT (gst_ccl_motion_debug, "cclmotion", 0, "motion detection"));
GST_ELEMENT_REGISTER_DEFINE (cclmotion, "cclmotion", GST_RANK_NONE, GST_TYPE_CCL_MOTION);

/* ---------------------------------------------------------------- settings, output */

static void
gst_ccl_motion_copy_settings (GstCclAnalyzer * analyzer)
{
  GST_CCL_MOTION (analyzer)->now = GST_CCL_MOTION (analyzer)->settings;
}

static void
gst_ccl_motion_get_wanted_output (GstCclAnalyzer * analyzer, gint * output, guint * height)
{
  GstCclMotion *const self = GST_CCL_MOTION (analyzer);

  *output = self->wanted_output;
  *height = *output == GST_CCL_MOTION_OUTPUT_MASK ? self->settings.work_height : 0;
}

static void
gst_ccl_motion_output_changed (GstCclAnalyzer * analyzer)
{
  gst_ccl_motion_recreate_pool (GST_CCL_MOTION (analyzer));
}

/* ---------------------------------------------------------------- caps */

/* With `work_height` the size of the mask follows from the frame's, and nothing about the frame's from the mask's. */
static void
scale_size (GstStructure * structure, guint work_height, gboolean to_mask)
{
  gint width, height;

  if (!work_height)
    return;
  if (to_mask && gst_structure_get_int (structure, "width", &width)
      && gst_structure_get_int (structure, "height", &height)) {
    const guint mask_height = gst_ccl_motion_mask_height (height, work_height);
    gst_structure_set (structure, "width", G_TYPE_INT, gst_ccl_motion_mask_width (width, height, mask_height),
        "height", G_TYPE_INT, mask_height, NULL);
  } else {
    gst_structure_set (structure, "width", GST_TYPE_INT_RANGE, 1, 16384, "height", GST_TYPE_INT_RANGE, 1, 16384, NULL);
  }
}

/* Caps of masks for frames of the caps `caps`, or the other way round. */
static GstCaps *
caps_across (GstCclMotion * self, GstCaps * caps, gboolean to_mask)
{
  GstCaps *result = gst_caps_new_empty ();

  for (guint i = 0; i < gst_caps_get_size (caps); i++) {
    GstStructure *structure = gst_structure_copy (gst_caps_get_structure (caps, i));

    gst_structure_remove_fields (structure, "colorimetry", "chroma-site", NULL);
    scale_size (structure, gst_ccl_analyzer_get_output_height (&self->parent), to_mask);
    if (to_mask)
      gst_structure_set (structure, "format", G_TYPE_STRING, "GRAY8", NULL);
    else
      gst_structure_remove_field (structure, "format");
    if (!to_mask) {
      GstCaps *const cuda = gst_caps_new_full (gst_structure_copy (structure), NULL);
      gst_caps_set_features (cuda, 0, gst_caps_features_new (GST_CCL_CUDA_FEATURE, NULL));
      result = gst_caps_merge (result, cuda);
    }
    result = gst_caps_merge_structure (result, structure);
  }
  return result;
}

static GstCaps *
gst_ccl_motion_other_caps (GstCclAnalyzer * analyzer, GstPadDirection direction, GstCaps * caps)
{
  return caps_across (GST_CCL_MOTION (analyzer), caps, direction == GST_PAD_SINK);
}

static void
gst_ccl_motion_caps_changed (GstCclAnalyzer * analyzer)
{
  GST_CCL_MOTION (analyzer)->caps_are_new = TRUE;
  gst_ccl_motion_forget_tracks (GST_CCL_MOTION (analyzer));
}

/* A mask keeps the metadata that does not describe the frame's picture. */
static gboolean
gst_ccl_motion_transform_meta (GstBaseTransform * transform, GstBuffer * output, GstMeta * meta, GstBuffer * input)
{
  (void) transform, (void) output, (void) input;
  return gst_meta_api_type_get_tags (meta->info->api) == NULL || !gst_meta_api_type_get_tags (meta->info->api)[0];
}

/* ---------------------------------------------------------------- events, states */

static void
gst_ccl_motion_event (GstCclAnalyzer * analyzer, GstEvent * event)
{
  GstCclMotion *const self = GST_CCL_MOTION (analyzer);

  if (GST_EVENT_TYPE (event) == GST_EVENT_FLUSH_STOP) {
    gst_ccl_motion_restart_learning (self);
  } else if (GST_EVENT_TYPE (event) == GST_EVENT_EOS) {
    gst_ccl_motion_end_period (self, self->now.post_messages, NULL);
    gst_ccl_motion_hint_when_all_learnt (self);
    gst_ccl_motion_save_background_at_end (self);
  }
}

/* Opens a small detector, so that a missing device stops the pipeline before the first frame. */
static gboolean
gst_ccl_motion_start (GstCclAnalyzer * analyzer)
{
  GstCclMotion *const self = GST_CCL_MOTION (analyzer);

  GST_OBJECT_LOCK (self);
  memset (&self->stats, 0, sizeof self->stats);
  GST_OBJECT_UNLOCK (self);
  gst_ccl_motion_warn_of_settings (self);
  analyzer->depth = MIN (self->now.async_depth, analyzer->headroom.n_spare);
  self->period.is_moving = FALSE;
  self->ignored_serial = 0;
  self->last_time = GST_CLOCK_TIME_NONE;
  self->loads_background = TRUE;
  self->warned_of_tracks = FALSE;
  gst_ccl_motion_forget_tracks (self);
  return gst_ccl_analyzer_ensure_open (analyzer);
}

static void
gst_ccl_motion_stop (GstCclAnalyzer * analyzer)
{
  GstCclMotion *const self = GST_CCL_MOTION (analyzer);

  gst_ccl_motion_end_period (self, self->now.post_messages, NULL);
  gst_ccl_motion_save_background_at_end (self);
}

/* ---------------------------------------------------------------- properties */

/* A value that cannot be read leaves the polygons as they were. */
static void
set_ignore (GstCclMotion * self, const gchar * text)
{
  GError *error = NULL;
  GPtrArray *const polygons = gst_ccl_ignore_parse (text, &error);

  if (polygons) {
    GST_OBJECT_LOCK (self);
    g_free (self->ignore);
    self->ignore = g_strdup (text ? text : "");
    self->settings.ignore_serial++;
    GST_OBJECT_UNLOCK (self);
    g_ptr_array_unref (polygons);
  }
  gst_ccl_analyzer_set_parse_error (&self->parent, error ? error->message : NULL);
  g_clear_error (&error);
}

/* Properties that are plain members; the others are in set_property() and get_property(). */
static const GstCclPropertyRow rows[N_PROPERTIES] = {
  [PROP_OUTPUT] = GST_CCL_PROPERTY_ROW (GstCclMotion, wanted_output),
  [PROP_METHOD] = GST_CCL_PROPERTY_ROW (GstCclMotion, settings.method),
  [PROP_THRESHOLD] = GST_CCL_PROPERTY_ROW (GstCclMotion, settings.params.threshold),
  [PROP_LEARNING_RATE] = GST_CCL_PROPERTY_ROW (GstCclMotion, settings.params.learning_rate),
  [PROP_ABSORB_TIME] = GST_CCL_PROPERTY_ROW (GstCclMotion, settings.absorb_time),
  [PROP_WARMUP_FRAMES] = GST_CCL_PROPERTY_ROW (GstCclMotion, settings.params.warmup_frames),
  [PROP_FREEZE_ON_MOTION] = GST_CCL_PROPERTY_ROW (GstCclMotion, settings.params.freeze),
  [PROP_MEDIAN] = GST_CCL_PROPERTY_ROW (GstCclMotion, settings.params.median),
  [PROP_CONFIRM_FRAMES] = GST_CCL_PROPERTY_ROW (GstCclMotion, settings.params.confirm_frames),
  [PROP_OPEN] = GST_CCL_PROPERTY_ROW (GstCclMotion, settings.params.open),
  [PROP_CLOSE] = GST_CCL_PROPERTY_ROW (GstCclMotion, settings.params.close),
  [PROP_DILATE] = GST_CCL_PROPERTY_ROW (GstCclMotion, settings.params.dilate),
  [PROP_WORK_HEIGHT] = GST_CCL_PROPERTY_ROW (GstCclMotion, settings.work_height),
  [PROP_MAX_MOTION] = GST_CCL_PROPERTY_ROW (GstCclMotion, settings.params.max_motion),
  [PROP_MIN_MOTION] = GST_CCL_PROPERTY_ROW (GstCclMotion, settings.min_motion),
  [PROP_POST_MESSAGES] = GST_CCL_PROPERTY_ROW (GstCclMotion, settings.post_messages),
  [PROP_OFF_DELAY] = GST_CCL_PROPERTY_ROW (GstCclMotion, settings.off_delay),
  [PROP_ASYNC_DEPTH] = GST_CCL_PROPERTY_ROW (GstCclMotion, settings.async_depth),
  [PROP_BACKEND] = GST_CCL_PROPERTY_ROW (GstCclMotion, settings.backend),
  [PROP_ACTIVE_BACKEND] = GST_CCL_PROPERTY_ROW (GstCclMotion, parent.active_backend),
  [PROP_CUDA_DEVICE_ID] = GST_CCL_PROPERTY_ROW (GstCclMotion, parent.cuda.device_id),
  [PROP_THREADS] = GST_CCL_PROPERTY_ROW (GstCclMotion, settings.threads),
};

static void
gst_ccl_motion_set_property (GObject * object, guint id, const GValue * value, GParamSpec * pspec)
{
  GstCclMotion *const self = GST_CCL_MOTION (object);
  GstCclMotionSettings *const settings = &self->settings;
  CclMotionParams *const params = &settings->params;

  if (id == PROP_IGNORE) {
    set_ignore (self, g_value_get_string (value));
    return;
  }
  GST_OBJECT_LOCK (self);
  switch (id) {
    case PROP_OUTPUT:
      self->wanted_output = g_value_get_enum (value);
      gst_ccl_analyzer_sync_output (&self->parent);
      break;
    case PROP_BACKGROUND_LOCATION:
      gst_ccl_motion_set_background_location (self, g_value_get_string (value));
      break;
    case PROP_SHADOW:
      params->drop_shadow = g_value_get_enum (value) == GST_CCL_SHADOW_DROP;
      break;
    case PROP_WORK_HEIGHT:
      settings->work_height = g_value_get_uint (value);
      gst_ccl_analyzer_sync_output (&self->parent);
      break;
    default:
      if (!gst_ccl_property_row_set (self, &rows[id], value))
        G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
      break;
  }
  GST_OBJECT_UNLOCK (self);
}

static GstStructure *
create_stats (GstCclMotion * self)
{
  const GstCclMotionStats *const stats = &self->stats;
  const GstCclAnalyzerStats *const common = &self->parent.stats;
  GstStructure *structure = gst_structure_new ("cclmotion-stats",
      "frames", G_TYPE_UINT64, common->frames,
      "learning", G_TYPE_UINT64, stats->learning,
      "with-motion", G_TYPE_UINT64, stats->with_motion,
      "global-changes", G_TYPE_UINT64, stats->global_changes,
      "area-ratio", G_TYPE_DOUBLE, stats->area_ratio,
      "backend", G_TYPE_STRING, gst_ccl_analyzer_backend_name (&self->parent),
      "gpu", G_TYPE_INT, common->gpu,
      "gpu-changes", G_TYPE_UINT64, common->gpu_changes,
      "path", G_TYPE_STRING, common->path ? common->path : "none",
      "host-bytes", G_TYPE_UINT64, (guint64) common->host_bytes,
      "device-bytes", G_TYPE_UINT64, (guint64) common->device_bytes, NULL);

  gst_ccl_min_avg_max_to_structure (&stats->detect, "detect", structure);
  gst_ccl_min_avg_max_to_structure (&common->host, "host", structure);
  gst_ccl_min_avg_max_to_structure (&common->latency, "latency", structure);
  return structure;
}

static void
gst_ccl_motion_get_property (GObject * object, guint id, GValue * value, GParamSpec * pspec)
{
  GstCclMotion *const self = GST_CCL_MOTION (object);
  const CclMotionParams *const params = &self->settings.params;

  GST_OBJECT_LOCK (self);
  switch (id) {
    case PROP_SHADOW:
      g_value_set_enum (value, params->drop_shadow ? GST_CCL_SHADOW_DROP : GST_CCL_SHADOW_KEEP);
      break;
    case PROP_IGNORE:
      g_value_set_string (value, self->ignore);
      break;
    case PROP_BACKGROUND_LOCATION:
      g_value_set_string (value, self->background_location);
      break;
    case PROP_STATS:
      g_value_take_boxed (value, create_stats (self));
      break;
    default:
      if (!gst_ccl_property_row_get (self, &rows[id], value))
        G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, pspec);
      break;
  }
  GST_OBJECT_UNLOCK (self);
}

static void
install_model_properties (const CclMotionParams * defaults)
{
  properties[PROP_METHOD] = g_param_spec_enum ("method", "Method",
      "Model of the background, which decides what is foreground", GST_TYPE_CCL_MOTION_METHOD,
      ccl_motion_config_default ().method, GST_CCL_PARAM_PLAYING);
  properties[PROP_THRESHOLD] = g_param_spec_uint ("threshold", "Threshold",
      "Minimum difference of a pixel from the background in gray levels; feedback and mog2 raise it where there is noise "
      "(0 = 5 for feedback, 12 for mog2, 25 for the other methods)", 0, 255, defaults->threshold,
      GST_CCL_PARAM_CONTROLLED);
  properties[PROP_LEARNING_RATE] =
      g_param_spec_double ("learning-rate", "Learning rate",
      "Fraction of the background that each frame replaces. 0.01 takes in a still object after some 30 frames, 0 learns "
      "nothing; the first frames count for more (-1 or any negative value = 0.003; not with method=feedback)", -1, 1,
      defaults->learning_rate, GST_CCL_PARAM_CONTROLLED);
  properties[PROP_WARMUP_FRAMES] =
      g_param_spec_uint ("warmup-frames", "Warm-up frames",
      "Number of first frames to learn from, whose masks are empty (0 = none; not with method=feedback, which takes 1.5 "
      "seconds)", 0, G_MAXUINT, defaults->warmup_frames, GST_CCL_PARAM_CONTROLLED);
  properties[PROP_FREEZE_ON_MOTION] =
      g_param_spec_boolean ("freeze-on-motion", "Freeze on motion",
      "Do not learn where something moves: an object that stops stays foreground (not with method=feedback, see "
      "absorb-time)", defaults->freeze, GST_CCL_PARAM_CONTROLLED);
  properties[PROP_ABSORB_TIME] =
      g_param_spec_uint64 ("absorb-time", "Absorb time",
      "Time after which an object that stands still becomes background, in nanoseconds (0 = never; method=feedback only)",
      0, G_MAXINT64, DEFAULT_ABSORB_TIME, GST_CCL_PARAM_CONTROLLED);
  properties[PROP_MAX_MOTION] =
      g_param_spec_double ("max-motion", "Maximum motion",
      "Maximum fraction of the picture that differs from the background. With more, the whole picture has changed "
      "(light, camera): the mask is empty and flagged, and learning starts again (1 = no limit)", 0, 1,
      defaults->max_motion, GST_CCL_PARAM_CONTROLLED);
}

static void
install_mask_properties (const CclMotionParams * defaults)
{
  properties[PROP_OUTPUT] = g_param_spec_enum ("output", "Output", "Picture that leaves the element",
      GST_TYPE_CCL_MOTION_OUTPUT, GST_CCL_MOTION_OUTPUT_PASSTHROUGH, GST_CCL_PARAM_PLAYING);
  properties[PROP_WORK_HEIGHT] = g_param_spec_uint ("work-height", "Working height",
      "Height in pixels to scale frames down to first. The mask has that size, and blobs are mapped back (0 = height of "
      "the frames)", 0, 4320, 0, GST_CCL_PARAM_PLAYING);
  properties[PROP_SHADOW] = g_param_spec_enum ("shadow", "Shadow", "How to treat cast shadows (not with method=diff)",
      GST_TYPE_CCL_SHADOW, defaults->drop_shadow ? GST_CCL_SHADOW_DROP : GST_CCL_SHADOW_KEEP, GST_CCL_PARAM_CONTROLLED);
  properties[PROP_MEDIAN] = g_param_spec_uint ("median", "Median",
      "Radius in mask pixels of the median filter that suppresses noise (0 = off)", 0, 2, defaults->median,
      GST_CCL_PARAM_CONTROLLED);
  properties[PROP_CONFIRM_FRAMES] = g_param_spec_uint ("confirm-frames", "Confirm frames",
      "Number of successive frames in which a pixel must be foreground (1 = at once)", 1, CCL_MOTION_MAX_CONFIRM,
      defaults->confirm_frames, GST_CCL_PARAM_CONTROLLED);
  properties[PROP_OPEN] = g_param_spec_uint ("open", "Open",
      "Radius r of the opening in mask pixels: removes foreground thinner than 2r+1 (0 = off)", 0,
      CCL_MOTION_MAX_RADIUS, defaults->open, GST_CCL_PARAM_CONTROLLED);
  properties[PROP_CLOSE] = g_param_spec_uint ("close", "Close",
      "Radius r of the closing in mask pixels: fills gaps thinner than 2r+1 (0 = off)", 0, CCL_MOTION_MAX_RADIUS,
      defaults->close, GST_CCL_PARAM_CONTROLLED);
  properties[PROP_DILATE] = g_param_spec_uint ("dilate", "Dilate",
      "Radius of the final dilation in mask pixels (0 = off)", 0, CCL_MOTION_MAX_RADIUS, defaults->dilate,
      GST_CCL_PARAM_CONTROLLED);
  properties[PROP_IGNORE] = g_param_spec_string ("ignore", "Ignore",
      "Polygons to ignore: \"x,y;x,y;x,y|x,y;...\", in pixels of the frame, or in fractions of it if no coordinate of a "
      "polygon is above 1", "", GST_CCL_PARAM_PLAYING);
}

static void
install_message_properties (void)
{
  properties[PROP_POST_MESSAGES] = g_param_spec_enum ("post-messages", "Post messages",
      "Element messages \"ccl-motion\" to post on the bus", GST_TYPE_CCL_POST_MESSAGES, GST_CCL_POST_EDGES,
      GST_CCL_PARAM_PLAYING);
  properties[PROP_MIN_MOTION] = g_param_spec_double ("min-motion", "Minimum motion",
      "Minimum fraction of the picture that must be foreground for messages about motion (see post-messages)", 0, 1,
      0.0005, GST_CCL_PARAM_CONTROLLED);
  properties[PROP_OFF_DELAY] = g_param_spec_uint64 ("off-delay", "Off delay",
      "Time without motion after which a message says that it has ended, in nanoseconds", 0, G_MAXINT64, 5 * GST_SECOND,
      GST_CCL_PARAM_CONTROLLED);
}

static void
install_backend_properties (void)
{
  properties[PROP_BACKEND] = gst_ccl_analyzer_param_backend ();
  properties[PROP_ACTIVE_BACKEND] = gst_ccl_analyzer_param_active_backend ();
  properties[PROP_CUDA_DEVICE_ID] = gst_ccl_analyzer_param_cuda_device_id ();
  properties[PROP_ASYNC_DEPTH] = gst_ccl_analyzer_param_async_depth ();
  properties[PROP_THREADS] = g_param_spec_uint ("threads", "Threads",
      "Maximum number of CPU threads, which all streams of the process share (0 = as many as help, 1 = only the "
      "streaming thread). A change while playing starts learning again", 0, 1024, 0, GST_CCL_PARAM_PLAYING);
  properties[PROP_STATS] = g_param_spec_boxed ("stats", "Statistics",
      "Since the start: frames, learning (frames in the warm-up), with-motion, global-changes; area-ratio of the last "
      "frame; backend, gpu (-1 = none), gpu-changes (after failures), path, host-bytes, device-bytes; detect-us (from "
      "submission until the mask is there), host-us (time spent on a frame) and latency-us (from its arrival until it "
      "leaves), each " GST_CCL_TIME_PARTS, GST_TYPE_STRUCTURE, GST_CCL_PARAM_READ_ONLY);
}

static void
gst_ccl_motion_finalize (GObject * object)
{
  GstCclMotion *const self = GST_CCL_MOTION (object);

  g_free (self->ignore);
  g_free (self->background_location);
  g_mutex_clear (&self->detector_lock);
  G_OBJECT_CLASS (parent_class)->finalize (object);
}

static void
init_analyzer (GstCclAnalyzerClass * klass)
{
  klass->category = gst_ccl_motion_debug;
  klass->active_backend = properties[PROP_ACTIVE_BACKEND];
  klass->copy_settings = gst_ccl_motion_copy_settings;
  klass->get_wanted_output = gst_ccl_motion_get_wanted_output;
  klass->output_changed = gst_ccl_motion_output_changed;
  klass->other_caps = gst_ccl_motion_other_caps;
  klass->caps_changed = gst_ccl_motion_caps_changed;
  klass->event = gst_ccl_motion_event;
  klass->start = gst_ccl_motion_start;
  klass->stop = gst_ccl_motion_stop;
  gst_ccl_motion_init_detector (klass);
  gst_ccl_motion_init_frames (klass);
  gst_ccl_motion_init_tracks (klass);
}

static void
gst_ccl_motion_class_init (GstCclMotionClass * klass)
{
  GObjectClass *const object = G_OBJECT_CLASS (klass);
  GstElementClass *const element = GST_ELEMENT_CLASS (klass);
  const CclMotionParams defaults = ccl_motion_params_default ();

  object->set_property = gst_ccl_motion_set_property;
  object->get_property = gst_ccl_motion_get_property;
  object->finalize = gst_ccl_motion_finalize;
  install_model_properties (&defaults);
  properties[PROP_BACKGROUND_LOCATION] = gst_ccl_motion_install_background (object);
  install_mask_properties (&defaults);
  install_message_properties ();
  install_backend_properties ();
  g_object_class_install_properties (object, N_PROPERTIES, properties);

  gst_element_class_add_static_pad_template (element, &sink_template);
  gst_element_class_add_static_pad_template (element, &src_template);
  gst_element_class_set_static_metadata (element, "Motion detection", "Filter/Analyzer/Video",
      ccl_backend_built (CCL_BACKEND_CUDA)
      ? "Finds what moves before a fixed camera, on CUDA or the CPU, and attaches it to each frame as a mask"
      : "Finds what moves before a fixed camera and attaches it to each frame as a mask "
      "(CPU only: built without the CUDA toolkit)", "gst-ccl contributors");
  gst_ccl_element_class_set_document (element, "cclmotion");
  GST_BASE_TRANSFORM_CLASS (klass)->transform_meta = gst_ccl_motion_transform_meta;
  init_analyzer (GST_CCL_ANALYZER_CLASS (klass));

  gst_type_mark_as_plugin_api (GST_TYPE_CCL_MOTION_METHOD, 0);
  gst_type_mark_as_plugin_api (GST_TYPE_CCL_MOTION_OUTPUT, 0);
  gst_type_mark_as_plugin_api (GST_TYPE_CCL_SHADOW, 0);
  gst_type_mark_as_plugin_api (GST_TYPE_CCL_POST_MESSAGES, 0);
}

static void
gst_ccl_motion_init (GstCclMotion * self)
{
  self->settings = (GstCclMotionSettings) {
  .method = ccl_motion_config_default ().method,.params = ccl_motion_params_default (),.absorb_time =
        DEFAULT_ABSORB_TIME,.min_motion = 0.0005,.post_messages = GST_CCL_POST_EDGES,.off_delay =
        5 * GST_SECOND,.ignore_serial = 1,};
  self->ignore = g_strdup ("");
  g_mutex_init (&self->detector_lock);
  for (guint i = 0; i < CCL_MAX_DEPTH; i++)
    self->parent.frames[i] = &self->slots[i].common;
  gst_base_transform_set_in_place (GST_BASE_TRANSFORM (self), TRUE);
}
