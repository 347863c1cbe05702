/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* ccltrack: what it writes into which metadata, time, events, settings. Its arithmetic has tests of its own. */

#include <gst/check/gstcheck.h>
#include <gst/check/gstharness.h>
#include <gst/ccl/ccl.h>
#include <string.h>
#ifdef HAVE_GST_ANALYTICS
# include <gst/analytics/analytics.h>
#endif

#define FRAME (100 * GST_MSECOND)
#define CAPS(size) "video/x-raw,format=GRAY8," size ",framerate=10/1"
#define SMALL CAPS ("width=320,height=240")

typedef struct
{
  gint x, y, width, height;
} Box;

static GstHarness *
new_harness (const gchar * settings)
{
  gchar *line = g_strdup_printf ("ccltrack %s", settings);
  GstHarness *h = gst_harness_new_parse (line);

  g_free (line);
  gst_harness_set_src_caps_str (h, SMALL);
  return h;
}

/* A filled rectangle, with the moments that ccllabel gives it. */
static GstCclBlob
blob_of_box (guint label, Box box)
{
  GstCclBlob blob = {.label = label,.x = box.x,.y = box.y,.width = box.width,.height = box.height,.first_x = box.x,
    .mtd_id = GST_CCL_MTD_ID_NONE
  };

  for (gint y = box.y; y < box.y + box.height; y++)
    for (gint x = box.x; x < box.x + box.width; x++) {
      blob.area++;
      blob.m10 += x;
      blob.m01 += y;
      blob.m20 += x * x;
      blob.m11 += x * y;
      blob.m02 += y * y;
    }
  return blob;
}

static GstBuffer *
new_frame (GstClockTime pts)
{
  GstBuffer *buffer = gst_buffer_new_allocate (NULL, 16, NULL);

  gst_buffer_memset (buffer, 0, 7, 16);
  GST_BUFFER_PTS (buffer) = pts;
  return buffer;
}

static GstCclBlobMeta *
add_blobs (GstBuffer * buffer, const Box * boxes, guint n)
{
  GstCclBlob *blobs = g_new (GstCclBlob, n + 1);
  GstCclBlobList *list;
  GstCclBlobMeta *meta;

  for (guint i = 0; i < n; i++)
    blobs[i] = blob_of_box (i + 1, boxes[i]);
  list = gst_ccl_blob_list_new (blobs, n);
  meta = gst_buffer_add_ccl_blob_meta (buffer, list, 320, 240);
  meta->n_total = n;
  gst_ccl_blob_list_unref (list);
  g_free (blobs);
  return meta;
}

static GstBuffer *
push_boxes (GstHarness * h, GstClockTime pts, const Box * boxes, guint n)
{
  GstBuffer *buffer = new_frame (pts);

  add_blobs (buffer, boxes, n);
  buffer = gst_harness_push_and_pull (h, buffer);
  fail_unless (buffer != NULL);
  return buffer;
}

static GstBuffer *
push_box (GstHarness * h, guint frame, gint x)
{
  return push_boxes (h, frame * FRAME, &(Box) { x, 50, 20, 40 }, 1);
}

static GstCclBlob
blob_at (GstBuffer * buffer, guint index)
{
  const GstCclBlob *const blob = gst_ccl_blob_meta_get_blob (gst_buffer_get_ccl_blob_meta (buffer), index);

  fail_unless (blob != NULL, "no blob %u", index);
  return *blob;
}

static guint
count_blobs (GstBuffer * buffer)
{
  return gst_ccl_blob_meta_get_length (gst_buffer_get_ccl_blob_meta (buffer));
}

/* Pushes one box and returns its track. */
static guint64
track_box (GstHarness * h, guint frame, gint x)
{
  GstBuffer *buffer = push_box (h, frame, x);
  const guint64 id = blob_at (buffer, 0).track_id;

  gst_buffer_unref (buffer);
  return id;
}

static guint64
get_stat (GstHarness * h, const gchar * name)
{
  GstElement *element = gst_harness_find_element (h, "ccltrack");
  GstStructure *stats;
  guint64 value = 0;
  guint small;

  g_object_get (element, "stats", &stats, NULL);
  if (gst_structure_get_uint (stats, name, &small))
    value = small;
  else
    fail_unless (gst_structure_get_uint64 (stats, name, &value), "no %s", name);
  gst_structure_free (stats);
  gst_object_unref (element);
  return value;
}

static void
set (GstHarness * h, const gchar * property, const gchar * value)
{
  GstElement *element = gst_harness_find_element (h, "ccltrack");

  gst_util_set_object_arg (G_OBJECT (element), property, value);
  gst_object_unref (element);
}

/* ---------------------------------------------------------------- blobs */

