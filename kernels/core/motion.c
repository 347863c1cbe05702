/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Motion detection from ccl_motion_submit() to ccl_motion_collect(), the same on every backend: argument checks, the ring
 * of pictures, learning rates and warm-up. */
#include "motion_backend.h"
#include "motion_feedback_picture.h"

#include "bounds.h"
#include "host/clock.h"

#include <math.h>
#include <stdlib.h>

CclMotionConfig ccl_motion_config_default(void)
{
    return (CclMotionConfig){ .method = CCL_MOTION_FEEDBACK, .depth = 1, .cpu_flags = CCL_CPU_ALL };
}

CclMotionParams ccl_motion_params_default(void)
{
    return (CclMotionParams){
        .learning_rate = -1,
        .warmup_frames = 30,
        .confirm_frames = 1,
        .median = 2,
        .close = 2,
        .drop_shadow = true,
        .absorb_ms = 600000,
        .max_motion = 0.8,
    };
}

/* Boxes that are averaged are this wide or high, or a pixel less. */
static uint32_t box_size(uint32_t full, uint32_t work)
{
    return work ? (full + work - 1) / work : 1;
}

static CclStatus check_config(const CclMotionConfig *config)
{
    const uint32_t box_width = box_size(config->width, config->work_width);
    const uint32_t box_height = box_size(config->height, config->work_height);
    if (config->backend != CCL_BACKEND_CPU && config->backend != CCL_BACKEND_CUDA)
        return ccl_fail(CCL_ERROR_ARGUMENT, "backend %d does not exist", (int)config->backend);
    if ((unsigned)config->method > CCL_MOTION_FEEDBACK)
        return ccl_fail(CCL_ERROR_ARGUMENT, "motion method %d does not exist", (int)config->method);
    if (config->width < 1 || config->width > CCL_MAX_SIZE || config->height < 1 || config->height > CCL_MAX_SIZE)
        return ccl_fail(CCL_ERROR_ARGUMENT, "picture %ux%u is outside 1x1 to %ux%u", config->width, config->height, CCL_MAX_SIZE,
                        CCL_MAX_SIZE);
    if (config->work_width > config->width || config->work_height > config->height || !config->work_width != !config->work_height)
        return ccl_fail(CCL_ERROR_ARGUMENT, "working size %ux%u is not between 1x1 and the picture's %ux%u", config->work_width,
                        config->work_height, config->width, config->height);
    if (box_width * box_height > CCL_MOTION_MAX_BOX)
        return ccl_fail(CCL_ERROR_ARGUMENT, "working size %ux%u averages boxes of %ux%u, more than %u pixels", config->work_width,
                        config->work_height, box_width, box_height, CCL_MOTION_MAX_BOX);
    if (config->depth < 1 || config->depth > CCL_MAX_DEPTH)
        return ccl_fail(CCL_ERROR_ARGUMENT, "depth %u is outside 1 to %u", config->depth, CCL_MAX_DEPTH);
    return CCL_OK;
}

CclStatus ccl_motion_new(const CclMotionConfig *config, CclMotion **result)
{
    *result = NULL;
    CCL_TRY(check_config(config));
    if (!ccl_backend_built(config->backend))
        return ccl_fail(CCL_ERROR_UNSUPPORTED, "this build has no CUDA backend (built without the CUDA toolkit)");

    CclMotion *const motion = calloc(1, sizeof *motion);
    if (!motion)
        return ccl_fail(CCL_ERROR_OUT_OF_MEMORY, "out of memory");
    motion->config = *config;
    motion->width = config->work_width ? config->work_width : config->width;
    motion->height = config->work_height ? config->work_height : config->height;
    motion->words = (motion->width + 63) / 64;
    motion->pixels = (uint64_t)motion->width * motion->height;
    motion->backend = config->backend == CCL_BACKEND_CUDA     ? &motion_cuda_backend
                      : config->method == CCL_MOTION_FEEDBACK ? &motion_cpu_feedback_backend
                                                              : &motion_cpu_backend;

    const CclStatus status = motion->backend->open(motion);
    if (status != CCL_OK) {
        ccl_motion_free(motion);
        return status;
    }
    *result = motion;
    return CCL_OK;
}

void ccl_motion_free(CclMotion *motion)
{
    if (!motion)
        return;
    motion->backend->close(motion);
    free(motion);
}

void ccl_motion_reset(CclMotion *motion)
{
    motion->n_learnt = motion->n_seen = 0;
    motion->n_resets++;
}

