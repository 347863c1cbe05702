/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* ccloverlay: where it draws and where it does not, who blends, caps, zones, what it costs. */

#include <gst/check/gstcheck.h>
#include <gst/check/gstharness.h>
#include <gst/ccl/ccl.h>
#include <gst/video/video.h>
#include <math.h>
#include <string.h>

#define FRAME (100 * GST_MSECOND)
#define GROUND 0x60             /* gray: no colour that is drawn */

typedef struct
{
  GstHarness *harness;
  GstVideoInfo info;
} Fixture;

static Fixture
new_fixture (const gchar * settings, const gchar * format, guint width, guint height)
{
  Fixture f;
  gchar *line = g_strdup_printf ("ccloverlay %s", settings);
  GstCaps *caps;

  gst_video_info_init (&f.info);
  gst_video_info_set_format (&f.info, gst_video_format_from_string (format), width, height);
  f.info.fps_n = 10;
  f.info.fps_d = 1;
  f.harness = gst_harness_new_parse (line);
  caps = gst_video_info_to_caps (&f.info);
  gst_harness_set_src_caps (f.harness, caps);
  g_free (line);
  return f;
}

static GstBuffer *
new_frame (const Fixture * f, guint number)
{
  GstBuffer *buffer = gst_buffer_new_allocate (NULL, GST_VIDEO_INFO_SIZE (&f->info), NULL);

  gst_buffer_memset (buffer, 0, GROUND, GST_VIDEO_INFO_SIZE (&f->info));
  GST_BUFFER_PTS (buffer) = number * FRAME;
  return buffer;
}

static GstCclBlob
new_blob (guint label, guint64 track_id, gint x, gint y, gint width, gint height)
{
  const guint64 area = (guint64) width * height;

  /* Moments of the filled box, the second ones about right: for the ellipse. */
  return (GstCclBlob) {
    .label = label,.x = x,.y = y,.width = width,.height = height,.first_x = x,.mtd_id = GST_CCL_MTD_ID_NONE,
    .area = area,.m10 = area * (2 * (gint64) x + width - 1) / 2,
    .m01 = area * (2 * (gint64) y + height - 1) / 2,
    .m20 = area * ((guint64) x * x + (guint64) x * width + (guint64) width * width / 3),
    .m11 = area * (2 * (gint64) x + width - 1) / 2 * (2 * (gint64) y + height - 1) / 2,
    .m02 = area * ((guint64) y * y + (guint64) y * height + (guint64) height * height / 3),
    .track_id = track_id,
  };
}

static GstCclBlobMeta *
add_blobs (const Fixture * f, GstBuffer * buffer, const GstCclBlob * blobs, guint n)
{
  GstCclBlobList *list = gst_ccl_blob_list_new (blobs, n);
  GstCclBlobMeta *meta = gst_buffer_add_ccl_blob_meta (buffer, list, f->info.width, f->info.height);

  gst_ccl_blob_list_unref (list);
  return meta;
}

static GstBuffer *
push (Fixture * f, GstBuffer * buffer)
{
  GstBuffer *out = gst_harness_push_and_pull (f->harness, buffer);

  fail_unless (out != NULL);
  return out;
}

static GstBuffer *
push_blob (Fixture * f, guint number, GstCclBlob blob)
{
  GstBuffer *buffer = new_frame (f, number);

  add_blobs (f, buffer, &blob, 1);
  return push (f, buffer);
}

static guint32
pixel (const Fixture * f, GstBuffer * buffer, gint x, gint y)
{
  guint8 bytes[4];

  fail_unless (gst_buffer_extract (buffer, (y * f->info.width + x) * 4, bytes, 4) == 4);
  return bytes[2] << 16 | bytes[1] << 8 | bytes[0];     /* of BGRx */
}

/* Bytes that are not the ground any more. */
static gsize
count_changed (GstBuffer * buffer)
{
  GstMapInfo map;
  gsize n = 0;

  fail_unless (gst_buffer_map (buffer, &map, GST_MAP_READ));
  for (gsize i = 0; i < map.size; i++)
    n += map.data[i] != GROUND;
  gst_buffer_unmap (buffer, &map);
  return n;
}

static GstStructure *
get_stats (Fixture * f)
{
  GstElement *element = gst_harness_find_element (f->harness, "ccloverlay");
  GstStructure *stats;

  g_object_get (element, "stats", &stats, NULL);
  gst_object_unref (element);
  return stats;
}

static guint64
get_stat (Fixture * f, const gchar * name)
{
  GstStructure *stats = get_stats (f);
  guint64 value = 0;

  fail_unless (gst_structure_get_uint64 (stats, name, &value), "no %s", name);
  gst_structure_free (stats);
  return value;
}

static void
assert_path (Fixture * f, const gchar * path)
{
  GstStructure *stats = get_stats (f);

  assert_equals_string (gst_structure_get_string (stats, "path"), path);
  gst_structure_free (stats);
}

/* ---------------------------------------------------------------- blending */

