/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "zone.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../status.h"

/* What is known of an object. Bit i of a set is zone i. */
typedef struct Object {
    uint64_t id;
    double x, y;   /* position when it was last seen */
    double area;   /* measured last */
    double margin; /* the last one */
    uint32_t class_number; /* known last, + 1; 0: none */
    uint64_t last_seen;
    uint32_t inside;   /* polygons that it has entered */
    uint32_t dwelt;    /* polygons whose dwell event was reported in this stay */
    uint32_t changing; /* zones on whose other side it is, for less than the minimum time */
    uint64_t entered[CCL_MAX_ZONES];
    double entered_at[CCL_MAX_ZONES][2];
    uint64_t changed[CCL_MAX_ZONES]; /* of `changing`: when it was first there */
    int8_t crossed[CCL_MAX_ZONES];   /* lines: crossings since it was last outside the band, forward less backward */
} Object;

struct CclZoneWatch {
    CclZoneReport report;
    void *data;
    CclZone zones[CCL_MAX_ZONES];
    unsigned n_zones;
    Object *objects; /* by id */
    size_t n_objects, capacity;
    uint64_t now; /* time of the last frame */
};

/* ---------------------------------------------------------------- geometry */

bool ccl_polygon_contains(const double *points, unsigned n_points, double x, double y)
{
    bool inside = false;

    /* A ray to the right crosses the outline an odd number of times. */
    for (unsigned i = 0, j = n_points - 1; i < n_points; j = i++) {
        const double xi = points[2 * i], yi = points[2 * i + 1], xj = points[2 * j], yj = points[2 * j + 1];

        if ((yi > y) != (yj > y) && x < (xj - xi) * (y - yi) / (yj - yi) + xi)
            inside = !inside;
    }
    return inside;
}

/* The side of the way from a to b on which p is: negative left, positive right (y points down). */
static double side(const double *a, const double *b, const double *p)
{
    return (b[0] - a[0]) * (p[1] - a[1]) - (b[1] - a[1]) * (p[0] - a[0]);
}

int ccl_line_crossed(const double *points, double x0, double y0, double x1, double y1)
{
    const double from[2] = { x0, y0 }, to[2] = { x1, y1 };
    const double *const first = points, *const second = points + 2;
    const bool from_right = side(first, second, from) >= 0, to_right = side(first, second, to) >= 0;
    const bool first_right = side(from, to, first) >= 0, second_right = side(from, to, second) >= 0;

    if (from_right == to_right || first_right == second_right)
        return 0;
    return to_right ? 1 : -1;
}

static double segment_distance(const double *a, const double *b, double x, double y)
{
    const double dx = b[0] - a[0], dy = b[1] - a[1], length2 = dx * dx + dy * dy;
    double t = length2 > 0 ? ((x - a[0]) * dx + (y - a[1]) * dy) / length2 : 0;

    t = t < 0 ? 0 : t > 1 ? 1 : t;
    return hypot(x - a[0] - t * dx, y - a[1] - t * dy);
}

double ccl_outline_distance(const double *points, unsigned n_points, double x, double y)
{
    double distance = INFINITY;

    for (unsigned i = 0, j = n_points - 1; i < n_points; j = i++)
        distance = fmin(distance, segment_distance(points + 2 * j, points + 2 * i, x, y));
    return distance;
}

double ccl_polygon_area(const double *points, unsigned n_points)
{
    double sum = 0;

    for (unsigned i = 0, j = n_points - 1; i < n_points; j = i++)
        sum += points[2 * j] * points[2 * i + 1] - points[2 * i] * points[2 * j + 1];
    return fabs(sum) / 2;
}

/* The sum of both extents, which bounds the length. */
static double extent(const double *a, const double *b)
{
    return fabs(b[0] - a[0]) + fabs(b[1] - a[1]);
}

/* Do the ways from a to b and from c to d cross? A touch within rounding is none. */
static bool ways_cross(const double *a, const double *b, const double *c, const double *d)
{
    const double min = 1e-9 * extent(a, b) * extent(c, d);
    const double c_side = side(a, b, c), d_side = side(a, b, d), a_side = side(c, d, a), b_side = side(c, d, b);

    return ((c_side < -min && d_side > min) || (d_side < -min && c_side > min)) &&
           ((a_side < -min && b_side > min) || (b_side < -min && a_side > min));
}

