/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * UF: Union-Find.
 * Oliveira, Lotufo, "A Study on Connected Components Labeling Algorithms Using GPUs", SIBGRAPI 2010; 8-connected as in
 * Allegretti, Bolelli, Cancilla, Grana, "Optimizing GPU-Based Connected Components Labeling Algorithms", IPAS 2018.
 *
 * Every pixel begins as a set of its own and is united with each of its foreground neighbours that come before it. Hooks are
 * atomic, so one pass over the image is enough. This is done first inside tiles, in shared memory. Then pixels are united
 * across the tiles' borders, and every pixel looks up its root.
 *
 *   tiles      pixels -> roots within each tile
 *   join       pixels on either side of a seam are united
 *   propagate  each pixel finds its root and takes its label
 *
 * Differences from the paper: foreground is looked up in bits of the tile's rows, and parents have an array of their own
 * instead of the label image. Label maps: map.cuh.
 */
#include "cuda/map.cuh"
#include "cuda/tile.cuh"

static const unsigned HEIGHT = CCL_TILE_HEIGHT;

template <bool EIGHT>
__global__ __launch_bounds__(TILE_WIDTH *HEIGHT) static void label_tiles(const __grid_constant__ CudaVars vars,
                                                                         uint32_t width, uint32_t height,
                                                                         uint32_t *parents)
{
    __shared__ Tile<HEIGHT> tile;
    const bool here = tile.load(vars, width, height);
    tile.parents[tile_place()] = tile_place();
    if (!tile.has_foreground(here, width, height, parents))
        return;
    tile.unite_with(tile.neighbours_to_unite<EIGHT>());
    __syncthreads();
    tile.store(here, width, height, parents);
}

template <bool EIGHT> static CclStatus label(CudaFrame *frame, uint32_t *parents)
{
    CCL_CUDA_LAUNCH(frame, "tiles", label_tiles<EIGHT>, tile_grid<HEIGHT>(frame), tile_block<HEIGHT>(), 0, frame->vars,
                    frame->shape.width, frame->shape.height, parents);
    CCL_TRY((join_tiles<HEIGHT, EIGHT, SEAMS_ALL>(frame, parents)));
    return propagate_from_parents(frame, parents);
}

static size_t workspace_size(const CclContext *context)
{
    return cuda_takes_maps(context) ? cuda_map_workspace_size(context) : parents_size(context);
}

const CclAlgorithm ccl_cuda_uf = {
    .info = { .name = "uf", .title = "Union-Find", .paper = "Oliveira & Lotufo, SIBGRAPI 2010",
              .backend = CCL_BACKEND_CUDA, .connectivity = CCL_CONNECT_4 | CCL_CONNECT_8 },
    .unit = "pixel",
    .bytes_per_pixel = 4,
    .first_pixel_roots = true,
    .takes_maps = true,
    .map_features = CCL_FEATURE_SHAPE | CCL_FEATURE_HULL | CCL_FEATURE_HOLES | CCL_FEATURE_INTENSITY,
    .workspace_size = workspace_size,
    .label = label_with_parents<label<false>, label<true>>,
};
