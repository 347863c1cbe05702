/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* The time of ccl_analyze() on one thread, or on a CUDA device, for speed.py. */
#include "kernels/ccl.h"
#include "kernels/host/clock.h"

#include <stdbool.h>
#include <stdlib.h>

/* cudaStreamLegacy, for which the module waits, too */
#define LEGACY_STREAM ((void *)1)

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The median of n calls in microseconds; negative: an error. on_device: the pixels are there. In the process of the module,
 * because the time depends on the pages that the mask lies in. */
double core_time(const unsigned char *pixels, uint32_t width, uint32_t height, int n, int on_device);

double core_time(const unsigned char *pixels, uint32_t width, uint32_t height, int n, int on_device)
{
    CclConfig config = ccl_config_default();
    config.max_width = width, config.max_height = height;
    config.threads = 1;
    config.backend = on_device ? CCL_BACKEND_CUDA : CCL_BACKEND_CPU;
    config.max_components = 65536;
    double *times = malloc((size_t)n * sizeof *times);
    CclContext *context = NULL;
    if (!times || ccl_context_new(&config, &context) != CCL_OK) {
        free(times);
        return -1;
    }
    const CclMask mask = { .data = pixels,
                           .stride = width,
                           .width = width,
                           .height = height,
                           .memory = on_device ? CCL_MEMORY_DEVICE : CCL_MEMORY_HOST,
                           .producer_stream = on_device ? LEGACY_STREAM : NULL };
    bool ok = true;
    for (int i = 0; i < n && ok; i++) {
        CclTable table;
        const double start = ccl_now_us();
        ok = ccl_analyze(context, &mask, NULL, NULL, &table) == CCL_OK;
        times[i] = ccl_now_us() - start;
    }
    qsort(times, (size_t)n, sizeof *times, compare);
    const double median = ok ? times[n / 2] : -1;
    ccl_context_free(context);
    free(times);
    return median;
}
