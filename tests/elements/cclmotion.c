/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* cclmotion: frames in, masks out. */
#include "cclmotion.h"

void
draw_scene (guint8 * data, gsize stride, guint width, guint height, guint n, guint from)
{
  for (guint y = 0; y < height; y++)
    for (guint x = 0; x < width; x++)
      data[y * stride + x] = 90 + (x * 7 + y * 3 + n * 5) % 5;
  for (guint y = 20; n >= from && y < 36; y++)
    for (guint x = 0; x < 16; x++)
      data[y * stride + (10 + 2 * (n - from)) % (width - 16) + x] = 220;
}

GstBuffer *
scene (GstVideoFormat format, guint width, guint height, guint n, guint from)
{
  GstVideoInfo info;
  GstBuffer *buffer;
  GstMapInfo map;

  gst_video_info_set_format (&info, format, width, height);
  buffer = gst_buffer_new_allocate (NULL, info.size, NULL);
  gst_buffer_map (buffer, &map, GST_MAP_WRITE);
  for (gsize i = 0; i < map.size; i++)
    map.data[i] = i * 37 + n * 11;      /* what is not luma must not matter */
  draw_scene (map.data + info.offset[0], info.stride[0], width, height, n, from);
  gst_buffer_unmap (buffer, &map);
  GST_BUFFER_PTS (buffer) = n * FRAME;
  GST_BUFFER_DURATION (buffer) = FRAME;
  return buffer;
}

GstHarness *
motion_harness (const gchar * settings, GstVideoFormat format, guint width, guint height)
{
  gchar *caps = caps_string (format, width, height);
  GstHarness *harness = element_harness ("cclmotion name=motion method=mog2 backend=cpu warmup-frames=5", settings, caps);

  g_free (caps);
  return harness;
}

GstElement *
find_element (GstHarness * harness, const gchar * name)
{
  GstElement *element = gst_bin_get_by_name (GST_BIN (harness->element), name);

  gst_object_unref (element);
  return element;
}

void
set_motion (GstHarness * harness, const gchar * name, const gchar * value)
{
  gst_util_set_object_arg (G_OBJECT (find_element (harness, "motion")), name, value);
}

GstBuffer *
push_scene (GstHarness * harness, guint n, guint from)
{
  GstBuffer *buffer = gst_harness_push_and_pull (harness, scene (GST_VIDEO_FORMAT_GRAY8, W, H, n, from));

  fail_unless (buffer != NULL);
  return buffer;
}

GstHarness *
harness_of_depth (guint backend, guint depth)
{
  gchar *settings = g_strdup_printf ("async-depth=%u", depth);
  GstHarness *harness = motion_harness (settings, GST_VIDEO_FORMAT_GRAY8, W, H);

  set_motion (harness, "backend", backends[backend]);
  g_free (settings);
  return harness;
}

static Suite *
cclmotion_suite (void)
{
  Suite *suite = suite_create ("cclmotion");

  cclmotion_add_masks_tests (suite);
  cclmotion_add_mask_source_tests (suite);
  cclmotion_add_feedback_tests (suite);
  cclmotion_add_background_tests (suite);
  cclmotion_add_seams_tests (suite);
  cclmotion_add_messages_tests (suite);
  cclmotion_add_async_tests (suite);
  cclmotion_add_device_tests (suite);
#ifdef CCL_EMULATED
  cclmotion_add_lost_tests (suite);
#endif
  return suite;
}

TEST_MAIN (cclmotion, "cclmotion");
