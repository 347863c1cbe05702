/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Label maps (CCL_FOREGROUND_EQUAL) on CUDA: labels by union-find on pixels, and class ids. Everything between is as for masks:
 * number, features, table, relabel. */
#ifndef CCL_CUDA_MAP_CUH
#define CCL_CUDA_MAP_CUH

#include "backend.cuh"

static inline bool cuda_takes_maps(const CclContext *context)
{
    return context->config.foreground == CCL_FOREGROUND_EQUAL;
}

/* CclAlgorithm.label, of maps: first-pixel roots, in a workspace that is a parent image (propagate.cuh). */
CclStatus cuda_map_label(CclContext *context, CclFrame *frame);

/* After `table`: writes the class ids of the records. */
CclStatus cuda_map_class_ids(const CclContext *context, CudaFrame *frame);

#endif
