/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * The CUDA backend for volumes: the stack, and the stages before and after a method; see volume.cuh.
 *
 *     add        one mask onto the stack: bits or pixels -> 0 and 1, of label maps values. It waits, so that the caller may
 *                reuse the mask
 *     label()    stack -> provisional labels
 *     number     as for masks: root -> label in raster order of first voxels
 *     measure    voxels are summed per component, for those that have a record
 *     rows       sums -> records
 *     relabel    provisional -> final labels, frame by frame, where label images are wanted
 *
 * The label image stays as the method left it: looking up goes from a voxel to its root to its label.
 */
#include "context.cuh"
#include "map.cuh"
#include "volume.cuh"
#include "warp.cuh"

#include "host/words.h"

/* Voxels looked up in one launch. */
static const uint32_t MAX_VOXELS = 1u << 16;

/* Rows of a column that a lane measures. */
static const uint32_t MEASURE_ROWS = 32;

/* Accumulators of one component; all zero is empty. So a minimum is stored as the maximum of complements. */
typedef struct __align__(16) VolumeSums {
    uint32_t voxels;
    uint32_t not_x0, x1, not_y0, y1, frame1;
    uint32_t not_first; /* ~index of the first voxel */
    uint32_t unused;
} VolumeSums;

typedef struct CudaVolume {
    uint8_t *stack; /* rows of `pitch` bytes */
    size_t pitch;
    uint32_t *labels;              /* tight */
    StageBuffers stages;           /* for `number` */
    VolumeSums *sums;              /* one per row of the table */
    CclVolumeComponent *d_records; /* device address of CclVolume.records */
    CclVoxel *h_voxels, *d_voxels; /* mapped: both addresses of the same memory */
} CudaVolume;

static CudaVolume *impl(const CclContext *context)
{
    return (CudaVolume *)context->volume.impl;
}

/* The context's only slot, with memory for one mask to upload and one label image to download. */
static CudaSlot *slot_of(const CclContext *context)
{
    return (CudaSlot *)context->frames[0].slot;
}

static CudaFrame *frame_of(const CclContext *context)
{
    return cuda_frame(&context->frames[0]);
}

/* ---------------------------------------------------------------- memory */

static CclStatus mapped_alloc(CclContext *context, void **host, void **device, size_t size)
{
    CCL_TRY(cuda_pinned_alloc(context, host, size));
    CCL_CUDA_TRY(cudaHostGetDevicePointer(device, *host, 0));
    return CCL_OK;
}

CclStatus cuda_volume_open(CclContext *context)
{
    const CclConfig *const config = &context->config;
    const size_t n_voxels = (size_t)config->max_width * config->max_height * config->volume;
    CudaVolume *volume;
    StageBuffers *stages;

    CCL_TRY(cuda_pinned_alloc(context, &context->volume.impl, sizeof *volume));
    volume = impl(context);
    *volume = CudaVolume{};
    volume->pitch = cuda_mask_pitch(cuda_takes_maps(context) ? 2 * config->max_width : config->max_width);
    context->volume.class_ids = context->frames[0].class_ids;
    stages = &volume->stages;
    stages->n_chunks = blocks_for(n_voxels, NUMBER_CHUNK);
    const size_t stack_size = volume->pitch * config->max_height * config->volume;
    CCL_TRY(cuda_device_alloc(context, (void **)&volume->stack, stack_size, false));
    CCL_TRY(cuda_device_alloc(context, (void **)&volume->labels, n_voxels * sizeof(uint32_t), false));
    CCL_TRY(cuda_device_alloc(context, (void **)&stages->root_state, n_voxels * sizeof(uint32_t), false));
    CCL_TRY(cuda_device_alloc(context, (void **)&stages->chunk_ids, stages->n_chunks * sizeof(uint32_t), false));
    CCL_TRY(cuda_device_alloc(context, (void **)&stages->counts, sizeof(Counts), true));
    CCL_TRY(cuda_device_alloc(context, (void **)&volume->sums, context->capacity * sizeof(VolumeSums), false));
    CCL_TRY(mapped_alloc(context, (void **)&context->volume.records, (void **)&volume->d_records,
                         context->capacity * sizeof(CclVolumeComponent)));
    return mapped_alloc(context, (void **)&volume->h_voxels, (void **)&volume->d_voxels,
                        MAX_VOXELS * (sizeof(CclVoxel) + sizeof(uint32_t)));
}

