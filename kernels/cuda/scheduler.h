/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Batches: frames of many contexts in common launches on one device.
 *
 * A GPU takes hardly longer for several frames launched together than for one. Contexts that share a device put their frames
 * into the queue of a scheduler, which decides when each frame is launched and with which others:
 *
 *   - An idle device gets a frame at once. No frame waits for others then.
 *   - While the device works, frames wait in the queue, and are launched together. A second batch is launched beside the
 *     running one as soon as it has half of the frames in flight, so that the device does not wait for the host. A third and a
 *     fourth need a quarter of them, and at least CCL_MIN_LARGE_BATCH. So two halves or four quarters alternate, and small
 *     batches do not delay large ones. If one thread has few frames in flight, CCL_MIN_BATCH are enough.
 *   - In flight are frames in the queue, frames on the device, and frames that are done and not yet collected. Without the
 *     last, the batches of a thread that is behind would shrink, and the thread would fall behind further.
 *   - If one thread has many frames in flight, the device may finish them before the thread has collected all. Launching each
 *     new frame at once would only take time from that thread. So frames are launched as if the device were at work, while
 *     CCL_MIN_LARGE_BATCH frames are done and not collected, and no thread waits for a frame.
 *   - First come, first served. A frame whose mask has not arrived on the device lets others pass.
 *
 * The scheduler has no thread of its own. A thread that submits a frame launches what the rules allow. Of the threads that
 * collect, one waits for the device on behalf of all. The others sleep until their own frames are done. When the waiting thread
 * has its frame, it wakes a sleeping one to take over. A thread that has the device to itself never sleeps here. A frame stays
 * in the queue no longer than until the next call, which at the latest is the one that collects it.
 *
 * When the device fails, every frame in the queue fails with its error, and so does every later one. Like a context, the
 * scheduler cannot be used again.
 *
 * This file does not use CUDA. Every function may be called from any thread.
 */
#ifndef CCL_CUDA_SCHEDULER_H
#define CCL_CUDA_SCHEDULER_H

#include "ccl.h"

#include <semaphore.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Maximum number of frames in a batch. */
#define CCL_MAX_BATCH 64u
/* Maximum number of batches on the device. Each uses multiprocessors that the others leave idle. */
#define CCL_MAX_BATCHES 4u
/* Minimum sizes of a third and a fourth batch. The first holds while no thread waits and at most four times as many frames are
 * in flight, the second otherwise: each batch has threads to wake, which then all run at the same time. */
#define CCL_MIN_BATCH 4u
#define CCL_MIN_LARGE_BATCH 8u

typedef enum CclTicketState {
    CCL_TICKET_FREE = 0,
    CCL_TICKET_QUEUED,
    CCL_TICKET_RUNNING,
    CCL_TICKET_DONE, /* not yet collected */
} CclTicketState;

/* A frame in the scheduler. The thread that submits the frame owns it. */
typedef struct CclTicket {
    void *frame; /* for the owner's use */

    /* Results, for the owner when the frame is collected. */
    unsigned batch_size; /* frames launched together, including this one */
    float wait_us;       /* from submission to launch */

    /* For the scheduler's use. */
    CclTicketState state;
    CclStatus status;
    unsigned ended; /* CclScheduler.n_ended of its batch */
    double submitted_us;
    bool asleep; /* the owner blocks on `wake` */
    sem_t wake;
    struct CclTicket *next;    /* in the queue */
    struct CclTicket *to_wake; /* in the list of tickets to wake */
} CclTicket;

/* The interface to a device. At most one launch() and one wait() run at a time, possibly at the same time. `batch` is
 * 0..CCL_MAX_BATCHES-1, and free again when wait() has returned. */
typedef struct CclSchedulerDevice {
    /* Whether the frame's mask has arrived. A frame that would otherwise leave the device idle is launched anyway. */
    bool (*arrived)(void *device, const CclTicket *ticket);
    /* Starts a batch beside the running ones. The `n` tickets are different. */
    CclStatus (*launch)(void *device, unsigned batch, CclTicket *const *tickets, unsigned n);
    /* Whether wait() would return at once. Both are called for batches in the order of their launches. */
    bool (*ended)(void *device, unsigned batch);
    CclStatus (*wait)(void *device, unsigned batch);
} CclSchedulerDevice;

typedef struct CclScheduler CclScheduler;

/* max_frames: of a batch, at most CCL_MAX_BATCH. NULL: out of memory. */
CclScheduler *ccl_scheduler_new(const CclSchedulerDevice *calls, void *device, unsigned max_frames);
/* The scheduler must have no frame. NULL is allowed. */
void ccl_scheduler_free(CclScheduler *scheduler);

/* Between pause and resume nothing is launched. Running batches go on. */
void ccl_scheduler_pause(CclScheduler *scheduler);
void ccl_scheduler_resume(CclScheduler *scheduler, unsigned max_frames);

/* Whether the scheduler has no frame. This may change before the caller acts on it. */
bool ccl_scheduler_idle(CclScheduler *scheduler);

/* Whether the device has failed. */
bool ccl_scheduler_lost(CclScheduler *scheduler);

void ccl_ticket_init(CclTicket *ticket, void *frame);
void ccl_ticket_clear(CclTicket *ticket);

/* An error means that the frame was not queued. A failed launch is reported when the frame is collected. */
CclStatus ccl_scheduler_submit(CclScheduler *scheduler, CclTicket *ticket);
/* Waits for the frame. */
CclStatus ccl_scheduler_collect(CclScheduler *scheduler, CclTicket *ticket);
/* Whether collecting would return at once. */
bool ccl_scheduler_ready(CclScheduler *scheduler, CclTicket *ticket);

#ifdef __cplusplus
}
#endif

#endif
