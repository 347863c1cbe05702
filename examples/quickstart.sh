#!/bin/sh
# SPDX-FileCopyrightText: gst-ccl contributors
# SPDX-License-Identifier: LGPL-2.1-or-later

# Installs, builds, and shows what moves in a video, on Debian 12 or Ubuntu 24.04 and newer: see usage() below.
set -eu

usage() {
    cat <<'END'
usage: examples/quickstart.sh [VIDEO] [--video FILE.webm] [PROPERTY=VALUE ...]
       examples/quickstart.sh --mask FILE [PROPERTY=VALUE ...]

Installs missing packages (as root, or with sudo), builds gst-ccl into build/, and follows what moves in VIDEO. It writes one
line of JSON per frame to stdout. It shows the video with boxes, numbers and trails in a window, or writes it to a file
beside the video where there is no display. Messages go to stderr. It can be run again at any time.

VIDEO           a video file, rtsp://... or another URI, or a camera such as /dev/video0; its camera should not move;
                without it, a scene that GStreamer makes up: balls that cross
--video FILE    where to write the annotated video (WebM), also where there is a display
--mask FILE     no motion and no video: the blobs of a mask, a picture (png, jpg, pgm, ppm, binary pbm) or a video, light
                on dark ground
PROPERTY=VALUE  a property of ccllabel, such as min-area=50, connectivity=4, or invert=true for dark blobs on light
                ground; `meson devenv -C build gst-inspect-1.0 ccllabel` lists them
END
}
say() { printf '%s\n' "$*" >&2; }
die() { say "quickstart.sh: $*"; exit 1; }
wrong() { say "quickstart.sh: $*"; usage >&2; exit 2; }

