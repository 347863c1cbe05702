/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Contexts that share a device: what the engine of ../engine.h drives. The way of a batch:
 *
 *     wait      for masks on their way up and for their producers
 *     bits      of masks with CUDA_BITS_ASSEMBLED or CUDA_BITS_AWAITED, one by one
 *     narrow    16-bit masks, one by one
 *     launch    the method, once for each group of frames that run the same kernels and have about the same size: one
 *               kernel, or two, if each frame has a cluster of blocks; else several, and before them `fetch`: what they
 *               read of each frame, from page-locked to device memory
 *     labels    to the host, where they are wanted there
 *
 * Kernels without clusters are launched as a graph, whose nodes get the batch's own grids; those that come by for the first
 * time one by one, which takes the host longer than some frames take the device.
 *
 * Some batches run at once: while one has too few blocks to fill the device, or waits for the bus, the others compute.
 * Their short kernels have priority (CUDA_AHEAD): else each waits until the queue of another batch's blocks is empty.
 * A frame without company is launched as in a context of its own, unless there are many contexts: a graph, replayed.
 */
#include "context.cuh"

#include <array>
#include <stdlib.h>

/* Guards all engines, their growth too, but not their queues. */
static pthread_mutex_t registry = PTHREAD_MUTEX_INITIALIZER;
static CudaEngine *engines;

static CudaEngine *engine_of(const CclContext *context)
{
    return ((const CudaContext *)context->impl)->engine;
}

/* ---------------------------------------------------------------- batches */

/* Has a frame a cluster of blocks to itself? */
static bool is_clustered(const CudaEngine *engine, const CudaShape *shape)
{
    return engine->cluster_memory && (shape->density == CUDA_SPARSE || engine->tests_clusters) &&
           engine->batches->memory_in_cluster(shape) <= engine->cluster_memory;
}

/* Frames of the same key can be launched together, and are worth it: a block for each tile of the largest is launched
 * for every frame, so sizes may not differ by more than a factor of four or so. */
static uint32_t key_of(const CudaEngine *engine, const CudaSlot *slot)
{
    const CudaShape *const shape = &slot->frame.shape;
    const uint64_t pixels = (uint64_t)shape->width * shape->height;
    const uint32_t magnitude = (63 - (uint32_t)__builtin_clzll(pixels)) / 2;
    return magnitude << 7 | is_clustered(engine, shape) << 6 | shape->label_mode << 4 | shape->keep_all << 3 |
           (shape->form != CUDA_PIXELS) << 2 | (slot->context->config.connectivity == CCL_CONNECT_8);
}

/* A batch as it is launched: its frames by group. */
typedef struct Launch {
    CudaEngine *engine;
    unsigned first_job; /* of the batch, among all jobs */
    void *workspaces[CCL_MAX_BATCH];
    unsigned n;
    CudaSlot *slots[CCL_MAX_BATCH];
    const CclContext *contexts[CCL_MAX_BATCH];
    CudaFrame *frames[CCL_MAX_BATCH];
    const CudaVars *vars[CCL_MAX_BATCH];
    CudaFrame launcher;
} Launch;

static void sort_in(Launch *launch, CudaSlot *slot)
{
    unsigned i = launch->n++;
    const uint32_t key = key_of(launch->engine, slot);
    for (; i && key_of(launch->engine, launch->slots[i - 1]) > key; i--)
        launch->slots[i] = launch->slots[i - 1];
    launch->slots[i] = slot;
}

static unsigned group_end(const Launch *launch, unsigned begin)
{
    const uint32_t key = key_of(launch->engine, launch->slots[begin]);
    unsigned end = begin + 1;
    while (end < launch->n && key_of(launch->engine, launch->slots[end]) == key)
        end++;
    return end;
}

/* Are most frames of the group taken to be dense? Launched either way they give the same results. */
static bool are_dense(const Launch *launch, unsigned begin, unsigned end)
{
    unsigned n = 0;
    for (unsigned i = begin; i < end; i++)
        n += launch->slots[i]->frame.shape.density == CUDA_DENSE;
    return 2 * n > end - begin;
}

