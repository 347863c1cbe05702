/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Flags between blocks, and between host and device. A thread that reads a value also sees everything that its writer had
 * written or seen before. */
#ifndef CCL_CUDA_ORDER_CUH
#define CCL_CUDA_ORDER_CUH

#include <cuda_runtime.h>
#include <stdint.h>

/* Loads a flag that the host writes. (A fence after a plain load also works, but takes 3 us.) */
__device__ static inline uint32_t load_acquire(const uint32_t *word)
{
    uint32_t value;
#if defined __CUDA_ARCH__ && defined __NVCC__
    asm volatile("ld.acquire.sys.u32 %0, [%1];" : "=r"(value) : "l"(word) : "memory");
#else
    value = __ldcv(word);
    __threadfence_system();
#endif
    return value;
}

/* Stores a flag that the host reads. */
__device__ static inline void store_release(uint32_t *word, uint32_t value)
{
#if defined __CUDA_ARCH__ && defined __NVCC__
    asm volatile("st.release.sys.u32 [%0], %1;" : : "l"(word), "r"(value) : "memory");
#else
    __threadfence_system();
    *(volatile uint32_t *)word = value;
#endif
}

/* Like atomicInc(): wraps from `last` to 0. */
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
