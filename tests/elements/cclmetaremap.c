/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* cclmetaremap: real elements crop, turn and scale the frame. Then each blob's metadata names the place of its pixels, which
 * ccllabel finds again in the result. */

#include <gst/check/gstcheck.h>
#include <gst/check/gstharness.h>
#include <gst/ccl/ccl.h>
#include <string.h>

#define WIDTH 64
#define HEIGHT 48

/* A bar, nowhere symmetric. */
static GstBuffer *
new_mask (void)
{
  GstBuffer *buffer = gst_buffer_new_allocate (NULL, WIDTH * HEIGHT, NULL);
  GstMapInfo map;

  gst_buffer_memset (buffer, 0, 0, WIDTH * HEIGHT);
  gst_buffer_map (buffer, &map, GST_MAP_WRITE);
  for (guint y = 12; y < 17; y++)
    memset (map.data + y * WIDTH + 20, 255, 11);
  gst_buffer_unmap (buffer, &map);
  GST_BUFFER_PTS (buffer) = 0;
  return buffer;
}

/* The bar again, and a line upwards through its middle: from its left to its right is forward. */
static void
add_zones (GstBuffer * buffer)
{
  gdouble bar[] = { 20.0 / WIDTH, 12.0 / HEIGHT, 31.0 / WIDTH, 12.0 / HEIGHT, 31.0 / WIDTH, 17.0 / HEIGHT, 20.0 / WIDTH,
    17.0 / HEIGHT
  };
  gdouble line[] = { 25.5 / WIDTH, 17.0 / HEIGHT, 25.5 / WIDTH, 12.0 / HEIGHT };
  const GstCclZone zones[] = {
    {.name = (gchar *) "bar",.kind = GST_CCL_ZONE_POLYGON,.n_points = 4,.points = bar,.n_inside = 3},
    {.name = (gchar *) "line",.kind = GST_CCL_ZONE_LINE,.n_points = 2,.points = line,.n_forward = 5},
  };

  gst_buffer_add_ccl_zone_meta (buffer, zones, 2);
}

/* Which side of the line a point is on: positive on its right. */
static gdouble
side_of (const GstCclZone * line, gdouble x, gdouble y)
{
  gdouble ax, ay, bx, by;

  gst_ccl_zone_get_point (line, 0, &ax, &ay);
  gst_ccl_zone_get_point (line, 1, &bx, &by);
  return (bx - ax) * (y - ay) - (by - ay) * (x - ax);
}

/* The zones are still where the bar is; the right end of the bar, which was on the right of the line, is so too. */
static void
assert_zones (GstBuffer * buffer, const GstCclBlobMeta * remapped, const GstCclBlobMeta * seen)
{
  const GstCclZoneMeta *const meta = gst_buffer_get_ccl_zone_meta (buffer);
  gdouble x0 = G_MAXDOUBLE, y0 = G_MAXDOUBLE, x1 = -G_MAXDOUBLE, y1 = -G_MAXDOUBLE, x, y, w, h;
  gdouble right_x = 30.5, right_y = 14.5, left_x = 20.5, left_y = 14.5;

  fail_unless (meta != NULL && gst_ccl_zone_meta_get_length (meta) == 2);
  for (guint i = 0; gst_ccl_zone_get_point (&meta->zones[0], i, &x, &y); i++) {
    x0 = MIN (x0, x * seen->width);
    x1 = MAX (x1, x * seen->width);
    y0 = MIN (y0, y * seen->height);
    y1 = MAX (y1, y * seen->height);
  }
  gst_ccl_blob_meta_get_box (seen, 0, &x, &y, &w, &h);
  fail_unless (ABS (x0 - x) < 1e-4 && ABS (y0 - y) < 1e-4 && ABS (x1 - x - w) < 1e-4 && ABS (y1 - y - h) < 1e-4,
      "zone %g %g %gx%g, bar %g %g %gx%g", x0, y0, x1 - x0, y1 - y0, x, y, w, h);
  fail_unless_equals_int (meta->zones[0].n_inside, 3);
  fail_unless_equals_uint64 (meta->zones[1].n_forward, 5);

  gst_ccl_blob_meta_map_point (remapped, &right_x, &right_y);
  gst_ccl_blob_meta_map_point (remapped, &left_x, &left_y);
  fail_unless (side_of (&meta->zones[1], right_x / seen->width, right_y / seen->height) > 0);
  fail_unless (side_of (&meta->zones[1], left_x / seen->width, left_y / seen->height) < 0);
}

