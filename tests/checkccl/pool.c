/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Suite `pool`: the threads of the CPU backend. It also runs under the thread sanitizer, so it is small.
 *
 *   - Every task is run once.
 *   - There are as many threads as the pools need, and none without a pool.
 *   - Contexts that share the CPUs with threads=0 give the same bytes as one thread.
 *   - Rows are shared between a calling thread and a device.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* sched_getaffinity */
#endif
#include "checkccl.h"

#include "affinity.h"
#include "fakecpus.h"
#include "host/cpus.h"
#include "host/pool.h"
#include "cuda/host_share.h"

#include <dirent.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define N_STREAMS 4u
#define MAX_TASKS 20u

/* ---------------------------------------------------------------- tasks */

typedef struct Caller {
    pthread_t thread;
    Random random;
    unsigned n_pools, n_calls;
    unsigned n_wrong; /* calls after which some task had not run once */
} Caller;

static void count(void *data, unsigned i)
{
    ((unsigned *)data)[i]++;
}

static void *call(void *data)
{
    Caller *const caller = data;
    for (unsigned p = 0; p < caller->n_pools; p++) {
        CclPool *const pool = ccl_pool_new(1 + random_below(&caller->random, 8));
        for (unsigned c = 0; c < caller->n_calls; c++) {
            unsigned runs[MAX_TASKS] = { 0 }, n_once = 0;
            const unsigned n = 1 + random_below(&caller->random, MAX_TASKS);
            const bool more = random_chance(&caller->random, 50);
            if (random_chance(&caller->random, 50)) {
                ccl_pool_run(pool, count, runs, n, more);
            } else {
                ccl_pool_begin(pool, count, runs, n, more);
                if (random_chance(&caller->random, 20))
                    nanosleep(&(struct timespec){ .tv_nsec = 1000 }, NULL);
                ccl_pool_end(pool, count, runs, n);
            }
            for (unsigned i = 0; i < MAX_TASKS; i++)
                n_once += runs[i] == (i < n);
            caller->n_wrong += n_once < MAX_TASKS;
            if (random_chance(&caller->random, 5)) /* shorter and longer than threads look out */
                nanosleep(&(struct timespec){ .tv_nsec = random_below(&caller->random, 300) * 1000 }, NULL);
        }
        ccl_pool_free(pool);
    }
    return NULL;
}

static void check_tasks(Session *session)
{
    Caller callers[N_STREAMS];
    for (unsigned i = 0; i < N_STREAMS; i++) {
        callers[i] = (Caller){ .random = { random_next(&session->random) }, .n_pools = session->quick ? 5 : 20,
                               .n_calls = session->quick ? 200 : 2000 };
        pthread_create(&callers[i].thread, NULL, call, &callers[i]);
    }
    for (unsigned i = 0; i < N_STREAMS; i++) {
        pthread_join(callers[i].thread, NULL);
        check(session, !callers[i].n_wrong, "pool: after %u of %u calls some task had not run once", callers[i].n_wrong,
              callers[i].n_pools * callers[i].n_calls);
    }
}

/* ---------------------------------------------------------------- workers */

/* Threads of this process with the name of a worker; in `cpus`, where all of them may run. */
static unsigned count_workers(cpu_set_t *cpus)
{
    DIR *const threads = opendir("/proc/self/task");
    unsigned n = 0;
    sched_getaffinity(0, sizeof *cpus, cpus);
    for (const struct dirent *entry; threads && (entry = readdir(threads));) {
        char path[300], name[32] = "";
        snprintf(path, sizeof path, "/proc/self/task/%s/comm", entry->d_name);
        FILE *const file = fopen(path, "r");
        if (!file)
            continue;
        if (fscanf(file, "%31s", name) == 1 && !strcmp(name, "ccl-worker")) {
            cpu_set_t mine;
            sched_getaffinity(atoi(entry->d_name), sizeof mine, &mine);
            CPU_AND(cpus, cpus, &mine);
            n++;
        }
        fclose(file);
    }
    if (threads)
        closedir(threads);
    return n;
}

/* Pools share their workers. A moment for the names to be given and the threads to be gone. */
static void check_worker_count(Session *session, unsigned expected, const char *when)
{
    cpu_set_t cpus;
    unsigned n = count_workers(&cpus);
    for (unsigned i = 0; i < 1000 && n != expected; i++) {
        nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
        n = count_workers(&cpus);
    }
    check(session, n == expected, "pool: %s: %u workers, not %u", when, n, expected);
}

/* A pool is freed as soon as its tasks are done, which may be before the worker that did the last has come back: it has to
 * notice that it is to go. If not, this does not end. */
