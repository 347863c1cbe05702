/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* What a context remembers of masks with very many runs: `runs` says so of those for whose tiles it had room for few, 32
 * frames are launched with room for all after each, and then none. Results are the business of checkccl. */
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

static unsigned dense_left(const CclContext *context)
{
    return ((const CudaContext *)context->impl)->dense_left;
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
    check(analyze(context, pixels, MOST_ROWS, false) && dense_left(context) == 0, "nothing yet", ++frame);
    check(analyze(context, pixels, 40, true) && dense_left(context) == 0, "room for all in few tiles", ++frame);
    check(analyze(context, pixels, MOST_ROWS, true) && dense_left(context) == 32, "a dense mask", ++frame);
    check(analyze(context, pixels, MOST_ROWS, false) && dense_left(context) == 31, "one that is not", ++frame);
    check(analyze(context, pixels, MOST_ROWS, true) && dense_left(context) == 32, "with room for all", ++frame);
    for (unsigned left = 32; left--;)
        check(analyze(context, pixels, 40, false) && dense_left(context) == left, "counting", ++frame);
    check(analyze(context, pixels, 40, false) && dense_left(context) == 0, "none left", ++frame);
}

int main()
{
    uint8_t *const pixels = (uint8_t *)calloc(WIDTH, MOST_ROWS);
    CclConfig config = ccl_config_default();
    config.backend = CCL_BACKEND_CUDA;
    config.algorithm = "runs";
    config.max_width = WIDTH;
    config.max_height = MOST_ROWS;
    for (unsigned shared = 0; shared < 2; shared++) {
        CclContext *context;
        config.shared = shared;
        check(ccl_context_new(&config, &context) == CCL_OK, "context", 0);
        check_context(context, pixels);
        ccl_context_free(context);
    }
    free(pixels);
    printf("%u failed\n", n_failed);
    return n_failed != 0;
}
