// SPDX-FileCopyrightText: gst-ccl contributors
// SPDX-License-Identifier: LGPL-2.1-or-later

// The driver of the motion detector on CUDA: device memory, submit and collect. See cuda_motion.cuh.

#include "cuda_motion.cuh"

#include "cuda/wait.cuh"

#include <chrono>
#include <stdlib.h>
#include <string.h>

/* ---------------------------------------------------------------- memory */

CclStatus cuda_motion_alloc(CclMotion *motion, void *memory, size_t size)
{
    CudaMotion *const cuda = cuda_motion(motion);
    void *block;
    CCL_TRY(cuda_memory_alloc(&cuda->memory, &block, size));
    memcpy(memory, &block, sizeof block);
    CCL_CUDA_TRY(cudaMemsetAsync(block, 0, size, cuda->stream));
    return CCL_OK;
}

static CclStatus open_foreground(CclMotion *motion, CudaMotion *cuda)
{
    const size_t n_words = (size_t)motion->words * motion->height;
    for (unsigned i = 0; i < min(motion->config.depth, 2u); i++) {
        CCL_TRY(cuda_motion_alloc(motion, &cuda->foreground[i].image, n_words * 8));
        CCL_TRY(cuda_motion_alloc(motion, &cuda->foreground[i].dark, n_words * 16));
    }
    if (motion->config.depth == 1)
        cuda->foreground[1] = cuda->foreground[0];
    CCL_TRY(cuda_motion_alloc(motion, &cuda->kept, n_words * 8));
    CCL_TRY(cuda_motion_alloc(motion, &cuda->ignored, n_words * 8));
    return cuda_motion_alloc(motion, &cuda->confirm, 5 * n_words * 8);
}

static CclStatus open_images(CclMotion *motion, CudaMotion *cuda)
{
    const CclMotionConfig *const config = &motion->config;
    cuda->luma_pitch = (config->width + 127u) / 128 * 128;
    CCL_TRY(cuda_motion_alloc(motion, &cuda->luma, cuda->luma_pitch * config->height));
    cuda->mask_pitch = (size_t)motion->words * 64;
    CCL_TRY(cuda_motion_alloc(motion, &cuda->mask, cuda->mask_pitch * motion->height));
    if (motion->width != config->width || motion->height != config->height)
        CCL_TRY(cuda_motion_alloc(motion, &cuda->shrunk, cuda->mask_pitch * motion->height));
    return CCL_OK;
}

static CclStatus open_results(CclMotion *motion, CudaMotion *cuda)
{
    CCL_TRY(cuda_memory_alloc_pinned(&cuda->memory, &cuda->results, MOTION_RESULTS * sizeof *cuda->results));
    memset(cuda->results, 0, MOTION_RESULTS * sizeof *cuda->results);
    CCL_CUDA_TRY(cudaHostGetDevicePointer((void **)&cuda->d_results, cuda->results, 0));
    return cuda_motion_alloc(motion, &cuda->counters, MOTION_COUNTERS * sizeof *cuda->counters);
}

static CclStatus make_events(CclMotion *motion, CudaMotion *cuda)
{
    for (unsigned i = 0; i < motion->config.depth; i++) {
        CCL_CUDA_TRY(cudaEventCreateWithFlags(&cuda->downloaded[i], cudaEventDisableTiming));
        if (!motion->config.timing)
            continue;
        CCL_CUDA_TRY(cudaEventCreate(&cuda->begin[i]));
        CCL_CUDA_TRY(cudaEventCreate(&cuda->end[i]));
    }
    return CCL_OK;
}

static const CudaMotionMethod *find_method(CclMotionMethod method)
{
    switch (method) {
    case CCL_MOTION_DIFF:
    case CCL_MOTION_EMA:
    case CCL_MOTION_MOG2:
        return &cuda_motion_pixel_models;
    case CCL_MOTION_FEEDBACK:
        return &cuda_motion_feedback;
    }
    return NULL;
}

