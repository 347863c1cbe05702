/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * C_BBDT: CUDA Block-Based Decision Tree. Allegretti, Bolelli, Cancilla, Pollastri, Canalini, Grana, "How does Connected
 * Components Labeling with Decision Trees perform on GPUs?", CAIP 2019, pp. 39-51; the tree is that of Grana, Borghesani and
 * Cucchiara, IEEE TIP 2010. Written from Bolelli et al., TPDS 2024, section III-B7.
 *
 * Union-find over 2x2 blocks. A block unites with the earlier blocks that it touches, but with only one of several that touch
 * each other. A decision tree selects them, and reads as few pixels as possible: on average 5.5 of the 15 that matter, if all
 * images are equally likely.
 *
 *   init       each block is a root
 *   merge      each block goes through the tree and unites with what it says
 *   compress   each block points at its root
 *   propagate  pixels take their block's label
 *
 * Differences from the paper: decide.c makes the tree from this rule at build time. A leaf only returns which blocks to unite
 * with. All threads then unite together, while the published leaves have code of their own. Pixels outside the mask are
 * background, without a test at each node.
 */
#include "decision.cuh"

typedef struct Tree {
    __device__ static uint32_t of(const View &view)
    {
        uint32_t unites;
#include "c_bbdt_tree.h"
        return unites;
    }
} Tree;

const CclAlgorithm ccl_cuda_c_bbdt = {
    .info = { .name = "c-bbdt", .title = "Block-Based Decision Tree",
              .paper = "Allegretti, Bolelli, Cancilla, Pollastri, Canalini & Grana, CAIP 2019",
              .backend = CCL_BACKEND_CUDA, .connectivity = CCL_CONNECT_8 },
    .unit = "2x2 block",
    .label = label_by_decision<Tree>,
};