/* ---------------------------------------------------------------- add */

typedef struct Plane {
    uint8_t *to;
    size_t pitch;
    uint32_t width, height;
} Plane;

static dim3 grid_of(uint32_t width, uint32_t height)
{
    return dim3(blocks_for(width, 32), blocks_for(height, 8));
}

__global__ static void from_bits(const uint64_t *bits, uint32_t words, Plane plane)
{
    const uint32_t x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < plane.width && y < plane.height)
        plane.to[y * plane.pitch + x] = bits[(size_t)y * words + x / 64] >> x % 64 & 1;
}

/* Reads it byte by byte, at any address. */
__device__ static uint32_t pixel_value(const uint8_t *pixels, size_t stride, uint32_t pixel_size, uint32_t x, uint32_t y)
{
    const uint8_t *const p = pixels + y * stride + (size_t)x * pixel_size;
    return pixel_size == 2 ? p[0] | (uint32_t)p[1] << 8 : p[0];
}

__global__ static void from_pixels(const uint8_t *pixels, size_t stride, uint32_t pixel_size, uint32_t threshold,
                                   bool invert, Plane plane)
{
    const uint32_t x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= plane.width || y >= plane.height)
        return;
    const uint32_t value = pixel_value(pixels, stride, pixel_size, x, y);
    plane.to[y * plane.pitch + x] = (value > threshold) != invert;
}

__global__ static void from_map(const uint8_t *pixels, size_t stride, uint32_t pixel_size, Plane plane)
{
    const uint32_t x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < plane.width && y < plane.height)
        ((uint16_t *)(plane.to + y * plane.pitch))[x] = (uint16_t)pixel_value(pixels, stride, pixel_size, x, y);
}

static CclStatus wait_for_producer(const CudaFrame *frame, const CclMask *mask)
{
    cudaEvent_t produced;
    if (!mask->producer_stream)
        return CCL_OK;
    CCL_CUDA_TRY(cudaEventCreateWithFlags(&produced, cudaEventDisableTiming));
    cudaError_t error = cudaEventRecord(produced, (cudaStream_t)mask->producer_stream);
    if (error == cudaSuccess)
        error = cudaStreamWaitEvent(frame->stream, produced, 0);
    cudaEventDestroy(produced);
    CCL_CUDA_TRY_AS("cudaStreamWaitEvent", error);
    return CCL_OK;
}

/* A label map from host memory, through the slot's. Some rows are copied there while those before are uploaded. */
static CclStatus upload_map(CudaFrame *frame, const CudaSlot *slot, const CclMask *mask)
{
    const size_t row = (size_t)mask->width * mask->pixel_size;
    const uint32_t step = max(1u, (uint32_t)((512u << 10) / row));
    for (uint32_t y = 0; y < mask->height; y += step) {
        const uint32_t end = min(y + step, mask->height);
        for (uint32_t i = y; i < end; i++)
            memcpy(slot->h_mask + i * row, (const uint8_t *)mask->data + i * mask->stride, row);
        CCL_CUDA_TRY(cudaMemcpyAsync(slot->d_mask + y * row, slot->h_mask + y * row, (end - y) * row, cudaMemcpyHostToDevice,
                                     frame->stream));
    }
    return CCL_OK;
}

static CclStatus add_map(CclContext *context, const CclMask *mask, const Plane &plane)
{
    const CudaSlot *const slot = slot_of(context);
    CudaFrame *const frame = frame_of(context);
    const bool there = mask->memory == CCL_MEMORY_DEVICE;

    if (there)
        CCL_TRY(wait_for_producer(frame, mask));
    else
        CCL_TRY(upload_map(frame, slot, mask));
    from_map<<<grid_of(mask->width, mask->height), dim3(32, 8), 0, frame->stream>>>(
        there ? (const uint8_t *)mask->data : slot->d_mask, there ? mask->stride : (size_t)mask->width * mask->pixel_size,
        mask->pixel_size, plane);
    return CCL_OK;
}

