/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Launches on a stream as a CUDA graph: captured once, launched again with other arguments. */
#ifndef CCL_CUDA_GRAPH_CUH
#define CCL_CUDA_GRAPH_CUH

#include "devices.cuh"

#define CUDA_MAX_NODES 64
/* Of a kernel in a graph. */
#define CUDA_MAX_PARAMETERS 12

/* A kernel of a graph. */
typedef struct CudaGraphNode {
    cudaGraphNode_t node;
    cudaKernelNodeParams params; /* as captured */
    unsigned n_parameters;
} CudaGraphNode;

typedef struct CudaGraph {
    cudaGraph_t graph;
    cudaGraphExec_t exec;                /* NULL: none */
    CudaGraphNode nodes[CUDA_MAX_NODES]; /* those of cuda_graph_note() */
    unsigned n_nodes;
} CudaGraph;

/* From now on the graph takes the launches on the stream. Its earlier contents are dropped. */
CclStatus cuda_graph_begin(CudaGraph *graph, cudaStream_t stream);
/* The latest launch becomes a node whose arguments change. */
CclStatus cuda_graph_note(CudaGraph *graph, cudaStream_t stream, unsigned n_parameters);
/* Ends the capture and instantiates the graph; `status`: of the launches. */
CclStatus cuda_graph_end(CudaGraph *graph, cudaStream_t stream, CclStatus status);

/* Sets a node's grid, and argument i of its kernel; the others are as captured. */
CclStatus cuda_graph_set(const CudaGraph *graph, const CudaGraphNode *node, dim3 grid, unsigned i, void *argument);

void cuda_graph_drop(CudaGraph *graph);

#endif
