/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Threads that wait for work. All pools of the process share one set of workers, because they share the CPUs anyway.
 *
 * There are as many workers as the pools ask for together. The maximum is the number of CPUs, or of threads in the largest
 * pool, minus 1: callers work too. Workers may run on every CPU that one of the threads that made the pools may run on. The
 * last pool stops them.
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

/* Calls task(data, i) for i = 0..n-1, in any order, and returns when all have returned. The caller runs the tasks for which no
 * worker is free; without a pool it runs all. With `more` the caller is about to call again: workers then poll for 0.1 ms at
 * most, unless another call says otherwise. */
void ccl_pool_run(CclPool *pool, void (*task)(void *data, unsigned i), void *data, unsigned n, bool more);

/* The same in two parts, for a caller that has other work to do in between: workers begin at once. The same thread must call
 * the second part, with the same arguments and no fork() in between. */
void ccl_pool_begin(CclPool *pool, void (*task)(void *data, unsigned i), void *data, unsigned n, bool more);
void ccl_pool_end(CclPool *pool, void (*task)(void *data, unsigned i), void *data, unsigned n);

#ifdef __cplusplus
}
#endif

#endif
