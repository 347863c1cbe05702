/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* The launches of label/runs.cu. Each family of kernels has files of its own, which define these functions for some arguments
 * of the templates: so a build compiles them on several cores. */
#ifndef CCL_CUDA_RUNS_LAUNCH_CUH
#define CCL_CUDA_RUNS_LAUNCH_CUH

#include "cuda/runs/plan.cuh"

#define LAUNCH_SOONER (CUDA_OVERLAP | CUDA_AHEAD) /* for all kernels but solve and measure */

#define SMALL_LANES 2u /* lanes that share the work of a word if tiles are few; otherwise one lane */

/* JOIN_THREADS and others: the grids depend on them. */
#define JOIN_THREADS 256u
#define NUMBER_THREADS 256u
#define KEEP_THREADS 256u
#define ROWS_THREADS 256u

/* What measure does. */
enum Pass {
    PASS_ALL,  /* sums and labels, without a filter */
    PASS_FIND, /* sums that a filter needs */
    PASS_KEPT, /* sums and labels of the components that the filter keeps, after they are numbered */
};

/* LANES: number of lanes that share a word. */
template <bool EIGHT, uint32_t LANES, typename Jobs>
CclStatus launch_solve(CudaFrame *frame, const CudaShape *shape, const Jobs &jobs, dim3 grid);
template <bool EIGHT, typename Jobs> CclStatus launch_join(CudaFrame *frame, const Jobs &jobs, dim3 grid);
template <typename Jobs> CclStatus launch_number(CudaFrame *frame, const Jobs &jobs, dim3 grid);
template <uint32_t LANES, typename Jobs>
CclStatus launch_measure(CudaFrame *frame, Pass pass, bool labels, const Jobs &jobs, dim3 grid);
template <typename Jobs> CclStatus launch_keep(CudaFrame *frame, const Jobs &jobs, dim3 grid);
template <typename Jobs> CclStatus launch_rows(CudaFrame *frame, const Jobs &jobs, dim3 grid, bool filtered);

/* With CCL_FEATURE_SHAPE, CCL_FEATURE_INTENSITY or CCL_FEATURE_HULL, for frames that are launched alone: the counts, and after
 * launch_rows() their copy to the host. */
CclStatus launch_counts(CudaFrame *frame, const Alone &jobs, dim3 grid, bool eight, bool filtered);
CclStatus launch_written_counts(CudaFrame *frame, const Alone &jobs);
/* The counts of hull and intensity, of two masks that share a table. */
CclStatus launch_plane_counts(CudaFrame *frame, const Alone planes[2], dim3 grid);

/* With CCL_FEATURE_HOLES: solve for the inverse of a mask, join and number for both; then the holes. */
template <bool EIGHT, uint32_t LANES>
CclStatus launch_solve_inverse(CudaFrame *frame, const WithInverse &jobs, TileCapacity capacity, dim3 grid);
CclStatus launch_number_both(CudaFrame *frame, const WithInverse &jobs);
CclStatus launch_count_holes(CudaFrame *frame, const WithInverse &jobs, dim3 grid, bool filtered);

#endif
