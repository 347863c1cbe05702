#!/bin/sh
# SPDX-FileCopyrightText: gst-ccl contributors
# SPDX-License-Identifier: LGPL-2.1-or-later

# What the GPU record stands for, from the files themselves: a copy on a GPU host need not be a git checkout.
#
#     tests/gpu/sources.sh --parts    the parts of tests/gpu/run.sh, in the order of the record
#     tests/gpu/sources.sh PART       one line `sha256  path` for every source of what a part runs
set -eu
cd "$(dirname "$0")/../.."

sources_in() {
    find "$@" -type f \( -name '*.c' -o -name '*.h' -o -name '*.cu' -o -name '*.cuh' -o -name meson.build \)
}

case ${1:-} in
--parts)
    echo check motion elements sanitize alone cameras bench
    exit
    ;;
check | sanitize | alone | bench) # labelling: what of the core checkccl does not use is left out
    list() { sources_in kernels tests/checkccl | grep -vE '^kernels/(.*/)?(assign|motion|polygon|track)[._]'; }
    ;;
motion)
    list() {
        sources_in kernels tests/checkmotion
        ls tests/checkccl/device*
    }
    ;;
elements | cameras)
    list() {
        sources_in kernels
        sources_in gst | xargs grep -li cuda
        find tests/elements -name 'ccllabel*' -o -name 'cclmotion*' -o -name upstream.h
        echo examples/many-cameras.c
    }
    ;;
*)
    sed -n '/^# What/,/^set/s/^# \{0,1\}//p' "$0" >&2
    exit 2
    ;;
esac
{ list; echo "tests/gpu/parts/$1.sh"; } | LC_ALL=C sort | xargs sha256sum
