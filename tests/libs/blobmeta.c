/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Blobs, lists and metas: counts of references, shapes, transforms, text. */
#include "blobmeta.h"

#include <gst/video/gstvideosink.h>

gboolean
transform (GstBuffer * dest, GstBuffer * buffer, GQuark type, gpointer data)
{
  GstMeta *const meta = (GstMeta *) gst_buffer_get_ccl_blob_meta (buffer);

  return GST_CCL_BLOB_META_INFO->transform_func (dest, meta, buffer, type, data);
}

GstCclBlobMeta *
scale (GstBuffer * dest, GstBuffer * buffer, guint width, guint height)
{
  const GstCclBlobMeta *const meta = gst_buffer_get_ccl_blob_meta (buffer);
  GstVideoInfo in, out;
  GstVideoMetaTransform data = { &in, &out };

  gst_video_info_set_format (&in, GST_VIDEO_FORMAT_GRAY8, meta->width, meta->height);
  gst_video_info_set_format (&out, GST_VIDEO_FORMAT_GRAY8, width, height);
  return transform (dest, buffer, gst_video_meta_transform_scale_get_quark (), &data) ?
      gst_buffer_get_ccl_blob_meta (dest) : NULL;
}

static Suite *
blobmeta_suite (void)
{
  Suite *suite = suite_create ("blobmeta");

  blobmeta_add_lists_tests (suite);
  blobmeta_add_meta_tests (suite);
  blobmeta_add_table_tests (suite);
  blobmeta_add_transforms_tests (suite);
  return suite;
}

GST_CHECK_MAIN (blobmeta);
