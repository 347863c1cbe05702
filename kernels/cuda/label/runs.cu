/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Runs of bit rows: our own method, from mask to table and label image.
 *
 * The mask is packed to one bit per pixel, and the nodes of the union-find are the runs inside 64-bit words: far fewer
 * than pixels or blocks, found and ranked with a handful of bit operations. Every run is linked to a run before it
 * without atomics (after Komura, "GPU-based cluster-labeling algorithm without the use of conventional iteration",
 * Computer Physics Communications 2015); only pairs that this leaves open are united, first inside a band of rows in
 * shared memory, then between bands. Threads take runs, not words: of the words most have none and some have many.
 * Nodes are in raster order and the smallest is the root, so components come out numbered by their first pixels. Of
 * tiles with very many runs, 8-connected, those of two rows are nodes together: strips.cuh.
 *
 *     solve    pack a tile and the row above it, or wait for the host to pack them; link and unite its runs, in shared memory
 *              or, where there is no room for so many, in global memory
 *     join     shorten the ways up from band to band; unite what the bands joined, and runs cut by a tile's edge
 *     number   the roots are ranked, a chunk of words at a time
 *     measure  sums per component; labels; rows of the table, in host memory, of components inside one tile. Of a frame
 *              alone that somebody waits for its last block writes the other rows as well, if they are few, and tells the host:
 *              end.cuh
 *     rows     sums -> the other rows
 *
 * A filter adds two steps: measure, then for area and box alone, comes before
 *
 *     keep     components that pass are numbered on
 *
 * Frames of a batch are launched together: every kernel then has a list of them. If their tables alone are wanted one
 * kernel does it all where a device has clusters of blocks: whole.cuh.
 *
 * Each kernel but the first is launched while the one before it ends and then waits for it (programmatic dependent launch, sm_90): no
 * kernel writes, or but for measure reads what others write, before its wait. Only solve and join let their successor start
 * earlier than by ending: blocks that wait for long end up beside each other on few multiprocessors. Of a frame that is
 * launched by itself number does, too, but not before solve and join have ended: so measure may read what solve has written.
 */
#include "cuda/runs/join.cuh"
#include "cuda/runs/measure.cuh"
#include "cuda/runs/rows.cuh"
#include "cuda/runs/solve.cuh"
#include "cuda/runs/whole.cuh"

/* ---------------------------------------------------------------- launch */

static size_t take(size_t *used, size_t bytes)
{
    const size_t at = *used;
    *used += (bytes + 255) / 256 * 256;
    return at;
}

/* The runs of a tile that are nodes. */
static uint32_t max_runs(void)
{
    static const uint32_t n = limit_of(MAX_RUNS, getenv("CCL_TEST_STRIPS"));
    return n;
}

/* Per multiprocessor; see launch_all() and room_of_tile(). */
#define SMALL_TILES 2u
#define SMALL_LANES 2u
#define LOOSE_TILES 6u

#define MAX_AT_A_LINE 2u /* tiles that look over the bus at the same line, a microsecond each */

#define NUMBER_WORDS 4u /* of a thread of number, in batches: a block then takes less of its time to start */

/* CudaRoom.of */
enum { ROOM_ROWS, ROOM_COMPONENTS, ROOM_WORDS, ROOM_BORDER_WORDS, ROOM_TILES };

static uint32_t tiles_x_of(uint32_t width)
{
    return (row_words_of(width) + 31) / 32;
}

static uint32_t bands_of(uint32_t height)
{
    return (height + TILE_ROWS - 1) / TILE_ROWS;
}

static CudaRoom room_for(const CclContext *context)
{
    const CclConfig *const config = &context->config;
    CudaRoom room = {};
    room.of[ROOM_ROWS] = context->capacity;
    room.of[ROOM_COMPONENTS] = ccl_max_components(config->max_width, config->max_height, config->connectivity);
    room.of[ROOM_WORDS] = (size_t)row_words_of(config->max_width) * config->max_height;
    room.of[ROOM_BORDER_WORDS] = (size_t)row_words_of(config->max_width) * bands_of(config->max_height);
    room.of[ROOM_TILES] = (size_t)tiles_x_of(config->max_width) * bands_of(config->max_height);
    return room;
}

