/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Warnings about settings and masks that look like mistakes. Each is posted once: per start, per caps or per size. */

#include "gstccllabelprivate.h"

#include <string.h>

#include "base/gstcclenums.h"
#include "base/gstcclhint.h"
#include "label/gstcclblobtable.h"

#define GST_CAT_DEFAULT gst_ccl_label_debug

#define FULL_FRAMES_UNTIL_HINT 10       /* successive frames without background */
#define MIN_MAX_HOLES 4096      /* listed in a frame, however small max-components is */
#define NEARLY_ALL 0.9          /* of the pixels */
#define MIN_VALUES 16           /* fewer are classes or a mask with noise */
#define MAX_CLASS 15            /* the greatest class that cannot be the black of video, which is 16 */

/* A mask of classes (mostly 0 and 1) has no blobs with a threshold for black and white. Empty video has none either, but its
 * pixels are at least 16. A difference picture is dark too, but its noise changes every few pixels. */
void
gst_ccl_label_hint_when_dim (GstCclLabel * self, const GstCclLabelFrame * frame)
{
  const CclMask *const mask = &frame->common.view.mask;
  guint max_value = 0, n_dim = 0, n_steps = 0;

  if (!frame->common.is_analysed || !gst_ccl_hint_is_due (&self->n_without_blobs, frame->table.n_found > 0)
      || mask->threshold == 0 || mask->invert || mask->memory == CCL_MEMORY_DEVICE || mask->pixel_size > 1)
    return;
  for (guint y = 0; y < mask->height; y++) {
    const guint8 *const row = (const guint8 *) mask->data + y * mask->stride;
    for (guint x = 0; x < mask->width; x++) {
      max_value = MAX (max_value, row[x]);
      n_dim += row[x] > 0;
      n_steps += x > 0 && row[x] != row[x - 1];
    }
  }
  if (max_value > 0 && max_value <= MAX_CLASS && n_steps <= n_dim / 2)
    GST_ELEMENT_WARNING (self, STREAM, FORMAT,
        ("No blob in the first %d frames: pixels are up to %u in the last, and only those above the threshold, %u, count.",
            GST_CCL_HINT_FRAMES, max_value, mask->threshold),
        ("For a mask of 0 and 1, or of classes, threshold=0 takes all but 0. Said once per caps."));
}

/* A value that no pixel can have. */
static void
warn_of_background (GstCclLabel * self, const GstCclLabelFrame * frame, gint max_value)
{
  const gboolean is_dead = (gint64) frame->settings.background_value > max_value;

  if (is_dead && !self->warned_background)
    GST_ELEMENT_WARNING (self, LIBRARY, SETTINGS, ("background-value=%u: no pixel of %s has it, so each is foreground.",
            frame->settings.background_value, GST_VIDEO_FORMAT_INFO_NAME (frame->mask.info.finfo)),
        ("Its pixels are from 0 to %d. Said once per caps.", max_value));
  self->warned_background = is_dead;
}

/* With a threshold at or above the greatest value, no pixel is foreground. */
void
gst_ccl_label_warn_of_threshold (GstCclLabel * self, const GstCclLabelFrame * frame)
{
  const GstVideoFormatInfo *const format = frame->mask.info.finfo;
  const gint max_value = (1 << GST_VIDEO_FORMAT_INFO_DEPTH (format, 0)) - 1;
  const gboolean is_map = gst_ccl_label_wants_map (self);
  const gboolean has_background = is_map && self->now.mask.source != GST_CCL_MASK_SOURCE_SEGMENTATION_MTD;
  const gboolean is_dead = !is_map && frame->settings.threshold >= max_value;

  warn_of_background (self, frame, has_background ? max_value : G_MAXINT);
  if (is_dead && !self->warned_threshold)
    GST_ELEMENT_WARNING (self, LIBRARY, SETTINGS, ("threshold=%d: no pixel of %s is greater, so %s.",
            frame->settings.threshold, GST_VIDEO_FORMAT_INFO_NAME (format),
            frame->settings.invert ? "each is foreground" : "there are no blobs"),
        ("Its pixels are from 0 to %d. Said once per caps.", max_value));
  self->warned_threshold = is_dead;
}

