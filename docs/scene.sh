#!/bin/sh
# SPDX-FileCopyrightText: gst-ccl contributors
# SPDX-License-Identifier: LGPL-2.1-or-later

# Writes the video of docs/tutorial.md: four balls that cross, 8 seconds. The quickstart makes up the same scene.
#
#     docs/scene.sh [FILE.webm]
set -eu

target=${1:-scene.webm}
size=video/x-raw,width=640,height=360,framerate=30/1
pads=sink_0::zorder=0
sources="videotestsrc num-buffers=240 pattern=gradient foreground-color=0xff506070 background-color=0xff283038 !
    $size,format=AYUV ! scene.sink_0"
ball() { # INDEX X Y WIDTH HEIGHT COLOUR DIRECTION
    pads="$pads sink_$1::zorder=$1 sink_$1::xpos=$2 sink_$1::ypos=$3 sink_$1::width=$4 sink_$1::height=$5"
    sources="$sources videotestsrc num-buffers=240 pattern=ball foreground-color=$6 background-color=0 !
        $size,format=AYUV ! videoflip video-direction=$7 ! scene.sink_$1"
}
ball 1 0 -20 640 320 0xffffa030 identity
ball 2 -60 100 760 300 0xff50e0ff horiz
ball 3 120 -40 420 440 0xfff0f0f0 vert
ball 4 300 60 420 240 0xff70ff70 180
# shellcheck disable=SC2086
gst-launch-1.0 -q compositor name=scene $pads ! $size ! videoconvert ! video/x-raw,format=I420 ! \
    vp8enc deadline=1 target-bitrate=8000000 keyframe-max-dist=30 ! webmmux ! filesink location="$target" $sources