/* Lays out the workspace, the same for every frame that it has room for, and returns its bytes. So what must stay zero
 * between frames stays in its place. */
static size_t lay_out(Plan *plan, uint8_t *workspace, const CudaRoom *room)
{
    const size_t n_words = room->of[ROOM_WORDS], n_border_words = room->of[ROOM_BORDER_WORDS];
    const size_t n_tiles = room->of[ROOM_TILES];
    const size_t n_rows = room->of[ROOM_ROWS], most = room->of[ROOM_COMPONENTS];
    size_t used = 0;

    plan->counts = (Counts *)(workspace + take(&used, sizeof(Counts)));
    plan->sums = (Sums *)(workspace + take(&used, n_rows * sizeof(Sums)));
    plan->extents = (Extent *)(workspace + take(&used, most * sizeof(Extent)));
    const size_t n_keep_words = SCAN_WORDS(blocks_for(most, KEEP_THREADS));
    plan->keep_scan = (uint32_t *)(workspace + take(&used, n_keep_words * sizeof(uint32_t)));
    plan->finals = (uint32_t *)(workspace + take(&used, max(most, n_border_words * COLUMN_SLOTS) * sizeof(uint32_t)));
    plan->chunk_counts = (uint32_t *)(workspace + take(&used, MAX_CHUNKS * sizeof(uint32_t)));
    plan->added = (uint32_t *)(workspace + take(&used, MAX_ADDED * sizeof(uint32_t)));
    plan->bits = (uint64_t *)(workspace + take(&used, n_words * sizeof(uint64_t)));
    plan->roots = (uint2 *)(workspace + take(&used, n_words * sizeof(uint2)));
    plan->runs = (uint32_t *)(workspace + take(&used, n_tiles * TILE_RUNS * sizeof(uint32_t)));
    plan->n_runs = (uint32_t *)(workspace + take(&used, n_tiles * sizeof(uint32_t)));
    plan->first_runs = (uint16_t *)(workspace + take(&used, n_words * sizeof(uint16_t)));
    plan->parents = (uint32_t *)(workspace + take(&used, n_words * 32 * sizeof(uint32_t)));
    plan->border = (uint2 *)(workspace + take(&used, n_border_words * sizeof(uint2)));
    plan->partners = (uint32_t *)(workspace + take(&used, n_border_words * 32 * sizeof(uint32_t)));
    return used;
}

static size_t workspace_size(const CudaRoom *room)
{
    Plan plan;
    return lay_out(&plan, NULL, room);
}

/* words_each: of a thread of number, at least. */
static Plan plan_for(const CclContext *context, void *workspace, const CudaRoom *room, uint32_t width, uint32_t height,
                     uint32_t words_each)
{
    Plan plan;
    plan.width = width;
    plan.height = height;
    plan.row_words = row_words_of(width);
    plan.tiles_x = tiles_x_of(width);
    plan.bands = bands_of(height);
    const size_t n_words = (size_t)plan.row_words * height;
    plan.chunk_words = NUMBER_THREADS * max(blocks_for(n_words, NUMBER_THREADS * MAX_CHUNKS), words_each);
    plan.n_chunks = blocks_for(n_words, plan.chunk_words);
    plan.capacity = context->capacity;
    plan.max_runs = max_runs();
    plan.slots = test_limit(SLOTS);
    plan.near_pairs = test_limit(NEAR_PAIRS);
    plan.near_labels = test_limit(NEAR_LABELS);
    plan.max_added = test_limit(MAX_ADDED);
    lay_out(&plan, (uint8_t *)workspace, room);
    return plan;
}

static Job job_for(const CclContext *context, const CudaFrame *frame, void *workspace, const CudaRoom *room,
                   CudaVars *vars, uint32_t words_each)
{
    return Job{ plan_for(context, workspace, room, frame->shape.width, frame->shape.height, words_each), vars,
                frame->rows, frame->result };
}

/* Blocks of each kernel. */
typedef struct Grids {
    dim3 solve, join, number, measure, keep, rows;
} Grids;

