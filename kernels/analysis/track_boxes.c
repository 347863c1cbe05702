/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "track_boxes.h"

#include "boxes.h"

#include <math.h>

/* Lengths are relative to the size of the object, the square root of its box area; docs/tracking.md has the reasons. */
static const double POSITION_NOISE = 0.1;  /* deviation of a measured centre */
static const double SIZE_NOISE = 0.2;      /* deviation of a measured side: detectors cut off arms and legs */
static const double ACCELERATION = 0.02;   /* of the centre, per unit of time squared */
static const double GROWTH = 0.002;        /* change of the speed at which a side grows, per unit of time squared */
static const double INITIAL_SPEED = 0.1;   /* deviation, per unit of time */
static const double INITIAL_GROWTH = 0.02; /* deviation, per unit of time */

/* The model's unit of time is a frame interval at this rate, for which the constants above hold. In longer intervals people
 * turn and detectors err more, but far from in proportion: the model counts the fourth root of the interval. So it also works
 * where the rate is not what the caps say. */
static const double REFERENCE_RATE = 7; /* Hz */

static const double BUFFER = 0.5; /* of a side, at each end of it */

/* Costs beside 1 minus the overlap. */
static const double COST_DISTANCE = 0.5; /* per height of the track: overlaps of large buffers differ little */
static const double COST_SIZE = 0.3;     /* per e-fold of the height, half of it per e-fold of the width */
static const double COST_ALONE = 8;      /* more than any pair: each track that can have a detection gets one */

/* ---------------------------------------------------------------- the model */

static TrackAxis begin_axis(double value, double noise, double speed)
{
    return (TrackAxis){ .p = value, .pp = noise * noise, .vv = speed * speed };
}

static void place(TrackItem *item)
{
    CclTrack *const t = &item->track;
    item->w = item->aw.p, item->h = item->ah.p;
    t->x = item->ax.p, t->y = item->ay.p;
    t->vx = item->ax.v * item->step, t->vy = item->ay.v * item->step;
    t->x0 = t->x - item->w / 2, t->x1 = t->x0 + item->w;
    t->y0 = t->y - item->h / 2, t->y1 = t->y0 + item->h;
    t->xx = item->w * item->w / 12, t->xy = 0, t->yy = item->h * item->h / 12;
}

void track_box_begin(TrackItem *item, const CclDetection *d)
{
    const double x = (d->x0 + d->x1) / 2, y = (d->y0 + d->y1) / 2;
    *item = (TrackItem){ .w = d->x1 - d->x0, .h = d->y1 - d->y0, .container = TRACK_NONE, .group = TRACK_NONE, .object = TRACK_NONE,
                         .last_x = x, .last_y = y, .seen = *d, .step = 1 };
    const double size = track_size(item);
    item->ax = begin_axis(x, POSITION_NOISE * size, INITIAL_SPEED * size);
    item->ay = begin_axis(y, POSITION_NOISE * size, INITIAL_SPEED * size);
    item->aw = begin_axis(item->w, SIZE_NOISE * size, INITIAL_GROWTH * size);
    item->ah = begin_axis(item->h, SIZE_NOISE * size, INITIAL_GROWTH * size);
    item->track = (CclTrack){ .detection = TRACK_NONE, .type = d->type };
    place(item);
}

/* After a long interval a side is still longer than nothing. */
static void predict_side(TrackAxis *axis, double time, double growth)
{
    const double before = axis->p;
    track_axis_predict(axis, time, growth);
    axis->p = smaller(larger(axis->p, before / 2), before * 2);
}

void track_box_predict(TrackItem *item, const CclTrackerConfig *config, double frames)
{
    const double size = track_size(item);
    item->step = config->frame_seconds > 0 ? sqrt(sqrt(config->frame_seconds * REFERENCE_RATE)) : 1;
    const double time = frames * item->step;
    track_axis_predict(&item->ax, time, ACCELERATION * size);
    track_axis_predict(&item->ay, time, ACCELERATION * size);
    /* An object that disappears behind another one seems to shrink before. */
    if (item->track.misses > 0)
        item->aw.v = item->ah.v = 0;
    predict_side(&item->aw, time, GROWTH * size);
    predict_side(&item->ah, time, GROWTH * size);
    place(item);
}

