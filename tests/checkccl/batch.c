/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Suites `batch` and `crowd`: contexts that share a device, in one thread and in threads of their own. Each frame must
 * come out as it does alone, whatever company it has: other sizes, strides, thresholds, limits, orders, connectivities,
 * memories. scheduler.c: the rules by which they meet. */
#include "checkccl.h"
#include "device.h"

#include "backend.h"
#include "host/test_switches.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* One stream: a context with a frame that it analyses again and again. */
typedef struct Camera {
    Subject subject;  /* its own connectivity */
    unsigned slot;
    Image image;
    Case c;
    CclConfig config;
    CclContext *context;
    CclMask mask;
    CclLabels labels;
    Outcome expected, got;
    pthread_t thread;
    unsigned n_frames, n_right, largest_batch;
    atomic_uint *n_ready; /* threads that wait for each other */
    unsigned n_threads;
    char why[400];
} Camera;

static uint32_t some_size(Session *session, uint32_t max_side)
{
    return 1 + random_below(&session->random, random_chance(&session->random, 30) ? max_side : 1 + max_side / 8);
}

/* alike: the other frames of a kind, which the same kernels take: what may differ then is the filter, how many rows there
 * are, and their order. */
static void camera_draw(Session *session, Camera *camera, const Subject *subject, unsigned slot, uint32_t max_side, bool alike)
{
    Random *const random = &session->random;
    unsigned n_layouts = 0;
    while (session->max_pixels && (uint64_t)max_side * max_side > session->max_pixels)
        max_side /= 2;
    while (layouts[n_layouts].name)
        n_layouts++;

    memset(camera, 0, sizeof *camera);
    camera->slot = slot;
    camera->subject = *subject;
    camera->subject.context = NULL;
    const uint32_t width = alike ? max_side - random_below(random, max_side / 8) : some_size(session, max_side);
    const uint32_t height = alike ? max_side / 2 : some_size(session, max_side);
    camera->image = image_noise(width, height, 10 + random_below(random, 60), 1 + random_below(random, 4), random);
    const bool labels = !alike && random_chance(random, 40);
    camera->c = case_new(&camera->image, labels ? PRODUCT_LABELS : PRODUCT_TABLE, "camera %u", slot);
    do
        camera->c.layout = layouts[alike ? 0 : random_below(random, n_layouts)];
    while (!layout_fits(&camera->c.layout, &camera->image));
    if (alike || random_chance(random, 40)) {
        camera->c.filter.min_area = alike + random_below(random, 8);
        camera->c.filter.max_width = 1 + random_below(random, camera->image.width);
        camera->c.filter.border = (CclBorder)random_below(random, 3);
    }
    camera->c.order = (CclOrder)random_below(random, 2);
    camera->c.max_components = random_chance(random, 30) ? 1 + random_below(random, 20) : 0;

    CclConfig *const config = &camera->config;
    *config = subject->config;
    config->shared = true;
    config->max_width = camera->image.width + random_below(random, 40);
    config->max_height = camera->image.height + random_below(random, 40);
    config->order = camera->c.order;
    config->labels = camera->c.product != PRODUCT_TABLE;
    config->depth = 1 + random_below(random, CCL_MAX_DEPTH);
    config->threads = 1 + random_below(random, 2);
    if (!alike && random_chance(random, 30) && method_of(config)->info.connectivity == (CCL_CONNECT_4 | CCL_CONNECT_8))
        config->connectivity = (CclConnectivity)(12 - config->connectivity);
    camera->expected = expected_outcome(&camera->c, config->connectivity);
    config->max_components = camera->c.max_components                       ? camera->c.max_components
                             : camera->expected.table.n_components > 1000 ? camera->expected.table.n_components
                                                                            : 1000;
    layout_prepare(slot, &camera->c, config->backend, &camera->mask, &camera->labels);
}

