/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Connected component labelling and blob analysis of binary images, on the CPU and on CUDA.
 *
 * In the order of the data path: a context is made once for a largest image size; each frame is a
 * mask handed to ccl_submit(), and ccl_collect() brings back its table of components:
 *
 *     CclConfig config = ccl_config_default();
 *     config.max_width = 1920, config.max_height = 1080;
 *     CclContext *context;
 *     if (ccl_context_new(&config, &context) != CCL_OK)
 *         die(ccl_error_message());
 *
 *     const CclMask mask = { .data = pixels, .stride = 1920, .width = 1920, .height = 1080 };
 *     CclTable table;
 *     if (ccl_analyze(context, &mask, NULL, NULL, &table) != CCL_OK)
 *         die(ccl_error_message());
 *     for (uint32_t i = 0; i < table.n_components; i++)
 *         use(&table.components[i]);
 *     ccl_context_free(context);
 *
 * For the 5x3 mask        the table has two rows:
 *     . # # . .           label 1  area 3  box [1,4) x [0,2)  first pixel (1,0)  m10 = 1+2+3
 *     . . . # .           label 2  area 1  box [0,1) x [2,3)  first pixel (0,2)
 *     # . . . .           (8-connected; 4-connected the pixel (3,1) would be a third)
 *
 * A context is used by one thread at a time; different contexts are independent, and may share a device's time
 * (CclConfig.shared).
 */
#ifndef CCL_H
#define CCL_H

#include "status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Widest and highest mask; keeps coordinates in 16 bits and every sum far inside 64. */
#define CCL_MAX_SIZE 16384u
/* Most rows a table can be asked to hold. */
#define CCL_MAX_COMPONENTS 1048576u
/* Most frames in flight in one context. */
#define CCL_MAX_DEPTH 4u
/* Most pixels of a mask, and most voxels of a volume: 129 frames of 1920x1080. */
#define CCL_MAX_VOXELS (CCL_MAX_SIZE * CCL_MAX_SIZE)
/* Most frames of a volume. */
#define CCL_MAX_FRAMES 16384u

/* ---------------------------------------------------------------- methods */

typedef enum CclBackendKind {
    CCL_BACKEND_CPU,
    CCL_BACKEND_CUDA,
} CclBackendKind;

typedef enum CclConnectivity {
    CCL_CONNECT_4 = 4, /* pixels that share an edge belong together; in a volume voxels that share a face: 6-connected */
    CCL_CONNECT_8 = 8, /* pixels that share an edge or a corner belong together; in a volume 26-connected */
} CclConnectivity;

/* One labelling method. Owned by the library, immutable, never freed. */
typedef struct CclAlgorithmInfo {
    const char *name;       /* its acronym in the literature, as the `algorithm` property takes it: "bke" */
    const char *title;      /* "Block-based Komura Equivalence" */
    const char *paper;      /* authors, venue, year; NULL: our own */
    CclBackendKind backend;
    unsigned connectivity;  /* CCL_CONNECT_4 | CCL_CONNECT_8: what it can do */
    bool volume;            /* labels stacks of masks, in contexts with CclConfig.volume; else single masks */
} CclAlgorithmInfo;

/* The methods of this build, best first for each backend; NULL past the last. */
const CclAlgorithmInfo *ccl_algorithm(unsigned index);

/* True when this build has the backend at all (for CUDA: it was built with the CUDA toolkit). */
bool ccl_backend_built(CclBackendKind backend);

/* ---------------------------------------------------------------- context */

/* SIMD tiers of the CPU backend, for CclConfig.cpu_flags. Plain C is always there. */
#define CCL_CPU_SSE2 (1u << 0)
#define CCL_CPU_SSE42 (1u << 1) /* with POPCNT: x86-64-v2 */
#define CCL_CPU_AVX2 (1u << 2)  /* with BMI1, BMI2, POPCNT: x86-64-v3 */
#define CCL_CPU_AVX512 (1u << 3) /* F, BW, VL, DQ, VBMI2, VPOPCNTDQ */
#define CCL_CPU_NEON (1u << 4)
#define CCL_CPU_ALL 0xffffffffu