void track_box_correct(TrackItem *item, const CclDetection *d)
{
    const double position = POSITION_NOISE * track_size(item), side = SIZE_NOISE * track_size(item);
    track_axis_correct(&item->ax, (d->x0 + d->x1) / 2, position * position);
    track_axis_correct(&item->ay, (d->y0 + d->y1) / 2, position * position);
    track_axis_correct(&item->aw, d->x1 - d->x0, side * side);
    track_axis_correct(&item->ah, d->y1 - d->y0, side * side);
    place(item);
}

/* ---------------------------------------------------------------- the assignment */

/* The tracks and detections that one stage assigns to each other. */
typedef struct Stage {
    bool sure;      /* detections of high confidence, else the others */
    bool tentative; /* tracks that are not yet confirmed, else the others */
} Stage;

double track_box_overlap(const CclTrack *t, const CclDetection *d)
{
    const double tx = BUFFER * (t->x1 - t->x0), ty = BUFFER * (t->y1 - t->y0);
    const double dx = BUFFER * (d->x1 - d->x0), dy = BUFFER * (d->y1 - d->y0);
    const double both = overlap(t->x0 - tx, t->x1 + tx, d->x0 - dx, d->x1 + dx) *
                        overlap(t->y0 - ty, t->y1 + ty, d->y0 - dy, d->y1 + dy);
    const double growth = (1 + 2 * BUFFER) * (1 + 2 * BUFFER);
    return both / (growth * (track_area(t) + detection_area(d)) - both);
}

bool track_box_is_sure(const CclTrackerConfig *config, const CclDetection *d)
{
    return !(d->confidence > 0 && d->confidence < config->high_confidence);
}

double track_box_cost(const CclTrackerConfig *config, const CclTrack *t, const CclDetection *d)
{
    const double both = track_box_overlap(t, d);
    if (both <= 0 || both < config->iou_threshold || (t->type != d->type && !config->single_class))
        return INFINITY;
    const double width = t->x1 - t->x0, height = t->y1 - t->y0;
    const double x = (d->x0 + d->x1) / 2, y = (d->y0 + d->y1) / 2;
    const double shape = fabs(log((d->y1 - d->y0) / height)) + fabs(log((d->x1 - d->x0) / width)) / 2;
    return 1 - both + smaller(COST_DISTANCE * hypot(x - t->x, y - t->y) / height, 1) + smaller(COST_SIZE * shape, 1);
}

static uint32_t pair_track(const TrackMatch *match, const CclTrackerConfig *config, Stage stage, const TrackItem *item,
                           uint32_t index, CclPair *pairs)
{
    const CclTrack *const t = &item->track;
    const double reach = BUFFER * (t->x1 - t->x0 + match->max_width);
    uint32_t n = 0;

    for (uint32_t k = track_match_first_from(match, t->x0 - reach - match->max_width); k < match->n_usable; k++) {
        const uint32_t i = match->order[k];
        const CclDetection *const d = &match->detections[i];
        if (d->x0 > t->x1 + reach)
            break;
        if (match->owner[i] != TRACK_NONE || track_box_is_sure(config, d) != stage.sure)
            continue;
        const double cost = track_box_cost(config, t, d);
        if (cost < INFINITY)
            n = track_match_keep_pair(pairs, n, (CclPair){ .row = index, .column = i, .cost = cost });
    }
    return n;
}

static void assign_stage(TrackMatch *match, const CclTrackerConfig *config, Stage stage, TrackItem *items,
                         uint32_t n_items)
{
    uint32_t n_pairs = 0;
    for (uint32_t i = 0; i < n_items; i++) {
        const CclTrack *const t = &items[i].track;
        if (t->state != CCL_TRACK_LOST && t->detection == TRACK_NONE &&
            (t->state == CCL_TRACK_TENTATIVE) == stage.tentative)
            n_pairs += pair_track(match, config, stage, &items[i], i, match->pairs + n_pairs);
    }
    const CclAssignment assignment = { match->pairs, n_pairs, n_items, match->n_detections, COST_ALONE };
    ccl_assign(&assignment, match->column_of, match->workspace);
    track_match_give_columns(match, items, n_items);
}

void track_box_assign(TrackMatch *match, const CclTrackerConfig *config, TrackItem *items, uint32_t n_items)
{
    static const Stage stages[] = { { .sure = true }, { .sure = false }, { .sure = true, .tentative = true } };
    for (size_t i = 0; i < sizeof stages / sizeof *stages; i++)
        assign_stage(match, config, stages[i], items, n_items);
}
