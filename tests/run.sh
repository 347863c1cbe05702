#!/bin/sh
# SPDX-FileCopyrightText: gst-ccl contributors
# SPDX-License-Identifier: LGPL-2.1-or-later

# Installs what is missing, builds, and runs every test that needs no GPU.
#
#     tests/run.sh [PASS...]
#
# plain      everything, in build-test/, and examples/quickstart.sh
# sanitize   the C programs again, in build-test-sanitize/, with the address and undefined-behaviour sanitizers
# valgrind   the C programs of build-test/ under valgrind's memcheck
# threads    the C programs of the library and the elements, in build-test-threads/, with the thread sanitizer
#
# Without arguments all of them. The last line is `N passed, N failed`, with `, N skipped` where tests were skipped;
# the exit status is 0 only if nothing failed. Meson's logs stay in the build folders, under meson-logs/.
set -u

top=$(cd "$(dirname "$0")/.." && pwd)
plain=$top/build-test
sanitize=$top/build-test-sanitize
threads=$top/build-test-threads
logs=   # testlog.json of every pass, those of passes that Meson calls failed with a ! before
broken=0 # passes that did not come as far as their tests

step() { printf '\n==== %s (%s s)\n' "$*" $(($(date +%s) - started)); }
started=$(date +%s)

finish() {
    step counted
    # shellcheck disable=SC2086
    "$python" "$top/tests/count-results.py" --broken $broken $logs
    exit $?
}

# build FOLDER OPTION...
build() {
    folder=$1
    shift
    # A second setup finds what was installed since the first.
    again=
    [ ! -f "$folder/build.ninja" ] || again=--reconfigure
    # shellcheck disable=SC2086
    meson setup $again "$folder" "$top" -Dgst=enabled -Dtests=enabled "$@" && meson compile -C "$folder"
}

# check FOLDER LOG OPTION...: runs tests; LOG names the log
check() {
    folder=$1
    log=$folder/meson-logs/$2.json
    shift 2
    rm -f "$log"
    mark=
    meson test -C "$folder" --no-rebuild --print-errorlogs "$@" || mark=!
    if [ -f "$log" ]; then
        logs="$logs $mark$log"
    else
        broken=$((broken + 1))
    fi
}

# check_programs FOLDER LOG OPTION...: only what was compiled here
# (Python, gst-launch-1.0 and the shell are not ours to check, and have no sanitizer runtime)
check_programs() {
    programs=$("$python" "$top/tests/native-tests.py" "$1")
    if [ -n "$programs" ]; then
        # shellcheck disable=SC2086
        check "$@" $programs
    else
        broken=$((broken + 1))
    fi
}

pass_plain() {
    step "plain: build"
    build "$plain" || { broken=$((broken + 1)); return; }
    step "plain: test"
    check "$plain" testlog --timeout-multiplier 3
}

pass_sanitize() {
    step "sanitize: build"
    # g-ir-scanner's own program has no sanitizer runtime either.
    build "$sanitize" -Db_sanitize=address,undefined -Db_lundef=false -Dcuda=disabled -Dintrospection=disabled ||
        { broken=$((broken + 1)); return; }
    step "sanitize: test"
    # The first program that GStreamer starts looks at all plugins there are, and some of others lose memory then.
    meson devenv -C "$sanitize" env ASAN_OPTIONS=detect_leaks=0 "$sanitize/tests/libs/blobflat" >/dev/null 2>&1
    check_programs "$sanitize" testlog --timeout-multiplier 10
}

pass_valgrind() {
    step "valgrind: build"
    build "$plain" || { broken=$((broken + 1)); return; }
    step "valgrind: test"
    check_programs "$plain" testlog-valgrind --setup valgrind
}

pass_threads() {
    step "threads: build"
    build "$threads" -Db_sanitize=thread -Db_lundef=false -Dcuda=disabled -Dintrospection=disabled ||
        { broken=$((broken + 1)); return; }
    step "threads: test"
    # The core takes minutes: docs/testing.md. What it has of threads for the CPU is checkccl-pool.
    check_programs "$threads" testlog-threads --setup threads --no-suite core
}

python=/usr/bin/python3 # not one of the user's own, which may lack PyGObject
[ -x $python ] || python=python3

for pass; do
    case $pass in
    plain | sanitize | valgrind | threads) ;;
    *) sed -n '/^# Installs/,/^set/s/^# \{0,1\}//p' "$0" >&2; exit 2 ;;
    esac
done
[ $# -gt 0 ] || set -- plain sanitize valgrind threads

step install
"$top/examples/install.sh" test || {
    echo 'tests/run.sh: the packages could not be installed'
    echo '0 passed, 1 failed'
    exit 1
}
# Tests reach their broker by this name. A system as debootstrap alone makes it has no /etc/hosts that knows it.
if ! getent hosts localhost >/dev/null; then
    echo 'tests/run.sh: localhost is unknown here; adding it to /etc/hosts'
    as_root=
    [ "$(id -u)" = 0 ] || as_root=sudo
    echo '127.0.0.1 localhost' | $as_root tee -a /etc/hosts >/dev/null
fi
if ! command -v nvcc >/dev/null && [ -x /usr/local/cuda/bin/nvcc ]; then
    PATH=$PATH:/usr/local/cuda/bin
    export PATH
fi
for pass; do
    pass_"$pass"
done
finish
