/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* What ccllabel measures goes through the flat form: of random pictures and label maps, and at the limits of the core. */
#include <gst/check/gstharness.h>

#include "blobflat.h"
#include "support/masks.h"

#define MAX_WIDTH 40
#define MAX_HEIGHT 24
#define N_PICTURES 60

static const struct
{
  const gchar *settings;
  GstVideoFormat format;
  guint values[6];              /* of random pixels */
} kinds[] = {
  {"", GST_VIDEO_FORMAT_GRAY8, {0, 0, 1, 1, 2, 255}},
  {"connectivity=4", GST_VIDEO_FORMAT_GRAY16_LE, {0, 0, 0, 1, 65535, 65535}},
  {"threshold=127", GST_VIDEO_FORMAT_I420, {0, 16, 0, 128, 235, 255}},
  {"foreground=equal", GST_VIDEO_FORMAT_GRAY8, {0, 1, 1, 1, 2, 255}},
  {"foreground=equal connectivity=4", GST_VIDEO_FORMAT_GRAY8, {0, 1, 1, 1, 2, 255}},
  {"foreground=equal background-value=7", GST_VIDEO_FORMAT_GRAY16_LE, {7, 0, 0, 0, 3, 65535}},
};

static void
assert_same_columns (const GstCclBlobMeta * a, const GstCclBlobMeta * b)
{
  GBytes *(*const getters[]) (const GstCclBlobList *) = {
    gst_ccl_blob_list_get_shape, gst_ccl_blob_list_get_hull, gst_ccl_blob_list_get_class_ids,
    gst_ccl_blob_list_get_intensity
  };

  for (guint i = 0; i < G_N_ELEMENTS (getters); i++) {
    GBytes *const in_a = getters[i] (a->list), *const in_b = getters[i] (b->list);
    const gboolean is_empty = in_a == NULL || g_bytes_get_size (in_a) == 0;

    fail_unless (is_empty ? in_b == NULL : in_b != NULL && g_bytes_equal (in_a, in_b), "column %u", i);
  }
}

static void
assert_survives (const GstCclBlobMeta * meta, const gchar * what)
{
  GstBuffer *const buffer = gst_buffer_new ();
  GBytes *const bytes = gst_ccl_blob_meta_to_bytes (meta);
  GError *error = NULL;
  GstCclBlobMeta *const read = gst_buffer_add_ccl_blob_meta_from_bytes (buffer, bytes, &error);
  GBytes *again;

  fail_unless (read != NULL, "%s: %s", what, error != NULL ? error->message : "");
  assert_same (meta, read);
  assert_same_columns (meta, read);
  again = gst_ccl_blob_meta_to_bytes (read);
  fail_unless (g_bytes_equal (bytes, again), "%s", what);
  g_bytes_unref (again);
  g_bytes_unref (bytes);
  gst_buffer_unref (buffer);
}

/* Some pixels are those on their left, so that there are large blobs and small ones. The other planes are noise. */
static GstBuffer *
random_picture (GRand * rand, guint kind, gint width, gint height)
{
  GstVideoInfo info;
  GstVideoFrame frame;
  GstBuffer *buffer;

  gst_video_info_set_format (&info, kinds[kind].format, width, height);
  buffer = gst_buffer_new_allocate (NULL, info.size, NULL);
  fail_unless (gst_video_frame_map (&frame, &info, buffer, GST_MAP_WRITE));
  for (gsize i = 0; i < info.size; i++)
    ((guint8 *) frame.map[0].data)[i] = g_rand_int_range (rand, 0, 256);
  for (gint y = 0; y < height; y++) {
    guint8 *const row =
        (guint8 *) GST_VIDEO_FRAME_PLANE_DATA (&frame, 0) + y * GST_VIDEO_FRAME_PLANE_STRIDE (&frame, 0);
    guint value = kinds[kind].values[0];

    for (gint x = 0; x < width; x++) {
      if (g_rand_int_range (rand, 0, 3) > 0)
        value = kinds[kind].values[g_rand_int_range (rand, 0, 6)];
      if (kinds[kind].format == GST_VIDEO_FORMAT_GRAY16_LE)
        GST_WRITE_UINT16_LE (row + 2 * x, value);
      else
        row[x] = value;
    }
  }
  gst_video_frame_unmap (&frame);
  return buffer;
}