static void camera_free(Camera *camera)
{
    ccl_context_free(camera->context);
    image_free(&camera->image);
    outcome_free(&camera->expected);
    outcome_free(&camera->got);
}

static CclStatus camera_submit(Camera *camera)
{
    return ccl_submit(camera->context, &camera->mask, &camera->c.filter, camera->labels.data ? &camera->labels : NULL);
}

/* The table where the library keeps it; the label image only when all is over. */
static bool camera_collect(Camera *camera)
{
    Case table_only = camera->c;
    CclTable table = { 0 };
    if (ccl_collect(camera->context, &table) != CCL_OK) {
        snprintf(camera->why, sizeof camera->why, "%s", ccl_error_message());
        return false;
    }
    if (table.batch_size > camera->largest_batch)
        camera->largest_batch = table.batch_size;
    const Outcome got = { .table = table };
    table_only.product = PRODUCT_TABLE;
    return table.batch_size >= 1 && table.wait_us >= 0 && table.pack_us >= 0 &&
           same_outcome(&table_only, &camera->expected, &got, camera->why);
}

static bool camera_labels_right(Camera *camera)
{
    layout_finish(camera->slot, &camera->got);
    camera->got.table = camera->expected.table;
    if (camera->got.error[0]) {
        snprintf(camera->why, sizeof camera->why, "%s", camera->got.error);
        return false;
    }
    return same_outcome(&camera->c, &camera->expected, &camera->got, camera->why);
}

static void camera_report(Session *session, const Camera *camera, bool right, const char *what, unsigned n)
{
    check(session, right, "%s, %u cameras, %s: %ux%u, connectivity %d, layout \"%s\", in a batch of %u: %s",
          camera->subject.name, n, what, camera->image.width, camera->image.height, (int)camera->config.connectivity,
          camera->c.layout.name, camera->largest_batch, camera->why);
}

static bool camera_open(Session *session, Camera *camera)
{
    return check(session, ccl_context_new(&camera->config, &camera->context) == CCL_OK, "%s: a shared context: %s",
                 camera->subject.name, ccl_error_message());
}

/* ---------------------------------------------------------------- all at once */

/* n frames wait for each other; three times, so that what one batch leaves behind meets the next. */
static void check_together(Session *session, const Subject *subject, unsigned n, uint32_t max_side, bool alike)
{
    Camera *const cameras = calloc(n, sizeof *cameras);
    char text[8];
    bool open = true;
    unsigned largest = 0;

    snprintf(text, sizeof text, "%u", n);
    setenv("CCL_TEST_BATCH", text, 1);
    ccl_test_switches_reread();
    for (unsigned i = 0; i < n; i++) {
        camera_draw(session, &cameras[i], subject, i, max_side, alike);
        open = camera_open(session, &cameras[i]) && open;
    }
    unsetenv("CCL_TEST_BATCH");
    ccl_test_switches_reread();
    for (unsigned round = 0; round < 3 && open; round++) {
        for (unsigned i = 0; i < n; i++)
            open = check(session, camera_submit(&cameras[i]) == CCL_OK, "%s: %s", subject->name, ccl_error_message()) &&
                   open;
        const unsigned first = random_below(&session->random, n);
        for (unsigned i = 0; i < n && open; i++) {
            Camera *const camera = &cameras[(first + i) % n];
            if (i % 3 == 2)
                ccl_ready(camera->context);
            camera_report(session, camera, camera_collect(camera), "together", n);
            largest = camera->largest_batch > largest ? camera->largest_batch : largest;
        }
    }
    for (unsigned i = 0; i < n && open; i++)
        camera_report(session, &cameras[i], camera_labels_right(&cameras[i]), "labels", n);
    check(session, !open || n < 8 || largest > (alike ? n - 1 : 1), "%s: of %u frames %u went together", subject->name, n,
          largest);
    for (unsigned i = 0; i < n; i++)
        camera_free(&cameras[i]);
    free(cameras);
}

