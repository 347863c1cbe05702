/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* The CUDA backend: memory, streams, the way of a frame through its slot; see backend.cuh. */
#include "context.cuh"
#include "volume.cuh"

#include "host/words.h"

#include <chrono>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* Only to be asked about: is there code for a device, and of which kind? */
__global__ static void nothing(void)
{
}

static CudaContext *impl(const CclContext *context)
{
    return (CudaContext *)context->impl;
}

const CudaCapacity *cuda_capacity(const CclContext *context)
{
    const CudaContext *const cuda = impl(context);
    return cuda->engine ? &cuda->engine->capacity : &cuda->capacity;
}

unsigned cuda_multiprocessors(const CclContext *context)
{
    return impl(context)->multiprocessors;
}

/* ---------------------------------------------------------------- errors */

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
    return ccl_fail(status, "CUDA: %s (%s, %d) from %s at %s:%d", cudaGetErrorString(error), cudaGetErrorName(error),
                    (int)error, expression, name, line);
}

/* The node that a launch on a captured stream has made: whatever is launched next depends on it. */
static CclStatus find_last_node(cudaStream_t stream, cudaGraphNode_t *node)
{
    cudaStreamCaptureStatus status;
    const cudaGraphNode_t *nodes = NULL;
    size_t n = 0;
#if CUDART_VERSION >= 13000
    CCL_CUDA_TRY(cudaStreamGetCaptureInfo(stream, &status, NULL, NULL, &nodes, NULL, &n));
#else
    CCL_CUDA_TRY(cudaStreamGetCaptureInfo(stream, &status, NULL, NULL, &nodes, &n));
#endif
    if (status != cudaStreamCaptureStatusActive || n != 1)
        return ccl_fail(CCL_ERROR_DEVICE, "a stream is not captured as one chain of kernels");
    *node = nodes[0];
    return CCL_OK;
}

static CclStatus note_node(CudaReplay *replay, cudaStream_t stream, unsigned n_parameters)
{
    if (replay->n_nodes == CUDA_MAX_STEPS)
        return ccl_fail(CCL_ERROR_DEVICE, "a frame has more than %d kernels", CUDA_MAX_STEPS);
    CudaReplayNode *const node = &replay->nodes[replay->n_nodes++];
    node->n_parameters = n_parameters;
    return find_last_node(stream, &node->node);
}

CclStatus cuda_launched(CudaFrame *frame, const char *name, unsigned n_with_vars, const char *file, int line)
{
    const cudaError_t error = cudaGetLastError();
    if (error != cudaSuccess)
        return cuda_fail(error, name, file, line);
    if (frame->capture && (n_with_vars || frame->capture->notes_all))
        CCL_TRY(note_node(frame->capture, frame->stream, n_with_vars));
    if (frame->timing && frame->n_steps < CUDA_MAX_STEPS) {
        frame->step_names[frame->n_steps++] = name;
        CCL_CUDA_TRY(cudaEventRecord(frame->step_events[frame->n_steps], frame->stream));
    }
    return CCL_OK;
}

/* ---------------------------------------------------------------- devices */

/* The device by index; -1: whatever context the caller has made current. */
CclStatus cuda_use_device(int device)
{
    if (device >= 0)
        CCL_CUDA_TRY(cudaSetDevice(device));
    return CCL_OK;
}

CclStatus cuda_check_device(int device)
{
    int n = 0;
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
    return CCL_OK;
}

/* ---------------------------------------------------------------- memory */

CclStatus cuda_device_alloc(CclContext *context, void **memory, size_t size, bool cleared)
{
    CudaContext *const cuda = impl(context);
    const cudaError_t error = cudaMalloc(memory, size);
    if (error == cudaErrorMemoryAllocation) {
        (void)cudaGetLastError();
        return ccl_fail(CCL_ERROR_OUT_OF_MEMORY, "no %zu bytes of device memory left (the context holds %zu already)", size,
                        context->device_bytes);
    }
    CCL_CUDA_TRY_AS("cudaMalloc", error);
    cuda->device[cuda->n_device++] = *memory;
    context->device_bytes += size;
    if (cleared)
        CCL_CUDA_TRY(cudaMemsetAsync(*memory, 0, size, cuda->lanes[0].stream));
    return CCL_OK;
}

/* Page-locked and visible to kernels. */
CclStatus cuda_pinned_alloc(CclContext *context, void **memory, size_t size)
{
    CudaContext *const cuda = impl(context);
    const cudaError_t error = cudaHostAlloc(memory, size, cudaHostAllocMapped | cudaHostAllocPortable);
    if (error == cudaErrorMemoryAllocation) {
        (void)cudaGetLastError();
        return ccl_fail(CCL_ERROR_OUT_OF_MEMORY, "no %zu bytes of page-locked memory left (the context holds %zu already)",
                        size, context->host_bytes);
    }
    CCL_CUDA_TRY_AS("cudaHostAlloc", error);
    cuda->pinned[cuda->n_pinned++] = *memory;
    context->host_bytes += size;
    return CCL_OK;
}

/* Rows of uploaded masks begin at multiples of this. */
static size_t mask_pitch(uint32_t width)
{
    return (width + 127) / 128 * 128;
}

static size_t align(size_t size)
{
    return (size + 255) / 256 * 256;
}

static CclStatus open_stages(CclContext *context, StageBuffers *stages, size_t n_pixels)
{
    *stages = stage_sizes(context);
    CCL_TRY(cuda_device_alloc(context, (void **)&stages->root_state, n_pixels * sizeof(uint32_t), false));
    CCL_TRY(cuda_device_alloc(context, (void **)&stages->sums, stages->n_sums * sizeof(Sums), true));
    CCL_TRY(cuda_device_alloc(context, (void **)&stages->chunk_ids, stages->n_chunks * sizeof(uint32_t), false));
    CCL_TRY(cuda_device_alloc(context, (void **)&stages->table_scan, stages->n_table_scan * sizeof(uint32_t), true));
    return cuda_device_alloc(context, (void **)&stages->counts, sizeof(Counts), true);
}

static CclStatus open_loop(CclContext *context)
{
    CudaLoop *const loop = &impl(context)->loop;
    if (!context->algorithm->iterative)
        return CCL_OK;
    CCL_TRY(cuda_device_alloc(context, (void **)&loop->changed, sizeof(uint32_t), true));
    CCL_TRY(cuda_pinned_alloc(context, (void **)&loop->host, sizeof(uint32_t)));
    CCL_CUDA_TRY(cudaHostGetDevicePointer((void **)&loop->seen, (void *)loop->host, 0));
    if (context->config.timing)
        CCL_CUDA_TRY(cudaEventCreate(&loop->started));
    return CCL_OK;
}

/* Masks from ordinary memory come up as bits: they have to be copied to page-locked memory anyway, and packing them on the
 * way takes less time than copying. Of those in page-locked memory see shares_packing(). */
static bool packs_masks(const CclContext *context)
{
    return context->algorithm->takes_bits;
}

/* A mask is packed by the host in pieces, by whoever has time: 32 to 64 of them, or fewer if it is low. */
static uint32_t chunk_rows(uint32_t height)
{
    return max(height / (32 * CHUNK_ROWS), 1u) * CHUNK_ROWS;
}

