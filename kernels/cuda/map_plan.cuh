/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* What all kernels for label maps share; see map.cuh. */
#ifndef CCL_CUDA_MAP_PLAN_CUH
#define CCL_CUDA_MAP_PLAN_CUH

#include "backend.cuh"

#define MAP_WIDTH  64u /* of a tile; a word of 64 bits has a bit for each pixel of a row */
#define MAP_HEIGHT 64u
#define MAP_PIXELS (MAP_WIDTH * MAP_HEIGHT)

/* What the kernels of a map share. A place is a pixel of a tile, row * MAP_WIDTH + column. */
typedef struct MapPlan {
    uint32_t width, height;
    uint32_t row_words, tiles_x, bands;
    uint32_t *parents; /* [node]: of roots of tiles only. Later StageBuffers.root_state, which is the same array */
    uint64_t *roots;   /* [word]: pixels that are roots, of their tile, after join of the map */
    uint32_t *runs;    /* [tile][run]: root's place << 18 | length - 1 << 12 | place */
    uint32_t *n_runs;  /* [tile] */
    /* Roots of the pixels at the sides of tiles, without background: */
    uint32_t *first_rows, *last_rows;       /* [band][x] */
    uint32_t *first_columns, *last_columns; /* [column of tiles][y] */
    /* With features; otherwise NULL: */
    uint64_t *foreground, *starts; /* [word]; starts: of runs */
    uint16_t *first_runs;          /* [word]: its first run among those of the tile */
    uint32_t *places;              /* [tile][run]: of its component in the table; past the table's end if it is not there */
    uint8_t *planes;               /* map_planes_size() bytes; NULL with no features but holes */
} MapPlan;

static inline uint32_t map_row_words(uint32_t width)
{
    return (width + MAP_WIDTH - 1) / MAP_WIDTH;
}

/* Nodes of a map of this size. */
static inline size_t map_nodes(uint32_t width, uint32_t height)
{
    return (size_t)map_row_words(width) * MAP_WIDTH * height;
}

/* runs/map_planes.cu: the size of MapPlan.planes. */
size_t map_planes_size(uint32_t width, uint32_t height);

/* Counts hull and intensity, if wanted, and copies these and the shape to the host. */
CclStatus launch_map_planes(CudaFrame *frame, const MapPlan &map, uint32_t capacity);

/* ---------------------------------------------------------------- inside kernels */

/* The value of a pixel inside the map. Rows of 16-bit pixels may have any address: two loads. */
__device__ static inline uint32_t map_value_at(const CudaVars &vars, uint32_t x, uint32_t y)
{
    if (!vars.wide)
        return vars.mask[y * vars.mask_stride + x];
    const uint8_t *const pixel = vars.wide + y * vars.wide_stride + 2 * (size_t)x;
    return pixel[0] | (uint32_t)pixel[1] << 8;
}

/* A run of MapPlan.runs. */
typedef struct MapRun {
    uint32_t place, length, root; /* root: a place too */
} MapRun;

__device__ static inline uint32_t map_entry(const MapRun &run)
{
    return run.root << 18 | (run.length - 1) << 12 | run.place;
}

__device__ static inline MapRun map_run(uint32_t entry)
{
    return MapRun{ entry % MAP_PIXELS, (entry >> 12) % MAP_WIDTH + 1, entry >> 18 };
}

/* The node of a place in the tile whose first pixel is (x, y). */
__device__ static inline uint32_t map_node(const MapPlan &plan, uint32_t x, uint32_t y, uint32_t place)
{
    return (y + place / MAP_WIDTH) * plan.row_words * MAP_WIDTH + x + place % MAP_WIDTH;
}

#endif
