/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */
#include "patterns.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define UNUSED (void)x, (void)y, (void)width, (void)height

/* Distance to the nearest side: 0 on the border. */
static uint32_t depth_of(uint32_t x, uint32_t y, uint32_t width, uint32_t height)
{
    return smaller(smaller(x, width - 1 - x), smaller(y, height - 1 - y));
}

#define PATTERN(name, expression)                                                   \
    static bool name(uint32_t x, uint32_t y, uint32_t width, uint32_t height)       \
    {                                                                               \
        UNUSED;                                                                     \
        return (expression);                                                        \
    }

PATTERN(empty, false)
PATTERN(full, true)
PATTERN(all_but_centre, x != width / 2 || y != height / 2)
PATTERN(all_but_last, x != width - 1 || y != height - 1)
PATTERN(checkerboard, (x + y) % 2 == 0)
PATTERN(checkerboard_odd, (x + y) % 2 == 1)
PATTERN(checkerboard_2x2, (x / 2 + y / 2) % 2 == 0)
PATTERN(dots, x % 2 == 0 && y % 2 == 0)
PATTERN(dots_odd, x % 2 == 1 && y % 2 == 1)
PATTERN(dots_3, x % 3 == 0 && y % 3 == 0)
PATTERN(holes, x % 2 == 0 || y % 2 == 0)
PATTERN(diagonal_down, x == y)
PATTERN(diagonal_up, x + y == width - 1)
PATTERN(diagonals_down, (x + 4096 * 4 - y % (4096 * 4)) % 4 == 0)
PATTERN(diagonals_up, (x + y) % 3 == 0)
PATTERN(cross, x == y || x + y == width - 1)
PATTERN(stripes_across, y % 2 == 0)
PATTERN(stripes_down, x % 2 == 0)
PATTERN(stripes_wide, y % 8 < 5)
PATTERN(stripes_dashed, y % 2 == 0 && x % 9 != 8)
PATTERN(comb_up, x % 2 == 0 || y == height - 1)
PATTERN(comb_down, x % 2 == 0 || y == 0)
PATTERN(comb_left, y % 2 == 0 || x == width - 1)
PATTERN(comb_right, y % 2 == 0 || x == 0)
/* Teeth from above and from below that never touch, and the same that meet in one row only. */
PATTERN(combs_interlocked, x % 4 == 0   ? y != height - 1
                           : x % 4 == 2 ? y != 0
                                        : x % 2 == 1 && (y == 0 || y == height - 1))
PATTERN(comb_of_combs, x % 2 == 0 || (y % 16 == 15 && x / 2 % 2 == y / 16 % 2) || y == height - 1)
PATTERN(serpentine, y % 2 == 0 || x == (y % 4 == 1 ? width - 1 : 0))
PATTERN(serpentine_down, x % 2 == 0 || y == (x % 4 == 1 ? height - 1 : 0))
PATTERN(staircase, x / 3 == y || x / 3 == y + 1)
PATTERN(stairs_down, (x / 2 + 16384 - y % 16384) % 3 == 0)
PATTERN(zigzag, x % 16 < 8 ? y % 8 == x % 8 : y % 8 == 7 - x % 8)
PATTERN(chevrons, (x % 32 < 16 ? x : 31 - x % 32) % 4 == y % 4)
PATTERN(border, depth_of(x, y, width, height) == 0)
PATTERN(border_gap, depth_of(x, y, width, height) == 1)
PATTERN(corners, (x == 0 || x == width - 1) && (y == 0 || y == height - 1))
PATTERN(rings, depth_of(x, y, width, height) % 2 == 0)
PATTERN(rings_wide, depth_of(x, y, width, height) % 6 < 3)
PATTERN(diamonds, (abs((int)x - (int)width / 2) + abs((int)y - (int)height / 2)) % 4 == 0)
PATTERN(frames, depth_of(x % 9, y % 9, 8, 8) % 2 == 0 && x % 9 != 8 && y % 9 != 8)
PATTERN(bricks, y % 4 != 3 && (x + (y / 4 % 2) * 5) % 10 != 9)
PATTERN(crosses, (x % 5 == 2 && y % 5 != 4) || (y % 5 == 2 && x % 5 != 4))
PATTERN(w_shapes, x % 8 == 0 || (x % 8 == 4 && y % 8 > 3) || y % 8 == 7)
PATTERN(u_turns, (x % 4 != 3 && y % 4 == 3) || x % 4 == 0 || x % 4 == 2)
PATTERN(pyramid, abs((int)x - (int)width / 2) <= (int)y)
PATTERN(funnel, abs((int)x - (int)width / 2) >= (int)y)
PATTERN(left_half, x < width / 2)
PATTERN(bottom_half, y >= height / 2)

/* One line from the top left corner to the middle: rings, each opened at one pixel and tied to the next one there. */
PATTERN(spiral, (depth_of(x, y, width, height) % 2 == 0) !=
                    (x == depth_of(x, y, width, height) && y == x + 1 && x + 1 < (width + 1) / 2))
/* The same, wound the other way and from below. */
PATTERN(spiral_back, spiral(width - 1 - x, height - 1 - y, width, height))

