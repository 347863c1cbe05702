# SPDX-FileCopyrightText: gst-ccl contributors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Notes in tests/long-record.txt what `tests/run.sh --long` saw: a line a test, with its result, duration, date and processor,
a digest of the sources it ran on, and its figures. Lines of tests that did not run stay.

usage: long-record.py TESTLOG.json
"""
import datetime
import hashlib
import json
import pathlib
import platform
import re
import sys

HERE = pathlib.Path(__file__).resolve().parent
RECORD = HERE / "long-record.txt"


def sources():
    """Every C and CUDA source of the core, the plugin and the tests that run here."""
    for folder in ("kernels", "gst", "tests"):
        for path in sorted((HERE.parent / folder).rglob("*")):
            if path.suffix in (".c", ".h", ".cpp", ".cu", ".cuh"):
                yield path


def processor():
    for line in pathlib.Path("/proc/cpuinfo").read_text("utf-8").splitlines():
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return platform.machine()


def figures(test):
    """What a test says of itself: "figures: ...", or the statistics of libFuzzer."""
    output = (test.get("stdout") or "") + (test.get("stderr") or "")
    if said := re.search(r"^figures: (.*)$", output, re.MULTILINE):
        return f", {said[1]}"
    executed, coverage = re.search(r"number_of_executed_units: *(\d+)", output), re.findall(r"\bcov: (\d+)", output)
    return f", {executed[1]} inputs, {coverage[-1]} edges" if executed and coverage else ""


def recorded():
    """The lines of the record by the names of their tests."""
    lines = RECORD.read_text("utf-8").splitlines() if RECORD.exists() else []
    return {line.split(": ")[0]: line for line in lines}


def main():
    digest = hashlib.sha256(b"".join(path.read_bytes() for path in sources())).hexdigest()[:16]
    today = datetime.datetime.now(datetime.timezone.utc).date()
    record = recorded()
    with open(sys.argv[1], encoding="utf-8") as log:
        for test in map(json.loads, log):
            name = test["name"].split(" / ")[-1]
            record[name] = (f"{name}: {test['result'].lower()}, {test['duration']:.0f} s, {today}, {processor()}, "
                            f"sources {digest}{figures(test)}")
    RECORD.write_text("".join(record[name] + "\n" for name in sorted(record)), "utf-8")


if __name__ == "__main__":
    main()
