/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Connected component labelling and blob analysis of binary images, on the CPU and on CUDA.
 *
 * A caller makes a context once, for a maximum image size. Then it gives each frame's mask to ccl_submit() and gets the
 * frame's table of components from ccl_collect(), or does both with ccl_analyze():
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
 * For the 5x3 mask        the table has two records:
 *     . # # . .           label 1  area 3  box [1,4) x [0,2)  first pixel (1,0)  m10 = 1+2+3
 *     . . . # .           label 2  area 1  box [0,1) x [2,3)  first pixel (0,2)
 *     # . . . .           (8-connected; 4-connected, the pixel (3,1) is a third component)
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

/* Maximum width and height of a mask: keeps coordinates in 16 bits and every sum far inside 64. */
#define CCL_MAX_SIZE 16384u
/* Maximum number of components that a table can hold. */
#define CCL_MAX_COMPONENTS 1048576u
/* Maximum number of frames in flight in one context. */
#define CCL_MAX_DEPTH 4u
/* Maximum number of pixels of a mask, and of voxels of a volume: 129 frames of 1920x1080. */
#define CCL_MAX_VOXELS (CCL_MAX_SIZE * CCL_MAX_SIZE)
/* Maximum number of frames of a volume. */
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
    const char *name;  /* its acronym in the literature, and its value in the `algorithm` property: "bke" */
    const char *title; /* "Block-based Komura Equivalence" */
    const char *paper; /* authors, venue, year; NULL: our own */
    CclBackendKind backend;
    unsigned connectivity; /* CCL_CONNECT_4 | CCL_CONNECT_8: what it can do */
    bool volume;           /* labels stacks of masks, in contexts with CclConfig.volume; else single masks */
} CclAlgorithmInfo;

/* The methods of this build, best first for each backend; NULL past the last. */
const CclAlgorithmInfo *ccl_algorithm(unsigned index);

/* True when this build has the backend at all (for CUDA: it was built with the CUDA toolkit). */
bool ccl_backend_built(CclBackendKind backend);

/* ---------------------------------------------------------------- context */

/* Groups of measures beyond the basic table, for CclConfig.features. They cost nothing unless they are set. */
#define CCL_FEATURE_SHAPE     (1u << 0)  /* CclTable.shape: holes and perimeters */
#define CCL_FEATURE_HULL      (1u << 1)  /* CclTable.hull: convex hull, diameters, smallest rectangle */
#define CCL_FEATURE_HOLES     (1u << 2)  /* CclTable.holes and hole_rows: each hole, and filled areas */
#define CCL_FEATURE_INTENSITY (1u << 3)  /* CclTable.intensity: of the picture that CclMask.picture has */
#define CCL_FEATURE_TABLE     (1u << 31) /* the basic table: only in ccl_features() */

/* SIMD tiers of the CPU backend, for CclConfig.cpu_flags. Plain C is always there. */
#define CCL_CPU_SSE2   (1u << 0)
#define CCL_CPU_SSE42  (1u << 1) /* with POPCNT: x86-64-v2 */
#define CCL_CPU_AVX2   (1u << 2) /* with BMI1, BMI2, POPCNT: x86-64-v3 */
#define CCL_CPU_AVX512 (1u << 3) /* F, BW, VL, DQ, VBMI2, VPOPCNTDQ */
#define CCL_CPU_NEON   (1u << 4)
#define CCL_CPU_ALL    0xffffffffu

/* The order of the records of a table. It does not change the labels. Others: ccl_order_by() in analysis/measures.h. */
typedef enum CclOrder {
    CCL_ORDER_RASTER = 0, /* by label; a table that is too small has the first */
    CCL_ORDER_AREA,       /* largest first, equal areas by label; a table that is too small has the largest (of the first
                           * CCL_MAX_COMPONENTS) */
} CclOrder;

typedef enum CclForeground {
    CCL_FOREGROUND_THRESHOLD = 0, /* values above the threshold of the mask; all of them connect */
    CCL_FOREGROUND_EQUAL,         /* a label map: every value but the background's; only equal values connect */
} CclForeground;

