#!/usr/bin/env python3
# SPDX-FileCopyrightText: gst-ccl contributors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Makes the table in docs/algorithms.md from the table in kernels/algorithms.c.

usage: docs/algorithms.py            rewrites docs/algorithms.md
       docs/algorithms.py --check    changes nothing; fails when the document is not up to date

It reads the sources rather than asking a program, because a build without CUDA does not know the CUDA methods.
"""
import difflib
import pathlib
import re
import sys

TOP = pathlib.Path(__file__).resolve().parent.parent
DOCUMENT = TOP / "docs" / "algorithms.md"
BEGIN, END = "<!-- table: made by docs/algorithms.py -->\n", "<!-- end of table -->\n"


def text_of(field, source):
    """The value of `.field = "..." "..."`, or an empty string."""
    match = re.search(r"\.%s\s*=\s*((?:\"(?:[^\"\\]|\\.)*\"\s*)+)" % field, source)
    return "".join(re.findall(r"\"((?:[^\"\\]|\\.)*)\"", match[1])) if match else ""


def kernels_in(comment):
    """The steps that a file's opening comment lists in the order they run: ` *   name   what it does`."""
    return re.findall(r"^ \* {3,5}([a-z]+)  +\S", comment, re.MULTILINE)


def methods():
    """(symbol, file, initialiser, kernels) of every row of kernels/algorithms.c, in its order."""
    definitions = {}
    for path in sorted((TOP / "kernels").glob("*/*/*.c*")):
        source = path.read_text("utf-8")
        comments = re.findall(r"^/\*\n.*?\*/", source, re.MULTILINE | re.DOTALL)
        kernels = kernels_in(comments[0]) if path.suffix == ".cu" and comments else []
        for symbol, body in re.findall(r"^(?:extern )?const CclAlgorithm (\w+) = \{(.*?)^\};", source,
                                       re.MULTILINE | re.DOTALL):
            definitions[symbol] = (path.relative_to(TOP), body, kernels)
    table = (TOP / "kernels" / "algorithms.c").read_text("utf-8")
    for symbol in re.findall(r"^\s+&(\w+),", table, re.MULTILINE):
        if symbol not in definitions:
            sys.exit(f"docs/algorithms.py: kernels/algorithms.c names {symbol}, no file defines it")
        yield symbol, *definitions[symbol]


def table():
    lines = ["| backend | `algorithm=` | method | connectivity | labels | kind | kernels | memory | published | "
             "source |\n", "|---|---|---|---|---|---|---|---|---|---|\n"]
    for _, path, body, kernels in methods():
        backend = re.search(r"\.backend\s*=\s*CCL_BACKEND_(\w+)", body)[1].lower()
        in_plane = sorted(set(re.findall(r"CCL_CONNECT_([48])", body)))
        of_volume = re.search(r"\.volume\s*=\s*true", body)
        connectivity = ", ".join({"4": "6", "8": "26"}[c] if of_volume else c for c in in_plane)
        paper = text_of("paper", body) or "our own"
        kind = text_of("kind", body) or ("iterative" if re.search(r"\.iterative\s*=\s*true", body) else "direct")
        memory = re.search(r"\.bytes_per_pixel\s*=\s*([\d.]+)", body)
        labels_only = not of_volume and re.search(r"^\s*\.label\b", body, re.MULTILINE)
        memory = memory[1] if memory else "0" if labels_only else ""
        lines.append(f"| {backend} | `{text_of('name', body)}` | {text_of('title', body)} | {connectivity} | "
                     f"{text_of('unit', body)} | {kind} | {', '.join(kernels)} | {memory} | {paper} | "
                     f"[{path.name}](../{path}) |\n")
    return "".join(lines)


def main():
    old = DOCUMENT.read_text("utf-8")
    before, rest = old.split(BEGIN)
    new = before + BEGIN + "\n" + table() + "\n" + END + rest.split(END)[1]
    if sys.argv[1:] == ["--check"]:
        if new != old:
            sys.stdout.writelines(difflib.unified_diff(old.splitlines(True), new.splitlines(True), "docs/algorithms.md",
                                                       "made from kernels/"))
            sys.exit("docs/algorithms.md is not up to date: run docs/algorithms.py")
    elif sys.argv[1:]:
        sys.exit(__doc__)
    else:
        DOCUMENT.write_text(new, "utf-8")


if __name__ == "__main__":
    main()
