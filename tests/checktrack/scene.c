/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "checktrack.h"

#include <math.h>
#include <stdlib.h>

static uint64_t random_state = 1;

void random_seed(uint64_t seed)
{
    random_state = seed;
}

uint32_t random_below(uint32_t n)
{
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)((random_state >> 33) % n);
}

double random_within(double low, double high)
{
    return low + (high - low) * random_below(1000001) / 1e6;
}

/* ---------------------------------------------------------------- scenes */

Scene new_scene(CclTrackerConfig config)
{
    Scene scene = { .config = config };
    CHECK(ccl_tracker_new(&config, &scene.tracker) == CCL_OK, "%s", ccl_error_message());
    return scene;
}

Scene default_scene(void)
{
    return new_scene(ccl_tracker_config_default());
}

void free_scene(Scene *scene)
{
    ccl_tracker_free(scene->tracker);
    free(scene->detections);
    free(scene->ids);
}

void add(Scene *scene, CclDetection d)
{
    if (scene->n == scene->capacity) {
        scene->capacity = 2 * scene->capacity + 16;
        scene->detections = realloc(scene->detections, scene->capacity * sizeof *scene->detections);
        scene->ids = realloc(scene->ids, scene->capacity * sizeof *scene->ids);
    }
    scene->detections[scene->n++] = d;
}

CclDetection box(double x0, double y0, double w, double h)
{
    return (CclDetection){ .x = x0 + w / 2, .y = y0 + h / 2, .xx = w * w / 12, .yy = h * h / 12,
                           .x0 = x0, .y0 = y0, .x1 = x0 + w, .y1 = y0 + h };
}

void add_as_blob(Scene *scene, CclDetection d)
{
    for (uint32_t i = 0; i < scene->n; i++) {
        const CclDetection o = scene->detections[i];
        if (o.x0 >= d.x1 || d.x0 >= o.x1 || o.y0 >= d.y1 || d.y0 >= o.y1)
            continue;
        const double x0 = fmin(o.x0, d.x0), y0 = fmin(o.y0, d.y0);
        scene->detections[i] = scene->detections[--scene->n];
        add_as_blob(scene, box(x0, y0, fmax(o.x1, d.x1) - x0, fmax(o.y1, d.y1) - y0));
        return;
    }
    add(scene, d);
}

void step(Scene *scene, double frames)
{
    CHECK(ccl_tracker_update(scene->tracker, scene->detections, scene->n, frames, scene->ids) == CCL_OK, "%s",
          ccl_error_message());
}

void clear(Scene *scene)
{
    scene->n = 0;
}

const CclTrack *find_track(const Scene *scene, uint64_t id)
{
    const CclTrack *tracks;
    const uint32_t n = ccl_tracker_tracks(scene->tracker, &tracks);
    for (uint32_t i = 0; i < n; i++)
        if (tracks[i].id == id)
            return &tracks[i];
    return NULL;
}

uint32_t count_tracks(const Scene *scene)
{
    const CclTrack *tracks;
    return ccl_tracker_tracks(scene->tracker, &tracks);
}

CclTrackState state_of(const Scene *scene, uint64_t id)
{
    const CclTrack *const track = find_track(scene, id);
    CHECK(track, "no track %llu", (unsigned long long)id);
    return track->state;
}