void ccl_motion_size(const CclMotion *motion, uint32_t *width, uint32_t *height)
{
    *width = motion->width;
    *height = motion->height;
}

void ccl_motion_memory(const CclMotion *motion, size_t *host_bytes, size_t *device_bytes)
{
    *host_bytes = motion->host_bytes;
    *device_bytes = motion->device_bytes;
}

CclStatus motion_check_idle(const CclMotion *motion)
{
    if (motion->n_waiting)
        return ccl_fail(CCL_ERROR_ARGUMENT, "%u pictures are waiting; collect them first", motion->n_waiting);
    return CCL_OK;
}

CclStatus ccl_motion_set_ignore(CclMotion *motion, const uint8_t *ignore, size_t stride)
{
    CCL_TRY(motion_check_idle(motion));
    uint64_t *const bits = calloc((size_t)motion->words * motion->height, sizeof *bits);
    uint64_t n = 0;
    if (!bits)
        return ccl_fail(CCL_ERROR_OUT_OF_MEMORY, "out of memory");
    for (uint32_t y = 0; ignore && y < motion->height; y++)
        for (uint32_t x = 0; x < motion->width; x++) {
            const uint64_t ignored = ignore[y * stride + x] != 0;
            bits[(size_t)y * motion->words + x / 64] |= ignored << x % 64;
            n += ignored;
        }
    const CclStatus status = motion->backend->set_ignored(motion, bits);
    free(bits);
    if (status == CCL_OK)
        motion->pixels = (uint64_t)motion->width * motion->height - n;
    return status;
}

_Static_assert(FEEDBACK_STILL_HELD >= FEEDBACK_STATIC, "ghosts are judged in held boxes");
_Static_assert(FEEDBACK_STILL_HELD < FEEDBACK_MOTIONLESS, "things that were moved are not");

static uint16_t cut(uint32_t at, uint32_t size)
{
    return (uint16_t)(at < size ? at : size);
}

CclStatus ccl_motion_hold_boxes(CclMotion *motion, const CclMotionBox *boxes, unsigned n)
{
    FeedbackHold hold = { 0 };
    if (motion->config.method != CCL_MOTION_FEEDBACK)
        return ccl_fail(CCL_ERROR_ARGUMENT, "motion method %d does not hold boxes", (int)motion->config.method);
    if (n > CCL_MOTION_MAX_BOXES)
        return ccl_fail(CCL_ERROR_ARGUMENT, "%u boxes to hold are more than %u", n, CCL_MOTION_MAX_BOXES);
    for (unsigned i = 0; i < n; i++) {
        uint16_t *const box = hold.boxes[hold.n];
        box[0] = cut(boxes[i].x0, motion->width), box[1] = cut(boxes[i].y0, motion->height);
        box[2] = cut(boxes[i].x1, motion->width), box[3] = cut(boxes[i].y1, motion->height);
        hold.n += box[0] < box[2] && box[1] < box[3];
    }
    return motion->backend->hold(motion, &hold);
}

/* ---------------------------------------------------------------- a picture */

static CclStatus check_picture(const CclMotion *motion, const CclMask *luma, const CclMotionMask *mask)
{
    const CclMotionConfig *const config = &motion->config;
    if (!luma->data)
        return ccl_fail(CCL_ERROR_ARGUMENT, "the picture has no data");
    if (luma->pixel_size > 1)
        return ccl_fail(CCL_ERROR_ARGUMENT, "pixels have 1 byte, not %u", luma->pixel_size);
    if (luma->width != config->width || luma->height != config->height)
        return ccl_fail(CCL_ERROR_ARGUMENT, "the picture is %ux%u, the detector was made for %ux%u", luma->width, luma->height,
                        config->width, config->height);
    if (luma->stride < luma->width)
        return ccl_fail(CCL_ERROR_ARGUMENT, "picture stride %zu is shorter than a row of %u pixels", luma->stride, luma->width);
    if (mask->data && mask->stride < motion->width)
        return ccl_fail(CCL_ERROR_ARGUMENT, "mask stride %zu is shorter than a row of %u pixels", mask->stride, motion->width);
    CCL_TRY(ccl_check_memory(config->backend, luma->memory, "picture"));
    return mask->data ? ccl_check_memory(config->backend, mask->memory, "mask") : CCL_OK;
}

