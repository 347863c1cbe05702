/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Tells ThreadSanitizer what GLib's locks, conditions, queues and reference counts order.
 *
 * They work on futexes and atomics inside libraries that are not instrumented, so without this every access under a
 * GMutex looks like a race. Loaded before the others (LD_PRELOAD) each function here does what the library's does, and
 * says that what happened before a release of an address happens before what follows an acquisition of it. No race of
 * ours is hidden by that: the libraries do establish this order. */

#include <dlfcn.h>
#include <stdlib.h>
#include <gst/gst.h>
#include <sanitizer/tsan_interface.h>

#define REAL(name) \
  static typeof (name) *found; \
  typeof (name) *real = __atomic_load_n (&found, __ATOMIC_ACQUIRE); \
  if (!real) { \
    real = (typeof (name) *) dlsym (RTLD_NEXT, #name); \
    __atomic_store_n (&found, real, __ATOMIC_RELEASE); \
  }

/* Not for the programs that this one starts. */
__attribute__ ((constructor))
static void
forget_preload (void)
{
  unsetenv ("LD_PRELOAD");
}

#define LOCKS(name, type) \
void name (type * lock) \
{ \
  REAL (name); \
  real (lock); \
  __tsan_acquire (lock); \
}

#define UNLOCKS(name, type) \
void name (type * lock) \
{ \
  REAL (name); \
  __tsan_release (lock); \
  real (lock); \
}

#define TRIES(name, type) \
gboolean name (type * lock) \
{ \
  REAL (name); \
  if (!real (lock)) \
    return FALSE; \
  __tsan_acquire (lock); \
  return TRUE; \
}

LOCKS (g_mutex_lock, GMutex)
UNLOCKS (g_mutex_unlock, GMutex)
TRIES (g_mutex_trylock, GMutex)
LOCKS (g_rec_mutex_lock, GRecMutex)
UNLOCKS (g_rec_mutex_unlock, GRecMutex)
TRIES (g_rec_mutex_trylock, GRecMutex)
LOCKS (g_rw_lock_writer_lock, GRWLock)
UNLOCKS (g_rw_lock_writer_unlock, GRWLock)
TRIES (g_rw_lock_writer_trylock, GRWLock)
LOCKS (g_rw_lock_reader_lock, GRWLock)
UNLOCKS (g_rw_lock_reader_unlock, GRWLock)
TRIES (g_rw_lock_reader_trylock, GRWLock)

void
g_cond_wait (GCond * cond, GMutex * mutex)
{
  REAL (g_cond_wait);
  __tsan_release (mutex);
  real (cond, mutex);
  __tsan_acquire (mutex);
}

gboolean
g_cond_wait_until (GCond * cond, GMutex * mutex, gint64 end)
{
  gboolean signalled;

  REAL (g_cond_wait_until);
  __tsan_release (mutex);
  signalled = real (cond, mutex, end);
  __tsan_acquire (mutex);
  return signalled;
}

/* ---------------------------------------------------------------- done once: the macros read the place atomically */

#undef g_once_init_enter
#undef g_once_init_leave

gboolean
g_once_init_enter (volatile void *location)
{
  gboolean first;

  REAL (g_once_init_enter);
  first = real (location);
  __tsan_acquire ((void *) location);
  return first;
}

void
g_once_init_leave (volatile void *location, gsize result)
{
  REAL (g_once_init_leave);
  __tsan_release ((void *) location);
  real (location, result);
}

/* ---------------------------------------------------------------- the last reference frees what others wrote */

/* Between what is said of an object and its count no other may drop a reference, or the last would not know what that
 * other has read. ThreadSanitizer is not to see this lock: it would order threads that nothing orders. Whoever waits for
 * long goes on without it. */
static char dropping[256];

#define UNSEEN __attribute__ ((no_sanitize ("thread")))

static char *UNSEEN
begin_dropping (const void *object)
{
  char *const lock = &dropping[(guintptr) object / 64 % sizeof dropping];
  guint i;

  for (i = 0; i < 1000000; i++)
    if (!__atomic_test_and_set (lock, __ATOMIC_ACQUIRE))
      return lock;
  return NULL;
}

static void UNSEEN
end_dropping (char *lock)
{
  if (lock)
    __atomic_clear (lock, __ATOMIC_RELEASE);
}

/* Freeing calls anything: not under the lock. */
#define UNREFS(name, type, count) \
void name (type * object) \
{ \
  gboolean last; \
  char *lock; \
  REAL (name); \
  lock = begin_dropping (object); \
  __tsan_release (object); \
  __tsan_acquire (object); \
  last = !object || (count) == 1; \
  if (!last) \
    real (object); \
  end_dropping (lock); \
  if (last) \
    real (object); \
}

UNREFS (gst_mini_object_unref, GstMiniObject, GST_MINI_OBJECT_REFCOUNT_VALUE (object))
UNREFS (g_object_unref, void, g_atomic_int_get (&((GObject *) object)->ref_count))

void
g_bytes_unref (GBytes * bytes)
{
  REAL (g_bytes_unref);
  __tsan_release (bytes);
  __tsan_acquire (bytes);
  real (bytes);
}

/* Asked before something is written to: the others have let go. */
gboolean
gst_mini_object_is_writable (const GstMiniObject * object)
{
  REAL (gst_mini_object_is_writable);
  __tsan_acquire ((void *) object);
  return real (object);
}

/* As the library does it; there it lets go of the one that was copied without the function above. */
GstMiniObject *
gst_mini_object_make_writable (GstMiniObject * object)
{
  GstMiniObject *copy;

  if (gst_mini_object_is_writable (object))
    return object;
  copy = gst_mini_object_copy (object);
  gst_mini_object_unref (object);
  return copy;
}

/* ---------------------------------------------------------------- what passes from thread to thread */

void
g_async_queue_push (GAsyncQueue * queue, gpointer data)
{
  REAL (g_async_queue_push);
  __tsan_release (queue);
  real (queue, data);
}

#define POPS(name, parameters, arguments) \
gpointer name parameters \
{ \
  gpointer data; \
  REAL (name); \
  data = real arguments; \
  __tsan_acquire (queue); \
  return data; \
}

POPS (g_async_queue_pop, (GAsyncQueue * queue), (queue))
POPS (g_async_queue_try_pop, (GAsyncQueue * queue), (queue))
POPS (g_async_queue_timeout_pop, (GAsyncQueue * queue, guint64 timeout), (queue, timeout))

gboolean
gst_bus_post (GstBus * bus, GstMessage * message)
{
  REAL (gst_bus_post);
  __tsan_release (bus);
  return real (bus, message);
}

gboolean
gst_element_post_message (GstElement * element, GstMessage * message)
{
  GstBus *bus;

  REAL (gst_element_post_message);
  bus = gst_element_get_bus (element);
  if (bus) {
    __tsan_release (bus);
    gst_object_unref (bus);
  }
  return real (element, message);
}

#define BUS_POPS(name, parameters, arguments) \
GstMessage *name parameters \
{ \
  GstMessage *message; \
  REAL (name); \
  message = real arguments; \
  __tsan_acquire (bus); \
  return message; \
}

BUS_POPS (gst_bus_pop, (GstBus * bus), (bus))
BUS_POPS (gst_bus_pop_filtered, (GstBus * bus, GstMessageType types), (bus, types))
BUS_POPS (gst_bus_timed_pop, (GstBus * bus, GstClockTime timeout), (bus, timeout))
BUS_POPS (gst_bus_timed_pop_filtered, (GstBus * bus, GstClockTime timeout, GstMessageType types), (bus, timeout, types))
