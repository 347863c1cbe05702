/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* ccloverlay: the tests of all subjects in one program, and what they share. */

#include "ccloverlay.h"

Fixture
new_fixture (const gchar * settings, const gchar * format, guint width, guint height)
{
  Fixture f;
  gchar *line = g_strdup_printf ("ccloverlay %s", settings);
  GstCaps *caps;

  gst_video_info_init (&f.info);
  gst_video_info_set_format (&f.info, gst_video_format_from_string (format), width, height);
  f.info.fps_n = 10;
  f.info.fps_d = 1;
  f.harness = gst_harness_new_parse (line);
  caps = gst_video_info_to_caps (&f.info);
  gst_harness_set_src_caps (f.harness, caps);
  g_free (line);
  return f;
}

GstBuffer *
new_frame (const Fixture * f, guint number)
{
  GstBuffer *buffer = gst_buffer_new_allocate (NULL, GST_VIDEO_INFO_SIZE (&f->info), NULL);

  gst_buffer_memset (buffer, 0, GROUND, GST_VIDEO_INFO_SIZE (&f->info));
  GST_BUFFER_PTS (buffer) = number * FRAME;
  return buffer;
}

GstCclBlob
new_blob (guint label, guint64 track_id, gint x, gint y, gint width, gint height)
{
  const guint64 area = (guint64) width * height;

  /* Moments of the filled box, the second ones about right: for the ellipse. */
  return (GstCclBlob) {
    .label = label,.x = x,.y = y,.width = width,.height = height,.first_x = x,.mtd_id = GST_CCL_MTD_ID_NONE,
    .area = area,.m10 = area * (2 * (gint64) x + width - 1) / 2,
    .m01 = area * (2 * (gint64) y + height - 1) / 2,
    .m20 = area * ((guint64) x * x + (guint64) x * width + (guint64) width * width / 3),
    .m11 = area * (2 * (gint64) x + width - 1) / 2 * (2 * (gint64) y + height - 1) / 2,
    .m02 = area * ((guint64) y * y + (guint64) y * height + (guint64) height * height / 3),
    .track_id = track_id,
  };
}

GstCclBlobMeta *
attach_blobs (const Fixture * f, GstBuffer * buffer, const GstCclBlob * blobs, guint n)
{
  GstCclBlobList *list = gst_ccl_blob_list_new (blobs, n);
  GstCclBlobMeta *meta = gst_buffer_add_ccl_blob_meta (buffer, list, f->info.width, f->info.height);

  gst_ccl_blob_list_unref (list);
  return meta;
}

GstBuffer *
push (Fixture * f, GstBuffer * buffer)
{
  GstBuffer *out = gst_harness_push_and_pull (f->harness, buffer);

  fail_unless (out != NULL);
  return out;
}

GstBuffer *
push_blob (Fixture * f, guint number, GstCclBlob blob)
{
  GstBuffer *buffer = new_frame (f, number);

  attach_blobs (f, buffer, &blob, 1);
  return push (f, buffer);
}

guint32
pixel (const Fixture * f, GstBuffer * buffer, gint x, gint y)
{
  guint8 bytes[4];

  fail_unless (gst_buffer_extract (buffer, (y * f->info.width + x) * 4, bytes, 4) == 4);
  return bytes[2] << 16 | bytes[1] << 8 | bytes[0];     /* of BGRx */
}

gsize
count_changed (GstBuffer * buffer)
{
  GstMapInfo map;
  gsize n = 0;

  fail_unless (gst_buffer_map (buffer, &map, GST_MAP_READ));
  for (gsize i = 0; i < map.size; i++)
    n += map.data[i] != GROUND;
  gst_buffer_unmap (buffer, &map);
  return n;
}

guint64
get_stat (Fixture * f, const gchar * name)
{
  return harness_stat (f->harness, "ccloverlay", name);
}

void
assert_path (Fixture * f, const gchar * path)
{
  gchar *const present = harness_stat_string (f->harness, "ccloverlay", "path");

  assert_equals_string (present, path);
  g_free (present);
}

Fixture
new_attaching (const gchar * settings, guint width, guint height)
{
  Fixture f = new_fixture (settings, "BGRx", width, height);

  gst_harness_add_propose_allocation_meta (f.harness, GST_VIDEO_OVERLAY_COMPOSITION_META_API_TYPE, NULL);
  return f;
}

static Suite *
ccloverlay_suite (void)
{
  Suite *suite = suite_create ("ccloverlay");

  suite_add_tcase (suite, overlay_blending_tests ());
  suite_add_tcase (suite, overlay_format_tests ());
  suite_add_tcase (suite, overlay_attaching_tests ());
  suite_add_tcase (suite, overlay_colour_tests ());
  suite_add_tcase (suite, overlay_mark_tests ());
  suite_add_tcase (suite, overlay_trail_tests ());
  suite_add_tcase (suite, overlay_crowd_tests ());
  return suite;
}

GST_CHECK_MAIN (ccloverlay);