static Grids grids_for(const Plan *plan, unsigned multiprocessors)
{
    const uint32_t n_sides = plan->tiles_x > 1 ? blocks_for(plan->height, JOIN_THREADS) : 0;
    Grids grids;
    grids.solve = dim3(plan->tiles_x, plan->bands);
    grids.join = dim3(plan->tiles_x, plan->bands - 1 + n_sides);
    grids.number = dim3(plan->n_chunks);
    grids.measure = dim3(plan->tiles_x, plan->bands);
    grids.keep = dim3(2 * multiprocessors);
    grids.rows = dim3(min(blocks_for((size_t)plan->capacity * 4, ROWS_THREADS), 128u));
    return grids;
}

/* The launches for a frame, or for all of a list. */
template <bool EIGHT, uint32_t LANES, typename Jobs>
static CclStatus launch_with(CudaFrame *frame, const CudaShape *shape, const Jobs &jobs, const Grids &grids)
{
    const bool labels = shape->label_mode != CUDA_LABELS_NONE, filtered = !shape->keep_all;
    const unsigned brief = CUDA_OVERLAP | CUDA_AHEAD; /* for all but solve and measure */
    const auto run_measure = [&](const char *name, void (*kernel)(const Jobs)) {
        return cuda_launch(frame, name, CUDA_OVERLAP, kernel, grids.measure, MEASURE_THREADS(LANES), 0, jobs);
    };

    const bool all = jobs.room.slots >= RUN_SLOTS; /* with two lanes to a word always, but in tests */
    const auto run_solve = [&](auto all_runs, auto few_runs, const auto &given) {
        return cuda_launch(frame, "solve", CUDA_AFTER, all ? all_runs : few_runs, grids.solve, SOLVE_THREADS(LANES),
                           jobs.room.slots * sizeof(uint32_t), given, jobs);
    };
    const CudaVars given = Jobs::MANY ? CudaVars{} : frame->vars;
    if (shape->form == CUDA_PIXELS)
        CCL_TRY(run_solve(solve<EIGHT, LANES, SOLVE_PIXELS, true, Jobs>, solve<EIGHT, LANES, SOLVE_PIXELS, false, Jobs>, given));
    else if (Jobs::MANY || LANES != SMALL_LANES || shape->form != CUDA_BITS_AWAITED) /* see awaited_rows() */
        CCL_TRY(run_solve(solve<EIGHT, LANES, SOLVE_BITS, true, Jobs>, solve<EIGHT, LANES, SOLVE_BITS, false, Jobs>, given));
    else if constexpr (!Jobs::MANY && LANES == SMALL_LANES)
        CCL_TRY(run_solve(solve<EIGHT, LANES, SOLVE_AWAITED, true, Jobs>, solve<EIGHT, LANES, SOLVE_AWAITED, false, Jobs>,
                          CudaAwaited{ given, *frame->pieces }));
    if (grids.join.y)
        CCL_TRY(cuda_launch(frame, "join", brief, join<EIGHT, Jobs>, grids.join, JOIN_THREADS, 0, jobs));
    CCL_TRY(cuda_launch(frame, "number", brief, number<Jobs>, grids.number, NUMBER_THREADS, 0, jobs));
    if (filtered) {
        CCL_TRY(run_measure("find", measure<PASS_FIND, false, LANES, Jobs>));
        CCL_TRY(cuda_launch(frame, "keep", brief, keep<Jobs>, grids.keep, KEEP_THREADS, 0, jobs));
        CCL_TRY(run_measure("measure",
                            labels ? measure<PASS_KEPT, true, LANES, Jobs> : measure<PASS_KEPT, false, LANES, Jobs>));
    } else {
        CCL_TRY(run_measure("measure",
                            labels ? measure<PASS_ALL, true, LANES, Jobs> : measure<PASS_ALL, false, LANES, Jobs>));
    }
    return cuda_launch(frame, "rows", brief, write_rows<Jobs>, grids.rows, ROWS_THREADS, 0, jobs, filtered);
}

/* Few tiles leave multiprocessors idle; then more lanes share the work of a word. */
template <typename Jobs>
static CclStatus launch_all(CudaFrame *frame, const CudaShape *shape, CclConnectivity connectivity,
                            unsigned multiprocessors, const Jobs &jobs, const Grids &grids, uint32_t n_tiles)
{
    const bool small = n_tiles <= SMALL_TILES * multiprocessors;
    if (connectivity == CCL_CONNECT_8)
        return small ? launch_with<true, SMALL_LANES>(frame, shape, jobs, grids)
                     : launch_with<true, 1>(frame, shape, jobs, grids);
    return small ? launch_with<false, SMALL_LANES>(frame, shape, jobs, grids)
                 : launch_with<false, 1>(frame, shape, jobs, grids);
}

