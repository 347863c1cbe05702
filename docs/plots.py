#!/usr/bin/env python3
# SPDX-FileCopyrightText: gst-ccl contributors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Draws the tables of docs/benchmarks.md that follow a line `<!-- plot: FILE.svg, UNIT -->` as bars.

usage: docs/plots.py [--check]      writes docs/pictures/FILE.svg; --check fails when a picture does not show its table

The first column names the programs, each other column is a group of bars. The scale is logarithmic. Bars of gst-ccl are
blue. Needs nothing beside Python.
"""
import html
import math
import pathlib
import re
import sys

DOCS = pathlib.Path(__file__).resolve().parent
TABLE = re.compile(r"<!-- plot: (\S+\.svg), (\S+) -->\n\n((?:\|.*\n)+)")
GROUP, BAR, TOP, NAMES, GAP = 200, 24, 50, 150, 50
OURS, OTHERS = "#1d4ed8", "#b45309"


def read(table):
    """(names of the groups, [(program, its figures)])."""
    rows = [[cell.strip() for cell in line.strip("|\n").split("|")] for line in table.splitlines()]
    return rows[0][1:], [(row[0], [float(cell) for cell in row[1:]]) for row in rows[2:]]


def text(x, y, words, anchor="start"):
    return f'<text x="{x}" y="{y}" text-anchor="{anchor}">{html.escape(words)}</text>'


def draw(table, unit):
    groups, programs = read(table)
    figures = [figure for _, row in programs for figure in row]
    low = 10 ** math.floor(math.log10(min(figures)))
    high = max(figures)
    width, height = NAMES + len(groups) * (GROUP + GAP), TOP + BAR * len(programs) + 8
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
             'font-family="sans-serif" font-size="13">',
             "<!-- SPDX-FileCopyrightText: gst-ccl contributors\n     SPDX-License-Identifier: LGPL-2.1-or-later\n"
             "     made by docs/plots.py -->",
             f'<rect width="{width}" height="{height}" fill="#fff"/>',
             text(NAMES, 16, f"{unit} a mask, logarithmic: shorter is faster")]
    for n, group in enumerate(groups):
        parts.append(text(NAMES + n * (GROUP + GAP), 38, group))
    for line, (program, row) in enumerate(programs):
        y = TOP + line * BAR
        parts.append(text(NAMES - 8, y + 15, program, "end"))
        for n, figure in enumerate(row):
            x = NAMES + n * (GROUP + GAP)
            length = round(GROUP * math.log(figure / low) / math.log(high / low), 1)
            colour = OURS if program.startswith("gst-ccl") else OTHERS
            parts += [f'<rect x="{x}" y="{y}" width="{length}" height="{BAR - 6}" fill="{colour}"/>',
                      text(round(x + length + 4, 1), y + 14, f"{figure:g}")]
    return "\n".join([*parts, "</svg>", ""])


def main():
    tables = TABLE.findall((DOCS / "benchmarks.md").read_text("utf-8"))
    if not tables:
        sys.exit("docs/benchmarks.md has no table to plot")
    for name, unit, table in tables:
        path, picture = DOCS / "pictures" / name, draw(table, unit)
        if "--check" not in sys.argv:
            path.write_text(picture, "utf-8")
        elif not path.exists() or path.read_text("utf-8") != picture:
            sys.exit(f"docs/pictures/{name} does not show the table of docs/benchmarks.md: run docs/plots.py")


if __name__ == "__main__":
    main()
