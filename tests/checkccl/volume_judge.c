/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "volume.h"

#include "device.h"
#include "union_find.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

Stack stack_new(uint32_t width, uint32_t height, uint32_t n_frames)
{
    return (Stack){ image_new(width, height * n_frames), height, n_frames };
}

size_t n_voxels(const Stack *stack)
{
    return (size_t)stack->image.width * stack->image.height;
}

uint8_t *voxel_at(const Stack *stack, uint32_t x, uint32_t y, uint32_t t)
{
    return image_at(&stack->image, x, t * stack->height + y);
}

void result_free(Result *result)
{
    free(result->rows);
    free(result->labels);
}

void *must_alloc(size_t n)
{
    void *const memory = calloc(n ? n : 1, 1);
    if (!memory) {
        fprintf(stderr, "checkccl: no memory for a volume\n");
        exit(2);
    }
    return memory;
}

/* ---------------------------------------------------------------- expected results */

/* With the half of its neighbours that comes later. */
static void unite_voxel(const Stack *stack, bool all_26, uint32_t x, uint32_t y, uint32_t t, uint32_t *parent)
{
    const int64_t width = stack->image.width, height = stack->height, frames = stack->n_frames;
    for (int i = 14; i < 27; i++) {
        const int dx = i % 3 - 1, dy = i / 3 % 3 - 1, dt = i / 9 - 1;
        const int64_t nx = x + dx, ny = y + dy, nt = t + dt;
        if ((!all_26 && abs(dx) + abs(dy) + abs(dt) != 1) || nx < 0 || ny < 0 || nx >= width || ny >= height ||
            nt >= frames)
            continue;
        if (*voxel_at(stack, (uint32_t)nx, (uint32_t)ny, (uint32_t)nt))
            unite(parent, (uint32_t)((t * height + y) * width + x), (uint32_t)((nt * height + ny) * width + nx));
    }
}

static void extend_row(CclVolumeComponent *row, const Stack *stack, uint32_t x, uint32_t y, uint32_t t)
{
    if (!row->voxels++) {
        row->x0 = row->first_x = (uint16_t)x;
        row->y0 = row->first_y = (uint16_t)y;
        row->frame0 = (uint16_t)t;
    }
#define AT_MOST(member, value) row->member = row->member < (value) ? row->member : (uint16_t)(value)
#define AT_LEAST(member, value) row->member = row->member > (value) ? row->member : (uint16_t)(value)
    AT_MOST(x0, x);
    AT_MOST(y0, y);
    AT_LEAST(x1, x + 1);
    AT_LEAST(y1, y + 1);
    AT_LEAST(frame1, t + 1);
    row->flags |= (x == 0 ? CCL_TOUCHES_LEFT : 0) | (y == 0 ? CCL_TOUCHES_TOP : 0) |
                  (x + 1 == stack->image.width ? CCL_TOUCHES_RIGHT : 0) |
                  (y + 1 == stack->height ? CCL_TOUCHES_BOTTOM : 0);
}

Result expected_result(const Stack *stack, bool all_26)
{
    const uint32_t n = (uint32_t)n_voxels(stack), width = stack->image.width;
    uint32_t *const parent = must_alloc(n * sizeof *parent);
    Result result = { .labels = must_alloc(n * sizeof *parent) };

    for (uint32_t i = 0; i < n; i++)
        parent[i] = i;
    for (uint32_t i = 0; i < n; i++)
        if (stack->image.pixels[i])
            unite_voxel(stack, all_26, i % width, i / width % stack->height, i / width / stack->height, parent);
    for (uint32_t i = 0; i < n; i++) /* a root is the first voxel of its component */
        if (stack->image.pixels[i])
            result.labels[i] = parent[i] == i ? ++result.n_found : result.labels[find(parent, i)];
    result.n_rows = result.n_found;
    result.rows = must_alloc(result.n_rows * sizeof *result.rows);
    for (uint32_t i = 0; i < n; i++)
        if (result.labels[i]) {
            CclVolumeComponent *const row = &result.rows[result.labels[i] - 1];
            row->label = result.labels[i];
            extend_row(row, stack, i % width, i / width % stack->height, i / width / stack->height);
        }
    free(parent);
    return result;
}

/* ---------------------------------------------------------------- methods' results */

/* Where the labels of a volume go: every frame with a margin of a few labels to its right, that must stay. */
typedef struct Images {
    CclLabels *frames;
    uint32_t *memory, *shadow; /* memory may be the device's */
    size_t size;
    uint32_t row;              /* labels from row to row */
} Images;

enum { MARGIN = 3 };
static const uint32_t GUARD = 0xa5a5a5a5;