static void check_quick_end(Session *session)
{
    unsigned n_wrong = 0;
    for (unsigned round = 0; round < (session->quick ? 2000 : 20000); round++) {
        CclPool *const pool = ccl_pool_new(2 + round % 2);
        unsigned runs[MAX_TASKS] = { 0 };
        ccl_pool_run(pool, count, runs, MAX_TASKS, round % 3 == 0);
        ccl_pool_free(pool);
        for (unsigned i = 0; i < MAX_TASKS; i++)
            n_wrong += runs[i] != 1;
    }
    check(session, !n_wrong, "pool: freed at once: %u tasks had not run once", n_wrong);
}

static unsigned larger(unsigned a, unsigned b)
{
    return a > b ? a : b;
}

static void check_workers(Session *session)
{
    const unsigned n_cpus = ccl_cpu_count();
    CclPool *pools[100];
    check_worker_count(session, 0, "before");
    check(session, !ccl_pool_new(0) && !ccl_pool_new(1), "pool: one for no thread but the caller");
    for (unsigned i = 0; i < 100; i++)
        pools[i] = ccl_pool_new(3);
    check_worker_count(session, larger(n_cpus, 3) - 1, "100 pools of 3");
    ccl_pool_free(pools[0]);
    pools[0] = ccl_pool_new(n_cpus + 7);
    check_worker_count(session, n_cpus + 6, "one larger than the CPUs");
    for (unsigned i = 0; i < 100; i++)
        ccl_pool_free(pools[i]);
    check_worker_count(session, 0, "after");
}

/* Twenty pools of 2 have as many workers as the control groups allow CPUs, without the caller's. A pool has one at least. */
static void check_quota(Session *session)
{
    static const struct {
        const char *cpu_max;
        unsigned n_workers;
    } limits[] = { { "300000 100000\n", 2 }, { "50000 100000\n", 1 }, { "max 100000\n", 15 } };

    for (unsigned l = 0; l < sizeof limits / sizeof limits[0]; l++) {
        CclPool *pools[20];
        check(session, fake_cpus(16, limits[l].cpu_max), "pool: no files of control groups");
        for (unsigned i = 0; i < 20; i++)
            pools[i] = ccl_pool_new(2);
        check_worker_count(session, limits[l].n_workers, limits[l].cpu_max);
        for (unsigned i = 0; i < 20; i++)
            ccl_pool_free(pools[i]);
        real_cpus();
    }
    check_worker_count(session, 0, "after all quotas");
}

/* Workers made by a thread on one CPU help one that may use more, there. */
static void check_worker_cpus(Session *session)
{
    cpu_set_t before, one, cpus;
    if (!check(session, run_on_one_cpu(&before, &one), "pool: the affinity cannot be set"))
        return;
    CclPool *const narrow = ccl_pool_new(2);
    check(session, count_workers(&cpus) && CPU_EQUAL(&cpus, &one), "pool: a worker runs where its maker may not");
    sched_setaffinity(0, sizeof before, &before);
    CclPool *const wide = ccl_pool_new(2);
    check(session, count_workers(&cpus) && CPU_EQUAL(&cpus, &before),
          "pool: a worker cannot run where its callers may");
    ccl_pool_free(wide);
    ccl_pool_free(narrow);
}

/* Runs tasks in an old and in a new pool; returns 0 if each was run once. */
static int tasks_in_child(CclPool *old)
{
    CclPool *const pools[] = { old, ccl_pool_new(3) };
    unsigned runs[MAX_TASKS] = { 0 };
    for (unsigned p = 0; p < 2; p++) {
        ccl_pool_run(pools[p], count, runs, MAX_TASKS, false);
        ccl_pool_free(pools[p]);
    }
    for (unsigned i = 0; i < MAX_TASKS; i++) {
        if (runs[i] != 2)
            return 1;
    }
    return 0;
}

/* In a child process, which has no workers of its parent's. */
static void check_fork(Session *session)
{
#ifdef __SANITIZE_THREAD__ /* cannot follow */
    (void)session;
#else
    CclPool *const pool = ccl_pool_new(3);
    unsigned runs[MAX_TASKS] = { 0 };
    ccl_pool_run(pool, count, runs, MAX_TASKS, true);
    const pid_t child = fork();
    if (!child) {
        alarm(20);
        _exit(tasks_in_child(pool));
    }
    int status = -1;
    waitpid(child, &status, 0);
    check(session, child > 0 && WIFEXITED(status) && !WEXITSTATUS(status), "pool: in a child process: status %d",
          status);
    ccl_pool_free(pool);
#endif
}

/* ---------------------------------------------------------------- streams */

