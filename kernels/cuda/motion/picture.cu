// SPDX-FileCopyrightText: gst-ccl contributors
// SPDX-License-Identifier: LGPL-2.1-or-later

// The picture of a frame in device memory, at the working size: upload, and averages of boxes.

#include "cuda_motion.cuh"

__global__ static void shrink(const __grid_constant__ MotionPlane plane, uint8_t *to, uint32_t pitch, uint32_t width,
                              uint32_t height)
{
    const uint32_t x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
    if (x >= width)
        return;
    const uint32_t x0 = motion_box(x, width, plane.width), x1 = motion_box(x + 1, width, plane.width);
    const uint32_t y0 = motion_box(y, height, plane.height), y1 = motion_box(y + 1, height, plane.height);
    const uint32_t area = (x1 - x0) * (y1 - y0);
    uint32_t sum = area / 2;
    for (uint32_t j = y0; j < y1; j++)
        for (uint32_t i = x0; i < x1; i++)
            sum += plane.data[j * plane.stride + i * plane.step];
    to[(size_t)y * pitch + x] = (uint8_t)(sum / area);
}

CclStatus cuda_motion_shrink(const CclMotion *motion, const MotionPlane *plane, uint8_t *to, uint32_t pitch, uint32_t width,
                             uint32_t height)
{
    const dim3 grid(blocks_for(width, MOTION_BLOCK_THREADS), height);
    return cuda_motion_launch(cuda_motion(motion), false, shrink, { grid, MOTION_BLOCK_THREADS, 0 }, *plane, to, pitch,
                              width, height);
}

static CclStatus launch_shrink(const CclMotion *motion, const MotionFrame *frame, MotionPicture *picture)
{
    CudaMotion *const cuda = cuda_motion(motion);
    const MotionPlane plane = { picture->luma, picture->stride, 1, frame->luma.width, frame->luma.height };
    const uint32_t pitch = motion->words * 64;
    CCL_TRY(cuda_motion_shrink(motion, &plane, cuda->shrunk, pitch, motion->width, motion->height));
    picture->luma = cuda->shrunk;
    picture->stride = pitch;
    return CCL_OK;
}

/* The first kernel overlaps the frame before only where it waits for nothing else. */
CclStatus cuda_motion_upload(const CclMotion *motion, MotionWork *work)
{
    CudaMotion *const cuda = cuda_motion(motion);
    const CclMask *const luma = &work->frame->luma;
    work->picture.luma = (const uint8_t *)luma->data;
    work->picture.stride = luma->stride;
    work->overlap = luma->memory == CCL_MEMORY_DEVICE && !luma->producer_stream && !cuda->shrunk;
    if (luma->memory == CCL_MEMORY_DEVICE && luma->producer_stream) {
        CCL_TRY(cuda_record(&cuda->produced, (cudaStream_t)luma->producer_stream));
        CCL_CUDA_TRY(cudaStreamWaitEvent(cuda->stream, cuda->produced, 0));
    }
    if (luma->memory != CCL_MEMORY_DEVICE) {
        CCL_CUDA_TRY(cuda_copy_rows(cuda->luma, cuda->luma_pitch, { luma->data, luma->stride, luma->width, luma->height },
                                    cudaMemcpyHostToDevice, cuda->stream));
        work->picture.luma = cuda->luma;
        work->picture.stride = cuda->luma_pitch;
    }
    if (motion->config.timing)
        CCL_CUDA_TRY(cudaEventRecord(cuda->begin[work->frame->slot], cuda->stream));
    return cuda->shrunk ? launch_shrink(motion, work->frame, &work->picture) : CCL_OK;
}
