/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * The interface between the CUDA backend and its methods, and how a method launches kernels.
 *
 * A frame runs on the stream of its stream slot, except for upload and download, in this order:
 *
 *     upload     host masks only, on a stream of its own: overlaps the kernels of the frame before
 *     narrow     16-bit masks only: to 8 bits; or
 *     bits       CUDA_BITS_ASSEMBLED only: copies the rows that the host packs to device memory, and packs the device's rows;
 *                with CUDA_BITS_AWAITED analyze() does that
 *     label()    mask -> provisional labels in vars.labels            } or analyze(): mask -> rows, result and labels
 *     number, features, table, relabel: the shared stages             } in one; label maps: map.cuh
 *     download   label images in host memory only, on a stream of its own
 *
 * The second frame of a CudaShape captures all steps from bits to relabel into a CUDA graph of the slot. Later frames replay
 * the graph (except with CclAlgorithm.iterative). So a method's launches may depend on CudaShape and CclContext only.
 * Everything else (pointers, strides, limits, threshold) is in CudaVars. A kernel that needs it takes `const __grid_constant__
 * CudaVars vars` as its first parameter, and is launched with CudaFrame.vars. With CUDA_BITS_AWAITED these are CudaAwaited and
 * CudaFrame.chunks. When a graph is replayed for another frame, the backend sets the first parameter of these kernels. With
 * CclConfig.timing the same launches run one by one, with an event after each.
 *
 * Frames in flight run at the same time, each in a stream slot: a stream with a workspace and images of its own. The frames of
 * one stream slot run one after the other. A workspace is all zero before the first frame. From then on only the method writes
 * it.
 */
#ifndef CCL_CUDA_BACKEND_CUH
#define CCL_CUDA_BACKEND_CUH

#include "algorithms.h"
#include "graph.cuh"
#include "overlap.cuh"
#include "row_chunks.cuh"

#include "analysis/hull.h"
#include "host/test_switches.h"

#include <cuda_runtime.h>
#include <stdlib.h>
#include <string.h>

/* ---------------------------------------------------------------- a frame, seen by kernels */

/* A pointer to global memory, which may be mapped host memory, that kernels load from memory. Without this hint the compiler
 * assumes any kind of memory, and loads, stores and atomics are slower. */
template <typename T> struct GlobalPointer {
    T *pointer;

    __host__ __device__ GlobalPointer &operator=(T *from)
    {
        pointer = from;
        return *this;
    }

    __host__ __device__ operator T *() const
    {
#if defined __CUDA_ARCH__ && defined __NVCC__
        __builtin_assume(__isGlobal(pointer));
#endif
        return pointer;
    }

    __host__ __device__ T *operator->() const { return *this; }
    __host__ __device__ explicit operator uintptr_t() const { return (uintptr_t)pointer; }
};

/* The part of a frame that may change without new launches. */
typedef struct __align__(16) CudaVars {
    /* 8-bit mask in device memory: pixel (x, y) is mask[y * mask_stride + x]. Device masks are the caller's memory: they may
     * have any alignment, and no byte outside [0, width) of a row may be read. Uploaded and narrowed masks, and their strides,
     * are aligned to 128 bytes. */
    GlobalPointer<const uint8_t> mask;
    size_t mask_stride; /* bytes */
    /* Or bits, see CudaMaskForm. Row y begins at mask + y * mask_stride, aligned to 8. Bit 0 of its first 64-bit word is pixel
     * 0. Bits past the width are 0. They may be in mapped host memory. */

    /* 32-bit label image in device memory: the caller's, or the backend's own where the caller's is in host memory. With
     * label() it is never NULL; with analyze() and label maps it is NULL when no labels are wanted. Aligned to 4 only if the
     * caller's. */
    GlobalPointer<uint32_t> labels;
    size_t label_stride; /* pixels (not bytes) from row to row */

    uint32_t threshold; /* foreground: (value > threshold) != invert; see is_foreground() */
    uint32_t invert;    /* 0 or 1 */
    /* Of a label map: `threshold` is the value of the background. Pixels of 16 bits are in `wide` instead of `mask`. */

    CclLimits limits;
    uint32_t keep_all;  /* the limits drop nothing, so final labels are known before the features */
    uint32_t sets_flag; /* no other frame was in flight at submission, so a thread probably waits for this one: setting
                           * CudaResult.complete is worth some device time. Batches have flags of their own */

    /* 16-bit source of the narrow stage; otherwise NULL. */
    const uint8_t *wide;
    size_t wide_stride;
    uint32_t wide_threshold, wide_invert;
} CudaVars;

