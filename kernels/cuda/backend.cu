/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * The path of a frame on CUDA, from submit to collect. Each step has a file of its own:
 *
 *     stage     stage.cu, pack.cu     chooses where and in which form kernels read the mask; packs or copies it
 *     upload    upload.cu             from page-locked to device memory
 *     launch    here, graph.cu        alone; or through the scheduler, in a batch: scheduler.c, batch.cu
 *     wait      wait.cu               poll, then block
 *     collect   here                  counts, label images in host memory, times
 *
 * open.cu has the memory and streams that all of these use.
 */
#include "context.cuh"
#include "volume.cuh"

#include <string.h>

const CudaCapacity *cuda_capacity(const CclContext *context)
{
    const CudaContext *const cuda = cuda_context(context);
    return cuda->engine ? &cuda->engine->capacity : &cuda->capacity;
}

unsigned cuda_multiprocessors(const CclContext *context)
{
    return cuda_context(context)->device.multiprocessors;
}

/* ---------------------------------------------------------------- labels */

static void choose_labels(const CclContext *context, const CudaSlot *slot, const CclFrame *frame, CudaVars *vars)
{
    const bool on_device = frame->labels.data && frame->labels.memory == CCL_MEMORY_DEVICE;
    if (!frame->labels.data && context->algorithm->analyze)
        return;
    vars->labels = on_device ? frame->labels.data : slot->d_labels;
    vars->label_stride = on_device ? frame->labels.stride / sizeof(uint32_t) : frame->mask.width;
}

static bool downloads_labels(const CudaSlot *slot)
{
    return slot->ccl_frame->labels.data && slot->ccl_frame->labels.memory == CCL_MEMORY_PINNED;
}

/* Copies the slot's label image to the caller's in host memory, on the download stream. */
static CclStatus download_labels(const CudaContext *cuda, const CudaSlot *slot, const CclFrame *frame)
{
    const size_t row = frame->mask.width * sizeof(uint32_t);
    CCL_CUDA_TRY(cuda_copy_rows(frame->labels.data, frame->labels.stride, slot->d_labels, row, row, frame->mask.height,
                                cudaMemcpyDeviceToHost, cuda->download));
    return CCL_OK;
}

/* ---------------------------------------------------------------- stage */

static bool drops_nothing(const CclLimits *limits)
{
    return limits->min_area <= 1 && limits->max_area >= CCL_MAX_SIZE * CCL_MAX_SIZE && limits->min_width <= 1 &&
           limits->max_width >= CCL_MAX_SIZE && limits->min_height <= 1 && limits->max_height >= CCL_MAX_SIZE &&
           limits->border != CCL_BORDER_DROP;
}

static CclStatus stage(CclContext *context, CclFrame *ccl_frame)
{
    CudaSlot *const slot = (CudaSlot *)ccl_frame->slot;
    CudaFrame *const frame = &slot->frame;
    CudaVars *const vars = &frame->vars;
    const CclMask *const mask = &ccl_frame->mask;

    memset(vars, 0, sizeof *vars); /* compared as bytes */
    vars->limits = ccl_frame->limits;
    vars->keep_all = drops_nothing(&vars->limits);
    CudaMaskForm form;
    CCL_TRY(cuda_stage_mask(context, slot, mask, &form, vars));
    choose_labels(context, slot, ccl_frame, vars);
    vars->sets_flag = context->algorithm->sets_completion_flag && !frame->timing && !downloads_labels(slot) &&
                      cuda_device_is_idle(context);
    frame->shape = cuda_shape_of(context, ccl_frame, vars, form);
    cuda_clear_steps(frame);
    return CCL_OK;
}

/* ---------------------------------------------------------------- launch */

CclStatus cuda_launch_frame(CclContext *context, CclFrame *ccl_frame, const StageBuffers *stages)
{
    const CclAlgorithm *const algorithm = context->algorithm;
    CudaFrame *const frame = cuda_frame(ccl_frame);
    const CudaShape *const shape = &frame->shape;

    if (algorithm->analyze)
        return algorithm->analyze(context, ccl_frame);
    CCL_TRY(algorithm->label(context, ccl_frame));
    if (shape->label_mode == CUDA_LABELS_PROVISIONAL)
        return CCL_OK;

    const uint32_t max_components = ccl_max_components(shape->width, shape->height, context->config.connectivity);
    CCL_TRY(number_from_labels(context, frame, stages));
    for (unsigned round = 0; round < stage_rounds(stages->n_sums, max_components); round++) {
        CCL_TRY(algorithm->features ? algorithm->features(context, ccl_frame, stages, round)
                                    : features_from_labels(context, frame, stages, round));
        CCL_TRY(table_from_features(context, frame, stages, round));
    }
    if (shape->label_mode == CUDA_LABELS_FINAL)
        CCL_TRY(relabel(context, frame, stages));
    return CCL_OK;
}

