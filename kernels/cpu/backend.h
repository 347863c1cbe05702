/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* What the CPU methods share. */
#ifndef CCL_CPU_BACKEND_H
#define CCL_CPU_BACKEND_H

#include "../backend.h"

/* CclContext.impl of a CPU context. */
typedef struct CpuContext {
    void *workspace; /* algorithm->workspace_size() bytes, aligned to 64, not cleared */
} CpuContext;

static inline void *cpu_workspace(const CclContext *context)
{
    return ((const CpuContext *)context->impl)->workspace;
}

static inline const uint8_t *mask_row(const CclMask *mask, uint32_t y)
{
    return (const uint8_t *)mask->data + (size_t)y * mask->stride;
}

static inline uint32_t *labels_row(const CclLabels *labels, uint32_t y)
{
    return (uint32_t *)((uint8_t *)labels->data + (size_t)y * labels->stride);
}

#endif