static CclStatus check_chroma(const CclMotion *motion, const CclMotionChroma *chroma)
{
    const CclMotionConfig *const config = &motion->config;
    if (!config->chroma || config->method != CCL_MOTION_FEEDBACK)
        return CCL_OK;
    if (!chroma->u || !chroma->v)
        return ccl_fail(CCL_ERROR_ARGUMENT, "the picture has no chroma, and the detector was made for chroma");
    if (chroma->step < 1 || chroma->step > 2)
        return ccl_fail(CCL_ERROR_ARGUMENT, "chroma samples are %u bytes apart, not 1 or 2", chroma->step);
    if (chroma->width < (motion->width + 1) / 2 || chroma->width > config->width || chroma->height < (motion->height + 1) / 2 ||
        chroma->height > config->height)
        return ccl_fail(CCL_ERROR_ARGUMENT, "chroma of %ux%u samples does not fit a picture of %ux%u", chroma->width,
                        chroma->height, config->width, config->height);
    for (unsigned k = 0; k < 2; k++)
        if (chroma->stride[k] < (size_t)(chroma->width - 1) * chroma->step + 1)
            return ccl_fail(CCL_ERROR_ARGUMENT, "chroma stride %zu is shorter than a row of %u samples", chroma->stride[k],
                            chroma->width);
    return CCL_OK;
}

static CclStatus check_params(const CclMotionParams *params)
{
    if (params->threshold > 255)
        return ccl_fail(CCL_ERROR_ARGUMENT, "threshold %u is above 255", params->threshold);
    if (!(params->learning_rate <= 1)) /* NaN too */
        return ccl_fail(CCL_ERROR_ARGUMENT, "learning rate %g is above 1", params->learning_rate);
    if (!(params->max_motion >= 0 && params->max_motion <= 1))
        return ccl_fail(CCL_ERROR_ARGUMENT, "max_motion %g is outside 0 to 1", params->max_motion);
    if (params->confirm_frames > CCL_MOTION_MAX_CONFIRM)
        return ccl_fail(CCL_ERROR_ARGUMENT, "confirm_frames %u is above %u", params->confirm_frames, CCL_MOTION_MAX_CONFIRM);
    if (params->median > 2)
        return ccl_fail(CCL_ERROR_ARGUMENT, "median %u is above 2", params->median);
    if (params->open > CCL_MOTION_MAX_RADIUS || params->close > CCL_MOTION_MAX_RADIUS || params->dilate > CCL_MOTION_MAX_RADIUS)
        return ccl_fail(CCL_ERROR_ARGUMENT, "open %u, close %u or dilate %u is above %u", params->open, params->close,
                        params->dilate, CCL_MOTION_MAX_RADIUS);
    return CCL_OK;
}

/* With few pictures learnt each counts as one of twice their number. */
static double rate_for(double rate, uint32_t n_learnt)
{
    const double early = 0.5 / (n_learnt + 1.0);
    const double wanted = rate < 0 ? 0.003 : rate;
    return wanted > 0 && wanted < early ? early : wanted;
}

/* Sets how the model treats a picture after `n_learnt` others. */
static void plan_frame(MotionFrame *frame, uint32_t n_learnt)
{
    const CclMotionParams *const params = &frame->params;
    frame->n_learnt = n_learnt;
    frame->rates = motion_rates(params->threshold, rate_for(params->learning_rate, n_learnt), frame->n_seen, params->freeze);
    frame->seed = !n_learnt;
    frame->silent = frame->n_seen < params->warmup_frames || frame->seed;
    frame->raw_foreground = frame->foreground = 0;
}

static MotionFrame *nth_frame(CclMotion *motion, unsigned n)
{
    return &motion->frames[(motion->first + n) % motion->config.depth];
}

static uint32_t one_more(uint32_t n)
{
    return n + (n < UINT32_MAX);
}

static unsigned default_threshold(CclMotionMethod method)
{
    return method == CCL_MOTION_MOG2 ? 12 : method == CCL_MOTION_FEEDBACK ? 5 : 25;
}

