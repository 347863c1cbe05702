/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Suite `batch`, first half: the scheduler's rules, on a device that is a thread with a gate. Real frames: batch.c. */
#include "checkccl.h"
#include "cuda/scheduler.h"

#include "backend.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* ---------------------------------------------------------------- the device */

typedef struct Device {
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    CclTicket *tickets[CCL_MAX_BATCHES][CCL_MAX_BATCH];
    unsigned sizes[4096];             /* of the batches launched */
    unsigned n_launched, n_ended, n_waited;
    unsigned n_passing;               /* batches that the gate lets through */
    unsigned fail_launch, fail_wait;  /* number of the launch or wait that fails, and all later waits; 0: none */
    unsigned slow_us;                 /* maximum duration of a batch */
    bool quit;
    uint64_t random;
    atomic_bool launching, waiting;   /* a call of the kind is under way */
    atomic_bool hold, held;           /* arrived() is to wait; it waits */
    atomic_uint n_wrong;              /* rules of scheduler.h broken */
} Device;

typedef struct Work {
    CclTicket ticket;
    atomic_bool mask_missing; /* its mask has not arrived */
    unsigned n_run;           /* how often the device has seen it */
} Work;

static void nap(unsigned us)
{
    nanosleep(&(struct timespec){ .tv_nsec = (long)us * 1000 }, NULL);
}

static void expect_rule(Device *device, bool kept)
{
    if (!kept)
        atomic_fetch_add(&device->n_wrong, 1);
}

static bool device_arrived(void *data, const CclTicket *ticket)
{
    Device *const device = data;
    while (atomic_load(&device->hold)) {
        atomic_store(&device->held, true);
        nap(10);
    }
    return !atomic_load(&((Work *)ticket->frame)->mask_missing);
}

static CclStatus device_launch(void *data, unsigned batch, CclTicket *const *tickets, unsigned n)
{
    Device *const device = data;
    expect_rule(device, !atomic_exchange(&device->launching, true));
    pthread_mutex_lock(&device->lock);
    expect_rule(device, batch == device->n_launched % CCL_MAX_BATCHES);
    expect_rule(device, device->n_launched - device->n_waited < CCL_MAX_BATCHES);
    expect_rule(device, n >= 1 && n <= CCL_MAX_BATCH);
    const bool fails = device->fail_launch == device->n_launched + 1;
    if (!fails) {
        device->sizes[device->n_launched % 4096] = n;
        memcpy(device->tickets[batch], tickets, n * sizeof *tickets);
        device->n_launched++;
        pthread_cond_broadcast(&device->changed);
    }
    pthread_mutex_unlock(&device->lock);
    atomic_store(&device->launching, false);
    return fails ? ccl_fail(CCL_ERROR_DEVICE, "planted: launch") : CCL_OK;
}

static bool device_ended(void *data, unsigned batch)
{
    Device *const device = data;
    pthread_mutex_lock(&device->lock);
    expect_rule(device, batch == device->n_waited % CCL_MAX_BATCHES);
    const bool ended = device->n_ended > device->n_waited;
    pthread_mutex_unlock(&device->lock);
    return ended;
}

static CclStatus device_wait(void *data, unsigned batch)
{
    Device *const device = data;
    expect_rule(device, !atomic_exchange(&device->waiting, true));
    pthread_mutex_lock(&device->lock);
    expect_rule(device, batch == device->n_waited % CCL_MAX_BATCHES && device->n_launched > device->n_waited);
    while (device->n_ended == device->n_waited)
        pthread_cond_wait(&device->changed, &device->lock);
    device->n_waited++;
    const bool fails = device->fail_wait && device->fail_wait <= device->n_waited;
    pthread_mutex_unlock(&device->lock);
    atomic_store(&device->waiting, false);
    return fails ? ccl_fail(CCL_ERROR_DEVICE, "planted: wait") : CCL_OK;
}

static const CclSchedulerDevice device_calls = { device_arrived, device_launch, device_ended, device_wait };

