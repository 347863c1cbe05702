#!/bin/sh
# SPDX-FileCopyrightText: gst-ccl contributors
# SPDX-License-Identifier: LGPL-2.1-or-later

# Runs README.md's two commands in a bare Debian 13, whose GStreamer 1.26 has the analytics library: the quickstart, and
# `tests/run.sh quick`.
#
#     tests/debian13.sh [--once] FOLDER
#
# FOLDER/root becomes the system, FOLDER/quick.json the log of the tests. The system is kept for the next time; --once removes it.
# Needs root for chroot and mount; exits 77 where that is not to be had.
set -eu
top=$(cd "$(dirname "$0")/.." && pwd)
once=no
[ "$1" != --once ] || { once=yes; shift; }
folder=$1
root=$folder/root

me=debian13
# shellcheck source=tests/bare-root.sh
. "$top/tests/bare-root.sh"

[ -e "$root/complete" ] || copy_root trixie "$root"
mount_root "$root"
copy_sources "$top" "$root/src/gst-ccl"
rm -f "$folder/quick.json"
quietly enter "$root" /src/gst-ccl/examples/quickstart.sh
enter "$root" /src/gst-ccl/tests/run.sh quick 2>&1 | sed 's/^/debian13: /'
log=$root/src/gst-ccl/build-test/meson-logs/quick.json
[ -f "$log" ] || { echo "debian13: the tests did not run"; exit 1; }
cp "$log" "$folder/quick.json"
[ $once = no ] || remove_root "$root"
! grep -q '"result": "\(FAIL\|ERROR\|TIMEOUT\|INTERRUPT\)"' "$folder/quick.json"
