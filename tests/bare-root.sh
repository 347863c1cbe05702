# SPDX-FileCopyrightText: gst-ccl contributors
# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=sh

# Bare Debian systems in folders, for the scripts that include this file. They set `me`, their name in messages, `top`, the
# sources, and `folder`, which takes the log. CCL_BARE_ROOTS names the folder of bare systems that all scripts share.

# Mounts are this process's own and end with it, also when it is killed. Else removing the folder later would empty /dev.
if [ -z "${CCL_OWN_MOUNTS-}" ] && unshare --mount true 2>/dev/null; then
    CCL_OWN_MOUNTS=1 exec unshare --mount sh "$0" "$@"
fi

say() { echo "${me:?}: $*"; }
skip() { say "skipped: $*"; exit 77; }
fail() { say "FAILED: $*"; exit 1; }
# quietly COMMAND...: its output is shown when it fails
quietly() {
    "$@" >"${folder:?}/log" 2>&1 || { tail -n 40 "$folder/log"; fail "$*"; }
}
install_in() { # ROOT PACKAGE...
    in=$1
    shift
    quietly enter "$in" apt-get -q -y --no-install-recommends -o Acquire::Retries=3 install "$@"
}

# copy_root SUITE ROOT: a bare system in ROOT
copy_root() {
    make_root "$1" "${CCL_BARE_ROOTS:-${top:?}/build-bare}/$1"
    rm -rf --one-file-system "$2" "$2.new"
    mkdir -p "$(dirname "$2")"
    cp -a --reflink=auto "${CCL_BARE_ROOTS:-$top/build-bare}/$1" "$2.new"
    mv "$2.new" "$2"
}

# make_root SUITE ROOT: what debootstrap makes; kept for the next time
make_root() {
    [ "$(id -u)" = 0 ] || skip "needs root"
    [ ! -e "$2/complete" ] || return 0
    if ! command -v debootstrap >/dev/null; then
        apt-get -q install -y --no-install-recommends debootstrap >/dev/null 2>&1 || skip "debootstrap cannot be installed"
    fi
    say "making a bare system in $2"
    rm -rf --one-file-system "$2"
    mkdir -p "$2"
    mirror=$(sed -n 's/^URIs: *\([^ ]*\).*/\1/p; s/^deb \(\[[^]]*\] \)\{0,1\}\([^ ]*\).*/\2/p' \
        /etc/apt/sources.list.d/debian.sources /etc/apt/sources.list 2>/dev/null | head -n 1)
    debootstrap --variant=minbase --include=ca-certificates "$1" "$2" "${mirror:-http://deb.debian.org/debian}" \
        >"$2.log" 2>&1 || { tail -n 5 "$2.log"; skip "debootstrap failed"; }
    # The proxy and certificates of this machine, if it has any.
    cp -L /etc/resolv.conf "$2/etc/" 2>/dev/null || :
    cp /etc/apt/apt.conf.d/*prox* "$2/etc/apt/apt.conf.d/" 2>/dev/null || :
    if [ -d /usr/local/share/ca-certificates ]; then
        cp -rL /usr/local/share/ca-certificates "$2/usr/local/share/"
        enter "$2" update-ca-certificates >>"$2.log" 2>&1
    fi
    # A system that is made anew at will need not be on the disk after each package.
    echo force-unsafe-io >"$2/etc/dpkg/dpkg.cfg.d/unsafe-io"
    # Nor does it need the files that a package came in: gigabytes in all.
    echo 'DPkg::Post-Invoke { "rm -f /var/cache/apt/archives/*.deb"; };' >"$2/etc/apt/apt.conf.d/no-archives"
    rm -f "$2"/var/cache/apt/archives/*.deb
    touch "$2/complete"
}

remove_root() { # ROOT
    unmount_root "$1"
    rm -rf --one-file-system "$1"
}

mounted=
mount_root() {
    mounted="$mounted $1"
    if ! { mount -t proc proc "$1/proc" && mount --bind /dev "$1/dev" && mount -t tmpfs tmpfs "$1/dev/shm"; }; then
        skip "mounting /proc and /dev is not allowed here"
    fi
}
unmount_root() {
    for what in dev/shm dev proc usr/local/cuda; do umount "$1/$what" 2>/dev/null || :; done
}
# unmount_roots: of every mount_root
unmount_roots() {
    for one in $mounted; do unmount_root "$one"; done
    mounted=
}
trap unmount_roots EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

# enter ROOT COMMAND...: with nothing of this machine's environment but its proxy
enter() {
    entered=$1 # the caller has a `root` of its own
    shift
    chroot "$entered" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C.UTF-8 TERM=dumb DEBIAN_FRONTEND=noninteractive \
        http_proxy="${http_proxy-}" https_proxy="${https_proxy-}" PIP_CERT=/etc/ssl/certs/ca-certificates.crt "$@" </dev/null
}

# copy_sources TOP FOLDER: without build folders; old ones in FOLDER stay, and their objects are used again
copy_sources() {
    mkdir -p "$2"
    (cd "$1" && tar -c --exclude='./build*' --exclude=./.git .) | tar -x -C "$2"
}
