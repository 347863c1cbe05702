/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Memory for holes of masks and of label maps grows while a slot has a graph with the addresses of the old memory. With
 * CCL_TEST_LIMIT=8 there is memory for eight parts of background, or for seven holes of a map. */
#include "ccl.h"

#include <stdio.h>
#include <string.h>

#define WIDTH  64
#define HEIGHT 40

static uint8_t mask[HEIGHT][WIDTH];
static unsigned failed;

/* A full mask with this number of single pixels as holes, at most 500. Every second one has another value. */
static void draw(unsigned n_holes, uint8_t other)
{
    memset(mask, 255, sizeof mask);
    for (unsigned i = 0; i < n_holes; i++)
        mask[1 + i / 30 * 2][2 + i % 30 * 2] = i % 2 ? other : 0;
}

static void check(CclContext *context, bool is_map, unsigned n_holes)
{
    const CclMask m = { .data = mask, .stride = WIDTH, .width = WIDTH, .height = HEIGHT };
    CclTable table;
    draw(n_holes, is_map ? 7 : 0);
    const CclStatus status = ccl_analyze(context, &m, NULL, NULL, &table);
    bool right = status == CCL_OK && table.n_hole_rows == n_holes && table.holes[0].n_holes == n_holes;
    for (unsigned i = 0; right && i < n_holes; i++)
        right = table.hole_rows[i].first_x == 2 + i % 30 * 2 && table.hole_rows[i].y0 == 1 + i / 30 * 2 &&
                table.hole_rows[i].area_filled == 1 && table.hole_rows[i].area == (is_map && i % 2 ? 0 : 1);
    if (!right)
        printf("FAILED %s, %u holes: %s\n", is_map ? "map" : "mask", n_holes,
               status == CCL_OK ? "other rows" : ccl_error_message());
    failed += !right;
}

static bool check_kind(bool is_map)
{
    static const unsigned n_holes[] = { 2, 3, 4, 200, 5, 300, 6, 500, 500, 7 };
    CclConfig config = ccl_config_default();
    CclContext *context = NULL;
    config.backend = CCL_BACKEND_CUDA;
    config.algorithm = is_map ? "uf" : "runs";
    config.foreground = is_map ? CCL_FOREGROUND_EQUAL : CCL_FOREGROUND_THRESHOLD;
    config.max_width = WIDTH;
    config.max_height = HEIGHT;
    config.depth = 1;
    config.features = CCL_FEATURE_HOLES;
    if (ccl_context_new(&config, &context) != CCL_OK)
        return false;
    for (unsigned i = 0; i < sizeof n_holes / sizeof *n_holes; i++)
        check(context, is_map, n_holes[i]);
    ccl_context_free(context);
    return true;
}

int main(void)
{
    if (!check_kind(false) || !check_kind(true))
        return 2;
    printf("%u failed\n", failed);
    return failed != 0;
}
