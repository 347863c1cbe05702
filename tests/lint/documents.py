# SPDX-FileCopyrightText: gst-ccl contributors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The documents are true to the tree: links lead somewhere, paths exist, every picture is shown and can be drawn again, the
table of methods is up to date.

usage: documents.py SOURCE_FOLDER
"""
import pathlib
import re
import subprocess
import sys
import unittest

import prose

# Each picture under docs/, and the script that draws it again; .svg by hand or by evaluate.py (docs/benchmarks.md).
DRAWN_BY = {"picture": "docs/picture.py", "tracks": "docs/tracks.sh", "tutorial": "docs/tutorial.sh"}


def anchors(text):
    """The names that GitHub gives the headings."""
    for heading in re.findall(r"^#+ (.*)$", text, re.MULTILINE):
        yield re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


class Documents(unittest.TestCase):
    def documents(self):
        found = prose.documents(top)
        self.assertGreater(len(found), 3)
        return found

    def test_links(self):
        for document in self.documents():
            for target, anchor in re.findall(r"\]\(([^)#\s]*)#?([^)]*)\)", document.read_text("utf-8")):
                if re.match(r"[a-z]+:", target):
                    continue
                path = document.parent / target if target else document
                with self.subTest(document=document.name, target=target, anchor=anchor):
                    self.assertTrue(path.exists())
                    if anchor:
                        self.assertIn(anchor, list(anchors(path.read_text("utf-8"))))

    def test_pictures(self):
        shown = {(document.parent / target).resolve() for document in self.documents()
                 for target in re.findall(r"!\[[^]]*\]\(([^)]+)\)", document.read_text("utf-8"))}
        for picture in [*(top / "docs").glob("**/*.png"), *(top / "docs").glob("**/*.svg")]:
            with self.subTest(picture=picture.name):
                self.assertIn(picture.resolve(), shown)
                if picture.suffix == ".png":
                    self.assertTrue((top / DRAWN_BY[picture.stem.split("-")[0]]).exists())

    def test_paths(self):
        """`kernels/ccl.h` and the like, in backquotes, exist; patterns with <, * or { are left alone."""
        for document in self.documents():
            if document.name in ("news.md", "decisions.md"):
                continue  # they name files of earlier versions
            text = document.read_text("utf-8")
            for path in re.findall(r"`((?:kernels|gst|tests|examples|docs|\.ci)/[\w./-]*)`", text):
                with self.subTest(document=document.name, path=path):
                    self.assertTrue((top / path).exists())

    def test_index(self):
        index = (top / "docs" / "README.md").read_text("utf-8")
        for document in (top / "docs").glob("**/*.md"):
            if document != top / "docs" / "README.md":
                with self.subTest(document=document.name):
                    self.assertIn(f"({document.relative_to(top / 'docs')})", index)

    def test_algorithms(self):
        run = subprocess.run([sys.executable, top / "docs" / "algorithms.py", "--check"], capture_output=True,
                             text=True, check=False)
        self.assertEqual(run.returncode, 0, run.stdout + run.stderr)


if __name__ == "__main__":
    top = pathlib.Path(sys.argv.pop(1)).resolve()
    unittest.main(verbosity=2)
