/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* The background model, for rows of a picture, and the filters, for rows of bits; compiled for each tier, with its
 * instructions. Compilers turn the loops over 64 pixels, which are in 16-bit arithmetic, into vector instructions. The
 * tier's bits_*.h must come before. */
#ifndef CCL_CPU_MOTION_STRIP_H
#define CCL_CPU_MOTION_STRIP_H

#include "cpu_motion.h"
#include "feedback_learn.h"

/* The first modes of 64 pixels. Bit i of the result: pixel i does not fit and nothing of it was changed. */
static inline uint64_t first_modes(const uint8_t *restrict luma, uint16_t *restrict mean, uint16_t *restrict variance,
                                   uint16_t *restrict weight, const MotionRates *rates, uint16_t dither)
{
    const uint16_t rate = (uint16_t)rates->rate, scale = (uint16_t)rates->scale, cap = (uint16_t)rates->cap;
    const unsigned shift = rates->shift;
    uint8_t misses[BLOCK];

    for (unsigned i = 0; i < BLOCK; i++) {
        const uint16_t x = (uint16_t)(luma[i] << 8), m = mean[i], v = variance[i], w = weight[i];
        const uint16_t d = (uint16_t)(dither + i * MOTION_DITHER_X);
        const uint16_t distance = (uint16_t)(max16(x, m) - min16(x, m));
        const uint16_t limit = (uint16_t)(min16((uint16_t)((uint32_t)v * scale >> 16), cap) << shift);
        const bool fits = (uint16_t)((uint32_t)distance * distance >> 16) < limit;

        const uint16_t near = (uint16_t)(min16(distance, 4095) << 4);
        const uint16_t square = (uint16_t)((uint32_t)near * near >> 16);
        const uint16_t off = (uint16_t)(max16(square, v) - min16(square, v));
        const uint16_t moved = towards16(v, square, step16(off, rate, (uint16_t)~d));
        const uint16_t new_mean = towards16(m, x, step16(distance, rate, d));
        const uint16_t new_variance = min16(max16(moved, MOTION_VARIANCE_MIN), MOTION_VARIANCE_MAX);
        const uint16_t new_weight = (uint16_t)(w + step16((uint16_t)(MOTION_ONE - w), rate, d));

        mean[i] = fits ? new_mean : m;
        variance[i] = fits ? new_variance : v;
        weight[i] = fits ? new_weight : w;
        misses[i] = fits ? 0 : 255;
    }
    return pack64_u8(misses, 0);
}

static uint64_t mog2_block(const MotionStrip *strip, const uint8_t *luma, size_t at, uint32_t x0, uint32_t y)
{
    const MotionModel *const model = strip->model;
    const MotionRates *const rates = strip->rates;
    const uint16_t dither = (uint16_t)(motion_dither_row(rates, y) + x0 * MOTION_DITHER_X);
    uint64_t misses = first_modes(luma, model->mean + at, model->variance + at, model->weight + at, rates, dither);
    uint64_t foreground = 0;

    for (; misses; misses &= misses - 1) {
        const uint32_t i = lowest(misses);
        const bool is_foreground =
            motion_rest((uint32_t)luma[i] << 8, &model->mean[at + i], &model->variance[at + i], &model->weight[at + i],
                        &model->rest[at + i], rates, (uint16_t)(dither + i * MOTION_DITHER_X));
        foreground |= (uint64_t)is_foreground << i;
    }
    return foreground;
}

static uint64_t ema_block(const MotionStrip *strip, const uint8_t *restrict luma, size_t at, uint32_t x0, uint32_t y)
{
    uint16_t *restrict const mean = strip->model->mean + at;
    const MotionRates *const rates = strip->rates;
    const uint16_t dither = (uint16_t)(motion_dither_row(rates, y) + x0 * MOTION_DITHER_X);
    const uint16_t rate = (uint16_t)rates->rate, threshold = (uint16_t)(rates->threshold << 8);
    const uint16_t freeze = rates->freeze ? 65535 : 0;
    uint8_t off[BLOCK];

    for (unsigned i = 0; i < BLOCK; i++) {
        const uint16_t x = (uint16_t)(luma[i] << 8), m = mean[i];
        const uint16_t distance = (uint16_t)(max16(x, m) - min16(x, m));
        const uint16_t far = distance > threshold ? 65535 : 0;
        const uint16_t step = step16(distance, rate, (uint16_t)(dither + i * MOTION_DITHER_X));
        mean[i] = towards16(m, x, (uint16_t)(step & (uint16_t) ~(far & freeze)));
        off[i] = (uint8_t)far;
    }
    return pack64_u8(off, 0);
}

