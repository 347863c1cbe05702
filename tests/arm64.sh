#!/bin/sh
# SPDX-FileCopyrightText: gst-ccl contributors
# SPDX-License-Identifier: LGPL-2.1-or-later

# Cross-builds the Debian packages for arm64 in a bare Debian 13, and runs them and the core under qemu.
#
#     tests/arm64.sh FOLDER
#
# FOLDER/root becomes the system (kept for the next time). FOLDER/packages gets the packages, FOLDER/arm64.json the result.
# Checks: every library is for arm64; `checkccl --quick` passes; README.md's first pipeline has its 60 lines of JSON.
# Needs root for chroot and mount; exits 77 where that is not to be had.
set -eu
top=$(cd "$(dirname "$0")/.." && pwd)
folder=$1
root=$folder/root

me=arm64
# shellcheck source=tests/bare-root.sh
. "$top/tests/bare-root.sh"

prepare() {
    [ -e "$root/complete" ] || copy_root trixie "$root"
    mount_root "$root"
    copy_sources "$top" "$root/src/gst-ccl"
    if [ ! -e "$root/prepared" ] || ! cmp -s "$top/debian/control" "$root/prepared"; then
        say "installing what the build needs"
        quietly enter "$root" dpkg --add-architecture arm64
        quietly enter "$root" apt-get -q update
        install_in "$root" build-essential ccache crossbuild-essential-arm64 file qemu-user
        quietly enter "$root" apt-get -q -y --no-install-recommends --host-architecture arm64 --arch-only \
            --build-profiles cross,nocheck,nogir build-dep /src/gst-ccl
        cp "$top/debian/control" "$root/prepared"
    fi
}

build_packages() {
    say "building the packages"
    rm -rf "$root"/src/*.deb "$folder/packages"
    quietly enter "$root" env DEB_BUILD_PROFILES="cross nocheck nogir" PATH=/usr/lib/ccache:/usr/sbin:/usr/bin:/sbin:/bin \
        sh -ec 'cd /src/gst-ccl && exec dpkg-buildpackage -aarm64 -us -uc -B'
    mkdir -p "$folder/packages"
    cp "$root"/src/*_arm64.deb "$folder/packages"
    for package in "$folder"/packages/*.deb; do
        rm -rf "$root/tree"
        dpkg-deb -x "$package" "$root/tree"
        enter "$root" find /tree -name '*.so*' -type f ! -path '*/debug/*' -exec file {} + >"$folder/log"
        ! grep -v 'ARM aarch64' "$folder/log" || fail "not for arm64, in $package"
    done
}

check_core() {
    say "building and running checkccl"
    quietly enter "$root" sh -ec 'cd /src/gst-ccl
off="-Dgst=disabled -Dcuda=disabled -Dpython=disabled"
[ -f build-arm/build.ninja ] || meson setup build-arm --cross-file tests/aarch64.ini $off
ninja -C build-arm tests/checkccl/checkccl'
    quietly enter "$root" qemu-aarch64 -L /usr/aarch64-linux-gnu \
        /src/gst-ccl/build-arm/tests/checkccl/checkccl --backend=cpu --quick
    core=$(tail -n 1 "$folder/log")
    say "$core"
}

# qemu cannot start the scanner of plugins, so gst-launch-1.0 loads them itself.
check_plugin() {
    quietly enter "$root" sh -ec 'apt-get -q -y --no-install-recommends install gstreamer1.0-tools:arm64 \
        /src/gstreamer1.0-ccl_*_arm64.deb /src/libgstccl-1.0-0_*_arm64.deb'
    line=$(sed -n 's/^    \(gst-launch-1.0 .*ccllabel threshold=127 ! cclmeta2json ! fdsink\)/\1/p' "$top/README.md")
    enter "$root" env GST_REGISTRY_FORK=no sh -c "qemu-aarch64 /usr/bin/$line" >"$folder/lines" 2>"$folder/log" || {
        cat "$folder/log"
        fail "gst-launch-1.0"
    }
    [ "$(grep -c '"area":' "$folder/lines")" = 60 ] || fail "$(wc -l <"$folder/lines") lines of JSON"
    say "60 lines of JSON from README.md's first pipeline"
}

mkdir -p "$folder"
rm -f "$folder/arm64.json"
started=$(date +%s)
prepare
build_packages
check_core
check_plugin
n=$(find "$folder/packages" -name '*.deb' ! -name '*-dbgsym_*' | wc -l)
printf '{"name": "arm64", "result": "OK", "duration": %s, "stdout": "figures: %s packages, %s, 60 lines of JSON"}\n' \
    $(($(date +%s) - started)) "$n" "$core" >"$folder/arm64.json"