/* One allocation of each kind: pinning takes its time, and there may be a thousand contexts to open. */
static CclStatus open_memory(CclContext *context, CudaSlot *slot, CclFrame *ccl_frame)
{
    const uint32_t width = context->config.max_width, height = context->config.max_height;
    const size_t mask_size = align(mask_pitch(width) * height);
    const size_t up_size = packs_masks(context) ? align(row_words(width) * sizeof(uint64_t) * height) : mask_size;
    const size_t result_size = align(sizeof(CudaResult));
    const uint32_t n_bands = max(min(blocks_for(height, MIN_BAND_ROWS), MAX_READY_BANDS), MAX_ROW_CHUNKS);
    const uint32_t n_lines = 1 + (packs_masks(context) ? READY_FLAGS(n_bands) : 0);
    const size_t ready_size = align(n_lines * READY_FLAG_STRIDE * sizeof(uint32_t));
    uint8_t *host, *device;

    CCL_TRY(cuda_pinned_alloc(context, (void **)&host,
                              up_size + result_size + ready_size + context->capacity * sizeof(CclComponent)));
    slot->h_mask = host;
    slot->h_result = (CudaResult *)(host + up_size);
    *slot->h_result = CudaResult{};
    slot->h_timed_out = (volatile uint32_t *)(host + up_size + result_size);
    slot->h_ready_flags = (uint32_t *)slot->h_timed_out + READY_FLAG_STRIDE;
    memset((void *)slot->h_timed_out, 0, ready_size);
    CCL_CUDA_TRY(cudaHostGetDevicePointer((void **)&slot->mapped_mask, slot->h_mask, 0));
    slot->frame.chunks = &slot->bits.chunks;
    CCL_CUDA_TRY(cudaHostGetDevicePointer((void **)&slot->bits.chunks.timed_out, (void *)slot->h_timed_out, 0));
    slot->bits.chunks.ready_flags = slot->bits.chunks.timed_out + READY_FLAG_STRIDE;
    ccl_frame->rows = (CclComponent *)(host + up_size + result_size + ready_size);
    CCL_CUDA_TRY(cudaHostGetDevicePointer((void **)&slot->frame.result, slot->h_result, 0));
    CCL_CUDA_TRY(cudaHostGetDevicePointer((void **)&slot->frame.rows, ccl_frame->rows, 0));

    CCL_TRY(cuda_device_alloc(context, (void **)&device, mask_size + sizeof(CudaVars), false));
    slot->d_mask = device;
    slot->frame.kept = (CudaVars *)(device + mask_size);
    return CCL_OK;
}

static CclStatus open_slot(CclContext *context, CudaSlot *slot, CclFrame *ccl_frame)
{
    CudaFrame *const frame = &slot->frame;

    slot->context = context;
    frame->stream = impl(context)->engine ? NULL : impl(context)->lanes[slot->lane].stream; /* NULL: by each launch */
    frame->timing = context->config.timing;
    frame->overlap = impl(context)->overlap && !frame->timing;
    slot->ccl_frame = ccl_frame;
    frame->loop = context->algorithm->iterative ? &impl(context)->loop : NULL;
    ccl_frame->slot = frame;
    CCL_TRY(open_memory(context, slot, ccl_frame));

    if (frame->timing) {
        CCL_CUDA_TRY(cudaEventCreate(&slot->upload_start));
        CCL_CUDA_TRY(cudaEventCreate(&slot->upload_end));
        for (cudaEvent_t &event : frame->step_events)
            CCL_CUDA_TRY(cudaEventCreate(&event));
    }
    return CCL_OK;
}

/* Label images of our own: one per slot where they may have to be copied out, one per lane where label() needs a place to
 * write, none where analyze() needs none. */
static CclStatus open_labels(CclContext *context, size_t n_pixels)
{
    CudaContext *const cuda = impl(context);
    if (!context->config.labels && context->algorithm->analyze)
        return CCL_OK;
    for (unsigned i = 0; i < context->config.depth; i++) {
        if (i >= cuda->n_lanes && !context->config.labels)
            cuda->slots[i].d_labels = cuda->slots[cuda->slots[i].lane].d_labels;
        else
            CCL_TRY(cuda_device_alloc(context, (void **)&cuda->slots[i].d_labels, n_pixels * sizeof(uint32_t), false));
    }
    return CCL_OK;
}

/* Frames in flight each have a lane: one of them leaves most of the device free, or waits for the bus. Not where they
 * wait for the host in between, nor where they are timed. Benchmarks may want fewer. */
static unsigned lanes_wanted(const CclContext *context)
{
    if (context->algorithm->iterative || context->config.timing || context->config.volume)
        return 1;
    return limit_of(context->config.depth, ccl_test_switches()->max_stream_slots);
}

/* Streams of the context's own, or an engine's. */
static CclStatus open_streams(CclContext *context)
{
    CudaContext *const cuda = impl(context);
    if (context->config.shared && context->algorithm->batches && !context->config.timing) {
        CCL_TRY(cuda_engine_join(context));
        for (unsigned i = 0; i < context->config.depth; i++)
            ccl_ticket_init(&cuda->slots[i].ticket, &cuda->slots[i]);
        return CCL_OK;
    }
    if (packs_masks(context) && context->config.threads > 1)
        cuda->packers = ccl_pool_new(context->config.threads);
    cuda->n_lanes = lanes_wanted(context);
    for (unsigned i = 0; i < context->config.depth; i++)
        cuda->slots[i].lane = i % cuda->n_lanes;
    for (unsigned i = 0; i < cuda->n_lanes; i++)
        CCL_CUDA_TRY(cudaStreamCreateWithFlags(&cuda->lanes[i].stream, cudaStreamNonBlocking));
    CCL_CUDA_TRY(cudaStreamCreateWithFlags(&cuda->upload, cudaStreamNonBlocking));
    CCL_CUDA_TRY(cudaStreamCreateWithFlags(&cuda->download, cudaStreamNonBlocking));
    return CCL_OK;
}

static CclStatus open_lanes(CclContext *context, size_t n_pixels)
{
    const CclAlgorithm *const algorithm = context->algorithm;
    CudaContext *const cuda = impl(context);
    if (cuda->engine)
        return CCL_OK;
    if (algorithm->batches)
        cuda->capacity = algorithm->batches->capacity(context);
    const size_t size = algorithm->batches          ? algorithm->batches->workspace_size(&cuda->capacity)
                        : algorithm->workspace_size ? algorithm->workspace_size(context)
                                                    : 0;
    for (unsigned i = 0; i < cuda->n_lanes; i++) {
        CudaLane *const lane = &cuda->lanes[i];
        if (!algorithm->analyze && !context->config.volume)
            CCL_TRY(open_stages(context, &lane->stages, n_pixels));
        if (size)
            CCL_TRY(cuda_device_alloc(context, &lane->workspace, size, true));
    }
    CCL_CUDA_TRY(cudaStreamSynchronize(cuda->lanes[0].stream)); /* all was cleared there */
    return CCL_OK;
}

static CclStatus cuda_open(CclContext *context)
{
    const size_t n_pixels = (size_t)context->config.max_width * context->config.max_height;
    int device = 0, multiprocessors = 0;
    cudaFuncAttributes attributes;

    CCL_TRY(cuda_check_device(context->config.device));
    CCL_TRY(cuda_use_device(context->config.device));
    CudaContext *const cuda = (CudaContext *)calloc(1, sizeof *cuda);
    if (!cuda)
        return ccl_fail(CCL_ERROR_OUT_OF_MEMORY, "out of memory");
    context->impl = cuda;

    cuda->no_graphs = ccl_test_switches()->no_graphs;
    CCL_CUDA_TRY(cudaGetDevice(&device));
    CCL_CUDA_TRY(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device));
    cuda->multiprocessors = (unsigned)multiprocessors;
    cuda->pack_rows = ccl_pack_rows(context->config.cpu_flags);
    cuda->share = CCL_SHARE_FIRST;
    cuda->density = CUDA_MANY; /* until something is known: very many runs take a cluster of blocks very long */
    cuda->density_left = 1;
    CCL_CUDA_TRY(cudaFuncGetAttributes(&attributes, nothing)); /* is there code for this device at all? */
    cuda->overlap = attributes.ptxVersion >= 90;
    CCL_TRY(open_streams(context));
    CCL_TRY(open_loop(context));
    for (unsigned i = 0; i < context->config.depth; i++)
        CCL_TRY(open_slot(context, &cuda->slots[i], &context->frames[i]));
    CCL_CUDA_TRY(cudaStreamSynchronize(cuda->upload)); /* what slots have cleared */
    CCL_TRY(open_labels(context, n_pixels));
    if (context->config.volume)
        CCL_TRY(cuda_volume_open(context));
    return open_lanes(context, n_pixels);
}

