/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "scheduler.h"

#include "host/clock.h"
#include "host/test_switches.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct Batch {
    CclTicket *tickets[CCL_MAX_BATCH];
    unsigned n;
} Batch;

/* Frames of this many newest batches count as in flight until they are collected. Older uncollected frames do not count: their
 * stream may be paused. */
#define RECENT_BATCHES 32u

struct CclScheduler {
    const CclSchedulerDevice *calls;
    void *device;

    pthread_mutex_t lock;                 /* guards everything below */
    pthread_cond_t launched;              /* a launch() has returned */
    CclTicket *first, **end;              /* the queue, and the link for its next ticket */
    unsigned n_queued, n_on_device;       /* frames */
    unsigned n_ended;                     /* batches so far */
    unsigned uncollected[RECENT_BATCHES]; /* [batch % RECENT_BATCHES]: its frames that are done and not collected */
    unsigned n_uncollected;               /* their sum */
    unsigned max_in_flight;               /* recent maximum of frames in flight */
    Batch batches[CCL_MAX_BATCHES];       /* a ring */
    unsigned oldest, n_running;           /* of batches */
    unsigned max_frames, min_frames;      /* of a batch */
    unsigned n_collecting;                /* threads that wait for a frame */
    unsigned n_pausing;
    bool launching, waiting; /* a thread is in launch(), in wait(); it does not hold the lock */
    CclTicket *to_wake;      /* list; the next thread that unlocks wakes them */
    CclStatus lost;          /* error of the device, or CCL_OK */
    char message[512];
};

CclScheduler *ccl_scheduler_new(const CclSchedulerDevice *calls, void *device, unsigned max_frames)
{
    CclScheduler *const scheduler = calloc(1, sizeof *scheduler);
    if (!scheduler)
        return NULL;
    scheduler->calls = calls;
    scheduler->device = device;
    scheduler->end = &scheduler->first;
    scheduler->max_frames = max_frames;
    scheduler->min_frames = ccl_test_switches()->min_batch;
    pthread_mutex_init(&scheduler->lock, NULL);
    pthread_cond_init(&scheduler->launched, NULL);
    return scheduler;
}

