/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/**
 * SECTION:element-ccllabel
 * @title: ccllabel
 * @short_description: finds the blobs of a mask and attaches them as metadata
 *
 * Takes binary masks, or video whose luma plane is a mask, and labels their connected components. It attaches a
 * #GstCclBlobMeta to each buffer: exact box, area, centroid and covariance of every blob. The picture passes unchanged,
 * without a copy.
 *
 * Runs on the CPU or on an NVIDIA GPU (#ccllabel:backend); masks may be in system memory or in CUDA memory.
 *
 * ## Blobs of a mask, printed as JSON
 * |[
 * gst-launch-1.0 -q videotestsrc pattern=ball num-buffers=30 ! video/x-raw,format=GRAY8 ! ccllabel threshold=127 !
 *     cclmeta2json ! fdsink
 * ]|
 * The threshold is for video, whose black is 16; a mask of zeroes and anything else needs none.
 * ## Dark print on white paper: everything up to 127 is foreground
 * |[
 * gst-launch-1.0 filesrc location=page.png ! pngdec ! videoconvert ! video/x-raw,format=GRAY8 !
 *     ccllabel threshold=127 invert=true connectivity=4 ! cclmeta2json ! fdsink
 * ]|
 * ## Round things away from the border, and all large ones, roundest first
 * |[
 * gst-launch-1.0 -q videotestsrc pattern=snow num-buffers=5 ! video/x-raw,format=GRAY8 ! ccllabel threshold=127
 *     filter="area >= 20 and circularity > 0.5 and not touches-border or area > 5000" sort=circularity-desc !
 *     cclmeta2json ! fdsink
 * ]|
 * ## The mask without its specks
 * |[
 * gst-launch-1.0 videotestsrc pattern=snow ! video/x-raw,format=GRAY8 !
 *     ccllabel threshold=200 min-area=20 output=mask ! videoconvert ! autovideosink
 * ]|
 * ## Each blob in its own colour
 * |[
 * gst-launch-1.0 videotestsrc pattern=snow ! video/x-raw,format=GRAY8 !
 *     ccllabel threshold=200 max-components=65535 output=colors ! videoconvert ! autovideosink
 * ]|
 * ## Moving things in a video: the mask comes beside the frames, the blobs are on the frames
 * |[
 * gst-launch-1.0 -q videotestsrc pattern=ball num-buffers=100 ! video/x-raw,format=I420 ! cclmotion !
 *     ccllabel mask-source=mask-meta ! cclmeta2json ! fdsink
 * ]|
 * ## Regions of interest for elements that do not know GstCclBlobMeta
 * |[
 * gst-launch-1.0 videotestsrc pattern=ball ! video/x-raw,format=GRAY8 !
 *     ccllabel threshold=127 attach=blob+roi roi-type=ball ! fakesink
 * ]|
 * ## The outline of every blob, as a polygon
 * |[
 * gst-launch-1.0 -q videotestsrc pattern=ball num-buffers=30 ! video/x-raw,format=GRAY8 ! ccllabel threshold=127
 *     contours=true contour-epsilon=2 ! cclmeta2json ! fdsink
 * ]|
 * ## Blobs that keep one number through ten frames, as long as they touch from frame to frame
 * |[
 * gst-launch-1.0 -q videotestsrc pattern=ball num-buffers=30 ! video/x-raw,format=GRAY8 !
 *     ccllabel threshold=127 volume=10 ! cclmeta2json ! fdsink
 * ]|
 * ## One frame of delay for more throughput: the upload of a frame overlaps the analysis of the one before
 * |[
 * gst-launch-1.0 videotestsrc ! video/x-raw,format=GRAY8,width=3840,height=2160 !
 *     ccllabel threshold=127 backend=cuda async-depth=1 ! fakesink
 * ]|
 */

#include "gstccllabelprivate.h"

#include <string.h>

#include "base/gstccldocument.h"
#include "base/gstcclenums.h"
#include "base/gstcclpropertyrow.h"

GST_DEBUG_CATEGORY (gst_ccl_label_debug);
#define GST_CAT_DEFAULT gst_ccl_label_debug

#define OUTPUT_CAPS "video/x-raw, format = (string) { GRAY16_LE, GRAY16_BE, RGB, RGBA }, " GST_CCL_SIZE_RANGE

static GstStaticPadTemplate sink_template = GST_STATIC_PAD_TEMPLATE ("sink", GST_PAD_SINK, GST_PAD_ALWAYS,
    GST_STATIC_CAPS (GST_CCL_MASK_CAPS "; " GST_CCL_ALPHA_CAPS));
