/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Intensity: the reference against its definitions, every CPU method against the reference, and the measures that follow from
 * the sums. */
#include "device.h"
#include "group.h"
#include "judge.h"
#include "patterns.h"
#include "pictures.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---------------------------------------------------------------- definitions */

/* The measures, from the pixels in two passes: the second subtracts the means first. */
typedef struct Definition {
    long double n, sum, chroma[2], x, y; /* x and y: weighted centroid */
    long double deviation, xx, xy, yy;   /* sums of squared differences */
    unsigned min, max;
} Definition;

typedef struct Blob {
    const Image *image;
    const uint32_t *labels;
    const CclComponent *component;
    const PictureKind *kind;
} Blob;

static bool is_in(const Blob *blob, uint32_t x, uint32_t y)
{
    return blob->labels[(size_t)y * blob->image->width + x] == blob->component->label;
}

static void add_pixel(Definition *d, const Blob *blob, uint32_t x, uint32_t y)
{
    const PictureKind *const kind = blob->kind;
    const unsigned value = picture_sample(kind, PICTURE_LUMA, x, y);
    d->n++;
    d->sum += value;
    d->x += (long double)x * value;
    d->y += (long double)y * value;
    d->min = value < d->min ? value : d->min;
    d->max = value > d->max ? value : d->max;
    for (unsigned k = 0; k < 2; k++)
        d->chroma[k] += picture_sample(kind, k ? PICTURE_CR : PICTURE_CB, x >> kind->shift_x, y >> kind->shift_y);
}

static void add_differences(Definition *d, const Blob *blob, uint32_t x, uint32_t y)
{
    const long double value = picture_sample(blob->kind, PICTURE_LUMA, x, y), difference = value - d->sum / d->n;
    d->deviation += difference * difference;
    d->xx += (x - d->x) * (x - d->x) * value;
    d->xy += (x - d->x) * (y - d->y) * value;
    d->yy += (y - d->y) * (y - d->y) * value;
}

static Definition define(const Blob *blob)
{
    const CclComponent *const c = blob->component;
    Definition d = { .min = UINT16_MAX };
    for (uint32_t y = c->y0; y < c->y1; y++)
        for (uint32_t x = c->x0; x < c->x1; x++)
            if (is_in(blob, x, y))
                add_pixel(&d, blob, x, y);
    d.x /= d.sum, d.y /= d.sum;
    for (uint32_t y = c->y0; y < c->y1; y++)
        for (uint32_t x = c->x0; x < c->x1; x++)
            if (is_in(blob, x, y))
                add_differences(&d, blob, x, y);
    return d;
}

/* Both undefined, or equal within rounding: relative to `scale` if that is larger. */
static bool is_near(double got, long double wanted, double scale)
{
    if (isnan(got) || isnan((double)wanted))
        return isnan(got) && isnan((double)wanted);
    return fabsl((long double)got - wanted) <= 1e-12L * fmaxl(fabsl(wanted), scale);
}

static bool is_as_defined(const Blob *blob, const CclIntensityCounts *counts)
{
    const bool has_chroma = blob->kind->chroma != PICTURE_GRAY;
    const Definition d = define(blob);
    CclIntensityMeasures m;
    ccl_intensity_measures(counts, blob->component->moments.area, &m);
    return m.min == d.min && m.max == d.max && m.sum == (double)d.sum && is_near(m.mean, d.sum / d.n, 0) &&
           is_near(m.std, sqrtl(d.deviation / d.n), 0) && is_near(m.x, d.x, 1) && is_near(m.y, d.y, 1) &&
           is_near(m.xx, d.xx / d.sum, 1) && is_near(m.xy, d.xy / d.sum, 1) && is_near(m.yy, d.yy / d.sum, 1) &&
           is_near(m.cb, has_chroma ? d.chroma[0] / d.n : NAN, 0) && is_near(m.cr, has_chroma ? d.chroma[1] / d.n : NAN, 0);
}

