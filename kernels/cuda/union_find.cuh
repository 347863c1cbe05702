/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Union-find by many threads at once, for every CUDA method.
 *
 * `Parents` maps a node to its parent slot: a plain uint32_t pointer, or a class with operator[] where a node is not an
 * index. A root is its own parent; a parent is never larger than its node, so chains end and the root is the smallest node.
 *
 * Plain loads may be stale, because other threads hook roots meanwhile. But a stale parent is still an ancestor. So find() ends
 * at a node that was a root a moment ago, and the atomicMin of unite() shows whether it still is one. Parents in shared memory
 * are volatile while threads unite: there it costs nothing.
 */
#ifndef CCL_CUDA_UNION_FIND_CUH
#define CCL_CUDA_UNION_FIND_CUH

#include <stdint.h>

template <typename Parents> __device__ static inline uint32_t find(Parents parents, uint32_t node)
{
    uint32_t parent = parents[node];
    while (parent != node) {
        node = parent;
        parent = parents[node];
    }
    return node;
}

/* find() that also shortens the path: the node's own slot takes every ancestor passed. Only the thread that owns `node` may
 * call this, and no unite() may run meanwhile. Short paths are quickest through the L1 cache. On a long path, loads bypass it
 * to see what other threads have shortened: then each step halves the rest of the path. A thread that reads a slot during a
 * write sees the old parent or the new one, and both are ancestors. */
template <typename Parents> __device__ static inline uint32_t compress(Parents parents, uint32_t node)
{
    const uint32_t own = node;
    uint32_t parent = parents[node];
    uint32_t grandparent = parents[parent];
    for (unsigned step = 0; grandparent != parent && step < 16; step++) {
        parent = grandparent;
        parents[own] = parent; /* race: see above */
        grandparent = parents[parent];
    }
    while (grandparent != parent) {
        parent = grandparent;
        parents[own] = parent; /* race: see above */
        grandparent = __ldcg(&parents[parent]);
    }
    return parent;
}

/* Unites the sets of a and b: hooks the larger root under the smaller. If another thread hooked it first, unites its new parent
 * instead. */
template <typename Parents> __device__ static inline void unite(Parents parents, uint32_t a, uint32_t b)
{
    for (;;) {
        a = find(parents, a);
        b = find(parents, b);
        if (a == b)
            return;
        if (a < b) {
            const uint32_t swap = a;
            a = b;
            b = swap;
        }
        const uint32_t old = atomicMin((uint32_t *)&parents[a], b); /* it may be volatile */
        if (old == a)
            return;
        a = old;
    }
}

/* The same for long paths in global memory: climbs from both nodes at once, so that two loads are in flight, and shortens their
 * paths. Other threads may do the same: a thread that lowers a slot unites what was there. So no link is lost when a slot is
 * overwritten. Calls hooked(larger, smaller) for the roots, unless another thread has united them. */
template <typename Hooked>
__device__ static inline void unite_shortening(uint32_t *parents, uint32_t a, uint32_t b, Hooked hooked)
{
    uint32_t up_a = __ldcg(&parents[a]), up_b = __ldcg(&parents[b]);
    while (up_a != up_b) {
        const uint32_t next_a = __ldcg(&parents[up_a]), next_b = __ldcg(&parents[up_b]);
        if (next_a != up_a || next_b != up_b) {
            if (next_a != up_a)
                __stcg(&parents[a], next_a);
            if (next_b != up_b)
                __stcg(&parents[b], next_b);
            up_a = next_a;
            up_b = next_b;
            continue;
        }
        const uint32_t larger = max(up_a, up_b), smaller = min(up_a, up_b);
        const uint32_t old = atomicMin(&parents[larger], smaller);
        if (old == larger) {
            hooked(larger, smaller);
            return;
        }
        a = larger;
        b = up_b = smaller;
        up_a = old;
    }
}

#endif