/* The same, and the row chunks that the host packs. */
typedef struct CudaAwaited {
    CudaVars vars;
    RowChunks chunks;
} CudaAwaited;

/* The number of runs in a mask, for a method whose launches depend on it. */
typedef enum CudaDensity {
    CUDA_SPARSE = 0,
    CUDA_MANY,  /* too many for a cluster of blocks; see CudaBatches */
    CUDA_DENSE, /* runs need the full capacity of blocks */
} CudaDensity;

/* Counts of a frame; mapped host memory. */
typedef struct CudaResult {
    uint32_t n_found, n_kept;
    uint32_t density;  /* CudaDensity */
    uint32_t complete; /* completion flag: a kernel may set it once table and labels are complete, before the last one ends */
} CudaResult;

typedef enum CudaLabelMode {
    CUDA_LABELS_NONE = 0,    /* analysis only */
    CUDA_LABELS_FINAL,       /* 1..n in raster order, 0 for dropped components */
    CUDA_LABELS_PROVISIONAL, /* what label() computes, no table */
} CudaLabelMode;

/* The form of a mask. */
typedef enum CudaMaskForm {
    CUDA_PIXELS = 0,
    CUDA_BITS,           /* see CudaVars; only with CclAlgorithm.takes_bits */
    CUDA_BITS_ASSEMBLED, /* the same, made by mask_to_bits() just before */
    CUDA_BITS_AWAITED,   /* the same in mapped host memory, where analyze() waits for CudaFrame.chunks */
    CUDA_MASK_FORMS
} CudaMaskForm;

/* The values that a captured graph depends on; compared as bytes. */
typedef struct CudaShape {
    uint32_t width, height;
    uint32_t label_mode;   /* CudaLabelMode */
    uint32_t narrow;       /* 1: pixels have 16 bits; for a mask, a narrow stage comes first */
    uint32_t keep_all;     /* CudaVars.keep_all */
    uint32_t form;         /* CudaMaskForm */
    uint32_t density;      /* expected CudaDensity: the largest of the context's last masks; at first CUDA_MANY */
    uint32_t frame_height; /* for a volume: rows of each of its frames (volume.cuh); otherwise 0 */
} CudaShape;

/* ---------------------------------------------------------------- a frame, seen by the launching side */

#define CUDA_MAX_STEPS CUDA_MAX_NODES

/* The flag by which an iterative method learns whether an iteration changed anything. One per context. See iterate.cuh. */
typedef struct CudaLoop {
    uint32_t *changed;             /* device memory, 0 before every iteration: note_change() */
    uint32_t *seen;                /* mapped host memory, device address: takes the flag's value after an iteration */
    const volatile uint32_t *host; /* the same word, host address */
    cudaEvent_t started;           /* with timing: where the iteration began */
} CudaLoop;

/* The rows of a component, or its columns in a row; all zero is empty. */
typedef struct __align__(8) CudaRange
{
    uint32_t not_first, end; /* not_first: UINT16_MAX - first */
}
CudaRange;

/* A component of several rows. */
typedef struct __align__(16) CudaLargeHull
{
    uint32_t at; /* label - 1 */
    uint32_t y0, n_rows, place;
}
CudaLargeHull;

/* Device memory of a stream slot for CCL_FEATURE_HULL. A line is a row of a component's corners. */
typedef struct CudaHulls {
    GlobalPointer<CudaRange> heights;     /* [label - 1]; all zero between frames, like extents */
    GlobalPointer<uint32_t> places;       /* [label - 1]: its first line */
    GlobalPointer<CudaRange> extents;     /* [line] */
    GlobalPointer<CudaLargeHull> large;   /* in any order */
    GlobalPointer<uint32_t> n_used;       /* the number of lines, and of large components */
    GlobalPointer<CclCornerPoint> points; /* two for each line */
} CudaHulls;

/* The sums of a hole; all zero between frames. */
typedef struct __align__(16) CudaHole
{
    uint32_t area, area_filled, not_x0, x1, y1;
    uint32_t first;  /* y << 16 | x of the first pixel */
    uint32_t parent; /* the method's number of the component around it; in a label map: its place in the table */
    uint32_t reserved;
}
CudaHole;

/* Memory for CCL_FEATURE_HOLES. Device memory of the stream slot: */
typedef struct CudaHoles {
    void *workspace; /* of the inverse mask: cuda_inverse_workspace_size() bytes; of a label map: cuda_map_holes_size() */
    GlobalPointer<uint32_t> outside; /* [word]: ranks of the roots in the inverse that touch its border; of a map NULL */
    GlobalPointer<CudaHole> sums;    /* by numbers of components of the inverse, below `capacity`; of a map: of holes */
    uint32_t capacity;               /* of `sums` and `listed` */
    /* Of the slot, in mapped host memory: device addresses. */
    GlobalPointer<uint32_t> n;     /* number of sums that the frame needs */
    GlobalPointer<CclHole> listed; /* all 0: a component is no hole; parent 0: its parent is not in the table */
} CudaHoles;

