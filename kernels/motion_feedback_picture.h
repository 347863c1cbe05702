/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Method "feedback": the rules for a whole picture and for regions of it, and the order of the steps. Integers only, shared by
 * the plain reference, the CPU and CUDA.
 *
 * Steps of a picture. A line marked | needs the result of all pixels of the lines above it.
 *
 *     begin        time, rates                                                              feedback_begin()
 *     sample       ratios to the model, black of the model, on a grid                       feedback_add_ratio()
 *   | light        gain of each row band: medians                                           feedback_light()
 *     (rescale)    after a step of light alone: all modes and candidates                    feedback_rescale()
 *     normalise    3x3 smoothing, times the gain of the row; chroma less its offset         feedback_smooth() ...
 *     classify     pixels that do not fit, from 9x9 of the model                            feedback_miss()
 *   | unshadow     foreground pixels without chroma: 5x5 of picture and model               feedback_is_shadow()
 *     camera       edges on the grid: which of the background's are gone                    feedback_add_edge()
 *     filter       median, open, close on the mask
 *     explain      pixels of the mask that the far range contains: 9x9 of the model           feedback_is_explained()
 *   | regions      labels of the mask (8-connected) and of what is not (4-connected): drops blobs that the far
 *                  range explains, fills small holes of the others                          feedback_blob_is_explained()
 *     decide       learning starts again: the camera looks elsewhere, the light is another  feedback_decide()
 *     learn        pixels outside the mask grown by FEEDBACK_GUARD; candidates in the mask  feedback_learn_first() ...
 *   | ghosts       still regions of the mask, 8-connected labels, sums along their outlines feedback_add_outline()
 *   | absorb       pixels of such regions                                                   feedback_region_kind()
 *     output       confirm, dilate, ignore: these change only what the caller gets
 */
#ifndef CCL_MOTION_FEEDBACK_PICTURE_H
#define CCL_MOTION_FEEDBACK_PICTURE_H

#include "motion.h"
#include "motion_feedback.h"

#define FEEDBACK_GUARD 2u /* pixels: the mask grown by this is not learnt */

/* ---------------------------------------------------------------- time */

#define FEEDBACK_BOOT_MS       1500u  /* ms of learning without a mask, */
#define FEEDBACK_BOOT_PICTURES 12u    /* and at least this many pictures: low rates */
#define FEEDBACK_FIRST_MS      40u    /* ms: interval that is assumed where nothing is known */
#define FEEDBACK_MAX_MS        10000u /* ms: longer intervals count as this: a pause says nothing about what was there */

/* What is kept from picture to picture, apart from pixels. All 0: the next picture is the first. */
typedef struct FeedbackControl {
    int64_t last_us;   /* time of the picture before, less what was not yet counted of it */
    int64_t resume_us; /* after a step back: where the clock would be without it */
    uint32_t has_time, has_resume;
    uint32_t ms;        /* the last interval, 0: none */
    uint32_t n_learnt;  /* pictures since learning began */
    uint32_t n_seen;    /* pictures since the detector was made or reset: dither */
    uint32_t learnt_ms; /* since learning began */
    uint32_t lost_ms;   /* for how long the background's edges have been gone, */
    uint32_t lit_ms;    /* or have shone through large foreground */
    uint32_t in_mask;   /* pixels of the mask of the picture before */
    int32_t offset[2];  /* of U and V, 8.8: measured on the picture before */
} FeedbackControl;

/* Boxes in which nothing is absorbed by time: x0, y0, x1, y1. All 0: none. */
typedef struct FeedbackHold {
    uint32_t n;
    uint32_t ms; /* for how long they have held */
    uint16_t boxes[CCL_MOTION_MAX_BOXES][4];
} FeedbackHold;

/* Pixels (x, y) to (x + n - 1, y), at most 64: a bit for each that is in a box. */
MOTION_INLINE uint64_t feedback_held_pixels(const FeedbackHold *hold, uint32_t x, uint32_t y, uint32_t n)
{
    uint64_t held = 0;
    for (uint32_t i = 0; i < hold->n; i++) {
        const uint16_t *const box = hold->boxes[i];
        if (y < box[1] || y >= box[3] || x + n <= box[0] || x >= box[2])
            continue;
        const uint32_t from = box[0] > x ? box[0] - x : 0, to = feedback_min(box[2] - x, n);
        held |= ~(uint64_t)0 >> (64 - to) & ~(uint64_t)0 << from;
    }
    return held;
}

