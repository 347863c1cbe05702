/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Caps, buffers and video metadata that contradict each other, through each element. */
#include "fuzz.h"

#include <gst/video/video.h>

#define MAX_STEPS 24
/* Larger frames show the same faults more slowly. */
#define MAX_PIXELS (1 << 16)

#define LABEL "ccllabel name=label backend=cpu "
#define MOTION "cclmotion name=motion backend=cpu threads=1 "
#define ZONE "cclzone name=zone zones=\"{\\\"zones\\\":[{\\\"name\\\":\\\"a\\\",\\\"line\\\":[[0,0],[50,50]]}]}\""

/* A process never frees the name of a source, so names of elements do not change from input to input. */
static const gchar *const lines[] = {
  LABEL "threads=1",
  LABEL "threads=2 algorithm=reference contours=true attach=blob+roi border=drop",
  LABEL "threads=1 output=labels",
  LABEL "threads=1 output=mask async-depth=2",
  LABEL "threads=1 volume=3 connectivity=4",
  MOTION "warmup-frames=1",
  MOTION "output=mask ignore=\"0,0;0.5,0;0.5,0.5\" work-height=0 method=mog2 ! " LABEL "threads=1",
  MOTION "warmup-frames=0 ! " LABEL "threads=1 mask-source=mask-meta",
  "ccltrack name=track",
  ZONE,
  "cclmetaremap name=keep mode=keep ! cclmetaremap name=restore mode=restore crop-left=3 direction=180",
  "cclmeta2json name=json",
#ifdef HAVE_OVERLAY
  LABEL "threads=1 ! ccltrack name=track ! ccloverlay name=overlay",
  "ccloverlay name=overlay",
  ZONE " ! ccloverlay name=overlay",
#endif
};

static const gchar *const formats[] = {
  "GRAY8", "NV12", "I420", "YV12", "Y42B", "Y444", "NV21", "GRAY16_LE", "GRAY16_BE", "BGRx", "RGBA", "RGB", "RGB16",
  "UYVY", "P010_10LE", "BGRA", "ENCODED", "A420"
};

static guint
take_size (FuzzBytes * bytes)
{
  static const guint sizes[] = { 0, 1, 2, 7, 8, 63, 64, 65, 255, 256, 4097, 16384, 32768, 65535, 65536, G_MAXINT };
  const guint8 choice = fuzz_byte (bytes);

  return choice < 128 ? choice : choice < 224 ? sizes[choice % 10] : sizes[choice % G_N_ELEMENTS (sizes)];
}

/* FALSE: the caps do not describe a video. */
static gboolean
push_caps (FuzzPipe * pipe, FuzzBytes * bytes, GstVideoInfo * info)
{
  const gchar *const format = formats[fuzz_below (bytes, G_N_ELEMENTS (formats))];
  const gint width = (gint) take_size (bytes);
  const guint wanted_height = take_size (bytes);
  const gint height = (gint) MIN (wanted_height, MAX_PIXELS / (guint) MAX (width, 1));
  GstCaps *const caps = gst_caps_new_simple ("video/x-raw", "format", G_TYPE_STRING, format, "width", G_TYPE_INT, width,
      "height", G_TYPE_INT, height, "framerate", GST_TYPE_FRACTION, fuzz_byte (bytes), 1 + fuzz_byte (bytes), NULL);
  gboolean is_video;

  if (fuzz_below (bytes, 16) == 15)
    gst_caps_set_simple (caps, "interlace-mode", G_TYPE_STRING, "interleaved", NULL);
  if (fuzz_below (bytes, 16) == 15)
    gst_caps_set_simple (caps, "pixel-aspect-ratio", GST_TYPE_FRACTION, fuzz_byte (bytes), 1 + fuzz_byte (bytes), NULL);
  is_video = gst_video_info_from_caps (info, caps);
  fuzz_pipe_event (pipe, gst_event_new_caps (caps));
  gst_caps_unref (caps);
  return is_video;
}

