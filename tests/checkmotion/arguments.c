/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Wrong arguments, and a wrong process: each is refused with a message that names it. */
#include "checkmotion.h"

#include <sys/wait.h>
#include <unistd.h>

static void refused(CclStatus status, const char *text)
{
    check(status == CCL_ERROR_ARGUMENT && strstr(ccl_error_message(), text), "not refused with \"%s\": %s", text,
          ccl_error_message());
}

static void check_config(const CclMotionConfig *good)
{
    static const struct {
        uint32_t width, height, work_width, work_height;
        CclMotionMethod method;
        unsigned depth;
        const char *text;
    } wrong[] = {
        { 0, 16, 0, 0, CCL_MOTION_MOG2, 1, "0x16" },
        { 16, 16385, 0, 0, CCL_MOTION_MOG2, 1, "16x16385" },
        { 16, 16, 17, 4, CCL_MOTION_MOG2, 1, "17x4" },
        { 16, 16, 4, 0, CCL_MOTION_MOG2, 1, "4x0" },
        { 16384, 16384, 4, 3, CCL_MOTION_MOG2, 1, "boxes of 4096x5462" },
        { 16384, 16384, 1, 1, CCL_MOTION_MOG2, 1, "boxes of 16384x16384" },
        { 16, 16, 0, 0, (CclMotionMethod)4, 1, "method 4" },
        { 16, 16, 0, 0, CCL_MOTION_MOG2, 0, "depth 0" },
        { 16, 16, 0, 0, CCL_MOTION_MOG2, CCL_MAX_DEPTH + 1, "depth 5" },
    };
    for (unsigned i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        CclMotionConfig config = *good;
        CclMotion *motion;
        config.width = wrong[i].width, config.height = wrong[i].height;
        config.work_width = wrong[i].work_width, config.work_height = wrong[i].work_height;
        config.method = wrong[i].method, config.depth = wrong[i].depth;
        refused(ccl_motion_new(&config, &motion), wrong[i].text);
    }
}

static void check_picture(CclMotion *motion, const CclMotionConfig *config, const CclMask *luma, const CclMotionParams *params)
{
    const CclMotionMask none = { 0 };
#define WRONG(member, value, text)                                            \
    do {                                                                      \
        CclMask wrong = *luma;                                                \
        wrong.member = value;                                                 \
        refused(ccl_motion_apply(motion, &wrong, params, &none, NULL), text); \
    } while (0)
    WRONG(data, NULL, "no data");
    WRONG(width, 15, "15x16");
    WRONG(stride, 15, "stride 15");
    WRONG(pixel_size, 2, "1 byte");
    WRONG(memory, (CclMemory)3, "memory kind 3 of the picture");
    if (config->backend == CCL_BACKEND_CPU)
        WRONG(memory, CCL_MEMORY_DEVICE, "a picture in device memory");
#undef WRONG
    CclMask one = *luma; /* 1 means the same as 0 */
    one.pixel_size = 1;
    need(ccl_motion_apply(motion, &one, params, &none, NULL));
}

static void check_mask(CclMotion *motion, const CclMotionConfig *config, const CclMask *luma, const CclMotionParams *params)
{
    uint8_t bytes[16 * 16];
    CclMotionMask mask = { .data = bytes, .stride = 15 };
    refused(ccl_motion_apply(motion, luma, params, &mask, NULL), "stride 15");
    mask = (CclMotionMask){ .data = bytes, .stride = 16, .memory = (CclMemory)3 };
    refused(ccl_motion_apply(motion, luma, params, &mask, NULL), "memory kind 3 of the mask");
    mask.memory = CCL_MEMORY_DEVICE;
    if (config->backend == CCL_BACKEND_CPU)
        refused(ccl_motion_apply(motion, luma, params, &mask, NULL), "a mask in device memory");
}

static void check_params(CclMotion *motion, const CclMask *luma, const CclMotionParams *good)
{
    const CclMotionMask none = { 0 };
#define WRONG(member, value, text)                                          \
    do {                                                                    \
        CclMotionParams wrong = *good;                                      \
        wrong.member = value;                                               \
        refused(ccl_motion_apply(motion, luma, &wrong, &none, NULL), text); \
    } while (0)
    WRONG(threshold, 256, "256");
    WRONG(learning_rate, 1.5, "1.5");
    WRONG(learning_rate, 0.0 / 0.0, "nan");
    WRONG(max_motion, -0.5, "-0.5");
    WRONG(confirm_frames, 31, "31");
    WRONG(median, 3, "3");
    WRONG(open, 16, "16");
    WRONG(close, 16, "16");
    WRONG(dilate, 16, "16");
#undef WRONG
}

