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

/* How long a thread looks out for something that is about to happen before it sleeps: being woken takes about 50 us,
 * a third of what a video-like mask takes in all. */
#define AWAKE_US 100.0

/* Held for some hundred nanoseconds: who finds it taken looks again before sleeping, where there is such a lock. */
#ifdef PTHREAD_ADAPTIVE_MUTEX_INITIALIZER_NP
#define LOCK_INITIALIZER PTHREAD_ADAPTIVE_MUTEX_INITIALIZER_NP
#else
#define LOCK_INITIALIZER PTHREAD_MUTEX_INITIALIZER
#endif

#define MAX_WORKERS 1023u

/* CclPool.left, from the top: seats (workers that may still come), tasks, the next of them. Who adds 1 has the task of the
 * number before; from the number of tasks on there is none. One word, so that a seat is taken together with a task of the same
 * call. */
#define TASK_BITS 24u
#define MAX_TASKS ((1u << TASK_BITS) - 1 - MAX_WORKERS)
#define SEAT (1ull << 2 * TASK_BITS)

static unsigned next_of(uint64_t left)
{
    return left & ((1u << TASK_BITS) - 1);
}

static bool is_used_up(uint64_t left)
{
    return left < SEAT || next_of(left) >= (left >> TASK_BITS & ((1u << TASK_BITS) - 1));
}

/* Freed only when there are no workers, and used again until then: one may look at a pool that is gone. */
struct CclPool {
    unsigned n_threads;
    void (*task)(void *data, unsigned i); /* these three may be read only by who has a task */
    void *data;
    unsigned n;            /* tasks of this call */
    _Atomic uint64_t left;
    atomic_uint n_done;    /* have returned */
    CclPool *later;        /* in line after this one, or unused */
};

/* The workers of the process. `lock` guards the line of calls; `crew` is held, before it, by who changes the number of pools or
 * workers. */
static struct {
    pthread_mutex_t crew, lock;
    pthread_cond_t wake;  /* there are tasks, or it is time to quit */
    pthread_cond_t done;  /* a call's last task has returned */
    CclPool *line;        /* calls with tasks to hand out, first come first */
    _Atomic(CclPool *) last; /* that came into line */
    atomic_uint n_in_line;
    atomic_uint calls;    /* ONE_CALL for each that was begun, and for quitting; and the workers that look out for the next */
    atomic_uint n_asleep; /* callers that wait for `done` */
    atomic_uint more;     /* the next call is expected at once: so many workers look out for it, the seats of the last call. Who
                           * came too late for a task of that does, too: asleep it would be late for the next as well */
    bool quit;
    unsigned n_pools, n_wanted; /* threads they want, their callers not counted */
    CclPool *unused;
    cpu_set_t cpus;       /* where their makers may run */
    unsigned n_workers;
    pthread_t worker[MAX_WORKERS];
} all = { .crew = PTHREAD_MUTEX_INITIALIZER, .lock = LOCK_INITIALIZER, .wake = PTHREAD_COND_INITIALIZER,
          .done = PTHREAD_COND_INITIALIZER };

#define ONE_CALL 1024u
#define WATCHING (ONE_CALL - 1)
_Static_assert(MAX_WORKERS <= WATCHING, "all of them may look out");

/* ---------------------------------------------------------------- tasks */

static unsigned least(unsigned a, unsigned b)
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

/* Looks at `value` until what `mask` leaves of it is (or, `differs`, is not) `other`, or AWAKE_US have passed. */
static void watch(const atomic_uint *value, unsigned mask, unsigned other, bool differs)
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

/* A seat in a call, and a task of it. */
static bool join(CclPool *pool, unsigned *i)
{
    uint64_t left = atomic_load(&pool->left);
    while (!is_used_up(left))
        if (atomic_compare_exchange_weak(&pool->left, &left, left - SEAT + 1)) {
            *i = next_of(left);
            return true;
        }
    return false;
}

/* Task i of a call, and what more there is. The next is taken before the last is called done: until all are done the pool
 * is not the caller's to use again. */
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

