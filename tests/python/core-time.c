/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* The time of ccl_analyze() on one thread: core-time WIDTH HEIGHT REPETITIONS <MASK; prints the median in microseconds. */
#include "kernels/ccl.h"
#include "kernels/host/clock.h"

#include <stdio.h>
#include <stdlib.h>

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

int main(int argc, char **argv)
{
    if (argc != 4)
        return 2;
    CclConfig config = ccl_config_default();
    config.max_width = (uint32_t)atoi(argv[1]), config.max_height = (uint32_t)atoi(argv[2]);
    config.threads = 1;
    config.max_components = 65536;
    const int n = atoi(argv[3]);
    const size_t size = (size_t)config.max_width * config.max_height;
    unsigned char *pixels = malloc(size);
    double *times = malloc((size_t)n * sizeof *times);
    CclContext *context;
    if (!pixels || !times || fread(pixels, 1, size, stdin) != size || ccl_context_new(&config, &context) != CCL_OK)
        return 1;
    const CclMask mask = { .data = pixels, .stride = config.max_width, .width = config.max_width, .height = config.max_height };
    for (int i = 0; i < n; i++) {
        CclTable table;
        const double start = ccl_now_us();
        if (ccl_analyze(context, &mask, NULL, NULL, &table) != CCL_OK)
            return 1;
        times[i] = ccl_now_us() - start;
    }
    qsort(times, (size_t)n, sizeof *times, compare);
    printf("%.1f\n", times[n / 2]);
    ccl_context_free(context);
    free(times);
    free(pixels);
    return 0;
}
