/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Which elements of GStreamer let the blobs of a frame pass, and whether they still fit the picture then: a bright
 * rectangle is drawn, its blob goes along, and at the far end the blob's box must lie on the bright pixels. */

#include "support/skip.h"
#include "testblobs.h"

#include <gst/check/gstharness.h>
#include <gst/video/video.h>

#define WIDTH 64
#define HEIGHT 48

/* Aligned to the blocks of the codecs, off centre both ways. */
static const GstVideoRectangle BRIGHT = { 16, 8, 16, 24 };

typedef enum
{
  FITS,                         /* arrives, and lies on its pixels */
  OFF,                          /* arrives, but elsewhere: the element moved the picture and told nobody */
  LOST,                         /* does not arrive */
  ANY,                          /* not known for this version: LOST or FITS */
} Fate;

typedef struct
{
  const gchar *pipeline;
  const gchar *format;          /* of the frame that goes in */
  Fate before_1_28;
  Fate since_1_28;
} Case;

static const Case cases[] = {
  /* Elements that leave the picture as it is. */
  {"queue", "GRAY8", FITS, FITS},
  {"queue2", "GRAY8", FITS, FITS},
  {"identity ! tee ! identity", "GRAY8", FITS, FITS},
  {"identity", "GRAY8", FITS, FITS},
  {"valve", "GRAY8", FITS, FITS},
  {"identity ! input-selector ! identity", "GRAY8", FITS, FITS},
  {"identity ! output-selector ! identity", "GRAY8", FITS, FITS},
  {"identity ! funnel ! identity", "GRAY8", FITS, FITS},
  {"identity ! concat ! identity", "GRAY8", FITS, FITS},
  {"textoverlay text=hello", "I420", FITS, FITS},
  {"videobalance contrast=1.5", "I420", FITS, FITS},
  {"gamma gamma=1.5", "I420", FITS, FITS},
  {"deinterlace", "I420", FITS, FITS},
  {"timecodestamper", "I420", FITS, FITS},
  {"videorate ! capsfilter caps=video/x-raw,framerate=50/1", "GRAY8", FITS, FITS},
  {"videorate ! capsfilter caps=video/x-raw,framerate=5/1", "GRAY8", FITS, FITS},
  {"imagefreeze num-buffers=2", "GRAY8", FITS, FITS},

  /* Formats and sizes. */
  {"videoconvert", "GRAY8", FITS, FITS},
  {"videoconvert ! capsfilter caps=video/x-raw,format=RGBA", "I420", FITS, FITS},
  {"videoconvert ! capsfilter caps=video/x-raw,format=GRAY8", "NV12", FITS, FITS},
  {"videoscale ! capsfilter caps=video/x-raw,width=128,height=96", "GRAY8", FITS, FITS},
  {"videoscale ! capsfilter caps=video/x-raw,width=32,height=24", "I420", FITS, FITS},
  {"videoscale add-borders=false ! capsfilter caps=video/x-raw,width=96,height=24,pixel-aspect-ratio=1/1", "GRAY8",
      FITS, FITS},
  {"videoconvertscale ! capsfilter caps=video/x-raw,format=BGRx,width=32,height=24", "I420", FITS, FITS},
  {"videoscale method=nearest-neighbour ! capsfilter caps=video/x-raw,width=32,height=24 ! "
        "videoscale method=nearest-neighbour ! capsfilter caps=video/x-raw,width=128,height=96", "GRAY8", FITS, FITS},
  /* Borders above and below: only the description of 1.28 can say so. */
  {"videoscale add-borders=true ! capsfilter caps=video/x-raw,width=64,height=96,pixel-aspect-ratio=1/1", "GRAY8",
      OFF, FITS},

  /* Geometry: followed since 1.28. */
  {"videocrop left=8 top=4", "GRAY8", LOST, FITS},
  {"videobox left=-8 top=-4", "I420", LOST, FITS},
  {"videoflip video-direction=horiz", "GRAY8", LOST, FITS},
  {"videoflip video-direction=vert", "I420", LOST, FITS},
  {"videoflip video-direction=180", "GRAY8", LOST, FITS},
  {"videoflip video-direction=90r", "GRAY8", LOST, FITS},
  {"videoflip video-direction=90l", "GRAY8", LOST, FITS},
  {"videoflip video-direction=ul-lr", "GRAY8", LOST, FITS},
  {"videoflip video-direction=ur-ll", "GRAY8", LOST, FITS},
  {"videoflip video-direction=identity", "GRAY8", LOST, FITS},
  {"identity ! compositor", "I420", LOST, FITS},

  /* Effects that drop what they do not know. */
  {"alpha method=green", "AYUV", LOST, ANY},
  {"smptealpha", "AYUV", LOST, ANY},
  {"gaussianblur", "AYUV", LOST, ANY},
  {"interlace", "I420", LOST, ANY},

  /* Codecs. */
  {"jpegenc quality=100 ! jpegdec", "I420", FITS, FITS},
  {"pngenc ! pngdec", "RGB", FITS, FITS},
  {"vp8enc deadline=1 target-bitrate=4000000 ! vp8dec", "I420", FITS, FITS},

  /* Payloads. */
  {"gdppay ! gdpdepay", "GRAY8", LOST, ANY},
  {"rtpvrawpay ! rtpvrawdepay", "I420", LOST, ANY},
};

