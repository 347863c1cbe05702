/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* The cases that are the same for each group of features. */
#include "group.h"

#include "patterns.h"
#include "pictures.h"

/* Each case has another picture in turn. */
static unsigned next_picture(void)
{
    static unsigned turn;
    return turn++ % N_PICTURES;
}

void judge_group(Session *session, const FeatureGroup *group, const Image *image, const char *name)
{
    Case c = case_new(image, PRODUCT_LABELS, "%s, %s", group->name, name);
    c.features = group->features;
    c.picture = next_picture();
    judge(session, &c, 1);
}

void check_group_image(Session *session, const FeatureGroup *group, Image image, const char *name)
{
    group->check_reference(session, &image, name);
    judge_group(session, group, &image, name);
    image_free(&image);
}

void check_group_patterns(Session *session, const FeatureGroup *group)
{
    static const uint32_t sizes[][2] = { { 1, 1 }, { 1, 70 }, { 129, 1 }, { 64, 64 }, { 63, 40 }, { 131, 97 } };

    check_group_image(session, group, pattern_mosaic(4, 4), "all images of 4x4");
    check_group_image(session, group, pattern_mosaic(16, 1), "all images of 16x1");
    for (unsigned s = 0; s < sizeof sizes / sizeof *sizes; s++)
        for (const Pattern *pattern = patterns; pattern->name; pattern++)
            check_group_image(session, group, pattern_draw(pattern, sizes[s][0], sizes[s][1]), pattern->name);
}

static Case table_case(const FeatureGroup *group, const Image *image, Product product, unsigned i)
{
    Case c = case_new(image, product, "%s in tables, %u", group->name, i);
    c.features = group->features | (i % 2 ? group->beside : 0);
    c.picture = i % N_PICTURES;
    c.filter.min_area = 1 + i % 5;
    c.filter.border = i % 3 ? CCL_BORDER_DROP : CCL_BORDER_FLAG;
    c.order = i % 4 < 2 ? CCL_ORDER_RASTER : CCL_ORDER_AREA;
    c.max_components = i % 2 ? 7 : 0;
    c.twice = true;
    return c;
}

/* Filters, orders and tables that are too small move the counts with the records; with and without labels. */
void judge_group_tables(Session *session, const FeatureGroup *group)
{
    for (unsigned i = 0; i < 24; i++) {
        Image image = image_noise(90 + i, 70, 30 + i, 1 + i % 2, &session->random);
        Case cases[] = { table_case(group, &image, PRODUCT_LABELS, i), table_case(group, &image, PRODUCT_TABLE, i) };
        judge(session, cases, 2);
        for (unsigned k = 0; k < 2; k++)
            cases[k].product = PRODUCT_TABLE, cases[k].exact = true;
        judge(session, cases, 2);
        image_free(&image);
    }
}

void judge_group_noise(Session *session, const FeatureGroup *group)
{
    for (unsigned i = 0; i < (session->quick ? 60 : 2000); i++) {
        const uint32_t width = 1 + random_below(&session->random, 200), height = 1 + random_below(&session->random, 60);
        const uint32_t density = group->min_density + random_below(&session->random, group->n_densities);
        Image image = image_noise(width, height, density, 1 + random_below(&session->random, 3), &session->random);
        if (i % group->reference_step == 0)
            group->check_reference(session, &image, "noise");
        judge_group(session, group, &image, "noise");
        image_free(&image);
    }
}

Image image_of_rows(const char *const *rows, unsigned max_rows, uint32_t x, uint32_t y)
{
    Image image = image_new(12, 12);
    for (unsigned row = 0; row < max_rows && rows[row]; row++)
        for (uint32_t column = 0; rows[row][column]; column++)
            *image_at(&image, x + column, y + row) = rows[row][column] == '#';
    return image;
}
