/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* What the test files of ccllabel-volume share. */
#ifndef CCLLABEL_VOLUME_TEST_H
#define CCLLABEL_VOLUME_TEST_H

#include <string.h>

#include "support/backends.h"
#include "support/blobs.h"
#include "support/labelharness.h"
#include "support/masks.h"
#include "support/messages.h"
#include "support/program.h"
#include "support/reference.h"
#include "support/upstream.h"

/* A bar of 3x2 pixels at (x, y) in a mask of 32x16. */
Mask bar_at (guint x, guint y);
guint64 id_of (GstBuffer * buffer, guint n);

/* Id of the first blob of the next frame. */
guint64 pull_id (GstHarness * harness);
GstHarness *bar_harness (guint backend, const gchar * settings);
void push_bar (GstHarness * harness, guint x, guint y, guint n);

/* Each adds the tests of a file. */
void ccllabel_volume_add_ids_tests (Suite * suite);
void ccllabel_volume_add_stream_tests (Suite * suite);
void ccllabel_volume_add_lost_tests (Suite * suite);

#endif
