/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Plain reference of a new default method of cclmotion: a mixture of up to three modes a pixel, with thresholds that follow
 * false alarms, and a test of regions that stand still. Integers throughout; README.md explains and measures it.
 *
 * A picture goes through these steps, in this order:
 *
 *     smooth           luma and chroma, 3x3 binomial                                          pixel, 3x3
 *     normalise        gain of each row band and offset of each chroma plane: medians         picture
 *     classify         which pixels fit no mode, nor the range of the background around them  pixel, 3x3 and 9x9 min/max
 *     elsewhere        most edges of the background are gone: learn anew                      picture
 *     unshadow         darker by one factor in 5x5, same colour: no foreground                pixel, 5x5 of foreground pixels
 *     majority, close  5x5, 5x5                                                               bits
 *     fill_holes       small background components                                            components
 *     drop_explained   blobs that are the background moved by up to 4 pixels                  components
 *     learn            pixels outside the mask grown by 2: modes, deviation, extra threshold  pixel
 *                      pixels inside: candidate, and how long it has stood still              pixel
 *     ghosts           still regions: uncovered, only lit otherwise, or moved things          components
 *
 * Values are luma as 8.8 fixed point unless said otherwise.
 *
 * State of a pixel, 22 bytes: m[3] and wt[3] (modes: mean 8.8, weight 0.16, heaviest first), dev (mean deviation of what fits,
 * 8.8), extra (threshold added by false alarms, 8.8), cand (value in the mask, 8.8), stable (time that cand fits, `unit` ms),
 * blink (rises, 32 each, decaying), ghost (time as ghost, 1/64 s). Two bits: prev, was.
 * State of a chroma sample, 16 bytes (4 a pixel of I420): cm[2][2] (two modes of U and V, 8.8), cwt (weight of the first, 0.16),
 * cdev (8.8), ccand[2] (8.8).
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <stdbool.h>
#include <stdio.h>

/* ---------------------------------------------------------------- constants: unit, reason in README.md */
#ifndef P_TAU
#define P_TAU 20000        /* ms: memory of the background modes */
#endif
#ifndef P_TMIN
#define P_TMIN 5          /* levels: smallest threshold (of the smoothed luma) */
#endif
#ifndef P_TDEV
#define P_TDEV 24          /* 1/8 mean deviations added to P_TMIN */
#endif
#ifndef P_TREL
#define P_TREL 6           /* 1/256 of the background's brightness added */
#endif
#ifndef P_CMIN
#define P_CMIN 7           /* levels of chroma */
#endif
#ifndef P_CDEV
#define P_CDEV 32          /* 1/8 mean deviations of chroma */
#endif
#ifndef P_UP
#define P_UP 256           /* 1/256 level: extra threshold for each false alarm */
#endif
#ifndef P_DOWN
#define P_DOWN 1           /* 1/256 level: ... and less for each picture without */
#endif
#ifndef P_EXTRA_MAX
#define P_EXTRA_MAX 40     /* levels */
#endif
#ifndef P_WBG
#define P_WBG 6554         /* 0.16: a mode with this weight is background (0.1) */
#endif
#ifndef P_BOOT_MS
#define P_BOOT_MS 1500     /* ms of learning without a mask */
#endif
#ifndef P_BOOT_N
#define P_BOOT_N 12        /* and pictures */
#endif
#ifndef P_BLINK_MS
#define P_BLINK_MS 10000   /* ms: memory of how often a pixel became foreground */
#endif
#ifndef P_BLINK_ON
#define P_BLINK_ON 48      /* of 32 for each time: above this the wide range counts, in full at twice as much */
#endif
#ifndef P_STATIC_MS
#define P_STATIC_MS 1000   /* ms without change until a region is looked at */
#endif
#ifndef P_GHOST_MS
#define P_GHOST_MS 600     /* ms a region must look like a ghost */
#endif
#ifndef P_GHOST_RATIO
#define P_GHOST_RATIO 20   /* 1/16: edge of the background against edge of the picture */
#endif

typedef struct Bg {
    int w, h, cw, ch, chroma;
    int64_t absorb_us, last_us, start_us;
    int unit;                      /* ms: of `stable` */
    uint32_t n;                    /* pictures learnt since (re)start */
    uint32_t seq;
    bool step_of_light;            /* in this picture: colours are learnt anew */
    uint32_t in_mask;              /* pixels of the mask before */
    int lost_ms;                   /* since when the background's edges are gone */
    /* state of a pixel */
    uint16_t *m[3], *wt[3];        /* modes: mean 8.8, weight 0.16 */
    uint16_t *dev, *extra;         /* mean deviation 8.8, extra threshold 8.8 */
    uint16_t *cand, *stable;       /* value seen in the mask, and for how long: ms / 16 */
    uint8_t *blink, *ghost;        /* rises of the mask; time as ghost, 1/64 s */
    uint8_t *prev;                 /* mask of the picture before */
    /* state of a chroma sample */
    uint16_t *cm[2][2], *cwt, *cdev, *ccand[2];
    /* of the picture */
    uint16_t *s, *cs[2];           /* smoothed */
    uint16_t *e;                   /* background as expected now */
    uint8_t *raw, *tmp, *tmp2, *craw, *mask;
    int32_t *label, *parent;
    uint16_t *gain;                /* of each row, 4.12 */
    uint32_t *hist;                /* bands + 1, GAIN_BINS each */
    uint16_t *lo, *hi, *t16;       /* range of the background in 5x5 */
    uint16_t *clo[2], *chi[2];
    uint8_t *strict, *was;                  /* raw of the picture before */
} Bg;

#define GAIN_BANDS 12
#define GAIN_BINS 1024             /* of 1/256 */
#ifndef P_GAIN_BAND
#define P_GAIN_BAND 10             /* per cent that a band may differ from the whole picture */
#endif
#ifndef P_GAIN_STEP
#define P_GAIN_STEP 20             /* per cent: beyond this the model is scaled */
#endif
#ifndef P_DYN
#define P_DYN 4                    /* levels of extra threshold at which the neighbours' range counts in full */
#endif
#ifndef P_BOOT_UP
#define P_BOOT_UP 256              /* 1/256 level: extra for each rise while the first pictures are learnt */
#endif