/* Where each multiprocessor has many tiles, how many run at once depends on their shared memory: each gets room for few
 * runs. Those with more are solved in global memory, which takes far longer. So after masks that had such tiles each gets
 * room for all. */
static TileRoom room_of_tile(uint32_t n_tiles, unsigned multiprocessors, uint32_t density)
{
    if (n_tiles <= test_limit(LOOSE_TILES * multiprocessors))
        return TileRoom{ RUN_SLOTS, RUN_SLOTS };
    return TileRoom{ test_limit(density == CUDA_DENSE ? RUN_SLOTS : FEW_RUNS), test_limit(FEW_RUNS) };
}

/* All tiles that wait are to run at once, and to leave room for kernels of others. Those side by side look at the same line. */
static uint32_t awaited_rows(const CclContext *context, uint32_t width, uint32_t height)
{
    const uint32_t bands = bands_of(height), tiles_x = tiles_x_of(width);
    const bool few = tiles_x * bands <= SMALL_TILES * cuda_multiprocessors(context) && bands <= MAX_READY;
    return few && tiles_x <= MAX_AT_A_LINE ? TILE_ROWS : 0;
}

static CclStatus analyze(CclContext *context, CclFrame *ccl_frame)
{
    CudaFrame *const frame = cuda_frame(ccl_frame);
    const unsigned multiprocessors = cuda_multiprocessors(context);
    Alone alone = { job_for(context, frame, cuda_workspace(context), cuda_room(context), frame->kept, 1), {} };
    const Plan *const plan = &alone.job.plan;
    const uint32_t n_tiles = plan->tiles_x * plan->bands;
    alone.room = room_of_tile(n_tiles, multiprocessors, frame->shape.density);
    return launch_all(frame, &frame->shape, context->config.connectivity, multiprocessors, alone,
                      grids_for(plan, multiprocessors), n_tiles);
}

/* ---------------------------------------------------------------- batches: a frame by a cluster */

/* [8-connected << 1 | packed] */
template <uint32_t MOST, bool FILTERED> struct Wholes {
    typedef void Kernel(Pieces, Frames<MOST, FILTERED>);
    static constexpr Kernel *of[4] = { whole<false, false, MOST, FILTERED>, whole<false, true, MOST, FILTERED>,
                                      whole<true, false, MOST, FILTERED>, whole<true, true, MOST, FILTERED> };
};

template <uint32_t MOST, bool FILTERED> static cudaError_t allow_clusters(size_t memory)
{
    cudaError_t error = cudaSuccess;
    for (const auto kernel : Wholes<MOST, FILTERED>::of) {
        if (error == cudaSuccess)
            error = cudaFuncSetAttribute(kernel, cudaFuncAttributeNonPortableClusterSizeAllowed, 1);
        if (error == cudaSuccess)
            error = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)memory);
    }
    return error;
}

static cudaError_t allow_all_clusters(size_t memory)
{
    const cudaError_t errors[] = { allow_clusters<FEW_FRAMES, false>(memory),
                                   allow_clusters<MANY_FRAMES(false), false>(memory),
                                   allow_clusters<FEW_FRAMES, true>(memory),
                                   allow_clusters<MANY_FRAMES(true), true>(memory) };
    for (const cudaError_t error : errors)
        if (error != cudaSuccess)
            return error;
    return cudaSuccess;
}

/* How many clusters of such blocks run at once? */
static cudaError_t count_clusters(size_t memory, int *n)
{
    cudaLaunchAttribute attribute = {};
    attribute.id = cudaLaunchAttributeClusterDimension;
    attribute.val.clusterDim.x = WHOLE_RANKS;
    attribute.val.clusterDim.y = attribute.val.clusterDim.z = 1;
    cudaLaunchConfig_t config = {};
    config.gridDim = dim3(WHOLE_RANKS);
    config.blockDim = dim3(WHOLE_THREADS);
    config.dynamicSmemBytes = memory;
    config.attrs = &attribute;
    config.numAttrs = 1;
    return cudaOccupancyMaxActiveClusters(n, Wholes<FEW_FRAMES, true>::of[0], &config);
}

