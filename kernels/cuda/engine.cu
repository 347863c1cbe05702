/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* The engines: streams, workspaces and scheduler of the contexts that share a device; one for each device and method. */
#include "context.cuh"

#include <array>
#include <stdlib.h>

/* Guards all engines and their growth, but not their schedulers. */
static pthread_mutex_t registry = PTHREAD_MUTEX_INITIALIZER;
static CudaEngine *engines;

static CudaEngine *engine_of(const CclContext *context)
{
    return ((const CudaContext *)context->impl)->engine;
}

static std::array<cudaStream_t *, 3 + 2 * CCL_MAX_BATCHES> streams_of(CudaEngine *engine)
{
    std::array<cudaStream_t *, 3 + 2 * CCL_MAX_BATCHES> streams = { &engine->upload, &engine->download,
                                                                     &engine->waiter.stream };
    for (unsigned i = 0; i < CCL_MAX_BATCHES; i++) {
        streams[3 + 2 * i] = &engine->stream_slots[i].stream;
        streams[4 + 2 * i] = &engine->batch_streams[i];
    }
    return streams;
}

void cuda_engine_synchronize(CudaEngine *engine)
{
    for (cudaStream_t *stream : streams_of(engine))
        if (*stream)
            cudaStreamSynchronize(*stream);
    (void)cudaGetLastError();
}

/* ---------------------------------------------------------------- workspaces */

static CclStatus alloc_workspace(CudaEngine *engine, size_t size, void **workspace)
{
    *workspace = NULL;
    const cudaError_t error = cudaMalloc(workspace, size);
    if (error == cudaErrorMemoryAllocation) {
        (void)cudaGetLastError();
        return ccl_fail(CCL_ERROR_OUT_OF_MEMORY,
                        "no %zu bytes of device memory left (%u such blocks are shared already)", size,
                        engine->n_stream_slots + engine->n_batch_workspaces);
    }
    CCL_CUDA_TRY_AS("cudaMalloc", error);
    CCL_CUDA_TRY(cudaMemsetAsync(*workspace, 0, size, engine->stream_slots[0].stream));
    return CCL_OK;
}

static CclStatus synchronize(const CudaEngine *engine)
{
    for (const CudaStreamSlot &stream_slot : engine->stream_slots)
        CCL_CUDA_TRY(cudaStreamSynchronize(stream_slot.stream));
    for (cudaStream_t stream : engine->batch_streams)
        CCL_CUDA_TRY(cudaStreamSynchronize(stream));
    return CCL_OK;
}

static void free_workspaces(CudaEngine *engine)
{
    for (CudaStreamSlot &stream_slot : engine->stream_slots) {
        cudaFree(stream_slot.workspace);
        stream_slot.workspace = NULL;
    }
    for (unsigned i = 0; i < engine->n_batch_workspaces; i++)
        cudaFree(engine->batch_workspaces[i]);
    engine->n_stream_slots = engine->n_batch_workspaces = 0;
}

/* Contexts read it when they submit a frame. */
static void next_generation(CudaEngine *engine)
{
    __atomic_store_n(&engine->generation, engine->generation + 1, __ATOMIC_RELAXED);
}

/* Replaces the workspaces by larger ones. The first is allocated before the old ones are freed: if memory is short, these
 * stay. */
static CclStatus replace_workspaces(CudaEngine *engine, const CudaCapacity *capacity, size_t size)
{
    void *first = NULL;
    CclStatus status = alloc_workspace(engine, size, &first);
    if (status == CCL_OK)
        status = synchronize(engine);
    if (status != CCL_OK) {
        cudaFree(first);
        return status;
    }
    free_workspaces(engine);
    engine->capacity = *capacity;
    engine->stream_slots[0].workspace = first;
    engine->n_stream_slots = 1;
    next_generation(engine);
    return CCL_OK;
}

/* Number of batch workspaces that suffice for any division of the frames of all contexts into batches. */
static unsigned batch_workspaces_wanted(const CudaEngine *engine)
{
    return engine->n_slots < 2 && !engine->tests_clusters ? 0 : min(engine->n_slots, CCL_MAX_BATCHES * CCL_MAX_BATCH);
}

/* Maximum size of a batch, so that all running batches have workspaces. */
static unsigned max_frames(const CudaEngine *engine)
{
    const unsigned n = engine->n_batch_workspaces;
    const unsigned max_n = n >= batch_workspaces_wanted(engine) ? min(n, CCL_MAX_BATCH) : n / CCL_MAX_BATCHES;
    return max(max_n, 1u);
}

/* One more workspace, if the limit and the device's memory allow it. */
static bool add_workspace(CudaEngine *engine, void **workspace)
{
    const size_t size = engine->batches->workspace_size(&engine->capacity);
    if (size * (engine->n_stream_slots + engine->n_batch_workspaces + 1) > engine->max_bytes)
        return false;
    if (alloc_workspace(engine, size, workspace) == CCL_OK)
        return true;
    cudaFree(*workspace);
    *workspace = NULL;
    return false;
}

