/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * The motion detector against a plain one: one pixel after the other, one byte per pixel, filters by their definition.
 * Every SIMD tier, several threads and CUDA must give its masks and counts, bit for bit, one picture after the other
 * or several in flight.
 *
 *     checkmotion cpu|cuda [RANDOM-CASES]     0: all right; 1: not; 77: there is no such device
 *
 * With less than ten random cases the larger ones are left out: for valgrind.
 */
#include "device.h"
#include "motion_backend.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static unsigned n_checks, n_failures;

static void *must(void *memory)
{
    if (!memory) {
        fprintf(stderr, "checkmotion: out of memory\n");
        exit(2);
    }
    return memory;
}

static uint32_t random_state = 1;

static uint32_t random_below(uint32_t n)
{
    random_state = random_state * 1664525u + 1013904223u;
    return (uint32_t)((uint64_t)(random_state >> 8) * n >> 24);
}

/* ---------------------------------------------------------------- the plain detector */

typedef struct Plain {
    CclMotionMethod method;
    uint32_t width, height; /* working size */
    uint32_t n_learnt, n_seen;
    uint16_t *mean, *variance, *weight;
    MotionRest *rest;
    uint8_t *last, *luma, *mask, *scratch, *ignored, *count;
    uint64_t pixels, raw, kept;
    uint32_t flags;
} Plain;

static Plain plain_new(const CclMotionConfig *config, const uint8_t *ignored)
{
    Plain p = { .method = config->method, .width = config->work_width ? config->work_width : config->width,
                .height = config->work_height ? config->work_height : config->height };
    const size_t n = (size_t)p.width * p.height;
    p.mean = must(calloc(n, 2)), p.variance = must(calloc(n, 2)), p.weight = must(calloc(n, 2));
    p.rest = must(calloc(n, sizeof *p.rest));
    p.last = must(calloc(n, 1)), p.luma = must(calloc(n, 1)), p.mask = must(calloc(n, 1));
    p.scratch = must(calloc(n, 1)), p.ignored = must(calloc(n, 1)), p.count = must(calloc(n, 1));
    if (ignored)
        memcpy(p.ignored, ignored, n);
    for (size_t i = 0; i < n; i++)
        p.pixels += !p.ignored[i];
    return p;
}

static void plain_free(Plain *p)
{
    free(p->mean), free(p->variance), free(p->weight), free(p->rest), free(p->last), free(p->luma), free(p->mask);
    free(p->scratch), free(p->ignored), free(p->count);
}

static void plain_shrink(Plain *p, const CclMask *luma)
{
    for (uint32_t y = 0; y < p->height; y++)
        for (uint32_t x = 0; x < p->width; x++) {
            const uint32_t x0 = (uint32_t)((uint64_t)x * luma->width / p->width);
            const uint32_t x1 = (uint32_t)((uint64_t)(x + 1) * luma->width / p->width);
            const uint32_t y0 = (uint32_t)((uint64_t)y * luma->height / p->height);
            const uint32_t y1 = (uint32_t)((uint64_t)(y + 1) * luma->height / p->height);
            const uint32_t area = (x1 - x0) * (y1 - y0);
            uint32_t sum = 0;
            for (uint32_t j = y0; j < y1; j++)
                for (uint32_t i = x0; i < x1; i++)
                    sum += ((const uint8_t *)luma->data)[j * luma->stride + i];
            p->luma[y * p->width + x] = (uint8_t)((sum + area / 2) / area);
        }
}

/* One pixel through the model; whether it is foreground. */
static bool plain_pixel(Plain *p, size_t i, uint32_t x, uint32_t y, const MotionRates *rates, bool seed)
{
    const uint32_t value = (uint32_t)p->luma[i] << 8;
    const uint32_t dither = (rates->dither + y * 51749u + x * 25717u) & 65535;
    if (seed) {
        p->last[i] = p->luma[i];
        p->mean[i] = (uint16_t)value, p->variance[i] = MOTION_VARIANCE_NEW, p->weight[i] = 65535;
        memset(&p->rest[i], 0, sizeof p->rest[i]);
        return false;
    }
    if (p->method == CCL_MOTION_DIFF) {
        const int difference = abs(p->luma[i] - p->last[i]);
        p->last[i] = p->luma[i];
        return difference > (int)rates->threshold;
    }
    const uint32_t distance = (uint32_t)abs((int)value - p->mean[i]);
    if (p->method == CCL_MOTION_EMA) {
        const bool far_off = distance > rates->threshold << 8;
        const int step = (int)(((uint64_t)distance * rates->rate + dither) >> 16);
        if (!(far_off && rates->freeze))
            p->mean[i] = (uint16_t)(value > p->mean[i] ? p->mean[i] + step : p->mean[i] - step);
        return far_off;
    }
    if (!motion_fits(distance, p->variance[i], rates))
        return motion_rest(value, &p->mean[i], &p->variance[i], &p->weight[i], &p->rest[i], rates, dither);
    p->variance[i] = (uint16_t)motion_variance(p->variance[i], distance, rates->rate, dither);
    p->mean[i] = (uint16_t)motion_towards(p->mean[i], value, motion_step(distance, rates->rate, dither));
    p->weight[i] = (uint16_t)(p->weight[i] + motion_step(65535u - p->weight[i], rates->rate, dither));
    return false;
}