GST_START_TEST (test_states_and_ages)
{
  GstHarness *h = new_harness ("");
  guint64 id = 0;

  for (guint frame = 0; frame < 6; frame++) {
    GstBuffer *buffer = push_box (h, frame, 10 + 5 * frame);
    const GstCclBlob blob = blob_at (buffer, 0);

    id = frame == 0 ? blob.track_id : id;
    fail_unless (blob.track_id == id && id > 0);
    fail_unless_equals_int (blob.age, frame + 1);
    fail_unless_equals_int (blob.flags, frame < 2 ? GST_CCL_BLOB_FLAG_TENTATIVE : GST_CCL_BLOB_FLAG_CONFIRMED);
    fail_unless_equals_int (blob.label, 1);
    fail_unless_equals_int (blob.area, 800);
    fail_unless_equals_int (count_blobs (buffer), 1);
    gst_buffer_unref (buffer);
  }
  fail_unless_equals_int (get_stat (h, "frames"), 6);
  fail_unless_equals_int (get_stat (h, "detections"), 6);
  fail_unless_equals_int (get_stat (h, "tracks"), 1);
  fail_unless_equals_int (get_stat (h, "started"), 1);
  gst_harness_teardown (h);
}

GST_END_TEST;

/* Pixels, memory and copies of the buffer stay as they are. */
GST_START_TEST (test_only_metadata)
{
  GstHarness *h = new_harness ("");
  GstBuffer *in = new_frame (0), *kept, *out;
  GstMemory *memory = gst_buffer_peek_memory (in, 0);

  add_blobs (in, &(Box) { 10, 10, 20, 20 }, 1);
  kept = gst_buffer_copy (in);
  gst_harness_push (h, gst_buffer_ref (in));
  out = gst_harness_pull (h);
  fail_unless (gst_buffer_peek_memory (out, 0) == memory);
  fail_unless (blob_at (out, 0).track_id != 0);
  fail_unless (blob_at (kept, 0).track_id == 0 && blob_at (in, 0).track_id == 0);
  gst_buffer_unref (in);
  gst_buffer_unref (kept);
  gst_buffer_unref (out);
  gst_harness_teardown (h);
}

GST_END_TEST;

GST_START_TEST (test_any_caps)
{
  static const gchar *const caps[] = {
    "video/x-raw,format=NV12,width=64,height=48,framerate=0/1",
    "video/x-raw(memory:CUDAMemory),format=NV12,width=64,height=48,framerate=30/1",
    "video/x-raw(memory:DMABuf),format=DMA_DRM,drm-format=NV12,width=64,height=48,framerate=30/1",
    "video/x-raw(memory:GLMemory),format=RGBA,width=16385,height=1,framerate=30/1",
  };

  for (guint i = 0; i < G_N_ELEMENTS (caps); i++) {
    GstHarness *h = gst_harness_new ("ccltrack");
    GstBuffer *buffer;

    gst_harness_set_src_caps_str (h, caps[i]);
    buffer = push_box (h, 0, 5);
    fail_unless (blob_at (buffer, 0).track_id != 0, "%s", caps[i]);
    gst_buffer_unref (buffer);
    gst_harness_teardown (h);
  }
}

GST_END_TEST;

GST_START_TEST (test_emit_nothing_extra)
{
  GstHarness *h = new_harness ("emit=0");

  for (guint frame = 0; frame < 5; frame++)
    fail_unless ((track_box (h, frame, 10 + frame) != 0) == (frame >= 2));
  gst_harness_teardown (h);
}

GST_END_TEST;

GST_START_TEST (test_emit_predicted_and_lost)
{
  GstHarness *h = new_harness ("emit=predicted+lost max-age=3");
  guint64 id = 0;

  for (guint frame = 0; frame < 10; frame++)
    id = track_box (h, frame, 10 + 4 * frame);
  for (guint frame = 10; frame < 15; frame++) {
    GstBuffer *buffer = push_boxes (h, frame * FRAME, NULL, 0);
    const gboolean only = gst_buffer_get_ccl_blob_meta (buffer)->flags & GST_CCL_BLOB_META_FLAG_PREDICTED_ONLY;

    fail_unless_equals_int (count_blobs (buffer), frame < 14);
    fail_unless (only == (frame < 14) * GST_CCL_BLOB_META_FLAG_PREDICTED_ONLY);
    if (frame < 14) {
      const GstCclBlob blob = blob_at (buffer, 0);

      fail_unless (blob.track_id == id && blob.label == 0 && blob.area == 0);
      fail_unless_equals_int (blob.flags, frame < 13 ? GST_CCL_BLOB_FLAG_PREDICTED : GST_CCL_BLOB_FLAG_LOST);
      fail_unless (ABS (blob.x - (10 + 4 * (gint) frame)) <= 3, "at %d in frame %u", blob.x, frame);
      fail_unless (blob.width == 20 && blob.height == 40);
    }
    gst_buffer_unref (buffer);
  }
  fail_unless_equals_int (get_stat (h, "ended"), 1);
  gst_harness_teardown (h);
}

