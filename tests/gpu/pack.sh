#!/bin/sh
# SPDX-FileCopyrightText: gst-ccl contributors
# SPDX-License-Identifier: LGPL-2.1-or-later

# Gathers what tests/gpu/run.sh needs to test the elements on a GPU host without GStreamer's development files:
#
#     tests/gpu/pack.sh BUILD FOLDER
#
# From a build with CUDA and GStreamer in BUILD: the plugin, libgstccl-1.0, the test program of every element and
# examples/many-cameras go to FOLDER. GStreamer itself, with an env.sh that sets its paths, is expected in FOLDER/gst,
# however it got there; without it the host's own GStreamer runs. Then, on the host: CCL_GST=FOLDER tests/gpu/run.sh
set -eu
build=$1
folder=$2
mkdir -p "$folder"
cp "$build"/gst/elements/*.so "$build"/gst/ccl/libgstccl-1.0.so.0 "$folder"
for program in ccllabel ccllabel-cuda ccllabel-volume cclmotion; do
    cp "$build/tests/elements/$program" "$folder/test-$program"
done
cp "$build/examples/many-cameras" "$folder"
strip "$folder"/*.so "$folder"/libgstccl-1.0.so.0 "$folder"/test-* "$folder/many-cameras"
ls -l "$folder"
