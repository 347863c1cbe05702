#!/bin/sh
# SPDX-FileCopyrightText: gst-ccl contributors
# SPDX-License-Identifier: LGPL-2.1-or-later

# Compares tests/gpu/record.txt with the sources. Exits 0 when every part has run on the present sources and passed.
# Otherwise it prints one line for each part that has to run again, and exits 1.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
record=$here/record.txt
[ -f "$record" ] || { echo "there is no tests/gpu/record.txt: run tests/gpu/run.sh on a machine with a GPU"; exit 1; }

bad=
complain() {
    echo "tests/gpu/record.txt, $part: $1"
    bad="$bad $part"
}

# section PART: its lines of the record
section() { sed -n "/^part $1:/,/^part /{/^part $1:/p;/^part /!p;}" "$record"; }

# changed PART: what git knows to have changed since the record was committed
changed() {
    cd "$here/../.."
    commit=$(git log -1 --format=%H -- tests/gpu/record.txt 2> /dev/null) && [ -n "$commit" ] || return 0
    "$here/sources.sh" --list "$1" | xargs git diff --name-only "$commit" -- | head -n 5 | tr '\n' ' '
}

for part in $("$here/sources.sh" --parts); do
    then=$(section "$part" | sed -n 's/^digest: //p')
    [ -n "$then" ] || { complain "is not there"; continue; }
    if [ "$then" != "$("$here/sources.sh" "$part")" ]; then
        files=$(changed "$part")
        complain "the sources have changed since${files:+, for example ${files% }}"
        continue
    fi
    failed=$(section "$part" | sed -n '/^failed: /{s/^failed: //;s/: .*/;/;p;}' | tr '\n' ' ')
    [ -z "$failed" ] || complain "fits the sources, but on the GPU these failed: ${failed%; }"
done
if [ -n "$bad" ]; then
    echo "to make it again: tests/gpu/run.sh$bad"
    exit 1
fi
echo "tests/gpu/record.txt fits the sources: $(sed -n 's/^part [a-z]*: \([^,]*\),.*/\1/p' "$record" | sort -u | tr '\n' ' ')"