GST_END_TEST;

/* Two walk into each other: one blob of nobody, two tracks inside it; then the old names come back. */
GST_START_TEST (test_merge)
{
  GstHarness *h = new_harness ("");
  guint64 left = 0, right = 0;
  guint n_merged = 0;

  for (guint frame = 0; frame < 50; frame++) {
    const gint a = 10 + 4 * frame, b = 210 - 4 * frame;
    const Box apart[] = { {a, 50, 20, 60}, {b, 56, 20, 60} };
    const Box both = { MIN (a, b), 50, MAX (a, b) + 20 - MIN (a, b), 66 };
    const gboolean merged = ABS (a - b) < 20;
    GstBuffer *buffer = push_boxes (h, frame * FRAME, merged ? &both : apart, merged ? 1 : 2);

    if (frame == 5) {
      left = blob_at (buffer, 0).track_id;
      right = blob_at (buffer, 1).track_id;
    }
    if (merged && count_blobs (buffer) == 3) {
      fail_unless (blob_at (buffer, 0).track_id == 0 && blob_at (buffer, 0).flags == GST_CCL_BLOB_FLAG_MERGED);
      fail_unless (blob_at (buffer, 1).track_id == left && blob_at (buffer, 2).track_id == right);
      fail_unless_equals_int (blob_at (buffer, 1).flags, GST_CCL_BLOB_FLAG_MERGED | GST_CCL_BLOB_FLAG_PREDICTED);
      n_merged++;
    }
    if (frame == 49)
      fail_unless (blob_at (buffer, 0).track_id == left && blob_at (buffer, 1).track_id == right, "ids changed");
    gst_buffer_unref (buffer);
  }
  fail_unless (n_merged >= 3, "%u frames", n_merged);
  gst_harness_teardown (h);
}

GST_END_TEST;

/* One splits into two: the new one names its parent. */
GST_START_TEST (test_lineage)
{
  GstHarness *h = new_harness ("");
  guint64 parent = 0, child = 0;

  for (guint frame = 0; frame < 30; frame++) {
    const gint apart = frame < 10 ? 0 : 3 * (frame - 9);
    const Box parts[] = { {100 - apart, 50, 30, 60}, {125 + apart, 50, 30, 60} };
    const Box whole = { 100, 50, 55, 60 };
    GstBuffer *buffer = push_boxes (h, frame * FRAME, apart < 3 ? &whole : parts, apart < 3 ? 1 : 2);

    if (frame == 5)
      parent = blob_at (buffer, 0).track_id;
    for (guint i = 0; i < count_blobs (buffer); i++) {
      const GstCclBlob blob = blob_at (buffer, i);

      if (blob.flags & GST_CCL_BLOB_FLAG_SPLIT) {
        fail_unless (child == 0 && blob.parent_id == parent);
        child = blob.track_id;
      }
    }
    gst_buffer_unref (buffer);
  }
  fail_unless (child != 0, "nobody split");
  gst_harness_teardown (h);
}

GST_END_TEST;

/* Blobs of a mask of half the size: tracked in pixels of the frame, predicted in pixels of the mask. */
GST_START_TEST (test_matrix)
{
  GstHarness *h = new_harness ("emit=predicted");
  GstBuffer *buffer;

  for (guint frame = 0; frame < 9; frame++) {
    GstCclBlobMeta *meta;

    buffer = new_frame (frame * FRAME);
    meta = add_blobs (buffer, &(Box) { 20 + 2 * frame, 30, 10, 20 }, frame < 8);
    meta->width = 640;
    meta->height = 720;
    meta->matrix[0] = 2;
    meta->matrix[4] = 3;
    buffer = gst_harness_push_and_pull (h, buffer);
    if (frame < 8)
      gst_buffer_unref (buffer);
  }
  fail_unless (ABS (blob_at (buffer, 0).x - 36) <= 1, "at %d", blob_at (buffer, 0).x);
  fail_unless (blob_at (buffer, 0).y == 30 && blob_at (buffer, 0).width == 10 && blob_at (buffer, 0).height == 20);
  gst_buffer_unref (buffer);
  gst_harness_teardown (h);
}

GST_END_TEST;

/* ---------------------------------------------------------------- others' metadata */

