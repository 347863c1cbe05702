/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* A frame alone: its kernels one by one or as a graph, in its stream slot, and the copy of its label image. */
#include "context.cuh"
#include "map.cuh"

CclStatus cuda_download_labels(const CudaContext *cuda, const CudaSlot *slot)
{
    const CclFrame *const frame = slot->ccl_frame;
    const size_t row = frame->mask.width * sizeof(uint32_t);
    const CudaRows labels = { slot->d_labels, row, row, frame->mask.height };
    CCL_CUDA_TRY(cuda_copy_rows(frame->labels.data, frame->labels.stride, labels, cudaMemcpyDeviceToHost, cuda->download));
    return CCL_OK;
}

CclStatus cuda_assemble_bits(const CudaSlot *slot, cudaStream_t stream)
{
    return slot->frame.shape.form == CUDA_BITS_ASSEMBLED ? mask_to_bits(&slot->bits, stream) : CCL_OK;
}

/* The kernels of a frame, from the staged mask to the table. */
static CclStatus launch_kernels(CclContext *context, CclFrame *ccl_frame, const StageBuffers *stages)
{
    const CclAlgorithm *const algorithm = context->algorithm;
    CudaFrame *const frame = cuda_frame(ccl_frame);
    const CudaShape *const shape = &frame->shape;

    if (cuda_takes_maps(context))
        return cuda_map_analyze(context, frame, stages);
    if (algorithm->analyze)
        return algorithm->analyze(context, ccl_frame);
    CCL_TRY(algorithm->label(context, ccl_frame));
    if (shape->label_mode == CUDA_LABELS_PROVISIONAL)
        return CCL_OK;

    const uint32_t max_components = ccl_max_components_of(&context->config, shape->width, shape->height);
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

/* ---------------------------------------------------------------- as a graph */

static CclStatus launch_to_capture(CudaSlot *slot, CudaGraph *graph, const StageBuffers *stages)
{
    CCL_TRY(cuda_assemble_bits(slot, slot->frame.stream));
    if (slot->frame.shape.form == CUDA_BITS_ASSEMBLED)
        CCL_TRY(cuda_graph_note(graph, slot->frame.stream, 1));
    slot->frame.capture = graph;
    const CclStatus status = launch_kernels(slot->context, slot->ccl_frame, stages);
    slot->frame.capture = NULL;
    return status;
}

/* Whether the frame is launched as a graph, which is captured now if there is none. */
static bool has_replay(CudaSlot *slot, const StageBuffers *stages)
{
    CudaContext *const cuda = cuda_context(slot->context);
    if (!cuda_wants_replay(slot))
        return false;
    if (cuda_has_graph(slot, slot->frame.shape))
        return true;
    CclStatus status = cuda_begin_replay(slot);
    if (status == CCL_OK)
        status = cuda_end_replay(slot, launch_to_capture(slot, &slot->replays[slot->frame.shape.form].graph, stages));
    cuda->no_graphs = status != CCL_OK;
    return !cuda->no_graphs;
}

/* ---------------------------------------------------------------- in a stream slot */

CclStatus cuda_launch_slot(CudaSlot *slot)
{
    CudaFrame *const frame = &slot->frame;
    CudaContext *const cuda = cuda_context(slot->context);
    const CudaStreamSlot *const stream_slot = cuda->engine ? cuda_engine_stream_slot(cuda->engine, slot->stream_slot)
                                                            : &cuda->stream_slots[slot->stream_slot];
    frame->stream = stream_slot->stream;
    frame->workspace = stream_slot->workspace;
    frame->counts.shape_sums = stream_slot->shape_sums;
    frame->counts.hulls = stream_slot->hulls;
    frame->counts.holes.workspace = stream_slot->holes.workspace;
    frame->counts.holes.outside = stream_slot->holes.outside;
    frame->counts.holes.sums = stream_slot->holes.sums;
    frame->counts.holes.capacity = min(stream_slot->holes.capacity, slot->holes.capacity);
    frame->counts.intensity_sums = stream_slot->intensity_sums;
    slot->h_result->complete = 0;
    CCL_TRY(cuda_stream_awaits_mask(slot, frame->stream));
    const bool replayed = has_replay(slot, &stream_slot->stages);
    if (frame->timing)
        CCL_CUDA_TRY(cudaEventRecord(frame->step_events[0], frame->stream));
    if (frame->shape.narrow && !cuda_takes_maps(slot->context))
        CCL_TRY(mask_from_wide(frame, frame));
    if (replayed)
        return cuda_replay_frame(slot);
    CCL_TRY(cuda_assemble_bits(slot, frame->stream));
    return launch_kernels(slot->context, slot->ccl_frame, &stream_slot->stages);
}

CclStatus cuda_record_done(CudaSlot *const *slots, unsigned n, cudaStream_t stream, cudaEvent_t *computed,
                            cudaEvent_t *done)
{
    const CudaContext *const cuda = cuda_context(slots[0]->context);
    cudaStream_t last = stream;
    for (unsigned i = 0; i < n; i++) {
        if (!cuda_downloads_labels(slots[i]))
            continue;
        if (last == stream) {
            CCL_TRY(cuda_record(computed, stream));
            CCL_CUDA_TRY(cudaStreamWaitEvent(cuda->download, *computed, 0));
            last = cuda->download;
        }
        CCL_TRY(cuda_download_labels(cuda, slots[i]));
    }
    return cuda_record(done, last);
}

const uint32_t *cuda_completion_flag(const CudaSlot *slot)
{
    return slot->frame.vars.sets_flag ? &slot->h_result->complete : NULL;
}
