/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* The blobs of a mask as the reference method finds them, compared with those of a buffer. */
#ifndef CCL_TEST_REFERENCE_H
#define CCL_TEST_REFERENCE_H

#include <gst/ccl/gstcclblobmeta.h>

#include "ccl.h"
#include "masks.h"

void assert_blob (const GstCclBlob * blob, const CclComponent * component);

/* The buffer must have the blobs that the reference method finds in the mask. */
void assert_blobs_filtered (GstBuffer * buffer, const Mask * mask, guint connectivity, const CclFilter * filter);
void assert_blobs (GstBuffer * buffer, const Mask * mask, guint connectivity);

#endif
