/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "track.h"

#include "assignment.h"
#include "status.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Noise of the motion model. Speeds are relative to the size of the object, the square root of its box area. */
static const double COVARIANCE_NOISE = 0.3;    /* of a centroid, relative to the deviation of its pixels ... */
static const double SIZE_NOISE = 0.08;         /* ... and, in every direction, relative to the size */
static const double ACCELERATION_NOISE = 0.025; /* per frame squared */
static const double INITIAL_VELOCITY = 0.15;   /* per frame */
static const double MERGED_NOISE = 3;          /* times that, where only the outline of a group is seen */
static const double SHAPE_GAIN = 0.1;          /* of a new box and covariance in the smoothed ones */

/* A pair costs 0..1 for its distance, 0..1 for its overlap, and what is said here. */
static const double COST_ALONE = 2.0;     /* of a track that gets no detection */
static const double COST_TENTATIVE = 0.5; /* confirmed tracks choose first */
static const double COST_UNSEEN = 1.25;   /* at max_age: its wide gate is no claim on everything in it */
static const double COST_SIZE = 0.3;      /* per e-fold of area, up to 1 */

/* Pairs kept for a track, its cheapest. A blob further down the list would be taken only if all before it were. */
#define PAIRS_PER_TRACK 16

/* Shares of areas. */
static const double INSIDE = 0.5;       /* of a box in another, to stand in it */
static const double HOLDS = 0.8;        /* of a track's area that a blob it merged into has at least */
static const double OUTGROWN = 1.2;     /* times its track's area: a blob that hides others, parts that are no whole */
static const unsigned MERGED_AGES = 2; /* times max_age, until a track inside a group is given up */

static const double FARTHEST = 1e6; /* coordinates beyond are nonsense */
static const double SHORTEST = 1e-6; /* sides below are as well: squares of areas must be numbers above 0 */

#define NONE CCL_TRACK_NO_DETECTION

/* Constant-velocity Kalman filter of one coordinate: state (p, v), covariance (pp, pv, vv). */
typedef struct Axis {
    double p, v;
    double pp, pv, vv;
} Axis;

typedef struct Item {
    CclTrack track;
    Axis ax, ay;
    double ox, oy;          /* box centre less centroid, smoothed */
    double w, h;            /* box, smoothed */
    uint32_t merged_frames; /* in a row */
    /* This frame: */
    uint32_t container;     /* the blob it would be in if it merged, or NONE */
    uint32_t group;         /* the blob it shares with others, or NONE */
    CclDetection seen;      /* what it is seen as, parts joined */
    bool in_parts;
} Item;

typedef struct Array {
    void *data;
    size_t size; /* bytes */
} Array;

struct CclTracker {
    CclTrackerConfig config;
    uint64_t last_id;
    Item *items;
    uint32_t n;
    CclTrack *tracks;      /* what ccl_tracker_tracks() shows */
    uint32_t n_shown;
    /* Scratch of one frame, grown as needed and kept: one row per detection ... */
    CclDetection *detections; /* as cleaned */
    uint32_t *order;          /* the usable ones, by left edge */
    uint32_t *owner;          /* item that has it, or NONE */
    uint32_t *host;           /* settled item in whose place it lies, or NONE */
    double *host_overlap;
    uint32_t n_order;
    double widest;
    /* ... and one for the pairs. */
    CclPair *pairs;
    uint32_t *column_of;      /* of each item */
    void *workspace;
    Array per_detection, per_pair;
};

/* ---------------------------------------------------------------- making and freeing */

CclTrackerConfig ccl_tracker_config_default(void)
{
    return (CclTrackerConfig){
        .max_tracks = 1024,
        .min_hits = 3,
        .max_age = 30,
        .max_distance = 4,
        .iou_threshold = 0.3,
        .merge_split = true,
    };
}

static CclStatus check_config(const CclTrackerConfig *c)
{
    if (c->max_tracks < 1 || c->max_tracks > CCL_TRACKER_MAX_TRACKS)
        return ccl_fail(CCL_ERROR_ARGUMENT, "max_tracks %u is outside 1 to %u", c->max_tracks, CCL_TRACKER_MAX_TRACKS);
    if (c->min_hits < 1 || c->max_age > CCL_TRACKER_MAX_AGE)
        return ccl_fail(CCL_ERROR_ARGUMENT, "min_hits %u is less than 1, or max_age %u more than %u", c->min_hits,
                        c->max_age, CCL_TRACKER_MAX_AGE);
    if (!(c->max_distance > 0) || !(c->iou_threshold >= 0 && c->iou_threshold <= 1))
        return ccl_fail(CCL_ERROR_ARGUMENT, "max_distance %g must be positive, iou_threshold %g within 0 to 1",
                        c->max_distance, c->iou_threshold);
    return CCL_OK;
}

