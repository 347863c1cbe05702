/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "gstcclcuda.h"

#include "gstccldevice.h"
#include "gstcclgpus.h"

#ifdef HAVE_GST_CUDA
#include <gst/cuda/gstcudacontext.h>
#include <gst/cuda/gstcudaloader.h>
#include <gst/cuda/gstcudamemory.h>
#include <gst/cuda/gstcudautils.h>
#if GST_CHECK_VERSION (1, 24, 0)
#include <gst/cuda/gstcudastream.h>
#endif
#endif

#ifdef HAVE_GST_CUDA
GST_DEBUG_CATEGORY_STATIC (gst_ccl_cuda_debug);
#define GST_CAT_DEFAULT gst_ccl_cuda_debug

static gpointer
load_once (gpointer unused)
{
  (void) unused;
  GST_DEBUG_CATEGORY_INIT (gst_ccl_cuda_debug, "cclcuda", 0, "gst-ccl's use of libgstcuda");

#if !GST_CHECK_VERSION (1, 24, 0)
  /* From 1.24 on, memory can still be being written when it arrives, and headers older than that cannot wait for it. */
  guint major, minor, micro, nano;
  gst_version (&major, &minor, &micro, &nano);
  if (minor >= 24) {
    GST_WARNING ("built with GStreamer %d.%d, running with %u.%u: build again to read masks in CUDA memory",
        GST_VERSION_MAJOR, GST_VERSION_MINOR, major, minor);
    return GINT_TO_POINTER (FALSE);
  }
#endif
  const gboolean loaded = gst_cuda_load_library ();
  GST_INFO ("libgstcuda %s", loaded ? "found the driver" : "found no CUDA driver");
  return GINT_TO_POINTER (loaded);
}
#endif

gboolean
gst_ccl_cuda_load (void)
{
#ifdef HAVE_GST_CUDA
  static GOnce once = G_ONCE_INIT;
  return GPOINTER_TO_INT (g_once (&once, load_once, NULL));
#else
  return FALSE;
#endif
}

/* As gst_ccl_cuda_open(), on the GPU that is chosen. */
static gboolean open_context (GstCclCuda * cuda);

/* The index that libgstcuda and the core get; -1: any. */
static gint
wanted_device (const GstCclCuda * cuda)
{
  return cuda->chosen >= 0 ? cuda->chosen : cuda->device_id;
}

/* `context` (NULL: none yet) replaces that of the GPU before. */
static void
choose (GstCclCuda * cuda, gint gpu, GstObject * context)
{
  GstObject *before;

  g_mutex_lock (&cuda->lock);
  cuda->chosen = gpu;
  before = cuda->shared;
  cuda->shared = context ? gst_object_ref (context) : NULL;
  g_mutex_unlock (&cuda->lock);
  gst_clear_object (&before);
  gst_object_replace (&cuda->current, context);
}

void
gst_ccl_cuda_init (GstCclCuda * cuda, GstElement * element)
{
  cuda->element = element;
  cuda->device_id = cuda->chosen = cuda->counted = -1;
  cuda->lost = cuda->full = 0;
  g_mutex_init (&cuda->lock);
}

void
gst_ccl_cuda_clear (GstCclCuda * cuda)
{
  gst_ccl_cuda_close (cuda);
  g_mutex_clear (&cuda->lock);
}

void
gst_ccl_cuda_close (GstCclCuda * cuda)
{
  gst_ccl_cuda_uncount (cuda);
  choose (cuda, -1, NULL);
  cuda->lost = cuda->full = 0;
}

gint
gst_ccl_cuda_get_device (const GstCclCuda * cuda)
{
  return cuda->current ? -1 : MAX (wanted_device (cuda), 0);
}

void
gst_ccl_cuda_copy_device (GstCclCuda * cuda, const GstCclCuda * from)
{
  cuda->device_id = from->device_id;
  cuda->chosen = from->chosen;
  gst_object_replace (&cuda->current, from->current);
}

/* ---------------------------------------------------------------- the choice of a GPU */

static gint
get_gpu_of_context (GstObject * context)
{
  guint gpu = 0;

  g_object_get (context, "cuda-device-id", &gpu, NULL);
  return (gint) gpu;
}

static gint
get_gpu (const GstCclCuda * cuda)
{
  return cuda->current ? get_gpu_of_context (cuda->current) : gst_ccl_cuda_get_device (cuda);
}

static void
count (GstCclCuda * cuda, gint gpu)
{
  gst_ccl_cuda_uncount (cuda);
  gst_ccl_gpus_add (gpu);
  cuda->counted = gpu;
}