static void plain_unshadow(Plain *p)
{
    const int w = (int)p->width, h = (int)p->height;
    memcpy(p->scratch, p->mask, (size_t)w * h);
    for (int y = 0; y < h; y++)
        for (int x = 0; x < w; x++) {
            double bb = 0, gb = 0, gg = 0;
            if (!p->scratch[y * w + x] || p->luma[y * w + x] >= p->mean[y * w + x] >> 8)
                continue;
            for (int j = y - 2; j <= y + 2; j++)
                for (int i = x - 2; i <= x + 2; i++)
                    if (j >= 0 && j < h && i >= 0 && i < w) {
                        const double g = p->luma[j * w + i], b = p->mean[j * w + i] >> 8;
                        bb += b * b, gb += g * b, gg += g * g;
                    }
            /* integers below 2^53: exact */
            if (2 * gb > bb && 100 * gb < 98 * bb && 1000 * (gg * bb - gb * gb) < 3 * bb * bb)
                p->mask[y * w + x] = 0;
        }
}

/* Pixels set in the square around one; how many of the square are in the picture. */
static unsigned around(const Plain *p, const uint8_t *mask, int x, int y, int r, unsigned *n)
{
    unsigned set = 0;
    *n = 0;
    for (int j = y - r; j <= y + r; j++)
        for (int i = x - r; i <= x + r; i++)
            if (j >= 0 && j < (int)p->height && i >= 0 && i < (int)p->width)
                set += mask[(size_t)j * p->width + i] != 0, ++*n;
    return set;
}

/* 'm'edian, 'd'ilate, 'e'rode */
static void plain_filter(Plain *p, char kind, unsigned radius)
{
    if (!radius)
        return;
    memcpy(p->scratch, p->mask, (size_t)p->width * p->height);
    for (uint32_t y = 0; y < p->height; y++)
        for (uint32_t x = 0; x < p->width; x++) {
            unsigned n;
            const unsigned set = around(p, p->scratch, (int)x, (int)y, (int)radius, &n);
            p->mask[(size_t)y * p->width + x] =
                kind == 'm' ? 2 * set > (2 * radius + 1) * (2 * radius + 1) : kind == 'd' ? set > 0 : set == n;
        }
}

static void plain_apply(Plain *p, const CclMask *luma, const CclMotionParams *params)
{
    const size_t n = (size_t)p->width * p->height;
    const bool seed = !p->n_learnt, silent = seed || p->n_seen < params->warmup_frames;
    const double early = 0.5 / (p->n_learnt + 1), wanted = params->learning_rate < 0 ? 0.003 : params->learning_rate;
    const unsigned threshold = params->threshold ? params->threshold : p->method == CCL_MOTION_MOG2 ? 12 : 25;
    const MotionRates rates =
        motion_rates(threshold, wanted > 0 && wanted < early ? early : wanted, p->n_seen, params->freeze);

    plain_shrink(p, luma);
    p->raw = p->kept = 0;
    for (size_t i = 0; i < n; i++) {
        const bool set = plain_pixel(p, i, (uint32_t)(i % p->width), (uint32_t)(i / p->width), &rates, seed);
        p->raw += p->mask[i] = set && !p->ignored[i];
    }
    const bool changed = !silent && (double)p->raw > (double)(uint64_t)((double)p->pixels * params->max_motion);
    if (silent || changed) {
        memset(p->mask, 0, n);
        memset(p->count, 0, n);
    } else {
        if (params->drop_shadow && p->method != CCL_MOTION_DIFF)
            plain_unshadow(p);
        plain_filter(p, 'm', params->median);
        if (params->confirm_frames <= 1)
            memset(p->count, 0, n);
        for (size_t i = 0; i < n && params->confirm_frames > 1; i++) {
            p->count[i] = p->mask[i] ? (uint8_t)(p->count[i] < 31 ? p->count[i] + 1 : 31) : 0;
            p->mask[i] = p->count[i] >= params->confirm_frames;
        }
        plain_filter(p, 'e', params->open), plain_filter(p, 'd', params->open);
        plain_filter(p, 'd', params->close), plain_filter(p, 'e', params->close);
        plain_filter(p, 'd', params->dilate);
    }
    for (size_t i = 0; i < n; i++)
        p->kept += p->mask[i] = p->mask[i] && !p->ignored[i];
    p->flags = (silent ? CCL_MOTION_LEARNING : 0) | (changed ? CCL_MOTION_GLOBAL_CHANGE : 0);
    p->n_learnt = changed ? 0 : p->n_learnt + 1;
    p->n_seen++;
}

