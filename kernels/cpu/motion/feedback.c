/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Method "feedback" on the CPU: passes over strips of rows, on several threads, and between them what needs the whole picture.
 * motion_feedback_picture.h has the order of the steps. */
#include "cpu_feedback.h"
#include "planes.h"

#include "cpu/tier.h"

#include <stdlib.h>
#include <string.h>

typedef struct CpuFeedbackBackend {
    CpuFeedback data;
    const MotionTier *tier;
    CclPool *pool;
    unsigned n_strips;
    FeedbackStrip *strips;
    void (*pass)(FeedbackStrip *strip); /* that runs now */
    MotionSource sources[3];
    uint8_t *filled[3]; /* planes that are not ready in the picture */
    uint32_t *sums;     /* a source's width for each strip */
    uint32_t max_source_width;
    uint64_t *ignored;
    MotionBits out;    /* the mask for the caller */
    uint64_t *confirm; /* five planes */
    FeedbackRuns *runs;
    uint32_t n_resets;
    MotionBlocks blocks;
} CpuFeedbackBackend;

/* ---------------------------------------------------------------- memory */

static CclStatus take_luma(CclMotion *motion, CpuFeedbackBackend *b)
{
    FeedbackModel *const m = &b->data.model;
    const size_t n = (size_t)b->data.luma.words * 64 * b->data.luma.height;
    uint16_t **const arrays[] = { &m->mean, &m->weight, &m->deviation, &m->extra, &m->candidate, &m->still, &b->data.value };
    for (unsigned i = 0; i < sizeof arrays / sizeof *arrays; i++)
        CCL_TRY(motion_take(motion, &b->blocks, arrays[i], n, 2));
    CCL_TRY(motion_take(motion, &b->blocks, &m->rest, n, sizeof *m->rest));
    CCL_TRY(motion_take(motion, &b->blocks, &m->rises, n, 1));
    return motion_take(motion, &b->blocks, &m->ghost, n, 1);
}

static CclStatus take_chroma(CclMotion *motion, CpuFeedbackBackend *b)
{
    FeedbackModel *const m = &b->data.model;
    const size_t n_words = (size_t)b->data.chroma.words * b->data.chroma.height;
    uint16_t **const arrays[] = {
        &m->uv_mean[0][0], &m->uv_mean[0][1],   &m->uv_mean[1][0],   &m->uv_mean[1][1], &m->uv_weight,
        &m->uv_deviation,  &m->uv_candidate[0], &m->uv_candidate[1], &b->data.uv[0],    &b->data.uv[1]
    };
    for (unsigned i = 0; i < sizeof arrays / sizeof *arrays; i++)
        CCL_TRY(motion_take(motion, &b->blocks, arrays[i], n_words * 64, 2));
    CCL_TRY(motion_take(motion, &b->blocks, &b->data.uv_raw, n_words, 8));
    return motion_take(motion, &b->blocks, &b->data.uv_rises, n_words, 8);
}

static CclStatus take_bits(CclMotion *motion, CpuFeedbackBackend *b)
{
    CpuFeedback *const f = &b->data;
    const size_t n = (size_t)motion->words * motion->height;
    uint64_t *scratch;
    uint64_t **const planes[] = { &f->raw,         &f->seen,        &f->dim,        &f->rises,      &f->explained,
                                  &f->absorbed,    &f->last_mask,   &f->last_rises, &f->last_still, &f->mask.image,
                                  &f->guard.image, &f->still.image, &b->out.image,  &b->ignored };
    for (unsigned i = 0; i < sizeof planes / sizeof *planes; i++)
        CCL_TRY(motion_take(motion, &b->blocks, planes[i], n, 8));
    CCL_TRY(motion_take(motion, &b->blocks, &b->confirm, 5 * n, 8));
    CCL_TRY(motion_take(motion, &b->blocks, &scratch, motion_scratch_words(motion->words, motion->height), 8));
    MotionBits *const images[] = { &f->mask, &f->guard, &f->still, &b->out };
    for (unsigned i = 0; i < 4; i++) {
        images[i]->width = motion->width, images[i]->height = motion->height, images[i]->words = motion->words;
        images[i]->scratch = scratch;
    }
    f->ignored = b->ignored;
    return CCL_OK;
}