/* A picture with a list: it counts once, however long the interval, and then for a time. */
MOTION_INLINE void feedback_age_hold(FeedbackHold *hold, uint32_t ms)
{
    if (hold->n && hold->ms >= CCL_MOTION_HOLD_MS)
        hold->n = 0;
    hold->ms = hold->n ? hold->ms + ms : 0;
}

/* The interval before a picture. Missing and backward times count as the interval before. After one picture with a backward time
 * the clock goes on from where it was. */
MOTION_INLINE uint32_t feedback_interval(FeedbackControl *control, int64_t us)
{
    const uint32_t usual = control->ms ? control->ms : FEEDBACK_FIRST_MS;
    const int64_t from = control->has_resume && us >= control->resume_us ? control->resume_us : control->last_us;
    const bool is_known = control->has_time && us != CCL_MOTION_NO_TIME && us >= from;
    control->has_resume = 0;
    if (is_known) {
        const int64_t passed = (us - from) / 1000;
        const uint32_t ms = passed > FEEDBACK_MAX_MS ? FEEDBACK_MAX_MS : (uint32_t)passed;
        /* What is less than a millisecond counts in the next interval. */
        control->last_us = passed > FEEDBACK_MAX_MS ? us : from + passed * 1000;
        control->ms = ms ? ms : control->ms;
        return ms ? ms : 1;
    }
    if (control->has_time && us != CCL_MOTION_NO_TIME) {
        control->resume_us = control->last_us + (int64_t)usual * 1000;
        control->has_resume = 1;
    }
    control->last_us = us == CCL_MOTION_NO_TIME ? control->last_us + (int64_t)usual * 1000 : us;
    control->has_time |= us != CCL_MOTION_NO_TIME;
    return usual;
}

/* The clock of candidates, for an absorb time in ms; 0: never. */
MOTION_INLINE void feedback_plan_absorption(FeedbackFrame *frame, uint32_t absorb_ms)
{
    const uint32_t fine_ms = FEEDBACK_STILL_FINE * FEEDBACK_STILL_MS;
    const uint32_t rest = absorb_ms > fine_ms ? absorb_ms - fine_ms : 0;
    const uint32_t part_ms =
        rest > FEEDBACK_STILL_COARSE * FEEDBACK_STILL_MS ? rest / FEEDBACK_STILL_COARSE + 1 : FEEDBACK_STILL_MS;
    frame->still_fine = frame->ms * (65536u / FEEDBACK_STILL_MS);
    frame->still_coarse = (uint32_t)((uint64_t)frame->ms * 65536u / part_ms);
    if (!absorb_ms)
        frame->absorb = 65536u;
    else if (rest)
        frame->absorb = FEEDBACK_STILL_FINE + rest / part_ms;
    else
        frame->absorb = absorb_ms < FEEDBACK_STILL_MS ? 1 : absorb_ms / FEEDBACK_STILL_MS;
}

/* The numbers of a picture. us: its time in microseconds, or CCL_MOTION_NO_TIME. threshold: levels; 0: the default. */
MOTION_INLINE FeedbackFrame feedback_begin(FeedbackControl *control, FeedbackHold *hold, int64_t us, uint32_t threshold,
                                           uint32_t absorb_ms)
{
    const uint32_t levels = feedback_min(threshold ? threshold : FEEDBACK_THRESHOLD, FEEDBACK_THRESHOLD_MAX);
    FeedbackFrame frame;
    frame.ms = feedback_interval(control, us);
    feedback_age_hold(hold, frame.ms);
    frame.seed = !control->n_learnt;
    control->learnt_ms = frame.seed ? 0 : feedback_min(control->learnt_ms + frame.ms, 1u << 30);
    frame.silent = control->n_learnt < FEEDBACK_BOOT_PICTURES || control->learnt_ms < FEEDBACK_BOOT_MS;

    const uint32_t steady = frame.ms * 65536u / FEEDBACK_MEMORY_MS, early = 65536u / (control->n_learnt + 1);
    frame.rate = feedback_min(steady > early ? steady : early, FEEDBACK_RATE_MAX);
    frame.deviation_rate = feedback_min(frame.rate * 4, 32768u);
    frame.decay = feedback_min(frame.ms * 65536u / FEEDBACK_RISES_MS, 65535u);
    frame.dither = control->n_seen * 40503u & 65535u;
    frame.base = levels * FEEDBACK_LEVEL;
    frame.ghost = (frame.ms * 4194u + frame.dither) >> 16; /* 64 a second */
    frame.moved = (frame.ms * 1049u + frame.dither) >> 16;
    feedback_plan_absorption(&frame, absorb_ms);
    control->n_learnt += control->n_learnt < UINT32_MAX;
    control->n_seen++;
    return frame;
}

