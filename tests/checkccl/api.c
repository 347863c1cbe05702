/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* The rules of ccl.h besides the right result: frames in flight, contexts side by side, and what a context reports about
 * itself. The errors are in api_errors.c. */
#include "api.h"
#include "device.h"

#include "backend.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* The stride of a mask or label image of one row has no effect, even if it is huge. And on CUDA a caller may declare memory as
 * page-locked that is not. */
static void check_single_row(Session *session, const Subject *subject)
{
    static const uint8_t narrow[7] = { 1, 0, 1, 1, 0, 0, 1 };
    static const uint16_t wide[7] = { 256, 0, 1, 2, 0, 0, 3 };
    static const uint32_t expected[7] = { 1, 0, 2, 2, 0, 0, 3 };
    CclConfig config = small_config(subject);
    config.labels = true;
    CclContext *const context = open_or_fail(session, subject, &config);
    if (!context)
        return;
    for (unsigned i = 0; i < (config.backend == CCL_BACKEND_CUDA ? 4 : 2); i++) {
        const bool is_wide = i % 2, pinned = i / 2;
        const CclMask mask = { .data = is_wide ? (const void *)wide : narrow, .stride = (size_t)1 << 40, .width = 7,
                               .height = 1, .pixel_size = is_wide ? 2 : 1,
                               .memory = pinned ? CCL_MEMORY_PINNED : CCL_MEMORY_HOST };
        uint32_t image[7];
        const CclLabels labels = { .data = image, .stride = (size_t)1 << 33 };
        CclTable table;
        check(session, ccl_analyze(context, &mask, NULL, &labels, &table) == CCL_OK && table.n_found == 3 &&
                           !memcmp(image, expected, sizeof image),
              "%s: one row of %u bits with strides of 2^40 and 2^33, said to be %s: %s", subject->name, is_wide ? 16 : 8,
              pinned ? "page-locked" : "in ordinary memory", ccl_error_message());
    }
    ccl_context_free(context);
}

/* ---------------------------------------------------------------- frames in flight */

typedef struct Frame {
    Image image;
    Case c;
    Outcome expected, got;
    uint32_t *labels;
} Frame;

static Frame *frames_new(Session *session, unsigned n, uint32_t max_width, uint32_t max_height,
                         CclConnectivity connectivity)
{
    Frame *const frames = calloc(n, sizeof *frames);
    for (unsigned i = 0; i < n; i++) {
        Frame *const f = &frames[i];
        const uint32_t width = i ? 1 + random_below(&session->random, max_width) : max_width;
        const uint32_t height = i ? 1 + random_below(&session->random, max_height) : max_height;
        f->image = image_noise(width, height, 20 + 10 * (i % 6), 1 + i % 3, &session->random);
        f->c = case_new(&f->image, PRODUCT_LABELS, "frame %u", i);
        f->c.filter.min_area = i % 3;
        f->expected = expected_outcome(&f->c, connectivity);
        f->labels = malloc((size_t)width * height * 4);
        f->got.labels = f->labels;
    }
    return frames;
}

static void frames_free(Frame *frames, unsigned n)
{
    for (unsigned i = 0; i < n; i++) {
        image_free(&frames[i].image);
        outcome_free(&frames[i].expected);
        free(frames[i].labels);
    }
    free(frames);
}

static CclStatus frame_submit(CclContext *context, Frame *f)
{
    const CclMask mask = { .data = f->image.pixels, .stride = f->image.width, .width = f->image.width,
                           .height = f->image.height };
    const CclLabels labels = { .data = f->labels, .stride = (size_t)f->image.width * 4 };
    return ccl_submit(context, &mask, &f->c.filter, &labels);
}

/* The table is compared where the library keeps it. */
static bool frame_is_right(Frame *f, const CclTable *table, char why[400])
{
    f->got.table = *table;
    return same_outcome(&f->c, &f->expected, &f->got, why);
}

static CclConfig ring_config(const Subject *subject, unsigned depth)
{
    CclConfig config = subject->config;
    config.max_width = 90;
    config.max_height = 70;
    config.max_components = 90 * 70;
    config.depth = depth;
    config.labels = true;
    return config;
}

