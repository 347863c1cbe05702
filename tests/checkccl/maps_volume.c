/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Volumes of label maps on every method. The expected result is made from binary volumes, one for each value. The pixels of a
 * stack are numbers of values, from 0 to MAX_VALUES - 1.
 */
#include "device.h"
#include "volume.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_VALUES = 6, NO_BACKGROUND = MAX_VALUES };

/* How a stack is stored: the values by number, and the bytes of a pixel in even and in odd frames. */
typedef struct Form {
    const char *name;
    unsigned pixel_size[2];
    uint16_t values[MAX_VALUES];
    uint16_t other; /* the background's, where no pixel has it */
} Form;

/* Values that differ in one byte only, and backgrounds that differ from a pixel in a byte that it does not have. */
static const Form forms[] = {
    { "8 bits", { 1, 1 }, { 0, 1, 2, 3, 128, 255 }, 256 },
    { "16 bits", { 2, 2 }, { 0, 1, 256, 257, 65280, 65535 }, 255 },
    { "8 and 16 bits", { 1, 2 }, { 0, 1, 2, 3, 128, 255 }, 65280 },
};
enum { N_FORMS = sizeof forms / sizeof *forms };

typedef struct Row {
    CclVolumeComponent component;
    uint16_t class_id;
    uint32_t of_value; /* its label among the components of this value */
} Row;

typedef struct Expected {
    Row *rows;
    uint32_t n, max_rows; /* max_rows: the table's size */
    uint32_t *labels;
} Expected;

static int compare_rows(const void *a, const void *b)
{
    const CclVolumeComponent *const x = &((const Row *)a)->component, *const y = &((const Row *)b)->component;
    if (x->frame0 != y->frame0)
        return x->frame0 < y->frame0 ? -1 : 1;
    if (x->first_y != y->first_y)
        return x->first_y < y->first_y ? -1 : 1;
    return x->first_x < y->first_x ? -1 : 1;
}

static Expected expect_stack(const Stack *stack, unsigned background, bool all_26)
{
    const size_t n = n_voxels(stack);
    Expected expected = { .rows = must_alloc(n * sizeof(Row)), .labels = must_alloc(n * sizeof(uint32_t)) };
    uint32_t *const of_value = must_alloc(n * sizeof *of_value), *const final = must_alloc((n + 1) * sizeof *final);
    Stack binary = stack_new(stack->image.width, stack->height, stack->n_frames);

    for (unsigned value = 0; value < MAX_VALUES; value++) {
        for (size_t i = 0; i < n; i++)
            binary.image.pixels[i] = stack->image.pixels[i] == value && value != background;
        Result result = expected_result(&binary, all_26);
        for (uint32_t i = 0; i < result.n_rows; i++)
            expected.rows[expected.n++] = (Row){ result.rows[i], (uint16_t)value, i + 1 };
        for (size_t i = 0; i < n; i++)
            of_value[i] |= result.labels[i];
        result_free(&result);
    }
    if (expected.n)
        qsort(expected.rows, expected.n, sizeof *expected.rows, compare_rows);
    for (unsigned value = 0; value < MAX_VALUES; value++) {
        for (uint32_t i = 0; i < expected.n; i++) {
            expected.rows[i].component.label = i + 1;
            if (expected.rows[i].class_id == value)
                final[expected.rows[i].of_value] = i + 1;
        }
        for (size_t i = 0; i < n; i++)
            if (stack->image.pixels[i] == value && of_value[i])
                expected.labels[i] = final[of_value[i]];
    }
    image_free(&binary.image);
    free(of_value);
    free(final);
    return expected;
}

static bool same_table(const Expected *expected, const Form *form, const CclVolumeTable *table)
{
    bool same =
        table->n_found == expected->n && table->n_components == smaller(expected->n, expected->max_rows) && table->class_ids;
    for (uint32_t i = 0; i < table->n_components && same; i++)
        same = !memcmp(&table->components[i], &expected->rows[i].component, sizeof *table->components) &&
               table->class_ids[i] == form->values[expected->rows[i].class_id];
    return same;
}