#ifndef P_EXPLAINED
#define P_EXPLAINED 50             /* per cent of a blob that is background moved by up to two pixels: none */
#endif
#ifndef P_SHADOW_LO
#define P_SHADOW_LO 50             /* per cent: darkest shadow */
#endif
#ifndef P_SHADOW_HI
#define P_SHADOW_HI 96
#endif
#ifndef P_SHADOW_FLAT
#define P_SHADOW_FLAT 6            /* 1/1000 of the energy left by one factor */
#endif
#ifndef P_LIGHT
#define P_LIGHT 8                  /* 1/16: change of edges against edges: below, only the light changed */
#endif
#ifndef P_ALPHA0
#define P_ALPHA0 32                /* 1/256 of the neighbours' range always allowed */
#endif

#ifndef P_WIDE
#define P_WIDE 4                   /* pixels: how far the background moves where it moves again and again */
#endif

#ifndef P_RIM
#define P_RIM 1                    /* part of the threshold by which luma has to differ at the outline of chroma */
#endif
#ifndef P_HOLE
#define P_HOLE 200                 /* part of the picture: larger holes stay */
#endif
#ifndef P_CLOSE
#define P_CLOSE 2
#endif

#ifndef P_MARGIN
#define P_MARGIN 0                 /* 1/16 of the threshold beyond the wide range that still counts as moved background */
#endif
#ifndef P_MARGIN2
#define P_MARGIN2 16
#endif

#ifndef P_STILL_MS
#define P_STILL_MS 8000            /* ms without change: a thing that was moved, if as much was uncovered as brought */
#endif
#ifndef P_MOVED_RATIO
#define P_MOVED_RATIO 9            /* 1/16 */
#endif

#ifndef P_EDGE
#define P_EDGE 12                  /* levels in four pixels: an edge of the background */
#endif
#ifndef P_LOST
#define P_LOST 55                  /* per cent of edges that are gone when the camera looks elsewhere */
#endif
#ifndef P_LOST_RAW
#define P_LOST_RAW 20              /* per cent of the picture that does not fit then */
#endif
#ifndef P_LOST_MS
#define P_LOST_MS 1000             /* ms that this lasts */
#endif

#define A(T, n) calloc((n), sizeof(T))

Bg *bg_new(int w, int h, int chroma, int64_t absorb_us)
{
    Bg *b = A(Bg, 1);
    const size_t n = (size_t)w * h;
    b->w = w, b->h = h, b->cw = (w + 1) / 2, b->ch = (h + 1) / 2, b->chroma = chroma, b->absorb_us = absorb_us;
    b->unit = absorb_us > 960000000 ? (int)((absorb_us + 59999999) / 60000000) : 16;
    const size_t c = (size_t)b->cw * b->ch;
    for (int k = 0; k < 3; k++) b->m[k] = A(uint16_t, n), b->wt[k] = A(uint16_t, n);
    b->dev = A(uint16_t, n), b->extra = A(uint16_t, n), b->cand = A(uint16_t, n), b->stable = A(uint16_t, n);
    b->blink = A(uint8_t, n), b->ghost = A(uint8_t, n), b->prev = A(uint8_t, n);
    for (int k = 0; k < 2; k++) {
        b->cm[k][0] = A(uint16_t, c), b->cm[k][1] = A(uint16_t, c);
        b->ccand[k] = A(uint16_t, c), b->cs[k] = A(uint16_t, c);
    }
    b->cwt = A(uint16_t, c), b->cdev = A(uint16_t, c);
    b->s = A(uint16_t, n), b->e = A(uint16_t, n);
    b->raw = A(uint8_t, n), b->tmp = A(uint8_t, n), b->tmp2 = A(uint8_t, n), b->craw = A(uint8_t, c), b->mask = A(uint8_t, n);
    b->gain = A(uint16_t, h), b->hist = A(uint32_t, (GAIN_BANDS + 1) * GAIN_BINS), b->was = A(uint8_t, n), b->strict = A(uint8_t, n);
    b->lo = A(uint16_t, n), b->hi = A(uint16_t, n), b->t16 = A(uint16_t, n);
    for (int k = 0; k < 2; k++) b->clo[k] = A(uint16_t, c), b->chi[k] = A(uint16_t, c);
    b->label = A(int32_t, n), b->parent = A(int32_t, n + 1);
    return b;
}

void bg_free(Bg *b)
{
    for (int k = 0; k < 3; k++) free(b->m[k]), free(b->wt[k]);
    for (int k = 0; k < 2; k++) free(b->cm[k][0]), free(b->cm[k][1]), free(b->ccand[k]), free(b->cs[k]), free(b->clo[k]), free(b->chi[k]);
    void *const rest[] = { b->dev, b->extra, b->cand, b->stable, b->blink, b->ghost, b->prev, b->cwt, b->cdev, b->s, b->e, b->raw,
                           b->tmp, b->tmp2, b->craw, b->mask, b->gain, b->hist, b->was, b->strict, b->lo, b->hi, b->t16,
                           b->label, b->parent, b };
    for (size_t i = 0; i < sizeof rest / sizeof *rest; i++) free(rest[i]);
}

static inline int clampi(int v, int lo, int hi) { return v < lo ? lo : v > hi ? hi : v; }
static inline int absi(int v) { return v < 0 ? -v : v; }

/* 3x3 binomial: 8.8 out, edges repeated */
static void smooth(const uint8_t *p, uint16_t *out, int w, int h)
{
    for (int y = 0; y < h; y++) {
        const uint8_t *a = p + (size_t)(y ? y - 1 : 0) * w, *b = p + (size_t)y * w, *c = p + (size_t)(y + 1 < h ? y + 1 : y) * w;
        for (int x = 0; x < w; x++) {
            const int l = x ? x - 1 : 0, r = x + 1 < w ? x + 1 : x;
#ifdef NO_SMOOTH
            (void)a, (void)c, (void)l, (void)r;
            out[(size_t)y * w + x] = (uint16_t)(b[x] << 8);
#else
            const int v = a[l] + 2 * a[x] + a[r] + 2 * (b[l] + 2 * b[x] + b[r]) + c[l] + 2 * c[x] + c[r];
            out[(size_t)y * w + x] = (uint16_t)(v << 4);
#endif
        }
    }
}

