/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Polygons drawn into planes. */
#ifndef CCL_POLYGON_H
#define CCL_POLYGON_H

#include "pixels.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Sets the pixels whose centres are inside a polygon (even-odd rule) of `n` points x, y to `value`. Errors: OUT_OF_MEMORY. */
CclStatus ccl_polygon_fill(const double *xy, unsigned n, uint8_t value, const CclPlane *plane);

#ifdef __cplusplus
}
#endif

#endif