/* Limits that no blob of a mask of this size can meet. warn_of_empty_filter() finds limits that contradict each other. */
void
gst_ccl_label_warn_of_limits (GstCclLabel * self)
{
  const CclFilter *const filter = &self->now.filter;
  const guint width = self->mask_width, height = self->mask_height;
  const guint64 pixels = (guint64) width * height;
  const guint64 max_in_frame = filter->max_relative_area > 0 ? (guint64) (filter->max_relative_area * pixels) : pixels;
  const guint64 max_in_box = (guint64) (filter->max_width ? MIN (filter->max_width, width) : width)
      * (filter->max_height ? MIN (filter->max_height, height) : height);
  const guint64 max_area = MIN (max_in_frame, max_in_box);

  if (self->mask_width == self->limited_width && self->mask_height == self->limited_height)
    return;
  self->limited_width = self->mask_width;
  self->limited_height = self->mask_height;
  if (filter->min_width > width || filter->min_height > height)
    GST_ELEMENT_WARNING (self, LIBRARY, SETTINGS,
        ("min-%s=%u is more than a mask of %ux%u pixels has: no blob is kept.",
            filter->min_width > width ? "width" : "height",
            filter->min_width > width ? filter->min_width : filter->min_height, width, height),
        ("Said once per size."));
  else if (filter->min_area > max_area)
    GST_ELEMENT_WARNING (self, LIBRARY, SETTINGS,
        ("min-area=%" G_GUINT64_FORMAT ", but in a mask of %ux%u pixels a blob has %" G_GUINT64_FORMAT " at most%s: "
            "no blob is kept.", filter->min_area, width, height, max_area, max_area < pixels ? " by the other limits" : ""),
        ("Said once per size."));
}

/* What asked for features that are missing: groups of the property, or measures of filter and sort. (transfer full) */
static gchar *
missing_names (const GstCclLabel * self, guint missing)
{
  const guint asked = gst_ccl_features_to_core (self->now.features) & missing;
  gchar *groups, *names;

  if (!asked)
    return gst_ccl_blob_filter_names (self->now.expression, self->now.order, missing);
  groups = gst_ccl_features_of_core (asked);
  names = g_strconcat ("features=", groups, NULL);
  g_free (groups);
  return names;
}

static void
warn_of_map (GstCclLabel * self, const GstCclLabelRequest * request)
{
  const gchar *const name = gst_ccl_algorithm_get_name (request->method.algorithm);

  GST_ELEMENT_WARNING (self, LIBRARY, SETTINGS,
      ("On the GPU algorithm=%s does not label label maps: foreground=equal runs on the CPU.",
          name ? name : "auto"), ("With algorithm=auto label maps run on the GPU. Said once per start."));
}

static void
warn_of_missing (GstCclLabel * self, const GstCclLabelRequest * request, guint missing)
{
  gchar *names, *groups;

  if (missing & CCL_FEATURE_TABLE) {
    warn_of_map (self, request);
    return;
  }
  names = missing_names (self, missing);
  groups = gst_ccl_features_of_core (ccl_features (CCL_BACKEND_CUDA, NULL, request->is_map ? CCL_FOREGROUND_EQUAL :
          CCL_FOREGROUND_THRESHOLD, FALSE));
  GST_ELEMENT_WARNING (self, LIBRARY, SETTINGS, ("The GPU does not measure %s: labelling on the CPU.", names),
      ("features=%s, and a filter and sort by their measures, run on the GPU. Said once per start.", groups));
  g_free (groups);
  g_free (names);
}

/* Warns when the CPU labels although there is a GPU, because a feature was asked for that the GPU does not measure. With
 * backend=auto `features` gets no warning, because its text says so. `filter` and `sort` get one: their user named a measure. */
void
gst_ccl_label_warn_of_features (GstCclLabel * self, const GstCclLabelRequest * request)
{
  const gint backend = request->method.backend;
  const guint missing = gst_ccl_label_missing_features (request);
  const guint asked = gst_ccl_features_to_core (self->now.features) & missing;
  const gboolean is_expected = asked || missing & CCL_FEATURE_TABLE;
  const gboolean is_missed = missing && (backend == GST_CCL_BACKEND_CUDA || (backend == GST_CCL_BACKEND_AUTO
          && (self->parent.active_backend == GST_CCL_BACKEND_CUDA || (!is_expected && gst_ccl_cuda_load ()))));

  if (!is_missed || self->warned_features)
    return;
  self->warned_features = TRUE;
  warn_of_missing (self, request, missing);
}

/* A grid has more holes than any table has blobs. */
guint
gst_ccl_label_max_holes (const GstCclLabelFrame * frame)
{
  return MAX (frame->settings.max_components, MIN_MAX_HOLES);
}

