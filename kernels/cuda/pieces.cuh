/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Bits that the host packs while the device waits for them. */
#ifndef CCL_CUDA_PIECES_CUH
#define CCL_CUDA_PIECES_CUH

#include <stdint.h>

/* The rows of a mask that the host packs, a piece after the other. */
typedef struct __align__(16) HostPieces {
    const uint64_t *words; /* of the first piece; these three in mapped host memory, device addresses */
    const uint32_t *ready; /* [n * READY_STEP]: a piece is there when its word is `number` */
    uint32_t *late;        /* takes `number` if a kernel went on without a piece */
    uint32_t *arrived;     /* [n], device memory: likewise, when a block has told the others of its piece */
    uint32_t number;       /* not 0; another for each frame in turn */
    uint32_t n, rows;      /* pieces; of each but the last */
    uint32_t most_looks;   /* after so many at a piece that is not there the kernel goes on with zeros, so that it ends if
                            * launches block */
} HostPieces;

#define READY_STEP 16u /* a cache line: who packs one piece does not wait for who looks at another */
#define PIECE_ROWS 16u /* HostPieces.rows is a multiple of it: no line of memory belongs to two pieces */
#define MOST_PIECES 64u

/* Who sees a value sees what was written before it: by the host, or by another block. (A fence behind a plain load would do, and
 * take 3 us.) */
template <bool BY_HOST> __device__ static inline uint32_t load_acquire(const uint32_t *word)
{
    uint32_t value;
#ifndef __CUDA_ARCH__
    value = __ldcv(word);
    __threadfence_system();
#else
    if (BY_HOST)
        asm volatile("ld.acquire.sys.u32 %0, [%1];" : "=r"(value) : "l"(word) : "memory");
    else
        asm volatile("ld.acquire.gpu.u32 %0, [%1];" : "=r"(value) : "l"(word) : "memory");
#endif
    return value;
}

__device__ static inline void store_release(uint32_t *word, uint32_t value)
{
#ifndef __CUDA_ARCH__
    __threadfence();
    *(volatile uint32_t *)word = value;
#else
    asm volatile("st.release.gpu.u32 [%0], %1;" ::"l"(word), "r"(value) : "memory");
#endif
}

/* One thread waits until a piece is there, or another block says so; is it? Then others may read it behind a barrier. */
template <bool BY_HOST> __device__ static inline bool await_piece(const HostPieces &pieces, uint32_t piece)
{
    const uint32_t *const word = BY_HOST ? pieces.ready + piece * READY_STEP : pieces.arrived + piece;
    const uint32_t most_looks = BY_HOST ? pieces.most_looks : 4 * pieces.most_looks; /* quicker ones */
    uint32_t looks = 0;
    while (load_acquire<BY_HOST>(word) != pieces.number) {
        if (++looks >= most_looks) {
            *(volatile uint32_t *)pieces.late = pieces.number; /* others do, too */
            return false;
        }
        __nanosleep(100);
    }
    return true;
}

#endif