void cuda_drop_replay(CudaReplay *replay)
{
    if (replay->exec)
        cudaGraphExecDestroy(replay->exec);
    if (replay->graph)
        cudaGraphDestroy(replay->graph);
    *replay = CudaReplay{};
}

static void close_slot(CudaSlot *slot)
{
    cudaEvent_t events[] = { slot->uploaded, slot->produced, slot->computed, slot->done, slot->upload_start,
                             slot->upload_end };
    for (cudaEvent_t event : events)
        if (event)
            cudaEventDestroy(event);
    for (cudaEvent_t event : slot->frame.step_events)
        if (event)
            cudaEventDestroy(event);
    for (CudaReplay &replay : slot->replays)
        cuda_drop_replay(&replay);
    if (slot->ticket.frame)
        ccl_ticket_clear(&slot->ticket);
}

/* Frames that nobody will collect. */
static void drop_tickets(CudaContext *cuda)
{
    for (CudaSlot &slot : cuda->slots)
        if (slot.ticket.state != CCL_TICKET_FREE)
            (void)ccl_scheduler_collect(cuda->engine->queue, &slot.ticket);
}

/* Once a frame has failed its memory is the caller's again: nothing that was begun may still use it. */
static CclStatus settle(const CudaContext *cuda, CclStatus status)
{
    if (status == CCL_OK)
        return CCL_OK;
    cudaStreamSynchronize(cuda->upload);
    cudaStreamSynchronize(cuda->download);
    for (const CudaLane &lane : cuda->lanes) /* an engine has settled those of its own */
        if (lane.stream)
            cudaStreamSynchronize(lane.stream);
    (void)cudaGetLastError();
    return status;
}

/* Also after a failed open(), with whatever is there by then; and after a lost device, where every call fails. */
static void cuda_close(CclContext *context)
{
    CudaContext *const cuda = impl(context);
    if (!cuda)
        return;
    if (context->config.device >= 0)
        cudaSetDevice(context->config.device);
    cudaStream_t streams[3 + CCL_MAX_DEPTH] = { cuda->upload, cuda->download, cuda->watch }; /* of its own */
    for (unsigned i = 0; i < CCL_MAX_DEPTH; i++)
        streams[3 + i] = cuda->lanes[i].stream;
    if (cuda->engine) {
        drop_tickets(cuda);
        for (const CudaSlot &slot : cuda->slots) /* a frame may have been complete before its launch has ended */
            if (slot.frame.stream)
                cudaStreamSynchronize(slot.frame.stream);
    }
    for (cudaStream_t stream : streams)
        if (stream && !cuda->engine)
            cudaStreamSynchronize(stream);
    for (CudaSlot &slot : cuda->slots)
        close_slot(&slot);
    if (cuda->loop.started)
        cudaEventDestroy(cuda->loop.started);
    if (cuda->alarm)
        cudaEventDestroy(cuda->alarm);
    for (unsigned i = 0; i < cuda->n_device; i++)
        cudaFree(cuda->device[i]);
    for (unsigned i = 0; i < cuda->n_pinned; i++)
        cudaFreeHost(cuda->pinned[i]);
    for (cudaStream_t stream : streams)
        if (stream && !cuda->engine)
            cudaStreamDestroy(stream);
    cuda_engine_leave(context);
    (void)cudaGetLastError();
    ccl_pool_free(cuda->packers);
    free(cuda);
}

/* ---------------------------------------------------------------- what a frame's launches depend on */

static CudaLabelMode label_mode(const CclLabels *labels)
{
    if (!labels->data)
        return CUDA_LABELS_NONE;
    return labels->provisional ? CUDA_LABELS_PROVISIONAL : CUDA_LABELS_FINAL;
}

static CudaShape shape_of(const CclContext *context, const CclFrame *frame, const CudaVars *vars, CudaMaskForm form)
{
    return CudaShape{ frame->mask.width, frame->mask.height, (uint32_t)label_mode(&frame->labels), vars->wide != NULL,
                      vars->keep_all, (uint32_t)form, (uint32_t)impl(context)->density };
}

/* For frames alone CUDA_MANY is nothing else than CUDA_SPARSE. */
static bool same_shape(const CudaShape *a, CudaShape b)
{
    if ((a->density == CUDA_DENSE) == (b.density == CUDA_DENSE))
        b.density = a->density;
    return !memcmp(a, &b, sizeof b);
}

/* Graphs of another one have kernels that work in memory which is gone. */
static unsigned generation_of(const CudaContext *cuda)
{
    return cuda->engine ? __atomic_load_n(&cuda->engine->generation, __ATOMIC_RELAXED) : 0; /* contexts come meanwhile */
}

/* Masks come as bits or as pixels, in turns where that depends on what the device does: a graph for each. Has the slot the
 * graph for a shape? */
static bool has_graph(const CudaSlot *slot, CudaShape shape)
{
    const CudaReplay *const replay = &slot->replays[shape.form];
    return replay->exec && same_shape(&shape, replay->shape) && replay->generation == generation_of(impl(slot->context));
}

/* ---------------------------------------------------------------- the mask */

cudaError_t cuda_copy_rows(void *to, size_t to_stride, const void *from, size_t from_stride, size_t row_size, uint32_t n_rows,
                           cudaMemcpyKind kind, cudaStream_t stream)
{
    if (to_stride <= INT_MAX && from_stride <= INT_MAX)
        return cudaMemcpy2DAsync(to, to_stride, from, from_stride, row_size, n_rows, kind, stream);
    cudaError_t error = cudaSuccess;
    for (uint32_t y = 0; y < n_rows && error == cudaSuccess; y++)
        error = cudaMemcpyAsync((uint8_t *)to + y * to_stride, (const uint8_t *)from + y * from_stride, row_size, kind, stream);
    return error;
}

/* Makes the event when it is first needed: there may be a thousand contexts, most of which need few. */
static CclStatus record(cudaEvent_t *event, cudaStream_t stream)
{
    if (!*event)
        CCL_CUDA_TRY(cudaEventCreateWithFlags(event, cudaEventDisableTiming));
    CCL_CUDA_TRY(cudaEventRecord(*event, stream));
    return CCL_OK;
}

/* Rows of a mask in ordinary memory into the slot's pinned memory, 16-bit pixels narrowed on the way. */
static void stage_rows(const CclMask *mask, uint8_t *to, size_t pitch, uint32_t y0, uint32_t y1)
{
    const uint8_t *const from = (const uint8_t *)mask->data;
    for (uint32_t y = y0; y < y1; y++) {
        const uint8_t *const row = from + y * mask->stride;
        uint8_t *const out = to + y * pitch;
        if (mask->pixel_size == 1) {
            memcpy(out, row, mask->width);
            continue;
        }
        for (uint32_t x = 0; x < mask->width; x++) {
            uint16_t value;
            memcpy(&value, row + 2 * x, 2);
            out[x] = (value > mask->threshold) != mask->invert ? 255 : 0;
        }
    }
}

/* Ordinary memory: staged a piece at a time, so that the copy to the device runs beside the next piece's. */
static CclStatus upload_staged(CudaContext *cuda, CudaSlot *slot, const CclMask *mask, size_t pitch)
{
    const uint32_t step = max(1u, (uint32_t)((512u << 10) / pitch));
    for (uint32_t y = 0; y < mask->height; y += step) {
        const uint32_t end = min(y + step, mask->height);
        stage_rows(mask, slot->h_mask, pitch, y, end);
        const size_t size = (end - y - 1) * pitch + mask->width;
        CCL_CUDA_TRY(cudaMemcpyAsync(slot->d_mask + y * pitch, slot->h_mask + y * pitch, size, cudaMemcpyHostToDevice,
                                     cuda->upload));
    }
    return CCL_OK;
}

