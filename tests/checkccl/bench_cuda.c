/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "bench_state.h"
#include "device.h"

#include "backend.h"
#include "host/cpus.h"
#include "host/test_switches.h"

#include <stdlib.h>
#include <string.h>

enum { COLD_BYTES = 160 << 20 };

/* ---------------------------------------------------------------- masks and frames */

static Masks masks_new(const Bench *bench, CclMemory memory)
{
    const size_t size = mask_size(bench);
    Masks masks = { .memory = memory };
    const size_t wanted = memory == CCL_MEMORY_DEVICE ? COLD_BYTES / size + 1 : bench->n_frames;
    masks.n = wanted > MAX_MASKS ? MAX_MASKS : wanted < bench->n_frames ? bench->n_frames : (unsigned)wanted;
    for (unsigned i = 0; i < masks.n; i++) {
        const uint8_t *const pixels = bench->frames[i % bench->n_frames].pixels;
        if (memory == CCL_MEMORY_DEVICE) {
            masks.data[i] = device_alloc(size);
            device_upload(masks.data[i], pixels, size);
        } else {
            masks.data[i] = must_have(memory == CCL_MEMORY_PINNED ? ccl_pinned_alloc(size, 0) : malloc(size));
            memcpy(masks.data[i], pixels, size);
        }
    }
    return masks;
}

static void masks_free(Masks *masks)
{
    for (unsigned i = 0; i < masks->n; i++)
        if (masks->memory == CCL_MEMORY_DEVICE)
            device_free(masks->data[i]);
        else if (masks->memory == CCL_MEMORY_PINNED)
            ccl_pinned_free(masks->data[i]);
        else
            free(masks->data[i]);
}

typedef struct Times {
    double gpu_us, wall_us;
} Times;

static void submit_frame(const Bench *bench, CclContext *context, const Masks *masks, unsigned i, Product product,
                         void *const *labels)
{
    const CclMask mask = mask_at(bench, masks->data[i % masks->n], masks->memory);
    const CclLabels image = { .data = labels[i % CCL_MAX_DEPTH], .stride = (size_t)bench->width * 4,
                              .memory = CCL_MEMORY_DEVICE, .provisional = product == PRODUCT_PROVISIONAL };
    must(ccl_submit(context, &mask, &bench->options->filter, product == PRODUCT_TABLE ? NULL : &image));
}

/* `begin` comes before all that is submitted from now on. */
static void record_begin(const CclContext *context, void *begin)
{
    device_event_record(begin, ccl_context_stream(context, 0));
    for (unsigned i = 1; ccl_context_stream(context, i); i++)
        device_stream_wait(ccl_context_stream(context, i), begin);
}

/* `end` comes after all that has been submitted. */
static void record_end(const CclContext *context, void *end)
{
    for (unsigned i = 1; ccl_context_stream(context, i); i++) {
        device_event_record(end, ccl_context_stream(context, i));
        device_stream_wait(ccl_context_stream(context, 0), end);
    }
    device_event_record(end, ccl_context_stream(context, 0));
}

/* n frames back to back, CCL_MAX_DEPTH in flight. */
static Times time_stream(const Bench *bench, CclContext *context, const Masks *masks, Product product, void *const *labels,
                         unsigned n)
{
    void *const begin = device_event_new(), *const end = device_event_new();
    CclTable table;
    device_synchronize();
    const double start = now_us();
    record_begin(context, begin);
    for (unsigned i = 0; i < n; i++) {
        if (i >= CCL_MAX_DEPTH)
            must(ccl_collect(context, &table));
        submit_frame(bench, context, masks, i, product, labels);
    }
    record_end(context, end);
    for (unsigned i = 0; i < n && i < CCL_MAX_DEPTH; i++)
        must(ccl_collect(context, &table));
    const Times times = { .wall_us = (now_us() - start) / n, .gpu_us = device_event_us(begin, end) / n };
    device_event_free(begin);
    device_event_free(end);
    return times;
}

