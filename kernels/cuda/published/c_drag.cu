/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * C_DRAG: CUDA Directed Rooted Acyclic Graph. Allegretti, Bolelli, Cancilla, Pollastri, Canalini, Grana, "How does Connected
 * Components Labeling with Decision Trees perform on GPUs?", CAIP 2019, pp. 39-51; the graph is that of Bolelli, Baraldi,
 * Cancilla and Grana, ICPR 2018. Written from Bolelli et al., TPDS 2024, section III-B7.
 *
 * C_BBDT (c_bbdt.cu) with its decision tree folded into a graph: equal subtrees exist only once. The same pixels are read in
 * the same order, with a quarter less code, to fit into the instruction cache.
 *
 *   init       each block is a root
 *   merge      each block goes through the graph and unites with what it says
 *   compress   each block points at its root
 *   propagate  pixels take their block's label
 *
 * Differences from the paper: as in c_bbdt.cu. decide.c makes the graph too, and explains why it is not the smallest one.
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
