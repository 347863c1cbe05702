/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "masks.h"

#include <gst/video/video.h>
#include <string.h>

#include "program.h"

#define N_MASKS 16
#define N_DISCS 40
#define CAMERAS_PER_MASK 60

/* Discs that wander, and specks. */
static void
draw (guint8 * pixels, guint width, guint height, guint stride, guint n)
{
  GRand *rand = g_rand_new_with_seed (1);

  for (guint y = 0; y < height; y++)
    memset (pixels + (gsize) y * stride, 0, width);
  for (guint i = 0; i < N_DISCS; i++) {
    const gint radius = g_rand_int_range (rand, height / 80 + 1, height / 16 + 2);
    const gint x0 = (g_rand_int_range (rand, 0, width) + n * width / 200) % width;
    const gint y0 = (g_rand_int_range (rand, 0, height) + n * (i % 3)) % height;

    for (gint y = MAX (y0 - radius, 0); y < MIN (y0 + radius, (gint) height); y++)
      for (gint x = MAX (x0 - radius, 0); x < MIN (x0 + radius, (gint) width); x++)
        if ((x - x0) * (x - x0) + (y - y0) * (y - y0) < radius * radius)
          pixels[(gsize) y * stride + x] = 255;
  }
  for (guint i = 0; i < width * height / 2000; i++)
    pixels[(gsize) g_rand_int_range (rand, 0, height) * stride + g_rand_int_range (rand, 0, width)] ^= 255;
  g_rand_free (rand);
}

static GstBuffer *
draw_mask (const GstVideoInfo * info, guint n)
{
  GstBuffer *buffer = gst_buffer_new_and_alloc (GST_VIDEO_INFO_SIZE (info));
  GstMapInfo map;

  gst_buffer_map (buffer, &map, GST_MAP_WRITE);
  memset (map.data, 128, map.size);     /* chroma, where there is any */
  draw (map.data, GST_VIDEO_INFO_WIDTH (info), GST_VIDEO_INFO_HEIGHT (info), GST_VIDEO_INFO_PLANE_STRIDE (info, 0), n);
  gst_buffer_unmap (buffer, &map);
  return buffer;
}

/* A pipeline that brings masks to the right size and memory: from the file, or from an appsrc. */
static GstElement *
launch_preparation (const Options * options, const gchar * caps_text)
{
  const gchar *const upload =
      g_str_equal (options->memory, "cuda") ? "! cudaupload ! video/x-raw(memory:CUDAMemory)" : "";
  gchar *const description =
      options->file ? g_strdup_printf ("filesrc name=source ! decodebin ! videoconvert ! videoscale ! %s %s ! "
      "appsink name=sink sync=false", caps_text, upload)
      : g_strdup_printf ("appsrc name=source caps=\"%s\" format=time %s ! appsink name=sink sync=false", caps_text,
      upload);
  GstElement *const pipeline = launch (description);

  if (options->file) {
    GstElement *const source = gst_bin_get_by_name (GST_BIN (pipeline), "source");

    g_object_set (source, "location", options->file, NULL);
    gst_object_unref (source);
  }
  g_free (description);
  return pipeline;
}

static void
push_drawn (GstElement * pipeline, const gchar * caps_text)
{
  GstElement *const source = gst_bin_get_by_name (GST_BIN (pipeline), "source");
  GstCaps *const caps = gst_caps_from_string (caps_text);
  GstVideoInfo info;
  GstFlowReturn flow;

  gst_video_info_from_caps (&info, caps);
  for (guint i = 0; i < N_MASKS; i++)
    push_buffer (source, draw_mask (&info, i));
  g_signal_emit_by_name (source, "end-of-stream", &flow);
  gst_caps_unref (caps);
  gst_object_unref (source);
}

/* Takes masks from the pipeline until there are enough or it ends. Returns their caps. */
static GstCaps *
pull_masks (GstElement * pipeline, GPtrArray * masks)
{
  GstElement *const sink = gst_bin_get_by_name (GST_BIN (pipeline), "sink");
  GstCaps *caps = NULL;
  GstSample *sample;

  for (gboolean end = FALSE; masks->len < N_MASKS && !end;) {
    g_signal_emit_by_name (sink, "try-pull-sample", 100 * GST_MSECOND, &sample);
    check_bus (pipeline);
    if (!sample) {
      g_object_get (sink, "eos", &end, NULL);
      continue;
    }
    gst_caps_replace (&caps, gst_sample_get_caps (sample));
    g_ptr_array_add (masks, gst_buffer_ref (gst_sample_get_buffer (sample)));
    gst_sample_unref (sample);
  }
  gst_object_unref (sink);
  return caps;
}

