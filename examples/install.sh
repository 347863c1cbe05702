#!/bin/sh
# SPDX-FileCopyrightText: gst-ccl contributors
# SPDX-License-Identifier: LGPL-2.1-or-later

# Installs the Debian or Ubuntu packages that are missing, and only those.
#
#     examples/install.sh GROUP...
#
# build     to compile the plugin for the CPU, or with CUDA where the toolkit is already there
# cuda      GStreamer's CUDA headers; only useful with the CUDA toolkit
# run       gst-launch-1.0 and the basic elements
# scene     to write the annotated video, or show it
# pictures  to read png and jpg
# netpbm    to read pbm, pgm, ppm
# videos    to read mp4, mkv and so on, in nearly every codec
# live      what examples/live.sh serves its page with
# test      everything the tests use
# browser   Chromium, for the tests of the page; Ubuntu's is a snap, and not installed here
# fuzz      clang with libFuzzer
# static    what analyses sources without running them
#
# Needs root or sudo only when something is missing. Messages go to stderr.
set -eu

say() { printf '%s\n' "$*" >&2; }
die() { say "install.sh: $*"; exit 1; }

# GStreamer has the analytics library from 1.24 on. Debian 12 and Ubuntu 23.10 have an older one.
has_analytics() {
    # shellcheck disable=SC1091
    case $(. /etc/os-release && echo "$ID-${VERSION_ID-}") in
    debian-12 | debian-11 | ubuntu-2[0-3].*) false ;;
    esac
}

packages() {
    case $1 in
    build) echo gcc libc6-dev meson ninja-build pkg-config libcbor-dev libgirepository1.0-dev \
        libgstreamer1.0-dev libgstreamer-plugins-base1.0-dev libjson-glib-dev libmicrohttpd-dev libmosquitto-dev \
        libnats-dev libpango1.0-dev librdkafka-dev libsqlite3-dev
        ! has_analytics || echo libgstreamer-plugins-bad1.0-dev ;;
    cuda) echo g++ libgstreamer-plugins-bad1.0-dev ;;
    run) echo gstreamer1.0-tools gstreamer1.0-plugins-base ;;
    scene) echo gstreamer1.0-plugins-good ;;
    pictures) echo gstreamer1.0-plugins-good ;;
    netpbm) echo gstreamer1.0-plugins-bad ;;
    videos) echo gstreamer1.0-plugins-good gstreamer1.0-plugins-bad gstreamer1.0-libav ;;
    live) echo gir1.2-gst-plugins-base-1.0 python3-aiohttp python3-gi ;;
    browser) grep -qs '^ID=debian$' /etc/os-release || die "chromium is no package of this system"
        echo chromium chromium-driver ;;
    test) packages build; packages run; packages pictures; packages netpbm; packages videos; packages live
        echo g++ gir1.2-gst-rtsp-server-1.0 libgstreamer-plugins-bad1.0-dev mosquitto mosquitto-clients \
            clang-format gi-docgen indent iproute2 nats-server openssl procps prometheus python3 python3-cbor2 \
            python3-dev python3-gi python3-markdown python3-numpy python3-venv python3-yaml shellcheck valgrind ;;
    # The runtime has the version of clang in its name.
    fuzz) echo clang "libclang-rt-$(LC_ALL=C apt-cache depends clang | sed -n 's/.*Depends: clang-\([0-9]*\)$/\1/p')-dev" ;;
    static) echo clang-tidy cppcheck ;;
    *) die "no such group: $1" ;;
    esac
}

installed() {
    [ "$(dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null)" = installed ]
}

# The network and the archive's mirrors have bad moments: three tries.
apt_get() {
    for pause in 5 20 0; do
        $as_root env DEBIAN_FRONTEND=noninteractive apt-get -q -o Acquire::Retries=3 -o DPkg::Lock::Timeout=300 \
            -o Dpkg::Use-Pty=0 "$@" </dev/null >"$log" 2>&1 && return
        tail -n 20 "$log" >&2
        [ $pause = 0 ] || { say "apt-get $1 failed, trying again in $pause s"; sleep $pause; }
    done
    return 1
}

[ $# -gt 0 ] || die "which group? build, cuda, run, scene, pictures, netpbm, videos, live, test, browser, fuzz or static"
wanted=$(for group; do packages "$group"; done) || exit 1

command -v dpkg-query >/dev/null && command -v apt-get >/dev/null ||
    die "this is not a Debian or Ubuntu system; install what these packages are called here, then build with meson
(README.md says how): $wanted"

missing=
for package in $wanted; do
    case " $missing " in *" $package "*) continue ;; esac
    installed "$package" || missing="$missing $package"
done
[ -n "$missing" ] || exit 0

as_root=
if [ "$(id -u)" != 0 ]; then
    command -v sudo >/dev/null ||
        die "these packages are missing, and installing them takes root or sudo. As root: apt-get install$missing"
    as_root=sudo
fi
say "Installing what is missing:$missing"
say "(with what they depend on; takes a minute or so)"
if [ -n "$as_root" ]; then
    sudo -p "sudo, to install packages; password for %p: " true || die "sudo refused. As root: apt-get install$missing"
fi
log=$(mktemp)
trap 'rm -f "$log"' EXIT
apt_get update || say "apt-get update failed; going on with the package lists that are there"
# shellcheck disable=SC2086
apt_get install -y --no-install-recommends $missing || die "apt-get could not install:$missing"