static uint64_t diff_block(const MotionStrip *strip, const uint8_t *restrict luma, size_t at, uint32_t x0, uint32_t y)
{
    uint8_t *restrict const last = strip->model->last + at;
    uint8_t off[BLOCK];

    (void)x0, (void)y;
    for (unsigned i = 0; i < BLOCK; i++) {
        const uint8_t x = luma[i], b = last[i];
        off[i] = (uint8_t)(x > b ? x - b : b - x);
        last[i] = x;
    }
    return pack64_u8(off, strip->rates->threshold);
}

/* The first picture. */
static void seed_block(const MotionStrip *strip, const uint8_t *luma, size_t at)
{
    const MotionModel *const model = strip->model;
    if (strip->method == CCL_MOTION_DIFF) {
        memcpy(model->last + at, luma, BLOCK);
        return;
    }
    for (unsigned i = 0; i < BLOCK; i++)
        model->mean[at + i] = (uint16_t)(luma[i] << 8);
    if (strip->method == CCL_MOTION_EMA)
        return;
    for (unsigned i = 0; i < BLOCK; i++) {
        model->variance[at + i] = MOTION_VARIANCE_NEW;
        model->weight[at + i] = MOTION_ONE;
    }
    memset(model->rest + at, 0, BLOCK * sizeof *model->rest);
}

/* sum / area, where both are of a box of 8-bit pixels: exact for areas below 2^16, since then 256 area² is below 2^40. */
static inline uint32_t divide_by_area(uint32_t sum, uint32_t area, uint64_t inverse)
{
    return area < 65536 ? (uint32_t)(sum * inverse >> 40) : sum / area;
}

/* Row y of the working picture as the average of boxes. */
static void shrink_row(const MotionStrip *strip, uint32_t y, uint8_t *restrict row)
{
    const CclMask *const luma = strip->luma;
    const uint32_t full_width = luma->width, width = strip->width;
    uint32_t *restrict const sums = strip->column_sums;
    const uint32_t y0 = motion_box(y, strip->height, luma->height), y1 = motion_box(y + 1, strip->height, luma->height);

    memset(sums, 0, full_width * sizeof *sums);
    for (uint32_t i = y0; i < y1; i++) {
        const uint8_t *restrict const from = mask_row(luma, i);
        for (uint32_t x = 0; x < full_width; x++)
            sums[x] += from[x];
    }
    /* Boxes are `narrow` or one wider; the ends step along without dividing. */
    const uint32_t narrow = full_width / width, rest = full_width % width;
    const uint32_t area = narrow * (y1 - y0), wide_area = area + (y1 - y0);
    const uint64_t inverse = ((uint64_t)1 << 40) / area + 1, wide_inverse = ((uint64_t)1 << 40) / wide_area + 1;
    for (uint32_t x = 0, at = 0, part = 0; x < width; x++) {
        const bool wide = (part += rest) >= width;
        const uint32_t end = at + narrow + wide;
        uint32_t sum = (wide ? wide_area : area) / 2;
        part -= wide ? width : 0;
        while (at < end)
            sum += sums[at++];
        row[x] = (uint8_t)(wide ? divide_by_area(sum, wide_area, wide_inverse) : divide_by_area(sum, area, inverse));
    }
}

