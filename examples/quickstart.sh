#!/bin/sh
# SPDX-FileCopyrightText: gst-ccl contributors
# SPDX-License-Identifier: LGPL-2.1-or-later

# What moves in a video, as JSON lines and drawn, from nothing but Debian 12 (or newer) or Ubuntu 24.04 (or newer): see
# usage() below.
set -eu

usage() {
    cat <<'END'
usage: examples/quickstart.sh [VIDEO] [--video FILE.webm] [PROPERTY=VALUE ...]
       examples/quickstart.sh --mask FILE [PROPERTY=VALUE ...]

Installs what is missing (as root, or with sudo), builds gst-ccl into build/, and follows what moves in VIDEO: one line of
JSON per frame on stdout, and the video with boxes, numbers and trails drawn into it: in a window where there is a
display, else in a file beside the video. Everything else goes to stderr. It can be run again at any time.

VIDEO           a video file, rtsp://... or another URI, or a camera such as /dev/video0; its camera should not move;
                without it, a scene that GStreamer makes up: balls that cross
--video FILE    where to write the annotated video (WebM), also where there is a display
--mask FILE     no motion and no video: the blobs of a mask, a picture (png, jpg, pbm, pgm, ...) or a video, light on
                dark ground
PROPERTY=VALUE  a property of ccllabel, such as min-area=50, connectivity=4, or invert=true for dark blobs on light
                ground; `meson devenv -C build gst-inspect-1.0 ccllabel` lists them
END
}
say() { printf '%s\n' "$*" >&2; }
die() { say "quickstart.sh: $*"; exit 1; }
wrong() { say "quickstart.sh: $*"; usage >&2; exit 2; }

top=$(cd "$(dirname "$0")/.." && pwd)
build=${CCL_BUILD:-$top/build}

# ---- arguments

input='' mask='' video='' properties=''
[ "${1-x}" ] || wrong "VIDEO is empty"
while [ $# -gt 0 ]; do
    case $1 in
    -h | --help) usage; exit 0 ;;
    --mask | --video)
        [ -n "${2-}" ] || wrong "$1 needs a file"
        case $1 in --mask) mask=$2 ;; *) video=$2 ;; esac
        shift ;;
    -*) wrong "no such option: $1" ;;
    *)
        if [ -z "$input$mask$properties" ] && { [ -e "$1" ] || [ "${1#[a-z]*=}" = "$1" ]; }; then
            input=$1
        else
            case $1 in
            *[[:space:]!\"\']*) wrong "gst-launch-1.0 would take this apart: $1" ;;
            [a-z]*=*) properties="$properties $1" ;;
            *) wrong "not PROPERTY=VALUE: $1" ;;
            esac
        fi ;;
    esac
    shift
done
[ -z "$mask" ] || [ -z "$input$video" ] || wrong "--mask goes alone"

kind=scene file=
case $input in
'') ;;
/dev/video*) kind=camera ;;
[a-z]*://*) kind=uri ;;
*.[pP][nN][gG] | *.[jJ][pP][gG] | *.[jJ][pP][eE][gG] | *.[pP][bBgGpPnN][mM])
    say "$input is a picture, in which nothing moves: taken as a mask"
    mask=$input ;;
*) kind=file file=$input ;;
esac
[ -z "$mask" ] || { kind=mask file=$mask; }
if [ -n "$file" ]; then
    [ -e "$file" ] || die "no such file: $file"
    [ -f "$file" ] || die "not a file: $file"
    [ -r "$file" ] || die "not allowed to read: $file"
    [ -s "$file" ] || die "the file is empty: $file"
fi
[ $kind != camera ] || [ -c "$input" ] || die "no such camera: $input"

# Where the video goes: a name of its own beside the input, or here.
window=no
if [ $kind != mask ] && [ -z "$video" ]; then
    case $kind in
    file) video=${file%.*}-blobs.webm; [ -w "$(dirname "$file")" ] || video=$(basename "$video") ;;
    *) video=blobs.webm ;;
    esac
    [ -z "${DISPLAY-}${WAYLAND_DISPLAY-}" ] || window=yes
fi
if [ $kind != mask ] && [ $window = no ]; then
    [ -w "$(dirname "$video")" ] || die "not allowed to write: $video"
    [ ! -d "$video" ] || die "a folder, not a file: $video"
fi

# ---- install

if ! command -v nvcc >/dev/null && [ -x /usr/local/cuda/bin/nvcc ]; then
    PATH=$PATH:/usr/local/cuda/bin
    export PATH
fi
cuda=no
! command -v nvcc >/dev/null || cuda=yes

groups="build run"
[ $cuda = no ] || groups="$groups cuda"
[ $kind = mask ] || groups="$groups scene"
case $file in
'') [ $kind = scene ] || groups="$groups videos" ;;
*.[pP][nN][gG] | *.[jJ][pP][gG] | *.[jJ][pP][eE][gG]) groups="$groups pictures" ;;
*.[pP][bBgGpPnN][mM]) groups="$groups netpbm" ;;
*) groups="$groups videos" ;;
esac
# shellcheck disable=SC2086
"$top/examples/install.sh" $groups || exit 1
version=$(pkg-config --modversion gstreamer-1.0) && pkg-config --atleast-version=1.22 gstreamer-1.0 ||
    die "GStreamer 1.22 or newer is needed, this system has ${version:-none}: take Debian 12, Ubuntu 24.04 or newer"

