/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* What an object leaves behind, and specks that it passes. */
#include "checktrack.h"

/* A person stands at a table, pushes its leg, and leaves at frame 60. From frame 120 on the leg moves by `speed`. */
static CclTrackState state_of_leg(double speed, uint64_t *id)
{
    Scene scene = default_scene();
    for (int frame = 0; frame < 160; frame++) {
        const double x = 100 + (frame > 60 ? 6 * (frame - 60) : 0);
        clear(&scene);
        if (x < 500)
            add(&scene, box(x, 100, 60, 180));
        if (frame >= 30)
            add(&scene, box(90 + (frame > 120 ? speed * (frame - 120) : 0), 260, 8, 30));
        step(&scene, 1);
        if (frame >= 30 && frame < 60)
            CHECK(scene.ids[1] == 1, "frame %d: the leg is object %llu", frame, (unsigned long long)scene.ids[1]);
        if (frame >= 110 && scene.n == 2)
            CHECK(scene.ids[1] != 1, "frame %d: the leg is still a piece of the person who left", frame);
    }
    *id = scene.ids[0];
    const CclTrackState state = state_of(&scene, *id);
    free_scene(&scene);
    return state;
}

void test_left_piece(void)
{
    uint64_t id;
    CHECK(state_of_leg(0, &id) == CCL_TRACK_TENTATIVE && id != 1, "a leg that stands is object %llu", (unsigned long long)id);
    CHECK(state_of_leg(2, &id) == CCL_TRACK_CONFIRMED && id != 1, "a leg that walks away is part of %llu",
          (unsigned long long)id);
}

/* A person comes in behind a still speck, and grows over it: the blob is the person's own. */
void test_speck_in_the_way(void)
{
    Scene scene = default_scene();
    for (int frame = 0; frame < 60; frame++) {
        const double height = frame < 45 ? 4 * frame : 180;
        clear(&scene);
        if (frame < 30)
            add(&scene, box(200, 176, 6, 6));
        if (frame >= 10)
            add(&scene, box(180, 300 - height, 50, height));
        step(&scene, 1);
        CHECK(frame != 20 || (state_of(&scene, scene.ids[0]) == CCL_TRACK_CONFIRMED && scene.ids[0] != scene.ids[1]),
              "the speck is no track");
    }
    const CclTrack *const track = find_track(&scene, scene.ids[0]);
    CHECK(scene.n == 1 && track->state == CCL_TRACK_CONFIRMED && !(track->flags & CCL_TRACK_MERGED), "it is in a group");
    CHECK(track->y1 - track->y0 > 170, "its height is %g", track->y1 - track->y0);
    free_scene(&scene);
}

/* A person walks behind a post that is narrower than the person: at no time is nothing seen, and it is one object. */
void test_behind_a_post(void)
{
    Scene scene = default_scene();
    for (int frame = 0; frame < 120; frame++) {
        const double x = 60 + frame;
        clear(&scene);
        if (x < 120)
            add(&scene, box(x, 100, x + 20 < 120 ? 20 : 120 - x, 60));
        if (x + 20 > 132)
            add(&scene, box(x > 132 ? x : 132, 100, x > 132 ? 20 : x + 20 - 132, 60));
        step(&scene, 1);
    }
    CHECK(scene.n == 1 && scene.ids[0] == 1 && count_tracks(&scene) == 1, "object %llu of %u", (unsigned long long)scene.ids[0],
          count_tracks(&scene));
    free_scene(&scene);
}
