#!/bin/sh
# SPDX-FileCopyrightText: gst-ccl contributors
# SPDX-License-Identifier: LGPL-2.1-or-later

# Everything that needs a GPU, on a machine that has one; needs nvcc, Meson and ninja, no network, no git checkout.
#
#     tests/gpu/run.sh [PART...]
#
# check      labelling: every method against the reference, in all sizes
# motion     the motion detector, and compute-sanitizer's memcheck and racecheck of it
# elements   the elements, and memcheck of them; needs CCL_GST
# sanitize   memcheck and racecheck of labelling
# alone      labelling: every method but iterative ones a thousand times over, the device's free memory before and after
# cameras    the elements: the device's free memory, 16 cameras; needs CCL_GST
# gpus       the elements on two GPUs: placement, speed, a GPU that fails; needs CCL_GST and two GPUs
# bench      the benchmark, on some kinds of images
#
# The first four run at the same time, then each of the others: the device must have nothing else to do.
#
# Without arguments all of them that can run: without CCL_GST, or the toolkit's compute-sanitizer, some cannot. Each part
# that ran gets a new section in tests/gpu/record.txt; the others stay as they are. A section has the date, the GPU, one
# digest of the sources and a line for each check. check-record.sh names the parts that have to run again after a change.
# Exits 0 only if no check failed.
#
# CCL_BUILD     build folder (default: build-gpu); a checkccl that is in it already is used as it is
# CCL_CUDA_ARCH as nvcc -arch takes it (default: native)
# CCL_GST       folders with the plugin, the test programs of the elements and GStreamer, as tests/gpu/pack.sh makes
#               them; with spaces between, the newest GStreamer last
set -u
here=$(cd "$(dirname "$0")" && pwd)
top=$(cd "$here/../.." && pwd)
build=${CCL_BUILD:-$top/build-gpu}
record=$here/record.txt
logs=$build/gpu-logs
together="check motion elements sanitize"
PATH=$PATH:/usr/local/cuda/bin

# can_run PART: says why not
can_run() {
    case $1 in
    elements | cameras | gpus)
        [ -n "${CCL_GST:-}" ] ||
            { echo "$1: CCL_GST must name a folder with the plugin and its tests (tests/gpu/pack.sh makes it)"; return 1; }
        for folder in $CCL_GST; do
            [ "$("$here/sources.sh" elements)" = "$(cat "$folder/digest" 2> /dev/null)" ] ||
                { echo "$1: $folder was packed from other sources: tests/gpu/pack.sh makes it"; return 1; }
        done
        [ "$1" != gpus ] || [ "$(nvidia-smi -L 2> /dev/null | grep -c '^GPU')" -ge 2 ] ||
            { echo "$1: needs two GPUs"; return 1; }
        ;;
    sanitize | motion)
        command -v compute-sanitizer > /dev/null || { echo "$1: needs compute-sanitizer, of the CUDA toolkit"; return 1; }
        ;;
    esac
}

for part; do
    [ -f "$here/parts/$part.sh" ] || { sed -n '/^# Everything/,/^set/s/^# \{0,1\}//p' "$0" >&2; exit 2; }
    can_run "$part" || exit 2
done
if [ $# = 0 ]; then
    for part in $("$here/sources.sh" --parts); do
        ! can_run "$part" || set -- "$@" "$part"
    done
fi
nvidia-smi > /dev/null 2>&1 || { echo "there is no GPU here, or no driver for it"; exit 2; }

if [ ! -x "$build/tests/checkccl/checkccl" ]; then
    meson setup "$build" "$top" -Dcuda=enabled -Dcuda-arch="${CCL_CUDA_ARCH:-native}" -Dgst=disabled &&
        meson compile -C "$build" || exit 1
fi
checkccl=$build/tests/checkccl/checkccl
checkmotion=$build/tests/checkmotion/checkmotion
for program in "$checkccl" "$checkmotion"; do
    newer=$(find "$top/kernels" "$top/tests/checkccl" "$top/tests/checkmotion" -type f -newer "$program" | head -n 1)
    [ -z "$newer" ] || { echo "$program is older than $newer: build it again"; exit 1; }
done
mkdir -p "$logs"
rm -f "$logs/again"

# ---------------------------------------------------------------- what the parts are made of

ours=runs,bke,ha4,ha8 # what users run; the other methods are for comparison

# check NAME SECONDS COMMAND...: runs it, and notes in the part's section how it ended and what it said last
#
# Checks run beside each other where no time counts: most of theirs is one thread's on the host. But not too many: the
# GPU turns from one program to another, which takes long. What an H200 did in 5 s alone took 65 s beside 15 others.
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
    said=$(grep -v '^ *$' "$log" | tail -n 1 | sed 's/^[= ]*//;s/  */ /g')
    case $status in
        0) result=passed ;;
        77) result=skipped ;;
        124) result=failed said="still running after $seconds s" ;;
        *) result=failed said="status $status; $said" ;;
    esac
    [ $result != failed ] || tail -n 20 "$log"
    echo "$result: $name: $took s: $said" | tee -a "$found"
}