/* How the rows of a table are ordered. A row keeps its label either way. */
typedef enum CclOrder {
    CCL_ORDER_RASTER = 0, /* by label; a table too small holds the first */
    CCL_ORDER_AREA,       /* largest first, equal areas by label; a table too small holds the largest (of the first
                             CCL_MAX_COMPONENTS) */
} CclOrder;

typedef struct CclConfig {
    CclBackendKind backend;
    const char *algorithm;        /* a name of the table; NULL or "auto": the fastest for backend and connectivity */
    CclConnectivity connectivity;
    uint32_t max_width;           /* largest mask, 1..CCL_MAX_SIZE each way */
    uint32_t max_height;
    uint32_t max_components;      /* rows of the table, 1..CCL_MAX_COMPONENTS */
    CclOrder order;               /* of the rows */
    unsigned depth;               /* frames submitted and not yet collected, 1..CCL_MAX_DEPTH; on CUDA they run beside each
                                     other, each in device memory of its own */
    uint32_t volume;              /* 0: a context for single masks. Else one for volumes of up to so many frames, at
                                     most CCL_MAX_FRAMES and CCL_MAX_VOXELS / (max_width * max_height):
                                     ccl_volume_add() */
    bool labels;                  /* ccl_submit() will be given label images */
    bool timing;                  /* measure CclTable.upload_us and kernel_us, and the steps */
    bool shared;                  /* CUDA: frames that wait at the same time, of all such contexts of a device, are launched
                                     together: for many streams. Not with `timing`, and only where the method can */

    int device;                   /* CUDA: device index; -1: the context current in the calling thread, which must then be
                                     current in every later call too */
    unsigned threads;             /* CPU: threads to use, the caller's too; 0: as many as help, fewer while other contexts
                                     are at work; 1: only the caller's. All contexts of the process share the others.
                                     CUDA: those that pack masks in host memory to bits, 0 as 1. Contexts that share a
                                     device have them in common: as many as the first to ask for more than one wants */
    uint32_t cpu_flags;           /* CPU: SIMD tiers that may be used (tests force each in turn); CCL_CPU_ALL otherwise */
} CclConfig;

/* CPU, automatic method, 8-connected, 4096 components in raster order, depth 1, device 0; sizes 0, for the caller to fill. */
CclConfig ccl_config_default(void);

typedef struct CclContext CclContext;

/*
 * Makes a context; everything a frame needs is allocated here and nothing later.
 *
 * context: receives the new context, owned by the caller: ccl_context_free(); NULL on error.
 * Errors:  ARGUMENT; UNSUPPORTED (no such method, wrong connectivity for it, backend not built); NO_DEVICE;
 *          OUT_OF_MEMORY; DEVICE.
 */
CclStatus ccl_context_new(const CclConfig *config, CclContext **context);

/* Waits for frames in flight, drops their results, frees everything. NULL is allowed. */
void ccl_context_free(CclContext *context);

/* The method in use (what "auto" chose). */
const CclAlgorithmInfo *ccl_context_algorithm(const CclContext *context);

/* Bytes the context holds in host memory and in device memory. */
void ccl_context_memory(const CclContext *context, size_t *host_bytes, size_t *device_bytes);

/* ---------------------------------------------------------------- masks */

typedef enum CclMemory {
    CCL_MEMORY_HOST = 0, /* ordinary memory */
    CCL_MEMORY_PINNED,   /* from ccl_pinned_alloc() (or page-locked by CUDA otherwise): a GPU reads it where it lies */
    CCL_MEMORY_DEVICE,   /* device memory of the context's CUDA device */
} CclMemory;

/*
 * A binary image: a pixel is foreground when its value is greater than `threshold` (with `invert`: when it is not).
 *
 * Shape:  `height` rows of `width` pixels; row y begins at data + y * stride. Bytes between width and stride are never
 *         taken for pixels, and no byte outside the rows is read.
 * Range:  width and height from 1 to those of the context; stride >= width * pixel_size bytes.
 * Place:  any address and any stride, odd ones too, also of 16-bit pixels.
 * Memory: a CPU context takes HOST and PINNED, a CUDA context all three.
 * Owner:  the caller; alive and unchanged until the frame is collected.
 */
