/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "area_order.h"

static bool comes_before(const CclComponent *a, const CclComponent *b)
{
    return a->moments.area != b->moments.area ? a->moments.area > b->moments.area : a->label < b->label;
}

/* Makes heap[0..n) a heap whose top comes last in the order. heap[i+1..n) must be one already. */
static void sink(CclComponent *heap, uint32_t n, uint32_t i)
{
    const CclComponent moved = heap[i];
    for (uint32_t child; (child = 2 * i + 1) < n; i = child) {
        if (child + 1 < n && comes_before(&heap[child], &heap[child + 1]))
            child++;
        if (!comes_before(&moved, &heap[child]))
            break;
        heap[i] = heap[child];
    }
    heap[i] = moved;
}

void ccl_choose_largest(CclComponent *components, uint32_t n, uint32_t max)
{
    const uint32_t n_chosen = n < max ? n : max;
    for (uint32_t i = n_chosen / 2; i-- > 0;)
        sink(components, n_chosen, i);
    for (uint32_t i = n_chosen; i < n; i++)
        if (comes_before(&components[i], &components[0])) {
            components[0] = components[i];
            sink(components, n_chosen, 0);
        }
    for (uint32_t end = n_chosen; end-- > 1;) {
        const CclComponent last = components[0];
        components[0] = components[end];
        components[end] = last;
        sink(components, end, 0);
    }
}
