/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "gstcclgpus.h"

#include "ccl.h"

static GMutex lock;             /* guards `loads` */
static GstCclGpuLoads loads;

static GWeakRef contexts[GST_CCL_MAX_GPUS];
static GMutex making;           /* held while a context is looked for and made, so that a GPU gets one */

gint
gst_ccl_gpu_loads_choose (const GstCclGpuLoads * all, guint64 excluded)
{
  gint best = -1;

  for (guint i = 0; i < all->n; i++)
    if (!((all->failed | excluded) & GST_CCL_GPU_BIT (i)) && (best < 0 || all->n_streams[i] < all->n_streams[best]))
      best = (gint) i;
  return best;
}

/* With the lock. The number does not change in a process. After a GPU failed, the driver may no longer tell it. */
static guint
get_n (void)
{
  if (!loads.n)
    loads.n = MIN (ccl_n_devices (), GST_CCL_MAX_GPUS);
  return loads.n;
}

static gboolean
is_gpu (gint gpu)
{
  return gpu >= 0 && gpu < GST_CCL_MAX_GPUS;
}

guint
gst_ccl_gpus_get_n (void)
{
  guint n;

  g_mutex_lock (&lock);
  n = get_n ();
  g_mutex_unlock (&lock);
  return n;
}

gint
gst_ccl_gpus_take (guint64 excluded, gboolean retry)
{
  gint gpu;

  g_mutex_lock (&lock);
  get_n ();
  gpu = gst_ccl_gpu_loads_choose (&loads, excluded);
  if (gpu < 0 && retry) {
    loads.failed = 0;
    gpu = gst_ccl_gpu_loads_choose (&loads, excluded);
  }
  if (gpu >= 0)
    loads.n_streams[gpu]++;
  g_mutex_unlock (&lock);
  return gpu;
}

static void
change_streams (gint gpu, gint change)
{
  if (!is_gpu (gpu))
    return;
  g_mutex_lock (&lock);
  loads.n_streams[gpu] += change;
  g_mutex_unlock (&lock);
}

void
gst_ccl_gpus_add (gint gpu)
{
  change_streams (gpu, 1);
}

void
gst_ccl_gpus_remove (gint gpu)
{
  change_streams (gpu, -1);
}

void
gst_ccl_gpus_set_failed (gint gpu)
{
  if (!is_gpu (gpu))
    return;
  g_mutex_lock (&lock);
  loads.failed |= GST_CCL_GPU_BIT (gpu);
  g_mutex_unlock (&lock);
  g_weak_ref_set (&contexts[gpu], NULL);
}

GstObject *
gst_ccl_gpus_get_context (gint gpu)
{
  return is_gpu (gpu) ? g_weak_ref_get (&contexts[gpu]) : NULL;
}

GstObject *
gst_ccl_gpus_get_or_make_context (gint gpu, GstCclMakeContext make, gboolean * is_new)
{
  GstObject *context, *made = NULL;

  g_mutex_lock (&making);
  context = gst_ccl_gpus_get_context (gpu);
  if (!context)
    context = made = make (gpu);
  if (made && is_gpu (gpu))
    g_weak_ref_set (&contexts[gpu], made);
  g_mutex_unlock (&making);
  *is_new = made != NULL;
  return context;
}