/* ---------------------------------------------------------------- smoothing and light */

/* The grid of samples: rows y = step / 2, and so on; the same of columns. */
MOTION_INLINE uint32_t feedback_row_step(uint32_t height)
{
    return height >= 720 ? 8 : height >= 480 ? 4 : 2;
}

MOTION_INLINE uint32_t feedback_column_step(uint32_t width)
{
    return width >= 1280 ? 8 : width >= 640 ? 4 : 2;
}

/* Pixel x of a row smoothed by the 3x3 binomial filter, 8.8; rows and columns repeat at the border. */
MOTION_INLINE uint32_t feedback_smooth(const uint8_t *above, const uint8_t *row, const uint8_t *below, uint32_t x, uint32_t width)
{
    const uint32_t l = x ? x - 1 : 0, r = x + 1 < width ? x + 1 : x;
    const uint32_t sum =
        above[l] + 2u * above[x] + above[r] + 2u * (row[l] + 2u * row[x] + row[r]) + below[l] + 2u * below[x] + below[r];
    return sum << 4;
}

#define FEEDBACK_BANDS       12u
#define FEEDBACK_BINS        1024u                   /* of 1/256: ratios up to 4; of 1/16 level: offsets up to 32 levels */
#define FEEDBACK_ONE         4096u                   /* gains are 4.12 */
#define FEEDBACK_MIN_SAMPLES 64u                     /* fewer give no median */
#define FEEDBACK_DARK        (12u * FEEDBACK_LEVEL)  /* darker means give no ratio */
#define FEEDBACK_WHITE       (250u * FEEDBACK_LEVEL) /* nor do brighter values: they clip */
#define FEEDBACK_CLIPPED     (252u * FEEDBACK_LEVEL)
#define FEEDBACK_BAND_PART   10u /* per cent by which a band's gain may differ from the picture's */
#define FEEDBACK_STEP_PART   20u /* per cent: beyond, light has made a step, and the model takes it over */

/* Histograms over the grid, to be cleared before. The last band is the whole picture. */
typedef struct FeedbackSamples {
    uint32_t ratios[FEEDBACK_BANDS + 1][FEEDBACK_BINS];
    uint32_t luma[256]; /* of the model: its black */
} FeedbackSamples;

MOTION_INLINE uint32_t feedback_band(uint32_t y, uint32_t height)
{
    return y * FEEDBACK_BANDS / height;
}

/* The bin of a sample on the grid; FEEDBACK_BINS: none. in_mask: of the picture before, unless that mask was larger than a
 * quarter of the picture: then it is more likely light than objects. */
MOTION_INLINE uint32_t feedback_ratio_bin(uint32_t value, uint32_t mean, bool in_mask)
{
    if (in_mask || mean < FEEDBACK_DARK || value >= FEEDBACK_WHITE || mean >= FEEDBACK_WHITE)
        return FEEDBACK_BINS;
    return feedback_min(value * 256u / mean, FEEDBACK_BINS - 1);
}

/* The median of n samples that lies in a bin of `in_bin`, with `before` samples in the bins before it; in 16ths of a bin. */
MOTION_INLINE int feedback_median_in_bin(uint32_t n, uint32_t bin, uint32_t before, uint32_t in_bin)
{
    return (int)(bin * 16 + (n / 2 > before ? 16 * (n / 2 - before) : 0) / in_bin);
}

