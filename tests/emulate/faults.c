/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Every CUDA call fails once: device and page-locked memory that runs out, a launch that is refused, a device that is
 * lost. Whatever fails, the core says so with a status and a sentence or goes on and is right; everything is given
 * back; and the next context works. The last line is `N passed, N failed`.
 */
#include "ccl.h"
#include "motion.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* emulate.h */
void emulate_fail(const char *call, unsigned n, int error, bool lost);
unsigned emulate_calls(void);
unsigned emulate_n_allocated(void);

enum { OUT_OF_MEMORY = 2, LAUNCH_FAILURE = 719, NEVER = 1 << 30 };
enum { WIDTH = 45, HEIGHT = 31, N_FRAMES = 4, CAPACITY = 200 };

static unsigned passed, failed;
static uint8_t picture[HEIGHT][WIDTH];
static uint32_t right_labels[HEIGHT][WIDTH];
static CclComponent right_rows[CAPACITY];
static CclIntensityCounts right_intensity[CAPACITY];
static CclHullCounts right_hull[CAPACITY];
static CclHoleCounts right_holes[CAPACITY];
/* Of the mask's own pixels, for trials with CCL_FEATURE_INTENSITY. */
static const CclPicture luma = { .luma = picture, .stride = WIDTH };
static CclTable right_table;

static bool check(bool good, const char *what, const char *call, unsigned n, const char *how)
{
    good ? passed++ : failed++;
    if (!good && failed < 20)
        printf("FAILED %s: call %u of %s: %s; the last sentence: \"%s\"\n", what, n, call, how, ccl_error_message());
    return good;
}

/* ---------------------------------------------------------------- what is tried */

typedef struct Trial {
    const char *name;
    CclBackendKind backend;
    const char *algorithm; /* NULL: the motion detector */
    CclMemory memory;      /* of masks and label images */
    bool timing, shared;
    CclMotionMethod method; /* of the motion detector; FEEDBACK with chroma */
    unsigned features;
    bool is_map; /* as a label map of two values the picture gives the same */
} Trial;

typedef enum Result { RIGHT, WRONG, FAILED, NO_MASK /* ccl_pinned_alloc() said NULL */ } Result;

static Result frames(CclContext *context, const Trial *trial, CclStatus *status)
{
    static uint32_t labels_here[HEIGHT][WIDTH];
    const bool pinned = trial->memory == CCL_MEMORY_PINNED;
    uint8_t *const mask = pinned ? ccl_pinned_alloc(sizeof picture, 0) : &picture[0][0];
    uint32_t *const labels = pinned ? ccl_pinned_alloc(sizeof right_labels, 0) : &labels_here[0][0];
    Result result = mask && labels ? RIGHT : NO_MASK;
    *status = result == RIGHT ? CCL_OK : CCL_ERROR_OUT_OF_MEMORY;
    for (unsigned i = 0; i < N_FRAMES && result == RIGHT; i++) {
        memcpy(mask, picture, sizeof picture);
        memset(labels, 0x77, sizeof right_labels);
        const CclMask m = {
            .data = mask, .stride = WIDTH, .width = WIDTH, .height = HEIGHT, .memory = trial->memory, .picture = &luma
        };
        const CclLabels l = { .data = labels, .stride = WIDTH * 4, .memory = trial->memory };
        CclTable table;
        *status = ccl_submit(context, &m, NULL, &l);
        if (*status == CCL_OK)
            *status = ccl_collect(context, &table);
        if (*status != CCL_OK)
            result = FAILED;
        else if (memcmp(labels, right_labels, sizeof right_labels) || table.n_found != right_table.n_found ||
                 table.n_components != right_table.n_components ||
                 memcmp(table.components, right_rows, table.n_components * sizeof *right_rows) ||
                 (table.intensity && memcmp(table.intensity, right_intensity, table.n_components * sizeof *right_intensity)) ||
                 (table.hull && memcmp(table.hull, right_hull, table.n_components * sizeof *right_hull)) ||
                 (table.holes && memcmp(table.holes, right_holes, table.n_components * sizeof *right_holes)))
            result = WRONG;
    }
    if (pinned) {
        ccl_pinned_free(mask);
        ccl_pinned_free(labels);
    }
    return result;
}