/* The bar's outline is the edge of its pixels. */
static void
assert_contour (const GstCclBlobMeta * remapped, const GstCclBlobMeta * seen)
{
  guint n;
  gdouble *const contour = gst_ccl_blob_meta_get_contour (remapped, 0, &n);
  gdouble x, y, w, h;

  gst_ccl_blob_meta_get_box (seen, 0, &x, &y, &w, &h);
  fail_unless_equals_int (n, 8);
  for (guint i = 0; i < n; i += 2)
    fail_unless ((ABS (contour[i] - x) < 1e-4 || ABS (contour[i] - x - w) < 1e-4)
        && (ABS (contour[i + 1] - y) < 1e-4 || ABS (contour[i + 1] - y - h) < 1e-4), "%g, %g", contour[i],
        contour[i + 1]);
  g_free (contour);
}

static const struct
{
  const gchar *elements, *settings;
} ways[] = {
  {"identity", ""},
  {"videocrop left=4 top=6 right=8 bottom=10", "crop-left=4 crop-top=6 crop-right=8 crop-bottom=10"},
  {"videoflip video-direction=90r", "direction=90r"},
  {"videoflip video-direction=180", "direction=180"},
  {"videoflip video-direction=90l", "direction=90l"},
  {"videoflip video-direction=horiz", "direction=horiz"},
  {"videoflip video-direction=vert", "direction=vert"},
  {"videoflip video-direction=ul-lr", "direction=ul-lr"},
  {"videoflip video-direction=ur-ll", "direction=ur-ll"},
  {"videocrop left=4 top=6 ! videoflip video-direction=90r", "crop-left=4 crop-top=6 direction=90r"},
  {"videocrop left=4 top=6 ! videoscale method=0 ! video/x-raw,width=120,height=84", "crop-left=4 crop-top=6"},
  {"videoflip video-direction=ur-ll ! videoscale method=0 ! video/x-raw,width=96,height=192", "direction=ur-ll"},
};

static GstBuffer *
run (const gchar * elements, GstCaps ** caps)
{
  GstHarness *h = gst_harness_new_parse (elements);
  GstBuffer *buffer;

  fail_unless (h != NULL, "%s", elements);
  gst_harness_set_src_caps_str (h, "video/x-raw,format=GRAY8,width=64,height=48,framerate=10/1");
  buffer = new_mask ();
  add_zones (buffer);
  buffer = gst_harness_push_and_pull (h, buffer);
  fail_unless (buffer != NULL);
  *caps = gst_pad_get_current_caps (h->sinkpad);
  gst_harness_teardown (h);
  return buffer;
}

GST_START_TEST (test_ways)
{
  gchar *kept_line = g_strdup_printf ("ccllabel contours=true ! cclmetaremap mode=keep ! %s ! "
      "cclmetaremap mode=restore %s",
      ways[__i__].elements, ways[__i__].settings);
  gchar *seen_line = g_strdup_printf ("%s ! ccllabel", ways[__i__].elements);
  GstCaps *kept_caps, *seen_caps;
  GstBuffer *kept = run (kept_line, &kept_caps), *seen = run (seen_line, &seen_caps);
  GstCclBlobMeta *const a = gst_buffer_get_ccl_blob_meta (kept), *const b = gst_buffer_get_ccl_blob_meta (seen);
  gdouble ax, ay, aw, ah, bx, by, bw, bh;

  fail_unless (a != NULL && b != NULL, "%s", kept_line);
  assert_equals_int (a->width, b->width);
  assert_equals_int (a->height, b->height);
  assert_equals_int (gst_ccl_blob_meta_get_length (a), 1);
  gst_ccl_blob_meta_get_box (a, 0, &ax, &ay, &aw, &ah);
  gst_ccl_blob_meta_get_box (b, 0, &bx, &by, &bw, &bh);
  fail_unless (ABS (ax - bx) < 1e-6 && ABS (ay - by) < 1e-6 && ABS (aw - bw) < 1e-6 && ABS (ah - bh) < 1e-6,
      "%s: %g %g %gx%g, but it is at %g %g %gx%g", kept_line, ax, ay, aw, ah, bx, by, bw, bh);
  assert_zones (kept, a, b);
  assert_contour (a, b);
  gst_caps_unref (kept_caps);
  gst_caps_unref (seen_caps);
  gst_buffer_unref (kept);
  gst_buffer_unref (seen);
  g_free (kept_line);
  g_free (seen_line);
}

