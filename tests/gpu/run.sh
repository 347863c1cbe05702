#!/bin/sh
# SPDX-FileCopyrightText: gst-ccl contributors
# SPDX-License-Identifier: LGPL-2.1-or-later

# Everything that needs a GPU, on a machine that has one; needs nvcc, Meson and ninja, no network, no git checkout.
#
#     tests/gpu/run.sh [PART...]
#
# check      every method against the reference, in all sizes
# elements   the elements; skipped without CCL_GST
# sanitize   compute-sanitizer's memcheck and racecheck
# alone      what compares the device's free memory before and after, every method a thousand times over, many cameras;
#            some of it skipped without CCL_GST
# bench      the benchmark, on some kinds of images
#
# check, elements and sanitize run at the same time, then alone, then bench: the device must have nothing else to do.
#
# Without arguments all of them. Parts may run one call after another; what they found stays in the build folder. Writes
# tests/gpu/record.txt: date, GPU, driver, every check with its result, and the digests of the sources it ran on. A part
# that has not run on these sources counts as failed there. Ends with 0 only if no check failed.
#
# CCL_BUILD     build folder (default: build-gpu); a checkccl that is in it already is used as it is
# CCL_CUDA_ARCH as nvcc -arch takes it (default: native)
# CCL_GST       folders with the plugin, the test programs of the elements and GStreamer, as tests/gpu/pack.sh makes
#               them; with spaces between, the newest GStreamer last
set -u
top=$(cd "$(dirname "$0")/../.." && pwd)
build=${CCL_BUILD:-$top/build-gpu}
record=$top/tests/gpu/record.txt
logs=$build/gpu-logs
all_parts="check elements sanitize alone bench"
PATH=$PATH:/usr/local/cuda/bin

for part; do
    case " $all_parts " in
    *" $part "*) ;;
    *) sed -n '/^# Everything/,/^set/s/^# \{0,1\}//p' "$0" >&2; exit 2 ;;
    esac
done
# shellcheck disable=SC2086
[ $# -gt 0 ] || set -- $all_parts

if [ ! -x "$build/tests/checkccl/checkccl" ]; then
    meson setup "$build" "$top" -Dcuda=enabled -Dcuda-arch="${CCL_CUDA_ARCH:-native}" -Dgst=disabled &&
        meson compile -C "$build" || exit 1
fi
checkccl=$build/tests/checkccl/checkccl
checkmotion=$build/tests/checkmotion/checkmotion
newer=$(find "$top/kernels" "$top/tests/checkccl" "$top/tests/checkmotion" -type f -newer "$checkccl" | head -n 1)
[ -z "$newer" ] || { echo "$checkccl is older than $newer: build it again"; exit 1; }
mkdir -p "$logs"

# Each part writes what it found to $found.

# check NAME SECONDS COMMAND...: runs it, and notes how it ended and what it said last
check() {
    name=$1
    seconds=$2
    shift 2
    log=$logs/$(echo "$name" | tr -cs 'A-Za-z0-9\n' -).log
    echo "==== $name"
    start=$(date +%s)
    timeout "$seconds" "$@" < /dev/null > "$log" 2>&1
    status=$?
    took=$(($(date +%s) - start))
    said=$(grep -v '^ *$' "$log" | tail -n 1)
    case $status in
        0) result=passed ;;
        77) result=skipped ;;
        124) result="failed (still running after $seconds s)" ;;
        *) result="failed (status $status)" ;;
    esac
    [ "${result%% *}" != failed ] || tail -n 20 "$log"
    echo "check: $name: $result in $took s: $said" | tee -a "$found"
}

skip() {
    echo "check: $1: skipped: $2" | tee -a "$found"
}

ours=runs,bke,ha4,ha8 # what users run; the other methods are for comparison

# ---------------------------------------------------------------- check

# Checks run beside each other where no time counts: most of theirs is one thread's on the host. But not too many: the
# GPU turns from one program to another, which takes long. What an H200 did in 5 s alone took 65 s beside 15 others.

