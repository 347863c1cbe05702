# SPDX-FileCopyrightText: gst-ccl contributors
# SPDX-License-Identifier: LGPL-2.1-or-later

# Labelling by compute-sanitizer's memcheck and racecheck.

# sanitize_suite TOOL SUITE: some cases of a suite of checkccl, or of what a setting has all of them go by
sanitize_suite() {
    few="--backend=cuda --quick --suite=$2"
    labels_every=$([ "$1" = memcheck ] && echo 599 || echo 197)
    little_every=$([ "$1" = memcheck ] && echo 83 || echo 197)
    cluster_every=$([ "$1" = memcheck ] && echo 83 || echo 307)
    # shellcheck disable=SC2086
    case $2 in
    maps) sanitize $1 "maps" "" "$checkccl" $few --algorithm=uf --every=13 ;;
    volume) sanitize $1 "volume" "" "$checkccl" $few --every=13 ;;
    labels) sanitize $1 "$2, every method, a few cases" "" "$checkccl" $few --every=$labels_every --pixels=8000 ;;
    table) sanitize $1 "$2, every method, a few cases" "" "$checkccl" $few --every=97 --pixels=8000 ;;
    strips)
        sanitize $1 "$2, runs" "CCL_TEST_STRIPS=1 CCL_TEST_SHARED=60" "$checkccl" --backend=cuda --quick \
            --suite=labels,table --algorithm=runs --connectivity=8 --every=61 --pixels=60000
        ;;
    meanwhile) # masks that are packed after the launch
        sanitize $1 "$2, runs" "CCL_TEST_SHARED=60" "$checkccl" --backend=cuda --quick --suite=repeat --algorithm=runs \
            --pixels=8000
        ;;
    little)
        sanitize $1 "little room, runs" "CCL_TEST_LIMIT=3" "$checkccl" --backend=cuda --quick \
            --suite=table --algorithm=runs --every=$little_every --pixels=60000
        ;;
    clusters)
        for limit in 99999 3; do
            sanitize $1 "$2, room for $limit" "CCL_TEST_CLUSTERS=1 CCL_TEST_LIMIT=$limit" "$checkccl" \
                --backend=cuda --quick --shared --suite=labels,table --algorithm=runs --every=$cluster_every \
                --pixels=60000
        done
        ;;
    api | batch) # racecheck looks at kernels, however they are launched: no graphs; a frame by a cluster takes it seconds
        without=$([ "$1" = memcheck ] || echo "CCL_TEST_GRAPHS=0 CCL_TEST_CLUSTERS=0")
        others=$([ "$2" = batch ] || echo "${ours#runs,}") # which have no batches
        for methods in runs $others; do # all four in a process sometimes wait for ever under racecheck
            sanitize $1 "$2, $methods" "$without" "$checkccl" $few --algorithm=$methods
        done
        ;;
    intensity)
        for strips in "" CCL_TEST_STRIPS=1; do
            sanitize $1 "$2, runs${strips:+, strips}" "$strips" "$checkccl" $few --algorithm=runs --every=61 --pixels=8000
        done
        ;;
    shape | hull | holes)
        sanitize $1 "$2, runs" "" "$checkccl" $few --algorithm=runs --every=97 --pixels=8000
        ;;
    crowd) sanitize $1 "$2, runs" "" "$checkccl" $few --algorithm=runs ;;
    *) sanitize $1 "$2, $ours" "" "$checkccl" $few --algorithm=$ours ;;
    esac
}

# At most six at a time, the long ones first. Under racecheck, threads that share a device (suite crowd) mostly block without an
# end, until a signal wakes them. So only memcheck runs them.
part_sanitize() {
    export CCL_TEST_CROWDED=1
    for list in "memcheck labels, racecheck clusters" \
        "racecheck api, memcheck intensity, racecheck intensity" \
        "racecheck features, racecheck batch, memcheck api, memcheck strips, racecheck holes, memcheck holes" \
        "racecheck labels, memcheck features, memcheck clusters, racecheck hull, memcheck hull" \
        "racecheck table, memcheck volume, memcheck table, memcheck batch, memcheck crowd, memcheck little, memcheck maps" \
        "racecheck volume, racecheck maps, racecheck strips, racecheck little, memcheck meanwhile"; do
        echo "$list" | tr ',' '\n' | while read -r tool suite; do
            sanitize_suite "$tool" "$suite"
        done &
    done
    wait
}