# sanitize TOOL NAME SETTINGS COMMAND...: a check under compute-sanitizer; SETTINGS are variables of its environment
#
# Beside other programs the tool may report that it lost a launch, and racecheck may not end. Then the check runs once more,
# when the others have ended.
sanitize() {
    tool=$1
    what=$2
    settings=$3
    shift 3
    # shellcheck disable=SC2086
    check "$tool: $what" 300 env $settings compute-sanitizer --tool "$tool" --error-exitcode 9 "$@"
    if grep -q "Internal Sanitizer Error" "$log" || [ "$tool $status" = "racecheck 124" ]; then
        echo "$part|$tool|$what|$settings|$*" >> "$logs/again"
    fi
}

sanitize_again() {
    export CCL_TEST_CROWDED=1
    [ -s "$logs/again" ] || return
    mv "$logs/again" "$logs/again-now"
    while IFS='|' read -r part tool what settings command; do
        found=$logs/part-$part.txt
        sed -i "/^[a-z]*: $tool: $what: /s/^/beside others: /" "$found"
        # shellcheck disable=SC2086
        sanitize "$tool" "$what" "$settings" $command
    done < "$logs/again-now"
}

# gst_settings FOLDER: variables with which a program finds the plugin and the GStreamer of FOLDER
gst_settings() {
    libraries=$1 path=$PATH
    if [ -d "$1/gst" ]; then
        libraries=$1/gst/lib:$1 path=$1/gst/bin:$PATH
        echo "GST_PLUGIN_SYSTEM_PATH=$1/gst/plugins GST_PLUGIN_SCANNER=$1/gst/bin/gst-plugin-scanner"
        echo "GST_REGISTRY=$1/registry.bin"
    fi
    echo "PATH=$path LD_LIBRARY_PATH=$libraries${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH} GST_PLUGIN_PATH=$1"
    echo "CK_DEFAULT_TIMEOUT=300 CK_TIMEOUT_MULTIPLIER=3"
}

# gst_of FOLDER: "GStreamer 1.26.2"; makes the registry of plugins, too
gst_of() {
    # shellcheck disable=SC2046
    env $(gst_settings "$1") sh -c 'gst-inspect-1.0 ccllabel > /dev/null; gst-inspect-1.0 --version' |
        sed -n 's/^\(GStreamer [0-9.]*\).*/\1/p'
}

# check_in FOLDER NAME SECONDS COMMAND...: a check with the plugin and the GStreamer of FOLDER, which is $gst
check_in() {
    settings=$(gst_settings "$1")
    name="$gst: $2"
    seconds=$3
    shift 3
    # shellcheck disable=SC2086
    check "$name" "$seconds" env $settings "$@"
}

# ---------------------------------------------------------------- all of them

run_part() {
    part=$1
    found=$logs/part-$part.txt
    : > "$found"
    "$here/sources.sh" "$part" > "$logs/digest-$part"
    # shellcheck source=/dev/null
    . "$here/parts/$part.sh"
    "part_$part"
    [ -s "$found" ] || echo "failed: $part: no check ran" > "$found"
}

for part in $together; do
    case " $* " in *" $part "*) run_part "$part" & ;; esac
done
wait
(sanitize_again)
for part; do
    case " $together " in *" $part "*) ;; *) run_part "$part" ;; esac
done

# gpu_says WHAT
gpu_says() {
    nvidia-smi --query-gpu="$1" --format=csv,noheader | head -n 1
}

cuda=$(nvcc --version | sed -n 's/.*release \([^,]*\),.*/\1/p')
device="$(gpu_says name), driver $(gpu_says driver_version), CUDA $cuda"
[ -f "$record" ] || : > "$record"
for part in $("$here/sources.sh" --parts); do
    case " $* " in
    *" $part "*)
        printf 'part %s: %s, %s\ndigest: %s\n' "$part" "$(date -u +%Y-%m-%dT%H:%MZ)" "$device" "$(cat "$logs/digest-$part")"
        cat "$logs/part-$part.txt"
        ;;
    *) sed -n "/^part $part:/,/^part /{/^part $part:/p;/^part /!p;}" "$record" ;;
    esac
done > "$logs/record.txt"
cp "$logs/record.txt" "$record"

"$here/check-record.sh"
