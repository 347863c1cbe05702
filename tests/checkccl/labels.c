/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Which pixels belong together: label images of every method on images small, hard, random and large. */
#include "checkccl.h"
#include "patterns.h"
#include "union_find.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const Product products[] = { PRODUCT_PROVISIONAL, PRODUCT_LABELS, PRODUCT_TABLE };
enum { N_PRODUCTS = sizeof products / sizeof *products };

/* ---------------------------------------------------------------- the reference itself */

/* Labels by union-find over pixels: another way than the reference's flood fill, to judge the judge. */
static void label_by_pixels(const Image *image, bool eight, uint32_t *labels)
{
    const uint32_t width = image->width, n = width * image->height;
    uint32_t *const parent = malloc(n * sizeof *parent);
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t x = i % width;
        parent[i] = i;
        if (!image->pixels[i])
            continue;
        if (x > 0 && image->pixels[i - 1])
            unite(parent, i - 1, i);
        if (i >= width && image->pixels[i - width])
            unite(parent, i - width, i);
        if (eight && i >= width && x > 0 && image->pixels[i - width - 1])
            unite(parent, i - width - 1, i);
        if (eight && i >= width && x + 1 < width && image->pixels[i - width + 1])
            unite(parent, i - width + 1, i);
    }
    uint32_t next = 0;
    for (uint32_t i = 0; i < n; i++) /* a root is the first pixel of its component */
        labels[i] = !image->pixels[i] ? 0 : parent[i] == i ? ++next : labels[find(parent, i)];
    free(parent);
}

static void check_reference(Session *session, const Image *image, const char *name)
{
    const Case c = case_new(image, PRODUCT_LABELS, "%s", name);
    uint32_t *const labels = malloc((size_t)image->width * image->height * sizeof *labels);
    for (int connectivity = 4; connectivity <= 8; connectivity += 4) {
        Outcome outcome = expected_outcome(&c, (CclConnectivity)connectivity);
        label_by_pixels(image, connectivity == 8, labels);
        check(session, !memcmp(labels, outcome.labels, (size_t)image->width * image->height * sizeof *labels),
              "reference, %d-connected: \"%s\" %ux%u is labelled otherwise by union-find over pixels", connectivity,
              name, image->width, image->height);
        outcome_free(&outcome);
    }
    free(labels);
}

/* ---------------------------------------------------------------- one image */

/* All three products, plain and in the next few layouts in turn, so that over many images every layout meets every
 * kind. */
static void judge_image(Session *session, const Image *image, const char *name, bool exact)
{
    static unsigned turn;
    const unsigned n_layouts = session->quick ? 1 : 3;

    for (unsigned p = 0; p < N_PRODUCTS; p++) {
        Case c = case_new(image, products[p], "%s", name);
        c.exact = exact;
        c.twice = products[p] == PRODUCT_LABELS;
        judge(session, &c, 1);
    }
    for (unsigned i = 0; i < n_layouts;) {
        if (!layouts[turn].name)
            turn = 0;
        const Layout *const layout = &layouts[turn++];
        if (!layout_fits(layout, image))
            continue;
        Case c = case_new(image, products[turn % N_PRODUCTS], "%s", name);
        c.layout = *layout;
        judge(session, &c, 1);
        i++;
    }
}

/* ---------------------------------------------------------------- every small image */

/* Four at a time, in flight together. */
static void judge_all_values(Session *session, uint32_t width, uint32_t height, uint32_t step)
{
    const uint32_t n = 1u << (width * height);
    Image images[CCL_MAX_DEPTH];
    for (unsigned i = 0; i < CCL_MAX_DEPTH; i++)
        images[i] = image_new(width, height);
    for (uint32_t value = 0; value < n && subjects_active(session); value += CCL_MAX_DEPTH * step)
        for (unsigned p = 0; p < 2; p++) {
            Case cases[CCL_MAX_DEPTH];
            for (unsigned i = 0; i < CCL_MAX_DEPTH; i++) {
                image_set_bits(&images[i], value + i);
                cases[i] = case_new(&images[i], products[p], "image %u of all %ux%u", value + i, width, height);
                cases[i].one_of_many = true;
            }
            judge(session, cases, CCL_MAX_DEPTH);
        }
    for (unsigned i = 0; i < CCL_MAX_DEPTH; i++)
        image_free(&images[i]);
}

