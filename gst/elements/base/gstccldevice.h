/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * An allocator of device memory for masks that stay on the GPU between our elements, whatever libgstcuda of this
 * version (or none) has formats for. Mapped with GST_CCL_MAP_DEVICE it gives the device's address; mapped for reading
 * as any other memory it is downloaded, so that everybody can read it. Whoever writes to it on the device has finished
 * before unmapping.
 */
#ifndef __GST_CCL_DEVICE_H__
#define __GST_CCL_DEVICE_H__

#include <gst/gst.h>
#include "gstcclcuda.h"

G_BEGIN_DECLS

#define GST_CCL_DEVICE_MEMORY_TYPE "CclDeviceMemory"

/* The value of GST_MAP_CUDA, which older headers and builds without libgstcuda lack. */
#define GST_CCL_MAP_DEVICE ((GstMapFlags) (GST_MAP_FLAG_LAST << 1))

/* Of the current context of `cuda`, or of its device. */
GstAllocator *gst_ccl_device_allocator_new (GstCclCuda * cuda);

gboolean gst_ccl_is_device_memory (GstMemory * memory);

/* Whose it is, (transfer none). */
const GstCclCuda *gst_ccl_device_memory_get_cuda (GstMemory * memory);

G_END_DECLS

#endif
