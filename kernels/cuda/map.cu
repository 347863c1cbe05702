/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Label maps. The kernels are those of uf.cu, but a pixel is united only with neighbours that have its own value:
 *
 *   map_tiles    pixels -> roots within each tile
 *   map_join     pixels on either side of a seam are united
 *   propagate    each pixel finds its root and takes its label
 *
 *   class_ids    after the table: the value of each record's first pixel
 *
 * The pixels of one value are a binary mask, and the rules of tile.cuh hold for each of these masks.
 */
#include "map.cuh"
#include "tile.cuh"

static const unsigned HEIGHT = CCL_TILE_HEIGHT;
static const uint32_t NO_VALUE = UINT32_MAX; /* of background, and of pixels outside */

/* ---------------------------------------------------------------- values */

/* The value of a pixel inside the map. Rows of 16-bit pixels may have any address: two loads. */
__device__ static inline uint32_t value_at(const CudaVars &vars, uint32_t x, uint32_t y)
{
    if (!vars.wide)
        return vars.mask[y * vars.mask_stride + x];
    const uint8_t *const pixel = vars.wide + y * vars.wide_stride + 2 * (size_t)x;
    return pixel[0] | (uint32_t)pixel[1] << 8;
}

__device__ static inline uint32_t foreground_value(const CudaVars &vars, uint32_t x, uint32_t y)
{
    const uint32_t value = value_at(vars, x, y);
    return value == vars.threshold ? NO_VALUE : value;
}

/* ---------------------------------------------------------------- tiles */

/* The neighbours that have the value of this thread's pixel, without those that others imply. */
template <bool EIGHT> __device__ static unsigned equal_neighbours(const uint32_t *values)
{
    const uint32_t place = tile_place(), column = tile_column(), value = values[place];
    const bool top = !tile_row(), last = column + 1 == TILE_WIDTH;
    if (value == NO_VALUE)
        return 0;
    const bool north = !top && values[place - TILE_WIDTH] == value;
    const bool west = column && values[place - 1] == value;
    const bool north_west = !top && column && values[place - TILE_WIDTH - 1] == value;
    const bool north_east = EIGHT && !top && !last && values[place - TILE_WIDTH + 1] == value;
    const bool east = EIGHT && !last && values[place + 1] == value;
    return (west ? WEST : 0) | (north && !(west && north_west) ? NORTH : 0) |
           (EIGHT && north_west && !north && !west ? NORTH_WEST : 0) | (north_east && !north && !east ? NORTH_EAST : 0);
}

template <bool EIGHT>
__global__ __launch_bounds__(TILE_WIDTH *HEIGHT) static void map_tiles(const __grid_constant__ CudaVars vars, uint32_t width,
                                                                       uint32_t height, uint32_t *parents)
{
    __shared__ Tile<HEIGHT> tile;
    __shared__ uint32_t values[HEIGHT * TILE_WIDTH];
    const uint32_t x = blockIdx.x * TILE_WIDTH + tile_column(), y = blockIdx.y * HEIGHT + tile_row();
    const uint32_t value = x < width && y < height ? foreground_value(vars, x, y) : NO_VALUE;
    const bool here = value != NO_VALUE;
    values[tile_place()] = value;
    tile.parents[tile_place()] = tile_place();
    if (!tile.has_foreground(here, width, height, parents))
        return;
    tile.unite_with(equal_neighbours<EIGHT>(values));
    __syncthreads();
    tile.store(here, width, height, parents);
}

/* ---------------------------------------------------------------- seams */

/* The map around a pixel at a seam. */
typedef struct Around {
    const CudaVars &vars;
    uint32_t width, height, x, y, value;
} Around;

/* Whether the pixel at this offset has the same value. Offsets wrap below 0, and then are outside. */
__device__ static inline bool is_equal(const Around &around, int dx, int dy)
{
    const uint32_t x = around.x + (uint32_t)dx, y = around.y + (uint32_t)dy;
    return x < around.width && y < around.height && value_at(around.vars, x, y) == around.value;
}

