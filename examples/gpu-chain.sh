#!/bin/sh
# SPDX-FileCopyrightText: gst-ccl contributors
# SPDX-License-Identifier: LGPL-2.1-or-later

# Writes what moves in an H.264 or H.265 video as lines of JSON, with the whole chain on an NVIDIA GPU. NVDEC decodes, and CUDA
# detects motion and labels. Only the table of blobs leaves the GPU.
#
#     meson devenv -C build -w . examples/gpu-chain.sh VIDEO.mp4|VIDEO.mkv [PROPERTY=VALUE of ccllabel ...] > blobs.ndjson
set -eu

die() { printf 'gpu-chain.sh: %s\n' "$*" >&2; exit 1; }

[ $# -gt 0 ] || die "which video? examples/gpu-chain.sh VIDEO [PROPERTY=VALUE ...]"
file=$1
shift
[ -f "$file" ] && [ -r "$file" ] || die "cannot read: $file"
case $file in
*.mp4 | *.mov | *.m4v) demux=qtdemux ;;
*.mkv | *.webm) demux=matroskademux ;;
*) die "an .mp4, .mov, .m4v, .mkv or .webm is needed: $file" ;;
esac
# Any version: without the option gst-inspect-1.0 asks for its own version.
has() { gst-inspect-1.0 --exists --atleast-version=0.0.0 "$1"; }
for element in nvh264dec nvh265dec; do
    has $element ||
        die "GStreamer has no $element here: it takes an NVIDIA driver with the capability \"video\" (in a container:
NVIDIA_DRIVER_CAPABILITIES=compute,video) and gstreamer1.0-plugins-bad"
done
has cclmotion || die "GStreamer does not find the plugin: meson devenv -C build -w . $0 $file"

links=$(mktemp -d)
trap 'rm -rf "$links"' EXIT
case $file in /*) ;; *) file=$PWD/$file ;; esac
ln -s "$file" "$links/input"        # gst-launch-1.0 would read spaces and quotes in a name as its own

# The codec of the first video stream, from the caps that gst-launch-1.0 -v prints.
case $(gst-launch-1.0 -v filesrc location="$links/input" ! $demux name=demux demux.video_0 ! identity eos-after=1 ! \
    fakesink 2>/dev/null | grep -m 1 -o 'video/x-h26[45]' || true) in
*h264) decode="h264parse ! nvh264dec" ;;
*h265) decode="h265parse ! nvh265dec" ;;
*) die "neither H.264 nor H.265: $file" ;;
esac
# The caps behind the decoder keep the pictures on the GPU. Without them it may choose system memory.
# shellcheck disable=SC2086
gst-launch-1.0 -q filesrc location="$links/input" ! $demux ! queue ! $decode ! \
    "video/x-raw(memory:CUDAMemory),format=NV12" ! cclmotion backend=cuda ! \
    ccllabel backend=cuda mask-source=mask-meta min-rel-area=0.0005 "$@" ! ccltrack ! cclmeta2json ! fdsink
