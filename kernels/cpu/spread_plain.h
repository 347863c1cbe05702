/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Labels of runs -> label at each pixel. Plain C: not worth it, runs look their labels up one by one. */
#ifndef CCL_CPU_SPREAD_PLAIN_H
#define CCL_CPU_SPREAD_PLAIN_H

#include <stdint.h>

#define RUNS_PER_WORD_IF_MANY 64

static inline void spread_labels(uint32_t *label_at, const uint64_t *ends, const uint32_t *label, uint32_t n_bytes)
{
    (void)label_at, (void)ends, (void)label, (void)n_bytes;
}

#endif