static GstStaticPadTemplate src_template = GST_STATIC_PAD_TEMPLATE ("src", GST_PAD_SRC, GST_PAD_ALWAYS,
    GST_STATIC_CAPS (GST_CCL_MASK_CAPS "; " GST_CCL_ALPHA_CAPS "; " OUTPUT_CAPS));

enum
{
  PROP_0,
  PROP_BACKEND,
  PROP_ACTIVE_BACKEND,
  PROP_ALGORITHM,
  PROP_CONNECTIVITY,
  PROP_MASK_SOURCE,
  PROP_SEGMENTATION,
  PROP_REGION_ID,
  PROP_FOREGROUND,
  PROP_BACKGROUND_VALUE,
  PROP_THRESHOLD,
  PROP_INVERT,
  PROP_MIN_AREA,
  PROP_MAX_AREA,
  PROP_MIN_REL_AREA,
  PROP_MAX_REL_AREA,
  PROP_MIN_WIDTH,
  PROP_MAX_WIDTH,
  PROP_MIN_HEIGHT,
  PROP_MAX_HEIGHT,
  PROP_FILTER,
  PROP_BORDER,
  PROP_MAX_COMPONENTS,
  PROP_SORT,
  PROP_ATTACH,
  PROP_MAX_MIRROR,
  PROP_FEATURES,
  PROP_CONTOURS,
  PROP_CONTOUR_EPSILON,
  PROP_CONTOUR_MAX_POINTS,
  PROP_ROI_TYPE,
  PROP_INTERVAL,
  PROP_VOLUME,
  PROP_ASYNC_DEPTH,
  PROP_SKIP_WHEN_LATE,
  PROP_OUTPUT,
  PROP_CUDA_DEVICE_ID,
  PROP_THREADS,
  PROP_TIMING,
  PROP_BATCH,
  PROP_STATS,
  N_PROPERTIES
};

static GParamSpec *properties[N_PROPERTIES];

#define gst_ccl_label_parent_class parent_class
G_DEFINE_FINAL_TYPE_WITH_CODE (GstCclLabel, gst_ccl_label, GST_TYPE_CCL_ANALYZER,
    GST_DEBUG_CATEGORY_INIT (gst_ccl_label_debug, "ccllabel", 0, "connected component labelling"));
GST_ELEMENT_REGISTER_DEFINE (ccllabel, "ccllabel", GST_RANK_NONE, GST_TYPE_CCL_LABEL);

/* ---------------------------------------------------------------- settings, caps, states */

static void
gst_ccl_label_copy_settings (GstCclAnalyzer * analyzer)
{
  GstCclLabel *const self = GST_CCL_LABEL (analyzer);
  GstCclBlobFilter *const old = self->now.expression;

  self->now = self->settings;
  gst_ccl_blob_filter_ref (self->now.expression);
  gst_ccl_blob_filter_unref (old);
}

static void
gst_ccl_label_get_wanted_output (GstCclAnalyzer * analyzer, gint * output, guint * height)
{
  *output = GST_CCL_LABEL (analyzer)->settings.output;
  *height = 0;
}

static GstCaps *
gst_ccl_label_other_caps (GstCclAnalyzer * analyzer, GstPadDirection direction, GstCaps * caps)
{
  return gst_ccl_label_picture_caps (gst_ccl_analyzer_get_output (analyzer), direction, caps);
}

static GstCaps *
gst_ccl_label_fixate_caps (GstBaseTransform * transform, GstPadDirection direction, GstCaps * caps, GstCaps * other)
{
  const gint output = gst_ccl_analyzer_get_output (GST_CCL_ANALYZER (transform));

  if (direction == GST_PAD_SINK && output != GST_CCL_OUTPUT_PASSTHROUGH)
    return gst_ccl_label_fixate_picture (output, other);
  return GST_BASE_TRANSFORM_CLASS (parent_class)->fixate_caps (transform, direction, caps, other);
}

static void
gst_ccl_label_caps_changed (GstCclAnalyzer * analyzer)
{
  GstCclLabel *const self = GST_CCL_LABEL (analyzer);

  self->mask_width = GST_VIDEO_INFO_WIDTH (&analyzer->in_info);
  self->mask_height = GST_VIDEO_INFO_HEIGHT (&analyzer->in_info);
  gst_ccl_label_reset_hints (self);
}

static void
gst_ccl_label_event (GstCclAnalyzer * analyzer, GstEvent * event)
{
  if (GST_EVENT_TYPE (event) == GST_EVENT_FLUSH_STOP || GST_EVENT_TYPE (event) == GST_EVENT_SEGMENT)
    GST_CCL_LABEL (analyzer)->n_submitted = 0;
}