/* CclPicture, for kernels. */
typedef struct __align__(16) CudaPicture
{
    GlobalPointer<const uint8_t> luma, chroma[2]; /* in device memory, at any address */
    size_t stride, chroma_stride;
    uint32_t chroma_step, shift_x, shift_y;
    uint32_t wide; /* 1: samples have 16 bits; 0: 8 bits */
}
CudaPicture;

/* Memory for the counts of CclConfig.features; NULL without them. */
typedef struct CudaCounts {
    CclShapeCounts *shape_sums; /* of the stream slot, in device memory: [label - 1]; all zero between frames */
    CclShapeCounts *shape;      /* of the slot, in mapped host memory: device address */
    CudaHulls hulls;
    CclHullCounts *hull; /* as shape */
    CudaHoles holes;
    CclIntensityCounts *intensity_sums, *intensity; /* the same */
    CudaPicture *picture;                           /* of the slot, in device memory */
} CudaCounts;

/* Of CudaHoles. */
size_t cuda_inverse_workspace_size(const CclContext *context);
size_t cuda_map_holes_size(const CclContext *context);

/* CclFrame.slot: what a method launches with. */
typedef struct CudaFrame {
    cudaStream_t stream;
    void *workspace; /* the method's device memory: workspace_size() bytes, aligned to 256 */
    CudaShape shape;
    CudaVars vars;
    CudaVars *kept;          /* device memory: analyze() may copy vars there, so that only its first kernel needs them */
    CudaResult *result;      /* mapped host memory, device address */
    const RowChunks *chunks; /* of the mask, with CUDA_BITS_AWAITED */
    CclComponent *records;   /* CclContext.capacity of them in mapped host memory, device address: record i has label i + 1 */

    CudaCounts counts;
    uint16_t *class_ids; /* of label maps: as many as records in mapped host memory, device address */

    const CudaLoop *loop; /* NULL unless CclAlgorithm.iterative */
    bool overlap;         /* kernels use programmatic dependent launch: they are compiled for it, and not timed one by one */
    int ahead;            /* priority of kernels with CUDA_AHEAD; 0: the same as others */
    CudaGraph *capture;   /* NULL unless the launches are captured: its nodes are the kernels whose arguments will change */
    bool notes_all;       /* these are all kernels (of a batch), not only those that take CudaVars or CudaAwaited first */
    struct CudaLaunchList *list; /* NULL unless launches are appended here instead of being made */

    /* Steps, with CclConfig.timing: event i + 1 comes after step i. */
    bool timing;
    unsigned n_steps;
    const char *step_names[CUDA_MAX_STEPS];
    cudaEvent_t step_events[CUDA_MAX_STEPS + 1];
    float step_us[CUDA_MAX_STEPS];        /* steps of a loop: sum over step_counts iterations; */
    uint32_t step_counts[CUDA_MAX_STEPS]; /* other steps: 0 */
} CudaFrame;

/* Called before a frame's first launch. */
static inline void cuda_clear_steps(CudaFrame *frame)
{
    frame->n_steps = 0;
    memset(frame->step_counts, 0, sizeof frame->step_counts);
}

/* Memory that the context frees. The second is page-locked and visible to kernels. cleared: filled with 0. */
CclStatus cuda_device_alloc(CclContext *context, void **memory, size_t size, bool cleared);
CclStatus cuda_pinned_alloc(CclContext *context, void **memory, size_t size);

/* With timing: copies the steps of a finished frame to the context, and returns their total duration. */
CclStatus cuda_read_steps(CclContext *context, const CudaFrame *frame, float *kernel_us);

/* Sizes that a method's workspace is laid out for. The method defines their meaning. */
typedef struct CudaCapacity {
    size_t of[6];
} CudaCapacity;

/* Frames of a batch, perhaps of several contexts, to be launched together. */
typedef struct CudaBatch {
    CudaShape shape; /* the same for all: label_mode, keep_all, bits or not; for most: density; width and height are 0 */
    bool clustered;  /* each frame runs on one cluster */
    CclConnectivity connectivity;
    unsigned multiprocessors;
    const CudaCapacity *capacity;
    unsigned n;
    const CclContext **contexts; /* [n] each */
    CudaFrame **frames;
    const CudaVars **vars; /* host memory */
    void *const *workspaces;
    void *jobs;              /* [n] of job_size bytes in host memory: describe() writes them */
    void *d_jobs;            /* their copy for kernels: in device memory, after cuda_fetch_jobs(), ... */
    const void *mapped_jobs; /* ... and the device address of `jobs` */
    CudaFrame *launcher;     /* for cuda_launch() and cuda_launch_clusters(), and nothing else */
} CudaBatch;

