/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * The motion detector against a plain one (plain.c). Every SIMD tier, several threads and CUDA must give its masks and
 * counts, bit for bit, with one picture in flight or several.
 *
 *     checkmotion cpu|cuda [RANDOM-CASES [METHODS]]      exit status 0: passed; 1: failed; 77: no such device
 *     checkmotion soak PICTURES                          one long course of method feedback
 *
 * METHODS: "feedback" for that method alone, "others" for all but that; without it all.
 *
 * With less than ten random cases the larger cases are left out, for valgrind.
 */
#include "checkmotion.h"
#include "device.h"

static void check_random(CclBackendKind backend, unsigned n)
{
    static const uint32_t flags[] = { 0, CCL_CPU_SSE2, CCL_CPU_SSE42, CCL_CPU_AVX2, CCL_CPU_AVX512, CCL_CPU_ALL };
    static const double rates[] = { -1, 0, 0.0001, 0.02, 0.3, 1 };
    for (unsigned i = 0; i < n && n_failures < 5; i++) {
        random_state = 12345 + i * 977;
        Case c = case_for(backend, (CclMotionMethod)(i % 3), 1 + random_below(i % 4 ? 150 : 20), 1 + random_below(70));
        c.config.cpu_flags = flags[random_below(6)];
        c.config.threads = 1;
        if (random_below(3) == 0) {
            c.config.work_width = 1 + random_below(c.config.width);
            c.config.work_height = 1 + random_below(c.config.height);
        }
        c.pad = random_below(2) ? random_below(70) : 0;
        c.ignore = random_below(3) == 0;
        c.resident = backend == CCL_BACKEND_CUDA && random_below(2);
        c.params.threshold = random_below(4) ? random_below(40) : random_below(256);
        c.params.learning_rate = rates[random_below(6)];
        c.params.warmup_frames = random_below(5);
        c.params.confirm_frames = random_below(2) ? random_below(4) : random_below(31);
        c.params.median = random_below(3);
        c.params.open = random_below(2) ? random_below(3) : random_below(16);
        c.params.close = random_below(2) ? random_below(4) : random_below(16);
        c.params.dilate = random_below(2) ? random_below(3) : random_below(16);
        c.params.drop_shadow = random_below(2);
        c.params.freeze = random_below(3) == 0;
        c.params.max_motion = random_below(2) ? 0.8 : 1;
        c.config.depth = 1 + i / 3 % 2 * random_below(CCL_MAX_DEPTH);
        c.lively = i / 6 % 2;
        run(&c, 24);
    }
}

/* Global changes, resets and new parameters with pictures in flight. Pictures are small: the order of events matters. */
static void check_lively(CclBackendKind backend, unsigned n)
{
    for (unsigned i = 0; i < n && n_failures < 5; i++) {
        Case c = case_for(backend, i % 4 ? CCL_MOTION_MOG2 : (CclMotionMethod)(i / 4 % 2), 40 + i % 97, 20 + i % 31);
        c.config.depth = 1 + (i + 1) % CCL_MAX_DEPTH;
        c.config.timing = i % 5 == 4;
        c.resident = backend == CCL_BACKEND_CUDA && i % 3;
        c.late = c.resident && i % 4 == 1;
        c.ignore = i % 7 == 0;
        c.lively = true;
        c.params.warmup_frames = i % 3;
        run(&c, 60);
    }
}

/* The sizes around every word and block, with the default parameters. */
static void check_sizes(CclBackendKind backend, bool quick)
{
    static const uint32_t sizes[] = { 1, 2, 3, 7, 8, 9, 31, 32, 33, 63, 64, 65, 127, 128, 129, 383, 384, 385 };
    static const uint32_t flags[] = { 0, CCL_CPU_SSE2, CCL_CPU_SSE42, CCL_CPU_AVX2, CCL_CPU_AVX512 };
    for (unsigned i = 0; i < sizeof sizes / sizeof *sizes; i += quick ? 8 : 1)
        for (unsigned method = 0; method < 3; method++)
            for (unsigned tier = 0; tier < (backend == CCL_BACKEND_CPU ? 5 : 1); tier++) {
                Case c = case_for(backend, (CclMotionMethod)method, sizes[i], sizes[(i * 7 + 3) % 13]);
                c.config.cpu_flags = flags[tier];
                run(&c, 12);
            }
}

/* The largest box that may be averaged, white and then black: the largest difference of two averages. */
static void check_largest_box(CclBackendKind backend)
{
    const size_t size = CCL_MOTION_MAX_BOX;
    Case c = case_for(backend, CCL_MOTION_DIFF, 4096, 4096);
    const CclMotionMask none = { 0 };
    CclMotionInfo info;
    CclMotion *motion;

    c.config.work_width = c.config.work_height = 1;
    c.params.threshold = 254;
    c.params.warmup_frames = 0;
    uint8_t *const picture = must(malloc(size));
    const CclMask luma = { .data = picture, .stride = 4096, .width = 4096, .height = 4096 };
    need(ccl_motion_new(&c.config, &motion));
    memset(picture, 255, size);
    need(ccl_motion_apply(motion, &luma, &c.params, &none, NULL));
    memset(picture, 0, size);
    need(ccl_motion_apply(motion, &luma, &c.params, &none, &info));
    check(info.raw_foreground == 1, "a box of %zu pixels that was white and is black has not changed by 255", size);
    ccl_motion_free(motion);
    free(picture);
}

