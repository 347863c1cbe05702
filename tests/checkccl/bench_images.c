/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* What is timed: masks as video segmentation gives them, noise, and the images that are hard for one method or another.
 */
#include "bench.h"
#include "patterns.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---------------------------------------------------------------- video-like masks */

static double random_between(Random *random, double low, double high)
{
    return low + (high - low) * ((double)(random_next(random) >> 11) / 9007199254740992.0);
}

static void set_clipped(Image *image, double x, double y)
{
    if (x >= 0 && y >= 0 && x < image->width && y < image->height)
        *image_at(image, (uint32_t)x, (uint32_t)y) = 1;
}

/* All pixels whose distance to the ellipse's centre, in its own axes, is below 1. */
static void draw_ellipse(Image *image, double cx, double cy, double a, double b, double angle)
{
    const double c = cos(angle), s = sin(angle), reach = fmax(a, b);
    for (double y = floor(cy - reach); y <= cy + reach; y++)
        for (double x = floor(cx - reach); x <= cx + reach; x++) {
            const double u = ((x - cx) * c + (y - cy) * s) / a, v = ((y - cy) * c - (x - cx) * s) / b;
            if (u * u + v * v < 1)
                set_clipped(image, x, y);
        }
}

static void draw_limb(Image *image, double x, double y, double length, double width, double angle)
{
    for (double along = 0; along < length; along += 0.5)
        for (double across = -width / 2; across < width / 2; across += 0.5)
            set_clipped(image, x + along * cos(angle) - across * sin(angle),
                        y + along * sin(angle) + across * cos(angle));
}

/* A body of some 4 % of the image's height, and what sticks out of it. */
static void draw_blob(Image *image, Random *random)
{
    const double cx = random_between(random, 0, image->width), cy = random_between(random, 0, image->height);
    const double a = image->height * random_between(random, 0.008, 0.026), b = a * random_between(random, 1, 2.2);
    draw_ellipse(image, cx, cy, fmax(a, 1), fmax(b, 1), random_between(random, 0, 3.1416));
    for (uint32_t i = random_below(random, 4); i > 0; i--)
        draw_limb(image, cx, cy, b * random_between(random, 1, 1.8), fmax(a / 3, 1), random_between(random, 0, 6.2832));
}

/* A coin is flipped for each pixel that has one of the other kind above, below, left or right. */
static void make_ragged(Image *image, Random *random)
{
    Image before = image_copy(image);
    for (uint32_t y = 1; y + 1 < image->height; y++)
        for (uint32_t x = 1; x + 1 < image->width; x++) {
            const uint8_t *const p = image_at(&before, x, y);
            const unsigned sum = p[0] + p[-1] + p[1] + p[-(ptrdiff_t)image->width] + p[image->width];
            if (sum % 5)
                *image_at(image, x, y) = random_next(random) & 1;
        }
    image_free(&before);
}

static void make_pinholes(Image *image, double percent, Random *random)
{
    for (size_t i = 0; i < (size_t)image->width * image->height; i++)
        if (image->pixels[i] && random_chance(random, percent))
            image->pixels[i] = 0;
}

static void add_salt(Image *image, double percent, bool flip, Random *random)
{
    const double n = (double)image->width * image->height * percent / 100;
    for (double i = 0; i < n; i++) {
        uint8_t *const p = image_at(image, random_below(random, image->width), random_below(random, image->height));
        *p = flip ? !*p : 1;
    }
}

/* Median of 5 x 5: set where at least 13 are. Beyond the edge nothing is. */
static Image median_filtered(const Image *image)
{
    Image out = image_new(image->width, image->height), sums = image_new(image->width, image->height);
    for (uint32_t y = 0; y < image->height; y++)
        for (uint32_t x = 0; x < image->width; x++)
            for (uint32_t i = x < 2 ? 0 : x - 2; i <= x + 2 && i < image->width; i++)
                *image_at(&sums, x, y) += *image_at(image, i, y);
    for (uint32_t y = 0; y < image->height; y++)
        for (uint32_t x = 0; x < image->width; x++) {
            unsigned sum = 0;
            for (uint32_t i = y < 2 ? 0 : y - 2; i <= y + 2 && i < image->height; i++)
                sum += *image_at(&sums, x, i);
            *image_at(&out, x, y) = sum >= 13;
        }
    image_free(&sums);
    return out;
}

static Image draw_video(const Kind *kind, uint32_t width, uint32_t height, Random *random)
{
    Image image = image_new(width, height);
    for (uint32_t i = 0; i < kind->n_blobs; i++)
        draw_blob(&image, random);
    make_ragged(&image, random);
    make_pinholes(&image, 1, random);
    add_salt(&image, kind->percent, false, random);
    if (kind->median) {
        Image filtered = median_filtered(&image);
        image_free(&image);
        return filtered;
    }
    return image;
}

/* ---------------------------------------------------------------- the others */

static Image draw_noise(const Kind *kind, uint32_t width, uint32_t height, Random *random)
{
    return image_noise(width, height, kind->numbers[1], (uint32_t)kind->numbers[0], random);
}

