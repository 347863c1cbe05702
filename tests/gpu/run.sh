#!/bin/sh
# SPDX-FileCopyrightText: gst-ccl contributors
# SPDX-License-Identifier: LGPL-2.1-or-later

# Everything that needs a GPU, on a machine that has one; needs nvcc, Meson and ninja, no network, no git checkout.
#
#     tests/gpu/run.sh
#
# Writes tests/gpu/record.txt: date, GPU, driver, every check with its result, and the digests of the sources it ran on.
# Ends with 0 only if no check failed.
#
# CCL_BUILD     build folder (default: build-gpu); a checkccl that is in it already is used as it is
# CCL_CUDA_ARCH as nvcc -arch takes it (default: native)
# CCL_GST       folder with the plugin, the test programs of elements (test-*) and GStreamer (gst/env.sh), as tests/gpu/pack.sh
#               says; without it elements are skipped
set -u
top=$(cd "$(dirname "$0")/../.." && pwd)
build=${CCL_BUILD:-$top/build-gpu}
record=$top/tests/gpu/record.txt
logs=$build/gpu-logs
failed=0
PATH=$PATH:/usr/local/cuda/bin

if [ ! -x "$build/tests/checkccl/checkccl" ]; then
    meson setup "$build" "$top" -Dcuda=enabled -Dcuda-arch="${CCL_CUDA_ARCH:-native}" -Dgst=disabled &&
        meson compile -C "$build" || exit 1
fi
checkccl=$build/tests/checkccl/checkccl
checkmotion=$build/tests/checkmotion/checkmotion
newer=$(find "$top/kernels" "$top/tests/checkccl" "$top/tests/checkmotion" -type f -newer "$checkccl" | head -n 1)
[ -z "$newer" ] || { echo "$checkccl is older than $newer: build it again"; exit 1; }
mkdir -p "$logs"

{
    echo "date: $(date -u +%Y-%m-%dT%H:%MZ)"
    echo "gpu: $(nvidia-smi --query-gpu=name --format=csv,noheader | head -n 1)"
    echo "driver: $(nvidia-smi --query-gpu=driver_version --format=csv,noheader | head -n 1)"
    echo "cuda: $(nvcc --version | sed -n 's/.*release \([^,]*\),.*/\1/p')"
} > "$record"

# check NAME SECONDS COMMAND...: runs it, and records how it ended and what it said last
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
        124) result="failed (still running after $seconds s)" failed=1 ;;
        *) result="failed (status $status)" failed=1 ;;
    esac
    [ "${result%% *}" != failed ] || tail -n 20 "$log"
    echo "check: $name: $result in $took s: $said" | tee -a "$record"
}

skip() {
    echo "check: $1: skipped: $2" | tee -a "$record"
}

check "checkccl on CUDA" 600 "$checkccl" --backend=cuda
check "checkccl on CUDA, 16384x16384" 600 "$checkccl" --backend=cuda --suite=huge --quick
# runs.cu then has room for three components of a block in shared memory, and the others take the way past it.
check "checkccl on CUDA, little shared memory" 600 env CCL_TEST_LIMIT=3 \
    "$checkccl" --backend=cuda --algorithm=runs --quick --suite=table
check "checkmotion on CUDA" 600 "$checkmotion" cuda
for tool in memcheck racecheck; do
    if command -v compute-sanitizer > /dev/null; then
        check "$tool: motion" 600 compute-sanitizer --tool $tool --error-exitcode 9 "$checkmotion" cuda 9
        for suite in features api batch; do
            check "$tool: $suite" 600 compute-sanitizer --tool $tool --error-exitcode 9 \
                "$checkccl" --backend=cuda --quick --suite=$suite
        done
        check "$tool: volume" 600 compute-sanitizer --tool $tool --error-exitcode 9 \
            "$checkccl" --backend=cuda --quick --suite=volume --every=13
    else
        skip "$tool" "no compute-sanitizer"
    fi
done
check "benchmark" 600 "$checkccl" --backend=cuda --bench --rounds=5 \
    --kinds=video_salt0.05,noise_g1_d50,noise_g4_d50,noise_g16_d50,white,checkerboard,comb,spiral

if [ -n "${CCL_GST:-}" ]; then
    # shellcheck disable=SC1091
    [ ! -f "$CCL_GST/gst/env.sh" ] || . "$CCL_GST/gst/env.sh"
    export GST_PLUGIN_PATH="$CCL_GST" LD_LIBRARY_PATH="$CCL_GST:${LD_LIBRARY_PATH:-}" CK_DEFAULT_TIMEOUT=300
    for program in "$CCL_GST"/test-*; do
        check "elements: $(basename "$program" | sed 's/^test-//')" 300 "$program"
    done
    for memory in system packed cuda; do
        [ ! -x "$CCL_GST/many-cameras" ] || check "16 cameras, masks in $memory memory" 60 \
            "$CCL_GST/many-cameras" 16 10 --memory=$memory --label=backend=cuda
    done
else
    skip "elements" "CCL_GST names no folder with the plugin and its tests (tests/gpu/pack.sh)"
fi

[ ! -f "$logs/benchmark.log" ] || { echo; echo "benchmark:"; sed 's/^/    /' "$logs/benchmark.log"; } >> "$record"
{ echo; echo "sources:"; "$top/tests/gpu/sources.sh"; } >> "$record"
[ $failed = 0 ] && echo "everything passed; see tests/gpu/record.txt" || echo "FAILED; see tests/gpu/record.txt and $logs"
exit $failed
