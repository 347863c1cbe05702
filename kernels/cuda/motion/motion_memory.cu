// SPDX-FileCopyrightText: gst-ccl contributors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Device memory of a motion detector, for its driver and its method.

#include "cuda_motion.cuh"

#include <string.h>

CclStatus cuda_motion_alloc(CclMotion *motion, void *memory, size_t size)
{
    CudaMotion *const cuda = cuda_motion(motion);
    void *block;
    CCL_TRY(cuda_memory_alloc(&cuda->memory, &block, size));
    memcpy(memory, &block, sizeof block);
    CCL_CUDA_TRY(cudaMemsetAsync(block, 0, size, cuda->stream));
    return CCL_OK;
}

CclStatus cuda_motion_copy(CclMotion *motion, void *host, void *device, size_t size, bool put)
{
    const cudaStream_t stream = cuda_motion(motion)->stream;
    CCL_TRY(cuda_use_device(motion->config.device));
    CCL_CUDA_TRY(cudaMemcpyAsync(put ? device : host, put ? host : device, size,
                                 put ? cudaMemcpyHostToDevice : cudaMemcpyDeviceToHost, stream));
    CCL_CUDA_TRY(cudaStreamSynchronize(stream));
    return CCL_OK;
}
