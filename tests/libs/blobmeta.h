/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* What the test files of blobmeta share. */
#ifndef BLOBMETA_TEST_H
#define BLOBMETA_TEST_H

#include <string.h>

#include "testblobs.h"

#define DEGREES (G_PI / 180)

gboolean transform (GstBuffer * dest, GstBuffer * buffer, GQuark type, gpointer data);

/* What videoconvert and videoscale do before GStreamer 1.28. */
GstCclBlobMeta *scale (GstBuffer * dest, GstBuffer * buffer, guint width, guint height);

/* Each adds the tests of a file. */
void blobmeta_add_lists_tests (Suite * suite);
void blobmeta_add_meta_tests (Suite * suite);
void blobmeta_add_table_tests (Suite * suite);
void blobmeta_add_transforms_tests (Suite * suite);

#endif
