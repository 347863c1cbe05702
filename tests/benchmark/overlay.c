/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * The time ccloverlay takes for a frame: objects with tracks and trails, in pictures it draws into or (attach=1) beside
 * them.
 *
 *     overlay [size=320x240,1920x1080,3840x2160] [objects=10,100] [format=I420] [frames=60] [attach=0] [draw=...]
 *             [picture=FILE]
 *
 * Processor time per frame, microseconds: median, and 90th percentile. The checksum is that of the last picture, so
 * that two builds can be compared; picture=FILE writes it, as the bytes of its format.
 */
#include <gst/ccl/ccl.h>
#include <gst/check/gstharness.h>
#include <gst/video/video.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../support/clock.h"

typedef struct
{
  guint width, height, objects, frames;
  const gchar *format, *draw, *picture;
  gboolean attach;
} Run;

/* Back and forth between 0 and `span`. */
static gint
bounce (gdouble place, gint span)
{
  const gint at = (gint) place % (2 * span);

  return at < span ? at : 2 * span - at;
}

static GstCclBlobList *
new_objects (const Run * run, guint frame)
{
  GRand *random = g_rand_new_with_seed (7);
  GstCclBlob *blobs;
  GstCclBlobList *list = gst_ccl_blob_list_new_uninitialized (run->objects, &blobs);

  for (guint i = 0; i < run->objects; i++) {
    const gint height = run->height * g_rand_double_range (random, 0.03, 0.12), width = MAX (height / 2, 1);
    const gint x = bounce (run->width * g_rand_double_range (random, 0, 2) + 0.004 * run->width * frame,
        run->width - width);
    const gint y = bounce (run->height * g_rand_double_range (random, 0, 2) + 0.002 * run->height * frame,
        run->height - height);
    const guint64 area = (guint64) width * height;

    blobs[i] = (GstCclBlob) {
      .label = i + 1,.x = x,.y = y,.width = width,.height = height,.first_x = x,.area = area,
      .m10 = area * x + area * (width - 1) / 2,.m01 = area * y + area * (height - 1) / 2,
      .track_id = i + 1,.flags = GST_CCL_BLOB_FLAG_CONFIRMED,.mtd_id = GST_CCL_MTD_ID_NONE,
    };
  }
  g_rand_free (random);
  return list;
}

static GstBuffer *
new_frame (const GstVideoInfo * info, const Run * run, guint number)
{
  GstBuffer *buffer = gst_buffer_new_allocate (NULL, GST_VIDEO_INFO_SIZE (info), NULL);
  GstCclBlobList *list = new_objects (run, number);

  gst_buffer_memset (buffer, 0, 0x60, GST_VIDEO_INFO_SIZE (info));
  gst_buffer_add_ccl_blob_meta (buffer, list, run->width, run->height);
  gst_ccl_blob_list_unref (list);
  GST_BUFFER_PTS (buffer) = number * 40 * GST_MSECOND;
  return buffer;
}

static int
compare (const void *a, const void *b)
{
  return (*(const gdouble *) a > *(const gdouble *) b) - (*(const gdouble *) a < *(const gdouble *) b);
}

static void
finish (const Run * run, GstBuffer * last, gdouble * times)
{
  GstMapInfo map;
  gchar *sum;

  gst_buffer_map (last, &map, GST_MAP_READ);
  sum = g_compute_checksum_for_data (G_CHECKSUM_MD5, map.data, map.size);
  if (run->picture)
    g_file_set_contents (run->picture, (const gchar *) map.data, map.size, NULL);
  gst_buffer_unmap (last, &map);
  qsort (times, run->frames, sizeof *times, compare);
  printf ("%ux%u %s, %u objects%s: %.0f us, 90th percentile %.0f us; %.8s\n", run->width, run->height, run->format,
      run->objects, run->attach ? ", attached" : "", times[run->frames / 2], times[run->frames * 9 / 10], sum);
  fflush (stdout);
  g_free (sum);
}

static void
measure (const Run * run)
{
  gchar *line = g_strdup_printf ("ccloverlay%s%s", run->draw ? " draw=" : "", run->draw ? run->draw : "");
  GstHarness *h = gst_harness_new_parse (line);
  gdouble *times = g_new (gdouble, run->frames);
  GstBuffer *out = NULL;
  GstVideoInfo info;

  gst_video_info_set_format (&info, gst_video_format_from_string (run->format), run->width, run->height);
  info.fps_n = 25;
  if (run->attach)
    gst_harness_add_propose_allocation_meta (h, GST_VIDEO_OVERLAY_COMPOSITION_META_API_TYPE, NULL);
  gst_harness_set_src_caps (h, gst_video_info_to_caps (&info));
  for (guint i = 0; i < run->frames; i++) {
    GstBuffer *buffer = new_frame (&info, run, i);
    const gdouble start = clock_us (CLOCK_THREAD_CPUTIME_ID);

    gst_harness_push (h, buffer);
    times[i] = clock_us (CLOCK_THREAD_CPUTIME_ID) - start;
    gst_clear_buffer (&out);
    out = gst_harness_pull (h);
  }
  finish (run, out, times);
  gst_buffer_unref (out);
  gst_harness_teardown (h);
  g_free (times);
  g_free (line);
}

int
main (int argc, char **argv)
{
  Run run = {.frames = 60,.format = "I420" };
  gchar **sizes = g_strsplit ("320x240,1920x1080,3840x2160", ",", -1), **objects = g_strsplit ("10,100", ",", -1);

  gst_init (&argc, &argv);
  for (gint i = 1; i < argc; i++) {
    gchar **option = g_strsplit (argv[i], "=", 2);

    if (!g_strcmp0 (option[0], "size"))
      sizes = g_strsplit (option[1], ",", -1);
    else if (!g_strcmp0 (option[0], "objects"))
      objects = g_strsplit (option[1], ",", -1);
    else if (!g_strcmp0 (option[0], "format"))
      run.format = g_strdup (option[1]);
    else if (!g_strcmp0 (option[0], "draw"))
      run.draw = g_strdup (option[1]);
    else if (!g_strcmp0 (option[0], "picture"))
      run.picture = g_strdup (option[1]);
    else if (!g_strcmp0 (option[0], "frames"))
      run.frames = MAX (atoi (option[1]), 1);
    else if (!g_strcmp0 (option[0], "attach"))
      run.attach = atoi (option[1]) != 0;
    else {
      fprintf (stderr, "overlay: cannot make sense of \"%s\"\n", argv[i]);
      return 2;
    }
  }
  for (guint s = 0; sizes[s]; s++)
    for (guint n = 0; objects[n]; n++)
      if (sscanf (sizes[s], "%ux%u", &run.width, &run.height) == 2 && (run.objects = atoi (objects[n])) > 0)
        measure (&run);
  return 0;
}
