/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Inside method "feedback" on CUDA. Its rules are those of motion_feedback.h and motion_feedback_picture.h. Kernels of a
 * picture, in this order; each needs all that the kernels before it have written:
 *
 *     feedback_light.cu      sample     light of the picture; the last block decides what all pixels share
 *     feedback_classify.cu   classify   smooths, compares, takes out shadows; the last block decides whether learning restarts
 *     filter.cu              filter     median, open, close
 *     feedback_explain.cu    explain    pixels of the mask that may be background which moved; runs joined to regions; offsets of
 *                                       chroma, for the next picture
 *     feedback_regions.cu    sum        blobs and holes of the mask
 *     feedback_learn.cu      learn      the final mask, the model
 *     filter.cu              output     confirm, dilate, bytes; the last block tells the host
 *     feedback_ghosts.cu     merge, sum, absorb   still regions: median of still pixels, runs joined, ghosts absorbed
 *
 * Nothing waits for the host between two pictures: the device keeps FeedbackControl.
 */
#ifndef CCL_CUDA_MOTION_FEEDBACK_CUH
#define CCL_CUDA_MOTION_FEEDBACK_CUH

#include "cuda_motion.cuh"
#include "motion_feedback_picture.h"

/* What the device keeps and decides. */
typedef struct FeedbackState {
    FeedbackControl control;
    FeedbackFrame frame;
    FeedbackLight light;
    uint32_t skip;                 /* nothing is learnt from this picture: it is the first, or learning restarts */
    uint32_t n_mask;               /* pixels of the mask */
    uint32_t any_still, had_still; /* there are still pixels; and in the picture before */
    uint32_t sample_blocks, classify_blocks, chroma_blocks; /* that have ended */
    uint32_t unused;
    unsigned long long raw;   /* raw pixels << 32, and FeedbackEdges.raw */
    unsigned long long edges; /* FeedbackEdges.edges << 32, and .lost */
    unsigned long long raw_edges; /* FeedbackEdges.raw_edges << 32, and .raw_lost */
    unsigned long long n_pictures;
    MotionTarget target;
    FeedbackHold hold;
} FeedbackState;

/* Lists that belong together, and what a picture leaves for its later kernels. Rows of pixels have `pitch` of them, rows of
 * bits `words` words, rows of chroma samples `chroma_pitch`. */
typedef struct Feedback {
    uint32_t width, height, words, pitch;
    uint32_t chroma_width, chroma_height, chroma_pitch; /* 0: no chroma */
    FeedbackState *state;
    uint32_t *ratios;  /* histograms of the bands and of the picture; zero between pictures, as the next two */
    uint32_t *luma;    /* histogram of the model */
    uint32_t *offsets; /* histograms of U and V */
    uint16_t *gains;   /* by row: feedback_row_gain() */

    /* FeedbackPixel. `still` is valid where last_mask is set, `ghost` where last_still and last_mask are; else both are 0. */
    uint16_t *mean, *weight, *deviation, *extra, *candidate, *still;
    uint8_t *rises, *ghost;
    ushort4 *rest;
    uint4 *chroma; /* FeedbackChroma */

    uint16_t *value, *uv[2]; /* smoothed and normalised */
    uint32_t *raw, *seen, *rising, *explained;
    uint32_t *filtered, *mask; /* before and after the regions were judged */
    uint32_t *still_bits, *motionless, *still_filtered;
    uint32_t *last_mask, *last_rising, *last_still;
    const uint32_t *ignored;

    /* Regions: feedback_regions.cuh. */
    uint16_t *run_starts;
    unsigned long long *parents, *sums, *outlines;
} Feedback;

/* A picture, as kernels get it. */
typedef struct FeedbackPicture {
    const uint8_t *luma;
    size_t stride;
    const uint8_t *chroma[2];
    size_t chroma_stride[2];
    uint32_t chroma_step; /* bytes from sample to sample */
    int64_t us;
    uint32_t threshold, absorb_ms, drop_shadow;
    uint32_t resets; /* the detector was reset before this picture */
    MotionTarget target;
    unsigned long long *outcome; /* mapped host memory */
} FeedbackPicture;

/* FeedbackPicture.outcome: pictures learnt from before this one, and: */
#define FEEDBACK_OUTCOME_SILENT   (1ull << 32)
#define FEEDBACK_OUTCOME_RESTARTS (1ull << 33)

/* Launches a kernel that takes the picture. graph: captures the launches, so that it can set the picture; NULL: none does. */
template <typename... Parameters, typename... Values>
static CclStatus feedback_launch(const CudaMotion *cuda, CudaGraph *graph,
                                 void (*kernel)(Feedback, FeedbackPicture, Parameters...), const CudaThreads &threads,
                                 const Values &...values)
{
    CCL_TRY(cuda_motion_launch(cuda, true, kernel, threads, values...));
    return graph ? cuda_graph_note(graph, cuda->stream, 2 + sizeof...(Parameters)) : CCL_OK;
}

