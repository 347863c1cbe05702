/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "track.h"

#include "backend.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Noise of the motion model, relative to the size of the object (the square root of its box area), so that one setting
 * serves any resolution. */
static const double MEASUREMENT_NOISE = 0.08;  /* of the centroid of a blob, standard deviation */
static const double ACCELERATION_NOISE = 0.03; /* per frame squared */
static const double INITIAL_VELOCITY = 0.15;   /* per frame */
static const double MERGED_NOISE = 3;          /* times MEASUREMENT_NOISE, where only the outline of a group is seen */
static const double SIZE_RATE = 0.2;           /* of a new box in the smoothed box */

/* Cost of leaving a track without a detection; a pair at the edge of the gate costs about as much. */
static const double COST_NONE = 2.0;
static const double COST_TENTATIVE = 0.5;
/* Clusters of the gating graph beyond this many cells are assigned greedily. */
static const uint64_t MOST_CELLS = 1u << 20;
static const double NO_EDGE = 1e9; /* more than any sum of costs */

/* Constant-velocity Kalman filter of one coordinate: state (p, v), covariance (pp, pv, vv). */
typedef struct Axis {
    double p, v;
    double pp, pv, vv;
} Axis;

typedef struct Item {
    CclTrack track;
    Axis ax, ay;
    double ox, oy; /* box centre less centroid, smoothed */
    double w, h;   /* box, smoothed */
    uint32_t merged_frames;
    uint32_t group; /* detection it shares with others, or CCL_TRACK_NO_DETECTION */
} Item;

typedef struct Edge {
    uint32_t track, detection;
    double cost;
} Edge;

typedef struct Array {
    void *data;
    size_t size; /* bytes */
} Array;

struct CclTracker {
    CclTrackerConfig config;
    uint64_t last_id;
    Item *items;
    uint32_t n;
    CclTrack *tracks; /* what ccl_tracker_tracks() shows */
    uint32_t n_shown;
    /* Per-frame scratch, grown as needed and kept. */
    Array order, edges, owner, parent, start, members, solver, cells;
};

/* ---------------------------------------------------------------- small things */

static bool reserve(Array *array, size_t size)
{
    if (size <= array->size)
        return true;
    void *const data = realloc(array->data, size + size / 2);
    if (!data)
        return false;
    array->data = data;
    array->size = size + size / 2;
    return true;
}

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
    if (c->min_hits < 1)
        return ccl_fail(CCL_ERROR_ARGUMENT, "min_hits is at least 1");
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
    Array *const arrays[] = { &tracker->order, &tracker->edges,   &tracker->owner,  &tracker->parent,
                              &tracker->start, &tracker->members, &tracker->solver, &tracker->cells };
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
        free(arrays[i]->data);
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

/* ---------------------------------------------------------------- boxes */

