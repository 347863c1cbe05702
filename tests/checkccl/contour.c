/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Contours: filled again they are the component and its holes, pixel for pixel; simplified they are no farther from all
 * corners than they may be, and have the same box. */
#include "analysis/contour.h"

#include "checkccl.h"
#include "analysis/polygon.h"
#include "patterns.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A component cut out, with a pixel of margin all round: 1 itself, 2 what can be reached from outside, 0 its holes. */
typedef struct Cutout {
    uint32_t width, height;
    uint8_t *pixels;
    uint32_t *open; /* pixels to go on from */
} Cutout;

static Cutout cut_out(const Image *image, const uint32_t *labels, const CclComponent *row)
{
    Cutout cutout = { .width = row->x1 - row->x0 + 2u, .height = row->y1 - row->y0 + 2u };
    cutout.pixels = calloc(cutout.height, cutout.width);
    cutout.open = malloc((size_t)cutout.height * cutout.width * sizeof *cutout.open);
    for (uint32_t y = row->y0; y < row->y1; y++)
        for (uint32_t x = row->x0; x < row->x1; x++)
            cutout.pixels[(y - row->y0 + 1) * cutout.width + x - row->x0 + 1] =
                labels[(size_t)y * image->width + x] == row->label;
    return cutout;
}

/* What surrounds an 8-connected component is 4-connected, and the other way round. */
static void flood_outside(Cutout *cutout, CclConnectivity connectivity)
{
    uint32_t n = 0;
    cutout->open[n++] = 0;
    cutout->pixels[0] = 2;
    while (n) {
        const uint32_t at = cutout->open[--n], x = at % cutout->width, y = at / cutout->width;
        for (int dy = -1; dy <= 1; dy++)
            for (int dx = -1; dx <= 1; dx++) {
                const uint32_t to_x = x + (uint32_t)dx, to_y = y + (uint32_t)dy, to = to_y * cutout->width + to_x;
                if ((connectivity == CCL_CONNECT_8 && dx && dy) || to_x >= cutout->width || to_y >= cutout->height ||
                    cutout->pixels[to])
                    continue;
                cutout->pixels[to] = 2;
                cutout->open[n++] = to;
            }
    }
}

/* Twice the area inside, by the shoelace formula: positive when it runs clockwise on a screen. */
static double doubled_area(const CclPoint *p, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += (double)p[i].x * p[(i + 1) % n].y - (double)p[(i + 1) % n].x * p[i].y;
    return sum;
}

static bool fills(const CclPoint *points, uint32_t n, const CclComponent *row, const Cutout *cutout, uint64_t *inside)
{
    double *const xy = malloc(2 * (size_t)n * sizeof *xy);
    uint8_t *const picture = calloc(cutout->height, cutout->width);
    const CclPlane plane = { picture, cutout->width, cutout->width, cutout->height };
    bool same = true;
    for (uint32_t i = 0; i < n; i++) {
        xy[2 * i] = points[i].x - row->x0 + 1;
        xy[2 * i + 1] = points[i].y - row->y0 + 1;
    }
    same = ccl_polygon_fill(xy, n, 1, &plane) == CCL_OK;
    *inside = 0;
    for (size_t i = 0; i < (size_t)cutout->width * cutout->height; i++) {
        same = same && picture[i] == (cutout->pixels[i] != 2);
        *inside += picture[i];
    }
    free(xy);
    free(picture);
    return same;
}

/* Only corners: no point lies on the way from the one before to the one after. */
static bool turns_everywhere(const CclPoint *p, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        const CclPoint a = p[i], b = p[(i + 1) % n], c = p[(i + 2) % n];
        if ((b.x - a.x) * (c.x - b.x) + (b.y - a.y) * (c.y - b.y) != 0 || (a.x == b.x) == (a.y == b.y))
            return false;
    }
    return true;
}

static double distance_from_line(CclPoint p, CclPoint a, CclPoint b)
{
    const double dx = b.x - a.x, dy = b.y - a.y, length = dx * dx + dy * dy;
    double t = length > 0 ? ((p.x - a.x) * dx + (p.y - a.y) * dy) / length : 0;
    t = t < 0 ? 0 : t > 1 ? 1 : t;
    return hypot(p.x - a.x - t * dx, p.y - a.y - t * dy);
}

