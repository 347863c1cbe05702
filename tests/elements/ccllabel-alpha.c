/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Masks in the alpha plane of the picture. */
#include "ccllabel.h"

#include <gst/ccl/gstcclblobmeasures.h>

static const GstVideoFormat alpha_formats[] = { GST_VIDEO_FORMAT_A420, GST_VIDEO_FORMAT_AV12 };

#define N_FORMATS G_N_ELEMENTS (alpha_formats)

/* Each plane at an odd offset, luma, chroma and alpha with strides of their own. Returns the bytes of the buffer. */
static gsize
scatter_planes (GstVideoInfo * info)
{
  const guint last = GST_VIDEO_INFO_N_PLANES (info) - 1;
  gsize end = 1;

  for (guint i = 0; i <= last; i++) {
    info->offset[i] = end | 1;
    info->stride[i] += i == 0 ? 7 : i == last ? 20 : 10;
    end = info->offset[i] + (gsize) info->stride[i] * GST_VIDEO_INFO_COMP_HEIGHT (info, i == 0 || i == last ? 0 : 1);
  }
  return end;
}

/* Luma is the column, chroma 100 and 200, alpha the mask. Planes are where a video meta says, or the caps. */
static GstBuffer *
new_picture (GstVideoFormat format, const Mask * mask, gboolean with_meta)
{
  static const guint8 chroma[] = { 0, 100, 200 };
  GstVideoInfo info;
  GstVideoFrame frame;
  GstBuffer *buffer;

  gst_video_info_set_format (&info, format, mask->width, mask->height);
  if (with_meta)
    info.size = scatter_planes (&info);
  buffer = gst_buffer_new_allocate (NULL, info.size, NULL);
  gst_buffer_memset (buffer, 0, 255, info.size);
  if (with_meta)
    gst_buffer_add_video_meta_full (buffer, GST_VIDEO_FRAME_FLAG_NONE, format, mask->width, mask->height,
        info.finfo->n_planes, info.offset, info.stride);
  fail_unless (gst_video_frame_map (&frame, &info, buffer, GST_MAP_WRITE));
  for (guint c = 0; c < 4; c++)
    for (gint y = 0; y < GST_VIDEO_FRAME_COMP_HEIGHT (&frame, c); y++)
      for (gint x = 0; x < GST_VIDEO_FRAME_COMP_WIDTH (&frame, c); x++)
        ((guint8 *) GST_VIDEO_FRAME_COMP_DATA (&frame, c))[y * GST_VIDEO_FRAME_COMP_STRIDE (&frame, c)
            + x * GST_VIDEO_FRAME_COMP_PSTRIDE (&frame, c)] = c == 0 ? (guint) x
            : c < 3 ? chroma[c] : mask->pixels[y * (gint) mask->width + x] ? 128 : 127;
  gst_video_frame_unmap (&frame);
  return buffer;
}

static GstHarness *
alpha_harness (guint backend, const gchar * settings, GstVideoFormat format, const Mask * mask)
{
  gchar *const all = g_strconcat ("mask-source=alpha ", settings, NULL);
  GstHarness *const harness = label_harness (backend, all);

  set_mask_caps (harness, format, mask);
  g_free (all);
  return harness;
}

/* The alpha plane is the mask, and the other planes are what is measured. */
GST_START_TEST (test_planes)
{
  const guint backend = __i__ / (2 * N_FORMATS), format = __i__ / 2 % N_FORMATS;
  gdouble min, max, mean, cb, cr;

  NEED_BACKEND (backend);
  Mask mask = mask_random (71, 43, 1, 0.1);
  GstHarness *const harness =
      alpha_harness (backend, "features=intensity contours=true async-depth=1", alpha_formats[format], &mask);

  for (guint i = 0; i < 3; i++)
    fail_unless_equals_int (gst_harness_push (harness, new_picture (alpha_formats[format], &mask, __i__ % 2)),
        GST_FLOW_OK);
  gst_harness_push_event (harness, gst_event_new_eos ());
  for (guint i = 0; i < 3; i++) {
    GstBuffer *const buffer = gst_harness_pull (harness);
    GstCclBlobMeta *const meta = gst_buffer_get_ccl_blob_meta (buffer);

    assert_blobs (buffer, &mask, 8);
    for (guint k = 0; k < gst_ccl_blob_meta_get_length (meta); k++) {
      const GstCclBlob *const blob = gst_ccl_blob_meta_get_blob (meta, k);

      fail_unless (gst_ccl_blob_meta_get_intensity (meta, k, &min, &max, &mean, NULL));
      fail_unless (min == blob->x && max == blob->x + blob->width - 1, "%g to %g", min, max);
      fail_unless (ABS (mean - (gdouble) blob->m10 / blob->area) < 1e-9, "%g", mean);
      fail_unless (gst_ccl_blob_meta_get_chroma (meta, k, &cb, &cr));
      fail_unless (cb == 100 && cr == 200, "%g %g", cb, cr);
    }
    gst_buffer_unref (buffer);
  }
  gst_harness_teardown (harness);
  mask_free (&mask);
}