GST_START_TEST (test_box)
{
  Fixture f = new_fixture ("draw=box color-by=fixed color=0xff12c834 line-width=1", "BGRx", 320, 240);
  GstBuffer *out = push_blob (&f, 0, new_blob (1, 0, 100, 80, 40, 60));

  /* The line is next to the blob, with a dark one on its far side; the blob and what is further away are untouched. */
  assert_equals_int (pixel (&f, out, 98, 110), 0x12c834);
  assert_equals_int (pixel (&f, out, 141, 110), 0x12c834);
  assert_equals_int (pixel (&f, out, 120, 78), 0x12c834);
  assert_equals_int (pixel (&f, out, 120, 141), 0x12c834);
  fail_unless ((pixel (&f, out, 97, 110) & 255) < GROUND);
  assert_equals_int (pixel (&f, out, 100, 80), GROUND * 0x10101);
  assert_equals_int (pixel (&f, out, 120, 110), GROUND * 0x10101);
  assert_equals_int (pixel (&f, out, 90, 110), GROUND * 0x10101);
  assert_path (&f, "blend");
  gst_buffer_unref (out);

  /* The next frame knows nothing of it. */
  out = push_blob (&f, 1, new_blob (1, 0, 200, 80, 40, 60));
  assert_equals_int (pixel (&f, out, 98, 110), GROUND * 0x10101);
  assert_equals_int (pixel (&f, out, 198, 110), 0x12c834);
  gst_buffer_unref (out);
  gst_harness_teardown (f.harness);
}

GST_END_TEST
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
    add_blobs (&f, buffer, &blob, 1);
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

GST_END_TEST
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
    add_blobs (&f, buffer, &blob, 1);
    buffer = push (&f, buffer);
    gst_buffer_map (buffer, &map, GST_MAP_READ);
    fail_unless (memcmp (map.data + 4 * (110 * 320 + 98), "\x34\xc8\x12\xff", 4) == 0);
    fail_unless (memcmp (map.data + 4 * (110 * 320 + 120), grounds[i], 4) == 0);
    gst_buffer_unmap (buffer, &map);
    gst_buffer_unref (buffer);
    gst_harness_teardown (f.harness);
  }
}

GST_END_TEST
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

GST_END_TEST
/* The line is on the edge of the pixels: half of it inside. */
GST_START_TEST (test_contour)
{
  static const GstCclPoint points[] = { {100, 80}, {140, 80}, {100, 140} };
  Fixture f = new_fixture ("draw=contour color-by=fixed color=0xff12c834 line-width=2", "BGRx", 320, 240);
  GBytes *bytes = g_bytes_new_static (points, sizeof points);
  GstCclBlob blobs[2] = { new_blob (1, 0, 100, 80, 40, 60), new_blob (2, 0, 200, 80, 40, 60) };
  GstCclBlobList *list;
  GstBuffer *buffer = new_frame (&f, 0), *out;

  blobs[0].n_contour = 3;
  list = gst_ccl_blob_list_new (blobs, 2);
  gst_ccl_blob_list_set_points (list, bytes);
  gst_buffer_add_ccl_blob_meta (buffer, list, 320, 240);
  gst_ccl_blob_list_unref (list);
  g_bytes_unref (bytes);
  out = push (&f, buffer);
  assert_equals_int (pixel (&f, out, 120, 79), 0x12c834);
  assert_equals_int (pixel (&f, out, 120, 80), 0x12c834);
  assert_equals_int (pixel (&f, out, 99, 100), 0x12c834);
  fail_unless ((pixel (&f, out, 119, 110) & 0xff00) > 0xb000);  /* slanted, so smoothed */
  assert_equals_int (pixel (&f, out, 110, 100), GROUND * 0x10101);
  assert_equals_int (pixel (&f, out, 135, 130), GROUND * 0x10101);
  /* The second has no contour. */
  assert_equals_int (pixel (&f, out, 220, 80), GROUND * 0x10101);
  gst_buffer_unref (out);
  gst_harness_teardown (f.harness);
}

GST_END_TEST
/* Boxes over the border, and outside. */
GST_START_TEST (test_border)
{
  Fixture f = new_fixture ("draw=box color-by=fixed line-width=1", "BGRx", 320, 240);
  GstBuffer *out = push_blob (&f, 0, new_blob (1, 0, 0, 0, 320, 240));

  assert_equals_int (pixel (&f, out, 0, 100), 0x00ff00);
  assert_equals_int (pixel (&f, out, 319, 100), 0x00ff00);
  assert_equals_int (pixel (&f, out, 160, 239), 0x00ff00);
  gst_buffer_unref (out);
  out = push_blob (&f, 1, new_blob (1, 0, 5000, 5000, 10, 10));
  gst_buffer_unref (out);
  out = push_blob (&f, 1, new_blob (1, 0, G_MAXINT - 100, G_MININT + 100, 10, 10));
  gst_buffer_unref (out);
  out = push_blob (&f, 1, new_blob (1, 0, -1000, 20, 2000, 10));
  fail_unless (count_changed (out) > 300);
  gst_buffer_unref (out);
  gst_harness_teardown (f.harness);
}

