/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Volumes for the suite: stacks, expected results, comparison. */
#ifndef CHECKCCL_VOLUME_H
#define CHECKCCL_VOLUME_H

#include "checkccl.h"

/* An image of n_frames * height rows: frame t is the rows from t * height on. */
typedef struct Stack {
    Image image;
    uint32_t height, n_frames;
} Stack;

/* The result of labelling, actual or expected. */
typedef struct Result {
    uint32_t n_found;
    uint32_t n_rows;
    CclVolumeComponent *rows;
    uint32_t *labels; /* as the pixels of the stack */
} Result;

Stack stack_new(uint32_t width, uint32_t height, uint32_t n_frames);
size_t n_voxels(const Stack *stack);
uint8_t *voxel_at(const Stack *stack, uint32_t x, uint32_t y, uint32_t t);

/* n bytes of 0. Ends the program without memory. */
void *must_alloc(size_t n);

/* By union-find over the voxels. */
Result expected_result(const Stack *stack, bool all_26);
/* Whether they agree; else `why` says where not. */
bool same_result(const Stack *stack, const Result *expected, const Result *got, char why[400]);
void result_free(Result *result);

/* Runs the stack on every method for volumes and compares. rows: capacity of the table; 0: all components. */
void judge_stack(Session *session, const Stack *stack, const Layout *layout, uint32_t rows, const char *name);

/* Whether a method is left that has not failed. */
bool volumes_active(const Session *session);

#endif