GST_END_TEST;

/* A buffer without its last plane. */
GST_START_TEST (test_short_buffer)
{
  const gboolean with_meta = __i__;
  Mask mask = mask_random (32, 16, 1, 0.3);
  GstHarness *const harness = alpha_harness (0, "", GST_VIDEO_FORMAT_A420, &mask);
  GstBus *const bus = watch_bus (harness);
  GstBuffer *const buffer = new_picture (GST_VIDEO_FORMAT_A420, &mask, with_meta);

  gst_buffer_set_size (buffer, gst_buffer_get_size (buffer) - 32);
  fail_unless_equals_int (gst_harness_push (harness, buffer), GST_FLOW_ERROR);
  assert_message (bus, GST_MESSAGE_ERROR, "smaller than its caps say");
  drop_bus (harness, bus);
  gst_harness_teardown (harness);
  mask_free (&mask);
}

GST_END_TEST;

static gboolean
accepts (GstHarness * harness, GstVideoFormat format)
{
  gchar *const text = caps_string (format, 64, 48);
  GstCaps *const caps = gst_caps_from_string (text), *const allowed = gst_pad_peer_query_caps (harness->srcpad, NULL);
  const gboolean result = gst_caps_can_intersect (caps, allowed);

  gst_caps_unref (caps);
  gst_caps_unref (allowed);
  g_free (text);
  return result;
}

/* Only mask-source=alpha takes formats with alpha, and no others. So a converter does not choose them without it. */
GST_START_TEST (test_caps)
{
  static const gchar *const outputs[] = { "output=passthrough", "output=mask", "output=labels" };
  GstHarness *const harness = label_harness (0, outputs[__i__]);

  for (guint round = 0; round < 3; round++) {
    const gboolean is_alpha = round == 1;

    set_label (harness, "mask-source", is_alpha ? "alpha" : round ? "frame" : "auto");
    for (guint i = 0; i < N_FORMATS; i++)
      fail_unless_equals_int (accepts (harness, alpha_formats[i]), is_alpha);
    for (guint i = 0; i < G_N_ELEMENTS (formats); i++)
      fail_unless_equals_int (accepts (harness, formats[i]), !is_alpha);
  }
  gst_harness_teardown (harness);
}

GST_END_TEST;

/* Changes that a neighbour cannot follow, and some that all can. */
static const struct
{
  const gchar *line, *before, *after;
  const gchar *says;            /* NULL: it changes */
} changes[] = {
  {"capsfilter caps=video/x-raw,format=GRAY8 ! ccllabel name=label mask-source=%s", "frame", "alpha",
      "alpha needs A420 or AV12, which upstream cannot give: it stays frame."},
  {"videoconvert ! ccllabel name=label mask-source=%s ! capsfilter caps=video/x-raw,format=GRAY8", "auto", "alpha",
      "alpha needs A420 or AV12, which downstream cannot take: it stays auto."},
  {"ccllabel name=label mask-source=%s", "alpha", "auto",
      "auto needs a format without alpha, which upstream cannot give: it stays alpha."},
  {"ccllabel name=label output=mask mask-source=%s ! videoconvert", "alpha", "mask-meta",
      "mask-meta needs a format without alpha, which upstream cannot give: it stays alpha."},
  {"capsfilter caps=video/x-raw,format=GRAY8 ! ccllabel name=label mask-source=%s", "frame", "auto", NULL},
  {"videoconvert ! ccllabel name=label mask-source=%s ! videoconvert", "auto", "alpha", NULL},
  {"videoconvert ! ccllabel name=label output=labels mask-source=%s ! capsfilter caps=video/x-raw,format=GRAY16_LE",
      "frame", "alpha", NULL},
  {"videoconvert ! ccllabel name=label mask-source=%s", "alpha", "frame", NULL},
};

