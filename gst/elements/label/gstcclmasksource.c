/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "gstcclmasksource.h"

#include <string.h>

#include <gst/ccl/gstcclblobmeta.h>
#include <gst/ccl/gstcclmaskmeta.h>

#include "base/gstcclenums.h"
#include "label/gstcclregions.h"

#ifdef HAVE_GST_ANALYTICS
#include <gst/analytics/analytics.h>
#endif

static void
use_frame (const GstVideoInfo * info, GstCclFoundMask * found)
{
  *found = (GstCclFoundMask) {
  .info = *info,.matrix = { 1, 0, 0, 0, 1, 0, 0, 0, 1 }};
}

/* A mask in a buffer of its own, described by its video meta. */
static void
use_buffer (GstBuffer * mask, GstVideoFormat format, guint width, guint height, GstCclFoundMask * found)
{
  *found = (GstCclFoundMask) {
  .buffer = gst_buffer_ref (mask),.matrix = { 1, 0, 0, 0, 1, 0, 0, 0, 1 }};
  gst_video_info_set_format (&found->info, format, width, height);
}

static gboolean
find_mask_meta (GstBuffer * buffer, GstCclFoundMask * found)
{
  const GstCclMaskMeta *const meta = gst_buffer_get_ccl_mask_meta (buffer);

  if (!meta || !meta->mask)
    return FALSE;
  use_buffer (meta->mask, GST_VIDEO_FORMAT_GRAY8, meta->ref_width, meta->ref_height, found);
  memcpy (found->matrix, meta->matrix, sizeof found->matrix);
  if (meta->flags & GST_CCL_MASK_META_FLAG_GLOBAL_CHANGE)
    found->flags |= GST_CCL_BLOB_META_FLAG_GLOBAL_CHANGE;
  return TRUE;
}

#if defined HAVE_GST_ANALYTICS && GST_CHECK_VERSION (1, 26, 0)
/* A segmentation, and the rectangle of the frame that its mask covers. */
typedef struct
{
  GstAnalyticsSegmentationMtd mtd;
  GstBuffer *mask;
  const GstVideoMeta *layout;
  gint x, y;
  guint width, height;
} Segmentation;

static void
segmentations_clear (GstCclVector * all)
{
  for (guint i = 0; i < all->len; i++)
    gst_clear_buffer (&gst_ccl_vector_at (all, Segmentation, i)->mask);
  gst_ccl_vector_clear (all);
}

/* FALSE: its mask has another format, or no pixels. */
static gboolean
read_segmentation (Segmentation * s)
{
  s->mask = gst_analytics_segmentation_mtd_get_mask (&s->mtd, &s->x, &s->y, &s->width, &s->height);
  s->layout = s->mask ? gst_buffer_get_video_meta (s->mask) : NULL;
  return s->layout && s->layout->width && s->layout->height && s->width && s->height
      && (s->layout->format == GST_VIDEO_FORMAT_GRAY8 || s->layout->format == GST_VIDEO_FORMAT_GRAY16_LE
      || s->layout->format == GST_VIDEO_FORMAT_GRAY16_BE);
}

/* The chosen segmentations, in the order of the metadata. FALSE: no memory. */
static gboolean
collect_segmentations (GstBuffer * buffer, gint choice, GstCclVector * all)
{
  GstAnalyticsRelationMeta *const relations = gst_buffer_get_analytics_relation_meta (buffer);
  const GstAnalyticsMtdType type = gst_analytics_segmentation_mtd_get_mtd_type ();
  Segmentation s = { 0 };
  gpointer state = NULL;
  gint n = 0;

  while (relations && gst_analytics_relation_meta_iterate (relations, &state, type, &s.mtd)) {
    s.mask = NULL;
    if ((choice < 0 || n == choice) && read_segmentation (&s)) {
      if (!gst_ccl_vector_append (all, &s, 1)) {
        gst_buffer_unref (s.mask);
        return FALSE;
      }
    } else {
      gst_clear_buffer (&s.mask);
    }
    n++;
  }
  return TRUE;
}