void
gst_ccl_cuda_uncount (GstCclCuda * cuda)
{
  gst_ccl_gpus_remove (cuda->counted);
  cuda->counted = -1;
}

gboolean
gst_ccl_cuda_may_change_gpu (const GstCclCuda * cuda)
{
  return cuda->chosen >= 0;
}

gboolean
gst_ccl_cuda_change_gpu (GstCclCuda * cuda, CclStatus status)
{
  const gint gpu = get_gpu (cuda);
  gint next;

  if (status == CCL_ERROR_DEVICE)
    gst_ccl_gpus_set_failed (gpu);
  if (!gst_ccl_cuda_may_change_gpu (cuda))
    return FALSE;
  if (status == CCL_ERROR_OUT_OF_MEMORY && !(cuda->lost & GST_CCL_GPU_BIT (gpu)))
    cuda->full |= GST_CCL_GPU_BIT (gpu);
  cuda->lost |= GST_CCL_GPU_BIT (gpu);
  next = gst_ccl_gpus_take (cuda->lost, FALSE);
  if (next < 0)
    return FALSE;
  gst_ccl_cuda_uncount (cuda);
  cuda->counted = next;
  choose (cuda, next, NULL);
  return TRUE;
}

void
gst_ccl_cuda_forget_full (GstCclCuda * cuda)
{
  cuda->lost &= ~cuda->full;
  cuda->full = 0;
}

gboolean
gst_ccl_cuda_open (GstCclCuda * cuda)
{
  if (cuda->counted < 0 && cuda->chosen < 0 && cuda->device_id < 0 && gst_ccl_gpus_get_n () > 1) {
    cuda->counted = gst_ccl_gpus_take (0, TRUE);
    g_mutex_lock (&cuda->lock);
    cuda->chosen = cuda->counted;
    g_mutex_unlock (&cuda->lock);
  }
  if (!cuda->current && !open_context (cuda))
    return FALSE;
  if (cuda->counted < 0)
    count (cuda, get_gpu (cuda));
  return TRUE;
}

static gint
get_gpu_of_memory (GstMemory * memory)
{
  GstObject *const context = gst_ccl_cuda_memory_get_context (memory);

  return context ? get_gpu_of_context (context) : gst_ccl_cuda_get_device (gst_ccl_device_memory_get_cuda (memory));
}

/* Whether the memory is on a device, but not where the element is. */
static gboolean
is_elsewhere (const GstCclCuda * cuda, GstMemory * memory)
{
  GstObject *const context = gst_ccl_cuda_memory_get_context (memory);

  if (context)
    return context != cuda->current;
  return !cuda->current && gst_ccl_is_device_memory (memory)
      && gst_ccl_cuda_get_device (gst_ccl_device_memory_get_cuda (memory)) != gst_ccl_cuda_get_device (cuda);
}

gboolean
gst_ccl_cuda_should_follow (const GstCclCuda * cuda, GstMemory * memory)
{
  gint gpu;

  if (!is_elsewhere (cuda, memory))
    return FALSE;
  gpu = get_gpu_of_memory (memory);
  if ((cuda->device_id < 0 || cuda->device_id == gpu) && (gpu < 0 || !(cuda->lost & GST_CCL_GPU_BIT (gpu))))
    return TRUE;
  GST_LOG_OBJECT (cuda->element, "a frame on GPU %d, not on %d, comes through the host", gpu, get_gpu (cuda));
  return FALSE;
}

void
gst_ccl_cuda_follow (GstCclCuda * cuda, GstMemory * memory)
{
  GstObject *const context = gst_ccl_cuda_memory_get_context (memory);
  const gint gpu = get_gpu_of_memory (memory);

  GST_INFO_OBJECT (cuda->element, "following the masks to GPU %d", gpu);
  choose (cuda, cuda->chosen >= 0 ? gpu : -1, context);
  count (cuda, gpu);
}

gboolean
gst_ccl_cuda_is_missed (const GstCclCuda * cuda, CclStatus status)
{
  return status == CCL_ERROR_DEVICE || (status == CCL_ERROR_NO_DEVICE && cuda->device_id >= 0);
}

gboolean
gst_ccl_cuda_can_read (const GstCclCuda * cuda, GstMemory * memory)
{
  if (gst_ccl_is_device_memory (memory)) {
    const GstCclCuda *const owner = gst_ccl_device_memory_get_cuda (memory);
    return owner->current == cuda->current && gst_ccl_cuda_get_device (owner) == gst_ccl_cuda_get_device (cuda);
  }
  return cuda->current && gst_ccl_cuda_memory_get_context (memory) == cuda->current;
}

