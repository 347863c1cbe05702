/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* What the test files of cclmotion share: a scene, and a harness around one cclmotion. */
#ifndef CCLMOTION_TEST_H
#define CCLMOTION_TEST_H

#include <gst/ccl/gstcclmaskmeta.h>
#include <string.h>

#include "support/backends.h"
#include "support/blobs.h"
#include "support/labelharness.h"
#include "support/masks.h"
#include "support/messages.h"
#include "support/program.h"
#include "support/reference.h"
#include "support/upstream.h"

#define W 80
#define H 60
#define FRAME (40 * GST_MSECOND)

/* A gray background with a little noise; from frame `from` on a bright square of 16 pixels that wanders. */
void draw_scene (guint8 * data, gsize stride, guint width, guint height, guint n, guint from);
GstBuffer *scene (GstVideoFormat format, guint width, guint height, guint n, guint from);
GstHarness *motion_harness (const gchar * settings, GstVideoFormat format, guint width, guint height);
GstElement *find_element (GstHarness * harness, const gchar * name);
void set_motion (GstHarness * harness, const gchar * name, const gchar * value);
GstBuffer *push_scene (GstHarness * harness, guint n, guint from);
GstHarness *harness_of_depth (guint backend, guint depth);

/* Each adds the tests of a file. */
void cclmotion_add_masks_tests (Suite * suite);
void cclmotion_add_mask_source_tests (Suite * suite);
void cclmotion_add_background_tests (Suite * suite);
void cclmotion_add_seams_tests (Suite * suite);
void cclmotion_add_feedback_tests (Suite * suite);
void cclmotion_add_messages_tests (Suite * suite);
void cclmotion_add_async_tests (Suite * suite);
void cclmotion_add_device_tests (Suite * suite);
void cclmotion_add_lost_tests (Suite * suite);

#endif
