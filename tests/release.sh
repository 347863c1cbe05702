#!/bin/sh
# SPDX-FileCopyrightText: gst-ccl contributors
# SPDX-License-Identifier: LGPL-2.1-or-later

# Makes a release of what is committed.
#
#     tests/release.sh [--dry-run] [--cuda] VERSION FOLDER      such as 0.1.0 build-release
#
# --cuda: with the GPU code, as tests/packages.sh says.
#
# 1. VERSION stands in meson.build, debian/changelog and docs/news.md, and nothing is uncommitted.
# 2. Where abidiff is installed: programs built with the version before run with this one (tests/abi.sh).
# 3. Changelog and news get the date, in a commit of its own. A dry run leaves it out, and the tag.
# 4. The source archive: the same commit gives the same bytes.
# 5. Packages for Debian 12 and 13 and the wheel, built from the archive and tried (tests/packages.sh --twice --container).
# 6. FOLDER gets archive, packages, wheels, a bill of materials for each release of Debian, and SHA256SUMS.
# 7. The tag vVERSION.
#
# Needs root. Fails before the tag when anything fails.
set -eu
top=$(cd "$(dirname "$0")/.." && pwd)

say() { echo "release: $*"; }
die() { say "$*"; exit 1; }

dry=no cuda=""
[ "${1-}" != --dry-run ] || { dry=yes; shift; }
[ "${1-}" != --cuda ] || { cuda=--cuda; shift; }
[ $# = 2 ] || { sed -n '/^# Makes/,/^# Needs/s/^# \{0,1\}//p' "$0" >&2; exit 2; }
version=$1
mkdir -p "$2"
folder=$(cd "$2" && pwd)
name=gst-ccl-$version
cd "$top"

[ -z "$(git status --porcelain)" ] || die "there are changes that are not committed"
! git rev-parse -q --verify "refs/tags/v$version" >/dev/null || die "the tag v$version is there already"
grep -q "^  version: '$version'," meson.build || die "meson.build has another version"
grep -qF "$version" docs/news.md || die "docs/news.md does not name $version"
case $(head -n 1 debian/changelog) in "gst-ccl ($version) "*) ;; *) die "debian/changelog begins with another version" ;; esac

if before=$(git describe --tags --abbrev=0 --match 'v*' 2>/dev/null); then
    tests/abi.sh "$before" || [ $? = 77 ] || die "the library differs from $before: it needs a new number"
fi

# The bare systems outlive the sources that are unpacked below.
export CCL_BARE_ROOTS="${CCL_BARE_ROOTS:-$top/build-bare}"
if [ $dry = no ] && head -n 1 debian/changelog | grep -q UNRELEASED; then
    now=$(LC_ALL=C date -u '+%a, %d %b %Y %H:%M:%S +0000')
    sed -i "1s/UNRELEASED/unstable/; 0,/^ -- /s/^\( -- .*>  \).*/\1$now/" debian/changelog
    sed -i "s/^## $version (not yet released)/## $version ($(date -u +%Y-%m-%d))/" docs/news.md
    git commit -q -m "Release $version" debian/changelog docs/news.md
fi

git archive --prefix="$name/" HEAD | xz -T1 >"$folder/$name.tar.xz"
rm -rf "${folder:?}/$name"
tar -xJf "$folder/$name.tar.xz" -C "$folder"
"$folder/$name/tests/packages.sh" $cuda --twice --container "$folder/work"
for suite in bookworm trixie; do
    rm -rf "${folder:?}/$suite"
    cp -r "$folder/work/$suite/packages" "$folder/$suite"
    python3 tests/sbom.py "$folder/$suite" >"$folder/$name-$suite.cdx.json"
done
rm -rf "${folder:?}/$name"
(cd "$folder" && find "$name"* bookworm trixie -type f | LC_ALL=C sort | xargs sha256sum >SHA256SUMS)

[ $dry = yes ] || git tag -a -m "gst-ccl $version" "v$version"
say "$(wc -l <"$folder/SHA256SUMS") files in $folder$([ $dry = yes ] || echo ", tag v$version")"