#ifdef HAVE_GST_CUDA

void
gst_ccl_cuda_set_context (GstCclCuda * cuda, GstContext * context)
{
  if (!gst_ccl_cuda_load ())
    return;
  g_mutex_lock (&cuda->lock);
  gst_cuda_handle_set_context (cuda->element, context, wanted_device (cuda), (GstCudaContext **) & cuda->shared);
  g_mutex_unlock (&cuda->lock);
}

/* With a reference. */
static GstObject *
get_shared (GstCclCuda * cuda)
{
  GstObject *shared;

  g_mutex_lock (&cuda->lock);
  shared = cuda->shared ? gst_object_ref (cuda->shared) : NULL;
  g_mutex_unlock (&cuda->lock);
  return shared;
}

gboolean
gst_ccl_cuda_query_context (GstCclCuda * cuda, GstQuery * query)
{
  GstObject *shared;
  gboolean handled;

  if (!gst_ccl_cuda_load ())
    return FALSE;
  shared = get_shared (cuda);
  handled = shared && gst_cuda_handle_context_query (cuda->element, query, GST_CUDA_CONTEXT (shared));
  gst_clear_object (&shared);
  return handled;
}

static gboolean
has_shared (GstCclCuda * cuda)
{
  gboolean has;

  g_mutex_lock (&cuda->lock);
  has = cuda->shared != NULL;
  g_mutex_unlock (&cuda->lock);
  return has;
}

/* A context that was set before the GPU was chosen, and is on another one. */
static void
drop_unwanted (GstCclCuda * cuda)
{
  const gint wanted = wanted_device (cuda);
  GstObject *unwanted = NULL;

  g_mutex_lock (&cuda->lock);
  if (wanted >= 0 && cuda->shared && get_gpu_of_context (cuda->shared) != wanted)
    unwanted = g_steal_pointer (&cuda->shared);
  g_mutex_unlock (&cuda->lock);
  gst_clear_object (&unwanted);
}

/* TRUE: the element shares `context` now. FALSE: another thread set one first. */
static gboolean
share (GstCclCuda * cuda, GstObject * context)
{
  gboolean is_shared;

  g_mutex_lock (&cuda->lock);
  if (!cuda->shared)
    cuda->shared = gst_object_ref (context);
  is_shared = cuda->shared == context;
  g_mutex_unlock (&cuda->lock);
  return is_shared;
}

/* FALSE, which ends the loop: the element has a context. One on another GPU than the wanted one is not taken. */
static gboolean
ask_neighbour (GstElement * element, GstPad * pad, gpointer cuda)
{
  GstQuery *const query = gst_query_new_context (GST_CUDA_CONTEXT_TYPE);
  GstContext *context = NULL;

  if (gst_pad_peer_query (pad, query))
    gst_query_parse_context (query, &context);
  if (context)
    gst_element_set_context (element, context); /* calls gst_ccl_cuda_set_context() */
  gst_query_unref (query);
  return !has_shared (cuda);
}

/* The neighbours, then the application. TRUE: one of them had a context for the wanted GPU. */
static gboolean
ask_for_context (GstCclCuda * cuda)
{
  GstElement *const element = cuda->element;

  gst_element_foreach_src_pad (element, ask_neighbour, cuda);
  if (!has_shared (cuda))
    gst_element_foreach_sink_pad (element, ask_neighbour, cuda);
  if (!has_shared (cuda))
    gst_element_post_message (element, gst_message_new_need_context (GST_OBJECT (element), GST_CUDA_CONTEXT_TYPE));
  return has_shared (cuda);
}

static GstObject *
make_context (gint gpu)
{
  return (GstObject *) gst_cuda_context_new ((guint) gpu);
}

/* Tells the bins and the application, as gst_cuda_ensure_element_context() does. */
static void
announce (GstElement * element, GstObject * cuda_context)
{
  GstContext *const context = gst_context_new_cuda_context (GST_CUDA_CONTEXT (cuda_context));

  gst_element_set_context (element, context);
  gst_element_post_message (element, gst_message_new_have_context (GST_OBJECT (element), context));
}

/* FALSE: there is no such GPU, or it gives no context. */
static gboolean
take_context_of_process (GstCclCuda * cuda, gint gpu)
{
  gboolean is_new;
  GstObject *context = gst_ccl_gpus_get_or_make_context (gpu, make_context, &is_new);

  if (!context)
    return FALSE;
  if (share (cuda, context) && is_new)
    announce (cuda->element, context);
  gst_object_unref (context);
  return TRUE;
}

