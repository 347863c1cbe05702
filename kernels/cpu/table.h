/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Provisional labels and their sums -> the table of components. */
#ifndef CCL_CPU_TABLE_H
#define CCL_CPU_TABLE_H

#include "tier.h"

/* All provisional labels of a frame: arrays with an entry for each. */
typedef struct CclLabelling {
    uint32_t *parent;
    CclComponent *sums; /* may be the frame's rows: see ccl_table_from_sums() */
    uint32_t *root;     /* roots, ascending: only n_roots entries */
    uint32_t *final;    /* of roots only: the component's label, 0 when it is dropped */
    uint32_t n_roots;
} CclLabelling;

/* Points the labels first..end-1 at their roots and lists the roots; with `measured` every root gets the sums of its
 * labels. Callers go through the ranges of labels in ascending order, with n_roots 0 before the first. */
void ccl_flatten(CclLabelling *labels, uint32_t first, uint32_t end, bool measured);

/* Numbers the roots that the filter keeps and writes their records, up to `capacity`. frame->records may be labels->sums:
 * record k comes from the sums of label k or a greater one. With a selection that needs them, frame->shape,
 * frame->holes and frame->intensity have the counts of roots by their labels, frame->hull by their order. */
void ccl_table_from_sums(CclFrame *frame, uint32_t capacity, const CclLabelling *labels);

/* The class ids of the records of a label map, which ccl_table_from_sums() has written. */
void ccl_class_ids_from_mask(CclFrame *frame, uint32_t capacity);

/* Replaces each flattened parent in first..end-1 by the component's label. */
void ccl_final_labels(const CclLabelling *labels, uint32_t first, uint32_t end);

#endif
