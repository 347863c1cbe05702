// SPDX-FileCopyrightText: gst-ccl contributors
// SPDX-License-Identifier: LGPL-2.1-or-later

// From foreground bits to the mask. A block filters a tile of bits with its surroundings in shared memory: median, [confirm,]
// open, close, dilate, bytes. The last block tells the host.

#include "filter_words.cuh"

#include "cuda/warp.cuh"

#define FILTER_THREADS 512u
#define FILTER_BLOCKS 4 /* on a multiprocessor: all its threads */

typedef enum FilterKind { FILTER_MEDIAN, FILTER_DILATE, FILTER_ERODE } FilterKind;

typedef struct FilterStep {
    uint32_t kind, radius;
} FilterStep;

typedef struct Filter {
    FilterStep steps[5];
    uint32_t n_steps;
    uint32_t halo_rows, halo_words; /* the surroundings that the steps read */
    uint32_t tile_rows, tile_words; /* without surroundings */
    const uint32_t *from;
    uint32_t *to;               /* bits; NULL: the mask is painted */
    uint32_t *confirm;          /* five planes */
    uint32_t confirm_frames;    /* 0 or 1: not here */
    const uint32_t *ignored;
    bool silent;
    bool repeats;               /* the first step takes the pixels at the border for what lies outside */
    MotionTarget target;        /* or, not NULL: */
    const MotionTarget *stored; /* in device memory */
} Filter;

/* Rows of a tile and its surroundings are in shared memory. Bits outside the picture have the value that the next step needs
 * there. A word at either end of a row has a neighbour of no meaning, so each step invalidates as many pixels of the
 * surroundings as its radius. */

__device__ static uint32_t grown_across(const uint32_t *at, uint32_t radius, uint32_t flip)
{
    const uint32_t l = at[-1] ^ flip, h = at[0] ^ flip, r = at[1] ^ flip;
    uint32_t grown = h;
    for (uint32_t n = 1; n <= radius; n++)
        grown |= from_left(l, h, n) | from_right(h, r, n);
    return grown ^ flip;
}

template <int WORDS>
__device__ static uint32_t grown_along(const uint32_t *at, int radius, uint32_t flip)
{
    uint32_t grown = 0;
    for (int j = -radius; j <= radius; j++)
        grown |= at[j * WORDS] ^ flip;
    return grown ^ flip;
}

/* The foreground of a word that has been so for `frames` frames; counts go on, or `again` from nothing. */
__device__ static uint32_t confirmed(uint32_t set, uint32_t *counts, size_t plane, uint32_t frames, bool again)
{
    uint32_t full = set, less = 0, count[5];
    for (int p = 0; again && p < 5; p++)
        counts[p * plane] = 0;
    if (again)
        return 0;
    for (int p = 0; p < 5; p++)
        full &= count[p] = counts[p * plane];
    uint32_t carry = set & ~full;
    for (int p = 0; p < 5; p++) {
        const uint32_t old = count[p] & set;
        counts[p * plane] = count[p] = old ^ carry;
        carry &= old;
    }
    for (int p = 0; p < 5; p++)
        less = frames >> p & 1 ? ~count[p] | less : ~count[p] & less;
    return set & ~less;
}

/* Which bits of a word are pixels of the picture. */
__device__ static uint32_t in_picture(const MotionPicture &picture, int y, int word)
{
    if (y < 0 || y >= (int)picture.height || word < 0 || word >= (int)picture.words)
        return 0;
    const uint32_t left = picture.width - min(picture.width, (uint32_t)word * 32);
    return left >= 32 ? ~0u : (1u << left) - 1;
}

__device__ static uint32_t outside_for(const Filter &filter, uint32_t step)
{
    return step < filter.n_steps && filter.steps[step].kind == FILTER_ERODE ? ~0u : 0;
}

/* Four bits to four bytes of 0 or 255. */
__device__ static uint32_t four_bytes(uint32_t bits)
{
    return ((bits & 15) * 0x204081u & 0x01010101u) * 255;
}