/* Pixels are ids of regions; 0 is background. */
static gboolean
is_wanted (guint value, gint region_id)
{
  return region_id < 0 ? value != 0 : value == (guint) region_id;
}

static guint
read_pixel (const guint8 * row, guint x, GstVideoFormat format)
{
  if (format == GST_VIDEO_FORMAT_GRAY8)
    return row[x];
  return format == GST_VIDEO_FORMAT_GRAY16_LE ? GST_READ_UINT16_LE (row + 2 * x) : GST_READ_UINT16_BE (row + 2 * x);
}

/* A video meta can describe more bytes than its buffer has. */
static gboolean
is_inside (const GstVideoMeta * layout, const GstMapInfo * map, const guint8 * data, gint stride)
{
  const gsize row = (gsize) layout->width * (layout->format == GST_VIDEO_FORMAT_GRAY8 ? 1 : 2);
  const gsize size = map->data + map->size - data;

  return stride > 0 && (gsize) stride >= row && size >= (gsize) stride *(layout->height - 1) + row;
}

/* A mask that regions are painted into. */
typedef struct
{
  const GstCclVector *all;      /* the segmentations */
  gint region_id;
  gboolean is_map;              /* GRAY16_LE with the numbers of regions, else GRAY8 with 255 */
  guint width, height;          /* of the only segmentation's own mask, else of the frame */
  guint8 *pixels;
  GstCclVector regions;         /* of a map */
  gboolean is_present[GST_CCL_N_REGION_IDS];    /* scratch */
  guint16 numbers[GST_CCL_N_REGION_IDS];
} Picture;

/* FALSE: it cannot be mapped, or there is no memory. */
static gboolean
find_regions (Picture * picture, guint index)
{
  GstVideoMeta *const layout = (GstVideoMeta *) gst_ccl_vector_at (picture->all, Segmentation, index)->layout;
  const guint n_ids = layout->format == GST_VIDEO_FORMAT_GRAY8 ? 256 : GST_CCL_N_REGION_IDS;
  gpointer data;
  GstMapInfo map;
  gint stride;

  if (!gst_video_meta_map (layout, 0, &map, &data, &stride, GST_MAP_READ))
    return FALSE;
  memset (picture->is_present, 0, n_ids * sizeof *picture->is_present);
  for (guint y = 0; y < layout->height; y++)
    for (guint x = 0; x < layout->width; x++)
      picture->is_present[read_pixel ((const guint8 *) data + (gsize) y * stride, x, layout->format)] = TRUE;
  gst_video_meta_unmap (layout, 0, &map);
  for (guint id = 0; id < n_ids; id++)
    picture->is_present[id] = picture->is_present[id] && is_wanted (id, picture->region_id);
  return gst_ccl_regions_add (&picture->regions, index, picture->is_present, n_ids);
}

static void
paint_pixel (const Picture * picture, gsize at, guint id)
{
  if (picture->is_map)
    GST_WRITE_UINT16_LE (picture->pixels + 2 * at, picture->numbers[id]);
  else
    picture->pixels[at] = 255;
}

static gboolean
paint_segmentation (Picture * picture, guint index)
{
  const Segmentation *const s = gst_ccl_vector_at (picture->all, Segmentation, index);
  const gboolean is_alone = picture->all->len == 1;
  const guint width = picture->width, height = picture->height;
  const guint to_width = is_alone ? s->layout->width : s->width, to_height = is_alone ? s->layout->height : s->height;
  const gint left = is_alone ? 0 : s->x, top = is_alone ? 0 : s->y;
  gpointer data;
  GstMapInfo map;
  gint stride;

  if (!gst_video_meta_map ((GstVideoMeta *) s->layout, 0, &map, &data, &stride, GST_MAP_READ))
    return FALSE;
  gst_ccl_regions_get_numbers (&picture->regions, index, picture->numbers);
  for (gint64 y = MAX (top, 0); y < MIN ((gint64) top + to_height, height); y++) {
    const guint8 *const row = (const guint8 *) data + (y - top) * s->layout->height / to_height * stride;

    for (gint64 x = MAX (left, 0); x < MIN ((gint64) left + to_width, width); x++) {
      const guint id = read_pixel (row, (x - left) * s->layout->width / to_width, s->layout->format);

      if (is_wanted (id, picture->region_id))
        paint_pixel (picture, y * width + x, id);
    }
  }
  gst_video_meta_unmap ((GstVideoMeta *) s->layout, 0, &map);
  return TRUE;
}

