/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* affinity and names of threads */
#endif
#include "pool.h"
#include "backend.h"
#include "cpus.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>

/* How long a thread looks out for something that is about to happen before it sleeps: being woken takes about 50 us,
 * a third of what a video-like mask takes in all. */
#define AWAKE_US 100.0

/* Held for some nanoseconds: who finds it taken looks again before sleeping, where there is such a lock. */
#ifdef PTHREAD_ADAPTIVE_MUTEX_INITIALIZER_NP
#define LOCK_INITIALIZER PTHREAD_ADAPTIVE_MUTEX_INITIALIZER_NP
#else
#define LOCK_INITIALIZER PTHREAD_MUTEX_INITIALIZER
#endif

#define MOST_WORKERS 1023u

struct CclPool {
    unsigned n_threads;
    void (*task)(void *data, unsigned i);
    void *data;
    unsigned n;           /* tasks of this call */
    atomic_uint next;     /* who adds 1 has the task of that number; past the last there is none */
    atomic_uint n_done;   /* have returned */
    unsigned n_helpers;   /* workers that have come to this call */
    bool more;            /* the next call follows at once */
    CclPool *later;       /* in line after this one */
};

/* The workers of the process. `lock` guards the calls and everything of the pools that is not atomic; `crew` is held,
 * before it, by who changes the number of pools or workers. */
static struct {
    pthread_mutex_t crew, lock;
    pthread_cond_t wake;  /* there are tasks, or it is time to quit */
    pthread_cond_t done;  /* a call's last task has returned */
    CclPool *line;        /* calls with tasks to hand out, first come first */
    atomic_uint n_calls;  /* of ccl_pool_run(), and 1 for quitting; may be looked at without the lock */
    atomic_uint n_asleep; /* callers that wait for `done` */
    unsigned n_watching;  /* workers that look out for the next call */
    bool quit;
    unsigned n_pools, n_wanted; /* threads they want, their callers not counted */
    cpu_set_t cpus;       /* where their makers may run */
    unsigned n_workers;
    pthread_t worker[MOST_WORKERS];
} all = { .crew = PTHREAD_MUTEX_INITIALIZER, .lock = LOCK_INITIALIZER, .wake = PTHREAD_COND_INITIALIZER,
          .done = PTHREAD_COND_INITIALIZER };

/* ---------------------------------------------------------------- tasks */

