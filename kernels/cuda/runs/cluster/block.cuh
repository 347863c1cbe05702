/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * The cluster kernel of label/runs.cu: one thread block cluster (sm_90) processes a frame of a batch if only its table is
 * wanted. Each block takes some rows of the mask. It keeps its results in its shared memory, where the other blocks of the
 * cluster read them. So no step needs a launch of its own, and hardly any data goes through global memory.
 *
 *     load      mask -> bits; the number of runs
 *     link      runs of the block, as in runs/link.cuh: each run to an earlier one without atomics, then the remaining pairs
 *     sum       the shares of components in the block
 *     join      shares of neighbouring blocks
 *     number    roots, in raster order
 *     keep      with a filter: the components that pass, numbered again
 *     write     sums of shares of larger components; records of the others; records of the larger ones
 *
 * A block has capacity for a fixed number of runs, pairs and shares. If a frame exceeds it, it takes longer: the runs are in
 * global memory, the pairs are found twice, and the sums of each run go to global memory. So masks with many runs go to the
 * other kernels.
 */
#ifndef CCL_CUDA_RUNS_CLUSTER_BLOCK_CUH
#define CCL_CUDA_RUNS_CLUSTER_BLOCK_CUH

#include "cuda/runs/run_sums.cuh"
#include "cuda/scheduler.h"

/* tests/emulate uses smaller values, because there each thread is a thread of the host. */
#ifndef CLUSTER_BLOCKS
#define CLUSTER_BLOCKS 16u
#define CLUSTER_THREADS 768u /* maximum in a block */
#endif
#define CLUSTER_RESIDENT_BLOCKS (RESIDENT_THREADS / CLUSTER_THREADS) /* minimum on a multiprocessor */
#define MAX_BLOCK_RUNS 4096u   /* in shared memory */
#define MAX_BLOCK_PAIRS 512u   /* of touching runs inside the block, and as many with the row above */
#define MAX_BLOCK_SHARES 448u  /* summed in shared memory */
#define MAX_SEGMENTS 320u      /* of 32 words of a row */

/* Three small blocks fit on a multiprocessor: while one waits for other blocks of its cluster, those of other frames run.
 * Each has a third of the 228 KB (sm_90, sm_100), less what the system and static variables take. */
#define SMALL_BLOCK_MEMORY ((76u << 10) - 1280)
#define SMALL_BLOCK_MIN_RUNS 2048u
#define SMALL_BLOCK_THREADS (CLUSTER_THREADS * 2 / 3 / 64 * 64)

/* A node is block << 20 | run. A block numbers its runs in raster order, and those of the row above separately. The smallest
 * node of a component is its root. */
#define BLOCK_SHIFT 20
#define RUN_MASK 0xfffffu

/* places[run]: row << 12 | word << 6 | first column. Row 0 is the row above the block's. Once shares are known, also:
 *
 *     NOT_FIRST << 21           the run is not the first of its share
 *     slot << 21                it is the first, and the share has this slot
 *     NO_SLOT << 21             it is the first, and all slots were taken
 *     either of these | JOINED  and another block has joined a share to this one
 */
#define ROW_SHIFT 12
#define ROW_MASK 0x1ffu
#define WORD_MASK 0x3fu
#define MAX_BLOCK_ROWS ROW_MASK
#define MAX_ROW_WORDS (WORD_MASK + 1)
#define SLOT_SHIFT 21
#define SLOT_MASK 0x3ffu
#define NOT_FIRST 0x3ffu
#define NO_SLOT 0x3feu
#define JOINED 0x80000000u

#define DROPPED 0xffffffffu /* NUMBERED | past the end of every table */

static_assert(CLUSTER_THREADS % 64 == 0 && SMALL_BLOCK_THREADS > 0, "a warp takes the same one of two segments in every row");
static_assert(MAX_BLOCK_SHARES < NO_SLOT, "a slot has too few bits");
static_assert(MAX_BLOCK_RUNS < 0x10000, "a pair is two runs of 16 bits");

/* Tests use smaller values. */
typedef struct BlockCapacity {
    uint32_t runs, shares, pairs;
} BlockCapacity;

typedef struct FrameJob {
    GlobalPointer<const uint8_t> mask;
    size_t mask_stride;
    GlobalPointer<uint8_t> workspace;
    GlobalPointer<CclComponent> records;
    GlobalPointer<CudaResult> result;
    uint16_t width, height;
    uint8_t threshold, invert;
    bool flagged; /* components at the border get flags */
    uint32_t capacity; /* records of the table */
} FrameJob;

/* The same for all frames of a launch. */
typedef struct ClusterLaunch {
    BlockCapacity capacity;
    size_t sums, extents, parents, places; /* offsets in every workspace: those of Plan; places: its runs */
} ClusterLaunch;

/* The frames of a launch, by blockIdx.z. They are an argument of the kernel: on the bus they would wait behind records. */
template <uint32_t MAX_FRAMES, bool FILTERED> struct Frames {
    FrameJob of[MAX_FRAMES];
    CclLimits limits[FILTERED ? MAX_FRAMES : 1];
};

