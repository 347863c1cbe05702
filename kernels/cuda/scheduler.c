/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "scheduler.h"

#include "backend.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

typedef struct Batch {
    CclTicket *tickets[CCL_MAX_BATCH];
    unsigned n;
} Batch;

/* Batches whose frames, once they are done, are taken to be collected soon: then they are in flight as those that run are.
 * Others just lie there, as those of a stream that pauses. */
#define RECENT_BATCHES 32u

struct CclScheduler {
    const CclSchedulerDevice *calls;
    void *device;

    pthread_mutex_t lock;    /* guards all below */
    pthread_cond_t launched; /* nobody launches any more */
    CclTicket *first, **end; /* the queue, and where its next one goes */
    unsigned n_waiting, n_launched; /* frames in the queue, and on the device */
    unsigned n_ended;               /* batches so far */
    unsigned finished[RECENT_BATCHES]; /* [batch % RECENT_BATCHES]: its frames that are done and not yet collected */
    unsigned n_finished;            /* the sum */
    unsigned busiest;               /* most frames in flight lately */
    Batch batches[CCL_MAX_BATCHES];
    unsigned oldest, n_running; /* the ring of batches */
    unsigned max_frames, min_frames;
    unsigned n_collecting; /* threads that wait for a frame */
    unsigned n_pausing;
    bool launching, watching; /* somebody is; the lock is not held meanwhile */
    CclTicket *to_wake;       /* by the next that leaves */
    CclStatus lost;           /* CCL_OK: not lost */
    char message[512];
};

static double now_us(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec * 1e-3;
}

/* CCL_TEST_BATCH in the environment lets frames wait until there are so many or one is collected, so that tests know
 * what a batch consists of. */
static unsigned test_least(void)
{
    const char *const text = getenv("CCL_TEST_BATCH");
    const int least = text ? atoi(text) : 1;
    return least > 1 ? (unsigned)least : 1;
}

CclScheduler *ccl_scheduler_new(const CclSchedulerDevice *calls, void *device, unsigned max_frames)
{
    CclScheduler *const engine = calloc(1, sizeof *engine);
    if (!engine)
        return NULL;
    engine->calls = calls;
    engine->device = device;
    engine->end = &engine->first;
    engine->max_frames = max_frames;
    engine->min_frames = test_least();
    pthread_mutex_init(&engine->lock, NULL);
    pthread_cond_init(&engine->launched, NULL);
    return engine;
}

void ccl_scheduler_free(CclScheduler *engine)
{
    if (!engine)
        return;
    pthread_cond_destroy(&engine->launched);
    pthread_mutex_destroy(&engine->lock);
    free(engine);
}

void ccl_ticket_init(CclTicket *ticket, void *frame)
{
    *ticket = (CclTicket){ .frame = frame };
    sem_init(&ticket->wake, 0, 0);
}

void ccl_ticket_clear(CclTicket *ticket)
{
    sem_destroy(&ticket->wake);
}

/* ---------------------------------------------------------------- who sleeps, who watches */

/* Every function below is called with the lock held. */

static void wake_later(CclScheduler *engine, CclTicket *ticket)
{
    if (!ticket->asleep)
        return;
    ticket->asleep = false;
    ticket->to_wake = engine->to_wake;
    engine->to_wake = ticket;
}

/* Somebody who sleeps and whose frame is under way: the sooner it comes, the sooner they would have to watch anyway. */
static CclTicket *next_watcher(const CclScheduler *engine)
{
    for (unsigned i = 0; i < engine->n_running; i++) {
        const Batch *const batch = &engine->batches[(engine->oldest + i) % CCL_MAX_BATCHES];
        for (unsigned t = 0; t < batch->n; t++)
            if (batch->tickets[t]->asleep)
                return batch->tickets[t];
    }
    for (CclTicket *ticket = engine->first; ticket; ticket = ticket->next)
        if (ticket->asleep)
            return ticket;
    return NULL;
}

/* Unlocks, then wakes: who is woken needs the lock. A ticket may be gone as soon as its owner is awake. */
static void leave(CclScheduler *engine)
{
    if (engine->n_running && !engine->watching) {
        CclTicket *const watcher = next_watcher(engine);
        if (watcher)
            wake_later(engine, watcher);
    }
    CclTicket *ticket = engine->to_wake;
    engine->to_wake = NULL;
    pthread_mutex_unlock(&engine->lock);
    while (ticket) {
        CclTicket *const next = ticket->to_wake;
        sem_post(&ticket->wake);
        ticket = next;
    }
}