/* ---------------------------------------------------------------- pictures */

/* A textured background with noise, a flickering patch, things that move and cast shadows, one that comes to stay. */
static void draw(uint8_t *picture, uint32_t width, uint32_t height, size_t stride, unsigned frame, uint32_t seed,
                 double light)
{
    random_state = seed * 7919 + frame;
    for (uint32_t y = 0; y < height; y++)
        for (uint32_t x = 0; x < width; x++) {
            int value = 60 + (int)((x * 7 + y * 13 + x * y / 3) % 120) + (int)random_below(9) - 4;
            if (x % 16 < 3 && y % 16 < 3)
                value = random_below(2) ? 40 : 180;
            const uint32_t ox = (frame * 3 + seed) % (width + 8), oy = (frame + seed) % (height + 8);
            if (x >= ox && x < ox + width / 4 + 2 && y >= oy && y < oy + height / 4 + 2)
                value = value * 7 / 10;
            if (x + 4 >= ox && x + 4 < ox + width / 5 + 2 && y + 4 >= oy && y + 4 < oy + height / 5 + 2)
                value = 255 - value;
            if (frame > 8 && x > width * 3 / 4 && y > height * 3 / 4)
                value = 20;
            value = (int)(value * light);
            picture[y * stride + x] = (uint8_t)(value < 0 ? 0 : value > 255 ? 255 : value);
        }
}

/* ---------------------------------------------------------------- one case */

typedef struct Case {
    CclMotionConfig config;
    CclMotionParams params;
    size_t pad;     /* stride beyond the width */
    bool ignore;
    bool resident;  /* picture and mask in device memory */
    bool late;      /* resident: the picture comes by a stream that is not done yet */
    bool confirms;  /* three pictures in a row, and one, in turns */
    bool lively;    /* resets, other parameters and another light all the time; else another light now and then */
} Case;

static void describe(const Case *c, unsigned frame)
{
    const CclMotionConfig *const g = &c->config;
    const CclMotionParams *const p = &c->params;
    printf("  %s method %d %ux%u (working %ux%u) pad %zu threads %u flags %#x depth %u%s%s%s frame %u\n"
           "  threshold %u rate %g warmup %u confirm %u median %u open %u close %u dilate %u shadow %d freeze %d "
           "max %g\n",
           g->backend == CCL_BACKEND_CUDA ? "CUDA" : "CPU", (int)g->method, g->width, g->height, g->work_width,
           g->work_height, c->pad, g->threads, g->cpu_flags, g->depth, c->ignore ? " ignore" : "",
           c->late ? " late" : c->resident ? " resident" : "", c->lively ? " lively" : "", frame, p->threshold, p->learning_rate, p->warmup_frames, p->confirm_frames, p->median, p->open, p->close,
           p->dilate, p->drop_shadow, p->freeze, p->max_motion);
}

static void show(const char *name, const uint8_t *mask, size_t stride, uint32_t width, uint32_t height)
{
    printf("  %s\n", name);
    for (uint32_t y = 0; y < height && y < 40; y++, putchar('\n'))
        for (uint32_t x = 0; x < width && x < 100; x++)
            putchar(mask[y * stride + x] ? '#' : '.');
}

/* The mask as the detector gives it; bytes past the width must stay. */
static bool same(const uint8_t *expected, uint32_t width, uint32_t height, const uint8_t *mask, size_t stride)
{
    for (uint32_t y = 0; y < height; y++) {
        for (uint32_t x = 0; x < width; x++)
            if (mask[y * stride + x] != (expected[(size_t)y * width + x] ? 255 : 0))
                return false;
        for (size_t x = width; x < stride; x++)
            if (mask[y * stride + x] != 0xA5)
                return false;
    }
    return true;
}

