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
        CCL_TRY(ccl_cpu_memory(context, bits_size, (void **)&map->row[i].starts));
        CCL_TRY(ccl_cpu_memory(context, (width + PADDING) * sizeof(uint32_t), (void **)&map->row[i].label));
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

static void join_pair(uint32_t *parent, uint32_t label_before, uint32_t *label)
{
    if (*label)
        unite(parent, label_before, *label);
    else
        *label = label_before;
}

void ccl_map_join(uint32_t *parent, const CclMapRuns *before, const CclMapRuns *here, uint32_t reach)
{
    const CclRow *const runs = before->row;
    uint32_t a = 0;
    for (uint32_t b = 0; b < here->row->n; b++) {
        const uint32_t x0 = here->row->x[2 * b], x1 = here->row->x[2 * b + 1];
        a = ccl_map_first_touching(runs, a, x0, reach);
        for (uint32_t k = a; k < runs->n && runs->x[2 * k] < x1 + reach; k++)
            if (before->class_id[k] == here->class_id[b])
                join_pair(parent, runs->label[k], &here->row->label[b]);
    }
}
