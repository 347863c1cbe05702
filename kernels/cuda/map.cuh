/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Label maps (CCL_FOREGROUND_EQUAL) on CUDA: union-find over runs of equal pixels, first inside tiles, then across their seams.
 *
 *     tiles      pixels -> runs of a tile and their roots there
 *     join       runs on either side of a seam are united
 *     number     roots are counted in raster order: root -> id
 *     features   runs are summed per id
 *     table      as for masks; also writes class ids
 *     labels     runs -> label image, if one is wanted
 *
 * A run ends at the side of its tile. A node of the union-find is a pixel, y * MapPlan.row_words * 64 + x: the first of a run
 * that is the root of its tile. So the smallest node of a component is its first pixel in raster order.
 */
#ifndef CCL_CUDA_MAP_CUH
#define CCL_CUDA_MAP_CUH

#include "map_plan.cuh"
#include "stages.cuh"
#include "union_find.cuh"

static inline bool cuda_takes_maps(const CclContext *context)
{
    return context->config.foreground == CCL_FOREGROUND_EQUAL;
}

/* Bytes of MapPlan's arrays but `parents`, for the context's largest map. */
size_t cuda_map_workspace_size(const CclContext *context);

/* Launches a frame: from the staged map to table and label image. */
CclStatus cuda_map_analyze(const CclContext *context, CudaFrame *frame, const StageBuffers *stages);

/* Steps in the files of the stages for masks. */
CclStatus number_from_roots(CudaFrame *frame, const MapPlan &plan, const StageBuffers *buffers);
CclStatus features_from_runs(const CclContext *context, CudaFrame *frame, const MapPlan &plan, const StageBuffers *buffers,
                             unsigned round);
/* After them: the counts of features. */
CclStatus count_map_features(const CclContext *context, CudaFrame *frame, const MapPlan &plan, const StageBuffers *buffers);
/* After `places`; see map_holes.cu. */
CclStatus find_map_holes(const CclContext *context, CudaFrame *frame, const MapPlan &plan);

/* With CCL_FEATURE_HOLES `table` stores the rows of component i of the table in [i], as y1 << 16 | y0; otherwise NULL. */
static inline uint32_t *map_heights(const CudaFrame *frame)
{
    return (uint32_t *)frame->counts.holes.workspace;
}

/* ---------------------------------------------------------------- inside kernels */

/* The root of a node and its state. Without `number` the state is the root itself. */
typedef struct MapRoot {
    uint32_t node, state;
} MapRoot;

__device__ static inline MapRoot map_root(const MapPlan &plan, uint32_t node)
{
    uint32_t state = plan.parents[node];
    while (!(state & ROOT_NUMBERED) && state != node) {
        node = state;
        state = plan.parents[node];
    }
    return MapRoot{ node, state };
}

/* The same, for the node of a tile's root. Its path is shortened for other threads, which do the same: so a chain of n nodes
 * takes log n steps. */
__device__ static inline MapRoot map_root_shortened(const MapPlan &plan, uint32_t own)
{
    uint32_t node = own, state = __ldcg(&plan.parents[node]);
    while (!(state & ROOT_NUMBERED)) {
        node = state;
        state = __ldcg(&plan.parents[node]);
        if (!(state & ROOT_NUMBERED))
            __stcg(&plan.parents[own], state);
    }
    return MapRoot{ node, state };
}

/* Unites two nodes, and keeps MapPlan.roots. */
__device__ static inline void unite_nodes(const MapPlan &plan, uint32_t a, uint32_t b)
{
    unite_shortening(plan.parents, a, b,
                     [&](uint32_t larger, uint32_t) { atomicAnd((uint32_t *)plan.roots + larger / 32, ~(1u << larger % 32)); });
}

#endif
