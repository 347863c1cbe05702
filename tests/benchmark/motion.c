/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * The motion detector without GStreamer: raw 8-bit pictures on stdin, raw masks on stdout, time per picture on stderr.
 *
 *     motion WIDTH HEIGHT [method=mog2] [threshold=0] [learning-rate=-1] [median=2] [shadow=drop] ...
 *         < pictures > masks
 *
 * With repeat=N each picture is read once and the clip is gone through N times, forwards and backwards, for timing;
 * with resident=1 too, pictures and masks are in device memory. timing=0 leaves out the events around the
 * kernels, which cost time themselves. streams=N does the same again with N detectors at once, a thread each. depth=N
 * does the same again with N pictures in flight, and compares every mask with that of one at a time.
 */
#include "device.h"
#include "motion.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static void die(const char *what)
{
    fprintf(stderr, "motion: %s\n", what);
    exit(1);
}

static void need(CclStatus status)
{
    if (status != CCL_OK)
        die(ccl_error_message());
}

typedef struct Options {
    CclMotionConfig config;
    CclMotionParams params;
    unsigned repeat;
    bool resident;
    unsigned streams;
    unsigned depth;
} Options;

static void set(Options *o, const char *name, const char *value)
{
    const unsigned n = (unsigned)strtoul(value, NULL, 0);
    if (!strcmp(name, "method"))
        o->config.method = !strcmp(value, "diff")  ? CCL_MOTION_DIFF
                           : !strcmp(value, "ema") ? CCL_MOTION_EMA
                                                   : CCL_MOTION_MOG2;
    else if (!strcmp(name, "backend"))
        o->config.backend = !strcmp(value, "cuda") ? CCL_BACKEND_CUDA : CCL_BACKEND_CPU;
    else if (!strcmp(name, "threads"))
        o->config.threads = n;
    else if (!strcmp(name, "cpu-flags"))
        o->config.cpu_flags = n;
    else if (!strcmp(name, "work-height"))
        o->config.work_height = n,
        o->config.work_width = (o->config.width * n + o->config.height / 2) / o->config.height;
    else if (!strcmp(name, "threshold"))
        o->params.threshold = n;
    else if (!strcmp(name, "learning-rate"))
        o->params.learning_rate = strtod(value, NULL);
    else if (!strcmp(name, "warmup-frames"))
        o->params.warmup_frames = n;
    else if (!strcmp(name, "confirm-frames"))
        o->params.confirm_frames = n;
    else if (!strcmp(name, "median"))
        o->params.median = n;
    else if (!strcmp(name, "open"))
        o->params.open = n;
    else if (!strcmp(name, "close"))
        o->params.close = n;
    else if (!strcmp(name, "dilate"))
        o->params.dilate = n;
    else if (!strcmp(name, "shadow"))
        o->params.drop_shadow = !strcmp(value, "drop");
    else if (!strcmp(name, "freeze"))
        o->params.freeze = n;
    else if (!strcmp(name, "max-motion"))
        o->params.max_motion = strtod(value, NULL);
    else if (!strcmp(name, "timing"))
        o->config.timing = n;
    else if (!strcmp(name, "repeat"))
        o->repeat = n;
    else if (!strcmp(name, "streams"))
        o->streams = n;
    else if (!strcmp(name, "depth"))
        o->depth = n;
    else if (!strcmp(name, "resident"))
        o->resident = n;
    else
        die("no such option");
}

/* Microseconds this process has computed: what other programs do beside it does not count. */
static double processor_us(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec * 1e-3;
}

static int compare(const void *a, const void *b)
{
    return (*(const float *)a > *(const float *)b) - (*(const float *)a < *(const float *)b);
}

/* Pictures that are gone through forwards and backwards. */
typedef struct Clip {
    const uint8_t *pictures;
    size_t n, size;
    CclMemory memory;
} Clip;

static CclMask picture_at(const Options *o, const Clip *clip, size_t i)
{
    const size_t lap = i / clip->n, at = lap & 1 ? clip->n - 1 - i % clip->n : i % clip->n;
    return (CclMask){ .data = clip->pictures + at * clip->size, .stride = o->config.width, .width = o->config.width,
                      .height = o->config.height, .memory = clip->memory };
}

static double elapsed_us(const struct timespec *begin)
{
    struct timespec end;
    clock_gettime(CLOCK_MONOTONIC, &end);
    return (double)(end.tv_sec - begin->tv_sec) * 1e6 + (double)(end.tv_nsec - begin->tv_nsec) * 1e-3;
}

/* Memory for masks where the pictures are. */
static uint8_t *alloc_near(const Clip *clip, size_t size)
{
    uint8_t *const memory = clip->memory == CCL_MEMORY_DEVICE ? device_alloc(size) : malloc(size);
    if (!memory)
        die("out of memory");
    return memory;
}

