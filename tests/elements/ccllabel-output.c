/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Pictures of masks and labels. */
#include "ccllabel.h"

/* The label of each pixel, from the reference method. */
static guint32 *
label_image (const Mask * mask, guint connectivity, const CclFilter * filter)
{
  guint32 *labels = g_new0 (guint32, (gsize) mask->width * mask->height);
  CclConfig config = ccl_config_default ();
  const CclMask view = {.data = mask->pixels,.stride = mask->width,.width = mask->width,.height = mask->height };
  const CclLabels image = {.data = labels,.stride = mask->width * 4 };
  CclContext *context;
  CclTable table;

  config.algorithm = "reference";
  config.connectivity = connectivity;
  config.max_width = mask->width;
  config.max_height = mask->height;
  config.labels = TRUE;
  fail_unless (ccl_context_new (&config, &context) == CCL_OK);
  fail_unless (ccl_analyze (context, &view, filter, &image, &table) == CCL_OK);
  ccl_context_free (context);
  return labels;
}

static guint32
output_pixel (const guint8 * row, guint x, GstVideoFormat format)
{
  if (format == GST_VIDEO_FORMAT_GRAY8)
    return row[x];
  if (format == GST_VIDEO_FORMAT_GRAY16_LE)
    return GST_READ_UINT16_LE (row + 2 * x);
  if (format == GST_VIDEO_FORMAT_GRAY16_BE)
    return GST_READ_UINT16_BE (row + 2 * x);
  if (format == GST_VIDEO_FORMAT_RGB)
    return GST_READ_UINT24_LE (row + 3 * x);
  return GST_READ_UINT32_LE (row + 4 * x);
}

static void
assert_picture (GstBuffer * buffer, GstVideoFormat format, const Mask * mask, const guint32 * labels)
{
  GstVideoInfo info;
  GstVideoFrame frame;

  gst_video_info_set_format (&info, format, mask->width, mask->height);
  fail_unless (gst_video_frame_map (&frame, &info, buffer, GST_MAP_READ));
  for (guint y = 0; y < mask->height; y++)
    for (guint x = 0; x < mask->width; x++) {
      const guint32 label = labels[y * mask->width + x];
      const guint32 expected = format == GST_VIDEO_FORMAT_GRAY8 ? (label ? 255 : 0)
          : GST_VIDEO_INFO_IS_GRAY (&info) ? MIN (label, 65535) : label;
      const guint8 *row = (guint8 *) GST_VIDEO_FRAME_PLANE_DATA (&frame, 0) +
          y * GST_VIDEO_FRAME_PLANE_STRIDE (&frame, 0);
      const guint32 pixel = output_pixel (row, x, format);

      fail_unless (pixel == expected, "%s at (%u, %u): %u, not %u", gst_video_format_to_string (format), x, y, pixel,
          expected);
    }
  gst_video_frame_unmap (&frame);
}

/* A colour of its own for each label, black without one. Gray is no colour. */
static void
assert_colours (GstBuffer * buffer, GstVideoFormat format, const Mask * mask, const guint32 * labels)
{
  const guint32 black = format == GST_VIDEO_FORMAT_RGBA ? 0xff000000 : 0;
  GHashTable *label_of_colour = g_hash_table_new (NULL, NULL), *colour_of_label = g_hash_table_new (NULL, NULL);
  GstVideoInfo info;
  GstVideoFrame frame;

  gst_video_info_set_format (&info, format, mask->width, mask->height);
  fail_unless (gst_video_frame_map (&frame, &info, buffer, GST_MAP_READ));
  for (guint y = 0; y < mask->height; y++)
    for (guint x = 0; x < mask->width; x++) {
      const guint32 label = labels[y * mask->width + x];
      const guint32 pixel = output_pixel ((guint8 *) GST_VIDEO_FRAME_PLANE_DATA (&frame, 0) +
          y * GST_VIDEO_FRAME_PLANE_STRIDE (&frame, 0), x, format);

      fail_unless ((pixel == black) == (label == 0), "(%u, %u) of label %u is %08x", x, y, label, pixel);
      fail_unless ((pixel & 0xff000000) == black);
      g_hash_table_insert (label_of_colour, GUINT_TO_POINTER (pixel), GUINT_TO_POINTER (label));
      g_hash_table_insert (colour_of_label, GUINT_TO_POINTER (label), GUINT_TO_POINTER (pixel));
    }
  for (guint i = 0; i < mask->width * mask->height; i++) {
    const gpointer colour = g_hash_table_lookup (colour_of_label, GUINT_TO_POINTER (labels[i]));

    fail_unless_equals_uint64 (GPOINTER_TO_UINT (g_hash_table_lookup (label_of_colour, colour)), labels[i]);
  }
  fail_unless_equals_int (g_hash_table_size (label_of_colour), g_hash_table_size (colour_of_label));
  gst_video_frame_unmap (&frame);
  g_hash_table_unref (label_of_colour);
  g_hash_table_unref (colour_of_label);
}

