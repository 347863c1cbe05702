/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Settings and pipelines that can have no effect: each gives one warning, and similar ones that work give none. */

#include <gst/check/gstcheck.h>

/* More frames than an element waits for before it warns. The ball moves. */
#define N_FRAMES 40
#define LINE "videotestsrc num-buffers=%u pattern=ball ! video/x-raw,format=%s,width=64,height=48,framerate=30/1 ! %s ! " \
    "fakesink"

#define OUTSIDE "{\"zones\":[{\"name\":\"door\",\"polygon\":[[100,0],[200,0],[200,40]]}]}"
#define ON_EDGE "{\"zones\":[{\"name\":\"door\",\"polygon\":[[60,0],[200,0],[200,40]]}]}"
#define BELOW "{\"units\":\"relative\",\"zones\":[{\"name\":\"gate\",\"line\":[[0,1.2],[1,1.5]]}]}"
#define GATE "{\"units\":\"relative\",\"zones\":[{\"name\":\"gate\",\"line\":[[0,0.5],[1,0.5]]}]}"
#define LARGE "{\"units\":\"relative\",\"zones\":[{\"name\":\"all\",\"polygon\":[[0,0],[1,0],[1,1]],\"min_area\":4000}]}"

#define ALL_LEARNT "The stream ended after 40 frames, in the warm-up"

