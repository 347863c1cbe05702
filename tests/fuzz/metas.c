/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Metadata of other elements through the whole chain: regions, blobs, masks, zones, segmentations; any numbers and names. */
#include "fuzz.h"

#include <gst/video/video.h>
#include <gst/ccl/ccl.h>
#include <string.h>

#ifdef HAVE_GST_ANALYTICS
#include <gst/analytics/analytics.h>
#endif

#define WIDTH 64
#define HEIGHT 48
#define MAX_STEPS 48

#define LABEL "ccllabel name=label backend=cpu threads=1 mask-source=mask-meta attach=blob+roi "
#define SEGMENTS "ccllabel name=label backend=cpu threads=1 mask-source=segmentation-mtd "
#define ZONES "cclzone name=zone zones=\"{\\\"zones\\\":[{\\\"name\\\":\\\"a\\\",\\\"line\\\":[[0,0],[50,50]]}," \
    "{\\\"name\\\":\\\"b\\\",\\\"polygon\\\":[[0,0],[60,0],[60,40]],\\\"dwell\\\":0.1}]}\" "
#define TRACK "ccltrack name=track history=8 emit=tentative+merged+predicted+lost "

typedef struct
{
  const gchar *line, *format;
} Chain;

/* Names of elements become names of sources, and a process never frees one: so they do not change from input to input. */
static const Chain chains[] = {
  {LABEL "! " TRACK "! " ZONES "! cclmeta2json name=json trails=true", "GRAY8"},
  {TRACK "! " ZONES "! cclmeta2json name=json trails=true precision=-1", "NV12"},
  {TRACK "input=roi ! " ZONES "! cclmeta2json name=json schema=dlstreamer", "NV12"},
  {"cclmeta2json name=json empty-frames=true precision=0", "NV12"},
  {"cclmetaremap name=keep mode=keep ! cclmetaremap name=restore mode=restore crop-left=5 direction=180 ! " TRACK
        "! cclmeta2json name=json", "I420"},
#ifdef HAVE_OVERLAY
  {LABEL "! " TRACK "! " ZONES "! ccloverlay name=overlay draw=box+centroid+ellipse+contour+id+area+trail+zone+count",
      "I420"},
  {TRACK "! " ZONES
        "! ccloverlay name=overlay draw=box+centroid+ellipse+contour+id+area+trail+zone+count expire=1000000000",
      "BGRx"},
  {"ccloverlay name=overlay draw=box+contour+trail+zone+id color-by=label line-width=30", "GRAY8"},
#endif
  {SEGMENTS "! cclmeta2json name=json", "NV12"},
  {SEGMENTS "region-id=1 segmentation=0 output=labels", "GRAY8"},
};

static void
add_region (GstBuffer * buffer, FuzzBytes * bytes)
{
  /* A process never frees a type. */
  static const gchar *const types[] = { "person", "car", "", "\xff\xfe", "\"\\\n\x01", "\xc3\xa4/+#<b>&amp;%s" };
  static const gchar *const names[] = { "detection", "object_id", "classification", GST_CCL_ROI_PARAM };
  static const gchar *const fields[] = { "confidence", "id", "label_id", "label", "track-id" };
  const gchar *const type = types[fuzz_below (bytes, G_N_ELEMENTS (types))];
  const guint x = (guint) fuzz_integer (bytes), y = (guint) fuzz_integer (bytes), w = (guint) fuzz_integer (bytes);
  GstVideoRegionOfInterestMeta *const roi =
      gst_buffer_add_video_region_of_interest_meta (buffer, type, x, y, w, (guint) fuzz_integer (bytes));

  roi->id = (gint) fuzz_integer (bytes);
  roi->parent_id = (gint) fuzz_integer (bytes);
  for (guint n = fuzz_below (bytes, 4); n > 0; n--) {
    GstStructure *const param = gst_structure_new_empty (names[fuzz_below (bytes, G_N_ELEMENTS (names))]);
    const gchar *const field = fields[fuzz_below (bytes, G_N_ELEMENTS (fields))];

    if (fuzz_flag (bytes))
      gst_structure_set (param, field, G_TYPE_DOUBLE, fuzz_double (bytes), NULL);
    else
      gst_structure_set (param, field, G_TYPE_INT, (gint) fuzz_integer (bytes), NULL);
    gst_video_region_of_interest_meta_add_param (roi, param);
  }
}

