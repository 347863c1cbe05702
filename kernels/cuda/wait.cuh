/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * How the host waits for the device: it polls for 200 us, then it blocks.
 *
 * The driver takes 25 us or more to wake a blocked thread, and some hundreds on an idle virtual machine. Frames mostly take
 * less. An event with blocking sync interrupts a CPU. If that CPU also polls the event, it sees the event later. So threads
 * poll one event, or a completion flag, and block on another one that is recorded only then.
 */
#ifndef CCL_CUDA_WAIT_CUH
#define CCL_CUDA_WAIT_CUH

#include "devices.cuh"

#include <chrono>

#define CUDA_POLL_US 200

/* For threads that block; both are NULL until first needed. */
typedef struct CudaWaiter {
    cudaStream_t stream; /* with nothing else in it */
    cudaEvent_t event;
} CudaWaiter;

/* Calls is_done() for CUDA_POLL_US at most; false: it never was. */
template <typename IsDone> static bool cuda_poll(IsDone is_done)
{
    const auto start = std::chrono::steady_clock::now();
    do {
        if (is_done())
            return true;
    } while (std::chrono::steady_clock::now() - start < std::chrono::microseconds(CUDA_POLL_US));
    return false;
}

/* cudaEventQuery() that leaves no "not ready" for the next caller of cudaGetLastError(). */
cudaError_t cuda_poll_event(cudaEvent_t event);

/* Whether there are completion flags, and all are set. */
bool cuda_flags_are_set(const uint32_t *const *flags, unsigned n);

/* Waits for the event or, if there are flags, for all of them. */
cudaError_t cuda_wait(cudaEvent_t event, const uint32_t *const *flags, unsigned n_flags, CudaWaiter *waiter);

/* Blocks until all operations that are now in the stream are done. The event is created if it is NULL. */
cudaError_t cuda_block(cudaStream_t stream, cudaEvent_t *event);

/* The stream is synchronized by the caller. */
void cuda_waiter_free(CudaWaiter *waiter);

#endif