/* ---------------------------------------------------------------- light of the whole picture */
/* Median of a histogram in 1/16 bins; 0 where there are too few. */
static int median_of(const uint32_t *hist, int bins, uint32_t least)
{
    uint32_t n = 0, sum = 0;
    for (int i = 0; i < bins; i++) n += hist[i];
    if (n < least) return -1;
    for (int i = 0; i < bins; i++) {
        if (2 * (sum + hist[i]) >= n) return i * 16 + (int)(16 * (n / 2 > sum ? n / 2 - sum : 0) / hist[i]);
        sum += hist[i];
    }
    return -1;
}

static int scale_by(int v, int gain)  /* 4.12 */
{
    return clampi((v * gain + 2048) >> 12, 0, 65535);
}

/* How much brighter each row is than the model: medians of ratios. The picture is brought to the light of the model. */
static void normalise(Bg *b)
{
    const int w = b->w, h = b->h;
    memset(b->hist, 0, (GAIN_BANDS + 1) * GAIN_BINS * sizeof *b->hist);
    uint32_t *const all = b->hist + GAIN_BANDS * GAIN_BINS;
    const bool few = b->in_mask * 4 < (uint32_t)(w * h); /* else the mask is more likely light than objects */
    b->step_of_light = false;
    const int sy = h >= 480 ? 4 : 2, sx = w >= 640 ? 4 : 2;
    for (int y = sy / 2; y < h; y += sy)
        for (int x = sx / 2; x < w; x += sx) {
            const size_t i = (size_t)y * w + x;
            const int v = b->s[i], m = b->m[0][i];
            if ((b->prev[i] && few) || m < 12 << 8 || v >= 250 << 8 || m >= 250 << 8) continue;
            const int r = clampi(v * 256 / m, 0, GAIN_BINS - 1);
            b->hist[y * GAIN_BANDS / h * GAIN_BINS + r]++, all[r]++;
        }
    int global = median_of(all, GAIN_BINS, 64);
    if (global < 0) global = 4096;
    int band[GAIN_BANDS];
    for (int k = 0; k < GAIN_BANDS; k++) {
        const int g = median_of(b->hist + k * GAIN_BINS, GAIN_BINS, 64);
        band[k] = g < 0 ? global : clampi(g, global - global * P_GAIN_BAND / 100, global + global * P_GAIN_BAND / 100);
    }
    if (global < 4096 - 4096 * P_GAIN_STEP / 100 || global > 4096 + 4096 * P_GAIN_STEP / 100) {
        b->step_of_light = true;
        /* a step of light, or far from where learning began: the model takes it over */
        for (size_t i = 0; i < (size_t)w * h; i++) {
            for (int k = 0; k < 3; k++) b->m[k][i] = (uint16_t)scale_by(b->m[k][i], global);
            b->cand[i] = (uint16_t)scale_by(b->cand[i], global);
        }
        for (int k = 0; k < GAIN_BANDS; k++) band[k] = band[k] * 4096 / global;
        if (b->chroma)
            for (size_t i = 0; i < (size_t)b->cw * b->ch; i++)
                for (int j = 0; j < 2; j++) {
                    for (int k = 0; k < 2; k++)
                        b->cm[k][j][i] = (uint16_t)clampi(32768 + ((b->cm[k][j][i] - 32768) * global / 4096), 0, 65535);
                    b->ccand[j][i] = (uint16_t)clampi(32768 + ((b->ccand[j][i] - 32768) * global / 4096), 0, 65535);
                }
    }
    for (int y = 0; y < h; y++) {
        const int at = clampi((2 * y + 1) * GAIN_BANDS * 128 / h - 128, 0, (GAIN_BANDS - 1) * 256);
        const int k = at >> 8, part = at & 255;
        const int g = (band[k] * (256 - part) + band[k + 1 < GAIN_BANDS ? k + 1 : k] * part) >> 8;
        const int inverse = (1 << 24) / clampi(g, 256, 65535);
        b->gain[y] = (uint16_t)clampi(inverse, 0, 65535);
        for (int x = 0; x < w; x++) {
            uint16_t *const s = &b->s[(size_t)y * w + x];
            *s = *s >= 252 << 8 && inverse < 4096 ? 65535 : (uint16_t)scale_by(*s, inverse);
        }
    }
    if (b->chroma) {
        int offset[2];
        for (int j = 0; j < 2; j++) {
            for (int y = 0; y < b->ch; y++)
                for (int x = 0; x < b->cw; x++) {
                    uint16_t *const c = &b->cs[j][(size_t)y * b->cw + x];
                    *c = (uint16_t)clampi(32768 + ((*c - 32768) * b->gain[2 * y] / 4096), 0, 65535);
                }
            memset(b->hist, 0, GAIN_BINS * sizeof *b->hist);
            for (int y = 0; y < b->ch; y += sy / 2)
                for (int x = 0; x < b->cw; x += sx / 2) {
                    const size_t i = (size_t)y * b->cw + x;
                    if (!b->prev[(size_t)2 * y * w + 2 * x])
                        b->hist[clampi((b->cs[j][i] - b->cm[0][j][i]) / 16 + GAIN_BINS / 2, 0, GAIN_BINS - 1)]++;
                }
            const int m = median_of(b->hist, GAIN_BINS, 64);
            offset[j] = m < 0 || b->step_of_light ? 0 : m - GAIN_BINS / 2 * 16;
            for (size_t i = 0; i < (size_t)b->cw * b->ch; i++)
                b->cs[j][i] = (uint16_t)clampi(b->cs[j][i] - offset[j], 0, 65535);
        }
    }
}

