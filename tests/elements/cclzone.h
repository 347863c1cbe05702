/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* cclzone: what its tests share. */
#ifndef CCL_TEST_CCLZONE_H
#define CCL_TEST_CCLZONE_H

#include <gst/check/gstcheck.h>
#include <gst/check/gstharness.h>
#include <gst/ccl/ccl.h>

#define FRAME (100 * GST_MSECOND)

/* The middle of a 320x240 frame, and a line from its top to its bottom. */
#define ROOM "{\"name\":\"room\",\"polygon\":[[100,50],[200,50],[200,150],[100,150]],\"dwell\":0.5,\"min_area\":50}"
#define GATE "{\"name\":\"gate\",\"line\":[[150,0],[150,240]]}"
#define ZONES(list) "{\"zones\":[" list "]}"

typedef struct
{
  GstHarness *h;
  GstElement *element;
  GstBus *bus;
  guint frame;
} Test;

Test new_test (const gchar * zones);
void end_test (Test * t);

/* A blob of 10x10 pixels around (x, y). */
GstCclBlob blob_at (gint x, gint y, guint64 track, guint32 flags);
GstBuffer *push_at (Test * t, GstClockTime pts, const GstCclBlob * blobs, guint n);
GstBuffer *push (Test * t, const GstCclBlob * blobs, guint n);

/* One confirmed track, or nothing when x is negative. */
void walk (Test * t, gint x, gint y);

/* The next event, as "enter room"; NULL when there is none. */
const gchar *next_event (Test * t, const GstStructure ** details);
guint64 get_uint64 (const GstStructure * s, const gchar * name);
GstCclZone zone_of (GstBuffer * buffer, guint index);
guint32 bits_of (GstBuffer * buffer, guint index);
gchar *pop_warning (Test * t);

/* The warning about zones that say `text` has these words. */
typedef struct
{
  const gchar *text, *says;
} WrongZones;
void check_wrong_zones (Test * t, const WrongZones * cases, guint n);

/* The tests of each subject. */
TCase *zone_event_tests (void);
TCase *zone_count_tests (void);
TCase *zone_setting_tests (void);
TCase *zone_text_tests (void);
TCase *zone_time_tests (void);
TCase *zone_shape_tests (void);
TCase *zone_walk_tests (void);
TCase *zone_chain_tests (void);

#endif
