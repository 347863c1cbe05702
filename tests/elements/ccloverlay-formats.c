/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* ccloverlay: pixel formats, their colours, sizes, and caps that change. */

#include "ccloverlay.h"
#include <string.h>

/* In video the colour is what the caps' colorimetry says; GStreamer's own conversion is the judge. */
GST_START_TEST (test_colours_of_video)
{
  static const gchar *const formats[] = { "I420", "NV12", "Y444", "YUY2", "AYUV", "VUYA", "I420_10LE", "I422_12LE",
    "Y444_16LE", "P010_10LE", "P012_LE", "P016_LE"
  };
  static const gchar *const colorimetries[] = { "bt601", "bt709", "1:3:5:1" /* full range */  };

  for (guint i = 0; i < G_N_ELEMENTS (formats) * G_N_ELEMENTS (colorimetries); i++) {
    const gchar *const colorimetry = colorimetries[i % 3];
    gchar *line = g_strdup_printf ("ccloverlay draw=box color-by=fixed color=0xffe02040 line-width=8 ! videoconvert ! "
        "video/x-raw,format=BGRx,colorimetry=sRGB ! identity");
    gchar *caps = g_strdup_printf ("video/x-raw,format=%s,width=320,height=240,framerate=10/1,colorimetry=%s",
        formats[i / 3], colorimetry);
    const GstCclBlob blob = new_blob (1, 0, 96, 96, 64, 64);
    Fixture f = {.harness = gst_harness_new_parse (line) };
    GstCaps *parsed = gst_caps_from_string (caps);
    GstBuffer *buffer;
    guint32 colour;

    fail_unless (gst_video_info_from_caps (&f.info, parsed));
    gst_harness_set_src_caps (f.harness, parsed);
    buffer = new_frame (&f, 0);
    gst_buffer_memset (buffer, 0, 128, GST_VIDEO_INFO_SIZE (&f.info));
    attach_blobs (&f, buffer, &blob, 1);
    buffer = push (&f, buffer);
    colour = pixel (&f, buffer, 92, 128);
    fail_unless (ABS ((gint) (colour >> 16) - 0xe0) <= 4 && ABS ((gint) (colour >> 8 & 255) - 0x20) <= 4
        && ABS ((gint) (colour & 255) - 0x40) <= 4, "%s is #%06x", caps, colour);
    gst_buffer_unref (buffer);
    gst_harness_teardown (f.harness);
    g_free (caps);
    g_free (line);
  }
}

GST_END_TEST;

static void
paint (GstBuffer * buffer, const guint8 pixel[4])
{
  GstMapInfo map;

  gst_buffer_map (buffer, &map, GST_MAP_WRITE);
  for (gsize i = 0; i < map.size; i++)
    map.data[i] = pixel[i % 4];
  gst_buffer_unmap (buffer, &map);
}

/* A picture with alpha: what is drawn is opaque, what is not stays as it was, and neither takes the other's colour. */
GST_START_TEST (test_alpha)
{
  static const guint8 grounds[][4] = { {10, 20, 30, 255}, {10, 20, 30, 0}, {10, 20, 30, 100} };

  for (guint i = 0; i < G_N_ELEMENTS (grounds); i++) {
    Fixture f = new_fixture ("draw=box color-by=fixed color=0xff12c834 line-width=4", "BGRA", 320, 240);
    const GstCclBlob blob = new_blob (1, 0, 100, 80, 40, 60);
    GstBuffer *buffer = new_frame (&f, 0);
    GstMapInfo map;

    paint (buffer, grounds[i]);
    attach_blobs (&f, buffer, &blob, 1);
    buffer = push (&f, buffer);
    gst_buffer_map (buffer, &map, GST_MAP_READ);
    fail_unless (memcmp (map.data + 4 * (110 * 320 + 98), "\x34\xc8\x12\xff", 4) == 0);
    fail_unless (memcmp (map.data + 4 * (110 * 320 + 120), grounds[i], 4) == 0);
    gst_buffer_unmap (buffer, &map);
    gst_buffer_unref (buffer);
    gst_harness_teardown (f.harness);
  }
}

GST_END_TEST;

/* GBR in words: colours as they are, in ten bits. */
GST_START_TEST (test_rgb_of_ten_bits)
{
  Fixture f = new_fixture ("draw=box color-by=fixed color=0xff00c8ff line-width=4", "GBR_10LE", 320, 240);
  GstBuffer *out = push_blob (&f, 0, new_blob (1, 0, 100, 80, 40, 60));
  GstVideoFrame frame;

  fail_unless (gst_video_frame_map (&frame, &f.info, out, GST_MAP_READ));
  for (guint c = 0; c < 3; c++) {
    static const guint expected[] = { 0, 0xc8 * 1023 / 255, 1023 };
    const guint8 *const row = (const guint8 *) GST_VIDEO_FRAME_COMP_DATA (&frame, c)
        + 110 * GST_VIDEO_FRAME_COMP_STRIDE (&frame, c);

    assert_equals_int (((GST_READ_UINT16_LE (row + 2 * 98) & 1023) + 1) / 2, (expected[c] + 1) / 2);
  }
  gst_video_frame_unmap (&frame);
  gst_buffer_unref (out);
  gst_harness_teardown (f.harness);
}

