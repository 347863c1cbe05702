/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * Linear assignment: the cheapest way to give each row at most one column, where only some pairs are possible. The method is
 * shortest augmenting paths, each found by Dijkstra's method with a heap. See Jonker & Volgenant, "A Shortest Augmenting Path
 * Algorithm for Dense and Sparse Linear Assignment Problems", Computing 1987.
 *
 *     pairs  (0,0) 1.0   (0,1) 1.5   (1,0) 1.2      alone 2.0
 *     column_of  { 1, 0 }: 1.5 + 1.2 = 2.7, where the greedy 1.0 + 2.0 = 3.0
 */
#ifndef CCL_ASSIGN_H
#define CCL_ASSIGN_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define CCL_ASSIGN_ALONE UINT32_MAX

typedef struct CclPair {
    uint32_t row, column;
    double cost; /* finite, 0 or more */
} CclPair;

typedef struct CclAssignment {
    const CclPair *pairs; /* sorted by row */
    uint32_t n_pairs, n_rows, n_columns;
    double alone; /* cost of a row that gets no column */
} CclAssignment;

/* Bytes of workspace that ccl_assign() needs, aligned as malloc() aligns. */
size_t ccl_assign_workspace(uint32_t n_rows, uint32_t n_columns, uint32_t n_pairs);

/*
 * column_of[row] receives the column, or CCL_ASSIGN_ALONE.
 *
 * The result is optimal up to a limit of steps, which grows with n_pairs. Only crowds reach it, in which nearly all pairs have
 * the same cost. Then each remaining row takes the best free column. So the time is O(n_pairs log n_pairs) in all cases.
 */
void ccl_assign(const CclAssignment *assignment, uint32_t *column_of, void *workspace);

#ifdef __cplusplus
}
#endif

#endif