/* The tile's pixels, 16 at a time; tile NULL: all background. */
template <int WORDS>
__device__ static void paint(const MotionPicture &picture, const Filter &filter, const MotionTarget &target, const uint32_t *tile,
                             int y0, int word0)
{
    const bool aligned = (((uintptr_t)target.mask | target.mask_stride) & 15) == 0;
    for (uint32_t i = threadIdx.x; i < filter.tile_rows * WORDS * 2; i += blockDim.x) {
        const uint32_t row = i / (WORDS * 2), half = i % (WORDS * 2);
        const uint32_t y = (uint32_t)y0 + row, x = (uint32_t)word0 * 32 + half * 16;
        if (y >= picture.height || x >= picture.width || half / 2 >= filter.tile_words)
            continue;
        const uint32_t at = (row + filter.halo_rows) * WORDS + half / 2 + filter.halo_words;
        const uint32_t bits = tile ? tile[at] >> half % 2 * 16 : 0;
        uint8_t *const to = target.mask + y * target.mask_stride + x;
        if (aligned && x + 16 <= picture.width)
            *(uint4 *)to =
                make_uint4(four_bytes(bits), four_bytes(bits >> 4), four_bytes(bits >> 8), four_bytes(bits >> 12));
        else
            for (uint32_t j = 0; j < 16 && x + j < picture.width; j++)
                to[j] = bits >> j & 1 ? 255 : 0;
    }
}

/* The last block to call this tells the host how many pixels were kept. The stores of all blocks come first. */
__device__ static void report_result(const MotionTarget &target, uint32_t n_kept)
{
    const unsigned long long block = 1ull << 40, n_blocks = (unsigned long long)gridDim.x * gridDim.y;
    __threadfence();
    const unsigned long long done = atomicAdd(&target.counters->done, block + n_kept) + block + n_kept;
    if (done >> 40 < n_blocks)
        return;
    __threadfence_system();
    *(volatile unsigned long long *)target.result = (unsigned long long)target.serial << 2 * MOTION_RESULT_BITS |
                                                    (done & (block - 1)) << MOTION_RESULT_BITS | (uint32_t)target.counters->raw;
}

/* A tile of the frame with its surroundings, in shared memory. */
typedef struct Tile {
    uint32_t *bits, *other;  /* n_words; n_words for each plane between the halves of a step */
    int n_words;
    int y0, word0;           /* the tile's first word in the picture */
    int y_first, word_first; /* the same with surroundings */
    bool is_inside;          /* all of it is inside the picture */
} Tile;

template <int WORDS>
__device__ static __forceinline__ Tile place_tile(const MotionPicture &picture, const Filter &filter, uint32_t *shared)
{
    const int rows = (int)filter.tile_rows + 2 * (int)filter.halo_rows;
    Tile tile;
    tile.n_words = rows * WORDS;
    tile.bits = shared + 1; /* a word of no meaning around each */
    tile.other = tile.bits + tile.n_words + 2;
    tile.y0 = (int)(blockIdx.y * filter.tile_rows), tile.word0 = (int)(blockIdx.x * filter.tile_words);
    tile.y_first = tile.y0 - (int)filter.halo_rows, tile.word_first = tile.word0 - (int)filter.halo_words;
    tile.is_inside = tile.y_first >= 0 && tile.y_first + rows <= (int)picture.height && tile.word_first >= 0 &&
                     (tile.word_first + WORDS) * 32 <= (int)picture.width;
    return tile;
}

