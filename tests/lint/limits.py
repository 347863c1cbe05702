# SPDX-FileCopyrightText: gst-ccl contributors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""A file has at most 600 lines, a function at most 60 and six parameters. An exception stands here with its reason.

usage: limits.py SOURCE_FOLDER
"""
import ast
import itertools
import re
import sys
import unittest

import tree

MAX_FILE_LINES = 600
MAX_FUNCTION_LINES = 60
MAX_PARAMETERS = 6

# path: reason. Nothing is added here without one.
LONG_FILES = {
}
# "path: function": reason
LONG_FUNCTIONS = {
}
KERNEL = "a kernel: its parameters are the values of its launch"
REGISTERS = "with a struct the kernel takes 122 registers instead of 107 (nvcc 13.0, sm_90)"
OTHER_CODE = "with a struct nvcc 13.0 makes other code for sm_90 than the one that the benchmarks have measured"
INLINED = "inlined: its parameters are parts of a block's memory and two constants"
GIVEN = "the library that it stands for gives the signature"
ONE_PIXEL = "inlined for each pixel: its values come from planes of their own and stay in registers"
VECTORIZED = "the compiler vectorizes the loop only over parameters with restrict"
# "path: function": reason
MANY_PARAMETERS = {
    "gst/elements/metrics/gstcclmetricsserver.c: on_request": GIVEN,
    "gst/python/gstccl/_analyze.py: _filter": "the filters of a call, by their public names",
    "kernels/cpu/motion/feedback_learn.h: learn_first_chroma": VECTORIZED,
    "kernels/cpu/motion/feedback_learn.h: learn_near": VECTORIZED,
    "kernels/cuda/features.cu: features": KERNEL,
    "kernels/cuda/motion/feedback_learn.cu: learn_modes": REGISTERS,
    "kernels/cuda/motion/feedback_learn.cu: watch": REGISTERS,
    "kernels/cuda/motion/pixel_models.cu: store_bits": OTHER_CODE,
    "kernels/cuda/properties.cu: take_over": KERNEL,
    "kernels/cuda/runs/cluster/link.cuh: for_pairs": INLINED,
    "kernels/cuda/runs/cluster/table.cuh: keep_roots": OTHER_CODE,
    "kernels/cuda/table.cu: table": KERNEL,
    "kernels/motion_feedback.h: feedback_chroma_miss": ONE_PIXEL,
    "kernels/motion_feedback.h: feedback_learn_any": ONE_PIXEL,
    "kernels/motion_feedback.h: feedback_miss": ONE_PIXEL,
    "kernels/motion_model.h: motion_rest": ONE_PIXEL,
    "tests/benchmark/peers.c: peers_stream": "Python calls it, without structs",
    "tests/elements/cclmqttsink-delivery.c: mosquitto_publish_v5": GIVEN,
    "tests/elements/cclmqttsink-security.c: check_log": GIVEN,
    "tests/elements/delivery-sink.c: mosquitto_publish_v5": GIVEN,
    "tests/emulate/cuda_runtime.h: launch_site": "the operands of <<<>>>",
    "tests/emulate/runtime_graph.cpp: cudaStreamGetCaptureInfo": GIVEN,
    "tests/emulate/runtime_memory.cpp: copy": "has the parameters of cudaMemcpy2DAsync()",
    "tests/emulate/runtime_memory.cpp: cudaMemcpy2DAsync": GIVEN,
}
# These begin a brace in the first column that opens no function.
NO_FUNCTION = re.compile(r"^(typedef|struct|enum|union|class|namespace|extern)\b|=\s*$")


# What has parentheses before or behind a function's name, with parentheses in parentheses.
DECORATION = re.compile(r"\b(?:__attribute__|__launch_bounds__|decltype|noexcept) *\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)")
# The name of a function and its parenthesis. That of a type follows in "int (*f(int a))(int b)".
NAME = re.compile(r"(operator *\(\)|operator[^\s(]+|\w+)\s*\((?!\s*\*)")


def c_head(lines):
    """The head of a C, C++ or CUDA function without comments and attributes, and where NAME is in it."""
    head = re.sub(r"/\*.*?\*/|//[^\n]*", "", "\n".join(lines), flags=re.DOTALL)
    head = DECORATION.sub("", head).replace("->", "")
    return head, NAME.search(head)


def c_parameters(lines, first):
    """The number of parameters of a C, C++ or CUDA function, which begins in line `first`."""
    head, name = c_head(itertools.takewhile(lambda line: not line.startswith("{"), lines[first - 1:]))
    depth, n, given = 1, 1, ""
    for c in head[name.end():] if name else "":
        depth += (c in "(<[{") - (c in ")>]}")
        if not depth:
            break
        n += c == "," and depth == 1
        given += c
    return 0 if given.strip() in ("", "void") else n


def c_functions(lines):
    """(name, first line, number of lines) of each function of a C, C++ or CUDA file."""
    start = None
    for number, line in enumerate(lines):
        if line.startswith("{"):
            head = number - 1
            while head > 0 and lines[head - 1].strip() and not re.search(r"[;}]\s*$|^\s*(#|\*|/\*|//)", lines[head - 1]):
                head -= 1
            text, name = c_head(lines[head:number])
            if not NO_FUNCTION.search(text.strip()):
                start = (head, name.group(1) if name else text)
        elif line.startswith("}") and start:
            yield start[1], start[0] + 1, number - start[0] + 1
            start = None


def python_functions(lines):
    """(name, first line, number of lines, number of parameters); `self` and parameters that are passed by name do not count."""
    for node in ast.walk(ast.parse("\n".join(lines))):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            names = [a.arg for a in node.args.posonlyargs + node.args.args]
            n_parameters = len(names) - (names[:1] in (["self"], ["cls"]))
            yield node.name, node.lineno, node.end_lineno - node.lineno + 1, n_parameters


def functions(path):
    """(name, first line, number of lines, number of parameters) of each function of a file."""
    lines = tree.lines(path)
    if path.endswith(".py"):
        yield from python_functions(lines)
    else:
        for name, first, n_lines in c_functions(lines):
            yield name, first, n_lines, c_parameters(lines, first)


class Limits(unittest.TestCase):
    def test_files(self):
        long = {path for path in tree.files(".c .h .cpp .cu .cuh .py .sh") if len(tree.lines(path)) > MAX_FILE_LINES}
        for path in sorted(long - set(LONG_FILES)):
            with self.subTest(path=path):
                self.fail(f"{path} has {len(tree.lines(path))} lines, more than {MAX_FILE_LINES}: cut it by duty")
        self.assertLessEqual(set(LONG_FILES), long, "no longer exceptions")

    def check(self, over, exceptions):
        """over: {"path: function": message} of the functions over a limit"""
        for name in sorted(set(over) - set(exceptions)):
            with self.subTest(function=name):
                self.fail(over[name])
        self.assertLessEqual(set(exceptions), set(over), "no longer exceptions")

    def test_functions(self):
        long, many = {}, {}
        for path in tree.files(".c .h .cpp .cu .cuh .py"):
            for name, first, n_lines, n_parameters in functions(path):
                if n_lines > MAX_FUNCTION_LINES:
                    long[f"{path}: {name}"] = f"line {first}: {n_lines} lines, more than {MAX_FUNCTION_LINES}"
                if n_parameters > MAX_PARAMETERS:
                    many[f"{path}: {name}"] = f"line {first}: {n_parameters} parameters, more than {MAX_PARAMETERS}"
        self.check(long, LONG_FUNCTIONS)
        self.check(many, MANY_PARAMETERS)

    def test_finds_functions(self):
        text = ["static int", "f (void)", "{"] + ["  g ();"] * 70 + ["}"]
        self.assertEqual(list(c_functions(text)), [("f", 1, 74)])
        self.assertEqual(c_parameters(text, 1), 0)
        self.assertEqual(list(c_functions(["typedef struct", "{", "  int x;", "} S;"])), [])
        text = ["template <class A, class B> void __launch_bounds__(64)", "f(S<A, B> a, /* b, */ int (*g)(int, int),",
                "  C c)", "{"]
        self.assertEqual(c_parameters(text, 1), 3)
        for head, name, n_parameters in [
                ("int (*find(const char *name))(int, int, int)", "find", 1),
                ("static int f(int a, void (*g)(int, int)) __attribute__((format(printf, 1, 2)))", "f", 2),
                ("static __attribute__((target(\"avx2\"))) void f(void)", "f", 0),
                ("bool operator()(S a, S b) const noexcept(noexcept(g(1, 2, 3)))", "operator()", 2),
                ("S::S(int a) : b(a, 1)", "S", 1)]:
            self.assertEqual(list(c_functions([head, "{", "}"])), [(name, 1, 3)])
            self.assertEqual(c_parameters([head, "{", "}"], 1), n_parameters, head)
        self.assertEqual(list(python_functions(["def f(self, a, *, b):", "    return 1", "", "x = 1"])), [("f", 1, 2, 1)])


if __name__ == "__main__":
    tree.set_top(sys.argv.pop(1))
    unittest.main(verbosity=2)