static CclStatus upload_pinned(CudaContext *cuda, CudaSlot *slot, const CclMask *mask, size_t pitch)
{
    if (mask->stride == pitch)
        CCL_CUDA_TRY(cudaMemcpyAsync(slot->d_mask, mask->data, (mask->height - 1) * pitch + mask->width,
                                     cudaMemcpyHostToDevice, cuda->upload));
    else
        CCL_CUDA_TRY(cuda_copy_rows(slot->d_mask, pitch, mask->data, mask->stride, mask->width, mask->height,
                                    cudaMemcpyHostToDevice, cuda->upload));
    return CCL_OK;
}

/* Bits up to this many bytes are read where they lie, over the bus: quicker than a copy and its start. */
#define MAX_BITS_IN_PLACE (512u << 10)
/* Pixels as well, though the rows above tiles come twice then. */
#define MAX_BYTES_IN_PLACE (4u << 20)
/* From so many on they are packed in place instead, some by the caller, where shares_packing() says that may be: for fewer
 * another kernel is not worth it. */
#define MIN_BYTES_SHARED (3u << 19)

/* Kernels look over the bus for what is packed after the launch at least so often, every microsecond or so; more often for more of
 * it. */
#define MIN_POLLS 2000u
/* After so many frames that were not late the next late one counts for less. */
#define FRAMES_IN_TIME 1024u

/* All of piece i is packed. Stores that release do, without an exchange or a full fence between them: these would wait until the
 * device can see all that was stored before. */
static void tell_ready(const CudaSlot *slot, uint32_t i)
{
    const RowChunks *const chunks = &slot->bits.chunks;
    const uint32_t n_each = chunks->rows / chunks->band_rows;
    for (uint32_t k = 0; k <= n_each; k++)
        __atomic_store_n(&slot->h_ready_flags[ready_flag(n_each, i, k) * READY_FLAG_STRIDE], chunks->number, __ATOMIC_RELEASE);
}

static void pack_chunk(void *data, unsigned i)
{
    const CudaSlot *const slot = (const CudaSlot *)data;
    const CclMask *const mask = &slot->ccl_frame->mask;
    const RowChunks *const chunks = &slot->bits.chunks;
    const uint32_t y0 = slot->bits.n_rows + i * chunks->rows, y1 = min(y0 + chunks->rows, mask->height);
    impl(slot->context)->pack_rows(mask, y0, y1, (uint64_t *)slot->h_mask, slot->bits.row_words);
    tell_ready(slot, i);
}

/* Frames in quick succession: threads that help to pack are not worth putting to sleep in between. */
static bool follows_soon(CudaContext *cuda)
{
    const auto now = std::chrono::steady_clock::now();
    const bool soon = now - cuda->packed < std::chrono::microseconds(150);
    cuda->packed = now;
    return soon;
}

/* The host is to pack the rows from `first` on, to where they belong in the slot's pinned memory. band_rows: RowChunks; 0: as
 * many as a piece has. */
static void plan_packing(CudaSlot *slot, const CclMask *mask, uint32_t first, uint32_t band_rows)
{
    BitsJob *const bits = &slot->bits;
    RowChunks *const chunks = &bits->chunks;
    bits->bits = (uint64_t *)slot->d_mask;
    bits->width = mask->width;
    bits->row_words = row_words(mask->width);
    bits->n_rows = first;
    chunks->rows = chunk_rows(mask->height);
    chunks->n = blocks_for(mask->height - first, chunks->rows);
    chunks->band_rows = band_rows ? band_rows : chunks->rows;
    bits->chunk_words = chunks->rows * bits->row_words;
    bits->n_words = (mask->height - first) * bits->row_words;
    chunks->max_polls = MIN_POLLS + bits->n_words / 16;
    chunks->words = slot->mapped_mask + (size_t)first * bits->row_words;
    if (!++chunks->number)
        chunks->number = 1;
}

/* Helpers begin at once, the caller when it comes to end_packing(). */
static void begin_packing(CudaContext *cuda, CudaSlot *slot)
{
    slot->pack_begin = std::chrono::steady_clock::now();
    slot->helpers = cuda->engine ? cuda_engine_lend_packers(cuda->engine) : cuda->packers;
    const bool more = follows_soon(cuda);
    ccl_pool_begin(slot->helpers, pack_chunk, slot, slot->bits.chunks.n, more);
}

static void end_packing(CudaContext *cuda, CudaSlot *slot)
{
    const CclMask *const mask = &slot->ccl_frame->mask;
    ccl_pool_end(slot->helpers, pack_chunk, slot, slot->bits.chunks.n);
    if (cuda->engine && slot->helpers)
        cuda_engine_return_packers(cuda->engine);
    const std::chrono::duration<float, std::micro> took = std::chrono::steady_clock::now() - slot->pack_begin;
    slot->ccl_frame->table.pack_us = took.count();
    if (slot->bits.n_rows && slot->bits.chunks.n)
        cuda->share = ccl_share_next(1 - (float)slot->bits.n_rows / (float)mask->height, took.count(),
                                     (float)mask->width * (float)mask->height / cuda->bus);
}

static void pack(CudaContext *cuda, CudaSlot *slot)
{
    begin_packing(cuda, slot);
    end_packing(cuda, slot);
}

/* Then what is in host memory may be read over the bus by the kernels, which saves the copy and its start. When there are
 * other frames it is copied meanwhile. */
static bool device_is_idle(const CclContext *context)
{
    const CudaContext *const cuda = impl(context);
    return !context->n_waiting && (!cuda->engine || ccl_scheduler_idle(cuda->engine->queue));
}

/* May a frame's kernels wait for the host to pack its mask? Not where others would wait behind them, and not for a while after
 * they waited in vain: the host is busy, or launches block, as under a debugger. */
static bool may_wait_for_host(CudaContext *cuda, const CclContext *context)
{
    if (cuda->wary) {
        cuda->wary--;
        return false;
    }
    return device_is_idle(context) && !context->config.timing && (!cuda->engine || cuda_engine_is_own(cuda->engine)) &&
           !cuda->no_graphs;
}

/* Then it is launched before its mask is packed, so that launching takes no time of its own; but only if its kernels are known
 * to the device by now: the driver may wait for that to be idle before it loads one. */
static bool packs_meanwhile(const CclContext *context, const CudaSlot *slot, const CudaVars *vars, CudaMaskForm form)
{
    return has_graph(slot, shape_of(context, slot->ccl_frame, vars, form));
}

/* A mask from ordinary memory is packed into the slot's pinned memory, an eighth of it, and read there or brought up. */
static CclStatus place_bits(const CclContext *context, CudaSlot *slot, const CclMask *mask, CudaMaskForm *form,
                            CudaVars *vars)
{
    CudaContext *const cuda = impl(context);
    vars->mask_stride = row_words(mask->width) * sizeof(uint64_t);
    vars->threshold = 0;
    const size_t size = vars->mask_stride * mask->height;
    const uint32_t awaited_rows = context->algorithm->awaited_rows(context, mask->width, mask->height);
    *form = !may_wait_for_host(cuda, context) ? CUDA_BITS : awaited_rows ? CUDA_BITS_AWAITED : CUDA_BITS_ASSEMBLED;
    slot->packs_meanwhile = *form != CUDA_BITS && packs_meanwhile(context, slot, vars, *form);
    plan_packing(slot, mask, 0, *form == CUDA_BITS_AWAITED ? awaited_rows : 0);
    if (!slot->packs_meanwhile)
        pack(cuda, slot);
    if (*form == CUDA_BITS_ASSEMBLED)
        return CCL_OK;
    if (*form == CUDA_BITS_AWAITED || size <= MAX_BITS_IN_PLACE) {
        vars->mask = (const uint8_t *)slot->mapped_mask;
        return CCL_OK;
    }
    slot->uploads = true;
    if (slot->frame.timing)
        CCL_CUDA_TRY(cudaEventRecord(slot->upload_start, cuda->upload));
    CCL_CUDA_TRY(cudaMemcpyAsync(slot->d_mask, slot->h_mask, size, cudaMemcpyHostToDevice, cuda->upload));
    if (slot->frame.timing)
        CCL_CUDA_TRY(cudaEventRecord(slot->upload_end, cuda->upload));
    CCL_TRY(record(&slot->uploaded, cuda->upload));
    return CCL_OK;
}

