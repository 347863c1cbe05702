#!/bin/sh
# SPDX-FileCopyrightText: gst-ccl contributors
# SPDX-License-Identifier: LGPL-2.1-or-later

# Draws docs/tracks.png: one frame of what examples/quickstart.sh makes of the built-in scene.
#
#     docs/tracks.sh [FILE.png]
set -eu

top=$(cd "$(dirname "$0")/.." && pwd)
target=${1:-$top/docs/tracks.png}
frames=$(mktemp -d)
trap 'rm -rf "$frames"' EXIT

"$top/examples/quickstart.sh" --video "$frames/scene.webm" >/dev/null
gst-launch-1.0 -q filesrc location="$frames/scene.webm" ! matroskademux ! vp8dec ! videoconvert ! \
    pngenc compression-level=9 snapshot=false ! multifilesink sync=false location="$frames/%03d.png"
cp "$frames/225.png" "$target"
