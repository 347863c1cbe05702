/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Labelling in two levels, for methods whose nodes are pixels: tiles in shared memory, then the seams between them.
 *
 * A block labels a tile of TILE_WIDTH x HEIGHT pixels, a thread per pixel. In the tile a node is its place row * TILE_WIDTH +
 * column, which is raster order, so a tile's root is the first pixel of its component there. A method's kernel looks like this,
 * and differs in what it does between the barriers:
 *
 *     __shared__ Tile<HEIGHT> tile;
 *     const bool here = tile.load(vars, width, height);
 *     tile.parents[tile_place()] = tile_place();              or any earlier neighbour
 *     if (!tile.has_foreground(here, width, height, parents))
 *         return;
 *     ... unite(tile.volatile_parents(), tile_place(), place of a neighbour) ...
 *     __syncthreads();
 *     tile.store(here, width, height, parents);
 *
 * Roots then go into the parent image of propagate.cuh, and join_tiles() unites pixels that touch across seams.
 */
#ifndef CCL_CUDA_TILE_CUH
#define CCL_CUDA_TILE_CUH

#include "propagate.cuh"
#include "union_find.cuh"

/* For experiments with the size of a block, a build can have other tiles: meson setup -Dcuda_args=-DCCL_TILE_HEIGHT=8.
 * The width is 32 or 16, the height even. */
#ifndef CCL_TILE_WIDTH
#define CCL_TILE_WIDTH 16
#endif
#ifndef CCL_TILE_HEIGHT
#define CCL_TILE_HEIGHT 16
#endif

static const unsigned TILE_WIDTH = CCL_TILE_WIDTH;

/* Neighbours of a pixel that come before it in raster order. */
enum {
    NORTH_WEST = 1,
    NORTH = 2,
    NORTH_EAST = 4,
    WEST = 8,
};

/* This thread's pixel in the tile: a warp has 32 pixels of a row, or 16 each of two. */
__device__ static inline uint32_t tile_place()
{
    return threadIdx.y * 32 + threadIdx.x;
}

__device__ static inline uint32_t tile_column()
{
    return threadIdx.x % TILE_WIDTH;
}

__device__ static inline uint32_t tile_row()
{
    return tile_place() / TILE_WIDTH;
}

