/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* The parts of ccltrack without a pipeline: rings of places, seen tracks, readers of blobs and regions, writers of
 * identities. */

#include <gst/check/gstcheck.h>

#include "base/gstccltrailring.h"
#include "track/gstccltrackinput.h"
#include "track/gstcclseentracks.h"
#include "track/gstccltrackoutput.h"

#define WIDTH 320
#define HEIGHT 240

/* ---------------------------------------------------------------- rings and seen tracks */

/* The ring has the places `oldest`, `oldest` + 1, ... */
static void
check_ring (const GstCclTrailRing * ring, guint n, guint oldest)
{
  GstCclVector points = {.element_size = sizeof (GstCclPoint) };

  fail_unless (gst_ccl_trail_ring_append_to (ring, &points));
  fail_unless_equals_int (ring->n, n);
  fail_unless_equals_int (points.len, n);
  for (guint i = 0; i < n; i++) {
    fail_unless_equals_float (gst_ccl_trail_ring_get (ring, i).x, oldest + i);
    fail_unless_equals_float (gst_ccl_vector_at (&points, GstCclPoint, i)->x, oldest + i);
  }
  gst_ccl_vector_clear (&points);
}

GST_START_TEST (test_ring)
{
  for (guint capacity = 0; capacity < 6; capacity++) {
    GstCclTrailRing *const ring = gst_ccl_trail_ring_new (capacity);

    check_ring (ring, 0, 0);
    for (guint i = 0; i < 14; i++) {
      const guint n = MIN (i + 1, capacity);

      gst_ccl_trail_ring_add (ring, (GstCclPoint) { i, 0});
      check_ring (ring, n, i + 1 - n);
      for (guint other = 0; other < 8; other++) {
        GstCclTrailRing *const resized = gst_ccl_trail_ring_resize (ring, other);
        const guint n_kept = MIN (n, other);

        check_ring (resized, n_kept, i + 1 - n_kept);
        gst_ccl_trail_ring_add (resized, (GstCclPoint) { i + 1, 0});
        check_ring (resized, MIN (n_kept + 1, other), i + 2 - MIN (n_kept + 1, other));
        g_free (resized);
      }
    }
    g_free (ring);
  }
}

GST_END_TEST;

GST_START_TEST (test_seen_tracks)
{
  GstCclSeenTracks *const seen_tracks = gst_ccl_seen_tracks_new ();
  CclTrack tracks[] = { {.id = 1,.state = CCL_TRACK_CONFIRMED,.x1 = 10,.y1 = 20}, {.id = 2,.state = CCL_TRACK_LOST} };

  fail_unless (gst_ccl_seen_tracks_find (seen_tracks, 1) == NULL);
  for (guint i = 0; i < 5; i++)
    gst_ccl_trail_ring_add (gst_ccl_seen_tracks_add (seen_tracks, &tracks[0], 10 + i, 3)->trail, (GstCclPoint) {
        i, 0}
  );
  gst_ccl_seen_tracks_add (seen_tracks, &tracks[1], 20, 3);
  fail_unless_equals_uint64 (gst_ccl_seen_tracks_find (seen_tracks, 1)->first_seen, 10);
  check_ring (gst_ccl_seen_tracks_find (seen_tracks, 1)->trail, 3, 2);
  gst_ccl_seen_tracks_add (seen_tracks, &tracks[0], 30, 2);
  fail_unless_equals_uint64 (gst_ccl_seen_tracks_find (seen_tracks, 1)->first_seen, 10);
  check_ring (gst_ccl_seen_tracks_find (seen_tracks, 1)->trail, 2, 3);
  tracks[0].x = 9, tracks[0].y = -19;
  fail_if (gst_ccl_seen_tracks_add (seen_tracks, &tracks[0], 40, 2)->has_moved);
  tracks[0].y = -20;
  fail_unless (gst_ccl_seen_tracks_add (seen_tracks, &tracks[0], 50, 2)->has_moved);
  tracks[0].y = 0;
  fail_unless (gst_ccl_seen_tracks_add (seen_tracks, &tracks[0], 60, 2)->has_moved);
  gst_ccl_seen_tracks_remove_lost (seen_tracks, tracks, G_N_ELEMENTS (tracks));
  fail_unless (gst_ccl_seen_tracks_find (seen_tracks, 1) && !gst_ccl_seen_tracks_find (seen_tracks, 2));
  gst_ccl_seen_tracks_clear (seen_tracks);
  fail_unless (gst_ccl_seen_tracks_find (seen_tracks, 1) == NULL);
  gst_ccl_seen_tracks_free (seen_tracks);
}

