/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* The launches of the cluster kernel. cluster_*.cu define these functions, one file for some arguments of the templates. */
#ifndef CCL_CUDA_RUNS_CLUSTER_LAUNCH_CUH
#define CCL_CUDA_RUNS_CLUSTER_LAUNCH_CUH

#include "cuda/runs/cluster/block.cuh"

/* Of each block of a launch. */
typedef struct BlockSize {
    uint32_t n_threads;
    uint32_t max_runs; /* in shared memory */
    size_t memory;
} BlockSize;

/* Lets the kernels have clusters of CLUSTER_BLOCKS, and this much shared memory in a block. */
template <bool EIGHT, bool FILTERED> cudaError_t allow_clusters(size_t memory);

template <bool EIGHT, bool FILTERED> cudaError_t query_cluster_kernel(cudaFuncAttributes *attributes);

/* Stores the number of clusters of the largest blocks that can run at once. */
template <bool EIGHT, bool FILTERED> cudaError_t count_resident_clusters(size_t memory, int *n);

template <bool EIGHT, uint32_t MAX_FRAMES, bool FILTERED>
CclStatus launch_clusters(CudaFrame *launcher, const BlockSize &size, unsigned n_frames, bool packed,
                          const ClusterLaunch &launch, const Frames<MAX_FRAMES, FILTERED> &frames);

/* For label/runs.cu; see CudaBatches. */
size_t runs_cluster_memory(void);
size_t runs_memory_in_cluster(const CudaShape *shape);
CclStatus runs_launch_in_clusters(const CudaBatch *batch, const ClusterLaunch &offsets);

#endif
