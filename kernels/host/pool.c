/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* affinity and names of threads */
#endif
#include "pool.h"

#include "clock.h"
#include "cpus.h"

#include <assert.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>

/* How long a thread polls before it blocks. Waking a thread takes about 50 us, a third of the time of a video-like mask. */
#define AWAKE_US 100.0

/* The lock is held for some hundred nanoseconds. If the C library has an adaptive mutex, threads poll it before they block. */
#ifdef PTHREAD_ADAPTIVE_MUTEX_INITIALIZER_NP
#define LOCK_INITIALIZER PTHREAD_ADAPTIVE_MUTEX_INITIALIZER_NP
#else
#define LOCK_INITIALIZER PTHREAD_MUTEX_INITIALIZER
#endif

#define MAX_WORKERS 1023u

/* CclPool.left, from the highest bits: number of workers that may still take part, number of tasks, next task. A thread that
 * adds 1 gets the task with the number before the addition. If that is not below the number of tasks, there is no task. All
 * three are one word, so that a worker joins and takes a task of the same call in one operation. */
#define TASK_BITS 24u
#define MAX_TASKS ((1u << TASK_BITS) - 1 - MAX_WORKERS)
#define ONE_WORKER (1ull << 2 * TASK_BITS)

static unsigned next_of(uint64_t left)
{
    return left & ((1u << TASK_BITS) - 1);
}

static bool is_used_up(uint64_t left)
{
    return left < ONE_WORKER || next_of(left) >= (left >> TASK_BITS & ((1u << TASK_BITS) - 1));
}

/* Freed only when there are no workers, because a worker may read a pool that was given back. New pools reuse it until then. */
struct CclPool {
    unsigned n_threads;
    void (*task)(void *data, unsigned i); /* only a thread that has a task may read these three */
    void *data;
    unsigned n; /* tasks of this call */
    _Atomic uint64_t left;
    atomic_uint n_done; /* tasks that have returned */
    CclPool *next;      /* in the queue, or among the unused */
};

/* The workers of the process. `lock` guards the queue of calls. A thread that changes the number of pools or workers holds
 * `setup_lock`, and takes it before `lock`. */
static struct {
    pthread_mutex_t setup_lock, lock;
    pthread_cond_t wake;     /* there are tasks, or it is time to quit */
    pthread_cond_t done;     /* a call's last task has returned */
    CclPool *queue;          /* calls with tasks to hand out, the oldest first */
    _Atomic(CclPool *) last; /* the newest in the queue */
    atomic_uint n_queued;
    atomic_uint calls;    /* ONE_CALL for each call begun, and for quitting; plus the number of workers that poll for the next */
    atomic_uint n_asleep; /* callers that wait for `done` */
    atomic_uint more;     /* not 0: the next call is expected at once, and at most this number of workers poll for it. Workers
                           * that missed the last call poll too: if they blocked, they would miss the next one */
    bool quit;
    unsigned n_pools, n_wanted; /* threads that the pools want, without their callers */
    CclPool *unused;
    cpu_set_t cpus; /* of all threads that made pools */
    unsigned n_workers;
    pthread_t worker[MAX_WORKERS];
} all = { .setup_lock = PTHREAD_MUTEX_INITIALIZER, .lock = LOCK_INITIALIZER, .wake = PTHREAD_COND_INITIALIZER,
          .done = PTHREAD_COND_INITIALIZER };

#define ONE_CALL 1024u
#define N_POLLING (ONE_CALL - 1)
_Static_assert(MAX_WORKERS <= N_POLLING, "all workers may poll");

/* ---------------------------------------------------------------- tasks */

static unsigned smaller(unsigned a, unsigned b)
{
    return a < b ? a : b;
}