static GstCaps *
prepare_masks (GPtrArray * masks, const Options * options)
{
  /* GStreamer's elements know no gray pictures in CUDA memory. */
  gchar *const caps_text = g_strdup_printf ("video/x-raw,format=%s,width=%u,height=%u,framerate=0/1",
      g_str_equal (options->memory, "cuda") ? "NV12" : "GRAY8", options->width, options->height);
  GstElement *const pipeline = launch_preparation (options, caps_text);
  GstCaps *caps;

  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  if (!options->file)
    push_drawn (pipeline, caps_text);
  caps = pull_masks (pipeline, masks);
  if (!masks->len)
    fail ("no masks", options->file);
  gst_element_set_state (pipeline, GST_STATE_NULL);
  gst_object_unref (pipeline);
  g_free (caps_text);
  return caps;
}

/* GStreamer counts to 255 how many threads read a memory at once, and a camera may read four. So many cameras take copies of
 * the same masks. */
static void
copy_masks (GPtrArray * masks, guint n_cameras)
{
  const guint n = masks->len;

  for (guint i = n; i * CAMERAS_PER_MASK < n_cameras; i++)
    g_ptr_array_add (masks, gst_buffer_copy_deep (g_ptr_array_index (masks, i % n)));
}

/* The allocator that ccllabel offers upstream, once it has labelled a mask. */
static GstAllocator *
get_pinned_allocator (GstBuffer * mask, GstCaps * caps)
{
  GstElement *pipeline =
      launch ("appsrc name=source format=time ! ccllabel name=label backend=cuda ! appsink name=sink");
  GstElement *source = gst_bin_get_by_name (GST_BIN (pipeline), "source");
  GstElement *sink = gst_bin_get_by_name (GST_BIN (pipeline), "sink");
  GstElement *label = gst_bin_get_by_name (GST_BIN (pipeline), "label");
  GstPad *pad = gst_element_get_static_pad (label, "sink");
  GstQuery *query = gst_query_new_allocation (caps, TRUE);
  GstAllocator *allocator = NULL;
  GstSample *sample = NULL;

  g_object_set (source, "caps", caps, NULL);
  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  push_buffer (source, gst_buffer_ref (mask));
  for (guint i = 0; i < 200 && !sample; i++) {
    g_signal_emit_by_name (sink, "try-pull-sample", 100 * GST_MSECOND, &sample);
    check_bus (pipeline);
  }
  if (gst_pad_query (pad, query) && gst_query_get_n_allocation_params (query))
    gst_query_parse_nth_allocation_param (query, 0, &allocator, NULL);
  if (!sample || !allocator)
    fail ("ccllabel offers no memory", NULL);
  gst_sample_unref (sample);
  gst_element_set_state (pipeline, GST_STATE_NULL);
  gst_query_unref (query);
  gst_object_unref (pad);
  gst_object_unref (label);
  gst_object_unref (sink);
  gst_object_unref (source);
  gst_object_unref (pipeline);
  return allocator;
}

/* Replaces the masks by copies in page-locked memory. */
static void
pin_masks (GPtrArray * masks, GstCaps * caps)
{
  GstAllocator *const allocator = get_pinned_allocator (g_ptr_array_index (masks, 0), caps);

  for (guint i = 0; i < masks->len; i++) {
    GstBuffer *mask = g_ptr_array_index (masks, i), *pinned;
    GstMapInfo map;

    gst_buffer_map (mask, &map, GST_MAP_READ);
    pinned = gst_buffer_new_allocate (allocator, map.size, NULL);
    gst_buffer_fill (pinned, 0, map.data, map.size);
    gst_buffer_unmap (mask, &map);
    gst_buffer_unref (mask);
    g_ptr_array_index (masks, i) = pinned;
  }
  gst_object_unref (allocator);
}

GPtrArray *
make_masks (const Options * options, GstCaps ** caps)
{
  GPtrArray *const masks = g_ptr_array_new_with_free_func ((GDestroyNotify) gst_buffer_unref);

  *caps = prepare_masks (masks, options);
  copy_masks (masks, options->n_cameras);
  if (g_str_equal (options->memory, "pinned"))
    pin_masks (masks, *caps);
  return masks;
}
