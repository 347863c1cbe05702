/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */
#include "image.h"

#include <ctype.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ccl.h"

uint64_t random_next(Random *random)
{
    uint64_t z = random->state += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

uint32_t random_below(Random *random, uint32_t n)
{
    return (uint32_t)(((random_next(random) >> 32) * n) >> 32);
}

bool random_chance(Random *random, double percent)
{
    return (double)(random_next(random) >> 11) < percent * (9007199254740992.0 / 100);
}

void twister_seed(Twister *twister, uint32_t seed)
{
    twister->words[0] = seed;
    for (uint32_t i = 1; i < 624; i++)
        twister->words[i] = 1812433253u * (twister->words[i - 1] ^ (twister->words[i - 1] >> 30)) + i;
    twister->next = 0;
}

uint32_t twister_next(Twister *twister)
{
    uint32_t *const words = twister->words, i = twister->next, after = (i + 1) % 624;
    const uint32_t joined = (words[i] & 0x80000000u) | (words[after] & 0x7fffffffu);
    uint32_t y = words[i] = words[(i + 397) % 624] ^ (joined >> 1) ^ (joined & 1 ? 0x9908b0dfu : 0);
    twister->next = after;
    y ^= y >> 11;
    y ^= (y << 7) & 0x9d2c5680u;
    y ^= (y << 15) & 0xefc60000u;
    return y ^ (y >> 18);
}

Image image_new(uint32_t width, uint32_t height)
{
    Image image = { .width = width, .height = height, .pixels = calloc((size_t)width * height + 1, 1) };
    if (!image.pixels) {
        fprintf(stderr, "checkccl: no memory for a %ux%u image\n", width, height);
        exit(2);
    }
    return image;
}

Image image_copy(const Image *image)
{
    return image_crop(image, 0, 0, image->width, image->height);
}

void image_free(Image *image)
{
    free(image->pixels);
    image->pixels = NULL;
}

Image image_flip_x(const Image *image)
{
    Image out = image_new(image->width, image->height);
    for (uint32_t y = 0; y < image->height; y++)
        for (uint32_t x = 0; x < image->width; x++)
            *image_at(&out, image->width - 1 - x, y) = *image_at(image, x, y);
    return out;
}

Image image_flip_y(const Image *image)
{
    Image out = image_new(image->width, image->height);
    for (uint32_t y = 0; y < image->height; y++)
        memcpy(image_at(&out, 0, image->height - 1 - y), image_at(image, 0, y), image->width);
    return out;
}

Image image_transpose(const Image *image)
{
    Image out = image_new(image->height, image->width);
    for (uint32_t y = 0; y < image->height; y++)
        for (uint32_t x = 0; x < image->width; x++)
            *image_at(&out, y, x) = *image_at(image, x, y);
    return out;
}

Image image_crop(const Image *image, uint32_t x, uint32_t y, uint32_t width, uint32_t height)
{
    Image out = image_new(width, height);
    for (uint32_t row = 0; row < height; row++)
        memcpy(image_at(&out, 0, row), image_at(image, x, y + row), width);
    return out;
}

Image image_noise(uint32_t width, uint32_t height, double density, uint32_t granularity, Random *random)
{
    Image out = image_new(width, height);
    for (uint32_t y = 0; y < height; y += granularity) {
        for (uint32_t x = 0; x < width; x += granularity) {
            const uint32_t n = granularity < width - x ? granularity : width - x;
            memset(image_at(&out, x, y), random_chance(random, density), n);
        }
        for (uint32_t below = y + 1; below < y + granularity && below < height; below++)
            memcpy(image_at(&out, 0, below), image_at(&out, 0, y), width);
    }
    return out;
}

/* [x0, x1) x [y0, y1) */
typedef struct Box {
    uint32_t x0, y0, x1, y1;
} Box;

/* Some part of [from, to). */
static void shrink(uint32_t *from, uint32_t *to, Random *random)
{
    const uint32_t length = *to - *from;
    *from += random_below(random, length);
    *to = *from + 1 + random_below(random, *to - *from);
}

/* Inside a box the first one leaves a frame. Others are anywhere. */
static void draw_nested(const Image *image, Box box, uint32_t n_values, unsigned depth, Random *random)
{
    const uint8_t value = *image_at(image, box.x0, box.y0);
    const uint32_t frame = 1 + random_below(random, 3), n_boxes = 1 + random_below(random, 3);
    for (uint32_t i = 0; i < n_boxes && depth && box.x1 - box.x0 > 2 * frame && box.y1 - box.y0 > 2 * frame; i++) {
        Box inner = { box.x0 + frame, box.y0 + frame, box.x1 - frame, box.y1 - frame };
        if (i) {
            shrink(&inner.x0, &inner.x1, random);
            shrink(&inner.y0, &inner.y1, random);
        }
        const uint8_t other = (uint8_t)((value + 1 + random_below(random, n_values - 1)) % n_values);
        for (uint32_t y = inner.y0; y < inner.y1; y++)
            memset(image_at(image, inner.x0, y), other, inner.x1 - inner.x0);
        draw_nested(image, inner, n_values, depth - 1, random);
        if (random_below(random, 2)) /* touches at a corner */
            *image_at(image, inner.x1 - 1, inner.y1 - 1) = value;
    }
}

Image image_nested(uint32_t width, uint32_t height, uint32_t n_values, unsigned depth, Random *random)
{
    Image out = image_new(width, height);
    memset(out.pixels, (int)random_below(random, n_values), (size_t)width * height);
    draw_nested(&out, (Box){ 0, 0, width, height }, n_values, depth, random);
    return out;
}

void image_set_bits(Image *image, uint64_t bits)
{
    for (size_t i = 0; i < (size_t)image->width * image->height; i++)
        image->pixels[i] = bits >> i & 1;
}

/* ---------------------------------------------------------------- files */

/* The next number of a header, past blanks and comments; -1 when there is none. The one blank after it is eaten. */
static long read_number(FILE *file)
{
    int c = getc(file);
    while (c == '#' || isspace(c)) {
        if (c == '#')
            while (c != '\n' && c != EOF)
                c = getc(file);
        c = getc(file);
    }
    if (!isdigit(c))
        return -1;
    long value = 0;
    for (; isdigit(c) && value < 1000000; c = getc(file))
        value = 10 * value + (c - '0');
    return value;
}

static bool read_text_pixels(FILE *file, Image *image, bool bitmap)
{
    for (size_t i = 0; i < (size_t)image->width * image->height; i++) {
        long value;
        if (bitmap) { /* digits need no blanks between them */
            int c = getc(file);
            while (isspace(c))
                c = getc(file);
            value = c == '0' || c == '1' ? c - '0' : -1;
        } else {
            value = read_number(file);
        }
        if (value < 0)
            return false;
        image->pixels[i] = value != 0;
    }
    return true;
}

static bool read_packed_pixels(FILE *file, Image *image)
{
    for (uint32_t y = 0; y < image->height; y++)
        for (uint32_t x = 0; x < image->width; x += 8) {
            const int c = getc(file);
            if (c == EOF)
                return false;
            for (uint32_t i = 0; i < 8 && x + i < image->width; i++)
                *image_at(image, x + i, y) = c >> (7 - i) & 1;
        }
    return true;
}

static bool read_byte_pixels(FILE *file, Image *image, long largest)
{
    for (size_t i = 0; i < (size_t)image->width * image->height; i++) {
        int c = getc(file);
        if (largest > 255 && c != EOF) {
            const int low = getc(file);
            c = low == EOF ? EOF : c | low;
        }
        if (c == EOF)
            return false;
        image->pixels[i] = c != 0;
    }
    return true;
}

bool image_load(const char *path, Image *image, char why[256])
{
    FILE *const file = fopen(path, "rb");
    if (!file) {
        snprintf(why, 256, "%.200s cannot be opened", path);
        return false;
    }
    const int p = getc(file), kind = getc(file);
    const bool bitmap = kind == '1' || kind == '4';
    const long width = read_number(file), height = read_number(file);
    const long largest = bitmap ? 1 : read_number(file);
    bool ok = false;

    if (p != 'P' || !(bitmap || kind == '2' || kind == '5') || largest < 1) {
        snprintf(why, 256, "%.200s is no PBM or PGM file", path);
    } else if (width < 1 || height < 1 || width > (long)CCL_MAX_SIZE || height > (long)CCL_MAX_SIZE) {
        snprintf(why, 256, "%.180s: size %ldx%ld is outside 1x1 to %ux%u", path, width, height, CCL_MAX_SIZE,
                 CCL_MAX_SIZE);
    } else {
        *image = image_new((uint32_t)width, (uint32_t)height);
        ok = kind == '4'   ? read_packed_pixels(file, image)
             : kind == '5' ? read_byte_pixels(file, image, largest)
                           : read_text_pixels(file, image, bitmap);
        if (!ok) {
            snprintf(why, 256, "%.200s ends too early", path);
            image_free(image);
        }
    }
    fclose(file);
    return ok;
}

bool image_save(const Image *image, const char *path)
{
    FILE *const file = fopen(path, "wb");
    if (!file)
        return false;
    fprintf(file, "P5\n%u %u\n255\n", image->width, image->height);
    for (size_t i = 0; i < (size_t)image->width * image->height; i++)
        putc(image->pixels[i] ? 255 : 0, file);
    const bool written = !ferror(file);
    return !fclose(file) && written;
}

static int is_picture(const struct dirent *entry)
{
    const char *const dot = strrchr(entry->d_name, '.');
    return dot && (!strcmp(dot, ".pgm") || !strcmp(dot, ".pbm"));
}

unsigned image_load_all(const char *directory, void (*use)(void *data, const char *name, Image *image, const char *why),
                        void *data)
{
    struct dirent **entries = NULL;
    const int n = scandir(directory, &entries, is_picture, alphasort);
    for (int i = 0; i < n; i++) {
        char path[1024], why[256];
        Image image;
        snprintf(path, sizeof path, "%s/%s", directory, entries[i]->d_name);
        const bool loaded = image_load(path, &image, why);
        use(data, entries[i]->d_name, loaded ? &image : NULL, why);
        free(entries[i]);
    }
    free(entries);
    return n > 0 ? (unsigned)n : 0;
}
