/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* The kernel solve for the inverse of a mask, 8-connected. */
#include "cuda/runs/solve.cuh"

template CclStatus launch_solve_inverse<true, 1>(CudaFrame *, const WithInverse &, TileCapacity, dim3);
template CclStatus launch_solve_inverse<true, SMALL_LANES>(CudaFrame *, const WithInverse &, TileCapacity, dim3);
