/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * The motion detector without GStreamer: raw 8-bit pictures on stdin, raw masks on stdout, time per picture on stderr.
 *
 *     motion WIDTH HEIGHT [method=feedback] [threshold=0] [absorb-ms=600000] [median=2] [shadow=drop] ...
 *         < pictures > masks
 *
 * chroma=1    pictures are I420; method=feedback looks at their chroma
 * fps=25      pictures a second of the clip, for method=feedback
 * repeat=N    play the clip N times, forwards and backwards, for timing; then the masks are not written
 * resident=1  with repeat: pictures and masks are in device memory
 * timing=0    without events around the kernels, which cost time themselves
 * streams=N   with repeat: the same again with N detectors at the same time, a thread each
 * depth=N     with repeat: the same again with N pictures in flight; compares the masks with one in flight
 */
#include "../support/clock.h"
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
    double fps; /* of the clip */
} Options;

typedef enum OptionKind { NUMBER, SWITCH, REAL, METHOD, BACKEND, SHADOW } OptionKind;

static const struct {
    const char *name;
    OptionKind kind;
    size_t offset; /* in Options */
} table[] = {
    { "absorb-ms", NUMBER, offsetof(Options, params.absorb_ms) },
    { "backend", BACKEND, offsetof(Options, config.backend) },
    { "chroma", SWITCH, offsetof(Options, config.chroma) },
    { "close", NUMBER, offsetof(Options, params.close) },
    { "confirm-frames", NUMBER, offsetof(Options, params.confirm_frames) },
    { "cpu-flags", NUMBER, offsetof(Options, config.cpu_flags) },
    { "depth", NUMBER, offsetof(Options, depth) },
    { "dilate", NUMBER, offsetof(Options, params.dilate) },
    { "fps", REAL, offsetof(Options, fps) },
    { "freeze", SWITCH, offsetof(Options, params.freeze) },
    { "learning-rate", REAL, offsetof(Options, params.learning_rate) },
    { "max-motion", REAL, offsetof(Options, params.max_motion) },
    { "median", NUMBER, offsetof(Options, params.median) },
    { "method", METHOD, offsetof(Options, config.method) },
    { "open", NUMBER, offsetof(Options, params.open) },
    { "repeat", NUMBER, offsetof(Options, repeat) },
    { "resident", SWITCH, offsetof(Options, resident) },
    { "shadow", SHADOW, offsetof(Options, params.drop_shadow) },
    { "streams", NUMBER, offsetof(Options, streams) },
    { "threads", NUMBER, offsetof(Options, config.threads) },
    { "threshold", NUMBER, offsetof(Options, params.threshold) },
    { "timing", SWITCH, offsetof(Options, config.timing) },
    { "warmup-frames", NUMBER, offsetof(Options, params.warmup_frames) },
    { "work-height", NUMBER, offsetof(Options, config.work_height) },
};

static void store(OptionKind kind, void *option, const char *value)
{
    switch (kind) {
    case NUMBER:
        *(unsigned *)option = (unsigned)strtoul(value, NULL, 0);
        break;
    case SWITCH:
        *(bool *)option = strtoul(value, NULL, 0);
        break;
    case REAL:
        *(double *)option = strtod(value, NULL);
        break;
    case METHOD:
        *(CclMotionMethod *)option = !strcmp(value, "diff")       ? CCL_MOTION_DIFF
                                     : !strcmp(value, "ema")      ? CCL_MOTION_EMA
                                     : !strcmp(value, "feedback") ? CCL_MOTION_FEEDBACK
                                                                  : CCL_MOTION_MOG2;
        break;
    case BACKEND:
        *(CclBackendKind *)option = !strcmp(value, "cuda") ? CCL_BACKEND_CUDA : CCL_BACKEND_CPU;
        break;
    case SHADOW:
        *(bool *)option = !strcmp(value, "drop");
        break;
    }
}

static void set_option(Options *o, const char *name, const char *value)
{
    for (unsigned i = 0; i < sizeof table / sizeof *table; i++)
        if (!strcmp(table[i].name, name)) {
            store(table[i].kind, (char *)o + table[i].offset, value);
            return;
        }
    die("no such option");
}

static Options parse(int argc, char **argv)
{
    Options o = { .config = ccl_motion_config_default(), .params = ccl_motion_params_default(), .fps = 25 };
    if (argc < 3)
        die("usage: motion WIDTH HEIGHT [OPTION=VALUE ...] < pictures > masks");
    o.config.threads = 1;
    o.config.timing = true;
    o.config.width = (uint32_t)atoi(argv[1]), o.config.height = (uint32_t)atoi(argv[2]);
    for (int i = 3; i < argc; i++) {
        char *const equals = strchr(argv[i], '=');
        if (!equals)
            die("options are NAME=VALUE");
        *equals = 0;
        set_option(&o, argv[i], equals + 1);
    }
    if (o.config.work_height) /* the picture's aspect ratio */
        o.config.work_width =
            (o.config.width * o.config.work_height + o.config.height / 2) / o.config.height;
    return o;
}

