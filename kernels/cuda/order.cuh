/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Words by which blocks, and host and device, tell each other that something is there: who sees a value sees what was written,
 * or seen, before it. */
#ifndef CCL_CUDA_ORDER_CUH
#define CCL_CUDA_ORDER_CUH

#include <cuda_runtime.h>
#include <stdint.h>

/* Of another block, or of the host. (A fence behind a plain load would do, and take 3 us.) */
template <bool BY_HOST> __device__ static inline uint32_t load_acquire(const uint32_t *word)
{
    uint32_t value;
#if defined __CUDA_ARCH__ && defined __NVCC__
    if (BY_HOST)
        asm volatile("ld.acquire.sys.u32 %0, [%1];" : "=r"(value) : "l"(word) : "memory");
    else
        asm volatile("ld.acquire.gpu.u32 %0, [%1];" : "=r"(value) : "l"(word) : "memory");
#else
    value = __ldcv(word);
    __threadfence_system();
#endif
    return value;
}

/* For the host to see. */
__device__ static inline void store_release(uint32_t *word, uint32_t value)
{
#if defined __CUDA_ARCH__ && defined __NVCC__
    asm volatile("st.release.sys.u32 [%0], %1;" : : "l"(word), "r"(value) : "memory");
#else
    __threadfence_system();
    *(volatile uint32_t *)word = value;
#endif
}

/* atomicCAS() */
__device__ static inline uint32_t replace(uint32_t *word, uint32_t from, uint32_t to)
{
    uint32_t old;
#if defined __CUDA_ARCH__ && defined __NVCC__
    asm volatile("atom.acq_rel.gpu.cas.b32 %0, [%1], %2, %3;" : "=r"(old) : "l"(word), "r"(from), "r"(to) : "memory");
#else
    __threadfence();
    old = atomicCAS(word, from, to);
    __threadfence();
#endif
    return old;
}

/* atomicInc(): from `last` on to 0 again. */
__device__ static inline uint32_t count_up(uint32_t *word, uint32_t last)
{
    uint32_t old;
#if defined __CUDA_ARCH__ && defined __NVCC__
    asm volatile("atom.acq_rel.gpu.inc.u32 %0, [%1], %2;" : "=r"(old) : "l"(word), "r"(last) : "memory");
#else
    __threadfence();
    old = atomicInc(word, last);
    __threadfence();
#endif
    return old;
}

#endif
