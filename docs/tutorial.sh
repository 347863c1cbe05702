#!/bin/sh
# SPDX-FileCopyrightText: gst-ccl contributors
# SPDX-License-Identifier: LGPL-2.1-or-later

# Draws the pictures of docs/tutorial.md, the same frame of the scene after each step, and that of README.md.
#
#     meson devenv -C build -w . docs/tutorial.sh [FOLDER]
#
# FOLDER takes the place of docs/.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
folder=${1:-$here}
frame=225
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

"$here/scene.sh" "$work/scene.webm"
size=width=480,height=270
draw() { # FILE ELEMENT...
    file=$1
    shift
    mkdir -p "$work/frames" "$(dirname "$folder/$file")"
    gst-launch-1.0 -q filesrc location="$work/scene.webm" ! decodebin ! videoconvert ! video/x-raw,format=I420 ! "$@" ! \
        videoconvert ! videoscale ! video/x-raw,format=RGB,$size ! pngenc compression-level=9 snapshot=false ! \
        multifilesink sync=false location="$work/frames/%03d.png"
    cp "$work/frames/$frame.png" "$folder/$file"
}
label="ccllabel mask-source=mask-meta min-area=50"
zones='{"units":"relative","zones":[{"name":"gate","line":[[0.5,0],[0.5,1]]},{"name":"yard","polygon":[[0,0.5],[0.4,0.5],[0.4,1],[0,1]]}]}'
# shellcheck disable=SC2086
{
    draw pictures/tutorial-mask.png cclmotion output=mask
    draw pictures/tutorial-blobs.png cclmotion ! $label ! ccloverlay draw=box+area
    draw pictures/tutorial-tracks.png cclmotion ! $label ! ccltrack ! ccloverlay
    draw pictures/tutorial-zones.png cclmotion ! $label ! ccltrack ! cclzone zones="$zones" ! ccloverlay
    size=width=640,height=360
    draw tracks.png cclmotion ! $label ! ccltrack ! ccloverlay
}
