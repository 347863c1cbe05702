/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * C_BBDT: CUDA Block-Based Decision Tree. Allegretti, Bolelli, Cancilla, Pollastri, Canalini, Grana, "How does
 * Connected Components Labeling with Decision Trees perform on GPUs?", CAIP 2019, pp. 39-51; the tree is that of Grana,
 * Borghesani and Cucchiara, IEEE TIP 2010. Told after Bolelli et al., TPDS 2024, section III-B7.
 *
 * Union-find over 2x2 blocks. A block unites with those before it that it touches, but with one only of several that
 * touch each other. Which ones these are says a decision tree that reads as few pixels as can be: 5.5 of the 15 that
 * matter on average, if all images are equally likely.
 *
 *   init       each block is a root
 *   merge      each block goes through the tree and unites with what it says
 *   compress   each block points at its root
 *   propagate  pixels take their block's label
 *
 * Where this departs from the paper: the tree is made by decide.c while building, from the rule above, and not by hand;
 * its leaves say with whom to unite, which all threads then do together, instead of each leaf doing so in code of its own;
 * pixels outside the mask are background and not tested for at each node.
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
