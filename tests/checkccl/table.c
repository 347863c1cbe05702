/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Which components the table holds, in which order, and how many it says there are. */
#include "checkccl.h"
#include "patterns.h"

#include "host/test_switches.h"

#include <stdio.h>
#include <stdlib.h>

static const CclFilter filters[] = {
    { .min_area = 2 },
    { .max_area = 1 },
    { .min_area = 3, .max_area = 20 },
    { .min_area = 1000000000000 },
    { .max_area = 1000000000000 },
    { .min_relative_area = 0.001 },
    { .max_relative_area = 0.002 },
    { .min_relative_area = 0.0005, .max_relative_area = 0.5 },
    { .min_area = 5, .min_relative_area = 0.0001, .max_relative_area = 1 },
    { .min_width = 3 },
    { .max_width = 2 },
    { .min_height = 4, .max_height = 9 },
    { .max_height = 1 },
    { .min_width = 2, .max_width = 30, .min_height = 2, .max_height = 30 },
    { .border = CCL_BORDER_KEEP },
    { .border = CCL_BORDER_DROP },
    { .border = CCL_BORDER_DROP, .min_area = 2 },
    { .border = CCL_BORDER_KEEP, .max_area = 3 },
    { .min_area = 4, .max_area = 3 },
};
enum { N_FILTERS = sizeof filters / sizeof *filters };

static void judge_filters(Session *session, const Image *image, const char *name)
{
    for (unsigned i = 0; i < N_FILTERS; i += session->quick ? 3 : 1)
        for (unsigned product = PRODUCT_TABLE; product <= PRODUCT_LABELS; product++) {
            Case c = case_new(image, (Product)product, "%s, filter %u", name, i);
            c.filter = filters[i];
            c.order = i % 5 == 0 ? CCL_ORDER_AREA : CCL_ORDER_RASTER;
            judge(session, &c, 1);
        }
}

/* Tables that hold none too many, just enough, one too few, only one. */
static void judge_caps(Session *session, const Image *image, const char *name)
{
    Case c = case_new(image, PRODUCT_LABELS, "%s", name);
    for (int connectivity = 4; connectivity <= 8; connectivity += 4) {
        Outcome all = expected_outcome(&c, (CclConnectivity)connectivity);
        const uint32_t n = all.table.n_found;
        const uint32_t caps[] = { 1, 2, n / 2, n - 1, n, n + 1, n + 1000 };
        for (unsigned i = 0; i < sizeof caps / sizeof *caps; i += session->quick ? 3 : 1)
            for (unsigned order = CCL_ORDER_RASTER; order <= CCL_ORDER_AREA; order++) {
                if (caps[i] < 1 || caps[i] > CCL_MAX_COMPONENTS)
                    continue;
                Case capped = case_new(image, i % 2 ? PRODUCT_LABELS : PRODUCT_TABLE, "%s, %u rows, %s order", name,
                                       caps[i], order == CCL_ORDER_AREA ? "area" : "raster");
                capped.max_components = caps[i];
                capped.order = (CclOrder)order;
                capped.twice = true;
                if (i % 3 == 1)
                    capped.filter.min_area = 2;
                judge(session, &capped, 1);
            }
        outcome_free(&all);
    }
}

/* A cross that touches each set of sides (bit 0 left, then top, right, bottom), and a pixel that touches none. */
static Image cross_touching(unsigned sides)
{
    Image image = image_new(21, 17);
    const uint32_t left = sides & 1 ? 0 : 2, top = sides & 2 ? 0 : 2, right = sides & 4 ? 20 : 18,
                   bottom = sides & 8 ? 16 : 14;
    for (uint32_t x = left; x <= right; x++)
        *image_at(&image, x, 8) = 1;
    for (uint32_t y = top; y <= bottom; y++)
        *image_at(&image, 10, y) = 1;
    *image_at(&image, 3, 3) = 1;
    return image;
}

static void judge_borders(Session *session)
{
    for (unsigned sides = 0; sides < 16; sides++)
        for (unsigned border = CCL_BORDER_FLAG; border <= CCL_BORDER_DROP; border++) {
            Image image = cross_touching(sides);
            Case c = case_new(&image, PRODUCT_LABELS, "cross that touches sides %u, border policy %u", sides, border);
            c.filter.border = (CclBorder)border;
            judge(session, &c, 1);
            image_free(&image);
        }
}

/* Boxes of one size each, so that each limit is met exactly, missed by one, and passed. */
static void judge_limits(Session *session)
{
    Image image = image_new(120, 16);
    for (uint32_t size = 1, left = 1; size <= 12; left += size + 2, size++)
        for (uint32_t y = 0; y < size; y++)
            for (uint32_t x = 0; x < size; x++)
                *image_at(&image, left + x, 2 + y) = 1;
    for (uint32_t limit = 1; limit <= 13; limit++) {
        const CclFilter limits[] = {
            { .min_width = limit },
            { .max_width = limit },
            { .min_height = limit },
            { .max_height = limit },
            { .min_area = limit * limit },
            { .max_area = limit * limit },
            { .min_area = limit * limit + 1 },
            { .max_area = limit * limit - 1 },
            { .min_relative_area = limit * limit / (120.0 * 16) },
            { .max_relative_area = limit * limit / (120.0 * 16) },
        };
        for (unsigned i = 0; i < sizeof limits / sizeof *limits; i++) {
            Case c = case_new(&image, PRODUCT_LABELS, "squares, limit %u at %u", i, limit);
            c.filter = limits[i];
            judge(session, &c, 1);
        }
    }
    image_free(&image);
}

