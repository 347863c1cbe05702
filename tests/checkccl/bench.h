/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* checkccl --bench: right first, then timed. */
#ifndef CHECKCCL_BENCH_H
#define CHECKCCL_BENCH_H

#include "checkccl.h"

typedef struct BenchOptions {
    const char *kinds;   /* names or their beginnings, with commas; NULL: all */
    const char *products, *measures; /* names or beginnings; NULL: all */
    const char *sizes;   /* 720p, 1080p, 4K, 8K, all, WxH, with commas; NULL: 1080p */
    const char *images;  /* directory with masks of the user, instead of kinds */
    const char *write;   /* directory for the images, which are not timed then */
    unsigned n_frames;   /* different frames of a kind; 0: 16 on the CPU, 4 on a GPU */
    CclFilter filter;    /* of every frame: min_area */
    unsigned n_rounds;   /* measurements of each figure; 0: 11 */
    double slow_s;       /* a method that takes longer for a frame is not timed: iterative ones may take a million
                            iterations for a spiral */
    bool json, steps;
    uint64_t seed;
    Subject *volumes;    /* methods for volumes: the frames of a kind are one */
    unsigned n_volumes;
} BenchOptions;

/* Times these subjects. False when one was wrong: then it was not timed. */
bool bench_run(const BenchOptions *options, Subject *subjects, unsigned n_subjects);

/* ---------------------------------------------------------------- bench_images.c */

typedef struct Kind {
    char name[48];
    Image (*draw)(const struct Kind *kind, uint32_t width, uint32_t height, Random *random);
    const char *pattern;  /* of patterns.h */
    double percent;       /* of salt */
    uint32_t n_blobs;
    bool median;
    double numbers[3];    /* those in the name */
} Kind;

/* The kinds in the list: those of the table that it names, by themselves or by their beginning up to an underscore, and
 * those that are made from their name. NULL: the whole table. Ends the program when there is no such kind. Owned:
 * free(). */
Kind *kinds_named(const char *list, unsigned *n);

/* Is it named in the list, by itself or by its beginning up to an underscore? NULL names all. */
bool kind_wanted(const char *list, const char *name);

#endif