static CclStatus cuda_open(CclMotion *motion)
{
    const CudaMotionMethod *const method = find_method(motion->config.method);
    if (!method)
        return ccl_fail(CCL_ERROR_UNSUPPORTED, "there is no motion method %d on CUDA", (int)motion->config.method);
    CCL_TRY(cuda_check_device(motion->config.device));
    CCL_TRY(cuda_use_device(motion->config.device));
    CudaMotion *const cuda = (CudaMotion *)calloc(1, sizeof *cuda);
    if (!cuda)
        return ccl_fail(CCL_ERROR_OUT_OF_MEMORY, "out of memory");
    motion->impl = cuda;
    cuda->method = method;
    cuda->memory.owner = "detector";
    cuda->memory.device_bytes = &motion->device_bytes;
    cuda->memory.host_bytes = &motion->host_bytes;
    CCL_TRY(cuda_query_device(&cuda->device));
    CCL_CUDA_TRY(cudaStreamCreateWithFlags(&cuda->stream, cudaStreamNonBlocking));
    CCL_TRY(make_events(motion, cuda));
    CCL_TRY(open_results(motion, cuda));
    CCL_TRY(open_foreground(motion, cuda));
    CCL_TRY(open_images(motion, cuda));
    CCL_TRY(method->open(motion));
    CCL_CUDA_TRY(cudaStreamSynchronize(cuda->stream));
    return CCL_OK;
}

static void cuda_close(CclMotion *motion)
{
    CudaMotion *const cuda = cuda_motion(motion);
    if (!cuda)
        return;
    if (motion->config.device >= 0)
        cudaSetDevice(motion->config.device);
    if (cuda->stream)
        cudaStreamSynchronize(cuda->stream);
    cuda_memory_free(&cuda->memory);
    if (cuda->produced)
        cudaEventDestroy(cuda->produced);
    if (cuda->blocking)
        cudaEventDestroy(cuda->blocking);
    for (const auto &events : { cuda->begin, cuda->end, cuda->downloaded })
        for (unsigned i = 0; i < CCL_MAX_DEPTH; i++)
            if (events[i])
                cudaEventDestroy(events[i]);
    if (cuda->stream)
        cudaStreamDestroy(cuda->stream);
    (void)cudaGetLastError();
    if (cuda->model && cuda->method->close)
        cuda->method->close(cuda->model);
    free(cuda->model);
    free(cuda);
}

static CclStatus cuda_set_ignored(CclMotion *motion, const uint64_t *ignored)
{
    CCL_TRY(cuda_use_device(motion->config.device));
    CCL_CUDA_TRY(cudaMemcpyAsync(cuda_motion(motion)->ignored, ignored, (size_t)motion->words * motion->height * 8,
                                 cudaMemcpyHostToDevice, cuda_motion(motion)->stream));
    CCL_CUDA_TRY(cudaStreamSynchronize(cuda_motion(motion)->stream));
    return CCL_OK;
}

/* ---------------------------------------------------------------- submit: upload, launch, download */

static bool downloads(const MotionFrame *frame)
{
    return frame->mask.data && frame->mask.memory != CCL_MEMORY_DEVICE;
}

static CclStatus download_mask(const CclMotion *motion, const MotionFrame *frame)
{
    const CudaMotion *const cuda = cuda_motion(motion);
    CCL_CUDA_TRY(cuda_copy_rows(frame->mask.data, frame->mask.stride, cuda->mask, cuda->mask_pitch, motion->width,
                                motion->height, cudaMemcpyDeviceToHost, cuda->stream));
    CCL_CUDA_TRY(cudaEventRecord(cuda->downloaded[frame->slot], cuda->stream));
    return CCL_OK;
}

static MotionWork plan_work(const CclMotion *motion, CudaMotion *cuda, MotionFrame *frame)
{
    const uint32_t serial = frame->serial = ++cuda->serial;
    MotionWork work = {};
    work.frame = frame;
    work.picture = { NULL, 0, motion->width, motion->height, motion->words * 2, frame->rates };
    work.foreground = cuda->foreground[serial % 2];
    work.counters = cuda->counters + serial % MOTION_COUNTERS;
    work.next_but_one = cuda->counters + (serial + 2) % MOTION_COUNTERS;
    return work;
}

static CclStatus launch_frame(CclMotion *motion, MotionFrame *frame)
{
    CudaMotion *const cuda = cuda_motion(motion);
    MotionWork work = plan_work(motion, cuda, frame);
    CCL_TRY(cuda_use_device(motion->config.device));
    CCL_TRY(cuda_motion_upload(motion, &work));
    CCL_TRY(cuda->method->launch(motion, &work));
    if (motion->config.timing)
        CCL_CUDA_TRY(cudaEventRecord(cuda->end[frame->slot], cuda->stream));
    return downloads(frame) ? download_mask(motion, frame) : CCL_OK;
}