static int compare(const void *a, const void *b)
{
    return (*(const float *)a > *(const float *)b) - (*(const float *)a < *(const float *)b);
}

/* Pictures that are played forwards and backwards. */
typedef struct Clip {
    uint8_t *pictures;
    size_t n, size;
    CclMemory memory;
} Clip;

static CclMotionPicture picture_at(const Options *o, const Clip *clip, size_t i)
{
    const size_t lap = i / clip->n, at = lap & 1 ? clip->n - 1 - i % clip->n : i % clip->n;
    const uint32_t width = o->config.width, height = o->config.height;
    const uint32_t chroma_width = (width + 1) / 2, chroma_height = (height + 1) / 2;
    const uint8_t *const luma = clip->pictures + at * clip->size, *const u = luma + (size_t)width * height;
    CclMotionPicture picture = { .us = (int64_t)((double)i * 1e6 / o->fps) };
    picture.luma = (CclMask){ .data = luma, .stride = width, .width = width, .height = height, .memory = clip->memory };
    if (o->config.chroma)
        picture.chroma = (CclMotionChroma){ u, u + (size_t)chroma_width * chroma_height, { chroma_width, chroma_width }, 1,
                                            chroma_width,
                                            chroma_height };
    return picture;
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
        const CclMotionPicture picture = picture_at(stream->o, stream->clip, i);
        need(ccl_motion_submit_picture(stream->motion, &picture, &stream->o->params, &stream->mask));
        need(ccl_motion_collect(stream->motion, NULL));
    }
    return NULL;
}

/* Several detectors at the same time: the throughput of the machine. */
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

/* A detector with `depth` pictures of a clip in flight, and the mask of each picture. */
typedef struct DeepRun {
    const Options *o;
    const Clip *clip;
    unsigned depth;
    CclMotion *motion;
    uint8_t *masks;
    uint64_t *foreground; /* of each picture */
    double submit_us;     /* duration of all submissions */
} DeepRun;

static DeepRun deep_run_new(const Options *o, const Clip *clip, unsigned depth, size_t mask_size)
{
    CclMotionConfig config = o->config;
    DeepRun run = { .o = o, .clip = clip, .depth = depth };
    config.depth = depth;
    need(ccl_motion_new(&config, &run.motion));
    run.masks = alloc_near(clip, clip->n * mask_size);
    run.foreground = calloc(clip->n, sizeof *run.foreground);
    if (!run.foreground)
        die("out of memory");
    return run;
}

static void deep_run_free(DeepRun *run)
{
    ccl_motion_free(run->motion);
    free_near(run->clip, run->masks);
    free(run->foreground);
}

