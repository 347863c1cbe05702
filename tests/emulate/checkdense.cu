/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* What a context remembers of masks with very many runs: 32 frames after each are taken to be like it, which a launch of
 * few tiles does not care for. Results are the business of checkccl; how soon they come, of the benchmark. */
#include "cuda/context.cuh"

#include <stdio.h>
#include <stdlib.h>

#define WIDTH 2048u
#define MOST_ROWS 400u /* 50 tiles: more than six for each multiprocessor of the emulation */

static unsigned n_failed;

static void check(bool passed, const char *what, unsigned frame)
{
    if (!passed)
        printf("FAILED %s, frame %u: %s\n", what, frame, ccl_error_message());
    n_failed += !passed;
}

static const CudaContext *impl_of(const CclContext *context)
{
    return (const CudaContext *)context->impl;
}

static unsigned dense_left(const CclContext *context)
{
    return impl_of(context)->dense_left;
}

/* Was the last frame launched as if its mask were dense? */
static bool was_taken(const CclContext *context)
{
    return impl_of(context)->slots[0].frame.shape.dense;
}

/* A mask of so many rows, of which the first three have runs in every other column, or none. */
static bool analyze(CclContext *context, uint8_t *pixels, uint32_t n_rows, bool dense)
{
    const CclMask mask = { pixels, WIDTH, WIDTH, n_rows };
    CclTable table;
    for (uint32_t i = 0; i < 3 * WIDTH; i++)
        pixels[i] = dense && i % 2;
    return ccl_analyze(context, &mask, NULL, NULL, &table) == CCL_OK && table.n_found == (dense ? WIDTH / 2 : 0);
}

static void check_context(CclContext *context, uint8_t *pixels)
{
    unsigned frame = 0;
    const auto expect = [&](const char *what, uint32_t n_rows, bool dense, bool taken, unsigned left) {
        check(analyze(context, pixels, n_rows, dense) && was_taken(context) == taken && dense_left(context) == left, what,
              ++frame);
    };
    expect("nothing yet", MOST_ROWS, false, false, 0);
    expect("few tiles have room for all", 40, true, false, 0);
    expect("a dense mask", MOST_ROWS, true, false, 32);
    expect("one that is not", MOST_ROWS, false, true, 31);
    expect("another that is", MOST_ROWS, true, true, 32);
    for (unsigned left = 32; left--;)
        expect("counting", 40, false, true, left);
    expect("none left", 40, false, false, 0);
}

int main()
{
    uint8_t *const pixels = (uint8_t *)calloc(WIDTH, MOST_ROWS);
    CclConfig config = ccl_config_default();
    config.backend = CCL_BACKEND_CUDA;
    config.algorithm = "runs";
    config.max_width = WIDTH;
    config.max_height = MOST_ROWS;
    config.depth = 1;
    for (unsigned shared = 0; shared < 2; shared++) {
        CclContext *context;
        config.shared = shared;
        const bool open = ccl_context_new(&config, &context) == CCL_OK;
        check(open, "context", 0);
        if (!open)
            continue;
        check_context(context, pixels);
        ccl_context_free(context);
    }
    free(pixels);
    printf("%u failed\n", n_failed);
    return n_failed != 0;
}
