#!/usr/bin/env python3
# SPDX-FileCopyrightText: gst-ccl contributors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The layout of sources: white space and shellcheck; of changed lines also columns, and the formatters' opinion.

usage: format.py [--write] SOURCE_FOLDER

Lines that changed since the git commit FORMATTED_SINCE have at most MAX_COLUMNS columns. Lines that changed since the one that
CCL_FORMAT_BASE names are compared with clang-format 14 (kernels/) and GNU indent (gst/), too; --write formats them. That is no
part of the tests: both take tables apart, and GNU indent misreads macros.
"""
import difflib
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

import tree

FORMATTED_SINCE = "104e78853681"
CLANG_FORMAT_VERSION = "14."  # versions disagree; Debian 12 has this one
CLANG_FORMATTED = ("kernels", "gst/python", "tests/checkccl", "tests/checkmotion", "tests/checktrack", "tests/emulate")
INDENTED = ("gst", "tests/elements", "tests/fuzz", "tests/libs", "tests/support", "examples")
MAX_COLUMNS = 130


def is_known(commit):
    """Not in an archive of the sources."""
    if not shutil.which("git"):
        return False
    run = subprocess.run(["git", "-C", tree.top(), "cat-file", "-e", commit], capture_output=True, check=False)
    return run.returncode == 0


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


def formatters():
    """A formatter and its files. Headers in gst/ are left to their authors: GNU indent knows no declarations with macros."""
    if clang_format():
        yield formatted_by_clang, [path for under in CLANG_FORMATTED for path in tree.files(".c .h .cpp .cu .cuh", under)]
    if shutil.which("indent"):
        yield formatted_by_indent, [path for under in INDENTED for path in tree.files(".c", under)
                                    if not path.startswith(CLANG_FORMATTED)]


def changed_lines(commit):
    """For each path, the numbers (from 0) of lines that differ from the commit."""
    diff = subprocess.run(["git", "-C", tree.top(), "diff", "--unified=0", "--no-color", "--no-ext-diff", "--relative", commit],
                          capture_output=True, text=True, check=True).stdout
    changed, path = {}, None
    for line in diff.splitlines():
        if line.startswith("+++ "):
            path = line[len("+++ b/"):]
        elif match := re.match(r"@@ -\S+ \+(\d+)(?:,(\d+))? @@", line):
            first, n = int(match[1]) - 1, int(match[2] or 1)
            changed.setdefault(path, set()).update(range(first, first + n))
    return changed


def with_lines_formatted(original, formatted, numbers):
    """The text in which only the differences at these lines are applied."""
    old, new = original.splitlines(keepends=True), formatted.splitlines(keepends=True)
    result = []
    for kind, i0, i1, j0, j1 in difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        wanted = kind != "equal" and not numbers.isdisjoint(range(i0, max(i1, i0 + 1)))
        result += new[j0:j1] if wanted else old[i0:i1]
    return "".join(result)


def differences():
    """Path and new text of each file whose changed lines a formatter would change."""
    changed = changed_lines(os.environ["CCL_FORMAT_BASE"])
    for formatted, paths in formatters():
        for path in paths:
            if path in changed:
                result = with_lines_formatted(tree.text(path), formatted(path), changed[path])
                if result != tree.text(path):
                    yield path, result


class Format(unittest.TestCase):
    def test_columns(self):
        if not is_known(FORMATTED_SINCE):
            self.skipTest("needs the git history since " + FORMATTED_SINCE)
        for path, numbers in changed_lines(FORMATTED_SINCE).items():
            for number in sorted(numbers) if path in tree.files(".c .h .cpp .cu .cuh .py .sh") else ():
                with self.subTest(path=path, line=number + 1):
                    self.assertLessEqual(len(tree.lines(path)[number]), MAX_COLUMNS)

    @unittest.skipUnless(os.environ.get("CCL_FORMAT_BASE"), "CCL_FORMAT_BASE names no commit to compare with")
    def test_formatters(self):
        for path, result in differences():
            with self.subTest(path=path):
                diff = difflib.unified_diff(tree.lines(path), result.splitlines(), path, "formatted", n=0, lineterm="")
                self.fail("run tests/lint/format.py --write .\n" + "\n".join(diff))

    def test_only_wanted_lines(self):
        """Of two lines that a formatter changes, the second."""
        self.assertEqual(with_lines_formatted("a\nb\nc\n", "A\nb\nC\n", {2}), "a\nb\nC\n")

    def test_white_space(self):
        for path in tree.files(".c .h .cpp .cu .cuh .py .sh .md .build .txt"):
            text = tree.text(path)
            with self.subTest(path=path):
                self.assertNotRegex(text, re.compile(r"[ \t]+$", re.MULTILINE), "white space at the end of a line")
                self.assertNotIn("\t", text)
                self.assertTrue(text.endswith("\n") and not text.endswith("\n\n"), "the last line ends once")

    @unittest.skipUnless(shutil.which("shellcheck"), "needs shellcheck")
    def test_shellcheck(self):
        scripts = [tree.top() / path for path in tree.files(".sh") if "/parts/" not in path] + [tree.top() / ".ci/run"]
        # Not variables that one script sets and another, which it reads, uses.
        run = subprocess.run(["shellcheck", "--severity=warning", "--exclude=SC2034,SC2154", *scripts], capture_output=True,
                             text=True, check=False)
        self.assertEqual(run.returncode, 0, run.stdout)


def write():
    for path, result in differences():
        (tree.top() / path).write_text(result, "utf-8")
        print(path)


if __name__ == "__main__":
    writes = "--write" in sys.argv
    tree.set_top(sys.argv.pop())
    if writes:
        write()
    else:
        unittest.main(verbosity=2)