static GstBuffer *
frame_with_rois (guint frame, gboolean swapped)
{
  GstBuffer *buffer = new_frame (frame * FRAME);
  const gint first = swapped ? 200 : 10;

  gst_buffer_add_video_region_of_interest_meta (buffer, "person", first + 3 * frame, 20, 30, 60);
  gst_buffer_add_video_region_of_interest_meta (buffer, "car", 210 - first + 3 * frame, 20, 30, 60);
  return buffer;
}

static gint
object_id_of (GstBuffer * buffer, guint index)
{
  GstVideoRegionOfInterestMeta *roi = NULL;
  gpointer state = NULL;
  gint id = 0;

  for (guint i = 0; i <= index; i++)
    roi = (GstVideoRegionOfInterestMeta *) gst_buffer_iterate_meta_filtered (buffer, &state,
        GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE);
  fail_unless (roi != NULL);
  if (gst_video_region_of_interest_meta_get_param (roi, "object_id"))
    gst_structure_get_int (gst_video_region_of_interest_meta_get_param (roi, "object_id"), "id", &id);
  return id;
}

GST_START_TEST (test_rois)
{
  GstHarness *h = new_harness ("emit=tentative-boxes");
  gint person = 0, car = 0;

  for (guint frame = 0; frame < 6; frame++) {
    GstBuffer *buffer = gst_harness_push_and_pull (h, frame_with_rois (frame, FALSE));

    if (frame == 0) {
      person = object_id_of (buffer, 0);
      car = object_id_of (buffer, 1);
    }
    fail_unless (person > 0 && car > 0 && person != car);
    fail_unless_equals_int (object_id_of (buffer, 0), person);
    fail_unless_equals_int (object_id_of (buffer, 1), car);
    gst_buffer_unref (buffer);
  }
  gst_harness_teardown (h);
}

GST_END_TEST;

/* Where the person was there is a car now: another object, unless types do not count. */
GST_START_TEST (test_types)
{
  for (guint per_type = 0; per_type < 2; per_type++) {
    GstHarness *h = new_harness (per_type ? "min-hits=1 per-type=true" : "min-hits=1 per-type=false");
    GstBuffer *buffer;
    gint person;

    buffer = gst_harness_push_and_pull (h, frame_with_rois (0, FALSE));
    person = object_id_of (buffer, 0);
    gst_buffer_unref (buffer);
    buffer = gst_harness_push_and_pull (h, frame_with_rois (1, TRUE));
    fail_unless ((object_id_of (buffer, 1) == person) == !per_type);
    gst_buffer_unref (buffer);
    gst_harness_teardown (h);
  }
}

GST_END_TEST;

/* Our own blobs and their mirror: the blobs are followed, the regions get their ids by label. */
GST_START_TEST (test_roi_mirror)
{
  GstHarness *h = new_harness ("");
  const Box boxes[] = { {10, 10, 20, 20}, {100, 100, 30, 30}, {200, 50, 9, 9} };
  GstBuffer *buffer = new_frame (0);
  GstCclBlobMeta *meta = add_blobs (buffer, boxes, 3);
  GstVideoRegionOfInterestMeta *roi;
  guint64 id;

  gst_buffer_add_video_region_of_interest_meta (buffer, "face", 1, 1, 5, 5);
  gst_buffer_add_ccl_roi_mirror (buffer, meta, "blob", 2);
  buffer = gst_harness_push_and_pull (h, buffer);
  fail_unless_equals_int (object_id_of (buffer, 0), 0);
  fail_unless_equals_int (object_id_of (buffer, 1), (gint) blob_at (buffer, 0).track_id);
  fail_unless_equals_int (object_id_of (buffer, 2), (gint) blob_at (buffer, 1).track_id);
  roi = gst_buffer_get_video_region_of_interest_meta_id (buffer, 2);
  fail_unless (gst_structure_get_uint64 (gst_video_region_of_interest_meta_get_param (roi, GST_CCL_ROI_PARAM),
          "track-id", &id) && id == blob_at (buffer, 1).track_id);
  gst_buffer_unref (buffer);
  gst_harness_teardown (h);
}

GST_END_TEST;

#ifdef HAVE_GST_ANALYTICS
static guint64
tracking_id_of (GstAnalyticsRelationMeta * relations, guint object)
{
  GstAnalyticsTrackingMtd tracking;
  GstClockTime first, last;
  gboolean lost;
  guint64 id;

  fail_unless (gst_analytics_relation_meta_get_direct_related (relations, object, GST_ANALYTICS_REL_TYPE_RELATE_TO,
          gst_analytics_tracking_mtd_get_mtd_type (), NULL, &tracking));
  fail_unless (gst_analytics_tracking_mtd_get_info (&tracking, &id, &first, &last, &lost));
  fail_unless (first == 0 && !lost);
  return id;
}

