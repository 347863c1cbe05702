# SPDX-FileCopyrightText: gst-ccl contributors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The documents are true to the tree: links lead somewhere, paths exist, the table of methods is up to date.

usage: documents.py SOURCE_FOLDER
"""
import pathlib
import re
import subprocess
import sys
import unittest


class Documents(unittest.TestCase):
    def documents(self):
        found = [top / "README.md", *sorted((top / "docs").glob("*.md"))]
        self.assertGreater(len(found), 3)
        return found

    def test_links(self):
        for document in self.documents():
            for target in re.findall(r"\]\(([^)#\s]+)[^)]*\)", document.read_text("utf-8")):
                if not re.match(r"[a-z]+:", target):
                    with self.subTest(document=document.name, target=target):
                        self.assertTrue((document.parent / target).exists())

    def test_paths(self):
        """`kernels/ccl.h` and the like, in backquotes, exist; patterns with <, * or { are left alone."""
        for document in self.documents():
            if document.name == "news.md":
                continue  # tells of what was
            text = document.read_text("utf-8")
            for path in re.findall(r"`((?:kernels|gst|tests|examples|docs|\.ci)/[\w./-]*)`", text):
                with self.subTest(document=document.name, path=path):
                    self.assertTrue((top / path).exists())

    def test_index(self):
        index = (top / "docs" / "README.md").read_text("utf-8")
        for document in self.documents():
            if document.parent.name == "docs" and document.name != "README.md":
                with self.subTest(document=document.name):
                    self.assertIn(f"({document.name})", index)

    def test_algorithms(self):
        run = subprocess.run([sys.executable, top / "docs" / "algorithms.py", "--check"], capture_output=True,
                             text=True, check=False)
        self.assertEqual(run.returncode, 0, run.stdout + run.stderr)


if __name__ == "__main__":
    top = pathlib.Path(sys.argv.pop(1)).resolve()
    unittest.main(verbosity=2)