void ccl_scheduler_free(CclScheduler *scheduler)
{
    if (!scheduler)
        return;
    pthread_cond_destroy(&scheduler->launched);
    pthread_mutex_destroy(&scheduler->lock);
    free(scheduler);
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

/* ---------------------------------------------------------------- sleeping and waking */

/* Every function below is called with the lock held. */

/* Lists a sleeping ticket for the next thread that unlocks. */
static void wake_at_unlock(CclScheduler *scheduler, CclTicket *ticket)
{
    if (!ticket->asleep)
        return;
    ticket->asleep = false;
    ticket->to_wake = scheduler->to_wake;
    scheduler->to_wake = ticket;
}

/* A ticket whose thread sleeps and can wait for the device instead: the one whose frame will be done first. */
static CclTicket *next_waiter(const CclScheduler *scheduler)
{
    for (unsigned i = 0; i < scheduler->n_running; i++) {
        const Batch *const batch = &scheduler->batches[(scheduler->oldest + i) % CCL_MAX_BATCHES];
        for (unsigned t = 0; t < batch->n; t++)
            if (batch->tickets[t]->asleep)
                return batch->tickets[t];
    }
    for (CclTicket *ticket = scheduler->first; ticket; ticket = ticket->next)
        if (ticket->asleep)
            return ticket;
    return NULL;
}

/* Unlocks, then wakes, because a woken thread needs the lock. A ticket may be gone as soon as its owner is awake. */
static void unlock_and_wake(CclScheduler *scheduler)
{
    if (scheduler->n_running && !scheduler->waiting) {
        CclTicket *const waiter = next_waiter(scheduler);
        if (waiter)
            wake_at_unlock(scheduler, waiter);
    }
    CclTicket *ticket = scheduler->to_wake;
    scheduler->to_wake = NULL;
    pthread_mutex_unlock(&scheduler->lock);
    while (ticket) {
        CclTicket *const next = ticket->to_wake;
        sem_post(&ticket->wake);
        ticket = next;
    }
}

static void sleep_until_woken(CclScheduler *scheduler, CclTicket *ticket)
{
    ticket->asleep = true;
    unlock_and_wake(scheduler);
    while (sem_wait(&ticket->wake) && errno == EINTR) {
    }
    pthread_mutex_lock(&scheduler->lock);
}

/* ---------------------------------------------------------------- batches */

static void finish_ticket(CclScheduler *scheduler, CclTicket *ticket, CclStatus status)
{
    ticket->state = CCL_TICKET_DONE;
    ticket->status = status;
    ticket->ended = scheduler->n_ended;
    scheduler->uncollected[scheduler->n_ended % RECENT_BATCHES]++;
    scheduler->n_uncollected++;
    wake_at_unlock(scheduler, ticket);
}

/* The frame is collected, and no longer in flight. */
static void forget_ticket(CclScheduler *scheduler, const CclTicket *ticket)
{
    if (scheduler->n_ended - ticket->ended >= RECENT_BATCHES)
        return; /* drop_oldest_batch() has done it */
    scheduler->uncollected[ticket->ended % RECENT_BATCHES]--;
    scheduler->n_uncollected--;
}

/* Before the frames of a further batch are done: frames of the oldest of the recent batches count no longer. */
static void drop_oldest_batch(CclScheduler *scheduler)
{
    unsigned *const oldest = &scheduler->uncollected[++scheduler->n_ended % RECENT_BATCHES];
    scheduler->n_uncollected -= *oldest;
    *oldest = 0;
}

/* The device has failed; this thread's error message says how. Every queued frame fails. */
static void fail_queue(CclScheduler *scheduler, CclStatus status)
{
    if (scheduler->lost == CCL_OK) {
        scheduler->lost = status;
        snprintf(scheduler->message, sizeof scheduler->message, "%s", ccl_error_message());
    }
    for (CclTicket *ticket = scheduler->first, *next; ticket; ticket = next) {
        next = ticket->next;
        finish_ticket(scheduler, ticket, status);
    }
    scheduler->first = NULL;
    scheduler->end = &scheduler->first;
    scheduler->n_queued = 0;
}

static void finish_oldest(CclScheduler *scheduler, CclStatus status)
{
    const Batch *const batch = &scheduler->batches[scheduler->oldest];
    drop_oldest_batch(scheduler);
    for (unsigned i = 0; i < batch->n; i++)
        finish_ticket(scheduler, batch->tickets[i], status);
    scheduler->oldest = (scheduler->oldest + 1) % CCL_MAX_BATCHES;
    scheduler->n_running--;
    scheduler->n_on_device -= batch->n;
    scheduler->max_in_flight = scheduler->max_in_flight * 7 / 8;
    if (status != CCL_OK)
        fail_queue(scheduler, status);
}

static void move_to_batch(CclScheduler *scheduler, CclTicket **link, Batch *batch)
{
    CclTicket *const ticket = *link;
    *link = ticket->next;
    if (!*link)
        scheduler->end = link;
    ticket->next = NULL;
    scheduler->n_queued--;
    batch->tickets[batch->n++] = ticket;
}

/* Fills a batch with the oldest frames whose masks have arrived, or if there are none with the oldest frame. */
static void fill_batch(CclScheduler *scheduler, Batch *batch)
{
    CclTicket **link = &scheduler->first;
    batch->n = 0;
    for (unsigned i = 0; *link && i < scheduler->max_frames; i++) {
        if (scheduler->calls->arrived(scheduler->device, *link))
            move_to_batch(scheduler, link, batch);
        else
            link = &(*link)->next;
    }
    if (!batch->n)
        move_to_batch(scheduler, &scheduler->first, batch);
}

/* Minimum number of queued frames for a launch beside the batches that run. */
static unsigned min_beside(const CclScheduler *scheduler)
{
    const unsigned half = (scheduler->max_in_flight + 1) / 2, quarter = (scheduler->max_in_flight + 3) / 4;
    const bool few = !scheduler->n_collecting && scheduler->max_in_flight <= CCL_MAX_BATCHES * CCL_MIN_BATCH;
    const unsigned min = few ? CCL_MIN_BATCH : CCL_MIN_LARGE_BATCH;
    const unsigned min_quarter = quarter > min ? quarter : min;
    return scheduler->n_running == 1 && half < min_quarter ? half : min_quarter;
}

/* Whether many frames are done and not collected, and no thread waits for one. */
static bool is_host_behind(const CclScheduler *scheduler)
{
    return !scheduler->n_collecting && scheduler->n_uncollected >= CCL_MIN_LARGE_BATCH;
}

static bool may_launch(const CclScheduler *scheduler)
{
    if (!scheduler->n_queued || scheduler->launching || scheduler->n_pausing || scheduler->n_running == CCL_MAX_BATCHES)
        return false;
    if (scheduler->n_queued < scheduler->min_frames && !scheduler->n_collecting)
        return false;
    if (!scheduler->n_running && !is_host_behind(scheduler))
        return true;
    return scheduler->n_queued >= min_beside(scheduler) || scheduler->n_queued >= scheduler->max_frames;
}

static void launch(CclScheduler *scheduler)
{
    /* Stays the same when batches end during the launch. */
    const unsigned index = (scheduler->oldest + scheduler->n_running) % CCL_MAX_BATCHES;
    Batch *const batch = &scheduler->batches[index];
    const double now = ccl_now_us();

    fill_batch(scheduler, batch);
    for (unsigned i = 0; i < batch->n; i++) {
        batch->tickets[i]->batch_size = batch->n;
        batch->tickets[i]->wait_us = (float)(now - batch->tickets[i]->submitted_us);
    }
    scheduler->launching = true;
    pthread_mutex_unlock(&scheduler->lock);
    const CclStatus status = scheduler->calls->launch(scheduler->device, index, batch->tickets, batch->n);
    pthread_mutex_lock(&scheduler->lock);
    scheduler->launching = false;
    pthread_cond_broadcast(&scheduler->launched);

    for (unsigned i = 0; i < batch->n; i++) {
        batch->tickets[i]->state = CCL_TICKET_RUNNING;
        if (status != CCL_OK)
            finish_ticket(scheduler, batch->tickets[i], status);
    }
    if (status != CCL_OK) {
        fail_queue(scheduler, status);
        return;
    }
    scheduler->n_running++;
    scheduler->n_on_device += batch->n;
}

/* Finishes the batches that have ended, unless a thread waits for the device, and launches batches as the rules allow. */
static void advance(CclScheduler *scheduler)
{
    while (scheduler->n_running && !scheduler->waiting && scheduler->calls->ended(scheduler->device, scheduler->oldest))
        finish_oldest(scheduler, scheduler->calls->wait(scheduler->device, scheduler->oldest));
    while (may_launch(scheduler))
        launch(scheduler);
}

/* Waits for the oldest batch, on behalf of all threads. */
static void wait_for_oldest(CclScheduler *scheduler)
{
    const unsigned batch = scheduler->oldest;
    scheduler->waiting = true;
    unlock_and_wake(scheduler);
    const CclStatus status = scheduler->calls->wait(scheduler->device, batch);
    pthread_mutex_lock(&scheduler->lock);
    scheduler->waiting = false;
    finish_oldest(scheduler, status);
    advance(scheduler); /* before any thread is woken: the device must not idle */
}

/* ---------------------------------------------------------------- calls */

void ccl_scheduler_pause(CclScheduler *scheduler)
{
    pthread_mutex_lock(&scheduler->lock);
    scheduler->n_pausing++;
    while (scheduler->launching)
        pthread_cond_wait(&scheduler->launched, &scheduler->lock);
    unlock_and_wake(scheduler);
}

void ccl_scheduler_resume(CclScheduler *scheduler, unsigned max_frames)
{
    pthread_mutex_lock(&scheduler->lock);
    scheduler->n_pausing--;
    scheduler->max_frames = max_frames;
    advance(scheduler);
    unlock_and_wake(scheduler);
}

bool ccl_scheduler_lost(CclScheduler *scheduler)
{
    pthread_mutex_lock(&scheduler->lock);
    const bool lost = scheduler->lost != CCL_OK;
    unlock_and_wake(scheduler);
    return lost;
}

bool ccl_scheduler_idle(CclScheduler *scheduler)
{
    pthread_mutex_lock(&scheduler->lock);
    const bool idle = !scheduler->n_queued && !scheduler->n_running && !scheduler->launching;
    unlock_and_wake(scheduler);
    return idle;
}

CclStatus ccl_scheduler_submit(CclScheduler *scheduler, CclTicket *ticket)
{
    pthread_mutex_lock(&scheduler->lock);
    if (scheduler->lost != CCL_OK) {
        unlock_and_wake(scheduler);
        return ccl_fail(scheduler->lost, "%s", scheduler->message); /* neither changes again */
    }
    ticket->state = CCL_TICKET_QUEUED;
    ticket->submitted_us = ccl_now_us();
    ticket->next = NULL;
    *scheduler->end = ticket;
    scheduler->end = &ticket->next;
    scheduler->n_queued++;
    const unsigned in_flight = scheduler->n_queued + scheduler->n_on_device + scheduler->n_uncollected;
    if (in_flight > scheduler->max_in_flight)
        scheduler->max_in_flight = in_flight;
    advance(scheduler);
    unlock_and_wake(scheduler);
    return CCL_OK;
}

CclStatus ccl_scheduler_collect(CclScheduler *scheduler, CclTicket *ticket)
{
    pthread_mutex_lock(&scheduler->lock);
    scheduler->n_collecting++;
    if (ticket->state != CCL_TICKET_DONE)
        advance(scheduler);
    while (ticket->state != CCL_TICKET_DONE) {
        if (scheduler->n_running && !scheduler->waiting)
            wait_for_oldest(scheduler);
        else /* until a thread finishes this frame, or none waits for the device */
            sleep_until_woken(scheduler, ticket);
    }
    scheduler->n_collecting--;
    forget_ticket(scheduler, ticket);
    ticket->state = CCL_TICKET_FREE;
    const CclStatus status = ticket->status;
    unlock_and_wake(scheduler);
    return status == CCL_OK ? CCL_OK : ccl_fail(status, "%s", scheduler->message);
}

bool ccl_scheduler_ready(CclScheduler *scheduler, CclTicket *ticket)
{
    pthread_mutex_lock(&scheduler->lock);
    scheduler->n_collecting++; /* the caller wants the frame now */
    if (ticket->state != CCL_TICKET_DONE)
        advance(scheduler);
    scheduler->n_collecting--;
    const bool ready = ticket->state == CCL_TICKET_DONE;
    unlock_and_wake(scheduler);
    return ready;
}
