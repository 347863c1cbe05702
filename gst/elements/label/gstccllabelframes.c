/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* From mask to metadata: the methods of the base class, in the order of the path of a frame. */

#include "gstccllabelprivate.h"

#include <string.h>

#include "base/gstcclenums.h"
#include "label/gstcclblobtable.h"

#define GST_CAT_DEFAULT gst_ccl_label_debug

/* ---------------------------------------------------------------- find the mask */

/* Numbers of regions are those of one frame. */
static void
warn_of_numbers (GstCclLabel * self, const GstCclFoundMask * found)
{
  if (!found->classes || !gst_ccl_label_wanted_volume (self) || self->warned_numbers)
    return;
  self->warned_numbers = TRUE;
  GST_ELEMENT_WARNING (self, LIBRARY, SETTINGS, ("volume=%u with foreground=equal and regions of several segmentations, or "
          "region-id=0: volume_id may join or part regions.", self->now.volume),
      ("Choose one with segmentation. Said once per caps."));
}

/* A frame that lacks its mask counts as one with the size of the last mask. */
static void
gst_ccl_label_find_mask (GstCclAnalyzer * analyzer, GstBuffer * buffer, GstCclFoundMask * found)
{
  GstCclLabel *const self = GST_CCL_LABEL (analyzer);
  GstCclMaskChoice choice = self->now.mask;

  choice.is_map = gst_ccl_label_wants_map (self);
  if (gst_ccl_mask_source_find (&choice, buffer, &analyzer->in_info, found)) {
    self->mask_width = GST_VIDEO_INFO_WIDTH (&found->info);
    self->mask_height = GST_VIDEO_INFO_HEIGHT (&found->info);
    warn_of_numbers (self, found);
    return;
  }
  *found = (GstCclFoundMask) {
    .is_missing = TRUE,.info = analyzer->in_info,.matrix = { 1, 0, 0, 0, 1, 0, 0, 0, 1 }
  };
  if (self->now.mask.source == GST_CCL_MASK_SOURCE_ALPHA) {
    gst_ccl_label_hint_when_no_alpha (self);
    return;
  }
  if (!self->warned_no_mask)
    GST_ELEMENT_WARNING (self, STREAM, FORMAT, ("A frame carries no mask in its metadata: it is not analysed."),
        ("mask-source=mask-meta needs cclmotion (or another source of GstCclMaskMeta) upstream, segmentation-mtd a "
            "decoder of segmentations (the one that segmentation names, where that is set) and GStreamer 1.26; "
            "mask-source=frame takes the picture itself. Said once per caps."));
  self->warned_no_mask = TRUE;
}

/* ---------------------------------------------------------------- submit */

static gboolean
should_skip (GstCclLabel * self, GstBuffer * buffer)
{
  GstCclAnalyzer *const analyzer = &self->parent;
  guint64 n_processed;

  if (self->n_submitted++ % self->now.interval)
    return TRUE;
  if (!self->now.skip_when_late)
    return FALSE;
  GST_OBJECT_LOCK (self);
  n_processed = analyzer->stats.frames - analyzer->stats.skipped;
  GST_OBJECT_UNLOCK (self);
  return gst_ccl_lateness_check (&analyzer->lateness, GST_BASE_TRANSFORM (self), buffer, n_processed);
}

static gboolean
gst_ccl_label_begin_frame (GstCclAnalyzer * analyzer, GstCclFrame * common, GstCclFoundMask * found)
{
  GstCclLabel *const self = GST_CCL_LABEL (analyzer);
  GstCclLabelFrame *const frame = (GstCclLabelFrame *) common;

  frame->volume_frame = GST_CCL_VOLUME_NO_FRAME;
  frame->settings = self->now;
  gst_ccl_blob_filter_ref (frame->settings.expression);
  frame->mask = *found;
  memset (&frame->table, 0, sizeof frame->table);
  if (should_skip (self, common->buffer) || found->is_missing)
    return FALSE;
  gst_ccl_label_warn_of_threshold (self, frame);
  gst_ccl_label_warn_of_limits (self);
  return TRUE;
}