/*
 * What a backend does with masks of this foreground, or with volumes of them: CCL_FEATURE_TABLE if it labels them, and
 * CCL_FEATURE_... for each group that it counts. 0 also where this build does not have the backend.
 *
 * algorithm: a name of the table; NULL or "auto": any method.
 */
unsigned ccl_features(CclBackendKind backend, const char *algorithm, CclForeground foreground, bool volume);

typedef struct CclConfig {
    CclBackendKind backend;
    const char *algorithm; /* a name of the table; NULL or "auto": the fastest for backend and connectivity */
    CclConnectivity connectivity;
    CclForeground foreground;  /* EQUAL: with backends of which ccl_features() says so */
    unsigned background_value; /* EQUAL: of the pixels that are background */
    uint32_t max_width;        /* largest mask, 1..CCL_MAX_SIZE each way */
    uint32_t max_height;
    uint32_t max_components; /* records of the table, 1..CCL_MAX_COMPONENTS */
    CclOrder order;          /* of the records */
    unsigned depth;          /* maximum number of frames submitted and not yet collected, 1..CCL_MAX_DEPTH; on CUDA they
                              * run at the same time, each in device memory of its own */
    uint32_t volume;         /* 0: a context for single masks. Else one for volumes of at most this many frames, at
                              * most CCL_MAX_FRAMES and CCL_MAX_VOXELS / (max_width * max_height):
                              * ccl_volume_add() */
    unsigned features;       /* CCL_FEATURE_...: for single masks, of ccl_features() */
    bool labels;             /* ccl_submit() will be given label images */
    bool selects;            /* ccl_submit() will be given filters with a selection */
    bool timing;             /* measure CclTable.upload_us and kernel_us, and the steps */
    bool shared;             /* CUDA: for many streams. Waiting frames of all such contexts of a device are launched
                              * together. Not with `timing` or `features`, and only if the method supports it */

    int device;         /* CUDA: device index; -1: the context current in the calling thread, which must then be
                         * current in every later call too */
    unsigned threads;   /* CPU: number of threads, including the caller's; 0: as many as make a frame faster, fewer
                         * while other contexts are at work; 1: only the caller's. All contexts of the process
                         * share the other threads.
                         * CUDA: threads that pack masks in host memory to bits; 0 is the same as 1. Contexts that
                         * share a device share these threads: the first context with more than 1 sets the number */
    uint32_t cpu_flags; /* CPU: SIMD tiers that may be used, usually CCL_CPU_ALL (tests force each tier) */
} CclConfig;

/* CPU, automatic method, 8-connected, 4096 components in raster order, depth 1, device 0; sizes 0, for the caller to fill. */
CclConfig ccl_config_default(void);

typedef struct CclContext CclContext;

/*
 * Makes a context. It allocates all memory that frames need. Two things grow later, with CUDA only: memory for holes, when a mask
 * has more parts of background than fit, or a label map more holes, and memory for a larger picture.
 *
 * context: receives the new context, owned by the caller: ccl_context_free(); NULL on error. Errors:  ARGUMENT; UNSUPPORTED: no
 * such method, wrong connectivity or features for it, or backend not built; NO_DEVICE; OUT_OF_MEMORY; DEVICE.
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
    CCL_MEMORY_PINNED,   /* from ccl_pinned_alloc() (or page-locked by CUDA otherwise): a GPU can read it in place */
    CCL_MEMORY_DEVICE,   /* device memory of the context's CUDA device */
} CclMemory;

/*
 * The picture that CCL_FEATURE_INTENSITY measures. It has the pixels of the mask: its first `height` rows and `width` columns.
 *
 *     luma     8 or 16 bits, in rows of their own
 *     chroma   the sample (x >> shift_x, y >> shift_y) belongs to pixel (x, y). Planes of their own have a step of 1, one plane
 *              of both has a step of 2
 *
 * Memory: a CPU context takes HOST and PINNED, a CUDA context all three; any address and any stride.
 * Owner:  the caller, with the mask: alive and unchanged until the frame is collected.
 */
