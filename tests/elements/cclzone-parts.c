/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* The parts of cclzone without a pipeline: the JSON of zones, and where the objects of a frame are. The rules have their own
 * test, tests/checkzone. */

#include <gst/check/gstcheck.h>
#include <math.h>

#include "zone/gstccltrackplaces.h"
#include "zone/gstcclzones.h"

/* ---------------------------------------------------------------- JSON */

GST_START_TEST (test_zones)
{
  GError *error = NULL;
  GstCclZoneSet *const set = gst_ccl_zone_set_new ("{\"units\":\"relative\",\"zones\":["
      "{\"name\":\"door\",\"polygon\":[[0,0],[0.5,0],[0.5,1]],\"dwell\":1.5,\"min_area\":20},"
      "{\"name\":\"gate\",\"line\":[[0.5,0],[0.5,1]]}]}", &error);

  fail_unless (set && !error);
  fail_unless (set->relative && set->n_rules == 2);
  fail_unless_equals_string (set->rules[0].name, "door");
  fail_unless (set->rules[0].kind == GST_CCL_ZONE_POLYGON && set->rules[0].n_points == 3);
  fail_unless (set->rules[0].points[2] == 0.5 && set->rules[0].points[5] == 1 && set->rules[0].min_area == 20);
  fail_unless_equals_uint64 (set->rules[0].dwell, 1500 * GST_MSECOND);
  fail_unless (set->rules[1].kind == GST_CCL_ZONE_LINE && set->rules[1].n_points == 2);
  fail_unless_equals_uint64 (set->rules[1].dwell, GST_CLOCK_TIME_NONE);
  gst_ccl_zone_set_free (set);
}

GST_END_TEST;

#define POLYGON(points, more) "{\"zones\":[{\"name\":\"a\",\"polygon\":" points more "}]}"
#define LINE(points, more) "{\"zones\":[{\"name\":\"a\",\"line\":" points more "}]}"
#define SQUARE "[[0,0],[9,0],[9,9],[0,9]]"

GST_START_TEST (test_wrong_zones)
{
  static const struct
  {
    const gchar *text, *message;
  } wrong[] = {
    {"{\"zones\":[{\"polygon\":" SQUARE "}]}", "zones[0]: needs a name"},
    {"{\"zones\":[{\"name\":\"a\"}]}", "zones[0] \"a\": needs a polygon or a line"},
    {POLYGON ("[[0,0],[9,0]]", ""), "polygon has 2 points; it takes 3 to 256"},
    {LINE ("[[0,0],[9,0],[9,9]]", ""), "line has 3 points; it takes 2"},
    {POLYGON ("[[0,0],[9,0],[9]]", ""), "point 2 of polygon is not [x, y]"},
    {POLYGON ("[[0,0],[9,9],[9,0],[0,9]]", ""), "polygon crosses itself: from point 0 to 1, and from 2 to 3"},
    {POLYGON ("[[0,0],[9,9],[18,18]]", ""), "polygon has no area"},
    {LINE ("[[3,3],[3,3]]", ""), "both points of line are the same"},
    {POLYGON ("[[0,0],[1,0],[1,1]]", ""), "fractions of the frame take \"units\":\"relative\""},
    {LINE ("[[0,0],[9,9]]", ",\"dwell\":1"), "nobody dwells on a line"},
    {LINE ("[[0,0],[9,9]]", ",\"dwell\":0"), "nobody dwells on a line"},
    {POLYGON (SQUARE, ",\"dwell\":-1"), "dwell is not a number from 0 to 1e9"},
    {POLYGON (SQUARE, ",\"min_aera\":1"), "there is no member \"min_aera\""},
    {POLYGON (SQUARE, ",\"dwell\":1,\"dwell\":2"), "has the member \"dwell\" more than once"},
    {"{\"units\":\"inches\",\"zones\":[]}", "units are \"pixels\" or \"relative\""},
    {"{\"units\":\"relative\",\"zones\":[{\"name\":\"a\",\"line\":[[0,0],[90,9]]}]}", "90 is no fraction of the frame"},
    {"{\"zones\":[{\"name\":\"a\",\"line\":[[0,0],[9,9]]},{\"name\":\"a\",\"line\":[[0,0],[9,9]]}]}",
        "the name \"a\" is taken already"},
  };

  for (guint i = 0; i < G_N_ELEMENTS (wrong); i++) {
    GError *error = NULL;

    fail_unless (gst_ccl_zone_set_new (wrong[i].text, &error) == NULL, "%s", wrong[i].text);
    fail_unless (strstr (error->message, wrong[i].message) != NULL, "%s, not %s", error->message, wrong[i].message);
    g_error_free (error);
  }
}

GST_END_TEST;

/* ---------------------------------------------------------------- places */

static GstCclBlob
new_blob (guint64 track_id, gint x, gint y, gint size)
{
  const guint64 area = (guint64) size * size, half = area * (size - 1) / 2;

  return (GstCclBlob) {
    .label = 1,.x = x,.y = y,.width = size,.height = size,.first_x = x,.area = area,.m10 = area * x + half,
    .m01 = area * y + half,.track_id = track_id,.mtd_id = GST_CCL_MTD_ID_NONE,
  };
}

static gboolean
has_track (const GstCclBlob * blob)
{
  return blob->track_id != 0;
}

/* Parts of a track make one place: by area, or at the bottom of the box around them. */
GST_START_TEST (test_places)
{
  const GstCclBlob blobs[] = {
    new_blob (5, 100, 50, 10), new_blob (0, 0, 0, 10), new_blob (6, 10, 20, 10), new_blob (5, 100, 70, 20),
  };
  GstBuffer *const buffer = gst_buffer_new ();
  GstCclBlobList *const list = gst_ccl_blob_list_new (blobs, G_N_ELEMENTS (blobs));
  const GstCclBlobMeta *const meta = gst_buffer_add_ccl_blob_meta (buffer, list, 320, 240);

  for (guint centroid = 0; centroid < 2; centroid++) {
    guint n;
    GstCclTrackPlace *const p = gst_ccl_track_places_new (meta, has_track, centroid, &n);

    fail_unless_equals_int (n, 2);
    fail_unless (p[0].id == 5 && p[1].id == 6);
    fail_unless (p[0].area == 500 && p[0].height == 40 && p[1].area == 100);
    if (centroid)
      fail_unless (fabs (p[0].x - (105 + 4 * 110) / 5.0) < 1e-9 && fabs (p[0].y - (55 + 4 * 80) / 5.0) < 1e-9);
    else
      fail_unless (p[0].x == 110 && p[0].y == 89.5, "%g, %g", p[0].x, p[0].y);
    g_free (p);
  }
  fail_unless (gst_ccl_track_place_of_blob (meta, 1, TRUE).x == 5);
  fail_unless (gst_ccl_track_place_of_blob (meta, 1, FALSE).y == 9.5);
  gst_ccl_blob_list_unref (list);
  gst_buffer_unref (buffer);
}

GST_END_TEST;

static Suite *
cclzone_parts_suite (void)
{
  Suite *const suite = suite_create ("cclzone-parts");
  TCase *const parts = tcase_create ("parts");

  suite_add_tcase (suite, parts);
  tcase_add_test (parts, test_zones);
  tcase_add_test (parts, test_wrong_zones);
  tcase_add_test (parts, test_places);
  return suite;
}

GST_CHECK_MAIN (cclzone_parts);
