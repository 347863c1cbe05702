/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Prints the largest blob of every frame: a pad probe reads the metadata that ccllabel attaches.
 *
 *     meson devenv -C build examples/blob-probe           # two seconds of a moving ball
 *     meson devenv -C build examples/blob-probe FILE      # a mask: picture or video, light blobs on dark ground
 *
 * Outside this tree: cc blob-probe.c $(pkg-config --cflags --libs gstreamer-ccl-1.0)
 */

#include <gst/ccl/gstcclblobmeta.h>
#include <gst/gst.h>

#define LABEL "video/x-raw,format=GRAY8 ! ccllabel name=label threshold=127 ! fakesink"

static guint
find_largest (const GstCclBlobMeta * meta)
{
  guint largest = 0;

  for (guint i = 1; i < gst_ccl_blob_meta_get_length (meta); i++) {
    if (gst_ccl_blob_meta_get_blob (meta, i)->area > gst_ccl_blob_meta_get_blob (meta, largest)->area)
      largest = i;
  }
  return largest;
}

/* Runs in the streaming thread, once for each frame. */
static GstPadProbeReturn
print_largest (GstPad * pad, GstPadProbeInfo * info, gpointer user_data)
{
  GstBuffer *buffer = GST_PAD_PROBE_INFO_BUFFER (info);
  const GstCclBlobMeta *meta = gst_buffer_get_ccl_blob_meta (buffer);
  gdouble x, y, major, minor, orientation;
  guint i;

  (void) pad;
  (void) user_data;
  g_print ("%" GST_TIME_FORMAT "  ", GST_TIME_ARGS (GST_BUFFER_PTS (buffer)));
  if (!meta || gst_ccl_blob_meta_get_length (meta) == 0) {
    g_print ("no blobs\n");
    return GST_PAD_PROBE_OK;
  }
  i = find_largest (meta);
  gst_ccl_blob_meta_get_centroid (meta, i, &x, &y);
  gst_ccl_blob_meta_get_axes (meta, i, &major, &minor, &orientation);
  g_print ("largest of %u: %.0f pixels around (%.1f, %.1f), %.1f x %.1f\n", gst_ccl_blob_meta_get_length (meta),
      gst_ccl_blob_meta_get_area (meta, i), x, y, major, minor);
  return GST_PAD_PROBE_OK;
}

static GstElement *
make_pipeline (const gchar * file, GError ** error)
{
  GstElement *pipeline, *source;

  if (!file)
    return gst_parse_launch ("videotestsrc pattern=ball num-buffers=60 ! " LABEL, error);

  pipeline = gst_parse_launch ("filesrc name=source ! decodebin ! videoconvert ! " LABEL, error);
  if (pipeline) {
    source = gst_bin_get_by_name (GST_BIN (pipeline), "source");
    g_object_set (source, "location", file, NULL);
    gst_object_unref (source);
  }
  return pipeline;
}

static void
add_probe (GstElement * pipeline)
{
  GstElement *label = gst_bin_get_by_name (GST_BIN (pipeline), "label");
  GstPad *pad = gst_element_get_static_pad (label, "src");

  gst_pad_add_probe (pad, GST_PAD_PROBE_TYPE_BUFFER, print_largest, NULL, NULL);
  gst_object_unref (pad);
  gst_object_unref (label);
}

/* Until the end or an error; returns the exit status. */
static int
run (GstElement * pipeline)
{
  GstBus *bus = gst_element_get_bus (pipeline);
  GstMessage *message;
  int status = 0;

  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  message = gst_bus_timed_pop_filtered (bus, GST_CLOCK_TIME_NONE, GST_MESSAGE_EOS | GST_MESSAGE_ERROR);
  if (GST_MESSAGE_TYPE (message) == GST_MESSAGE_ERROR) {
    GError *error = NULL;
    gchar *details = NULL;

    gst_message_parse_error (message, &error, &details);
    g_printerr ("%s: %s\n%s\n", GST_OBJECT_NAME (GST_MESSAGE_SRC (message)), error->message, details ? details : "");
    g_error_free (error);
    g_free (details);
    status = 1;
  }
  gst_message_unref (message);
  gst_element_set_state (pipeline, GST_STATE_NULL);
  gst_object_unref (bus);
  return status;
}

int
main (int argc, char **argv)
{
  GError *error = NULL;
  GstElement *pipeline;
  int status;

  gst_init (&argc, &argv);
  if (argc > 2) {
    g_printerr ("usage: %s [FILE]\n", argv[0]);
    return 2;
  }
  pipeline = make_pipeline (argc == 2 ? argv[1] : NULL, &error);
  if (!pipeline) {
    g_printerr ("%s\n", error->message);
    g_error_free (error);
    return 1;
  }
  g_clear_error (&error);
  add_probe (pipeline);
  status = run (pipeline);
  gst_object_unref (pipeline);
  return status;
}