/* *memory: of a block. Stays 0 where there are none. */
static cudaError_t ask_for_clusters(size_t *memory)
{
    cudaFuncAttributes attributes;
    int device = 0, most = 0, n = 0;
    cudaError_t error = cudaGetDevice(&device);
    if (error == cudaSuccess)
        error = cudaFuncGetAttributes(&attributes, Wholes<FEW_FRAMES, true>::of[0]);
    if (error == cudaSuccess)
        error = cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, device);
    if (error != cudaSuccess || attributes.ptxVersion < 90) /* not compiled for devices that have clusters */
        return error;
    const size_t size = (size_t)most - attributes.sharedSizeBytes;
    error = allow_all_clusters(size);
    if (error == cudaSuccess)
        error = count_clusters(size, &n);
    if (error == cudaSuccess && n)
        *memory = size;
    return error;
}

static size_t cluster_memory(void)
{
    size_t memory = 0;
    if (ask_for_clusters(&memory) != cudaSuccess)
        (void)cudaGetLastError(); /* there are other kernels */
    return memory;
}

static size_t memory_in_cluster(const CudaShape *shape)
{
    const size_t bare = bare_piece(shape->width, shape->height, WHOLE_THREADS);
    return shape->label_mode != CUDA_LABELS_NONE || bare == ~(size_t)0 ? ~(size_t)0 : bare + PIECE_RUNS * RUN_MEMORY;
}

/* A block of a launch. */
typedef struct PieceSize {
    uint32_t n_threads;
    uint32_t n_runs; /* that there is room for */
    size_t memory;
} PieceSize;

/* Small, if all frames fit: then with all the runs that there is room for. Tests with little room are to see large ones. */
static PieceSize piece_size(const CudaBatch *batch, unsigned begin, unsigned n)
{
    const bool tests_little = test_limit(~0u) != ~0u;
    size_t small = tests_little ? SMALL_PIECE : 0, large = 0;
    for (unsigned i = begin; i < begin + n; i++) {
        const CudaShape *const shape = &batch->frames[i]->shape;
        small = max(small, bare_piece(shape->width, shape->height, SMALL_PIECE_THREADS));
        large = max(large, bare_piece(shape->width, shape->height, WHOLE_THREADS));
    }
    if (small > SMALL_PIECE - SMALL_PIECE_RUNS * RUN_MEMORY)
        return PieceSize{ WHOLE_THREADS, PIECE_RUNS, large + PIECE_RUNS * RUN_MEMORY };
    const uint32_t n_runs = (uint32_t)min((size_t)PIECE_RUNS, (SMALL_PIECE - small) / RUN_MEMORY);
    return PieceSize{ SMALL_PIECE_THREADS, n_runs, small + n_runs * RUN_MEMORY };
}

static FrameJob frame_job_of(const CclContext *context, const CudaFrame *frame, void *workspace)
{
    const CudaVars *const vars = &frame->vars;
    FrameJob job = {};
    job.mask = vars->mask.pointer;
    job.mask_stride = vars->mask_stride;
    job.workspace = (uint8_t *)workspace;
    job.rows = frame->rows;
    job.result = frame->result;
    job.width = (uint16_t)frame->shape.width;
    job.height = (uint16_t)frame->shape.height;
    job.threshold = (uint8_t)min(vars->threshold, 255u);
    job.invert = vars->invert != 0;
    job.flagged = vars->limits.border == CCL_BORDER_FLAG;
    job.capacity = context->capacity;
    return job;
}

/* So many frames of a batch. */
template <uint32_t MOST, bool FILTERED>
static CclStatus launch_some(const CudaBatch *batch, unsigned begin, unsigned n)
{
    Plan plan;
    lay_out(&plan, NULL, batch->room);
    const PieceSize size = piece_size(batch, begin, n);
    const Pieces pieces = { { test_limit(size.n_runs), test_limit(PIECE_PARTS), test_limit(PIECE_PAIRS) },
                            (size_t)plan.sums.pointer, (size_t)plan.extents.pointer, (size_t)plan.parents.pointer,
                            (size_t)plan.runs.pointer };
    Frames<MOST, FILTERED> frames = {};
    for (unsigned i = 0; i < n; i++) {
        const CudaFrame *const frame = batch->frames[begin + i];
        frames.of[i] = frame_job_of(batch->contexts[begin + i], frame, batch->workspaces[begin + i]);
        if (FILTERED)
            frames.limits[i] = frame->vars.limits;
    }
    const auto kernel =
        Wholes<MOST, FILTERED>::of[(batch->connectivity == CCL_CONNECT_8) << 1 | (batch->shape.form != CUDA_PIXELS)];
    return cuda_launch_clusters(batch->launcher, "whole", kernel, dim3(WHOLE_RANKS, 1, n), size.n_threads,
                                size.memory, pieces, frames);
}