/* Kernels of a picture, by file. */
CclStatus feedback_launch_sample(const CudaMotion *cuda, const Feedback *f, const FeedbackPicture *picture, CudaGraph *graph);
CclStatus feedback_launch_classify(const CudaMotion *cuda, const Feedback *f, const FeedbackPicture *picture, CudaGraph *graph);
CclStatus feedback_launch_explain(const CudaMotion *cuda, const Feedback *f, const FeedbackPicture *picture, CudaGraph *graph);
CclStatus feedback_launch_blobs(const CudaMotion *cuda, const Feedback *f);
CclStatus feedback_launch_learn(const CudaMotion *cuda, const Feedback *f);
CclStatus feedback_launch_ghosts(const CudaMotion *cuda, const Feedback *f);

/* Whether this block is the last of n_blocks to call this; what the others have written is there then. All threads call. */
__device__ static inline bool is_last_block(uint32_t *n_blocks_done, uint32_t n_blocks)
{
    __shared__ bool is_last;
    __threadfence();
    __syncthreads();
    if (!threadIdx.x)
        is_last = atomicAdd(n_blocks_done, 1u) + 1 == n_blocks;
    __syncthreads();
    if (is_last)
        __threadfence();
    return is_last;
}

/* A pixel: its place in the picture, and in a tile. */
typedef struct TilePixel {
    int x, y, column, row;
} TilePixel;

/* Bit x of a row of bits. */
__device__ static inline bool bit_at(const Feedback &f, const uint32_t *bits, uint32_t x, uint32_t y)
{
    return bits[(size_t)y * f.words + x / 32] >> x % 32 & 1;
}

/* Which bits of a word are pixels. */
__device__ static inline uint32_t valid_bits(const Feedback &f, uint32_t word)
{
    const uint32_t left = f.width - min(f.width, word * 32);
    return left >= 32 ? ~0u : (1u << left) - 1;
}

/* 4 pixels of 16 bits. */
typedef union FeedbackFour {
    uint2 words;
    uint16_t of[4];
} FeedbackFour;

/* 8 pixels of 16 bits. */
typedef union FeedbackEight {
    uint4 words;
    uint16_t of[8];
} FeedbackEight;

typedef union FeedbackSample {
    uint4 words;
    FeedbackChroma chroma;
} FeedbackSample;

static_assert(sizeof(FeedbackChroma) == sizeof(uint4), "a chroma sample is one load");

__device__ static inline FeedbackRest rest_of(ushort4 modes)
{
    FeedbackRest rest;
    rest.mean[0] = modes.x, rest.mean[1] = modes.y, rest.part = modes.z;
    return rest;
}

__device__ static inline ushort4 words_of(const FeedbackRest &rest)
{
    return make_ushort4(rest.mean[0], rest.mean[1], rest.part, 0);
}

/* After a step of light the model is rescaled when it is read; feedback_learn.cu stores it. gain 0: no step. */
__device__ static inline uint16_t rescaled(uint32_t value, uint32_t gain)
{
    return (uint16_t)(gain ? feedback_scale(value, gain) : value);
}

__device__ static inline uint16_t rescaled_chroma(uint32_t value, uint32_t gain)
{
    return (uint16_t)(gain ? feedback_scale_chroma(value, gain) : value);
}

/* The range of chroma around a sample. */
__device__ static inline FeedbackChromaRange chroma_range(const Feedback &f, uint32_t gain, int x, int y)
{
    FeedbackChromaRange range = { { 65535, 65535 }, { 0, 0 } };
    for (int j = max(y - FEEDBACK_FAR_RADIUS_CHROMA, 0); j <= min(y + FEEDBACK_FAR_RADIUS_CHROMA, (int)f.chroma_height - 1); j++)
        for (int i = max(x - FEEDBACK_FAR_RADIUS_CHROMA, 0); i <= min(x + FEEDBACK_FAR_RADIUS_CHROMA, (int)f.chroma_width - 1);
             i++) {
            const ushort2 means = *(const ushort2 *)(f.chroma + (size_t)j * f.chroma_pitch + i);
            const uint32_t u = rescaled_chroma(means.x, gain), v = rescaled_chroma(means.y, gain);
            range.min[0] = min(range.min[0], u), range.max[0] = max(range.max[0], u);
            range.min[1] = min(range.min[1], v), range.max[1] = max(range.max[1], v);
        }
    return range;
}

#endif