static GstBuffer *
new_frame (GstVideoInfo * info, guint number)
{
  GstBuffer *const buffer = gst_buffer_new_allocate (NULL, GST_VIDEO_INFO_SIZE (info), NULL);
  const GstCclBlob blob = rectangle (1, BRIGHT.x, BRIGHT.y, BRIGHT.w, BRIGHT.h);
  GstVideoFrame frame;

  fail_unless (gst_video_frame_map (&frame, info, buffer, GST_MAP_WRITE));
  for (guint c = 0; c < GST_VIDEO_FRAME_N_COMPONENTS (&frame); c++) {
    const gboolean is_chroma = GST_VIDEO_INFO_IS_YUV (info) && (c == 1 || c == 2);

    for (gint y = 0; y < GST_VIDEO_FRAME_COMP_HEIGHT (&frame, c); y++) {
      guint8 *const row = GST_VIDEO_FRAME_COMP_DATA (&frame, c) + y * GST_VIDEO_FRAME_COMP_STRIDE (&frame, c);

      for (gint x = 0; x < GST_VIDEO_FRAME_COMP_WIDTH (&frame, c); x++) {
        const gboolean is_bright = x >= BRIGHT.x && x < BRIGHT.x + BRIGHT.w && y >= BRIGHT.y && y < BRIGHT.y + BRIGHT.h;

        row[x * GST_VIDEO_FRAME_COMP_PSTRIDE (&frame, c)] = c == 3 ? 255 : is_chroma ? 128 : is_bright ? 235 : 16;
      }
    }
  }
  gst_video_frame_unmap (&frame);

  add_blobs (buffer, &blob, 1, WIDTH, HEIGHT)->connectivity = 8;
  GST_BUFFER_PTS (buffer) = number * 40 * GST_MSECOND;
  GST_BUFFER_DURATION (buffer) = 40 * GST_MSECOND;
  return buffer;
}

/* The box around the pixels whose first component (Y or R) is bright. */
static GstVideoRectangle
find_bright (GstBuffer * buffer, GstCaps * caps)
{
  GstVideoRectangle box = { G_MAXINT, G_MAXINT, 0, 0 };
  gint right = -1, bottom = -1;
  GstVideoInfo info;
  GstVideoFrame frame;

  fail_unless (gst_video_info_from_caps (&info, caps));
  fail_unless (gst_video_frame_map (&frame, &info, buffer, GST_MAP_READ));
  for (gint y = 0; y < GST_VIDEO_FRAME_HEIGHT (&frame); y++) {
    const guint8 *const row = GST_VIDEO_FRAME_COMP_DATA (&frame, 0) + y * GST_VIDEO_FRAME_COMP_STRIDE (&frame, 0);

    for (gint x = 0; x < GST_VIDEO_FRAME_WIDTH (&frame); x++) {
      if (row[x * GST_VIDEO_FRAME_COMP_PSTRIDE (&frame, 0)] > 126) {
        box.x = MIN (box.x, x);
        box.y = MIN (box.y, y);
        right = MAX (right, x);
        bottom = MAX (bottom, y);
      }
    }
  }
  gst_video_frame_unmap (&frame);
  fail_unless (right >= 0, "no bright pixel is left");
  box.w = right + 1 - box.x;
  box.h = bottom + 1 - box.y;
  return box;
}