part_check() {
    export CCL_TEST_CROWDED=1
    # All suites but those that get a program of their own.
    others=$("$checkccl" --list | sed -n '/^suites:/{n;s/^ *//;s/ /,/g;s/labels,//;s/repeat,//;s/,huge//;p;}')
    check "checkccl, runs, labels, 8-connected" 450 \
        "$checkccl" --backend=cuda --algorithm=runs --suite=labels --connectivity=8 &
    {
        check "checkccl, bke,ha4,ha8, labels, a third of the cases" 450 \
            "$checkccl" --backend=cuda --algorithm=bke,ha4,ha8 --suite=labels --every=3
        # runs.cu then has room for three components and three pairs of a block in shared memory; others go past it.
        check "checkccl, little shared memory" 300 env CCL_TEST_LIMIT=3 \
            "$checkccl" --backend=cuda --algorithm=runs --quick --suite=table,labels
        # runs.cu then takes strips of two rows in all tiles, not only in those with very many runs, and small page-locked
        # masks too are packed by device and caller.
        check "checkccl, strips, shared masks" 300 env CCL_TEST_STRIPS=1 CCL_TEST_SHARED=60 \
            "$checkccl" --backend=cuda --algorithm=runs --quick --connectivity=8 --suite=table,labels,features
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
        check "checkmotion" 300 "$checkmotion" cuda
        # Frames of contexts that share the device each go by a cluster of blocks, as in batches; then past its room, too.
        check "checkccl, clusters" 300 env CCL_TEST_CLUSTERS=1 \
            "$checkccl" --backend=cuda --algorithm=runs --shared --quick --suite=table,labels,features
        check "checkccl, clusters, little shared memory" 300 env CCL_TEST_CLUSTERS=1 CCL_TEST_LIMIT=3 \
            "$checkccl" --backend=cuda --algorithm=runs --shared --quick --every=3 --suite=table,labels,features
    } &
    wait
}

# ---------------------------------------------------------------- elements

# in_gst FOLDER COMMAND...: in a subshell, with the plugin and the GStreamer of FOLDER
in_gst() (
    folder=$1
    shift
    export GST_PLUGIN_PATH="$folder" CK_DEFAULT_TIMEOUT=300 CK_TIMEOUT_MULTIPLIER=3
    export LD_LIBRARY_PATH="$folder${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
    if [ -d "$folder/gst" ]; then
        export PATH="$folder/gst/bin:$PATH" LD_LIBRARY_PATH="$folder/gst/lib:$LD_LIBRARY_PATH"
        export GST_PLUGIN_SYSTEM_PATH="$folder/gst/plugins" GST_PLUGIN_SCANNER="$folder/gst/bin/gst-plugin-scanner"
        export GST_REGISTRY="$folder/registry.bin"
    fi
    "$@"
)

# "GStreamer 1.26.2"; makes the registry of plugins, too.
gst_of() {
    in_gst "$1" gst-inspect-1.0 ccllabel > /dev/null
    in_gst "$1" gst-inspect-1.0 --version | sed -n 's/^\(GStreamer [0-9.]*\).*/\1/p'
}

skip_without_gst() {
    [ -z "${CCL_GST:-}" ] || return 1
    skip "$1" "CCL_GST names no folder with the plugin and its tests (tests/gpu/pack.sh)"
}

# elements_in FOLDER
elements_in() {
    gst=$(gst_of "$1")
    data=${CCL_TEST_DATA:-$1/data}
    {
        in_gst "$1" check "$gst: real masks, gst-launch-1.0" 300 \
            python3 "$top/tests/elements/ccllabel-data.py" "$data" cuda
        in_gst "$1" check "$gst: ccllabel-cuda" 300 "$1/test-ccllabel-cuda"
    } &
    for program in ccllabel ccllabel-contours ccllabel-volume cclmotion; do
        in_gst "$1" check "$gst: $program" 300 "$1/test-$program"
    done
    wait
}

part_elements() {
    export CCL_TEST_CROWDED=1
    ! skip_without_gst "elements" || return
    for folder in $CCL_GST; do
        elements_in "$folder" &
    done
    wait
}

# ---------------------------------------------------------------- sanitize

