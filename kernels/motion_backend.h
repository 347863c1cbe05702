/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Inside the motion detector: the interface of a backend, and the content of a detector. */
#ifndef CCL_MOTION_BACKEND_H
#define CCL_MOTION_BACKEND_H

#include "motion.h"
#include "motion_model.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A picture in flight. */
typedef struct MotionFrame {
    CclMask luma;
    CclMotionChroma chroma;
    int64_t us; /* FEEDBACK: or CCL_MOTION_NO_TIME */
    CclMotionMask mask;
    CclMotionParams params;    /* checked, defaults filled in */
    uint64_t pixels;           /* not ignored */
    uint32_t n_learnt, n_seen; /* pictures before this one; n_learnt may change while a global change is not known yet */
    uint32_t n_resets;
    double start_us;
    MotionRates rates;
    bool seed;                           /* the first picture: the model becomes it */
    bool silent;                         /* warm-up: the mask is empty */
    bool forgets;                        /* confirmation was switched off: its counts begin at 0 when it is on again */
    bool restarts;                       /* FEEDBACK: filled by the backend, as are silent and n_learnt: learning starts again */
    uint64_t max_raw_foreground;         /* above this the picture is a global change */
    uint64_t raw_foreground, foreground; /* filled by the backend; foreground after a global change is 0 */
    float kernel_us;                     /* -1: not measured */
    unsigned slot;                       /* 0..depth-1, different for each picture in flight */
    uint32_t serial;                     /* the backend's own */
} MotionFrame;

typedef struct FeedbackControl FeedbackControl; /* motion_feedback_picture.h */
typedef struct FeedbackHold FeedbackHold;       /* the same */

/* FEEDBACK: an array of the model. It has a member of FeedbackPixel for each pixel, or one of FeedbackChroma for each sample. */
typedef struct MotionArray {
    void *data;          /* in the backend's memory; rows of luma have words * 64 elements */
    size_t pitch;        /* bytes from row to row */
    size_t step;         /* bytes of an element, which begins with the member */
    size_t offset, size; /* of the member in its struct, bytes */
} MotionArray;

#define MOTION_MAX_ARRAYS 9u
typedef struct MotionArrays {
    MotionArray luma[MOTION_MAX_ARRAYS], chroma[MOTION_MAX_ARRAYS];
    unsigned n_luma, n_chroma;
} MotionArrays;

typedef struct MotionBackend {
    CclStatus (*open)(CclMotion *motion); /* on error close() is called too */
    void (*close)(CclMotion *motion);
    /* ignored: rows of motion->words 64-bit words, bit 0 leftmost, no bits past the width */
    CclStatus (*set_ignored)(CclMotion *motion, const uint64_t *ignored);
    /* Launches the work on a picture, or does it. After a global change the core submits all later pictures in flight again, in
     * the same order and before it collects them; the first of them is a seed. */
    CclStatus (*submit)(CclMotion *motion, MotionFrame *frame);
    /* Waits until the picture's mask and counts are complete. */
    CclStatus (*collect)(CclMotion *motion, MotionFrame *frame);
    /* FEEDBACK, to save and load its model. copy(): between host memory and an array, after all pictures submitted.
     * control(): with `put` the pictures before are forgotten. */
    void (*list_arrays)(const CclMotion *motion, MotionArrays *arrays);
    CclStatus (*copy)(CclMotion *motion, void *host, void *array, size_t size, bool put);
    CclStatus (*control)(CclMotion *motion, FeedbackControl *control, bool put);
    /* FEEDBACK: boxes for the pictures that are submitted from now on. */
    CclStatus (*hold)(CclMotion *motion, const FeedbackHold *hold);
} MotionBackend;

struct CclMotion {
    CclMotionConfig config; /* work size filled in */
    const MotionBackend *backend;
    uint32_t width, height; /* of the mask: the working size */
    uint32_t words;         /* 64-bit words of a row of bits */
    uint64_t pixels;        /* not ignored */
    uint32_t n_learnt;      /* pictures since the model was made, if none in flight is a global change */
    uint32_t n_seen;        /* pictures since the last reset */
    uint32_t n_resets;
    unsigned confirm_frames;           /* of the last picture submitted */
    MotionFrame frames[CCL_MAX_DEPTH]; /* a ring of config.depth: those in flight */
    unsigned first, n_waiting;
    size_t host_bytes, device_bytes;
    void *impl;
};

/* The input rows (or columns) that working row (or column) i of n averages: [motion_box(i), motion_box(i + 1)). */
CCL_HOST_DEVICE static inline uint32_t motion_box(uint32_t i, uint32_t n, uint32_t size)
{
    return (uint32_t)((uint64_t)i * size / n);
}

/* ARGUMENT while pictures are in flight. */
CclStatus motion_check_idle(const CclMotion *motion);

extern const MotionBackend motion_cpu_backend;
extern const MotionBackend motion_cpu_feedback_backend; /* method FEEDBACK */
extern const MotionBackend motion_cuda_backend;         /* cuda/motion/motion.cu, or cuda/motion_stubs.c without nvcc */

#ifdef __cplusplus
}
#endif

#endif
