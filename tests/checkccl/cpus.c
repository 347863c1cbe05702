/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Suite `cpus`: how many threads are worth having: the thread's affinity, and what control groups allow, read from
 * folders laid out like those of containers and services. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* sched_setaffinity */
#endif
#include "checkccl.h"

#include "affinity.h"
#include "fakecpus.h"
#include "host/cpus.h"
#include "host/test_switches.h"

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* ---------------------------------------------------------------- control groups */

typedef struct Groups {
    const char *name;
    unsigned quota;
    struct {
        const char *path, *text;
    } file[6];
} Groups;

#define SELF "/proc/self/cgroup"
#define MAX "/sys/fs/cgroup"
#define CFS "/sys/fs/cgroup/cpu"

static const Groups groups[] = {
    { "no files", 0, { { NULL, NULL } } },
    { "a service", 2, { { SELF, "0::/system.slice/a.service\n" },
                        { MAX "/system.slice/cpu.max", "max 100000\n" },
                        { MAX "/system.slice/a.service/cpu.max", "200000 100000\n" } } },
    { "a group around it allows less", 3, { { SELF, "0::/a/b/c\n" },
                                            { MAX "/a/cpu.max", "300000 100000\n" },
                                            { MAX "/a/b/c/cpu.max", "800000 100000\n" } } },
    { "a container that sees its own group", 4, { { SELF, "0::/\n" }, { MAX "/cpu.max", "400000 100000\n" } } },
    { "a container called by its host's path", 4, { { SELF, "0::/docker/abc\n" },
                                                    { MAX "/cpu.max", "400000 100000\n" } } },
    { "a part of a CPU", 1, { { SELF, "0::/\n" }, { MAX "/cpu.max", "20000 100000\n" } } },
    { "one and a part", 2, { { SELF, "0::/\n" }, { MAX "/cpu.max", "100001 100000\n" } } },
    { "no limit", 0, { { SELF, "0::/\n" }, { MAX "/cpu.max", "max 100000\n" } } },
    { "other groups", 0, { { SELF, "0::/a\n" }, { MAX "/b/cpu.max", "100000 100000\n" } } },
    { "version 1", 3, { { SELF, "5:cpuset:/x\n4:cpu,cpuacct:/docker/abc\n0::/\n" },
                        { CFS "/docker/abc/cpu.cfs_quota_us", "250000\n" },
                        { CFS "/docker/abc/cpu.cfs_period_us", "100000\n" } } },
    { "version 1, no limit", 0, { { SELF, "1:cpu:/\n" },
                                  { CFS "/cpu.cfs_quota_us", "-1\n" },
                                  { CFS "/cpu.cfs_period_us", "100000\n" } } },
    { "version 1, another controller's", 0, { { SELF, "5:cpuset:/\n6:cpuacct:/\n" },
                                              { CFS "/cpu.cfs_quota_us", "100000\n" },
                                              { CFS "/cpu.cfs_period_us", "100000\n" } } },
    { "nonsense", 0, { { SELF, "\n:\n::\nabc\n0::\n0::/a" },
                       { MAX "/cpu.max", "1e9\n" },
                       { MAX "/a/cpu.max", "a b c\n" },
                       { MAX "/cpu.cfs_quota_us", "100000\n" },
                       { MAX "/cpu.cfs_period_us", "0\n" } } },
    { "empty files", 0, { { SELF, "0::/a\n" }, { MAX "/cpu.max", "" }, { MAX "/a/cpu.max", "" } } },
};

/* With the folders on its way. */
static bool write_file(const char *root, const char *name, const char *text)
{
    char path[512];
    snprintf(path, sizeof path, "%s%s", root, name);
    for (char *slash = path + strlen(root); (slash = strchr(slash + 1, '/'));) {
        *slash = 0;
        mkdir(path, 0700);
        *slash = '/';
    }
    FILE *const file = fopen(path, "w");
    if (!file)
        return false;
    fputs(text, file);
    return !fclose(file);
}

static int remove_one(const char *path, const struct stat *info, int type, struct FTW *where)
{
    (void)info, (void)type, (void)where;
    return remove(path);
}

static void check_groups(Session *session, const Groups *g)
{
    char root[] = "/tmp/checkccl-cpus-XXXXXX";
    bool written = mkdtemp(root);
    for (unsigned i = 0; i < sizeof g->file / sizeof g->file[0] && g->file[i].path; i++)
        written &= write_file(root, g->file[i].path, g->file[i].text);
    const unsigned quota = ccl_cpu_quota(root);
    check(session, written && quota == g->quota, "cpus: %s: %u CPUs, not %u", g->name, quota, g->quota);
    nftw(root, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

/* ---------------------------------------------------------------- affinity */

static void check_affinity(Session *session)
{
    const unsigned n = ccl_cpu_count();
    cpu_set_t before, one;
    if (!check(session, run_on_one_cpu(&before, &one), "cpus: the affinity cannot be set"))
        return;
    check(session, n >= 1 && n <= (unsigned)CPU_COUNT(&before), "cpus: %u of %d", n, CPU_COUNT(&before));
    check(session, ccl_cpu_count() == 1, "cpus: a thread on one CPU counts %u", ccl_cpu_count());
    sched_setaffinity(0, sizeof before, &before);
}

/* ---------------------------------------------------------------- other CPUs */

static char fake_root[] = "/tmp/checkccl-root-XXXXXX";

bool fake_cpus(unsigned n_cpus, const char *cpu_max)
{
    char number[16];
    memcpy(fake_root + strlen(fake_root) - 6, "XXXXXX", 6);
    const bool written =
        mkdtemp(fake_root) && write_file(fake_root, SELF, "0::/\n") && write_file(fake_root, MAX "/cpu.max", cpu_max);
    snprintf(number, sizeof number, "%u", n_cpus);
    setenv("CCL_TEST_CPUS", number, true);
    setenv("CCL_TEST_ROOT", fake_root, true);
    ccl_test_switches_reread();
    return written;
}

void real_cpus(void)
{
    nftw(fake_root, remove_one, 8, FTW_DEPTH | FTW_PHYS);
    unsetenv("CCL_TEST_CPUS");
    unsetenv("CCL_TEST_ROOT");
    ccl_test_switches_reread();
}

/* A host with many CPUs, of which a container may use three. */
static void check_limited(Session *session)
{
    static const struct {
        unsigned n_cpus, expected;
        const char *cpu_max;
    } hosts[] = { { 256, 3, "300000 100000\n" }, { 256, 256, "max 100000\n" }, { 2, 2, "300000 100000\n" } };

    for (unsigned i = 0; i < sizeof hosts / sizeof hosts[0]; i++) {
        const bool written = fake_cpus(hosts[i].n_cpus, hosts[i].cpu_max);
        check(session, written && ccl_cpu_count() == hosts[i].expected, "cpus: of %u limited to %s: %u", hosts[i].n_cpus,
              hosts[i].cpu_max, ccl_cpu_count());
        real_cpus();
    }
}

void check_cpus(Session *session)
{
    for (unsigned i = 0; i < sizeof groups / sizeof groups[0]; i++)
        check_groups(session, &groups[i]);
    check_affinity(session);
    check_limited(session);
}