CclStatus cuda_volume_add(CclContext *context, const CclMask *mask)
{
    const CudaVolume *const volume = impl(context);
    CudaFrame *const frame = frame_of(context);
    const Plane plane = { volume->stack + volume->pitch * mask->height * context->volume.n_frames, volume->pitch,
                          mask->width, mask->height };
    const CudaSlot *const slot = slot_of(context);
    uint64_t *const h_bits = (uint64_t *)slot->h_mask, *const d_bits = (uint64_t *)slot->d_mask;
    const uint32_t words = row_words(mask->width);

    CCL_TRY(cuda_use_device(context->config.device));
    if (cuda_takes_maps(context)) {
        CCL_TRY(add_map(context, mask, plane));
    } else if (mask->memory == CCL_MEMORY_DEVICE) {
        CCL_TRY(wait_for_producer(frame, mask));
        from_pixels<<<grid_of(mask->width, mask->height), dim3(32, 8), 0, frame->stream>>>(
            (const uint8_t *)mask->data, mask->stride, mask->pixel_size, mask->threshold, mask->invert, plane);
    } else {
        ((const CudaContext *)context->impl)->pack_rows(mask, 0, mask->height, h_bits, words);
        CCL_CUDA_TRY(cudaMemcpyAsync(d_bits, h_bits, (size_t)words * sizeof(uint64_t) * mask->height,
                                     cudaMemcpyHostToDevice, frame->stream));
        from_bits<<<grid_of(mask->width, mask->height), dim3(32, 8), 0, frame->stream>>>(d_bits, words, plane);
    }
    CCL_CUDA_TRY(cudaGetLastError());
    CCL_CUDA_TRY(cudaStreamSynchronize(frame->stream));
    return CCL_OK;
}

/* ---------------------------------------------------------------- label */

__device__ static uint32_t id_of_voxel(const StageBuffers &stages, uint32_t provisional)
{
    return id_of(stages, stages.root_state[provisional - 1]);
}

/* Voxels with one label in a part of a frame: a lane's column, or several columns. */
typedef struct Part {
    uint32_t label; /* 0: empty */
    uint32_t n, x0, x1, y0, y1, first;
} Part;

/* Arguments of measure(): the sums that votes go to, and the number of components. */
typedef struct Votes {
    StageBuffers stages;
    VolumeSums *sums;
    uint32_t capacity;
} Votes;

__device__ static void add_part(const Votes &votes, const Part &part, uint32_t t)
{
    const uint32_t id = id_of_voxel(votes.stages, part.label);
    if (id >= votes.capacity)
        return;
    VolumeSums *const of = &votes.sums[id];
    atomicAdd(&of->voxels, part.n);
    atomicMax(&of->not_x0, ~part.x0);
    atomicMax(&of->x1, part.x1);
    atomicMax(&of->not_y0, ~part.y0);
    atomicMax(&of->y1, part.y1);
    atomicMax(&of->frame1, t + 1);
    atomicMax(&of->not_first, ~part.first);
}

/* Adds the lanes' parts. A few times, all parts with the label of the first remaining lane are added as one. The other lanes
 * add their own part. */
__device__ static void add_parts(const Votes &votes, const Part &part, uint32_t t)
{
    uint32_t pending = __ballot_sync(~0u, part.label != 0);
    for (unsigned group = 0; pending && group < 3; group++) {
        const uint32_t label = __shfl_sync(~0u, part.label, __ffs(pending) - 1);
        const bool mine = part.label == label;
        const Part sum = { label,
                            warp_sum(mine ? part.n : 0),
                            warp_min(mine ? part.x0 : UINT32_MAX),
                            ~warp_min(mine ? ~part.x1 : UINT32_MAX),
                            warp_min(mine ? part.y0 : UINT32_MAX),
                            ~warp_min(mine ? ~part.y1 : UINT32_MAX),
                            warp_min(mine ? part.first : UINT32_MAX) };
        if (threadIdx.x == 0)
            add_part(votes, sum, t);
        pending &= ~__ballot_sync(~0u, mine);
    }
    if (pending >> threadIdx.x & 1)
        add_part(votes, part, t);
}

/* A lane adds up a column of MEASURE_ROWS voxels while the label stays the same, background in between included. Atomics on one
 * component are serialized, so this kernel needs few of them. */