# ---- build

log=$(mktemp -d)
trap 'rm -rf "$log"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

say "Building into $build"
if [ ! -f "$build/build.ninja" ]; then
    arch=
    [ $cuda = no ] || ! nvidia-smi -L >/dev/null 2>&1 || arch=-Dcuda-arch=native
    meson setup "$build" "$top" -Dgst=enabled -Doverlay=enabled $arch >"$log/build" 2>&1 || { cat "$log/build" >&2; die "meson setup failed"; }
fi
meson compile -C "$build" >"$log/build" 2>&1 || { cat "$log/build" >&2; die "the build failed"; }

# ---- run

absolute() { case $1 in /*) printf %s "$1" ;; *) printf %s "$PWD/$1" ;; esac; }
# Links without spaces, quotes or exclamation marks: gst-launch-1.0 would read them as its own.
ball() { # INDEX X Y WIDTH HEIGHT COLOUR DIRECTION: the place of its pad, its source
    pads="$pads sink_$1::zorder=$1 sink_$1::xpos=$2 sink_$1::ypos=$3 sink_$1::width=$4 sink_$1::height=$5"
    sources="$sources videotestsrc num-buffers=240 pattern=ball foreground-color=$6 background-color=0 !
        $size,format=AYUV ! videoflip video-direction=$7 ! scene.sink_$1"
}
case $kind in
scene)
    # Every ball waves to and fro; turned, stretched and set apart, their ways cross.
    pads=sink_0::zorder=0 size=video/x-raw,width=640,height=360,framerate=30/1
    sources="videotestsrc num-buffers=240 pattern=gradient foreground-color=0xff506070 background-color=0xff283038 !
        $size,format=AYUV ! scene.sink_0"
    ball 1 0 -20 640 320 0xffffa030 identity
    ball 2 -60 100 760 300 0xff50e0ff horiz
    ball 3 120 -40 420 440 0xfff0f0f0 vert
    ball 4 300 60 420 240 0xff70ff70 180
    source="compositor name=scene $pads ! $size" ;;
camera) source="v4l2src device=$input ! decodebin" sources= ;;
uri) source="uridecodebin uri=$input" sources= ;;
*)
    ln -s "$(absolute "$file")" "$log/input"
    source="filesrc location=$log/input ! decodebin" sources= ;;
esac
case $kind in
mask)
    # One plane of 8 bits, videos and pictures alike: above half is foreground, so JPEG's noise and video's black (16) are
    # not.
    chain="videoconvert ! video/x-raw,format=GRAY8 ! ccllabel threshold=127 $properties"
    show= ;;
*)
    chain="videoconvert ! video/x-raw,format=I420 ! cclmotion ! ccllabel mask-source=mask-meta min-rel-area=0.0005 $properties !
        ccltrack ! tee name=both"
    if [ $window = yes ]; then
        # Paced before the analysis: a sink that is late would ask the decoder to leave out frames.
        case $kind in file | scene) chain="clocksync ! $chain" ;; esac
        show="both. ! queue ! ccloverlay ! videoconvert ! autovideosink sync=false"
    else
        : >"$video" || die "not allowed to write: $video"
        ln -s "$(absolute "$video")" "$log/output"
        show="both. ! queue ! ccloverlay ! videoconvert !
            vp8enc deadline=1 cpu-used=8 threads=4 target-bitrate=2000000 keyframe-max-dist=60 ! webmmux !
            filesink location=$log/output"
    fi
    chain="$chain both. ! queue" ;;
esac
json() {
    # gst-launch-1.0 talks on stdout; the lines of JSON leave through a descriptor of their own. -e: what a camera gave
    # until Ctrl-C is a whole video.
    # shellcheck disable=SC2086
    GST_DEBUG=ccllabel:4,cclmotion:4 GST_DEBUG_NO_COLOR=1 GST_DEBUG_FILE=$log/element \
        meson devenv -C "$build" gst-launch-1.0 -e -v $source ! $chain ! cclmeta2json ! fdsink fd=3 $show $sources \
        3>&1 >"$log/run" 2>"$log/errors"
}
status=0
json || status=$?
# That whoever reads our stdout has read enough is no failure; 141 and 243 are what SIGPIPE leaves behind.
case $status in 141 | 243) status=0 ;; esac
if [ $status != 0 ] && ! grep -q 'Broken pipe' "$log/errors"; then
    sed '/^Traceback/,$d' "$log/errors" >&2
    die "${input:-${mask:-the built-in source}} could not be processed"
fi

# What our elements warned of, and what they say can be done.
sed -n '/^WARNING: from element [^ ]*GstCcl/{
    s/^WARNING: from element [^ ]*: /Warning: /p; n; n
    /:$/{ n; s/^/         /p; }
}' "$log/run" "$log/errors" >&2

backend=$(sed -n 's/.*: active-backend = "\{0,1\}\([a-z]*\).*/\1/p' "$log/run" | tail -n 1)
case $backend in
cuda) why=$(nvidia-smi --query-gpu=name --format=csv,noheader 2>/dev/null | head -n 1) ;;
*) why=$(sed -n 's/.*using the CPU because //p' "$log/element" | tail -n 1) ;;
esac
say "Backend: ${backend:-none}${why:+: $why}"
[ $kind = mask ] || [ $window = yes ] || say "Annotated video: $video"
