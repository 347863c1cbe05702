/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef CCL_HOST_CLOCK_H
#define CCL_HOST_CLOCK_H

#include <time.h>

/* Microseconds of a monotonic clock. */
static inline double ccl_now_us(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec * 1e-3;
}

#endif
