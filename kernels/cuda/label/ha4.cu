/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * HA4: Hardware Accelerated, 4-connected. Hennequin, Lacassagne, Cabaret, Meunier, "A new Direct Connected Component
 * Labeling and Analysis Algorithms for GPUs", DASIP 2018, doi 10.1109/DASIP.2018.8596835.
 *
 * Warps take 32 pixels of a row as bits, or 64 with two pixels for each thread (ha4-64, section IV-E of the paper). So a
 * segment's start takes two instructions, and only starts access memory. The image is cut into strips of four rows. A block
 * goes through a strip from left to right, so there are no vertical seams. Then strips are joined, and segments look up their
 * root.
 *
 *   strips     pixels -> segments, united within each strip
 *   merge      segments of neighbouring strips are united
 *   propagate  each segment finds its root; its pixels take the label
 *
 * Parents have an array of their own instead of the label image, which then needs no clearing. The data race of the published
 * `strips` is fixed; see ha.cuh.
 */
#include "ha.cuh"

const CclAlgorithm ccl_cuda_ha4 = {
    .info = { .name = "ha4", .title = "Hardware Accelerated 4-connected",
              .paper = "Hennequin, Lacassagne, Cabaret & Meunier, DASIP 2018", .backend = CCL_BACKEND_CUDA,
              .connectivity = CCL_CONNECT_4 },
    .unit = "run",
    .bytes_per_pixel = 4,
    .first_pixel_roots = true,
    .workspace_size = parents_size,
    .label = ha_label<false, uint32_t>,
};

const CclAlgorithm ccl_cuda_ha4_64 = {
    .info = { .name = "ha4-64", .title = "Hardware Accelerated 4-connected, 64-pixel words",
              .paper = "Hennequin, Lacassagne, Cabaret & Meunier, DASIP 2018", .backend = CCL_BACKEND_CUDA,
              .connectivity = CCL_CONNECT_4 },
    .unit = "run",
    .bytes_per_pixel = 4,
    .first_pixel_roots = true,
    .workspace_size = parents_size,
    .label = ha_label<false, uint64_t>,
};

const CclAlgorithm ccl_cuda_ha4_sums = {
    .info = { .name = "ha4-sums", .title = "Hardware Accelerated 4-connected, on-segment sums",
              .paper = "Hennequin, Lacassagne, Cabaret & Meunier, DASIP 2018", .backend = CCL_BACKEND_CUDA,
              .connectivity = CCL_CONNECT_4 },
    .unit = "run",
    .bytes_per_pixel = 4,
    .first_pixel_roots = true,
    .workspace_size = parents_size,
    .label = ha_label<false>,
    .features = ha_features,
};
