/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * The stages every labelling method shares: from an image of provisional labels to table and final labels.
 *
 *     number     components are counted in raster order of their first pixels: root -> id
 *     features   pixels are summed per id; or the method's own, CclAlgorithm.features
 *     table      ids that pass the filter become rows; root -> final label
 *     relabel    provisional -> final labels, in place
 *
 * Ids are dense, so sums take memory for components and not for pixels; there are StageBuffers.n_sums of them. More
 * components than that take further rounds of features and table over the next range of ids. They are launched always and
 * end at once when nothing is left for them.
 *
 * Between frames the sums and the scan's words are zero: each is cleared by a kernel that runs after its last reader.
 */
#ifndef CCL_CUDA_STAGES_CUH
#define CCL_CUDA_STAGES_CUH

#include "backend.cuh"

/* Accumulators of one component; all zero is empty, so extremes are maxima of complements where a minimum is meant. */
typedef struct __align__(16) Sums {
    unsigned long long m10, m01, m20, m11, m02;
    uint32_t area;
    uint32_t not_x0; /* ~x0 */
    uint32_t x1, y1; /* past the last pixel */
    uint32_t not_first; /* ~(y * width + x) of the first pixel */
    uint32_t root;   /* provisional label - 1 */
} Sums;

#define MAX_ROUNDS 8u
#define NUMBER_CHUNK 4096u /* pixels that a block of `number` counts */
#define TABLE_TILE 256u    /* components per tile of the scan in `table` */

typedef struct Counts {
    uint32_t n_found;
    uint32_t n_kept[MAX_ROUNDS + 1]; /* in the rounds before */
    uint32_t n_chunks_done;           /* of `number`; wraps to 0 */
} Counts;

/*
 * What is known of a root, in StageBuffers.root_state[provisional label - 1]:
 * before `number`, and only with methods whose roots are not first pixels: the component's first pixel;
 * after it: which first pixel of its chunk the component has, the chunk's number in the bits above (id_of());
 * after `table`, where components may be dropped, with ROOT_FINAL: the label, 0 for a dropped one.
 */
#define ROOT_NUMBERED 0x80000000u
#define ROOT_FINAL 0x40000000u
#define ROOT_VALUE 0x3fffffffu

typedef struct StageBuffers {
    uint32_t *root_state;  /* one per pixel, only those of roots are touched */
    uint32_t *chunk_ids;   /* the first id of each chunk of NUMBER_CHUNK pixels; n_chunks for the largest image */
    uint32_t n_chunks;
    Sums *sums;            /* n_sums, cleared by `table` */
    uint32_t n_sums;
    uint32_t *table_scan;  /* words of the scan in `table`, cleared by `features`; see scan.cuh */
    uint32_t n_table_scan;
    Counts *counts;
} StageBuffers;

/* Rounds of features and table that a frame of this size may need. */
unsigned stage_rounds(uint32_t n_sums, uint32_t max_components);

/* Sizes for the context's largest mask; the pointers are left to the caller. */
StageBuffers stage_sizes(const CclContext *context);

CclStatus number_from_labels(const CclContext *context, CudaFrame *frame, const StageBuffers *buffers);
CclStatus features_from_labels(const CclContext *context, CudaFrame *frame, const StageBuffers *buffers, unsigned round);
CclStatus table_from_features(const CclContext *context, CudaFrame *frame, const StageBuffers *buffers, unsigned round);
CclStatus relabel(const CclContext *context, CudaFrame *frame, const StageBuffers *buffers);

/* 16-bit mask -> 8-bit mask of 0 and 255, threshold and inversion applied. `launcher`: whose stream and steps. */
CclStatus mask_from_wide(const CudaFrame *frame, CudaFrame *launcher);

/* A mask -> bits, of `row_words` words a row, with 0 past the width: of the first `n_rows` rows, which are of 8 bits, by the
 * device; the others by the host, perhaps while the device waits for them. */
typedef struct BitsJob {
    uint64_t *bits;
    uint32_t width, row_words;

    uint32_t n_rows;
    uint32_t threshold, invert; /* as in CudaVars */
    GlobalPointer<const uint8_t> mask;
    size_t mask_stride;

    RowChunks chunks;
    uint32_t chunk_words;  /* a multiple of 16, as are the words before the first */
    uint32_t n_words;      /* in all */
} BitsJob;

CclStatus mask_to_bits(const BitsJob *job, cudaStream_t stream);
dim3 mask_to_bits_grid(const BitsJob *job); /* how it launches its kernel, whose only argument is the job */

/* ---------------------------------------------------------------- inside kernels */

__device__ static inline uint32_t id_of(const StageBuffers &buffers, uint32_t root_state)
{
    const uint32_t value = root_state & ROOT_VALUE;
    return buffers.chunk_ids[value / NUMBER_CHUNK] + value % NUMBER_CHUNK;
}

/* Where the ids of a round end: below this are the components found and, where nothing is dropped, the table's rows. */
__device__ static inline uint32_t past_id_of(const StageBuffers &buffers, const CudaVars &vars, uint32_t capacity,
                                             unsigned round)
{
    const uint32_t n_measured = vars.keep_all ? min(buffers.counts->n_found, capacity) : buffers.counts->n_found;
    return min(n_measured, (round + 1) * buffers.n_sums);
}

/* p / width for p < 2^28 and width <= 2^14, with magic = 2^44 / width rounded up: the error p / 2^44 is below 1 / width. */
static inline uint64_t divide_magic(uint32_t width)
{
    return ((1ull << 44) + width - 1) / width;
}

__device__ static inline uint32_t divide_by_width(uint32_t p, uint64_t magic)
{
    return (uint32_t)((p * magic) >> 44);
}

#endif