typedef struct CclPicture {
    const void *luma;
    size_t stride;             /* bytes from row to row */
    unsigned sample_size;      /* of luma and chroma: 1 (or 0): uint8_t; 2: uint16_t in native byte order */
    const void *chroma[2];     /* first samples of blue and red difference; NULL: there is no chroma */
    size_t chroma_stride;      /* bytes from row to row, of both */
    unsigned chroma_step;      /* samples from one to the next: 1 or 2 */
    unsigned shift_x, shift_y; /* 0 to 2 */
    CclMemory memory;          /* of luma and chroma */
    void *producer_stream;     /* DEVICE: as for CclMask */
} CclPicture;

/*
 * A binary image: a pixel is foreground when its value is greater than `threshold` (with `invert`: when it is not).
 *
 * Shape:  `height` rows of `width` pixels; row y begins at data + y * stride. Bytes between width and stride are never
 *         taken for pixels, and no byte outside the rows is read.
 * Range:  width and height from 1 to the maximum of the context; stride >= width * pixel_size bytes. Place:  any address and
 * any stride, also odd ones, and also for 16-bit pixels. Memory: a CPU context takes HOST and PINNED, a CUDA context all three.
 * Owner:  the caller; alive and unchanged until the frame is collected.
 */
typedef struct CclMask {
    const void *data;
    size_t stride;       /* bytes from row to row */
    uint32_t width;      /* pixels */
    uint32_t height;     /* rows */
    unsigned pixel_size; /* 1 (or 0): uint8_t; 2: uint16_t in native byte order */
    unsigned threshold;  /* 0: every value except 0 is foreground; at or above the maximum value: no pixel is. Label maps have
                          * neither this nor `invert` */
    bool invert;
    CclMemory memory;
    void *producer_stream; /* DEVICE: the CUDA stream (cudaStream_t) that writes the mask. The GPU waits for its work; NULL: the
                            * mask is ready */
    const CclPicture *picture; /* with CCL_FEATURE_INTENSITY: what is measured under the mask; else NULL */
} CclMask;

/* Number of CUDA devices; 0 also without a driver, or in a build without CUDA. */
unsigned ccl_n_devices(void);

/* Page-locked host memory for masks, or NULL without a CUDA device or memory. Needs no CclContext. It belongs to `device`; with
 * -1 to the CUDA context that is current in the thread, or else to device 0. */
void *ccl_pinned_alloc(size_t size, int device);
void ccl_pinned_free(void *memory);

/* The same in device memory, for masks that never leave the device. Downloading waits for the copy. */
void *ccl_device_alloc(size_t size, int device);
void ccl_device_free(void *memory);
bool ccl_device_download(void *host, const void *memory, size_t size);

/* ---------------------------------------------------------------- filters */

typedef enum CclBorder {
    CCL_BORDER_FLAG = 0, /* components that touch the image border carry CCL_TOUCHES_... flags */
    CCL_BORDER_KEEP,     /* they are kept like others, without flags */
    CCL_BORDER_DROP,     /* they are left out */
} CclBorder;

/* Which components are kept. All limits are inclusive; 0 means no limit. Applied before numbering: labels 1..n count
 * kept components only, and pixels of the others are 0 in the label image. All-zero keeps everything. */
typedef struct CclFilter {
    uint64_t min_area; /* pixels */
    uint64_t max_area;
    double min_relative_area; /* 0..1, of width * height */
    double max_relative_area;
    uint32_t min_width; /* of the box, pixels */
    uint32_t max_width;
    uint32_t min_height;
    uint32_t max_height;
    CclBorder border;
    /* A parsed expression (analysis/selection.h) that components must pass too; NULL: none. Needs CclConfig.selects and the
     * features of its measures. The caller's; alive and unchanged until the frame is collected. On CUDA the host applies it to
     * the table, so there the label image must be in HOST or PINNED memory, and only the first CCL_MAX_COMPONENTS that pass
     * the other limits can pass. If there are more, the table is flagged CCL_TABLE_TRUNCATED. */
    const struct CclSelection *selection;
} CclFilter;

/* ---------------------------------------------------------------- components */

#define CCL_TOUCHES_LEFT (1u << 0)
#define CCL_TOUCHES_TOP (1u << 1)
#define CCL_TOUCHES_RIGHT (1u << 2)
#define CCL_TOUCHES_BOTTOM (1u << 3)

