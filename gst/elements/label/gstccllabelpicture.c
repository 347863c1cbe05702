/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* The picture that leaves with output=mask and output=labels: its caps and its pixels. */

#include "gstccllabelprivate.h"

#include <string.h>

#include "base/gstcclenums.h"
#include "base/gstcclframemap.h"

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
  static const gchar *const labels[] = { "GRAY16_LE", "RGBA", NULL };

  return output == GST_CCL_OUTPUT_MASK ? mask : labels;
}

static GstCaps *
caps_in_any_memory (GstCaps * caps)
{
  GstCaps *cuda = gst_caps_copy (caps);

  gst_caps_set_features_simple (cuda, gst_caps_features_new (GST_CCL_CUDA_FEATURE, NULL));
  return gst_caps_merge (cuda, caps);
}

/* Makes a row of a picture of this width from a row of labels. If the mask has another size, takes the nearest label. */
static void
draw_row (guint8 * row, guint width, const guint32 * labels, guint n_labels, GstVideoFormat format)
{
  for (guint x = 0; x < width; x++) {
    const guint32 label = labels[n_labels == width ? x : (guint64) x * n_labels / width];

    if (format == GST_VIDEO_FORMAT_GRAY8)
      row[x] = label ? 255 : 0;
    else if (format == GST_VIDEO_FORMAT_GRAY16_LE)
      ((guint16 *) row)[x] = GUINT16_TO_LE (MIN (label, 65535));
    else                        /* RGBA */
      ((guint32 *) row)[x] = GUINT32_TO_LE (label);
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

/* A skipped frame has no labels (NULL) and gives an empty picture. */
gboolean
gst_ccl_label_draw_picture (const GstVideoInfo * info, GstBuffer * buffer, const guint32 * labels, guint width,
    guint height)
{
  const guint out_width = GST_VIDEO_INFO_WIDTH (info), out_height = GST_VIDEO_INFO_HEIGHT (info);
  GstVideoFrame frame;

  if (!gst_ccl_frame_map (&frame, info, buffer, GST_MAP_WRITE))
    return FALSE;
  for (guint y = 0; y < out_height; y++) {
    guint8 *const row =
        (guint8 *) GST_VIDEO_FRAME_PLANE_DATA (&frame, 0) + y * GST_VIDEO_FRAME_PLANE_STRIDE (&frame, 0);

    if (labels)
      draw_row (row, out_width, labels + (gsize) ((guint64) y * height / out_height) * width, width,
          GST_VIDEO_INFO_FORMAT (info));
    else
      memset (row, 0, out_width * GST_VIDEO_FRAME_COMP_PSTRIDE (&frame, 0));
  }
  gst_video_frame_unmap (&frame);
  return TRUE;
}
