#!/bin/sh
# SPDX-FileCopyrightText: gst-ccl contributors
# SPDX-License-Identifier: LGPL-2.1-or-later

# Installs what is missing, builds, and runs the tests that need no GPU.
#
#     tests/run.sh             the tests of a developer's day: at most 10 minutes on two cores
#     tests/run.sh --all       every pass below but the last three, as CI does: at most 60 minutes on two cores
#     tests/run.sh --long      fuzz, 15 minutes a target, arm64, long and planted: hours; updates tests/long-record.txt
#     tests/run.sh --long TEST...  these of them alone; the record keeps its lines of the others
#     tests/run.sh PASS...     these passes alone
#
# quick        build-test/: the lint, the core, the library, the elements, the documents' commands, the quickstart
# slow         build-test/: the remaining tests, mostly CUDA kernels on the CPU (tests/emulate/README.md); then
#              OpenCV, scikit-image and cc3d beside us, where pip can install them
# sanitize     the C programs in build-test-sanitize/, with the address and undefined-behaviour sanitizers
# valgrind     the C programs of build-test/ under valgrind's memcheck
# threads      the C programs of the library and the elements in build-test-threads/, with the thread sanitizer
# static       gcc -fanalyzer, clang-tidy and cppcheck over gst/ and kernels/, in build-test-static/ (tests/static/check.py)
# fuzz         libFuzzer with each target of tests/fuzz in build-test-fuzz/, a quarter of a minute each; needs clang
# debian13     the quick pass in a bare Debian 13 (GStreamer 1.26) in build-debian13/; needs root
# packages     Debian packages and Python wheel, built and tried in bare systems in build-packages/; needs root
# arm64        the packages, cross-built, and the core under qemu (tests/arm64.sh) in build-arm64/; needs root
# long         the emulated CUDA kernels on many images, and an hour of all elements (tests/soak.py)
# planted      faults that the tests should see, in build-test-planted/ (tests/planted/plant.py); hours. A second call goes on
#              where the first was stopped
#
# The last line is `N passed, N failed, N skipped`. The exit status is 0 only if nothing failed. Meson's logs stay in the
# build folders, under meson-logs/. CCL_CUDA_ARCH names the architecture that nvcc compiles for (default: sm_90).
# shellcheck disable=SC2317 # functions are called by the name of their pass
set -u

top=$(cd "$(dirname "$0")/.." && pwd)
plain=$top/build-test
sanitize=$top/build-test-sanitize
threads=$top/build-test-threads
static=$top/build-test-static
fuzz=$top/build-test-fuzz
fuzz_seconds=15 # for each target
targets= # of ninja; none: all
logs=   # testlog.json of every pass; a ! before those of passes that Meson calls failed
once= # --once: bare systems are removed after their use
long_tests= # names; none: all
fuzz_tests= # likewise
passed=0 # passes without a log
broken=0 # passes that ended before their tests
skipped=0 # passes that cannot run here

step() { printf '\n==== %s (after %s s)\n' "$*" $(($(date +%s) - started)); }
started=$(date +%s)

finish() {
    step "results"
    # shellcheck disable=SC2086
    "$python" "$top/tests/count-results.py" --passed $passed --broken $broken --skipped $skipped $logs
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
    meson setup $again "$folder" "$top" -Dgst=enabled -Dtests=enabled "$@" && meson compile -C "$folder" $targets | progress
    # shellcheck disable=SC2086
    ninja -C "$folder" -n $targets | grep -q 'no work to do'
}