/* ---------------------------------------------------------------- filters on the mask */
static void majority5(const uint8_t *in, uint8_t *out, int w, int h)
{
    static uint8_t sums[8192];
    for (int y = 0; y < h; y++) {
        memset(sums, 0, (size_t)w);
        for (int d = -2; d <= 2; d++) {
            const uint8_t *p = in + (size_t)clampi(y + d, 0, h - 1) * w;
            for (int x = 0; x < w; x++) sums[x] += p[x];
        }
        for (int x = 0; x < w; x++) {
            int n = 0;
            for (int d = -2; d <= 2; d++) n += sums[clampi(x + d, 0, w - 1)];
            out[(size_t)y * w + x] = n >= 13;
        }
    }
}

/* What has `value` (0 or 1) grows by a square of radius r; outside of the picture nothing has it. */
static void grow(const uint8_t *in, uint8_t *out, uint8_t *tmp, int w, int h, int r, int value)
{
    const uint8_t flip = value ? 0 : 1;
    for (int y = 0; y < h; y++) {
        const uint8_t *p = in + (size_t)y * w;
        uint8_t *o = tmp + (size_t)y * w;
        for (int x = 0; x < w; x++) o[x] = p[x] ^ flip;
        for (int d = 1; d <= r; d++) {
            for (int x = 0; x < w - d; x++) o[x] |= p[x + d] ^ flip;
            for (int x = d; x < w; x++) o[x] |= p[x - d] ^ flip;
        }
    }
    for (int y = 0; y < h; y++) {
        uint8_t *o = out + (size_t)y * w;
        memset(o, 0, (size_t)w);
        for (int d = y < r ? -y : -r; d <= r && y + d < h; d++)
            for (int x = 0; x < w; x++) o[x] |= tmp[(size_t)(y + d) * w + x];
        for (int x = 0; x < w; x++) o[x] ^= flip;
    }
}

/* least or largest in the square of radius r */
static void extreme(const uint16_t *in, uint16_t *out, uint16_t *tmp, int w, int h, int r, int largest)
{
    const uint16_t flip = largest ? 65535 : 0; /* the largest is the least of the complements */
    for (int y = 0; y < h; y++) {
        const uint16_t *p = in + (size_t)y * w;
        uint16_t *o = tmp + (size_t)y * w;
        for (int x = 0; x < w; x++) o[x] = p[x] ^ flip;
        for (int d = 1; d <= r; d++) {
            for (int x = 0; x < w - d; x++) { const uint16_t q = p[x + d] ^ flip; o[x] = q < o[x] ? q : o[x]; }
            for (int x = d; x < w; x++) { const uint16_t q = p[x - d] ^ flip; o[x] = q < o[x] ? q : o[x]; }
        }
    }
    for (int y = 0; y < h; y++) {
        uint16_t *o = out + (size_t)y * w;
        memcpy(o, tmp + (size_t)y * w, (size_t)w * 2);
        for (int d = -r; d <= r; d++) {
            const uint16_t *p = tmp + (size_t)clampi(y + d, 0, h - 1) * w;
            for (int x = 0; x < w; x++) o[x] = p[x] < o[x] ? p[x] : o[x];
        }
        for (int x = 0; x < w; x++) o[x] ^= flip;
    }
}

static int32_t root(int32_t *p, int32_t i)
{
    while (p[i] != i) i = p[i] = p[p[i]];
    return i;
}

/* labels of pixels equal to `value`; connectivity 8 or 4. Returns number, labels 1.. */
static int32_t label(Bg *b, const uint8_t *in, int value, int eight)
{
    const int w = b->w, h = b->h;
    int32_t n = 0;
    b->parent[0] = 0;
    for (int y = 0; y < h; y++)
        for (int x = 0; x < w; x++) {
            const size_t i = (size_t)y * w + x;
            b->label[i] = 0;
            if (in[i] != value) continue;
            int32_t r = 0;
            const int32_t near[4] = { x ? b->label[i - 1] : 0, y ? b->label[i - w] : 0,
                                      eight && x && y ? b->label[i - w - 1] : 0,
                                      eight && y && x + 1 < w ? b->label[i - w + 1] : 0 };
            for (int k = 0; k < 4; k++)
                if (near[k]) {
                    const int32_t q = root(b->parent, near[k]);
                    if (!r) r = q;
                    else if (q < r) b->parent[r] = q, r = q;
                    else b->parent[q] = r;
                }
            if (!r) r = ++n, b->parent[r] = r;
            b->label[i] = r;
        }
    for (size_t i = 0; i < (size_t)w * h; i++)
        if (b->label[i]) b->label[i] = root(b->parent, b->label[i]);
    return n;
}

/* holes: background components that do not touch the border and are smaller than a part of the picture */
static void fill_holes(Bg *b, uint8_t *mask)
{
    const int w = b->w, h = b->h;
    const int32_t n = label(b, mask, 0, 0);
    int32_t *area = A(int32_t, n + 1);
    for (int y = 0; y < h; y++)
        for (int x = 0; x < w; x++) {
            const int32_t l = b->label[(size_t)y * w + x];
            if (!l) continue;
            area[l] += x == 0 || y == 0 || x == w - 1 || y == h - 1 ? 1 << 28 : 1;
            if (area[l] > 1 << 28) area[l] = 1 << 28;
        }
    for (size_t i = 0; i < (size_t)w * h; i++)
        if (b->label[i] && area[b->label[i]] < w * h / P_HOLE) mask[i] = 1;
    free(area);
}

/* ---------------------------------------------------------------- model */
typedef struct Frame {
    uint32_t rate;   /* 0.16: part that this picture counts for the modes */
    int ms;          /* since the picture before */
    int boot;
    uint32_t dither;
} Frame;

static inline int step(int distance, uint32_t rate, uint32_t dither)
{
    const uint32_t d = (uint32_t)absi(distance);
    const int s = (int)((uint32_t)(((uint64_t)d * rate + (dither & 65535)) >> 16));
    return distance < 0 ? -s : s;
}

