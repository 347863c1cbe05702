/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Held boxes: what stands in one stays foreground, until the list ends or is forgotten. Ghosts are learnt there too. */
#include "checkmotion.h"

#define WIDTH      96
#define HEIGHT     48
#define ABSORB_MS  4000
#define FRAME_MS   40
#define FIRST_MS   3000 /* two objects appear */
#define SECOND_MS  (FIRST_MS + 2 * ABSORB_MS + 1000)
#define OBJECT     20 /* pixels, each way */
#define MOST       (OBJECT * OBJECT)

/* Places of the objects: the first is in the box. */
static const CclMotionBox held = { 10, 10, 10 + OBJECT, 10 + OBJECT };
static const CclMotionBox free_one = { 60, 10, 60 + OBJECT, 10 + OBJECT };

typedef struct Course {
    CclMotion *motion;
    CclMotionParams params;
    uint8_t picture[WIDTH * HEIGHT], mask[WIDTH * HEIGHT];
    unsigned ms; /* time of the next picture */
} Course;

static void course_new(Course *c, CclBackendKind backend)
{
    CclMotionConfig config = ccl_motion_config_default();
    config.backend = backend;
    config.width = WIDTH, config.height = HEIGHT;
    *c = (Course){ .params = ccl_motion_params_default() };
    c->params.absorb_ms = ABSORB_MS;
    c->params.max_motion = 1;
    need(ccl_motion_new(&config, &c->motion));
}

static void fill(Course *c, const CclMotionBox *box, int value)
{
    for (uint32_t y = box->y0; y < box->y1; y++)
        memset(c->picture + y * WIDTH + box->x0, value, box->x1 - box->x0);
}

/* Pictures up to a time; `with`: the boxes where something stands. */
static void play(Course *c, unsigned until_ms, const CclMotionBox *const *with, unsigned n)
{
    const CclMotionMask mask = { .data = c->mask, .stride = WIDTH };
    for (; c->ms < until_ms; c->ms += FRAME_MS) {
        for (unsigned i = 0; i < WIDTH * HEIGHT; i++)
            c->picture[i] = (uint8_t)(100 + (i * 31 + c->ms / FRAME_MS * 17) % 5);
        for (unsigned i = 0; i < n; i++)
            fill(c, with[i], 200);
        const CclMotionPicture picture = {
            .luma = { .data = c->picture, .stride = WIDTH, .width = WIDTH, .height = HEIGHT },
            .us = (int64_t)c->ms * 1000,
        };
        need(ccl_motion_submit_picture(c->motion, &picture, &c->params, &mask));
        need(ccl_motion_collect(c->motion, NULL));
    }
}

static unsigned seen(const Course *c, const CclMotionBox *box)
{
    unsigned n = 0;
    for (uint32_t y = box->y0; y < box->y1; y++)
        for (uint32_t x = box->x0; x < box->x1; x++)
            n += c->mask[y * WIDTH + x] != 0;
    return n;
}

static void is_seen(const Course *c, const CclMotionBox *box, bool wanted, const char *when)
{
    const unsigned n = seen(c, box);
    check(wanted ? n > MOST * 9 / 10 : n < MOST / 20, "%s: %u pixels of %u are foreground", when, n, MOST);
}

/* As a tracker does: a list each second, for twice the absorb time. */
static void stand_in_box(Course *c)
{
    static const CclMotionBox *const both[] = { &held, &free_one };
    play(c, FIRST_MS, both, 0);
    for (unsigned ms = FIRST_MS; ms < SECOND_MS; ms += 1000) {
        need(ccl_motion_hold_boxes(c->motion, &held, 1));
        play(c, ms + 1000, both, 2);
        if (ms < FIRST_MS + ABSORB_MS / 2)
            is_seen(c, &free_one, true, "before the absorb time");
    }
    is_seen(c, &held, true, "in a box, after twice the absorb time");
    is_seen(c, &free_one, false, "outside, after twice the absorb time");
}

/* What counts of the time in the box is a second at most. */
static void check_end(CclBackendKind backend)
{
    static const CclMotionBox *const one[] = { &held };
    Course c;
    course_new(&c, backend);
    stand_in_box(&c);
    need(ccl_motion_hold_boxes(c.motion, NULL, 0));
    play(&c, SECOND_MS + ABSORB_MS - 1500, one, 1);
    is_seen(&c, &held, true, "after the box, before the absorb time");
    play(&c, SECOND_MS + ABSORB_MS + 500, one, 1);
    is_seen(&c, &held, false, "after the box and the absorb time");
    ccl_motion_free(c.motion);
}

static void check_expiry(CclBackendKind backend)
{
    static const CclMotionBox *const one[] = { &held };
    Course c;
    course_new(&c, backend);
    stand_in_box(&c);
    need(ccl_motion_hold_boxes(c.motion, &held, 1));
    play(&c, SECOND_MS + CCL_MOTION_HOLD_MS + ABSORB_MS - 1500, one, 1);
    is_seen(&c, &held, true, "a list that was forgotten, too early");
    play(&c, SECOND_MS + CCL_MOTION_HOLD_MS + ABSORB_MS + 500, one, 1);
    is_seen(&c, &held, false, "a list that was forgotten");
    ccl_motion_free(c.motion);
}

/* What was there from the first picture and leaves. */
static void check_ghost(CclBackendKind backend)
{
    static const CclMotionBox *const one[] = { &held };
    Course c;
    course_new(&c, backend);
    play(&c, FIRST_MS, one, 1);
    need(ccl_motion_hold_boxes(c.motion, &held, 1));
    play(&c, FIRST_MS + 400, one, 0);
    is_seen(&c, &held, true, "a ghost at first");
    play(&c, FIRST_MS + 3000, one, 0);
    is_seen(&c, &held, false, "a ghost in a box");
    ccl_motion_free(c.motion);
}

static void check_refusals(CclBackendKind backend)
{
    static const CclMotionBox many[CCL_MOTION_MAX_BOXES + 1];
    Course c;
    CclMotion *other;
    CclMotionConfig config = ccl_motion_config_default();
    course_new(&c, backend);
    check(ccl_motion_hold_boxes(c.motion, many, CCL_MOTION_MAX_BOXES) == CCL_OK, "empty boxes are refused");
    check(ccl_motion_hold_boxes(c.motion, many, CCL_MOTION_MAX_BOXES + 1) == CCL_ERROR_ARGUMENT, "too many boxes are taken");
    ccl_motion_free(c.motion);
    config.backend = backend, config.width = config.height = 16;
    config.method = CCL_MOTION_MOG2;
    need(ccl_motion_new(&config, &other));
    check(ccl_motion_hold_boxes(other, many, 1) == CCL_ERROR_ARGUMENT, "mog2 takes boxes");
    ccl_motion_free(other);
}

void check_hold(CclBackendKind backend)
{
    check_end(backend);
    check_expiry(backend);
    check_ghost(backend);
    check_refusals(backend);
}
