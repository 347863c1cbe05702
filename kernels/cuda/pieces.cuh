/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Bits that the host packs while the device waits for them. */
#ifndef CCL_CUDA_PIECES_CUH
#define CCL_CUDA_PIECES_CUH

#include "order.cuh"

/* The rows of a mask that the host packs, a piece after the other. */
typedef struct __align__(16) HostPieces {
    const uint64_t *words; /* of the first piece; these three in mapped host memory, device addresses */
    const uint32_t *ready; /* [n * READY_STEP]: a piece is there when its word is `number` */
    uint32_t *late;        /* takes `number` if a kernel went on without a piece */
    uint32_t *arrived;     /* [n], device memory: what blocks that share a piece say of it, see is_said() */
    uint32_t number;       /* 1 to 2^31 - 1, another for each frame in turn */
    uint32_t n, rows;      /* pieces; of each but the last */
    uint32_t most_looks;   /* after so many at a piece that is not there the kernel goes on with zeros, so that it ends if
                            * launches block */
} HostPieces;

#define READY_STEP 16u /* a cache line: who packs one piece does not wait for who looks at another */
#define PIECE_ROWS 16u /* HostPieces.rows is a multiple of it: no line of memory belongs to two pieces */
#define MOST_PIECES 64u

/* One thread looks at a piece's word until the host has packed it. False: not after so many looks. Others may read the bits behind
 * a barrier. */
__device__ static inline bool await_host(const HostPieces &pieces, uint32_t piece)
{
    uint32_t looks = 0;
    while (load_acquire<true>(pieces.ready + piece * READY_STEP) != pieces.number) {
        if (++looks >= pieces.most_looks)
            return false;
        __nanosleep(100);
    }
    return true;
}

/* The frame is to be launched again. Whoever goes on without a piece says so. */
__device__ static inline void note_late(const HostPieces &pieces)
{
    *(volatile uint32_t *)pieces.late = pieces.number;
}

/* What is said of a piece, for this frame: 2 * number + 1 that it is there, 2 * number that kernels go on without. */
__device__ static inline bool is_said(const HostPieces &pieces, uint32_t said)
{
    return said >> 1 == pieces.number;
}

/* Is a piece there? Who says it first says it for all: they have to agree on what runs there are. */
__device__ static inline bool decide(const HostPieces &pieces, uint32_t piece, bool there)
{
    const uint32_t ours = 2 * pieces.number + there;
    uint32_t said = 2 * pieces.number - 1; /* of the frame before, it may be */
    while (!is_said(pieces, said)) {
        const uint32_t old = replace(pieces.arrived + piece, said, ours);
        said = old == said ? ours : old;
    }
    return said & 1;
}

/* Like await_host(), for blocks that share a piece. The one that `tells` looks over the bus, the others at what it says: loads of one
 * line of host memory come one after the other, a microsecond each. */
__device__ static inline bool await_piece(const HostPieces &pieces, uint32_t piece, bool tells)
{
    if (tells)
        return decide(pieces, piece, await_host(pieces, piece));
    for (uint32_t looks = 0; looks < 4 * pieces.most_looks; looks++) { /* quicker ones */
        const uint32_t said = load_acquire<false>(pieces.arrived + piece);
        if (is_said(pieces, said))
            return said & 1;
        __nanosleep(100);
    }
    return decide(pieces, piece, false);
}

#endif
