/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* The order of the records of a table, see CclOrder. */
#ifndef CCL_CORE_ORDER_H
#define CCL_CORE_ORDER_H

#include "backend.h"

/* Allocates CclContext.order, unless the order is CCL_ORDER_RASTER. */
CclStatus ccl_order_open(CclContext *context);
void ccl_order_close(CclContext *context);

/* Moves the first `max_components` of the frame's records, in the context's order, to the front. They are in raster order
 * before. Allocates nothing; qsort() would. */
void ccl_order_rows(const CclContext *context, CclFrame *frame);

#endif
