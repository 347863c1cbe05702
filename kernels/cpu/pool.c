/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* sched_getaffinity */
#endif
#include "pool.h"

#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdlib.h>

struct CclPool {
    pthread_mutex_t lock; /* guards all below */
    pthread_cond_t wake;  /* there are tasks, or it is time to quit */
    pthread_cond_t done;  /* the last task has returned */
    void (*task)(void *data, unsigned i);
    void *data;
    unsigned n, next, n_done; /* tasks of this call, handed out, returned */
    bool quit;
    unsigned n_workers;
    pthread_t worker[];
};

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
        if (!pool->quit)
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
    pthread_cond_broadcast(&pool->wake);
    pthread_mutex_unlock(&pool->lock);
    for (unsigned i = 0; i < pool->n_workers; i++)
        pthread_join(pool->worker[i], NULL);
    pthread_cond_destroy(&pool->done);
    pthread_cond_destroy(&pool->wake);
    pthread_mutex_destroy(&pool->lock);
    free(pool);
}

void ccl_pool_run(CclPool *pool, void (*task)(void *data, unsigned i), void *data, unsigned n)
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
    pthread_cond_broadcast(&pool->wake);
    take_tasks(pool);
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