absolute() { case $1 in /*) printf %s "$1" ;; *) printf %s "$PWD/$1" ;; esac; }

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
*.[pP][nN][gG] | *.[jJ][pP][gG] | *.[jJ][pP][eE][gG] | *.[pP][aAbBgGpPnN][mM])
    say "$input is a picture, in which nothing moves: taken as a mask"
    mask=$input ;;
*) kind=file file=$input ;;
esac
[ -z "$mask" ] || { kind=mask file=$mask; }
if [ -n "$file" ]; then
    case $file in
    *[!a-z-]*) hint= ;;
    *) hint="; a property is NAME=VALUE" ;;
    esac
    [ -e "$file" ] || die "no such file: $file$hint"
    [ -f "$file" ] || die "not a file: $file"
    [ -r "$file" ] || die "not allowed to read: $file"
    [ -s "$file" ] || die "the file is empty: $file"
    # GStreamer's pnmdec fails on the first and does not know the second.
    case $(head -c 2 <"$file" | tr -d '\0') in
    P1) die "$file is a PBM in ASCII (P1), which GStreamer cannot read; binary PBM (P4), PGM, PPM and PNG work" ;;
    P7) die "$file is a PAM (P7), which GStreamer cannot read; binary PBM (P4), PGM, PPM and PNG work" ;;
    esac
fi
[ $kind != camera ] || [ -c "$input" ] || die "no such camera: $input"

# The file of the annotated video: beside the input, or in this folder.
window=no output='' replace=no
if [ $kind != mask ] && [ -z "$video" ]; then
    case $kind in
    file) video=${file%.*}-blobs.webm; [ -w "$(dirname "$file")" ] || video=$(basename "$video") ;;
    *) video=blobs.webm ;;
    esac
    [ -z "${DISPLAY-}${WAYLAND_DISPLAY-}" ] || window=yes
fi
if [ $kind != mask ] && [ $window = no ]; then
    # dash and bash have -ef, and POSIX since 2024.
    # shellcheck disable=SC3013
    [ -z "$file" ] || [ ! "$file" -ef "$video" ] || die "--video $video is the input itself: name another file"
    [ ! -d "$video" ] || die "a folder, not a file: $video"
    [ ! -e "$video" ] || [ -w "$video" ] || die "not allowed to write: $video; name another file with --video FILE"
    if [ ! -e "$video" ] || [ -f "$video" ]; then
        # A symbolic link stays, and its target is replaced.
        output=$(readlink -f "$(absolute "$video")") || output=$(absolute "$video")
        folder=$(dirname "$output")
        [ -d "$folder" ] || die "no such folder: $folder"
        [ -w "$folder" ] || die "not allowed to write to the folder $folder: name a file elsewhere with --video FILE"
        # shellcheck disable=SC3013
        [ ! "$video" -ef /dev/stdout ] || die "--video $video is where the JSON goes: name another file"
        replace=yes
    else
        output=$(absolute "$video") # a device or a pipe with a name
    fi
fi

for folder in "$build" "$build/build.ninja"; do
    [ ! -e "$folder" ] || [ -w "$folder" ] ||
        die "not allowed to write: $folder; CCL_BUILD=FOLDER names another build folder"
done

temporary=${TMPDIR:-/tmp}
case $temporary in *[[:space:]!\\\"\']*) die "gst-launch-1.0 would take TMPDIR apart: $temporary; let it name another folder" ;; esac
log=$(mktemp -d) || die "no folder for logs: TMPDIR names another place than $temporary"
part=
trap 'rm -rf "$log" ${part:+"$part"}' EXIT
trap 'exit 129' HUP
trap 'exit 130' INT
trap 'exit 143' TERM
head -c 1000000 /dev/zero >"$log/room" || die "cannot write into $temporary: make room there, or let TMPDIR name another folder"
rm "$log/room"

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

say "Building into $build"
if [ ! -f "$build/build.ninja" ]; then
    # One GPU architecture, and only what the pipelines below need. tests/run.sh has a build folder of its own.
    arch=sm_90
    ! nvidia-smi -L >/dev/null 2>&1 || arch=native
    meson setup "$build" "$top" -Dgst=enabled -Doverlay=enabled -Dcuda-arch=$arch -Dtests=disabled -Dexamples=disabled \
        -Dpublished=disabled >"$log/build" 2>&1 || { cat "$log/build" >&2; die "meson setup failed"; }
fi
# Shows one of ninja's lines every five seconds, and all of them if the build fails.
show_progress() {
    next=0
    while IFS= read -r line; do
        printf '%s\n' "$line" >>"$log/build"
        case $line in "["*/*"] "*) ;; *) continue ;; esac
        now=$(date +%s)
        [ "$now" -ge "$next" ] || continue
        next=$((now + 5))
        say "$line"
    done
}
if [ -t 2 ]; then
    meson compile -C "$build" >&2 || die "the build failed"
else
    : >"$log/build"
    { meson compile -C "$build" 2>&1 || : >"$log/build-failed"; } | show_progress
    [ ! -e "$log/build-failed" ] || { cat "$log/build" >&2; die "the build failed"; }
fi

# ---- run

# Links without spaces, quotes or exclamation marks: gst-launch-1.0 would read them as its own.
ball() { # INDEX X Y WIDTH HEIGHT COLOUR DIRECTION: the place of its pad, its source
    pads="$pads sink_$1::zorder=$1 sink_$1::xpos=$2 sink_$1::ypos=$3 sink_$1::width=$4 sink_$1::height=$5"
    sources="$sources videotestsrc num-buffers=240 pattern=ball foreground-color=$6 background-color=0 !
        $size,format=AYUV ! videoflip video-direction=$7 ! scene.sink_$1"
}
case $kind in
scene)
    # Each ball goes to and fro. Turned, stretched and moved pictures make their ways cross.
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
    # Pixels above half of the range are foreground. So the noise of JPEG and the black of video (16) are background.
    chain="videoconvert ! video/x-raw,format=GRAY8 ! ccllabel threshold=127 $properties"
    show= ;;