CclStatus ccl_motion_submit_picture(CclMotion *motion, const CclMotionPicture *picture, const CclMotionParams *params,
                                    const CclMotionMask *mask)
{
    const double start = ccl_now_us();
    CCL_TRY(check_picture(motion, &picture->luma, mask));
    CCL_TRY(check_chroma(motion, &picture->chroma));
    CCL_TRY(check_params(params));
    if (motion->n_waiting == motion->config.depth)
        return ccl_fail(CCL_ERROR_ARGUMENT, "%u pictures are waiting already; collect one first", motion->n_waiting);

    MotionFrame *const frame = nth_frame(motion, motion->n_waiting);
    *frame = (MotionFrame){ .luma = picture->luma,
                            .chroma = picture->chroma,
                            .us = picture->us,
                            .mask = *mask,
                            .params = *params,
                            .pixels = motion->pixels,
                            .n_seen = motion->n_seen,
                            .n_resets = motion->n_resets,
                            .start_us = start,
                            .kernel_us = -1,
                            .slot = (unsigned)(frame - motion->frames) };
    if (!params->threshold)
        frame->params.threshold = default_threshold(motion->config.method);
    if (!params->confirm_frames)
        frame->params.confirm_frames = 1;
    if (motion->config.method == CCL_MOTION_DIFF)
        frame->params.drop_shadow = false;
    frame->forgets = frame->params.confirm_frames <= 1 && motion->confirm_frames > 1;
    frame->max_raw_foreground = (uint64_t)((double)motion->pixels * params->max_motion);
    plan_frame(frame, motion->n_learnt);

    CCL_TRY(motion->backend->submit(motion, frame));
    motion->confirm_frames = frame->params.confirm_frames;
    motion->n_learnt = one_more(motion->n_learnt);
    motion->n_seen = one_more(motion->n_seen);
    motion->n_waiting++;
    return CCL_OK;
}

/*
 * After a global change the next picture is the first that the model learns from. Pictures in flight were started before
 * the change was known, so this starts them again, from the oldest on. The first is a seed: it needs nothing from the
 * model and clears all counts, so nothing remains of their first run. Pictures after a reset are repeated too, because the
 * model has to go through the same states.
 */
static CclStatus learn_again(CclMotion *motion, uint32_t n_resets)
{
    uint32_t n_learnt = 0;
    if (motion->n_waiting && nth_frame(motion, 0)->n_resets != n_resets)
        return CCL_OK;
    for (unsigned i = 0; i < motion->n_waiting; i++) {
        MotionFrame *const frame = nth_frame(motion, i);
        if (frame->n_resets != n_resets)
            n_learnt = 0;
        n_resets = frame->n_resets;
        plan_frame(frame, n_learnt);
        CCL_TRY(motion->backend->submit(motion, frame));
        n_learnt = one_more(n_learnt);
    }
    if (motion->n_resets == n_resets)
        motion->n_learnt = n_learnt;
    return CCL_OK;
}

CclStatus ccl_motion_collect(CclMotion *motion, CclMotionInfo *info)
{
    if (!motion->n_waiting)
        return ccl_fail(CCL_ERROR_ARGUMENT, "no picture is waiting to be collected");
    MotionFrame *const frame = nth_frame(motion, 0);
    motion->first = (motion->first + 1) % motion->config.depth;
    motion->n_waiting--;

    CCL_TRY(motion->backend->collect(motion, frame));
    const double us = ccl_now_us() - frame->start_us;
    const bool decides = motion->config.method == CCL_MOTION_FEEDBACK; /* then the backend has */
    const bool changed = decides ? frame->restarts : !frame->silent && frame->raw_foreground > frame->max_raw_foreground;
    if (changed && !decides)
        CCL_TRY(learn_again(motion, frame->n_resets));
    if (info)
        *info = (CclMotionInfo){
            .pixels = frame->pixels,
            .raw_foreground = frame->raw_foreground,
            .foreground = frame->foreground,
            .frames = changed ? 0 : one_more(frame->n_learnt),
            .flags = (frame->silent ? CCL_MOTION_LEARNING : 0) | (changed ? CCL_MOTION_GLOBAL_CHANGE : 0),
            .us = (float)us,
            .kernel_us = frame->kernel_us,
        };
    return CCL_OK;
}

CclStatus ccl_motion_submit(CclMotion *motion, const CclMask *luma, const CclMotionParams *params, const CclMotionMask *mask)
{
    const CclMotionPicture picture = { .luma = *luma, .us = CCL_MOTION_NO_TIME };
    return ccl_motion_submit_picture(motion, &picture, params, mask);
}

CclStatus ccl_motion_apply(CclMotion *motion, const CclMask *luma, const CclMotionParams *params, const CclMotionMask *mask,
                           CclMotionInfo *info)
{
    CCL_TRY(motion_check_idle(motion));
    CCL_TRY(ccl_motion_submit(motion, luma, params, mask));
    return ccl_motion_collect(motion, info);
}
