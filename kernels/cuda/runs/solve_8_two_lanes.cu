/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* The kernel solve, 8-connected, with two lanes for each word. */
#include "cuda/runs/solve.cuh"

template CclStatus launch_solve<true, SMALL_LANES>(CudaFrame *, const CudaShape *, const Alone &, dim3);
template CclStatus launch_solve<true, SMALL_LANES>(CudaFrame *, const CudaShape *, const Listed &, dim3);
