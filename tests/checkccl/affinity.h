/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Where the calling thread runs. Its users define _GNU_SOURCE first. */
#ifndef AFFINITY_H
#define AFFINITY_H

#include <sched.h>
#include <stdbool.h>

/* Leaves the thread the first of its CPUs, `one`; `before`, it had these. */
static inline bool run_on_one_cpu(cpu_set_t *before, cpu_set_t *one)
{
    int first = 0;
    if (sched_getaffinity(0, sizeof *before, before))
        return false;
    while (!CPU_ISSET(first, before))
        first++;
    CPU_ZERO(one);
    CPU_SET(first, one);
    return !sched_setaffinity(0, sizeof *one, one);
}

#endif
