/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Union-find the plain way, to judge the judges: the smallest index is the root. */
#ifndef CHECKCCL_UNION_FIND_H
#define CHECKCCL_UNION_FIND_H

#include <stdint.h>

static inline uint32_t find(const uint32_t *parent, uint32_t i)
{
    while (parent[i] != i)
        i = parent[i];
    return i;
}

static inline void unite(uint32_t *parent, uint32_t a, uint32_t b)
{
    a = find(parent, a), b = find(parent, b);
    parent[a > b ? a : b] = a < b ? a : b;
}

#endif
