/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "masks.h"

#include <string.h>

Mask
mask_new (guint width, guint height)
{
  return (Mask) {
  width, height, g_malloc0 ((gsize) width * height)};
}

void
mask_free (Mask * mask)
{
  g_clear_pointer (&mask->pixels, g_free);
}

Mask
mask_from_rows (const gchar * const *rows)
{
  Mask mask = mask_new (strlen (rows[0]), g_strv_length ((gchar **) rows));

  for (guint y = 0; y < mask.height; y++)
    for (guint x = 0; x < mask.width; x++)
      mask.pixels[y * mask.width + x] = rows[y][x] == '#';
  return mask;
}

Mask
mask_random (guint width, guint height, guint seed, gdouble density)
{
  Mask mask = mask_new (width, height);
  GRand *random = g_rand_new_with_seed (seed);

  for (gsize i = 0; i < (gsize) width * height; i++)
    mask.pixels[i] = g_rand_double (random) < density;
  g_rand_free (random);
  return mask;
}

Mask
mask_dots (guint n)
{
  Mask mask = mask_new (2 * n, 1);

  for (guint i = 0; i < n; i++)
    mask.pixels[2 * i] = 1;
  return mask;
}

void
draw_mask (guint8 * data, gsize stride, guint pixel_size, const Mask * mask, guint on, guint off)
{
  for (guint y = 0; y < mask->height; y++)
    for (guint x = 0; x < mask->width; x++) {
      const guint value = mask->pixels[y * mask->width + x] ? on : off;
      if (pixel_size == 2)
        GST_WRITE_UINT16_LE (data + y * stride + 2 * x, value);
      else
        data[y * stride + x] = value;
    }
}

GstBuffer *
buffer_from_values (GstVideoFormat format, const Mask * mask, guint on, guint off)
{
  GstVideoInfo info;
  GstBuffer *buffer;
  GstMapInfo map;

  gst_video_info_set_format (&info, format, mask->width, mask->height);
  buffer = gst_buffer_new_allocate (NULL, info.size, NULL);
  gst_buffer_map (buffer, &map, GST_MAP_WRITE);
  for (gsize i = 0; i < map.size; i++)
    map.data[i] = i * 37 + 11;
  draw_mask (map.data + info.offset[0], info.stride[0], GST_VIDEO_INFO_COMP_PSTRIDE (&info, 0), mask, on, off);
  gst_buffer_unmap (buffer, &map);
  return buffer;
}

GstBuffer *
buffer_from_mask (GstVideoFormat format, const Mask * mask)
{
  const gboolean gray = format == GST_VIDEO_FORMAT_GRAY8 || format == GST_VIDEO_FORMAT_GRAY16_LE;

  if (gray)
    return buffer_from_values (format, mask, format == GST_VIDEO_FORMAT_GRAY8 ? 1 : 256, 0);
  return buffer_from_values (format, mask, 128, 127);
}

gchar *
caps_string (GstVideoFormat format, guint width, guint height)
{
  return g_strdup_printf ("video/x-raw, format=(string)%s, width=(int)%u, height=(int)%u, framerate=(fraction)25/1",
      gst_video_format_to_string (format), width, height);
}

void
set_mask_caps (GstHarness * harness, GstVideoFormat format, const Mask * mask)
{
  gchar *caps = caps_string (format, mask->width, mask->height);
  gst_harness_set_src_caps_str (harness, caps);
  g_free (caps);
}