static void
set_place (const Segmentation * s, GstCclFoundMask * found)
{
  found->matrix[0] = (gdouble) s->width / s->layout->width;
  found->matrix[2] = s->x;
  found->matrix[4] = (gdouble) s->height / s->layout->height;
  found->matrix[5] = s->y;
}

/* Whether the buffer of each mask contains the pixels that its video meta describes. */
static gboolean
are_complete (const GstCclVector * all)
{
  for (guint i = 0; i < all->len; i++) {
    GstVideoMeta *const layout = (GstVideoMeta *) gst_ccl_vector_at (all, Segmentation, i)->layout;
    gboolean is_complete;
    gpointer data;
    GstMapInfo map;
    gint stride;

    if (!gst_video_meta_map (layout, 0, &map, &data, &stride, GST_MAP_READ))
      return FALSE;
    is_complete = is_inside (layout, &map, data, stride);
    gst_video_meta_unmap (layout, 0, &map);
    if (!is_complete)
      return FALSE;
  }
  return TRUE;
}

/* A black picture, or NULL without memory. */
static GstBuffer *
new_buffer (Picture * picture, GstVideoFormat format)
{
  const guint row_size = picture->width * (picture->is_map ? 2 : 1);
  gsize offset[GST_VIDEO_MAX_PLANES] = { 0 };
  gint stride[GST_VIDEO_MAX_PLANES] = { row_size };
  GstBuffer *buffer;

  picture->pixels = g_try_malloc0 ((gsize) row_size * picture->height);
  if (!picture->pixels)
    return NULL;
  buffer = gst_buffer_new_wrapped (picture->pixels, (gsize) row_size * picture->height);
  gst_buffer_add_video_meta_full (buffer, GST_VIDEO_FRAME_FLAG_NONE, format, picture->width, picture->height, 1, offset,
      stride);
  return buffer;
}

/* The numbers of a map's regions. Where ids are different and not 0, they are the numbers, the same in each frame, and
 * `classes` is NULL. */
static gboolean
number_regions (Picture * picture, GBytes ** classes)
{
  if (picture->all->len == 1 && picture->region_id != 0) {
    for (guint id = 0; id < GST_CCL_N_REGION_IDS; id++)
      picture->numbers[id] = id;
    return TRUE;
  }
  for (guint i = 0; i < picture->all->len; i++)
    if (!find_regions (picture, i))
      return FALSE;
  *classes = gst_ccl_regions_number (&picture->regions);
  return *classes != NULL;
}

static void
paint_segmentations (Picture * picture, GstCclFoundMask * found)
{
  const GstVideoFormat format = picture->is_map ? GST_VIDEO_FORMAT_GRAY16_LE : GST_VIDEO_FORMAT_GRAY8;
  GBytes *classes = NULL;
  gboolean is_painted = are_complete (picture->all) && (!picture->is_map || number_regions (picture, &classes));
  GstBuffer *const buffer = is_painted ? new_buffer (picture, format) : NULL;

  for (guint i = 0; i < picture->all->len && buffer && is_painted; i++)
    is_painted = paint_segmentation (picture, i);
  if (buffer && is_painted) {
    use_buffer (buffer, format, picture->width, picture->height, found);
    found->classes = g_steal_pointer (&classes);
  }
  if (buffer)
    gst_buffer_unref (buffer);
  g_clear_pointer (&classes, g_bytes_unref);
}