/* Rows y0..y1-1 of the strip: picture to foreground bits, model updated. */
static void motion_rows(const MotionStrip *strip)
{
    uint64_t (*const block)(const MotionStrip *, const uint8_t *, size_t, uint32_t, uint32_t) =
        strip->method == CCL_MOTION_MOG2  ? mog2_block
        : strip->method == CCL_MOTION_EMA ? ema_block
                                          : diff_block;
    const uint32_t words = strip->model->words, rest = strip->width % BLOCK;

    for (uint32_t y = strip->y0; y < strip->y1; y++) {
        const uint8_t *row = mask_row(strip->luma, y);
        uint64_t *const bits = strip->bits + (size_t)y * words;
        if (strip->shrunk) {
            uint8_t *const small = strip->shrunk + (size_t)y * words * BLOCK;
            shrink_row(strip, y, small);
            row = small;
        }
        for (uint32_t w = 0; w < words; w++) {
            const size_t at = ((size_t)y * words + w) * BLOCK;
            const bool is_last = rest && w == words - 1;
            const uint8_t *luma = row + w * BLOCK;
            uint8_t padded[BLOCK] = { 0 };
            if (is_last) /* no byte past the row may be read */
                luma = memcpy(padded, luma, rest);
            if (strip->seed) {
                seed_block(strip, luma, at);
                bits[w] = 0;
            } else {
                bits[w] = block(strip, luma, at, w * BLOCK, y) & (is_last ? below(rest) : ~(uint64_t)0) &
                          ~strip->ignored[(size_t)y * words + w];
            }
        }
    }
}

/* Input of the test for shadows: the picture at the working size, and the background. */
typedef struct MotionView {
    const uint8_t *luma;
    const uint16_t *mean;
    size_t stride, pitch;
    int width, height;
} MotionView;

static bool pixel_is_shadow(const MotionView *view, int x, int y)
{
    const int r = MOTION_SHADOW_RADIUS;
    const int x0 = x < r ? 0 : x - r, x1 = x + r < view->width ? x + r : view->width - 1;
    const int y0 = y < r ? 0 : y - r, y1 = y + r < view->height ? y + r : view->height - 1;
    MotionShadow sums = { 0, 0, 0 };
    for (int j = y0; j <= y1; j++)
        for (int i = x0; i <= x1; i++)
            motion_shadow_add(&sums, view->luma[j * view->stride + i], view->mean[j * view->pitch + i] >> 8);
    return motion_is_shadow(&sums);
}

#define SHADOW_COLUMNS (BLOCK + 2 * MOTION_SHADOW_RADIUS)

/* The same for the `bits` of 64 pixels from x0 on: sums of columns first, which neighbours share. */
static uint64_t shadows_of_block(const MotionView *view, int x0, int y, uint64_t bits)
{
    const int r = MOTION_SHADOW_RADIUS;
    const int left = x0 < r ? 0 : x0 - r, right = x0 + BLOCK + r < view->width ? x0 + BLOCK + r : view->width;
    const int y0 = y < r ? 0 : y - r, y1 = y + r < view->height ? y + r : view->height - 1;
    uint32_t bb[SHADOW_COLUMNS] = { 0 }, gb[SHADOW_COLUMNS] = { 0 }, gg[SHADOW_COLUMNS] = { 0 };
    uint64_t shadows = 0;

    for (int j = y0; j <= y1; j++) {
        uint8_t g[SHADOW_COLUMNS] = { 0 };
        uint16_t b[SHADOW_COLUMNS] = { 0 };
        memcpy(g + (left - (x0 - r)), view->luma + j * view->stride + left, (size_t)(right - left));
        memcpy(b + (left - (x0 - r)), view->mean + j * view->pitch + left, (size_t)(right - left) * 2);
        for (int i = 0; i < SHADOW_COLUMNS; i++) {
            const uint32_t seen = g[i], behind = b[i] >> 8;
            bb[i] += behind * behind;
            gb[i] += seen * behind;
            gg[i] += seen * seen;
        }
    }
    for (int i = 0; i < BLOCK; i++) {
        bb[i] += bb[i + 1] + bb[i + 2] + bb[i + 3] + bb[i + 4];
        gb[i] += gb[i + 1] + gb[i + 2] + gb[i + 3] + gb[i + 4];
        gg[i] += gg[i + 1] + gg[i + 2] + gg[i + 3] + gg[i + 4];
    }
    for (uint64_t todo = bits; todo; todo &= todo - 1) {
        const uint32_t i = lowest(todo);
        const MotionShadow sums = { bb[i], gb[i], gg[i] };
        shadows |= (uint64_t)motion_is_shadow(&sums) << i;
    }
    return shadows;
}