static GstCclBlob
take_blob (FuzzBytes * bytes)
{
  GstCclBlob blob = {.mtd_id = GST_CCL_MTD_ID_NONE };

  blob.label = (guint32) fuzz_integer (bytes);
  blob.flags = (guint32) fuzz_integer (bytes);
  blob.x = (gint32) fuzz_integer (bytes);
  blob.y = (gint32) fuzz_integer (bytes);
  blob.width = (gint32) fuzz_integer (bytes);
  blob.height = (gint32) fuzz_integer (bytes);
  blob.area = (guint64) fuzz_integer (bytes);
  blob.m10 = (guint64) fuzz_integer (bytes);
  blob.m01 = (guint64) fuzz_integer (bytes);
  blob.m20 = (guint64) fuzz_integer (bytes);
  blob.m11 = (guint64) fuzz_integer (bytes);
  blob.m02 = (guint64) fuzz_integer (bytes);
  blob.track_id = (guint64) fuzz_integer (bytes);
  blob.parent_id = (guint64) fuzz_integer (bytes);
  blob.volume_id = (guint64) fuzz_integer (bytes);
  blob.zones = (guint32) fuzz_integer (bytes);
  blob.age = (guint32) fuzz_integer (bytes);
  return blob;
}

/* Points for some of the blobs, as many as their counts say. */
static void
set_points (GstCclBlobList * list, GstCclBlob * blobs, guint n, FuzzBytes * bytes)
{
  GArray *const points = g_array_new (FALSE, FALSE, sizeof (GstCclPoint));
  GBytes *all;

  for (guint i = 0; i < n; i++) {
    blobs[i].first_point = points->len;
    blobs[i].n_contour = (guint16) fuzz_below (bytes, 6);
    blobs[i].n_trail = (guint16) fuzz_below (bytes, 4);
    for (guint k = blobs[i].n_contour + blobs[i].n_trail; k > 0; k--) {
      const GstCclPoint point = { (gfloat) fuzz_double (bytes), (gfloat) fuzz_double (bytes) };

      g_array_append_val (points, point);
    }
  }
  all = g_bytes_new (points->data, points->len * sizeof (GstCclPoint));
  gst_ccl_blob_list_set_points (list, all);
  g_bytes_unref (all);
  g_array_unref (points);
}

static void
take_matrix (FuzzBytes * bytes, gdouble matrix[9])
{
  const guint n = fuzz_below (bytes, 4);

  for (guint i = 0; i < n; i++)
    matrix[fuzz_below (bytes, 9)] = fuzz_double (bytes);
}

static void
add_blobs (GstBuffer * buffer, FuzzBytes * bytes)
{
  const guint n = fuzz_below (bytes, 5);
  GstCclBlob *blobs;
  GstCclBlobList *const list = gst_ccl_blob_list_new_uninitialized (n, &blobs);
  GstCclBlobMeta *meta;

  for (guint i = 0; i < n; i++)
    blobs[i] = take_blob (bytes);
  if (fuzz_flag (bytes))
    set_points (list, blobs, n, bytes);
  meta = gst_buffer_add_ccl_blob_meta (buffer, list, WIDTH, HEIGHT);
  gst_ccl_blob_list_unref (list);
  meta->flags = fuzz_byte (bytes);
  meta->n_total = (guint) fuzz_integer (bytes);
  meta->width = (guint) fuzz_integer (bytes);
  meta->height = (guint) fuzz_integer (bytes);
  meta->ref_width = (guint) fuzz_integer (bytes);
  take_matrix (bytes, meta->matrix);
}

/* Rows where the buffer has none. */
static void
move_rows (GstVideoMeta * layout, FuzzBytes * bytes)
{
  if (fuzz_below (bytes, 4) == 3)
    layout->stride[0] = (gint) fuzz_integer (bytes);
  if (fuzz_below (bytes, 4) == 3)
    layout->offset[0] = (gsize) fuzz_integer (bytes);
}

