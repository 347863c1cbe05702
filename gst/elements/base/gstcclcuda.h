/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * CUDA in an element, through libgstcuda: the context that it shares with its neighbours, and masks in memory:CUDAMemory.
 *
 * libgstcuda aborts the process when it is used without a driver, so all calls go through gst_ccl_cuda_load(). Where that
 * fails, and in a build without libgstcuda, there is no context to share. The functions below say so, and the core works on
 * a device index instead.
 */
#ifndef __GST_CCL_CUDA_H__
#define __GST_CCL_CUDA_H__

#include <gst/gst.h>
#include <gst/video/video.h>
#include "ccl.h"

G_BEGIN_DECLS

#define GST_CCL_CUDA_FEATURE "memory:CUDAMemory"

typedef struct
{
  GstElement *element;
  gint device_id;               /* property: -1 is any */
  gint chosen;                  /* of several GPUs, with device_id -1; -1: not chosen, or there is one */
  gint counted;                 /* the GPU on which the open element counts as a stream; -1: on none */
  guint64 lost;                 /* bits: GPUs that failed here since the start, or are full; only of several */
  guint64 full;                 /* bits: GPUs with too little memory for the open request */
  GMutex lock;                  /* guards `shared` and `chosen`: other threads set contexts and ask for ours; never held
                                 * while a neighbour or the application is asked, because they may ask back */
  GstObject *shared;            /* GstCudaContext offered to and taken from neighbours */
  GstObject *current;           /* the context in which frames are analysed; streaming thread only */
} GstCclCuda;

/* Whether libgstcuda is there and usable. Decided once per process. */
gboolean gst_ccl_cuda_load (void);

void gst_ccl_cuda_init (GstCclCuda * cuda, GstElement * element);
void gst_ccl_cuda_clear (GstCclCuda * cuda);

/* For the element's set_context, and its CONTEXT query (TRUE: answered). */
void gst_ccl_cuda_set_context (GstCclCuda * cuda, GstContext * context);
gboolean gst_ccl_cuda_query_context (GstCclCuda * cuda, GstQuery * query);

/* Chooses the GPU and counts the stream there, see gstcclgpus.h. Finds a context among the neighbours or makes one. FALSE:
 * libgstcuda can be used, but there is no such device. TRUE without libgstcuda: there is nothing to find. */
gboolean gst_ccl_cuda_open (GstCclCuda * cuda);
void gst_ccl_cuda_close (GstCclCuda * cuda);

/* The element works on the CPU now: it is no stream of a GPU. */
void gst_ccl_cuda_uncount (GstCclCuda * cuda);

/* Whether the element may change over to another GPU when its GPU fails. If so, close everything that is open, then call
 * gst_ccl_cuda_change_gpu(), with the status of the failure. That is FALSE if none is left. */
gboolean gst_ccl_cuda_may_change_gpu (const GstCclCuda * cuda);
gboolean gst_ccl_cuda_change_gpu (GstCclCuda * cuda, CclStatus status);

/* The request changes, so GPUs that had too little memory for it may do. */
void gst_ccl_cuda_forget_full (GstCclCuda * cuda);

/* The allocator's copy of an element's device. */
void gst_ccl_cuda_copy_device (GstCclCuda * cuda, const GstCclCuda * from);

/* CclConfig.device: -1 when a context is pushed around every call, else the index of the device. */
gint gst_ccl_cuda_get_device (const GstCclCuda * cuda);

/* Opening the device ended with `status`, and the CPU can replace it. TRUE: that is worth a warning. A machine without a
 * device needs none. */
gboolean gst_ccl_cuda_is_missed (const GstCclCuda * cuda, CclStatus status);

/* Call these around every call of the core that may use the device. They do nothing without a context. */
void gst_ccl_cuda_push (GstCclCuda * cuda);
void gst_ccl_cuda_pop (GstCclCuda * cuda);

gboolean gst_ccl_cuda_is_memory (GstMemory * memory);

/* The context of CUDA memory or of our own device memory, or NULL; (transfer none). */
GstObject *gst_ccl_cuda_memory_get_context (GstMemory * memory);

/* Whether a core that works in the current context (or on the device) can read this memory on the device. */
gboolean gst_ccl_cuda_can_read (const GstCclCuda * cuda, GstMemory * memory);

/* Whether the memory is in another context or on another GPU, and cuda-device-id allows it. If so, close everything in the
 * current context and call gst_ccl_cuda_follow(). */
gboolean gst_ccl_cuda_should_follow (const GstCclCuda * cuda, GstMemory * memory);

/* Makes the memory's context, or its GPU, the current one. */
void gst_ccl_cuda_follow (GstCclCuda * cuda, GstMemory * memory);

/* Maps CUDA memory on the device. `layout`: its planes, from map->data; `stream`: the CUDA stream that writes it, or NULL. */
gboolean gst_ccl_cuda_map_planes (GstMemory * memory, GstMapInfo * map, GstVideoInfo * layout, gpointer * stream);

/* Maps CUDA memory on the device and describes its first plane: data, stride, memory and producer_stream of `mask`. `size` is
 * the number of bytes from data to the end of the memory. */
gboolean gst_ccl_cuda_map (GstMemory * memory, GstMapInfo * map, CclMask * mask, gsize * size);

G_END_DECLS

#endif