/* Runs tasks of the calls in line until there are none; was there any? Called and returns with the lock held. */
static bool help(void)
{
    bool any = false;
    for (CclPool *pool = all.line; pool;) {
        unsigned i;
        if (!join(pool, &i)) {
            pool = pool->later;
            continue;
        }
        pthread_mutex_unlock(&all.lock);
        run_tasks(pool, i);
        pthread_mutex_lock(&all.lock);
        any = true;
        pool = all.line;
    }
    return any;
}

/* The call begun last, as a number. */
static unsigned last_call(void)
{
    return atomic_load(&all.calls) & ~WATCHING;
}

/* Counts this worker among those that look out for a call after `calls`. False: one has come already, or there are enough. */
static bool begin_watching(unsigned calls)
{
    unsigned now = atomic_load(&all.calls);
    while ((now & ~WATCHING) == calls && (now & WATCHING) < atomic_load(&all.more))
        if (atomic_compare_exchange_weak(&all.calls, &now, now + 1))
            return true;
    return false;
}

/* No more. False: a call has come, which has counted on all who looked out. */
static bool end_watching(unsigned calls)
{
    unsigned now = atomic_load(&all.calls);
    while ((now & ~WATCHING) == calls)
        if (atomic_compare_exchange_weak(&all.calls, &now, now - 1))
            return true;
    return false;
}

/* Looks out for calls after `*calls`, and helps those that come without the lock, which all workers would want at once. False:
 * none has come for a while, or enough others look out, and `*calls` is still the last. True: there may be more to do, which
 * help() finds. */
static bool look_out(unsigned *calls)
{
    for (;;) {
        unsigned i;
        if (begin_watching(*calls)) {
            watch(&all.calls, ~WATCHING, *calls, true);
            if (end_watching(*calls))
                return false;
        } else if (last_call() == *calls) {
            return false;
        }
        *calls = last_call();
        CclPool *const pool = atomic_load(&all.last);
        const bool alone = atomic_load(&all.n_in_line) <= 1;
        if (!join(pool, &i))
            return true;
        run_tasks(pool, i);
        if (!alone || atomic_load(&all.n_in_line) > 1)
            return true;
    }
}

static void *work(void *unused)
{
    pthread_mutex_lock(&all.lock);
    while (!all.quit) {
        help();
        unsigned calls = last_call();
        if (atomic_load(&all.more)) {
            pthread_mutex_unlock(&all.lock);
            const bool more = look_out(&calls);
            pthread_mutex_lock(&all.lock);
            if (more || help()) /* of calls that the last one has hidden */
                continue;
        }
        while (last_call() == calls && !all.quit)
            pthread_cond_wait(&all.wake, &all.lock);
    }
    pthread_mutex_unlock(&all.lock);
    return unused;
}

/* Notes a call; returns how many workers come by themselves, as they look out for it. Called with the lock held. */
static unsigned next_call(void)
{
    unsigned calls = atomic_load(&all.calls);
    while (!atomic_compare_exchange_weak(&all.calls, &calls, (calls & ~WATCHING) + ONE_CALL)) {
    }
    return calls & WATCHING;
}

static void enter_line(CclPool *pool)
{
    CclPool **at = &all.line;
    while (*at)
        at = &(*at)->later;
    pool->later = NULL;
    *at = pool;
    atomic_fetch_add(&all.n_in_line, 1);
}

static void leave_line(const CclPool *pool)
{
    CclPool **at = &all.line;
    while (*at != pool)
        at = &(*at)->later;
    *at = pool->later;
    atomic_fetch_sub(&all.n_in_line, 1);
}

static void sleep_until_done(CclPool *pool)
{
    pthread_mutex_lock(&all.lock);
    atomic_fetch_add(&all.n_asleep, 1); /* before looking: who is done looks after that */
    while (atomic_load(&pool->n_done) < pool->n)
        pthread_cond_wait(&all.done, &all.lock);
    atomic_fetch_sub(&all.n_asleep, 1);
    pthread_mutex_unlock(&all.lock);
}