/* As many in flight as the context allows, one more refused, all back in order; three times around. */
static void check_ring(Session *session, const Subject *subject, unsigned depth)
{
    enum { N = 3 * CCL_MAX_DEPTH };
    char why[400];
    const CclConfig config = ring_config(subject, depth);
    CclContext *const context = open_or_fail(session, subject, &config);
    if (!context)
        return;
    Frame *const frames = frames_new(session, N, config.max_width, config.max_height, config.connectivity);
    unsigned submitted = 0, collected = 0;
    while (collected < N) {
        while (submitted < N && submitted - collected < depth) {
            const CclStatus status = frame_submit(context, &frames[submitted]);
            if (!check(session, status == CCL_OK, "%s, depth %u: frame %u: %s", subject->name, depth, submitted,
                       ccl_error_message()))
                goto out;
            submitted++;
        }
        if (submitted - collected == depth)
            check(session,
                  frame_submit(context, &frames[0]) == CCL_ERROR_ARGUMENT && strstr(ccl_error_message(), "waiting") &&
                      strchr(ccl_error_message(), (int)('0' + depth)),
                  "%s, depth %u: one frame too many says \"%s\"", subject->name, depth, ccl_error_message());
        CclTable table;
        CclTable unused;
        if (depth > 1)
            check(session,
                  ccl_analyze(context, &(CclMask){ .data = why, .stride = 1, .width = 1, .height = 1 }, NULL, NULL,
                              &unused) == CCL_ERROR_ARGUMENT,
                  "%s: ccl_analyze() with frames in flight is not refused", subject->name);
        if (!check(session, ccl_collect(context, &table) == CCL_OK, "%s, depth %u: %s", subject->name, depth,
                   ccl_error_message()))
            goto out;
        check(session, frame_is_right(&frames[collected], &table, why), "%s, depth %u, frame %u: %s", subject->name,
              depth, collected, why);
        collected++;
    }
    CclTable table;
    check(session, ccl_ready(context) && ccl_collect(context, &table) == CCL_ERROR_ARGUMENT,
          "%s: more frames than submitted", subject->name);
out:
    ccl_context_free(context);
    frames_free(frames, N);
}

/* A table stays what it was while depth - 1 more frames are submitted; frames nobody collects are dropped with the
 * context; ccl_ready() comes true by itself. */
static void check_lifetime(Session *session, const Subject *subject)
{
    char why[400];
    const CclConfig config = ring_config(subject, CCL_MAX_DEPTH);
    CclContext *const context = open_or_fail(session, subject, &config);
    if (!context)
        return;
    Frame *const frames = frames_new(session, CCL_MAX_DEPTH, config.max_width, config.max_height, config.connectivity);
    CclTable table;
    bool ok = frame_submit(context, &frames[0]) == CCL_OK && ccl_collect(context, &table) == CCL_OK;
    for (unsigned i = 1; i < CCL_MAX_DEPTH; i++)
        ok = ok && frame_submit(context, &frames[i]) == CCL_OK;
    for (const double start = seconds(); ok && !ccl_ready(context) && seconds() < start + 60;)
        ;
    check(session, ok && ccl_ready(context), "%s: frames submitted never become ready", subject->name);
    check(session, ok && frame_is_right(&frames[0], &table, why), "%s: a table did not outlive %u more frames",
          subject->name, CCL_MAX_DEPTH - 1);
    ccl_context_free(context);
    frames_free(frames, CCL_MAX_DEPTH);
}

/* ---------------------------------------------------------------- contexts side by side */