*)
    chain="videoconvert ! video/x-raw,format=I420 ! cclmotion ! ccllabel mask-source=mask-meta min-rel-area=0.0005 $properties !
        ccltrack ! tee name=both"
    if [ $window = yes ]; then
        # The pace is set before the analysis, because a late sink would make the decoder leave out frames.
        case $kind in file | scene) chain="clocksync ! $chain" ;; esac
        show="both. ! queue ! ccloverlay ! videoconvert ! autovideosink sync=false"
    else
        # An earlier video stays until the new one is complete.
        if [ $replace = yes ]; then
            part=$(mktemp "$output.XXXXXX") || die "not allowed to write: $video"
        fi
        ln -s "${part:-$output}" "$log/output"
        show="both. ! queue ! ccloverlay ! videoconvert !
            vp8enc deadline=1 cpu-used=8 threads=4 target-bitrate=2000000 keyframe-max-dist=60 ! webmmux !
            filesink async=false location=$log/output"
        # async: with sound before the first picture fdsink waits for filesink, and that for a picture that waits for fdsink.
    fi
    chain="$chain both. ! queue" ;;
esac
errors_say() { grep -Eq "$1" "$log/errors"; }
error='^ERROR: (from element|pipeline)' # of gst-launch-1.0, and not, say, of the dynamic linker
# After an error before its main loop gst-launch-1.0 does not end; after any later error it ends at once.
end_after_error() {
    while sleep 1 && kill -0 $$; do
        if errors_say "$error"; then
            sleep 10
            ! kill -0 $$ || kill "$(cat "$log/pid")"
            return
        fi
    done
}
json() {
    # Meson ignores Ctrl-C here, because it would kill gst-launch-1.0 soon after. gst-launch-1.0 handles it.
    trap '' INT
    : >"$log/errors"
    end_after_error >"$log/watch" 2>&1 &
    # gst-launch-1.0 prints on stdout, so the lines of JSON have a descriptor of their own. -e makes a complete video when
    # Ctrl-C ends a camera.
    json_status=0
    # shellcheck disable=SC2016,SC2086
    LANGUAGE=C GST_DEBUG=ccllabel:4,cclmotion:4 GST_DEBUG_NO_COLOR=1 GST_DEBUG_FILE=$log/element \
        meson devenv -C "$build" sh -c 'echo $$ >"$0"; exec gst-launch-1.0 "$@"' "$log/pid" \
        -e -v $source ! $chain ! cclmeta2json summary=true ! fdsink fd=3 $show $sources \
        3>&1 >"$log/run" 2>"$log/errors" || json_status=$?
    kill $! 2>/dev/null || :
    return $json_status
}
# A reader of stdout that closes it is no failure: with --mask the work is done, and a video goes on.
hand_on() {
    trap '' INT
    ! LC_ALL=C cat 2>"$log/cat" || return 0
    [ ! -s "$log/cat" ] || grep -q 'Broken pipe' "$log/cat" || return 0
    : >"$log/cat"
    case $kind in
    camera | uri) say "Nobody reads the JSON any more; the video goes on until Ctrl-C" ;;
    *) say "Nobody reads the JSON any more; the video goes on" ;;
    esac
    cat >/dev/null
}
reason() { # in short, of what GStreamer says at length
    if errors_say 'plain text'; then
        echo "it is a text file, neither picture nor video"
    elif errors_say 'No valid frames|without buffers|Could not demultiplex'; then
        echo "it is damaged or cut short"
    elif [ -n "$file" ] && errors_say 'reason not-linked'; then
        echo "there are no pictures in it"
    elif errors_say 'Could not determine type'; then
        echo "GStreamer does not know this format, or there is too little of it"
    elif [ $kind = uri ] && errors_say 'No URI handler'; then
        echo "GStreamer knows no addresses like this"
    elif [ $kind = uri ] && errors_say 'Could not|Failed to connect|typefind|Not found|Unauthorized|gst_base_src_loop'; then
        # uridecodebin may not pass on the first message of a source that fails at once.
        echo "nothing came from there; check the address, and that the server runs and lets you in"
    fi
}
failed() { # WHY
    sed '/^Traceback/,$d; /^cclmeta2json0: /d' "$log/errors" >&2
    [ ! -s "$log/cat" ] || sed 's/^cat: /stdout: /' "$log/cat" >&2
    [ -z "$interrupted" ] || exit 130
    die "${input:-${mask:-the built-in source}} could not be processed${1:+: $1}"
}
status=0 interrupted=

