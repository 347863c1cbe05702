/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Caps of the pictures that come in, by mask-source. The picture that leaves with output=mask, output=labels and output=colors:
 * its caps and its pixels. */

#include "gstccllabelprivate.h"

#include <string.h>

#include "base/gstcclcolour.h"
#include "base/gstcclenums.h"
#include "base/gstcclframemap.h"

GstCaps *
gst_ccl_label_sink_caps (GstCclAnalyzer * analyzer)
{
  gint source;

  GST_OBJECT_LOCK (analyzer);
  source = GST_CCL_LABEL (analyzer)->settings.mask.source;
  GST_OBJECT_UNLOCK (analyzer);
  return gst_ccl_mask_source_caps (source);
}

/* Why the caps of this source are impossible with the output in effect; NULL: they are possible. */
static const gchar *
find_refusal (GstCclLabel * self, gint source)
{
  GstPad *const sink = GST_BASE_TRANSFORM_SINK_PAD (self), *const src = GST_BASE_TRANSFORM_SRC_PAD (self);
  const gint output = gst_ccl_analyzer_get_output (&self->parent);
  GstCaps *const template = gst_pad_get_pad_template_caps (src), *const own = gst_ccl_mask_source_caps (source);
  GstCaps *const downstream = gst_pad_peer_query_caps (src, template);
  GstCaps *const inputs = output == GST_CCL_OUTPUT_PASSTHROUGH ? gst_caps_ref (downstream)
      : gst_ccl_label_picture_caps (output, GST_PAD_SRC, downstream);
  GstCaps *const usable = gst_caps_intersect (own, inputs), *const upstream = gst_pad_peer_query_caps (sink, usable);
  const gchar *const refusal = gst_caps_is_empty (usable) ? "downstream cannot take"
      : !gst_caps_can_intersect (upstream, usable) ? "upstream cannot give" : NULL;

  gst_caps_unref (template);
  gst_caps_unref (own);
  gst_caps_unref (downstream);
  gst_caps_unref (inputs);
  gst_caps_unref (usable);
  gst_caps_unref (upstream);
  return refusal;
}

static const gchar *
name_of_source (gint source)
{
  return g_enum_get_value (g_type_class_peek (GST_TYPE_CCL_MASK_SOURCE), source)->value_nick;
}

/* The alpha plane takes other caps. While frames flow, a change that the neighbours cannot follow would end the stream. */
void
gst_ccl_label_set_mask_source (GstCclLabel * self, gint source)
{
  const gchar *refusal = NULL;
  gboolean is_streaming, changes_caps;
  gint before;

  GST_OBJECT_LOCK (self);
  is_streaming = self->parent.is_streaming;
  before = self->settings.mask.source;
  GST_OBJECT_UNLOCK (self);
  changes_caps = (before == GST_CCL_MASK_SOURCE_ALPHA) != (source == GST_CCL_MASK_SOURCE_ALPHA);
  if (changes_caps && is_streaming)
    refusal = find_refusal (self, source);
  if (refusal) {
    GST_ELEMENT_WARNING (self, STREAM, FORMAT, ("mask-source=%s needs %s, which %s: it stays %s.",
            name_of_source (source), source == GST_CCL_MASK_SOURCE_ALPHA ? "A420 or AV12" : "a format without alpha",
            refusal, name_of_source (before)),
        ("With videoconvert %s ccllabel it can change while playing.", refusal[0] == 'u' ? "before" : "behind"));
    return;
  }
  GST_OBJECT_LOCK (self);
  self->settings.mask.source = source;
  GST_OBJECT_UNLOCK (self);
  if (changes_caps)
    gst_base_transform_reconfigure_sink (GST_BASE_TRANSFORM (self));
}

/* Caps of any of `formats` (NULL: any) with the geometry and rate of `caps`. */
static GstCaps *
caps_with_formats (const GstCaps * caps, const gchar * const *formats)
{
  GstCaps *result = gst_caps_new_empty ();
  GValue list = G_VALUE_INIT, format = G_VALUE_INIT;

  g_value_init (&list, GST_TYPE_LIST);
  g_value_init (&format, G_TYPE_STRING);
  for (guint i = 0; formats && formats[i]; i++) {
    g_value_set_static_string (&format, formats[i]);
    gst_value_list_append_value (&list, &format);
  }
  for (guint i = 0; i < gst_caps_get_size (caps); i++) {
    GstStructure *structure = gst_structure_copy (gst_caps_get_structure (caps, i));

    gst_structure_remove_fields (structure, "format", "colorimetry", "chroma-site", NULL);
    if (formats)
      gst_structure_set_value (structure, "format", &list);
    result = gst_caps_merge_structure (result, structure);
  }
  g_value_unset (&list);
  g_value_unset (&format);
  return result;
}

static const gchar *const *
formats_of_output (gint output)
{
  static const gchar *const mask[] = { "GRAY8", NULL };
  static const gchar *const labels[] = { "GRAY16_LE", "GRAY16_BE", "RGBA", NULL };
  static const gchar *const colours[] = { "RGB", "RGBA", NULL };

  return output == GST_CCL_OUTPUT_MASK ? mask : output == GST_CCL_OUTPUT_COLORS ? colours : labels;
}

