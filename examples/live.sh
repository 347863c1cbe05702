#!/bin/sh
# SPDX-FileCopyrightText: gst-ccl contributors
# SPDX-License-Identifier: LGPL-2.1-or-later

# Opens a page in the browser to watch, tune and draw zones: see usage() below, and docs/live.md.
set -eu

usage() {
    cat <<'END'
usage: examples/live.sh [OPTION...] [VIDEO | rtsp://... | http://... | /dev/videoN]...

Installs missing packages, builds gst-ccl into build/, and serves a page at http://127.0.0.1:8090/ until Ctrl-C. Several
sources become a wall of cameras. Without a source it plays a scene that GStreamer makes up.

--port N          port of the page (default: 8090; 0 takes a free one)
--address ADDRESS address to listen at (default: 127.0.0.1); any other one needs the token that is printed
--folder FOLDER   where zones, presets and counts are kept (default: ~/.local/share/gst-ccl-live)
--once            play a file once instead of again and again
END
}
die() { printf 'live.sh: %s\n' "$*" >&2; exit 1; }

for argument; do
    case $argument in -h | --help) usage; exit 0 ;; esac
done
top=$(cd "$(dirname "$0")/.." && pwd)
build=${CCL_BUILD:-$top/build}
videos=videos
[ $# -gt 0 ] || videos= # the made-up scene needs no decoder
# shellcheck disable=SC2086
"$top/examples/install.sh" build run scene live $videos || exit 1
if [ ! -f "$build/build.ninja" ]; then
    meson setup "$build" "$top" -Dgst=enabled -Dcuda-arch=native -Dtests=disabled -Dexamples=disabled -Dpublished=disabled >&2 ||
        die "meson setup failed"
fi
meson compile -C "$build" >&2 || die "the build failed"
# Not through meson, which would stand between a signal and the server.
environment=$(meson devenv -C "$build" --dump) || die "meson devenv failed"
# A variable that was not set adds nothing: an empty part of a path would be the working folder.
eval "$(printf '%s\n' "$environment" | sed 's/:\$\([A-Z0-9_]*\)"$/${\1:+:$\1}"/')"
exec /usr/bin/python3 "$top/examples/live/main.py" "$@"
