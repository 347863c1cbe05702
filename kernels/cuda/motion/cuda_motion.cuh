/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Inside the motion detector on CUDA. A picture passes these files in this order:
 *
 *     motion.cu        driver: open, submit, collect
 *     picture.cu       upload, and averages of boxes where there is a working size
 *     pixel_models.cu  a method: the picture to foreground bits, its model updated
 *     unshadow.cu      takes shadows out of the bits
 *     feedback*.cu     a method, instead of these two: its kernels are listed in feedback.cuh
 *     filter.cu        median, [confirm,] open, close, dilate, bytes of the mask; the last block tells the host
 *
 * The seam for a further method is CudaMotionMethod: one file with its kernels, its `open` and its `launch`, and one case in
 * find_method() of motion.cu. The driver gives it the picture in device memory, a cleared set of bits and counters, and the
 * stream; it launches everything up to cuda_motion_filter(), which it may precede or follow with kernels of its own. Its
 * device memory comes from cuda_motion_alloc(). The driver knows nothing else of it.
 *
 * Each kernel starts while the one before it ends. For 1920x1080 they take longer to start, to wait for memory and to end
 * than to compute: the number of steps that come one after the other counts.
 *
 * With several pictures in flight, the first kernel of the next picture runs beside the filter of this one. It reads and writes
 * nothing that the filter uses, as there are two sets of bits and three of counters. The filter lets it start only after all
 * kernels before the filter are done, and its last block waits for the filter: a kernel that waits for it has waited for all.
 *
 * Bits are words of 32, bit 0 leftmost; rows of 2 * motion->words.
 */
#ifndef CCL_CUDA_MOTION_CUH
#define CCL_CUDA_MOTION_CUH

#include "motion_backend.h"
#include "cuda/backend.cuh"
#include "cuda/memory.cuh"
#include "cuda/overlap.cuh"
#include "cuda/upload.cuh"
#include "cuda/wait.cuh"

#define MOTION_BLOCK_THREADS 128 /* small blocks fit beside those of other kernels */

typedef struct MotionCounters {
    unsigned long long raw;  /* pixels that do not fit, and in the upper half words in MotionForeground.dark; or MOTION_EMPTY */
    unsigned long long done; /* blocks of the last kernel << 40, and the pixels of the mask they kept */
} MotionCounters;

#define MOTION_EMPTY (1ull << 63) /* the mask is empty, as kernels decided */

/* What the last block of a frame tells the host, in one word of mapped memory: pixels that did not fit, pixels of the
 * mask, both at most 2^28, and the last bits of the frame's number. */
#define MOTION_RESULT_BITS 29
#define MOTION_RESULT_FRAMES 64
#define MOTION_RESULTS (2 * CCL_MAX_DEPTH) /* one for each in flight, and again when they are done again */
#define MOTION_COUNTERS 3u

/* The pixels of a frame that do not fit its model. */
typedef struct MotionForeground {
    uint32_t *image;
    uint2 *dark;       /* words that may have shadows, in any order: index, bits */
} MotionForeground;

/* What the kernels know of a frame. */
typedef struct MotionPicture {
    const uint8_t *luma;
    size_t stride;
    uint32_t width, height, words; /* words of 32 */
    MotionRates rates;
} MotionPicture;

/* Where the results of a frame go. */
typedef struct MotionTarget {
    uint8_t *mask; /* NULL: nowhere */
    size_t mask_stride;
    unsigned long long *result; /* mapped host memory */
    uint32_t serial;            /* of the frame, its last bits */
    uint64_t max_raw;           /* raw foreground above this: the mask is empty */
    MotionCounters *counters;   /* of this frame */
    MotionCounters *next_but_one;
} MotionTarget;

/* A frame on its way, as the driver hands it to a method. */
typedef struct MotionWork {
    const MotionFrame *frame;
    MotionPicture picture;
    bool overlap;                 /* the method's first kernel may start while the frame before is filtered */
    MotionForeground foreground;
    MotionCounters *counters;     /* of this frame: zero */
    MotionCounters *next_but_one; /* the filter clears them */
} MotionWork;

typedef struct CudaMotionMethod {
    /* Allocates CudaMotion.model and what it points to. */
    CclStatus (*open)(CclMotion *motion);
    /* Launches all kernels from the picture to the mask on CudaMotion.stream. */
    CclStatus (*launch)(const CclMotion *motion, const MotionWork *work);
    /* The picture is done: fills what the method decides of its frame. NULL: nothing. */
    void (*collect)(const CclMotion *motion, MotionFrame *frame);
    /* Ends what the method holds but CudaMotion.model and device memory. NULL: nothing. */
    void (*close)(void *model);
    /* As MotionBackend has them; NULL: the model cannot be saved. */
    void (*list_arrays)(const CclMotion *motion, MotionArrays *arrays);
    CclStatus (*control)(CclMotion *motion, FeedbackControl *control, bool put);
    CclStatus (*hold)(CclMotion *motion, const FeedbackHold *hold);
} CudaMotionMethod;

