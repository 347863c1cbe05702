# SPDX-FileCopyrightText: gst-ccl contributors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""docs/site.py: a page for each document, links that lead somewhere, every property of every element, search.

usage: site.py SOURCE_FOLDER
"""
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest


class Site(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.site = pathlib.Path(folder.name)
        run = subprocess.run([sys.executable, top / "docs/site.py", cls.site], capture_output=True, text=True, check=False)
        if run.returncode == 77:
            raise unittest.SkipTest(run.stdout)
        assert run.returncode == 0, run.stdout + run.stderr
        cls.pages = {page.relative_to(cls.site): page.read_text("utf-8") for page in cls.site.glob("**/*.html")
                     if page.relative_to(cls.site).parts[0] != "library"}

    def test_pages(self):
        for document in [top / "README.md", *(top / "docs").glob("**/*.md")]:
            self.assertIn(document.relative_to(top).with_suffix(".html"), self.pages)

    def test_links(self):
        for page, text in self.pages.items():
            for target in re.findall(r'(?:href|src)="([^"#]+)', text):
                with self.subTest(page=page, target=target):
                    self.assertTrue(re.match("[a-z]+:", target) or (self.site / page.parent / target).exists())

    def test_elements(self):
        elements = [path for path in self.pages if path.parent.name == "elements"]
        self.assertGreaterEqual(len(elements), 8)
        for page in elements:
            with self.subTest(element=page.stem):
                described = subprocess.run(["gst-inspect-1.0", page.stem], capture_output=True, text=True, check=False)
                if described.returncode != 0:
                    self.assertIn("This build has no", self.pages[page])
                    continue
                properties = re.findall(r"^  ([a-z][a-z-]+) +: ", described.stdout.split("Element Properties:")[1], re.MULTILINE)
                inherited = ("name", "parent", "qos", "async", "blocksize", "enable-last-sample", "last-sample", "max-bitrate",
                             "max-lateness", "processing-deadline", "render-delay", "stats", "sync", "throttle-time", "ts-offset")
                for name in set(properties) - set(inherited):
                    self.assertIn(f"<code>{name}</code>", self.pages[page])
                self.assertIn("<h3>Pads</h3>", self.pages[page])

    def test_search(self):
        script = (self.site / "search.js").read_text("utf-8")
        pages = json.loads(re.match(r"const pages = (.*);\n", script)[1])
        self.assertEqual(len(pages), len(self.pages) - 1)   # README.html is index.html, too
        found = [page["path"] for page in pages if "evaluation-point" in page["text"]]
        self.assertIn("docs/elements/cclzone.html", found)

    def test_library(self):
        if not (self.site / "library").exists():
            self.skipTest("needs gi-docgen and introspection")
        self.assertTrue((self.site / "library/method.BlobMeta.get_area.html").exists())


if __name__ == "__main__":
    top = pathlib.Path(sys.argv.pop(1)).resolve()
    unittest.main(verbosity=2)
