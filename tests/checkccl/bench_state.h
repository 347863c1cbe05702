/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* The state of the benchmark, and functions that its files share. */
#ifndef CHECKCCL_BENCH_STATE_H
#define CHECKCCL_BENCH_STATE_H

#include "../support/clock.h"
#include "bench.h"

enum { MAX_ROUNDS = 101, MAX_FRAMES = 64, N_PRODUCTS = 3 };

extern const char *const product_names[N_PRODUCTS]; /* by Product */
extern const Product products[N_PRODUCTS];          /* in the order of the output */

typedef struct Bench {
    const BenchOptions *options;
    Subject *subjects;
    unsigned n_subjects, n_rounds;
    /* The current images: */
    char kind[80];
    Image frames[MAX_FRAMES];
    unsigned n_frames;
    uint32_t width, height;
    uint32_t n_components[2];   /* of the first frame, 4- and 8-connected */
    bool checked[2];
    double foreground;          /* percent of the first frame */
    double null_us[2];          /* of CUDA, cold, without and with label image */
    bool all_right;
} Bench;

/* What a figure is of. */
typedef struct Series {
    const char *method;    /* "cpu runs 8 avx2" */
    unsigned connectivity; /* 0: of none */
    const char *product, *measure;
} Series;

/* One figure of the output: its samples, one a round. */
typedef struct Figure {
    double samples[MAX_ROUNDS];
    unsigned n;
} Figure;

/* ---------------------------------------------------------------- bench_figures.c */

double now_us(void); /* wall clock */
/* End the program on failure. */
void *must_have(void *memory);
void must(CclStatus status);

void add_sample(Figure *figure, double us);
/* Sorts the samples. */
double percentile(Figure *figure, double percent);

bool product_wanted(const Bench *bench, Product product);

/* Prints median and percentiles, if there is a sample. times: of null, or 0 where this is not defined. */
void print_figure(const Bench *bench, Series series, Figure *figure, double times);
Series series_of(const Subject *subject, Product product, const char *measure);
void print_count(const Bench *bench, const Subject *subject, Product product, const char *measure, const char *unit,
                 double count);
/* The memory of a context that has analysed frames. */
void print_memory(const Bench *bench, const Subject *subject, Product product, const CclContext *context);

CclContext *open_context(const Bench *bench, const Subject *subject, unsigned depth, bool labels, bool timing);
CclMask mask_at(const Bench *bench, const void *data, CclMemory memory);
size_t mask_size(const Bench *bench);

/* ---------------------------------------------------------------- the parts of the benchmark */

/* bench_check.c: compares every method with the reference on every frame. Mutes methods that are wrong or slow. */
void check_subjects(Bench *bench, Subject *subjects, unsigned n);
/* bench_cpu.c */
void bench_cpu(Bench *bench, Subject *subjects, unsigned n);
/* bench_cuda.c */
void bench_cuda(Bench *bench, Subject *subjects, unsigned n);
/* bench_steps.c: the time of each step of a method. */
void bench_steps(Bench *bench, const Subject *subject, Product product);
/* bench_volumes.c: all frames as one volume. */
void bench_volumes(Bench *bench);

/* ---------------------------------------------------------------- CUDA, bench_streams.c */

enum { MAX_MASKS = 512 };

/* Masks in one kind of memory. On the device the frames are copied until they exceed the cache. */
typedef struct Masks {
    CclMemory memory;
    void *data[MAX_MASKS];
    unsigned n;
} Masks;

typedef struct CudaBuffers {
    Masks device, host, pinned;
    void *labels[CCL_MAX_DEPTH]; /* device */
} CudaBuffers;

/* Number of frames for a measurement of about 8 ms; at least 20, or as many as 100 ms allow. */
unsigned frames_for(double us);

/* Many contexts that share the device, for 1 to 64 streams. */
void bench_streams(Bench *bench, const Subject *subject, Product product, const CudaBuffers *buffers);

#endif