static int threshold(const Bg *b, size_t i)
{
    return (P_TMIN << 8) + b->dev[i] * P_TDEV / 8 + (b->m[0][i] * P_TREL >> 8) + b->extra[i];
}

/* How much of the wide range counts, 1/256. */
static int wide_part(const Bg *b, size_t i)
{
    return clampi((b->blink[i] - P_BLINK_ON) * 256 / P_BLINK_ON, 0, 256);
}

static bool within(int v, int m, int lo, int hi, int part, int t)
{
    return v >= m - ((m - lo) * part >> 8) - t && v <= m + ((hi - m) * part >> 8) + t;
}

static void classify(Bg *b)
{
    const int w = b->w, h = b->h;
    extreme(b->m[0], b->lo, b->t16, w, h, P_WIDE, 0);
    extreme(b->m[0], b->hi, b->t16, w, h, P_WIDE, 1);
    if (b->chroma)
        for (int k = 0; k < 2; k++)
            extreme(b->cm[0][k], b->clo[k], b->t16, b->cw, b->ch, P_WIDE / 2, 0),
            extreme(b->cm[0][k], b->chi[k], b->t16, b->cw, b->ch, P_WIDE / 2, 1);
    for (int y = 0; y < h; y++)
        for (int x = 0; x < w; x++) {
            const size_t i = (size_t)y * w + x;
            const int v = b->s[i], t = threshold(b, i);
            bool fits = absi(v - b->m[0][i]) <= t;
            for (int k = 1; k < 3 && !fits; k++)
                fits = b->wt[k][i] >= P_WBG && absi(v - b->m[k][i]) <= t;
            if (!fits && v == 65535 && b->m[0][i] > 225 << 8) fits = true; /* overexposed */
            if (!fits) {
                int lo = 65535, hi = 0;
                for (int dy = -1; dy <= 1; dy++)
                    for (int dx = -1; dx <= 1; dx++) {
                        const int q = b->m[0][(size_t)clampi(y + dy, 0, h - 1) * w + clampi(x + dx, 0, w - 1)];
                        if (q < lo) lo = q;
                        if (q > hi) hi = q;
                    }
                const int part = clampi(P_ALPHA0 + b->extra[i] / P_DYN, 0, 256), m = b->m[0][i];
                fits = within(v, m, lo, hi, part, t);
            }
            b->strict[i] = !fits && within(v, b->m[0][i], b->lo[i], b->hi[i], 256, t * P_MARGIN / 16);
            if (!fits) fits = within(v, b->m[0][i], b->lo[i], b->hi[i], wide_part(b, i), t * P_MARGIN2 / 16);
            b->raw[i] = !fits;
        }
    if (b->chroma)
        for (int y = 0; y < b->ch; y++)
            for (int x = 0; x < b->cw; x++) {
                const size_t i = (size_t)y * b->cw + x;
                const int t = (P_CMIN << 8) + b->cdev[i] * P_CDEV / 8;
                const int u = b->cs[0][i], v = b->cs[1][i];
                const int d0 = absi(u - b->cm[0][0][i]) + absi(v - b->cm[0][1][i]);
                const int d1 = absi(u - b->cm[1][0][i]) + absi(v - b->cm[1][1][i]);
                b->craw[i] = !b->step_of_light && d0 > t && !(65535 - b->cwt[i] >= P_WBG && d1 <= t);
                const int part = wide_part(b, (size_t)2 * y * w + 2 * x);
                if (b->craw[i] && within(u, b->cm[0][0][i], b->clo[0][i], b->chi[0][i], 256, t / 2) &&
                    within(v, b->cm[0][1][i], b->clo[1][i], b->chi[1][i], 256, t / 2)) {
                    b->craw[i] = !part || !within(u, b->cm[0][0][i], b->clo[0][i], b->chi[0][i], part, t / 2) ||
                                 !within(v, b->cm[0][1][i], b->clo[1][i], b->chi[1][i], part, t / 2);
                    for (int k = 0; k < 4; k++) {
                        const int X = 2 * x + (k & 1), Y = 2 * y + k / 2;
                        if (X < w && Y < h) b->strict[(size_t)Y * w + X] |= 2;
                    }
                }
            }
    /* A chroma sample is four pixels wide and smoothed: at its outline the luma has to differ a little too. */
    if (b->chroma)
        for (int y = 0; y < h; y++)
            for (int x = 0; x < w; x++) {
                const int cx = x / 2, cy = y / 2;
                const uint8_t *c = b->craw + (size_t)cy * b->cw + cx;
                if (!*c) continue;
                const bool inside = cx && c[-1] && cx + 1 < b->cw && c[1] && cy && c[-b->cw] && cy + 1 < b->ch && c[b->cw];
                const size_t i = (size_t)y * w + x;
                if (inside || absi(b->s[i] - b->m[0][i]) * P_RIM > threshold(b, i)) b->raw[i] |= 2;
            }
}

static void swap_modes(Bg *b, size_t i, int j, int k)
{
    uint16_t t = b->m[j][i]; b->m[j][i] = b->m[k][i], b->m[k][i] = t;
    t = b->wt[j][i]; b->wt[j][i] = b->wt[k][i], b->wt[k][i] = t;
}

