/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Data shared by the CPU methods. */
#ifndef CCL_CPU_CONTEXT_H
#define CCL_CPU_CONTEXT_H

#include "backend.h"
#include "pixels.h"

#define MAX_BLOCKS 256u

typedef struct CpuBlock {
    void *memory;
    size_t size;
} CpuBlock;

/* CclContext.impl of a CPU context. */
typedef struct CpuContext {
    void *workspace;            /* algorithm->workspace_size() bytes */
    void *method;               /* for the method's use */
    CpuBlock block[MAX_BLOCKS]; /* all memory of the context */
    unsigned n_blocks;
    uint8_t *small; /* rest of the block that small arrays share */
    size_t small_left;
} CpuContext;

/* Memory that lives as long as the context: aligned to 64, zero, and no more than address space until it is written. So a
 * method can reserve what the worst mask of the largest size needs. */
CclStatus ccl_cpu_memory(CclContext *context, size_t size, void **memory);

/* Rows for the holes of a frame: a mask has fewer than half of its pixels. In a label map each pixel may be the first of one
 * hole, of the component on its left. */
CclStatus ccl_cpu_hole_rows(CclContext *context, CclFrame *frame);

static inline void *cpu_workspace(const CclContext *context)
{
    return ((const CpuContext *)context->impl)->workspace;
}

static inline void *cpu_method(const CclContext *context)
{
    return ((const CpuContext *)context->impl)->method;
}

static inline void cpu_set_method(CclContext *context, void *method)
{
    ((CpuContext *)context->impl)->method = method;
}

#endif