CclStatus ccl_tracker_new(const CclTrackerConfig *config, CclTracker **result)
{
    *result = NULL;
    CCL_TRY(check_config(config));
    CclTracker *const tracker = calloc(1, sizeof *tracker);
    if (tracker) {
        tracker->config = *config;
        tracker->items = malloc(config->max_tracks * sizeof *tracker->items);
        tracker->tracks = malloc(config->max_tracks * sizeof *tracker->tracks);
    }
    if (!tracker || !tracker->items || !tracker->tracks) {
        ccl_tracker_free(tracker);
        return ccl_fail(CCL_ERROR_OUT_OF_MEMORY, "no memory for %u tracks", config->max_tracks);
    }
    *result = tracker;
    return CCL_OK;
}

void ccl_tracker_free(CclTracker *tracker)
{
    if (!tracker)
        return;
    free(tracker->per_detection.data);
    free(tracker->per_pair.data);
    free(tracker->items);
    free(tracker->tracks);
    free(tracker);
}

CclStatus ccl_tracker_configure(CclTracker *tracker, const CclTrackerConfig *config)
{
    CCL_TRY(check_config(config));
    if (config->max_tracks != tracker->config.max_tracks)
        return ccl_fail(CCL_ERROR_ARGUMENT, "max_tracks cannot change while tracking");
    tracker->config = *config;
    return CCL_OK;
}

void ccl_tracker_reset(CclTracker *tracker)
{
    tracker->n = tracker->n_shown = 0;
}

uint32_t ccl_tracker_tracks(const CclTracker *tracker, const CclTrack **tracks)
{
    *tracks = tracker->tracks;
    return tracker->n_shown;
}

/* Nothing is carried over from frame to frame. */
static bool reserve(Array *array, size_t size)
{
    if (size <= array->size)
        return true;
    void *const data = malloc(size + size / 2);
    if (!data)
        return false;
    free(array->data);
    array->data = data;
    array->size = size + size / 2;
    return true;
}

/* Several arrays in one block, largest alignment first. */
static CclStatus reserve_frame(CclTracker *tracker, uint32_t n)
{
    const size_t row = sizeof(CclDetection) + sizeof(double) + 3 * sizeof(uint32_t);
    const uint32_t n_pairs = tracker->n * PAIRS_PER_TRACK;
    const size_t n_columns = (tracker->n + 1) / 2 * 2; /* an even number keeps what follows aligned */
    const size_t pair_bytes = n_pairs * sizeof(CclPair) + n_columns * sizeof(uint32_t) +
                              ccl_assign_workspace(tracker->n, n, n_pairs);

    if (!reserve(&tracker->per_detection, n * row) || !reserve(&tracker->per_pair, pair_bytes))
        return ccl_fail(CCL_ERROR_OUT_OF_MEMORY, "no memory to track %u detections", n);
    tracker->detections = tracker->per_detection.data;
    tracker->host_overlap = (double *)(tracker->detections + n);
    tracker->order = (uint32_t *)(tracker->host_overlap + n);
    tracker->owner = tracker->order + n;
    tracker->host = tracker->owner + n;
    tracker->pairs = tracker->per_pair.data;
    tracker->column_of = (uint32_t *)(tracker->pairs + n_pairs);
    tracker->workspace = tracker->column_of + n_columns;
    return CCL_OK;
}

/* ---------------------------------------------------------------- boxes */

/* fmin() and fmax() think of NaN; here is none, and these are two instructions. */
static double least(double a, double b)
{
    return a < b ? a : b;
}

static double most(double a, double b)
{
    return a > b ? a : b;
}

static double overlap(double a0, double a1, double b0, double b1)
{
    return most(least(a1, b1) - most(a0, b0), 0);
}

static double intersection(const CclTrack *t, const CclDetection *d)
{
    return overlap(t->x0, t->x1, d->x0, d->x1) * overlap(t->y0, t->y1, d->y0, d->y1);
}

static double track_area(const CclTrack *t)
{
    return (t->x1 - t->x0) * (t->y1 - t->y0);
}

