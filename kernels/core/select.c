/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "select.h"

#include "analysis/selection.h"

#include <stdlib.h>

CclStatus ccl_select_open(CclContext *context)
{
    const CclConfig *const config = &context->config;
    if (!config->selects || config->backend == CCL_BACKEND_CPU)
        return CCL_OK;
    const size_t n = (size_t)context->capacity + 1;
    context->renamed = calloc(n, sizeof *context->renamed);
    if (!context->renamed)
        return ccl_fail(CCL_ERROR_OUT_OF_MEMORY, "no memory to select from %u components", context->capacity);
    context->host_bytes += n * sizeof *context->renamed;
    return CCL_OK;
}

void ccl_select_close(CclContext *context)
{
    free(context->renamed);
}

CclStatus ccl_select_check(const CclContext *context, const CclFilter *filter, const CclLabels *labels)
{
    if (!context->config.selects)
        return ccl_fail(CCL_ERROR_ARGUMENT, "the context was made without selections");
    if (filter->selection->features & ~context->config.features)
        return ccl_fail(CCL_ERROR_ARGUMENT, "the selection needs features 0x%x, the context has 0x%x",
                        filter->selection->features, context->config.features);
    if (labels && labels->memory == CCL_MEMORY_DEVICE)
        return ccl_fail(CCL_ERROR_ARGUMENT, "a selection needs the label image in host memory");
    return CCL_OK;
}

/* Rows are in the order of their parents, of which none before `to` has moved further. */
static void move_holes(CclFrame *frame, uint32_t to, uint32_t from)
{
    CclHoleCounts *const counts = &frame->holes[to];
    const uint32_t first = frame->holes[from].first;
    *counts = frame->holes[from];
    counts->first = to ? counts[-1].first + counts[-1].n_holes : 0;
    for (uint32_t k = 0; k < counts->n_holes; k++) {
        frame->hole_rows[counts->first + k] = frame->hole_rows[first + k];
        frame->hole_rows[counts->first + k].parent = to + 1;
    }
    frame->table.n_hole_rows = counts->first + counts->n_holes;
}

static void move_record(CclFrame *frame, uint32_t to, uint32_t from)
{
    frame->records[to] = frame->records[from];
    frame->records[to].label = to + 1;
    if (frame->shape)
        frame->shape[to] = frame->shape[from];
    if (frame->hull)
        frame->hull[to] = frame->hull[from];
    if (frame->intensity)
        frame->intensity[to] = frame->intensity[from];
    if (frame->class_ids)
        frame->class_ids[to] = frame->class_ids[from];
    if (frame->holes)
        move_holes(frame, to, from);
}

/* Returns the number of those selected of the first n records. */
static uint32_t select_records(const CclContext *context, CclFrame *frame, uint32_t n)
{
    CclMeasuring measuring = { .width = frame->mask.width, .height = frame->mask.height };
    uint32_t n_kept = 0;
    frame->table.n_hole_rows = 0;
    for (uint32_t i = 0; i < n; i++) {
        measuring.class_id = frame->class_ids ? &frame->class_ids[i] : NULL;
        ccl_measure_next(&measuring, &frame->records[i], frame->shape ? &frame->shape[i] : NULL,
                         frame->hull ? &frame->hull[i] : NULL, frame->holes ? &frame->holes[i] : NULL,
                         frame->intensity ? &frame->intensity[i] : NULL);
        const bool keeps = ccl_selection_keeps(frame->selection, &measuring);
        context->renamed[i + 1] = keeps ? n_kept + 1 : 0;
        if (keeps)
            move_record(frame, n_kept++, i);
    }
    return n_kept;
}

static void rename_labels(const CclContext *context, const CclFrame *frame, uint32_t n)
{
    const CclLabels *const labels = &frame->labels;
    for (uint32_t y = 0; y < frame->mask.height; y++) {
        uint32_t *const row = (uint32_t *)((uint8_t *)labels->data + y * labels->stride);
        for (uint32_t x = 0; x < frame->mask.width; x++)
            row[x] = row[x] <= n ? context->renamed[row[x]] : 0;
    }
}

void ccl_select_rows(const CclContext *context, CclFrame *frame)
{
    CclTable *const table = &frame->table;
    if (!frame->selection || !context->renamed || frame->labels.provisional)
        return;
    const uint32_t n_before = table->n_kept, n = n_before < context->capacity ? n_before : context->capacity;
    if (n < n_before)
        table->flags |= CCL_TABLE_TRUNCATED;
    table->n_kept = select_records(context, frame, n);
    if (frame->labels.data && table->n_kept < n_before)
        rename_labels(context, frame, n);
}
