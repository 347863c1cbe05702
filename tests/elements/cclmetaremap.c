/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* cclmetaremap: where a blob is said to be after real elements have cropped, turned and scaled the frame is where its
 * pixels are: ccllabel, run again on the result, says so. */

#include <gst/check/gstcheck.h>
#include <gst/check/gstharness.h>
#include <gst/ccl/ccl.h>

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
};

static GstBuffer *
run (const gchar * elements, GstCaps ** caps)
{
  GstHarness *h = gst_harness_new_parse (elements);
  GstBuffer *buffer;

  fail_unless (h != NULL, "%s", elements);
  gst_harness_set_src_caps_str (h, "video/x-raw,format=GRAY8,width=64,height=48,framerate=10/1");
  buffer = gst_harness_push_and_pull (h, new_mask ());
  fail_unless (buffer != NULL);
  *caps = gst_pad_get_current_caps (h->sinkpad);
  gst_harness_teardown (h);
  return buffer;
}

GST_START_TEST (test_ways)
{
  gchar *kept_line = g_strdup_printf ("ccllabel ! cclmetaremap mode=keep ! %s ! cclmetaremap mode=restore %s",
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
  gst_caps_unref (kept_caps);
  gst_caps_unref (seen_caps);
  gst_buffer_unref (kept);
  gst_buffer_unref (seen);
  g_free (kept_line);
  g_free (seen_line);
}

GST_END_TEST
/* Nothing to keep, nothing kept, nothing left of the frame: no blobs, no error. */
GST_START_TEST (test_nothing)
{
  static const gchar *const lines[] = { "cclmetaremap mode=keep ! cclmetaremap mode=restore",
    "cclmetaremap mode=restore",
    "ccllabel ! cclmetaremap mode=keep ! videocrop left=4 ! cclmetaremap mode=restore crop-left=64"
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
static Suite *
cclmetaremap_suite (void)
{
  Suite *s = suite_create ("cclmetaremap");
  TCase *tc = tcase_create ("general");

  suite_add_tcase (s, tc);
  tcase_add_loop_test (tc, test_ways, 0, G_N_ELEMENTS (ways));
  tcase_add_test (tc, test_nothing);
  return s;
}

GST_CHECK_MAIN (cclmetaremap);
