/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * The rules of zones (kernels/analysis/zone.h) without a pipeline: geometry against slow formulas, and scenes whose events are
 * known. Each scene of a fault has a control, in which the same object must be counted.
 */
#include "analysis/zone.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static unsigned n_checks, n_failures;

#define CHECK(condition, ...)                             \
    do {                                                  \
        n_checks++;                                       \
        if (!(condition)) {                               \
            n_failures++;                                 \
            printf("FAILED %s:%d: ", __func__, __LINE__); \
            printf(__VA_ARGS__);                          \
            printf("\n");                                 \
        }                                                 \
    } while (0)

#define SECOND 1000000000ull
#define FRAME (SECOND / 10)

static const double LINE[] = { 160, 0, 160, 240 };
static const double ROOM[] = { 100, 50, 200, 50, 200, 150, 100, 150 };
static const CclZone GATE = { .kind = CCL_ZONE_LINE, .n_points = 2, .points = LINE, .dwell = CCL_ZONE_NO_TIME };
static const CclZone HALL = { .kind = CCL_ZONE_POLYGON, .n_points = 4, .points = ROOM, .dwell = CCL_ZONE_NO_TIME };

/* The events of a scene. */
typedef struct Counts {
    int forward, backward, entered, left, dwelt;
    uint64_t duration; /* of the last leave or dwell */
    int direction;     /* of the same */
} Counts;

static void count(void *data, const CclZoneEvent *event)
{
    Counts *const counts = data;

    counts->forward += event->kind == CCL_ZONE_CROSS && event->direction == 1;
    counts->backward += event->kind == CCL_ZONE_CROSS && event->direction == -1;
    counts->entered += event->kind == CCL_ZONE_ENTER;
    counts->left += event->kind == CCL_ZONE_LEAVE;
    counts->dwelt += event->kind == CCL_ZONE_DWELL;
    if (event->kind == CCL_ZONE_LEAVE || event->kind == CCL_ZONE_DWELL)
        counts->duration = event->duration, counts->direction = event->direction;
}

/* An object at each of the x, at y 100, a frame apart; nothing at negative ones. */
static Counts walk(const CclZone *zone, const double *x, unsigned n, double margin)
{
    Counts counts = { 0 };
    CclZoneWatch *const watch = ccl_zone_watch_new(count, &counts);

    ccl_zone_watch_set(watch, zone, 1, NULL);
    for (unsigned i = 0; i < n; i++) {
        const CclZonePosition position = { .id = 7, .x = x[i], .y = 100, .area = 100, .margin = margin };
        if (x[i] >= 0)
            ccl_zone_watch_see(watch, &position, i * FRAME);
        ccl_zone_watch_end_frame(watch, i * FRAME, SECOND);
    }
    ccl_zone_watch_free(watch);
    return counts;
}

#define WALK(zone, margin, ...) \
    walk(zone, (const double[]){ __VA_ARGS__ }, sizeof((const double[]){ __VA_ARGS__ }) / sizeof(double), margin)

/* ---------------------------------------------------------------- geometry */

static void check_geometry(void)
{
    CHECK(ccl_polygon_contains(ROOM, 4, 150, 100) && !ccl_polygon_contains(ROOM, 4, 250, 100), "room");
    CHECK(fabs(ccl_outline_distance(ROOM, 4, 150, 60) - 10) < 1e-9, "inside, 10 from the upper edge");
    CHECK(fabs(ccl_outline_distance(ROOM, 4, 97, 46) - 5) < 1e-9, "outside, 5 from a corner");
    CHECK(fabs(ccl_outline_distance(LINE, 2, 170, 300) - hypot(10, 60)) < 1e-9, "past the end of a line");
    CHECK(ccl_line_crossed(LINE, 150, 10, 170, 10) == -1, "the line goes down: its left is the picture's right");
    CHECK(ccl_line_crossed(LINE, 170, 10, 150, 10) == 1, "forward");
    CHECK(ccl_line_crossed(LINE, 150, 250, 170, 250) == 0, "past its end");
    CHECK(ccl_line_crossed(LINE, 150, 10, 160, 10) + ccl_line_crossed(LINE, 160, 10, 170, 10) == -1, "a stop on the line");
}