__global__ static void measure(const __grid_constant__ CudaVars vars, Space space, Votes votes)
{
    const uint32_t x = blockIdx.x * 32 + threadIdx.x, t = blockIdx.z;
    const uint32_t y0 = (blockIdx.y * blockDim.y + threadIdx.y) * MEASURE_ROWS;
    const uint32_t y1 = x < space.width ? min(y0 + MEASURE_ROWS, space.height) : 0;
    Part part = {};
    for (uint32_t y = y0; y < y1; y++) {
        const uint32_t index = space.index(x, y, t), label = vars.labels[index];
        if (!label)
            continue;
        if (label != part.label) {
            if (part.label)
                add_part(votes, part, t);
            part = Part{ label, 0, x, x + 1, y, y, index };
        }
        part.n++;
        part.y1 = y + 1;
    }
    add_parts(votes, part, t);
}

__global__ static void make_rows(Space space, StageBuffers stages, uint32_t capacity, const VolumeSums *sums,
                                 CclVolumeComponent *rows, CudaResult *result)
{
    const uint32_t i = blockIdx.x * blockDim.x + threadIdx.x, n = stages.counts->n_found;
    if (i == 0)
        result->n_found = n;
    if (i >= n || i >= capacity)
        return;
    const VolumeSums s = sums[i];
    const uint32_t first = ~s.not_first, row = first / space.width;
    CclVolumeComponent c = {};
    c.voxels = s.voxels;
    c.label = i + 1;
    c.x0 = (uint16_t)~s.not_x0;
    c.y0 = (uint16_t)~s.not_y0;
    c.x1 = (uint16_t)s.x1;
    c.y1 = (uint16_t)s.y1;
    c.frame0 = (uint16_t)(row / space.height);
    c.frame1 = (uint16_t)s.frame1;
    c.first_x = (uint16_t)(first % space.width);
    c.first_y = (uint16_t)(row % space.height);
    c.flags = ccl_border_flags(c.x0, c.y0, c.x1, c.y1, space.width, space.height);
    rows[i] = c;
}

/* Of label maps: the value of each component's first voxel. */
__global__ static void find_class_ids(const __grid_constant__ CudaVars vars, Space space, StageBuffers stages, uint32_t capacity,
                                      const VolumeSums *sums, uint16_t *class_ids)
{
    const uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= stages.counts->n_found || i >= capacity)
        return;
    const uint32_t first = ~sums[i].not_first;
    class_ids[i] = (uint16_t)voxel_value_at(vars, space, first % space.width, first / space.width, 0);
}

/* The stack as one tall mask. */
static void describe(CclContext *context)
{
    const CclVolume *const size = &context->volume;
    CudaFrame *const frame = frame_of(context);
    CudaVars *const vars = &frame->vars;

    memset(vars, 0, sizeof *vars); /* compared as bytes */
    vars->mask = impl(context)->stack;
    vars->mask_stride = impl(context)->pitch;
    if (cuda_takes_maps(context)) {
        vars->wide = impl(context)->stack;
        vars->wide_stride = impl(context)->pitch;
        vars->threshold = context->config.background_value;
    }
    vars->labels = impl(context)->labels;
    vars->label_stride = size->width;
    vars->keep_all = 1;
    frame->shape = CudaShape{};
    frame->shape.width = size->width;
    frame->shape.height = size->height * size->n_frames;
    frame->shape.frame_height = size->height;
    frame->shape.label_mode = CUDA_LABELS_FINAL;
    frame->shape.keep_all = 1;
    frame->workspace = ((const CudaContext *)context->impl)->stream_slots[0].workspace;
    cuda_clear_steps(frame);
}

static CclStatus make_table(CclContext *context)
{
    const CudaVolume *const volume = impl(context);
    CudaFrame *const frame = frame_of(context);
    const Space space = space_of(frame->shape);
    const dim3 grid(blocks_for(space.width, 32), blocks_for(space.height, 8 * MEASURE_ROWS), space.n_frames);
    const Votes votes = { volume->stages, volume->sums, context->capacity };

    CCL_CUDA_TRY(cudaMemsetAsync(volume->sums, 0, context->capacity * sizeof(VolumeSums), frame->stream));
    CCL_CUDA_LAUNCH(frame, "measure", measure, grid, dim3(32, 8), 0, frame->vars, space, votes);
    CCL_CUDA_LAUNCH(frame, "rows", make_rows, blocks_for(context->capacity, 256), 256, 0, space, volume->stages,
                    context->capacity, volume->sums, volume->d_records, frame->result);
    if (cuda_takes_maps(context))
        CCL_CUDA_LAUNCH(frame, "class ids", find_class_ids, blocks_for(context->capacity, 256), 256, 0, frame->vars, space,
                        volume->stages, context->capacity, volume->sums, frame->class_ids);
    return CCL_OK;
}