static GstBuffer *
mask_buffer (GstCclLabelFrame * frame)
{
  return frame->mask.buffer ? frame->mask.buffer : frame->common.buffer;
}

/* FALSE: the frame has no picture to measure. */
static gboolean
map_picture (GstCclLabel * self, GstCclLabelFrame * frame, GError ** error)
{
  const GstCclLabelRequest *const request = self->parent.request;
  const GstCclCuda *const cuda = self->parent.active_backend == GST_CCL_BACKEND_CUDA ? &self->parent.cuda : NULL;

  if (!(request->features & CCL_FEATURE_INTENSITY))
    return TRUE;
  if (!gst_ccl_picture_view_map (&frame->picture, frame->common.buffer, &self->parent.in_info, &frame->mask, cuda,
          error))
    return FALSE;
  frame->common.view.mask.picture = &frame->picture.picture;
  return TRUE;
}

static gboolean
gst_ccl_label_map_frame (GstCclAnalyzer * analyzer, GstCclFrame * common, GError ** error)
{
  GstCclLabelFrame *const frame = (GstCclLabelFrame *) common;
  CclMask *const mask = &common->view.mask;

  if (!gst_ccl_analyzer_map_view (analyzer, common, mask_buffer (frame), &frame->mask.info, frame->mask.component,
          error))
    return FALSE;
  if (!map_picture (GST_CCL_LABEL (analyzer), frame, error)) {
    gst_ccl_mask_view_unmap (&common->view);
    return FALSE;
  }
  frame->is_map = ((const GstCclLabelRequest *) analyzer->request)->is_map;
  if (frame->is_map)
    return TRUE;
  if (frame->settings.threshold >= 0)
    mask->threshold = frame->settings.threshold;
  else
    mask->threshold = GST_VIDEO_INFO_IS_YUV (&frame->mask.info) ? 127 : 0;      /* studio black is 16, not 0 */
  mask->invert = frame->settings.invert;
  return TRUE;
}

static void
gst_ccl_label_unmap_frame (GstCclAnalyzer * analyzer, GstCclFrame * common)
{
  (void) analyzer;
  gst_ccl_picture_view_unmap (&((GstCclLabelFrame *) common)->picture);
}

/* The class of each number of a region; NULL: values are classes. */
static const guint16 *
get_classes (const GstCclLabelFrame * frame)
{
  return frame->mask.classes ? g_bytes_get_data (frame->mask.classes, NULL) : NULL;
}

/* The expression is shared by frames, the classes are of this one. */
static const CclSelection *
get_selection (GstCclLabelFrame * frame)
{
  const GstCclBlobFilter *const expression = frame->settings.expression;

  if (!expression)
    return NULL;
  if (!frame->mask.classes)
    return &expression->selection;
  frame->selection = expression->selection;
  frame->selection.classes = get_classes (frame);
  return &frame->selection;
}

static CclStatus
gst_ccl_label_submit_frame (GstCclAnalyzer * analyzer, GstCclFrame * common)
{
  GstCclLabel *const self = GST_CCL_LABEL (analyzer);
  GstCclLabelFrame *const frame = (GstCclLabelFrame *) common;
  const CclMask *const mask = &common->view.mask;
  const CclLabels labels = {
    .data = frame->labels,
    .stride = mask->width * sizeof (guint32),
    .memory = frame->labels_memory,
  };
  CclFilter filter = frame->settings.filter;
  CclStatus status;

  filter.selection = get_selection (frame);
  status = ccl_submit (self->labeller, mask, &filter, frame->labels ? &labels : NULL);
  if (status == CCL_OK && self->volume.labeller)
    status = gst_ccl_volume_add (&self->volume, mask, &frame->volume_frame);
  return status;
}

/* ---------------------------------------------------------------- collect */

static CclStatus
gst_ccl_label_collect_frame (GstCclAnalyzer * analyzer, GstCclFrame * common)
{
  return ccl_collect (GST_CCL_LABEL (analyzer)->labeller, &((GstCclLabelFrame *) common)->table);
}