/* What became of the blob in a frame that came out. */
static Fate
judge (GstBuffer * buffer, GstCaps * caps)
{
  const GstCclBlobMeta *const meta = gst_buffer_get_ccl_blob_meta (buffer);
  GstVideoRectangle bright;
  GstVideoInfo info;
  gdouble x, y, w, h, cx, cy;

  if (meta == NULL)
    return LOST;
  fail_unless (gst_video_info_from_caps (&info, caps));
  fail_unless_equals_int (meta->width, GST_VIDEO_INFO_WIDTH (&info));
  fail_unless_equals_int (meta->height, GST_VIDEO_INFO_HEIGHT (&info));
  fail_unless_equals_int (meta->ref_width, WIDTH);
  fail_unless_equals_int (meta->connectivity, 8);
  fail_unless_equals_int (gst_ccl_blob_meta_get_length (meta), 1);

  bright = find_bright (buffer, caps);
  gst_ccl_blob_meta_get_box (meta, 0, &x, &y, &w, &h);
  gst_ccl_blob_meta_get_centroid (meta, 0, &cx, &cy);
  GST_INFO ("box %g,%g %gx%g centroid %g,%g; bright %d,%d %dx%d", x, y, w, h, cx, cy, bright.x, bright.y, bright.w,
      bright.h);
  return fabs (x - bright.x) < 0.01 && fabs (y - bright.y) < 0.01 && fabs (w - bright.w) < 0.01
      && fabs (h - bright.h) < 0.01 && fabs (cx - (bright.x + (bright.w - 1) / 2.0)) < 0.01
      && fabs (cy - (bright.y + (bright.h - 1) / 2.0)) < 0.01 ? FITS : OFF;
}

/* The first element of the pipeline that is not installed, or NULL. */
static const gchar *
find_missing (const gchar * pipeline)
{
  GstParseContext *const context = gst_parse_context_new ();
  GstElement *const bin =
      gst_parse_bin_from_description_full (pipeline, TRUE, context, GST_PARSE_FLAG_FATAL_ERRORS, NULL);
  gchar **const missing = gst_parse_context_get_missing_elements (context);
  const gchar *const first = missing ? g_intern_string (missing[0]) : NULL;

  if (bin != NULL)
    gst_object_unref (gst_object_ref_sink (bin));
  g_strfreev (missing);
  gst_parse_context_free (context);
  return first;
}

static gboolean
is_at_least_1_28 (void)
{
  guint major, minor, micro, nano;

  gst_version (&major, &minor, &micro, &nano);
  return minor >= 28 || (minor == 27 && micro >= 90);
}

GST_START_TEST (test_survival)
{
  const Case *const c = &cases[__i__];
  const Fate expected = is_at_least_1_28 ()? c->since_1_28 : c->before_1_28;
  static const gchar *const names[] = { "fits", "is off", "is lost" };
  GstVideoInfo info;
  GstHarness *harness;
  GstCaps *caps;
  GstBuffer *out = NULL;
  Fate fate;

  SKIP_TEST_UNLESS (find_missing (c->pipeline) == NULL, "not installed: %s (for %s)", find_missing (c->pipeline),
      c->pipeline);

  gst_video_info_set_format (&info, gst_video_format_from_string (c->format), WIDTH, HEIGHT);
  info.fps_n = 25;
  info.fps_d = 1;
  harness = gst_harness_new_parse (c->pipeline);
  gst_harness_set_src_caps (harness, gst_video_info_to_caps (&info));
  for (guint i = 0; i < 4; i++)
    gst_harness_push (harness, new_frame (&info, i));
  gst_harness_push_event (harness, gst_event_new_eos ());
  fail_unless (gst_harness_pull_until_eos (harness, &out) && out != NULL, "%s: nothing came out", c->pipeline);

  caps = gst_pad_get_current_caps (harness->sinkpad);
  fate = judge (out, caps);
  fail_unless (expected == ANY ? fate != OFF : fate == expected, "%s: the blob %s", c->pipeline, names[fate]);
  gst_caps_unref (caps);
  gst_buffer_unref (out);
  gst_harness_teardown (harness);
}

GST_END_TEST;

static Suite *
survival_suite (void)
{
  Suite *const suite = suite_create ("survival");
  TCase *const tests = tcase_create ("elements");

  suite_add_tcase (suite, tests);
  tcase_set_timeout (tests, 10);
  tcase_add_loop_test (tests, test_survival, 0, G_N_ELEMENTS (cases));
  return suite;
}

GST_CHECK_MAIN (survival);