static CclStatus upload(CudaContext *cuda, CudaSlot *slot, const CclMask *mask, size_t pitch)
{
    slot->uploads = true;
    if (slot->frame.timing)
        CCL_CUDA_TRY(cudaEventRecord(slot->upload_start, cuda->upload));
    if (mask->memory == CCL_MEMORY_PINNED && mask->pixel_size == 1)
        CCL_TRY(upload_pinned(cuda, slot, mask, pitch));
    else
        CCL_TRY(upload_staged(cuda, slot, mask, pitch));
    if (slot->frame.timing)
        CCL_CUDA_TRY(cudaEventRecord(slot->upload_end, cuda->upload));
    CCL_TRY(record(&slot->uploaded, cuda->upload));
    return CCL_OK;
}

static CclStatus mark_producer(CudaSlot *slot, const CclMask *mask)
{
    slot->is_produced = mask->producer_stream != NULL;
    if (slot->is_produced)
        CCL_TRY(record(&slot->produced, (cudaStream_t)mask->producer_stream));
    return CCL_OK;
}

CclStatus cuda_await_mask(const CudaSlot *slot, cudaStream_t stream)
{
    if (slot->is_produced)
        CCL_CUDA_TRY(cudaStreamWaitEvent(stream, slot->produced, 0));
    if (slot->uploads)
        CCL_CUDA_TRY(cudaStreamWaitEvent(stream, slot->uploaded, 0));
    return CCL_OK;
}

CclStatus cuda_bring_bits(const CudaSlot *slot, cudaStream_t stream)
{
    return slot->frame.shape.form == CUDA_BITS_ASSEMBLED ? mask_to_bits(&slot->bits, stream) : CCL_OK;
}

CclStatus cuda_bring_bits_for_batch(CudaSlot *slot, cudaStream_t stream)
{
    if (slot->frame.shape.form == CUDA_BITS_AWAITED) {
        slot->frame.shape.form = CUDA_BITS_ASSEMBLED;
        slot->frame.vars.mask = slot->d_mask;
    }
    return cuda_bring_bits(slot, stream);
}

/* Where kernels can reach the mask as it is: in device memory, or in pinned memory over the bus. NULL: nowhere. */
static const uint8_t *on_device(const CclMask *mask)
{
    cudaPointerAttributes about;
    if (mask->memory == CCL_MEMORY_DEVICE)
        return (const uint8_t *)mask->data;
    if (mask->memory != CCL_MEMORY_PINNED)
        return NULL;
    if (cudaPointerGetAttributes(&about, mask->data) != cudaSuccess) {
        (void)cudaGetLastError();
        return NULL;
    }
    /* Asked like this, memory that is not page-locked is no error. */
    return about.type == cudaMemoryTypeHost ? (const uint8_t *)about.devicePointer : NULL;
}

/* May a pinned mask be read where it lies, over the bus, by solve or to pack it? */
static bool reads_in_place(const CclContext *context, const CclMask *mask)
{
    return mask->memory == CCL_MEMORY_PINNED && mask->pixel_size == 1 && context->algorithm->takes_bits &&
           device_is_idle(context);
}

/* May the caller's thread read a pinned mask as quickly as ordinary memory? Not what is write-combined. */
static bool reads_quickly(const CclMask *mask)
{
    unsigned flags = 0;
    if (cudaHostGetFlags(&flags, (void *)mask->data) == cudaSuccess)
        return !(flags & cudaHostAllocWriteCombined);
    (void)cudaGetLastError();
    return false;
}

/* Is a pinned mask packed to bits by the device and, its last rows, by the caller's thread, which would only wait? Not
 * where contexts share streams: those of others would wait for what this one does on them. */
static bool shares_packing(const CclContext *context, const CclMask *mask, const uint8_t *there)
{
    const CudaContext *const cuda = impl(context);
    const size_t least = ccl_test_switches()->packs_any_size ? 0 : MIN_BYTES_SHARED;
    return (size_t)mask->width * mask->height >= least && there && reads_in_place(context, mask) &&
           !mask->producer_stream && !context->config.timing && reads_quickly(mask) &&
           (!cuda->engine || cuda_engine_is_own(cuda->engine));
}

/* What the device reads of a mask over the bus in 1 us, in bytes: by packing some of this one, the quickest of three times,
 * each behind another so that nothing of a launch counts. That takes the time of a few frames, so it is done for the first
 * mask and with pauses ever twice as long, and the quickest counts: a bus may have slept, or had other work. */
static CclStatus measure_bus(CudaContext *cuda, CudaSlot *slot, const CclMask *mask)
{
    BitsJob some = slot->bits;
    const uint32_t n_rows = min(mask->height, max(1u, MIN_BYTES_SHARED / mask->width));
    float min_ms = 1e3f;
    some.n_rows = n_rows;
    some.chunks.n = 0;
    for (cudaEvent_t *event : { &slot->upload_start, &slot->upload_end })
        if (!*event)
            CCL_CUDA_TRY(cudaEventCreate(event));
    for (unsigned i = 0; i < 3; i++) {
        float ms;
        for (cudaEvent_t event : { slot->upload_start, slot->upload_end }) {
            CCL_TRY(mask_to_bits(&some, cuda->upload));
            CCL_CUDA_TRY(cudaEventRecord(event, cuda->upload));
        }
        CCL_CUDA_TRY(cudaEventSynchronize(slot->upload_end));
        CCL_CUDA_TRY(cudaEventElapsedTime(&ms, slot->upload_start, slot->upload_end));
        min_ms = min(min_ms, ms);
    }
    cuda->bus = max(cuda->bus, (float)mask->width * (float)n_rows / max(1e3f * min_ms, 1.0f));
    return CCL_OK;
}

/* The bits of the device's rows, and of the caller's, both in the slot's device memory. */
static CclStatus place_shared(const CclContext *context, CudaSlot *slot, const CclMask *mask, const uint8_t *there,
                              CudaVars *vars)
{
    CudaContext *const cuda = impl(context);
    slot->bits.mask = there;
    slot->bits.mask_stride = mask->stride;
    slot->bits.threshold = mask->threshold;
    slot->bits.invert = mask->invert;
    vars->mask_stride = row_words(mask->width) * sizeof(uint64_t);
    vars->threshold = 0;
    slot->packs_meanwhile = may_wait_for_host(cuda, context) && packs_meanwhile(context, slot, vars, CUDA_BITS_ASSEMBLED);
    /* Where it is packed before the launch that would take longer than by the device alone. */
    const float tested = ccl_test_switches()->host_share;
    const float share = tested > 0 ? tested : slot->packs_meanwhile ? cuda->share : 0;
    const uint32_t n_rows = (uint32_t)((float)mask->height * (1 - share));
    plan_packing(slot, mask, share > 0 ? n_rows / CHUNK_ROWS * CHUNK_ROWS : mask->height, 0);
    if (!(cuda->n_shared & (cuda->n_shared - 1)))
        CCL_TRY(measure_bus(cuda, slot, mask));
    cuda->n_shared++;
    if (!slot->packs_meanwhile && slot->bits.chunks.n)
        pack(cuda, slot);
    return CCL_OK;
}

/* Is the mask packed to bits by the caller alone? From ordinary memory; and one of 16 bits in what was said to be
 * page-locked, but cannot be reached: it is not copied as it is, either. */