/* The functions by which a method launches batches. Only for methods with analyze(). */
typedef struct CudaBatches {
    CudaCapacity (*capacity)(const CclContext *context);    /* for the context's largest frame */
    size_t (*workspace_size)(const CudaCapacity *capacity); /* bytes, for all frames within this capacity */
    size_t job_size;                                        /* a multiple of 16 */
    void (*describe)(const CudaBatch *batch);
    CclStatus (*launch)(const CudaBatch *batch);

    /* Frames by one cluster of blocks each; NULL: not supported. The shared memory that a block may have on the current device
     * (0: no clusters), and that it needs for a frame (~0: too large). */
    size_t (*cluster_memory)(void);
    size_t (*memory_in_cluster)(const CudaShape *shape);
} CudaBatches;

/* Copies the jobs of a batch, of job_size bytes each, to device memory. */
CclStatus cuda_fetch_jobs(const CudaBatch *batch, size_t job_size);

/* The capacity that CudaFrame.workspace is laid out for; only for methods that take batches. */
const CudaCapacity *cuda_capacity(const CclContext *context);

/* Number of multiprocessors of the context's device, for grids that fill it once. */
unsigned cuda_multiprocessors(const CclContext *context);

static inline CudaFrame *cuda_frame(const CclFrame *frame)
{
    return (CudaFrame *)frame->slot;
}

/* Number of parameters of a kernel whose first one is CudaVars or CudaAwaited; otherwise 0. */
template <typename... Rest> constexpr unsigned cuda_parameters_with_vars(void (*)(CudaVars, Rest...))
{
    static_assert(sizeof...(Rest) < CUDA_MAX_PARAMETERS, "CUDA_MAX_PARAMETERS is too small");
    return 1 + sizeof...(Rest);
}

template <typename... Rest> constexpr unsigned cuda_parameters_with_vars(void (*)(CudaAwaited, Rest...))
{
    static_assert(sizeof...(Rest) < CUDA_MAX_PARAMETERS, "CUDA_MAX_PARAMETERS is too small");
    return 1 + sizeof...(Rest);
}

template <typename... Parameters> constexpr unsigned cuda_parameters_with_vars(void (*)(Parameters...))
{
    return 0;
}

/* Checks the launch just made and, with timing, marks the end of the step. `name` must live as long as the program;
 * n_with_vars is the kernel's cuda_parameters_with_vars(). */
CclStatus cuda_launched(CudaFrame *frame, const char *name, unsigned n_with_vars, const char *file, int line);

/* Launches one kernel on the frame's stream as the step `name` and returns from the caller if that fails. */
#define CCL_CUDA_LAUNCH(frame, name, kernel, grid, block, shared, ...)                                        \
    do {                                                                                                      \
        kernel<<<(grid), (block), (shared), (frame)->stream>>>(__VA_ARGS__);                                  \
        CCL_TRY(cuda_launched((frame), (name), cuda_parameters_with_vars(kernel), __FILE__, __LINE__));       \
    } while (0)

/* A kernel and its launch parameters, for a node of a graph. */
typedef struct CudaListedLaunch {
    const void *kernel;
    CudaThreads threads;
    unsigned n_arguments;
    uint16_t places[CUDA_MAX_PARAMETERS]; /* of the arguments, in `values` */
    alignas(16) uint8_t values[512];
} CudaListedLaunch;

#define CUDA_MAX_LISTED_LAUNCHES 12

typedef struct CudaLaunchList {
    CudaListedLaunch kernels[CUDA_MAX_LISTED_LAUNCHES];
    unsigned n; /* if larger than CUDA_MAX_LISTED_LAUNCHES, the others were left out */
} CudaLaunchList;

template <typename... Args> constexpr size_t cuda_arguments_size()
{
    const size_t sizes[] = { ((sizeof(Args) + 15) / 16 * 16)... };
    size_t sum = 0;
    for (size_t size : sizes)
        sum += size;
    return sum;
}

