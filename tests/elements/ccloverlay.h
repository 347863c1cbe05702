/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* ccloverlay: what its tests share. */
#ifndef CCL_TEST_CCLOVERLAY_H
#define CCL_TEST_CCLOVERLAY_H

#include <gst/ccl/ccl.h>
#include <gst/video/video.h>

#include "support/harness.h"

#define FRAME (100 * GST_MSECOND)
#define GROUND 0x60             /* gray: no colour that is drawn */

typedef struct
{
  GstHarness *harness;
  GstVideoInfo info;
} Fixture;

Fixture new_fixture (const gchar * settings, const gchar * format, guint width, guint height);
GstBuffer *new_frame (const Fixture * f, guint number);
GstCclBlob new_blob (guint label, guint64 track_id, gint x, gint y, gint width, gint height);
GstCclBlobMeta *attach_blobs (const Fixture * f, GstBuffer * buffer, const GstCclBlob * blobs, guint n);
GstBuffer *push (Fixture * f, GstBuffer * buffer);
GstBuffer *push_blob (Fixture * f, guint number, GstCclBlob blob);
guint32 pixel (const Fixture * f, GstBuffer * buffer, gint x, gint y);

/* Bytes that are not the ground any more. */
gsize count_changed (GstBuffer * buffer);
guint64 get_stat (Fixture * f, const gchar * name);
void assert_path (Fixture * f, const gchar * path);
Fixture new_attaching (const gchar * settings, guint width, guint height);

/* The tests of each subject. */
TCase *overlay_blending_tests (void);
TCase *overlay_format_tests (void);
TCase *overlay_attaching_tests (void);
TCase *overlay_colour_tests (void);
TCase *overlay_mark_tests (void);
TCase *overlay_trail_tests (void);
TCase *overlay_crowd_tests (void);

#endif