/* Every share of a hundred pixels as a limit of itself, and those beside it: most are no doubles. */
static void judge_shares(Session *session)
{
    Image image = image_new(10, 10);
    for (unsigned area = 1; area <= 100; area++) {
        image.pixels[area - 1] = 1;
        const CclFilter limits[] = {
            { .min_relative_area = area / 100.0 },
            { .max_relative_area = area / 100.0 },
            { .min_relative_area = (area + 1) / 100.0 },
            { .max_relative_area = (area - 1) / 100.0 },
        };
        for (unsigned i = 0; i < sizeof limits / sizeof *limits; i++) {
            Case c = case_new(&image, PRODUCT_TABLE, "%u of 100 pixels, limit %u", area, i);
            c.filter = limits[i];
            judge(session, &c, 1);
        }
    }
    image_free(&image);
}

/* So many components that a block's or a warp's share of them just fits, or just does not. */
static void judge_counts(Session *session)
{
    for (uint32_t power = 2; power <= (session->quick ? 1024u : 65536u); power *= 2)
        for (uint32_t n = power - 1; n <= power + 1; n++) {
            const uint32_t across = 64;
            Image image = image_new(2 * across + 5, 2 * ((n + across - 1) / across));
            for (uint32_t i = 0; i < n; i++)
                *image_at(&image, 2 * (i % across), 2 * (i / across)) = 1;
            Case c = case_new(&image, PRODUCT_LABELS, "%u dots", n);
            c.exact = n % 2;
            judge(session, &c, 1);
            image_free(&image);
        }
}

/* With CCL_TEST_SUMS=1 the stages that methods share on CUDA have memory for an eighth of the components there can be, and
 * begin anew for the next ones. So many that they just fit into some rounds, or just do not; all kept, or some dropped. */
static void judge_rounds(Session *session, uint32_t across, uint32_t down)
{
    const uint32_t per_round = (across * down + 7) / 8; /* 8-connected; twice that 4-connected */
    setenv("CCL_TEST_SUMS", "1", 1);
    ccl_test_switches_reread();
    for (uint32_t n = per_round - 1; n <= across * down; n += n % per_round == 1 ? per_round - 2 : 1) {
        Image image = image_new(2 * across, 2 * down);
        for (uint32_t i = 0; i < n; i++)
            *image_at(&image, 2 * (i % across), 2 * (i / across)) = 1;
        Case c = case_new(&image, PRODUCT_LABELS, "%u dots in rounds", n);
        c.max_components = across * down;
        judge(session, &c, 1);
        c.filter.border = CCL_BORDER_DROP;
        judge(session, &c, 1);
        image_free(&image);
    }
    unsetenv("CCL_TEST_SUMS");
    ccl_test_switches_reread();
}

/* More components than a table may ever hold: counts stay exact, the table holds the first million. */
static void judge_overfull(Session *session)
{
    Image image = pattern_named("dots", 2100, 2100);
    Case c = case_new(&image, PRODUCT_LABELS, "1102500 dots");
    c.exact = true;
    judge(session, &c, 1);
    c.max_components = 1000;
    c.product = PRODUCT_TABLE;
    judge(session, &c, 1);
    c.order = CCL_ORDER_AREA;
    judge(session, &c, 1);
    image_free(&image);
}

/* Rows of more than 2048 pixels, in memory in every way. */
static void judge_wide(Session *session)
{
    Image image = image_noise(2112, 28, 40, 2, &session->random);
    for (const Layout *layout = layouts; layout->name; layout++) {
        Case c = case_new(&image, PRODUCT_TABLE, "wide noise, %s", layout->name);
        c.layout = *layout;
        if (layout_fits(layout, &image))
            judge(session, &c, 1);
    }
    image_free(&image);
}

void check_table(Session *session)
{
    static const char *const names[] = { "dots", "frames", "rings", "checkerboard", "empty", "full" };
    for (unsigned i = 0; i < sizeof names / sizeof *names; i++) {
        Image image = pattern_named(names[i], 67, 45);
        judge_filters(session, &image, names[i]);
        if (i < 4)
            judge_caps(session, &image, names[i]);
        image_free(&image);
    }
    static const uint32_t sizes[][2] = { { 40, 30 }, { 333, 211 }, { 640, 360 } };
    for (unsigned i = 0; i < (session->quick ? 2 : 3); i++)
        for (double density = 8; density < 60; density += 17) {
            Image image = image_noise(sizes[i][0], sizes[i][1], density, 1 + i, &session->random);
            judge_filters(session, &image, "noise");
            judge_caps(session, &image, "noise");
            image_free(&image);
        }
    judge_borders(session);
    judge_limits(session);
    judge_shares(session);
    judge_wide(session);
    judge_counts(session);
    judge_rounds(session, 8, 10);
    judge_rounds(session, 33, 32); /* rounds of more than one TABLE_TILE, 4-connected */
    if (!session->quick)
        judge_overfull(session);
}