GST_END_TEST;

/* ---------------------------------------------------------------- input */

static GstCclBlob
new_blob (guint label, gint x, gint y)
{
  const guint64 area = label > 0 ? 100 : 0;

  return (GstCclBlob) {
    .label = label,.x = x,.y = y,.width = 10,.height = 10,.first_x = x,.area = area,.m10 = area * x + (area ? 450 : 0),
    .m01 = area * y + (area ? 450 : 0),.mtd_id = GST_CCL_MTD_ID_NONE,
  };
}

static GstCclBlobMeta *
add_blobs (GstBuffer * buffer, const GstCclBlob * blobs, guint n)
{
  GstCclBlobList *const list = gst_ccl_blob_list_new (blobs, n);
  GstCclBlobMeta *const meta = gst_buffer_add_ccl_blob_meta (buffer, list, WIDTH, HEIGHT);

  gst_ccl_blob_list_unref (list);
  return meta;
}

GST_START_TEST (test_choice_of_input)
{
  GstBuffer *const empty = gst_buffer_new (), *const rois = gst_buffer_new (), *const both = gst_buffer_new ();
  const GstCclBlob blob = new_blob (1, 0, 0);

  gst_buffer_add_video_region_of_interest_meta (rois, "car", 1, 2, 3, 4);
  gst_buffer_add_video_region_of_interest_meta (both, "car", 1, 2, 3, 4);
  add_blobs (both, &blob, 1);
  fail_unless_equals_int (gst_ccl_track_input_choose (GST_CCL_TRACK_INPUT_AUTO, both), GST_CCL_TRACK_INPUT_CCL);
  fail_unless_equals_int (gst_ccl_track_input_choose (GST_CCL_TRACK_INPUT_AUTO, rois), GST_CCL_TRACK_INPUT_ROI);
  fail_unless_equals_int (gst_ccl_track_input_choose (GST_CCL_TRACK_INPUT_AUTO, empty),
      GST_CCL_TRACK_INPUT_ANALYTICS);
  fail_unless_equals_int (gst_ccl_track_input_choose (GST_CCL_TRACK_INPUT_ROI, both), GST_CCL_TRACK_INPUT_ROI);
  gst_buffer_unref (empty);
  gst_buffer_unref (rois);
  gst_buffer_unref (both);
}

GST_END_TEST;

/* The plane of pixel squares: a blob of 10 x 10 pixels at (20, 30) has its centre at (25, 35). */
GST_START_TEST (test_read)
{
  GstCclVector detections = {.element_size = sizeof (CclDetection) };
  const GstCclBlob blobs[] = { new_blob (1, 20, 30), new_blob (0, 50, 50) };
  GstBuffer *const buffer = gst_buffer_new ();
  const CclDetection *d;

  add_blobs (buffer, blobs, G_N_ELEMENTS (blobs));
  gst_buffer_add_video_region_of_interest_meta (buffer, "car", 4, 6, 8, 10);
  fail_unless (gst_ccl_track_input_read (GST_CCL_TRACK_INPUT_CCL, buffer, &detections));
  fail_unless_equals_int (detections.len, 2);
  d = detections.data;
  fail_unless (d->x == 25 && d->y == 35 && d->x0 == 20 && d->y0 == 30 && d->x1 == 30 && d->y1 == 40);
  fail_unless (gst_ccl_track_is_added (&blobs[1]) && !gst_ccl_track_is_added (&blobs[0]));
  fail_unless (d[1].x1 == d[1].x0, "a blob that a tracker added is empty");

  fail_unless (gst_ccl_track_input_read (GST_CCL_TRACK_INPUT_ROI, buffer, &detections));
  fail_unless_equals_int (detections.len, 1);
  d = detections.data;
  fail_unless (d->x == 8 && d->y == 11 && d->x0 == 4 && d->y0 == 6 && d->x1 == 12 && d->y1 == 16);
  fail_unless_equals_int (d->type, g_quark_from_string ("car"));
  fail_unless (gst_ccl_track_input_read (GST_CCL_TRACK_INPUT_ANALYTICS, buffer, &detections));
  fail_unless_equals_int (detections.len, 0);
  gst_buffer_unref (buffer);
  gst_ccl_vector_clear (&detections);
}