/* Takes the shadows out of the bits of rows y0..y1-1; the model has all rows of the frame. */
static void motion_unshadow(const MotionStrip *strip)
{
    const uint32_t words = strip->model->words;
    const MotionView view = {
        .luma = strip->shrunk ? strip->shrunk : strip->luma->data,
        .mean = strip->model->mean,
        .stride = strip->shrunk ? (size_t)words * BLOCK : strip->luma->stride,
        .pitch = (size_t)words * BLOCK,
        .width = (int)strip->width,
        .height = (int)strip->height,
    };

    for (uint32_t y = strip->y0; y < strip->y1; y++)
        for (uint32_t w = 0; w < words; w++) {
            uint64_t *const word = strip->bits + (size_t)y * words + w;
            uint64_t darker = 0;
            for (uint64_t todo = *word; todo; todo &= todo - 1) {
                const uint32_t i = lowest(todo), x = w * BLOCK + i;
                darker |= (uint64_t)(view.luma[y * view.stride + x] < view.mean[y * view.pitch + x] >> 8) << i;
            }
            if (!darker)
                continue;
            if (darker & (darker - 1))
                *word &= ~shadows_of_block(&view, (int)(w * BLOCK), (int)y, darker);
            else if (pixel_is_shadow(&view, (int)(w * BLOCK + lowest(darker)), (int)y))
                *word &= ~darker;
        }
}

/* ---------------------------------------------------------------- bits */

/* Bit x of out is bit x + n of the row, which has a zero word before and after; -64 < n < 64. */
static inline uint64_t shifted(const uint64_t *row, int n)
{
    if (!n)
        return row[0];
    return n > 0 ? row[0] >> n | row[1] << (64 - n) : row[0] << -n | row[-1] >> (64 + n);
}

/* Foreground grows by `radius` each way. Rows of image and scratch are `words` apart. The rows in scratch have `radius` rows
 * before and after them. Bits past the width stay 0. */
static void grow(const MotionBits *bits, uint32_t radius, uint64_t outside)
{
    const uint32_t words = bits->words, height = bits->height, span = 2 * radius + 1;
    const uint64_t last = bits->width % 64 ? below(bits->width % 64) : ~(uint64_t)0;
    uint64_t *const padded = bits->scratch; /* one row, a word of its own before, two after */
    uint64_t *const rows = bits->scratch + words + 3;

    for (uint32_t y = 0; y < height; y++) {
        uint64_t *const row = bits->image + (size_t)y * words;
        padded[0] = padded[words + 1] = padded[words + 2] = 0;
        for (uint32_t w = 0; w < words; w++)
            padded[w + 1] = row[w] ^ outside;
        padded[words] &= last;
        /* Bit x gathers bits x - s of a reach that doubles; upwards, so from the last word. */
        for (uint32_t reach = 1; reach < span;) {
            const uint32_t step = reach < span - reach ? reach : span - reach;
            for (uint32_t w = words + 1; w > 0; w--)
                padded[w] |= padded[w] << step | padded[w - 1] >> (64 - step);
            reach += step;
        }
        uint64_t *const out = rows + (size_t)(y + radius) * words;
        for (uint32_t w = 0; w < words; w++)
            out[w] = shifted(padded + w + 1, (int)radius);
    }
    memset(rows, 0, (size_t)radius * words * 8);
    memset(rows + (size_t)(height + radius) * words, 0, (size_t)radius * words * 8);

    for (uint32_t reach = 1; reach < span;) {
        const uint32_t step = reach < span - reach ? reach : span - reach;
        const size_t n = (size_t)(height + 2 * radius - reach - step + 1) * words, down = (size_t)step * words;
        for (size_t i = 0; i < n; i++)
            rows[i] |= rows[i + down];
        reach += step;
    }
    for (uint32_t y = 0; y < height; y++)
        for (uint32_t w = 0; w < words; w++)
            bits->image[(size_t)y * words + w] = (rows[(size_t)y * words + w] ^ outside) & (w == words - 1 ? last : ~(uint64_t)0);
}

