/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Backgrounds that are saved and loaded: by the other backend, and bytes that are none. feedback.c compares the masks after a
 * restart with the plain reference. */
#include "checkmotion.h"

#define WIDTH  37u
#define HEIGHT 23u

static CclMotionConfig config_for(CclBackendKind backend)
{
    CclMotionConfig config = ccl_motion_config_default();
    config.backend = backend;
    config.width = WIDTH, config.height = HEIGHT;
    config.chroma = true, config.threads = 1;
    return config;
}

/* Picture n of a textured background; with an object from picture 50 on. */
static CclMotionInfo apply(CclMotion *motion, unsigned n, uint8_t *mask)
{
    uint8_t luma[WIDTH * HEIGHT], chroma[WIDTH * HEIGHT];
    CclMotionInfo info;
    random_state = n;
    for (unsigned i = 0; i < WIDTH * HEIGHT; i++) {
        luma[i] = (uint8_t)(60 + i * i % 91 + random_below(4));
        chroma[i] = (uint8_t)(120 + random_below(3));
        if (n >= 50 && i % WIDTH > 10 && i % WIDTH < 22 && i / WIDTH > 5)
            luma[i] = (uint8_t)(200 + random_below(4));
    }
    const CclMotionPicture picture = {
        .luma = { .data = luma, .stride = WIDTH, .width = WIDTH, .height = HEIGHT },
        .chroma = { chroma, chroma, { WIDTH, WIDTH }, 1, (WIDTH + 1) / 2, (HEIGHT + 1) / 2 },
        .us = n * 40000,
    };
    const CclMotionParams params = ccl_motion_params_default();
    need(ccl_motion_submit_picture(motion, &picture, &params, &(CclMotionMask){ .data = mask, .stride = WIDTH }));
    need(ccl_motion_collect(motion, &info));
    return info;
}

/* A detector that has seen n pictures. */
static CclMotion *learnt(const CclMotionConfig *config, unsigned n)
{
    CclMotion *motion;
    need(ccl_motion_new(config, &motion));
    for (unsigned i = 0; i < n; i++)
        apply(motion, i, NULL);
    return motion;
}

static void refused(CclStatus status, const char *text)
{
    check(status == CCL_ERROR_ARGUMENT && strstr(ccl_error_message(), text), "not refused with \"%s\": %s", text,
          ccl_error_message());
}

/* Makes the checksum right. */
static void seal(uint8_t *bytes, size_t size)
{
    uint64_t sum = 14695981039346656037u;
    for (size_t i = 0; i < size - 8; i++)
        sum = (sum ^ bytes[i]) * 1099511628211u;
    for (unsigned i = 0; i < 8; i++)
        bytes[size - 8 + i] = (uint8_t)(sum >> 8 * i);
}

/* Bytes with one changed, and the right checksum. */
static void check_changed(CclMotion *motion, const uint8_t *good, size_t size)
{
    const size_t pixels = 48, samples = pixels + WIDTH * HEIGHT * 15;
    const struct {
        size_t at;
        uint8_t value;
        const char *text;
    } wrong[] = {
        { 0, 'X', "no background" },
        { 8, 9, "version 9" },
        { 12, 2, "method 2" },
        { 16, 38, "of 38x23 pixels" },
        { 23, 255, "pixels with chroma" },
        { 24, 0, "without chroma" },
        { 28, 5, "times or offsets" },
        { 39, 1, "times or offsets" },
        { 43, 1, "times or offsets" },
        { pixels + 3, 40, "impossible values" },
        { pixels + 5, 21, "impossible values" },
        { pixels + 7, 41, "impossible values" },
        { samples + 9, 127, "impossible values" },
        { size - 9, 21, "impossible values" },
    };
    uint8_t *const bytes = must(malloc(size));
    for (unsigned i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        memcpy(bytes, good, size);
        bytes[wrong[i].at] = wrong[i].value;
        seal(bytes, size);
        refused(ccl_motion_load_background(motion, bytes, size), wrong[i].text);
    }
    memcpy(bytes, good, size);
    bytes[size / 2] ^= 1;
    refused(ccl_motion_load_background(motion, bytes, size), "checksum is wrong");
    free(bytes);
}

static void check_hostile(CclBackendKind backend)
{
    const CclMotionConfig config = config_for(backend);
    CclMotion *const motion = learnt(&config, 49), *const other = learnt(&config, 49), *const young = learnt(&config, 20);
    const size_t size = ccl_motion_background_size(motion);
    uint8_t *const good = must(malloc(size + 1)), masks[2][WIDTH * HEIGHT];
    refused(ccl_motion_save_background(young, good), "still being learnt: 20 pictures");
    need(ccl_motion_save_background(motion, good));
    good[size] = 0;
    check_changed(other, good, size);
    for (size_t n = 0; n <= size + 1; n += n < 80 || n + 40 > size ? 1 : 977)
        if (n != size)
            check(ccl_motion_load_background(other, good, n) == CCL_ERROR_ARGUMENT, "%zu of %zu bytes are loaded", n, size);

    /* Nothing of that was taken. */
    for (unsigned n = 49; n < 55; n++) {
        apply(motion, n, masks[0]), apply(other, n, masks[1]);
        check(!memcmp(masks[0], masks[1], sizeof *masks), "picture %u: a refused background changed the mask", n);
    }
    ccl_motion_reset(other);
    refused(ccl_motion_save_background(other, good), "still being learnt");
    ccl_motion_free(motion), ccl_motion_free(other), ccl_motion_free(young);
    free(good);
}

/* The first mask after a restart has the object, on either backend. */
static void check_restart(CclBackendKind from, CclBackendKind to)
{
    const CclMotionConfig configs[] = { config_for(from), config_for(to) };
    CclMotion *const motion = learnt(&configs[0], 50), *const next = learnt(&configs[1], 0);
    const size_t size = ccl_motion_background_size(motion);
    uint8_t *const bytes = must(malloc(size)), mask[WIDTH * HEIGHT];
    need(ccl_motion_save_background(motion, bytes));
    need(ccl_motion_load_background(next, bytes, size));
    const CclMotionInfo info = apply(next, 50, mask);
    check(!info.flags && info.frames == 51, "flags %u, %u pictures after a restart", info.flags, info.frames);
    check(info.foreground > 150 && info.foreground < 240 && mask[12 * WIDTH + 16] && !mask[12 * WIDTH + 4],
          "%u pixels of foreground after a restart", (unsigned)info.foreground);
    ccl_motion_free(motion), ccl_motion_free(next);
    free(bytes);
}

void check_background(CclBackendKind backend)
{
    CclMotionConfig config = config_for(backend);
    check_hostile(backend);
    check_restart(CCL_BACKEND_CPU, backend);
    check_restart(backend, CCL_BACKEND_CPU);
    config.method = CCL_MOTION_MOG2, config.chroma = false;
    CclMotion *motion;
    need(ccl_motion_new(&config, &motion));
    check(ccl_motion_background_size(motion) == 0, "mog2 has a background to save");
    refused(ccl_motion_save_background(motion, NULL), "method 2 has no background");
    refused(ccl_motion_load_background(motion, NULL, 0), "method 2 has no background");
    ccl_motion_free(motion);
}