static void *device_run(void *data)
{
    Device *const device = data;
    pthread_mutex_lock(&device->lock);
    for (;;) {
        while (!device->quit && (device->n_launched == device->n_ended || !device->n_passing))
            pthread_cond_wait(&device->changed, &device->lock);
        if (device->quit)
            break;
        if (device->slow_us) {
            device->random = device->random * 6364136223846793005u + 1;
            const unsigned us = (unsigned)(device->random >> 33) % device->slow_us;
            pthread_mutex_unlock(&device->lock);
            nap(us);
            pthread_mutex_lock(&device->lock);
        }
        const unsigned n = device->sizes[device->n_ended % 4096];
        for (unsigned i = 0; i < n; i++)
            ((Work *)device->tickets[device->n_ended % CCL_MAX_BATCHES][i]->frame)->n_run++;
        device->n_ended++;
        device->n_passing--;
        pthread_cond_broadcast(&device->changed);
    }
    pthread_mutex_unlock(&device->lock);
    return NULL;
}

static void device_open(Device *device, unsigned n_passing)
{
    memset(device, 0, sizeof *device);
    device->n_passing = n_passing;
    pthread_mutex_init(&device->lock, NULL);
    pthread_cond_init(&device->changed, NULL);
    pthread_create(&device->thread, NULL, device_run, device);
}

static void device_pass(Device *device, unsigned n)
{
    pthread_mutex_lock(&device->lock);
    device->n_passing += n;
    pthread_cond_broadcast(&device->changed);
    pthread_mutex_unlock(&device->lock);
}

static unsigned device_launched(Device *device)
{
    pthread_mutex_lock(&device->lock);
    const unsigned n = device->n_launched;
    pthread_mutex_unlock(&device->lock);
    return n;
}

static void device_close(Session *session, Device *device, const char *what)
{
    pthread_mutex_lock(&device->lock);
    device->quit = true;
    pthread_cond_broadcast(&device->changed);
    pthread_mutex_unlock(&device->lock);
    pthread_join(device->thread, NULL);
    pthread_cond_destroy(&device->changed);
    pthread_mutex_destroy(&device->lock);
    check(session, !atomic_load(&device->n_wrong), "scheduler, %s: %u rules of the device's interface broken", what,
          atomic_load(&device->n_wrong));
}

static Work *works_new(unsigned n)
{
    Work *const works = calloc(n, sizeof *works);
    for (unsigned i = 0; i < n; i++)
        ccl_ticket_init(&works[i].ticket, &works[i]);
    return works;
}

static void works_free(Work *works, unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        ccl_ticket_clear(&works[i].ticket);
    free(works);
}

/* ---------------------------------------------------------------- batch sizes */

/* One frame alone, a second batch as large, two of CCL_MIN_BATCH. The others go together when a batch has ended. */
static void check_batch_sizes(Session *session, unsigned max_frames)
{
    enum { N = 22 };
    const unsigned beside = smaller(max_frames, CCL_MIN_BATCH), first = 2 + 2 * beside;
    Device device;
    device_open(&device, 0);
    CclScheduler *const scheduler = ccl_scheduler_new(&device_calls, &device, max_frames);
    Work *const works = works_new(N);

    for (unsigned i = 0; i < N; i++) {
        check(session, ccl_scheduler_submit(scheduler, &works[i].ticket) == CCL_OK, "scheduler: %s", ccl_error_message());
        const unsigned launched = device_launched(&device);
        const unsigned expected = smaller(i < 2 ? i + 1 : 2 + (i - 1) / beside, CCL_MAX_BATCHES);
        check(session, launched == expected, "scheduler: %u batches after frame %u, not %u", launched, i, expected);
        check(session, !ccl_scheduler_idle(scheduler), "scheduler: idle with %u frames", i + 1);
    }
    check(session, !ccl_scheduler_ready(scheduler, &works[0].ticket), "scheduler: ready while the device holds it");
    device_pass(&device, N);
    for (unsigned i = 0; i < N; i++) {
        const bool collected = ccl_scheduler_collect(scheduler, &works[i].ticket) == CCL_OK;
        check(session, collected && works[i].n_run == 1, "scheduler: frame %u run %u times", i, works[i].n_run);
        const unsigned left = N - first, size = i < 2                                 ? 1
                                                : i < first                           ? beside
                                                : i - first < left / max_frames * max_frames ? max_frames
                                                                                      : left % max_frames;
        check(session, works[i].ticket.batch_size == size && works[i].ticket.wait_us >= 0,
              "scheduler: frame %u in a batch of %u, not %u", i, works[i].ticket.batch_size, size);
    }
    check(session, ccl_scheduler_idle(scheduler), "scheduler: not idle without a frame");
    ccl_scheduler_free(scheduler);
    works_free(works, N);
    device_close(session, &device, "batch sizes");
}