static void motion_dilate(const MotionBits *bits, uint32_t radius)
{
    if (radius)
        grow(bits, radius, 0);
}

/* The background grows. Outside the picture there is neither. */
static void motion_erode(const MotionBits *bits, uint32_t radius)
{
    if (radius)
        grow(bits, radius, ~(uint64_t)0);
}

/* Numbers of 64 pixels at once, bit planes; plane 0 counts ones. */
static inline void add3(uint64_t a, uint64_t b, uint64_t c, uint64_t *sum, uint64_t *carry)
{
    *sum = a ^ b ^ c;
    *carry = (a & b) | (c & (a ^ b));
}

/* Row y with a word before and two after it: 0, or with `repeats` copies of the first and of the last pixel for two pixels. */
static void pad_row(const MotionBits *bits, uint32_t y, bool repeats, uint64_t *padded)
{
    const uint32_t words = bits->words, end = bits->width;
    padded[0] = padded[words + 1] = 0;
    memcpy(padded + 1, bits->image + (size_t)y * words, words * 8);
    if (!repeats)
        return;
    const uint64_t last = padded[1 + (end - 1) / 64] >> (end - 1) % 64 & 1;
    padded[0] = (padded[1] & 1) * 3 << 62;
    padded[1 + end / 64] |= last << end % 64;
    padded[1 + (end + 1) / 64] |= last << (end + 1) % 64;
}

/* Counts 0..5 of the pixels of each row of a square, in planes of ones, twos and fours. */
typedef struct MedianPlanes {
    uint64_t *planes[3];
} MedianPlanes;

/* The counts of row y, two rows further down in the planes. */
static void count_row(const MotionBits *bits, uint32_t y, uint32_t n, const uint64_t *padded, const MedianPlanes *counts)
{
    const size_t to = (size_t)(y + 2) * bits->words;
    for (uint32_t w = 0; w < bits->words; w++) {
        const uint64_t *const p = padded + w + 1;
        uint64_t s, c, s2 = 0, c2 = 0;
        add3(shifted(p, -1), p[0], shifted(p, 1), &s, &c);
        if (n == 5)
            add3(s, shifted(p, -2), shifted(p, 2), &s2, &c2);
        else
            s2 = s;
        counts->planes[0][to + w] = s2;
        counts->planes[1][to + w] = c ^ c2;
        counts->planes[2][to + w] = c & c2;
    }
}

/* The two rows above the first and below the last: 0, or copies. */
static void fill_border_rows(const MotionBits *bits, bool repeats, const MedianPlanes *counts)
{
    const size_t words = bits->words, height = bits->height;
    for (unsigned i = 0; i < 3; i++)
        for (unsigned k = 0; k < 2; k++) {
            uint64_t *const plane = counts->planes[i], *const top = plane + k * words,
                            *const end = plane + (height + 2 + k) * words;
            if (repeats) {
                memcpy(top, plane + 2 * words, words * 8);
                memcpy(end, plane + (height + 1) * words, words * 8);
            } else {
                memset(top, 0, words * 8);
                memset(end, 0, words * 8);
            }
        }
}