static gboolean
gst_ccl_label_start (GstCclAnalyzer * analyzer)
{
  GstCclLabel *const self = GST_CCL_LABEL (analyzer);

  GST_OBJECT_LOCK (self);
  memset (&self->stats, 0, sizeof self->stats);
  GST_OBJECT_UNLOCK (self);
  memset (&self->rejected, 0, sizeof self->rejected);
  self->volume.n_components = self->volume.n_volumes = 0;
  self->warned_features = FALSE;
  self->n_submitted = 0;
  self->mask_width = self->mask_height = 16;
  self->limited_width = self->limited_height = 0;
  gst_ccl_label_warn_of_settings (self);
  return gst_ccl_label_start_contexts (self);
}

/* The outputs have the input's geometry, so metadata stays valid unless it describes colours or memory. */
static gboolean
gst_ccl_label_transform_meta (GstBaseTransform * transform, GstBuffer * output, GstMeta * meta, GstBuffer * input)
{
  (void) transform, (void) output, (void) input;
  return !gst_meta_api_type_has_tag (meta->info->api, g_quark_from_static_string (GST_META_TAG_VIDEO_COLORSPACE_STR))
      && !gst_meta_api_type_has_tag (meta->info->api, g_quark_from_static_string (GST_META_TAG_MEMORY_STR));
}

/* ---------------------------------------------------------------- properties */

/* Properties that are plain members; the others are in set_property() and get_property(). */
static const GstCclPropertyRow rows[N_PROPERTIES] = {
  [PROP_BACKEND] = GST_CCL_PROPERTY_ROW (GstCclLabel, settings.method.backend),
  [PROP_ACTIVE_BACKEND] = GST_CCL_PROPERTY_ROW (GstCclLabel, parent.active_backend),
  [PROP_ALGORITHM] = GST_CCL_PROPERTY_ROW (GstCclLabel, settings.method.algorithm),
  [PROP_CONNECTIVITY] = GST_CCL_PROPERTY_ROW (GstCclLabel, settings.method.connectivity),
  [PROP_MASK_SOURCE] = GST_CCL_PROPERTY_ROW (GstCclLabel, settings.mask.source),
  [PROP_SEGMENTATION] = GST_CCL_PROPERTY_ROW (GstCclLabel, settings.mask.segmentation),
  [PROP_REGION_ID] = GST_CCL_PROPERTY_ROW (GstCclLabel, settings.mask.region_id),
  [PROP_FOREGROUND] = GST_CCL_PROPERTY_ROW (GstCclLabel, settings.foreground),
  [PROP_BACKGROUND_VALUE] = GST_CCL_PROPERTY_ROW (GstCclLabel, settings.background_value),
  [PROP_THRESHOLD] = GST_CCL_PROPERTY_ROW (GstCclLabel, settings.threshold),
  [PROP_INVERT] = GST_CCL_PROPERTY_ROW (GstCclLabel, settings.invert),
  [PROP_MIN_AREA] = GST_CCL_PROPERTY_ROW (GstCclLabel, settings.filter.min_area),
  [PROP_MAX_AREA] = GST_CCL_PROPERTY_ROW (GstCclLabel, settings.filter.max_area),
  [PROP_MIN_REL_AREA] = GST_CCL_PROPERTY_ROW (GstCclLabel, settings.filter.min_relative_area),
  [PROP_MAX_REL_AREA] = GST_CCL_PROPERTY_ROW (GstCclLabel, settings.filter.max_relative_area),
  [PROP_MIN_WIDTH] = GST_CCL_PROPERTY_ROW (GstCclLabel, settings.filter.min_width),
  [PROP_MAX_WIDTH] = GST_CCL_PROPERTY_ROW (GstCclLabel, settings.filter.max_width),
  [PROP_MIN_HEIGHT] = GST_CCL_PROPERTY_ROW (GstCclLabel, settings.filter.min_height),
  [PROP_MAX_HEIGHT] = GST_CCL_PROPERTY_ROW (GstCclLabel, settings.filter.max_height),
  [PROP_BORDER] = GST_CCL_PROPERTY_ROW (GstCclLabel, settings.filter.border),
  [PROP_MAX_COMPONENTS] = GST_CCL_PROPERTY_ROW (GstCclLabel, settings.max_components),
  [PROP_SORT] = GST_CCL_PROPERTY_ROW (GstCclLabel, settings.order),
  [PROP_ATTACH] = GST_CCL_PROPERTY_ROW (GstCclLabel, settings.attach),
  [PROP_MAX_MIRROR] = GST_CCL_PROPERTY_ROW (GstCclLabel, settings.max_mirror),
  [PROP_FEATURES] = GST_CCL_PROPERTY_ROW (GstCclLabel, settings.features),
  [PROP_CONTOURS] = GST_CCL_PROPERTY_ROW (GstCclLabel, settings.contours),
  [PROP_CONTOUR_EPSILON] = GST_CCL_PROPERTY_ROW (GstCclLabel, settings.contour_epsilon),
  [PROP_CONTOUR_MAX_POINTS] = GST_CCL_PROPERTY_ROW (GstCclLabel, settings.contour_max_points),
  [PROP_INTERVAL] = GST_CCL_PROPERTY_ROW (GstCclLabel, settings.interval),
  [PROP_VOLUME] = GST_CCL_PROPERTY_ROW (GstCclLabel, settings.volume),
  [PROP_ASYNC_DEPTH] = GST_CCL_PROPERTY_ROW (GstCclLabel, settings.async_depth),
  [PROP_SKIP_WHEN_LATE] = GST_CCL_PROPERTY_ROW (GstCclLabel, settings.skip_when_late),
  [PROP_OUTPUT] = GST_CCL_PROPERTY_ROW (GstCclLabel, settings.output),
  [PROP_CUDA_DEVICE_ID] = GST_CCL_PROPERTY_ROW (GstCclLabel, parent.cuda.device_id),
  [PROP_THREADS] = GST_CCL_PROPERTY_ROW (GstCclLabel, settings.threads),
  [PROP_TIMING] = GST_CCL_PROPERTY_ROW (GstCclLabel, settings.timing),
  [PROP_BATCH] = GST_CCL_PROPERTY_ROW (GstCclLabel, settings.batch),
};

