/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Volumes of label maps on every method. The expected result is made from binary volumes, one for each value. */
#include "volume.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_VALUES = 6 };

typedef struct Row {
    CclVolumeComponent component;
    uint16_t class_id;
    uint32_t of_value; /* its label among the components of this value */
} Row;

typedef struct Expected {
    Row *rows;
    uint32_t n;
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

/* The pixels of the stack are values. */
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

static bool same_table(const Expected *expected, const CclVolumeTable *table)
{
    bool same = table->n_found == expected->n && table->n_components == expected->n && table->class_ids;
    for (uint32_t i = 0; i < expected->n && same; i++)
        same = !memcmp(&table->components[i], &expected->rows[i].component, sizeof *table->components) &&
               table->class_ids[i] == expected->rows[i].class_id;
    return same;
}

static CclStatus add_frames(CclContext *context, const Stack *stack, unsigned pixel_size)
{
    const uint32_t width = stack->image.width;
    uint8_t *const pixels = must_alloc((size_t)width * stack->height * pixel_size);
    CclStatus status = CCL_OK;
    for (uint32_t t = 0; t < stack->n_frames && status == CCL_OK; t++) {
        for (uint32_t i = 0; i < width * stack->height; i++) {
            const uint16_t value = *voxel_at(stack, i % width, i / width, t);
            memcpy(pixels + (size_t)i * pixel_size, pixel_size == 2 ? (const void *)&value : &(uint8_t){ (uint8_t)value },
                   pixel_size);
        }
        status = ccl_volume_add(context, &(CclMask){ .data = pixels,
                                                     .stride = (size_t)width * pixel_size,
                                                     .width = width,
                                                     .height = stack->height,
                                                     .pixel_size = pixel_size });
    }
    free(pixels);
    return status;
}

static bool look_up_agrees(CclContext *context, const Stack *stack, const Expected *expected)
{
    bool same = true;
    for (uint32_t i = 0; i < n_voxels(stack) && same; i++) {
        const CclVoxel voxel = { .x = (uint16_t)(i % stack->image.width),
                                 .y = (uint16_t)(i / stack->image.width % stack->height),
                                 .frame = (uint16_t)(i / stack->image.width / stack->height) };
        uint32_t label;
        same = ccl_volume_look_up(context, &voxel, 1, &label) == CCL_OK && label == expected->labels[i];
    }
    return same;
}

static bool judge_on(const Subject *subject, const Stack *stack, unsigned background, const Expected *expected)
{
    const uint32_t width = stack->image.width, size = width * stack->height;
    CclConfig config = subject->config;
    CclContext *context;
    bool same = true;

    config.foreground = CCL_FOREGROUND_EQUAL;
    config.background_value = background;
    config.max_width = width;
    config.max_height = stack->height;
    config.volume = stack->n_frames;
    config.max_components = (uint32_t)n_voxels(stack);
    config.labels = true;
    if (ccl_context_new(&config, &context) != CCL_OK)
        return false;
    uint32_t *const got = must_alloc(n_voxels(stack) * sizeof *got);
    CclLabels *const labels = must_alloc(stack->n_frames * sizeof *labels);
    for (uint32_t t = 0; t < stack->n_frames; t++)
        labels[t] = (CclLabels){ .data = got + (size_t)t * size, .stride = (size_t)width * 4 };
    for (unsigned pixel_size = 1; pixel_size <= 2 && same; pixel_size++) {
        CclVolumeTable table;
        same = add_frames(context, stack, pixel_size) == CCL_OK && ccl_volume_label(context, labels, &table) == CCL_OK &&
               same_table(expected, &table) && !memcmp(got, expected->labels, n_voxels(stack) * sizeof *got) &&
               look_up_agrees(context, stack, expected);
    }
    free(labels);
    free(got);
    ccl_context_free(context);
    return same;
}

static void judge_stack_map(Session *session, const Stack *stack, unsigned background, const char *name)
{
    for (unsigned connectivity = 4; connectivity <= 8; connectivity += 4) {
        Expected expected = expect_stack(stack, background, connectivity == 8);
        for (unsigned s = 0; s < session->n_volumes; s++) {
            Subject *const subject = &session->volumes[s];
            if (subject->config.connectivity != connectivity || subject->config.backend != CCL_BACKEND_CPU || subject->muted)
                continue;
            subject->muted = !check(session, judge_on(subject, stack, background, &expected),
                                    "%s: volume of label maps \"%s\" %ux%ux%u, background %u", subject->name, name,
                                    stack->image.width, stack->height, stack->n_frames, background);
        }
        free(expected.rows);
        free(expected.labels);
    }
}

void check_volume_maps(Session *session)
{
    for (unsigned i = 0; i < (session->quick ? 60 : 1500); i++) {
        Random *const random = &session->random;
        Stack stack =
            stack_new(1 + random_below(random, i % 7 ? 12 : 90), 1 + random_below(random, 8), 1 + random_below(random, 6));
        const uint32_t n_values = 2 + random_below(random, MAX_VALUES - 1), grain = 1 + i % 3;
        for (size_t k = 0; k < n_voxels(&stack); k++)
            stack.image.pixels[k] = k % grain ? stack.image.pixels[k - 1] : (uint8_t)random_below(random, n_values);
        judge_stack_map(session, &stack, random_below(random, MAX_VALUES), "noise");
        for (size_t k = 0; k < n_voxels(&stack); k++)
            stack.image.pixels[k] = (uint8_t)((k + k / stack.image.width) % n_values);
        judge_stack_map(session, &stack, 0, "checkerboard");
        image_free(&stack.image);
    }
}