static void
assert_source (GstElement * label, const gchar * expected)
{
  GParamSpec *const spec = g_object_class_find_property (G_OBJECT_GET_CLASS (label), "mask-source");
  gint source;

  g_object_get (label, "mask-source", &source, NULL);
  fail_unless_equals_string (g_enum_get_value (G_PARAM_SPEC_ENUM (spec)->enum_class, source)->value_nick, expected);
}

/* A change that is refused keeps the property, and the frames go on. */
GST_START_TEST (test_change_while_playing)
{
  SKIP_TEST_UNLESS (gst_registry_check_feature_version (gst_registry_get (), "videoconvert", 1, 0, 0),
      "videoconvert is not there");

  const gboolean is_alpha = g_str_equal (changes[__i__].before, "alpha");
  const GstVideoFormat format = is_alpha ? GST_VIDEO_FORMAT_A420 : GST_VIDEO_FORMAT_GRAY8;
  Mask mask = mask_dots (4);
  gchar *const line = g_strdup_printf (changes[__i__].line, changes[__i__].before);
  GstHarness *const harness = gst_harness_new_parse (line);
  GstBus *const bus = watch_bus (harness);

  set_mask_caps (harness, format, &mask);
  for (guint i = 0; i < 3; i++) {
    GstBuffer *const buffer = is_alpha ? new_picture (format, &mask, FALSE) : buffer_from_mask (format, &mask);

    fail_unless_equals_int (gst_harness_push (harness, buffer), GST_FLOW_OK);
    gst_buffer_unref (gst_harness_pull (harness));
    if (i == 0)
      set_label (harness, "mask-source", changes[__i__].after);
    assert_source (label_of (harness), changes[__i__].says ? changes[__i__].before : changes[__i__].after);
  }
  if (changes[__i__].says)
    assert_message (bus, GST_MESSAGE_WARNING, changes[__i__].says);
  assert_no_message (bus, GST_MESSAGE_WARNING);
  drop_bus (harness, bus);
  gst_harness_teardown (harness);
  g_free (line);
  mask_free (&mask);
}

GST_END_TEST;

/* An upstream that says that it can give everything. */
static GstPadProbeReturn
answer_caps (GstPad * pad, GstPadProbeInfo * info, gpointer unused)
{
  GstQuery *const query = gst_pad_probe_info_get_query (info);
  GstCaps *caps;

  (void) pad, (void) unused;
  if (GST_QUERY_TYPE (query) != GST_QUERY_CAPS)
    return GST_PAD_PROBE_OK;
  gst_query_parse_caps (query, &caps);
  gst_query_set_caps_result (query, caps);
  return GST_PAD_PROBE_HANDLED;
}

/* Upstream goes on with its frames. Those of the first moment give no warning. */
GST_START_TEST (test_no_alpha)
{
  Mask mask = mask_dots (4);
  GstHarness *const harness = label_harness (0, "mask-source=frame");
  GstBus *const bus = watch_bus (harness);

  set_mask_caps (harness, GST_VIDEO_FORMAT_GRAY8, &mask);
  gst_pad_add_probe (harness->srcpad, GST_PAD_PROBE_TYPE_QUERY_UPSTREAM, answer_caps, NULL, NULL);
  for (guint i = 0; i < 40; i++) {
    GstBuffer *const buffer = label_mask (harness, &mask, i);

    fail_unless_equals_int (n_blobs (buffer), i ? 0 : 4);
    gst_buffer_unref (buffer);
    set_label (harness, "mask-source", "alpha");
    if (i == 30)
      assert_message (bus, GST_MESSAGE_WARNING, "30 frames of GRAY8 have no alpha plane");
    assert_no_message (bus, GST_MESSAGE_WARNING);
  }
  drop_bus (harness, bus);
  gst_harness_teardown (harness);
  mask_free (&mask);
}

GST_END_TEST;

/* Settings and an alpha plane of one value. */
static const struct
{
  const gchar *settings;
  guint8 alpha;
  gboolean has_hint;
} planes[] = {
  {"", 255, TRUE}, {"async-depth=2 threshold=200", 255, TRUE}, {"", 254, FALSE}, {"invert=true", 255, FALSE},
  {"", 0, FALSE},
};

