/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* The kernel measure for a frame. */
#include "cuda/runs/measure.cuh"

template CclStatus launch_measure<1>(CudaFrame *, Pass, bool, const Alone &, dim3);
template CclStatus launch_measure<SMALL_LANES>(CudaFrame *, Pass, bool, const Alone &, dim3);