static void
add_mask (GstBuffer * buffer, FuzzBytes * bytes)
{
  const guint width = 1 + fuzz_below (bytes, 80), height = 1 + fuzz_below (bytes, 60);
  GstBuffer *const mask = gst_buffer_new_allocate (NULL, (gsize) GST_ROUND_UP_4 (width) * height, NULL);
  GstVideoMeta *const layout =
      gst_buffer_add_video_meta (mask, GST_VIDEO_FRAME_FLAG_NONE, GST_VIDEO_FORMAT_GRAY8, width, height);
  GstCclMaskMeta *meta;

  gst_buffer_memset (mask, 0, 0, (gsize) - 1);
  gst_buffer_memset (mask, fuzz_byte (bytes), 255, fuzz_byte (bytes));
  meta = gst_buffer_add_ccl_mask_meta (buffer, mask, WIDTH, HEIGHT);
  move_rows (layout, bytes);
  if (fuzz_below (bytes, 4) == 3)
    meta->ref_width = layout->width = (guint) fuzz_integer (bytes);
  if (fuzz_below (bytes, 4) == 3)
    meta->ref_height = (guint) fuzz_integer (bytes);
  meta->flags = fuzz_byte (bytes);
  take_matrix (bytes, meta->matrix);
  gst_buffer_unref (mask);
}

#if defined HAVE_GST_ANALYTICS && GST_CHECK_VERSION (1, 26, 0)
static void
add_segmentation (GstBuffer * buffer, FuzzBytes * bytes)
{
  static const GstVideoFormat formats[] =
      { GST_VIDEO_FORMAT_GRAY8, GST_VIDEO_FORMAT_GRAY16_LE, GST_VIDEO_FORMAT_GRAY16_BE };
  const GstVideoFormat format = formats[fuzz_below (bytes, G_N_ELEMENTS (formats))];
  const guint width = 1 + fuzz_below (bytes, 80), height = 1 + fuzz_below (bytes, 60);
  const gint x = (gint) fuzz_integer (bytes), y = (gint) fuzz_integer (bytes);
  const guint w = (guint) fuzz_integer (bytes), h = (guint) fuzz_integer (bytes);
  GstAnalyticsRelationMeta *relations = gst_buffer_get_analytics_relation_meta (buffer);
  guint ids[] = { 0, 1, 255 };
  GstVideoInfo info;
  GstVideoMeta *layout;
  GstBuffer *mask;

  gst_video_info_set_format (&info, format, width, height);
  mask = gst_buffer_new_allocate (NULL, GST_VIDEO_INFO_SIZE (&info), NULL);
  layout = gst_buffer_add_video_meta (mask, GST_VIDEO_FRAME_FLAG_NONE, format, width, height);
  gst_buffer_memset (mask, 0, 0, (gsize) - 1);
  gst_buffer_memset (mask, fuzz_byte (bytes), 1, fuzz_byte (bytes));
  if (!relations)
    relations = gst_buffer_add_analytics_relation_meta (buffer);
  gst_analytics_relation_meta_add_segmentation_mtd (relations, mask, GST_SEGMENTATION_TYPE_SEMANTIC, G_N_ELEMENTS (ids),
      ids, x, y, w, h, NULL);
  move_rows (layout, bytes);
  if (fuzz_below (bytes, 4) == 3)
    layout->width = (guint) fuzz_integer (bytes);
  if (fuzz_below (bytes, 4) == 3)
    layout->height = (guint) fuzz_integer (bytes);
  if (fuzz_below (bytes, 8) == 7)
    layout->format = GST_VIDEO_FORMAT_RGB;
}
#else
static void
add_segmentation (GstBuffer * buffer, FuzzBytes * bytes)
{
  (void) buffer, (void) bytes;
}
#endif

