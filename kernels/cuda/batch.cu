/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * The batches of an engine: the scheduler's interface to the device (CclSchedulerDevice). The steps of a batch:
 *
 *     wait      for uploads of masks, and for their producers
 *     bits      of masks with CUDA_BITS_ASSEMBLED or CUDA_BITS_AWAITED, one by one
 *     narrow    16-bit masks, one by one
 *     launch    the method, once for each group of frames that run the same kernels and have about the same size: one
 *               kernel, or two, if each frame has a cluster of blocks; else several, and before them `fetch`: it copies what
 *               they read of each frame from page-locked to device memory
 *     labels    to the host, for callers with label images in host memory
 *
 * Kernels without clusters are launched as a graph, whose nodes get the grids of the batch. The first time, a set of kernels is
 * launched one by one. This takes more host time than some frames take device time.
 *
 * Up to CCL_MAX_BATCHES batches run at once. While one has too few blocks to fill the device, or waits for the bus, the others
 * compute. Their short kernels have priority (CUDA_AHEAD). Otherwise each would wait until all blocks of another batch have
 * started. A single frame is launched as in a context of its own, by replaying its graph, unless there are many contexts.
 */
#include "context.cuh"

#include <string.h>

/* ---------------------------------------------------------------- batches */

/* Whether a frame gets a cluster of blocks. */
static bool is_clustered(const CudaEngine *engine, const CudaShape *shape)
{
    return engine->cluster_memory && (shape->density == CUDA_SPARSE || engine->tests_clusters) &&
           engine->batches->memory_in_cluster(shape) <= engine->cluster_memory;
}

/* Frames with the same key can be launched together, and it is worth it. Every frame gets as many blocks as the largest has
 * tiles, so sizes may differ by a factor of about four at most. */
static uint32_t key_of(const CudaEngine *engine, const CudaSlot *slot)
{
    const CudaShape *const shape = &slot->frame.shape;
    const uint64_t pixels = (uint64_t)shape->width * shape->height;
    const uint32_t magnitude = (63 - (uint32_t)__builtin_clzll(pixels)) / 2;
    return magnitude << 7 | is_clustered(engine, shape) << 6 | shape->label_mode << 4 | shape->keep_all << 3 |
           (shape->form != CUDA_PIXELS) << 2 | (slot->context->config.connectivity == CCL_CONNECT_8);
}

/* A batch at its launch: its frames, sorted by group. */
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

static void insert_sorted(Launch *launch, CudaSlot *slot)
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

/* Whether most frames of the group are expected to be dense. Both ways of launching give the same results. */
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
        launch->workspaces[i] = engine->batch_workspaces[(engine->next_batch_workspace + i) % engine->n_batch_workspaces];
    }
    engine->next_batch_workspace = (engine->next_batch_workspace + launch->n) % engine->n_batch_workspaces;
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
    CCL_TRY(cuda_graph_begin(&graph->captured, stream));
    launch->launcher.capture = &graph->captured;
    launch->launcher.notes_all = true;
    const CclStatus status = launch_kernels(launch, false);
    launch->launcher.capture = NULL;
    return cuda_graph_end(&graph->captured, stream, status);
}

static CclStatus set_node(const CudaGraph *graph, unsigned i, CudaListedLaunch *listed)
{
    void *arguments[CUDA_MAX_PARAMETERS];
    cudaKernelNodeParams params = graph->nodes[i].params;
    for (unsigned k = 0; k < listed->n_arguments; k++)
        arguments[k] = listed->values + listed->places[k];
    params.gridDim = listed->threads.grid;
    params.blockDim = dim3(listed->threads.block);
    params.sharedMemBytes = (unsigned)listed->threads.shared;
    params.kernelParams = arguments;
    CCL_CUDA_TRY(cudaGraphExecKernelNodeSetParams(graph->exec, graph->nodes[i].node, &params));
    return CCL_OK;
}

static bool same_kernels(const CudaLaunchList *a, const CudaLaunchList *b)
{
    bool same = a->n == b->n;
    for (unsigned i = 0; same && i < a->n; i++)
        same = a->kernels[i].kernel == b->kernels[i].kernel;
    return same;
}

/* The graph of these kernels, or the least recently used one. */
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

