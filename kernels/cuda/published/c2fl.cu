/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * C2FL: coarse to fine labelling, and its variants RC2FL, CC2FL and NC2FL. Chen, Nonaka, Sankoh, Watanabe, Sabirin,
 * Naito, "Efficient Parallel Connected Component Labeling With a Coarse-to-Fine Strategy", IEEE Access 6, 2018, doi
 * 10.1109/ACCESS.2018.2872452.
 *
 * In a tile, pixels are first linked along rows and columns without atomics, where a column has precedence over a row.
 * Flattening then leaves few sets: the coarse part. Neighbours whose labels still differ are united with atomics: the fine
 * part. Pixels along the tiles' borders are united too. The variants show the effect of the coarse part: they link along rows
 * only, along columns only, or not at all.
 *
 *   tiles      pixels -> roots within each tile: link, flatten, refine
 *   join       pixels on either side of a seam are united
 *   propagate  each pixel finds its root and takes its label
 *
 * Differences from the paper: row and column links are made in one step, with the same result according to the paper. A barrier
 * separates reads of parents from writes. NC2FL is the same as UF, as the paper says.
 */
#include "cuda/tile.cuh"

static const unsigned HEIGHT = CCL_TILE_HEIGHT;

enum {
    ROWS = 1,
    COLUMNS = 2,
};

/* Unites this thread's pixel with the neighbours that have another label after flattening. */
__device__ static void refine(Tile<HEIGHT> &tile, unsigned neighbours)
{
    const uint32_t place = tile_place();
    const auto differs = [&](unsigned which, uint32_t distance) {
        return neighbours & which && tile.volatile_parents()[place - distance] != tile.volatile_parents()[place] ? which : 0;
    };
    tile.unite_with(differs(NORTH_WEST, TILE_WIDTH + 1) | differs(NORTH, TILE_WIDTH) |
                    differs(NORTH_EAST, TILE_WIDTH - 1) | differs(WEST, 1));
}

template <unsigned COARSE, bool EIGHT>
__global__ __launch_bounds__(TILE_WIDTH *HEIGHT) static void label_tiles(const __grid_constant__ CudaVars vars,
                                                                         uint32_t width, uint32_t height,
                                                                         uint32_t *parents)
{
    __shared__ Tile<HEIGHT> tile;
    const uint32_t place = tile_place();
    const bool here = tile.load(vars, width, height);
    if (!tile.has_foreground(here, width, height, parents))
        return;
    const unsigned neighbours = tile.neighbours_to_unite<EIGHT>();
    unsigned open = neighbours; /* neighbours that coarse links may not unite */
    uint32_t parent = place;
    if (COARSE & COLUMNS) {
        parent = neighbours & NORTH ? place - TILE_WIDTH : parent;
        open &= ~NORTH;
    }
    if (COARSE & ROWS && parent == place) {
        parent = neighbours & WEST ? place - 1 : parent;
        open &= ~WEST;
    }
    tile.parents[place] = parent;
    if (COARSE)
        tile.flatten(here);
    else
        __syncthreads();
    refine(tile, open);
    __syncthreads();
    tile.store(here, width, height, parents);
}

template <unsigned COARSE, bool EIGHT> static CclStatus label(CudaFrame *frame, uint32_t *parents)
{
    CCL_CUDA_LAUNCH(frame, "tiles", (label_tiles<COARSE, EIGHT>), tile_grid<HEIGHT>(frame), tile_block<HEIGHT>(), 0,
                    frame->vars, frame->shape.width, frame->shape.height, parents);
    CCL_TRY((join_tiles<HEIGHT, EIGHT, SEAMS_ALL>(frame, parents)));
    return propagate_from_parents(frame, parents);
}

const CclAlgorithm ccl_cuda_c2fl = {
    .info = { .name = "c2fl", .title = "Coarse-to-fine", .paper = "Chen et al., IEEE Access 2018",
              .backend = CCL_BACKEND_CUDA, .connectivity = CCL_CONNECT_4 | CCL_CONNECT_8 },
    .unit = "pixel",
    .bytes_per_pixel = 4,
    .first_pixel_roots = true,
    .workspace_size = parents_size,
    .label = label_with_parents<label<ROWS | COLUMNS, false>, label<ROWS | COLUMNS, true>>,
};

const CclAlgorithm ccl_cuda_cc2fl = {
    .info = { .name = "cc2fl", .title = "Coarse-to-fine, columns only", .paper = "Chen et al., IEEE Access 2018",
              .backend = CCL_BACKEND_CUDA, .connectivity = CCL_CONNECT_4 | CCL_CONNECT_8 },
    .unit = "pixel",
    .bytes_per_pixel = 4,
    .first_pixel_roots = true,
    .workspace_size = parents_size,
    .label = label_with_parents<label<COLUMNS, false>, label<COLUMNS, true>>,
};

const CclAlgorithm ccl_cuda_nc2fl = {
    .info = { .name = "nc2fl", .title = "Coarse-to-fine, fine only", .paper = "Chen et al., IEEE Access 2018",
              .backend = CCL_BACKEND_CUDA, .connectivity = CCL_CONNECT_4 | CCL_CONNECT_8 },
    .unit = "pixel",
    .bytes_per_pixel = 4,
    .first_pixel_roots = true,
    .workspace_size = parents_size,
    .label = label_with_parents<label<0, false>, label<0, true>>,
};

const CclAlgorithm ccl_cuda_rc2fl = {
    .info = { .name = "rc2fl", .title = "Coarse-to-fine, rows only", .paper = "Chen et al., IEEE Access 2018",
              .backend = CCL_BACKEND_CUDA, .connectivity = CCL_CONNECT_4 | CCL_CONNECT_8 },
    .unit = "pixel",
    .bytes_per_pixel = 4,
    .first_pixel_roots = true,
    .workspace_size = parents_size,
    .label = label_with_parents<label<ROWS, false>, label<ROWS, true>>,
};