/* Planes that have to be filled: smaller ones, and chroma, whose layout is not known yet. */
static CclStatus take_planes(CclMotion *motion, CpuFeedbackBackend *b)
{
    const CclMotionConfig *const config = &motion->config;
    const size_t chroma = (size_t)b->data.chroma.width * b->data.chroma.height;
    if (motion->width != config->width || motion->height != config->height)
        CCL_TRY(motion_take(motion, &b->blocks, &b->filled[0], (size_t)motion->width * motion->height, 1));
    for (unsigned i = 1; i < 3 && chroma; i++)
        CCL_TRY(motion_take(motion, &b->blocks, &b->filled[i], chroma, 1));
    CCL_TRY(motion_take(motion, &b->blocks, &b->sums, (size_t)config->width * b->n_strips, sizeof *b->sums));
    b->strips = NULL;
    return motion_take(motion, &b->blocks, &b->strips, b->n_strips, sizeof *b->strips);
}

static void cut_strips(CclMotion *motion, CpuFeedbackBackend *b, uint16_t *columns)
{
    const uint32_t pairs = (motion->height + 1) / 2;
    for (unsigned i = 0; i < b->n_strips; i++) {
        FeedbackStrip *const strip = &b->strips[i];
        strip->data = &b->data;
        strip->y0 = 2 * motion_box(i, b->n_strips, pairs);
        strip->y1 = feedback_min(2 * motion_box(i + 1, b->n_strips, pairs), motion->height);
        strip->columns = columns + (size_t)i * (motion->width + 2);
    }
}

static CclStatus feedback_open(CclMotion *motion)
{
    CpuFeedbackBackend *const b = calloc(1, sizeof *b);
    uint16_t *columns;
    if (!b)
        return ccl_fail(CCL_ERROR_OUT_OF_MEMORY, "out of memory");
    motion->impl = b;
    b->tier = ccl_tier(motion->config.cpu_flags)->motion;
    b->n_strips = motion_open_pool(motion, &b->pool);
    b->data.luma = (FeedbackSize){ motion->width, motion->height, motion->words };
    if (motion->config.chroma) {
        const uint32_t width = (motion->width + 1) / 2;
        b->data.chroma = (FeedbackSize){ width, (motion->height + 1) / 2, (width + 63) / 64 };
        CCL_TRY(take_chroma(motion, b));
    }
    CCL_TRY(take_luma(motion, b));
    CCL_TRY(take_bits(motion, b));
    CCL_TRY(take_planes(motion, b));
    CCL_TRY(motion_take(motion, &b->blocks, &columns, (size_t)b->n_strips * (motion->width + 2), sizeof *columns));
    cut_strips(motion, b, columns);
    b->runs = feedback_runs_new();
    return b->runs ? CCL_OK : ccl_fail(CCL_ERROR_OUT_OF_MEMORY, "out of memory");
}

static void feedback_close(CclMotion *motion)
{
    CpuFeedbackBackend *const b = motion->impl;
    if (!b)
        return;
    ccl_pool_free(b->pool);
    feedback_runs_free(b->runs);
    motion_free_blocks(&b->blocks);
    free(b);
}

static CclStatus feedback_set_ignored(CclMotion *motion, const uint64_t *ignored)
{
    CpuFeedbackBackend *const b = motion->impl;
    memcpy(b->ignored, ignored, (size_t)motion->words * motion->height * 8);
    return CCL_OK;
}

/* ---------------------------------------------------------------- passes */

static void run_strip(void *data, unsigned i)
{
    CpuFeedbackBackend *const b = data;
    b->pass(&b->strips[i]);
}

static void run_pass(CpuFeedbackBackend *b, void (*pass)(FeedbackStrip *), bool more)
{
    b->pass = pass;
    ccl_pool_run(b->pool, run_strip, b, b->n_strips, more);
}

/* Rows of the planes that cannot be read where they are. */
static void fill_strip(void *data, unsigned i)
{
    CpuFeedbackBackend *const b = data;
    const FeedbackStrip *const strip = &b->strips[i];
    for (unsigned k = 0; k < 3; k++) {
        const FeedbackPlane *const plane = &b->data.planes[k];
        const uint32_t y0 = k ? strip->y0 / 2 : strip->y0, y1 = k ? (strip->y1 + 1) / 2 : strip->y1;
        const CclPlane filled = { b->filled[k], plane->stride, plane->width, plane->height };
        if (plane->data && plane->data == b->filled[k])
            motion_fill_plane(&b->sources[k], &filled, y0, y1, b->sums + (size_t)i * b->max_source_width);
    }
}

