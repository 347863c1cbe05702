/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* The motion detector on the CPU: the model in strips of rows, on several threads; then the filters on bits. */
#include "cpu_motion.h"

#include "cpu/tier.h"
#include "host/cpus.h"

#include <stdlib.h>
#include <string.h>

/* Fewer pixels are not worth a further thread. */
#define PIXELS_PER_THREAD 200000u

CclStatus motion_take(CclMotion *motion, MotionBlocks *blocks, void *memory, size_t n, size_t size)
{
    const size_t bytes = (n * size + 63) & ~(size_t)63;
    void *const block = aligned_alloc(64, bytes);
    if (!block)
        return ccl_fail(CCL_ERROR_OUT_OF_MEMORY, "no memory for %zu bytes of background model", bytes);
    memset(block, 0, bytes);
    blocks->blocks[blocks->n++] = block;
    motion->host_bytes += bytes;
    memcpy(memory, &block, sizeof block);
    return CCL_OK;
}

void motion_free_blocks(MotionBlocks *blocks)
{
    for (unsigned i = 0; i < blocks->n; i++)
        free(blocks->blocks[i]);
}

unsigned motion_open_pool(const CclMotion *motion, CclPool **pool)
{
    const uint64_t useful = (uint64_t)motion->width * motion->height / PIXELS_PER_THREAD + 1;
    unsigned n = motion->config.threads ? motion->config.threads : ccl_cpu_count();
    n = n < useful ? n : (unsigned)useful;
    n = n < MOTION_MAX_STRIPS ? n : MOTION_MAX_STRIPS;
    *pool = n > 1 ? ccl_pool_new(n) : NULL;
    return *pool ? n : 1;
}

typedef struct CpuMotion {
    const MotionTier *tier;
    CclPool *pool;
    unsigned n_strips;
    MotionModel model;
    MotionBits bits;
    uint64_t *ignored;
    uint64_t *confirm; /* five planes */
    uint8_t *shrunk;
    uint32_t *column_sums;
    MotionBlocks blocks; /* all of the above */
    MotionStrip strips[MOTION_MAX_STRIPS];
} CpuMotion;

static CclStatus take(CclMotion *motion, void *memory, size_t n, size_t size)
{
    CpuMotion *const cpu = motion->impl;
    return motion_take(motion, &cpu->blocks, memory, n, size);
}

static CclStatus take_model(CclMotion *motion, CpuMotion *cpu)
{
    const size_t n = (size_t)motion->words * 64 * motion->height;
    if (motion->config.method == CCL_MOTION_DIFF)
        return take(motion, &cpu->model.last, n, sizeof *cpu->model.last);
    CCL_TRY(take(motion, &cpu->model.mean, n, sizeof *cpu->model.mean));
    if (motion->config.method == CCL_MOTION_EMA)
        return CCL_OK;
    CCL_TRY(take(motion, &cpu->model.variance, n, sizeof *cpu->model.variance));
    CCL_TRY(take(motion, &cpu->model.weight, n, sizeof *cpu->model.weight));
    return take(motion, &cpu->model.rest, n, sizeof *cpu->model.rest);
}

static CclStatus cpu_open(CclMotion *motion)
{
    const CclMotionConfig *const config = &motion->config;
    const size_t n_words = (size_t)motion->words * motion->height;

    CpuMotion *const cpu = calloc(1, sizeof *cpu);
    if (!cpu)
        return ccl_fail(CCL_ERROR_OUT_OF_MEMORY, "out of memory");
    motion->impl = cpu;
    cpu->tier = ccl_tier(config->cpu_flags)->motion;

    cpu->n_strips = motion_open_pool(motion, &cpu->pool);
    cpu->model.words = motion->words;
    CCL_TRY(take_model(motion, cpu));
    cpu->bits = (MotionBits){ .width = motion->width, .height = motion->height, .words = motion->words };
    CCL_TRY(take(motion, &cpu->bits.image, n_words, 8));
    CCL_TRY(take(motion, &cpu->bits.scratch, motion_scratch_words(motion->words, motion->height), 8));
    CCL_TRY(take(motion, &cpu->ignored, n_words, 8));
    CCL_TRY(take(motion, &cpu->confirm, 5 * n_words, 8));
    if (motion->width == config->width && motion->height == config->height)
        return CCL_OK;
    CCL_TRY(take(motion, &cpu->shrunk, n_words, 64));
    return take(motion, &cpu->column_sums, (size_t)config->width * cpu->n_strips, sizeof *cpu->column_sums);
}