/* Returns whether this thread has loaded any set pixel. */
template <int WORDS>
__device__ static __forceinline__ bool load_tile(const MotionPicture &picture, const Filter &filter, const Tile &tile)
{
    const uint32_t outside = outside_for(filter, 0);
    uint32_t found = 0;
    for (int i = (int)threadIdx.x; i < tile.n_words; i += (int)blockDim.x) {
        const int y = tile.y_first + i / WORDS, word = tile.word_first + i % WORDS;
        if (filter.repeats && !tile.is_inside) {
            const int row = min(max(y, 0), (int)picture.height - 1);
            found |= tile.bits[i] = repeated(picture.width, filter.from + (size_t)row * picture.words, word);
            continue;
        }
        const uint32_t inside = tile.is_inside ? ~0u : in_picture(picture, y, word);
        const uint32_t bits = inside ? filter.from[(size_t)y * picture.words + word] & inside : 0;
        tile.bits[i] = bits | (outside & ~inside);
        found |= bits;
    }
    return found != 0;
}

/* One step for rows [margin, rows - margin) of the tile; `radius` fewer on either side are good after it. Returns
 * whether any pixel of the picture is set. */
template <int WORDS>
__device__ static bool filter_step(const MotionPicture &picture, const FilterStep step, const Tile &tile, int margin,
                                   uint32_t outside)
{
    const uint32_t flip = step.kind == FILTER_ERODE ? ~0u : 0;
    const int n_words = tile.n_words;
    uint32_t *const bits = tile.bits, *const ones = tile.other, *const twos = ones + n_words, *const fours = twos + n_words;
    uint32_t any = 0;
    for (int i = margin * WORDS + (int)threadIdx.x; i < n_words - margin * WORDS; i += (int)blockDim.x) {
        if (step.kind == FILTER_MEDIAN)
            count_across(bits + i, step.radius, ones + i, twos + i, fours + i);
        else
            ones[i] = grown_across(bits + i, step.radius, flip);
    }
    __syncthreads();
    margin += (int)step.radius;
    for (int i = margin * WORDS + (int)threadIdx.x; i < n_words - margin * WORDS; i += (int)blockDim.x) {
        const int radius = (int)step.radius;
        const uint32_t filtered = step.kind == FILTER_MEDIAN ? majority<WORDS>(ones + i, twos + i, fours + i, radius)
                                                             : grown_along<WORDS>(ones + i, radius, flip);
        const uint32_t inside =
            tile.is_inside ? ~0u : in_picture(picture, tile.y_first + i / WORDS, tile.word_first + i % WORDS);
        bits[i] = (filtered & inside) | (outside & ~inside);
        any |= filtered & inside;
    }
    return __syncthreads_or(any != 0);
}

/* Confirms the filtered words and stores them: in filter.to, or without ignored pixels in the tile. Returns the number of
 * pixels of this thread's words in the mask. */
template <int WORDS>
__device__ static __forceinline__ uint32_t store_words(const MotionPicture &picture, const Filter &filter, const Tile &tile,
                                                       bool any, bool confirms, bool empty)
{
    const size_t plane = (size_t)picture.words * picture.height;
    uint32_t n = 0;
    for (int i = (int)threadIdx.x; i < (int)filter.tile_rows * WORDS; i += (int)blockDim.x) {
        const int row = i / WORDS, word = i % WORDS;
        if (word >= (int)filter.tile_words || !in_picture(picture, tile.y0 + row, tile.word0 + word))
            continue;
        const size_t at = (size_t)(tile.y0 + row) * picture.words + tile.word0 + word;
        uint32_t *const here = &tile.bits[(row + (int)filter.halo_rows) * WORDS + word + (int)filter.halo_words];
        uint32_t set = any ? *here : 0;
        if (confirms)
            set = confirmed(set, filter.confirm + at, plane, filter.confirm_frames, empty);
        if (filter.to) {
            filter.to[at] = set;
            continue;
        }
        if (set)
            set &= ~filter.ignored[at];
        *here = set;
        n += __popc(set);
    }
    return n;
}

