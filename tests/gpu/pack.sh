#!/bin/sh
# SPDX-FileCopyrightText: gst-ccl contributors
# SPDX-License-Identifier: LGPL-2.1-or-later

# Gathers what tests/gpu/run.sh needs to test the elements on a GPU host without GStreamer's development files:
#
#     tests/gpu/pack.sh BUILD FOLDER
#
# From a build with CUDA and GStreamer in BUILD: the plugin, libgstccl-1.0, the test programs of the elements that know
# of CUDA and examples/many-cameras go to FOLDER, the real masks of ../shared/data (CCL_TEST_DATA) to FOLDER/data.
# GStreamer itself is expected in FOLDER/gst, however it got there: bin/ with gst-launch-1.0, gst-inspect-1.0 and
# gst-plugin-scanner, lib/ with what all of this is linked with, plugins/; without it the host's own GStreamer runs. BUILD
# is made with the version that is there: the tests use functions of its CUDA library that change from one to the next.
# Then, on the host: CCL_GST=FOLDER tests/gpu/run.sh; or with several folders, made with several versions of GStreamer.
set -eu
build=$1
folder=$2
mkdir -p "$folder"
cp "$build"/gst/elements/libgstccl.so "$build"/gst/ccl/libgstccl-1.0.so.0 "$folder"
for program in ccllabel ccllabel-contours ccllabel-cuda ccllabel-measures ccllabel-two-gpus ccllabel-volume cclmotion; do
    cp "$build/tests/elements/$program" "$folder/test-$program"
done
cp "$build/examples/many-cameras" "$folder"
strip "$folder"/*.so "$folder"/libgstccl-1.0.so.0 "$folder"/test-* "$folder/many-cameras"

# What run.sh compares: these programs are of these sources.
"$(dirname "$0")/sources.sh" elements > "$folder/digest"

# fits FOLDER/gst: has it what the programs are linked with, in the version that they were built with?
fits() {
    readelf -d "$folder"/*.so* "$folder"/test-* "$folder/many-cameras" | sed -n 's/.*NEEDED.*\[\(libgst.*\)\]/\1/p' |
        sort -u | while read -r library; do
            [ -e "$folder/$library" ] || [ -e "$1/lib/$library" ] || { echo "no $library in $1/lib" >&2; exit 1; }
        done || return 1
    there=$(LD_LIBRARY_PATH="$1/lib" "$1/bin/gst-inspect-1.0" --version | sed -n 's/^GStreamer \([0-9]*\.[0-9]*\).*/\1/p')
    built=$(meson introspect "$build" --dependencies | tr '{' '\n' |
        sed -n 's/.*"name": "gstreamer-1.0".*"version": "\([0-9]*\.[0-9]*\).*/\1/p')
    [ "$there" = "$built" ] || { echo "GStreamer $there in $1, $build is made with $built" >&2; return 1; }
}
[ ! -d "$folder/gst" ] || fits "$folder/gst"

data=${CCL_TEST_DATA:-$(dirname "$0")/../../../shared/data}/masks
if [ -f "$data/still/feyn.png" ]; then
    mkdir -p "$folder/data/masks/still"
    cp "$data/still/feyn.png" "$data/still/feyn-fract.png" "$folder/data/masks/still"
    [ ! -d "$data/davis-cows" ] || cp -r "$data/davis-cows" "$folder/data/masks"
else
    echo "no $data/still/feyn.png: the real masks will not be tried"
fi
ls -l "$folder"
