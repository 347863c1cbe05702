/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Comparison of a result with the expected one, and a sentence about the first difference. */
#include "judge.h"

#include <stdio.h>
#include <string.h>

/* See last_difference(). */
static _Thread_local uint32_t bad_x, bad_y;

void last_difference(uint32_t *x, uint32_t *y)
{
    *x = bad_x;
    *y = bad_y;
}

static void differ_at(const Image *image, size_t pixel)
{
    bad_x = (uint32_t)(pixel % image->width);
    bad_y = (uint32_t)(pixel / image->width);
}

static bool same_labels(const Image *image, const uint32_t *expected, const uint32_t *got, char why[400])
{
    const size_t n = (size_t)image->width * image->height;
    if (!memcmp(expected, got, 4 * n))
        return true;
    size_t i = 0;
    while (expected[i] == got[i])
        i++;
    differ_at(image, i);
    snprintf(why, 400, "label image at (%u,%u): expected %u, got %u", bad_x, bad_y, expected[i], got[i]);
    return false;
}

/* One label per component, the other way round too, and background 0. Labels may have gaps, so that the largest can be
 * larger than the image has pixels. */
static bool same_partition(const Image *image, const uint32_t *expected, const uint32_t *got, char why[400])
{
    const size_t n = (size_t)image->width * image->height;
    static uint32_t *maps;
    static size_t maps_size;
    uint32_t largest = 0;
    for (size_t i = 0; i < n; i++)
        if (got[i] > largest) {
            largest = got[i];
            differ_at(image, i);
        }
    if (largest > 64 * n + (1u << 20)) {
        snprintf(why, 400, "label %u at (%u,%u) of an image of %zu pixels", largest, bad_x, bad_y, n);
        return false;
    }
    const size_t size = (n + 1 + (size_t)largest + 1) * sizeof *maps;
    maps = grow(maps, &maps_size, size);
    memset(maps, 0, size);
    uint32_t *const to_got = maps, *const to_expected = maps + n + 1;

    for (size_t i = 0; i < n; i++) {
        const uint32_t e = expected[i], g = got[i];
        if (!e && !g)
            continue;
        if (e && g && !to_got[e])
            to_got[e] = g;
        if (e && g && !to_expected[g])
            to_expected[g] = e;
        if (e && g && to_got[e] == g && to_expected[g] == e)
            continue;
        differ_at(image, i);
        if (!e || !g)
            snprintf(why, 400, "pixel (%u,%u) is %s, its label is %u", bad_x, bad_y, e ? "foreground" : "background",
                     g);
        else if (to_got[e] != g)
            snprintf(why, 400, "component %u is cut: label %u, but %u at (%u,%u)", e, to_got[e], g, bad_x, bad_y);
        else
            snprintf(why, 400, "components %u and %u both have label %u, at (%u,%u)", to_expected[g], e, g, bad_x,
                     bad_y);
        return false;
    }
    return true;
}

static void row_text(const CclComponent *c, char text[170])
{
    const CclMoments *const m = &c->moments;
    snprintf(text, 170,
             "label %u area %llu box [%u,%u)x[%u,%u) first_x %u flags %u m10 %llu m01 %llu m20 %llu m11 %llu m02 %llu",
             c->label, (unsigned long long)m->area, c->x0, c->x1, c->y0, c->y1, c->first_x, c->flags,
             (unsigned long long)m->m10, (unsigned long long)m->m01, (unsigned long long)m->m20,
             (unsigned long long)m->m11, (unsigned long long)m->m02);
}