static void relax(void)
{
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

/* Looks at `value` until it is (or, `differs`, is not) `other`, or AWAKE_US have passed. */
static void watch(const atomic_uint *value, unsigned other, bool differs)
{
    const double end = ccl_now_us() + AWAKE_US;
    do {
        for (unsigned i = 0; i < 16; i++) {
            if ((atomic_load(value) != other) == differs)
                return;
            relax();
        }
    } while (ccl_now_us() < end);
}

/* A call in line that a further worker may help with, and in `i` a task of it. Called with the lock held. */
static CclPool *next_task(unsigned *i)
{
    for (CclPool *pool = all.line; pool; pool = pool->later)
        if (pool->n_helpers + 1 < pool->n_threads && atomic_load(&pool->next) < pool->n &&
            (*i = atomic_fetch_add(&pool->next, 1)) < pool->n)
            return pool;
    return NULL;
}

/* Task i of a call, and what more there is. The next is taken before the last is called done: until all are done the pool
 * is not the caller's to use again or to free. */
static void run_tasks(CclPool *pool, unsigned i)
{
    void (*const task)(void *, unsigned) = pool->task;
    void *const data = pool->data;
    const unsigned n = pool->n;
    while (i < n) {
        task(data, i);
        i = atomic_fetch_add(&pool->next, 1);
        if (atomic_fetch_add(&pool->n_done, 1) + 1 < n || !atomic_load(&all.n_asleep))
            continue;
        pthread_mutex_lock(&all.lock);
        pthread_cond_broadcast(&all.done);
        pthread_mutex_unlock(&all.lock);
    }
}

/* Runs tasks until there are none. Called and returns with the lock held. Returns whether more follow. */
static bool help(void)
{
    bool more = false;
    unsigned i;
    for (CclPool *pool; (pool = next_task(&i));) {
        more = pool->more;
        pool->n_helpers++;
        pthread_mutex_unlock(&all.lock);
        run_tasks(pool, i);
        pthread_mutex_lock(&all.lock);
    }
    return more;
}

static void *work(void *unused)
{
    pthread_mutex_lock(&all.lock);
    while (!all.quit) {
        const bool more = help();
        const unsigned n_calls = all.n_calls;
        if (more) {
            all.n_watching++;
            pthread_mutex_unlock(&all.lock);
            watch(&all.n_calls, n_calls, true);
            pthread_mutex_lock(&all.lock);
            if (all.n_calls == n_calls) /* otherwise the call has counted on us */
                all.n_watching--;
        }
        /* The call that counts on nobody, for quitting, may have come before we did from the last task. */
        while (all.n_calls == n_calls && !all.quit)
            pthread_cond_wait(&all.wake, &all.lock);
    }
    pthread_mutex_unlock(&all.lock);
    return unused;
}

/* How many to wake, so that as many as may help are awake: the caller and those who look out are. Called with the lock
 * held. */
static unsigned n_to_wake(const CclPool *pool)
{
    const unsigned n = pool->n < pool->n_threads ? pool->n : pool->n_threads, n_awake = 1 + all.n_watching;
    all.n_watching = 0;
    return n > n_awake ? n - n_awake : 0;
}

static void enter_line(CclPool *pool)
{
    CclPool **at = &all.line;
    while (*at)
        at = &(*at)->later;
    pool->later = NULL;
    *at = pool;
}

static void leave_line(const CclPool *pool)
{
    CclPool **at = &all.line;
    while (*at != pool)
        at = &(*at)->later;
    *at = pool->later;
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

void ccl_pool_run(CclPool *pool, void (*task)(void *data, unsigned i), void *data, unsigned n, bool more)
{
    if (!pool || n < 2) {
        for (unsigned i = 0; i < n; i++)
            task(data, i);
        return;
    }
    pthread_mutex_lock(&all.lock);
    pool->task = task, pool->data = data;
    pool->n = n;
    pool->n_helpers = 0;
    pool->more = more;
    atomic_store(&pool->next, 0);
    atomic_store(&pool->n_done, 0);
    enter_line(pool);
    const unsigned n_asleep = n_to_wake(pool);
    atomic_fetch_add(&all.n_calls, 1);
    pthread_mutex_unlock(&all.lock);
    for (unsigned i = 0; i < n_asleep; i++)
        pthread_cond_signal(&all.wake);

    run_tasks(pool, atomic_fetch_add(&pool->next, 1));
    pthread_mutex_lock(&all.lock);
    leave_line(pool);
    pthread_mutex_unlock(&all.lock);
    watch(&pool->n_done, n, false);
    if (atomic_load(&pool->n_done) < n)
        sleep_until_done(pool);
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
    all.n_workers = all.n_watching = 0;
    all.n_asleep = 0;
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

static unsigned least(unsigned a, unsigned b)
{
    return a < b ? a : b;
}

/* Starts what is missing for a pool of `n_threads`. Called with the crew held. */
static void start_workers(unsigned n_threads)
{
    const unsigned n_cpus = ccl_cpu_count();
    const unsigned most = least((n_cpus > n_threads ? n_cpus : n_threads) - 1, MOST_WORKERS);
    const unsigned n = least(all.n_wanted, most);
    for (unsigned i = all.n_workers; i < n; i++)
        start_worker(&all.worker[all.n_workers]);
}

/* Called with the crew held; nobody calls ccl_pool_run() any more. */
static void stop_workers(void)
{
    pthread_mutex_lock(&all.lock);
    all.quit = true;
    all.n_calls++;
    pthread_cond_broadcast(&all.wake);
    pthread_mutex_unlock(&all.lock);
    for (unsigned i = 0; i < all.n_workers; i++)
        pthread_join(all.worker[i], NULL);
    all.n_workers = 0;
    all.n_watching = 0;
    all.quit = false;
    CPU_ZERO(&all.cpus);
}

CclPool *ccl_pool_new(unsigned n_threads)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, watch_forks);
    CclPool *const pool = n_threads > 1 ? calloc(1, sizeof *pool) : NULL;
    if (!pool)
        return NULL;
    pool->n_threads = n_threads;

    pthread_mutex_lock(&all.crew);
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
    if (!--all.n_pools)
        stop_workers();
    pthread_mutex_unlock(&all.crew);
    free(pool);
}
