/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * The background of a detector as bytes, the same from every backend. Little-endian:
 *
 *     8 bytes    MAGIC
 *     u32        version, method, width, height, 1 with chroma; pictures learnt, ms learnt, last interval in ms
 *     i32        offsets of U and V
 *     pixels     u16 mean, weight, deviation, extra; u16 means of the second and third mode, part; u8 rises
 *     samples    of chroma: u16 U, V of the first mode, U, V of the second, weight, deviation
 *     u64        FNV-1a of all bytes before
 *
 * A file may come from anywhere. So every value is checked before the first is used: with these the model stays within the limits
 * that its arithmetic relies on.
 */
#include "motion_backend.h"
#include "motion_feedback_picture.h"

#include <stdlib.h>
#include <string.h>

#define MAGIC        "CCLBG\r\n\x1a"
#define VERSION      1u
#define METHOD       1u /* FEEDBACK; other methods would have other numbers */
#define HEADER_SIZE  48u
#define PIXEL_SIZE   15u
#define SAMPLE_SIZE  12u
#define TRAILER_SIZE 8u

/* The largest part of the three modes is a third or more, of two a half. */
#define MIN_WEIGHT        (MOTION_ONE / 3)
#define MIN_CHROMA_WEIGHT 32768u

_Static_assert(sizeof MAGIC == CCL_MOTION_MAGIC_SIZE + 1, "and a zero");

/* ---------------------------------------------------------------- numbers */

typedef struct Writer {
    uint8_t *at;
} Writer;

typedef struct Reader {
    const uint8_t *at;
} Reader;

static void put(Writer *w, uint64_t value, unsigned n_bytes)
{
    for (unsigned i = 0; i < n_bytes; i++)
        *w->at++ = (uint8_t)(value >> 8 * i);
}

static uint64_t get(Reader *r, unsigned n_bytes)
{
    uint64_t value = 0;
    for (unsigned i = 0; i < n_bytes; i++)
        value |= (uint64_t)*r->at++ << 8 * i;
    return value;
}

static uint16_t get16(Reader *r)
{
    return (uint16_t)get(r, 2);
}

static uint64_t checksum(const uint8_t *bytes, size_t size)
{
    uint64_t sum = 14695981039346656037u;
    for (size_t i = 0; i < size; i++)
        sum = (sum ^ bytes[i]) * 1099511628211u;
    return sum;
}

/* ---------------------------------------------------------------- sizes */

typedef struct Sizes {
    size_t pixels, chroma_width, samples;
} Sizes;

static Sizes sizes_of(const CclMotion *motion)
{
    Sizes sizes = { .pixels = (size_t)motion->width * motion->height };
    if (motion->config.chroma) {
        sizes.chroma_width = (motion->width + 1) / 2;
        sizes.samples = sizes.chroma_width * ((motion->height + 1) / 2);
    }
    return sizes;
}

size_t ccl_motion_background_size(const CclMotion *motion)
{
    const Sizes sizes = sizes_of(motion);
    if (motion->config.method != CCL_MOTION_FEEDBACK)
        return 0;
    return HEADER_SIZE + sizes.pixels * PIXEL_SIZE + sizes.samples * SAMPLE_SIZE + TRAILER_SIZE;
}

bool ccl_motion_is_background(const void *data)
{
    return !memcmp(data, MAGIC, CCL_MOTION_MAGIC_SIZE);
}

static CclStatus check_method(const CclMotion *motion)
{
    if (motion->config.method != CCL_MOTION_FEEDBACK)
        return ccl_fail(CCL_ERROR_ARGUMENT, "motion method %d has no background to save or load", (int)motion->config.method);
    return CCL_OK;
}

/* ---------------------------------------------------------------- rows between the backend and structs */

/* What saving and loading work with. */
typedef struct Transfer {
    CclMotion *motion;
    MotionArrays arrays;
    Sizes sizes;
    FeedbackPixel *pixels; /* a row */
    FeedbackChroma *samples;
    uint8_t *elements; /* a row of any array */
} Transfer;

static CclStatus transfer_new(Transfer *t, CclMotion *motion)
{
    *t = (Transfer){ .motion = motion, .sizes = sizes_of(motion) };
    motion->backend->list_arrays(motion, &t->arrays);
    t->pixels = calloc(motion->width, sizeof *t->pixels);
    t->samples = calloc(t->sizes.chroma_width + 1, sizeof *t->samples);
    t->elements = malloc((size_t)motion->width * sizeof(FeedbackPixel));
    if (t->pixels && t->samples && t->elements)
        return CCL_OK;
    return ccl_fail(CCL_ERROR_OUT_OF_MEMORY, "no memory for a row of a background");
}

static void transfer_free(Transfer *t)
{
    free(t->pixels), free(t->samples), free(t->elements);
}

/* A row of structs, and the backend's arrays of their members. */
typedef struct StructRow {
    uint8_t *structs;
    size_t struct_size, n;
    const MotionArray *arrays;
    unsigned n_arrays;
} StructRow;