/* Calls in the wrong order; at the end a picture is in flight. */
static void check_order(CclMotion *motion, const CclMask *luma, const CclMotionParams *params)
{
    const CclMotionMask none = { 0 };
    refused(ccl_motion_collect(motion, NULL), "no picture is waiting");
    need(ccl_motion_submit(motion, luma, params, &none));
    refused(ccl_motion_submit(motion, luma, params, &none), "1 pictures are waiting");
    refused(ccl_motion_apply(motion, luma, params, &none, NULL), "1 pictures are waiting");
    refused(ccl_motion_set_ignore(motion, NULL, 0), "1 pictures are waiting");
    need(ccl_motion_collect(motion, NULL));
    need(ccl_motion_apply(motion, luma, params, &none, NULL));
    need(ccl_motion_submit(motion, luma, params, &none));
}

static bool is_forked_error(CclStatus status)
{
    return status == CCL_ERROR_NO_DEVICE && strstr(ccl_error_message(), "forked");
}

/* What is wrong in a child process, where CUDA does not work and the CPU does; 0: nothing. A picture is in flight. */
static int child_problem(const Case *c, CclMotion *motion, const CclMask *luma, uint8_t *background)
{
    CclMotionConfig config = c->config;
    const CclMotionMask none = { 0 };
    CclMotion *other;
    if (!is_forked_error(ccl_motion_submit(motion, luma, &c->params, &none)))
        return 1;
    if (!is_forked_error(ccl_motion_collect(motion, NULL)))
        return 2;
    if (background && !is_forked_error(ccl_motion_save_background(motion, background)))
        return 3;
    if (!is_forked_error(ccl_motion_new(&config, &other)))
        return 4;
    config.backend = CCL_BACKEND_CPU;
    return ccl_motion_new(&config, &other) == CCL_OK && ccl_motion_apply(other, luma, &c->params, &none, NULL) == CCL_OK ? 0 : 5;
}

static void check_forked(CclMotionMethod method, const CclMask *luma)
{
    Case c = case_for(CCL_BACKEND_CUDA, method, 16, 16);
    const CclMotionMask none = { 0 };
    CclMotion *motion;
    int status = -1;
    c.config.depth = 2;
    need(ccl_motion_new(&c.config, &motion));
    uint8_t *const background = must(malloc(ccl_motion_background_size(motion) + 1));
    need(ccl_motion_submit(motion, luma, &c.params, &none));
    fflush(stdout);
    const pid_t child = fork();
    if (!child) {
        alarm(60);
        _exit(child_problem(&c, motion, luma, method == CCL_MOTION_FEEDBACK ? background : NULL));
    }
    waitpid(child, &status, 0);
    check(child > 0 && !status, "method %d in a child process: status %d", (int)method, status);
    check(ccl_motion_collect(motion, NULL) == CCL_OK && ccl_motion_apply(motion, luma, &c.params, &none, NULL) == CCL_OK,
          "method %d after a fork: %s", (int)method, ccl_error_message());
    ccl_motion_free(motion);
    free(background);
}

void check_arguments(CclBackendKind backend)
{
    uint8_t bytes[16 * 16] = { 0 };
    const CclMask luma = { .data = bytes, .stride = 16, .width = 16, .height = 16 };
    const Case c = case_for(backend, CCL_MOTION_MOG2, 16, 16);
    CclMotion *motion;

    check_config(&c.config);
    need(ccl_motion_new(&c.config, &motion));
    check_picture(motion, &c.config, &luma, &c.params);
    check_mask(motion, &c.config, &luma, &c.params);
    check_params(motion, &luma, &c.params);
    check_order(motion, &luma, &c.params);
    ccl_motion_free(motion); /* with a picture in flight */
    ccl_motion_free(NULL);
    for (unsigned method = 0; method < 4 && backend == CCL_BACKEND_CUDA; method++)
        check_forked((CclMotionMethod)method, &luma);
}
