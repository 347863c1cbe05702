/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* The cluster kernel, 8-connected, with a filter. */
#include "cuda/runs/cluster/analyze.cuh"

template cudaError_t allow_clusters<true, true>(size_t);
template cudaError_t query_cluster_kernel<true, true>(cudaFuncAttributes *);
template cudaError_t count_resident_clusters<true, true>(size_t, int *);
template CclStatus launch_clusters<true>(CudaFrame *, const BlockSize &, unsigned, bool, const ClusterLaunch &,
                                        const Frames<FEW_FRAMES, true> &);
template CclStatus launch_clusters<true>(CudaFrame *, const BlockSize &, unsigned, bool, const ClusterLaunch &,
                                        const Frames<MANY_FRAMES(true), true> &);
