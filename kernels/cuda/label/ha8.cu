/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * HA8: Hardware Accelerated, 8-connected.
 * HA4 (Hennequin, Lacassagne, Cabaret, Meunier, DASIP 2018) carried over to 8-connectivity, as in Bolelli, Allegretti,
 * Lumetti, Grana, "A State-of-the-Art Review with Code about Connected Components Labeling on GPUs", IEEE TPDS 2024.
 *
 * As HA4, but segments of neighbouring rows touch across a corner too: a segment that begins where one of the row above
 * has just ended, or the other way round.
 *
 *   strips     pixels -> segments, united within each strip
 *   merge      segments of neighbouring strips are united
 *   propagate  each segment finds its root; its pixels take the label
 */
#include "ha.cuh"

const CclAlgorithm ccl_cuda_ha8 = {
    .info = { .name = "ha8", .title = "Hardware Accelerated 8-connected",
              .paper = "Hennequin, Lacassagne, Cabaret & Meunier, DASIP 2018; Bolelli et al., TPDS 2024",
              .backend = CCL_BACKEND_CUDA, .connectivity = CCL_CONNECT_8 },
    .unit = "run",
    .bytes_per_pixel = 4,
    .first_pixel_roots = true,
    .workspace_size = parents_size,
    .label = ha_label<true, uint32_t>,
};

const CclAlgorithm ccl_cuda_ha8_64 = {
    .info = { .name = "ha8-64", .title = "Hardware Accelerated 8-connected, 64-pixel words",
              .paper = "Hennequin, Lacassagne, Cabaret & Meunier, DASIP 2018; Bolelli et al., TPDS 2024",
              .backend = CCL_BACKEND_CUDA, .connectivity = CCL_CONNECT_8 },
    .unit = "run",
    .bytes_per_pixel = 4,
    .first_pixel_roots = true,
    .workspace_size = parents_size,
    .label = ha_label<true, uint64_t>,
};

const CclAlgorithm ccl_cuda_ha8_sums = {
    .info = { .name = "ha8-sums", .title = "Hardware Accelerated 8-connected, on-segment sums",
              .paper = "Hennequin, Lacassagne, Cabaret & Meunier, DASIP 2018; Bolelli et al., TPDS 2024",
              .backend = CCL_BACKEND_CUDA, .connectivity = CCL_CONNECT_8 },
    .unit = "run",
    .bytes_per_pixel = 4,
    .first_pixel_roots = true,
    .workspace_size = parents_size,
    .label = ha_label<true>,
    .features = ha_features,
};
