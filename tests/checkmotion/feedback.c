/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Method "feedback" against its plain reference: random scenes, odd sizes, layouts of chroma, and seams in time. */
#include "device.h"
#include "plain.h"

/* ---------------------------------------------------------------- pictures */

typedef struct Layout {
    unsigned step; /* 0: no chroma */
    bool full_width, full_height;
} Layout;

static const Layout layouts[] = {
    { 0, false, false }, { 1, false, false }, { 2, false, false }, { 1, true, true }, { 1, false, true }
};

/* A case, and what changes from picture to picture. */
typedef struct Scene {
    CclMotionConfig config;
    CclMotionParams params;
    Layout layout;
    size_t pad;
    bool ignore, lively, resident; /* resident: picture and mask are in device memory */
    bool restarts;                 /* now and then a new detector loads the background */
    bool holds;                    /* now and then there are other boxes to hold */
    bool lines;                    /* diagonal lines of one pixel walk through the picture */
    int camera, light;             /* pixels; per cent */
    int64_t us;
} Scene;

/* Luma and chroma of a pixel: a textured background with waving stripes, something that walks, something that walks in and stands,
 * something that was there and left. */
static void draw_pixel(const Scene *s, unsigned frame, int x, int y, uint8_t *yuv)
{
    const int w = (int)s->config.width, h = (int)s->config.height, bx = x + s->camera;
    const int wave = x % 24 < 6 ? (int)random_below(3) : 0;
    int luma = 70 + ((bx + wave) * 7 + y * 13 + (bx + wave) * y / 3) % 90 + (int)random_below(5) - 2;
    const int walk = (int)(frame * 3) % (w + 8), stand = (int)frame < w / 4 ? (int)frame : w / 4;
    yuv[1] = (uint8_t)(120 + bx % 16), yuv[2] = (uint8_t)(130 + y % 8 + random_below(2));
    if (x > walk && x < walk + w / 5 + 2 && y > h / 3)
        luma = luma * 7 / 10;
    if (x + 3 > walk && x < walk + w / 6 && y + 2 > h / 3 && y < h * 3 / 4)
        luma = 230 - luma, yuv[1] = 90;
    if (frame > 20 && x >= stand && x < stand + w / 4 + 1 && y > h / 2)
        luma = 190 + (int)random_below(2), yuv[2] = 150;
    if (frame < 30 && x > w * 3 / 4 && y < h / 3)
        luma = 30, yuv[1] = 140;
    if (s->lines && (x - y + (int)frame) % 16 == 0)
        luma = 240;
    luma = luma * s->light / 100;
    yuv[0] = (uint8_t)(luma < 0 ? 0 : luma > 255 ? 255 : luma);
}

typedef struct Planes {
    uint8_t *luma, *chroma[2];   /* for the plain detector, without padding */
    uint8_t *source, *uv_source; /* for the detector; uv_source: all of it */
    size_t source_size, uv_size;
    uint8_t *device[2]; /* both; NULL: the detector reads them where they are */
    CclMotionPicture picture;
} Planes;

/* Samples `step` bytes apart. */
typedef struct Samples {
    const uint8_t *data;
    size_t stride;
    unsigned step;
    uint32_t width, height;
} Samples;

/* The averages of boxes: width x height of them, without padding. */
static void average(const Samples *from, uint8_t *to, uint32_t width, uint32_t height)
{
    for (uint32_t y = 0; y < height; y++)
        for (uint32_t x = 0; x < width; x++) {
            const uint32_t x0 = motion_box(x, width, from->width), x1 = motion_box(x + 1, width, from->width);
            const uint32_t y0 = motion_box(y, height, from->height), y1 = motion_box(y + 1, height, from->height);
            uint32_t sum = 0;
            for (uint32_t j = y0; j < y1; j++)
                for (uint32_t i = x0; i < x1; i++)
                    sum += from->data[j * from->stride + i * from->step];
            to[(size_t)y * width + x] = (uint8_t)((sum + (x1 - x0) * (y1 - y0) / 2) / ((x1 - x0) * (y1 - y0)));
        }
}

