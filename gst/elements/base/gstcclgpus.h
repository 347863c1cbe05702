/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * The GPUs of the process: how many streams each has, and which of them failed. A stream is an element that has the GPU open.
 *
 * A stream without cuda-device-id takes the GPU with the fewest streams when it starts, and again when its GPU fails. Of equal
 * GPUs it is the one with the lowest index. With one GPU there is no choice.
 */
#ifndef __GST_CCL_GPUS_H__
#define __GST_CCL_GPUS_H__

#include <gst/gst.h>

G_BEGIN_DECLS

#define GST_CCL_MAX_GPUS 64
#define GST_CCL_GPU_BIT(gpu) (G_GUINT64_CONSTANT (1) << ((gpu) % GST_CCL_MAX_GPUS))

typedef struct
{
  guint n;
  guint n_streams[GST_CCL_MAX_GPUS];
  guint64 failed;               /* bits */
} GstCclGpuLoads;

/* The GPU with the fewest streams that is neither failed nor in `excluded` (bits); -1: none. */
gint gst_ccl_gpu_loads_choose (const GstCclGpuLoads * loads, guint64 excluded);

/* All functions below may be called in any thread. */

/* The number of GPUs, at most GST_CCL_MAX_GPUS; 0 also without a driver. */
guint gst_ccl_gpus_get_n (void);

/* Chooses a GPU for one more stream and counts it there; -1: none. `retry`: if all have failed, the marks are forgotten. */
gint gst_ccl_gpus_take (guint64 excluded, gboolean retry);

/* One stream more or fewer on this GPU. An index without a GPU is ignored. */
void gst_ccl_gpus_add (gint gpu);
void gst_ccl_gpus_remove (gint gpu);

/* New streams avoid this GPU, and nobody gets its context. */
void gst_ccl_gpus_set_failed (gint gpu);

/* The GstCudaContext that streams on this GPU share, while one of them has it; NULL: none. It is one that
 * gst_ccl_gpus_get_or_make_context() made, never one of an application or of another element. (transfer full) */
GstObject *gst_ccl_gpus_get_context (gint gpu);

/* As above, but calls `make` if there is none. However many threads call this at once, one makes it. NULL: `make` failed.
 * `is_new`: this call made it. (transfer full) */
typedef GstObject *(*GstCclMakeContext) (gint gpu);
GstObject *gst_ccl_gpus_get_or_make_context (gint gpu, GstCclMakeContext make, gboolean * is_new);

G_END_DECLS

#endif