/* The median of some frames, one at a time. `rest`: NULL, or receives the median without the time of packing. */
static double time_latency(const Bench *bench, CclContext *context, const Masks *masks, Product product,
                           void *const *labels, Figure *rest)
{
    Figure figure = { .n = 0 }, rests = { .n = 0 };
    for (unsigned i = 0; i < 31; i++) {
        CclTable table;
        const double start = now_us();
        submit_frame(bench, context, masks, i, product, labels);
        must(ccl_collect(context, &table));
        const double us = now_us() - start;
        add_sample(&figure, us);
        add_sample(&rests, us - (double)table.pack_us);
    }
    if (rest)
        add_sample(rest, percentile(&rests, 50));
    return percentile(&figure, 50);
}

/* ---------------------------------------------------------------- one stream */

/* Contexts of a method. */
typedef enum ContextKind {
    USUAL,
    PLAIN,   /* one frame after the other, kernels launched one by one instead of by a graph */
    LANE,    /* one frame after the other */
    PACKING, /* masks in ordinary memory are packed by all CPUs */
    N_CONTEXTS,
} ContextKind;

typedef struct Measure {
    const char *name;   /* NULL: not printed */
    bool takes_bits;    /* only of methods that do */
} Measure;

/* One measurement of a round, with up to two figures: of a stream GPU and wall clock time, of a latency the latency and
 * the same without packing. */
typedef struct Run {
    Measure measures[2];
    ContextKind context;
    CclMemory memory; /* of the masks */
    bool latency;     /* one frame at a time; else a stream of frames */
    bool hot;         /* one mask over and over */
} Run;

static const Run runs[] = {
    { { { "gpu_hot", false } }, USUAL, CCL_MEMORY_DEVICE, false, true },
    { { { "gpu_cold", false }, { "wall_cold", false } }, USUAL, CCL_MEMORY_DEVICE, false, false },
    { { { "plain_cold", false } }, PLAIN, CCL_MEMORY_DEVICE, false, false },
    { { { "lane_hot", false } }, LANE, CCL_MEMORY_DEVICE, false, true },
    { { { "lane_cold", false } }, LANE, CCL_MEMORY_DEVICE, false, false },
    { { { "latency", false } }, USUAL, CCL_MEMORY_DEVICE, true, false },
    { { { "host_latency", false }, { "host_rest", true } }, USUAL, CCL_MEMORY_HOST, true, false },
    { { { NULL, false }, { "host_wall", false } }, USUAL, CCL_MEMORY_HOST, false, false },
    { { { "pinned_latency", false } }, USUAL, CCL_MEMORY_PINNED, true, false },
    { { { NULL, false }, { "pinned_wall", false } }, USUAL, CCL_MEMORY_PINNED, false, false },
    { { { "packed_latency", true }, { "packed_rest", true } }, PACKING, CCL_MEMORY_HOST, true, false },
    { { { NULL, false }, { "packed_wall", true } }, PACKING, CCL_MEMORY_HOST, false, false },
    { { { "shared_latency", true } }, PACKING, CCL_MEMORY_PINNED, true, false },
};
enum { N_RUNS = sizeof runs / sizeof *runs };

/* One product of one method. */
typedef struct CudaProduct {
    const Bench *bench;
    const Subject *subject;
    Product product;
    const CudaBuffers *buffers;
    CclContext *contexts[N_CONTEXTS];
    unsigned n, n_host; /* frames of a stream with masks on the device, in host memory */
    Figure figures[N_RUNS][2];
} CudaProduct;

static bool is_wanted(const CudaProduct *p, const Run *run, const Measure *measure)
{
    if (!measure->name || !kind_wanted(p->bench->options->measures, measure->name))
        return false;
    if (p->product == PRODUCT_PROVISIONAL && run->memory != CCL_MEMORY_DEVICE) /* provisional labels stay on the device */
        return false;
    return !measure->takes_bits || method_of(&p->subject->config)->takes_bits;
}

static bool is_run(const CudaProduct *p, const Run *run)
{
    return is_wanted(p, run, &run->measures[0]) || is_wanted(p, run, &run->measures[1]);
}

