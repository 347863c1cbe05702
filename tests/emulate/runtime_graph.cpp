/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* The runtime API: launches, capture and graphs. */
#include "runtime.h"

#include <climits>
#include <cstdlib>
#include <cstring>
#include <map>

using namespace emulate;

/* ---------------------------------------------------------------- kernels */

/* Set by cudaFuncSetAttribute(). */
struct Allowed {
    size_t shared = SHARED_USUAL;
    unsigned cluster = 8;
};
static std::map<const void *, Allowed> allowed;

static void set_sizes(Launch *launch, dim3 grid, dim3 block, size_t shared)
{
    const dim3 sizes[] = { grid, block };
    unsigned *const to[] = { launch->grid, launch->block };
    for (unsigned i = 0; i < 2; i++) {
        to[i][0] = sizes[i].x;
        to[i][1] = sizes[i].y;
        to[i][2] = sizes[i].z;
    }
    launch->shared = shared;
}

/* The error of a launch with these sizes. */
static cudaError_t refusal(const Launch &launch)
{
    const Allowed max = allowed[launch.kernel];
    const unsigned cluster = launch.cluster[0];
    if (!cluster || cluster > max.cluster || launch.cluster[1] != 1 || launch.cluster[2] != 1)
        return cudaErrorInvalidClusterSize;
    const uint64_t threads = (uint64_t)launch.block[0] * launch.block[1] * launch.block[2];
    bool right = threads >= 1 && threads <= 1024 && launch.block[2] <= 64 && launch.shared <= max.shared;
    right = right && launch.grid[0] <= INT32_MAX && launch.grid[1] <= 65535 && launch.grid[2] <= 65535;
    right = right && launch.grid[0] && launch.grid[1] && launch.grid[2] && launch.grid[0] % cluster == 0;
    return right ? cudaSuccess : cudaErrorInvalidConfiguration;
}

static std::shared_ptr<void> memory_for_arguments(const Call &call)
{
    constexpr size_t alignment = 64; /* at least that of any argument */
    const size_t size = (call.arguments_size + alignment - 1) / alignment * alignment;
    return std::shared_ptr<void>(aligned_alloc(alignment, size), free);
}

/* ---------------------------------------------------------------- graphs */

static Operation operation_of(const std::shared_ptr<const Launch> &launch)
{
    return { [launch] {
                if (!run(*launch))
                    pending[launch->device] = cudaErrorLaunchFailure;
            },
             nullptr, 0, nullptr, launch };
}

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode mode)
{
    ENTER("cudaStreamBeginCapture");
    if (!stream || !exists(stream) || stream->capturing)
        return fail(cudaErrorInvalidValue);
    stream->capturing = true;
    stream->mode = mode;
    stream->captured_by = std::this_thread::get_id();
    stream->invalidated = false;
    stream->captured.clear();
    return cudaSuccess;
}

cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t *graph)
{
    const std::lock_guard<std::recursive_mutex> guard(lock);
    const cudaError_t planted = enter("cudaStreamEndCapture");
    *graph = nullptr;
    if (!stream || !exists(stream) || !stream->capturing)
        return fail(cudaErrorInvalidValue);
    stream->capturing = false;
    if (planted != cudaSuccess || stream->invalidated)
        return fail(planted != cudaSuccess ? planted : cudaErrorStreamCaptureInvalidated);
    *graph = new CUgraph_st{ std::move(stream->captured) };
    stream->captured.clear();
    graphs.insert(*graph);
    return cudaSuccess;
}

cudaError_t cudaStreamIsCapturing(cudaStream_t stream, cudaStreamCaptureStatus *status)
{
    ENTER("cudaStreamIsCapturing");
    const CUstream_st *const s = stream_of(stream);
    *status = !s->capturing     ? cudaStreamCaptureStatusNone
              : s->invalidated ? cudaStreamCaptureStatusInvalidated
                               : cudaStreamCaptureStatusActive;
    return cudaSuccess;
}

cudaError_t cudaStreamGetCaptureInfo(cudaStream_t stream, cudaStreamCaptureStatus *status, unsigned long long *,
                                     cudaGraph_t *, const cudaGraphNode_t **nodes, const cudaGraphEdgeData **, size_t *n)
{
    ENTER("cudaStreamGetCaptureInfo");
    if (const cudaError_t error = cudaStreamIsCapturing(stream, status))
        return error;
    *n = 0;
    if (*status != cudaStreamCaptureStatusActive || stream->captured.empty())
        return cudaSuccess;
    stream->last_captured = stream->captured.back().node.get();
    *nodes = &stream->last_captured;
    *n = 1;
    return cudaSuccess;
}

cudaError_t cudaGraphInstantiate(cudaGraphExec_t *exec, cudaGraph_t graph, unsigned long long)
{
    ENTER("cudaGraphInstantiate");
    if (!graphs.count(graph))
        return fail(cudaErrorInvalidValue);
    *exec = new CUgraphExec_st{ graph->operations };
    execs.insert(*exec);
    return cudaSuccess;
}

cudaError_t cudaGraphLaunch(cudaGraphExec_t exec, cudaStream_t stream)
{
    ENTER_ON("cudaGraphLaunch", device_of(stream));
    if (!execs.count(exec))
        return fail(cudaErrorInvalidValue);
    for (const Operation &operation : exec->operations)
        if (const cudaError_t error = enqueue(stream, operation))
            return error;
    return cudaSuccess;
}

