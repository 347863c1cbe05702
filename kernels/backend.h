/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Inside the core: the interfaces of backends and methods, and the content of a context. */
#ifndef CCL_BACKEND_H
#define CCL_BACKEND_H

#include "bounds.h"

#ifdef __cplusplus
extern "C" {
#endif

/* One frame in flight: a slot of the context's ring. */
typedef struct CclFrame {
    CclMask mask;
    CclLimits limits;
    const struct CclSelection *selection; /* the CPU applies it with the limits, else the core after collect(); NULL: none */
    CclLabels labels;                     /* data NULL: none wanted */
    CclTable table;                       /* filled by the backend, in raster order; `components` points at records */
    CclComponent *records;                /* CclContext.capacity of them; allocated by the backend's open() */
    CclShapeCounts *shape;                /* as many; NULL without CCL_FEATURE_SHAPE */
    CclHullCounts *hull;                  /* as many; NULL without CCL_FEATURE_HULL */
    CclHoleCounts *holes;                 /* as many; NULL without CCL_FEATURE_HOLES, as hole_rows */
    CclHole *hole_rows;                   /* as many as the frame has, or more */
    CclIntensityCounts *intensity;        /* as many as records; NULL without CCL_FEATURE_INTENSITY */
    uint16_t *class_ids;                  /* as many; NULL without CCL_FOREGROUND_EQUAL */
    void *slot;                           /* the backend's own per-slot state */
} CclFrame;

/* The stack of a context for volumes. */
typedef struct CclVolume {
    uint32_t width, height;
    uint32_t n_frames;
    bool labelled;               /* labels can be looked up; the next mask begins a new stack */
    CclVolumeComponent *records; /* CclContext.capacity of them; by the backend's open() */
    uint16_t *class_ids;         /* as many; NULL without CCL_FOREGROUND_EQUAL */
    uint32_t n_found;
    float kernel_us; /* -1: not measured */
    void *impl;      /* the backend's own */
} CclVolume;

/* For single masks or for volumes. */
typedef struct CclBackend {
    const char *name;
    CclStatus (*open)(CclContext *context); /* all allocation; on error close() is called too */
    void (*close)(CclContext *context);
    CclStatus (*submit)(CclContext *context, CclFrame *frame);
    CclStatus (*collect)(CclContext *context, CclFrame *frame);
    bool (*ready)(CclContext *context, CclFrame *frame);
    /* Volumes: arguments are checked; add() puts the mask at frame context->volume.n_frames, label() fills rows and
     * n_found of context->volume. */
    CclStatus (*volume_add)(CclContext *context, const CclMask *mask);
    CclStatus (*volume_label)(CclContext *context, const CclLabels *labels);
    CclStatus (*volume_look_up)(CclContext *context, const CclVoxel *voxels, uint32_t n, uint32_t *labels);
} CclBackend;

struct StageBuffers;

/*
 * A method has one of two functions. `analyze` makes table and label image from the mask. `label` makes provisional labels,
 * and the backend's shared stages make table and label image from them.
 *
 * A provisional label is 0 for background, else 1 + a linear pixel index y * width + x. All pixels of a component have the same
 * index, and no other component has it. With `first_pixel_roots` it is the component's first pixel in raster order, which saves
 * the backend a stage. Without it, it is this pixel or an earlier one in the same row or the row above, such as the first pixel
 * of a 2x2 block. In a volume it may be any earlier voxel.
 */
typedef struct CclAlgorithm {
    CclAlgorithmInfo info;
    const char *unit;       /* for docs/algorithms.md: the unit that is labelled, "pixel", "run", "2x2 block" */
    const char *kind;       /* the same: "iterative" if the literature says so; NULL: depends on `iterative` */
    double bytes_per_pixel; /* the same, CUDA with label(): workspace_size() per pixel; checkccl compares the two */
    bool first_pixel_roots;
    unsigned features_counted; /* CCL_FEATURE_...: which of them it counts in masks */
    bool takes_maps;           /* labels label maps: CCL_FOREGROUND_EQUAL */
    unsigned map_features;     /* the same of label maps */
    bool takes_bits; /* CUDA: can read masks as bits, and reads a mask about once, so that it may be read over the bus */
    bool sets_completion_flag; /* CUDA: with CudaVars.sets_flag it may set CudaResult.complete */
    /* CUDA, with takes_bits: the first kernel itself waits for the bits of a mask of this size that the host packs. Returns the
     * number of rows that each block waits for (a multiple of MIN_BAND_ROWS, cuda/row_chunks.cuh); 0: it does not wait. */
    uint32_t (*awaited_rows)(const CclContext *context, uint32_t width, uint32_t height);
    bool iterative; /* CUDA: the host waits for kernels to know whether more are needed (cuda/published/iterate.cuh). A frame
                     * cannot be captured into a graph, and ccl_submit() returns when its labels are found */
    CclStatus (*open)(CclContext *context);              /* CPU: the method's own state, allocated with the context; NULL: none */
    void (*close)(CclContext *context);                  /* called after a failed open() too */
    size_t (*workspace_size)(const CclContext *context); /* bytes in the backend's memory, for the largest frame; NULL: none */
    CclStatus (*label)(CclContext *context, CclFrame *frame);
    CclStatus (*analyze)(CclContext *context, CclFrame *frame);
    /* CUDA, with label(): the method's own stage of that name, see cuda/stages.cuh; NULL: the shared one. */
    CclStatus (*features)(const CclContext *context, CclFrame *frame, const struct StageBuffers *buffers,
                          unsigned round);
    /* CPU methods for volumes have these instead, see CclBackend. CUDA methods have label(), with the stack as one tall
     * mask. */
    CclStatus (*volume_add)(CclContext *context, const CclMask *mask);
    CclStatus (*volume_label)(CclContext *context, const CclLabels *labels);
    CclStatus (*volume_look_up)(CclContext *context, const CclVoxel *voxels, uint32_t n, uint32_t *labels);
    const struct CudaBatches *batches; /* CUDA: launches frames of several contexts together; NULL: not supported */
} CclAlgorithm;

struct CclContext {
    CclConfig config;
    const CclBackend *backend;
    const CclAlgorithm *algorithm;
    uint32_t capacity; /* records of the backend's table: max_components, or more where the core chooses some of them */
    CclFrame frames[CCL_MAX_DEPTH];
    unsigned first; /* ring: the oldest frame waiting */
    unsigned n_waiting;
    struct CclOrderMemory *order; /* NULL with CCL_ORDER_RASTER */
    uint32_t *renamed;            /* with CclConfig.selects on CUDA: [label], the label after the selection; 0: dropped */
    bool lost;                    /* a frame has failed after it was begun: every later call fails */
    CclVolume volume;             /* with CclConfig.volume */
    CclStep steps[64];
    unsigned n_steps;
    size_t host_bytes, device_bytes;
    void *impl; /* the backend's own */
};

extern const CclBackend ccl_cpu_backend;
extern const CclBackend ccl_cpu_volumes;
extern const CclBackend ccl_cuda_backend; /* cuda/backend.cu, or cuda/stubs.c without nvcc */
extern const CclBackend ccl_cuda_volumes;

/* Every method of every backend; NULL-terminated. "auto" takes the first that fits. */
extern const CclAlgorithm *const ccl_algorithms[];

#ifdef __cplusplus
}
#endif

#endif
