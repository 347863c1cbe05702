/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * UF for volumes: Union-Find.
 * Oliveira, Lotufo, "A Study on Connected Components Labeling Algorithms Using GPUs", SIBGRAPI 2010; for volumes as in
 * Allegretti, Bolelli, Grana, "Optimized Block-Based Algorithms to Label Connected Components on GPUs", IEEE TPDS
 * 31(2), 2020, section 4.1.
 *
 * Every voxel begins as a set of its own and is united with each of its foreground neighbours that come before it: 13 of them
 * 26-connected, 3 of them 6-connected. This is done first inside tiles, in shared memory. Then voxels are united across the
 * tiles' borders, and every voxel looks up its root.
 *
 *   tiles      voxels -> roots within each tile
 *   join       voxels on either side of a tile's border are united
 *   compress   each voxel points at its root
 *   propagate  voxels take their root as label
 *
 * Differences from the paper: tiles have 32 x 4 x 4 voxels, so that their rows are whole sectors of memory. Foreground is
 * looked up in bits of the tile's rows. A union that others imply is left out: for_unions(). 6-connected volumes are possible
 * too, and label maps: there a voxel's foreground is all voxels of its own value, so that each value is a mask of its own.
 */
#include "cuda/map.cuh"
#include "cuda/volume.cuh"

static const unsigned WIDTH = 32, HEIGHT = 4, FRAMES = 4; /* of a tile; a warp per row */
static const uint32_t NO_PARENT = UINT32_MAX;             /* of background */

/*
 * Calls unite_with(dx, dy, dt) for each neighbour to unite a foreground voxel with. is_set(dx, dy, dt) returns whether a
 * neighbour is foreground, in a label map: of the same value. It may return false for foreground that is united elsewhere.
 *
 * These are the neighbour to the left and, in each earlier row, the one across (n below) or else those on either side. A
 * neighbour is left out when it is already united with another one:
 *
 *     the row before   w n .     . n .     w . .     . . e     w . .     . . e
 *     its own          # x .     . x .     . x .     . x .     # x .     . x #
 *                      none      n         w         e         none      none
 */
template <bool ALL_26, typename IsSet, typename UniteWith>
__device__ static inline void for_unions(IsSet is_set, UniteWith unite_with)
{
    const bool left = is_set(-1, 0, 0), right = ALL_26 && is_set(1, 0, 0);
    if (left)
        unite_with(-1, 0, 0);
#pragma unroll
    for (int row = 0; row < 4; row++) {
        const int dy = row % 3 - 1, dt = row / 3 - 1;
        if (!ALL_26 && dy && dt)
            continue;
        const bool n = is_set(0, dy, dt);
        if (n && !(left && is_set(-1, dy, dt)))
            unite_with(0, dy, dt);
        if (n || !ALL_26)
            continue;
        if (!left && is_set(-1, dy, dt))
            unite_with(-1, dy, dt);
        if (!right && is_set(1, dy, dt))
            unite_with(1, dy, dt);
    }
}

/* The voxels of a tile: bits of the foreground, or the values of a label map. All threads call store(). */
template <bool MAP> struct TileVoxels {
    uint32_t rows[FRAMES][HEIGHT];

    __device__ void store(int lane, int row, int frame, uint32_t value)
    {
        const uint32_t bits = __ballot_sync(~0u, value);
        if (lane == 0)
            rows[frame][row] = bits;
    }

    __device__ bool is_equal(int lane, int row, int frame, uint32_t) const { return rows[frame][row] >> lane & 1; }
};

template <> struct TileVoxels<true> {
    uint16_t values[FRAMES][HEIGHT][WIDTH];

    __device__ void store(int lane, int row, int frame, uint32_t value) { values[frame][row][lane] = (uint16_t)value; }
    __device__ bool is_equal(int lane, int row, int frame, uint32_t value) const { return values[frame][row][lane] == value; }
};

template <bool ALL_26, bool MAP>
__global__ __launch_bounds__(WIDTH *HEIGHT *FRAMES) static void label_tiles(const __grid_constant__ CudaVars vars,
                                                                            Space space)
{
    __shared__ uint32_t parents[FRAMES * HEIGHT * WIDTH];
    __shared__ TileVoxels<MAP> voxels;

    const int lane = threadIdx.x, row = threadIdx.y, frame = threadIdx.z;
    const uint32_t x0 = blockIdx.x * WIDTH, y0 = blockIdx.y * HEIGHT, t0 = blockIdx.z * FRAMES;
    const uint32_t x = x0 + lane, y = y0 + row, t = t0 + frame;
    const uint32_t place = (frame * HEIGHT + row) * WIDTH + lane;
    const bool inside = x < space.width && y < space.height && t < space.n_frames;
    const uint32_t value = MAP && inside ? voxel_value_at(vars, space, x, y, t) : vars.threshold;
    const bool here = MAP ? value != vars.threshold : inside && voxel_at(vars, space, x, y, t);

    voxels.store(lane, row, frame, MAP ? value : here);
    parents[place] = place;
    __syncthreads();
    if (here)
        for_unions<ALL_26>(
            [&](int dx, int dy, int dt) {
                const int nx = lane + dx, ny = row + dy, nt = frame + dt;
                return nx >= 0 && nx < (int)WIDTH && ny >= 0 && ny < (int)HEIGHT && nt >= 0 && voxels.is_equal(nx, ny, nt, value);
            },
            [&](int dx, int dy, int dt) {
                unite((volatile uint32_t *)parents, place, place + (dt * (int)HEIGHT + dy) * (int)WIDTH + dx);
            });
    __syncthreads();
    if (!inside)
        return;
    uint32_t root = NO_PARENT;
    if (here) {
        const uint32_t of_tile = find(&parents[0], place);
        root = space.index(x0 + of_tile % WIDTH, y0 + of_tile / WIDTH % HEIGHT, t0 + of_tile / (WIDTH * HEIGHT));
    }
    vars.labels[space.index(x, y, t)] = root;
}

