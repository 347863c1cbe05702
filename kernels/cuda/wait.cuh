/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * How the host waits for the device: it polls for 200 us, then it blocks.
 *
 * Most frames take less time than the driver needs to wake a blocked thread: 25 us at best, some hundreds on an idle virtual
 * machine. An event with blocking sync interrupts a CPU, and is seen late even by polling if that CPU also polls it. So threads
 * poll one event, or a completion flag, and block on another that is recorded only then.
 */
#ifndef CCL_CUDA_WAIT_CUH
#define CCL_CUDA_WAIT_CUH

#include "devices.cuh"

#define CUDA_POLL_US 200

/* For threads that block; both are NULL until first needed. */
typedef struct CudaWaiter {
    cudaStream_t stream; /* with nothing else in it */
    cudaEvent_t event;
} CudaWaiter;

/* cudaEventQuery() that leaves no "not ready" for the next caller of cudaGetLastError(). */
cudaError_t cuda_poll_event(cudaEvent_t event);

/* Are there completion flags, and all of them set? */
bool cuda_flags_are_set(const uint32_t *const *flags, unsigned n);

/* Waits for the event or for all flags, if there are any. */
cudaError_t cuda_wait(cudaEvent_t event, const uint32_t *const *flags, unsigned n_flags, CudaWaiter *waiter);

/* Blocks until all operations that are in the stream by now are done. The event is created if it is NULL. */
cudaError_t cuda_block(cudaStream_t stream, cudaEvent_t *event);

/* The stream is synchronized by the caller. */
void cuda_waiter_free(CudaWaiter *waiter);

#endif
