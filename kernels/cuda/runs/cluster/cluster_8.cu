/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* The cluster kernel, 8-connected. */
#include "cuda/runs/cluster/analyze.cuh"

template cudaError_t allow_clusters<true, false>(size_t);
template cudaError_t query_cluster_kernel<true, false>(cudaFuncAttributes *);
template cudaError_t count_resident_clusters<true, false>(size_t, int *);
template CclStatus launch_clusters<true>(CudaFrame *, const BlockSize &, unsigned, bool, const ClusterLaunch &,
                                        const Frames<FEW_FRAMES, false> &);
template CclStatus launch_clusters<true>(CudaFrame *, const BlockSize &, unsigned, bool, const ClusterLaunch &,
                                        const Frames<MANY_FRAMES(false), false> &);