/* Rows begin at any address, with garbage between. */
static CclStatus add_frame(CclContext *context, const Stack *stack, const Form *form, uint32_t t, CclMemory memory)
{
    const uint32_t width = stack->image.width, pixel_size = form->pixel_size[t % 2], offset = t % 3;
    const size_t stride = (size_t)width * pixel_size + t % 4, size = offset + stride * stack->height;
    uint8_t *const pixels = must_alloc(size), *const there = memory == CCL_MEMORY_DEVICE ? device_alloc(size) : pixels;

    memset(pixels, (int)t, size);
    for (uint32_t i = 0; i < width * stack->height; i++) {
        const uint16_t value = form->values[*voxel_at(stack, i % width, i / width, t)];
        uint8_t *const pixel = pixels + offset + i / width * stride + (size_t)(i % width) * pixel_size;
        memcpy(pixel, pixel_size == 2 ? (const void *)&value : &(uint8_t){ (uint8_t)value }, pixel_size);
    }
    if (there != pixels)
        device_upload(there, pixels, size);
    const CclStatus status = ccl_volume_add(context, &(CclMask){ .data = there + offset,
                                                                 .stride = stride,
                                                                 .width = width,
                                                                 .height = stack->height,
                                                                 .pixel_size = pixel_size,
                                                                 .memory = memory });
    if (there != pixels)
        device_free(there);
    free(pixels);
    return status;
}

static CclStatus add_frames(CclContext *context, const Stack *stack, const Form *form, CclMemory memory)
{
    CclStatus status = CCL_OK;
    for (uint32_t t = 0; t < stack->n_frames && status == CCL_OK; t++)
        status = add_frame(context, stack, form, t, memory);
    return status;
}

static bool look_up_agrees(CclContext *context, const Stack *stack, const Expected *expected)
{
    const uint32_t n = (uint32_t)n_voxels(stack), width = stack->image.width;
    CclVoxel *const voxels = must_alloc(n * sizeof *voxels);
    uint32_t *const labels = must_alloc(n * sizeof *labels);
    for (uint32_t i = 0; i < n; i++)
        voxels[i] = (CclVoxel){ .x = (uint16_t)(i % width),
                                .y = (uint16_t)(i / width % stack->height),
                                .frame = (uint16_t)(i / width / stack->height) };
    const bool same =
        ccl_volume_look_up(context, voxels, n, labels) == CCL_OK && !memcmp(labels, expected->labels, n * sizeof *labels);
    free(voxels);
    free(labels);
    return same;
}

/* From host memory and, on CUDA, from device memory. */
static bool judge_in(CclContext *context, const Stack *stack, const Form *form, const Expected *expected)
{
    const uint32_t width = stack->image.width, size = width * stack->height;
    uint32_t *const got = must_alloc(n_voxels(stack) * sizeof *got);
    CclLabels *const labels = must_alloc(stack->n_frames * sizeof *labels);
    const bool cuda = ccl_context_algorithm(context)->backend == CCL_BACKEND_CUDA;
    bool same = true;
    for (uint32_t t = 0; t < stack->n_frames; t++)
        labels[t] = (CclLabels){ .data = got + (size_t)t * size, .stride = (size_t)width * 4 };
    for (unsigned i = 0; i < (cuda ? 2 : 1) && same; i++) {
        CclVolumeTable table;
        memset(got, 0xff, n_voxels(stack) * sizeof *got);
        same = add_frames(context, stack, form, i ? CCL_MEMORY_DEVICE : CCL_MEMORY_HOST) == CCL_OK &&
               ccl_volume_label(context, labels, &table) == CCL_OK && same_table(expected, form, &table) &&
               !memcmp(got, expected->labels, n_voxels(stack) * sizeof *got) && look_up_agrees(context, stack, expected);
    }
    free(labels);
    free(got);
    return same;
}

static bool judge_on(const Subject *subject, const Stack *stack, const Form *form, unsigned background, const Expected *expected)
{
    CclConfig config = subject->config;
    CclContext *context;

    config.foreground = CCL_FOREGROUND_EQUAL;
    config.background_value = background == NO_BACKGROUND ? form->other : form->values[background];
    config.max_width = stack->image.width + stack->n_frames; /* a context may be for larger ones */
    config.max_height = stack->height;
    config.volume = stack->n_frames;
    config.max_components = expected->max_rows;
    config.labels = true;
    if (ccl_context_new(&config, &context) != CCL_OK)
        return false;
    const bool same = judge_in(context, stack, form, expected);
    ccl_context_free(context);
    return same;
}

