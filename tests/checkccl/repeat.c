/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Suite `repeat`: the same frames a thousand times over, with the same bytes every time. A race that shows once in a
 * thousand frames shows here. Not of iterative methods, which wait for the device between their steps. */
#include "bench.h"
#include "checkccl.h"

#include "backend.h"
#include "host/test_switches.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { N_SCENES = CCL_MAX_DEPTH }; /* none that has a label image is twice in flight */

typedef struct Scene {
    Image image;
    Case c;
    Outcome expected;
    CclMask mask;
    CclLabels labels;
} Scene;

typedef struct Look {
    const char *kind;
    uint32_t width, height;
    CclMemory mask_memory;
} Look;

static const Look looks[N_SCENES] = {
    { "noise_g1_d50", 321, 241, CCL_MEMORY_DEVICE },
    { "video_salt0.05", 639, 479, CCL_MEMORY_DEVICE },
    { "spiral", 203, 151, CCL_MEMORY_PINNED },
    { "noise_g4_d50", 437, 97, CCL_MEMORY_HOST },
};

/* So many tiles, on a device of up to 333 multiprocessors, that `runs` has room for few runs of each. Those at the top and
 * at the bottom of the first three have more, but for the checkerboard's 8-connected; the comb's then as nodes of two rows. */
enum { DENSE_ROWS = 13 };
static const Look dense_looks[N_SCENES] = {
    { "noise_g1_d50", 2339, 8003, CCL_MEMORY_DEVICE },
    { "comb", 2339, 8003, CCL_MEMORY_DEVICE },
    { "checkerboard", 2339, 8003, CCL_MEMORY_DEVICE },
    { "video_salt0.05", 2339, 8003, CCL_MEMORY_DEVICE },
};

/* More tiles than two for each of 166 multiprocessors: `runs` then has one lane to a word, as of 3840x2160. */
static const Look large_looks[N_SCENES] = {
    { "noise_g1_d50", 2113, 1337, CCL_MEMORY_DEVICE },
    { "video_salt0.05", 2113, 1337, CCL_MEMORY_DEVICE },
    { "comb", 2113, 1337, CCL_MEMORY_DEVICE },
    { "spiral", 2113, 1337, CCL_MEMORY_DEVICE },
};

/* All alike for the backend, so that one launched with what was brought for another is seen. */
static const Look alike_looks[N_SCENES] = {
    { "noise_g4_d50", 397, 397, CCL_MEMORY_HOST },
    { "spiral", 397, 397, CCL_MEMORY_HOST },
    { "video_salt0.05", 397, 397, CCL_MEMORY_PINNED },
    { "noise_g1_d50", 397, 397, CCL_MEMORY_PINNED },
};

/* The same of several tiles side by side, the last piece a short one. As high as that for 131 multiprocessors and more, so that
 * `runs` waits for the host itself. */
static const Look wide_looks[N_SCENES] = {
    { "noise_g4_d50", 2113, 1041, CCL_MEMORY_HOST },
    { "spiral", 2113, 1041, CCL_MEMORY_HOST },
    { "video_salt0.05", 2113, 1041, CCL_MEMORY_PINNED },
    { "comb", 2113, 1041, CCL_MEMORY_HOST },
};

/* How they are run. */
typedef struct Way {
    const char *name;
    unsigned depth; /* of the context */
    unsigned in_flight;
    bool by_itself; /* every kernel is launched by itself, not by a CUDA graph */
    unsigned part;  /* one of this many of the thousand */
    unsigned quiet; /* how often the last scene is repeated; once if scenes have label images */
} Way;

static const Way ways[] = {
    { "alone", CCL_MAX_DEPTH, 1, false, 2, 1 },
    { "in flight", CCL_MAX_DEPTH, CCL_MAX_DEPTH, false, 2, 1 },
    { "in flight, without graphs", CCL_MAX_DEPTH, CCL_MAX_DEPTH, true, 4, 1 }, /* of CUDA only: the last */
};
enum { N_WAYS = sizeof ways / sizeof *ways };

static const Way large_way = { "large, in flight", CCL_MAX_DEPTH, CCL_MAX_DEPTH, false, 1, 1 };

/* Of contexts that share the device: with CCL_TEST_CLUSTERS, by clusters of blocks. Every other scene has a filter. */
static const Way table_way = { "tables alone", CCL_MAX_DEPTH, CCL_MAX_DEPTH, false, 2, 1 };

/* Masks that are packed, each where the one before was. */
static const Way alike_way = { "one place for all", 1, 1, false, 2, 1 };

/* Quiet for as long as the backend takes masks to be dense after one was, and some frames more. */
static const Way dense_way = { "dense now and then", CCL_MAX_DEPTH, CCL_MAX_DEPTH, false, 1, 40 };

