/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "map.h"

#include "host/words.h"
#include "tier.h"
#include "union_find.h"

/* Entries after the end of an array that vectors may read or write. */
#define PADDING 64u

static CclStatus open_row(CclContext *context, CclMapRow *row, uint32_t width)
{
    CCL_TRY(ccl_cpu_memory(context, (row_words(width) + PADDING) * sizeof *row->rank, (void **)&row->rank));
    CCL_TRY(ccl_cpu_memory(context, (width + PADDING) * sizeof *row->x, (void **)&row->x));
    CCL_TRY(ccl_cpu_memory(context, (width + PADDING) * sizeof *row->value, (void **)&row->value));
    return ccl_cpu_memory(context, (width + PADDING) * sizeof *row->class_id, (void **)&row->class_id);
}

CclStatus ccl_map_open(CclContext *context, CclStrip *strip)
{
    const uint32_t width = context->config.max_width;
    const size_t bits_size = (row_words(width) + PADDING) * sizeof(uint64_t);
    CclMapStrip *map;

    CCL_TRY(ccl_cpu_memory(context, sizeof *map, (void **)&map));
    strip->map = map;
    map->background_value = context->config.background_value;
    for (unsigned i = 0; i < 2; i++) {
        CCL_TRY(open_row(context, &map->row[i], width));
        CCL_TRY(ccl_cpu_memory(context, bits_size, (void **)&map->row_starts[i]));
        CCL_TRY(ccl_cpu_memory(context, (width + PADDING) * sizeof(uint32_t), (void **)&map->row_labels[i]));
    }
    CCL_TRY(ccl_cpu_memory(context, bits_size, (void **)&map->differs));
    map->differs++;
    CCL_TRY(ccl_cpu_memory(context, bits_size, (void **)&map->ends));
    CCL_TRY(ccl_cpu_memory(context, (width + PADDING) * sizeof *map->touching, (void **)&map->touching));
    CCL_TRY(ccl_cpu_memory(context, (width + PADDING) * sizeof *map->corner, (void **)&map->corner));
    CCL_TRY(ccl_cpu_memory(context, (width + PADDING) * sizeof *map->first, (void **)&map->first));
    /* Each pixel has at most three neighbours above, and at most one in each pair of rows that is to the left as well. */
    return ccl_cpu_memory(context, (8 * (size_t)width + PADDING) * sizeof *map->pair, (void **)&map->pair);
}

static void join_pair(uint32_t *parent, const CclMapRuns *before, uint32_t a, const CclMapRuns *here, uint32_t b)
{
    if (before->class_id[a] != here->class_id[b])
        return;
    if (here->row->label[b])
        unite(parent, before->row->label[a], here->row->label[b]);
    else
        here->row->label[b] = before->row->label[a];
}

/* Two pointers walk the rows. Where runs end in the same column, each can touch the other's right neighbour at a corner. */
void ccl_map_join(uint32_t *parent, const CclMapRuns *before, const CclMapRuns *here, uint32_t reach)
{
    const uint32_t n_before = before->row->n, n_here = here->row->n;
    uint32_t a = 0, b = 0;
    while (a < n_before && b < n_here) {
        const uint16_t *const p = &before->row->x[2 * a], *const q = &here->row->x[2 * b];
        if (p[0] < q[1] + reach && q[0] < p[1] + reach)
            join_pair(parent, before, a, here, b);
        if (p[1] == q[1] && reach && a + 1 < n_before && p[2] == q[1])
            join_pair(parent, before, a + 1, here, b);
        if (p[1] == q[1] && reach && b + 1 < n_here && q[2] == p[1])
            join_pair(parent, before, a, here, b + 1);
        a += p[1] <= q[1];
        b += q[1] <= p[1];
    }
}
