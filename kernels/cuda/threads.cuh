/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* The thread block of kernels with a thread for each pixel or for each 2x2 block. */
#ifndef CCL_CUDA_THREADS_CUH
#define CCL_CUDA_THREADS_CUH

/* For experiments, a build can have another size: meson setup -Dcuda_args="-DCCL_BLOCK_COLUMNS=16 -DCCL_BLOCK_ROWS=16" */
#ifndef CCL_BLOCK_COLUMNS
#define CCL_BLOCK_COLUMNS 16
#endif
#ifndef CCL_BLOCK_ROWS
#define CCL_BLOCK_ROWS 16
#endif

static const unsigned BLOCK_THREADS_X = CCL_BLOCK_COLUMNS, BLOCK_THREADS_Y = CCL_BLOCK_ROWS;

#endif
