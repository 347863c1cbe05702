/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* ccloverlay: drawings that travel beside the picture, and the negotiation of it. */

#include "ccloverlay.h"
#include <string.h>

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

GST_END_TEST;

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
    attach_blobs (&f, buffer, &blob, 1);
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

GST_END_TEST;

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

    attach_blobs (&f, buffer, &blob, 1);
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
      attach_blobs (&f, buffer, &blob, 1);
    buffer = push (&f, buffer);
    assert_equals_int (gst_buffer_get_video_overlay_composition_meta (buffer) != NULL, i == 1);
    gst_buffer_unref (buffer);
  }
  gst_element_set_bus (element, NULL);
  gst_object_unref (element);
  gst_object_unref (bus);
  gst_harness_teardown (f.harness);
}

GST_END_TEST;

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

GST_END_TEST;

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

/* Another element comes downstream and asks to reconfigure. It takes the same caps. */
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

GST_END_TEST;

TCase *
overlay_attaching_tests (void)
{
  TCase *tests = tcase_create ("attaching");

  tcase_set_timeout (tests, 120);
  tcase_add_test (tests, test_attach);
  tcase_add_test (tests, test_others_overlay);
  tcase_add_test (tests, test_foreign_memory);
  tcase_add_test (tests, test_negotiates_once);
  tcase_add_test (tests, test_reconfigure);
  return tests;
}
