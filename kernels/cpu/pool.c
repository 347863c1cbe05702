/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* sched_getaffinity */
#endif
#include "pool.h"
#include "backend.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>

/* How long a thread looks out for something that is about to happen before it sleeps: being woken takes about 50 us,
 * a third of what a video-like mask takes in all. */
#define AWAKE_US 100.0

struct CclPool {
    pthread_mutex_t lock; /* guards all below; what is atomic may be looked at without it */
    pthread_cond_t wake;  /* there are tasks, or it is time to quit */
    pthread_cond_t done;  /* the last task has returned */
    void (*task)(void *data, unsigned i);
    void *data;
    unsigned n, next;    /* tasks of this call, handed out */
    atomic_uint n_done;  /* returned */
    atomic_uint n_calls; /* of ccl_pool_run(), and 1 for ccl_pool_free() */
    bool more;           /* the next call follows at once */
    bool quit;
    unsigned n_watching; /* workers that look out for the next call */
    unsigned n_workers;
    pthread_t worker[];
};

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

/* Takes tasks until there are none. Called and returns with the lock held. */
static void take_tasks(CclPool *pool)
{
    while (pool->next < pool->n) {
        const unsigned i = pool->next++;
        void (*const task)(void *, unsigned) = pool->task;
        void *const data = pool->data;
        pthread_mutex_unlock(&pool->lock);
        task(data, i);
        pthread_mutex_lock(&pool->lock);
        if (++pool->n_done == pool->n)
            pthread_cond_signal(&pool->done);
    }
}

static void *work(void *data)
{
    CclPool *const pool = data;
    pthread_mutex_lock(&pool->lock);
    while (!pool->quit) {
        take_tasks(pool);
        const unsigned n_calls = pool->n_calls;
        if (pool->more) {
            pool->n_watching++;
            pthread_mutex_unlock(&pool->lock);
            watch(&pool->n_calls, n_calls, true);
            pthread_mutex_lock(&pool->lock);
            pool->n_watching--;
        }
        while (pool->n_calls == n_calls)
            pthread_cond_wait(&pool->wake, &pool->lock);
    }
    pthread_mutex_unlock(&pool->lock);
    return NULL;
}

CclPool *ccl_pool_new(unsigned n_threads)
{
    CclPool *const pool = calloc(1, sizeof *pool + n_threads * sizeof pool->worker[0]);
    if (!pool)
        return NULL;
    pthread_mutex_init(&pool->lock, NULL);
    pthread_cond_init(&pool->wake, NULL);
    pthread_cond_init(&pool->done, NULL);
    while (pool->n_workers + 1 < n_threads && !pthread_create(&pool->worker[pool->n_workers], NULL, work, pool))
        pool->n_workers++;
    if (!pool->n_workers) {
        ccl_pool_free(pool);
        return NULL;
    }
    return pool;
}

void ccl_pool_free(CclPool *pool)
{
    if (!pool)
        return;
    pthread_mutex_lock(&pool->lock);
    pool->quit = true;
    pool->n_calls++;
    pthread_cond_broadcast(&pool->wake);
    pthread_mutex_unlock(&pool->lock);
    for (unsigned i = 0; i < pool->n_workers; i++)
        pthread_join(pool->worker[i], NULL);
    pthread_cond_destroy(&pool->done);
    pthread_cond_destroy(&pool->wake);
    pthread_mutex_destroy(&pool->lock);
    free(pool);
}

/* Wakes as many as there are tasks for; the caller and those who look out need no waking. Called with the lock held. */
static void wake_workers(CclPool *pool)
{
    if (pool->n > pool->n_workers) {
        pthread_cond_broadcast(&pool->wake);
        return;
    }
    for (unsigned awake = 1 + pool->n_watching; awake < pool->n; awake++)
        pthread_cond_signal(&pool->wake);
}

void ccl_pool_run(CclPool *pool, void (*task)(void *data, unsigned i), void *data, unsigned n, bool more)
{
    if (!pool || n == 1) {
        for (unsigned i = 0; i < n; i++)
            task(data, i);
        return;
    }
    pthread_mutex_lock(&pool->lock);
    pool->task = task, pool->data = data;
    pool->next = pool->n_done = 0;
    pool->n = n;
    pool->more = more;
    pool->n_calls++;
    wake_workers(pool);
    take_tasks(pool);
    if (pool->n_done < n) {
        pthread_mutex_unlock(&pool->lock);
        watch(&pool->n_done, n, false);
        pthread_mutex_lock(&pool->lock);
    }
    while (pool->n_done < n)
        pthread_cond_wait(&pool->done, &pool->lock);
    pool->n = 0;
    pthread_mutex_unlock(&pool->lock);
}

unsigned ccl_cpu_count(void)
{
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set))
        return 1;
    return (unsigned)CPU_COUNT(&set);
}