__global__ static void relabel_frame(const uint32_t *labels, uint32_t width, uint32_t height, StageBuffers stages,
                                     uint32_t *image, size_t stride)
{
    const uint32_t x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height)
        return;
    const uint32_t label = labels[(size_t)y * width + x];
    image[y * stride + x] = label ? id_of_voxel(stages, label) + 1 : 0;
}

static CclStatus fill_images(CclContext *context, const CclLabels *images)
{
    const CudaVolume *const volume = impl(context);
    const uint32_t width = context->volume.width, height = context->volume.height;
    uint32_t *const image = slot_of(context)->d_labels;
    const size_t row = width * sizeof(uint32_t);
    CudaFrame *const frame = frame_of(context);

    for (uint32_t t = 0; t < context->volume.n_frames; t++) {
        const bool there = images[t].memory == CCL_MEMORY_DEVICE;
        relabel_frame<<<grid_of(width, height), dim3(32, 8), 0, frame->stream>>>(
            volume->labels + (size_t)t * width * height, width, height, volume->stages,
            there ? images[t].data : image, there ? images[t].stride / sizeof(uint32_t) : width);
        CCL_CUDA_TRY(cudaGetLastError());
        if (!there)
            CCL_CUDA_TRY(cuda_copy_rows(images[t].data, images[t].stride, { image, row, row, height },
                                        cudaMemcpyDeviceToHost, frame->stream));
    }
    return CCL_OK;
}

CclStatus cuda_volume_label(CclContext *context, const CclLabels *labels)
{
    const CudaVolume *const volume = impl(context);
    CudaFrame *const frame = frame_of(context);

    CCL_TRY(cuda_use_device(context->config.device));
    describe(context);
    if (frame->timing)
        CCL_CUDA_TRY(cudaEventRecord(frame->step_events[0], frame->stream));
    CCL_TRY(context->algorithm->label(context, &context->frames[0]));
    CCL_TRY(number_from_labels(context, frame, &volume->stages));
    CCL_TRY(make_table(context));
    if (labels)
        CCL_TRY(fill_images(context, labels));
    CCL_CUDA_TRY(cudaStreamSynchronize(frame->stream));
    context->volume.n_found = slot_of(context)->h_result->n_found;
    if (frame->timing)
        CCL_TRY(cuda_read_steps(context, frame, &context->volume.kernel_us));
    return CCL_OK;
}

/* ---------------------------------------------------------------- look up */

__global__ static void look_up(const uint32_t *labels, Space space, StageBuffers stages, const CclVoxel *voxels,
                               uint32_t n, uint32_t *found)
{
    const uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    const CclVoxel voxel = voxels[i];
    const uint32_t label = labels[space.index(voxel.x, voxel.y, voxel.frame)];
    found[i] = label ? id_of_voxel(stages, label) + 1 : 0;
}

CclStatus cuda_volume_look_up(CclContext *context, const CclVoxel *voxels, uint32_t n, uint32_t *labels)
{
    const CudaVolume *const volume = impl(context);
    const CudaFrame *const frame = frame_of(context);
    uint32_t *const h_labels = (uint32_t *)(volume->h_voxels + MAX_VOXELS);
    uint32_t *const d_labels = (uint32_t *)(volume->d_voxels + MAX_VOXELS);

    CCL_TRY(cuda_use_device(context->config.device));
    for (uint32_t done = 0; done < n; done += MAX_VOXELS) {
        const uint32_t some = min(n - done, MAX_VOXELS);
        memcpy(volume->h_voxels, voxels + done, some * sizeof *voxels);
        look_up<<<blocks_for(some, 256), 256, 0, frame->stream>>>(volume->labels, space_of(frame->shape),
                                                                  volume->stages, volume->d_voxels, some, d_labels);
        CCL_CUDA_TRY(cudaGetLastError());
        CCL_CUDA_TRY(cudaStreamSynchronize(frame->stream));
        memcpy(labels + done, h_labels, some * sizeof *labels);
    }
    return CCL_OK;
}