static void check_reference(Session *session, const Image *image, const char *name)
{
    static unsigned turn;
    Case c = case_new(image, PRODUCT_LABELS, "%s", name);
    c.features = CCL_FEATURE_INTENSITY;
    c.picture = turn++ % N_PICTURES;
    for (int connectivity = 4; connectivity <= 8; connectivity += 4) {
        Outcome outcome = expected_outcome(&c, (CclConnectivity)connectivity);
        uint32_t bad = 0;
        for (uint32_t i = 0; i < outcome.table.n_components && !bad; i++) {
            const Blob blob = { image, outcome.labels, &outcome.rows[i], &picture_kinds[c.picture] };
            bad = is_as_defined(&blob, &outcome.intensity[i]) ? 0 : i + 1;
        }
        check(session, !bad, "reference, %d-connected, \"%s\" %ux%u on %s: the intensity of row %u is not as defined",
              connectivity, name, image->width, image->height, picture_kinds[c.picture].name, bad - 1);
        outcome_free(&outcome);
    }
}

/* ---------------------------------------------------------------- methods */

static const FeatureGroup group = { .name = "intensity",
                                    .features = CCL_FEATURE_INTENSITY,
                                    .beside = CCL_FEATURE_SHAPE | CCL_FEATURE_HULL | CCL_FEATURE_HOLES,
                                    .min_density = 5,
                                    .n_densities = 90,
                                    .reference_step = 10,
                                    .check_reference = check_reference };

/* Each picture under masks in memory of every kind: odd strides and addresses, guard pages before and behind. */
static void judge_layouts(Session *session)
{
    const unsigned step = session->quick ? 7 : 1;
    unsigned i = 0;
    for (const Layout *layout = layouts; layout->name; layout++)
        for (unsigned picture = i++ % step; picture < N_PICTURES; picture += step) {
            Image image = image_noise(1 + random_below(&session->random, 90), 12, 70, 2, &session->random);
            Case c = case_new(&image, PRODUCT_TABLE, "intensity, %s, %s", layout->name, picture_kinds[picture].name);
            c.features = CCL_FEATURE_INTENSITY;
            c.picture = picture;
            c.layout = *layout;
            if (layout_fits(layout, &image))
                judge(session, &c, 1);
            image_free(&image);
        }
}

/* Runs of all lengths at all places in a vector, and long ones. */
static void judge_runs(Session *session)
{
    const uint32_t step = session->quick ? 5 : 1;
    for (uint32_t width = 1; width <= 600; width += width < 40 ? step : 61 * step) {
        Image image = image_new(width, 70);
        for (uint32_t y = 0; y < image.height; y++)
            for (uint32_t x = y % 35; x < width; x++)
                *image_at(&image, x, y) = (x + y / 35) % (y + 2) != y % (y + 2);
        check_group_image(session, &group, image, "runs");
    }
}

/* Sums that need two words: all pixels of a large picture of 16 bits are white. */
static void check_large(Session *session)
{
    const uint32_t size = session->quick ? 300 : 5500; // 65535 * 5500^4 / 3 > 2^64
    Image image = image_new(size, size);
    memset(image.pixels, 1, (size_t)size * size);
    Case c = case_new(&image, PRODUCT_TABLE, "intensity, large");
    c.features = CCL_FEATURE_INTENSITY;
    c.picture = N_PICTURES - 1;
    judge(session, &c, 1);
    Outcome outcome = expected_outcome(&c, CCL_CONNECT_8);
    CclIntensityMeasures m;
    ccl_intensity_measures(&outcome.intensity[0], outcome.rows[0].moments.area, &m);
    const double variance = ((double)size * size - 1) / 12;
    check(session, m.std == 0 && m.x == (size - 1) / 2. && is_near(m.xx, variance, 0) && is_near(m.yy, variance, 0) && m.xy == 0,
          "a white picture of %ux%u: deviation %g, variances %.17g %.17g, covariance %g", size, size, m.std, m.xx, m.yy, m.xy);
    outcome_free(&outcome);
    image_free(&image);
}

/* ---------------------------------------------------------------- errors */

static void submit_fails(Session *session, CclContext *context, const CclPicture *picture, const char *message)
{
    static const uint8_t pixels[40 * 30];
    const CclMask mask = { .data = pixels, .stride = 40, .width = 40, .height = 30, .picture = picture };
    check(session, ccl_submit(context, &mask, NULL, NULL) == CCL_ERROR_ARGUMENT && strstr(ccl_error_message(), message),
          "a picture without \"%s\": \"%s\"", message, ccl_error_message());
}

