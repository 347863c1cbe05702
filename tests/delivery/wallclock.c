/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Preloaded into a process, this moves its wall clock by the nanoseconds in the file $CCL_TEST_CLOCK, at any time. The monotonic
 * clock stays as it is. A thread that waits for a time of the wall clock notices a jump, as when the system's clock is set. */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

#define BILLION 1000000000LL
/* How often a waiting thread looks at the clock. */
#define SLICE (20 * BILLION / 1000)
#define MAX_MONOTONIC 4096

#ifdef __aarch64__
#define CONDITION_VERSION "GLIBC_2.17"
#else
#define CONDITION_VERSION "GLIBC_2.3.2"
#endif

typedef int (*TimedWait) (pthread_cond_t *, pthread_mutex_t *, const struct timespec *);
typedef int (*Init) (pthread_cond_t *, const pthread_condattr_t *);
typedef int (*Destroy) (pthread_cond_t *);

static volatile int64_t *offset;
static TimedWait timed_wait;
static Init init;
static Destroy destroy;

/* Conditions that wait for the monotonic clock. */
static pthread_cond_t *monotonic[MAX_MONOTONIC];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

__attribute__((constructor))
static void
begin (void)
{
  const char *const path = getenv ("CCL_TEST_CLOCK");
  const int file = path ? open (path, O_RDONLY | O_CLOEXEC) : -1;
  void *const map = file < 0 ? MAP_FAILED : mmap (NULL, sizeof *offset, PROT_READ, MAP_SHARED, file, 0);

  timed_wait = (TimedWait) dlvsym (RTLD_NEXT, "pthread_cond_timedwait", CONDITION_VERSION);
  init = (Init) dlvsym (RTLD_NEXT, "pthread_cond_init", CONDITION_VERSION);
  destroy = (Destroy) dlvsym (RTLD_NEXT, "pthread_cond_destroy", CONDITION_VERSION);
  if (map != MAP_FAILED)
    offset = map;
  if (file >= 0)
    close (file);
}

/* ---------------------------------------------------------------- the time */

static int64_t
jumped (void)
{
  return offset ? *offset : 0;
}

static int64_t
now (void)
{
  struct timespec time;

  syscall (SYS_clock_gettime, CLOCK_REALTIME, &time);
  return time.tv_sec * BILLION + time.tv_nsec + jumped ();
}

static struct timespec
to_timespec (int64_t nanoseconds)
{
  return (struct timespec) {.tv_sec = nanoseconds / BILLION,.tv_nsec = nanoseconds % BILLION };
}

int
clock_gettime (clockid_t clock, struct timespec *time)
{
  if (clock != CLOCK_REALTIME && clock != CLOCK_REALTIME_COARSE)
    return (int) syscall (SYS_clock_gettime, clock, time);
  *time = to_timespec (now ());
  return 0;
}

int
gettimeofday (struct timeval *restrict time, void *restrict zone)
{
  const int64_t microseconds = now () / 1000;

  (void) zone;
  *time = (struct timeval) {.tv_sec = microseconds / 1000000,.tv_usec = microseconds % 1000000 };
  return 0;
}

time_t
time (time_t * result)
{
  const time_t seconds = now () / BILLION;

  if (result)
    *result = seconds;
  return seconds;
}

int
timespec_get (struct timespec *time, int base)
{
  if (base != TIME_UTC)
    return 0;
  *time = to_timespec (now ());
  return base;
}

/* ---------------------------------------------------------------- waiting */

/* Replaces one pointer by another in the table; FALSE: it is not there. */
static int
replace (pthread_cond_t * old, pthread_cond_t * new)
{
  int i = 0;

  pthread_mutex_lock (&lock);
  while (i < MAX_MONOTONIC && monotonic[i] != old)
    i++;
  if (i < MAX_MONOTONIC)
    monotonic[i] = new;
  pthread_mutex_unlock (&lock);
  return i < MAX_MONOTONIC;
}

int
pthread_cond_init (pthread_cond_t * restrict condition, const pthread_condattr_t * restrict attributes)
{
  clockid_t clock = CLOCK_REALTIME;

  if (attributes)
    pthread_condattr_getclock (attributes, &clock);
  if (!init)                    /* in the constructor of another library */
    begin ();
  replace (condition, NULL);    /* of another that ended without pthread_cond_destroy() */
  if (clock == CLOCK_MONOTONIC)
    replace (NULL, condition);
  return init (condition, attributes);
}

int
pthread_cond_destroy (pthread_cond_t * condition)
{
  replace (condition, NULL);
  return destroy (condition);
}

static int
wait_until (pthread_cond_t * condition, pthread_mutex_t * mutex, const struct timespec *end)
{
  const int64_t deadline = end->tv_sec * BILLION + end->tv_nsec;
  int result = ETIMEDOUT;

  while (result == ETIMEDOUT && now () < deadline) {
    const int64_t slice = deadline - now () < SLICE ? deadline - now () : SLICE;
    const struct timespec until = to_timespec (now () - jumped () + slice);

    result = timed_wait (condition, mutex, &until);
  }
  return result;
}

int
pthread_cond_timedwait (pthread_cond_t * restrict condition, pthread_mutex_t * restrict mutex,
    const struct timespec *restrict end)
{
  return replace (condition, condition) ? timed_wait (condition, mutex, end) : wait_until (condition, mutex, end);
}

/* The types of threads.h are those of pthread.h in the GNU C library. */
int
cnd_timedwait (cnd_t * restrict condition, mtx_t * restrict mutex, const struct timespec *restrict end)
{
  const int result = wait_until ((pthread_cond_t *) condition, (pthread_mutex_t *) mutex, end);

  return result == 0 ? thrd_success : result == ETIMEDOUT ? thrd_timedout : thrd_error;
}
