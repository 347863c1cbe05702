/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Which pixels move: a model of the background behind a fixed camera, on the CPU and on CUDA.
 *
 * A caller makes a detector for one size of picture. ccl_motion_apply() fills the mask of the pixels that do not fit the
 * background model, and the model learns from the picture:
 *
 *     CclMotionConfig config = ccl_motion_config_default();
 *     config.width = 1920, config.height = 1080;
 *     CclMotion *motion;
 *     if (ccl_motion_new(&config, &motion) != CCL_OK)
 *         die(ccl_error_message());
 *
 *     const CclMotionParams params = ccl_motion_params_default();
 *     const CclMask luma = { .data = pixels, .stride = 1920, .width = 1920, .height = 1080 };
 *     const CclMotionMask mask = { .data = bytes, .stride = 1920 };
 *     CclMotionInfo info;
 *     if (ccl_motion_apply(motion, &luma, &params, &mask, &info) != CCL_OK)
 *         die(ccl_error_message());
 *     if (info.foreground > info.pixels / 100)
 *         alarm();
 *     ccl_motion_free(motion);
 *
 * The arithmetic is of integers throughout: every SIMD tier, number of threads and backend gives the same masks, bit for
 * bit. A detector is used by one thread at a time; different ones are independent.
 */
#ifndef CCL_MOTION_H
#define CCL_MOTION_H

#include "ccl.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Largest radius of open, close and dilate, pixels. */
#define CCL_MOTION_MAX_RADIUS 15u
/* Largest box that is averaged, pixels: sums fit 32 bits. */
#define CCL_MOTION_MAX_BOX    (1u << 24)

/* Largest confirm_frames. */
#define CCL_MOTION_MAX_CONFIRM 30u

typedef enum CclMotionMethod {
    CCL_MOTION_DIFF,     /* differs from the picture before */
    CCL_MOTION_EMA,      /* differs from a running mean */
    CCL_MOTION_MOG2,     /* fits none of the Gaussians that make up the background of its pixel: up to three per pixel, after
                        Zivkovic & van der Heijden, Pattern Recognition Letters 27 (2006) */
    CCL_MOTION_FEEDBACK, /* fits none of the modes of its pixel, with thresholds that follow false alarms; foreground is not
                            learnt until its region is known to be a ghost, or absorb_ms has passed: docs/motion-model.md */
} CclMotionMethod;

typedef struct CclMotionConfig {
    CclBackendKind backend;
    CclMotionMethod method;
    uint32_t width, height;           /* of the pictures, 1..CCL_MAX_SIZE each way */
    uint32_t work_width, work_height; /* size to work at, at most that of the pictures; smaller ones are averages of boxes,
                                         of up to CCL_MOTION_MAX_BOX pixels; 0: the size of the pictures */
    int device;                       /* CUDA: as in CclConfig */
    unsigned depth;                   /* pictures submitted and not yet collected, 1..CCL_MAX_DEPTH */
    unsigned threads;                 /* CPU: as in CclConfig */
    uint32_t cpu_flags;
    bool timing; /* CUDA: measure CclMotionInfo.kernel_us */
    bool chroma; /* FEEDBACK: pictures come with chroma, and it counts */
} CclMotionConfig;

/* CPU, FEEDBACK, depth 1, one thread per CPU as far as they help, device 0; sizes 0, for the caller to fill. */
CclMotionConfig ccl_motion_config_default(void);

typedef struct CclMotion CclMotion;

/* Makes a detector that has learnt nothing. It allocates all memory here, except for lists of regions and uploaded chroma.
 * Errors as of ccl_context_new(). */
CclStatus ccl_motion_new(const CclMotionConfig *config, CclMotion **motion);

/* NULL is allowed. */
void ccl_motion_free(CclMotion *motion);

/* Forgets everything: the next picture submitted is the first. Those submitted before stay what they are. */
void ccl_motion_reset(CclMotion *motion);

/* Size of the masks: the working size. */
void ccl_motion_size(const CclMotion *motion, uint32_t *width, uint32_t *height);

