/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Environment variables that change how the backends work, for tests and benchmarks. Results stay the same. */
#ifndef CCL_HOST_TEST_SWITCHES_H
#define CCL_HOST_TEST_SWITCHES_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum CclTestClusters {
    CCL_TEST_CLUSTERS_AS_USUAL = 0,
    CCL_TEST_CLUSTERS_NEVER,  /* "0" */
    CCL_TEST_CLUSTERS_ALWAYS, /* "1": frames of a shared device are launched as in a batch, with a cluster kernel if possible */
} CclTestClusters;

/* A number that is not set, or not positive, is 0: no limit. */
typedef struct CclTestSwitches {
    bool no_graphs;            /* CCL_TEST_GRAPHS=0: kernels are launched one by one */
    unsigned max_stream_slots; /* CCL_TEST_STREAMS: of a context */
    bool packs_any_size;       /* CCL_TEST_SHARED: device and host pack page-locked masks of any size together */
    float host_share;          /* value of CCL_TEST_SHARED / 100: fraction of the rows that the host packs; 0: as measured */
    uint32_t max_capacity;     /* CCL_TEST_LIMIT: runs, pairs, shares and accumulators in the shared memory of a block */
    uint32_t max_strip_runs;   /* CCL_TEST_STRIPS: runs of a tile; tiles with more use strips */
    uint32_t max_sums;         /* CCL_TEST_SUMS: components that the shared stages sum in a round */
    unsigned min_batch;        /* CCL_TEST_BATCH: frames wait until this number is queued, or a thread collects one */
    CclTestClusters clusters;  /* CCL_TEST_CLUSTERS */
    unsigned n_cpus;           /* CCL_TEST_CPUS: that a thread may run on */
    char root[128];            /* CCL_TEST_ROOT: the folder in which the files of control groups are looked for */
} CclTestSwitches;

/* The environment is read once, at the first call. */
const CclTestSwitches *ccl_test_switches(void);

/* For a test that has changed its environment. No other thread may use the library meanwhile. */
void ccl_test_switches_reread(void);

#ifdef __cplusplus
}
#endif

#endif