template <unsigned HEIGHT> struct Tile {
    uint32_t parents[HEIGHT * TILE_WIDTH];
    uint32_t rows[HEIGHT]; /* foreground, bit by bit */

    /* Whether this thread's pixel is foreground. rows[] may be read after the next barrier. */
    __device__ bool load(const CudaVars &vars, uint32_t width, uint32_t height)
    {
        const uint32_t x = blockIdx.x * TILE_WIDTH + tile_column(), y = blockIdx.y * HEIGHT + tile_row();
        const bool here = y < height && pixel_at(vars, x, y, width);
        const uint32_t warp = __ballot_sync(~0u, here);
        if (tile_column() == 0)
            rows[tile_row()] = (warp >> threadIdx.x) & (~0u >> (32 - TILE_WIDTH));
        return here;
    }

    /* The barrier after load(); all threads of the block call it. False: the tile has only background. The parent image has it
     * already, and nothing is left to do. */
    __device__ bool has_foreground(bool here, uint32_t width, uint32_t height, uint32_t *image) const
    {
        if (__syncthreads_or(here))
            return true;
        store(false, width, height, image);
        return false;
    }

    /* Foreground pixels of the tile that touch this thread's pixel and come before it: a set of NORTH etc. 0 if the pixel is
     * background. */
    __device__ unsigned neighbours() const
    {
        const uint32_t column = tile_column(), row = rows[tile_row()], above = tile_row() ? rows[tile_row() - 1] : 0;
        if (!(row >> column & 1))
            return 0;
        return ((above << 1) >> column & 1 ? NORTH_WEST : 0) | (above >> column & 1 ? NORTH : 0) |
               ((above >> 1) >> column & 1 ? NORTH_EAST : 0) | ((row << 1) >> column & 1 ? WEST : 0);
    }

    /* The neighbours to unite with: above and to the left. 8-connected, also those across a corner where both pixels between
     * are background. */
    template <bool EIGHT> __device__ unsigned neighbours_to_unite() const
    {
        const unsigned all = neighbours();
        const bool east = (rows[tile_row()] >> 1) >> tile_column() & 1;
        unsigned found = all & (NORTH | WEST);
        if (EIGHT && !(all & NORTH))
            found |= (all & WEST ? 0 : all & NORTH_WEST) | (east ? 0 : all & NORTH_EAST);
        return found;
    }

    /* The parents while other threads of the block unite. */
    __device__ volatile uint32_t *volatile_parents() { return parents; }

    /* Unites this thread's pixel with each of `neighbours`. */
    __device__ void unite_with(unsigned neighbours)
    {
        const uint32_t place = tile_place();
        if (neighbours & NORTH_WEST)
            unite(volatile_parents(), place, place - TILE_WIDTH - 1);
        if (neighbours & NORTH)
            unite(volatile_parents(), place, place - TILE_WIDTH);
        if (neighbours & NORTH_EAST)
            unite(volatile_parents(), place, place - TILE_WIDTH + 1);
        if (neighbours & WEST)
            unite(volatile_parents(), place, place - 1);
    }

    /* Points this thread's pixel at its root. All threads of the block call it. It has barriers, so that no parent is read
     * while one is written. */
    __device__ void flatten(bool here)
    {
        __syncthreads();
        const uint32_t root = here ? find(parents, tile_place()) : 0;
        __syncthreads();
        if (here)
            parents[tile_place()] = root;
        __syncthreads();
    }

    /* The root of this thread's pixel, or NO_PARENT, to the parent image. */
    __device__ void store(bool here, uint32_t width, uint32_t height, uint32_t *image) const
    {
        const uint32_t x0 = blockIdx.x * TILE_WIDTH, y0 = blockIdx.y * HEIGHT;
        const uint32_t x = x0 + tile_column(), y = y0 + tile_row();
        if (x >= width || y >= height)
            return;
        uint32_t root = NO_PARENT;
        if (here) {
            const uint32_t place = find(parents, tile_place());
            root = (y0 + place / TILE_WIDTH) * width + x0 + place % TILE_WIDTH;
        }
        image[y * width + x] = root;
    }
};

/* ---------------------------------------------------------------- seams */

/*
 * Which pairs across seams are united.
 *
 *   SEAMS_ALL    every pixel with the one on the other side
 *   SEAMS_LEAN   only where no other pair implies it: the first pixels of two runs side by side
 *
 * 8-connected, pixels across a corner as well, where both pixels between them are background.
 */
typedef enum Seams {
    SEAMS_ALL,
    SEAMS_LEAN,
} Seams;

__device__ static inline void unite_if(bool yes, uint32_t *parents, uint32_t a, uint32_t b)
{
    if (yes)
        unite(parents, a, b);
}

/* Unites pixel (x, y), in the first row of its tile, with the pixels above. A pair is implied by pairs to its left, by pairs of
 * vertical seams further up, or by unions inside a tile. No two pairs imply each other. */
template <bool EIGHT, Seams SEAMS>
__device__ static inline void join_row(uint32_t width, uint32_t x, uint32_t y, uint32_t *parents)
{
    const bool lean = SEAMS == SEAMS_LEAN;
    const uint32_t here = y * width + x, above = here - width;
    if (parents[here] == NO_PARENT)
        return;
    const bool north = parents[above] != NO_PARENT;
    const bool west = (EIGHT || lean) && x && parents[here - 1] != NO_PARENT;
    const bool north_west = (EIGHT || lean) && x && parents[above - 1] != NO_PARENT;
    const bool east = EIGHT && x + 1 < width && parents[here + 1] != NO_PARENT;
    const bool north_east = EIGHT && x + 1 < width && parents[above + 1] != NO_PARENT;
    unite_if(north && !(lean && west && north_west), parents, here, above);
    unite_if(EIGHT && north_west && !north && !west, parents, here, above - 1);
    unite_if(EIGHT && north_east && !north && !east, parents, here, above + 1);
}