/* A frame whose mask has not arrived lets others pass and delays only itself. If it is alone it is launched anyway. */
static void check_waiting_masks(Session *session)
{
    Device device;
    device_open(&device, 0);
    CclScheduler *const scheduler = ccl_scheduler_new(&device_calls, &device, CCL_MAX_BATCH);
    Work *const works = works_new(5);
    atomic_store(&works[0].mask_missing, true);
    atomic_store(&works[2].mask_missing, true);

    for (unsigned i = 0; i < 5; i++)
        ccl_scheduler_submit(scheduler, &works[i].ticket);
    check(session, device_launched(&device) == 2, "scheduler: a late frame delays others");
    device_pass(&device, 1000);
    static const unsigned order[] = { 0, 1, 3, 4, 2 }, sizes[] = { 1, 1, 2, 2, 1 };
    for (unsigned i = 0; i < 5; i++) {
        Work *const work = &works[order[i]];
        const bool collected = ccl_scheduler_collect(scheduler, &work->ticket) == CCL_OK;
        check(session, collected && work->n_run == 1 && work->ticket.batch_size == sizes[i],
              "scheduler: frame %u of those late: in a batch of %u", order[i], work->ticket.batch_size);
    }
    ccl_scheduler_free(scheduler);
    works_free(works, 5);
    device_close(session, &device, "late");
}

/* While a thread does not collect its frames, its later frames are launched together; at once when it asks for one. */
static void check_lag(Session *session)
{
    enum { MIN_SIZE = CCL_MIN_BATCH, FIRST = 2 + CCL_MIN_LARGE_BATCH, N = FIRST + MIN_SIZE + 2 };
    Device device;
    device_open(&device, 1000);
    CclScheduler *const scheduler = ccl_scheduler_new(&device_calls, &device, CCL_MAX_BATCH);
    Work *const works = works_new(N);
    unsigned i = 0;

    for (; i < FIRST; i++) {
        ccl_scheduler_submit(scheduler, &works[i].ticket);
        while (!ccl_scheduler_ready(scheduler, &works[i].ticket))
            nap(10);
    }
    unsigned launched = device_launched(&device);
    check(session, launched == FIRST, "scheduler: %u batches of %u frames, one after the other", launched, FIRST);
    for (; i < FIRST + MIN_SIZE; i++) {
        launched = device_launched(&device);
        check(session, launched == FIRST, "scheduler: a frame launched while %u are uncollected", i);
        ccl_scheduler_submit(scheduler, &works[i].ticket);
    }
    launched = device_launched(&device);
    check(session, launched == FIRST + 1, "scheduler: %u frames while others are uncollected: not launched", MIN_SIZE);
    while (!ccl_scheduler_ready(scheduler, &works[i - 1].ticket))
        nap(10);
    ccl_scheduler_submit(scheduler, &works[i].ticket);
    check(session, device_launched(&device) == launched, "scheduler: a frame launched while others are uncollected");
    ccl_scheduler_ready(scheduler, &works[i++].ticket);
    check(session, device_launched(&device) == launched + 1, "scheduler: a frame asked for is not launched");
    for (unsigned k = 0; k < i; k++) {
        const unsigned size = k < FIRST || k == i - 1 ? 1 : MIN_SIZE;
        const bool collected = ccl_scheduler_collect(scheduler, &works[k].ticket) == CCL_OK;
        check(session, collected && works[k].n_run == 1 && works[k].ticket.batch_size == size,
              "scheduler: frame %u behind the host in a batch of %u, not %u", k, works[k].ticket.batch_size, size);
    }
    ccl_scheduler_submit(scheduler, &works[i].ticket);
    check(session, device_launched(&device) == launched + 2, "scheduler: all collected, and a frame waits");
    ccl_scheduler_collect(scheduler, &works[i].ticket);
    ccl_scheduler_free(scheduler);
    works_free(works, N);
    device_close(session, &device, "lag");
}

