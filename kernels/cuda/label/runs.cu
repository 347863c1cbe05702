/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Runs of bit rows: our own method, from mask to table and label image.
 *
 * The mask is packed to one bit per pixel. The nodes of the union-find are the runs inside 64-bit words. They are far fewer
 * than pixels or blocks, and a few bit operations find and rank them. Every run is linked to an earlier run without atomics
 * (after Komura, "GPU-based cluster-labeling algorithm without the use of conventional iteration", Computer Physics
 * Communications 2015). Only the remaining pairs are united, first inside a band of rows in shared memory, then between bands.
 * Threads take runs, not words, because most words have no run and some have many. Nodes are in raster order and the smallest
 * is the root, so components are numbered by their first pixels. In 8-connected tiles with very many runs, nodes are runs of
 * two rows together: strips.cuh.
 *
 *     solve    pack a tile and the row above it, or wait for the host to pack them; link and unite its runs, in shared memory
 *              or, where they exceed its capacity, in global memory
 *     join     shorten the paths from band to band; unite runs across bands, and runs cut by a tile's edge
 *     number   the roots are ranked, a chunk of words at a time
 *     measure  sums per component; labels; records, in host memory, of components inside one tile. If a thread waits for a
 *              frame alone, the last block also writes the other records, if they are few, and sets the completion flag: end.cuh
 *     rows     sums -> the other records
 *
 * A filter adds two steps between number and measure: a pass of measure for area and box only, and
 *
 *     keep     components that pass get the numbers
 *
 * Features add steps before measure and after rows: counts.cu, holes.cu.
 *
 * Frames of a batch are launched together: every kernel then has a list of them. If only their tables are wanted, and the
 * device has clusters of blocks, one kernel takes all steps: cluster/block.cuh.
 *
 * Each kernel except the first starts while the one before it ends, then waits for it (programmatic dependent launch, sm_90).
 * Before its wait, no kernel writes. Only measure and count_holes read data of other kernels before their wait. solve,
 * solve_inverse and join let their successor start before they end. Other kernels do not: blocks that wait for long gather on
 * few multiprocessors. For a frame that is launched alone, number lets its successor start too, but not before solve and join
 * have ended. So both may read what solve has written.
 */
#include "cuda/runs/cluster/launch.cuh"
#include "cuda/runs/launch.cuh"
#include "cuda/scan.cuh"

/* ---------------------------------------------------------------- launch */

static size_t take(size_t *used, size_t bytes)
{
    const size_t at = *used;
    *used += (bytes + 255) / 256 * 256;
    return at;
}

/* Maximum number of runs of a tile that are nodes. */
static uint32_t max_runs(void)
{
    return limit_of(MAX_RUNS, ccl_test_switches()->max_strip_runs);
}

/* Per multiprocessor; see launch_all() and tile_capacity(). */
#define SMALL_TILES 2u
#define LOOSE_TILES 6u

#define MAX_AT_A_LINE 2u /* tiles that poll the same line over the bus, 1 us each */

#define NUMBER_WORDS 4u /* of a thread of number, in batches: so the start takes a smaller part of a block's time */

/* CudaCapacity.of */
enum {
    CAPACITY_ROWS,
    CAPACITY_COMPONENTS,
    CAPACITY_WORDS,
    CAPACITY_BORDER_WORDS,
    CAPACITY_GLOBAL_WORDS, /* border words of tiles that may be solved in global memory */
    CAPACITY_TILES,
};

static uint32_t tiles_x_of(uint32_t width)
{
    return (padded_row_words(width) + 31) / 32;
}

static uint32_t bands_of(uint32_t height)
{
    return (height + TILE_ROWS - 1) / TILE_ROWS;
}

static CudaCapacity capacity_for(const CclContext *context)
{
    const CclConfig *const config = &context->config;
    CudaCapacity capacity = {};
    capacity.of[CAPACITY_ROWS] = context->capacity;
    capacity.of[CAPACITY_COMPONENTS] = ccl_max_components(config->max_width, config->max_height, config->connectivity);
    capacity.of[CAPACITY_WORDS] = (size_t)padded_row_words(config->max_width) * config->max_height;
    capacity.of[CAPACITY_BORDER_WORDS] = (size_t)padded_row_words(config->max_width) * bands_of(config->max_height);
    capacity.of[CAPACITY_GLOBAL_WORDS] = capacity.of[CAPACITY_BORDER_WORDS];
    capacity.of[CAPACITY_TILES] = (size_t)tiles_x_of(config->max_width) * bands_of(config->max_height);
    return capacity;
}