static guint
count_holes_without_background (const GstCclBlobMeta * meta)
{
  guint n = 0;

  for (guint i = 0; i < gst_ccl_blob_meta_get_length (meta); i++) {
    guint n_holes;
    const GstCclHole *const holes = gst_ccl_blob_meta_list_holes (meta, i, &n_holes);

    for (guint k = 0; k < n_holes; k++)
      n += holes[k].area == 0;
  }
  return n;
}

/* CCL_TEST_SEED repeats a run. */
GST_START_TEST (test_random_tables)
{
  const gchar *const given = g_getenv ("CCL_TEST_SEED");
  const guint32 seed = given != NULL ? (guint32) g_ascii_strtoull (given, NULL, 0) : g_random_int ();
  GRand *const rand = g_rand_new_with_seed (seed);
  gchar *const line = g_strdup_printf ("ccllabel backend=cpu threads=1 features=basic+shape+hull+holes+intensity "
      "contours=true %s", kinds[__i__].settings);
  GstHarness *const harness = gst_harness_new_parse (line);
  guint n_blobs = 0, n_filled = 0;

  g_print ("seed 0x%08x\n", seed);
  for (guint n = 0; n < N_PICTURES; n++) {
    const gint width = g_rand_int_range (rand, 1, MAX_WIDTH + 1), height = g_rand_int_range (rand, 1, MAX_HEIGHT + 1);
    gchar *const caps = caps_string (kinds[__i__].format, width, height);
    GstCclBlobMeta *meta;
    GstBuffer *buffer;

    gst_harness_set_src_caps_str (harness, caps);
    buffer = gst_harness_push_and_pull (harness, random_picture (rand, __i__, width, height));
    meta = gst_buffer_get_ccl_blob_meta (buffer);
    assert_survives (meta, caps);
    n_blobs += gst_ccl_blob_meta_get_length (meta);
    n_filled += count_holes_without_background (meta);
    gst_buffer_unref (buffer);
    g_free (caps);
  }
  fail_unless (n_blobs > N_PICTURES, "only %u blobs", n_blobs);
  fail_unless (strstr (line, "equal") ? n_filled > 0 : n_filled == 0, "%u holes without background", n_filled);
  gst_harness_teardown (harness);
  g_free (line);
  g_rand_free (rand);
}

GST_END_TEST;

/* A full mask of 16384x16384 pixels that are all 65535; a comb with as many holes as fit; a pixel. */
static const GstCclShapeCounts max_shape[] = {
  {1, 1, 16384, 16384, 32767, {0}}, {2, 1 - 8191 * 8191, 67117056, 67117056, 134217728, {0}}, {3, 1, 1, 1, 2, {0}},
};

static const GstCclHullCounts max_hull[] = {
  {1, 1u << 29, 1u << 29, 16384, 1, 0, 1, 0, 0, 16384, 0, 16384, G_GUINT64_CONSTANT (65536) << 40, {0}},
  {2, 1u << 29, 1u << 29, 1u << 29, 16384, -16383, 0, 1, -(1 << 29), 1 << 29, -(1 << 29), 1 << 29, 1, {0}},
  {3, 2, 2, 1, 0, 1, 0, 1, 0, 1, -1, 0, G_GUINT64_CONSTANT (4) << 40, {0}},
};
static const GstCclFilledCounts max_filled[] =
    { {1, 1, 1u << 28, {0}}, {2, 8191 * 8191, 1u << 28, {0}}, {3, 0, 1, {0}} };
static const GstCclHole max_holes[] = {
  {1, 16382 * 16382, 16382 * 16382, 1, 1, 16382, 16382, 1, {0}}, {2, 0, 1, 16382, 16382, 1, 1, 16382, {0}},
};
static const GstCclClassId max_class_ids[] = { {1, 65535, {0}}, {2, 0, {0}}, {3, 1, {0}} };

static const GstCclIntensityCounts max_intensity[] = {
  {1, 65535, 65535, 1, G_GUINT64_CONSTANT (17591917608960), G_GUINT64_CONSTANT (1152886320503193600),
        G_GUINT64_CONSTANT (144104193093795840), G_GUINT64_CONSTANT (144104193093795840),
        {G_GUINT64_CONSTANT (5980785436157542400), 85}, {G_GUINT64_CONSTANT (18284621084126871552), 63},
        {G_GUINT64_CONSTANT (5980785436157542400), 85}, G_GUINT64_CONSTANT (17591917608960),
      G_GUINT64_CONSTANT (17591917608960), {0}},
  {2, 0, 0, 0, 0, 0, 0, 0, {0}, {0}, {0}, 0, 0, {0}},
  {3, 0, 0, 1, 0, 0, 0, 0, {0}, {0}, {0}, 0, 0, {0}},
};