static void scene_draw(Session *session, Scene *scene, const Look *look, uint32_t width, uint32_t height, Product product)
{
    unsigned n_kinds;
    Kind *const kind = kinds_named(look->kind, &n_kinds);
    scene->image = kind->draw(kind, width, height, &session->random);
    scene->c = case_new(&scene->image, product, "%s", look->kind);
    scene->c.layout.mask_memory = look->mask_memory;
    scene->c.layout.labels_memory = CCL_MEMORY_PINNED; /* looked at where it lies */
    free(kind);
}

static const Scene *scene_of(const Scene *scenes, const Way *way, unsigned frame)
{
    const unsigned i = frame % (N_SCENES - 1 + way->quiet);
    return &scenes[i < N_SCENES ? i : N_SCENES - 1];
}

static bool scene_submit(CclContext *context, const Scene *scene)
{
    const bool labels = scene->c.product == PRODUCT_LABELS;
    if (labels)
        memset(scene->labels.data, 0xee, scene->labels.stride * scene->image.height); /* not those of the last time */
    return ccl_submit(context, &scene->mask, &scene->c.filter, labels ? &scene->labels : NULL) == CCL_OK;
}

static bool scene_collect(CclContext *context, const Scene *scene, char why[400])
{
    Outcome got = { .labels = scene->labels.data };
    if (ccl_collect(context, &got.table) == CCL_OK)
        return same_outcome(&scene->c, &scene->expected, &got, why);
    snprintf(why, 400, "%.399s", ccl_error_message());
    return false;
}

/* `n` frames, the scenes in turn. Returns how many came out right before one did not. */
static unsigned run_frames(CclContext *context, const Scene *scenes, const Way *way, unsigned n, char why[400])
{
    for (unsigned submitted = 0, collected = 0; collected < n; collected++) {
        for (; submitted < n && submitted < collected + way->in_flight; submitted++)
            if (!scene_submit(context, scene_of(scenes, way, submitted))) {
                snprintf(why, 400, "%.399s", ccl_error_message());
                return collected;
            }
        if (!scene_collect(context, scene_of(scenes, way, collected), why))
            return collected;
    }
    return n;
}

static void check_way(Session *session, const Subject *subject, const CclConfig *config, const Scene *scenes,
                      const Way *way, unsigned n)
{
    CclContext *context;
    char why[400] = "";
    if (way->by_itself)
        setenv("CCL_TEST_GRAPHS", "0", 1);
    ccl_test_switches_reread();
    const bool open = ccl_context_new(config, &context) == CCL_OK;
    unsetenv("CCL_TEST_GRAPHS");
    ccl_test_switches_reread();
    if (!check(session, open, "%s: %s", subject->name, ccl_error_message()))
        return;
    const unsigned n_right = run_frames(context, scenes, way, n, why);
    const Scene *const scene = scene_of(scenes, way, n_right);
    check(session, n_right == n, "%s, %s: %s %ux%u, frame %u of %u: %s", subject->name, way->name, scene->c.name,
          scene->image.width, scene->image.height, n_right + 1, n, why);
    /* CCL_TEST_TIMEOUTS: launches block, so the caller packs only after the kernels have timed out. Helpers would pack earlier. */
    if (way == &alike_way && config->threads == 1 && getenv("CCL_TEST_TIMEOUTS"))
        check(session, ccl_context_timeouts(context), "%s, %s: no frame was launched before its mask was packed", subject->name,
              way->name);
    ccl_context_free(context);
}

/* How often each scene is run. A CPU method in one thread has nothing to race with. */
static unsigned repetitions(const Session *session, const Subject *subject)
{
    const bool cuda = subject->config.backend == CCL_BACKEND_CUDA;
    if (cuda && subject->config.threads > 1 && !method_of(&subject->config)->takes_bits)
        return 0; /* what it does is what it does with one */
    if (session->max_pixels)
        return 8; /* in emulation */
    return session->quick ? 20 : cuda || subject->config.threads != 1 ? 1000 : 50;
}

/* Each of the ways, `n` frames of each scene divided by its part. */
static void check_subject(Session *session, const Subject *subject, Scene *scenes, const Way *some_ways, unsigned n_ways,
                          unsigned n)
{
    CclConfig config = subject->config;
    config.labels = scenes[0].c.product == PRODUCT_LABELS;
    config.max_components = 1;
    for (unsigned i = 0; i < N_SCENES; i++) {
        Scene *const scene = &scenes[i];
        scene->expected = expected_outcome(&scene->c, config.connectivity);
        layout_prepare(i, &scene->c, config.backend, &scene->mask, &scene->labels);
        config.max_width = scene->image.width > config.max_width ? scene->image.width : config.max_width;
        config.max_height = scene->image.height > config.max_height ? scene->image.height : config.max_height;
        if (scene->expected.table.n_found > config.max_components)
            config.max_components = scene->expected.table.n_found;
    }
    for (unsigned i = 0; i < n_ways; i++) {
        config.depth = some_ways[i].depth;
        check_way(session, subject, &config, scenes, &some_ways[i], n / some_ways[i].part * N_SCENES);
    }
    for (unsigned i = 0; i < N_SCENES; i++) {
        Outcome last = { .table = { 0 } };
        layout_finish(i, &last);
        check(session, !last.error[0], "%s: %s: %s", subject->name, scenes[i].c.name, last.error);
        outcome_free(&last);
        outcome_free(&scenes[i].expected);
    }
}