/* One hint says that alpha is opaque everywhere, and names no threshold. */
GST_START_TEST (test_opaque)
{
  NEED_BACKEND (__i__);

  for (guint k = 0; k < G_N_ELEMENTS (planes); k++) {
    Mask mask = mask_random (32, 16, 1, 0.3);
    GstHarness *const harness = alpha_harness (__i__, planes[k].settings, GST_VIDEO_FORMAT_A420, &mask);
    GstBus *const bus = watch_bus (harness);

    for (guint i = 0; i < 25; i++) {
      GstBuffer *const buffer = new_picture (GST_VIDEO_FORMAT_A420, &mask, FALSE);

      gst_buffer_memset (buffer, gst_buffer_get_size (buffer) - 32 * 16, planes[k].alpha, 32 * 16);
      fail_unless_equals_int (gst_harness_push (harness, buffer), GST_FLOW_OK);
    }
    if (planes[k].has_hint)
      assert_message (bus, GST_MESSAGE_WARNING, "The alpha plane of the last 10 frames is opaque everywhere");
    assert_no_message (bus, GST_MESSAGE_WARNING);
    drop_bus (harness, bus);
    gst_harness_teardown (harness);
    mask_free (&mask);
  }
}

GST_END_TEST;

/* A red square in front of green. */
static GstBuffer *
green_screen (void)
{
  static const guint8 green[] = { 145, 54, 34 }, red[] = { 81, 90, 240 };
  GstVideoInfo info;
  GstVideoFrame frame;
  GstBuffer *buffer;

  gst_video_info_set_format (&info, GST_VIDEO_FORMAT_Y444, 64, 48);
  buffer = gst_buffer_new_allocate (NULL, info.size, NULL);
  fail_unless (gst_video_frame_map (&frame, &info, buffer, GST_MAP_WRITE));
  for (guint c = 0; c < 3; c++)
    for (gint y = 0; y < 48; y++)
      for (gint x = 0; x < 64; x++)
        ((guint8 *) GST_VIDEO_FRAME_COMP_DATA (&frame, c))[y * GST_VIDEO_FRAME_COMP_STRIDE (&frame, c) + x] =
            x >= 10 && x < 26 && y >= 20 && y < 36 ? red[c] : green[c];
  gst_video_frame_unmap (&frame);
  return buffer;
}

/* The element `alpha` writes the mask, and a converter chooses the format. */
GST_START_TEST (test_green_screen)
{
  GstRegistry *const registry = gst_registry_get ();
  gdouble min, max;

  if (gst_registry_check_feature_version (registry, "alpha", 1, 0, 0)
      && gst_registry_check_feature_version (registry, "videoconvert", 1, 0, 0)) {
    GstHarness *const harness = gst_harness_new_parse ("alpha method=green ! videoconvert ! "
        "ccllabel mask-source=alpha backend=cpu features=intensity");
    gchar *const caps = caps_string (GST_VIDEO_FORMAT_Y444, 64, 48);
    GstCclBlobMeta *meta;
    GstBuffer *buffer;

    gst_harness_set_src_caps_str (harness, caps);
    fail_unless_equals_int (gst_harness_push (harness, green_screen ()), GST_FLOW_OK);
    buffer = gst_harness_pull (harness);
    meta = gst_buffer_get_ccl_blob_meta (buffer);
    fail_unless_equals_int (n_blobs (buffer), 1);
    assert_box (meta, 0, 10, 20, 16, 16);
    fail_unless (gst_ccl_blob_meta_get_intensity (meta, 0, &min, &max, NULL, NULL));
    fail_unless (min > 75 && max < 87, "%g to %g", min, max);
    gst_buffer_unref (buffer);
    gst_harness_teardown (harness);
    g_free (caps);
  }
}

GST_END_TEST;

void
ccllabel_add_alpha_tests (Suite * suite)
{
  TCase *tests = tcase_create ("alpha");

  tcase_add_loop_test (tests, test_planes, 0, 2 * N_FORMATS * G_N_ELEMENTS (backends));
  tcase_add_loop_test (tests, test_short_buffer, 0, 2);
  tcase_add_loop_test (tests, test_caps, 0, 3);
  tcase_add_loop_test (tests, test_change_while_playing, 0, G_N_ELEMENTS (changes));
  tcase_add_test (tests, test_no_alpha);
  tcase_add_loop_test (tests, test_opaque, 0, G_N_ELEMENTS (backends));
  tcase_add_test (tests, test_green_screen);
  suite_add_tcase (suite, tests);
}