typedef struct CclMask {
    const void *data;
    size_t stride;      /* bytes from row to row */
    uint32_t width;     /* pixels */
    uint32_t height;    /* rows */
    unsigned pixel_size; /* 1 (or 0): uint8_t; 2: uint16_t in native byte order */
    unsigned threshold; /* 0: every value but 0 is foreground; a threshold at or above the largest value: none is */
    bool invert;
    CclMemory memory;
    void *producer_stream; /* DEVICE: the CUDA stream (cudaStream_t) whose work writes the mask and must be waited for by
                              the GPU; NULL: the mask is ready */
} CclMask;

/* Page-locked host memory for masks, or NULL without a CUDA device or when there is no more. Needs no context; with a
 * CUDA context current in the thread it belongs to that, else to `device`. */
void *ccl_pinned_alloc(size_t size, int device);
void ccl_pinned_free(void *memory);

/* Device memory for masks that never leave the device; as ccl_pinned_alloc() otherwise. Downloading waits. */
void *ccl_device_alloc(size_t size, int device);
void ccl_device_free(void *memory);
bool ccl_device_download(void *host, const void *memory, size_t size);

/* ---------------------------------------------------------------- filters */

typedef enum CclBorder {
    CCL_BORDER_FLAG = 0, /* components that touch the image border carry CCL_TOUCHES_... flags */
    CCL_BORDER_KEEP,     /* they are like any other: no flags */
    CCL_BORDER_DROP,     /* they are left out */
} CclBorder;

/* Which components are kept. All limits are inclusive; 0 means no limit. Applied before numbering: labels 1..n count
 * kept components only, and pixels of the others are 0 in the label image. All-zero keeps everything. */
typedef struct CclFilter {
    uint64_t min_area;         /* pixels */
    uint64_t max_area;
    double min_relative_area;  /* 0..1, of width * height */
    double max_relative_area;
    uint32_t min_width;        /* of the box, pixels */
    uint32_t max_width;
    uint32_t min_height;
    uint32_t max_height;
    CclBorder border;
} CclFilter;

/* ---------------------------------------------------------------- components */

#define CCL_TOUCHES_LEFT (1u << 0)
#define CCL_TOUCHES_TOP (1u << 1)
#define CCL_TOUCHES_RIGHT (1u << 2)
#define CCL_TOUCHES_BOTTOM (1u << 3)

/* Raw moments, sums over the pixels of a component: m_pq = sum of x^p y^q, x to the right and y down from the centre of
 * the mask's first pixel, in pixels. Exact: at most 2^55 for a full mask of CCL_MAX_SIZE squared. */
typedef struct CclMoments {
    uint64_t area; /* m00 */
    uint64_t m10, m01;
    uint64_t m20, m11, m02;
} CclMoments;

/* One row of the table: 64 bytes without padding, so that tables can be compared as bytes. */
typedef struct CclComponent {
    CclMoments moments;
    uint32_t label;          /* 1..n in raster order of the components' first pixels */
    uint16_t x0, y0, x1, y1; /* box, half open: x0 <= x < x1; pixels */
    uint16_t first_x;        /* the first pixel in raster order is (first_x, y0) */
    uint16_t flags;          /* CCL_TOUCHES_... */
} CclComponent;

/* Shape measures, names and definitions as in scikit-image's regionprops (population covariance of the pixel centres,
 * no 1/12 for the extent of a pixel). */
typedef struct CclShape {
    double x, y;               /* centroid, pixels from the centre of the mask's first pixel */
    double xx, xy, yy;         /* covariance, pixels squared */
    double orientation;        /* radians, -pi/2..pi/2: from the y axis to the major axis, towards positive x (and y) */
    double axis_major_length;  /* of the ellipse with the same second moments, full length, pixels */
    double axis_minor_length;
    double eccentricity;       /* 0 (circle) .. 1 (line) */
    double equivalent_diameter; /* of the circle with the same area, pixels */
} CclShape;

/* moments.area must not be 0. */
void ccl_shape_from_moments(const CclMoments *moments, CclShape *shape);

