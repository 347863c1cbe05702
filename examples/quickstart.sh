#!/bin/sh
# SPDX-FileCopyrightText: gst-ccl contributors
# SPDX-License-Identifier: LGPL-2.1-or-later

# Blobs as JSON lines, from nothing but Debian 12 (or newer) or Ubuntu 24.04 (or newer): see usage() below.
set -eu

usage() {
    cat <<'END'
usage: examples/quickstart.sh [FILE] [PROPERTY=VALUE ...]

Installs what is missing (as root, or with sudo), builds gst-ccl into build/, and prints the blobs of every frame of
FILE as one line of JSON on stdout; everything else goes to stderr. It can be run again at any time.

FILE            a mask: a picture (png, jpg, pbm, pgm, ...) or a video, light blobs on dark ground;
                without it, two seconds of a bouncing ball
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

file=
case ${1-} in
-h | --help) usage; exit 0 ;;
'') [ $# = 0 ] || wrong "FILE is empty" ;;
-*) wrong "no such option: $1" ;;
*) if [ -e "$1" ] || [ "${1#*=}" = "$1" ]; then file=$1; shift; fi ;;
esac
for property; do
    case $property in
    [a-z]*=*) ;;
    *) wrong "not PROPERTY=VALUE: $property" ;;
    esac
done
if [ -n "$file" ]; then
    [ -e "$file" ] || die "no such file: $file"
    [ -f "$file" ] || die "not a file: $file"
    [ -r "$file" ] || die "not allowed to read: $file"
    [ -s "$file" ] || die "the file is empty: $file"
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
case $file in
'') ;;
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
    meson setup "$build" "$top" -Dgst=enabled $arch >"$log/build" 2>&1 || { cat "$log/build" >&2; die "meson setup failed"; }
fi
meson compile -C "$build" >"$log/build" 2>&1 || { cat "$log/build" >&2; die "the build failed"; }

# ---- run

# A link without spaces, quotes or exclamation marks: gst-launch-1.0 would read them as its own.
if [ -n "$file" ]; then
    case $file in /*) ;; *) file=$PWD/$file ;; esac
    ln -s "$file" "$log/input"
    source="filesrc location=$log/input ! decodebin"
else
    source="videotestsrc pattern=ball num-buffers=60 ! video/x-raw,width=320,height=240,framerate=30/1"
fi
# One plane of 8 bits, videos and pictures alike: above half is foreground, so JPEG's noise and video's black (16) are not.
mask="videoconvert ! video/x-raw,format=GRAY8"
json() {
    # gst-launch-1.0 talks on stdout; the lines of JSON leave through a descriptor of their own.
    # shellcheck disable=SC2086
    GST_DEBUG=ccllabel:4 GST_DEBUG_NO_COLOR=1 GST_DEBUG_FILE=$log/element \
        meson devenv -C "$build" gst-launch-1.0 -v $source ! $mask ! ccllabel threshold=127 "$@" ! \
        cclmeta2json ! fdsink fd=3 3>&1 >"$log/run" 2>"$log/errors"
}
status=0
json "$@" || status=$?
# That whoever reads our stdout has read enough is no failure; 141 and 243 are what SIGPIPE leaves behind.
case $status in 141 | 243) status=0 ;; esac
if [ $status != 0 ] && ! grep -q 'Broken pipe' "$log/errors"; then
    sed '/^Traceback/,$d' "$log/errors" >&2
    die "${file:-the built-in source} could not be processed"
fi

backend=$(sed -n 's/.*: active-backend = "\{0,1\}\([a-z]*\).*/\1/p' "$log/run" | tail -n 1)
case $backend in
cuda) why=$(nvidia-smi --query-gpu=name --format=csv,noheader 2>/dev/null | head -n 1) ;;
*) why=$(sed -n 's/.*using the CPU because //p' "$log/element" | tail -n 1) ;;
esac
say "Backend: ${backend:-none}${why:+: $why}"
