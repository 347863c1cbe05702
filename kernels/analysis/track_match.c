/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "track_match.h"

#include "boxes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A pair costs 0..1 for its distance, 0..1 for its overlap, and these. */
static const double COST_ALONE = 2.0;     /* of a track that gets no detection */
static const double COST_TENTATIVE = 0.5; /* confirmed tracks choose first */
static const double COST_UNSEEN = 1.6;    /* at max_age: a wide gate must not claim everything in it */
static const double COST_SIZE = 0.3;      /* per e-fold of area, up to 1 */

/* Shares of areas. */
static const double MIN_INSIDE = 0.5; /* of a track's box in a blob that it may share, or of a blob's in a track's box */
static const double MIN_HOLDS = 0.8;  /* area of a blob over the area of a track that merged into it, at least */
static const double MIN_MERGED = 0.1; /* of the larger track's: a smaller one hides nothing of it in their common blob */
static const double MAX_GROWTH = 1.2; /* area of joined parts over the track's; a larger blob may hide another track */

/* A part may lie outside the predicted box of its track by this share of the side, at each end: the box is not exact. */
static const double PART_SLACK = 0.1;

/* Deviation of a predicted place, in sizes of the object. A prediction with more doubt claims no parts. */
static const double MAX_DOUBT = 0.25;

static const double MAX_COORDINATE = 1e6;
static const double MIN_SIDE = 1e-6; /* squares of areas must be numbers above 0 */

/* ---------------------------------------------------------------- memory */

/* The content is lost. Afterwards `data` is an address even for 0 bytes, so that the caller may compute with it. */
static bool reserve(TrackArray *array, size_t size)
{
    if (array->data && size <= array->size)
        return true;
    void *const data = malloc(size + size / 2 + 1);
    if (!data)
        return false;
    free(array->data);
    array->data = data;
    array->size = size + size / 2;
    return true;
}

/* Several arrays in one block, largest alignment first. */
CclStatus track_match_reserve(TrackMatch *match, uint32_t n_items, uint32_t n)
{
    const size_t row = sizeof(CclDetection) + sizeof(TrackPlace) + sizeof(double) + 6 * sizeof(uint32_t);
    const uint32_t n_pairs = n_items * TRACK_PAIRS;
    const size_t n_columns = (n_items + 1) / 2 * 2; /* an even number keeps the workspace aligned */
    const size_t pair_bytes = n_pairs * sizeof(CclPair) + n_columns * sizeof(uint32_t) +
                              ccl_assign_workspace(n_items, n, n_pairs);

    if (!reserve(&match->per_detection, n * row + sizeof(uint32_t)) || !reserve(&match->per_pair, pair_bytes))
        return ccl_fail(CCL_ERROR_OUT_OF_MEMORY, "no memory to track %u detections", n);
    match->n_detections = n;
    match->detections = match->per_detection.data;
    match->places = (TrackPlace *)(match->detections + n);
    match->covered_area = (double *)(match->places + n);
    match->order = (uint32_t *)(match->covered_area + n);
    match->owner = match->order + n;
    match->covering = match->owner + n;
    match->n_sharing = match->covering + n;
    match->n_near = match->n_sharing + n;
    match->stripes = match->n_near + n;
    match->pairs = match->per_pair.data;
    match->column_of = (uint32_t *)(match->pairs + n_pairs);
    match->workspace = match->column_of + n_columns;
    return CCL_OK;
}

void track_match_free(TrackMatch *match)
{
    free(match->per_detection.data);
    free(match->per_pair.data);
}

/* ---------------------------------------------------------------- detections */

static bool is_coordinate(double value)
{
    return fabs(value) <= MAX_COORDINATE; /* NaN is not */
}