static bool is_packed_by_caller(const CclContext *context, const CclMask *mask, const uint8_t *there)
{
    return packs_masks(context) && (mask->memory == CCL_MEMORY_HOST || (mask->pixel_size == 2 && !there));
}

/* Brings the mask to where kernels read it, and says where that is, and how. */
static CclStatus place_mask(const CclContext *context, CudaSlot *slot, const CclMask *mask, CudaMaskForm *form,
                            CudaVars *vars)
{
    CudaContext *const cuda = impl(context);
    const size_t pitch = mask_pitch(mask->width);
    const uint8_t *const there = on_device(mask);

    slot->uploads = slot->packs_meanwhile = false;
    slot->ccl_frame->table.pack_us = 0;
    CCL_TRY(mark_producer(slot, mask));
    vars->mask = slot->d_mask;
    vars->mask_stride = pitch;
    if (is_packed_by_caller(context, mask, there))
        return place_bits(context, slot, mask, form, vars);
    *form = CUDA_BITS_ASSEMBLED;
    if (shares_packing(context, mask, there))
        return place_shared(context, slot, mask, there, vars);
    *form = CUDA_PIXELS;
    if (mask->pixel_size == 2) { /* narrowed on the way: 0 or 255 */
        vars->threshold = 0;
        vars->invert = 0;
    } else {
        vars->threshold = mask->threshold;
        vars->invert = mask->invert;
    }
    if (there && mask->pixel_size == 2) {
        vars->wide = there;
        vars->wide_stride = mask->stride;
        vars->wide_threshold = mask->threshold;
        vars->wide_invert = mask->invert;
        return CCL_OK;
    }
    const bool small = (size_t)mask->width * mask->height <= MAX_BYTES_IN_PLACE;
    if (mask->memory == CCL_MEMORY_DEVICE || (there && small && reads_in_place(context, mask))) {
        vars->mask = there;
        vars->mask_stride = mask->stride;
        return CCL_OK;
    }
    return upload(cuda, slot, mask, pitch);
}

/* ---------------------------------------------------------------- labels */

static void place_labels(const CclContext *context, const CudaSlot *slot, const CclFrame *frame, CudaVars *vars)
{
    const bool on_device = frame->labels.data && frame->labels.memory == CCL_MEMORY_DEVICE;
    if (!frame->labels.data && context->algorithm->analyze)
        return;
    vars->labels = on_device ? frame->labels.data : slot->d_labels;
    vars->label_stride = on_device ? frame->labels.stride / sizeof(uint32_t) : frame->mask.width;
}

static bool downloads_behind(const CudaSlot *slot)
{
    return slot->ccl_frame->labels.data && slot->ccl_frame->labels.memory == CCL_MEMORY_PINNED;
}

/* Our label image to the caller's in host memory, on the download stream. */
static CclStatus download_labels(const CudaContext *cuda, const CudaSlot *slot, const CclFrame *frame)
{
    const size_t row = frame->mask.width * sizeof(uint32_t);
    CCL_CUDA_TRY(cuda_copy_rows(frame->labels.data, frame->labels.stride, slot->d_labels, row, row, frame->mask.height,
                                cudaMemcpyDeviceToHost, cuda->download));
    return CCL_OK;
}

/* ---------------------------------------------------------------- launches */

static CclStatus launch_frame(CclContext *context, CclFrame *ccl_frame, const StageBuffers *stages)
{
    const CclAlgorithm *const algorithm = context->algorithm;
    CudaFrame *const frame = cuda_frame(ccl_frame);
    const CudaShape *const shape = &frame->shape;

    if (algorithm->analyze)
        return algorithm->analyze(context, ccl_frame);
    CCL_TRY(algorithm->label(context, ccl_frame));
    if (shape->label_mode == CUDA_LABELS_PROVISIONAL)
        return CCL_OK;

    const uint32_t most = ccl_max_components(shape->width, shape->height, context->config.connectivity);
    CCL_TRY(number_from_labels(context, frame, stages));
    for (unsigned round = 0; round < stage_rounds(stages->n_sums, most); round++) {
        CCL_TRY(algorithm->features ? algorithm->features(context, ccl_frame, stages, round)
                                    : features_from_labels(context, frame, stages, round));
        CCL_TRY(table_from_features(context, frame, stages, round));
    }
    if (shape->label_mode == CUDA_LABELS_FINAL)
        CCL_TRY(relabel(context, frame, stages));
    return CCL_OK;
}

CclStatus cuda_end_capture(CudaReplay *replay, cudaStream_t stream, CclStatus status)
{
    const cudaError_t end = cudaStreamEndCapture(stream, &replay->graph);
    if (end != cudaSuccess)
        (void)cudaGetLastError(); /* nobody finds it when the launches are tried without a graph */
    CCL_TRY(status);
    CCL_CUDA_TRY_AS("cudaStreamEndCapture", end);
    for (unsigned i = 0; i < replay->n_nodes; i++)
        CCL_CUDA_TRY(cudaGraphKernelNodeGetParams(replay->nodes[i].node, &replay->nodes[i].params));
    if (replay->bits.node)
        CCL_CUDA_TRY(cudaGraphKernelNodeGetParams(replay->bits.node, &replay->bits.params));
    CCL_CUDA_TRY(cudaGraphInstantiate(&replay->exec, replay->graph, cudaGraphInstantiateFlagUseNodePriority));
    return CCL_OK;
}

static CclStatus capture_launches(CudaSlot *slot, CudaReplay *replay, const StageBuffers *stages)
{
    CCL_TRY(cuda_bring_bits(slot, slot->frame.stream));
    if (slot->frame.shape.form == CUDA_BITS_ASSEMBLED)
        CCL_TRY(find_last_node(slot->frame.stream, &replay->bits.node));
    return launch_frame(slot->context, slot->ccl_frame, stages);
}

