/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "table.h"

static void merge_sums(CclSums *to, const CclSums *from)
{
    to->n += from->n;
    to->x += from->x;
    to->y += from->y;
    to->xx += from->xx;
    to->xy += from->xy;
    to->yy += from->yy;
    to->not_x0 = to->not_x0 > from->not_x0 ? to->not_x0 : from->not_x0;
    to->x1 = to->x1 > from->x1 ? to->x1 : from->x1;
    to->y1 = to->y1 > from->y1 ? to->y1 : from->y1;
}

uint32_t ccl_flatten(uint32_t *parent, CclSums *sums, const CclLabelRange *ranges, unsigned n_ranges)
{
    uint32_t n_roots = 0;
    for (unsigned r = 0; r < n_ranges; r++)
        for (uint32_t i = ranges[r].first; i < ranges[r].end; i++) {
            if (parent[i] == i) {
                n_roots++;
                continue;
            }
            /* A smaller label is flat already. */
            parent[i] = parent[parent[i]];
            if (sums)
                merge_sums(&sums[parent[i]], &sums[i]);
        }
    return n_roots;
}

static CclComponent component_from_sums(const CclSums *s, uint32_t label, uint16_t flags)
{
    return (CclComponent){
        .moments = { .area = s->n, .m10 = s->x, .m01 = s->y, .m20 = s->xx, .m11 = s->xy, .m02 = s->yy },
        .label = label,
        .x0 = (uint16_t)~s->not_x0, .y0 = s->y0, .x1 = s->x1, .y1 = s->y1,
        .first_x = (uint16_t)s->first_x,
        .flags = flags,
    };
}

/* The root's final label: 0 when the filter drops it. */
static uint32_t finish_component(CclFrame *frame, uint32_t capacity, const CclSums *s)
{
    const uint32_t x0 = (uint16_t)~s->not_x0;
    const uint16_t touches = ccl_border_flags(x0, s->y0, s->x1, s->y1, frame->mask.width, frame->mask.height);
    if (!ccl_keeps(&frame->limits, s->n, s->x1 - x0, (uint32_t)(s->y1 - s->y0), touches))
        return 0;
    const uint32_t label = ++frame->table.n_kept;
    if (label <= capacity)
        frame->rows[label - 1] =
            component_from_sums(s, label, frame->limits.border == CCL_BORDER_KEEP ? 0 : touches);
    return label;
}

void ccl_table_from_sums(CclFrame *frame, uint32_t capacity, uint32_t *parent, const CclSums *sums,
                         const CclLabelRange *ranges, unsigned n_ranges, bool want_final)
{
    for (unsigned r = 0; r < n_ranges; r++)
        for (uint32_t i = ranges[r].first; i < ranges[r].end; i++) {
            const bool is_root = parent[i] == i;
            if (is_root) {
                const uint32_t label = finish_component(frame, capacity, &sums[i]);
                if (want_final)
                    parent[i] = label;
            } else if (want_final) {
                parent[i] = parent[parent[i]];
            }
        }
}