/* Bytes the detector holds in host memory and in device memory. */
void ccl_motion_memory(const CclMotion *motion, size_t *host_bytes, size_t *device_bytes);

/*
 * Which pixels never count.
 *
 * ignore: host memory, working size, `stride` bytes from row to row; a pixel is ignored where it is not 0. NULL: none.
 *         Copied. analysis/polygon.h can make such an image. No picture may be in flight.
 */
CclStatus ccl_motion_set_ignore(CclMotion *motion, const uint8_t *ignore, size_t stride);

/* May be others for every picture; what was learnt is kept. FEEDBACK has its own rules in place of learning_rate, warmup_frames
 * and freeze. */
typedef struct CclMotionParams {
    unsigned threshold;      /* 1..255: gray levels by which a pixel must differ (MOG2: where the picture is quiet, and
                               where there is more noise in proportion to it; FEEDBACK: in smoothed pictures, more where there
                               is noise, and at most 100); 0: 12 for MOG2, 5 for FEEDBACK, else 25 */
    double learning_rate;    /* 0..1: part of the background that a picture replaces; negative: 0.003. While there are few
                               pictures to learn from it is higher. */
    unsigned warmup_frames;  /* first pictures to learn from without a mask */
    unsigned confirm_frames; /* 1..30: pictures in a row a pixel must be foreground in; 0 is 1 */
    unsigned median;         /* 0..2: noise suppression: a pixel takes the value most pixels have in the square of this
                               radius around it */
    unsigned open;           /* 0..15, radii in pixels: foreground thinner than 2r+1 goes, */
    unsigned close;          /* then background thinner than 2r+1, */
    unsigned dilate;         /* then foreground grows */
    bool drop_shadow;        /* all but DIFF: pixels where the background is only darker by a factor are no foreground */
    bool freeze;             /* foreground is not learnt: what stops stays foreground */
    uint32_t absorb_ms;      /* FEEDBACK: what stands still for this long becomes background; 0: never */
    double max_motion;       /* 0..1: with a larger part of the picture foreground, the whole picture changed: the mask is
                               empty and learning starts again with the next picture; 1: never */
} CclMotionParams;

/* threshold 0, learning_rate -1, 30 warm-up frames, 1 to confirm, median 2, close 2, shadows dropped, absorb_ms 600000, max_motion
 * 0.8. */
CclMotionParams ccl_motion_params_default(void);

/* Where the mask goes: 255 where something moves, else 0; of the working size. NULL data: nowhere. */
typedef struct CclMotionMask {
    uint8_t *data;
    size_t stride;    /* bytes from row to row; what is past the width is left alone */
    CclMemory memory; /* a CPU detector takes HOST and PINNED, a CUDA detector all three */
} CclMotionMask;

#define CCL_MOTION_LEARNING      (1u << 0) /* in warm-up: the mask is empty */
#define CCL_MOTION_GLOBAL_CHANGE (1u << 1) /* more than max_motion: the mask is empty, learning starts again */

typedef struct CclMotionInfo {
    uint64_t pixels;         /* of the mask, without those ignored */
    uint64_t raw_foreground; /* pixels that do not fit the model: before shadows, noise and all that */
    uint64_t foreground;     /* pixels of the mask */
    uint32_t frames;         /* pictures learnt from, this one included */
    uint32_t flags;          /* CCL_MOTION_... */
    float us;                /* from the picture to the mask: since it was submitted; microseconds */
    float kernel_us;         /* CUDA with timing: the kernels alone, or of a picture that waits for the one before it, from
                                there; else -1 */
} CclMotionInfo;

/*
 * Starts the work on the next picture. At most `depth` pictures may be waiting to be collected. A CUDA detector returns
 * at once, unless picture or mask are in ordinary memory, which the driver copies before it returns; a CPU detector does
 * the work here.
 *
 * luma:   of the configured size, one byte per pixel; threshold and invert are not looked at. Memory as for ccl_submit().
 * params: copied.
 * Picture and mask must stay until ccl_motion_collect() has returned this one: when a picture before it turns out to be
 * a global change it is done again, as the first to be learnt from.
 * Errors: ARGUMENT (something out of range, or too many pictures waiting; nothing was submitted). After any other free
 *         the detector and make a new one.
 */
