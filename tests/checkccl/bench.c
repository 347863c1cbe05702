/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * For each size and kind of image: some different frames are drawn; every method is compared with the reference on each
 * of them and, where it is right, timed. All figures are microseconds per frame. Each is the median of some rounds,
 * with the 10th and 90th percentile; in a round every method runs once, so that what disturbs the machine disturbs all.
 *
 *   CPU   wall       all frames in turn, one after the other (one frame over and over would train the branch predictor)
 *         processor  the processor time of all threads for the same; what to believe where others use the machine too
 *   CUDA  gpu_hot    GPU time by events around many frames, CCL_MAX_DEPTH in flight, from the start of the first to the
 *                    end of the last: one mask in device memory over and over, CCL_MAX_DEPTH label images
 *         gpu_cold   the same with masks in turn that together exceed the cache
 *         lane_hot, lane_cold  the same, but on the GPU one frame after the other; lane_hot with one label image
 *         wall_cold  the host's clock around the same frames
 *         latency    host's clock from submit to the end of collect, one frame at a time, mask in device memory
 *         host_latency, host_wall      mask in ordinary memory: one at a time, CCL_MAX_DEPTH in flight
 *         pinned_latency, pinned_wall  mask in page-locked memory
 *         packed_latency, packed_wall  mask in ordinary memory, packed to bits by as many threads as there are CPUs
 *         host_rest, packed_rest       of host_latency and packed_latency what is not packing: bits up, kernels, table
 *         shared_latency               mask in page-locked memory, packed to bits by them and by the GPU
 *
 *         plain_cold as lane_cold, every kernel launched by itself instead of by a graph
 *
 * Beside them device_memory and host_memory, bytes that a context has taken after some frames, and own_memory, the part
 * of it that is the method's own and not what all methods share that only label.
 *
 * The method "null" does the least anything could: on the CPU and on a GPU it reads the mask; beside a label
 * image, it sets that to 0.
 */
#include "bench.h"
#include "device.h"

#include "backend.h"
#include "host/cpus.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>

enum { COLD_BYTES = 160 << 20, MAX_ROUNDS = 101, MAX_MASKS = 512 };

static const char *const product_names[] = { "table", "labels+table", "provisional" };
static const Product products[] = { PRODUCT_PROVISIONAL, PRODUCT_TABLE, PRODUCT_LABELS };
enum { N_PRODUCTS = 3 };

typedef struct Bench {
    const BenchOptions *options;
    Subject *subjects;
    unsigned n_subjects, n_rounds;
    /* the images in hand */
    char kind[80];
    Image frames[64];
    unsigned n_frames;
    uint32_t width, height;
    uint32_t n_components[2];   /* of the first frame, 4- and 8-connected */
    bool checked[2];
    double foreground;          /* percent of the first frame */
    double null_us[2];          /* of CUDA, cold, without and with label image */
    bool all_right;
} Bench;

static double now_us(void)
{
    return 1e6 * seconds();
}

static void *must_have(void *memory)
{
    if (!memory) {
        fprintf(stderr, "checkccl: no memory for the benchmark\n");
        exit(2);
    }
    return memory;
}

static void must(CclStatus status)
{
    if (status != CCL_OK) {
        fprintf(stderr, "checkccl: benchmark: %s\n", ccl_error_message());
        exit(2);
    }
}

/* ---------------------------------------------------------------- figures */

typedef struct Figure {
    double samples[MAX_ROUNDS];
    unsigned n;
} Figure;

static void add_sample(Figure *figure, double us)
{
    if (figure->n < MAX_ROUNDS)
        figure->samples[figure->n++] = us;
}

