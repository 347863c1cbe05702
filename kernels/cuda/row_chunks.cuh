/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Rows of a mask that the host packs to bits while kernels wait for them.
 *
 * The host packs chunks of rows, one after the other. Kernels wait for bands: a chunk, or the rows of one tile. Each band has a
 * ready flag in mapped host memory, which the host sets when the band is packed:
 *
 *     chunk 0:  band 0  band 1  ...  above      chunk 1:  band 0  band 1  ...  above
 *
 * The first band of a chunk also needs the row above it, the last row of the chunk before. `above` is the flag for that row, so
 * that the tile below polls a flag which no other tile polls.
 */
#ifndef CCL_CUDA_ROW_CHUNKS_CUH
#define CCL_CUDA_ROW_CHUNKS_CUH

#include "order.cuh"

typedef struct __align__(16) RowChunks {
    const uint64_t *words;       /* bits of the first chunk; this and the next two are device addresses of mapped host memory */
    const uint32_t *ready_flags; /* [ready_flag() * READY_FLAG_STRIDE]: `number` when the rows are packed */
    uint32_t *timed_out;         /* set to `number` by a kernel that gave up waiting */
    uint32_t number;             /* of the frame: never 0, and each frame has another */
    uint32_t n, rows;            /* number of chunks; rows of each but the last */
    uint32_t band_rows;          /* divides `rows` */
    uint32_t max_polls;          /* iteration limit of a wait, so that kernels end where launches block the host */
} RowChunks;

#define READY_FLAG_STRIDE 16u  /* a cache line: loads of the same line over the bus run one after the other, 1 us each */
#define CHUNK_ROWS        16u  /* RowChunks.rows is a multiple: no cache line of bits belongs to two chunks */
#define MAX_ROW_CHUNKS    64u
#define MIN_BAND_ROWS     8u   /* RowChunks.band_rows is a multiple */
#define MAX_READY_BANDS   512u
/* Capacity for `bands` bands: each chunk has one flag more, and the last chunk may have flags for rows past the end. */
#define READY_FLAGS(bands) ((bands) + 2 * MAX_ROW_CHUNKS)

/* Index of the flag of a band; band == bands_each: `above` of the next chunk. bands_each: bands of a chunk. */
__host__ __device__ static inline uint32_t ready_flag(uint32_t bands_each, uint32_t chunk, uint32_t band)
{
    return chunk * (bands_each + 1) + band;
}

/* One thread polls a flag until the host sets it. Other threads may read the bits after a barrier. False: timed out. */
__device__ static inline bool await_host(const RowChunks &chunks, uint32_t flag)
{
    uint32_t polls = 0;
    while (load_acquire(chunks.ready_flags + flag * READY_FLAG_STRIDE) != chunks.number) {
        if (++polls >= chunks.max_polls)
            return false;
        __nanosleep(100);
    }
    return true;
}

/* Tells the host to launch the frame again. A kernel that goes on without rows calls this. */
__device__ static inline void note_timeout(const RowChunks &chunks)
{
    *(volatile uint32_t *)chunks.timed_out = chunks.number;
}

#endif