GST_END_TEST;

static const gchar *const formats[] = { "GRAY8", "I420", "YV12", "NV12", "NV21", "Y42B", "Y444", "YUY2", "UYVY", "BGRx",
  "RGBA", "ARGB", "RGB", "RGB16", "GRAY16_LE", "I420_10LE", "P010_10LE", "v210", "UYVP", "NV12_64Z32", "YUV9", "AYUV64",
  "Y41B", "r210", "VUYA", "A420", "P016_LE", "Y444_16LE", "GBR_10LE", "GBR_12LE", "I422_12LE"
};

static const guint sizes[][2] = { {1, 1}, {3, 7}, {15, 17}, {319, 241}, {1, 240}, {320, 1}, {32, 32} };

/* Everything there is to draw, on every kind of frame: nothing outside of the memory (as valgrind and the sanitizers
 * see), and something on it. */
GST_START_TEST (test_formats_and_sizes)
{
  const guint *const size = sizes[__i__ % G_N_ELEMENTS (sizes)];
  const gchar *const format = formats[__i__ / G_N_ELEMENTS (sizes)];
  Fixture f = new_fixture ("draw=box+centroid+ellipse+id+area+trail+zone+count", format, size[0], size[1]);
  GstBuffer *out = NULL;

  for (guint i = 0; i < 3; i++) {
    const GstCclBlob blob = new_blob (1, 3, 0, 0, size[0], size[1]);

    gst_clear_buffer (&out);
    out = push_blob (&f, i, blob);
  }
  fail_unless (count_changed (out) > 0, "%s %ux%u", format, size[0], size[1]);
  gst_buffer_unref (out);
  gst_harness_teardown (f.harness);
}

GST_END_TEST;

/* Buffers of a field each have half the lines that the caps say. */
GST_START_TEST (test_fields_are_not_drawn_into)
{
  Fixture f = new_fixture ("draw=box", "I420", 320, 240);
  GstBuffer *buffer;

  gst_harness_set_src_caps_str (f.harness, "video/x-raw(format:Interlaced),format=I420,width=320,height=240,"
      "framerate=25/1,interlace-mode=alternate");
  buffer = gst_buffer_new_allocate (NULL, GST_VIDEO_INFO_SIZE (&f.info) / 2, NULL);
  gst_buffer_memset (buffer, 0, GROUND, -1);
  attach_blobs (&f, buffer, &(GstCclBlob) {.x = 10,.y = 130,.width = 50,.height = 90,.area = 9 }, 1);
  buffer = push (&f, buffer);
  assert_equals_int (count_changed (buffer), 0);
  gst_buffer_unref (buffer);
  gst_harness_teardown (f.harness);
}

GST_END_TEST;

/* Sizes and settings that change while frames flow. */
GST_START_TEST (test_changes)
{
  Fixture f = new_fixture ("", "BGRx", 320, 240);
  GstElement *element = gst_harness_find_element (f.harness, "ccloverlay");

  gst_buffer_unref (push_blob (&f, 0, new_blob (1, 3, 100, 80, 40, 60)));
  g_object_set (element, "font-desc", "Monospace 20", "trail-length", 0, "line-width", 7.0, "color", 0x80ff0000,
      "expire", G_MAXUINT64, NULL);
  gst_buffer_unref (push_blob (&f, 1, new_blob (1, 3, 100, 80, 40, 60)));
  g_object_set (element, "font-desc", NULL, "trail-length", 1024, "line-width", 0.0, NULL);
  f.info.width = 100;
  f.info.height = 50;
  gst_video_info_set_format (&f.info, GST_VIDEO_FORMAT_BGRx, 100, 50);
  gst_harness_set_src_caps_str (f.harness, "video/x-raw,format=BGRx,width=100,height=50,framerate=10/1");
  gst_buffer_unref (push_blob (&f, 2, new_blob (1, 3, 10, 10, 40, 30)));
  assert_equals_uint64 (get_stat (&f, "drawn"), 3);
  gst_object_unref (element);
  gst_harness_teardown (f.harness);
}

GST_END_TEST;

TCase *
overlay_format_tests (void)
{
  TCase *tests = tcase_create ("formats");

  tcase_set_timeout (tests, 120);
  tcase_add_test (tests, test_alpha);
  tcase_add_test (tests, test_rgb_of_ten_bits);
  tcase_add_test (tests, test_colours_of_video);
  tcase_add_loop_test (tests, test_formats_and_sizes, 0, G_N_ELEMENTS (formats) * G_N_ELEMENTS (sizes));
  tcase_add_test (tests, test_fields_are_not_drawn_into);
  tcase_add_test (tests, test_changes);
  return tests;
}
