#!/usr/bin/env python3
# SPDX-FileCopyrightText: gst-ccl contributors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Includes between the folders of kernels/ point down:

    core       the API: argument checks, contexts, the ring of frames
    cpu, cuda  the two backends; neither includes the other
    analysis   what is made of masks and tables, without a backend
    host       thread pool, CPU count, SIMD tiers, packing, clock
    (root)     types, interfaces, status

A folder includes itself and the layers below it. Folders inside a layer (cuda/runs) may include each other in one
direction only, and so may files.

    tests/lint/arrows.py [ROOT]      exit status 1 and one line for each include that points up
"""
import re
import sys
from pathlib import Path

LAYERS = [{""}, {"host"}, {"analysis"}, {"cpu", "cuda"}, {"core"}]
SUFFIXES = {".c", ".cpp", ".cu", ".cuh", ".h"}
INCLUDE = re.compile(r'^\s*#\s*include\s*"([^"]+)"', re.M)


def layer_of(path):
    """The top folder of a path below kernels/, and its layer."""
    top = path.parts[0] if len(path.parts) > 1 else ""
    for i, folders in enumerate(LAYERS):
        if top in folders:
            return top, i
    sys.exit(f"{path}: {top}/ has no layer: add it to {Path(__file__).name}")


def read_includes(kernels):
    """{file: files of kernels/ that it includes}; generated headers are left out."""
    includes = {}
    for file in sorted(kernels.rglob("*")):
        if file.suffix not in SUFFIXES:
            continue
        found = includes[file.relative_to(kernels)] = set()
        for name in INCLUDE.findall(file.read_text()):
            for folder in (file.parent, kernels):
                if (folder / name).is_file():
                    found.add((folder / name).resolve().relative_to(kernels))
                    break
    return includes


def find_cycle(graph):
    """A list of nodes, each with an edge to the next and the last the same as the first; [] without a cycle."""
    done, path = set(), []

    def visit(node):
        if node in path:
            return path[path.index(node):] + [node]
        if node in done:
            return []
        path.append(node)
        for other in sorted(graph.get(node, ())):
            cycle = visit(other)
            if cycle:
                return cycle
        path.pop()
        done.add(node)
        return []

    for node in sorted(graph):
        cycle = visit(node)
        if cycle:
            return cycle
    return []


def check(includes):
    """Messages about what points up."""
    messages = []
    folders = {}
    for file, others in includes.items():
        top, layer = layer_of(file)
        for other in sorted(others):
            other_top, other_layer = layer_of(other)
            if other_layer > layer or (other_layer == layer and other_top != top):
                messages.append(f"kernels/{file} includes {other}: {top or 'the root'} is not above {other_top}")
            if other.parent != file.parent:
                folders.setdefault(str(file.parent), set()).add(str(other.parent))
    for what, graph in ("folders", folders), ("files", includes):
        cycle = find_cycle(graph)
        if cycle:
            messages.append(f"{what} of kernels/ include each other: {' -> '.join(map(str, cycle))}")
    return messages


def self_test():
    """What must be found is found."""
    def count(**files):
        return len(check({Path(k.replace("__", "/") + ".h"): {Path(o) for o in v} for k, v in files.items()}))

    assert count(cpu__a=["host/b.h", "ccl.h"], host__b=["ccl.h"], ccl=[]) == 0
    assert count(host__b=["cpu/a.h"], cpu__a=[]) == 1
    assert count(cpu__a=["cuda/b.h"], cuda__b=[]) == 1
    assert count(ccl=["host/b.h"], host__b=["ccl.h"]) == 3
    assert count(cuda__runs__a=["cuda/b.h"], cuda__b=["cuda/runs/c.h"], cuda__runs__c=[]) == 1
    assert count(cpu__a=["cpu/b.h"], cpu__b=["cpu/a.h"]) == 1


def main():
    self_test()
    root = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parents[2]).resolve()
    messages = check(read_includes(root / "kernels"))
    for message in messages:
        print(message)
    return 1 if messages else 0


if __name__ == "__main__":
    sys.exit(main())