/* Frames of several contexts take turns on a GPU. So streams share one, in whichever pipelines they are. With several GPUs the
 * context of the process comes first: neighbours may be about to leave a GPU that failed. */
static gboolean
find_context (GstCclCuda * cuda, gint gpu)
{
  GstObject *context = cuda->chosen >= 0 ? gst_ccl_gpus_get_context (gpu) : NULL;

  if (context)
    share (cuda, context);
  gst_clear_object (&context);
  return has_shared (cuda) || ask_for_context (cuda) || take_context_of_process (cuda, gpu);
}

static gboolean
open_context (GstCclCuda * cuda)
{
  GstObject *context = NULL;

  if (!gst_ccl_cuda_load ())
    return TRUE;
  drop_unwanted (cuda);
  if (find_context (cuda, MAX (wanted_device (cuda), 0)))
    context = get_shared (cuda);
  gst_object_replace (&cuda->current, context);
  gst_clear_object (&context);
  return cuda->current != NULL;
}

void
gst_ccl_cuda_push (GstCclCuda * cuda)
{
  if (cuda->current && !gst_cuda_context_push (GST_CUDA_CONTEXT (cuda->current)))
    GST_WARNING_OBJECT (cuda->element, "cannot push the CUDA context");
}

void
gst_ccl_cuda_pop (GstCclCuda * cuda)
{
  if (cuda->current)
    gst_cuda_context_pop (NULL);
}

gboolean
gst_ccl_cuda_is_memory (GstMemory * memory)
{
  return gst_ccl_cuda_load () && gst_is_cuda_memory (memory);
}

GstObject *
gst_ccl_cuda_memory_get_context (GstMemory * memory)
{
  if (gst_ccl_is_device_memory (memory))
    return gst_ccl_device_memory_get_cuda (memory)->current;
  return gst_ccl_cuda_is_memory (memory) ? GST_OBJECT (GST_CUDA_MEMORY_CAST (memory)->context) : NULL;
}

gboolean
gst_ccl_cuda_map_planes (GstMemory * memory, GstMapInfo * map, GstVideoInfo * layout, gpointer * stream)
{
  *layout = GST_CUDA_MEMORY_CAST (memory)->info;
  *stream = NULL;
  if (!gst_memory_map (memory, map, (GstMapFlags) (GST_MAP_READ | GST_MAP_CUDA)))
    return FALSE;
#if GST_CHECK_VERSION (1, 24, 0)
  GstCudaStream *const of_memory = gst_cuda_memory_get_stream (GST_CUDA_MEMORY_CAST (memory));
  if (of_memory)
    *stream = gst_cuda_stream_get_handle (of_memory);
#endif
  return TRUE;
}

#else /* no libgstcuda */

void
gst_ccl_cuda_set_context (GstCclCuda * cuda, GstContext * context)
{
  (void) cuda, (void) context;
}

gboolean
gst_ccl_cuda_query_context (GstCclCuda * cuda, GstQuery * query)
{
  (void) cuda, (void) query;
  return FALSE;
}

static gboolean
open_context (GstCclCuda * cuda)
{
  (void) cuda;
  return TRUE;
}

void
gst_ccl_cuda_push (GstCclCuda * cuda)
{
  (void) cuda;
}

void
gst_ccl_cuda_pop (GstCclCuda * cuda)
{
  (void) cuda;
}

gboolean
gst_ccl_cuda_is_memory (GstMemory * memory)
{
  (void) memory;
  return FALSE;
}

GstObject *
gst_ccl_cuda_memory_get_context (GstMemory * memory)
{
  (void) memory;
  return NULL;
}

gboolean
gst_ccl_cuda_map_planes (GstMemory * memory, GstMapInfo * map, GstVideoInfo * layout, gpointer * stream)
{
  (void) memory, (void) map, (void) layout, (void) stream;
  return FALSE;
}

#endif

gboolean
gst_ccl_cuda_map (GstMemory * memory, GstMapInfo * map, CclMask * mask, gsize * size)
{
  GstVideoInfo layout;
  gpointer stream;
  gsize offset;

  if (!gst_ccl_cuda_map_planes (memory, map, &layout, &stream))
    return FALSE;
  offset = GST_VIDEO_INFO_PLANE_OFFSET (&layout, 0);
  mask->data = map->data + offset;
  mask->stride = GST_VIDEO_INFO_PLANE_STRIDE (&layout, 0);
  mask->memory = CCL_MEMORY_DEVICE;
  mask->producer_stream = stream;
  *size = map->size > offset ? map->size - offset : 0;
  return TRUE;
}