/* Sets the graph to the launches in `list`. A new set of kernels gets no graph yet: `captured` stays empty. */
static CclStatus prepare_graph(CudaBatchGraph *graph, Launch *launch, CudaLaunchList *list)
{
    if (!same_kernels(&graph->set, list)) {
        cuda_graph_drop(&graph->captured);
        graph->set = *list;
        return CCL_OK;
    }
    if (!graph->captured.exec) {
        CCL_TRY(capture_batch(graph, launch));
        graph->set = *list;
        return CCL_OK;
    }
    for (unsigned i = 0; i < list->n; i++)
        if (memcmp(&graph->set.kernels[i], &list->kernels[i], sizeof list->kernels[i])) {
            CCL_TRY(set_node(&graph->captured, i, &list->kernels[i]));
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
    if (engine->no_graphs || !graph || !graph->captured.exec)
        return launch_kernels(launch, false);
    CCL_CUDA_TRY(cudaGraphLaunch(graph->captured.exec, launch->launcher.stream));
    return CCL_OK;
}

/* ---------------------------------------------------------------- what the scheduler asks for */

static bool arrived(void *device, const CclTicket *ticket)
{
    const CudaSlot *const slot = (const CudaSlot *)ticket->frame;
    (void)device;
    return !slot->uploads || cuda_poll_event(slot->uploaded) != cudaErrorNotReady;
}

/* Whether a batch is launched as a frame alone, in its stream slot. Batches that run at once need workspaces of their own. */
static bool goes_alone(const CudaEngine *engine, unsigned n)
{
    const bool is_rare = !cuda_engine_has_many_contexts(engine) && !engine->tests_clusters;
    const unsigned n_slots = __atomic_load_n(&engine->n_slots, __ATOMIC_RELAXED); /* contexts may join or leave meanwhile */
    return n == 1 && (is_rare || engine->n_batch_workspaces < min(n_slots, CCL_MAX_BATCHES));
}

/* The rows of a mask that are still to be packed. Kernels for batches do not wait for the host, as with CUDA_BITS_AWAITED. */
static CclStatus assemble_bits(CudaSlot *slot, cudaStream_t stream)
{
    if (slot->frame.shape.form == CUDA_BITS_AWAITED) {
        slot->frame.shape.form = CUDA_BITS_ASSEMBLED;
        slot->frame.vars.mask = slot->d_mask;
    }
    return cuda_assemble_bits(slot, stream);
}

/* Registers the completion flags of a batch: the kernel of each frame with a cluster sets one. */
static void expect_flags(Launch *launch, unsigned index)
{
    CudaEngine *const engine = launch->engine;
    for (unsigned i = 0; i < launch->n; i++)
        if (!is_clustered(engine, &launch->slots[i]->frame.shape))
            return;
    for (unsigned i = 0; i < launch->n; i++) {
        launch->slots[i]->h_result->complete = 0;
        engine->flags[index][i] = &launch->slots[i]->h_result->complete;
    }
    engine->n_flags[index] = launch->n;
    engine->has_all_flags[index] = true;
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
        insert_sorted(&launch, (CudaSlot *)tickets[i]->frame);

    engine->n_flags[index] = 0;
    engine->has_all_flags[index] = false;
    if (goes_alone(engine, n)) {
        engine->flags[index][0] = cuda_completion_flag(launch.slots[0]);
        engine->n_flags[index] = engine->flags[index][0] != NULL;
        CCL_TRY(cuda_launch_slot(launch.slots[0]));
        launch.launcher.stream = launch.slots[0]->frame.stream;
    } else {
        for (unsigned i = 0; i < n; i++) {
            CCL_TRY(cuda_stream_awaits_mask(launch.slots[i], launch.launcher.stream));
            CCL_TRY(assemble_bits(launch.slots[i], launch.launcher.stream));
        }
        expect_flags(&launch, index);
        CCL_TRY(launch_groups(&launch));
        engine->launched[index] = std::chrono::steady_clock::now();
    }
    return cuda_record_done(launch.slots, n, launch.launcher.stream, &engine->computed[index],
                             &engine->done[index]);
}

/* When a batch has failed, the memory of its frames belongs to their callers again: no operation in flight may still use it. */
static CclStatus end_failed(CudaEngine *engine, CclStatus status)
{
    if (status != CCL_OK)
        cuda_engine_synchronize(engine);
    return status;
}

static CclStatus launch_batch(void *device, unsigned index, CclTicket *const *tickets, unsigned n)
{
    CudaEngine *const engine = (CudaEngine *)device;
    return end_failed(engine, launch_tickets(engine, index, tickets, n));
}

/* For this time only the flags of a batch are polled. Later its event is polled too, in case of a fault. Each poll of an event
 * takes the driver's lock, and some tenths of a microsecond for every frame that is submitted meanwhile. */
#define FLAGS_ALONE_US 200

/* An error counts as the end: waiting reports it. */
static bool ended(void *device, unsigned index)
{
    const CudaEngine *const engine = (CudaEngine *)device;
    if (cuda_flags_are_set(engine->flags[index], engine->n_flags[index]))
        return true;
    if (engine->has_all_flags[index] &&
        std::chrono::steady_clock::now() - engine->launched[index] < std::chrono::microseconds(FLAGS_ALONE_US))
        return false;
    return cuda_poll_event(engine->done[index]) != cudaErrorNotReady;
}

static CclStatus wait_for_batch(CudaEngine *engine, unsigned index)
{
    CCL_CUDA_TRY(cuda_wait(engine->done[index], engine->flags[index], engine->n_flags[index], &engine->waiter));
    return CCL_OK;
}

static CclStatus wait(void *device, unsigned index)
{
    CudaEngine *const engine = (CudaEngine *)device;
    return end_failed(engine, wait_for_batch(engine, index));
}

const CclSchedulerDevice cuda_batch_calls = { arrived, launch_batch, ended, wait };
