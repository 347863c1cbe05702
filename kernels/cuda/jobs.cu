/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* The jobs of a batch: what its kernels read of each frame. */
#include "backend.cuh"

#define FETCH_THREADS 1024u /* so that most jobs cross the bus at the same time */

/* Copies jobs. Quicker than cudaMemcpyAsync(), for which the device uses another unit. */
static __global__ void fetch(uint4 *to, const uint4 *from, uint32_t n)
{
    for (uint32_t i = threadIdx.x; i < n; i += blockDim.x)
        to[i] = from[i];
}

CclStatus cuda_fetch_jobs(const CudaBatch *batch, size_t job_size)
{
    return cuda_launch(batch->launcher, "fetch", CUDA_AHEAD, fetch, { dim3(1), FETCH_THREADS, 0 }, (uint4 *)batch->d_jobs,
                       (const uint4 *)batch->mapped_jobs, (uint32_t)(batch->n * job_size / sizeof(uint4)));
}