/* Fills orientation, axes and eccentricity from xx, xy and yy: for a covariance that was mapped elsewhere. */
void ccl_axes_from_covariance(CclShape *shape);

/* Area over the area of the box, 0..1. */
double ccl_extent(const CclComponent *component);

/* ---------------------------------------------------------------- analysis */

#define CCL_TABLE_TRUNCATED (1u << 0) /* n_kept > n_components */

/* What is known of one frame. `components` belongs to the context and lives until `depth` further frames have been
 * submitted. */
typedef struct CclTable {
    const CclComponent *components;
    uint32_t n_components; /* rows: the smaller of n_kept and max_components */
    uint32_t n_kept;       /* components that pass the filter, exact even when the table is full */
    uint32_t n_found;      /* components in the mask, exact */
    uint32_t flags;        /* CCL_TABLE_... */
    uint32_t width, height;
    uint32_t batch_size;   /* frames launched together, this one too: 1 unless CclConfig.shared */
    float wait_us;         /* with CclConfig.shared: from submission to launch, else -1 */
    float pack_us;         /* CUDA: from the beginning of packing rows of the mask to bits on the host to its end, which may
                            * be beside the launch; 0 when none were packed; CPU: -1 */
    float upload_us;       /* with CclConfig.timing: mask to the device, analysis, else -1 */
    float kernel_us;
} CclTable;

/*
 * A 32-bit label image to be filled: 0 for background and for dropped components, else the component's label; every kept
 * component has its label here, even one past the end of the table.
 *
 * Shape:  as the mask; row y begins at data + y * stride bytes; data and stride are multiples of 4, stride at least
 *         width * 4, height * stride below 2^34.
 * Memory: HOST or PINNED for a CPU context; any for a CUDA context.
 * Owner:  the caller; alive until the frame is collected, complete then. Bytes past each row's width stay untouched.
 */
typedef struct CclLabels {
    uint32_t *data;
    size_t stride; /* bytes */
    CclMemory memory;
    bool provisional; /* the method's own labels instead: unique per component, in no order, gaps between them; no table
                         is made (n_* are 0) and no filter applied. What published methods compute; for comparison. */
} CclLabels;

/*
 * Starts the analysis of one frame. At most `depth` frames may be waiting to be collected. A CUDA context does not wait for
 * the device, unless the method is iterative: it returns when what it packs or copies of a mask in host memory is done; a CPU
 * context does the work here.
 *
 * filter: which components to keep; NULL: all. Copied.
 * labels: NULL, or the image to fill (needs CclConfig.labels), which no other frame in flight may have.
 * Errors: ARGUMENT (mask, filter or label image out of range, or too many frames waiting; nothing was submitted). After
 *         any other the context is of no more use, and every later call says DEVICE: free it and make a new one.
 */
CclStatus ccl_submit(CclContext *context, const CclMask *mask, const CclFilter *filter, const CclLabels *labels);

/* Waits for the oldest frame submitted and describes it. ARGUMENT when none is waiting; after any other error as
 * ccl_submit(), and the frame is gone. */
CclStatus ccl_collect(CclContext *context, CclTable *table);

/* True when ccl_collect() would not wait, but for a frame that it has to launch again: ccl_context_timeouts(). */
bool ccl_ready(CclContext *context);

/* ccl_submit() and ccl_collect() in one; no other frame may be in flight. */
CclStatus ccl_analyze(CclContext *context, const CclMask *mask, const CclFilter *filter, const CclLabels *labels,
                      CclTable *table);

/* ---------------------------------------------------------------- volumes */

/*
 * A volume is a stack of masks of one size, labelled in three dimensions: x, y and the frame. In a video a component is
 * then a blob with its past and future, as long as its pixels in one frame touch those in the next.
 *
 *     config.volume = 25;                             a context of its own, beside that for the single frames
 *     ...
 *     ccl_volume_add(context, &mask);                 up to 25 times
 *     ccl_volume_label(context, NULL, &table);
 *     voxel = { component.first_x, component.y0, 7 }; a blob of frame 7, from the table of that frame
 *     ccl_volume_look_up(context, &voxel, 1, &label); the component of the volume that the blob is part of
 *
 * For the 4x1 masks     # . . #      # # . .      . # . .      the volume has two components: label 1 of 4 voxels,
 *                                                              box [0,2) x [0,1), frames [0,3); label 2 of 1 voxel,
 *                                                              frame 0
 * Nothing is filtered: pixels of blobs that the frames' own filter drops connect like any other.
 */

