/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* The CPU backend: the work is done in submit, in the calling thread. */
#include "context.h"

#include "host/clock.h"

#include <stdlib.h>
#include <sys/mman.h>

/* Small arrays share a mapping. */
#define SMALL_BLOCK ((size_t)256 << 10)
/* Large arrays may get large pages. */
#define LARGE_BLOCK ((size_t)16 << 20)

CclStatus ccl_cpu_memory(CclContext *context, size_t size, void **memory)
{
    CpuContext *const cpu = context->impl;
    const size_t aligned = (size + 63) & ~(size_t)63;

    *memory = NULL;
    if (aligned <= cpu->small_left) {
        *memory = cpu->small;
        cpu->small += aligned;
        cpu->small_left -= aligned;
        return CCL_OK;
    }
    if (aligned < SMALL_BLOCK / 4) {
        void *block;
        CCL_TRY(ccl_cpu_memory(context, SMALL_BLOCK, &block));
        cpu->small = block;
        cpu->small_left = SMALL_BLOCK;
        return ccl_cpu_memory(context, size, memory);
    }
    void *const block = cpu->n_blocks < MAX_BLOCKS
                            ? mmap(NULL, aligned, PROT_READ | PROT_WRITE,
                                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)
                            : MAP_FAILED;
    if (block == MAP_FAILED)
        return ccl_fail(CCL_ERROR_OUT_OF_MEMORY, "no memory for the %zu bytes algorithm \"%s\" works in", size,
                        context->algorithm->info.name);
    if (aligned >= LARGE_BLOCK)
        madvise(block, aligned, MADV_HUGEPAGE); /* 3 to 10 % for noise of many blobs */
    cpu->block[cpu->n_blocks++] = (CpuBlock){ block, aligned };
    context->host_bytes += aligned;
    *memory = block;
    return CCL_OK;
}

static CclStatus open_class_ids(CclContext *context, unsigned n_slots)
{
    const size_t size = context->capacity * sizeof(uint16_t);
    if (context->config.foreground != CCL_FOREGROUND_EQUAL)
        return CCL_OK;
    for (unsigned i = 0; i < n_slots; i++)
        CCL_TRY(ccl_cpu_memory(context, size, (void **)&context->frames[i].class_ids));
    return context->config.volume ? ccl_cpu_memory(context, size, (void **)&context->volume.class_ids) : CCL_OK;
}

CclStatus ccl_cpu_hole_rows(CclContext *context, CclFrame *frame)
{
    const size_t n_pixels = (size_t)context->config.max_width * context->config.max_height;
    const size_t n = context->config.foreground == CCL_FOREGROUND_EQUAL ? n_pixels : n_pixels / 2 + 1;
    return ccl_cpu_memory(context, n * sizeof(CclHole), (void **)&frame->hole_rows);
}

static CclStatus open_holes(CclContext *context, CclFrame *frame)
{
    CCL_TRY(ccl_cpu_memory(context, context->capacity * sizeof(CclHoleCounts), (void **)&frame->holes));
    return ccl_cpu_hole_rows(context, frame);
}

static CclStatus cpu_open(CclContext *context)
{
    const CclAlgorithm *const algorithm = context->algorithm;

    CpuContext *const cpu = calloc(1, sizeof *cpu);
    if (!cpu)
        return ccl_fail(CCL_ERROR_OUT_OF_MEMORY, "out of memory");
    context->impl = cpu;
    if (algorithm->workspace_size)
        CCL_TRY(ccl_cpu_memory(context, algorithm->workspace_size(context), &cpu->workspace));
    if (algorithm->open)
        CCL_TRY(algorithm->open(context));
    const unsigned n_slots = context->config.volume ? 0 : context->config.depth;
    for (unsigned i = 0; i < n_slots; i++) /* unless the method has allocated its own */
        if (!context->frames[i].records)
            CCL_TRY(ccl_cpu_memory(context, context->capacity * sizeof(CclComponent),
                                   (void **)&context->frames[i].records));
    for (unsigned i = 0; i < n_slots && context->config.features & CCL_FEATURE_SHAPE; i++)
        if (!context->frames[i].shape)
            CCL_TRY(ccl_cpu_memory(context, context->capacity * sizeof(CclShapeCounts),
                                   (void **)&context->frames[i].shape));
    for (unsigned i = 0; i < n_slots && context->config.features & CCL_FEATURE_HULL; i++)
        if (!context->frames[i].hull)
            CCL_TRY(ccl_cpu_memory(context, context->capacity * sizeof(CclHullCounts), (void **)&context->frames[i].hull));
    for (unsigned i = 0; i < n_slots && context->config.features & CCL_FEATURE_HOLES; i++)
        if (!context->frames[i].holes)
            CCL_TRY(open_holes(context, &context->frames[i]));
    for (unsigned i = 0; i < n_slots && context->config.features & CCL_FEATURE_INTENSITY; i++)
        if (!context->frames[i].intensity)
            CCL_TRY(
                ccl_cpu_memory(context, context->capacity * sizeof(CclIntensityCounts), (void **)&context->frames[i].intensity));
    return open_class_ids(context, n_slots);
}

static void cpu_close(CclContext *context)
{
    CpuContext *const cpu = context->impl;
    if (!cpu)
        return;
    if (context->algorithm->close)
        context->algorithm->close(context);
    for (unsigned i = 0; i < cpu->n_blocks; i++)
        munmap(cpu->block[i].memory, cpu->block[i].size);
    free(cpu);
}

static CclStatus cpu_submit(CclContext *context, CclFrame *frame)
{
    const double start = context->config.timing ? ccl_now_us() : 0;
    CCL_TRY(context->algorithm->analyze(context, frame));
    if (context->config.timing) {
        frame->table.upload_us = 0;
        frame->table.kernel_us = (float)(ccl_now_us() - start);
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

/* ---------------------------------------------------------------- volumes */

static CclStatus cpu_volume_add(CclContext *context, const CclMask *mask)
{
    return context->algorithm->volume_add(context, mask);
}

static CclStatus cpu_volume_label(CclContext *context, const CclLabels *labels)
{
    const double start = context->config.timing ? ccl_now_us() : 0;
    CCL_TRY(context->algorithm->volume_label(context, labels));
    if (context->config.timing)
        context->volume.kernel_us = (float)(ccl_now_us() - start);
    return CCL_OK;
}

static CclStatus cpu_volume_look_up(CclContext *context, const CclVoxel *voxels, uint32_t n, uint32_t *labels)
{
    return context->algorithm->volume_look_up(context, voxels, n, labels);
}

const CclBackend ccl_cpu_volumes = {
    .name = "cpu",
    .open = cpu_open,
    .close = cpu_close,
    .volume_add = cpu_volume_add,
    .volume_label = cpu_volume_label,
    .volume_look_up = cpu_volume_look_up,
};