template <typename... Args>
static void cuda_list_launch(CudaLaunchList *list, void (*kernel)(Args...), const CudaThreads &threads, const Args &...args)
{
    if (list->n++ >= CUDA_MAX_LISTED_LAUNCHES)
        return;
    CudaListedLaunch *const listed = &list->kernels[list->n - 1];
    memset((void *)listed, 0, sizeof *listed); /* compared as bytes */
    listed->kernel = (const void *)kernel;
    listed->threads.grid = threads.grid;
    listed->threads.block = threads.block;
    listed->threads.shared = threads.shared;
    size_t used = 0;
    const auto add = [&](const void *value, size_t size) {
        listed->places[listed->n_arguments++] = (uint16_t)used;
        memcpy(listed->values + used, value, size);
        used += (size + 15) / 16 * 16;
    };
    static_assert(cuda_arguments_size<Args...>() <= sizeof listed->values, "the arguments exceed the capacity");
    static_assert(sizeof...(Args) <= CUDA_MAX_PARAMETERS, "CUDA_MAX_PARAMETERS is too small");
    const int in_order[] = { (add(&args, sizeof args), 0)... };
    (void)in_order;
}

/* When a kernel starts. Values can be combined. */
typedef enum CudaStart {
    CUDA_AFTER = 0,   /* when the one before it has ended */
    CUDA_OVERLAP = 1, /* possibly while that one ends: it calls wait_for_predecessor() */
    CUDA_AHEAD = 2,   /* in a batch: before the waiting blocks of other batches, which may be many */
} CudaStart;

/* Launches a kernel as the step `name`, or appends it to frame->list. */
template <typename... Args>
static CclStatus cuda_launch(CudaFrame *frame, const char *name, unsigned start, void (*kernel)(Args...),
                             const CudaThreads &threads, Args... args)
{
    if (frame->list) {
        cuda_list_launch(frame->list, kernel, threads, args...);
        return CCL_OK;
    }
    const CudaStartOptions options = { start & CUDA_OVERLAP && frame->overlap, start & CUDA_AHEAD ? frame->ahead : 0, 0 };
    CCL_CUDA_TRY(launch_in(frame->stream, options, kernel, threads, args...));
    return cuda_launched(frame, name, cuda_parameters_with_vars(kernel), __FILE__, __LINE__);
}

/* The same, with the blocks of a row of the grid as a cluster. Never appended to a list. */
template <typename... Args>
static CclStatus cuda_launch_clusters(CudaFrame *frame, const char *name, void (*kernel)(Args...), const CudaThreads &threads,
                                      const Args &...args)
{
    CCL_CUDA_TRY(launch_in(frame->stream, { false, 0, threads.grid.x }, kernel, threads, args...));
    return cuda_launched(frame, name, cuda_parameters_with_vars(kernel), __FILE__, __LINE__);
}

static inline unsigned blocks_for(size_t items, size_t per_block)
{
    return (unsigned)((items + per_block - 1) / per_block);
}

/* `limit` is one of CclTestSwitches: 0 is no limit. */
static inline uint32_t limit_of(uint32_t n, uint32_t limit)
{
    return limit ? min(n, limit) : n;
}

/* Capacity in shared memory. */
static inline uint32_t test_limit(uint32_t n)
{
    return limit_of(n, ccl_test_switches()->max_capacity);
}

/* ---------------------------------------------------------------- inside kernels */

/* A pixel, and the size of its image. */
typedef struct PixelPlace {
    uint32_t x, y, width, height;
} PixelPlace;

__device__ static inline bool is_foreground(unsigned value, const CudaVars &vars)
{
    return (value > vars.threshold) != (vars.invert != 0);
}

/* Whether pixel (x, y) is foreground. Pixels right of the mask are background; y must be inside. */
__device__ static inline bool pixel_at(const CudaVars &vars, uint32_t x, uint32_t y, uint32_t width)
{
    return x < width && is_foreground(vars.mask[y * vars.mask_stride + x], vars);
}

/* The same for four pixels at once: bit i is byte i of `bytes`. */
__device__ static inline uint32_t foreground_bits(uint32_t bytes, const CudaVars &vars)
{
    const uint32_t above = __vcmpgtu4(bytes, min(vars.threshold, 255u) * 0x01010101u);
    const uint32_t one_each = (vars.invert ? ~above : above) & 0x01010101u;
    return (one_each * 0x10204080u) >> 28;
}

/* Stores n values, at most four, in one store where that is possible; `aligned`: `to` is aligned to 16 bytes. */
__device__ static inline void store_four(uint32_t *to, uint4 v, uint32_t n, bool aligned)
{
    if (aligned && n >= 4) {
        *(uint4 *)to = v;
        return;
    }
    to[0] = v.x;
    if (n > 1)
        to[1] = v.y;
    if (n > 2)
        to[2] = v.z;
    if (n > 3)
        to[3] = v.w;
}

#endif
