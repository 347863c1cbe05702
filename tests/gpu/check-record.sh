#!/bin/sh
# SPDX-FileCopyrightText: gst-ccl contributors
# SPDX-License-Identifier: LGPL-2.1-or-later

# Does tests/gpu/record.txt stand for the sources as they are? Says so and ends with 0, or says in one line what changed
# since and ends with 1.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
record=$here/record.txt
[ -f "$record" ] || { echo "there is no tests/gpu/record.txt: run tests/gpu/run.sh on a machine with a GPU"; exit 1; }

now=$(mktemp) then=$(mktemp)
trap 'rm -f "$now" "$then"' EXIT
"$here/sources.sh" > "$now"
grep -E '^[0-9a-f]{64}  ' "$record" > "$then" || true

[ -s "$then" ] || { echo "tests/gpu/record.txt is incomplete: tests/gpu/run.sh did not finish"; exit 1; }

# Lines of one file only: a changed file is in both lists.
changed=$(LC_ALL=C sort -k2 "$now" "$then" | uniq -u | awk '{ print $2 }' | uniq | tr '\n' ' ')
if [ -n "$changed" ]; then
    echo "tests/gpu/record.txt is of other sources; changed since: ${changed% }"
    exit 1
fi
# check: NAME: failed..., and the name may have colons itself.
failed=$(sed -n '/^check: .*: failed/{s/^check: //;s/: failed.*/;/;p;}' "$record" | tr '\n' ' ')
if [ -n "$failed" ]; then
    echo "tests/gpu/record.txt fits the sources, but on the GPU these failed: ${failed%; }"
    exit 1
fi
echo "tests/gpu/record.txt fits the sources: $(sed -n 's/^date: //p' "$record"), $(sed -n 's/^gpu: //p' "$record")"
