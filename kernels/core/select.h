/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* CclFilter.selection where the backend does not apply it. */
#ifndef CCL_CORE_SELECT_H
#define CCL_CORE_SELECT_H

#include "backend.h"

/* Allocates CclContext.renamed, if the context needs it. */
CclStatus ccl_select_open(CclContext *context);
void ccl_select_close(CclContext *context);

/* Checks a submission with a selection. */
CclStatus ccl_select_check(const CclContext *context, const CclFilter *filter, const CclLabels *labels);

/* Leaves the selected components in the collected frame: its records, counts and labels. */
void ccl_select_rows(const CclContext *context, CclFrame *frame);

#endif
