// SPDX-FileCopyrightText: gst-ccl contributors
// SPDX-License-Identifier: LGPL-2.1-or-later

// The driver of the motion detector on CUDA: open, submit, collect. See cuda_motion.cuh.

#include "cuda_motion.cuh"

#include <stdlib.h>
#include <string.h>

/* ---------------------------------------------------------------- open, close */

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

static CclStatus open_timing(CclMotion *motion, CudaMotion *cuda)
{
    for (unsigned i = 0; motion->config.timing && i < motion->config.depth; i++) {
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
    CCL_TRY(open_timing(motion, cuda));
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
    cuda_waiter_free(&cuda->waiter);
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
    CudaMotion *const cuda = cuda_motion(motion);
    const CudaRows mask = { cuda->mask, cuda->mask_pitch, motion->width, motion->height };
    CCL_CUDA_TRY(cuda_copy_rows(frame->mask.data, frame->mask.stride, mask, cudaMemcpyDeviceToHost, cuda->stream));
    return cuda_record(&cuda->downloaded[frame->slot], cuda->stream);
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

static CclStatus submit_frame(CclMotion *motion, MotionFrame *frame)
{
    CudaMotion *const cuda = cuda_motion(motion);
    MotionWork work = plan_work(motion, cuda, frame);
    CCL_TRY(cuda_motion_upload(motion, &work));
    CCL_TRY(cuda->method->launch(motion, &work));
    if (motion->config.timing)
        CCL_CUDA_TRY(cudaEventRecord(cuda->end[frame->slot], cuda->stream));
    return downloads(frame) ? download_mask(motion, frame) : CCL_OK;
}

/* When a frame has failed, its memory belongs to the caller again: no operation in flight may still use it. */
static CclStatus cuda_submit(CclMotion *motion, MotionFrame *frame)
{
    CCL_TRY(cuda_use_device(motion->config.device));
    const CclStatus status = submit_frame(motion, frame);
    if (status != CCL_OK) {
        cudaStreamSynchronize(cuda_motion(motion)->stream);
        (void)cudaGetLastError();
    }
    return status;
}

/* ---------------------------------------------------------------- collect: wait, read */

/* The last kernel of a frame writes its result. No event is polled, because most frames take less time than the driver needs to
 * notice their end. Blocking reports errors. */
static CclStatus wait_for_result(CudaMotion *cuda, uint32_t serial, unsigned long long *result)
{
    const unsigned long long *const at = cuda->results + serial % MOTION_RESULTS;
    const auto is_written = [=] {
        *result = __atomic_load_n(at, __ATOMIC_ACQUIRE);
        return *result >> 2 * MOTION_RESULT_BITS == serial % MOTION_RESULT_FRAMES;
    };
    if (cuda_poll(is_written))
        return CCL_OK;
    CCL_CUDA_TRY(cuda_block(cuda->stream, &cuda->waiter.event));
    return is_written() ? CCL_OK : ccl_fail(CCL_ERROR_DEVICE, "a picture was lost on the device");
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
