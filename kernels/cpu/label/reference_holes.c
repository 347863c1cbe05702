/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "reference_holes.h"

#include <string.h>

size_t ccl_reference_holes_size(const CclConfig *config)
{
    const size_t width = config->max_width, height = config->max_height;
    return (2 * width * height + 1 + (width + 2) * (height + 2)) * sizeof(uint32_t) + (width + 2) * (height + 2);
}

CclReferenceHoles ccl_reference_holes_new(const CclConfig *config, void *memory)
{
    const size_t width = config->max_width, height = config->max_height;
    CclReferenceHoles holes = { .eight = config->connectivity == CCL_CONNECT_4, .component = memory };
    holes.label = holes.component + width * height;
    holes.queue = holes.label + width * height + 1;
    holes.mark = (uint8_t *)(holes.queue + (width + 2) * (height + 2));
    return holes;
}

enum { MARK = 1, MARK_INSIDE = 2 };

/* Whether a flood goes there: in the background, or around the component of this number. */
static bool is_free(const CclReferenceHoles *holes, int64_t at, uint32_t number)
{
    return number ? holes->component[at] != number && !(holes->mark[at] & MARK_INSIDE) : !(holes->mark[at] & MARK);
}

/* Marks the free places around `start`; returns their number, and lists them in the queue. */
static uint32_t flood(const CclReferenceHoles *holes, uint32_t width, uint32_t height, uint32_t start, uint32_t number)
{
    const uint8_t mark = number ? MARK_INSIDE : MARK;
    uint32_t n = 0;
    holes->mark[start] |= mark;
    holes->queue[n++] = start;
    for (uint32_t i = 0; i < n; i++) {
        const int64_t x = holes->queue[i] % width, y = holes->queue[i] / width;
        for (int64_t dy = -1; dy <= 1; dy++)
            for (int64_t dx = -1; dx <= 1; dx++) {
                const int64_t at = (y + dy) * width + x + dx;
                if ((dx && dy && !holes->eight) || x + dx < 0 || y + dy < 0 || x + dx >= width || y + dy >= height ||
                    !is_free(holes, at, number))
                    continue;
                holes->mark[at] |= mark;
                holes->queue[n++] = (uint32_t)at;
            }
    }
    return n;
}

/* A component's box with a border of one pixel. */
typedef struct Box {
    uint32_t width, height, n;
} Box;

static Box box_of(const CclComponent *c)
{
    const uint32_t width = c->x1 - c->x0 + 2u, height = c->y1 - c->y0 + 2u;
    return (Box){ width, height, width * height };
}

/* Marks the pixels of the component in its box, and the outside. Returns the number of places of the outside. */
static uint32_t mark_outside(const CclReferenceHoles *holes, const CclComponent *c, uint32_t number, uint32_t width)
{
    const Box box = box_of(c);
    memset(holes->mark, 0, box.n);
    for (uint32_t y = c->y0; y < c->y1; y++)
        for (uint32_t x = c->x0; x < c->x1; x++)
            holes->mark[(y - c->y0 + 1) * box.width + x - c->x0 + 1] = holes->component[(size_t)y * width + x] == number;
    return flood(holes, box.width, box.height, 0, 0);
}

CclHoleCounts ccl_reference_count_holes(const CclReferenceHoles *holes, const CclComponent *c, uint32_t number, uint32_t width)
{
    const Box box = box_of(c);
    CclHoleCounts counts = { .area_filled = box.n - mark_outside(holes, c, number, width) };
    for (uint32_t i = 0; i < box.n; i++)
        if (!holes->mark[i]) {
            flood(holes, box.width, box.height, i, 0);
            counts.n_holes++;
        }
    return counts;
}

