/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "labelharness.h"

static void
add_ghost_pad (GstElement * bin, GstElement * element, const gchar * name)
{
  GstPad *pad = gst_element_get_static_pad (element, name);

  gst_element_add_pad (bin, gst_ghost_pad_new (name, pad));
  gst_object_unref (pad);
}

GstHarness *
harness_in_context (guint backend, const gchar * settings, GstContext * context)
{
  gchar *line = g_strdup_printf ("bin.( ccllabel name=label backend=%s %s )", backends[backend], settings);
  GstElement *bin = gst_parse_launch (line, NULL), *label;
  GstHarness *harness;

  fail_unless (bin != NULL, "%s", line);
  gst_object_ref_sink (bin);
  label = gst_bin_get_by_name (GST_BIN (bin), "label");
  add_ghost_pad (bin, label, "sink");
  add_ghost_pad (bin, label, "src");
  gst_object_unref (label);
  if (context)
    gst_element_set_context (bin, context);
  harness = gst_harness_new_with_element (bin, "sink", "src");
  gst_object_unref (bin);
  g_free (line);
  return harness;
}

GstHarness *
label_harness (guint backend, const gchar * settings)
{
  GstContext *context = backend ? shared_cuda_context (NULL) : NULL;
  GstHarness *harness = harness_in_context (backend, settings, context);

  if (context)
    gst_context_unref (context);
  return harness;
}

GstElement *
label_of (GstHarness * harness)
{
  GstElement *label = gst_bin_get_by_name (GST_BIN (harness->element), "label");

  gst_object_unref (label);
  return label;
}

void
set_label (GstHarness * harness, const gchar * name, const gchar * value)
{
  gst_util_set_object_arg (G_OBJECT (label_of (harness)), name, value);
}

static GstBuffer *
frame_of (GstVideoFormat format, const Mask * mask, guint n)
{
  GstBuffer *buffer = buffer_from_mask (format, mask);

  GST_BUFFER_PTS (buffer) = n * 40 * GST_MSECOND;
  GST_BUFFER_DURATION (buffer) = 40 * GST_MSECOND;
  return buffer;
}

GstFlowReturn
push_mask (GstHarness * harness, const Mask * mask, guint n)
{
  return gst_harness_push (harness, frame_of (GST_VIDEO_FORMAT_GRAY8, mask, n));
}

static GstBuffer *
label_frame (GstHarness * harness, GstBuffer * buffer)
{
  buffer = gst_harness_push_and_pull (harness, buffer);
  fail_unless (buffer != NULL);
  return buffer;
}

GstBuffer *
label_mask (GstHarness * harness, const Mask * mask, guint n)
{
  return label_frame (harness, frame_of (GST_VIDEO_FORMAT_GRAY8, mask, n));
}

GstBuffer *
label_one (GstHarness * harness, GstVideoFormat format, const Mask * mask)
{
  set_mask_caps (harness, format, mask);
  return label_frame (harness, frame_of (format, mask, 0));
}

guint64
stat_uint64 (GstHarness * harness, const gchar * name)
{
  return element_stat (label_of (harness), name);
}

gchar *
stat_string (GstHarness * harness, const gchar * name)
{
  return element_stat_string (label_of (harness), name);
}