/* Two of a kind go together, now of this kind and now of that: of up to eight kinds, drawn by chance, where a batch keeps
 * graphs of four. */
static void check_turns(Session *session, const Subject *subject, unsigned n_turns)
{
    enum { N_KINDS = 8 };
    Camera cameras[N_KINDS][2];
    bool open = true;

    setenv("CCL_TEST_BATCH", "2", 1);
    ccl_test_switches_reread();
    for (unsigned i = 0; i < 2 * N_KINDS; i++) {
        Camera *const camera = &cameras[i / 2][i % 2];
        const Random before = session->random;
        camera_draw(session, camera, subject, i, 100, false);
        if (i % 2 == 0)
            session->random = before; /* the other is the same */
        open = camera_open(session, camera) && open;
    }
    unsetenv("CCL_TEST_BATCH");
    ccl_test_switches_reread();
    for (unsigned turn = 0; turn < n_turns && open; turn++) {
        Camera *const pair = cameras[random_below(&session->random, N_KINDS)];
        for (unsigned k = 0; k < 2; k++)
            open = check(session, camera_submit(&pair[k]) == CCL_OK, "%s: %s", subject->name, ccl_error_message()) &&
                   open;
        for (unsigned k = 0; k < 2 && open; k++)
            camera_report(session, &pair[k], camera_collect(&pair[k]), "in turns", N_KINDS);
    }
    for (unsigned i = 0; i < 2 * N_KINDS; i++) {
        Camera *const camera = &cameras[i / 2][i % 2];
        if (open && camera->largest_batch)
            camera_report(session, camera, camera_labels_right(camera), "labels in turns", N_KINDS);
        camera_free(camera);
    }
}

/* ---------------------------------------------------------------- threads */

static void *watch(void *data)
{
    Camera *const camera = data;
    atomic_fetch_add(camera->n_ready, 1);
    while (atomic_load(camera->n_ready) < camera->n_threads) { /* nobody has gone home when the last one starts */
    }
    for (unsigned i = 0; i < camera->n_frames; i++) {
        /* Started and stopped in the middle of the others' frames, now and then with one in flight. */
        if (!camera->context && ccl_context_new(&camera->config, &camera->context) != CCL_OK) {
            snprintf(camera->why, sizeof camera->why, "%s", ccl_error_message());
            return NULL;
        }
        if (camera_submit(camera) != CCL_OK) {
            snprintf(camera->why, sizeof camera->why, "%s", ccl_error_message());
            return NULL;
        }
        const bool leaves = (i + camera->slot) % 5 == 4;
        if (leaves && i % 2) {
            camera->n_right++; /* is dropped */
        } else {
            if (!camera_collect(camera))
                return NULL;
            camera->n_right++;
        }
        if (leaves) {
            ccl_context_free(camera->context);
            camera->context = NULL;
        }
    }
    ccl_context_free(camera->context);
    camera->context = NULL;
    return NULL;
}

static void check_cameras(Session *session, const Subject *subject, unsigned n, unsigned n_frames, uint32_t max_side)
{
    Camera *const cameras = calloc(n, sizeof *cameras);
    atomic_uint n_ready = 0;
    for (unsigned i = 0; i < n; i++) {
        camera_draw(session, &cameras[i], subject, i, max_side, false);
        cameras[i].n_frames = n_frames;
        cameras[i].n_ready = &n_ready;
        cameras[i].n_threads = n;
    }
    for (unsigned i = 0; i < n; i++)
        pthread_create(&cameras[i].thread, NULL, watch, &cameras[i]);
    for (unsigned i = 0; i < n; i++)
        pthread_join(cameras[i].thread, NULL);
    for (unsigned i = 0; i < n; i++) {
        const bool all = cameras[i].n_right == n_frames;
        camera_report(session, &cameras[i], all, "in threads", n);
        if (all)
            camera_report(session, &cameras[i], camera_labels_right(&cameras[i]), "labels in threads", n);
        camera_free(&cameras[i]);
    }
    free(cameras);
}