static void
count_table (GstCclLabel * self, const GstCclLabelFrame * frame)
{
  const CclTable *const table = &frame->table;
  GstCclLabelStats *const stats = &self->stats;

  GST_OBJECT_LOCK (self);
  stats->components += table->n_components;
  stats->truncated += (table->flags & CCL_TABLE_TRUNCATED) != 0;
  gst_ccl_min_avg_max_add (&stats->upload, table->upload_us);
  gst_ccl_min_avg_max_add (&stats->kernel, table->kernel_us);
  gst_ccl_min_avg_max_add (&stats->batch, table->batch_size);
  gst_ccl_min_avg_max_add (&stats->wait, table->wait_us);
  gst_ccl_min_avg_max_add (&stats->pack, table->pack_us);
  GST_OBJECT_UNLOCK (self);
}

/* The host traces contours, so a mask in device memory is downloaded. */
static gboolean
download_mask (GstCclLabel * self, GstCclLabelFrame * frame)
{
  GstCclMaskView *const view = &frame->common.view;
  const CclMask mask = view->mask;
  GError *error = NULL;

  if (mask.memory != CCL_MEMORY_DEVICE)
    return TRUE;
  gst_ccl_mask_view_unmap (view);
  if (!gst_ccl_mask_view_map (view, mask_buffer (frame), &frame->mask.info, frame->mask.component, FALSE, &error)) {
    GST_WARNING_OBJECT (self, "no contours: %s", error->message);
    g_error_free (error);
    return FALSE;
  }
  view->mask.threshold = mask.threshold;
  view->mask.invert = mask.invert;
  return TRUE;
}

static GstCclBlobList *
list_blobs (const GstCclLabelFrame * frame)
{
  return gst_ccl_blob_table_to_list (&frame->table, get_classes (frame), gst_ccl_label_max_holes (frame));
}

static GstCclBlobList *
list_with_contours (GstCclLabel * self, GstCclLabelFrame * frame)
{
  const GstClockTime start = gst_util_get_timestamp ();
  const CclContourConfig config = {
    .connectivity = self->accepted.connectivity,
    .is_map = frame->is_map,
    .epsilon = frame->settings.contour_epsilon,
    .max_points = frame->settings.contour_max_points,
  };
  GstCclBlobList *list;

  if (!self->contours)
    self->contours = ccl_contours_new ();
  if (frame->table.n_components == 0 || !self->contours || !download_mask (self, frame))
    return list_blobs (frame);
  list = list_blobs (frame);
  if (list && !gst_ccl_blob_table_add_contours (list, &frame->table, &frame->common.view.mask, &config, self->contours))
    g_clear_pointer (&list, gst_ccl_blob_list_unref);

  GST_OBJECT_LOCK (self);
  gst_ccl_min_avg_max_add (&self->stats.contour, (gst_util_get_timestamp () - start) / (gdouble) GST_USECOND);
  GST_OBJECT_UNLOCK (self);
  return list;
}

static void
gst_ccl_label_describe_frame (GstCclAnalyzer * analyzer, GstCclFrame * common)
{
  GstCclLabel *const self = GST_CCL_LABEL (analyzer);
  GstCclLabelFrame *const frame = (GstCclLabelFrame *) common;

  if (common->is_analysed)
    count_table (self, frame);
  if (frame->settings.attach)
    frame->list = common->is_analysed && frame->settings.contours
        ? list_with_contours (self, frame) : list_blobs (frame);
  gst_ccl_label_hint_when_no_mask (self, frame);
  gst_ccl_label_hint_when_opaque (self, frame);
  gst_ccl_label_hint_when_dim (self, frame);
}

/* ---------------------------------------------------------------- attach */

