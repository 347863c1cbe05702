/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* How the host waits for the device; see wait.cuh. */
#include "wait.cuh"

cudaError_t cuda_poll_event(cudaEvent_t event)
{
    const cudaError_t error = cudaEventQuery(event);
    if (error == cudaErrorNotReady)
        (void)cudaGetLastError();
    return error;
}

/* Takes some hundred nanoseconds for n = 8. */
static void pause_briefly(unsigned n)
{
    for (unsigned i = 0; i < n; i++) {
#if defined(__x86_64__)
        asm volatile("pause");
#elif defined(__aarch64__)
        asm volatile("yield");
#endif
    }
}

bool cuda_flags_are_set(const uint32_t *const *flags, unsigned n)
{
    bool all = n;
    for (unsigned i = n; all && i--;) /* backwards, because the last frames mostly end last */
        all = __atomic_load_n(flags[i], __ATOMIC_ACQUIRE);
    return all;
}

#define FLAG_POLLS 16u

/* Polls the flags a few times, if there are any, then the event once. */
static cudaError_t poll_both(cudaEvent_t event, const uint32_t *const *flags, unsigned n_flags)
{
    for (unsigned i = 0; n_flags && i < FLAG_POLLS; i++) {
        if (cuda_flags_are_set(flags, n_flags))
            return cudaSuccess;
        pause_briefly(1);
    }
    return cuda_poll_event(event);
}

static cudaError_t create_blocking(cudaEvent_t *event)
{
    return *event ? cudaSuccess : cudaEventCreateWithFlags(event, cudaEventDisableTiming | cudaEventBlockingSync);
}

cudaError_t cuda_block(cudaStream_t stream, cudaEvent_t *event)
{
    cudaError_t error = create_blocking(event);
    if (error == cudaSuccess)
        error = cudaEventRecord(*event, stream);
    return error == cudaSuccess ? cudaEventSynchronize(*event) : error;
}

cudaError_t cuda_wait(cudaEvent_t event, const uint32_t *const *flags, unsigned n_flags, CudaWaiter *waiter)
{
    cudaError_t polled = cudaErrorNotReady;
    const auto has_ended = [&] {
        polled = poll_both(event, flags, n_flags);
        if (polled == cudaErrorNotReady)
            pause_briefly(8); /* each poll of an event takes the driver's lock, which threads that launch need */
        return polled != cudaErrorNotReady;
    };
    if (cuda_poll(has_ended))
        return polled;
    if ((!waiter->stream && cudaStreamCreateWithFlags(&waiter->stream, cudaStreamNonBlocking) != cudaSuccess) ||
        create_blocking(&waiter->event) != cudaSuccess) {
        (void)cudaGetLastError();
        return cudaEventSynchronize(event); /* no memory left: goes on polling */
    }
    const cudaError_t error = cudaStreamWaitEvent(waiter->stream, event, 0);
    return error == cudaSuccess ? cuda_block(waiter->stream, &waiter->event) : error;
}

void cuda_waiter_free(CudaWaiter *waiter)
{
    if (waiter->event)
        cudaEventDestroy(waiter->event);
    if (waiter->stream)
        cudaStreamDestroy(waiter->stream);
    *waiter = CudaWaiter{};
}