static Planes planes_new(const Scene *s, uint32_t width, uint32_t height)
{
    const uint32_t w = s->config.width, h = s->config.height;
    const size_t stride = w + s->pad, uv_stride = 2 * (size_t)w + s->pad;
    Planes p = { .luma = must(malloc((size_t)width * height)), .source_size = stride * h, .uv_size = 2 * uv_stride * h + 2 };
    p.source = must(malloc(p.source_size)), p.uv_source = must(calloc(p.uv_size, 1));
    if (s->resident)
        p.device[0] = device_alloc(p.source_size), p.device[1] = device_alloc(p.uv_size);
    for (unsigned k = 0; k < 2; k++)
        p.chroma[k] = must(malloc((size_t)((width + 1) / 2) * ((height + 1) / 2)));
    p.picture.luma = (CclMask){ .data = p.source, .stride = stride, .width = w, .height = h };
    if (s->layout.step)
        p.picture.chroma = (CclMotionChroma){
            .u = p.uv_source,
            .v = p.uv_source + (s->layout.step == 2 ? 1 : uv_stride * h),
            .stride = { uv_stride, uv_stride },
            .step = s->layout.step,
            .width = s->layout.full_width ? w : (w + 1) / 2,
            .height = s->layout.full_height ? h : (h + 1) / 2,
        };
    return p;
}

static void planes_free(Planes *p)
{
    free(p->luma), free(p->chroma[0]), free(p->chroma[1]), free(p->source), free(p->uv_source);
    for (unsigned k = 0; k < 2 && p->device[k]; k++)
        device_free(p->device[k]);
}

/* The picture as the detector gets it. */
static CclMotionPicture place(const Planes *p)
{
    CclMotionPicture picture = p->picture;
    if (!p->device[0])
        return picture;
    device_upload(p->device[0], p->source, p->source_size), device_upload(p->device[1], p->uv_source, p->uv_size);
    picture.luma.data = p->device[0], picture.luma.memory = CCL_MEMORY_DEVICE;
    if (picture.chroma.step) {
        picture.chroma.u = p->device[1];
        picture.chroma.v = p->device[1] + ((const uint8_t *)p->picture.chroma.v - p->uv_source);
    }
    return picture;
}

static void draw(const Scene *s, Planes *p, unsigned frame, uint32_t width, uint32_t height)
{
    const CclMotionChroma *const chroma = &p->picture.chroma;
    const uint32_t w = s->config.width, h = s->config.height;
    random_state = frame * 7919 + w;
    for (uint32_t y = 0; y < h; y++)
        for (uint32_t x = 0; x < w; x++) {
            uint8_t yuv[3];
            draw_pixel(s, frame, (int)x, (int)y, yuv);
            p->source[y * p->picture.luma.stride + x] = yuv[0];
            if (!chroma->step)
                continue;
            const size_t at = (s->layout.full_height ? y : y / 2) * chroma->stride[0] +
                              (size_t)(s->layout.full_width ? x : x / 2) * chroma->step;
            p->uv_source[at] = yuv[1];
            p->uv_source[at + (size_t)((const uint8_t *)chroma->v - (const uint8_t *)chroma->u)] = yuv[2];
        }
    average(&(Samples){ p->source, p->picture.luma.stride, 1, w, h }, p->luma, width, height);
    for (unsigned k = 0; k < 2 && chroma->step; k++) {
        const void *const data = k ? chroma->v : chroma->u;
        const Samples samples = { data, chroma->stride[k], chroma->step, chroma->width, chroma->height };
        average(&samples, p->chroma[k], (width + 1) / 2, (height + 1) / 2);
    }
}

/* ---------------------------------------------------------------- a course of pictures */

/* A picture in flight, and what is expected of it. */
typedef struct Flight {
    Planes planes;
    uint8_t *mask, *d_mask, *expected;
    PlainResult result;
    uint64_t kept, pixels;
    CclMotionParams params;
    unsigned frame;
} Flight;

typedef struct Run {
    Scene scene;
    uint32_t width, height; /* working size */
    CclMotion *motion;
    PlainFeedback *plain;
    Flight flights[CCL_MAX_DEPTH];
    unsigned n_submitted, n_collected;
    uint8_t *ignored, *count;
} Run;