static void check_interleaved(Session *session, const Subject *a, const Subject *b)
{
    enum { N = 12 };
    char why[400];
    const CclConfig configs[2] = { ring_config(a, 2), ring_config(b, 3) };
    CclContext *const contexts[2] = { open_or_fail(session, a, &configs[0]), open_or_fail(session, b, &configs[1]) };
    Frame *frames[2];
    for (unsigned k = 0; k < 2; k++)
        frames[k] = frames_new(session, N, 90, 70, configs[k].connectivity);
    for (unsigned i = 0; contexts[0] && contexts[1] && i < N; i++) {
        CclTable table;
        for (unsigned k = 0; k < 2; k++)
            check(session, frame_submit(contexts[k], &frames[k][i]) == CCL_OK, "interleaved: %s", ccl_error_message());
        for (unsigned k = 2; k-- > 0;) {
            const bool ok = ccl_collect(contexts[k], &table) == CCL_OK && frame_is_right(&frames[k][i], &table, why);
            check(session, ok, "%s beside %s: frame %u is wrong", (k ? b : a)->name, (k ? a : b)->name, i);
        }
    }
    for (unsigned k = 0; k < 2; k++) {
        ccl_context_free(contexts[k]);
        frames_free(frames[k], N);
    }
}

typedef struct Worker {
    pthread_t thread;
    const Subject *subject;
    Frame *frames;
    unsigned n, n_right;
    bool message_kept;
} Worker;

static void *work(void *data)
{
    Worker *const w = data;
    char why[400], message[200];
    CclConfig config = ring_config(w->subject, 1);
    CclContext *context, *none;

    /* Its own message, whatever the others fail with meanwhile. */
    config.max_width = 20000 + (uint32_t)w->n;
    ccl_context_new(&config, &none);
    snprintf(message, sizeof message, "%s", ccl_error_message());
    config.max_width = 90;
    w->message_kept = strstr(message, "2000") != NULL;
    if (ccl_context_new(&config, &context) != CCL_OK)
        return NULL;
    for (unsigned i = 0; i < w->n; i++) {
        CclTable table;
        if (frame_submit(context, &w->frames[i]) == CCL_OK && ccl_collect(context, &table) == CCL_OK)
            w->n_right += frame_is_right(&w->frames[i], &table, why);
        w->message_kept = w->message_kept && (w->n_right <= i || !strcmp(message, ccl_error_message()));
    }
    ccl_context_free(context);
    return NULL;
}

static void check_threads(Session *session, const Subject *subject)
{
    enum { N_WORKERS = 4 };
    Worker workers[N_WORKERS];
    for (unsigned i = 0; i < N_WORKERS; i++) {
        workers[i] = (Worker){ .subject = subject, .n = 6 + i };
        workers[i].frames = frames_new(session, workers[i].n, 90, 70, subject->config.connectivity);
    }
    for (unsigned i = 0; i < N_WORKERS; i++)
        pthread_create(&workers[i].thread, NULL, work, &workers[i]);
    for (unsigned i = 0; i < N_WORKERS; i++) {
        pthread_join(workers[i].thread, NULL);
        check(session, workers[i].n_right == workers[i].n, "%s in %d threads: %u of %u frames right", subject->name,
              N_WORKERS, workers[i].n_right, workers[i].n);
        check(session, workers[i].message_kept, "%s: a thread's error message was changed by another", subject->name);
        frames_free(workers[i].frames, workers[i].n);
    }
}

/* ---------------------------------------------------------------- what a context says about itself */

static void check_timing(Session *session, const Subject *subject)
{
    for (unsigned timing = 0; timing < 2; timing++) {
        CclConfig config = ring_config(subject, 1);
        config.timing = timing;
        CclContext *const context = open_or_fail(session, subject, &config);
        if (!context)
            return;
        Frame *const frames = frames_new(session, 1, 90, 70, config.connectivity);
        CclTable table;
        bool ok = frame_submit(context, frames) == CCL_OK && ccl_collect(context, &table) == CCL_OK;
        if (timing)
            ok = ok && table.upload_us >= 0 && table.kernel_us > 0 && table.kernel_us < 10e6f;
        else
            ok = ok && table.upload_us == -1 && table.kernel_us == -1;
        ok = ok && (config.backend == CCL_BACKEND_CUDA ? table.pack_us >= 0 : table.pack_us == -1);
        check(session, ok, "%s: times with timing=%u: upload %g us, kernels %g us, packing %g us", subject->name, timing,
              (double)table.upload_us, (double)table.kernel_us, (double)table.pack_us);

        const CclStep *steps;
        const unsigned n = ccl_steps(context, &steps);
        check(session, timing || !n, "%s: %u steps without timing", subject->name, n);
        for (unsigned i = 0; i < n; i++)
            check(session, steps[i].name && steps[i].us >= 0 && steps[i].count > 0,
                  "%s: step %u has no name, no launch, or takes less than no time", subject->name, i);
        ccl_context_free(context);
        frames_free(frames, 1);
    }
}