static double detection_area(const CclDetection *d)
{
    return (d->x1 - d->x0) * (d->y1 - d->y0);
}

static double iou(const CclTrack *t, const CclDetection *d)
{
    const double both = intersection(t, d);
    return both / (track_area(t) + detection_area(d) - both);
}

/* ---------------------------------------------------------------- detections */

static bool is_place(double value)
{
    return fabs(value) <= FARTHEST; /* NaN is not */
}

static bool is_usable(const CclDetection *d)
{
    return is_place(d->x) && is_place(d->y) && is_place(d->x0) && is_place(d->y0) && is_place(d->x1) &&
           is_place(d->y1) && d->x1 - d->x0 >= SHORTEST && d->y1 - d->y0 >= SHORTEST;
}

/* A filled box has 1/12 of its squared sides as variances. */
static void fill_covariance(CclDetection *d)
{
    const double w = d->x1 - d->x0, h = d->y1 - d->y0;
    if (d->xx > 0 && d->yy > 0 && d->xx <= w * w && d->yy <= h * h && d->xy * d->xy <= d->xx * d->yy)
        return;
    d->xx = w * w / 12;
    d->xy = 0;
    d->yy = h * h / 12;
}

static void sort_by_left_edge(const CclDetection *detections, uint32_t *order, uint32_t *scratch, uint32_t n)
{
    /* Merge sort, bottom up: qsort() has no argument for the detections. */
    for (uint32_t width = 1; width < n; width *= 2) {
        for (uint32_t begin = 0; begin < n; begin += 2 * width) {
            const uint32_t middle = begin + width < n ? begin + width : n;
            const uint32_t end = middle + width < n ? middle + width : n;
            for (uint32_t k = begin, a = begin, b = middle; k < end; k++)
                scratch[k] = b == end || (a < middle && detections[order[a]].x0 <= detections[order[b]].x0) ? order[a++]
                                                                                                         : order[b++];
        }
        memcpy(order, scratch, n * sizeof *order);
    }
}

static void take_detections(CclTracker *tracker, const CclDetection *detections, uint32_t n)
{
    tracker->n_order = 0;
    tracker->widest = 0;
    for (uint32_t i = 0; i < n; i++) {
        tracker->detections[i] = detections[i];
        tracker->host_overlap[i] = 0;
        if (!is_usable(&detections[i]))
            continue;
        fill_covariance(&tracker->detections[i]);
        tracker->order[tracker->n_order++] = i;
        tracker->widest = most(tracker->widest, detections[i].x1 - detections[i].x0);
    }
    sort_by_left_edge(tracker->detections, tracker->order, tracker->owner, tracker->n_order);
    for (uint32_t i = 0; i < n; i++)
        tracker->owner[i] = tracker->host[i] = NONE;
}

static CclDetection joined(const CclDetection *a, const CclDetection *b)
{
    const double m = detection_area(a), n = detection_area(b), s = m + n;
    CclDetection d = *a;
    d.x0 = least(a->x0, b->x0), d.y0 = least(a->y0, b->y0);
    d.x1 = most(a->x1, b->x1), d.y1 = most(a->y1, b->y1);
    d.x = (m * a->x + n * b->x) / s, d.y = (m * a->y + n * b->y) / s;
    const double ax = a->x - d.x, ay = a->y - d.y, bx = b->x - d.x, by = b->y - d.y;
    d.xx = (m * (a->xx + ax * ax) + n * (b->xx + bx * bx)) / s;
    d.xy = (m * (a->xy + ax * ay) + n * (b->xy + bx * by)) / s;
    d.yy = (m * (a->yy + ay * ay) + n * (b->yy + by * by)) / s;
    return d;
}

/* ---------------------------------------------------------------- filter */

static void predict_axis(Axis *a, double t, double acceleration)
{
    const double q = acceleration * acceleration;
    a->p += a->v * t;
    a->pp += 2 * a->pv * t + a->vv * t * t + q * t * t * t * t / 4;
    a->pv += a->vv * t + q * t * t * t / 2;
    a->vv += q * t * t;
}

static void correct_axis(Axis *a, double seen, double variance)
{
    const double s = a->pp + variance;
    const double kp = a->pp / s, kv = a->pv / s;
    const double innovation = seen - a->p;
    a->p += kp * innovation;
    a->v += kv * innovation;
    a->vv -= kv * a->pv;
    a->pv *= 1 - kp;
    a->pp *= 1 - kp;
}

