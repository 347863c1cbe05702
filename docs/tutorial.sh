#!/bin/sh
# SPDX-FileCopyrightText: gst-ccl contributors
# SPDX-License-Identifier: LGPL-2.1-or-later

# Draws the pictures of docs/tutorial.md: the same frame of the scene after each step.
#
#     meson devenv -C build -w . docs/tutorial.sh [FOLDER]
set -eu

here=$(cd "$(dirname "$0")" && pwd)
folder=${1:-$here/pictures}
frame=225
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

"$here/scene.sh" "$work/scene.webm"
draw() { # NAME ELEMENT...
    name=$1
    shift
    mkdir "$work/$name"
    gst-launch-1.0 -q filesrc location="$work/scene.webm" ! decodebin ! videoconvert ! video/x-raw,format=I420 ! "$@" ! \
        videoconvert ! videoscale ! video/x-raw,format=RGB,width=480,height=270 ! pngenc compression-level=9 snapshot=false ! \
        multifilesink sync=false location="$work/$name/%03d.png"
    cp "$work/$name/$frame.png" "$folder/tutorial-$name.png"
}
label="ccllabel mask-source=mask-meta min-area=50"
zones='{"units":"relative","zones":[{"name":"gate","line":[[0.5,0],[0.5,1]]},{"name":"yard","polygon":[[0,0.5],[0.4,0.5],[0.4,1],[0,1]]}]}'
# shellcheck disable=SC2086
{
    draw mask cclmotion output=mask
    draw blobs cclmotion ! $label ! ccloverlay draw=box+area
    draw tracks cclmotion ! $label ! ccltrack ! ccloverlay
    draw zones cclmotion ! $label ! ccltrack ! cclzone zones="$zones" ! ccloverlay
}