static void
gst_ccl_label_set_property (GObject * object, guint id, const GValue * value, GParamSpec * pspec)
{
  GstCclLabel *const self = GST_CCL_LABEL (object);
  GstCclLabelSettings *const settings = &self->settings;

  if (id == PROP_FILTER) {
    gst_ccl_label_set_filter (self, g_value_get_string (value));
    return;
  }
  if (id == PROP_MASK_SOURCE) {
    gst_ccl_label_set_mask_source (self, g_value_get_enum (value));
    return;
  }
  GST_OBJECT_LOCK (self);
  switch (id) {
    case PROP_ROI_TYPE:
      /* Interned, because the metas do this anyway. */
      settings->roi_type = g_intern_string (g_value_get_string (value) ? g_value_get_string (value) : "blob");
      break;
    case PROP_OUTPUT:
      settings->output = g_value_get_enum (value);
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
create_stats (GstCclLabel * self)
{
  const GstCclLabelStats *const stats = &self->stats;
  const GstCclAnalyzerStats *const common = &self->parent.stats;
  GstStructure *structure = gst_structure_new ("ccllabel-stats",
      "frames", G_TYPE_UINT64, common->frames,
      "skipped", G_TYPE_UINT64, common->skipped,
      "late", G_TYPE_UINT64, self->parent.lateness.n_late,
      "components", G_TYPE_UINT64, stats->components,
      "truncated", G_TYPE_UINT64, stats->truncated,
      "volumes", G_TYPE_UINT64, stats->volumes,
      "backend", G_TYPE_STRING, gst_ccl_analyzer_backend_name (&self->parent),
      "gpu", G_TYPE_INT, common->gpu,
      "gpu-changes", G_TYPE_UINT64, common->gpu_changes,
      "algorithm", G_TYPE_STRING, stats->algorithm ? stats->algorithm : "none",
      "volume-algorithm", G_TYPE_STRING, stats->volume_algorithm ? stats->volume_algorithm : "none",
      "path", G_TYPE_STRING, common->path ? common->path : "none",
      "host-bytes", G_TYPE_UINT64, (guint64) common->host_bytes,
      "device-bytes", G_TYPE_UINT64, (guint64) common->device_bytes,
      "batch-avg", G_TYPE_DOUBLE, gst_ccl_min_avg_max_average (&stats->batch),
      "batch-max", G_TYPE_UINT, (guint) stats->batch.max, NULL);

  gst_ccl_min_avg_max_to_structure (&stats->upload, "upload", structure);
  gst_ccl_min_avg_max_to_structure (&stats->kernel, "kernel", structure);
  gst_ccl_min_avg_max_to_structure (&common->host, "host", structure);
  gst_ccl_min_avg_max_to_structure (&common->latency, "latency", structure);
  gst_ccl_min_avg_max_to_structure (&stats->contour, "contour", structure);
  gst_ccl_min_avg_max_to_structure (&stats->wait, "wait", structure);
  gst_ccl_min_avg_max_to_structure (&stats->pack, "pack", structure);
  return structure;
}

static void
gst_ccl_label_get_property (GObject * object, guint id, GValue * value, GParamSpec * pspec)
{
  GstCclLabel *const self = GST_CCL_LABEL (object);
  const GstCclLabelSettings *const settings = &self->settings;

  GST_OBJECT_LOCK (self);
  switch (id) {
    case PROP_FILTER:
      g_value_set_string (value, settings->expression ? settings->expression->text : "");
      break;
    case PROP_ROI_TYPE:
      g_value_set_string (value, settings->roi_type);
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
install_backend_properties (void)
{
  properties[PROP_BACKEND] = gst_ccl_analyzer_param_backend ();
  properties[PROP_ACTIVE_BACKEND] = gst_ccl_analyzer_param_active_backend ();
  properties[PROP_CUDA_DEVICE_ID] = gst_ccl_analyzer_param_cuda_device_id ();
  properties[PROP_ALGORITHM] = g_param_spec_enum ("algorithm", "Algorithm",
      "Labelling method. All methods find the same blobs. With backend=auto a method that one backend alone has selects "
      "that backend. With volume=N a method for volumes labels the volumes, and any other method labels the frames",
      GST_TYPE_CCL_ALGORITHM, GST_CCL_ALGORITHM_AUTO, GST_CCL_PARAM_PLAYING);
  properties[PROP_THREADS] = g_param_spec_uint ("threads", "Threads",
      "Maximum number of CPU threads, which all streams of the process share. On the CPU they label (0 = as many as "
      "help, 1 = only the streaming thread). On a GPU they pack masks in host memory (0 = only the streaming thread)",
      0, 1024, 0, GST_CCL_PARAM_PLAYING);
  properties[PROP_TIMING] = g_param_spec_boolean ("timing", "Timing",
      "Measure upload and kernels of each frame on the GPU, for stats. Costs some microseconds a frame; the CPU is "
      "always measured", FALSE, GST_CCL_PARAM_PLAYING);
  properties[PROP_BATCH] = g_param_spec_boolean ("batch", "Batch",
      "Launch frames of several ccllabel elements together when they wait for the GPU at the same moment. FALSE or "
      "timing=true: launch each frame alone", TRUE, GST_CCL_PARAM_PLAYING);
}

static void
install_mask_properties (void)
{
  properties[PROP_MASK_SOURCE] = g_param_spec_enum ("mask-source", "Mask source",
      "Source of the mask: the picture, its alpha plane, or the metadata of the frame. Blobs are mapped to the frame",
      GST_TYPE_CCL_MASK_SOURCE, GST_CCL_MASK_SOURCE_AUTO, GST_CCL_PARAM_PLAYING);
  properties[PROP_SEGMENTATION] = g_param_spec_int ("segmentation", "Segmentation",
      "With mask-source=segmentation-mtd: index of the segmentation to use (-1 = all, drawn into one mask of the "
      "frame's size if there are several)", -1, G_MAXINT, -1, GST_CCL_PARAM_CONTROLLED);
  properties[PROP_REGION_ID] = g_param_spec_int ("region-id", "Region ID",
      "With mask-source=segmentation-mtd: ID of the regions that are foreground, in a semantic segmentation a class "
      "(-1 = all regions except 0)", -1, G_MAXINT, -1, GST_CCL_PARAM_CONTROLLED);
  properties[PROP_FOREGROUND] = g_param_spec_enum ("foreground", "Foreground",
      "Which pixels are foreground, and which of them connect. With equal each blob has a class_id: its value",
      GST_TYPE_CCL_FOREGROUND, GST_CCL_FOREGROUND_THRESHOLD, GST_CCL_PARAM_PLAYING);
  properties[PROP_BACKGROUND_VALUE] = g_param_spec_uint ("background-value", "Background value",
      "With foreground=equal: value of the background (0 in regions of mask-source=segmentation-mtd)", 0, 65535, 0,
      GST_CCL_PARAM_PLAYING);
  properties[PROP_THRESHOLD] = g_param_spec_int ("threshold", "Threshold",
      "Pixels with a greater gray, luma or alpha value are foreground (0 to 255, with 16-bit gray 0 to 65535; "
      "-1 = 0 for gray, 127 for luma and alpha)", -1, 65535, -1, GST_CCL_PARAM_CONTROLLED);
  properties[PROP_INVERT] = g_param_spec_boolean ("invert", "Invert",
      "Pixels with a value up to the threshold are foreground: dark objects on a light background", FALSE,
      GST_CCL_PARAM_CONTROLLED);
  properties[PROP_CONNECTIVITY] = g_param_spec_enum ("connectivity", "Connectivity",
      "Neighbours of a pixel that belong to the same blob", GST_TYPE_CCL_CONNECTIVITY, CCL_CONNECT_8,
      GST_CCL_PARAM_CONTROLLED);
}

static void
install_filter_properties (void)
{
  properties[PROP_MIN_AREA] = g_param_spec_uint ("min-area", "Minimum area",
      "Minimum area of a blob in mask pixels (0 or 1 = no limit)", 0, G_MAXUINT, 1, GST_CCL_PARAM_CONTROLLED);
  properties[PROP_MAX_AREA] = g_param_spec_uint ("max-area", "Maximum area",
      "Maximum area of a blob in mask pixels (0 = no limit)", 0, G_MAXUINT, 0, GST_CCL_PARAM_CONTROLLED);
  properties[PROP_MIN_REL_AREA] = g_param_spec_double ("min-rel-area", "Minimum relative area",
      "Minimum area of a blob as a fraction of the mask (0 = no limit)", 0, 1, 0, GST_CCL_PARAM_CONTROLLED);
  properties[PROP_MAX_REL_AREA] = g_param_spec_double ("max-rel-area", "Maximum relative area",
      "Maximum area of a blob as a fraction of the mask (0 = no limit)", 0, 1, 0, GST_CCL_PARAM_CONTROLLED);
  properties[PROP_MIN_WIDTH] = g_param_spec_uint ("min-width", "Minimum width",
      "Minimum width of a blob in mask pixels (0 = no limit)", 0, CCL_MAX_SIZE, 0, GST_CCL_PARAM_CONTROLLED);
  properties[PROP_MAX_WIDTH] = g_param_spec_uint ("max-width", "Maximum width",
      "Maximum width of a blob in mask pixels (0 = no limit)", 0, CCL_MAX_SIZE, 0, GST_CCL_PARAM_CONTROLLED);
  properties[PROP_MIN_HEIGHT] = g_param_spec_uint ("min-height", "Minimum height",
      "Minimum height of a blob in mask pixels (0 = no limit)", 0, CCL_MAX_SIZE, 0, GST_CCL_PARAM_CONTROLLED);
  properties[PROP_MAX_HEIGHT] = g_param_spec_uint ("max-height", "Maximum height",
      "Maximum height of a blob in mask pixels (0 = no limit)", 0, CCL_MAX_SIZE, 0, GST_CCL_PARAM_CONTROLLED);
  properties[PROP_FILTER] = g_param_spec_string ("filter", "Filter",
      "Condition for a blob, besides the other limits, such as \"area >= 50 and circularity > 0.6 and not touches-border\" "
      "(empty = none). Compare (< <= > >= == !=) measures with numbers or with each other, and join comparisons by not, and, "
      "or and parentheses. The values of the property sort are the names of the measures, which are those of the mask. "
      "touches-border, touches-left, touches-top, touches-right and touches-bottom are true or false. A measure with a group "
      "in parentheses in its text there turns that group of features on", "", GST_CCL_PARAM_PLAYING);
  properties[PROP_BORDER] =
      g_param_spec_enum ("border", "Border", "How to treat blobs that touch the border of the mask",
      GST_TYPE_CCL_BORDER, CCL_BORDER_FLAG, GST_CCL_PARAM_CONTROLLED);
}

static void
install_list_properties (void)
{
  properties[PROP_MAX_COMPONENTS] = g_param_spec_uint ("max-components", "Maximum components",
      "Maximum number of blobs in the list of a frame (the total count stays exact; a flag marks a list that was cut)",
      1, CCL_MAX_COMPONENTS, 4096, GST_CCL_PARAM_PLAYING);
  properties[PROP_SORT] = g_param_spec_enum ("sort", "Sort",
      "Order of the list, such as area-desc for the largest first. The first max-components blobs stay. Labels do not "
      "change. A measure with a group in parentheses turns that group of features on", GST_TYPE_CCL_SORT,
      CCL_ORDER_RASTER, GST_CCL_PARAM_PLAYING);
  properties[PROP_FEATURES] =
      g_param_spec_flags ("features", "Features",
      "Groups of measures of each blob, in GstCclBlobMeta. basic is always there. A group marked (CPU) takes the CPU, "
      "whatever backend says", GST_TYPE_CCL_FEATURES, GST_CCL_FEATURES_BASIC, GST_CCL_PARAM_PLAYING);
  properties[PROP_CONTOURS] =
      g_param_spec_boolean ("contours", "Contours",
      "Trace the outer contour of each listed blob, as a polygon in GstCclBlobMeta (JSON: polygon). The CPU traces it, "
      "so a mask in CUDA memory is downloaded", FALSE, GST_CCL_PARAM_CONTROLLED);
  properties[PROP_CONTOUR_EPSILON] = g_param_spec_double ("contour-epsilon", "Contour tolerance",
      "Maximum distance of a contour from the edges of the pixels, in mask pixels (0 = exact, as far as "
      "contour-max-points allows)", 0, 64, 1, GST_CCL_PARAM_CONTROLLED);
  properties[PROP_CONTOUR_MAX_POINTS] = g_param_spec_uint ("contour-max-points", "Maximum points of a contour",
      "Maximum number of points of a contour. A longer contour gets twice the tolerance (contour-epsilon) until it fits",
      CCL_CONTOUR_MIN_POINTS, CCL_CONTOUR_MAX_POINTS, 64, GST_CCL_PARAM_CONTROLLED);
}

static void
install_output_properties (void)
{
  properties[PROP_OUTPUT] = g_param_spec_enum ("output", "Output",
      "Picture that leaves the element. mask, labels and colors show the blobs that pass the filters", GST_TYPE_CCL_OUTPUT,
      GST_CCL_OUTPUT_PASSTHROUGH, GST_CCL_PARAM_PLAYING);
  properties[PROP_ATTACH] = g_param_spec_flags ("attach", "Attach",
      "Metadata to attach. blob costs one small reference per buffer. roi and analytics, for elements that do not "
      "read blob, cost time per blob in each element that copies them", GST_TYPE_CCL_ATTACH, GST_CCL_ATTACH_BLOB,
      GST_CCL_PARAM_PLAYING);
  properties[PROP_MAX_MIRROR] = g_param_spec_uint ("max-mirror", "Maximum mirrored",
      "Maximum number of blobs per frame that attach=roi and attach=analytics cover, in the order of sort (0 = none)",
      0, 4096, 256, GST_CCL_PARAM_CONTROLLED);
  properties[PROP_ROI_TYPE] = g_param_spec_string ("roi-type", "ROI type",
      "Type of the regions and object detections that attach=roi and attach=analytics add", "blob",
      GST_CCL_PARAM_PLAYING);
}

static void
install_time_properties (void)
{
  properties[PROP_INTERVAL] = g_param_spec_uint ("interval", "Interval",
      "Analyse one of this many frames (1 = all). The others pass, flagged as skipped", 1, G_MAXUINT, 1,
      GST_CCL_PARAM_CONTROLLED);
  properties[PROP_SKIP_WHEN_LATE] = g_param_spec_boolean ("skip-when-late", "Skip when late",
      "Do not analyse frames that are too late for the sink. They pass, flagged as skipped", FALSE,
      GST_CCL_PARAM_CONTROLLED);
  properties[PROP_ASYNC_DEPTH] = gst_ccl_analyzer_param_async_depth ();
  properties[PROP_VOLUME] = g_param_spec_uint ("volume", "Volume",
      "Number of successive frames to label as one volume of x, y and time: blobs that touch from frame to frame get "
      "the same GstCclBlob.volume_id. Frames wait until their volume is complete (0 or 1 = off)", 0, CCL_MAX_FRAMES, 0,
      GST_CCL_PARAM_PLAYING);
  properties[PROP_STATS] = g_param_spec_boxed ("stats", "Statistics",
      "Since the start: frames, skipped, late, components, truncated, volumes; backend, gpu (-1 = none), "
      "gpu-changes (after failures), algorithm, volume-algorithm, path; host-bytes, device-bytes; batch-avg and "
      "batch-max (frames launched together); wait-us (until that launch), pack-us (packing a mask to bits on the host, "
      "0 = not packed), upload-us, kernel-us, contour-us, host-us (time spent on a frame) and latency-us (from its "
      "arrival until it leaves), each " GST_CCL_TIME_PARTS, GST_TYPE_STRUCTURE, GST_CCL_PARAM_READ_ONLY);
}

static void
gst_ccl_label_finalize (GObject * object)
{
  GstCclLabel *const self = GST_CCL_LABEL (object);

  ccl_contours_free (self->contours);
  gst_ccl_blob_filter_unref (self->settings.expression);
  gst_ccl_blob_filter_unref (self->now.expression);
  gst_ccl_volume_clear (&self->volume);
  G_OBJECT_CLASS (parent_class)->finalize (object);
}

static void
init_analyzer (GstCclAnalyzerClass * klass)
{
  klass->category = gst_ccl_label_debug;
  klass->active_backend = properties[PROP_ACTIVE_BACKEND];
  klass->offers_pinned_memory = TRUE;
  klass->copy_settings = gst_ccl_label_copy_settings;
  klass->get_wanted_output = gst_ccl_label_get_wanted_output;
  klass->sink_caps = gst_ccl_label_sink_caps;
  klass->other_caps = gst_ccl_label_other_caps;
  klass->caps_changed = gst_ccl_label_caps_changed;
  klass->event = gst_ccl_label_event;
  klass->start = gst_ccl_label_start;
  gst_ccl_label_init_contexts (klass);
  gst_ccl_label_init_frames (klass);
}

static void
gst_ccl_label_class_init (GstCclLabelClass * klass)
{
  GObjectClass *const object = G_OBJECT_CLASS (klass);
  GstElementClass *const element = GST_ELEMENT_CLASS (klass);

  object->set_property = gst_ccl_label_set_property;
  object->get_property = gst_ccl_label_get_property;
  object->finalize = gst_ccl_label_finalize;
  install_backend_properties ();
  install_mask_properties ();
  install_filter_properties ();
  install_list_properties ();
  install_output_properties ();
  install_time_properties ();
  g_object_class_install_properties (object, N_PROPERTIES, properties);

  gst_element_class_add_static_pad_template (element, &sink_template);
  gst_element_class_add_static_pad_template (element, &src_template);
  gst_element_class_set_static_metadata (element, "Connected component labelling", "Filter/Analyzer/Video",
      ccl_backend_built (CCL_BACKEND_CUDA)
      ? "Finds the blobs of a mask, on CUDA or the CPU, and attaches box, area, centroid and covariance of each"
      : "Finds the blobs of a mask and attaches box, area, centroid and covariance of each "
      "(CPU only: built without the CUDA toolkit)", "gst-ccl contributors");
  GST_BASE_TRANSFORM_CLASS (klass)->fixate_caps = gst_ccl_label_fixate_caps;
  gst_ccl_element_class_set_document (element, "ccllabel");
  GST_BASE_TRANSFORM_CLASS (klass)->transform_meta = gst_ccl_label_transform_meta;
  init_analyzer (GST_CCL_ANALYZER_CLASS (klass));

  gst_type_mark_as_plugin_api (GST_TYPE_CCL_ALGORITHM, 0);
  gst_type_mark_as_plugin_api (GST_TYPE_CCL_CONNECTIVITY, 0);
  gst_type_mark_as_plugin_api (GST_TYPE_CCL_BORDER, 0);
  gst_type_mark_as_plugin_api (GST_TYPE_CCL_MASK_SOURCE, 0);
  gst_type_mark_as_plugin_api (GST_TYPE_CCL_SORT, 0);
  gst_type_mark_as_plugin_api (GST_TYPE_CCL_ATTACH, 0);
  gst_type_mark_as_plugin_api (GST_TYPE_CCL_FEATURES, 0);
  gst_type_mark_as_plugin_api (GST_TYPE_CCL_OUTPUT, 0);
  gst_type_mark_as_plugin_api (GST_TYPE_CCL_FOREGROUND, 0);
}

static void
gst_ccl_label_init (GstCclLabel * self)
{
  self->settings = (GstCclLabelSettings) {
    .method = {GST_CCL_BACKEND_AUTO, GST_CCL_ALGORITHM_AUTO, CCL_CONNECT_8},
    .mask = {.segmentation = -1,.region_id = -1},
    .threshold = -1,
    .filter = {.min_area = 1},
    .max_components = 4096,
    .features = GST_CCL_FEATURES_BASIC,
    .attach = GST_CCL_ATTACH_BLOB,
    .max_mirror = 256,
    .contour_epsilon = 1,
    .contour_max_points = 64,
    .roi_type = g_intern_static_string ("blob"),
    .interval = 1,
    .batch = TRUE,
  };
  for (guint i = 0; i < CCL_MAX_DEPTH; i++)
    self->parent.frames[i] = &self->slots[i].common;
  gst_ccl_volume_init (&self->volume);
  gst_base_transform_set_in_place (GST_BASE_TRANSFORM (self), TRUE);
}