static void check_errors(Session *session)
{
    const CclPicture good = *picture_plain(PICTURE_I420, 40, 30);
    CclConfig config = ccl_config_default();
    CclContext *context = NULL;
    config.max_width = 40, config.max_height = 30;
    config.features = CCL_FEATURE_INTENSITY;
    if (!check(session, ccl_context_new(&config, &context) == CCL_OK, "ccl_context_new: %s", ccl_error_message()))
        return;
    submit_fails(session, context, NULL, "no picture to measure");
#define WRONG(field, value, message)                     \
    do {                                                 \
        CclPicture wrong = good;                         \
        wrong.field = (value);                           \
        submit_fails(session, context, &wrong, message); \
    } while (0)
    WRONG(luma, NULL, "no luma");
    WRONG(sample_size, 3, "no luma");
    WRONG(stride, 39, "picture stride 39");
    WRONG(sample_size, 2, "picture stride 40");
    WRONG(chroma[1], NULL, "chroma");
    WRONG(chroma_step, 0, "step of 0");
    WRONG(chroma_step, 3, "step of 3");
    WRONG(chroma_step, 2, "chroma stride 20");
    WRONG(shift_x, 3, "shifts of 3");
    WRONG(shift_y, 3, "and 3");
    WRONG(chroma_stride, 19, "chroma stride 19");
    WRONG(memory, CCL_MEMORY_DEVICE, "CPU backend cannot reach a picture in device memory");
    WRONG(memory, 3, "memory kind 3 of the picture does not exist");
#undef WRONG
    ccl_context_free(context);
}

/* ---------------------------------------------------------------- a late picture */

/* The picture is written late by a stream of the caller's. */
static void check_producer(Session *session, const Subject *subject)
{
    enum { WIDTH = 90, HEIGHT = 70, SIZE = WIDTH * HEIGHT, VALUE = 200 };
    static uint8_t pixels[SIZE], samples[SIZE];
    CclConfig config = subject->config;
    CclContext *context;
    config.max_width = WIDTH, config.max_height = HEIGHT;
    config.features = CCL_FEATURE_INTENSITY;
    if (!check(session, ccl_context_new(&config, &context) == CCL_OK, "%s: %s", subject->name, ccl_error_message()))
        return;
    void *const late = device_alloc(SIZE), *const source = device_alloc(SIZE), *const stream = device_stream_new();
    memset(pixels, 1, SIZE);
    memset(samples, VALUE, SIZE);
    device_upload(source, samples, SIZE);
    memset(samples, 0, SIZE);

    const CclPicture picture = { .luma = late, .stride = WIDTH, .memory = CCL_MEMORY_DEVICE, .producer_stream = stream };
    const CclMask mask = { .data = pixels, .stride = WIDTH, .width = WIDTH, .height = HEIGHT, .picture = &picture };
    CclTable table;
    bool ok = true;
    for (unsigned i = 0; i < 5 && ok; i++) { /* emulated streams take turns at random */
        device_upload(late, samples, SIZE);
        device_delayed_copy(stream, late, source, SIZE, 3000);
        ok = ccl_submit(context, &mask, NULL, NULL) == CCL_OK && ccl_collect(context, &table) == CCL_OK &&
             table.n_components == 1 && table.intensity[0].sum == SIZE * VALUE;
        device_synchronize();
    }
    check(session, ok, "%s: does not wait for the picture's producer", subject->name);

    device_stream_free(stream);
    device_free(late);
    device_free(source);
    ccl_context_free(context);
}

static void check_producers(Session *session)
{
    for (unsigned s = 0; s < session->n_subjects; s++) {
        const Subject *const subject = &session->subjects[s];
        if (subject->config.backend == CCL_BACKEND_CUDA && subject->features_counted & CCL_FEATURE_INTENSITY)
            check_producer(session, subject);
    }
}

void check_intensity(Session *session)
{
    check_errors(session);
    check_producers(session);
    check_group_patterns(session, &group);
    judge_runs(session);
    judge_layouts(session);
    judge_group_tables(session, &group);
    judge_group_noise(session, &group);
    check_large(session);
}
