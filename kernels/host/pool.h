/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Threads that wait for work: one set of workers in the process for all who ask, since they share the CPUs anyway.
 *
 * There are as many as the pools ask for together, but no more than there are CPUs or the largest pool asks for, the
 * callers besides. They may run wherever one of the threads that made the pools may. The last pool takes them away.
 */
#ifndef CCL_HOST_POOL_H
#define CCL_HOST_POOL_H

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A claim on the workers, for one caller of ccl_pool_run() at a time. */
typedef struct CclPool CclPool;

/* For tasks on `n_threads` at once, the caller of ccl_pool_run() included; NULL when no thread can be made. */
CclPool *ccl_pool_new(unsigned n_threads);
void ccl_pool_free(CclPool *pool);

/* Calls task(data, i) for i = 0..n-1, in any order, and returns when all have returned: the caller does what no worker
 * is free for. Without a pool: all of it. With `more` the caller comes back at once: the workers stay awake for that,
 * for 0.1 ms at most, unless another call says otherwise. */
void ccl_pool_run(CclPool *pool, void (*task)(void *data, unsigned i), void *data, unsigned n, bool more);

/* The same in two parts, for a caller who has something else to do first: workers begin at once. The second, by the same thread
 * and with the same arguments, must follow; no fork() in between. */
void ccl_pool_begin(CclPool *pool, void (*task)(void *data, unsigned i), void *data, unsigned n, bool more);
void ccl_pool_end(CclPool *pool, void (*task)(void *data, unsigned i), void *data, unsigned n);

#ifdef __cplusplus
}
#endif

#endif
