/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "fuzz.h"

#include <json-glib/json-glib.h>

GST_ELEMENT_REGISTER_DECLARE (ccllabel);
GST_ELEMENT_REGISTER_DECLARE (cclmeta2json);
GST_ELEMENT_REGISTER_DECLARE (cclmetaremap);
GST_ELEMENT_REGISTER_DECLARE (cclmotion);
GST_ELEMENT_REGISTER_DECLARE (ccltrack);
GST_ELEMENT_REGISTER_DECLARE (cclzone);
#ifdef HAVE_OVERLAY
GST_ELEMENT_REGISTER_DECLARE (ccloverlay);
#endif

int
LLVMFuzzerInitialize (int *argc, char ***argv)
{
  (void) argc;
  (void) argv;
  fuzz_init ();
  GST_ELEMENT_REGISTER (ccllabel, NULL);
  GST_ELEMENT_REGISTER (cclmeta2json, NULL);
  GST_ELEMENT_REGISTER (cclmetaremap, NULL);
  GST_ELEMENT_REGISTER (cclmotion, NULL);
  GST_ELEMENT_REGISTER (ccltrack, NULL);
  GST_ELEMENT_REGISTER (cclzone, NULL);
#ifdef HAVE_OVERLAY
  GST_ELEMENT_REGISTER (ccloverlay, NULL);
#endif
  return 0;
}

/* A line of JSON is one object in UTF-8, with one line feed, whatever the metadata say. */
static void
check_line (GstBuffer * buffer)
{
  JsonParser *const parser = json_parser_new ();
  GError *error = NULL;
  GstMapInfo map;

  g_assert_true (gst_buffer_map (buffer, &map, GST_MAP_READ));
  g_assert_true (g_utf8_validate_len ((const gchar *) map.data, map.size, NULL));
  g_assert_true (memchr (map.data, '\n', map.size) == map.data + map.size - 1);
  json_parser_load_from_data (parser, (const gchar *) map.data, (gssize) map.size, &error);
  g_assert_no_error (error);
  g_assert_true (JSON_NODE_HOLDS_OBJECT (json_parser_get_root (parser)));
  gst_buffer_unmap (buffer, &map);
  g_object_unref (parser);
}

static GstFlowReturn
take_buffer (GstPad * pad, GstObject * parent, GstBuffer * buffer)
{
  GstCaps *caps = gst_pad_get_current_caps (pad);

  (void) parent;
  if (caps && gst_structure_has_name (gst_caps_get_structure (caps, 0), "application/x-json"))
    check_line (buffer);
  gst_clear_caps (&caps);
  gst_buffer_unref (buffer);
  return GST_FLOW_OK;
}

static GstPad *
get_pad (FuzzPipe * pipe, const gchar * name)
{
  GstPad *const pad = gst_element_get_static_pad (pipe->bin, name);

  g_assert_nonnull (pad);
  return pad;
}

void
fuzz_pipe_open (FuzzPipe * pipe, const gchar * line)
{
  GError *error = NULL;
  GstPad *first, *last;

  pipe->bin = gst_parse_bin_from_description (line, TRUE, &error);
  g_assert_no_error (error);
  gst_object_ref_sink (pipe->bin);
  pipe->src = gst_pad_new ("fuzz-src", GST_PAD_SRC);
  pipe->sink = gst_pad_new ("fuzz-sink", GST_PAD_SINK);
  gst_pad_set_chain_function (pipe->sink, take_buffer);
  first = get_pad (pipe, "sink");
  last = get_pad (pipe, "src");
  g_assert_cmpint (gst_pad_link (pipe->src, first), ==, GST_PAD_LINK_OK);
  g_assert_cmpint (gst_pad_link (last, pipe->sink), ==, GST_PAD_LINK_OK);
  gst_object_unref (first);
  gst_object_unref (last);
  gst_pad_set_active (pipe->sink, TRUE);
  gst_pad_set_active (pipe->src, TRUE);
  gst_element_set_state (pipe->bin, GST_STATE_PLAYING);
  fuzz_pipe_event (pipe, gst_event_new_stream_start ("fuzz"));
}

void
fuzz_pipe_close (FuzzPipe * pipe)
{
  gst_element_set_state (pipe->bin, GST_STATE_NULL);
  gst_pad_set_active (pipe->src, FALSE);
  gst_pad_set_active (pipe->sink, FALSE);
  gst_object_unref (pipe->src);
  gst_object_unref (pipe->sink);
  gst_object_unref (pipe->bin);
}

