/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Argument checks, the ring of frames, and what every backend's table goes through last. */
#include "backend.h"

#include <float.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static _Thread_local char error_message[512] = "no error";

const char *ccl_error_message(void)
{
    return error_message;
}

CclStatus ccl_fail(CclStatus status, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(error_message, sizeof error_message, format, args);
    va_end(args);
    return status;
}

/* ---------------------------------------------------------------- methods */

static const char *backend_name(CclBackendKind kind)
{
    return kind == CCL_BACKEND_CUDA ? "CUDA" : "CPU";
}

const CclAlgorithmInfo *ccl_algorithm(unsigned index)
{
    unsigned n = 0;
    while (ccl_algorithms[n] && n < index)
        n++;
    return ccl_algorithms[n] ? &ccl_algorithms[n]->info : NULL;
}

bool ccl_backend_built(CclBackendKind backend)
{
    for (unsigned i = 0; ccl_algorithms[i]; i++)
        if (ccl_algorithms[i]->info.backend == backend)
            return true;
    return false;
}

static CclStatus choose_algorithm(const CclConfig *config, const CclAlgorithm **algorithm)
{
    const bool any = !config->algorithm || !strcmp(config->algorithm, "auto");
    const CclAlgorithm *named = NULL, *other_kind = NULL;

    for (unsigned i = 0; ccl_algorithms[i]; i++) {
        const CclAlgorithm *const candidate = ccl_algorithms[i];
        if (candidate->info.backend != config->backend)
            continue;
        if (!any && strcmp(candidate->info.name, config->algorithm))
            continue;
        if (candidate->info.volume != (config->volume != 0)) {
            other_kind = candidate;
            continue;
        }
        named = candidate;
        if (candidate->info.connectivity & config->connectivity) {
            *algorithm = candidate;
            return CCL_OK;
        }
    }
    if (named)
        return ccl_fail(CCL_ERROR_UNSUPPORTED, "algorithm \"%s\" does not do %d-connectivity, only %d", named->info.name,
                        config->connectivity, config->connectivity == CCL_CONNECT_4 ? 8 : 4);
    if (other_kind && !any)
        return ccl_fail(CCL_ERROR_UNSUPPORTED, "algorithm \"%s\" labels %s", other_kind->info.name,
                        config->volume ? "single masks, not volumes" : "volumes, not single masks");
    return ccl_fail(CCL_ERROR_UNSUPPORTED, "the %s backend has no algorithm \"%s\"", backend_name(config->backend),
                    any ? "auto" : config->algorithm);
}

uint32_t ccl_max_components(uint32_t width, uint32_t height, CclConnectivity connectivity)
{
    if (connectivity == CCL_CONNECT_4)
        return (uint32_t)(((uint64_t)width * height + 1) / 2);
    return ((width + 1) / 2) * ((height + 1) / 2);
}

/* ---------------------------------------------------------------- context */

CclConfig ccl_config_default(void)
{
    return (CclConfig){
        .backend = CCL_BACKEND_CPU,
        .connectivity = CCL_CONNECT_8,
        .max_components = 4096,
        .depth = 1,
        .cpu_flags = CCL_CPU_ALL,
    };
}

CclStatus ccl_check_connectivity(CclConnectivity connectivity)
{
    if (connectivity != CCL_CONNECT_4 && connectivity != CCL_CONNECT_8)
        return ccl_fail(CCL_ERROR_ARGUMENT, "connectivity is 4 or 8, not %d", (int)connectivity);
    return CCL_OK;
}