GST_START_TEST (test_limits_of_the_core)
{
  GstCclBlob blobs[3] = { rectangle (1, 0, 0, 1, 1), rectangle (2, 0, 0, 1, 1), rectangle (3, 16383, 16383, 1, 1) };
  GBytes *const shape = g_bytes_new_static (max_shape, sizeof (max_shape));
  GBytes *const hull = g_bytes_new_static (max_hull, sizeof (max_hull));
  GBytes *const of_filled = g_bytes_new_static (max_filled, sizeof (max_filled));
  GBytes *const of_holes = g_bytes_new_static (max_holes, sizeof (max_holes));
  GBytes *const class_ids = g_bytes_new_static (max_class_ids, sizeof (max_class_ids));
  GBytes *const intensity = g_bytes_new_static (max_intensity, sizeof (max_intensity));
  GBytes *const all[] = { shape, hull, of_filled, of_holes, class_ids, intensity };
  GstBuffer *const buffer = gst_buffer_new ();
  GstCclBlobMeta *meta;

  blobs[0].area = G_GUINT64_CONSTANT (1) << 28;
  blobs[0].m10 = blobs[0].m01 = G_GUINT64_CONSTANT (2198889037824);
  blobs[0].m20 = blobs[0].m02 = G_GUINT64_CONSTANT (24016999034126336);
  blobs[0].m11 = G_GUINT64_CONSTANT (18012199553335296);
  blobs[0].width = blobs[0].height = blobs[1].width = blobs[1].height = 16384;
  meta = add_blobs (buffer, blobs, 3, 16384, 16384);
  gst_ccl_blob_list_set_shape (meta->list, shape);
  gst_ccl_blob_list_set_hull (meta->list, hull);
  gst_ccl_blob_list_set_holes (meta->list, of_filled, of_holes);
  gst_ccl_blob_list_set_class_ids (meta->list, class_ids);
  gst_ccl_blob_list_set_intensity (meta->list, intensity);
  assert_survives (meta, "limits");
  for (guint i = 0; i < G_N_ELEMENTS (all); i++)
    g_bytes_unref (all[i]);
  gst_buffer_unref (buffer);
}

GST_END_TEST;

#if GST_CHECK_VERSION (1, 24, 0)
/* As unixfdsink and unixfdsrc do it: a blob around a pixel of another value. */
GST_START_TEST (test_map_is_serialized)
{
  static const guint8 pixels[3][4] = { {1, 1, 1, 0}, {1, 2, 1, 0}, {1, 1, 1, 0} };
  GstHarness *const harness = gst_harness_new_parse ("ccllabel backend=cpu foreground=equal features=basic+holes");
  GstBuffer *const other = gst_buffer_new ();
  GByteArray *const array = g_byte_array_new ();
  GstBuffer *buffer;
  GstMeta *read;
  guint32 consumed = 0;
  GstCclHole hole;

  gst_harness_set_src_caps_str (harness, "video/x-raw,format=GRAY8,width=3,height=3,framerate=25/1");
  buffer = gst_harness_push_and_pull (harness, gst_buffer_new_memdup (pixels, sizeof (pixels)));
  fail_unless (gst_meta_serialize_simple ((GstMeta *) gst_buffer_get_ccl_blob_meta (buffer), array));
  read = gst_meta_deserialize (other, array->data, array->len, &consumed);
  fail_unless (read != NULL && consumed == array->len);
  fail_unless (gst_ccl_blob_meta_get_hole ((GstCclBlobMeta *) read, 0, 0, &hole));
  fail_unless (hole.area == 0 && hole.area_filled == 1 && hole.x == 1 && hole.y == 1);
  gst_buffer_unref (buffer);
  gst_buffer_unref (other);
  g_byte_array_unref (array);
  gst_harness_teardown (harness);
}

GST_END_TEST;
#endif

void
blobflat_add_tables_tests (TCase * tests)
{
  tcase_add_loop_test (tests, test_random_tables, 0, G_N_ELEMENTS (kinds));
  tcase_add_test (tests, test_limits_of_the_core);
#if GST_CHECK_VERSION (1, 24, 0)
  tcase_add_test (tests, test_map_is_serialized);
#endif
}