GST_END_TEST;

/* ---------------------------------------------------------------- output */

typedef struct
{
  GstCclSeenTracks *seen_tracks;
  GstCclVector blobs, points;
  GstBuffer *buffer;
  GstCclBlobMeta *meta;
} Output;

/* A frame with two blobs. */
static Output
new_output (void)
{
  const GstCclBlob blobs[] = { new_blob (1, 20, 30), new_blob (2, 120, 30) };
  Output output = {
    .seen_tracks = gst_ccl_seen_tracks_new (),.blobs = {.element_size = sizeof (GstCclBlob)},.points = {.element_size =
          sizeof (GstCclPoint)},
    .buffer = gst_buffer_new ()
  };

  output.meta = add_blobs (output.buffer, blobs, G_N_ELEMENTS (blobs));
  return output;
}

static void
free_output (Output * output)
{
  gst_ccl_seen_tracks_free (output->seen_tracks);
  gst_ccl_vector_clear (&output->blobs);
  gst_ccl_vector_clear (&output->points);
  gst_buffer_unref (output->buffer);
}

static void
write_tracks (Output * output, const CclTrack * tracks, guint n, const guint64 * ids, guint emit)
{
  const GstCclTrackResults results = {
    .tracks = tracks,.n_tracks = n,.ids = ids,.n_ids = 2,.seen_tracks = output->seen_tracks,.emit = emit,.min_hits = 3,
    .blobs = &output->blobs,.points = &output->points,
  };

  fail_unless (gst_ccl_track_results_write (&results, output->buffer, GST_CCL_TRACK_INPUT_CCL));
}

/* Blobs without a class come between those with one. */
GST_START_TEST (test_read_classes)
{
  GstBuffer *const buffer = gst_buffer_new ();
  const GstCclBlob blobs[] = { new_blob (1, 0, 0), new_blob (2, 20, 0), new_blob (3, 40, 0) };
  const GstCclClassId class_ids[] = { {.label = 1,.class_id = 5}, {.label = 3,.class_id = 65535} };
  GBytes *const bytes = g_bytes_new (class_ids, sizeof class_ids);
  GstCclBlobList *const list = gst_ccl_blob_list_new (blobs, G_N_ELEMENTS (blobs));
  GstCclVector detections = {.element_size = sizeof (CclDetection) };

  gst_ccl_blob_list_set_class_ids (list, bytes);
  gst_buffer_add_ccl_blob_meta (buffer, list, WIDTH, HEIGHT);
  fail_unless (gst_ccl_track_input_read (GST_CCL_TRACK_INPUT_CCL, buffer, &detections));
  fail_unless_equals_int (gst_ccl_vector_at (&detections, CclDetection, 0)->class_id, 5);
  fail_unless_equals_int (gst_ccl_vector_at (&detections, CclDetection, 1)->class_id, 0);
  fail_unless_equals_int (gst_ccl_vector_at (&detections, CclDetection, 2)->class_id, 65535);
  gst_ccl_vector_clear (&detections);
  gst_ccl_blob_list_unref (list);
  g_bytes_unref (bytes);
  gst_buffer_unref (buffer);
}

GST_END_TEST;