GST_END_TEST
/* Matrices that take a blob beyond all numbers: nothing is drawn, no text either; the next is where it should be. */
GST_START_TEST (test_nowhere)
{
  static const gdouble matrices[][9] = {
    {1e308, -1e308, 0, 0, 1, 0, 0, 0, 1}, {1e308, -1e308, 0, 1e308, -1e308, 0, 0, 0, 1},
    {1e307, -1e308, 1.7e308, 0, 1, 0, 0, 0, 1}, {1, 0, 0, 0, 1, 0, 1e-300, 0, 1e-320},
    {1, 0, 0, 0, 1, 0, 0, 0, 1e-307}, {NAN, 0, 0, 0, 1, 0, 0, 0, 1}, {1, 0, 0, 0, 1, INFINITY, 0, 0, 1},
    {1, 0, 0, 0, 1, 0, 0, 0, NAN},
  };
  Fixture f = new_fixture ("draw=box+centroid+ellipse+id+area+trail color-by=fixed line-width=1", "BGRx", 320, 240);
  GstBuffer *out;

  for (guint i = 0; i < G_N_ELEMENTS (matrices); i++) {
    const GstCclBlob blobs[2] = { new_blob (1, 3, 100, 80, 40, 60), new_blob (2, 0, 100, 80, 40, 60) };
    GstBuffer *buffer = new_frame (&f, i);
    GstCclBlobMeta *meta = add_blobs (&f, buffer, blobs, 2);

    memcpy (meta->matrix, matrices[i], sizeof matrices[i]);
    out = push (&f, buffer);
    fail_unless (count_changed (out) == 0, "matrix %u", i);
    gst_buffer_unref (out);
  }
  out = push_blob (&f, G_N_ELEMENTS (matrices), new_blob (1, 3, 100, 80, 40, 60));
  assert_equals_int (pixel (&f, out, 98, 110), 0x00ff00);
  gst_buffer_unref (out);
  gst_harness_teardown (f.harness);
}

GST_END_TEST
GST_START_TEST (test_nothing_to_draw)
{
  Fixture f = new_fixture ("", "I420", 320, 240);
  GstBuffer *in = new_frame (&f, 0), *out;
  GstMemory *const memory = gst_buffer_peek_memory (in, 0);

  out = push (&f, in);
  fail_unless (gst_buffer_peek_memory (out, 0) == memory);
  assert_equals_int (count_changed (out), 0);
  gst_buffer_unref (out);

  in = new_frame (&f, 1);
  add_blobs (&f, in, NULL, 0);
  out = push (&f, in);
  assert_equals_int (count_changed (out), 0);
  assert_equals_uint64 (get_stat (&f, "drawn"), 0);
  gst_buffer_unref (out);
  gst_harness_teardown (f.harness);
}

GST_END_TEST
/* Another reader of the same memory sees the picture as it was. */
GST_START_TEST (test_shared_memory)
{
  Fixture f = new_fixture ("", "NV12", 320, 240);
  GstBuffer *in = new_frame (&f, 0), *other, *out;
  const GstCclBlob blob = new_blob (1, 3, 100, 80, 40, 60);

  add_blobs (&f, in, &blob, 1);
  other = gst_buffer_copy (in);
  out = push (&f, in);
  fail_unless (count_changed (out) > 0);
  assert_equals_int (count_changed (other), 0);
  gst_buffer_unref (out);
  gst_buffer_unref (other);
  gst_harness_teardown (f.harness);
}

GST_END_TEST
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

GST_END_TEST
/* ---------------------------------------------------------------- attaching */
static Fixture
new_attaching (const gchar * settings, guint width, guint height)
{
  Fixture f = new_fixture (settings, "BGRx", width, height);

  gst_harness_add_propose_allocation_meta (f.harness, GST_VIDEO_OVERLAY_COMPOSITION_META_API_TYPE, NULL);
  return f;
}

static GstVideoRectangle
get_rectangle (GstVideoOverlayComposition * composition, guint index)
{
  GstVideoRectangle r;
  guint width, height;

  gst_video_overlay_rectangle_get_render_rectangle (gst_video_overlay_composition_get_rectangle (composition, index),
      &r.x, &r.y, &width, &height);
  r.w = width;
  r.h = height;
  return r;
}

GST_START_TEST (test_attach)
{
  Fixture f = new_attaching ("draw=box", 320, 240);
  GstBuffer *out = push_blob (&f, 0, new_blob (1, 3, 100, 80, 40, 60));
  GstVideoOverlayCompositionMeta *meta = gst_buffer_get_video_overlay_composition_meta (out);
  GstCaps *caps = gst_pad_get_current_caps (f.harness->sinkpad);
  guint64 pixels = 0;

  assert_path (&f, "attach");
  assert_equals_int (count_changed (out), 0);
  fail_unless (meta != NULL);
  fail_unless (gst_caps_features_contains (gst_caps_get_features (caps, 0),
          GST_CAPS_FEATURE_META_GST_VIDEO_OVERLAY_COMPOSITION));
  fail_unless (gst_video_overlay_composition_n_rectangles (meta->overlay) >= 1);
  for (guint i = 0; i < gst_video_overlay_composition_n_rectangles (meta->overlay); i++) {
    const GstVideoRectangle r = get_rectangle (meta->overlay, i);

    fail_unless (r.x >= 100 - 32 && r.y >= 80 - 32 && r.x + r.w <= 140 + 32 && r.y + r.h <= 140 + 32);
    pixels += r.w * r.h;
  }
  /* A frame around the blob, not all of it. */
  assert_equals_uint64 (pixels, get_stat (&f, "pixels"));
  gst_caps_unref (caps);
  gst_buffer_unref (out);
  gst_harness_teardown (f.harness);
}

