/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* A frame's launches as a CUDA graph of its slot: captured once, replayed for each later frame of the same shape. */
#include "context.cuh"

#include <string.h>

CclStatus cuda_last_node(cudaStream_t stream, cudaGraphNode_t *node)
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

static CclStatus note_node(CudaReplay *replay, cudaStream_t stream, unsigned n_parameters)
{
    if (replay->n_nodes == CUDA_MAX_STEPS)
        return ccl_fail(CCL_ERROR_DEVICE, "a frame has more than %d kernels", CUDA_MAX_STEPS);
    CudaReplayNode *const node = &replay->nodes[replay->n_nodes++];
    node->n_parameters = n_parameters;
    return cuda_last_node(stream, &node->node);
}

CclStatus cuda_launched(CudaFrame *frame, const char *name, unsigned n_with_vars, const char *file, int line)
{
    const cudaError_t error = cudaGetLastError();
    if (error != cudaSuccess)
        return cuda_fail(error, name, file, line);
    if (frame->capture && (n_with_vars || frame->capture->notes_all))
        CCL_TRY(note_node(frame->capture, frame->stream, n_with_vars));
    if (frame->timing && frame->n_steps < CUDA_MAX_STEPS) {
        frame->step_names[frame->n_steps++] = name;
        CCL_CUDA_TRY(cudaEventRecord(frame->step_events[frame->n_steps], frame->stream));
    }
    return CCL_OK;
}

static CudaLabelMode label_mode(const CclLabels *labels)
{
    if (!labels->data)
        return CUDA_LABELS_NONE;
    return labels->provisional ? CUDA_LABELS_PROVISIONAL : CUDA_LABELS_FINAL;
}

CudaShape cuda_shape_of(const CclContext *context, const CclFrame *frame, const CudaVars *vars, CudaMaskForm form)
{
    return CudaShape{ frame->mask.width, frame->mask.height, (uint32_t)label_mode(&frame->labels), vars->wide != NULL,
                      vars->keep_all, (uint32_t)form, (uint32_t)cuda_context(context)->density };
}

/* For frames alone, CUDA_MANY is the same as CUDA_SPARSE. */
static bool same_shape(const CudaShape *a, CudaShape b)
{
    if ((a->density == CUDA_DENSE) == (b.density == CUDA_DENSE))
        b.density = a->density;
    return !memcmp(a, &b, sizeof b);
}

/* Graphs of another generation use memory that has been freed. */
static unsigned generation_of(const CudaContext *cuda)
{
    /* Atomic: other contexts may join meanwhile. */
    return cuda->engine ? __atomic_load_n(&cuda->engine->generation, __ATOMIC_RELAXED) : 0;
}

bool cuda_has_graph(const CudaSlot *slot, CudaShape shape)
{
    const CudaReplay *const replay = &slot->replays[shape.form];
    return replay->exec && same_shape(&shape, replay->shape) && replay->generation == generation_of(cuda_context(slot->context));
}

void cuda_drop_replay(CudaReplay *replay)
{
    if (replay->exec)
        cudaGraphExecDestroy(replay->exec);
    if (replay->graph)
        cudaGraphDestroy(replay->graph);
    *replay = CudaReplay{};
}

CclStatus cuda_end_capture(CudaReplay *replay, cudaStream_t stream, CclStatus status)
{
    const cudaError_t end = cudaStreamEndCapture(stream, &replay->graph);
    if (end != cudaSuccess)
        (void)cudaGetLastError(); /* the launches without a graph must not fail because of it */
    CCL_TRY(status);
    CCL_CUDA_TRY_AS("cudaStreamEndCapture", end);
    for (unsigned i = 0; i < replay->n_nodes; i++)
        CCL_CUDA_TRY(cudaGraphKernelNodeGetParams(replay->nodes[i].node, &replay->nodes[i].params));
    if (replay->bits.node)
        CCL_CUDA_TRY(cudaGraphKernelNodeGetParams(replay->bits.node, &replay->bits.params));
    CCL_CUDA_TRY(cudaGraphInstantiate(&replay->exec, replay->graph, cudaGraphInstantiateFlagUseNodePriority));
    return CCL_OK;
}