static int by_size(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double percentile(Figure *figure, double percent)
{
    qsort(figure->samples, figure->n, sizeof *figure->samples, by_size);
    return figure->samples[(unsigned)((figure->n - 1) * percent / 100 + 0.5)];
}

static bool product_wanted(const Bench *bench, Product product)
{
    if (product == PRODUCT_PROVISIONAL && bench->options->filter.min_area) /* takes none */
        return false;
    return kind_wanted(bench->options->products, product_names[product]);
}

/* One line of JSON as far as its unit. `method`: "cpu runs 8 avx2". */
static void print_json(const Bench *bench, const char *method, unsigned connectivity, const char *product,
                       const char *measure, const char *unit)
{
    const uint32_t n_components = connectivity ? bench->n_components[connectivity == CCL_CONNECT_8] : 0;
    printf("{\"image\":\"%s\",\"width\":%u,\"height\":%u,\"foreground_percent\":%.3f,\"frames\":%u,\"method\":\"%s\","
           "\"connectivity\":%u,\"components\":%u,\"product\":\"%s\",\"measure\":\"%s\",\"unit\":\"%s\",",
           bench->kind, bench->width, bench->height, bench->foreground, bench->n_frames, method, connectivity,
           n_components, product, measure, unit);
}

/* `times`: of null, or 0 where that means nothing. */
static void print_figure(const Bench *bench, const char *method, unsigned connectivity, const char *product,
                         const char *measure, Figure *figure, double times)
{
    if (!figure->n)
        return;
    const double median = percentile(figure, 50), low = percentile(figure, 10), high = percentile(figure, 90);
    if (bench->options->json) {
        print_json(bench, method, connectivity, product, measure, "us");
        printf("\"median\":%.3f,\"p10\":%.3f,\"p90\":%.3f,\"min\":%.3f,\"rounds\":%u,\"times_null\":%.3f}\n",
               median, low, high, figure->samples[0], figure->n, times);
    } else {
        printf("  %-28s %-13s %-16s %10.2f us  [%.2f, %.2f]", method, product, measure, median, low, high);
        if (times > 0)
            printf("  %.1f x null", times);
        printf("\n");
    }
    fflush(stdout);
}

static void print_count(const Bench *bench, const Subject *subject, Product product, const char *measure,
                        const char *unit, double count)
{
    if (bench->options->json) {
        print_json(bench, subject->name, subject->config.connectivity, product_names[product], measure, unit);
        printf("\"median\":%.0f}\n", count);
    } else {
        printf("  %-28s %-13s %-16s %10.0f %s\n", subject->name, product_names[product], measure, count, unit);
    }
}

/* What is in use once frames have been analysed. */
static void print_memory(const Bench *bench, const Subject *subject, Product product, const CclContext *context)
{
    size_t host, device;
    if (!kind_wanted(bench->options->measures, "memory"))
        return;
    ccl_context_memory(context, &host, &device);
    print_count(bench, subject, product, "host_memory", "bytes", (double)host);
    if (subject->config.backend == CCL_BACKEND_CUDA) {
        print_count(bench, subject, product, "device_memory", "bytes", (double)device);
        if (context->algorithm->label)
            print_count(bench, subject, product, "own_memory", "bytes",
                        context->algorithm->bytes_per_pixel * bench->width * bench->height);
    }
}

static double times_null(const Bench *bench, bool labels, Figure *figure)
{
    const double null = bench->null_us[labels];
    return null > 0 && figure->n ? percentile(figure, 50) / null : 0;
}

/* ---------------------------------------------------------------- right? */

/* On every frame, every product: a method that is wrong is not timed. */
static void check_subjects(Bench *bench, Subject *subjects, unsigned n)
{
    const double slow_us = 1e6 * bench->options->slow_s;
    bench->checked[0] = bench->checked[1] = false;
    for (unsigned f = 0; f < bench->n_frames; f++)
        for (unsigned k = 0; k < 2; k++) {
            const CclConnectivity connectivity = k ? CCL_CONNECT_8 : CCL_CONNECT_4;
            Outcome expected = { 0 };
            bool known = false;
            for (unsigned s = 0; s < n; s++) {
                Subject *const subject = &subjects[s];
                if (subject->muted || subject->config.connectivity != connectivity)
                    continue;
                for (unsigned p = 0; p < N_PRODUCTS && !subject->muted; p++) {
                    if (!product_wanted(bench, products[p]))
                        continue;
                    Case c = case_new(&bench->frames[f], products[p], "%s", bench->kind);
                    char why[400];
                    c.exact = true;
                    c.filter = bench->options->filter;
                    if (!known)
                        expected = expected_outcome(&(Case){ .image = c.image, .product = PRODUCT_LABELS,
                                                             .filter = c.filter }, connectivity);
                    known = true;
                    double start = now_us();
                    Outcome want = expected, got = actual_outcome_for(subject, &c, expected.table.n_components);
                    double took_us = now_us() - start;
                    if (took_us > slow_us) { /* the first call also loads kernels and takes memory */
                        outcome_free(&got);
                        start = now_us();
                        got = actual_outcome_for(subject, &c, expected.table.n_components);
                        took_us = now_us() - start;
                    }
                    if (products[p] == PRODUCT_PROVISIONAL)
                        want.table = (CclTable){ .width = bench->width, .height = bench->height };
                    if (!same_outcome(&c, &want, &got, why)) {
                        fprintf(stderr, "FAILED %s: \"%s\" %ux%u: %s\n", subject->name, bench->kind, bench->width,
                                bench->height, why);
                        subject->muted = true;
                        bench->all_right = false;
                    } else if (took_us > slow_us) {
                        fprintf(stderr, "%s: not timed, a frame takes %.1f s\n", subject->name, took_us * 1e-6);
                        subject->muted = true;
                    }
                    outcome_free(&got);
                }
                subject_close(subject);
            }
            if (known && !bench->checked[k])
                bench->n_components[k] = expected.table.n_found;
            bench->checked[k] |= known;
            outcome_free(&expected);
        }
}

/* ---------------------------------------------------------------- contexts and masks */

static uint32_t rows_for(const Bench *bench)
{
    const uint32_t n =
        bench->n_components[0] > bench->n_components[1] ? bench->n_components[0] : bench->n_components[1];
    const uint32_t with_room = n + n / 4 + 4096; /* other frames of the kind have a few more */
    return with_room < CCL_MAX_COMPONENTS ? with_room : CCL_MAX_COMPONENTS;
}

static CclContext *open_context(const Bench *bench, const Subject *subject, unsigned depth, bool labels, bool timing)
{
    CclConfig config = subject->config;
    CclContext *context;
    config.max_width = bench->width;
    config.max_height = bench->height;
    config.max_components = rows_for(bench);
    config.depth = depth;
    config.labels = labels;
    config.timing = timing;
    must(ccl_context_new(&config, &context));
    return context;
}

static CclMask mask_at(const Bench *bench, const void *data, CclMemory memory)
{
    return (CclMask){
        .data = data, .stride = bench->width, .width = bench->width, .height = bench->height, .memory = memory
    };
}

static size_t mask_size(const Bench *bench)
{
    return (size_t)bench->width * bench->height;
}

/* ---------------------------------------------------------------- CPU */

typedef struct CpuRun {
    const Subject *subject; /* NULL: null */
    Product product;
    CclContext *context;
    Figure wall, processor, times_null; /* the last one's samples: processor time over that of null, round by round */
} CpuRun;

static double processor_us(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec * 1e-3;
}

static void run_cpu_frames(const Bench *bench, const CpuRun *run, uint32_t *labels)
{
    const CclLabels image = { .data = labels, .stride = (size_t)bench->width * 4,
                              .provisional = run->product == PRODUCT_PROVISIONAL };
    const bool with_labels = run->product != PRODUCT_TABLE;
    for (unsigned f = 0; f < bench->n_frames; f++) {
        const CclMask mask = mask_at(bench, bench->frames[f].pixels, CCL_MEMORY_HOST);
        CclTable table;
        if (run->subject) {
            must(ccl_analyze(run->context, &mask, &bench->options->filter, with_labels ? &image : NULL, &table));
        } else {
            if (memchr(mask.data, 3, mask_size(bench))) /* a value that no mask has */
                abort();
            if (with_labels)
                memset(labels, 0, 4 * mask_size(bench));
        }
    }
}

/* nulls: the first two runs. */
static void time_cpu_round(const Bench *bench, CpuRun *run, const CpuRun *nulls, uint32_t *labels)
{
    const CpuRun *const null = &nulls[run->product != PRODUCT_TABLE];
    const double wall = now_us(), processor = processor_us();
    run_cpu_frames(bench, run, labels);
    add_sample(&run->processor, (processor_us() - processor) / bench->n_frames);
    add_sample(&run->wall, (now_us() - wall) / bench->n_frames);
    add_sample(&run->times_null,
               run->processor.samples[run->processor.n - 1] / null->processor.samples[run->processor.n - 1]);
}

static void print_cpu_run(const Bench *bench, CpuRun *run)
{
    const char *const name = run->subject ? run->subject->name : "cpu null";
    const unsigned connectivity = run->subject ? run->subject->config.connectivity : 0;
    const double times = percentile(&run->times_null, 50);
    if (kind_wanted(bench->options->measures, "wall"))
        print_figure(bench, name, connectivity, product_names[run->product], "wall", &run->wall, 0);
    if (kind_wanted(bench->options->measures, "processor"))
        print_figure(bench, name, connectivity, product_names[run->product], "processor", &run->processor, times);
    if (run->subject)
        print_memory(bench, run->subject, run->product, run->context);
}

static void bench_cpu(Bench *bench, Subject *subjects, unsigned n)
{
    CpuRun *const runs = must_have(calloc((size_t)n * N_PRODUCTS + 2, sizeof *runs));
    unsigned n_runs = 0;
    runs[n_runs++].product = PRODUCT_TABLE;
    runs[n_runs++].product = PRODUCT_LABELS;
    for (unsigned s = 0; s < n; s++)
        for (unsigned p = 0; p < N_PRODUCTS; p++)
            if (subjects[s].config.backend == CCL_BACKEND_CPU && !subjects[s].muted &&
                product_wanted(bench, products[p]))
                runs[n_runs++] =
                    (CpuRun){ .subject = &subjects[s],
                              .product = products[p],
                              .context = open_context(bench, &subjects[s], 1, products[p] != PRODUCT_TABLE, false) };
    if (n_runs > 2) {
        uint32_t *const labels = must_have(malloc(4 * mask_size(bench)));
        for (unsigned i = 0; i < n_runs; i++) /* warms up */
            run_cpu_frames(bench, &runs[i], labels);
        for (unsigned round = 0; round < bench->n_rounds; round++)
            for (unsigned i = 0; i < n_runs; i++)
                time_cpu_round(bench, &runs[i], runs, labels);
        for (unsigned i = 0; i < n_runs; i++)
            print_cpu_run(bench, &runs[i]);
        free(labels);
    }
    for (unsigned i = 0; i < n_runs; i++)
        ccl_context_free(runs[i].context);
    free(runs);
}

/* ---------------------------------------------------------------- CUDA */

/* Masks in one memory: the frames, copied as often as it takes to exceed the cache. */
typedef struct Masks {
    CclMemory memory;
    void *data[MAX_MASKS];
    unsigned n;
} Masks;

typedef struct CudaBuffers {
    Masks device, host, pinned;
    void *labels[CCL_MAX_DEPTH]; /* device */
} CudaBuffers;

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

/* n frames back to back, CCL_MAX_DEPTH in flight. `n_masks`: how many of the masks take turns. */
static Times time_stream(const Bench *bench, CclContext *context, const Masks *masks, unsigned n_masks, Product product,
                         void *const *labels, unsigned n)
{
    Masks turns = *masks;
    turns.n = n_masks;
    void *const begin = device_event_new(), *const end = device_event_new();
    CclTable table;
    device_synchronize();
    const double start = now_us();
    record_begin(context, begin);
    for (unsigned i = 0; i < n; i++) {
        if (i >= CCL_MAX_DEPTH)
            must(ccl_collect(context, &table));
        submit_frame(bench, context, &turns, i, product, labels);
    }
    record_end(context, end);
    for (unsigned i = 0; i < n && i < CCL_MAX_DEPTH; i++)
        must(ccl_collect(context, &table));
    const Times times = { .wall_us = (now_us() - start) / n, .gpu_us = device_event_us(begin, end) / n };
    device_event_free(begin);
    device_event_free(end);
    return times;
}

/* The median of some frames by themselves, and of what of them is not packing, if that is asked for. */
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

/* So many frames that a measurement takes some 8 ms; at least 20, or what takes 100 ms. */
static unsigned frames_for(double us)
{
    const double n = 8000 / (us > 1 ? us : 1), least = fmin(20, 100e3 / us);
    return n > 1500 ? 1500 : (unsigned)fmax(fmax(n, least), 1);
}

/* ---------------------------------------------------------------- many streams */

enum { STREAM_DEPTH = 2 };
static const unsigned stream_counts[] = { 1, 4, 8, 16, 64 };

/* A thread with a context, as an element has them. */
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

/* The stream's i-th turn: it collects what it submitted STREAM_DEPTH turns before, and submits. */
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

/* The wall clock's microseconds per frame of all streams, each in a thread of its own or all in this one, in turn. In
 * `batch` how many were launched together on average. */
static double time_streams(BenchStream *streams, unsigned n_streams, unsigned n_each, bool threads, double *batch)
{
    pthread_barrier_t all;
    double sum = 0;
    pthread_barrier_init(&all, NULL, n_streams + 1);
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

/* Masks in device memory, in ordinary memory, and in ordinary memory packed to bits on the way; in device memory, all
 * streams in one thread. */
static void bench_streams(Bench *bench, const Subject *subject, Product product, unsigned n_streams,
                          const CudaBuffers *buffers)
{
    static const char *const names[] = { "device", "host", "packed", "one_thread" };
    const size_t labels_size = product == PRODUCT_LABELS ? 4 * mask_size(bench) : 0;
    BenchStream streams[64];
    if (n_streams > 64 || labels_size * n_streams * STREAM_DEPTH > 4ull << 30)
        return;
    for (unsigned i = 0; i < n_streams; i++)
        for (unsigned k = 0; k < STREAM_DEPTH; k++)
            streams[i].labels[k] = labels_size ? device_alloc(labels_size) : NULL;
    for (unsigned kind = 0; kind < 4; kind++) {
        Figure figure = { .n = 0 };
        Subject shared = *subject;
        char name[40];
        double batch = 0;
        const bool threads = kind < 3;
        if (threads ? n_streams == 8 : n_streams < 8) /* 8 in one thread are 16 frames in flight */
            continue;
        snprintf(name, sizeof name, "streams_%u_%s", n_streams, names[kind]);
        if (!kind_wanted(bench->options->measures, name))
            continue;
        shared.config.shared = true;
        shared.config.threads = kind == 2 ? 2 : 1;
        for (unsigned i = 0; i < n_streams; i++) {
            streams[i].bench = bench;
            streams[i].masks = kind == 1 || kind == 2 ? &buffers->host : &buffers->device;
            streams[i].first = i;
            streams[i].context = open_context(bench, &shared, STREAM_DEPTH, labels_size != 0, false);
        }
        const unsigned n_each = frames_for(time_streams(streams, n_streams, 10, threads, &batch)) / n_streams * 4 + 10;
        for (unsigned round = 0; round < bench->n_rounds; round++)
            add_sample(&figure, time_streams(streams, n_streams, n_each, threads, &batch));
        for (unsigned i = 0; i < n_streams; i++)
            ccl_context_free(streams[i].context);
        print_figure(bench, subject->name, subject->config.connectivity, product_names[product], name, &figure, 0);
        if (!bench->options->json)
            printf("  %-28s %-13s in batches of %.1f\n", "", "", batch);
    }
    for (unsigned i = 0; i < n_streams; i++)
        for (unsigned k = 0; k < STREAM_DEPTH && labels_size; k++)
            device_free(streams[i].labels[k]);
}

/* ---------------------------------------------------------------- one stream */

enum { HOT, COLD, WALL, PLAIN, LANE_HOT, LANE_COLD, LATENCY, HOST_LATENCY, HOST_WALL, PINNED_LATENCY, PINNED_WALL,
       PACKED_LATENCY, PACKED_WALL, HOST_REST, PACKED_REST, SHARED_LATENCY, N_MEASURES };
static const char *const measure_names[N_MEASURES] = {
    "gpu_hot",   "gpu_cold",       "wall_cold",   "plain_cold",     "lane_hot",   "lane_cold",  "latency",
    "host_latency", "host_wall", "pinned_latency", "pinned_wall", "packed_latency", "packed_wall",
    "host_rest", "packed_rest", "shared_latency"
};

/* The same with one frame after the other on the GPU, and perhaps kernels launched one by one. */
static CclContext *open_lane(const Bench *bench, const Subject *subject, bool labels, bool graphs)
{
    setenv("CCL_TEST_LANES", "1", 1);
    setenv("CCL_TEST_GRAPHS", graphs ? "1" : "0", 1);
    CclContext *const context = open_context(bench, subject, CCL_MAX_DEPTH, labels, false);
    unsetenv("CCL_TEST_GRAPHS");
    unsetenv("CCL_TEST_LANES");
    return context;
}

static const CclAlgorithm *algorithm_of(const Subject *subject)
{
    for (unsigned i = 0; ccl_algorithms[i]; i++)
        if (!strcmp(ccl_algorithms[i]->info.name, subject->config.algorithm) &&
            ccl_algorithms[i]->info.backend == subject->config.backend)
            return ccl_algorithms[i];
    return NULL;
}

/* The same with masks packed by all CPUs. */
static CclContext *open_packing(const Bench *bench, const Subject *subject, bool labels)
{
    Subject packing = *subject;
    packing.config.threads = ccl_cpu_count();
    return open_context(bench, &packing, CCL_MAX_DEPTH, labels, false);
}

static void bench_cuda_product(Bench *bench, const Subject *subject, Product product, CudaBuffers *buffers)
{
    const bool with_labels = product != PRODUCT_TABLE;
    const Masks *const device = &buffers->device, *const host = &buffers->host, *const pinned = &buffers->pinned;
    void *const *const labels = buffers->labels;
    void *same_labels[CCL_MAX_DEPTH];
    CclContext *const context = open_context(bench, subject, CCL_MAX_DEPTH, with_labels, false), *plain = NULL,
               *lane = NULL, *packing = NULL;
    Figure figures[N_MEASURES] = { { .n = 0 } };
    bool want[N_MEASURES];
    for (unsigned i = 0; i < CCL_MAX_DEPTH; i++)
        same_labels[i] = labels[0];
    for (unsigned i = 0; i < N_MEASURES; i++) /* nobody has provisional labels brought home */
        want[i] = kind_wanted(bench->options->measures, measure_names[i]) &&
                  (i < HOST_LATENCY || product != PRODUCT_PROVISIONAL);
    for (unsigned i = PACKED_LATENCY; i < N_MEASURES; i++)
        want[i] &= algorithm_of(subject)->takes_bits;
    if (want[PLAIN])
        plain = open_lane(bench, subject, with_labels, false);
    if (want[LANE_HOT] || want[LANE_COLD])
        lane = open_lane(bench, subject, with_labels, true);
    if (want[PACKED_LATENCY] || want[PACKED_WALL] || want[PACKED_REST] || want[SHARED_LATENCY])
        packing = open_packing(bench, subject, with_labels);
    const bool upload = want[HOST_WALL] || want[PINNED_WALL];
    unsigned n = frames_for(time_stream(bench, context, device, device->n, product, labels, 2).wall_us);
    n = frames_for(time_stream(bench, context, device, device->n, product, labels, n < 40 ? n : 40).wall_us);
    const unsigned n_up =
        upload ? frames_for(time_stream(bench, context, host, bench->n_frames, product, labels, 20).wall_us) : 0;

    for (unsigned round = 0; round < bench->n_rounds; round++) {
        if (want[HOT])
            add_sample(&figures[HOT], time_stream(bench, context, device, 1, product, labels, n).gpu_us);
        if (want[COLD] || want[WALL]) {
            const Times cold = time_stream(bench, context, device, device->n, product, labels, n);
            add_sample(&figures[COLD], cold.gpu_us);
            add_sample(&figures[WALL], cold.wall_us);
        }
        if (want[PLAIN])
            add_sample(&figures[PLAIN], time_stream(bench, plain, device, device->n, product, labels, n).gpu_us);
        if (want[LANE_HOT])
            add_sample(&figures[LANE_HOT], time_stream(bench, lane, device, 1, product, same_labels, n).gpu_us);
        if (want[LANE_COLD])
            add_sample(&figures[LANE_COLD], time_stream(bench, lane, device, device->n, product, labels, n).gpu_us);
        if (want[LATENCY])
            add_sample(&figures[LATENCY], time_latency(bench, context, device, product, labels, NULL));
        if (want[HOST_LATENCY] || want[HOST_REST])
            add_sample(&figures[HOST_LATENCY],
                       time_latency(bench, context, host, product, labels, &figures[HOST_REST]));
        if (want[HOST_WALL])
            add_sample(&figures[HOST_WALL],
                       time_stream(bench, context, host, bench->n_frames, product, labels, n_up).wall_us);
        if (want[PINNED_LATENCY])
            add_sample(&figures[PINNED_LATENCY], time_latency(bench, context, pinned, product, labels, NULL));
        if (want[PINNED_WALL])
            add_sample(&figures[PINNED_WALL],
                       time_stream(bench, context, pinned, bench->n_frames, product, labels, n_up).wall_us);
        if (want[PACKED_LATENCY] || want[PACKED_REST])
            add_sample(&figures[PACKED_LATENCY],
                       time_latency(bench, packing, host, product, labels, &figures[PACKED_REST]));
        if (want[PACKED_WALL])
            add_sample(&figures[PACKED_WALL],
                       time_stream(bench, packing, host, bench->n_frames, product, labels, n).wall_us);
        if (want[SHARED_LATENCY])
            add_sample(&figures[SHARED_LATENCY], time_latency(bench, packing, pinned, product, labels, NULL));
    }
    for (unsigned i = 0; i < N_MEASURES; i++)
        if (want[i])
            print_figure(bench, subject->name, subject->config.connectivity, product_names[product], measure_names[i],
                         &figures[i], i < LATENCY ? times_null(bench, with_labels, &figures[i]) : 0);
    print_memory(bench, subject, product, context);
    ccl_context_free(packing);
    ccl_context_free(lane);
    ccl_context_free(plain);
    ccl_context_free(context);
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
        print_figure(bench, "cuda null", 0, product_names[with_labels], "gpu_hot", &hot, 0);
        print_figure(bench, "cuda null", 0, product_names[with_labels], "gpu_cold", &cold, 1);
    }
    const struct {
        const char *name;
        const Masks *masks;
    } uploads[] = { { "host_latency", &buffers->host }, { "pinned_latency", &buffers->pinned } };
    for (unsigned i = 0; i < 2; i++) {
        Figure figure = { .n = 0 };
        for (unsigned round = 0; round <= 3 * bench->n_rounds; round++) {
            const double start = now_us();
            device_upload(copy, uploads[i].masks->data[round % uploads[i].masks->n], size);
            if (round)
                add_sample(&figure, now_us() - start);
        }
        print_figure(bench, "cuda null", 0, "table", uploads[i].name, &figure, 0);
    }
    device_free(copy);
}

static void bench_cuda(Bench *bench, Subject *subjects, unsigned n)
{
    unsigned n_cuda = 0;
    for (unsigned s = 0; s < n; s++)
        n_cuda += subjects[s].config.backend == CCL_BACKEND_CUDA && !subjects[s].muted;
    if (!n_cuda)
        return;
    CudaBuffers buffers = { .device = masks_new(bench, CCL_MEMORY_DEVICE), .host = masks_new(bench, CCL_MEMORY_HOST),
                            .pinned = masks_new(bench, CCL_MEMORY_PINNED) };
    for (unsigned i = 0; i < CCL_MAX_DEPTH; i++)
        buffers.labels[i] = device_alloc(4 * mask_size(bench));
    bench_cuda_null(bench, &buffers);
    for (unsigned s = 0; s < n; s++)
        for (unsigned p = 0; p < N_PRODUCTS; p++)
            if (subjects[s].config.backend == CCL_BACKEND_CUDA && !subjects[s].muted &&
                product_wanted(bench, products[p]))
                bench_cuda_product(bench, &subjects[s], products[p], &buffers);
    for (unsigned s = 0; s < n; s++)
        for (unsigned i = 0; i < sizeof stream_counts / sizeof *stream_counts; i++)
            for (unsigned p = 0; p < N_PRODUCTS; p++)
                if (subjects[s].config.backend == CCL_BACKEND_CUDA && !subjects[s].muted &&
                    products[p] != PRODUCT_PROVISIONAL && algorithm_of(&subjects[s])->batches)
                    bench_streams(bench, &subjects[s], products[p], stream_counts[i], &buffers);
    masks_free(&buffers.device);
    masks_free(&buffers.host);
    masks_free(&buffers.pinned);
    for (unsigned i = 0; i < CCL_MAX_DEPTH; i++)
        device_free(buffers.labels[i]);
}

/* ---------------------------------------------------------------- steps */

enum { MAX_STEPS = 64 };

/* The steps as the library times them, by events or the clock around each: for their shares, not for their sum. */
static void bench_steps(Bench *bench, const Subject *subject, Product product)
{
    const bool with_labels = product != PRODUCT_TABLE, cuda = subject->config.backend == CCL_BACKEND_CUDA;
    Figure allocation = { .n = 0 };
    for (unsigned i = 0; i < 5; i++) {
        const double start = now_us();
        CclContext *const once = open_context(bench, subject, 1, with_labels, true);
        add_sample(&allocation, now_us() - start);
        ccl_context_free(once);
    }
    CclContext *const context = open_context(bench, subject, 1, with_labels, true);
    void *const labels = must_have(cuda ? device_alloc(4 * mask_size(bench)) : malloc(4 * mask_size(bench)));
    Figure *const figures = must_have(calloc(MAX_STEPS + 2, sizeof *figures)); /* the last two: upload, kernels */
    char names[MAX_STEPS][64];
    unsigned n_steps = 0, launches = 0;

    for (unsigned round = 0; round < 21; round++) {
        const CclMask mask = mask_at(bench, bench->frames[round % bench->n_frames].pixels, CCL_MEMORY_HOST);
        const CclLabels image = { .data = labels, .stride = (size_t)bench->width * 4,
                                  .memory = cuda ? CCL_MEMORY_DEVICE : CCL_MEMORY_HOST,
                                  .provisional = product == PRODUCT_PROVISIONAL };
        CclTable table;
        const CclStep *steps;
        must(ccl_analyze(context, &mask, &bench->options->filter, with_labels ? &image : NULL, &table));
        n_steps = ccl_steps(context, &steps);
        n_steps = n_steps < MAX_STEPS ? n_steps : MAX_STEPS;
        launches = 0;
        for (unsigned i = 0; i < n_steps; i++) {
            snprintf(names[i], sizeof names[i], "step %u %.40s", i, steps[i].name);
            add_sample(&figures[i], (double)steps[i].us);
            launches = steps[i].count > launches ? steps[i].count : launches;
        }
        add_sample(&figures[MAX_STEPS], (double)table.upload_us);
        add_sample(&figures[MAX_STEPS + 1], (double)table.kernel_us);
    }
    for (unsigned i = 0; i < n_steps; i++)
        print_figure(bench, subject->name, subject->config.connectivity, product_names[product], names[i], &figures[i],
                     0);
    print_figure(bench, subject->name, subject->config.connectivity, product_names[product], "upload",
                 &figures[MAX_STEPS], 0);
    print_figure(bench, subject->name, subject->config.connectivity, product_names[product], "kernels",
                 &figures[MAX_STEPS + 1], 0);
    print_figure(bench, subject->name, subject->config.connectivity, product_names[product], "allocation",
                 &allocation, 0);
    print_count(bench, subject, product, "iterations", "launches", launches); /* of the last frame */
    cuda ? device_free(labels) : free(labels);
    free(figures);
    ccl_context_free(context);
}

/* ---------------------------------------------------------------- volumes */

static CclContext *open_volume(const Bench *bench, const CclConfig *of_method)
{
    CclConfig config = *of_method;
    CclContext *context;
    config.max_width = bench->width;
    config.max_height = bench->height;
    config.max_components = CCL_MAX_COMPONENTS;
    config.volume = bench->n_frames;
    config.timing = config.backend == CCL_BACKEND_CUDA;
    must(ccl_context_new(&config, &context));
    return context;
}

/* Microseconds per frame of stacking the frames and of labelling the stack: processor time on the CPU. */
static CclVolumeTable run_volume(const Bench *bench, CclContext *context, double *add_us, double *label_us)
{
    double (*const now)(void) = ccl_context_algorithm(context)->backend == CCL_BACKEND_CPU ? processor_us : now_us;
    CclVolumeTable table;
    const double start = now();
    for (unsigned f = 0; f < bench->n_frames; f++) {
        const CclMask mask = mask_at(bench, bench->frames[f].pixels, CCL_MEMORY_HOST);
        must(ccl_volume_add(context, &mask));
    }
    const double stacked = now();
    must(ccl_volume_label(context, NULL, &table));
    *add_us = (stacked - start) / bench->n_frames;
    *label_us = (now() - stacked) / bench->n_frames;
    return table;
}

/* Against the reference's table. */
static bool check_volume_subject(Bench *bench, const Subject *subject, CclContext *context)
{
    CclConfig config = subject->config;
    double us[2];
    config.backend = CCL_BACKEND_CPU;
    config.algorithm = "reference-3d";
    CclContext *const judge = open_volume(bench, &config);
    const CclVolumeTable expected = run_volume(bench, judge, &us[0], &us[1]);
    const CclVolumeTable got = run_volume(bench, context, &us[0], &us[1]);
    const bool right = expected.n_found == got.n_found &&
                       !memcmp(expected.components, got.components, got.n_components * sizeof *got.components);
    if (!right)
        fprintf(stderr, "WRONG: %s on %s %ux%u, not timed\n", subject->name, bench->kind, bench->width, bench->height);
    else if (!bench->options->json)
        printf("  %s: one volume of %u components\n", subject->name, got.n_found);
    bench->all_right &= right;
    ccl_context_free(judge);
    return right;
}

static void bench_volumes(Bench *bench)
{
    for (unsigned s = 0; s < bench->options->n_volumes; s++) {
        const bool cpu = bench->options->volumes[s].config.backend == CCL_BACKEND_CPU;
        const Subject *const subject = &bench->options->volumes[s];
        CclContext *const context = open_volume(bench, &subject->config);
        Figure add = { .n = 0 }, label = { .n = 0 }, kernels = { .n = 0 };
        const bool right = check_volume_subject(bench, subject, context);
        for (unsigned round = 0; right && round < bench->n_rounds; round++) {
            double add_us, label_us;
            const CclVolumeTable table = run_volume(bench, context, &add_us, &label_us);
            add_sample(&add, add_us);
            add_sample(&label, label_us);
            if (!cpu)
                add_sample(&kernels, (double)table.kernel_us / bench->n_frames);
        }
        const unsigned connectivity = subject->config.connectivity;
        print_figure(bench, subject->name, connectivity, "volume", cpu ? "add_processor" : "add_wall", &add, 0);
        print_figure(bench, subject->name, connectivity, "volume", cpu ? "label_processor" : "label_wall", &label, 0);
        print_figure(bench, subject->name, connectivity, "volume", "label_kernels", &kernels, 0);
        ccl_context_free(context);
    }
}

/* ---------------------------------------------------------------- one image */

static void print_heading(const Bench *bench)
{
    printf("%s %ux%u, %.2f %% foreground, %u different frames", bench->kind, bench->width, bench->height,
           bench->foreground, bench->n_frames);
    for (unsigned k = 0; k < 2; k++)
        if (bench->checked[k])
            printf(", %u components (%u-connected, first frame)", bench->n_components[k], k ? 8 : 4);
    printf("\n");
}

static void bench_frames(Bench *bench, Subject *subjects, unsigned n)
{
    size_t lit = 0;
    for (size_t i = 0; i < mask_size(bench); i++)
        lit += bench->frames[0].pixels[i];
    bench->foreground = 100.0 * (double)lit / (double)mask_size(bench);
    bench->n_components[0] = bench->n_components[1] = 0;
    for (unsigned s = 0; s < n; s++)
        subjects[s].muted = false;

    fprintf(stderr, "%s %ux%u: checking %u frames\n", bench->kind, bench->width, bench->height, bench->n_frames);
    check_subjects(bench, subjects, n);
    if (!bench->options->json)
        print_heading(bench);
    fprintf(stderr, "%s %ux%u: timing\n", bench->kind, bench->width, bench->height);
    bench_cpu(bench, subjects, n);
    bench_cuda(bench, subjects, n);
    if (kind_wanted(bench->options->products, "volume"))
        bench_volumes(bench);
    for (unsigned s = 0; s < n && bench->options->steps; s++)
        for (unsigned p = 0; p < N_PRODUCTS && !subjects[s].muted; p++)
            if (product_wanted(bench, products[p]))
                bench_steps(bench, &subjects[s], products[p]);
    for (unsigned f = 0; f < bench->n_frames; f++)
        image_free(&bench->frames[f]);
}

static unsigned frames_wanted(const BenchOptions *options, const Subject *subjects, unsigned n)
{
    unsigned wanted = options->n_frames;
    for (unsigned s = 0; s < n && !options->n_frames; s++) {
        const unsigned least = subjects[s].config.backend == CCL_BACKEND_CPU ? 16 : 4;
        wanted = least > wanted ? least : wanted;
    }
    if (!options->n_frames && options->n_volumes && wanted < 16)
        wanted = 16;
    return wanted < 64 ? wanted : 64;
}

/* For what times the same images elsewhere. */
static void write_frames(Bench *bench)
{
    for (unsigned f = 0; f < bench->n_frames; f++) {
        char path[1024];
        snprintf(path, sizeof path, "%s/%s-%ux%u-%02u.pgm", bench->options->write, bench->kind, bench->width,
                 bench->height, f);
        if (!image_save(&bench->frames[f], path)) {
            fprintf(stderr, "checkccl: %s cannot be written\n", path);
            exit(2);
        }
        image_free(&bench->frames[f]);
    }
}

static void bench_size(Bench *bench, uint32_t width, uint32_t height, Subject *subjects, unsigned n)
{
    unsigned n_kinds;
    Kind *const kinds = kinds_named(bench->options->kinds, &n_kinds);
    bench->width = width, bench->height = height;
    for (const Kind *kind = kinds; kind < kinds + n_kinds; kind++) {
        Random random = { bench->options->seed };
        snprintf(bench->kind, sizeof bench->kind, "%s", kind->name);
        bench->n_frames = frames_wanted(bench->options, subjects, n);
        for (unsigned f = 0; f < bench->n_frames; f++)
            bench->frames[f] = kind->draw(kind, width, height, &random);
        if (bench->options->write)
            write_frames(bench);
        else
            bench_frames(bench, subjects, n);
    }
    free(kinds);
}

/* A mask of the user and its mirror images. */
static void bench_picture(void *data, const char *name, Image *image, const char *why)
{
    Bench *const bench = data;
    if (!image) {
        fprintf(stderr, "checkccl: %s\n", why);
        bench->all_right = false;
        return;
    }
    snprintf(bench->kind, sizeof bench->kind, "%.70s", name);
    for (char *c = bench->kind; *c; c++) /* goes into JSON as it is */
        *c = *c == '"' || *c == '\\' || (unsigned char)*c < ' ' ? '_' : *c;
    bench->width = image->width, bench->height = image->height;
    bench->n_frames = 4;
    bench->frames[0] = *image;
    bench->frames[1] = image_flip_x(image);
    bench->frames[2] = image_flip_y(image);
    bench->frames[3] = image_flip_x(&bench->frames[2]);
    bench_frames(bench, bench->subjects, bench->n_subjects);
}

/* ---------------------------------------------------------------- all of it */

/* The next size of the list; false at its end. */
static bool next_size(const char **list, uint32_t *width, uint32_t *height)
{
    static const struct {
        const char *name;
        uint32_t width, height;
    } names[] = { { "720p", 1280, 720 }, { "1080p", 1920, 1080 }, { "4K", 3840, 2160 }, { "8K", 7680, 4320 } };
    const size_t n = strcspn(*list, ",");
    if (!**list)
        return false;
    *width = *height = 0;
    for (unsigned i = 0; i < sizeof names / sizeof *names; i++)
        if (strlen(names[i].name) == n && !strncmp(*list, names[i].name, n))
            *width = names[i].width, *height = names[i].height;
    if (!*width && sscanf(*list, "%ux%u", width, height) != 2)
        *width = 0;
    if (*width < 1 || *height < 1 || *width > CCL_MAX_SIZE || *height > CCL_MAX_SIZE) {
        fprintf(stderr, "checkccl: \"%s\" is no size: 720p, 1080p, 4K, 8K, all or WIDTHxHEIGHT\n", *list);
        exit(2);
    }
    *list += n;
    *list += **list == ',';
    return true;
}

static void cpu_name(char name[128])
{
    char line[256];
    FILE *const file = fopen("/proc/cpuinfo", "r");
    snprintf(name, 128, "unknown CPU");
    while (file && fgets(line, sizeof line, file))
        if (!strncmp(line, "model name", 10) && strchr(line, ':')) {
            snprintf(name, 128, "%.120s", strchr(line, ':') + 2);
            name[strcspn(name, "\n\"\\")] = '\0';
            break;
        }
    if (file)
        fclose(file);
}

static void print_machine(const Bench *bench, bool cuda)
{
    char cpu[128], date[40];
    struct utsname host;
    const time_t now = time(NULL);
    struct tm utc;
    cpu_name(cpu);
    uname(&host);
    strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &utc));
    const char *const gpu = cuda ? device_description() : "not used";
    if (bench->options->json)
        printf("{\"schema\":\"checkccl-bench-1\",\"date\":\"%s\",\"cpu\":\"%s\",\"machine\":\"%s\",\"gpu\":\"%s\","
               "\"seed\":%llu,\"rounds\":%u}\n",
               date, cpu, host.machine, gpu, (unsigned long long)bench->options->seed, bench->n_rounds);
    else
        printf("%s; %s, %s; GPU: %s; seed %llu\nmicroseconds per frame, median [10th, 90th percentile] of %u rounds\n",
               date, cpu, host.machine, gpu, (unsigned long long)bench->options->seed, bench->n_rounds);
}

bool bench_run(const BenchOptions *options, Subject *subjects, unsigned n)
{
    Bench bench = { .options = options,
                    .subjects = subjects,
                    .n_subjects = n,
                    .n_rounds = options->n_rounds ? options->n_rounds : 11,
                    .all_right = true };
    const char *sizes = !options->sizes                  ? "1080p"
                        : !strcmp(options->sizes, "all") ? "720p,1080p,4K,8K"
                                                         : options->sizes;
    uint32_t width, height;
    bool cuda = false;
    if (bench.n_rounds > MAX_ROUNDS)
        bench.n_rounds = MAX_ROUNDS;
    for (unsigned s = 0; s < n; s++)
        cuda |= subjects[s].config.backend == CCL_BACKEND_CUDA;
    print_machine(&bench, cuda);
    if (options->images && !image_load_all(options->images, bench_picture, &bench)) {
        fprintf(stderr, "checkccl: --images=%s: no .pgm or .pbm file there\n", options->images);
        return false;
    }
    if (!options->images)
        while (next_size(&sizes, &width, &height))
            bench_size(&bench, width, height, subjects, n);
    return bench.all_right;
}
