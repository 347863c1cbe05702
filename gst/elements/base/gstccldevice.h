/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * An allocator of device memory for masks that stay on the GPU between our elements. It depends neither on libgstcuda nor on
 * its formats. A map with GST_CCL_MAP_DEVICE gives the address on the device. A plain map for reading downloads the memory, so
 * that every element can read it. A writer on the device must finish before it unmaps.
 */
#ifndef __GST_CCL_DEVICE_H__
#define __GST_CCL_DEVICE_H__

#include <gst/gst.h>
#include "gstcclcuda.h"

G_BEGIN_DECLS

#define GST_CCL_DEVICE_MEMORY_TYPE "CclDeviceMemory"

/* The value of GST_MAP_CUDA, which older headers and builds without libgstcuda lack. */
#define GST_CCL_MAP_DEVICE ((GstMapFlags) (GST_MAP_FLAG_LAST << 1))

/* Allocates in the current context of `cuda`, or on its device. */
GstAllocator *gst_ccl_device_allocator_new (GstCclCuda * cuda);

gboolean gst_ccl_is_device_memory (GstMemory * memory);

/* The context or device that the memory is on. (transfer none) */
const GstCclCuda *gst_ccl_device_memory_get_cuda (GstMemory * memory);

G_END_DECLS

#endif