static const struct
{
  const gchar *format, *elements;
  const gchar *says[2];         /* of each warning, in any order */
} cases[] = {
  {"I420", "ccllabel threshold=255", {"threshold=255: no pixel of I420 is greater, so there are no blobs"}},
  {"I420", "ccllabel threshold=255 invert=true", {"so each is foreground"}},
  {"I420", "ccllabel threshold=254", {NULL}},
  {"GRAY8", "ccllabel threshold=300", {"no pixel of GRAY8 is greater"}},
  {"GRAY16_LE", "ccllabel threshold=65535", {"no pixel of GRAY16_LE is greater"}},
  {"GRAY16_LE", "ccllabel threshold=30000", {NULL}},
  {"I420", "cclmotion method=mog2 warmup-frames=1 ! ccllabel threshold=255", {"no pixel of GRAY8 is greater"}},
  {"I420", "ccllabel region-id=3", {"region-id=3 has no effect: mask-source is not segmentation-mtd"}},
  {"I420", "ccllabel segmentation=0", {"segmentation=0 has no effect"}},
#if !GST_CHECK_VERSION (1, 25, 0)
  {"I420", "ccllabel mask-source=segmentation-mtd region-id=3",
        {"mask-source=segmentation-mtd, which this build cannot read", "A frame carries no mask"}},
#endif
  {"I420", "ccllabel contours=true attach=roi", {"contours=true, but attach does not say blob"}},
  {"I420", "ccllabel contours=true attach=blob+roi", {NULL}},
  {"I420", "ccllabel attach=blob+roi max-mirror=0", {"max-mirror=0: no region"}},
  {"I420", "ccllabel max-mirror=0", {NULL}},
  {"I420", "ccllabel roi-type=person", {"roi-type=\"person\" has no effect"}},
  {"I420", "ccllabel roi-type=person attach=roi", {NULL}},
  {"I420", "ccllabel min-width=65", {"min-width=65 is more than a mask of 64x48 pixels has"}},
  {"I420", "ccllabel min-height=49", {"min-height=49 is more than a mask of 64x48 pixels has"}},
  {"I420", "ccllabel min-width=64 min-height=48 min-area=3072", {NULL}},
  {"I420", "ccllabel min-area=3073", {"min-area=3073, but in a mask of 64x48 pixels a blob has 3072 at most:"}},
  {"I420", "ccllabel min-area=101 max-width=10 max-height=10", {"a blob has 100 at most by the other limits"}},
  {"I420", "ccllabel min-area=31 max-rel-area=0.01", {"a blob has 30 at most by the other limits"}},
  {"I420", "ccllabel min-area=9 max-area=3", {"min-area=9 is above max-area=3"}},
  {"I420", "cclmotion method=mog2", {NULL}},
  {"I420", "cclmotion", {ALL_LEARNT}},
  {"I420", "cclmotion learning-rate=0.01", {"learning-rate has no effect with method=feedback", ALL_LEARNT}},
  {"I420", "cclmotion freeze-on-motion=true", {"freeze-on-motion has no effect with method=feedback", ALL_LEARNT}},
  {"I420", "cclmotion warmup-frames=5", {"warmup-frames has no effect with method=feedback", ALL_LEARNT}},
  {"I420", "cclmotion method=mog2 max-motion=0", {"max-motion=0: all that moves"}},
  {"I420", "cclmotion method=mog2 min-motion=0.9", {"min-motion=0.9 is above max-motion=0.8"}},
  {"I420", "cclmotion method=mog2 ignore=0,0;1,0;1,1;0,1", {"ignore covers the whole picture"}},
  {"I420", "cclmotion method=mog2 ignore=70,0;90,0;90,40", {"ignore covers nothing of a picture of 64x48 pixels"}},
  {"I420", "cclmotion method=mog2 ignore=40,0;90,0;90,40", {NULL}},
  {"I420", "cclmotion method=mog2 work-height=20 open=10", {"open=10 leaves nothing of a mask of 27x20 pixels"}},
  {"I420", "cclmotion method=mog2 work-height=20 open=9", {NULL}},
  {"I420", "cclmotion method=mog2 warmup-frames=40", {ALL_LEARNT}},
  {"I420", "cclmotion method=mog2 warmup-frames=39", {NULL}},
  {"I420", "ccltrack", {"Nothing to follow: the frames carry no blobs, regions or object detections"}},
  {"I420", "ccltrack input=roi", {"Nothing to follow: the frames carry no regions of interest"}},
  {"I420", "ccllabel ! ccltrack", {NULL}},
  {"I420", "ccllabel ! ccllabel name=second ! ccllabel ! ccltrack",
        {"The frames carry blobs of an element upstream already: elements downstream read only what second attaches"}},
  {"I420", "ccllabel ! ccllabel attach=roi ! ccltrack", {NULL}},
  {"I420", "cclmotion method=mog2 ! cclmotion method=mog2 name=second ! ccllabel mask-source=mask-meta",
        {"The frames carry a mask of an element upstream already: elements downstream read only what second attaches"}},
  {"I420", "ccllabel min-area=3072 ! ccltrack", {NULL}},
  {"I420", "ccllabel ! ccltrack ! cclzone", {"There are no zones"}},
  {"I420", "cclzone zones=" ON_EDGE, {"Nobody can be in the zones: the frames carry no blobs"}},
  {"I420", "ccllabel ! cclzone zones=" ON_EDGE, {NULL}},
  {"I420", "ccllabel ! cclzone zones=" OUTSIDE,
        {"The zone \"door\" is not within frames of 64x48 pixels: nobody is ever in it"}},
  {"I420", "ccllabel ! ccltrack ! cclzone zones=" BELOW, {"The zone \"gate\" is not within frames of 64x48 pixels: "
            "nobody crosses it"}},
  {"I420", "ccllabel ! cclzone zones=" LARGE, {"min_area is 4000, frames have 3072 pixels"}},
  {"I420", "ccllabel ! cclzone zones=" GATE, {"Nobody crosses or dwells: the blobs have no tracks"}},
  {"I420", "ccllabel ! ccltrack ! cclzone zones=" GATE, {NULL}},
  {"I420", "cclmetaremap mode=restore", {"No blobs to restore"}},
  {"I420", "ccllabel ! cclmetaremap ! cclmetaremap mode=restore", {NULL}},
  {"I420", "ccllabel ! cclmetaremap crop-left=8", {"Crop and direction have no effect with mode=keep"}},
  {"I420", "ccllabel ! cclmetaremap ! cclmetaremap mode=restore direction=auto", {"direction=auto cannot be known"}},
  {"I420", "ccllabel ! cclmeta2json", {NULL}},
  {"I420", "cclmeta2json", {"No blobs to write"}},
  {"I420", "ccllabel ! cclmeta2json trails=true", {"trails=true, but no blob has a trail"}},
  {"I420", "ccllabel ! ccltrack ! cclmeta2json trails=true", {NULL}},
  {"I420", "ccllabel ! cclmeta2json time=reference", {"time=reference, but no buffer has a reference timestamp"}},
#ifdef HAVE_OVERLAY
  {"I420", "ccllabel ! ccloverlay", {NULL}},
  {"I420", "ccloverlay", {"Nothing to draw"}},
  {"I420", "ccllabel ! ccloverlay draw=box+contour", {"draw says contour, but no blob has one"}},
  {"I420", "ccllabel ! ccloverlay draw=box+hull", {"draw says hull, but no blob has a contour"}},
  {"I420", "ccllabel ! ccloverlay draw=contour+hull", {"draw says contour, but no blob has one. Set contours=true of"}},
  {"I420", "ccllabel contours=true ! ccloverlay draw=box+contour+hull", {NULL}},
  {"I420", "ccllabel ! ccloverlay draw=0", {"draw is empty"}},
  {"I420", "ccllabel ! ccloverlay color=0xffff0000", {"color=0xffff0000 has no effect: color-by is not fixed"}},
  {"I420", "ccllabel ! ccloverlay color=0xff0000 color-by=fixed", {"color=0x00ff0000 cannot be seen: its alpha is 0"}},
  {"I420", "ccllabel ! ccloverlay color=0xffff0000 color-by=fixed", {NULL}},
#endif
};