static void
check_output (guint backend, const gchar * settings, GstVideoFormat in, GstVideoFormat out, const Mask * mask)
{
  gchar *all = g_strdup_printf ("connectivity=8 min-area=2 %s", settings);
  GstHarness *harness = label_harness (backend, all);
  gchar *caps = g_strdup_printf ("video/x-raw, format=%s", gst_video_format_to_string (out));
  const CclFilter filter = {.min_area = 2 };
  guint32 *labels = label_image (mask, 8, &filter);
  guint8 *const pixels_before = g_memdup2 (mask->pixels, mask->width * mask->height);
  GstBuffer *buffer = buffer_from_mask (in, mask);

  gst_harness_set_sink_caps_str (harness, caps);
  set_mask_caps (harness, in, mask);
  GST_BUFFER_PTS (buffer) = 123;
  gst_buffer_add_video_region_of_interest_meta (buffer, "upstream", 0, 0, 1, 1);
  buffer = gst_harness_push_and_pull (harness, buffer);
  fail_unless (buffer != NULL);
  if (strstr (settings, "colors"))
    assert_colours (buffer, out, mask, labels);
  else
    assert_picture (buffer, out, mask, labels);
  assert_blobs_filtered (buffer, mask, 8, &filter);
  fail_unless_equals_uint64 (GST_BUFFER_PTS (buffer), 123);
  fail_unless_equals_int (count_regions (buffer, "upstream"), 1);
  fail_unless (memcmp (pixels_before, mask->pixels, mask->width * mask->height) == 0);
  gst_buffer_unref (buffer);
  gst_harness_teardown (harness);
  g_free (all);
  g_free (caps);
  g_free (labels);
  g_free (pixels_before);
}

GST_START_TEST (test_outputs)
{
  NEED_BACKEND (__i__);

  static const guint sizes[][2] = { {1, 1}, {7, 5}, {33, 9}, {64, 48} };

  for (guint s = 0; s < G_N_ELEMENTS (sizes); s++) {
    Mask mask = mask_random (sizes[s][0], sizes[s][1], 3, 0.4);

    for (guint f = 0; f < G_N_ELEMENTS (formats); f++) {
      check_output (__i__, "output=mask", formats[f], GST_VIDEO_FORMAT_GRAY8, &mask);
      check_output (__i__, "output=labels", formats[f], GST_VIDEO_FORMAT_GRAY16_LE, &mask);
      check_output (__i__, "output=labels", formats[f], GST_VIDEO_FORMAT_GRAY16_BE, &mask);
      check_output (__i__, "output=labels", formats[f], GST_VIDEO_FORMAT_RGBA, &mask);
      check_output (__i__, "output=colors", formats[f], GST_VIDEO_FORMAT_RGB, &mask);
      check_output (__i__, "output=colors", formats[f], GST_VIDEO_FORMAT_RGBA, &mask);
    }
    mask_free (&mask);
  }
}

GST_END_TEST;

