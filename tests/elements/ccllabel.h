/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* What the test files of ccllabel share. */
#ifndef CCLLABEL_TEST_H
#define CCLLABEL_TEST_H

#include <string.h>

#include "support/backends.h"
#include "support/blobs.h"
#include "support/labelharness.h"
#include "support/masks.h"
#include "support/messages.h"
#include "support/program.h"
#include "support/reference.h"
#include "support/upstream.h"

extern const GstVideoFormat formats[8];
guint count_regions (GstBuffer * buffer, const gchar * type);
void check_pulled (GstHarness * harness, const Mask * mask, guint connectivity, guint n);

/* Each adds the tests of a file. */
void ccllabel_add_masks_tests (Suite * suite);
void ccllabel_add_filters_tests (Suite * suite);
void ccllabel_add_features_tests (Suite * suite);
void ccllabel_add_intensity_tests (Suite * suite);
void ccllabel_add_alpha_tests (Suite * suite);
void ccllabel_add_maps_tests (Suite * suite);
void ccllabel_add_hints_tests (Suite * suite);
void ccllabel_add_changes_tests (Suite * suite);
void ccllabel_add_async_tests (Suite * suite);
void ccllabel_add_output_tests (Suite * suite);
void ccllabel_add_pools_tests (Suite * suite);
void ccllabel_add_negotiation_tests (Suite * suite);
void ccllabel_add_start_tests (Suite * suite);

#endif
