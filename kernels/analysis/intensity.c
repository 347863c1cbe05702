/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Measures derived from the sums of luma and chroma. */
#include "ccl.h"

#include <math.h>

__extension__ typedef __int128 Wide;
__extension__ typedef unsigned __int128 WideSum;

static Wide wide(const uint64_t words[2])
{
    return (Wide)((WideSum)words[1] << 64 | words[0]);
}

/* The numerators are exact: below 2^117. */
static void weigh(const CclIntensityCounts *c, CclIntensityMeasures *m)
{
    const double n = (double)c->sum, n2 = n * n;
    const Wide sum = (Wide)c->sum, x = (Wide)c->x, y = (Wide)c->y;
    const uint64_t cx = c->x / c->sum, cy = c->y / c->sum;

    m->x = (double)cx + (double)(c->x - cx * c->sum) / n;
    m->y = (double)cy + (double)(c->y - cy * c->sum) / n;
    m->xx = (double)(sum * wide(c->xx) - x * x) / n2;
    m->xy = (double)(sum * wide(c->xy) - x * y) / n2;
    m->yy = (double)(sum * wide(c->yy) - y * y) / n2;
}

void ccl_intensity_measures(const CclIntensityCounts *c, uint64_t area, CclIntensityMeasures *m)
{
    const double n = (double)area;

    m->min = c->min;
    m->max = c->max;
    m->sum = (double)c->sum;
    m->mean = (double)c->sum / n;
    m->std = sqrt(fmax((double)((Wide)area * c->squares - (Wide)c->sum * c->sum), 0)) / n; /* never below 0 of a real picture */
    m->cb = c->has_chroma ? (double)c->chroma[0] / n : NAN;
    m->cr = c->has_chroma ? (double)c->chroma[1] / n : NAN;
    m->x = m->y = m->xx = m->xy = m->yy = NAN;
    if (c->sum)
        weigh(c, m);
}
