#!/bin/sh
# SPDX-FileCopyrightText: gst-ccl contributors
# SPDX-License-Identifier: LGPL-2.1-or-later

# How many live cameras does this machine label? Runs many-cameras/main.c, which says what is measured and how.
#
#     examples/many-cameras.sh 16             16 cameras, 1920x1080, 30 frames a second, for 10 seconds
#     examples/many-cameras.sh 16 60          for a minute
#     examples/many-cameras.sh most           as many as are sustained, by trying
#     examples/many-cameras.sh most 5 --memory=cuda --label='backend=cuda min-area=20'
#     examples/many-cameras.sh --help         all options
#
# The build folder is build/ or $CCL_BUILD.
set -eu

top=$(cd "$(dirname "$0")/.." && pwd)
build=${CCL_BUILD:-$top/build}
program=$build/examples/many-cameras

die() { printf 'many-cameras.sh: %s\n' "$*" >&2; exit 2; }

[ $# -gt 0 ] || die "how many cameras? A number, or \"most\""
[ -x "$program" ] || die "there is no $program: meson setup $build $top && meson compile -C $build"

export GST_PLUGIN_PATH="$build/gst/elements${GST_PLUGIN_PATH:+:$GST_PLUGIN_PATH}"
export LD_LIBRARY_PATH="$build/gst/ccl${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
export GST_REGISTRY="${GST_REGISTRY:-$build/registry.bin}"

[ "$1" = most ] || exec "$program" "$@"
shift
case ${1-} in
[0-9]*) seconds=$1; shift ;;
*) seconds=5 ;;
esac

# Are this many cameras sustained? "No" only after two tries, because other work on the machine may spoil one. An error ends
# the search.
sustains() {
    n=$1
    shift
    for _ in 1 2; do
        status=0
        "$program" "$n" "$seconds" "$@" >"$report" 2>&1 || status=$?
        [ $status -le 1 ] || { cat "$report" >&2; exit 2; }
        [ $status -ne 0 ] || break
    done
    printf '%5d cameras: %s\n' "$n" "$([ $status -eq 0 ] && echo sustained || echo too many)" >&2
    [ $status -ne 0 ] || cp "$report" "$best"
    return $status
}

report=$(mktemp) best=$(mktemp)
trap 'rm -f "$report" "$best"' EXIT
low=0 high=1
while sustains $high "$@"; do
    low=$high high=$((high * 2))
done
[ $low -gt 0 ] || { cat "$report"; die "not even one camera"; }
while [ $((high - low)) -gt $((low / 20 + 1)) ]; do
    middle=$(((low + high) / 2))
    if sustains $middle "$@"; then low=$middle; else high=$middle; fi
done
cat "$best"