static void judge_small_images(Session *session)
{
    static const uint32_t sizes[][2] = { { 4, 4 }, { 3, 5 }, { 5, 3 }, { 2, 8 }, { 8, 2 }, { 12, 1 }, { 1, 12 } };
    for (unsigned i = 0; i < sizeof sizes / sizeof *sizes && subjects_active(session); i++) {
        const uint32_t width = sizes[i][0], height = sizes[i][1];
        judge_all_values(session, width, height, session->quick ? 97 : 1);
        char name[40];
        snprintf(name, sizeof name, "mosaic of all %ux%u", width, height);
        Image mosaic = pattern_mosaic(width, height);
        judge_image(session, &mosaic, name, false);
        image_free(&mosaic);
    }
}

static void judge_single_pixels(Session *session)
{
    static const uint32_t sizes[][2] = { { 9, 7 }, { 34, 3 }, { 3, 35 }, { 130, 2 } };
    for (unsigned i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        Image image = image_new(sizes[i][0], sizes[i][1]);
        const uint32_t n = image.width * image.height;
        for (uint32_t at = 0; at < n; at += session->quick ? 5 : 1)
            for (unsigned inverse = 0; inverse < 2; inverse++) {
                memset(image.pixels, (int)inverse, n);
                image.pixels[at] = !inverse;
                const Case c = case_new(&image, products[at % 2], "one %s at (%u,%u)", inverse ? "hole" : "pixel",
                                        at % image.width, at / image.width);
                judge(session, &c, 1);
            }
        image_free(&image);
    }
}

/* ---------------------------------------------------------------- patterns */

static void judge_patterns(Session *session)
{
    static const uint32_t sizes[][2] = { { 65, 33 }, { 16, 16 }, { 130, 70 }, { 257, 129 }, { 7, 200 } };
    const unsigned n_sizes = session->quick ? 2 : sizeof sizes / sizeof *sizes;
    for (const Pattern *p = patterns; p->name && subjects_active(session); p++)
        for (unsigned i = 0; i < n_sizes && subjects_active(session); i++) {
            Image image = pattern_draw(p, sizes[i][0], sizes[i][1]);
            check_reference(session, &image, p->name);
            judge_image(session, &image, p->name, i % 2 == 0);
            image_free(&image);
        }
    for (uint32_t word = 8; word <= 128 && subjects_active(session); word *= 2)
        for (int rest = 0; rest < 2; rest++) {
            char name[40];
            snprintf(name, sizeof name, "edges of words of %u, rest %d", word, rest);
            Image image = pattern_word_edges(word, rest);
            judge_image(session, &image, name, false);
            image_free(&image);
            if (session->quick && word == 16)
                return;
        }
}

/* ---------------------------------------------------------------- layouts */

