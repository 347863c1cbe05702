/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* What the kernels of label/runs.cu share. */
#ifndef CCL_CUDA_RUNS_PLAN_CUH
#define CCL_CUDA_RUNS_PLAN_CUH

#include "cuda/backend.cuh"
#include "cuda/overlap.cuh"
#include "cuda/warp.cuh"

#define TILE_ROWS        8u
#define LOCAL_WORDS      (32 * (TILE_ROWS + 1)) /* a tile is 32 words wide; the row above comes first */
#define TILE_WORDS       (32 * TILE_ROWS)
#define TILE_RUNS        (32 * TILE_WORDS)      /* maximum in a tile */
#define COLUMN_SLOTS     (32 * (TILE_ROWS + 1)) /* of a column of words: runs of a tile with those of the row above */
#define RUN_SLOTS        (32 * COLUMN_SLOTS)
#define STRIP_WORDS      (32 * (TILE_ROWS / 2 + 1)) /* of two rows each; the row above is one */
#define MAX_CHUNKS       1024u
/* Runs of a frame. With more runs, the tile kernels are quicker than a cluster. With fewer, one block of a cluster may still
 * exceed its capacity, and the tile kernels cannot detect that. So a stream of such masks tries a cluster every 33rd time. */
#define MAX_CLUSTER_RUNS 32768u

/* Maximum number of threads on a multiprocessor. */
#if !defined __CUDA_ARCH__ || __CUDA_ARCH__ == 800 || __CUDA_ARCH__ / 100 == 9 || __CUDA_ARCH__ / 100 == 10
#define RESIDENT_THREADS 2048u
#elif __CUDA_ARCH__ / 100 == 7
#define RESIDENT_THREADS 1024u
#else
#define RESIDENT_THREADS 1536u
#endif

#define FEW_RUNS     2048u /* solve's capacity where many tiles share a multiprocessor */
#define MAX_RUNS     5200u /* of rows, as nodes of a tile: with more, strips */
#define SHARED_PAIRS 800u
#define SLOTS 192u        /* components that a block sums in shared memory */
/* Labels of runs that a block keeps in shared memory: of all runs that strips can have, where shared memory is large. Code for
 * sm_80 also runs on sm_86 and sm_89, which have less. */
#if !defined __CUDA_ARCH__ || (__CUDA_ARCH__ >= 900 && RESIDENT_THREADS == 2048)
#define SHARED_LABELS 4096u
#else
#define SHARED_LABELS 2048u
#endif

#define MAX_ADDED 512u /* components of a frame alone whose records the last block of measure writes itself */

/* parents[root]: NUMBERED | chunk << 17 | rank in the chunk, and INSIDE when the component is inside one tile. */
#define NUMBERED 0x80000000u
#define INSIDE 0x40000000u

#define OF_STRIPS 0x80000000u /* in n_runs: the tile's runs are runs of strips; see strips.cuh */

/* Sums of one component in global memory; all zero is empty. They are four quarters of 16 bytes. The first three are those of
 * CclMoments. */
typedef struct __align__(16) Sums {
    unsigned long long area, m10, m01, m20, m11, m02;
    uint32_t not_x0, x1, y1;
    uint32_t first; /* y << 16 | x of the first pixel */
} Sums;

/* The sums of a component that a filter needs; all zero is empty. */
typedef struct __align__(16) Extent {
    uint32_t area, not_x0, x1, y1;
} Extent;

typedef struct Counts {
    uint32_t found, kept;
    uint32_t complete; /* nothing is left for `rows`; with CudaVars.sets_flag */
    /* 0 between frames: */
    uint32_t n_runs;
    uint32_t n_dense;    /* tiles that needed more slots than TileCapacity.few */
    uint32_t n_measured; /* blocks of measure that are done; this and the next with CudaVars.sets_flag */
    uint32_t n_added;    /* components that have sums in global memory; above MAX_ADDED not all are counted */
} Counts;

/* What all kernels of a launch share. A node is word << 5 | rank of the run among those of its word. */
typedef struct Plan {
    uint32_t width, height;
    uint32_t row_words;    /* words per row, a multiple of 4 */
    uint32_t tiles_x, bands;
    uint32_t chunk_words, n_chunks;
    uint32_t capacity;                                      /* records of the table */
    uint32_t max_runs;                                      /* 8-connected: in a tile with more, the runs are those of strips */
    uint32_t slots, shared_pairs, shared_labels, max_added; /* at most SLOTS etc.; tests use fewer */

    GlobalPointer<Counts> counts;
    GlobalPointer<Sums> sums;           /* [id] of a kept component; all zero between frames */
    GlobalPointer<Extent> extents;      /* [id] of a component found; all zero between frames */
    GlobalPointer<uint32_t> keep_scan;  /* all zero between frames */
    GlobalPointer<uint32_t> finals;     /* [id] of a component found: y << 16 | x of its first pixel, then label or 0;
                                         * in solve, [band][word of a row][COLUMN_SLOTS]: slots of tiles for which
                                         * the capacity in shared memory is exceeded */
    GlobalPointer<uint64_t> bits;       /* [word] */
    GlobalPointer<uint2> roots;         /* [word]: ranks. x: roots, first of their tile, after join of the image; y: roots with
                                         * tile shares in other tiles */
    GlobalPointer<uint32_t> runs;       /* [tile][run of the tile]: its root's key << 14 | its place, local word << 6 | first
                                         * column; for a strip, of its upper row. Row 0 of a place is the tile's first row; row
                                         * 0 of a key, local word << 5 | rank, is the row above. */
    GlobalPointer<uint32_t> n_runs;     /* [tile]; OF_STRIPS */
    GlobalPointer<uint16_t> first_runs; /* [word]: its first run among those of the tile */
    GlobalPointer<uint32_t> parents;    /* [node]: tile roots, last rows and tile edges only */
    GlobalPointer<uint2> border;        /* [band][word of a row]: ranks in the row above. x: roots of tile shares of the band;
                                         * y: runs that it joined to other runs of that row */
    GlobalPointer<uint32_t> partners;   /* [band][word of a row][rank]: to which */
    GlobalPointer<uint32_t> chunk_counts;
    GlobalPointer<uint32_t> added;      /* [MAX_ADDED]: ids of Counts.n_added */
} Plan;

