/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* A few objects whose courses are known. */
#include "checktrack.h"

#include <math.h>

void test_settings(void)
{
    CclTrackerConfig wrong[6];
    CclTracker *tracker;
    for (size_t i = 0; i < COUNT(wrong); i++)
        wrong[i] = ccl_tracker_config_default();
    wrong[0].max_tracks = 0;
    wrong[1].min_hits = 0;
    wrong[2].max_distance = NAN;
    wrong[3].iou_threshold = 1.5;
    wrong[4].max_tracks = CCL_TRACKER_MAX_TRACKS + 1;
    wrong[5].max_age = CCL_TRACKER_MAX_AGE + 1;
    for (size_t i = 0; i < COUNT(wrong); i++)
        CHECK(ccl_tracker_new(&wrong[i], &tracker) == CCL_ERROR_ARGUMENT && !tracker, "setting %zu was taken", i);
    ccl_tracker_free(NULL);
}

/* min_hits 3, max_age 4: 1 is the first frame. */
void test_life(void)
{
    CclTrackerConfig config = ccl_tracker_config_default();
    config.max_age = 4;
    Scene scene = new_scene(config);

    for (int frame = 1; frame <= 5; frame++) {
        clear(&scene);
        add(&scene, box(100 + 3 * frame, 50, 20, 40));
        step(&scene, 1);
        CHECK(scene.ids[0] == 1, "frame %d has id %llu", frame, (unsigned long long)scene.ids[0]);
        CHECK(state_of(&scene, 1) == (frame < 3 ? CCL_TRACK_TENTATIVE : CCL_TRACK_CONFIRMED), "frame %d", frame);
        CHECK(find_track(&scene, 1)->age == (uint32_t)frame, "frame %d", frame);
    }
    CHECK(fabs(find_track(&scene, 1)->vx - 3) < 0.5, "speed %g", find_track(&scene, 1)->vx);
    clear(&scene);
    for (int frame = 6; frame <= 9; frame++) {
        step(&scene, 1);
        CHECK(state_of(&scene, 1) == CCL_TRACK_PREDICTED, "frame %d", frame);
    }
    CHECK(fabs(find_track(&scene, 1)->x - (110 + 27)) < 4, "predicted at %g", find_track(&scene, 1)->x);
    step(&scene, 1);
    CHECK(state_of(&scene, 1) == CCL_TRACK_LOST, "frame 10");
    step(&scene, 1);
    CHECK(count_tracks(&scene) == 0, "a lost track stays");
    add(&scene, box(100, 50, 20, 40));
    step(&scene, 1);
    CHECK(scene.ids[0] == 2, "id %llu", (unsigned long long)scene.ids[0]);
    clear(&scene);
    step(&scene, 1);
    CHECK(state_of(&scene, 2) == CCL_TRACK_LOST, "an unconfirmed track outlives a miss");
    free_scene(&scene);
}

void test_vanishing(void)
{
    for (int gap = 1; gap <= 40; gap += 3) {
        Scene scene = default_scene();
        for (int frame = 0; frame < 20; frame++) {
            clear(&scene);
            add(&scene, box(10 + 5 * frame, 300, 30, 60));
            step(&scene, 1);
        }
        clear(&scene);
        for (int frame = 20; frame < 20 + gap; frame++)
            step(&scene, 1);
        add(&scene, box(10 + 5 * (20 + gap), 300, 30, 60));
        step(&scene, 1);
        CHECK(scene.ids[0] == (gap <= 30 ? 1 : 2), "id %llu after %d frames", (unsigned long long)scene.ids[0], gap);
        free_scene(&scene);
    }
}

