/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Devices, and errors of CUDA calls. */
#ifndef CCL_CUDA_DEVICES_CUH
#define CCL_CUDA_DEVICES_CUH

#include "bounds.h"

#include <cuda_runtime.h>

/* Describes a failed CUDA call in the thread's error sentence. Returns the status that fits the error. */
CclStatus cuda_fail(cudaError_t error, const char *expression, const char *file, int line);

#define CCL_CUDA_TRY(call) CCL_CUDA_TRY_AS(#call, call)
/* `error`: the result of the call `name`. */
#define CCL_CUDA_TRY_AS(name, error)                             \
    do {                                                         \
        const cudaError_t error_ = (error);                      \
        if (error_ != cudaSuccess)                               \
            return cuda_fail(error_, name, __FILE__, __LINE__);  \
    } while (0)

/* Whether there is a device with this index (-1: any device). */
CclStatus cuda_check_device(int device);
/* Makes the device current, for memory that belongs to no context. -1: the context current in the thread, or else device 0. */
bool cuda_use_device_or_context(int device);
/* Makes the device current; -1: leaves the current device. */
CclStatus cuda_use_device(int device);

/* The current device. */
typedef struct CudaDevice {
    unsigned multiprocessors;
    bool overlaps; /* kernels are compiled for it to start while the one before them ends (overlap.cuh) */
} CudaDevice;

/* Fails if no kernel is compiled for the device. */
CclStatus cuda_query_device(CudaDevice *device);

/* The CUDA driver's context that is current in this thread, or NULL. The runtime has no call for it. */
void *cuda_current_context(void);

#endif
