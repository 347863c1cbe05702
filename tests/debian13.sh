#!/bin/sh
# SPDX-FileCopyrightText: gst-ccl contributors
# SPDX-License-Identifier: LGPL-2.1-or-later

# Runs `tests/run.sh quick` in a bare Debian 13, whose GStreamer 1.26 has the analytics library.
#
#     tests/debian13.sh FOLDER
#
# FOLDER/root becomes the system (made by debootstrap, kept for the next time), FOLDER/quick.json the log of the tests.
# Needs root for chroot and mount; exits 77 where that is not to be had.
set -eu
top=$(cd "$(dirname "$0")/.." && pwd)
folder=$1
root=$folder/root
suite=trixie

skip() { echo "debian13: skipped: $*"; exit 77; }

[ "$(id -u)" = 0 ] || skip "needs root"
if ! command -v debootstrap >/dev/null; then
    apt-get -q install -y --no-install-recommends debootstrap >/dev/null 2>&1 || skip "debootstrap cannot be installed"
fi
mkdir -p "$folder"
if [ ! -e "$root/complete" ]; then
    echo "debian13: making a bare system in $root"
    rm -rf "$root"
    mirror=$(sed -n 's/^URIs: *\([^ ]*\).*/\1/p; s/^deb \(\[[^]]*\] \)\{0,1\}\([^ ]*\).*/\2/p' \
        /etc/apt/sources.list.d/debian.sources /etc/apt/sources.list 2>/dev/null | head -n 1)
    debootstrap --variant=minbase --include=ca-certificates "$suite" "$root" "${mirror:-http://deb.debian.org/debian}" \
        >"$folder/debootstrap.log" 2>&1 || { tail -n 5 "$folder/debootstrap.log"; skip "debootstrap failed"; }
    # The proxy and certificates of this machine, if it has any.
    cp -L /etc/resolv.conf "$root/etc/" 2>/dev/null || :
    cp /etc/apt/apt.conf.d/*prox* "$root/etc/apt/apt.conf.d/" 2>/dev/null || :
    touch "$root/complete"
fi

unmount() { for what in dev/shm dev proc; do umount "$root/$what" 2>/dev/null || :; done; }
trap unmount EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
if ! { mount -t proc proc "$root/proc" && mount --bind /dev "$root/dev" && mount -t tmpfs tmpfs "$root/dev/shm"; }; then
    skip "mounting /proc and /dev is not allowed here"
fi

# The sources, without build folders. An old build folder stays: its objects are used again.
mkdir -p "$root/src/gst-ccl"
(cd "$top" && tar -c --exclude='./build*' --exclude=./.git .) | tar -x -C "$root/src/gst-ccl"
rm -f "$folder/quick.json"
chroot "$root" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C.UTF-8 TERM=dumb \
    http_proxy="${http_proxy-}" https_proxy="${https_proxy-}" \
    /src/gst-ccl/tests/run.sh quick </dev/null 2>&1 | sed 's/^/debian13: /'
log=$root/src/gst-ccl/build-test/meson-logs/quick.json
[ -f "$log" ] || { echo "debian13: the tests did not run"; exit 1; }
cp "$log" "$folder/quick.json"
! grep -q '"result": "\(FAIL\|ERROR\|TIMEOUT\|INTERRUPT\)"' "$folder/quick.json"