/* Median of a histogram, in 16ths of a bin; -1: too few samples. */
MOTION_INLINE int feedback_median(const uint32_t *bins, uint32_t n_bins)
{
    uint32_t n = 0, sum = 0;
    for (uint32_t i = 0; i < n_bins; i++)
        n += bins[i];
    if (n < FEEDBACK_MIN_SAMPLES)
        return -1;
    for (uint32_t i = 0; i < n_bins; i++) {
        if (2 * (sum + bins[i]) >= n)
            return feedback_median_in_bin(n, i, sum, bins[i]);
        sum += bins[i];
    }
    return -1;
}

typedef struct FeedbackLight {
    int32_t bands[FEEDBACK_BANDS]; /* gain of the picture against the model, 4.12 */
    int32_t rescale;               /* not 0: a step of light, by which feedback_rescale() brings the model to the picture */
    uint32_t black;                /* of the model, 8.8: 2 per cent of it are darker */
} FeedbackLight;

MOTION_INLINE uint32_t feedback_black(const uint32_t *bins)
{
    uint32_t n = 0, sum = 0, black = 0;
    for (uint32_t i = 0; i < 256; i++)
        n += bins[i];
    for (; black < 255 && 50 * (sum + bins[black]) < n; black++)
        sum += bins[black];
    return black * FEEDBACK_LEVEL;
}

/* medians: of the bands, and of the whole picture. */
MOTION_INLINE FeedbackLight feedback_light_of(const int *medians, uint32_t black)
{
    FeedbackLight light;
    const int one = (int)FEEDBACK_ONE, step = one * (int)FEEDBACK_STEP_PART / 100, median = medians[FEEDBACK_BANDS];
    const int whole = median < 0 ? one : median > 16 ? median : 16, part = whole * (int)FEEDBACK_BAND_PART / 100;
    light.black = black;
    light.rescale = whole < one - step || whole > one + step ? whole : 0;
    for (uint32_t k = 0; k < FEEDBACK_BANDS; k++) {
        const int own = medians[k];
        const int gain = own < 0 ? whole : feedback_clamp(own, whole - part, whole + part);
        light.bands[k] = light.rescale ? gain * one / whole : gain;
    }
    if (light.rescale)
        light.black = feedback_min(light.black * (uint32_t)whole / FEEDBACK_ONE, 65535u);
    return light;
}

MOTION_INLINE FeedbackLight feedback_light(const FeedbackSamples *samples)
{
    int medians[FEEDBACK_BANDS + 1];
    for (uint32_t k = 0; k <= FEEDBACK_BANDS; k++)
        medians[k] = feedback_median(samples->ratios[k], FEEDBACK_BINS);
    return feedback_light_of(medians, feedback_black(samples->luma));
}

/* 1 / gain of a row, 4.12: between the bands it is interpolated. */
MOTION_INLINE uint32_t feedback_row_gain(const FeedbackLight *light, uint32_t y, uint32_t height)
{
    const int last = (int)FEEDBACK_BANDS - 1;
    const int at = feedback_clamp((int)((2 * y + 1) * FEEDBACK_BANDS * 128u / height) - 128, 0, last * 256);
    const int k = at >> 8, part = at & 255, next = k < last ? k + 1 : k;
    const int gain = (light->bands[k] * (256 - part) + light->bands[next] * part) >> 8;
    return feedback_min((1u << 24) / (uint32_t)feedback_clamp(gain, 256, 65535), 65535u);
}

MOTION_INLINE uint32_t feedback_scale(uint32_t value, uint32_t gain)
{
    return feedback_min((value * gain + FEEDBACK_ONE / 2) >> 12, 65535u);
}

/* A smoothed pixel in the light of the model. White that is scaled down is overexposed: 65535. */
MOTION_INLINE uint32_t feedback_normalise(uint32_t value, uint32_t gain)
{
    return value >= FEEDBACK_CLIPPED && gain < FEEDBACK_ONE ? 65535u : feedback_scale(value, gain);
}

/* Chroma around its neutral value, 128 levels. */
MOTION_INLINE uint32_t feedback_scale_chroma(uint32_t value, uint32_t gain)
{
    const int off = (int)value - 32768;
    const int scaled = (off < 0 ? -(int)((uint32_t)-off * gain >> 12) : (int)((uint32_t)off * gain >> 12));
    return (uint32_t)feedback_clamp(32768 + scaled, 0, 65535);
}

