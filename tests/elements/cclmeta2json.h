/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* cclmeta2json: what its tests share. */
#ifndef CCL_TEST_CCLMETA2JSON_H
#define CCL_TEST_CCLMETA2JSON_H

#include <gst/ccl/ccl.h>
#include <gst/video/video.h>
#include <json-glib/json-glib.h>

#include "jsonschema.h"
#include "support/blobs.h"
#include "support/harness.h"

#define WIDTH 320
#define HEIGHT 240
#define VIDEO_CAPS "video/x-raw,format=GRAY8,width=320,height=240,framerate=25/1"
#define FRAME_TIME (40 * GST_MSECOND)

GstBuffer *video_frame (guint number);
GstCclBlobMeta *attach_blobs (GstBuffer * buffer, const GstCclBlob * blobs, guint n_blobs);

/* A frame with one blob, 3x2 pixels at (10, 20). */
GstBuffer *small_frame (guint number);
GstBuffer *empty_frame (guint number);
GstHarness *new_harness (void);

/* The text of a buffer: one line, checked; the buffer is let go. */
gchar *take_line (GstBuffer * buffer);
gchar *push_for_line (GstHarness * h, GstBuffer * frame);
JsonNode *parse (const gchar * line);
JsonNode *push_for_json (GstHarness * h, GstBuffer * frame);

/* The same, after a check that a copy of the frame is written with the same values as CBOR, if the build has it. */
JsonNode *push_in_both (GstHarness * h, GstBuffer * frame);

JsonObject *first_blob (JsonNode * line);
gdouble number_at (JsonObject * object, const gchar * array, guint index);
gboolean is_null (JsonObject * object, const gchar * name);

/* The tests of each subject. */
TCase *json_field_tests (void);
TCase *json_polygon_tests (void);
TCase *json_number_tests (void);
TCase *json_time_tests (void);
TCase *json_stream_tests (void);
TCase *json_region_tests (void);
TCase *json_tag_tests (void);
TCase *json_thinning_tests (void);
TCase *json_cbor_tests (void);

#endif
