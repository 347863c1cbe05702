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

#define MOST_WORKERS 1023u

struct CclPool {
    unsigned n_threads;
    void (*task)(void *data, unsigned i);
    void *data;
    unsigned n, next;     /* tasks of this call, handed out */
    unsigned n_helpers;   /* workers at one of them */
    atomic_uint n_done;   /* returned; may be looked at without the lock */
    bool more;            /* the next call follows at once */
    pthread_cond_t done;  /* the last task has returned */
    CclPool *later;       /* in line after this one */
};

/* The workers of the process. `lock` guards the calls and everything of the pools; `crew` is held, before it, by who
 * changes the number of pools or workers. */
static struct {
    pthread_mutex_t crew, lock;
    pthread_cond_t wake;  /* there are tasks, or it is time to quit */
    CclPool *line;        /* calls with tasks to hand out, first come first */
    atomic_uint n_calls;  /* of ccl_pool_run(), and 1 for quitting; may be looked at without the lock */
    unsigned n_watching;  /* workers that look out for the next call */
    bool quit;
    unsigned n_pools, n_wanted; /* threads they want, their callers not counted */
    cpu_set_t cpus;       /* where their makers may run */
    unsigned n_workers;
    pthread_t worker[MOST_WORKERS];
} all = { .crew = PTHREAD_MUTEX_INITIALIZER, .lock = PTHREAD_MUTEX_INITIALIZER, .wake = PTHREAD_COND_INITIALIZER };

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

/* The first call that a further worker may help with. */
static CclPool *next_call(void)
{
    CclPool *pool = all.line;
    while (pool && pool->n_helpers + 1 >= pool->n_threads)
        pool = pool->later;
    return pool;
}

static void leave_line(const CclPool *pool)
{
    CclPool **at = &all.line;
    while (*at != pool)
        at = &(*at)->later;
    *at = pool->later;
}

/* Runs the next task of a call. Called and returns with the lock held. */
static void run_task(CclPool *pool)
{
    void (*const task)(void *, unsigned) = pool->task;
    void *const data = pool->data;
    const unsigned i = pool->next++;
    if (pool->next == pool->n)
        leave_line(pool);
    pthread_mutex_unlock(&all.lock);
    task(data, i);
    pthread_mutex_lock(&all.lock);
}

/* Called with the lock held; after it the caller may go on, and free the pool. */
static void task_done(CclPool *pool)
{
    if (++pool->n_done == pool->n)
        pthread_cond_signal(&pool->done);
}

/* Runs tasks until there are none. Called and returns with the lock held. Returns whether more follow. */
static bool help(void)
{
    bool more = false;
    for (CclPool *pool; (pool = next_call());) {
        more = pool->more;
        pool->n_helpers++;
        run_task(pool);
        pool->n_helpers--;
        task_done(pool);
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
        while (all.n_calls == n_calls)
            pthread_cond_wait(&all.wake, &all.lock);
    }
    pthread_mutex_unlock(&all.lock);
    return unused;
}

/* Wakes as many as may help; the caller and those who look out need no waking. Called with the lock held. */
static void wake_workers(const CclPool *pool)
{
    const unsigned n = pool->n < pool->n_threads ? pool->n : pool->n_threads;
    unsigned n_awake = 1 + all.n_watching;
    all.n_watching = 0;
    all.n_calls++;
    for (; n_awake < n; n_awake++)
        pthread_cond_signal(&all.wake);
}

static void enter_line(CclPool *pool)
{
    CclPool **at = &all.line;
    while (*at)
        at = &(*at)->later;
    pool->later = NULL;
    *at = pool;
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
    pool->next = pool->n_done = 0;
    pool->n = n;
    pool->more = more;
    enter_line(pool);
    wake_workers(pool);
    while (pool->next < pool->n) {
        run_task(pool);
        task_done(pool);
    }
    if (pool->n_done < n) {
        pthread_mutex_unlock(&all.lock);
        watch(&pool->n_done, n, false);
        pthread_mutex_lock(&all.lock);
    }
    while (pool->n_done < n)
        pthread_cond_wait(&pool->done, &all.lock);
    pthread_mutex_unlock(&all.lock);
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
    all.wake = (pthread_cond_t)PTHREAD_COND_INITIALIZER;
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
    pthread_cond_init(&pool->done, NULL);

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
    pthread_cond_destroy(&pool->done);
    free(pool);
}
