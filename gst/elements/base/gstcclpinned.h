/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* An allocator of page-locked memory: masks that upstream writes there go to the GPU without a copy in between. */
#ifndef __GST_CCL_PINNED_H__
#define __GST_CCL_PINNED_H__

#include <gst/gst.h>
#include "gstcclcuda.h"

G_BEGIN_DECLS

#define GST_CCL_PINNED_MEMORY_TYPE "CclPinnedMemory"

/* Page-locked for the current context of `cuda`, or for its device. */
GstAllocator *gst_ccl_pinned_allocator_new (GstCclCuda * cuda);

/* Proposes it in an allocation query, so that upstream writes its masks where the GPU can read them. Allocators that downstream
 * elements propose come first. */
void gst_ccl_pinned_propose (GstCclCuda * cuda, GstQuery * query);

gboolean gst_ccl_is_pinned_memory (GstMemory * memory);

G_END_DECLS

#endif