static void need(CclStatus status)
{
    if (status == CCL_OK)
        return;
    fprintf(stderr, "checkmotion: %s\n", ccl_error_message());
    exit(1);
}

/* A picture in flight, and what has to come of it. */
typedef struct Flight {
    uint8_t *picture, *mask, *d_picture, *d_source, *d_mask, *expected;
    uint64_t raw, kept;
    uint32_t flags, frames;
    Case asked; /* with the parameters it had */
    unsigned frame;
} Flight;

typedef struct Course {
    Plain plain;
    CclMotion *motion;
    size_t stride, mask_stride, size, mask_size;
    void *producer; /* a stream */
    Flight flights[CCL_MAX_DEPTH];
} Course;

static void course_new(Course *course, const Case *c)
{
    const uint32_t mask_width = c->config.work_width ? c->config.work_width : c->config.width;
    const uint32_t mask_height = c->config.work_height ? c->config.work_height : c->config.height;
    uint8_t *const ignored = must(calloc((size_t)mask_width, mask_height));
    if (c->ignore) {
        const double triangle[] = { 0, 0, mask_width * 0.7, 0, 0, mask_height * 0.6 };
        need(ccl_polygon_fill(triangle, 3, 1, ignored, mask_width, mask_width, mask_height));
    }
    *course = (Course){ .plain = plain_new(&c->config, ignored), .stride = c->config.width + c->pad,
                        .mask_stride = mask_width + c->pad };
    need(ccl_motion_new(&c->config, &course->motion));
    if (c->ignore)
        need(ccl_motion_set_ignore(course->motion, ignored, mask_width));
    free(ignored);

    course->producer = c->late ? device_stream_new() : NULL;
    /* Exactly as large as the last row needs: an address checker sees every byte too many. */
    course->size = course->stride * (c->config.height - 1) + c->config.width;
    course->mask_size = course->mask_stride * mask_height;
    for (unsigned i = 0; i < c->config.depth; i++) {
        Flight *const flight = &course->flights[i];
        flight->picture = must(malloc(course->size)), flight->mask = must(malloc(course->mask_size));
        flight->expected = must(malloc((size_t)mask_width * mask_height));
        flight->d_picture = c->resident ? device_alloc(course->size) : NULL;
        flight->d_source = c->late ? device_alloc(course->size) : NULL;
        flight->d_mask = c->resident ? device_alloc(course->mask_size) : NULL;
    }
}

static void course_free(Course *course)
{
    ccl_motion_free(course->motion);
    plain_free(&course->plain);
    for (unsigned i = 0; i < CCL_MAX_DEPTH; i++) {
        Flight *const flight = &course->flights[i];
        free(flight->picture), free(flight->mask), free(flight->expected);
        if (flight->d_picture)
            device_free(flight->d_picture), device_free(flight->d_mask);
        if (flight->d_source)
            device_free(flight->d_source);
    }
    if (course->producer)
        device_stream_free(course->producer);
}

static void submit(Course *course, Flight *flight, const Case *c, unsigned frame, double light)
{
    const uint32_t width = c->config.width, height = c->config.height;
    CclMask luma = { .data = flight->picture, .stride = course->stride, .width = width, .height = height };
    CclMotionMask out = { .data = flight->mask, .stride = course->mask_stride };
    uint8_t *const bare = must(malloc(course->stride * height));
    draw(bare, width, height, course->stride, frame, width + height, light);
    memcpy(flight->picture, bare, course->size);
    free(bare);
    memset(flight->mask, 0xA5, course->mask_size);

    plain_apply(&course->plain, &luma, &c->params);
    memcpy(flight->expected, course->plain.mask, (size_t)course->plain.width * course->plain.height);
    flight->raw = course->plain.raw, flight->kept = course->plain.kept, flight->flags = course->plain.flags;
    flight->frames = course->plain.n_learnt;
    flight->asked = *c, flight->frame = frame;

    if (c->resident) {
        device_upload(c->late ? flight->d_source : flight->d_picture, flight->picture, course->size);
        device_upload(flight->d_mask, flight->mask, course->mask_size);
        luma.data = flight->d_picture, luma.memory = CCL_MEMORY_DEVICE;
        out.data = flight->d_mask, out.memory = CCL_MEMORY_DEVICE;
    }
    if (c->late) {
        device_late_copy(course->producer, flight->d_picture, flight->d_source, course->size, 50);
        luma.producer_stream = course->producer;
    }
    need(ccl_motion_submit(course->motion, &luma, &c->params, &out));
}