GST_END_TEST
static GstVideoOverlayComposition *
red_square (void)
{
  GstBuffer *pixels = gst_buffer_new_allocate (NULL, 8 * 8 * 4, NULL);
  GstVideoOverlayRectangle *rectangle;
  GstVideoOverlayComposition *composition;
  GstMapInfo map;

  gst_buffer_map (pixels, &map, GST_MAP_WRITE);
  for (gsize i = 0; i < map.size; i += 4)
    memcpy (map.data + i, "\0\0\377\377", 4);
  gst_buffer_unmap (pixels, &map);
  gst_buffer_add_video_meta (pixels, GST_VIDEO_FRAME_FLAG_NONE, GST_VIDEO_OVERLAY_COMPOSITION_FORMAT_RGB, 8, 8);
  rectangle = gst_video_overlay_rectangle_new_raw (pixels, 4, 4, 8, 8, GST_VIDEO_OVERLAY_FORMAT_FLAG_NONE);
  composition = gst_video_overlay_composition_new (rectangle);
  gst_video_overlay_rectangle_unref (rectangle);
  gst_buffer_unref (pixels);
  return composition;
}

/* What another element attached stays: below ours, or blended with it. */
GST_START_TEST (test_others_overlay)
{
  const GstCclBlob blob = new_blob (1, 3, 100, 80, 40, 60);

  for (guint attaches = 0; attaches < 2; attaches++) {
    Fixture f = attaches ? new_attaching ("draw=box", 320, 240) : new_fixture ("draw=box", "BGRx", 320, 240);
    GstVideoOverlayComposition *theirs = red_square ();
    GstVideoOverlayCompositionMeta *meta;
    GstBuffer *buffer = new_frame (&f, 0);
    GstVideoRectangle r;

    gst_buffer_add_video_overlay_composition_meta (buffer, theirs);
    add_blobs (&f, buffer, &blob, 1);
    buffer = push (&f, buffer);
    meta = gst_buffer_get_video_overlay_composition_meta (buffer);
    if (attaches) {
      fail_unless (gst_video_overlay_composition_n_rectangles (meta->overlay) > 1);
      r = get_rectangle (meta->overlay, 0);
      fail_unless (r.x == 4 && r.y == 4 && r.w == 8 && r.h == 8);
      assert_equals_int (gst_video_overlay_composition_n_rectangles (theirs), 1);
    } else {
      fail_unless (meta == NULL);
      assert_equals_int (pixel (&f, buffer, 8, 8), 0xff0000);
    }
    gst_buffer_unref (buffer);
    gst_video_overlay_composition_unref (theirs);
    gst_harness_teardown (f.harness);
  }
}

GST_END_TEST
/* Memory that nobody here can write to: the drawing is carried along, and it is said once. */
GST_START_TEST (test_foreign_memory)
{
  Fixture f = new_fixture ("draw=box", "BGRx", 64, 48);
  const GstCclBlob blob = new_blob (1, 3, 10, 10, 20, 20);
  GstBus *bus = gst_bus_new ();
  GstMessage *message;
  GstElement *element = gst_harness_find_element (f.harness, "ccloverlay");

  gst_element_set_bus (element, bus);
  gst_harness_set_src_caps_str (f.harness,
      "video/x-raw(memory:Elsewhere),format=NV12,width=64,height=48,framerate=10/1");
  for (guint i = 0; i < 3; i++) {
    GstBuffer *buffer = gst_buffer_new ();

    add_blobs (&f, buffer, &blob, 1);
    buffer = push (&f, buffer);
    fail_unless (gst_buffer_get_video_overlay_composition_meta (buffer) != NULL);
    gst_buffer_unref (buffer);
  }
  assert_path (&f, "carry");
  message = gst_bus_pop_filtered (bus, GST_MESSAGE_WARNING);
  fail_unless (message != NULL);
  gst_message_unref (message);
  fail_unless (gst_bus_pop_filtered (bus, GST_MESSAGE_WARNING) == NULL);

  /* Caps without a size: the blobs know it. */
  gst_harness_set_src_caps_str (f.harness, "video/x-raw(memory:Elsewhere),framerate=10/1");
  for (guint i = 0; i < 2; i++) {
    GstBuffer *buffer = gst_buffer_new ();

    if (i == 1)
      add_blobs (&f, buffer, &blob, 1);
    buffer = push (&f, buffer);
    assert_equals_int (gst_buffer_get_video_overlay_composition_meta (buffer) != NULL, i == 1);
    gst_buffer_unref (buffer);
  }
  gst_element_set_bus (element, NULL);
  gst_object_unref (element);
  gst_object_unref (bus);
  gst_harness_teardown (f.harness);
}

GST_END_TEST
/* Caps are agreed on once, not for every frame. */
GST_START_TEST (test_negotiates_once)
{
  Fixture f = new_fixture ("", "I420", 64, 48);
  guint n_caps = 0;
  GstEvent *event;

  for (guint i = 0; i < 5; i++)
    gst_buffer_unref (push_blob (&f, i, new_blob (1, 3, 10, 10, 20, 20)));
  while ((event = gst_harness_try_pull_event (f.harness))) {
    n_caps += GST_EVENT_TYPE (event) == GST_EVENT_CAPS;
    gst_event_unref (event);
  }
  fail_unless (n_caps >= 1 && n_caps <= 2, "%u", n_caps);
  gst_harness_teardown (f.harness);
}

