/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "test_switches.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static CclTestSwitches switches;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static uint32_t number_of(const char *name)
{
    const char *const text = getenv(name);
    const int number = text ? atoi(text) : 0;
    return number > 0 ? (uint32_t)number : 0;
}

static bool is_set_to(const char *name, const char *value)
{
    const char *const text = getenv(name);
    return text && !strcmp(text, value);
}

static float fraction_of(const char *name)
{
    const char *const text = getenv(name);
    const float fraction = text ? (float)atof(text) / 100 : 0;
    return fraction < 0 ? 0 : fraction > 1 ? 1 : fraction;
}

static CclTestClusters clusters_of(const char *name)
{
    return is_set_to(name, "0")   ? CCL_TEST_CLUSTERS_NEVER
           : is_set_to(name, "1") ? CCL_TEST_CLUSTERS_ALWAYS
                                  : CCL_TEST_CLUSTERS_AS_USUAL;
}

static void read_environment(void)
{
    switches = (CclTestSwitches){
        .no_graphs = is_set_to("CCL_TEST_GRAPHS", "0"),
        .max_stream_slots = number_of("CCL_TEST_STREAMS"),
        .packs_any_size = getenv("CCL_TEST_SHARED") != NULL,
        .host_share = fraction_of("CCL_TEST_SHARED"),
        .max_capacity = number_of("CCL_TEST_LIMIT"),
        .max_strip_runs = number_of("CCL_TEST_STRIPS"),
        .max_sums = number_of("CCL_TEST_SUMS"),
        .min_batch = number_of("CCL_TEST_BATCH"),
        .clusters = clusters_of("CCL_TEST_CLUSTERS"),
        .n_cpus = number_of("CCL_TEST_CPUS"),
    };
    const char *const root = getenv("CCL_TEST_ROOT");
    snprintf(switches.root, sizeof switches.root, "%s", root ? root : "");
}

const CclTestSwitches *ccl_test_switches(void)
{
    pthread_once(&once, read_environment);
    return &switches;
}

void ccl_test_switches_reread(void)
{
    ccl_test_switches(); /* or else the first call would read the environment again */
    read_environment();
}