static void relax(void)
{
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

/* Polls until `value` & `mask` is `other` (with `differs`: is not `other`), or AWAKE_US have passed. */
static void poll_value(const atomic_uint *value, unsigned mask, unsigned other, bool differs)
{
    const double end = ccl_now_us() + AWAKE_US;
    do {
        for (unsigned i = 0; i < 16; i++) {
            if (((atomic_load(value) & mask) != other) == differs)
                return;
            relax();
        }
    } while (ccl_now_us() < end);
}

/* Takes part in a call, with its next task. False: the call has no task, or enough workers. */
static bool join(CclPool *pool, unsigned *i)
{
    uint64_t left = atomic_load(&pool->left);
    while (!is_used_up(left))
        if (atomic_compare_exchange_weak(&pool->left, &left, left - ONE_WORKER + 1)) {
            *i = next_of(left);
            return true;
        }
    return false;
}

/* Runs task i of a call, then further ones. Takes the next task before it counts the last one as done: as soon as all are done,
 * the caller may use the pool again. */
static void run_tasks(CclPool *pool, unsigned i)
{
    void (*const task)(void *, unsigned) = pool->task;
    void *const data = pool->data;
    const unsigned n = pool->n;
    while (i < n) {
        task(data, i);
        i = next_of(atomic_fetch_add(&pool->left, 1));
        if (atomic_fetch_add(&pool->n_done, 1) + 1 < n || !atomic_load(&all.n_asleep))
            continue;
        pthread_mutex_lock(&all.lock);
        pthread_cond_broadcast(&all.done);
        pthread_mutex_unlock(&all.lock);
    }
}

/* Runs tasks of the queued calls until there are none. Returns whether there was one. Called and returns with the lock held. */
static bool run_queued(void)
{
    bool any = false;
    for (CclPool *pool = all.queue; pool;) {
        unsigned i;
        if (!join(pool, &i)) {
            pool = pool->next;
            continue;
        }
        pthread_mutex_unlock(&all.lock);
        run_tasks(pool, i);
        pthread_mutex_lock(&all.lock);
        any = true;
        pool = all.queue;
    }
    return any;
}

/* The number of the newest call. */
static unsigned last_call(void)
{
    return atomic_load(&all.calls) & ~N_POLLING;
}

/* Counts this worker as polling for a call after `calls`. False: such a call has come already, or enough workers poll. */
static bool begin_polling(unsigned calls)
{
    unsigned now = atomic_load(&all.calls);
    while ((now & ~N_POLLING) == calls && (now & N_POLLING) < atomic_load(&all.more))
        if (atomic_compare_exchange_weak(&all.calls, &now, now + 1))
            return true;
    return false;
}

/* Undoes this. False: a call has come, and it counts on all workers that polled. */
static bool end_polling(unsigned calls)
{
    unsigned now = atomic_load(&all.calls);
    while ((now & ~N_POLLING) == calls)
        if (atomic_compare_exchange_weak(&all.calls, &now, now - 1))
            return true;
    return false;
}

/* Polls for calls after `*calls` and runs their tasks. Does so without the lock, which all workers would want at the same time.
 * False: no call came in time, or enough workers poll, and `*calls` is the newest. True: there may be more tasks, for
 * run_queued(). */
static bool poll_for_calls(unsigned *calls)
{
    for (;;) {
        unsigned i;
        if (begin_polling(*calls)) {
            poll_value(&all.calls, ~N_POLLING, *calls, true);
            if (end_polling(*calls))
                return false;
        } else if (last_call() == *calls) {
            return false;
        }
        *calls = last_call();
        CclPool *const pool = atomic_load(&all.last);
        const bool alone = atomic_load(&all.n_queued) <= 1;
        if (!join(pool, &i))
            return true;
        run_tasks(pool, i);
        if (!alone || atomic_load(&all.n_queued) > 1)
            return true;
    }
}

static void *work(void *unused)
{
    pthread_mutex_lock(&all.lock);
    while (!all.quit) {
        run_queued();
        unsigned calls = last_call();
        if (atomic_load(&all.more)) {
            pthread_mutex_unlock(&all.lock);
            const bool more = poll_for_calls(&calls);
            pthread_mutex_lock(&all.lock);
            if (more || run_queued()) /* calls older than the last one */
                continue;
        }
        while (last_call() == calls && !all.quit)
            pthread_cond_wait(&all.wake, &all.lock);
    }
    pthread_mutex_unlock(&all.lock);
    return unused;
}

/* Counts a call. Returns how many workers were polling for it, and need no signal. Called with the lock held. */
static unsigned next_call(void)
{
    unsigned calls = atomic_load(&all.calls);
    while (!atomic_compare_exchange_weak(&all.calls, &calls, (calls & ~N_POLLING) + ONE_CALL)) {
    }
    return calls & N_POLLING;
}

static void enter_queue(CclPool *pool)
{
    CclPool **at = &all.queue;
    while (*at)
        at = &(*at)->next;
    pool->next = NULL;
    *at = pool;
    atomic_fetch_add(&all.n_queued, 1);
}

static void leave_queue(const CclPool *pool)
{
    CclPool **at = &all.queue;
    while (*at != pool)
        at = &(*at)->next;
    *at = pool->next;
    atomic_fetch_sub(&all.n_queued, 1);
}

static void sleep_until_done(CclPool *pool)
{
    pthread_mutex_lock(&all.lock);
    atomic_fetch_add(&all.n_asleep, 1); /* before reading n_done: a worker writes n_done, then reads n_asleep */
    while (atomic_load(&pool->n_done) < pool->n)
        pthread_cond_wait(&all.done, &all.lock);
    atomic_fetch_sub(&all.n_asleep, 1);
    pthread_mutex_unlock(&all.lock);
}

void ccl_pool_begin(CclPool *pool, void (*task)(void *data, unsigned i), void *data, unsigned n, bool more)
{
    if (!pool || n < 2)
        return;
    const unsigned max_workers = smaller(smaller(n, pool->n_threads) - 1, MAX_WORKERS);
    assert(n <= MAX_TASKS);
    pthread_mutex_lock(&all.lock);
    pool->task = task, pool->data = data;
    pool->n = n;
    atomic_store(&pool->n_done, 0);
    atomic_store(&pool->left, max_workers * ONE_WORKER | (uint64_t)n << TASK_BITS);
    enter_queue(pool);
    atomic_store(&all.more, more ? max_workers : 0);
    atomic_store(&all.last, pool);
    const unsigned n_awake = next_call();
    pthread_mutex_unlock(&all.lock);
    for (unsigned i = n_awake; i < max_workers; i++)
        pthread_cond_signal(&all.wake);
}

void ccl_pool_end(CclPool *pool, void (*task)(void *data, unsigned i), void *data, unsigned n)
{
    if (!pool || n < 2) {
        for (unsigned i = 0; i < n; i++)
            task(data, i);
        return;
    }
    run_tasks(pool, next_of(atomic_fetch_add(&pool->left, 1)));
    pthread_mutex_lock(&all.lock);
    leave_queue(pool);
    pthread_mutex_unlock(&all.lock);
    poll_value(&pool->n_done, ~0u, n, false);
    if (atomic_load(&pool->n_done) < n)
        sleep_until_done(pool);
}

void ccl_pool_run(CclPool *pool, void (*task)(void *data, unsigned i), void *data, unsigned n, bool more)
{
    ccl_pool_begin(pool, task, data, n, more);
    ccl_pool_end(pool, task, data, n);
}

/* ---------------------------------------------------------------- workers */

/* A child process has no workers, because fork() copies one thread only. Its callers run all tasks. */
static void before_fork(void)
{
    pthread_mutex_lock(&all.setup_lock);
    pthread_mutex_lock(&all.lock);
}

static void after_fork(void)
{
    pthread_mutex_unlock(&all.lock);
    pthread_mutex_unlock(&all.setup_lock);
}

static void after_fork_in_child(void)
{
    all.queue = NULL;
    all.n_workers = 0;
    all.n_queued = all.n_asleep = all.more = 0;
    next_call(); /* no worker polls */
    all.wake = all.done = (pthread_cond_t)PTHREAD_COND_INITIALIZER;
    after_fork();
}

static void watch_forks(void)
{
    pthread_atfork(before_fork, after_fork, after_fork_in_child);
}

/* Workers may run on every CPU that one of the threads that made pools may run on. */
static void widen_affinity(void)
{
    cpu_set_t mine, both;
    if (pthread_getaffinity_np(pthread_self(), sizeof mine, &mine))
        return;
    CPU_OR(&both, &all.cpus, &mine);
    if (CPU_EQUAL(&both, &all.cpus))
        return;
    all.cpus = both;
    for (unsigned i = 0; i < all.n_workers; i++)
        pthread_setaffinity_np(all.worker[i], sizeof both, &both);
}

static void start_worker(pthread_t *worker)
{
    if (pthread_create(worker, NULL, work, NULL))
        return;
    all.n_workers++;
    pthread_setname_np(*worker, "ccl-worker");
    pthread_setaffinity_np(*worker, sizeof all.cpus, &all.cpus);
}

/* Starts the missing workers for a pool of `n_threads`. Called with setup_lock held. */
static void start_workers(unsigned n_threads)
{
    const unsigned n_cpus = ccl_cpu_count();
    const unsigned max = smaller((n_cpus > n_threads ? n_cpus : n_threads) - 1, MAX_WORKERS);
    const unsigned n = smaller(all.n_wanted, max);
    for (unsigned i = all.n_workers; i < n; i++)
        start_worker(&all.worker[all.n_workers]);
}

/* Called with setup_lock held, and no pool left. */
static void stop_workers(void)
{
    pthread_mutex_lock(&all.lock);
    all.quit = true;
    all.more = 0;
    next_call();
    pthread_cond_broadcast(&all.wake);
    pthread_mutex_unlock(&all.lock);
    for (unsigned i = 0; i < all.n_workers; i++)
        pthread_join(all.worker[i], NULL);
    all.n_workers = 0;
    all.quit = false;
    CPU_ZERO(&all.cpus);
    all.last = NULL;
    for (CclPool *pool; (pool = all.unused);) {
        all.unused = pool->next;
        free(pool);
    }
}

/* Called with setup_lock held. */
static CclPool *take_unused(void)
{
    CclPool *const pool = all.unused;
    if (!pool)
        return calloc(1, sizeof *pool);
    all.unused = pool->next;
    return pool;
}

static void give_back(CclPool *pool)
{
    pool->next = all.unused;
    all.unused = pool;
}

CclPool *ccl_pool_new(unsigned n_threads)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, watch_forks);
    if (n_threads < 2)
        return NULL;
    pthread_mutex_lock(&all.setup_lock);
    CclPool *const pool = take_unused();
    if (!pool) {
        pthread_mutex_unlock(&all.setup_lock);
        return NULL;
    }
    pool->n_threads = n_threads;
    all.n_pools++;
    all.n_wanted += n_threads - 1;
    widen_affinity();
    start_workers(n_threads);
    const bool alone = !all.n_workers;
    pthread_mutex_unlock(&all.setup_lock);
    if (!alone)
        return pool;
    ccl_pool_free(pool);
    return NULL;
}

void ccl_pool_free(CclPool *pool)
{
    if (!pool)
        return;
    pthread_mutex_lock(&all.setup_lock);
    all.n_wanted -= pool->n_threads - 1;
    give_back(pool);
    if (!--all.n_pools)
        stop_workers();
    pthread_mutex_unlock(&all.setup_lock);
}
