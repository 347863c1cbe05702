/* SPDX-FileCopyrightText: gst-ccl contributors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Stands before the CUDA toolkit's header of this name, as cuda_runtime.h does: of groups there are clusters. */
#ifndef EMULATE_COOPERATIVE_GROUPS_H
#define EMULATE_COOPERATIVE_GROUPS_H

#include "cuda_runtime.h"

#define _CG_HAS_CLUSTER_GROUP

namespace cooperative_groups {

struct cluster_group {
    EMULATE_INLINE void barrier_arrive() { emulate::arrive_at_cluster_barrier(); }
    EMULATE_INLINE void barrier_wait() { emulate::wait_at_cluster_barrier(); }
    EMULATE_INLINE void sync()
    {
        barrier_arrive();
        barrier_wait();
    }
    EMULATE_INLINE unsigned block_rank() { return emulate::cluster_rank(); }
    EMULATE_INLINE unsigned num_blocks() { return emulate::cluster_size(); }
    template <typename T> EMULATE_INLINE T *map_shared_rank(T *shared, unsigned rank)
    {
        return (T *)emulate::shared_of_rank((void *)shared, rank);
    }
};

EMULATE_INLINE cluster_group this_cluster() { return {}; }

} // namespace cooperative_groups

#endif