GST_END_TEST
static GstPadProbeReturn
answer_allocation (GstPad * pad, GstPadProbeInfo * info, gpointer draws)
{
  GstQuery *const query = GST_PAD_PROBE_INFO_QUERY (info);

  (void) pad;
  if (GST_QUERY_TYPE (query) != GST_QUERY_ALLOCATION || !*(const gboolean *) draws)
    return GST_PAD_PROBE_OK;
  gst_query_add_allocation_meta (query, GST_VIDEO_OVERLAY_COMPOSITION_META_API_TYPE, NULL);
  return GST_PAD_PROBE_HANDLED;
}

/* Who is downstream changes, and says so; the caps it takes stay the same. */
GST_START_TEST (test_reconfigure)
{
  Fixture f = new_fixture ("draw=box", "BGRx", 320, 240);
  gboolean draws = TRUE;

  gst_pad_add_probe (f.harness->sinkpad, GST_PAD_PROBE_TYPE_QUERY_DOWNSTREAM, answer_allocation, &draws, NULL);
  for (guint i = 0; i < 4; i++) {
    GstBuffer *out;

    draws = i % 2 == 0;
    if (i > 0)
      gst_harness_push_upstream_event (f.harness, gst_event_new_reconfigure ());
    for (guint j = 0; j < 3; j++) {
      out = push_blob (&f, 3 * i + j, new_blob (1, 3, 100, 80, 40, 60));
      fail_unless ((gst_buffer_get_video_overlay_composition_meta (out) != NULL) == draws, "%u", i);
      fail_unless ((count_changed (out) == 0) == draws, "%u", i);
      gst_buffer_unref (out);
    }
    assert_path (&f, draws ? "attach" : "blend");
  }
  gst_harness_teardown (f.harness);
}

GST_END_TEST
/* ---------------------------------------------------------------- what is drawn */
static gint
difference (guint32 a, guint32 b)
{
  gint sum = 0;

  for (gint shift = 0; shift <= 16; shift += 8)
    sum += ABS ((gint) (a >> shift & 255) - (gint) (b >> shift & 255));
  return sum;
}

/* Two tracks in a row never look alike; one track looks the same wherever it is. */
GST_START_TEST (test_colours)
{
  Fixture f = new_fixture ("draw=box line-width=2", "BGRx", 320, 240);
  guint32 last = 0;

  for (guint64 id = 1; id <= 50; id++) {
    GstBuffer *here = push_blob (&f, 2 * id, new_blob (1, id, 100, 80, 40, 60));
    GstBuffer *there = push_blob (&f, 2 * id + 1, new_blob (7, id, 180, 80, 40, 60));
    const guint32 colour = pixel (&f, here, 98, 110);

    assert_equals_int (colour, pixel (&f, there, 178, 110));
    fail_unless (difference (colour, last) > 120, "tracks %" G_GUINT64_FORMAT " and before: %06x, %06x", id, colour,
        last);
    last = colour;
    gst_buffer_unref (here);
    gst_buffer_unref (there);
  }
  gst_harness_teardown (f.harness);
}

GST_END_TEST
/* Whatever their numbers, tracks in one picture look different, also when one comes late; nobody's colour changes. */
GST_START_TEST (test_colours_side_by_side)
{
  static const guint64 ids[] = { 70, 91, 96, 99, 104, 112, 125, 8 };
  enum { N = G_N_ELEMENTS (ids) };
  Fixture f = new_fixture ("draw=box line-width=2", "BGRx", 320, 240);
  guint32 before[N] = { 0 };

  for (guint n = N - 2; n <= N; n++) {
    GstBuffer *buffer = new_frame (&f, n);
    GstCclBlob blobs[N];
    guint32 colours[N];

    for (guint i = 0; i < n; i++)
      blobs[i] = new_blob (i + 1, ids[i], 10 + i % 4 * 80, 20 + i / 4 * 120, 40, 60);
    add_blobs (&f, buffer, blobs, n);
    buffer = push (&f, buffer);
    for (guint i = 0; i < n; i++) {
      colours[i] = pixel (&f, buffer, 8 + i % 4 * 80, 50 + i / 4 * 120);
      for (guint j = 0; j < i; j++)
        fail_unless (difference (colours[i], colours[j]) > 100, "tracks %" G_GUINT64_FORMAT " and %" G_GUINT64_FORMAT
            ": %06x, %06x", ids[i], ids[j], colours[i], colours[j]);
      fail_unless (before[i] == 0 || before[i] == colours[i], "track %" G_GUINT64_FORMAT " was %06x, is %06x", ids[i],
          before[i], colours[i]);
      before[i] = colours[i];
    }
    gst_buffer_unref (buffer);
  }
  gst_harness_teardown (f.harness);
}

GST_END_TEST
/* How much of the upper line of the box has the colour. */
static guint
count_line (const Fixture * f, GstBuffer * buffer, gint x0, gint x1, gint y)
{
  guint n = 0;

  for (gint x = x0; x < x1; x++)
    n += pixel (f, buffer, x, y) == 0x00ff00;
  return n;
}

