#!/bin/sh
# SPDX-FileCopyrightText: gst-ccl contributors
# SPDX-License-Identifier: LGPL-2.1-or-later

# Everything that needs a GPU, on a machine that has one; needs nvcc, Meson and ninja, no network, no git checkout.
#
#     tests/gpu/run.sh [PART...]
#
# check      every method against the reference, in all sizes
# sanitize   compute-sanitizer's memcheck and racecheck
# bench      the benchmark, on some kinds of images
# elements   the elements, and many cameras; skipped without CCL_GST
#
# Without arguments all of them. Parts may run one call after another; what they found stays in the build folder. Writes
# tests/gpu/record.txt: date, GPU, driver, every check with its result, and the digests of the sources it ran on. A part
# that has not run on these sources counts as failed there. Ends with 0 only if no check failed.
#
# CCL_BUILD     build folder (default: build-gpu); a checkccl that is in it already is used as it is
# CCL_CUDA_ARCH as nvcc -arch takes it (default: native)
# CCL_GST       folder with the plugin, the test programs of elements (test-*) and GStreamer (gst/env.sh), as tests/gpu/pack.sh
#               says
set -u
top=$(cd "$(dirname "$0")/../.." && pwd)
build=${CCL_BUILD:-$top/build-gpu}
record=$top/tests/gpu/record.txt
logs=$build/gpu-logs
all_parts="check sanitize bench elements"
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
    timeout "$seconds" "$@" > "$log" 2>&1
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

# Checks run beside each other where no time counts: most of theirs is one thread's on the host.

part_check() {
    check "checkccl, $ours" 400 "$checkccl" --backend=cuda --algorithm=$ours &
    check "checkccl, every method, some cases" 300 "$checkccl" --backend=cuda --quick --every=2 &
    check "checkccl, 16384x16384" 300 "$checkccl" --backend=cuda --algorithm=$ours --suite=huge --quick &
    # runs.cu then has room for three components and three pairs of a block in shared memory; others go past it.
    for suite in table labels; do
        check "checkccl, little shared memory, $suite" 300 env CCL_TEST_LIMIT=3 \
            "$checkccl" --backend=cuda --algorithm=runs --quick --suite=$suite &
    done
    check "checkmotion" 300 "$checkmotion" cuda &
    wait
}

part_sanitize() {
    if ! command -v compute-sanitizer > /dev/null; then
        skip "memcheck and racecheck" "no compute-sanitizer"
        return
    fi
    for tool in memcheck racecheck; do
        under="compute-sanitizer --tool $tool --error-exitcode 9"
        # shellcheck disable=SC2086
        for suite in features api batch; do
            check "$tool: $suite, $ours" 300 \
                $under "$checkccl" --backend=cuda --algorithm=$ours --quick --suite=$suite &
        done
        # shellcheck disable=SC2086
        {
            check "$tool: motion" 300 $under "$checkmotion" cuda 9 &
            check "$tool: volume" 300 $under "$checkccl" --backend=cuda --quick --suite=volume --every=13 &
            # An H200 takes some 65 s for memcheck with every=421, 35 s for racecheck with every=293.
            check "$tool: labels, every method, a few cases" 300 \
                $under "$checkccl" --backend=cuda --quick --suite=labels \
                --every=$([ $tool = memcheck ] && echo 421 || echo 197) --pixels=8000 &
        }
    done
    wait
}

part_bench() {
    check "benchmark" 300 "$checkccl" --backend=cuda --bench --rounds=5 --algorithm=$ours \
        --kinds=video_salt0.05,noise_g1_d50,noise_g4_d50,noise_g16_d50,white,checkerboard,comb,spiral
    { echo; echo "benchmark:"; sed 's/^/    /' "$logs/benchmark.log"; } >> "$found"
}

part_elements() {
    if [ -z "${CCL_GST:-}" ]; then
        skip "elements" "CCL_GST names no folder with the plugin and its tests (tests/gpu/pack.sh)"
        return
    fi
    # shellcheck disable=SC1091
    [ ! -f "$CCL_GST/gst/env.sh" ] || . "$CCL_GST/gst/env.sh"
    export GST_PLUGIN_PATH="$CCL_GST" LD_LIBRARY_PATH="$CCL_GST:${LD_LIBRARY_PATH:-}" CK_DEFAULT_TIMEOUT=300
    for program in "$CCL_GST"/test-*; do
        check "elements: $(basename "$program" | sed 's/^test-//')" 300 "$program"
    done
    for memory in system pinned cuda; do
        [ ! -x "$CCL_GST/many-cameras" ] || check "16 cameras, masks in $memory memory" 60 \
            "$CCL_GST/many-cameras" 16 10 --memory=$memory --label=backend=cuda
    done
}

for part; do
    found=$logs/part-$part.txt
    rm -f "$found.sources"
    : > "$found"
    "part_$part"
    "$top/tests/gpu/sources.sh" > "$found.sources"
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