static void run_new(Run *r, const Scene *s)
{
    *r = (Run){ .scene = *s,
                .width = s->config.work_width ? s->config.work_width : s->config.width,
                .height = s->config.work_height ? s->config.work_height : s->config.height };
    const size_t n = (size_t)r->width * r->height;
    r->ignored = must(calloc(n, 1)), r->count = must(calloc(n, 1));
    r->scene.config.chroma = s->layout.step != 0;
    need(ccl_motion_new(&r->scene.config, &r->motion));
    r->plain = plain_feedback_new(r->width, r->height, s->layout.step != 0);
    for (unsigned i = 0; i < s->config.depth; i++) {
        Flight *const flight = &r->flights[i];
        flight->planes = planes_new(&r->scene, r->width, r->height);
        flight->mask = must(calloc(n, 1)), flight->expected = must(calloc(n, 1));
        flight->d_mask = s->resident ? device_alloc(n) : NULL;
    }
    for (size_t i = 0; s->ignore && i < n / 5; i++)
        r->ignored[i] = 1;
    need(ccl_motion_set_ignore(r->motion, r->ignored, r->width));
}

static void run_free(Run *r)
{
    ccl_motion_free(r->motion);
    plain_feedback_free(r->plain);
    for (unsigned i = 0; i < r->scene.config.depth; i++) {
        planes_free(&r->flights[i].planes);
        free(r->flights[i].mask), free(r->flights[i].expected);
        if (r->flights[i].d_mask)
            device_free(r->flights[i].d_mask);
    }
    free(r->ignored), free(r->count);
}

/* What the caller gets of the model's mask. Returns the number of its pixels. */
static uint64_t expect(Run *r, Flight *flight)
{
    const size_t n = (size_t)r->width * r->height;
    const CclMotionParams *const p = &r->scene.params;
    const PlainResult *const result = &flight->result;
    uint8_t *const expected = flight->expected;
    uint64_t kept = 0;
    memcpy(expected, result->mask, n);
    if (result->flags || p->confirm_frames <= 1)
        memset(r->count, 0, n);
    for (size_t i = 0; i < n && p->confirm_frames > 1 && !result->flags; i++) {
        r->count[i] = expected[i] ? (uint8_t)(r->count[i] < 31 ? r->count[i] + 1 : 31) : 0;
        expected[i] = r->count[i] >= p->confirm_frames;
    }
    plain_grow(expected, (int)r->width, (int)r->height, (int)p->dilate);
    for (size_t i = 0; i < n; i++)
        kept += expected[i] = expected[i] && !r->ignored[i];
    return kept;
}

static uint64_t pixels_to_look_at(const Run *r)
{
    uint64_t n = 0;
    for (size_t i = 0; i < (size_t)r->width * r->height; i++)
        n += !r->ignored[i];
    return n;
}

static void report(const Run *r, const Flight *flight, const CclMotionInfo *info)
{
    const CclMotionConfig *const c = &r->scene.config;
    const CclMotionParams *const p = &flight->params;
    const PlainResult *const result = &flight->result;
    printf("FAILED: feedback, frame %u: raw %llu foreground %llu flags %u frames %u; the plain one: %llu %llu %u %u\n"
           "  %s %ux%u (working %ux%u) chroma step %u threads %u flags %#x depth %u%s threshold %u absorb %u median %u open %u "
           "close %u dilate %u confirm %u shadow %d max %g\n",
           flight->frame, (unsigned long long)info->raw_foreground, (unsigned long long)info->foreground, info->flags,
           info->frames, (unsigned long long)result->raw, (unsigned long long)flight->kept, result->flags, result->frames,
           c->backend == CCL_BACKEND_CUDA ? "CUDA" : "CPU", c->width, c->height, r->width, r->height, r->scene.layout.step,
           c->threads, c->cpu_flags, c->depth, r->scene.resident ? " resident" : "", p->threshold, p->absorb_ms, p->median,
           p->open, p->close, p->dilate, p->confirm_frames, p->drop_shadow, p->max_motion);
}