static CclContext *open_kind(const CudaProduct *p, ContextKind kind)
{
    Subject subject = *p->subject;
    if (kind == PLAIN || kind == LANE) {
        setenv("CCL_TEST_STREAMS", "1", 1);
        setenv("CCL_TEST_GRAPHS", kind == LANE ? "1" : "0", 1);
    }
    ccl_test_switches_reread();
    if (kind == PACKING)
        subject.config.threads = ccl_cpu_count();
    CclContext *const context = open_context(p->bench, &subject, CCL_MAX_DEPTH, p->product != PRODUCT_TABLE, false);
    unsetenv("CCL_TEST_GRAPHS");
    unsetenv("CCL_TEST_STREAMS");
    ccl_test_switches_reread();
    return context;
}

static const Masks *masks_in(const CudaBuffers *buffers, CclMemory memory)
{
    return memory == CCL_MEMORY_DEVICE ? &buffers->device
           : memory == CCL_MEMORY_HOST ? &buffers->host
                                       : &buffers->pinned;
}

/* Opens the contexts that the wanted measures need, and sets the numbers of frames. */
static void open_product(CudaProduct *p)
{
    const Masks *const device = &p->buffers->device, *const host = &p->buffers->host;
    bool uploads = false;
    p->contexts[USUAL] = open_kind(p, USUAL);
    for (unsigned i = 0; i < N_RUNS; i++) {
        if (!is_run(p, &runs[i]))
            continue;
        if (!p->contexts[runs[i].context])
            p->contexts[runs[i].context] = open_kind(p, runs[i].context);
        uploads |= runs[i].context == USUAL && runs[i].memory != CCL_MEMORY_DEVICE && !runs[i].latency;
    }
    CclContext *const context = p->contexts[USUAL];
    unsigned n = frames_for(time_stream(p->bench, context, device, p->product, p->buffers->labels, 2).wall_us);
    n = n < 40 ? n : 40;
    p->n = frames_for(time_stream(p->bench, context, device, p->product, p->buffers->labels, n).wall_us);
    if (uploads)
        p->n_host = frames_for(time_stream(p->bench, context, host, p->product, p->buffers->labels, 20).wall_us);
}

/* One sample of each figure of a run. */
static void time_run(CudaProduct *p, const Run *run, Figure figures[2])
{
    const Masks *const masks = masks_in(p->buffers, run->memory);
    CclContext *const context = p->contexts[run->context];
    void *labels[CCL_MAX_DEPTH];
    for (unsigned i = 0; i < CCL_MAX_DEPTH; i++) /* hot with one frame after the other: one label image */
        labels[i] = p->buffers->labels[run->hot && run->context == LANE ? 0 : i];

    if (run->latency) {
        add_sample(&figures[0], time_latency(p->bench, context, masks, p->product, labels,
                                             run->measures[1].name ? &figures[1] : NULL));
        return;
    }
    const unsigned n = run->context == USUAL && run->memory != CCL_MEMORY_DEVICE ? p->n_host : p->n;
    Masks used = *masks;
    used.n = run->hot ? 1 : masks->n;
    const Times times = time_stream(p->bench, context, &used, p->product, labels, n);
    add_sample(&figures[0], times.gpu_us);
    add_sample(&figures[1], times.wall_us);
}

static double times_null(const Bench *bench, bool labels, Figure *figure)
{
    const double null = bench->null_us[labels];
    return null > 0 && figure->n ? percentile(figure, 50) / null : 0;
}

static void print_product(CudaProduct *p)
{
    const bool with_labels = p->product != PRODUCT_TABLE;
    for (unsigned i = 0; i < N_RUNS; i++)
        for (unsigned k = 0; k < 2; k++) {
            const bool stream = runs[i].memory == CCL_MEMORY_DEVICE && !runs[i].latency;
            Figure *const figure = &p->figures[i][k];
            if (is_wanted(p, &runs[i], &runs[i].measures[k]))
                print_figure(p->bench, series_of(p->subject, p->product, runs[i].measures[k].name), figure,
                             stream ? times_null(p->bench, with_labels, figure) : 0);
        }
    print_memory(p->bench, p->subject, p->product, p->contexts[USUAL]);
}

