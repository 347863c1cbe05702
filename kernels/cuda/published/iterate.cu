/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Between the iterations of an iterative method; see iterate.cuh. */
#include "iterate.cuh"

/* A kernel instead of a copy and a memset: one operation on the stream. */
__global__ static void take_flag(uint32_t *changed, uint32_t *seen)
{
    *seen = *changed;
    *changed = 0;
}

CclStatus iterate_begin(CudaFrame *frame, unsigned first_step)
{
    frame->n_steps = first_step;
    if (frame->timing)
        CCL_CUDA_TRY(cudaEventRecord(frame->loop->started, frame->stream));
    return CCL_OK;
}

/* Adds the times of an iteration to its steps, so that the next can reuse the events. */
static CclStatus add_times(CudaFrame *frame, unsigned first_step)
{
    for (unsigned i = first_step; i < frame->n_steps; i++) {
        const cudaEvent_t from = i == first_step ? frame->loop->started : frame->step_events[i];
        float ms = 0;
        CCL_CUDA_TRY(cudaEventElapsedTime(&ms, from, frame->step_events[i + 1]));
        frame->step_us[i] = ms * 1000 + (frame->step_counts[i] ? frame->step_us[i] : 0);
        frame->step_counts[i]++;
    }
    return CCL_OK;
}

CclStatus iterate_end(CudaFrame *frame, unsigned first_step, bool *changed)
{
    take_flag<<<1, 1, 0, frame->stream>>>(frame->loop->changed, frame->loop->seen);
    CCL_CUDA_TRY(cudaGetLastError());
    CCL_CUDA_TRY(cudaStreamSynchronize(frame->stream));
    *changed = *frame->loop->host;
    return add_times(frame, first_step);
}

/* The next step is timed from here, not from the end of the last iteration's last kernel. */
CclStatus iterate_leave(CudaFrame *frame)
{
    if (frame->timing)
        CCL_CUDA_TRY(cudaEventRecord(frame->step_events[frame->n_steps], frame->stream));
    return CCL_OK;
}

CclStatus iterate_fail(const CudaFrame *frame, uint64_t max_iterations)
{
    return ccl_fail(CCL_ERROR_DEVICE,
                    "labels of a %ux%u mask still change after %llu iterations, the maximum for this size: the mask "
                    "changed meanwhile, or the device or this method is faulty",
                    frame->shape.width, frame->shape.height, (unsigned long long)max_iterations);
}