/* Raw moments: sums over the pixels of a component, m_pq = sum of x^p y^q. x and y are in pixels, to the right of and below the
 * centre of the mask's first pixel. Exact: at most 2^55 for a full mask of CCL_MAX_SIZE squared. */
typedef struct CclMoments {
    uint64_t area; /* m00 */
    uint64_t m10, m01;
    uint64_t m20, m11, m02;
} CclMoments;

/* One record of the table: 64 bytes without padding, so that tables can be compared as bytes. */
typedef struct CclComponent {
    CclMoments moments;
    uint32_t label;          /* 1..n in raster order of the components' first pixels */
    uint16_t x0, y0, x1, y1; /* box, half open: x0 <= x < x1; pixels */
    uint16_t first_x;        /* the first pixel in raster order is (first_x, y0) */
    uint16_t flags;          /* CCL_TOUCHES_... */
} CclComponent;

/*
 * The exact counts behind the measures of CCL_FEATURE_SHAPE, of each component alone: a neighbour of another component is
 * background. 16 bytes without padding.
 *
 *     . # # .     euler 0: one component with one hole (8-connected)
 *     # . . #     runs 5: maximal horizontal runs; as many pixels have no left neighbour
 *     . # # .     tops 5: pixels without an upper neighbour
 *                 diagonals 8: pixels without an upper left neighbour (4), and without an upper right one (4)
 */
typedef struct CclShapeCounts {
    int32_t euler; /* runs minus pairs of runs that touch: 1 - holes */
    uint32_t runs;
    uint32_t tops;
    uint32_t diagonals;
} CclShapeCounts;

/* Measures of CCL_FEATURE_SHAPE. Euler number and Crofton perimeter are those of scikit-image's functions of that name, for the
 * component alone. Holes have the dual connectivity: a hole of an 8-connected component is 4-connected. */
typedef struct CclShapeMeasures {
    int32_t euler_number; /* 1 - n_holes */
    uint32_t n_holes;
    uint32_t perimeter_crack; /* edges between pixels of the component and others */
    double perimeter_crofton; /* Crofton's formula in four directions, pixels */
    double circularity;       /* 4 pi area / perimeter_crofton squared, at most 1: a disc has 1 */
    double compactness;       /* perimeter_crofton squared / (4 pi area) */
} CclShapeMeasures;

void ccl_shape_measures(const CclShapeCounts *counts, uint64_t area, CclShapeMeasures *measures);

/*
 * The exact integers behind the measures of CCL_FEATURE_HULL: of the convex hull of the corners of a component's pixels. Corner
 * (x, y) is the upper left one of pixel (x, y). 48 bytes without padding.
 *
 * A direction (dx, dy) is as short as integers allow, at an angle in (-pi/2, pi/2] from the x axis towards positive y. Of
 * several that fit equally well, it is the one of the smallest angle.
 */
typedef struct CclHullCounts {
    uint64_t area2;             /* twice the area, at most 2^29 */
    uint64_t perimeter;         /* in 2^-40 pixels: the sum of the edges' lengths, each rounded down */
    uint32_t diameter2;         /* square of the largest distance of two corners, at most 2^29 */
    uint32_t width;             /* least distance of two parallel lines around the hull, times the length of their direction */
    int16_t width_dx, width_dy; /* their direction */
    int16_t rect_dx, rect_dy;   /* direction of the longer sides of the rectangle of least area around the hull */
    int32_t along0, along1;     /* its extent in that direction: of x dx + y dy, over the corners */
    int32_t across0, across1;   /* its extent in the direction (-dy, dx) */
} CclHullCounts;

/* Measures of CCL_FEATURE_HULL, in pixels. Positions are as those of CclShape. Toussaint, "Solving geometric problems with the
 * rotating calipers", 1983. */