static void check_description(Session *session, const Subject *subject)
{
    const bool cuda = subject->config.backend == CCL_BACKEND_CUDA;
    CclConfig config = ring_config(subject, 1);
    CclContext *context = open_or_fail(session, subject, &config);
    if (!context)
        return;
    size_t host = 0, device = 0;
    ccl_context_memory(context, &host, &device);
    check(session, host > 0 && (device > 0) == cuda, "%s: holds %zu bytes on the host, %zu on the device",
          subject->name, host, device);
    check(session, !strcmp(ccl_context_algorithm(context)->name, config.algorithm), "%s: runs \"%s\"", subject->name,
          ccl_context_algorithm(context)->name);
    check(session, (ccl_context_stream(context, 0) != NULL) == (cuda && !config.shared), "%s: stream %p", subject->name,
          ccl_context_stream(context, 0));
    check(session, !ccl_context_stream(context, 1), "%s: a second stream for one frame in flight", subject->name);
    ccl_context_free(context);

    config.algorithm = subject->config.threads % 2 ? NULL : "auto";
    context = open_or_fail(session, subject, &config);
    if (!context)
        return;
    const CclAlgorithmInfo *const info = ccl_context_algorithm(context);
    check(session,
          info->backend == config.backend && info->connectivity & config.connectivity &&
              strcmp(info->name, "reference"),
          "%s: auto chose \"%s\"", subject->name, info->name);
    ccl_context_free(context);
}

/* ---------------------------------------------------------------- CUDA */

/* Frames in flight have a stream and memory each, unless the method waits for the device in between. */
static void check_stream_slots(Session *session, const Subject *subject)
{
    size_t host, device[2] = { 0 };
    for (unsigned depth = 1; depth <= CCL_MAX_DEPTH; depth += CCL_MAX_DEPTH - 1) {
        const CclConfig config = ring_config(subject, depth);
        CclContext *const context = open_or_fail(session, subject, &config);
        if (!context)
            return;
        const unsigned expected = config.shared ? 0 : context->algorithm->iterative ? 1 : depth;
        unsigned n = 0;
        while (ccl_context_stream(context, n))
            n++;
        check(session, n == expected, "%s: %u streams for %u frames in flight", subject->name, n, depth);
        ccl_context_memory(context, &host, &device[depth > 1]);
        ccl_context_free(context);
    }
    check(session, device[1] > device[0], "%s: %zu bytes on the device for one frame, %zu for more", subject->name,
          device[0], device[1]);
}

/* The mask is written late by a stream of the caller's; the library has to wait for it on the device. */
static void check_producer(Session *session, const Subject *subject)
{
    char why[400];
    const CclConfig config = ring_config(subject, 1);
    CclContext *const context = open_or_fail(session, subject, &config);
    if (!context)
        return;
    Frame *const f = frames_new(session, 1, 90, 70, config.connectivity);
    const size_t size = 90 * 70;
    uint8_t *const inverse = malloc(size);
    for (size_t i = 0; i < size; i++)
        inverse[i] = !f->image.pixels[i];
    void *const mask_memory = device_alloc(size), *const source = device_alloc(size),
                *const stream = device_stream_new();
    device_upload(mask_memory, inverse, size);
    device_upload(source, f->image.pixels, size);

    const CclMask mask = { .data = mask_memory, .stride = 90, .width = 90, .height = 70, .memory = CCL_MEMORY_DEVICE,
                           .producer_stream = stream };
    const CclLabels labels = { .data = f->labels, .stride = 360 };
    CclTable table;
    device_delayed_copy(stream, mask_memory, source, size, 3000);
    const bool ok =
        ccl_submit(context, &mask, &f->c.filter, &labels) == CCL_OK && ccl_collect(context, &table) == CCL_OK;
    check(session, ok && frame_is_right(f, &table, why), "%s: does not wait for the mask's producer", subject->name);

    device_synchronize();
    device_stream_free(stream);
    device_free(mask_memory);
    device_free(source);
    free(inverse);
    ccl_context_free(context);
    frames_free(f, 1);
}

