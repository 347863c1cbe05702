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
    double x, y;        /* position when it was last seen */
    double area;        /* measured last */
    uint64_t last_seen;
    uint32_t inside;    /* polygons that it has entered */
    uint32_t dwelt;     /* polygons whose dwell event was reported in this stay */
    uint64_t entered[CCL_MAX_ZONES];
    int8_t crossed[CCL_MAX_ZONES]; /* lines: crossings since it was last outside the band, forward less backward */
} Object;

struct CclZoneWatch {
    CclZoneReport report;
    void *data;
    CclZone zones[CCL_MAX_ZONES];
    unsigned n_zones;
    Object *objects; /* by id */
    size_t n_objects, capacity;
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

    object->inside = object->dwelt = 0;
    memset(object->crossed, 0, sizeof object->crossed);
    for (unsigned i = 0; was && i < n; i++) {
        if (was[i] < 0)
            continue;
        object->inside |= (before.inside >> was[i] & 1) << i;
        object->dwelt |= (before.dwelt >> was[i] & 1) << i;
        object->entered[i] = before.entered[was[i]];
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

/* A clock that jumps back gives no negative stay. */
static uint64_t stay(const Object *object, unsigned zone)
{
    return object->last_seen > object->entered[zone] ? object->last_seen - object->entered[zone] : 0;
}

static void enter(CclZoneWatch *watch, Object *object, unsigned zone)
{
    object->inside |= 1u << zone;
    object->dwelt &= ~(1u << zone);
    object->entered[zone] = object->last_seen;
    report(watch, object, (CclZoneEvent){ .kind = CCL_ZONE_ENTER, .zone = zone, .duration = CCL_ZONE_NO_TIME });
}

static void leave(CclZoneWatch *watch, Object *object, unsigned zone)
{
    object->inside &= ~(1u << zone);
    report(watch, object, (CclZoneEvent){ .kind = CCL_ZONE_LEAVE, .zone = zone, .duration = stay(object, zone) });
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

static void check_area(CclZoneWatch *watch, Object *object, unsigned i, double margin, bool is_new)
{
    const CclZone *const zone = &watch->zones[i];
    const bool was_inside = object->inside >> i & 1;
    bool is_inside = object->area >= zone->min_area && area_contains(zone, object->x, object->y);

    /* Within the band it stays where it was; an object that appears there is where it is. */
    if (is_inside != was_inside && !is_new && margin > 0 && object->area >= zone->min_area &&
        outline_distance(zone, object->x, object->y) < margin)
        is_inside = was_inside;
    if (is_inside && !was_inside)
        enter(watch, object, i);
    else if (!is_inside && was_inside)
        leave(watch, object, i);
    if (is_inside && zone->dwell != CCL_ZONE_NO_TIME && !(object->dwelt >> i & 1) && stay(object, i) >= zone->dwell) {
        object->dwelt |= 1u << i;
        report(watch, object, (CclZoneEvent){ .kind = CCL_ZONE_DWELL, .zone = i, .duration = stay(object, i) });
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

    if (object->area < zone->min_area)
        return;
    object->crossed[i] = (int8_t)(object->crossed[i] + ccl_line_crossed(zone->points, from[0], from[1], object->x, object->y));
    if (object->crossed[i] && outline_distance(zone, object->x, object->y) >= margin)
        report_crossing(watch, object, i);
}

CclStatus ccl_zone_watch_see(CclZoneWatch *watch, const CclZonePosition *position, uint64_t now)
{
    bool is_new;
    Object *const object = find_object(watch, position->id, &is_new);

    if (!object)
        return ccl_fail(CCL_ERROR_OUT_OF_MEMORY, "no memory to follow %zu objects in zones", watch->n_objects + 1);
    const double from[2] = { object->x, object->y };
    object->x = position->x;
    object->y = position->y;
    object->last_seen = now;
    if (position->area > 0)
        object->area = position->area;
    for (unsigned i = 0; i < watch->n_zones; i++) {
        if (watch->zones[i].kind == CCL_ZONE_POLYGON)
            check_area(watch, object, i, position->margin, is_new);
        else if (!is_new)
            check_line(watch, object, i, from, position->margin);
    }
    return CCL_OK;
}

void ccl_zone_watch_end_frame(CclZoneWatch *watch, uint64_t now, uint64_t linger)
{
    size_t n_kept = 0;

    for (size_t k = 0; k < watch->n_objects; k++) {
        Object *const object = &watch->objects[k];

        /* Time that went backwards says nothing about the stay. */
        if (object->last_seen > now)
            object->last_seen = now;
        if (now - object->last_seen <= linger) {
            watch->objects[n_kept++] = *object;
            continue;
        }
        for (unsigned i = 0; i < watch->n_zones; i++) {
            if (object->inside >> i & 1)
                leave(watch, object, i);
            if (watch->zones[i].kind == CCL_ZONE_LINE)
                report_crossing(watch, object, i);
        }
    }
    watch->n_objects = n_kept;
}
