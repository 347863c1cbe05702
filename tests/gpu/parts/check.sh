# SPDX-FileCopyrightText: gst-ccl contributors
# SPDX-License-Identifier: LGPL-2.1-or-later

# Labelling: every method against the reference.

part_check() {
    export CCL_TEST_CROWDED=1
    # All suites but those that get a program of their own.
    others=$("$checkccl" --list | sed -n '/^suites:/{n;s/^ *//;s/ /,/g;s/labels,//;s/repeat,//;s/,huge//;p;}')
    check "checkccl, runs, labels, 8-connected" 450 \
        "$checkccl" --backend=cuda --algorithm=runs --suite=labels --connectivity=8 &
    {
        check "checkccl, bke,ha4,ha8, labels, a third of the cases" 450 \
            "$checkccl" --backend=cuda --algorithm=bke,ha4,ha8 --suite=labels --every=3
        # Blocks then have room for three components and three pairs in shared memory (features.cu: two); others go past it.
        check "checkccl, little shared memory" 300 env CCL_TEST_LIMIT=3 \
            "$checkccl" --backend=cuda --algorithm=runs --quick --suite=table,labels,intensity,hull,holes
        check "checkccl, bke, little shared memory" 300 env CCL_TEST_LIMIT=3 \
            "$checkccl" --backend=cuda --algorithm=bke --quick --suite=table,features
        # runs.cu then takes strips of two rows in all tiles, not only in those with very many runs, and small page-locked
        # masks too are packed by device and caller.
        check "checkccl, strips, shared masks" 300 env CCL_TEST_STRIPS=1 CCL_TEST_SHARED=60 \
            "$checkccl" --backend=cuda --algorithm=runs --quick --connectivity=8 \
            --suite=table,labels,features,intensity,hull,holes
        # If launches block, kernels that wait for rows that the host packs after the launch time out.
        check "checkccl, launches that block, shared masks" 300 env CUDA_LAUNCH_BLOCKING=1 CCL_TEST_TIMEOUTS=1 CCL_TEST_SHARED=60 \
            "$checkccl" --backend=cuda --algorithm=runs --quick --suite=repeat
    } &
    {
        check "checkccl, runs, labels, 4-connected" 450 \
            "$checkccl" --backend=cuda --algorithm=runs --suite=labels --connectivity=4
        check "checkccl, $ours, $others" 300 "$checkccl" --backend=cuda --algorithm=$ours --suite="$others"
    } &
    check "checkccl, every method, labels, some cases" 450 \
        "$checkccl" --backend=cuda --quick --every=9 --suite=labels &
    check "checkccl, every method, $others, some cases" 450 \
        "$checkccl" --backend=cuda --quick --every=3 --suite="$others" &
    {
        check "checkccl, 16384x16384" 300 "$checkccl" --backend=cuda --algorithm=$ours --suite=huge --quick
        # Frames of contexts that share the device each go by a cluster of blocks, as in batches; then past its room, too.
        check "checkccl, clusters" 300 env CCL_TEST_CLUSTERS=1 \
            "$checkccl" --backend=cuda --algorithm=runs --shared --quick --suite=table,labels,features
        check "checkccl, clusters, little shared memory" 300 env CCL_TEST_CLUSTERS=1 CCL_TEST_LIMIT=3 \
            "$checkccl" --backend=cuda --algorithm=runs --shared --quick --every=3 --suite=table,labels,features
    } &
    wait
}
