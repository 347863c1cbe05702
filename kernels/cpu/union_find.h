/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Union-find over provisional labels: parent[i] <= i, a root is its own parent, the smaller root stays. So a root is the first
 * label of its component, and one ascending pass flattens all trees. */
#ifndef CCL_CPU_UNION_FIND_H
#define CCL_CPU_UNION_FIND_H

#include <stdint.h>

static inline uint32_t find(uint32_t *parent, uint32_t i)
{
    while (parent[i] != i)
        i = parent[i] = parent[parent[i]];
    return i;
}

static inline void unite(uint32_t *parent, uint32_t a, uint32_t b)
{
    if (a == b)
        return;
    a = find(parent, a), b = find(parent, b);
    if (a < b)
        parent[b] = a;
    else
        parent[a] = b;
}

#endif