/* Its points are some of the corners, in their order, and all between two of them are near the line. */
static bool is_simplified(const CclPoint *corners, uint32_t n_corners, const CclPoint *points, uint32_t n,
                          double epsilon)
{
    uint32_t at = 0;
    for (uint32_t i = 0; i < n; i++) {
        const CclPoint a = points[i], b = points[(i + 1) % n];
        double farthest;
        if (a.x != corners[at].x || a.y != corners[at].y)
            return false;
        /* A corner may come twice, and the span end at either. */
        do {
            farthest = 0;
            uint32_t next = at + 1;
            for (; next < n_corners && (corners[next].x != b.x || corners[next].y != b.y); next++)
                farthest = fmax(farthest, distance_from_line(corners[next], a, b));
            at = next;
        } while (farthest > epsilon + 1e-9 && at < n_corners);
        if (farthest > epsilon + 1e-9)
            return false;
    }
    return at == n_corners;
}

static bool has_box(const CclPoint *p, uint32_t n, const CclComponent *row)
{
    float x0 = p[0].x, y0 = p[0].y, x1 = x0, y1 = y0;
    for (uint32_t i = 1; i < n; i++) {
        x0 = fminf(x0, p[i].x), x1 = fmaxf(x1, p[i].x);
        y0 = fminf(y0, p[i].y), y1 = fmaxf(y1, p[i].y);
    }
    return x0 == row->x0 && y0 == row->y0 && x1 == row->x1 && y1 == row->y1;
}

/* Appends the contour; NULL, and what is wrong in `why`, when it could not. */
static const CclPoint *trace(CclContours *contours, const CclMask *mask, const CclComponent *row, const CclContourConfig *config,
                             uint32_t *n, const char **why)
{
    size_t all;
    if (ccl_contours_add(contours, mask, row, config, n) != CCL_OK) {
        *why = ccl_error_message();
        return NULL;
    }
    return ccl_contours_points(contours, &all) + (all - *n);
}

static const char *what_is_wrong(CclContours *contours, const CclMask *mask, const Image *image, const Outcome *outcome,
                                 const CclComponent *row, CclConnectivity connectivity)
{
    static const double epsilons[] = { 0.5, 1, 3 };
    CclContourConfig config = { .connectivity = connectivity, .max_points = CCL_CONTOUR_MAX_POINTS };
    Cutout cutout = cut_out(image, outcome->labels, row);
    const char *why = NULL;
    uint32_t n, n_simple;
    uint64_t inside;

    ccl_contours_clear(contours);
    const CclPoint *p = trace(contours, mask, row, &config, &n, &why);
    CclPoint *const corners = malloc((n + 1) * sizeof *corners);
    flood_outside(&cutout, connectivity);
    if (!why) {
        memcpy(corners, p, n * sizeof *corners);
        if (p[0].x != row->first_x || p[0].y != row->y0)
            why = "does not begin at the first pixel";
        else if (!turns_everywhere(p, n))
            why = "has a point that is no corner";
        else if (!fills(p, n, row, &cutout, &inside))
            why = "filled is not the component";
        else if (doubled_area(p, n) != 2.0 * (double)inside)
            why = "does not run clockwise once round";
    }
    for (unsigned i = 0; !why && i < sizeof epsilons / sizeof *epsilons; i++) {
        config.epsilon = epsilons[i];
        p = trace(contours, mask, row, &config, &n_simple, &why);
        if (!why && !is_simplified(corners, n, p, n_simple, epsilons[i]))
            why = "simplified is too far away";
        if (!why && !has_box(p, n_simple, row))
            why = "simplified has another box";
    }
    if (!why) {
        config.epsilon = 0, config.max_points = CCL_CONTOUR_MIN_POINTS;
        p = trace(contours, mask, row, &config, &n_simple, &why);
        if (!why && (n_simple > CCL_CONTOUR_MIN_POINTS || n_simple < (n < 3 ? n : 3) || !has_box(p, n_simple, row)))
            why = "of few points has too many, or another box";
    }
    free(corners);
    free(cutout.pixels);
    free(cutout.open);
    return why;
}

