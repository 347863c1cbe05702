#!/usr/bin/env python3
# SPDX-FileCopyrightText: gst-ccl contributors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Includes between the folders of kernels/ and gst/ point down, and so do the calls between the files of kernels/ and gst/ccl.

kernels/ has these layers:

    core       the API: argument checks, contexts, the ring of frames
    cpu, cuda  the two backends; neither includes the other
    analysis   what is made of masks and tables, without a backend
    host       thread pool, CPU count, SIMD tiers, packing, clock
    (root)     types, interfaces, status

gst/ has these:

    elements   the plugins
    ccl        the metadata library
    python     the Python module, over the core alone

A folder includes itself and the layers below it. Folders inside a layer (cuda/runs) may include each other in one
direction only, and so may files. Files of kernels/ and of gst/ccl share headers, so there the calls count too: a file of
kernels/ calls those that define the functions and tables which it names, itself or by way of a header's macros and inline
functions. The files of kernels/cuda call each other in the order that context.cuh has.

    tests/lint/arrows.py [ROOT]      exit status 1 and one line for each arrow that points up
"""
import re
import sys
from pathlib import Path

from limits import c_functions

# folder: its layers, the lowest first
LAYERS = {
    "kernels": [{""}, {"host"}, {"analysis"}, {"cpu", "cuda"}, {"core"}],
    "gst": [{"ccl"}, {"elements"}, {"python"}],
}
HEADERS = {".cuh", ".h"}
SUFFIXES = {".c", ".cpp", ".cu"} | HEADERS
INCLUDE = re.compile(r'^\s*#\s*include\s*["<]([^">]+)[">]', re.M)
COMMENT = re.compile(r"/\*.*?\*/", re.S)
# In GNU style the name of a function that is defined begins its line.
DEFINITION = re.compile(r"^(gst_\w+) \(", re.M)
CALL = re.compile(r"\b(gst_\w+)\b")
# Of kernels/:
NOT_CODE = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"', re.S)
NAME = re.compile(r"\b[A-Za-z_]\w*")
TABLE = re.compile(r"^(?!static\b|typedef\b|#)\w[\w ]*\b(\w+)(?:\[\w*\])?\s*=", re.M)
MACRO = re.compile(r"^#\s*define\s+(\w+)((?:.*\\\n)*.*)", re.M)


def layer_of(folder, path):
    """The top folder of a path below `folder`, and its layer."""
    top = path.parts[0] if len(path.parts) > 1 else ""
    for i, folders in enumerate(LAYERS[folder]):
        if top in folders:
            return top, i
    sys.exit(f"{folder}/{path}: {top}/ has no layer: add it to {Path(__file__).name}")


def read_includes(folder, search):
    """{file: files of the folder that it includes}; others, and generated headers, are left out."""
    includes = {}
    for file in sorted(folder.rglob("*")):
        if file.suffix not in SUFFIXES:
            continue
        found = includes[file.relative_to(folder)] = set()
        for name in INCLUDE.findall(file.read_text()):
            for place in (file.parent, *search):
                if (place / name).is_file():
                    target = (place / name).resolve()
                    if folder in target.parents:
                        found.add(target.relative_to(folder))
                    break
    return includes


def read_calls(texts):
    """{file: files that define the functions which it names}, from {file: text}."""
    texts = {file: COMMENT.sub("", text) for file, text in texts.items()}
    defined = {name: file for file, text in texts.items() for name in DEFINITION.findall(text)}
    return {file: {defined[name] for name in CALL.findall(text) if defined.get(name, file) != file}
            for file, text in texts.items()}


def read_definitions(texts):
    """What the files of kernels/ define: {name: files} of functions and tables that headers declare, and {name: names in its
    body} of a header's macros and inline functions."""
    declared = {name for file, text in texts.items() if file.suffix in HEADERS for name in NAME.findall(text)}
    defined, inlined = {}, {}
    for file, text in texts.items():
        lines = text.split("\n")
        found = dict(MACRO.findall(text)) if file.suffix in HEADERS else dict.fromkeys(TABLE.findall(text), "")
        for name, first, n_lines in c_functions(lines):
            body = "\n".join(lines[first - 1:first - 1 + n_lines])
            if file.suffix in HEADERS or not re.search(r"\bstatic\b", body.split("{")[0]):
                found[name] = body
        for name, body in found.items():
            if file.suffix in HEADERS:
                inlined.setdefault(name, set()).update(NAME.findall(body))
            elif name in declared:
                defined.setdefault(name, set()).add(file)
    return defined, inlined


def read_kernel_calls(texts):
    """{file: files whose functions or tables it names}, from {file: text}; headers have no entry."""
    texts = {file: NOT_CODE.sub(lambda found: "\n" * found.group().count("\n"), text) for file, text in texts.items()}
    defined, inlined = read_definitions(texts)
    calls = {}
    for file, text in texts.items():
        if file.suffix in HEADERS:
            continue
        names, left = set(), set(NAME.findall(text))
        while left:
            names |= left
            left = set().union(*(inlined.get(name, ()) for name in left)) - names
        others = (defined.get(name, ()) for name in names)
        calls[file] = set().union(*(files for files in others if file not in files))
    return calls


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