/* One picture into both. */
static void submit(Run *r, unsigned frame)
{
    const Scene *const s = &r->scene;
    Flight *const flight = &r->flights[r->n_submitted++ % s->config.depth];
    Planes *const planes = &flight->planes;
    const PlainPicture plain = { planes->luma, { planes->chroma[0], planes->chroma[1] }, s->us };
    draw(s, planes, frame, r->width, r->height);
    planes->picture.us = s->us;
    flight->pixels = pixels_to_look_at(r);
    flight->params = s->params, flight->frame = frame;
    plain_feedback_apply(r->plain, &plain, r->ignored, &s->params, (uint64_t)((double)flight->pixels * s->params.max_motion),
                         &flight->result);
    flight->kept = expect(r, flight);

    const CclMotionPicture picture = place(planes);
    const CclMotionMask mask = { .data = flight->d_mask ? flight->d_mask : flight->mask,
                                 .stride = r->width,
                                 .memory = flight->d_mask ? CCL_MEMORY_DEVICE : CCL_MEMORY_HOST };
    need(ccl_motion_submit_picture(r->motion, &picture, &s->params, &mask));
}

static bool collect(Run *r)
{
    Flight *const flight = &r->flights[r->n_collected++ % r->scene.config.depth];
    const PlainResult *const result = &flight->result;
    const size_t n = (size_t)r->width * r->height;
    CclMotionInfo info;
    bool same = true;
    need(ccl_motion_collect(r->motion, &info));
    if (flight->d_mask)
        device_download(flight->mask, flight->d_mask, n);
    for (size_t i = 0; i < n; i++)
        same &= flight->mask[i] == (flight->expected[i] ? 255 : 0);
    n_checks++;
    if (same && info.raw_foreground == result->raw && info.foreground == flight->kept && info.flags == result->flags &&
        info.frames == result->frames && info.pixels == flight->pixels)
        return true;
    n_failures++;
    report(r, flight, &info);
    return false;
}

/* Irregular, missing, backward and distant times; light, camera and parameters that change. */
static void change(Run *r, unsigned frame, uint32_t seed)
{
    Scene *const s = &r->scene;
    static const int64_t intervals[] = { 40000, 40000, 200000, 33333, 500, 3000000, -1000000, 60000000 };
    random_state = seed + frame * 31337;
    s->us = s->us == CCL_MOTION_NO_TIME ? (int64_t)frame * 40000 : s->us;
    s->us += intervals[s->lively ? random_below(8) : random_below(4)];
    if (random_below(s->lively ? 8 : 60) == 0)
        s->us = CCL_MOTION_NO_TIME;
    if (frame % 40 == 39)
        s->light = 40 + (int)random_below(120);
    if (frame % 60 == 59)
        s->camera += 20;
    if (!s->lively)
        return;
    switch (random_below(12)) {
    case 0:
        s->params.confirm_frames = 1 + random_below(3);
        break;
    case 1:
        s->params.threshold = random_below(3) * 20;
        break;
    case 2:
        s->params.absorb_ms = random_below(4) * 1500;
        break;
    case 3:
        s->params.drop_shadow = !s->params.drop_shadow;
        break;
    case 4:
        s->params.median = random_below(3), s->params.dilate = random_below(3);
        break;
    case 5:
        s->params.open = random_below(2), s->params.close = random_below(4);
        break;
    case 6:
        s->params.max_motion = random_below(3) / 2.0;
        break;
    case 7:
        if (random_below(5) == 0)
            ccl_motion_reset(r->motion), plain_feedback_reset(r->plain);
        break;
    default:
        break;
    }
}

/* Other boxes to hold, in both: now and then none, and some beyond the mask. */
static void hold(Run *r)
{
    CclMotionBox boxes[CCL_MOTION_MAX_BOXES];
    const unsigned n = random_below(4) == 0 ? 0 : random_below(8) == 0 ? CCL_MOTION_MAX_BOXES : random_below(5);
    for (unsigned i = 0; i < n; i++) {
        boxes[i].x0 = random_below(r->width + 3), boxes[i].y0 = random_below(r->height + 3);
        boxes[i].x1 = boxes[i].x0 + random_below(r->width + 3), boxes[i].y1 = boxes[i].y0 + random_below(r->height + 3);
    }
    need(ccl_motion_hold_boxes(r->motion, boxes, n));
    plain_feedback_hold(r->plain, boxes, n);
}