static void
warn_of_holes (GstCclLabel * self, const GstCclLabelFrame * frame)
{
  const gsize n = gst_ccl_blob_table_count_holes (&frame->table);
  const guint max = gst_ccl_label_max_holes (frame);

  if (n <= max || self->warned_holes)
    return;
  self->warned_holes = TRUE;
  GST_ELEMENT_WARNING (self, RESOURCE, NO_SPACE_LEFT,
      ("The blobs of a frame have %" G_GSIZE_FORMAT " holes, the list holds %u: the rest are counted but not listed.",
          n, max), ("Raise max-components, or filter with min-area. Said once per caps."));
}

void
gst_ccl_label_warn_of_table (GstCclLabel * self, const GstCclLabelFrame * frame)
{
  const CclTable *const table = &frame->table;

  warn_of_holes (self, frame);
  if (!(table->flags & CCL_TABLE_TRUNCATED) || self->warned_truncated)
    return;
  self->warned_truncated = TRUE;
  GST_ELEMENT_WARNING (self, RESOURCE, NO_SPACE_LEFT,
      ("A frame has %u blobs, the table holds %u: the rest are counted but not listed.", table->n_kept,
          table->n_components), ("Raise max-components, or filter with min-area. Said once per caps."));
}

/* Gray video, whose black is 16, is all foreground with the threshold for masks, although the pipeline seems to work. */
void
gst_ccl_label_hint_when_full (GstCclLabel * self, const GstCclLabelFrame * frame)
{
  const CclTable *const table = &frame->table;
  const gboolean full = !frame->mask.buffer && GST_VIDEO_INFO_IS_GRAY (&self->parent.in_info)
      && frame->settings.threshold < 0 && !frame->settings.invert && !frame->is_map && table->n_components == 1
      && table->components[0].moments.area == (guint64) table->width * table->height;

  if (!frame->common.is_analysed || self->n_full_frames == FULL_FRAMES_UNTIL_HINT)
    return;
  self->n_full_frames = full ? self->n_full_frames + 1 : 0;
  if (self->n_full_frames == FULL_FRAMES_UNTIL_HINT)
    GST_ELEMENT_WARNING (self, STREAM, FORMAT,
        ("Every pixel of the last %d frames is foreground: each is one blob.", FULL_FRAMES_UNTIL_HINT),
        ("Black is 16 and not 0 in most video: threshold=127 tells it from white. Said once per caps."));
}

static gboolean
is_opaque (const CclMask * mask)
{
  for (guint y = 0; y < mask->height; y++) {
    const guint8 *const row = (const guint8 *) mask->data + y * mask->stride;

    for (guint x = 0; x < mask->width; x++)
      if (row[x] != 255)
        return FALSE;
  }
  return TRUE;
}

/* A converter adds an alpha plane to a picture that has none, and no element after it writes a mask there. */
void
gst_ccl_label_hint_when_opaque (GstCclLabel * self, const GstCclLabelFrame * frame)
{
  const CclTable *const table = &frame->table;

  if (!frame->common.is_analysed || frame->mask.component != GST_VIDEO_COMP_A
      || self->n_opaque_frames == FULL_FRAMES_UNTIL_HINT)
    return;
  self->n_opaque_frames = table->n_components == 1
      && table->components[0].moments.area == (guint64) table->width * table->height
      && is_opaque (&frame->common.view.mask) ? self->n_opaque_frames + 1 : 0;
  if (self->n_opaque_frames == FULL_FRAMES_UNTIL_HINT)
    GST_ELEMENT_WARNING (self, STREAM, FORMAT,
        ("The alpha plane of the last %d frames is opaque everywhere: each is one blob.", FULL_FRAMES_UNTIL_HINT),
        ("A converter adds such a plane to pictures without alpha. The mask has to come from an element before it, such as "
            "alpha. Said once per caps."));
}

/* A change to alpha lets frames pass that upstream made before it. An upstream that goes on with them says that it follows. */
void
gst_ccl_label_hint_when_no_alpha (GstCclLabel * self)
{
  if (gst_ccl_hint_is_due (&self->n_without_alpha, FALSE))
    GST_ELEMENT_WARNING (self, STREAM, FORMAT, ("%d frames of %s have no alpha plane: they are not analysed.",
            GST_CCL_HINT_FRAMES, gst_video_format_to_string (GST_VIDEO_INFO_FORMAT (&self->parent.in_info))),
        ("mask-source=alpha takes A420 and AV12, which videoconvert before ccllabel gives. Said once per caps."));
}

