/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* The runtime API: errors and the device. */
#include "runtime.h"

#include <cstdio>

using namespace emulate;

/* ---------------------------------------------------------------- errors */

static const struct {
    cudaError_t error;
    const char *name, *sentence;
} error_names[] = {
    { cudaSuccess, "cudaSuccess", "no error" },
    { cudaErrorInvalidValue, "cudaErrorInvalidValue", "invalid argument" },
    { cudaErrorMemoryAllocation, "cudaErrorMemoryAllocation", "out of memory" },
    { cudaErrorInitializationError, "cudaErrorInitializationError", "initialization error" },
    { cudaErrorInvalidConfiguration, "cudaErrorInvalidConfiguration", "invalid configuration argument" },
    { cudaErrorInsufficientDriver, "cudaErrorInsufficientDriver", "CUDA driver version is insufficient" },
    { cudaErrorNoDevice, "cudaErrorNoDevice", "no CUDA-capable device is detected" },
    { cudaErrorInvalidDevice, "cudaErrorInvalidDevice", "invalid device ordinal" },
    { cudaErrorNoKernelImageForDevice, "cudaErrorNoKernelImageForDevice", "no kernel image for the device" },
    { cudaErrorInvalidResourceHandle, "cudaErrorInvalidResourceHandle", "invalid resource handle" },
    { cudaErrorNotReady, "cudaErrorNotReady", "device not ready" },
    { cudaErrorIllegalAddress, "cudaErrorIllegalAddress", "an illegal memory access was encountered" },
    { cudaErrorLaunchTimeout, "cudaErrorLaunchTimeout", "the launch timed out and was terminated" },
    { cudaErrorLaunchFailure, "cudaErrorLaunchFailure", "unspecified launch failure" },
    { cudaErrorStreamCaptureUnsupported, "cudaErrorStreamCaptureUnsupported", "not permitted while capturing" },
    { cudaErrorStreamCaptureInvalidated, "cudaErrorStreamCaptureInvalidated", "failed due to a previous error" },
    { cudaErrorInvalidClusterSize, "cudaErrorInvalidClusterSize", "invalid cluster size" },
};

const char *cudaGetErrorName(cudaError_t error)
{
    for (const auto &e : error_names)
        if (e.error == error)
            return e.name;
    return "cudaErrorUnknown";
}

const char *cudaGetErrorString(cudaError_t error)
{
    for (const auto &e : error_names)
        if (e.error == error)
            return e.sentence;
    return "unknown error";
}

cudaError_t cudaGetLastError()
{
    const cudaError_t error = last_error();
    set_last_error(cudaSuccess);
    return error;
}

cudaError_t cudaPeekAtLastError()
{
    return last_error();
}

/* ---------------------------------------------------------------- the device */

static bool is_device(int device)
{
    return device >= 0 && device < (int)settings().devices;
}

cudaError_t cudaGetDeviceCount(int *n)
{
    /* With several devices it succeeds after one of them is lost. */
    const std::lock_guard<std::recursive_mutex> guard(lock);
    const unsigned n_devices = settings().devices;
    if (const cudaError_t planted = enter("cudaGetDeviceCount", n_devices > 1 ? MAX_DEVICES : 0))
        return fail(planted);
    *n = (int)n_devices;
    return cudaSuccess;
}

cudaError_t cudaGetDevice(int *device)
{
    ENTER("cudaGetDevice");
    *device = (int)current_device;
    return cudaSuccess;
}

cudaError_t cudaSetDevice(int device)
{
    ENTER_ON("cudaSetDevice", is_device(device) ? (unsigned)device : current_device);
    if (!is_device(device))
        return fail(cudaErrorInvalidDevice);
    current_device = (unsigned)device;
    return cudaSuccess;
}

cudaError_t cudaDeviceGetAttribute(int *value, cudaDeviceAttr attribute, int device)
{
    ENTER("cudaDeviceGetAttribute");
    if (!is_device(device))
        return fail(cudaErrorInvalidDevice);
    switch (attribute) {
    case cudaDevAttrMaxThreadsPerBlock: *value = 1024; break;
    case cudaDevAttrMaxSharedMemoryPerBlock: *value = SHARED_USUAL; break;
    case cudaDevAttrMaxSharedMemoryPerBlockOptin: *value = SHARED_MAX; break;
    case cudaDevAttrWarpSize: *value = 32; break;
    case cudaDevAttrMultiProcessorCount: *value = 4; break;
    case cudaDevAttrMaxThreadsPerMultiProcessor: *value = 2048; break;
    case cudaDevAttrComputeCapabilityMajor: *value = 9; break;
    case cudaDevAttrComputeCapabilityMinor: *value = 0; break;
    case cudaDevAttrClusterLaunch: *value = 1; break;
    default: return fail(cudaErrorInvalidValue);
    }
    return cudaSuccess;
}

cudaError_t cudaDeviceGetStreamPriorityRange(int *lowest, int *highest)
{
    ENTER("cudaDeviceGetStreamPriorityRange");
    *lowest = 0;
    *highest = -2;
    return cudaSuccess;
}

cudaError_t cudaMemGetInfo(size_t *free, size_t *total)
{
    ENTER("cudaMemGetInfo");
    unsigned n_blocks;
    const size_t used = memory_in_use(&n_blocks);
    *total = memory_size;
    *free = memory_size - used;
    return cudaSuccess;
}

cudaError_t cudaGetDeviceProperties(cudaDeviceProp *properties, int device)
{
    ENTER("cudaGetDeviceProperties");
    if (!is_device(device))
        return fail(cudaErrorInvalidDevice);
    *properties = cudaDeviceProp{};
    snprintf(properties->name, sizeof properties->name, "CUDA emulated on the CPU");
    properties->totalGlobalMem = memory_size;
    properties->sharedMemPerBlock = SHARED_USUAL;
    properties->multiProcessorCount = 4;
    properties->major = 9;
    properties->warpSize = 32;
    properties->maxThreadsPerBlock = 1024;
    properties->maxThreadsPerMultiProcessor = 2048;
    return cudaSuccess;
}

cudaError_t cudaDriverGetVersion(int *version)
{
    *version = CUDART_VERSION;
    return cudaSuccess;
}

cudaError_t cudaRuntimeGetVersion(int *version)
{
    *version = CUDART_VERSION;
    return cudaSuccess;
}

static int get_current_context(void **context)
{
    static int something[MAX_DEVICES];
    *context = used ? &something[current_device] : nullptr;
    return 0;
}

cudaError_t cudaGetDriverEntryPointByVersion(const char *name, void **entry, unsigned, unsigned long long,
                                             cudaDriverEntryPointQueryResult *found)
{
    ENTER("cudaGetDriverEntryPointByVersion");
    const bool known = !strcmp(name, "cuCtxGetCurrent");
    *entry = known ? (void *)get_current_context : nullptr;
    if (found)
        *found = known ? cudaDriverEntryPointSuccess : cudaDriverEntryPointSymbolNotFound;
    return cudaSuccess;
}

cudaError_t cudaDeviceSynchronize()
{
    ENTER("cudaDeviceSynchronize");
    if (invalidates_any_capture())
        return fail(cudaErrorStreamCaptureUnsupported);
    return run_all();
}