/* One segmentation is painted in the size of its mask, several in the size of the frame. The masks are checked first, because
 * their sizes come from other elements and determine the memory to allocate. */
static gboolean
make_mask (const GstCclVector * all, const GstCclMaskChoice * choice, const GstVideoInfo * info, GstCclFoundMask * found)
{
  const Segmentation *const first = gst_ccl_vector_at (all, Segmentation, 0);
  const gboolean is_alone = all->len == 1;
  Picture *const picture = g_try_new0 (Picture, 1);

  if (!picture)
    return FALSE;
  picture->all = all;
  picture->region_id = choice->region_id;
  picture->is_map = choice->is_map;
  picture->width = is_alone ? first->layout->width : (guint) GST_VIDEO_INFO_WIDTH (info);
  picture->height = is_alone ? first->layout->height : (guint) GST_VIDEO_INFO_HEIGHT (info);
  picture->regions.element_size = sizeof (GstCclRegion);
  found->buffer = NULL;
  paint_segmentations (picture, found);
  if (found->buffer && is_alone)
    set_place (first, found);
  gst_ccl_vector_clear (&picture->regions);
  g_free (picture);
  return found->buffer != NULL;
}

static gboolean
find_segmentation (const GstCclMaskChoice * choice, GstBuffer * buffer, const GstVideoInfo * info,
    GstCclFoundMask * found)
{
  GstCclVector all = {.element_size = sizeof (Segmentation) };
  gboolean is_found = collect_segmentations (buffer, choice->segmentation, &all) && all.len > 0;
  const Segmentation *const s = all.data;

  if (is_found && all.len == 1 && choice->region_id < 0 && s->layout->format != GST_VIDEO_FORMAT_GRAY16_BE) {
    use_buffer (s->mask, s->layout->format, s->layout->width, s->layout->height, found);
    set_place (s, found);
  } else if (is_found) {
    is_found = make_mask (&all, choice, info, found);
  }
  segmentations_clear (&all);
  return is_found;
}
#else
static gboolean
find_segmentation (const GstCclMaskChoice * choice, GstBuffer * buffer, const GstVideoInfo * info,
    GstCclFoundMask * found)
{
  return FALSE;
}
#endif

GstCaps *
gst_ccl_mask_source_caps (gint source)
{
  static GstStaticCaps alpha = GST_STATIC_CAPS (GST_CCL_ALPHA_CAPS), others = GST_STATIC_CAPS (GST_CCL_MASK_CAPS);

  return gst_static_caps_get (source == GST_CCL_MASK_SOURCE_ALPHA ? &alpha : &others);
}

gboolean
gst_ccl_mask_source_has_segmentations (void)
{
#if defined HAVE_GST_ANALYTICS && GST_CHECK_VERSION (1, 26, 0)
  return TRUE;
#else
  return FALSE;
#endif
}

gboolean
gst_ccl_mask_source_find (const GstCclMaskChoice * choice, GstBuffer * buffer, const GstVideoInfo * info,
    GstCclFoundMask * found)
{
  switch (choice->source) {
    case GST_CCL_MASK_SOURCE_MASK_META:
      return find_mask_meta (buffer, found);
    case GST_CCL_MASK_SOURCE_SEGMENTATION_MTD:
      return find_segmentation (choice, buffer, info, found);
    case GST_CCL_MASK_SOURCE_ALPHA:
      use_frame (info, found);
      found->component = GST_VIDEO_COMP_A;
      return GST_VIDEO_INFO_N_COMPONENTS (info) > GST_VIDEO_COMP_A;     /* GStreamer 1.22 does not flag the alpha of AV12 */
    case GST_CCL_MASK_SOURCE_AUTO:
      if (find_mask_meta (buffer, found))
        return TRUE;
      break;
    default:
      break;
  }
  use_frame (info, found);
  return TRUE;
}