/* Once a frame has failed its memory is the caller's again: nothing that was begun may still use it. */
static CclStatus cuda_submit(CclMotion *motion, MotionFrame *frame)
{
    const CclStatus status = launch_frame(motion, frame);
    if (status != CCL_OK) {
        cudaStreamSynchronize(cuda_motion(motion)->stream);
        (void)cudaGetLastError();
    }
    return status;
}

/* ---------------------------------------------------------------- collect: wait, read */

/* The word that the last kernel of a frame writes. Most frames take less time than the driver needs to notice their end, so
 * this polls the word for CUDA_POLL_US. Only then it asks the driver, which reports errors. */
static CclStatus wait_for_result(CudaMotion *cuda, uint32_t serial, unsigned long long *result)
{
    const unsigned long long *const at = cuda->results + serial % MOTION_RESULTS;
    const auto start = std::chrono::steady_clock::now();
    bool done = false;
    while ((*result = __atomic_load_n(at, __ATOMIC_ACQUIRE)) >> 2 * MOTION_RESULT_BITS != serial % MOTION_RESULT_FRAMES) {
        if (done) /* and no block has written it */
            return ccl_fail(CCL_ERROR_DEVICE, "a picture was lost on the device");
        if (std::chrono::steady_clock::now() - start < std::chrono::microseconds(CUDA_POLL_US))
            continue;
        CCL_CUDA_TRY(cuda_block(cuda->stream, &cuda->blocking));
        done = true;
    }
    return CCL_OK;
}

static CclStatus cuda_collect(CclMotion *motion, MotionFrame *frame)
{
    CudaMotion *const cuda = cuda_motion(motion);
    const unsigned long long max = (1u << MOTION_RESULT_BITS) - 1;
    unsigned long long result;

    CCL_TRY(cuda_use_device(motion->config.device));
    if (motion->config.timing)
        CCL_CUDA_TRY(cudaEventSynchronize(cuda->end[frame->slot]));
    CCL_TRY(wait_for_result(cuda, frame->serial, &result));
    if (downloads(frame))
        CCL_CUDA_TRY(cudaEventSynchronize(cuda->downloaded[frame->slot])); /* at most the time of a copy */
    if (motion->config.timing) {
        CCL_CUDA_TRY(cudaEventElapsedTime(&frame->kernel_us, cuda->begin[frame->slot], cuda->end[frame->slot]));
        frame->kernel_us *= 1000;
    }
    frame->raw_foreground = result & max;
    frame->foreground = result >> MOTION_RESULT_BITS & max;
    if (cuda->method->collect)
        cuda->method->collect(motion, frame);
    return CCL_OK;
}

/* ---------------------------------------------------------------- the model, to save and load it */

CclStatus cuda_motion_copy(CclMotion *motion, void *host, void *device, size_t size, bool put)
{
    const cudaStream_t stream = cuda_motion(motion)->stream;
    CCL_TRY(cuda_use_device(motion->config.device));
    CCL_CUDA_TRY(cudaMemcpyAsync(put ? device : host, put ? host : device, size,
                                 put ? cudaMemcpyHostToDevice : cudaMemcpyDeviceToHost, stream));
    CCL_CUDA_TRY(cudaStreamSynchronize(stream));
    return CCL_OK;
}

static void cuda_list_arrays(const CclMotion *motion, MotionArrays *arrays)
{
    cuda_motion(motion)->method->list_arrays(motion, arrays);
}

static CclStatus cuda_control(CclMotion *motion, FeedbackControl *control, bool put)
{
    return cuda_motion(motion)->method->control(motion, control, put);
}

static CclStatus cuda_hold(CclMotion *motion, const FeedbackHold *hold)
{
    return cuda_motion(motion)->method->hold(motion, hold);
}

const MotionBackend motion_cuda_backend = {
    cuda_open,        cuda_close,       cuda_set_ignored, cuda_submit, cuda_collect,
    cuda_list_arrays, cuda_motion_copy, cuda_control,     cuda_hold,
};
