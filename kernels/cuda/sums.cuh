/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Parts of a component, and how they are added to the component's sums: for the shared stage `features`, and for methods with
 * their own stage (CclAlgorithm.features). Such a kernel also clears the words of the scan in `table`.
 */
#ifndef CCL_CUDA_SUMS_CUH
#define CCL_CUDA_SUMS_CUH

#include "scan.cuh"
#include "stages.cuh"

/* Sums of pixels with one label, relative to a pixel nearby: SumsTarget.x and .y. */
typedef struct Part {
    uint32_t label; /* 0: empty */
    uint32_t n, x, y, xx, xy, yy;
    uint32_t x0, x1, y1; /* box, y0 is the first pixel's row */
    uint32_t first;      /* y * width + x in the image */
} Part;

/* The sums that parts are added to. */
typedef struct SumsTarget {
    StageBuffers buffers;
    uint32_t first_id, past_id; /* measured in this round */
    uint32_t x, y;              /* the origin of the parts */
} SumsTarget;

__device__ static inline Part empty_part()
{
    Part part = {};
    part.x0 = part.first = UINT32_MAX;
    return part;
}

/* The sums of the component with this provisional label; NULL: it is not measured in this round. */
__device__ static inline Sums *sums_of(const SumsTarget &t, uint32_t label)
{
    const uint32_t state = t.buffers.root_state[label - 1];
    if (state & ROOT_FINAL) /* measured in an earlier round */
        return NULL;
    const uint32_t id = id_of(t.buffers, state);
    return id >= t.first_id && id < t.past_id ? &t.buffers.sums[id - t.first_id] : NULL;
}

/* Adds a part to the component's sums. */
__device__ static inline void add_to_sums(const SumsTarget &t, const Part &part)
{
    Sums *const sums = sums_of(t, part.label);
    if (!sums)
        return;
    const unsigned long long n = part.n, x = part.x, y = part.y, tx = t.x, ty = t.y;

    atomicAdd(&sums->m10, x + n * tx);
    atomicAdd(&sums->m01, y + n * ty);
    atomicAdd(&sums->m20, part.xx + 2 * tx * x + n * tx * tx);
    atomicAdd(&sums->m11, part.xy + tx * y + ty * x + n * tx * ty);
    atomicAdd(&sums->m02, part.yy + 2 * ty * y + n * ty * ty);
    atomicAdd(&sums->area, part.n);
    atomicMax(&sums->not_x0, ~(part.x0 + t.x));
    atomicMax(&sums->x1, part.x1 + t.x);
    atomicMax(&sums->y1, part.y1 + t.y);
    atomicMax(&sums->not_first, ~part.first);
    sums->root = part.label - 1; /* race: all threads store the same value */
}

/* The components to measure in this round: none if past_id is not above first_id. Parts are relative to (x, y). */
__device__ static inline SumsTarget sums_target(const StageBuffers &buffers, const CudaVars &vars, uint32_t capacity,
                                                unsigned round, uint32_t x, uint32_t y)
{
    return SumsTarget{ buffers, round * buffers.n_sums, past_id_of(buffers, vars, capacity, round), x, y };
}

/* Called by all threads of a grid of one or two dimensions. */
__device__ static inline void clear_words(uint32_t *words, uint32_t n)
{
    const uint32_t block = blockIdx.y * gridDim.x + blockIdx.x, thread = threadIdx.y * blockDim.x + threadIdx.x;
    const uint32_t per_block = blockDim.x * blockDim.y, n_threads = gridDim.x * gridDim.y * per_block;
    for (uint32_t i = block * per_block + thread; i < n; i += n_threads)
        words[i] = 0;
}

#endif
