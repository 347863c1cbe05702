/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * The shared stages of labelling methods: from an image of provisional labels to table and final labels.
 *
 *     number     components are counted in raster order of their first pixels: root -> id
 *     features   pixels are summed per id; or the method's own, CclAlgorithm.features
 *     table      ids that pass the filter become records; root -> final label
 *     relabel    provisional -> final labels, in place
 *
 * Ids are dense, so sums take memory for components instead of pixels. There are StageBuffers.n_sums of them. More components
 * take further rounds of features and table, over the next range of ids. All rounds are launched, and end at once when nothing
 * is left.
 *
 * Between frames the sums and the scan's words are zero. Each is cleared by a kernel that runs after its last reader.
 */
#ifndef CCL_CUDA_STAGES_CUH
#define CCL_CUDA_STAGES_CUH

#include "backend.cuh"

/* Accumulators of one component; all zero is empty. So a minimum is stored as the maximum of complements. */
typedef struct __align__(16) Sums {
    unsigned long long m10, m01, m20, m11, m02;
    uint32_t area;
    uint32_t not_x0;    /* ~x0 */
    uint32_t x1, y1;    /* past the last pixel */
    uint32_t not_first; /* ~(y * width + x) of the first pixel */
    uint32_t root;      /* provisional label - 1 */
} Sums;

#define MAX_ROUNDS   8u
#define NUMBER_CHUNK 4096u /* pixels that a block of `number` counts */
#define TABLE_TILE   256u  /* components per tile of the scan in `table` */

typedef struct Counts {
    uint32_t n_found;
    uint32_t n_kept[MAX_ROUNDS + 1]; /* in the rounds before */
    uint32_t n_chunks_done;          /* of `number`; wraps to 0 */
} Counts;

/*
 * The state of a root, in StageBuffers.root_state[provisional label - 1]. Before `number`, if roots may not be first pixels:
 * the component's first pixel. After `number`: the rank of the component's first pixel in its chunk, and in higher bits the
 * number of the chunk (id_of()). After `table`, if components may be dropped: ROOT_FINAL and the label, 0 for a dropped
 * component.
 */
#define ROOT_NUMBERED 0x80000000u
#define ROOT_FINAL 0x40000000u
#define ROOT_VALUE 0x3fffffffu

typedef struct StageBuffers {
    uint32_t *root_state; /* one per pixel, used for roots only; of label maps: map_nodes() */
    uint32_t *chunk_ids;  /* the first id of each chunk of NUMBER_CHUNK pixels; n_chunks: for the largest image */
    uint32_t n_chunks;
    Sums *sums; /* n_sums, cleared by `table` */
    uint32_t n_sums;
    uint32_t *table_scan; /* words of the scan in `table`, cleared by `features`; see scan.cuh */
    uint32_t n_table_scan;
    Counts *counts;
} StageBuffers;

/* Rounds of features and table that a frame of this size may need. */
unsigned stage_rounds(uint32_t n_sums, uint32_t max_components);

/* Words of StageBuffers.root_state for the context's largest mask. */
size_t stage_roots(const CclContext *context);

/* Sizes for the context's largest mask; the pointers are left to the caller. */
StageBuffers stage_sizes(const CclContext *context);

CclStatus number_from_labels(const CclContext *context, CudaFrame *frame, const StageBuffers *buffers);
CclStatus features_from_labels(const CclContext *context, CudaFrame *frame, const StageBuffers *buffers, unsigned round);
CclStatus table_from_features(const CclContext *context, CudaFrame *frame, const StageBuffers *buffers, unsigned round);
CclStatus relabel(const CclContext *context, CudaFrame *frame, const StageBuffers *buffers);

/* 16-bit mask -> 8-bit mask of 0 and 255, threshold and inversion applied. `launcher`: its stream and steps are used. */
CclStatus mask_from_wide(const CudaFrame *frame, CudaFrame *launcher);

/* A mask -> bits, with `row_words` words for each row, 0 past the width. The device packs the first `n_rows` rows, from 8-bit
 * pixels. The host packs the others, possibly while the device waits for them. */
typedef struct BitsJob {
    uint64_t *bits;
    uint32_t width, row_words;

    uint32_t n_rows;
    uint32_t threshold, invert; /* as in CudaVars */
    GlobalPointer<const uint8_t> mask;
    size_t mask_stride;

    RowChunks chunks;
    uint32_t chunk_words; /* a multiple of 16, as are the words before the first */
    uint32_t n_words;     /* in all */
} BitsJob;

CclStatus mask_to_bits(const BitsJob *job, cudaStream_t stream);
dim3 mask_to_bits_grid(const BitsJob *job); /* for its kernel, whose only argument is the job */

/* ---------------------------------------------------------------- inside kernels */

__device__ static inline uint32_t id_of(const StageBuffers &buffers, uint32_t root_state)
{
    const uint32_t value = root_state & ROOT_VALUE;
    return buffers.chunk_ids[value / NUMBER_CHUNK] + value % NUMBER_CHUNK;
}

/* The final label of a root, after `table`. */
__device__ static inline uint32_t final_label(const StageBuffers &buffers, uint32_t root_state)
{
    return root_state & ROOT_FINAL ? root_state & ROOT_VALUE : id_of(buffers, root_state) + 1;
}

/* The end of the ids of a round: at most the number of components found and, if nothing is dropped, of the records of the
 * table. */
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