#ifdef HAVE_OVERLAY
/* Of a stream of one frame, at its end. */
static const struct
{
  const gchar *elements;
  const gchar *says[2];
} pictures[] = {
  {"ccllabel features=basic+hull+holes ! ccloverlay draw=hull",
      {"hull, but no blob has a contour. Set contours=true of ccllabel"}},
  {"ccllabel contours=true ! ccloverlay draw=rectangle+hole",
        {"rectangle, but no blob has a hull. Set features=hull of ccllabel",
          "hole, but holes are not measured. Set features=holes of ccllabel"}},
  {"ccllabel features=basic+hull+holes contours=true ! ccloverlay draw=contour+hull+rectangle+hole", {NULL}},
  {"ccllabel min-area=3073 ! ccloverlay draw=contour+hull+rectangle+hole", {"min-area=3073"}},  /* no blobs, no hint */
  {"ccllabel attach=roi ! ccloverlay draw=box+hull+hole", {NULL}},
  {"ccllabel ! ccloverlay", {NULL}},
  {"ccloverlay", {"Nothing to draw"}},
};
#endif

/* All warnings of a stream, one text each. */
static GPtrArray *
collect_warnings (const gchar * line)
{
  GPtrArray *warnings = g_ptr_array_new_with_free_func (g_free);
  GError *error = NULL;
  GstElement *pipeline = gst_parse_launch (line, &error);
  GstBus *bus = gst_element_get_bus (pipeline);
  GstMessage *message;

  g_assert_no_error (error);
  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  while ((message = gst_bus_timed_pop_filtered (bus, 60 * GST_SECOND,
              GST_MESSAGE_WARNING | GST_MESSAGE_ERROR | GST_MESSAGE_EOS))) {
    const GstMessageType type = GST_MESSAGE_TYPE (message);

    fail_if (type == GST_MESSAGE_ERROR, "%s", line);
    if (type == GST_MESSAGE_WARNING) {
      gst_message_parse_warning (message, &error, NULL);
      g_ptr_array_add (warnings, g_strdup (error->message));
      g_clear_error (&error);
    }
    gst_message_unref (message);
    if (type == GST_MESSAGE_EOS)
      break;
  }
  fail_unless (message != NULL, "%s does not end", line);
  gst_element_set_state (pipeline, GST_STATE_NULL);
  gst_object_unref (bus);
  gst_object_unref (pipeline);
  return warnings;
}

