/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * C_DRAG: CUDA Directed Rooted Acyclic Graph. Allegretti, Bolelli, Cancilla, Pollastri, Canalini, Grana, "How does
 * Connected Components Labeling with Decision Trees perform on GPUs?", CAIP 2019, pp. 39-51; the graph is that of
 * Bolelli, Baraldi, Cancilla and Grana, ICPR 2018. Told after Bolelli et al., TPDS 2024, section III-B7.
 *
 * C_BBDT (c_bbdt.cu) with its decision tree folded into a graph: subtrees that read the same pixels and decide the
 * same are there only once. The same pixels are read in the same order, by a quarter less code, which is meant to stay in
 * the instruction cache.
 *
 *   init       each block is a root
 *   merge      each block goes through the graph and unites with what it says
 *   compress   each block points at its root
 *   propagate  pixels take their block's label
 *
 * Where this departs from the paper: as c_bbdt.cu; the graph, too, is made by decide.c, which says why it is not as
 * small as it could be.
 */
#include "decision.cuh"

typedef struct Graph {
    __device__ static uint32_t of(const View &view)
    {
        uint32_t unites;
#include "c_drag_graph.h"
        return unites;
    }
} Graph;

const CclAlgorithm ccl_cuda_c_drag = {
    .info = { .name = "c-drag", .title = "Decision tree folded into a directed acyclic graph",
              .paper = "Allegretti, Bolelli, Cancilla, Pollastri, Canalini & Grana, CAIP 2019",
              .backend = CCL_BACKEND_CUDA, .connectivity = CCL_CONNECT_8 },
    .unit = "2x2 block",
    .label = label_by_decision<Graph>,
};