static bool collect(Course *course, Flight *flight)
{
    const Plain *const plain = &course->plain;
    CclMotionInfo info;
    need(ccl_motion_collect(course->motion, &info));
    if (flight->asked.resident)
        device_download(flight->mask, flight->d_mask, course->mask_size);
    n_checks++;
    if (info.raw_foreground == flight->raw && info.foreground == flight->kept && info.flags == flight->flags &&
        info.frames == flight->frames && info.pixels == plain->pixels &&
        same(flight->expected, plain->width, plain->height, flight->mask, course->mask_stride))
        return true;
    n_failures++;
    printf("FAILED: raw %llu kept %llu flags %u frames %u of %llu; the plain one: raw %llu kept %llu flags %u frames %u of "
           "%llu\n",
           (unsigned long long)info.raw_foreground, (unsigned long long)info.foreground, info.flags, info.frames,
           (unsigned long long)info.pixels, (unsigned long long)flight->raw, (unsigned long long)flight->kept,
           flight->flags, flight->frames, (unsigned long long)plain->pixels);
    describe(&flight->asked, flight->frame);
    show("is", flight->mask, course->mask_stride, plain->width, plain->height);
    show("should be", flight->expected, plain->width, plain->width, plain->height);
    return false;
}

/* What happens before a picture of a lively course; the light it is drawn with. */
static double happen(Course *course, Case *c, unsigned frame)
{
    double light = 1;
    random_state = frame * 31337 + c->config.width;
    if (random_below(3) == 0)
        light = random_below(2) ? 0.3 : 0.6;
    if (random_below(9) == 0) {
        ccl_motion_reset(course->motion);
        course->plain.n_learnt = course->plain.n_seen = 0;
    }
    switch (random_below(12)) {
    case 0: c->params.confirm_frames = 1 + random_below(3); break;
    case 1: c->params.threshold = random_below(3) * 20; break;
    case 2: c->params.warmup_frames = random_below(4); break;
    case 3: c->params.learning_rate = random_below(2) ? -1 : 0.2; break;
    case 4: c->params.freeze = !c->params.freeze; break;
    case 5: c->params.drop_shadow = !c->params.drop_shadow; break;
    case 6: c->params.max_motion = random_below(3) / 2.0; break;
    case 7: c->params.median = random_below(3), c->params.dilate = random_below(3); break;
    default: break;
    }
    return light;
}

static bool run(const Case *asked, unsigned n_frames)
{
    const unsigned depth = asked->config.depth;
    Case c = *asked;
    Course course;
    bool ok = true;
    unsigned collected = 0;

    course_new(&course, &c);
    for (unsigned frame = 0; ok && frame < n_frames; frame++) {
        if (c.confirms)
            c.params.confirm_frames = frame / 2 % 2 ? 1 : 3;
        const double light = c.lively ? happen(&course, &c, frame) : frame % 17 == 16 ? 0.3 : 1;
        if (frame - collected == depth || (c.lively && frame > collected && random_below(4) == 0)) {
            ok = collect(&course, &course.flights[collected % depth]);
            collected++;
        }
        submit(&course, &course.flights[frame % depth], &c, frame, light);
    }
    for (; ok && collected < n_frames; collected++)
        ok = collect(&course, &course.flights[collected % depth]);
    course_free(&course);
    return ok;
}

/* ---------------------------------------------------------------- all cases */

static Case case_for(CclBackendKind backend, CclMotionMethod method, uint32_t width, uint32_t height)
{
    Case c = { .config = ccl_motion_config_default(), .params = ccl_motion_params_default() };
    c.config.backend = backend;
    c.config.method = method;
    c.config.width = width, c.config.height = height;
    c.config.threads = 1;
    c.params.warmup_frames = 3;
    return c;
}

