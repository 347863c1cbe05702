/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Boxes of a detector: the model, the cost, the stages, and scenes with detections that are missing or uncertain. */
#include "checktrack.h"

#include "analysis/track_boxes.h"

#include <math.h>

static CclDetection sure_box(double x0, double y0, double w, double h, double confidence)
{
    CclDetection d = box(x0, y0, w, h);
    d.confidence = confidence;
    return d;
}

static Scene box_scene(void)
{
    CclTrackerConfig config = ccl_tracker_config_default();
    config.boxes = true;
    return new_scene(config);
}

/* The filter finds speed and growth; an unseen track keeps its size, and no interval makes a side negative. */
void test_box_model(void)
{
    CclDetection d = box(100, 100, 40, 80);
    TrackItem item;
    track_box_begin(&item, &d);
    CHECK(item.track.x0 == 100 && item.track.y1 == 180, "a track does not begin at its box");
    for (int frame = 1; frame <= 60; frame++) {
        d = box(100 + 3 * frame, 100, 40 + frame, 80 + 2 * frame);
        track_box_predict(&item, 1);
        track_box_correct(&item, &d);
    }
    CHECK(fabs(item.track.vx - 3.5) < 0.2 && fabs(item.ah.v - 2) < 0.3, "speed %g, growth %g", item.track.vx, item.ah.v);
    const double width = item.w;
    item.track.misses = 1;
    track_box_predict(&item, 5);
    CHECK(fabs(item.w - width) < 1e-9, "an unseen track grows from %g to %g", width, item.w);
    item.track.misses = 0;
    item.aw.v = item.ah.v = -10;
    track_box_predict(&item, 1000);
    CHECK(item.track.x1 > item.track.x0 && item.track.y1 > item.track.y0, "a box of %gx%g", item.w, item.h);
}

void test_box_cost(void)
{
    CclTrackerConfig config = ccl_tracker_config_default();
    const CclDetection at = box(100, 100, 20, 40), beside = box(125, 100, 20, 40), far = box(145, 100, 20, 40);
    const CclDetection small = box(105, 110, 10, 20);
    CclDetection other = at;
    TrackItem item;
    track_box_begin(&item, &at);
    const CclTrack *const t = &item.track;

    CHECK(track_box_cost(&config, t, &at) == 0, "the same box costs %g", track_box_cost(&config, t, &at));
    /* They do not touch; with a buffer of half their size they share 15 of 65 columns. */
    CHECK(fabs(track_box_overlap(t, &beside) - 15.0 / 65) < 1e-9, "%g", track_box_overlap(t, &beside));
    CHECK(track_box_cost(&config, t, &beside) == INFINITY, "an overlap of 0.23 is above 0.3");
    config.iou_threshold = 0.2;
    CHECK(track_box_cost(&config, t, &beside) < INFINITY, "an overlap of 0.23 is below 0.2");
    config.iou_threshold = 0;
    CHECK(track_box_cost(&config, t, &far) == INFINITY, "boxes without overlap are a pair");
    CHECK(track_box_cost(&config, t, &small) > track_box_cost(&config, t, &at), "size costs nothing");
    other.type = 1;
    CHECK(track_box_cost(&config, t, &other) == INFINITY, "another type is taken");
    config.single_class = true;
    CHECK(track_box_cost(&config, t, &other) == 0, "single_class: another type costs something");

    CHECK(!track_box_is_sure(&config, &(CclDetection){ .confidence = 0.59 }), "0.59 is high");
    CHECK(track_box_is_sure(&config, &(CclDetection){ .confidence = 0.6 }), "0.6 is low");
    CHECK(track_box_is_sure(&config, &(CclDetection){ .confidence = 0 }), "an unknown confidence is low");
}