static void bench_cuda_product(const Bench *bench, const Subject *subject, Product product, const CudaBuffers *buffers)
{
    CudaProduct *const p = must_have(calloc(1, sizeof *p));
    *p = (CudaProduct){ .bench = bench, .subject = subject, .product = product, .buffers = buffers };
    open_product(p);
    for (unsigned round = 0; round < bench->n_rounds; round++)
        for (unsigned i = 0; i < N_RUNS; i++)
            if (is_run(p, &runs[i]))
                time_run(p, &runs[i], p->figures[i]);
    print_product(p);
    for (unsigned i = 0; i < N_CONTEXTS; i++)
        ccl_context_free(p->contexts[i]);
    free(p);
}

/* ---------------------------------------------------------------- null */

/* Uploading a mask by the runtime. */
static void bench_null_upload(const Bench *bench, const char *measure, const Masks *masks, void *copy)
{
    Figure figure = { .n = 0 };
    for (unsigned round = 0; round <= 3 * bench->n_rounds; round++) {
        const double start = now_us();
        device_upload(copy, masks->data[round % masks->n], mask_size(bench));
        if (round)
            add_sample(&figure, now_us() - start);
    }
    print_figure(bench, (Series){ "cuda null", 0, "table", measure }, &figure, 0);
}

/* Reading the mask, and writing a label image, hot and cold. */
static void bench_cuda_null(Bench *bench, CudaBuffers *buffers)
{
    const size_t size = mask_size(bench);
    void *const copy = device_alloc(size);
    for (unsigned with_labels = 0; with_labels < 2; with_labels++) {
        Figure hot = { .n = 0 }, cold = { .n = 0 };
        void *const labels = with_labels ? buffers->labels[0] : NULL;
        for (unsigned round = 0; round <= bench->n_rounds; round++) {
            const double hot_us = device_null_us(copy, buffers->device.data, 1, size, labels, 200);
            const double cold_us = device_null_us(copy, buffers->device.data, buffers->device.n, size, labels, 200);
            if (!round)
                continue;
            add_sample(&hot, hot_us);
            add_sample(&cold, cold_us);
        }
        bench->null_us[with_labels] = percentile(&cold, 50);
        print_figure(bench, (Series){ "cuda null", 0, product_names[with_labels], "gpu_hot" }, &hot, 0);
        print_figure(bench, (Series){ "cuda null", 0, product_names[with_labels], "gpu_cold" }, &cold, 1);
    }
    bench_null_upload(bench, "host_latency", &buffers->host, copy);
    bench_null_upload(bench, "pinned_latency", &buffers->pinned, copy);
    device_free(copy);
}

/* ---------------------------------------------------------------- all of CUDA */

static bool is_timed(const Subject *subject)
{
    return subject->config.backend == CCL_BACKEND_CUDA && !subject->muted;
}

static void bench_subjects(Bench *bench, Subject *subjects, unsigned n, CudaBuffers *buffers)
{
    bench_cuda_null(bench, buffers);
    for (unsigned s = 0; s < n; s++)
        for (unsigned p = 0; p < N_PRODUCTS; p++)
            if (is_timed(&subjects[s]) && product_wanted(bench, products[p]))
                bench_cuda_product(bench, &subjects[s], products[p], buffers);
    for (unsigned s = 0; s < n; s++)
        for (unsigned p = 0; p < N_PRODUCTS; p++)
            if (is_timed(&subjects[s]) && products[p] != PRODUCT_PROVISIONAL && method_of(&subjects[s].config)->batches)
                bench_streams(bench, &subjects[s], products[p], buffers);
}

void bench_cuda(Bench *bench, Subject *subjects, unsigned n)
{
    unsigned n_timed = 0;
    for (unsigned s = 0; s < n; s++)
        n_timed += is_timed(&subjects[s]);
    if (!n_timed)
        return;
    CudaBuffers buffers = { .device = masks_new(bench, CCL_MEMORY_DEVICE), .host = masks_new(bench, CCL_MEMORY_HOST),
                            .pinned = masks_new(bench, CCL_MEMORY_PINNED) };
    for (unsigned i = 0; i < CCL_MAX_DEPTH; i++)
        buffers.labels[i] = device_alloc(4 * mask_size(bench));
    bench_subjects(bench, subjects, n, &buffers);
    masks_free(&buffers.device);
    masks_free(&buffers.host);
    masks_free(&buffers.pinned);
    for (unsigned i = 0; i < CCL_MAX_DEPTH; i++)
        device_free(buffers.labels[i]);
}
