/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* A few threads that wait for work. */
#ifndef CCL_CPU_POOL_H
#define CCL_CPU_POOL_H

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct CclPool CclPool;

/* A pool for `n_threads` at once, the caller of ccl_pool_run() included; NULL when no thread can be made. */
CclPool *ccl_pool_new(unsigned n_threads);
void ccl_pool_free(CclPool *pool);

/* Calls task(data, i) for i = 0..n-1, in any order, and returns when all have returned. Without a pool: here. With
 * `more` the caller comes back at once: its threads stay awake for that, for 0.1 ms at most. */
void ccl_pool_run(CclPool *pool, void (*task)(void *data, unsigned i), void *data, unsigned n, bool more);

/* CPUs this process may run on. */
unsigned ccl_cpu_count(void);

#ifdef __cplusplus
}
#endif

#endif
