/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* A frame from ccl_submit() to ccl_collect(), the same for every backend: argument checks, a slot of the ring, the
 * backend's work, the selection, the order and the cap of the table. */
#include "context.h"
#include "order.h"
#include "select.h"

/* ---------------------------------------------------------------- submit */

/* Checks all arguments, because a frame that fails later has been begun. */
static CclStatus check_submission(const CclContext *context, const CclMask *mask, const CclFilter *filter,
                                  const CclLabels *labels)
{
    CCL_TRY(ccl_check_usable(context));
    if (context->config.volume)
        return ccl_fail(CCL_ERROR_ARGUMENT, "the context is one for volumes: ccl_volume_add() takes its masks");
    CCL_TRY(ccl_check_mask(&context->config, mask));
    if (filter && filter->border != CCL_BORDER_FLAG && filter->border != CCL_BORDER_KEEP &&
        filter->border != CCL_BORDER_DROP)
        return ccl_fail(CCL_ERROR_ARGUMENT, "border rule %d does not exist", (int)filter->border);
    if (context->config.features & CCL_FEATURE_INTENSITY)
        CCL_TRY(ccl_check_picture(&context->config, mask));
    if (labels && !context->config.labels)
        return ccl_fail(CCL_ERROR_ARGUMENT, "the context was made without label images");
    if (labels)
        CCL_TRY(ccl_check_labels(&context->config, mask, labels));
    if (filter && filter->selection)
        CCL_TRY(ccl_select_check(context, filter, labels));
    if (context->n_waiting == context->config.depth)
        return ccl_fail(CCL_ERROR_ARGUMENT, "%u frames are waiting already; collect one first", context->n_waiting);
    return CCL_OK;
}

/* Fills the next free slot of the ring. */
static CclFrame *begin_frame(CclContext *context, const CclMask *mask, const CclFilter *filter, const CclLabels *labels)
{
    CclFrame *const frame = &context->frames[(context->first + context->n_waiting) % context->config.depth];
    frame->mask = *mask;
    if (!frame->mask.pixel_size)
        frame->mask.pixel_size = 1;
    frame->limits = ccl_absolute_limits(filter, mask);
    frame->selection = filter ? filter->selection : NULL;
    frame->labels = labels ? *labels : (CclLabels){ 0 };
    frame->table = (CclTable){ .components = frame->records,
                               .shape = frame->shape,
                               .hull = frame->hull,
                               .holes = frame->holes,
                               .hole_rows = frame->hole_rows,
                               .intensity = frame->intensity,
                               .class_ids = frame->class_ids,
                               .width = mask->width,
                               .height = mask->height,
                               .batch_size = 1,
                               .wait_us = -1,
                               .pack_us = -1,
                               .upload_us = -1,
                               .kernel_us = -1 };
    return frame;
}

CclStatus ccl_submit(CclContext *context, const CclMask *mask, const CclFilter *filter, const CclLabels *labels)
{
    CCL_TRY(check_submission(context, mask, filter, labels));
    CclFrame *const frame = begin_frame(context, mask, filter, labels);
    const CclStatus status = context->backend->submit(context, frame);
    context->lost = status != CCL_OK;
    if (status == CCL_OK)
        context->n_waiting++;
    return status;
}

/* ---------------------------------------------------------------- collect */

bool ccl_ready(CclContext *context)
{
    return !context->n_waiting || context->lost || context->backend->ready(context, &context->frames[context->first]);
}

/* The backend's table is in raster order and may have more components than the caller asked for. */
static void finish_table(const CclContext *context, CclFrame *frame)
{
    CclTable *const table = &frame->table;
    ccl_select_rows(context, frame);
    table->n_components = table->n_kept < context->capacity ? table->n_kept : context->capacity;
    ccl_order_rows(context, frame);
    if (table->n_components > context->config.max_components)
        table->n_components = context->config.max_components;
    if (table->n_kept > table->n_components)
        table->flags |= CCL_TABLE_TRUNCATED;
}

CclStatus ccl_collect(CclContext *context, CclTable *table)
{
    CCL_TRY(ccl_check_usable(context));
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

/* ---------------------------------------------------------------- both */

CclStatus ccl_analyze(CclContext *context, const CclMask *mask, const CclFilter *filter, const CclLabels *labels,
                      CclTable *table)
{
    if (context->n_waiting)
        return ccl_fail(CCL_ERROR_ARGUMENT, "%u frames are in flight; collect them first", context->n_waiting);
    CCL_TRY(ccl_submit(context, mask, filter, labels));
    return ccl_collect(context, table);
}