/* By overlap alone there is no model to correct: it is where it was seen last. */
static void place_axis(Axis *a, CclTrackMethod method, double seen, double variance)
{
    if (method == CCL_TRACK_KALMAN)
        correct_axis(a, seen, variance);
    else
        a->p = seen;
}

static double item_size(const Item *item)
{
    return sqrt(item->w * item->h);
}

/* Of the centroid along an axis: the longer the blob, the less certain. `variance`: of its pixels. */
static double noise_variance(const Item *item, double variance)
{
    return COVARIANCE_NOISE * COVARIANCE_NOISE * variance + SIZE_NOISE * SIZE_NOISE * item->w * item->h;
}

/* The box goes with the centroid. */
static void place_box(Item *item)
{
    CclTrack *const t = &item->track;
    t->x = item->ax.p, t->y = item->ay.p;
    t->vx = item->ax.v, t->vy = item->ay.v;
    t->x0 = t->x + item->ox - item->w / 2, t->x1 = t->x0 + item->w;
    t->y0 = t->y + item->oy - item->h / 2, t->y1 = t->y0 + item->h;
}

static void predict(Item *item, const CclTrackerConfig *config, double frames)
{
    if (config->method == CCL_TRACK_KALMAN) {
        const double acceleration = ACCELERATION_NOISE * item_size(item);
        predict_axis(&item->ax, frames, acceleration);
        predict_axis(&item->ay, frames, acceleration);
        place_box(item);
    }
    item->track.flags = 0;
    item->track.detection = item->group = item->container = NONE;
    item->in_parts = false;
    item->track.age++;
}

static void see_shape(Item *item, const CclDetection *d, double gain)
{
    CclTrack *const t = &item->track;
    item->w += gain * (d->x1 - d->x0 - item->w);
    item->h += gain * (d->y1 - d->y0 - item->h);
    item->ox += gain * ((d->x0 + d->x1) / 2 - d->x - item->ox);
    item->oy += gain * ((d->y0 + d->y1) / 2 - d->y - item->oy);
    t->xx += gain * (d->xx - t->xx);
    t->xy += gain * (d->xy - t->xy);
    t->yy += gain * (d->yy - t->yy);
}

/* ---------------------------------------------------------------- pairs */

/* Squared Mahalanobis distance of a detection from a prediction: in units of what both leave open. */
static double distance2(const Item *item, const CclDetection *d)
{
    const CclTrack *const t = &item->track;
    const double dx = d->x - t->x, dy = d->y - t->y;
    const double xx = item->ax.pp + noise_variance(item, t->xx), yy = item->ay.pp + noise_variance(item, t->yy);
    const double xy = COVARIANCE_NOISE * COVARIANCE_NOISE * t->xy;
    return (yy * dx * dx - 2 * xy * dx * dy + xx * dy * dy) / (xx * yy - xy * xy);
}

/* INFINITY outside the gate, or when not less than `limit`. */
static double pair_cost(const CclTrackerConfig *config, const Item *item, const CclDetection *d, double limit)
{
    const CclTrack *const t = &item->track;
    if (t->type != d->type && !config->single_class)
        return INFINITY;
    const double both = iou(t, d);
    const double so_far = 1 - both + (t->state == CCL_TRACK_TENTATIVE ? COST_TENTATIVE : 0) +
                          COST_UNSEEN * least(t->misses / (config->max_age + 1.0), 1);
    if (so_far >= limit)
        return INFINITY;
    if (config->method == CCL_TRACK_IOU)
        return both > 0 && both >= config->iou_threshold ? so_far : INFINITY;

    const double squared = distance2(item, d), gate = config->max_distance * config->max_distance;
    if ((squared > gate && both < config->iou_threshold) || so_far + least(squared / gate, 1) >= limit)
        return INFINITY;
    const double ratio = fabs(log(detection_area(d) / track_area(t)));
    return so_far + least(squared / gate, 1) + least(COST_SIZE * ratio, 1);
}

/* Keeps the cheapest PAIRS_PER_TRACK of a track, sorted by cost. */
static uint32_t keep_pair(CclPair *pairs, uint32_t n, CclPair pair)
{
    if (n == PAIRS_PER_TRACK && pair.cost >= pairs[n - 1].cost)
        return n;
    uint32_t i = n < PAIRS_PER_TRACK ? n++ : n - 1;
    for (; i > 0 && pairs[i - 1].cost > pair.cost; i--)
        pairs[i] = pairs[i - 1];
    pairs[i] = pair;
    return n;
}