# Decodes the first picture of a file alone. If a whole pipeline fails at its start, gst-launch-1.0 may not end, or report
# success. LANGUAGE=C, because its messages are parsed here.
if [ -n "$file" ]; then
    # shellcheck disable=SC2086
    LANGUAGE=C timeout --foreground 30 gst-launch-1.0 -v $source ! videoconvert ! fakesink num-buffers=1 \
        >"$log/run" 2>"$log/errors" || status=$?
    case $status in 0 | 124) status=0 ;; esac # 124: not in time, which alone is no failure
    [ "$status" = 0 ] && ! errors_say "$error" || failed "$(reason)"
    size=$(sed -n 's/.*caps = .*width=(int)\([0-9]*\), height=(int)\([0-9]*\).*/\1x\2/p' "$log/run" | head -n 1)
    size=${size:-0x0}
    [ "${size%x*}" -le 16384 ] && [ "${size#*x}" -le 16384 ] || failed "$size: a mask has at most 16384x16384 pixels"
fi

# A shell handles a signal after its foreground command, but at once in `wait`. So the pipeline runs in the background.
run_job() { (json) || echo $? >"$log/status"; }
# Sends a signal to gst-launch-1.0 while it runs.
tell() { [ ! -s "$log/pid" ] || kill "-$1" "$(cat "$log/pid")" 2>/dev/null || :; } # SIGNAL
# A signal to this script alone ends the pipeline, too.
stop() { # STATUS
    while kill -0 $job 2>/dev/null; do
        tell TERM
        sleep 0.2
    done
    exit "$1"
}
# gst-launch-1.0 ignores Ctrl-C while it starts. So the signal is sent again after a second.
interrupt_again() {
    tries=0
    while kill -0 $job 2>/dev/null && ! grep -q '^handling interrupt' "$log/run"; do
        tries=$((tries + 1))
        [ $((tries % 5)) != 0 ] || tell INT
        sleep 0.2
    done
}
trap 'interrupted=yes' INT
ended= # by a signal, before there is a job to stop
trap 'ended=129' HUP
trap 'ended=143' TERM
if [ $kind = mask ]; then
    run_job &
else
    run_job | hand_on &
fi
job=$!
trap 'stop 129' HUP
trap 'stop 143' TERM
[ -z "$ended" ] || stop "$ended"
while kill -0 $job 2>/dev/null; do
    wait $job || :
    [ -z "$interrupted" ] || interrupt_again
done
[ ! -s "$log/status" ] || status=$(cat "$log/status")
if [ $kind = mask ]; then
    # 141 and 243 are the exit statuses after SIGPIPE.
    case $status in 141 | 243) status=0 ;; esac
    ! grep -q 'Broken pipe' "$log/errors" || status=0
fi
[ "$status" = 0 ] || failed "$(reason)"

# Prints the warnings of our elements, with their advice.
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
summary=$(sed -n 's/^cclmeta2json0: //p' "$log/errors")
[ -z "$summary" ] || say "Summary: $summary"
if [ $kind != mask ] && [ $window = no ]; then
    case $interrupted$kind in yesfile | yesscene) say "quickstart.sh: interrupted, not written: $video"; exit 130 ;; esac
    if [ -n "$part" ]; then
        chmod "$(printf %o $((0666 & ~$(umask))))" "$part" # mktemp lets the owner alone read it
        mv -f "$part" "$output" || die "not written: $video"
        part=
    fi
    say "Annotated video: $video"
fi
[ -z "$interrupted" ] || exit 130