static CudaBatch batch_of(Launch *launch, unsigned begin, unsigned end)
{
    CudaEngine *const engine = launch->engine;
    const size_t offset = (launch->first_job + begin) * engine->batches->job_size;
    CudaBatch batch = {};
    batch.shape = launch->slots[begin]->frame.shape;
    batch.shape.width = batch.shape.height = 0;
    batch.shape.density = are_dense(launch, begin, end) ? CUDA_DENSE : CUDA_SPARSE;
    batch.clustered = is_clustered(engine, &launch->slots[begin]->frame.shape);
    batch.connectivity = launch->contexts[begin]->config.connectivity;
    batch.multiprocessors = engine->multiprocessors;
    batch.capacity = &engine->capacity;
    batch.n = end - begin;
    batch.contexts = launch->contexts + begin;
    batch.frames = launch->frames + begin;
    batch.vars = launch->vars + begin;
    batch.workspaces = launch->workspaces + begin;
    batch.jobs = engine->h_jobs + offset;
    batch.d_jobs = engine->d_jobs + offset;
    batch.mapped_jobs = engine->mapped_jobs + offset;
    batch.launcher = &launch->launcher;
    return batch;
}

#define FETCH_THREADS 1024u /* so that most jobs are on their way over the bus at once */

/* Quicker than a copy, which would be another unit of the device's. */
static __global__ void fetch(uint4 *to, const uint4 *from, uint32_t n)
{
    for (uint32_t i = threadIdx.x; i < n; i += blockDim.x)
        to[i] = from[i];
}

CclStatus cuda_fetch_jobs(const CudaBatch *batch, size_t job_size)
{
    return cuda_launch(batch->launcher, "fetch", CUDA_AHEAD, fetch, dim3(1), FETCH_THREADS, 0, (uint4 *)batch->d_jobs,
                       (const uint4 *)batch->mapped_jobs, (uint32_t)(batch->n * job_size / sizeof(uint4)));
}

/* For the groups that are clustered, or for the others. */
static CclStatus launch_kernels(Launch *launch, bool clustered)
{
    CudaEngine *const engine = launch->engine;
    for (unsigned begin = 0, end; begin < launch->n; begin = end) {
        end = group_end(launch, begin);
        const CudaBatch batch = batch_of(launch, begin, end);
        if (batch.clustered == clustered)
            CCL_TRY(engine->batches->launch(&batch));
    }
    return CCL_OK;
}

static void describe(Launch *launch)
{
    CudaEngine *const engine = launch->engine;
    for (unsigned i = 0; i < launch->n; i++) {
        CudaSlot *const slot = launch->slots[i];
        launch->contexts[i] = slot->context;
        launch->frames[i] = &slot->frame;
        launch->vars[i] = &slot->frame.vars;
        launch->workspaces[i] = engine->places[(engine->next_place + i) % engine->n_places];
    }
    engine->next_place = (engine->next_place + launch->n) % engine->n_places;
    for (unsigned begin = 0, end; begin < launch->n; begin = end) {
        end = group_end(launch, begin);
        const CudaBatch batch = batch_of(launch, begin, end);
        if (!batch.clustered)
            engine->batches->describe(&batch);
    }
}

/* ---------------------------------------------------------------- batches as graphs */