static Images images_new(const Stack *stack, bool on_device)
{
    Images images = { .row = stack->image.width + MARGIN };
    images.size = (size_t)images.row * stack->image.height * sizeof(uint32_t);
    images.shadow = must_alloc(images.size);
    for (size_t i = 0; i < images.size / sizeof(uint32_t); i++)
        images.shadow[i] = GUARD;
    images.memory = on_device ? device_alloc(images.size) : images.shadow;
    if (on_device)
        device_upload(images.memory, images.shadow, images.size);
    images.frames = must_alloc(stack->n_frames * sizeof *images.frames);
    for (uint32_t t = 0; t < stack->n_frames; t++)
        images.frames[t] = (CclLabels){ .data = images.memory + (size_t)t * stack->height * images.row,
                                        .stride = images.row * sizeof(uint32_t),
                                        .memory = on_device ? CCL_MEMORY_DEVICE : CCL_MEMORY_HOST };
    return images;
}

/* Into tight labels; false when a margin was written. Frees everything. */
static bool images_take(Images *images, const Stack *stack, uint32_t *labels)
{
    const uint32_t width = stack->image.width;
    bool untouched = true;
    if (images->memory != images->shadow) {
        device_download(images->shadow, images->memory, images->size);
        device_free(images->memory);
    }
    for (uint32_t y = 0; y < stack->image.height; y++) {
        const uint32_t *const row = images->shadow + (size_t)y * images->row;
        memcpy(labels + (size_t)y * width, row, width * sizeof *labels);
        for (uint32_t i = 0; i < MARGIN; i++)
            untouched &= row[width + i] == GUARD;
    }
    free(images->shadow);
    free(images->frames);
    return untouched;
}

static bool add_masks(Subject *subject, const Stack *stack, const Layout *layout, uint32_t n, char why[400])
{
    for (uint32_t t = 0; t < n; t++) {
        Image frame = image_crop(&stack->image, 0, t * stack->height, stack->image.width, stack->height);
        Case c = case_new(&frame, PRODUCT_TABLE, "frame %u", t);
        CclMask mask;
        CclLabels none;
        c.layout = *layout;
        layout_prepare(0, &c, subject->config.backend, &mask, &none);
        const CclStatus status = ccl_volume_add(subject->context, &mask);
        image_free(&frame);
        if (status != CCL_OK) {
            snprintf(why, 400, "ccl_volume_add: %s", ccl_error_message());
            return false;
        }
    }
    return true;
}

/* Looks up every voxel, some at a time, and compares with the label images. */
static bool looks_up(Subject *subject, const Stack *stack, const Result *got, char why[400])
{
    enum { MOST = 1000 };
    CclVoxel voxels[MOST];
    uint32_t labels[MOST], n = 0;
    for (size_t i = 0; i < n_voxels(stack); i++) {
        const uint32_t x = (uint32_t)(i % stack->image.width), row = (uint32_t)(i / stack->image.width);
        voxels[n++] = (CclVoxel){ (uint16_t)x, (uint16_t)(row % stack->height), (uint16_t)(row / stack->height) };
        if (n < MOST && i + 1 < n_voxels(stack))
            continue;
        if (ccl_volume_look_up(subject->context, voxels, n, labels) != CCL_OK) {
            snprintf(why, 400, "ccl_volume_look_up: %s", ccl_error_message());
            return false;
        }
        if (memcmp(labels, got->labels + (i + 1 - n), n * sizeof *labels)) {
            snprintf(why, 400, "looking up gives other labels than the images");
            return false;
        }
        n = 0;
    }
    return true;
}

/* The context is kept while it fits: most volumes find one that has seen others. */
static bool open_for(Subject *subject, const Stack *stack, uint32_t rows, char why[400])
{
    CclConfig wanted = subject->config;
    wanted.max_width = stack->image.width;
    wanted.max_height = stack->height;
    wanted.volume = stack->n_frames;
    wanted.max_components = rows ? rows : 1;
    const CclConfig *const made = &subject->made;
    if (subject->context && wanted.max_width <= made->max_width && wanted.max_height <= made->max_height &&
        wanted.volume <= made->volume && wanted.max_components == made->max_components)
        return true;
    subject_close(subject);
    if (ccl_context_new(&wanted, &subject->context) != CCL_OK) {
        snprintf(why, 400, "ccl_context_new: %s", ccl_error_message());
        return false;
    }
    subject->made = wanted;
    return true;
}