/* Pixel (x, y) is in the first row of its tile. See join_row(). */
template <bool EIGHT> __device__ static void map_join_row(const Around &around, uint32_t *parents)
{
    const uint32_t here = around.y * around.width + around.x, above = here - around.width;
    const bool north = is_equal(around, 0, -1), north_west = is_equal(around, -1, -1), west = is_equal(around, -1, 0);
    unite_if(north && !(west && north_west), parents, here, above);
    if (!EIGHT || north)
        return;
    unite_if(north_west && !west, parents, here, above - 1);
    unite_if(is_equal(around, 1, -1) && !is_equal(around, 1, 0), parents, here, above + 1);
}

/* Pixel (x, y) is in the first column of its tile, whose rows are [y0, y1). See join_column(). */
template <bool EIGHT> __device__ static void map_join_column(const Around &around, uint32_t y0, uint32_t y1, uint32_t *parents)
{
    const uint32_t here = around.y * around.width + around.x;
    const bool north = around.y > y0 && is_equal(around, 0, -1), north_west = around.y > y0 && is_equal(around, -1, -1);
    const bool west = is_equal(around, -1, 0);
    unite_if(west && !(north && north_west), parents, here, here - 1);
    if (!EIGHT || west)
        return;
    unite_if(north_west && !north, parents, here, here - around.width - 1);
    const bool has_south = around.y + 1 < y1;
    unite_if(has_south && is_equal(around, -1, 1) && !is_equal(around, 0, 1), parents, here, here + around.width - 1);
}

/* The same threads as in join_seams(). */
template <bool EIGHT>
__global__ static void map_join(const __grid_constant__ CudaVars vars, uint32_t width, uint32_t height, uint32_t n_columns,
                                uint32_t *parents)
{
    const uint32_t per_tile = TILE_WIDTH + HEIGHT, i = blockIdx.x * blockDim.x + threadIdx.x;
    const uint32_t tile = i / per_tile, j = i % per_tile;
    const uint32_t x0 = tile % n_columns * TILE_WIDTH, y0 = tile / n_columns * HEIGHT;
    const bool in_row = j < TILE_WIDTH;
    const uint32_t x = in_row ? x0 + j : x0, y = in_row ? y0 : y0 + j - TILE_WIDTH;
    if (x >= width || y >= height || !(in_row ? y0 : x0))
        return;
    const Around around = { vars, width, height, x, y, value_at(vars, x, y) };
    if (around.value == vars.threshold)
        return;
    if (in_row)
        map_join_row<EIGHT>(around, parents);
    else
        map_join_column<EIGHT>(around, y0, min(y0 + HEIGHT, height), parents);
}

template <bool EIGHT> static CclStatus label(CudaFrame *frame, uint32_t *parents)
{
    const uint32_t width = frame->shape.width, height = frame->shape.height, threads = 128;
    const uint32_t n_columns = blocks_for(width, TILE_WIDTH), n_tiles = n_columns * blocks_for(height, HEIGHT);
    CCL_CUDA_LAUNCH(frame, "tiles", map_tiles<EIGHT>, tile_grid<HEIGHT>(frame), tile_block<HEIGHT>(), 0, frame->vars, width,
                    height, parents);
    if (n_tiles > 1)
        CCL_CUDA_LAUNCH(frame, "join", map_join<EIGHT>, blocks_for(n_tiles * (TILE_WIDTH + HEIGHT), threads), threads, 0,
                        frame->vars, width, height, n_columns, parents);
    return propagate_from_parents(frame, parents);
}

CclStatus cuda_map_label(CclContext *context, CclFrame *frame)
{
    return label_with_parents<label<false>, label<true>>(context, frame);
}

/* ---------------------------------------------------------------- class ids */

__global__ static void class_ids(const __grid_constant__ CudaVars vars, uint32_t capacity, const CudaResult *result,
                                 const CclComponent *records, uint16_t *ids)
{
    const uint32_t n = min(result->n_kept, capacity);
    for (uint32_t i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        ids[i] = (uint16_t)value_at(vars, records[i].first_x, records[i].y0);
}

CclStatus cuda_map_class_ids(const CclContext *context, CudaFrame *frame)
{
    const unsigned grid = min(blocks_for(context->capacity, 128), 4 * cuda_multiprocessors(context));
    CCL_CUDA_LAUNCH(frame, "class_ids", class_ids, grid, 128, 0, frame->vars, context->capacity, frame->result, frame->records,
                    frame->class_ids);
    return CCL_OK;
}