/* The values of a mask: how many there are, and the share of the two most frequent. FALSE without memory. */
static gboolean
count_values (const CclMask * mask, guint * n_values, gdouble * share_of_two)
{
  const guint max_value = mask->pixel_size > 1 ? 65535 : 255;
  guint32 *const n_pixels = g_try_new0 (guint32, max_value + 1);
  guint32 first = 0, second = 0;

  if (!n_pixels)
    return FALSE;
  for (guint y = 0; y < mask->height; y++) {
    const guint8 *const row = (const guint8 *) mask->data + y * mask->stride;

    for (guint x = 0; x < mask->width; x++)
      n_pixels[max_value > 255 ? ((const guint16 *) row)[x] : row[x]]++;
  }
  *n_values = 0;
  for (guint i = 0; i <= max_value; i++) {
    *n_values += n_pixels[i] > 0;
    second = MAX (second, MIN (first, n_pixels[i]));
    first = MAX (first, n_pixels[i]);
  }
  g_free (n_pixels);
  *share_of_two = (first + second) / ((gdouble) mask->width * mask->height);
  return TRUE;
}

static gdouble
listed_share (const CclTable * table)
{
  gdouble area = 0;

  for (guint i = 0; i < table->n_components; i++)
    area += table->components[i].moments.area;
  return area / ((gdouble) table->width * table->height);
}

/* A photograph or a gradient: nearly every pixel is above 0, with many values. A mask that was scaled has many values too, but
 * few pixels have them. Only the first frame that is nearly full is looked at. */
void
gst_ccl_label_hint_when_no_mask (GstCclLabel * self, const GstCclLabelFrame * frame)
{
  const CclMask *const mask = &frame->common.view.mask;
  const gdouble share = listed_share (&frame->table);
  gdouble share_of_two;
  guint n_values;

  if (self->checked_values || !frame->common.is_analysed || frame->mask.buffer || frame->settings.threshold >= 0
      || !GST_VIDEO_INFO_IS_GRAY (&self->parent.in_info) || frame->is_map || mask->invert || mask->memory == CCL_MEMORY_DEVICE
      || share < NEARLY_ALL || !count_values (mask, &n_values, &share_of_two))
    return;
  self->checked_values = TRUE;
  if (n_values < MIN_VALUES || share_of_two >= NEARLY_ALL)
    return;
  self->n_full_frames = FULL_FRAMES_UNTIL_HINT; /* one hint is enough */
  GST_ELEMENT_WARNING (self, STREAM, FORMAT,
      ("This picture is no mask: it has %u values, and %.0f %% of its pixels are above 0 and so foreground. "
          "Set threshold, as in threshold=127.", n_values, 100 * share),
      ("Brighter pixels are foreground then, and with invert=true the others. Said once per caps."));
}

void
gst_ccl_label_warn_of_saturation (GstCclLabel * self, const GstCclLabelFrame * frame)
{
  const GstVideoInfo *const info = &self->parent.out_info;

  if (frame->table.n_kept <= 65535 || !GST_VIDEO_INFO_IS_GRAY (info) || GST_VIDEO_INFO_COMP_DEPTH (info, 0) != 16
      || self->warned_saturated)
    return;
  self->warned_saturated = TRUE;
  GST_ELEMENT_WARNING (self, STREAM, FORMAT,
      ("A frame has %u blobs, %s can tell 65535 apart: the rest all have label 65535.",
          frame->table.n_kept, GST_VIDEO_INFO_NAME (info)),
      ("Ask for RGBA, whose four bytes are the label. Said once per caps."));
}

/* Limits that exclude every blob are hardly meant. They are no error, because limits may be changed in any order. */
static void
warn_of_empty_filter (GstCclLabel * self)
{
  const CclFilter *const filter = &self->now.filter;
  const struct
  {
    const gchar *what;
    gdouble min, max;
  } limits[] = {
    {"area", filter->min_area, filter->max_area},
    {"rel-area", filter->min_relative_area, filter->max_relative_area},
    {"width", filter->min_width, filter->max_width},
    {"height", filter->min_height, filter->max_height},
  };

  for (guint i = 0; i < G_N_ELEMENTS (limits); i++)
    if (limits[i].max > 0 && limits[i].min > limits[i].max)
      GST_ELEMENT_WARNING (self, LIBRARY, SETTINGS, ("min-%s=%.10g is above max-%s=%.10g: no blob is kept.",
              limits[i].what, limits[i].min, limits[i].what, limits[i].max), (NULL));
}