GST_START_TEST (test_states)
{
  Fixture f = new_fixture ("draw=box color-by=fixed line-width=2", "BGRx", 320, 240);
  GstCclBlob blob = new_blob (1, 3, 100, 80, 80, 60);
  GstBuffer *out = push_blob (&f, 0, blob);
  const guint whole = count_line (&f, out, 98, 182, 78);
  guint dashed;

  assert_equals_int (whole, 84);
  gst_buffer_unref (out);

  blob.flags = GST_CCL_BLOB_FLAG_PREDICTED;
  out = push_blob (&f, 1, blob);
  dashed = count_line (&f, out, 98, 182, 78);
  fail_unless (dashed > 20 && dashed < 70, "%u", dashed);
  gst_buffer_unref (out);

  blob.flags = GST_CCL_BLOB_FLAG_TENTATIVE;
  out = push_blob (&f, 2, blob);
  assert_equals_int (count_line (&f, out, 98, 182, 78), 0);
  fail_unless (pixel (&f, out, 120, 78) != GROUND * 0x10101);
  gst_buffer_unref (out);

  blob.flags = GST_CCL_BLOB_FLAG_MERGED;
  out = push_blob (&f, 3, blob);
  assert_equals_int (count_line (&f, out, 98, 182, 78), 84);
  fail_unless (count_line (&f, out, 98, 182, 78 - 5) >= 84, "no second box");
  gst_buffer_unref (out);
  gst_harness_teardown (f.harness);
}

GST_END_TEST
GST_START_TEST (test_trail)
{
  Fixture f = new_fixture ("draw=trail color-by=fixed trail-length=5", "BGRx", 320, 240);
  GstBuffer *out = NULL;
  GstEvent *flush;

  for (gint i = 0; i < 20; i++) {
    gst_clear_buffer (&out);
    out = push_blob (&f, i, new_blob (1, 3, 20 + 10 * i, 100, 20, 20));
  }
  /* From x 180 to 220, at the height of the centroid. */
  fail_unless (pixel (&f, out, 210, 110) != GROUND * 0x10101);
  fail_unless (pixel (&f, out, 185, 110) != GROUND * 0x10101);
  assert_equals_int (pixel (&f, out, 160, 110), GROUND * 0x10101);
  gst_buffer_unref (out);

  /* After a seek it starts over. */
  flush = gst_event_new_flush_start ();
  gst_harness_push_event (f.harness, flush);
  gst_harness_push_event (f.harness, gst_event_new_flush_stop (TRUE));
  gst_harness_push_event (f.harness, gst_event_new_segment (&(GstSegment) {
          .rate = 1,.applied_rate = 1,.format = GST_FORMAT_TIME,.stop = -1,.duration = -1,.position = 0}));
  out = push_blob (&f, 0, new_blob (1, 3, 20, 100, 20, 20));
  assert_equals_int (count_changed (out), 0);
  gst_buffer_unref (out);
  gst_harness_teardown (f.harness);
}

GST_END_TEST
/* What the tracker says counts, from the first frame on. */
GST_START_TEST (test_trail_of_the_tracker)
{
  static const GstCclPoint points[] = { {20, 30}, {20, 200}, {160, 200}, {200, 200} };
  Fixture f = new_fixture ("draw=trail color-by=fixed trail-length=3", "BGRx", 320, 240);
  GBytes *bytes = g_bytes_new_static (points, sizeof points);
  GstCclBlob blob = new_blob (1, 3, 190, 190, 20, 20);
  GstCclBlobList *list;
  GstBuffer *buffer = new_frame (&f, 0);

  blob.n_trail = 4;
  list = gst_ccl_blob_list_new (&blob, 1);
  gst_ccl_blob_list_set_points (list, bytes);
  gst_buffer_add_ccl_blob_meta (buffer, list, 320, 240);
  gst_ccl_blob_list_unref (list);
  g_bytes_unref (bytes);
  buffer = push (&f, buffer);
  fail_unless (pixel (&f, buffer, 60, 200) != GROUND * 0x10101);
  fail_unless (pixel (&f, buffer, 190, 200) != GROUND * 0x10101);
  assert_equals_int (pixel (&f, buffer, 20, 100), GROUND * 0x10101);
  gst_buffer_unref (buffer);
  gst_harness_teardown (f.harness);
}

GST_END_TEST
GST_START_TEST (test_zones)
{
  gdouble corners[] = { 0.25, 0.25, 0.75, 0.25, 0.75, 0.75, 0.25, 0.75 }, ends[] = { 0.1, 0, 0.1, 1 };
  const GstCclZone zones[] = {
    {.name = (gchar *) "door",.kind = GST_CCL_ZONE_POLYGON,.n_points = 4,.points = corners,.n_inside = 3},
    {.name = (gchar *) "gate",.kind = GST_CCL_ZONE_LINE,.n_points = 2,.points = ends,.n_forward = 12},
  };
  Fixture f = new_fixture ("", "BGRx", 320, 240);
  GstBuffer *buffer = new_frame (&f, 0);

  gst_buffer_add_ccl_zone_meta (buffer, zones, 2);
  buffer = push (&f, buffer);
  fail_unless (pixel (&f, buffer, 80, 80) != GROUND * 0x10101);
  fail_unless (pixel (&f, buffer, 240, 170) != GROUND * 0x10101);
  fail_unless (pixel (&f, buffer, 32, 200) != GROUND * 0x10101);
  fail_unless (pixel (&f, buffer, 160, 120) != GROUND * 0x10101, "no text");
  assert_equals_int (pixel (&f, buffer, 280, 200), GROUND * 0x10101);
  gst_buffer_unref (buffer);
  gst_harness_teardown (f.harness);
}