/* The same with the generator of published images of noise. */
static Image draw_twisted_noise(const Kind *kind, uint32_t width, uint32_t height, Random *random)
{
    const uint32_t g = (uint32_t)kind->numbers[0];
    Image image = image_new(width, height);
    Twister twister;
    twister_seed(&twister, (uint32_t)random_next(random));
    for (uint32_t y = 0; y < height; y++)
        for (uint32_t x = 0; x < width; x++)
            *image_at(&image, x, y) = y % g   ? *image_at(&image, x, y - 1)
                                      : x % g ? *image_at(&image, x - 1, y)
                                              : twister_next(&twister) < kind->numbers[1] / 100 * 4294967296.0;
    return image;
}

/* ---------------------------------------------------------------- ridge patterns */

/* Level and number of splits of a kind; a number that is too large stays so. */
static unsigned ridge_number(double number)
{
    return (unsigned)fmin(number, 99);
}

static Image draw_ridges(const Kind *kind, uint32_t width, uint32_t height, Ridges ridges, Random *random)
{
    Image image = image_new(width, height);
    if (ridges.splits > 12 || !pattern_ridges(&image, &ridges, random)) {
        fprintf(stderr, "checkccl: %s does not fit into %ux%u pixels: level and subdivisions must be less than %u\n",
                kind->name, width, height, ridge_order(width, height));
        exit(2);
    }
    return image;
}

static Image draw_leveling(const Kind *kind, uint32_t width, uint32_t height, Random *random)
{
    return draw_ridges(kind, width, height, (Ridges){ ridge_number(kind->numbers[0]), 0, 100, 0 }, random);
}

/* The published family scales the image; here the crest keeps its height, so that the level remains what it is. */
static Image draw_scaling(const Kind *kind, uint32_t width, uint32_t height, Random *random)
{
    const unsigned level = ridge_number(kind->numbers[0]);
    Image image = draw_ridges(kind, width, height, (Ridges){ level, 0, 0, 0 }, random);
    const uint32_t largest = 1u << (ridge_order(width, height) - level - 1);
    const uint32_t unit = (uint32_t)(largest * fmin(kind->numbers[1], 100) / 100 + .5);
    if (unit) {
        Image ridge = pattern_ridge(level, unit);
        for (uint32_t y = 0; y < ridge.height; y++)
            memcpy(image_at(&image, 0, y), image_at(&ridge, 0, y), ridge.width);
        image_free(&ridge);
    }
    return image;
}

static Image draw_subdivision(const Kind *kind, uint32_t width, uint32_t height, Random *random)
{
    const Ridges ridges = { ridge_number(kind->numbers[0]), ridge_number(kind->numbers[1]), 100, 0 };
    return draw_ridges(kind, width, height, ridges, random);
}

static Image draw_instancing(const Kind *kind, uint32_t width, uint32_t height, Random *random)
{
    const Ridges ridges = { ridge_number(kind->numbers[0]), ridge_number(kind->numbers[1]), kind->numbers[2], 0 };
    return draw_ridges(kind, width, height, ridges, random);
}

static Image draw_merging(const Kind *kind, uint32_t width, uint32_t height, Random *random)
{
    const Ridges ridges = { ridge_number(kind->numbers[0]), ridge_number(kind->numbers[1]), 100, kind->numbers[2] };
    return draw_ridges(kind, width, height, ridges, random);
}

/* A spiral in the given percentage of the image's width and height. */
static Image draw_spiral(const Kind *kind, uint32_t width, uint32_t height, Random *random)
{
    const double part = fmin(kind->numbers[0], 100) / 100;
    Image image = image_new(width, height);
    (void)random;
    if (width * part >= 1 && height * part >= 1) {
        Image spiral = pattern_named("spiral", (uint32_t)(width * part), (uint32_t)(height * part));
        for (uint32_t y = 0; y < spiral.height; y++)
            memcpy(image_at(&image, 0, y), image_at(&spiral, 0, y), spiral.width);
        image_free(&spiral);
    }
    return image;
}

/* ---------------------------------------------------------------- patterns */

/* Different frames of a pattern are its mirror images. */
static Image draw_pattern(const Kind *kind, uint32_t width, uint32_t height, Random *random)
{
    Image image = pattern_named(kind->pattern, width, height);
    const uint64_t flips = random_next(random);
    for (unsigned i = 0; i < 2; i++)
        if (flips >> i & 1) {
            Image flipped = i ? image_flip_y(&image) : image_flip_x(&image);
            image_free(&image);
            image = flipped;
        }
    add_salt(&image, kind->percent, true, random);
    return image;
}

/* ---------------------------------------------------------------- kinds */

