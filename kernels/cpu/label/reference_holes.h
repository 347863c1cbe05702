/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* The holes of the reference method: flood fills of the background, pixel by pixel. */
#ifndef CCL_CPU_REFERENCE_HOLES_H
#define CCL_CPU_REFERENCE_HOLES_H

#include "backend.h"

/* Scratch for the largest mask. */
typedef struct CclReferenceHoles {
    bool eight;          /* of the background */
    uint32_t *component; /* by pixel: the number of its component, 0 in the background */
    uint32_t *label;     /* by the number of a component: its label, or 0 when it is left out */
    uint32_t *queue;     /* (width + 2) * (height + 2) of these */
    uint8_t *mark;
} CclReferenceHoles;

size_t ccl_reference_holes_size(const CclConfig *config);
/* In memory of that size, all 0. */
CclReferenceHoles ccl_reference_holes_new(const CclConfig *config, void *memory);

/* Counts the holes of one component alone, with the pixels of its box that its number has in `component`. */
CclHoleCounts ccl_reference_count_holes(const CclReferenceHoles *holes, const CclComponent *c, uint32_t number, uint32_t width);

/* Writes the rows of all holes, when all components are found. */
void ccl_reference_write_holes(const CclReferenceHoles *holes, CclFrame *frame, uint32_t capacity);

#endif