GST_END_TEST
/* A mask beside the picture comes along as well: its blobs are found behind the crop. */
GST_START_TEST (test_mask)
{
  GstHarness *h = gst_harness_new_parse ("cclmetaremap mode=keep ! videocrop left=4 top=6 ! "
      "cclmetaremap mode=restore crop-left=4 crop-top=6 ! ccllabel mask-source=mask-meta");
  GstBuffer *mask = new_mask (), *buffer = new_mask ();
  gdouble x, y, w, ht;

  gst_buffer_add_video_meta (mask, GST_VIDEO_FRAME_FLAG_NONE, GST_VIDEO_FORMAT_GRAY8, WIDTH, HEIGHT);
  gst_buffer_memset (buffer, 0, 0, WIDTH * HEIGHT);
  gst_buffer_add_ccl_mask_meta (buffer, mask, WIDTH, HEIGHT);
  gst_buffer_unref (mask);
  gst_harness_set_src_caps_str (h, "video/x-raw,format=GRAY8,width=64,height=48,framerate=10/1");
  buffer = gst_harness_push_and_pull (h, buffer);
  fail_unless_equals_int (gst_ccl_blob_meta_get_length (gst_buffer_get_ccl_blob_meta (buffer)), 1);
  gst_ccl_blob_meta_get_box (gst_buffer_get_ccl_blob_meta (buffer), 0, &x, &y, &w, &ht);
  fail_unless (x == 16 && y == 6 && w == 11 && ht == 5, "%g %g %gx%g", x, y, w, ht);
  gst_buffer_unref (buffer);
  gst_harness_teardown (h);
}

GST_END_TEST
/* Nothing to keep, nothing kept, nothing left of the frame: no blobs, no error. */
GST_START_TEST (test_nothing)
{
  static const gchar *const lines[] = { "cclmetaremap mode=keep ! cclmetaremap mode=restore",
    "cclmetaremap mode=restore",
    "ccllabel ! cclmetaremap mode=keep ! videocrop left=4 ! cclmetaremap mode=restore crop-left=64",
    "ccllabel ! cclmetaremap mode=keep ! videocrop left=4 ! cclmetaremap mode=restore "
        "crop-left=2147483647 crop-right=2147483647",
    "ccllabel ! cclmetaremap mode=keep ! videocrop top=4 ! cclmetaremap mode=restore "
        "crop-top=2147483647 crop-bottom=2147483647"
  };
  GstCaps *caps;

  for (guint i = 0; i < G_N_ELEMENTS (lines); i++) {
    GstBuffer *buffer = run (lines[i], &caps);

    fail_unless (gst_buffer_get_ccl_blob_meta (buffer) == NULL);
    gst_buffer_unref (buffer);
    gst_caps_unref (caps);
  }
}

