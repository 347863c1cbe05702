/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Suite `repeat`: the same frames a thousand times over, with the same bytes every time. A race that shows once in a
 * thousand frames shows here. Not of iterative methods, which wait for the device between their steps. */
#include "bench.h"
#include "checkccl.h"

#include "backend.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { N_SCENES = CCL_MAX_DEPTH }; /* none is twice in flight */

typedef struct Scene {
    Image image;
    Case c;
    Outcome expected;
    CclMask mask;
    CclLabels labels;
} Scene;

static const struct {
    const char *kind;
    uint32_t width, height;
    CclMemory mask_memory;
} looks[N_SCENES] = {
    { "noise_g1_d50", 321, 241, CCL_MEMORY_DEVICE },
    { "video_salt0.05", 639, 479, CCL_MEMORY_DEVICE },
    { "spiral", 203, 151, CCL_MEMORY_PINNED },
    { "noise_g4_d50", 437, 97, CCL_MEMORY_HOST },
};

/* How they are run. */
typedef struct Way {
    const char *name;
    unsigned in_flight;
    bool by_itself; /* every kernel is launched by itself, not by a CUDA graph */
    unsigned part;  /* one in so many of the thousand */
} Way;

static const Way ways[] = {
    { "alone", 1, false, 2 },
    { "in flight", CCL_MAX_DEPTH, false, 2 },
    { "in flight, without graphs", CCL_MAX_DEPTH, true, 4 }, /* of CUDA only: the last */
};
enum { N_WAYS = sizeof ways / sizeof *ways };

static void scene_draw(Session *session, Scene *scene, unsigned i)
{
    unsigned n_kinds;
    Kind *const kind = kinds_named(looks[i].kind, &n_kinds);
    uint32_t width = looks[i].width, height = looks[i].height;
    while (session->most_pixels && (uint64_t)width * height > session->most_pixels) {
        width = width / 2 | 1;
        height = height / 2 | 1;
    }
    scene->image = kind->draw(kind, width, height, &session->random);
    scene->c = case_new(&scene->image, PRODUCT_LABELS, "%s", looks[i].kind);
    scene->c.layout.mask_memory = looks[i].mask_memory;
    scene->c.layout.labels_memory = CCL_MEMORY_PINNED; /* looked at where it lies */
    free(kind);
}

static bool scene_submit(CclContext *context, const Scene *scene)
{
    memset(scene->labels.data, 0xee, scene->labels.stride * scene->image.height); /* not those of the last time */
    return ccl_submit(context, &scene->mask, NULL, &scene->labels) == CCL_OK;
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
static unsigned run_frames(CclContext *context, const Scene *scenes, unsigned n, unsigned in_flight, char why[400])
{
    for (unsigned submitted = 0, collected = 0; collected < n; collected++) {
        for (; submitted < n && submitted < collected + in_flight; submitted++)
            if (!scene_submit(context, &scenes[submitted % N_SCENES])) {
                snprintf(why, 400, "%.399s", ccl_error_message());
                return collected;
            }
        if (!scene_collect(context, &scenes[collected % N_SCENES], why))
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
    const bool open = ccl_context_new(config, &context) == CCL_OK;
    unsetenv("CCL_TEST_GRAPHS");
    if (!check(session, open, "%s: %s", subject->name, ccl_error_message()))
        return;
    const unsigned n_right = run_frames(context, scenes, n, way->in_flight, why);
    const Scene *const scene = &scenes[n_right % N_SCENES];
    check(session, n_right == n, "%s, %s: %s %ux%u, frame %u of %u: %s", subject->name, way->name, scene->c.name,
          scene->image.width, scene->image.height, n_right + 1, n, why);
    ccl_context_free(context);
}

/* How often each scene is run. A CPU method in one thread has nothing to race with. */
static unsigned repetitions(const Session *session, const Subject *subject)
{
    const bool cuda = subject->config.backend == CCL_BACKEND_CUDA;
    if (cuda && subject->config.threads > 1 && !method_of(&subject->config)->takes_bits)
        return 0; /* what it does is what it does with one */
    if (session->most_pixels)
        return 8; /* in emulation */
    return session->quick ? 20 : cuda || subject->config.threads != 1 ? 1000 : 50;
}

static void check_subject(Session *session, const Subject *subject, Scene *scenes, unsigned n)
{
    const bool cuda = subject->config.backend == CCL_BACKEND_CUDA;
    CclConfig config = subject->config;
    config.depth = CCL_MAX_DEPTH;
    config.labels = true;
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
    for (unsigned i = 0; i < (cuda ? N_WAYS : N_WAYS - 1); i++)
        check_way(session, subject, &config, scenes, &ways[i], n / ways[i].part * N_SCENES);
    for (unsigned i = 0; i < N_SCENES; i++) {
        Outcome last = { .table = { 0 } };
        layout_finish(i, &last);
        check(session, !last.error[0], "%s: %s: %s", subject->name, scenes[i].c.name, last.error);
        outcome_free(&last);
        outcome_free(&scenes[i].expected);
    }
}

void check_repeat(Session *session)
{
    Scene scenes[N_SCENES] = { 0 };
    for (unsigned i = 0; i < N_SCENES; i++)
        scene_draw(session, &scenes[i], i);
    for (unsigned s = 0; s < session->n_subjects; s++) {
        Subject *const subject = &session->subjects[s];
        const unsigned n = repetitions(session, subject);
        if (subject->dead || method_of(&subject->config)->iterative || !n)
            continue;
        subject_close(subject);
        layout_now_running(subject, NULL);
        check_subject(session, subject, scenes, n);
    }
    for (unsigned i = 0; i < N_SCENES; i++)
        image_free(&scenes[i].image);
}