static void
attach_blobs (GstCclLabel * self, const GstCclLabelFrame * frame, GstBuffer * buffer)
{
  const GstVideoInfo *const info = &self->parent.in_info;
  const CclTable *const table = &frame->table;
  const GstCclLabelSettings *const settings = &frame->settings;
  GstCclBlobMeta *meta;

  if (settings->attach & GST_CCL_ATTACH_BLOB)
    gst_ccl_analyzer_warn_of_other (&self->parent, buffer, GST_CCL_BLOB_META_API_TYPE, "blobs");
  meta = gst_buffer_add_ccl_blob_meta (buffer, frame->list, GST_VIDEO_INFO_WIDTH (&frame->mask.info),
      GST_VIDEO_INFO_HEIGHT (&frame->mask.info));
  meta->width = GST_VIDEO_INFO_WIDTH (info);
  meta->height = GST_VIDEO_INFO_HEIGHT (info);
  memcpy (meta->matrix, frame->mask.matrix, sizeof meta->matrix);
  meta->flags |= frame->mask.flags;
  meta->n_kept = table->n_kept;
  meta->n_total = table->n_found;
  meta->connectivity = self->accepted.connectivity;
  meta->source = self->parent.source;
  if (table->flags & CCL_TABLE_TRUNCATED)
    meta->flags |= GST_CCL_BLOB_META_FLAG_TRUNCATED;
  if (gst_ccl_blob_table_count_holes (table) > gst_ccl_label_max_holes (frame))
    meta->flags |= GST_CCL_BLOB_META_FLAG_HOLES_TRUNCATED;
  if (!frame->common.is_analysed)
    meta->flags |= GST_CCL_BLOB_META_FLAG_SKIPPED;

  if (settings->attach & GST_CCL_ATTACH_ANALYTICS)
    gst_buffer_add_ccl_analytics_mirror (buffer, meta, settings->roi_type, settings->max_mirror);
  if (settings->attach & GST_CCL_ATTACH_ROI)
    gst_buffer_add_ccl_roi_mirror (buffer, meta, settings->roi_type, settings->max_mirror);
  if (!(settings->attach & GST_CCL_ATTACH_BLOB))
    gst_buffer_remove_meta (buffer, (GstMeta *) meta);
}

static gboolean
draw_output (GstCclLabel * self, const GstCclLabelFrame * frame, GstBuffer * output)
{
  const gint kind = gst_ccl_analyzer_get_output (&self->parent);

  if (!gst_ccl_label_draw_picture (kind, &self->parent.out_info, output,
          frame->common.is_analysed ? frame->labels : NULL, GST_VIDEO_INFO_WIDTH (&frame->mask.info),
          GST_VIDEO_INFO_HEIGHT (&frame->mask.info))) {
    GST_ELEMENT_ERROR (self, RESOURCE, WRITE, ("The output buffer cannot be mapped for writing."), (NULL));
    return FALSE;
  }
  gst_ccl_label_warn_of_saturation (self, frame);
  return TRUE;
}

/* Without memory there is no list. */
static gboolean
check_list (GstCclLabel * self, const GstCclLabelFrame * frame)
{
  if (!frame->settings.attach || frame->list)
    return TRUE;
  GST_ELEMENT_ERROR (self, RESOURCE, NO_SPACE_LEFT, ("No memory for a list of %u blobs.", frame->table.n_components),
      (NULL));
  return FALSE;
}

/* With volumes the buffer waits until its volume is complete. */
static GstFlowReturn
gst_ccl_label_make_output (GstCclAnalyzer * analyzer, GstCclFrame * common, GstBuffer * input, GstBuffer ** output)
{
  GstCclLabel *const self = GST_CCL_LABEL (analyzer);
  GstCclLabelFrame *const frame = (GstCclLabelFrame *) common;
  GstBuffer *buffer = NULL;
  GstFlowReturn flow = gst_ccl_analyzer_prepare_output (analyzer, input, &buffer);

  if (buffer != input)
    gst_buffer_unref (input);
  if (flow != GST_FLOW_OK || !buffer)
    return flow;
  if (!check_list (self, frame)
      || (gst_ccl_analyzer_get_output (analyzer) != GST_CCL_OUTPUT_PASSTHROUGH && !draw_output (self, frame, buffer))) {
    gst_buffer_unref (buffer);
    return GST_FLOW_ERROR;
  }
  gst_ccl_label_warn_of_table (self, frame);
  gst_ccl_label_hint_when_full (self, frame);
  if (frame->settings.attach)
    attach_blobs (self, frame, buffer);
  if (self->volume.labeller)
    gst_ccl_volume_queue (&self->volume, buffer, frame->list, frame->volume_frame, common->arrived);
  else
    *output = buffer;
  return GST_FLOW_OK;
}