def check(includes, name="kernels"):
    """Messages about includes of the folder `name` that point up."""
    messages = []
    folders = {}
    for file, others in includes.items():
        top, layer = layer_of(name, file)
        for other in sorted(others):
            other_top, other_layer = layer_of(name, other)
            if other_layer > layer or (other_layer == layer and other_top != top):
                messages.append(f"{name}/{file} includes {other}: {top or 'the root'} is not above {other_top}")
            if other.parent != file.parent:
                folders.setdefault(str(file.parent), set()).add(str(other.parent))
    for what, graph in ("folders", folders), ("files", includes):
        cycle = find_cycle(graph)
        if cycle:
            messages.append(f"{what} of {name}/ include each other: {' -> '.join(map(str, cycle))}")
    return messages


def check_calls(calls, name):
    cycle = find_cycle(calls)
    return [f"files of {name}/ call each other: {' -> '.join(map(str, cycle))}"] if cycle else []


def check_order(calls, text):
    """Messages about calls in kernels/cuda that the order in the comment `text` does not allow: one line for each layer, the
    highest first; "methods" stands for all files that are not named."""
    lines = re.search(r"lines below it.*\n \*\n((?: \* {5}\S.*\n)+)", text).group(1).splitlines()
    layers = {name: -i for i, line in enumerate(lines) for name in NAME.findall(line.split("(")[0])}

    def layer(file):
        return layers.get(file.stem if str(file.parent) == "cuda" else "", layers["methods"])

    within = {Path("cuda"), *(Path("cuda") / folder for folder in ("label", "runs", "runs/cluster", "published"))}
    return [f"kernels/{file} calls {other}, which context.cuh has above it or beside it"
            for file, others in calls.items() for other in sorted(others)
            if {file.parent, other.parent} <= within and layer(other) >= layer(file)
            and not layer(file) == layer(other) == layers["methods"]]


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
    assert len(check({Path("ccl/a.h"): {Path("elements/b.h")}, Path("elements/b.h"): set()}, "gst")) == 1
    a = "void\ngst_a (void)\n{\n  gst_b ();\n}\n"
    assert not check_calls(read_calls({"a.c": a, "b.c": "void\ngst_b (void)\n{\n  /* gst_a () */\n}\n"}), "ccl")
    assert check_calls(read_calls({"a.c": a, "b.c": "void\ngst_b (void)\n{\n  gst_a ();\n}\n"}), "ccl")

    def circles(header, a, b):
        files = {"a.cuh": "int a(int x);\nextern const Calls b;\n" + header, "a.cu": a, "b.cu": b}
        return check_calls(read_kernel_calls({Path(file): text for file, text in files.items()}), "kernels")

    order = "A file calls only files of the lines below it:\n *\n *     b\n *     methods (c)\n *     a\n *\n"
    a, b, c = (Path(f"cuda/{name}.cu") for name in "abc")
    assert not check_order({b: {a, c}, c: {a, Path("cuda/d.cu")}, a: {Path("host/b.c")}}, order)
    assert len(check_order({a: {c}, c: {b}, b: {a}}, order)) == 2

    lower, upper = "int a(int x)\n{\n    return x;\n}\n", "const Calls b = { a };\n"
    macro = "#define DO(x)   \\\n    do_with(x)\nstatic inline int do_with(int x)\n{\n    return x + b.f(x);\n}\n"
    assert not circles(macro, lower, upper)
    assert circles(macro, lower.replace("return x", "return b.f(x)"), upper)
    assert circles(macro, lower.replace("return x", "return DO(x)"), upper)
    assert not circles(macro, lower.replace("return x", 'return x /* b */ + f("b")'), upper)
    assert not circles(macro, lower.replace("return x", "return b.f(x)"), "static " + upper)


def main():
    self_test()
    root = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parents[2]).resolve()
    messages = check(read_includes(root / "kernels", [root / "kernels"]))
    messages += check(read_includes(root / "gst", [root, root / "gst/elements"]), "gst")
    library = {file.name: file.read_text() for file in sorted((root / "gst/ccl").glob("*.c"))}
    messages += check_calls(read_calls(library), "gst/ccl")
    kernels = {file.relative_to(root / "kernels"): file.read_text() for file in sorted((root / "kernels").rglob("*"))
               if file.suffix in SUFFIXES}
    calls = read_kernel_calls(kernels)
    messages += check_calls(calls, "kernels") + check_order(calls, kernels[Path("cuda/context.cuh")])
    for message in messages:
        print(message)
    return 1 if messages else 0


if __name__ == "__main__":
    sys.exit(main())
