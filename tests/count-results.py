# SPDX-FileCopyrightText: gst-ccl contributors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Adds up Meson's test logs into the line that closes tests/run.sh.

usage: count-results.py [--passed N] [--broken N] [--skipped N] [!]TESTLOG.json...

A test program that reports its own checks (gst-check's closing line, Python's unittest, TAP) counts as many; any other
counts as one. A test of gst-check that cannot run says so (tests/support/skip.h) and counts as skipped.
Each pass without a log counts as one: --passed, or --skipped where it cannot run here. Each pass that ended before its tests
(--broken) counts as a failure. So does a pass that Meson calls failed (!) without a failure in its log: it was stopped.
"""
import argparse
import json
import re
import sys

# "100%: Checks: 12, Failures: 0, Errors: 0"
GST_CHECK = re.compile(r"^\d+%: Checks: (\d+), Failures: (\d+), Errors: (\d+)$", re.MULTILINE)
# "skipped: test_cuda: backend=cuda is not there", of a test that gst-check counts as passed
GST_SKIPPED = re.compile(r"^skipped: test_\w+: ", re.MULTILINE)
# "Ran 12 tests in 0.1s", an empty line, "OK" or "FAILED (failures=1, errors=2, skipped=3)"
UNITTEST = re.compile(r"^Ran (\d+) tests? in .*\n\n(?:OK|FAILED)(?: \((.*)\))?$", re.MULTILINE)
TAP = re.compile(r"^(not )?ok\b(?:.*#\s*(skip)\b)?", re.MULTILINE | re.IGNORECASE)


def count(test):
    """(passed, failed, skipped) of one test program."""
    output = (test.get("stdout") or "") + (test.get("stderr") or "")
    passed = failed = skipped = 0
    if checks := GST_CHECK.findall(output):
        for total, failures, errors in checks:
            failed += int(failures) + int(errors)
            passed += int(total) - int(failures) - int(errors)
        skipped = len(GST_SKIPPED.findall(output))
        passed -= skipped
    elif runs := UNITTEST.findall(output):
        for total, rest in runs:
            counts = {key: int(value) for key, value in re.findall(r"(\w+)=(\d+)", rest)}
            failed += counts.get("failures", 0) + counts.get("errors", 0)
            skipped += counts.get("skipped", 0)
            passed += int(total)
        passed -= failed + skipped
    elif points := TAP.findall(output) if re.search(r"^1\.\.\d+", output, re.MULTILINE) else None:
        skipped = sum(1 for _, skip in points if skip)
        failed = sum(1 for bad, skip in points if bad and not skip)
        passed = len(points) - failed - skipped
    elif test["result"] in ("OK", "EXPECTEDFAIL"):
        passed = 1

    if test["result"] == "SKIP":
        return 0, 0, 1
    if test["result"] not in ("OK", "EXPECTEDFAIL") and failed == 0:
        failed = 1  # crashed, timed out, leaked: whatever its own checks said
    return passed, failed, skipped


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--passed", type=int, default=0)
    parser.add_argument("--broken", type=int, default=0)
    parser.add_argument("--skipped", type=int, default=0)
    parser.add_argument("logs", nargs="*")
    arguments = parser.parse_args()

    passed, failed, skipped = arguments.passed, arguments.broken, arguments.skipped
    for name in arguments.logs:
        log = name.removeprefix("!")
        failed_before = failed
        with open(log, encoding="utf-8") as lines:
            for line in lines:
                test = json.loads(line)
                result = count(test)
                passed, failed, skipped = passed + result[0], failed + result[1], skipped + result[2]
                if result[1]:
                    print(f"FAILED ({test['result']}): {test['name']}, see {log.replace('.json', '.txt')}")
        if name != log and failed == failed_before:
            failed += 1
            print(f"FAILED: stopped before all tests had run, see {log.replace('.json', '.txt')}")
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    sys.exit(1 if failed or not passed else 0)


if __name__ == "__main__":
    main()
