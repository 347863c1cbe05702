/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* The density that a context assumes: after a mask with many runs, or with very many in some tiles, for 32 frames. A launch of
 * few tiles ignores the latter. Also: tests that ask for clusters get them. checkccl tests the results, the benchmark the
 * times. */
#include "cuda/context.cuh"

#include <stdio.h>
#include <stdlib.h>

#define WIDTH 2048u
#define MAX_ROWS 400u /* 50 tiles: more than six for each multiprocessor of the emulation */

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

static unsigned left_of(const CclContext *context)
{
    return impl_of(context)->density_left;
}

/* How dense the last frame was taken to be. */
static unsigned taken(const CclContext *context)
{
    return impl_of(context)->slots[0].frame.shape.density;
}

/* A checkerboard: one component, whose runs are few as runs of strips. */
static bool analyze_checkerboard(CclContext *context, uint8_t *pixels)
{
    const CclMask mask = { pixels, WIDTH, WIDTH, MAX_ROWS };
    CclTable table;
    for (uint32_t i = 0; i < MAX_ROWS * WIDTH; i++)
        pixels[i] = (i + i / WIDTH) % 2;
    return ccl_analyze(context, &mask, NULL, NULL, &table) == CCL_OK && table.n_found == 1;
}

/* Runs in every other column of the first three rows, or in every 16th column of all rows, or no runs. */
static bool analyze(CclContext *context, uint8_t *pixels, uint32_t n_rows, CudaDensity density)
{
    const CclMask mask = { pixels, WIDTH, WIDTH, n_rows };
    const uint32_t every = density == CUDA_DENSE ? 2 : 16, n_marked = density == CUDA_DENSE ? 3 : n_rows;
    CclTable table;
    for (uint32_t i = 0; i < n_rows * WIDTH; i++)
        pixels[i] = density && i / WIDTH < n_marked && i % every == 1;
    return ccl_analyze(context, &mask, NULL, NULL, &table) == CCL_OK &&
           table.n_found == (density ? WIDTH / every : 0);
}

static void check_context(CclContext *context, uint8_t *pixels)
{
    unsigned frame = 0;
    const auto expect = [&](const char *what, uint32_t n_rows, CudaDensity density, CudaDensity as, unsigned left) {
        const bool right = analyze(context, pixels, n_rows, density);
        check(right && taken(context) == as && left_of(context) == left, what, ++frame);
    };
    expect("nothing is known", MAX_ROWS, CUDA_SPARSE, CUDA_MANY, 0);
    expect("few tiles have room for all", 40, CUDA_DENSE, CUDA_SPARSE, 0);
    expect("many runs", MAX_ROWS, CUDA_MANY, CUDA_SPARSE, 32);
    expect("few", MAX_ROWS, CUDA_SPARSE, CUDA_MANY, 31);
    expect("a dense mask", MAX_ROWS, CUDA_DENSE, CUDA_MANY, 32);
    expect("many runs again", MAX_ROWS, CUDA_MANY, CUDA_DENSE, 31);
    expect("another dense one", MAX_ROWS, CUDA_DENSE, CUDA_DENSE, 32);
    for (unsigned left = 32; --left;)
        expect("counting", 40, CUDA_SPARSE, CUDA_DENSE, left);
    expect("the last one is forgotten", MAX_ROWS, CUDA_MANY, CUDA_DENSE, 32);
    for (unsigned left = 32; left--;)
        expect("counting again", 40, CUDA_SPARSE, CUDA_MANY, left);
    expect("none left", 40, CUDA_SPARSE, CUDA_SPARSE, 0);
    check(analyze_checkerboard(context, pixels) && left_of(context) == 32 && impl_of(context)->density == CUDA_MANY,
          "checkerboard", ++frame);
}

/* What CCL_TEST_CLUSTERS is for: every frame goes by a cluster, which takes no mask to be dense, whatever there was before.
 * No graph is made. */
static void check_clusters(CclContext *context, uint8_t *pixels)
{
    for (unsigned frame = 0; frame < 6; frame++) {
        const bool right = analyze(context, pixels, MAX_ROWS - frame, frame % 2 ? CUDA_MANY : CUDA_DENSE);
        check(right && impl_of(context)->density == CUDA_MANY && !impl_of(context)->engine->n_batches, "clusters", frame);
    }
}

int main()
{
    uint8_t *const pixels = (uint8_t *)calloc(WIDTH, MAX_ROWS);
    CclConfig config = ccl_config_default();
    config.backend = CCL_BACKEND_CUDA;
    config.algorithm = "runs";
    config.max_width = WIDTH;
    config.max_height = MAX_ROWS;
    config.depth = 1;
    void (*const checks[])(CclContext *, uint8_t *) = { check_context, check_context, check_clusters };
    for (unsigned i = 0; i < 3; i++) {
        CclContext *context;
        config.shared = i > 0;
        setenv("CCL_TEST_CLUSTERS", i == 2 ? "1" : "0", 1);
        ccl_test_switches_reread();
        const bool open = ccl_context_new(&config, &context) == CCL_OK;
        check(open, "context", 0);
        if (!open)
            continue;
        checks[i](context, pixels);
        ccl_context_free(context);
    }
    free(pixels);
    printf("%u failed\n", n_failed);
    return n_failed != 0;
}