GST_START_TEST (test_analytics)
{
  GstHarness *h = new_harness ("");
  guint64 id = 0;

  for (guint frame = 0; frame < 5; frame++) {
    GstBuffer *buffer = new_frame (frame * FRAME);
    GstAnalyticsRelationMeta *relations = gst_buffer_add_analytics_relation_meta (buffer);
    GstAnalyticsODMtd object;

    gst_analytics_relation_meta_add_od_mtd (relations, g_quark_from_static_string ("person"), 20 + 3 * frame, 20, 30,
        60, 0.9, &object);
    buffer = gst_harness_push_and_pull (h, buffer);
    relations = gst_buffer_get_analytics_relation_meta (buffer);
    id = frame == 0 ? tracking_id_of (relations, 0) : id;
    fail_unless (id > 0 && tracking_id_of (relations, 0) == id);
    gst_buffer_unref (buffer);
  }
  gst_harness_teardown (h);
}

GST_END_TEST;

GST_START_TEST (test_analytics_mirror)
{
  GstHarness *h = new_harness ("");
  const Box boxes[] = { {10, 10, 20, 20}, {100, 100, 30, 30} };
  GstBuffer *buffer = new_frame (0);
  GstCclBlobMeta *meta = add_blobs (buffer, boxes, 2);

  gst_buffer_add_ccl_analytics_mirror (buffer, meta, "blob", 2);
  buffer = gst_harness_push_and_pull (h, buffer);
  for (guint i = 0; i < 2; i++) {
    const GstCclBlob blob = blob_at (buffer, i);

    fail_unless (tracking_id_of (gst_buffer_get_analytics_relation_meta (buffer), blob.mtd_id) == blob.track_id);
  }
  gst_buffer_unref (buffer);
  gst_harness_teardown (h);
}

GST_END_TEST;
#endif

/* Nothing to follow: nothing happens. */
GST_START_TEST (test_no_metadata)
{
  static const gchar *const inputs[] = { "auto", "ccl", "roi", "analytics" };

  for (guint i = 0; i < G_N_ELEMENTS (inputs); i++) {
    GstHarness *h = new_harness ("");
    GstBuffer *buffer;

    set (h, "input", inputs[i]);
    buffer = gst_harness_push_and_pull (h, new_frame (0));
    fail_unless (gst_buffer_get_ccl_blob_meta (buffer) == NULL);
    gst_buffer_unref (buffer);
    gst_harness_teardown (h);
  }
}

GST_END_TEST;

/* ---------------------------------------------------------------- time and events */

/* Frames were dropped: the interval says how far things have gone. */
GST_START_TEST (test_dropped_frames)
{
  GstHarness *h = new_harness ("");
  guint64 id = 0;

  for (guint frame = 0; frame < 24; frame = frame < 8 ? frame + 1 : frame + 5)
    id = track_box (h, frame, 10 + 10 * frame);
  fail_unless (id == track_box (h, 28, 10 + 280));
  fail_unless_equals_int (get_stat (h, "started"), 1);
  gst_harness_teardown (h);
}

GST_END_TEST;

GST_START_TEST (test_gap_ends_tracks)
{
  GstHarness *h = new_harness ("max-age=5");
  guint64 id = 0;

  for (guint frame = 0; frame < 5; frame++)
    id = track_box (h, frame, 50);
  fail_unless (track_box (h, 10, 50) == id, "unseen for 5 frames");
  fail_unless (track_box (h, 17, 50) > id, "unseen for 6 frames");
  gst_harness_teardown (h);
}

GST_END_TEST;

/* No frame rate in the caps: the intervals themselves say what is usual. */
GST_START_TEST (test_variable_rate)
{
  GstHarness *h = new_harness ("max-age=5");
  guint64 id = 0;

  gst_harness_set_src_caps_str (h, "video/x-raw,format=GRAY8,width=320,height=240,framerate=0/1");
  for (guint frame = 0; frame < 10; frame++)
    id = track_box (h, frame, 10 + 3 * frame);
  fail_unless (track_box (h, 13, 10 + 3 * 13) == id);
  fail_unless (track_box (h, 113, 10 + 3 * 13) > id);
  gst_harness_teardown (h);
}

GST_END_TEST;

/* Half of the frames have no timestamp: that is no reason to count time twice. */
GST_START_TEST (test_missing_timestamps)
{
  GstHarness *h = new_harness ("max-age=20");
  guint64 id = 0;

  for (guint frame = 0; frame < 60; frame++) {
    const gboolean hidden = frame > 20 && frame <= 40;
    GstBuffer *buffer = push_boxes (h, frame % 2 ? GST_CLOCK_TIME_NONE : frame * FRAME,
        &(Box) { 10 + 3 * (gint) frame, 50, 20, 40 }, !hidden);

    if (!hidden)
      id = id ? id : blob_at (buffer, 0).track_id;
    fail_unless (hidden || blob_at (buffer, 0).track_id == id, "frame %u", frame);
    gst_buffer_unref (buffer);
  }
  gst_harness_teardown (h);
}