static CclStatus capture_batch(CudaBatchGraph *graph, Launch *launch)
{
    const cudaStream_t stream = launch->launcher.stream;
    cuda_drop_replay(&graph->replay);
    graph->replay.notes_all = true;
    CCL_CUDA_TRY(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    launch->launcher.capture = &graph->replay;
    const CclStatus status = launch_kernels(launch, false);
    launch->launcher.capture = NULL;
    return cuda_end_capture(&graph->replay, stream, status);
}

static CclStatus set_node(const CudaReplay *replay, unsigned i, CudaListedLaunch *listed)
{
    void *arguments[CUDA_MAX_PARAMETERS];
    cudaKernelNodeParams params = replay->nodes[i].params;
    for (unsigned k = 0; k < listed->n_arguments; k++)
        arguments[k] = listed->values + listed->places[k];
    params.gridDim = listed->grid;
    params.blockDim = dim3(listed->threads);
    params.sharedMemBytes = (unsigned)listed->shared;
    params.kernelParams = arguments;
    CCL_CUDA_TRY(cudaGraphExecKernelNodeSetParams(replay->exec, replay->nodes[i].node, &params));
    return CCL_OK;
}

static bool same_kernels(const CudaLaunchList *a, const CudaLaunchList *b)
{
    bool same = a->n == b->n;
    for (unsigned i = 0; same && i < a->n; i++)
        same = a->kernels[i].kernel == b->kernels[i].kernel;
    return same;
}

/* The graph of these kernels, or one that has not been used for longest. */
static CudaBatchGraph *find_graph(CudaEngine *engine, unsigned index, const CudaLaunchList *list)
{
    CudaBatchGraph *found = NULL;
    for (CudaBatchGraph &graph : engine->graphs[index]) {
        if (same_kernels(&graph.set, list)) {
            found = &graph;
            break;
        }
        if (!found || graph.used < found->used)
            found = &graph;
    }
    found->used = ++engine->n_batches;
    return found;
}

/* Makes the graph that of the launches in `list`; kernels that come by for the first time are not worth one: no exec. */
static CclStatus prepare_graph(CudaBatchGraph *graph, Launch *launch, CudaLaunchList *list)
{
    if (!same_kernels(&graph->set, list)) {
        cuda_drop_replay(&graph->replay);
        graph->set = *list;
        return CCL_OK;
    }
    if (!graph->replay.exec) {
        CCL_TRY(capture_batch(graph, launch));
        graph->set = *list;
        return CCL_OK;
    }
    for (unsigned i = 0; i < list->n; i++)
        if (memcmp(&graph->set.kernels[i], &list->kernels[i], sizeof list->kernels[i])) {
            CCL_TRY(set_node(&graph->replay, i, &list->kernels[i]));
            graph->set.kernels[i] = list->kernels[i];
        }
    return CCL_OK;
}

static CclStatus launch_groups(Launch *launch)
{
    CudaEngine *const engine = launch->engine;
    describe(launch);
    for (unsigned i = 0; i < launch->n; i++)
        if (launch->frames[i]->shape.narrow)
            CCL_TRY(mask_from_wide(launch->frames[i], &launch->launcher));
    CCL_TRY(launch_kernels(launch, true));

    CudaBatchGraph *graph = NULL;
    if (!engine->no_graphs) {
        CudaLaunchList list;
        list.n = 0;
        launch->launcher.list = &list;
        CCL_TRY(launch_kernels(launch, false));
        launch->launcher.list = NULL;
        if (!list.n)
            return CCL_OK;
        if (list.n <= CUDA_MAX_LISTED_LAUNCHES) {
            graph = find_graph(engine, launch->first_job / CCL_MAX_BATCH, &list);
            engine->no_graphs = prepare_graph(graph, launch, &list) != CCL_OK;
        }
    }
    if (engine->no_graphs || !graph || !graph->replay.exec)
        return launch_kernels(launch, false);
    CCL_CUDA_TRY(cudaGraphLaunch(graph->replay.exec, launch->launcher.stream));
    return CCL_OK;
}

static std::array<cudaStream_t *, 3 + 2 * CCL_MAX_BATCHES> streams_of(CudaEngine *engine)
{
    std::array<cudaStream_t *, 3 + 2 * CCL_MAX_BATCHES> streams = { &engine->upload, &engine->download,
                                                                     &engine->watch };
    for (unsigned i = 0; i < CCL_MAX_BATCHES; i++) {
        streams[3 + 2 * i] = &engine->lanes[i].stream;
        streams[4 + 2 * i] = &engine->batch_streams[i];
    }
    return streams;
}

/* ---------------------------------------------------------------- what the queue asks for */

static bool arrived(void *device, const CclTicket *ticket)
{
    const CudaSlot *const slot = (const CudaSlot *)ticket->frame;
    (void)device;
    return !slot->uploads || cuda_look_at(slot->uploaded) != cudaErrorNotReady;
}

/* As in a context of its own: a graph, replayed. Batches that run at once want a place each. */
static bool goes_alone(const CudaEngine *engine, unsigned n)
{
    const bool is_rare = !cuda_engine_is_crowded(engine) && !engine->tests_clusters;
    const unsigned n_slots = __atomic_load_n(&engine->n_slots, __ATOMIC_RELAXED); /* contexts come and go meanwhile */
    return n == 1 && (is_rare || engine->n_places < min(n_slots, CCL_MAX_BATCHES));
}

/* Kernels of frames that have a cluster each say themselves when all of a frame is there. */
static void expect_words(Launch *launch, unsigned index)
{
    CudaEngine *const engine = launch->engine;
    for (unsigned i = 0; i < launch->n; i++)
        if (!is_clustered(engine, &launch->slots[i]->frame.shape))
            return;
    for (unsigned i = 0; i < launch->n; i++) {
        launch->slots[i]->h_result->complete = 0;
        engine->early[index][i] = &launch->slots[i]->h_result->complete;
    }
    engine->n_early[index] = launch->n;
    engine->is_told[index] = true;
}

static CclStatus launch_tickets(CudaEngine *engine, unsigned index, CclTicket *const *tickets, unsigned n)
{
    Launch launch = {};
    launch.engine = engine;
    launch.first_job = index * CCL_MAX_BATCH;
    launch.launcher.stream = engine->batch_streams[index];
    launch.launcher.ahead = engine->ahead;
    launch.launcher.overlap = ((const CudaSlot *)tickets[0]->frame)->frame.overlap;
    for (unsigned i = 0; i < n; i++)
        sort_in(&launch, (CudaSlot *)tickets[i]->frame);

    engine->n_early[index] = 0;
    engine->is_told[index] = false;
    if (goes_alone(engine, n)) {
        engine->early[index][0] = cuda_early_word(launch.slots[0]);
        engine->n_early[index] = engine->early[index][0] != NULL;
        CCL_TRY(cuda_launch_slot(launch.slots[0]));
        launch.launcher.stream = launch.slots[0]->frame.stream;
    } else {
        for (unsigned i = 0; i < n; i++) {
            CCL_TRY(cuda_await_mask(launch.slots[i], launch.launcher.stream));
            CCL_TRY(cuda_bring_bits_for_batch(launch.slots[i], launch.launcher.stream));
        }
        expect_words(&launch, index);
        CCL_TRY(launch_groups(&launch));
        engine->launched[index] = std::chrono::steady_clock::now();
    }
    return cuda_finish_slots(launch.slots, n, launch.launcher.stream, &engine->computed[index],
                             &engine->done[index]);
}

/* Once a batch has failed its frames' memory is their callers' again: nothing that was begun may still use it. */
static CclStatus settle(CudaEngine *engine, CclStatus status)
{
    if (status != CCL_OK) {
        for (cudaStream_t *stream : streams_of(engine))
            cudaStreamSynchronize(*stream);
        (void)cudaGetLastError();
    }
    return status;
}

static CclStatus launch_batch(void *device, unsigned index, CclTicket *const *tickets, unsigned n)
{
    CudaEngine *const engine = (CudaEngine *)device;
    return settle(engine, launch_tickets(engine, index, tickets, n));
}

/* A batch that is told has no need of its event for so long; later there may have been a fault. Each look takes the driver's
 * lock, and some tenths of a microsecond, at every frame that is submitted meanwhile. */
#define WORDS_ALONE_US 200

/* An error counts as the end: waiting tells. */
static bool ended(void *device, unsigned index)
{
    const CudaEngine *const engine = (CudaEngine *)device;
    if (cuda_is_complete(engine->early[index], engine->n_early[index]))
        return true;
    if (engine->is_told[index] &&
        std::chrono::steady_clock::now() - engine->launched[index] < std::chrono::microseconds(WORDS_ALONE_US))
        return false;
    return cuda_look_at(engine->done[index]) != cudaErrorNotReady;
}

static CclStatus wait_for_batch(CudaEngine *engine, unsigned index)
{
    CCL_CUDA_TRY(cuda_wait_for(engine->done[index], engine->early[index], engine->n_early[index], &engine->watch,
                               &engine->alarm));
    return CCL_OK;
}

static CclStatus wait(void *device, unsigned index)
{
    CudaEngine *const engine = (CudaEngine *)device;
    return settle(engine, wait_for_batch(engine, index));
}

static const CclSchedulerDevice calls = { arrived, launch_batch, ended, wait };

/* ---------------------------------------------------------------- room */

static CclStatus alloc_place(CudaEngine *engine, size_t size, void **place)
{
    *place = NULL;
    const cudaError_t error = cudaMalloc(place, size);
    if (error == cudaErrorMemoryAllocation) {
        (void)cudaGetLastError();
        return ccl_fail(CCL_ERROR_OUT_OF_MEMORY,
                        "no %zu bytes of device memory left (%u such blocks are shared already)", size,
                        engine->n_lanes + engine->n_places);
    }
    CCL_CUDA_TRY_AS("cudaMalloc", error);
    CCL_CUDA_TRY(cudaMemsetAsync(*place, 0, size, engine->lanes[0].stream));
    return CCL_OK;
}

static CclStatus synchronize(const CudaEngine *engine)
{
    for (const CudaLane &lane : engine->lanes)
        CCL_CUDA_TRY(cudaStreamSynchronize(lane.stream));
    for (cudaStream_t stream : engine->batch_streams)
        CCL_CUDA_TRY(cudaStreamSynchronize(stream));
    return CCL_OK;
}

static void free_workspaces(CudaEngine *engine)
{
    for (CudaLane &lane : engine->lanes) {
        cudaFree(lane.workspace);
        lane.workspace = NULL;
    }
    for (unsigned i = 0; i < engine->n_places; i++)
        cudaFree(engine->places[i]);
    engine->n_lanes = engine->n_places = 0;
}

/* Contexts look at it that have a frame to bring. */
static void next_generation(CudaEngine *engine)
{
    __atomic_store_n(&engine->generation, engine->generation + 1, __ATOMIC_RELAXED);
}

/* Workspaces of another size: the first of them before the old ones are given up, which go on if there is no memory. */
static CclStatus replace_workspaces(CudaEngine *engine, const CudaCapacity *room, size_t size)
{
    void *first = NULL;
    CclStatus status = alloc_place(engine, size, &first);
    if (status == CCL_OK)
        status = synchronize(engine);
    if (status != CCL_OK) {
        cudaFree(first);
        return status;
    }
    free_workspaces(engine);
    engine->capacity = *room;
    engine->lanes[0].workspace = first;
    engine->n_lanes = 1;
    next_generation(engine);
    return CCL_OK;
}

/* Places for batches that suffice however the frames that there may be are shared out to batches. */
static unsigned places_wanted(const CudaEngine *engine)
{
    return engine->n_slots < 2 && !engine->tests_clusters ? 0 : min(engine->n_slots, CCL_MAX_BATCHES * CCL_MAX_BATCH);
}

/* No batch may be larger, so that all that run have places. */
static unsigned max_frames(const CudaEngine *engine)
{
    const unsigned n = engine->n_places;
    const unsigned most = n >= places_wanted(engine) ? min(n, CCL_MAX_BATCH) : n / CCL_MAX_BATCHES;
    return max(most, 1u);
}

/* A workspace more, if there is memory that may be taken. */
static bool add_workspace(CudaEngine *engine, void **workspace)
{
    const size_t size = engine->batches->workspace_size(&engine->capacity);
    if (size * (engine->n_lanes + engine->n_places + 1) > engine->max_bytes)
        return false;
    if (alloc_place(engine, size, workspace) == CCL_OK)
        return true;
    cudaFree(*workspace);
    *workspace = NULL;
    return false;
}

/* No frame is being launched. */
static CclStatus grow_paused(CudaEngine *engine, const CudaCapacity *room, bool replace)
{
    CCL_TRY(synchronize(engine)); /* whose place is whose changes */
    engine->next_place = 0;
    if (replace)
        CCL_TRY(replace_workspaces(engine, room, engine->batches->workspace_size(room)));
    while (engine->n_lanes < min(engine->n_slots, CCL_MAX_BATCHES) &&
           add_workspace(engine, &engine->lanes[engine->n_lanes].workspace)) {
        engine->n_lanes++;
        next_generation(engine); /* slots change lanes */
    }
    while (engine->n_places < places_wanted(engine) && add_workspace(engine, &engine->places[engine->n_places]))
        engine->n_places++; /* with fewer, batches are smaller */
    return synchronize(engine); /* with the clearing */
}

/* Room for the context's frames beside all others'. */
static CclStatus grow(CudaEngine *engine, const CclContext *context)
{
    const CudaCapacity needed = engine->batches->capacity(context);
    CudaCapacity room = engine->capacity;
    bool larger = false;
    for (unsigned i = 0; i < sizeof room.of / sizeof *room.of; i++) {
        larger |= needed.of[i] > room.of[i];
        room.of[i] = max(room.of[i], needed.of[i]);
    }
    ccl_scheduler_pause(engine->queue);
    const CclStatus status = grow_paused(engine, &room, larger);
    ccl_scheduler_resume(engine->queue, max_frames(engine));
    return status;
}

/* ---------------------------------------------------------------- one per device */

/* Without the lock, under which contexts that come and go wait for the device. */
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

bool cuda_engine_is_crowded(const CudaEngine *engine)
{
    return n_contexts(engine) > 16;
}

const CudaLane *cuda_engine_lane(const CudaEngine *engine, unsigned lane)
{
    return &engine->lanes[lane % engine->n_lanes];
}

static void close_engine(CudaEngine *engine)
{
    for (cudaStream_t *stream : streams_of(engine))
        if (*stream)
            cudaStreamSynchronize(*stream);
    free_workspaces(engine);
    for (auto &graphs : engine->graphs)
        for (CudaBatchGraph &graph : graphs)
            cuda_drop_replay(&graph.replay);
    cudaFree(engine->d_jobs);
    cudaFreeHost(engine->h_jobs);
    for (unsigned i = 0; i < CCL_MAX_BATCHES; i++) {
        if (engine->computed[i])
            cudaEventDestroy(engine->computed[i]);
        if (engine->done[i])
            cudaEventDestroy(engine->done[i]);
    }
    if (engine->alarm)
        cudaEventDestroy(engine->alarm);
    for (cudaStream_t *stream : streams_of(engine))
        if (*stream)
            cudaStreamDestroy(*stream);
    (void)cudaGetLastError();
    ccl_pool_free(engine->packers);
    ccl_scheduler_free(engine->queue);
    pthread_mutex_destroy(&engine->packing);
    free(engine);
}

static CclStatus open_engine(CudaEngine *engine)
{
    const size_t jobs_size = CCL_MAX_BATCHES * CCL_MAX_BATCH * engine->batches->job_size;
    size_t free_bytes = 0, total_bytes = 0;
    int multiprocessors = 0, lowest = 0, highest = 0;

    engine->no_graphs = ccl_test_switches()->no_graphs;
    engine->tests_clusters = ccl_test_switches()->clusters == CCL_TEST_CLUSTERS_ALWAYS;
    engine->queue = ccl_scheduler_new(&calls, engine, 1);
    if (!engine->queue)
        return ccl_fail(CCL_ERROR_OUT_OF_MEMORY, "out of memory");
    CCL_CUDA_TRY(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, engine->device));
    CCL_CUDA_TRY(cudaMemGetInfo(&free_bytes, &total_bytes));
    CCL_CUDA_TRY(cudaDeviceGetStreamPriorityRange(&lowest, &highest));
    engine->multiprocessors = (unsigned)multiprocessors;
    if (engine->batches->cluster_memory && ccl_test_switches()->clusters != CCL_TEST_CLUSTERS_NEVER)
        engine->cluster_memory = engine->batches->cluster_memory();
    engine->ahead = max(highest, -1); /* no more than it takes: the GPU may have other work */
    engine->max_bytes = total_bytes / 8;
    for (cudaStream_t *stream : streams_of(engine))
        CCL_CUDA_TRY(cudaStreamCreateWithFlags(stream, cudaStreamNonBlocking));
    for (unsigned i = 0; i < CCL_MAX_BATCHES; i++) {
        CCL_CUDA_TRY(cudaEventCreateWithFlags(&engine->computed[i], cudaEventDisableTiming));
        CCL_CUDA_TRY(cudaEventCreateWithFlags(&engine->done[i], cudaEventDisableTiming));
    }
    CCL_CUDA_TRY(cudaEventCreateWithFlags(&engine->alarm, cudaEventDisableTiming | cudaEventBlockingSync));
    CCL_CUDA_TRY(cudaHostAlloc((void **)&engine->h_jobs, jobs_size, cudaHostAllocMapped | cudaHostAllocPortable));
    CCL_CUDA_TRY(cudaHostGetDevicePointer((void **)&engine->mapped_jobs, engine->h_jobs, 0));
    CCL_CUDA_TRY(cudaMalloc((void **)&engine->d_jobs, jobs_size));
    return CCL_OK;
}

