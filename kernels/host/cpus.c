/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* sched_getaffinity */
#endif
#include "cpus.h"

#include "test_switches.h"

#include <limits.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---------------------------------------------------------------- control groups */

/* Reads the first two words of a file. Returns the number read. */
static int read_words(const char *folder, const char *name, char first[32], char second[32])
{
    char path[PATH_MAX];
    if (snprintf(path, sizeof path, "%s/%s", folder, name) >= (int)sizeof path)
        return 0;
    FILE *const file = fopen(path, "re");
    if (!file)
        return 0;
    const int n = fscanf(file, "%31s %31s", first, second);
    fclose(file);
    return n;
}

/* The quota of one group. Version 2 has "QUOTA PERIOD" in one file, version 1 has two files. No limit is "max", or -1. */
static unsigned group_quota(const char *folder)
{
    char first[32], second[32], unused[32];
    if (read_words(folder, "cpu.max", first, second) != 2 &&
        (read_words(folder, "cpu.cfs_quota_us", first, unused) != 1 ||
         read_words(folder, "cpu.cfs_period_us", second, unused) != 1))
        return 0;
    const long quota = atol(first), period = atol(second);
    return quota > 0 && period > 0 ? (unsigned)((quota - 1) / period + 1) : 0;
}

static unsigned smaller_quota(unsigned a, unsigned b)
{
    return !a || (b && b < a) ? b : a;
}

/* The smallest quota of a group and its ancestors, up to where its controllers are mounted. In a container, its own group may
 * be mounted there while `path` is the path on the host. Then the folders in between do not exist. */
static unsigned path_quota(const char *mount, const char *path)
{
    char folder[PATH_MAX];
    if (snprintf(folder, sizeof folder, "%s%s", mount, path) >= (int)sizeof folder)
        return 0;
    unsigned quota = 0;
    for (;;) {
        quota = smaller_quota(quota, group_quota(folder));
        char *const slash = strrchr(folder, '/');
        if (!slash || slash < folder + strlen(mount))
            return quota;
        *slash = 0;
    }
}

/* Whether a list like "cpu,cpuacct" has `name`. */
static bool has_controller(const char *list, const char *name)
{
    const size_t n = strlen(name);
    for (const char *at = list; (at = strstr(at, name)); at += n) {
        if ((at == list || at[-1] == ',') && (!at[n] || at[n] == ','))
            return true;
    }
    return false;
}

unsigned ccl_cpu_quota(const char *root)
{
    char path[PATH_MAX], line[PATH_MAX];
    snprintf(path, sizeof path, "%s/proc/self/cgroup", root);
    FILE *const file = fopen(path, "re");
    if (!file)
        return 0;
    unsigned quota = 0;
    while (fgets(line, sizeof line, file)) { /* "ID:CONTROLLERS:/PATH", of version 2 "0::/PATH" */
        line[strcspn(line, "\n")] = 0;
        char *const controllers = strchr(line, ':');
        char *const group = controllers ? strchr(controllers + 1, ':') : NULL;
        if (!group)
            continue;
        *group = 0;
        if (controllers[1] && !has_controller(controllers + 1, "cpu"))
            continue;
        snprintf(path, sizeof path, "%s/sys/fs/cgroup%s", root, controllers[1] ? "/cpu" : "");
        quota = smaller_quota(quota, path_quota(path, group + 1));
    }
    fclose(file);
    return quota;
}

/* ---------------------------------------------------------------- CPUs */

/* Number of CPUs in the affinity mask of the thread. The mask gets the length that the kernel needs. */
static unsigned affinity_count(void)
{
    for (int n = CPU_SETSIZE; n <= 64 * CPU_SETSIZE; n *= 4) {
        cpu_set_t *const set = CPU_ALLOC(n);
        const size_t size = CPU_ALLOC_SIZE(n);
        if (!set)
            break;
        const int count = sched_getaffinity(0, size, set) ? 0 : CPU_COUNT_S(size, set);
        CPU_FREE(set);
        if (count > 0)
            return (unsigned)count;
    }
    return 1;
}

unsigned ccl_cpu_count(void)
{
    const CclTestSwitches *const switches = ccl_test_switches();
    const unsigned n = switches->n_cpus ? switches->n_cpus : affinity_count(), quota = ccl_cpu_quota(switches->root);
    return quota && quota < n ? quota : n;
}