static void submit_and_wait(CclScheduler *scheduler, Work *work)
{
    ccl_scheduler_submit(scheduler, &work->ticket);
    while (!ccl_scheduler_ready(scheduler, &work->ticket))
        nap(10);
}

/* Frames that are done and not collected are in flight as well, so that batches keep their size. Frames of batches that ended
 * long ago are not. */
static void check_uncollected(Session *session, unsigned n_others)
{
    enum { UNCOLLECTED = 28, TOGETHER = 10 }; /* a quarter of 38 */
    const unsigned n = UNCOLLECTED + TOGETHER, n_before = UNCOLLECTED + n_others;
    Device device;
    device_open(&device, n_before);
    CclScheduler *const scheduler = ccl_scheduler_new(&device_calls, &device, CCL_MAX_BATCH);
    Work *const works = works_new(n), *const other = works_new(1);

    for (unsigned i = 0; i < UNCOLLECTED; i++)
        submit_and_wait(scheduler, &works[i]);
    for (unsigned i = 0; i < n_others; i++) {
        submit_and_wait(scheduler, other);
        ccl_scheduler_collect(scheduler, &other->ticket);
    }
    for (unsigned i = 1; i <= TOGETHER; i++) {
        ccl_scheduler_submit(scheduler, &works[UNCOLLECTED + i - 1].ticket);
        const unsigned launched = device_launched(&device) - n_before;
        const bool right = n_others ? launched >= (i < 2 ? i : 2) : launched == (i == TOGETHER);
        check(session, right, "scheduler: %u batches of %u frames, %u are uncollected since %u batches", launched, i, UNCOLLECTED,
              n_others);
    }
    device_pass(&device, n);
    for (unsigned i = 0; i < n; i++)
        check(session, ccl_scheduler_collect(scheduler, &works[i].ticket) == CCL_OK && works[i].n_run == 1,
              "scheduler: frame %u, of which some were uncollected, was run %u times", i, works[i].n_run);
    ccl_scheduler_free(scheduler);
    works_free(works, n);
    works_free(other, 1);
    device_close(session, &device, "uncollected");
}

static void check_pause(Session *session)
{
    Device device;
    device_open(&device, 1000);
    CclScheduler *const scheduler = ccl_scheduler_new(&device_calls, &device, 1);
    Work *const works = works_new(4);

    ccl_scheduler_submit(scheduler, &works[0].ticket);
    ccl_scheduler_pause(scheduler);
    for (unsigned i = 1; i < 4; i++)
        ccl_scheduler_submit(scheduler, &works[i].ticket);
    check(session, ccl_scheduler_collect(scheduler, &works[0].ticket) == CCL_OK, "scheduler: a pause stops what runs");
    check(session, device_launched(&device) == 1, "scheduler: launches while paused");
    check(session, !ccl_scheduler_idle(scheduler), "scheduler: idle with frames in the queue");
    ccl_scheduler_resume(scheduler, 3);
    for (unsigned i = 1; i < 4; i++) {
        const bool collected = ccl_scheduler_collect(scheduler, &works[i].ticket) == CCL_OK;
        check(session, collected && works[i].ticket.batch_size == 3, "scheduler: a batch of %u after a pause, not 3",
              works[i].ticket.batch_size);
    }
    ccl_scheduler_free(scheduler);
    works_free(works, 4);
    device_close(session, &device, "pause");
}

/* ---------------------------------------------------------------- the lock */