static CclStatus check_config(const CclConfig *config)
{
    if (config->backend != CCL_BACKEND_CPU && config->backend != CCL_BACKEND_CUDA)
        return ccl_fail(CCL_ERROR_ARGUMENT, "backend %d does not exist", (int)config->backend);
    CCL_TRY(ccl_check_connectivity(config->connectivity));
    if (config->max_width < 1 || config->max_width > CCL_MAX_SIZE || config->max_height < 1 ||
        config->max_height > CCL_MAX_SIZE)
        return ccl_fail(CCL_ERROR_ARGUMENT, "largest mask %ux%u is outside 1x1 to %ux%u", config->max_width,
                        config->max_height, CCL_MAX_SIZE, CCL_MAX_SIZE);
    if (config->max_components < 1 || config->max_components > CCL_MAX_COMPONENTS)
        return ccl_fail(CCL_ERROR_ARGUMENT, "max_components %u is outside 1 to %u", config->max_components,
                        CCL_MAX_COMPONENTS);
    if (config->order != CCL_ORDER_RASTER && config->order != CCL_ORDER_AREA)
        return ccl_fail(CCL_ERROR_ARGUMENT, "order %d does not exist", (int)config->order);
    if (config->depth < 1 || config->depth > CCL_MAX_DEPTH)
        return ccl_fail(CCL_ERROR_ARGUMENT, "depth %u is outside 1 to %u", config->depth, CCL_MAX_DEPTH);
    if (config->volume)
        return ccl_check_volume_config(config);
    return CCL_OK;
}

/* Rows a backend fills: to choose the largest, all have to be seen first. */
static uint32_t table_capacity(const CclConfig *config)
{
    const uint32_t most = config->volume ? ccl_max_volume_components(config)
                                         : ccl_max_components(config->max_width, config->max_height, config->connectivity);
    const uint32_t wanted = config->order == CCL_ORDER_AREA ? CCL_MAX_COMPONENTS : config->max_components;
    return wanted < most ? wanted : most;
}

CclStatus ccl_context_new(const CclConfig *config, CclContext **result)
{
    const CclAlgorithm *algorithm = NULL;

    *result = NULL;
    CCL_TRY(check_config(config));
    if (!ccl_backend_built(config->backend))
        return ccl_fail(CCL_ERROR_UNSUPPORTED, "this build has no %s backend (built without the CUDA toolkit)",
                        backend_name(config->backend));
    CCL_TRY(choose_algorithm(config, &algorithm));

    CclContext *const context = calloc(1, sizeof *context);
    if (!context)
        return ccl_fail(CCL_ERROR_OUT_OF_MEMORY, "out of memory");
    context->config = *config;
    context->config.algorithm = algorithm->info.name;
    context->algorithm = algorithm;
    if (config->backend == CCL_BACKEND_CUDA)
        context->backend = config->volume ? &ccl_cuda_volumes : &ccl_cuda_backend;
    else
        context->backend = config->volume ? &ccl_cpu_volumes : &ccl_cpu_backend;
    context->capacity = table_capacity(config);

    const CclStatus status = context->backend->open(context);
    if (status != CCL_OK) {
        ccl_context_free(context);
        return status;
    }
    *result = context;
    return CCL_OK;
}

void ccl_context_free(CclContext *context)
{
    if (!context)
        return;
    context->backend->close(context);
    free(context);
}

const CclAlgorithmInfo *ccl_context_algorithm(const CclContext *context)
{
    return &context->algorithm->info;
}

void ccl_context_memory(const CclContext *context, size_t *host_bytes, size_t *device_bytes)
{
    *host_bytes = context->host_bytes;
    *device_bytes = context->device_bytes;
}

unsigned ccl_steps(const CclContext *context, const CclStep **steps)
{
    *steps = context->steps;
    return context->n_steps;
}

/* ---------------------------------------------------------------- frames */

CclStatus ccl_check_memory(CclBackendKind backend, CclMemory memory, const char *what)
{
    if (memory != CCL_MEMORY_HOST && memory != CCL_MEMORY_PINNED && memory != CCL_MEMORY_DEVICE)
        return ccl_fail(CCL_ERROR_ARGUMENT, "memory kind %d of the %s does not exist", (int)memory, what);
    if (memory == CCL_MEMORY_DEVICE && backend != CCL_BACKEND_CUDA)
        return ccl_fail(CCL_ERROR_ARGUMENT, "the CPU backend cannot reach a %s in device memory", what);
    return CCL_OK;
}

