# SPDX-FileCopyrightText: gst-ccl contributors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Compiles a .cu file with g++, for the CPU.

usage: compile.py OUTPUT.o DEPFILE INPUT.cu COMPILER [FLAG...]

The file goes through the preprocessor first, and what g++ cannot parse is then rewritten:

    kernel<<<grid, block>>>(a, b)      ->  ::emulate::launch_site("kernel", kernel, grid, block)(a, b)
    __shared__ int a[4], b;            ->  typedef int a_[4], b_; references to a piece of the block's memory
    extern __shared__ int c[];         ->  int *const c = the block's dynamic memory
    threadIdx.x                        ->  ::emulate::thread_idx().x
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(t))  ->  t = ::emulate::nanoseconds()
"""
import os
import re
import subprocess
import sys

# Every access to memory becomes a call of a hook of ours (access.cpp); inline functions stay in their file, because two
# .cu files may have different types of one name, as nvcc allows.
INSTRUMENT = ["-fsanitize=thread", "--param=tsan-distinguish-volatile=1", "--param=tsan-instrument-func-entry-exit=0"]
CODE = ["-std=gnu++17", "-O1", "-fno-weak", "-fno-strict-aliasing", "-fvisibility=hidden", "-w"]
OPEN, CLOSE = "([{", ")]}"


def split_commas(text):
    """At commas that are in no bracket. `<` counts only in the first part, which has the type."""
    parts, depth, start = [], 0, 0
    for i, c in enumerate(text):
        depth += (c in OPEN) - (c in CLOSE)
        if c == "<" and not parts and "[" not in text[start:i]:
            depth += 1
        elif c == ">" and not parts and "[" not in text[start:i]:
            depth -= 1
        elif c == "," and depth == 0:
            parts.append(text[start:i])
            start = i + 1
    return parts + [text[start:]]


def end_of_declaration(text, start):
    depth = 0
    for i in range(start, len(text)):
        depth += (text[i] in OPEN) - (text[i] in CLOSE)
        if text[i] == ";" and depth == 0:
            return i
    raise SystemExit("compile.py: a __shared__ declaration without an end")


def shared_variables(text):
    """Declarations are replaced in one line, so that line numbers stay."""
    out, at = [], 0
    for match in re.finditer(r"\b(extern\s+|static\s+)?__shared__\b", text):
        end = end_of_declaration(text, match.end())
        declaration = re.sub(r"^#.*$", "", text[match.end():end], flags=re.MULTILINE)
        newlines = "\n" * text.count("\n", match.start(), end)
        out.append(text[at:match.start()])
        at = end + 1
        parts = split_commas(" ".join(declaration.split()))
        first = re.match(r"(.*?)(\w+)((?:\s*\[.*\])?)\s*$", parts[0])
        base = first[1]
        if match[1] and match[1].startswith("extern"):
            out.append(f"{base} *const {first[2]} = ({base} *)::emulate::dynamic_shared();{newlines}")
            continue
        for name, dimensions in [(first[2], first[3])] + [re.match(r"\s*(\w+)(.*)$", p).groups() for p in parts[1:]]:
            kind = f"emulate_{name}_type"
            out.append(f"typedef {base} {kind}{dimensions}; static ::emulate::Shared emulate_{name}_place; "
                       f"{kind} &{name} = *({kind} *)::emulate::shared(&emulate_{name}_place, sizeof({kind})); ")
        out.append(newlines)
    return "".join(out) + text[at:]


def kernel_before(text, end):
    """Where the expression that ends at `end` begins: name, name<arguments> or (anything)."""
    i = end
    while text[i - 1].isspace():
        i -= 1
    if text[i - 1] in ")>":
        close, opening = text[i - 1], {")": "(", ">": "<"}[text[i - 1]]
        depth = 0
        while True:
            i -= 1
            depth += (text[i] == close) - (text[i] == opening)
            if depth == 0:
                break
        if close == ")":
            return i
    while re.match(r"[\w:]", text[i - 1]):
        i -= 1
    return i


def launches(text):
    out, at = [], 0
    for match in re.finditer(r"<<\s*<(.*?)>>\s*>\s*\(", text, flags=re.DOTALL):
        start = kernel_before(text, match.start())
        kernel = text[start:match.start()].strip()
        name = kernel.replace('"', "'").replace("\n", " ").strip("()")
        out.append(text[at:start] + f'::emulate::launch_site("{name}", {kernel}, {match[1]})(')
        at = match.end()
    return "".join(out) + text[at:]


def indices(text):
    return re.sub(r"(?<!->)(?<![.\w])(thread|block|grid)(Idx|Dim)(?=\s*\.\s*[xyz]\b)",
                  lambda m: f"::emulate::{m[1]}_{m[2].lower()}()", text)


def main():
    output, depfile, source = sys.argv[1:4]
    compiler, flags = [], sys.argv[4:]
    while flags and not flags[0].startswith("-"):
        compiler.append(flags.pop(0))
    here = os.path.dirname(os.path.abspath(__file__))
    # The oldest that is supported.
    preprocess = compiler + ["-x", "c++", "-std=gnu++17", "-E", "-MD", "-MF", depfile, "-MT", output, "-I" + here,
                             "-include", "cuda_runtime.h", "-D__CUDACC__", "-D__CUDA_ARCH__=750"] + flags + [source]
    text = subprocess.run(preprocess, check=True, stdout=subprocess.PIPE, text=True).stdout
    text = re.sub(r'asm\s+volatile\s*\(\s*"mov\.u64 %0, %%globaltimer;"\s*:\s*"=l"\s*\((\w+)\)\s*\)',
                  r"\1 = ::emulate::nanoseconds()", text)
    translated = output + ".ii"
    with open(translated, "w", encoding="utf-8") as file:
        file.write(indices(launches(shared_variables(text))))
    debug = [flag for flag in flags if flag.startswith("-g")]
    compiled = subprocess.run(compiler + CODE + debug + INSTRUMENT + ["-x", "c++-cpp-output", "-c", translated, "-o", output])
    sys.exit(compiled.returncode)


if __name__ == "__main__":
    main()