/* What blobs do and boxes do not: this blob may be a group that has swallowed the track, or a part of it. */
static void note_overlap(CclTracker *tracker, uint32_t index, uint32_t detection, double *best)
{
    Item *const item = &tracker->items[index];
    const CclTrack *const t = &item->track;
    const CclDetection *const d = &tracker->detections[detection];
    const double both = intersection(t, d), area = track_area(t);

    if (t->state == CCL_TRACK_TENTATIVE || (t->type != d->type && !tracker->config.single_class))
        return;
    if (both > *best && both > INSIDE * area && detection_area(d) > HOLDS * area) {
        *best = both;
        item->container = detection;
    }
    if (both >= INSIDE * detection_area(d) && both > tracker->host_overlap[detection]) {
        tracker->host_overlap[detection] = both;
        tracker->host[detection] = index;
    }
}

/* First of the detections, by left edge, whose left edge is not before x. */
static uint32_t first_from(const CclTracker *tracker, double x)
{
    uint32_t low = 0, high = tracker->n_order;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (tracker->detections[tracker->order[middle]].x0 < x)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Looks at all detections near a track; returns how many pairs it wrote. */
static uint32_t pair_track(CclTracker *tracker, uint32_t index, CclPair *pairs)
{
    const Item *const item = &tracker->items[index];
    const CclTrack *const t = &item->track;
    const double reach_x = tracker->config.max_distance * sqrt(item->ax.pp + noise_variance(item, t->xx));
    const double reach_y = tracker->config.max_distance * sqrt(item->ay.pp + noise_variance(item, t->yy));
    const double left = least(t->x0, t->x - reach_x), right = most(t->x1, t->x + reach_x);
    const double top = least(t->y0, t->y - reach_y), bottom = most(t->y1, t->y + reach_y);
    double best = 0;
    uint32_t n = 0;

    for (uint32_t k = first_from(tracker, left - tracker->widest); k < tracker->n_order; k++) {
        const uint32_t i = tracker->order[k];
        const CclDetection *const d = &tracker->detections[i];
        if (d->x0 > right)
            break;
        if (d->x1 < left || d->y0 > bottom || d->y1 < top)
            continue;
        if (tracker->config.merge_split)
            note_overlap(tracker, index, i, &best);
        const double limit = n < PAIRS_PER_TRACK ? INFINITY : pairs[n - 1].cost;
        const double cost = pair_cost(&tracker->config, item, d, limit);
        if (cost < INFINITY)
            n = keep_pair(pairs, n, (CclPair){ .row = index, .column = i, .cost = cost });
    }
    return n;
}

static void assign(CclTracker *tracker, uint32_t n)
{
    uint32_t n_pairs = 0;
    for (uint32_t i = 0; i < tracker->n; i++)
        if (tracker->items[i].track.state != CCL_TRACK_LOST)
            n_pairs += pair_track(tracker, i, tracker->pairs + n_pairs);
    ccl_assign(tracker->pairs, n_pairs, tracker->n, n, COST_ALONE, tracker->column_of, tracker->workspace);
    for (uint32_t i = 0; i < tracker->n; i++) {
        if (tracker->column_of[i] == CCL_ASSIGN_ALONE)
            continue;
        tracker->items[i].track.detection = tracker->column_of[i];
        tracker->items[i].seen = tracker->detections[tracker->column_of[i]];
        tracker->owner[tracker->column_of[i]] = i;
    }
}

/* ---------------------------------------------------------------- groups and parts */

/* A settled track that found no blob of its own but stands inside one has merged with the blob's owner. */
static void join_groups(CclTracker *tracker)
{
    for (uint32_t i = 0; i < tracker->n; i++) {
        Item *const item = &tracker->items[i];
        const uint32_t d = item->container;
        if (item->track.detection != NONE || d == NONE || item->track.state == CCL_TRACK_LOST)
            continue;
        if (tracker->owner[d] == NONE) {
            tracker->owner[d] = i;
        } else if (tracker->owner[d] != i && tracker->items[tracker->owner[d]].group == NONE) {
            Item *const other = &tracker->items[tracker->owner[d]];
            /* A blob no larger than its owner hides nobody: this track is behind it, or a ghost of it. */
            if (detection_area(&tracker->detections[d]) < OUTGROWN * other->w * other->h)
                continue;
            if (other->track.state != CCL_TRACK_TENTATIVE)
                other->group = d;
        }
        item->group = d;
    }
}

/* A blob nobody has, in the place of a track that has one: a part of it, when both together fit the track better. */
static void join_parts(CclTracker *tracker, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        if (tracker->owner[i] != NONE || tracker->host[i] == NONE)
            continue;
        Item *const item = &tracker->items[tracker->host[i]];
        if (item->track.detection == NONE || item->group != NONE)
            continue;
        const CclDetection both = joined(&item->seen, &tracker->detections[i]);
        if (iou(&item->track, &both) <= iou(&item->track, &item->seen) ||
            detection_area(&both) > OUTGROWN * item->w * item->h)
            continue;
        item->seen = both;
        item->in_parts = true;
        tracker->owner[i] = tracker->host[i];
    }
}

