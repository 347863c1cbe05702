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
check | sanitize | alone | bench) # labelling: of the core neither motion nor tracks
    list() {
        sources_in kernels tests/checkccl | grep -vE '^kernels/(.*/)?(assign|motion|track)[._]'
        echo kernels/motion.h # names what is in polygon.c, too
    }
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
        # Of the elements those that run on the device.
        sources_in gst | grep -vE '^gst/elements/gstccl(canvas|drawing|json|meta|mqtt|overlay|track|zone)'
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
