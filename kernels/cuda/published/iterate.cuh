/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * The loop of an iterative method (CclAlgorithm.iterative): the same kernels again until they find nothing to change.
 *
 *     CCL_TRY(iterate(frame, most, [&](uint32_t *changed) -> CclStatus {
 *         CCL_CUDA_LAUNCH(frame, "scan", scan, grid, threads, 0, frame->vars, width, height, changed);
 *         return CCL_OK;
 *     }));
 *
 * A kernel that changes something calls note_change(changed), in any number of threads. The loop ends after the first
 * iteration in which none does.
 *
 * What it costs: after each iteration a kernel of one thread moves the flag to mapped host memory, and the host waits
 * for the stream and launches again; one round trip an iteration, during which the device idles. That is why the loop
 * takes no copy to set the flag and none to fetch it, and why ccl_submit() of such a method returns late. Nothing is
 * allocated.
 *
 * With timing, a step inside the loop is the sum over the iterations and CclStep.count says how many there were; an
 * iteration must launch the same steps each time, at least one. The last iteration, the one that finds nothing, counts.
 */
#ifndef CCL_CUDA_ITERATE_CUH
#define CCL_CUDA_ITERATE_CUH

#include "cuda/backend.cuh"

__device__ static inline void note_change(uint32_t *changed)
{
    *changed = 1; /* race: the same from everybody */
}

/* Parts of iterate(): before and after an iteration whose first step is `first_step`, and after the last. */
CclStatus iterate_begin(CudaFrame *frame, unsigned first_step);
CclStatus iterate_end(CudaFrame *frame, unsigned first_step, bool *changed);
CclStatus iterate_leave(CudaFrame *frame);
CclStatus iterate_fail(const CudaFrame *frame, uint64_t most);

/* Calls pass(changed), which launches an iteration and returns a CclStatus, until nothing changes. `most`: the method's
 * theory allows no more iterations on a mask of this size, the last included; needing more is an error. */
template <typename Pass> static inline CclStatus iterate(CudaFrame *frame, uint64_t most, Pass pass)
{
    const unsigned first_step = frame->n_steps;
    bool changed = true;

    for (uint64_t i = 0; changed; i++) {
        if (i == most)
            return iterate_fail(frame, most);
        CCL_TRY(iterate_begin(frame, first_step));
        CCL_TRY(pass(frame->loop->changed));
        CCL_TRY(iterate_end(frame, first_step, &changed));
    }
    return iterate_leave(frame);
}

#endif