static double overlap(double a0, double a1, double b0, double b1)
{
    return fmax(fmin(a1, b1) - fmax(a0, b0), 0);
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

static double item_size(const Item *item)
{
    return sqrt(item->w * item->h);
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

static void correct_axis(Axis *a, double seen, double noise)
{
    const double s = a->pp + noise * noise;
    const double kp = a->pp / s, kv = a->pv / s;
    const double innovation = seen - a->p;
    a->p += kp * innovation;
    a->v += kv * innovation;
    a->vv -= kv * a->pv;
    a->pv *= 1 - kp;
    a->pp *= 1 - kp;
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

static void predict(Item *item, double frames)
{
    const double acceleration = ACCELERATION_NOISE * item_size(item);
    predict_axis(&item->ax, frames, acceleration);
    predict_axis(&item->ay, frames, acceleration);
    place_box(item);
    item->track.flags = 0;
    item->track.detection = CCL_TRACK_NO_DETECTION;
    item->group = CCL_TRACK_NO_DETECTION;
    item->track.age++;
}

/* ---------------------------------------------------------------- gate and cost */

static double pair_cost(const CclTrackerConfig *config, const Item *item, const CclDetection *d)
{
    const CclTrack *const t = &item->track;
    if (t->type != d->type && !config->single_class)
        return NO_EDGE;
    const double noise = MEASUREMENT_NOISE * item_size(item);
    const double dx = d->x - t->x, dy = d->y - t->y;
    const double distance2 = dx * dx / (item->ax.pp + noise * noise) + dy * dy / (item->ay.pp + noise * noise);
    const double gate2 = config->max_distance * config->max_distance;
    const double both = iou(t, d);
    if (distance2 > gate2 && both < config->iou_threshold)
        return NO_EDGE;
    const double ratio = fabs(log(detection_area(d) / track_area(t)));
    const double cost = fmin(distance2 / gate2, 1) + (1 - both) + 0.25 * fmin(ratio, 2);
    return cost + (t->state == CCL_TRACK_TENTATIVE ? COST_TENTATIVE : 0);
}

static int by_x(const void *a, const void *b)
{
    const CclDetection *const *const x = a, *const *const y = b;
    return ((*x)->x0 > (*y)->x0) - ((*x)->x0 < (*y)->x0);
}

/* Pairs inside the gate. Detections sorted by their left edge keep this far from all pairs. */
static bool find_edges(CclTracker *tracker, const CclDetection *detections, uint32_t n, uint32_t *n_edges)
{
    *n_edges = 0;
    if (!reserve(&tracker->order, n * sizeof(void *)))
        return false;
    const CclDetection **const order = tracker->order.data;
    double widest = 0;
    for (uint32_t i = 0; i < n; i++) {
        order[i] = &detections[i];
        widest = fmax(widest, detections[i].x1 - detections[i].x0);
    }
    if (n)
        qsort(order, n, sizeof *order, by_x);

    for (uint32_t i = 0; i < tracker->n; i++) {
        const Item *const item = &tracker->items[i];
        const double noise = MEASUREMENT_NOISE * item_size(item);
        const double reach = tracker->config.max_distance * sqrt(item->ax.pp + noise * noise);
        const double left = fmin(item->track.x0, item->track.x - reach) - widest;
        const double right = fmax(item->track.x1, item->track.x + reach);
        uint32_t low = 0, high = n;
        while (low < high) {
            const uint32_t middle = (low + high) / 2;
            if (order[middle]->x0 < left)
                low = middle + 1;
            else
                high = middle;
        }
        for (uint32_t k = low; k < n && order[k]->x0 <= right; k++) {
            const double cost = pair_cost(&tracker->config, item, order[k]);
            if (cost >= NO_EDGE)
                continue;
            if (!reserve(&tracker->edges, (*n_edges + 1) * sizeof(Edge)))
                return false;
            ((Edge *)tracker->edges.data)[(*n_edges)++] =
                (Edge){ .track = i, .detection = (uint32_t)(order[k] - detections), .cost = cost };
        }
    }
    return true;
}

/* ---------------------------------------------------------------- assignment */

/*
 * Cheapest assignment of each of `rows` to one of `columns` (rows <= columns) of a dense matrix: shortest augmenting paths
 * with potentials, O(rows^2 columns). column_of receives the result. The scratch holds 3 * (columns + 1) + rows + 1
 * doubles' worth.
 */
static void assign(const double *cost, uint32_t rows, uint32_t columns, uint32_t *column_of, double *scratch)
{
    double *const u = scratch, *const v = u + rows + 1, *const shortest = v + columns + 1;
    uint32_t *const row_of = (uint32_t *)(shortest + columns + 1), *const way = row_of + columns + 1;
    memset(u, 0, (rows + 1) * sizeof *u);
    memset(v, 0, (columns + 1) * sizeof *v);
    memset(row_of, 0, (columns + 1) * sizeof *row_of);

    for (uint32_t i = 1; i <= rows; i++) {
        uint32_t j = 0;
        row_of[0] = i;
        for (uint32_t k = 0; k <= columns; k++)
            shortest[k] = NO_EDGE;
        /* A visited column has its shortest[] negated out of the way by NAN. */
        do {
            const uint32_t row = row_of[j];
            const double *const c = cost + (size_t)(row - 1) * columns;
            double delta = NO_EDGE;
            uint32_t next = 0;
            shortest[j] = NAN;
            for (uint32_t k = 1; k <= columns; k++) {
                if (isnan(shortest[k]))
                    continue;
                const double reduced = c[k - 1] - u[row] - v[k];
                if (reduced < shortest[k])
                    shortest[k] = reduced, way[k] = j;
                if (shortest[k] < delta)
                    delta = shortest[k], next = k;
            }
            for (uint32_t k = 0; k <= columns; k++) {
                if (isnan(shortest[k]))
                    u[row_of[k]] += delta, v[k] -= delta;
                else
                    shortest[k] -= delta;
            }
            j = next;
        } while (row_of[j]);
        while (j) {
            const uint32_t previous = way[j];
            row_of[j] = row_of[previous];
            j = previous;
        }
    }
    for (uint32_t k = 1; k <= columns; k++)
        if (row_of[k])
            column_of[row_of[k] - 1] = k - 1;
}

static uint32_t find_root(uint32_t *parent, uint32_t i)
{
    while (parent[i] != i)
        i = parent[i] = parent[parent[i]];
    return i;
}

static int by_cost(const void *a, const void *b)
{
    const Edge *const x = a, *const y = b;
    if (x->cost != y->cost)
        return x->cost < y->cost ? -1 : 1;
    if (x->track != y->track)
        return x->track < y->track ? -1 : 1;
    return (x->detection > y->detection) - (x->detection < y->detection);
}

static void match(CclTracker *tracker, uint32_t *owner, uint32_t track, uint32_t detection)
{
    tracker->items[track].track.detection = detection;
    owner[detection] = track;
}

static void assign_greedily(CclTracker *tracker, uint32_t *owner, Edge *edges, uint32_t n)
{
    qsort(edges, n, sizeof *edges, by_cost);
    for (uint32_t i = 0; i < n; i++)
        if (edges[i].cost < COST_NONE && tracker->items[edges[i].track].track.detection == CCL_TRACK_NO_DETECTION &&
            owner[edges[i].detection] == CCL_TRACK_NO_DETECTION)
            match(tracker, owner, edges[i].track, edges[i].detection);
}

/* `rank` gives tracks and detections (after the tracks) their row or column in the cluster. */
static bool assign_cluster(CclTracker *tracker, uint32_t *owner, Edge *edges, uint32_t n, uint32_t *rank, uint32_t *ids)
{
    uint32_t rows = 0, columns = 0;
    for (uint32_t i = 0; i < n; i++) {
        if (rank[edges[i].track] == UINT32_MAX)
            rank[edges[i].track] = rows++;
        if (rank[tracker->n + edges[i].detection] == UINT32_MAX)
            rank[tracker->n + edges[i].detection] = columns++;
    }
    if (n == 1 || (uint64_t)rows * (rows + columns) > MOST_CELLS) {
        assign_greedily(tracker, owner, edges, n);
        return true;
    }
    const uint32_t all = columns + rows; /* column `columns + r` leaves row r without a detection */
    if (!reserve(&tracker->cells, (size_t)rows * all * sizeof(double)) ||
        !reserve(&tracker->solver, ((size_t)rows + 1 + 3 * ((size_t)all + 1)) * sizeof(double) + rows * sizeof(uint32_t)))
        return false;
    double *const cells = tracker->cells.data, *const scratch = tracker->solver.data;
    uint32_t *const column_of = (uint32_t *)(scratch + rows + 1 + 3 * ((size_t)all + 1));

    for (size_t i = 0; i < (size_t)rows * all; i++)
        cells[i] = NO_EDGE;
    for (uint32_t r = 0; r < rows; r++)
        cells[(size_t)r * all + columns + r] = COST_NONE;
    for (uint32_t i = 0; i < n; i++) {
        cells[(size_t)rank[edges[i].track] * all + rank[tracker->n + edges[i].detection]] = edges[i].cost;
        ids[rank[edges[i].track]] = edges[i].track;
        ids[rows + rank[tracker->n + edges[i].detection]] = edges[i].detection;
    }
    assign(cells, rows, all, column_of, scratch);
    for (uint32_t r = 0; r < rows; r++)
        if (column_of[r] < columns)
            match(tracker, owner, ids[r], ids[rows + column_of[r]]);
    return true;
}

/* Splits the gating graph into its connected parts and solves each alone. */
static bool assign_all(CclTracker *tracker, uint32_t *owner, uint32_t n_detections, uint32_t n_edges)
{
    const uint32_t nodes = tracker->n + n_detections;
    if (!reserve(&tracker->parent, (size_t)nodes * sizeof(uint32_t)) ||
        !reserve(&tracker->start, ((size_t)nodes + 1) * sizeof(uint32_t)) ||
        !reserve(&tracker->members, (size_t)n_edges * sizeof(Edge) + 2 * (size_t)nodes * sizeof(uint32_t)))
        return false;
    uint32_t *const parent = tracker->parent.data, *const start = tracker->start.data;
    const Edge *const edges = tracker->edges.data;
    Edge *const sorted = tracker->members.data;
    uint32_t *const rank = (uint32_t *)(sorted + n_edges), *const ids = rank + nodes;

    for (uint32_t i = 0; i < nodes; i++)
        parent[i] = i, rank[i] = UINT32_MAX;
    for (uint32_t i = 0; i < n_edges; i++) {
        const uint32_t a = find_root(parent, edges[i].track);
        const uint32_t b = find_root(parent, tracker->n + edges[i].detection);
        parent[a > b ? a : b] = a > b ? b : a;
    }
    /* Counting sort of the edges by cluster. */
    memset(start, 0, (nodes + 1) * sizeof *start);
    for (uint32_t i = 0; i < n_edges; i++)
        start[find_root(parent, edges[i].track) + 1]++;
    for (uint32_t i = 0; i < nodes; i++)
        start[i + 1] += start[i];
    for (uint32_t i = 0; i < n_edges; i++)
        sorted[start[find_root(parent, edges[i].track)]++] = edges[i];
    for (uint32_t i = 0, begin = 0; i < nodes; begin = start[i++])
        if (start[i] > begin && !assign_cluster(tracker, owner, sorted + begin, start[i] - begin, rank, ids))
            return false;
    return true;
}

/* ---------------------------------------------------------------- what only blobs do */

/* A confirmed track that found no blob of its own, but stands inside one: it has merged with others. */
static uint32_t enclosing(const Item *item, const CclDetection *detections, uint32_t n)
{
    const CclTrack *const t = &item->track;
    uint32_t best = CCL_TRACK_NO_DETECTION;
    double most = 0.5 * track_area(t);
    for (uint32_t i = 0; i < n; i++) {
        const double both = intersection(t, &detections[i]);
        if (both > most && detection_area(&detections[i]) > 0.8 * track_area(t))
            most = both, best = i;
    }
    return best;
}

static void join_groups(CclTracker *tracker, const CclDetection *detections, uint32_t n, const uint32_t *owner)
{
    for (uint32_t i = 0; i < tracker->n; i++) {
        Item *const item = &tracker->items[i];
        if (item->track.detection != CCL_TRACK_NO_DETECTION || item->track.state == CCL_TRACK_TENTATIVE)
            continue;
        const uint32_t d = enclosing(item, detections, n);
        if (d == CCL_TRACK_NO_DETECTION)
            continue;
        if (owner[d] != CCL_TRACK_NO_DETECTION) {
            Item *const other = &tracker->items[owner[d]];
            /* A blob no larger than its owner hides nobody: this track is behind it, or a ghost of it. */
            if (detection_area(&detections[d]) < 1.2 * other->w * other->h)
                continue;
            if (other->track.state != CCL_TRACK_TENTATIVE)
                other->group = d;
        }
        item->group = d;
    }
}

/* Moves [p0, p1) the least way into [d0, d1), or onto its middle when it is too long. */
static double shift_into(double p0, double p1, double d0, double d1)
{
    if (p1 - p0 >= d1 - d0)
        return (d0 + d1 - p0 - p1) / 2;
    return p0 < d0 ? d0 - p0 : p1 > d1 ? d1 - p1 : 0;
}

static void follow_group(Item *item, const CclDetection *d)
{
    const double noise = MERGED_NOISE * MEASUREMENT_NOISE * item_size(item);
    const CclTrack *const t = &item->track;
    correct_axis(&item->ax, t->x + shift_into(t->x0, t->x1, d->x0, d->x1), noise);
    correct_axis(&item->ay, t->y + shift_into(t->y0, t->y1, d->y0, d->y1), noise);
    place_box(item);
    item->track.detection = item->group;
    item->track.flags |= CCL_TRACK_MERGED;
    item->track.state = CCL_TRACK_PREDICTED;
    item->merged_frames++;
}

static CclDetection joined(const CclDetection *a, const CclDetection *b)
{
    const double m = detection_area(a), n = detection_area(b), s = m + n;
    CclDetection d = *a;
    d.x0 = fmin(a->x0, b->x0), d.y0 = fmin(a->y0, b->y0);
    d.x1 = fmax(a->x1, b->x1), d.y1 = fmax(a->y1, b->y1);
    d.x = (m * a->x + n * b->x) / s, d.y = (m * a->y + n * b->y) / s;
    const double ax = a->x - d.x, ay = a->y - d.y, bx = b->x - d.x, by = b->y - d.y;
    d.xx = (m * (a->xx + ax * ax) + n * (b->xx + bx * bx)) / s;
    d.xy = (m * (a->xy + ax * ay) + n * (b->xy + bx * by)) / s;
    d.yy = (m * (a->yy + ay * ay) + n * (b->yy + by * by)) / s;
    return d;
}

/* A blob nobody owns, inside the place of a track that has one: a part of it, when both together fit the track better. */
static uint32_t whole_of(const CclTracker *tracker, const CclDetection *seen, const CclDetection *part)
{
    uint32_t best = CCL_TRACK_NO_DETECTION;
    double most = 0;
    for (uint32_t i = 0; i < tracker->n; i++) {
        const Item *const item = &tracker->items[i];
        const CclTrack *const t = &item->track;
        if (t->detection == CCL_TRACK_NO_DETECTION || t->state == CCL_TRACK_TENTATIVE ||
            item->group != CCL_TRACK_NO_DETECTION || intersection(t, part) < 0.5 * detection_area(part))
            continue;
        const CclDetection both = joined(&seen[i], part);
        const double gain = iou(t, &both) - iou(t, &seen[i]);
        if (gain > most)
            most = gain, best = i;
    }
    return best;
}

/* ---------------------------------------------------------------- life */

static void see(Item *item, const CclDetection *d)
{
    CclTrack *const t = &item->track;
    const double noise = MEASUREMENT_NOISE * item_size(item);
    correct_axis(&item->ax, d->x, noise);
    correct_axis(&item->ay, d->y, noise);
    const double rate = fmax(SIZE_RATE, 1.0 / (t->hits + 1));
    item->w += rate * (d->x1 - d->x0 - item->w);
    item->h += rate * (d->y1 - d->y0 - item->h);
    item->ox += rate * ((d->x0 + d->x1) / 2 - d->x - item->ox);
    item->oy += rate * ((d->y0 + d->y1) / 2 - d->y - item->oy);
    place_box(item);
    t->xx += rate * (d->xx - t->xx);
    t->xy += rate * (d->xy - t->xy);
    t->yy += rate * (d->yy - t->yy);
    t->x0 = d->x0, t->y0 = d->y0, t->x1 = d->x1, t->y1 = d->y1;
    t->hits++;
    t->misses = 0;
    item->merged_frames = 0;
}

static void begin(CclTracker *tracker, const CclDetection *d, uint32_t index)
{
    if (tracker->n == tracker->config.max_tracks)
        return;
    Item *const item = &tracker->items[tracker->n++];
    *item = (Item){ .w = d->x1 - d->x0, .h = d->y1 - d->y0, .group = CCL_TRACK_NO_DETECTION };
    const double noise = MEASUREMENT_NOISE * item_size(item), speed = INITIAL_VELOCITY * item_size(item);
    item->ax = (Axis){ .p = d->x, .pp = noise * noise, .vv = speed * speed };
    item->ay = (Axis){ .p = d->y, .pp = noise * noise, .vv = speed * speed };
    item->ox = (d->x0 + d->x1) / 2 - d->x;
    item->oy = (d->y0 + d->y1) / 2 - d->y;
    item->track = (CclTrack){ .id = ++tracker->last_id, .detection = index, .type = d->type, .age = 1, .hits = 1,
                              .xx = d->xx, .xy = d->xy, .yy = d->yy };
    item->track.state = tracker->config.min_hits > 1 ? CCL_TRACK_TENTATIVE : CCL_TRACK_CONFIRMED;
    place_box(item);
}

/* The confirmed track out of whose place a new blob came. */
static uint64_t parent_of(const CclTracker *tracker, const CclDetection *d)
{
    uint64_t parent = 0;
    double most = 0.5 * detection_area(d);
    for (uint32_t i = 0; i < tracker->n; i++) {
        const CclTrack *const t = &tracker->items[i].track;
        const double both = intersection(t, d);
        if (t->state != CCL_TRACK_TENTATIVE && both > most)
            most = both, parent = t->id;
    }
    return parent;
}

static void miss(CclTracker *tracker, Item *item, uint32_t frames)
{
    CclTrack *const t = &item->track;
    t->misses += frames;
    if (t->state == CCL_TRACK_TENTATIVE || t->misses > tracker->config.max_age)
        t->state = CCL_TRACK_LOST;
    else
        t->state = CCL_TRACK_PREDICTED;
}

static void update_tracks(CclTracker *tracker, const CclDetection *seen, const CclDetection *detections, uint32_t frames)
{
    for (uint32_t i = 0; i < tracker->n; i++) {
        Item *const item = &tracker->items[i];
        if (item->group != CCL_TRACK_NO_DETECTION) {
            follow_group(item, &detections[item->group]);
            if (item->merged_frames > 10 * tracker->config.max_age)
                item->track.state = CCL_TRACK_LOST;
        } else if (item->track.detection != CCL_TRACK_NO_DETECTION) {
            see(item, &seen[i]);
            if (item->track.state != CCL_TRACK_TENTATIVE || item->track.hits >= tracker->config.min_hits)
                item->track.state = CCL_TRACK_CONFIRMED;
        } else {
            miss(tracker, item, frames);
        }
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

CclStatus ccl_tracker_update(CclTracker *tracker, const CclDetection *detections, uint32_t n, double frames,
                             uint64_t *track_of)
{
    uint32_t n_edges;

    bury(tracker);
    for (uint32_t i = 0; i < tracker->n; i++)
        predict(&tracker->items[i], frames);

    const uint32_t n_before = tracker->n;
    const size_t owner_size = ((size_t)n * sizeof(uint32_t) + 15) / 16 * 16;
    if (!reserve(&tracker->owner, owner_size + n_before * sizeof(CclDetection)))
        return ccl_fail(CCL_ERROR_OUT_OF_MEMORY, "no memory to track %u detections", n);
    uint32_t *const owner = tracker->owner.data;
    CclDetection *const seen = (CclDetection *)((uint8_t *)tracker->owner.data + owner_size);
    for (uint32_t i = 0; i < n; i++)
        owner[i] = CCL_TRACK_NO_DETECTION;

    if (!find_edges(tracker, detections, n, &n_edges) || !assign_all(tracker, owner, n, n_edges))
        return ccl_fail(CCL_ERROR_OUT_OF_MEMORY, "no memory to track %u detections", n);
    for (uint32_t i = 0; i < n_before; i++)
        if (tracker->items[i].track.detection != CCL_TRACK_NO_DETECTION)
            seen[i] = detections[tracker->items[i].track.detection];

    if (tracker->config.merge_split) {
        join_groups(tracker, detections, n, owner);
        for (uint32_t i = 0; i < n_before; i++)
            if (tracker->items[i].group != CCL_TRACK_NO_DETECTION && owner[tracker->items[i].group] == CCL_TRACK_NO_DETECTION)
                owner[tracker->items[i].group] = i;
        for (uint32_t i = 0; i < n; i++) {
            if (owner[i] != CCL_TRACK_NO_DETECTION)
                continue;
            const uint32_t whole = whole_of(tracker, seen, &detections[i]);
            if (whole == CCL_TRACK_NO_DETECTION)
                continue;
            seen[whole] = joined(&seen[whole], &detections[i]);
            owner[i] = whole;
        }
    }
    update_tracks(tracker, seen, detections, frames >= 1 ? (uint32_t)(frames + 0.5) : 1);
    for (uint32_t i = 0; i < n; i++) {
        uint64_t id = 0;
        if (owner[i] != CCL_TRACK_NO_DETECTION) {
            id = tracker->items[owner[i]].track.id;
        } else {
            const uint64_t parent = tracker->config.merge_split ? parent_of(tracker, &detections[i]) : 0;
            const uint32_t last = tracker->n;
            begin(tracker, &detections[i], i);
            if (tracker->n > last) {
                tracker->items[last].track.parent_id = parent;
                tracker->items[last].track.flags = parent ? CCL_TRACK_SPLIT : 0;
                id = tracker->items[last].track.id;
            }
        }
        if (track_of)
            track_of[i] = id;
    }
    show(tracker);
    return CCL_OK;
}
