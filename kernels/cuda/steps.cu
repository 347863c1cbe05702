/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* The steps of a frame: what follows each launch of a kernel, and how long it took. */
#include "backend.cuh"

CclStatus cuda_launched(CudaFrame *frame, const char *name, unsigned n_with_vars, const char *file, int line)
{
    const cudaError_t error = cudaGetLastError();
    if (error != cudaSuccess)
        return cuda_fail(error, name, file, line);
    if (frame->capture && (n_with_vars || frame->notes_all))
        CCL_TRY(cuda_graph_note(frame->capture, frame->stream, n_with_vars));
    if (frame->timing && frame->n_steps < CUDA_MAX_STEPS) {
        frame->step_names[frame->n_steps++] = name;
        CCL_CUDA_TRY(cudaEventRecord(frame->step_events[frame->n_steps], frame->stream));
    }
    return CCL_OK;
}

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