extern const CudaMotionMethod cuda_motion_pixel_models; /* pixel_models.cu: DIFF, EMA, MOG2 */
extern const CudaMotionMethod cuda_motion_feedback;     /* feedback.cu: FEEDBACK */

/* CclMotion.impl. */
typedef struct CudaMotion {
    const CudaMotionMethod *method;
    void *model;              /* the method's: from calloc(), freed by the driver; NULL: none */
    cudaStream_t stream;
    cudaEvent_t produced; /* NULL until first needed, as are those of `downloaded` */
    cudaEvent_t begin[CCL_MAX_DEPTH], end[CCL_MAX_DEPTH]; /* by slot; with timing */
    cudaEvent_t downloaded[CCL_MAX_DEPTH];                /* the mask is in host memory */
    CudaWaiter waiter;                                    /* for the thread that collects */
    MotionForeground foreground[2]; /* in turn; one alone where only one picture is in flight */
    uint32_t *ignored;
    uint32_t *kept, *confirm; /* kept: between two filters; confirm: five planes */
    uint8_t *luma;            /* uploaded pictures */
    size_t luma_pitch;
    uint8_t *shrunk;          /* rows of words * 64; NULL: the working size is the picture's */
    uint8_t *mask;            /* for masks in host memory */
    size_t mask_pitch;
    MotionCounters *counters; /* used in turn: each frame clears those of the next but one */
    unsigned long long *results, *d_results; /* the same memory, and its device address; used in turn */
    uint32_t serial;          /* of the last frame */
    CudaDevice device;
    CudaMemory memory;
} CudaMotion;

static inline CudaMotion *cuda_motion(const CclMotion *motion)
{
    return (CudaMotion *)motion->impl;
}

/* Device memory that the detector frees, zero. memory: a pointer to any pointer. */
CclStatus cuda_motion_alloc(CclMotion *motion, void *memory, size_t size);

/* Copies to the host, or with `put` to the device, after all that is on the stream, and waits. */
CclStatus cuda_motion_copy(CclMotion *motion, void *host, void *device, size_t size, bool put);

/* Puts the picture where kernels can read it, at the working size: work->picture and work->overlap. */
CclStatus cuda_motion_upload(const CclMotion *motion, MotionWork *work);

/* A plane of 8-bit samples, `step` bytes apart, at another size: averages of boxes. */
typedef struct MotionPlane {
    const uint8_t *data;
    size_t stride;
    uint32_t step, width, height;
} MotionPlane;

CclStatus cuda_motion_shrink(const CclMotion *motion, const MotionPlane *plane, uint8_t *to, uint32_t pitch, uint32_t width,
                             uint32_t height);

/* Takes shadows out of the frame's bits. mean: 8.8 fixed point, rows of words * 32. */
CclStatus cuda_motion_unshadow(const CclMotion *motion, const MotionWork *work, const uint16_t *mean);

/* The frame's bits to the mask; the last block writes the frame's word of CudaMotion.results. */
CclStatus cuda_motion_filter(const CclMotion *motion, const MotionWork *work);

/* Radii of the filters of a mask; 0: none. */
typedef struct MotionRadii {
    uint32_t median, open, close;
} MotionRadii;

/* Parts of it, for a method that does more between them, or that launches them as a graph: `target` is in device memory. Bits
 * through median, open and close: */
CclStatus cuda_motion_filter_bits(const CclMotion *motion, const MotionWork *work, const MotionTarget *target,
                                  const uint32_t *from, uint32_t *to, const MotionRadii &radii);
/* and bits to the mask: confirm, dilate, bytes. The last block tells the host. */
CclStatus cuda_motion_output(const CclMotion *motion, const MotionWork *work, const MotionTarget *target, const uint32_t *from);
MotionTarget cuda_motion_target(const CudaMotion *cuda, const MotionWork *work);
/* Before the output of a frame after which confirmation is off: clears the counts. */
CclStatus cuda_motion_forget_counts(const CclMotion *motion, const MotionFrame *frame);

/* overlap: the kernel itself waits for the one before it. */
template <typename... Parameters, typename... Values>
static CclStatus cuda_motion_launch(const CudaMotion *cuda, bool overlap, void (*kernel)(Parameters...),
                                    const CudaThreads &threads, const Values &...values)
{
    CCL_CUDA_TRY(launch_in(cuda->stream, { overlap && cuda->device.overlaps, 0, 0 }, kernel, threads, values...));
    return CCL_OK;
}

#endif
