/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* The CPU backend: the work is done in submit, in the calling thread. */
#include "backend.h"

#include <stdlib.h>
#include <time.h>

static void *allocate(CclContext *context, size_t size)
{
    void *memory = NULL;
    if (!size || posix_memalign(&memory, 64, size))
        return NULL;
    context->host_bytes += size;
    return memory;
}

static CclStatus cpu_open(CclContext *context)
{
    const CclAlgorithm *const algorithm = context->algorithm;
    const size_t row_bytes = context->capacity * sizeof(CclComponent);

    CpuContext *const cpu = calloc(1, sizeof *cpu);
    if (!cpu)
        return ccl_fail(CCL_ERROR_OUT_OF_MEMORY, "out of memory");
    context->impl = cpu;

    for (unsigned i = 0; i < context->config.depth; i++) {
        context->frames[i].rows = allocate(context, row_bytes);
        if (!context->frames[i].rows)
            return ccl_fail(CCL_ERROR_OUT_OF_MEMORY, "no memory for a table of %zu bytes", row_bytes);
    }
    const size_t size = algorithm->workspace_size ? algorithm->workspace_size(context) : 0;
    if (size && !(cpu->workspace = allocate(context, size)))
        return ccl_fail(CCL_ERROR_OUT_OF_MEMORY, "no memory for the %zu bytes algorithm \"%s\" works in", size,
                        algorithm->info.name);
    return CCL_OK;
}

static void cpu_close(CclContext *context)
{
    CpuContext *const cpu = context->impl;
    if (!cpu)
        return;
    for (unsigned i = 0; i < context->config.depth; i++)
        free(context->frames[i].rows);
    free(cpu->workspace);
    free(cpu);
}

static double now_us(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec * 1e-3;
}

static CclStatus cpu_submit(CclContext *context, CclFrame *frame)
{
    const double start = context->config.timing ? now_us() : 0;
    CCL_TRY(context->algorithm->analyze(context, frame));
    if (context->config.timing) {
        frame->table.upload_us = 0;
        frame->table.kernel_us = (float)(now_us() - start);
    }
    return CCL_OK;
}

static CclStatus cpu_collect(CclContext *context, CclFrame *frame)
{
    (void)context, (void)frame;
    return CCL_OK;
}

static bool cpu_ready(CclContext *context, CclFrame *frame)
{
    (void)context, (void)frame;
    return true;
}

const CclBackend ccl_cpu_backend = {
    .name = "cpu",
    .open = cpu_open,
    .close = cpu_close,
    .submit = cpu_submit,
    .collect = cpu_collect,
    .ready = cpu_ready,
};