/* Copies row `y` of each array to the structs, or with `is_put` from them. */
static CclStatus copy_row(const Transfer *t, const StructRow *row, uint32_t y, bool is_put)
{
    for (unsigned i = 0; i < row->n_arrays; i++) {
        const MotionArray *const array = &row->arrays[i];
        uint8_t *const members = row->structs + array->offset, *const from = (uint8_t *)array->data + y * array->pitch;
        for (size_t x = 0; is_put && x < row->n; x++) {
            memset(t->elements + x * array->step, 0, array->step);
            memcpy(t->elements + x * array->step, members + x * row->struct_size, array->size);
        }
        CCL_TRY(t->motion->backend->copy(t->motion, t->elements, from, row->n * array->step, is_put));
        for (size_t x = 0; !is_put && x < row->n; x++)
            memcpy(members + x * row->struct_size, t->elements + x * array->step, array->size);
    }
    return CCL_OK;
}

static CclStatus copy_pixels(const Transfer *t, uint32_t y, bool is_put)
{
    const StructRow row = { (uint8_t *)t->pixels, sizeof *t->pixels, t->motion->width, t->arrays.luma, t->arrays.n_luma };
    return copy_row(t, &row, y, is_put);
}

static CclStatus copy_samples(const Transfer *t, uint32_t y, bool is_put)
{
    const StructRow row = { (uint8_t *)t->samples, sizeof *t->samples, t->sizes.chroma_width, t->arrays.chroma,
                            t->arrays.n_chroma };
    return copy_row(t, &row, y, is_put);
}

static uint32_t chroma_rows(const Transfer *t)
{
    return t->sizes.samples ? (t->motion->height + 1) / 2 : 0;
}

/* ---------------------------------------------------------------- header */

static void put_header(Writer *w, const CclMotion *motion, const FeedbackControl *control)
{
    const uint32_t numbers[] = {
        VERSION, METHOD, motion->width, motion->height, motion->config.chroma, control->n_learnt, control->learnt_ms, control->ms
    };
    memcpy(w->at, MAGIC, CCL_MOTION_MAGIC_SIZE);
    w->at += CCL_MOTION_MAGIC_SIZE;
    for (unsigned i = 0; i < sizeof numbers / sizeof *numbers; i++)
        put(w, numbers[i], 4);
    put(w, (uint32_t)control->offset[0], 4);
    put(w, (uint32_t)control->offset[1], 4);
}

static CclStatus check_control(const FeedbackControl *control)
{
    const int32_t max_offset = (int32_t)FEEDBACK_BINS * 8;
    bool is_possible = control->n_learnt >= FEEDBACK_BOOT_PICTURES && control->learnt_ms >= FEEDBACK_BOOT_MS &&
                       control->learnt_ms <= 1u << 30 && control->ms <= FEEDBACK_MAX_MS;
    for (unsigned k = 0; k < 2; k++)
        is_possible &= control->offset[k] >= -max_offset && control->offset[k] <= max_offset;
    return is_possible ? CCL_OK : ccl_fail(CCL_ERROR_ARGUMENT, "the background's times or offsets are impossible");
}

/* Reads the header of `size` bytes. */
static CclStatus get_header(Reader *r, const CclMotion *motion, size_t size, FeedbackControl *control)
{
    const size_t wanted = ccl_motion_background_size(motion);
    if (size < HEADER_SIZE + TRAILER_SIZE || !ccl_motion_is_background(r->at))
        return ccl_fail(CCL_ERROR_ARGUMENT, "the bytes are no background");
    r->at += CCL_MOTION_MAGIC_SIZE;
    const uint32_t version = (uint32_t)get(r, 4), method = (uint32_t)get(r, 4);
    if (version != VERSION || method != METHOD)
        return ccl_fail(CCL_ERROR_ARGUMENT, "the background has version %u and method %u, not %u and %u", version, method,
                        VERSION, METHOD);
    const uint32_t width = (uint32_t)get(r, 4), height = (uint32_t)get(r, 4), chroma = (uint32_t)get(r, 4);
    if (width != motion->width || height != motion->height || chroma != motion->config.chroma)
        return ccl_fail(CCL_ERROR_ARGUMENT, "the background is of %ux%u pixels %s chroma, the masks are of %ux%u %s", width,
                        height, chroma ? "with" : "without", motion->width, motion->height,
                        motion->config.chroma ? "with" : "without");
    if (size != wanted)
        return ccl_fail(CCL_ERROR_ARGUMENT, "the background has %zu bytes, not %zu", size, wanted);
    *control = (FeedbackControl){ .n_learnt = (uint32_t)get(r, 4) };
    control->learnt_ms = (uint32_t)get(r, 4);
    control->ms = (uint32_t)get(r, 4);
    for (unsigned k = 0; k < 2; k++)
        control->offset[k] = (int32_t)(uint32_t)get(r, 4);
    return check_control(control);
}

/* ---------------------------------------------------------------- pixels */

static void put_pixel(Writer *w, const FeedbackPixel *p)
{
    const uint16_t values[] = { p->mean, p->weight, p->deviation, p->extra, p->rest.mean[0], p->rest.mean[1], p->rest.part };
    for (unsigned i = 0; i < sizeof values / sizeof *values; i++)
        put(w, values[i], 2);
    put(w, p->rises, 1);
}

