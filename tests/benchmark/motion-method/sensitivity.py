#!/usr/bin/env python3
# SPDX-FileCopyrightText: gst-ccl contributors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""How much the masks of method feedback depend on its constants: F at half and at double of each.

    sensitivity.py BUILD [CONSTANT ...] [--clip NAME ...]

BUILD is a build folder. CONSTANT is a name without FEEDBACK_, or one of those in PLACES (default: all). For each value the files
that see the constant are compiled again, which takes a quarter of a minute, and score.py measures the clips. Prints the rows
of the table in docs/motion-model.md.
"""
import argparse
import json
import os
import re
import shlex
import subprocess
import sys
import tempfile

import score

HERE = os.path.dirname(os.path.abspath(__file__))
KERNELS = os.path.join(HERE, "../../../kernels")
HEADERS = ("motion_feedback.h", "motion_feedback_picture.h")
SEES_CONSTANTS = r"/(core_motion|cpu_motion_(feedback|regions)|cpu_tier_{tier})\.c\.o$"
CLIPS = ["highway", "fall", "pedestrians", "shake6", "lowcontrast", "ghost", "lamp"]

# Constants that are numbers in a function: text before the number, and behind it.
PLACES = {
    "blob_is_explained": ("explained * ", " > area"),
    "is_shadow, lower": ("return ", " * gb > bb"),
    "is_shadow, upper": ("100 * gb < ", " * bb"),
    "is_shadow, rest": ("(gg * bb - gb * gb) < ", " * bb * bb"),
}
# Limits of types and of arithmetic, results of functions.
FIXED = {"LEVEL", "RATE_MAX", "DEVIATION_MAX", "THRESHOLD_MAX", "RAW", "RISES", "ONE", "BINS", "STILL_FINE", "STILL_COARSE",
         "MAX_MS", "BANDS", "BRIGHT", "WHITE", "CLIPPED", "OUTLINE_INSIDE"}


def read(name):
    with open(os.path.join(KERNELS, name), encoding="utf-8") as file:
        return file.read()


def pattern(constant):
    """The number of a constant as group 2."""
    if constant in PLACES:
        before, behind = map(re.escape, PLACES[constant])
        return re.compile(rf"({before})(\d+)({behind})")
    return re.compile(rf"(#define FEEDBACK_{constant}[\s\\]+\(?)(\d+)(.*)")


def constants():
    names = re.findall(r"#define FEEDBACK_(\w+)[\s\\]+\(?\d", "".join(map(read, HEADERS)))
    return [name for name in names if name not in FIXED] + list(PLACES)


def build(folder_of_build, tier, folder, headers):
    """The benchmark program with these headers: files that see them are compiled again, the rest comes from the build."""
    for name, text in headers.items():
        with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
            file.write(text)
    with open(os.path.join(folder_of_build, "compile_commands.json"), encoding="utf-8") as file:
        entries = [entry for entry in json.load(file) if re.search(SEES_CONSTANTS.replace("{tier}", tier), entry["output"])]
    objects = []
    for entry in entries:
        objects.append(os.path.join(folder, os.path.basename(entry["output"])))
        words = shlex.split(entry["command"].replace(entry["output"], objects[-1]))
        first = next(i for i, word in enumerate(words) if word.startswith("-I"))
        subprocess.run(words[:first] + ["-I" + folder] + words[first:], cwd=entry["directory"], check=True)
    commands = subprocess.run(["ninja", "-C", folder_of_build, "-t", "commands", "tests/benchmark/motion"], check=True,
                              stdout=subprocess.PIPE, text=True).stdout
    link = shlex.split(commands.splitlines()[-1])
    target = link.index("-o") + 1
    program = os.path.join(folder, "motion")
    subprocess.run(link[:target] + [program, *objects] + link[target + 1:], cwd=folder_of_build, check=True)
    return program


def measure(folder_of_build, tier, headers, clips):
    with tempfile.TemporaryDirectory() as folder:
        score.MOTION = build(folder_of_build, tier, folder, headers)
        return " ".join(f"{score.measure(score.ours(clip), clip)['F']:.3f}" for clip in clips)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build")
    parser.add_argument("constant", nargs="*")
    parser.add_argument("--clip", action="append", help="default: " + " ".join(CLIPS))
    parser.add_argument("--tier", default=r"\w+", help="compile this one alone, if the processor uses it (default: all)")
    options = parser.parse_args()
    folder = os.path.abspath(options.build)
    clips = [score.clip_of(name) for name in options.clip or CLIPS]
    plain = {name: read(name) for name in HEADERS}
    print(" ".join(options.clip or CLIPS), "|", measure(folder, options.tier, plain, clips), flush=True)
    for constant in options.constant or constants():
        name = next((n for n in HEADERS if pattern(constant).search(plain[n])), None)
        if not name:
            sys.exit(f"there is no constant {constant}")
        value = int(pattern(constant).search(plain[name])[2])
        results = []
        for other in (value // 2, value * 2):
            text = pattern(constant).sub(lambda found, other=other: f"{found[1]}{other}{found[3]}", plain[name], count=1)
            try:
                results.append(measure(folder, options.tier, plain | {name: text}, clips))
            except subprocess.CalledProcessError:
                results.append("outside its bounds")
        print(f"| {constant} | {value} | {results[0]} | {results[1]} |", flush=True)


if __name__ == "__main__":
    main()
