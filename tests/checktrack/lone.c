/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Lone blobs that are faster than a gate can be wide, and what must not be taken for one. */
#include "checktrack.h"

#include <math.h>

#define WIDTH 400

/* What a mask of WIDTH columns shows of an object; whole pixels. */
static bool add_visible(Scene *scene, double x, double y, double w, double h)
{
    const double x0 = fmax(floor(x), 0), x1 = fmin(floor(x + w), WIDTH);
    if (x1 > x0)
        add(scene, box(x0, y, x1 - x0, h));
    return x1 > x0;
}

/* From the edge of the picture across it, in any phase; the sizes are of cars, squares and people. */
void test_lone_speed(void)
{
    static const double sizes[][2] = { { 24, 8 }, { 12, 12 }, { 20, 60 }, { 60, 20 } };
    for (size_t s = 0; s < COUNT(sizes); s++)
        for (double speed = 0.05; speed <= 1.251; speed += 0.1)
            for (int phase = 0; phase < 8; phase++) {
                Scene scene = default_scene();
                const double w = sizes[s][0], h = sizes[s][1], step_x = speed * w;
                int n_seen = 0;
                for (double x = -w + step_x * (phase + 1) / 8; x + w <= WIDTH; x += step_x) {
                    clear(&scene);
                    const bool is_seen = add_visible(&scene, x, 40, w, h);
                    step(&scene, 1);
                    CHECK(!is_seen || scene.ids[0] == 1, "%gx%g, speed %g, phase %d: id %llu at %g", w, h, speed, phase,
                          (unsigned long long)scene.ids[0], x);
                    n_seen += is_seen;
                }
                CHECK(n_seen >= 5, "the scene is wrong");
                free_scene(&scene);
            }
}

/* From rest, until it is faster than 1.25 of its size. */
void test_lone_acceleration(void)
{
    for (double acceleration = 0.01; acceleration < 0.6; acceleration *= 1.3) {
        Scene scene = default_scene();
        double x = 10, speed = 0;
        for (int frame = 0; speed <= 1.25 * 20; frame++) {
            clear(&scene);
            add(&scene, box(floor(x), 40, 20, 12));
            step(&scene, 1);
            CHECK(scene.ids[0] == 1, "acceleration %g: id %llu at speed %g", acceleration,
                  (unsigned long long)scene.ids[0], speed);
            if (frame >= 20) {
                speed += acceleration * 20;
                x += speed;
            }
        }
        free_scene(&scene);
    }
}

/* The place of the first frame is empty in the second, and two blobs are within reach: neither is the old one for sure. */
void test_lone_is_alone(void)
{
    Scene scene = default_scene();
    add(&scene, box(100, 40, 20, 20));
    step(&scene, 1);
    clear(&scene);
    add(&scene, box(78, 40, 20, 20));
    add(&scene, box(122, 40, 20, 20));
    step(&scene, 1);
    CHECK(scene.ids[0] == 2 && scene.ids[1] == 3, "ids %llu, %llu", (unsigned long long)scene.ids[0],
          (unsigned long long)scene.ids[1]);
    free_scene(&scene);

    /* Two tracks within reach of one blob. */
    scene = default_scene();
    add(&scene, box(78, 40, 20, 20));
    add(&scene, box(122, 40, 20, 20));
    step(&scene, 1);
    clear(&scene);
    add(&scene, box(100, 40, 20, 20));
    step(&scene, 1);
    CHECK(scene.ids[0] == 3, "id %llu", (unsigned long long)scene.ids[0]);
    free_scene(&scene);
}

/* One object vanishes, another appears: twice its size away, or of another size. */
void test_lone_is_like(void)
{
    static const CclDetection others[] = { { .x0 = 141, .y0 = 40, .x1 = 161, .y1 = 60, .x = 151, .y = 50 },
                                           { .x0 = 124, .y0 = 40, .x1 = 132, .y1 = 48, .x = 128, .y = 44 },
                                           { .x0 = 122, .y0 = 20, .x1 = 182, .y1 = 80, .x = 152, .y = 50 } };
    for (size_t i = 0; i < COUNT(others); i++) {
        Scene scene = default_scene();
        for (int frame = 0; frame < 10; frame++) {
            clear(&scene);
            add(&scene, box(100, 40, 20, 20));
            step(&scene, 1);
        }
        clear(&scene);
        add(&scene, others[i]);
        step(&scene, 1);
        CHECK(scene.ids[0] == 2, "other %zu: id %llu", i, (unsigned long long)scene.ids[0]);
        free_scene(&scene);
    }
}

/* A rider behind trees: trunks cover columns of the picture, and one to three pieces of the rider are seen. For some frames a
 * trunk stands at an edge of the rider, so the blob is narrower; the model forgets the hidden part with time. */
void test_hidden_in_part(void)
{
    for (int trunk = 6; trunk <= 10; trunk += 2)
        for (double speed = trunk / 2.0; speed <= 8; speed += 0.5) {
            Scene scene = default_scene();
            int n_parts = 0;
            for (double x = 10; x < 330; x += speed) {
                clear(&scene);
                double from = floor(x);
                for (int left = 120; left <= 220; left += 26) {
                    if (from < left)
                        add_visible(&scene, from, 100, fmin(floor(x) + 40, left) - from, 60);
                    from = fmax(from, left + trunk);
                }
                add_visible(&scene, from, 100, fmax(floor(x) + 40 - from, 0), 60);
                step(&scene, 1);
                n_parts += scene.n > 1;
                for (uint32_t i = 0; i < scene.n; i++)
                    CHECK(scene.ids[i] == 1, "speed %g, trunks of %d: piece %u of %u is %llu at %g", speed, trunk, i, scene.n,
                          (unsigned long long)scene.ids[i], x);
            }
            CHECK(n_parts > 5, "the scene is wrong");
            free_scene(&scene);
        }
}