static gboolean
is_said (GPtrArray * warnings, const gchar * words)
{
  for (guint i = 0; i < warnings->len; i++)
    if (strstr (g_ptr_array_index (warnings, i), words))
      return TRUE;
  return FALSE;
}

/* These are all warnings of a stream, and no others. */
static void
check_warnings (guint n_frames, const gchar * format, const gchar * elements, const gchar * const says[2])
{
  gchar *line = g_strdup_printf (LINE, n_frames, format, elements);
  GPtrArray *warnings = collect_warnings (line);
  guint n_expected = 0;

  for (guint i = 0; i < 2 && says[i]; i++) {
    fail_unless (is_said (warnings, says[i]), "%s: not \"%s\" but \"%s\"", line, says[i],
        warnings->len ? (const gchar *) g_ptr_array_index (warnings, 0) : "nothing");
    n_expected++;
  }
  fail_unless (warnings->len == n_expected, "%s: %u warnings, the last is \"%s\"", line, warnings->len,
      warnings->len ? (const gchar *) g_ptr_array_index (warnings, warnings->len - 1) : "");
  g_ptr_array_unref (warnings);
  g_free (line);
}

GST_START_TEST (test_warnings)
{
  check_warnings (N_FRAMES, cases[__i__].format, cases[__i__].elements, cases[__i__].says);
}

GST_END_TEST
#ifdef HAVE_OVERLAY
GST_START_TEST (test_warnings_of_a_picture)
{
  check_warnings (1, "I420", pictures[__i__].elements, pictures[__i__].says);
}

GST_END_TEST
#endif
/* Zones that are set while frames flow are looked at as well. */
GST_START_TEST (test_zones_set_later)
{
  GstElement *pipeline = gst_parse_launch ("videotestsrc is-live=true ! video/x-raw,width=64,height=48,framerate=100/1 ! "
      "ccllabel ! cclzone name=zone ! fakesink", NULL);
  GstElement *zone = gst_bin_get_by_name (GST_BIN (pipeline), "zone");
  GstBus *bus = gst_element_get_bus (pipeline);
  GstMessage *message;
  GError *error;

  g_object_set (zone, "zones", ON_EDGE, NULL);
  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  fail_unless_equals_int (gst_element_get_state (pipeline, NULL, NULL, 100 * GST_SECOND), GST_STATE_CHANGE_SUCCESS);
  fail_unless (gst_bus_timed_pop_filtered (bus, GST_SECOND / 5, GST_MESSAGE_WARNING) == NULL);
  g_object_set (zone, "zones", OUTSIDE, NULL);
  message = gst_bus_timed_pop_filtered (bus, 100 * GST_SECOND, GST_MESSAGE_WARNING);
  fail_unless (message != NULL);
  gst_message_parse_warning (message, &error, NULL);
  fail_unless (strstr (error->message, "is not within") != NULL, "%s", error->message);
  g_error_free (error);
  gst_message_unref (message);
  gst_element_set_state (pipeline, GST_STATE_NULL);
  gst_object_unref (zone);
  gst_object_unref (bus);
  gst_object_unref (pipeline);
}

GST_END_TEST

static Suite *
warnings_suite (void)
{
  Suite *suite = suite_create ("warnings");
  TCase *tc = tcase_create ("general");

  tcase_set_timeout (tc, 120);
  suite_add_tcase (suite, tc);
  tcase_add_loop_test (tc, test_warnings, 0, G_N_ELEMENTS (cases));
#ifdef HAVE_OVERLAY
  tcase_add_loop_test (tc, test_warnings_of_a_picture, 0, G_N_ELEMENTS (pictures));
#endif
  tcase_add_test (tc, test_zones_set_later);
  return suite;
}

GST_CHECK_MAIN (warnings);