/* A pixel that is no object: modes, deviation, extra threshold. */
static void learn(Bg *b, size_t i, const Frame *f, bool alarm, uint32_t dither)
{
    const int v = b->s[i], t = threshold(b, i);
    int k = 0, best = 1 << 30;
    for (int j = 0; j < 3; j++) {
        const int d = absi(v - b->m[j][i]);
        if (b->wt[j][i] && d <= t && d < best) best = d, k = j;
    }
    for (int j = 0; j < 3; j++) b->wt[j][i] -= step(b->wt[j][i], f->rate, dither);
    if (best < 1 << 30) {
        const uint32_t w = b->wt[k][i] + f->rate;
        b->wt[k][i] = w > 65535 ? 65535 : w;
        uint32_t share = (uint32_t)((uint64_t)f->rate * 65536 / w);
        if (share > 32768) share = 32768;
        b->m[k][i] += step(v - b->m[k][i], share, dither);
        b->dev[i] += step(best - b->dev[i], f->rate * 4 > 32768 ? 32768 : f->rate * 4, dither ^ 65535);
    } else {
        k = 2;
        b->m[2][i] = v, b->wt[2][i] = f->rate > 65535 ? 65535 : f->rate;
    }
    if (b->wt[2][i] > b->wt[1][i]) swap_modes(b, i, 1, 2);
    if (b->wt[1][i] > b->wt[0][i]) swap_modes(b, i, 0, 1);
    if (f->boot) {
        if (b->strict[i] && !b->was[i] && b->n > 8) b->extra[i] = (uint16_t)clampi(b->extra[i] + P_BOOT_UP, 0, P_EXTRA_MAX << 8);
    } else if (alarm) b->extra[i] = (uint16_t)clampi(b->extra[i] + P_UP, 0, P_EXTRA_MAX << 8);
    else b->extra[i] -= b->extra[i] < P_DOWN ? b->extra[i] : P_DOWN;
}

/* Pixels where the background is only darker by one factor in the 5x5 around them, and of the same colour. */
__attribute__((unused)) static void unshadow(Bg *b)
{
    const int w = b->w, h = b->h;
    /* Black of the picture: what 2 per cent of the background are darker than. Factors are of what is above. */
    uint32_t hist[256] = { 0 }, total = 0, sum = 0;
    int black = 0;
    for (int y = 1; y < h; y += 4)
        for (int x = 1; x < w; x += 4) hist[b->m[0][(size_t)y * w + x] >> 8]++, total++;
    for (; black < 255 && 50 * (sum + hist[black]) < total; black++) sum += hist[black];
    black <<= 8;
    for (int y = 0; y < h; y++)
        for (int x = 0; x < w; x++) {
            const size_t i = (size_t)y * w + x;
            b->tmp[i] = b->raw[i] != 0;
            if (b->raw[i] != 1 || b->s[i] > b->m[0][i]) continue;
            int64_t bb = 0, gb = 0, gg = 0;
            for (int dy = -2; dy <= 2; dy++)
                for (int dx = -2; dx <= 2; dx++) {
                    const size_t q = (size_t)clampi(y + dy, 0, h - 1) * w + clampi(x + dx, 0, w - 1);
                    const int g = b->s[q] > black ? (b->s[q] - black) >> 4 : 0;
                    const int m = b->m[0][q] > black ? (b->m[0][q] - black) >> 4 : 0;
                    bb += (int64_t)m * m, gb += (int64_t)g * m, gg += (int64_t)g * g;
                }
            if (100 * gb > P_SHADOW_LO * bb && 100 * gb < P_SHADOW_HI * bb &&
                1000 * (gg - gb * gb / (bb ? bb : 1)) < P_SHADOW_FLAT * bb)
                b->tmp[i] = 0;
        }
}

/* Blobs that are the background moved a little: leaves, a camera that shakes. */
__attribute__((unused)) static void drop_explained(Bg *b)
{
    const int w = b->w, h = b->h;
    const int32_t n = label(b, b->mask, 1, 1);
    if (!n) return;
    int32_t *area = A(int32_t, n + 1), *known = A(int32_t, n + 1);
    for (int y = 0; y < h; y++)
        for (int x = 0; x < w; x++) {
            const size_t i = (size_t)y * w + x, c = (size_t)(y / 2) * b->cw + x / 2;
            const int32_t l = b->label[i];
            if (!l) continue;
            const int t = P_TMIN << 7, v = b->s[i];
            bool ok = v >= b->lo[i] - t && v <= b->hi[i] + t;
            for (int k = 0; k < 2 && ok && b->chroma; k++)
                ok = b->cs[k][c] >= b->clo[k][c] - (P_CMIN << 7) && b->cs[k][c] <= b->chi[k][c] + (P_CMIN << 7);
            area[l]++, known[l] += ok;
        }
    for (size_t i = 0; i < (size_t)w * h; i++)
        if (b->label[i] && known[b->label[i]] * 100 > area[b->label[i]] * P_EXPLAINED) b->mask[i] = 0;
    free(area), free(known);
}

/* what was seen in the mask is the background now */
static void absorb(Bg *b, size_t i)
{
    b->m[2][i] = b->m[1][i], b->wt[2][i] = P_WBG / 4;
    b->m[1][i] = b->m[0][i], b->wt[1][i] = P_WBG / 2;
    b->m[0][i] = b->cand[i], b->wt[0][i] = 60000;
    b->stable[i] = 0, b->ghost[i] = 0, b->prev[i] = 0;
    if (b->chroma) {
        const size_t c = (i / b->w / 2) * b->cw + i % b->w / 2;
        for (int k = 0; k < 2; k++) b->cm[0][k][c] = b->ccand[k][c];
        b->cwt[c] = 60000;
    }
}