void ccl_pool_begin(CclPool *pool, void (*task)(void *data, unsigned i), void *data, unsigned n, bool more)
{
    if (!pool || n < 2)
        return;
    const unsigned n_seats = least(least(n, pool->n_threads) - 1, MAX_WORKERS);
    assert(n <= MAX_TASKS);
    pthread_mutex_lock(&all.lock);
    pool->task = task, pool->data = data;
    pool->n = n;
    atomic_store(&pool->n_done, 0);
    atomic_store(&pool->left, n_seats * SEAT | (uint64_t)n << TASK_BITS);
    enter_line(pool);
    atomic_store(&all.more, more ? n_seats : 0);
    atomic_store(&all.last, pool);
    const unsigned n_awake = next_call();
    pthread_mutex_unlock(&all.lock);
    for (unsigned i = n_awake; i < n_seats; i++)
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
    leave_line(pool);
    pthread_mutex_unlock(&all.lock);
    watch(&pool->n_done, ~0u, n, false);
    if (atomic_load(&pool->n_done) < n)
        sleep_until_done(pool);
}

void ccl_pool_run(CclPool *pool, void (*task)(void *data, unsigned i), void *data, unsigned n, bool more)
{
    ccl_pool_begin(pool, task, data, n, more);
    ccl_pool_end(pool, task, data, n);
}

/* ---------------------------------------------------------------- workers */

/* In a child process there are no workers, whatever its parent had: the callers do the work. */
static void before_fork(void)
{
    pthread_mutex_lock(&all.crew);
    pthread_mutex_lock(&all.lock);
}

static void after_fork(void)
{
    pthread_mutex_unlock(&all.lock);
    pthread_mutex_unlock(&all.crew);
}

static void after_fork_in_child(void)
{
    all.line = NULL;
    all.n_workers = 0;
    all.n_in_line = all.n_asleep = all.more = 0;
    next_call(); /* none of the workers looks out any more */
    all.wake = all.done = (pthread_cond_t)PTHREAD_COND_INITIALIZER;
    after_fork();
}

static void watch_forks(void)
{
    pthread_atfork(before_fork, after_fork, after_fork_in_child);
}

/* Workers may run wherever one of the threads may that they work for. */
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

/* Starts what is missing for a pool of `n_threads`. Called with the crew held. */
static void start_workers(unsigned n_threads)
{
    const unsigned n_cpus = ccl_cpu_count();
    const unsigned most = least((n_cpus > n_threads ? n_cpus : n_threads) - 1, MAX_WORKERS);
    const unsigned n = least(all.n_wanted, most);
    for (unsigned i = all.n_workers; i < n; i++)
        start_worker(&all.worker[all.n_workers]);
}

/* Called with the crew held, and no pool left. */
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
        all.unused = pool->later;
        free(pool);
    }
}

/* Called with the crew held. */
static CclPool *take_unused(void)
{
    CclPool *const pool = all.unused;
    if (!pool)
        return calloc(1, sizeof *pool);
    all.unused = pool->later;
    return pool;
}

static void leave_unused(CclPool *pool)
{
    pool->later = all.unused;
    all.unused = pool;
}

CclPool *ccl_pool_new(unsigned n_threads)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, watch_forks);
    if (n_threads < 2)
        return NULL;
    pthread_mutex_lock(&all.crew);
    CclPool *const pool = take_unused();
    if (!pool) {
        pthread_mutex_unlock(&all.crew);
        return NULL;
    }
    pool->n_threads = n_threads;
    all.n_pools++;
    all.n_wanted += n_threads - 1;
    widen_affinity();
    start_workers(n_threads);
    const bool alone = !all.n_workers;
    pthread_mutex_unlock(&all.crew);
    if (!alone)
        return pool;
    ccl_pool_free(pool);
    return NULL;
}

void ccl_pool_free(CclPool *pool)
{
    if (!pool)
        return;
    pthread_mutex_lock(&all.crew);
    all.n_wanted -= pool->n_threads - 1;
    leave_unused(pool);
    if (!--all.n_pools)
        stop_workers();
    pthread_mutex_unlock(&all.crew);
}
