/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* One case: a course of pictures through the detector and the plain one. */
#include "checkmotion.h"
#include "analysis/polygon.h"
#include "device.h"

/* ---------------------------------------------------------------- pictures */

/* A textured background with noise, flickering patches, an object that moves and casts a shadow, and one that stays. */
static void draw(uint8_t *picture, uint32_t width, uint32_t height, size_t stride, unsigned frame, double light)
{
    const uint32_t seed = width + height;
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

static void describe(const Case *c, unsigned frame)
{
    const CclMotionConfig *const g = &c->config;
    const CclMotionParams *const p = &c->params;
    printf("  %s method %d %ux%u (working %ux%u) pad %zu threads %u flags %#x depth %u%s%s%s frame %u\n"
           "  threshold %u rate %g warmup %u confirm %u median %u open %u close %u dilate %u shadow %d freeze %d "
           "max %g\n",
           g->backend == CCL_BACKEND_CUDA ? "CUDA" : "CPU", (int)g->method, g->width, g->height, g->work_width, g->work_height,
           c->pad, g->threads, g->cpu_flags, g->depth, c->ignore ? " ignore" : "",
           c->late       ? " late"
           : c->resident ? " resident"
                         : "",
           c->lively ? " lively" : "", frame, p->threshold, p->learning_rate, p->warmup_frames, p->confirm_frames, p->median,
           p->open, p->close, p->dilate, p->drop_shadow, p->freeze, p->max_motion);
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

/* A picture in flight, and its expected results. */
typedef struct Flight {
    uint8_t *picture, *mask, *d_picture, *d_source, *d_mask, *expected;
    uint64_t raw, kept;
    uint32_t flags, frames;
    Case asked; /* with its parameters */
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
        const CclPlane plane = { ignored, mask_width, mask_width, mask_height };
        need(ccl_polygon_fill(triangle, 3, 1, &plane));
    }
    *course = (Course){ .plain = plain_new(&c->config, ignored),
                        .stride = c->config.width + c->pad,
                        .mask_stride = mask_width + c->pad };
    need(ccl_motion_new(&c->config, &course->motion));
    if (c->ignore)
        need(ccl_motion_set_ignore(course->motion, ignored, mask_width));
    free(ignored);

    course->producer = c->late ? device_stream_new() : NULL;
    /* Ends with the last row, so that an address checker finds accesses past it. */
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
    draw(bare, width, height, course->stride, frame, light);
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
        device_delayed_copy(course->producer, flight->d_picture, flight->d_source, course->size, 50);
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
           (unsigned long long)info.pixels, (unsigned long long)flight->raw, (unsigned long long)flight->kept, flight->flags,
           flight->frames, (unsigned long long)plain->pixels);
    describe(&flight->asked, flight->frame);
    show("is", flight->mask, course->mask_stride, plain->width, plain->height);
    show("should be", flight->expected, plain->width, plain->width, plain->height);
    return false;
}

/* Changes something before a picture of a lively course. Returns the light to draw the picture with. */
static double change_course(Course *course, Case *c, unsigned frame)
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
    case 0:
        c->params.confirm_frames = 1 + random_below(3);
        break;
    case 1:
        c->params.threshold = random_below(3) * 20;
        break;
    case 2:
        c->params.warmup_frames = random_below(4);
        break;
    case 3:
        c->params.learning_rate = random_below(2) ? -1 : 0.2;
        break;
    case 4:
        c->params.freeze = !c->params.freeze;
        break;
    case 5:
        c->params.drop_shadow = !c->params.drop_shadow;
        break;
    case 6:
        c->params.max_motion = random_below(3) / 2.0;
        break;
    case 7:
        c->params.median = random_below(3), c->params.dilate = random_below(3);
        break;
    default:
        break;
    }
    return light;
}

bool run(const Case *asked, unsigned n_frames)
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
        const double light = c.lively ? change_course(&course, &c, frame) : frame % 17 == 16 ? 0.3 : 1;
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

Case case_for(CclBackendKind backend, CclMotionMethod method, uint32_t width, uint32_t height)
{
    Case c = { .config = ccl_motion_config_default(), .params = ccl_motion_params_default() };
    c.config.backend = backend;
    c.config.method = method;
    c.config.width = width, c.config.height = height;
    c.config.threads = 1;
    c.params.warmup_frames = 3;
    return c;
}
