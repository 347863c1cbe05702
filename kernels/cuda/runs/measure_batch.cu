/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* The kernel measure for a batch. */
#include "cuda/runs/measure.cuh"

template CclStatus launch_measure<1>(CudaFrame *, Pass, bool, const Listed &, dim3);
template CclStatus launch_measure<SMALL_LANES>(CudaFrame *, Pass, bool, const Listed &, dim3);