# sanitize TOOL WHAT: a suite of checkccl, motion, or a test program of the elements with the newest GStreamer, in one
# process and without the tests whose device fails on purpose
sanitize() {
    under="compute-sanitizer --tool $1 --error-exitcode 9"
    few="--backend=cuda --quick --suite=$2"
    labels_every=$([ "$1" = memcheck ] && echo 599 || echo 197)
    little_every=$([ "$1" = memcheck ] && echo 83 || echo 197)
    cluster_every=$([ "$1" = memcheck ] && echo 83 || echo 307)
    folder=${CCL_GST:-}
    folder=${folder##* }
    rm -f "$logs/$1-$2"*.log
    # shellcheck disable=SC2086
    case $2 in
    motion) check "$1: motion" 300 $under "$checkmotion" cuda 9 ;;
    volume) check "$1: volume" 300 $under "$checkccl" $few --every=13 ;;
    labels) check "$1: $2, every method, a few cases" 300 $under "$checkccl" $few --every=$labels_every --pixels=8000 ;;
    strips)
        check "$1: $2, runs" 300 env CCL_TEST_STRIPS=1 CCL_TEST_SHARED=60 $under "$checkccl" --backend=cuda --quick \
            --suite=labels,table --algorithm=runs --connectivity=8 --every=61 --pixels=60000
        ;;
    little)
        check "$1: little room, runs" 300 env CCL_TEST_LIMIT=3 $under "$checkccl" --backend=cuda --quick \
            --suite=table --algorithm=runs --every=$little_every --pixels=60000
        ;;
    clusters)
        for limit in 99999 3; do
            check "$1: $2, room for $limit" 300 env CCL_TEST_CLUSTERS=1 CCL_TEST_LIMIT=$limit $under "$checkccl" \
                --backend=cuda --quick --shared --suite=labels,table --algorithm=runs --every=$cluster_every \
                --pixels=60000
        done
        ;;
    table) check "$1: $2, every method, a few cases" 300 $under "$checkccl" $few --every=97 --pixels=8000 ;;
    ccl*)
        in_gst "$folder" check "$1: $2, $(gst_of "$folder")" 300 env CK_FORK=no CK_DEFAULT_TIMEOUT=0 \
            GST_CHECKS_IGNORE="test_device_fails*" $under "$folder/test-$2"
        ;;
    api | batch) # racecheck looks at kernels, however they are launched: no graphs; a frame by a cluster takes it seconds
        without=$([ "$1" = memcheck ] || echo "CCL_TEST_GRAPHS=0 CCL_TEST_CLUSTERS=0")
        for methods in runs ${ours#runs,}; do # all four in a process sometimes wait for ever under racecheck
            check "$1: $2, $methods" 200 env $without $under "$checkccl" $few --algorithm=$methods
        done
        ;;
    *) check "$1: $2, $ours" 300 $under "$checkccl" $few --algorithm=$ours ;;
    esac
    if grep -q "Internal Sanitizer Error" "$logs/$1-$2"*.log || grep -q "^check: racecheck: $2.*still running" "$found"; then
        echo "$1 $2" >> "$logs/again"
    fi
}

# Never more than six at a time, the long ones first. Even so compute-sanitizer may lose track of a launch, and says so, and
# racecheck may wait for ever: then once more, when the parts beside it have ended, too. Under racecheck threads that share a
# device (suite crowd) mostly wait so, all asleep; a signal, sent to look at them, made them go on. So memcheck has them alone.
part_sanitize() {
    export CCL_TEST_CROWDED=1
    if ! command -v compute-sanitizer > /dev/null; then
        skip "memcheck and racecheck" "no compute-sanitizer"
        return
    fi
    : > "$logs/again"
    for list in "memcheck labels, memcheck motion, racecheck clusters" \
        "racecheck api, racecheck motion" \
        "racecheck features, racecheck batch, memcheck api, memcheck strips" \
        "racecheck labels, memcheck features, memcheck clusters" \
        "racecheck table, memcheck volume, memcheck table, memcheck batch, memcheck crowd, memcheck little"; do
        echo "$list" | tr ',' '\n' | while read -r tool what; do
            sanitize "$tool" "$what"
        done &
    done
    {
        sanitize racecheck volume
        sanitize racecheck strips
        sanitize racecheck little
        skip_without_gst "memcheck: elements" ||
            for program in ccllabel-cuda ccllabel-contours ccllabel-volume cclmotion; do
                sanitize memcheck $program
            done
    } &
    wait
}