typedef enum Call { SUBMIT, READY, LOST, IDLE, PAUSE, N_CALLS } Call;

typedef struct Caller {
    CclScheduler *scheduler;
    CclTicket *ticket;
    Call call;
    atomic_bool done;
} Caller;

static void *call_once(void *data)
{
    Caller *const c = data;
    switch (c->call) {
    case SUBMIT: ccl_scheduler_submit(c->scheduler, c->ticket); break;
    case READY: ccl_scheduler_ready(c->scheduler, c->ticket); break;
    case LOST: ccl_scheduler_lost(c->scheduler); break;
    case IDLE: ccl_scheduler_idle(c->scheduler); break;
    default: ccl_scheduler_pause(c->scheduler); break;
    }
    atomic_store(&c->done, true);
    return NULL;
}

/* A call waits while another thread is in arrived(), which is called with the lock held. */
static void check_lock(Session *session, Call call)
{
    Device device;
    device_open(&device, 1000);
    CclScheduler *const scheduler = ccl_scheduler_new(&device_calls, &device, 1);
    Work *const works = works_new(2);
    Caller callers[] = { { scheduler, &works[0].ticket, SUBMIT, false }, { scheduler, &works[1].ticket, call, false } };
    pthread_t threads[2];

    atomic_store(&device.hold, true);
    pthread_create(&threads[0], NULL, call_once, &callers[0]);
    while (!atomic_load(&device.held))
        nap(10);
    pthread_create(&threads[1], NULL, call_once, &callers[1]);
    nap(50000);
    check(session, !atomic_load(&callers[1].done), "scheduler: call %u does not wait for the lock", call);
    atomic_store(&device.hold, false);
    for (unsigned i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    if (call == PAUSE)
        ccl_scheduler_resume(scheduler, 1);
    for (unsigned i = 0; i < (call == SUBMIT ? 2 : 1); i++)
        check(session, ccl_scheduler_collect(scheduler, &works[i].ticket) == CCL_OK, "scheduler: after call %u: %s", call,
              ccl_error_message());
    ccl_scheduler_free(scheduler);
    works_free(works, 2);
    device_close(session, &device, "lock");
}

/* ---------------------------------------------------------------- failure */

/* Those in the batch, those that wait, those that come later: the same error for all. */
static void check_failure(Session *session, bool launch)
{
    Device device;
    char what[40];
    snprintf(what, sizeof what, "planted: %s", launch ? "launch" : "wait");
    device_open(&device, 0);
    device.fail_launch = launch ? 5 : 0;
    device.fail_wait = launch ? 0 : 2;
    CclScheduler *const scheduler = ccl_scheduler_new(&device_calls, &device, 4);
    Work *const works = works_new(12);

    for (unsigned i = 0; i < 12; i++)
        check(session, ccl_scheduler_submit(scheduler, &works[i].ticket) == CCL_OK, "scheduler: %s", ccl_error_message());
    check(session, !ccl_scheduler_lost(scheduler), "scheduler: lost too early");
    device_pass(&device, 1000);
    const unsigned n_right = launch ? 10 : 1;
    for (unsigned i = 0; i < 12; i++) {
        ccl_fail(CCL_OK, "none");
        const CclStatus status = ccl_scheduler_collect(scheduler, &works[i].ticket);
        const bool fails = i >= n_right;
        check(session, status == (fails ? CCL_ERROR_DEVICE : CCL_OK) && (!fails || !strcmp(ccl_error_message(), what)),
              "scheduler, %s: frame %u: status %d, \"%s\"", what, i, status, ccl_error_message());
    }
    check(session, ccl_scheduler_lost(scheduler), "scheduler: not lost");
    check(session, ccl_scheduler_submit(scheduler, &works[0].ticket) == CCL_ERROR_DEVICE &&
                       !strcmp(ccl_error_message(), what),
          "scheduler, %s: the next frame: \"%s\"", what, ccl_error_message());
    ccl_scheduler_free(scheduler);
    works_free(works, 12);
    device_close(session, &device, what);
}

/* ---------------------------------------------------------------- many threads */

typedef struct Streamer {
    pthread_t thread;
    CclScheduler *scheduler;
    unsigned n_frames, depth;
    uint64_t random;
    unsigned n_right, n_failed, n_together;
} Streamer;

/* What an element does: some frames in flight, now and then a look whether one is ready. */
static void *stream(void *data)
{
    Streamer *const s = data;
    Random random = { s->random };
    Work *const works = works_new(s->depth);
    for (unsigned i = 0; i < s->n_frames + s->depth; i++) {
        Work *const work = &works[i % s->depth];
        if (i >= s->depth) {
            if (random_chance(&random, 20))
                ccl_scheduler_ready(s->scheduler, &work->ticket);
            const CclStatus status = ccl_scheduler_collect(s->scheduler, &work->ticket);
            s->n_right += status == CCL_OK && work->n_run == 1;
            s->n_failed += status == CCL_ERROR_DEVICE;
            s->n_together += work->ticket.batch_size > 1;
        }
        if (i < s->n_frames) {
            work->n_run = 0;
            atomic_store(&work->mask_missing, random_chance(&random, 10));
            if (ccl_scheduler_submit(s->scheduler, &work->ticket) != CCL_OK) {
                work->ticket.state = CCL_TICKET_DONE; /* as if: keeps the ring going */
                work->ticket.status = CCL_ERROR_DEVICE;
            }
            if (random_chance(&random, 10))
                nap(random_below(&random, 100));
        }
    }
    works_free(works, s->depth);
    return NULL;
}

/* Streams start and stop at their own times; the scheduler grows and pauses meanwhile. */
static void check_streams(Session *session, unsigned n, unsigned fail_wait)
{
    Device device;
    device_open(&device, 1u << 30);
    device.slow_us = 60;
    device.random = session->seed;
    device.fail_wait = fail_wait;
    CclScheduler *const scheduler = ccl_scheduler_new(&device_calls, &device, 1);
    Streamer *const streamers = calloc(n, sizeof *streamers);
    unsigned n_frames = 0, n_right = 0, n_failed = 0, n_together = 0;

    for (unsigned i = 0; i < n; i++) {
        ccl_scheduler_pause(scheduler);
        ccl_scheduler_resume(scheduler, i + 1 < CCL_MAX_BATCH ? i + 1 : CCL_MAX_BATCH);
        streamers[i] = (Streamer){ .scheduler = scheduler, .n_frames = session->quick ? 20 : 20 + i % 7 * 20,
                                   .depth = 1 + i % CCL_MAX_DEPTH, .random = random_next(&session->random) };
        n_frames += streamers[i].n_frames;
        pthread_create(&streamers[i].thread, NULL, stream, &streamers[i]);
    }
    for (unsigned i = 0; i < n; i++) {
        pthread_join(streamers[i].thread, NULL);
        n_right += streamers[i].n_right;
        n_failed += streamers[i].n_failed;
        n_together += streamers[i].n_together;
    }
    check(session, n_right + n_failed == n_frames && (fail_wait || !n_failed) && (!fail_wait || n_failed),
          "scheduler, %u streams: of %u frames %u right, %u failed", n, n_frames, n_right, n_failed);
    check(session, n < 8 || fail_wait || n_together, "scheduler, %u streams: no two frames went together", n);
    free(streamers);
    ccl_scheduler_free(scheduler);
    device_close(session, &device, "streams");
}

void check_scheduler(Session *session)
{
    for (unsigned max_frames = 1; max_frames <= 64; max_frames *= 2)
        check_batch_sizes(session, max_frames);
    check_waiting_masks(session);
    check_lag(session);
    check_uncollected(session, 0);
    check_uncollected(session, 32);
    check_pause(session);
    for (unsigned call = 0; call < N_CALLS; call++)
        check_lock(session, (Call)call);
    check_failure(session, true);
    check_failure(session, false);
    for (unsigned n = 1; n <= 64; n *= 2)
        check_streams(session, n, 0);
    check_streams(session, 16, 5);
}
