# SPDX-FileCopyrightText: gst-ccl contributors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Writes what `tests/run.sh --long` saw into tests/long-record.txt: date, processor, one digest of the sources, a line a test.

usage: long-record.py TESTLOG.json
"""
import datetime
import hashlib
import json
import pathlib
import platform
import sys

HERE = pathlib.Path(__file__).resolve().parent


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


def main():
    digest = hashlib.sha256(b"".join(path.read_bytes() for path in sources())).hexdigest()
    with open(sys.argv[1], encoding="utf-8") as log:
        tests = [json.loads(line) for line in log]
    now = datetime.datetime.now(datetime.timezone.utc)
    lines = [f"long: {now:%Y-%m-%dT%H:%MZ}, {processor()}", f"digest: {digest}"]
    for test in sorted(tests, key=lambda test: test["name"]):
        lines.append(f"{test['result'].lower()}: {test['name'].split(' / ')[-1]}: {test['duration']:.0f} s")
    (HERE / "long-record.txt").write_text("\n".join(lines) + "\n", "utf-8")


if __name__ == "__main__":
    main()