static void
add_memories (GstBuffer * buffer, FuzzBytes * bytes, gsize size)
{
  const guint n = 1 + (fuzz_below (bytes, 4) == 3) * fuzz_below (bytes, 4);
  const guint8 first = fuzz_byte (bytes), step = fuzz_byte (bytes);

  for (guint i = 0; i < n; i++) {
    const gsize part = i + 1 < n ? size / n : size - (n - 1) * (size / n);
    GstMemory *const memory = gst_allocator_alloc (NULL, part, NULL);
    GstMapInfo map;

    gst_memory_map (memory, &map, GST_MAP_WRITE);
    for (gsize k = 0; k < part; k++)
      map.data[k] = (k * step) % 11 < 5 ? first : 0;
    gst_memory_unmap (memory, &map);
    gst_buffer_append_memory (buffer, memory);
  }
}

/* A meta as the caps want it, with some fields changed. */
static void
add_video_meta (GstBuffer * buffer, FuzzBytes * bytes, const GstVideoInfo * info)
{
  GstVideoMeta *const meta = gst_buffer_add_video_meta_full (buffer, GST_VIDEO_FRAME_FLAG_NONE,
      GST_VIDEO_INFO_FORMAT (info), (guint) info->width, (guint) info->height, GST_VIDEO_INFO_N_PLANES (info),
      (gsize *) info->offset, (gint *) info->stride);
  const guint plane = fuzz_below (bytes, GST_VIDEO_MAX_PLANES);

  switch (meta ? fuzz_below (bytes, 8) : 7) {
    case 0:
      meta->width = (guint) fuzz_integer (bytes);
      break;
    case 1:
      meta->height = (guint) fuzz_integer (bytes);
      break;
    case 2:
      meta->offset[plane] = (gsize) fuzz_integer (bytes);
      break;
    case 3:
      meta->stride[plane] = (gint) fuzz_integer (bytes);
      break;
    case 4:
      meta->n_planes = fuzz_below (bytes, 5);
      break;
    case 5:
      meta->format = (GstVideoFormat) fuzz_below (bytes, 80);
      break;
    case 6:
      meta->offset[plane] = fuzz_byte (bytes);
      meta->stride[plane] = (gint) ((guint) meta->stride[plane] + fuzz_byte (bytes) - 128);
      break;
    default:
      break;
  }
}

static void
push_frame (FuzzPipe * pipe, FuzzBytes * bytes, const GstVideoInfo * info, gboolean is_video)
{
  static const gint deltas[] = { 0, 0, 0, 1, -1, -7, 64, 100000, -100000 };
  GstBuffer *const buffer = gst_buffer_new ();
  const gint64 size = (gint64) (is_video ? GST_VIDEO_INFO_SIZE (info) : 64)
      + deltas[fuzz_below (bytes, G_N_ELEMENTS (deltas))];

  if (size > 0)
    add_memories (buffer, bytes, (gsize) size);
  if (is_video && fuzz_flag (bytes))
    add_video_meta (buffer, bytes, info);
  GST_BUFFER_PTS (buffer) = (GstClockTime) fuzz_integer (bytes);
  GST_BUFFER_DURATION (buffer) = (GstClockTime) fuzz_integer (bytes);
  if (fuzz_below (bytes, 8) == 7)
    GST_BUFFER_FLAG_SET (buffer, 1u << (4 + fuzz_below (bytes, 20)));
  fuzz_pipe_push (pipe, buffer);
}

int
LLVMFuzzerTestOneInput (const guint8 * data, gsize size)
{
  FuzzBytes bytes = { data, data + size };
  GstVideoInfo info;
  GstSegment segment;
  FuzzPipe pipe;
  gboolean is_video;

  fuzz_pipe_open (&pipe, lines[fuzz_below (&bytes, G_N_ELEMENTS (lines))]);
  is_video = push_caps (&pipe, &bytes, &info);
  gst_segment_init (&segment, GST_FORMAT_TIME);
  fuzz_pipe_event (&pipe, gst_event_new_segment (&segment));
  for (guint i = 0; i < MAX_STEPS && !fuzz_is_empty (&bytes); i++) {
    const guint step = fuzz_below (&bytes, 8);

    if (step == 7)
      is_video = push_caps (&pipe, &bytes, &info);
    else if (step == 6)
      fuzz_pipe_disturb (&pipe, &bytes);
    else
      push_frame (&pipe, &bytes, &info, is_video);
  }
  fuzz_pipe_close (&pipe);
  return 0;
}