static void check_contours(Session *session, CclContours *contours, const Image *image, const Layout *layout,
                           const char *name)
{
    Case c = case_new(image, PRODUCT_LABELS, "%s", name);
    CclMask mask;
    CclLabels labels;

    c.layout = *layout;
    for (int connectivity = 4; connectivity <= 8; connectivity += 4) {
        Outcome outcome = expected_outcome(&c, (CclConnectivity)connectivity);
        const char *why = NULL;
        uint32_t i = 0;

        layout_prepare(0, &c, CCL_BACKEND_CPU, &mask, &labels);
        for (; i < outcome.table.n_components && !why; i++)
            why = what_is_wrong(contours, &mask, image, &outcome, &outcome.rows[i], (CclConnectivity)connectivity);
        check(session, !why, "contour %u, %d-connected, \"%s\" %ux%u, layout \"%s\": %s", i, connectivity, name,
              image->width, image->height, layout->name, why ? why : "");
        outcome_free(&outcome);
    }
}

static void check_patterns(Session *session, CclContours *contours)
{
    static const uint32_t sizes[][2] = { { 1, 1 }, { 9, 1 }, { 1, 7 }, { 37, 29 }, { 64, 33 } };
    const Layout *layout = layouts;

    for (const Pattern *pattern = patterns; pattern->name; pattern++)
        for (unsigned i = 0; i < sizeof sizes / sizeof *sizes; i++) {
            Image image = pattern_draw(pattern, sizes[i][0], sizes[i][1]);
            do
                layout = layout[1].name ? layout + 1 : layouts;
            while (!layout_fits(layout, &image));
            check_contours(session, contours, &image, layout, pattern->name);
            image_free(&image);
        }
}

static void check_noise(Session *session, CclContours *contours)
{
    for (double density = 15; density < 95; density += session->quick ? 25 : 8)
        for (uint32_t granularity = 1; granularity <= 3; granularity++) {
            Image image = image_noise(61 + granularity, 47, density, granularity, &session->random);
            check_contours(session, contours, &image, &plain_layout, "noise");
            image_free(&image);
        }
}

static void check_errors(Session *session, CclContours *contours)
{
    const uint8_t pixels[4] = { 1, 0, 0, 0 };
    CclMask mask = { .data = pixels, .stride = 4, .width = 4, .height = 1 };
    const CclComponent component = { .moments = { .area = 1 }, .label = 1, .x1 = 1, .y1 = 1 };
    const CclComponent elsewhere = { .moments = { .area = 1 }, .label = 1, .x0 = 1, .x1 = 2, .y1 = 1, .first_x = 1 };
    const CclContourConfig right = { CCL_CONNECT_8, 1, 64, false }, few = { CCL_CONNECT_8, 1, 7, false },
                           negative = { CCL_CONNECT_8, -1, 64, false }, nan = { CCL_CONNECT_8, NAN, 64, false },
                           unconnected = { (CclConnectivity)6, 1, 64, false };
    uint8_t changed[8] = { 1, 1, 1, 1, 1, 1, 1, 1 };
    const CclMask another = { .data = changed, .stride = 8, .width = 8, .height = 1 };
    uint32_t n;
    size_t all;

    ccl_contours_clear(contours);
    check(session, ccl_contours_add(contours, &mask, &elsewhere, &right, &n) == CCL_ERROR_ARGUMENT && n == 0,
          "contour: a component whose first pixel is background");
    check(session, ccl_contours_add(contours, &another, &component, &right, &n) == CCL_ERROR_ARGUMENT && n == 0,
          "contour: a component of another mask");
    check(session, ccl_contours_add(contours, &mask, &component, &few, &n) == CCL_ERROR_ARGUMENT,
          "contour: few points");
    check(session, ccl_contours_add(contours, &mask, &component, &negative, &n) == CCL_ERROR_ARGUMENT,
          "contour: a negative tolerance");
    check(session, ccl_contours_add(contours, &mask, &component, &nan, &n) == CCL_ERROR_ARGUMENT,
          "contour: a tolerance that is no number");
    check(session,
          ccl_contours_add(contours, &mask, &component, &unconnected, &n) == CCL_ERROR_ARGUMENT &&
              strstr(ccl_error_message(), "not 6"),
          "contour: 6-connected: %s", ccl_error_message());
    mask.memory = CCL_MEMORY_DEVICE;
    check(session, ccl_contours_add(contours, &mask, &component, &right, &n) == CCL_ERROR_ARGUMENT,
          "contour: a mask on a device");
    ccl_contours_points(contours, &all);
    check(session, all == 0, "contour: %zu points appended by errors", all);
}

