/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Tests of the tracker: assignment against an exhaustive reference, then scenes whose truth is known. */

#include "analysis/assignment.h"
#include "analysis/track.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#ifdef __GLIBC__
#include <malloc.h>
#endif

#define COUNT(array) (sizeof(array) / sizeof *(array))

#define CHECK(condition, ...)                                               \
    do {                                                                    \
        if (!(condition)) {                                                 \
            printf("%s:%d: not so: %s: ", __FILE__, __LINE__, #condition);  \
            printf(__VA_ARGS__);                                            \
            printf("\n");                                                   \
            exit(1);                                                        \
        }                                                                   \
    } while (0)

/* ---------------------------------------------------------------- random numbers */

static uint64_t random_state = 1;

static uint32_t random_below(uint32_t n)
{
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)((random_state >> 33) % n);
}

static double random_within(double low, double high)
{
    return low + (high - low) * random_below(1000001) / 1e6;
}

/* ---------------------------------------------------------------- assignment */

#define MAX_COLUMNS 9

/* Least cost of rows `row` and up, where `taken` columns are gone. */
static double min_cost(const double *cost, uint32_t rows, uint32_t columns, double alone, uint32_t row,
                         uint32_t taken)
{
    if (row == rows)
        return 0;
    double least = alone + min_cost(cost, rows, columns, alone, row + 1, taken);
    for (uint32_t c = 0; c < columns; c++)
        if (!(taken >> c & 1) && isfinite(cost[row * columns + c]))
            least = fmin(least, cost[row * columns + c] +
                                    min_cost(cost, rows, columns, alone, row + 1, taken | 1u << c));
    return least;
}

/* Cost of an assignment; every row has one of its pairs, no column is there twice. */
static double cost_of(const double *cost, uint32_t rows, uint32_t columns, double alone, const uint32_t *column_of)
{
    uint32_t taken = 0;
    double sum = 0;
    for (uint32_t r = 0; r < rows; r++) {
        if (column_of[r] == CCL_ASSIGN_ALONE) {
            sum += alone;
            continue;
        }
        CHECK(column_of[r] < columns && !(taken >> column_of[r] & 1), "row %u has column %u", r, column_of[r]);
        CHECK(isfinite(cost[r * columns + column_of[r]]), "no pair %u, %u", r, column_of[r]);
        taken |= 1u << column_of[r];
        sum += cost[r * columns + column_of[r]];
    }
    return sum;
}

static void check_assignment(uint32_t rows, uint32_t columns, double density, double steps)
{
    double cost[6 * MAX_COLUMNS];
    CclPair pairs[6 * MAX_COLUMNS];
    uint32_t n_pairs = 0, column_of[6];

    for (uint32_t r = 0; r < rows; r++)
        for (uint32_t c = 0; c < columns; c++) {
            double *const cell = &cost[r * columns + c];
            *cell = random_within(0, 1) < density ? floor(random_within(0, 3) * steps) / steps : INFINITY;
            if (isfinite(*cell))
                pairs[n_pairs++] = (CclPair){ r, c, *cell };
        }
    void *const workspace = malloc(ccl_assign_workspace(rows, columns, n_pairs) + 1);
    ccl_assign(pairs, n_pairs, rows, columns, 2, column_of, workspace);
    free(workspace);
    const double found = cost_of(cost, rows, columns, 2, column_of);
    const double least = min_cost(cost, rows, columns, 2, 0, 0);
    CHECK(fabs(found - least) < 1e-9, "%ux%u: cost %g, could be %g", rows, columns, found, least);
}

static void test_assignment_is_optimal(void)
{
    for (uint32_t i = 0; i < 20000; i++) /* few steps: many equal costs */
        check_assignment(random_below(7), random_below(MAX_COLUMNS - 2), random_within(0, 1), i % 2 ? 3 : 1e6);
}

/* All want the same: the limit of steps must hold, the result must still be an assignment. */
static void test_assignment_of_a_crowd(void)
{
    enum { N = 4000, EACH = 16 };
    CclPair *const pairs = malloc(N * EACH * sizeof *pairs);
    uint32_t *const column_of = malloc(N * sizeof *column_of);
    char *const taken = calloc(N, 1);
    void *const workspace = malloc(ccl_assign_workspace(N, N, N * EACH));
    uint32_t n_placed = 0;

    for (uint32_t i = 0; i < N * EACH; i++)
        pairs[i] = (CclPair){ i / EACH, (i / EACH * 7 + i % EACH * i % EACH) % (N / 2), 1 + 1e-6 * random_below(3) };
    const clock_t begin = clock();
    ccl_assign(pairs, N * EACH, N, N, 2, column_of, workspace);
    const double seconds = (double)(clock() - begin) / CLOCKS_PER_SEC;
    for (uint32_t r = 0; r < N; r++) {
        if (column_of[r] == CCL_ASSIGN_ALONE)
            continue;
        CHECK(column_of[r] < N && !taken[column_of[r]], "row %u has column %u", r, column_of[r]);
        taken[column_of[r]] = 1;
        n_placed++;
    }
    CHECK(n_placed > N / 4, "%u of %d rows have a column", n_placed, N);
    printf("    %d rows that want the same columns: %.1f ms\n", N, 1e3 * seconds);
    free(workspace);
    free(taken);
    free(column_of);
    free(pairs);
}