static void set_planes(CclMotion *motion, CpuFeedbackBackend *b, const MotionFrame *frame)
{
    const CclMotionChroma *const chroma = &frame->chroma;
    const CpuFeedback *const f = &b->data;
    bool any_filled = false;
    b->max_source_width = motion->config.width;
    b->sources[0] = (MotionSource){ frame->luma.data, frame->luma.stride, 1, frame->luma.width, frame->luma.height };
    for (unsigned k = 0; k < 2; k++)
        b->sources[1 + k] =
            (MotionSource){ k ? chroma->v : chroma->u, chroma->stride[k], chroma->step, chroma->width, chroma->height };
    for (unsigned k = 0; k < (f->chroma.width ? 3u : 1u); k++) {
        const FeedbackSize *const size = k ? &f->chroma : &f->luma;
        const bool is_ready = motion_plane_is_ready(&b->sources[k], size->width, size->height);
        b->data.planes[k] = (FeedbackPlane){ is_ready ? b->sources[k].data : b->filled[k],
                                             is_ready ? b->sources[k].stride : size->width, size->width, size->height };
        any_filled |= !is_ready;
    }
    if (any_filled)
        ccl_pool_run(b->pool, fill_strip, b, b->n_strips, true);
}

/* ---------------------------------------------------------------- steps */

static void measure_light(CpuFeedbackBackend *b)
{
    FeedbackSamples *const sum = &b->strips[0].samples;
    run_pass(b, b->tier->feedback->sample, true);
    for (unsigned s = 1; s < b->n_strips; s++) {
        const FeedbackSamples *const samples = &b->strips[s].samples;
        for (unsigned k = 0; k < FEEDBACK_BANDS; k++)
            for (unsigned i = 0; i < FEEDBACK_BINS; i++)
                sum->ratios[k][i] += samples->ratios[k][i];
        for (unsigned i = 0; i < 256; i++)
            sum->luma[i] += samples->luma[i];
    }
    for (unsigned k = 0; k < FEEDBACK_BANDS; k++)
        for (unsigned i = 0; i < FEEDBACK_BINS; i++)
            sum->ratios[FEEDBACK_BANDS][i] += sum->ratios[k][i];
    b->data.light = feedback_light(sum);
}

static void compare_chroma(CpuFeedbackBackend *b)
{
    CpuFeedback *const f = &b->data;
    if (f->light.rescale)
        f->control.offset[0] = f->control.offset[1] = 0;
    if (!f->chroma.width)
        return;
    run_pass(b, b->tier->feedback->chroma, true);
    for (unsigned k = 0; k < 2; k++) {
        uint32_t *const sum = b->strips[0].offsets[k];
        for (unsigned s = 1; s < b->n_strips; s++)
            for (unsigned i = 0; i < FEEDBACK_BINS; i++)
                sum[i] += b->strips[s].offsets[k][i];
        f->control.offset[k] = f->light.rescale ? 0 : feedback_offset(sum);
    }
}

/* From the picture to foreground without shadows. Returns the edges of the background. */
static FeedbackEdges classify(CpuFeedbackBackend *b, uint64_t *n_raw)
{
    FeedbackEdges edges = { 0 };
    measure_light(b);
    if (b->data.light.rescale)
        run_pass(b, b->tier->feedback->rescale, true);
    compare_chroma(b);
    run_pass(b, b->tier->feedback->luma, true);
    run_pass(b, b->tier->feedback->unshadow, false);
    for (unsigned s = 0; s < b->n_strips; s++) {
        const FeedbackEdges *const own = &b->strips[s].edges;
        edges.samples += own->samples, edges.raw += own->raw, edges.edges += own->edges, edges.lost += own->lost;
        edges.raw_edges += own->raw_edges, edges.raw_lost += own->raw_lost;
        *n_raw += b->strips[s].n_raw;
    }
    return edges;
}

