/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* The launches of label/runs.cu. Each family of kernels has files of its own, which define these functions for some arguments
 * of the templates: so a build compiles them on several cores. */
#ifndef CCL_CUDA_RUNS_LAUNCH_CUH
#define CCL_CUDA_RUNS_LAUNCH_CUH

#include "cuda/runs/plan.cuh"

#define LAUNCH_SOONER (CUDA_OVERLAP | CUDA_AHEAD) /* for all kernels but solve and measure */

#define SMALL_LANES 2u /* that share the work of a word where tiles are few; else one lane */

/* JOIN_THREADS and others: the grids depend on them. */
#define JOIN_THREADS 256u
#define NUMBER_THREADS 256u
#define KEEP_THREADS 256u
#define ROWS_THREADS 256u

/* What measure does. */
enum Pass {
    PASS_ALL,  /* nothing is dropped: sums and labels */
    PASS_FIND, /* what a filter asks for */
    PASS_KEPT, /* when the filter has numbered the components it keeps: sums and labels */
};

/* LANES: that share a word. */
template <bool EIGHT, uint32_t LANES, typename Jobs>
CclStatus launch_solve(CudaFrame *frame, const CudaShape *shape, const Jobs &jobs, dim3 grid);
template <bool EIGHT, typename Jobs> CclStatus launch_join(CudaFrame *frame, const Jobs &jobs, dim3 grid);
template <typename Jobs> CclStatus launch_number(CudaFrame *frame, const Jobs &jobs, dim3 grid);
template <uint32_t LANES, typename Jobs>
CclStatus launch_measure(CudaFrame *frame, Pass pass, bool labels, const Jobs &jobs, dim3 grid);
template <typename Jobs> CclStatus launch_keep(CudaFrame *frame, const Jobs &jobs, dim3 grid);
template <typename Jobs> CclStatus launch_rows(CudaFrame *frame, const Jobs &jobs, dim3 grid, bool filtered);

#endif
