/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Playne: Playne-Equivalence. Playne, Hawick, "A New Algorithm for Parallel Connected-Component Labelling on GPUs", IEEE TPDS
 * 29(6), 2018, in its form with tiles. Written from the first author's example (github.com/DanielPlayne), Hennequin et al.,
 * DASIP 2018, section II, and Allegretti et al., IEEE TPDS 2020, section 3.2.
 *
 * As in Komura's method, pixels begin as children of an earlier neighbour. But another neighbour is united only if no other
 * link implies it. Few pixels have such a neighbour, and none has more than one. If another thread changes the parent of a
 * root, a union continues from that parent. Tiles come first, in shared memory; then seams, by the same rule.
 *
 *   tiles      pixels -> roots within each tile: link, flatten, reduce
 *   join       pixels on either side of a seam are united, where no other pair implies it
 *   propagate  each pixel finds its root and takes its label
 *
 * 4-connected, a pixel takes the pixel above, else the one to the left. The left one remains to be united only if the corner
 * between them is background:
 *
 *     . #
 *     # x
 *
 * 8-connected (not in the paper), it takes the pixel above, else above left, else left, else above right. If the pixel above is
 * foreground, nothing else remains. Otherwise the pixel above right remains, if another one was taken:
 *
 *     # . #      . . #
 *     ? x        # x
 *
 * Differences from the paper: tiles of 16 x 16 pixels instead of 32 x 4. Horizontal and vertical seams are one launch instead
 * of two on different streams. The background is no component. The public example has two faults: threads past the image's edge
 * miss barriers of their block, and a parent is written while other threads read it to flatten. Here neither happens.
 */
#include "cuda/tile.cuh"

static const unsigned HEIGHT = CCL_TILE_HEIGHT;

/* Distance in the tile from a pixel back to the neighbour that becomes its parent; 0: none. */
__device__ static uint32_t link_distance(unsigned neighbours)
{
    return neighbours & NORTH        ? TILE_WIDTH
           : neighbours & NORTH_WEST ? TILE_WIDTH + 1
           : neighbours & WEST       ? 1
           : neighbours & NORTH_EAST ? TILE_WIDTH - 1
                                     : 0;
}

template <bool EIGHT>
__global__ __launch_bounds__(TILE_WIDTH *HEIGHT) static void label_tiles(const __grid_constant__ CudaVars vars,
                                                                         uint32_t width, uint32_t height,
                                                                         uint32_t *parents)
{
    __shared__ Tile<HEIGHT> tile;
    const bool here = tile.load(vars, width, height);
    if (!tile.has_foreground(here, width, height, parents))
        return;
    const unsigned around = tile.neighbours();
    tile.parents[tile_place()] = tile_place() - link_distance(EIGHT ? around : around & (NORTH | WEST));
    tile.flatten(here);

    if (EIGHT && !(around & NORTH) && around & NORTH_EAST && around & (NORTH_WEST | WEST))
        tile.unite_with(NORTH_EAST);
    if (!EIGHT && around & NORTH && around & WEST && !(around & NORTH_WEST))
        tile.unite_with(WEST);
    __syncthreads();
    tile.store(here, width, height, parents);
}

template <bool EIGHT> static CclStatus label(CudaFrame *frame, uint32_t *parents)
{
    CCL_CUDA_LAUNCH(frame, "tiles", label_tiles<EIGHT>, tile_grid<HEIGHT>(frame), tile_block<HEIGHT>(), 0, frame->vars,
                    frame->shape.width, frame->shape.height, parents);
    CCL_TRY((join_tiles<HEIGHT, EIGHT, SEAMS_LEAN>(frame, parents)));
    return propagate_from_parents(frame, parents);
}

const CclAlgorithm ccl_cuda_playne = {
    .info = { .name = "playne", .title = "Playne-Equivalence", .paper = "Playne & Hawick, TPDS 2018",
              .backend = CCL_BACKEND_CUDA, .connectivity = CCL_CONNECT_4 | CCL_CONNECT_8 },
    .unit = "pixel",
    .bytes_per_pixel = 4,
    .first_pixel_roots = true,
    .workspace_size = parents_size,
    .label = label_with_parents<label<false>, label<true>>,
};
