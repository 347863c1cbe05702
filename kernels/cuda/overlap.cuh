/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Kernels that may start while the one before them in the stream ends: programmatic dependent launch, from sm_90 on. */
#ifndef CCL_CUDA_OVERLAP_CUH
#define CCL_CUDA_OVERLAP_CUH

#include <cuda_runtime.h>

/* After this, what the kernels before have written is there. */
__device__ static inline void wait_for_predecessor()
{
#if __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

/* The next kernel may start once all blocks have come here or ended. */
__device__ static inline void let_successor_start()
{
#if __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}

/* overlap: the kernel calls wait_for_predecessor(), and was compiled to do so: its cudaFuncAttributes.ptxVersion is 90
 * or more. */
template <typename... Parameters, typename... Values>
static cudaError_t launch_in(cudaStream_t stream, bool overlap, void (*kernel)(Parameters...), dim3 grid,
                             unsigned threads, size_t shared, const Values &...values)
{
    cudaLaunchAttribute attribute = {};
    cudaLaunchConfig_t config = {};
    attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    attribute.val.programmaticStreamSerializationAllowed = 1;
    config.gridDim = grid;
    config.blockDim = dim3(threads);
    config.dynamicSmemBytes = shared;
    config.stream = stream;
    config.attrs = &attribute;
    config.numAttrs = overlap;
    return cudaLaunchKernelEx(&config, kernel, values...);
}

#endif
