/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* CCL_FEATURE_INTENSITY of the reference: pixel by pixel, in 128 bits. */
#ifndef CCL_REFERENCE_INTENSITY_H
#define CCL_REFERENCE_INTENSITY_H

#include "ccl.h"

/* Of the n pixels at these indices in a mask of this width. */
CclIntensityCounts ccl_reference_intensity(const CclPicture *picture, const uint32_t *pixels, uint32_t n, uint32_t width);

#endif