static bool collect_all(Run *r)
{
    bool ok = true;
    while (ok && r->n_collected < r->n_submitted)
        ok = collect(r);
    return ok;
}

/* A restart: another detector goes on with the background of this one, if that has learnt one. */
static void restart(Run *r)
{
    const size_t size = ccl_motion_background_size(r->motion);
    uint8_t *const background = must(malloc(size));
    CclMotion *motion;
    need(ccl_motion_new(&r->scene.config, &motion));
    need(ccl_motion_set_ignore(motion, r->ignored, r->width));
    if (ccl_motion_save_background(r->motion, background) == CCL_OK) {
        need(ccl_motion_load_background(motion, background, size));
        plain_feedback_reload(r->plain);
    } else {
        plain_feedback_reset(r->plain);
    }
    ccl_motion_free(r->motion);
    r->motion = motion;
    plain_feedback_hold(r->plain, NULL, 0);
    memset(r->count, 0, (size_t)r->width * r->height);
    free(background);
}

/* Pages of this process in memory; 0: not known, or a sanitizer's memory is among them. */
static unsigned long resident_pages(void)
{
    unsigned long pages = 0;
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
    FILE *const file = fopen("/proc/self/statm", "r");
    if (file && fscanf(file, "%*u %lu", &pages) != 1)
        pages = 0;
    if (file)
        fclose(file);
#endif
    return pages;
}

#define SETTLED 1000u /* pictures after which memory no longer grows, */
#define SLACK   64u   /* by more pages than these */

static void run_scene(const Scene *s, unsigned n_frames, uint32_t seed)
{
    unsigned long pages = 0;
    Run r;
    run_new(&r, s);
    bool ok = true;
    for (unsigned frame = 0; ok && frame < n_frames; frame++) {
        change(&r, frame, seed);
        if (r.n_submitted - r.n_collected == s->config.depth)
            ok = collect(&r);
        if (s->restarts && frame % 23 == 22) {
            ok = ok && collect_all(&r);
            restart(&r);
        }
        if (s->holds && random_below(3) == 0)
            hold(&r);
        submit(&r, frame);
        pages = frame == SETTLED ? resident_pages() : pages;
    }
    ok = ok && collect_all(&r);
    if (ok && pages)
        check(resident_pages() <= pages + SLACK, "memory grew from %lu to %lu pages", pages, resident_pages());
    run_free(&r);
}

/* ---------------------------------------------------------------- cases */

static Scene scene_for(CclBackendKind backend, uint32_t width, uint32_t height)
{
    Scene s = { .config = ccl_motion_config_default(), .params = ccl_motion_params_default(), .light = 100 };
    s.config.backend = backend;
    s.config.width = width, s.config.height = height;
    s.config.threads = 1;
    s.layout = layouts[1];
    return s;
}

static void check_random(CclBackendKind backend, unsigned n)
{
    static const uint32_t flags[] = { 0, CCL_CPU_SSE2, CCL_CPU_SSE42, CCL_CPU_AVX2, CCL_CPU_AVX512, CCL_CPU_ALL };
    for (unsigned i = 0; i < n && n_failures < 5; i++) {
        random_state = 4321 + i * 977;
        Scene s = scene_for(backend, 1 + random_below(i % 4 ? 150 : 20), 1 + random_below(70));
        s.config.cpu_flags = flags[random_below(6)];
        if (random_below(3) == 0) {
            s.config.work_width = 1 + random_below(s.config.width);
            s.config.work_height = 1 + random_below(s.config.height);
        }
        s.layout = layouts[i % 5];
        s.pad = random_below(2) ? random_below(70) : 0;
        s.ignore = random_below(4) == 0;
        s.lively = i % 2;
        s.config.depth = 1 + random_below(3);
        s.resident = backend == CCL_BACKEND_CUDA && random_below(2);
        s.restarts = i % 3 == 0;
        s.holds = i % 4 < 2;
        s.params.absorb_ms = random_below(2) ? 4000 : 600000;
        s.params.dilate = random_below(3) == 0;
        run_scene(&s, 110, i);
    }
}

