/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Runs of one row that touch runs of another. */
#ifndef CCL_CPU_JOIN_H
#define CCL_CPU_JOIN_H

#include "row.h"
#include "union_find.h"

/* Runs of `here` that touch one of `before` are united with it; one without a label (0) takes its label. Two pointers
 * walk the rows; with `reach` 1 runs touch across a corner too. */
static inline void join_rows(uint32_t *parent, const CclRow *before, const CclRow *here, uint32_t reach)
{
    uint32_t a = 0, b = 0;
    while (a < before->n && b < here->n) {
        const uint16_t *const p = &before->x[2 * a], *const q = &here->x[2 * b];
        if (p[0] < q[1] + reach && q[0] < p[1] + reach) {
            if (here->label[b])
                unite(parent, before->label[a], here->label[b]);
            else
                here->label[b] = before->label[a];
        }
        if (p[1] < q[1])
            a++;
        else
            b++;
    }
}

#endif