/* Each subject has other forms in turn. Some tables are too small. */
static void judge_stack_map(Session *session, const Stack *stack, unsigned background, const char *name)
{
    static unsigned turn;
    if (session->max_pixels && n_voxels(stack) > session->max_pixels)
        return;
    for (unsigned connectivity = 4; connectivity <= 8; connectivity += 4) {
        Expected expected = expect_stack(stack, background, connectivity == 8);
        expected.max_rows = turn % 5 == 4 ? 2 : smaller((uint32_t)n_voxels(stack), CCL_MAX_COMPONENTS);
        for (unsigned s = 0; s < session->n_volumes; s++) {
            Subject *const subject = &session->volumes[s];
            const Form *const form = &forms[(turn + s) % N_FORMS];
            if (subject->config.connectivity != connectivity || !subject->map_features || subject->muted ||
                (subject->every > 1 && subject->turn++ % subject->every))
                continue;
            const bool right = check(session, judge_on(subject, stack, form, background, &expected),
                                     "%s: volume of label maps \"%s\" %ux%ux%u of %s, background %u", subject->name, name,
                                     stack->image.width, stack->height, stack->n_frames, form->name, background);
            subject->passed += right;
            subject->failed += !right;
            subject->muted = !right;
        }
        free(expected.rows);
        free(expected.labels);
    }
    turn++;
}

/* Every volume of a size, of two values and background: many side by side in a stack, at all places of a tile. */
static void judge_small_stacks(Session *session, uint32_t width, uint32_t height, uint32_t n_frames, uint32_t step)
{
    enum { ACROSS = 27, DOWN = 9, AT_ONCE = ACROSS * DOWN };
    const uint32_t n = width * height * n_frames;
    uint32_t n_all = 1, part = 0;
    for (uint32_t i = 0; i < n; i++)
        n_all *= 3;
    for (uint32_t first = 0; first < n_all; first += AT_ONCE * step, part++) {
        Stack stack = stack_new(ACROSS * (width + 1) + part % 32, DOWN * (height + 1) + part % 3, n_frames + part % 5);
        for (uint32_t i = 0; i < AT_ONCE; i++) {
            const uint32_t x0 = i % ACROSS * (width + 1) + part % 32, y0 = i / ACROSS * (height + 1) + part % 3;
            uint32_t left = first + i;
            for (uint32_t k = 0; k < n; k++, left /= 3)
                *voxel_at(&stack, x0 + k % width, y0 + k / width % height, part % 5 + k / width / height) = left % 3;
        }
        judge_stack_map(session, &stack, 0, "all of a size");
        image_free(&stack.image);
    }
}

static void judge_random(Session *session, uint32_t width, uint32_t height, uint32_t n_frames, uint32_t grain)
{
    Random *const random = &session->random;
    Stack stack = stack_new(width, height, n_frames);
    const uint32_t n_values = 2 + random_below(random, MAX_VALUES - 1);
    for (size_t k = 0; k < n_voxels(&stack); k++)
        stack.image.pixels[k] = k % grain ? stack.image.pixels[k - 1] : (uint8_t)random_below(random, n_values);
    judge_stack_map(session, &stack, random_below(random, MAX_VALUES + 1), "noise");
    for (size_t k = 0; k < n_voxels(&stack); k++)
        stack.image.pixels[k] = (uint8_t)((k + k / width) % n_values);
    judge_stack_map(session, &stack, 0, "checkerboard");
    image_free(&stack.image);
}

void check_volume_maps(Session *session)
{
    Random *const random = &session->random;
    judge_small_stacks(session, 2, 2, 2, session->quick ? 9 : 1);
    judge_small_stacks(session, 3, 1, 2, 1);
    judge_small_stacks(session, 3, 2, 1, 1);
    judge_small_stacks(session, 3, 2, 2, session->quick ? 701 : 11);
    for (unsigned i = 0; i < (session->quick ? 60 : 500); i++) {
        const uint32_t width = 1 + random_below(random, i % 7 ? 12 : 90), height = 1 + random_below(random, 8);
        judge_random(session, width, height, 1 + random_below(random, 6), 1 + i % 3);
    }
    for (unsigned i = 0; i < 2 && !session->quick; i++) /* more than one upload for each map */
        judge_random(session, 1600, 351, 1, 5);
}