/* Around words, blocks and warps; every tier. */
static void check_sizes(CclBackendKind backend, bool quick)
{
    static const uint32_t sizes[] = { 1, 2, 3, 31, 32, 33, 63, 64, 65, 127, 128, 129, 193 };
    static const uint32_t flags[] = { 0, CCL_CPU_SSE2, CCL_CPU_SSE42, CCL_CPU_AVX2, CCL_CPU_AVX512 };
    for (unsigned i = 0; i < sizeof sizes / sizeof *sizes; i += quick ? 5 : 1)
        for (unsigned tier = 0; tier < (backend == CCL_BACKEND_CPU ? 5u : 1u) && n_failures < 5; tier++) {
            Scene s = scene_for(backend, sizes[i], sizes[(i * 5 + 3) % 13]);
            s.config.cpu_flags = flags[tier];
            run_scene(&s, 50, i);
        }
}

/* Pixels that only a corner connects, also across the edges of words. */
static void check_lines(CclBackendKind backend)
{
    Scene s = scene_for(backend, 70, 40);
    s.lines = true;
    s.params.median = 0;
    run_scene(&s, 40, 5);
}

/* Several strips; the grids of large pictures. */
static void check_large(CclBackendKind backend)
{
    Scene wide = scene_for(backend, 1090, 37); /* more words than a warp has lanes */
    run_scene(&wide, 70, 3);
    Scene s = scene_for(backend, 1003, 701);
    s.config.threads = 4;
    run_scene(&s, 45, 1);
    s.layout = layouts[2], s.restarts = s.holds = true;
    s.config.work_width = 640, s.config.work_height = 447, s.config.threads = 3;
    run_scene(&s, 45, 2);
}

/* Hours of a camera, with everything that changes. */
void check_soak(unsigned n_frames)
{
    for (unsigned i = 0; i < 2; i++) {
        Scene s = scene_for(CCL_BACKEND_CPU, 96, 64);
        s.lively = i, s.restarts = i, s.holds = i;
        run_scene(&s, n_frames, 77);
    }
}

/* ---------------------------------------------------------------- arguments */

static void refused(CclMotion *motion, const CclMotionPicture *picture, const char *text)
{
    const CclMotionParams params = ccl_motion_params_default();
    const CclMotionMask none = { 0 };
    const CclStatus status = ccl_motion_submit_picture(motion, picture, &params, &none);
    check(status == CCL_ERROR_ARGUMENT && strstr(ccl_error_message(), text), "not refused with \"%s\": %s", text,
          ccl_error_message());
}

static void check_chroma(CclBackendKind backend)
{
    uint8_t bytes[16 * 16] = { 0 };
    Scene s = scene_for(backend, 16, 16);
    CclMotionPicture good = { .luma = { .data = bytes, .stride = 16, .width = 16, .height = 16 },
                              .chroma = { bytes, bytes, { 8, 8 }, 1, 8, 8 } };
    CclMotion *motion;
    s.config.backend = backend;
    s.config.chroma = true;
    need(ccl_motion_new(&s.config, &motion));
#define WRONG(member, value, text)     \
    do {                               \
        CclMotionPicture wrong = good; \
        wrong.chroma.member = value;   \
        refused(motion, &wrong, text); \
    } while (0)
    WRONG(v, NULL, "has no chroma");
    WRONG(step, 0, "0 bytes apart");
    WRONG(step, 3, "3 bytes apart");
    WRONG(step, 2, "stride 8");
    WRONG(stride[1], 7, "stride 7");
    WRONG(width, 7, "7x8");
    WRONG(height, 17, "8x17");
#undef WRONG
    ccl_motion_free(motion);
}

void check_feedback(CclBackendKind backend, unsigned n_random, bool quick)
{
    check_chroma(backend);
    check_background(backend);
    if (backend == CCL_BACKEND_CPU || !quick)
        check_hold(backend);
    check_random(backend, n_random);
    check_sizes(backend, quick);
    check_lines(backend);
    if (!quick)
        check_large(backend);
}