typedef struct CclHullMeasures {
    double area_convex;        /* of the hull, pixels squared: five pixels on a diagonal have 9 */
    double solidity;           /* area over area_convex, at most 1 */
    double perimeter_convex;   /* of the hull */
    double feret_diameter_max; /* largest distance of two corners */
    double min_feret;          /* least distance of two parallel lines around the component */
    double rect_x, rect_y;     /* the rectangle of least area: its centre, */
    double rect_length;        /* its longer side, */
    double rect_width;
    double rect_angle; /* and the angle of that side: radians in (-pi/2, pi/2], from the x axis towards positive y */
} CclHullMeasures;

void ccl_hull_measures(const CclHullCounts *counts, uint64_t area, CclHullMeasures *measures);

/*
 * A hole: background that reaches no border of the mask, with the other connectivity than components. It is a record of 24 bytes
 * without padding. Its parent is the component left of its first pixel, which is all around it.
 * In a label map everything but its parent is background to it: area_filled counts these pixels, and area those of the
 * background's value. The box and the first pixel are of all of them.
 */
typedef struct CclHole {
    uint32_t parent;         /* label of the component */
    uint32_t area;           /* pixels of background; 0 if other values of a label map fill it */
    uint32_t area_filled;    /* with the components inside, which are islands, and their holes */
    uint16_t x0, y0, x1, y1; /* box, as that of a component */
    uint16_t first_x;        /* the first pixel in raster order is (first_x, y0) */
    uint16_t reserved;       /* 0 */
} CclHole;

/* The measures of CCL_FEATURE_HOLES. 16 bytes without padding. */
typedef struct CclHoleCounts {
    uint64_t area_filled; /* pixels of the component, its holes and the islands in them */
    uint32_t n_holes;
    uint32_t first; /* its holes are CclTable.hole_rows[first] to [first + n_holes - 1], in raster order of first pixels */
} CclHoleCounts;

/*
 * The exact sums behind the measures of CCL_FEATURE_INTENSITY, over the pixels of a component: I is the luma of pixel (x, y).
 * Sums that 64 bits cannot hold have two words, the low one first. 104 bytes without padding.
 */
typedef struct CclIntensityCounts {
    uint16_t min, max;            /* of I */
    uint32_t has_chroma;          /* 1, or 0: the picture has none */
    uint64_t sum, squares;        /* of I, I^2 */
    uint64_t x, y;                /* of x I, y I */
    uint64_t xx[2], xy[2], yy[2]; /* of x^2 I, x y I, y^2 I */
    uint64_t chroma[2];           /* of the chroma sample that belongs to each pixel: blue difference, red difference */
} CclIntensityCounts;

/* Measures of CCL_FEATURE_INTENSITY, in the units of the samples. NAN: undefined, since all pixels are 0, or there is no
 * chroma. Names and definitions as in scikit-image's regionprops. */
typedef struct CclIntensityMeasures {
    double min, max, sum, mean;
    double std;        /* standard deviation of the population */
    double x, y;       /* centroid weighted by I; places as in CclShape */
    double xx, xy, yy; /* covariance weighted by I, pixels squared */
    double cb, cr;     /* mean of blue and of red difference */
} CclIntensityMeasures;

void ccl_intensity_measures(const CclIntensityCounts *counts, uint64_t area, CclIntensityMeasures *measures);

/* Shape measures, names and definitions as in scikit-image's regionprops (population covariance of the pixel centres,
 * no 1/12 for the extent of a pixel). */
typedef struct CclShape {
    double x, y;              /* centroid, pixels from the centre of the mask's first pixel */
    double xx, xy, yy;        /* covariance, pixels squared */
    double orientation;       /* radians, -pi/2..pi/2: from the y axis to the major axis, towards positive x (and y) */
    double axis_major_length; /* full length, of the ellipse with the same second moments, pixels */
    double axis_minor_length;
    double eccentricity;        /* 0 (circle) .. 1 (line) */
    double equivalent_diameter; /* of the circle with the same area, pixels */
} CclShape;

/* moments.area must not be 0. */
void ccl_shape_from_moments(const CclMoments *moments, CclShape *shape);

/* Fills orientation, axes and eccentricity from xx, xy and yy: for a covariance that was mapped elsewhere. */
void ccl_axes_from_covariance(CclShape *shape);

/* Sides of the rectangle with the same second moments, in which pixels are squares: of a rectangle, these are its sides. */
void ccl_equivalent_rect(const CclShape *shape, double *length, double *width);

