#!/bin/sh
# SPDX-FileCopyrightText: gst-ccl contributors
# SPDX-License-Identifier: LGPL-2.1-or-later

# Does a program that was built with one commit's libgstccl-1.0 run with another's?
#
#     tests/abi.sh OLD [NEW]      commits; NEW is HEAD by default
#
# Builds both and compares functions and public types. New functions are allowed. Exits 77 without abidiff (abigail-tools).
set -eu
cd "$(dirname "$0")/.."
old=$1
new=${2:-HEAD}

command -v abidiff >/dev/null || { echo "abi: skipped: needs abidiff (abigail-tools)"; exit 77; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

# build COMMIT NAME
build() {
    mkdir "$folder/$2"
    git archive "$1" | tar -x -C "$folder/$2"
    (cd "$folder/$2" && meson setup build --buildtype=debug -Dgst=enabled -Dcuda=disabled -Dtests=disabled \
        -Dexamples=disabled -Dpython=disabled -Dintrospection=disabled && meson compile -C build gstccl-1.0:shared_library) \
        >"$folder/log" 2>&1 || { tail -n 20 "$folder/log"; echo "abi: FAILED: $1 does not build"; exit 1; }
}
build "$old" old
build "$new" new

library=build/gst/ccl/libgstccl-1.0.so
abidiff --no-added-syms --drop-private-types --headers-dir1 "$folder/old/gst/ccl" --headers-dir2 "$folder/new/gst/ccl" \
    "$folder/old/$library" "$folder/new/$library" || { echo "abi: FAILED: it differs from $old"; exit 1; }
echo "abi: programs built with $old run with $new"