const Pattern patterns[] = {
    { "empty", empty },
    { "full", full },
    { "all_but_centre", all_but_centre },
    { "all_but_last", all_but_last },
    { "checkerboard", checkerboard },
    { "checkerboard_odd", checkerboard_odd },
    { "checkerboard_2x2", checkerboard_2x2 },
    { "dots", dots },
    { "dots_odd", dots_odd },
    { "dots_3", dots_3 },
    { "holes", holes },
    { "diagonal_down", diagonal_down },
    { "diagonal_up", diagonal_up },
    { "diagonals_down", diagonals_down },
    { "diagonals_up", diagonals_up },
    { "cross", cross },
    { "stripes_across", stripes_across },
    { "stripes_down", stripes_down },
    { "stripes_wide", stripes_wide },
    { "stripes_dashed", stripes_dashed },
    { "comb_up", comb_up },
    { "comb_down", comb_down },
    { "comb_left", comb_left },
    { "comb_right", comb_right },
    { "combs_interlocked", combs_interlocked },
    { "comb_of_combs", comb_of_combs },
    { "serpentine", serpentine },
    { "serpentine_down", serpentine_down },
    { "staircase", staircase },
    { "stairs_down", stairs_down },
    { "zigzag", zigzag },
    { "chevrons", chevrons },
    { "border", border },
    { "border_gap", border_gap },
    { "corners", corners },
    { "rings", rings },
    { "rings_wide", rings_wide },
    { "diamonds", diamonds },
    { "frames", frames },
    { "bricks", bricks },
    { "crosses", crosses },
    { "w_shapes", w_shapes },
    { "u_turns", u_turns },
    { "pyramid", pyramid },
    { "funnel", funnel },
    { "left_half", left_half },
    { "bottom_half", bottom_half },
    { "spiral", spiral },
    { "spiral_back", spiral_back },
    { NULL, NULL },
};

Image pattern_draw(const Pattern *pattern, uint32_t width, uint32_t height)
{
    Image image = image_new(width, height);
    for (uint32_t y = 0; y < height; y++)
        for (uint32_t x = 0; x < width; x++)
            *image_at(&image, x, y) = pattern->set(x, y, width, height);
    return image;
}

Image pattern_named(const char *name, uint32_t width, uint32_t height)
{
    for (const Pattern *p = patterns; p->name; p++)
        if (!strcmp(p->name, name))
            return pattern_draw(p, width, height);
    fprintf(stderr, "checkccl: there is no pattern \"%s\"\n", name);
    exit(2);
}

Image pattern_word_edges(uint32_t word, bool rest)
{
    Image image = image_new(2 * word + word / 2 + 1, 512);
    for (uint32_t y = 0; y < image.height; y++) {
        const uint32_t value = y % 2 ? y / 2 % 16 : y / 32;
        for (uint32_t x = 0; x < image.width; x++) {
            const uint32_t place = (x + 2) % word;
            *image_at(&image, x, y) = place < 4 ? value >> place & 1 : rest;
        }
    }
    return image;
}

Image pattern_mosaic(uint32_t width, uint32_t height)
{
    const uint32_t bits = width * height, across = 1u << bits / 2, down = 1u << (bits - bits / 2);
    Image image = image_new(across * (width + 1) - 1, down * (height + 1) - 1);
    for (uint32_t value = 0; value < across * down; value++)
        for (uint32_t i = 0; i < bits; i++)
            *image_at(&image, value % across * (width + 1) + i % width, value / across * (height + 1) + i / width) =
                value >> i & 1;
    return image;
}

Image pattern_ridge(unsigned level, uint32_t unit)
{
    if (level == 1) { /* too small for a crest */
        Image image = image_new(2 * unit, 2 * unit);
        memset(image.pixels, 1, 4 * (size_t)unit * unit);
        return image;
    }
    const uint32_t last_peak = 1u << (level - 2), crest_width = (3 * last_peak + 1) * unit, crest_height = level;
    const uint32_t base_height = crest_width - crest_height, base_width = crest_width + base_height - 1;
    Image image = image_new(base_width, crest_height + base_height);
    for (uint32_t i = 0; i <= last_peak; i++) {
        uint32_t height = 1;
        for (uint32_t power = 1; power <= last_peak; power *= 2)
            height += i % power == 0;
        for (uint32_t y = crest_height - height; y < crest_height; y++)
            memset(image_at(&image, 3 * unit * i, y), 1, unit);
    }
    for (uint32_t y = 0; y < base_height; y++)
        memset(image_at(&image, 0, crest_height + y), 1, crest_width + y);
    return image;
}

unsigned ridge_order(uint32_t width, uint32_t height)
{
    unsigned n = 0;
    while (2u << n <= smaller(width, height))
        n++;
    return n;
}

static void draw_at(Image *image, const Image *part, uint32_t x, uint32_t y)
{
    for (uint32_t row = 0; row < part->height; row++)
        memcpy(image_at(image, x, y + row), image_at(part, 0, row), part->width);
}

/* The last row of a pattern begins at the left edge of its cell, and so does its highest peak: lines from there reach
 * the last row of the next one to the right, and the peak of the next one below. */
bool pattern_ridges(Image *image, const Ridges *ridges, Random *random)
{
    const unsigned level = ridges->level, splits = ridges->splits;
    const unsigned order = ridge_order(image->width, image->height);
    if (level < 1 || level > 12 || level + splits >= order)
        return false;
    const uint32_t across = 1u << splits, cell = 1u << (order - splits);
    Image ridge = pattern_ridge(level, 1u << (order - splits - level - 1));
    for (uint32_t i = 0; i < across * across; i++) {
        const uint32_t x = i % across * cell, y = i / across * cell, last = y + ridge.height - 1;
        if (random_chance(random, ridges->present))
            draw_at(image, &ridge, x, y);
        if (x + cell < across * cell && random_chance(random, ridges->merged))
            memset(image_at(image, x, last), 1, cell);
        if (y + cell < across * cell && random_chance(random, ridges->merged))
            for (uint32_t below = last; below < y + cell; below++)
                *image_at(image, x, below) = 1;
    }
    image_free(&ridge);
    return true;
}