/* The candidate is the background, and stands still for no time. */
static FeedbackPixel get_pixel(Reader *r)
{
    FeedbackPixel p = { .mean = get16(r) };
    p.weight = get16(r), p.deviation = get16(r), p.extra = get16(r);
    p.rest.mean[0] = get16(r), p.rest.mean[1] = get16(r), p.rest.part = get16(r);
    p.rises = (uint8_t)get(r, 1);
    p.candidate = p.mean;
    return p;
}

static void put_sample(Writer *w, const FeedbackChroma *c)
{
    const uint16_t values[] = { c->mean[0][0], c->mean[0][1], c->mean[1][0], c->mean[1][1], c->weight, c->deviation };
    for (unsigned i = 0; i < sizeof values / sizeof *values; i++)
        put(w, values[i], 2);
}

static FeedbackChroma get_sample(Reader *r)
{
    FeedbackChroma c = { .mean = { { get16(r) } } };
    c.mean[0][1] = get16(r), c.mean[1][0] = get16(r), c.mean[1][1] = get16(r);
    c.weight = get16(r), c.deviation = get16(r);
    c.candidate[0] = c.mean[0][0], c.candidate[1] = c.mean[0][1];
    return c;
}

static CclStatus check_values(const Sizes *sizes, Reader r)
{
    bool is_possible = true;
    for (size_t i = 0; i < sizes->pixels; i++) {
        const FeedbackPixel p = get_pixel(&r);
        is_possible &= p.weight >= MIN_WEIGHT && p.deviation <= FEEDBACK_DEVIATION_MAX && p.extra <= FEEDBACK_EXTRA_MAX;
    }
    for (size_t i = 0; i < sizes->samples; i++) {
        const FeedbackChroma c = get_sample(&r);
        is_possible &= c.weight >= MIN_CHROMA_WEIGHT && c.deviation <= FEEDBACK_DEVIATION_MAX;
    }
    return is_possible ? CCL_OK : ccl_fail(CCL_ERROR_ARGUMENT, "the background has impossible values");
}

/* ---------------------------------------------------------------- save, load */

static CclStatus put_model(Transfer *t, Writer *w)
{
    for (uint32_t y = 0; y < t->motion->height; y++) {
        CCL_TRY(copy_pixels(t, y, false));
        for (uint32_t x = 0; x < t->motion->width; x++)
            put_pixel(w, &t->pixels[x]);
    }
    for (uint32_t y = 0; y < chroma_rows(t); y++) {
        CCL_TRY(copy_samples(t, y, false));
        for (size_t x = 0; x < t->sizes.chroma_width; x++)
            put_sample(w, &t->samples[x]);
    }
    return CCL_OK;
}

static CclStatus get_model(Transfer *t, Reader r)
{
    for (uint32_t y = 0; y < t->motion->height; y++) {
        for (uint32_t x = 0; x < t->motion->width; x++)
            t->pixels[x] = get_pixel(&r);
        CCL_TRY(copy_pixels(t, y, true));
    }
    for (uint32_t y = 0; y < chroma_rows(t); y++) {
        for (size_t x = 0; x < t->sizes.chroma_width; x++)
            t->samples[x] = get_sample(&r);
        CCL_TRY(copy_samples(t, y, true));
    }
    return CCL_OK;
}

CclStatus ccl_motion_save_background(CclMotion *motion, void *data)
{
    Writer w = { data };
    FeedbackControl control;
    Transfer t;
    CCL_TRY(check_method(motion));
    CCL_TRY(motion->backend->control(motion, &control, false));
    if (!motion->n_seen || check_control(&control) != CCL_OK)
        return ccl_fail(CCL_ERROR_ARGUMENT, "the background is still being learnt: %u pictures in %u ms", control.n_learnt,
                        control.learnt_ms);
    put_header(&w, motion, &control);
    CclStatus status = transfer_new(&t, motion);
    if (status == CCL_OK)
        status = put_model(&t, &w);
    transfer_free(&t);
    CCL_TRY(status);
    put(&w, checksum(data, (size_t)(w.at - (uint8_t *)data)), TRAILER_SIZE);
    return CCL_OK;
}

CclStatus ccl_motion_load_background(CclMotion *motion, const void *data, size_t size)
{
    Reader r = { data };
    FeedbackControl control;
    Transfer t;
    CCL_TRY(check_method(motion));
    CCL_TRY(motion_check_idle(motion));
    CCL_TRY(get_header(&r, motion, size, &control));
    Reader trailer = { (const uint8_t *)data + size - TRAILER_SIZE };
    if (get(&trailer, TRAILER_SIZE) != checksum(data, size - TRAILER_SIZE))
        return ccl_fail(CCL_ERROR_ARGUMENT, "the background's checksum is wrong");
    const Sizes sizes = sizes_of(motion);
    CCL_TRY(check_values(&sizes, r));
    CclStatus status = transfer_new(&t, motion);
    if (status == CCL_OK)
        status = get_model(&t, r);
    transfer_free(&t);
    CCL_TRY(status);
    return motion->backend->control(motion, &control, true);
}