# What compute-sanitizer lost track of, or did not end.
sanitize_again() {
    export CCL_TEST_CROWDED=1
    found=$logs/part-sanitize.txt
    [ -s "$logs/again" ] || return
    mv "$logs/again" "$logs/again-now"
    while read -r tool what; do
        sed -i "/^check: $tool: $what/s/^check:/note: beside others:/" "$found"
        sanitize "$tool" "$what"
    done < "$logs/again-now"
    rm -f "$logs/again"
}

# ---------------------------------------------------------------- alone

part_alone() {
    check "checkccl, every method, 1000 repetitions" 200 "$checkccl" --backend=cuda --suite=repeat
    for limit in 4 8; do
        check "checkccl, room for $limit in shared memory, 1000 repetitions" 60 env CCL_TEST_LIMIT=$limit \
            "$checkccl" --backend=cuda --algorithm=runs --suite=repeat
    done
    check "checkccl, clusters, 1000 repetitions" 60 env CCL_TEST_CLUSTERS=1 \
        "$checkccl" --backend=cuda --algorithm=runs --suite=repeat
    check "device memory: checkccl, $ours, batch" 100 "$checkccl" --backend=cuda --algorithm=$ours --suite=batch
    ! skip_without_gst "device memory: elements" || return
    for folder in $CCL_GST; do
        in_gst "$folder" check "device memory: $(gst_of "$folder"), ccllabel-cuda" 100 \
            env CK_RUN_CASE=memory "$folder/test-ccllabel-cuda"
    done
    folder=${CCL_GST%% *}
    for memory in system pinned cuda; do
        in_gst "$folder" check "16 cameras, masks in $memory memory" 60 \
            "$folder/many-cameras" 16 3 --memory=$memory --label=backend=cuda
    done
}

# ---------------------------------------------------------------- bench

part_bench() {
    check "benchmark" 300 "$checkccl" --backend=cuda --bench --rounds=5 --algorithm=$ours \
        --kinds=video_salt0.05,noise_g1_d50,noise_g4_d50,noise_g16_d50,white,checkerboard,comb,spiral
    { echo; echo "benchmark:"; sed 's/^/    /' "$logs/benchmark.log"; } >> "$found"
}

# ---------------------------------------------------------------- all of them

run_part() {
    found=$logs/part-$1.txt
    rm -f "$found.sources"
    : > "$found"
    "part_$1"
    [ -s "$found" ] || echo "check: $1: failed: it noted nothing" > "$found"
    "$top/tests/gpu/sources.sh" > "$found.sources"
}

for group in "check elements sanitize" alone bench; do
    for part in $group; do
        case " $* " in *" $part "*) run_part "$part" & ;; esac
    done
    wait
    case "$group; $* " in check*";"*" sanitize "*) (sanitize_again) ;; esac
done

"$top/tests/gpu/sources.sh" > "$logs/sources"

{
    echo "date: $(date -u +%Y-%m-%dT%H:%MZ)"
    echo "gpu: $(nvidia-smi --query-gpu=name --format=csv,noheader | head -n 1)"
    echo "driver: $(nvidia-smi --query-gpu=driver_version --format=csv,noheader | head -n 1)"
    echo "cuda: $(nvcc --version | sed -n 's/.*release \([^,]*\),.*/\1/p')"
    for part in $all_parts; do
        if cmp -s "$logs/sources" "$logs/part-$part.txt.sources"; then
            cat "$logs/part-$part.txt"
        else
            echo "check: $part: failed: tests/gpu/run.sh $part has not run on these sources"
        fi
    done
    echo
    echo "sources:"
    cat "$logs/sources"
} > "$record"
if grep -q '^check: .*: failed' "$record"; then
    echo "FAILED; see tests/gpu/record.txt and $logs"
    exit 1
fi
echo "everything passed; see tests/gpu/record.txt"