#define WIDTH 1920u
#define HEIGHT 540u

typedef struct Stream {
    pthread_t thread;
    const uint8_t *pixels;
    unsigned threads, n_frames;
    uint32_t *labels;
    CclTable table;
    CclContext *context; /* owns the rows */
    bool ok;
} Stream;

static void *label_frames(void *data)
{
    Stream *const s = data;
    const CclMask mask = { .data = s->pixels, .stride = WIDTH, .width = WIDTH, .height = HEIGHT };
    const CclLabels labels = { .data = s->labels, .stride = WIDTH * 4 };
    CclConfig config = ccl_config_default();
    config.max_width = WIDTH, config.max_height = HEIGHT;
    config.max_components = CCL_MAX_COMPONENTS;
    config.labels = true;
    config.threads = s->threads;
    s->ok = ccl_context_new(&config, &s->context) == CCL_OK;
    for (unsigned i = 0; i < s->n_frames && s->ok; i++) {
        memset(s->labels, 255, (size_t)WIDTH * HEIGHT * 4);
        s->ok = ccl_analyze(s->context, &mask, NULL, &labels, &s->table) == CCL_OK;
    }
    return NULL;
}

static bool same_bytes(const Stream *a, const Stream *b)
{
    return a->ok && b->ok && a->table.n_components == b->table.n_components && a->table.n_found == b->table.n_found &&
           !memcmp(a->table.components, b->table.components, a->table.n_components * sizeof *a->table.components) &&
           !memcmp(a->labels, b->labels, (size_t)WIDTH * HEIGHT * 4);
}

/* The mask is work for several threads from the second frame on. */
static void check_sharing(Session *session)
{
    Stream streams[N_STREAMS + 1];
    uint8_t *const pixels = malloc((size_t)WIDTH * HEIGHT);
    for (size_t i = 0; i < (size_t)WIDTH * HEIGHT; i++)
        pixels[i] = random_chance(&session->random, 40) ? 255 : 0;
    for (unsigned i = 0; i <= N_STREAMS; i++) {
        streams[i] = (Stream){ .pixels = pixels, .threads = i ? 0 : 1, .n_frames = i ? 10 : 1,
                               .labels = malloc((size_t)WIDTH * HEIGHT * 4) };
        pthread_create(&streams[i].thread, NULL, label_frames, &streams[i]);
    }
    for (unsigned i = 0; i <= N_STREAMS; i++) {
        pthread_join(streams[i].thread, NULL);
        check(session, same_bytes(&streams[0], &streams[i]),
              "stream %u of %u with threads=0: not the bytes of one thread", i, N_STREAMS);
    }
    for (unsigned i = 0; i <= N_STREAMS; i++) {
        ccl_context_free(streams[i].context);
        free(streams[i].labels);
    }
    free(pixels);
}

/* ---------------------------------------------------------------- caller and device */

/* A frame after the other, both need as long for a row as ever: the device comes to have both parts at the same time, or the
 * caller has as few or as many rows as it may have. */
static void check_share(Session *session)
{
    static const float times[] = { 1, 20, 41, 57, 166, 1000, 20000 }; /* for all rows, in us */
    for (unsigned d = 0; d < sizeof times / sizeof *times; d++)
        for (unsigned c = 0; c < sizeof times / sizeof *times; c++) {
            const float by_device = times[d], by_caller = times[c];
            float share = CCL_SHARE_FIRST;
            for (unsigned frame = 0; frame < 30; frame++)
                share = ccl_share_next(share, share * by_caller, by_device);
            const float early = (1 - share) * by_device - share * (by_caller + by_device / 8);
            const bool fair = early * early <= 1e-6f * by_device * by_device;
            check(session,
                  fair || (share == 0.0625f && early < 0) || (share == 0.875f && early > 0),
                  "share: %g of the rows, where all take the device %g us and the caller %g: done %g us apart",
                  (double)share, (double)by_device, (double)by_caller, (double)early);
        }
    /* 41 / (41 * 9 / 8 + 20 * 3) is 0.386, half way from 0.2. */
    const float next = ccl_share_next(0.2f, 12, 41);
    check(session, next > 0.292f && next < 0.294f, "share: %g, not 0.293", (double)next);
}

void check_pool(Session *session)
{
    for (unsigned s = 0; s < session->n_subjects; s++) {
        if (session->subjects[s].config.backend != CCL_BACKEND_CPU)
            continue;
        check_tasks(session);
        check_quick_end(session);
        check_workers(session);
        check_quota(session);
        check_worker_cpus(session);
        check_fork(session);
        check_sharing(session);
        check_share(session);
        return;
    }
}