/* Warns of requested metadata that cannot be attached. */
static void
warn_of_attach (GstCclLabel * self)
{
  const GstCclLabelSettings *const now = &self->now;
  const gboolean mirrors = (now->attach & (GST_CCL_ATTACH_ROI | GST_CCL_ATTACH_ANALYTICS)) != 0;

#ifndef HAVE_GST_ANALYTICS
  if (now->attach & GST_CCL_ATTACH_ANALYTICS)
    GST_ELEMENT_WARNING (self, LIBRARY, SETTINGS, ("attach says analytics, which this build has not: none attached."),
        ("It takes GStreamer 1.24 or newer, with its library for analytics; roi is in all."));
#endif
  if (now->contours && !(now->attach & GST_CCL_ATTACH_BLOB))
    GST_ELEMENT_WARNING (self, LIBRARY, SETTINGS, ("contours=true, but attach does not say blob: they are lost."),
        ("Contours travel in GstCclBlobMeta: attach=blob."));
  if (mirrors && now->max_mirror == 0)
    GST_ELEMENT_WARNING (self, LIBRARY, SETTINGS, ("max-mirror=0: no region or object detection is attached."),
        ("It says how many blobs of a frame attach=roi+analytics covers, 256 if it is not set."));
  if (!mirrors && strcmp (now->roi_type, "blob") != 0)
    GST_ELEMENT_WARNING (self, LIBRARY, SETTINGS, ("roi-type=\"%s\" has no effect: attach says neither roi nor "
            "analytics.", now->roi_type), ("attach=blob+roi attaches regions of this type as well."));
}

static void
warn_of_mask_source (GstCclLabel * self)
{
  const GstCclMaskChoice *const mask = &self->now.mask;

  if (mask->source != GST_CCL_MASK_SOURCE_SEGMENTATION_MTD && (mask->region_id >= 0 || mask->segmentation >= 0))
    GST_ELEMENT_WARNING (self, LIBRARY, SETTINGS, ("%s=%d has no effect: mask-source is not segmentation-mtd.",
            mask->region_id >= 0 ? "region-id" : "segmentation",
            mask->region_id >= 0 ? mask->region_id : mask->segmentation),
        ("It chooses from segmentations in the metadata of frames: mask-source=segmentation-mtd reads them."));
  if (mask->source == GST_CCL_MASK_SOURCE_SEGMENTATION_MTD && !gst_ccl_mask_source_has_segmentations ())
    GST_ELEMENT_WARNING (self, LIBRARY, SETTINGS,
        ("mask-source=segmentation-mtd, which this build cannot read: no frame is analysed."),
        ("It takes GStreamer 1.26 or newer, with its library for analytics."));
}

/* Every comparison with the class of a blob that has none is false. */
static void
warn_of_class (GstCclLabel * self)
{
  if (!gst_ccl_label_wants_map (self)
      && gst_ccl_blob_filter_reads (self->now.expression, self->now.order, CCL_MEASURE_CLASS_ID))
    GST_ELEMENT_WARNING (self, LIBRARY, SETTINGS,
        ("Without foreground=equal no blob has the class-id of filter or sort."),
        ("foreground=equal is for label maps, in which only equal values connect."));
}

/* Settings of the other kind of foreground. */
static void
warn_of_foreground (GstCclLabel * self)
{
  const GstCclLabelSettings *const now = &self->now;

  if (gst_ccl_label_wants_map (self) && (now->threshold >= 0 || now->invert))
    GST_ELEMENT_WARNING (self, LIBRARY, SETTINGS, ("%s has no effect: foreground=equal compares values.",
            now->threshold >= 0 ? "threshold" : "invert=true"),
        ("All pixels but those of background-value are foreground."));
  if (!gst_ccl_label_wants_map (self) && now->background_value)
    GST_ELEMENT_WARNING (self, LIBRARY, SETTINGS, ("background-value=%u has no effect without foreground=equal.",
            now->background_value), ("foreground=equal is for label maps, in which only equal values connect."));
  if (gst_ccl_label_wants_map (self) && now->background_value && now->mask.source == GST_CCL_MASK_SOURCE_SEGMENTATION_MTD)
    GST_ELEMENT_WARNING (self, LIBRARY, SETTINGS, ("background-value=%u has no effect: in a segmentation it is 0.",
            now->background_value), ("region-id=0 takes the pixels of region 0, and only those."));
}

void
gst_ccl_label_warn_of_settings (GstCclLabel * self)
{
  warn_of_foreground (self);
  warn_of_class (self);
  warn_of_attach (self);
  warn_of_mask_source (self);
  warn_of_empty_filter (self);
}

/* Called for new caps. */
void
gst_ccl_label_reset_hints (GstCclLabel * self)
{
  self->warned_truncated = self->warned_saturated = self->warned_no_mask = self->warned_threshold = FALSE;
  self->warned_background = self->warned_numbers = self->warned_holes = FALSE;
  self->checked_values = FALSE;
  self->n_full_frames = self->n_opaque_frames = self->n_without_blobs = self->n_without_alpha = 0;
}
