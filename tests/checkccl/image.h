/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Test images, mostly binary, and the random numbers they are made from. */
#ifndef CHECKCCL_IMAGE_H
#define CHECKCCL_IMAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

static inline uint32_t smaller(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

/* A small, fast generator (splitmix64); the state is the seed. */
typedef struct Random {
    uint64_t state;
} Random;

uint64_t random_next(Random *random);
/* Uniform in 0..n-1. */
uint32_t random_below(Random *random, uint32_t n);
/* True with this probability, given in percent. */
bool random_chance(Random *random, double percent);

/* MT19937 of Matsumoto and Nishimura, as std::mt19937 in C++: for images that were published as made with it. */
typedef struct Twister {
    uint32_t words[624];
    unsigned next;
} Twister;

void twister_seed(Twister *twister, uint32_t seed);
uint32_t twister_next(Twister *twister);

/* width x height bytes, 0 or 1, row after row without padding. Owned: image_free(). */
typedef struct Image {
    uint32_t width, height;
    uint8_t *pixels;
} Image;

/* All zero. Ends the program when there is no memory, as everything here does. */
Image image_new(uint32_t width, uint32_t height);
Image image_copy(const Image *image);
void image_free(Image *image);

static inline uint8_t *image_at(const Image *image, uint32_t x, uint32_t y)
{
    return &image->pixels[(size_t)y * image->width + x];
}

Image image_flip_x(const Image *image);
Image image_flip_y(const Image *image);
Image image_transpose(const Image *image);
/* The part of size width x height that begins at (x, y). */
Image image_crop(const Image *image, uint32_t x, uint32_t y, uint32_t width, uint32_t height);

/* granularity x granularity blocks, each set with this density (percent). */
Image image_noise(uint32_t width, uint32_t height, double density, uint32_t granularity, Random *random);

/* Boxes in boxes, `depth` deep where they fit, with values from 0 to n_values - 1: each differs from the box around it. */
Image image_nested(uint32_t width, uint32_t height, uint32_t n_values, unsigned depth, Random *random);

/* The pixels of a small image from the low bits of a number, bit 0 first. */
void image_set_bits(Image *image, uint64_t bits);

/* Reads a PBM or PGM file (P1, P2, P4, P5); every value but white in PBM and but 0 in PGM is set. False, with a
 * sentence in `why`, when it cannot. */
bool image_load(const char *path, Image *image, char why[256]);
/* Writes it as PGM (P5), 0 and 255. False when it cannot. */
bool image_save(const Image *image, const char *path);
/* Calls `use` for every .pgm and .pbm file of a directory, by name; returns how many there are. An image that cannot be
 * read comes as NULL with the reason; the others belong to `use`. */
unsigned image_load_all(const char *directory, void (*use)(void *data, const char *name, Image *image, const char *why),
                        void *data);

#endif
