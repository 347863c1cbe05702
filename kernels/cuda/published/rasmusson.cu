/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Rasmusson: label propagation along the longest connected lines, 8-connected.
 * Rasmusson, Sorensen, Ziegler, "Connected Components Labeling on the GPU with Generalization to Voronoi Diagrams and
 * Signed Distance Fields", International Symposium on Visual Computing 2013, doi 10.1007/978-3-642-41914-0_21.
 *
 * In each of the eight directions, a pixel finds how far connected pixels reach, within its tile of 32x32 and one pixel past
 * it. It takes the label at the far end if that is lower. So one read covers up to 32 pixels. The adjacent pixels are read as
 * well; without them the last differences would stay. Before that, the pixel takes the current label of the pixel whose label
 * it has, if that one is near. So a label follows the path of earlier labels.
 *
 *   init       each pixel its own label
 *   propagate  the lowest label at the ends of eight lines and of the eight neighbours; repeated until none changes
 *
 * Differences from the paper: the published code finds the lengths by five doublings with shuffles. Here one ballot over the
 * line gives the same lengths: the ones on either side of the pixel's bit. The published code keeps connections in four bits of
 * the label, so that it is limited to 2^28 pixels. In a binary image two neighbours are connected if both are foreground, which
 * their labels already show.
 */
#include "cuda/published/iterate.cuh"
#include "cuda/propagate.cuh"
#include "cuda/stages.cuh"
#include "pixels.cuh"

static const uint32_t TILE = 32;
static const uint32_t PITCH = TILE + 2; /* in shared memory: one pixel around the tile */

/* The four lines through a tile's pixels, one pixel per lane. A diagonal that leaves the tile at one side continues at the
 * other. The line is interrupted between the lanes `cut - 1` and `cut`. */
typedef struct Line {
    int32_t dx, dy;   /* from lane to lane */
    uint32_t x, y;    /* the lane's pixel in the tile */
    uint32_t cut;
} Line;

__device__ static Line line_through(unsigned axis, uint32_t warp, uint32_t lane)
{
    switch (axis) {
    case 0:
        return { 1, 0, lane, warp, TILE };
    case 1:
        return { 0, 1, warp, lane, TILE };
    case 2:
        return { 1, 1, (warp + lane) % TILE, lane, TILE - warp };
    default:
        return { -1, 1, (warp - lane) % TILE, lane, warp + 1 };
    }
}

/* The label `reach` pixels on or, at the end of the tile, one pixel further. */
__device__ static uint32_t label_at_end(const uint32_t *place, int32_t step, uint32_t reach, uint32_t max_reach)
{
    const uint32_t end = place[step * (int32_t)reach];
    return reach == max_reach ? min(end, place[step * (int32_t)(reach + 1)]) : end;
}

/* The lowest label that comes along one line, for pixel `place`. */
__device__ static uint32_t lowest_on_line(const Line &line, const uint32_t *place, uint32_t lane)
{
    const uint32_t pixels = __ballot_sync(~0u, *place != NO_PARENT);
    const bool before_cut = lane < line.cut;
    const uint32_t max_back = before_cut ? lane : lane - line.cut;
    const uint32_t max_on = (before_cut ? min(line.cut, TILE) : TILE) - 1 - lane;
    const uint32_t back = min((uint32_t)__clz(~(pixels << (31 - lane))) - 1, max_back);
    const uint32_t on = min((uint32_t)__ffs(~(pixels >> lane)) - 2, max_on); /* all ones: 0 - 2, cut to `max_on` */
    const int32_t step = line.dy * (int32_t)PITCH + line.dx;
    if (*place == NO_PARENT)
        return NO_PARENT;
    const uint32_t ends = min(label_at_end(place, -step, back, max_back), label_at_end(place, step, on, max_on));
    return min(ends, min(place[-step], place[step]));
}

/* The current label of the pixel whose own label this is, if it is in the tile or adjacent to it; otherwise the label. */
__device__ static uint32_t label_of_label(const uint32_t *tile, uint32_t label, uint32_t x0, uint32_t y0,
                                          uint32_t width, uint64_t magic)
{
    if (label == NO_PARENT)
        return label;
    const uint32_t y = divide_by_width(label, magic), x = label - y * width;
    const uint32_t row = y - (y0 - 1), column = x - (x0 - 1);
    return row < PITCH && column < PITCH ? tile[row * PITCH + column] : label;
}

/* In shared memory labels are one less than in the image: indices, and NO_PARENT for background. */
__global__ __launch_bounds__(TILE *TILE) static void propagate(const __grid_constant__ CudaVars vars, uint32_t width,
                                                               uint32_t height, uint64_t magic, uint32_t *changed)
{
    __shared__ uint32_t tile[PITCH * PITCH];
    const uint32_t lane = threadIdx.x, warp = threadIdx.y;
    const uint32_t x0 = blockIdx.x * TILE, y0 = blockIdx.y * TILE;
    const size_t stride = vars.label_stride;

    bool any = false;
    for (uint32_t i = warp * TILE + lane; i < PITCH * PITCH; i += TILE * TILE) {
        const uint32_t x = x0 + i % PITCH - 1, y = y0 + i / PITCH - 1; /* may wrap around */
        const uint32_t label = x < width && y < height ? vars.labels[y * stride + x] : 0;
        tile[i] = label - 1;
        any |= label;
    }
    if (!__syncthreads_or(any))
        return;
    uint32_t *const own_place = &tile[(warp + 1) * PITCH + lane + 1];
    const uint32_t own = *own_place, known = label_of_label(tile, own, x0, y0, width, magic);
    __syncthreads();
    *own_place = min(own, known);
    __syncthreads();
#pragma unroll
    for (unsigned axis = 0; axis < 4; axis++) {
        const Line line = line_through(axis, warp, lane);
        uint32_t *const place = &tile[(line.y + 1) * PITCH + line.x + 1];
        const uint32_t label = lowest_on_line(line, place, lane);
        __syncthreads();
        if (label < *place)
            *place = label;
        __syncthreads();
    }
    if (*own_place < own) {
        /* race: as in lowest_around() */
        vars.labels[(y0 + warp) * stride + x0 + lane] = *own_place + 1;
        note_change(changed);
    }
}

/* Each iteration moves a label along a path by at least one pixel. */
static CclStatus label(CclContext *context, CclFrame *ccl_frame)
{
    CudaFrame *const frame = cuda_frame(ccl_frame);
    const uint32_t width = frame->shape.width, height = frame->shape.height;
    const dim3 threads(TILE, TILE), grid(blocks_for(width, TILE), blocks_for(height, TILE));
    const uint64_t magic = divide_magic(width);
    (void)context;

    CCL_TRY(init_labels(frame));
    return iterate(frame, pixels_of(&frame->shape), [&](uint32_t *changed) -> CclStatus {
        CCL_CUDA_LAUNCH(frame, "propagate", propagate, grid, threads, 0, frame->vars, width, height, magic,
                        changed);
        return CCL_OK;
    });
}

const CclAlgorithm ccl_cuda_rasmusson = {
    .info = { .name = "rasmusson", .title = "Propagation along connected lines",
              .paper = "Rasmusson, Sorensen & Ziegler, ISVC 2013", .backend = CCL_BACKEND_CUDA,
              .connectivity = CCL_CONNECT_8 },
    .unit = "pixel",
    .first_pixel_roots = true,
    .iterative = true,
    .label = label,
};
