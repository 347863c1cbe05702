/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Masks that the host packs after the launch. Rows of tiles time out in every combination (the tiles of one row agree). The
 * kernels must not use runs of missing rows, which the emulation checks, and the frame is launched again. */
#include "cuda/context.cuh"

#include <stdio.h>
#include <stdlib.h>

#define TILE_HEIGHT 8u
#define MAX_HEIGHT 30u /* four tiles */
#define MAX_WIDTH 2100u /* two tiles */

static uint8_t pixels[MAX_HEIGHT][MAX_WIDTH];
static unsigned n_checks, n_failed;

static bool check(bool passed, const char *what, uint32_t width, uint32_t seen)
{
    n_checks++;
    if (!passed)
        printf("FAILED %s, %u wide, seen %#x: %s\n", what, width, seen, ccl_error_message());
    n_failed += !passed;
    return passed;
}

static const char *const pictures[] = { "full", "stripes", "other stripes", "checkerboard", "noise" };

static bool is_set(unsigned picture, uint32_t x, uint32_t y)
{
    switch (picture) {
    case 0: return true;
    case 1: return x % 2 == 0;
    case 2: return x % 2 == 1;
    case 3: return (x + y) % 2 == 0;
    default: return (x * 2654435761u + y * 40503u + x * y * 97u) >> 13 & 1;
    }
}

static uint32_t bands_of(const CclMask &mask)
{
    return blocks_for(mask.height, TILE_HEIGHT);
}

/* Pieces that the mask is packed in, but for the first; the tile below has a line for what is above it. */
static uint32_t more_pieces_of(const CclMask &mask)
{
    return (mask.height - 1) / CHUNK_ROWS;
}

/* All that tiles can see: their rows, and the row above. */
static uint32_t all_of(const CclMask &mask)
{
    return (1u << (bands_of(mask) + more_pieces_of(mask))) - 1;
}

/* Submits and collects; before the kernels begin, what tiles are not to see is taken back. */
static bool analyze(CclContext *context, const CclMask *mask, uint32_t seen, CclTable *table)
{
    constexpr uint32_t N_EACH = CHUNK_ROWS / TILE_HEIGHT;
    CudaContext *const cuda = (CudaContext *)context->impl;
    CudaSlot *const slot = &cuda->slots[0];
    cuda->backoff = cuda->backoff_level = 0; /* earlier timeouts do not matter */
    if (ccl_submit(context, mask, NULL, NULL) != CCL_OK)
        return false;
    for (uint32_t i = 0; all_of(*mask) >> i; i++) {
        const bool above = i >= bands_of(*mask);
        const uint32_t chunk = above ? i - bands_of(*mask) : i / N_EACH;
        if (!(seen >> i & 1))
            slot->h_ready_flags[ready_flag(N_EACH, chunk, above ? N_EACH : i % N_EACH) * READY_FLAG_STRIDE] = 0;
    }
    return ccl_collect(context, table) == CCL_OK;
}

static void check_seen(CclContext *context, const CclMask *mask, const CclTable *expected, const char *name, uint32_t seen)
{
    const unsigned n_timeouts = ccl_context_timeouts(context);
    CclTable table;
    if (!check(analyze(context, mask, seen, &table), name, mask->width, seen))
        return;
    check(table.n_found == expected->n_found && table.n_kept == expected->n_kept &&
              !memcmp(table.components, expected->components, table.n_kept * sizeof *table.components),
          name, mask->width, seen);
    const bool timed_out = seen != all_of(*mask);
    check(ccl_context_timeouts(context) == n_timeouts + timed_out, timed_out ? "is launched again" : "is not launched again",
          mask->width, seen);
}

static CclContext *open(CclBackendKind backend, CclConnectivity connectivity)
{
    CclConfig config = ccl_config_default();
    CclContext *context = NULL;
    config.backend = backend;
    config.algorithm = "runs";
    config.connectivity = connectivity;
    config.max_width = MAX_WIDTH;
    config.max_height = MAX_HEIGHT;
    config.max_components = MAX_WIDTH * MAX_HEIGHT;
    config.depth = 1;
    config.threads = 1;
    check(ccl_context_new(&config, &context) == CCL_OK, "context", 0, 0);
    return context;
}

static void check_pictures(CclContext *context, CclContext *reference, uint32_t width, uint32_t height)
{
    const CclMask mask = { &pixels[0][0], MAX_WIDTH, width, height };
    for (unsigned picture = 0; picture < sizeof pictures / sizeof *pictures; picture++) {
        const char *const name = pictures[picture];
        CclTable table, expected;
        for (uint32_t y = 0; y < height; y++)
            for (uint32_t x = 0; x < width; x++)
                pixels[y][x] = is_set(picture, x, y);
        if (!check(ccl_analyze(reference, &mask, NULL, NULL, &expected) == CCL_OK, name, width, 0))
            return;
        for (unsigned i = 0; i < 2; i++) /* then there is a graph of the launches, and packing may come after them */
            check(ccl_analyze(context, &mask, NULL, NULL, &table) == CCL_OK, name, width, 0);
        for (uint32_t seen = 0; seen <= all_of(mask); seen++)
            check_seen(context, &mask, &expected, name, seen);
    }
}

int main()
{
    for (const CclConnectivity connectivity : { CCL_CONNECT_4, CCL_CONNECT_8 }) {
        CclContext *const context = open(CCL_BACKEND_CUDA, connectivity), *const reference = open(CCL_BACKEND_CPU, connectivity);
        if (context && reference) {
            check_pictures(context, reference, 130, MAX_HEIGHT);
            check_pictures(context, reference, MAX_WIDTH, 3 * TILE_HEIGHT); /* more tiles would not wait themselves */
        }
        ccl_context_free(context);
        ccl_context_free(reference);
    }
    printf("%u passed, %u failed\n", n_checks - n_failed, n_failed);
    return n_failed != 0;
}