GST_END_TEST
/* Scaling changes both sides, or the shape of the pixels. */
GST_START_TEST (test_wrong_crop_is_warned_of)
{
  static const struct
  {
    const gchar *between, *settings, *warning;
  } cases[] = {
    {"videocrop left=4 top=6", "crop-left=4 crop-top=6", NULL},
    {"videocrop left=4 top=6", "crop-left=14 crop-top=6", "Crop and turn leave 50x42 of a frame of 64x48 pixels, but "
          "here it has 60x42."},
    {"videocrop left=4", "", "leave 64x48 of a frame of 64x48 pixels, but here it has 60x48."},
    {"videocrop left=4 ! videoflip video-direction=90r", "direction=90r", "leave 48x64"},
    {"videoscale ! video/x-raw,width=32,height=32", "", NULL},
    {"videoscale ! video/x-raw,width=32,height=48,pixel-aspect-ratio=2/1", "", NULL},
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    gchar *line = g_strdup_printf ("ccllabel ! cclmetaremap mode=keep ! %s ! cclmetaremap mode=restore %s",
        cases[i].between, cases[i].settings);
    GstHarness *h = gst_harness_new_parse (line);
    GstBus *bus = gst_bus_new ();

    gst_element_set_bus (h->element, bus);
    gst_harness_set_src_caps_str (h,
        "video/x-raw,format=GRAY8,width=64,height=48,framerate=10/1,pixel-aspect-ratio=1/1");
    for (guint k = 0; k < 2; k++)
      gst_buffer_unref (gst_harness_push_and_pull (h, new_mask ()));
    for (guint k = 0; k < 2; k++) {
      GstMessage *message = gst_bus_pop_filtered (bus, GST_MESSAGE_WARNING);
      GError *error = NULL;

      if (message)
        gst_message_parse_warning (message, &error, NULL);
      fail_unless ((message != NULL) == (k == 0 && cases[i].warning), "%s: %s", line, error ? error->message : "");
      fail_unless (!error || strstr (error->message, cases[i].warning), "%s: %s", line, error ? error->message : "");
      g_clear_error (&error);
      g_clear_pointer (&message, gst_message_unref);
    }
    gst_element_set_bus (h->element, NULL);
    gst_object_unref (bus);
    gst_harness_teardown (h);
    g_free (line);
  }
}

GST_END_TEST
/* Blobs are kept, then zones alone: the blobs are gone, and not silently. */
GST_START_TEST (test_loss_is_warned_of)
{
  static const gchar *const between[] = { "cclmetaremap mode=restore", "identity" };

  for (guint i = 0; i < G_N_ELEMENTS (between); i++) {
    gchar *line = g_strdup_printf ("ccllabel ! cclmetaremap mode=keep ! videoflip video-direction=horiz ! %s ! "
        "cclzone zones={\\\"zones\\\":[{\\\"name\\\":\\\"a\\\",\\\"polygon\\\":[[0,0],[9,0],[9,9]]}]} ! "
        "cclmetaremap mode=keep", between[i]);
    GstHarness *h = gst_harness_new_parse (line);
    GstBus *bus = gst_bus_new ();
    guint n_warnings = 0;

    gst_element_set_bus (h->element, bus);
    gst_harness_set_src_caps_str (h, "video/x-raw,format=GRAY8,width=64,height=48,framerate=10/1");
    for (guint k = 0; k < 3; k++)
      gst_buffer_unref (gst_harness_push_and_pull (h, new_mask ()));
    for (GstMessage * message; (message = gst_bus_pop_filtered (bus, GST_MESSAGE_WARNING)); gst_message_unref (message)) {
      GError *error = NULL;

      gst_message_parse_warning (message, &error, NULL);
      n_warnings += strstr (error->message, "kept before is lost") != NULL;
      g_error_free (error);
    }
    fail_unless_equals_int (n_warnings, i);
    gst_element_set_bus (h->element, NULL);
    gst_object_unref (bus);
    gst_harness_teardown (h);
    g_free (line);
  }
}

GST_END_TEST
static Suite *
cclmetaremap_suite (void)
{
  Suite *s = suite_create ("cclmetaremap");
  TCase *tc = tcase_create ("general");

  suite_add_tcase (s, tc);
  tcase_add_loop_test (tc, test_ways, 0, G_N_ELEMENTS (ways));
  tcase_add_test (tc, test_mask);
  tcase_add_test (tc, test_nothing);
  tcase_add_test (tc, test_wrong_crop_is_warned_of);
  tcase_add_test (tc, test_loss_is_warned_of);
  return s;
}

GST_CHECK_MAIN (cclmetaremap);