/* Bin of a sample's offset from the model, before the offset is taken off. */
MOTION_INLINE uint32_t feedback_offset_bin(uint32_t value, uint32_t mean)
{
    return (uint32_t)feedback_clamp(((int)value - (int)mean) / 16 + (int)FEEDBACK_BINS / 2, 0, (int)FEEDBACK_BINS - 1);
}

MOTION_INLINE int32_t feedback_offset_of(int median)
{
    return median < 0 ? 0 : median - (int)FEEDBACK_BINS * 8;
}

MOTION_INLINE int32_t feedback_offset(const uint32_t *bins)
{
    return feedback_offset_of(feedback_median(bins, FEEDBACK_BINS));
}

MOTION_INLINE uint32_t feedback_take_offset(uint32_t value, int32_t offset)
{
    return (uint32_t)feedback_clamp((int)value - offset, 0, 65535);
}

/* ---------------------------------------------------------------- regions */

#define FEEDBACK_HOLE_PART 200u /* holes smaller than the picture's pixels / this are filled */

/* A blob of the mask, more than half of whose pixels the far range explains, is background that moved. */
MOTION_INLINE bool feedback_blob_is_explained(uint64_t area, uint64_t explained)
{
    return explained * 2 > area;
}

#define FEEDBACK_STATIC          (1000u / FEEDBACK_STILL_MS) /* 1 s: pixels of the mask that are still for it are judged */
#define FEEDBACK_MOTIONLESS      (8000u / FEEDBACK_STILL_MS) /* 8 s: people move */
#define FEEDBACK_MOTIONLESS_PART 95u                         /* per cent of a region's pixels */
#define FEEDBACK_GHOST           37u                         /* 64ths of a second, 0.6 s: a ghost is learnt */
#define FEEDBACK_GHOST_PART      20u /* 16ths: edge of the background against the picture's edge: uncovered */
#define FEEDBACK_LIGHT_PART      8u  /* 16ths: change of the edge against the edge: below, only the light is another */
#define FEEDBACK_MOVED_PART      9u  /* 16ths: as much uncovered as brought */
#define FEEDBACK_OUTLINE_INSIDE  1   /* pixels from the outline, inwards */
#define FEEDBACK_OUTLINE_OUTSIDE 3   /* and outwards */

/* Sums over a region of still pixels, and along its outline. */
typedef struct FeedbackRegion {
    uint64_t area, motionless;    /* pixels; those that were still for 8 s */
    uint64_t picture, background; /* edges across the outline, 8.8 */
    uint64_t change;              /* difference of the two */
} FeedbackRegion;

/* One plane across the outline at one place: the candidate and the first mode inside, the picture and the first mode outside. */
MOTION_INLINE void feedback_add_outline(FeedbackRegion *region, uint32_t candidate, uint32_t mean_inside, uint32_t value_outside,
                                        uint32_t mean_outside)
{
    const int picture = (int)candidate - (int)value_outside, background = (int)mean_inside - (int)mean_outside;
    region->picture += (uint32_t)(picture < 0 ? -picture : picture);
    region->background += (uint32_t)(background < 0 ? -background : background);
    region->change += (uint32_t)(picture < background ? background - picture : picture - background);
}

/* What the `ghost` of the region's pixels grows by; 0: it becomes 0. */
MOTION_INLINE uint32_t feedback_ghost_step(const FeedbackRegion *region, const FeedbackFrame *frame)
{
    const uint64_t larger = region->picture > region->background ? region->picture : region->background;
    if (region->background * 16 > region->picture * FEEDBACK_GHOST_PART || region->change * 16 < larger * FEEDBACK_LIGHT_PART)
        return frame->ghost;
    if (region->background * 16 > region->picture * FEEDBACK_MOVED_PART &&
        region->motionless * 100 >= region->area * FEEDBACK_MOTIONLESS_PART)
        return frame->moved;
    return 0;
}

/* ---------------------------------------------------------------- camera */

