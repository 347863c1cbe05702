/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "hull_table.h"

#include "analysis/hull.h"

struct CclHulls {
    CclExtent *extents;
    uint32_t *at;           /* labels->final: where the extent of row 0 of the label's component would be, modulo 2^32 */
    const uint32_t *parent; /* flattened */
    CclCornerPoint *points; /* scratch of each part */
    size_t max_points;
    uint32_t n_hulls; /* of the first roots */
};

CclStatus ccl_hulls_open(CclContext *context, unsigned n_parts, CclHulls **result)
{
    const size_t width = context->config.max_width, height = context->config.max_height;
    const size_t max_row_runs = context->config.foreground == CCL_FOREGROUND_EQUAL ? width : (width + 1) / 2;
    CclHulls *hulls;
    CCL_TRY(ccl_cpu_memory(context, sizeof *hulls, (void **)&hulls));
    hulls->max_points = 2 * height + 2;
    CCL_TRY(ccl_cpu_memory(context, max_row_runs * height * sizeof(CclExtent), (void **)&hulls->extents));
    *result = hulls;
    return ccl_cpu_memory(context, n_parts * hulls->max_points * sizeof(CclCornerPoint), (void **)&hulls->points);
}

static bool fills_box(const CclComponent *sums)
{
    const uint32_t width = sums->x1 - (uint16_t)~sums->x0, height = sums->y1 - sums->y0;
    return sums->moments.area == (uint64_t)width * height;
}

void ccl_hulls_begin(CclHulls *hulls, const CclLabelling *labels, uint32_t max_hulls)
{
    uint32_t n = 0;
    hulls->n_hulls = labels->n_roots < max_hulls ? labels->n_roots : max_hulls;
    hulls->at = labels->final;
    hulls->parent = labels->parent;
    for (uint32_t k = 0; k < labels->n_roots; k++) {
        const CclComponent *const sums = &labels->sums[labels->root[k]];
        labels->final[labels->root[k]] = n - sums->y0;
        for (uint32_t y = sums->y0; y < sums->y1; y++)
            hulls->extents[n++] = (CclExtent){ .left = UINT16_MAX, .right = 0 };
    }
}

static inline void widen(CclExtent *extent, uint16_t left, uint16_t right)
{
    extent->left = left < extent->left ? left : extent->left;
    extent->right = right > extent->right ? right : extent->right;
}

void ccl_hull_extents(CclHulls *hulls, const CclStrip *strip)
{
    const uint32_t *const parent = hulls->parent, *const at = hulls->at;
    for (uint32_t i = 0; i < strip->n_stored; i++) {
        const CclStoredRow *const row = &strip->stored[i];
        const uint32_t *const label = strip->stored_labels + row->first_run;
        const uint16_t *const x = strip->stored_x + 2 * (size_t)row->first_run;
        for (size_t k = 0; k < row->n; k++) {
            const uint32_t first = at[parent[label[k]]];
            widen(&hulls->extents[(uint32_t)(first + row->y0)], x[2 * k], x[2 * k + 1]);
            if (row->y1 > row->y0 + 1) /* no corner of the rows between can be one of the hull */
                widen(&hulls->extents[(uint32_t)(first + row->y1 - 1)], x[2 * k], x[2 * k + 1]);
        }
    }
}

static bool is_kept(const CclFrame *frame, const CclComponent *sums)
{
    const uint16_t x0 = (uint16_t)~sums->x0;
    const uint16_t touches = ccl_border_flags(x0, sums->y0, sums->x1, sums->y1, frame->mask.width, frame->mask.height);
    return ccl_keeps(&frame->limits, sums->moments.area, (uint32_t)(sums->x1 - x0), (uint32_t)(sums->y1 - sums->y0), touches);
}

void ccl_hulls_of_part(CclHulls *hulls, const CclFrame *frame, const CclLabelling *labels, unsigned part, unsigned n_parts)
{
    CclCornerPoint *const points = hulls->points + part * hulls->max_points;
    const uint32_t from = (uint32_t)((uint64_t)hulls->n_hulls * part / n_parts);
    const uint32_t to = (uint32_t)((uint64_t)hulls->n_hulls * (part + 1) / n_parts);

    for (uint32_t k = from; k < to; k++) {
        const uint32_t root = labels->root[k];
        const CclComponent *const sums = &labels->sums[root];
        if (!is_kept(frame, sums))
            continue;
        if (fills_box(sums)) {
            frame->hull[k] = ccl_hull_of_box((uint16_t)~sums->x0, sums->y0, sums->x1, sums->y1);
            continue;
        }
        const CclExtent *const rows = &hulls->extents[(uint32_t)(hulls->at[root] + sums->y0)];
        const uint32_t n = ccl_hull_points(rows, (uint32_t)(sums->y1 - sums->y0), sums->y0, points);
        frame->hull[k] = ccl_hull_count(points, n);
    }
}

void ccl_hulls_from_roots(CclHullCounts *hull, uint32_t capacity, const CclLabelling *labels)
{
    for (uint32_t k = 0; k < labels->n_roots; k++) {
        const uint32_t label = labels->final[labels->root[k]];
        if (label && label <= capacity)
            hull[label - 1] = hull[k];
    }
}
