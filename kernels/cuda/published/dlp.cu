/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * DLP: Distanceless Label Propagation. Cabaret, Lacassagne, Etiemble, "Distanceless Label Propagation: an Efficient Direct
 * Connected Component Labeling Algorithm for GPUs", IPTA 2017. Written from Bolelli et al., IEEE TPDS 2024, section III-B5.
 *
 * The foreground of a square of 2 x 2 pixels is processed together. Its smallest label is scattered to the roots of the pixels'
 * trees, at any distance. Scattering once is quick and joins most pixels, but two squares with the same root may overwrite each
 * other's link. So after flattening, the squares are united with union-find. All this is done inside tiles first. The
 * union-find is then repeated along their borders.
 *
 *   tiles      pixels -> roots within each tile: set roots, flatten, unite
 *   join       squares that lie across seams are united
 *   propagate  each pixel finds its root and takes its label
 *
 * Differences from the paper: the recursive union is a loop. Right and lower borders are joined in one launch. In a square,
 * only labels that are not the smallest are joined with the smallest. A tile of background returns at once. Roots are set with
 * an atomic minimum. The public code (YACCLAB) compares and stores, which is a race, and joins nothing in images of one row or
 * one column. 4-connected, the square is the pixel, the one to its right and the one below.
 */
#include "cuda/tile.cuh"

static const unsigned HEIGHT = CCL_TILE_HEIGHT, THREADS = 128;

/* Nodes of a square's pixels, and which of them are foreground and connected within the square. */
typedef struct Square {
    uint32_t nodes[4];
    bool has[4];
} Square;

/* The square right of and below `node`; the next row is `stride` nodes on. foreground(i): whether nodes[i] is foreground. */
template <bool EIGHT, typename Foreground>
__device__ static inline Square square_at(uint32_t node, uint32_t stride, bool here, Foreground foreground)
{
    const bool all = EIGHT || here;
    return Square{ { node, node + 1, node + stride, node + stride + 1 },
                   { here, all && foreground(1), all && foreground(2), EIGHT && foreground(3) } };
}

/* The labels of a square's pixels, 0 for background, and the smallest label of foreground. */
template <typename Parents>
__device__ static inline uint32_t gather(Parents parents, const Square &square, uint32_t *labels)
{
    uint32_t smallest = UINT32_MAX;
#pragma unroll
    for (unsigned i = 0; i < 4; i++) {
        labels[i] = square.has[i] ? parents[square.nodes[i]] : 0;
        smallest = square.has[i] ? min(smallest, labels[i]) : smallest;
    }
    return smallest;
}

/* The parents of a square's pixels take the smallest label. This is quick, but other threads may undo it. */
__device__ static inline void set_roots(volatile uint32_t *parents, const Square &square)
{
    uint32_t labels[4];
    const uint32_t smallest = gather(parents, square, labels);
#pragma unroll
    for (unsigned i = 0; i < 4; i++)
        if (labels[i] > smallest)
            atomicMin((uint32_t *)&parents[labels[i]], smallest);
}

template <typename Parents> __device__ static inline void unite_square(Parents parents, const Square &square)
{
    uint32_t labels[4];
    const uint32_t smallest = gather(parents, square, labels);
#pragma unroll
    for (unsigned i = 0; i < 4; i++)
        if (labels[i] > smallest)
            unite(parents, labels[i], smallest);
}

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

    const uint32_t row = tile.rows[tile_row()], below = tile_row() + 1 < HEIGHT ? tile.rows[tile_row() + 1] : 0;
    const uint32_t bits = (row >> tile_column() & 3) | (below >> tile_column() & 3) << 2;
    const Square square = square_at<EIGHT>(tile_place(), TILE_WIDTH, here, [&](unsigned i) { return bits >> i & 1; });
    set_roots(tile.volatile_parents(), square);
    tile.flatten(here);
    unite_square(tile.volatile_parents(), square);
    __syncthreads();
    tile.store(here, width, height, parents);
}

/* Squares across seams: of each tile's last row, then of each tile's last column. */
template <bool EIGHT> __global__ static void join_squares(uint32_t width, uint32_t height, uint32_t *parents)
{
    const uint32_t n_rows = (height - 1) / HEIGHT, n_columns = (width - 1) / TILE_WIDTH;
    const uint32_t i = blockIdx.x * blockDim.x + threadIdx.x, j = i - n_rows * width;
    const bool upright = i >= n_rows * width;
    if (upright && j >= n_columns * height)
        return;
    const uint32_t x = upright ? j % n_columns * TILE_WIDTH + TILE_WIDTH - 1 : i % width;
    const uint32_t y = upright ? j / n_columns : i / width * HEIGHT + HEIGHT - 1;
    const uint32_t node = y * width + x;
    const bool right = x + 1 < width, below = y + 1 < height;
    const Square square = square_at<EIGHT>(node, width, parents[node] != NO_PARENT, [&](unsigned at) {
        return (right || !(at & 1)) && (below || !(at & 2)) &&
               parents[node + (at & 1) + (at >> 1) * width] != NO_PARENT;
    });
    unite_square(parents, square);
}

template <bool EIGHT> static CclStatus label(CudaFrame *frame, uint32_t *parents)
{
    const uint32_t width = frame->shape.width, height = frame->shape.height;
    const uint32_t n_squares = (height - 1) / HEIGHT * width + (width - 1) / TILE_WIDTH * height;

    CCL_CUDA_LAUNCH(frame, "tiles", label_tiles<EIGHT>, tile_grid<HEIGHT>(frame), tile_block<HEIGHT>(), 0, frame->vars,
                    width, height, parents);
    if (n_squares)
        CCL_CUDA_LAUNCH(frame, "join", join_squares<EIGHT>, blocks_for(n_squares, THREADS), THREADS, 0, width, height,
                        parents);
    return propagate_from_parents(frame, parents);
}

const CclAlgorithm ccl_cuda_dlp = {
    .info = { .name = "dlp", .title = "Distanceless Label Propagation",
              .paper = "Cabaret, Lacassagne & Etiemble, IPTA 2017", .backend = CCL_BACKEND_CUDA,
              .connectivity = CCL_CONNECT_4 | CCL_CONNECT_8 },
    .unit = "pixel",
    .bytes_per_pixel = 4,
    .first_pixel_roots = true,
    .workspace_size = parents_size,
    .label = label_with_parents<label<false>, label<true>>,
};