/* Uncertain boxes start no track, and keep one alive. A new track does not take the box of a confirmed one. */
void test_box_stages(void)
{
    Scene scene = box_scene();
    for (int frame = 0; frame < 40; frame++) {
        clear(&scene);
        add(&scene, sure_box(100 + 2 * frame, 100, 30, 60, frame < 10 ? 0.9 : 0.3));
        add(&scene, sure_box(300, 100, 30, 60, 0.5));
        step(&scene, 1);
        CHECK(scene.ids[0] == 1, "frame %d: id %llu", frame, (unsigned long long)scene.ids[0]);
        CHECK(scene.ids[1] == 0, "frame %d: an uncertain box starts track %llu", frame, (unsigned long long)scene.ids[1]);
    }
    clear(&scene);
    add(&scene, sure_box(170, 100, 30, 60, 0.9)); /* a second box of the same person */
    add(&scene, sure_box(180, 100, 30, 60, 0.9));
    step(&scene, 1);
    const uint64_t second = scene.ids[0];
    CHECK(scene.ids[1] == 1 && second > 1, "ids %llu, %llu", (unsigned long long)second, (unsigned long long)scene.ids[1]);
    clear(&scene);
    add(&scene, sure_box(176, 100, 30, 60, 0.9));
    step(&scene, 1);
    CHECK(scene.ids[0] == 1, "a new track takes the box of a confirmed one: %llu", (unsigned long long)scene.ids[0]);
    free_scene(&scene);
}

/* Two people pass each other; while they overlap the detector finds one of them. */
void test_box_crossing(void)
{
    for (double speed = 2; speed <= 10; speed += 2) {
        Scene scene = box_scene();
        uint64_t left = 0, right = 0;
        for (double x = 0; x <= 400; x += speed) {
            clear(&scene);
            add(&scene, sure_box(x, 100, 30, 80, 0.9));
            if (fabs(x - 200) > 10)
                add(&scene, sure_box(400 - x, 104, 30, 80, 0.9));
            step(&scene, 1);
            if (x == 10 * speed) {
                left = scene.ids[0];
                right = scene.ids[1];
            }
        }
        CHECK(left != right && scene.ids[0] == left && scene.ids[1] == right, "speed %g: %llu, %llu become %llu, %llu", speed,
              (unsigned long long)left, (unsigned long long)right, (unsigned long long)scene.ids[0],
              (unsigned long long)scene.ids[1]);
        free_scene(&scene);
    }
}

/* Places and sizes with noise, one detection in ten missing, at several frame rates and scales: the ids stay. */
void test_box_noise(void)
{
    random_seed(5);
    for (int run = 0; run < 40; run++) {
        const double scale = random_within(0.5, 8), speed = scale * random_within(0, 8);
        Scene scene = box_scene();
        uint64_t last = 0;
        int n_changes = 0;
        for (int frame = 0; frame < 200; frame++) {
            clear(&scene);
            if (frame < 5 || random_below(10) > 0) {
                const double w = scale * 20 * random_within(0.92, 1.08), h = scale * 50 * random_within(0.92, 1.08);
                add(&scene, sure_box(frame * speed - w / 2 + scale * random_within(-2, 2), 500 - h / 2, w, h, 0.8));
            }
            step(&scene, 1);
            n_changes += scene.n > 0 && last != 0 && scene.ids[0] != last;
            last = scene.n > 0 ? scene.ids[0] : last;
        }
        CHECK(n_changes == 0, "run %d, scale %g, speed %g: %d changes", run, scale, speed, n_changes);
        free_scene(&scene);
    }
}

/* Blobs and boxes have different models, so a change ends all tracks; bad settings are refused. */
void test_box_settings(void)
{
    Scene scene = box_scene();
    CclTrackerConfig config = scene.config;
    add(&scene, box(100, 100, 20, 20));
    step(&scene, 1);
    config.boxes = false;
    CHECK(ccl_tracker_configure(scene.tracker, &config) == CCL_OK && count_tracks(&scene) == 0, "a track of boxes lives on");
    step(&scene, 1);
    CHECK(scene.ids[0] == 2, "id %llu", (unsigned long long)scene.ids[0]);
    config.high_confidence = 1.5;
    CHECK(ccl_tracker_configure(scene.tracker, &config) == CCL_ERROR_ARGUMENT, "a confidence of 1.5 is taken");
    config.high_confidence = NAN;
    CHECK(ccl_tracker_configure(scene.tracker, &config) == CCL_ERROR_ARGUMENT, "a confidence of NaN is taken");
    free_scene(&scene);
}
