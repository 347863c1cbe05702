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

static void join_pair(void *parent, const CclMapRuns *before, uint32_t a, const CclMapRuns *here, uint32_t b)
{
    if (here->row->label[b])
        unite(parent, before->row->label[a], here->row->label[b]);
    else
        here->row->label[b] = before->row->label[a];
}

void ccl_map_join(uint32_t *parent, const CclMapRuns *before, const CclMapRuns *here, uint32_t reach)
{
    ccl_map_pairs(before, here, reach, join_pair, parent);
}