/* Corners on a circle in order make a simple polygon; two that are not neighbours swapped make its edges cross. */
static void check_outlines(void)
{
    unsigned edges[2] = { 0 };

    CHECK(ccl_polygon_area(ROOM, 4) == 10000, "100 x 100");
    CHECK(ccl_polygon_area((const double[]){ 0, 0, 1, 1, 2, 2 }, 3) == 0, "corners in a line");
    CHECK(ccl_polygon_area((const double[]){ 0, 9, 9, 9, 9, 0 }, 3) == 40.5, "either order of the corners");
    CHECK(ccl_polygon_area((const double[]){ 9, 0, 9, 9, 0, 9 }, 3) == 40.5, "either order of the corners");
    CHECK(!ccl_polygon_crosses_itself(ROOM, 4, edges), "a rectangle");
    CHECK(ccl_polygon_crosses_itself((const double[]){ 0, 0, 9, 9, 9, 0, 0, 9 }, 4, edges) && edges[0] == 0 && edges[1] == 2,
          "a bow tie: edges %u and %u", edges[0], edges[1]);
    CHECK(!ccl_polygon_crosses_itself((const double[]){ 0, 0, 4, 0, 4, 4, 2, 0, 0, 4 }, 5, edges), "a corner touches an edge");
    for (unsigned n = 5; n < 40; n++) {
        double points[80];

        for (unsigned i = 0; i < n; i++) {
            points[2 * i] = cos(2 * M_PI * i / n);
            points[2 * i + 1] = sin(2 * M_PI * i / n);
        }
        CHECK(!ccl_polygon_crosses_itself(points, n, edges), "%u corners in order", n);
        CHECK(fabs(ccl_polygon_area(points, n) - n * sin(2 * M_PI / n) / 2) < 1e-12, "area of %u corners", n);
        for (unsigned k = 0; k < 2; k++) {
            const double corner = points[2 + k];
            points[2 + k] = points[2 * (n - 2) + k];
            points[2 * (n - 2) + k] = corner;
        }
        CHECK(ccl_polygon_crosses_itself(points, n, edges), "%u corners, two of them swapped", n);
    }
}

/* Along random ways the crossings of a closed outline, edge by edge, agree with being inside at both ends. */
static void check_random_ways(void)
{
    srand(5);
    for (int k = 0; k < 20000; k++) {
        double p[4];
        int crossings = 0;
        for (int i = 0; i < 4; i++)
            p[i] = rand() % 30000 / 100.0 + 0.005; /* never on the outline, whose coordinates are whole */
        for (unsigned i = 0, j = 3; i < 4; j = i++) {
            const double edge[4] = { ROOM[2 * j], ROOM[2 * j + 1], ROOM[2 * i], ROOM[2 * i + 1] };
            crossings += ccl_line_crossed(edge, p[0], p[1], p[2], p[3]);
        }
        const int expected = ccl_polygon_contains(ROOM, 4, p[2], p[3]) - ccl_polygon_contains(ROOM, 4, p[0], p[1]);
        CHECK(crossings == expected, "(%g, %g) to (%g, %g): %d, not %d", p[0], p[1], p[2], p[3], crossings, expected);
    }
}

/* ---------------------------------------------------------------- lines */

static void check_lines(void)
{
    Counts c = WALK(&GATE, 0, 100, 140, 165, 150, 130);
    CHECK(c.backward == 1 && c.forward == 1, "without margin each step counts");
    c = WALK(&GATE, 10, 150, 158, 162, 158, 162, 158, 162, 158, 162);
    CHECK(c.backward == 0 && c.forward == 0, "standing on the line: %d %d", c.forward, c.backward);
    c = WALK(&GATE, 10, 120, 150, 158, 162, 158, 175, 190);
    CHECK(c.backward == 1 && c.forward == 0, "walks across: %d %d", c.forward, c.backward);
    c = WALK(&GATE, 10, 120, 150, 165, 150, 120);
    CHECK(c.backward == 0 && c.forward == 0, "turns back within the band: %d %d", c.forward, c.backward);
    c = WALK(&GATE, 10, 120, 150, 175, 200, 175, 150, 120);
    CHECK(c.backward == 1 && c.forward == 1, "there and back: %d %d", c.forward, c.backward);
    c = WALK(&GATE, 10, 100, 220);
    CHECK(c.backward == 1 && c.forward == 0, "in one step: %d %d", c.forward, c.backward);
    c = WALK(&GATE, 10, 120, 150, 165, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1);
    CHECK(c.backward == 1 && c.forward == 0, "vanishes behind the line, within the band: %d %d", c.forward, c.backward);
    c = WALK(&GATE, 10, 120, 150, 170);
    CHECK(c.backward == 1 && c.forward == 0, "to the edge of the band: %d %d", c.forward, c.backward);
    c = WALK(&GATE, 10, 120, 150, 169.75);
    CHECK(c.backward == 0 && c.forward == 0, "nearly to the edge of the band: %d %d", c.forward, c.backward);
}