static void cpu_close(CclMotion *motion)
{
    CpuMotion *const cpu = motion->impl;
    if (!cpu)
        return;
    ccl_pool_free(cpu->pool);
    motion_free_blocks(&cpu->blocks);
    free(cpu);
}

static CclStatus cpu_set_ignored(CclMotion *motion, const uint64_t *ignored)
{
    CpuMotion *const cpu = motion->impl;
    memcpy(cpu->ignored, ignored, (size_t)motion->words * motion->height * 8);
    return CCL_OK;
}

/* ---------------------------------------------------------------- a picture */

static void run_rows(void *data, unsigned i)
{
    CpuMotion *const cpu = data;
    cpu->tier->rows(&cpu->strips[i]);
}

static void run_unshadow(void *data, unsigned i)
{
    CpuMotion *const cpu = data;
    cpu->tier->unshadow(&cpu->strips[i]);
}

static void cut_strips(const CclMotion *motion, CpuMotion *cpu, const MotionFrame *frame)
{
    for (unsigned i = 0; i < cpu->n_strips; i++)
        cpu->strips[i] = (MotionStrip){
            .method = motion->config.method,
            .luma = &frame->luma,
            .model = &cpu->model,
            .rates = &frame->rates,
            .seed = frame->seed,
            .width = motion->width,
            .height = motion->height,
            .y0 = motion_box(i, cpu->n_strips, motion->height),
            .y1 = motion_box(i + 1, cpu->n_strips, motion->height),
            .bits = cpu->bits.image,
            .ignored = cpu->ignored,
            .shrunk = cpu->shrunk,
            .column_sums = cpu->column_sums ? cpu->column_sums + (size_t)i * motion->config.width : NULL,
        };
}

/* The filters, in the order the parameters list them. Opening ends and closing begins with a dilation: one for both. */
static void filter(const CpuMotion *cpu, const MotionFrame *frame)
{
    const CclMotionParams *const params = &frame->params;
    const MotionTier *const tier = cpu->tier;
    const size_t n = (size_t)cpu->bits.words * cpu->bits.height;

    tier->median(&cpu->bits, params->median, false);
    if (params->confirm_frames > 1)
        tier->confirm(&cpu->bits, cpu->confirm, params->confirm_frames);
    else if (frame->forgets)
        memset(cpu->confirm, 0, 5 * n * 8);
    tier->erode(&cpu->bits, params->open);
    tier->dilate(&cpu->bits, params->open + params->close);
    tier->erode(&cpu->bits, params->close);
    tier->dilate(&cpu->bits, params->dilate);
    for (size_t i = 0; i < n; i++)
        cpu->bits.image[i] &= ~cpu->ignored[i];
}

static CclStatus cpu_submit(CclMotion *motion, MotionFrame *frame)
{
    CpuMotion *const cpu = motion->impl;
    const size_t n = (size_t)cpu->bits.words * cpu->bits.height;

    cut_strips(motion, cpu, frame);
    ccl_pool_run(cpu->pool, run_rows, cpu, cpu->n_strips, frame->params.drop_shadow);
    frame->raw_foreground = cpu->tier->count(&cpu->bits);
    if (frame->silent || frame->raw_foreground > frame->max_raw_foreground) {
        memset(cpu->bits.image, 0, n * 8);
        memset(cpu->confirm, 0, 5 * n * 8);
    } else {
        if (frame->params.drop_shadow)
            ccl_pool_run(cpu->pool, run_unshadow, cpu, cpu->n_strips, false);
        filter(cpu, frame);
        frame->foreground = cpu->tier->count(&cpu->bits);
    }
    if (frame->mask.data)
        cpu->tier->paint(&cpu->bits, frame->mask.data, frame->mask.stride);
    return CCL_OK;
}

static CclStatus cpu_collect(CclMotion *motion, MotionFrame *frame)
{
    (void)motion, (void)frame;
    return CCL_OK;
}

const MotionBackend motion_cpu_backend = {
    .open = cpu_open,
    .close = cpu_close,
    .set_ignored = cpu_set_ignored,
    .submit = cpu_submit,
    .collect = cpu_collect,
};
