/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * STAVA: tile merging by Stava and Benes.
 * Stava, Benes, "Connected Component Labeling in CUDA", GPU Computing Gems Emerald Edition, chapter 35, 2011.
 *
 * Tiles of 16x16 pixels are labelled by label equivalence in shared memory, to the end. Then 4x4 tiles at a time are merged
 * into a larger tile, level by level, by uniting the pixels along the seams between them. After each level, the pixels on the
 * borders of the larger tiles are pointed at their roots, so that the paths of the next level are short. The number of launches
 * depends on the size of the image only, so the host does not wait for the device.
 *
 *   tiles      label equivalence within each tile
 *   merge      pixels on both sides of seams are united      } once per level: tiles of 16, 64, 256, ... pixels
 *   borders    pixels on borders of the new tiles: roots     } not after the last
 *   propagate  each pixel finds its root and takes the label
 *
 * Differences from the paper: images may have any size, while the published code needs powers of two. Seams end where the image
 * ends. The seams of a level have a thread for each pixel. The published kernel has one thread block for 4x4 tiles, so that a
 * single block merges the last level. If another thread interferes, unite() tries again; the published kernel repeats until
 * nothing changes.
 *
 * `stava-early` and `stava-late` measure as Asad, Marroquim and Souza do (../properties.cuh). In `stava-early`, `tiles` adds up
 * each tile's components in the slots of their roots. One more kernel before `propagate`, `sums`, moves the slots of roots that
 * were merged. The paper moves them in every compression. But `borders` visits only some of the roots, and the last compression
 * visits all.
 */
#include "cuda/properties.cuh"
#include "cuda/propagate.cuh"
#include "cuda/union_find.cuh"
#include "pixels.cuh"

static const uint32_t TILE = 16, GROUP = 4; /* pixels; tiles */
static const uint32_t PITCH = TILE + 2;     /* of a tile in shared memory, with background around it */

/* Adds up each of the tile's components in its root's slot; a pixel with `area` 0 is no root. Called by all threads. */
__device__ static void sum_tile(const PixelSums &sums, uint32_t index, uint32_t root, uint32_t x, uint32_t y,
                                bool inside)
{
    if (root == index)
        pixel_sums_begin(sums, index, x, y);
    else if (inside)
        sums.area[index] = 0;
    __syncthreads(); /* roots are initialized before others add to them */
    if (root != index && root != NO_PARENT)
        pixel_sums_add(sums, root, x, y);
}

/* Label equivalence in shared memory. Labels are positions in shared memory. The entry at a label's own position is its
 * equivalent label. Both are in one array, as in ole.cu. */
template <bool eight, bool early>
__global__ __launch_bounds__(TILE *TILE) static void tiles(const __grid_constant__ CudaVars vars, uint32_t width,
                                                           uint32_t height, uint32_t *parents, PixelSums sums)
{
    __shared__ uint32_t labels[PITCH * PITCH];
    const uint32_t tx = threadIdx.x, ty = threadIdx.y;
    const uint32_t x = blockIdx.x * TILE + tx, y = blockIdx.y * TILE + ty;
    const bool inside = x < width && y < height;
    const bool foreground = inside && is_foreground(vars.mask[y * vars.mask_stride + x], vars);
    const uint32_t place = (ty + 1) * PITCH + tx + 1;

    for (uint32_t i = ty * TILE + tx; i < PITCH * PITCH; i += TILE * TILE)
        labels[i] = NO_PARENT;
    __syncthreads();
    uint32_t label = foreground ? place : NO_PARENT;
    for (;;) {
        labels[place] = label;
        __syncthreads();
        uint32_t lowest = label; /* no test for the edge is needed: the tile has a border of background */
        if (foreground)
            lowest = lowest_around<eight, NO_PARENT>(&labels[place], PITCH, { 1, 1, 3, 3 }, label);
        if (!__syncthreads_or(lowest < label))
            break;
        if (lowest < label)
            atomicMin(&labels[label], lowest);
        __syncthreads();
        if (foreground)
            label = find(labels, label);
        __syncthreads();
    }
    const uint32_t root_x = blockIdx.x * TILE + label % PITCH - 1, root_y = blockIdx.y * TILE + label / PITCH - 1;
    const uint32_t index = y * width + x, root = foreground ? root_y * width + root_x : NO_PARENT;
    if (inside)
        parents[index] = root;
    if (early)
        sum_tile(sums, index, root, x, y, inside);
}

__device__ static void unite_if(uint32_t *parents, uint32_t a, uint32_t b)
{
    if (parents[b] != NO_PARENT)
        unite(parents, a, b);
}

/* Unites a pixel with the row or column beyond the seam: with the adjacent pixel or, if that is background, its two neighbours
 * there. `along`: from pixel to pixel of the seam. */
template <bool eight>
__device__ static void merge_pixel(uint32_t *parents, uint32_t here, uint32_t beyond, uint32_t along, bool first,
                                   bool last)
{
    if (parents[here] == NO_PARENT)
        return;
    if (parents[beyond] != NO_PARENT) {
        unite(parents, here, beyond);
    } else if (eight) {
        if (!first)
            unite_if(parents, here, beyond - along);
        if (!last)
            unite_if(parents, here, beyond + along);
    }
}

/* Seams of one level, where a tile's side is `tile`. blockIdx.y is the seam's number: first those between rows, then
 * those between columns. */
