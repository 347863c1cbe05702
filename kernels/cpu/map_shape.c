/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "map_shape.h"

void ccl_map_join_shape(CclStrip *strip, const CclStrip *strip_above, bool eight)
{
    const CclRow *const above = strip_above->last, *const here = &strip->first;
    uint32_t first = 0;

    for (size_t k = 0; k < here->n; k++) {
        const uint16_t *const q = &here->x[2 * k];
        first = ccl_map_first_touching(above, first, q[0], 1);
        for (size_t j = first; j < above->n && above->x[2 * j] <= q[1]; j++) {
            const uint16_t *const p = &above->x[2 * j];
            if (strip_above->map->last[j] != strip->map->first[k])
                continue;
            if (p[0] < q[1] && q[0] < p[1])
                ccl_map_count_overlap(&strip->shape[here->label[k]], p, q);
            else
                ccl_map_count_corner(strip, here->label[k], above->label[j], eight);
        }
    }
}
