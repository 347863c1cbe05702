/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * The path of a frame on CUDA, from submit to collect. Each step has a file of its own:
 *
 *     stage     stage.cu, pack.cu     chooses where and in which form kernels read the mask; packs or copies it
 *     upload    upload.cu             from page-locked to device memory
 *     launch    launch.cu, replay.cu  alone; or through the scheduler, in a batch: scheduler.c, batch.cu
 *     wait      wait.cu               poll, then block
 *     collect   here                  counts, label images in host memory, times
 *
 * open.cu has the memory and streams that all of these use.
 */
#include "context.cuh"
#include "volume.cuh"

#include <string.h>

/* ---------------------------------------------------------------- stage */

static void choose_labels(const CclContext *context, const CudaSlot *slot, const CclFrame *frame, CudaVars *vars)
{
    const bool on_device = frame->labels.data && frame->labels.memory == CCL_MEMORY_DEVICE;
    if (!frame->labels.data && context->algorithm->analyze)
        return;
    vars->labels = on_device ? frame->labels.data : slot->d_labels;
    vars->label_stride = on_device ? frame->labels.stride / sizeof(uint32_t) : frame->mask.width;
}

static CclStatus stage(CclContext *context, CclFrame *ccl_frame)
{
    CudaSlot *const slot = (CudaSlot *)ccl_frame->slot;
    CudaFrame *const frame = &slot->frame;
    CudaVars *const vars = &frame->vars;
    const CclMask *const mask = &ccl_frame->mask;

    memset(vars, 0, sizeof *vars); /* compared as bytes */
    vars->limits = ccl_frame->limits;
    vars->keep_all = ccl_keeps_all(&vars->limits);
    CudaMaskForm form;
    CCL_TRY(cuda_stage_mask(context, slot, mask, &form, vars));
    CCL_TRY(cuda_stage_picture(context, slot, mask));
    choose_labels(context, slot, ccl_frame, vars);
    vars->sets_flag = context->algorithm->sets_completion_flag && !frame->timing && !cuda_downloads_labels(slot) &&
                      !context->config.features && cuda_device_is_idle(context);
    frame->shape = cuda_shape_of(context, ccl_frame, vars, form);
    cuda_clear_steps(frame);
    return CCL_OK;
}

/* ---------------------------------------------------------------- launch */

static CclStatus launch(const CudaContext *cuda, CudaSlot *slot)
{
    if (cuda->engine)
        return ccl_scheduler_submit(cuda->engine->queue, &slot->ticket);
    CCL_TRY(cuda_launch_slot(slot));
    return cuda_record_done(&slot, 1, slot->frame.stream, &slot->computed, &slot->done);
}

/* ---------------------------------------------------------------- submit */

/* When a frame has failed, its memory belongs to the caller again: no operation in flight may still use it. */
static CclStatus end_failed(const CudaContext *cuda, CclStatus status)
{
    if (status == CCL_OK)
        return CCL_OK;
    cudaStreamSynchronize(cuda->upload);
    cudaStreamSynchronize(cuda->download);
    for (const CudaStreamSlot &stream_slot : cuda->stream_slots) /* an engine synchronizes its own */
        if (stream_slot.stream)
            cudaStreamSynchronize(stream_slot.stream);
    (void)cudaGetLastError();
    return status;
}

static CclStatus submit_frame(CclContext *context, CclFrame *ccl_frame)
{
    CudaContext *const cuda = cuda_context(context);
    CudaSlot *const slot = (CudaSlot *)ccl_frame->slot;

    CCL_TRY(stage(context, ccl_frame));
    if (!slot->packs_meanwhile)
        return launch(cuda, slot);
    cuda_begin_packing(cuda, slot);
    const CclStatus status = launch(cuda, slot);
    cuda_end_packing(cuda, slot); /* also after a failed launch, because helpers may still pack */
    return status;
}

static CclStatus cuda_submit(CclContext *context, CclFrame *ccl_frame)
{
    CCL_TRY(cuda_use_device(context->config.device));
    return end_failed(cuda_context(context), submit_frame(context, ccl_frame));
}

/* ---------------------------------------------------------------- wait */

static CclStatus wait(CudaContext *cuda, CudaSlot *slot)
{
    if (cuda->engine)
        return ccl_scheduler_collect(cuda->engine->queue, &slot->ticket);
    const uint32_t *const flag = cuda_completion_flag(slot);
    CCL_CUDA_TRY(cuda_wait(slot->done, &flag, flag != NULL, &cuda->waiter));
    return CCL_OK;
}