static void check_random(CclBackendKind backend, unsigned n)
{
    static const uint32_t flags[] = { 0, CCL_CPU_SSE2, CCL_CPU_SSE42, CCL_CPU_AVX2, CCL_CPU_AVX512, CCL_CPU_ALL };
    static const double rates[] = { -1, 0, 0.0001, 0.02, 0.3, 1 };
    for (unsigned i = 0; i < n && n_failures < 5; i++) {
        random_state = 12345 + i * 977;
        Case c = case_for(backend, (CclMotionMethod)(i % 3), 1 + random_below(i % 4 ? 150 : 20), 1 + random_below(70));
        c.config.cpu_flags = flags[random_below(6)];
        c.config.threads = 1;
        if (random_below(3) == 0) {
            c.config.work_width = 1 + random_below(c.config.width);
            c.config.work_height = 1 + random_below(c.config.height);
        }
        c.pad = random_below(2) ? random_below(70) : 0;
        c.ignore = random_below(3) == 0;
        c.resident = backend == CCL_BACKEND_CUDA && random_below(2);
        c.params.threshold = random_below(4) ? random_below(40) : random_below(256);
        c.params.learning_rate = rates[random_below(6)];
        c.params.warmup_frames = random_below(5);
        c.params.confirm_frames = random_below(2) ? random_below(4) : random_below(31);
        c.params.median = random_below(3);
        c.params.open = random_below(2) ? random_below(3) : random_below(16);
        c.params.close = random_below(2) ? random_below(4) : random_below(16);
        c.params.dilate = random_below(2) ? random_below(3) : random_below(16);
        c.params.drop_shadow = random_below(2);
        c.params.freeze = random_below(3) == 0;
        c.params.max_motion = random_below(2) ? 0.8 : 1;
        c.config.depth = 1 + i / 3 % 2 * random_below(CCL_MAX_DEPTH);
        c.lively = i / 6 % 2;
        run(&c, 24);
    }
}

/* Much that turns out late. Pictures are small: what matters is the order in which things happen. */
static void check_lively(CclBackendKind backend, unsigned n)
{
    for (unsigned i = 0; i < n && n_failures < 5; i++) {
        Case c = case_for(backend, i % 4 ? CCL_MOTION_MOG2 : (CclMotionMethod)(i / 4 % 2), 40 + i % 97, 20 + i % 31);
        c.config.depth = 1 + (i + 1) % CCL_MAX_DEPTH;
        c.config.timing = i % 5 == 4;
        c.resident = backend == CCL_BACKEND_CUDA && i % 3;
        c.late = c.resident && i % 4 == 1;
        c.ignore = i % 7 == 0;
        c.lively = true;
        c.params.warmup_frames = i % 3;
        run(&c, 60);
    }
}

