/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Devices, and errors of CUDA calls. */
#include "devices.cuh"

#include <pthread.h>
#include <string.h>

/* The driver's documentation says so of each. Contexts on other devices fail with the same error then. */
static bool ends_cuda_in_process(cudaError_t error)
{
    switch (error) {
    case cudaErrorIllegalAddress:
    case cudaErrorLaunchTimeout:
    case cudaErrorAssert:
    case cudaErrorHardwareStackError:
    case cudaErrorIllegalInstruction:
    case cudaErrorMisalignedAddress:
    case cudaErrorInvalidAddressSpace:
    case cudaErrorInvalidPc:
    case cudaErrorLaunchFailure:
        return true;
    default:
        return false;
    }
}

CclStatus cuda_fail(cudaError_t error, const char *expression, const char *file, int line)
{
    const char *const name = strrchr(file, '/') ? strrchr(file, '/') + 1 : file;
    CclStatus status = CCL_ERROR_DEVICE;

    (void)cudaGetLastError(); /* errors that the device survives are not kept for the next call */
    if (error == cudaErrorMemoryAllocation)
        status = CCL_ERROR_OUT_OF_MEMORY;
    else if (error == cudaErrorNoDevice || error == cudaErrorInsufficientDriver || error == cudaErrorInvalidDevice ||
             error == cudaErrorNoKernelImageForDevice || error == cudaErrorInitializationError ||
             error == cudaErrorUnsupportedPtxVersion || error == cudaErrorDevicesUnavailable ||
             error == cudaErrorSystemDriverMismatch || error == cudaErrorCompatNotSupportedOnDevice ||
             error == cudaErrorStubLibrary || error == cudaErrorSystemNotReady)
        status = CCL_ERROR_NO_DEVICE;
    return ccl_fail(status, "CUDA: %s (%s, %d) from %s at %s:%d%s", cudaGetErrorString(error), cudaGetErrorName(error),
                    (int)error, expression, name, line,
                    ends_cuda_in_process(error) ? "; to use a GPU, start the program again" : "");
}

/* A child process has copies of the variables of its parent's CUDA, but neither its threads nor the device. Calls would fail
 * with an error that names no cause, or not return. */
static bool is_forked;

static void after_fork_in_child(void)
{
    is_forked = true;
}

static void watch_forks(void)
{
    pthread_atfork(NULL, NULL, after_fork_in_child);
}

static CclStatus check_fork(void)
{
    return is_forked ? ccl_fail(CCL_ERROR_NO_DEVICE, "CUDA was in use when this process was forked, and does not work in a "
                                                     "child process: fork before the first use, or use the CPU")
                     : CCL_OK;
}

CclStatus cuda_use_device(int device)
{
    CCL_TRY(check_fork());
    if (device >= 0)
        CCL_CUDA_TRY(cudaSetDevice(device));
    return CCL_OK;
}

bool cuda_use_device_or_context(int device)
{
    return (device < 0 && cuda_current_context()) || cudaSetDevice(max(device, 0)) == cudaSuccess;
}

unsigned ccl_n_devices(void)
{
    int n = 0;
    if (!is_forked && cudaGetDeviceCount(&n) == cudaSuccess)
        return (unsigned)n;
    (void)cudaGetLastError();
    return 0;
}

CclStatus cuda_check_device(int device)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    int n = 0;
    CCL_TRY(check_fork());
    const cudaError_t error = cudaGetDeviceCount(&n);
    if (error == cudaErrorInsufficientDriver) {
        (void)cudaGetLastError();
        return ccl_fail(CCL_ERROR_NO_DEVICE, "there is no CUDA driver, or it is older than this build's CUDA %d.%d needs",
                        CUDART_VERSION / 1000, CUDART_VERSION % 1000 / 10);
    }
    if (error == cudaErrorNoDevice || (error == cudaSuccess && !n)) {
        (void)cudaGetLastError();
        return ccl_fail(CCL_ERROR_NO_DEVICE, "there is no CUDA device");
    }
    CCL_CUDA_TRY_AS("cudaGetDeviceCount", error);
    if (device < -1 || device >= n)
        return ccl_fail(CCL_ERROR_NO_DEVICE, "there is no CUDA device %d; the devices are 0 to %d", device, n - 1);
    pthread_once(&once, watch_forks);
    return CCL_OK;
}

/* Never launched. Its attributes show whether there is code for a device, and of which kind. */
__global__ static void nothing(void)
{
}

CclStatus cuda_query_device(CudaDevice *result)
{
    cudaFuncAttributes attributes;
    int device = 0, multiprocessors = 0;
    CCL_CUDA_TRY(cudaGetDevice(&device));
    CCL_CUDA_TRY(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device));
    CCL_CUDA_TRY(cudaFuncGetAttributes(&attributes, nothing));
    result->multiprocessors = (unsigned)multiprocessors;
    result->overlaps = attributes.ptxVersion >= 90;
    return CCL_OK;
}

/* Calls the driver through the runtime. */
void *cuda_current_context(void)
{
    typedef int (*GetCurrent)(void **context);
    void *entry = NULL, *current = NULL;
    cudaDriverEntryPointQueryResult found;
#if CUDART_VERSION >= 12050
    const cudaError_t error = cudaGetDriverEntryPointByVersion("cuCtxGetCurrent", &entry, 12000, cudaEnableDefault, &found);
#else
    const cudaError_t error = cudaGetDriverEntryPoint("cuCtxGetCurrent", &entry, cudaEnableDefault, &found);
#endif
    if (error != cudaSuccess || found != cudaDriverEntryPointSuccess)
        return NULL;
    return ((GetCurrent)entry)(&current) == 0 ? current : NULL;
}
