/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* What the suites of the groups of features share: images, filters, orders, and tables that are too small. */
#ifndef CHECKCCL_GROUP_H
#define CHECKCCL_GROUP_H

#include "checkccl.h"

typedef struct FeatureGroup {
    const char *name;
    unsigned features;                 /* CCL_FEATURE_... */
    unsigned beside;                   /* further ones, for every second table */
    uint32_t min_density, n_densities; /* of noise, in percent */
    unsigned reference_step;           /* checks the reference on one of that many images of noise */
    /* Checks the reference by the definition of the features. */
    void (*check_reference)(Session *session, const Image *image, const char *name);
} FeatureGroup;

/* Compares every method with the reference. */
void judge_group(Session *session, const FeatureGroup *group, const Image *image, const char *name);
/* Checks the reference, too, and frees the image. */
void check_group_image(Session *session, const FeatureGroup *group, Image image, const char *name);
/* All images of 4x4 and of 16x1, and each pattern in several sizes. */
void check_group_patterns(Session *session, const FeatureGroup *group);
void judge_group_tables(Session *session, const FeatureGroup *group);
void judge_group_noise(Session *session, const FeatureGroup *group);

/* An image with rows of '#', from pixel (x, y) on; NULL ends them. Owned: image_free(). */
Image image_of_rows(const char *const *rows, unsigned max_rows, uint32_t x, uint32_t y);

#endif
