/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Many objects at once: ids and time. */
#include "checktrack.h"

#include <math.h>
#include <stdlib.h>
#include <time.h>

typedef struct Mover {
    double x, y, vx, vy, w, h;
    uint64_t id;
} Mover;

static void move(Mover *m, double width, double height)
{
    m->x += m->vx, m->y += m->vy;
    if (m->x < 0 || m->x + m->w > width)
        m->vx = -m->vx, m->x += 2 * m->vx;
    if (m->y < 0 || m->y + m->h > height)
        m->vy = -m->vy, m->y += 2 * m->vy;
}

/* Seconds of processor time of the fastest frame; `kept`: share of ids that stay with their object. */
static double run_crowd(uint32_t n, double width, double height, int frames, double *kept)
{
    CclTrackerConfig config = ccl_tracker_config_default();
    config.max_tracks = 4 * n;
    config.merge_split = width > 0;
    Scene scene = new_scene(config);
    Mover *const movers = calloc(n, sizeof *movers);
    uint64_t same = 0, all = 0;
    double fastest = INFINITY;

    for (uint32_t i = 0; i < n; i++)
        movers[i] = (Mover){ .x = random_within(0, width), .y = random_within(0, height), .vx = random_within(-3, 3),
                             .vy = random_within(-3, 3), .w = random_within(8, 16), .h = random_within(8, 16) };
    for (int frame = 0; frame < frames; frame++) {
        clear(&scene);
        for (uint32_t i = 0; i < n; i++) {
            move(&movers[i], width + 20, height + 20);
            add(&scene, box(movers[i].x, movers[i].y, movers[i].w, movers[i].h));
        }
        const clock_t begin = clock();
        step(&scene, 1);
        fastest = fmin(fastest, frame < 5 ? INFINITY : (double)(clock() - begin) / CLOCKS_PER_SEC);
        for (uint32_t i = 0; i < n; i++) {
            all += frame > 0;
            same += frame > 0 && scene.ids[i] == movers[i].id;
            movers[i].id = scene.ids[i];
        }
    }
    *kept = (double)same / (double)all;
    free(movers);
    free_scene(&scene);
    return fastest;
}

void test_crowds(void)
{
    double kept;
    const double few = run_crowd(500, 2000, 2000, 30, &kept);
    CHECK(kept > 0.99, "%g of ids kept among 500", kept);
    const double thousand = run_crowd(1000, 2828, 2828, 30, &kept);
    CHECK(kept > 0.99, "%g of ids kept among 1000", kept);
    const double many = run_crowd(4000, 5657, 5657, 15, &kept); /* as dense */
    printf("    500, 1000, 4000 at once: %.2f, %.2f, %.2f ms a frame\n", 1e3 * few, 1e3 * thousand, 1e3 * many);
    /* Eight times as many: quadratic would be 64. */
    CHECK(many < 32 * fmax(few, 1e-4), "time grows from %g to %g ms", 1e3 * few, 1e3 * many);

    const double pile = run_crowd(1000, 5, 5, 15, &kept);
    printf("    1000 in one pile: %.2f ms a frame\n", 1e3 * pile);
    CHECK(pile < 500 * fmax(thousand, 5e-4), "a pile takes %g ms", 1e3 * pile);
}
