/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * What cpu-peers.py and gpu-peers.py call: the core library, the floors and OpenCV's contours, each timed around the
 * work alone, so that Python's own time is in no figure. OpenCV is found at run time through its C interface.
 */
#include "../support/clock.h"
#include "ccl.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define EXPORT __attribute__((visibility("default")))

/* Called by Python, so that no header declares them. */
#pragma GCC diagnostic ignored "-Wmissing-prototypes"

static clockid_t timer = CLOCK_MONOTONIC;

/* From now on count the time the thread runs, not the time that passes: for one thread, on a busy machine. */
EXPORT void peers_count_cpu_time(void)
{
    timer = CLOCK_THREAD_CPUTIME_ID;
}

static double now_us(void)
{
    return clock_us(timer);
}

/* ---------------------------------------------------------------- this library */

EXPORT CclContext *peers_new(unsigned width, unsigned height, int connectivity, unsigned cpu_flags, unsigned threads)
{
    CclConfig config = ccl_config_default();
    config.max_width = width, config.max_height = height;
    config.connectivity = (CclConnectivity)connectivity;
    config.cpu_flags = cpu_flags;
    config.threads = threads;
    config.labels = true;
    config.max_components = CCL_MAX_COMPONENTS;
    CclContext *context;
    return ccl_context_new(&config, &context) == CCL_OK ? context : NULL;
}

EXPORT void peers_free(CclContext *context)
{
    ccl_context_free(context);
}

/* Of the last peers_analyze(). It stays here, so that Python need not know the layout of the core's structures. */
static CclTable table;

/* Microseconds, or -1; `labels` may be NULL. */
EXPORT double peers_analyze(CclContext *context, const uint8_t *mask, unsigned width, unsigned height, uint32_t *labels)
{
    const CclMask view = { .data = mask, .stride = width, .width = width, .height = height };
    const CclLabels image = { .data = labels, .stride = (size_t)width * 4 };
    const double start = now_us();
    const CclStatus status = ccl_analyze(context, &view, NULL, labels ? &image : NULL, &table);
    return status == CCL_OK ? now_us() - start : -1;
}

/* What cpu-peers.py compares: its BLOB. */
typedef struct Blob {
    uint64_t area, m10, m01, x0, y0, x1, y1;
} Blob;

/* Components in the last table. Copies them to `blobs`, unless that is NULL. */
EXPORT uint32_t peers_blobs(Blob *blobs)
{
    for (uint32_t i = 0; blobs && i < table.n_components; i++) {
        const CclComponent *const c = &table.components[i];
        blobs[i] = (Blob){ .area = c->moments.area, .m10 = c->moments.m10, .m01 = c->moments.m01,
                           .x0 = c->x0, .y0 = c->y0, .x1 = c->x1, .y1 = c->y1 };
    }
    return table.n_components;
}

/* A method by its name; NULL: see peers_error(). A CUDA context takes CCL_MAX_DEPTH frames at a time. */
EXPORT CclContext *peers_open(int cuda, const char *algorithm, unsigned width, unsigned height, int connectivity)
{
    CclConfig config = ccl_config_default();
    config.backend = cuda ? CCL_BACKEND_CUDA : CCL_BACKEND_CPU;
    config.algorithm = algorithm;
    config.max_width = width, config.max_height = height;
    config.connectivity = (CclConnectivity)connectivity;
    config.threads = 1;
    config.labels = true;
    config.max_components = CCL_MAX_COMPONENTS;
    config.depth = cuda ? CCL_MAX_DEPTH : 1;
    CclContext *context;
    return ccl_context_new(&config, &context) == CCL_OK ? context : NULL;
}

EXPORT const char *peers_error(void)
{
    return ccl_error_message();
}

/* Microseconds a frame for n frames back to back, or -1: masks take turns, label images too (NULL: none wanted), all of
 * them in device memory for a CUDA context. n_found: components of the last frame, 0 with provisional labels. */