bool track_is_usable(const CclDetection *d)
{
    return is_coordinate(d->x) && is_coordinate(d->y) && is_coordinate(d->x0) && is_coordinate(d->y0) &&
           is_coordinate(d->x1) && is_coordinate(d->y1) && d->x1 - d->x0 >= MIN_SIDE && d->y1 - d->y0 >= MIN_SIDE;
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

static void sort_by_left_edge(const double *left_edges, uint32_t *order, uint32_t *scratch, uint32_t n)
{
    /* Merge sort, bottom up: qsort() has no argument for the edges. */
    for (uint32_t width = 1; width < n; width *= 2) {
        for (uint32_t begin = 0; begin < n; begin += 2 * width) {
            const uint32_t middle = begin + width < n ? begin + width : n;
            const uint32_t end = middle + width < n ? middle + width : n;
            for (uint32_t k = begin, a = begin, b = middle; k < end; k++)
                scratch[k] = b == end || (a < middle && left_edges[order[a]] <= left_edges[order[b]]) ? order[a++] : order[b++];
        }
        memcpy(order, scratch, n * sizeof *order);
    }
}

static void sort_detections(TrackMatch *match)
{
    double *const left_edges = match->covered_area; /* not used yet in this frame */
    for (uint32_t i = 0; i < match->n_detections; i++)
        left_edges[i] = match->detections[i].x0;
    sort_by_left_edge(left_edges, match->order, match->owner, match->n_usable);
    for (uint32_t k = 0; k < match->n_usable; k++) {
        const CclDetection *const d = &match->detections[match->order[k]];
        match->places[k] = (TrackPlace){ d->x0, d->y0, d->x1, d->y1, d->x, d->y };
    }
}

/* Of n_usable stripes the one at x; the last also has all beyond it. */
static uint32_t stripe_at(const TrackMatch *match, double x)
{
    const double stripe = (x - match->places[0].x0) * match->stripes_per_pixel;
    return stripe >= match->n_usable ? match->n_usable - 1 : stripe > 0 ? (uint32_t)stripe : 0;
}

static void fill_stripes(TrackMatch *match)
{
    const uint32_t n = match->n_usable;
    const double width = n ? match->places[n - 1].x0 - match->places[0].x0 : 0;
    uint32_t stripe = 0;
    match->stripes_per_pixel = width > 0 ? n / width : 0;
    for (uint32_t k = 0; k < n; k++)
        for (const uint32_t here = stripe_at(match, match->places[k].x0); stripe <= here; stripe++)
            match->stripes[stripe] = k;
    for (; stripe <= n; stripe++)
        match->stripes[stripe] = n;
}

void track_match_detections(TrackMatch *match, const CclDetection *detections)
{
    match->n_usable = 0;
    match->max_width = match->max_height = 0;
    for (uint32_t i = 0; i < match->n_detections; i++) {
        match->detections[i] = detections[i];
        if (!track_is_usable(&detections[i]))
            continue;
        fill_covariance(&match->detections[i]);
        match->order[match->n_usable++] = i;
        match->max_width = larger(match->max_width, detections[i].x1 - detections[i].x0);
        match->max_height = larger(match->max_height, detections[i].y1 - detections[i].y0);
    }
    sort_detections(match);
    fill_stripes(match);
    for (uint32_t i = 0; i < match->n_detections; i++) {
        match->covered_area[i] = 0;
        match->owner[i] = match->covering[i] = TRACK_NONE;
    }
}

/* ---------------------------------------------------------------- pairs */

double track_distance2(const TrackItem *item, const CclDetection *d)
{
    const CclTrack *const t = &item->track;
    const double dx = d->x - t->x, dy = d->y - t->y;
    const double xx = item->ax.pp + track_noise_variance(item, t->xx);
    const double yy = item->ay.pp + track_noise_variance(item, t->yy);
    const double xy = TRACK_COVARIANCE_NOISE * TRACK_COVARIANCE_NOISE * t->xy;
    return (yy * dx * dx - 2 * xy * dx * dy + xx * dy * dy) / (xx * yy - xy * xy);
}

double track_pair_cost(const CclTrackerConfig *config, const TrackItem *item, const CclDetection *d, double limit)
{
    const CclTrack *const t = &item->track;
    if (t->type != d->type && !config->single_class)
        return INFINITY;
    const double both = iou(t, d);
    const double so_far = 1 - both + (t->state == CCL_TRACK_TENTATIVE ? COST_TENTATIVE : 0) +
                          COST_UNSEEN * smaller(t->misses / (config->max_age + 1.0), 1);
    if (so_far >= limit)
        return INFINITY;
    if (config->method == CCL_TRACK_IOU)
        return both > 0 && both >= config->iou_threshold ? so_far : INFINITY;

    const double squared = track_distance2(item, d), gate = config->max_distance * config->max_distance;
    if ((squared > gate && both < config->iou_threshold) || so_far + smaller(squared / gate, 1) >= limit)
        return INFINITY;
    const double ratio = fabs(log(detection_area(d) / track_area(t)));
    return so_far + smaller(squared / gate, 1) + smaller(COST_SIZE * ratio, 1);
}

uint32_t track_match_keep_pair(CclPair *pairs, uint32_t n, CclPair pair)
{
    if (n == TRACK_PAIRS && pair.cost >= pairs[n - 1].cost)
        return n;
    uint32_t i = n < TRACK_PAIRS ? n++ : n - 1;
    for (; i > 0 && pairs[i - 1].cost > pair.cost; i--)
        pairs[i] = pairs[i - 1];
    pairs[i] = pair;
    return n;
}

/* A blob may be a group that the track merged into, or a part of the track. Keeps the best candidate for each. */
static void note_overlap(TrackMatch *match, TrackItem *item, uint32_t index, uint32_t detection, double *best)
{
    const CclTrack *const t = &item->track;
    const CclDetection *const d = &match->detections[detection];
    const double both = intersection(t, d), area = track_area(t);

    if (both > *best && both > MIN_INSIDE * area && detection_area(d) > MIN_HOLDS * area) {
        *best = both;
        item->container = detection;
    }
    const double near_both = intersection(&(CclTrack){ .x0 = t->x0 - PART_SLACK * item->w, .x1 = t->x1 + PART_SLACK * item->w,
                                                       .y0 = t->y0 - PART_SLACK * item->h, .y1 = t->y1 + PART_SLACK * item->h },
                                          d);
    if (near_both >= MIN_INSIDE * detection_area(d) && near_both > match->covered_area[detection]) {
        match->covered_area[detection] = near_both;
        match->covering[detection] = index;
    }
}

uint32_t track_match_first_from(const TrackMatch *match, double x)
{
    if (!match->n_usable)
        return 0;
    const uint32_t stripe = stripe_at(match, x);
    uint32_t low = match->stripes[stripe], high = match->stripes[stripe + 1];
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (match->places[middle].x0 < x)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Checks all detections near a track; returns the number of pairs written. */
static uint32_t pair_track(TrackMatch *match, const CclTrackerConfig *config, TrackItem *item, uint32_t index,
                           CclPair *pairs)
{
    const CclTrack *const t = &item->track;
    const double reach_x = config->max_distance * sqrt(item->ax.pp + track_noise_variance(item, t->xx));
    const double reach_y = config->max_distance * sqrt(item->ay.pp + track_noise_variance(item, t->yy));
    const double left = smaller(t->x0, t->x - reach_x), right = larger(t->x1, t->x + reach_x);
    const double top = smaller(t->y0, t->y - reach_y), bottom = larger(t->y1, t->y + reach_y);
    const bool settled = config->merge_split && t->state != CCL_TRACK_TENTATIVE;
    double best = 0;
    uint32_t n = 0;

    for (uint32_t k = track_match_first_from(match, left - match->max_width); k < match->n_usable; k++) {
        const TrackPlace *const place = &match->places[k];
        if (place->x0 > right)
            break;
        if (place->x1 < left || place->y0 > bottom || place->y1 < top)
            continue;
        const uint32_t i = match->order[k];
        const CclDetection *const d = &match->detections[i];
        if (settled && (t->type == d->type || config->single_class))
            note_overlap(match, item, index, i, &best);
        const double limit = n < TRACK_PAIRS ? INFINITY : pairs[n - 1].cost;
        const double cost = track_pair_cost(config, item, d, limit);
        if (cost < INFINITY)
            n = track_match_keep_pair(pairs, n, (CclPair){ .row = index, .column = i, .cost = cost });
    }
    return n;
}

void track_match_give(TrackMatch *match, TrackItem *items, uint32_t index, uint32_t detection)
{
    items[index].track.detection = detection;
    items[index].seen = match->detections[detection];
    match->owner[detection] = index;
}

void track_match_give_columns(TrackMatch *match, TrackItem *items, uint32_t n_items)
{
    for (uint32_t i = 0; i < n_items; i++)
        if (match->column_of[i] != CCL_ASSIGN_ALONE)
            track_match_give(match, items, i, match->column_of[i]);
}

void track_match_assign(TrackMatch *match, const CclTrackerConfig *config, TrackItem *items, uint32_t n_items)
{
    uint32_t n_pairs = 0;
    for (uint32_t i = 0; i < n_items; i++)
        if (items[i].track.state != CCL_TRACK_LOST)
            n_pairs += pair_track(match, config, &items[i], i, match->pairs + n_pairs);
    const CclAssignment assignment = { match->pairs, n_pairs, n_items, match->n_detections, COST_ALONE };
    ccl_assign(&assignment, match->column_of, match->workspace);
    track_match_give_columns(match, items, n_items);
}

/* ---------------------------------------------------------------- groups and parts */

/* A settled track that found no blob of its own but lies inside one has merged with the blob's owner. */
void track_match_join_groups(TrackMatch *match, TrackItem *items, uint32_t n_items)
{
    for (uint32_t i = 0; i < n_items; i++) {
        TrackItem *const item = &items[i];
        const uint32_t d = item->container;
        if (item->track.detection != TRACK_NONE || d == TRACK_NONE || item->track.state == CCL_TRACK_LOST)
            continue;
        if (match->owner[d] == TRACK_NONE) {
            match->owner[d] = i;
        } else if (match->owner[d] != i && items[match->owner[d]].group == TRACK_NONE) {
            TrackItem *const other = &items[match->owner[d]];
            /* A blob no larger than its owner hides nothing: this track is behind it, or a duplicate of it. */
            if (detection_area(&match->detections[d]) < MAX_GROWTH * other->w * other->h)
                continue;
            if (other->track.state != CCL_TRACK_TENTATIVE && item->w * item->h >= MIN_MERGED * other->w * other->h)
                other->group = d;
        }
        item->group = d;
    }
}

/* Box around both; centroid and covariance weighted by area. */
static CclDetection joined(const CclDetection *a, const CclDetection *b)
{
    const double m = detection_area(a), n = detection_area(b), s = m + n;
    CclDetection d = *a;
    d.x0 = smaller(a->x0, b->x0), d.y0 = smaller(a->y0, b->y0);
    d.x1 = larger(a->x1, b->x1), d.y1 = larger(a->y1, b->y1);
    d.x = (m * a->x + n * b->x) / s, d.y = (m * a->y + n * b->y) / s;
    const double ax = a->x - d.x, ay = a->y - d.y, bx = b->x - d.x, by = b->y - d.y;
    d.xx = (m * (a->xx + ax * ax) + n * (b->xx + bx * bx)) / s;
    d.xy = (m * (a->xy + ax * ay) + n * (b->xy + bx * by)) / s;
    d.yy = (m * (a->yy + ay * ay) + n * (b->yy + by * by)) / s;
    return d;
}

/* Is the prediction good enough for a small blob inside it to be a part of the track? */
static bool is_predicted_well(const TrackItem *item)
{
    const double limit = MAX_DOUBT * MAX_DOUBT * item->w * item->h;
    return item->ax.pp < limit && item->ay.pp < limit;
}

/* A blob without a track, inside the box of a track, is a part of that track:
 *
 * - the track has another blob, and both together fit it better
 * - the track has no blob. Most of the object is hidden, behind a tree or beyond the edge of the picture */
void track_match_join_parts(TrackMatch *match, TrackItem *items)
{
    for (uint32_t i = 0; i < match->n_detections; i++) {
        if (match->owner[i] != TRACK_NONE || match->covering[i] == TRACK_NONE)
            continue;
        TrackItem *const item = &items[match->covering[i]];
        const bool is_seen = item->track.detection != TRACK_NONE;
        if (item->track.state == CCL_TRACK_LOST || item->group != TRACK_NONE ||
            (is_seen ? item->seen.class_id : item->class_id) != match->detections[i].class_id)
            continue;
        if (!is_seen) {
            if (!is_predicted_well(item))
                continue;
            track_match_give(match, items, match->covering[i], i);
            item->in_parts = item->is_hidden = true;
            continue;
        }
        const CclDetection both = joined(&item->seen, &match->detections[i]);
        if (iou(&item->track, &both) <= iou(&item->track, &item->seen) ||
            detection_area(&both) > MAX_GROWTH * item->w * item->h)
            continue;
        item->seen = both;
        item->in_parts = true;
        match->owner[i] = match->covering[i];
    }
}