GST_START_TEST (test_output_changes_while_playing)
{
  NEED_BACKEND (__i__);

  Mask mask = mask_random (31, 17, 4, 0.4);
  guint32 *labels = label_image (&mask, 8, NULL);
  GstHarness *harness;
  static const struct
  {
    const gchar *value;
    GstVideoFormat format;
  } steps[] = {
    {"mask", GST_VIDEO_FORMAT_GRAY8}, {"labels", GST_VIDEO_FORMAT_GRAY16_LE}, {"passthrough", GST_VIDEO_FORMAT_GRAY8},
    {"labels", GST_VIDEO_FORMAT_GRAY16_LE}, {"mask", GST_VIDEO_FORMAT_GRAY8},
  };

  for (guint depth = 0; depth < 3; depth++) {
    gchar *settings = g_strdup_printf ("async-depth=%u", depth);

    harness = label_harness (__i__, settings);
    set_mask_caps (harness, GST_VIDEO_FORMAT_GRAY8, &mask);
    push_mask (harness, &mask, 0);
    for (guint i = 0; i < G_N_ELEMENTS (steps); i++) {
      set_label (harness, "output", steps[i].value);
      fail_unless_equals_int (push_mask (harness, &mask, i + 1), GST_FLOW_OK);
    }
    gst_harness_push_event (harness, gst_event_new_eos ());
    fail_unless_equals_int (gst_harness_buffers_received (harness), 1 + G_N_ELEMENTS (steps));
    check_pulled (harness, &mask, 8, 0);
    for (guint i = 0; i < G_N_ELEMENTS (steps); i++) {
      GstBuffer *buffer = gst_harness_pull (harness);

      assert_blobs (buffer, &mask, 8);
      if (strcmp (steps[i].value, "passthrough") != 0)
        assert_picture (buffer, steps[i].format, &mask, labels);
      gst_buffer_unref (buffer);
    }
    gst_harness_teardown (harness);
    g_free (settings);
  }
  g_free (labels);
  mask_free (&mask);
}

GST_END_TEST;

/* In place, downstream's allocation answer reaches upstream. */
GST_START_TEST (test_output_change_reaches_upstream)
{
  NEED_BACKEND (__i__);

  Mask mask = mask_dots (8);
  GstHarness *harness = label_harness (__i__, "output=mask");

  set_mask_caps (harness, GST_VIDEO_FORMAT_GRAY8, &mask);
  push_mask (harness, &mask, 0);
  n_reconfigures (harness);
  set_label (harness, "output", "passthrough");
  push_mask (harness, &mask, 1);
  fail_unless (n_reconfigures (harness) > 0);
  gst_harness_teardown (harness);
  mask_free (&mask);
}

GST_END_TEST;

typedef struct
{
  GstHarness *harness;
  gint stop;
  guint n_asked, n_empty;
} Asker;

static gpointer
ask_for_caps (gpointer data)
{
  Asker *const asker = data;
  GstCaps *const filter = gst_caps_from_string ("video/x-raw,format=I420,width=16,height=16");

  for (; !g_atomic_int_get (&asker->stop); asker->n_asked++) {
    GstCaps *const caps = gst_pad_peer_query_caps (asker->harness->srcpad, filter);

    asker->n_empty += gst_caps_is_empty (caps);
    gst_caps_unref (caps);
    g_usleep (1);               /* valgrind lets others on when one waits */
  }
  gst_caps_unref (filter);
  return NULL;
}

/* With a queue, the source queries caps from its own thread. */
GST_START_TEST (test_caps_while_output_changes)
{
  NEED_BACKEND (__i__);

  static const gchar *const outputs[] = { "mask", "labels", "passthrough", "colors" };
  Mask mask = mask_dots (8);
  GstHarness *harness = label_harness (__i__, "");
  Asker asker = {.harness = harness };
  GThread *thread;

  set_mask_caps (harness, GST_VIDEO_FORMAT_GRAY8, &mask);
  thread = g_thread_new ("asker", ask_for_caps, &asker);
  for (guint i = 0; i < 1000; i++) {
    set_label (harness, "output", outputs[i % 4]);
    gst_buffer_unref (label_mask (harness, &mask, i));
  }
  g_atomic_int_set (&asker.stop, TRUE);
  g_thread_join (thread);
  fail_unless (asker.n_asked > 0);
  fail_unless_equals_int (asker.n_empty, 0);
  gst_harness_teardown (harness);
  mask_free (&mask);
}

