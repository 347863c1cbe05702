/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Bits that the host packs while the device waits for them. */
#ifndef CCL_CUDA_PIECES_CUH
#define CCL_CUDA_PIECES_CUH

#include "order.cuh"

/* The rows of a mask that the host packs, a piece after the other. */
typedef struct __align__(16) HostPieces {
    const uint64_t *words; /* of the first piece; these three in mapped host memory, device addresses */
    const uint32_t *ready; /* [line * READY_STEP], see ready_line(): `number` when the rows are there */
    uint32_t *late;        /* takes `number` if a kernel went on without */
    uint32_t number;       /* not 0, another for each frame */
    uint32_t n, rows;      /* pieces; of each but the last */
    uint32_t ready_rows;   /* of a line: as many, or fewer if tiles wait, so that each band of these has a line of its own */
    uint32_t max_looks;   /* after so many at a line the kernel goes on without, so that it ends if launches block */
} HostPieces;

#define READY_STEP 16u /* a cache line: loads of one over the bus come one after the other, a microsecond each */
#define PIECE_ROWS 16u /* HostPieces.rows is a multiple of it: no line of memory belongs to two pieces */
#define MAX_PIECES 64u
#define READY_ROWS 8u  /* HostPieces.ready_rows is a multiple of it, and divides `rows` */
#define MAX_READY 512u /* bands with a line of their own */
/* Room for all: each piece has a line more than ready_rows, and the last may have lines for rows past the end. */
#define READY_LINES(bands) ((bands) + 2 * MAX_PIECES)

/* The line of the i-th ready_rows of a piece of n_each. That after its last is for the band below it, which needs the row above its
 * own: so a band that is the first of a piece finds it before its own line. */
__host__ __device__ static inline uint32_t ready_line(uint32_t n_each, uint32_t piece, uint32_t i)
{
    return piece * (n_each + 1) + i;
}

/* One thread looks at a line until the host has packed its rows. False: not after so many looks. Others may read the bits behind
 * a barrier. */
__device__ static inline bool await_host(const HostPieces &pieces, uint32_t line)
{
    uint32_t looks = 0;
    while (load_acquire(pieces.ready + line * READY_STEP) != pieces.number) {
        if (++looks >= pieces.max_looks)
            return false;
        __nanosleep(100);
    }
    return true;
}

/* The frame is to be launched again. Whoever goes on without rows says so. */
__device__ static inline void note_late(const HostPieces &pieces)
{
    *(volatile uint32_t *)pieces.late = pieces.number;
}

#endif