static GstCaps *
caps_in_any_memory (GstCaps * caps)
{
  GstCaps *cuda = gst_caps_copy (caps);

  gst_caps_set_features_simple (cuda, gst_caps_features_new (GST_CCL_CUDA_FEATURE, NULL));
  return gst_caps_merge (cuda, caps);
}

/* The label shown at column x. If the mask has another size, takes the nearest label. */
static inline guint32
label_at (const guint32 * labels, guint n_labels, guint x, guint width)
{
  return labels[n_labels == width ? x : (guint64) x * n_labels / width];
}

/* The label as a number, or 255 in blobs. */
static void
draw_row (guint8 * row, guint width, const guint32 * labels, guint n_labels, GstVideoFormat format)
{
  for (guint x = 0; x < width; x++) {
    const guint32 label = label_at (labels, n_labels, x, width);

    if (format == GST_VIDEO_FORMAT_GRAY8)
      row[x] = label ? 255 : 0;
    else if (format == GST_VIDEO_FORMAT_GRAY16_LE)
      ((guint16 *) row)[x] = GUINT16_TO_LE (MIN (label, 65535));
    else if (format == GST_VIDEO_FORMAT_GRAY16_BE)
      ((guint16 *) row)[x] = GUINT16_TO_BE (MIN (label, 65535));
    else                        /* RGBA */
      ((guint32 *) row)[x] = GUINT32_TO_LE (label);
  }
}

/* The eye hardly sees the lowest four bits of a colour. They hold bits of the label, so that the first 8,000 labels have as
 * many colours. */
static void
colour_of_label (guint32 label, guint8 * rgb)
{
  const GstCclColour colour = gst_ccl_colour_of_number (label);
  const gdouble parts[3] = { colour.red, colour.green, colour.blue };

  for (guint i = 0; i < 3; i++)
    rgb[i] = ((guint) (parts[i] * 255) & ~15u) | (label >> 4 * i & 15);
}

static void
colour_row (guint8 * row, guint width, const guint32 * labels, guint n_labels, guint n_channels)
{
  guint8 pixel[4] = { 0, 0, 0, 255 };
  guint32 last = 0;

  for (guint x = 0; x < width; x++) {
    const guint32 label = label_at (labels, n_labels, x, width);

    if (label != last && label)
      colour_of_label (label, pixel);
    else if (label != last)
      memset (pixel, 0, 3);
    last = label;
    memcpy (row + x * n_channels, pixel, n_channels);
  }
}

GstCaps *
gst_ccl_label_picture_caps (gint output, GstPadDirection direction, GstCaps * caps)
{
  GstCaps *const outputs = caps_with_formats (caps, formats_of_output (output));
  GstCaps *possible, *inputs;

  if (direction == GST_PAD_SINK)
    return outputs;
  possible = gst_caps_intersect (caps, outputs);
  inputs = caps_in_any_memory (caps_with_formats (possible, NULL));
  gst_caps_unref (possible);
  gst_caps_unref (outputs);
  return inputs;
}

/* Takes the first of our formats that is possible. Many elements prefer RGBA, in which labels are invisible. */
GstCaps *
gst_ccl_label_fixate_picture (gint output, GstCaps * possible)
{
  GstCaps *const formats = caps_with_formats (possible, formats_of_output (output));
  GstCaps *const ordered = gst_caps_intersect_full (formats, possible, GST_CAPS_INTERSECT_FIRST);

  gst_caps_unref (formats);
  gst_caps_unref (possible);
  return gst_caps_fixate (ordered);
}

/* A skipped frame has no labels (NULL) and gives an empty picture. */
gboolean
gst_ccl_label_draw_picture (gint output, const GstVideoInfo * info, GstBuffer * buffer, const guint32 * labels,
    guint width, guint height)
{
  const guint out_width = GST_VIDEO_INFO_WIDTH (info), out_height = GST_VIDEO_INFO_HEIGHT (info);
  GstVideoFrame frame;

  if (!gst_ccl_frame_map (&frame, info, buffer, GST_MAP_WRITE))
    return FALSE;
  for (guint y = 0; y < out_height; y++) {
    guint8 *const row =
        (guint8 *) GST_VIDEO_FRAME_PLANE_DATA (&frame, 0) + y * GST_VIDEO_FRAME_PLANE_STRIDE (&frame, 0);
    const guint32 *const of_row = labels ? labels + (gsize) ((guint64) y * height / out_height) * width : NULL;

    if (of_row && output == GST_CCL_OUTPUT_COLORS)
      colour_row (row, out_width, of_row, width, GST_VIDEO_FRAME_COMP_PSTRIDE (&frame, 0));
    else if (of_row)
      draw_row (row, out_width, of_row, width, GST_VIDEO_INFO_FORMAT (info));
    else
      memset (row, 0, out_width * GST_VIDEO_FRAME_COMP_PSTRIDE (&frame, 0));
  }
  gst_video_frame_unmap (&frame);
  return TRUE;
}