GST_START_TEST (test_write_identities)
{
  const CclTrack tracks[] = {
    {.id = 7,.state = CCL_TRACK_CONFIRMED,.age = 5,.parent_id = 2,.flags = CCL_TRACK_SPLIT},
    {.id = 9,.state = CCL_TRACK_TENTATIVE,.age = 1},
  };
  const guint64 ids[] = { 9, 7 };
  Output output = new_output ();
  const GstCclBlob *blobs;

  gst_ccl_trail_ring_add (gst_ccl_seen_tracks_add (output.seen_tracks, &(CclTrack) {
          .id = 7}, 0, 4)->trail, (GstCclPoint) {
      100, 35});
  gst_ccl_trail_ring_add (gst_ccl_seen_tracks_add (output.seen_tracks, &(CclTrack) {
          .id = 7}, 0, 4)->trail, (GstCclPoint) {
      125, 35});
  write_tracks (&output, tracks, 2, ids, 0);
  blobs = gst_ccl_blob_list_get (output.meta->list, 0);
  fail_unless_equals_int (gst_ccl_blob_meta_get_length (output.meta), 2);
  fail_unless (blobs[0].track_id == 0 && blobs[0].flags == 0, "tentative tracks are not asked for");
  fail_unless (blobs[1].track_id == 7 && blobs[1].age == 5 && blobs[1].parent_id == 2);
  fail_unless_equals_int (blobs[1].flags, GST_CCL_BLOB_FLAG_CONFIRMED | GST_CCL_BLOB_FLAG_SPLIT);
  fail_unless_equals_int (blobs[1].n_trail, 2);

  write_tracks (&output, tracks, 2, ids, GST_CCL_TRACK_EMIT_TENTATIVE);
  blobs = gst_ccl_blob_list_get (output.meta->list, 0);
  fail_unless (blobs[0].track_id == 9 && blobs[0].flags == GST_CCL_BLOB_FLAG_TENTATIVE);
  free_output (&output);
}

GST_END_TEST;

/* Tracks without a blob are added where emit asks for them; those of an earlier tracker are replaced. */
GST_START_TEST (test_write_added_tracks)
{
  const CclTrack tracks[] = {
    {.id = 7,.state = CCL_TRACK_PREDICTED,.hits = 9,.x0 = 200.4,.y0 = 100,.x1 = 220.4,.y1 = 130},
    {.id = 8,.state = CCL_TRACK_LOST,.hits = 2,.x1 = 9,.y1 = 9},
    {.id = 9,.state = CCL_TRACK_LOST,.hits = 3,.x1 = 9,.y1 = 9},
  };
  const guint64 ids[] = { 0, 0 };
  const guint emits[] = { 0, GST_CCL_TRACK_EMIT_PREDICTED, GST_CCL_TRACK_EMIT_PREDICTED | GST_CCL_TRACK_EMIT_LOST };
  Output output = new_output ();
  const GstCclBlob *blobs;

  for (guint round = 0; round < 2; round++)
    for (guint i = 0; i < G_N_ELEMENTS (emits); i++) {
      write_tracks (&output, tracks, G_N_ELEMENTS (tracks), ids, emits[i]);
      fail_unless_equals_int (gst_ccl_blob_meta_get_length (output.meta), 2 + i);
    }
  blobs = gst_ccl_blob_list_get (output.meta->list, 0);
  fail_unless (gst_ccl_track_is_added (&blobs[2]) && blobs[2].track_id == 7);
  fail_unless (blobs[2].x == 200 && blobs[2].y == 100 && blobs[2].width == 20 && blobs[2].height == 30);
  fail_unless_equals_int (blobs[2].flags, GST_CCL_BLOB_FLAG_PREDICTED);
  fail_unless (blobs[3].track_id == 9, "track 8 was never confirmed");
  free_output (&output);
}

GST_END_TEST;

