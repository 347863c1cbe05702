/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* The flat form of a blob meta. The first byte of an input says whether the checksum is mended, because libFuzzer
 * does not find a right one. */
#include "fuzz.h"

#include <gst/video/video.h>
#include <gst/ccl/ccl.h>
#include <string.h>

#include "support/flatform.h"

static GBytes *
get_form (const guint8 * data, gsize size)
{
  guint8 *copy;

  if (size < 5 || !(data[0] & 1))
    return size > 0 ? g_bytes_new (data + 1, size - 1) : g_bytes_new (NULL, 0);
  copy = g_memdup2 (data + 1, size - 1);
  repair_flat_form (copy, size - 1);
  return g_bytes_new_take (copy, size - 1);
}

/* Every measure of every blob. */
static void
read_blobs (const GstCclBlobMeta * meta)
{
  gdouble a, b, c, d;
  guint n;

  for (guint i = 0; i < gst_ccl_blob_meta_get_length (meta); i++) {
    const GstCclBlob *const blob = gst_ccl_blob_meta_get_blob (meta, i);

    gst_ccl_blob_get_axes (blob, &a, &b);
    gst_ccl_blob_get_eccentricity (blob);
    gst_ccl_blob_get_extent (blob);
    gst_ccl_blob_get_equivalent_diameter (blob);
    gst_ccl_blob_meta_get_box (meta, i, &a, &b, &c, &d);
    gst_ccl_blob_meta_get_area (meta, i);
    gst_ccl_blob_meta_get_centroid (meta, i, &a, &b);
    gst_ccl_blob_meta_get_covariance (meta, i, &a, &b, &c);
    gst_ccl_blob_meta_get_axes (meta, i, &a, &b, &c);
    g_free (gst_ccl_blob_meta_get_contour (meta, i, &n));
    g_free (gst_ccl_blob_meta_get_trail (meta, i, &n));
    gst_ccl_blob_meta_get_holes (meta, i, NULL, NULL);
    gst_ccl_blob_meta_get_circularity (meta, i, NULL, NULL);
    gst_ccl_blob_meta_get_convexity (meta, i, &a);
    gst_ccl_blob_meta_get_hole (meta, i, 1, &(GstCclHole) { 0 });
    gst_ccl_blob_meta_get_min_rect (meta, i, &a, &b, &c);
    gst_ccl_blob_meta_get_class_id (meta, i, &n);
    gst_ccl_blob_meta_get_intensity (meta, i, &a, &b, &c, &d);
    gst_ccl_blob_meta_get_chroma (meta, i, &a, &b);
    gst_ccl_blob_meta_get_weighted_centroid (meta, i, &a, &b);
    gst_ccl_blob_meta_get_weighted_covariance (meta, i, &a, &b, &c);
  }
  g_free (gst_ccl_blob_meta_to_string (meta));
}

/* Whether something in a form can be what a later version wrote: from version 8 on, columns. */
static gboolean
has_more (GBytes * form, GBytes * again)
{
  return ((const guint8 *) g_bytes_get_data (form, NULL))[4] >= 8 && g_bytes_get_size (again) < g_bytes_get_size (form);
}

/* Written again, the form has the same bytes. A name that was one too many for the process is lost. */
static void
write_again (const GstCclBlobMeta * meta, GBytes * form)
{
  GBytes *const again = gst_ccl_blob_meta_to_bytes (meta);

  g_assert_true (g_bytes_equal (again, form) || meta->source == 0 || has_more (form, again));
  g_bytes_unref (again);
}

static void
copy_scaled (GstBuffer * buffer, const GstCclBlobMeta * meta)
{
  GstBuffer *const scaled = gst_buffer_new ();
  GstVideoInfo from, to;
  GstVideoMetaTransform scale = {.in_info = &from,.out_info = &to };

  gst_video_info_set_format (&from, GST_VIDEO_FORMAT_GRAY8, 32, 24);
  gst_video_info_set_format (&to, GST_VIDEO_FORMAT_GRAY8, 97, 1);
  if (meta->meta.info->transform_func (scaled, (GstMeta *) meta, buffer, gst_video_meta_transform_scale_get_quark (),
          &scale))
    read_blobs (gst_buffer_get_ccl_blob_meta (scaled));
  gst_buffer_unref (scaled);
}

int
LLVMFuzzerTestOneInput (const guint8 * data, gsize size)
{
  GBytes *const form = get_form (data, size);
  GstBuffer *const buffer = gst_buffer_new ();
  GError *error = NULL;
  GstCclBlobMeta *const meta = gst_buffer_add_ccl_blob_meta_from_bytes (buffer, form, &error);

  g_assert_true ((meta == NULL) == (error != NULL));
  if (meta) {
    read_blobs (meta);
    write_again (meta, form);
    copy_scaled (buffer, meta);
    gst_buffer_add_ccl_roi_mirror (buffer, meta, "blob", 16);
  } else {
    g_assert_null (gst_buffer_get_ccl_blob_meta (buffer));
  }
  g_clear_error (&error);
  gst_buffer_unref (buffer);
  g_bytes_unref (form);
  return 0;
}