EXPORT double peers_stream(CclContext *context, void *const *masks, unsigned n_masks, unsigned n, unsigned width,
                           unsigned height, void *const *labels, unsigned n_labels, int provisional, uint32_t *n_found)
{
    const bool cuda = ccl_context_algorithm(context)->backend == CCL_BACKEND_CUDA;
    const CclMemory memory = cuda ? CCL_MEMORY_DEVICE : CCL_MEMORY_HOST;
    const unsigned depth = cuda ? CCL_MAX_DEPTH : 1;
    CclTable collected = { .n_found = 0 };
    const double start = now_us();
    for (unsigned i = 0; i < n + depth; i++) {
        if (i >= depth && ccl_collect(context, &collected) != CCL_OK)
            return -1;
        if (i >= n)
            continue;
        const CclMask mask = {
            .data = masks[i % n_masks], .stride = width, .width = width, .height = height, .memory = memory
        };
        const CclLabels image = { .data = labels ? labels[i % n_labels] : NULL, .stride = (size_t)width * 4,
                                  .memory = memory, .provisional = provisional };
        if (ccl_submit(context, &mask, NULL, labels ? &image : NULL) != CCL_OK)
            return -1;
    }
    *n_found = collected.n_found;
    return (now_us() - start) / n;
}

/* ---------------------------------------------------------------- floors */

/* The mask read once. */
EXPORT double peers_read(const uint8_t *mask, size_t size)
{
    const double start = now_us();
    const void *const found = memchr(mask, 3, size); /* a value that no mask has */
    return found ? -1 : now_us() - start;
}

/* The label image written once. */
EXPORT double peers_write(uint32_t *labels, size_t size)
{
    const double start = now_us();
    memset(labels, 0, size);
    return now_us() - start;
}

/* ---------------------------------------------------------------- OpenCV's contours */

/* Only what is used of the structures of opencv2/core/types_c.h. */
typedef struct CvSeq {
    int flags, header_size;
    struct CvSeq *h_prev, *h_next, *v_prev, *v_next;
} CvSeq;
typedef struct CvRect {
    int x, y, width, height;
} CvRect;
typedef struct CvPoint {
    int x, y;
} CvPoint;
enum { CV_CONTOUR_HEADER = 128, CV_EXTERNAL = 0, CV_APPROX_SIMPLE = 2, CV_8U1 = 0 };

static struct {
    void *(*matrix)(int rows, int cols, int type);
    void (*set)(void *matrix, void *data, int step);
    void *(*storage)(int block_size);
    void (*clear)(void *storage);
    int (*find)(void *image, void *storage, CvSeq **first, int header_size, int mode, int method, CvPoint offset);
    CvRect (*bounds)(void *points, int update);
    void (*moments)(const void *points, void *moments, int binary);
} cv;

/* True when both libraries of OpenCV have what is needed. */
EXPORT int peers_find_contours_in(const char *core, const char *imgproc)
{
    void *const a = dlopen(core, RTLD_NOW), *const b = dlopen(imgproc, RTLD_NOW);
    if (!a || !b)
        return 0;
    *(void **)&cv.matrix = dlsym(a, "cvCreateMatHeader");
    *(void **)&cv.set = dlsym(a, "cvSetData");
    *(void **)&cv.storage = dlsym(a, "cvCreateMemStorage");
    *(void **)&cv.clear = dlsym(a, "cvClearMemStorage");
    *(void **)&cv.find = dlsym(b, "cvFindContours");
    *(void **)&cv.bounds = dlsym(b, "cvBoundingRect");
    *(void **)&cv.moments = dlsym(b, "cvMoments");
    return cv.matrix && cv.set && cv.storage && cv.clear && cv.find && cv.bounds && cv.moments;
}

/* findContours (external), boundingRect and moments of each; `padded` has room for the mask and a border of one
 * pixel, as OpenCV's own wrapper makes it. */
EXPORT double peers_contours(const uint8_t *mask, int width, int height, uint8_t *padded, int *n_contours)
{
    static void *storage;
    const size_t step = (size_t)width + 2;
    double moments[64];
    CvSeq *first = NULL;

    if (!storage)
        storage = cv.storage(1 << 16);
    void *const image = cv.matrix(height + 2, width + 2, CV_8U1);
    const double start = now_us();
    memset(padded, 0, step);
    for (int y = 0; y < height; y++) {
        uint8_t *const row = padded + (size_t)(y + 1) * step;
        row[0] = row[width + 1] = 0;
        memcpy(row + 1, mask + (size_t)y * (size_t)width, (size_t)width);
    }
    memset(padded + (size_t)(height + 1) * step, 0, step);
    cv.set(image, padded, (int)step);
    cv.clear(storage);
    *n_contours = cv.find(image, storage, &first, CV_CONTOUR_HEADER, CV_EXTERNAL, CV_APPROX_SIMPLE,
                          (CvPoint){ -1, -1 });
    volatile int sink = 0;
    for (CvSeq *c = first; c; c = c->h_next) {
        sink += cv.bounds(c, 0).width;
        cv.moments(c, moments, 0);
    }
    return now_us() - start;
}
