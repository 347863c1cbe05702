#!/bin/sh
# SPDX-FileCopyrightText: gst-ccl contributors
# SPDX-License-Identifier: LGPL-2.1-or-later

# The sources that a part of the GPU record stands for. They are computed from the files, because the copy on a GPU host
# need not be a git checkout.
#
#     tests/gpu/sources.sh --parts        the parts of tests/gpu/run.sh, in the order of the record
#     tests/gpu/sources.sh --list PART    the path of each source that the part runs
#     tests/gpu/sources.sh PART           one SHA-256 over the paths and contents of these sources
set -eu
cd "$(dirname "$0")/../.."

sources_in() {
    find "$@" -type f \( -name '*.c' -o -name '*.h' -o -name '*.cu' -o -name '*.cuh' -o -name meson.build \)
}

list() {
    case $1 in
    check | sanitize | alone | bench) # labelling: neither motion nor the analysis of tables
        sources_in kernels tests/checkccl | grep -vE '^kernels/((.*/)?motion|analysis/(assignment|track|zone))'
        ;;
    motion)
        sources_in kernels tests/checkmotion | grep -v '^kernels/analysis/'
        ls tests/checkccl/device*
        ;;
    elements | cameras | gpus)
        sources_in kernels | grep -vE '^kernels/analysis/(assignment|track|zone)' # these elements do not track
        # The elements that run on the device, and the metadata library.
        sources_in gst/ccl gst/elements/base gst/elements/label gst/elements/motion
        { [ ! -d tests/support ] || sources_in tests/support; sources_in tests/elements; } | grep -E '/(support|ccllabel|cclmotion)'
        sources_in examples/many-cameras
        ;;
    esac
    echo "tests/gpu/parts/$1.sh"
}

case ${1:-} in
--parts) echo check motion elements sanitize alone cameras gpus bench ;;
--list) list "$2" | LC_ALL=C sort ;;
check | motion | elements | sanitize | alone | cameras | gpus | bench)
    list "$1" | LC_ALL=C sort | xargs sha256sum | sha256sum | cut -d ' ' -f 1
    ;;
*)
    sed -n '/^# The/,/^set/s/^# \{0,1\}//p' "$0" >&2
    exit 2
    ;;
esac