static void free_near(const Clip *clip, uint8_t *memory)
{
    if (clip->memory == CCL_MEMORY_DEVICE)
        device_free(memory);
    else
        free(memory);
}

typedef struct Stream {
    const Options *o;
    const Clip *clip;
    pthread_t thread;
    CclMotion *motion;
    CclMotionMask mask;
} Stream;

static void *run_stream(void *data)
{
    Stream *const stream = data;
    for (size_t i = 0; i < stream->clip->n * stream->o->repeat; i++) {
        const CclMask luma = picture_at(stream->o, stream->clip, i);
        need(ccl_motion_apply(stream->motion, &luma, &stream->o->params, &stream->mask, NULL));
    }
    return NULL;
}

/* Several detectors at once: what the machine can do, where one waits for most of its time. */
static void run_streams(const Options *o, const Clip *clip, uint32_t width, uint32_t height)
{
    Stream streams[64];
    struct timespec begin;
    const unsigned n = o->streams < 64 ? o->streams : 64;
    for (unsigned i = 0; i < n; i++) {
        streams[i] = (Stream){ .o = o, .clip = clip };
        streams[i].mask = (CclMotionMask){ .data = alloc_near(clip, (size_t)width * height), .stride = width,
                                           .memory = clip->memory };
        need(ccl_motion_new(&o->config, &streams[i].motion));
    }
    clock_gettime(CLOCK_MONOTONIC, &begin);
    for (unsigned i = 0; i < n; i++)
        if (pthread_create(&streams[i].thread, NULL, run_stream, &streams[i]))
            die("no thread");
    for (unsigned i = 0; i < n; i++)
        pthread_join(streams[i].thread, NULL);
    fprintf(stderr, "%u at once: %.1f us a picture\n", n, elapsed_us(&begin) / (double)(clip->n * o->repeat * n));
    for (unsigned i = 0; i < n; i++) {
        ccl_motion_free(streams[i].motion);
        free_near(clip, streams[i].mask.data);
    }
}

/* A lap of the clip, each picture with a mask of its own; `depth` of them in flight. Returns the time it took; adds to
 * submit_us that of submitting. */
static double run_lap(const Options *o, unsigned depth, const Clip *clip, uint8_t *masks, uint32_t width, uint32_t height,
                      unsigned lap, CclMotion *motion, uint64_t *foreground, double *submit_us)
{
    const size_t n = clip->n;
    struct timespec begin, submit;
    clock_gettime(CLOCK_MONOTONIC, &begin);
    for (size_t i = 0; i < n + depth; i++) {
        CclMotionInfo info;
        if (i >= depth) {
            need(ccl_motion_collect(motion, &info));
            foreground[i - depth] = info.foreground;
        }
        if (i >= n)
            continue;
        const CclMask luma = picture_at(o, clip, lap * n + i);
        const CclMotionMask mask = { .data = masks + i * width * height, .stride = width, .memory = clip->memory };
        clock_gettime(CLOCK_MONOTONIC, &submit);
        need(ccl_motion_submit(motion, &luma, &o->params, &mask));
        *submit_us += elapsed_us(&submit);
    }
    return elapsed_us(&begin);
}

static void compare_masks(const Clip *clip, const uint8_t *masks, const uint8_t *expected, size_t size)
{
    uint8_t *const a = malloc(size), *const b = malloc(size);
    if (!a || !b)
        die("out of memory");
    if (clip->memory == CCL_MEMORY_DEVICE)
        device_download(a, masks, size), device_download(b, expected, size);
    else
        memcpy(a, masks, size), memcpy(b, expected, size);
    if (memcmp(a, b, size))
        die("with several pictures in flight the masks are others");
    free(a), free(b);
}