/* Regions of the mask that stand still: were they uncovered or brought? */
static void ghosts(Bg *b, const Frame *f)
{
    const int w = b->w, h = b->h;
    for (size_t i = 0; i < (size_t)w * h; i++)
        b->tmp[i] = b->mask[i] && b->stable[i] >= P_STATIC_MS / b->unit;
    majority5(b->tmp, b->tmp2, w, h);
    const int32_t n = label(b, b->tmp2, 1, 1);
    if (!n) { memset(b->ghost, 0, (size_t)w * h); return; }
    int32_t *area = A(int32_t, n + 1), *still = A(int32_t, n + 1);
    for (size_t i = 0; i < (size_t)w * h; i++)
        if (b->label[i]) area[b->label[i]]++, still[b->label[i]] += b->stable[i] >= P_STILL_MS / b->unit;
    int64_t *ei = A(int64_t, n + 1), *eb = A(int64_t, n + 1), *ed = A(int64_t, n + 1);
    static const int dx[4] = { 1, -1, 0, 0 }, dy[4] = { 0, 0, 1, -1 };
    for (int y = 0; y < h; y++)
        for (int x = 0; x < w; x++) {
            const size_t i = (size_t)y * w + x;
            const int32_t l = b->label[i];
            if (!l) continue;
            for (int k = 0; k < 4; k++) {
                const int ox = x + dx[k], oy = y + dy[k], qx = x + 3 * dx[k], qy = y + 3 * dy[k];
                const int px = x - dx[k], py = y - dy[k];
                if (qx < 0 || qy < 0 || qx >= w || qy >= h || px < 0 || py < 0 || px >= w || py >= h) continue;
                if (b->tmp2[(size_t)oy * w + ox]) continue;
                const size_t q = (size_t)qy * w + qx, p = (size_t)py * w + px;
                if (b->mask[q] || b->label[p] != l) continue;
                ei[l] += absi(b->cand[p] - b->s[q]);
                eb[l] += absi(b->m[0][p] - b->m[0][q]);
                ed[l] += absi((b->cand[p] - b->s[q]) - (b->m[0][p] - b->m[0][q]));
                if (b->chroma) {
                    const size_t cp = (size_t)(py / 2) * b->cw + px / 2, cq = (size_t)(qy / 2) * b->cw + qx / 2;
                    for (int j = 0; j < 2; j++) {
                        ei[l] += absi(b->ccand[j][cp] - b->cs[j][cq]);
                        eb[l] += absi(b->cm[0][j][cp] - b->cm[0][j][cq]);
                        ed[l] += absi((b->ccand[j][cp] - b->cs[j][cq]) - (b->cm[0][j][cp] - b->cm[0][j][cq]));
                    }
                }
            }
        }
    for (size_t i = 0; i < (size_t)w * h; i++) {
        const int32_t l = b->label[i];
        if (l && (eb[l] * 16 > ei[l] * P_GHOST_RATIO || ed[l] * 16 < (ei[l] > eb[l] ? ei[l] : eb[l]) * P_LIGHT)) b->ghost[i] = (uint8_t)clampi(b->ghost[i] + (f->ms * 64 + 500) / 1000, 0, 255);
        else if (l && eb[l] * 16 > ei[l] * P_MOVED_RATIO && still[l] * 20 >= area[l] * 19) /* as much uncovered as brought, and no life in it */
            b->ghost[i] = (uint8_t)clampi(b->ghost[i] + (f->ms * 16 + 500) / 1000, 0, 255);
        else b->ghost[i] = 0;
    }
#ifdef DEBUG_LIFE
    {
        int32_t *ar = A(int32_t, n + 1), *still = A(int32_t, n + 1);
        for (size_t i = 0; i < (size_t)w * h; i++) if (b->label[i]) ar[b->label[i]]++, still[b->label[i]] += b->stable[i] >= DEBUG_LIFE / 16;
        for (int l = 1; l <= n; l++) if (ar[l] > 150) printf("t %.1f area %d still %d%% B/I %.2f D %.2f\n", b->last_us / 1e6, ar[l], 100 * still[l] / ar[l], eb[l] / (ei[l] + 1.0), ed[l] / (1.0 + (ei[l] > eb[l] ? ei[l] : eb[l])));
        fflush(stdout);
    }
#endif
    free(ei), free(eb), free(ed), free(area), free(still);
    for (size_t i = 0; i < (size_t)w * h; i++)
        if (b->ghost[i] >= P_GHOST_MS * 64 / 1000) absorb(b, i);
}

/* The camera looks elsewhere when most edges of the background are gone, and stay so. */
static bool elsewhere(Bg *b, const Frame *f)
{
    const int w = b->w, h = b->h;
    uint32_t strong = 0, lost = 0, all = 0, raw = 0;
    for (int y = 2; y < h - 2; y += 2)
        for (int x = 2; x < w - 2; x += 2) {
            const size_t i = (size_t)y * w + x;
            const int bx = (b->m[0][i + 2] - b->m[0][i - 2]) >> 4, by = (b->m[0][i + 2 * w] - b->m[0][i - 2 * w]) >> 4;
            all++, raw += b->raw[i] != 0;
            if (absi(bx) + absi(by) < P_EDGE * 16) continue;
            const int ix = (b->s[i + 2] - b->s[i - 2]) >> 4, iy = (b->s[i + 2 * w] - b->s[i - 2 * w]) >> 4;
            strong++, lost += 2 * ((int64_t)bx * ix + (int64_t)by * iy) < (int64_t)bx * bx + (int64_t)by * by;
        }
#ifdef DEBUG_EDGE
    printf("t %.1f strong %.3f lost %.2f raw %.2f\n", b->last_us / 1e6, strong / (double)all, lost / (strong + 1.0), raw / (double)all);
    fflush(stdout);
#endif
    const bool gone = strong * 200 > all && lost * 100 > strong * P_LOST && raw * 100 > all * P_LOST_RAW;
    b->lost_ms = gone ? b->lost_ms + f->ms : 0;
    return b->lost_ms >= P_LOST_MS;
}