static bool same_table(const CclTable *expected, const CclTable *got, char why[400])
{
#define SAME(field)                                                                             \
    if (expected->field != got->field) {                                                        \
        snprintf(why, 400, #field ": expected %u, got %u", expected->field, got->field);        \
        return false;                                                                           \
    }
    SAME(n_found)
    SAME(n_kept)
    SAME(n_components)
    SAME(flags)
    SAME(width)
    SAME(height)
#undef SAME
    for (uint32_t i = 0; i < expected->n_components; i++)
        if (memcmp(&expected->components[i], &got->components[i], sizeof(CclComponent))) {
            char e[170], g[170];
            bad_x = expected->components[i].first_x, bad_y = expected->components[i].y0;
            row_text(&expected->components[i], e);
            row_text(&got->components[i], g);
            snprintf(why, 400, "row %u:\n    expected %.165s\n    got      %.165s", i, e, g);
            return false;
        }
    return true;
}

static bool same_shape(const CclTable *expected, const CclTable *got, char why[400])
{
    for (uint32_t i = 0; i < expected->n_components && expected->shape && got->shape; i++) {
        const CclComponent *const row = &expected->components[i];
        const CclShapeCounts *const e = &expected->shape[row->label - 1], *const g = &got->shape[row->label - 1];
        if (!memcmp(e, g, sizeof *e))
            continue;
        bad_x = row->first_x, bad_y = row->y0;
        snprintf(why, 400, "shape of row %u: expected euler %d runs %u tops %u diagonals %u, got %d %u %u %u", i, e->euler,
                 e->runs, e->tops, e->diagonals, g->euler, g->runs, g->tops, g->diagonals);
        return false;
    }
    return true;
}

static void hull_text(const CclHullCounts *h, char text[170])
{
    snprintf(text, 170, "area2 %llu perimeter %llu diameter2 %u width %u (%d,%d) rect (%d,%d) [%d,%d]x[%d,%d]",
             (unsigned long long)h->area2, (unsigned long long)h->perimeter, h->diameter2, h->width, h->width_dx, h->width_dy,
             h->rect_dx, h->rect_dy, h->along0, h->along1, h->across0, h->across1);
}

static bool same_hull(const CclTable *expected, const CclTable *got, char why[400])
{
    for (uint32_t i = 0; i < expected->n_components && expected->hull && got->hull; i++) {
        const CclComponent *const row = &expected->components[i];
        const CclHullCounts *const e = &expected->hull[row->label - 1], *const g = &got->hull[row->label - 1];
        char wanted[170], found[170];
        if (!memcmp(e, g, sizeof *e))
            continue;
        bad_x = row->first_x, bad_y = row->y0;
        hull_text(e, wanted);
        hull_text(g, found);
        snprintf(why, 400, "hull of row %u:\n    expected %.160s\n    got      %.160s", i, wanted, found);
        return false;
    }
    return true;
}

static bool same_hole_rows(const CclTable *expected, const CclTable *got, uint32_t first, uint32_t n, char why[400])
{
    for (uint32_t i = first; i < first + n; i++) {
        const CclHole *const e = &expected->hole_rows[i], *const g = &got->hole_rows[i];
        if (!memcmp(e, g, sizeof *e))
            continue;
        bad_x = e->first_x, bad_y = e->y0;
        snprintf(why, 400,
                 "hole %u:\n    expected parent %u area %u filled %u box [%u,%u)x[%u,%u) first_x %u"
                 "\n    got      parent %u area %u filled %u box [%u,%u)x[%u,%u) first_x %u",
                 i, e->parent, e->area, e->area_filled, e->x0, e->x1, e->y0, e->y1, e->first_x, g->parent, g->area,
                 g->area_filled, g->x0, g->x1, g->y0, g->y1, g->first_x);
        return false;
    }
    return true;
}

static bool same_holes(const CclTable *expected, const CclTable *got, char why[400])
{
    for (uint32_t i = 0; i < expected->n_components && expected->holes && got->holes; i++) {
        const CclComponent *const row = &expected->components[i];
        const CclHoleCounts *const e = &expected->holes[row->label - 1], *const g = &got->holes[row->label - 1];
        if (!memcmp(e, g, sizeof *e) && e->first + e->n_holes <= got->n_hole_rows) {
            if (!same_hole_rows(expected, got, e->first, e->n_holes, why))
                return false;
            continue;
        }
        bad_x = row->first_x, bad_y = row->y0;
        snprintf(why, 400, "holes of row %u: expected filled %llu, %u from %u, got filled %llu, %u from %u, of %u rows", i,
                 (unsigned long long)e->area_filled, e->n_holes, e->first, (unsigned long long)g->area_filled, g->n_holes,
                 g->first, got->n_hole_rows);
        return false;
    }
    return true;
}

static void intensity_text(const CclIntensityCounts *c, char text[190])
{
    snprintf(text, 190, "[%u,%u] sum %llu squares %llu x %llu y %llu xx %llu xy %llu yy %llu chroma %u: %llu %llu", c->min,
             c->max, (unsigned long long)c->sum, (unsigned long long)c->squares, (unsigned long long)c->x,
             (unsigned long long)c->y, (unsigned long long)c->xx[0], (unsigned long long)c->xy[0], (unsigned long long)c->yy[0],
             c->has_chroma, (unsigned long long)c->chroma[0], (unsigned long long)c->chroma[1]);
}

static bool same_intensity(const CclTable *expected, const CclTable *got, char why[400])
{
    for (uint32_t i = 0; i < expected->n_components && expected->intensity && got->intensity; i++) {
        const CclComponent *const row = &expected->components[i];
        const CclIntensityCounts *const e = &expected->intensity[row->label - 1], *const g = &got->intensity[row->label - 1];
        char wanted[190], found[190];
        if (!memcmp(e, g, sizeof *e))
            continue;
        bad_x = row->first_x, bad_y = row->y0;
        intensity_text(e, wanted);
        intensity_text(g, found);
        snprintf(why, 400, "intensity of row %u:\n    expected %.170s\n    got      %.170s", i, wanted, found);
        return false;
    }
    return true;
}

bool same_outcome(const Case *c, const Outcome *expected, const Outcome *got, char why[400])
{
    bad_x = bad_y = 0;
    if (got->error[0]) {
        snprintf(why, 400, "%.399s", got->error);
        return false;
    }
    if (!same_table(&expected->table, &got->table, why) || !same_shape(&expected->table, &got->table, why) ||
        !same_hull(&expected->table, &got->table, why) || !same_holes(&expected->table, &got->table, why) ||
        !same_intensity(&expected->table, &got->table, why))
        return false;
    if (c->product == PRODUCT_LABELS)
        return same_labels(c->image, expected->labels, got->labels, why);
    if (c->product == PRODUCT_PROVISIONAL)
        return same_partition(c->image, expected->labels, got->labels, why);
    return true;
}
