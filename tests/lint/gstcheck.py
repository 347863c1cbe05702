# SPDX-FileCopyrightText: gst-ccl contributors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""A test of gst-check is in a suite, and it returns early only through SKIP_TEST, which counts it as skipped.

usage: gstcheck.py SOURCE_FOLDER
"""
import re
import sys
import unittest

import tree

TEST = re.compile(r"^GST_START_TEST \((\w+)\)(.*?)^GST_END_TEST", re.MULTILINE | re.DOTALL)
ADDED = re.compile(r"\btcase_add_(?:loop_)?test \(\w+,\s*(\w+)")
RETURN = re.compile(r"\breturn\b")


def quiet_returns(text):
    """The tests that return by themselves: gst-check would count them as passed."""
    return [name for name, body in TEST.findall(text) if RETURN.search(re.sub(r"/\*.*?\*/", "", body, flags=re.DOTALL))]


def unused(text):
    """The tests that are in no suite of their file."""
    return sorted({name for name, _ in TEST.findall(text)} - set(ADDED.findall(text)))


class GstCheck(unittest.TestCase):
    def test_files(self):
        paths = tree.files(".c", "tests")
        self.assertTrue([path for path in paths if TEST.search(tree.text(path))])
        for path in paths:
            with self.subTest(path=path):
                self.assertEqual(quiet_returns(tree.text(path)), [], "use SKIP_TEST of tests/support/skip.h")
                self.assertEqual(unused(tree.text(path)), [], "in no suite")

    def test_finds_both(self):
        text = "GST_START_TEST (test_a)\n{\n  if (!f ())\n    return;\n}\n\nGST_END_TEST;\n"
        self.assertEqual(quiet_returns(text), ["test_a"])
        self.assertEqual(unused(text), ["test_a"])
        text = text.replace("return", "SKIP_TEST (\"no f\")") + "  tcase_add_loop_test (tests,\n      test_a, 0, 2);\n"
        self.assertEqual(quiet_returns(text), [])
        self.assertEqual(unused(text), [])


if __name__ == "__main__":
    tree.set_top(sys.argv.pop(1))
    unittest.main(verbosity=2)
