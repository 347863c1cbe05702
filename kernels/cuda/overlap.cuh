/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Options of a kernel's start: while the kernel before it ends (programmatic dependent launch, from sm_90 on), before kernels
 * of other streams (priority), or several blocks together (clusters). */
#ifndef CCL_CUDA_OVERLAP_CUH
#define CCL_CUDA_OVERLAP_CUH

#include <cuda_runtime.h>

/* The threads of a kernel, and the dynamic shared memory of each block, in bytes. */
typedef struct CudaThreads {
    dim3 grid;
    unsigned block;
    size_t shared;
} CudaThreads;

/* How a kernel starts. */
typedef struct CudaStartOptions {
    bool overlap;     /* it calls wait_for_predecessor(), and its cudaFuncAttributes.ptxVersion is 90 or more */
    int priority;     /* as for streams, lower values first; 0 is the default */
    unsigned cluster; /* number of blocks; 0: none */
} CudaStartOptions;

/* After this, all writes of the kernels before are visible. */
__device__ static inline void wait_for_predecessor()
{
#if __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

/* The next kernel may start once all blocks have called this or ended. */
__device__ static inline void let_successor_start()
{
#if __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}

template <typename... Parameters, typename... Values>
static cudaError_t launch_in(cudaStream_t stream, const CudaStartOptions &start, void (*kernel)(Parameters...),
                             const CudaThreads &threads, const Values &...values)
{
    cudaLaunchAttribute attributes[3] = {};
    cudaLaunchConfig_t config = {};
    unsigned n = 0;
    if (start.overlap) {
        attributes[n].id = cudaLaunchAttributeProgrammaticStreamSerialization;
        attributes[n++].val.programmaticStreamSerializationAllowed = 1;
    }
    if (start.priority) {
        attributes[n].id = cudaLaunchAttributePriority;
        attributes[n++].val.priority = start.priority;
    }
    if (start.cluster) {
        attributes[n].id = cudaLaunchAttributeClusterDimension;
        attributes[n].val.clusterDim.x = start.cluster;
        attributes[n].val.clusterDim.y = attributes[n].val.clusterDim.z = 1;
        n++;
    }
    config.gridDim = threads.grid;
    config.blockDim = dim3(threads.block);
    config.dynamicSmemBytes = threads.shared;
    config.stream = stream;
    config.attrs = attributes;
    config.numAttrs = n;
    return cudaLaunchKernelEx(&config, kernel, values...);
}

#endif