/* From foreground to the mask. */
static CclStatus filter(CpuFeedbackBackend *b, const CclMotionParams *params)
{
    CpuFeedback *const f = &b->data;
    const MotionTier *const tier = b->tier;
    memcpy(f->mask.image, f->seen, (size_t)f->luma.words * f->luma.height * 8);
    tier->median(&f->mask, params->median, true);
    tier->erode(&f->mask, params->open);
    tier->dilate(&f->mask, params->open + params->close);
    tier->erode(&f->mask, params->close);
    run_pass(b, tier->feedback->explain, false);
    return feedback_judge_blobs(f, b->runs);
}

/* Pixels of the planes `a` that `b` lacks. */
static void for_pixels(CpuFeedback *f, const uint64_t *a, const uint64_t *b,
                       void (*visit)(CpuFeedback *f, uint32_t x, uint32_t y))
{
    for (uint32_t y = 0; y < f->luma.height; y++)
        for (uint32_t w = 0; w < f->luma.words; w++) {
            const size_t word = (size_t)y * f->luma.words + w;
            for (uint64_t todo = a[word] & ~(b ? b[word] : 0); todo; todo &= todo - 1)
                visit(f, w * 64 + (uint32_t)__builtin_ctzll(todo), y);
        }
}

static void forget_ghost(CpuFeedback *f, uint32_t x, uint32_t y)
{
    f->model.ghost[((size_t)y * f->luma.words) * 64 + x] = 0;
}

static CclStatus judge_still(CpuFeedbackBackend *b)
{
    CpuFeedback *const f = &b->data;
    const size_t n = (size_t)f->luma.words * f->luma.height;
    if (f->any_still) {
        b->tier->median(&f->still, 2, true);
        for (size_t i = 0; i < n; i++)
            f->still.image[i] &= f->mask.image[i];
    }
    if (f->had_still)
        for_pixels(f, f->last_still, f->still.image, forget_ghost);
    if (f->any_still || f->had_still)
        memcpy(f->last_still, f->still.image, n * 8);
    f->had_still = f->any_still;
    return f->any_still ? feedback_judge_still(f, b->runs) : CCL_OK;
}

static CclStatus learn(CpuFeedbackBackend *b)
{
    CpuFeedback *const f = &b->data;
    const size_t n = (size_t)f->luma.words * f->luma.height;
    bool any_absorbed = false;
    memcpy(f->guard.image, f->mask.image, n * 8);
    b->tier->dilate(&f->guard, FEEDBACK_GUARD);
    run_pass(b, b->tier->feedback->learn, false);
    f->any_still = false;
    for (unsigned s = 0; s < b->n_strips; s++) {
        f->any_still |= b->strips[s].any_still;
        any_absorbed |= b->strips[s].any_absorbed;
    }
    for (size_t i = 0; any_absorbed && i < n; i++)
        f->still.image[i] &= ~f->absorbed[i];
    if (any_absorbed)
        for_pixels(f, f->absorbed, NULL, feedback_absorb_pixel);
    f->control.in_mask = (uint32_t)b->tier->count(&f->mask);
    return f->frame.silent ? CCL_OK : judge_still(b);
}

/* ---------------------------------------------------------------- a picture */

static void clear_history(CpuFeedback *f)
{
    const size_t bytes = (size_t)f->luma.words * f->luma.height * 8;
    memset(f->last_mask, 0, bytes);
    memset(f->last_rises, 0, bytes);
    f->had_still = false;
    f->control.in_mask = 0;
    f->control.offset[0] = f->control.offset[1] = 0;
}

/* Confirm, dilate and ignore change what the caller gets, not what is learnt. */
static void output(const CclMotion *motion, CpuFeedbackBackend *b, MotionFrame *frame, bool is_empty)
{
    const CclMotionParams *const params = &frame->params;
    const size_t n = (size_t)motion->words * motion->height;
    if (is_empty) {
        memset(b->out.image, 0, n * 8);
        memset(b->confirm, 0, 5 * n * 8);
    } else {
        memcpy(b->out.image, b->data.mask.image, n * 8);
        if (params->confirm_frames > 1)
            b->tier->confirm(&b->out, b->confirm, params->confirm_frames);
        else if (frame->forgets)
            memset(b->confirm, 0, 5 * n * 8);
        b->tier->dilate(&b->out, params->dilate);
        for (size_t i = 0; i < n; i++)
            b->out.image[i] &= ~b->ignored[i];
        frame->foreground = b->tier->count(&b->out);
    }
    if (frame->mask.data)
        b->tier->paint(&b->out, frame->mask.data, frame->mask.stride);
}