/* Unites pixel (x, y), in the first column of its tile, with the pixels to the left, in tiles of the same rows. */
template <bool EIGHT, Seams SEAMS>
__device__ static inline void join_column(uint32_t width, uint32_t x, uint32_t y, bool first_row, bool last_row,
                                          uint32_t *parents)
{
    const bool lean = SEAMS == SEAMS_LEAN;
    const uint32_t here = y * width + x, above = here - width, below = here + width;
    if (parents[here] == NO_PARENT)
        return;
    const bool west = parents[here - 1] != NO_PARENT;
    const bool north = (EIGHT || lean) && !first_row && parents[above] != NO_PARENT;
    const bool north_west = (EIGHT || lean) && !first_row && parents[above - 1] != NO_PARENT;
    const bool south = EIGHT && !last_row && parents[below] != NO_PARENT;
    const bool south_west = EIGHT && !last_row && parents[below - 1] != NO_PARENT;
    unite_if(west && !(lean && north && north_west), parents, here, here - 1);
    unite_if(EIGHT && north_west && !west && !north, parents, here, above - 1);
    unite_if(EIGHT && south_west && !west && !south, parents, here, below - 1);
}

/* A thread for each pixel of a tile's first row, then one for each of its first column. So pixels that are close are united at
 * about the same time. */
template <unsigned HEIGHT, bool EIGHT, Seams SEAMS>
__global__ static void join_seams(uint32_t width, uint32_t height, uint32_t n_columns, uint32_t *parents)
{
    const uint32_t per_tile = TILE_WIDTH + HEIGHT, i = blockIdx.x * blockDim.x + threadIdx.x;
    const uint32_t tile = i / per_tile, j = i % per_tile;
    const uint32_t x0 = tile % n_columns * TILE_WIDTH, y0 = tile / n_columns * HEIGHT;
    if (j < TILE_WIDTH) {
        if (y0 && y0 < height && x0 + j < width)
            join_row<EIGHT, SEAMS>(width, x0 + j, y0, parents);
        return;
    }
    const uint32_t y = y0 + j - TILE_WIDTH;
    if (x0 && y < height)
        join_column<EIGHT, SEAMS>(width, x0, y, y == y0, y == y0 + HEIGHT - 1 || y + 1 == height, parents);
}

/* Step "join": tiles of HEIGHT rows are united along their seams. */
template <unsigned HEIGHT, bool EIGHT, Seams SEAMS> static CclStatus join_tiles(CudaFrame *frame, uint32_t *parents)
{
    const uint32_t width = frame->shape.width, height = frame->shape.height, threads = 128;
    const uint32_t n_columns = blocks_for(width, TILE_WIDTH), n_tiles = n_columns * blocks_for(height, HEIGHT);
    if (n_tiles > 1)
        CCL_CUDA_LAUNCH(frame, "join", (join_seams<HEIGHT, EIGHT, SEAMS>), blocks_for(n_tiles * (TILE_WIDTH + HEIGHT), threads),
                        threads, 0, width, height, n_columns, parents);
    return CCL_OK;
}

/* The grid and the block of a kernel that labels tiles. */
template <unsigned HEIGHT> static inline dim3 tile_grid(const CudaFrame *frame)
{
    return dim3(blocks_for(frame->shape.width, TILE_WIDTH), blocks_for(frame->shape.height, HEIGHT));
}

template <unsigned HEIGHT> static inline dim3 tile_block()
{
    return dim3(32, TILE_WIDTH * HEIGHT / 32);
}

#endif