GST_END_TEST;

GST_START_TEST (test_skipped_frames_have_empty_pictures)
{
  NEED_BACKEND (__i__);

  Mask mask = mask_random (31, 17, 4, 0.4);
  guint32 *nothing = g_new0 (guint32, 31 * 17);
  GstHarness *harness;
  GstBuffer *buffer;

  harness = label_harness (__i__, "output=mask interval=2");
  gst_buffer_unref (label_one (harness, GST_VIDEO_FORMAT_GRAY8, &mask));
  buffer = label_mask (harness, &mask, 1);
  assert_picture (buffer, GST_VIDEO_FORMAT_GRAY8, &mask, nothing);
  fail_unless_equals_int (gst_buffer_get_ccl_blob_meta (buffer)->flags, GST_CCL_BLOB_META_FLAG_SKIPPED);
  gst_buffer_unref (buffer);
  gst_harness_teardown (harness);
  g_free (nothing);
  mask_free (&mask);
}

GST_END_TEST;

/* More blobs than GRAY16 has labels. */
GST_START_TEST (test_labels_saturate)
{
  NEED_BACKEND (__i__);

  Mask mask = mask_new (600, 600);
  guint32 *labels;

  for (guint y = 0; y < 600; y += 2)
    for (guint x = 0; x < 600; x += 2)
      mask.pixels[y * 600 + x] = 1;
  labels = label_image (&mask, 8, NULL);
  for (guint rgba = 0; rgba < 2; rgba++) {
    GstHarness *harness = label_harness (__i__, "output=labels max-components=3");
    GstBus *bus = watch_bus (harness);
    GstBuffer *buffer;

    gst_harness_set_sink_caps_str (harness, rgba ? "video/x-raw,format=RGBA" : "video/x-raw,format=GRAY16_LE");
    set_mask_caps (harness, GST_VIDEO_FORMAT_GRAY8, &mask);
    for (guint i = 0; i < 2; i++) {
      buffer = label_mask (harness, &mask, i);
      assert_picture (buffer, rgba ? GST_VIDEO_FORMAT_RGBA : GST_VIDEO_FORMAT_GRAY16_LE, &mask, labels);
      fail_unless_equals_int (gst_buffer_get_ccl_blob_meta (buffer)->n_kept, 90000);
      gst_buffer_unref (buffer);
    }
    if (!rgba)
      assert_message (bus, GST_MESSAGE_WARNING, "90000 blobs, GRAY16_LE can tell 65535");
    assert_message (bus, GST_MESSAGE_WARNING, "the table holds 3");
    assert_no_message (bus, GST_MESSAGE_WARNING);
    drop_bus (harness, bus);
    gst_harness_teardown (harness);
  }
  g_free (labels);
  mask_free (&mask);
}

GST_END_TEST;

void
ccllabel_add_output_tests (Suite * suite)
{
  TCase *tests = tcase_create ("output");

  tcase_set_timeout (tests, 300);
  tcase_add_loop_test (tests, test_outputs, 0, G_N_ELEMENTS (backends));
  tcase_add_loop_test (tests, test_output_changes_while_playing, 0, G_N_ELEMENTS (backends));
  tcase_add_loop_test (tests, test_output_change_reaches_upstream, 0, G_N_ELEMENTS (backends));
  tcase_add_loop_test (tests, test_caps_while_output_changes, 0, G_N_ELEMENTS (backends));
  tcase_add_loop_test (tests, test_skipped_frames_have_empty_pictures, 0, G_N_ELEMENTS (backends));
  tcase_add_loop_test (tests, test_labels_saturate, 0, G_N_ELEMENTS (backends));
  suite_add_tcase (suite, tests);
}
