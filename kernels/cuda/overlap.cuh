/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* When kernels start: while the one before them in the stream ends (programmatic dependent launch, from sm_90 on), before
 * those of other streams, or their blocks together (clusters). */
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
 * or more. priority: as of streams, less is sooner; 0 is that of all streams which say nothing. cluster: blocks; 0: none. */
template <typename... Parameters, typename... Values>
static cudaError_t launch_in(cudaStream_t stream, bool overlap, int priority, unsigned cluster,
                             void (*kernel)(Parameters...), dim3 grid, unsigned threads, size_t shared,
                             const Values &...values)
{
    cudaLaunchAttribute attributes[3] = {};
    cudaLaunchConfig_t config = {};
    unsigned n = 0;
    if (overlap) {
        attributes[n].id = cudaLaunchAttributeProgrammaticStreamSerialization;
        attributes[n++].val.programmaticStreamSerializationAllowed = 1;
    }
    if (priority) {
        attributes[n].id = cudaLaunchAttributePriority;
        attributes[n++].val.priority = priority;
    }
    if (cluster) {
        attributes[n].id = cudaLaunchAttributeClusterDimension;
        attributes[n].val.clusterDim.x = cluster;
        attributes[n].val.clusterDim.y = attributes[n].val.clusterDim.z = 1;
        n++;
    }
    config.gridDim = grid;
    config.blockDim = dim3(threads);
    config.dynamicSmemBytes = shared;
    config.stream = stream;
    config.attrs = attributes;
    config.numAttrs = n;
    return cudaLaunchKernelEx(&config, kernel, values...);
}

#endif