/* Area over the area of the box, 0..1. */
double ccl_extent(const CclComponent *component);

/* ---------------------------------------------------------------- analysis */

#define CCL_TABLE_TRUNCATED (1u << 0) /* n_kept > n_components, or see CclFilter.selection */

/* The result for one frame. `components` belongs to the context and lives until `depth` further frames have been
 * submitted. */
typedef struct CclTable {
    const CclComponent *components;
    const CclShapeCounts *shape; /* with CCL_FEATURE_SHAPE, by label: shape[components[i].label - 1]; else NULL */
    const CclHullCounts *hull;   /* with CCL_FEATURE_HULL, in the same way */
    const CclHoleCounts *holes;  /* with CCL_FEATURE_HOLES, in the same way */
    const CclHole *hole_rows;    /* the same: n_hole_rows, in the order of their parents' labels */
    const CclIntensityCounts *intensity; /* with CCL_FEATURE_INTENSITY, in the same way */
    const uint16_t *class_ids;   /* of a label map, by label in the same way: the value of the pixels; else NULL */
    uint32_t n_hole_rows;
    uint32_t n_components; /* records: the smaller of n_kept and max_components */
    uint32_t n_kept;       /* components that pass the filter, exact even when the table is full */
    uint32_t n_found;      /* components in the mask, exact */
    uint32_t flags;        /* CCL_TABLE_... */
    uint32_t width, height;
    uint32_t batch_size; /* frames launched together, including this one: 1 unless CclConfig.shared */
    float wait_us;       /* with CclConfig.shared: from submission to launch, else -1 */
    float pack_us;       /* CUDA: duration of packing rows of the mask to bits on the host, which may run at the same time
                          * as the launch; 0: no row was packed; CPU: -1 */
    float upload_us;     /* with CclConfig.timing: mask to the device, analysis, else -1 */
    float kernel_us;
} CclTable;

/*
 * A 32-bit label image to be filled. A pixel is 0 in the background and in dropped components, else the component's label.
 * Every kept component has its label here, even if the table is too small for it.
 *
 * Shape:  as the mask; row y begins at data + y * stride bytes.
 * Range:  data and stride are multiples of 4, stride at least width * 4, height * stride below 2^34.
 * Memory: HOST or PINNED for a CPU context; any for a CUDA context.
 * Owner:  the caller; alive until the frame is collected, complete then. Bytes past each row's width stay untouched.
 */
typedef struct CclLabels {
    uint32_t *data;
    size_t stride; /* bytes */
    CclMemory memory;
    bool provisional; /* the method's own labels instead, for comparison: unique per component, in any order, with gaps.
                       * Published methods compute these. No table is made (n_* are 0) and no filter applied */
} CclLabels;

/*
 * Starts the analysis of one frame. At most `depth` frames may be waiting to be collected. A CPU context does all the work
 * here. A CUDA context returns when it has packed or copied a mask in host memory. It does not wait for the device, unless the
 * method is iterative.
 *
 * filter: which components to keep; NULL: all. Copied.
 * labels: NULL, or the image to fill (needs CclConfig.labels), which no other frame in flight may have.
 * Errors: ARGUMENT (mask, filter or label image out of range, or too many frames waiting; nothing was submitted). After
 *         any other error every later call returns DEVICE: free the context and make a new one.
 */
CclStatus ccl_submit(CclContext *context, const CclMask *mask, const CclFilter *filter, const CclLabels *labels);

/* Waits for the oldest frame submitted and fills the table. ARGUMENT when no frame is waiting. After any other error the frame
 * is gone, and later calls fail as after an error of ccl_submit(). OUT_OF_MEMORY: memory for holes did not grow. */
CclStatus ccl_collect(CclContext *context, CclTable *table);

/* True when ccl_collect() would not wait. The exception is a frame that it has to launch again: after a timeout
 * (ccl_context_timeouts()), or when memory for holes grows. */
bool ccl_ready(CclContext *context);

/* ccl_submit() and ccl_collect() in one; no other frame may be in flight. */
CclStatus ccl_analyze(CclContext *context, const CclMask *mask, const CclFilter *filter, const CclLabels *labels,
                      CclTable *table);