CclStatus cuda_launch_slot(CudaSlot *slot)
{
    CudaFrame *const frame = &slot->frame;
    CudaContext *const cuda = cuda_context(slot->context);
    const CudaStreamSlot *const stream_slot = cuda->engine ? cuda_engine_stream_slot(cuda->engine, slot->stream_slot)
                                                            : &cuda->stream_slots[slot->stream_slot];
    frame->stream = stream_slot->stream;
    frame->workspace = stream_slot->workspace;
    slot->h_result->complete = 0;
    CCL_TRY(cuda_stream_awaits_mask(slot, frame->stream));
    const bool replayed = cuda_wants_replay(slot, &stream_slot->stages);
    if (frame->timing)
        CCL_CUDA_TRY(cudaEventRecord(frame->step_events[0], frame->stream));
    if (frame->shape.narrow)
        CCL_TRY(mask_from_wide(frame, frame));
    if (replayed)
        return cuda_replay_frame(slot);
    CCL_TRY(cuda_assemble_bits(slot, frame->stream));
    return cuda_launch_frame(slot->context, slot->ccl_frame, &stream_slot->stages);
}

CclStatus cuda_record_done(CudaSlot *const *slots, unsigned n, cudaStream_t stream, cudaEvent_t *computed,
                            cudaEvent_t *done)
{
    const CudaContext *const cuda = cuda_context(slots[0]->context);
    cudaStream_t last = stream;
    for (unsigned i = 0; i < n; i++) {
        if (!downloads_labels(slots[i]))
            continue;
        if (last == stream) {
            CCL_TRY(cuda_record(computed, stream));
            CCL_CUDA_TRY(cudaStreamWaitEvent(cuda->download, *computed, 0));
            last = cuda->download;
        }
        CCL_TRY(download_labels(cuda, slots[i], slots[i]->ccl_frame));
    }
    return cuda_record(done, last);
}

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

const uint32_t *cuda_completion_flag(const CudaSlot *slot)
{
    return slot->frame.vars.sets_flag ? &slot->h_result->complete : NULL;
}

static CclStatus wait(CudaContext *cuda, CudaSlot *slot)
{
    if (cuda->engine)
        return ccl_scheduler_collect(cuda->engine->queue, &slot->ticket);
    const uint32_t *const flag = cuda_completion_flag(slot);
    CCL_CUDA_TRY(cuda_wait(slot->done, &flag, flag != NULL, &cuda->waiter));
    return CCL_OK;
}

/* ---------------------------------------------------------------- collect */

CclStatus cuda_read_steps(CclContext *context, const CudaFrame *frame, float *kernel_us)
{
    float ms = 0;

    context->n_steps = frame->n_steps;
    for (unsigned i = 0; i < frame->n_steps; i++) {
        context->steps[i] = CclStep{ frame->step_names[i], frame->step_us[i], frame->step_counts[i] };
        if (frame->step_counts[i])
            continue;
        CCL_CUDA_TRY(cudaEventElapsedTime(&ms, frame->step_events[i], frame->step_events[i + 1]));
        context->steps[i] = CclStep{ frame->step_names[i], ms * 1000, 1 };
    }
    ms = 0;
    if (frame->n_steps)
        CCL_CUDA_TRY(cudaEventElapsedTime(&ms, frame->step_events[0], frame->step_events[frame->n_steps]));
    *kernel_us = ms * 1000;
    return CCL_OK;
}

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

static CclStatus collect_frame(CclContext *context, CclFrame *ccl_frame)
{
    CudaContext *const cuda = cuda_context(context);
    CudaSlot *const slot = (CudaSlot *)ccl_frame->slot;
    CclTable *const table = &ccl_frame->table;

    CCL_TRY(wait(cuda, slot));
    if (slot->frame.shape.form >= CUDA_BITS_ASSEMBLED && cuda_has_timed_out(cuda, slot)) { /* by now all rows are packed */
        if (slot->frame.shape.form == CUDA_BITS_AWAITED)
            slot->frame.shape.form = CUDA_BITS; /* in the same place */
        CCL_TRY(launch(cuda, slot));
        CCL_TRY(wait(cuda, slot));
    }
    if (cuda->engine) {
        table->batch_size = slot->ticket.batch_size;
        table->wait_us = slot->ticket.wait_us;
    }
    if (ccl_frame->labels.data && ccl_frame->labels.memory == CCL_MEMORY_HOST) {
        CCL_TRY(download_labels(cuda, slot, ccl_frame));
        CCL_CUDA_TRY(cudaStreamSynchronize(cuda->download));
    }
    if (slot->frame.shape.label_mode != CUDA_LABELS_PROVISIONAL) {
        table->n_found = slot->h_result->n_found;
        table->n_kept = slot->h_result->n_kept;
        note_density(cuda, (CudaDensity)slot->h_result->density);
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

unsigned ccl_context_timeouts(const CclContext *context)
{
    return context->config.backend == CCL_BACKEND_CUDA ? cuda_context(context)->n_timeouts : 0;
}
