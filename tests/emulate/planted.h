/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Kernels with planted faults, for the tests of the emulation. */
#ifndef PLANTED_H
#define PLANTED_H

#include <cuda_runtime.h>

#include <stdio.h>
#include <stdlib.h>

static const unsigned THREADS = 96, BLOCKS = 5, CLUSTER = 4, CLUSTERS = 3;

typedef void Kernel(unsigned *);

/* A kernel without and with its fault. */
struct Plant {
    const char *name;
    Kernel *good, *bad;
    bool clusters;
};

#define PLANT(name) { #name, name<false>, name<true>, false }
#define CLUSTER_PLANT(name) { #name, name<false>, name<true>, true }

/* A launch in clusters of `cluster` blocks. */
struct Config : cudaLaunchConfig_t {
    cudaLaunchAttribute attribute;
    Config(unsigned blocks, unsigned threads, size_t shared, unsigned cluster, cudaStream_t in = NULL)
        : cudaLaunchConfig_t{ blocks, threads, shared, in, &attribute, 1 }
    {
        attribute.id = cudaLaunchAttributeClusterDimension;
        attribute.val.clusterDim = { cluster, 1, 1 };
    }
    Config(const Config &) = delete;
};

/* planted.cu */
void check(bool good, const char *name, const char *what);

/* planted_clusters.cu; the last has no name. */
extern const Plant cluster_plants[];
/* Launches of clusters, in graphs too, and what is refused. */
void check_clusters();
/* The completion flag of a cluster. */
void check_flags();

#endif