#define FEEDBACK_EDGE      12    /* levels in four pixels: an edge of the background */
#define FEEDBACK_EDGES_MIN 200u  /* at least the samples / this must be edges */
#define FEEDBACK_LOST_PART 55u   /* per cent of the edges that are gone when the camera looks elsewhere, */
#define FEEDBACK_LOST_RAW  20u   /* with this per cent of the samples foreground, */
#define FEEDBACK_LOST_MS   1000u /* for this time */
#define FEEDBACK_LIT_RAW   10u   /* per cent of the samples that are foreground when only the light is another, */
#define FEEDBACK_LIT_EDGES 400u  /* with at least the samples / this of edges among them, */
#define FEEDBACK_LIT_LOST  33u   /* of which less than this per cent do not shine through: objects hide what is behind them, */
#define FEEDBACK_FAINT     32    /* sixteenths of a level: weaker edges are noise */
#define FEEDBACK_LIT_MS    2000u /* for this time more than not: regions are judged first */

/* Sums over the samples of the grid that are at least two pixels from the border. */
typedef struct FeedbackEdges {
    uint32_t samples, raw, edges, lost;
    uint32_t raw_edges, raw_lost; /* of foreground that is not white: edges, and those that do not shine through */
} FeedbackEdges;

/* Whether an edge has the direction of the background's, within 45 degrees, at any strength that is not noise. */
MOTION_INLINE bool feedback_shines_through(int mx, int my, int vx, int vy)
{
    const int64_t dot = (int64_t)mx * vx + (int64_t)my * vy, m = mx * mx + my * my, v = vx * vx + vy * vy;
    return dot > 0 && v >= FEEDBACK_FAINT * FEEDBACK_FAINT && 2 * dot * dot >= m * v;
}

/* White has no edges. */
MOTION_INLINE bool feedback_is_white(const uint16_t *value)
{
    return value[0] >= FEEDBACK_WHITE || value[1] >= FEEDBACK_WHITE || value[2] >= FEEDBACK_WHITE || value[3] >= FEEDBACK_WHITE;
}

/* mean, value: of the pixels right, left, below and above, two pixels away. raw: foreground before the shadows are taken out. */
MOTION_INLINE void feedback_add_edge(FeedbackEdges *sums, const uint16_t *mean, const uint16_t *value, bool raw)
{
    const int mx = (mean[0] - mean[1]) >> 4, my = (mean[2] - mean[3]) >> 4;
    const int vx = (value[0] - value[1]) >> 4, vy = (value[2] - value[3]) >> 4;
    sums->samples++;
    sums->raw += raw;
    if ((mx < 0 ? -mx : mx) + (my < 0 ? -my : my) < FEEDBACK_EDGE * 16)
        return;
    sums->edges++;
    sums->lost += 2 * (mx * vx + my * vy) < mx * mx + my * my;
    if (!raw || feedback_is_white(value))
        return;
    sums->raw_edges++;
    sums->raw_lost += !feedback_shines_through(mx, my, vx, vy);
}

/* Whether learning starts again with the next picture, and the mask of this one is empty: the camera looks elsewhere, the light
 * is another in a way that a gain does not explain, or more than `max_raw` pixels do not fit. */
MOTION_INLINE bool feedback_decide(FeedbackControl *control, const FeedbackFrame *frame, const FeedbackEdges *sums, uint64_t raw,
                                   uint64_t max_raw)
{
    const uint64_t samples = sums->samples, edges = sums->edges;
    const bool gone = edges * FEEDBACK_EDGES_MIN > samples && sums->lost * (uint64_t)100 > edges * FEEDBACK_LOST_PART &&
                      sums->raw * (uint64_t)100 > samples * FEEDBACK_LOST_RAW;
    const bool lit = !frame->silent && sums->raw * (uint64_t)100 > samples * FEEDBACK_LIT_RAW &&
                     sums->raw_edges * (uint64_t)FEEDBACK_LIT_EDGES > samples &&
                     sums->raw_lost * (uint64_t)100 < sums->raw_edges * (uint64_t)FEEDBACK_LIT_LOST;
    control->lost_ms = gone ? feedback_min(control->lost_ms + frame->ms, 1u << 30) : 0;
    control->lit_ms =
        lit ? feedback_min(control->lit_ms + frame->ms, 1u << 30) : control->lit_ms - feedback_min(control->lit_ms, frame->ms);
    if (control->lost_ms < FEEDBACK_LOST_MS && control->lit_ms < FEEDBACK_LIT_MS && (frame->silent || raw <= max_raw))
        return false;
    control->n_learnt = 0;
    control->lost_ms = control->lit_ms = 0;
    return true;
}

#endif