/* Polygons with corners that are no places are some polygons: no byte beside the rows is written, and none but `value`. A
 * side from minus infinity to infinity, half of the picture, is what it should be. */
static void check_odd_polygons(Session *session)
{
    enum { WIDTH = 10, HEIGHT = 6, STRIDE = 16 };
    static const double odd[] = { NAN, -NAN, INFINITY, -INFINITY, DBL_MAX, -DBL_MAX, 1e300, -1e300, 4e9, -4e9, 3 };
    enum { N_ODD = sizeof odd / sizeof *odd };
    const double half[] = { -INFINITY, 0, -INFINITY, 6, 5, 6, 5, 0 };
    uint8_t picture[HEIGHT + 2][STRIDE];
    const CclPlane plane = { picture[1], STRIDE, WIDTH, HEIGHT };
    unsigned n_set = 0, n_wrong = 0;

    for (unsigned i = 0; i <= N_ODD * N_ODD * N_ODD; i++) {
        const double xy[] = { 1, 0, 1, 10, odd[i % N_ODD], odd[i / N_ODD % N_ODD], odd[i / N_ODD / N_ODD % N_ODD], 0 };
        const bool is_last = i == N_ODD * N_ODD * N_ODD;
        memset(picture, 0, sizeof picture);
        n_wrong += ccl_polygon_fill(is_last ? half : xy, 4, 7, &plane) != CCL_OK;
        for (unsigned y = 0; y < HEIGHT + 2; y++)
            for (unsigned x = 0; x < STRIDE; x++) {
                const bool is_inside = x < WIDTH && y > 0 && y <= HEIGHT;
                n_wrong += picture[y][x] && (picture[y][x] != 7 || !is_inside);
                n_set += is_last && picture[y][x];
            }
    }
    check(session, !n_wrong && n_set == 5 * HEIGHT, "odd polygons: %u bytes wrong, half of the picture is %u of 60 pixels",
          n_wrong, n_set);
}

/* Combs whose teeth the widest place of a span would divide one by one. */
static void check_large(Session *session, CclContours *contours)
{
    Image image = pattern_named("comb_up", session->quick ? 2001 : 8001, 400);
    const Case c = case_new(&image, PRODUCT_LABELS, "comb_up");
    const CclMask mask = { .data = image.pixels, .stride = image.width, .width = image.width, .height = image.height };
    Outcome outcome = expected_outcome(&c, CCL_CONNECT_8);
    const CclContourConfig config = { .connectivity = CCL_CONNECT_8, .epsilon = 1, .max_points = 64 };
    const char *why = NULL;
    uint32_t n = 0;

    ccl_contours_clear(contours);
    trace(contours, &mask, &outcome.rows[0], &config, &n, &why);
    check(session, !why && n <= 64 && n >= 3, "contour of a large comb: %u points%s%s", n, why ? ": " : "",
          why ? why : "");
    outcome_free(&outcome);
    image_free(&image);
}

void check_contour(Session *session)
{
    CclContours *const contours = ccl_contours_new();
    Image mosaic = session->quick ? pattern_mosaic(3, 3) : pattern_mosaic(4, 4);

    check_contours(session, contours, &mosaic, &plain_layout, "all small masks");
    image_free(&mosaic);
    check_patterns(session, contours);
    check_noise(session, contours);
    check_large(session, contours);
    check_errors(session, contours);
    check_odd_polygons(session);
    ccl_contours_free(contours);
}