/* Called while no frame is being launched. */
static CclStatus grow_paused(CudaEngine *engine, const CudaCapacity *capacity, bool replace)
{
    CCL_TRY(synchronize(engine)); /* batch workspaces change owners */
    engine->next_batch_workspace = 0;
    if (replace)
        CCL_TRY(replace_workspaces(engine, capacity, engine->batches->workspace_size(capacity)));
    while (engine->n_stream_slots < min(engine->n_slots, CCL_MAX_BATCHES) &&
           add_workspace(engine, &engine->stream_slots[engine->n_stream_slots].workspace)) {
        engine->n_stream_slots++;
        next_generation(engine); /* slots change stream slots */
    }
    while (engine->n_batch_workspaces < batch_workspaces_wanted(engine) &&
           add_workspace(engine, &engine->batch_workspaces[engine->n_batch_workspaces]))
        engine->n_batch_workspaces++; /* with fewer workspaces, batches are smaller */
    return synchronize(engine);       /* waits for the clearing */
}

/* Workspaces for the context's frames, besides those of all other contexts. */
static CclStatus grow(CudaEngine *engine, const CclContext *context)
{
    const CudaCapacity needed = engine->batches->capacity(context);
    CudaCapacity capacity = engine->capacity;
    bool larger = false;
    for (unsigned i = 0; i < sizeof capacity.of / sizeof *capacity.of; i++) {
        larger |= needed.of[i] > capacity.of[i];
        capacity.of[i] = max(capacity.of[i], needed.of[i]);
    }
    ccl_scheduler_pause(engine->queue);
    const CclStatus status = grow_paused(engine, &capacity, larger);
    ccl_scheduler_resume(engine->queue, max_frames(engine));
    return status;
}

/* ---------------------------------------------------------------- one per device */

/* Without the registry's lock, because a context that holds it while it opens or closes waits for the device. */
static unsigned n_contexts(const CudaEngine *engine)
{
    return __atomic_load_n(&engine->n_contexts, __ATOMIC_RELAXED);
}

static void set_contexts(CudaEngine *engine, unsigned n)
{
    __atomic_store_n(&engine->n_contexts, n, __ATOMIC_RELAXED);
}

bool cuda_engine_is_own(const CudaEngine *engine)
{
    return n_contexts(engine) == 1;
}

bool cuda_engine_has_many_contexts(const CudaEngine *engine)
{
    return n_contexts(engine) > 16;
}

const CudaStreamSlot *cuda_engine_stream_slot(const CudaEngine *engine, unsigned stream_slot)
{
    return &engine->stream_slots[stream_slot % engine->n_stream_slots];
}

static void close_engine(CudaEngine *engine)
{
    cuda_engine_synchronize(engine);
    free_workspaces(engine);
    for (auto &graphs : engine->graphs)
        for (CudaBatchGraph &graph : graphs)
            cuda_graph_drop(&graph.captured);
    cudaFree(engine->d_jobs);
    cudaFreeHost(engine->h_jobs);
    for (unsigned i = 0; i < CCL_MAX_BATCHES; i++) {
        if (engine->computed[i])
            cudaEventDestroy(engine->computed[i]);
        if (engine->done[i])
            cudaEventDestroy(engine->done[i]);
    }
    if (engine->waiter.event)
        cudaEventDestroy(engine->waiter.event);
    for (cudaStream_t *stream : streams_of(engine))
        if (*stream)
            cudaStreamDestroy(*stream);
    (void)cudaGetLastError();
    ccl_pool_free(engine->packers);
    ccl_scheduler_free(engine->queue);
    pthread_mutex_destroy(&engine->packing);
    free(engine);
}

static CclStatus open_engine(CudaEngine *engine, const CclSchedulerDevice *calls)
{
    const size_t jobs_size = CCL_MAX_BATCHES * CCL_MAX_BATCH * engine->batches->job_size;
    size_t free_bytes = 0, total_bytes = 0;
    int multiprocessors = 0, lowest = 0, highest = 0;

    engine->no_graphs = ccl_test_switches()->no_graphs;
    engine->tests_clusters = ccl_test_switches()->clusters == CCL_TEST_CLUSTERS_ALWAYS;
    engine->queue = ccl_scheduler_new(calls, engine, 1);
    if (!engine->queue)
        return ccl_fail(CCL_ERROR_OUT_OF_MEMORY, "out of memory");
    CCL_CUDA_TRY(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, engine->device));
    CCL_CUDA_TRY(cudaMemGetInfo(&free_bytes, &total_bytes));
    CCL_CUDA_TRY(cudaDeviceGetStreamPriorityRange(&lowest, &highest));
    engine->multiprocessors = (unsigned)multiprocessors;
    if (engine->batches->cluster_memory && ccl_test_switches()->clusters != CCL_TEST_CLUSTERS_NEVER)
        engine->cluster_memory = engine->batches->cluster_memory();
    engine->ahead = max(highest, -1); /* no higher than necessary: the GPU may have other work */
    engine->max_bytes = total_bytes / 8;
    for (cudaStream_t *stream : streams_of(engine))
        CCL_CUDA_TRY(cudaStreamCreateWithFlags(stream, cudaStreamNonBlocking));
    for (unsigned i = 0; i < CCL_MAX_BATCHES; i++) {
        CCL_CUDA_TRY(cudaEventCreateWithFlags(&engine->computed[i], cudaEventDisableTiming));
        CCL_CUDA_TRY(cudaEventCreateWithFlags(&engine->done[i], cudaEventDisableTiming));
    }
    CCL_CUDA_TRY(cudaEventCreateWithFlags(&engine->waiter.event, cudaEventDisableTiming | cudaEventBlockingSync));
    CCL_CUDA_TRY(cudaHostAlloc((void **)&engine->h_jobs, jobs_size, cudaHostAllocMapped | cudaHostAllocPortable));
    CCL_CUDA_TRY(cudaHostGetDevicePointer((void **)&engine->mapped_jobs, engine->h_jobs, 0));
    CCL_CUDA_TRY(cudaMalloc((void **)&engine->d_jobs, jobs_size));
    return CCL_OK;
}