template <bool FILTERED> static CclStatus launch_whole(const CudaBatch *batch)
{
    const unsigned n_launches = blocks_for(batch->n, MANY_FRAMES(FILTERED)), each = blocks_for(batch->n, n_launches);
    for (unsigned begin = 0, n; begin < batch->n; begin += n) {
        n = min(batch->n - begin, each);
        CCL_TRY(n > FEW_FRAMES ? (launch_some<MANY_FRAMES(FILTERED), FILTERED>(batch, begin, n))
                               : (launch_some<FEW_FRAMES, FILTERED>(batch, begin, n)));
    }
    return CCL_OK;
}

/* ---------------------------------------------------------------- batches */

static void describe(const CudaBatch *batch)
{
    BatchJob *const jobs = (BatchJob *)batch->jobs;
    BatchJob *const d_jobs = (BatchJob *)batch->d_jobs;
    for (unsigned i = 0; i < batch->n; i++) {
        jobs[i].job = job_for(batch->contexts[i], batch->frames[i], batch->workspaces[i], batch->room, &d_jobs[i].vars,
                              NUMBER_WORDS);
        jobs[i].vars = *batch->vars[i];
    }
}

static dim3 larger(dim3 a, dim3 b)
{
    return dim3(max(a.x, b.x), max(a.y, b.y), max(a.z, b.z));
}

/* Grids for all frames at once: blocks for the largest for each, so that the keepers and writers, whose number is free,
 * are shared out. */
static CclStatus launch_batch(const CudaBatch *batch)
{
    if (batch->clustered)
        return batch->shape.keep_all ? launch_whole<false>(batch) : launch_whole<true>(batch);
    CCL_TRY(cuda_fetch_jobs(batch, sizeof(BatchJob)));
    const BatchJob *const jobs = (const BatchJob *)batch->jobs;
    uint32_t n_tiles = 0;
    Grids all = {};
    for (unsigned i = 0; i < batch->n; i++) {
        const Plan *const plan = &jobs[i].job.plan;
        const Grids grids = grids_for(plan, max(1u, batch->multiprocessors / batch->n));
        n_tiles += plan->tiles_x * plan->bands;
        all.solve = larger(all.solve, grids.solve);
        all.join = i ? larger(all.join, grids.join) : grids.join;
        all.number = larger(all.number, grids.number);
        all.measure = larger(all.measure, grids.measure);
        all.keep = larger(all.keep, grids.keep);
        all.rows = larger(all.rows, grids.rows);
    }
    const Listed listed = { (const BatchJob *)batch->d_jobs,
                            room_of_tile(n_tiles, batch->multiprocessors, batch->shape.density) };
    all.rows.x = min(all.rows.x, max(2u, 256u / batch->n));
    dim3 *const every[] = { &all.solve, &all.join, &all.number, &all.measure, &all.keep, &all.rows };
    for (dim3 *grid : every)
        grid->z = batch->n;
    return launch_all(batch->launcher, &batch->shape, batch->connectivity, batch->multiprocessors, listed, all,
                      n_tiles);
}

static const CudaBatches batches = { room_for, workspace_size, sizeof(BatchJob), describe, launch_batch,
                                     cluster_memory, memory_in_cluster };

const CclAlgorithm ccl_cuda_runs = {
    .info = { .name = "runs", .title = "Runs of bit rows as union-find nodes", .paper = NULL,
              .backend = CCL_BACKEND_CUDA, .connectivity = CCL_CONNECT_4 | CCL_CONNECT_8 },
    .unit = "run",
    .takes_bits = true,
    .ends_early = true,
    .awaited_rows = awaited_rows,
    .analyze = analyze,
    .batches = &batches,
};