static Result label(const Trial *trial, CclStatus *status)
{
    CclConfig config = ccl_config_default();
    CclContext *context = NULL;
    config.backend = trial->backend;
    config.algorithm = trial->algorithm;
    config.connectivity = strcmp(trial->algorithm, "ha4") ? CCL_CONNECT_8 : CCL_CONNECT_4;
    config.max_width = WIDTH;
    config.max_height = HEIGHT;
    config.max_components = CAPACITY;
    config.labels = true;
    config.timing = trial->timing;
    config.shared = trial->shared;
    config.features = trial->features;
    config.foreground = trial->is_map ? CCL_FOREGROUND_EQUAL : CCL_FOREGROUND_THRESHOLD;
    *status = ccl_context_new(&config, &context);
    if (*status != CCL_OK)
        return context ? WRONG : FAILED;
    const Result result = frames(context, trial, status);
    char sentence[400];
    snprintf(sentence, sizeof sentence, "%s", ccl_error_message());
    ccl_context_free(context);
    return result == FAILED && !sentence[0] ? WRONG : result;
}

static Result detect(const Trial *trial, CclStatus *status)
{
    CclMotionConfig config = ccl_motion_config_default();
    const CclMotionParams params = ccl_motion_params_default();
    CclMotion *motion = NULL;
    uint8_t mask[HEIGHT][WIDTH];
    config.backend = trial->backend;
    config.method = trial->method;
    config.chroma = trial->method == CCL_MOTION_FEEDBACK;
    config.width = WIDTH;
    config.height = HEIGHT;
    config.depth = 2;
    config.timing = trial->timing;
    *status = ccl_motion_new(&config, &motion);
    if (*status != CCL_OK)
        return motion ? WRONG : FAILED;
    for (unsigned i = 0; i <= N_FRAMES && *status == CCL_OK; i++) { /* two in flight */
        const CclMotionPicture source = { .luma = { .data = picture, .stride = WIDTH, .width = WIDTH, .height = HEIGHT },
                                          .chroma = { picture, picture, { WIDTH, WIDTH }, 1, WIDTH, HEIGHT },
                                          .us = CCL_MOTION_NO_TIME };
        const CclMotionMask m = { .data = &mask[0][0], .stride = WIDTH };
        if (i < N_FRAMES)
            *status = ccl_motion_submit_picture(motion, &source, &params, &m);
        if (i > 0 && *status == CCL_OK)
            *status = ccl_motion_collect(motion, NULL);
    }
    ccl_motion_free(motion);
    return *status == CCL_OK ? RIGHT : FAILED;
}

static Result try(const Trial *trial, CclStatus *status)
{
    return trial->algorithm ? label(trial, status) : detect(trial, status);
}

/* Out of which memory, or what CUDA said, and to which call, or launch of which kernel: not to "error", as a variable is called? */
static bool says_what(CclStatus status, const char *sentence)
{
    if (status == CCL_ERROR_OUT_OF_MEMORY)
        return strstr(sentence, "memory");
    return strstr(sentence, "CUDA") && !strstr(sentence, " from error at ");
}

/* ---------------------------------------------------------------- every call once */

static void let_each_fail(const Trial *trial, const char *call, int error, bool lost)
{
    const char *const of = call ? call : "all";
    const unsigned allocated = emulate_n_allocated();
    CclStatus status;

    emulate_fail(call, NEVER, error, lost);
    check(try(trial, &status) == RIGHT, trial->name, of, 0, "nothing fails");
    const unsigned n_calls = emulate_calls();
    check(n_calls > 0, trial->name, of, 0, "is never called");
    for (unsigned n = 1; n <= n_calls; n++) {
        emulate_fail(call, n, error, lost);
        const Result result = try(trial, &status);
        emulate_fail(NULL, 0, 0, false);
        check(result != WRONG, trial->name, of, n, "a wrong result, or an error without a sentence");
        if (result == FAILED) {
            check(says_what(status, ccl_error_message()), trial->name, of, n, "a sentence that does not say what failed");
            check(status == CCL_ERROR_OUT_OF_MEMORY || status == CCL_ERROR_DEVICE || status == CCL_ERROR_NO_DEVICE,
                  trial->name, of, n, "an odd status");
        }
        if (call && error == OUT_OF_MEMORY)
            check(result >= FAILED && status == CCL_ERROR_OUT_OF_MEMORY, trial->name, of, n, "not told");
        if (call && !strcmp(call, "launch") && lost)
            check(result == FAILED && status == CCL_ERROR_DEVICE, trial->name, of, n, "not told");
        check(emulate_n_allocated() == allocated, trial->name, of, n, "not everything was given back");
    }
    check(try(trial, &status) == RIGHT, trial->name, of, 0, "the next context");
    check(emulate_n_allocated() == allocated, trial->name, of, 0, "not everything was given back");
}

static void draw_picture(void)
{
    uint32_t state = 1;
    for (unsigned i = 0; i < WIDTH * HEIGHT; i++) {
        state = state * 1664525 + 1013904223;
        (&picture[0][0])[i] = state >> 28 < 8;
    }
}