/* A frame, for the kernels. */
typedef struct __align__(16) Job {
    Plan plan;
    GlobalPointer<CudaVars> vars; /* alone: solve stores them there */
    GlobalPointer<CclComponent> records;
    GlobalPointer<CudaResult> result;
} Job;

/* The capacity of solve in shared memory for the runs of a tile. */
typedef struct TileCapacity {
    uint32_t slots;
    uint32_t few; /* tiles that need more are counted: Counts.n_dense */
} TileCapacity;

/* The frame of a launch: in the kernel's argument, ... */
struct Alone {
    static constexpr bool MANY = false, HAS_INVERSE = false;
    Job job;
    TileCapacity capacity;
    __device__ const Job &source() const { return job; }
    __device__ const Job &fetch() const { return job; }
    __device__ const Job &get() const { return job; }
};

typedef struct __align__(16) BatchJob {
    Job job;
    CudaVars vars;
} BatchJob;

/* ... or in a list, by blockIdx.z. Then the grid fits the largest frame, and blocks past the end of a smaller one return at
 * once. */
struct Listed {
    static constexpr bool MANY = true, HAS_INVERSE = false;
    GlobalPointer<const BatchJob> jobs;
    TileCapacity capacity;
    __device__ const Job &source() const { return jobs[blockIdx.z].job; }
    __device__ const CudaVars &vars() const { return jobs[blockIdx.z].vars; }
    __device__ const Job &fetch() const /* once per kernel; it is there after a barrier */
    {
        __shared__ __align__(16) Job job;
        static_assert(sizeof job % sizeof(uint4) == 0 && sizeof job / sizeof(uint4) <= 32, "a warp copies it");
        if (threadIdx.x < sizeof job / sizeof(uint4))
            ((uint4 *)&job)[threadIdx.x] = ((const uint4 *)&source())[threadIdx.x];
        return job;
    }
    __device__ const Job &get() const /* once per kernel */
    {
        const Job &job = fetch();
        __syncthreads();
        return job;
    }
};

/* ... or alone, by blockIdx.z with its inverse mask, which has the other connectivity. Of the inverse only the plan is set. */
struct WithInverse {
    static constexpr bool MANY = false, HAS_INVERSE = true;
    Job jobs[2];
    GlobalPointer<uint32_t> outside; /* CudaHoles.outside */
    __device__ const Job &get() const { return jobs[blockIdx.z]; }
};

/* ---------------------------------------------------------------- small things */

/* Words of a row in the workspace: a multiple of four, so that rows are aligned to 32 bytes. */
__host__ __device__ static inline uint32_t padded_row_words(uint32_t width)
{
    return (width + 255) / 256 * 4;
}

/* The position of a tile. */
typedef struct TileAt {
    uint32_t x, band;
} TileAt;

__device__ static inline uint32_t tile_number(const Plan &plan, TileAt where)
{
    return where.band * plan.tiles_x + where.x;
}

/* The node of a run in a tile, from its key, local word << 5 | rank. */
__device__ static inline uint32_t node_of(const Plan &plan, TileAt where, uint32_t key)
{
    const uint32_t y = where.band * TILE_ROWS + (key >> 10) - 1;
    return (y * plan.row_words + where.x * 32 + (key >> 5 & 31)) << 5 | (key & 31);
}

/* Starts of the runs inside one word. */
__device__ static inline uint64_t starts_of(uint64_t bits)
{
    return bits & ~(bits << 1);
}

/* Rank of the run that pixel x belongs to, among the runs of the word. */
__device__ static inline uint32_t rank_of(uint64_t starts, uint32_t x)
{
    return __popcll(starts & ((2ull << x) - 1)) - 1;
}

/* The columns of the run that begins at column `begin`. */
__device__ static inline uint64_t span_of(uint64_t bits, uint32_t begin)
{
    return bits & ~(bits + (1ull << begin));
}

/* The first pixel of a run of a strip, word << 6 | column. `at` is the word of its upper row. */
__device__ static inline uint32_t first_of_strip(const uint64_t *rows, uint32_t at, uint32_t begin)
{
    const uint64_t span = span_of(rows[at] | rows[at + 32], begin), upper = rows[at] & span;
    return (upper ? at : at + 32) << 6 | (__ffsll(upper ? upper : rows[at + 32] & span) - 1);
}

__device__ static inline uint32_t last_rank(uint64_t bits)
{
    return __popcll(starts_of(bits)) - 1;
}

/* Sum over the threads before this one; *total: over the block, of at most THREADS. Called once per kernel, or with a barrier
 * between the calls. */
template <uint32_t THREADS>
__device__ static inline uint32_t block_scan(uint32_t value, uint32_t *total, uint32_t n_threads = THREADS)
{
    __shared__ uint32_t warps[THREADS / 32];
    const uint32_t lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const uint32_t sum = warp_scan(value);

    if (lane == 31)
        warps[warp] = sum;
    __syncthreads();
    const uint32_t of_warp = lane < n_threads / 32 ? warps[lane] : 0;
    *total = warp_sum(of_warp);
    return warp_sum(lane < warp ? of_warp : 0) + sum - value;
}

__device__ static inline uint32_t warp_max(uint32_t value)
{
    return ~warp_min(~value);
}

#endif