/* A lap of the clip. Returns the duration. */
static double run_lap(DeepRun *run, unsigned lap, uint32_t width, uint32_t height)
{
    const Clip *const clip = run->clip;
    const size_t n = clip->n;
    const unsigned depth = run->depth;
    struct timespec begin, submit;
    clock_gettime(CLOCK_MONOTONIC, &begin);
    for (size_t i = 0; i < n + depth; i++) {
        CclMotionInfo info;
        if (i >= depth) {
            need(ccl_motion_collect(run->motion, &info));
            run->foreground[i - depth] = info.foreground;
        }
        if (i >= n)
            continue;
        const CclMotionPicture picture = picture_at(run->o, clip, lap * n + i);
        const CclMotionMask mask = { .data = run->masks + i * width * height, .stride = width, .memory = clip->memory };
        clock_gettime(CLOCK_MONOTONIC, &submit);
        need(ccl_motion_submit_picture(run->motion, &picture, &run->o->params, &mask));
        run->submit_us += elapsed_us(&submit);
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

/* Several pictures in flight, one lap of the clip after the other. All masks must be the same as with one picture in flight. */
static void run_depth(const Options *o, const Clip *clip, uint32_t width, uint32_t height)
{
    const size_t size = (size_t)width * height;
    DeepRun one = deep_run_new(o, clip, 1, size), several = deep_run_new(o, clip, o->depth, size);
    float *const times = calloc(o->repeat, sizeof *times);
    if (!times)
        die("out of memory");
    for (unsigned lap = 0; lap < o->repeat; lap++) {
        run_lap(&one, lap, width, height);
        times[lap] = (float)(run_lap(&several, lap, width, height) / (double)clip->n);
        compare_masks(clip, several.masks, one.masks, clip->n * size);
        if (memcmp(one.foreground, several.foreground, clip->n * sizeof *one.foreground))
            die("with several pictures in flight the counts are others");
    }
    qsort(times, o->repeat, sizeof *times, compare);
    fprintf(stderr, "%u in flight: %.1f us a picture (median of %u laps; least %.1f, most %.1f), %.1f of them to submit it; "
            "all masks and counts as with one\n", o->depth, times[o->repeat / 2], o->repeat, times[0],
            times[o->repeat - 1], several.submit_us / (double)(clip->n * o->repeat));
    deep_run_free(&one), deep_run_free(&several);
    free(times);
}

/* ---------------------------------------------------------------- one picture after the other */

/* All pictures of stdin, in host memory. */
static Clip read_clip(const Options *o)
{
    const size_t luma = (size_t)o->config.width * o->config.height;
    const size_t chroma = (size_t)((o->config.width + 1) / 2) * ((o->config.height + 1) / 2);
    const size_t size = luma + (o->config.chroma ? 2 * chroma : 0);
    uint8_t *pictures = NULL;
    size_t n = 0;
    for (uint8_t *grown; (grown = realloc(pictures, (n + 1) * size)); n++) {
        pictures = grown;
        if (fread(pictures + n * size, 1, size, stdin) != size)
            break;
    }
    if (!n)
        die("no whole picture on stdin");
    return (Clip){ pictures, n, size, CCL_MEMORY_HOST };
}

static void move_to_device(Clip *clip)
{
    uint8_t *const device = device_alloc(clip->n * clip->size);
    device_upload(device, clip->pictures, clip->n * clip->size);
    free(clip->pictures);
    clip->pictures = device;
    clip->memory = CCL_MEMORY_DEVICE;
}

/* Times of all pictures, and sums over them. */
typedef struct Times {
    size_t n;
    float *us, *kernel_us, *processor_us;
    double sum_us, foreground;
} Times;

static void time_picture(const Options *o, const Clip *clip, CclMotion *motion, const CclMotionMask *mask, Times *times)
{
    const CclMotionPicture picture = picture_at(o, clip, times->n);
    CclMotionInfo info;
    const double start = processor_us();
    need(ccl_motion_submit_picture(motion, &picture, &o->params, mask));
    need(ccl_motion_collect(motion, &info));
    times->processor_us[times->n] = (float)(processor_us() - start);
    times->us[times->n] = info.us;
    times->kernel_us[times->n] = info.kernel_us;
    times->sum_us += info.us;
    times->foreground += (double)info.foreground / (double)info.pixels;
    times->n++;
}

static void print_times(const Times *times, uint32_t width, uint32_t height)
{
    const size_t n = times->n;
    qsort(times->us, n, sizeof *times->us, compare);
    qsort(times->processor_us, n, sizeof *times->us, compare);
    qsort(times->kernel_us, n, sizeof *times->us, compare);
    fprintf(stderr, "%zu pictures of %ux%u: median %.1f us, mean %.1f us, least %.1f us; %.2f %% foreground\n", n, width,
            height, times->us[n / 2], times->sum_us / (double)n, times->us[0], 100 * times->foreground / (double)n);
    fprintf(stderr, "processor time: median %.1f us\n", times->processor_us[n / 2]);
    if (times->kernel_us[0] >= 0)
        fprintf(stderr, "kernels: median %.1f us, least %.1f us\n", times->kernel_us[n / 2], times->kernel_us[0]);
}

/* Without `repeat` each mask goes to stdout. */
static void run_pictures(const Options *o, const Clip *clip, CclMotion *motion, uint32_t width, uint32_t height)
{
    const size_t n = o->repeat ? clip->n * o->repeat : clip->n, size = (size_t)width * height;
    Times times = { .us = malloc(n * sizeof(float)), .kernel_us = malloc(n * sizeof(float)),
                    .processor_us = malloc(n * sizeof(float)) };
    const CclMotionMask mask = { .data = alloc_near(clip, size), .stride = width, .memory = clip->memory };
    if (!times.us || !times.kernel_us || !times.processor_us)
        die("out of memory");
    while (times.n < n) {
        time_picture(o, clip, motion, &mask, &times);
        if (!o->repeat && fwrite(mask.data, 1, size, stdout) != size)
            die("cannot write");
    }
    print_times(&times, width, height);
    free_near(clip, mask.data);
    free(times.us), free(times.kernel_us), free(times.processor_us);
}

int main(int argc, char **argv)
{
    const Options o = parse(argc, argv);
    CclMotion *motion;
    uint32_t width, height;
    need(ccl_motion_new(&o.config, &motion));
    ccl_motion_size(motion, &width, &height);

    Clip clip = read_clip(&o);
    if (o.resident && o.repeat)
        move_to_device(&clip);
    run_pictures(&o, &clip, motion, width, height);
    ccl_motion_free(motion);
    if (o.streams && o.repeat)
        run_streams(&o, &clip, width, height);
    if (o.depth && o.repeat)
        run_depth(&o, &clip, width, height);
    free_near(&clip, clip.pictures);
    return 0;
}
