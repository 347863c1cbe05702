#!/usr/bin/env python3
# SPDX-FileCopyrightText: gst-ccl contributors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Plants small faults in a copy of the sources, one at a time, and runs the tests that should see each.

usage: plant.py [--seed N] [--count N] [--only TEXT] [--again] [--report] FOLDER

FOLDER takes the copy, its build and results.jsonl, one line a fault. A second call goes on where the first stopped: faults that
have a result are not planted again. A fault is drawn by the seed: a negated condition, a limit moved by one, a dropped call.
At the end, and with --report alone, it lists the survivors: faults with which all tests pass. A fault that does not compile
does not count, nor does one in equivalent.txt, which gives the reason. --again plants the survivors in the present sources, and
no new fault. planted.json takes the sum in the form of Meson's test logs, where a survivor is a failure. planted.txt lists the
survivors.
"""
import argparse
import filecmp
import json
import os
import pathlib
import random
import re
import shutil
import subprocess
import sys
import time

TOP = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TOP / "tests/lint"))
import limits  # noqa: E402

EQUIVALENT = pathlib.Path(__file__).with_name("equivalent.txt")

METHODS = ["emulated-labels", "emulated-table", "emulated-rounds", "emulated-volume"]
# Sources by the start of their path, and the tests that should see a fault there. The first that fits holds.
SUITES = [
    ("gst/ccl/", ["blobflat", "blobmeta", "mirrors", "survival"]),
    ("gst/elements/delivery/", ["delivery", "delivery-queue", "delivery-sink", "cclmqttsink", "properties"]),
    ("gst/elements/json/", ["json-parts", "cclmeta2json", "cclmeta2json-unknown", "fuzz-tags", "properties", "chain"]),
    ("gst/elements/label/", ["ccllabel", "ccllabel-contours", "ccllabel-contours-emulated", "ccllabel-volume",
                              "properties", "warnings"]),
    ("gst/elements/motion/", ["cclmotion", "parts", "properties", "warnings"]),
    ("gst/elements/overlay/", ["ccloverlay", "ccloverlay-canvas", "ccloverlay-parts", "ccloverlay-texts", "properties",
                                "chain"]),
    ("gst/elements/remap/", ["cclmetaremap", "cclmetaremap-parts", "properties", "chain"]),
    ("gst/elements/track/", ["ccltrack", "ccltrack-parts", "properties", "chain"]),
    ("gst/elements/zone/", ["cclzone", "cclzone-parts", "fuzz-zones", "properties", "warnings", "chain"]),
    ("gst/elements/base/gstccltrailring", ["ccltrack"]),
    ("gst/elements/base/", ["parts", "ccllabel", "ccllabel-contours-emulated", "cclmotion"]),
    ("kernels/analysis/zone", ["checkzone"]),
    ("kernels/analysis/track", ["checktrack"]),
    ("kernels/analysis/assignment", ["checktrack"]),
    ("kernels/cpu/motion/", ["checkmotion-quick", "checkmotion-cpu"]),
    ("kernels/core/motion", ["checkmotion-quick", "emulated-faults"]),
    ("kernels/cuda/label/", METHODS + ["emulated-bke", "emulated-repeat", "emulated-faults"]),
    ("kernels/cuda/motion/", ["emulated-motion"]),
    ("kernels/cuda/published/", METHODS + ["checkiterate"]),
    ("kernels/cuda/runs/holes", ["emulated-holes", "emulated-holes-room-for-8", "emulated-holes-strips"]),
    ("kernels/cuda/hole_rows", ["emulated-holes", "emulated-holes-room-for-8", "emulated-faults-holes", "checkholes"]),
    ("kernels/cuda/runs/", ["emulated-runs", "emulated-strips", "emulated-far-strips", "emulated-room-for-4", "emulated-batch",
                            "emulated-packed-meanwhile", "emulated-clusters", "emulated-clusters-room-for-3",
                            "emulated-clusters-room-for-40", "emulated-features-room-for-8"]),
    ("kernels/cuda/scheduler", ["checkccl-quick", "emulated-batch", "shared-faults"]),
    ("kernels/cuda/", ["emulated-runs"] + METHODS +
     ["checkdense", "checkflags", "checkmemory", "checktimeouts", "checktimeouts-strips", "emulated-batch", "emulated-clusters",
      "emulated-faults", "emulated-faults-shared", "emulated-features-room-for-8", "emulated-packed-meanwhile",
      "emulated-packed-timeouts", "emulated-repeat", "emulated-room-for-8", "shared-faults", "shared-faults-clusters"]),
    ("kernels/", ["checkccl-quick"]),
]
# No code for other processors, or that runs without CUDA alone.
LEFT_OUT = re.compile(r"^kernels/cuda/published/decide|^kernels/cuda/(motion_)?stubs|_neon|/neon\.c|avx512|"
                      r"gstccl(cuda|device|pinned)\.|make_byte_table|plugin\.c")

# (kind, what is searched, what replaces it)
CHANGES = [
    ("negated condition", r"\bif \((?!!)([^;{}]+)\)( \{)?$", r"if (!(\1))\2"),
    ("limit moved by one", r" < (\w+)", r" <= \1"),
    ("limit moved by one", r" <= (\w+)", r" < \1"),
    ("limit moved by one", r" > (\w+)", r" >= \1"),
    ("limit moved by one", r" >= (\w+)", r" > \1"),
    ("off by one", r"\+ 1\b", "+ 2"),
    ("off by one", r"- 1\b", "- 2"),
    ("and for or", r" && ", " || "),
    ("or for and", r" \|\| ", " && "),
    ("plus for minus", r"(\w) \+ (\w)", r"\1 - \2"),
    ("dropped call", r"^( +)(?!return|g_free|g_clear|free|gst_\w+_unref|gst_type_mark_\w+|GST_(?:LOG|DEBUG|INFO))\w+ ?\([^;]*\);$", r"\1(void) 0;"),
    ("true for false", r"\bTRUE\b|\btrue\b", "0"),
    ("false for true", r"\bFALSE\b|\bfalse\b", "1"),
]
PASSIVE = re.compile(r"^\s*(/?\*|//|#|g_return|g_assert|G_STATIC_ASSERT|GST_(?:LOG|DEBUG|INFO|CAT))")


def sources():
    files = subprocess.run(["git", "-C", TOP, "ls-files", "gst", "kernels"], capture_output=True, text=True, check=True)
    return [path for path in files.stdout.split() if path.endswith((".c", ".h", ".cu", ".cuh")) and not LEFT_OUT.search(path)
            and "python" not in path]


def possible_faults(root):
    """(path, number of the line, kind, new line) of all faults there are."""
    for path in sources():
        in_function = False
        for number, line in enumerate((root / path).read_text("utf-8").splitlines()):
            in_function = line.startswith("{") or (in_function and not line.startswith("}"))
            if not in_function or PASSIVE.search(line):
                continue
            code, comment = re.match(r"(.*?)(\s*/\*.*)?$", line).groups(default="")
            for kind, wanted, instead in CHANGES:
                changed = re.sub(wanted, instead, code, count=1)
                if changed != code:
                    yield path, number, kind, changed + comment


def draw(seed, count, root, only):
    """As many of each folder as of any other, so that long files do not take all."""
    faults, chooser = {}, random.Random(seed)
    for fault in possible_faults(root):
        if only in fault[0]:
            faults.setdefault(next(start for start, _ in SUITES if fault[0].startswith(start)), []).append(fault)
    for group in faults.values():
        chooser.shuffle(group)
    rounds = (group[i] for i in range(max(map(len, faults.values()))) for group in faults.values() if i < len(group))
    return [fault for fault, _ in zip(rounds, range(count))]


def method_of(path, sources):
    """The labelling methods that show the faults of a CUDA source: its own, that of a source that includes it, or two."""
    for user in [sources / path, *sorted((sources / path).parent.glob("*.cu"))]:
        text = user.read_text("utf-8")
        name = re.search(r'\.name = "([\w-]+)"', text)
        if name and (user.suffix == ".cu" and user.name == pathlib.Path(path).name or f'{pathlib.Path(path).name}"' in text):
            return name[1]
    return "runs,bke"


def tests_of(path):
    return next(tests for start, tests in SUITES if path.startswith(start))


def glance(path, sources):
    """A part of the tests below that sees most faults of a CUDA source in seconds: a program and its arguments."""
    if path.startswith("kernels/cuda/scheduler"):
        return ["tests/checkccl/checkccl", "--backend=cpu", "--quick", "--suite=batch"]
    if path.startswith("kernels/cuda/motion/"):
        return ["tests/emulate/checkmotion-emulated", "cuda", "1", "feedback" if "/feedback" in path else "others"]
    if path.startswith("kernels/cuda/"):
        return ["tests/emulate/checkccl-emulated", "--backend=cuda", "--quick", "--suite=labels,table,features,volume",
                "--pixels=6000", "--every=97", f"--algorithm={method_of(path, sources)}"]
    return None


def place_of(path, lines, number):
    """Where a line is: "path: function", and among several such lines of the function ", 2 of 3"."""
    for name, first, n in limits.c_functions(lines):
        if first <= number + 1 < first + n:
            alike = [i for i in range(first - 1, first - 1 + n) if lines[i].strip() == lines[number].strip()]
            return f"{path}: {name}" + (f", {alike.index(number) + 1} of {len(alike)}" if len(alike) > 1 else "")
    return path


class Copy:
    """The copy of the sources and its build."""

    def __init__(self, folder):
        self.sources, self.build, self.results = folder / "sources", folder / "build", folder / "results.jsonl"

    def set_up(self):
        if not (self.build / "build.ninja").exists():
            subprocess.run(["meson", "setup", self.build, self.sources, "-Dgst=enabled", "-Dtests=enabled", "-Dcuda=disabled",
                            "-Dintrospection=disabled", "-Dexamples=disabled"], check=True, stdout=subprocess.DEVNULL)

    def refresh(self):
        """Copies what has changed since the last call, so that ninja compiles no more than that. Not while another process plants
        in this folder."""
        files = subprocess.run(["git", "-C", TOP, "ls-files", "-z"], capture_output=True, check=True).stdout
        for name in filter(None, files.decode().split("\0")):
            source, copy = TOP / name, self.sources / name
            if source.exists() and not (copy.exists() and filecmp.cmp(source, copy, shallow=False)):
                copy.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(source, copy)
                shutil.copymode(source, copy)

    def run(self, tests, first=None):
        """"killed", "survived" or "not built", and by which test. The tests run one after the other, the likeliest first, each
        built when its turn comes; before them the program `first`."""
        if first:
            if not self.build_targets(first[:1]):
                return {"result": "not built", "by": "glance"}
            if not self.passes([self.build / first[0], *first[1:]]):
                return {"result": "killed", "by": " ".join(first)}
        for test in tests:
            if not self.build_targets(self.targets([test])):
                return {"result": "not built", "by": test}
            if not self.passes(["meson", "test", "-C", self.build, "--no-rebuild", "--verbose", "--num-processes=1",
                                "--timeout-multiplier=5", test]):
                return {"result": "killed", "by": test}
        return {"result": "survived"}

    def build_targets(self, targets):
        return subprocess.run(["ninja", "-C", self.build, *targets], capture_output=True, check=False).returncode == 0

    def passes(self, command):
        """Ends a program when it has said that it fails: checkccl would go on, and look for a smaller image."""
        environment = {"CCL_EMULATE": "seconds=10", **os.environ}  # of a kernel; a test can set another limit
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace",
                              env=environment) as process:
            for line in process.stdout:
                if line.startswith("FAILED"):
                    process.terminate()
                    process.stdout.read()
                    return False
        return process.returncode == 0

    def targets(self, tests):
        """The programs of the tests and, where one is not of the core, the plugins."""
        found = subprocess.run(["meson", "introspect", "--tests", self.build], capture_output=True, check=True).stdout
        found = [test for test in json.loads(found) if test["name"] in tests]
        wanted = {str(pathlib.Path(test["cmd"][0]).relative_to(self.build)) for test in found
                  if test["cmd"][0].startswith(str(self.build))}
        plugins = ["gst/elements/libgstccl.so", "gst/elements/libgstcclmqtt.so"]
        return sorted(wanted) + ([] if all("gst-ccl:core" in test["suite"] for test in found) else plugins)

    def fails_without_fault(self, faults):
        """The name of a test; None: all that these faults meet pass."""
        tests, glances = set(), {}
        for path, *_ in faults:
            tests.update(tests_of(path))
            glances[tuple(glance(path, self.sources) or ())] = True
        for first in glances:
            if by := self.run([], first).get("by"):
                return by
        return self.run(sorted(tests)).get("by")

    def plant(self, fault):
        path, number, kind, changed = fault
        file = self.sources / path
        text = file.read_text("utf-8")
        lines = text.splitlines(keepends=True)
        before, lines[number] = lines[number].strip(), changed + "\n"
        start = time.monotonic()
        try:
            file.write_text("".join(lines), "utf-8")
            result = self.run(tests_of(path), glance(path, self.sources))
        finally:
            file.write_text(text, "utf-8")
        return {"fault": f"{path}:{number + 1}", "kind": kind, "before": before, "after": changed.strip(), **result,
                "seconds": round(time.monotonic() - start, 1)}

    def find(self, result):
        """(path, its lines, number of the line) of an earlier result in the present sources. Number None: it has gone."""
        path, number = result["fault"].rsplit(":", 1)
        lines = (self.sources / path).read_text("utf-8").splitlines() if (self.sources / path).exists() else []
        alike = [i for i, line in enumerate(lines) if line.strip() == result["before"]]
        return path, lines, min(alike, key=lambda i: abs(i + 1 - int(number)), default=None)

    def plant_again(self, result):
        """The fault of an earlier result, in the present sources."""
        path, lines, number = self.find(result)
        if number is None:
            return result | {"result": "gone"}
        indent = lines[number][:len(lines[number]) - len(lines[number].lstrip())]
        return self.plant((path, number, result["kind"], indent + result["after"]))

    def is_equivalent(self, result, known):
        path, lines, number = self.find(result)
        return number is not None and (place_of(path, lines, number), result["before"], result["after"]) in known

    def write_results(self, results):
        self.results.write_text("".join(json.dumps(result) + "\n" for result in results), "utf-8")

    def read_results(self):
        return [json.loads(line) for line in self.results.read_text("utf-8").splitlines()] if self.results.exists() else []


def equivalents():
    """{(place, line before, line after)}: see the head of the file."""
    entries, paragraphs = set(), EQUIVALENT.read_text("utf-8").split("\n\n")
    for lines in (paragraph.strip().splitlines() for paragraph in paragraphs if not paragraph.startswith("#")):
        if len(lines) != 4:
            sys.exit(f"{EQUIVALENT}: not four lines: {lines[0]}")
        place, before, after = (line.strip() for line in lines[:3])
        path = place.split(":")[0]
        source = (TOP / path).read_text("utf-8").splitlines()
        if place not in [place_of(path, source, i) for i, line in enumerate(source) if line.strip() == before]:
            sys.exit(f"{EQUIVALENT}: {place} has no longer this line: {before}")
        entries.add((place, before, after))
    return entries


def report(copy, results, known, only):
    """Prints the survivors and the sum. Returns a test's line of a log. known: equivalents()"""
    lines = []
    for result in results:
        if result["result"] == "survived" and copy.is_equivalent(result, known):
            result["result"] = "equivalent"
        if result["result"] == "survived":
            lines.append(f'survived: {result["fault"]}: {result["kind"]}: {result["before"]}  ->  {result["after"]}')
    names = ("killed", "survived", "equivalent", "not built", "gone")
    counts = {name: sum(result["result"] == name for result in results) for name in names}
    lines.append("figures: " + ", ".join(f"{n} {name}" for name, n in counts.items()))
    print("\n".join(lines))
    return {"name": f"planted {only}".strip(), "result": "FAIL" if counts["survived"] else "OK", "stdout": "\n".join(lines),
            "duration": sum(result.get("seconds", 0) for result in results)}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=120)
    parser.add_argument("--only", default="", help="a part of the path")
    parser.add_argument("--again", action="store_true")
    parser.add_argument("--report", action="store_true")
    parser.add_argument("folder", type=pathlib.Path)
    arguments = parser.parse_args()
    copy = Copy(arguments.folder.resolve())
    equivalent = equivalents()
    results = copy.read_results()
    if not arguments.report:
        copy.refresh()
        copy.set_up()
    if arguments.again:
        for i, result in enumerate(results):
            if result["result"] == "survived" and not copy.is_equivalent(result, equivalent):
                results[i] = copy.plant_again(result)
                copy.write_results(results)
                print(results[i]["result"], results[i]["fault"], results[i]["kind"], flush=True)
    elif not arguments.report:
        faults = draw(arguments.seed, arguments.count, copy.sources, arguments.only)
        if not results and (failed := copy.fails_without_fault(faults)):
            sys.exit(f"{failed} fails without a fault: see meson-logs in the build folder")
        known = {(result["fault"], result["after"]) for result in results}
        print(f"seed {arguments.seed}", flush=True)
        for fault in faults:
            if (f"{fault[0]}:{fault[1] + 1}", fault[3].strip()) not in known:
                results.append(copy.plant(fault))
                with copy.results.open("a", encoding="utf-8") as file:
                    file.write(json.dumps(results[-1]) + "\n")
                print(results[-1]["result"], results[-1]["fault"], results[-1]["kind"], flush=True)
    log = report(copy, results, equivalent, arguments.only)
    if not arguments.report:
        copy.results.with_name("planted.json").write_text(json.dumps(log) + "\n", "utf-8")
        copy.results.with_name("planted.txt").write_text(log["stdout"] + "\n", "utf-8")


if __name__ == "__main__":
    main()