template <bool eight>
__global__ static void merge(uint32_t width, uint32_t height, uint32_t tile, uint32_t row_seams, uint32_t *parents)
{
    const uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    const bool rows = blockIdx.y < row_seams;
    const uint32_t number = rows ? blockIdx.y + 1 : blockIdx.y - row_seams + 1;
    if (number % GROUP == 0 || i >= (rows ? width : height)) /* a seam of a higher level */
        return;
    if (rows) {
        const uint32_t here = number * tile * width + i;
        merge_pixel<eight>(parents, here, here - width, 1, i == 0, i == width - 1);
    } else {
        const uint32_t here = i * width + number * tile;
        merge_pixel<eight>(parents, here, here - 1, width, i == 0, i == height - 1);
    }
}

/* Whether row or column i of `size` is at a seam between tiles. */
__device__ static bool beside_seam(uint32_t i, uint32_t tile, uint32_t size)
{
    return i % tile == 0 ? i > 0 : i % tile == tile - 1 && i + 1 < size;
}

/* Points pixels on both sides of the remaining seams at their roots. Arguments as for merge(), but `tile` is the side of the
 * new tiles. Where seams cross, the row seam has the pixel. */
__global__ static void borders(uint32_t width, uint32_t height, uint32_t tile, uint32_t row_seams, uint32_t *parents)
{
    const uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    const bool rows = blockIdx.y < row_seams;
    const uint32_t number = rows ? blockIdx.y + 1 : blockIdx.y - row_seams + 1;
    if (i >= (rows ? width : height) || (!rows && beside_seam(i, tile, height)))
        return;
    const uint32_t here = rows ? (number * tile - threadIdx.y) * width + i : i * width + number * tile - threadIdx.y;
    if (parents[here] != NO_PARENT)
        compress(parents, here);
}

/* Moves the sums of tile roots that are not roots of the image. */
__global__ static void move_sums(uint32_t n_pixels, uint32_t *parents, PixelSums sums)
{
    const uint32_t index = blockIdx.x * blockDim.x + threadIdx.x;
    if (index >= n_pixels || parents[index] == NO_PARENT || !sums.area[index])
        return;
    const uint32_t root = compress(parents, index);
    if (root != index)
        pixel_sums_move(sums, index, root);
}

template <bool eight, bool early> static CclStatus label_all(CudaFrame *frame, uint32_t *parents, PixelSums sums)
{
    const uint32_t width = frame->shape.width, height = frame->shape.height, longer = max(width, height);

    CCL_CUDA_LAUNCH(frame, "tiles", (tiles<eight, early>), dim3(blocks_for(width, TILE), blocks_for(height, TILE)),
                    dim3(TILE, TILE), 0, frame->vars, width, height, parents, sums);
    for (uint32_t tile = TILE; tile < longer; tile *= GROUP) {
        const uint32_t rows = (height - 1) / tile, columns = (width - 1) / tile, next = tile * GROUP;
        const uint32_t next_rows = (height - 1) / next, next_columns = (width - 1) / next;
        CCL_CUDA_LAUNCH(frame, "merge", merge<eight>, dim3(blocks_for(longer, 128), rows + columns), 128, 0, width,
                        height, tile, rows, parents);
        if (next_rows + next_columns)
            CCL_CUDA_LAUNCH(frame, "borders", borders, dim3(blocks_for(longer, 128), next_rows + next_columns),
                            dim3(128, 2), 0, width, height, next, next_rows, parents);
    }
    if (early)
        CCL_CUDA_LAUNCH(frame, "sums", move_sums, blocks_for(width * height, 256), 256, 0, width * height, parents,
                        sums);
    return propagate_from_parents(frame, parents);
}

template <bool early> static CclStatus label(CclContext *context, CclFrame *ccl_frame)
{
    CudaFrame *const frame = cuda_frame(ccl_frame);
    const PixelSums sums = early ? early_sums(context, frame) : PixelSums{};
    uint32_t *const parents = early ? early_words(context, frame) : (uint32_t *)frame->workspace;
    return is_eight(context) ? label_all<true, early>(frame, parents, sums)
                             : label_all<false, early>(frame, parents, sums);
}

const CclAlgorithm ccl_cuda_stava = {
    .info = { .name = "stava", .title = "Tile merging by Stava and Benes",
              .paper = "Stava & Benes, GPU Computing Gems 2011", .backend = CCL_BACKEND_CUDA,
              .connectivity = CCL_CONNECT_4 | CCL_CONNECT_8 },
    .unit = "pixel",
    .kind = "iterative",
    .bytes_per_pixel = 4,
    .first_pixel_roots = true,
    .workspace_size = parents_size,
    .label = label<false>,
};

const CclAlgorithm ccl_cuda_stava_early = {
    .info = { .name = "stava-early", .title = "Tile merging, sums travel with the labels",
              .paper = "Asad, Marroquim & Souza 2019", .backend = CCL_BACKEND_CUDA,
              .connectivity = CCL_CONNECT_4 | CCL_CONNECT_8 },
    .unit = "pixel",
    .kind = "iterative",
    .bytes_per_pixel = 60,
    .first_pixel_roots = true,
    .workspace_size = early_workspace_size,
    .label = label<true>,
    .features = features_early,
};

const CclAlgorithm ccl_cuda_stava_late = {
    .info = { .name = "stava-late", .title = "Tile merging, sums after numbering",
              .paper = "Asad, Marroquim & Souza 2019", .backend = CCL_BACKEND_CUDA,
              .connectivity = CCL_CONNECT_4 | CCL_CONNECT_8 },
    .unit = "pixel",
    .kind = "iterative",
    .bytes_per_pixel = 4,
    .first_pixel_roots = true,
    .workspace_size = parents_size,
    .label = label<false>,
    .features = features_late,
};