CclStatus ccl_check_mask(const CclConfig *config, const CclMask *mask)
{
    if (!mask->data)
        return ccl_fail(CCL_ERROR_ARGUMENT, "the mask has no data");
    if (mask->pixel_size > 2)
        return ccl_fail(CCL_ERROR_ARGUMENT, "mask pixels have 1 or 2 bytes, not %u", mask->pixel_size);
    if (mask->width < 1 || mask->height < 1 || mask->width > config->max_width || mask->height > config->max_height)
        return ccl_fail(CCL_ERROR_ARGUMENT, "mask %ux%u does not fit a context for 1x1 to %ux%u", mask->width,
                        mask->height, config->max_width, config->max_height);
    if (mask->stride < (size_t)mask->width * (mask->pixel_size == 2 ? 2 : 1))
        return ccl_fail(CCL_ERROR_ARGUMENT, "mask stride %zu is shorter than a row of %u pixels", mask->stride,
                        mask->width);
    return ccl_check_memory(config->backend, mask->memory, "mask");
}

CclStatus ccl_check_labels(const CclConfig *config, const CclMask *mask, const CclLabels *labels)
{
    if (!labels->data || (uintptr_t)labels->data % 4)
        return ccl_fail(CCL_ERROR_ARGUMENT, "the label image has no data, or its address %p is not a multiple of 4",
                        (void *)labels->data);
    if (labels->stride % 4 || labels->stride < (size_t)mask->width * 4)
        return ccl_fail(CCL_ERROR_ARGUMENT, "label image stride %zu is not a multiple of 4 of at least %u", labels->stride,
                        mask->width * 4);
    if (labels->stride / 4 > UINT32_MAX / mask->height)
        return ccl_fail(CCL_ERROR_ARGUMENT, "%u rows of a label image with stride %zu are more than 2^32 pixels",
                        mask->height, labels->stride);
    return ccl_check_memory(config->backend, labels->memory, "label image");
}

/* How far a share of the pixels may be from what was meant, as 0.07 is no double, and the product is rounded. */
#define SHARE_SLACK (4 * DBL_EPSILON)

/* An area limit in pixels from an absolute and a relative one; 0 means none. Relative limits round towards keeping less,
 * so that "at least 1 %" is at least 1 %. */
static CclLimits absolute_limits(const CclFilter *filter, const CclMask *mask)
{
    static const CclFilter keep_all;
    const CclFilter *const f = filter ? filter : &keep_all;
    const double pixels = (double)mask->width * mask->height;
    CclLimits limits = { .max_area = UINT32_MAX, .max_width = UINT32_MAX, .max_height = UINT32_MAX };

    const double min_area = fmax((double)f->min_area, ceil(f->min_relative_area * pixels * (1 - SHARE_SLACK)));
    double max_area = f->max_area ? (double)f->max_area : UINT32_MAX;
    if (f->max_relative_area > 0)
        max_area = fmin(max_area, floor(f->max_relative_area * pixels * (1 + SHARE_SLACK)));
    limits.min_area = min_area < UINT32_MAX ? (uint32_t)min_area : UINT32_MAX;
    limits.max_area = max_area < UINT32_MAX ? (uint32_t)max_area : UINT32_MAX;
    limits.min_width = f->min_width;
    limits.min_height = f->min_height;
    if (f->max_width)
        limits.max_width = f->max_width;
    if (f->max_height)
        limits.max_height = f->max_height;
    limits.border = f->border;
    return limits;
}

CclStatus ccl_check_alive(const CclContext *context)
{
    if (context->lost)
        return ccl_fail(CCL_ERROR_DEVICE, "the device failed in an earlier frame; make a new context");
    return CCL_OK;
}

CclStatus ccl_submit(CclContext *context, const CclMask *mask, const CclFilter *filter, const CclLabels *labels)
{
    CCL_TRY(ccl_check_alive(context));
    if (context->config.volume)
        return ccl_fail(CCL_ERROR_ARGUMENT, "the context is one for volumes: ccl_volume_add() takes its masks");
    CCL_TRY(ccl_check_mask(&context->config, mask));
    if (filter && filter->border != CCL_BORDER_FLAG && filter->border != CCL_BORDER_KEEP &&
        filter->border != CCL_BORDER_DROP)
        return ccl_fail(CCL_ERROR_ARGUMENT, "border rule %d does not exist", (int)filter->border);
    if (labels && !context->config.labels)
        return ccl_fail(CCL_ERROR_ARGUMENT, "the context was made without label images");
    if (labels)
        CCL_TRY(ccl_check_labels(&context->config, mask, labels));
    if (context->n_waiting == context->config.depth)
        return ccl_fail(CCL_ERROR_ARGUMENT, "%u frames are waiting already; collect one first", context->n_waiting);

    CclFrame *const frame = &context->frames[(context->first + context->n_waiting) % context->config.depth];
    frame->mask = *mask;
    if (!frame->mask.pixel_size)
        frame->mask.pixel_size = 1;
    frame->limits = absolute_limits(filter, mask);
    frame->labels = labels ? *labels : (CclLabels){ 0 };
    frame->table = (CclTable){ .components = frame->rows, .width = mask->width, .height = mask->height, .batch_size = 1,
                               .wait_us = -1, .pack_us = -1, .upload_us = -1, .kernel_us = -1 };

    /* All that a caller can have wrong was refused above: a frame that fails from here on was begun. */
    const CclStatus status = context->backend->submit(context, frame);
    context->lost = status != CCL_OK;
    if (status == CCL_OK)
        context->n_waiting++;
    return status;
}

