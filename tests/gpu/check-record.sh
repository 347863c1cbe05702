#!/bin/sh
# SPDX-FileCopyrightText: gst-ccl contributors
# SPDX-License-Identifier: LGPL-2.1-or-later

# Does tests/gpu/record.txt stand for the sources as they are, and had every check passed? Says so and ends with 0, or says in
# a line for each part what changed since, or failed, and ends with 1.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
record=$here/record.txt
[ -f "$record" ] || { echo "there is no tests/gpu/record.txt: run tests/gpu/run.sh on a machine with a GPU"; exit 1; }

section=$(mktemp) now=$(mktemp) then=$(mktemp)
trap 'rm -f "$section" "$now" "$then"' EXIT
bad=
complain() {
    echo "tests/gpu/record.txt, $part: $1"
    bad="$bad $part"
}

for part in $("$here/sources.sh" --parts); do
    sed -n "/^part: $part\$/,/^part: /{/^part: $part\$/p;/^part: /!p;}" "$record" > "$section"
    grep -E '^[0-9a-f]{64}  ' "$section" > "$then" || { complain "is not there"; continue; }
    "$here/sources.sh" "$part" > "$now"
    # Lines of one file only: a changed file is in both lists.
    changed=$(LC_ALL=C sort -k2 "$now" "$then" | uniq -u | awk '{ print $2 }' | uniq | tr '\n' ' ')
    [ -z "$changed" ] || { complain "is of other sources; changed since: ${changed% }"; continue; }
    # check: NAME: failed..., and the name may have colons itself.
    failed=$(sed -n '/^check: .*: failed/{s/^check: //;s/: failed.*/;/;p;}' "$section" | tr '\n' ' ')
    [ -z "$failed" ] || complain "fits the sources, but on the GPU these failed: ${failed%; }"
done
if [ -n "$bad" ]; then
    echo "to make it again: tests/gpu/run.sh$bad"
    exit 1
fi
echo "tests/gpu/record.txt fits the sources: $(sed -n 's/^date: //p' "$record" | sort -u | tr '\n' ' ')"