/* One row of a volume's table: 32 bytes without padding. */
typedef struct CclVolumeComponent {
    uint64_t voxels;
    uint32_t label;          /* 1..n in raster order of the first voxels: frame by frame, in each row by row */
    uint16_t x0, y0, x1, y1; /* box, half open; pixels */
    uint16_t frame0, frame1; /* frames of the volume, half open, from 0 */
    uint16_t first_x;        /* the first voxel in raster order is (first_x, first_y) of frame0 */
    uint16_t first_y;
    uint32_t flags;          /* CCL_TOUCHES_... of the box */
} CclVolumeComponent;

/* `components` belongs to the context and lives until the next ccl_volume_add(). */
typedef struct CclVolumeTable {
    const CclVolumeComponent *components; /* in order of their labels */
    uint32_t n_components;  /* rows: the smaller of n_found and max_components */
    uint32_t n_found;       /* components in the volume, exact */
    uint32_t flags;         /* CCL_TABLE_TRUNCATED: n_found > n_components */
    uint32_t width, height; /* of every frame */
    uint32_t n_frames;
    float kernel_us;        /* with CclConfig.timing: labelling, without what ccl_volume_add() did; else -1 */
} CclVolumeTable;

typedef struct CclVoxel {
    uint16_t x, y, frame;
} CclVoxel;

/*
 * Puts a mask on top of the stack; after ccl_volume_label(), and at first, it begins a new one. The first mask says
 * what size the volume has.
 *
 * mask:   as for ccl_submit(), but free to change when this returns.
 * Errors: ARGUMENT (out of range, another size than the first, or the stack is full; nothing was done). After any other
 *         the context is of no more use.
 */
CclStatus ccl_volume_add(CclContext *context, const CclMask *mask);

/* Forgets the masks stacked so far. */
void ccl_volume_clear(CclContext *context);

/*
 * Labels the stack.
 *
 * labels: NULL, or for each frame the image to fill (`provisional` false).
 * Errors: ARGUMENT (label images out of range, nothing stacked, or labelled already; the stack is as it was). After any
 *         other the context is of no more use.
 */
CclStatus ccl_volume_label(CclContext *context, const CclLabels *labels, CclVolumeTable *table);

/* The labels of n voxels of the volume labelled last; 0 for background. Until the next ccl_volume_add(). Errors:
 * ARGUMENT (a voxel outside, or nothing is labelled); otherwise as ccl_volume_label(). */
CclStatus ccl_volume_look_up(CclContext *context, const CclVoxel *voxels, uint32_t n, uint32_t *labels);

/* ---------------------------------------------------------------- steps and streams */

/* One timed step (kernel or stage) of the last frame collected or volume labelled, with CclConfig.timing. */
typedef struct CclStep {
    const char *name;
    float us;       /* all launches together */
    uint32_t count; /* launches: 1, or the iterations of an iterative method. Such a method waits for the device after each
                       iteration; this is part of CclTable.kernel_us, not of any step */
} CclStep;

/* The steps in launch order; returns how many. Owned by the context until the next ccl_collect(). */
unsigned ccl_steps(const CclContext *context, const CclStep **steps);

/* One of the CUDA streams (cudaStream_t) that frames run on, by index, for callers that order their own work after all of
 * them: frames in flight run beside each other. NULL past the last one; on the CPU; and with CclConfig.shared, where a
 * frame submitted need not be in a stream yet. */
void *ccl_context_stream(const CclContext *context, unsigned i);

/* For tests: frames of this context, on CUDA, whose kernels waited in vain for the host to pack the mask, and which were
 * launched again. */
unsigned ccl_context_timeouts(const CclContext *context);

#ifdef __cplusplus
}
#endif

#endif