#define VIDEO(name, n, salt, median) { name, draw_video, NULL, salt, n, median, { 0 } }
#define NOISE(g, d) { "noise_g" #g "_d" #d, draw_noise, NULL, 0, 0, false, { g, d } }
#define PATTERN(name, pattern, salt) { name, draw_pattern, pattern, salt, 0, false, { 0 } }
static const Kind kinds[] = {
    VIDEO("video_clean", 40, 0, false),
    VIDEO("video_salt0.05", 40, 0.05, false), /* "video-like" in the documents */
    VIDEO("video_salt0.2", 40, 0.2, false),
    VIDEO("video_salt1", 60, 1, false),
    VIDEO("video_median", 40, 0.05, true),
    NOISE(1, 10),
    NOISE(1, 30),
    NOISE(1, 41),
    NOISE(1, 50),
    NOISE(1, 59),
    NOISE(1, 70),
    NOISE(1, 90),
    NOISE(2, 10),
    NOISE(2, 30),
    NOISE(2, 41),
    NOISE(2, 50),
    NOISE(2, 59),
    NOISE(2, 70),
    NOISE(2, 90),
    NOISE(4, 10),
    NOISE(4, 30),
    NOISE(4, 41),
    NOISE(4, 50),
    NOISE(4, 59),
    NOISE(4, 70),
    NOISE(4, 90),
    NOISE(16, 10),
    NOISE(16, 30),
    NOISE(16, 41),
    NOISE(16, 50),
    NOISE(16, 59),
    NOISE(16, 70),
    NOISE(16, 90),
    PATTERN("empty", "empty", 0),
    PATTERN("white", "full", 0),
    PATTERN("checkerboard", "checkerboard", 0),
    PATTERN("comb", "comb_up", 0),
    PATTERN("comb_salt1", "comb_up", 1),
    PATTERN("spiral", "spiral", 0),
    PATTERN("dots", "dots", 0),
    PATTERN("diagonals", "diagonals_down", 0),
};
enum { N_KINDS = sizeof kinds / sizeof *kinds };

/* Kinds with numbers in their names; a letter may stand before each: mt_g1_d50, ridge_merging_l3_s5_p50. */
static const struct {
    const char *name;
    unsigned n_numbers;
    double minimum; /* of the first number */
    Image (*draw)(const Kind *kind, uint32_t width, uint32_t height, Random *random);
} families[] = {
    { "noise", 2, 1, draw_noise },
    { "mt", 2, 1, draw_twisted_noise },
    { "ridge_leveling", 1, 1, draw_leveling },
    { "ridge_scaling", 2, 1, draw_scaling },
    { "ridge_subdivision", 2, 1, draw_subdivision },
    { "ridge_instancing", 3, 1, draw_instancing },
    { "ridge_merging", 3, 1, draw_merging },
    { "spiral", 1, 0, draw_spiral },
};

/* "_g1_d50": the numbers of a name, and nothing else. */
static bool read_numbers(const char *text, unsigned n, double *numbers)
{
    for (unsigned i = 0; i < n; i++) {
        char *end;
        if (*text++ != '_')
            return false;
        text += *text >= 'a' && *text <= 'z';
        numbers[i] = strtod(text, &end);
        if (end == text || !(numbers[i] >= 0 && numbers[i] <= 1e5))
            return false;
        text = end;
    }
    return !*text;
}

static bool kind_from_name(const char *name, Kind *kind)
{
    for (unsigned i = 0; i < sizeof families / sizeof *families; i++) {
        const size_t n = strlen(families[i].name);
        *kind = (Kind){ .draw = families[i].draw };
        snprintf(kind->name, sizeof kind->name, "%s", name);
        if (!strncmp(name, families[i].name, n) && read_numbers(name + n, families[i].n_numbers, kind->numbers) &&
            kind->numbers[0] >= families[i].minimum)
            return true;
    }
    return false;
}

/* All that one item of the list names, appended. */
static void add_kinds(const char *item, Kind *named, unsigned *n)
{
    const unsigned before = *n;
    Kind made;
    for (unsigned i = 0; i < N_KINDS; i++)
        if (kind_wanted(item, kinds[i].name))
            named[(*n)++] = kinds[i];
    if (*n == before && item[0]) {
        if (!kind_from_name(item, &made)) {
            fprintf(stderr, "checkccl: there is no kind of image \"%s\"; docs/testing.md names them\n", item);
            exit(2);
        }
        named[(*n)++] = made;
    }
}

Kind *kinds_named(const char *list, unsigned *n)
{
    size_t n_items = 1;
    for (const char *c = list; c && *c; c++)
        n_items += *c == ',';
    Kind *const named = calloc(n_items * N_KINDS, sizeof *named);
    *n = 0;
    if (!named) {
        fprintf(stderr, "checkccl: no memory for %zu kinds of images\n", n_items);
        exit(2);
    }
    do {
        char item[48] = "";
        const size_t length = list ? strcspn(list, ",") : 0;
        snprintf(item, sizeof item, "%.*s", (int)length, list ? list : "");
        if (!list || item[0])
            add_kinds(item, named, n);
        list = list && list[length] ? list + length + 1 : NULL;
    } while (list);
    return named;
}

bool kind_wanted(const char *list, const char *name)
{
    while (list && *list) {
        const size_t n = strcspn(list, ",");
        if (n <= strlen(name) && !strncmp(list, name, n) && (name[n] == '\0' || name[n] == '_'))
            return true;
        list += n;
        list += *list == ',';
        if (!*list)
            return false;
    }
    return true;
}