/* Two pass each other, one blob on the way; at several speeds. */
void test_crossing(void)
{
    for (double speed = 2; speed <= 12; speed += 2) {
        Scene scene = default_scene();
        uint64_t left = 0, right = 0;
        int n_merged = 0;
        for (double x = 0; x <= 400; x += speed) {
            clear(&scene);
            add_as_blob(&scene, box(x, 100, 24, 60));
            add_as_blob(&scene, box(400 - x, 110, 24, 60));
            step(&scene, 1);
            if (x == 10 * speed) {
                left = scene.ids[0];
                right = scene.ids[1];
            }
            if (scene.n == 1) {
                n_merged += find_track(&scene, left)->flags & CCL_TRACK_MERGED;
                n_merged += find_track(&scene, right)->flags & CCL_TRACK_MERGED;
            }
        }
        CHECK(scene.n == 2 && left != right, "the scene is wrong");
        CHECK(scene.ids[0] == left && scene.ids[1] == right, "speed %g: ids %llu, %llu become %llu, %llu", speed,
              (unsigned long long)left, (unsigned long long)right, (unsigned long long)scene.ids[0],
              (unsigned long long)scene.ids[1]);
        CHECK(n_merged > 0, "speed %g: nobody said they merged", speed);
        free_scene(&scene);
    }
}

/* One blob from the start, then two: one keeps the id, the other says where it came from. */
void test_splitting(void)
{
    Scene scene = default_scene();
    for (int frame = 0; frame < 60; frame++) {
        const double apart = frame < 20 ? 0 : 3 * (frame - 20);
        clear(&scene);
        add_as_blob(&scene, box(200 - apart, 100, 30, 60));
        add_as_blob(&scene, box(225 + apart, 100, 30, 60));
        step(&scene, 1);
    }
    CHECK(scene.n == 2 && scene.ids[0] != scene.ids[1], "%u blobs", scene.n);
    const uint64_t older = scene.ids[0] < scene.ids[1] ? scene.ids[0] : scene.ids[1];
    const uint64_t younger = scene.ids[0] + scene.ids[1] - older;
    CHECK(older == 1, "the old id is gone");
    CHECK(find_track(&scene, younger)->parent_id == 1, "parent %llu",
          (unsigned long long)find_track(&scene, younger)->parent_id);
    CHECK(find_track(&scene, older)->parent_id == 0, "the old one has a parent");
    free_scene(&scene);
}

/* The mask of one object breaks: head and legs. */
void test_parts(void)
{
    Scene scene = default_scene();
    for (int frame = 0; frame < 40; frame++) {
        clear(&scene);
        if (frame < 10 || frame % 3) {
            add(&scene, box(100 + 2 * frame, 100, 20, 60));
        } else {
            add(&scene, box(100 + 2 * frame, 100, 20, 35));
            add(&scene, box(101 + 2 * frame, 138, 18, 22));
        }
        step(&scene, 1);
        for (uint32_t i = 0; i < scene.n; i++)
            CHECK(scene.ids[i] == 1, "frame %d: part %u is %llu", frame, i, (unsigned long long)scene.ids[i]);
    }
    CHECK(fabs(find_track(&scene, 1)->y0 - 100) < 0.01 && fabs(find_track(&scene, 1)->y1 - 160) < 0.01, "box of parts");
    free_scene(&scene);
}

/* Frames come when they like; the interval says how far things have moved. */
void test_intervals(void)
{
    Scene scene = default_scene();
    double time = 0;
    for (int frame = 0; frame < 200; frame++) {
        const double frames = frame < 10 ? 1 : random_within(0.2, 6);
        time += frames;
        clear(&scene);
        add(&scene, box(8 * time, 100, 20, 20));
        add(&scene, box(2000 - 8 * time, 300, 20, 20));
        step(&scene, frames);
        CHECK(scene.ids[0] == 1 && scene.ids[1] == 2, "frame %d: %llu, %llu", frame,
              (unsigned long long)scene.ids[0], (unsigned long long)scene.ids[1]);
    }
    clear(&scene);
    for (int frame = 0; frame < 100; frame++)
        ccl_tracker_skip(scene.tracker, 1);
    CHECK(state_of(&scene, 1) == CCL_TRACK_PREDICTED, "frames nobody looked at have ended a track");
    step(&scene, 1e300);
    CHECK(state_of(&scene, 1) == CCL_TRACK_LOST, "an endless gap ends no track");
    free_scene(&scene);
}