GST_END_TEST
/* What is drawn goes with the frame, however sharp a corner is. */
GST_START_TEST (test_corners)
{
  /* What reaches furthest: a point that is cut off, and one of nearly 84 degrees, which just is not. */
  gdouble corners[][6] = { {0.5, 0.5, 0.2, 0.45, 0.2, 0.55}, {0.2, 0.5, 0.3, 0.38, 0.3, 0.62} };
  gdouble other[] = { 0.6, 0.1, 0.9, 0.1, 0.9, 0.9, 0.6, 0.9 };
  Fixture f = new_fixture ("draw=zone line-width=6", "BGRx", 320, 240);

  for (guint i = 0; i < 32; i++) {
    gdouble *const corner = corners[i % 2];
    const GstCclZone zones[] = {
      {.name = (gchar *) "",.kind = GST_CCL_ZONE_POLYGON,.n_points = 3,.points = corner},
      {.name = (gchar *) "",.kind = GST_CCL_ZONE_POLYGON,.n_points = 4,.points = other},
    };
    gsize n_changed[2];

    for (guint k = 0; k < 3; k++)
      corner[2 * k] -= 1 / 320.0;       /* wherever it may be, and away from what it may leave behind */
    for (guint step = 0; step < 2; step++) {
      Fixture fresh = new_fixture ("draw=zone line-width=6", "BGRx", 320, 240);
      GstBuffer *buffers[] = { new_frame (&f, 2 * i + step), new_frame (&fresh, 0) };

      for (guint k = 0; k < 2; k++) {
        gst_buffer_add_ccl_zone_meta (buffers[k], &zones[step], 1);
        buffers[k] = push (k ? &fresh : &f, buffers[k]);
        n_changed[k] = count_changed (buffers[k]);
        gst_buffer_unref (buffers[k]);
      }
      assert_equals_uint64 (n_changed[0], n_changed[1]);
      gst_harness_teardown (fresh.harness);
    }
  }
  gst_harness_teardown (f.harness);
}

GST_END_TEST
/* Buffers of a field each have half the lines that the caps say. */
GST_START_TEST (test_fields_are_not_drawn_into)
{
  Fixture f = new_fixture ("draw=box", "I420", 320, 240);
  GstBuffer *buffer;

  gst_harness_set_src_caps_str (f.harness, "video/x-raw(format:Interlaced),format=I420,width=320,height=240,"
      "framerate=25/1,interlace-mode=alternate");
  buffer = gst_buffer_new_allocate (NULL, GST_VIDEO_INFO_SIZE (&f.info) / 2, NULL);
  gst_buffer_memset (buffer, 0, GROUND, -1);
  add_blobs (&f, buffer, &(GstCclBlob) {.x = 10,.y = 130,.width = 50,.height = 90,.area = 9 }, 1);
  buffer = push (&f, buffer);
  assert_equals_int (count_changed (buffer), 0);
  gst_buffer_unref (buffer);
  gst_harness_teardown (f.harness);
}

GST_END_TEST
GST_START_TEST (test_regions_of_others)
{
  Fixture f = new_fixture ("color-by=fixed line-width=1", "BGRx", 320, 240);
  GstBuffer *buffer = new_frame (&f, 0);

  gst_buffer_add_video_region_of_interest_meta (buffer, "car", 100, 80, 40, 60);
  buffer = push (&f, buffer);
  assert_equals_int (pixel (&f, buffer, 98, 110), 0x00ff00);
  assert_equals_uint64 (get_stat (&f, "objects"), 1);
  gst_buffer_unref (buffer);
  gst_harness_teardown (f.harness);
}

GST_END_TEST
static guint n_warnings = 0;

/* Pango's own, which pass by g_log_set_handler(). */
static GLogWriterOutput
count_warning (GLogLevelFlags level, const GLogField * fields, gsize n_fields, gpointer user_data)
{
  n_warnings += (level & G_LOG_LEVEL_WARNING) != 0;
  return g_log_writer_default (level, fields, n_fields, user_data);
}

/* Pango, which warns of anything else, is given whole characters only. */
GST_START_TEST (test_names_that_are_cut)
{
  static const gchar *const names[] = {
    "автомобильавтомобиль", "xавтомобильавтомобиль",     /* of two bytes each: one of them is cut in the middle */
    "caf\xe9", "\xff", "",
  };

  g_log_set_writer_func (count_warning, NULL, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (names); i++) {
    Fixture f = new_fixture ("draw=id+area", "BGRx", 320, 240);
    GstBuffer *buffer = new_frame (&f, 0);

    gst_buffer_add_video_region_of_interest_meta (buffer, names[i], 100, 80, 40, 60);
    buffer = push (&f, buffer);
    fail_unless (count_changed (buffer) > 0);
    fail_unless (n_warnings == 0, "%s", names[i]);
    gst_buffer_unref (buffer);
    gst_harness_teardown (f.harness);
  }
}