/* The majority of (2r+1)² pixels; outside the picture is background, or with `repeats` as its border. */
static void motion_median(const MotionBits *bits, uint32_t radius, bool repeats)
{
    const uint32_t words = bits->words, height = bits->height, n = 2 * radius + 1;
    const size_t plane = (size_t)words * (height + 4);
    uint64_t *const padded = bits->scratch, *const first = bits->scratch + words + 3;
    const MedianPlanes counts = { { first, first + plane, first + 2 * plane } };
    const uint64_t *const ones = first, *const twos = first + plane, *const fours = first + 2 * plane;

    if (!radius)
        return;
    for (uint32_t y = 0; y < height; y++) {
        pad_row(bits, y, repeats, padded);
        count_row(bits, y, n, padded, &counts);
    }
    fill_border_rows(bits, repeats, &counts);
    /* Columns: the sum of n such counts, 0..25 in five planes, against half. */
    for (uint32_t y = 0; y < height; y++)
        for (uint32_t w = 0; w < words; w++) {
            uint64_t sum[5] = { 0, 0, 0, 0, 0 };
            for (uint32_t j = 0; j < n; j++) {
                const size_t at = (size_t)(y + 2 - radius + j) * words + w;
                uint64_t c, c2, c3;
                c = sum[0] & ones[at], sum[0] ^= ones[at];
                add3(sum[1], twos[at], c, &sum[1], &c2);
                add3(sum[2], fours[at], c2, &sum[2], &c3);
                sum[4] ^= sum[3] & c3, sum[3] ^= c3;
            }
            /* 5x5: 13 or more; 3x3: 5 or more. */
            const uint64_t majority =
                n == 5 ? sum[4] | (sum[3] & sum[2] & (sum[1] | sum[0])) : sum[3] | (sum[2] & (sum[1] | sum[0]));
            bits->image[(size_t)y * words + w] = majority;
        }
    /* Windows at the border reach past the width. */
    const uint64_t last = bits->width % 64 ? below(bits->width % 64) : ~(uint64_t)0;
    for (uint32_t y = 0; y < height; y++)
        bits->image[(size_t)y * words + words - 1] &= last;
}

/* A pixel stays when it is set for the `frames`-th time in a row; counts: five planes of the image's size. */
static void motion_confirm(const MotionBits *bits, uint64_t *counts, uint32_t frames)
{
    const size_t n = (size_t)bits->words * bits->height;
    for (size_t i = 0; i < n; i++) {
        const uint64_t set = bits->image[i];
        uint64_t carry = set, full = set, less = 0;
        for (unsigned p = 0; p < 5; p++)
            full &= counts[p * n + i];
        carry &= ~full; /* 31 stays 31 */
        for (unsigned p = 0; p < 5; p++) {
            const uint64_t old = counts[p * n + i] & set;
            counts[p * n + i] = old ^ carry;
            carry &= old;
        }
        /* less: count < frames; from the lowest plane up the higher one decides */
        for (unsigned p = 0; p < 5; p++) {
            const uint64_t bit = counts[p * n + i];
            less = frames >> p & 1 ? ~bit | less : ~bit & less;
        }
        bits->image[i] = set & ~less;
    }
}

static uint64_t motion_count(const MotionBits *bits)
{
    const size_t n = (size_t)bits->words * bits->height;
    uint64_t count = 0;
    for (size_t i = 0; i < n; i++)
        count += ones(bits->image[i]);
    return count;
}

/* Bits to bytes of 0 and 255. */
static void motion_paint(const MotionBits *bits, uint8_t *data, size_t stride)
{
    for (uint32_t y = 0; y < bits->height; y++) {
        uint8_t *const row = data + y * stride;
        const uint64_t *const words = bits->image + (size_t)y * bits->words;
        for (uint32_t x = 0; x < bits->width; x += 64) {
            const uint64_t word = words[x / 64];
            const uint32_t n = bits->width - x < 64 ? bits->width - x : 64;
            if (!word || word == ~(uint64_t)0) {
                memset(row + x, word ? 255 : 0, n);
                continue;
            }
            for (uint32_t i = 0; i < n; i++)
                row[x + i] = (uint8_t) - (word >> i & 1);
        }
    }
}

static const MotionTier motion_tier = {
    .rows = motion_rows,
    .unshadow = motion_unshadow,
    .median = motion_median,
    .dilate = motion_dilate,
    .erode = motion_erode,
    .confirm = motion_confirm,
    .count = motion_count,
    .paint = motion_paint,
    .feedback = &feedback_tier,
};

#undef BLOCK
#endif
