/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef CCL_CORE_AREA_ORDER_H
#define CCL_CORE_AREA_ORDER_H

#include "ccl.h"

/* CCL_ORDER_AREA: moves the largest `max` of n components to the front, largest first, equal areas by label. Works in place
 * and allocates nothing; qsort() would. */
void ccl_choose_largest(CclComponent *components, uint32_t n, uint32_t max);

#endif