GST_END_TEST
GST_START_TEST (test_expire)
{
  Fixture f = new_fixture ("draw=box color-by=fixed line-width=1 expire=250000000", "BGRx", 320, 240);

  gst_buffer_unref (push_blob (&f, 0, new_blob (1, 3, 100, 80, 40, 60)));
  assert_path (&f, "blend");
  for (guint i = 1; i < 5; i++) {
    GstBuffer *out = new_frame (&f, i);

    if (i == 2)
      add_blobs (&f, out, NULL, 0)->flags |= GST_CCL_BLOB_META_FLAG_SKIPPED;
    out = push (&f, out);
    fail_unless ((pixel (&f, out, 98, 110) == 0x00ff00) == (i <= 2), "frame %u: %06x", i, pixel (&f, out, 98, 110));
    gst_buffer_unref (out);
  }
  gst_harness_teardown (f.harness);
}

GST_END_TEST
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

GST_END_TEST
/* ---------------------------------------------------------------- cost */
#define MANY 1000

/* Pseudo-random, the same every time. */
static guint
next (guint * state, guint limit)
{
  *state = *state * 1664525 + 1013904223;
  return (*state >> 8) % limit;
}

static GstBuffer *
new_crowd (Fixture * f, guint number, guint n)
{
  GstCclBlob *blobs = g_new (GstCclBlob, n);
  GstBuffer *buffer = new_frame (f, number);
  guint state = 1;

  for (guint i = 0; i < n; i++) {
    const gint x = next (&state, f->info.width - 60), y = next (&state, f->info.height - 90);
    blobs[i] = new_blob (i + 1, i + 1, x + 2 * number % 30, y, 20 + next (&state, 30), 40 + next (&state, 40));
  }
  add_blobs (f, buffer, blobs, n);
  g_free (blobs);
  return buffer;
}

/* A thousand objects with texts and trails cost a part of the frame, not a thousand of it, and a bounded time: far
 * above what it takes, but below what anything quadratic would. */
GST_START_TEST (test_thousand)
{
  Fixture f = new_fixture ("draw=box+id+trail+area", "I420", 1920, 1080);
  GstStructure *stats;
  gdouble mean;

  for (guint i = 0; i < 5; i++)
    gst_buffer_unref (push (&f, new_crowd (&f, i, MANY)));
  fail_unless (get_stat (&f, "pixels") <= 5 * 1920 * 1088);
  assert_equals_uint64 (get_stat (&f, "objects"), 5 * MANY);
  stats = get_stats (&f);
  fail_unless (gst_structure_get_double (stats, "host-us-avg", &mean));
  if (!g_getenv ("CK_FORK"))    /* not under valgrind */
    fail_unless (mean < 2e6, "%f us", mean);
  gst_structure_free (stats);
  gst_harness_teardown (f.harness);
}

GST_END_TEST
GST_START_TEST (test_thousand_attached)
{
  Fixture f = new_attaching ("", 1920, 1080);
  GstBuffer *out = push (&f, new_crowd (&f, 0, MANY));
  GstVideoOverlayCompositionMeta *const meta = gst_buffer_get_video_overlay_composition_meta (out);

  fail_unless (meta != NULL);
  fail_unless (gst_video_overlay_composition_n_rectangles (meta->overlay) <= 64);
  gst_buffer_unref (out);
  gst_harness_teardown (f.harness);
}

GST_END_TEST
static Suite *
ccloverlay_suite (void)
{
  Suite *s = suite_create ("ccloverlay");
  TCase *tc = tcase_create ("general");

  suite_add_tcase (s, tc);
  tcase_set_timeout (tc, 120);
  tcase_add_test (tc, test_box);
  tcase_add_test (tc, test_alpha);
  tcase_add_test (tc, test_rgb_of_ten_bits);
  tcase_add_test (tc, test_contour);
  tcase_add_test (tc, test_colours_of_video);
  tcase_add_test (tc, test_border);
  tcase_add_test (tc, test_nowhere);
  tcase_add_test (tc, test_nothing_to_draw);
  tcase_add_test (tc, test_shared_memory);
  tcase_add_loop_test (tc, test_formats_and_sizes, 0, G_N_ELEMENTS (formats) * G_N_ELEMENTS (sizes));
  tcase_add_test (tc, test_attach);
  tcase_add_test (tc, test_others_overlay);
  tcase_add_test (tc, test_foreign_memory);
  tcase_add_test (tc, test_negotiates_once);
  tcase_add_test (tc, test_reconfigure);
  tcase_add_test (tc, test_colours);
  tcase_add_test (tc, test_colours_side_by_side);
  tcase_add_test (tc, test_states);
  tcase_add_test (tc, test_trail);
  tcase_add_test (tc, test_trail_of_the_tracker);
  tcase_add_test (tc, test_zones);
  tcase_add_test (tc, test_corners);
  tcase_add_test (tc, test_fields_are_not_drawn_into);
  tcase_add_test (tc, test_regions_of_others);
  tcase_add_test (tc, test_names_that_are_cut);
  tcase_add_test (tc, test_expire);
  tcase_add_test (tc, test_changes);
  tcase_add_test (tc, test_thousand);
  tcase_add_test (tc, test_thousand_attached);
  return s;
}

GST_CHECK_MAIN (ccloverlay);
