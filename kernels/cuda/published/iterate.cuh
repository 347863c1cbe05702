/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * The loop of an iterative method (CclAlgorithm.iterative): it launches the same kernels until they change nothing.
 *
 *     CCL_TRY(iterate(frame, max_iterations, [&](uint32_t *changed) -> CclStatus {
 *         CCL_CUDA_LAUNCH(frame, "scan", scan, grid, threads, 0, frame->vars, width, height, changed);
 *         return CCL_OK;
 *     }));
 *
 * A kernel that changes something calls note_change(changed), in any number of threads. The loop ends after the first
 * iteration in which none does.
 *
 * Cost: after each iteration a kernel of one thread moves the flag to mapped host memory. Then the host waits for the stream
 * and launches again. This is one round trip for each iteration, while the device is idle. So the loop uses no copies to set or
 * read the flag, and ccl_submit() of such a method returns when the labels are found. Nothing is allocated.
 *
 * With timing, a step inside the loop is the sum over the iterations, and CclStep.count is their number. Every iteration must
 * launch the same steps, at least one. The last iteration, which changes nothing, counts too.
 */
#ifndef CCL_CUDA_ITERATE_CUH
#define CCL_CUDA_ITERATE_CUH

#include "cuda/backend.cuh"

__device__ static inline void note_change(uint32_t *changed)
{
    *changed = 1; /* race: all threads store the same value */
}

/* Parts of iterate(): before and after an iteration whose first step is `first_step`, and after the last. */
CclStatus iterate_begin(CudaFrame *frame, unsigned first_step);
CclStatus iterate_end(CudaFrame *frame, unsigned first_step, bool *changed);
CclStatus iterate_leave(CudaFrame *frame);
CclStatus iterate_fail(const CudaFrame *frame, uint64_t max_iterations);

/* Calls pass(changed), which launches an iteration and returns a CclStatus, until nothing changes. max_iterations: the maximum
 * for a mask of this size according to the method's theory, the last included; needing more is an error. */
template <typename Pass> static inline CclStatus iterate(CudaFrame *frame, uint64_t max_iterations, Pass pass)
{
    const unsigned first_step = frame->n_steps;
    bool changed = true;

    for (uint64_t i = 0; changed; i++) {
        if (i == max_iterations)
            return iterate_fail(frame, max_iterations);
        CCL_TRY(iterate_begin(frame, first_step));
        CCL_TRY(pass(frame->loop->changed));
        CCL_TRY(iterate_end(frame, first_step, &changed));
    }
    return iterate_leave(frame);
}

#endif
