/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* The sums of holes as rows in host memory, for masks and for label maps. */
#ifndef CCL_CUDA_HOLE_LIST_CUH
#define CCL_CUDA_HOLE_LIST_CUH

#include "backend.cuh"

#define HOLE_ROW_WORDS (sizeof(CclHole) / sizeof(uint32_t))

/* The sums of a hole, as a row; clears them. Other components have none. label_of() returns the label of CudaHole.parent. */
template <typename LabelOf> __device__ static inline CclHole take_hole(CudaHole *from, LabelOf label_of)
{
    const uint4 *const halves = (const uint4 *)from;
    const uint4 low = __ldcg(&halves[0]), high = __ldcg(&halves[1]);
    if (!low.y)
        return CclHole{};
    ((uint4 *)from)[0] = ((uint4 *)from)[1] = make_uint4(0, 0, 0, 0);
    return CclHole{ label_of(high.z), low.x, low.y, (uint16_t)~low.z, (uint16_t)(high.y >> 16), (uint16_t)low.w, (uint16_t)high.x,
                    (uint16_t)high.y, 0 };
}

/* Lists the first n holes, by all blocks of the grid. Through shared memory, because stores to host memory are quick in whole
 * lines only. */
template <uint32_t THREADS, typename LabelOf>
__device__ static inline void list_rows(const CudaHoles &holes, uint32_t n, LabelOf label_of)
{
    __shared__ uint32_t rows[THREADS * HOLE_ROW_WORDS];
    uint32_t *const listed = (uint32_t *)(CclHole *)holes.listed;
    for (uint32_t first = blockIdx.x * THREADS; first < n; first += gridDim.x * THREADS) {
        const uint32_t n_rows = min(n - first, THREADS);
        if (threadIdx.x < n_rows)
            ((CclHole *)rows)[threadIdx.x] = take_hole(&holes.sums[first + threadIdx.x], label_of);
        __syncthreads();
        for (uint32_t i = threadIdx.x; i < n_rows * HOLE_ROW_WORDS; i += THREADS)
            listed[first * HOLE_ROW_WORDS + i] = rows[i];
        __syncthreads();
    }
}

/* The grid for it. */
static inline dim3 list_grid(const CudaHoles *holes, uint32_t threads)
{
    return dim3(max(1u, min(blocks_for(holes->capacity, threads), 128u)));
}

#endif