/* Whoever lives on unseen for no frame is seen in the next one, also if that comes a nanosecond late. */
void test_intervals_in_nanoseconds(void)
{
    CclTrackerConfig config = ccl_tracker_config_default();
    for (config.max_age = 0; config.max_age < 6; config.max_age += 5) {
        Scene scene = new_scene(config);
        for (unsigned frame = 0; frame < 40; frame++) {
            const bool hidden = frame > 20 && frame <= 20 + config.max_age;
            clear(&scene);
            if (!hidden)
                add(&scene, box(100, 100, 20, 20));
            step(&scene, frame % 3 ? 1.00000003 : 0.99999997);
            CHECK(hidden || scene.ids[0] == 1, "max_age %u, frame %u: %llu", config.max_age, frame,
                  (unsigned long long)scene.ids[0]);
        }
        free_scene(&scene);
    }
}

/* However long the gap, and whoever looks first. */
void test_gap_before_a_skipped_frame(void)
{
    Scene scene = default_scene();
    for (unsigned frame = 0; frame < 5; frame++) {
        clear(&scene);
        add(&scene, box(100, 100, 20, 20));
        step(&scene, 1);
    }
    ccl_tracker_skip(scene.tracker, 3);
    CHECK(state_of(&scene, 1) == CCL_TRACK_PREDICTED, "a short gap ends a track");
    ccl_tracker_skip(scene.tracker, 100000);
    CHECK(state_of(&scene, 1) == CCL_TRACK_LOST, "a gap that ends in a skipped frame ends no track");
    step(&scene, 1);
    CHECK(scene.ids[0] == 2, "id %llu", (unsigned long long)scene.ids[0]);
    free_scene(&scene);
}

void test_types(void)
{
    for (int single = 0; single < 2; single++) {
        CclTrackerConfig config = ccl_tracker_config_default();
        config.single_class = single;
        Scene scene = new_scene(config);
        for (uint32_t frame = 0; frame < 10; frame++) {
            clear(&scene);
            CclDetection d = box(100, 100, 20, 20);
            d.type = frame / 5;
            add(&scene, d);
            step(&scene, 1);
        }
        CHECK(scene.ids[0] == (single ? 1 : 2), "id %llu", (unsigned long long)scene.ids[0]);
        free_scene(&scene);
    }
}

void test_iou_method(void)
{
    CclTrackerConfig config = ccl_tracker_config_default();
    config.method = CCL_TRACK_IOU;
    Scene scene = new_scene(config);
    for (int frame = 0; frame < 20; frame++) {
        clear(&scene);
        add(&scene, box(4 * frame, 100, 20, 20));  /* overlap 16 of 24 */
        add(&scene, box(15 * frame, 200, 20, 20)); /* 5 of 35: below the threshold */
        step(&scene, 1);
        CHECK(scene.ids[0] == 1 && (frame == 0 || scene.ids[1] > 2), "frame %d", frame);
    }
    free_scene(&scene);
}

/* By overlap alone a track is where it was seen last, and inside of what it merges with. */
void test_places_of_iou(void)
{
    CclTrackerConfig config = ccl_tracker_config_default();
    config.method = CCL_TRACK_IOU;
    Scene scene = new_scene(config);
    for (int frame = 0; frame < 70; frame++) {
        const double left = 20 + 4 * frame, right = 500 - 4 * frame; /* they touch from frame 56 on */
        clear(&scene);
        add_as_blob(&scene, box(left, 100, 40, 40));
        add_as_blob(&scene, box(right, 110, 40, 40));
        step(&scene, 1);
        if (scene.n == 2) {
            CHECK(frame > 56 || fabs(find_track(&scene, 1)->x - left - 20) < 1e-9, "frame %d: at %g", frame,
                  find_track(&scene, 1)->x);
            continue;
        }
        const CclDetection *const d = scene.detections;
        for (uint64_t id = 1; id <= 2; id++) {
            const CclTrack *const t = find_track(&scene, id);
            CHECK(t && t->x >= d->x0 && t->x <= d->x1, "frame %d: %llu is %s", frame, (unsigned long long)id,
                  t ? "outside" : "gone");
        }
    }
    free_scene(&scene);
}
