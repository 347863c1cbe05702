/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* The graphs of a slot: which frame has one, and its launch. */
#include "context.cuh"

#include <string.h>

static CudaLabelMode label_mode(const CclLabels *labels)
{
    if (!labels->data)
        return CUDA_LABELS_NONE;
    return labels->provisional ? CUDA_LABELS_PROVISIONAL : CUDA_LABELS_FINAL;
}

CudaShape cuda_shape_of(const CclContext *context, const CclFrame *frame, const CudaVars *vars, CudaMaskForm form)
{
    return CudaShape{ frame->mask.width, frame->mask.height, (uint32_t)label_mode(&frame->labels),    vars->wide != NULL,
                      vars->keep_all,    (uint32_t)form,     (uint32_t)cuda_context(context)->density };
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
    return cuda->engine ? __atomic_load_n(&cuda->engine->generation, __ATOMIC_RELAXED) : cuda->generation;
}

bool cuda_has_graph(const CudaSlot *slot, CudaShape shape)
{
    const CudaReplay *const replay = &slot->replays[shape.form];
    return replay->graph.exec && same_shape(&shape, replay->shape) &&
           replay->generation == generation_of(cuda_context(slot->context));
}

bool cuda_wants_replay(CudaSlot *slot)
{
    const CudaContext *const cuda = cuda_context(slot->context);
    CudaShape *const last = &slot->last_shapes[slot->frame.shape.form];
    const bool repeated = same_shape(&slot->frame.shape, *last);

    *last = slot->frame.shape;
    return !slot->frame.timing && !cuda->no_graphs && repeated && !slot->context->algorithm->iterative &&
           !(cuda->engine && cuda_engine_has_many_contexts(cuda->engine));
}

CclStatus cuda_begin_replay(CudaSlot *slot)
{
    return cuda_graph_begin(&slot->replays[slot->frame.shape.form].graph, slot->frame.stream);
}

CclStatus cuda_end_replay(CudaSlot *slot, CclStatus status)
{
    CudaReplay *const replay = &slot->replays[slot->frame.shape.form];
    CCL_TRY(cuda_graph_end(&replay->graph, slot->frame.stream, status));
    replay->shape = slot->frame.shape;
    replay->generation = generation_of(cuda_context(slot->context));
    replay->vars = slot->frame.vars;
    return CCL_OK;
}

/* The nodes of kernels whose first argument is CudaVars or CudaAwaited come after that of mask_to_bits(), if there is one. */
static CclStatus set_vars(const CudaReplay *replay, void *vars)
{
    const CudaGraph *const graph = &replay->graph;
    for (unsigned i = replay->shape.form == CUDA_BITS_ASSEMBLED; i < graph->n_nodes; i++)
        CCL_TRY(cuda_graph_set(graph, &graph->nodes[i], graph->nodes[i].params.gridDim, 0, vars));
    return CCL_OK;
}

CclStatus cuda_replay_frame(CudaSlot *slot)
{
    CudaReplay *const replay = &slot->replays[slot->frame.shape.form];
    const CudaGraph *const graph = &replay->graph;
    CudaVars *const vars = &slot->frame.vars;
    if (slot->frame.shape.form == CUDA_BITS_AWAITED) {
        CudaAwaited awaited = { *vars, slot->bits.chunks };
        CCL_TRY(set_vars(replay, &awaited));
    } else if (memcmp(&replay->vars, vars, sizeof *vars)) {
        CCL_TRY(set_vars(replay, vars));
        memcpy(&replay->vars, vars, sizeof *vars);
    }
    if (slot->frame.shape.form == CUDA_BITS_ASSEMBLED)
        CCL_TRY(cuda_graph_set(graph, &graph->nodes[0], mask_to_bits_grid(&slot->bits), 0, &slot->bits));
    CCL_CUDA_TRY(cudaGraphLaunch(graph->exec, slot->frame.stream));
    return CCL_OK;
}