static CclStatus feedback_submit(CclMotion *motion, MotionFrame *frame)
{
    CpuFeedbackBackend *const b = motion->impl;
    CpuFeedback *const f = &b->data;
    if (b->n_resets != frame->n_resets)
        memset(&f->control, 0, sizeof f->control);
    b->n_resets = frame->n_resets;
    f->frame = feedback_begin(&f->control, &f->hold, frame->us, frame->params.threshold, frame->params.absorb_ms);
    f->drop_shadow = frame->params.drop_shadow;
    frame->silent = f->frame.silent;
    frame->n_learnt = f->control.n_learnt - 1;
    set_planes(motion, b, frame);
    if (f->frame.seed) {
        run_pass(b, b->tier->feedback->seed, false);
        clear_history(f);
        output(motion, b, frame, true);
        return CCL_OK;
    }
    const FeedbackEdges edges = classify(b, &frame->raw_foreground);
    frame->restarts = feedback_decide(&f->control, &f->frame, &edges, frame->raw_foreground, frame->max_raw_foreground);
    if (!frame->restarts) {
        if (f->frame.silent)
            memset(f->mask.image, 0, (size_t)motion->words * motion->height * 8);
        else
            CCL_TRY(filter(b, &frame->params));
        CCL_TRY(learn(b));
    }
    output(motion, b, frame, frame->restarts || f->frame.silent);
    return CCL_OK;
}

static CclStatus feedback_collect(CclMotion *motion, MotionFrame *frame)
{
    (void)motion, (void)frame;
    return CCL_OK;
}

/* ---------------------------------------------------------------- the model, to save and load it */

static MotionArray luma_array(const CpuFeedback *f, void *data, size_t offset, size_t size)
{
    return (MotionArray){ data, (size_t)f->luma.words * 64 * size, size, offset, size };
}

static MotionArray chroma_array(const CpuFeedback *f, uint16_t *data, size_t offset)
{
    return (MotionArray){ data, (size_t)f->chroma.words * 64 * sizeof *data, sizeof *data, offset, sizeof *data };
}

static void feedback_list_arrays(const CclMotion *motion, MotionArrays *arrays)
{
    const CpuFeedback *const f = &((const CpuFeedbackBackend *)motion->impl)->data;
    const FeedbackModel *const m = &f->model;
#define LUMA(member)   luma_array(f, m->member, offsetof(FeedbackPixel, member), sizeof *m->member)
#define CHROMA(member) chroma_array(f, m->uv_##member, offsetof(FeedbackChroma, member))
    *arrays = (MotionArrays){
        .luma = { LUMA(mean), LUMA(weight), LUMA(deviation), LUMA(extra), LUMA(rises), LUMA(rest), LUMA(candidate), LUMA(still),
                  LUMA(ghost) },
        .chroma = { CHROMA(mean[0][0]), CHROMA(mean[0][1]), CHROMA(mean[1][0]), CHROMA(mean[1][1]), CHROMA(weight),
                    CHROMA(deviation), CHROMA(candidate[0]), CHROMA(candidate[1]) },
        .n_luma = 9,
        .n_chroma = f->chroma.width ? 8 : 0,
    };
#undef LUMA
#undef CHROMA
}

static CclStatus feedback_copy(CclMotion *motion, void *host, void *array, size_t size, bool put)
{
    (void)motion;
    memcpy(put ? array : host, put ? host : array, size);
    return CCL_OK;
}

static CclStatus feedback_control(CclMotion *motion, FeedbackControl *control, bool put)
{
    CpuFeedbackBackend *const b = motion->impl;
    if (put) {
        clear_history(&b->data);
        b->data.control = *control;
        b->n_resets = motion->n_resets;
    } else {
        *control = b->data.control;
    }
    return CCL_OK;
}

static CclStatus feedback_hold(CclMotion *motion, const FeedbackHold *hold)
{
    ((CpuFeedbackBackend *)motion->impl)->data.hold = *hold;
    return CCL_OK;
}

const MotionBackend motion_cpu_feedback_backend = {
    .open = feedback_open,
    .close = feedback_close,
    .set_ignored = feedback_set_ignored,
    .submit = feedback_submit,
    .collect = feedback_collect,
    .list_arrays = feedback_list_arrays,
    .copy = feedback_copy,
    .control = feedback_control,
    .hold = feedback_hold,
};
