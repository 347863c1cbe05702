/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Prints a failed case: why it fails, and the smallest image found for which it does. */
#include "judge.h"

#include <stdio.h>

enum { SHOWN_WIDTH = 36, SHOWN_HEIGHT = 40 };

static char label_letter(uint32_t label)
{
    static const char letters[] = ".123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
    return label < sizeof letters - 1 ? letters[label] : '*';
}

/* First of `shown` rows or columns of `size`, with `bad` in the middle. */
static uint32_t window(uint32_t bad, uint32_t size, uint32_t shown)
{
    const uint32_t begin = bad > shown / 2 ? bad - shown / 2 : 0;
    return begin < size - shown ? begin : size - shown;
}

static void show_grids(const Case *c, const Outcome *expected, const Outcome *got)
{
    const Image *const image = c->image;
    const uint32_t width = image->width < SHOWN_WIDTH ? image->width : SHOWN_WIDTH;
    const uint32_t height = image->height < SHOWN_HEIGHT ? image->height : SHOWN_HEIGHT;
    uint32_t bad_x, bad_y;
    last_difference(&bad_x, &bad_y);
    const uint32_t left = window(bad_x, image->width, width), top = window(bad_y, image->height, height);
    const bool labels = c->product != PRODUCT_TABLE && got->labels && !got->error[0];
    const int column = (int)(width > 8 ? width : 8) + 3;

    printf("    %-*s%-*s%s\n", column, "mask", column, "expected", labels ? "got" : "");
    for (uint32_t y = 0; y < height; y++) {
        char line[3][SHOWN_WIDTH + 1] = { { 0 } };
        for (uint32_t x = 0; x < width; x++) {
            const size_t i = (size_t)(top + y) * image->width + left + x;
            line[0][x] = image->pixels[i] ? '#' : '.';
            line[1][x] = label_letter(expected->labels[i]);
            line[2][x] = labels ? label_letter(got->labels[i]) : ' ';
        }
        printf("    %-*s%-*s%s\n", column, line[0], column, line[1], line[2]);
    }
    if (width < image->width || height < image->height)
        printf("    (%ux%u of %ux%u, from (%u,%u))\n", width, height, image->width, image->height, left, top);
}

static const char *product_name(Product product)
{
    switch (product) {
    case PRODUCT_TABLE:
        return "table";
    case PRODUCT_LABELS:
        return "table and labels";
    case PRODUCT_PROVISIONAL:
        break;
    }
    return "provisional labels";
}

void report(Session *session, Subject *subject, const Case *failed, unsigned n, const char *first_why)
{
    char why[400];
    Case c = *failed;
    Image image = image_copy(failed->image);
    c.image = &image;

    printf("FAILED %s: \"%s\" %ux%u, %s, layout \"%s\", seed %llu\n    %s\n", subject->name, c.name, image.width,
           image.height, product_name(c.product), c.layout.name, (unsigned long long)session->seed, first_why);
    if (subject->dead) {
        printf("    the device is lost: no more of this method\n");
    } else if (!shrink(subject, &c, &image, why)) {
        printf(
            "    not when run alone (%u frame%s in flight then): the context's past or the frames beside it matter, or"
            " a race\n",
            n, n == 1 ? " was" : "s were");
    } else {
        Outcome expected = expected_outcome(&c, subject->config.connectivity), got = actual_outcome(subject, &c);
        printf("    smallest found that fails: %ux%u\n    %s\n", image.width, image.height, why);
        show_grids(&c, &expected, &got);
        outcome_free(&expected);
        outcome_free(&got);
    }
    fflush(stdout);
    image_free(&image);
}
