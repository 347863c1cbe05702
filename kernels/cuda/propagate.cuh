/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * First and last step of methods whose nodes are pixels.
 *
 * A parent image has one word per pixel, `width` words from row to row: a node is a pixel's linear index y * width + x, a root
 * is its own parent, and NO_PARENT marks background. It is usually the method's workspace (parents_size() bytes). Methods that
 * only read labels of neighbours, and never follow them, need no parents: they work in the label image.
 */
#ifndef CCL_CUDA_PROPAGATE_CUH
#define CCL_CUDA_PROPAGATE_CUH

#include "backend.cuh"

static const uint32_t NO_PARENT = UINT32_MAX;

/* CclAlgorithm.workspace_size of a method that needs a parent image and nothing else. */
size_t parents_size(const CclContext *context);

/* Step "init": each foreground pixel its own parent, NO_PARENT for the others. */
CclStatus init_parents(CudaFrame *frame, uint32_t *parents);

/* Step "init": 1 + linear index for foreground pixels, 0 for the others, in the label image. */
CclStatus init_labels(CudaFrame *frame);

/* Step "propagate": each pixel finds its root and takes 1 + root as its label, background 0. Chains may have any length; the
 * step shortens them. */
CclStatus propagate_from_parents(CudaFrame *frame, uint32_t *parents);

/* The same, for methods where pixels of a row mostly have the same parent, and rows have different ones. */
CclStatus propagate_rows_from_parents(CudaFrame *frame, uint32_t *parents);

/* The same with a thread for each pixel, for methods where neighbours mostly have different parents. */
CclStatus propagate_each_from_parents(CudaFrame *frame, uint32_t *parents);

/* CclAlgorithm.label of a method for both connectivities whose workspace is a parent image. */
template <CclStatus FOUR(CudaFrame *, uint32_t *), CclStatus EIGHT(CudaFrame *, uint32_t *)>
static CclStatus label_with_parents(CclContext *context, CclFrame *frame)
{
    CudaFrame *const cuda = cuda_frame(frame);
    uint32_t *const parents = (uint32_t *)cuda->workspace;
    return context->config.connectivity == CCL_CONNECT_8 ? EIGHT(cuda, parents) : FOUR(cuda, parents);
}

#endif