/* Where the tracks of a common blob are listed, the blob has no id. Else it has that of its first track. */
GST_START_TEST (test_write_merged)
{
  const CclTrack tracks[] = {
    {.id = 7,.state = CCL_TRACK_CONFIRMED,.flags = CCL_TRACK_MERGED,.x0 = 20,.y0 = 30,.x1 = 30,.y1 = 40},
    {.id = 8,.state = CCL_TRACK_PREDICTED,.flags = CCL_TRACK_MERGED,.x0 = 20,.y0 = 30,.x1 = 30,.y1 = 40},
  };
  const guint64 ids[] = { 7, 0 };
  Output output = new_output ();
  const GstCclBlob *blobs;

  write_tracks (&output, tracks, 2, ids, GST_CCL_TRACK_EMIT_MERGED);
  blobs = gst_ccl_blob_list_get (output.meta->list, 0);
  fail_unless_equals_int (gst_ccl_blob_meta_get_length (output.meta), 4);
  fail_unless (blobs[0].track_id == 0 && blobs[0].flags == GST_CCL_BLOB_FLAG_MERGED);
  fail_unless (blobs[2].track_id == 7 && blobs[3].track_id == 8);
  write_tracks (&output, tracks, 2, ids, 0);
  blobs = gst_ccl_blob_list_get (output.meta->list, 0);
  fail_unless_equals_int (gst_ccl_blob_meta_get_length (output.meta), 2);
  fail_unless_equals_uint64 (blobs[0].track_id, 7);
  free_output (&output);
}

GST_END_TEST;

static gint
object_id_of (GstVideoRegionOfInterestMeta * roi)
{
  const GstStructure *const object_id = gst_video_region_of_interest_meta_get_param (roi, "object_id");
  gint id = -1;

  return object_id && gst_structure_get_int (object_id, "id", &id) ? id : -1;
}

/* An id that was there is replaced; a region without a track stays as it is. */
GST_START_TEST (test_write_regions)
{
  const CclTrack tracks[] = { {.id = 7,.state = CCL_TRACK_CONFIRMED}, {.id = 1 + (1ull << 33),.state = CCL_TRACK_CONFIRMED} };
  const guint64 ids[] = { 1 + (1ull << 33), 0, 7 };
  GstBuffer *const buffer = gst_buffer_new ();
  GstCclSeenTracks *const seen_tracks = gst_ccl_seen_tracks_new ();
  const GstCclTrackResults results = {.tracks = tracks,.n_tracks = 2,.ids = ids,.n_ids = 3,.seen_tracks = seen_tracks };
  GstVideoRegionOfInterestMeta *rois[3];

  for (guint i = 0; i < G_N_ELEMENTS (rois); i++)
    rois[i] = gst_buffer_add_video_region_of_interest_meta (buffer, "car", 10 * i, 0, 5, 5);
  gst_video_region_of_interest_meta_add_param (rois[2], gst_structure_new ("object_id", "id", G_TYPE_INT, 99, NULL));
  gst_ccl_track_results_write (&results, buffer, GST_CCL_TRACK_INPUT_ROI);
  fail_unless_equals_int (object_id_of (rois[0]), 1);
  fail_unless_equals_int (object_id_of (rois[1]), -1);
  fail_unless_equals_int (object_id_of (rois[2]), 7);
  gst_ccl_seen_tracks_free (seen_tracks);
  gst_buffer_unref (buffer);
}

GST_END_TEST;

static Suite *
ccltrack_parts_suite (void)
{
  Suite *const suite = suite_create ("ccltrack-parts");
  TCase *const parts = tcase_create ("parts");

  suite_add_tcase (suite, parts);
  tcase_add_test (parts, test_ring);
  tcase_add_test (parts, test_seen_tracks);
  tcase_add_test (parts, test_choice_of_input);
  tcase_add_test (parts, test_read);
  tcase_add_test (parts, test_read_classes);
  tcase_add_test (parts, test_write_identities);
  tcase_add_test (parts, test_write_added_tracks);
  tcase_add_test (parts, test_write_merged);
  tcase_add_test (parts, test_write_regions);
  return suite;
}

GST_CHECK_MAIN (ccltrack_parts);