GST_END_TEST;

GST_START_TEST (test_odd_timestamps)
{
  GstHarness *h = new_harness ("");
  static const GstClockTime times[] = {
    5 * GST_SECOND, 5 * GST_SECOND, GST_CLOCK_TIME_NONE, 0, GST_MSECOND, GST_CLOCK_TIME_NONE, GST_SECOND
  };
  guint64 id = 0;

  for (guint i = 0; i < G_N_ELEMENTS (times); i++) {
    GstBuffer *buffer = push_boxes (h, times[i], &(Box) { 50 + (gint) i, 50, 20, 40 }, 1);

    id = i == 0 ? blob_at (buffer, 0).track_id : id;
    fail_unless (blob_at (buffer, 0).track_id == id, "frame %u", i);
    gst_buffer_unref (buffer);
  }
  fail_unless_equals_int (get_stat (h, "backwards"), 1);
  gst_harness_teardown (h);
}

GST_END_TEST;

/* Frames that nobody analysed end no track; where it should be can be asked for. */
GST_START_TEST (test_skipped_frames)
{
  static const guint flags[] = { GST_CCL_BLOB_META_FLAG_SKIPPED, GST_CCL_BLOB_META_FLAG_GLOBAL_CHANGE };

  for (guint i = 0; i < G_N_ELEMENTS (flags); i++) {
    GstHarness *h = new_harness ("max-age=2 emit=predicted");
    guint64 id = 0;

    for (guint frame = 0; frame < 5; frame++)
      id = track_box (h, frame, 50 + 2 * frame);
    for (guint frame = 5; frame < 15; frame++) {
      GstBuffer *buffer = new_frame (frame * FRAME);

      add_blobs (buffer, NULL, 0)->flags |= flags[i];
      buffer = gst_harness_push_and_pull (h, buffer);
      fail_unless (blob_at (buffer, 0).track_id == id && ABS (blob_at (buffer, 0).x - (50 + 2 * (gint) frame)) < 4);
      fail_unless (gst_buffer_get_ccl_blob_meta (buffer)->flags & flags[i]);
      gst_buffer_unref (buffer);
    }
    fail_unless (track_box (h, 15, 80) == id);
    fail_unless_equals_int (get_stat (h, "skipped"), 10);
    gst_harness_teardown (h);
  }
}

GST_END_TEST;

static void
push_segment (GstHarness * h)
{
  GstSegment segment;

  gst_segment_init (&segment, GST_FORMAT_TIME);
  gst_harness_push_event (h, gst_event_new_segment (&segment));
}

static void
flush (GstHarness * h)
{
  gst_harness_push_event (h, gst_event_new_flush_start ());
  gst_harness_push_event (h, gst_event_new_flush_stop (TRUE));
  push_segment (h);
}

static void
start_stream (GstHarness * h)
{
  gst_harness_push_event (h, gst_event_new_stream_start ("another"));
  gst_harness_set_src_caps_str (h, SMALL);
  push_segment (h);
}

static void
change_rate (GstHarness * h)
{
  gst_harness_set_src_caps_str (h, "video/x-raw,format=GRAY8,width=320,height=240,framerate=20/1");
}

static void
change_size (GstHarness * h)
{
  gst_harness_set_src_caps_str (h, CAPS ("width=640,height=480"));
}

GST_START_TEST (test_reset)
{
  static const struct
  {
    const gchar *id_reset;
    void (*event) (GstHarness * h);
    gboolean resets;
  } cases[] = {
    {"stream-start+flush", flush, TRUE}, {"stream-start", flush, FALSE}, {"flush", start_stream, FALSE},
    {"stream-start", start_stream, TRUE}, {"caps", change_rate, TRUE}, {"0", change_rate, FALSE},
    {"0", change_size, TRUE},
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    GstHarness *h = new_harness ("");
    guint64 id = 0, again;

    set (h, "id-reset", cases[i].id_reset);
    for (guint frame = 0; frame < 5; frame++)
      id = track_box (h, frame, 50);
    cases[i].event (h);
    again = track_box (h, 5, 50);
    fail_unless ((again != id) == cases[i].resets, "case %u", i);
    fail_unless (again >= id, "an id is used again");
    fail_unless_equals_int (get_stat (h, "resets"), cases[i].resets);
    gst_harness_teardown (h);
  }
}

GST_END_TEST;