bool ccl_polygon_crosses_itself(const double *points, unsigned n_points, unsigned edges[2])
{
    for (unsigned i = 0; i < n_points; i++)
        for (unsigned j = i + 2; j < n_points; j++)
            if (ways_cross(&points[2 * i], &points[2 * (i + 1)], &points[2 * j], &points[2 * ((j + 1) % n_points)])) {
                edges[0] = i;
                edges[1] = j;
                return true;
            }
    return false;
}

/* ---------------------------------------------------------------- objects */

CclZoneWatch *ccl_zone_watch_new(CclZoneReport report, void *data)
{
    CclZoneWatch *const watch = calloc(1, sizeof *watch);

    if (watch) {
        watch->report = report;
        watch->data = data;
    }
    return watch;
}

void ccl_zone_watch_free(CclZoneWatch *watch)
{
    if (!watch)
        return;
    free(watch->objects);
    free(watch);
}

void ccl_zone_watch_forget(CclZoneWatch *watch)
{
    watch->n_objects = 0;
}

/* The place of an id among the objects: of the first that is not smaller. */
static size_t place_of(const CclZoneWatch *watch, uint64_t id)
{
    size_t low = 0, high = watch->n_objects;

    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (watch->objects[middle].id < id)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

uint32_t ccl_zone_watch_inside(const CclZoneWatch *watch, uint64_t id)
{
    const size_t place = place_of(watch, id);

    return place < watch->n_objects && watch->objects[place].id == id ? watch->objects[place].inside : 0;
}

static bool grow(CclZoneWatch *watch)
{
    const size_t capacity = watch->capacity ? 2 * watch->capacity : 16;
    Object *const objects = realloc(watch->objects, capacity * sizeof *objects);

    if (!objects)
        return false;
    watch->objects = objects;
    watch->capacity = capacity;
    return true;
}

/* Finds the object, or makes it. NULL without memory. */
static Object *find_object(CclZoneWatch *watch, uint64_t id, bool *is_new)
{
    const size_t place = place_of(watch, id);

    *is_new = place == watch->n_objects || watch->objects[place].id != id;
    if (!*is_new)
        return &watch->objects[place];
    if (watch->n_objects == watch->capacity && !grow(watch))
        return NULL;
    memmove(&watch->objects[place + 1], &watch->objects[place], (watch->n_objects - place) * sizeof *watch->objects);
    watch->n_objects++;
    watch->objects[place] = (Object){ .id = id };
    return &watch->objects[place];
}

/* ---------------------------------------------------------------- zones */

static void renumber(Object *object, const int *was, unsigned n)
{
    const Object before = *object;

    object->inside = object->dwelt = object->changing = 0;
    memset(object->crossed, 0, sizeof object->crossed);
    for (unsigned i = 0; was && i < n; i++) {
        if (was[i] < 0)
            continue;
        object->inside |= (before.inside >> was[i] & 1) << i;
        object->dwelt |= (before.dwelt >> was[i] & 1) << i;
        object->entered[i] = before.entered[was[i]];
        memcpy(object->entered_at[i], before.entered_at[was[i]], sizeof object->entered_at[i]);
        object->crossed[i] = before.crossed[was[i]];
    }
}

void ccl_zone_watch_set(CclZoneWatch *watch, const CclZone *zones, unsigned n, const int *was)
{
    for (size_t i = 0; i < watch->n_objects; i++)
        renumber(&watch->objects[i], was, n);
    memcpy(watch->zones, zones, n * sizeof *zones);
    watch->n_zones = n;
}

void ccl_zone_watch_scale(CclZoneWatch *watch, double x, double y)
{
    for (size_t i = 0; i < watch->n_objects; i++) {
        watch->objects[i].x *= x;
        watch->objects[i].y *= y;
        watch->objects[i].area *= x * y;
        watch->objects[i].margin *= y;
        for (unsigned k = 0; k < CCL_MAX_ZONES; k++) {
            watch->objects[i].entered_at[k][0] *= x;
            watch->objects[i].entered_at[k][1] *= y;
        }
    }
}

/* ---------------------------------------------------------------- rules */

static void report(CclZoneWatch *watch, const Object *object, CclZoneEvent event)
{
    event.id = object->id;
    event.x = object->x;
    event.y = object->y;
    watch->report(watch->data, &event);
}

/* Times are compared by their difference, so that they may be before 0 after a jump of the clock. */
static bool has_passed(uint64_t since, uint64_t until, uint64_t time)
{
    return (int64_t)(until - since) >= 0 && until - since >= time;
}

/* A clock that goes back: all times move with it, so that stays are as long as they were. */
static void keep_time(CclZoneWatch *watch, uint64_t now)
{
    if (now < watch->now)
        for (size_t k = 0; k < watch->n_objects; k++) {
            Object *const object = &watch->objects[k];
            object->last_seen -= watch->now - now;
            for (unsigned i = 0; i < CCL_MAX_ZONES; i++) {
                object->entered[i] -= watch->now - now;
                object->changed[i] -= watch->now - now;
            }
        }
    watch->now = now;
}

/* By the angle between the way in the zone and its direction, at most 60 degrees; a way within the band is none. */
static int direction_of_stay(const CclZone *zone, const Object *object, unsigned i)
{
    const double x = object->x - object->entered_at[i][0], y = object->y - object->entered_at[i][1];
    const double along = x * zone->direction[0] + y * zone->direction[1], way = hypot(x, y);
    if (way <= 2 * object->margin || fabs(along) < way * hypot(zone->direction[0], zone->direction[1]) / 2)
        return 0;
    return along > 0 ? 1 : along < 0 ? -1 : 0;
}

static void report_stay(CclZoneWatch *watch, const Object *object, unsigned i, CclZoneEventKind kind, uint64_t until)
{
    report(watch, object, (CclZoneEvent){ .kind = kind, .zone = i, .duration = until - object->entered[i],
                                          .direction = direction_of_stay(&watch->zones[i], object, i) });
}

static void enter(CclZoneWatch *watch, Object *object, unsigned i, uint64_t since)
{
    object->inside |= 1u << i;
    object->dwelt &= ~(1u << i);
    object->entered[i] = since;
    object->entered_at[i][0] = object->x;
    object->entered_at[i][1] = object->y;
    report(watch, object, (CclZoneEvent){ .kind = CCL_ZONE_ENTER, .zone = i, .duration = CCL_ZONE_NO_TIME });
}

static void leave(CclZoneWatch *watch, Object *object, unsigned i, uint64_t until)
{
    object->inside &= ~(1u << i);
    report_stay(watch, object, i, CCL_ZONE_LEAVE, until);
}

/* Is the object on the other side of zone i for its minimum time? */
static bool has_changed(const CclZoneWatch *watch, Object *object, unsigned i, bool is_on_other_side)
{
    if (!is_on_other_side) {
        object->changing &= ~(1u << i);
        return false;
    }
    if (!(object->changing >> i & 1)) {
        object->changing |= 1u << i;
        object->changed[i] = object->last_seen;
    }
    if (!has_passed(object->changed[i], object->last_seen, watch->zones[i].min_time))
        return false;
    object->changing &= ~(1u << i);
    return true;
}

/* The shape of a zone matters in these two functions only. */
static bool area_contains(const CclZone *zone, double x, double y)
{
    return ccl_polygon_contains(zone->points, zone->n_points, x, y);
}

static double outline_distance(const CclZone *zone, double x, double y)
{
    return ccl_outline_distance(zone->points, zone->n_points, x, y);
}

bool ccl_zone_counts(const CclZone *zone, double area, uint32_t class_number)
{
    if (area < zone->min_area)
        return false;
    for (unsigned i = 0; i < zone->n_classes; i++)
        if (class_number == zone->classes[i] + 1u)
            return true;
    return zone->n_classes == 0;
}

static bool counts(const CclZone *zone, const Object *object)
{
    return ccl_zone_counts(zone, object->area, object->class_number);
}

static void check_area(CclZoneWatch *watch, Object *object, unsigned i, double margin, bool is_new)
{
    const CclZone *const zone = &watch->zones[i];
    const bool was_inside = object->inside >> i & 1;
    bool is_inside = counts(zone, object) && area_contains(zone, object->x, object->y);

    /* Within the band it stays where it was; an object that appears there is where it is. */
    if (is_inside != was_inside && !is_new && margin > 0 && counts(zone, object) &&
        outline_distance(zone, object->x, object->y) < margin)
        is_inside = was_inside;
    if (has_changed(watch, object, i, is_inside != was_inside)) {
        if (is_inside)
            enter(watch, object, i, object->changed[i]);
        else
            leave(watch, object, i, object->changed[i]);
    }
    if (object->inside >> i & 1 && is_inside && zone->dwell != CCL_ZONE_NO_TIME && !(object->dwelt >> i & 1) &&
        has_passed(object->entered[i], object->last_seen, zone->dwell)) {
        object->dwelt |= 1u << i;
        report_stay(watch, object, i, CCL_ZONE_DWELL, object->last_seen);
    }
}

static void report_crossing(CclZoneWatch *watch, Object *object, unsigned zone)
{
    const int direction = object->crossed[zone];

    object->crossed[zone] = 0;
    if (direction)
        report(watch, object, (CclZoneEvent){ .kind = CCL_ZONE_CROSS, .zone = zone, .direction = direction > 0 ? 1 : -1,
                                              .duration = CCL_ZONE_NO_TIME });
}

/* Crossings forth and back within the band cancel out; the rest counts once the object is outside it. */
static void check_line(CclZoneWatch *watch, Object *object, unsigned i, const double *from, double margin)
{
    const CclZone *const zone = &watch->zones[i];

    if (!counts(zone, object))
        return;
    object->crossed[i] = (int8_t)(object->crossed[i] + ccl_line_crossed(zone->points, from[0], from[1], object->x, object->y));
    if (has_changed(watch, object, i, object->crossed[i] && outline_distance(zone, object->x, object->y) >= margin))
        report_crossing(watch, object, i);
}

CclStatus ccl_zone_watch_see(CclZoneWatch *watch, const CclZonePosition *position, uint64_t now)
{
    keep_time(watch, now);
    bool is_new;
    Object *const object = find_object(watch, position->id, &is_new);

    if (!object)
        return ccl_fail(CCL_ERROR_OUT_OF_MEMORY, "no memory to follow another object in zones");
    const double from[2] = { object->x, object->y };
    object->x = position->x;
    object->y = position->y;
    object->last_seen = now;
    object->margin = position->margin;
    if (position->area > 0)
        object->area = position->area;
    if (position->class_number)
        object->class_number = position->class_number;
    for (unsigned i = 0; i < watch->n_zones; i++) {
        if (watch->zones[i].kind == CCL_ZONE_POLYGON)
            check_area(watch, object, i, position->margin, is_new);
        else if (!is_new)
            check_line(watch, object, i, from, position->margin);
    }
    return CCL_OK;
}

/* An object that is out of sight has left. On the other side of a line it has crossed it, if it was there long enough. */
static void end_object(CclZoneWatch *watch, Object *object)
{
    for (unsigned i = 0; i < watch->n_zones; i++) {
        const bool is_changing = object->changing >> i & 1;
        if (object->inside >> i & 1)
            leave(watch, object, i, is_changing ? object->changed[i] : object->last_seen);
        if (watch->zones[i].kind == CCL_ZONE_LINE &&
            (watch->zones[i].min_time == 0 ||
             (is_changing && has_passed(object->changed[i], object->last_seen, watch->zones[i].min_time))))
            report_crossing(watch, object, i);
    }
}

void ccl_zone_watch_end_frame(CclZoneWatch *watch, uint64_t now, uint64_t timeout)
{
    size_t n_kept = 0;

    keep_time(watch, now);
    for (size_t k = 0; k < watch->n_objects; k++) {
        if (now - watch->objects[k].last_seen <= timeout)
            watch->objects[n_kept++] = watch->objects[k];
        else
            end_object(watch, &watch->objects[k]);
    }
    watch->n_objects = n_kept;
}