/* A lost one is as good as none. */
static CudaEngine *find_engine(void *driver_context, int device, const CudaBatches *batches)
{
    CudaEngine *engine = engines;
    while (engine && (engine->driver_context != driver_context || engine->device != device ||
                      engine->batches != batches || ccl_scheduler_lost(engine->queue)))
        engine = engine->next;
    return engine;
}

static CclStatus find_or_open(const CudaBatches *batches, CudaEngine **result)
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
    const CclStatus status = open_engine(engine);
    if (status != CCL_OK) {
        close_engine(engine);
        return status;
    }
    engine->next = engines;
    *result = engines = engine;
    return CCL_OK;
}

static CclStatus join_locked(CclContext *context)
{
    CudaContext *const cuda = (CudaContext *)context->impl;
    CudaEngine *engine;

    CCL_TRY(find_or_open(context->algorithm->batches, &engine));
    cuda->engine = engine;
    set_contexts(engine, engine->n_contexts + 1);
    __atomic_store_n(&engine->n_slots, engine->n_slots + context->config.depth, __ATOMIC_RELAXED);
    for (unsigned i = 0; i < context->config.depth; i++)
        cuda->slots[i].lane = engine->next_lane++;
    cuda->upload = engine->upload;
    cuda->download = engine->download;
    if (!engine->packers && context->config.threads > 1)
        __atomic_store_n(&engine->packers, ccl_pool_new(context->config.threads), __ATOMIC_RELEASE);
    return grow(engine, context);
}

CclStatus cuda_engine_join(CclContext *context)
{
    pthread_mutex_lock(&registry);
    const CclStatus status = join_locked(context);
    pthread_mutex_unlock(&registry);
    return status;
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

CclPool *cuda_engine_lend_packers(CudaEngine *engine)
{
    CclPool *const packers = __atomic_load_n(&engine->packers, __ATOMIC_ACQUIRE);
    return packers && !pthread_mutex_trylock(&engine->packing) ? packers : NULL;
}

void cuda_engine_return_packers(CudaEngine *engine)
{
    pthread_mutex_unlock(&engine->packing);
}