/* The kernel of a node. */
static Operation *kernel_of(std::vector<Operation> &operations, cudaGraphNode_t node)
{
    for (Operation &operation : operations)
        if (operation.node.get() == node && operation.launch)
            return &operation;
    return nullptr;
}

cudaError_t cudaGraphKernelNodeGetParams(cudaGraphNode_t node, cudaKernelNodeParams *params)
{
    ENTER("cudaGraphKernelNodeGetParams");
    const Operation *kernel = nullptr;
    for (const void *graph : graphs)
        if (!kernel)
            kernel = kernel_of(((cudaGraph_t)graph)->operations, node);
    if (!kernel)
        return fail(cudaErrorInvalidValue);
    const Launch &launch = *kernel->launch;
    node->addresses.resize(launch.n_arguments);
    launch.get_addresses(launch.arguments.get(), node->addresses.data());
    *params = { (void *)launch.kernel, dim3(launch.grid[0], launch.grid[1], launch.grid[2]),
                dim3(launch.block[0], launch.block[1], launch.block[2]), (unsigned)launch.shared,
                node->addresses.data(), nullptr };
    return cudaSuccess;
}

cudaError_t cudaGraphExecKernelNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                             const cudaKernelNodeParams *params)
{
    ENTER("cudaGraphExecKernelNodeSetParams");
    Operation *const kernel = execs.count(exec) ? kernel_of(exec->operations, node) : nullptr;
    if (!kernel || params->func != kernel->launch->kernel)
        return fail(cudaErrorInvalidValue);
    Launch launch = *kernel->launch;
    set_sizes(&launch, params->gridDim, params->blockDim, params->sharedMemBytes);
    if (const cudaError_t error = refusal(launch))
        return fail(error);
    launch.arguments = memory_for_arguments(launch);
    launch.set_arguments(launch.arguments.get(), params->kernelParams);
    const auto same_node = kernel->node;
    *kernel = operation_of(std::make_shared<const Launch>(std::move(launch)));
    kernel->node = same_node;
    return cudaSuccess;
}

cudaError_t cudaGraphDestroy(cudaGraph_t graph)
{
    const std::lock_guard<std::recursive_mutex> guard(lock);
    const cudaError_t planted = enter("cudaGraphDestroy");
    if (!graphs.erase(graph))
        return fail(cudaErrorInvalidValue);
    delete graph;
    return fail(planted);
}

cudaError_t cudaGraphExecDestroy(cudaGraphExec_t exec)
{
    const std::lock_guard<std::recursive_mutex> guard(lock);
    const cudaError_t planted = enter("cudaGraphExecDestroy");
    if (!execs.erase(exec))
        return fail(cudaErrorInvalidValue);
    delete exec;
    return fail(planted);
}

/* ---------------------------------------------------------------- launches */

namespace emulate {

cudaError_t launch(const Call &call, const void *arguments, cudaStream_t stream)
{
    ENTER_ON("launch", device_of(stream));
    if (device_of(stream) != current_device)
        return fail(cudaErrorInvalidResourceHandle);
    Launch launch = { call, memory_for_arguments(call), current_device };
    if (const cudaError_t error = refusal(launch))
        return fail(error);
    memcpy(launch.arguments.get(), arguments, call.arguments_size);
    return enqueue(stream, operation_of(std::make_shared<const Launch>(std::move(launch))));
}

cudaError_t function_attributes(cudaFuncAttributes *attributes)
{
    ENTER("cudaFuncGetAttributes");
    *attributes = { 0, 1024, 32, 90, 90 };
    return cudaSuccess;
}

cudaError_t function_attribute(const void *function, cudaFuncAttribute attribute, int value)
{
    ENTER("cudaFuncSetAttribute");
    const bool shared = attribute == cudaFuncAttributeMaxDynamicSharedMemorySize;
    if (value < 0 || value > (shared ? (int)SHARED_MAX : 1))
        return fail(cudaErrorInvalidValue);
    if (shared)
        allowed[function].shared = (size_t)value;
    else if (attribute == cudaFuncAttributeNonPortableClusterSizeAllowed)
        allowed[function].cluster = value ? 16 : 8;
    else
        return fail(cudaErrorNotSupported);
    return cudaSuccess;
}

cudaError_t occupancy(int *blocks)
{
    ENTER("cudaOccupancyMaxActiveBlocksPerMultiprocessor");
    *blocks = 2;
    return cudaSuccess;
}

cudaError_t cluster_occupancy(int *n, const void *kernel, const cudaLaunchConfig_t *config)
{
    ENTER("cudaOccupancyMaxActiveClusters");
    const dim3 cluster = cluster_of(*config);
    Launch launch = {};
    launch.kernel = kernel;
    set_sizes(&launch, config->gridDim, config->blockDim, config->dynamicSmemBytes);
    launch.cluster[0] = cluster.x;
    launch.cluster[1] = cluster.y;
    launch.cluster[2] = cluster.z;
    if (const cudaError_t error = refusal(launch))
        return fail(error);
    *n = 2;
    return cudaSuccess;
}

} // namespace emulate