void bg_apply(Bg *b, const uint8_t *luma, const uint8_t *u, const uint8_t *v, int64_t us, uint8_t *out)
{
    const int w = b->w, h = b->h;
    const size_t n = (size_t)w * h;
    smooth(luma, b->s, w, h);
    if (b->chroma) smooth(u, b->cs[0], b->cw, b->ch), smooth(v, b->cs[1], b->cw, b->ch);
    if (!b->n) {
        b->start_us = us;
        for (size_t i = 0; i < n; i++) {
            b->m[0][i] = b->s[i], b->wt[0][i] = 65535;
            b->wt[1][i] = b->wt[2][i] = 0, b->dev[i] = 2 << 8, b->extra[i] = 0;
            b->stable[i] = 0, b->blink[i] = b->ghost[i] = b->prev[i] = 0;
        }
        if (b->chroma) for (size_t i = 0; i < (size_t)b->cw * b->ch; i++)
            b->cm[0][0][i] = b->cs[0][i], b->cm[0][1][i] = b->cs[1][i], b->cwt[i] = 65535, b->cdev[i] = 1 << 8;
        b->n = 1, b->last_us = us;
        memset(out, 0, n);
        return;
    }
    Frame f;
    f.ms = clampi((int)((us - b->last_us) / 1000), 1, 1000);
    b->last_us = us;
    f.boot = b->n < P_BOOT_N || us - b->start_us < P_BOOT_MS * 1000;
    const uint32_t steady = (uint32_t)(f.ms * 65536ll / P_TAU), early = 65536 / (b->n + 1);
    f.rate = steady > early ? steady : early;
    f.dither = b->seq++ * 40503u;
    b->n++;

    normalise(b);
    classify(b);
    if (elsewhere(b, &f)) { /* the next picture is the first */
        b->n = 0, b->lost_ms = 0;
        memset(out, 0, n);
        return;
    }
#ifdef NO_SHADOW
    for (size_t i = 0; i < n; i++) b->tmp[i] = b->raw[i] != 0;
#else
    unshadow(b);
#endif
    majority5(b->tmp, b->mask, w, h);
    grow(b->mask, b->mask, b->tmp, w, h, P_CLOSE, 1);
    grow(b->mask, b->mask, b->tmp, w, h, P_CLOSE, 0);
    fill_holes(b, b->mask);
#ifndef NO_EXPLAINED
    drop_explained(b);
#endif
    if (f.boot) memset(b->mask, 0, n);

    grow(b->mask, b->tmp2, b->tmp, w, h, 2, 1); /* kept from learning */
    const int blink_decay = clampi(f.ms * 65536 / P_BLINK_MS, 1, 65535);
    for (int y = 0; y < h; y++)
        for (int x = 0; x < w; x++) {
            const size_t i = (size_t)y * w + x;
            const uint32_t dither = f.dither + (uint32_t)x * 25717u + (uint32_t)y * 51749u;
            if (b->strict[i] && !b->was[i] && !b->prev[i]) b->blink[i] = (uint8_t)clampi(b->blink[i] + 32, 0, 255);
            b->blink[i] -= (uint8_t)((b->blink[i] * blink_decay + (dither & 65535)) >> 16);
            b->prev[i] = b->mask[i];
            if (!b->tmp2[i]) learn(b, i, &f, b->raw[i] && !f.boot, dither);
            if (b->mask[i]) {
                const int d = b->s[i] - b->cand[i];
                if (absi(d) <= threshold(b, i)) {
                    b->cand[i] += step(d, 8192, dither);
                    b->stable[i] = (uint16_t)clampi(b->stable[i] + (f.ms + (int)((dither & 65535) * (uint32_t)b->unit >> 16)) / b->unit, 0, 65535);
                } else {
                    b->cand[i] = b->s[i], b->stable[i] = b->stable[i] > 4000 / b->unit ? b->stable[i] - b->stable[i] / 16 : 0;
                }
                if (b->absorb_us && (int64_t)b->stable[i] * b->unit * 1000 >= b->absorb_us) absorb(b, i);
            } else {
                b->stable[i] = 0;
            }
        }
    if (b->chroma)
        for (int y = 0; y < b->ch; y++)
            for (int x = 0; x < b->cw; x++) {
                const size_t i = (size_t)y * b->cw + x, li = (size_t)2 * y * w + 2 * x;
                const uint32_t dither = f.dither + (uint32_t)x * 25717u + (uint32_t)y * 51749u;
                const int cu = b->cs[0][i], cv = b->cs[1][i];
                if (b->tmp2[li]) {
                    b->ccand[0][i] += step(cu - b->ccand[0][i], b->stable[li] ? 8192 : 65535, dither);
                    b->ccand[1][i] += step(cv - b->ccand[1][i], b->stable[li] ? 8192 : 65535, dither);
                    continue;
                }
                if (b->step_of_light) { /* channels clip otherwise, and the lamp has a colour */
                    b->cm[0][0][i] = (uint16_t)cu, b->cm[0][1][i] = (uint16_t)cv, b->cwt[i] = 65535, b->cdev[i] = 1 << 8;
                    continue;
                }
                const int t = (P_CMIN << 8) + b->cdev[i] * P_CDEV / 8;
                const int d0 = absi(cu - b->cm[0][0][i]) + absi(cv - b->cm[0][1][i]);
                const int d1 = absi(cu - b->cm[1][0][i]) + absi(cv - b->cm[1][1][i]);
                const bool has1 = b->cwt[i] < 65535;
                const int k = d0 <= t ? 0 : has1 && d1 <= t ? 1 : 2;
                b->cwt[i] += k == 0 ? step(65535 - b->cwt[i], f.rate, dither) : -step(b->cwt[i], f.rate, dither);
                if (k < 2) {
                    uint32_t wk = k ? 65535u - b->cwt[i] : b->cwt[i];
                    uint32_t share = (uint32_t)((uint64_t)f.rate * 65536 / (wk ? wk : 1));
                    if (share > 32768) share = 32768;
                    b->cm[k][0][i] += step(cu - b->cm[k][0][i], share, dither);
                    b->cm[k][1][i] += step(cv - b->cm[k][1][i], share, dither ^ 65535);
                    b->cdev[i] += step((k ? d1 : d0) - b->cdev[i], f.rate * 4 > 32768 ? 32768 : f.rate * 4, dither);
                } else {
                    b->cm[1][0][i] = cu, b->cm[1][1][i] = cv;
                }
                if (b->cwt[i] < 32768) {
                    b->cwt[i] = 65535 - b->cwt[i];
                    for (int j = 0; j < 2; j++) { uint16_t q = b->cm[0][j][i]; b->cm[0][j][i] = b->cm[1][j][i], b->cm[1][j][i] = q; }
                }
            }
    memcpy(b->was, b->strict, n);
    if (!f.boot) ghosts(b, &f);
    b->in_mask = 0;
    for (size_t i = 0; i < n; i++) b->in_mask += b->mask[i];
    for (size_t i = 0; i < n; i++) out[i] = b->mask[i] ? 255 : 0;
}