static CclStatus capture_launches(CudaSlot *slot, CudaReplay *replay, const StageBuffers *stages)
{
    CCL_TRY(cuda_assemble_bits(slot, slot->frame.stream));
    if (slot->frame.shape.form == CUDA_BITS_ASSEMBLED)
        CCL_TRY(cuda_last_node(slot->frame.stream, &replay->bits.node));
    return cuda_launch_frame(slot->context, slot->ccl_frame, stages);
}

/* Captures the frame's launches. */
static CclStatus capture_frame(CudaSlot *slot, const StageBuffers *stages)
{
    CudaReplay *const replay = &slot->replays[slot->frame.shape.form];
    const cudaStream_t stream = slot->frame.stream;

    cuda_drop_replay(replay);
    CCL_CUDA_TRY(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    slot->frame.capture = replay;
    const CclStatus status = capture_launches(slot, replay, stages);
    slot->frame.capture = NULL;
    CCL_TRY(cuda_end_capture(replay, stream, status));
    replay->shape = slot->frame.shape;
    replay->generation = generation_of(cuda_context(slot->context));
    replay->vars = slot->frame.vars;
    return CCL_OK;
}

/* Sets a node's grid and the first of its kernel's arguments. */
static CclStatus set_node(cudaGraphExec_t exec, const CudaReplayNode *node, dim3 grid, void *first)
{
    void *arguments[CUDA_MAX_PARAMETERS] = { first };
    cudaKernelNodeParams params = node->params;
    for (unsigned i = 1; i < node->n_parameters; i++)
        arguments[i] = node->params.kernelParams[i];
    params.gridDim = grid;
    params.kernelParams = arguments;
    CCL_CUDA_TRY(cudaGraphExecKernelNodeSetParams(exec, node->node, &params));
    return CCL_OK;
}

static CclStatus set_nodes(CudaReplay *replay, void *first)
{
    for (unsigned i = 0; i < replay->n_nodes; i++)
        CCL_TRY(set_node(replay->exec, &replay->nodes[i], replay->nodes[i].params.gridDim, first));
    return CCL_OK;
}

CclStatus cuda_replay_frame(CudaSlot *slot)
{
    CudaReplay *const replay = &slot->replays[slot->frame.shape.form];
    CudaVars *const vars = &slot->frame.vars;
    if (slot->frame.shape.form == CUDA_BITS_AWAITED) {
        CudaAwaited awaited = { *vars, slot->bits.chunks };
        CCL_TRY(set_nodes(replay, &awaited));
    } else if (memcmp(&replay->vars, vars, sizeof *vars)) {
        CCL_TRY(set_nodes(replay, vars));
        memcpy(&replay->vars, vars, sizeof *vars);
    }
    if (replay->bits.node)
        CCL_TRY(set_node(replay->exec, &replay->bits, mask_to_bits_grid(&slot->bits), &slot->bits));
    CCL_CUDA_TRY(cudaGraphLaunch(replay->exec, slot->frame.stream));
    return CCL_OK;
}

bool cuda_wants_replay(CudaSlot *slot, const StageBuffers *stages)
{
    CudaContext *const cuda = cuda_context(slot->context);
    CudaShape *const last = &slot->last_shapes[slot->frame.shape.form];
    const bool repeated = same_shape(&slot->frame.shape, *last);

    *last = slot->frame.shape;
    if (slot->frame.timing || cuda->no_graphs || !repeated || slot->context->algorithm->iterative ||
        (cuda->engine && cuda_engine_is_crowded(cuda->engine)))
        return false;
    if (!cuda_has_graph(slot, slot->frame.shape) && capture_frame(slot, stages) != CCL_OK)
        cuda->no_graphs = true;
    return !cuda->no_graphs;
}
