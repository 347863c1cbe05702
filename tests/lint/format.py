# SPDX-FileCopyrightText: gst-ccl contributors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The layout of sources: kernels/ as clang-format 14 leaves it, gst/ as GNU indent does; shell scripts pass shellcheck.

usage: format.py [--write] SOURCE_FOLDER

--write formats the files instead of checking them.
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

import tree

CLANG_FORMAT_VERSION = "14."  # versions disagree; Debian 12 has this one
CLANG_FORMATTED = ("kernels", "tests/checkccl", "tests/checkmotion", "tests/checktrack", "tests/emulate")
INDENTED = ("gst", "tests/elements", "tests/fuzz", "tests/libs", "tests/support", "examples")
MAX_COLUMNS = 130


def clang_format():
    """The program, or None where this version is not installed."""
    for name in ("clang-format-14", "clang-format"):
        if shutil.which(name):
            version = subprocess.run([name, "--version"], capture_output=True, text=True, check=True).stdout
            if f"version {CLANG_FORMAT_VERSION}" in version:
                return name
    return None


def formatted_by_clang(path):
    return subprocess.run([clang_format(), f"--style=file:{tree.top()}/kernels/.clang-format", tree.top() / path],
                          capture_output=True, text=True, check=True).stdout


def formatted_by_indent(path):
    """Twice, because GNU indent settles some lines in its second run only."""
    options = (tree.top() / "gst/.indent.pro").read_text("utf-8").split()
    result = tree.text(path)
    with tempfile.TemporaryDirectory() as folder:
        source, output = os.path.join(folder, "in.c"), os.path.join(folder, "out.c")
        for _ in range(2):
            with open(source, "w", encoding="utf-8") as file:
                file.write(result)
            subprocess.run(["indent", "-npro", *options, source, "-o", output], capture_output=True, check=True)
            with open(output, encoding="utf-8") as file:
                result = file.read()
    return result


def clang_files():
    return [path for under in CLANG_FORMATTED for path in tree.files(".c .h .cpp .cu .cuh", under)]


def indent_files():
    """Headers are left to their authors: GNU indent knows no declarations with macros."""
    return [path for under in INDENTED for path in tree.files(".c", under)]


class Format(unittest.TestCase):
    def check(self, paths, formatted):
        self.assertGreater(len(paths), 10)
        for path in paths:
            with self.subTest(path=path):
                self.assertTrue(formatted(path) == tree.text(path), f"{path}: run tests/lint/format.py --write .")

    @unittest.skipUnless(clang_format(), f"needs clang-format {CLANG_FORMAT_VERSION}x")
    def test_clang_format(self):
        self.check(clang_files(), formatted_by_clang)

    @unittest.skipUnless(shutil.which("indent"), "needs GNU indent")
    def test_indent(self):
        self.check(indent_files(), formatted_by_indent)

    def test_white_space(self):
        for path in tree.files(".c .h .cpp .cu .cuh .py .sh .md .build .txt"):
            text = tree.text(path)
            with self.subTest(path=path):
                self.assertNotRegex(text, re.compile(r"[ \t]+$", re.MULTILINE), "white space at the end of a line")
                self.assertNotIn("\t", text)
                self.assertTrue(text.endswith("\n") and not text.endswith("\n\n"), "the last line ends once")

    def test_columns(self):
        for path in tree.files(".c .h .cpp .cu .cuh .py .sh"):
            for number, line in enumerate(tree.lines(path), 1):
                with self.subTest(path=path, line=number):
                    self.assertLessEqual(len(line), MAX_COLUMNS)

    @unittest.skipUnless(shutil.which("shellcheck"), "needs shellcheck")
    def test_shellcheck(self):
        scripts = [tree.top() / path for path in tree.files(".sh") if "/parts/" not in path] + [tree.top() / ".ci/run"]
        run = subprocess.run(["shellcheck", "--severity=warning", *scripts], capture_output=True, text=True, check=False)
        self.assertEqual(run.returncode, 0, run.stdout)


def write():
    for paths, formatted in (clang_files(), formatted_by_clang), (indent_files(), formatted_by_indent):
        for path in paths:
            if (result := formatted(path)) != tree.text(path):
                (tree.top() / path).write_text(result, "utf-8")
                print(path)


if __name__ == "__main__":
    writes = "--write" in sys.argv
    tree.set_top(sys.argv.pop())
    if writes:
        write()
    else:
        unittest.main(verbosity=2)
