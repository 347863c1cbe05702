/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* The command line of checkccl. */
#ifndef CHECKCCL_OPTIONS_H
#define CHECKCCL_OPTIONS_H

#include "bench.h"

typedef struct Options {
    const char *backend;   /* "cpu", "cuda"; NULL: both */
    const char *algorithm; /* names with commas; NULL: all */
    const char *suite;     /* names with commas; NULL: all */
    const char *images;
    unsigned connectivity; /* 0: both */
    unsigned every;        /* 0 and 1: every case */
    bool shared;           /* only contexts that share the device */
    uint64_t max_pixels;   /* 0: no limit */
    const char *tiers;     /* of SIMD, for the benchmark */
    const char *threads;   /* for the benchmark */
    const char *features;  /* for the benchmark: names with commas */
    uint64_t seed;
    bool list, quick, huge, verbose, self_test, bench;
    BenchOptions bench_options;
} Options;

/* Ends the program when an argument is wrong, or for --help. is_suite: whether the text up to the next comma names a suite. */
Options options_parse(int argc, char **argv, bool (*is_suite)(const char *text));

/* Whether the list, names with commas, has this name. */
bool named_in(const char *list, const char *name);

#endif
