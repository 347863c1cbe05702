/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Zones: which objects are in a polygon, and which cross a line.
 *
 * The watch gets one position of each object per frame, and reports events. A margin is a band around lines and outlines:
 * an object must leave the band on the other side before it has crossed, so that noise of its position counts nothing. A
 * clock that goes back changes no stay: the time of the last frame and that of the next count as the same.
 *
 *     CclZoneWatch *watch = ccl_zone_watch_new(report, data);
 *     ccl_zone_watch_set(watch, zones, n, NULL);
 *     for each frame:
 *         for each object:
 *             ccl_zone_watch_see(watch, &position, now);
 *         ccl_zone_watch_end_frame(watch, now, timeout);
 *     ccl_zone_watch_free(watch);
 *
 * Positions are pixels of the frame, from its top left corner; times are nanoseconds. "Left" and "right" of a line are seen
 * from its first point towards its second: the line from (0, 10) to (0, 0) has (5, 5) on its right, and from left to right
 * is forward. A watch is used by one thread at a time.
 */
#ifndef CCL_ZONE_H
#define CCL_ZONE_H

#include "ccl.h"

#ifdef __cplusplus
extern "C" {
#endif

#define CCL_MAX_ZONES 32u
#define CCL_ZONE_NO_TIME UINT64_MAX

typedef enum CclZoneKind {
    CCL_ZONE_POLYGON, /* n_points corners in the order round it */
    CCL_ZONE_LINE,    /* two points */
} CclZoneKind;

typedef struct CclZone {
    CclZoneKind kind;
    unsigned n_points;
    const double *points; /* x and y in turn; alive and unchanged until the next ccl_zone_watch_set() */
    double min_area;      /* smaller objects do not count; 0: none */
    uint64_t dwell;       /* report an object that stays this long, once a stay; CCL_ZONE_NO_TIME: none */
    uint64_t min_time;    /* an object has entered, left or crossed once it was on the other side this long */
    const uint16_t *classes; /* only objects of these count, as many as n_classes; alive and unchanged like points */
    unsigned n_classes;      /* 0: all objects count */
    double direction[2];  /* of a polygon, x and y: events say whether objects moved along it or against it; 0, 0: none */
} CclZone;

/* One object in one frame. */
typedef struct CclZonePosition {
    uint64_t id; /* of its track */
    double x, y;
    double area;   /* pixels; 0: not measured, the area measured last holds */
    double margin; /* half the width of the band for this object, pixels; 0: none */
    uint32_t class_number; /* its class + 1; 0: not known, the class known last holds */
} CclZonePosition;

typedef enum CclZoneEventKind {
    CCL_ZONE_ENTER,
    CCL_ZONE_LEAVE,
    CCL_ZONE_DWELL,
    CCL_ZONE_CROSS,
} CclZoneEventKind;

typedef struct CclZoneEvent {
    CclZoneEventKind kind;
    unsigned zone; /* index */
    uint64_t id;
    double x, y;       /* where the object was seen last */
    int direction;     /* of CROSS: 1 forward, -1 backward; of LEAVE and DWELL: the same by the zone's direction, 0: neither */
    uint64_t duration; /* of LEAVE and DWELL: from entering until the object was last seen; else CCL_ZONE_NO_TIME */
} CclZoneEvent;

typedef void (*CclZoneReport)(void *data, const CclZoneEvent *event);

typedef struct CclZoneWatch CclZoneWatch;

/* Whether a zone counts an object of this area and class (+ 1, or 0). */
bool ccl_zone_counts(const CclZone *zone, double area, uint32_t class_number);

/* NULL without memory. `report` is called from see() and end_frame(). */
CclZoneWatch *ccl_zone_watch_new(CclZoneReport report, void *data);
void ccl_zone_watch_free(CclZoneWatch *watch);

/* Replaces the zones, at most CCL_MAX_ZONES. `was`: NULL, or for each zone the index of the old zone whose stays it takes
 * over (-1: none). */
void ccl_zone_watch_set(CclZoneWatch *watch, const CclZone *zones, unsigned n, const int *was);

/* Frames have another size from now on: what is known of objects is scaled, and no way crosses anything by that. */
void ccl_zone_watch_scale(CclZoneWatch *watch, double x, double y);

/* Errors: OUT_OF_MEMORY (the object is not followed). */
CclStatus ccl_zone_watch_see(CclZoneWatch *watch, const CclZonePosition *position, uint64_t now);

/* After all objects of a frame: objects unseen for more than `timeout` leave. */
void ccl_zone_watch_end_frame(CclZoneWatch *watch, uint64_t now, uint64_t timeout);

/* The polygons that an object is in, bit i for zone i; 0 for an unknown object. */
uint32_t ccl_zone_watch_inside(const CclZoneWatch *watch, uint64_t id);

/* Forgets all objects, without events. */
void ccl_zone_watch_forget(CclZoneWatch *watch);

/* ---------------------------------------------------------------- geometry */

/* Is a point inside a polygon? */
bool ccl_polygon_contains(const double *points, unsigned n_points, double x, double y);

/* Does the way from (x0, y0) to (x1, y1) cross the line of two points? 1: forward, -1: backward, 0: no. A way that ends on the
 * line has crossed it, and one that begins there does not cross it again. */
int ccl_line_crossed(const double *points, double x0, double y0, double x1, double y1);

/* The distance of a point from the outline of a polygon, or from a line between its two points. */
double ccl_outline_distance(const double *points, unsigned n_points, double x, double y);

double ccl_polygon_area(const double *points, unsigned n_points);

/* Do two edges of a polygon cross? Sets `edges` to the first points of both: edge i goes from point i to the next one. */
bool ccl_polygon_crosses_itself(const double *points, unsigned n_points, unsigned edges[2]);

#ifdef __cplusplus
}
#endif

#endif