/* Moves [p0, p1) the least way into [d0, d1), or onto its middle when it is too long. */
static double shift_into(double p0, double p1, double d0, double d1)
{
    if (p1 - p0 >= d1 - d0)
        return (d0 + d1 - p0 - p1) / 2;
    return p0 < d0 ? d0 - p0 : p1 > d1 ? d1 - p1 : 0;
}

static void follow_group(Item *item, const CclDetection *d, const CclTrackerConfig *config)
{
    CclTrack *const t = &item->track;
    const double more = MERGED_NOISE * MERGED_NOISE;
    const double x = t->x + shift_into(t->x0, t->x1, d->x0, d->x1), y = t->y + shift_into(t->y0, t->y1, d->y0, d->y1);
    place_axis(&item->ax, config->method, x, more * noise_variance(item, t->xx));
    place_axis(&item->ay, config->method, y, more * noise_variance(item, t->yy));
    place_box(item);
    t->detection = item->group;
    t->flags |= CCL_TRACK_MERGED;
    t->state = ++item->merged_frames > MERGED_AGES * config->max_age ? CCL_TRACK_LOST : CCL_TRACK_PREDICTED;
}

/* ---------------------------------------------------------------- life */

static void see(Item *item, const CclTrackerConfig *config)
{
    CclTrack *const t = &item->track;
    const CclDetection *const d = &item->seen;
    place_axis(&item->ax, config->method, d->x, noise_variance(item, t->xx));
    place_axis(&item->ay, config->method, d->y, noise_variance(item, t->yy));
    /* Parts teach nothing about the shape: it would grow as they drift apart, and hold them together for ever. */
    see_shape(item, d, item->in_parts ? 0 : most(SHAPE_GAIN, 1.0 / (t->hits + 1.0)));
    place_box(item);
    t->x0 = d->x0, t->y0 = d->y0, t->x1 = d->x1, t->y1 = d->y1;
    t->hits++;
    t->misses = 0;
    item->merged_frames = 0;
    if (t->state != CCL_TRACK_TENTATIVE || t->hits >= config->min_hits)
        t->state = CCL_TRACK_CONFIRMED;
}

/* Unseen for `frames` more. */
static void miss(Item *item, unsigned max_age, uint32_t frames)
{
    CclTrack *const t = &item->track;
    t->misses += frames;
    t->state = t->state == CCL_TRACK_TENTATIVE || t->misses > max_age ? CCL_TRACK_LOST : CCL_TRACK_PREDICTED;
}

static void update_tracks(CclTracker *tracker, uint32_t frames)
{
    const CclTrackerConfig *const config = &tracker->config;
    for (uint32_t i = 0; i < tracker->n; i++) {
        Item *const item = &tracker->items[i];
        if (item->track.state == CCL_TRACK_LOST)
            continue;
        if (item->group != NONE)
            follow_group(item, &tracker->detections[item->group], config);
        else if (item->track.detection != NONE)
            see(item, config);
        else
            miss(item, config->max_age, frames);
    }
}

static uint64_t new_id(CclTracker *tracker)
{
    return tracker->config.new_id ? tracker->config.new_id() : ++tracker->last_id;
}