static void
gst_ccl_label_clear_frame (GstCclAnalyzer * analyzer, GstCclFrame * common)
{
  GstCclLabelFrame *const frame = (GstCclLabelFrame *) common;

  (void) analyzer;
  gst_clear_buffer (&frame->mask.buffer);
  g_clear_pointer (&frame->mask.classes, g_bytes_unref);
  g_clear_pointer (&frame->settings.expression, gst_ccl_blob_filter_unref);
  g_clear_pointer (&frame->list, gst_ccl_blob_list_unref);
}

/* If a volume cannot be labelled, its blobs get no ids, but its frames leave. */
static GstFlowReturn
finish_volume (GstCclLabel * self)
{
  CclStatus status;

  gst_ccl_cuda_push (&self->parent.cuda);
  status = gst_ccl_volume_finish (&self->volume);
  gst_ccl_cuda_pop (&self->parent.cuda);
  return status == CCL_OK || gst_ccl_analyzer_continue_elsewhere (&self->parent, status) ? GST_FLOW_OK : GST_FLOW_ERROR;
}

static GstBuffer *
take_from_volume (GstCclLabel * self)
{
  GstClockTime arrived;
  GstBuffer *const buffer = gst_ccl_volume_take (&self->volume, &arrived);

  if (!buffer)
    return NULL;
  gst_ccl_analyzer_count_latency (&self->parent, arrived);
  GST_OBJECT_LOCK (self);
  self->stats.volumes = self->volume.n_volumes;
  GST_OBJECT_UNLOCK (self);
  return buffer;
}

static GstFlowReturn
gst_ccl_label_finish_frames_and_volume (GstCclAnalyzer * analyzer, gboolean all, GstBuffer ** output)
{
  GstCclLabel *const self = GST_CCL_LABEL (analyzer);
  GstCclVolume *const volume = &self->volume;
  GstFlowReturn flow;

  if (analyzer->failed)
    return GST_FLOW_ERROR;
  *output = take_from_volume (self);
  if (volume->labeller && !*output)
    all |= analyzer->n_frames + gst_ccl_volume_n_queued (volume) >= volume->max_frames;
  flow = gst_ccl_analyzer_finish_frames (analyzer, all, output);
  if (flow == GST_FLOW_OK && !*output && all && gst_ccl_volume_n_queued (volume)) {
    flow = finish_volume (self);
    *output = take_from_volume (self);
  }
  return flow;
}

static void
gst_ccl_label_discard (GstCclAnalyzer * analyzer)
{
  gst_ccl_volume_discard (&GST_CCL_LABEL (analyzer)->volume);
}

void
gst_ccl_label_init_frames (GstCclAnalyzerClass * klass)
{
  klass->find_mask = gst_ccl_label_find_mask;
  klass->begin_frame = gst_ccl_label_begin_frame;
  klass->map_frame = gst_ccl_label_map_frame;
  klass->unmap_frame = gst_ccl_label_unmap_frame;
  klass->submit_frame = gst_ccl_label_submit_frame;
  klass->collect_frame = gst_ccl_label_collect_frame;
  klass->describe_frame = gst_ccl_label_describe_frame;
  klass->make_output = gst_ccl_label_make_output;
  klass->clear_frame = gst_ccl_label_clear_frame;
  klass->finish_frames = gst_ccl_label_finish_frames_and_volume;
  klass->discard = gst_ccl_label_discard;
}