static void
add_zones (GstBuffer * buffer, FuzzBytes * bytes)
{
  const guint n = fuzz_below (bytes, GST_CCL_MAX_ZONES + 1) / 2;
  gchar *const name = fuzz_text (bytes);
  gdouble points[8];
  GstCclZone zones[GST_CCL_MAX_ZONES];

  for (guint i = 0; i < G_N_ELEMENTS (points); i++)
    points[i] = fuzz_double (bytes);
  for (guint i = 0; i < n; i++) {
    zones[i] = (GstCclZone) {
    .name = name,.points = points};
    zones[i].kind = fuzz_flag (bytes) ? GST_CCL_ZONE_LINE : GST_CCL_ZONE_POLYGON;
    zones[i].n_points = fuzz_below (bytes, G_N_ELEMENTS (points) / 2 + 1);
    zones[i].n_inside = (guint) fuzz_integer (bytes);
    zones[i].n_forward = (guint64) fuzz_integer (bytes);
  }
  gst_buffer_add_ccl_zone_meta (buffer, zones, n);
  g_free (name);
}

static void
add_stock_meta (GstBuffer * buffer, FuzzBytes * bytes)
{
  GstVideoCropMeta *crop;
  GstVideoAffineTransformationMeta *affine;

  switch (fuzz_below (bytes, 3)) {
    case 0:
      crop = gst_buffer_add_video_crop_meta (buffer);
      crop->x = (guint) fuzz_integer (bytes);
      crop->width = (guint) fuzz_integer (bytes);
      break;
    case 1:
      affine = gst_buffer_add_video_affine_transformation_meta (buffer);
      affine->matrix[fuzz_below (bytes, 16)] = (gfloat) fuzz_double (bytes);
      break;
    default:
      gst_buffer_add_video_time_code_meta_full (buffer, 25, 1, NULL, GST_VIDEO_TIME_CODE_FLAGS_NONE, fuzz_byte (bytes),
          fuzz_byte (bytes), fuzz_byte (bytes), fuzz_byte (bytes), fuzz_byte (bytes));
      break;
  }
}

static void
push_frame (FuzzPipe * pipe, FuzzBytes * bytes, const GstVideoInfo * info, guint index)
{
  static void (*const adders[]) (GstBuffer *, FuzzBytes *) = {
    add_region, add_blobs, add_mask, add_zones, add_stock_meta, add_segmentation
  };
  GstBuffer *const buffer = gst_buffer_new_allocate (NULL, GST_VIDEO_INFO_SIZE (info), NULL);

  gst_buffer_memset (buffer, 0, 40, (gsize) - 1);
  for (guint n = fuzz_below (bytes, 5); n > 0; n--)
    adders[fuzz_below (bytes, G_N_ELEMENTS (adders))] (buffer, bytes);
  GST_BUFFER_PTS (buffer) = fuzz_below (bytes, 8) == 7 ? (GstClockTime) fuzz_integer (bytes) : index * 40 * GST_MSECOND;
  fuzz_pipe_push (pipe, buffer);
}

int
LLVMFuzzerTestOneInput (const guint8 * data, gsize size)
{
  FuzzBytes bytes = { data, data + size };
  const Chain *const chain = &chains[fuzz_below (&bytes, G_N_ELEMENTS (chains))];
  GstVideoInfo info;
  GstSegment segment;
  GstCaps *caps;
  FuzzPipe pipe;

  gst_video_info_set_format (&info, gst_video_format_from_string (chain->format), WIDTH, HEIGHT);
  caps = gst_video_info_to_caps (&info);
  gst_segment_init (&segment, GST_FORMAT_TIME);
  fuzz_pipe_open (&pipe, chain->line);
  fuzz_pipe_event (&pipe, gst_event_new_caps (caps));
  fuzz_pipe_event (&pipe, gst_event_new_segment (&segment));
  for (guint i = 0; i < MAX_STEPS && !fuzz_is_empty (&bytes); i++)
    if (fuzz_below (&bytes, 16) == 15)
      fuzz_pipe_disturb (&pipe, &bytes);
    else
      push_frame (&pipe, &bytes, &info, i);
  fuzz_pipe_close (&pipe);
  gst_caps_unref (caps);
  return 0;
}