#define FEW_FRAMES 8u /* a launch with fewer arguments takes less of the host's time */
#define MANY_FRAMES(filtered) ((filtered) ? 48u : CCL_MAX_BATCH)

static_assert(sizeof(ClusterLaunch) + sizeof(Frames<MANY_FRAMES(false), false>) <= 4096 &&
              sizeof(ClusterLaunch) + sizeof(Frames<MANY_FRAMES(true), true>) <= 4096, "all devices take arguments of 4 KB");

/* Sums of a share: those of RunSums, relative to the block's first row and the image's first column. The sum of xy is in two
 * fields of 16 bits and more, like that of x squared: SXY is the lower one. */
enum { XY_HIGH = N_FIELDS, N_SHARE_FIELDS };

/* Pairs, run << 16 | run. n counts also those past the capacity. */
typedef struct PairList {
    uint32_t n;
    uint32_t of[MAX_BLOCK_PAIRS];
} PairList;

typedef struct __align__(16) BlockCounts {
    uint32_t n_runs;
    uint32_t n_shares, n_hooked; /* hooked under shares of other blocks */
    uint32_t over_capacity;      /* some runs or shares did not fit */
} BlockCounts;

/* The shared memory of a block begins with this; its bits and runs follow. */
typedef struct __align__(16) ClusterBlock {
    uint32_t sums[N_SHARE_FIELDS][MAX_BLOCK_SHARES];
    BlockCounts counts;
    uint32_t n_kept; /* roots that the filter keeps */

    /* Each block writes its pointers to all blocks, so that no block has to request them and wait. */
    uint32_t *all_parents[CLUSTER_BLOCKS]; /* [run]: node; in the end, of roots of the image, NUMBERED | rank among those of
                                            * the block, or DROPPED */
    uint32_t *all_places[CLUSTER_BLOCKS];
    uint32_t last_row; /* of the block above: the first run of its last row */

    uint32_t n_numbered, many;
    uint32_t bases[CLUSTER_BLOCKS];    /* components of the blocks before */
    uint32_t first_runs[MAX_SEGMENTS]; /* of 32 words of a row */
    uint32_t full[MAX_SEGMENTS];       /* words that are all ones */
    PairList inside, above;            /* the second of a pair `above` is in the row above */
    uint32_t roots[MAX_BLOCK_SHARES];  /* the first run of a share */
} ClusterBlock;

/* The rows of a block and, before them, the row above. */
typedef struct BlockRows {
    uint32_t first_y, n;
    uint32_t words, segments; /* of a row */
    uint32_t n_segments;      /* with those of the row above; 0 without rows */
    uint64_t *bits;           /* [1 + n][words] */
    uint32_t *first_run;      /* [1 + n][words]: the word's first run */
} BlockRows;

template <bool SHARED> struct BlockRuns {
    uint32_t *parents, *places; /* as in ClusterBlock; SHARED: in shared memory */
    uint32_t n;
    uint32_t tag; /* of their nodes */
};

/* Where the table of the frame goes. */
typedef struct TableOutput {
    GlobalPointer<Sums> sums;
    GlobalPointer<uint4> records; /* four to a record */
    uint32_t width, height, capacity;
    bool flagged;
} TableOutput;

__host__ __device__ static inline uint32_t rows_of_block(uint32_t height)
{
    return (height + CLUSTER_BLOCKS - 1) / CLUSTER_BLOCKS;
}

__device__ static inline uint32_t row_of(uint32_t place)
{
    return place >> ROW_SHIFT & ROW_MASK;
}

__device__ static inline uint32_t column_of(uint32_t place)
{
    return place >> 6 & WORD_MASK;
}

/* The layout of a block's shared memory. */
typedef struct BlockMemory {
    ClusterBlock *block;
    BlockRows rows;
    uint32_t *runs; /* parents, then places */
} BlockMemory;

__device__ static inline BlockMemory memory_for(const FrameJob &job)
{
    extern __shared__ __align__(16) uint8_t block_memory[];
    const uint32_t each = rows_of_block(job.height);
    BlockRows rows;
    rows.first_y = min(blockIdx.x * each, (uint32_t)job.height);
    rows.n = min(each, job.height - rows.first_y);
    rows.words = padded_row_words(job.width);
    rows.segments = (rows.words + 31) / 32;
    rows.n_segments = rows.n ? (rows.n + 1) * rows.segments : 0;
    rows.bits = (uint64_t *)(block_memory + sizeof(ClusterBlock));
    rows.first_run = (uint32_t *)(rows.bits + (each + 1) * rows.words);
    return BlockMemory{ (ClusterBlock *)block_memory, rows, rows.first_run + (each + 1) * rows.words };
}

__device__ static inline void clear(ClusterBlock *block)
{
    static_assert(MAX_BLOCK_SHARES % 4 == 0, "sums are cleared four at a time");
    for (uint32_t i = threadIdx.x; i < N_SHARE_FIELDS * MAX_BLOCK_SHARES / 4; i += blockDim.x)
        ((uint4 *)block->sums)[i] = make_uint4(0, 0, 0, 0);
    if (threadIdx.x == 0)
        block->inside.n = block->above.n = block->counts.n_shares = block->counts.n_hooked = block->counts.over_capacity = 0;
}

#endif
