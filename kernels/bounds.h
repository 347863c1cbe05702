/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Bounds: of arguments, of the number of components, and of the components that a filter keeps. */
#ifndef CCL_BOUNDS_H
#define CCL_BOUNDS_H

#include "ccl.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---------------------------------------------------------------- argument checks */

CclStatus ccl_check_connectivity(CclConnectivity connectivity);
/* `what` completes the message: "mask". */
CclStatus ccl_check_memory(CclBackendKind backend, CclMemory memory, const char *what);
CclStatus ccl_check_mask(const CclConfig *config, const CclMask *mask);
/* The picture of a mask; NULL is none. */
CclStatus ccl_check_picture(const CclConfig *config, const CclMask *mask);
CclStatus ccl_check_labels(const CclConfig *config, const CclMask *mask, const CclLabels *labels);
/* Everything in a configuration but whether the build has the backend and the method. */
CclStatus ccl_check_config(const CclConfig *config);

/* ---------------------------------------------------------------- numbers of components */

/* Maximum number of components of a width x height mask. */
uint32_t ccl_max_components(uint32_t width, uint32_t height, CclConnectivity connectivity);
/* The same of what a context of this configuration labels: in a label map each pixel can be a component. */
uint32_t ccl_max_components_of(const CclConfig *config, uint32_t width, uint32_t height);
/* The same of a volume of the configuration's size. */
uint32_t ccl_max_volume_components(const CclConfig *config);

/* ---------------------------------------------------------------- filters */

/* A CclFilter with every limit made absolute: keep when min <= value <= max. */
typedef struct CclLimits {
    uint32_t min_area, max_area;
    uint32_t min_width, max_width;
    uint32_t min_height, max_height;
    CclBorder border;
} CclLimits;

/* filter: NULL keeps every component. Relative limits are rounded towards keeping fewer components, so that "at least 1 %"
 * holds exactly. */
CclLimits ccl_absolute_limits(const CclFilter *filter, const CclMask *mask);

/* Whether every component of every mask passes the filter. */
bool ccl_keeps_all(const CclLimits *limits);

/* The two rules about components that all backends apply, on the host and on the device. */
#ifdef __CUDACC__
#define CCL_HOST_DEVICE __host__ __device__
#else
#define CCL_HOST_DEVICE
#endif

/* CCL_TOUCHES_... of a half-open box in a width x height mask. */
CCL_HOST_DEVICE static inline uint16_t ccl_border_flags(uint32_t x0, uint32_t y0, uint32_t x1, uint32_t y1, uint32_t width,
                                        uint32_t height)
{
    return (uint16_t)((x0 == 0 ? CCL_TOUCHES_LEFT : 0) | (y0 == 0 ? CCL_TOUCHES_TOP : 0) |
                      (x1 == width ? CCL_TOUCHES_RIGHT : 0) | (y1 == height ? CCL_TOUCHES_BOTTOM : 0));
}

/* Whether a component of this area, box size and border flags passes the filter. */
CCL_HOST_DEVICE static inline bool ccl_keeps(const CclLimits *limits, uint64_t area, uint32_t width, uint32_t height,
                                             unsigned touches)
{
    return area >= limits->min_area && area <= limits->max_area && width >= limits->min_width &&
           width <= limits->max_width && height >= limits->min_height && height <= limits->max_height &&
           !(touches && limits->border == CCL_BORDER_DROP);
}

#ifdef __cplusplus
}
#endif

#endif
