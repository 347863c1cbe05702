/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Devices, and errors of CUDA calls. */
#ifndef CCL_CUDA_DEVICES_CUH
#define CCL_CUDA_DEVICES_CUH

#include "bounds.h"

#include <cuda_runtime.h>

/* Describes a failed CUDA call in the thread's error sentence; the status that fits the error. */
CclStatus cuda_fail(cudaError_t error, const char *expression, const char *file, int line);

#define CCL_CUDA_TRY(call) CCL_CUDA_TRY_AS(#call, call)
/* `error` is what the call of this name has returned. */
#define CCL_CUDA_TRY_AS(name, error)                             \
    do {                                                         \
        const cudaError_t error_ = (error);                      \
        if (error_ != cudaSuccess)                               \
            return cuda_fail(error_, name, __FILE__, __LINE__);  \
    } while (0)

/* Is there a device with this index (-1: any at all)? */
CclStatus cuda_check_device(int device);
/* Makes it current; -1: leaves current what the caller made current. */
CclStatus cuda_use_device(int device);

/* The current device. */
typedef struct CudaDevice {
    unsigned multiprocessors;
    bool overlaps; /* kernels are compiled for it to start while the one before them ends (overlap.cuh) */
} CudaDevice;

/* An error where no kernel is compiled for it. */
CclStatus cuda_query_device(CudaDevice *device);

/* The CUDA driver's context that is current in this thread, or NULL: the runtime does not say. */
void *cuda_current_context(void);

#endif