gboolean
fuzz_pipe_event (FuzzPipe * pipe, GstEvent * event)
{
  return gst_pad_push_event (pipe->src, event);
}

GstFlowReturn
fuzz_pipe_push (FuzzPipe * pipe, GstBuffer * buffer)
{
  return gst_pad_push (pipe->src, buffer);
}

static void
push_segment (FuzzPipe * pipe, FuzzBytes * bytes)
{
  static const gdouble rates[] = { 1, -1, 0.5, 1000 };
  GstSegment segment;

  gst_segment_init (&segment, fuzz_below (bytes, 8) ? GST_FORMAT_TIME : GST_FORMAT_BYTES);
  segment.start = fuzz_bits (bytes, 7);
  segment.rate = rates[fuzz_below (bytes, G_N_ELEMENTS (rates))];
  segment.time = fuzz_bits (bytes, 8);
  if (segment.rate < 0)         /* GStreamer plays backwards from a known end only */
    segment.stop = MAX (segment.start, 10 * GST_SECOND);
  fuzz_pipe_event (pipe, gst_event_new_segment (&segment));
}

static void
append_box (GValue * boxes, GType type, FuzzBytes * bytes)
{
  GValue box = G_VALUE_INIT, number = G_VALUE_INIT;

  g_value_init (&box, GST_TYPE_ARRAY);
  for (guint n = 4 + (fuzz_below (bytes, 16) == 15); n > 0; n--) {
    g_value_init (&number, type);
    if (type == G_TYPE_INT)
      g_value_set_int (&number, (gint) fuzz_integer (bytes));
    gst_value_array_append_and_take_value (&box, &number);
  }
  gst_value_array_append_and_take_value (boxes, &box);
}

/* Boxes of tracks, from downstream. */
static void
push_tracks (FuzzPipe * pipe, FuzzBytes * bytes)
{
  static const guint numbers[] = { 0, 1, 2, 3, 4, 5, 128, 129 };
  const guint width = (guint) fuzz_integer (bytes), height = (guint) fuzz_integer (bytes);
  GstStructure *const tracks =
      gst_structure_new ("ccl-tracks", "width", G_TYPE_UINT, width, "height", G_TYPE_UINT, height, NULL);
  const GType type = fuzz_below (bytes, 16) == 15 ? G_TYPE_UINT : G_TYPE_INT;   /* GStreamer allows one in an array */
  GValue boxes = G_VALUE_INIT;

  g_value_init (&boxes, GST_TYPE_ARRAY);
  for (guint n = numbers[fuzz_below (bytes, G_N_ELEMENTS (numbers))]; n > 0; n--)
    append_box (&boxes, type, bytes);
  gst_structure_take_value (tracks, "boxes", &boxes);
  gst_pad_push_event (pipe->sink, gst_event_new_custom (GST_EVENT_CUSTOM_UPSTREAM, tracks));
}

void
fuzz_pipe_disturb (FuzzPipe * pipe, FuzzBytes * bytes)
{
  const guint8 choice = fuzz_byte (bytes);
  GstClockTimeDiff late;
  GstClockTime time;

  switch (choice < 240 ? choice % 5 : 5) {
    case 0:
      fuzz_pipe_event (pipe, gst_event_new_flush_start ());
      fuzz_pipe_event (pipe, gst_event_new_flush_stop (fuzz_flag (bytes)));
      break;
    case 1:
      push_segment (pipe, bytes);
      break;
    case 2:
      time = fuzz_bits (bytes, 8);
      if (GST_CLOCK_TIME_IS_VALID (time))
        fuzz_pipe_event (pipe, gst_event_new_gap (time, fuzz_bits (bytes, 8)));
      break;
    case 3:
      fuzz_pipe_event (pipe, gst_event_new_eos ());
      break;
    case 5:
      push_tracks (pipe, bytes);
      break;
    default:
      late = (GstClockTimeDiff) fuzz_bits (bytes, 4);
      time = fuzz_bits (bytes, 8);
      if (GST_CLOCK_TIME_IS_VALID (time))
        gst_pad_push_event (pipe->sink, gst_event_new_qos (GST_QOS_TYPE_UNDERFLOW, 2, late, time));
      break;
  }
}