/* A thread per voxel, in the tiles' grid. */
__device__ static inline bool voxel_of_thread(const Space &space, uint32_t *x, uint32_t *y, uint32_t *t)
{
    *x = blockIdx.x * WIDTH + threadIdx.x;
    *y = blockIdx.y * HEIGHT + threadIdx.y;
    *t = blockIdx.z * FRAMES + threadIdx.z;
    return *x < space.width && *y < space.height && *t < space.n_frames;
}

template <bool ALL_26, bool MAP> __global__ static void join(const __grid_constant__ CudaVars vars, Space space)
{
    uint32_t *const labels = vars.labels;
    uint32_t x, y, t;
    if (!voxel_of_thread(space, &x, &y, &t))
        return;
    const uint32_t node = space.index(x, y, t);
    const uint32_t value = MAP ? voxel_value_at(vars, space, x, y, t) : 0;
    if (MAP ? value == vars.threshold : labels[node] == NO_PARENT)
        return;
    const int lane = threadIdx.x, row = threadIdx.y, frame = threadIdx.z;
    for_unions<ALL_26>(
        [&](int dx, int dy, int dt) { /* also before 0: a coordinate that wrapped around is large */
                                      return x + dx < space.width && y + dy < space.height && t + dt < space.n_frames &&
                                             (MAP ? voxel_value_at(vars, space, x + dx, y + dy, t + dt) == value
                                                  : labels[space.index(x + dx, y + dy, t + dt)] != NO_PARENT);
        },
        [&](int dx, int dy, int dt) {
            const bool same_tile = lane + dx >= 0 && lane + dx < (int)WIDTH && row + dy >= 0 &&
                                   row + dy < (int)HEIGHT && frame + dt >= 0;
            if (!same_tile)
                unite(labels, node, space.index(x + dx, y + dy, t + dt));
        });
}

__global__ static void compress_voxels(const __grid_constant__ CudaVars vars, Space space)
{
    uint32_t x, y, t;
    if (!voxel_of_thread(space, &x, &y, &t))
        return;
    const uint32_t node = space.index(x, y, t);
    if (vars.labels[node] != NO_PARENT)
        compress(vars.labels, node);
}

/* By now a voxel's slot has its root, and only its own thread reads it. */
__global__ static void propagate(const __grid_constant__ CudaVars vars, Space space)
{
    uint32_t x, y, t;
    if (!voxel_of_thread(space, &x, &y, &t))
        return;
    uint32_t *const label = &vars.labels[space.index(x, y, t)];
    *label += 1; /* NO_PARENT becomes 0 */
}

template <bool ALL_26, bool MAP> static CclStatus label_connected(CudaFrame *frame)
{
    const Space space = space_of(frame->shape);
    const dim3 threads(WIDTH, HEIGHT, FRAMES);
    const dim3 grid(blocks_for(space.width, WIDTH), blocks_for(space.height, HEIGHT),
                    blocks_for(space.n_frames, FRAMES));

    CCL_CUDA_LAUNCH(frame, "tiles", (label_tiles<ALL_26, MAP>), grid, threads, 0, frame->vars, space);
    CCL_CUDA_LAUNCH(frame, "join", (join<ALL_26, MAP>), grid, threads, 0, frame->vars, space);
    CCL_CUDA_LAUNCH(frame, "compress", compress_voxels, grid, threads, 0, frame->vars, space);
    CCL_CUDA_LAUNCH(frame, "propagate", propagate, grid, threads, 0, frame->vars, space);
    return CCL_OK;
}

static CclStatus label(CclContext *context, CclFrame *ccl_frame)
{
    const bool all_26 = context->config.connectivity == CCL_CONNECT_8;
    CudaFrame *const frame = cuda_frame(ccl_frame);
    if (cuda_takes_maps(context))
        return all_26 ? label_connected<true, true>(frame) : label_connected<false, true>(frame);
    return all_26 ? label_connected<true, false>(frame) : label_connected<false, false>(frame);
}

const CclAlgorithm ccl_cuda_uf_3d = {
    .info = { .name = "uf-3d", .title = "Union-Find of volumes", .paper = "Oliveira & Lotufo, SIBGRAPI 2010",
              .backend = CCL_BACKEND_CUDA, .connectivity = CCL_CONNECT_4 | CCL_CONNECT_8, .volume = true },
    .unit = "voxel",
    .first_pixel_roots = true,
    .takes_maps = true,
    .label = label,
};