/* The sizes around every word and block, with the parameters everybody uses. */
static void check_sizes(CclBackendKind backend)
{
    static const uint32_t sizes[] = { 1, 2, 3, 7, 8, 9, 31, 32, 33, 63, 64, 65, 127, 128, 129, 383, 384, 385 };
    static const uint32_t flags[] = { 0, CCL_CPU_SSE2, CCL_CPU_SSE42, CCL_CPU_AVX2, CCL_CPU_AVX512 };
    for (unsigned i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (unsigned method = 0; method < 3; method++)
            for (unsigned tier = 0; tier < (backend == CCL_BACKEND_CPU ? 5 : 1); tier++) {
                Case c = case_for(backend, (CclMotionMethod)method, sizes[i], sizes[(i * 7 + 3) % 13]);
                c.config.cpu_flags = flags[tier];
                run(&c, 12);
            }
}

/* The largest box there may be, white and then black: two shades that are as far apart as can be. */
static void check_largest_box(CclBackendKind backend)
{
    const size_t size = CCL_MOTION_MAX_BOX;
    Case c = case_for(backend, CCL_MOTION_DIFF, 4096, 4096);
    const CclMotionMask none = { 0 };
    CclMotionInfo info;
    CclMotion *motion;

    c.config.work_width = c.config.work_height = 1;
    c.params.threshold = 254;
    c.params.warmup_frames = 0;
    uint8_t *const picture = must(malloc(size));
    const CclMask luma = { .data = picture, .stride = 4096, .width = 4096, .height = 4096 };
    need(ccl_motion_new(&c.config, &motion));
    memset(picture, 255, size);
    need(ccl_motion_apply(motion, &luma, &c.params, &none, NULL));
    memset(picture, 0, size);
    need(ccl_motion_apply(motion, &luma, &c.params, &none, &info));
    n_checks++;
    if (info.raw_foreground != 1) {
        n_failures++;
        printf("FAILED: a box of %zu pixels that was white and is black has not changed by 255\n", size);
    }
    ccl_motion_free(motion);
    free(picture);
}

/* What begins to be confirmed anew after a while without. */
static void check_confirming_again(CclBackendKind backend)
{
    for (unsigned method = 0; method < 3; method++) {
        Case c = case_for(backend, (CclMotionMethod)method, 67, 45);
        c.confirms = true;
        c.params.warmup_frames = 1;
        run(&c, 24);
    }
}

/* Large enough for several threads and many blocks. */
static void check_large(CclBackendKind backend)
{
    for (unsigned method = 0; method < 3; method++) {
        Case c = case_for(backend, (CclMotionMethod)method, 1003, 701);
        c.config.threads = 4;
        c.params.confirm_frames = 2;
        run(&c, 6);
        c.config.work_width = 640, c.config.work_height = 447;
        c.config.threads = 3;
        c.resident = backend == CCL_BACKEND_CUDA;
        run(&c, 6);
    }
    if (backend != CCL_BACKEND_CUDA)
        return;
    /* One picture begins while the one before ends, for a while. */
    for (unsigned depth = 2; depth <= CCL_MAX_DEPTH; depth++) {
        Case c = case_for(backend, CCL_MOTION_MOG2, 1280, 720);
        c.config.depth = depth;
        c.resident = true;
        run(&c, 20);
        c.late = true;
        run(&c, 20);
        c.lively = true;
        run(&c, 20);
    }
}

#define WRONG(status, text)                                                                            \
    do {                                                                                               \
        n_checks++;                                                                                    \
        if ((status) != CCL_ERROR_ARGUMENT || !strstr(ccl_error_message(), text)) {                    \
            n_failures++;                                                                              \
            printf("FAILED: line %d: not refused with \"%s\": %s\n", __LINE__, text, ccl_error_message()); \
        }                                                                                              \
    } while (0)

static void check_arguments(CclBackendKind backend)
{
    uint8_t bytes[16 * 16] = { 0 };
    CclMotion *motion;
    Case c = case_for(backend, CCL_MOTION_MOG2, 16, 16);
    CclMotionConfig wrong = c.config;
    wrong.width = 0;
    WRONG(ccl_motion_new(&wrong, &motion), "0x16");
    wrong = c.config, wrong.height = 16385;
    WRONG(ccl_motion_new(&wrong, &motion), "16x16385");
    wrong = c.config, wrong.work_width = 17, wrong.work_height = 4;
    WRONG(ccl_motion_new(&wrong, &motion), "17x4");
    wrong = c.config, wrong.work_width = 4;
    WRONG(ccl_motion_new(&wrong, &motion), "4x0");
    wrong = c.config, wrong.width = wrong.height = 16384, wrong.work_width = 4, wrong.work_height = 3;
    WRONG(ccl_motion_new(&wrong, &motion), "boxes of 4096x5462");
    wrong.work_width = wrong.work_height = 1;
    WRONG(ccl_motion_new(&wrong, &motion), "boxes of 16384x16384");
    wrong = c.config, wrong.method = (CclMotionMethod)3;
    WRONG(ccl_motion_new(&wrong, &motion), "method 3");
    wrong = c.config, wrong.depth = 0;
    WRONG(ccl_motion_new(&wrong, &motion), "depth 0");
    wrong.depth = CCL_MAX_DEPTH + 1;
    WRONG(ccl_motion_new(&wrong, &motion), "depth 5");

    need(ccl_motion_new(&c.config, &motion));
    const CclMask luma = { .data = bytes, .stride = 16, .width = 16, .height = 16 };
    const CclMotionMask none = { 0 };
    CclMask bad = luma;
    bad.data = NULL;
    WRONG(ccl_motion_apply(motion, &bad, &c.params, &none, NULL), "no data");
    bad = luma, bad.width = 15;
    WRONG(ccl_motion_apply(motion, &bad, &c.params, &none, NULL), "15x16");
    bad = luma, bad.stride = 15;
    WRONG(ccl_motion_apply(motion, &bad, &c.params, &none, NULL), "stride 15");
    bad = luma, bad.pixel_size = 2;
    WRONG(ccl_motion_apply(motion, &bad, &c.params, &none, NULL), "1 byte");
    WRONG(ccl_motion_apply(motion, &luma, &c.params, &(CclMotionMask){ .data = bytes, .stride = 15 }, NULL),
          "stride 15");
    CclMotionMask mask = { .data = bytes, .stride = 16, .memory = (CclMemory)3 };
    bad = luma, bad.memory = (CclMemory)3;
    WRONG(ccl_motion_apply(motion, &bad, &c.params, &none, NULL), "memory kind 3 of the picture");
    WRONG(ccl_motion_apply(motion, &luma, &c.params, &mask, NULL), "memory kind 3 of the mask");
    if (backend == CCL_BACKEND_CPU) {
        bad.memory = mask.memory = CCL_MEMORY_DEVICE;
        WRONG(ccl_motion_apply(motion, &bad, &c.params, &none, NULL), "a picture in device memory");
        WRONG(ccl_motion_apply(motion, &luma, &c.params, &mask, NULL), "a mask in device memory");
    }
#define WRONG_PARAM(field, value, text)                                                \
    do {                                                                               \
        CclMotionParams params = c.params;                                             \
        params.field = value;                                                          \
        WRONG(ccl_motion_apply(motion, &luma, &params, &none, NULL), text);            \
    } while (0)
    WRONG_PARAM(threshold, 256, "256");
    WRONG_PARAM(learning_rate, 1.5, "1.5");
    WRONG_PARAM(learning_rate, 0.0 / 0.0, "nan");
    WRONG_PARAM(max_motion, -0.5, "-0.5");
    WRONG_PARAM(confirm_frames, 31, "31");
    WRONG_PARAM(median, 3, "3");
    WRONG_PARAM(open, 16, "16");
    WRONG_PARAM(close, 16, "16");
    WRONG_PARAM(dilate, 16, "16");
    WRONG(ccl_motion_collect(motion, NULL), "no picture is waiting");
    need(ccl_motion_submit(motion, &luma, &c.params, &none));
    WRONG(ccl_motion_submit(motion, &luma, &c.params, &none), "1 pictures are waiting");
    WRONG(ccl_motion_apply(motion, &luma, &c.params, &none, NULL), "1 pictures are waiting");
    WRONG(ccl_motion_set_ignore(motion, NULL, 0), "1 pictures are waiting");
    need(ccl_motion_collect(motion, NULL));
    need(ccl_motion_apply(motion, &luma, &c.params, &none, NULL));
    need(ccl_motion_submit(motion, &luma, &c.params, &none));
    ccl_motion_free(motion); /* and what is in flight */
    ccl_motion_free(NULL);
}

/* What a detector is for: a thing that comes is seen, one that stays is taken in, at the time the rate says. */
static void check_absorption(CclBackendKind backend)
{
    Case c = case_for(backend, CCL_MOTION_MOG2, 64, 48);
    uint8_t picture[64 * 48];
    CclMotion *motion;
    CclMotionInfo info;
    unsigned seen = 0;

    c.params.max_motion = 1;
    need(ccl_motion_new(&c.config, &motion));
    for (unsigned frame = 0; frame < 700; frame++) {
        memset(picture, 100, sizeof picture);
        for (unsigned i = 0; i < sizeof picture; i++)
            picture[i] = (uint8_t)(picture[i] + (i * 31 + frame * 17) % 5);
        for (unsigned y = 10; y < 30 && frame >= 400; y++)
            memset(picture + y * 64 + 10, 200, 20);
        const CclMask luma = { .data = picture, .stride = 64, .width = 64, .height = 48 };
        need(ccl_motion_apply(motion, &luma, &c.params, &(CclMotionMask){ 0 }, &info));
        if (frame < 400 ? info.foreground != 0 : frame == 400 && (info.foreground < 380 || info.foreground > 420)) {
            n_failures++;
            printf("FAILED: %llu pixels of foreground in frame %u\n", (unsigned long long)info.foreground, frame);
        }
        seen += info.foreground > 200;
    }
    n_checks++;
    /* (1 - 0.003)^n = 0.75 at n = 96 */
    if (seen < 90 || seen > 102) {
        n_failures++;
        printf("FAILED: a thing that stays was foreground for %u frames, not 96\n", seen);
    }
    ccl_motion_free(motion);
}

int main(int argc, char **argv)
{
    const bool cuda = argc > 1 && !strcmp(argv[1], "cuda");
    const CclBackendKind backend = cuda ? CCL_BACKEND_CUDA : CCL_BACKEND_CPU;
    if (cuda && (!ccl_backend_built(CCL_BACKEND_CUDA) || !device_count())) {
        printf("checkmotion: skipped, there is no CUDA device\n");
        return 77;
    }
    const bool quick = argc > 2 && atoi(argv[2]) < 10;
    check_arguments(backend);
    check_absorption(backend);
    check_confirming_again(backend);
    if (!quick) {
        check_sizes(backend);
        check_large(backend);
        check_largest_box(backend);
    }
    check_random(backend, argc > 2 ? (unsigned)atoi(argv[2]) : 300);
    check_lively(backend, quick ? 8 : 120);
    printf("checkmotion %s: %u checks, %u failures\n", cuda ? "cuda" : "cpu", n_checks, n_failures);
    return n_failures != 0;
}