/* Captures the frame's launches. */
static CclStatus capture_frame(CudaSlot *slot, const StageBuffers *stages)
{
    CudaReplay *const replay = &slot->replays[slot->frame.shape.form];
    const cudaStream_t stream = slot->frame.stream;

    cuda_drop_replay(replay);
    CCL_CUDA_TRY(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    slot->frame.capture = replay;
    const CclStatus status = capture_launches(slot, replay, stages);
    slot->frame.capture = NULL;
    CCL_TRY(cuda_end_capture(replay, stream, status));
    replay->shape = slot->frame.shape;
    replay->generation = generation_of(impl(slot->context));
    replay->vars = slot->frame.vars;
    return CCL_OK;
}

/* Sets a node's grid and the first of its kernel's arguments. */
static CclStatus set_node(cudaGraphExec_t exec, const CudaReplayNode *node, dim3 grid, void *first)
{
    void *arguments[CUDA_MAX_PARAMETERS] = { first };
    cudaKernelNodeParams params = node->params;
    for (unsigned i = 1; i < node->n_parameters; i++)
        arguments[i] = node->params.kernelParams[i];
    params.gridDim = grid;
    params.kernelParams = arguments;
    CCL_CUDA_TRY(cudaGraphExecKernelNodeSetParams(exec, node->node, &params));
    return CCL_OK;
}

static CclStatus set_nodes(CudaReplay *replay, void *first)
{
    for (unsigned i = 0; i < replay->n_nodes; i++)
        CCL_TRY(set_node(replay->exec, &replay->nodes[i], replay->nodes[i].params.gridDim, first));
    return CCL_OK;
}

/* Arguments are part of the launch: no copy, no kernel to make one, no load of a pointer before what it points to. */
static CclStatus replay_frame(CudaSlot *slot)
{
    CudaReplay *const replay = &slot->replays[slot->frame.shape.form];
    CudaVars *const vars = &slot->frame.vars;
    if (slot->frame.shape.form == CUDA_BITS_AWAITED) {
        CudaAwaited awaited = { *vars, slot->bits.chunks };
        CCL_TRY(set_nodes(replay, &awaited));
    } else if (memcmp(&replay->vars, vars, sizeof *vars)) {
        CCL_TRY(set_nodes(replay, vars));
        memcpy(&replay->vars, vars, sizeof *vars);
    }
    if (replay->bits.node)
        CCL_TRY(set_node(replay->exec, &replay->bits, mask_to_bits_grid(&slot->bits), &slot->bits));
    CCL_CUDA_TRY(cudaGraphLaunch(replay->exec, slot->frame.stream));
    return CCL_OK;
}

/* A shape's first frame is launched plainly, its second captured: a shape seen once is not worth a graph. Nor are many
 * streams, whose frames mostly go in batches: capturing holds up all of them, once for each. */
static bool wants_replay(CudaSlot *slot, const StageBuffers *stages)
{
    CudaContext *const cuda = impl(slot->context);
    CudaShape *const last = &slot->last_shapes[slot->frame.shape.form];
    const bool repeated = same_shape(&slot->frame.shape, *last);

    *last = slot->frame.shape;
    if (slot->frame.timing || cuda->no_graphs || !repeated || slot->context->algorithm->iterative ||
        (cuda->engine && cuda_engine_is_crowded(cuda->engine)))
        return false;
    if (!has_graph(slot, slot->frame.shape) && capture_frame(slot, stages) != CCL_OK)
        cuda->no_graphs = true;
    return !cuda->no_graphs;
}

/* ---------------------------------------------------------------- frames */

static bool drops_nothing(const CclLimits *limits)
{
    return limits->min_area <= 1 && limits->max_area >= CCL_MAX_SIZE * CCL_MAX_SIZE && limits->min_width <= 1 &&
           limits->max_width >= CCL_MAX_SIZE && limits->min_height <= 1 && limits->max_height >= CCL_MAX_SIZE &&
           limits->border != CCL_BORDER_DROP;
}

/* All that is done for a frame before it is launched. */
static CclStatus bring(CclContext *context, CclFrame *ccl_frame)
{
    CudaSlot *const slot = (CudaSlot *)ccl_frame->slot;
    CudaFrame *const frame = &slot->frame;
    CudaVars *const vars = &frame->vars;
    const CclMask *const mask = &ccl_frame->mask;

    memset(vars, 0, sizeof *vars); /* compared as bytes */
    vars->limits = ccl_frame->limits;
    vars->keep_all = drops_nothing(&vars->limits);
    CudaMaskForm form;
    CCL_TRY(place_mask(context, slot, mask, &form, vars));
    place_labels(context, slot, ccl_frame, vars);
    vars->sets_flag = context->algorithm->sets_completion_flag && !frame->timing && !downloads_behind(slot) && device_is_idle(context);
    frame->shape = shape_of(context, ccl_frame, vars, form);
    cuda_clear_steps(frame);
    return CCL_OK;
}

CclStatus cuda_launch_slot(CudaSlot *slot)
{
    CudaFrame *const frame = &slot->frame;
    CudaContext *const cuda = impl(slot->context);
    const CudaLane *const lane = cuda->engine ? cuda_engine_lane(cuda->engine, slot->lane) : &cuda->lanes[slot->lane];
    frame->stream = lane->stream;
    frame->workspace = lane->workspace;
    slot->h_result->complete = 0;
    CCL_TRY(cuda_await_mask(slot, frame->stream));
    const bool replayed = wants_replay(slot, &lane->stages);
    if (frame->timing)
        CCL_CUDA_TRY(cudaEventRecord(frame->step_events[0], frame->stream));
    if (frame->shape.narrow)
        CCL_TRY(mask_from_wide(frame, frame));
    if (replayed)
        return replay_frame(slot);
    CCL_TRY(cuda_bring_bits(slot, frame->stream));
    return launch_frame(slot->context, slot->ccl_frame, &lane->stages);
}

CclStatus cuda_finish_slots(CudaSlot *const *slots, unsigned n, cudaStream_t stream, cudaEvent_t *computed,
                            cudaEvent_t *done)
{
    const CudaContext *const cuda = impl(slots[0]->context);
    cudaStream_t last = stream;
    for (unsigned i = 0; i < n; i++) {
        if (!downloads_behind(slots[i]))
            continue;
        if (last == stream) {
            CCL_TRY(record(computed, stream));
            CCL_CUDA_TRY(cudaStreamWaitEvent(cuda->download, *computed, 0));
            last = cuda->download;
        }
        CCL_TRY(download_labels(cuda, slots[i], slots[i]->ccl_frame));
    }
    return record(done, last);
}

static CclStatus launch(const CudaContext *cuda, CudaSlot *slot)
{
    if (cuda->engine)
        return ccl_scheduler_submit(cuda->engine->queue, &slot->ticket);
    CCL_TRY(cuda_launch_slot(slot));
    return cuda_finish_slots(&slot, 1, slot->frame.stream, &slot->computed, &slot->done);
}

static CclStatus bring_and_launch(CclContext *context, CclFrame *ccl_frame)
{
    CudaContext *const cuda = impl(context);
    CudaSlot *const slot = (CudaSlot *)ccl_frame->slot;

    CCL_TRY(bring(context, ccl_frame));
    if (!slot->packs_meanwhile)
        return launch(cuda, slot);
    begin_packing(cuda, slot);
    const CclStatus status = launch(cuda, slot);
    end_packing(cuda, slot); /* whatever became of the launch: helpers are at it */
    return status;
}

static CclStatus cuda_submit(CclContext *context, CclFrame *ccl_frame)
{
    CCL_TRY(cuda_use_device(context->config.device));
    return settle(impl(context), bring_and_launch(context, ccl_frame));
}

cudaError_t cuda_look_at(cudaEvent_t event)
{
    const cudaError_t error = cudaEventQuery(event);
    if (error == cudaErrorNotReady)
        (void)cudaGetLastError();
    return error;
}

/* Some hundred nanoseconds for 8. */
static void pause_briefly(unsigned n)
{
    for (unsigned i = 0; i < n; i++) {
#if defined(__x86_64__)
        asm volatile("pause");
#elif defined(__aarch64__)
        asm volatile("yield");
#endif
    }
}

const uint32_t *cuda_early_word(const CudaSlot *slot)
{
    return slot->frame.vars.sets_flag ? &slot->h_result->complete : NULL;
}

bool cuda_is_complete(const uint32_t *const *early, unsigned n)
{
    bool all = n;
    for (unsigned i = n; all && i--;) /* the last are mostly the last */
        all = __atomic_load_n(early[i], __ATOMIC_ACQUIRE);
    return all;
}

#define LOOKS_AT_WORD 16u

/* Looks at an event, each time after some looks at words if there are any. */
static cudaError_t look_at_both(cudaEvent_t event, const uint32_t *const *early, unsigned n_early)
{
    for (unsigned i = 0; n_early && i < LOOKS_AT_WORD; i++) {
        if (cuda_is_complete(early, n_early))
            return cudaSuccess;
        pause_briefly(1);
    }
    return cuda_look_at(event);
}

/* Frames mostly take less time than looking away: an event that is slept on is seen 25 us late at best, and where the
 * machine is virtual and idle some hundreds. One that could be slept on is seen late even by who looks at it, if that is
 * on the CPU which takes the device's interrupts. */
cudaError_t cuda_wait_for(cudaEvent_t event, const uint32_t *const *early, unsigned n_early, cudaStream_t *watch,
                          cudaEvent_t *alarm)
{
    const auto start = std::chrono::steady_clock::now();
    do {
        const cudaError_t error = look_at_both(event, early, n_early);
        if (error != cudaErrorNotReady)
            return error;
        pause_briefly(8); /* each look at an event takes the driver's lock, which those who launch need */
    } while (std::chrono::steady_clock::now() - start < std::chrono::microseconds(200));
    if ((!*watch && cudaStreamCreateWithFlags(watch, cudaStreamNonBlocking) != cudaSuccess) ||
        (!*alarm && cudaEventCreateWithFlags(alarm, cudaEventDisableTiming | cudaEventBlockingSync) != cudaSuccess)) {
        (void)cudaGetLastError();
        return cudaEventSynchronize(event); /* no memory left: looks on */
    }
    cudaError_t error = cudaStreamWaitEvent(*watch, event, 0);
    if (error == cudaSuccess)
        error = cudaEventRecord(*alarm, *watch);
    return error == cudaSuccess ? cudaEventSynchronize(*alarm) : error;
}

CclStatus cuda_read_steps(CclContext *context, const CudaFrame *frame, float *kernel_us)
{
    float ms = 0;

    context->n_steps = frame->n_steps;
    for (unsigned i = 0; i < frame->n_steps; i++) {
        context->steps[i] = CclStep{ frame->step_names[i], frame->step_us[i], frame->step_counts[i] };
        if (frame->step_counts[i])
            continue;
        CCL_CUDA_TRY(cudaEventElapsedTime(&ms, frame->step_events[i], frame->step_events[i + 1]));
        context->steps[i] = CclStep{ frame->step_names[i], ms * 1000, 1 };
    }
    ms = 0;
    if (frame->n_steps)
        CCL_CUDA_TRY(cudaEventElapsedTime(&ms, frame->step_events[0], frame->step_events[frame->n_steps]));
    *kernel_us = ms * 1000;
    return CCL_OK;
}

static CclStatus read_times(CclContext *context, const CudaSlot *slot, CclTable *table)
{
    float ms = 0;

    if (slot->uploads)
        CCL_CUDA_TRY(cudaEventElapsedTime(&ms, slot->upload_start, slot->upload_end));
    table->upload_us = ms * 1000;
    return cuda_read_steps(context, &slot->frame, &table->kernel_us);
}

/* So many frames after a dense mask are launched as if theirs were as dense. */
#define DENSE_FRAMES 32u

static void note_density(CudaContext *cuda, CudaDensity density)
{
    if (density < cuda->density && --cuda->density_left)
        return;
    cuda->density = density;
    cuda->density_left = density ? DENSE_FRAMES : 0;
}

static CclStatus await(CudaContext *cuda, CudaSlot *slot)
{
    if (cuda->engine)
        return ccl_scheduler_collect(cuda->engine->queue, &slot->ticket);
    const uint32_t *const early = cuda_early_word(slot);
    CCL_CUDA_TRY(cuda_wait_for(slot->done, &early, early != NULL, &cuda->watch, &cuda->alarm));
    return CCL_OK;
}

/* Did the frame's kernels go on without what the host packed? Takes note for those to come. */
static bool is_late(CudaContext *cuda, const CudaSlot *slot)
{
    if (*slot->h_timed_out != slot->bits.chunks.number) {
        if (slot->packs_meanwhile && cuda->wariness && ++cuda->n_in_time % FRAMES_IN_TIME == 0)
            cuda->wariness--;
        return false;
    }
    cuda->n_late++;
    cuda->wariness = min(cuda->wariness + 1, 12u);
    cuda->wary = 16u << cuda->wariness;
    return true;
}

static CclStatus await_and_read(CclContext *context, CclFrame *ccl_frame)
{
    CudaContext *const cuda = impl(context);
    CudaSlot *const slot = (CudaSlot *)ccl_frame->slot;
    CclTable *const table = &ccl_frame->table;

    CCL_TRY(await(cuda, slot));
    if (slot->frame.shape.form >= CUDA_BITS_ASSEMBLED && is_late(cuda, slot)) { /* by now all is packed */
        if (slot->frame.shape.form == CUDA_BITS_AWAITED)
            slot->frame.shape.form = CUDA_BITS; /* in the same place */
        CCL_TRY(launch(cuda, slot));
        CCL_TRY(await(cuda, slot));
    }
    if (cuda->engine) {
        table->batch_size = slot->ticket.batch_size;
        table->wait_us = slot->ticket.wait_us;
    }
    if (ccl_frame->labels.data && ccl_frame->labels.memory == CCL_MEMORY_HOST) {
        CCL_TRY(download_labels(cuda, slot, ccl_frame));
        CCL_CUDA_TRY(cudaStreamSynchronize(cuda->download));
    }
    if (slot->frame.shape.label_mode != CUDA_LABELS_PROVISIONAL) {
        table->n_found = slot->h_result->n_found;
        table->n_kept = slot->h_result->n_kept;
        note_density(cuda, (CudaDensity)slot->h_result->density);
    }
    if (context->config.timing)
        CCL_TRY(read_times(context, slot, table));
    return CCL_OK;
}

static CclStatus cuda_collect(CclContext *context, CclFrame *ccl_frame)
{
    CCL_TRY(cuda_use_device(context->config.device));
    return settle(impl(context), await_and_read(context, ccl_frame));
}

/* An error counts as ready: collecting tells. */
static bool cuda_ready(CclContext *context, CclFrame *ccl_frame)
{
    const CudaContext *const cuda = impl(context);
    CudaSlot *const slot = (CudaSlot *)ccl_frame->slot;
    if (cuda_use_device(context->config.device) != CCL_OK)
        return true;
    if (cuda->engine)
        return ccl_scheduler_ready(cuda->engine->queue, &slot->ticket);
    const uint32_t *const early = cuda_early_word(slot);
    return cuda_is_complete(&early, early != NULL) || cuda_look_at(slot->done) != cudaErrorNotReady;
}

const CclBackend ccl_cuda_backend = {
    .name = "cuda",
    .open = cuda_open,
    .close = cuda_close,
    .submit = cuda_submit,
    .collect = cuda_collect,
    .ready = cuda_ready,
};

const CclBackend ccl_cuda_volumes = {
    .name = "cuda",
    .open = cuda_open,
    .close = cuda_close,
    .volume_add = cuda_volume_add,
    .volume_label = cuda_volume_label,
    .volume_look_up = cuda_volume_look_up,
};

/* ---------------------------------------------------------------- pinned memory for callers */

/* The driver is asked through the runtime. */
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

void *ccl_pinned_alloc(size_t size, int device)
{
    void *memory = NULL;
    if (!size || (!cuda_current_context() && cudaSetDevice(max(device, 0)) != cudaSuccess) ||
        cudaHostAlloc(&memory, size, cudaHostAllocPortable | cudaHostAllocMapped) != cudaSuccess) {
        (void)cudaGetLastError();
        return NULL;
    }
    return memory;
}

void ccl_pinned_free(void *memory)
{
    if (memory && cudaFreeHost(memory) != cudaSuccess)
        (void)cudaGetLastError();
}

void *ccl_device_alloc(size_t size, int device)
{
    void *memory = NULL;
    if (!size || (!cuda_current_context() && cudaSetDevice(max(device, 0)) != cudaSuccess) ||
        cudaMalloc(&memory, size) != cudaSuccess) {
        (void)cudaGetLastError();
        return NULL;
    }
    return memory;
}

void ccl_device_free(void *memory)
{
    if (memory && cudaFree(memory) != cudaSuccess)
        (void)cudaGetLastError();
}

bool ccl_device_download(void *host, const void *memory, size_t size)
{
    const bool ok = cudaMemcpy(host, memory, size, cudaMemcpyDeviceToHost) == cudaSuccess;
    (void)cudaGetLastError();
    return ok;
}

void *ccl_context_stream(const CclContext *context, unsigned i)
{
    if (context->config.backend != CCL_BACKEND_CUDA || impl(context)->engine || i >= impl(context)->n_lanes)
        return NULL;
    return (void *)impl(context)->lanes[i].stream;
}

unsigned ccl_context_timeouts(const CclContext *context)
{
    return context->config.backend == CCL_BACKEND_CUDA ? impl(context)->n_late : 0;
}