/* `rows`: the table's size; false with a sentence in `why` when a call failed or memory was touched. */
static bool actual_result(Subject *subject, const Stack *stack, const Layout *layout, uint32_t rows, Result *result,
                          char why[400])
{
    const bool on_device = subject->config.backend == CCL_BACKEND_CUDA && layout->labels_memory == CCL_MEMORY_DEVICE;
    CclVolumeTable table;

    *result = (Result){ .labels = must_alloc(n_voxels(stack) * sizeof(uint32_t)) };
    if (!open_for(subject, stack, rows, why) || !add_masks(subject, stack, layout, stack->n_frames, why))
        return false;
    Images images = images_new(stack, on_device);
    const CclStatus status = ccl_volume_label(subject->context, images.frames, &table);
    if (!images_take(&images, stack, result->labels)) {
        snprintf(why, 400, "labels were written past the end of a row");
        return false;
    }
    if (status != CCL_OK) {
        snprintf(why, 400, "ccl_volume_label: %s", ccl_error_message());
        return false;
    }
    result->n_found = table.n_found;
    result->n_rows = table.n_components;
    result->rows = must_alloc(table.n_components * sizeof *result->rows);
    memcpy(result->rows, table.components, table.n_components * sizeof *result->rows);
    if (table.width != stack->image.width || table.height != stack->height || table.n_frames != stack->n_frames ||
        !(table.flags & CCL_TABLE_TRUNCATED) != (table.n_found == table.n_components)) {
        snprintf(why, 400, "the table says %ux%u, %u frames, flags %u", table.width, table.height, table.n_frames,
                 table.flags);
        return false;
    }
    return looks_up(subject, stack, result, why);
}

/* Where they differ, in `why`. The expected rows are all, those of `got` the first. */
bool same_result(const Stack *stack, const Result *expected, const Result *got, char why[400])
{
    const uint32_t width = stack->image.width;
    if (got->n_found != expected->n_found) {
        snprintf(why, 400, "%u components, not %u", got->n_found, expected->n_found);
        return false;
    }
    for (uint32_t i = 0; i < n_voxels(stack); i++)
        if (got->labels[i] != expected->labels[i]) {
            snprintf(why, 400, "voxel (%u,%u) of frame %u has label %u, not %u", i % width, i / width % stack->height,
                     i / width / stack->height, got->labels[i], expected->labels[i]);
            return false;
        }
    for (uint32_t i = 0; i < got->n_rows; i++) {
        const CclVolumeComponent *const a = &got->rows[i], *const b = &expected->rows[i];
        if (memcmp(a, b, sizeof *a)) {
            snprintf(why, 400,
                     "row %u: label %u, %llu voxels, box [%u,%u)x[%u,%u), frames [%u,%u), first (%u,%u), flags %u; not "
                     "label %u, %llu voxels, box [%u,%u)x[%u,%u), frames [%u,%u), first (%u,%u), flags %u", i, a->label,
                     (unsigned long long)a->voxels, a->x0, a->x1, a->y0, a->y1, a->frame0, a->frame1, a->first_x,
                     a->first_y, a->flags, b->label, (unsigned long long)b->voxels, b->x0, b->x1, b->y0, b->y1,
                     b->frame0, b->frame1, b->first_x, b->first_y, b->flags);
            return false;
        }
    }
    return true;
}

/* ---------------------------------------------------------------- judging */

static void show(const Stack *stack)
{
    if (n_voxels(stack) > 200)
        return;
    for (uint32_t y = 0; y < stack->height; y++) {
        printf("    ");
        for (uint32_t t = 0; t < stack->n_frames; t++, printf("  "))
            for (uint32_t x = 0; x < stack->image.width; x++)
                printf("%c ", *voxel_at(stack, x, y, t) ? '#' : '.');
        printf("\n");
    }
}

/* `rows` 0: a table that holds all. */
void judge_stack(Session *session, const Stack *stack, const Layout *layout, uint32_t rows, const char *name)
{
    if (session->max_pixels && n_voxels(stack) > session->max_pixels)
        return;
    for (int connectivity = 4; connectivity <= 8; connectivity += 4) {
        Result expected = expected_result(stack, connectivity == 8);
        for (unsigned s = 0; s < session->n_volumes; s++) {
            Subject *const subject = &session->volumes[s];
            Result got = { 0 };
            char why[400] = "";
            if (subject->muted || (int)subject->config.connectivity != connectivity ||
                (subject->every > 1 && subject->turn++ % subject->every))
                continue;
            /* As many rows as a context of this size may need: it is kept for the next volumes. */
            const uint32_t max_rows = rows ? rows : CCL_MAX_COMPONENTS;
            const bool right = actual_result(subject, stack, layout, max_rows, &got, why) &&
                               same_result(stack, &expected, &got, why) && got.n_rows == smaller(max_rows, got.n_found);
            subject->passed += right;
            subject->failed += !right;
            subject->muted = !right;
            if (!check(session, right, "%s: \"%s\" of %u frames of %ux%u, %s: %s", subject->name, name, stack->n_frames,
                       stack->image.width, stack->height, layout->name, why) && !session->quiet)
                show(stack);
            result_free(&got);
        }
        result_free(&expected);
    }
}

bool volumes_active(const Session *session)
{
    bool active = false;
    for (unsigned s = 0; s < session->n_volumes; s++)
        active |= !session->volumes[s].muted;
    return active;
}