/* Lays out the workspace, the same way for every frame within the capacity, and returns its size in bytes. So data that must
 * stay zero between frames stays at its offset. */
static size_t lay_out(Plan *plan, uint8_t *workspace, const CudaCapacity *capacity)
{
    const size_t n_words = capacity->of[CAPACITY_WORDS], n_border_words = capacity->of[CAPACITY_BORDER_WORDS];
    const size_t n_tiles = capacity->of[CAPACITY_TILES], n_slots = capacity->of[CAPACITY_GLOBAL_WORDS] * COLUMN_SLOTS;
    const size_t n_rows = capacity->of[CAPACITY_ROWS], max_components = capacity->of[CAPACITY_COMPONENTS];
    size_t used = 0;

    plan->counts = (Counts *)(workspace + take(&used, sizeof(Counts)));
    plan->sums = (Sums *)(workspace + take(&used, n_rows * sizeof(Sums)));
    plan->extents = (Extent *)(workspace + take(&used, max_components * sizeof(Extent)));
    const size_t n_keep_words = SCAN_WORDS(blocks_for(max_components, KEEP_THREADS));
    plan->keep_scan = (uint32_t *)(workspace + take(&used, n_keep_words * sizeof(uint32_t)));
    plan->finals = (uint32_t *)(workspace + take(&used, max(max_components, n_slots) * sizeof(uint32_t)));
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

static size_t workspace_size(const CudaCapacity *capacity)
{
    Plan plan;
    return lay_out(&plan, NULL, capacity);
}

/* words_each: minimum for a thread of number. */
static Plan plan_for(const CclContext *context, void *workspace, const CudaCapacity *capacity, uint32_t width, uint32_t height,
                     uint32_t words_each)
{
    Plan plan;
    plan.width = width;
    plan.height = height;
    plan.row_words = padded_row_words(width);
    plan.tiles_x = tiles_x_of(width);
    plan.bands = bands_of(height);
    const size_t n_words = (size_t)plan.row_words * height;
    plan.chunk_words = NUMBER_THREADS * max(blocks_for(n_words, NUMBER_THREADS * MAX_CHUNKS), words_each);
    plan.n_chunks = blocks_for(n_words, plan.chunk_words);
    plan.capacity = context->capacity;
    plan.max_runs = max_runs();
    plan.slots = test_limit(SLOTS);
    plan.shared_pairs = test_limit(SHARED_PAIRS);
    plan.shared_labels = test_limit(SHARED_LABELS);
    plan.max_added = test_limit(MAX_ADDED);
    lay_out(&plan, (uint8_t *)workspace, capacity);
    return plan;
}

static Job job_for(const CclContext *context, const CudaFrame *frame, void *workspace, const CudaCapacity *capacity,
                   CudaVars *vars, uint32_t words_each)
{
    return Job{ plan_for(context, workspace, capacity, frame->shape.width, frame->shape.height, words_each), vars,
                frame->records, frame->result };
}

/* Blocks of each kernel. */
typedef struct Grids {
    dim3 solve, join, number, measure, keep, rows;
    const WithInverse *both; /* with CCL_FEATURE_HOLES, and the next */
    TileCapacity inverse_capacity;
} Grids;

static Grids grids_for(const Plan *plan, unsigned multiprocessors)
{
    const uint32_t n_sides = plan->tiles_x > 1 ? blocks_for(plan->height, JOIN_THREADS) : 0;
    Grids grids = {};
    grids.solve = dim3(plan->tiles_x, plan->bands);
    grids.join = dim3(plan->tiles_x, plan->bands - 1 + n_sides);
    grids.number = dim3(plan->n_chunks);
    grids.measure = dim3(plan->tiles_x, plan->bands);
    grids.keep = dim3(2 * multiprocessors);
    grids.rows = dim3(min(blocks_for((size_t)plan->capacity * 4, ROWS_THREADS), 128u));
    return grids;
}

/* The counts of features. Contexts that have some launch no batches. */
static CclStatus launch_features(CudaFrame *frame, const Alone &jobs, const Grids &grids, bool eight, bool filtered)
{
    CCL_TRY(launch_counts(frame, jobs, grids.measure, eight, filtered));
    return grids.both ? launch_count_holes(frame, *grids.both, grids.measure, filtered) : CCL_OK;
}

static CclStatus launch_features(CudaFrame *, const Listed &, const Grids &, bool, bool)
{
    return CCL_OK;
}

static CclStatus launch_written_counts(CudaFrame *, const Listed &)
{
    return CCL_OK;
}

template <bool EIGHT, typename Jobs> static CclStatus launch_numbering(CudaFrame *frame, const Jobs &jobs, const Grids &grids)
{
    if (grids.join.y)
        CCL_TRY(launch_join<EIGHT>(frame, jobs, grids.join));
    return launch_number(frame, jobs, grids.number);
}

/* Of the mask and its inverse, after solve for the mask. */
template <bool EIGHT, uint32_t LANES> static CclStatus launch_numbering_of_both(CudaFrame *frame, const Grids &grids)
{
    dim3 join = grids.join;
    join.z = 2;
    CCL_TRY((launch_solve_inverse<!EIGHT, LANES>(frame, *grids.both, grids.inverse_capacity, grids.solve)));
    if (join.y)
        CCL_TRY(launch_join<EIGHT>(frame, *grids.both, join));
    return launch_number_both(frame, *grids.both);
}

/* The launches for one frame, or for a list of frames. */
template <bool EIGHT, uint32_t LANES, typename Jobs>
static CclStatus launch_with(CudaFrame *frame, const CudaShape *shape, const Jobs &jobs, const Grids &grids)
{
    const bool labels = shape->label_mode != CUDA_LABELS_NONE, filtered = !shape->keep_all;
    CCL_TRY((launch_solve<EIGHT, LANES>(frame, shape, jobs, grids.solve)));
    if (grids.both)
        CCL_TRY((launch_numbering_of_both<EIGHT, LANES>(frame, grids)));
    else
        CCL_TRY(launch_numbering<EIGHT>(frame, jobs, grids));
    if (filtered) {
        CCL_TRY(launch_measure<LANES>(frame, PASS_FIND, false, jobs, grids.measure));
        CCL_TRY(launch_keep(frame, jobs, grids.keep));
    }
    CCL_TRY(launch_features(frame, jobs, grids, EIGHT, filtered));
    CCL_TRY(launch_measure<LANES>(frame, filtered ? PASS_KEPT : PASS_ALL, labels, jobs, grids.measure));
    CCL_TRY(launch_rows(frame, jobs, grids.rows, filtered));
    return launch_written_counts(frame, jobs);
}

static bool is_small(uint32_t n_tiles, unsigned multiprocessors)
{
    return n_tiles <= SMALL_TILES * multiprocessors;
}

/* Few tiles leave multiprocessors idle. Then more lanes share the work of a word. */
template <typename Jobs>
static CclStatus launch_all(CudaFrame *frame, const CudaShape *shape, CclConnectivity connectivity, bool small,
                            const Jobs &jobs, const Grids &grids)
{
    if (connectivity == CCL_CONNECT_8)
        return small ? launch_with<true, SMALL_LANES>(frame, shape, jobs, grids)
                     : launch_with<true, 1>(frame, shape, jobs, grids);
    return small ? launch_with<false, SMALL_LANES>(frame, shape, jobs, grids)
                 : launch_with<false, 1>(frame, shape, jobs, grids);
}

/* If each multiprocessor has many tiles, shared memory limits how many run at once. So each tile gets capacity for few runs. A
 * tile with more runs is solved in global memory, which takes far longer. So after masks with such tiles, each tile gets
 * capacity for all runs. */
static TileCapacity tile_capacity(uint32_t n_tiles, unsigned multiprocessors, uint32_t density)
{
    if (n_tiles <= test_limit(LOOSE_TILES * multiprocessors))
        return TileCapacity{ RUN_SLOTS, RUN_SLOTS };
    return TileCapacity{ test_limit(density == CUDA_DENSE ? RUN_SLOTS : FEW_RUNS), test_limit(FEW_RUNS) };
}

/* All waiting tiles have to run at once, and to leave space for kernels of other streams. Neighbouring tiles poll the same
 * cache line. */
static uint32_t awaited_rows(const CclContext *context, uint32_t width, uint32_t height)
{
    const uint32_t bands = bands_of(height), tiles_x = tiles_x_of(width);
    const bool few = is_small(tiles_x * bands, cuda_multiprocessors(context)) && bands <= MAX_READY_BANDS;
    return few && tiles_x <= MAX_AT_A_LINE ? TILE_ROWS : 0;
}

/* ---------------------------------------------------------------- the inverse mask */

/* Its tiles have capacity for all runs, except in tests. */
static TileCapacity inverse_tile_capacity(void)
{
    return TileCapacity{ test_limit(RUN_SLOTS), RUN_SLOTS };
}

/* Its components have no table: holes.cu measures them. */
static CudaCapacity inverse_capacity(const CclContext *context)
{
    CudaCapacity capacity = *cuda_capacity(context);
    capacity.of[CAPACITY_ROWS] = capacity.of[CAPACITY_COMPONENTS] = 1;
    if (inverse_tile_capacity().slots == RUN_SLOTS)
        capacity.of[CAPACITY_GLOBAL_WORDS] = 0;
    return capacity;
}

size_t cuda_inverse_workspace_size(const CclContext *context)
{
    const CudaCapacity capacity = inverse_capacity(context);
    return workspace_size(&capacity);
}

static WithInverse with_inverse(const CclContext *context, const CudaFrame *frame, const Job &job)
{
    const CudaCapacity capacity = inverse_capacity(context);
    const CudaHoles *const holes = &frame->counts.holes;
    WithInverse both = { { job, Job{} }, holes->outside };
    both.jobs[1].plan = plan_for(context, holes->workspace, &capacity, frame->shape.width, frame->shape.height, 1);
    return both;
}

/* ---------------------------------------------------------------- a frame alone */

static CclStatus analyze(CclContext *context, CclFrame *ccl_frame)
{
    CudaFrame *const frame = cuda_frame(ccl_frame);
    const unsigned multiprocessors = cuda_multiprocessors(context);
    Alone alone = { job_for(context, frame, frame->workspace, cuda_capacity(context), frame->kept, 1), {} };
    const Plan *const plan = &alone.job.plan;
    const uint32_t n_tiles = plan->tiles_x * plan->bands;
    alone.capacity = tile_capacity(n_tiles, multiprocessors, frame->shape.density);
    Grids grids = grids_for(plan, multiprocessors);
    WithInverse both;
    if (frame->counts.holes.workspace) {
        both = with_inverse(context, frame, alone.job);
        grids.both = &both;
        grids.inverse_capacity = inverse_tile_capacity();
    }
    return launch_all(frame, &frame->shape, context->config.connectivity, is_small(n_tiles, multiprocessors), alone, grids);
}

/* ---------------------------------------------------------------- batches */

static void describe(const CudaBatch *batch)
{
    BatchJob *const jobs = (BatchJob *)batch->jobs;
    BatchJob *const d_jobs = (BatchJob *)batch->d_jobs;
    for (unsigned i = 0; i < batch->n; i++) {
        jobs[i].job = job_for(batch->contexts[i], batch->frames[i], batch->workspaces[i], batch->capacity, &d_jobs[i].vars,
                              NUMBER_WORDS);
        jobs[i].vars = *batch->vars[i];
    }
}

static dim3 larger(dim3 a, dim3 b)
{
    return dim3(max(a.x, b.x), max(a.y, b.y), max(a.z, b.z));
}

static CclStatus launch_in_clusters(const CudaBatch *batch)
{
    Plan plan;
    lay_out(&plan, NULL, batch->capacity);
    ClusterLaunch offsets = {};
    offsets.sums = (size_t)plan.sums.pointer;
    offsets.extents = (size_t)plan.extents.pointer;
    offsets.parents = (size_t)plan.parents.pointer;
    offsets.places = (size_t)plan.runs.pointer;
    return runs_launch_in_clusters(batch, offsets);
}

/* Grids for all frames at once, each with enough blocks for the largest frame. The blocks of keep and rows, whose number is
 * free, are divided among the frames. */
static CclStatus launch_batch(const CudaBatch *batch)
{
    if (batch->clustered)
        return launch_in_clusters(batch);
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
                            tile_capacity(n_tiles, batch->multiprocessors, batch->shape.density) };
    all.rows.x = min(all.rows.x, max(2u, 256u / batch->n));
    dim3 *const every[] = { &all.solve, &all.join, &all.number, &all.measure, &all.keep, &all.rows };
    for (dim3 *grid : every)
        grid->z = batch->n;
    return launch_all(batch->launcher, &batch->shape, batch->connectivity, is_small(n_tiles, batch->multiprocessors), listed,
                      all);
}

static const CudaBatches batches = { capacity_for, workspace_size, sizeof(BatchJob), describe, launch_batch,
                                     runs_cluster_memory, runs_memory_in_cluster };

const CclAlgorithm ccl_cuda_runs = {
    .info = { .name = "runs", .title = "Runs of bit rows as union-find nodes", .paper = NULL,
              .backend = CCL_BACKEND_CUDA, .connectivity = CCL_CONNECT_4 | CCL_CONNECT_8 },
    .unit = "run",
    .features_counted = CCL_FEATURE_SHAPE | CCL_FEATURE_HULL | CCL_FEATURE_HOLES | CCL_FEATURE_INTENSITY,
    .takes_bits = true,
    .sets_completion_flag = true,
    .awaited_rows = awaited_rows,
    .analyze = analyze,
    .batches = &batches,
};