/* Starts a track; NULL when there is no room. */
static CclTrack *begin(CclTracker *tracker, uint32_t detection)
{
    const CclDetection *const d = &tracker->detections[detection];
    if (tracker->n == tracker->config.max_tracks)
        return NULL;
    Item *const item = &tracker->items[tracker->n++];
    *item = (Item){ .w = d->x1 - d->x0, .h = d->y1 - d->y0, .container = NONE, .group = NONE, .seen = *d };
    const double speed = INITIAL_VELOCITY * item_size(item);
    item->ax = (Axis){ .p = d->x, .pp = noise_variance(item, d->xx), .vv = speed * speed };
    item->ay = (Axis){ .p = d->y, .pp = noise_variance(item, d->yy), .vv = speed * speed };
    item->ox = (d->x0 + d->x1) / 2 - d->x;
    item->oy = (d->y0 + d->y1) / 2 - d->y;
    item->track = (CclTrack){
        .id = new_id(tracker), .detection = detection, .type = d->type, .age = 1, .hits = 1,
        .state = tracker->config.min_hits > 1 ? CCL_TRACK_TENTATIVE : CCL_TRACK_CONFIRMED,
        .xx = d->xx, .xy = d->xy, .yy = d->yy,
    };
    place_box(item);
    return &item->track;
}

/* The id of each detection's track; those nobody has start one. */
static void name_detections(CclTracker *tracker, uint32_t n, uint64_t *track_of)
{
    for (uint32_t i = 0; i < n; i++) {
        uint64_t id = 0;
        if (tracker->owner[i] != NONE) {
            id = tracker->items[tracker->owner[i]].track.id;
        } else if (is_usable(&tracker->detections[i])) {
            CclTrack *const track = begin(tracker, i);
            id = track ? track->id : 0;
            if (track && tracker->host[i] != NONE) {
                track->parent_id = tracker->items[tracker->host[i]].track.id;
                track->flags = CCL_TRACK_SPLIT;
            }
        }
        if (track_of)
            track_of[i] = id;
    }
}

static void bury(CclTracker *tracker)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < tracker->n; i++)
        if (tracker->items[i].track.state != CCL_TRACK_LOST)
            tracker->items[kept++] = tracker->items[i];
    tracker->n = kept;
}

static void show(CclTracker *tracker)
{
    tracker->n_shown = tracker->n;
    for (uint32_t i = 0; i < tracker->n; i++)
        tracker->tracks[i] = tracker->items[i].track;
}

/* More than this says no more: all tracks end. */
static double bounded_frames(const CclTracker *tracker, double frames)
{
    return frames > 0 ? least(frames, tracker->config.max_age + 2.0) : 0;
}

/* Timestamps are whole nanoseconds: an interval of 1/30 s is a little more than one, or less. */
static uint32_t whole_frames(double elapsed)
{
    return elapsed >= 1 ? (uint32_t)(elapsed + 0.5) : 1;
}

/* Whoever was out of sight for too long by the time of this frame is not looked for in it. */
static void end_overdue(CclTracker *tracker, double elapsed)
{
    for (uint32_t i = 0; i < tracker->n; i++) {
        CclTrack *const t = &tracker->items[i].track;
        if (t->misses + whole_frames(elapsed) - 1 > tracker->config.max_age)
            t->state = CCL_TRACK_LOST;
    }
}

CclStatus ccl_tracker_update(CclTracker *tracker, const CclDetection *detections, uint32_t n, double frames,
                             uint64_t *track_of)
{
    const double elapsed = bounded_frames(tracker, frames);

    bury(tracker);
    CCL_TRY(reserve_frame(tracker, n));
    for (uint32_t i = 0; i < tracker->n; i++)
        predict(&tracker->items[i], &tracker->config, elapsed);
    end_overdue(tracker, elapsed);

    take_detections(tracker, detections, n);
    assign(tracker, n);
    if (tracker->config.merge_split) {
        join_groups(tracker);
        join_parts(tracker, n);
    }
    update_tracks(tracker, whole_frames(elapsed));
    name_detections(tracker, n, track_of);
    show(tracker);
    return CCL_OK;
}

void ccl_tracker_skip(CclTracker *tracker, double frames)
{
    const double elapsed = bounded_frames(tracker, frames);

    bury(tracker);
    for (uint32_t i = 0; i < tracker->n; i++) {
        CclTrack *const t = &tracker->items[i].track;
        predict(&tracker->items[i], &tracker->config, elapsed);
        if (t->state == CCL_TRACK_CONFIRMED)
            t->state = CCL_TRACK_PREDICTED;
    }
    end_overdue(tracker, elapsed);
    show(tracker);
}
