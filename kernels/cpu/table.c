/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "table.h"

#include "analysis/selection.h"

#include <string.h>

static void merge_sums(CclComponent *to, const CclComponent *from)
{
    to->moments.area += from->moments.area;
    to->moments.m10 += from->moments.m10;
    to->moments.m01 += from->moments.m01;
    to->moments.m20 += from->moments.m20;
    to->moments.m11 += from->moments.m11;
    to->moments.m02 += from->moments.m02;
    to->x0 = to->x0 > from->x0 ? to->x0 : from->x0;
    to->x1 = to->x1 > from->x1 ? to->x1 : from->x1;
    to->y1 = to->y1 > from->y1 ? to->y1 : from->y1;
}

/* Labels flattened at a time. First a pass without branches sorts them into roots and others, because no branch predictor can
 * guess which a label is. */
#define BLOCK 1024u

void ccl_flatten(CclLabelling *labels, uint32_t first, uint32_t end, bool measured)
{
    uint32_t *restrict const parent = labels->parent, *restrict const root = labels->root;
    uint32_t n_roots = labels->n_roots, other[BLOCK];

    for (uint32_t from = first; from < end; from += BLOCK) {
        const uint32_t to = end - from < BLOCK ? end : from + BLOCK;
        uint32_t n_others = 0;
        for (uint32_t i = from; i < to; i++) {
            const uint32_t is_root = parent[i] == i;
            root[n_roots] = i;
            other[n_others] = i;
            n_roots += is_root;
            n_others += !is_root;
        }
        for (uint32_t k = 0; k < n_others; k++) {
            const uint32_t i = other[k], r = parent[parent[i]]; /* smaller labels are flat already */
            parent[i] = r;
            if (measured)
                merge_sums(&labels->sums[r], &labels->sums[i]);
        }
    }
    labels->n_roots = n_roots;
}

void ccl_final_labels(const CclLabelling *labels, uint32_t first, uint32_t end)
{
    uint32_t *restrict const parent = labels->parent;
    const uint32_t *restrict const final = labels->final;
    for (uint32_t i = first; i < end; i++)
        parent[i] = final[parent[i]];
}

/* The box of a component (x0, y0, x1, y1) as one word of four 16-bit entries. */
static inline uint64_t box_word(const CclComponent *component)
{
    uint64_t word;
    memcpy(&word, (const uint8_t *)component + offsetof(CclComponent, x0), sizeof word);
    return word;
}

/* Whether one of the four entries is the same in both boxes. */
static inline bool shares_entry(uint64_t a, uint64_t b)
{
    const uint64_t low = 0x7fff7fff7fff7fffu, differs = a ^ b;
    return (((differs & low) + low) | differs | low) != ~(uint64_t)0;
}

/* The value of a component's first pixel. */
static uint16_t class_id_of(const CclFrame *frame, const CclComponent *component)
{
    return (uint16_t)pixel_value(&frame->mask, component->first_x, component->y0);
}

/* Of the k-th root. */
static bool is_selected(const CclFrame *frame, const CclLabelling *labels, uint32_t k, uint16_t x0)
{
    const uint32_t label = labels->root[k];
    CclComponent component = labels->sums[label];
    component.x0 = x0;
    const uint16_t class_id = frame->class_ids ? class_id_of(frame, &component) : 0;
    CclMeasuring measuring;
    measuring.width = frame->mask.width, measuring.height = frame->mask.height;
    ccl_measure_next(&measuring, &component, frame->shape ? &frame->shape[label] : NULL, frame->hull ? &frame->hull[k] : NULL,
                     frame->holes ? &frame->holes[label] : NULL, frame->intensity ? &frame->intensity[label] : NULL);
    measuring.class_id = frame->class_ids ? &class_id : NULL;
    return ccl_selection_keeps(frame->selection, &measuring);
}

/* How many sums ahead of the current one are fetched. */
#define AHEAD 32

void ccl_table_from_sums(CclFrame *frame, uint32_t capacity, const CclLabelling *labels)
{
    const CclLimits *const limits = &frame->limits;
    const bool all = ccl_keeps_all(limits) && !frame->selection;
    const uint32_t width = frame->mask.width, height = frame->mask.height;
    const uint64_t border = box_word(&(CclComponent){
        .x0 = UINT16_MAX, .y0 = 0, .x1 = (uint16_t)width, .y1 = (uint16_t)height });
    const uint16_t flags = limits->border == CCL_BORDER_KEEP ? 0 : UINT16_MAX;
    uint32_t n_kept = 0;

    for (uint32_t k = 0; k < labels->n_roots; k++) {
        const CclComponent *const sums = &labels->sums[labels->root[k]];
        __builtin_prefetch(sums + AHEAD);
        const uint16_t x0 = (uint16_t)~sums->x0;
        const uint16_t touches =
            shares_entry(box_word(sums), border) ? ccl_border_flags(x0, sums->y0, sums->x1, sums->y1, width, height) : 0;
        if (!all &&
            (!ccl_keeps(limits, sums->moments.area, (uint32_t)(sums->x1 - x0), (uint32_t)(sums->y1 - sums->y0), touches) ||
             (frame->selection && !is_selected(frame, labels, k, x0)))) {
            labels->final[labels->root[k]] = 0;
            continue;
        }
        labels->final[labels->root[k]] = ++n_kept;
        if (n_kept > capacity)
            continue;
        CclComponent *const record = &frame->records[n_kept - 1];
        *record = *sums;
        record->label = n_kept;
        record->x0 = x0;
        record->flags = touches & flags;
    }
    frame->table.n_found = labels->n_roots;
    frame->table.n_kept = n_kept;
}

void ccl_class_ids_from_mask(CclFrame *frame, uint32_t capacity)
{
    const uint32_t n = frame->table.n_kept < capacity ? frame->table.n_kept : capacity;
    for (uint32_t i = 0; i < n; i++)
        frame->class_ids[i] = class_id_of(frame, &frame->records[i]);
}