/* ---------------------------------------------------------------- collect */

static CclStatus read_times(CclContext *context, const CudaSlot *slot, CclTable *table)
{
    float ms = 0;

    if (slot->uploads)
        CCL_CUDA_TRY(cudaEventElapsedTime(&ms, slot->upload_start, slot->upload_end));
    table->upload_us = ms * 1000;
    return cuda_read_steps(context, &slot->frame, &table->kernel_us);
}

/* Number of frames after a dense mask that are launched as if their masks were dense too. */
#define DENSE_FRAMES 32u

static void note_density(CudaContext *cuda, CudaDensity density)
{
    if (density < cuda->density && --cuda->density_left)
        return;
    cuda->density = density;
    cuda->density_left = density ? DENSE_FRAMES : 0;
}

/* Launches a frame again. By now all rows are packed, in the same place. */
static CclStatus repeat(CudaContext *cuda, CudaSlot *slot)
{
    if (slot->frame.shape.form == CUDA_BITS_AWAITED)
        slot->frame.shape.form = CUDA_BITS;
    cuda_clear_steps(&slot->frame);
    CCL_TRY(launch(cuda, slot));
    return wait(cuda, slot);
}

static CclStatus collect_frame(CclContext *context, CclFrame *ccl_frame)
{
    CudaContext *const cuda = cuda_context(context);
    CudaSlot *const slot = (CudaSlot *)ccl_frame->slot;
    CclTable *const table = &ccl_frame->table;

    CCL_TRY(wait(cuda, slot));
    const bool measured = slot->frame.shape.label_mode != CUDA_LABELS_PROVISIONAL;
    const bool with_holes = measured && context->config.features & CCL_FEATURE_HOLES;
    if (slot->frame.shape.form >= CUDA_BITS_ASSEMBLED && cuda_has_timed_out(cuda, slot))
        CCL_TRY(repeat(cuda, slot));
    if (with_holes && !cuda_has_all_holes(slot)) {
        CCL_TRY(cuda_reserve_holes(context, slot));
        CCL_TRY(repeat(cuda, slot));
    }
    if (cuda->engine) {
        table->batch_size = slot->ticket.batch_size;
        table->wait_us = slot->ticket.wait_us;
    }
    if (ccl_frame->labels.data && ccl_frame->labels.memory == CCL_MEMORY_HOST) {
        CCL_TRY(cuda_download_labels(cuda, slot));
        CCL_CUDA_TRY(cudaStreamSynchronize(cuda->download));
    }
    if (measured) {
        table->n_found = slot->h_result->n_found;
        table->n_kept = slot->h_result->n_kept;
        note_density(cuda, (CudaDensity)slot->h_result->density);
        if (with_holes)
            cuda_collect_holes(context, slot);
    }
    if (context->config.timing)
        CCL_TRY(read_times(context, slot, table));
    return CCL_OK;
}

static CclStatus cuda_collect(CclContext *context, CclFrame *ccl_frame)
{
    CCL_TRY(cuda_use_device(context->config.device));
    return end_failed(cuda_context(context), collect_frame(context, ccl_frame));
}

/* An error counts as ready: collecting reports it. */
static bool cuda_ready(CclContext *context, CclFrame *ccl_frame)
{
    const CudaContext *const cuda = cuda_context(context);
    CudaSlot *const slot = (CudaSlot *)ccl_frame->slot;
    if (cuda_use_device(context->config.device) != CCL_OK)
        return true;
    if (cuda->engine)
        return ccl_scheduler_ready(cuda->engine->queue, &slot->ticket);
    const uint32_t *const flag = cuda_completion_flag(slot);
    return cuda_flags_are_set(&flag, flag != NULL) || cuda_poll_event(slot->done) != cudaErrorNotReady;
}

/* ---------------------------------------------------------------- the backend */

const CclBackend ccl_cuda_backend = {
    .name = "cuda",
    .open = cuda_open,
    .close = cuda_close,
    .submit = cuda_submit,
    .collect = cuda_collect,
    .ready = cuda_ready,
};

const CclBackend ccl_cuda_volumes = {
    .name = "cuda",
    .open = cuda_open,
    .close = cuda_close,
    .volume_add = cuda_volume_add,
    .volume_label = cuda_volume_label,
    .volume_look_up = cuda_volume_look_up,
};