/* Confirmation is switched off and on again. */
static void check_confirming_again(CclBackendKind backend)
{
    for (unsigned method = 0; method < 3; method++) {
        Case c = case_for(backend, (CclMotionMethod)method, 67, 45);
        c.confirms = true;
        c.params.warmup_frames = 1;
        run(&c, 24);
    }
}

/* Large enough for several threads and many blocks. */
static void check_large(CclBackendKind backend)
{
    for (unsigned method = 0; method < 3; method++) {
        Case c = case_for(backend, (CclMotionMethod)method, 1003, 701);
        c.config.threads = 4;
        c.params.confirm_frames = 2;
        run(&c, 6);
        c.config.work_width = 640, c.config.work_height = 447;
        c.config.threads = 3;
        c.resident = backend == CCL_BACKEND_CUDA;
        run(&c, 6);
    }
    if (backend != CCL_BACKEND_CUDA)
        return;
    /* Pictures overlap on the device. */
    for (unsigned depth = 2; depth <= CCL_MAX_DEPTH; depth++) {
        Case c = case_for(backend, CCL_MOTION_MOG2, 1280, 720);
        c.config.depth = depth;
        c.resident = true;
        run(&c, 20);
        c.late = true;
        run(&c, 20);
        c.lively = true;
        run(&c, 20);
    }
}

/* The purpose of a detector: an object that appears is foreground, and one that stays becomes background, after the time that the
 * learning rate gives. */
static void check_absorption(CclBackendKind backend)
{
    Case c = case_for(backend, CCL_MOTION_MOG2, 64, 48);
    uint8_t picture[64 * 48];
    CclMotion *motion;
    CclMotionInfo info;
    unsigned seen = 0;

    c.params.max_motion = 1;
    need(ccl_motion_new(&c.config, &motion));
    for (unsigned frame = 0; frame < 700; frame++) {
        memset(picture, 100, sizeof picture);
        for (unsigned i = 0; i < sizeof picture; i++)
            picture[i] = (uint8_t)(picture[i] + (i * 31 + frame * 17) % 5);
        for (unsigned y = 10; y < 30 && frame >= 400; y++)
            memset(picture + y * 64 + 10, 200, 20);
        const CclMask luma = { .data = picture, .stride = 64, .width = 64, .height = 48 };
        need(ccl_motion_apply(motion, &luma, &c.params, &(CclMotionMask){ 0 }, &info));
        if (frame < 400 ? info.foreground != 0 : frame == 400 && (info.foreground < 380 || info.foreground > 420)) {
            n_failures++;
            printf("FAILED: %llu pixels of foreground in frame %u\n", (unsigned long long)info.foreground, frame);
        }
        seen += info.foreground > 200;
    }
    /* (1 - 0.003)^n = 0.75 at n = 96 */
    check(seen >= 90 && seen <= 102, "an object that stays was foreground for %u frames, not 96", seen);
    ccl_motion_free(motion);
}

/* All methods but feedback, and arguments. */
static void check_pixel_models(CclBackendKind backend, unsigned n_random, bool quick)
{
    check_arguments(backend);
    check_absorption(backend);
    check_confirming_again(backend);
    check_sizes(backend, quick);
    if (!quick) {
        check_large(backend);
        check_largest_box(backend);
    }
    check_random(backend, n_random);
    check_lively(backend, quick ? 8 : 120);
}

int main(int argc, char **argv)
{
    if (argc > 2 && !strcmp(argv[1], "soak")) {
        check_soak((unsigned)atoi(argv[2]));
        printf("checkmotion soak: %u checks, %u failures\n", n_checks, n_failures);
        return n_failures != 0;
    }
    const bool cuda = argc > 1 && !strcmp(argv[1], "cuda");
    const CclBackendKind backend = cuda ? CCL_BACKEND_CUDA : CCL_BACKEND_CPU;
    if (cuda && (!ccl_backend_built(CCL_BACKEND_CUDA) || !device_count())) {
        printf("checkmotion: skipped, there is no CUDA device\n");
        return 77;
    }
    const bool quick = argc > 2 && atoi(argv[2]) < 10;
    const char *const methods = argc > 3 ? argv[3] : "";
    if (strcmp(methods, "feedback"))
        check_pixel_models(backend, argc > 2 ? (unsigned)atoi(argv[2]) : 300, quick);
    if (strcmp(methods, "others"))
        check_feedback(backend, quick ? 5 : argc > 2 ? (unsigned)atoi(argv[2]) : 60, quick);
    printf("checkmotion %s: %u checks, %u failures\n", cuda ? "cuda" : "cpu", n_checks, n_failures);
    return n_failures != 0;
}
