/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* ccltrack: what its tests share. */
#ifndef CCL_TEST_CCLTRACK_H
#define CCL_TEST_CCLTRACK_H

#include <gst/ccl/ccl.h>

#include "support/blobs.h"
#include "support/harness.h"

#define FRAME (100 * GST_MSECOND)
#define CAPS(size) "video/x-raw,format=GRAY8," size ",framerate=10/1"
#define SMALL CAPS ("width=320,height=240")

typedef struct
{
  gint x, y, width, height;
} Box;

GstHarness *new_harness (const gchar * settings);
GstBuffer *new_frame (GstClockTime pts);
GstCclBlobMeta *add_boxes (GstBuffer * buffer, const Box * boxes, guint n);
GstBuffer *push_boxes (GstHarness * h, GstClockTime pts, const Box * boxes, guint n);
GstBuffer *push_box (GstHarness * h, guint frame, gint x);
GstCclBlob blob_at (GstBuffer * buffer, guint index);
guint count_blobs (GstBuffer * buffer);

/* Pushes one box and returns its track. */
guint64 track_box (GstHarness * h, guint frame, gint x);
guint64 get_stat (GstHarness * h, const gchar * name);

/* The tests of each subject. */
TCase *track_blob_tests (void);
TCase *track_region_tests (void);
TCase *track_analytics_tests (void);
TCase *track_time_tests (void);
TCase *track_reset_tests (void);
TCase *track_history_tests (void);

#endif