/* ---------------------------------------------------------------- streams that come and go */

/* Contexts that come and go; returns how many bytes of device memory are missing then. Once `n_before` have gone, what the
 * driver keeps for itself is there. */
static size_t missing_after_cycles(Session *session, Camera *guest, unsigned n_before, unsigned n, bool *open)
{
    size_t min_free = 0;
    for (unsigned i = 0; i < n_before + n && *open; i++) {
        *open = camera_open(session, guest) && camera_submit(guest) == CCL_OK;
        if (i % 2 && *open)
            *open = camera_collect(guest);
        ccl_context_free(guest->context);
        guest->context = NULL;
        if (i + 1 == n_before)
            min_free = device_free_bytes();
    }
    const size_t left = device_free_bytes();
    return left < min_free ? min_free - left : 0;
}

/* Beside one that stays, and then with nobody left in between. Other programs on the device take and give memory as well:
 * with CCL_TEST_CROWDED=1 it is not compared. */
static void check_cycles(Session *session, const Subject *subject, unsigned n)
{
    const char *const crowded = getenv("CCL_TEST_CROWDED");
    const bool compare = !crowded || !strcmp(crowded, "0");
    Camera stays, guest;
    bool open = true;

    camera_draw(session, &stays, subject, 0, 200, false);
    camera_draw(session, &guest, subject, 1, 200, false);
    for (unsigned round = 0; round < 2 && open; round++) {
        if (!round)
            open = camera_open(session, &stays);
        const size_t missing = missing_after_cycles(session, &guest, n / 10 + 1, n, &open);
        camera_report(session, &guest, open, "coming and going", n);
        check(session, !open || !compare || !missing,
              "%s: %u cycles took %zu bytes of device memory (are there other programs on the device? CCL_TEST_CROWDED=1)",
              subject->name, n, missing);
        ccl_context_free(stays.context);
        stays.context = NULL;
    }
    camera_free(&stays);
    camera_free(&guest);
}

static void close_all(Session *session) /* the next engine is a new one */
{
    for (unsigned s = 0; s < session->n_subjects; s++)
        subject_close(&session->subjects[s]);
}

/* The next subject from *s on that goes in batches, or NULL. */
static Subject *next_shared(Session *session, unsigned *s)
{
    while (*s < session->n_subjects) {
        Subject *const subject = &session->subjects[(*s)++];
        if (!subject->dead && subject->config.shared) {
            layout_now_running(subject, NULL);
            return subject;
        }
    }
    return NULL;
}

/* More than a launch of few takes, more than one of many with a filter; as many as either; all. Quick: the first two. */
static const unsigned numbers_alike[] = { 9, 49, 8, 48, N_SLOTS };

void check_batch(Session *session)
{
    check_scheduler(session);
    close_all(session);
    Subject *subject;
    for (unsigned s = 0; (subject = next_shared(session, &s));) {
        for (unsigned n = 1; n <= (session->quick ? 8u : N_SLOTS); n *= 2)
            check_together(session, subject, n, n > 8 ? 100 : 300, false);
        check_together(session, subject, 3, session->quick ? 300 : 4200, false);
        for (unsigned i = 0; i < (session->quick ? 2 : sizeof numbers_alike / sizeof *numbers_alike); i++)
            check_together(session, subject, numbers_alike[i], 140, true);
        check_turns(session, subject, session->quick ? 60 : 400);
        check_cycles(session, subject, session->quick ? 20 : 1000);
    }
}

void check_crowd(Session *session)
{
    close_all(session);
    Subject *subject;
    for (unsigned s = 0; (subject = next_shared(session, &s));) {
        for (unsigned n = 2; n <= (session->quick ? 4u : 16u); n *= 2)
            check_cameras(session, subject, n, session->quick ? 6 : 20, 200);
    }
}
