/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Frames of many contexts through one device, in batches.
 *
 * A GPU takes hardly longer for some frames launched together than for one of them. So contexts that share a device put
 * their frames into the queue of an engine, which says when and with whom each is launched:
 *
 *   - Nobody waits for company. While the device has nothing to do, a frame is launched at once.
 *   - While it works, frames wait, and go together. A second batch is launched beside the one that runs, so that the
 *     device need not wait for the host, once it has half of the frames there have been in flight lately; or a quarter,
 *     where that is CCL_MIN_LARGE_BATCH and more, and then a third and a fourth as large: two halves or four quarters take
 *     turns, and small batches do not keep the device from the many. Of few frames, which one thread has in flight,
 *     CCL_MIN_BATCH are enough. In flight are those in the queue, on the device, and done lately but not yet collected:
 *     without the last, batches of a thread that is late would shrink, and make it later.
 *   - Where one thread has many frames in flight, the device may be done with them before the thread has collected all.
 *     Launching each new one at once would only keep the thread from the others: so while CCL_MIN_LARGE_BATCH were done
 *     lately that nobody has collected, and nobody waits for one, frames go together as if the device were at work.
 *   - First come, first served; a frame whose mask is still on its way up lets others pass.
 *
 * The engine has no thread of its own. Whoever submits a frame launches what may be launched; of the threads that
 * collect, one watches the device for all and the others sleep, each until its own frame is there. A watcher whose
 * frame is there hands over to a sleeper. A caller who has the device to itself never sleeps here, and nothing is
 * left lying in the queue for longer than until somebody calls: at the latest the one who wants the frame.
 *
 * When the device fails, every frame in the queue fails with its error, and so does all that comes later: like a
 * context, an engine is of no more use then.
 *
 * This file knows nothing of CUDA. Every call may come from any thread.
 */
#ifndef CCL_CUDA_SCHEDULER_H
#define CCL_CUDA_SCHEDULER_H

#include "ccl.h"

#include <semaphore.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Most frames in a batch. */
#define CCL_MAX_BATCH 64u
/* Most batches on the device: each fills what the others leave free, while it waits for the bus or has few blocks. */
#define CCL_MAX_BATCHES 4u
/* A third and a fourth batch have at least so many frames: the first where nobody waits and there are no more than four
 * times as many; else the second. Each batch has threads to wake, who then all want to go on at the same time. */
#define CCL_MIN_BATCH 4u
#define CCL_MIN_LARGE_BATCH 8u

typedef enum CclTicketState {
    CCL_TICKET_FREE = 0,
    CCL_TICKET_WAITING,
    CCL_TICKET_RUNNING,
    CCL_TICKET_DONE, /* and not yet collected */
} CclTicketState;

/* A frame's place in the engine. Belongs to whoever submits the frame. */
typedef struct CclTicket {
    void *frame; /* the owner's */

    /* How it went, for the owner once it is collected. */
    unsigned batch_size; /* frames launched together, this one too */
    float wait_us;       /* from submission to launch */

    /* The engine's. */
    CclTicketState state;
    CclStatus status;
    unsigned ended; /* with this batch */
    double submitted_us;
    bool asleep;               /* the owner sleeps on `wake` */
    sem_t wake;
    struct CclTicket *next;    /* in the queue */
    struct CclTicket *to_wake; /* in the list of those to wake */
} CclTicket;

/* What an engine asks of its device. At most one launch() and one wait() run at a time, besides each other. `batch` is
 * 0..CCL_MAX_BATCHES-1, and free again when wait() has returned. */
typedef struct CclSchedulerDevice {
    /* Has what the frame needs arrived? Not asked for the last resort: a frame without which nothing would run. */
    bool (*arrived)(void *device, const CclTicket *ticket);
    /* Starts a batch beside those that run. The frames are `n` different ones. */
    CclStatus (*launch)(void *device, unsigned batch, CclTicket *const *tickets, unsigned n);
    /* Would wait() return at once? Asked, and waited, for batches in the order they were launched. */
    bool (*ended)(void *device, unsigned batch);
    CclStatus (*wait)(void *device, unsigned batch);
} CclSchedulerDevice;

typedef struct CclScheduler CclScheduler;

/* max_frames: of a batch, up to CCL_MAX_BATCH. NULL without memory. */
CclScheduler *ccl_scheduler_new(const CclSchedulerDevice *calls, void *device, unsigned max_frames);
/* No frame may be in it. NULL is allowed. */
void ccl_scheduler_free(CclScheduler *engine);

/* Between pause and resume nothing is launched; what runs, runs on. */
void ccl_scheduler_pause(CclScheduler *engine);
void ccl_scheduler_resume(CclScheduler *engine, unsigned max_frames);

/* Is no frame in it? By the time the caller knows, there may be. */
bool ccl_scheduler_idle(CclScheduler *engine);

/* Has the device failed? */
bool ccl_scheduler_lost(CclScheduler *engine);

void ccl_ticket_init(CclTicket *ticket, void *frame);
void ccl_ticket_clear(CclTicket *ticket);

/* An error means that the frame is not in the engine; a launch that fails shows when the frame is collected. */
CclStatus ccl_scheduler_submit(CclScheduler *engine, CclTicket *ticket);
/* Waits for the frame. */
CclStatus ccl_scheduler_collect(CclScheduler *engine, CclTicket *ticket);
/* Would collecting not wait? */
bool ccl_scheduler_ready(CclScheduler *engine, CclTicket *ticket);

#ifdef __cplusplus
}
#endif

#endif
