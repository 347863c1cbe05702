/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "bench_state.h"
#include "device.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>

unsigned frames_for(double us)
{
    const double n = 8000 / (us > 1 ? us : 1), min = fmin(20, 100e3 / us);
    return n > 1500 ? 1500 : (unsigned)fmax(fmax(n, min), 1);
}

enum { STREAM_DEPTH = 2, MAX_STREAMS = 64 };
static const unsigned stream_counts[] = { 1, 4, 8, 16, 64 };

/* A thread with a context, as in an element. */
typedef struct BenchStream {
    pthread_t thread;
    pthread_barrier_t *start; /* of all threads, and the clock */
    const Bench *bench;
    CclContext *context;
    const Masks *masks;
    unsigned first, n; /* mask, frames */
    void *labels[STREAM_DEPTH];
    double sum_of_batches;
} BenchStream;

/* The stream's i-th turn: it collects the frame of STREAM_DEPTH turns before, and submits one. */
static void take_turn(BenchStream *stream, unsigned i)
{
    CclTable table;
    if (i == 0)
        stream->sum_of_batches = 0;
    if (i >= STREAM_DEPTH) {
        must(ccl_collect(stream->context, &table));
        stream->sum_of_batches += table.batch_size;
    }
    if (i >= stream->n)
        return;
    void *const labels = stream->labels[i % STREAM_DEPTH];
    const CclMask mask = mask_at(stream->bench, stream->masks->data[(stream->first + i) % stream->masks->n],
                                 stream->masks->memory);
    const CclLabels image = { .data = labels, .stride = (size_t)mask.width * 4, .memory = CCL_MEMORY_DEVICE };
    must(ccl_submit(stream->context, &mask, &stream->bench->options->filter, labels ? &image : NULL));
}

static void *run_stream(void *data)
{
    BenchStream *const stream = data;
    pthread_barrier_wait(stream->start);
    for (unsigned i = 0; i < stream->n + STREAM_DEPTH; i++)
        take_turn(stream, i);
    return NULL;
}

/* Wall clock microseconds per frame of all streams, each in its own thread or all in this one, in turn. `batch` receives the
 * mean number of frames launched together. */
static double time_streams(BenchStream *streams, unsigned n_streams, unsigned n_each, bool threads, double *batch)
{
    pthread_barrier_t all;
    double sum = 0;
    pthread_barrier_init(&all, NULL, n_streams + 1);
    (void)mask_at(streams->bench, NULL, streams->masks->memory); /* makes the picture, which threads then only read */
    device_synchronize();
    for (unsigned i = 0; i < n_streams; i++) {
        streams[i].n = n_each;
        streams[i].start = &all;
        if (threads)
            pthread_create(&streams[i].thread, NULL, run_stream, &streams[i]);
    }
    const double start = now_us();
    if (threads)
        pthread_barrier_wait(&all);
    for (unsigned i = 0; !threads && i < n_each + STREAM_DEPTH; i++)
        for (unsigned s = 0; s < n_streams; s++)
            take_turn(&streams[s], i);
    for (unsigned i = 0; i < n_streams; i++) {
        if (threads)
            pthread_join(streams[i].thread, NULL);
        sum += streams[i].sum_of_batches;
    }
    const double us = now_us() - start;
    pthread_barrier_destroy(&all);
    *batch = sum / n_each / n_streams;
    return us / n_each / n_streams;
}

/* Where the masks are, and whether each stream has its own thread. */
typedef struct StreamKind {
    const char *name;
    CclMemory memory;
    unsigned n_packers; /* CclConfig.threads */
    bool threads;
} StreamKind;

static const StreamKind kinds[] = {
    { "device", CCL_MEMORY_DEVICE, 1, true },
    { "host", CCL_MEMORY_HOST, 1, true },
    { "packed", CCL_MEMORY_HOST, 2, true },
    { "one_thread", CCL_MEMORY_DEVICE, 1, false },
};

static void bench_stream_kind(const Bench *bench, const Subject *subject, Product product, BenchStream *streams,
                              unsigned n_streams, const StreamKind *kind)
{
    Figure figure = { .n = 0 };
    Subject shared = *subject;
    char name[40];
    double batch = 0;

    if (kind->threads ? n_streams == 8 : n_streams < 8) /* 8 in one thread are 16 frames in flight */
        return;
    snprintf(name, sizeof name, "streams_%u_%s", n_streams, kind->name);
    if (!kind_wanted(bench->options->measures, name))
        return;
    shared.config.shared = true;
    shared.config.threads = kind->n_packers;
    for (unsigned i = 0; i < n_streams; i++)
        streams[i].context = open_context(bench, &shared, STREAM_DEPTH, product == PRODUCT_LABELS, false);
    const unsigned n_each =
        frames_for(time_streams(streams, n_streams, 10, kind->threads, &batch)) / n_streams * 4 + 10;
    for (unsigned round = 0; round < bench->n_rounds; round++)
        add_sample(&figure, time_streams(streams, n_streams, n_each, kind->threads, &batch));
    for (unsigned i = 0; i < n_streams; i++)
        ccl_context_free(streams[i].context);
    print_figure(bench, series_of(subject, product, name), &figure, 0);
    if (!bench->options->json)
        printf("  %-28s %-13s in batches of %.1f\n", "", "", batch);
}

static void bench_stream_count(const Bench *bench, const Subject *subject, Product product, unsigned n_streams,
                               const CudaBuffers *buffers)
{
    const size_t labels_size = product == PRODUCT_LABELS ? 4 * mask_size(bench) : 0;
    BenchStream streams[MAX_STREAMS] = { { .n = 0 } };
    if (labels_size * n_streams * STREAM_DEPTH > 4ull << 30)
        return;
    for (unsigned i = 0; i < n_streams; i++) {
        streams[i].bench = bench;
        streams[i].first = i;
        for (unsigned k = 0; k < STREAM_DEPTH; k++)
            streams[i].labels[k] = labels_size ? device_alloc(labels_size) : NULL;
    }
    for (unsigned kind = 0; kind < sizeof kinds / sizeof *kinds; kind++) {
        for (unsigned i = 0; i < n_streams; i++)
            streams[i].masks = kinds[kind].memory == CCL_MEMORY_HOST ? &buffers->host : &buffers->device;
        bench_stream_kind(bench, subject, product, streams, n_streams, &kinds[kind]);
    }
    for (unsigned i = 0; i < n_streams; i++)
        for (unsigned k = 0; k < STREAM_DEPTH && labels_size; k++)
            device_free(streams[i].labels[k]);
}

void bench_streams(Bench *bench, const Subject *subject, Product product, const CudaBuffers *buffers)
{
    for (unsigned i = 0; i < sizeof stream_counts / sizeof *stream_counts; i++)
        bench_stream_count(bench, subject, product, stream_counts[i], buffers);
}
