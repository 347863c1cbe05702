/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Copies of images, and events between streams. */
#ifndef CCL_CUDA_UPLOAD_CUH
#define CCL_CUDA_UPLOAD_CUH

#include "devices.cuh"

/* An image to copy. */
typedef struct CudaRows {
    const void *data;
    size_t stride, size; /* bytes from row to row, and of a row */
    uint32_t n;
} CudaRows;

/* Like cudaMemcpy2DAsync(), but for any stride: that function rejects strides of 2 GB or more, even for a single row. */
cudaError_t cuda_copy_rows(void *to, size_t to_stride, const CudaRows &from, cudaMemcpyKind kind, cudaStream_t stream);

/* Creates the event when it is first needed, because there may be a thousand contexts, most of which need few. */
CclStatus cuda_record(cudaEvent_t *event, cudaStream_t stream);

#endif
