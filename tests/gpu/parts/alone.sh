# SPDX-FileCopyrightText: gst-ccl contributors
# SPDX-License-Identifier: LGPL-2.1-or-later

# Labelling with nothing else on the device: every method but iterative ones a thousand times over, the device's
# memory before and after.

part_alone() {
    check "checkccl, every method but iterative ones, 1000 repetitions" 250 "$checkccl" --backend=cuda --suite=repeat
    # And what else `runs` can go by, half of it each: comparing label images is most of the time.
    for limit in 4 8; do
        check "checkccl, $limit-connected, room for $limit in shared memory, 1000 repetitions" 120 env CCL_TEST_LIMIT=$limit \
            "$checkccl" --backend=cuda --algorithm=runs,bke --connectivity=$limit --suite=repeat
    done
    check "checkccl, 4-connected, shared masks, 1000 repetitions" 120 env CCL_TEST_SHARED=60 \
        "$checkccl" --backend=cuda --algorithm=runs --connectivity=4 --suite=repeat
    check "checkccl, 8-connected, clusters, 1000 repetitions" 120 env CCL_TEST_CLUSTERS=1 \
        "$checkccl" --backend=cuda --algorithm=runs --connectivity=8 --suite=repeat
    check "device memory: checkccl, runs, batch" 100 "$checkccl" --backend=cuda --algorithm=runs --suite=batch
}