/* ---------------------------------------------------------------- volumes */

/*
 * A volume is a stack of masks of one size, labelled in three dimensions: x, y and the frame. In a video a component is
 * then a blob with its past and future, as long as its pixels in one frame touch its pixels in the next.
 *
 *     config.volume = 25;                             a context of its own, besides the one for single frames
 *     ...
 *     ccl_volume_add(context, &mask);                 up to 25 times
 *     ccl_volume_label(context, NULL, &table);
 *     voxel = { component.first_x, component.y0, 7 }; a blob of frame 7, from the table of that frame
 *     ccl_volume_look_up(context, &voxel, 1, &label); the component of the volume that the blob is part of
 *
 * For the 4x1 masks     # . . #      # # . .      . # . .      the volume has two components: label 1 of 4 voxels,
 *                                                              box [0,2) x [0,1), frames [0,3); label 2 of 1 voxel,
 *                                                              frame 0
 * Nothing is filtered: pixels of blobs that the frames' filter drops connect like all others.
 */

/* One record of a volume's table: 32 bytes without padding. */
typedef struct CclVolumeComponent {
    uint64_t voxels;
    uint32_t label;          /* 1..n in raster order of the first voxels: frame by frame, in each row by row */
    uint16_t x0, y0, x1, y1; /* box, half open; pixels */
    uint16_t frame0, frame1; /* frames of the volume, half open, from 0 */
    uint16_t first_x;        /* the first voxel in raster order is (first_x, first_y) of frame0 */
    uint16_t first_y;
    uint32_t flags; /* CCL_TOUCHES_... of the box */
} CclVolumeComponent;

/* `components` belongs to the context and lives until the next ccl_volume_add(). */
typedef struct CclVolumeTable {
    const CclVolumeComponent *components; /* in order of their labels */
    const uint16_t *class_ids;            /* of label maps: the value of the voxels of each component; else NULL */
    uint32_t n_components;                /* records: the smaller of n_found and max_components */
    uint32_t n_found;                     /* components in the volume, exact */
    uint32_t flags;                       /* CCL_TABLE_TRUNCATED: n_found > n_components */
    uint32_t width, height;               /* of every frame */
    uint32_t n_frames;
    float kernel_us; /* with CclConfig.timing: labelling, without what ccl_volume_add() did; else -1 */
} CclVolumeTable;

typedef struct CclVoxel {
    uint16_t x, y, frame;
} CclVoxel;

/*
 * Puts a mask on top of the stack. After ccl_volume_label() it begins a new stack. The first mask sets the size of the
 * volume.
 *
 * mask:   as for ccl_submit(), but the caller may change it when this returns.
 * Errors: ARGUMENT (out of range, another size than the first, or the stack is full; nothing was done). Others as
 *         ccl_submit().
 */
CclStatus ccl_volume_add(CclContext *context, const CclMask *mask);

/* Forgets the masks stacked so far. */
void ccl_volume_clear(CclContext *context);

/*
 * Labels the stack.
 *
 * labels: NULL, or for each frame the image to fill (`provisional` false).
 * Errors: ARGUMENT (label images out of range, nothing stacked, or labelled already; the stack is as it was). Others as
 *         ccl_submit().
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
                     * iteration; this is part of CclTable.kernel_us, not of any step */
} CclStep;

/* The steps in launch order; returns how many. Owned by the context until the next ccl_collect(). */
unsigned ccl_steps(const CclContext *context, const CclStep **steps);

/* One of the CUDA streams (cudaStream_t) on which frames run, by index. Frames in flight run on different streams. A caller can
 * order its own work after all of them. NULL past the last one, on the CPU, and with CclConfig.shared, because a submitted
 * frame may not be in a stream yet. */
void *ccl_context_stream(const CclContext *context, unsigned i);

/* For tests: on CUDA, number of frames of this context whose kernels timed out waiting for the host to pack the mask. They were
 * launched again. */
unsigned ccl_context_timeouts(const CclContext *context);

#ifdef __cplusplus
}
#endif

#endif