static void sleep_until_woken(CclScheduler *engine, CclTicket *ticket)
{
    ticket->asleep = true;
    leave(engine);
    while (sem_wait(&ticket->wake) && errno == EINTR) {
    }
    pthread_mutex_lock(&engine->lock);
}

/* ---------------------------------------------------------------- batches */

static void finish_ticket(CclScheduler *engine, CclTicket *ticket, CclStatus status)
{
    ticket->state = CCL_TICKET_DONE;
    ticket->status = status;
    ticket->ended = engine->n_ended;
    engine->finished[engine->n_ended % RECENT_BATCHES]++;
    engine->n_finished++;
    wake_later(engine, ticket);
}

static void forget_ticket(CclScheduler *engine, const CclTicket *ticket)
{
    if (engine->n_ended - ticket->ended >= RECENT_BATCHES)
        return; /* it is forgotten already */
    engine->finished[ticket->ended % RECENT_BATCHES]--;
    engine->n_finished--;
}

/* Those of the oldest batch are recent no more. */
static void begin_finishing(CclScheduler *engine)
{
    unsigned *const finished = &engine->finished[++engine->n_ended % RECENT_BATCHES];
    engine->n_finished -= *finished;
    *finished = 0;
}

/* The device has failed, and this thread's error message says how. */
static void lose(CclScheduler *engine, CclStatus status)
{
    if (engine->lost == CCL_OK) {
        engine->lost = status;
        snprintf(engine->message, sizeof engine->message, "%s", ccl_error_message());
    }
    for (CclTicket *ticket = engine->first, *next; ticket; ticket = next) {
        next = ticket->next;
        finish_ticket(engine, ticket, status);
    }
    engine->first = NULL;
    engine->end = &engine->first;
    engine->n_waiting = 0;
}

static void finish_oldest(CclScheduler *engine, CclStatus status)
{
    const Batch *const batch = &engine->batches[engine->oldest];
    begin_finishing(engine);
    for (unsigned i = 0; i < batch->n; i++)
        finish_ticket(engine, batch->tickets[i], status);
    engine->oldest = (engine->oldest + 1) % CCL_MAX_BATCHES;
    engine->n_running--;
    engine->n_launched -= batch->n;
    engine->busiest = engine->busiest * 7 / 8;
    if (status != CCL_OK)
        lose(engine, status);
}

static void take(CclScheduler *engine, CclTicket **link, Batch *batch)
{
    CclTicket *const ticket = *link;
    *link = ticket->next;
    if (!*link)
        engine->end = link;
    ticket->next = NULL;
    engine->n_waiting--;
    batch->tickets[batch->n++] = ticket;
}

/* The first in the queue whose masks are there, or if there are none the first. */
static void choose(CclScheduler *engine, Batch *batch)
{
    CclTicket **link = &engine->first;
    batch->n = 0;
    for (unsigned i = 0; *link && i < engine->max_frames; i++) {
        if (engine->calls->arrived(engine->device, *link))
            take(engine, link, batch);
        else
            link = &(*link)->next;
    }
    if (!batch->n)
        take(engine, &engine->first, batch);
}

/* Frames that it takes to launch beside the batches that run. */
static unsigned min_beside(const CclScheduler *engine)
{
    const unsigned half = (engine->busiest + 1) / 2, quarter = (engine->busiest + 3) / 4;
    const bool few = !engine->n_collecting && engine->busiest <= CCL_MAX_BATCHES * CCL_MIN_BATCH;
    const unsigned fewest = few ? CCL_MIN_BATCH : CCL_MIN_LARGE_BATCH;
    const unsigned least = quarter > fewest ? quarter : fewest;
    return engine->n_running == 1 && half < least ? half : least;
}

/* Nobody waits for a frame, and many are done that are to be collected. */
static bool host_lags(const CclScheduler *engine)
{
    return !engine->n_collecting && engine->n_finished >= CCL_MIN_LARGE_BATCH;
}

static bool may_launch(const CclScheduler *engine)
{
    if (!engine->n_waiting || engine->launching || engine->n_pausing || engine->n_running == CCL_MAX_BATCHES)
        return false;
    if (engine->n_waiting < engine->min_frames && !engine->n_collecting)
        return false;
    if (!engine->n_running && !host_lags(engine))
        return true;
    return engine->n_waiting >= min_beside(engine) || engine->n_waiting >= engine->max_frames;
}