GST_START_TEST (test_discont)
{
  for (guint reset = 0; reset < 2; reset++) {
    GstHarness *h = new_harness (reset ? "id-reset=discont" : "");
    const guint64 id = track_box (h, 0, 50);
    GstBuffer *buffer = new_frame (FRAME);

    add_blobs (buffer, &(Box) { 50, 50, 20, 40 }, 1);
    GST_BUFFER_FLAG_SET (buffer, GST_BUFFER_FLAG_DISCONT);
    buffer = gst_harness_push_and_pull (h, buffer);
    fail_unless ((blob_at (buffer, 0).track_id != id) == reset);
    gst_buffer_unref (buffer);
    gst_harness_teardown (h);
  }
}

GST_END_TEST;

/* Two trackers of one process: no id twice, and one that starts again does not repeat itself. */
GST_START_TEST (test_ids_are_unique)
{
  GstHarness *a = new_harness (""), *b = new_harness ("");
  guint64 last = 0;

  for (guint frame = 0; frame < 20; frame += 4) {
    const guint64 ids[] = { track_box (a, frame, 10 * frame), track_box (b, frame, 10 * frame) };

    fail_unless (ids[0] > last && ids[1] > ids[0]);
    last = ids[1];
    gst_element_set_state (a->element, GST_STATE_READY);
    gst_element_set_state (a->element, GST_STATE_PLAYING);
    start_stream (a);
    start_stream (b);
  }
  gst_harness_teardown (a);
  gst_harness_teardown (b);
}

GST_END_TEST;

GST_START_TEST (test_settings_while_playing)
{
  GstHarness *h = new_harness ("max-tracks=1");
  const Box boxes[] = { {10, 10, 20, 20}, {100, 100, 20, 20} };
  GstBuffer *buffer = push_boxes (h, 0, boxes, 2);

  fail_unless (blob_at (buffer, 0).track_id != 0 && blob_at (buffer, 1).track_id == 0);
  gst_buffer_unref (buffer);
  set (h, "max-tracks", "2");
  buffer = push_boxes (h, FRAME, boxes, 2);
  fail_unless (blob_at (buffer, 0).track_id != 0 && blob_at (buffer, 1).track_id != 0);
  fail_unless (blob_at (buffer, 1).flags & GST_CCL_BLOB_FLAG_TENTATIVE);
  gst_buffer_unref (buffer);
  set (h, "min-hits", "1");
  set (h, "method", "iou");
  buffer = push_boxes (h, 2 * FRAME, boxes, 2);
  fail_unless (blob_at (buffer, 1).flags & GST_CCL_BLOB_FLAG_CONFIRMED);
  gst_buffer_unref (buffer);
  gst_harness_teardown (h);
}

GST_END_TEST;

/* ---------------------------------------------------------------- history */

/* The trail of the only blob: values in all, and the last place. */
static guint
get_trail (GstBuffer * buffer, gdouble oldest[2], gdouble newest[2])
{
  guint n;
  gdouble *const trail = gst_ccl_blob_meta_get_trail (gst_buffer_get_ccl_blob_meta (buffer), 0, &n);

  fail_unless ((trail != NULL) == (n > 0) && n % 2 == 0);
  if (n > 0) {
    memcpy (oldest, trail, 2 * sizeof (gdouble));
    memcpy (newest, trail + n - 2, 2 * sizeof (gdouble));
  }
  g_free (trail);
  return n / 2;
}

/* It grows to as many places as asked for, and no more; the last one is where the blob is, the one before that where it
 * was; and what is known stays when the number changes. */
GST_START_TEST (test_history)
{
  GstHarness *h = new_harness ("history=5");
  gdouble oldest[2], newest[2], before[20][2];
  static const guint lengths[20] = { 1, 2, 3, 4, 5, 5, 5, 5, 5, 5, 6, 7, 8, 8, 8, 2, 2, 2, 0, 0 };

  for (guint frame = 0; frame < 20; frame++) {
    GstBuffer *buffer;
    guint n;

    if (frame == 10)
      set (h, "history", "8");
    if (frame == 15)
      set (h, "history", "2");
    if (frame == 18)
      set (h, "history", "0");
    buffer = push_box (h, frame, 20 + 4 * frame);
    n = get_trail (buffer, oldest, newest);
    fail_unless_equals_int (n, lengths[frame]);
    if (n > 0) {
      /* The middle of the box, filtered. */
      fail_unless (ABS (newest[0] - (30 + 4.0 * frame)) < 3 && ABS (newest[1] - 70) < 1, "at %g, %g", newest[0],
          newest[1]);
      memcpy (before[frame], newest, sizeof newest);
      fail_unless (memcmp (oldest, before[frame + 1 - n], sizeof oldest) == 0);
    }
    gst_buffer_unref (buffer);
  }
  gst_harness_teardown (h);
}

GST_END_TEST;