static void check_current_device(Session *session, const Subject *subject)
{
    char why[400];
    CclConfig config = ring_config(subject, 2);
    device_synchronize(); /* makes the first device's context current */
    config.device = -1;
    CclContext *const context = open_or_fail(session, subject, &config);
    if (!context)
        return;
    Frame *const f = frames_new(session, 1, 90, 70, config.connectivity);
    CclTable table;
    const bool ok = frame_submit(context, f) == CCL_OK && ccl_collect(context, &table) == CCL_OK;
    check(session, ok && frame_is_right(f, &table, why), "%s: device -1: %s", subject->name, ccl_error_message());
    ccl_context_free(context);
    frames_free(f, 1);
}

/* What is wrong in a child process, where CUDA does not work and the CPU does; 0: nothing. */
static int child_problem(const Subject *subject, CclContext *context, Frame *f)
{
    CclConfig config = ring_config(subject, 1);
    CclContext *other;
    CclTable table;
    if (frame_submit(context, f) != CCL_ERROR_NO_DEVICE || !strstr(ccl_error_message(), "forked"))
        return 1;
    if (ccl_context_new(&config, &other) != CCL_ERROR_NO_DEVICE || !strstr(ccl_error_message(), "forked"))
        return 2;
    config.backend = CCL_BACKEND_CPU;
    config.algorithm = NULL;
    return ccl_context_new(&config, &other) == CCL_OK && frame_submit(other, f) == CCL_OK && ccl_collect(other, &table) == CCL_OK
               ? 0
               : 3;
}

static void check_forked(Session *session, const Subject *subject)
{
    char why[400];
    const CclConfig config = ring_config(subject, 1);
    CclContext *const context = open_or_fail(session, subject, &config);
    if (!context)
        return;
    Frame *const f = frames_new(session, 1, 90, 70, config.connectivity);
    CclTable table;
    int status = -1;
    bool ok = frame_submit(context, f) == CCL_OK && ccl_collect(context, &table) == CCL_OK;
    fflush(stdout);
    const pid_t child = fork();
    if (!child) {
        alarm(60);
        _exit(child_problem(subject, context, f));
    }
    waitpid(child, &status, 0);
    check(session, ok && child > 0 && !status, "%s: in a child process: status %d", subject->name, status);
    ok = frame_submit(context, f) == CCL_OK && ccl_collect(context, &table) == CCL_OK;
    check(session, ok && frame_is_right(f, &table, why), "%s: after a fork: %s", subject->name, ccl_error_message());
    ccl_context_free(context);
    frames_free(f, 1);
}

/* ---------------------------------------------------------------- all of it */

static void check_subject(Session *session, const Subject *subject)
{
    for (unsigned depth = 1; depth <= CCL_MAX_DEPTH; depth++)
        check_ring(session, subject, depth);
    check_lifetime(session, subject);
    check_timing(session, subject);
    check_description(session, subject);
    check_threads(session, subject);
    if (subject->config.backend == CCL_BACKEND_CUDA) {
        check_stream_slots(session, subject);
        check_producer(session, subject);
        check_current_device(session, subject);
        check_forked(session, subject);
    }
}

void check_api(Session *session)
{
    check_methods(session);
    check_no_cuda(session);
    for (unsigned s = 0; s < session->n_subjects; s++) {
        const Subject *const subject = &session->subjects[s];
        const Subject *const next = &session->subjects[(s + 1) % session->n_subjects];
        if (subject->dead)
            continue;
        layout_now_running(subject, NULL);
        if (session->verbose)
            printf("  %s\n", subject->name);
        if (!s || subject->config.backend != subject[-1].config.backend)
            check_config_errors(session, subject);
        check_frame_errors(session, subject);
        check_single_row(session, subject);
        check_subject(session, subject);
        check_interleaved(session, subject, next);
    }
}