/* Every layout with every product, on images with something in every corner. */
static void judge_layouts(Session *session)
{
    static const char *const names[] = { "empty", "full", "cross", "border", "dots", "checkerboard" };
    static const uint32_t sizes[][2] = { { 70, 37 }, { 1, 33 }, { 257, 2 } };
    for (unsigned i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (unsigned n = 0; n < sizeof names / sizeof *names; n++) {
            Image image = pattern_named(names[n], sizes[i][0], sizes[i][1]);
            for (const Layout *layout = layouts; layout->name; layout++)
                for (unsigned p = 0; p < N_PRODUCTS && layout_fits(layout, &image); p++) {
                    Case c = case_new(&image, products[p], "%s", names[n]);
                    c.layout = *layout;
                    judge(session, &c, 1);
                }
            image_free(&image);
        }
}

/* ---------------------------------------------------------------- noise */

static void judge_noise(Session *session)
{
    static const double densities[] = { 0, 1, 5, 10, 20, 30, 41, 50, 59, 70, 80, 90, 95, 99, 100 };
    for (uint32_t granularity = 1; granularity <= 16; granularity *= granularity == 1 ? 2 : granularity == 2 ? 2 : 4)
        for (unsigned d = 0; d < sizeof densities / sizeof *densities && subjects_active(session);
             d += session->quick ? 4 : 1) {
            char name[60];
            const uint32_t width = 100 + random_below(&session->random, 300);
            const uint32_t height = 60 + random_below(&session->random, 200);
            snprintf(name, sizeof name, "noise, density %g %%, granularity %u", densities[d], granularity);
            Image image = image_noise(width, height, densities[d], granularity, &session->random);
            if (d % 3 == 0)
                check_reference(session, &image, name);
            judge_image(session, &image, name, d % 2);
            image_free(&image);
        }
}

/* ---------------------------------------------------------------- sizes */

static void judge_sizes(Session *session)
{
    static const uint32_t sizes[] = { 1,  2,  3,  4,  5,  7,   8,   9,   15,  16,  17, 31,
                                      32, 33, 63, 64, 65, 127, 128, 129, 255, 256, 257 };
    enum { N_SIZES = sizeof sizes / sizeof *sizes };
    static const double densities[] = { 45, 60, 97, 30 };
    unsigned n = 0;

    for (unsigned i = 0; i < N_SIZES; i++)
        for (unsigned k = 0; k < N_SIZES && subjects_active(session); k++, n++) {
            if (session->quick && (i * 5 + k) % 11)
                continue;
            char name[60];
            const double density = densities[n % 4];
            Image image = image_noise(sizes[i], sizes[k], density, 1 + n % 3, &session->random);
            snprintf(name, sizeof name, "noise of size %ux%u, density %g %%", sizes[i], sizes[k], density);
            judge_image(session, &image, name, n % 2);
            image_free(&image);
        }
    /* Every width and height once, in exact contexts. */
    for (uint32_t size = 1; size <= 200; size += session->quick ? 23 : 1)
        for (unsigned turned = 0; turned < 2; turned++) {
            Image image = image_noise(turned ? 5 : size, turned ? size : 5, 55, 1, &session->random);
            Case c = case_new(&image, products[size % N_PRODUCTS], "noise, 5 pixels by %u", size);
            c.exact = true;
            judge(session, &c, 1);
            image_free(&image);
        }
}

static void judge_thin(Session *session)
{
    static const uint32_t sizes[][2] = {
        { 1, 1000 },
        { 1000, 1 },
        { CCL_MAX_SIZE, 1 },
        { 1, CCL_MAX_SIZE },
        { CCL_MAX_SIZE, 3 },
        { 2, CCL_MAX_SIZE - 1 },
        { CCL_MAX_SIZE - 1, 2 },
        { 4099, 5 },
        { 3, 4099 },
    };
    const unsigned n_sizes = session->quick ? 3 : sizeof sizes / sizeof *sizes;
    for (unsigned i = 0; i < n_sizes && subjects_active(session); i++) {
        const uint32_t width = sizes[i][0], height = sizes[i][1];
        static const char *const names[] = { "full", "checkerboard", "rings", "comb_up", "all_but_last" };
        for (unsigned p = 0; p < sizeof names / sizeof *names; p++) {
            Image image = pattern_named(names[p], width, height);
            judge_image(session, &image, names[p], true);
            image_free(&image);
        }
        Image image = image_noise(width, height, 70, 1, &session->random);
        judge_image(session, &image, "thin noise", true);
        image_free(&image);
    }
}

/* Wide enough for tiles side by side, and dense: what is left of an image at the end of a strip or tile is little. */
static void judge_wide(Session *session)
{
    static const double densities[] = { 10, 30, 45, 60, 80 };
    static const char *const names[] = { "checkerboard", "comb_up", "comb_of_combs", "chevrons" };
    for (unsigned d = 0; d < sizeof densities / sizeof *densities; d++) {
        Image image = image_noise(2100 + d % 3, 19 + d, densities[d], 1, &session->random);
        judge_image(session, &image, "wide noise", d % 2);
        image_free(&image);
    }
    for (unsigned i = 0; i < sizeof names / sizeof *names; i++) {
        Image image = pattern_named(names[i], 2111 - i, 20);
        judge_image(session, &image, names[i], i % 2);
        image_free(&image);
    }
}

/* Of the sizes that are in use, where many blocks, strips and waves meet. */
static void judge_large(Session *session)
{
    static const struct {
        uint32_t width, height, granularity;
        double density;
    } noises[] = {
        { 1920, 1080, 1, 50 }, { 1921, 1079, 4, 45 }, { 1280, 720, 1, 62 }, { 3840, 500, 16, 50 }, { 500, 3840, 2, 60 }
    };
    static const char *const names[] = { "spiral", "comb_up", "comb_of_combs", "serpentine", "rings", "diagonals_up",
                                         "checkerboard", "full", "chevrons" };
    if (session->quick)
        return;
    for (unsigned i = 0; i < sizeof noises / sizeof *noises; i++) {
        Image image =
            image_noise(noises[i].width, noises[i].height, noises[i].density, noises[i].granularity, &session->random);
        judge_image(session, &image, "large noise", false);
        image_free(&image);
    }
    for (unsigned i = 0; i < sizeof names / sizeof *names; i++) {
        Image image = pattern_named(names[i], 1281, 723);
        judge_image(session, &image, names[i], false);
        image_free(&image);
    }
}

/* One tier and one number of threads of each method: what differs here is the size. */
void check_huge(Session *session)
{
    static const char *const names[] = { "full", "checkerboard_2x2", "spiral", "serpentine_down" };
    for (unsigned s = 0; s < session->n_subjects; s++)
        session->subjects[s].muted |= session->subjects[s].config.cpu_flags != CCL_CPU_ALL ||
                                      session->subjects[s].config.threads != 1;
    for (unsigned i = 0; i < (session->quick ? 1 : sizeof names / sizeof *names); i++) {
        printf("huge: %s\n", names[i]); /* each takes a minute or more */
        Image image = pattern_named(names[i], CCL_MAX_SIZE, CCL_MAX_SIZE);
        for (unsigned p = 0; p < N_PRODUCTS; p++) {
            if (session->quick && products[p] != PRODUCT_LABELS)
                continue;
            Case c = case_new(&image, products[p], "huge %s", names[i]);
            c.exact = true;
            judge(session, &c, 1);
        }
        image_free(&image);
    }
    if (session->quick)
        return;
    printf("huge: noise\n");
    Image image = image_noise(CCL_MAX_SIZE, CCL_MAX_SIZE, 50, 1, &session->random);
    Case c = case_new(&image, PRODUCT_LABELS, "huge noise");
    c.exact = true;
    judge(session, &c, 1);
    image_free(&image);
}

/* ---------------------------------------------------------------- images of the user */

static void judge_picture(void *data, const char *name, Image *image, const char *why)
{
    Session *const session = data;
    if (!check(session, image != NULL, "%s", why))
        return;
    judge_image(session, image, name, true);
    image_free(image);
}

static void judge_pictures(Session *session)
{
    if (session->images)
        check(session, image_load_all(session->images, judge_picture, session) > 0,
              "--images=%s: no .pgm or .pbm file there", session->images);
}

void check_labels(Session *session)
{
    static const struct {
        const char *name;
        void (*judge)(Session *session);
    } parts[] = {
        { "small images", judge_small_images },
        { "single pixels", judge_single_pixels },
        { "patterns", judge_patterns },
        { "layouts", judge_layouts },
        { "noise", judge_noise },
        { "sizes", judge_sizes },
        { "thin images", judge_thin },
        { "wide images", judge_wide },
        { "large images", judge_large },
        { "pictures", judge_pictures },
    };
    for (unsigned i = 0; i < sizeof parts / sizeof *parts; i++) {
        const clock_t start = clock();
        parts[i].judge(session);
        if (session->verbose)
            printf("  %s: %.1f s of processor time\n", parts[i].name, (double)(clock() - start) / CLOCKS_PER_SEC);
    }
}
