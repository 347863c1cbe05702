/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Finds a smaller image for which a case still fails. */
#include "judge.h"

#include <string.h>

static bool case_fails(Subject *subject, const Case *c, char why[400])
{
    static Outcome expected, got;
    expect(c, subject->config.connectivity, &expected);
    for (unsigned attempt = 0; attempt < 3; attempt++) { /* a race shows only now and then */
        run_method(subject, c, 1, rows_needed(&expected), &got);
        if (!same_outcome(c, &expected, &got, why))
            return true;
    }
    return false;
}

static Image without_rows(const Image *image, uint32_t y, uint32_t n)
{
    Image out = image_new(image->width, image->height - n);
    memcpy(out.pixels, image->pixels, (size_t)y * image->width);
    memcpy(image_at(&out, 0, 0) + (size_t)y * image->width, image->pixels + (size_t)(y + n) * image->width,
           (size_t)(out.height - y) * image->width);
    return out;
}

/* Takes `smaller` when the case still fails on it. */
static bool try_image(Subject *subject, Case *c, Image *image, Image smaller)
{
    char why[400];
    Case trial = *c;
    trial.image = &smaller;
    if (!layout_fits(&c->layout, &smaller) || !case_fails(subject, &trial, why)) {
        image_free(&smaller);
        return false;
    }
    image_free(image);
    *image = smaller;
    return true;
}

static bool drop_rows(Subject *subject, Case *c, Image *image, bool columns, double deadline)
{
    bool any = false;
    const uint32_t size = columns ? image->width : image->height;
    uint32_t largest = 1; /* powers of two, so that pixels at the edge of a word can stay there */
    while (largest <= size / 4)
        largest *= 2;
    for (uint32_t n = largest; n > 0; n /= 2)
        for (uint32_t at = 0; seconds() < deadline;) {
            const uint32_t left = columns ? image->width : image->height;
            if (left <= n || at + n > left)
                break;
            Image smaller;
            if (columns) {
                Image turned = image_transpose(image), cut = without_rows(&turned, at, n);
                smaller = image_transpose(&cut);
                image_free(&turned);
                image_free(&cut);
            } else {
                smaller = without_rows(image, at, n);
            }
            if (try_image(subject, c, image, smaller))
                any = true;
            else
                at += n;
        }
    return any;
}

static bool clear_pixels(Subject *subject, Case *c, Image *image, double deadline)
{
    bool any = false;
    const size_t size = (size_t)image->width * image->height;
    for (size_t n = size / 2 ? size / 2 : 1; n > 0; n /= 2)
        for (size_t at = 0; at < size && seconds() < deadline; at += n) {
            const size_t end = at + n < size ? at + n : size;
            if (!memchr(image->pixels + at, 1, end - at))
                continue;
            Image smaller = image_copy(image);
            memset(smaller.pixels + at, 0, end - at);
            any |= try_image(subject, c, image, smaller);
        }
    return any;
}

bool shrink(Subject *subject, Case *c, Image *image, char why[400])
{
    const double deadline = seconds() + 8;
    if (!case_fails(subject, c, why))
        return false;
    bool smaller = true;
    while (smaller && seconds() < deadline && !subject->dead) {
        smaller = drop_rows(subject, c, image, false, deadline);
        smaller |= drop_rows(subject, c, image, true, deadline);
        smaller |= clear_pixels(subject, c, image, deadline);
    }
    c->image = image;
    char now_why[400];
    if (case_fails(subject, c, now_why))
        memcpy(why, now_why, sizeof now_why);
    return true;
}
