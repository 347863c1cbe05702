# SPDX-FileCopyrightText: gst-ccl contributors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""A file has at most 600 lines and a function at most 60. An exception stands here with its reason.

usage: limits.py SOURCE_FOLDER
"""
import re
import sys
import unittest

import tree

MAX_FILE_LINES = 600
MAX_FUNCTION_LINES = 60

# path: reason. Nothing is added here without one.
LONG_FILES = {
}
# "path: function": reason
LONG_FUNCTIONS = {
}
# These begin a brace in the first column that opens no function.
NO_FUNCTION = re.compile(r"^(typedef|struct|enum|union|class|namespace|extern)\b|=\s*$")
PYTHON_FUNCTION = re.compile(r"^(\s*)(?:async )?def (\w+)")


def c_functions(lines):
    """(name, first line, number of lines) of each function of a C, C++ or CUDA file."""
    start = None
    for number, line in enumerate(lines):
        if line.startswith("{"):
            head = number - 1
            while head > 0 and lines[head - 1].strip() and not re.search(r"[;}]\s*$|^\s*(#|\*|/\*|//)", lines[head - 1]):
                head -= 1
            text = re.sub(r"__launch_bounds__\([^)]*\)+", "", " ".join(lines[head:number]))
            if not NO_FUNCTION.search(text.strip()):
                start = (head, text)
        elif line.startswith("}") and start:
            name = re.search(r"(\w+|operator\S+)\s*\(", start[1])
            yield name.group(1) if name else start[1], start[0] + 1, number - start[0] + 1
            start = None


def python_functions(lines):
    for number, line in enumerate(lines):
        if found := PYTHON_FUNCTION.match(line):
            indent = len(found.group(1))
            end = number + 1
            while end < len(lines) and (not lines[end].strip() or len(lines[end]) - len(lines[end].lstrip()) > indent
                                        or lines[end].lstrip().startswith(")")):
                end += 1
            while not lines[end - 1].strip():
                end -= 1
            yield found.group(2), number + 1, end - number


class Limits(unittest.TestCase):
    def test_files(self):
        long = {path for path in tree.files(".c .h .cpp .cu .cuh .py .sh") if len(tree.lines(path)) > MAX_FILE_LINES}
        for path in sorted(long - set(LONG_FILES)):
            with self.subTest(path=path):
                self.fail(f"{path} has {len(tree.lines(path))} lines, more than {MAX_FILE_LINES}: cut it by duty")
        self.assertLessEqual(set(LONG_FILES), long, "no longer exceptions")

    def test_functions(self):
        long = {}
        for path in tree.files(".c .h .cpp .cu .cuh .py"):
            functions = python_functions if path.endswith(".py") else c_functions
            for name, first, n_lines in functions(tree.lines(path)):
                if n_lines > MAX_FUNCTION_LINES:
                    long[f"{path}: {name}"] = (first, n_lines)
        for name in sorted(set(long) - set(LONG_FUNCTIONS)):
            with self.subTest(function=name):
                self.fail(f"line {long[name][0]}: {long[name][1]} lines, more than {MAX_FUNCTION_LINES}")
        self.assertLessEqual(set(LONG_FUNCTIONS), set(long), "no longer exceptions")

    def test_finds_long_functions(self):
        text = ["static int", "f (void)", "{"] + ["  g ();"] * 70 + ["}"]
        self.assertEqual(list(c_functions(text)), [("f", 1, 74)])
        self.assertEqual(list(c_functions(["typedef struct", "{", "  int x;", "} S;"])), [])
        self.assertEqual(list(python_functions(["def f():", "    return 1", "", "x = 1"])), [("f", 1, 2)])


if __name__ == "__main__":
    tree.set_top(sys.argv.pop(1))
    unittest.main(verbosity=2)
