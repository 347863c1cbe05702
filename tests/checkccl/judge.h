/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* What the files behind judge() share. */
#ifndef CHECKCCL_JUDGE_H
#define CHECKCCL_JUDGE_H

#include "checkccl.h"

/* Pixels of the largest image whose contexts and reference results are kept for the next case. */
enum { MAX_KEPT = 1 << 26 };

/* Memory of at least `wanted` bytes: `memory`, or a larger block. Ends the program when there is none. */
void *grow(void *memory, size_t *size, size_t wanted);
/* Copies a table into an outcome. */
void keep_table(Outcome *outcome, const CclTable *table);
uint32_t at_least(uint32_t a, uint32_t b);

/* expected.c: expected_outcome() into an outcome that has memory already. */
void expect(const Case *c, CclConnectivity connectivity, Outcome *outcome);

/* actual.c: runs n cases, all in flight together. rows: number of components that the tables must hold. */
void run_method(Subject *subject, const Case *cases, unsigned n, uint32_t rows, Outcome *outcomes);
uint32_t rows_needed(const Outcome *expected);

/* compare.c: the pixel where the last comparison of this thread found a difference. */
void last_difference(uint32_t *x, uint32_t *y);

/* report.c: prints a failed case, shrunk. n: number of frames that were in flight. */
void report(Session *session, Subject *subject, const Case *failed, unsigned n, const char *first_why);

#endif