static void check_end_of_line(void)
{
    static const double SHORT[] = { 160, 0, 160, 50 };
    const CclZone zone = { .kind = CCL_ZONE_LINE, .n_points = 2, .points = SHORT, .dwell = CCL_ZONE_NO_TIME };
    const Counts c = WALK(&zone, 10, 100, 140, 180, 220);
    CHECK(c.backward == 0 && c.forward == 0, "passes 50 pixels below the end: %d %d", c.forward, c.backward);
}

/* ---------------------------------------------------------------- polygons */

static void check_polygons(void)
{
    Counts c = WALK(&HALL, 0, 60, 80, 120, 140, 220, 240);
    CHECK(c.entered == 1 && c.left == 1 && c.duration == 2 * FRAME, "through: %d %d", c.entered, c.left);
    c = WALK(&HALL, 10, 60, 98, 102, 98, 102, 98, 102, 60);
    CHECK(c.entered == 0 && c.left == 0, "at the edge: %d %d", c.entered, c.left);
    c = WALK(&HALL, 10, 60, 98, 102, 115, 150, 195, 202, 197, 215);
    CHECK(c.entered == 1 && c.left == 1, "through, slowly: %d %d", c.entered, c.left);
    c = WALK(&HALL, 10, 105, 150, 150);
    CHECK(c.entered == 1 && c.left == 0, "appears within the band: %d %d", c.entered, c.left);
    c = WALK(&HALL, 10, 60, 110, 90);
    CHECK(c.entered == 1 && c.left == 1, "from one edge of the band to the other: %d %d", c.entered, c.left);
    c = WALK(&HALL, 10, 60, 109.75, 90);
    CHECK(c.entered == 0 && c.left == 0, "nearly into the zone: %d %d", c.entered, c.left);
}

static void check_stays(void)
{
    CclZone zone = HALL;
    zone.dwell = 5 * FRAME;
    Counts c = WALK(&zone, 0, 60, 150, 150, 150, 150, 150, 150, 150, 150, 60);
    CHECK(c.dwelt == 1 && c.left == 1, "dwells once: %d", c.dwelt);
    c = WALK(&HALL, 0, 150, 150, 150, 150, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1);
    CHECK(c.left == 1 && c.duration == 3 * FRAME, "vanished: the stay ends when it was last seen, %llu frames",
          (unsigned long long)(c.duration / FRAME));
}

/* Walks along x, through the zone. */
static void check_direction(void)
{
    static const struct {
        double direction[2];
        int expected; /* from left to right */
    } cases[] = { { { 1, 0 }, 1 }, { { -5, 0 }, -1 }, { { 0, 1 }, 0 }, { { 1, 1 }, 1 },
                  { { -1, 1.5 }, -1 }, { { 1, 2 }, 0 }, { { -1, -3 }, 0 }, { { 0, 0 }, 0 } };
    CclZone zone = HALL;
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
        memcpy(zone.direction, cases[i].direction, sizeof zone.direction);
        Counts c = WALK(&zone, 0, 60, 120, 150, 180, 240);
        CHECK(c.left == 1 && c.direction == cases[i].expected, "case %u, to the right: %d", i, c.direction);
        c = WALK(&zone, 0, 240, 180, 150, 120, 60);
        CHECK(c.left == 1 && c.direction == -cases[i].expected, "case %u, to the left: %d", i, c.direction);
    }
    memcpy(zone.direction, cases[0].direction, sizeof zone.direction);
    Counts c = WALK(&zone, 20, 181, 221);
    CHECK(c.left == 1 && c.direction == 0, "as far as the band is wide: %d", c.direction);
    c = WALK(&zone, 20, 181, 222);
    CHECK(c.left == 1 && c.direction == 1, "a little farther: %d", c.direction);
}

