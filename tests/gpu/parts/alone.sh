# SPDX-FileCopyrightText: gst-ccl contributors
# SPDX-License-Identifier: LGPL-2.1-or-later

# Labelling with nothing else on the device: every method but iterative ones a thousand times over, the device's
# memory before and after.

part_alone() {
    check "checkccl, every method but iterative ones, 1000 repetitions" 250 "$checkccl" --backend=cuda --suite=repeat
    # And what `runs` can go by where a user has another device or other masks.
    for limit in 4 8; do
        check "checkccl, room for $limit in shared memory, 1000 repetitions" 150 env CCL_TEST_LIMIT=$limit \
            "$checkccl" --backend=cuda --algorithm=runs,bke --suite=repeat
    done
    check "checkccl, shared masks, 1000 repetitions" 150 env CCL_TEST_SHARED=60 \
        "$checkccl" --backend=cuda --algorithm=runs --suite=repeat
    check "checkccl, clusters, 1000 repetitions" 150 env CCL_TEST_CLUSTERS=1 \
        "$checkccl" --backend=cuda --algorithm=runs --suite=repeat
    check "device memory: checkccl, runs, batch" 100 "$checkccl" --backend=cuda --algorithm=runs --suite=batch
}