CclStatus ccl_motion_submit(CclMotion *motion, const CclMask *luma, const CclMotionParams *params, const CclMotionMask *mask);

/* Chroma of a picture: planes of U and V, or one of both. */
typedef struct CclMotionChroma {
    const void *u, *v;      /* the first sample of each; NULL: none */
    size_t stride[2];       /* bytes from row to row: of u, of v */
    unsigned step;          /* bytes from sample to sample: 1, or 2 where U and V alternate */
    uint32_t width, height; /* samples: those of the picture, or fewer */
} CclMotionChroma;

#define CCL_MOTION_NO_TIME INT64_MIN

typedef struct CclMotionPicture {
    CclMask luma;
    CclMotionChroma chroma; /* in the same memory; looked at by detectors with config.chroma */
    int64_t us;             /* FEEDBACK: when it was taken, in microseconds on any clock; or CCL_MOTION_NO_TIME: as long after the
                               picture before as that was after its own */
} CclMotionPicture;

/* ccl_motion_submit(), which gives luma alone and no time, with all that a picture has. */
CclStatus ccl_motion_submit_picture(CclMotion *motion, const CclMotionPicture *picture, const CclMotionParams *params,
                                    const CclMotionMask *mask);

/* In pixels of the mask: x0 <= x < x1, y0 <= y < y1. */
typedef struct CclMotionBox {
    uint32_t x0, y0, x1, y1;
} CclMotionBox;

#define CCL_MOTION_MAX_BOXES 128u
#define CCL_MOTION_HOLD_MS   5000u

/*
 * Boxes of known objects, which stay foreground while they stand still: in them time does not count towards absorb_ms. Ghosts are
 * still learnt. FEEDBACK alone.
 *
 * The list replaces the one before, from the next picture submitted on; n 0: none. It holds for that picture, and then for
 * CCL_MOTION_HOLD_MS by the times of the pictures. Parts outside the mask are cut off. A reset leaves the list.
 * Errors: ARGUMENT (more than CCL_MOTION_MAX_BOXES, or another method); as of ccl_motion_submit().
 */
CclStatus ccl_motion_hold_boxes(CclMotion *motion, const CclMotionBox *boxes, unsigned n);

/* Waits for the oldest picture submitted: its mask is complete on return. Masks and numbers are those of
 * ccl_motion_apply(), whatever else is in flight. info: NULL is allowed. ARGUMENT when none is waiting. */
CclStatus ccl_motion_collect(CclMotion *motion, CclMotionInfo *info);

/* ccl_motion_submit() and ccl_motion_collect() in one; no other picture may be in flight. */
CclStatus ccl_motion_apply(CclMotion *motion, const CclMask *luma, const CclMotionParams *params, const CclMotionMask *mask,
                           CclMotionInfo *info);

/*
 * The background, to go on with after a restart: FEEDBACK alone. Either backend reads what the other has written. Foreground
 * is not part of it: what stands still is new to a detector that loads it.
 */

/* Bytes that ccl_motion_save_background() writes; 0: the method has no background to save. */
size_t ccl_motion_background_size(const CclMotion *motion);

/* Writes the background after all pictures submitted. Errors: ARGUMENT (nothing is learnt yet, or the method has none); as of
 * ccl_motion_submit(). */
CclStatus ccl_motion_save_background(CclMotion *motion, void *data);

/* The next picture is compared with this background. No picture may be in flight. Errors: ARGUMENT (the bytes are no
 * background, or one of another size or kind; the detector is as before); as of ccl_motion_submit(). */
CclStatus ccl_motion_load_background(CclMotion *motion, const void *data, size_t size);

/* Whether bytes begin as a background does; at least CCL_MOTION_MAGIC_SIZE of them. */
#define CCL_MOTION_MAGIC_SIZE 8u
bool ccl_motion_is_background(const void *data);

#ifdef __cplusplus
}
#endif

#endif