/* The box of what a flood has listed. */
static void measure(const CclReferenceHoles *holes, CclHole *hole, uint32_t width)
{
    hole->x0 = hole->y0 = UINT16_MAX;
    hole->first_x = (uint16_t)(holes->queue[0] % width);
    for (uint32_t i = 0; i < hole->area; i++) {
        const uint16_t x = (uint16_t)(holes->queue[i] % width), y = (uint16_t)(holes->queue[i] / width);
        hole->x0 = x < hole->x0 ? x : hole->x0;
        hole->y0 = y < hole->y0 ? y : hole->y0;
        hole->x1 = x >= hole->x1 ? x + 1 : hole->x1;
        hole->y1 = y >= hole->y1 ? y + 1 : hole->y1;
    }
}

/* The area inside a component around a pixel: everything there but the component. */
static uint32_t fill_inside(const CclReferenceHoles *holes, const CclFrame *frame, uint32_t first, uint32_t number)
{
    const uint32_t n = flood(holes, frame->mask.width, frame->mask.height, first, number);
    for (uint32_t i = 0; i < n; i++)
        holes->mark[holes->queue[i]] &= (uint8_t)~MARK_INSIDE;
    return n;
}

static void write_row(CclFrame *frame, const CclHole *hole)
{
    frame->hole_rows[frame->holes[hole->parent - 1].first++] = *hole;
}

/* In raster order of first pixels. */
static void write_rows(const CclReferenceHoles *holes, CclFrame *frame, uint32_t capacity)
{
    const uint32_t width = frame->mask.width, height = frame->mask.height;
    for (uint32_t i = 0; i < width * height; i++)
        holes->mark[i] = holes->component[i] ? MARK : 0;
    for (uint32_t i = 0; i < width * height; i++) {
        if (holes->mark[i] & MARK)
            continue;
        CclHole hole = { .area = flood(holes, width, height, i, 0) };
        measure(holes, &hole, width);
        if (hole.x0 == 0 || hole.y0 == 0 || hole.x1 == width || hole.y1 == height)
            continue;
        const uint32_t around = holes->component[i - 1];
        hole.parent = holes->label[around];
        if (!hole.parent || hole.parent > capacity)
            continue;
        hole.area_filled = fill_inside(holes, frame, i, around);
        write_row(frame, &hole);
    }
}

/* Of a component of a label map, in raster order of first pixels: what a flood lists are places of the component's box. */
static void write_rows_of(const CclReferenceHoles *holes, CclFrame *frame, const CclComponent *c, uint32_t number)
{
    const uint32_t width = frame->mask.width;
    const Box box = box_of(c);
    mark_outside(holes, c, number, width);
    for (uint32_t i = 0; i < box.n; i++) {
        if (holes->mark[i])
            continue;
        CclHole hole = { .parent = c->label, .area = flood(holes, box.width, box.height, i, 0) };
        const uint32_t n = hole.area;
        for (uint32_t k = 0; k < n; k++) {
            const uint32_t x = c->x0 + holes->queue[k] % box.width - 1, y = c->y0 + holes->queue[k] / box.width - 1;
            holes->queue[k] = y * width + x;
        }
        measure(holes, &hole, width);
        hole.area_filled = n;
        for (uint32_t k = 0; k < n; k++)
            hole.area -= holes->component[holes->queue[k]] != 0;
        write_row(frame, &hole);
    }
}

static void write_map_rows(const CclReferenceHoles *holes, CclFrame *frame, uint32_t capacity)
{
    for (uint32_t number = 1; number <= frame->table.n_found; number++)
        if (holes->label[number] && holes->label[number] <= capacity)
            write_rows_of(holes, frame, &frame->records[holes->label[number] - 1], number);
}

void ccl_reference_write_holes(const CclReferenceHoles *holes, CclFrame *frame, uint32_t capacity)
{
    const uint32_t n = frame->table.n_kept < capacity ? frame->table.n_kept : capacity;
    for (uint32_t i = 0; i < n; i++) {
        frame->holes[i].first = frame->table.n_hole_rows;
        frame->table.n_hole_rows += frame->holes[i].n_holes;
    }
    if (frame->class_ids)
        write_map_rows(holes, frame, capacity);
    else
        write_rows(holes, frame, capacity);
    for (uint32_t i = 0; i < n; i++)
        frame->holes[i].first -= frame->holes[i].n_holes;
}