/* ---------------------------------------------------------------- scenes */

typedef struct Scene {
    CclTracker *tracker;
    CclTrackerConfig config;
    CclDetection *detections;
    uint32_t n, size;
    uint64_t *ids; /* of the detections */
} Scene;

static Scene new_scene(CclTrackerConfig config)
{
    Scene scene = { .config = config };
    CHECK(ccl_tracker_new(&config, &scene.tracker) == CCL_OK, "%s", ccl_error_message());
    return scene;
}

static Scene default_scene(void)
{
    return new_scene(ccl_tracker_config_default());
}

static void free_scene(Scene *scene)
{
    ccl_tracker_free(scene->tracker);
    free(scene->detections);
    free(scene->ids);
}

static void add(Scene *scene, CclDetection d)
{
    if (scene->n == scene->size) {
        scene->size = 2 * scene->size + 16;
        scene->detections = realloc(scene->detections, scene->size * sizeof *scene->detections);
        scene->ids = realloc(scene->ids, scene->size * sizeof *scene->ids);
    }
    scene->detections[scene->n++] = d;
}

static CclDetection box(double x0, double y0, double w, double h)
{
    return (CclDetection){ .x = x0 + w / 2, .y = y0 + h / 2, .xx = w * w / 12, .yy = h * h / 12,
                           .x0 = x0, .y0 = y0, .x1 = x0 + w, .y1 = y0 + h };
}

/* As a labeller sees it: what touches is one blob. */
static void add_as_blob(Scene *scene, CclDetection d)
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

static void step(Scene *scene, double frames)
{
    CHECK(ccl_tracker_update(scene->tracker, scene->detections, scene->n, frames, scene->ids) == CCL_OK, "%s",
          ccl_error_message());
}

static void clear(Scene *scene)
{
    scene->n = 0;
}

static const CclTrack *find_track(const Scene *scene, uint64_t id)
{
    const CclTrack *tracks;
    const uint32_t n = ccl_tracker_tracks(scene->tracker, &tracks);
    for (uint32_t i = 0; i < n; i++)
        if (tracks[i].id == id)
            return &tracks[i];
    return NULL;
}

static uint32_t count_tracks(const Scene *scene)
{
    const CclTrack *tracks;
    return ccl_tracker_tracks(scene->tracker, &tracks);
}

static CclTrackState state_of(const Scene *scene, uint64_t id)
{
    const CclTrack *const track = find_track(scene, id);
    CHECK(track, "no track %llu", (unsigned long long)id);
    return track->state;
}

static void test_settings(void)
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
static void test_life(void)
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

static void test_vanishing(void)
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
static void test_crossing(void)
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
static void test_splitting(void)
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
static void test_parts(void)
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
static void test_intervals(void)
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
static void test_intervals_in_nanoseconds(void)
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
static void test_gap_before_a_skipped_frame(void)
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

static void test_types(void)
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

static void test_iou_method(void)
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
static void test_places_of_iou(void)
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

/* ---------------------------------------------------------------- crowds */

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

static void test_crowds(void)
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

/* ---------------------------------------------------------------- churn and nonsense */

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
static void test_churn(void)
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

static void test_nonsense(void)
{
    Scene scene = default_scene();
    for (int frame = 0; frame < 20000; frame++) {
        clear(&scene);
        for (uint32_t i = random_below(8); i > 0; i--)
            add(&scene, (CclDetection){ nonsense(), nonsense(), nonsense(), nonsense(), nonsense(), nonsense(),
                                        nonsense(), nonsense(), nonsense(), random_below(2) });
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
static void test_small_boxes(void)
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
static void test_repeatable(void)
{
    uint64_t sums[2] = { 0 };
    for (int run = 0; run < 2; run++) {
        random_state = 77;
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

int main(void)
{
    static const struct {
        const char *name;
        void (*run)(void);
    } tests[] = {
        { "assignment is optimal", test_assignment_is_optimal },
        { "assignment of a crowd", test_assignment_of_a_crowd },
        { "settings", test_settings },
        { "life", test_life },
        { "vanishing", test_vanishing },
        { "crossing", test_crossing },
        { "splitting", test_splitting },
        { "parts", test_parts },
        { "intervals", test_intervals },
        { "intervals in nanoseconds", test_intervals_in_nanoseconds },
        { "gap before a skipped frame", test_gap_before_a_skipped_frame },
        { "types", test_types },
        { "method iou", test_iou_method },
        { "places of iou", test_places_of_iou },
        { "crowds", test_crowds },
        { "churn", test_churn },
        { "nonsense", test_nonsense },
        { "small boxes", test_small_boxes },
        { "repeatable", test_repeatable },
    };
    for (size_t i = 0; i < COUNT(tests); i++) {
        printf("%s\n", tests[i].name);
        fflush(stdout);
        tests[i].run();
    }
    return 0;
}