static void check_min_time(void)
{
    CclZone gate = GATE, hall = HALL;
    gate.min_time = hall.min_time = 3 * FRAME;
    Counts c = WALK(&gate, 10, 120, 150, 175, 180, 185, 190, 195);
    CHECK(c.backward == 1 && c.forward == 0, "walks on: %d %d", c.forward, c.backward);
    c = WALK(&gate, 10, 120, 150, 175, 180, 150, 120, 100, 80, 60);
    CHECK(c.backward == 0 && c.forward == 0, "turns back: %d %d", c.forward, c.backward);
    c = WALK(&gate, 10, 120, 150, 175, 180, 185, 190, 185, 175, 150, 145, 140, 130, 120);
    CHECK(c.backward == 1 && c.forward == 1, "crosses twice, slowly: %d %d", c.forward, c.backward);
    c = WALK(&gate, 10, 120, 150, 175, 180, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1);
    CHECK(c.backward == 0 && c.forward == 0, "vanishes too early: %d %d", c.forward, c.backward);
    c = WALK(&hall, 0, 60, 150, 150, 60, 60, 60, 60);
    CHECK(c.entered == 0 && c.left == 0, "a short visit: %d %d", c.entered, c.left);
    c = WALK(&hall, 0, 60, 150, 150, 150, 150, 60, 60, 150, 60, 60, 60, 60);
    CHECK(c.entered == 1 && c.left == 1 && c.duration == 7 * FRAME, "a short absence: %d %d, %llu frames", c.entered, c.left,
          (unsigned long long)(c.duration / FRAME));
}

static void check_clock(void)
{
    Counts counts = { 0 };
    CclZoneWatch *const watch = ccl_zone_watch_new(count, &counts);
    const CclZonePosition inside = { .id = 1, .x = 150, .y = 100, .area = 100 };
    const CclZonePosition outside = { .id = 1, .x = 300, .y = 100, .area = 100 };

    ccl_zone_watch_set(watch, &HALL, 1, NULL);
    for (uint64_t time = 100; time <= 101; time++) {
        ccl_zone_watch_see(watch, &inside, time * SECOND);
        ccl_zone_watch_end_frame(watch, time * SECOND, SECOND);
    }
    for (uint64_t time = 1; time <= 3; time++) { /* the clock went back to before it came */
        ccl_zone_watch_see(watch, time < 3 ? &inside : &outside, time * SECOND);
        ccl_zone_watch_end_frame(watch, time * SECOND, SECOND);
    }
    CHECK(counts.left == 1 && counts.duration == 3 * SECOND, "a stay of 3 s: %llu", (unsigned long long)counts.duration);
    ccl_zone_watch_free(watch);
}

/* ---------------------------------------------------------------- many objects, other zones */

static void check_many(void)
{
    Counts counts = { 0 };
    CclZoneWatch *const watch = ccl_zone_watch_new(count, &counts);

    ccl_zone_watch_set(watch, &GATE, 1, NULL);
    for (unsigned step = 0; step < 2; step++) {
        for (uint64_t id = 1000; id > 0; id--) { /* the other way round */
            const CclZonePosition position = { .id = id, .x = step ? 200 : 100, .y = 100, .area = 1, .margin = 3 };
            ccl_zone_watch_see(watch, &position, step * FRAME);
        }
        ccl_zone_watch_end_frame(watch, step * FRAME, SECOND);
    }
    CHECK(counts.backward == 1000, "%d of 1000 crossed", counts.backward);
    ccl_zone_watch_free(watch);
}

static void check_new_zones(void)
{
    Counts counts = { 0 };
    CclZoneWatch *const watch = ccl_zone_watch_new(count, &counts);
    const CclZonePosition position = { .id = 1, .x = 150, .y = 100, .area = 100 };
    const CclZone both[] = { GATE, HALL };
    const int was[] = { -1, 0 };

    ccl_zone_watch_set(watch, &HALL, 1, NULL);
    ccl_zone_watch_see(watch, &position, 0);
    CHECK(counts.entered == 1 && ccl_zone_watch_inside(watch, 1) == 1, "inside zone 0");
    ccl_zone_watch_set(watch, both, 2, was);
    CHECK(ccl_zone_watch_inside(watch, 1) == 2, "inside zone 1, which it was");
    ccl_zone_watch_see(watch, &position, FRAME);
    CHECK(counts.entered == 1, "not entered again");
    ccl_zone_watch_forget(watch);
    CHECK(ccl_zone_watch_inside(watch, 1) == 0, "forgotten");
    ccl_zone_watch_free(watch);
}

int main(void)
{
    check_geometry();
    check_outlines();
    check_random_ways();
    check_lines();
    check_end_of_line();
    check_polygons();
    check_stays();
    check_direction();
    check_min_time();
    check_clock();
    check_many();
    check_new_zones();
    printf("checkzone: %u checks, %u failures\n", n_checks, n_failures);
    return n_failures ? 1 : 0;
}