# A terminal shows each of ninja's lines; elsewhere one line every ten seconds is enough.
progress() {
    [ ! -t 1 ] || { cat; return; }
    next=0
    while IFS= read -r line; do
        case $line in
        "["*/*"] "*)
            now=$(date +%s)
            [ "$now" -ge "$next" ] || continue
            next=$((now + 10)) ;;
        esac
        printf '%s\n' "$line"
    done
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

# check_programs FOLDER LOG OPTION...: the programs that were compiled here. Python, gst-launch-1.0 and the shell have no
# sanitizer runtime, and their memory is not ours to check.
check_programs() {
    programs=$("$python" "$top/tests/native-tests.py" "$1")
    if [ -n "$programs" ]; then
        # shellcheck disable=SC2086
        check "$@" $programs
    else
        broken=$((broken + 1))
    fi
}

build_plain() { build "$plain" -Dcuda-arch="${CCL_CUDA_ARCH:-sm_90}"; }

pass_quick() {
    step "quick: build"
    build_plain || { broken=$((broken + 1)); return; }
    step "quick: test"
    check "$plain" quick --logbase quick --timeout-multiplier 3 --no-suite slow
}

# install_peers FOLDER: a Python with the libraries that we are compared with. Only finished packages, and not for long: a network
# may be slow.
install_peers() {
    wanted=$(python3 --version; cat "$top/tests/benchmark/requirements.txt")
    [ "$wanted" = "$(cat "$1/complete" 2> /dev/null)" ] || {
        python3 -m venv --clear "$1" &&
            timeout 600 "$1/bin/pip" -q --disable-pip-version-check install --only-binary :all: \
                -c "$top/tests/benchmark/requirements.txt" connected-components-3d opencv-contrib-python-headless scikit-image &&
            printf '%s\n' "$wanted" > "$1/complete"
    }
}

pass_slow() {
    step "slow: build"
    build_plain || { broken=$((broken + 1)); return; }
    step "slow: test"
    check "$plain" slow --logbase slow --timeout-multiplier 3 --suite slow --no-suite peers
    step "slow: peers" # without their Python they are skipped
    path=$PATH
    ! install_peers "$plain/peers-python" || PATH=$plain/peers-python/bin:$PATH
    check "$plain" peers --logbase peers --timeout-multiplier 3 --suite peers
    PATH=$path
}

pass_sanitize() {
    step "sanitize: build"
    # g-ir-scanner's own program has no sanitizer runtime either.
    build "$sanitize" -Db_sanitize=address,undefined -Db_lundef=false -Dcuda=disabled -Dintrospection=disabled ||
        { broken=$((broken + 1)); return; }
    step "sanitize: test"
    check_programs "$sanitize" testlog --timeout-multiplier 10 --no-suite again
}

pass_valgrind() {
    step "valgrind: build"
    build_plain || { broken=$((broken + 1)); return; }
    step "valgrind: test"
    check_programs "$plain" testlog-valgrind --setup valgrind
}

pass_threads() {
    step "threads: build"
    build "$threads" -Db_sanitize=thread -Db_lundef=false -Dcuda=disabled -Dintrospection=disabled ||
        { broken=$((broken + 1)); return; }
    step "threads: test"
    # The whole core takes minutes (docs/testing.md); checkccl-pool covers its threads.
    check_programs "$threads" testlog-threads --setup threads --no-suite core
}

pass_static() {
    step "static"
    # Where clang-tidy or cppcheck cannot be installed, check.py skips it.
    "$top/examples/install.sh" static || true
    again=
    [ ! -f "$static/build.ninja" ] || again=--reconfigure
    # shellcheck disable=SC2086
    meson setup $again "$static" "$top" -Dgst=enabled -Dtests=disabled -Dexamples=disabled -Dintrospection=disabled >/dev/null ||
        { broken=$((broken + 1)); return; }
    rm -f "$static/static.json"
    "$python" "$top/tests/static/check.py" "$static"
    if [ -f "$static/static.json" ]; then
        logs="$logs $static/static.json"
    else
        broken=$((broken + 1))
    fi
}

pass_fuzz() {
    step "fuzz: build"
    if ! "$top/examples/install.sh" fuzz; then
        echo 'tests/run.sh: fuzz is skipped, because clang could not be installed'
        skipped=$((skipped + 1))
        return
    fi
    (
        CC=clang
        export CC
        targets=fuzzers
        build "$fuzz" -Dfuzz="$fuzz_seconds" -Db_sanitize=address,undefined -Db_lundef=false -Dcuda=disabled \
            -Dintrospection=disabled -Dexamples=disabled
    ) || { broken=$((broken + 1)); return; }
    step "fuzz: test"
    # shellcheck disable=SC2086
    check "$fuzz" fuzz --logbase fuzz --suite fuzz $fuzz_tests
    [ "$fuzz_seconds" -lt 900 ] || "$python" "$top/tests/long-record.py" "$fuzz/meson-logs/fuzz.json"
}

pass_debian13() {
    step "debian13"
    # shellcheck disable=SC2086
    "$top/tests/debian13.sh" $once "$top/build-debian13"
    case $? in
    0) logs="$logs $top/build-debian13/quick.json" ;;
    77) skipped=$((skipped + 1)) ;;
    *)
        if [ -f "$top/build-debian13/quick.json" ]; then
            logs="$logs !$top/build-debian13/quick.json"
        else
            broken=$((broken + 1))
        fi
        ;;
    esac
}

pass_packages() {
    step "packages"
    # shellcheck disable=SC2086
    "$top/tests/packages.sh" $once "$top/build-packages"
    case $? in
    0) passed=$((passed + 1)) ;;
    77) skipped=$((skipped + 1)) ;;
    *) broken=$((broken + 1)) ;;
    esac
}

pass_arm64() {
    step "arm64"
    "$top/tests/arm64.sh" "$top/build-arm64"
    case $? in
    0)
        passed=$((passed + 1))
        "$python" "$top/tests/long-record.py" "$top/build-arm64/arm64.json"
        ;;
    77) skipped=$((skipped + 1)) ;;
    *) broken=$((broken + 1)) ;;
    esac
}

pass_long() {
    step "long: build"
    build "$top/build-test-long" -Dcuda=disabled -Demulate-long=true || { broken=$((broken + 1)); return; }
    step "long: test"
    # shellcheck disable=SC2086
    check "$top/build-test-long" long --logbase long --suite slow $long_tests
    "$python" "$top/tests/long-record.py" "$top/build-test-long/meson-logs/long.json"
}

pass_planted() {
    step "planted"
    planted=$top/build-test-planted
    mkdir -p "$planted"
    # After a run that ended, others are drawn.
    [ ! -f "$planted/planted.json" ] || rm -f "$planted/planted.json" "$planted/results.jsonl" "$planted/seed"
    [ -f "$planted/seed" ] || date +%y%m%d >"$planted/seed"
    "$python" "$top/tests/planted/plant.py" --count 120 --seed "$(cat "$planted/seed")" "$planted" ||
        { broken=$((broken + 1)); return; }
    logs="$logs $planted/planted.json"
    "$python" "$top/tests/long-record.py" "$planted/planted.json"
}

# The limits of single tests in a C program grow as Meson's do: they only end a hang.
CK_TIMEOUT_MULTIPLIER=10
export CK_TIMEOUT_MULTIPLIER

python=/usr/bin/python3 # the system's, which has PyGObject
[ -x $python ] || python=python3

browser=no # the bare Debian 13 calls the quick pass by its name, and does without
case ${1-} in
'') browser=yes; set -- quick ;;
--all) browser=yes once=--once; set -- quick slow static sanitize valgrind threads fuzz debian13 packages ;;
--long)
    shift
    fuzz_seconds=900
    for name; do
        case $name in
        fuzz-*) fuzz_tests="$fuzz_tests $name" ;;
        *) long_tests="$long_tests $name" ;;
        esac
    done
    if [ $# = 0 ]; then set -- fuzz arm64 long planted; else set -- ${fuzz_tests:+fuzz} ${long_tests:+long}; fi
    ;;
esac
for pass; do
    case $pass in
    quick | slow | static | sanitize | valgrind | threads | fuzz | debian13 | packages | arm64 | long | planted) ;;
    *) sed -n '/^# Installs/,/default: sm_90/s/^# \{0,1\}//p' "$0" >&2; exit 2 ;;
    esac
done

step "install"
"$top/examples/install.sh" test || {
    echo 'tests/run.sh: the packages could not be installed'
    echo '0 passed, 1 failed, 0 skipped'
    exit 1
}
[ $browser = no ] || "$top/examples/install.sh" browser || echo 'tests/run.sh: no browser, tests of the live page are skipped'
# Tests reach their broker by this name. After debootstrap alone /etc/hosts is missing.
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