/* CCL_ORDER_AREA */
static bool comes_before(const CclComponent *a, const CclComponent *b)
{
    return a->moments.area != b->moments.area ? a->moments.area > b->moments.area : a->label < b->label;
}

/* Makes rows[0..n) a heap, whose top comes last, when all but rows[i] is one already. */
static void sink_row(CclComponent *rows, uint32_t n, uint32_t i)
{
    const CclComponent row = rows[i];
    for (uint32_t child; (child = 2 * i + 1) < n; i = child) {
        if (child + 1 < n && comes_before(&rows[child], &rows[child + 1]))
            child++;
        if (!comes_before(&row, &rows[child]))
            break;
        rows[i] = rows[child];
    }
    rows[i] = row;
}

/* The largest `most` of n rows to the front, in order. In place and without memory of its own: qsort() allocates. */
static void choose_largest(CclComponent *rows, uint32_t n, uint32_t most)
{
    const uint32_t n_chosen = n < most ? n : most;
    for (uint32_t i = n_chosen / 2; i-- > 0;)
        sink_row(rows, n_chosen, i);
    for (uint32_t i = n_chosen; i < n; i++)
        if (comes_before(&rows[i], &rows[0])) {
            rows[0] = rows[i];
            sink_row(rows, n_chosen, 0);
        }
    for (uint32_t end = n_chosen; end-- > 1;) {
        const CclComponent last = rows[0];
        rows[0] = rows[end];
        rows[end] = last;
        sink_row(rows, end, 0);
    }
}

/* The last touches, the same for every backend: order, then the cap. */
static void finish_table(const CclContext *context, CclFrame *frame)
{
    CclTable *const table = &frame->table;
    table->n_components = table->n_kept < context->capacity ? table->n_kept : context->capacity;
    if (context->config.order == CCL_ORDER_AREA)
        choose_largest(frame->rows, table->n_components, context->config.max_components);
    if (table->n_components > context->config.max_components)
        table->n_components = context->config.max_components;
    table->flags = table->n_kept > table->n_components ? CCL_TABLE_TRUNCATED : 0;
}

CclStatus ccl_collect(CclContext *context, CclTable *table)
{
    CCL_TRY(ccl_check_alive(context));
    if (!context->n_waiting)
        return ccl_fail(CCL_ERROR_ARGUMENT, "no frame is waiting to be collected");

    CclFrame *const frame = &context->frames[context->first];
    context->first = (context->first + 1) % context->config.depth;
    context->n_waiting--;

    const CclStatus status = context->backend->collect(context, frame);
    context->lost = status != CCL_OK;
    if (status == CCL_OK) {
        finish_table(context, frame);
        *table = frame->table;
    }
    return status;
}

bool ccl_ready(CclContext *context)
{
    return !context->n_waiting || context->lost || context->backend->ready(context, &context->frames[context->first]);
}

CclStatus ccl_analyze(CclContext *context, const CclMask *mask, const CclFilter *filter, const CclLabels *labels,
                      CclTable *table)
{
    if (context->n_waiting)
        return ccl_fail(CCL_ERROR_ARGUMENT, "%u frames are in flight; collect them first", context->n_waiting);
    CCL_TRY(ccl_submit(context, mask, filter, labels));
    return ccl_collect(context, table);
}
