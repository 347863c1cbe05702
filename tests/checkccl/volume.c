/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Volumes: every method against a union-find over voxels, and the rules of ccl.h about volumes. */
#include "volume.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---------------------------------------------------------------- volumes */

/* Every volume of these sizes. */
static void judge_tiny(Session *session)
{
    static const uint32_t sizes[][3] = { { 2, 2, 2 }, { 3, 2, 2 }, { 2, 3, 2 }, { 2, 2, 3 }, { 3, 1, 3 }, { 1, 3, 3 },
                                         { 3, 3, 1 }, { 1, 1, 9 } };
    for (unsigned i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        Stack stack = stack_new(sizes[i][0], sizes[i][1], sizes[i][2]);
        const uint32_t n = 1u << n_voxels(&stack);
        for (uint32_t value = 0; value < n && volumes_active(session); value += session->quick ? 17 : 1) {
            image_set_bits(&stack.image, value);
            judge_stack(session, &stack, &plain_layout, 0, "one of all");
        }
        image_free(&stack.image);
    }
}

static void judge_noise(Session *session)
{
    static const double densities[] = { 1, 5, 10, 15, 20, 30, 40, 60, 80, 97 };
    static const uint32_t sizes[][3] = {
        { 1, 1, 200 }, { 1, 50, 9 },  { 50, 1, 9 },   { 31, 17, 1 },  { 64, 9, 2 }, { 65, 33, 8 },  { 7, 5, 64 },
        { 128, 6, 5 }, { 33, 32, 3 }, { 127, 63, 17 }, { 130, 70, 4 }, { 2, 2, 30 }, { 257, 129, 6 },
    };
    for (unsigned i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (unsigned d = 0; d < sizeof densities / sizeof *densities && volumes_active(session); d++) {
            if (session->quick && (i + d) % 5)
                continue;
            Stack stack = stack_new(sizes[i][0], sizes[i][1], sizes[i][2]);
            for (size_t k = 0; k < n_voxels(&stack); k++)
                stack.image.pixels[k] = random_chance(&session->random, densities[d]);
            judge_stack(session, &stack, &plain_layout, 0, "noise");
            image_free(&stack.image);
        }
}

static void judge_patterns(Session *session)
{
    static const uint32_t sizes[][3] = { { 17, 13, 9 }, { 66, 34, 4 }, { 5, 4, 33 } };
    static const char *const names[] = { "empty", "full", "checkerboard", "dots", "sheets in time", "walls",
                                         "empty frames between", "diagonal", "edges", "all but one" };
    for (unsigned i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (unsigned p = 0; p < sizeof names / sizeof *names && volumes_active(session); p++) {
            Stack stack = stack_new(sizes[i][0], sizes[i][1], sizes[i][2]);
            for (uint32_t t = 0; t < stack.n_frames; t++)
                for (uint32_t y = 0; y < stack.height; y++)
                    for (uint32_t x = 0; x < stack.image.width; x++) {
                        const bool side = x == 0 || x + 1 == stack.image.width, end = y == 0 || y + 1 == stack.height;
                        const bool on_edge = side + end + (t == 0 || t + 1 == stack.n_frames) >= 2;
                        const bool set[] = { false, true, (x + y + t) % 2, x % 2 && y % 2 && t % 2, t % 2, x % 3 != 1,
                                             t % 3 != 2 && (x ^ y) & 4, x % stack.n_frames == t && y % 5 == t % 5,
                                             on_edge, x != 4 || y != 3 || t != 2 };
                        *voxel_at(&stack, x, y, t) = set[p];
                    }
            judge_stack(session, &stack, &plain_layout, 0, names[p]);
            image_free(&stack.image);
        }
}

/* Pixels and boxes that move at random, up to `step` pixels a frame. The trace of a worm of step 1 is one component,
 * 26-connected. */
static void judge_worms(Session *session)
{
    for (uint32_t step = 1; step <= 3; step++)
        for (uint32_t n_worms = 1; n_worms <= (session->quick ? 4 : 64) && volumes_active(session); n_worms *= 4) {
            Stack stack = stack_new(60, 40, 50);
            for (uint32_t worm = 0; worm < n_worms; worm++) {
                uint32_t x = random_below(&session->random, 60), y = random_below(&session->random, 40);
                const uint32_t size = 1 + worm % 4;
                for (uint32_t t = 0; t < stack.n_frames; t++) {
                    for (uint32_t i = 0; i < size * size; i++)
                        if (x + i % size < 60 && y + i / size < 40)
                            *voxel_at(&stack, x + i % size, y + i / size, t) = 1;
                    x = (uint32_t)((int)x + (int)random_below(&session->random, 2 * step + 1) - (int)step);
                    y = (uint32_t)((int)y + (int)random_below(&session->random, 2 * step + 1) - (int)step);
                    x = x > 1u << 31 ? 0 : x > 59 ? 59 : x;
                    y = y > 1u << 31 ? 0 : y > 39 ? 39 : y;
                }
            }
            Result expected = expected_result(&stack, true);
            check(session, n_worms > 1 || step > 1 || expected.n_found == 1, "one worm is %u components",
                  expected.n_found);
            judge_stack(session, &stack, &plain_layout, 0, "worms");
            result_free(&expected);
            image_free(&stack.image);
        }
}

/* Masks and label images in every kind of memory, unaligned, of 16 bits, inverted. */
static void judge_layouts(Session *session)
{
    static const uint32_t sizes[][3] = { { 37, 11, 5 }, { 130, 3, 3 }, { 1, 7, 6 } };
    for (unsigned i = 0; i < (session->quick ? 1 : sizeof sizes / sizeof *sizes); i++) {
        Stack stack = stack_new(sizes[i][0], sizes[i][1], sizes[i][2]);
        for (size_t k = 0; k < n_voxels(&stack); k++)
            stack.image.pixels[k] = random_chance(&session->random, 20);
        for (const Layout *layout = layouts; layout->name && volumes_active(session); layout++)
            if (layout_fits(layout, &stack.image))
                judge_stack(session, &stack, layout, 0, "layout");
        image_free(&stack.image);
    }
}

static void judge_small_tables(Session *session)
{
    Stack stack = stack_new(40, 30, 4);
    for (size_t k = 0; k < n_voxels(&stack); k++)
        stack.image.pixels[k] = random_chance(&session->random, 4);
    for (uint32_t rows = 1; rows <= 100; rows = rows * 3 + 1)
        judge_stack(session, &stack, &plain_layout, rows, "small table");
    image_free(&stack.image);
}

/* ---------------------------------------------------------------- errors and steps */

static bool fails(CclStatus status, const char *fragment)
{
    return status == CCL_ERROR_ARGUMENT && strstr(ccl_error_message(), fragment);
}

static void check_errors(Session *session, const Subject *subject)
{
    static const uint8_t pixels[80 * 60];
    const CclMask mask = { .data = pixels, .stride = 80, .width = 40, .height = 30 };
    CclMask other = mask;
    CclConfig config = subject->config;
    CclContext *context;
    CclVolumeTable table;
    CclTable plain;
    CclVoxel outside = { 40, 0, 0 };
    uint32_t label = 7;
    other.width = 39;

    config.max_width = 80, config.max_height = 60, config.volume = 2;
    if (!check(session, ccl_context_new(&config, &context) == CCL_OK, "%s: %s", subject->name, ccl_error_message()))
        return;
    check(session, fails(ccl_volume_label(context, NULL, &table), "no mask"), "%s labels an empty stack",
          subject->name);
    check(session, fails(ccl_analyze(context, &mask, NULL, NULL, &plain), "volumes"), "%s takes a single mask",
          subject->name);
    check(session, ccl_volume_add(context, &mask) == CCL_OK, "%s: %s", subject->name, ccl_error_message());
    check(session, fails(ccl_volume_look_up(context, &outside, 1, &label), "no volume"), "%s looks up too early",
          subject->name);
    check(session, fails(ccl_volume_add(context, &other), "39x30"), "%s stacks masks of two sizes", subject->name);
    check(session, ccl_volume_add(context, &mask) == CCL_OK, "%s: %s", subject->name, ccl_error_message());
    check(session, fails(ccl_volume_add(context, &mask), "already"), "%s stacks too many masks", subject->name);
    CclLabels images[2] = { { .data = &label, .stride = 4 }, { .data = &label, .stride = 4 } };
    check(session, fails(ccl_volume_label(context, images, &table), "stride"), "%s takes a label image too small",
          subject->name);
    check(session, ccl_volume_label(context, NULL, &table) == CCL_OK && table.n_found == 0 && table.n_frames == 2,
          "%s: an empty volume has %u components in %u frames", subject->name, table.n_found, table.n_frames);
    check(session, fails(ccl_volume_look_up(context, &outside, 1, &label), "outside"), "%s looks up outside",
          subject->name);
    check(session, fails(ccl_volume_label(context, NULL, &table), "no mask"), "%s labels twice", subject->name);
    /* A new stack may be of another size, and may be forgotten. */
    check(session, ccl_volume_add(context, &other) == CCL_OK, "%s: %s", subject->name, ccl_error_message());
    ccl_volume_clear(context);
    check(session,
          ccl_volume_add(context, &mask) == CCL_OK && ccl_volume_label(context, NULL, &table) == CCL_OK &&
              table.n_frames == 1 && table.width == 40,
          "%s: after clearing, %u frames %u wide", subject->name, table.n_frames, table.width);
    ccl_context_free(context);
}

static void new_fails(Session *session, const CclConfig *config, CclStatus status, const char *fragment)
{
    CclContext *context;
    const CclStatus got = ccl_context_new(config, &context);
    check(session, got == status && strstr(ccl_error_message(), fragment),
          "a context for volumes: status %d, not %d; \"%s\" lacks \"%s\"",
          (int)got, (int)status, ccl_error_message(), fragment);
    if (got == CCL_OK)
        ccl_context_free(context);
}

/* Steps are of the last volume: on an empty one an iterative method needs one iteration, each time. */
static void check_steps(Session *session, const Subject *subject)
{
    static const uint8_t pixels[40 * 30];
    const CclMask mask = { .data = pixels, .stride = 40, .width = 40, .height = 30 };
    CclConfig config = subject->config;
    CclContext *context;
    CclVolumeTable table;
    const CclStep *steps;

    config.max_width = 40, config.max_height = 30, config.volume = 2, config.timing = true;
    if (!check(session, ccl_context_new(&config, &context) == CCL_OK, "%s: %s", subject->name, ccl_error_message()))
        return;
    for (unsigned time = 0; time < 3; time++) {
        check(session,
              ccl_volume_add(context, &mask) == CCL_OK && ccl_volume_label(context, NULL, &table) == CCL_OK,
              "%s: %s", subject->name, ccl_error_message());
        for (unsigned n = ccl_steps(context, &steps), i = 0; i < n; i++)
            check(session, steps[i].count == 1, "%s: empty volume %u has %u times step %s", subject->name, time,
                  steps[i].count, steps[i].name);
    }
    ccl_context_free(context);
}

static void check_config_errors(Session *session, const Subject *subject)
{
    CclConfig config = subject->config;
    config.max_width = 1920, config.max_height = 1080;
    config.volume = CCL_MAX_FRAMES + 1;
    new_fails(session, &config, CCL_ERROR_ARGUMENT, "frames");
    config.volume = 130;
    new_fails(session, &config, CCL_ERROR_ARGUMENT, "at most 129");
    config.volume = 2;
    config.order = CCL_ORDER_AREA;
    new_fails(session, &config, CCL_ERROR_ARGUMENT, "raster");
    config.order = CCL_ORDER_RASTER;
    config.volume = 0;
    new_fails(session, &config, CCL_ERROR_UNSUPPORTED, "single masks");
    config.algorithm = "runs";
    config.volume = 2;
    new_fails(session, &config, CCL_ERROR_UNSUPPORTED, "not volumes");
}

void check_volume(Session *session)
{
    static const struct {
        const char *name;
        void (*judge)(Session *session);
    } parts[] = { { "tiny", judge_tiny },       { "noise", judge_noise },     { "patterns", judge_patterns },
                  { "worms", judge_worms },     { "layouts", judge_layouts }, { "small tables", judge_small_tables } };
    for (unsigned i = 0; i < sizeof parts / sizeof *parts; i++)
        parts[i].judge(session);
    for (unsigned s = 0; s < session->n_volumes; s++) {
        check_errors(session, &session->volumes[s]);
        check_steps(session, &session->volumes[s]);
        check_config_errors(session, &session->volumes[s]);
    }
}

/* ---------------------------------------------------------------- self-test */

/* Wrong results, each of which the comparison must find; the right one it must not. */
void check_volume_faults(Session *session)
{
    Stack stack = stack_new(30, 20, 6);
    char why[400] = "";
    for (size_t k = 0; k < n_voxels(&stack); k++)
        stack.image.pixels[k] = random_chance(&session->random, 9);
    Result right = expected_result(&stack, true), six = expected_result(&stack, false);
    const uint32_t last = right.n_found - 1;

    check(session, same_result(&stack, &right, &right, why), "self-test: a right volume is called wrong: %s", why);
    check(session, !same_result(&stack, &right, &six, why), "self-test: 6-connected passes for 26-connected");
#define SPOILED(what, spoil)                                                                  \
    do {                                                                                            \
        Result wrong = { right.n_found, right.n_rows, must_alloc(right.n_rows * sizeof *right.rows), right.labels }; \
        memcpy(wrong.rows, right.rows, right.n_rows * sizeof *right.rows);                          \
        spoil;                                                                                      \
        check(session, !same_result(&stack, &right, &wrong, why), "self-test: %s was not found", what); \
        free(wrong.rows);                                                                           \
    } while (0)
    SPOILED("a voxel too many", wrong.rows[last].voxels++);
    SPOILED("a frame too many", wrong.rows[last].frame1++);
    SPOILED("a missing component", wrong.n_found--);
    SPOILED("a wrong first voxel", wrong.rows[0].first_y++);
    result_free(&right);
    result_free(&six);
    image_free(&stack.image);
}
