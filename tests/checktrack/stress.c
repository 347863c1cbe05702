/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Churn, invalid numbers and repeated runs. */
#include "checktrack.h"

#include <math.h>
#include <stdlib.h>

#ifdef __GLIBC__
#include <malloc.h>
#endif

static void check_invariants(const Scene *scene)
{
    const CclTrack *tracks;
    const uint32_t n = ccl_tracker_tracks(scene->tracker, &tracks);
    CHECK(n <= scene->config.max_tracks, "%u tracks", n);
    for (uint32_t i = 0; i < n; i++) {
        const CclTrack *const t = &tracks[i];
        CHECK(i == 0 || t->id > tracks[i - 1].id, "ids out of order");
        CHECK(t->detection == CCL_TRACK_NO_DETECTION || t->detection < scene->n, "detection %u", t->detection);
        CHECK(isfinite(t->x) && isfinite(t->y) && isfinite(t->x0) && isfinite(t->y1) && isfinite(t->vx), "place");
        CHECK(t->x0 <= t->x1 && t->y0 <= t->y1, "box");
        CHECK(t->parent_id < t->id, "parent %llu", (unsigned long long)t->parent_id);
    }
}

static size_t bytes_in_use(void)
{
#if defined(__GLIBC__) && (__GLIBC__ > 2 || __GLIBC_MINOR__ >= 33)
    return mallinfo2().uordblks;
#else
    return 0;
#endif
}

/* Ten thousand frames of comings and goings: ids only grow, memory does not. */
void test_churn(void)
{
    CclTrackerConfig config = ccl_tracker_config_default();
    config.max_tracks = 50;
    Scene scene = new_scene(config);
    uint64_t highest = 0;
    size_t bytes = 0;

    for (int frame = 0; frame < 10000; frame++) {
        clear(&scene);
        for (uint32_t i = random_below(80); i > 0; i--)
            add(&scene, box(random_within(0, 500), random_within(0, 500), random_within(1, 60), random_within(1, 60)));
        const uint64_t before = highest;
        const CclTrack *tracks;
        step(&scene, random_within(0, 3));
        check_invariants(&scene);
        const uint32_t n = ccl_tracker_tracks(scene.tracker, &tracks);
        for (uint32_t i = 0; i < n; i++) {
            CHECK(tracks[i].age > 1 || tracks[i].id > before, "id %llu is used again",
                  (unsigned long long)tracks[i].id);
            highest = tracks[i].id > highest ? tracks[i].id : highest;
        }
        if (frame % 1000 == 999)
            ccl_tracker_reset(scene.tracker);
        if (frame == 2000)
            bytes = bytes_in_use();
    }
    CHECK(bytes_in_use() <= bytes + 65536, "%zu bytes more", bytes_in_use() - bytes);
    free_scene(&scene);
}

static double nonsense(void)
{
    static const double values[] = { NAN, INFINITY, -INFINITY, 0, -0.0, 1e308, -1e308, 1e-308, 1e6, -1e6, 5, 6, 7, 8 };
    return values[random_below(COUNT(values))];
}

void test_nonsense(void)
{
    Scene scene = default_scene();
    for (int frame = 0; frame < 20000; frame++) {
        clear(&scene);
        for (uint32_t i = random_below(8); i > 0; i--)
            add(&scene, (CclDetection){ nonsense(), nonsense(), nonsense(), nonsense(), nonsense(), nonsense(), nonsense(),
                                        nonsense(), nonsense(), random_below(2), nonsense(), random_below(2) });
        add(&scene, box(100, 100, 20, 30));
        step(&scene, nonsense());
        check_invariants(&scene);
        CHECK(scene.ids[scene.n - 1] != 0, "nonsense hides a good detection");
    }
    clear(&scene);
    CHECK(ccl_tracker_update(scene.tracker, NULL, 0, 1, NULL) == CCL_OK, "%s", ccl_error_message());
    free_scene(&scene);
}

/* Boxes so small that their area, or its square, is no number above 0 are passed over; larger ones are followed. */
void test_small_boxes(void)
{
    for (double size = 1; size > 1e-307; size /= 4) {
        Scene scene = default_scene();
        const bool usable = size >= 1e-6;
        for (int frame = 0; frame < 10; frame++) {
            clear(&scene);
            add(&scene, box(0, 0, size, size));
            add(&scene, box(100, 100, 20, 30));
            step(&scene, 1);
            check_invariants(&scene);
            CHECK((scene.ids[0] != 0) == usable && scene.ids[1] != 0, "a box of %g, frame %d", size, frame);
        }
        free_scene(&scene);
    }
}

/* Same frames, same tracks. */
void test_repeatable(void)
{
    uint64_t sums[2] = { 0 };
    for (int run = 0; run < 2; run++) {
        random_seed(77);
        Scene scene = default_scene();
        for (int frame = 0; frame < 300; frame++) {
            clear(&scene);
            for (uint32_t i = 0; i < 30; i++)
                add_as_blob(&scene, box(random_below(300), random_below(300), 5 + random_below(30), 9));
            step(&scene, 1);
            for (uint32_t i = 0; i < scene.n; i++)
                sums[run] = sums[run] * 31 + scene.ids[i];
        }
        free_scene(&scene);
    }
    CHECK(sums[0] == sums[1], "two runs differ");
}
