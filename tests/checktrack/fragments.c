/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Pieces of one object are one object; two people are two. */
#include "checktrack.h"

#include <math.h>

/* The ids of confirmed tracks up to now, as a set of bits; scenes here have less than 64 ids. */
static uint64_t confirmed_ids(const Scene *scene, uint64_t before)
{
    const CclTrack *tracks;
    const uint32_t n = ccl_tracker_tracks(scene->tracker, &tracks);
    for (uint32_t i = 0; i < n; i++) {
        CHECK(tracks[i].id < 64, "the scene is too long");
        if (tracks[i].state == CCL_TRACK_CONFIRMED)
            before |= 1ull << tracks[i].id;
    }
    return before;
}

static int count_bits(uint64_t bits)
{
    int n = 0;
    for (; bits; bits &= bits - 1)
        n++;
    return n;
}

/* A person comes in pieces: head, trunk and legs, with gaps between them that close at frame `whole`. */
static uint64_t run_pieces(double scale, double speed, int whole, int n_frames)
{
    Scene scene = default_scene();
    uint64_t ids = 0;
    for (int frame = 0; frame < n_frames; frame++) {
        const double x = 50 + scale * speed * frame;
        clear(&scene);
        if (frame >= whole) {
            add(&scene, box(x, 100, 20 * scale, 60 * scale));
        } else {
            add(&scene, box(x + 5 * scale, 100, 10 * scale, 10 * scale));
            add(&scene, box(x, 100 + 14 * scale, 20 * scale, 22 * scale));
            add(&scene, box(x + 3 * scale, 100 + 40 * scale, 14 * scale, 20 * scale));
        }
        step(&scene, 1);
        ids = confirmed_ids(&scene, ids);
    }
    const CclTrack *const track = find_track(&scene, scene.ids[0]);
    CHECK(n_frames <= whole + 1 || (track && track->state == CCL_TRACK_CONFIRMED && !(track->flags & CCL_TRACK_MERGED)),
          "the whole object has no track of its own");
    free_scene(&scene);
    return ids;
}

void test_pieces(void)
{
    for (double scale = 0.5; scale < 8; scale *= 2)
        for (double speed = 0; speed <= 6; speed += 2)
            for (int whole = 1; whole <= 13; whole += 3) {
                const int n = count_bits(run_pieces(scale, speed, whole, 60));
                CHECK(n == 1, "scale %g, speed %g, whole from frame %d on: %d objects", scale, speed, whole, n);
            }
}

/* A rider on a horse: two pieces of one object, or of two classes from frame `from` on. The numbers of instances may be others in
 * each period. Returns how many objects were confirmed. */
static int count_riders(uint32_t period, int from)
{
    Scene scene = default_scene();
    uint64_t ids = 0;
    for (int frame = 0; frame < 60; frame++) {
        const uint32_t horse = 5 + (uint32_t)frame / period, rider = frame < from ? horse : horse + 1;
        clear(&scene);
        add(&scene, box(30 + 2 * frame, 130, 80, 60));
        add(&scene, box(50 + 2 * frame, 100, 40, 30));
        scene.detections[0].class_id = horse;
        scene.detections[1].class_id = rider;
        step(&scene, 1);
        CHECK(frame < 10 || (scene.ids[0] == scene.ids[1]) == (frame < from),
              "frame %d, period %u, two classes from %d: wrong ids", frame, period, from);
        ids = confirmed_ids(&scene, ids);
    }
    free_scene(&scene);
    return count_bits(ids);
}

void test_pieces_of_classes(void)
{
    for (uint32_t period = 1; period <= 1000; period *= 10)
        for (int from = 0; from <= 60; from += 5) {
            const int n = count_riders(period, from);
            CHECK(n == (from < 60 ? 2 : 1), "period %u, two classes from frame %d: %d objects", period, from, n);
        }
}

/* Behind a fence of another class the mask of a person breaks: what is below is no part of the person, and did not come out of
 * that track. */
void test_parts_of_classes(void)
{
    for (uint32_t lower = 5; lower <= 6; lower++) {
        Scene scene = default_scene();
        for (int frame = 0; frame < 20; frame++) {
            clear(&scene);
            add(&scene, box(100 + 2 * frame, 100, 20, frame < 10 ? 60 : 35));
            scene.detections[0].class_id = 5;
            if (frame >= 10) {
                add(&scene, box(101 + 2 * frame, 138, 18, 22));
                scene.detections[1].class_id = lower;
            }
            step(&scene, 1);
        }
        const CclTrack *const track = find_track(&scene, scene.ids[1]);
        CHECK(scene.ids[0] == 1 && (scene.ids[1] == 1) == (lower == 5), "class %u has track %llu", lower,
              (unsigned long long)scene.ids[1]);
        CHECK(track && track->parent_id == 0, "class %u came out of a track", lower);
        free_scene(&scene);
    }
}