/* Several pictures in flight, one lap of the clip after the other; all masks compared with those of one at a time. */
static void run_depth(const Options *o, const Clip *clip, uint32_t width, uint32_t height)
{
    Options deep = *o;
    const size_t size = (size_t)width * height;
    CclMotion *one, *several;
    deep.config.depth = o->depth;
    need(ccl_motion_new(&o->config, &one));
    need(ccl_motion_new(&deep.config, &several));
    uint8_t *const expected = alloc_near(clip, clip->n * size), *const masks = alloc_near(clip, clip->n * size);
    uint64_t *const counts = calloc(2 * clip->n, sizeof *counts);
    float *const times = calloc(o->repeat, sizeof *times);
    double submit_us = 0, unused = 0;
    if (!counts || !times)
        die("out of memory");
    for (unsigned lap = 0; lap < o->repeat; lap++) {
        run_lap(o, 1, clip, expected, width, height, lap, one, counts, &unused);
        times[lap] = (float)(run_lap(&deep, o->depth, clip, masks, width, height, lap, several, counts + clip->n, &submit_us) /
                             (double)clip->n);
        compare_masks(clip, masks, expected, clip->n * size);
        if (memcmp(counts, counts + clip->n, clip->n * sizeof *counts))
            die("with several pictures in flight the counts are others");
    }
    qsort(times, o->repeat, sizeof *times, compare);
    fprintf(stderr, "%u in flight: %.1f us a picture (median of %u laps; least %.1f, most %.1f), %.1f of them to submit it; "
            "all masks and counts as with one\n", o->depth, times[o->repeat / 2], o->repeat, times[0],
            times[o->repeat - 1], submit_us / (double)(clip->n * o->repeat));
    ccl_motion_free(one), ccl_motion_free(several);
    free_near(clip, expected), free_near(clip, masks);
    free(counts), free(times);
}

int main(int argc, char **argv)
{
    if (argc < 3)
        die("usage: motion WIDTH HEIGHT [OPTION=VALUE ...] < pictures > masks");
    Options o = { ccl_motion_config_default(), ccl_motion_params_default(), 0, false, 0, 0 };
    o.config.threads = 1;
    o.config.timing = true;
    o.config.width = (uint32_t)atoi(argv[1]), o.config.height = (uint32_t)atoi(argv[2]);
    for (int i = 3; i < argc; i++) {
        char *const equals = strchr(argv[i], '=');
        if (!equals)
            die("options are NAME=VALUE");
        *equals = 0;
        set(&o, argv[i], equals + 1);
    }

    CclMotion *motion;
    need(ccl_motion_new(&o.config, &motion));
    uint32_t width, height;
    ccl_motion_size(motion, &width, &height);
    const size_t size = (size_t)o.config.width * o.config.height;
    uint8_t *pictures = NULL, *const mask = malloc((size_t)width * height);
    size_t n = 0;
    for (uint8_t *grown; (grown = realloc(pictures, (n + 1) * size)); n++) {
        pictures = grown;
        if (fread(pictures + n * size, 1, size, stdin) != size)
            break;
    }
    if (!n || !mask)
        die("no whole picture on stdin");

    const size_t calls = o.repeat ? n * o.repeat : n;
    float *const us = malloc(calls * sizeof *us), *const kernel_us = malloc(calls * sizeof *us);
    float *const processor = malloc(calls * sizeof *us);
    const bool resident = o.resident && o.repeat;
    if (resident) {
        uint8_t *const device = device_alloc(n * size);
        device_upload(device, pictures, n * size);
        free(pictures);
        pictures = device;
    }
    uint8_t *const target = resident ? device_alloc((size_t)width * height) : mask;
    const CclMemory memory = resident ? CCL_MEMORY_DEVICE : CCL_MEMORY_HOST;
    const Clip clip = { pictures, n, size, memory };
    double foreground = 0, sum = 0;
    for (size_t i = 0; us && kernel_us && processor && i < calls; i++) {
        const CclMask luma = picture_at(&o, &clip, i);
        const CclMotionMask out = { .data = target, .stride = width, .memory = memory };
        CclMotionInfo info;
        const double start = processor_us();
        need(ccl_motion_apply(motion, &luma, &o.params, &out, &info));
        processor[i] = (float)(processor_us() - start);
        us[i] = info.us;
        kernel_us[i] = info.kernel_us;
        sum += info.us;
        foreground += (double)info.foreground / (double)info.pixels;
        if (!o.repeat && fwrite(mask, 1, (size_t)width * height, stdout) != (size_t)width * height)
            die("cannot write");
    }
    qsort(us, calls, sizeof *us, compare);
    qsort(processor, calls, sizeof *us, compare);
    qsort(kernel_us, calls, sizeof *us, compare);
    fprintf(stderr, "%zu pictures of %ux%u: median %.1f us, mean %.1f us, least %.1f us; %.2f %% foreground\n", calls,
            width, height, us[calls / 2], sum / (double)calls, us[0], 100 * foreground / (double)calls);
    fprintf(stderr, "processor time: median %.1f us\n", processor[calls / 2]);
    if (kernel_us[0] >= 0)
        fprintf(stderr, "kernels: median %.1f us, least %.1f us\n", kernel_us[calls / 2], kernel_us[0]);
    ccl_motion_free(motion);
    if (o.streams && o.repeat)
        run_streams(&o, &clip, width, height);
    if (o.depth && o.repeat)
        run_depth(&o, &clip, width, height);
    if (resident)
        device_free(pictures), device_free(target);
    else
        free(pictures);
    free(mask), free(us), free(kernel_us), free(processor);
    return 0;
}
