/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* The first step of the cluster kernel: mask to bits, and to runs. */
#ifndef CCL_CUDA_RUNS_CLUSTER_LOAD_CUH
#define CCL_CUDA_RUNS_CLUSTER_LOAD_CUH

#include "cuda/bits.cuh"
#include "cuda/runs/cluster/block.cuh"

/* How the mask is stored. */
enum Input {
    INPUT_BITS,
    INPUT_ALIGNED,     /* pixels in aligned groups of 16; a row ends with a whole group */
    INPUT_COMPLEMENTS, /* the same, and complements are compared: bits.cuh */
    INPUT_UNALIGNED,   /* pixels */
};

static inline __device__ Input input_of(const FrameJob &job)
{
    if (((uintptr_t)job.mask | job.mask_stride | job.width) % 16)
        return INPUT_UNALIGNED;
    return job.threshold >= 128 ? INPUT_COMPLEMENTS : INPUT_ALIGNED;
}

/* A warp packs up to 2048 pixels of a row. left: number of pixels of the row from this lane's first on. n_out: number of groups
 * of 16 bits that the lane may write. */
template <Input INPUT>
__device__ static inline void pack_segment(const uint8_t *pixels, uint32_t left, Comparison than, uint16_t *out,
                                           uint32_t n_out)
{
    uint4 bytes[4];
#pragma unroll
    for (uint32_t i = 0; i < 4; i++) {
        const uint8_t *const from = pixels + i * 512;
        bytes[i] = make_uint4(0, 0, 0, 0);
        if (i * 512 < left)
            bytes[i] = INPUT == INPUT_UNALIGNED ? load16_bytes(from, min(left - i * 512, 16u)) : __ldg((const uint4 *)from);
    }
#pragma unroll
    for (uint32_t i = 0; i < 4; i++) {
        if (INPUT == INPUT_COMPLEMENTS || (INPUT == INPUT_UNALIGNED && than.complements))
            bytes[i] = complement(bytes[i]);
        uint32_t bits = pack16(bytes[i], than);
        if (i * 512 >= left)
            bits = 0;
        else if (INPUT == INPUT_UNALIGNED && left - i * 512 < 16)
            bits &= (1u << (left - i * 512)) - 1;
        if (i < n_out)
            out[i * 32] = (uint16_t)bits;
    }
}

/* Keeps the value in a register. The compiler would compute it again at each use. */
__device__ static inline uint32_t in_register(uint32_t value)
{
    asm volatile("" : "+r"(value));
    return value;
}

/* The position of a warp in the segments of a block's rows. A segment is 32 words of a row, or the rest of the row. */
typedef struct SegmentWalk {
    uint32_t segment, row;
    uint32_t word;    /* the segment's first, counted in all rows */
    uint32_t in_row;  /* the segment's index in its row; it never changes, because the number of warps is even */
    uint32_t n_words;
    uint32_t n_warps, n_rows, n_steps; /* segments, rows and words to the next */
} SegmentWalk;

__device__ static inline SegmentWalk first_segment(const BlockRows &rows)
{
    SegmentWalk at;
    at.segment = threadIdx.x / 32;
    at.row = at.segment / rows.segments;
    at.in_row = rows.segments == 2 ? at.segment % 2 : 0;
    at.word = at.row * rows.words + at.in_row * 32;
    at.n_words = min(rows.words - at.in_row * 32, 32u);
    at.n_warps = blockDim.x / 32;
    at.n_rows = at.n_warps / rows.segments;
    at.n_steps = at.n_rows * rows.words;
    return at;
}

__device__ static inline void next_segment(SegmentWalk *at)
{
    at->segment += at->n_warps;
    at->row += at->n_rows;
    at->word += at->n_steps;
}