template <int WORDS>
__global__ static void __launch_bounds__(FILTER_THREADS, FILTER_BLOCKS)
    filter_tiles(const __grid_constant__ MotionPicture picture, const __grid_constant__ Filter filter)
{
    extern __shared__ uint32_t shared[];
    __shared__ uint32_t n_kept;
    const Tile tile = place_tile<WORDS>(picture, filter, shared);

    wait_for_predecessor();
    let_successor_start(); /* the first kernel of the next picture does not wait */
    const MotionTarget target = filter.stored ? *filter.stored : filter.target;
    const unsigned long long raw = target.counters->raw; /* the tile's loads do not wait for it */
    if (!threadIdx.x)
        n_kept = 0;
    const bool found = load_tile<WORDS>(picture, filter, tile);
    const bool empty = filter.silent || (uint32_t)raw > target.max_raw || raw & MOTION_EMPTY;
    bool any = __syncthreads_or(found && !empty); /* every step leaves an empty tile empty */

    int margin = 0;
    for (uint32_t s = 0; s < filter.n_steps && any; s++) {
        any = filter_step<WORDS>(picture, filter.steps[s], tile, margin, outside_for(filter, s + 1));
        margin += (int)filter.steps[s].radius;
    }

    const bool confirms = filter.confirm && (empty || filter.confirm_frames > 1);
    if (any || confirms || filter.to) {
        const uint32_t n = warp_sum(store_words<WORDS>(picture, filter, tile, any, confirms, empty));
        if (threadIdx.x % 32 == 0 && n)
            atomicAdd(&n_kept, n);
        __syncthreads();
    }
    if (filter.to)
        return;
    if (!threadIdx.x && !blockIdx.x && !blockIdx.y)
        *target.next_but_one = MotionCounters();
    if (target.mask)
        paint<WORDS>(picture, filter, target, any ? tile.bits : NULL, tile.y0, tile.word0);
    __syncthreads();
    if (!threadIdx.x)
        report_result(target, n_kept);
}

/* ---------------------------------------------------------------- host */

static void add_step(Filter *filter, FilterKind kind, uint32_t radius)
{
    if (!radius)
        return;
    filter->steps[filter->n_steps++] = { (uint32_t)kind, radius };
    filter->halo_rows += radius;
    filter->halo_words = (filter->halo_rows + 31) / 32;
}

template <int WORDS>
static CclStatus launch_tiles(const CudaMotion *cuda, const MotionWork *work, Filter filter)
{
    const MotionPicture &picture = work->picture;
    filter.tile_words = WORDS - 2 * filter.halo_words;
    const dim3 grid(blocks_for(picture.words, filter.tile_words), blocks_for(picture.height, filter.tile_rows));
    const unsigned n_words = (filter.tile_rows + 2 * filter.halo_rows) * WORDS, threads = (n_words + 31) / 32 * 32;
    return cuda_motion_launch(cuda, true, filter_tiles<WORDS>,
                              { grid, min(threads, FILTER_THREADS), (4 * n_words + 4) * sizeof(uint32_t) }, picture, filter);
}

/* Tiles are small: most of them are empty, and the few others are spread over as many multiprocessors as possible. Filters
 * with a large radius would leave them little but surroundings. With other pictures in flight tiles are larger: they
 * take less of the GPU's time and space. */
static CclStatus launch_filter(const CclMotion *motion, const MotionWork *work, Filter filter)
{
    const bool is_busy = filter.stored ? motion->config.depth > 1 : motion->n_waiting > 0;
    filter.tile_rows = is_busy ? 32 : min(max(filter.halo_rows, 8u), 16u);
    const auto launch = filter.halo_words > 1 ? launch_tiles<16> : launch_tiles<8>;
    return launch(cuda_motion(motion), work, filter);
}

MotionTarget cuda_motion_target(const CudaMotion *cuda, const MotionWork *work)
{
    const MotionFrame *const frame = work->frame;
    const bool direct = frame->mask.memory == CCL_MEMORY_DEVICE;
    MotionTarget target = {};
    target.mask = !frame->mask.data ? NULL : direct ? frame->mask.data : cuda->mask;
    target.mask_stride = direct ? frame->mask.stride : cuda->mask_pitch;
    target.result = cuda->d_results + frame->serial % MOTION_RESULTS;
    target.serial = frame->serial % MOTION_RESULT_FRAMES;
    target.max_raw = frame->max_raw_foreground;
    target.counters = work->counters;
    target.next_but_one = work->next_but_one;
    return target;
}