/* In the frame, whatever the size of the mask; with the contours of the blobs, in their order; of predictions too. */
GST_START_TEST (test_history_and_contours)
{
  static const GstCclPoint contour[] = { {1, 2}, {3, 4}, {5, 6} };
  GstHarness *h = new_harness ("min-hits=1 emit=predicted max-age=9");
  GBytes *points = g_bytes_new_static (contour, sizeof contour);
  gdouble oldest[2], newest[2];

  for (guint frame = 0; frame < 8; frame++) {
    const gboolean seen = frame < 5;
    const Box box = { 20 + 2 * frame, 50, 20, 40 };
    GstBuffer *buffer = new_frame (frame * FRAME);
    GstCclBlobMeta *meta = add_blobs (buffer, &box, seen);
    GstCclBlobList *list;
    GstCclBlob *blobs;
    const GstCclPoint *kept;
    guint n;

    /* A mask of half the width and a quarter of the height. */
    meta->matrix[0] = 2;
    meta->matrix[4] = 4;
    list = gst_ccl_blob_list_copy (meta->list, &blobs);
    gst_ccl_blob_list_set_points (list, points);
    if (seen)
      blobs[0].n_contour = 3;
    gst_ccl_blob_meta_set_list (meta, list);
    gst_ccl_blob_list_unref (list);
    buffer = gst_harness_push_and_pull (h, buffer);

    fail_unless_equals_int (count_blobs (buffer), 1);
    fail_unless_equals_int (get_trail (buffer, oldest, newest), frame + 1);
    fail_unless (ABS (oldest[0] - 60) < 1e-3 && ABS (oldest[1] - 280) < 1e-3, "%g, %g", oldest[0], oldest[1]);
    fail_unless (ABS (newest[0] - (60 + 4.0 * frame)) < 4 && ABS (newest[1] - 280) < 1, "%g, %g", newest[0], newest[1]);
    kept = gst_ccl_blob_list_get_contour (gst_buffer_get_ccl_blob_meta (buffer)->list, 0, &n);
    fail_unless_equals_int (n, seen ? 3 : 0);
    fail_unless (!seen || memcmp (kept, contour, sizeof contour) == 0);
    gst_buffer_unref (buffer);
  }
  g_bytes_unref (points);
  gst_harness_teardown (h);
}

GST_END_TEST;

/* Two trackers in a row: the second takes the first one's additions away and adds its own. */
GST_START_TEST (test_in_series)
{
  GstHarness *h = gst_harness_new_parse ("ccltrack emit=predicted ! ccltrack name=second emit=predicted");

  gst_harness_set_src_caps_str (h, SMALL);
  for (guint frame = 0; frame < 8; frame++) {
    GstBuffer *buffer = push_boxes (h, frame * FRAME, &(Box) { 50, 50, 20, 40 }, frame < 5);

    fail_unless_equals_int (count_blobs (buffer), 1);
    gst_buffer_unref (buffer);
  }
  gst_harness_teardown (h);
}

GST_END_TEST;

static Suite *
ccltrack_suite (void)
{
  Suite *suite = suite_create ("ccltrack");
  TCase *tests = tcase_create ("general");

  suite_add_tcase (suite, tests);
  tcase_add_test (tests, test_states_and_ages);
  tcase_add_test (tests, test_only_metadata);
  tcase_add_test (tests, test_any_caps);
  tcase_add_test (tests, test_emit_nothing_extra);
  tcase_add_test (tests, test_emit_predicted_and_lost);
  tcase_add_test (tests, test_merge);
  tcase_add_test (tests, test_lineage);
  tcase_add_test (tests, test_matrix);
  tcase_add_test (tests, test_rois);
  tcase_add_test (tests, test_types);
  tcase_add_test (tests, test_roi_mirror);
#ifdef HAVE_GST_ANALYTICS
  tcase_add_test (tests, test_analytics);
  tcase_add_test (tests, test_analytics_mirror);
#endif
  tcase_add_test (tests, test_no_metadata);
  tcase_add_test (tests, test_dropped_frames);
  tcase_add_test (tests, test_gap_ends_tracks);
  tcase_add_test (tests, test_variable_rate);
  tcase_add_test (tests, test_missing_timestamps);
  tcase_add_test (tests, test_odd_timestamps);
  tcase_add_test (tests, test_skipped_frames);
  tcase_add_test (tests, test_reset);
  tcase_add_test (tests, test_discont);
  tcase_add_test (tests, test_ids_are_unique);
  tcase_add_test (tests, test_settings_while_playing);
  tcase_add_test (tests, test_history);
  tcase_add_test (tests, test_history_and_contours);
  tcase_add_test (tests, test_in_series);
  return suite;
}

GST_CHECK_MAIN (ccltrack);