/* Fills rows.bits and counts runs: those of each segment in first_runs, those before each word of a segment in first_run. */
template <Input INPUT>
__device__ static inline void load_rows(ClusterBlock *block, const BlockRows &rows, const FrameJob &job)
{
    const uint32_t lane = threadIdx.x % 32;
    SegmentWalk at = first_segment(rows);
    const uint32_t x = at.in_row * 2048 + lane * (INPUT == INPUT_BITS ? 64 : 16), left = x < job.width ? job.width - x : 0;
    const uint32_t n_out = lane < at.n_words * 4 ? (at.n_words * 4 - lane + 31) / 32 : 0;
    const bool has_word = lane < at.n_words;
    Comparison than = comparison(job.threshold, job.invert);
    than.addend = in_register(than.addend);
    than.inverse = in_register(than.inverse);
    /* No row is read above the first row of the image. */
    uintptr_t from = (uintptr_t)(const uint8_t *)job.mask + (rows.first_y + at.row - (size_t)1) * job.mask_stride;
    from += INPUT == INPUT_BITS ? x / 8 : x;
    for (; at.segment < rows.n_segments; next_segment(&at), from += at.n_rows * job.mask_stride) {
        const bool is_there = rows.first_y || at.row;
        uint64_t *const out = rows.bits + at.word;
        uint64_t word = 0;
        if (INPUT == INPUT_BITS || !is_there) {
            if (INPUT == INPUT_BITS && is_there && left)
                word = *(const uint64_t *)from;
            if (has_word)
                out[lane] = word;
        } else {
            pack_segment<INPUT>((const uint8_t *)from, left, than, (uint16_t *)out + lane, n_out);
            __syncwarp();
            word = has_word ? out[lane] : 0;
        }
        const uint32_t n = __popcll(starts_of(word)), up_to = warp_scan(n), full = __ballot_sync(~0u, word == ~0ull);
        if (has_word)
            rows.first_run[at.word + lane] = up_to - n;
        if (lane == 31) {
            block->first_runs[at.segment] = up_to;
            block->full[at.segment] = full;
        }
    }
}

/* Stores the places of the runs of half a word. Returns the end of the list. */
__device__ static inline uint32_t *list_starts(uint32_t starts, uint32_t place, uint32_t *places)
{
    for (; starts; starts &= starts - 1)
        *places++ = place + __ffs(starts) - 1;
    return places;
}

/* Stores the first run of every word, and the places of the runs. */
__device__ static inline void list_block_runs(const ClusterBlock *block, const BlockRows &rows, uint32_t *places)
{
    const uint32_t lane = threadIdx.x % 32;
    SegmentWalk at = first_segment(rows);
    if (lane >= at.n_words)
        return;
    for (; at.segment < rows.n_segments; next_segment(&at)) {
        const uint32_t first = block->first_runs[at.segment] + rows.first_run[at.word + lane];
        rows.first_run[at.word + lane] = first;
        if (at.row) {
            const uint64_t starts = starts_of(rows.bits[at.word + lane]);
            const uint32_t place = at.row << ROW_SHIFT | at.in_row << 11 | lane << 6;
            uint32_t *const past = list_starts((uint32_t)starts, place, places + first);
            list_starts((uint32_t)(starts >> 32), place + 32, past);
        }
    }
}

/* Mask -> bits. Returns the number of runs. */
template <bool PACKED>
__device__ static inline uint32_t load_block(ClusterBlock *block, const BlockRows &rows, const FrameJob &job)
{
    const Input input = PACKED ? INPUT_BITS : input_of(job);
    if (PACKED)
        load_rows<INPUT_BITS>(block, rows, job);
    else if (input == INPUT_ALIGNED)
        load_rows<INPUT_ALIGNED>(block, rows, job);
    else if (input == INPUT_COMPLEMENTS)
        load_rows<INPUT_COMPLEMENTS>(block, rows, job);
    else
        load_rows<INPUT_UNALIGNED>(block, rows, job);
    __syncthreads();
    const bool has_segment = threadIdx.x < rows.n_segments;
    const uint32_t n = has_segment ? block->first_runs[threadIdx.x] : 0;
    uint32_t above = 0, with_above;
    for (uint32_t i = 0; rows.n && i < rows.segments; i++)
        above += block->first_runs[i];
    const uint32_t first = block_scan<CLUSTER_THREADS>(n, &with_above, blockDim.x);
    if (has_segment)
        block->first_runs[threadIdx.x] = threadIdx.x < rows.segments ? first : first - above;
    __syncthreads();
    return with_above - above;
}

#endif