/* It grows from the lower edge of the picture while it comes in, in two pieces. */
void test_pieces_come_in(void)
{
    Scene scene = default_scene();
    uint64_t ids = 0;
    for (int frame = 0; frame < 60; frame++) {
        const double top = 400 - 10 * frame, waist = top + 60;
        clear(&scene);
        add(&scene, box(100, top, 50, fmin(waist - 4, 400) - top + (frame < 6 ? 0 : frame < 9 ? 0 : 4)));
        if (waist < 400 && frame < 9)
            add(&scene, box(105, waist, 40, 400 - waist));
        else if (frame >= 9)
            scene.detections[0] = box(100, top, 50, fmin(160, 400 - top));
        step(&scene, 1);
        ids = confirmed_ids(&scene, ids);
    }
    CHECK(count_bits(ids) == 1, "%d objects", count_bits(ids));
    free_scene(&scene);
}

/* An arm beside a person: a part of the person, until it walks away on its own. */
void test_small_piece(void)
{
    Scene scene = default_scene();
    for (int frame = 0; frame < 100; frame++) {
        const double away = frame < 60 ? 0 : 4 * (frame - 60);
        clear(&scene);
        add(&scene, box(100 + frame, 100, 30, 80));
        if (frame >= 10)
            add(&scene, box(134 + frame + away, 120, 10, 20));
        step(&scene, 1);
        if (frame >= 10 && frame < 60)
            CHECK(scene.ids[1] == 1, "frame %d: the arm is %llu", frame, (unsigned long long)scene.ids[1]);
    }
    CHECK(scene.ids[0] == 1 && scene.ids[1] > 1, "ids %llu, %llu", (unsigned long long)scene.ids[0],
          (unsigned long long)scene.ids[1]);
    CHECK(state_of(&scene, scene.ids[1]) == CCL_TRACK_CONFIRMED, "what walks away is no object");
    free_scene(&scene);
}

/* Two people, in one blob from frame `from` to frame `to`; distances as a function of the frame. */
static void check_two(const char *what, double apart, double nearer, int from, int to, int n_frames)
{
    Scene scene = default_scene();
    uint64_t left = 0, right = 0;
    for (int frame = 0; frame < n_frames; frame++) {
        const double x = 100 + 2 * frame;
        const double d = frame < from ? fmax(apart - nearer * frame, 24) : frame < to ? 18 : 24 + nearer * (frame - to);
        clear(&scene);
        add_as_blob(&scene, box(x, 100, 20, 60));
        add_as_blob(&scene, box(x + d, 104, 20, 60));
        step(&scene, 1);
        if (scene.n == 2 && frame == from - 1) {
            left = scene.ids[0];
            right = scene.ids[1];
        }
    }
    CHECK(left != 0 && right != 0 && left != right, "%s: ids %llu, %llu", what, (unsigned long long)left,
          (unsigned long long)right);
    CHECK(scene.n == 2 && scene.ids[0] == left && scene.ids[1] == right, "%s: %llu, %llu become %llu, %llu", what,
          (unsigned long long)left, (unsigned long long)right, (unsigned long long)scene.ids[0],
          (unsigned long long)scene.ids[1]);
    free_scene(&scene);
}

void test_two_people(void)
{
    check_two("they meet", 120, 3, 40, 60, 90);
    check_two("they come in side by side", 24, 0, 30, 50, 80);
    check_two("they come in side by side, and part", 24, 2, 30, 50, 80);
    check_two("one follows the other", 50, 1, 40, 55, 90);
}

/* Two tracks in one blob for longer than anybody can tell them apart: the older one is the blob's, and no new id begins. */
void test_long_group(void)
{
    Scene scene = default_scene();
    for (int frame = 0; frame < 200; frame++) {
        const double d = fmax(120 - 3 * frame, 15);
        clear(&scene);
        add_as_blob(&scene, box(100, 100, 20, 60));
        add_as_blob(&scene, box(100 + d, 100, 20, 60));
        step(&scene, 1);
    }
    CHECK(scene.n == 1 && scene.ids[0] == 1 && count_tracks(&scene) == 1, "id %llu of %u tracks",
          (unsigned long long)scene.ids[0], count_tracks(&scene));
    CHECK(state_of(&scene, 1) == CCL_TRACK_CONFIRMED, "it does not have the blob alone");
    free_scene(&scene);
}