/* Does not find a lost engine: the next context creates another. */
static CudaEngine *find_engine(void *driver_context, int device, const CudaBatches *batches)
{
    CudaEngine *engine = engines;
    while (engine && (engine->driver_context != driver_context || engine->device != device ||
                      engine->batches != batches || ccl_scheduler_lost(engine->queue)))
        engine = engine->next;
    return engine;
}

static CclStatus find_or_open(const CudaBatches *batches, const CclSchedulerDevice *calls, CudaEngine **result)
{
    void *const driver_context = cuda_current_context();
    int device = 0;

    CCL_CUDA_TRY(cudaGetDevice(&device));
    *result = find_engine(driver_context, device, batches);
    if (*result)
        return CCL_OK;
    CudaEngine *const engine = (CudaEngine *)calloc(1, sizeof *engine);
    if (!engine)
        return ccl_fail(CCL_ERROR_OUT_OF_MEMORY, "out of memory");
    engine->driver_context = driver_context;
    engine->device = device;
    engine->batches = batches;
    pthread_mutex_init(&engine->packing, NULL);
    const CclStatus status = open_engine(engine, calls);
    if (status != CCL_OK) {
        close_engine(engine);
        return status;
    }
    engine->next = engines;
    *result = engines = engine;
    return CCL_OK;
}

static CclStatus join_locked(CclContext *context, const CclSchedulerDevice *calls)
{
    CudaContext *const cuda = (CudaContext *)context->impl;
    CudaEngine *engine;

    CCL_TRY(find_or_open(context->algorithm->batches, calls, &engine));
    cuda->engine = engine;
    set_contexts(engine, engine->n_contexts + 1);
    __atomic_store_n(&engine->n_slots, engine->n_slots + context->config.depth, __ATOMIC_RELAXED);
    for (unsigned i = 0; i < context->config.depth; i++)
        cuda->slots[i].stream_slot = engine->next_stream_slot++;
    cuda->upload = engine->upload;
    cuda->download = engine->download;
    if (!engine->packers && context->config.threads > 1)
        __atomic_store_n(&engine->packers, ccl_pool_new(context->config.threads), __ATOMIC_RELEASE);
    return grow(engine, context);
}

CclStatus cuda_engine_join(CclContext *context, const CclSchedulerDevice *calls)
{
    pthread_mutex_lock(&registry);
    const CclStatus status = join_locked(context, calls);
    pthread_mutex_unlock(&registry);
    return status;
}

static bool has_launched_alone(const CudaContext *cuda)
{
    for (const CudaSlot &slot : cuda->slots)
        if (slot.frame.stream)
            return true;
    return false;
}

void cuda_engine_finish_frames(CclContext *context)
{
    const CudaContext *const cuda = (CudaContext *)context->impl;
    CudaEngine *const engine = cuda->engine;
    if (!has_launched_alone(cuda))
        return;
    pthread_mutex_lock(&registry);
    ccl_scheduler_pause(engine->queue);
    for (const CudaSlot &slot : cuda->slots)
        if (slot.frame.stream)
            cudaStreamSynchronize(slot.frame.stream);
    ccl_scheduler_resume(engine->queue, max_frames(engine));
    pthread_mutex_unlock(&registry);
}

void cuda_engine_leave(CclContext *context)
{
    CudaEngine *const engine = engine_of(context);
    if (!engine)
        return;
    pthread_mutex_lock(&registry);
    __atomic_store_n(&engine->n_slots, engine->n_slots - context->config.depth, __ATOMIC_RELAXED);
    set_contexts(engine, engine->n_contexts - 1);
    if (!engine->n_contexts) {
        CudaEngine **link = &engines;
        while (*link != engine)
            link = &(*link)->next;
        *link = engine->next;
        close_engine(engine);
    }
    pthread_mutex_unlock(&registry);
}

CclPool *cuda_engine_acquire_packers(CudaEngine *engine)
{
    CclPool *const packers = __atomic_load_n(&engine->packers, __ATOMIC_ACQUIRE);
    return packers && !pthread_mutex_trylock(&engine->packing) ? packers : NULL;
}

void cuda_engine_release_packers(CudaEngine *engine)
{
    pthread_mutex_unlock(&engine->packing);
}
