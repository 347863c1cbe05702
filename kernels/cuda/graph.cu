/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Launches as a CUDA graph; see graph.cuh. */
#include "graph.cuh"

CclStatus cuda_graph_begin(CudaGraph *graph, cudaStream_t stream)
{
    cuda_graph_drop(graph);
    CCL_CUDA_TRY(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    return CCL_OK;
}

/* The node of the latest launch on a captured stream: the next launch depends on it. */
static CclStatus last_node(cudaStream_t stream, cudaGraphNode_t *node)
{
    cudaStreamCaptureStatus status;
    const cudaGraphNode_t *nodes = NULL;
    size_t n = 0;
#if CUDART_VERSION >= 13000
    CCL_CUDA_TRY(cudaStreamGetCaptureInfo(stream, &status, NULL, NULL, &nodes, NULL, &n));
#else
    CCL_CUDA_TRY(cudaStreamGetCaptureInfo(stream, &status, NULL, NULL, &nodes, &n));
#endif
    if (status != cudaStreamCaptureStatusActive || n != 1)
        return ccl_fail(CCL_ERROR_DEVICE, "a stream is not captured as one chain of kernels");
    *node = nodes[0];
    return CCL_OK;
}

CclStatus cuda_graph_note(CudaGraph *graph, cudaStream_t stream, unsigned n_parameters)
{
    if (graph->n_nodes == CUDA_MAX_NODES)
        return ccl_fail(CCL_ERROR_DEVICE, "a graph has more than %d kernels", CUDA_MAX_NODES);
    CudaGraphNode *const node = &graph->nodes[graph->n_nodes++];
    node->n_parameters = n_parameters;
    return last_node(stream, &node->node);
}

CclStatus cuda_graph_end(CudaGraph *graph, cudaStream_t stream, CclStatus status)
{
    const cudaError_t end = cudaStreamEndCapture(stream, &graph->graph);
    if (end != cudaSuccess)
        (void)cudaGetLastError(); /* the launches without a graph must not fail because of it */
    CCL_TRY(status);
    CCL_CUDA_TRY_AS("cudaStreamEndCapture", end);
    for (unsigned i = 0; i < graph->n_nodes; i++)
        CCL_CUDA_TRY(cudaGraphKernelNodeGetParams(graph->nodes[i].node, &graph->nodes[i].params));
    CCL_CUDA_TRY(cudaGraphInstantiate(&graph->exec, graph->graph, cudaGraphInstantiateFlagUseNodePriority));
    return CCL_OK;
}

CclStatus cuda_graph_set(const CudaGraph *graph, const CudaGraphNode *node, dim3 grid, unsigned i, void *argument)
{
    void *arguments[CUDA_MAX_PARAMETERS];
    cudaKernelNodeParams params = node->params;
    for (unsigned k = 0; k < node->n_parameters; k++)
        arguments[k] = k == i ? argument : node->params.kernelParams[k];
    params.gridDim = grid;
    params.kernelParams = arguments;
    CCL_CUDA_TRY(cudaGraphExecKernelNodeSetParams(graph->exec, node->node, &params));
    return CCL_OK;
}

void cuda_graph_drop(CudaGraph *graph)
{
    if (graph->exec)
        cudaGraphExecDestroy(graph->exec);
    if (graph->graph)
        cudaGraphDestroy(graph->graph);
    *graph = CudaGraph{};
}