static void free_scenes(Scene *scenes)
{
    for (unsigned i = 0; i < N_SCENES; i++)
        image_free(&scenes[i].image);
}

static void draw_scenes(Session *session, Scene *scenes, const Look *some_looks, Product product)
{
    for (unsigned i = 0; i < N_SCENES; i++) {
        uint32_t width = some_looks[i].width, height = some_looks[i].height;
        while (session->max_pixels && (uint64_t)width * height > session->max_pixels) {
            width = width / 2 | 1;
            height = height / 2 | 1;
        }
        scene_draw(session, &scenes[i], &some_looks[i], width, height, product);
    }
}

/* As wide as they are, and not as high where the device is that of the emulation, which is small. */
static void draw_wide_scenes(Session *session, Scene *scenes, const Look *some_looks, uint32_t emulated_height)
{
    for (unsigned i = 0; i < N_SCENES; i++)
        scene_draw(session, &scenes[i], &some_looks[i], some_looks[i].width,
                   session->max_pixels ? emulated_height : some_looks[i].height, PRODUCT_TABLE);
}

static void draw_dense_scenes(Session *session, Scene *scenes)
{
    draw_wide_scenes(session, scenes, dense_looks, 107);
    for (unsigned i = 0; i < N_SCENES; i++) {
        const Image *const image = &scenes[i].image;
        memset(image_at(image, 0, DENSE_ROWS), 0, (size_t)image->width * (image->height - 2 * DENSE_ROWS));
    }
}

/* One of this many scenes is filtered. */
static void filter_scenes(Scene *scenes, unsigned step)
{
    for (unsigned i = 0; i < N_SCENES; i += step) /* the spiral is at the border */
        scenes[i].c.filter = (CclFilter){ .min_area = 3, .border = i ? CCL_BORDER_KEEP : CCL_BORDER_DROP };
}

void check_repeat(Session *session)
{
    Scene scenes[N_SCENES] = { 0 }, tables[N_SCENES] = { 0 }, alike[N_SCENES] = { 0 }, wide[N_SCENES] = { 0 },
          dense[N_SCENES] = { 0 }, large[N_SCENES] = { 0 };
    draw_scenes(session, scenes, looks, PRODUCT_LABELS);
    draw_scenes(session, tables, looks, PRODUCT_TABLE);
    draw_scenes(session, alike, alike_looks, PRODUCT_TABLE);
    filter_scenes(tables, 2);
    for (unsigned s = 0; s < session->n_subjects; s++) {
        Subject *const subject = &session->subjects[s];
        const bool cuda = subject->config.backend == CCL_BACKEND_CUDA;
        const unsigned n = repetitions(session, subject);
        if (subject->dead || method_of(&subject->config)->iterative || !n)
            continue;
        subject_close(subject);
        layout_now_running(subject, NULL);
        check_subject(session, subject, scenes, ways, cuda ? N_WAYS : N_WAYS - 1, n);
        if (cuda && method_of(&subject->config)->takes_bits) {
            if (!wide[0].image.pixels) {
                draw_wide_scenes(session, wide, wide_looks, 25);
                filter_scenes(wide, 1); /* filtered or not is other kernels */
            }
            check_subject(session, subject, alike, &alike_way, 1, n);
            check_subject(session, subject, wide, &alike_way, 1, session->max_pixels ? n : n / 10);
        }
        if (!cuda || !method_of(&subject->config)->batches)
            continue;
        if (subject->config.shared)
            check_subject(session, subject, tables, &table_way, 1, n);
        /* Masks on the device are not packed, so threads are alike. In emulation, with few multiprocessors, the other
         * scenes have as many tiles for each. */
        if (subject->config.threads == 1 && !session->max_pixels) {
            if (!large[0].image.pixels)
                draw_scenes(session, large, large_looks, PRODUCT_LABELS);
            check_subject(session, subject, large, &large_way, 1, n);
        }
        if (!dense[0].image.pixels)
            draw_dense_scenes(session, dense); /* large: only if somebody looks at them */
        check_subject(session, subject, dense, &dense_way, 1, session->max_pixels ? 12 : 48);
    }
    free_scenes(scenes);
    free_scenes(tables);
    free_scenes(alike);
    free_scenes(wide);
    free_scenes(dense);
    free_scenes(large);
}