/* stored: NULL, or the target is in device memory. */
static Filter filter_of(const CudaMotion *cuda, const MotionWork *work, const MotionTarget *stored, const uint32_t *from)
{
    Filter filter = {};
    filter.from = from;
    filter.ignored = cuda->ignored;
    filter.confirm = cuda->confirm;
    filter.confirm_frames = work->frame->params.confirm_frames;
    filter.stored = stored;
    if (stored)
        return filter;
    filter.silent = work->frame->silent;
    filter.target = cuda_motion_target(cuda, work);
    return filter;
}

static void add_open_close(Filter *filter, uint32_t open, uint32_t close)
{
    add_step(filter, FILTER_ERODE, open);
    add_step(filter, FILTER_DILATE, open + close);
    add_step(filter, FILTER_ERODE, close);
}

CclStatus cuda_motion_forget_counts(const CclMotion *motion, const MotionFrame *frame)
{
    CudaMotion *const cuda = cuda_motion(motion);
    if (frame->forgets)
        CCL_CUDA_TRY(cudaMemsetAsync(cuda->confirm, 0, (size_t)5 * motion->words * motion->height * 8, cuda->stream));
    return CCL_OK;
}

/* From confirmed bits on: the steps before it have been a launch of their own. */
static void begin_again(Filter *filter, const uint32_t *from)
{
    filter->from = from;
    filter->to = NULL;
    filter->confirm = NULL;
    filter->n_steps = filter->halo_rows = filter->halo_words = 0;
}

/* Confirming changes counts, which a tile's surroundings must not do a second time: the steps before it are a launch of
 * their own. */
CclStatus cuda_motion_filter(const CclMotion *motion, const MotionWork *work)
{
    CudaMotion *const cuda = cuda_motion(motion);
    const CclMotionParams *const params = &work->frame->params;
    Filter filter = filter_of(cuda, work, NULL, work->foreground.image);
    CCL_TRY(cuda_motion_forget_counts(motion, work->frame));
    add_step(&filter, FILTER_MEDIAN, params->median);
    if (params->confirm_frames > 1) {
        filter.to = cuda->kept;
        CCL_TRY(launch_filter(motion, work, filter));
        begin_again(&filter, cuda->kept);
    }
    add_open_close(&filter, params->open, params->close);
    add_step(&filter, FILTER_DILATE, params->dilate);
    return launch_filter(motion, work, filter);
}

CclStatus cuda_motion_filter_bits(const CclMotion *motion, const MotionWork *work, const MotionTarget *target,
                                  const uint32_t *from, uint32_t *to, const MotionRadii &radii)
{
    Filter filter = filter_of(cuda_motion(motion), work, target, from);
    filter.to = to;
    filter.confirm = NULL;
    filter.repeats = radii.median > 0;
    add_step(&filter, FILTER_MEDIAN, radii.median);
    add_open_close(&filter, radii.open, radii.close);
    return launch_filter(motion, work, filter);
}

CclStatus cuda_motion_output(const CclMotion *motion, const MotionWork *work, const MotionTarget *target, const uint32_t *from)
{
    CudaMotion *const cuda = cuda_motion(motion);
    const CclMotionParams *const params = &work->frame->params;
    Filter filter = filter_of(cuda, work, target, from);
    if (params->confirm_frames > 1 && params->dilate) {
        filter.to = cuda->kept;
        CCL_TRY(launch_filter(motion, work, filter));
        begin_again(&filter, cuda->kept);
    }
    add_step(&filter, FILTER_DILATE, params->dilate);
    return launch_filter(motion, work, filter);
}
