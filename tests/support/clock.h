/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* For the benchmarks. */
#ifndef TEST_SUPPORT_CLOCK_H
#define TEST_SUPPORT_CLOCK_H

#include <time.h>

static inline double clock_us(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec * 1e-3;
}

/* Processor time of all threads of this process, which other programs do not change. */
static inline double processor_us(void)
{
    return clock_us(CLOCK_PROCESS_CPUTIME_ID);
}

#endif
