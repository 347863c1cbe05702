/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Which frames set their completion flag, so that collecting polls no event: a frame that is alone in flight, and a frame of
 * a batch that has a cluster. checkccl tests the results, the benchmark the times. Run it with CCL_EMULATE=blocking=1: else
 * the emulation computes nothing before the host polls an event. */
#include "cuda/context.cuh"

#include "emulate.h"
#include <stdio.h>
#include <stdlib.h>

#define WIDTH 16384u /* eight tiles */
#define HEIGHT 30u   /* four of them */
#define GAP 12u      /* the row between two storeys of stripes */

enum { NEVER = 1 << 30 };

static uint8_t pixels[HEIGHT][WIDTH];
static unsigned n_checks, n_failed;

static bool check(bool passed, const char *what, const char *context)
{
    n_checks++;
    if (!passed)
        printf("FAILED %s, %s: %s\n", context, what, ccl_error_message());
    n_failed += !passed;
    return passed;
}

/* Two storeys of stripes, so far from each other: each stripe is a component in several tiles. */
typedef struct Stripes {
    uint32_t n, step;
} Stripes;

static CclStatus submit(CclContext *context, Stripes stripes, const CclLabels *labels, uint32_t width = WIDTH)
{
    const CclMask mask = { &pixels[0][0], WIDTH, width, HEIGHT };
    for (uint32_t y = 0; y < HEIGHT; y++)
        for (uint32_t x = 0; x < WIDTH; x++)
            pixels[y][x] = x % stripes.step == 0 && x / stripes.step < stripes.n && y != GAP;
    emulate_fail("cudaEventQuery", NEVER, 0, false); /* counts, from here on: a submission may poll, too */
    return ccl_submit(context, &mask, NULL, labels);
}

/* Collects the oldest frame; returns the number of polls of events since the last submission began, or -1. */
static int polls(CclContext *context, Stripes stripes)
{
    CclTable table;
    const bool right = ccl_collect(context, &table) == CCL_OK && table.n_found == 2 * stripes.n;
    const int n_polls = (int)emulate_calls();
    return right ? n_polls : -1;
}

static void check_frames(CclContext *context, const char *name)
{
    static const Stripes none = { 0, 64 }, few = { 20, 64 }, more = { 30, 64 };
    const size_t size = sizeof(uint32_t) * WIDTH * HEIGHT;
    uint32_t *const pinned = (uint32_t *)ccl_pinned_alloc(size, 0);
    const CclLabels downloaded = { pinned, WIDTH * sizeof(uint32_t), CCL_MEMORY_PINNED };
    const auto alone = [&](Stripes stripes, const CclLabels *labels) {
        return submit(context, stripes, labels) == CCL_OK ? polls(context, stripes) : -1;
    };
    check(alone(few, NULL) == 0, "alone", name);
    check(alone(none, NULL) == 0, "empty", name);
    check(alone(Stripes{ 256, 64 }, NULL) == 0, "512 components in several tiles", name);
    check(alone(Stripes{ 257, 63 }, NULL) > 0, "514", name);
    check(alone(Stripes{ 64, 31 }, NULL) == 0, "64 that begin in one tile", name);
    check(alone(Stripes{ 65, 31 }, NULL) > 0, "65", name);
    check(alone(few, NULL) == 0, "few again", name);
    check(alone(few, &downloaded) > 0, "labels come after the table", name);
    check(submit(context, few, NULL) == CCL_OK && submit(context, more, NULL) == CCL_OK, "two", name);
    check(polls(context, few) == 0, "the first of two came when there was none", name);
    check(polls(context, more) > 0, "the second of two", name);
    check(alone(few, NULL) == 0, "alone again", name);
    ccl_pinned_free(pinned);
}

static void check_timed(CclContext *context, const char *name)
{
    const Stripes few = { 20, 64 };
    check(submit(context, few, NULL) == CCL_OK && polls(context, few) > 0, "the times of the steps are there at the end", name);
}

/* All frames go as those of batches do. */
static void check_clusters(CclContext *context, const char *name)
{
    static const Stripes few = { 20, 64 }, more = { 30, 64 };
    const size_t size = sizeof(uint32_t) * WIDTH * HEIGHT;
    uint32_t *const pinned = (uint32_t *)ccl_pinned_alloc(size, 0);
    const CclLabels downloaded = { pinned, WIDTH * sizeof(uint32_t), CCL_MEMORY_PINNED };
    check(submit(context, few, NULL, 2048) == CCL_OK && polls(context, few) == 0, "one", name);
    check(submit(context, few, NULL, 2048) == CCL_OK && submit(context, more, NULL, 2048) == CCL_OK, "two", name);
    check(polls(context, few) == 0, "the first of two", name);
    check(polls(context, more) == 0, "the second of two", name);
    check(submit(context, few, &downloaded, 2048) == CCL_OK && polls(context, few) > 0, "labels have no cluster", name);
    check(submit(context, more, NULL, 2048) == CCL_OK && polls(context, more) == 0, "one again", name);
    ccl_pinned_free(pinned);
}

int main()
{
    static const struct {
        const char *name;
        bool shared, timing;
        const char *clusters; /* CCL_TEST_CLUSTERS */
        void (*check)(CclContext *context, const char *name);
    } contexts[] = {
        { "own", false, false, "0", check_frames },
        { "shared", true, false, "0", check_frames },
        { "timed", false, true, "0", check_timed },
        { "clusters", true, false, "1", check_clusters },
    };
    for (const auto &kind : contexts) {
        setenv("CCL_TEST_CLUSTERS", kind.clusters, 1);
        ccl_test_switches_reread();
        CclConfig config = ccl_config_default();
        CclContext *context;
        config.backend = CCL_BACKEND_CUDA;
        config.algorithm = "runs";
        config.connectivity = CCL_CONNECT_4;
        config.max_width = WIDTH;
        config.max_height = HEIGHT;
        config.labels = true;
        config.depth = 2;
        config.shared = kind.shared;
        config.timing = kind.timing;
        if (!check(ccl_context_new(&config, &context) == CCL_OK, "context", kind.name))
            continue;
        kind.check(context, kind.name);
        ccl_context_free(context);
    }
    printf("%u passed, %u failed\n", n_checks - n_failed, n_failed);
    return n_failed != 0;
}