static void launch(CclScheduler *engine)
{
    /* The same place whatever ends meanwhile. */
    const unsigned index = (engine->oldest + engine->n_running) % CCL_MAX_BATCHES;
    Batch *const batch = &engine->batches[index];
    const double now = now_us();

    choose(engine, batch);
    for (unsigned i = 0; i < batch->n; i++) {
        batch->tickets[i]->batch_size = batch->n;
        batch->tickets[i]->wait_us = (float)(now - batch->tickets[i]->submitted_us);
    }
    engine->launching = true;
    pthread_mutex_unlock(&engine->lock);
    const CclStatus status = engine->calls->launch(engine->device, index, batch->tickets, batch->n);
    pthread_mutex_lock(&engine->lock);
    engine->launching = false;
    pthread_cond_broadcast(&engine->launched);

    for (unsigned i = 0; i < batch->n; i++) {
        batch->tickets[i]->state = CCL_TICKET_RUNNING;
        if (status != CCL_OK)
            finish_ticket(engine, batch->tickets[i], status);
    }
    if (status != CCL_OK) {
        lose(engine, status);
        return;
    }
    engine->n_running++;
    engine->n_launched += batch->n;
}

/* Notes what has ended, unless somebody watches, and launches what may be launched. */
static void advance(CclScheduler *engine)
{
    while (engine->n_running && !engine->watching && engine->calls->ended(engine->device, engine->oldest))
        finish_oldest(engine, engine->calls->wait(engine->device, engine->oldest));
    while (may_launch(engine))
        launch(engine);
}

/* Waits for the batch that runs, on behalf of all. */
static void watch(CclScheduler *engine)
{
    const unsigned batch = engine->oldest;
    engine->watching = true;
    leave(engine);
    const CclStatus status = engine->calls->wait(engine->device, batch);
    pthread_mutex_lock(&engine->lock);
    engine->watching = false;
    finish_oldest(engine, status);
    advance(engine); /* before those who have their frames now are woken: the device comes first */
}

/* ---------------------------------------------------------------- calls */

void ccl_scheduler_pause(CclScheduler *engine)
{
    pthread_mutex_lock(&engine->lock);
    engine->n_pausing++;
    while (engine->launching)
        pthread_cond_wait(&engine->launched, &engine->lock);
    leave(engine);
}

void ccl_scheduler_resume(CclScheduler *engine, unsigned max_frames)
{
    pthread_mutex_lock(&engine->lock);
    engine->n_pausing--;
    engine->max_frames = max_frames;
    advance(engine);
    leave(engine);
}

bool ccl_scheduler_lost(CclScheduler *engine)
{
    pthread_mutex_lock(&engine->lock);
    const bool lost = engine->lost != CCL_OK;
    leave(engine);
    return lost;
}

bool ccl_scheduler_idle(CclScheduler *engine)
{
    pthread_mutex_lock(&engine->lock);
    const bool idle = !engine->n_waiting && !engine->n_running && !engine->launching;
    leave(engine);
    return idle;
}

CclStatus ccl_scheduler_submit(CclScheduler *engine, CclTicket *ticket)
{
    pthread_mutex_lock(&engine->lock);
    if (engine->lost != CCL_OK) {
        leave(engine);
        return ccl_fail(engine->lost, "%s", engine->message); /* neither ever changes again */
    }
    ticket->state = CCL_TICKET_WAITING;
    ticket->submitted_us = now_us();
    ticket->next = NULL;
    *engine->end = ticket;
    engine->end = &ticket->next;
    engine->n_waiting++;
    const unsigned in_flight = engine->n_waiting + engine->n_launched + engine->n_finished;
    if (in_flight > engine->busiest)
        engine->busiest = in_flight;
    advance(engine);
    leave(engine);
    return CCL_OK;
}

CclStatus ccl_scheduler_collect(CclScheduler *engine, CclTicket *ticket)
{
    pthread_mutex_lock(&engine->lock);
    engine->n_collecting++;
    if (ticket->state != CCL_TICKET_DONE)
        advance(engine);
    while (ticket->state != CCL_TICKET_DONE) {
        if (engine->n_running && !engine->watching)
            watch(engine);
        else /* until the watcher, or who launches or pauses, has something for us */
            sleep_until_woken(engine, ticket);
    }
    engine->n_collecting--;
    forget_ticket(engine, ticket);
    ticket->state = CCL_TICKET_FREE;
    const CclStatus status = ticket->status;
    leave(engine);
    return status == CCL_OK ? CCL_OK : ccl_fail(status, "%s", engine->message);
}

bool ccl_scheduler_ready(CclScheduler *engine, CclTicket *ticket)
{
    pthread_mutex_lock(&engine->lock);
    engine->n_collecting++; /* who asks would like to have it */
    if (ticket->state != CCL_TICKET_DONE)
        advance(engine);
    engine->n_collecting--;
    const bool ready = ticket->state == CCL_TICKET_DONE;
    leave(engine);
    return ready;
}