static void expect(const char *algorithm, unsigned connectivity)
{
    CclConfig config = ccl_config_default();
    CclContext *context = NULL;
    config.connectivity = (CclConnectivity)connectivity;
    config.algorithm = algorithm;
    config.max_width = WIDTH;
    config.max_height = HEIGHT;
    config.max_components = CAPACITY;
    config.labels = true;
    config.features = CCL_FEATURE_INTENSITY | CCL_FEATURE_HULL | CCL_FEATURE_HOLES;
    const CclMask m = { .data = picture, .stride = WIDTH, .width = WIDTH, .height = HEIGHT, .picture = &luma };
    const CclLabels l = { .data = &right_labels[0][0], .stride = WIDTH * 4 };
    if (ccl_context_new(&config, &context) != CCL_OK || ccl_analyze(context, &m, NULL, &l, &right_table) != CCL_OK)
        exit(2);
    memcpy(right_rows, right_table.components, right_table.n_components * sizeof *right_rows);
    memcpy(right_intensity, right_table.intensity, right_table.n_components * sizeof *right_intensity);
    memcpy(right_hull, right_table.hull, right_table.n_components * sizeof *right_hull);
    memcpy(right_holes, right_table.holes, right_table.n_components * sizeof *right_holes);
    ccl_context_free(context);
}

/* usage: faults-emulated [PART OF A NAME] */
int main(int argc, char **argv)
{
    static const Trial trials[] = {
        { "runs", CCL_BACKEND_CUDA, "runs", CCL_MEMORY_HOST, false, false, CCL_MOTION_MOG2, 0, false },
        { "runs, pinned memory", CCL_BACKEND_CUDA, "runs", CCL_MEMORY_PINNED, false, false, CCL_MOTION_MOG2, 0, false },
        { "runs, pinned memory, engine", CCL_BACKEND_CUDA, "runs", CCL_MEMORY_PINNED, false, true, CCL_MOTION_MOG2, 0, false },
        { "runs, pinned memory, timed", CCL_BACKEND_CUDA, "runs", CCL_MEMORY_PINNED, true, false, CCL_MOTION_MOG2, 0, false },
        { "runs, intensity", CCL_BACKEND_CUDA, "runs", CCL_MEMORY_HOST, false, false, CCL_MOTION_MOG2, CCL_FEATURE_INTENSITY,
          false },
        { "runs, hull and holes", CCL_BACKEND_CUDA, "runs", CCL_MEMORY_HOST, false, false, CCL_MOTION_MOG2,
          CCL_FEATURE_HULL | CCL_FEATURE_HOLES, false },
        { "uf, hull and holes of a map", CCL_BACKEND_CUDA, "uf", CCL_MEMORY_HOST, false, false, CCL_MOTION_MOG2,
          CCL_FEATURE_HULL | CCL_FEATURE_HOLES, true },
        { "bke", CCL_BACKEND_CUDA, "bke", CCL_MEMORY_PINNED, false, false, CCL_MOTION_MOG2, 0, false },
        { "ha4", CCL_BACKEND_CUDA, "ha4", CCL_MEMORY_HOST, false, false, CCL_MOTION_MOG2, 0, false },
        { "motion", CCL_BACKEND_CUDA, NULL, CCL_MEMORY_HOST, true, false, CCL_MOTION_MOG2, 0, false },
        { "motion, feedback", CCL_BACKEND_CUDA, NULL, CCL_MEMORY_HOST, true, false, CCL_MOTION_FEEDBACK, 0, false },
    };
    draw_picture();
    for (unsigned i = 0; i < sizeof trials / sizeof *trials; i++) {
        const Trial *const trial = &trials[i];
        if (argc > 1 && !strstr(trial->name, argv[1]))
            continue;
        expect("reference", trial->algorithm && !strcmp(trial->algorithm, "ha4") ? 4 : 8);
        let_each_fail(trial, "cudaMalloc", OUT_OF_MEMORY, false);
        let_each_fail(trial, "cudaHostAlloc", OUT_OF_MEMORY, false);
        if (trial->features & CCL_FEATURE_HOLES) /* their launches are many, and fail like those of `intensity` */
            continue;
        let_each_fail(trial, "launch", LAUNCH_FAILURE, false);
        let_each_fail(trial, "launch", LAUNCH_FAILURE, true);
        let_each_fail(trial, NULL, LAUNCH_FAILURE, false);
        let_each_fail(trial, NULL, LAUNCH_FAILURE, true);
    }
    printf("%u passed, %u failed\n", passed, failed);
    return failed != 0;
}
